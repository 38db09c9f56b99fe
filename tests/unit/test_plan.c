/* Plans: their names, their tables, and that none is taken for complete which is not. */
#include "plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/random.h"
#include "support/testing.h"

#define K_MOST 8
#define PATTERNS_TO_3 43745 /* error patterns of at most 3 of 64 bits */
#define PATTERNS_TO_4 679121
#define RANDOM_PATTERNS 40000

static const char *const named[] = {"20", "16", "10", "4", "3", "2", "1"};
#define NAMED_COUNT (sizeof named / sizeof *named)

/* ----- what the tests share ----- */

static void must_parse(const char *name, uint32_t distance, ss_plan *plan)
{
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_plan_parse(name, distance, plan, &error), &error);
    assert_int_equal(plan->distance, distance);
}

static void get_radii(const ss_plan *plan, int32_t radii[SS_MAX_TABLES])
{
    for (uint32_t i = 0; i < plan->table_count; i++)
        radii[i] = plan->tables[i].radius;
}

/* By the definition. */
static bool covered(const ss_plan *plan, const int32_t *radii, uint64_t pattern)
{
    for (uint32_t i = 0; i < plan->table_count; i++)
        if ((int32_t)ss_popcount(pattern & plan->tables[i].key_mask) <= radii[i])
            return true;
    return false;
}

/* The next larger number with as many ones; 0 after the last (Gosper, in HAKMEM item 175). */
static uint64_t next_pattern(uint64_t x)
{
    const uint64_t lowest = x & -x, ripple = x + lowest;
    return ripple == 0 || x == 0 ? 0 : ripple | ((x ^ ripple) >> 2) / lowest;
}

/* Look at every pattern of at most `bits` bits. Returns their number. */
static uint64_t check_all_patterns(const ss_plan *plan, const int32_t *radii, uint32_t bits)
{
    uint64_t count = 0;
    for (uint32_t ones = 0; ones <= bits; ones++) {
        uint64_t pattern = ss_low_mask(ones);
        do {
            if (!covered(plan, radii, pattern))
                fail_msg("pattern %016" PRIx64 " slips through", pattern);
            count++;
            pattern = next_pattern(pattern);
        } while (pattern != 0);
    }
    return count;
}

static void check_random_patterns(const ss_plan *plan, const int32_t *radii, uint32_t bits, rng *random)
{
    for (uint32_t i = 0; i < RANDOM_PATTERNS; i++) {
        uint64_t pattern = rng_flip(random, 0, bits);
        if (!covered(plan, radii, pattern))
            fail_msg("pattern %016" PRIx64 " slips through", pattern);
    }
}

/* ----- the plans in use ----- */

static void test_named_plans_are_complete(void **state)
{
    rng random = rng_seeded(run_seed);
    for (size_t i = 0; i < NAMED_COUNT; i++) {
        for (uint32_t k = 0; k <= K_MOST; k++) {
            ss_plan plan;
            int32_t radii[SS_MAX_TABLES];
            const char *reason = NULL;
            testing_doing("plan %s at %u", named[i], k);
            must_parse(named[i], k, &plan);
            get_radii(&plan, radii);
            const uint64_t looked_at = check_all_patterns(&plan, radii, k < 4 ? k : 4);
            if (k >= 3)
                assert_int_equal(looked_at, k == 3 ? PATTERNS_TO_3 : PATTERNS_TO_4);
            check_random_patterns(&plan, radii, k, &random);
            assert_true(ss_plan_valid(&plan, NULL, &reason));
            assert_int_equal(plan.tables[0].key_mask, ss_high_mask(plan.tables[0].prefix_bits));
        }
    }
    testing_done();
}

