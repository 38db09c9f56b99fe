/*
 * row_scan.h - reads the whole fingerprints of a segment of several words, for one query or many. They come in slices,
 * which stay in a cache while queries are tested.
 *
 * The last fingerprint of each block is above that of the block before, and has the block's key. So a search for any
 * fingerprint leads to the right block, and older segments that have one find it here. Whether all of a block ascend is
 * checked only if one is near a query. So none is reported twice. Everything else is DAMAGED.
 */
#ifndef SS_ROW_SCAN_H
#define SS_ROW_SCAN_H

#include "store/segment.h"

#define SS_ROW_SLICE_WORDS 512u /* of the fingerprints of a slice */
#define SS_ROW_SLICE_MAX (SS_ROW_SLICE_WORDS / 2)

typedef struct ss_row_scan ss_row_scan;

/* Takes a slice; a status other than OK ends the scan. */
typedef sstore_status (*ss_row_slice_fn)(void *context, ss_row_scan *scan, sstore_error *error);

struct ss_row_scan {
    const ss_segment *segment;
    uint64_t begin_block, end_block; /* of table 0 */
    ss_block_slot *slot;             /* nothing else may use it meanwhile */
    ss_row_slice_fn on_slice;
    void *context;
    /* The slice: */
    const uint64_t *rows;
    uint32_t count;
    uint64_t rank; /* of the first */
    /* The block that has it: */
    uint64_t number;
    uint32_t block_rows;
    bool is_checked;                                           /* all of it ascend */
    bool has_before;                                           /* a block before it was read */
    uint64_t before[SSTORE_MAX_WORDS], last[SSTORE_MAX_WORDS]; /* the last fingerprint of the block before, and of it */
};

/* Read the blocks. Begins with the members above the slice. */
sstore_status ss_row_scan_run(ss_row_scan *scan, sstore_error *error);

/* Check the block of the slice, before one of its fingerprints is reported. */
sstore_status ss_row_scan_check(ss_row_scan *scan, sstore_error *error);

#endif
