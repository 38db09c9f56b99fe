/*
 * lexicon.h - stop words and weights of features, as the options of fingerprinters have them. lexicon_create.c makes
 * lexicons.
 */
#ifndef SS_LEXICON_H
#define SS_LEXICON_H

#include "sstore_text.h"
#include "text/feature_set.h"
#include "text/frequencies.h"

struct sstore_lexicon {
    sstore_text_options options; /* the lexicon itself is theirs, so that its stop words are left out of features */
    ss_feature_set stop_words;
    ss_feature_set weighted; /* features with a weight of their own */
    double *weights;         /* of these, in the same order; multiples of 2^-20 */
    size_t weight_capacity;
    bool has_frequencies;
    ss_frequencies frequencies;
    uint32_t levels;  /* 0: none */
    double max_units; /* the factor of the rarest features, in units */
};

/* Take over an open table of document frequencies, in place of one that the lexicon has. */
void ss_lexicon_set_frequencies(sstore_lexicon *lexicon, const ss_frequencies *frequencies, uint32_t levels);

/* Whether a lexicon was made for features of these checked options. */
bool ss_lexicon_fits(const sstore_lexicon *lexicon, const sstore_text_options *options);

/* The hashes of the stop words; NULL if there are none. */
const ss_feature_set *ss_lexicon_stop_words(const sstore_lexicon *lexicon);

/* Whether any factor is other than 1. */
bool ss_lexicon_has_factors(const sstore_lexicon *lexicon);

/* The factor of the weight of features[i]. Reads ahead for the features after it. */
double ss_lexicon_factor(const sstore_lexicon *lexicon, const sstore_counted_feature *features, size_t count, size_t i);

/* The contents of a lexicon, as recipes name them. */
typedef struct ss_lexicon_hashes {
    bool has_stop_words, has_weights, has_frequencies;
    uint64_t stop_words, weights, frequencies;
    uint32_t levels;
} ss_lexicon_hashes;

/* NULL is an empty lexicon. */
ss_lexicon_hashes ss_lexicon_hashes_of(const sstore_lexicon *lexicon);

#endif
