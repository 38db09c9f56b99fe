/* Joins within a memory limit must equal comparing every pair: data of all kinds, so little memory that it spills,
 * groups that span several pieces and exceed a thread's memory, one thread and several. */
#include "join/table_join.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/pair_list.h"
#include "support/scratch.h"
#include "support/testing.h"

#define MAX_THREADS 3u
#define RANGES 7u

static sstore_status read_range(void *context, uint32_t part, uint32_t worker, ss_values_fn on_values, void *sink,
                                sstore_error *error)
{
    const value_list *from = context;
    const size_t begin = from->count * part / RANGES, end = from->count * (part + 1) / RANGES, half = (begin + end) / 2;
    const sstore_status status = on_values(sink, from->items + begin, half - begin, error);
    return status == SSTORE_OK ? on_values(sink, from->items + half, end - half, error) : status;
}

static ss_fingerprint_ranges source_of(value_list *from)
{
    return (ss_fingerprint_ranges){.context = from, .range_count = RANGES, .count = from->count, .read = read_range};
}

static sstore_status collect(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                             sstore_error *error)
{
    pair_list *lists = context;
    assert_in_range(worker, 0, MAX_THREADS - 1);
    assert_in_range(count, 1, SS_GROUP_PAIRS);
    for (size_t i = 0; i < count; i++)
        pair_list_add(&lists[worker], pairs[i].first, pairs[i].second);
    return SSTORE_OK;
}

/* The parameters of a join, and its result. */
typedef struct setting {
    ss_dir dir;
    ss_progress progress;
    ss_join_options options;
    pair_list lists[MAX_THREADS];
} setting;

static void setting_open(setting *how, rng *random)
{
    sstore_error error = {.status = SSTORE_OK};
    memset(how, 0, sizeof *how);
    assert_ok(ss_dir_open(scratch_folder(), &how->dir, &error), &error);
    how->options = (ss_join_options){.distance = (uint32_t)(rng_one_in(random, 2) ? rng_below(random, 5)
                                                                                  : rng_below(random, 17)),
                                     .threads = (uint32_t)rng_between(random, 1, MAX_THREADS),
                                     .memory_bytes = rng_one_in(random, 2) ? rng_below(random, 1 << 20)
                                                                           : (uint64_t)1 << rng_between(random, 20, 27),
                                     .tmp_dir = &how->dir,
                                     .progress = &how->progress,
                                     .end_fraction = 1,
                                     .on_pairs = collect,
                                     .context = how->lists};
}

/* All that was found, sorted, into how->lists[0]. */
static pair_list *setting_found(setting *how)
{
    for (uint32_t i = 1; i < MAX_THREADS; i++)
        pair_list_move(&how->lists[0], &how->lists[i]);
    pair_list_sort(&how->lists[0]);
    return &how->lists[0];
}

static void setting_close(setting *how)
{
    for (uint32_t i = 0; i < MAX_THREADS; i++)
        pair_list_free(&how->lists[i]);
    ss_dir_close(&how->dir);
}

/* As many values as can be compared pair by pair, with not too many near pairs. */
static value_list make_values(rng *random, uint32_t kind, uint32_t distance)
{
    const uint64_t max = rng_one_in(random, 8) ? 20000 : 5000;
    const bool crowded = kind == DATA_DENSE || kind == DATA_CROWDED || kind >= DATA_FEW;
    return value_list_make(random, kind, rng_below(random, crowded && distance > 3 ? 1500 : max));
}

/* Some of the values are left, some right, some both; on one side there are more. */
static void share_out(rng *random, const value_list *values, value_list *left, value_list *right)
{
    const uint64_t share = rng_between(random, 1, 20);
    *left = (value_list){malloc((values->count + 1) * sizeof(uint64_t)), 0};
    *right = (value_list){malloc((values->count + 1) * sizeof(uint64_t)), 0};
    for (size_t i = 0; i < values->count; i++) {
        const uint64_t choice = rng_below(random, share + 2);
        if (choice != 0)
            left->items[left->count++] = values->items[i];
        if (choice < 2)
            right->items[right->count++] = values->items[i];
    }
}

static void check_cross(rng *random, setting *how, const value_list *values, pair_list *wanted)
{
    value_list left, right;
    sstore_error error = {.status = SSTORE_OK};
    share_out(random, values, &left, &right);
    const ss_fingerprint_ranges from = source_of(&left), other = source_of(&right);
    assert_ok(ss_table_join(SS_JOIN_CROSS, &from, &other, &how->options, &error), &error);
    pair_list_cross(left.items, left.count, right.items, right.count, how->options.distance, wanted);
    assert_true(pair_list_equal(setting_found(how), wanted));
    value_list_free(&left);
    value_list_free(&right);
}

static void check_self(setting *how, value_list *values, pair_list *wanted)
{
    sstore_error error = {.status = SSTORE_OK};
    const ss_fingerprint_ranges source = source_of(values);
    assert_ok(ss_table_join(SS_JOIN_SELF, &source, NULL, &how->options, &error), &error);
    pair_list_self(values->items, values->count, how->options.distance, wanted);
    assert_true(pair_list_equal(setting_found(how), wanted));
}

