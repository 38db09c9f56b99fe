/* simhash.c - the simhash of features that the caller weighs, and the distance of two fingerprints. */
#include <math.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/sums.h"

static sstore_status add(ss_sums *sums, size_t index, uint64_t hash, double weight, sstore_error *error)
{
    if (!(fabs(weight) <= SS_MAX_WEIGHT)) /* also NaN */
        return ss_fail_argument(error, "the weight of feature %zu is %g; it must be a number from -2^31 to 2^31", index,
                                weight);
    ss_sums_add(sums, hash, weight);
    return SSTORE_OK;
}

sstore_status sstore_simhash(const sstore_feature *features, size_t count, uint64_t *fingerprint_out,
                             sstore_error *error)
{
    ss_sums sums;
    sstore_status status = SSTORE_OK;
    if ((features == NULL && count > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "features and fingerprint_out must not be NULL");
    ss_sums_init(&sums);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        const sstore_feature *feature = &features[i];
        if (feature->data == NULL && feature->size > 0)
            return ss_fail_argument(error, "feature %zu has a size but no data", i);
        status = add(&sums, i, ss_hash64(feature->size > 0 ? feature->data : "", feature->size), feature->weight,
                     error);
    }
    if (status == SSTORE_OK)
        *fingerprint_out = ss_sums_fingerprint(&sums);
    return status;
}

sstore_status sstore_simhash_hashes(const uint64_t *hashes, const double *weights, size_t count,
                                    uint64_t *fingerprint_out, sstore_error *error)
{
    ss_sums sums;
    sstore_status status = SSTORE_OK;
    if ((hashes == NULL && count > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "hashes and fingerprint_out must not be NULL");
    ss_sums_init(&sums);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = add(&sums, i, hashes[i], weights == NULL ? 1.0 : weights[i], error);
    if (status == SSTORE_OK)
        *fingerprint_out = ss_sums_fingerprint(&sums);
    return status;
}

uint32_t sstore_hamming_distance(uint64_t a, uint64_t b)
{
    return ss_popcount(a ^ b);
}
