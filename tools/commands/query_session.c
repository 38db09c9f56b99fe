#include "commands/query_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/input_line.h"
#include "input/input_value.h"

bool query_has_nearest_limit(const query_arguments *args)
{
    return args->nearest && args->limit != UINT64_MAX;
}

bool query_asks_for_stored(const query_arguments *args)
{
    return args->stored_ids.count > 0 || args->stored_names.count > 0;
}

bool query_reads_stdin(const query_arguments *args)
{
    const operands *given = &args->fingerprints;
    return args->input == NULL && !query_asks_for_stored(args) &&
           (given->count == 0 || (given->count == 1 && strcmp(given->items[0], "-") == 0));
}

int query_read_operands(const query_arguments *args, const input_shape *shape, line_format format, uint64_t *to)
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

const char *query_option_with_ids(const query_arguments *args)
{
    return args->exclude_self ? "--exclude-self" : args->query_ids ? "--query-ids" : args->group ? "--group" : NULL;
}

/* What fits fingerprints of any width may not fit those of the store. */
static void check_width(const query_arguments *args, uint32_t words)
{
    const uint32_t max = SSTORE_MAX_DISTANCE * words;
    if (args->distance > max)
        message_usage_error("%s: expected a number from 0 to %" PRIu32 ", found %" PRIu32,
                            args->similarity.distance_given, max, args->distance);
}

/* The name that is looked up, if it is one of --name. */
typedef struct stored_query {
    query_session *session;
    sstore_name name;
} stored_query;

/* Take the fingerprint of a record of --id or --name as a query. */
static int add_operand(void *context, const sstore_match *record)
{
    const stored_query *from = context;
    query_session *session = from->session;
    const size_t words = session->words;
    if (!grow(&session->operands, &session->operand_capacity, (session->operand_count + 1) * words,
              sizeof *session->operands))
        return 1;
    if (!grow(&session->operand_ids, &session->operand_id_capacity, session->operand_count + 1,
              sizeof *session->operand_ids))
        return 1;
    if (!grow(&session->operand_names, &session->operand_name_capacity, session->operand_count + 1,
              sizeof *session->operand_names))
        return 1;
    session->operand_ids[session->operand_count] = record->id;
    session->operand_names[session->operand_count] = from->name;
    memcpy(session->operands + session->operand_count++ * words, record->fingerprint, words * sizeof(uint64_t));
    return 0;
}

/* Look up one of --id or --name. Returns an exit code. */
static int look_up_stored(query_session *session, const char *text, bool is_name)
{
    const char *store = session->args->store;
    const size_t before = session->operand_count;
    stored_query query = {.session = session, .name = {text, strlen(text)}};
    sstore_error error;
    sstore_status status;
    line_fault unused; /* the id was checked */
    uint64_t id = 0;
    if (is_name) {
        status = sstore_get_named(session->cursor, &query.name, 1, add_operand, &query, &error);
    } else {
        (void)line_parse_id(text, query.name.size, &id, &unused);
        status = sstore_get(session->cursor, &id, 1, add_operand, &query, &error);
    }
    if (status == SSTORE_STOPPED)
        return message_print("out of memory");
    if (status != SSTORE_OK)
        return message_error(&error);
    if (session->operand_count > before)
        return EXIT_DONE;
    return is_name ? message_print("%s: no record has the name '%s'", store, text)
                   : message_print("%s: no record has the id %" PRIu64, store, id);
}

/* The queries of --id or --name. Returns an exit code. */
static int read_stored(query_session *session)
{
    const query_arguments *args = session->args;
    const bool by_name = args->stored_names.count > 0;
    const text_list *list = by_name ? &args->stored_names : &args->stored_ids;
    int code = EXIT_DONE;
    if (!session->style.has_ids)
        return message_print("%s: the store has no ids", args->store);
    if (by_name && session->style.names == NULL)
        return message_print("%s: the store has no names; 'sstore build --names' keeps them", args->store);
    for (uint32_t i = 0; code == EXIT_DONE && i < list->count; i++)
        code = look_up_stored(session, list->items[i], by_name);
    return code;
}

