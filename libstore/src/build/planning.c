#include "build/planning.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"

/* ----- for a build ----- */

/* Plan with the skew of a finished sample. */
static sstore_status plan_with_sample(ss_planner *planner, ss_planner_input *input, const ss_sampler *sampler,
                                      sstore_error *error)
{
    ss_skew skew;
    bool done = ss_skew_init(&skew, sampler->fingerprints, sampler->count);
    input->store.skew = sampler->count >= SS_SAMPLE_LEAST ? &skew : NULL;
    done = done && ss_planner_init(planner, input);
    input->store.skew = planner->input.store.skew = NULL; /* it ends here */
    ss_skew_free(&skew);
    return done ? SSTORE_OK : ss_fail_memory(error, 2 * SS_SAMPLE_CAPACITY * sizeof(uint64_t));
}

sstore_status ss_choose_plan(const ss_manifest_segment *segment, bool has_ids, uint32_t distance, ss_sampler *sampler,
                             ss_plan *plan_out, sstore_error *error)
{
    ss_planner planner = {.count = 0};
    ss_planner_input input = {.store = {.record_count = (double)segment->record_count,
                                        .fingerprint_count = (double)segment->distinct_count,
                                        .has_ids = has_ids,
                                        .block_bytes = segment->block_bytes},
                              .distance = distance,
                              .objective = SSTORE_OBJECTIVE_BALANCED};
    ss_sampler_finish(sampler);
    sstore_status status = plan_with_sample(&planner, &input, sampler, error);
    if (status == SSTORE_OK)
        *plan_out = planner.plans[planner.choice].candidate.plan;
    ss_planner_free(&planner);
    return status;
}

sstore_status ss_expect_plan(const ss_expected_store *store, uint32_t distance, ss_plan *plan_out, sstore_error *error)
{
    ss_planner planner = {.count = 0};
    ss_planner_input input = {.store = *store, .distance = distance, .objective = SSTORE_OBJECTIVE_BALANCED};
    bool done = ss_planner_init(&planner, &input);
    if (done)
        *plan_out = planner.plans[planner.choice].candidate.plan;
    ss_planner_free(&planner);
    return done ? SSTORE_OK : ss_fail_memory(error, sizeof planner);
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
    estimate->least_prefix_bits = SS_FINGERPRINT_BITS;
    estimate->least_radius = UINT32_MAX;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        uint32_t bits = plan->tables[i].prefix_bits, radius = (uint32_t)plan->tables[i].radius;
        estimate->least_prefix_bits = (uint32_t)ss_min_u64(estimate->least_prefix_bits, bits);
        estimate->most_prefix_bits = (uint32_t)ss_max_u64(estimate->most_prefix_bits, bits);
        estimate->least_radius = (uint32_t)ss_min_u64(estimate->least_radius, radius);
        estimate->most_radius = (uint32_t)ss_max_u64(estimate->most_radius, radius);
    }
}

static void make_estimate(sstore_plan_estimate *estimate, const ss_planner *planner, size_t index)
{
    const ss_planned *plan = &planner->plans[index];
    const ss_plan_figures *figures = &plan->figures;
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
                                        .has_ids = options->has_ids != 0,
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
    if (!ss_take_options(&taken, sizeof taken, options, sizeof taken))
        return ss_fail_argument(error, "sstore_plan: the options are not set by SSTORE_PLAN_OPTIONS_INIT");
    sstore_status status = check_options(&taken, error);
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
