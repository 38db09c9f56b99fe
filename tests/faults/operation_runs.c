/* operation_runs.c - what the operations call, and how they check what they read. */
#include "faults/operation_runs.h"

#include "sstore_stream.h"
#include "support/scratch.h"
#include "support/use_store.h"
#include "support/widened.h"

#define QUERIES 8u

static sstore_write_options build_options(const operation *self, uint32_t threads)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.block_bytes = 256;
    options.memory_bytes = 1 << 20;
    options.threads = threads;
    options.plan = "2";
    options.id_index = self->id_index;
    stores_are_named = self->names;
    return options;
}

static sstore_join_options join_options(uint32_t threads)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    options.memory_bytes = 8 << 20;
    options.threads = threads;
    options.tmp_dir = scratch_folder();
    return options;
}

/* ----- writing ----- */

sstore_status run_build(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options options = build_options(self, threads);
    return store_build(self->path, &options, &self->first, 0, error);
}

sstore_status run_replace(const operation *self, uint32_t threads, sstore_error *error)
{
    sstore_write_options options = build_options(self, threads);
    options.force = true;
    return store_build(self->path, &options, &self->second, 50, error);
}

sstore_status run_add(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(self, threads);
    sstore_write_options options = options_to_add(&as_built);
    options.no_compact = !self->merges;
    return store_add(self->path, &options, self->second.fingerprints, self->second.ids, self->second.count, NULL,
                     error);
}

sstore_status run_remove(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(self, threads);
    sstore_write_options options = options_to_remove(&as_built);
    options.no_compact = !self->merges;
    return store_remove(self->path, &options, self->first.fingerprints, self->first.ids, REMOVED, NULL, error);
}

/* Remove records by their ids, or by the names of these. */
static sstore_status remove_keys(const operation *self, const sstore_name *names, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(self, threads);
    const sstore_write_options options = options_to_remove(&as_built);
    sstore_remover *remover;
    sstore_status status = sstore_remover_create(self->path, &options, &remover, error);
    if (status != SSTORE_OK)
        return status;
    status = names != NULL ? sstore_remover_remove_named(remover, names, REMOVED, error)
                           : sstore_remover_remove(remover, NULL, self->first.ids, REMOVED, error);
    if (status == SSTORE_OK)
        return sstore_remover_finish(remover, NULL, error);
    sstore_remover_abort(remover);
    return status;
}

sstore_status run_remove_ids(const operation *self, uint32_t threads, sstore_error *error)
{
    return remove_keys(self, NULL, threads, error);
}

sstore_status run_remove_names(const operation *self, uint32_t threads, sstore_error *error)
{
    char buffers[REMOVED][100];
    sstore_name names[REMOVED];
    for (size_t i = 0; i < REMOVED; i++)
        names[i] = store_name_of(self->first.ids[i], buffers[i]);
    return remove_keys(self, names, threads, error);
}

sstore_status run_replace_records(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(self, threads);
    sstore_write_options options = options_to_add(&as_built);
    options.no_compact = !self->merges;
    options.replace_records = true;
    return store_add(self->path, &options, self->second.fingerprints, self->second.ids, self->second.count, NULL,
                     error);
}

sstore_status run_compact(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(self, threads);
    const sstore_write_options options = options_to_compact(&as_built);
    return sstore_compact(self->path, SSTORE_COMPACTION_ALL, &options, NULL, error);
}

/* Replace the store by a merge of the one that was saved. */
sstore_status run_merge(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(self, threads);
    sstore_write_options options = options_to_merge(&as_built);
    const char *const inputs[] = {self->saved};
    options.force = true;
    return sstore_merge(self->path, inputs, 1, &options, NULL, error);
}

sstore_status run_reindex(const operation *self, uint32_t threads, sstore_error *error)
{
    return sstore_reindex(self->path, NULL, NULL, error);
}

static int take_answer(void *context, const sstore_dedup_answer *answer)
{
    return answer->index > UINT32_MAX;
}