/* Begin with the filter of --ids and --exclude-self. Returns an exit code. */
static int open_filter(query_session *session)
{
    const query_arguments *args = session->args;
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

bool query_is_merged(const query_session *session)
{
    return session->args->also.count > 0 || session->args->group;
}

bool query_has_names(const query_session *session)
{
    return session->named != NULL && query_option_with_ids(session->args) != NULL &&
           session->args->stored_ids.count == 0;
}

static void print_head(query_session *session)
{
    const query_arguments *args = session->args;
    char columns[128];
    snprintf(columns, sizeof columns, "%s%s%s%s", args->count ? "query\tcount" : MATCH_COLUMNS,
             !args->query_ids           ? ""
             : query_has_names(session) ? "\tquery_name"
                                        : "\tquery_id",
             args->also.count > 0 && !args->count ? "\tstore" : "", args->group && !args->count ? "\tquery_count" : "");
    output_head(&session->style, args->header, columns);
    if (args->query_ids || query_is_merged(session))
        session->style.notes = &session->notes;
}

/* Open the stores of --also. Returns an exit code. */
static int open_also(query_session *session, const sstore_statistics *own)
{
    const query_arguments *args = session->args;
    sstore_error error;
    int code = also_stores_open(&session->also, &args->also, &args->open, args->store, own, args->json);
    for (uint32_t i = 0; i < session->also.count && code == EXIT_DONE; i++)
        code = message_status(sstore_cursor_create(session->also.stores[i], &session->also_cursors[i], &error), &error);
    return code;
}

/* Open the store, and check that the options fit it. Returns an exit code. */
static int open_store(query_session *session, sstore_statistics *metadata_out)
{
    const query_arguments *args = session->args;
    sstore_error error;
    int code = store_open(args->store, &args->open, &session->store, metadata_out);
    if (code == EXIT_DONE)
        code = message_status(sstore_cursor_create(session->store, &session->cursor, &error), &error);
    if (code == EXIT_DONE)
        code = store_check_bits(args->store, metadata_out, &args->format);
    if (code == EXIT_DONE)
        check_width(args, metadata_out->fingerprint_bits / 64);
    return code;
}

/* Returns an exit code. */
static int choose_distance(query_session *session, const sstore_statistics *metadata)
{
    const query_arguments *args = session->args;
    session->distance = args->similarity.distance_given != NULL ? args->distance
                        : args->nearest ? SSTORE_MAX_DISTANCE * (metadata->fingerprint_bits / 64)
                                        : metadata->distance;
    return similarity_of_recipe(&args->similarity, args->store, metadata->recipe, metadata->fingerprint_bits,
                                &session->distance);
}

/* Settle what queries and answers look like in this store. */
static void take_metadata(query_session *session, const sstore_statistics *metadata)
{
    const query_arguments *args = session->args;
    session->words = session->shape.words = metadata->fingerprint_bits / 64;
    store_expect_padding(metadata->recipe, &session->format.lines, &session->shape);
    store_expect_recipe(&session->format, args->store);
    session->style = (output_style){.json = args->json,
                                    .tells_similarity = args->json && args->similarity.text != NULL,
                                    .has_ids = metadata->has_ids,
                                    .words = session->words,
                                    .radix = args->output_radix};
    session->has_ids = metadata->has_ids;
    session->found_ids = (named_ids){.cursor = session->cursor, .next_id = metadata->next_id};
}

static void make_room(query_session *session)
{
    session->operand_count = (size_t)session->args->fingerprints.count;
    session->operand_capacity = session->operand_count * session->words;
    session->operands = allocate_or_exit(session->operand_capacity, sizeof *session->operands);
    session->few = (sstore_columns){.struct_size = sizeof session->few,
                                    .fingerprint = allocate_or_exit((size_t)FEW_MATCHES * session->words,
                                                                    sizeof(uint64_t)),
                                    .id = allocate_or_exit(FEW_MATCHES, sizeof(uint64_t)),
                                    .distance = allocate_or_exit(FEW_MATCHES, sizeof(uint32_t))};
}

/* Read the queries that are operands or records of the store. Returns an exit code. */
static int read_own_queries(query_session *session)
{
    const query_arguments *args = session->args;
    if (query_asks_for_stored(args))
        return read_stored(session);
    if (query_reads_stdin(args))
        return EXIT_DONE;
    return query_read_operands(args, &session->shape, session->format.lines, session->operands);
}

int query_session_open(query_session *session, const query_arguments *args)
{
    sstore_statistics metadata;
    *session = (query_session){.args = args, .format = args->format};
    int code = open_store(session, &metadata);
    if (code == EXIT_DONE)
        code = choose_distance(session, &metadata);
    if (code != EXIT_DONE)
        return code;
    take_metadata(session, &metadata);
    make_room(session);
    code = stored_names_open(&session->names, session->store, args->store, args->json, &session->named);
    session->style.names = session->named;
    session->format.lines.has_names = query_has_names(session);
    if (code == EXIT_DONE)
        code = read_own_queries(session);
    if (code == EXIT_DONE)
        code = open_also(session, &metadata);
    if (code == EXIT_DONE)
        code = open_filter(session);
    if (code == EXIT_DONE && !args->explain)
        print_head(session);
    return code;
}

void query_session_close(query_session *session)
{
    free(session->few.fingerprint);
    free(session->few.id);
    free(session->few.distance);
    free(session->counts);
    free(session->operands);
    free(session->operand_ids);
    free(session->operand_names);
    free(session->found_ids.ids);
    free(session->name_text);
    record_batch_free(&session->chunk);
    for (uint32_t i = 0; i < session->also.count; i++)
        sstore_cursor_free(session->also_cursors[i]);
    also_stores_close(&session->also);
    stored_names_close(&session->names);
    sstore_cursor_free(session->cursor);
    sstore_close(session->store);
}
