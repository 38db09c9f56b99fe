#include "plan/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codec/block.h"
#include "plan/durations.h"

/* ===== samples and skew ===== */

#define FLIPPED_QUERIES 256u /* fingerprints of the sample whose flipped prefixes are also looked up */

/* Lower the limit, and drop the fingerprints above it. */
static void thin(ss_sampler *sampler, uint64_t limit)
{
    size_t count = 0;
    sampler->limit = limit;
    for (size_t i = 0; i < sampler->count; i++)
        if (ss_sample_hash(sampler->fingerprints[i]) <= limit)
            sampler->fingerprints[count++] = sampler->fingerprints[i];
    sampler->count = count;
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
    return ss_compare_u64(x, y);
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

bool ss_skew_init(ss_skew *skew, const uint64_t *sample, size_t count)
{
    *skew = (ss_skew){.sample = sample, .count = count, .slot_count = 2};
    while (skew->slot_count < 2 * count)
        skew->slot_count *= 2;
    skew->prefixes = ss_alloc(skew->slot_count, sizeof *skew->prefixes + sizeof *skew->repeats);
    if (skew->prefixes != NULL)
        skew->repeats = (uint32_t *)(skew->prefixes + skew->slot_count);
    return skew->prefixes != NULL;
}

void ss_skew_free(ss_skew *skew)
{
    ss_free(skew->prefixes);
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

/* Fill the table. Returns the number of ordered pairs that fraction their prefix. */
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

/* The average fraction of the prefixes at one flip from a sampled fingerprint's. */
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

void ss_skew_measure(const ss_skew *skew, uint64_t key_mask, bool flips, double fractions_out[2])
{
    double uniform = ldexp(1.0, -(int)ss_popcount(key_mask)), count = (double)skew->count;
    fractions_out[0] = fractions_out[1] = uniform;
    if (skew->count < 2 || key_mask == 0)
        return;
    fractions_out[0] = fmax(uniform, count_prefixes(skew, key_mask) / (count * (count - 1)));
    if (flips)
        fractions_out[1] = fmax(uniform, measure_flipped(skew, key_mask));
}

/* Bits for each item of an ideal code for h, and of its suffix of 63 - h bits. */
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
    /* Neighbours differ first at h once for every prefix of h bits that both bits follow. So that many more prefixes of
     * h + 1 bits occur than prefixes of h bits. */
    double shorter = 1;
    for (int h = 0; h < (int)SS_FINGERPRINT_BITS; h++) {
        double longer = -ldexp(expm1(-ldexp(count, -h - 1)), h + 1);
        h_counts[h] = fmax(0, longer - shorter);
        shorter = longer;
    }
    return code_bits(h_counts);
}

/* The bits that the sampled fingerprints with a hash up to the limit save over uniform ones. */
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

double ss_expected_bits(const ss_skew *skew, double count)
{
    double uniform = ss_uniform_bits(count);
    if (skew == NULL)
        return uniform;
    /* A sample has fewer near neighbours than all of the data. So measure how the savings grow from an eighth of the
     * sample to all of it, and let them continue to grow. */
    uint64_t limit = 0;
    for (size_t i = 0; i < skew->count; i++)
        limit = ss_max_u64(limit, ss_sample_hash(skew->sample[i]));
    double saved = count_saved_bits(skew, limit);
    double growth = (saved - count_saved_bits(skew, limit / 8)) / 3;
    double doublings = fmax(0, log2(count / (double)skew->count));
    return fmax(2, uniform - saved - fmax(0, growth) * doublings);
}

/* ===== costs of queries ===== */

/* The steps of a search for radii. It is done once, for all queries at its distance while the store is open. */
#define MIN_SEARCH_STEPS (UINT64_C(1) << 10)
#define MAX_SEARCH_STEPS (UINT64_C(1) << 18)

/* The uniform fingerprints that one probe may cover: testing them takes less time than more probes. */
#define RANGE_FINGERPRINTS 64.0

/* ----- one table ----- */

static double block_ns(const ss_cost_model *model)
{
    return model->io == SSTORE_IO_PREAD ? SS_READ_BLOCK_NS : SS_MAPPED_BLOCK_NS;
}

/* The average time for each tested fingerprint beside the test itself. Lower halves of uniform data are within the
 * distance with the probability `near`. Such a fingerprint is compared in all 64 bits, and its group is decoded. */
static double near_ns(uint32_t distance)
{
    double near = 0, ways = ldexp(1, -(int)SS_COLUMN_BITS);
    for (uint32_t bits = 0; bits <= distance && bits <= SS_COLUMN_BITS; bits++) {
        near += ways;
        ways = ways * (SS_COLUMN_BITS - bits) / (bits + 1);
    }
    return near < 1 ? SS_COMPARE_NS * near - SS_DECODE_NS * expm1(SS_GROUP_SIZE * log1p(-near))
                    : SS_COMPARE_NS + SS_DECODE_NS;
}

double ss_probe_count(double prefix_bits, int32_t radius)
{
    double total = 0, ways = 1;
    for (int32_t flips = 0; flips <= radius && ways > 0; flips++) {
        total += ways;
        ways = ways * fmax(0, prefix_bits - flips) / (flips + 1);
    }
    return total;
}

uint32_t ss_range_bits(uint32_t prefix_bits, double fingerprint_count)
{
    const int bits = (int)prefix_bits + ilogb(RANGE_FINGERPRINTS / fmax(1, fingerprint_count));
    return bits < 0 ? 0 : ss_min_u32((uint32_t)bits, prefix_bits);
}

double ss_table_probe_count(const ss_plan_table *table, int32_t radius, double fingerprint_count)
{
    return ss_probe_count(table->prefix_bits - ss_range_bits(table->prefix_bits, fingerprint_count), radius);
}

/* How many bits of a prefix lead to another block when they are flipped. Bit j moves the prefix by 2^-(j + 1) of the
 * table. If that is more than a block, it always leads to another block, otherwise with the probability of its length
 * in blocks. */
static double count_telling_bits(uint32_t prefix_bits, double block_count)
{
    double telling = 0, step = block_count;
    for (uint32_t j = 0; j < prefix_bits; j++) {
        step /= 2;
        telling += fmin(1, step);
    }
    return telling;
}

static double count_candidates(const ss_plan_table *table, int32_t radius, double fingerprint_count,
                               const double *fractions)
{
    double uniform = ldexp(1.0, -(int)table->prefix_bits);
    double fraction = fractions != NULL ? fractions[0] : uniform;
    double fall = fractions != NULL ? fmin(1, fractions[1] / fractions[0]) : 1;
    double total = 0, ways = 1;
    for (int32_t flips = 0; flips <= radius && ways > 0; flips++) {
        total += ways * fraction * fingerprint_count;
        ways = ways * (double)((int32_t)table->prefix_bits - flips) / (double)(flips + 1);
        fraction = fmax(uniform, fraction * fall);
    }
    return fmin(total, fingerprint_count);
}

/* About how many fingerprints are in the ranges of prefixes that are probed; 0 if each probe is of one prefix. */
static double count_in_ranges(const ss_plan_table *table, double probe_count, const ss_cost_model *model)
{
    return ss_range_bits(table->prefix_bits, model->fingerprint_count) > 0
               ? fmin(probe_count * RANGE_FINGERPRINTS, model->fingerprint_count)
               : 0;
}

ss_table_cost ss_table_cost_of(const ss_plan_table *table, int32_t radius, uint32_t distance,
                               const ss_cost_model *model, const double *fractions)
{
    ss_table_cost cost = {.probe_count = ss_table_probe_count(table, radius, model->fingerprint_count)};
    if (radius == SS_NO_PROBE)
        return cost;
    double telling = count_telling_bits(table->prefix_bits, model->block_count);
    double begun = fmin(cost.probe_count, ss_probe_count(telling, radius));
    cost.candidate_count = count_candidates(table, radius, model->fingerprint_count, fractions);
    /* The candidates of a prefix begin in one block, and take another for each block of their length. */
    double run_over = model->fingerprint_count > 0
                          ? cost.candidate_count / model->fingerprint_count * model->block_count
                          : 0;
    cost.block_count = fmin(begun + run_over, model->block_count);
    /* A probe of a range also decodes groups of fingerprints whose prefixes are too far away, if their lower halves are
     * near: all of them at large distances. */
    const double tested = fmax(cost.candidate_count, count_in_ranges(table, cost.probe_count, model));
    cost.warm_ns = cost.block_count * block_ns(model) + cost.probe_count * SS_PROBE_NS +
                   cost.candidate_count * SS_LOWER_HALF_NS + tested * near_ns(distance);
    return cost;
}

/* Nanoseconds of reading all of one table. */
static double full_scan_cost_of(const ss_cost_model *model, uint32_t distance)
{
    return model->fingerprint_count * (SS_SCAN_READ_NS + SS_SCAN_TEST_NS + near_ns(distance)) + SS_READ_BLOCK_NS;
}

/* Nanoseconds: if probes cost as much or more, a full scan is chosen. */
static double probe_limit(const ss_cost_model *model, uint32_t distance)
{
    return model->strategy == SSTORE_STRATEGY_PROBE ? SS_PROBE_LIMIT_NS : full_scan_cost_of(model, distance);
}

uint64_t ss_max_probes(double fingerprint_count, sstore_strategy strategy)
{
    const ss_cost_model model = {.fingerprint_count = fingerprint_count, .io = SSTORE_IO_PREAD, .strategy = strategy};
    /* A full scan takes longest at the largest distance. */
    return (uint64_t)(probe_limit(&model, SS_FINGERPRINT_BITS) / SS_PROBE_NS) + 1;
}

/* ----- radii for a distance ----- */

static double table_cost(const ss_plan_table *table, int32_t radius, uint32_t distance, const ss_cost_model *model)
{
    return ss_table_cost_of(table, radius, distance, model, NULL).warm_ns;
}

static double total_cost(const ss_plan *plan, const int32_t *radii, uint32_t distance, const ss_cost_model *model)
{
    double cost = 0;
    for (uint32_t i = 0; i < plan->table_count; i++)
        cost += table_cost(&plan->tables[i], radii[i], distance, model);
    return cost;
}

/* A search for radii. */
typedef struct derivation {
    const ss_plan *plan;
    const ss_cost_model *model;
    uint32_t distance;
    double limit;    /* a full scan is better than radii that cost more */
    ss_steps *steps; /* for all proofs */
} derivation;

/* Cover the pattern by raising the radius of the table in which that costs least. */
static void cover_pattern(const derivation *self, uint64_t pattern, int32_t *radii)
{
    const ss_plan *plan = self->plan;
    double cheapest = 0;
    uint32_t choice = plan->table_count;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const ss_plan_table *table = &plan->tables[i];
        const int32_t radius = (int32_t)ss_popcount(pattern & table->key_mask);
        const double added = table_cost(table, radius, self->distance, self->model) -
                             table_cost(table, radii[i], self->distance, self->model);
        if (choice == plan->table_count || added < cheapest) {
            cheapest = added;
            choice = i;
        }
    }
    radii[choice] = (int32_t)ss_popcount(pattern & plan->tables[choice].key_mask);
}