/* Tables, widths of prefixes and radii as design.md's table has them. */
static void test_named_plans_at_3(void **state)
{
    static const struct {
        const char *name;
        uint32_t table_count, least_bits, most_bits;
        int32_t first_radius, other_radius;
    } wanted[] = {{"20", 20, 31, 33, 0, 0}, {"16", 16, 28, 28, 0, 0}, {"10", 10, 25, 26, 0, 0}, {"4", 4, 16, 16, 0, 0},
                  {"3", 3, 20, 24, 1, 0},   {"2", 2, 32, 32, 1, 1},   {"1", 1, 64, 64, 3, 3}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        ss_plan plan;
        uint32_t least = 64, most = 0;
        testing_doing("plan %s", wanted[i].name);
        must_parse(wanted[i].name, 3, &plan);
        assert_int_equal(plan.table_count, wanted[i].table_count);
        for (uint32_t j = 0; j < plan.table_count; j++) {
            const ss_plan_table *table = &plan.tables[j];
            assert_int_equal(table->prefix_bits, ss_popcount(table->key_mask));
            assert_int_equal(table->radius, j == 0 ? wanted[i].first_radius : wanted[i].other_radius);
            least = table->prefix_bits < least ? table->prefix_bits : least;
            most = table->prefix_bits > most ? table->prefix_bits : most;
        }
        assert_int_equal(least, wanted[i].least_bits);
        assert_int_equal(most, wanted[i].most_bits);
    }
    testing_done();
}

static void test_groups_of_24_20_20(void **state)
{
    ss_plan plan;
    must_parse("3", 3, &plan);
    assert_int_equal(plan.tables[0].key_mask, UINT64_C(0xffffff0000000000));
    assert_int_equal(plan.tables[1].key_mask, UINT64_C(0x000000fffff00000));
    assert_int_equal(plan.tables[2].key_mask, UINT64_C(0x00000000000fffff));
}

/* Disjoint groups take all of k + 1 flips and no more: one fewer anywhere and a pair slips through. */
static void test_disjoint_radii_add_up(void **state)
{
    static const char *const names[] = {"4", "3", "2", "1", "5c1", "7c1", "8c1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (uint32_t k = 0; k <= SSTORE_MAX_BUILD_DISTANCE; k++) {
            ss_plan plan;
            int32_t radii[SS_MAX_TABLES];
            uint64_t pattern;
            int32_t sum = 0;
            testing_doing("plan %s at %u", names[i], k);
            must_parse(names[i], k, &plan);
            get_radii(&plan, radii);
            for (uint32_t j = 0; j < plan.table_count; j++)
                sum += radii[j] + 1;
            if (k + 1 < plan.table_count) { /* a plan probes every table */
                assert_int_equal(sum, plan.table_count);
                continue;
            }
            assert_int_equal(sum, k + 1);
            for (uint32_t j = 0; j < plan.table_count; j++) {
                radii[j]--;
                assert_true(ss_plan_find_uncovered(&plan, radii, k, NULL, &pattern));
                assert_false(covered(&plan, radii, pattern));
                radii[j]++;
            }
        }
    }
    testing_done();
}

/* Of b groups some c hold at most c * floor(k / b) + max(0, c - b + (k mod b)) of k flips, and it can be as many. */
static void test_choose_radius_follows_the_formula(void **state)
{
    for (uint32_t b = 1; b <= 11; b++) {
        for (uint32_t c = 1; c <= b; c++) {
            char name[16];
            ss_plan plan;
            snprintf(name, sizeof name, "%uc%u", b, c);
            if (ss_plan_parse(name, 0, &plan, NULL) != SSTORE_OK)
                continue; /* more than 64 tables */
            for (uint32_t k = 0; k <= K_MOST; k++) {
                int32_t radii[SS_MAX_TABLES], largest = 0;
                uint64_t pattern;
                const int32_t spread = (int32_t)c - (int32_t)b + (int32_t)(k % b);
                const int32_t formula = (int32_t)(c * (k / b)) + (spread > 0 ? spread : 0);
                testing_doing("%s at %u", name, k);
                must_parse(name, k, &plan);
                for (uint32_t i = 0; i < plan.table_count; i++) {
                    largest = plan.tables[i].radius > largest ? plan.tables[i].radius : largest;
                    radii[i] = formula;
                }
                assert_int_equal(largest, formula);
                assert_false(ss_plan_find_uncovered(&plan, radii, k, NULL, &pattern));
                for (uint32_t i = 0; i < plan.table_count; i++)
                    radii[i] = formula - 1;
                assert_true(ss_plan_find_uncovered(&plan, radii, k, NULL, &pattern));
                assert_false(covered(&plan, radii, pattern));
                assert_true(ss_popcount(pattern) <= k);
            }
        }
    }
    testing_done();
}

