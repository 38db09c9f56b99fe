#include "plan/planner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/block.h"
#include "codec/rows.h"

/* ===== the plans to choose from ===== */

#define MAX_PROBES 1e6        /* with more, a query takes tens of milliseconds for its probes alone */
#define MAX_CHOICE_GROUPS 11u /* 11c2 has 55 tables, 12c2 more than a plan can have */

/* Nested plans have many classes of bits, so their proofs take long: seconds beyond this distance. */
#define MAX_NESTED_DISTANCE 8u
#define MAX_NESTED_GROUPS 4u
#define MAX_SQUARE_DISTANCE 7u /* 8c1/8c1 has 64 tables */

static bool is_known(const ss_planner *planner, const ss_plan *plan)
{
    for (size_t i = 0; i < planner->count; i++)
        if (ss_plan_same_tables(plan, &planner->plans[i].plan))
            return true;
    return false;
}

/* The store that a small one is weighed as. */
static ss_expected_store scale_up(ss_expected_store store)
{
    if (store.fingerprint_count < SS_WEIGHED_AT_MIN) {
        store.record_count *= SS_WEIGHED_AT_MIN / fmax(1, store.fingerprint_count);
        store.other_bytes *= SS_WEIGHED_AT_MIN / fmax(1, store.fingerprint_count);
        store.fingerprint_count = SS_WEIGHED_AT_MIN;
    }
    return store;
}

/* Add the plan of this name if it is valid, new and does not probe too much, after those with as many tables. False if
 * an allocation fails. */
static bool add_plan(ss_planner *planner, const char *name)
{
    ss_expected_store store = planner->input->store;
    store.bits = planner->bits;
    const double weighed_count = fmax(store.fingerprint_count, SS_WEIGHED_AT_MIN);
    ss_plan plan;
    if (ss_plan_parse(name, planner->input->distance, &plan, NULL) != SSTORE_OK)
        return true;
    double probes = 0;
    for (uint32_t i = 0; i < plan.table_count; i++)
        probes += ss_table_probe_count(&plan.tables[i], plan.tables[i].radius, weighed_count);
    if (probes > MAX_PROBES || is_known(planner, &plan))
        return true;
    ss_planned *plans = ss_grow(planner->plans, planner->count, &planner->capacity, 64, sizeof *plans);
    if (plans == NULL)
        return false;
    planner->plans = plans;
    size_t at = planner->count++;
    for (; at > 0 && plans[at - 1].plan.table_count > plan.table_count; at--)
        plans[at] = plans[at - 1];
    ss_planned *added = &plans[at];
    *added = (ss_planned){.plan = plan};
    snprintf(added->name, sizeof added->name, "%s", name);
    ss_plan_cost_init(&added->cost, &plan, &store);
    added->weighed = added->cost;
    if (store.fingerprint_count < SS_WEIGHED_AT_MIN) {
        store = scale_up(store);
        store.bits = planner->weighed_bits;
        ss_plan_cost_init(&added->weighed, &plan, &store);
    }
    return true;
}

/* ----- disjoint bit groups ----- */

/* Disjoint bit groups are complete if the sum of (radius + 1) is k + 1: some group then has at most `radius` of k
 * differing bits. */
typedef struct bit_groups {
    uint32_t count, widths[SSTORE_MAX_BUILD_DISTANCE + 1], radii[SSTORE_MAX_BUILD_DISTANCE + 1];
} bit_groups;

/* Use all 64 bits; the first `wide` groups are `wider` bits wider. False if that is impossible. */
static bool spread_widths(bit_groups *to, uint32_t wide, uint32_t wider)
{
    if (wide * wider + to->count > SS_FINGERPRINT_BITS)
        return false;
    uint32_t total = SS_FINGERPRINT_BITS - wide * wider;
    for (uint32_t i = 0; i < to->count; i++)
        to->widths[i] = total / to->count + (i < total % to->count) + (i < wide ? wider : 0);
    return true;
}

