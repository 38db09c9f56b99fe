/* XXH3 of short pieces, several at once: the same as the library xxHash gives for each. */
#include "text/short_hash.h"

#include "base/bytes.h"
#include "base/simd.h"
#include "support/random.h"
#include "support/testing.h"

static void test_hashes_equal_those_of_the_library(void **state)
{
    static uint8_t bytes[4096];
    static uint64_t hashes[500];
    rng random = rng_seeded(run_seed);
    for (uint32_t trial = 0; trial < 2000; trial++) {
        const size_t size = (size_t)rng_between(&random, SS_MIN_SHORT, SS_MAX_SHORT);
        const size_t stride = (size_t)rng_between(&random, 1, 8), count = (size_t)rng_below(&random, 500);
        const size_t used = count > 0 ? (count - 1) * stride + size : 0;
        uint8_t *const from = bytes + sizeof bytes - used; /* nothing behind the last piece may be read */
        for (size_t i = 0; i < used; i++)
            from[i] = (uint8_t)rng_next(&random);
        testing_doing("trial %u: %zu pieces of %zu bytes, stride %zu", trial, count, size, stride);
        ss_simd_limit((ss_simd_level)(trial % 3));
        ss_short_hashes(from, stride, size, count, hashes);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(hashes[i], ss_hash64(from + i * stride, size));
    }
    testing_done();
    ss_simd_limit(SS_SIMD_AVX512);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_hashes_equal_those_of_the_library, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
