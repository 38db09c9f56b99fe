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

static bool set_store(request *self, const char *name, const store_names *stores, reply *reply_out)
{
    for (uint32_t i = 0; i < stores->count; i++)
        if (strcmp(stores->items[i], name) == 0) {
            self->store = i;
            return true;
        }
    return reply_fail(reply_out, REPLY_NOT_FOUND, "store: there is no store '%.100s'; /v1/stat lists all", name);
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

static bool read_exclusion(request *self, const char *const *arguments, reply *reply_out)
{
    if (!read_flag(arguments, ARGUMENT_EXCLUDE_SELF, &self->excludes_self, reply_out))
        return false;
    return !self->excludes_self || arguments[ARGUMENT_ID] != NULL || arguments[ARGUMENT_NAME] != NULL ||
           reply_fail(reply_out, REPLY_BAD_REQUEST, "exclude_self: expected the parameter id or name");
}

static bool read_ids(request *self, const char *text, reply *reply_out)
{
    line_fault fault;
    self->filter = (sstore_id_filter)SSTORE_ID_FILTER_INIT;
    self->has_filter = text != NULL;
    return text == NULL || id_range_read(text, &self->filter, &fault) ||
           reply_fail(reply_out, REPLY_BAD_REQUEST, "ids: %s", fault.reason);
}

bool request_read_settings(request *self, const char *const *arguments, const store_names *stores, reply *reply_out)
{
    uint64_t distance = 0;
    if (!read_number(arguments, ARGUMENT_K, &distance, reply_out) ||
        (arguments[ARGUMENT_K] != NULL && !set_distance(self, distance, reply_out)) ||
        !read_number(arguments, ARGUMENT_LIMIT, &self->limit, reply_out) ||
        !read_ids(self, arguments[ARGUMENT_IDS], reply_out) || !read_exclusion(self, arguments, reply_out) ||
        !read_skipping(self, arguments, reply_out))
        return false;
    return arguments[ARGUMENT_STORE] == NULL || set_store(self, arguments[ARGUMENT_STORE], stores, reply_out);
}

bool request_take_setting(body_arguments *self, request_argument argument, json_view value, reply *reply_out)
{
    const char *name = request_argument_name(argument), *expected = NULL;
    const json_kind kind = json_view_kind(value);
    const size_t length = value.length < REQUEST_TEXT_BYTES ? value.length : REQUEST_TEXT_BYTES - 1;
    if (value.text == NULL)
        return true;
    if (self->items[argument] != NULL)
        return request_fail_twice(name, reply_out);
    memcpy(self->texts[argument], value.text, length);
    self->texts[argument][length] = '\0';
    if (argument == ARGUMENT_STORE || argument == ARGUMENT_IDS)
        expected = json_take_text(value, self->texts[argument]) ? NULL : "a string";
    else if (argument == ARGUMENT_SKIP_BAD)
        expected = kind == JSON_VIEW_TRUE || kind == JSON_VIEW_FALSE ? NULL : "true or false";
    else if (kind != JSON_VIEW_INTEGER || length < value.length)
        expected = "a whole number";
    self->items[argument] = self->texts[argument];
    return expected == NULL || reply_fail(reply_out, REPLY_BAD_REQUEST, "%s: expected %s", name, expected);
}
