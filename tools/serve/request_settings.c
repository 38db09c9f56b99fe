#include "serve/request_settings.h"

#include <inttypes.h>
#include <string.h>

#include "input/id_range.h"
#include "serve/request_value.h"

static bool set_distance(request *self, uint64_t value, reply *reply_out)
{
    const uint32_t max = SSTORE_MAX_DISTANCE * self->words;
    if (value > max)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "k: expected a distance from 0 to %" PRIu32 ", found %" PRIu64,
                          max, value);
    self->distance = (uint32_t)value;
    self->has_distance = true;
    return true;
}

/* Add a store to those that are asked. */
static bool add_store(request *self, request_argument argument, const char *name, const store_names *stores,
                      reply *reply_out)
{
    const char *where = request_argument_name(argument);
    uint32_t index = 0;
    while (index < stores->count && strcmp(stores->items[index], name) != 0)
        index++;
    if (index == stores->count)
        return reply_fail(reply_out, REPLY_NOT_FOUND, "%s: there is no store '%.100s'; /v1/stat lists all", where,
                          name);
    for (uint32_t i = 0; i < self->store_count; i++)
        if (self->stores[i] == index)
            return reply_fail(reply_out, REPLY_BAD_REQUEST, "%s: the store '%.100s' is named twice", where, name);
    if (self->store_count == REQUEST_MAX_STORES)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "%s: a request names at most %u stores", where,
                          REQUEST_MAX_STORES);
    self->stores[self->store_count++] = index;
    return true;
}

static bool read_stores(request *self, const given_settings *given, const store_names *stores, reply *reply_out)
{
    const char *store = given->items[ARGUMENT_STORE];
    if (store == NULL)
        return given->items[ARGUMENT_ALSO] == NULL ||
               reply_fail(reply_out, REPLY_BAD_REQUEST, "also: expected the first store in 'store'");
    bool added = add_store(self, ARGUMENT_STORE, store, stores, reply_out);
    for (uint32_t i = 0; i < self->also_count && added; i++)
        added = add_store(self, ARGUMENT_ALSO, self->also[i], stores, reply_out);
    json_iterator names = json_iterate(given->also);
    json_view name;
    while (added && json_next_item(&names, &name)) {
        char text[REQUEST_TEXT_BYTES];
        added = json_take_text(name, text) ? add_store(self, ARGUMENT_ALSO, text, stores, reply_out)
                                           : reply_fail(reply_out, REPLY_BAD_REQUEST, "also: expected strings");
    }
    return added;
}

/* Read a whole number, if the argument is given. */
static bool read_number(const char *const *arguments, request_argument argument, uint64_t *value_out, reply *reply_out)
{
    line_fault fault;
    const char *text = arguments[argument];
    return text == NULL || request_read_whole(request_argument_name(argument), text, value_out, &fault) ||
           request_fail_fault(reply_out, &fault);
}

/* Read a yes or no, if the argument is given. */
static bool read_flag(const char *const *arguments, request_argument argument, bool *flag, reply *reply_out)
{
    const char *text = arguments[argument];
    if (text == NULL || strcmp(text, "0") == 0 || strcmp(text, "false") == 0)
        return true;
    *flag = true;
    return text[0] == '\0' || strcmp(text, "1") == 0 || strcmp(text, "true") == 0 ||
           reply_fail(reply_out, REPLY_BAD_REQUEST, "%s: expected 1 or 0, found '%.100s'",
                      request_argument_name(argument), text);
}

static bool read_skipping(request *self, const char *const *arguments, reply *reply_out)
{
    if (!read_number(arguments, ARGUMENT_MAX_BAD, &self->skipped.max, reply_out))
        return false;
    self->skipped.is_on = arguments[ARGUMENT_MAX_BAD] != NULL;
    return read_flag(arguments, ARGUMENT_SKIP_BAD, &self->skipped.is_on, reply_out);
}

static bool read_ids(request *self, const char *text, reply *reply_out)
{
    line_fault fault;
    self->filter = (sstore_id_filter)SSTORE_ID_FILTER_INIT;
    self->has_id_range = text != NULL;
    return text == NULL || id_range_read(text, &self->filter, &fault) ||
           reply_fail(reply_out, REPLY_BAD_REQUEST, "ids: %s", fault.reason);
}

bool request_read_settings(request *self, const given_settings *given, const store_names *stores, reply *reply_out)
{
    const char *const *arguments = given->items;
    uint64_t distance = 0;
    if (!read_number(arguments, ARGUMENT_K, &distance, reply_out) ||
        (arguments[ARGUMENT_K] != NULL && !set_distance(self, distance, reply_out)) ||
        !read_number(arguments, ARGUMENT_LIMIT, &self->limit, reply_out) ||
        !read_ids(self, arguments[ARGUMENT_IDS], reply_out) ||
        !read_flag(arguments, ARGUMENT_EXCLUDE_SELF, &self->excludes_self, reply_out) ||
        !read_flag(arguments, ARGUMENT_GROUP, &self->is_grouped, reply_out) ||
        !read_skipping(self, arguments, reply_out))
        return false;
    return read_stores(self, given, stores, reply_out);
}

void request_begin_settings(const request *self, given_settings *given)
{
    memcpy(given->items, self->arguments, sizeof given->items);
    given->also = (json_view){NULL, 0};
}

bool request_take_setting(given_settings *given, request_argument argument, json_view value, reply *reply_out)
{
    const char *name = request_argument_name(argument), *expected = NULL;
    const json_kind kind = json_view_kind(value);
    const size_t length = value.length < REQUEST_TEXT_BYTES ? value.length : REQUEST_TEXT_BYTES - 1;
    if (value.text == NULL)
        return true;
    if (given->items[argument] != NULL)
        return request_fail_twice(name, reply_out);
    memcpy(given->texts[argument], value.text, length);
    given->texts[argument][length] = '\0';
    if (argument == ARGUMENT_ALSO)
        expected = kind == JSON_VIEW_LIST ? NULL : "a list of strings";
    else if (argument == ARGUMENT_STORE || argument == ARGUMENT_IDS)
        expected = json_take_text(value, given->texts[argument]) ? NULL : "a string";
    else if (argument == ARGUMENT_SKIP_BAD || argument == ARGUMENT_EXCLUDE_SELF || argument == ARGUMENT_GROUP)
        expected = kind == JSON_VIEW_TRUE || kind == JSON_VIEW_FALSE ? NULL : "true or false";
    else if (kind != JSON_VIEW_INTEGER || length < value.length)
        expected = "a whole number";
    if (argument == ARGUMENT_ALSO)
        given->also = value;
    given->items[argument] = given->texts[argument];
    return expected == NULL || reply_fail(reply_out, REPLY_BAD_REQUEST, "%s: expected %s", name, expected);
}