/* Insert the second records, with names if their store has some. */
static sstore_status insert_second(const operation *self, sstore_dedup *dedup, sstore_error *error)
{
    const data_set *set = &self->second;
    const uint64_t *fingerprints = widened(set->fingerprints, set->count);
    char buffers[OTHERS][100];
    sstore_name names[OTHERS];
    for (size_t i = 0; i < OTHERS; i++)
        names[i] = store_name_of(set->ids[i], buffers[i]);
    return self->names ? sstore_dedup_insert_named(dedup, fingerprints, set->ids, names, set->count, NULL, take_answer,
                                                   NULL, error)
                       : sstore_dedup_insert(dedup, fingerprints, set->ids, set->count, NULL, take_answer, NULL, error);
}

sstore_status run_dedup(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(self, threads);
    sstore_write_options options = options_to_dedup(&as_built);
    sstore_dedup *dedup;
    options.distance = 0;
    options.no_compact = !self->merges;
    sstore_status status = sstore_dedup_open(self->path, &options, &dedup, error);
    if (status != SSTORE_OK)
        return status;
    status = insert_second(self, dedup, error);
    if (status == SSTORE_OK)
        status = sstore_dedup_publish(dedup, NULL, error);
    sstore_dedup_close(dedup);
    return status;
}

/* ----- reading ----- */

static void check_answer(const operation *self, sstore_status status, size_t query, uint32_t distance, matches *got)
{
    matches wanted = {0};
    record_set_query(&self->before, &self->first.fingerprints[query], distance, 0, &wanted);
    matches_sort(got);
    assert_true(status == SSTORE_OK ? matches_equal(got, &wanted) : matches_within(got, &wanted));
    matches_free(&wanted);
    matches_free(got);
}

/* Matches are gathered in separate memory, whose allocation must not fail. */
typedef struct gathered {
    sstore_match items[4 * RECORDS];
    uint64_t fingerprints[4 * RECORDS]; /* their first words */
    size_t count;
} gathered;

static int gather(void *context, const sstore_match *match)
{
    gathered *self = context;
    const size_t at = self->count;
    if (at == sizeof self->items / sizeof *self->items)
        return 0;
    self->fingerprints[at] = *match->fingerprint;
    self->items[at] = *match;
    self->items[at].fingerprint = &self->fingerprints[at];
    self->count++;
    return 0;
}

/* The gathered matches, after the faults. */
typedef struct asked {
    sstore_status status;
    size_t query;
    uint32_t distance;
    gathered got;
} asked;

static asked last_asked[QUERIES];
static size_t asked_count;

static sstore_status query_all(const operation *self, sstore_cursor *cursor, sstore_error *error)
{
    static const uint32_t distances[QUERIES] = {3, 0, 3, 1, 3, 2, 3, 20};
    sstore_status status = SSTORE_OK;
    for (asked_count = 0; status == SSTORE_OK && asked_count < QUERIES; asked_count++) {
        asked *now = &last_asked[asked_count];
        now->got.count = 0;
        now->query = asked_count * 11;
        now->distance = distances[asked_count];
        status = store_ask(cursor, self->first.fingerprints[now->query], now->distance, gather, &now->got, error);
        now->status = status;
    }
    return status;
}

void run_check_answers(const operation *self)
{
    for (size_t i = 0; i < asked_count; i++) {
        const asked *now = &last_asked[i];
        matches got = {0};
        for (size_t j = 0; j < now->got.count; j++)
            matches_add(&got, &now->got.items[j]);
        check_answer(self, now->status, now->query, now->distance, &got);
    }
    asked_count = 0;
}

#define PIECE 7u /* the capacity of a call of an iterator, which keeps what it needs between calls */

