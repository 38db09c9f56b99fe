#include "plan/skew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FLIPPED_QUERIES 256u /* of the sample: their flipped prefixes are looked up, too */

/* ----- drawing a sample ----- */

/* Keep only the fingerprints whose hash is within a lower limit. */
static void thin(ss_sampler *sampler, uint64_t limit)
{
    size_t kept = 0;
    sampler->limit = limit;
    for (size_t i = 0; i < sampler->count; i++)
        if (ss_sample_hash(sampler->fingerprints[i]) <= limit)
            sampler->fingerprints[kept++] = sampler->fingerprints[i];
    sampler->count = kept;
}

void ss_sampler_keep(ss_sampler *sampler, uint64_t fingerprint)
{
    uint64_t hash = ss_sample_hash(fingerprint);
    while (sampler->count == SS_SAMPLE_CAPACITY && sampler->limit > 0)
        thin(sampler, sampler->limit / 2);
    if (hash <= sampler->limit && sampler->count < SS_SAMPLE_CAPACITY)
        sampler->fingerprints[sampler->count++] = fingerprint;
}

void ss_sampler_join(ss_sampler *sampler, const ss_sampler *other)
{
    if (other->limit < sampler->limit)
        thin(sampler, other->limit);
    for (size_t i = 0; i < other->count; i++)
        ss_sampler_add(sampler, other->fingerprints[i]);
}

static int compare_fingerprints(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

double ss_sampler_finish(ss_sampler *sampler)
{
    uint64_t *fingerprints = sampler->fingerprints;
    size_t count = sampler->count, distinct = 0;
    if (count == 0)
        return 1;
    qsort(fingerprints, count, sizeof *fingerprints, compare_fingerprints);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || fingerprints[i] != fingerprints[distinct - 1])
            fingerprints[distinct++] = fingerprints[i];
    sampler->count = distinct;
    return (double)distinct / (double)count;
}

/* ----- groups ----- */

bool ss_skew_init(ss_skew *skew, const uint64_t *sample, size_t count)
{
    *skew = (ss_skew){.sample = sample, .count = count, .slot_count = 2};
    while (skew->slot_count < 2 * count)
        skew->slot_count *= 2;
    skew->prefixes = ss_alloc(skew->slot_count, sizeof *skew->prefixes);
    skew->repeats = ss_alloc(skew->slot_count, sizeof *skew->repeats);
    return skew->prefixes != NULL && skew->repeats != NULL;
}

void ss_skew_free(ss_skew *skew)
{
    ss_free(skew->prefixes);
    ss_free(skew->repeats);
    *skew = (ss_skew){.count = 0};
}

/* The slot that holds the prefix, or the empty one where it belongs. At most half of the slots are taken. */
static size_t find_slot(const ss_skew *skew, uint64_t prefix)
{
    size_t slot = ss_sample_hash(prefix) & (skew->slot_count - 1);
    while (skew->repeats[slot] != 0 && skew->prefixes[slot] != prefix)
        slot = (slot + 1) & (skew->slot_count - 1);
    return slot;
}

/* Fill the table. Returns the number of ordered pairs that share their prefix. */
static double count_prefixes(const ss_skew *skew, uint64_t key_mask)
{
    uint64_t pairs = 0;
    memset(skew->repeats, 0, skew->slot_count * sizeof *skew->repeats);
    for (size_t i = 0; i < skew->count; i++) {
        size_t slot = find_slot(skew, skew->sample[i] & key_mask);
        skew->prefixes[slot] = skew->sample[i] & key_mask;
        pairs += 2 * (uint64_t)skew->repeats[slot]++;
    }
    return (double)pairs;
}

/* The share that the prefixes at one flip from a sampled fingerprint's have, on average. */
static double measure_flipped(const ss_skew *skew, uint64_t key_mask)
{
    size_t stride = skew->count / FLIPPED_QUERIES + 1;
    double met = 0, probes = 0;
    for (size_t i = 0; i < skew->count; i += stride)
        for (uint64_t bits = key_mask; bits != 0; bits &= bits - 1) {
            met += skew->repeats[find_slot(skew, (skew->sample[i] & key_mask) ^ (bits & -bits))];
            probes++;
        }
    return met / (probes * (double)skew->count);
}

void ss_skew_measure(const ss_skew *skew, uint64_t key_mask, bool flips, double shares_out[2])
{
    double uniform = ldexp(1.0, -(int)ss_popcount(key_mask)), count = (double)skew->count;
    shares_out[0] = shares_out[1] = uniform;
    if (skew->count < 2 || key_mask == 0)
        return;
    shares_out[0] = fmax(uniform, count_prefixes(skew, key_mask) / (count * (count - 1)));
    if (flips)
        shares_out[1] = fmax(uniform, measure_flipped(skew, key_mask));
}

/* ----- bits ----- */

/* Bits an item that an ideal code for h and the rests of 63 - h bits take. */
static double code_bits(const double h_counts[SS_FINGERPRINT_BITS])
{
    double total = 0, bits = 0;
    for (uint32_t h = 0; h < SS_FINGERPRINT_BITS; h++)
        total += h_counts[h];
    for (uint32_t h = 0; h < SS_FINGERPRINT_BITS; h++)
        if (h_counts[h] > 0)
            bits += h_counts[h] / total * (log2(total / h_counts[h]) + 63 - h);
    return bits;
}

double ss_uniform_bits(double count)
{
    double h_counts[SS_FINGERPRINT_BITS];
    if (count < 2)
        return SS_FINGERPRINT_BITS;
    /* Neighbours differ first at h once for every prefix of h bits that goes on both ways: so often as there are more
     * different prefixes of h + 1 bits than of h. */
    double shorter = 1;
    for (int h = 0; h < (int)SS_FINGERPRINT_BITS; h++) {
        double longer = -ldexp(expm1(-ldexp(count, -h - 1)), h + 1);
        h_counts[h] = fmax(0, longer - shorter);
        shorter = longer;
    }
    return code_bits(h_counts);
}

/* How many bits fewer than uniform ones the fingerprints whose hash is not above the limit take. */
static double count_saved_bits(const ss_skew *skew, uint64_t limit)
{
    double h_counts[SS_FINGERPRINT_BITS] = {0}, count = 0;
    uint64_t last = 0;
    for (size_t i = 0; i < skew->count; i++) {
        if (ss_sample_hash(skew->sample[i]) > limit)
            continue;
        if (count++ > 0)
            h_counts[ss_first_difference(last, skew->sample[i])]++;
        last = skew->sample[i];
    }
    return ss_uniform_bits(count) - code_bits(h_counts);
}

static uint64_t largest_hash(const ss_skew *skew)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < skew->count; i++)
        largest = ss_max_u64(largest, ss_sample_hash(skew->sample[i]));
    return largest;
}

double ss_expected_bits(const ss_skew *skew, double count)
{
    double uniform = ss_uniform_bits(count);
    if (skew == NULL)
        return uniform;
    /* A sample has fewer near neighbours than all of the data: so look at how the savings grow from an eighth of the
     * sample to the sample, and let them go on growing. */
    uint64_t limit = largest_hash(skew);
    double saved = count_saved_bits(skew, limit);
    double growth = (saved - count_saved_bits(skew, limit / 8)) / 3;
    double doublings = fmax(0, log2(count / (double)skew->count));
    return fmax(2, uniform - saved - fmax(0, growth) * doublings);
}
