/* cmd_query.c - sstore query: find the stored fingerprints near given ones. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/cmd.h"
#include "commands/id_names.h"
#include "commands/ids_option.h"
#include "input/input_measure.h"
#include "input/input_value.h"
#include "output/walk.h"

typedef struct arguments {
    const char *store;
    const char *input;    /* --input, or NULL */
    const char *id_table; /* or NULL */
    uint64_t id;
    const char *id_given; /* --id, if given */
    operands fingerprints;
    bool explain;
    sstore_open_options open;
    uint32_t distance;
    const char *distance_given; /* -k, if given */
    bool nearest, count, json;
    uint64_t limit; /* on the printed matches of a query */
    id_range ids;
    bool query_ids, exclude_self;
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
    {"count", 0, NULL, "print only the number of matches of each query", OPTION_FLAG, OPTION_FIELD(arguments, count),
     .common = true},
    {"limit", 0, "N", "print or count the first N matches of each query", OPTION_NUMBER, OPTION_FIELD(arguments, limit),
     .min = 1, .max = UINT64_MAX, .common = true},
    {"query-ids", 0, NULL, "also print the id that each query has in its input", OPTION_FLAG,
     OPTION_FIELD(arguments, query_ids)},
    {"exclude-self", 0, NULL, "leave out records that have the id of the query", OPTION_FLAG,
     OPTION_FIELD(arguments, exclude_self)},
    {"json", 0, NULL, "print one JSON object per line", OPTION_FLAG, OPTION_FIELD(arguments, json), .common = true},
    ID_TABLE_OPTION(arguments, id_table),
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

static bool reads_stdin(const arguments *args)
{
    const operands *given = &args->fingerprints;
    return args->input == NULL && args->id_given == NULL &&
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
    return args->exclude_self ? "--exclude-self" : args->query_ids ? "--query-ids" : NULL;
}

/* Wrong arguments end the process with a usage error. */
static void check_arguments(const arguments *args)
{
    const operands *given = &args->fingerprints;
    if (args->input != NULL && given->count > 0)
        message_usage_error("expected either FINGERPRINT operands or --input, found both");
    if (args->id_given != NULL && (args->input != NULL || given->count > 0))
        message_usage_error("--id takes the place of FINGERPRINT operands and --input: leave one of them out");
    if (option_with_ids(args) != NULL && given->count > 0 && !reads_stdin(args))
        message_usage_error("%s needs queries with ids: --input, standard input or --id", option_with_ids(args));
    if (!reads_stdin(args))
        (void)read_operands(args, &(input_shape){.words = 0}, args->format.lines, NULL);
    if (args->explain && (args->input != NULL || args->id_given != NULL || given->count != 1 || reads_stdin(args)))
        message_usage_error("--explain needs exactly one FINGERPRINT operand");
    if (args->explain && (args->nearest || args->count || args->json || args->limit != UINT64_MAX))
        message_usage_error("--explain cannot be combined with --nearest, --count, --limit or --json");
    if (args->explain && args->ids.text != NULL)
        message_usage_error("--explain cannot be combined with --ids, which is applied to what a query has found");
    if (args->id_table != NULL && (args->explain || args->count))
        message_usage_error("--id-table cannot be combined with --explain or --count, which print no ids");
}

/* ----- an open store, and the matches of a query ----- */

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
    id_names names;
    uint32_t words; /* of a fingerprint */
    uint32_t distance;
    sstore_columns few;    /* of one query */
    uint64_t *operands;    /* the queries that operands are, or --id */
    uint64_t *operand_ids; /* of --id */
    size_t operand_count, operand_capacity;
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

/* Take the fingerprint of a record of --id as a query. */
static int add_operand(void *context, const sstore_match *record)
{
    query_session *session = context;
    const size_t words = session->words;
    if (!grow(&session->operands, &session->operand_capacity, (session->operand_count + 1) * words,
              sizeof *session->operands))
        return 1;
    memcpy(session->operands + session->operand_count++ * words, record->fingerprint, words * sizeof(uint64_t));
    return 0;
}

/* The queries of --id. Returns an exit code. */
static int read_records_of_id(query_session *session)
{
    const arguments *args = session->args;
    sstore_error error;
    if (!session->style.has_ids)
        return message_print("%s: the store has no ids", args->store);
    const sstore_status status = sstore_get(session->cursor, &args->id, 1, add_operand, session, &error);
    if (status == SSTORE_STOPPED)
        return message_print("out of memory");
    if (status != SSTORE_OK)
        return message_error(&error);
    if (session->operand_count == 0)
        return message_print("%s: no record has the id %" PRIu64, args->store, args->id);
    session->operand_ids = allocate_or_exit(session->operand_count, sizeof *session->operand_ids);
    for (size_t i = 0; i < session->operand_count; i++)
        session->operand_ids[i] = args->id;
    return EXIT_DONE;
}

