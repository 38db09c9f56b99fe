/*
 * input_measure.c - counts the bytes of inputs, which one thread may read while another one asks for their sum.
 */
#include "input/input_measure.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t total_bytes; /* of all inputs; 0: unknown, or nothing */
static _Atomic uint64_t read_bytes;

void input_measure_begin(char *const *paths, int count)
{
    struct stat info;
    total_bytes = 0;
    atomic_store_explicit(&read_bytes, 0, memory_order_relaxed);
    for (int i = 0; i < count; i++) {
        const int failure = strcmp(paths[i], "-") == 0 ? fstat(STDIN_FILENO, &info) : stat(paths[i], &info);
        if (failure != 0 || !S_ISREG(info.st_mode)) {
            total_bytes = 0;
            return;
        }
        total_bytes += (uint64_t)info.st_size;
    }
}

void input_measure_add(size_t bytes)
{
    atomic_fetch_add_explicit(&read_bytes, bytes, memory_order_relaxed);
}

double input_measure_fraction(void)
{
    const uint64_t done = atomic_load_explicit(&read_bytes, memory_order_relaxed);
    if (total_bytes == 0)
        return -1;
    return done < total_bytes ? (double)done / (double)total_bytes : 1; /* a file may grow */
}
