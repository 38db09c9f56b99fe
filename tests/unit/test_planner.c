/* The planner: its plans are complete, its estimates are monotonic and agree with what queries read, and its choices
 * are stable. */
#include "plan/planner.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/cost.h"
#include "support/scratch.h"
#include "support/use_store.h"

#define EXHAUSTIVE_DISTANCE 3
#define RANDOM_PATTERNS 2000
#define STORE_RECORDS 60000
#define EXPLAINED_QUERIES 300

static ss_planner_input make_input(double count, uint32_t distance)
{
    return (ss_planner_input){
        .store = {.record_count = count, .fingerprint_count = count, .has_ids = true, .block_bytes = 4096},
        .distance = distance};
}

/* The name of the plan that is chosen. */
static const char *choose(ss_planner_input input)
{
    static char name[SS_PLAN_NAME_CAPACITY];
    ss_planner planner;
    assert_true(ss_planner_init(&planner, &input));
    assert_true(planner.choice < planner.count);
    strcpy(name, planner.plans[planner.choice].name);
    ss_planner_free(&planner);
    return name;
}

/* ----- plans ----- */

static bool covered(const ss_plan *plan, uint64_t pattern)
{
    for (uint32_t i = 0; i < plan->table_count; i++)
        if ((int32_t)ss_popcount(pattern & plan->tables[i].key_mask) <= plan->tables[i].radius)
            return true;
    return false;
}

/* Every pattern of at most `bits` more bits from position `from` on. */
static void check_all_patterns(const ss_plan *plan, uint64_t pattern, uint32_t from, uint32_t bits)
{
    if (!covered(plan, pattern))
        fail_msg("pattern %016" PRIx64 " slips through", pattern);
    for (uint32_t bit = from; bits > 0 && bit < 64; bit++)
        check_all_patterns(plan, pattern | UINT64_C(1) << bit, bit + 1, bits - 1);
}

static void check_plan(const ss_planned *planned, uint32_t distance, rng *random)
{
    const ss_plan *plan = &planned->plan;
    const char *reason;
    testing_doing("plan %s for %u", planned->name, distance);
    assert_int_equal(plan->distance, distance);
    assert_true(ss_plan_valid(plan, NULL, &reason));
    if (distance <= EXHAUSTIVE_DISTANCE)
        check_all_patterns(plan, 0, 0, distance);
    for (uint32_t i = 0; i < RANDOM_PATTERNS; i++) {
        uint64_t pattern = rng_flip(random, 0, distance);
        if (!covered(plan, pattern))
            fail_msg("pattern %016" PRIx64 " slips through", pattern);
    }
}

static void test_plans_are_complete(void **state)
{
    for (uint32_t k = 0; k <= SSTORE_MAX_BUILD_DISTANCE; k++) {
        const ss_planner_input input = make_input(1e7, k);
        ss_planner planner;
        rng random = rng_seeded(run_seed + k);
        assert_true(ss_planner_init(&planner, &input));
        assert_true(planner.count >= 1 + 2 * k);
        for (size_t i = 0; i < planner.count; i++)
            check_plan(&planner.plans[i], k, &random);
        ss_planner_free(&planner);
    }
    testing_done();
}

/* ----- samples ----- */

static void test_sample_depends_on_the_set_alone(void **state)
{
    static uint64_t rooms[2][SS_SAMPLE_CAPACITY];
    enum { COUNT = 5 * SS_SAMPLE_CAPACITY / 2 };
    ss_sampler samplers[2];
    for (uint32_t i = 0; i < 2; i++) {
        ss_sampler_init(&samplers[i], rooms[i]);
        for (uint64_t j = 0; j < COUNT; j++)
            ss_sampler_add(&samplers[i], rng_mix(i == 0 ? j : COUNT - 1 - j));
        assert_true(ss_sampler_finish(&samplers[i]) == 1);
    }
    assert_true(samplers[0].count > SS_SAMPLE_CAPACITY / 3);
    assert_int_equal(samplers[0].count, samplers[1].count);
    assert_memory_equal(rooms[0], rooms[1], samplers[0].count * sizeof rooms[0][0]);
}

