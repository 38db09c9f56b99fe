/* The choice of how to answer a query at any distance: complete radii, or a full scan. */
#include "plan/cost.h"

#include <inttypes.h>
#include <math.h>

#include "support/random.h"
#include "support/testing.h"

#define PATTERNS 1500

static const char *const named[] = {"20", "16", "10", "4", "3", "2", "1"};
#define NAMED_COUNT (sizeof named / sizeof *named)

/* From a store in one block to one of ten billion. */
static const ss_cost_model models[] = {
    {.fingerprint_count = 0, .block_count = 0},       {.fingerprint_count = 1, .block_count = 1},
    {.fingerprint_count = 500, .block_count = 1},     {.fingerprint_count = 1e5, .block_count = 130},
    {.fingerprint_count = 1e8, .block_count = 1.3e5}, {.fingerprint_count = 1e10, .block_count = 1e8},
};
#define MODEL_COUNT (sizeof models / sizeof *models)

static ss_plan make_plan(const char *name, uint32_t distance)
{
    ss_plan plan;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_plan_parse(name, distance, &plan, &error), &error);
    return plan;
}

static ss_steps steps; /* that were left when a query plan was made */

static ss_query_plan make_query_plan(const ss_plan *plan, uint32_t distance, ss_cost_model model,
                                     sstore_strategy strategy)
{
    ss_query_plan query;
    model.strategy = strategy;
    steps.left = SS_CALL_STEPS;
    ss_query_plan_init(&query, plan, distance, &model, &steps);
    assert_int_equal(query.distance, distance);
    return query;
}

/* Every pattern of at most `distance` bits is covered, and each radius is within its limits. */
static void check_complete(const ss_plan *plan, const ss_query_plan *query, rng *random)
{
    uint64_t pattern;
    for (uint32_t i = 0; i < plan->table_count; i++)
        assert_true(query->radii[i] >= SS_NO_PROBE && query->radii[i] <= (int32_t)plan->tables[i].prefix_bits);
    assert_false(ss_plan_find_uncovered(plan, query->radii, query->distance, NULL, &pattern));
    for (uint32_t i = 0; i < PATTERNS; i++) {
        uint32_t bits = rng_one_in(random, 4) ? (uint32_t)rng_below(random, query->distance + 1) : query->distance;
        pattern = rng_flip(random, 0, bits);
        if (ss_plan_first_cover(plan, query->radii, pattern) == plan->table_count)
            fail_msg("pattern %016" PRIx64 " slips through", pattern);
    }
}

static uint32_t radii_tried, radii_too_large;

/* Try to lower each radius: probes that are not needed cost time. A short proof may find what a longer one did not when
 * the radii of other tables were larger, so a few may be too large. */
static void try_to_lower(const ss_plan *plan, ss_query_plan query)
{
    uint64_t pattern;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        if (query.radii[i] == SS_NO_PROBE)
            continue;
        query.radii[i]--;
        ss_steps proof = {.left = SS_PROOF_STEPS / 16};
        radii_tried++;
        radii_too_large += !ss_plan_find_uncovered(plan, query.radii, query.distance, &proof, &pattern);
        query.radii[i]++;
    }
}

static void test_few_radii_are_too_large(void **state)
{
    testing_figure("radii: %" PRIu32 " tried, %" PRIu32 " larger than needed", radii_tried, radii_too_large);
    assert_true(radii_tried > 500);
    assert_true(radii_too_large * 100 < radii_tried);
}

