/* cmd_query.c - sstore query: find the stored fingerprints near given ones. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/also_stores.h"
#include "commands/cmd.h"
#include "commands/ids_option.h"
#include "commands/query_explain.h"
#include "input/input_measure.h"
#include "input/input_value.h"
#include "output/query_merge.h"
#include "output/walk.h"

typedef struct arguments {
    const char *store;
    text_list also;
    const char *input; /* --input, or NULL */
    uint64_t id;
    const char *id_given; /* --id, if given */
    const char *name;     /* or NULL */
    operands fingerprints;
    bool explain;
    sstore_open_options open;
    uint32_t distance;
    const char *distance_given; /* -k, if given */
    bool nearest, count, json;
    uint64_t limit; /* on the printed matches of a query */
    id_range ids;
    bool query_ids, exclude_self, group;
    radix_form output_radix;
    uint32_t threads;
    header_mode header;
    uint64_t memory;
    progress_mode progress;
    input_options format;
} arguments;

#define FEW_MATCHES 1024u /* of a query that is answered by itself */

static const command_option options[] = {
    {"distance", 'k', "D", "find records within D bits (default: the store's)", OPTION_NUMBER,
     OPTION_FIELD(arguments, distance), .max = SSTORE_MAX_DISTANCE * SSTORE_MAX_WORDS,
     .given = offsetof(arguments, distance_given), .common = true},
    {"nearest", 0, NULL, "find the nearest records: with --limit N of them", OPTION_FLAG,
     OPTION_FIELD(arguments, nearest), .common = true},
    {"input", 0, "FILE", "read the queries from FILE; - is standard input", OPTION_TEXT, OPTION_FIELD(arguments, input),
     .common = true},
    {"id", 0, "ID", "the query is the fingerprint of the record with this id, as of 'sstore get'", OPTION_NUMBER,
     OPTION_FIELD(arguments, id), .max = UINT64_MAX, .given = offsetof(arguments, id_given)},
    {"name", 0, "NAME", "the query is the fingerprint of the record with this name", OPTION_TEXT,
     OPTION_FIELD(arguments, name)},
    {"count", 0, NULL, "print only the number of matches of each query", OPTION_FLAG, OPTION_FIELD(arguments, count),
     .common = true},
    {"limit", 0, "N", "print or count the first N matches of each query", OPTION_NUMBER, OPTION_FIELD(arguments, limit),
     .min = 1, .max = UINT64_MAX, .common = true},
    {"also", 0, "STORE", "also search this store; can be repeated", OPTION_TEXTS, OPTION_FIELD(arguments, also)},
    {"group", 0, NULL, "answer consecutive queries with the same id as one: each record once", OPTION_FLAG,
     OPTION_FIELD(arguments, group)},
    {"query-ids", 0, NULL, "also print the id that each query has in its input", OPTION_FLAG,
     OPTION_FIELD(arguments, query_ids)},
    {"exclude-self", 0, NULL, "leave out records that have the id of the query", OPTION_FLAG,
     OPTION_FIELD(arguments, exclude_self)},
    {"json", 0, NULL, "print one JSON object per line", OPTION_FLAG, OPTION_FIELD(arguments, json), .common = true},
    {"output-radix", 0, "RADIX", "print fingerprints as hex (default), dec, signed, base64, base32 or bin",
     OPTION_CHOICE, OPTION_FIELD(arguments, output_radix), .choices = output_radix_choices},
    {"threads", 0, "N", "use N threads for operands and --input (default: all processors)", OPTION_NUMBER,
     OPTION_FIELD(arguments, threads), .max = 1024},
    {"memory", 0, "SIZE", "memory limit, not counting the open store (default 512M; enforced from 64M up)", OPTION_SIZE,
     OPTION_FIELD(arguments, memory)},
    {"io", 0, "MODE",
     "how to read blocks: mmap, pread, memory or auto (default: mmap if the store fits into half of the memory, "
     "otherwise pread)",
     OPTION_CHOICE, OPTION_FIELD(arguments, open.io), .choices = io_modes},
    {"explain", 0, NULL, "instead of matches, print what one query read, and what it was expected to read", OPTION_FLAG,
     OPTION_FIELD(arguments, explain)},
    {"recipe", 0, "TEXT", "fail unless the store has this recipe", OPTION_TEXT, OPTION_FIELD(arguments, open.recipe)},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){HEADER_OPTION_GROUP(offsetof(arguments, header)),
                                     IDS_OPTION_GROUP(offsetof(arguments, ids)),
                                     PROGRESS_OPTION_GROUP(offsetof(arguments, progress)),
                                     INPUT_OPTION_GROUP(offsetof(arguments, format)),
                                     {0}},
    .operands = "STORE [FINGERPRINT...]\n--input=FILE STORE",
    .doc = "Print every record of STORE within a distance of each FINGERPRINT, as lines of query, fingerprint, "
           "distance and id. Without FINGERPRINT, or with -, read standard input, and answer line by line.",
    .notes = "Put negative decimal operands after --, as in 'sstore query --radix dec STORE -- -5'",
    .examples = (const command_example[]){{"find all records within 3 bits of a fingerprint",
                                           "sstore query -k 3 pages.store 84ad7e0ad13e1a8b"},
                                          {"count the records near each fingerprint of a file",
                                           "sstore query --count --input new.txt pages.store"},
                                          {0}},
};