static bool add_groups(ss_planner *planner, const bit_groups *group_set)
{
    char name[SS_PLAN_NAME_CAPACITY];
    size_t at = 0;
    for (uint32_t i = 0; i < group_set->count; i++) {
        if (group_set->radii[i] > group_set->widths[i])
            return true;
        at += (size_t)snprintf(name + at, sizeof name - at, "%s%u:%u", i > 0 ? "," : "", group_set->widths[i],
                               group_set->radii[i]);
    }
    return add_plan(planner, name);
}

/* Groups with a larger radius are probed with more prefixes, so they get more bits: about 4 compensate for the probes
 * of one more flip. That is tried first. */
static bool add_disjoint(ss_planner *planner)
{
    static const uint32_t widths_more[] = {4, 0, 2, 6, 9, 12};
    const uint32_t radii_sum = planner->input->distance + 1;
    for (uint32_t count = 1; count <= radii_sum; count++) {
        bit_groups group_set = {.count = count};
        const uint32_t wide = radii_sum % count;
        for (uint32_t i = 0; i < count; i++)
            group_set.radii[i] = radii_sum / count - 1 + (i < wide);
        for (size_t i = 0; i < sizeof widths_more / sizeof widths_more[0]; i++) {
            const bool differs = i == 0 || wide > 0;
            if (differs && spread_widths(&group_set, wide, widths_more[i]) && !add_groups(planner, &group_set))
                return false;
        }
    }
    return true;
}

/* "Bc1" is a disjoint plan with worse radii. More groups than k + C make more tables, whose prefixes are not longer. */
static bool add_choices(ss_planner *planner)
{
    const uint32_t distance = planner->input->distance;
    char name[SS_PLAN_NAME_CAPACITY];
    for (uint32_t chosen = 2; chosen < MAX_CHOICE_GROUPS; chosen++)
        for (uint32_t groups = chosen + 1; groups <= MAX_CHOICE_GROUPS && groups <= distance + chosen; groups++) {
            /* Some C of B groups contain at most this many of k differing bits. If one table takes too many probes with
             * that radius, the plan needs no slow proof. */
            const uint32_t each = distance / groups, left = distance % groups;
            const uint32_t prefix_bits = SS_FINGERPRINT_BITS / groups * chosen;
            const uint32_t radius = chosen * each + (chosen + left > groups ? chosen + left - groups : 0);
            if (ss_probe_count(prefix_bits, (int32_t)radius) > MAX_PROBES)
                continue;
            snprintf(name, sizeof name, "%uc%u", groups, chosen);
            if (!add_plan(planner, name))
                return false;
        }
    return true;
}

static bool add_nested(ss_planner *planner)
{
    const uint32_t distance = planner->input->distance, max = distance + 1;
    char name[SS_PLAN_NAME_CAPACITY];
    if (distance > MAX_NESTED_DISTANCE)
        return true;
    for (uint32_t outer = 2; outer <= MAX_NESTED_GROUPS && outer <= max; outer++)
        for (uint32_t inner = 2; inner <= MAX_NESTED_GROUPS && inner <= max; inner++) {
            snprintf(name, sizeof name, "%uc1/%uc1", outer, inner);
            if (!add_plan(planner, name))
                return false;
        }
    if (max <= MAX_NESTED_GROUPS || distance > MAX_SQUARE_DISTANCE)
        return true;
    snprintf(name, sizeof name, "%uc1/%uc1", max, max);
    return add_plan(planner, name);
}

/* ===== planner ===== */

/* Times that differ by less count as equal: the model is not more exact. */
#define SAME_TIME 1.05

/* 1 % fewer bytes are worth this many percent more time. With equal weights, a quarter of the time would justify four
 * times the bytes, and a billion fingerprints would get ten tables. */
#define BYTES_WEIGHT 1.5

/* With the objective of the smallest size, a query may take so long, or this many times the fastest plan's time if that
 * is more. */
#define PATIENCE_NS 1e6
#define PATIENCE_RATIO 10.0

