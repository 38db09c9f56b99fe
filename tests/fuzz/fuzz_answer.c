/*
 * fuzz_answer.c - queries of a store that is valid or has one defect. A valid store must give the answers of brute
 * force. Any other store must give the same answers, or the call must report damage. If the call does not notice the
 * defect, it must report no record twice, and none that is nowhere in the store. Columns must agree with callbacks, and
 * iterators of different capacities with each other. Every call must end.
 *   1 byte: how the store is read, which calls are made, the capacity of columns;
 *   then the store, as support/invalid_store.c takes it
 */
#include "output/walk.h"
#include "sstore_statistics.h"
#include "support/fuzzing.h"
#include "support/store_case.h"
#include "support/use_store.h"
#include "support/walk_records.h"

/* What is read by probes, and by a full scan. */
#define PROBING (BROKEN_CONTENT | BROKEN_OTHER_TABLES | BROKEN_DIRECTORY | BROKEN_COUNTS)
#define SCANNING (BROKEN_CONTENT | BROKEN_DIRECTORY | BROKEN_COUNTS)

#define MAX_CAPACITY 8u

typedef struct session {
    store_case made;
    sstore_strategy strategy;
    bool asks_one, asks_all;
    size_t capacity; /* of columns, at most MAX_CAPACITY */
    sstore *store;
    sstore_cursor *cursor;
} session;

static int take_match(void *context, const sstore_match *match)
{
    matches_add(context, match);
    return 0;
}

/* Columns with unused room, from which matches are read. */
typedef struct match_room {
    uint64_t query_index[MAX_CAPACITY], fingerprint[MAX_CAPACITY], id[MAX_CAPACITY];
    uint32_t distance[MAX_CAPACITY];
} match_room;

static sstore_columns columns_of(match_room *room)
{
    return (sstore_columns){.struct_size = sizeof(sstore_columns),
                            .fingerprint = room->fingerprint,
                            .id = room->id,
                            .distance = room->distance,
                            .query_index = room->query_index};
}

static void add_columns(const match_room *room, size_t count, matches *to)
{
    for (size_t i = 0; i < count; i++)
        matches_put(to, &room->query_index[i], room->distance[i], &room->fingerprint[i], room->id[i]);
}

static int take_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    record_set_put(context, fingerprint, id);
    return 0;
}

static int take_explanation(void *context, const sstore_table_explanation *explanation)
{
    *(uint64_t *)context += 1;
    return 0;
}

static int take_problem(void *context, const sstore_error *problem)
{
    FUZZ_CHECK(problem->status != SSTORE_OK && problem->message[0] != '\0');
    *(uint64_t *)context += 1;
    return 0;
}

/* The distance of each match is right and at most the query's. */
static void check_distances(const session *self, const matches *got, uint32_t distance)
{
    for (size_t i = 0; i < got->count; i++) {
        const sstore_match match = matches_get(got, i);
        STORE_CASE_CHECK(&self->made, match.distance <= distance && match.query_index < 16);
    }
}

/* Ask the query into columns, which hold the first of its sorted matches. It reads fewer ids, so it may miss damage.
 * It counts the others by blocks. So of malformed contents it may also find damage that the query did not read; and if
 * the ids do not fit the fingerprints, it may count what no block has. */
static void query_columns(const session *self, uint64_t fingerprint, uint32_t distance, sstore_status wanted_status,
                          matches *wanted)
{
    match_room room;
    matches got = {0};
    sstore_error error;
    uint64_t count = 0;
    const sstore_columns columns = columns_of(&room);
    step_count_begin("query into columns");
    const sstore_status status = sstore_query_columns(self->cursor, &fingerprint, distance, &columns, self->capacity,
                                                      &count, &error);
    const bool ids_fit = store_case_keeps(&self->made, BROKEN_IDS);
    const bool ok = store_case_ok(&self->made, status, &error);
    STORE_CASE_CHECK(&self->made, ok || status == wanted_status || !store_case_keeps(&self->made, BROKEN_CONTENT));
    if (ok && wanted_status == SSTORE_OK && ids_fit) {
        STORE_CASE_CHECK(&self->made, count == wanted->count);
        add_columns(&room, count < self->capacity ? count : self->capacity, &got);
        matches_sort(wanted);
        store_case_check_same_matches(&self->made, SSTORE_ERROR_DAMAGED, &got, wanted); /* there may be more */
    }
    matches_free(&got);
}

