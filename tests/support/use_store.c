#include "support/use_store.h"

#include <inttypes.h>
#include <stdio.h>

#include "output/walk.h"
#include "support/widened.h"

/* The plan of a build. Stores of several words take none. */
static const char *plan_of(const sstore_write_options *options)
{
    return widened_words == 1 ? options->plan : NULL;
}

bool stores_are_named;

#define NAMED_AT_ONCE 1000u

sstore_name store_name_of(uint64_t id, char buffer[100])
{
    const int size = snprintf(buffer, 100, "/%" PRIu64 "/name-%" PRIx64, id % 7, id ^ id >> 5);
    return (sstore_name){.bytes = buffer, .size = (size_t)size};
}

/* Give records with names to a builder, whose fingerprints are widened. */
static sstore_status add_named(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                               sstore_error *error)
{
    static char buffers[NAMED_AT_ONCE][100];
    sstore_name names[NAMED_AT_ONCE];
    sstore_status status = SSTORE_OK;
    for (size_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
        size = count - done < NAMED_AT_ONCE ? count - done : NAMED_AT_ONCE;
        for (size_t i = 0; i < size; i++)
            names[i] = store_name_of(ids != NULL ? ids[done + i] : fingerprints[done + i], buffers[i]);
        status = sstore_builder_add_named(builder, widened(fingerprints + done, size), ids != NULL ? ids + done : NULL,
                                          names, size, error);
    }
    return status;
}

/* Give records to a builder, as many at once as can be widened. */
static sstore_status add_records(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                 size_t count, sstore_error *error)
{
    const size_t room = widened_words == 1 ? count : WIDENED_ROOM;
    sstore_status status = SSTORE_OK;
    if (stores_are_named)
        return add_named(builder, fingerprints, ids, count, error);
    for (size_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
        size = count - done < room ? count - done : room;
        status = sstore_builder_add(builder, widened(fingerprints + done, size), ids == NULL ? NULL : ids + done, size,
                                    error);
    }
    return status;
}

sstore_status store_build(const char *path, const sstore_write_options *options, const data_set *set, size_t piece,
                          sstore_error *error)
{
    sstore_write_options mine = SSTORE_WRITE_OPTIONS_INIT;
    if (options != NULL)
        mine = *options;
    const uint32_t words = set->words == 0 ? 1 : set->words;
    if (set->id_kind == DATA_NO_IDS)
        mine.no_ids = true;
    mine.names |= stores_are_named;
    mine.fingerprint_bits = 64 * widened_words * words;
    mine.plan = plan_of(&mine);
    sstore_builder *builder = NULL;
    sstore_status status = sstore_builder_create(path, &mine, &builder, error);
    if (status != SSTORE_OK) {
        assert_null(builder);
        return status;
    }
    for (size_t done = 0; status == SSTORE_OK && done < set->count;) {
        size_t take = piece == 0 || piece > set->count - done ? set->count - done : piece;
        const data_set part = data_part(set, done, done + take);
        status = add_records(builder, part.fingerprints, part.ids, take, error);
        done += take;
    }
    if (status == SSTORE_OK)
        return sstore_builder_finish(builder, NULL, error);
    sstore_builder_abort(builder);
    return status;
}

void store_must_build(const char *path, const sstore_write_options *options, const data_set *set)
{
    sstore_write_options small = SSTORE_WRITE_OPTIONS_INIT;
    small.block_bytes = 512;
    small.memory_bytes = 1 << 20;
    small.threads = 1;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(store_build(path, options != NULL ? options : &small, set, 0, &error), &error);
}

/* Some defaults with the options of a build that all calls use. */
static sstore_write_options with_common(sstore_write_options defaults, const sstore_write_options *build)
{
    defaults.block_bytes = build->block_bytes;
    defaults.threads = build->threads;
    defaults.ignore_free_space = build->ignore_free_space;
    defaults.tmp_dir = build->tmp_dir;
    defaults.memory_bytes = build->memory_bytes;
    defaults.on_progress = build->on_progress;
    defaults.progress_context = build->progress_context;
    return defaults;
}

sstore_write_options options_to_add(const sstore_write_options *build)
{
    sstore_write_options options = options_to_dedup(build);
    options.expected_record_count = build->expected_record_count;
    options.expected_max_id = build->expected_max_id;
    return options;
}

sstore_write_options options_to_remove(const sstore_write_options *build)
{
    sstore_write_options options = with_common(change_apart, build);
    options.recipe = build->recipe;
    return options;
}