/* Whether the N nearest records are wanted. */
static bool wants_nearest(const arguments *args)
{
    return args->nearest && args->limit != UINT64_MAX;
}

/* Is the query a record of the store? */
static bool asks_for_stored(const arguments *args)
{
    return args->id_given != NULL || args->name != NULL;
}

static bool reads_stdin(const arguments *args)
{
    const operands *given = &args->fingerprints;
    return args->input == NULL && !asks_for_stored(args) &&
           (given->count == 0 || (given->count == 1 && strcmp(given->items[0], "-") == 0));
}

/* Read operands as fingerprints of this shape, or of any number of bits if it has no words. Wrong ones end the process
 * with a usage error. Returns an exit code. */
static int read_operands(const arguments *args, const input_shape *shape, line_format format, uint64_t *to)
{
    const uint32_t words = format.words = shape->words;
    format.words_given = !format.pads;
    format.bits = shape->bits > 0 ? shape->bits : format.bits;
    line_format any = format;
    any.pads = true;
    for (int i = 0; i < args->fingerprints.count; i++) {
        line_record record;
        line_fault fault;
        char recipe[VALUE_RECIPE_BYTES];
        const char *text = args->fingerprints.items[i];
        if (strcmp(text, "-") == 0)
            message_usage_error("expected either FINGERPRINT operands or '-', found both");
        if (words == 0 && value_read(&any, text, strlen(text), &record))
            continue;
        if (!value_parse(&format, text, strlen(text), &record, &fault))
            message_usage_error("%s%s", fault.reason, operand_hint(text));
        if (to != NULL)
            memcpy(to + (size_t)words * (size_t)i, record.fingerprint, words * sizeof *to);
        if (to != NULL && record.kind != 0 &&
            store_check_recipe(args->store, args->format.doubt, text, value_recipe(record.kind, recipe)) != EXIT_DONE)
            return EXIT_FAILED;
    }
    return EXIT_DONE;
}

/* The option that needs queries with ids, or NULL. */
static const char *option_with_ids(const arguments *args)
{
    return args->exclude_self ? "--exclude-self" : args->query_ids ? "--query-ids" : args->group ? "--group" : NULL;
}

/* Wrong arguments end the process with a usage error. */
static void check_arguments(const arguments *args)
{
    const operands *given = &args->fingerprints;
    if (args->input != NULL && given->count > 0)
        message_usage_error("expected either FINGERPRINT operands or --input, found both");
    if (asks_for_stored(args) &&
        (args->input != NULL || given->count > 0 || (args->id_given != NULL && args->name != NULL)))
        message_usage_error(
            "--id or --name takes the place of FINGERPRINT operands and --input: leave one of them out");
    if (option_with_ids(args) != NULL && given->count > 0 && !reads_stdin(args))
        message_usage_error("%s needs queries with ids: --input, standard input or --id", option_with_ids(args));
    if (!reads_stdin(args))
        (void)read_operands(args, &(input_shape){.words = 0}, args->format.lines, NULL);
    if (args->explain && (args->input != NULL || asks_for_stored(args) || given->count != 1 || reads_stdin(args)))
        message_usage_error("--explain needs exactly one FINGERPRINT operand");
    if (args->explain && (args->nearest || args->count || args->json || args->limit != UINT64_MAX))
        message_usage_error("--explain cannot be combined with --nearest, --count, --limit or --json");
    if (args->explain && (args->also.count > 0 || args->group))
        message_usage_error("--explain is about one query in one store, without --also and --group");
    if (args->explain && args->ids.text != NULL)
        message_usage_error("--explain cannot be combined with --ids, which is applied to what a query has found");
}