/* Read all records. */
static sstore_status check_records(const operation *self, const sstore *store, sstore_error *error)
{
    sstore_iterator *iterator;
    uint64_t fingerprints[PIECE * WIDENED_MAX_WORDS], ids[PIECE];
    const sstore_columns columns = {.struct_size = sizeof columns, .fingerprint = fingerprints, .id = ids};
    const record_set *truth = &self->before;
    size_t count = PIECE, total = 0;
    sstore_status status = sstore_iterate_records(store, &iterator, error);
    if (status != SSTORE_OK)
        return status;
    while (status == SSTORE_OK && count > 0) {
        status = sstore_iterator_next(iterator, &columns, PIECE, &count, error);
        for (size_t i = 0; status == SSTORE_OK && i < count; i++, total++)
            assert_true(narrowed(fingerprints + i * widened_words) == truth->fingerprints[total] &&
                        ids[i] == truth->ids[total]);
    }
    if (status == SSTORE_OK)
        assert_int_equal(total, truth->count);
    sstore_iterator_free(iterator);
    return status;
}

/* Of check_ids(). */
typedef struct found_ids {
    const operation *self;
    size_t count;
} found_ids;

static int check_id(void *context, const sstore_match *record)
{
    found_ids *found = context;
    const operation *self = found->self;
    assert_int_equal(record->id, self->before.ids[record->query_index]);
    assert_int_equal(narrowed(record->fingerprint), self->before.fingerprints[record->query_index]);
    found->count++;
    return 0;
}

int run_count_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    char buffer[100];
    const sstore_name wanted = store_name_of(id, buffer);
    (*(size_t *)context)++;
    assert_int_equal(name->size, wanted.size);
    assert_memory_equal(name->bytes, wanted.bytes, name->size);
    return 0;
}

/* Look up the names of all ids, and records by some names. */
static sstore_status check_names(const operation *self, sstore_cursor *cursor, sstore_error *error)
{
    size_t count = 0;
    char buffer[100];
    found_ids found = {.self = self};
    sstore_status status = sstore_names(cursor, self->before.ids, self->before.count, run_count_name, &count, error);
    if (status != SSTORE_OK)
        return status;
    assert_int_equal(count, self->before.count);
    const sstore_name name = store_name_of(self->before.ids[0], buffer);
    status = sstore_get_named(cursor, &name, 1, check_id, &found, error);
    if (status == SSTORE_OK)
        assert_int_equal(found.count, 1);
    return status;
}

/* Look up records by their ids, by the index or without one. */
static sstore_status check_ids(const operation *self, sstore_cursor *cursor, sstore_error *error)
{
    found_ids found = {.self = self};
    const size_t count = self->id_index ? self->before.count : 1;
    const sstore_status status = sstore_get(cursor, self->before.ids, count, check_id, &found, error);
    if (status == SSTORE_OK)
        assert_int_equal(found.count, count);
    return status == SSTORE_OK && self->names ? check_names(self, cursor, error) : status;
}

/* Read the matches or pairs of an iterator, of which there are so many, within 3; or records of clusters. */
static sstore_status check_rows(sstore_iterator *iterator, sstore_columns columns, uint64_t wanted, sstore_error *error)
{
    uint64_t fingerprints[PIECE * WIDENED_MAX_WORDS], ids[PIECE], total = 0;
    uint32_t distances[PIECE];
    size_t count = PIECE;
    sstore_status status = SSTORE_OK;
    columns.fingerprint = fingerprints;
    columns.id = ids;
    columns.distance = distances;
    while (status == SSTORE_OK && count > 0) {
        status = sstore_iterator_next(iterator, &columns, PIECE, &count, error);
        for (size_t i = 0; status == SSTORE_OK && i < count; i++, total++)
            assert_true(distances[i] <= 3 || columns.cluster != NULL);
    }
    if (status == SSTORE_OK)
        assert_int_equal(total, wanted);
    sstore_iterator_free(iterator);
    return status;
}

static sstore_status check_matches(const operation *self, const sstore *store, uint32_t threads, sstore_error *error)
{
    const uint64_t *queries = widened(self->queries, self->before.count);
    const sstore_columns columns = SSTORE_COLUMNS_INIT;
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_iterator *iterator;
    options.threads = threads;
    const sstore_status status = sstore_iterate_matches(store, queries, self->before.count, 3, &options, &iterator,
                                                        error);
    return status == SSTORE_OK ? check_rows(iterator, columns, 2 * self->near_pairs + self->before.count, error)
                               : status;
}