static void check_query_plan(const ss_plan *plan, uint32_t distance, size_t model, rng *random)
{
    testing_doing("%u tables for %u, asked at %u, model %zu", plan->table_count, plan->distance, distance, model);
    ss_query_plan query = make_query_plan(plan, distance, models[model], SSTORE_STRATEGY_AUTO);
    assert_int_equal(query.full_scan, query.probe_cost >= query.full_scan_cost);
    assert_true(query.probe_cost >= 0 && query.full_scan_cost > 0);
    if (!query.full_scan)
        check_complete(plan, &query, random);
    const bool all_was_tried = SS_CALL_STEPS - steps.left < ss_search_steps(&models[model], distance);
    if (!query.full_scan && all_was_tried && distance != plan->distance && distance <= 8)
        try_to_lower(plan, query);
    query = make_query_plan(plan, distance, models[model], SSTORE_STRATEGY_PROBE);
    assert_true(query.probe_cost >= 0 && query.full_scan_cost > 0);
    if (query.full_scan)
        assert_true(query.probe_cost >= 1e8); /* so many probes take too long */
    else
        check_complete(plan, &query, random);
    query = make_query_plan(plan, distance, models[model], SSTORE_STRATEGY_FULL_SCAN);
    assert_true(query.full_scan);
}

static void test_every_distance_is_complete(void **state)
{
    rng random = rng_seeded(run_seed);
    for (size_t i = 0; i < NAMED_COUNT; i++) {
        const uint32_t k = i % 2 == 0 ? 3 : (uint32_t)rng_below(&random, 9);
        const ss_plan plan = make_plan(named[i], k);
        for (uint32_t distance = 0; distance <= 8; distance++)
            for (size_t model = 0; model < MODEL_COUNT; model++)
                check_query_plan(&plan, distance, model, &random);
        for (uint32_t distance = 9; distance <= SSTORE_MAX_DISTANCE; distance += distance < 16 ? 1 : 12)
            check_query_plan(&plan, distance, (distance + i) % MODEL_COUNT, &random);
    }
    testing_done();
}

static void test_own_distance_keeps_own_radii(void **state)
{
    for (size_t i = 0; i < NAMED_COUNT; i++) {
        for (uint32_t k = 0; k <= 8; k++) {
            const ss_plan plan = make_plan(named[i], k);
            const ss_query_plan query = make_query_plan(&plan, k, models[4], SSTORE_STRATEGY_AUTO);
            assert_int_equal(query.exact, k == 0);
            for (uint32_t j = 0; j < plan.table_count; j++)
                assert_int_equal(query.radii[j], k == 0 && j > 0 ? SS_NO_PROBE : plan.tables[j].radius);
        }
    }
}

static double count_probes(const ss_plan *plan, const ss_query_plan *query, double fingerprint_count)
{
    double probes = 0;
    for (uint32_t i = 0; i < plan->table_count; i++)
        probes += ss_table_probe_count(&plan->tables[i], query->radii[i], fingerprint_count);
    return probes;
}

/* A smaller distance costs no more, and at the usual k takes no more probes. The radii are found greedily: of many
 * tables for a k above 6 some cost more than the plan's own. */
static void test_smaller_distances_cost_no_more(void **state)
{
    for (size_t i = 0; i < NAMED_COUNT; i++) {
        for (uint32_t k = 1; k <= 6; k++) {
            const ss_plan plan = make_plan(named[i], k);
            for (size_t model = 3; model < MODEL_COUNT; model++) {
                const ss_query_plan own = make_query_plan(&plan, k, models[model], SSTORE_STRATEGY_PROBE);
                for (uint32_t distance = 0; distance < k; distance++) {
                    testing_doing("plan %s for %u, asked at %u, model %zu", named[i], k, distance, model);
                    ss_query_plan query = make_query_plan(&plan, distance, models[model], SSTORE_STRATEGY_PROBE);
                    assert_true(query.probe_cost <= own.probe_cost);
                    const double count = models[model].fingerprint_count, probes = count_probes(&plan, &query, count);
                    if (k == 3)
                        assert_true(probes <= count_probes(&plan, &own, count));
                    if (distance == 0)
                        assert_true(query.exact && probes == 1); /* one exact look-up finds an equal fingerprint */
                }
            }
        }
    }
    testing_done();
}

