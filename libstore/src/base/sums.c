#include "base/sums.h"

#include <math.h>
#include <string.h>

#define MAX_PARTIAL 2048u
#define MAX_SMALL                                                                                                      \
    (UINT64_C(1) << 41) /* features of weight 1, whose sums are then within 2^61; partial is within 2^62 */

void ss_sums_init(ss_sums *self)
{
    ss_bit_counter_init(&self->ones);
    self->one_count = self->partial_count = 0;
    self->is_weighted = self->has_total = false;
}

void ss_sums_add_ones(ss_sums *self, const uint64_t *hashes, size_t count)
{
    ss_bit_counter_add_many(&self->ones, hashes, count);
    self->one_count += count;
}

static void flush_partial(ss_sums *self)
{
    if (!self->has_total)
        memset(self->total, 0, sizeof self->total);
    self->has_total = true;
    for (uint32_t i = 0; i < 64; i++)
        self->total[i] += self->partial[i];
    memset(self->partial, 0, sizeof self->partial);
    self->partial_count = 0;
}

void ss_sums_add(ss_sums *self, uint64_t hash, double weight)
{
    assert(fabs(weight) <= SS_MAX_WEIGHT);
    if (weight == 1.0) {
        ss_bit_counter_add(&self->ones, hash);
        self->one_count++;
        return;
    }
    if (!self->is_weighted) {
        memset(self->partial, 0, sizeof self->partial);
        self->is_weighted = true;
    }
    const int64_t units = llrint(weight * SS_WEIGHT_UNITS); /* the product is exact: the factor is a power of two */
    for (uint32_t i = 0; i < 64; i++) {
        const int64_t sign_mask = (int64_t)(hash >> (63 - i) & 1) - 1; /* 0 for a 1, else -1, which negates */
        self->partial[i] += (units ^ sign_mask) - sign_mask;
    }
    if (++self->partial_count == MAX_PARTIAL)
        flush_partial(self);
}

/* The sums in units. */
static void compute_sums(ss_sums *self, ss_int128 sums_out[64])
{
    uint64_t counts[64];
    if (self->is_weighted)
        flush_partial(self);
    ss_bit_counter_counts(&self->ones, counts);
    for (uint32_t i = 0; i < 64; i++)
        sums_out[i] = (2 * (ss_int128)counts[i] - (ss_int128)self->one_count) * (ss_int128)SS_WEIGHT_UNITS +
                      (self->is_weighted ? self->total[i] : 0);
}

/* The fingerprint of features of weight 1: a bit is 1 if more than half of the hashes have it, or, with ties, half. */
static uint64_t plain_fingerprint(ss_sums *self, bool ties_set)
{
    if (!ties_set)
        return ss_bit_counter_above(&self->ones, self->one_count / 2);
    return self->one_count == 0 ? UINT64_MAX : ss_bit_counter_above(&self->ones, (self->one_count - 1) / 2);
}

/* The fingerprint of few features, whose sums fit into 64 bits. */
static uint64_t small_fingerprint(ss_sums *self, bool ties_set)
{
    uint64_t counts[64], fingerprint = 0;
    const int64_t one_count = (int64_t)self->one_count;
    ss_bit_counter_counts(&self->ones, counts);
    for (uint32_t i = 0; i < 64; i++) {
        const int64_t sum = (2 * (int64_t)counts[i] - one_count) * (int64_t)SS_WEIGHT_UNITS + self->partial[i];
        fingerprint = fingerprint << 1 | (sum > -(int64_t)ties_set); /* sums are whole numbers */
    }
    return fingerprint;
}

uint64_t ss_sums_fingerprint(ss_sums *self, bool ties_set)
{
    if (!self->is_weighted)
        return plain_fingerprint(self, ties_set);
    if (!self->has_total && self->one_count < MAX_SMALL)
        return small_fingerprint(self, ties_set);
    ss_int128 sums[64];
    uint64_t fingerprint = 0;
    compute_sums(self, sums);
    for (uint32_t i = 0; i < 64; i++)
        fingerprint = fingerprint << 1 | (sums[i] > -(ss_int128)ties_set);
    return fingerprint;
}

void ss_sums_values(ss_sums *self, double values_out[64])
{
    ss_int128 sums[64];
    compute_sums(self, sums);
    for (uint32_t i = 0; i < 64; i++)
        values_out[i] = (double)sums[i] / SS_WEIGHT_UNITS;
}