/* No radius of a plan is larger than it need be. */
static void test_radii_are_minimal(void **state)
{
    static const char *const names[] = {"20", "16", "10", "4", "3", "2", "1", "6c2", "5c4", "4c2/4c1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (uint32_t k = 0; k <= K_MOST; k++) {
            ss_plan plan;
            int32_t radii[SS_MAX_TABLES];
            uint64_t pattern;
            testing_doing("plan %s at %u", names[i], k);
            must_parse(names[i], k, &plan);
            get_radii(&plan, radii);
            for (uint32_t j = 0; j < plan.table_count; j++) {
                if (radii[j] == 0)
                    continue;
                radii[j]--;
                assert_true(ss_plan_find_uncovered(&plan, radii, k, NULL, &pattern));
                radii[j]++;
            }
        }
    }
    testing_done();
}

/* ----- the search for an uncovered pattern ----- */

/* Any tables over a few bits, so that all patterns of these can be looked at. */
static void make_small_plan(rng *random, ss_plan *plan, int32_t radii[SS_MAX_TABLES], uint64_t *bits_out)
{
    const uint64_t bits = rng_flip(random, 0, (uint32_t)rng_between(random, 1, 12));
    *plan = (ss_plan){.table_count = (uint32_t)rng_between(random, 1, 7)};
    *bits_out = bits;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        uint64_t mask = bits & rng_next(random);
        mask = mask == 0 || rng_one_in(random, 16) ? bits : mask;
        plan->tables[i] = (ss_plan_table){.key_mask = mask, .prefix_bits = ss_popcount(mask)};
        radii[i] = rng_one_in(random, 8) ? SS_NO_PROBE : (int32_t)rng_below(random, 4);
    }
}

/* Whether some pattern of at most `distance` of the bits is uncovered: all subsets of the bits. */
static bool some_uncovered(const ss_plan *plan, const int32_t *radii, uint64_t bits, uint32_t distance)
{
    uint64_t pattern = 0;
    do {
        if (ss_popcount(pattern) <= distance && !covered(plan, radii, pattern))
            return true;
        pattern = (pattern - bits) & bits;
    } while (pattern != 0);
    return false;
}

static void test_search_equals_brute_force(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    uint32_t found = 0;
    const uint32_t trials = 6000;
    for (uint32_t i = 0; i < trials; i++) {
        ss_plan plan;
        int32_t radii[SS_MAX_TABLES];
        uint64_t bits, pattern = ~UINT64_C(0);
        make_small_plan(&random, &plan, radii, &bits);
        const uint32_t distance = (uint32_t)rng_below(&random, 9);
        testing_doing("small plan %u, seed %" PRIu64 ": %u tables at %u", i, run_seed + 1, plan.table_count, distance);
        const bool uncovered = ss_plan_find_uncovered(&plan, radii, distance, NULL, &pattern);
        assert_int_equal(uncovered, some_uncovered(&plan, radii, bits, distance));
        if (!uncovered)
            continue;
        found++;
        assert_false(covered(&plan, radii, pattern));
        assert_true(ss_popcount(pattern) <= distance);
        assert_int_equal(ss_plan_first_cover(&plan, radii, pattern), plan.table_count);
    }
    assert_in_range(found, trials / 10, trials - trials / 10); /* both answers were tested */
    testing_done();
}

