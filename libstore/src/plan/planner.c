#include "plan/planner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/block.h"
#include "plan/cost.h"

/* ===== candidates ===== */

/* With more, a query takes tens of milliseconds for its probes alone. */
#define MAX_PROBES 1e6
#define MAX_CHOICE_GROUPS 11u /* 11c2 has 55 tables, 12c2 more than a plan can have */

/* Nested plans have many classes of bits, so that their proofs take long: seconds beyond these. */
#define MAX_NESTED_DISTANCE 8u
#define MAX_NESTED_GROUPS 4u
#define MAX_SQUARE_DISTANCE 7u /* 8c1/8c1 has 64 tables */

typedef struct generator {
    uint32_t distance;
    double fingerprint_count;
    ss_candidate_fn on_candidate;
    void *context;
    ss_candidate candidate;
} generator;

static double count_probes(const generator *self, const ss_plan *plan)
{
    double total = 0;
    for (uint32_t i = 0; i < plan->table_count; i++)
        total += ss_table_probe_count(&plan->tables[i], plan->tables[i].radius, self->fingerprint_count);
    return total;
}

/* Hand out the plan of candidate.name, if it is one. */
static bool offer(generator *self)
{
    ss_candidate *candidate = &self->candidate;
    if (ss_plan_parse(candidate->name, self->distance, &candidate->plan, NULL) != SSTORE_OK ||
        count_probes(self, &candidate->plan) > MAX_PROBES)
        return true;
    return self->on_candidate(self->context, candidate);
}

/* ----- disjoint groups ----- */

/* Complete, since the radii and one each add up to k + 1: of k differing bits some group has no more than its radius.
 */
typedef struct groups {
    uint32_t count, widths[SSTORE_MAX_BUILD_DISTANCE + 1], radii[SSTORE_MAX_BUILD_DISTANCE + 1];
} groups;

/* Spread k + 1 over the groups as evenly as it goes; the first ones get what is left over. Returns how many do. */
static uint32_t spread_radii(groups *to, uint32_t distance)
{
    uint32_t each = (distance + 1) / to->count, left = (distance + 1) % to->count;
    for (uint32_t i = 0; i < to->count; i++)
        to->radii[i] = each - 1 + (i < left);
    return left;
}

/* All 64 bits, those of the first `wide` groups `wider` bits wider. False where that does not go. */
static bool spread_widths(groups *to, uint32_t wide, uint32_t wider)
{
    if (wide * wider + to->count > SS_FINGERPRINT_BITS)
        return false;
    uint32_t total = SS_FINGERPRINT_BITS - wide * wider;
    for (uint32_t i = 0; i < to->count; i++)
        to->widths[i] = total / to->count + (i < total % to->count) + (i < wide ? wider : 0);
    return true;
}

static bool offer_groups(generator *self, const groups *of)
{
    char *name = self->candidate.name;
    size_t at = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        if (of->radii[i] > of->widths[i])
            return true;
        int added = snprintf(name + at, SS_PLAN_NAME_CAPACITY - at, "%s%u:%u", i > 0 ? "," : "", of->widths[i],
                             of->radii[i]);
        at += (size_t)added;
    }
    return offer(self);
}

/* Groups with a larger radius are probed with more prefixes, so they are given more bits: about 4 to make up for the probes of one
 * flip more, which is tried first. */
static bool offer_splits(generator *self, groups of)
{
    static const uint32_t widths_more[] = {4, 0, 2, 6, 9, 12};
    uint32_t wide = spread_radii(&of, self->distance);
    for (size_t i = 0; i < sizeof widths_more / sizeof widths_more[0]; i++) {
        const bool differs = i == 0 || wide > 0;
        if (differs && spread_widths(&of, wide, widths_more[i]) && !offer_groups(self, &of))
            return false;
    }
    return true;
}

static bool offer_disjoint(generator *self)
{
    for (uint32_t count = 1; count <= self->distance + 1; count++)
        if (!offer_splits(self, (groups){.count = count}))
            return false;
    return true;
}

/* ----- choices ----- */

/* Whether one table of BcC takes too many probes already: its proof would also take long. Of k differing bits some C of
 * B groups hold at most so many. */
