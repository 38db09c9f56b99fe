/* query_explain.h - query --explain: what one query read, and what it was expected to read. */
#ifndef QUERY_EXPLAIN_H
#define QUERY_EXPLAIN_H

#include "sstore.h"

/* Run the query of a fingerprint of `words` words, and print a line for each table, then the totals and why the query
 * probed or scanned. Returns an exit code. */
int query_explain(sstore_cursor *cursor, const uint64_t *query, uint32_t words, uint32_t distance);

#endif
