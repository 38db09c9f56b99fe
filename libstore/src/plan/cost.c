#include "plan/cost.h"

#include <string.h>

/*
 * Nanoseconds, measured warm in pread mode by bench_query (bench/README.md): they decide only between probing and
 * scanning, where a factor of two does no harm.
 */
#define VISIT_NS 900.0    /* look up, read, check and search one block */
#define PROBE_NS 30.0     /* one more prefix whose block is at hand */
#define CANDIDATE_NS 4.0  /* decode and test one fingerprint of a probe's group */
#define SCAN_NS 4.0       /* the same in a scan, block's checksum included */
#define PROBE_LIMIT_NS 1e9 /* beyond it probing is not even forced */

double ss_probe_count(uint32_t prefix_bits, int32_t radius)
{
    double total = 0, ways = 1;
    for (int32_t flips = 0; flips <= radius && flips <= (int32_t)prefix_bits; flips++) {
        total += ways;
        ways = ways * (double)((int32_t)prefix_bits - flips) / (double)(flips + 1);
    }
    return total;
}

static double two_to_minus(uint32_t bits)
{
    return 1.0 / (double)(UINT64_C(1) << (bits < 63 ? bits : 63));
}

static double table_cost(const ss_plan_table *table, int32_t radius, const ss_cost_model *model)
{
    double probes = ss_probe_count(table->prefix_bits, radius);
    double visits = probes < model->block_count ? probes : model->block_count;
    double candidates = probes * model->fingerprint_count * two_to_minus(table->prefix_bits);
    return visits * VISIT_NS + probes * PROBE_NS + candidates * CANDIDATE_NS;
}

static double total_cost(const ss_plan *plan, const int32_t *radii, const ss_cost_model *model)
{
    double cost = 0;
    for (uint32_t i = 0; i < plan->table_count; i++)
        cost += radii[i] == SS_NO_PROBE ? 0 : table_cost(&plan->tables[i], radii[i], model);
    return cost;
}

/* Raise that table's radius for which covering the pattern costs least. */
static void cover_pattern(const ss_plan *plan, uint64_t pattern, int32_t *radii, const ss_cost_model *model)
{
    double cheapest = 0;
    uint32_t choice = plan->table_count;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const ss_plan_table *table = &plan->tables[i];
        double before = radii[i] == SS_NO_PROBE ? 0 : table_cost(table, radii[i], model);
        double added = table_cost(table, (int32_t)ss_popcount(pattern & table->key_mask), model) - before;
        if (choice == plan->table_count || added < cheapest) {
            cheapest = added;
            choice = i;
        }
    }
    radii[choice] = (int32_t)ss_popcount(pattern & plan->tables[choice].key_mask);
}

/* Lower every radius, table by table, as far as they stay complete. */
static void lower_radii(const ss_plan *plan, uint32_t distance, int32_t *radii)
{
    uint64_t pattern;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        while (radii[i] != SS_NO_PROBE) {
            radii[i]--;
            if (ss_plan_find_uncovered(plan, radii, distance, &pattern)) {
                radii[i]++;
                break;
            }
        }
    }
}

/* Look for cheap complete radii from none at all: cover what slips through, one pattern after the other. False where that
 * comes to more than the limit. */
static bool build_up_radii(const ss_plan *plan, uint32_t distance, const ss_cost_model *model, double limit,
                           int32_t *radii)
{
    uint64_t pattern;
    for (uint32_t i = 0; i < plan->table_count; i++)
        radii[i] = SS_NO_PROBE;
    while (ss_plan_find_uncovered(plan, radii, distance, &pattern)) {
        if (total_cost(plan, radii, model) >= limit)
            return false;
        cover_pattern(plan, pattern, radii, model);
    }
    lower_radii(plan, distance, radii);
    return true;
}

static void copy_own_radii(const ss_plan *plan, int32_t *radii)
{
    for (uint32_t i = 0; i < plan->table_count; i++)
        radii[i] = plan->tables[i].radius;
}

/* Complete radii for a distance other than the plan's own. Below it, the own radii, lowered, may be the cheaper ones. */
static bool derive_radii(const ss_plan *plan, uint32_t distance, const ss_cost_model *model, double limit,
                         int32_t *radii)
{
    int32_t lowered[SS_MAX_TABLES];
    bool complete = build_up_radii(plan, distance, model, limit, radii);
    if (distance > plan->distance)
        return complete;
    copy_own_radii(plan, lowered);
    lower_radii(plan, distance, lowered);
    if (!complete || total_cost(plan, lowered, model) < total_cost(plan, radii, model))
        memcpy(radii, lowered, sizeof lowered[0] * plan->table_count);
    return true;
}

void ss_query_plan_init(ss_query_plan *query_plan, const ss_plan *plan, uint32_t distance,
                        const ss_cost_model *model)
{
    int32_t *radii = query_plan->radii;
    bool complete = true;
    double scan_cost = model->fingerprint_count * SCAN_NS + VISIT_NS;
    double limit = model->strategy == SSTORE_STRATEGY_PROBE ? PROBE_LIMIT_NS : scan_cost;
    *query_plan = (ss_query_plan){.distance = distance, .scan_cost = scan_cost};
    if (distance == plan->distance)
        copy_own_radii(plan, radii);
    else
        complete = derive_radii(plan, distance, model, limit, radii);
    query_plan->probe_cost = total_cost(plan, radii, model);
    for (uint32_t i = 0; i < plan->table_count; i++)
        query_plan->probe_count += ss_probe_count(plan->tables[i].prefix_bits, radii[i]);
    query_plan->scan = !complete || query_plan->probe_cost >= limit || model->strategy == SSTORE_STRATEGY_SCAN;
}