static bool probes_too_much(const generator *self, uint32_t all, uint32_t chosen)
{
    uint32_t each = self->distance / all, left = self->distance % all;
    uint32_t radius = chosen * each + (chosen + left > all ? chosen + left - all : 0);
    return ss_probe_count(SS_FINGERPRINT_BITS / all * chosen, (int32_t)radius) > MAX_PROBES;
}

static bool offer_choices(generator *self)
{
    /* One group of B is a disjoint plan whose radii are spread worse. With more groups than k + C the tables are more
     * and the prefixes no longer. */
    for (uint32_t chosen = 2; chosen < MAX_CHOICE_GROUPS; chosen++)
        for (uint32_t all = chosen + 1; all <= MAX_CHOICE_GROUPS && all <= self->distance + chosen; all++) {
            snprintf(self->candidate.name, SS_PLAN_NAME_CAPACITY, "%uc%u", all, chosen);
            if (!probes_too_much(self, all, chosen) && !offer(self))
                return false;
        }
    return true;
}

static bool offer_nested_pair(generator *self, uint32_t outer, uint32_t inner)
{
    snprintf(self->candidate.name, SS_PLAN_NAME_CAPACITY, "%uc1/%uc1", outer, inner);
    return offer(self);
}

static bool offer_nested(generator *self)
{
    uint32_t max = self->distance + 1;
    if (self->distance > MAX_NESTED_DISTANCE)
        return true;
    for (uint32_t outer = 2; outer <= MAX_NESTED_GROUPS && outer <= max; outer++)
        for (uint32_t inner = 2; inner <= MAX_NESTED_GROUPS && inner <= max; inner++)
            if (!offer_nested_pair(self, outer, inner))
                return false;
    if (max <= MAX_NESTED_GROUPS || self->distance > MAX_SQUARE_DISTANCE)
        return true;
    return offer_nested_pair(self, max, max);
}

bool ss_candidates_each(uint32_t distance, double fingerprint_count, ss_candidate_fn on_candidate, void *context)
{
    generator self = {.distance = distance,
                      .fingerprint_count = fingerprint_count,
                      .on_candidate = on_candidate,
                      .context = context};
    return offer_disjoint(&self) && offer_choices(&self) && offer_nested(&self);
}

/* ===== planner ===== */

/* Times that differ by less are equal: the model knows no better. */
#define SAME_TIME 1.05

/* So many percent more time are worth one percent fewer bytes. With equal weights a plan of four times the bytes would
 * be as good as one of a quarter of the time, and ten tables would be chosen for a billion fingerprints. */
#define BYTES_WEIGHT 1.5

/* For the least size a query may take so long, or so many times the fastest plan's time if that is more. */
#define PATIENCE_NS 1e6
#define PATIENCE_RATIO 10.0

/* ----- the list ----- */

static bool is_known(const ss_planner *planner, const ss_plan *plan)
{
    for (size_t i = 0; i < planner->count; i++) {
        const ss_plan *other = &planner->plans[i].candidate.plan;
        uint32_t count = plan->table_count;
        if (other->table_count != count)
            continue;
        for (uint32_t j = 0; j < plan->table_count; j++)
            count -= plan->tables[j].key_mask == other->tables[j].key_mask &&
                     plan->tables[j].radius == other->tables[j].radius;
        if (count == 0)
            return true;
    }
    return false;
}

static bool add_candidate(void *context, const ss_candidate *candidate)
{
    ss_planner *planner = context;
    if (is_known(planner, &candidate->plan))
        return true;
    ss_planned *plans = ss_grow(planner->plans, planner->count, &planner->capacity, 64, sizeof *plans);
    if (plans == NULL)
        return false;
    planner->plans = plans;
    ss_planned *added = &planner->plans[planner->count++];
    ss_expected_store store = planner->input.store;
    *added = (ss_planned){.candidate = *candidate};
    ss_plan_cost_init(&added->figures, &candidate->plan, &store);
    added->weighed = added->figures;
    if (store.fingerprint_count < SS_WEIGHED_AT_MIN) {
        store.record_count *= SS_WEIGHED_AT_MIN / fmax(1, store.fingerprint_count);
        store.fingerprint_count = SS_WEIGHED_AT_MIN;
        ss_plan_cost_init(&added->weighed, &candidate->plan, &store);
    }
    return true;
}