/* ----- an open store, and the matches of a query ----- */

#define MAX_STORES (TEXT_LIST_MAX + 1)

typedef struct query_session {
    const arguments *args;
    input_options format;
    input_shape shape; /* of queries */
    sstore *store;
    sstore_cursor *cursor;
    sstore_id_filter filter; /* of the current queries, if has_filter */
    bool has_filter;
    output_style style;
    output_notes notes;
    also_stores also;
    sstore_cursor *also_cursors[TEXT_LIST_MAX];
    bool has_ids;               /* the first store */
    stored_names names, *named; /* of the first store, as of others */
    uint32_t words;             /* of a fingerprint */
    uint32_t distance;
    sstore_columns few;    /* of one query */
    uint64_t *operands;    /* the queries that operands are, or --id */
    uint64_t *operand_ids; /* of --id and --name */
    size_t operand_count, operand_capacity, operand_id_capacity;
    record_batch chunk;    /* queries to answer together */
    double input_fraction; /* that is answered; negative: unknown */

    const uint64_t *queries;   /* that are being answered */
    const uint64_t *query_ids; /* and their ids, or NULL */
    uint64_t answered;         /* number of queries before them */
    uint64_t *counts;          /* of the matches of each, for --count */
    size_t count_capacity;
} query_session;

/* What fits fingerprints of any width may not fit those of the store. */
static void check_width(const arguments *args, uint32_t words)
{
    const uint32_t max = SSTORE_MAX_DISTANCE * words;
    if (args->distance > max)
        message_usage_error("%s: expected a number from 0 to %" PRIu32 ", found %" PRIu32, args->distance_given, max,
                            args->distance);
}

/* Take the fingerprint of a record of --id or --name as a query. */
static int add_operand(void *context, const sstore_match *record)
{
    query_session *session = context;
    const size_t words = session->words;
    if (!grow(&session->operands, &session->operand_capacity, (session->operand_count + 1) * words,
              sizeof *session->operands))
        return 1;
    if (!grow(&session->operand_ids, &session->operand_id_capacity, session->operand_count + 1,
              sizeof *session->operand_ids))
        return 1;
    session->operand_ids[session->operand_count] = record->id;
    memcpy(session->operands + session->operand_count++ * words, record->fingerprint, words * sizeof(uint64_t));
    return 0;
}

/* The queries of --id or --name. Returns an exit code. */
static int read_stored(query_session *session)
{
    const arguments *args = session->args;
    sstore_error error;
    sstore_status status;
    if (!session->style.has_ids)
        return message_print("%s: the store has no ids", args->store);
    if (args->name != NULL && session->style.names == NULL)
        return message_print("%s: the store has no names; 'sstore build --names' keeps them", args->store);
    if (args->name != NULL) {
        const sstore_name name = {args->name, strlen(args->name)};
        status = sstore_get_named(session->cursor, &name, 1, add_operand, session, &error);
    } else {
        status = sstore_get(session->cursor, &args->id, 1, add_operand, session, &error);
    }
    if (status == SSTORE_STOPPED)
        return message_print("out of memory");
    if (status != SSTORE_OK)
        return message_error(&error);
    if (session->operand_count == 0)
        return args->name != NULL ? message_print("%s: no record has the name '%s'", args->store, args->name)
                                  : message_print("%s: no record has the id %" PRIu64, args->store, args->id);
    return EXIT_DONE;
}

/* Begin with the filter of --ids and --exclude-self. Returns an exit code. */
static int open_filter(query_session *session)
{
    const arguments *args = session->args;
    session->filter = args->ids.filter;
    session->has_filter = args->ids.text != NULL || args->exclude_self;
    for (uint32_t i = 0; args->ids.text != NULL && i < args->also.count; i++)
        if (!session->also.has_ids[i])
            return message_print("%s: the store has no ids, so --ids is not possible; leave it out",
                                 args->also.items[i]);
    if (!session->has_filter || session->style.has_ids)
        return EXIT_DONE;
    return message_print("%s: the store has no ids, so %s is not possible; leave it out", args->store,
                         args->exclude_self ? "--exclude-self" : "--ids");
}

