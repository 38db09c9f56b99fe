/*
 * block_slot.h - a place for one block, which can be asked for some time before it is needed.
 */
#ifndef SS_BLOCK_SLOT_H
#define SS_BLOCK_SLOT_H

#include "base/steps.h"
#include "file/block_reader.h"

typedef struct ss_block_slot {
    const ss_block_reader *reader; /* NULL: nothing was asked for */
    uint64_t number;
    const uint8_t *bytes; /* once it was waited for: the block, checked, in `buffer` or in memory of the reader */
    uint8_t *buffer;      /* of a block's size, borrowed; may be NULL where the reader does not read into buffers */
    bool at_hand;         /* asked for, and the buffer holds it already, unchecked */
    ss_steps *steps;      /* of which each block that is waited for takes one; NULL: any number may be */
} ss_block_slot;

/* Whether this is the block that was asked for. */
static inline bool ss_block_slot_is(const ss_block_slot *slot, const ss_block_reader *reader, uint64_t number)
{
    return slot->reader == reader && slot->number == number;
}

/* Ask for a block, without waiting for it. Costs nothing if it is the one that was asked for last. */
void ss_block_slot_ask(ss_block_slot *slot, const ss_block_reader *reader, uint64_t number);

/* Wait for the block that was asked for. IO, DAMAGED, also where no step is left; then nothing is asked for any more. */
sstore_status ss_block_slot_wait(ss_block_slot *slot, sstore_error *error);

/* Report that a call has no step left. */
sstore_status ss_fail_steps(const ss_block_reader *reader, sstore_error *error);

#endif
