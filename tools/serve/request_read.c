#include "serve/request_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/input_line.h"
#include "input/name_text.h"
#include "serve/request_rows.h"
#include "serve/request_settings.h"
#include "serve/request_value.h"

/* ----- a single query ----- */

static bool read_single_id(request *self, const char *text, reply *reply_out)
{
    line_fault fault;
    self->key = text;
    self->ids = &self->single_id;
    self->count = 1;
    return request_read_whole("id", text, &self->single_id, &fault) || request_fail_fault(reply_out, &fault);
}

static bool read_single_name(request *self, const char *text, reply *reply_out)
{
    line_fault fault;
    self->key = text;
    self->names = &self->single_name;
    self->single_name = (sstore_name){.bytes = text, .size = strlen(text)};
    self->count = 1;
    return name_take(text, self->single_name.size, NULL, &self->single_name.size, &fault) ||
           reply_fail(reply_out, REPLY_BAD_REQUEST, "name: %s", fault.reason);
}

/* Read the key of the path: a name, and perhaps an id. */
static bool read_key(request *self, reply *reply_out)
{
    line_fault fault;
    self->ids = request_read_whole("id", self->key, &self->single_id, &fault) ? &self->single_id : NULL;
    return read_single_name(self, self->key, reply_out);
}

/* Read the parameter that says what is asked for: there is one. */
static bool read_single(request *self, reply *reply_out)
{
    const char *fingerprint = self->arguments[ARGUMENT_FP], *id = self->arguments[ARGUMENT_ID];
    const char *text = self->arguments[ARGUMENT_TEXT], *name = self->arguments[ARGUMENT_NAME];
    line_fault fault;
    if ((fingerprint != NULL) + (id != NULL) + (name != NULL) + (text != NULL) != 1)
        return reply_fail(reply_out, REPLY_BAD_REQUEST,
                          "expected a parameter fp, a fingerprint of %" PRIu32
                          " bits in hexadecimal digits, or id, name or text",
                          self->bits);
    if (id != NULL)
        return read_single_id(self, id, reply_out);
    if (name != NULL)
        return read_single_name(self, name, reply_out);
    self->fingerprints = self->single;
    self->count = 1;
    return (text != NULL ? text_reader_take(&self->texts, "text", text, strlen(text), self->single, &fault)
                         : request_read_fingerprint(self, "fp", fingerprint, self->single, &fault)) ||
           request_fail_fault(reply_out, &fault);
}

/* ----- bodies ----- */

/* A key whose list has the rows of a body, and how they are read. */
typedef struct row_list {
    const char *key;
    request_row_fn read;
} row_list;

static const row_list query_lists[] = {{"fingerprints", request_fingerprint_row},
                                       {"texts", request_text_row},
                                       {"queries", request_record_row}};
static const row_list record_lists[] = {{"records", request_record_row}};
enum { MAX_LISTS = sizeof query_lists / sizeof *query_lists };

/* Read the rows of a body: it has one of the lists. */
static bool read_list(request *self, const row_list *lists, const json_view *values, size_t count, reply *reply_out)
{
    size_t found = 0, chosen = 0;
    for (size_t i = 0; i < count; i++)
        if (values[i].text != NULL) {
            found++;
            chosen = i;
        }
    if (found != 1 || json_view_kind(values[chosen]) != JSON_VIEW_LIST)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "expected an object with a list '%s'%s", lists[0].key,
                          count > 1 ? ", 'texts' or 'queries'" : "");
    return request_read_rows(self, lists[chosen].read, values[chosen], reply_out);
}

