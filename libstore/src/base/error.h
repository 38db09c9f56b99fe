/*
 * error.h - filling an sstore_error, and the structs of the public header that may grow. The site that detects an error
 * fills it once; the layers above pass the status on.
 */
#ifndef SS_ERROR_H
#define SS_ERROR_H

#include "base/common.h"

/* Fill *error (if not NULL) and return `status`. `file` may be NULL. The message becomes "FILE: TEXT", or
 * "FILE: TEXT: STRERROR" if system_errno is not 0; unprintable bytes are escaped. */
sstore_status ss_fail(sstore_error *error, sstore_status status, int system_errno, const char *file, uint64_t offset,
                      const char *format, ...) SS_PRINTF(6, 7);

/* Short forms; the format and its arguments come last. */
#define ss_fail_argument(error, ...) ss_fail(error, SSTORE_ERROR_ARGUMENT, 0, NULL, SSTORE_NO_OFFSET, __VA_ARGS__)
#define ss_fail_damaged(error, file, offset, ...) ss_fail(error, SSTORE_ERROR_DAMAGED, 0, file, offset, __VA_ARGS__)

/* Report a refused allocation. The status is a constant here, so that analysers know that the caller stops. */
static inline sstore_status ss_fail_memory(sstore_error *error, uint64_t bytes)
{
    (void)ss_fail(error, SSTORE_ERROR_MEMORY, 0, NULL, SSTORE_NO_OFFSET,
                  "out of memory: an allocation of %llu bytes failed", (unsigned long long)bytes);
    return SSTORE_ERROR_MEMORY;
}

/* Fill *error (if not NULL) with another error, and return its status. */
sstore_status ss_fail_as(sstore_error *error, const sstore_error *cause);

/* ----- checks of arguments of several calls; ARGUMENT ----- */

/* The distance that a store is built for, or that fingerprints of this many words are joined at. */
sstore_status ss_check_distance(uint32_t words, uint32_t distance, sstore_error *error);

/* The width of fingerprints. */
sstore_status ss_check_fingerprint_bits(uint32_t bits, sstore_error *error);

/* The width in the options of a call without a store, where 0 stands for 64. */
sstore_status ss_take_fingerprint_bits(uint32_t *bits, sstore_error *error);

/* The distance of such a call. */
static inline uint32_t ss_distance_or_default(uint32_t distance)
{
    return distance == SSTORE_OWN_DISTANCE ? SSTORE_DEFAULT_DISTANCE : distance;
}

/* The memory limit of a call. `min_bytes` is what the call needs. */
sstore_status ss_check_memory(uint64_t limit_bytes, uint64_t min_bytes, sstore_error *error);

/* ----- messages ----- */

/* Append advice to the message of a filled error; NULL is allowed. */
void ss_advise(sstore_error *error, const char *what);

/* Whether an error concerns one file only, so that others may still be readable: the file is lost, damaged, of another
 * version, not readable by this user, or on a failing disk. */
bool ss_is_of_one_file(const sstore_error *error);

/* Copy `text` to `to`, which has room for `size` > 0 bytes with the closing 0, as sstore_escape() does without doubling
 * backslashes. Characters that do not fit completely are left out. */
void ss_printable(const char *text, char *to, size_t size);

/* Check the arguments of the public `function`, which asks an iterator for more results, and set *count_out to 0.
 * `is_usable`: there is an iterator, and no earlier call of it failed. False: *error is filled with ARGUMENT. */
bool ss_check_next(const char *function, bool is_usable, size_t capacity, size_t *count_out, sstore_error *error);

/* ----- public structs that grow (sstore.h, "Structs that grow") ----- */

/* Their sizes in version 1, which never change. */
enum {
    SS_OPEN_OPTIONS_SIZE_1 = 32,
    SS_BATCH_OPTIONS_SIZE_1 = 72,
    SS_ID_FILTER_SIZE_1 = 32,
    SS_COLUMNS_SIZE_1 = 80,
    SS_TABLE_EXPLANATION_SIZE_1 = 104,
    SS_STATISTICS_SIZE_1 = 688,
    SS_SEGMENT_STATISTICS_SIZE_1 = 192,
    SS_WORD_STATISTICS_SIZE_1 = 1296,
    SS_TABLE_STATISTICS_SIZE_1 = 632,
    SS_BLOCK_STATISTICS_SIZE_1 = 16,
    SS_PROGRESS_SIZE_1 = 48,
    SS_CHANGE_SIZE_1 = 616,
    SS_WRITE_OPTIONS_SIZE_1 = 160,
    SS_DEDUP_STATISTICS_SIZE_1 = 32,
    SS_BUILD_NEEDS_SIZE_1 = 48,
    SS_VERIFY_OPTIONS_SIZE_1 = 24,
    SS_REINDEX_OPTIONS_SIZE_1 = 40,
    SS_JOIN_OPTIONS_SIZE_1 = 72,
    SS_CLUSTER_OPTIONS_SIZE_1 = 80,
    SS_RECORD_JOIN_OPTIONS_SIZE_1 = 40,
    SS_KEEPER_OPTIONS_SIZE_1 = 104,
    SS_COMPONENTS_OPTIONS_SIZE_1 = 48,
    SS_STREAM_OPTIONS_SIZE_1 = 24,
    SS_COLLECTION_OPTIONS_SIZE_1 = 32,
    SS_PLAN_OPTIONS_SIZE_1 = 64,
    SS_TEXT_OPTIONS_SIZE_1 = 48,
    SS_TEXT_RESULT_SIZE_1 = 40,
    SS_FREQUENCY_SUMMARY_SIZE_1 = 32
};

/* Copy the caller's options (NULL: none) over the defaults in `to`, which has `size` bytes. Both begin with
 * struct_size. ARGUMENT if theirs is smaller than version 1's; UNSUPPORTED if a field that is unknown here is not 0. */
sstore_status ss_take_options(void *to, size_t size, const void *from, size_t first_size, sstore_error *error);

/* Check a struct, or NULL, that a call will fill at its end. ARGUMENT if it is smaller than version 1's. */
sstore_status ss_check_result(const void *to, size_t first_size, sstore_error *error);

/* Fill the caller's struct, whose struct_size the caller has set, from `from`, which has `size` bytes. A smaller struct
 * gets the fields that it has; the additional bytes of a larger one become 0. ARGUMENT if it is smaller than version
 * 1's. */
sstore_status ss_give_result(void *to, const void *from, size_t size, size_t first_size, sstore_error *error);

#endif
