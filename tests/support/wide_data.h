/*
 * wide_data.h - fingerprints of several words for tests, whose words may be skewed or constant as those of real ones.
 */
#ifndef SUPPORT_WIDE_DATA_H
#define SUPPORT_WIDE_DATA_H

#include "sstore.h"
#include "support/random.h"

/* How a word of fingerprints is made. */
typedef enum wide_kind {
    WIDE_UNIFORM,  /* independent bits */
    WIDE_CONSTANT, /* always the same */
    WIDE_FEW,      /* one of three values */
    WIDE_SPARSE,   /* at most three ones */
    WIDE_COPY,     /* of the word before it */
    WIDE_HALF,     /* the first half is constant */
    WIDE_KIND_COUNT
} wide_kind;

typedef struct wide_form {
    uint32_t words, distance; /* the distance is at most SSTORE_MAX_BUILD_DISTANCE a word */
    wide_kind kinds[SSTORE_MAX_WORDS];
} wide_form;

/* Any width from `min_words` on, kinds and distance. */
wide_form wide_form_any(rng *random, uint32_t min_words);
/* Words of any kinds; half of them are uniform. */
wide_form wide_form_with(rng *random, uint32_t words, uint32_t distance);
/* All words are of one kind. */
wide_form wide_form_of(wide_kind kind, uint32_t words, uint32_t distance);
/* Says what it is; in static memory that the next call uses again. */
const char *wide_form_text(const wide_form *form);

/* Make a fingerprint: a new one; or, if there are others already, half of the time one of them with up to distance + 2
 * bits flipped, or as it is. `made` may be one of them that is not counted yet. */
void wide_make(rng *random, const wide_form *form, const uint64_t *others, size_t count, uint64_t *made);
/* Make `count` fingerprints in this way; freed with free(). */
uint64_t *wide_make_many(rng *random, const wide_form *form, size_t count);

#endif
