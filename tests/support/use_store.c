#include "support/use_store.h"

#include <inttypes.h>

sstore_status store_build(const char *path, const sstore_build_options *options, const data_set *set, size_t piece,
                          sstore_error *error)
{
    sstore_build_options mine = SSTORE_BUILD_OPTIONS_INIT;
    if (options != NULL)
        mine = *options;
    if (set->id_kind == DATA_NO_IDS)
        mine.without_ids = 1;
    sstore_builder *builder = NULL;
    sstore_status status = sstore_builder_create(path, &mine, &builder, error);
    if (status != SSTORE_OK) {
        assert_null(builder);
        return status;
    }
    for (size_t done = 0; status == SSTORE_OK && done < set->count;) {
        size_t take = piece == 0 || piece > set->count - done ? set->count - done : piece;
        const uint64_t *ids = set->ids == NULL ? NULL : set->ids + done;
        status = sstore_builder_add(builder, set->fingerprints + done, ids, take, error);
        done += take;
    }
    if (status == SSTORE_OK)
        return sstore_builder_finish(builder, error);
    sstore_builder_abort(builder);
    return status;
}

void store_must_build(const char *path, const sstore_build_options *options, const data_set *set)
{
    sstore_build_options small = SSTORE_BUILD_OPTIONS_INIT;
    small.block_bytes = 512;
    small.memory_bytes = 1 << 20;
    small.threads = 1;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(store_build(path, options != NULL ? options : &small, set, 0, &error), &error);
}

sstore *store_must_open(const char *path, sstore_io io, sstore_strategy strategy)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    options.io = io;
    options.strategy = strategy;
    sstore *store = NULL;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(sstore_open(path, &options, &store, &error), &error);
    assert_non_null(store);
    return store;
}

sstore_cursor *store_must_cursor(const sstore *store)
{
    sstore_cursor *cursor = NULL;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(sstore_cursor_create(store, &cursor, &error), &error);
    assert_non_null(cursor);
    return cursor;
}

int store_collect(void *context, const sstore_match *match)
{
    matches_add(context, match);
    return 0;
}

sstore_status store_query(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, matches *out,
                          sstore_error *error)
{
    return sstore_query(cursor, fingerprint, distance, store_collect, out, error);
}

sstore_status store_query_sorted(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, matches *out,
                                 sstore_error *error)
{
    sstore_status status = sstore_query(cursor, fingerprint, distance, store_collect, out, error);
    matches_sort(out);
    return status;
}

sstore_status store_nearest_sorted(sstore_cursor *cursor, uint64_t fingerprint, uint32_t max_distance, matches *out,
                                   sstore_error *error)
{
    sstore_status status = sstore_query_nearest(cursor, fingerprint, max_distance, store_collect, out, error);
    matches_sort(out);
    return status;
}

sstore_status store_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                          uint32_t threads, matches *out, sstore_error *error)
{
    return sstore_query_batch(store, fingerprints, count, distance, threads, store_collect, out, error);
}

typedef struct comparison {
    const oracle *truth;
    size_t next;
    bool right;
} comparison;

static int compare_next(void *context, const sstore_record *record)
{
    comparison *now = context;
    const sstore_record *wanted = now->next < now->truth->count ? &now->truth->records[now->next] : NULL;
    if (wanted != NULL && wanted->fingerprint == record->fingerprint && wanted->id == record->id) {
        now->next++;
        return 0;
    }
    print_error("record %zu of %zu is %016" PRIx64 ", id %" PRIu64 "\n", now->next, now->truth->count,
                record->fingerprint, record->id);
    if (wanted != NULL)
        print_error("  wanted %016" PRIx64 ", id %" PRIu64 "\n", wanted->fingerprint, wanted->id);
    now->right = false;
    return 1;
}

sstore_status store_compare_records(sstore_cursor *cursor, const oracle *truth, bool *right_out, size_t *count_out,
                                    sstore_error *error)
{
    comparison now = {.truth = truth, .right = true};
    sstore_status status = sstore_each_record(cursor, compare_next, &now, error);
    *right_out = now.right;
    *count_out = now.next;
    return status;
}

int store_ignore_pair(void *context, const sstore_pair *pair)
{
    (void)context, (void)pair;
    return 0;
}

int store_ignore_clustered(void *context, const sstore_cluster_record *record)
{
    (void)context, (void)record;
    return 0;
}

int store_ignore_scanned(void *context, const sstore_scan_match *match)
{
    (void)context, (void)match;
    return 0;
}