static void test_first_cover_is_the_first(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    for (uint32_t i = 0; i < 3000; i++) {
        ss_plan plan;
        int32_t radii[SS_MAX_TABLES];
        uint64_t bits;
        make_small_plan(&random, &plan, radii, &bits);
        const uint64_t pattern = rng_next(&random) & rng_next(&random);
        const uint32_t first = ss_plan_first_cover(&plan, radii, pattern);
        ss_plan before = plan, one = {.table_count = 1};
        before.table_count = first;
        assert_false(covered(&before, radii, pattern));
        if (first == plan.table_count)
            continue;
        one.tables[0] = plan.tables[first];
        assert_true(covered(&one, &radii[first], pattern));
    }
}

/*
 * A plan made to be slow: 64 tables over random bits, at the largest distance. The search has to give up at some time;
 * what it says must be true all the same. No time is asserted, but it shows if it takes long.
 */
static void test_search_ends(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    ss_plan plan = {.distance = SSTORE_MAX_BUILD_DISTANCE, .table_count = SS_MAX_TABLES};
    int32_t radii[SS_MAX_TABLES];
    for (uint32_t i = 0; i < SS_MAX_TABLES; i++) {
        const uint64_t mask = rng_next(&random) & rng_next(&random);
        plan.tables[i] = (ss_plan_table){.key_mask = mask, .prefix_bits = ss_popcount(mask), .radius = 5};
        radii[i] = 5;
    }
    uint64_t pattern;
    if (ss_plan_find_uncovered(&plan, radii, plan.distance, NULL, &pattern) && pattern != 0) {
        assert_false(covered(&plan, radii, pattern));
        assert_true(ss_popcount(pattern) <= plan.distance);
    }
}

/* Searches that share a number of steps take no more of them, and with none left prove nothing. */
static void test_steps_are_shared(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    for (uint32_t i = 0; i < 400; i++) {
        ss_plan plan;
        int32_t radii[SS_MAX_TABLES];
        uint64_t bits, pattern, again;
        make_small_plan(&random, &plan, radii, &bits);
        const uint32_t distance = (uint32_t)rng_below(&random, 9);
        ss_steps steps = {.left = 1u << 16};
        const bool uncovered = ss_plan_find_uncovered(&plan, radii, distance, &steps, &pattern);
        const uint32_t taken = (uint32_t)((1u << 16) - steps.left);
        testing_doing("small plan %u, seed %" PRIu64 ": %u steps", i, run_seed + 4, taken);
        for (uint32_t given = taken; given < taken + 2; given++) {
            steps.left = given;
            const bool found = ss_plan_find_uncovered(&plan, radii, distance, &steps, &again);
            assert_true(steps.left <= given && (found == uncovered || steps.left == 0));
        }
        steps.left = 0;
        assert_true(ss_plan_find_uncovered(&plan, radii, distance, &steps, &again) || taken == 0);
        assert_int_equal(steps.left, 0);
    }
    testing_done();
}

/* ----- names ----- */

