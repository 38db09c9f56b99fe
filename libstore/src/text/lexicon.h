/* lexicon.h - stop words and weights of features, as the options of fingerprinters have them. */
#ifndef SS_LEXICON_H
#define SS_LEXICON_H

#include "sstore_text.h"
#include "text/feature_set.h"

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
