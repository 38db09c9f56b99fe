/*
 * radii.c - chooses radii. For each word and each radius it estimates the time of a query in two parts: the probes,
 * with the best of 1 to 8 tables of equal bit groups; and the candidates, counted among all pairs of the sample. Then
 *   best[word][sum] = min over radius of best[word - 1][sum - (radius + 1)] + time[word][radius]
 * is the least time of the words up to `word` whose (radius + 1) have this sum; the sum of all words is k + 1.
 */
#include "plan/radii.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/kernels.h"
#include "plan/cost.h"
#include "plan/durations.h"

#define MAX_RADIUS ((int32_t)SSTORE_MAX_BUILD_DISTANCE)
#define MAX_GROUPS 8u      /* tables of a word that the estimate considers */
#define BLOCK_BYTES 4096.0 /* assumed: the radii do not depend on the size of blocks */

/* A sample of one word. */
typedef struct word_sample {
    uint64_t *values; /* as in the fingerprints, then sorted */
    size_t count;
    uint32_t *near; /* room for the indices of values */
    ss_skew skew;
} word_sample;

/* ----- costs of one word ----- */

/* The expected nanoseconds of comparing the fingerprints whose words are near, for the words of the sample as queries,
 * by radius + 1. Whole fingerprints take `row_blocks` blocks. A few queries may have nearly all of the candidates:
 * those with a word that many fingerprints share. */
static void estimate_candidates(const word_sample *sample, double fingerprint_count, double row_blocks, double *ns_out)
{
    const ss_kernels *kernels = ss_kernels_best();
    const double scale = sample->count > 1 ? fingerprint_count / (double)(sample->count - 1) : 0;
    memset(ns_out, 0, SS_RADIUS_COUNT * sizeof *ns_out);
    for (size_t i = 0; i < sample->count; i++) {
        const uint64_t query = sample->values[i];
        const uint32_t found = kernels->near_values(sample->values, (uint32_t)sample->count, query, MAX_RADIUS,
                                                    sample->near);
        uint32_t counts[MAX_RADIUS + 1] = {0};
        double near_count = -scale; /* without the query itself */
        for (uint32_t j = 0; j < found; j++)
            counts[ss_popcount(query ^ sample->values[sample->near[j]])]++;
        for (int32_t radius = 0; radius <= MAX_RADIUS; radius++) {
            near_count += counts[radius] * scale;
            ns_out[radius + 1] += SS_NEAR_WORD_NS * near_count + SS_ROW_BLOCK_NS * fmin(near_count, row_blocks);
        }
    }
    for (int32_t radius = 0; radius <= MAX_RADIUS; radius++)
        ns_out[radius + 1] /= fmax(1, (double)sample->count);
}

/* The expected nanoseconds of probing tables of `groups` equal bit groups at a radius. */
static double probe_ns(const word_sample *sample, uint32_t groups, int32_t radius, const ss_cost_model *model,
                       double (*fractions)[2])
{
    double ns = 0;
    for (uint32_t i = 0; i < groups; i++) {
        const uint32_t begin = SS_WORD_BITS * i / groups, end = SS_WORD_BITS * (i + 1) / groups;
        const ss_plan_table table = {.key_mask = ss_high_mask(end) & ~ss_high_mask(begin), .prefix_bits = end - begin};
        const uint32_t sum = (uint32_t)radius + 1;
        const int32_t table_radius = (int32_t)(sum / groups + (i < sum % groups)) - 1;
        ns += ss_table_cost_of(&table, table_radius, (uint32_t)radius, model,
                               sample->skew.count > 0 ? fractions[i] : NULL)
                  .warm_ns;
    }
    return ns;
}

/* The expected nanoseconds of probing, with the best number of tables, beside the candidates. */
static void estimate_probes(const word_sample *sample, double fingerprint_count, double *ns_out)
{
    const ss_cost_model model = {.fingerprint_count = fingerprint_count,
                                 .block_count = ceil(fingerprint_count * ss_uniform_bits(fingerprint_count) / 8 /
                                                     BLOCK_BYTES),
                                 .io = SSTORE_IO_MMAP};
    for (int32_t radius = 0; radius <= MAX_RADIUS; radius++)
        ns_out[radius + 1] = INFINITY;
    ns_out[0] = 0;
    for (uint32_t groups = 1; groups <= MAX_GROUPS; groups++) {
        double fractions[MAX_GROUPS][2];
        for (uint32_t i = 0; sample->skew.count > 0 && i < groups; i++) {
            const uint32_t begin = SS_WORD_BITS * i / groups, end = SS_WORD_BITS * (i + 1) / groups;
            ss_skew_measure(&sample->skew, ss_high_mask(end) & ~ss_high_mask(begin), true, fractions[i]);
        }
        for (int32_t radius = 0; radius <= MAX_RADIUS; radius++) {
            const double ns = probe_ns(sample, groups, radius, &model, fractions);
            ns_out[radius + 1] = fmin(ns_out[radius + 1], ns);
        }
    }
}

/* ----- choosing ----- */