static void query(const session *self, uint64_t fingerprint, uint32_t distance)
{
    matches got = {0}, wanted = {0};
    sstore_error error;
    step_count_begin("query");
    const sstore_status status = sstore_query(self->cursor, &fingerprint, distance, take_match, &got, &error);
    const bool ok = store_case_ok(&self->made, status, &error);
    const bool scans = self->strategy == SSTORE_STRATEGY_FULL_SCAN;
    const bool exact = ok && store_case_keeps(&self->made, scans ? SCANNING : PROBING);
    if (exact)
        record_set_query(&self->made.truth->truth, &fingerprint, distance, 0, &wanted);
    check_distances(self, &got, distance);
    query_columns(self, fingerprint, distance, status, &got);
    store_case_check_matches(&self->made, &got, &wanted, exact);
    matches_free(&got);
    matches_free(&wanted);
}

static void query_nearest(const session *self, uint64_t fingerprint)
{
    matches got = {0}, wanted = {0};
    sstore_error error;
    step_count_begin("nearest");
    const sstore_status status = store_nearest(self->cursor, &fingerprint, 64, take_match, &got, &error);
    const bool exact = store_case_ok(&self->made, status, &error) && store_case_keeps(&self->made, PROBING);
    if (exact)
        record_set_nearest(&self->made.truth->truth, &fingerprint, 64, &wanted);
    store_case_check_matches(&self->made, &got, &wanted, exact);
    matches_free(&got);
    matches_free(&wanted);
}

/* Ask the batch through an iterator. */
static void iterate_batch(const session *self, uint32_t distance, const sstore_batch_options *options,
                          sstore_status wanted_status, const matches *wanted)
{
    match_room room;
    matches got = {0};
    sstore_iterator *iterator = NULL;
    sstore_error error;
    size_t count;
    const sstore_columns columns = columns_of(&room);
    step_count_begin("iterator of matches");
    sstore_status status = sstore_iterate_matches(self->store, self->made.made.queries, 16, distance, options,
                                                  &iterator, &error);
    for (count = 1; status == SSTORE_OK && count > 0; add_columns(&room, count, &got)) {
        count = 0;
        status = sstore_iterator_next(iterator, &columns, self->capacity, &count, &error);
    }
    sstore_iterator_free(iterator);
    STORE_CASE_CHECK(&self->made, status == wanted_status);
    store_case_check_same_matches(&self->made, status, &got, wanted);
    matches_free(&got);
}

static void query_batch(const session *self, uint32_t distance)
{
    const uint64_t *queries = self->made.made.queries;
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    matches got = {0}, wanted = {0};
    sstore_error error;
    options.threads = 1;
    step_count_begin("batch");
    const sstore_status status = walk_matches(self->store, queries, 16, distance, &options, take_match, &got, &error);
    const bool exact = store_case_ok(&self->made, status, &error) && store_case_keeps(&self->made, PROBING);
    for (uint64_t i = 0; exact && i < 16; i++)
        record_set_query(&self->made.truth->truth, &queries[i], distance, i, &wanted);
    check_distances(self, &got, distance);
    iterate_batch(self, distance, &options, status, &got);
    store_case_check_matches(&self->made, &got, &wanted, exact);
    matches_free(&got);
    matches_free(&wanted);
}

static void explain(const session *self, uint32_t distance)
{
    sstore_error error;
    uint64_t tables = 0;
    step_count_begin("explain");
    const sstore_status status = sstore_explain(self->cursor, &self->made.made.queries[0], distance, take_explanation,
                                                &tables, &error);
    (void)store_case_ok(&self->made, status, &error);
}

/* Read the records from an iterator. */
static void iterate_records(const session *self, sstore_status wanted_status, const record_set *wanted)
{
    uint64_t fingerprints[MAX_CAPACITY], ids[MAX_CAPACITY];
    const sstore_columns columns = {.struct_size = sizeof columns, .fingerprint = fingerprints, .id = ids};
    sstore_iterator *iterator = NULL;
    sstore_error error;
    size_t done = 0, count = 1;
    step_count_begin("iterator of records");
    sstore_status status = sstore_iterate_records(self->store, &iterator, &error);
    while (status == SSTORE_OK && count > 0) {
        count = 0;
        status = sstore_iterator_next(iterator, &columns, self->capacity, &count, &error);
        for (size_t i = 0; i < count; i++, done++)
            STORE_CASE_CHECK(&self->made, done >= wanted->count || (wanted->fingerprints[done] == fingerprints[i] &&
                                                                    wanted->ids[done] == ids[i]));
    }
    sstore_iterator_free(iterator);
    STORE_CASE_CHECK(&self->made, status == wanted_status && (status != SSTORE_OK || done == wanted->count));
}

static void each_record(const session *self)
{
    record_set got = {.count = 0};
    sstore_error error;
    step_count_begin("each record");
    const sstore_status status = walk_records(self->store, take_record, &got, &error);
    const bool ok = store_case_ok(&self->made, status, &error);
    for (size_t i = 1; i < got.count; i++) /* in order, as they come */
        STORE_CASE_CHECK(&self->made, got.fingerprints[i - 1] <= got.fingerprints[i]);
    iterate_records(self, status, &got);
    store_case_check_records(&self->made, &got, ok && store_case_keeps(&self->made, BROKEN_CONTENT));
    record_set_free(&got);
}

