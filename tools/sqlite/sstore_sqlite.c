/*
 * sstore_sqlite.c - a loadable extension of SQLite: stores as table-valued functions, and functions of fingerprints.
 * docs/sqlite.md describes them.
 *
 * SQLite has only signed integers, so fingerprints and ids from 2^63 on are negative here: their two's complement. A
 * fingerprint may also be given as text of hex digits, or as a blob of eight bytes, the most significant first. One of
 * more than 64 bits does not fit into an integer: it is a blob, or text with all its digits.
 */
#include <stdio.h>
#include <string.h>

#include "sqlite/fingerprint_functions.h"
#include "sqlite/store_cache.h"
#include "sqlite/table_plan.h"

SQLITE_EXTENSION_INIT1

#define FIRST_CAPACITY 64u
#define GROWTH 4u /* of the capacity, if as many rows are found and more are needed */
#define RECORD_CAPACITY 1024u
#define REASON_BYTES 160u

/* ----- table-valued functions ----- */

static const char *const function_names[KIND_COUNT] = {"sstore_query", "sstore_nearest", "sstore_get",
                                                       "sstore_records"};

/* What the functions of a connection share. It is freed with the last of its modules. */
typedef struct connection {
    sqlite3 *db;
    store_cache *stores;
    int module_count;
} connection;

typedef struct table_function {
    connection *connected;
    function_kind kind;
} table_function;

typedef struct function_table {
    sqlite3_vtab base; /* first, for SQLite */
    const table_function *function;
} function_table;

/* Rows of one call. */
typedef struct function_cursor {
    sqlite3_vtab_cursor base; /* first, for SQLite */
    sqlite3_value *arguments[ARGUMENT_COUNT];
    cached_store *store; /* of the first argument; kept for further calls by the same statement */
    sstore_iterator *records;
    uint64_t *fingerprints, *ids; /* a fingerprint has `words` elements */
    uint32_t *distances;
    uint32_t words;
    size_t capacity;
    size_t count, next;        /* rows in the arrays, and the current one */
    sqlite3_int64 rows_before; /* rows of the call before those in the arrays */
} function_cursor;

static const table_function *function_of(const function_cursor *cursor)
{
    return ((const function_table *)cursor->base.pVtab)->function;
}

static int fail(sqlite3_vtab *table, const char *reason)
{
    const table_function *function = ((const function_table *)table)->function;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s(): %s", function_names[function->kind], reason);
    return table->zErrMsg != NULL ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int fail_status(sqlite3_vtab *table, sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_STOPPED)
        return SQLITE_INTERRUPT;
    return status == SSTORE_ERROR_MEMORY ? SQLITE_NOMEM : fail(table, error->message);
}

static int connect_table(sqlite3 *db, void *context, int count, const char *const *values, sqlite3_vtab **table_out,
                         char **error_out)
{
    const table_function *function = context;
    (void)count, (void)values, (void)error_out;
#define RECORD "CREATE TABLE x(id INTEGER, fingerprint INTEGER, name TEXT, "
    static const char *const declarations[KIND_COUNT] = {[KIND_QUERY] = RECORD
                                                         "distance INTEGER, store HIDDEN, query HIDDEN, k HIDDEN)",
                                                         [KIND_NEAREST] = RECORD
                                                         "distance INTEGER, store HIDDEN, query HIDDEN, k HIDDEN)",
                                                         [KIND_GET] = RECORD "store HIDDEN, key HIDDEN)",
                                                         [KIND_RECORDS] = RECORD "store HIDDEN)"};
#undef RECORD
    int code = sqlite3_declare_vtab(db, declarations[function->kind]);
    /* The tables open files, so a schema that somebody else made must not use them in its views and triggers. */
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    function_table *table = code == SQLITE_OK ? sqlite3_malloc(sizeof *table) : NULL;
    if (code == SQLITE_OK && table == NULL)
        code = SQLITE_NOMEM;
    if (table != NULL)
        *table = (function_table){.function = function};
    *table_out = (sqlite3_vtab *)table;
    return code;
}