/* A plan is useful if it is faster than every plan with fewer tables, with cached or uncached blocks. Among plans with
 * the same number of tables only the fastest can be useful; among equally fast ones the first, which uses all bits and
 * so stays fast in a store that grows. */
static void mark_useful(ss_planner *planner)
{
    double warm = INFINITY, cold = INFINITY;
    ss_planned *plans = planner->plans;
    for (size_t begin = 0, end; begin < planner->count; begin = end) {
        ss_planned *best = &plans[begin];
        for (end = begin; end < planner->count && plans[end].plan.table_count == plans[begin].plan.table_count; end++)
            if (plans[end].weighed.warm_ns * SAME_TIME < best->weighed.warm_ns)
                best = &plans[end];
        best->is_useful = best->weighed.warm_ns * SAME_TIME < warm || best->weighed.cold_ns * SAME_TIME < cold;
        warm = fmin(warm, best->weighed.warm_ns);
        cold = fmin(cold, best->weighed.cold_ns);
    }
}

static bool is_eligible(const ss_planner *planner, const ss_planned *plan)
{
    const uint64_t max = planner->input->max_bytes;
    return plan->is_useful && (max == 0 || plan->cost.total_bytes <= (double)max);
}

/* The value that the objective minimises. `fastest` is the time of the fastest plan. */
static double weigh(const ss_plan_cost *cost, sstore_objective objective, double fastest)
{
    double patience = fmax(PATIENCE_NS, PATIENCE_RATIO * fastest);
    switch (objective) {
    case SSTORE_OBJECTIVE_SIZE: return cost->warm_ns <= patience ? cost->total_bytes : INFINITY;
    case SSTORE_OBJECTIVE_LATENCY: return cost->warm_ns;
    default: return cost->warm_ns * pow(cost->total_bytes, BYTES_WEIGHT);
    }
}

static void choose(ss_planner *planner)
{
    double min = INFINITY, fastest = INFINITY;
    planner->choice = planner->count;
    for (size_t i = 0; i < planner->count; i++)
        if (is_eligible(planner, &planner->plans[i]))
            fastest = fmin(fastest, planner->plans[i].weighed.warm_ns);
    for (size_t i = 0; i < planner->count; i++) {
        const ss_planned *plan = &planner->plans[i];
        double weight = weigh(&plan->weighed, planner->input->objective, fastest);
        if (is_eligible(planner, plan) && weight < min) {
            min = weight;
            planner->choice = i;
        }
    }
}

bool ss_planner_init(ss_planner *planner, const ss_planner_input *input)
{
    const ss_expected_store *store = &input->store;
    *planner = (ss_planner){.input = input, .bits = ss_expected_bits(store->skew, store->fingerprint_count)};
    planner->weighed_bits = store->fingerprint_count < SS_WEIGHED_AT_MIN
                                ? ss_expected_bits(store->skew, SS_WEIGHED_AT_MIN)
                                : planner->bits;
    if (!add_disjoint(planner) || (!input->only_disjoint && (!add_choices(planner) || !add_nested(planner))))
        return false;
    mark_useful(planner);
    choose(planner);
    return true;
}

void ss_planner_free(ss_planner *planner)
{
    ss_free(planner->plans);
    *planner = (ss_planner){.count = 0};
}

/* The useful plan that is fastest, or, with `small`, smallest. */
static const ss_planned *extreme(const ss_planner *planner, bool small)
{
    const ss_planned *best = &planner->plans[planner->choice];
    for (size_t i = 0; i < planner->count; i++) {
        const ss_planned *plan = &planner->plans[i];
        bool better = small ? plan->weighed.total_bytes < best->weighed.total_bytes
                            : plan->weighed.warm_ns * SAME_TIME < best->weighed.warm_ns;
        if (is_eligible(planner, plan) && better)
            best = plan;
    }
    return best;
}

