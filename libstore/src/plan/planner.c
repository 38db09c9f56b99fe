#include "plan/planner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

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
    ss_plan_figures_init(&added->figures, &candidate->plan, &store);
    added->weighed = added->figures;
    if (store.fingerprint_count < SS_WEIGHED_AT_LEAST) {
        store.record_count *= SS_WEIGHED_AT_LEAST / fmax(1, store.fingerprint_count);
        store.fingerprint_count = SS_WEIGHED_AT_LEAST;
        ss_plan_figures_init(&added->weighed, &candidate->plan, &store);
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
    uint64_t most = planner->input.max_bytes;
    return plan->useful && (most == 0 || plan->figures.total_bytes <= (double)most);
}

static double least_warm(const ss_planner *planner)
{
    double warm = INFINITY;
    for (size_t i = 0; i < planner->count; i++)
        if (is_eligible(planner, &planner->plans[i]))
            warm = fmin(warm, planner->plans[i].weighed.warm_ns);
    return warm;
}

/* What the objective wants to be least. */
static double weigh(const ss_plan_figures *figures, sstore_objective objective, double fastest)
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
    double least = INFINITY, fastest = least_warm(planner);
    planner->choice = planner->count;
    for (size_t i = 0; i < planner->count; i++) {
        const ss_planned *plan = &planner->plans[i];
        double weight = weigh(&plan->weighed, planner->input.objective, fastest);
        if (is_eligible(planner, plan) && weight < least) {
            least = weight;
            planner->choice = i;
        }
    }
}

bool ss_planner_init(ss_planner *planner, const ss_planner_input *input)
{
    *planner = (ss_planner){.input = *input};
    double count = fmax(input->store.fingerprint_count, SS_WEIGHED_AT_LEAST);
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
    if (planner->input.store.fingerprint_count < SS_WEIGHED_AT_LEAST && at < size)
        snprintf(buffer + at, size - at, "; weighed as a store of %.0f, since a small one may grow",
                 SS_WEIGHED_AT_LEAST);
}
