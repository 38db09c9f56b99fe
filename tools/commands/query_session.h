/*
 * query_session.h - the options of 'sstore query', and the store or stores that it asks, open.
 */
#ifndef QUERY_SESSION_H
#define QUERY_SESSION_H

#include "commands/also_stores.h"
#include "commands/cmd.h"
#include "commands/ids_option.h"
#include "commands/named_ids.h"
#include "commands/similarity_option.h"

typedef struct query_arguments {
    const char *store;
    text_list also;
    const char *input;                  /* --input, or NULL */
    text_list stored_ids, stored_names; /* of records whose fingerprints are the queries */
    operands fingerprints;
    bool explain;
    sstore_open_options open;
    uint32_t distance;
    similarity similarity;
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
} query_arguments;

#define FEW_MATCHES 1024u /* of a query that is answered by itself */

/* Queries. They have ids or names, or neither; those with names also have ids, which stand for the names. */
typedef struct query_rows {
    const uint64_t *fingerprints, *ids; /* the latter, and names, are NULL if there are none */
    const sstore_name *names;
} query_rows;

typedef struct query_session {
    const query_arguments *args;
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
    sstore_columns few;         /* of one query */
    uint64_t *operands;         /* the queries that operands are, or --id or --name */
    uint64_t *operand_ids;      /* of --id and --name */
    sstore_name *operand_names; /* of --name */
    size_t operand_count, operand_capacity, operand_id_capacity, operand_name_capacity;
    record_batch chunk;    /* queries to answer together */
    double input_fraction; /* that is answered; negative: unknown */

    named_ids found_ids;      /* of the names of queries */
    query_rows asked;         /* that are being answered */
    const sstore_name *noted; /* the name of one of them that the notes have, in name_text */
    char *name_text;
    size_t name_capacity;
    uint64_t answered; /* number of queries before them */
    uint64_t *counts;  /* of the matches of each, for --count */
    size_t count_capacity;
} query_session;

/* Whether the N nearest records are wanted: --nearest with --limit. Without it, those at the smallest distance. */
bool query_has_nearest_limit(const query_arguments *args);

/* Whether the query is a record of the store. */
bool query_asks_for_stored(const query_arguments *args);

bool query_reads_stdin(const query_arguments *args);

/* The option that needs queries with ids, or NULL. */
const char *query_option_with_ids(const query_arguments *args);

/* Read operands as fingerprints of this shape, or of any number of bits if it has no words. Wrong ones end the process
 * with a usage error. Returns an exit code. */
int query_read_operands(const query_arguments *args, const input_shape *shape, line_format format, uint64_t *to);

/* Whether queries have names: those of --name, and in a store with names those of an input. */
bool query_has_names(const query_session *session);

/* Open the stores, read the queries that are operands, and print the head of the answers. Returns an exit code. Close
 * the session in any case. */
int query_session_open(query_session *session, const query_arguments *args);
void query_session_close(query_session *session);

/* Answers of several stores, and of groups of queries, are merged. */
bool query_is_merged(const query_session *session);

#endif