static int disconnect_table(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int choose_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
    return plan_table(((const function_table *)table)->function->kind, info);
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor_out)
{
    function_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    (void)table;
    if (cursor != NULL)
        *cursor = (function_cursor){0};
    *cursor_out = (sqlite3_vtab_cursor *)cursor;
    return cursor != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static void end_call(function_cursor *cursor)
{
    sstore_iterator_free(cursor->records);
    cursor->records = NULL;
    cursor->count = cursor->next = 0;
    cursor->rows_before = 0;
}

static void forget_arguments(function_cursor *cursor)
{
    for (int i = 0; i < ARGUMENT_COUNT; i++) {
        sqlite3_value_free(cursor->arguments[i]);
        cursor->arguments[i] = NULL;
    }
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    function_cursor *cursor = (function_cursor *)base;
    end_call(cursor);
    store_cache_release(function_of(cursor)->connected->stores, cursor->store);
    forget_arguments(cursor);
    sqlite3_free(cursor->fingerprints);
    sqlite3_free(cursor->ids);
    sqlite3_free(cursor->distances);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* ----- arguments ----- */

/* Is the value the same text as before? Then the statement goes on with the state of the store that it has. */
static bool is_same_text(sqlite3_value *value, sqlite3_value *before)
{
    const int size = sqlite3_value_bytes(value);
    return before != NULL && sqlite3_value_type(before) == SQLITE_TEXT && size == sqlite3_value_bytes(before) &&
           memcmp(sqlite3_value_text(value), sqlite3_value_text(before), (size_t)size) == 0;
}

/* Acquire the store of the first argument, unless the cursor has it. */
static int take_store(function_cursor *cursor, sqlite3_value *value)
{
    store_cache *stores = function_of(cursor)->connected->stores;
    sstore_error error;
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return fail(cursor->base.pVtab, "expected the path of a store as text");
    if (cursor->store != NULL && is_same_text(value, cursor->arguments[0]))
        return SQLITE_OK;
    store_cache_release(stores, cursor->store);
    cursor->store = NULL;
    const char *path = (const char *)sqlite3_value_text(value);
    if (path == NULL)
        return SQLITE_NOMEM;
    if (strlen(path) != (size_t)sqlite3_value_bytes(value))
        return fail(cursor->base.pVtab, "expected the path of a store, found a text with a zero in it");
    const sstore_status status = store_cache_acquire(stores, path, &cursor->store, &error);
    return status == SSTORE_OK ? SQLITE_OK : fail_status(cursor->base.pVtab, status, &error);
}

/* The distance: the third argument, or that of the store. */
static int take_distance(function_cursor *cursor, sqlite3_value *value, uint32_t *distance_out)
{
    *distance_out = cursor->store->metadata.distance;
    if (value == NULL || sqlite3_value_type(value) == SQLITE_NULL)
        return SQLITE_OK;
    const sqlite3_int64 distance = sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : -1;
    const uint32_t most = sstore_fingerprint_bits(cursor->store->store) / 64 * SSTORE_MAX_DISTANCE;
    *distance_out = (uint32_t)distance;
    if (distance >= 0 && distance <= most)
        return SQLITE_OK;
    char reason[REASON_BYTES];
    snprintf(reason, sizeof reason, "expected a distance from 0 to %u", most);
    return fail(cursor->base.pVtab, reason);
}

/* The fingerprint, of the store's width. */
static int take_query(function_cursor *cursor, sqlite3_value *value, fingerprint *to)
{
    const uint32_t words = sstore_fingerprint_bits(cursor->store->store) / 64;
    if (!read_fingerprint(value, to))
        return fail(cursor->base.pVtab, "expected a fingerprint: " FINGERPRINT_FORMS);
    if (to->word_count == words)
        return SQLITE_OK;
    char reason[REASON_BYTES];
    snprintf(reason, sizeof reason, "expected a fingerprint of %u bits, as the store has, found one of %u bits",
             64 * words, 64 * to->word_count);
    return fail(cursor->base.pVtab, reason);
}

static int keep_arguments(function_cursor *cursor, int count, sqlite3_value **values)
{
    forget_arguments(cursor);
    for (int i = 0; i < count; i++) {
        cursor->arguments[i] = sqlite3_value_dup(values[i]);
        if (cursor->arguments[i] == NULL)
            return SQLITE_NOMEM;
    }
    return SQLITE_OK;
}

/* ----- interruption ----- */

/*
 * SQLite 3.41 has a function that tells whether a connection was interrupted. In any version, a statement that is run
 * then fails, and it also calls the connection's progress handler, by which programs limit the time of statements. It
 * is only prepared in long queries, and must not stay: it would keep the connection from being closed.
 */
typedef struct interruption {
    sqlite3 *db;
    sqlite3_stmt *statement;
    unsigned interval, skipped;
} interruption;

/* A check takes less than a microsecond. The library asks every few microseconds of a query, and at each record that it
 * reads for an id. */
#define CHECK_INTERVAL 4u
#define RECORD_INTERVAL 1024u

static int is_interrupted(void *context)
{
    interruption *stop = context;
    if (++stop->skipped < stop->interval)
        return 0;
    stop->skipped = 0;
    if (stop->statement == NULL && sqlite3_prepare_v2(stop->db, "SELECT 1", -1, &stop->statement, NULL) != SQLITE_OK)
        return 0;
    const int code = sqlite3_step(stop->statement);
    sqlite3_reset(stop->statement);
    return code == SQLITE_INTERRUPT;
}

/* ----- rows ----- */

/* Room for rows of the store's width, of which the earlier ones are lost. */
static int make_room(function_cursor *cursor, uint64_t capacity)
{
    const uint32_t words = sstore_fingerprint_bits(cursor->store->store) / 64;
    if (capacity <= cursor->capacity && words == cursor->words)
        return SQLITE_OK;
    cursor->capacity = 0;
    cursor->words = words;
    sqlite3_free(cursor->fingerprints);
    sqlite3_free(cursor->ids);
    sqlite3_free(cursor->distances);
    cursor->fingerprints = sqlite3_malloc64(capacity * words * sizeof *cursor->fingerprints);
    cursor->ids = sqlite3_malloc64(capacity * sizeof *cursor->ids);
    cursor->distances = sqlite3_malloc64(capacity * sizeof *cursor->distances);
    if (cursor->fingerprints == NULL || cursor->ids == NULL || cursor->distances == NULL)
        return SQLITE_NOMEM;
    cursor->capacity = (size_t)capacity;
    return SQLITE_OK;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Run a query into the arrays. If only some rows are needed, the nearest are found. *count_out: the number of all, or
 * more than the capacity if there may be more. */
static sstore_status run_query(function_cursor *cursor, const uint64_t *query, uint32_t distance, size_t capacity,
                               uint64_t needed, uint64_t *count_out, sstore_error *error)
{
    sstore_cursor *search = cursor->store->cursor;
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = cursor->fingerprints,
                                    .id = cursor->ids,
                                    .distance = cursor->distances};
    if (needed == UINT64_MAX)
        return sstore_query_columns(search, query, distance, &columns, capacity, count_out, error);
    const sstore_status status = sstore_query_nearest(search, query, distance, &columns, capacity, count_out, error);
    if (status == SSTORE_OK && *count_out == capacity && capacity < needed)
        *count_out = smaller(GROWTH * *count_out, needed);
    return status;
}

/* Lower the distance to that of the nearest record. *count_out is 0 if there is none. */
static sstore_status find_smallest(const function_cursor *cursor, const uint64_t *query, uint32_t *distance,
                                   uint64_t *count_out, sstore_error *error)
{
    const uint32_t max_distance = *distance;
    const sstore_columns columns = {.struct_size = sizeof columns, .distance = distance};
    return sstore_query_nearest(cursor->store->cursor, query, max_distance, &columns, 1, count_out, error);
}

/* Find the rows of a query, with larger arrays if they are too small for as many as are needed. */
static int find_matches(function_cursor *cursor, const uint64_t *query, uint32_t distance, uint64_t needed)
{
    const table_function *function = function_of(cursor);
    interruption stop = {.db = function->connected->db, .interval = CHECK_INTERVAL};
    sstore_status status = SSTORE_OK;
    sstore_error error;
    uint64_t count = FIRST_CAPACITY;
    size_t capacity = 0;
    int code = SQLITE_OK;
    sstore_cursor_set_stop(cursor->store->cursor, is_interrupted, &stop);
    if (function->kind == KIND_NEAREST)
        status = find_smallest(cursor, query, &distance, &count, &error);
    while (status == SSTORE_OK && code == SQLITE_OK && smaller(count, needed) > capacity) {
        code = make_room(cursor, smaller(count, needed));
        capacity = (size_t)smaller(cursor->capacity, needed);
        if (code == SQLITE_OK)
            status = run_query(cursor, query, distance, capacity, needed, &count, &error);
    }
    sstore_cursor_set_stop(cursor->store->cursor, NULL, NULL);
    sqlite3_finalize(stop.statement);
    if (code == SQLITE_OK && status != SSTORE_OK)
        code = fail_status(cursor->base.pVtab, status, &error);
    cursor->count = code == SQLITE_OK ? (size_t)smaller(count, needed) : 0;
    return code;
}

/* Take a record as a row, if there is room. */
static int take_record(void *context, const sstore_match *record)
{
    function_cursor *cursor = context;
    const size_t at = cursor->count++;
    if (at < cursor->capacity) {
        memcpy(&cursor->fingerprints[at * cursor->words], record->fingerprint,
               cursor->words * sizeof *cursor->fingerprints);
        cursor->ids[at] = record->id;
    }
    return 0;
}

/* Look up the records of an id, or of a name. */
static sstore_status run_get(function_cursor *cursor, sqlite3_value *key, sstore_error *error)
{
    sstore_cursor *search = cursor->store->cursor;
    const uint64_t id = (uint64_t)sqlite3_value_int64(key);
    cursor->count = 0;
    if (sqlite3_value_type(key) == SQLITE_INTEGER)
        return sstore_get(search, &id, 1, take_record, cursor, error);
    const char *text = (const char *)sqlite3_value_text(key);
    const sstore_name name = {.bytes = text, .size = (size_t)sqlite3_value_bytes(key)};
    return sstore_get_named(search, &name, 1, take_record, cursor, error);
}

/* Find the rows of an id or a name, again with larger arrays if they are too small. */
static int find_records(function_cursor *cursor, sqlite3_value *key)
{
    interruption stop = {.db = function_of(cursor)->connected->db, .interval = RECORD_INTERVAL};
    sstore_status status = SSTORE_OK;
    sstore_error error;
    const int type = sqlite3_value_type(key);
    if (type != SQLITE_INTEGER && type != SQLITE_TEXT && type != SQLITE_NULL)
        return fail(cursor->base.pVtab, "expected an id, an integer, or a name, a text");
    if (type == SQLITE_NULL)
        return SQLITE_OK;
    sstore_cursor_set_stop(cursor->store->cursor, is_interrupted, &stop);
    int code = make_room(cursor, FIRST_CAPACITY);
    do {
        if (code == SQLITE_OK && cursor->count > cursor->capacity)
            code = make_room(cursor, cursor->count);
        if (code == SQLITE_OK)
            status = run_get(cursor, key, &error);
    } while (code == SQLITE_OK && status == SSTORE_OK && cursor->count > cursor->capacity);
    sstore_cursor_set_stop(cursor->store->cursor, NULL, NULL);
    sqlite3_finalize(stop.statement);
    if (code == SQLITE_OK && status != SSTORE_OK)
        code = fail_status(cursor->base.pVtab, status, &error);
    cursor->count = code == SQLITE_OK ? cursor->count : 0;
    return code;
}

static int set_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    (void)index, (void)id;
    sqlite3_result_text(context, name->bytes, (int)name->size, SQLITE_TRANSIENT);
    return 0;
}

/* The name of the current row, which is looked up only if it is wanted. */
static int get_name(const function_cursor *cursor, sqlite3_context *context)
{
    sstore_error error;
    const sstore_status status = sstore_names(cursor->store->cursor, &cursor->ids[cursor->next], 1, set_name, context,
                                              &error);
    return status == SSTORE_OK ? SQLITE_OK : fail_status(cursor->base.pVtab, status, &error);
}

/* Replace the rows in the arrays by the next ones of all records. */
static int read_records(function_cursor *cursor)
{
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = cursor->fingerprints,
                                    .id = cursor->ids};
    sstore_error error;
    cursor->rows_before += (sqlite3_int64)cursor->count;
    cursor->count = cursor->next = 0;
    const sstore_status status = sstore_iterator_next(cursor->records, &columns, cursor->capacity, &cursor->count,
                                                      &error);
    return status == SSTORE_OK ? SQLITE_OK : fail_status(cursor->base.pVtab, status, &error);
}

