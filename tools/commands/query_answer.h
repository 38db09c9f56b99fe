/*
 * query_answer.h - finds and prints the matches of queries: of one, of many together, of several stores and of groups.
 */
#ifndef QUERY_ANSWER_H
#define QUERY_ANSWER_H

#include "commands/query_session.h"

/* Answer queries in order. All records at the smallest distance are not found in a batch: each query has its own.
 * Returns an exit code, as the next one. */
int query_answer_all(query_session *session, query_rows rows, size_t count);

/* Answer a query by itself, from one store. */
int query_answer_one(query_session *session, query_rows query);

#endif