sstore_write_options options_to_merge(const sstore_write_options *build)
{
    sstore_write_options options = with_common((sstore_write_options)SSTORE_WRITE_OPTIONS_INIT, build);
    options.force = build->force;
    options.plan = plan_of(build);
    return options;
}

sstore_write_options options_to_compact(const sstore_write_options *build)
{
    sstore_write_options options = options_to_dedup(build);
    options.no_compact = false;
    return options;
}

sstore_write_options options_to_dedup(const sstore_write_options *build)
{
    sstore_write_options options = with_common(change_apart, build);
    options.plan = plan_of(build);
    options.recipe = build->recipe;
    return options;
}

sstore_cluster_options options_to_cluster(const sstore_join_options *from, bool with_singles)
{
    sstore_cluster_options to = SSTORE_CLUSTER_OPTIONS_INIT;
    to.distance = from->distance;
    to.threads = from->threads;
    to.with_singles = with_singles;
    to.memory_bytes = from->memory_bytes;
    to.tmp_dir = from->tmp_dir;
    to.on_progress = from->on_progress;
    to.progress_context = from->progress_context;
    to.excluded = from->excluded;
    to.excluded_count = from->excluded_count;
    to.excluded_distance = from->excluded_distance;
    return to;
}

sstore_status store_add(const char *path, const sstore_write_options *options, const uint64_t *fingerprints,
                        const uint64_t *ids, size_t count, sstore_change *change_out, sstore_error *error)
{
    sstore_builder *builder;
    sstore_status status = sstore_builder_create_addition(path, options != NULL ? options : &change_apart, &builder,
                                                          error);
    if (status != SSTORE_OK)
        return status;
    status = add_records(builder, fingerprints, ids, count, error);
    if (status == SSTORE_OK)
        return sstore_builder_finish(builder, change_out, error);
    sstore_builder_abort(builder);
    return status;
}

sstore_status store_remove(const char *path, const sstore_write_options *options, const uint64_t *fingerprints,
                           const uint64_t *ids, size_t count, sstore_change *change_out, sstore_error *error)
{
    sstore_remover *remover;
    sstore_status status = sstore_remover_create(path, options != NULL ? options : &change_apart, &remover, error);
    if (status != SSTORE_OK)
        return status;
    const size_t room = widened_words == 1 ? count : WIDENED_ROOM;
    for (size_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
        size = count - done < room ? count - done : room;
        const uint64_t *keys = widened(fingerprints + done, size);
        status = sstore_remover_remove(remover, keys, ids != NULL ? ids + done : NULL, size, error);
    }
    if (status == SSTORE_OK)
        return sstore_remover_finish(remover, change_out, error);
    sstore_remover_abort(remover);
    return status;
}

sstore_status store_change(const char *path, bool removes, const uint64_t *fingerprints, const uint64_t *ids,
                           size_t count, sstore_error *error)
{
    sstore_write_options add = change_apart;
    sstore_write_options remove = change_apart;
    add.memory_bytes = remove.memory_bytes = 1 << 20;
    add.threads = remove.threads = 1;
    return removes ? store_remove(path, &remove, fingerprints, ids, count, NULL, error)
                   : store_add(path, &add, fingerprints, ids, count, NULL, error);
}

sstore_status store_shard(const char *path, const char *input_path, uint32_t shard, uint32_t shard_count,
                          const sstore_write_options *options, sstore_change *change_out, sstore_error *error)
{
    sstore_write_options taken = SSTORE_WRITE_OPTIONS_INIT;
    if (options != NULL)
        taken = *options;
    taken.shard = shard;
    taken.shard_count = shard_count;
    return sstore_merge(path, &input_path, 1, &taken, change_out, error);
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

/* The callback of a test, and how it gets the matches or records of wide stores. */
typedef struct narrowing {
    sstore_match_fn on_match;
    record_fn on_record;
    void *context;
} narrowing;

static int narrow_match(void *context, const sstore_match *match)
{
    const narrowing *to = context;
    const uint64_t fingerprint = narrowed(match->fingerprint);
    sstore_match narrow = *match;
    narrow.fingerprint = &fingerprint;
    return to->on_match(to->context, &narrow);
}

sstore_status store_ask(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, sstore_match_fn on_match,
                        void *context, sstore_error *error)
{
    narrowing to = {.on_match = on_match, .context = context};
    return widened_words == 1 ? sstore_query(cursor, &fingerprint, distance, on_match, context, error)
                              : sstore_query(cursor, widened(&fingerprint, 1), distance, narrow_match, &to, error);
}

sstore_status store_ask_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                              const sstore_batch_options *options, sstore_match_fn on_match, void *context,
                              sstore_error *error)
{
    narrowing to = {.on_match = on_match, .context = context};
    const bool wide = widened_words > 1;
    return walk_matches(store, widened(fingerprints, count), count, distance, options, wide ? narrow_match : on_match,
                        wide ? &to : context, error);
}

