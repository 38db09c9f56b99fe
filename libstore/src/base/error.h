/* error.h - filling an sstore_error, and text that is safe to show. */
#ifndef SS_ERROR_H
#define SS_ERROR_H

#include "base/common.h"

/* ----- error ----- */

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

/* ----- printable ----- */

/* Names, recipes and other text from files or arguments, made safe to show on a terminal. */

/* Copy `text` to `to`, which has room for `size` > 0 bytes with the closing 0, as sstore_escape() does without doubling
 * backslashes. What does not fit is left out, a character as a whole. */
void ss_printable(const char *text, char *to, size_t size);

#endif
