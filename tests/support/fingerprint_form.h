/*
 * fingerprint_form.h - makes fingerprints of 1 to 16 words for tests: some like real ones, whose words may be skewed or
 * constant, others with extremes that may break code.
 */
#ifndef SUPPORT_FINGERPRINT_FORM_H
#define SUPPORT_FINGERPRINT_FORM_H

#include "sstore.h"
#include "support/random.h"

/* How a word of fingerprints is made. */
typedef enum data_kind {
    DATA_UNIFORM,   /* independent bits */
    DATA_CLUSTERED, /* one in four is that of an earlier fingerprint with 0 to 3 bits flipped */
    DATA_SKEWED,    /* a few leading prefixes of 4 to 28 bits hold nearly all */
    DATA_DENSE,     /* consecutive numbers */
    DATA_EQUAL,     /* one value only */
    DATA_ONE_BIT,   /* one value and those one bit from it */
    DATA_EXTREMES,  /* 0, 2^64-1, and values near them by number or by distance */
    DATA_CROWDED,   /* five values with twelve bits in a row set anyhow: they share long prefixes, in any table */
    DATA_REPEATED,  /* a few dozen values, some far more often than others */
    DATA_FEW,       /* one of three values */
    DATA_SPARSE,    /* at most three ones */
    DATA_COPY,      /* of the word before it; the first one is 0 */
    DATA_HALF,      /* the first half is 0 */
    DATA_KIND_COUNT
} data_kind;

#define FORM_PREFIXES 5u

/* What fingerprints have in common. Zeroed but for `words`, they are uniform. */
typedef struct fingerprint_form {
    uint32_t words, distance; /* the distance is at most SSTORE_MAX_BUILD_DISTANCE a word */
    data_kind kinds[SSTORE_MAX_WORDS];
    bool apart; /* none is made from an earlier one, unless its kind does so */
    uint64_t base, prefixes[FORM_PREFIXES];
} fingerprint_form;

const char *data_kind_name(data_kind kind);

/* Any width from `min_words` on, kinds and distance. */
fingerprint_form form_any(rng *random, uint32_t min_words);
/* Words of any kinds; of several ones half are uniform. One word is mostly apart. */
fingerprint_form form_with(rng *random, uint32_t words, uint32_t distance);
/* All words are of one kind. */
fingerprint_form form_of(rng *random, data_kind kind, uint32_t words, uint32_t distance);
/* Says what it is; in static memory that the next call uses again. */
const char *form_text(const fingerprint_form *form);

/* Flip up to `flips` bits. */
void fingerprint_flip(rng *random, uint32_t words, uint64_t *fingerprint, uint64_t flips);
/* Make a fingerprint: a new one; or, if there are others already and the form is not apart, two times of three one of
 * them with up to distance + 2 bits flipped, or as it is. `made` may be one of them that is not counted yet. */
void fingerprint_make(rng *random, const fingerprint_form *form, const uint64_t *others, size_t count, uint64_t *made);
/* Make `count` fingerprints in this way; freed with free(). */
uint64_t *fingerprint_make_many(rng *random, const fingerprint_form *form, size_t count);
/* Make one whose words are extreme. */
void fingerprint_make_extreme(rng *random, uint32_t words, uint64_t *made);

#endif
