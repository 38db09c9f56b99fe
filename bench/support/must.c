#include "support/must.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void bench_must(sstore_status status, const sstore_error *error)
{
    if (status != SSTORE_OK && status != SSTORE_STOPPED)
        bench_fail("%s", error->message);
}

void bench_fail_system(const char *what, const char *path)
{
    bench_fail("%s%s%s: %s", what, path != NULL ? " " : "", path != NULL ? path : "", strerror(errno));
}

void *bench_alloc(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    bench_must_do(memory != NULL, "allocating", NULL);
    return memory;
}
