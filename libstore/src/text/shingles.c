#include "text/shingles.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "text/short_hash.h"

/* Not by one assignment, which would zero the buffers. */
sstore_status ss_shingles_init(ss_shingles *self, const ss_feature_hash *hash, sstore_error *error)
{
    const size_t wide_bytes = SS_SHINGLES_HASHES * hash->words * sizeof *self->wide_words;
    self->bytes = self->own_bytes;
    self->capacity = sizeof self->own_bytes;
    self->wide = *hash;
    self->wide_words = NULL;
    ss_shingles_begin(self, 1, 0);
    if (!ss_feature_hash_is_wide(hash))
        return SSTORE_OK;
    self->wide_words = ss_realloc(NULL, wide_bytes, 1);
    return self->wide_words != NULL ? SSTORE_OK : ss_fail_memory(error, wide_bytes);
}

void ss_shingles_free(ss_shingles *self)
{
    if (self->bytes != self->own_bytes)
        ss_free(self->bytes);
    ss_free(self->wide_words);
}

void ss_shingles_begin(ss_shingles *self, uint32_t width, uint32_t gap)
{
    assert(width >= 1 && width <= SS_MAX_SHINGLE && gap <= 1);
    self->width = width;
    self->gap = gap;
    self->has_features = false;
    self->used = self->unit_count = 0;
    self->starts[0] = 0;
}

/* The size of a unit if all in the buffer have one size, otherwise 0. */
static size_t common_size(const ss_shingles *self)
{
    const size_t size = self->starts[1];
    size_t different = 0, expected = size;
    for (size_t i = 1; i <= self->unit_count; i++, expected += size)
        different |= self->starts[i] ^ expected;
    return different == 0 ? size : 0;
}

/* Hash shingle `index`, of `size` bytes, by the wide hash. */
static void hash_widely(ss_shingles *self, size_t index, size_t size)
{
    uint64_t words[SS_FEATURE_HASH_WORDS];
    ss_feature_hash_make(&self->wide, self->bytes + self->starts[index], size, words);
    for (uint32_t i = 0; i < self->wide.words; i++)
        self->wide_words[SS_SHINGLES_HASHES * i + index] = words[i];
}

/* Hash the first `count` shingles. */
static void hash(ss_shingles *self, size_t count)
{
    const size_t *starts = self->starts, width = self->width;
    for (size_t i = 0; self->wide_words != NULL && i < count; i++)
        hash_widely(self, i, starts[i + width] - self->gap - starts[i]);
    if (self->gap == 0) {
        const size_t stride = common_size(self), size = width * stride;
        if (size >= SS_MIN_SHORT && size <= SS_MAX_SHORT) {
            ss_short_hashes(self->bytes, stride, size, count, self->hashes);
            return;
        }
    }
    for (size_t i = 0; i < count; i++)
        self->hashes[i] = ss_hash64(self->bytes + starts[i], starts[i + width] - self->gap - starts[i]);
}

/* Hash all shingles of closed units, then drop the units that no later shingle needs. */
static sstore_status drain(ss_shingles *self, sstore_error *error)
{
    size_t *starts = self->starts;
    if (self->unit_count < self->width)
        return SSTORE_OK;
    const size_t count = self->unit_count - self->width + 1, carried = self->width - 1, shift = starts[count];
    hash(self, count);
    self->has_features = true;
    self->used -= shift;
    memmove(self->bytes, self->bytes + shift, self->used);
    for (size_t i = 0; i <= carried; i++)
        starts[i] = starts[count + i] - shift;
    self->unit_count = carried;
    return self->sink.take(self->sink.self, self->hashes, count, error);
}

/* After a drain fewer than SS_MAX_SHINGLE units stay, so any number of units fits. The buffer grows only for words that
 * are longer than it. */
sstore_status ss_shingles_make_room(ss_shingles *self, size_t bytes, sstore_error *error)
{
    const sstore_status status = drain(self, error);
    const size_t needed = self->used + bytes + SS_SHINGLES_SLACK;
    if (status != SSTORE_OK || needed <= self->capacity)
        return status;
    const size_t capacity = ss_max_u64(2 * self->capacity, needed);
    const bool own = self->bytes == self->own_bytes;
    uint8_t *memory = ss_realloc(own ? NULL : self->bytes, capacity, 1);
    if (memory == NULL)
        return ss_fail_memory(error, capacity);
    if (own)
        memcpy(memory, self->own_bytes, self->used);
    self->bytes = memory;
    self->capacity = capacity;
    return SSTORE_OK;
}

sstore_status ss_shingles_end(ss_shingles *self, sstore_error *error)
{
    if (self->unit_count >= self->width)
        return drain(self, error);
    if (self->has_features || self->unit_count == 0)
        return SSTORE_OK;
    const size_t size = self->starts[self->unit_count] - self->gap;
    self->hashes[0] = ss_hash64(self->bytes, size);
    if (self->wide_words != NULL)
        hash_widely(self, 0, size);
    return self->sink.take(self->sink.self, self->hashes, 1, error);
}
