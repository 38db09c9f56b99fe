/*
 * fingerprint_form.h - fingerprints of 1 to 16 words for tests, whose words may be skewed or constant as those of real
 * ones.
 */
#ifndef SUPPORT_FINGERPRINT_FORM_H
#define SUPPORT_FINGERPRINT_FORM_H

#include "sstore.h"
#include "support/random.h"

/* How a word of fingerprints is made. */
typedef enum word_kind {
    WORD_UNIFORM,  /* independent bits */
    WORD_CONSTANT, /* always the same */
    WORD_FEW,      /* one of three values */
    WORD_SPARSE,   /* at most three ones */
    WORD_COPY,     /* of the word before it */
    WORD_HALF,     /* the first half is constant */
    WORD_KIND_COUNT
} word_kind;

typedef struct fingerprint_form {
    uint32_t words, distance; /* the distance is at most SSTORE_MAX_BUILD_DISTANCE a word */
    word_kind kinds[SSTORE_MAX_WORDS];
} fingerprint_form;

/* Any width from `min_words` on, kinds and distance. */
fingerprint_form form_any(rng *random, uint32_t min_words);
/* Words of any kinds; half of them are uniform. */
fingerprint_form form_with(rng *random, uint32_t words, uint32_t distance);
/* All words are of one kind. */
fingerprint_form form_of(word_kind kind, uint32_t words, uint32_t distance);
/* Says what it is; in static memory that the next call uses again. */
const char *form_text(const fingerprint_form *form);

/* Flip up to `flips` bits. */
void fingerprint_flip(rng *random, const fingerprint_form *form, uint64_t *fingerprint, uint64_t flips);
/* Make a fingerprint: a new one; or, if there are others already, two times of three one of them with up to
 * distance + 2 bits flipped, or as it is. `made` may be one of them that is not counted yet. */
void fingerprint_make(rng *random, const fingerprint_form *form, const uint64_t *others, size_t count, uint64_t *made);
/* Make `count` fingerprints in this way; freed with free(). */
uint64_t *fingerprint_make_many(rng *random, const fingerprint_form *form, size_t count);

#endif
