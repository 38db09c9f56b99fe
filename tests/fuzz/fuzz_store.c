/*
 * fuzz_store.c - a small store that the input changes, with all checksums made right again. Every call is made on it.
 * No call may access memory outside of buffers. Results must be consistent, errors only those that damage may cause,
 * and every call must end.
 *   1 byte: the shape; 1 byte: how it is read; 1 byte: what else is read; 1 byte: what is written; then the changes, as
 *   support/edited_store.c takes them
 */
#include <string.h>
#include <unistd.h>

#include "output/walk.h"
#include "sstore.h"
#include "sstore_statistics.h"
#include "support/edited_store.h"
#include "support/fuzzing.h"
#include "support/scratch.h"
#include "support/use_store.h"

#define MAX_REPORTED 200000u /* then callbacks stop the call */
#define QUERIES 3u
#define GIVEN 16u /* records, ids or names that a change is given */

typedef struct session {
    const edited_store *made;
    const char *path;
    sstore *store;
    uint32_t words, query, distance; /* query: its number */
    uint64_t reported;
} session;

/* Damaged or unsupported: no call may fail with another status, whatever the bytes are. */
static void check_status(sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_OK || status == SSTORE_STOPPED)
        return;
    FUZZ_CHECK(error->status == status && error->message[0] != '\0');
    if (status != SSTORE_ERROR_DAMAGED && status != SSTORE_ERROR_UNSUPPORTED)
        fprintf(stderr, "%s: %s\n", sstore_status_name(status), error->message);
    FUZZ_CHECK(status == SSTORE_ERROR_DAMAGED || status == SSTORE_ERROR_UNSUPPORTED);
}

static int enough(session *self)
{
    return ++self->reported >= MAX_REPORTED;
}

/* ----- reading ----- */

static const uint64_t *query_of(const session *self, uint32_t number)
{
    return self->made->queries + (size_t)number * self->words;
}

static uint32_t distance_from(const session *self, uint32_t query, const sstore_match *match)
{
    return sstore_hamming_distance(query_of(self, query), match->fingerprint, 64 * self->words);
}

static int take_match(void *context, const sstore_match *match)
{
    session *self = context;
    FUZZ_CHECK(match->query_index < 16 && match->distance <= self->distance &&
               distance_from(self, (uint32_t)match->query_index, match) == match->distance);
    return enough(self);
}

static int take_one_match(void *context, const sstore_match *match)
{
    session *self = context;
    FUZZ_CHECK(match->distance <= self->distance && match->query_index == 0 &&
               distance_from(self, self->query, match) == match->distance);
    return enough(self);
}

static int take_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    return enough(context);
}

static int take_explanation(void *context, const sstore_table_explanation *explanation)
{
    return enough(context);
}

static int take_problem(void *context, const sstore_error *problem)
{
    FUZZ_CHECK(problem->status != SSTORE_OK && problem->message[0] != '\0');
    return enough(context);
}

static void query(session *self, sstore_cursor *cursor)
{
    static const uint32_t distances[QUERIES] = {3, 1, 40};
    sstore_error error;
    for (self->query = 0; self->query < QUERIES; self->query++) {
        const uint64_t *fingerprint = query_of(self, self->query);
        self->distance = distances[self->query];
        self->reported = 0;
        check_status(sstore_query(cursor, fingerprint, self->distance, take_one_match, self, &error), &error);
    }
    self->query = QUERIES - 1;
    self->distance = 64 * self->words;
    check_status(store_nearest(cursor, query_of(self, self->query), self->distance, take_one_match, self, &error),
                 &error);
    check_status(sstore_explain(cursor, query_of(self, self->query), 2, take_explanation, self, &error), &error);
}

static int take_allowed(void *context, const sstore_match *match)
{
    FUZZ_CHECK(match->id > 0 && match->id <= 1000 && match->id != 17);
    return take_one_match(context, match);
}

/* Queries that find only the records of some ids. */
static void query_some(session *self, sstore_cursor *cursor)
{
    static const uint64_t excluded = 17;
    sstore_id_filter filter = SSTORE_ID_FILTER_INIT;
    sstore_error error;
    filter.min_id = 1;
    filter.max_id = 1000;
    filter.excluded_ids = &excluded;
    FUZZ_CHECK(sstore_cursor_set_filter(cursor, &filter, &error) == SSTORE_OK);
    self->query = 0;
    self->distance = 40;
    self->reported = 0;
    check_status(sstore_query(cursor, query_of(self, 0), self->distance, take_allowed, self, &error), &error);
    FUZZ_CHECK(sstore_cursor_set_filter(cursor, NULL, &error) == SSTORE_OK);
}

