#include "plan/cost.h"

#include <math.h>
#include <string.h>

#include "codec/block.h"

/*
 * Nanoseconds, measured warm by bench_query on 10 and 100 million uniform fingerprints in 2 to 10 tables, at distances from 1
 * to 8 (bench/README.md); the model is within a factor of 1.6 of four fifths of them, and of 2.3 of all. They decide between
 * plans, and between probing and scanning, where a factor of two does no harm.
 */
#define READ_BLOCK_NS 1000.0  /* look up, read, check and open one block, in pread mode */
#define MAPPED_BLOCK_NS 140.0 /* the same of a block in memory */
#define PROBE_NS 20.0         /* one more prefix whose block is at hand */
#define CANDIDATE_NS 0.6      /* test one lower half of a probe's groups */
#define SCAN_READ_NS 0.35     /* for each fingerprint that a scan reads, checksum included */
#define SCAN_TEST_NS 0.15     /* test its lower half */
#define DECODE_NS 2.0         /* decode one fingerprint of a group in which some lower half is near */
#define COMPARE_NS 4.0        /* look at one whose lower half is near */
#define PROBE_LIMIT_NS 4e8    /* beyond it probing is not even forced */

#define RANGE_FINGERPRINTS 64.0 /* uniform ones, to which one probe may lead: to test them takes less than more probes do */

/* Reads of 4 KiB from a virtual machine's disk, side by side: one takes 51 to 60 us, 4 take 99, 16 take 218, and no
 * more than 91,000 are done in a second. */
#define COLD_READ_NS 45000.0
#define COLD_BLOCK_NS 13500.0

/* ----- one table ----- */

static double block_ns(const ss_cost_model *model)
{
    return model->io == SSTORE_IO_PREAD ? READ_BLOCK_NS : MAPPED_BLOCK_NS;
}

/* What each tested fingerprint takes beside the test, on average. Lower halves of uniform data are within the distance with the
 * probability `near`; such a fingerprint is compared whole, and all of its group is decoded. */
static double near_ns(uint32_t distance)
{
    double near = 0, ways = ldexp(1, -(int)SS_COLUMN_BITS);
    for (uint32_t bits = 0; bits <= distance && bits <= SS_COLUMN_BITS; bits++) {
        near += ways;
        ways = ways * (SS_COLUMN_BITS - bits) / (bits + 1);
    }
    return near < 1 ? COMPARE_NS * near - DECODE_NS * expm1(SS_GROUP_SIZE * log1p(-near)) : COMPARE_NS + DECODE_NS;
}

/* Sum of the ways to choose up to `radius` of `bits`, which need not be whole. */
static double count_ways(double bits, int32_t radius)
{
    double total = 0, ways = 1;
    for (int32_t flips = 0; flips <= radius && ways > 0; flips++) {
        total += ways;
        ways = ways * fmax(0, bits - flips) / (flips + 1);
    }
    return total;
}

double ss_probe_count(uint32_t prefix_bits, int32_t radius)
{
    return count_ways(prefix_bits, radius);
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

/*
 * How many bits of a prefix lead to another block when they are flipped. Bit j moves the prefix by 2^-(j + 1) of the
 * whole table: surely into another block where that is more than a block, otherwise as likely as it is long.
 */
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
                               const double *shares)
{
    double uniform = ldexp(1.0, -(int)table->prefix_bits);
    double share = shares != NULL ? shares[0] : uniform;
    double fall = shares != NULL ? fmin(1, shares[1] / shares[0]) : 1;
    double total = 0, ways = 1;
    for (int32_t flips = 0; flips <= radius && ways > 0; flips++) {
        total += ways * share * fingerprint_count;
        ways = ways * (double)((int32_t)table->prefix_bits - flips) / (double)(flips + 1);
        share = fmax(uniform, share * fall);
    }
    return fmin(total, fingerprint_count);
}

ss_table_cost ss_table_cost_of(const ss_plan_table *table, int32_t radius, uint32_t distance, const ss_cost_model *model,
                               const double *shares)
{
    ss_table_cost cost = {.probe_count = ss_table_probe_count(table, radius, model->fingerprint_count)};
    if (radius == SS_NO_PROBE)
        return cost;
    double telling = count_telling_bits(table->prefix_bits, model->block_count);
    double begun = fmin(cost.probe_count, count_ways(telling, radius));
    cost.candidate_count = count_candidates(table, radius, model->fingerprint_count, shares);
    /* A group begins in one block and takes another for as many blocks as it is long. */
    double run_over = model->fingerprint_count > 0
                          ? cost.candidate_count / model->fingerprint_count * model->block_count
                          : 0;
    cost.block_count = fmin(begun + run_over, model->block_count);
    cost.warm_ns = cost.block_count * block_ns(model) + cost.probe_count * PROBE_NS +
                   cost.candidate_count * (CANDIDATE_NS + near_ns(distance));
    return cost;
}

/* Read a block and test all that it holds. */
static double whole_block_ns(const ss_cost_model *model, uint32_t distance)
{
    const double count = model->fingerprint_count / fmax(1, model->block_count);
    return block_ns(model) + count * (CANDIDATE_NS + near_ns(distance));
}

double ss_scan_cost(const ss_cost_model *model, uint32_t distance)
{
    return model->fingerprint_count * (SCAN_READ_NS + SCAN_TEST_NS + near_ns(distance)) + READ_BLOCK_NS;
}

/* Nanoseconds: where probing costs as much or more, a scan is chosen. */
static double probe_limit(const ss_cost_model *model, uint32_t distance)
{
    return model->strategy == SSTORE_STRATEGY_PROBE ? PROBE_LIMIT_NS : ss_scan_cost(model, distance);
}

