/*
 * query_explain.h - what one query was expected to read of each table, and what it read.
 */
#ifndef QUERY_EXPLAIN_H
#define QUERY_EXPLAIN_H

#include "query_session.h"

/* Run the query and print a line for each table, then the totals and why it probed or scanned. Returns an exit code. */
int query_explain(query_session *session, uint64_t query);

#endif