static int begin_records(function_cursor *cursor)
{
    sstore_error error;
    int code = make_room(cursor, RECORD_CAPACITY);
    if (code != SQLITE_OK)
        return code;
    const sstore_status status = sstore_iterate_records(cursor->store->store, &cursor->records, &error);
    return status == SSTORE_OK ? read_records(cursor) : fail_status(cursor->base.pVtab, status, &error);
}

/* Begin a call with these arguments. A fingerprint that is NULL has no matches. */
static int begin_call(sqlite3_vtab_cursor *base, int plan, const char *text, int value_count, sqlite3_value **values)
{
    function_cursor *cursor = (function_cursor *)base;
    const function_kind kind = function_of(cursor)->kind;
    fingerprint query;
    uint32_t distance = 0;
    const int arguments = plan & PLAN_ARGUMENTS;
    (void)value_count, (void)text;
    end_call(cursor);
    if (arguments < table_needed_arguments(kind))
        return fail(base->pVtab, kind == KIND_RECORDS ? "expected the path of a store"
                                 : kind == KIND_GET   ? "expected the path of a store, and an id or a name"
                                                      : "expected the path of a store and a fingerprint");
    int code = take_store(cursor, values[0]);
    if (code == SQLITE_OK)
        code = keep_arguments(cursor, arguments, values);
    if (code == SQLITE_OK && !table_has_distance(kind))
        return kind == KIND_GET ? find_records(cursor, values[1]) : begin_records(cursor);
    if (code != SQLITE_OK)
        return code;
    code = take_distance(cursor, arguments > 2 ? values[2] : NULL, &distance);
    if (code != SQLITE_OK || sqlite3_value_type(values[1]) == SQLITE_NULL)
        return code;
    code = take_query(cursor, values[1], &query);
    return code == SQLITE_OK ? find_matches(cursor, query.words, distance, table_needed_rows(plan, values + arguments))
                             : code;
}