static int narrow_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    const narrowing *to = context;
    const uint64_t narrow = narrowed(fingerprint);
    return to->on_record(to->context, &narrow, id);
}

sstore_status store_each_record(const sstore *store, record_fn on_record, void *context, sstore_error *error)
{
    narrowing to = {.on_record = on_record, .context = context};
    return widened_words == 1 ? walk_records(store, on_record, context, error)
                              : walk_records(store, narrow_record, &to, error);
}

int store_collect_stream(void *context, const sstore_stream_match *match)
{
    matches_put(context, match->query, match->distance, match->fingerprint, match->id);
    return 0;
}

sstore_status store_query(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, matches *out,
                          sstore_error *error)
{
    return store_ask(cursor, fingerprint, distance, store_collect, out, error);
}

sstore_status store_query_sorted(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, matches *out,
                                 sstore_error *error)
{
    sstore_status status = store_query(cursor, fingerprint, distance, out, error);
    matches_sort(out);
    return status;
}

sstore_status store_nearest(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t max_distance,
                            sstore_match_fn on_match, void *context, sstore_error *error)
{
    uint32_t distance;
    uint64_t count;
    const sstore_columns columns = {.struct_size = sizeof columns, .distance = &distance};
    const sstore_status status = sstore_query_nearest(cursor, fingerprint, max_distance, &columns, 1, &count, error);
    return status == SSTORE_OK && count > 0 ? sstore_query(cursor, fingerprint, distance, on_match, context, error)
                                            : status;
}

sstore_status store_nearest_sorted(sstore_cursor *cursor, uint64_t fingerprint, uint32_t max_distance, matches *out,
                                   sstore_error *error)
{
    narrowing to = {.on_match = store_collect, .context = out};
    sstore_status status = widened_words == 1
                               ? store_nearest(cursor, &fingerprint, max_distance, store_collect, out, error)
                               : store_nearest(cursor, widened(&fingerprint, 1), max_distance, narrow_match, &to,
                                               error);
    matches_sort(out);
    return status;
}

sstore_status store_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                          uint32_t threads, matches *out, sstore_error *error)
{
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    options.threads = threads;
    return store_ask_batch(store, fingerprints, count, distance, &options, store_collect, out, error);
}

static int put_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    record_set_put(context, fingerprint, id);
    return 0;
}

record_set store_must_read(const sstore *store)
{
    record_set made = record_set_new(sstore_fingerprint_bits(store) / 64);
    sstore_error error;
    assert_ok(walk_records(store, put_record, &made, &error), &error);
    return made;
}

typedef struct comparison {
    const record_set *truth;
    size_t next;
    bool right;
} comparison;

static int compare_next(void *context, const uint64_t *fingerprint, uint64_t id)
{
    comparison *now = context;
    const record_set *truth = now->truth;
    const bool is_wanted = now->next < truth->count;
    if (is_wanted && truth->fingerprints[now->next] == *fingerprint && truth->ids[now->next] == id) {
        now->next++;
        return 0;
    }
    print_error("record %zu of %zu is %016" PRIx64 ", id %" PRIu64 "\n", now->next, truth->count, *fingerprint, id);
    if (is_wanted)
        print_error("  wanted %016" PRIx64 ", id %" PRIu64 "\n", truth->fingerprints[now->next], truth->ids[now->next]);
    now->right = false;
    return 1;
}

sstore_status store_compare_records(const sstore *store, const record_set *truth, bool *right_out, size_t *count_out,
                                    sstore_error *error)
{
    comparison now = {.truth = truth, .right = true};
    sstore_status status = store_each_record(store, compare_next, &now, error);
    *right_out = now.right;
    *count_out = now.next;
    return status;
}

int store_ignore_pair(void *context, const sstore_pair *pair)
{
    (void)context, (void)pair;
    return 0;
}

int store_ignore_clustered(void *context, const cluster_record *record)
{
    (void)context, (void)record;
    return 0;
}

int store_ignore_scanned(void *context, const sstore_stream_match *match)
{
    (void)context, (void)match;
    return 0;
}