/* Answers of several stores, and of groups of queries, are merged. */
static bool is_merged(const query_session *session)
{
    return session->args->also.count > 0 || session->args->group;
}

static void print_head(query_session *session)
{
    const arguments *args = session->args;
    char columns[128];
    snprintf(columns, sizeof columns, "%s%s%s%s", args->count ? "query\tcount" : MATCH_COLUMNS,
             args->query_ids ? "\tquery_id" : "", args->also.count > 0 && !args->count ? "\tstore" : "",
             args->group && !args->count ? "\tquery_count" : "");
    output_head(&session->style, args->header, columns);
    if (args->query_ids || is_merged(session))
        session->style.notes = &session->notes;
}

/* Open the stores of --also. Returns an exit code. */
static int open_also(query_session *session, const sstore_statistics *own)
{
    const arguments *args = session->args;
    sstore_error error;
    int code = also_stores_open(&session->also, &args->also, &args->open, args->store, own, args->json);
    for (uint32_t i = 0; i < session->also.count && code == EXIT_DONE; i++)
        code = message_status(sstore_cursor_create(session->also.stores[i], &session->also_cursors[i], &error), &error);
    return code;
}

/* Returns an exit code. Close the session in any case. */
static int open_session(query_session *session, const arguments *args)
{
    sstore_error error;
    sstore_statistics metadata;
    *session = (query_session){.args = args, .format = args->format};
    int code = store_open(args->store, &args->open, &session->store, &metadata);
    if (code == EXIT_DONE)
        code = message_status(sstore_cursor_create(session->store, &session->cursor, &error), &error);
    if (code != EXIT_DONE)
        return code;
    code = store_check_bits(args->store, &metadata, &args->format);
    if (code != EXIT_DONE)
        return code;
    session->words = session->shape.words = metadata.fingerprint_bits / 64;
    store_expect_padding(metadata.recipe, &session->format.lines, &session->shape);
    store_expect_recipe(&session->format, args->store);
    check_width(args, session->words);
    session->style = (output_style){.json = args->json,
                                    .has_ids = metadata.has_ids,
                                    .words = session->words,
                                    .radix = args->output_radix};
    session->has_ids = metadata.has_ids;
    session->distance = args->distance_given != NULL ? args->distance
                        : args->nearest              ? SSTORE_MAX_DISTANCE * session->words
                                                     : metadata.distance;
    session->operand_count = (size_t)args->fingerprints.count;
    session->operand_capacity = session->operand_count * session->words;
    session->operands = allocate_or_exit(session->operand_capacity, sizeof *session->operands);
    session->few = (sstore_columns){.struct_size = sizeof session->few,
                                    .fingerprint = allocate_or_exit((size_t)FEW_MATCHES * session->words,
                                                                    sizeof(uint64_t)),
                                    .id = allocate_or_exit(FEW_MATCHES, sizeof(uint64_t)),
                                    .distance = allocate_or_exit(FEW_MATCHES, sizeof(uint32_t))};
    code = stored_names_open(&session->names, session->store, args->store, args->json, &session->named);
    session->style.names = session->named;
    if (code == EXIT_DONE && asks_for_stored(args))
        code = read_stored(session);
    else if (code == EXIT_DONE && !reads_stdin(args))
        code = read_operands(args, &session->shape, session->format.lines, session->operands);
    if (code == EXIT_DONE)
        code = open_also(session, &metadata);
    if (code == EXIT_DONE)
        code = open_filter(session);
    if (code == EXIT_DONE && !args->explain)
        print_head(session);
    return code;
}

static void close_session(query_session *session)
{
    free(session->few.fingerprint);
    free(session->few.id);
    free(session->few.distance);
    free(session->counts);
    free(session->operands);
    free(session->operand_ids);
    record_batch_free(&session->chunk);
    for (uint32_t i = 0; i < session->also.count; i++)
        sstore_cursor_free(session->also_cursors[i]);
    also_stores_close(&session->also);
    stored_names_close(&session->names);
    sstore_cursor_free(session->cursor);
    sstore_close(session->store);
}

/* ----- printing ----- */

/* Set what is printed of query `index` behind the usual columns. */
static void set_notes(query_session *session, uint64_t index)
{
    if (session->args->query_ids)
        session->notes.query_id = session->query_ids + index;
}

