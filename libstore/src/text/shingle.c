#include "text/shingle.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checksum.h"
#include "base/error.h"
#include "text/simhash.h"

void ss_shingles_init(ss_shingles *shingles, uint32_t width, uint32_t gap)
{
    assert(width >= 1 && width <= SS_MAX_SHINGLE && gap <= 1);
    ss_bit_counter_init(&shingles->counter);
    shingles->feature_count = 0;
    shingles->width = width;
    shingles->gap = gap;
    shingles->bytes = shingles->own_bytes;
    shingles->used = 0;
    shingles->capacity = sizeof shingles->own_bytes;
    shingles->unit_count = 0;
    shingles->starts[0] = 0;
}

static void hash_feature(ss_shingles *shingles, size_t start, size_t end)
{
    ss_bit_counter_add(&shingles->counter, ss_hash64(shingles->bytes + start, end - start));
    shingles->feature_count++;
}

/* Hash all shingles of closed units, then drop the units that no later shingle needs. */
static void drain(ss_shingles *shingles)
{
    const size_t *starts = shingles->starts;
    if (shingles->unit_count < shingles->width)
        return;
    size_t count = shingles->unit_count - shingles->width + 1;
    for (size_t i = 0; i < count; i++)
        hash_feature(shingles, starts[i], starts[i + shingles->width] - shingles->gap);
    size_t kept = shingles->width - 1, shift = starts[count];
    shingles->used -= shift;
    memmove(shingles->bytes, shingles->bytes + shift, shingles->used);
    for (size_t i = 0; i <= kept; i++)
        shingles->starts[i] = starts[count + i] - shift;
    shingles->unit_count = kept;
}

/* Double the buffer until it holds `bytes`. Only a text with words longer than the buffer comes here. */
static sstore_status grow(ss_shingles *shingles, size_t bytes, sstore_error *error)
{
    size_t capacity = 2 * shingles->capacity;
    if (bytes > capacity)
        capacity = bytes;
    bool own = shingles->bytes == shingles->own_bytes;
    uint8_t *memory = ss_realloc(own ? NULL : shingles->bytes, capacity, 1);
    if (memory == NULL)
        return ss_fail_memory(error, capacity);
    if (own)
        memcpy(memory, shingles->own_bytes, shingles->used);
    shingles->bytes = memory;
    shingles->capacity = capacity;
    return SSTORE_OK;
}

sstore_status ss_shingles_make_room(ss_shingles *shingles, size_t bytes, size_t units, sstore_error *error)
{
    assert(units <= SS_SHINGLE_BATCH);
    (void)units; /* fewer than SS_MAX_SHINGLE stay after a drain, so any number fits */
    drain(shingles);
    size_t needed = bytes + SS_SHINGLE_SLACK;
    if (shingles->capacity - shingles->used < needed)
        return grow(shingles, shingles->used + needed, error);
    return SSTORE_OK;
}

uint64_t ss_shingles_finish(ss_shingles *shingles)
{
    drain(shingles);
    if (shingles->feature_count == 0 && shingles->unit_count > 0)
        hash_feature(shingles, 0, shingles->starts[shingles->unit_count] - shingles->gap);
    return ss_simhash_of_units(&shingles->counter, shingles->feature_count);
}

void ss_shingles_free(ss_shingles *shingles)
{
    if (shingles->bytes != shingles->own_bytes)
        ss_free(shingles->bytes);
}