/* Write the reason of the choice as a sentence. */
static void write_reason(const ss_planner *planner, char *buffer, size_t size)
{
    const ss_planner_input *input = planner->input;
    const ss_planned *chosen = &planner->plans[planner->choice];
    const ss_planned *smallest = extreme(planner, true), *fastest = extreme(planner, false);
    const bool balanced = input->objective == SSTORE_OBJECTIVE_BALANCED;
    char against_smallest[80] = "", against_fastest[80] = "", limit[40] = "", growth[80] = "";
    const char *why = "best balance of bytes and warm time";
    if (input->objective == SSTORE_OBJECTIVE_SIZE)
        why = "fewest bytes among the plans with acceptable query times";
    else if (input->objective == SSTORE_OBJECTIVE_LATENCY)
        why = "shortest warm time";
    if (balanced && smallest != chosen)
        snprintf(against_smallest, sizeof against_smallest, "; the smallest plan takes %.1f times as long",
                 smallest->weighed.warm_ns / chosen->weighed.warm_ns);
    if (balanced && fastest != chosen)
        snprintf(against_fastest, sizeof against_fastest, "; the fastest plan takes %.1f times as many bytes",
                 fastest->weighed.total_bytes / chosen->weighed.total_bytes);
    if (input->max_bytes != 0)
        snprintf(limit, sizeof limit, "; within %.4g GB", (double)input->max_bytes / 1e9);
    if (input->store.fingerprint_count < SS_WEIGHED_AT_MIN)
        snprintf(growth, sizeof growth, "if the store grows to %.0f records, ", SS_WEIGHED_AT_MIN);
    snprintf(buffer, size, "%s%s%s%s%s", growth, why, against_smallest, against_fastest, limit);
}

/* ===== choosing ===== */

sstore_status ss_check_form(uint32_t words, uint32_t distance, uint32_t block_bytes, sstore_error *error)
{
    const sstore_status status = ss_check_distance(words, distance, error);
    if (status != SSTORE_OK || block_bytes == 0 || ss_block_bytes_valid(block_bytes))
        return status;
    return ss_fail_argument(error, "the block size is %u; it must be a power of two from %u to %u", block_bytes,
                            SS_BLOCK_MIN_BYTES, SS_BLOCK_MAX_BYTES);
}

/* Plan for data with the skew of a finished sample; for uniform data if the sample is NULL or too small. */
static sstore_status plan_with_sample(ss_planner *planner, ss_planner_input *input, const ss_sampler *sampler,
                                      sstore_error *error)
{
    ss_skew skew = {.count = 0};
    const bool is_skewed = sampler != NULL && sampler->count >= SS_SAMPLE_MIN;
    bool done = !is_skewed || ss_skew_init(&skew, sampler->fingerprints, sampler->count);
    input->store.skew = is_skewed ? &skew : NULL;
    done = done && ss_planner_init(planner, input);
    input->store.skew = NULL; /* it is freed here */
    ss_skew_free(&skew);
    return done ? SSTORE_OK : ss_fail_memory(error, 2 * SS_SAMPLE_CAPACITY * sizeof(uint64_t));
}

sstore_status ss_choose_plan(const ss_expected_store *store, uint32_t distance, ss_sampler *sampler, ss_plan *plan_out,
                             sstore_error *error)
{
    ss_planner planner = {.count = 0};
    const bool few = store->fingerprint_count < SS_WEIGHED_MIN;
    ss_planner_input input = {.store = scale_up(*store), /* the other estimates are not needed */
                              .distance = distance,
                              .objective = SSTORE_OBJECTIVE_BALANCED,
                              .only_disjoint = few};
    if (few)
        sampler = NULL;
    if (sampler != NULL)
        ss_sampler_finish(sampler);
    sstore_status status = plan_with_sample(&planner, &input, sampler, error);
    if (status == SSTORE_OK)
        *plan_out = planner.plans[planner.choice].plan;
    ss_planner_free(&planner);
    return status;
}

/* ----- the public function ----- */

