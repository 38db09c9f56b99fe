#include "file/block_slot.h"

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
    sstore_status status = slot->at_hand ? ss_block_reader_check(reader, slot->number, slot->buffer, error)
                                         : ss_block_reader_get(reader, slot->number, slot->buffer, &slot->bytes, error);
    if (status != SSTORE_OK)
        slot->reader = NULL;
    else if (slot->at_hand)
        slot->bytes = slot->buffer;
    return status;
}
