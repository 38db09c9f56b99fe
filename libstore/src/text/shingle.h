/*
 * shingle.h - a window that slides over the units of a text (words or characters) and hashes every `width` of them.
 *
 * The units are written one after the other into one buffer, each followed by `gap` separator bytes, so a shingle is
 * always contiguous and is hashed where it lies. Hashing is put off until some thousand units are there: that loop then
 * runs without surprises for the processor's branch predictor, and without loads that overlap fresh stores.
 *
 * Invariants: starts[i] is where unit i of the buffer begins, for the `unit_count` closed ones, and starts[unit_count]
 * is where the open one begins; used >= starts[unit_count]; every shingle of closed units that are gone from the buffer
 * has been hashed.
 */
#ifndef SS_SHINGLE_H
#define SS_SHINGLE_H

#include "base/bitcount.h"

#define SS_MAX_SHINGLE 64u
/* Units that the buffer takes beside those that it keeps for the next shingles. */
#define SS_SHINGLE_BATCH 2112u
/* Bytes that may be written past `used` by whoever copies in large pieces. */
#define SS_SHINGLE_SLACK 64u

typedef struct ss_shingles {
    ss_bit_counter counter;
    uint64_t feature_count;
    uint32_t width, gap;
    uint8_t *bytes; /* own_bytes, or from the heap once it was too small */
    size_t used, capacity;
    size_t unit_count;
    size_t starts[SS_MAX_SHINGLE + SS_SHINGLE_BATCH + 1];
    uint8_t own_bytes[16384];
} ss_shingles;

void ss_shingles_init(ss_shingles *shingles, uint32_t width, uint32_t gap);

/* Make room for `bytes` more bytes, SS_SHINGLE_SLACK beyond them, and `units` <= SS_SHINGLE_BATCH more units, where
 * there is not. MEMORY. */
sstore_status ss_shingles_make_room(ss_shingles *shingles, size_t bytes, size_t units, sstore_error *error);

static inline sstore_status ss_shingles_reserve(ss_shingles *shingles, size_t bytes, size_t units, sstore_error *error)
{
    if (SS_LIKELY(shingles->capacity - shingles->used >= bytes + SS_SHINGLE_SLACK &&
                  shingles->unit_count + units <= SS_MAX_SHINGLE + SS_SHINGLE_BATCH))
        return SSTORE_OK;
    return ss_shingles_make_room(shingles, bytes, units, error);
}

/* End the open unit. There must be room for it, and for `gap` bytes, which become spaces. */
static inline void ss_shingles_close_unit(ss_shingles *shingles)
{
    if (shingles->gap > 0)
        shingles->bytes[shingles->used++] = ' ';
    shingles->starts[++shingles->unit_count] = shingles->used;
}

/* Whether any unit has been closed since the start of the text. */
static inline bool ss_shingles_begun(const ss_shingles *shingles)
{
    return shingles->feature_count > 0 || shingles->unit_count > 0;
}

/* End the text: the open unit must have been closed. Fewer than `width` units are one feature. */
uint64_t ss_shingles_finish(ss_shingles *shingles);

void ss_shingles_free(ss_shingles *shingles);

#endif
