/* Permutations: the key bits lead in their order, distances are kept, and it all goes back. */
#include "plan/plan.h"

#include "support/random.h"
#include "support/testing.h"

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

static void test_random_masks(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < 3000; i++) {
        const uint64_t mask = make_mask(&random);
        testing_doing("mask %016llx", (unsigned long long)mask);
        check_mask(&random, mask, 12);
    }
    testing_done();
}

/* Every table of the plans in use. A permutation of theirs takes few runs, since that is what a query pays for. */
static void test_masks_of_plans(void **state)
{
    static const char *const names[] = {"20", "16", "10", "4", "3", "2", "1"};
    rng random = rng_seeded(run_seed + 1);
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

/* A mask whose bits lead already changes nothing. */
static void test_leading_masks_are_the_identity(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    for (uint32_t bits = 0; bits <= 64; bits++) {
        ss_permutation permutation;
        ss_permutation_init(&permutation, ss_high_mask(bits));
        const uint64_t x = rng_next(&random);
        assert_int_equal(permutation.run_count, 1);
        assert_int_equal(ss_permute(&permutation, x), x);
        assert_int_equal(ss_unpermute(&permutation, x), x);
    }
}

/* A single group of bits, wherever it is, takes a rotation. The spec's example takes two. */
static void test_groups(void **state)
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
static void test_swapped_halves(void **state)
{
    ss_permutation permutation;
    ss_permutation_init(&permutation, UINT64_C(0x00000000ffffffff));
    assert_int_equal(ss_permute(&permutation, UINT64_C(0x0123456789abcdef)), UINT64_C(0x89abcdef01234567));
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random_masks, testing_teardown),
        cmocka_unit_test(test_masks_of_plans),
        cmocka_unit_test(test_leading_masks_are_the_identity),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_swapped_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
