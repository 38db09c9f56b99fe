/*
 * row_array.h - the distinct fingerprints of a store of several words, ascending. The place of one is its number, by
 * which joins refer to it. They are in memory, or in an unnamed file if they take too much of it.
 */
#ifndef SS_ROW_ARRAY_H
#define SS_ROW_ARRAY_H

#include "join/join_call.h"

typedef struct ss_row_array {
    uint32_t words;
    uint64_t count;
    uint64_t *rows; /* NULL: they are in the file */
    ss_file file;
} ss_row_array;

/* No store has more. */
uint64_t ss_row_array_max_count(const sstore *store);

/* Read the fingerprints of the (left) store: into memory if they take at most `bytes`. Counts each in the progress.
 * Close it also after a failure. MEMORY, IO, DAMAGED, STOPPED. */
sstore_status ss_row_array_open(ss_row_array *array, ss_join_call *call, uint64_t bytes, sstore_error *error);
/* One that was not opened, with SS_FILE_NONE, is allowed. */
void ss_row_array_close(ss_row_array *array);

/* Get `count` fingerprints from `first` on. They are in `buffer`, which has room for them, or in the array. IO. */
sstore_status ss_row_array_get(const ss_row_array *array, uint64_t first, size_t count, uint64_t *buffer,
                               const uint64_t **rows_out, sstore_error *error);

#endif