static bool read_object(request *self, bool writes, json_view object, const store_names *stores, reply *reply_out)
{
    const row_list *lists = writes ? record_lists : query_lists;
    const size_t list_count = writes ? 1 : MAX_LISTS;
    const char *keys[MAX_LISTS + ARGUMENT_COUNT + 1] = {NULL};
    json_view values[MAX_LISTS + ARGUMENT_COUNT] = {{NULL, 0}}, *value = values + list_count;
    given_settings given;
    size_t count = 0;
    for (; count < list_count; count++)
        keys[count] = lists[count].key;
    for (request_argument i = ARGUMENT_K; i < ARGUMENT_COUNT; i++)
        if (request_route_has(self->route, i))
            keys[count++] = request_argument_name(i);
    const json_view odd = json_view_members(object, keys, values);
    if (odd.text != NULL)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "unknown or repeated key '%.*s'", json_shown_length(odd),
                          odd.text + 1);
    request_begin_settings(self, &given);
    for (request_argument i = ARGUMENT_K; i < ARGUMENT_COUNT; i++)
        if (request_route_has(self->route, i) && !request_take_setting(&given, i, *value++, reply_out))
            return false;
    return request_read_settings(self, &given, stores, reply_out) &&
           read_list(self, lists, values, list_count, reply_out);
}

/* Give the one record of a body the id of the path. */
static bool take_key(request *self, reply *reply_out)
{
    if (self->count != 1)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "expected the fingerprint of one record, found %zu",
                          self->count);
    return read_key(self, reply_out);
}

/* The body of PUT: a record without an id. */
static bool read_record(request *self, json_view record, const store_names *stores, reply *reply_out)
{
    line_fault fault;
    given_settings given;
    request_begin_settings(self, &given);
    if (!request_read_settings(self, &given, stores, reply_out) || !request_allocate_rows(self, 1, false, reply_out))
        return false;
    if (json_view_member(record, "id").text != NULL || json_view_member(record, "name").text != NULL ||
        json_view_member(record, "escaped_name").text != NULL)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "the path has the id or the name, and not the body");
    if (!request_read_row(self, request_record_row, record, 0, &fault))
        return request_fail_fault(reply_out, &fault);
    return take_key(self, reply_out);
}

static bool read_json(request *self, bool writes, const char *body, size_t size, const store_names *stores,
                      reply *reply_out)
{
    char reason[JSON_REASON_BYTES];
    size_t line, column;
    json_view object;
    if (!json_read(size > 0 ? body : "", size, &object, reason, &line, &column))
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "the body is not JSON: line %zu, column %zu: %s", line, column,
                          reason);
    return self->route == ROUTE_RECORD ? read_record(self, object, stores, reply_out)
                                       : read_object(self, writes, object, stores, reply_out);
}

static bool read_all(request *self, const char *body, size_t size, const request_stores *stores, reply *reply_out)
{
    const bool writes = request_writes(self), has_body = request_has_body(self);
    if (has_body && (self->arguments[ARGUMENT_FP] != NULL || self->arguments[ARGUMENT_ID] != NULL ||
                     self->arguments[ARGUMENT_NAME] != NULL || self->arguments[ARGUMENT_TEXT] != NULL))
        return reply_fail(
            reply_out, REPLY_BAD_REQUEST,
            "the parameters 'fp', 'id', 'name' and 'text' are for GET; POST has fingerprints in its body");
    if (has_body && !self->is_binary)
        return read_json(self, writes, body, size, stores->names, reply_out);
    given_settings given;
    request_begin_settings(self, &given);
    if (!request_read_settings(self, &given, stores->names, reply_out))
        return false;
    if (has_body)
        return request_read_binary(self, self->excludes_self || (writes && self->route != ROUTE_RECORD), body, size,
                                   reply_out) &&
               (self->route != ROUTE_RECORD || take_key(self, reply_out));
    if (self->route == ROUTE_RECORD)
        return read_key(self, reply_out);
    return !request_is_query(self) || read_single(self, reply_out);
}

bool request_read(request *self, const char *body, size_t size, const request_stores *stores, reply *reply_out)
{
    self->bits = stores->bits;
    self->words = (stores->bits + 63) / 64;
    self->texts.rules = stores->texts;
    if (!read_all(self, body, size, stores, reply_out))
        return false;
    return !self->excludes_self || self->ids != NULL || self->names != NULL || self->count == 0 ||
           reply_fail(reply_out, REPLY_BAD_REQUEST,
                      "exclude_self: expected the parameter id or name, or 'queries' that have one");
}
