/*
 * test_named.c - names of ids: which are refused, what an id may be named again, which id a name gets, that bytes do
 * not depend on memory, threads and order, and that merged stores are those of one build. test_changes.c has random
 * changes.
 */
#include "support/testing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_statistics.h"
#include "support/name_of_id.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/use_store.h"

#define MANY 30000u

/* ----- helpers ----- */

static sstore_name text(const char *bytes)
{
    return (sstore_name){.bytes = bytes, .size = strlen(bytes)};
}

static sstore_write_options named_options(void)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.names = true;
    return options;
}

/* Build a store of records with given ids, or without, and names. */
static sstore_status build(const char *path, const sstore_write_options *options, const uint64_t *fingerprints,
                           const uint64_t *ids, const sstore_name *names, size_t count, sstore_error *error)
{
    sstore_builder *builder;
    assert_ok(sstore_builder_create(path, options, &builder, error), error);
    const sstore_status status = sstore_builder_add_named(builder, fingerprints, ids, names, count, error);
    if (status == SSTORE_OK)
        return sstore_builder_finish(builder, NULL, error);
    sstore_builder_abort(builder);
    return status;
}

static sstore_status add(const char *path, const uint64_t *fingerprints, const uint64_t *ids, const sstore_name *names,
                         size_t count, sstore_error *error)
{
    sstore_builder *builder;
    assert_ok(sstore_builder_create_addition(path, NULL, &builder, error), error);
    const sstore_status status = sstore_builder_add_named(builder, fingerprints, ids, names, count, error);
    if (status == SSTORE_OK)
        return sstore_builder_finish(builder, NULL, error);
    sstore_builder_abort(builder);
    return status;
}

/* The names that sstore_names() gives, joined with spaces. */
static int join_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    (void)index;
    (void)id;
    strncat(context, name->bytes, name->size);
    strcat(context, " ");
    return 0;
}