static void test_repeats_leave_the_sample(void **state)
{
    static uint64_t room[SS_SAMPLE_CAPACITY];
    ss_sampler sampler;
    ss_sampler_init(&sampler, room);
    for (uint64_t i = 0; i < 4000; i++)
        ss_sampler_add(&sampler, rng_mix(i % 1000));
    assert_true(ss_sampler_finish(&sampler) == 0.25);
    assert_int_equal(sampler.count, 1000);
    ss_sampler_init(&sampler, room);
    for (uint64_t i = 0; i < 4 * SS_SAMPLE_CAPACITY; i++) /* repeats of one fill any sample */
        ss_sampler_add(&sampler, 7);
    ss_sampler_finish(&sampler);
    assert_true(sampler.count <= 1);
    ss_sampler_init(&sampler, room);
    for (uint64_t i = 0; i < 16 * SS_SAMPLE_CAPACITY; i++) /* the most frequent fingerprint does not fill it */
        ss_sampler_add(&sampler, i % 5 == 0 ? 0 : rng_mix(i));
    ss_sampler_finish(&sampler);
    assert_true(sampler.count > SS_SAMPLE_CAPACITY / 4);
}

/* Half of the fingerprints under one prefix of 8 bits, the others anywhere. */
static void test_shares_of_crowded_prefixes(void **state)
{
    static uint64_t sample[20000];
    const size_t count = sizeof sample / sizeof *sample;
    double shares[2];
    rng random = rng_seeded(run_seed);
    ss_skew skew;
    for (size_t i = 0; i < count; i++)
        sample[i] = i % 2 == 0 ? rng_next(&random) >> 8 : rng_next(&random);
    assert_true(ss_skew_init(&skew, sample, count));
    ss_skew_measure(&skew, ss_high_mask(8), true, shares);
    assert_true(fabs(shares[0] - 0.25) < 0.02);
    assert_true(shares[1] >= ldexp(1, -8) && shares[1] < 0.03);
    ss_skew_measure(&skew, ss_low_mask(8), true, shares);
    assert_true(shares[0] < 1.1 * ldexp(1, -8) && shares[1] < 1.1 * ldexp(1, -8));
    ss_skew_free(&skew);
}

static void test_bits_of_uniform_fingerprints(void **state)
{
    /* Above the information limit, 64 - log2(n) + 1.44 bits, and below the whole fingerprint. */
    for (double count = 1000; count < 1e12; count *= 10) {
        double limit = 64 - log2(count) + 1.44;
        assert_true(ss_uniform_bits(count) > limit && ss_uniform_bits(count) < limit + 2);
    }
    for (double count = 4; count < 1e12; count *= 2)
        assert_true(ss_uniform_bits(2 * count) < ss_uniform_bits(count));
}

/* ----- estimates ----- */

static void check_growth(const ss_planned *small, const ss_planned *large)
{
    testing_doing("plan %s", small->name);
    assert_true(small->cost.total_bytes < large->cost.total_bytes);
    assert_true(small->cost.warm_ns <= large->cost.warm_ns);
    if (small->cost.is_full_scan || large->cost.is_full_scan)
        return;
    assert_true(small->cost.probe_count <= large->cost.probe_count);
    assert_true(small->cost.block_count <= large->cost.block_count);
    assert_true(small->cost.candidate_count <= large->cost.candidate_count);
}

static void test_estimates_grow_with_the_store(void **state)
{
    for (double count = 1000; count < 1e10; count *= 10) {
        for (uint32_t k = 0; k <= 6; k += 2) {
            ss_planner_input inputs[2] = {make_input(count, k), make_input(10 * count, k)};
            ss_planner small, large;
            assert_true(ss_planner_init(&small, &inputs[0]));
            assert_true(ss_planner_init(&large, &inputs[1]));
            for (size_t i = 0; i < small.count; i++)
                for (size_t j = 0; j < large.count; j++)
                    if (strcmp(small.plans[i].name, large.plans[j].name) == 0)
                        check_growth(&small.plans[i], &large.plans[j]);
            ss_planner_free(&small);
            ss_planner_free(&large);
        }
    }
    testing_done();
}

