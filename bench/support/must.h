/*
 * must.h - a benchmark has nothing to do but to end where something fails. All of these print what failed to standard
 * error and exit with 1.
 */
#ifndef BENCH_MUST_H
#define BENCH_MUST_H

#include <stdbool.h>
#include <stddef.h>

#include "sstore.h"

/* End the program with a message, as printf makes it. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Go on only if the library succeeded; SSTORE_STOPPED, which a callback asked for, is success. */
void bench_must(sstore_status status, const sstore_error *error);

/* End the program because the system did not do `what` (to `path`, unless that is NULL); errno says why. */
_Noreturn void bench_fail_system(const char *what, const char *path);

/* Go on only if the system did it. */
static inline void bench_must_do(bool done, const char *what, const char *path)
{
    if (!done)
        bench_fail_system(what, path);
}

/* Zeroed memory, to be freed with free(). */
void *bench_alloc(size_t count, size_t size);

#endif
