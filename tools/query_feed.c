/*
 * query_feed.c - where queries come from: operands, a file, stdin.
 *
 * Queries that are there already, operands and files, are answered in large chunks on several threads; queries that
 * come through stdin are answered one by one, since whoever writes them may wait for the answer.
 */
#include "query_feed.h"

#include <stdlib.h>
#include <string.h>

#include "cmd.h"

/* A larger chunk lets a batch share more block reads; this many queries take 8 MiB. */
#define CHUNK_QUERIES ((size_t)1 << 20)

typedef struct chunk {
    query_session *session;
    uint64_t *queries;
    size_t count;
} chunk;

static int allocate_queries(size_t count, uint64_t **queries_out)
{
    *queries_out = calloc(count, sizeof **queries_out);
    if (*queries_out != NULL)
        return EXIT_DONE;
    cmd_complain("out of memory");
    return EXIT_FAILED;
}

int query_feed_operands(query_session *session, char **operands, size_t count, const input_options *format)
{
    uint64_t *queries;
    int code = allocate_queries(count, &queries);
    for (size_t i = 0; i < count && code == EXIT_DONE; i++) {
        line_fault fault;
        if (!line_parse_fingerprint(format->lines.decimal, operands[i], strlen(operands[i]), &queries[i], &fault)) {
            cmd_complain("%s", fault.reason);
            code = EXIT_USAGE;
        }
    }
    if (code == EXIT_DONE)
        code = query_session_answer(session, queries, count);
    free(queries);
    return code;
}

static int answer_chunk(chunk *full)
{
    size_t count = full->count;
    full->count = 0;
    return count == 0 ? EXIT_DONE : query_session_answer(full->session, full->queries, count);
}

static int add_to_chunk(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    (void)ids;
    chunk *to = context;
    memcpy(to->queries + to->count, fingerprints, count * sizeof *fingerprints);
    to->count += count;
    return to->count + INPUT_BATCH_RECORDS > CHUNK_QUERIES ? answer_chunk(to) : EXIT_DONE;
}

int query_feed_file(query_session *session, const char *path, const input_options *format)
{
    chunk queries = {.session = session};
    int code = allocate_queries(CHUNK_QUERIES, &queries.queries);
    if (code != EXIT_DONE)
        return code;
    input_ids ids = INPUT_IDS_UNKNOWN;
    code = input_read(path, format, &ids, add_to_chunk, &queries);
    /* The queries before a malformed line are answered, as they are when they come through stdin. */
    int rest = answer_chunk(&queries);
    free(queries.queries);
    return code != EXIT_DONE ? code : rest;
}

static int answer_line(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    (void)ids, (void)count; /* batches of one */
    return query_session_answer_now(context, fingerprints[0]);
}

int query_feed_stdin(query_session *session, const input_options *format)
{
    if (format->format != INPUT_AUTO && format->format != INPUT_TEXT)
        return query_feed_file(session, "-", format);
    input_ids ids = INPUT_IDS_UNKNOWN;
    input_options one_by_one = *format;
    one_by_one.batch_records = 1;
    one_by_one.ahead = false;
    return input_read("-", &one_by_one, &ids, answer_line, session);
}
