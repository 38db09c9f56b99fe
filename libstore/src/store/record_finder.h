/*
 * record_finder.h - whether a segment has a record. A finder remembers the blocks that it looked in last, so that asking
 * for records in ascending order reads each block once.
 */
#ifndef SS_RECORD_FINDER_H
#define SS_RECORD_FINDER_H

#include "store/record_lookup.h"

typedef struct ss_record_finder {
    const ss_segment *segment; /* borrowed */
    bool has_ids;
    ss_block_slot fingerprints, ids; /* blocks of table 0 and of ids */
    uint64_t fingerprint, rank; /* what was looked up last, and its rank or SS_NO_RANK */
    bool any;                   /* something was */
    ss_rank_ids rank_ids;       /* how far the ids of `rank` were looked through */
    bool has_rank_ids, more;    /* rank_ids was begun for it; and rank_ids.begin .. end are there */
    uint64_t last_id;           /* that was looked for among them */
    uint8_t *buffers;
} ss_record_finder;

/* The bytes that a finder takes in a store that is opened with `io`. */
uint64_t ss_record_finder_bytes(const ss_manifest_segment *facts, sstore_io io);

/* `steps`: see ss_block_slot. MEMORY. */
sstore_status ss_record_finder_open(ss_record_finder *finder, const ss_segment *segment, bool has_ids, ss_steps *steps,
                                    sstore_error *error);
/* Also of a zeroed one. */
void ss_record_finder_close(ss_record_finder *finder);

/* Whether the segment has the record; in a store without ids, the fingerprint. IO, DAMAGED. */
sstore_status ss_record_finder_has(ss_record_finder *finder, const sstore_record *record, bool *has_out,
                                   sstore_error *error);

/* Get the rank of a fingerprint, SS_NO_RANK if the segment does not have it. IO, DAMAGED. */
sstore_status ss_record_finder_rank(ss_record_finder *finder, uint64_t fingerprint, uint64_t *rank_out,
                                    sstore_error *error);

/* Go through the ids of a rank, with the finder's memory: until the next call about it. */
void ss_record_finder_ids(ss_record_finder *finder, uint64_t rank, ss_rank_ids *ids_out);

#endif
