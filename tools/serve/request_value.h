/*
 * request_value.h - reads single values of a request: numbers, fingerprints and ids. `name` is that of the value's
 * place in the request, for errors.
 */
#ifndef REQUEST_VALUE_H
#define REQUEST_VALUE_H

#include "serve/request.h"

#define REQUEST_TEXT_BYTES 512u /* of a string; what is longer is no fingerprint, no id and no store */

/* Fail because of a value. Returns false. */
bool request_fail_fault(reply *reply_out, const line_fault *fault);

bool request_read_whole(const char *name, const char *text, uint64_t *value_out, line_fault *fault);

bool request_read_fingerprint(const request *self, const char *name, const char *text, uint64_t *to, line_fault *fault);

/* Decode a string without zeros. */
bool json_take_text(json_view value, char to[REQUEST_TEXT_BYTES]);

bool request_read_json_fingerprint(const request *self, json_view value, const char *name, uint64_t *to,
                                   line_fault *fault);

bool request_read_json_id(json_view value, const char *name, uint64_t *to, line_fault *fault);

#endif