/* Fewer tables first, and among as many those that came first. By insertion: there are a hundred at most. */
static void sort_by_tables(ss_planner *planner)
{
    for (size_t i = 1; i < planner->count; i++) {
        ss_planned moved = planner->plans[i];
        size_t to = i;
        for (; to > 0 && planner->plans[to - 1].candidate.plan.table_count > moved.candidate.plan.table_count; to--)
            planner->plans[to] = planner->plans[to - 1];
        planner->plans[to] = moved;
    }
}

/* ----- choosing ----- */

/* The fastest of the plans with as many tables as that one, and from there on where the next number begins. Of equally
 * fast ones the first, which uses all bits and so stays fast in a store that grows. */
static size_t fastest_of_run(const ss_planner *planner, size_t begin, size_t *end_out)
{
    size_t best = begin, end = begin;
    const ss_planned *plans = planner->plans;
    for (; end < planner->count && plans[end].candidate.plan.table_count == plans[begin].candidate.plan.table_count;
         end++)
        if (plans[end].weighed.warm_ns * SAME_TIME < plans[best].weighed.warm_ns)
            best = end;
    *end_out = end;
    return best;
}

/* A plan is useful if it is faster than every one with fewer tables, with its blocks cached or not. */
static void mark_useful(ss_planner *planner)
{
    double warm = INFINITY, cold = INFINITY;
    for (size_t begin = 0, end; begin < planner->count; begin = end) {
        ss_planned *best = &planner->plans[fastest_of_run(planner, begin, &end)];
        best->useful = best->weighed.warm_ns * SAME_TIME < warm || best->weighed.cold_ns * SAME_TIME < cold;
        warm = fmin(warm, best->weighed.warm_ns);
        cold = fmin(cold, best->weighed.cold_ns);
    }
}

static bool is_eligible(const ss_planner *planner, const ss_planned *plan)
{
    uint64_t max = planner->input.max_bytes;
    return plan->useful && (max == 0 || plan->figures.total_bytes <= (double)max);
}

static double min_warm(const ss_planner *planner)
{
    double warm = INFINITY;
    for (size_t i = 0; i < planner->count; i++)
        if (is_eligible(planner, &planner->plans[i]))
            warm = fmin(warm, planner->plans[i].weighed.warm_ns);
    return warm;
}

/* What the objective wants to be least. */
static double weigh(const ss_plan_cost *figures, sstore_objective objective, double fastest)
{
    double patience = fmax(PATIENCE_NS, PATIENCE_RATIO * fastest);
    switch (objective) {
    case SSTORE_OBJECTIVE_SIZE: return figures->warm_ns <= patience ? figures->total_bytes : INFINITY;
    case SSTORE_OBJECTIVE_LATENCY: return figures->warm_ns;
    default: return figures->warm_ns * pow(figures->total_bytes, BYTES_WEIGHT);
    }
}

static void choose(ss_planner *planner)
{
    double min = INFINITY, fastest = min_warm(planner);
    planner->choice = planner->count;
    for (size_t i = 0; i < planner->count; i++) {
        const ss_planned *plan = &planner->plans[i];
        double weight = weigh(&plan->weighed, planner->input.objective, fastest);
        if (is_eligible(planner, plan) && weight < min) {
            min = weight;
            planner->choice = i;
        }
    }
}

bool ss_planner_init(ss_planner *planner, const ss_planner_input *input)
{
    *planner = (ss_planner){.input = *input};
    double count = fmax(input->store.fingerprint_count, SS_WEIGHED_AT_MIN);
    if (!ss_candidates_each(input->distance, count, add_candidate, planner))
        return false;
    sort_by_tables(planner);
    mark_useful(planner);
    choose(planner);
    return true;
}

void ss_planner_free(ss_planner *planner)
{
    ss_free(planner->plans);
    *planner = (ss_planner){.count = 0};
}

/* ----- saying why ----- */

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