static void lower_radii(const derivation *self, int32_t *radii)
{
    for (uint32_t i = 0; i < self->plan->table_count; i++)
        ss_plan_lower_radius(self->plan, radii, i, SS_NO_PROBE, self->distance, self->steps);
}

/* Find cheap complete radii, beginning with none: cover the uncovered patterns one by one. False if that costs more
 * than the limit, or cannot be proved. */
static bool build_up_radii(const derivation *self, int32_t *radii)
{
    uint64_t pattern;
    for (uint32_t i = 0; i < self->plan->table_count; i++)
        radii[i] = SS_NO_PROBE;
    while (ss_plan_find_uncovered(self->plan, radii, self->distance, self->steps, &pattern)) {
        double cost = total_cost(self->plan, radii, self->distance, self->model);
        /* No bits: nothing is probed yet, or the search gave up and found no pattern. */
        if (cost >= self->limit || (pattern == 0 && cost > 0))
            return false;
        cover_pattern(self, pattern, radii);
    }
    lower_radii(self, radii);
    return true;
}

/* Find complete radii for a distance other than the plan's own. `radii` begin as the plan's: for a smaller distance
 * these may be the cheaper ones once they are lowered. */
static bool derive_radii(const derivation *self, int32_t *radii)
{
    int32_t built_up[SS_MAX_TABLES];
    const ss_plan *plan = self->plan;
    const bool complete = build_up_radii(self, built_up), may_lower = self->distance < plan->distance;
    if (may_lower)
        lower_radii(self, radii);
    if (!may_lower || (complete && total_cost(plan, radii, self->distance, self->model) >=
                                       total_cost(plan, built_up, self->distance, self->model)))
        memcpy(radii, built_up, sizeof built_up[0] * plan->table_count);
    return complete || may_lower;
}

