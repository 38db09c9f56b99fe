/*
 * lookup.h - finds the rank of a fingerprint, the fingerprint and the ids of a rank, and whether a record is in a
 * segment or a store. All results are checked: errors are IO and DAMAGED.
 */
#ifndef SS_LOOKUP_H
#define SS_LOOKUP_H

#include "codec/ids.h"
#include "store/block_file.h"
#include "store/segment.h"
#include "store/store.h"

/* ===== ranks and their ids ===== */

#define SS_NO_RANK UINT64_MAX

/* Find the rank of a fingerprint in the slot's block of table 0; SS_NO_RANK if the block does not have it. */
sstore_status ss_find_rank(const ss_segment *segment, uint64_t fingerprint, ss_block_slot *slot, uint64_t *rank_out,
                           sstore_error *error);

/* Find the rank in a segment of whole fingerprints: blocks that may have it are searched through the slot. The search
 * takes the same path for the same fingerprint, whatever was read before. So if fingerprints do not ascend, it finds at
 * most one rank of each. */
sstore_status ss_find_row(const ss_segment *segment, const uint64_t *fingerprint, ss_block_slot *slot,
                          uint64_t *rank_out, sstore_error *error);

/* Whether ss_find_row() finds a fingerprint at a rank, which the segment has. Quicker: it is known where the search has
 * to go, so no comparison waits for the one before. */
sstore_status ss_finds_row_at(const ss_segment *segment, const uint64_t *fingerprint, uint64_t rank,
                              ss_block_slot *slot, bool *is_found_out, sstore_error *error);

/* Get the fingerprint of a rank, which the segment has, through the slot. */
sstore_status ss_fingerprint_at(const ss_segment *segment, uint64_t rank, ss_block_slot *slot,
                                uint64_t *fingerprint_out, sstore_error *error);

/* An iterator over the ids of a rank. */
typedef struct ss_rank_ids {
    const ss_segment *segment;
    uint64_t rank;
    ss_block_slot *slot; /* for blocks of ids; borrowed */
    uint64_t next_block; /* where they continue; UINT64_MAX at the end */
    ss_ids_block block;  /* open if its bytes are not NULL */
    uint64_t number;     /* of the block */
    uint64_t found;      /* the rank that was searched last in the block */
    uint32_t begin, end; /* the block's records begin to end - 1 have the rank */
    ss_id_order order;
} ss_rank_ids;

/* Begin with block `first_block`, which has the first ids of the rank. `ids` is zeroed, or was used for another rank:
 * then a block that is still open is not opened again, and ranks that ascend are found at once. */
void ss_rank_ids_begin(ss_rank_ids *ids, const ss_segment *segment, uint64_t rank, uint64_t first_block,
                       ss_block_slot *slot);

/* Get the block with the next ids, which ascend; *more_out is false if there are none. */
sstore_status ss_rank_ids_next(ss_rank_ids *ids, bool *more_out, sstore_error *error);

/* Get the first block of ids instead, as ss_rank_ids_next(), but pass over blocks of ids below `id` in few reads. If a
 * malicious segment has ids that do not ascend, more may be passed over. */
sstore_status ss_rank_ids_next_from(ss_rank_ids *ids, uint64_t id, bool *more_out, sstore_error *error);

/* Take the id of record `index`, of begin to end - 1 one after the other. An id that is not above the last one is
 * DAMAGED, because lookups in ascending order would take far longer for such ids. */
sstore_status ss_rank_ids_take(ss_rank_ids *ids, uint32_t index, uint64_t *id_out, sstore_error *error);

/* Go on to the id, or to the next one of the rank, in few reads even if it is far ahead. The ids searched for must
 * ascend from call to call, and nothing else may read on. If a malicious segment has ids that do not ascend, the answer
 * may be wrong. */
sstore_status ss_rank_ids_seek(ss_rank_ids *ids, uint64_t id, bool *found_out, sstore_error *error);

/* Count the ids of a rank. `ids` is as for ss_rank_ids_begin(). Only the first and the last block of the rank are
 * searched. Of the blocks between, or if these are fewer, of all others, only the number of records is read. Adds the
 * reads to the steps of the slot, if these are limited. */
sstore_status ss_rank_ids_count(ss_rank_ids *ids, const ss_segment *segment, uint64_t rank, ss_block_slot *slot,
                                uint64_t *count_out, sstore_error *error);

/* Count the ids of every rank of a segment: counts[rank], zeroed before. Reads all blocks of ids through the slot. */
sstore_status ss_count_ids(const ss_segment *segment, ss_block_slot *slot, uint32_t *counts, sstore_error *error);

/* Report that a rank has no ids. */
sstore_status ss_fail_ids_missing(const ss_segment *segment, uint64_t rank, sstore_error *error);

/* ===== lookup in a segment ===== */

/* Remembers the last blocks and the last fingerprint, so that lookups in ascending order read each block once. */
typedef struct ss_segment_lookup {
    const ss_segment *segment; /* borrowed */
    bool has_ids;
    ss_block_slot fingerprints, ids;        /* blocks of table 0 and of ids */
    uint64_t fingerprint[SSTORE_MAX_WORDS]; /* the last one looked up */
    uint64_t rank;                          /* its rank, or SS_NO_RANK */
    bool any;                               /* a fingerprint was looked up */
    ss_rank_ids rank_ids;                   /* the position of the search among the ids of `rank` */
    bool has_rank_ids, more;                /* rank_ids is of `rank`; it has a block */
    uint64_t last_id;                       /* the last one searched for */
    uint8_t *buffers;
} ss_segment_lookup;

/* Get the rank of a fingerprint; SS_NO_RANK if the segment does not have it. */
sstore_status ss_segment_lookup_rank(ss_segment_lookup *lookup, const uint64_t *fingerprint, uint64_t *rank_out,
                                     sstore_error *error);

/* Begin with the ids of a rank; valid until the next call for this lookup. */
void ss_segment_lookup_ids(ss_segment_lookup *lookup, uint64_t rank, ss_rank_ids *ids_out);

/* ===== lookup in a store ===== */

/* Tells whether a record is in a store: the newest segment that has it decides. Fastest in ascending order. */
typedef struct ss_membership {
    const sstore *store; /* borrowed */
    uint32_t lookup_count;
    ss_segment_lookup *lookups; /* one for each segment; zeroed if not needed */
} ss_membership;

/* Open lookups in all segments, or only in those that can have records of older ones: all but the oldest and empty
 * ones. `steps`: see ss_block_slot. MEMORY. */
sstore_status ss_membership_open(ss_membership *membership, const sstore *store, bool newer_only, ss_steps *steps,
                                 sstore_error *error);
/* Close; a zeroed one is allowed. */
void ss_membership_close(ss_membership *membership);

/* The bytes that it takes in a store that is opened with `io`. */
uint64_t ss_membership_bytes(const ss_manifest *manifest, bool newer_only, sstore_io io);

/* Whether the record is in the store; without ids, the fingerprint. Needs lookups in all segments. */
sstore_status ss_membership_has(ss_membership *membership, const uint64_t *fingerprint, uint64_t id, bool *has_out,
                                sstore_error *error);

/* Whether a newer segment than `segment` also has the record, and so decides whether it is in the store. Searches the
 * segments that remove and, if `added`, also those that add. */
sstore_status ss_membership_in_newer(ss_membership *membership, uint32_t segment, const uint64_t *fingerprint,
                                     uint64_t id, bool added, bool *newer_out, sstore_error *error);

#endif
