/*
 * test_sqlite.c - the extension of SQLite: its functions must give what SQL finds by comparing a query with all
 * records, of 64 and of more bits. Also states that change below a connection, arguments of every type, errors,
 * interruption and memory.
 */
#include <endian.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/data.h"
#include "support/fingerprint_form.h"
#include "support/name_of_id.h"
#include "support/process.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES 40u
#define SLOW_CASES 12u
#define MAX_RECORDS 600u
#define QUERIES 12u

/* ----- SQL ----- */

static void load(sqlite3 *db)
{
    char *message = NULL;
    sqlite3_enable_load_extension(db, 1);
    if (sqlite3_load_extension(db, SSTORE_EXTENSION, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
}

static sqlite3 *connect_loaded(void)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    load(db);
    return db;
}

/* Close the connection, which nothing of the extension may keep open. */
static void disconnect(sqlite3 *db)
{
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    return statement;
}

/* Run SQL made as printf does (with %Q for strings); the first column of the first row, or -1 without rows. */
static sqlite3_int64 number(sqlite3 *db, const char *format, ...)
{
    va_list arguments;
    sqlite3_int64 found = -1;
    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    testing_doing("%s", sql);
    sqlite3_stmt *statement = prepare(db, sql);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        found = sqlite3_column_int64(statement, 0);
    while (code == SQLITE_ROW)
        code = sqlite3_step(statement);
    if (code != SQLITE_DONE)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return found;
}

/* Run SQL that must fail with a message in which `words` are. */
static void fails_with(sqlite3 *db, const char *words, const char *sql)
{
    char *message = NULL;
    testing_doing("%s", sql);
    assert_int_not_equal(sqlite3_exec(db, sql, NULL, NULL, &message), SQLITE_OK);
    if (message == NULL || strstr(message, words) == NULL)
        fail_msg("%s: expected '%s', found '%s'", sql, words, message);
    sqlite3_free(message);
}

/* ----- stores ----- */

static void write_store(const char *path, const data_set *set, uint32_t words, uint32_t distance, bool adds)
{
    sstore_write_options build = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    build.fingerprint_bits = 64 * words;
    build.distance = distance;
    build.no_ids = set->id_kind == DATA_NO_IDS;
    build.id_index = !build.no_ids && set->count % 2 == 1;
    if (adds)
        assert_ok(sstore_builder_create_addition(path, &change_apart, &builder, &error), &error);
    else
        assert_ok(sstore_builder_create(path, &build, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, set->fingerprints, set->ids, set->count, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* Bind a fingerprint in the form of columns: an integer, or a blob. */
static void bind_fingerprint(sqlite3_stmt *statement, int place, const uint64_t *fingerprint, uint32_t words)
{
    uint64_t bytes[SSTORE_MAX_WORDS];
    for (uint32_t i = 0; i < words; i++)
        bytes[i] = htobe64(fingerprint[i]);
    if (words == 1)
        sqlite3_bind_int64(statement, place, (sqlite3_int64)fingerprint[0]);
    else
        sqlite3_bind_blob(statement, place, bytes, (int)(8 * words), SQLITE_TRANSIENT);
}

static void run(sqlite3_stmt *statement)
{
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
}

/* A table `records` of what the library finds in the store; `id` is NULL without ids. */
static void fill_records(sqlite3 *db, const char *path, bool has_ids)
{
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    record_set records = store_must_read(store);
    (void)number(db, "DROP TABLE IF EXISTS records");
    (void)number(db, "CREATE TABLE records(id INTEGER, fingerprint)");
    sqlite3_stmt *insert = prepare(db, has_ids ? "INSERT INTO records VALUES (?1, ?2)"
                                               : "INSERT INTO records VALUES (nullif(?1, ?1), ?2)");
    for (size_t i = 0; i < records.count; i++) {
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)records.ids[i]);
        bind_fingerprint(insert, 2, record_set_at(&records, i), records.words);
        run(insert);
    }
    record_set_free(&records);
    sstore_close(store);
    sqlite3_finalize(insert);
}

static void create_queries(sqlite3 *db)
{
    (void)number(db, "DROP TABLE IF EXISTS queries");
    (void)number(db, "CREATE TABLE queries(number INTEGER PRIMARY KEY, fp, form)");
    (void)number(db, "INSERT INTO queries(fp, form) VALUES (NULL, NULL)");
}

/* A table `queries`: fingerprints as integers in fp, and in any form in form; one is NULL. */
static void fill_queries(sqlite3 *db, rng *random, const data_set *set)
{
    static const char *const forms[] = {"fp", "sstore_hex(fp)", "unhex16(fp)",
                                        "'0x' || upper(ltrim(sstore_hex(fp), '0'))"};
    create_queries(db);
    for (unsigned i = 0; i < QUERIES; i++) {
        const uint64_t query = data_query(random, set, (uint32_t)rng_below(random, 12)) | 1;
        (void)number(db, "INSERT INTO queries(fp) VALUES (%lld)", (long long)query);
        (void)number(db, "UPDATE queries SET form = %s WHERE number = last_insert_rowid()",
                     forms[rng_below(random, sizeof forms / sizeof *forms)]);
    }
}

/* Fill the table of queries of several words: blobs in fp. */
static void fill_wide_queries(sqlite3 *db, rng *random, const fingerprint_form *form, const data_set *set)
{
    static const char *const forms[] = {"fp", "lower(hex(fp))", "'0x' || hex(fp)", "sstore_hex(fp)"};
    create_queries(db);
    for (unsigned i = 0; i < QUERIES; i++) {
        uint64_t query[SSTORE_MAX_WORDS];
        fingerprint_make(random, form, set->fingerprints, set->count, query);
        char *sql = sqlite3_mprintf("INSERT INTO queries SELECT NULL, fp, %s FROM (SELECT ? AS fp)",
                                    forms[rng_below(random, sizeof forms / sizeof *forms)]);
        sqlite3_stmt *insert = prepare(db, sql);
        bind_fingerprint(insert, 1, query, form->words);
        run(insert);
        sqlite3_finalize(insert);
        sqlite3_free(sql);
    }
}

/* A function for fill_queries(): a blob of eight bytes. */
static void call_unhex16(sqlite3_context *context, int count, sqlite3_value **values)
{
    const uint64_t fingerprint = (uint64_t)sqlite3_value_int64(values[0]);
    unsigned char bytes[8];
    (void)count;
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(fingerprint >> (56 - 8 * i));
    sqlite3_result_blob(context, bytes, sizeof bytes, SQLITE_TRANSIENT);
}

/* Two queries with equal columns must give the same rows, each as often. */
static void same_rows(sqlite3 *db, const char *left, const char *right)
{
    assert_int_equal(number(db, "SELECT count(*) FROM (%s)", left), number(db, "SELECT count(*) FROM (%s)", right));
    assert_int_equal(number(db, "SELECT count(*) FROM (SELECT * FROM (%s) EXCEPT SELECT * FROM (%s))", left, right), 0);
    assert_int_equal(number(db, "SELECT count(*) FROM (SELECT * FROM (%s) EXCEPT SELECT * FROM (%s))", right, left), 0);
}

/* ----- tests ----- */

#define BY_HAMMING                                                                                                     \
    "SELECT number, id, fingerprint, hamming(fp, fingerprint) AS distance FROM queries, records WHERE distance <= %d"

/* The first column of all rows, each followed by a space, to be freed. With a limit, the rows behind it are dropped
 * here and not by SQLite. */
static char *listed(sqlite3 *db, const char *sql, int64_t limit, int64_t offset)
{
    sqlite3_stmt *statement = prepare(db, sql);
    sqlite3_str *text = sqlite3_str_new(db);
    for (int64_t row = 0; sqlite3_step(statement) == SQLITE_ROW; row++)
        if (row >= offset && (limit < 0 || row - offset < limit))
            sqlite3_str_appendf(text, "%s ", sqlite3_column_text(statement, 0));
    sqlite3_str_appendf(text, "%d", sqlite3_finalize(statement));
    return sqlite3_str_finish(text);
}

/* A limit leaves the first rows, whatever else the statement has. */
static void check_limits(sqlite3 *db, const char *path, uint32_t distance)
{
    static const char *const forms[] = {
        "SELECT id FROM sstore_query(%Q, (SELECT form FROM queries WHERE number = 0), %d)",
        "SELECT id FROM sstore_query(%Q, (SELECT form FROM queries WHERE number = 0), %d) ORDER BY distance",
        "SELECT id FROM sstore_query(%Q, (SELECT form FROM queries WHERE number = 0), %d) ORDER BY distance DESC, id",
        "SELECT id FROM sstore_query(%Q, (SELECT form FROM queries WHERE number = 0), %d) WHERE distance > 0",
        "SELECT id FROM sstore_query(%Q, (SELECT form FROM queries WHERE number = 0), %d) WHERE id %% 2 = 1",
        "SELECT id FROM sstore_query(%Q, (SELECT form FROM queries WHERE number = 0), %d) WHERE id = 1 OR distance = 1",
        "SELECT id FROM sstore_query(%Q, (SELECT form FROM queries WHERE number = 0), %d) WHERE distance IN (1, 2)",
        "SELECT DISTINCT distance FROM sstore_query(%Q, (SELECT form FROM queries WHERE number = 0), %d)",
        "SELECT count(*) FROM sstore_query(%Q, (SELECT form FROM queries WHERE number = 0), %d) GROUP BY distance",
        "SELECT sum(id & 7) OVER (ORDER BY id) FROM sstore_query(%Q, (SELECT form FROM queries WHERE number = 0), %d)",
        "SELECT id FROM (SELECT id FROM sstore_query(%Q, (SELECT form FROM queries LIMIT 1), %d)) WHERE id > 9",
        "SELECT id FROM sstore_query(%Q) WHERE query IN (SELECT fp FROM queries) AND k = %d",
        "SELECT id FROM queries, sstore_query(%Q, form, %d)",
        "SELECT id FROM queries, sstore_query(%Q, form, %d) ORDER BY distance, number, id",
        "SELECT id FROM queries LEFT JOIN sstore_query(%Q, form, %d)",
        "SELECT fp FROM queries WHERE fp IN (SELECT fingerprint FROM sstore_query(%Q, form, %d) WHERE distance < 2)",
        "SELECT id FROM sstore_query(%Q, (SELECT form FROM queries LIMIT 1), %d) UNION ALL SELECT id FROM records",
        "SELECT id FROM records UNION ALL SELECT id FROM sstore_query(%Q, (SELECT fp FROM queries), %d)",
        "SELECT id FROM sstore_nearest(%Q, (SELECT form FROM queries WHERE number = 1), %d)",
    };
    static const int64_t limits[][2] = {{0, 0}, {1, 0}, {2, 1}, {3, 40}, {100, 3}, {-1, 2}, {INT64_MAX, INT64_MAX}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (size_t j = 0; j < sizeof limits / sizeof *limits; j++) {
            char *all = sqlite3_mprintf(forms[i], path, distance);
            char *some = sqlite3_mprintf("%s LIMIT %lld OFFSET %lld", all, (long long)limits[j][0],
                                         (long long)limits[j][1]);
            char *expected = listed(db, all, limits[j][0], limits[j][1]), *found = listed(db, some, -1, 0);
            testing_doing("%s", some);
            assert_string_equal(found, expected);
            sqlite3_free(all);
            sqlite3_free(some);
            sqlite3_free(expected);
            sqlite3_free(found);
        }
}

/* All three functions against comparisons of every query with every record. */
static void check_functions(sqlite3 *db, const char *path, uint32_t built, uint32_t distance)
{
    char *functions[] = {
        sqlite3_mprintf("SELECT number, id, fingerprint, distance FROM queries, sstore_query(%Q, form, %d)", path,
                        distance),
        sqlite3_mprintf("SELECT number, id, fingerprint, distance FROM sstore_query(%Q, form, %d) JOIN queries", path,
                        distance),
        sqlite3_mprintf("SELECT number, id, fingerprint, distance FROM sstore_query AS q, queries WHERE q.k = %d AND "
                        "q.query = queries.form AND q.store = %Q",
                        distance, path),
        sqlite3_mprintf("SELECT number, id, fingerprint, distance FROM queries, sstore_query(%Q, form) WHERE %d = %d",
                        path, distance, built)};
    char *slowly = sqlite3_mprintf(BY_HAMMING, distance);
    char *nearest = sqlite3_mprintf("SELECT number, id, fingerprint, distance FROM queries, sstore_nearest(%Q, fp, %d)",
                                    path, distance);
    char *nearest_slowly = sqlite3_mprintf("SELECT * FROM (" BY_HAMMING
                                           ") AS a WHERE distance = (SELECT min(hamming(q.fp, r.fingerprint)) "
                                           "FROM queries AS q, records AS r WHERE q.number = a.number)",
                                           distance);
    char *outer = sqlite3_mprintf("SELECT number, id FROM queries LEFT JOIN sstore_query(%Q, form, %d)", path,
                                  distance);
    char *outer_slowly =
        sqlite3_mprintf("SELECT number, id FROM queries LEFT JOIN records ON hamming(fp, fingerprint) <= %d", distance);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (i + 1 < sizeof functions / sizeof *functions || distance == built)
            same_rows(db, functions[i], slowly);
        sqlite3_free(functions[i]);
    }
    check_limits(db, path, distance);
    same_rows(db, nearest, nearest_slowly);
    same_rows(db, outer, outer_slowly);
    sqlite3_free(slowly);
    sqlite3_free(nearest);
    sqlite3_free(nearest_slowly);
    sqlite3_free(outer);
    sqlite3_free(outer_slowly);
}

/* The records of ids, against a scan. */
static void check_get(sqlite3 *db, const char *path)
{
    char *found = sqlite3_mprintf("SELECT wanted, id, fingerprint FROM keys, sstore_get(%Q, wanted)", path);
    (void)number(db, "DROP TABLE IF EXISTS keys");
    (void)number(db, "CREATE TABLE keys AS SELECT id AS wanted FROM records LIMIT 20");
    (void)number(db, "INSERT INTO keys VALUES (-2), (NULL), (12345678901)");
    same_rows(db, found, "SELECT wanted, id, fingerprint FROM keys JOIN records ON id = wanted");
    sqlite3_free(found);
}

static void test_functions_agree_with_sql(void **state)
{
    rng random = rng_seeded(run_seed);
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
    sqlite3 *db = connect_loaded();
    sqlite3_create_function(db, "unhex16", 1, SQLITE_UTF8, NULL, call_unhex16, NULL, NULL);
    for (uint64_t i = 0; i < cases; i++) {
        data_set set;
        const char *path = scratch_path("functions-%" PRIu64, i % 3); /* rebuilt: the connection has it open */
        const uint32_t built = (uint32_t)rng_below(&random, 7), distance = (uint32_t)rng_below(&random, 11);
        data_make(&random, (data_kind)rng_below(&random, DATA_KIND_COUNT), (data_ids)rng_below(&random, DATA_IDS_COUNT),
                  rng_below(&random, MAX_RECORDS), true, &set);
        scratch_remove(path);
        write_store(path, &set, 1, built, false);
        fill_records(db, path, set.id_kind != DATA_NO_IDS);
        if (set.count > 0)
            fill_queries(db, &random, &set);
        char *all = sqlite3_mprintf("SELECT id, fingerprint FROM sstore_records(%Q)", path);
        same_rows(db, all, "SELECT id, fingerprint FROM records");
        sqlite3_free(all);
        if (set.count > 0)
            check_functions(db, path, built, rng_one_in(&random, 3) ? built : distance);
        if (set.id_kind != DATA_NO_IDS)
            check_get(db, path);
        data_free(&set);
    }
    disconnect(db);
    testing_figure("stores queried through SQLite: %" PRIu64 ", with %u queries each, 0 wrong", cases, QUERIES);
    testing_done();
}

/* Functions agree with 128, 256 and other numbers of bits. The paths have stores of other widths before, so that a
 * connection meets one after the other. */
static void test_wide_functions_agree_with_sql(void **state)
{
    rng random = rng_seeded(run_seed);
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
    sqlite3 *db = connect_loaded();
    for (uint64_t i = 0; i < cases; i++) {
        const char *path = scratch_path("wide-%" PRIu64, i % 3);
        fingerprint_form form = form_any(&random, 2);
        if (i % 4 < 2)
            form = form_of(&random, DATA_UNIFORM, i % 4 == 0 ? 2 : 4, form.distance % 32);
        data_set set = {.id_kind = rng_one_in(&random, 2) ? DATA_ASSIGNED : DATA_NO_IDS,
                        .count = rng_below(&random, MAX_RECORDS)};
        const uint32_t distance = (uint32_t)rng_below(&random, 2 * form.distance + 3);
        set.fingerprints = fingerprint_make_many(&random, &form, set.count);
        scratch_remove(path);
        write_store(path, &set, form.words, form.distance, false);
        fill_records(db, path, set.id_kind != DATA_NO_IDS);
        fill_wide_queries(db, &random, &form, &set);
        char *all = sqlite3_mprintf("SELECT id, fingerprint FROM sstore_records(%Q)", path);
        same_rows(db, all, "SELECT id, fingerprint FROM records");
        sqlite3_free(all);
        check_functions(db, path, form.distance, rng_one_in(&random, 3) ? form.distance : distance);
        if (set.id_kind != DATA_NO_IDS)
            check_get(db, path);
        assert_int_equal(number(db, "SELECT count(*) FROM queries, records WHERE hamming(fp, fingerprint) <> "
                                    "hamming(form, sstore_hex(fingerprint)) OR sstore_blob(form) <> fp"),
                         0);
        free(set.fingerprints);
    }
    disconnect(db);
    testing_figure("stores of 128 to 1024 bits queried through SQLite: %" PRIu64 ", with %u queries each, 0 wrong",
                   cases, QUERIES);
    testing_done();
}

/* Every function has the names of its records, and of a name its records; many have one id. */
static void test_names(void **state)
{
    enum { NAMED = 1000, SHARED = 200 };
    uint64_t fingerprints[NAMED], ids[NAMED];
    sstore_write_options build = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    const char *path = scratch_path("names");
    sqlite3 *db = connect_loaded();
    rng random = rng_seeded(run_seed);
    build.names = build.id_index = true;
    for (size_t i = 0; i < NAMED; i++) {
        fingerprints[i] = rng_next(&random);
        ids[i] = i < SHARED ? 7 : 1000 + rng_below(&random, NAMED);
    }
    sstore_name *names = id_names(NAMES_PATHS, run_seed, ids, NAMED);
    assert_ok(sstore_builder_create(path, &build, &builder, &error), &error);
    assert_ok(sstore_builder_add_named(builder, fingerprints, ids, names, NAMED, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    fill_records(db, path, true);
    (void)number(db, "CREATE TABLE named(number, text)");
    sqlite3_stmt *insert = prepare(db, "INSERT INTO named VALUES (?1, ?2)");
    for (size_t i = 0; i < NAMED; i++) {
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)ids[i]);
        sqlite3_bind_text(insert, 2, names[i].bytes, (int)names[i].size, SQLITE_STATIC);
        run(insert);
    }
    sqlite3_finalize(insert);
    char *all = sqlite3_mprintf("SELECT DISTINCT id, name FROM sstore_records(%Q)", path);
    same_rows(db, all, "SELECT DISTINCT number, text FROM named");
    char *by_name = sqlite3_mprintf("SELECT text, id, fingerprint FROM (SELECT DISTINCT text FROM named), "
                                    "sstore_get(%Q, text) WHERE name = text",
                                    path);
    same_rows(db, by_name,
              "SELECT text, id, fingerprint FROM (SELECT DISTINCT * FROM named) JOIN records ON number = id");
    assert_true(number(db, "SELECT count(*) FROM sstore_get(%Q, 7)", path) >= SHARED);
    assert_int_equal(number(db, "SELECT count(*) FROM sstore_get(%Q, 'none')", path), 0);
    assert_int_equal(number(db,
                            "SELECT count(*) FROM records, sstore_query(%Q, records.fingerprint, 0) AS near "
                            "JOIN (SELECT DISTINCT * FROM named) ON number = near.id AND text = near.name",
                            path),
                     NAMED);
    sqlite3_free(all);
    sqlite3_free(by_name);
    free(names);
    disconnect(db);
    testing_done();
}

static void make_small(const char *path, uint64_t first, size_t count)
{
    uint64_t *fingerprints = calloc(count, sizeof *fingerprints), *ids = calloc(count, sizeof *ids);
    for (size_t i = 0; i < count; i++) {
        fingerprints[i] = rng_mix(first + i);
        ids[i] = first + i;
    }
    write_store(path, &(data_set){.count = count, .fingerprints = fingerprints, .ids = ids}, 1, 3,
                scratch_exists(path));
    free(fingerprints);
    free(ids);
}

/* A statement keeps its state; the next one sees what was published, and a store that took the path of another. */
static void test_states(void **state)
{
    sqlite3 *db = connect_loaded();
    const char *path = scratch_path("states"), *other = scratch_path("other");
    sstore_error error;
    sstore_remover *remover;
    make_small(path, 0, 3000);
    char *sql = sqlite3_mprintf("SELECT count(*) FROM sstore_records(%Q)", path);
    assert_int_equal(number(db, sql), 3000);
    char *rows_sql = sqlite3_mprintf("SELECT id FROM sstore_records(%Q)", path);
    sqlite3_stmt *rows = prepare(db, rows_sql);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    make_small(path, 3000, 10);
    assert_int_equal(number(db, sql), 3010);
    int count = 1;
    while (sqlite3_step(rows) == SQLITE_ROW)
        count++;
    assert_int_equal(count, 3000);
    sqlite3_reset(rows);
    for (count = 0; sqlite3_step(rows) == SQLITE_ROW; count++)
        ;
    assert_int_equal(count, 3010);
    sqlite3_finalize(rows);

    const uint64_t removed = rng_mix(5);
    assert_ok(sstore_remover_create(path, &change_apart, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, &removed, NULL, 1, &error), &error);
    assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
    assert_int_equal(number(db, sql), 3009);
    assert_int_equal(number(db, "SELECT count(*) FROM sstore_query(%Q, %lld, 0)", path, (long long)removed), 0);

    make_small(other, 9000, 7);
    scratch_remove(path);
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(number(db, sql), 7);
    scratch_remove(path);
    fails_with(db, "no store here", sql);
    make_small(path, 0, 5);
    assert_int_equal(number(db, sql), 5);
    assert_int_equal(number(db,
                            "SELECT sum(n) FROM (SELECT count(*) AS n FROM sstore_records(%Q) UNION ALL SELECT "
                            "count(*) FROM sstore_records(%Q))",
                            path, path),
                     10);
    sqlite3_free(sql);
    sqlite3_free(rows_sql);
    disconnect(db);
    testing_done();
}

/* Loading again replaces the functions, also while a statement uses the earlier ones. */
static void test_loading_again(void **state)
{
    sqlite3 *db = connect_loaded();
    const char *path = scratch_path("again");
    make_small(path, 0, 2000);
    char *sql = sqlite3_mprintf("SELECT id FROM sstore_records(%Q)", path);
    sqlite3_stmt *rows = prepare(db, sql);
    int count = 0;
    for (; sqlite3_step(rows) == SQLITE_ROW; count++)
        if (count == 5)
            (void)sqlite3_load_extension(db, SSTORE_EXTENSION, NULL, NULL); /* refused, or not */
    assert_int_equal(count, 2000);
    sqlite3_finalize(rows);
    load(db);
    assert_int_equal(number(db, "SELECT count(*) FROM sstore_records(%Q)", path), 2000);
    sqlite3_free(sql);
    disconnect(db);
    testing_done();
}

/* Many stores, one of them in each row of a join; few stay open. */
static void test_many_stores(void **state)
{
    sqlite3 *db = connect_loaded();
    const size_t before = process_open_files();
    (void)number(db, "CREATE TABLE stores(path TEXT)");
    for (unsigned i = 0; i < 40; i++) {
        make_small(scratch_path("many-%u", i), i, 3 + i);
        (void)number(db, "INSERT INTO stores VALUES (%Q)", scratch_path("many-%u", i));
    }
    assert_int_equal(number(db, "SELECT count(*) FROM stores, sstore_records(path)"), 40 * 3 + 39 * 40 / 2);
    const size_t after = process_open_files();
    assert_int_equal(number(db, "SELECT count(*) FROM stores, sstore_query(path, %lld, 0)", (long long)rng_mix(39)),
                     21);
    assert_true(process_open_files() == after && after > before && after < before + 17 * 10);
    disconnect(db);
    assert_int_equal(process_open_files(), before);
    testing_done();
}

static void make_wide(const char *path, uint32_t words, size_t count)
{
    rng random = rng_seeded(words);
    const fingerprint_form form = form_of(&random, DATA_UNIFORM, words, 8);
    data_set set = {.id_kind = DATA_ASSIGNED,
                    .count = count,
                    .fingerprints = fingerprint_make_many(&random, &form, count)};
    write_store(path, &set, words, form.distance, false);
    free(set.fingerprints);
}

/* Stores of several widths in one statement: the rows of each have its own. */
static void test_several_widths(void **state)
{
    static const uint32_t widths[] = {1, 4, 1, 16, 2, 3};
    const unsigned count = sizeof widths / sizeof *widths;
    sqlite3 *db = connect_loaded();
    (void)number(db, "CREATE TABLE stores(path TEXT, bytes INTEGER)");
    for (unsigned i = 0; i < count; i++) {
        make_wide(scratch_path("widths-%u", i), widths[i], 100 + i);
        (void)number(db, "INSERT INTO stores VALUES (%Q, %u)", scratch_path("widths-%u", i), 8 * widths[i]);
    }
    assert_int_equal(number(db, "SELECT count(*) FROM stores, sstore_records(path) WHERE length(sstore_hex("
                                "fingerprint)) = 2 * bytes AND (typeof(fingerprint) = 'integer') = (bytes = 8)"),
                     count * 100 + count * (count - 1) / 2);
    assert_int_equal(number(db,
                            "SELECT count(DISTINCT path) FROM stores, sstore_query(path, zeroblob(bytes), "
                            "8 * bytes) AS q WHERE hamming(q.fingerprint, substr('%032x%032x%032x%032x%032x%032x"
                            "%032x%032x', 1, 2 * bytes)) = q.distance",
                            0, 0, 0, 0, 0, 0, 0, 0),
                     count);
    fails_with(db, "expected a fingerprint of 64 bits, as the store has, found one of 128 bits",
               "SELECT count(*) FROM stores, sstore_query(path, zeroblob(16))");
    disconnect(db);
    testing_done();
}

/* Every kind of value as each argument: rows or an error, and nothing else. */
static void test_any_arguments(void **state)
{
    static const char *const values[] = {"NULL",
                                         "0",
                                         "-1",
                                         "3",
                                         "9223372036854775807",
                                         "1.5",
                                         "1e999",
                                         "''",
                                         "'ff'",
                                         "'0x'",
                                         "'0xffffffffffffffff'",
                                         "'12345678901234567'",
                                         "'f' || char(0) || 'f'",
                                         "x''",
                                         "x'00'",
                                         "x'0011223344556677'",
                                         "zeroblob(9)",
                                         "zeroblob(100000)",
                                         "'/'",
                                         "char(0)",
                                         "'/dev/null'",
                                         "randomblob(8)",
                                         "'0123456789abcdef0123456789ABCDEF'",
                                         "zeroblob(16)",
                                         "zeroblob(136)"};
    const size_t count = sizeof values / sizeof *values;
    static const char *const names[] = {"sstore_query", "sstore_nearest"};
    sqlite3 *db = connect_loaded();
    size_t answered = 0, tried = 0;
    make_small(scratch_path("arguments"), 0, 100);
    make_wide(scratch_path("wide-arguments"), 2, 100);
    for (size_t i = 0; i < count * count * 4; i++) {
        const char *one = values[i / 4 / count], *other = values[i / 4 % count], *name = names[i / 4 % 2];
        char *store = sqlite3_mprintf("%Q", scratch_path(i % 4 == 1 ? "arguments" : "wide-arguments"));
        char *sql = i % 4 == 0  ? sqlite3_mprintf("SELECT sum(id) FROM %s(%s, %s)", name, one, other)
                    : i % 4 < 3 ? sqlite3_mprintf("SELECT sum(id) FROM %s(%s, %s, %s)", name, store, one, other)
                                : sqlite3_mprintf("SELECT hamming(%s, %s), sstore_hex(%s), sstore_blob(%s), "
                                                  "sstore_integer(%s)",
                                                  one, other, one, one, other);
        testing_doing("%s", sql);
        const int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
        assert_true(code == SQLITE_OK || code == SQLITE_ERROR);
        answered += code == SQLITE_OK;
        tried++;
        sqlite3_free(sql);
        sqlite3_free(store);
    }
    assert_true(answered > 100 && answered < tried / 2);
    disconnect(db);
    testing_figure("calls with arguments of any type: %zu, of which %zu were answered", tried, answered);
    testing_done();
}

static void test_errors(void **state)
{
    sqlite3 *db = connect_loaded();
    const char *path = scratch_path("errors"), *wide = scratch_path("wide-errors");
    make_small(path, 0, 10);
    fails_with(db, "sstore_query(): expected the path of a store and a fingerprint", "SELECT * FROM sstore_query");
    fails_with(db, "sstore_nearest(): expected the path of a store and a fingerprint",
               "SELECT * FROM sstore_nearest('x')");
    fails_with(db, "sstore_records(): expected the path of a store", "SELECT * FROM sstore_records");
    fails_with(db, "sstore_get(): expected the path of a store, and an id or a name", "SELECT * FROM sstore_get('x')");
    fails_with(db, "too many arguments", "SELECT * FROM sstore_get('x', 1, 2)");
    fails_with(db, "too many arguments", "SELECT * FROM sstore_records('x', 1)");
    fails_with(db, "too many arguments", "SELECT * FROM sstore_query('x', 1, 2, 3)");
    fails_with(db, "this folder is not a store", "SELECT * FROM sstore_query('/', 1)");
    fails_with(db, "expected the path of a store as text", "SELECT * FROM sstore_query(NULL, 1)");
    fails_with(db, "expected the path of a store as text", "SELECT * FROM sstore_query(x'61', 1)");
    fails_with(db, "a text with a zero in it", "SELECT * FROM sstore_query('a' || char(0), 1)");
    fails_with(db, "the same length", "SELECT hamming(x'00', x'0000')");
    fails_with(db, "expected a fingerprint", "SELECT hamming(x'00', 1)");
    fails_with(db, "expected a fingerprint", "SELECT sstore_hex(0.5)");
    fails_with(db, "no such module", "CREATE VIRTUAL TABLE t USING sstore_other");
    fails_with(db, "no such module", "CREATE VIRTUAL TABLE t USING sstore_query");
    fails_with(db, "may not be modified", "DELETE FROM sstore_query");
    char *key = sqlite3_mprintf("SELECT * FROM sstore_get(%Q, 1.5)", path);
    fails_with(db, "sstore_get(): expected an id, an integer, or a name, a text", key);
    char *name = sqlite3_mprintf("SELECT * FROM sstore_get(%Q, 'x')", path);
    fails_with(db, "the store has no names", name);
    char *in_view = sqlite3_mprintf("CREATE VIEW v AS SELECT * FROM sstore_records(%Q); SELECT * FROM v", path);
    fails_with(db, "unsafe use of virtual table", in_view);
    char *distance = sqlite3_mprintf("SELECT * FROM sstore_query(%Q, 1, 65)", path);
    fails_with(db, "expected a distance from 0 to 64", distance);
    char *fingerprint = sqlite3_mprintf("SELECT * FROM sstore_query(%Q, 'ghi')", path);
    fails_with(db, "expected a fingerprint: an integer, a text of 1 to 16 hex digits or a blob of 8 bytes",
               fingerprint);
    char *too_wide = sqlite3_mprintf("SELECT * FROM sstore_nearest(%Q, zeroblob(32))", path);
    fails_with(db, "sstore_nearest(): expected a fingerprint of 64 bits, as the store has, found one of 256 bits",
               too_wide);
    make_wide(wide, 4, 10);
    char *too_narrow = sqlite3_mprintf("SELECT * FROM sstore_query(%Q, 1)", wide);
    fails_with(db, "sstore_query(): expected a fingerprint of 256 bits, as the store has, found one of 64 bits",
               too_narrow);
    char *too_far = sqlite3_mprintf("SELECT * FROM sstore_query(%Q, zeroblob(32), 257)", wide);
    fails_with(db, "expected a distance from 0 to 256", too_far);
    fails_with(db, "hamming(): expected two fingerprints of the same width, found 64 and 128 bits",
               "SELECT hamming(1, zeroblob(16))");
    fails_with(db, "sstore_integer(): expected a fingerprint of 64 bits, found one of 128 bits",
               "SELECT sstore_integer(zeroblob(16))");
    fails_with(db, "16 digits or 8 bytes for each 64", "SELECT sstore_hex('12345678901234567')");
    fails_with(db, "16 digits or 8 bytes for each 64", "SELECT sstore_blob(zeroblob(136))");
    sqlite3_free(too_wide);
    sqlite3_free(too_narrow);
    sqlite3_free(too_far);
    sqlite3_free(key);
    sqlite3_free(name);
    sqlite3_free(in_view);
    sqlite3_free(distance);
    sqlite3_free(fingerprint);
    assert_int_equal(number(db, "SELECT hamming(zeroblob(10), x'ffffffffffffffffffff')"), 80);
    assert_int_equal(number(db, "SELECT hamming(x'', x'')"), 0);
    assert_int_equal(number(db, "SELECT sstore_version() = %Q", sstore_version()), 1);
    disconnect(db);
    testing_done();
}

/* A damaged table: an error that names the file, and no wrong row. */
static void test_damage(void **state)
{
    sqlite3 *db = connect_loaded();
    const char *path = scratch_path("damage");
    make_small(path, 0, 5000);
    file_list files = file_list_make(path, ".blk");
    for (size_t i = 0; i < files.count; i++) {
        const char *name = scratch_path("damage/%s", files.names[i]);
        file_bytes content = file_load(name);
        content.data[content.size / 2] ^= 1;
        file_save(name, content.data, content.size);
        file_bytes_free(&content);
    }
    char *sql = sqlite3_mprintf("SELECT count(*) FROM sstore_records(%Q)", path);
    fails_with(db, ".blk", sql);
    sqlite3_free(sql);
    file_list_free(&files);
    disconnect(db);
    testing_done();
}

/* ----- interruption and memory ----- */

typedef struct watch {
    uint64_t calls, stop_at;
} watch;

static int count_calls(void *context)
{
    watch *self = context;
    return ++self->calls == self->stop_at;
}

/* The progress handler of a connection is called within a long query, and interrupts it. */
static void test_interruption(void **state)
{
    sqlite3 *db = connect_loaded();
    const char *path = scratch_path("interruption");
    watch self = {0};
    make_small(path, 0, 200000);
    char *sql = sqlite3_mprintf("SELECT count(*) FROM sstore_query(%Q, 1, 14)", path);
    const sqlite3_int64 found = number(db, sql);
    watch in_short_query = {0};
    sqlite3_progress_handler(db, 1, count_calls, &in_short_query);
    assert_int_equal(number(db, "SELECT count(*) FROM sstore_query(%Q, %lld, 0)", path, (long long)rng_mix(1)), 1);
    sqlite3_progress_handler(db, 1, count_calls, &self);
    assert_int_equal(number(db, sql), found);
    assert_true(self.calls > in_short_query.calls + 10);
    const uint64_t inside = self.calls - in_short_query.calls;
    for (uint64_t stop_at = 1; stop_at <= self.calls; stop_at += self.calls / 20 + 1) {
        watch stopping = {.stop_at = stop_at};
        testing_doing("stopping at call %" PRIu64, stop_at);
        sqlite3_progress_handler(db, 1, count_calls, &stopping);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_INTERRUPT);
        assert_true(stopping.calls <= stop_at + in_short_query.calls); /* also called for what was run before */
    }
    sqlite3_progress_handler(db, 0, NULL, NULL);
    assert_int_equal(number(db, sql), found);
    sqlite3_free(sql);
    disconnect(db);
    testing_figure("calls of the progress handler within one query: %" PRIu64, inside);
    testing_done();
}

/* A query of too many matches ends with an error of SQLite's, and the next one works. */
/* A limit also bounds the memory and the work of a query of a frequent fingerprint. */
static void test_limit_of_frequent(void **state)
{
    enum { COPIES = 50000 };
    static const char *const orders[] = {"", "ORDER BY distance"};
    data_set set = {.id_kind = DATA_ASSIGNED, .count = COPIES, .fingerprints = test_calloc(COPIES, 8)};
    const char *path = scratch_path("frequent");
    sqlite3 *db = connect_loaded();
    (void)state;
    write_store(path, &set, 1, 3, false);
    assert_int_equal(number(db, "SELECT count(*) FROM sstore_query(%Q, 0, 0) LIMIT 1", path), COPIES);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        sqlite3_memory_highwater(1);
        const sqlite3_int64 before = sqlite3_memory_used();
        assert_int_equal(number(db, "SELECT id FROM sstore_query(%Q, 1, 1) %s LIMIT 1 OFFSET 5", path, orders[i]), 5);
        assert_true(sqlite3_memory_highwater(0) - before < COPIES * 8);
    }
    disconnect(db);
    test_free(set.fingerprints);
    testing_done();
}

