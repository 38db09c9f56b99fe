/*
 * name_merge.h - the names of the ids of a segment that is written: those that are added, and those of older segments,
 * in the order of the ids.
 */
#ifndef SS_NAME_MERGE_H
#define SS_NAME_MERGE_H

#include "store/name_column.h"
#include "store/store.h"
#include "write/name_runs.h"

/* A run of added names, or the names of a segment, at the current one. */
typedef struct ss_name_input {
    ss_segment *segment; /* the name part; owned. NULL: it is a run */
    const sstore *store; /* of the segment */
    uint64_t id_offset;  /* added to the ids of the segment */
    ss_names_iterator column;
    ss_name_run_reader run;
    uint64_t id;
    const uint8_t *name;
    size_t size;
} ss_name_input;

typedef struct ss_name_merge {
    size_t count, capacity;
    ss_name_input *inputs;
    size_t heap_count;
    size_t *heap;        /* of inputs that have a name, the smallest id first */
    bool has_name;       /* the members below are those of the current name */
    const sstore *store; /* NULL: the name is added */
    uint64_t id;
    uint8_t *name;
    size_t size;
} ss_name_merge;

/* Add the runs, which stay. MEMORY. Close the merge, which is zeroed at first, also after a failure. */
sstore_status ss_name_merge_add_runs(ss_name_merge *merge, const ss_name_runs *runs, sstore_error *error);

/* Add the names of the segments first .. end - 1 of a store, with ids that are `id_offset` higher. Errors as
 * sstore_open(). */
sstore_status ss_name_merge_add_segments(ss_name_merge *merge, const sstore *store, uint32_t first, uint32_t end,
                                         uint64_t id_offset, sstore_error *error);

/* About the memory of reading these. */
uint64_t ss_name_merge_bytes(const ss_manifest *manifest, uint32_t first, uint32_t end);

/* Begin before the first name. IO, DAMAGED, MEMORY. */
sstore_status ss_name_merge_rewind(ss_name_merge *merge, sstore_error *error);

/* Go to the next id that has a name: merge->id, merge->name; *more_out is false at the end. IO, MEMORY, DAMAGED;
 * ARGUMENT if it has two names. */
sstore_status ss_name_merge_next(ss_name_merge *merge, bool *more_out, sstore_error *error);

/* Go on to an id, which must have a name. The ids ascend strictly from call to call. Errors as above. */
sstore_status ss_name_merge_find(ss_name_merge *merge, uint64_t id, sstore_error *error);

void ss_name_merge_close(ss_name_merge *merge);

#endif
