/* The names of plans: every plan can be written and read again, and names that are wrong or incomplete are refused. */
#include "plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/random.h"
#include "support/testing.h"

static void must_parse(const char *name, uint32_t distance, ss_plan *plan)
{
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_plan_parse(name, distance, plan, &error), &error);
    assert_int_equal(plan->distance, distance);
}

/* By the definition. */
static bool covered(const ss_plan *plan, const int32_t *radii, uint64_t pattern)
{
    for (uint32_t i = 0; i < plan->table_count; i++)
        if ((int32_t)ss_popcount(pattern & plan->tables[i].key_mask) <= radii[i])
            return true;
    return false;
}

/* ----- reading names ----- */

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
        /* numbers that are not names */
        "8", "7", "5", "30", "64", "04", "0", "100", "1000000000000000",
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ss_plan plan;
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("the name '%s'", names[i]);
        assert_status(ss_plan_parse(names[i], 3, &plan, &error), SSTORE_ERROR_ARGUMENT, &error);
        assert_int_equal(ss_plan_parse(names[i], 3, &plan, NULL), SSTORE_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "use auto; 20, 16, 10, 4, 3, 2 or 1 "));
        assert_non_null(strstr(error.message, "24:1,20:0,20:0"));
    }
    testing_done();
}

/* The maximum number of tables, and one more. */
static void test_max_tables(void **state)
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

/* An incomplete plan is refused with a pattern that it really misses. */
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

/* Many random tables make a search too long. The message names no pattern, since none was found. */
static void test_long_proofs_are_refused(void **state)
{
    char name[SS_MAX_TABLES * sizeof "0123456789abcdef:8,"];
    size_t length = 0;
    ss_plan plan;
    sstore_error error = {.status = SSTORE_OK};
    rng random = rng_seeded(5); /* of other tables, some miss a pattern that is found early */
    for (uint32_t i = 0; i < SS_MAX_TABLES; i++) {
        uint64_t mask = i == 0 ? UINT64_C(0xffff000000000000) : 0;
        while (ss_popcount(mask) < 16)
            mask |= UINT64_C(1) << rng_below(&random, 64);
        length += (size_t)snprintf(name + length, sizeof name - length, "%s%016" PRIx64 ":3", i > 0 ? "," : "", mask);
    }
    assert_status(ss_plan_parse(name, 15, &plan, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_non_null(strstr(error.message, "takes too long"));
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

/* A written plan is read as the same plan. */
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

/* A buffer that is too small gets the begin, and the full length is returned. */
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
        {"20", "6c3"},
        {"16", "4c1/4c1"},
        {"10", "5c2"},
        {"4", "16:0,16:0,16:0,16:0"},
        {"3", "24:1,20:0,20:0"},
        {"2", "32:1,32:1"},
        {"1", "64:3"},
        {"4c1", "16:0,16:0,16:0,16:0"},
        {"5c2", "5c2"},
        {"3c1/2c1", "3c1/2c1"},
        {"5c2/2c1", "5c2/2c1"},
        {"4c1/3c2", "4c1/3c2"},
        {"ffff000000000000:3,000000000000ffff:3", "ffff000000000000:3,000000000000ffff:3"},
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

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_bad_names_are_refused, testing_teardown),
        cmocka_unit_test(test_max_tables),
        cmocka_unit_test_teardown(test_incomplete_plans_are_refused, testing_teardown),
        cmocka_unit_test(test_long_proofs_are_refused),
        cmocka_unit_test(test_first_table_must_lead),
        cmocka_unit_test_teardown(test_format_and_parse_agree, testing_teardown),
        cmocka_unit_test(test_format_is_short),
        cmocka_unit_test_teardown(test_random_tables_are_written_and_read, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
