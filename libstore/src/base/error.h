/* error.h - filling an sstore_error, and text that is safe to show. */
#ifndef SS_ERROR_H
#define SS_ERROR_H

#include "base/common.h"

/* ===== errors ===== */

/* Filling an sstore_error. The site that detects an error fills it once; the layers above pass the status on. */

/* Fill *error (if not NULL) and return `status`. `file` may be NULL. The message becomes "FILE: TEXT", and
 * "FILE: TEXT: STRERROR" where system_errno is not 0. */
sstore_status ss_fail(sstore_error *error, sstore_status status, int system_errno, const char *file, uint64_t offset,
                      const char *format, ...) SS_PRINTF(6, 7);

/* Short forms for the commonest kinds. */
sstore_status ss_fail_argument(sstore_error *error, const char *format, ...) SS_PRINTF(2, 3);
sstore_status ss_fail_damaged(sstore_error *error, const char *file, uint64_t offset, const char *format, ...)
    SS_PRINTF(4, 5);

/* Add to the message of an error that was filled what can be done about it; NULL is allowed. */
void ss_advise(sstore_error *error, const char *what);

/* What it returns stands here, where compilers and analysers see it: after a refused allocation nobody goes on. */
void ss_fill_memory(sstore_error *error, uint64_t bytes);
static inline sstore_status ss_fail_memory(sstore_error *error, uint64_t bytes)
{
    ss_fill_memory(error, bytes);
    return SSTORE_ERROR_MEMORY;
}

/* Whether it is about what one file is, so that others may be read all the same: lost, damaged, of another version, not for
 * this user to read, or on a disk that fails. */
bool ss_is_of_one_file(const sstore_error *error);

/* ===== text that is safe to show ===== */

/* Names, recipes and other text from files or arguments, made safe to show on a terminal. */

/* Copy `text` to `to`, which has room for `size` > 0 bytes with the closing 0, as sstore_escape() does without doubling
 * backslashes. What does not fit is left out, a character as a whole. */
void ss_printable(const char *text, char *to, size_t size);

/* ----- public structs that grow (sstore.h, "Structs that grow") ----- */

/* The sizes of version 1. They never change. */
enum {
    SS_OPEN_OPTIONS_SIZE_1 = 32,
    SS_BATCH_OPTIONS_SIZE_1 = 16,
    SS_MATCH_COLUMNS_SIZE_1 = 40,
    SS_TABLE_EXPLANATION_SIZE_1 = 104,
    SS_STATISTICS_SIZE_1 = 2168,
    SS_SEGMENT_STATISTICS_SIZE_1 = 1680,
    SS_TABLE_STATISTICS_SIZE_1 = 80,
    SS_PROGRESS_SIZE_1 = 48,
    SS_CHANGE_SIZE_1 = 88,
    SS_BUILD_OPTIONS_SIZE_1 = 96,
    SS_ADD_OPTIONS_SIZE_1 = 88,
    SS_BUILD_NEEDS_SIZE_1 = 48,
    SS_REMOVE_OPTIONS_SIZE_1 = 64,
    SS_MERGE_OPTIONS_SIZE_1 = 64,
    SS_COMPACT_OPTIONS_SIZE_1 = 72,
    SS_REINDEX_OPTIONS_SIZE_1 = 32,
    SS_DEDUP_OPTIONS_SIZE_1 = 80,
    SS_JOIN_OPTIONS_SIZE_1 = 48,
    SS_PAIR_COLUMNS_SIZE_1 = 48,
    SS_CLUSTER_COLUMNS_SIZE_1 = 56,
    SS_STREAM_OPTIONS_SIZE_1 = 16,
    SS_COLLECTION_OPTIONS_SIZE_1 = 24,
    SS_PLAN_OPTIONS_SIZE_1 = 56,
    SS_TEXT_OPTIONS_SIZE_1 = 16
};

/*
 * Lay the caller's options (NULL: none) over `to`, which has `size` bytes and holds the defaults. Both begin with struct_size.
 * ARGUMENT if theirs is smaller than version 1's, UNSUPPORTED if it has a field that is not known here and not 0.
 */
sstore_status ss_take_options(void *to, size_t size, const void *from, size_t first_size, sstore_error *error);

/* Check a struct that a call will fill at its end, or NULL. ARGUMENT if it is smaller than version 1's. */
sstore_status ss_check_result(const void *to, size_t first_size, sstore_error *error);

/* Fill the caller's struct, which begins with struct_size as set by the caller, from `from`, which has `size` bytes: as much of it
 * as the caller's version has; the rest of a larger one becomes 0. ARGUMENT if it is smaller than version 1's. */
sstore_status ss_give_result(void *to, const void *from, size_t size, size_t first_size, sstore_error *error);

#endif