static int take_record_of_id(void *context, const sstore_match *record)
{
    FUZZ_CHECK(record->query_index < 4 && record->distance == 0);
    return enough(context);
}

static int take_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    FUZZ_CHECK(name->size > 0 && name->size <= SSTORE_MAX_NAME_BYTES && memchr(name->bytes, 0, name->size) == NULL);
    return enough(context);
}

/* The names of ids, records by these names, and by others that the store can have. */
static void get_named(session *self, sstore_cursor *cursor, const uint64_t *ids, size_t count)
{
    sstore_name names[4];
    char buffers[4][100];
    sstore_error error;
    for (size_t i = 0; i < count; i++)
        names[i] = store_name_of(ids[i], buffers[i]);
    self->reported = 0;
    check_status(sstore_names(cursor, ids, count, take_name, self, &error), &error);
    check_status(sstore_get_named(cursor, names, count, take_record_of_id, self, &error), &error);
}

/* Records by id: of ids that records have, and of others. */
static void get(session *self, sstore_cursor *cursor)
{
    static const uint64_t ids[] = {17, 0, UINT64_MAX, 1000};
    sstore_statistics facts = SSTORE_STATISTICS_INIT;
    sstore_error error;
    check_status(sstore_stat(self->store, &facts, &error), &error);
    self->reported = 0;
    if (facts.has_ids)
        check_status(sstore_get(cursor, ids, 4, take_record_of_id, self, &error), &error);
    if (facts.has_ids)
        query_some(self, cursor);
    if (facts.has_names)
        get_named(self, cursor, ids, 4);
}

static void query_many(session *self, uint32_t distance)
{
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_error error;
    options.threads = 1;
    self->reported = 0;
    self->distance = distance;
    check_status(walk_matches(self->store, self->made->queries, 16, distance, &options, take_match, self, &error),
                 &error);
}

static void each_record(session *self)
{
    sstore_error error;
    self->reported = 0;
    check_status(walk_records(self->store, take_record, self, &error), &error);
}

/* Its first block and its last one. */
static void look_at_table(const session *self, uint32_t segment, uint32_t number, uint64_t block_count)
{
    sstore_block_statistics block = {.struct_size = sizeof block};
    sstore_error error;
    if (block_count == 0)
        return;
    check_status(sstore_stat_block(self->store, segment, number, 0, &block, &error), &error);
    check_status(sstore_stat_block(self->store, segment, number, block_count - 1, &block, &error), &error);
}

static void look_at_facts(const session *self)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_segment_statistics segment = {.struct_size = sizeof segment};
    sstore_word_statistics word = {.struct_size = sizeof word};
    sstore_table_statistics table = {.struct_size = sizeof table};
    sstore_error error;
    FUZZ_CHECK(sstore_stat(self->store, &facts, &error) == SSTORE_OK);
    for (uint32_t i = 0; i < facts.segment_count; i++) {
        FUZZ_CHECK(sstore_stat_segment(self->store, i, &segment, &error) == SSTORE_OK);
        for (uint32_t j = 0; !segment.is_removal && j < facts.fingerprint_bits / 64; j++)
            FUZZ_CHECK(sstore_stat_word(self->store, i, j, &word, &error) == SSTORE_OK);
        for (uint32_t j = 0; j < segment.table_count; j++) {
            FUZZ_CHECK(sstore_stat_table(self->store, i, j, &table, &error) == SSTORE_OK);
            look_at_table(self, i, j, table.block_count);
        }
    }
}

static void sample(const session *self)
{
    uint64_t fingerprints[QUERIES * EDITED_MAX_WORDS];
    size_t count = QUERIES + 1;
    sstore_error error;
    check_status(sstore_sample(self->store, *query_of(self, 0), fingerprints, QUERIES, &count, &error), &error);
    FUZZ_CHECK(count <= QUERIES);
}

/* ----- joins ----- */

static int take_pair(void *context, const sstore_pair *pair)
{
    FUZZ_CHECK(sstore_hamming_distance(pair->fingerprint, pair->other_fingerprint, 64) == pair->distance);
    return enough(context);
}

static int take_clustered(void *context, const cluster_record *record)
{
    FUZZ_CHECK(record->cluster_size > 0);
    return enough(context);
}

static sstore_join_options join_options(void)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    options.threads = 1;
    options.memory_bytes = 8 << 20;
    options.tmp_dir = scratch_folder();
    return options;
}