void ss_query_plan_weigh(ss_query_plan *query_plan, const ss_plan *plan, const ss_cost_model *model)
{
    ss_plan_table all_bits = {.prefix_bits = SS_FINGERPRINT_BITS};
    const uint32_t distance = query_plan->distance;
    const double in_block = model->fingerprint_count / fmax(1, model->block_count);
    const double whole_block_ns = block_ns(model) + in_block * (SS_LOWER_HALF_NS + near_ns(distance));
    query_plan->full_scan_cost = full_scan_cost_of(model, distance);
    query_plan->max_blocks = query_plan->full_scan_cost / whole_block_ns;
    query_plan->probe_cost = query_plan->exact ? table_cost(&all_bits, 0, distance, model)
                                               : total_cost(plan, query_plan->radii, distance, model);
    query_plan->full_scan = !query_plan->complete || query_plan->probe_cost >= probe_limit(model, distance) ||
                            model->strategy == SSTORE_STRATEGY_FULL_SCAN;
}

uint64_t ss_search_steps(const ss_cost_model *model, uint32_t distance)
{
    const double steps = probe_limit(model, distance) / SS_SEARCH_STEP_NS;
    return steps < (double)MAX_SEARCH_STEPS ? ss_max_u64((uint64_t)steps, MIN_SEARCH_STEPS) : MAX_SEARCH_STEPS;
}

