/*
 * record_merge.h - all records of several segments in order, each once.
 */
#ifndef SS_RECORD_MERGE_H
#define SS_RECORD_MERGE_H

#include "store/record_stream.h"

/* A segment on its way, with its next record. */
typedef struct ss_merge_input {
    ss_record_stream stream;
    sstore_record record;
} ss_merge_input;

typedef struct ss_record_merge {
    bool has_ids;
    size_t segment_count, capacity;
    const ss_segment **segments; /* borrowed ones */
    ss_merge_input *inputs;      /* one a segment */
    size_t *heap;                /* indices of inputs that have not ended, the least record first */
    size_t heap_count;
    sstore_record last;          /* given out */
    bool has_last;
} ss_record_merge;

/* Begin with no segments. */
void ss_record_merge_init(ss_record_merge *merge, bool has_ids);
/* Add a segment, before the first rewind. MEMORY. */
sstore_status ss_record_merge_add(ss_record_merge *merge, const ss_segment *segment, sstore_error *error);
/* Go before the first record; also to start over. MEMORY, IO, DAMAGED. */
sstore_status ss_record_merge_rewind(ss_record_merge *merge, sstore_error *error);
/* Get the next record; *more_out is false at the end. IO, DAMAGED. */
sstore_status ss_record_merge_next(ss_record_merge *merge, sstore_record *record_out, bool *more_out,
                                   sstore_error *error);
void ss_record_merge_close(ss_record_merge *merge);

#endif