static void assert_names(const char *path, const uint64_t *ids, size_t count, const char *wanted)
{
    char joined[200] = "";
    sstore_error error = {.status = SSTORE_OK};
    sstore *store = store_must_open(path, SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    assert_ok(sstore_names(cursor, ids, count, join_name, joined, &error), &error);
    assert_string_equal(joined, wanted);
    sstore_cursor_free(cursor);
    sstore_close(store);
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
}

static void assert_refused(sstore_status status, const sstore_error *error, const char *words)
{
    assert_int_equal(status, SSTORE_ERROR_ARGUMENT);
    if (strstr(error->message, words) == NULL)
        fail_msg("'%s' does not say '%s'", error->message, words);
}

/* ----- tests ----- */

static void test_wrong_calls(void **state)
{
    const uint64_t fingerprint = 1, id = 0;
    const char *path = scratch_path("wrong"), *plain = scratch_path("plain");
    const sstore_write_options options = named_options();
    sstore_write_options without_ids = options;
    sstore_builder *builder;
    sstore_dedup *dedup;
    sstore_error error;
    char longest[SSTORE_MAX_NAME_BYTES + 1];
    memset(longest, 'x', sizeof longest);
    const sstore_name good = text("a"),
                      bad[] = {{NULL, 1}, {"", 0}, {"a\nb", 3}, {"a\0b", 3}, {longest, sizeof longest}};
    without_ids.no_ids = true;
    assert_refused(sstore_builder_create(path, &without_ids, &builder, &error), &error, "without ids");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(build(path, &options, &fingerprint, NULL, &bad[i], 1, &error), &error, "name 0 cannot be one");
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_refused(sstore_builder_add(builder, &fingerprint, NULL, 1, &error), &error, "with its name");
    sstore_builder_abort(builder);
    assert_ok(sstore_builder_create(plain, NULL, &builder, &error), &error);
    assert_refused(sstore_builder_add_named(builder, &fingerprint, NULL, &good, 1, &error), &error, "no names");
    assert_ok(sstore_builder_add(builder, &fingerprint, NULL, 1, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    assert_ok(build(path, &options, &fingerprint, NULL, &good, 1, &error), &error);
    assert_ok(sstore_dedup_open(path, NULL, &dedup, &error), &error);
    assert_refused(sstore_dedup_insert(dedup, &fingerprint, NULL, 1, NULL, NULL, NULL, &error), &error,
                   "with its name");
    assert_refused(sstore_dedup_insert_named(dedup, &fingerprint, NULL, &bad[0], 1, NULL, NULL, NULL, &error), &error,
                   "name 0 cannot be one");
    sstore_dedup_close(dedup);
    assert_ok(sstore_dedup_open(plain, NULL, &dedup, &error), &error);
    assert_refused(sstore_dedup_insert_named(dedup, &fingerprint, NULL, &good, 1, NULL, NULL, NULL, &error), &error,
                   "no names");
    assert_refused(sstore_dedup_names(dedup, &id, 1, join_name, NULL, &error), &error, "no names");
    sstore_dedup_close(dedup);

    sstore *store = store_must_open(plain, SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    assert_refused(sstore_names(cursor, &id, 1, join_name, NULL, &error), &error, "no names");
    assert_refused(sstore_get_named(cursor, &good, 1, store_collect, NULL, &error), &error, "no names");
    sstore_cursor_free(cursor);
    sstore_close(store);
    const char *const inputs[] = {path, plain};
    assert_refused(sstore_merge(scratch_path("merged"), inputs, 2, NULL, NULL, &error), &error, "names");
    scratch_remove(path);
    scratch_remove(plain);
}

/* An id has one name, in a build, and beside those of the store, until its records were removed and compacted. */
static void test_one_name_an_id(void **state)
{
    const uint64_t fingerprints[] = {10, 20, 30, 40}, ids[] = {7, 7, 3, UINT64_MAX};
    const sstore_name names[] = {text("seven"), text("seven"), text("three"), text("last")};
    const sstore_name other[] = {text("seven"), text("sieben"), text("three"), text("last")};
    const char *path = scratch_path("one");
    const sstore_write_options options = named_options();
    sstore_error error;
    assert_refused(build(path, &options, fingerprints, ids, other, 4, &error), &error, "'seven' and 'sieben'");
    assert_ok(build(path, &options, fingerprints, ids, names, 4, &error), &error);
    const uint64_t all[] = {3, 5, 7, 7, UINT64_MAX};
    assert_names(path, all, 5, "three seven seven last ");
    assert_refused(add(path, &fingerprints[3], &ids[0], &other[1], 1, &error), &error, "'sieben' and 'seven'");
    assert_ok(add(path, &fingerprints[3], &ids[0], &names[0], 1, &error), &error);
    assert_names(path, all, 5, "three seven seven last ");
    /* A record that the store has, with another name. */
    assert_refused(add(path, &fingerprints[2], &ids[2], &other[1], 1, &error), &error, "'sieben' and 'three'");
    assert_ok(store_remove(path, NULL, &fingerprints[2], &ids[2], 1, NULL, &error), &error);
    assert_refused(add(path, &fingerprints[2], &ids[2], &other[1], 1, &error), &error, "compacted");
    assert_ok(sstore_compact(path, SSTORE_COMPACTION_ALL, NULL, NULL, &error), &error);
    assert_names(path, all, 5, "seven seven last ");
    assert_ok(add(path, &fingerprints[2], &ids[2], &other[1], 1, &error), &error);
    assert_names(path, all, 5, "sieben seven seven last ");
    scratch_remove(path);
}

/* Records without ids share the id of their name: the smallest one in the store, or the number of the first of them.
 * Numbers count the records whose names the store does not have. Given ids are kept. */
static void test_one_id_a_name(void **state)
{
    const uint64_t fingerprints[] = {10, 20, 30, 40, 10}, more[] = {50, 60, 70, 20, 80}, nine = 9;
    const sstore_name names[] = {text("a"), text("b"), text("a"), text("c"), text("a")},
                      added[] = {text("d"), text("c"), text("d"), text("b"), text("e")};
    const uint64_t all[] = {10, 30, 20, 40, 60, 50, 70, 80, 90}, ids[] = {0, 0, 1, 3, 3, 5, 5, 7, 9};
    const char *path = scratch_path("shared");
    const sstore_write_options options = named_options();
    record_set wanted = record_set_new(1);
    sstore_error error;
    bool right;
    size_t found;
    assert_ok(build(path, &options, fingerprints, NULL, names, 5, &error), &error);
    assert_ok(add(path, more, NULL, added, 5, &error), &error);
    assert_ok(add(path, &all[8], &nine, &names[0], 1, &error), &error);
    assert_ok(add(path, &all[0], NULL, &names[0], 1, &error), &error); /* it is there */
    for (size_t i = 0; i < 9; i++)
        record_set_put(&wanted, &all[i], ids[i]);
    record_set_sort(&wanted);
    sstore *store = store_must_open(path, SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO);
    assert_ok(store_compare_records(store, &wanted, &right, &found, &error), &error);
    assert_true(right && found == 9);
    sstore_close(store);
    assert_names(path, ids, 9, "a a b c c d d e a ");
    record_set_free(&wanted);
    scratch_remove(path);
}

/* All records whose ids have a name are removed: of two ids with it, and of one with two records. */
static void test_removal_by_name(void **state)
{
    const uint64_t fingerprints[] = {10, 20, 30, 40}, ids[] = {1, 1, 2, 3};
    const sstore_name names[] = {text("a"), text("a"), text("a"), text("b")},
                      gone[] = {text("a"), text("c"), text("a")};
    const char *path = scratch_path("removed");
    const sstore_write_options options = named_options();
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_remover *remover;
    sstore_error error;
    assert_ok(build(path, &options, fingerprints, ids, names, 4, &error), &error);
    assert_ok(sstore_remover_create(path, NULL, &remover, &error), &error);
    assert_refused(sstore_remover_remove_named(remover, &(sstore_name){"", 0}, 1, &error), &error, "cannot be one");
    sstore_remover_abort(remover);
    assert_ok(sstore_remover_create(path, NULL, &remover, &error), &error);
    assert_ok(sstore_remover_remove_named(remover, gone, 3, &error), &error);
    assert_ok(sstore_remover_finish(remover, &change, &error), &error);
    assert_int_equal(change.given_count, 3);
    assert_int_equal(change.removed_count, 3);
    assert_int_equal(change.absent_count, 1);
    assert_int_equal(change.record_count, 1);
    assert_ok(sstore_compact(path, SSTORE_COMPACTION_ALL, NULL, NULL, &error), &error);
    assert_names(path, ids, 4, "b ");
    scratch_remove(path);
}

/* A store of many records, whose names do not fit into the smallest memory. */
typedef struct many {
    uint64_t *fingerprints, *ids;
    sstore_name *names;
} many;

static many make_many(rng *random, bool given)
{
    many made = {.fingerprints = malloc(MANY * sizeof(uint64_t)), .ids = malloc(MANY * sizeof(uint64_t))};
    for (size_t i = 0; i < MANY; i++) {
        made.fingerprints[i] = rng_next(random);
        made.ids[i] = given ? rng_next(random) >> 44 : i;
    }
    made.names = id_names(NAMES_BYTES, run_seed, made.ids, MANY);
    return made;
}

static void free_many(many *made)
{
    free(made->fingerprints);
    free(made->ids);
    free(made->names);
}

/* Compare the numbers of two records by their names. */
static int compare_named(const void *left, const void *right, void *context)
{
    const sstore_name *names = context, *a = &names[*(const size_t *)left], *b = &names[*(const size_t *)right];
    const int order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);
    if (order != 0 || a->size != b->size)
        return order != 0 ? order : a->size < b->size ? -1 : 1;
    return *(const size_t *)left < *(const size_t *)right ? -1 : 1;
}

/* The store must have all records, each with its id, or else with the number of the first one of its name. */
static void check_many(const char *path, const many *made, bool given)
{
    record_set wanted = record_set_new(1);
    size_t *order = malloc(MANY * sizeof *order), found, first = 0, repeated = 0;
    bool right;
    sstore_error error;
    for (size_t i = 0; i < MANY; i++)
        order[i] = i;
    qsort_r(order, MANY, sizeof *order, compare_named, made->names);
    for (size_t i = 0; i < MANY; i++) {
        const sstore_name *name = &made->names[order[i]], *before = &made->names[order[first]];
        if (name->size != before->size || memcmp(name->bytes, before->bytes, name->size) != 0)
            first = i;
        repeated += first < i;
        record_set_put(&wanted, &made->fingerprints[order[i]], given ? made->ids[order[i]] : order[first]);
    }
    assert_true(repeated > MANY / 100);
    record_set_sort(&wanted);
    sstore *store = store_must_open(path, SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO);
    assert_ok(store_compare_records(store, &wanted, &right, &found, &error), &error);
    assert_true(right && found == MANY);
    sstore_close(store);
    record_set_free(&wanted);
    free(order);
}

static void test_bytes_do_not_depend_on_memory(void **state)
{
    rng random = rng_seeded(run_seed);
    for (int given = 0; given < 2; given++) {
        many made = make_many(&random, given != 0);
        const char *large = scratch_path("large"), *small = scratch_path("small");
        sstore_write_options options = named_options();
        sstore_error error;
        options.threads = 1;
        assert_ok(build(large, &options, made.fingerprints, given ? made.ids : NULL, made.names, MANY, &error), &error);
        options.threads = 3;
        options.memory_bytes = (uint64_t)1 << 20;
        assert_ok(build(small, &options, made.fingerprints, given ? made.ids : NULL, made.names, MANY, &error), &error);
        assert_true(folders_equal(large, small, ""));
        assert_ok(sstore_verify(small, NULL, NULL, NULL, &error), &error);
        check_many(small, &made, given != 0);
        scratch_remove(large);
        scratch_remove(small);
        free_many(&made);
    }
}

/* Parts whose ids begin with 0 are merged to the store of one build, or refused since ids would have two names. */
static void test_merged_parts(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    many made = make_many(&random, false); /* the ids are given, since some records of a name are in different parts */
    const char *whole = scratch_path("whole"), *merged = scratch_path("merged");
    char parts[4][256];
    const char *paths[4];
    sstore_write_options options = named_options(), merging = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error;
    size_t begin = 0;
    for (int i = 0; i < 4; i++) {
        const size_t count = i == 3 ? MANY - begin : rng_below(&random, (MANY - begin) / 2);
        snprintf(parts[i], sizeof parts[i], "%s", scratch_path("part-%d", i));
        paths[i] = parts[i];
        assert_ok(build(parts[i], &options, made.fingerprints + begin, made.ids, made.names + begin, count, &error),
                  &error);
        begin += count;
    }
    assert_ok(build(whole, &options, made.fingerprints, made.ids, made.names, MANY, &error), &error);
    assert_refused(sstore_merge(merged, paths, 4, &merging, NULL, &error), &error, "set raise_ids");
    merging.raise_ids = true;
    assert_ok(sstore_merge(merged, paths, 4, &merging, NULL, &error), &error);
    assert_true(folders_equal(whole, merged, ""));
    for (int i = 0; i < 4; i++)
        scratch_remove(parts[i]);
    scratch_remove(whole);
    scratch_remove(merged);
    free_many(&made);
}

/* Each name leads to its own record, also where names have the same 32 bits of hash, as some pairs of so many have. */
static int check_only_record(void *context, const sstore_match *record)
{
    const many *made = context;
    assert_int_equal(record->id, made->ids[record->query_index]);
    assert_int_equal(*record->fingerprint, made->fingerprints[record->query_index]);
    return 0;
}

static void test_names_of_equal_hash(void **state)
{
    enum { COUNT = 200000 };
    rng random = rng_seeded(run_seed + 3);
    const char *path = scratch_path("hashes");
    const sstore_write_options options = named_options();
    sstore_error error;
    many made = {.fingerprints = malloc(COUNT * sizeof(uint64_t)),
                 .ids = malloc(COUNT * sizeof(uint64_t)),
                 .names = malloc(COUNT * sizeof *made.names)};
    char(*texts)[16] = malloc(COUNT * sizeof *texts);
    for (size_t i = 0; i < COUNT; i++) {
        made.fingerprints[i] = rng_next(&random);
        made.ids[i] = i;
        made.names[i] = (sstore_name){.bytes = texts[i],
                                      .size = (size_t)snprintf(texts[i], sizeof *texts, "%zu.html", i)};
    }
    assert_ok(build(path, &options, made.fingerprints, NULL, made.names, COUNT, &error), &error);
    sstore *store = store_must_open(path, SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    assert_ok(sstore_get_named(cursor, made.names, COUNT, check_only_record, &made, &error), &error);
    sstore_cursor_free(cursor);
    sstore_close(store);
    scratch_remove(path);
    free(texts);
    free_many(&made);
}

/* ----- names that were made to have one hash ----- */

#define COLLIDING 8000u

static int compare_texts(const void *left, const void *right)
{
    return memcmp(left, right, 16);
}

/* Make different names of 16 bytes, whose hashes agree. */
static many make_colliding(rng *random)
{
    uint64_t ids[2 * COLLIDING];
    many made = {.fingerprints = malloc(COLLIDING * sizeof(uint64_t))};
    for (uint64_t i = 0; i < 2 * COLLIDING; i++)
        ids[i] = i;
    made.names = id_names(NAMES_COLLIDING, run_seed, ids, 2 * COLLIDING);
    char(*texts)[16] = (void *)(uintptr_t)made.names[0].bytes; /* they lie one after the other */
    qsort(texts, 2 * COLLIDING, sizeof *texts, compare_texts);
    size_t count = 0;
    for (size_t i = 0; count < COLLIDING; i++) {
        assert_true(i < 2 * COLLIDING);
        if (i > 0 && memcmp(texts[i], texts[i - 1], sizeof *texts) == 0)
            continue;
        made.fingerprints[count] = rng_next(random);
        made.names[count++] = (sstore_name){.bytes = texts[i], .size = sizeof *texts};
    }
    return made;
}

/* What was found of names that were each asked for twice. */
typedef struct found_names {
    const many *made;
    uint8_t counts[2 * COLLIDING];
} found_names;

static int take_found(void *context, const sstore_match *record)
{
    found_names *self = context;
    const uint64_t index = record->query_index % COLLIDING;
    assert_int_equal(record->id, index);
    assert_int_equal(*record->fingerprint, self->made->fingerprints[index]);
    self->counts[record->query_index]++;
    return 0;
}

/* Names are looked up together, so that blocks with names of one hash are not read once for each of them. */
static void check_colliding(const char *path, const many *made)
{
    enum { ASKED = 2 * COLLIDING };
    found_names found = {.made = made};
    sstore_error error;
    sstore_name *asked = malloc(ASKED * sizeof *asked);
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    for (size_t i = 0; i < ASKED; i++)
        asked[i] = made->names[i % COLLIDING];
    assert_ok(sstore_get_named(cursor, asked, ASKED, take_found, &found, &error), &error);
    for (size_t i = 0; i < ASKED; i++)
        assert_int_equal(found.counts[i], 1);
    if (sstore_cursor_block_count(cursor) > 10 * ASKED)
        fail_msg("%" PRIu64 " blocks were read", sstore_cursor_block_count(cursor));
    sstore_cursor_free(cursor);
    sstore_close(store);
    free(asked);
}

/* Half of them are built. A deduplication adds the others. Then all are replaced, and removed. */
static void test_colliding_names(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    const char *path = scratch_path("colliding");
    const sstore_write_options options = named_options();
    sstore_write_options replacing = SSTORE_WRITE_OPTIONS_INIT;
    many made = make_colliding(&random);
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_builder *builder;
    sstore_remover *remover;
    sstore_dedup *dedup;
    sstore_error error;
    assert_ok(build(path, &options, made.fingerprints, NULL, made.names, COLLIDING / 2, &error), &error);
    assert_ok(sstore_dedup_open(path, NULL, &dedup, &error), &error);
    assert_ok(sstore_dedup_insert_named(dedup, made.fingerprints, NULL, made.names, COLLIDING, NULL, NULL, NULL,
                                        &error),
              &error);
    assert_ok(sstore_dedup_publish(dedup, &change, &error), &error);
    sstore_dedup_close(dedup);
    assert_int_equal(change.added_count, COLLIDING - COLLIDING / 2);
    check_colliding(path, &made);

    for (size_t i = 0; i < COLLIDING; i++)
        made.fingerprints[i] ^= UINT64_MAX;
    replacing.replace_records = true;
    assert_ok(sstore_builder_create_addition(path, &replacing, &builder, &error), &error);
    assert_ok(sstore_builder_add_named(builder, made.fingerprints, NULL, made.names, COLLIDING, &error), &error);
    assert_ok(sstore_builder_finish(builder, &change, &error), &error);
    assert_int_equal(change.record_count, COLLIDING);
    check_colliding(path, &made);
    assert_ok(sstore_remover_create(path, NULL, &remover, &error), &error);
    assert_ok(sstore_remover_remove_named(remover, made.names, COLLIDING, &error), &error);
    assert_ok(sstore_remover_finish(remover, &change, &error), &error);
    assert_int_equal(change.record_count, 0);
    scratch_remove(path);
    free_many(&made);
}

/* ----- one name of many records, asked for many times ----- */

#define RECORDS_OF_NAME 3000u
#define TIMES_ASKED 500u

static int count_report(void *context, const sstore_match *record)
{
    (void)record;
    ++*(uint64_t *)context;
    return 0;
}

static int stop_after_three(void *context)
{
    return ++*(uint32_t *)context > 3;
}

/* The records are read once, and reported for each time. The call can be stopped meanwhile. */
static void test_repeated_name(void **state)
{
    rng random = rng_seeded(run_seed + 5);
    const char *path = scratch_path("repeated");
    const sstore_write_options options = named_options();
    uint64_t fingerprints[RECORDS_OF_NAME], reports = 0;
    sstore_name *names = malloc(RECORDS_OF_NAME * sizeof *names);
    uint32_t asked = 0;
    sstore_error error;
    for (size_t i = 0; i < RECORDS_OF_NAME; i++) {
        fingerprints[i] = rng_next(&random);
        names[i] = text("same");
    }
    assert_ok(build(path, &options, fingerprints, NULL, names, RECORDS_OF_NAME, &error), &error);
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    assert_ok(sstore_get_named(cursor, names, TIMES_ASKED, count_report, &reports, &error), &error);
    assert_int_equal(reports, RECORDS_OF_NAME * TIMES_ASKED);
    assert_in_range(sstore_cursor_block_count(cursor), 1, 20 * RECORDS_OF_NAME);
    reports = 0;
    sstore_cursor_set_stop(cursor, stop_after_three, &asked);
    assert_status(sstore_get_named(cursor, names, TIMES_ASKED, count_report, &reports, &error), SSTORE_STOPPED, &error);
    assert_in_range(reports, 1, 4 * 1024);
    sstore_cursor_free(cursor);
    sstore_close(store);
    scratch_remove(path);
    free(names);
}

/* A name as it was given. */
static int compare_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    const sstore_name *wanted = (const sstore_name *)context + index;
    (void)id;
    assert_int_equal(name->size, wanted->size);
    assert_memory_equal(name->bytes, wanted->bytes, name->size);
    return 0;
}

static void test_long_names(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    uint64_t ids[40], fingerprints[40];
    const char *path = scratch_path("long");
    sstore_write_options options = named_options();
    sstore_error error;
    for (uint64_t i = 0; i < 40; i++) {
        ids[i] = i * i;
        fingerprints[i] = rng_next(&random);
    }
    for (uint32_t block_bytes = 256; block_bytes <= 65536; block_bytes *= 4) {
        sstore_name *names = id_names(NAMES_LONG, run_seed + block_bytes, ids, 40);
        char longest[SSTORE_MAX_NAME_BYTES];
        for (size_t i = 0; i < sizeof longest; i++)
            longest[i] = (char)rng_between(&random, 11, 255);
        names[20] = (sstore_name){.bytes = longest, .size = sizeof longest};
        options.block_bytes = block_bytes;
        assert_ok(build(path, &options, fingerprints, ids, names, 40, &error), &error);
        for (int io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++) {
            matches got = {.words = 1};
            sstore *store = store_must_open(path, (sstore_io)io, SSTORE_STRATEGY_AUTO);
            sstore_cursor *cursor = store_must_cursor(store);
            assert_ok(sstore_names(cursor, ids, 40, compare_name, names, &error), &error);
            assert_ok(sstore_get_named(cursor, &names[20], 1, store_collect, &got, &error), &error);
            assert_int_equal(got.count, 1);
            matches_free(&got);
            sstore_cursor_free(cursor);
            sstore_close(store);
        }
        assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
        scratch_remove(path);
        free(names);
    }
}

static void test_statistics(void **state)
{
    const uint64_t fingerprints[] = {10, 20, 30}, ids[] = {7, 7, 3};
    const sstore_name names[] = {text("seven"), text("seven"), text("three")};
    const char *path = scratch_path("statistics");
    const sstore_write_options options = named_options();
    sstore_statistics statistics = SSTORE_STATISTICS_INIT;
    sstore_segment_statistics segment = SSTORE_SEGMENT_STATISTICS_INIT;
    sstore_error error;
    assert_ok(build(path, &options, fingerprints, ids, names, 3, &error), &error);
    sstore *store = store_must_open(path, SSTORE_IO_AUTO, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &statistics, &error), &error);
    assert_ok(sstore_stat_segment(store, 0, &segment, &error), &error);
    assert_true(statistics.has_names && statistics.has_id_index);
    assert_int_equal(statistics.name_count, 2);
    assert_int_equal(statistics.names_bytes, 2 * 4096);
    assert_int_equal(statistics.name_index_bytes, 2 * 4096);
    assert_int_equal(segment.total_bytes + statistics.manifest_bytes, statistics.total_bytes);
    sstore_close(store);
    scratch_remove(path);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_calls),     cmocka_unit_test(test_one_name_an_id),
        cmocka_unit_test(test_one_id_a_name),   cmocka_unit_test(test_removal_by_name),
        cmocka_unit_test(test_merged_parts),    cmocka_unit_test(test_names_of_equal_hash),
        cmocka_unit_test(test_colliding_names), cmocka_unit_test(test_bytes_do_not_depend_on_memory),
        cmocka_unit_test(test_long_names),      cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_repeated_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
