/* features.h - the features of a text. */
#ifndef SS_FEATURES_H
#define SS_FEATURES_H

#include "base/bitcount.h"
#include "base/common.h"
#include "sstore_text.h"

/* ===== shingles ===== */

/*
 * A window that slides over the units of a text (words or characters) and hashes every `width` of them.
 *
 * The units are written one after the other into one buffer, each followed by `gap` separator bytes, so a shingle is
 * always contiguous and is hashed where it lies. Hashing is put off until some thousand units are there: that loop then
 * runs without surprises for the processor's branch predictor, and without loads that overlap fresh stores.
 *
 * Invariants: starts[i] is where unit i of the buffer begins, for the `unit_count` closed ones, and starts[unit_count]
 * is where the open one begins; used >= starts[unit_count]; every shingle of closed units that are gone from the buffer
 * has been hashed.
 */

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

/* ===== ASCII ===== */

/*
 * The fast way through ASCII: what fold.h and features.c do code point by code point, for 64 bytes at once.
 * The results are the same; a unit test holds the two ways against each other.
 */

/* The most bytes that one call takes. */
#define SS_ASCII_CHUNK 2048u

/* The number of bytes below 0x80 at the start of `text`, at most SS_ASCII_CHUNK. */
size_t ss_ascii_span(const uint8_t *text, size_t size);

/*
 * Append the words of `size` <= SS_ASCII_CHUNK ASCII bytes, in lower case. *in_word tells whether the open unit is a
 * word that letters at the start continue; on return, whether the one at the end may go on. MEMORY.
 */
sstore_status ss_ascii_add_words(ss_shingles *words, const uint8_t *text, size_t size, bool *in_word,
                                 sstore_error *error);

/*
 * Append the characters of `size` <= SS_ASCII_CHUNK ASCII bytes, in lower case, with white space folded. *space_due
 * tells whether white space has been read that is to be written before the next character. MEMORY.
 */
sstore_status ss_ascii_add_chars(ss_shingles *chars, const uint8_t *text, size_t size, bool *space_due,
                                 sstore_error *error);

/* ===== features ===== */

/* A text's features: shingles of its words, or n-grams of its characters (format-spec/fingerprint.md). */

/*
 * The fingerprint of a text; `shingle` is 1 to 64. Without `shortcuts` the whole text is folded as one piece, code
 * point by code point: slow, plain, and what tests hold the shortcuts against. MEMORY.
 */
sstore_status ss_features_fingerprint(const uint8_t *text, size_t size, sstore_feature_kind kind, uint32_t shingle,
                                      bool shortcuts, uint64_t *fingerprint_out, sstore_error *error);

#endif