static sstore_status read_store(const operation *self, uint32_t threads, sstore_io io, sstore_error *error)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    options.io = io;
    options.strategy = SSTORE_STRATEGY_PROBE;
    sstore *store, *newest = NULL;
    sstore_cursor *cursor = NULL;
    sstore_status status = sstore_open(self->path, &options, &store, error);
    if (status != SSTORE_OK)
        return status;
    status = sstore_cursor_create(store, &cursor, error);
    if (status == SSTORE_OK)
        status = query_all(self, cursor, error);
    if (status == SSTORE_OK)
        status = check_ids(self, cursor, error);
    if (status == SSTORE_OK)
        status = check_matches(self, store, threads, error);
    if (status == SSTORE_OK)
        status = check_records(self, store, error);
    if (status == SSTORE_OK)
        status = sstore_reopen(store, &newest, error);
    sstore_close(newest);
    sstore_cursor_free(cursor);
    sstore_close(store);
    return status;
}

sstore_status run_read(const operation *self, uint32_t threads, sstore_error *error)
{
    sstore_status status = read_store(self, threads, SSTORE_IO_PREAD, error);
    return status == SSTORE_OK ? sstore_verify(self->path, NULL, NULL, NULL, error) : status;
}

sstore_status run_read_memory(const operation *self, uint32_t threads, sstore_error *error)
{
    return read_store(self, threads, SSTORE_IO_MEMORY, error);
}

static int count_pair(void *context, const sstore_pair *pair)
{
    *(uint64_t *)context += pair->distance <= 3;
    return 0;
}

typedef struct collecting {
    sstore_collection *collection;
    sstore_status status;
    sstore_error *error;
} collecting;

static int collect_match(void *context, const sstore_stream_match *match)
{
    collecting *into = context;
    into->status = sstore_collection_add(into->collection, match, 1, into->error);
    return into->status != SSTORE_OK;
}

static int count_stream_match(void *context, const sstore_stream_match *match)
{
    *(uint64_t *)context += match->distance <= 3;
    return 0;
}

static sstore_status match_stream(const operation *self, uint32_t threads, sstore_error *error)
{
    sstore_collection_options options = SSTORE_COLLECTION_OPTIONS_INIT;
    sstore_stream_options stream = SSTORE_STREAM_OPTIONS_INIT;
    sstore_stream_matcher *matcher = NULL;
    collecting into = {.status = SSTORE_OK, .error = error};
    uint64_t count = 0;
    options.tmp_dir = scratch_folder();
    options.fingerprint_bits = stream.fingerprint_bits = 64 * widened_words;
    stream.threads = threads;
    sstore_status status = sstore_stream_matcher_create(widened(self->queries, self->before.count), self->before.count,
                                                        &stream, &matcher, error);
    if (status == SSTORE_OK)
        status = sstore_collection_create(&options, &into.collection, error);
    if (status == SSTORE_OK)
        status = sstore_stream_matcher_feed(matcher, widened(self->first.fingerprints, self->first.count),
                                            self->first.ids, self->first.count, collect_match, &into, error);
    if (status == SSTORE_STOPPED)
        status = into.status;
    if (status == SSTORE_OK)
        status = sstore_collection_report(into.collection, count_stream_match, &count, error);
    if (status == SSTORE_OK) /* equal queries are one */
        assert_int_equal(count, self->stream_matches);
    sstore_collection_free(into.collection);
    sstore_stream_matcher_free(matcher);
    return status;
}

/* Match a stream after a store was read, since every operation calls for files. */
sstore_status run_read_and_stream(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_status status = run_read(self, threads, error);
    return status == SSTORE_OK ? match_stream(self, threads, error) : status;
}

