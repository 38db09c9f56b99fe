/* The limit on vector instructions: everything that chooses a kernel keeps it, and it promises nothing that the
 * processor lacks. */
#include "base/simd.h"
#include "codec/huffman.h"
#include "codec/kernels.h"
#include "support/testing.h"

static void test_limit_is_kept_by_kernels(void **state)
{
    assert_int_equal(ss_simd_best(), ss_simd_cpu());
    for (int level = SS_SIMD_NONE; level <= SS_SIMD_AVX512; level++) {
        ss_simd_limit((ss_simd_level)level);
        assert_int_equal(ss_simd_best(), level < (int)ss_simd_cpu() ? level : (int)ss_simd_cpu());
    }
    assert_int_equal(ss_simd_best(), ss_simd_cpu());
}

static void test_portable(void **state)
{
    static ss_code code;
    uint8_t lengths[SS_SYMBOL_COUNT] = {1};
    ss_simd_limit(SS_SIMD_NONE);
    ss_code_init(&code, lengths);
    assert_true(ss_kernels_best() == ss_kernels_of(SS_SIMD_NONE));
    assert_true(code.kernels == ss_kernels_of(SS_SIMD_NONE));
    ss_simd_limit(SS_SIMD_AVX512);
    ss_code_init(&code, lengths);
    assert_true(code.kernels == ss_kernels_best());
    assert_true(ss_simd_cpu() == SS_SIMD_NONE || ss_kernels_best() != ss_kernels_of(SS_SIMD_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_limit_is_kept_by_kernels, testing_teardown),
        cmocka_unit_test_teardown(test_portable, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
