/*
 * simhash.c - the simhash of hashed features: for every bit, the weights of the features that have it are added and the
 * others subtracted; the signs are the fingerprint (the paper, section 2; format-spec/fingerprint.md). Also the
 * distance of two fingerprints.
 *
 * Weights are whole multiples of 2^-20 and all sums are exact, so the result depends on the set of features alone,
 * never on their order or on the machine. Bound: a weight is at most 2^31 in magnitude, so 2^51 units; 2^11 of them
 * stay within 2^62 in `partial`, and 2^64 of them within 2^115 in `total`.
 */
#include <math.h>
#include <string.h>

#include "base/bitcount.h"
#include "base/bytes.h"
#include "base/error.h"

#define MAX_WEIGHT 2147483648.0 /* 2^31 */
#define WEIGHT_UNIT 1048576.0   /* 2^20 */
#define PARTIAL_MAX 2048u

__extension__ typedef __int128 int128;

typedef struct sums {
    ss_bit_counter units; /* of the features of weight 1 */
    uint64_t unit_count;
    uint32_t partial_count; /* weights in partial, at most PARTIAL_MAX */
    int64_t partial[64];    /* in units of 2^-20 */
    int128 total[64];
} sums;

static void init(sums *self)
{
    ss_bit_counter_init(&self->units);
    self->unit_count = self->partial_count = 0;
    memset(self->partial, 0, sizeof self->partial);
    memset(self->total, 0, sizeof self->total);
}

static void flush_partial(sums *self)
{
    for (uint32_t i = 0; i < 64; i++)
        self->total[i] += self->partial[i];
    memset(self->partial, 0, sizeof self->partial);
    self->partial_count = 0;
}

static sstore_status add(sums *self, size_t index, uint64_t hash, double weight, sstore_error *error)
{
    if (!(fabs(weight) <= MAX_WEIGHT)) /* also NaN */
        return ss_fail_argument(error, "the weight of feature %zu is %g; it must be a number from -2^31 to 2^31", index,
                                weight);
    if (weight == 1.0) {
        ss_bit_counter_add(&self->units, hash);
        self->unit_count++;
        return SSTORE_OK;
    }
    /* The product is exact, since the factor is a power of two. llrint() rounds halves to even, unless the program
     * changed the rounding mode. */
    const int64_t units = llrint(weight * WEIGHT_UNIT);
    for (uint32_t i = 0; i < 64; i++) {
        const int64_t sign_mask = (int64_t)(hash >> (63 - i) & 1) - 1; /* 0 for a 1, else -1, which negates */
        self->partial[i] += (units ^ sign_mask) - sign_mask;
    }
    if (++self->partial_count == PARTIAL_MAX)
        flush_partial(self);
    return SSTORE_OK;
}

static uint64_t finish(sums *self)
{
    uint64_t counts[64], fingerprint = 0;
    flush_partial(self);
    ss_bit_counter_counts(&self->units, counts);
    for (uint32_t i = 0; i < 64; i++) {
        const int128 units = 2 * (int128)counts[i] - (int128)self->unit_count;
        fingerprint = fingerprint << 1 | (self->total[i] + units * (int128)WEIGHT_UNIT > 0);
    }
    return fingerprint;
}

sstore_status sstore_simhash(const sstore_feature *features, size_t count, uint64_t *fingerprint_out,
                             sstore_error *error)
{
    sums simhash;
    sstore_status status = SSTORE_OK;
    if ((features == NULL && count > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "features and fingerprint_out must not be NULL");
    init(&simhash);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        const sstore_feature *feature = &features[i];
        if (feature->data == NULL && feature->size > 0)
            return ss_fail_argument(error, "feature %zu has a size but no data", i);
        status = add(&simhash, i, ss_hash64(feature->size > 0 ? feature->data : "", feature->size), feature->weight,
                     error);
    }
    if (status == SSTORE_OK)
        *fingerprint_out = finish(&simhash);
    return status;
}

sstore_status sstore_simhash_hashes(const uint64_t *hashes, const double *weights, size_t count,
                                    uint64_t *fingerprint_out, sstore_error *error)
{
    sums simhash;
    sstore_status status = SSTORE_OK;
    if ((hashes == NULL && count > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "hashes and fingerprint_out must not be NULL");
    init(&simhash);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = add(&simhash, i, hashes[i], weights == NULL ? 1.0 : weights[i], error);
    if (status == SSTORE_OK)
        *fingerprint_out = finish(&simhash);
    return status;
}

uint32_t sstore_hamming_distance(uint64_t a, uint64_t b)
{
    return ss_popcount(a ^ b);
}