static void join_itself(session *self)
{
    const sstore_join_options options = join_options();
    sstore_error error;
    sstore *again = NULL;
    check_status(sstore_reopen(self->store, &again, &error), &error);
    if (again != NULL)
        check_status(walk_pairs(self->store, again, &options, take_pair, self, &error), &error);
    sstore_close(again);
}

/* One of the calls that take long. */
static void read_more(session *self, uint32_t what)
{
    const sstore_join_options options = join_options();
    const sstore_cluster_options clusters = options_to_cluster(&options, true);
    sstore_error error;
    self->reported = 0;
    if (self->words > 1 && what % 8 < 3)
        return;
    switch (what % 8) {
    case 0: check_status(walk_pairs(self->store, NULL, &options, take_pair, self, &error), &error); break;
    case 1: check_status(walk_clusters(self->store, &clusters, take_clustered, self, &error), &error); break;
    case 2: join_itself(self); break;
    case 3: query_many(self, 5); break;
    default: break;
    }
}

/* ----- writing ----- */

static sstore_write_options build_options(uint32_t words)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.threads = 1;
    options.memory_bytes = 1 << 20;
    options.block_bytes = 1024;             /* so that compacting a single segment rewrites it */
    options.plan = words == 1 ? "2" : NULL; /* choosing a plan would take most of the time */
    options.ignore_free_space = true;
    return options;
}

/* A writer may refuse counts that a malicious store declares. */
static void check_written(sstore_status status, const sstore_error *error)
{
    if (status != SSTORE_ERROR_ARGUMENT && status != SSTORE_ERROR_MEMORY)
        check_status(status, error);
}

static const uint64_t given_ids[GIVEN] = {0, 1, 2, 3, 4, 5, 6, 7, UINT64_MAX};

/* The names of the given ids. */
static const sstore_name *given_names(void)
{
    static char buffers[GIVEN][100];
    static sstore_name names[GIVEN];
    for (size_t i = 0; i < GIVEN; i++)
        names[i] = store_name_of(given_ids[i], buffers[i]);
    return names;
}

/* Remove the records of some ids, or of some names. */
static void remove_keys(const session *self, bool by_name)
{
    const sstore_write_options as_built = build_options(self->words);
    const sstore_write_options options = options_to_remove(&as_built);
    sstore_remover *remover;
    sstore_error error;
    sstore_status status = sstore_remover_create(self->path, &options, &remover, &error);
    check_written(status, &error);
    if (status != SSTORE_OK)
        return;
    status = by_name ? sstore_remover_remove_named(remover, given_names(), GIVEN, &error)
                     : sstore_remover_remove(remover, NULL, given_ids, GIVEN, &error);
    check_written(status, &error);
    if (status == SSTORE_OK)
        check_written(sstore_remover_finish(remover, NULL, &error), &error);
    else
        sstore_remover_abort(remover);
}

static void remove_records(const session *self)
{
    const sstore_write_options as_built = build_options(self->words);
    const sstore_write_options options = options_to_remove(&as_built);
    sstore_error error;
    check_written(store_remove(self->path, &options, self->made->queries, NULL, GIVEN, NULL, &error), &error);
}

/* Add records, in place of those of their ids or names if `replaces`. Without ids, names tell them. */
static void add(const session *self, bool replaces, bool with_ids)
{
    const sstore_write_options as_built = build_options(self->words);
    sstore_write_options options = options_to_add(&as_built);
    const uint64_t *ids = with_ids ? given_ids : NULL;
    sstore_builder *builder;
    sstore_error error;
    options.replace_records = replaces;
    sstore_status status = sstore_builder_create_addition(self->path, &options, &builder, &error);
    check_written(status, &error);
    if (status != SSTORE_OK)
        return;
    status = self->made->has_names
                 ? sstore_builder_add_named(builder, self->made->queries, ids, given_names(), GIVEN, &error)
                 : sstore_builder_add(builder, self->made->queries, ids, GIVEN, &error);
    check_written(status, &error);
    if (status == SSTORE_OK)
        check_written(sstore_builder_finish(builder, NULL, &error), &error);
    else
        sstore_builder_abort(builder);
}

static int take_answer(void *context, const sstore_dedup_answer *answer)
{
    return enough(context);
}

/* Insert what is new, with given ids, and then without. */
static sstore_status insert(session *self, sstore_dedup *dedup, sstore_error *error)
{
    const edited_store *made = self->made;
    const size_t half = GIVEN / 2;
    const uint64_t *first = made->queries, *second = made->queries + half * self->words;
    const sstore_name *names = given_names();
    if (!made->has_names)
        return sstore_dedup_insert(dedup, first, made->has_ids ? made->queries : NULL, GIVEN, NULL, take_answer, self,
                                   error);
    const sstore_status status = sstore_dedup_insert_named(dedup, first, given_ids, names, half, NULL, take_answer,
                                                           self, error);
    return status == SSTORE_OK
               ? sstore_dedup_insert_named(dedup, second, NULL, names, half, NULL, take_answer, self, error)
               : status;
}