static void check_spanning(setting *how, value_list *values)
{
    pair_list wanted_roots = {NULL, 0, 0}, got_roots = {NULL, 0, 0};
    sstore_error error = {.status = SSTORE_OK};
    const ss_fingerprint_ranges source = source_of(values);
    assert_ok(ss_table_join(SS_JOIN_SPANNING, &source, NULL, &how->options, &error), &error);
    const pair_list *got = setting_found(how);
    for (size_t i = 0; i < got->count; i++)
        assert_in_range(sstore_hamming_distance(&got->items[i][0], &got->items[i][1], 64), 1, how->options.distance);
    pair_list_roots(got, &got_roots);
    pair_list_self_roots(values->items, values->count, how->options.distance, &wanted_roots);
    assert_true(pair_list_equal(&got_roots, &wanted_roots));
    pair_list_free(&got_roots);
    pair_list_free(&wanted_roots);
}

static void check_cases(ss_join_kind kind)
{
    const uint64_t rounds = testing_number("SSTORE_TEST_CASES", testing_slow() ? 1 : 4);
    rng random = rng_seeded(run_seed + kind);
    for (uint64_t i = 0; i < rounds * VALUES_KIND_COUNT; i++) {
        setting how;
        pair_list wanted = {NULL, 0, 0};
        setting_open(&how, &random);
        value_list values = make_values(&random, (uint32_t)(i % VALUES_KIND_COUNT), how.options.distance);
        testing_doing("case %" PRIu64 ", %zu values, distance %u, %u threads, %" PRIu64 " bytes, seed %" PRIu64, i,
                      values.count, how.options.distance, how.options.threads, how.options.memory_bytes, run_seed);
        if (kind == SS_JOIN_CROSS)
            check_cross(&random, &how, &values, &wanted);
        else if (kind == SS_JOIN_SELF)
            check_self(&how, &values, &wanted);
        else
            check_spanning(&how, &values);
        pair_list_free(&wanted);
        value_list_free(&values);
        setting_close(&how);
    }
    testing_done();
}

static void test_self(void **state)
{
    check_cases(SS_JOIN_SELF);
}

static void test_cross(void **state)
{
    check_cases(SS_JOIN_CROSS);
}

static void test_spanning(void **state)
{
    check_cases(SS_JOIN_SPANNING);
}

static void value_list_unique(value_list *list)
{
    const size_t count = list->count;
    qsort(list->items, count, sizeof *list->items, compare_numbers);
    list->count = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || list->items[i] != list->items[list->count - 1])
            list->items[list->count++] = list->items[i];
}

/* About `count` different values, each `radius` bits from one that is random. */
static value_list make_ball(rng *random, size_t count, uint32_t radius)
{
    const uint64_t centre = rng_next(random);
    value_list ball = {malloc(count * sizeof(uint64_t)), count};
    for (size_t i = 0; i < count; i++)
        ball.items[i] = rng_flip(random, centre, radius);
    value_list_unique(&ball);
    return ball;
}

/* So many near values that a set of them is connected for the most part while a few of it are not yet. */
static void test_spanning_crowd(void **state)
{
    rng random = rng_seeded(run_seed + SS_JOIN_SPANNING + 1);
    for (int i = 0; i < (testing_races() ? 2 : 6); i++) {
        setting how;
        setting_open(&how, &random);
        how.options.distance = (uint32_t)rng_between(&random, 1, 3);
        value_list values = value_list_make(&random, VALUES_OUTLIERS, 16000);
        testing_doing("crowd %d, distance %u, %u threads, %" PRIu64 " bytes, seed %" PRIu64, i, how.options.distance,
                      how.options.threads, how.options.memory_bytes, run_seed);
        check_spanning(&how, &values);
        value_list_free(&values);
        setting_close(&how);
    }
    testing_done();
}

/* ----- how much work is done ----- */

/* Values, and the number that all threads have read. */
typedef struct counted_values {
    value_list values;
    uint64_t read_count;
} counted_values;

static sstore_status read_counted(void *context, uint32_t part, uint32_t worker, ss_values_fn on_values, void *sink,
                                  sstore_error *error)
{
    counted_values *from = context;
    const size_t begin = from->values.count * part / RANGES, end = from->values.count * (part + 1) / RANGES;
    __atomic_fetch_add(&from->read_count, end - begin, __ATOMIC_RELAXED);
    return on_values(sink, from->values.items + begin, end - begin, error);
}

static sstore_status count_edges(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                                 sstore_error *error)
{
    uint64_t *edges = context;
    __atomic_fetch_add(edges, count, __ATOMIC_RELAXED);
    return SSTORE_OK;
}

typedef struct join_work {
    uint64_t read_count, edge_count;
} join_work;

