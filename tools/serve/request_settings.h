/*
 * request_settings.h - the settings of a request: distance, limit, stores and filters, from the query string and from a
 * body.
 */
#ifndef REQUEST_SETTINGS_H
#define REQUEST_SETTINGS_H

#include "serve/request_value.h"

/* Names of stores, by which requests choose one. */
typedef struct store_names {
    char **items;
    uint32_t count;
} store_names;

/* The arguments of the query string, and those that are settings in a body. */
typedef struct body_arguments {
    const char *items[ARGUMENT_COUNT];
    char texts[ARGUMENT_COUNT][REQUEST_TEXT_BYTES]; /* of the body */
} body_arguments;

/* Take a setting, if the body has it. It must not be in the query string. False, here and below: the reply is an
 * error. */
bool request_take_setting(body_arguments *self, request_argument argument, json_view value, reply *reply_out);

/* Read the settings among these arguments. */
bool request_read_settings(request *self, const char *const *arguments, const store_names *stores, reply *reply_out);

#endif