static void take_in(session *self)
{
    const sstore_write_options as_built = build_options(self->words);
    const sstore_write_options options = options_to_dedup(&as_built);
    sstore_dedup *dedup;
    sstore_error error;
    sstore_status status = sstore_dedup_open(self->path, &options, &dedup, &error);
    check_written(status, &error);
    if (status != SSTORE_OK)
        return;
    self->reported = 0;
    status = insert(self, dedup, &error);
    check_written(status, &error);
    if (status == SSTORE_OK)
        check_written(sstore_dedup_publish(dedup, NULL, &error), &error);
    sstore_dedup_close(dedup);
}

static void merge(session *self)
{
    const sstore_write_options as_built = build_options(self->words);
    const sstore_write_options options = options_to_merge(&as_built);
    char merged[300];
    const char *const inputs[] = {self->path};
    sstore_error error;
    snprintf(merged, sizeof merged, "%s-merged", self->path);
    check_written(sstore_merge(merged, inputs, 1, &options, NULL, &error), &error);
    scratch_remove(merged);
}

static void compact(const session *self, bool id_index)
{
    const sstore_write_options as_built = build_options(self->words);
    sstore_write_options options = options_to_compact(&as_built);
    sstore_error error;
    options.id_index = id_index;
    check_written(sstore_compact(self->path, SSTORE_COMPACTION_ALL, &options, NULL, &error), &error);
}

/* Rebuild all directories. */
static void reindex(const session *self)
{
    sstore_reindex_options options = SSTORE_REINDEX_OPTIONS_INIT;
    sstore_error error;
    options.all = true;
    check_written(sstore_reindex(self->path, &options, NULL, &error), &error);
}

/* One of the calls that change the store. The store is removed afterwards. */
static void write_to(session *self, uint32_t what)
{
    switch (what % 16) {
    case 0: add(self, false, true); break;
    case 1: remove_records(self); break;
    case 2: remove_keys(self, false); break;
    case 3: compact(self, false); break;
    case 4: merge(self); break;
    case 5: take_in(self); break;
    case 6: remove_keys(self, true); break;
    case 7: add(self, true, true); break;
    case 8: add(self, true, false); break;
    case 9: compact(self, true); break;
    case 10: reindex(self); break;
    default: return;
    }
    scratch_remove(self->path);
}

/* ----- the target ----- */

static void read_from(session *self)
{
    sstore_cursor *cursor = NULL;
    sstore_error error;
    look_at_facts(self);
    sample(self);
    check_status(sstore_cursor_create(self->store, &cursor, &error), &error);
    if (cursor != NULL) {
        query(self, cursor);
        get(self, cursor);
    }
    sstore_cursor_free(cursor);
    each_record(self);
    query_many(self, 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[256];
    fuzz_input input = {.at = data, .left = size};
    if (path[0] == '\0')
        snprintf(path, sizeof path, "%s", scratch_path("store"));
    edited_store made = edited_make((uint32_t)fuzz_take(&input, 1) % EDITED_SHAPES);
    const uint32_t how = (uint32_t)fuzz_take(&input, 1), what = (uint32_t)fuzz_take(&input, 1);
    const uint32_t written = (uint32_t)fuzz_take(&input, 1);
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore_error error;
    session self = {.made = &made, .path = path, .words = made.words};
    options.io = (sstore_io)(SSTORE_IO_PREAD + how % 3);
    options.strategy = (sstore_strategy)(how / 3 % 3);
    edited_change(&made, &input);
    edited_set_checksums(&made);
    edited_write(&made, path);
    /* An empty store may have become one of other fingerprints than the queries. */
    const bool has_queries = edited_word_count(&made) == made.words;
    const sstore_status status = sstore_open(path, &options, &self.store, &error);
    check_status(status, &error);
    FUZZ_CHECK((status == SSTORE_OK) == (self.store != NULL));
    if (status == SSTORE_OK && has_queries) {
        read_from(&self);
        read_more(&self, what);
    }
    sstore_close(self.store);
    check_status(sstore_verify(path, NULL, take_problem, &self, &error), &error);
    if (has_queries)
        write_to(&self, written);
    edited_free(&made);
    return 0;
}
