#include "base/simhash.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

#define PARTIAL_MAX 2048u

void ss_simhash_init(ss_simhash *simhash)
{
    ss_bit_counter_init(&simhash->units);
    simhash->unit_count = 0;
    simhash->partial_count = 0;
    memset(simhash->partial, 0, sizeof simhash->partial);
    memset(simhash->total, 0, sizeof simhash->total);
}

bool ss_simhash_weight_valid(double weight)
{
    return fabs(weight) <= SS_MAX_WEIGHT;
}

static void flush_partial(ss_simhash *simhash)
{
    for (uint32_t i = 0; i < 64; i++)
        simhash->total[i] += simhash->partial[i];
    memset(simhash->partial, 0, sizeof simhash->partial);
    simhash->partial_count = 0;
}

void ss_simhash_add(ss_simhash *simhash, uint64_t hash, double weight)
{
    assert(ss_simhash_weight_valid(weight));
    if (weight == 1.0) {
        ss_bit_counter_add(&simhash->units, hash);
        simhash->unit_count++;
        return;
    }
    /* The product is exact, the factor being a power of two; llrint() rounds halves to even unless a program changed
     * the rounding mode. */
    int64_t units = llrint(weight * SS_WEIGHT_UNIT);
    for (uint32_t i = 0; i < 64; i++) {
        int64_t sign_mask = (int64_t)(hash >> (63 - i) & 1) - 1; /* 0 where the bit is 1, else -1, which negates */
        simhash->partial[i] += (units ^ sign_mask) - sign_mask;
    }
    if (++simhash->partial_count == PARTIAL_MAX)
        flush_partial(simhash);
}

uint64_t ss_simhash_finish(ss_simhash *simhash)
{
    uint64_t counts[64];
    uint64_t fingerprint = 0;
    flush_partial(simhash);
    ss_bit_counter_counts(&simhash->units, counts);
    for (uint32_t i = 0; i < 64; i++) {
        ss_i128 units = 2 * (ss_i128)counts[i] - (ss_i128)simhash->unit_count;
        ss_i128 sum = simhash->total[i] + units * (ss_i128)SS_WEIGHT_UNIT;
        fingerprint = fingerprint << 1 | (sum > 0);
    }
    return fingerprint;
}

static sstore_status fail_weight(sstore_error *error, size_t index, double weight)
{
    return ss_fail_argument(error, "the weight of feature %zu is %g: it must be a number from -2^31 to 2^31", index,
                            weight);
}

sstore_status sstore_simhash(const sstore_feature *features, size_t count, uint64_t *fingerprint_out,
                             sstore_error *error)
{
    if ((features == NULL && count > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "features or the place for the fingerprint are missing");
    ss_simhash simhash;
    ss_simhash_init(&simhash);
    for (size_t i = 0; i < count; i++) {
        const sstore_feature *feature = &features[i];
        if (!ss_simhash_weight_valid(feature->weight))
            return fail_weight(error, i, feature->weight);
        if (feature->data == NULL && feature->size > 0)
            return ss_fail_argument(error, "feature %zu has a size but no data", i);
        ss_simhash_add(&simhash, ss_hash64(feature->size > 0 ? feature->data : "", feature->size), feature->weight);
    }
    *fingerprint_out = ss_simhash_finish(&simhash);
    return SSTORE_OK;
}

sstore_status sstore_simhash_hashes(const uint64_t *hashes, const double *weights, size_t count,
                                    uint64_t *fingerprint_out, sstore_error *error)
{
    if ((hashes == NULL && count > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "hashes or the place for the fingerprint are missing");
    ss_simhash simhash;
    ss_simhash_init(&simhash);
    for (size_t i = 0; i < count; i++) {
        double weight = weights == NULL ? 1.0 : weights[i];
        if (!ss_simhash_weight_valid(weight))
            return fail_weight(error, i, weight);
        ss_simhash_add(&simhash, hashes[i], weight);
    }
    *fingerprint_out = ss_simhash_finish(&simhash);
    return SSTORE_OK;
}