static sstore_status settle_options(sstore_plan_options *options, sstore_error *error)
{
    options->distance = ss_distance_or_default(options->distance);
    sstore_status status = ss_take_fingerprint_bits(&options->fingerprint_bits, error);
    if (status == SSTORE_OK)
        status = ss_check_form(options->fingerprint_bits / SS_WORD_BITS, options->distance, options->block_bytes,
                               error);
    if (status != SSTORE_OK)
        return status;
    if (options->objective > SSTORE_OBJECTIVE_LATENCY)
        return ss_fail_argument(error, "objective %d does not exist", (int)options->objective);
    if (options->sample == NULL && options->sample_count > 0)
        return ss_fail_argument(error, "sstore_plan: sample is NULL, but sample_count is not 0");
    return SSTORE_OK;
}

static void make_estimate(sstore_plan_estimate *estimate, const ss_planner *planner, size_t index)
{
    const ss_planned *planned = &planner->plans[index];
    const ss_plan_cost *cost = &planned->cost;
    const double records = planner->input->store.record_count;
    *estimate = (sstore_plan_estimate){
        .struct_size = sizeof *estimate,
        .bits_per_fingerprint = cost->bits,
        .total_bytes = cost->total_bytes,
        .bytes_per_record = records > 0 ? cost->total_bytes / records : 0,
        .directory_bytes = cost->directory_bytes,
        .probe_count = cost->probe_count,
        .block_count = cost->block_count,
        .candidate_count = cost->candidate_count,
        .warm_ns = cost->warm_ns,
        .cold_ns = cost->cold_ns,
        .table_count = planned->plan.table_count,
        .min_prefix_bits = SS_FINGERPRINT_BITS,
        .min_radius = UINT32_MAX,
        .is_full_scan = cost->is_full_scan,
        .is_useful = planned->is_useful,
        .is_chosen = index == planner->choice,
    };
    for (uint32_t i = 0; i < planned->plan.table_count; i++) {
        const uint32_t bits = planned->plan.tables[i].prefix_bits, radius = (uint32_t)planned->plan.tables[i].radius;
        estimate->min_prefix_bits = ss_min_u32(estimate->min_prefix_bits, bits);
        estimate->max_prefix_bits = ss_max_u32(estimate->max_prefix_bits, bits);
        estimate->min_radius = ss_min_u32(estimate->min_radius, radius);
        estimate->max_radius = ss_max_u32(estimate->max_radius, radius);
    }
    snprintf(estimate->plan, sizeof estimate->plan, "%s", planned->name);
    if (estimate->is_chosen)
        write_reason(planner, estimate->reason, sizeof estimate->reason);
}

static sstore_status report_plans(const ss_planner *planner, sstore_plan_fn on_plan, void *context, sstore_error *error)
{
    sstore_plan_estimate estimate;
    if (planner->choice == planner->count)
        return ss_fail_argument(error, "no plan fits into %llu bytes; the smallest takes about %.0f",
                                (unsigned long long)planner->input->max_bytes, planner->plans[0].cost.total_bytes);
    for (size_t i = 0; i < planner->count; i++) {
        make_estimate(&estimate, planner, i);
        if (on_plan(context, &estimate) != 0)
            return SSTORE_STOPPED;
    }
    return SSTORE_OK;
}

/* Plan for one word of the fingerprints, with the skew of the sample's words. */
static sstore_status plan_word(ss_planner *planner, ss_planner_input *input, const sstore_plan_options *options,
                               uint32_t word, uint64_t *buffer, sstore_error *error)
{
    const uint32_t words = options->fingerprint_bits / SS_WORD_BITS;
    ss_sampler sampler;
    ss_sampler_init(&sampler, buffer);
    for (size_t i = 0; i < options->sample_count; i++)
        ss_sampler_add(&sampler, options->sample[i * words + word]);
    input->store.fingerprint_count = input->store.record_count * ss_sampler_finish(&sampler);
    return plan_with_sample(planner, input, &sampler, error);
}