/* How the chosen plan stands between the smallest and the fastest one. */
static size_t say_balance(const ss_planner *planner, char *buffer, size_t size)
{
    const ss_planned *chosen = &planner->plans[planner->choice];
    const ss_planned *smallest = extreme(planner, true), *fastest = extreme(planner, false);
    char text[256] = "best balance of bytes and warm time";
    size_t at = strlen(text);
    if (smallest != chosen)
        at += (size_t)snprintf(text + at, sizeof text - at, ", where the smallest takes %.1f times its time",
                               smallest->weighed.warm_ns / chosen->weighed.warm_ns);
    if (fastest != chosen)
        snprintf(text + at, sizeof text - at, "%s the fastest takes %.1f times its bytes",
                 smallest != chosen ? " and" : ", where", fastest->weighed.total_bytes / chosen->weighed.total_bytes);
    return (size_t)snprintf(buffer, size, "%s", text);
}

void ss_planner_reason(const ss_planner *planner, char *buffer, size_t size)
{
    size_t at;
    if (size == 0)
        return;
    buffer[0] = '\0';
    if (planner->choice == planner->count)
        return;
    if (planner->input.objective == SSTORE_OBJECTIVE_SIZE)
        at = (size_t)snprintf(buffer, size, "fewest bytes of the plans whose queries do not take absurdly long");
    else if (planner->input.objective == SSTORE_OBJECTIVE_LATENCY)
        at = (size_t)snprintf(buffer, size, "least warm time");
    else
        at = say_balance(planner, buffer, size);
    if (planner->input.max_bytes != 0 && at < size)
        at += (size_t)snprintf(buffer + at, size - at, "; within %.4g GB", (double)planner->input.max_bytes / 1e9);
    if (planner->input.store.fingerprint_count < SS_WEIGHED_AT_MIN && at < size)
        snprintf(buffer + at, size - at, "; weighed as a store of %.0f, since a small one may grow", SS_WEIGHED_AT_MIN);
}

/* ===== choosing ===== */

/* ----- for a build ----- */

/* Plan with the skew of a finished sample; of uniform data with NULL, or if the sample is too small. */
static sstore_status plan_with_sample(ss_planner *planner, ss_planner_input *input, const ss_sampler *sampler,
                                      sstore_error *error)
{
    ss_skew skew = {.count = 0};
    const bool is_skewed = sampler != NULL && sampler->count >= SS_SAMPLE_MIN;
    bool done = !is_skewed || ss_skew_init(&skew, sampler->fingerprints, sampler->count);
    input->store.skew = is_skewed ? &skew : NULL;
    done = done && ss_planner_init(planner, input);
    input->store.skew = planner->input.store.skew = NULL; /* it ends here */
    ss_skew_free(&skew);
    return done ? SSTORE_OK : ss_fail_memory(error, 2 * SS_SAMPLE_CAPACITY * sizeof(uint64_t));
}

sstore_status ss_choose_plan(const ss_expected_store *store, uint32_t distance, ss_sampler *sampler, ss_plan *plan_out,
                             sstore_error *error)
{
    ss_planner planner = {.count = 0};
    ss_planner_input input = {.store = *store, .distance = distance, .objective = SSTORE_OBJECTIVE_BALANCED};
    if (sampler != NULL)
        ss_sampler_finish(sampler);
    sstore_status status = plan_with_sample(&planner, &input, sampler, error);
    if (status == SSTORE_OK)
        *plan_out = planner.plans[planner.choice].candidate.plan;
    ss_planner_free(&planner);
    return status;
}

/* ----- the public function ----- */

static sstore_status check_options(const sstore_plan_options *options, sstore_error *error)
{
    if (options->distance > SSTORE_MAX_BUILD_DISTANCE)
        return ss_fail_argument(error, "the distance to plan for is %u; it can be 0 to %d", options->distance,
                                SSTORE_MAX_BUILD_DISTANCE);
    if (options->block_bytes != 0 && !ss_block_bytes_valid(options->block_bytes))
        return ss_fail_argument(error, "the block size is %u; it can be a power of two from %u to %u",
                                options->block_bytes, SS_BLOCK_MIN_BYTES, SS_BLOCK_MAX_BYTES);
    if (options->objective > SSTORE_OBJECTIVE_LATENCY)
        return ss_fail_argument(error, "there is no objective %d", (int)options->objective);
    if (options->sample == NULL && options->sample_count > 0)
        return ss_fail_argument(error, "sstore_plan: there is no sample, but it has a size");
    return SSTORE_OK;
}

