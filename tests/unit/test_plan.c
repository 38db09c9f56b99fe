/* Plans: the tables of the named ones, the search for an error pattern that no table covers, which plans are valid,
 * and the permutations of tables. test_plan_names.c tests names. */
#include "plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/random.h"
#include "support/testing.h"

#define MAX_K 8
#define PATTERNS_TO_3 43745 /* error patterns of at most 3 of 64 bits */
#define PATTERNS_TO_4 679121
#define RANDOM_PATTERNS 40000

static const char *const named[] = {"20", "16", "10", "4", "3", "2", "1"};
#define NAMED_COUNT (sizeof named / sizeof *named)

/* ----- helpers ----- */

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

/* Try every pattern of at most `bits` bits. Returns their number. */
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
        for (uint32_t k = 0; k <= MAX_K; k++) {
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

/* The tables, prefix bits and radii of the named plans, as in format-spec/sstore-format.md, section 10. */
static void test_named_plans_at_3(void **state)
{
    static const struct {
        const char *name;
        uint32_t table_count, min_bits, max_bits;
        int32_t first_radius, other_radius;
    } wanted[] = {{"20", 20, 31, 33, 0, 0}, {"16", 16, 28, 28, 0, 0}, {"10", 10, 25, 26, 0, 0}, {"4", 4, 16, 16, 0, 0},
                  {"3", 3, 20, 24, 1, 0},   {"2", 2, 32, 32, 1, 1},   {"1", 1, 64, 64, 3, 3}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        ss_plan plan;
        uint32_t min = 64, max = 0;
        testing_doing("plan %s", wanted[i].name);
        must_parse(wanted[i].name, 3, &plan);
        assert_int_equal(plan.table_count, wanted[i].table_count);
        for (uint32_t j = 0; j < plan.table_count; j++) {
            const ss_plan_table *table = &plan.tables[j];
            assert_int_equal(table->prefix_bits, ss_popcount(table->key_mask));
            assert_int_equal(table->radius, j == 0 ? wanted[i].first_radius : wanted[i].other_radius);
            min = table->prefix_bits < min ? table->prefix_bits : min;
            max = table->prefix_bits > max ? table->prefix_bits : max;
        }
        assert_int_equal(min, wanted[i].min_bits);
        assert_int_equal(max, wanted[i].max_bits);
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

/* Disjoint bit groups need a sum of (radius + 1) of exactly k + 1: with one less anywhere a pair is missed. */
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

/* Some c of b bit groups have at most c * floor(k / b) + max(0, c - b + (k mod b)) of k flips, and may have as many. */
static void test_choose_radius_follows_the_formula(void **state)
{
    for (uint32_t b = 1; b <= 11; b++) {
        for (uint32_t c = 1; c <= b; c++) {
            char name[16];
            ss_plan plan;
            snprintf(name, sizeof name, "%uc%u", b, c);
            if (ss_plan_parse(name, 0, &plan, NULL) != SSTORE_OK)
                continue; /* more than 64 tables */
            for (uint32_t k = 0; k <= MAX_K; k++) {
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

/* No radius of a plan is larger than necessary. */
static void test_radii_are_minimal(void **state)
{
    static const char *const names[] = {"20", "16", "10", "4", "3", "2", "1", "6c2", "5c4", "4c2/4c1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (uint32_t k = 0; k <= MAX_K; k++) {
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

/* The radii of the plan 16 are known in advance. The search finds the same: equal ones first, of which each is lowered,
 * the last first. */
static void test_known_radii(void **state)
{
    for (uint32_t k = 0; k <= SSTORE_MAX_BUILD_DISTANCE; k++) {
        ss_plan plan;
        int32_t radii[SS_MAX_TABLES] = {0};
        uint64_t pattern;
        ss_steps steps = {.left = SS_PROOF_STEPS}, lowering = {.left = SS_RADII_STEPS};
        testing_doing("plan 16 at %u", k);
        must_parse("16", k, &plan);
        for (; ss_plan_find_uncovered(&plan, radii, k, &steps, &pattern); steps.left = SS_PROOF_STEPS)
            for (uint32_t i = 0; i < plan.table_count; i++)
                radii[i]++;
        for (uint32_t i = plan.table_count; i-- > 0;)
            ss_plan_lower_radius(&plan, radii, i, 0, k, &lowering);
        for (uint32_t i = 0; i < plan.table_count; i++)
            assert_int_equal(plan.tables[i].radius, radii[i]);
        assert_true(lowering.left > 0);
    }
    testing_done();
}

/* Every plan of choices has radii at each distance. They are proved complete in few steps, and cover random patterns of
 * as many bits. */
static void test_every_choice_has_radii(void **state)
{
    static const char *const names[] = {"16",      "20",      "8c5",     "11c9",    "63c1",   "5c1/5c1",
                                        "5c2/2c1", "2c1/8c1", "8c1/8c1", "3c1/5c1", "6c2/4c1"};
    rng random = rng_seeded(run_seed + 6);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (uint32_t k = 0; k <= SSTORE_MAX_BUILD_DISTANCE; k++) {
            ss_plan plan;
            int32_t radii[SS_MAX_TABLES];
            const char *reason = NULL;
            ss_steps steps = {.left = SS_PROOF_STEPS};
            testing_doing("plan %s at %u", names[i], k);
            must_parse(names[i], k, &plan);
            get_radii(&plan, radii);
            assert_true(ss_plan_valid(&plan, &steps, &reason));
            check_random_patterns(&plan, radii, k, &random);
        }
    }
    testing_done();
}

/* ----- the search for an uncovered pattern ----- */

/* Any tables over a few bits, so that all patterns of these can be tried. */
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

/* A radius is lowered to the smallest one that is complete, from `min` on, and to no other without a proof. */
static void test_lowered_radii_equal_brute_force(void **state)
{
    rng random = rng_seeded(run_seed + 7);
    uint32_t lowered = 0;
    for (uint32_t i = 0; i < 6000; i++) {
        ss_plan plan;
        int32_t radii[SS_MAX_TABLES];
        uint64_t bits;
        make_small_plan(&random, &plan, radii, &bits);
        const uint32_t distance = (uint32_t)rng_below(&random, 9);
        const uint32_t table = (uint32_t)rng_below(&random, plan.table_count);
        const int32_t min = rng_one_in(&random, 2) ? 0 : SS_NO_PROBE, before = radii[table];
        ss_steps steps = {.left = rng_one_in(&random, 4) ? rng_below(&random, 20) : SS_RADII_STEPS};
        testing_doing("small plan %u, seed %" PRIu64 ": table %u at %u", i, run_seed + 7, table, distance);
        if (before < min || some_uncovered(&plan, radii, bits, distance))
            continue;
        const bool enough = steps.left == SS_RADII_STEPS;
        ss_plan_lower_radius(&plan, radii, table, min, distance, &steps);
        assert_in_range(radii[table] + 1, min + 1, before + 1);
        assert_false(some_uncovered(&plan, radii, bits, distance));
        lowered += radii[table] < before;
        if (!enough || radii[table] == min)
            continue;
        radii[table]--;
        assert_true(some_uncovered(&plan, radii, bits, distance));
    }
    assert_in_range(lowered, 100, 6000);
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
 * A slow plan: 64 tables over random bits, at the largest distance. The search must give up at some time, and its
 * result must still be correct. No time is asserted, but a long one would be noticed.
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

/* Searches with a common budget of steps stay within it, and prove nothing without steps. */
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

/* ----- permutations ----- */

/* A mask: none, all, one bit, one run of bits, sparse, dense, or any. */
static uint64_t make_mask(rng *random)
{
    const uint32_t bit = (uint32_t)rng_below(random, 64);
    switch (rng_below(random, 7)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return UINT64_C(1) << bit;
    case 3: return ss_high_mask((uint32_t)rng_below(random, 65)) >> bit;
    case 4: return rng_next(random) & rng_next(random) & rng_next(random);
    case 5: return rng_next(random) | rng_next(random) | rng_next(random);
    default: return rng_next(random);
    }
}

/* The bits of x under the mask in their order, then the others from behind the mask's last on, one by one. */
static uint64_t permute_slowly(uint64_t x, uint64_t mask)
{
    uint64_t permuted = 0;
    uint32_t last = 0;
    for (uint32_t bit = 64; bit-- > 0;)
        if (mask >> bit & 1) {
            permuted = permuted << 1 | (x >> bit & 1);
            last = bit;
        }
    for (uint32_t i = 1; i <= 64; i++) {
        const uint32_t bit = (last + 64 - i) % 64;
        if (!(mask >> bit & 1))
            permuted = permuted << 1 | (x >> bit & 1);
    }
    return permuted;
}

static void check_mask(rng *random, uint64_t mask, uint32_t trials)
{
    ss_permutation permutation;
    ss_permutation_init(&permutation, mask);
    assert_in_range(permutation.run_count, 1, SS_FINGERPRINT_BITS);
    for (uint32_t i = 0; i < trials; i++) {
        const uint64_t a = i == 0 ? 0 : i == 1 ? UINT64_MAX : rng_next(random);
        const uint64_t b = rng_one_in(random, 2) ? rng_flip(random, a, (uint32_t)rng_below(random, 65)) : mask;
        const uint64_t permuted = ss_permute(&permutation, a);
        assert_int_equal(permuted, permute_slowly(a, mask));
        assert_int_equal(ss_unpermute(&permutation, permuted), a);
        assert_int_equal(ss_permute(&permutation, ss_unpermute(&permutation, a)), a);
        assert_int_equal(ss_popcount(permuted ^ ss_permute(&permutation, b)), ss_popcount(a ^ b));
    }
    assert_int_equal(ss_permute(&permutation, mask), ss_high_mask(ss_popcount(mask)));
}

static void test_permutation_by_random_masks(void **state)
{
    rng random = rng_seeded(run_seed + 10);
    for (uint32_t i = 0; i < 3000; i++) {
        const uint64_t mask = make_mask(&random);
        testing_doing("mask %016llx", (unsigned long long)mask);
        check_mask(&random, mask, 12);
    }
    testing_done();
}

/* Every table of the plans in use. Their permutations have few runs, because a query pays for each run. */
static void test_permutations_of_plans(void **state)
{
    static const char *const names[] = {"20", "16", "10", "4", "3", "2", "1"};
    rng random = rng_seeded(run_seed + 11);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ss_plan plan;
        sstore_error error;
        assert_ok(ss_plan_parse(names[i], 3, &plan, &error), &error);
        for (uint32_t table = 0; table < plan.table_count; table++) {
            ss_permutation permutation;
            check_mask(&random, plan.tables[table].key_mask, 100);
            ss_permutation_init(&permutation, plan.tables[table].key_mask);
            assert_in_range(permutation.run_count, 1, 6);
        }
    }
}

/* A mask of the leading bits changes nothing. */
static void test_permutation_by_leading_mask_changes_nothing(void **state)
{
    rng random = rng_seeded(run_seed + 12);
    for (uint32_t bits = 0; bits <= 64; bits++) {
        ss_permutation permutation;
        ss_permutation_init(&permutation, ss_high_mask(bits));
        const uint64_t x = rng_next(&random);
        assert_int_equal(permutation.run_count, 1);
        assert_int_equal(ss_permute(&permutation, x), x);
        assert_int_equal(ss_unpermute(&permutation, x), x);
    }
}

/* A single bit group, anywhere, takes one rotation. The spec's example takes two. */
static void test_permutation_of_one_group(void **state)
{
    ss_permutation permutation;
    for (uint32_t begin = 0; begin < 64; begin++)
        for (uint32_t bits = 1; begin + bits <= 64; bits++) {
            ss_permutation_init(&permutation, ss_high_mask(bits) >> begin);
            assert_int_equal(permutation.run_count, 1);
            assert_int_equal(permutation.runs[0].rotate_left, begin);
        }
    ss_permutation_init(&permutation, UINT64_C(0x0000ff00ff000000));
    assert_int_equal(ss_permute(&permutation, UINT64_C(0x0123456789abcdef)), UINT64_C(0x4589abcdef012367));
}

/* The second table of 32 + 32 bits swaps the halves. */
static void test_permutation_that_swaps_halves(void **state)
{
    ss_permutation permutation;
    ss_permutation_init(&permutation, UINT64_C(0x00000000ffffffff));
    assert_int_equal(ss_permute(&permutation, UINT64_C(0x0123456789abcdef)), UINT64_C(0x89abcdef01234567));
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
        cmocka_unit_test_teardown(test_known_radii, testing_teardown),
        cmocka_unit_test_teardown(test_every_choice_has_radii, testing_teardown),
        cmocka_unit_test_teardown(test_lowered_radii_equal_brute_force, testing_teardown),
        cmocka_unit_test_teardown(test_search_equals_brute_force, testing_teardown),
        cmocka_unit_test(test_first_cover_is_the_first),
        cmocka_unit_test(test_search_ends),
        cmocka_unit_test_teardown(test_steps_are_shared, testing_teardown),
        cmocka_unit_test(test_invalid_plans),
        cmocka_unit_test_teardown(test_permutation_by_random_masks, testing_teardown),
        cmocka_unit_test(test_permutations_of_plans),
        cmocka_unit_test(test_permutation_by_leading_mask_changes_nothing),
        cmocka_unit_test(test_permutation_of_one_group),
        cmocka_unit_test(test_permutation_that_swaps_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
