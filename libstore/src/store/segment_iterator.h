/*
 * segment_iterator.h - the records of a segment in ascending order: its table 0 and its id column, read in parallel.
 * All are checked: errors are IO, DAMAGED and MEMORY. Close an iterator also after a failed open; a zeroed one is
 * allowed.
 */
#ifndef SS_SEGMENT_ITERATOR_H
#define SS_SEGMENT_ITERATOR_H

#include "store/column_iterators.h"
#include "store/segment.h"

typedef struct ss_segment_iterator {
    const ss_segment *segment;
    bool has_ids;
    uint32_t words; /* of a fingerprint */
    ss_table_iterator fingerprints;
    const uint64_t *values; /* of the current block of table 0 */
    const uint64_t *last;   /* the fingerprint of the last record; valid until the next call */
    uint32_t value_count, value_index;
    uint32_t single_count; /* records from the current one on with a fingerprint each, which do not end a block */
    uint64_t rank;         /* of values[value_index] */
    ss_ids_iterator ids;
    uint32_t ids_index;   /* of the next record in the current block of ids */
    uint64_t ids_rank;    /* its rank */
    ss_id_order id_order; /* of the current fingerprint's ids */
    bool from_first;      /* reading began with the first record */
    bool sums;            /* compare the records with the segment's content sum, the first time that all are read */
    ss_u128 sum;          /* of the records so far */
} ss_segment_iterator;

sstore_status ss_segment_iterator_open(ss_segment_iterator *iterator, const ss_segment *segment, bool has_ids,
                                       sstore_error *error);
void ss_segment_iterator_close(ss_segment_iterator *iterator);

/* Go before the first record. */
void ss_segment_iterator_rewind(ss_segment_iterator *iterator);
/* Go before the first record with at least this fingerprint. */
sstore_status ss_segment_iterator_seek(ss_segment_iterator *iterator, const uint64_t *fingerprint, sstore_error *error);

/* Skip some of the next records that are the only ones of their fingerprints in the segment. Returns how many. */
uint32_t ss_segment_iterator_pass_singles(ss_segment_iterator *iterator);

/* Get the next record; *more_out is false at the end. The records ascend strictly. */
sstore_status ss_segment_iterator_next(ss_segment_iterator *iterator, ss_record *record_out, bool *more_out,
                                       sstore_error *error);

#endif
