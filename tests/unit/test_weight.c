/* Weights from decimal text: each exact value is rounded once to 2^-20, half to even. */
#include "input/weight.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "support/testing.h"

#define UNIT 1048576.0             /* 2^20 */
#define LARGEST (INT64_C(1) << 51) /* units */

static void check(const char *text, int64_t units)
{
    double weight = -1;
    testing_doing("'%.80s'", text);
    assert_true(weight_parse(text, strlen(text), &weight));
    assert_true(weight * UNIT == (double)units);
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t units;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"+1", 1 << 20},
        {"1.", 1 << 20},
        {".5", 1 << 19},
        {"00012.50", 25 << 19},
        {"-2.5", -(5 << 19)},
        {"1e0", 1 << 20},
        {"1E+1", 10 << 20},
        {"125e-3", 1 << 17},
        {"0.00000125E5", 1 << 17},
        {"0e99999999999999999999", 0},
        {"2147483648", LARGEST},
        {"-2147483648.000", -LARGEST},
        {"2147483647.99999999999999999999999", LARGEST},
        {"2147483648e-99999999999999999999", 0},
        {"1e-7", 0},
        {"-1e-7", 0},
        /* halves of a unit: to the even one, unless anything follows */
        {"0.000000476837158203125", 0},
        {"0.0000004768371582031249999999999", 0},
        {"0.000000476837158203125000000000000001", 1},
        {"-0.000000476837158203125000000000000001", -1},
        {"0.000001430511474609375", 2},
        {"0.0000014305114746093749999999", 1},
        {"4768371582031250000000001e-31", 1},
        {"476837158203125e-21", 0},
        /* a double is a half here, the decimal is not */
        {"1048576.0000004768371582031250001", (INT64_C(1) << 40) + 1},
        {"1048576.0000014305114746093749999", (INT64_C(1) << 40) + 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].text, cases[i].units);
    testing_done();
}

static void test_text_that_is_no_weight(void **state)
{
    static const char *const texts[] = {
        "",
        "+",
        "-",
        ".",
        "-.",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1e-",
        "--1",
        "+-1",
        "1..2",
        "1.2.3",
        "1 ",
        " 1",
        "1,5",
        "0x10",
        "inf",
        "nan",
        "1e5.0",
        "1f",
        "2147483649",
        "2147483648.00000000000000000000000000000001",
        "-2147483648.1",
        "1e10",
        "1e99999999999",
        "99999999999999999999999999",
        "0.001e14",
    };
    double weight;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        testing_doing("'%s'", texts[i]);
        assert_false(weight_parse(texts[i], strlen(texts[i]), &weight));
    }
    assert_false(weight_parse("1\0", 2, &weight)); /* nothing may follow, not even a zero */
    testing_done();
}

/* Write `halves` of a unit exactly, as a whole number and 21 places: a half is 5^21 of 10^-21. */
static size_t print_halves(char *to, uint64_t halves)
{
    const uint64_t low = halves & ((1 << 21) - 1), million = 1000000;
    /* The product has 21 digits, which no 64 bits hold: the last 6 of them, and those before. */
    const uint64_t factor = UINT64_C(476837158203125);
    const uint64_t ones = low * (factor % million), millions = low * (factor / million) + ones / million;
    return (size_t)sprintf(to, "%" PRIu64 ".%015" PRIu64 "%06" PRIu64, halves >> 21, millions, ones % million);
}

/* Numbers a little below, at, and a little above halves, with any number of zeros or nines between; written with an
 * exponent and leading zeros. */
static void test_near_halves(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < 20000; i++) {
        char text[400], moved[500];
        const uint64_t halves = (rng_next(&random) % (UINT64_C(1) << rng_between(&random, 1, 52))) | 1;
        const int64_t below = (int64_t)(halves / 2), even = below + (below & 1);
        size_t length = print_halves(text, halves);
        check(text, even);
        for (uint64_t zeros = rng_between(&random, 0, 300); zeros > 0; zeros--)
            text[length++] = '0';
        text[length] = '\0';
        check(text, even);
        strcpy(text + length, "7");
        check(text, below + 1);
        snprintf(moved, sizeof moved, "-00%se0", text);
        char *point = strchr(moved, '.'); /* two places to the right */
        memmove(point, point + 1, 2);
        point[2] = '.';
        strcpy(moved + strlen(moved) - 2, "E-2");
        check(moved, -(below + 1));
        length = print_halves(text, halves);
        text[length - 1]--; /* the last digit of an odd number of halves is a 5 */
        for (uint64_t nines = rng_between(&random, 0, 300); nines > 0; nines--)
            text[length++] = '9';
        text[length] = '\0';
        check(text, below);
    }
    testing_done();
}

/* As many digits as a line may have. */
static void test_longest_text(void **state)
{
    const size_t length = 1 << 20;
    char *text = malloc(length + 32);
    double weight;
    assert_non_null(text);
    memset(text, '0', length);
    sprintf(text + length, "1.5");
    check(text, 3 << 19);
    text[0] = '.';
    text[length + 1] = '5';
    sprintf(text + length + 3, "e%zu", length + 2);
    check(text, INT64_C(155) << 20);
    memset(text, '9', length);
    assert_false(weight_parse(text, length, &weight));
    text[1] = '.';
    text[length] = '\0';
    check(text, INT64_C(10) << 20);
    free(text);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_numbers, testing_teardown),
        cmocka_unit_test_teardown(test_text_that_is_no_weight, testing_teardown),
        cmocka_unit_test_teardown(test_near_halves, testing_teardown),
        cmocka_unit_test_teardown(test_longest_text, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