static int print_match(void *context, const sstore_match *match)
{
    query_session *session = context;
    set_notes(session, match->query_index);
    return !output_match(&session->style, session->queries + session->words * match->query_index, match);
}

static int count_match(void *context, const sstore_match *match)
{
    const query_session *session = context;
    session->counts[match->query_index]++;
    return 0;
}

/* Print the number of matches of query `index`. */
static bool print_count(query_session *session, size_t index, uint64_t count)
{
    const uint64_t limit = session->args->limit;
    set_notes(session, index);
    return output_count(&session->style, session->queries + session->words * index, count < limit ? count : limit);
}

/* ----- finding ----- */

static int report(void *context, const sstore_progress *progress)
{
    const query_session *session = context;
    progress_show("answering", session->answered + progress->done, 0, progress->fraction);
    return 0;
}

/* Begin with other queries. Their ids are NULL if they have none. */
static void set_queries(query_session *session, const uint64_t *queries, const uint64_t *ids)
{
    session->queries = queries;
    session->query_ids = ids;
    if (session->args->exclude_self)
        session->filter.excluded_ids = ids;
}

/* The options of a batch in one of `store_count` stores. */
static sstore_batch_options batch_options(query_session *session, uint32_t store_count)
{
    const arguments *args = session->args;
    sstore_batch_options batch = SSTORE_BATCH_OPTIONS_INIT;
    batch.threads = args->threads;
    batch.on_progress = report;
    batch.progress_context = session;
    batch.memory_bytes = args->memory / store_count;
    batch.limit = args->limit != UINT64_MAX ? args->limit : 0;
    batch.filter = session->has_filter ? &session->filter : NULL;
    return batch;
}

/* Begin to count the matches of `count` queries. Returns an exit code. */
static int begin_counts(query_session *session, size_t count)
{
    if (!grow(&session->counts, &session->count_capacity, count, sizeof *session->counts))
        return message_print("out of memory");
    memset(session->counts, 0, count * sizeof *session->counts);
    return EXIT_DONE;
}

/* Answer the first `count` queries. */
static int answer_batch(query_session *session, size_t count, uint32_t distance)
{
    const arguments *args = session->args;
    sstore_batch_options batch = batch_options(session, 1);
    sstore_error error;
    bool printed = true;
    if (args->count) {
        if (begin_counts(session, count) != EXIT_DONE)
            return EXIT_FAILED;
        batch.count_only = !wants_nearest(args);
        batch.match_counts = batch.count_only ? session->counts : NULL;
    }
    const walk_names names = {.expect = stored_names_expect, .names = session->style.names};
    const sstore_status status = walk_named_matches(session->store, session->queries, count, distance, &batch,
                                                    args->count ? NULL : &names,
                                                    args->count ? count_match : print_match, session, &error);
    if (status != SSTORE_OK)
        return message_status(status, &error);
    for (size_t i = 0; args->count && i < count && printed; i++)
        printed = print_count(session, i, session->counts[i]);
    return printed ? EXIT_DONE : EXIT_FAILED;
}