/* Choose radii whose (r + 1) have the sum `total`, by the smallest sum of costs. `best` and `chosen` have an entry for
 * each word and each sum. */
static void choose(const ss_word_costs *costs, uint32_t words, uint32_t total, uint32_t max_radius, double *best,
                   uint8_t *chosen, int32_t *radii_out)
{
    const size_t sums = (size_t)total + 1;
    for (uint32_t word = 0; word < words; word++)
        for (uint32_t sum = 0; sum <= total; sum++) {
            double *to = &best[word * sums + sum];
            *to = INFINITY;
            for (uint32_t share = 0; share <= sum && share <= max_radius + 1; share++) {
                const double before = word > 0 ? best[(word - 1) * sums + sum - share] : share == sum ? 0 : INFINITY;
                const double cost = before + costs[word].ns[share];
                if (cost < *to) {
                    *to = cost;
                    chosen[word * sums + sum] = (uint8_t)share;
                }
            }
        }
    for (uint32_t word = words, sum = total; word-- > 0;) {
        const uint32_t share = chosen[word * sums + sum];
        radii_out[word] = (int32_t)share - 1;
        sum -= share;
    }
}

sstore_status ss_radii_choose_cheapest(const ss_word_costs *costs, uint32_t words, uint32_t distance,
                                       uint32_t max_radius, int32_t *radii_out, sstore_error *error)
{
    const size_t entries = (size_t)words * (distance + 2);
    assert(max_radius <= SSTORE_MAX_BUILD_DISTANCE && distance < words * (max_radius + 1));
    double *best = ss_alloc(entries, sizeof *best);
    uint8_t *chosen = ss_alloc(entries, 1);
    const bool enough = best != NULL && chosen != NULL;
    if (enough)
        choose(costs, words, distance + 1, max_radius, best, chosen, radii_out);
    ss_free(best);
    ss_free(chosen);
    return enough ? SSTORE_OK : ss_fail_memory(error, entries * (sizeof *best + 1));
}

/* Estimate one word of the sample. False if an allocation fails. */
static bool estimate(const uint64_t *sample, size_t count, uint32_t words, uint32_t word, double fingerprint_count,
                     uint64_t *values, uint32_t *near, ss_word_costs *costs)
{
    word_sample sampled = {.values = values, .count = count, .near = near};
    for (size_t i = 0; i < count; i++)
        values[i] = sample[i * words + word];
    ss_sampler distinct = {.fingerprints = values, .count = count};
    bool enough = true;
    /* Pairs with equal words count, so the sample keeps its repeats until then. */
    double candidates[SS_RADIUS_COUNT];
    estimate_candidates(&sampled, fingerprint_count, fingerprint_count * words * 8 / BLOCK_BYTES, candidates);
    const double share = ss_sampler_finish(&distinct);
    sampled.count = distinct.count;
    if (distinct.count >= SS_SAMPLE_MIN)
        enough = ss_skew_init(&sampled.skew, values, distinct.count);
    if (enough)
        estimate_probes(&sampled, fingerprint_count * share, costs->ns);
    for (uint32_t i = 0; enough && i < SS_RADIUS_COUNT; i++)
        costs->ns[i] += candidates[i];
    ss_skew_free(&sampled.skew);
    return enough;
}

sstore_status ss_radii_choose(const uint64_t *sample, size_t count, uint32_t words, uint32_t distance,
                              uint32_t max_radius, double fingerprint_count, int32_t *radii_out, sstore_error *error)
{
    ss_word_costs costs[SSTORE_MAX_WORDS];
    uint64_t *values = ss_alloc(count, sizeof *values);
    uint32_t *near = ss_alloc(count, sizeof *near);
    bool enough = values != NULL && near != NULL;
    for (uint32_t word = 0; enough && word < words; word++)
        enough = estimate(sample, count, words, word, fingerprint_count, values, near, &costs[word]);
    ss_free(near);
    ss_free(values);
    return enough ? ss_radii_choose_cheapest(costs, words, distance, max_radius, radii_out, error)
                  : ss_fail_memory(error, count * (sizeof *values + sizeof *near));
}

/* ----- other distances ----- */

void ss_radii_fit(int32_t *radii, uint32_t words, uint32_t distance)
{
    int32_t excess = -(int32_t)distance - 1;
    for (uint32_t i = 0; i < words; i++)
        excess += radii[i] + 1;
    for (; excess > 0; excess--) {
        uint32_t largest = 0;
        for (uint32_t i = 1; i < words; i++)
            largest = radii[i] >= radii[largest] ? i : largest;
        radii[largest]--;
    }
    for (; excess < 0; excess++) {
        uint32_t smallest = words;
        for (uint32_t i = 0; i < words; i++)
            if (radii[i] != SS_NO_PROBE && radii[i] < (int32_t)SS_WORD_BITS &&
                (smallest == words || radii[i] < radii[smallest]))
                smallest = i;
        for (uint32_t i = 0; smallest == words; i++)
            smallest = radii[i] < (int32_t)SS_WORD_BITS ? i : words;
        radii[smallest]++;
    }
}