void ss_query_plan_init(ss_query_plan *query_plan, const ss_plan *plan, uint32_t distance, const ss_cost_model *model,
                        ss_steps *steps)
{
    const uint64_t given = ss_min_u64(steps->left, ss_search_steps(model, distance));
    ss_steps own = {.left = given};
    const derivation search = {
        .plan = plan, .model = model, .distance = distance, .limit = probe_limit(model, distance), .steps = &own};
    *query_plan = (ss_query_plan){.distance = distance, .complete = true, .exact = distance == 0};
    for (uint32_t i = 0; i < plan->table_count; i++)
        query_plan->radii[i] = distance > 0 ? plan->tables[i].radius : i == 0 ? 0 : SS_NO_PROBE;
    if (distance > 0 && distance != plan->distance)
        query_plan->complete = derive_radii(&search, query_plan->radii);
    (void)ss_steps_take(steps, given - own.left);
    ss_query_plan_weigh(query_plan, plan, model);
}

/* ===== estimates of stores ===== */

/* Frames of files and blocks. format-spec/ has the exact sizes; a few bytes do not matter here. */
#define FILE_HEADER_BYTES 4096.0
#define BLOCK_FRAME_BITS (8.0 * (SS_BLOCK_HEAD_BYTES + SS_BLOCK_TRAILER_BYTES))
#define GROUP_PADDING_BITS 3.5 /* up to the next byte */
#define IDS_FRAME_BYTES 40.0
#define DIRECTORY_KEY_BYTES 8.0
#define DIRECTORY_PAGES_BYTES 32768.0 /* of LMDB's own */
#define HUFFMAN_EXCESS_BITS 0.04      /* over the entropy of h */

/* The maximum number of tables that are measured in the sample; the others are taken to be like them. */
#define MEASURED_TABLES 6u

/* Fingerprints in a full block. Each group stores its first upper half as a distance from the block's, in as many bits
 * as the range of a block has, and no fewer than the key. On average, half a fingerprint of space stays unused. */
