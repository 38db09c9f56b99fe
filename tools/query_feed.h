/*
 * query_feed.h - where queries come from: operands, a file, stdin. Each function answers all of them and returns an
 * exit code; failures have been reported.
 */
#ifndef QUERY_FEED_H
#define QUERY_FEED_H

#include "input.h"
#include "query_session.h"

/* The operands must be fingerprints of the format's radix. */
int query_feed_operands(query_session *session, char **operands, size_t count, const input_options *format);

int query_feed_file(query_session *session, const char *path, const input_options *format);

int query_feed_stdin(query_session *session, const input_options *format);

#endif
