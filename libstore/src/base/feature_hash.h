/*
 * feature_hash.h - the hashes that turn features into words of a fingerprint (format-spec/fingerprint.md, "Hashes").
 *
 * Beside these words, a feature of a text has the 64-bit hash XXH3-64 by which it is known: in sets, lexicons and
 * tables of frequencies. That hash does not depend on the width of fingerprints.
 */
#ifndef SS_FEATURE_HASH_H
#define SS_FEATURE_HASH_H

#include "base/common.h"

#define SS_FEATURE_HASH_WORDS 2u /* the most words that a hash has */

/* A kind of hash, and how wide it is. Zeroed, it is XXH3-64. */
typedef struct ss_feature_hash {
    sstore_feature_hash kind;
    uint32_t words; /* 1 to SS_FEATURE_HASH_WORDS; 0 is 1 */
} ss_feature_hash;

/* Choose a hash for fingerprints of this many bits; 0: of as many as the kind has at least. ARGUMENT. */
sstore_status ss_feature_hash_choose(sstore_feature_hash kind, uint32_t bits, ss_feature_hash *chosen_out,
                                     sstore_error *error);

/* As recipes name it. */
const char *ss_feature_hash_name(const ss_feature_hash *self);

/* Whether more than 64 bits are asked for. */
static inline bool ss_feature_hash_is_wide(const ss_feature_hash *self)
{
    return self->words > 1;
}

/* Whether a bit with a sum of 0 is 1. */
static inline bool ss_feature_hash_sets_ties(const ss_feature_hash *self)
{
    return self->kind == SSTORE_FEATURE_HASH_JAVA128;
}

/* Hash a feature; the first word has the most significant bits. */
void ss_feature_hash_make(const ss_feature_hash *self, const void *data, size_t size,
                          uint64_t words_out[SS_FEATURE_HASH_WORDS]);

#endif