static double count_in_block(const ss_expected_store *store, double bits)
{
    double step_bits = bits + HUFFMAN_EXCESS_BITS, block_bits = store->block_bytes * 8.0;
    double distance_bits = SS_UPPER_BITS - log2(fmax(1, store->fingerprint_count / (block_bits / step_bits)));
    double group_bits = fmax(SS_KEY_BITS, distance_bits) + 4.0 * SS_GROUP_FRAME_BYTES + GROUP_PADDING_BITS +
                        SS_COLUMN_BITS + (SS_GROUP_SIZE - 1) * step_bits;
    return fmax(1, (block_bits - BLOCK_FRAME_BITS) / (group_bits / SS_GROUP_SIZE) - 0.5);
}

/* Ids are taken to be unordered. Assigned ids are below the number of records. */
static double count_ids_blocks(const ss_expected_store *store)
{
    double bits = store->id_bits > 0 ? store->id_bits : ceil(log2(fmax(2, store->record_count)));
    bits += store->record_count > store->fingerprint_count ? 1 : 0;
    return store->has_ids ? ceil(store->record_count * bits / 8 / (store->block_bytes - IDS_FRAME_BYTES)) : 0;
}

static void add_probes(ss_plan_cost *cost, const ss_plan *plan, const ss_expected_store *store,
                       const ss_cost_model *model)
{
    double fractions[2] = {0};
    uint32_t measured_bits = 0, stride = (plan->table_count + MEASURED_TABLES - 1) / MEASURED_TABLES;
    bool flips = false;
    for (uint32_t i = 0; i < plan->table_count; i++)
        flips |= plan->tables[i].radius > 0;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const ss_plan_table *table = &plan->tables[i];
        if (store->skew != NULL && i % stride == 0) {
            ss_skew_measure(store->skew, table->key_mask, flips, fractions);
            measured_bits = table->prefix_bits;
        }
        double longer = ldexp(1.0, (int)measured_bits - (int)table->prefix_bits);
        double own[2] = {fmin(1, fractions[0] * longer), fmin(1, fractions[1] * longer)};
        ss_table_cost added = ss_table_cost_of(table, table->radius, plan->distance, model,
                                               store->skew != NULL ? own : NULL);
        cost->probe_count += added.probe_count;
        cost->block_count += added.block_count;
        cost->candidate_count += added.candidate_count;
        cost->warm_ns += added.warm_ns;
    }
}

void ss_plan_cost_init(ss_plan_cost *cost, const ss_plan *plan, const ss_expected_store *store)
{
    const double bits = store->bits > 0 ? store->bits : ss_expected_bits(store->skew, store->fingerprint_count);
    const double in_block = count_in_block(store, bits);
    const double blocks = ceil(store->fingerprint_count / in_block), ids_blocks = count_ids_blocks(store);
    const double tables = plan->table_count;
    const ss_cost_model model = {.fingerprint_count = store->fingerprint_count,
                                 .block_count = blocks,
                                 .io = SSTORE_IO_MMAP};
    const double full_scan_ns = full_scan_cost_of(&model, plan->distance);
    *cost = (ss_plan_cost){.table_bytes = tables * (FILE_HEADER_BYTES + blocks * store->block_bytes)};
    cost->bits = store->fingerprint_count > 0 ? blocks * store->block_bytes * 8 / store->fingerprint_count : 0;
    cost->ids_bytes = store->has_ids ? FILE_HEADER_BYTES + ids_blocks * store->block_bytes : 0;
    /* A key for each block, and the first rank of each block of table 0. */
    cost->directory_bytes = DIRECTORY_PAGES_BYTES + DIRECTORY_KEY_BYTES * ((tables + 1) * blocks + ids_blocks);
    cost->total_bytes = cost->table_bytes + cost->ids_bytes + cost->directory_bytes + store->other_bytes;
    add_probes(cost, plan, store, &model);
    if (cost->warm_ns >= full_scan_ns) {
        cost->is_full_scan = true;
        cost->probe_count = 0;
        cost->block_count = blocks;
        cost->candidate_count = store->fingerprint_count;
        cost->warm_ns = full_scan_ns;
    }
    cost->cold_ns = SS_COLD_READ_NS + cost->block_count * SS_COLD_BLOCK_NS;
}