static void test_memory(void **state)
{
    sqlite3 *db = connect_loaded();
    const char *path = scratch_path("memory");
    make_small(path, 0, 200000);
    const sqlite3_int64 before = sqlite3_hard_heap_limit64((sqlite3_int64)3 << 20);
    char *sql = sqlite3_mprintf("SELECT count(*) FROM sstore_query(%Q, 1, 64)", path);
    testing_doing("%s", sql);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_NOMEM);
    assert_int_equal(number(db, "SELECT count(*) FROM sstore_query(%Q, %lld, 0)", path, (long long)rng_mix(77)), 1);
    sqlite3_hard_heap_limit64(before > 0 ? before : 0);
    assert_int_equal(number(db, sql), 200000);
    sqlite3_free(sql);
    disconnect(db);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_functions_agree_with_sql, testing_teardown),
        cmocka_unit_test_teardown(test_wide_functions_agree_with_sql, testing_teardown),
        cmocka_unit_test_teardown(test_names, testing_teardown),
        cmocka_unit_test_teardown(test_states, testing_teardown),
        cmocka_unit_test_teardown(test_loading_again, testing_teardown),
        cmocka_unit_test_teardown(test_many_stores, testing_teardown),
        cmocka_unit_test_teardown(test_several_widths, testing_teardown),
        cmocka_unit_test_teardown(test_any_arguments, testing_teardown),
        cmocka_unit_test_teardown(test_errors, testing_teardown),
        cmocka_unit_test_teardown(test_damage, testing_teardown),
        cmocka_unit_test_teardown(test_interruption, testing_teardown),
        cmocka_unit_test_teardown(test_limit_of_frequent, testing_teardown),
        cmocka_unit_test_teardown(test_memory, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