/* Print the first `count` matches of a query. */
static int print_few(query_session *session, uint64_t count)
{
    const sstore_columns *few = &session->few;
    int stopped = 0;
    stored_names_expect(session->style.names, few->id, count);
    for (uint64_t i = 0; i < count && stopped == 0; i++) {
        const sstore_match match = {.fingerprint = few->fingerprint + session->words * i,
                                    .id = few->id[i],
                                    .distance = few->distance[i]};
        stopped = print_match(session, &match);
    }
    return stopped == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int print_answer(query_session *session, uint64_t count)
{
    if (!session->args->count)
        return print_few(session, count);
    return print_count(session, 0, count) ? EXIT_DONE : EXIT_FAILED;
}

/* Answer a query with all its matches. Many are answered as those of a batch. */
static int answer_all(query_session *session, uint32_t distance)
{
    const bool counts = session->args->count;
    sstore_error error;
    uint64_t count;
    const sstore_status status = sstore_query_columns(session->cursor, session->queries, distance,
                                                      counts ? NULL : &session->few, FEW_MATCHES, &count, &error);
    if (status != SSTORE_OK)
        return message_status(status, &error);
    return counts || count <= FEW_MATCHES ? print_answer(session, count) : answer_batch(session, 1, distance);
}

/* Answer a query by itself. Its id is NULL if it has none. */
static int answer_one(query_session *session, const uint64_t *query, const uint64_t *id)
{
    const arguments *args = session->args;
    const bool has_limit = args->limit != UINT64_MAX;
    sstore_error error;
    uint64_t count;
    set_queries(session, query, id);
    sstore_status status = SSTORE_OK;
    if (session->has_filter)
        status = sstore_cursor_set_filter(session->cursor, &session->filter, &error);
    if (status != SSTORE_OK)
        return message_error(&error);
    if (!args->nearest && (args->count || !has_limit))
        return answer_all(session, session->distance);
    if (has_limit && args->limit > FEW_MATCHES)
        return answer_batch(session, 1, session->distance);
    status = sstore_query_nearest(session->cursor, query, session->distance, &session->few, has_limit ? args->limit : 1,
                                  &count, &error);
    if (status != SSTORE_OK)
        return message_status(status, &error);
    return has_limit || count == 0 ? print_answer(session, count) : answer_all(session, session->few.distance[0]);
}

/* ----- several stores, and groups of queries ----- */

static int take_merged(void *context, const merged_match *found)
{
    query_session *session = context;
    const arguments *args = session->args;
    if (args->count)
        return count_match(session, &found->match);
    session->style.names = found->store == 0 ? session->named : session->also.named[found->store - 1];
    session->style.has_ids = found->store == 0 ? session->has_ids : session->also.has_ids[found->store - 1];
    session->notes.store = session->also.labels[found->store];
    session->notes.query_count = args->group ? found->query_count : 0;
    return print_match(session, &found->match);
}

/* The filter of a store: only the first one has the ids of the queries. NULL: none. */
static const sstore_id_filter *filter_of(const query_session *session, uint32_t store)
{
    const arguments *args = session->args;
    if (store > 0)
        return args->ids.text != NULL ? &args->ids.filter : NULL;
    return session->has_filter ? &session->filter : NULL;
}

static query_merge make_merge(query_session *session, merged_store stores[MAX_STORES], size_t count, uint32_t distance)
{
    const arguments *args = session->args;
    const uint32_t store_count = args->also.count + 1;
    for (uint32_t i = 0; i < store_count; i++) {
        stores[i] = (merged_store){.store = i == 0 ? session->store : session->also.stores[i - 1],
                                   .distance = distance,
                                   .options = batch_options(session, store_count)};
        stores[i].options.filter = filter_of(session, i);
    }
    return (query_merge){.stores = stores,
                         .store_count = store_count,
                         .queries = session->queries,
                         .count = count,
                         .groups = args->group ? session->query_ids : NULL};
}

/* Count the matches of each query in all stores, up to the limit, which those of one store may exceed. */
static int print_merged_counts(query_session *session, const query_merge *merge)
{
    bool printed = true;
    for (size_t begin = 0, end; begin < merge->count && printed; begin = end) {
        uint64_t count = 0;
        end = query_merge_group_end(merge, begin);
        for (size_t i = begin; i < end; i++)
            count += session->counts[i];
        printed = print_count(session, begin, count);
    }
    return printed ? EXIT_DONE : EXIT_FAILED;
}

/* Add up the numbers of matches in all stores, which none of them reports. */
static sstore_status count_in_stores(query_session *session, const query_merge *merge, merged_store *stores,
                                     sstore_error *error)
{
    uint64_t *counts = allocate_or_exit(merge->count, sizeof *counts);
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < merge->store_count && status == SSTORE_OK; i++) {
        stores[i].options.count_only = true;
        stores[i].options.match_counts = counts;
        status = walk_matches(stores[i].store, merge->queries, merge->count, stores[i].distance, &stores[i].options,
                              NULL, NULL, error);
        for (size_t j = 0; j < merge->count; j++)
            session->counts[j] += counts[j];
    }
    free(counts);
    return status;
}

/* Answer the first `count` queries in all stores, and each group as one. */
static int answer_merged(query_session *session, size_t count, uint32_t distance)
{
    merged_store stores[MAX_STORES];
    const query_merge merge = make_merge(session, stores, count, distance);
    sstore_error error;
    if (session->args->count && begin_counts(session, count) != EXIT_DONE)
        return EXIT_FAILED;
    const bool counts_only = session->args->count && !session->args->group && !wants_nearest(session->args);
    const sstore_status status = counts_only ? count_in_stores(session, &merge, stores, &error)
                                             : query_merge_run(&merge, take_merged, session, &error);
    if (status != SSTORE_OK)
        return message_status(status, &error);
    return session->args->count ? print_merged_counts(session, &merge) : EXIT_DONE;
}

