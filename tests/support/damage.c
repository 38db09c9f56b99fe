#include "support/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/walk.h"
#include "sstore_statistics.h"
#include "support/use_store.h"
#include "support/widened.h"

#define RECORDS 280
#define RECIPE "test-recipe 1"

static void make_queries(damage_store *store, rng *random)
{
    static const uint32_t distances[DAMAGE_QUERIES] = {3, 3, 3, 3, 3, 3, 2, 0, 5, 12, 30, 64};
    for (size_t i = 0; i < DAMAGE_QUERIES; i++) {
        damage_query *query = &store->queries[i];
        query->distance = distances[i];
        query->fingerprint = i % 4 == 3 ? data_query(random, &store->data, 3)
                                        : rng_flip(random, store->data.fingerprints[i * 20], (uint32_t)(i % 4));
        record_set_query(&store->truth, &query->fingerprint, query->distance, 0, &query->answer);
    }
}

/* Add or remove records in one step. */
static void change(const char *path, bool removes, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(store_change(path, removes, fingerprints, ids, count, &error), &error);
}

/* Build the first half of the records, with as many others near them; add the second half, and remove the others. */
static void build_in_steps(const damage_store *store, const sstore_write_options *options, rng *random)
{
    const data_set *data = &store->data;
    const size_t half = data->count / 2;
    const uint64_t *ids = data->ids;
    uint64_t fingerprints[RECORDS], both_ids[RECORDS];
    data_set both = {.id_kind = data->id_kind,
                     .count = 2 * half,
                     .fingerprints = fingerprints,
                     .ids = ids == NULL ? NULL : both_ids};
    for (size_t i = 0; i < half; i++) {
        fingerprints[i] = data->fingerprints[i];
        fingerprints[half + i] = rng_flip(random, data->fingerprints[i], 1 + (uint32_t)(i % 3));
        both_ids[i] = ids == NULL ? 0 : ids[i];
        both_ids[half + i] = 1000 + i;
        for (size_t j = 0; j < data->count && ids == NULL; j++) /* one that is to stay is not removed */
            if (data->fingerprints[j] == fingerprints[half + i])
                fingerprints[half + i] = ~data->fingerprints[i];
    }
    store_must_build(store->path, options, &both);
    change(store->path, false, data->fingerprints + half, ids == NULL ? NULL : ids + half, data->count - half);
    change(store->path, true, fingerprints + half, ids == NULL ? NULL : both_ids + half, half);
}

static uint64_t count_pairs(const record_set *truth)
{
    uint64_t count = 0;
    for (size_t i = 0; i < truth->count; i++)
        for (size_t j = i + 1; j < truth->count; j++)
            count += sstore_hamming_distance(&truth->fingerprints[i], &truth->fingerprints[j], 64) <= 3;
    return count;
}

void damage_store_make(damage_store *store, uint64_t seed, uint32_t block_bytes, data_ids ids, bool changed)
{
    *store = (damage_store){.trials = 0};
    snprintf(store->path, sizeof store->path, "%s",
             scratch_path("damaged-%" PRIu32 "-%" PRIu32 "-%d", widened_words, block_bytes, changed));
    rng random = rng_seeded(seed);
    data_make(&random, DATA_CLUSTERED, ids, RECORDS, true, &store->data);
    store->truth = record_set_of_data(&store->data);
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.block_bytes = block_bytes;
    options.memory_bytes = 1 << 20;
    options.threads = 1;
    options.plan = "4";
    options.recipe = RECIPE;
    options.id_index = changed && ids != DATA_NO_IDS;
    stores_are_named = options.id_index;
    if (changed)
        build_in_steps(store, &options, &random);
    else
        store_must_build(store->path, &options, &store->data);
    stores_are_named = false;
    store->pair_count = count_pairs(&store->truth);
    make_queries(store, &random);

    store->files = file_list_make(store->path, "");
    store->contents = test_calloc(store->files.count, sizeof *store->contents);
    for (size_t i = 0; i < store->files.count; i++) {
        store->contents[i] = file_load(damage_path(store, i));
        store->total_bytes += store->contents[i].size;
        printf("  %8zu bytes %s\n", store->contents[i].size, store->files.names[i]);
    }
    fflush(stdout);
    assert_in_range(store->total_bytes, 1, (changed ? 6 : 1) * (2 * widened_words - 1) * DAMAGE_MAX_STORE_BYTES);
    damage_check_whole(store);
}

