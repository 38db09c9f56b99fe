/* lookup.h - whether a record is in a segment, or in a store. */
#ifndef SS_LOOKUP_H
#define SS_LOOKUP_H

#include "codec/ids.h"
#include "store/block_file.h"
#include "store/segment.h"
#include "store/store.h"

/* ===== ranks and their ids ===== */

/* From a fingerprint to its rank, and from a rank to its ids, in blocks that were asked for before. */

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

/* ===== lookup in a segment ===== */

/*
 * Whether a segment has a record. A finder remembers the blocks that it looked in last, so that asking
 * for records in ascending order reads each block once.
 */

typedef struct ss_segment_lookup {
    const ss_segment *segment; /* borrowed */
    bool has_ids;
    ss_block_slot fingerprints, ids; /* blocks of table 0 and of ids */
    uint64_t fingerprint, rank; /* what was looked up last, and its rank or SS_NO_RANK */
    bool any;                   /* something was */
    ss_rank_ids rank_ids;       /* how far the ids of `rank` were looked through */
    bool has_rank_ids, more;    /* rank_ids was begun for it; and rank_ids.begin .. end are there */
    uint64_t last_id;           /* that was looked for among them */
    uint8_t *buffers;
} ss_segment_lookup;

/* The bytes that a finder takes in a store that is opened with `io`. */
uint64_t ss_segment_lookup_bytes(const ss_manifest_segment *metadata, sstore_io io);

/* `steps`: see ss_block_slot. MEMORY. */
sstore_status ss_segment_lookup_open(ss_segment_lookup *lookup, const ss_segment *segment, bool has_ids, ss_steps *steps,
                                    sstore_error *error);
/* Also of a zeroed one. */
void ss_segment_lookup_close(ss_segment_lookup *lookup);

/* Whether the segment has the record; in a store without ids, the fingerprint. IO, DAMAGED. */
sstore_status ss_segment_lookup_has(ss_segment_lookup *lookup, const sstore_record *record, bool *has_out,
                                   sstore_error *error);

/* Get the rank of a fingerprint, SS_NO_RANK if the segment does not have it. IO, DAMAGED. */
sstore_status ss_segment_lookup_rank(ss_segment_lookup *lookup, uint64_t fingerprint, uint64_t *rank_out,
                                    sstore_error *error);

/* Go through the ids of a rank, with the finder's memory: until the next call about it. */
void ss_segment_lookup_ids(ss_segment_lookup *lookup, uint64_t rank, ss_rank_ids *ids_out);

/* ===== lookup in a store ===== */

/* Whether a record is in a store: as the newest segment says that has it. Cheapest in ascending order. */

typedef struct ss_membership {
    const sstore *store; /* borrowed */
    uint32_t lookup_count;
    ss_segment_lookup *lookups; /* one a segment; only those that were opened */
} ss_membership;

/* Open finders for all segments; or only for those that can have records of older ones, which are all but the oldest and empty
 * ones. `steps`: see ss_block_slot. MEMORY. */
sstore_status ss_membership_open(ss_membership *membership, const sstore *store, bool newer_only, ss_steps *steps,
                               sstore_error *error);
/* Also of a zeroed one. */
void ss_membership_close(ss_membership *membership);

/* The bytes that it takes. */
uint64_t ss_membership_bytes(const ss_manifest *manifest, bool newer_only, sstore_io io);

/* Whether the record is in the store. Needs the finders of all segments. IO, DAMAGED. */
sstore_status ss_membership_has(ss_membership *membership, const sstore_record *record, bool *has_out, sstore_error *error);

/* Whether a newer segment than `segment` also has the record, and so decides whether it is in the store: a segment that removes
 * or, if `added`, also one that adds. IO, DAMAGED. */
sstore_status ss_membership_in_newer(ss_membership *membership, uint32_t segment, const sstore_record *record, bool added,
                                   bool *newer_out, sstore_error *error);

#endif