/* Of useful plans, the larger ones are faster, warm or cold. */
static void test_useful_plans_trade(void **state)
{
    for (uint32_t k = 0; k <= SSTORE_MAX_BUILD_DISTANCE; k++) {
        ss_planner_input input = make_input(3e7, k);
        ss_planner planner;
        const ss_planned *last = NULL;
        assert_true(ss_planner_init(&planner, &input));
        for (size_t i = 0; i < planner.count; i++) {
            const ss_planned *plan = &planner.plans[i];
            if (!plan->is_useful)
                continue;
            if (last != NULL) {
                assert_true(plan->cost.total_bytes > last->cost.total_bytes);
                assert_true(plan->cost.warm_ns < last->cost.warm_ns || plan->cost.cold_ns < last->cost.cold_ns);
            }
            last = plan;
        }
        assert_non_null(last);
        assert_true(planner.plans[planner.choice].is_useful);
        ss_planner_free(&planner);
    }
}

static void test_radii_only_add(void **state)
{
    ss_cost_model model = {.fingerprint_count = 1e8, .block_count = 1.3e5, .io = SSTORE_IO_PREAD};
    for (uint32_t bits = 1; bits <= 64; bits++) {
        ss_plan_table table = {.key_mask = ss_high_mask(bits), .prefix_bits = bits};
        ss_table_cost last = {0};
        for (int32_t radius = 0; radius <= 6; radius++) {
            ss_table_cost cost = ss_table_cost_of(&table, radius, 3, &model, NULL);
            assert_true(cost.probe_count >= last.probe_count && cost.block_count >= last.block_count &&
                        cost.candidate_count >= last.candidate_count && cost.warm_ns >= last.warm_ns);
            assert_true(cost.block_count <= model.block_count && cost.candidate_count <= model.fingerprint_count);
            last = cost;
        }
    }
}

/* ----- choices ----- */

static void test_choices_at_3(void **state)
{
    static const double fours[] = {0, 1, 1000, 1e6, 1e7};
    for (size_t i = 0; i < sizeof fours / sizeof *fours; i++)
        assert_string_equal(choose(make_input(fours[i], 3)), "16:0,16:0,16:0,16:0");
    assert_string_equal(choose(make_input(1e8, 3)), "24:1,20:0,20:0");
    assert_string_equal(choose(make_input(1e9, 3)), "32:1,32:1");
}

/* A small store takes the plan that is best for uniform data, though it looks at no sample and at fewer plans. */
static void test_choices_of_small_stores(void **state)
{
    static uint64_t crowded[SS_SAMPLE_CAPACITY];
    for (uint32_t k = 0; k <= SSTORE_MAX_BUILD_DISTANCE; k++)
        for (double count = 1; count < SS_WEIGHED_MIN; count *= 3)
            for (uint32_t i = 0; i < 8; i++) {
                ss_planner_input input = make_input(count, k);
                sstore_error error;
                ss_sampler sampler;
                ss_plan plan, wanted;
                input.store.has_ids = i % 2 == 0;
                input.store.block_bytes = i / 2 % 2 == 0 ? 4096 : 65536;
                input.store.other_bytes = i / 4 == 0 ? 0 : 24 * count;
                ss_sampler_init(&sampler, crowded);
                for (uint64_t j = 0; j < 4000; j++)
                    ss_sampler_add(&sampler, j);
                testing_doing("%.0f fingerprints, k = %u, form %u", count, k, i);
                assert_ok(ss_choose_plan(&input.store, k, &sampler, &plan, &error), &error);
                assert_ok(ss_plan_parse(choose(input), k, &wanted, &error), &error);
                assert_true(ss_plan_same_tables(&plan, &wanted));
            }
    testing_done();
}