/* Begin with the filter of --ids and --exclude-self. Returns an exit code. */
static int open_filter(query_session *session)
{
    const arguments *args = session->args;
    session->filter = args->ids.filter;
    session->has_filter = args->ids.text != NULL || args->exclude_self;
    if (!session->has_filter || session->style.has_ids)
        return EXIT_DONE;
    return message_print("%s: the store has no ids, so %s is not possible; leave it out", args->store,
                         args->exclude_self ? "--exclude-self" : "--ids");
}

static void print_head(query_session *session)
{
    const arguments *args = session->args;
    char columns[128];
    snprintf(columns, sizeof columns, "%s%s", args->count ? "query\tcount" : MATCH_COLUMNS,
             args->query_ids ? "\tquery_id" : "");
    output_head(&session->style, args->header, columns);
    if (args->query_ids)
        session->style.notes = &session->notes;
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
    if (args->id_given != NULL)
        code = read_records_of_id(session);
    else if (!reads_stdin(args))
        code = read_operands(args, &session->shape, session->format.lines, session->operands);
    if (code == EXIT_DONE)
        code = open_filter(session);
    if (code == EXIT_DONE)
        code = id_names_open(&session->names, args->id_table, args->store, &session->style);
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
    sstore_cursor_free(session->cursor);
    sstore_close(session->store);
    id_names_close(&session->names);
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

/* Answer the first `count` queries. */
static int answer_batch(query_session *session, size_t count, uint32_t distance)
{
    const arguments *args = session->args;
    sstore_batch_options batch = SSTORE_BATCH_OPTIONS_INIT;
    sstore_error error;
    bool printed = true;
    batch.threads = args->threads;
    batch.on_progress = report;
    batch.progress_context = session;
    batch.memory_bytes = args->memory;
    batch.filter = session->has_filter ? &session->filter : NULL;
    batch.limit = args->limit != UINT64_MAX ? args->limit : 0;
    if (args->count) {
        if (!grow(&session->counts, &session->count_capacity, count, sizeof *session->counts))
            return message_print("out of memory");
        memset(session->counts, 0, count * sizeof *session->counts);
        batch.count_only = !wants_nearest(args);
        batch.match_counts = batch.count_only ? session->counts : NULL;
    }
    const sstore_status status = walk_matches(session->store, session->queries, count, distance, &batch,
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

/* Answer queries in order. All records at the smallest distance are not found in a batch: each query has its own. */
static int answer_queries(query_session *session, const uint64_t *queries, const uint64_t *ids, size_t count)
{
    const bool is_single = session->args->nearest && !wants_nearest(session->args);
    int code = EXIT_DONE;
    set_queries(session, queries, ids);
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

static int answer_chunk(query_session *session)
{
    size_t count = session->chunk.count;
    const double until = input_measure_fraction();
    session->chunk.count = 0;
    progress_part(session->input_fraction, until);
    session->input_fraction = until;
    return count == 0 ? EXIT_DONE
                      : answer_queries(session, session->chunk.fingerprints, record_batch_ids(&session->chunk), count);
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
    const int code = check_ids(session, batch);
    if (code != EXIT_DONE)
        return code;
    record_batch_append(&session->chunk, batch);
    return session->words * session->chunk.count + INPUT_BATCH_RECORDS > CHUNK_WORDS ? answer_chunk(session)
                                                                                     : EXIT_DONE;
}

/* Answer one query. Flush the answer, so that a reader of stdout sees it at once. */
static int answer_now(void *context, const record_batch *batch)
{
    query_session *session = context;
    int code = check_ids(session, batch);
    if (code == EXIT_DONE)
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
    if (args->input == NULL && input_is_interactive(path, format))
        return end_inputs(format, false, input_read_interactive(format, &session->shape, answer_now, session));
    if (!record_batch_init(&session->chunk, CHUNK_WORDS))
        return message_print("out of memory");
    code = input_read(path, format, &session->shape, add_to_chunk, session);
    /* The queries before a malformed line are answered, the same as from stdin. */
    int close_code = answer_chunk(session);
    return end_inputs(format, false, code != EXIT_DONE ? code : close_code);
}

/* ----- explaining a query ----- */

typedef struct explanation {
    sstore_table_explanation total; /* of all tables so far */
    uint64_t tables;
    uint32_t segment; /* of the last table, at first UINT32_MAX */
    bool with_words;  /* also tell which word of the fingerprints a table has */
} explanation;

/* Print an estimate as a whole number, or with a decimal place if it is small. */
static void print_expected(int width, double value)
{
    output_text("  %*.*f", width, value < 9.95 ? 1 : 0, value);
}

/* The counts behind the radius of a table, and below them what was expected, behind the key mask. */
static void print_counts(const sstore_table_explanation *self, bool with_words, const char *key_mask)
{
    output_text("  %8" PRIu64 "  %8" PRIu64 "  %10" PRIu64 "  %5" PRIu64 "\n", self->probe_count, self->block_count,
                self->candidate_count, self->hit_count);
    output_text("%*s%-25s  expected", with_words ? 14 : 8, "", key_mask);
    print_expected(8, self->expected_block_count);
    print_expected(10, self->expected_candidate_count);
    output_text("\n");
}

static void print_table(const sstore_table_explanation *table, bool with_words)
{
    char radius[16], key_mask[32];
    output_text("%7" PRIu32 "  ", table->segment);
    if (table->word == UINT32_MAX) {
        output_text("%4s  %5s  %6s  %9s", "all", "-", "-", "full scan");
        print_counts(table, with_words, "");
        return;
    }
    if (with_words)
        output_text("%4" PRIu32 "  ", table->word);
    snprintf(radius, sizeof radius, "%" PRId32, table->radius);
    snprintf(key_mask, sizeof key_mask, "key mask %016" PRIx64, table->key_mask);
    output_text("%5" PRIu32 "  %6" PRIu32 "  %9s", table->table, table->prefix_bits,
                table->is_full_scan ? "full scan"
                : table->radius < 0 ? "-"
                                    : radius);
    print_counts(table, with_words, key_mask);
}

static void add_to_total(explanation *to, const sstore_table_explanation *table)
{
    const bool is_first = table->segment != to->segment;
    to->segment = table->segment;
    to->tables += table->word != UINT32_MAX;
    to->total.probe_count += table->probe_count;
    to->total.expected_block_count += table->expected_block_count;
    to->total.block_count += table->block_count;
    to->total.expected_candidate_count += table->expected_candidate_count;
    to->total.candidate_count += table->candidate_count;
    to->total.hit_count += table->hit_count;
    if (!is_first)
        return; /* the first table has the times of all tables of its segment */
    to->total.is_full_scan |= table->is_full_scan;
    to->total.probe_ns += table->probe_ns;
    to->total.full_scan_ns += table->full_scan_ns;
}

static int print_and_add(void *context, const sstore_table_explanation *table)
{
    explanation *to = context;
    print_table(table, to->with_words);
    add_to_total(to, table);
    return 0;
}

static void print_total(const explanation *self)
{
    const sstore_table_explanation *total = &self->total;
    output_text("%7s  %s%5" PRIu64 "  %6s  %9s", "total", self->with_words ? "      " : "", self->tables, "", "");
    print_counts(total, self->with_words, "");
    if (total->is_full_scan)
        output_text("\nUsed a full scan, which takes about %.0f us.\n"
                    "The probes for this distance would take %.0f us or more.\n",
                    total->full_scan_ns / 1e3, total->probe_ns / 1e3);
    else
        output_text("\nUsed probes, which take about %.0f us; a full scan takes about %.0f us.\n",
                    total->probe_ns / 1e3, total->full_scan_ns / 1e3);
}

/* Run the query and print a line for each table, then the totals and why the query probed or scanned. */
static int explain(query_session *session, const uint64_t *query)
{
    sstore_error error;
    explanation total = {.segment = UINT32_MAX, .with_words = session->words > 1};
    output_text("%7s  %s%5s  %6s  %9s  %8s  %8s  %10s  %5s\n", "segment", total.with_words ? "word  " : "", "table",
                "prefix", "radius", "probes", "blocks", "candidates", "hits");
    if (sstore_explain(session->cursor, query, session->distance, print_and_add, &total, &error) != SSTORE_OK)
        return message_error(&error);
    print_total(&total);
    return EXIT_DONE;
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
        code = explain(&session, session.operands);
    else if (code == EXIT_DONE && (args.input != NULL || reads_stdin(&args)))
        code = answer_input(&session, &args);
    else if (code == EXIT_DONE)
        code = end_inputs(&session.format, false,
                          answer_queries(&session, session.operands, session.operand_ids, session.operand_count));
    code = id_names_exit_code(&session.names, code);
    progress_end();
    close_session(&session);
    return code;
}
