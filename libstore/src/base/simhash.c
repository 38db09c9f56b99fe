/* simhash.c - the simhash of features that the caller weighs, and the distance of two fingerprints. */
#include <math.h>

#include "base/error.h"
#include "base/feature_hash.h"
#include "base/sums.h"
#include "base/words.h"

#define MAX_BITS 1024u /* of a fingerprint */

static sstore_status check_weight(size_t index, double weight, sstore_error *error)
{
    if (fabs(weight) <= SS_MAX_WEIGHT) /* false for NaN */
        return SSTORE_OK;
    return ss_fail_argument(error, "the weight of feature %zu is %g; it must be a number from -2^31 to 2^31", index,
                            weight);
}

static sstore_status add_feature(ss_sums *sums, const ss_feature_hash *hash, size_t index,
                                 const sstore_feature *feature, sstore_error *error)
{
    uint64_t words[SS_FEATURE_HASH_WORDS];
    if (feature->data == NULL && feature->size > 0)
        return ss_fail_argument(error, "feature %zu has a size but no data", index);
    const sstore_status status = check_weight(index, feature->weight, error);
    if (status != SSTORE_OK)
        return status;
    ss_feature_hash_make(hash, feature->size > 0 ? feature->data : "", feature->size, words);
    for (uint32_t i = 0; i < hash->words; i++)
        ss_sums_add(&sums[i], words[i], feature->weight);
    return SSTORE_OK;
}

sstore_status sstore_simhash(const sstore_feature *features, size_t count, sstore_feature_hash hash,
                             uint32_t fingerprint_bits, uint64_t *fingerprint_out, sstore_error *error)
{
    ss_sums sums[SS_FEATURE_HASH_WORDS];
    ss_feature_hash chosen;
    if ((features == NULL && count > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "features and fingerprint_out must not be NULL");
    if (hash == SSTORE_FEATURE_HASH_MINHASH)
        return ss_fail_argument(error, "a MinHash is no simhash: sstore_minhash() makes it");
    sstore_status status = ss_feature_hash_choose(hash, fingerprint_bits, &chosen, error);
    if (status != SSTORE_OK)
        return status;
    for (uint32_t i = 0; i < chosen.words; i++)
        ss_sums_init(&sums[i]);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = add_feature(sums, &chosen, i, &features[i], error);
    for (uint32_t i = 0; status == SSTORE_OK && i < chosen.words; i++)
        fingerprint_out[i] = ss_sums_fingerprint(&sums[i], ss_feature_hash_sets_ties(&chosen));
    return status;
}

/* The sums of every `stride`-th hash. */
static void sum_hashes(ss_sums *sums, const uint64_t *hashes, size_t stride, const double *weights, size_t count)
{
    ss_sums_init(sums);
    for (size_t i = 0; i < count; i++)
        ss_sums_add(sums, hashes[stride * i], weights == NULL ? 1.0 : weights[i]);
}

sstore_status sstore_simhash_hashes(const uint64_t *hashes, const double *weights, size_t count,
                                    uint32_t fingerprint_bits, uint64_t *fingerprint_out, sstore_error *error)
{
    ss_sums sums;
    const uint32_t words = fingerprint_bits / 64;
    sstore_status status = SSTORE_OK;
    if ((hashes == NULL && count > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "hashes and fingerprint_out must not be NULL");
    if (fingerprint_bits == 0 || fingerprint_bits > MAX_BITS || fingerprint_bits % 64 != 0)
        return ss_fail_argument(error, "a fingerprint has a multiple of 64 bits up to %u, not %u", MAX_BITS,
                                fingerprint_bits);
    for (size_t i = 0; weights != NULL && status == SSTORE_OK && i < count; i++)
        status = check_weight(i, weights[i], error);
    for (uint32_t i = 0; status == SSTORE_OK && i < words; i++) {
        sum_hashes(&sums, hashes + i, words, weights, count);
        fingerprint_out[i] = ss_sums_fingerprint(&sums, false);
    }
    return status;
}

uint32_t sstore_hamming_distance(const uint64_t *a, const uint64_t *b, uint32_t fingerprint_bits)
{
    return ss_words_distance(a, b, fingerprint_bits / SS_WORD_BITS);
}
