/* cmd_query.c - sstore query: find the stored fingerprints near given ones. */
#include <inttypes.h>

#include "commands/cmd.h"
#include "commands/query_answer.h"
#include "commands/query_explain.h"
#include "input/input_line.h"
#include "input/input_measure.h"

static const command_option options[] = {
    {"distance", 'k', "D", "find records within D bits (default: the store's)", OPTION_NUMBER,
     OPTION_FIELD(query_arguments, distance), .max = SSTORE_MAX_DISTANCE * SSTORE_MAX_WORDS,
     .given = offsetof(query_arguments, similarity.distance_given), .common = true},
    {"nearest", 0, NULL, "find the records at the smallest distance; with --limit N, the N nearest", OPTION_FLAG,
     OPTION_FIELD(query_arguments, nearest), .common = true},
    {"input", 0, "FILE", "read the queries from FILE; - is standard input", OPTION_TEXT,
     OPTION_FIELD(query_arguments, input), .common = true},
    {"id", 0, "ID", "query with the records of this id; can be repeated", OPTION_TEXTS,
     OPTION_FIELD(query_arguments, stored_ids), .common = true},
    {"name", 0, "NAME", "query with the records of this name; can be repeated", OPTION_TEXTS,
     OPTION_FIELD(query_arguments, stored_names), .common = true},
    {"count", 0, NULL, "print only the number of matches of each query", OPTION_FLAG,
     OPTION_FIELD(query_arguments, count)},
    {"limit", 0, "N", "print or count the first N matches (default: all)", OPTION_NUMBER,
     OPTION_FIELD(query_arguments, limit), .min = 1, .max = UINT64_MAX, .common = true},
    {"also", 0, "STORE", "also search this store; can be repeated", OPTION_TEXTS, OPTION_FIELD(query_arguments, also)},
    {"group", 0, NULL, "answer consecutive queries with the same id or name as one: each record once", OPTION_FLAG,
     OPTION_FIELD(query_arguments, group)},
    {"query-ids", 0, NULL, "also print the id or name that each query has", OPTION_FLAG,
     OPTION_FIELD(query_arguments, query_ids)},
    {"exclude-self", 0, NULL, "leave out records that have the id or name of the query", OPTION_FLAG,
     OPTION_FIELD(query_arguments, exclude_self)},
    {"json", 0, NULL, "print one JSON object per line", OPTION_FLAG, OPTION_FIELD(query_arguments, json),
     .common = true},
    {"output-radix", 0, "RADIX", "print fingerprints as hex (default), dec, signed, base64, base32 or bin",
     OPTION_CHOICE, OPTION_FIELD(query_arguments, output_radix), .choices = output_radix_choices},
    {"threads", 0, "N", "use N threads for operands and --input (default: all processors)", OPTION_NUMBER,
     OPTION_FIELD(query_arguments, threads), .max = 1024},
    {"memory", 0, "SIZE", "memory limit, not counting the open store (default 512M; enforced from 64M up)", OPTION_SIZE,
     OPTION_FIELD(query_arguments, memory)},
    {"io", 0, "MODE",
     "how to read blocks: mmap, pread, memory or auto (default: mmap if the store fits into half of the memory, "
     "otherwise pread)",
     OPTION_CHOICE, OPTION_FIELD(query_arguments, open.io), .choices = io_modes},
    {"explain", 0, NULL, "instead of matches, print what one query read, and what it was expected to read", OPTION_FLAG,
     OPTION_FIELD(query_arguments, explain)},
    {"recipe", 0, "TEXT", "fail unless the store has this recipe", OPTION_TEXT,
     OPTION_FIELD(query_arguments, open.recipe)},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){HEADER_OPTION_GROUP(offsetof(query_arguments, header)),
                                     IDS_OPTION_GROUP(offsetof(query_arguments, ids)),
                                     SIMILARITY_OPTION_GROUP(offsetof(query_arguments, similarity)),
                                     PROGRESS_OPTION_GROUP(offsetof(query_arguments, progress)),
                                     INPUT_OPTION_GROUP(offsetof(query_arguments, format)),
                                     {0}},
    .operands = "STORE [FINGERPRINT...]\n--input=FILE STORE",
    .doc = "Print the records of STORE within a distance of each FINGERPRINT, or of each line of standard input (-): "
           "query, fingerprint, distance and id or name.",
    .notes = "Put negative decimal operands after --, as in 'sstore query --radix dec STORE -- -5'",
    .examples = (const command_example[]){{"find all records within 3 bits of a fingerprint",
                                           "sstore query -k 3 pages.store 84ad7e0ad13e1a8b"},
                                          {"find all documents near a stored one",
                                           "sstore query --name docs/guide.md docs.store"},
                                          {0}},
};