static void test_bad_names_are_refused(void **state)
{
    /* clang-format off */
    static const char *const names[] = {
        "", " ", ",", ":", "c", "/", "0", "-1", "+3", "4 ", " 4", "65", "999", "0004", "four", "auto",
        "5c", "c2", "0c0", "5c0", "5c6", "0c1", "65c1", "5C2", "5c2 ", " 5c2", "5c2x", "5cc2", "5c-2", "5.0c2",
        "8c4", "32c16", "12c2", "32c1/3c1", "9c2/2c1", /* more than 64 tables */
        "5c2/", "/5c2", "5c2//4c1", "4c1/4c1/4c1", "5c2,4c1", "4c1/", "4c1/0c1", "4c1/c",
        "24:", ":1", "24::1", "24:1,", ",24:1", "24:1,,20:0", "24:1;20:0", "24:1 ,20:0", "24:1,20:0,20:0 ", "24:x",
        "0:0", "65:3", "64:3,1:0", "40:3,40:0", "100:1", "1000:1", "24:-1", "24:25,40:1", "24:0001", "64:65",
        "24:1,20,20:0", "24,20:0,20:0", /* radii for all or for none */
        "ffff:0", "fffffffffffffff:3", "fffffffffffffffff:3", "0000000000000000:0", "ffffffffffffffgf:3",
        "0xffffffffffffffff:3", "ff00000000000000:9", "ffffffffffffffff:3,ffffffffffffffff",
        /* a number that is not one of the well-known plans */
        "8", "7", "5", "30", "64", "04", "0", "100", "1000000000000000",
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ss_plan plan;
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("the name '%s'", names[i]);
        assert_status(ss_plan_parse(names[i], 3, &plan, &error), SSTORE_ERROR_ARGUMENT, &error);
        assert_int_equal(ss_plan_parse(names[i], 3, &plan, NULL), SSTORE_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "say 20, 16, 10, 4, 3, 2 or 1 "));
        assert_non_null(strstr(error.message, "24:1,20:0,20:0"));
    }
    testing_done();
}

/* As many tables as there can be, and one more. */
static void test_most_tables(void **state)
{
    char name[SS_MAX_TABLES * 24];
    size_t length = 0;
    for (uint32_t i = 0; i <= SS_MAX_TABLES; i++) {
        ss_plan plan;
        length += (size_t)snprintf(name + length, sizeof name - length, "%sf000000000000000:3", i == 0 ? "" : ",");
        if (i < SS_MAX_TABLES) {
            must_parse(name, 3, &plan);
            assert_int_equal(plan.table_count, i + 1);
        } else {
            assert_status(ss_plan_parse(name, 3, &plan, NULL), SSTORE_ERROR_ARGUMENT, NULL);
        }
    }
}

