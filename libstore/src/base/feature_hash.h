/*
 * feature_hash.h - the hashes that turn features into words of a fingerprint (format-spec/fingerprint.md, "Hashes").
 *
 * Beside these words, a feature of a text has the 64-bit hash XXH3-64 by which it is known: in sets, lexicons and
 * tables of frequencies. That hash does not depend on the width of fingerprints.
 */
#ifndef SS_FEATURE_HASH_H
#define SS_FEATURE_HASH_H

#include "base/common.h"

#define SS_FEATURE_HASH_WORDS 2u       /* the most words that a hash has */
#define SS_FEATURE_HASH_NAME_BYTES 24u /* of the name, with the closing 0 */

/* A kind of hash, and how wide the fingerprints are. Zeroed, it is XXH3-64. */
typedef struct ss_feature_hash {
    sstore_feature_hash kind;
    uint32_t words; /* 1 to SS_FEATURE_HASH_WORDS, with MINHASH up to 16; 0 is 1 */
} ss_feature_hash;

/* Choose a hash for fingerprints of this many bits; 0: of as many as the kind has at least. ARGUMENT. */
sstore_status ss_feature_hash_choose(sstore_feature_hash kind, uint32_t bits, ss_feature_hash *chosen_out,
                                     sstore_error *error);

/* Write its name, as recipes have it. */
void ss_feature_hash_name(const ss_feature_hash *self, char name_out[SS_FEATURE_HASH_NAME_BYTES]);

static inline bool ss_feature_hash_is_minhash(const ss_feature_hash *self)
{
    return self->kind == SSTORE_FEATURE_HASH_MINHASH;
}

/* Whether features need a hash of more than 64 bits. */
static inline bool ss_feature_hash_is_wide(const ss_feature_hash *self)
{
    return self->words > 1 && !ss_feature_hash_is_minhash(self);
}

/* Whether a bit with a sum of 0 is 1. */
static inline bool ss_feature_hash_sets_ties(const ss_feature_hash *self)
{
    return self->kind == SSTORE_FEATURE_HASH_JAVA128;
}

/* Hash a feature, for a simhash; the first word has the most significant bits. */
void ss_feature_hash_make(const ss_feature_hash *self, const void *data, size_t size,
                          uint64_t words_out[SS_FEATURE_HASH_WORDS]);

#endif