static void add_cost(ss_plan_cost *to, const ss_plan_cost *from)
{
    to->table_bytes += from->table_bytes;
    to->ids_bytes += from->ids_bytes;
    to->directory_bytes += from->directory_bytes;
    to->total_bytes += from->total_bytes;
    to->probe_count += from->probe_count;
    to->block_count += from->block_count;
    to->candidate_count += from->candidate_count;
    to->warm_ns += from->warm_ns;
    to->cold_ns = fmax(to->cold_ns, from->cold_ns); /* all blocks are read in parallel */
    to->is_full_scan |= from->is_full_scan;
}

/* The bytes of whole fingerprints and ids. */
static double own_bytes(const ss_planner_input *input, const sstore_plan_options *options)
{
    const uint32_t words = options->fingerprint_bits / SS_WORD_BITS;
    const ss_expected_store store = {.record_count = input->store.record_count,
                                     .fingerprint_count = input->store.record_count,
                                     .has_ids = !options->no_ids,
                                     .block_bytes = input->store.block_bytes};
    const ss_plan plan = {.table_count = 1, .tables = {{.key_mask = UINT64_MAX, .prefix_bits = SS_WORD_BITS}}};
    ss_plan_cost cost;
    ss_plan_cost_init(&cost, &plan, &store);
    return cost.ids_bytes + store.record_count * store.block_bytes / ss_rows_capacity(store.block_bytes, words);
}

/* Plan for fingerprints of several words, all with equal radii. The same plans are listed for each word, and their
 * costs are summed. */
static sstore_status plan_words(ss_planner *planner, ss_planner_input *input, const sstore_plan_options *options,
                                uint64_t *buffer, sstore_error *error)
{
    const uint32_t words = options->fingerprint_bits / SS_WORD_BITS;
    assert(words > 0);
    input->distance = options->distance / words;
    input->store.has_ids = true; /* the ranks */
    input->store.other_bytes = own_bytes(input, options);
    sstore_status status = plan_word(planner, input, options, 0, buffer, error);
    for (uint32_t word = 1; status == SSTORE_OK && word < words; word++) {
        ss_planner other = {.count = 0};
        input->store.other_bytes = 0;
        status = plan_word(&other, input, options, word, buffer, error);
        assert(status != SSTORE_OK || other.count == planner->count);
        for (size_t i = 0; status == SSTORE_OK && i < other.count; i++) {
            add_cost(&planner->plans[i].cost, &other.plans[i].cost);
            add_cost(&planner->plans[i].weighed, &other.plans[i].weighed);
        }
        ss_planner_free(&other);
    }
    for (size_t i = 0; i < planner->count; i++)
        planner->plans[i].is_useful = false;
    mark_useful(planner);
    choose(planner);
    return status;
}

sstore_status sstore_plan(const sstore_plan_options *options, sstore_plan_fn on_plan, void *context,
                          sstore_error *error)
{
    sstore_plan_options taken = SSTORE_PLAN_OPTIONS_INIT;
    ss_planner planner = {.count = 0};
    if (on_plan == NULL)
        return ss_fail_argument(error, "sstore_plan: on_plan must not be NULL");
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_PLAN_OPTIONS_SIZE_1, error);
    if (status == SSTORE_OK)
        status = settle_options(&taken, error);
    if (status != SSTORE_OK)
        return status;
    uint64_t *buffer = ss_alloc(SS_SAMPLE_CAPACITY, sizeof *buffer);
    if (buffer == NULL)
        return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *buffer);
    ss_planner_input input = {.store = {.record_count = (double)taken.record_count,
                                        .has_ids = !taken.no_ids,
                                        .block_bytes = taken.block_bytes != 0 ? taken.block_bytes
                                                                              : SS_DEFAULT_BLOCK_BYTES},
                              .distance = taken.distance,
                              .objective = taken.objective,
                              .max_bytes = taken.max_bytes};
    status = taken.fingerprint_bits == SS_WORD_BITS ? plan_word(&planner, &input, &taken, 0, buffer, error)
                                                    : plan_words(&planner, &input, &taken, buffer, error);
    if (status == SSTORE_OK)
        status = report_plans(&planner, on_plan, context, error);
    ss_planner_free(&planner);
    ss_free(buffer);
    return status;
}