static int go_to_next(sqlite3_vtab_cursor *base)
{
    function_cursor *cursor = (function_cursor *)base;
    cursor->next++;
    return cursor->records != NULL && cursor->next == cursor->count ? read_records(cursor) : SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const function_cursor *cursor = (const function_cursor *)base;
    return cursor->next >= cursor->count;
}

static int get_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    const function_cursor *cursor = (const function_cursor *)base;
    const int column = table_column_of(function_of(cursor)->kind, number);
    if (column == COLUMN_ID && cursor->store->metadata.has_ids)
        sqlite3_result_int64(context, (sqlite3_int64)cursor->ids[cursor->next]);
    else if (column == COLUMN_FINGERPRINT && cursor->words > 1)
        set_blob(context, &cursor->fingerprints[cursor->next * cursor->words], cursor->words);
    else if (column == COLUMN_FINGERPRINT)
        sqlite3_result_int64(context, (sqlite3_int64)cursor->fingerprints[cursor->next]);
    else if (column == COLUMN_NAME && cursor->store->metadata.has_names)
        return get_name(cursor, context);
    else if (column == COLUMN_DISTANCE)
        sqlite3_result_int(context, (int)cursor->distances[cursor->next]);
    else if (column >= COLUMN_STORE && cursor->arguments[column - COLUMN_STORE] != NULL)
        sqlite3_result_value(context, cursor->arguments[column - COLUMN_STORE]);
    return SQLITE_OK; /* the result is NULL unless it is set */
}

