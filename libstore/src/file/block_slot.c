#include "file/block_slot.h"

#include "base/error.h"

sstore_status ss_fail_steps(const ss_block_reader *reader, sstore_error *error)
{
    return ss_fail_damaged(error, reader->file.path, SSTORE_NO_OFFSET,
                           "the call needs more steps than a sound store of this size can need: the store is damaged or made "
                           "to harm; 'sstore verify' says more");
}

void ss_block_slot_ask(ss_block_slot *slot, const ss_block_reader *reader, uint64_t number)
{
    if (ss_block_slot_is(slot, reader, number))
        return;
    slot->reader = reader;
    slot->number = number;
    slot->bytes = NULL;
    slot->at_hand = ss_block_reader_ask(reader, number, slot->buffer);
}

sstore_status ss_block_slot_wait(ss_block_slot *slot, sstore_error *error)
{
    if (slot->bytes != NULL)
        return SSTORE_OK;
    const ss_block_reader *reader = slot->reader;
    if (slot->steps != NULL && SS_UNLIKELY(!ss_steps_take(slot->steps, 1))) {
        slot->reader = NULL;
        return ss_fail_steps(reader, error);
    }
    sstore_status status = slot->at_hand ? ss_block_reader_check(reader, slot->number, slot->buffer, error)
                                         : ss_block_reader_get(reader, slot->number, slot->buffer, &slot->bytes, error);
    if (status != SSTORE_OK)
        slot->reader = NULL;
    else if (slot->at_hand)
        slot->bytes = slot->buffer;
    return status;
}