static void test_choice_by_objective(void **state)
{
    for (uint32_t k = 0; k <= SSTORE_MAX_BUILD_DISTANCE; k++) {
        ss_plan_cost figures[3];
        for (int objective = 0; objective < 3; objective++) {
            ss_planner_input input = make_input(1e8, k);
            ss_planner planner;
            input.objective = (sstore_objective)objective;
            assert_true(ss_planner_init(&planner, &input));
            figures[objective] = planner.plans[planner.choice].cost;
            ss_planner_free(&planner);
        }
        assert_true(figures[SSTORE_OBJECTIVE_SIZE].total_bytes <= figures[SSTORE_OBJECTIVE_BALANCED].total_bytes);
        assert_true(figures[SSTORE_OBJECTIVE_LATENCY].warm_ns <= figures[SSTORE_OBJECTIVE_BALANCED].warm_ns);
    }
}

static void test_a_limit_is_kept(void **state)
{
    for (uint64_t limit = 100000000; limit < 8000000000; limit += limit / 4) {
        ss_planner_input input = make_input(1e8, 3);
        ss_planner planner;
        input.max_bytes = limit;
        input.objective = SSTORE_OBJECTIVE_LATENCY;
        assert_true(ss_planner_init(&planner, &input));
        if (planner.choice < planner.count)
            assert_true(planner.plans[planner.choice].cost.total_bytes <= (double)limit);
        else
            assert_true(planner.plans[0].cost.total_bytes > (double)limit);
        ss_planner_free(&planner);
    }
}

/* ----- measured reads of queries ----- */

typedef struct tally {
    double fingerprint_count, expected_probes, expected_blocks, expected_candidates, probes, blocks, candidates;
    uint64_t matches;
} tally;

static int add_table(void *context, const sstore_table_explanation *table)
{
    tally *sum = context;
    assert_false(table->is_full_scan);
    const ss_plan_table shape = {.prefix_bits = table->prefix_bits};
    sum->expected_probes += ss_table_probe_count(&shape, table->radius, sum->fingerprint_count);
    sum->expected_blocks += table->expected_block_count;
    sum->expected_candidates += table->expected_candidate_count;
    sum->probes += (double)table->probe_count;
    sum->blocks += (double)table->block_count;
    sum->candidates += (double)table->candidate_count;
    sum->matches += table->hit_count;
    return 0;
}

static int count_match(void *context, const sstore_match *match)
{
    ++*(uint64_t *)context;
    return 0;
}

static void assert_near(const char *what, double got, double expected, double factor, double slack)
{
    if (got > expected * factor + slack || got * factor + slack < expected)
        fail_msg("%s: %.1f, expected %.1f", what, got, expected);
}

static void check_explained(const char *path, const char *plan, const data_set *data)
{
    sstore *store = store_must_open(path, SSTORE_IO_MEMORY, SSTORE_STRATEGY_PROBE);
    sstore_cursor *cursor = store_must_cursor(store);
    sstore_error error = {.status = SSTORE_OK};
    tally sum = {.fingerprint_count = (double)data->count};
    uint64_t found = 0;
    testing_doing("explaining plan %s", plan);
    for (size_t i = 0; i < EXPLAINED_QUERIES; i++) {
        uint64_t query = data->fingerprints[i * (data->count / EXPLAINED_QUERIES)];
        assert_ok(sstore_explain(cursor, &query, 3, add_table, &sum, &error), &error);
        assert_ok(sstore_query(cursor, &query, 3, count_match, &found, &error), &error);
    }
    assert_true(sum.probes == sum.expected_probes);
    assert_int_equal(sum.matches, found);
    assert_near("blocks", sum.blocks, sum.expected_blocks, 1.6, 0);
    /* Each query meets at least itself in each table, which the average group does not count. */
    assert_near("candidates", sum.candidates, sum.expected_candidates, 1.3, 1.2 * EXPLAINED_QUERIES * SS_MAX_TABLES);
    sstore_cursor_free(cursor);
    sstore_close(store);
}