/* Tables over any bits, of which the first alone makes the plan complete. */
static void test_any_tables(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    for (uint32_t i = 0; i < 150; i++) {
        ss_plan plan = {.distance = (uint32_t)rng_below(&random, 5),
                        .table_count = (uint32_t)rng_between(&random, 1, 8)};
        for (uint32_t j = 0; j < plan.table_count; j++) {
            uint64_t mask = j == 0 ? ss_high_mask((uint32_t)rng_between(&random, 8, 64)) : rng_next(&random) | 1;
            plan.tables[j] = (ss_plan_table){.key_mask = mask, .prefix_bits = ss_popcount(mask)};
        }
        plan.tables[0].radius = (int32_t)plan.distance;
        check_query_plan(&plan, (uint32_t)rng_below(&random, 9), rng_below(&random, MODEL_COUNT), &random);
    }
    testing_done();
}

/*
 * Tables over a few bits each, of which the first alone makes the plan complete: at a larger distance the search for
 * uncovered patterns gives up. Then a scan is chosen.
 */
static void test_search_that_gives_up(void **state)
{
    rng random = rng_seeded(1); /* not every plan of this kind is hard */
    ss_plan plan = {.distance = 2, .table_count = 16};
    plan.tables[0] = (ss_plan_table){.key_mask = UINT64_MAX, .prefix_bits = 64, .radius = 2};
    for (uint32_t i = 1; i < plan.table_count; i++) {
        uint64_t mask = 0;
        for (uint32_t bit = 0; bit < 64; bit++)
            mask = mask << 1 | (rng_below(&random, 64) < 8);
        plan.tables[i] = (ss_plan_table){.key_mask = mask, .prefix_bits = ss_popcount(mask)};
    }
    const ss_cost_model model = {.fingerprint_count = 1e9, .block_count = 1e7, .io = SSTORE_IO_PREAD};
    const ss_query_plan query = make_query_plan(&plan, 12, model, SSTORE_STRATEGY_AUTO);
    if (!query.full_scan)
        check_complete(&plan, &query, &random);
}

/* A slow plan, as a malicious manifest may have: for any number of steps, the radii found are complete, or a scan is
 * chosen. */
static void test_steps_are_bounded(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    uint32_t probed = 0, scanned = 0;
    ss_plan plan = {.distance = 10, .table_count = SS_MAX_TABLES};
    for (uint32_t i = 0; i < SS_MAX_TABLES; i++) {
        const uint64_t mask = i == 0 ? ss_high_mask(40) : rng_next(&random) & (rng_next(&random) | rng_next(&random));
        plan.tables[i] = (ss_plan_table){.key_mask = mask,
                                         .prefix_bits = ss_popcount(mask),
                                         .radius = (int32_t)rng_below(&random, 11)};
    }
    plan.tables[1].radius = 10; /* so that it is complete */
    for (uint32_t distance = 3; distance < 24; distance += 4) {
        for (uint64_t given = 1; given <= SS_CALL_STEPS; given *= 8) {
            ss_steps left = {.left = given};
            ss_query_plan query;
            testing_doing("distance %u, %" PRIu64 " steps, seed %" PRIu64, distance, given, run_seed);
            ss_query_plan_init(&query, &plan, distance, &models[4], &left);
            for (uint32_t i = 0; !query.full_scan && i < PATTERNS; i++)
                assert_int_not_equal(ss_plan_first_cover(&plan, query.radii, rng_flip(&random, 0, distance)),
                                     plan.table_count);
            probed += !query.full_scan;
            scanned += query.full_scan;
        }
    }
    assert_true(scanned > 0);
    print_message("a slow plan: probed %u times, scanned %u times\n", probed, scanned);
    testing_done();
}

/* To find radii takes no more steps than some scans last, for any plan and distance. */
static void test_few_steps_for_few_fingerprints(void **state)
{
    static const char *const plans[] = {"16", "20", "10", "4", "5c1/5c1", "8c1/8c1"};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (uint32_t k = 1; k <= SSTORE_MAX_BUILD_DISTANCE; k += 5) {
            const ss_plan plan = make_plan(plans[i], k);
            for (uint32_t distance = 1; distance <= SSTORE_MAX_DISTANCE; distance++)
                for (double count = 1; count <= 1e6; count *= 10) {
                    const ss_cost_model model = {.fingerprint_count = count,
                                                 .block_count = ceil(count / 700),
                                                 .io = SSTORE_IO_MMAP};
                    testing_doing("plan %s for %u, asked at %u, %.0f fingerprints", plans[i], k, distance, count);
                    const ss_query_plan query = make_query_plan(&plan, distance, model, SSTORE_STRATEGY_AUTO);
                    assert_true((double)(SS_CALL_STEPS - steps.left) <= fmax(1024, query.full_scan_cost / 4));
                }
        }
    testing_done();
}

