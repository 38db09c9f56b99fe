#include "faults/operations.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/walk_joins.h"
#include "sstore_statistics.h"
#include "sstore_stream.h"
#include "support/lost_directory.h"
#include "support/scratch.h"
#include "support/use_store.h"
#include "support/widened.h"

#define RECORDS 240u
#define OTHERS 120u
#define REMOVED 60u
#define QUERIES 8u
#define SPILLED_RECORDS 90000u /* more than sorters have with the minimum memory */

static sstore_write_options build_options(uint32_t threads)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.block_bytes = 256;
    options.memory_bytes = 1 << 20;
    options.threads = threads;
    options.plan = "2";
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

static sstore_status build(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options options = build_options(threads);
    return store_build(self->path, &options, &self->first, 0, error);
}

static sstore_status replace(const operation *self, uint32_t threads, sstore_error *error)
{
    sstore_write_options options = build_options(threads);
    options.replace = true;
    return store_build(self->path, &options, &self->second, 50, error);
}

static sstore_status add(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(threads);
    sstore_write_options options = options_to_add(&as_built);
    options.no_compact = !self->merges;
    return store_add(self->path, &options, self->second.fingerprints, self->second.ids, self->second.count, NULL,
                     error);
}

static sstore_status take_out(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(threads);
    sstore_write_options options = options_to_remove(&as_built);
    options.no_compact = !self->merges;
    return store_remove(self->path, &options, self->first.fingerprints, self->first.ids, REMOVED, NULL, error);
}

static sstore_status take_out_ids(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(threads);
    const sstore_write_options options = options_to_remove(&as_built);
    sstore_remover *remover;
    sstore_status status = sstore_remover_create(self->path, &options, &remover, error);
    if (status != SSTORE_OK)
        return status;
    status = sstore_remover_remove(remover, NULL, self->first.ids, REMOVED, error);
    if (status == SSTORE_OK)
        return sstore_remover_finish(remover, NULL, error);
    sstore_remover_abort(remover);
    return status;
}

static sstore_status compact(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(threads);
    const sstore_write_options options = options_to_compact(&as_built);
    return sstore_compact(self->path, SSTORE_COMPACTION_ALL, &options, NULL, error);
}

static sstore_status reindex(const operation *self, uint32_t threads, sstore_error *error)
{
    return sstore_reindex(self->path, NULL, NULL, error);
}

static int take_answer(void *context, const sstore_dedup_answer *answer)
{
    return answer->index > UINT32_MAX;
}

static sstore_status take_in(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_write_options as_built = build_options(threads);
    sstore_write_options options = options_to_dedup(&as_built);
    sstore_dedup *dedup;
    options.distance = 0;
    options.no_compact = !self->merges;
    sstore_status status = sstore_dedup_open(self->path, &options, &dedup, error);
    if (status != SSTORE_OK)
        return status;
    status = sstore_dedup_insert(dedup, widened(self->second.fingerprints, self->second.count), self->second.ids,
                                 self->second.count, NULL, take_answer, NULL, error);
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

static void check_asked(const operation *self)
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

static int count_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    ++*(uint64_t *)context;
    return 0;
}

static int count_match(void *context, const sstore_match *match)
{
    *(uint64_t *)context += match->distance <= 3;
    return 0;
}

static sstore_status read_store(const operation *self, uint32_t threads, sstore_io io, sstore_error *error)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore_batch_options batch = SSTORE_BATCH_OPTIONS_INIT;
    batch.threads = threads;
    options.io = io;
    options.strategy = SSTORE_STRATEGY_PROBE;
    sstore *store, *newest = NULL;
    sstore_cursor *cursor = NULL;
    uint64_t records = 0, found = 0;
    sstore_status status = sstore_open(self->path, &options, &store, error);
    if (status != SSTORE_OK)
        return status;
    status = sstore_cursor_create(store, &cursor, error);
    if (status == SSTORE_OK)
        status = query_all(self, cursor, error);
    if (status == SSTORE_OK)
        status = store_ask_batch(store, self->queries, self->before.count, 3, &batch, count_match, &found, error);
    if (status == SSTORE_OK)
        assert_int_equal(found, 2 * self->near_pairs + self->before.count);
    if (status == SSTORE_OK)
        status = store_each_record(store, count_record, &records, error);
    if (status == SSTORE_OK)
        assert_int_equal(records, self->before.count);
    if (status == SSTORE_OK)
        status = sstore_reopen(store, &newest, error);
    sstore_close(newest);
    sstore_cursor_free(cursor);
    sstore_close(store);
    return status;
}