/* The components of a path, which is one. */
static sstore_status connect(const operation *self, uint32_t threads, sstore_error *error)
{
    sstore_components_options options = SSTORE_COMPONENTS_OPTIONS_INIT;
    sstore_components *components;
    uint64_t nodes[64], smallest[64], seen = 0;
    size_t count = 1;
    options.threads = threads;
    options.memory_bytes = (uint64_t)8 << 20;
    options.tmp_dir = scratch_folder();
    sstore_status status = sstore_components_create(&options, &components, error);
    for (uint64_t i = 0; status == SSTORE_OK && i < self->before.count; i++)
        status = sstore_components_add(components, (uint64_t[]){i}, (uint64_t[]){i + 1}, 1, error);
    while (status == SSTORE_OK && count > 0) {
        status = sstore_components_next(components, nodes, smallest, 64, &count, error);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(smallest[i], 0);
        seen += count;
    }
    if (status == SSTORE_OK)
        assert_int_equal(seen, self->before.count + 1);
    sstore_components_free(components);
    return status;
}

/* The pairs of all tables together are those of the store. */
static sstore_status join_records(const operation *self, const sstore *store, sstore_error *error)
{
    sstore_record_join_options options = SSTORE_RECORD_JOIN_OPTIONS_INIT;
    static uint64_t fingerprints[RECORDS + OTHERS], ids[RECORDS + OTHERS]; /* no memory of the test's may be refused */
    const sstore_columns columns = {.struct_size = sizeof columns, .fingerprint = fingerprints, .id = ids};
    sstore_iterator *records;
    uint64_t pairs = 0;
    size_t count = 0;
    options.distance = SSTORE_DEFAULT_DISTANCE;
    sstore_status status = sstore_iterate_records(store, &records, error);
    if (status == SSTORE_OK)
        status = sstore_iterator_next(records, &columns, RECORDS + OTHERS, &count, error);
    sstore_iterator_free(records);
    for (; status == SSTORE_OK && options.table <= options.distance; options.table++)
        status = sstore_join_records(&columns, count, NULL, 0, &options, count_pair, &pairs, error);
    if (status == SSTORE_OK)
        assert_int_equal(pairs, self->near_pairs);
    return status;
}

static sstore_status check_pairs(const sstore *left, const sstore *right, const sstore_join_options *options,
                                 uint64_t wanted, sstore_error *error)
{
    uint64_t fingerprints[PIECE], ids[PIECE];
    const sstore_columns columns = {.struct_size = sizeof columns, .other_fingerprint = fingerprints, .other_id = ids};
    sstore_iterator *iterator;
    const sstore_status status = sstore_iterate_pairs(left, right, options, &iterator, error);
    return status == SSTORE_OK ? check_rows(iterator, columns, wanted, error) : status;
}

static sstore_status check_clusters(const sstore *store, const sstore_join_options *options, uint64_t wanted,
                                    sstore_error *error)
{
    const sstore_cluster_options cluster_options = options_to_cluster(options, true);
    uint64_t clusters[PIECE], sizes[PIECE];
    const sstore_columns columns = {.struct_size = sizeof columns, .cluster = clusters, .cluster_size = sizes};
    sstore_iterator *iterator;
    const sstore_status status = sstore_iterate_clusters(store, &cluster_options, &iterator, error);
    return status == SSTORE_OK ? check_rows(iterator, columns, wanted, error) : status;
}

sstore_status run_join(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_join_options options = join_options(threads);
    sstore *store, *other = NULL;
    sstore_status status = sstore_open(self->path, NULL, &store, error);
    if (status != SSTORE_OK)
        return status;
    status = check_pairs(store, NULL, &options, self->near_pairs, error);
    if (status == SSTORE_OK)
        status = check_clusters(store, &options, self->before.count, error);
    if (status == SSTORE_OK)
        status = sstore_open(self->path, NULL, &other, error);
    if (status == SSTORE_OK)
        status = check_pairs(store, other, &options, 2 * self->near_pairs + self->before.count, error);
    if (status == SSTORE_OK)
        status = join_records(self, store, error);
    if (status == SSTORE_OK)
        status = connect(self, threads, error);
    sstore_close(other);
    sstore_close(store);
    return status == SSTORE_OK ? match_stream(self, threads, error) : status;
}