/* An incomplete plan is refused with a pattern that it misses indeed. */
static void test_incomplete_plans_are_refused(void **state)
{
    static const struct {
        const char *name, *tables; /* the same tables, with radii that are complete */
        uint32_t distance;
    } cases[] = {
        {"64:2", "64:3", 3},
        {"16:0,16:0,16:0", "16:1,16:1,16:1", 3},
        {"24:0,20:0,20:0", "24:3,20:3,20:3", 3},
        {"32:1,32:0", "32:3,32:3", 3},
        {"16:3,16:3,16:3,16:3", "16:16,16:16,16:16,16:16", 16},
        {"ffff000000000000:0,0000ffff00000000:0", "ffff000000000000:3,0000ffff00000000:3", 2},
        {"ffffffff00000000:1,ffffffff00000000:1", "ffffffff00000000:9,ffffffff00000000:9", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_plan plan, tables;
        int32_t radii[SS_MAX_TABLES];
        sstore_error error = {.status = SSTORE_OK};
        uint64_t pattern = 0;
        testing_doing("the plan '%s' at %u", cases[i].name, cases[i].distance);
        assert_status(ss_plan_parse(cases[i].name, cases[i].distance, &plan, &error), SSTORE_ERROR_ARGUMENT, &error);
        const char *told = strstr(error.message, "bits ");
        assert_non_null(told);
        assert_int_equal(sscanf(told, "bits %16" SCNx64, &pattern), 1);
        assert_in_range(ss_popcount(pattern), 1, cases[i].distance);
        must_parse(cases[i].tables, cases[i].distance, &tables);
        for (uint32_t j = 0; j < tables.table_count; j++) /* the radii of the plan that was refused */
            radii[j] = plan.tables[j].radius;
        assert_int_equal(plan.table_count, tables.table_count);
        assert_false(covered(&tables, radii, pattern));
    }
    testing_done();
}

static void test_first_table_must_lead(void **state)
{
    ss_plan plan;
    sstore_error error = {.status = SSTORE_OK};
    assert_status(ss_plan_parse("00000000ffffffff:3", 3, &plan, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(ss_plan_parse("7fffffffffffffff:3", 3, &plan, &error), SSTORE_ERROR_ARGUMENT, &error);
    must_parse("fffffffffffffffe:3", 3, &plan);
    must_parse("FFFFFFFF00000000:1,00000000FfFfFfFf:1", 3, &plan);
    assert_int_equal(plan.tables[1].key_mask, UINT64_C(0x00000000ffffffff));
}

/* ----- writing names ----- */

static void check_same(const ss_plan *a, const ss_plan *b)
{
    assert_int_equal(a->distance, b->distance);
    assert_int_equal(a->table_count, b->table_count);
    for (uint32_t i = 0; i < a->table_count; i++) {
        assert_int_equal(a->tables[i].key_mask, b->tables[i].key_mask);
        assert_int_equal(a->tables[i].prefix_bits, b->tables[i].prefix_bits);
        assert_int_equal(a->tables[i].radius, b->tables[i].radius);
    }
}

/* What is written is read again as the same plan. */
static void check_format(const ss_plan *plan)
{
    char name[SS_MAX_TABLES * 24];
    ss_plan again;
    const size_t length = ss_plan_format(plan, name, sizeof name);
    assert_true(length < sizeof name);
    assert_int_equal(strlen(name), length);
    must_parse(name, plan->distance, &again);
    check_same(plan, &again);
}

/* Too small a buffer gets the begin, and the whole length is told. */
static void check_cut_format(const ss_plan *plan)
{
    char name[SS_MAX_TABLES * 24], part[40];
    const size_t length = ss_plan_format(plan, name, sizeof name);
    assert_int_equal(ss_plan_format(plan, NULL, 0), length);
    for (size_t size = 1; size < sizeof part; size++) {
        memset(part, 'x', sizeof part);
        assert_int_equal(ss_plan_format(plan, part, size), length);
        const size_t fits = length < size ? length : size - 1;
        assert_int_equal(strlen(part), fits);
        assert_memory_equal(part, name, fits);
        assert_int_equal(part[size], 'x');
    }
}

static void test_format_and_parse_agree(void **state)
{
    static const char *const names[] = {
        /* clang-format off */
        "20", "16", "10", "4", "3", "2", "1", "6c2", "5c3", "7c3", "3c1", "5c5", "4c2/4c1", "5:0,6:1,7:0,8:0", "64:16",
        "1:1", "ffff000000000000:3,00ff00ff00ff00ff:1",
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ss_plan plan;
        testing_doing("the plan '%s'", names[i]);
        must_parse(names[i], 3, &plan);
        check_format(&plan);
        check_cut_format(&plan);
    }
    testing_done();
}

static void test_format_is_short(void **state)
{
    static const char *const pairs[][2] = {
        {"20", "6c3"},           {"16", "4c1/4c1"},
        {"10", "5c2"},           {"4", "16:0,16:0,16:0,16:0"},
        {"3", "24:1,20:0,20:0"}, {"2", "32:1,32:1"},
        {"1", "64:3"},           {"4c1", "16:0,16:0,16:0,16:0"},
        {"5c2", "5c2"},          {"ffff000000000000:3,000000000000ffff:3", "ffff000000000000:3,000000000000ffff:3"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ss_plan plan;
        char name[128];
        must_parse(pairs[i][0], 3, &plan);
        ss_plan_format(&plan, name, sizeof name);
        assert_string_equal(name, pairs[i][1]);
    }
}

static void test_random_tables_are_written_and_read(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    for (uint32_t i = 0; i < 400; i++) {
        ss_plan plan = {.distance = (uint32_t)rng_below(&random, 4),
                        .table_count = (uint32_t)rng_between(&random, 1, SS_MAX_TABLES)};
        for (uint32_t j = 0; j < plan.table_count; j++) {
            uint64_t mask = j == 0 ? ss_high_mask((uint32_t)rng_between(&random, 1, 64)) : rng_next(&random) | 1;
            plan.tables[j] = (ss_plan_table){.key_mask = mask, .prefix_bits = ss_popcount(mask)};
            /* Table 0 alone is complete, whatever the others are. */
            uint32_t radius = j == 0 ? plan.distance : (uint32_t)rng_below(&random, 3);
            plan.tables[j].radius = (int32_t)(radius < plan.tables[j].prefix_bits ? radius
                                                                                  : plan.tables[j].prefix_bits);
        }
        testing_doing("random tables %u, seed %" PRIu64, i, run_seed + 4);
        check_format(&plan);
    }
    testing_done();
}

/* ----- validity ----- */

static bool valid(const ss_plan *plan)
{
    const char *reason = NULL;
    const bool is_valid = ss_plan_valid(plan, NULL, &reason);
    assert_true(is_valid || (reason != NULL && *reason != '\0'));
    return is_valid;
}

static void test_invalid_plans(void **state)
{
    ss_plan good, plan;
    must_parse("3", 3, &good);
    assert_true(valid(&good));
    plan = good;
    plan.table_count = 0;
    assert_false(valid(&plan));
    plan.table_count = SS_MAX_TABLES + 1;
    assert_false(valid(&plan));
    plan.table_count = UINT32_MAX;
    assert_false(valid(&plan));
    for (uint32_t i = 0; i < good.table_count; i++) {
        plan = good;
        plan.tables[i].radius = SS_NO_PROBE;
        assert_false(valid(&plan));
        plan.tables[i].radius = (int32_t)plan.tables[i].prefix_bits + 1;
        assert_false(valid(&plan));
        plan.tables[i].radius = INT32_MIN;
        assert_false(valid(&plan));
        plan = good;
        plan.tables[i].prefix_bits++;
        assert_false(valid(&plan));
        plan = good;
        plan.tables[i].key_mask = 0;
        assert_false(valid(&plan));
        plan.tables[i].prefix_bits = 0;
        assert_false(valid(&plan));
    }
    plan = good;
    plan.tables[0].radius = 0; /* incomplete */
    assert_false(valid(&plan));
    plan = good;
    plan.distance = 4;
    assert_false(valid(&plan));
    plan = good;
    plan.tables[0] = good.tables[1];
    plan.tables[1] = good.tables[0];
    assert_false(valid(&plan)); /* complete, but table 0 would be permuted */
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_named_plans_are_complete, testing_teardown),
        cmocka_unit_test_teardown(test_named_plans_at_3, testing_teardown),
        cmocka_unit_test(test_groups_of_24_20_20),
        cmocka_unit_test_teardown(test_disjoint_radii_add_up, testing_teardown),
        cmocka_unit_test_teardown(test_choose_radius_follows_the_formula, testing_teardown),
        cmocka_unit_test_teardown(test_radii_are_minimal, testing_teardown),
        cmocka_unit_test_teardown(test_search_equals_brute_force, testing_teardown),
        cmocka_unit_test(test_first_cover_is_the_first),
        cmocka_unit_test(test_search_ends),
        cmocka_unit_test_teardown(test_steps_are_shared, testing_teardown),
        cmocka_unit_test_teardown(test_bad_names_are_refused, testing_teardown),
        cmocka_unit_test(test_most_tables),
        cmocka_unit_test_teardown(test_incomplete_plans_are_refused, testing_teardown),
        cmocka_unit_test(test_first_table_must_lead),
        cmocka_unit_test_teardown(test_format_and_parse_agree, testing_teardown),
        cmocka_unit_test(test_format_is_short),
        cmocka_unit_test_teardown(test_random_tables_are_written_and_read, testing_teardown),
        cmocka_unit_test(test_invalid_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