static join_work spanning_work(const value_list *values, uint32_t distance, uint32_t threads, uint64_t memory_bytes)
{
    counted_values from = {*values, 0};
    join_work work = {0};
    ss_dir dir;
    ss_progress progress = {.report = NULL};
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_dir_open(scratch_folder(), &dir, &error), &error);
    const ss_join_options options = {.distance = distance,
                                     .threads = threads,
                                     .memory_bytes = memory_bytes,
                                     .tmp_dir = &dir,
                                     .progress = &progress,
                                     .end_fraction = 1,
                                     .on_pairs = count_edges,
                                     .context = &work.edge_count};
    const ss_fingerprint_ranges source = {.context = &from,
                                          .range_count = RANGES,
                                          .count = values->count,
                                          .read = read_counted};
    assert_ok(ss_table_join(SS_JOIN_SPANNING, &source, NULL, &options, &error), &error);
    ss_dir_close(&dir);
    work.read_count = from.read_count;
    return work;
}

static void check_work(const char *what, const value_list *values, uint32_t distance, uint32_t threads,
                       uint64_t memory_bytes)
{
    const join_work ample = spanning_work(values, distance, threads, (uint64_t)64 << 20);
    const join_work scarce = spanning_work(values, distance, threads, memory_bytes);
    testing_figure("join: %s, %zu values, %u threads, %" PRIu64 " KiB: reads %" PRIu64 " values and finds %" PRIu64
                   " edges; %" PRIu64 " and %" PRIu64 " within 64 MiB",
                   what, values->count, threads, memory_bytes >> 10, scarce.read_count, scarce.edge_count,
                   ample.read_count, ample.edge_count);
    assert_int_equal(ample.read_count, (distance + 1) * values->count);
    assert_true(scarce.read_count <= 3 * ample.read_count);
    assert_true(scarce.edge_count <= 2 * (distance + 1) * values->count);
}

/* Dense values are read about as often, and as many edges found, with as little memory as a public call may give. */
static void test_little_memory(void **state)
{
    const uint64_t min_bytes = (uint64_t)4 << 18;
    rng random = rng_seeded(run_seed + 4);
    value_list ball = make_ball(&random, 11482, 3), larger = make_ball(&random, 60000, 4);
    check_work("a ball", &ball, 8, 16, min_bytes);
    if (!testing_slow()) {
        check_work("a ball", &ball, 8, 2, min_bytes);
        check_work("a larger ball", &larger, 8, 2, min_bytes);
    }
    value_list_free(&ball);
    value_list_free(&larger);
}

/* Values of which most are near one, in groups larger than the memory of a thread, and some others. */
static void test_spanning_ball(void **state)
{
    rng random = rng_seeded(run_seed + 5);
    for (int i = 0; i < (testing_slow() ? 2 : 5); i++) {
        setting how;
        setting_open(&how, &random);
        how.options.distance = (uint32_t)rng_between(&random, 8, 16);
        how.options.memory_bytes = rng_below(&random, 1 << 17);
        value_list values = make_ball(&random, 3300, 3);
        const size_t others = (size_t)rng_below(&random, 600);
        for (size_t j = 0; j < others; j++) /* near some of the values, or one another, or nothing */
            values.items[rng_below(&random, values.count)] ^= rng_next(&random) >> rng_below(&random, 60);
        value_list_unique(&values);
        testing_doing("ball %d, %zu others, distance %u, %u threads, %" PRIu64 " bytes, seed %" PRIu64, i, others,
                      how.options.distance, how.options.threads, how.options.memory_bytes, run_seed);
        check_spanning(&how, &values);
        value_list_free(&values);
        setting_close(&how);
    }
    testing_done();
}

static sstore_status refuse(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                            sstore_error *error)
{
    return SSTORE_STOPPED;
}

static int stop(void *context, const sstore_progress *progress)
{
    return --*(int *)context == 0;
}

/* The callbacks for pairs and for progress can stop the join at any time. */
static void test_stop(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    value_list values = value_list_make(&random, DATA_DENSE, 30000);
    const ss_fingerprint_ranges source = source_of(&values);
    for (int calls = 0; calls <= 40; calls += testing_races() ? 5 : 1) {
        setting how;
        int left = calls;
        sstore_error error = {.status = SSTORE_OK};
        setting_open(&how, &random);
        how.options.distance = 3;
        if (calls == 0) {
            how.options.on_pairs = refuse;
        } else {
            how.progress.report = stop;
            how.progress.context = &left;
        }
        const sstore_status status = ss_table_join(SS_JOIN_SELF, &source, NULL, &how.options, &error);
        assert_int_equal(status, calls == 0 || left <= 0 ? SSTORE_STOPPED : SSTORE_OK); /* it may end before */
        setting_close(&how);
    }
    value_list_free(&values);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_self, testing_teardown),
        cmocka_unit_test_teardown(test_cross, testing_teardown),
        cmocka_unit_test_teardown(test_spanning, testing_teardown),
        cmocka_unit_test_teardown(test_spanning_crowd, testing_teardown),
        cmocka_unit_test_teardown(test_spanning_ball, testing_teardown),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