void damage_store_free(damage_store *store)
{
    for (size_t i = 0; i < store->files.count; i++)
        file_bytes_free(&store->contents[i]);
    test_free(store->contents);
    for (size_t i = 0; i < DAMAGE_QUERIES; i++)
        matches_free(&store->queries[i].answer);
    file_list_free(&store->files);
    record_set_free(&store->truth);
    data_free(&store->data);
    scratch_remove(store->path);
}

const char *damage_path(const damage_store *store, size_t file)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", store->path, store->files.names[file]);
    return path;
}

/* An error must tell the damage. "Out of memory" would mean that a size from a file was trusted. */
static void check_error(sstore_status status, const sstore_error *error)
{
    assert_int_not_equal(status, SSTORE_OK);
    assert_int_not_equal(status, SSTORE_STOPPED);
    assert_int_not_equal(status, SSTORE_ERROR_ARGUMENT);
    assert_int_not_equal(status, SSTORE_ERROR_MEMORY);
    assert_int_equal(error->status, status);
    if (error->message[0] == '\0' || (status == SSTORE_ERROR_DAMAGED && error->file[0] == '\0'))
        fail_msg("the error '%s' names no file or gives no reason: '%s'", sstore_status_name(status), error->message);
}

/* Run one query; returns whether it failed. Reported matches must be right in any case. */
static bool ask(sstore_cursor *cursor, const damage_query *query)
{
    matches got = {0};
    sstore_error error = {.status = SSTORE_OK};
    sstore_status status = store_query_sorted(cursor, query->fingerprint, query->distance, &got, &error);
    if (status == SSTORE_OK)
        assert_true(matches_equal(&got, &query->answer));
    else
        check_error(status, &error);
    assert_true(matches_within(&got, &query->answer));
    matches_free(&got);
    return status != SSTORE_OK;
}

/* Ask through a batch, and for the nearest. */
static bool ask_otherwise(const sstore *store, sstore_cursor *cursor, const damage_query *query)
{
    matches got = {0};
    sstore_error error = {.status = SSTORE_OK};
    sstore_status status = store_batch(store, &query->fingerprint, 1, query->distance, 1, &got, &error);
    if (status == SSTORE_OK)
        assert_true(matches_equal(&got, &query->answer));
    else
        check_error(status, &error);
    assert_true(matches_within(&got, &query->answer));
    bool failed = status != SSTORE_OK;
    got.count = 0;
    status = store_nearest_sorted(cursor, query->fingerprint, query->distance, &got, &error);
    if (status != SSTORE_OK)
        check_error(status, &error);
    assert_true(matches_within(&got, &query->answer));
    if (status == SSTORE_OK)
        assert_int_equal(got.count == 0, query->answer.count == 0);
    matches_free(&got);
    return failed || status != SSTORE_OK;
}

static int count_near(void *context, const sstore_pair *pair)
{
    assert_true(pair->distance <= 3);
    (*(uint64_t *)context)++;
    return 0;
}

/* All pairs of near records. */
static bool ask_pairs(const damage_store *store, const sstore *opened)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    uint64_t count = 0;
    options.memory_bytes = 8 << 20;
    options.threads = 1;
    options.tmp_dir = scratch_folder();
    sstore_status status = walk_pairs(opened, NULL, &options, count_near, &count, &error);
    assert_true(count <= store->pair_count);
    if (status != SSTORE_OK)
        check_error(status, &error);
    else
        assert_int_equal(count, store->pair_count);
    return status != SSTORE_OK;
}