static void test_estimates_against_stores(void **state)
{
    /* Of plans with more flips than these a block is read again when probes of other blocks come between. */
    static const char *const plans[] = {"20", "16", "10", "4", "3", "2", "24:1,24:1"};
    rng random = rng_seeded(run_seed);
    data_set data;
    data_make(&random, DATA_UNIFORM, DATA_NO_IDS, STORE_RECORDS, false, &data);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
        const char *path = scratch_path("explained");
        options.plan = plans[i];
        options.block_bytes = 512;
        store_must_build(path, &options, &data);
        check_explained(path, plans[i], &data);
        scratch_remove(path);
    }
    data_free(&data);
    testing_done();
}

/* A store's size is near the estimate, within a few percent. */
static void test_sizes_against_stores(void **state)
{
    static const char *const plans[] = {"10", "4", "2"};
    rng random = rng_seeded(run_seed);
    data_set data;
    data_make(&random, DATA_UNIFORM, DATA_ASSIGNED, STORE_RECORDS, false, &data);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
        sstore_statistics facts = {.struct_size = sizeof facts};
        sstore_error error = {.status = SSTORE_OK};
        ss_planner_input input = make_input(STORE_RECORDS, 3);
        const char *path = scratch_path("sized");
        ss_plan plan;
        ss_plan_cost figures;
        options.plan = plans[i];
        store_must_build(path, &options, &data);
        sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
        assert_ok(sstore_stat(store, &facts, &error), &error);
        assert_ok(ss_plan_parse(plans[i], 3, &plan, &error), &error);
        ss_plan_cost_init(&figures, &plan, &input.store);
        testing_doing("plan %s: %.0f bytes expected, %" PRIu64 " found", plans[i], figures.total_bytes,
                      facts.total_bytes);
        assert_near("bytes", (double)facts.total_bytes, figures.total_bytes, 1.04, 0);
        sstore_close(store);
        scratch_remove(path);
    }
    data_free(&data);
    testing_done();
}

/* What the planner computes once for all plans is what each estimate would compute. */
static void test_estimates_share_what_they_have_in_common(void **state)
{
    static const double counts[] = {0, 20, 8000, 3e6};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const ss_planner_input input = make_input(counts[i], 9);
        ss_planner planner;
        assert_true(ss_planner_init(&planner, &input));
        for (size_t j = 0; j < planner.count; j++) {
            ss_plan_cost alone;
            testing_doing("%.0f records, plan %s", counts[i], planner.plans[j].name);
            ss_plan_cost_init(&alone, &planner.plans[j].plan, &input.store);
            const ss_plan_cost *shared = &planner.plans[j].cost;
            assert_true(alone.total_bytes == shared->total_bytes && alone.warm_ns == shared->warm_ns &&
                        alone.cold_ns == shared->cold_ns);
        }
        ss_planner_free(&planner);
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plans_are_complete, testing_teardown),
        cmocka_unit_test(test_sample_depends_on_the_set_alone),
        cmocka_unit_test(test_repeats_leave_the_sample),
        cmocka_unit_test(test_shares_of_crowded_prefixes),
        cmocka_unit_test(test_bits_of_uniform_fingerprints),
        cmocka_unit_test_teardown(test_estimates_grow_with_the_store, testing_teardown),
        cmocka_unit_test(test_useful_plans_trade),
        cmocka_unit_test(test_radii_only_add),
        cmocka_unit_test(test_choices_at_3),
        cmocka_unit_test_teardown(test_choices_of_small_stores, testing_teardown),
        cmocka_unit_test(test_choice_by_objective),
        cmocka_unit_test(test_a_limit_is_kept),
        cmocka_unit_test_teardown(test_estimates_against_stores, testing_teardown),
        cmocka_unit_test_teardown(test_sizes_against_stores, testing_teardown),
        cmocka_unit_test_teardown(test_estimates_share_what_they_have_in_common, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