/* Lower the distance to that of the nearest record to one of the first `count` queries in all stores. */
static sstore_status find_smallest(const query_session *session, size_t count, uint32_t *distance, bool *found_out,
                                   sstore_error *error)
{
    const sstore_columns columns = {.struct_size = sizeof columns, .distance = distance};
    sstore_status status = SSTORE_OK;
    *found_out = false;
    for (size_t i = 0; i < count; i++)
        for (uint32_t j = 0; j <= session->args->also.count && status == SSTORE_OK; j++) {
            sstore_cursor *cursor = j == 0 ? session->cursor : session->also_cursors[j - 1];
            const sstore_id_filter *filter = filter_of(session, j);
            sstore_id_filter own = filter != NULL ? *filter : (sstore_id_filter)SSTORE_ID_FILTER_INIT;
            uint64_t found = 0;
            if (own.excluded_ids != NULL)
                own.excluded_ids += i;
            status = sstore_cursor_set_filter(cursor, filter != NULL ? &own : NULL, error);
            if (status == SSTORE_OK)
                status = sstore_query_nearest(cursor, session->queries + session->words * i, *distance, &columns, 1,
                                              &found, error);
            *found_out = *found_out || found > 0;
        }
    return status;
}

/* Answer each group, or each query, with all records at its smallest distance. */
static int answer_merged_nearest(query_session *session, size_t count)
{
    const query_merge all = {.count = count, .groups = session->args->group ? session->query_ids : NULL};
    const uint64_t *queries = session->queries, *ids = session->query_ids;
    int code = EXIT_DONE;
    for (size_t begin = 0, end; begin < count && code == EXIT_DONE; begin = end) {
        uint32_t distance = session->distance;
        sstore_error error;
        bool found;
        end = query_merge_group_end(&all, begin);
        set_queries(session, queries + session->words * begin, ids != NULL ? ids + begin : NULL);
        const sstore_status status = find_smallest(session, end - begin, &distance, &found, &error);
        if (status != SSTORE_OK)
            return message_error(&error);
        if (found)
            code = answer_merged(session, end - begin, distance);
        else if (session->args->count)
            code = print_count(session, 0, 0) ? EXIT_DONE : EXIT_FAILED;
        progress_show("answering", session->answered + end, 0, (double)end / (double)count);
    }
    return code;
}

/* ----- queries in order ----- */

/* Answer queries in order. All records at the smallest distance are not found in a batch: each query has its own. */
static int answer_queries(query_session *session, const uint64_t *queries, const uint64_t *ids, size_t count)
{
    const bool is_single = session->args->nearest && !wants_nearest(session->args);
    int code = EXIT_DONE;
    set_queries(session, queries, ids);
    if (is_merged(session)) {
        code = is_single ? answer_merged_nearest(session, count) : answer_merged(session, count, session->distance);
        session->answered += count;
        return code;
    }
    if (!is_single)
        code = answer_batch(session, count, session->distance);
    for (size_t i = 0; is_single && i < count && code == EXIT_DONE; i++) {
        code = answer_one(session, queries + session->words * i, ids != NULL ? ids + i : NULL);
        progress_show("answering", session->answered + i, 0, (double)i / (double)count);
    }
    session->answered += count;
    return code;
}

/* ----- where queries come from ----- */

/* Operands and files are answered in chunks, on several threads. Queries of a chunk share block reads, the more the
 * larger it is. A chunk takes 8 MiB. */
#define CHUNK_WORDS ((size_t)1 << 20)

static int answer_chunk(query_session *session, bool is_last)
{
    record_batch *chunk = &session->chunk;
    const size_t all = chunk->count, words = session->words;
    const double until = input_measure_fraction();
    int code = EXIT_DONE;
    size_t count = all;
    /* The last group may go on. */
    while (session->args->group && !is_last && count > 0 && chunk->ids[count - 1] == chunk->ids[all - 1])
        count--;
    progress_part(session->input_fraction, until);
    session->input_fraction = until;
    if (count > 0)
        code = answer_queries(session, chunk->fingerprints, record_batch_ids(chunk), count);
    chunk->count = all - count;
    memmove(chunk->fingerprints, chunk->fingerprints + count * words,
            chunk->count * words * sizeof *chunk->fingerprints);
    memmove(chunk->ids, chunk->ids + count, chunk->count * sizeof *chunk->ids);
    return code;
}