static void test_probe_counts(void **state)
{
    assert_true(ss_probe_count(16, SS_NO_PROBE) == 0);
    assert_true(ss_probe_count(16, 0) == 1);
    assert_true(ss_probe_count(16, 1) == 17);
    assert_true(ss_probe_count(32, 1) == 33);
    assert_true(ss_probe_count(64, 3) == 43745);
    assert_true(ss_probe_count(64, 4) == 679121);
    assert_true(ss_probe_count(5, 5) == 32);
    assert_true(ss_probe_count(5, 64) == 32);
}

/* A range has at most as many fingerprints as a group, if they are uniform, and one of a bit more would have more. */
static void test_range_bits(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < 10000; i++) {
        const uint32_t prefix_bits = (uint32_t)rng_between(&random, 1, 64);
        const double count = ldexp((double)rng_between(&random, 1 << 20, 2 << 20), (int)rng_below(&random, 40) - 20);
        const uint32_t bits = ss_range_bits(prefix_bits, count);
        testing_doing("%u bits, %g fingerprints, seed %" PRIu64, prefix_bits, count, run_seed);
        assert_true(bits <= prefix_bits);
        assert_true(bits == 0 || ldexp(count, (int)bits - (int)prefix_bits) <= 64);
        assert_true(bits == prefix_bits || ldexp(count, (int)bits + 1 - (int)prefix_bits) > 64);
    }
    assert_int_equal(ss_range_bits(20, 0), 20);
    const ss_plan_table table = {.prefix_bits = 24};
    assert_true(ss_table_probe_count(&table, SS_NO_PROBE, 1e6) == 0);
    assert_true(ss_table_probe_count(&table, 0, 1e6) == 1);
    assert_true(ss_table_probe_count(&table, 1, ldexp(1, 20)) == 15); /* of 14 bits, and the range of 2^10 prefixes */
    testing_done();
}

/* Probes of ranges that cover the whole table, at a distance at which most lower halves are near, decode all of it:
 * they take about as long as a full scan, though few fingerprints have a near prefix. */
static void test_ranges_are_decoded(void **state)
{
    const ss_cost_model model = {.fingerprint_count = 5e5, .block_count = 1000, .io = SSTORE_IO_MMAP};
    const ss_plan_table table = {.key_mask = UINT64_MAX, .prefix_bits = 64};
    const ss_plan whole = make_plan("64:16", 16);
    const ss_query_plan plan = make_query_plan(&whole, 16, model, SSTORE_STRATEGY_AUTO);
    const ss_table_cost cost = ss_table_cost_of(&table, 16, 16, &model, NULL);
    assert_true(cost.candidate_count < 1000);
    assert_true(cost.warm_ns > 0.7 * plan.full_scan_cost);
    assert_true(ss_table_cost_of(&table, 3, 3, &model, NULL).warm_ns < 0.1 * plan.full_scan_cost);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_every_distance_is_complete, testing_teardown),
        cmocka_unit_test(test_own_distance_keeps_own_radii),
        cmocka_unit_test_teardown(test_smaller_distances_cost_no_more, testing_teardown),
        cmocka_unit_test_teardown(test_any_tables, testing_teardown),
        cmocka_unit_test(test_few_radii_are_too_large), /* in the tests above */
        cmocka_unit_test(test_search_that_gives_up),
        cmocka_unit_test_teardown(test_steps_are_bounded, testing_teardown),
        cmocka_unit_test_teardown(test_few_steps_for_few_fingerprints, testing_teardown),
        cmocka_unit_test(test_probe_counts),
        cmocka_unit_test_teardown(test_range_bits, testing_teardown),
        cmocka_unit_test(test_ranges_are_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
