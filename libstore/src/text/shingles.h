/*
 * shingles.h - a window that slides over the units of a text (words or characters) and hashes every `width` of them.
 *
 * The units are written one after the other into one buffer, each followed by `gap` separator bytes. So a shingle is
 * always contiguous and is hashed in place. Hashing waits until some thousand units are there: its loop then has
 * predictable branches, and no loads that overlap fresh stores.
 */
#ifndef SS_SHINGLES_H
#define SS_SHINGLES_H

#include "base/feature_hash.h"

#define SS_MAX_SHINGLE 64u
#define SS_SHINGLES_UNITS 2112u /* units in the buffer beside those that it carries for the next shingles */
#define SS_SHINGLES_SLACK 64u   /* bytes that may be written past `used`, by copying in large pieces */
#define SS_SHINGLES_HASHES (SS_MAX_SHINGLE + SS_SHINGLES_UNITS)

/* Takes the hashes (XXH3-64) of some features of a text. MEMORY. */
typedef struct ss_feature_sink {
    sstore_status (*take)(void *self, const uint64_t *hashes, size_t count, sstore_error *error);
    void *self;
} ss_feature_sink;

/*
 * Units that belong together are a run; no shingle is of two runs. Invariants: starts[i] is where unit i of the buffer
 * begins, for the `unit_count` closed units, and starts[unit_count] is where the open one begins; used >=
 * starts[unit_count]; every shingle of closed units that left the buffer has been hashed.
 */
typedef struct ss_shingles {
    ss_feature_sink sink; /* set before units are added */
    uint32_t width, gap;
    bool has_features; /* the run gave some */
    uint8_t *bytes;    /* own_bytes, or heap memory once that was too small */
    size_t used, capacity;
    size_t unit_count;
    size_t starts[SS_SHINGLES_HASHES + 1];
    uint64_t hashes[SS_SHINGLES_HASHES];
    uint8_t own_bytes[16384];
    ss_feature_hash wide; /* another hash of the features, if it is a wide one */
    uint64_t *wide_words; /* NULL, or by it a column of SS_SHINGLES_HASHES for each word, as `hashes` */
} ss_shingles;

/* Features are hashed with XXH3-64, and by `hash` if it is wide. MEMORY; ss_shingles_free() is allowed then. */
sstore_status ss_shingles_init(ss_shingles *self, const ss_feature_hash *hash, sstore_error *error);
void ss_shingles_free(ss_shingles *self);

/* Begin a run of units. `width` is 1 to SS_MAX_SHINGLE, `gap` 0 or 1. The run before it must have ended. */
void ss_shingles_begin(ss_shingles *self, uint32_t width, uint32_t gap);

/* End the run; all its units are closed. If they are fewer than the width, they are one feature. MEMORY. */
sstore_status ss_shingles_end(ss_shingles *self, sstore_error *error);

/* For ss_shingles_reserve() alone: hash what can be hashed, and extend the buffer if that is not enough. MEMORY. */
sstore_status ss_shingles_make_room(ss_shingles *self, size_t bytes, sstore_error *error);

/* Reserve `bytes` more bytes, SS_SHINGLES_SLACK beyond them, and `units` <= SS_SHINGLES_UNITS more units. MEMORY. */
static inline sstore_status ss_shingles_reserve(ss_shingles *self, size_t bytes, size_t units, sstore_error *error)
{
    if (SS_LIKELY(self->capacity - self->used >= bytes + SS_SHINGLES_SLACK &&
                  self->unit_count + units <= SS_MAX_SHINGLE + SS_SHINGLES_UNITS))
        return SSTORE_OK;
    return ss_shingles_make_room(self, bytes, error);
}

/* End the open unit. The buffer must have space for it, and for `gap` bytes, which become spaces. */
static inline void ss_shingles_close_unit(ss_shingles *self)
{
    if (self->gap > 0)
        self->bytes[self->used++] = ' ';
    self->starts[++self->unit_count] = self->used;
}

/* Whether any unit of the run has been closed. */
static inline bool ss_shingles_has_begun(const ss_shingles *self)
{
    return self->has_features || self->unit_count > 0;
}

#endif
