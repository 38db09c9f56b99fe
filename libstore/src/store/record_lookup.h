/*
 * record_lookup.h - from a fingerprint to its rank, and from a rank to its ids, in blocks that were asked for before.
 */
#ifndef SS_RECORD_LOOKUP_H
#define SS_RECORD_LOOKUP_H

#include "file/block_slot.h"
#include "file/ids.h"
#include "store/segment.h"

#define SS_NO_RANK UINT64_MAX

/* Find the rank of a fingerprint in the block of table 0 that the slot was asked for; SS_NO_RANK if it is not there. IO,
 * DAMAGED. */
sstore_status ss_find_rank(const ss_segment *segment, uint64_t fingerprint, ss_block_slot *slot, uint64_t *rank_out,
                           sstore_error *error);

/* Where the ids of a rank go on. */
typedef struct ss_rank_ids {
    const ss_segment *segment;
    uint64_t rank;
    ss_block_slot *slot; /* for blocks of ids; borrowed */
    uint64_t next_block; /* where they go on; UINT64_MAX: nowhere */
    ss_ids_block block;
    uint64_t number;     /* of the block */
    uint32_t begin, end; /* they are the block's records begin to end - 1 */
    ss_id_order order;
} ss_rank_ids;

/* Begin with the ids of a rank, which the block `first_block` holds the first ones of. */
void ss_rank_ids_init(ss_rank_ids *ids, const ss_segment *segment, uint64_t rank, uint64_t first_block,
                      ss_block_slot *slot);

/* Get the block with the next ids, ascending: *more_out is false if there are none. IO, DAMAGED. */
sstore_status ss_rank_ids_next(ss_rank_ids *ids, bool *more_out, sstore_error *error);

/* Take the id of record `index`; of begin to end - 1 each in turn. DAMAGED where it is not above the one before: whoever asks for
 * them in ascending order takes far longer for others. */
sstore_status ss_rank_ids_take(ss_rank_ids *ids, uint32_t index, uint64_t *id_out, sstore_error *error);

/* Report that the ids of a rank are nowhere. */
sstore_status ss_fail_ids_missing(const ss_segment *segment, uint64_t rank, sstore_error *error);

#endif
