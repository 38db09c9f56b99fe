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
typedef struct given_settings {
    const char *items[ARGUMENT_COUNT];
    json_view also;                                 /* of the body */
    char texts[ARGUMENT_COUNT][REQUEST_TEXT_BYTES]; /* the same */
} given_settings;

/* Begin with the query string of a request. */
void request_begin_settings(const request *self, given_settings *given);

/* Take a setting, if the body has it. It must not be in the query string. False, here and below: the reply is an
 * error. */
bool request_take_setting(given_settings *given, request_argument argument, json_view value, reply *reply_out);

/* Read all that are given. */
bool request_read_settings(request *self, const given_settings *given, const store_names *stores, reply *reply_out);

#endif