static sstore_status read_by_pread(const operation *self, uint32_t threads, sstore_error *error)
{
    sstore_status status = read_store(self, threads, SSTORE_IO_PREAD, error);
    return status == SSTORE_OK ? sstore_verify(self->path, NULL, NULL, NULL, error) : status;
}

static sstore_status read_into_memory(const operation *self, uint32_t threads, sstore_error *error)
{
    return read_store(self, threads, SSTORE_IO_MEMORY, error);
}

static int count_pair(void *context, const sstore_pair *pair)
{
    *(uint64_t *)context += pair->distance <= 3;
    return 0;
}

static int count_clustered(void *context, const cluster_record *record)
{
    *(uint64_t *)context += record->cluster_size > 0;
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
static sstore_status read_and_match_stream(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_status status = read_by_pread(self, threads, error);
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

static sstore_status join_all(const operation *self, uint32_t threads, sstore_error *error)
{
    const sstore_join_options options = join_options(threads);
    const sstore_cluster_options cluster_options = options_to_cluster(&options, true);
    sstore *store, *other = NULL;
    uint64_t pairs = 0, clustered = 0, joined_pairs = 0;
    sstore_status status = sstore_open(self->path, NULL, &store, error);
    if (status != SSTORE_OK)
        return status;
    status = walk_pairs(store, NULL, &options, count_pair, &pairs, error);
    if (status == SSTORE_OK)
        assert_int_equal(pairs, self->near_pairs);
    if (status == SSTORE_OK)
        status = walk_clusters(store, &cluster_options, count_clustered, &clustered, error);
    if (status == SSTORE_OK)
        assert_int_equal(clustered, self->before.count);
    if (status == SSTORE_OK)
        status = sstore_open(self->path, NULL, &other, error);
    if (status == SSTORE_OK)
        status = walk_pairs(store, other, &options, count_pair, &joined_pairs, error);
    if (status == SSTORE_OK)
        assert_int_equal(joined_pairs, 2 * self->near_pairs + self->before.count);
    if (status == SSTORE_OK)
        status = join_records(self, store, error);
    if (status == SSTORE_OK)
        status = connect(self, threads, error);
    sstore_close(other);
    sstore_close(store);
    return status == SSTORE_OK ? match_stream(self, threads, error) : status;
}

#define PIECE 7u /* the capacity of a call of an iterator */

/* Read records by an iterator, which keeps what it needs between calls. */
static sstore_status iterate_records(const operation *self, const sstore *store, sstore_error *error)
{
    sstore_iterator *iterator;
    uint64_t fingerprints[PIECE], ids[PIECE];
    const sstore_columns columns = {.struct_size = sizeof columns, .fingerprint = fingerprints, .id = ids};
    size_t count = PIECE, total = 0;
    sstore_status status = sstore_iterate_records(store, &iterator, error);
    if (status != SSTORE_OK)
        return status;
    while (status == SSTORE_OK && count > 0) {
        status = sstore_iterator_next(iterator, &columns, PIECE, &count, error);
        for (size_t i = 0; status == SSTORE_OK && i < count; i++, total++)
            assert_true(fingerprints[i] == self->before.fingerprints[total] && ids[i] == self->before.ids[total]);
    }
    if (status == SSTORE_OK)
        assert_int_equal(total, self->before.count);
    sstore_iterator_free(iterator);
    return status;
}

static sstore_status iterate_matches(const operation *self, const sstore *store, uint32_t threads, sstore_error *error)
{
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_columns columns = SSTORE_COLUMNS_INIT;
    sstore_iterator *iterator;
    uint32_t distances[PIECE];
    size_t count = PIECE, total = 0;
    options.threads = threads;
    columns.distance = distances;
    sstore_status status = sstore_iterate_matches(store, self->queries, self->before.count, 3, &options, &iterator,
                                                  error);
    if (status != SSTORE_OK)
        return status;
    while (status == SSTORE_OK && count > 0) {
        status = sstore_iterator_next(iterator, &columns, PIECE, &count, error);
        for (size_t i = 0; status == SSTORE_OK && i < count; i++, total++)
            assert_in_range(distances[i], 0, 3);
    }
    if (status == SSTORE_OK)
        assert_int_equal(total, 2 * self->near_pairs + self->before.count);
    sstore_iterator_free(iterator);
    return status;
}

static sstore_status iterate_pairs(const operation *self, const sstore *store, uint32_t threads, sstore_error *error)
{
    const sstore_join_options options = join_options(threads);
    sstore_columns columns = SSTORE_COLUMNS_INIT;
    sstore_iterator *iterator;
    uint32_t distances[PIECE];
    size_t count = PIECE, total = 0;
    columns.distance = distances;
    sstore_status status = sstore_iterate_pairs(store, NULL, &options, &iterator, error);
    if (status != SSTORE_OK)
        return status;
    while (status == SSTORE_OK && count > 0) {
        status = sstore_iterator_next(iterator, &columns, PIECE, &count, error);
        for (size_t i = 0; status == SSTORE_OK && i < count; i++, total++)
            assert_in_range(distances[i], 0, 3);
    }
    if (status == SSTORE_OK)
        assert_int_equal(total, self->near_pairs);
    sstore_iterator_free(iterator);
    return status;
}

static sstore_status iterate_clusters(const operation *self, const sstore *store, uint32_t threads, sstore_error *error)
{
    const sstore_join_options join = join_options(threads);
    const sstore_cluster_options options = options_to_cluster(&join, true);
    sstore_columns columns = SSTORE_COLUMNS_INIT;
    sstore_iterator *iterator;
    uint64_t sizes[PIECE];
    size_t count = PIECE, total = 0;
    columns.cluster_size = sizes;
    sstore_status status = sstore_iterate_clusters(store, &options, &iterator, error);
    if (status != SSTORE_OK)
        return status;
    while (status == SSTORE_OK && count > 0) {
        status = sstore_iterator_next(iterator, &columns, PIECE, &count, error);
        for (size_t i = 0; status == SSTORE_OK && i < count; i++, total++)
            assert_true(sizes[i] > 0);
    }
    if (status == SSTORE_OK)
        assert_int_equal(total, self->before.count);
    sstore_iterator_free(iterator);
    return status;
}

static sstore_status iterate_all(const operation *self, uint32_t threads, sstore_error *error)
{
    sstore *store;
    sstore_status status = sstore_open(self->path, NULL, &store, error);
    if (status != SSTORE_OK)
        return status;
    status = iterate_records(self, store, error);
    if (status == SSTORE_OK)
        status = iterate_matches(self, store, threads, error);
    if (status == SSTORE_OK)
        status = iterate_pairs(self, store, threads, error);
    if (status == SSTORE_OK)
        status = iterate_clusters(self, store, threads, error);
    sstore_close(store);
    return status;
}

/* ----- stages ----- */

static data_set joined(const data_set *first, const data_set *second)
{
    data_set both = *first;
    both.count = first->count + second->count;
    both.fingerprints = test_calloc(both.count, sizeof *both.fingerprints);
    both.ids = test_calloc(both.count, sizeof *both.ids);
    memcpy(both.fingerprints, first->fingerprints, first->count * sizeof *both.fingerprints);
    memcpy(both.fingerprints + first->count, second->fingerprints, second->count * sizeof *both.fingerprints);
    memcpy(both.ids, first->ids, first->count * sizeof *both.ids);
    memcpy(both.ids + first->count, second->ids, second->count * sizeof *both.ids);
    return both;
}

/* What joins, batches and streams of the records must count. */
static void count_near(operation *self)
{
    const record_set *truth = &self->before;
    self->queries = test_calloc(truth->count, sizeof *self->queries);
    for (size_t i = 0; i < truth->count; i++) {
        const uint64_t fingerprint = self->queries[i] = truth->fingerprints[i];
        const bool is_new = i == 0 || fingerprint != truth->fingerprints[i - 1];
        for (size_t j = 0; j < truth->count; j++) {
            const bool is_near = sstore_hamming_distance(fingerprint, truth->fingerprints[j]) <= 3;
            self->near_pairs += is_near && j > i;
            self->stream_matches += is_near && is_new;
        }
    }
}

static void must(const operation *self, operation_fn run)
{
    sstore_error error;
    assert_ok(run(self, 1, &error), &error);
}

/* Of three segments' directories the first is missing, and the last has a flipped bit; so do some of word indexes. */
static void lose_directories(const operation *self, rng *random)
{
    file_list files = file_list_make(self->path, "directory.mdb");
    assert_int_equal(files.count, widened_words == 1 ? 3 : 3 + 2 * widened_words);
    for (size_t i = 0; i < files.count; i += 2)
        directory_lose(scratch_path("stage/%s", files.names[i]), i == 0 ? LOSS_GONE : LOSS_BIT, random);
    file_list_free(&files);
}

static void make(operation *self, uint64_t seed)
{
    rng random = rng_seeded(seed);
    data_make(&random, DATA_CLUSTERED, DATA_IDS, RECORDS, false, &self->first);
    data_make(&random, DATA_UNIFORM, DATA_IDS, OTHERS, false, &self->second);
    for (size_t i = 0; i < RECORDS; i++)
        self->first.ids[i] = i;
    for (size_t i = 0; i < OTHERS; i++)
        self->second.ids[i] = RECORDS + i;
    snprintf(self->path, sizeof self->path, "%s", scratch_path("stage"));
    data_set both = joined(&self->first, &self->second);
    const data_set rest = {.kind = both.kind,
                           .id_kind = both.id_kind,
                           .count = RECORDS - REMOVED,
                           .fingerprints = both.fingerprints + REMOVED,
                           .ids = both.ids + REMOVED};
    const data_set rest_of_both = {.kind = both.kind,
                                   .id_kind = both.id_kind,
                                   .count = RECORDS + OTHERS - REMOVED,
                                   .fingerprints = both.fingerprints + REMOVED,
                                   .ids = both.ids + REMOVED};
    scratch_remove(self->path);
    if (self->run != build)
        must(self, build);
    const bool has_rest = self->run == compact || self->run == read_into_memory || self->run == reindex;
    if (has_rest) {
        must(self, add);
        must(self, take_out);
    }
    if (self->mends)
        lose_directories(self, &random);
    if (self->run != build) {
        snprintf(self->saved, sizeof self->saved, "%s", scratch_path("saved-%s", self->name));
        folder_copy(self->path, self->saved);
    }
    self->before = record_set_of_data(has_rest ? &rest_of_both : &self->first);
    count_near(self);
    self->after = record_set_of_data(has_rest                                             ? &rest_of_both
                                     : self->run == replace                               ? &self->second
                                     : self->run == add || self->run == take_in           ? &both
                                     : self->run == take_out || self->run == take_out_ids ? &rest
                                                                                          : &self->first);
    data_free(&both);
}

void operations_make(uint64_t seed, operation operations[OPERATION_COUNT])
{
    const operation all[OPERATION_COUNT] = {
        {.name = "build", .run = build, .writes = true},
        {.name = "replace", .run = replace, .writes = true},
        {.name = "add", .run = add, .writes = true},
        {.name = "remove", .run = take_out, .writes = true},
        {.name = "remove-ids", .run = take_out_ids, .writes = true},
        {.name = "compact", .run = compact, .writes = true},
        {.name = "reindex", .run = reindex, .writes = true, .mends = true},
        {.name = "dedup", .run = take_in, .writes = true},
        {.name = "add-merged", .run = add, .writes = true, .merges = true},
        {.name = "remove-merged", .run = take_out, .writes = true, .merges = true},
        {.name = "dedup-merged", .run = take_in, .writes = true, .merges = true},
        {.name = "read", .run = read_by_pread},
        {.name = "read-memory", .run = read_into_memory},
        {.name = "join", .run = join_all},
        {.name = "iterate", .run = iterate_all},
    };
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        operations[i] = all[i];
        make(&operations[i], seed + i);
    }
}

void operations_make_wide(uint64_t seed, operation operations[WIDE_OPERATION_COUNT])
{
    const operation all[WIDE_OPERATION_COUNT] = {
        {.name = "build-wide", .run = build, .writes = true},
        {.name = "replace-wide", .run = replace, .writes = true},
        {.name = "add-wide", .run = add, .writes = true},
        {.name = "remove-wide", .run = take_out, .writes = true},
        {.name = "compact-wide", .run = compact, .writes = true},
        {.name = "reindex-wide", .run = reindex, .writes = true, .mends = true},
        {.name = "dedup-wide", .run = take_in, .writes = true},
        {.name = "add-merged-wide", .run = add, .writes = true, .merges = true},
        {.name = "read-wide", .run = read_and_match_stream},
        {.name = "read-memory-wide", .run = read_into_memory},
    };
    widened_words = 2;
    for (size_t i = 0; i < WIDE_OPERATION_COUNT; i++) {
        operations[i] = all[i];
        make(&operations[i], seed + i);
    }
}

void operations_free_wide(operation operations[WIDE_OPERATION_COUNT])
{
    for (size_t i = 0; i < WIDE_OPERATION_COUNT; i++)
        operation_free(&operations[i]);
    widened_words = 1;
}

void operations_free(operation operations[OPERATION_COUNT])
{
    for (size_t i = 0; i < OPERATION_COUNT; i++)
        operation_free(&operations[i]);
}

void operation_make_spilling(uint64_t seed, operation *made)
{
    rng random = rng_seeded(seed);
    *made = (operation){.name = "build-spilled", .run = build, .writes = true};
    snprintf(made->path, sizeof made->path, "%s", scratch_path("stage"));
    data_make(&random, DATA_CLUSTERED, DATA_IDS, SPILLED_RECORDS, false, &made->first);
    made->before = record_set_of_data(&made->second);
    made->after = record_set_of_data(&made->first);
}

void operation_free(operation *made)
{
    if (made->queries != NULL)
        test_free(made->queries);
    record_set_free(&made->before);
    record_set_free(&made->after);
    data_free(&made->first);
    data_free(&made->second);
}

void operation_set_stage(const operation *self)
{
    scratch_remove(self->path);
    if (self->saved[0] != '\0')
        folder_copy(self->saved, self->path);
}

/* ----- states ----- */

static bool holds(const sstore *store, const record_set *truth)
{
    bool right;
    size_t count;
    sstore_error error;
    assert_ok(store_compare_records(store, truth, &right, &count, &error), &error);
    return right && count == truth->count;
}

bool operation_is_seen(const operation *self)
{
    return self->mends || self->before.count != self->after.count;
}

/* A store that cannot be opened must be unchanged. Returns the number of its additional files. */
static size_t check_unmended(const operation *self)
{
    file_list files = file_list_make(self->path, ""), kept = file_list_make(self->saved, "");
    for (size_t i = 0; i < kept.count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", self->saved, kept.names[i]);
        file_bytes wanted = file_load(path);
        snprintf(path, sizeof path, "%s/%s", self->path, kept.names[i]);
        file_bytes found = file_load(path);
        assert_int_equal(found.size, wanted.size);
        assert_memory_equal(found.data, wanted.data, wanted.size);
        file_bytes_free(&found);
        file_bytes_free(&wanted);
    }
    const size_t others = files.count - kept.count;
    file_list_free(&files);
    file_list_free(&kept);
    return others;
}

void operation_check_tidy(const operation *self)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error;
    sstore *store;
    size_t folders = 0;
    if (!scratch_exists(self->path))
        return;
    const sstore_status status = sstore_open(self->path, NULL, &store, &error);
    if (status == SSTORE_ERROR_DAMAGED && self->mends) {
        assert_int_equal(check_unmended(self), 0);
        return;
    }
    assert_ok(status, &error);
    assert_ok(sstore_stat(store, &facts, &error), &error);
    sstore_close(store);
    file_list files = file_list_make(self->path, "");
    for (size_t i = 0; i < files.count; i++) {
        folders += strstr(files.names[i], "/directory.mdb") != NULL && strstr(files.names[i], "/word-") == NULL;
        if (strncmp(files.names[i], "seg-", 4) != 0 && strcmp(files.names[i], "MANIFEST") != 0)
            fail_msg("%s was left behind", files.names[i]);
    }
    assert_int_equal(folders, facts.segment_count);
    file_list_free(&files);
}

store_state operation_check(const operation *self)
{
    sstore_error error;
    sstore *store;
    check_asked(self);
    if (!scratch_exists(self->path))
        return STORE_ABSENT;
    const sstore_status status = sstore_open(self->path, NULL, &store, &error);
    if (status == SSTORE_ERROR_NOT_FOUND && self->saved[0] == '\0')
        return STORE_ABSENT; /* the folder without a store */
    if (status == SSTORE_ERROR_DAMAGED && self->mends) {
        (void)check_unmended(self);
        return STORE_BEFORE;
    }
    assert_ok(status, &error);
    assert_ok(sstore_verify(self->path, NULL, NULL, NULL, &error), &error);
    sstore_statistics facts = {.struct_size = sizeof facts};
    assert_ok(sstore_stat(store, &facts, &error), &error);
    const bool is_after = facts.record_count == self->after.count; /* since it opens, it was repaired */
    assert_true(holds(store, is_after ? &self->after : &self->before));
    sstore_close(store);
    return is_after ? STORE_AFTER : STORE_BEFORE;
}