static void set_ranges(sstore_plan_estimate *estimate, const ss_plan *plan)
{
    estimate->table_count = plan->table_count;
    estimate->min_prefix_bits = SS_FINGERPRINT_BITS;
    estimate->min_radius = UINT32_MAX;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        uint32_t bits = plan->tables[i].prefix_bits, radius = (uint32_t)plan->tables[i].radius;
        estimate->min_prefix_bits = (uint32_t)ss_min_u64(estimate->min_prefix_bits, bits);
        estimate->max_prefix_bits = (uint32_t)ss_max_u64(estimate->max_prefix_bits, bits);
        estimate->min_radius = (uint32_t)ss_min_u64(estimate->min_radius, radius);
        estimate->max_radius = (uint32_t)ss_max_u64(estimate->max_radius, radius);
    }
}

static void make_estimate(sstore_plan_estimate *estimate, const ss_planner *planner, size_t index)
{
    const ss_planned *plan = &planner->plans[index];
    const ss_plan_cost *figures = &plan->figures;
    double records = planner->input.store.record_count;
    *estimate = (sstore_plan_estimate){
        .struct_size = sizeof *estimate,
        .table_bits = figures->bits,
        .total_bytes = figures->total_bytes,
        .bytes_each = records > 0 ? figures->total_bytes / records : 0,
        .directory_bytes = figures->directory_bytes,
        .probe_count = figures->probe_count,
        .block_count = figures->block_count,
        .candidate_count = figures->candidate_count,
        .warm_ns = figures->warm_ns,
        .cold_ns = figures->cold_ns,
        .scans = figures->scans,
        .useful = plan->useful,
        .chosen = index == planner->choice,
    };
    snprintf(estimate->plan, sizeof estimate->plan, "%s", plan->candidate.name);
    set_ranges(estimate, &plan->candidate.plan);
    if (estimate->chosen)
        ss_planner_reason(planner, estimate->reason, sizeof estimate->reason);
}

static sstore_status report_plans(const ss_planner *planner, sstore_plan_fn on_plan, void *context, sstore_error *error)
{
    sstore_plan_estimate estimate;
    if (planner->choice == planner->count)
        return ss_fail_argument(error, "no plan takes as little as %llu bytes; the smallest takes about %.0f",
                                (unsigned long long)planner->input.max_bytes, planner->plans[0].figures.total_bytes);
    for (size_t i = 0; i < planner->count; i++) {
        make_estimate(&estimate, planner, i);
        if (on_plan(context, &estimate) != 0)
            return SSTORE_STOPPED;
    }
    return SSTORE_OK;
}

static sstore_status plan_and_report(const sstore_plan_options *options, ss_sampler *sampler, sstore_plan_fn on_plan,
                                     void *context, sstore_error *error)
{
    ss_planner planner = {.count = 0};
    for (size_t i = 0; i < options->sample_count; i++)
        ss_sampler_add(sampler, options->sample[i]);
    double distinct_share = ss_sampler_finish(sampler), records = (double)options->record_count;
    ss_planner_input input = {.store = {.record_count = records,
                                        .fingerprint_count = records * distinct_share,
                                        .has_ids = !options->without_ids,
                                        .block_bytes = options->block_bytes != 0 ? options->block_bytes
                                                                                 : SS_DEFAULT_BLOCK_BYTES},
                              .distance = options->distance,
                              .objective = options->objective,
                              .max_bytes = options->max_bytes};
    sstore_status status = plan_with_sample(&planner, &input, sampler, error);
    if (status == SSTORE_OK)
        status = report_plans(&planner, on_plan, context, error);
    ss_planner_free(&planner);
    return status;
}

sstore_status sstore_plan(const sstore_plan_options *options, sstore_plan_fn on_plan, void *context,
                          sstore_error *error)
{
    sstore_plan_options taken = SSTORE_PLAN_OPTIONS_INIT;
    ss_sampler sampler;
    if (on_plan == NULL)
        return ss_fail_argument(error, "sstore_plan: on_plan must not be NULL");
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_PLAN_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    status = check_options(&taken, error);
    if (status != SSTORE_OK)
        return status;
    uint64_t *room = ss_alloc(SS_SAMPLE_CAPACITY, sizeof *room);
    if (room == NULL)
        return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *room);
    ss_sampler_init(&sampler, room);
    status = plan_and_report(&taken, &sampler, on_plan, context, error);
    ss_free(room);
    return status;
}
