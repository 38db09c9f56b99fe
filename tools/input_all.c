/*
 * input_all.c - all fingerprints of an input in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "input.h"

typedef struct all_fingerprints {
    const char *path;
    uint64_t *items;
    size_t count, capacity;
} all_fingerprints;

static int add_batch(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    all_fingerprints *to = context;
    (void)ids;
    if (to->count + count > to->capacity) {
        size_t capacity = 2 * (to->count + count);
        uint64_t *grown = reallocarray(to->items, capacity, sizeof *grown);
        if (grown == NULL) {
            cmd_complain("%s: out of memory for the fingerprints, which are all needed at once", to->path);
            return EXIT_FAILED;
        }
        to->items = grown;
        to->capacity = capacity;
    }
    memcpy(to->items + to->count, fingerprints, count * sizeof *fingerprints);
    to->count += count;
    return EXIT_DONE;
}

int input_read_all(const char *path, const input_options *options, uint64_t **fingerprints_out, size_t *count_out)
{
    input_ids ids = INPUT_IDS_UNKNOWN;
    all_fingerprints all = {.path = path};
    int code = input_read(path, options, &ids, add_batch, &all);
    *fingerprints_out = all.items;
    *count_out = all.count;
    return code;
}