static bool ask_everything(damage_store *store, const sstore *opened, sstore_cursor *cursor)
{
    bool failed = false;
    for (size_t i = 0; i < DAMAGE_QUERIES; i++)
        failed |= ask(cursor, &store->queries[i]);
    failed |= ask_otherwise(opened, cursor, &store->queries[store->trials % DAMAGE_QUERIES]);
    if (store->trials % 8 == 0 && widened_words == 1)
        failed |= ask_pairs(store, opened);
    bool right;
    size_t count;
    sstore_error error = {.status = SSTORE_OK};
    sstore_status status = store_compare_records(opened, &store->truth, &right, &count, &error);
    assert_true(right);
    if (status != SSTORE_OK)
        check_error(status, &error);
    else
        assert_int_equal(count, store->truth.count);
    return failed || status != SSTORE_OK;
}

static void check_one_way(damage_store *store, sstore_io io)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    options.io = io;
    /* So few records would be scanned; what probes read is to be tested as well. */
    options.strategy = store->trials % 3 == 0 ? SSTORE_STRATEGY_AUTO : SSTORE_STRATEGY_PROBE;
    sstore *opened = NULL;
    sstore_error error = {.status = SSTORE_OK};
    sstore_status status = sstore_open(store->path, &options, &opened, &error);
    store->trials++;
    if (status != SSTORE_OK) {
        assert_null(opened);
        check_error(status, &error);
        store->open_errors++;
        return;
    }
    sstore_statistics facts = {.struct_size = sizeof facts};
    assert_ok(sstore_stat(opened, &facts, &error), &error);
    assert_int_equal(facts.record_count, store->truth.count);
    assert_string_equal(facts.recipe, RECIPE);
    sstore_cursor *cursor = NULL;
    assert_ok(sstore_cursor_create(opened, &cursor, &error), &error);
    if (ask_everything(store, opened, cursor))
        store->query_errors++;
    else
        store->right++;
    sstore_cursor_free(cursor);
    sstore_close(opened);
}

static void check_all_ways(damage_store *store, unsigned io_mask)
{
    for (unsigned io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++)
        if ((io_mask & 1u << io) != 0)
            check_one_way(store, (sstore_io)io);
}

typedef struct problems {
    size_t count;
} problems;

static int count_problem(void *context, const sstore_error *problem)
{
    problems *found = context;
    found->count++;
    assert_int_not_equal(problem->status, SSTORE_OK);
    assert_int_not_equal(problem->message[0], '\0');
    return 0;
}

void damage_check(damage_store *store, unsigned io_mask)
{
    problems found = {0};
    sstore_error error = {.status = SSTORE_OK};
    sstore_status status = sstore_verify(store->path, NULL, count_problem, &found, &error);
    if (status == SSTORE_OK)
        fail_msg("verify found nothing");
    check_error(status, &error);
    if (status == SSTORE_ERROR_DAMAGED && found.count == 0)
        fail_msg("verify returned 'damaged' without reporting a damage");
    store->cases++;
    check_all_ways(store, io_mask);
}

void damage_check_refused(damage_store *store)
{
    const uint64_t before = store->right;
    damage_check(store, ALL_WAYS);
    if (store->right != before)
        fail_msg("read as if it were whole");
}

void damage_check_whole(damage_store *store)
{
    sstore_error error = {.status = SSTORE_OK};
    const damage_store before = *store;
    assert_ok(sstore_verify(store->path, NULL, NULL, NULL, &error), &error);
    check_all_ways(store, ALL_WAYS);
    assert_int_equal(store->open_errors, before.open_errors);
    assert_int_equal(store->query_errors, before.query_errors);
    store->trials = before.trials; /* the report is of damaged ones */
    store->right = before.right;
}

void damage_report(const damage_store *store, const char *what)
{
    testing_figure("%s: %" PRIu64 " in %zu files of %zu bytes, all found by verify; read %" PRIu64 " times: %" PRIu64
                   " refused at open, %" PRIu64 " an error from a query, %" PRIu64 " every answer right, 0 wrong",
                   what, store->cases, store->files.count, store->total_bytes, store->trials, store->open_errors,
                   store->query_errors, store->right);
}