uint64_t ss_most_probes(double fingerprint_count, sstore_strategy strategy)
{
    const ss_cost_model model = {.fingerprint_count = fingerprint_count, .strategy = strategy};
    /* A scan takes longest at the largest distance. */
    return (uint64_t)(probe_limit(&model, SS_FINGERPRINT_BITS) / PROBE_NS) + 1;
}

double ss_cold_cost(double block_count)
{
    return COLD_READ_NS + block_count * COLD_BLOCK_NS;
}

/* ----- radii for a distance ----- */

static double table_cost(const ss_plan_table *table, int32_t radius, uint32_t distance, const ss_cost_model *model)
{
    return radius == SS_NO_PROBE ? 0 : ss_table_cost_of(table, radius, distance, model, NULL).warm_ns;
}

static double total_cost(const ss_plan *plan, const int32_t *radii, uint32_t distance, const ss_cost_model *model)
{
    double cost = 0;
    for (uint32_t i = 0; i < plan->table_count; i++)
        cost += table_cost(&plan->tables[i], radii[i], distance, model);
    return cost;
}

/* What radii are looked for, and the steps that this may still take, proofs and all. */
typedef struct derivation {
    const ss_plan *plan;
    const ss_cost_model *model;
    uint32_t distance;
    double limit; /* of their cost, above which a scan is better */
    ss_steps *steps;
} derivation;

static bool find_uncovered(derivation *self, const int32_t *radii, uint64_t *pattern_out)
{
    return ss_plan_find_uncovered_within(self->plan, radii, self->distance, self->steps, pattern_out);
}

/* Raise that table's radius for which covering the pattern costs least. */
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

/* Lower every radius, table by table, as far as they stay complete, and that is proved. */
static void lower_radii(derivation *self, int32_t *radii)
{
    const uint32_t count = self->plan->table_count;
    uint64_t pattern;
    for (uint32_t i = 0; i < count; i++) {
        while (radii[i] != SS_NO_PROBE) {
            radii[i]--;
            if (find_uncovered(self, radii, &pattern)) {
                radii[i]++;
                break;
            }
        }
    }
}

/* Look for cheap complete radii from none at all: cover what slips through, one pattern after the other. False where that
 * comes to more than the limit, or cannot be proved. */
static bool build_up_radii(derivation *self, int32_t *radii)
{
    uint64_t pattern;
    for (uint32_t i = 0; i < self->plan->table_count; i++)
        radii[i] = SS_NO_PROBE;
    while (find_uncovered(self, radii, &pattern)) {
        double cost = total_cost(self->plan, radii, self->distance, self->model);
        /* No bits: nothing is probed yet, or the search gave up, and then there is no pattern to go by. */
        if (cost >= self->limit || (pattern == 0 && cost > 0))
            return false;
        cover_pattern(self, pattern, radii);
    }
    lower_radii(self, radii);
    return true;
}

static void copy_own_radii(const ss_plan *plan, int32_t *radii)
{
    for (uint32_t i = 0; i < plan->table_count; i++)
        radii[i] = plan->tables[i].radius;
}

/* Complete radii for a distance other than the plan's own. Below it, the own radii, lowered, may be the cheaper ones. */
static bool derive_radii(derivation *self, int32_t *radii)
{
    int32_t lowered[SS_MAX_TABLES];
    bool complete = build_up_radii(self, radii);
    const ss_plan *plan = self->plan;
    if (self->distance > plan->distance)
        return complete;
    copy_own_radii(plan, lowered);
    lower_radii(self, lowered);
    if (!complete || total_cost(plan, lowered, self->distance, self->model) < total_cost(plan, radii, self->distance, self->model))
        memcpy(radii, lowered, sizeof lowered[0] * plan->table_count);
    return true;
}

static void probe_first_alone(const ss_plan *plan, int32_t *radii)
{
    for (uint32_t i = 0; i < plan->table_count; i++)
        radii[i] = i == 0 ? 0 : SS_NO_PROBE;
}

/* Estimate what the radii cost, and choose between probes and a scan. */
static void weigh(ss_query_plan *query_plan, const ss_plan *plan, const ss_cost_model *model)
{
    ss_plan_table whole = {.prefix_bits = SS_FINGERPRINT_BITS};
    const uint32_t distance = query_plan->distance;
    query_plan->scan_cost = ss_scan_cost(model, distance);
    query_plan->most_blocks = query_plan->scan_cost / whole_block_ns(model, distance);
    query_plan->probe_cost = query_plan->exact ? table_cost(&whole, 0, distance, model)
                                               : total_cost(plan, query_plan->radii, distance, model);
    query_plan->scan = !query_plan->complete || query_plan->probe_cost >= probe_limit(model, distance) ||
                       model->strategy == SSTORE_STRATEGY_SCAN;
}

void ss_query_plan_init(ss_query_plan *query_plan, const ss_plan *plan, uint32_t distance, const ss_cost_model *model,
                        ss_steps *steps)
{
    derivation search = {
        .plan = plan, .model = model, .distance = distance, .limit = probe_limit(model, distance), .steps = steps};
    *query_plan = (ss_query_plan){.distance = distance, .complete = true, .exact = distance == 0};
    if (distance == 0)
        probe_first_alone(plan, query_plan->radii);
    else if (distance == plan->distance)
        copy_own_radii(plan, query_plan->radii);
    else
        query_plan->complete = derive_radii(&search, query_plan->radii);
    weigh(query_plan, plan, model);
}

void ss_query_plan_init_alike(ss_query_plan *query_plan, const ss_plan *plan, const ss_query_plan *alike,
                              const ss_cost_model *model)
{
    *query_plan = *alike;
    weigh(query_plan, plan, model);
}