static int get_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *row_id_out)
{
    const function_cursor *cursor = (const function_cursor *)base;
    *row_id_out = cursor->rows_before + (sqlite3_int64)cursor->next + 1;
    return SQLITE_OK;
}

/* Without xCreate, a table of the module exists only under its own name, and cannot be created. */
static const sqlite3_module module = {
    .xConnect = connect_table,
    .xBestIndex = choose_plan,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = begin_call,
    .xNext = go_to_next,
    .xEof = is_at_end,
    .xColumn = get_column,
    .xRowid = get_row_id,
};

/* ----- loading ----- */

static void free_function(void *context)
{
    table_function *self = context;
    if (--self->connected->module_count == 0) {
        store_cache_free(self->connected->stores);
        sqlite3_free(self->connected);
    }
    sqlite3_free(self);
}

static int create_module(connection *self, function_kind kind)
{
    table_function *made = sqlite3_malloc(sizeof *made);
    if (made == NULL)
        return SQLITE_NOMEM;
    *made = (table_function){.connected = self, .kind = kind};
    self->module_count++;
    /* If it fails, it has also called free_function(). */
    return sqlite3_create_module_v2(self->db, function_names[kind], &module, made, free_function);
}

static int create_modules(sqlite3 *db)
{
    connection *made = sqlite3_malloc(sizeof *made);
    int code = SQLITE_OK;
    if (made == NULL)
        return SQLITE_NOMEM;
    *made = (connection){.db = db, .stores = store_cache_create(), .module_count = 1}; /* one: this function */
    if (made->stores == NULL)
        code = SQLITE_NOMEM;
    for (function_kind kind = 0; kind < KIND_COUNT && code == SQLITE_OK; kind++)
        code = create_module(made, kind);
    if (--made->module_count == 0) {
        store_cache_free(made->stores);
        sqlite3_free(made);
    }
    return code;
}

/* SQLite calls the function of this name when it loads sstore_sqlite.so. */
__attribute__((visibility("default"))) int sqlite3_sstoresqlite_init(sqlite3 *db, char **error_out,
                                                                     const sqlite3_api_routines *routines);

int sqlite3_sstoresqlite_init(sqlite3 *db, char **error_out, const sqlite3_api_routines *routines)
{
    SQLITE_EXTENSION_INIT2(routines)
    int code = create_fingerprint_functions(db);
    if (code == SQLITE_OK)
        code = create_modules(db);
    if (code != SQLITE_OK)
        *error_out = sqlite3_mprintf("cannot register the functions of sstore: %s", sqlite3_errmsg(db));
    return code;
}