static void look_at_statistics(const session *self)
{
    sstore_statistics all = {.struct_size = sizeof all};
    sstore_segment_statistics segment = {.struct_size = sizeof segment};
    sstore_word_statistics word = {.struct_size = sizeof word};
    sstore_table_statistics table = {.struct_size = sizeof table};
    sstore_error error;
    step_count_begin("stat");
    STORE_CASE_CHECK(&self->made, sstore_stat(self->store, &all, &error) == SSTORE_OK);
    for (uint32_t i = 0; i < all.segment_count; i++) {
        step_count_begin("stat of a segment");
        STORE_CASE_CHECK(&self->made, sstore_stat_segment(self->store, i, &segment, &error) == SSTORE_OK);
        for (uint32_t j = 0; !segment.is_removal && j < all.fingerprint_bits / 64; j++)
            STORE_CASE_CHECK(&self->made, sstore_stat_word(self->store, i, j, &word, &error) == SSTORE_OK);
        for (uint32_t j = 0; j < segment.table_count; j++)
            STORE_CASE_CHECK(&self->made, sstore_stat_table(self->store, i, j, &table, &error) == SSTORE_OK);
    }
    if (store_case_keeps(&self->made, BROKEN_CONTENT | BROKEN_COUNTS))
        STORE_CASE_CHECK(&self->made, all.record_count == self->made.truth->truth.count);
}

/* It must report damage if, and only if, the store is invalid. */
static void verify(const session *self)
{
    sstore_error error;
    uint64_t problems = 0;
    step_count_begin("verify");
    const sstore_status status = sstore_verify(self->made.path, NULL, take_problem, &problems, &error);
    const bool ok = store_case_ok(&self->made, status, &error);
    STORE_CASE_CHECK(&self->made, status == SSTORE_ERROR_UNSUPPORTED || ok == (problems == 0));
    STORE_CASE_CHECK(&self->made, !ok || IS_VALID(self->made.truth->broken));
}

static void ask_one_by_one(const session *self)
{
    const uint32_t distance = self->made.truth->distance, far = self->strategy == SSTORE_STRATEGY_PROBE ? distance : 64;
    for (uint32_t i = 0; i < 3; i++)
        query(self, self->made.made.queries[i], i == 0 ? distance : i == 1 ? distance / 2 : distance + 1);
    query(self, self->made.made.queries[3], far);
    query(self, self->made.made.queries[3], far / 4);
    explain(self, distance);
}

static void ask_all(const session *self)
{
    each_record(self);
    query_batch(self, self->made.truth->distance);
    if (self->strategy != SSTORE_STRATEGY_PROBE)
        query_nearest(self, self->made.made.queries[4]);
}

static void ask(session *self)
{
    sstore_error error;
    look_at_statistics(self);
    step_count_begin("cursor");
    if (!store_case_ok(&self->made, sstore_cursor_create(self->store, &self->cursor, &error), &error))
        return;
    if (self->asks_one)
        ask_one_by_one(self);
    if (self->asks_all)
        ask_all(self);
    sstore_cursor_free(self->cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {.at = data, .left = size};
    const uint32_t how = (uint32_t)fuzz_take(&input, 1);
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore_error error;
    const uint32_t what = how / 9 % 4; /* all calls, or some of them, to save time */
    session self = {.strategy = (sstore_strategy)(how / 3 % 3),
                    .asks_one = what < 2,
                    .asks_all = what % 2 == 0,
                    .capacity = 1 + how / 36 % MAX_CAPACITY};
    store_case_make(&self.made, "answer", &input);
    options.io = (sstore_io)(SSTORE_IO_PREAD + how % 3);
    options.strategy = self.strategy;
    step_count_begin("open");
    const bool opened = store_case_ok(&self.made, sstore_open(self.made.path, &options, &self.store, &error), &error);
    STORE_CASE_CHECK(&self.made, opened == (self.store != NULL));
    STORE_CASE_CHECK(&self.made,
                     self.made.defect.kind != DEFECT_COLUMN || opened || error.status == SSTORE_ERROR_UNSUPPORTED);
    STORE_CASE_CHECK(&self.made, !opened || store_case_keeps(&self.made, BROKEN_FRAME | BROKEN_OPENING));
    if (opened)
        ask(&self);
    sstore_close(self.store);
    if (what % 3 == 0)
        verify(&self);
    (void)step_count_end();
    store_case_free(&self.made);
    return 0;
}