static bool is_chunk_full(const query_session *session)
{
    return session->words * session->chunk.count + INPUT_BATCH_RECORDS > CHUNK_WORDS;
}

/* Fail if ids are needed, and the queries have none. Returns an exit code. */
static int check_ids(const query_session *session, const record_batch *batch)
{
    const char *option = option_with_ids(session->args), *input = session->args->input;
    if (option == NULL || batch->has_ids)
        return EXIT_DONE;
    return message_print("%s: the queries have no ids, so %s is not possible; leave it out",
                         input != NULL ? input : "-", option);
}

static int add_to_chunk(void *context, const record_batch *batch)
{
    query_session *session = context;
    int code = check_ids(session, batch);
    if (code != EXIT_DONE)
        return code;
    record_batch_append(&session->chunk, batch);
    if (is_chunk_full(session))
        code = answer_chunk(session, false);
    if (code == EXIT_DONE && is_chunk_full(session))
        return message_print("the group with the id %" PRIu64 " has at least %zu queries, which is too many",
                             *session->chunk.ids, session->chunk.count);
    return code;
}

/* Answer one query. Flush the answer, so that a reader of stdout sees it at once. */
static int answer_now(void *context, const record_batch *batch)
{
    query_session *session = context;
    int code = check_ids(session, batch);
    if (code == EXIT_DONE && is_merged(session))
        code = answer_queries(session, batch->fingerprints, record_batch_ids(batch), 1);
    else if (code == EXIT_DONE)
        code = answer_one(session, batch->fingerprints, record_batch_ids(batch));
    progress_show("answering", ++session->answered, 0, input_measure_fraction());
    return code == EXIT_DONE && !output_flush() ? EXIT_FAILED : code;
}

/* Queries in text from stdin, not by --input, are answered one by one, since their writer may be waiting for the
 * answer. */
static int answer_input(query_session *session, const arguments *args)
{
    char *path = args->input != NULL ? (char *)(uintptr_t)args->input : (char[]){"-"};
    input_measure_begin(&path, 1);
    session->input_fraction = input_measure_fraction();
    const input_options *format = &session->format;
    int code = bad_rows_open(format->bad_rows, &path, 1);
    if (code != EXIT_DONE)
        return code;
    if (args->input == NULL && !args->group && input_is_interactive(path, format))
        return end_inputs(format, false, input_read_interactive(format, &session->shape, answer_now, session));
    if (!record_batch_init(&session->chunk, CHUNK_WORDS))
        return message_print("out of memory");
    code = input_read(path, format, &session->shape, add_to_chunk, session);
    /* The queries before a malformed line are answered, the same as from stdin. */
    int close_code = answer_chunk(session, true);
    return end_inputs(format, false, code != EXIT_DONE ? code : close_code);
}

int cmd_query(int argc, char **argv)
{
    arguments args = {.open = SSTORE_OPEN_OPTIONS_INIT, .limit = UINT64_MAX, .format = INPUT_OPTIONS_INIT};
    args.fingerprints = command_line_parse(&syntax, argc, argv, &args);
    args.store = operands_take_store(&args.fingerprints);
    check_arguments(&args);
    args.format.lines.ignore_ids = option_with_ids(&args) == NULL;
    args.format.ahead = args.threads != 1;
    query_session session;
    progress_begin(args.progress);
    int code = open_session(&session, &args);
    if (code == EXIT_DONE && args.explain)
        code = query_explain(session.cursor, session.operands, session.words, session.distance);
    else if (code == EXIT_DONE && (args.input != NULL || reads_stdin(&args)))
        code = answer_input(&session, &args);
    else if (code == EXIT_DONE)
        code = end_inputs(&session.format, false,
                          answer_queries(&session, session.operands, session.operand_ids, session.operand_count));
    code = stored_names_exit_code(&session.names, code);
    code = also_stores_exit_code(&session.also, code);
    progress_end();
    close_session(&session);
    return code;
}
