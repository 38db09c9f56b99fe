/*
 * request_rows.h - the rows of a request's body: fingerprints, texts, or records, which are also queries with ids or
 * names; in JSON or in binary.
 */
#ifndef REQUEST_ROWS_H
#define REQUEST_ROWS_H

#include "serve/request.h"

/* Reads the row at a place of a list as the next one of the request. */
typedef bool (*request_row_fn)(request *self, json_view row, size_t place, line_fault *fault);

bool request_fingerprint_row(request *self, json_view row, size_t place, line_fault *fault);
bool request_text_row(request *self, json_view row, size_t place, line_fault *fault);

/* To be removed, a fingerprint or an id is enough, and a name stands alone. */
bool request_record_row(request *self, json_view row, size_t place, line_fault *fault);

/* Make room for this many rows. False, here and below: the reply is an error. */
bool request_allocate_rows(request *self, size_t count, bool has_ids, reply *reply_out);

/* Read one row, if there is room. */
bool request_read_row(request *self, request_row_fn read, json_view row, size_t place, line_fault *fault);

/* Read a list. */
bool request_read_rows(request *self, request_row_fn read, json_view list, reply *reply_out);

/* Words of 8 bytes, little-endian: fingerprints, or pairs of fingerprint and id. */
bool request_read_binary(request *self, bool has_ids, const char *body, size_t size, reply *reply_out);

/* How much of the text of a key errors show. */
int json_shown_length(json_view key);

#endif