static void check_stored_ids(const text_list *ids)
{
    line_fault fault;
    uint64_t id;
    for (uint32_t i = 0; i < ids->count; i++)
        if (!line_parse_id(ids->items[i], strlen(ids->items[i]), &id, &fault))
            message_usage_error("--id: %s", fault.reason);
}

/* Wrong arguments end the process with a usage error. */
static void check_arguments(const query_arguments *args)
{
    const operands *given = &args->fingerprints;
    if (args->input != NULL && given->count > 0)
        message_usage_error("expected either FINGERPRINT operands or --input, found both");
    if (query_asks_for_stored(args) &&
        (args->input != NULL || given->count > 0 || (args->stored_ids.count > 0 && args->stored_names.count > 0)))
        message_usage_error(
            "--id or --name takes the place of FINGERPRINT operands and --input: leave one of them out");
    check_stored_ids(&args->stored_ids);
    if (query_option_with_ids(args) != NULL && given->count > 0 && !query_reads_stdin(args))
        message_usage_error("%s needs queries with ids: --input, standard input or --id", query_option_with_ids(args));
    if (!query_reads_stdin(args))
        (void)query_read_operands(args, &(input_shape){.words = 0}, args->format.lines, NULL);
    if (args->explain &&
        (args->input != NULL || query_asks_for_stored(args) || given->count != 1 || query_reads_stdin(args)))
        message_usage_error("--explain needs exactly one FINGERPRINT operand");
    if (args->explain && (args->nearest || args->count || args->json || args->limit != UINT64_MAX))
        message_usage_error("--explain cannot be combined with --nearest, --count, --limit or --json");
    if (args->explain && (args->also.count > 0 || args->group))
        message_usage_error("--explain is about one query in one store, without --also and --group");
    if (args->explain && args->ids.text != NULL)
        message_usage_error("--explain cannot be combined with --ids, which is applied to what a query has found");
}

/* ----- where queries come from ----- */

/* Operands and files are answered in chunks, on several threads. Queries of a chunk share block reads, the more the
 * larger it is. A chunk takes 8 MiB. */
#define CHUNK_WORDS ((size_t)1 << 20)
#define CHUNK_NAME_BYTES ((size_t)8 << 20) /* a chunk with longer names is full */

/* The queries of a batch, whose ids were found if it has names. */
static query_rows rows_of(const record_batch *batch)
{
    const bool has_ids = batch->has_ids || batch->has_names;
    return (query_rows){.fingerprints = batch->fingerprints,
                        .ids = has_ids ? batch->ids : NULL,
                        .names = batch->has_names ? batch->names : NULL};
}

static int answer_chunk(query_session *session, bool is_last)
{
    record_batch *chunk = &session->chunk;
    const size_t all = chunk->count;
    const double until = input_measure_fraction();
    int code = EXIT_DONE;
    size_t count = all;
    /* The last group may go on. */
    while (session->args->group && !is_last && count > 0 && chunk->ids[count - 1] == chunk->ids[all - 1])
        count--;
    progress_part(session->input_fraction, until);
    session->input_fraction = until;
    if (count > 0)
        code = query_answer_all(session, rows_of(chunk), count);
    record_batch_drop(chunk, count);
    return code;
}

static bool is_chunk_full(const query_session *session)
{
    const record_batch *chunk = &session->chunk;
    return session->words * chunk->count + INPUT_BATCH_RECORDS > CHUNK_WORDS ||
           (chunk->has_names && chunk->name_used > CHUNK_NAME_BYTES);
}

/* Fail if ids are needed, and the queries have none. Returns an exit code. */
static int check_ids(const query_session *session, const record_batch *batch)
{
    const char *option = query_option_with_ids(session->args), *input = session->args->input;
    if (option == NULL || batch->has_ids || batch->has_names)
        return EXIT_DONE;
    return message_print("%s: the queries have no ids, so %s is not possible; leave it out",
                         input != NULL ? input : "-", option);
}

/* Append queries to the chunk, and find the ids of their names. A name that the store does not have gets an id that no
 * record has, the same for consecutive queries. Returns an exit code. */
static int append_queries(query_session *session, const record_batch *batch)
{
    record_batch *chunk = &session->chunk;
    const size_t begin = chunk->count;
    sstore_error error;
    if (!record_batch_append(chunk, batch))
        return message_print("out of memory");
    if (!batch->has_names)
        return EXIT_DONE;
    const sstore_status status = named_ids_find(&session->found_ids, batch, &error);
    for (size_t i = 0; i < batch->count && status == SSTORE_OK; i++) {
        const size_t at = begin + i;
        const bool is_repeated = at > 0 && name_equal(&chunk->names[at], &chunk->names[at - 1]);
        chunk->ids[at] = is_repeated ? chunk->ids[at - 1] : session->found_ids.ids[i];
    }
    return message_status(status, &error);
}

static int add_to_chunk(void *context, const record_batch *batch)
{
    query_session *session = context;
    int code = check_ids(session, batch);
    if (code == EXIT_DONE)
        code = append_queries(session, batch);
    if (code == EXIT_DONE && is_chunk_full(session))
        code = answer_chunk(session, false);
    if (code == EXIT_DONE && is_chunk_full(session))
        return message_print("a group has at least %zu queries, which is too many", session->chunk.count);
    return code;
}

/* Answer one query. Flush the answer, so that a reader of stdout sees it at once. */
static int answer_now(void *context, const record_batch *batch)
{
    query_session *session = context;
    session->chunk.count = 0;
    int code = check_ids(session, batch);
    if (code == EXIT_DONE)
        code = append_queries(session, batch);
    if (code == EXIT_DONE)
        code = query_is_merged(session) ? query_answer_all(session, rows_of(&session->chunk), 1)
                                        : query_answer_one(session, rows_of(&session->chunk));
    progress_show("answering", ++session->answered, 0, input_measure_fraction());
    return code == EXIT_DONE && !output_flush() ? EXIT_FAILED : code;
}

/* Queries in text from stdin, not by --input, are answered one by one, since their writer may be waiting for the
 * answer. */
static int answer_input(query_session *session, const query_arguments *args)
{
    char *path = args->input != NULL ? (char *)(uintptr_t)args->input : (char[]){"-"};
    input_measure_begin(&path, 1);
    session->input_fraction = input_measure_fraction();
    const input_options *format = &session->format;
    int code = bad_rows_open(format->bad_rows, &path, 1);
    if (code != EXIT_DONE)
        return code;
    if (!record_batch_init(&session->chunk, CHUNK_WORDS))
        return message_print("out of memory");
    if (args->input == NULL && !args->group && input_is_interactive(path, format))
        return end_inputs(format, false, input_read_interactive(format, &session->shape, answer_now, session));
    code = input_read(path, format, &session->shape, add_to_chunk, session);
    /* The queries before a malformed line are answered, the same as from stdin. */
    int close_code = answer_chunk(session, true);
    return end_inputs(format, false, code != EXIT_DONE ? code : close_code);
}

static int answer_operands(query_session *session)
{
    const query_rows rows = {.fingerprints = session->operands,
                             .ids = session->operand_ids,
                             .names = session->args->stored_names.count > 0 ? session->operand_names : NULL};
    return query_answer_all(session, rows, session->operand_count);
}

int cmd_query(int argc, char **argv)
{
    query_arguments args = {.open = SSTORE_OPEN_OPTIONS_INIT, .limit = UINT64_MAX, .format = INPUT_OPTIONS_INIT};
    args.fingerprints = command_line_parse(&syntax, argc, argv, &args);
    args.store = operands_take_store(&args.fingerprints);
    check_arguments(&args);
    args.format.lines.ignore_ids = query_option_with_ids(&args) == NULL;
    args.format.ahead = args.threads != 1;
    query_session session;
    progress_begin(args.progress);
    int code = query_session_open(&session, &args);
    if (code == EXIT_DONE && args.explain)
        code = query_explain(session.cursor, session.operands, session.words, session.distance);
    else if (code == EXIT_DONE && (args.input != NULL || query_reads_stdin(&args)))
        code = answer_input(&session, &args);
    else if (code == EXIT_DONE)
        code = end_inputs(&session.format, false, answer_operands(&session));
    code = stored_names_exit_code(&session.names, code);
    code = also_stores_exit_code(&session.also, code);
    progress_end();
    query_session_close(&session);
    return code;
}
