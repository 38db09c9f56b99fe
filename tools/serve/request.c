/*
 * request.c - the grammar of requests.
 */
#include "serve/request.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "input/id_range.h"
#include "input/input_line.h"
#include "input/name_text.h"
#include "input/padding.h"
#include "output/json_read.h"

#define BINARY_TYPE "application/octet-stream"
#define JSON_TYPE "application/json"
#define KEY_PART "{id}" /* the rest of a path */

static const struct route_row {
    const char *path; /* up to KEY_PART */
    const char *allow;
    unsigned methods;   /* a bit for each */
    unsigned arguments; /* and for each argument of the query string */
} routes[ROUTE_COUNT] = {
#define GET (1u << METHOD_GET)
#define POST (1u << METHOD_POST)
#define PUT (1u << METHOD_PUT)
#define DELETE (1u << METHOD_DELETE)
#define BIT(argument) (1u << ARGUMENT_##argument)
#define ROWS_BITS (BIT(STORE) | BIT(SKIP_BAD) | BIT(MAX_BAD))
#define QUERY_BITS                                                                                                     \
    (BIT(FP) | BIT(ID) | BIT(NAME) | BIT(TEXT) | BIT(K) | BIT(LIMIT) | BIT(IDS) | BIT(EXCLUDE_SELF) | ROWS_BITS)
    [ROUTE_QUERY] = {"/v1/query", "GET, HEAD, POST", GET | POST, QUERY_BITS},
    [ROUTE_NEAREST] = {"/v1/nearest", "GET, HEAD, POST", GET | POST, QUERY_BITS},
    [ROUTE_RECORDS] = {"/v1/records", "POST", POST, ROWS_BITS},
    [ROUTE_RECORD] = {"/v1/records/" KEY_PART, "GET, HEAD, PUT, DELETE", GET | PUT | DELETE, BIT(STORE)},
    [ROUTE_REPLACE] = {"/v1/replace", "POST", POST, ROWS_BITS},
    [ROUTE_OFFER] = {"/v1/offer", "POST", POST, BIT(K) | BIT(LIMIT) | ROWS_BITS},
    [ROUTE_REMOVE] = {"/v1/remove", "POST", POST, ROWS_BITS},
    [ROUTE_STAT] = {"/v1/stat", "GET, HEAD", GET, BIT(STORE)},
    [ROUTE_HEALTH] = {"/healthz", "GET, HEAD", GET, 0},
    [ROUTE_INDEX] = {"/", "GET, HEAD", GET, 0},
    [ROUTE_METRICS] = {"/metrics", "GET, HEAD", GET, 0},
    [ROUTE_UNKNOWN] = {.path = "other"},
#undef QUERY_BITS
#undef ROWS_BITS
#undef BIT
#undef DELETE
#undef PUT
#undef POST
#undef GET
};

static const char *const argument_names[ARGUMENT_COUNT] = {"fp",     "id",    "name", "text",         "k",
                                                           "limit",  "store", "ids",  "exclude_self", "skip_bad",
                                                           "max_bad"};

const char *route_path(route which)
{
    return routes[which].path;
}

bool request_has_body(const request *self)
{
    return self->method == METHOD_POST || self->method == METHOD_PUT;
}

bool request_writes(const request *self)
{
    return self->method != METHOD_GET && !request_is_query(self);
}

bool request_is_query(const request *self)
{
    return self->route == ROUTE_QUERY || self->route == ROUTE_NEAREST;
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t time_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t time_coarse_ns(void)
{
    return read_clock(CLOCK_MONOTONIC_COARSE);
}

/* ----- request line and headers ----- */

static bool has_type(const char *header, const char *type)
{
    const size_t length = strlen(type);
    return header != NULL && strncasecmp(header, type, length) == 0 && strchr(" \t;,", header[length]) != NULL;
}

/* Whether a path is that of a route; *key_out: what it has in the place of KEY_PART, or NULL. */
static bool is_path(const char *path, const char *expected, const char **key_out)
{
    const char *part = strstr(expected, KEY_PART);
    const size_t length = part != NULL ? (size_t)(part - expected) : strlen(expected);
    *key_out = part != NULL ? path + length : NULL;
    return strncmp(path, expected, length) == 0 && (path[length] == '\0') == (part == NULL);
}

/* The bit of a method, or 0. */
static unsigned find_method(const char *name, request_method *method_out)
{
    static const struct method_row {
        const char *name;
        request_method method;
    } methods[] = {{"GET", METHOD_GET},
                   {"HEAD", METHOD_GET},
                   {"POST", METHOD_POST},
                   {"PUT", METHOD_PUT},
                   {"DELETE", METHOD_DELETE}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(name, methods[i].name) == 0)
            return 1u << (*method_out = methods[i].method);
    return 0;
}

bool request_begin(request *self, const char *method, const char *path, const char *content_type, const char *accept,
                   reply *reply_out)
{
    *self =
        (request){.route = ROUTE_QUERY, .limit = UINT64_MAX, .store = REQUEST_ALL_STORES, .skipped.max = UINT64_MAX};
    while (self->route < ROUTE_UNKNOWN && !is_path(path, routes[self->route].path, &self->key))
        self->route++;
    if (self->route == ROUTE_UNKNOWN)
        return reply_fail(
            reply_out, REPLY_NOT_FOUND,
            "there is no '%.200s'; the paths are /v1/query, /v1/nearest, /v1/stat, /v1/records, /v1/replace, "
            "/v1/offer, /v1/remove, /healthz and /metrics",
            path);
    const struct route_row *row = &routes[self->route];
    if ((find_method(method, &self->method) & row->methods) == 0) {
        reply_fail(reply_out, REPLY_BAD_METHOD, "'%s' does not allow %.20s, only %s", row->path, method, row->allow);
        reply_out->allow = row->allow;
        return false;
    }
    self->is_binary = has_type(content_type, BINARY_TYPE);
    self->wants_binary = accept != NULL && strcmp(accept, "*/*") != 0 ? has_type(accept, BINARY_TYPE) : self->is_binary;
    /* A page in a browser cannot send these types to other hosts without asking them first. */
    if (request_has_body(self) && !self->is_binary && !has_type(content_type, JSON_TYPE))
        return reply_fail(reply_out, REPLY_BAD_TYPE, "expected Content-Type %s or %s, found '%.100s'", JSON_TYPE,
                          BINARY_TYPE, content_type != NULL ? content_type : "");
    return true;
}

bool request_is_safe_host(const char *host)
{
    static const char local[] = "localhost";
    const size_t local_length = sizeof local - 1, length = strcspn(host, ":");
    const bool is_address = host[0] == '[' || (length > 0 && strspn(host, "0123456789.") == length);
    const bool ends_local = length >= local_length &&
                            strncasecmp(host + length - local_length, local, local_length) == 0;
    return is_address || (ends_local && (length == local_length || host[length - local_length - 1] == '.'));
}

/* ----- settings ----- */

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

static bool fail_fault(reply *reply_out, const line_fault *fault)
{
    return reply_fail(reply_out, REPLY_BAD_REQUEST, "%s", fault->reason);
}

static bool read_whole(const char *name, const char *text, uint64_t *value_out, line_fault *fault)
{
    line_fault unused;
    return line_parse_id(text, strlen(text), value_out, &unused) ||
           line_fault_set(fault, "%s: expected a whole number, found '%.100s'", name, text);
}

static bool read_fingerprint(const request *self, const char *name, const char *text, uint64_t *to, line_fault *fault)
{
    uint64_t ignored[SSTORE_MAX_WORDS];
    line_fault cause, unused;
    const size_t length = strlen(text);
    if (line_parse_hex(self->bits, text, length, to, &cause) > 0)
        return true;
    const uint32_t found = line_parse_hex(0, text, length, ignored, &unused);
    if (found > 0)
        return line_fault_set(fault, "%s: expected a fingerprint of %" PRIu32 " bits, found one of %" PRIu32 " bits",
                              name, self->bits, 64 * found);
    /* The hint names options of commands. */
    return line_fault_set(fault, "%s: %.*s", name, (int)cause.hint_at, cause.reason);
}

static bool fail_twice(const char *name, reply *reply_out)
{
    return reply_fail(reply_out, REPLY_BAD_REQUEST, "the parameter '%s' is given twice", name);
}

/* ----- the query string ----- */

bool request_take_argument(request *self, const char *name, const char *value, reply *reply_out)
{
    request_argument argument = 0;
    while (argument < ARGUMENT_COUNT && strcmp(argument_names[argument], name) != 0)
        argument++;
    if (argument == ARGUMENT_COUNT || (routes[self->route].arguments >> argument & 1) == 0)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "'%s' has no parameter '%.100s'", routes[self->route].path,
                          name);
    if (self->arguments[argument] != NULL)
        return fail_twice(name, reply_out);
    self->arguments[argument] = value != NULL ? value : "";
    return true;
}

/* Read a whole number, if the argument is given. */
static bool read_number(const char *const *arguments, request_argument argument, uint64_t *value_out, reply *reply_out)
{
    line_fault fault;
    const char *text = arguments[argument];
    return text == NULL || read_whole(argument_names[argument], text, value_out, &fault) ||
           fail_fault(reply_out, &fault);
}

/* Read a yes or no, if the argument is given. */
static bool read_flag(const char *const *arguments, request_argument argument, bool *flag, reply *reply_out)
{
    const char *text = arguments[argument];
    if (text == NULL || strcmp(text, "0") == 0 || strcmp(text, "false") == 0)
        return true;
    *flag = true;
    return text[0] == '\0' || strcmp(text, "1") == 0 || strcmp(text, "true") == 0 ||
           reply_fail(reply_out, REPLY_BAD_REQUEST, "%s: expected 1 or 0, found '%.100s'", argument_names[argument],
                      text);
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

static bool read_settings(request *self, const char *const *arguments, const store_names *stores, reply *reply_out)
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

static bool read_single_id(request *self, const char *text, reply *reply_out)
{
    line_fault fault;
    self->key = text;
    self->ids = &self->single_id;
    self->count = 1;
    return read_whole("id", text, &self->single_id, &fault) || fail_fault(reply_out, &fault);
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
    self->ids = read_whole("id", self->key, &self->single_id, &fault) ? &self->single_id : NULL;
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
                         : read_fingerprint(self, "fp", fingerprint, self->single, &fault)) ||
           fail_fault(reply_out, &fault);
}

/* ----- bodies ----- */

/* Make room for this many rows. */
static bool allocate(request *self, size_t count, bool has_ids, reply *reply_out)
{
    self->fingerprints = malloc((count + 1) * self->words * sizeof *self->fingerprints);
    self->ids = has_ids ? malloc((count + 1) * sizeof *self->ids) : NULL;
    if (self->fingerprints == NULL || (has_ids && self->ids == NULL))
        return reply_fail(reply_out, REPLY_FAILED, "out of memory");
    return true;
}

static uint64_t load_word(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return le64toh(word);
}

/* Words of 8 bytes, little-endian: fingerprints, or for the routes that write pairs of fingerprint and id. */
static bool read_binary(request *self, bool has_ids, const char *body, size_t size, reply *reply_out)
{
    const size_t words = self->words, row = 8 * (words + has_ids);
    if (size % row != 0)
        return reply_fail(reply_out, REPLY_BAD_REQUEST,
                          "the body has %zu bytes: expected a multiple of %zu, for fingerprints of %zu bits%s", size,
                          row, 64 * words, has_ids ? " and ids" : "");
    if (!allocate(self, size / row, has_ids, reply_out))
        return false;
    self->count = size / row;
    for (size_t i = 0; i < self->count; i++) {
        for (size_t j = 0; j < words; j++)
            self->fingerprints[i * words + j] = load_word(body + i * row + 8 * j);
        if (!padding_is_zero(self->fingerprints + i * words, self->bits))
            return reply_fail(reply_out, REPLY_BAD_REQUEST, "row %zu: expected " PADDING_EXPECTED, i, self->bits);
        if (has_ids)
            self->ids[i] = load_word(body + i * row + 8 * words);
    }
    return true;
}

/* How much of the text of a key errors show. */
static int shown_length(json_view key)
{
    return (int)(key.length - 2 < 100 ? key.length - 2 : 100);
}

/* The element `index` of a list, as errors name it. */
typedef struct item_name {
    char text[64];
} item_name;
static item_name name_item(const char *list, size_t index, const char *key)
{
    item_name name;
    snprintf(name.text, sizeof name.text, "%s[%zu]%s", list, index, key);
    return name;
}

/* A record, or a member of it. */
static item_name name_record(const request *self, size_t place, const char *key)
{
    item_name only = {""};
    if (self->route != ROUTE_RECORD)
        return name_item("records", place, key);
    snprintf(only.text, sizeof only.text, "%s", key[0] == '.' ? key + 1 : "the record");
    return only;
}

#define TEXT_BYTES 512u /* of a string; what is longer is no fingerprint, no id and no store */

/* Decode a string without zeros. */
static bool take_text(json_view value, char to[TEXT_BYTES])
{
    const size_t length = json_view_text(value, to, TEXT_BYTES);
    return json_view_kind(value) == JSON_VIEW_STRING && strlen(to) == length;
}

static bool read_json_fingerprint(const request *self, json_view value, const char *name, uint64_t *to,
                                  line_fault *fault)
{
    char text[TEXT_BYTES];
    if (!take_text(value, text))
        return line_fault_set(fault, "%s: expected a string, a fingerprint of %" PRIu32 " bits in hexadecimal digits",
                              name, self->bits);
    return read_fingerprint(self, name, text, to, fault);
}

static bool read_json_id(json_view value, const char *name, uint64_t *to, line_fault *fault)
{
    char text[TEXT_BYTES];
    if (take_text(value, text))
        return read_whole(name, text, to, fault);
    return json_view_whole(value, to) ||
           line_fault_set(fault, "%s: expected an id, a whole number or a string with one", name);
}

/* Reads the row at a place of a list as the next one of the request. */
typedef bool (*row_fn)(request *self, json_view row, size_t place, line_fault *fault);

static bool read_fingerprint_row(request *self, json_view row, size_t place, line_fault *fault)
{
    uint64_t *to = self->fingerprints + self->count * self->words;
    line_fault unused;
    return (json_view_kind(row) == JSON_VIEW_STRING &&
            line_parse_hex(self->bits, row.text + 1, row.length - 2, to, &unused) > 0) ||
           read_json_fingerprint(self, row, name_item("fingerprints", place, "").text, to, fault);
}

static bool read_text_row(request *self, json_view row, size_t place, line_fault *fault)
{
    return text_reader_take_json(&self->texts, name_item("texts", place, "").text, row,
                                 self->fingerprints + self->count * self->words, fault);
}

/* Read what a record is known by, or the fingerprint of its text. */
static bool read_record_fingerprint(request *self, json_view fingerprint, json_view text, size_t place,
                                    line_fault *fault)
{
    uint64_t *to = self->fingerprints + self->count * self->words;
    if (text.text == NULL)
        return read_json_fingerprint(self, fingerprint, name_record(self, place, ".fingerprint").text, to, fault);
    if (fingerprint.text != NULL)
        return line_fault_set(fault, "records[%zu]: expected a fingerprint or a text, found both", place);
    return text_reader_take_json(&self->texts, name_record(self, place, ".text").text, text, to, fault);
}

static bool read_json_name(request *self, json_view value, const char *where, line_fault *fault)
{
    char *to = self->name_texts + self->name_bytes;
    sstore_name *name = &self->names[self->count];
    if (json_view_kind(value) != JSON_VIEW_STRING)
        return line_fault_set(fault, "%s: expected a string, a name", where);
    *name = (sstore_name){.bytes = to, .size = json_view_text(value, to, value.length)};
    line_fault cause;
    if (!name_take(to, name->size, NULL, &name->size, &cause))
        return line_fault_set(fault, "%s: %s", where, cause.reason);
    self->name_bytes += name->size;
    return true;
}

/* The first row decides what all have. */
static bool check_members(request *self, unsigned members, size_t place, line_fault *fault)
{
    self->members = self->count == 0 ? members : self->members;
    const unsigned other = members ^ self->members;
    if (other == 0)
        return true;
    return line_fault_set(fault, "records[%zu]: either all records have %s, or none", place,
                          (other & RECORD_HAS_ID) != 0     ? "an id"
                          : (other & RECORD_HAS_NAME) != 0 ? "a name"
                                                           : "a fingerprint");
}

/* To be removed, a fingerprint or an id is enough, and a name stands alone. */
static bool read_record_row(request *self, json_view row, size_t place, line_fault *fault)
{
    static const char *const keys[] = {"fingerprint", "id", "name", "text", NULL};
    json_view values[4];
    const json_view odd = json_view_members(row, keys, values), id = values[1], name = values[2];
    const unsigned key = (id.text != NULL ? RECORD_HAS_ID : 0) | (name.text != NULL ? RECORD_HAS_NAME : 0);
    const bool has_fingerprint = values[0].text != NULL || values[3].text != NULL || key == 0 ||
                                 self->route != ROUTE_REMOVE;
    if (odd.text != NULL)
        return line_fault_set(fault, "%s: unknown or repeated key '%.*s'", name_record(self, place, "").text,
                              shown_length(odd), odd.text + 1);
    if (self->route == ROUTE_REMOVE && name.text != NULL && (has_fingerprint || id.text != NULL))
        return line_fault_set(fault, "records[%zu]: to be removed, a record has a name alone", place);
    if ((has_fingerprint && !read_record_fingerprint(self, values[0], values[3], place, fault)) ||
        (id.text != NULL && !read_json_id(id, name_record(self, place, ".id").text, &self->ids[self->count], fault)) ||
        (name.text != NULL && !read_json_name(self, name, name_record(self, place, ".name").text, fault)))
        return false;
    return check_members(self, key | (has_fingerprint ? RECORD_HAS_FINGERPRINT : 0), place, fault);
}

static bool read_row(request *self, row_fn read, json_view row, size_t place, line_fault *fault)
{
    const bool is_read = read(self, row, place, fault);
    if (is_read)
        skipped_rows_keep(&self->skipped, self->count++, place);
    return is_read;
}

/* Make room for what records in JSON of this many bytes may have. */
static bool allocate_names(request *self, size_t count, size_t bytes, reply *reply_out)
{
    self->names = malloc((count + 1) * sizeof *self->names);
    self->name_texts = malloc(bytes);
    return (self->names != NULL && self->name_texts != NULL) || reply_fail(reply_out, REPLY_FAILED, "out of memory");
}

/* Free the columns that the records do not have. */
static void drop_absent(request *self)
{
    if ((self->members & RECORD_HAS_ID) == 0) {
        free(self->ids);
        self->ids = NULL;
    }
    if ((self->members & RECORD_HAS_NAME) == 0) {
        free(self->names);
        self->names = NULL;
    }
    if ((self->members & RECORD_HAS_FINGERPRINT) == 0 && self->count > 0) {
        free(self->fingerprints);
        self->fingerprints = NULL;
    }
}

static bool read_rows(request *self, row_fn read, json_view list, reply *reply_out)
{
    const bool writes = read == read_record_row;
    const size_t count = json_view_count(list);
    json_iterator rows = json_iterate(list);
    json_view row;
    line_fault fault, first;
    if (!allocate(self, count, writes, reply_out) || (writes && !allocate_names(self, count, list.length, reply_out)))
        return false;
    for (size_t i = 0; json_next_item(&rows, &row); i++) {
        if (read_row(self, read, row, i, &fault))
            continue;
        if (self->skipped.count == 0)
            first = fault;
        if (!skipped_rows_take(&self->skipped, i, count, row, &fault, reply_out))
            return false;
    }
    /* Then the whole request is of another form than expected. */
    if (self->count == 0 && count > 0)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "%s; none of %zu rows can be read", first.reason, count);
    if (writes)
        drop_absent(self);
    return true;
}

/* The arguments of the query string, and those that are settings in a body. */
typedef struct body_arguments {
    const char *items[ARGUMENT_COUNT];
    char texts[ARGUMENT_COUNT][TEXT_BYTES]; /* of the body */
} body_arguments;

/* Take a setting, if the body has it. It must not be in the query string. */
static bool take_setting(body_arguments *self, request_argument argument, json_view value, reply *reply_out)
{
    const char *name = argument_names[argument], *expected = NULL;
    const json_kind kind = json_view_kind(value);
    const size_t length = value.length < TEXT_BYTES ? value.length : TEXT_BYTES - 1;
    if (value.text == NULL)
        return true;
    if (self->items[argument] != NULL)
        return fail_twice(name, reply_out);
    memcpy(self->texts[argument], value.text, length);
    self->texts[argument][length] = '\0';
    if (argument == ARGUMENT_STORE || argument == ARGUMENT_IDS)
        expected = take_text(value, self->texts[argument]) ? NULL : "a string";
    else if (argument == ARGUMENT_SKIP_BAD)
        expected = kind == JSON_VIEW_TRUE || kind == JSON_VIEW_FALSE ? NULL : "true or false";
    else if (kind != JSON_VIEW_INTEGER || length < value.length)
        expected = "a whole number";
    self->items[argument] = self->texts[argument];
    return expected == NULL || reply_fail(reply_out, REPLY_BAD_REQUEST, "%s: expected %s", name, expected);
}

static bool read_object(request *self, bool writes, json_view object, const store_names *stores, reply *reply_out)
{
    static const request_argument settings[] = {ARGUMENT_STORE, ARGUMENT_SKIP_BAD, ARGUMENT_MAX_BAD,
                                                ARGUMENT_K,     ARGUMENT_LIMIT,    ARGUMENT_IDS};
    enum { SETTINGS = sizeof settings / sizeof *settings };
    const char *keys[1 + SETTINGS + 2] = {writes ? "records" : "fingerprints"};
    json_view values[1 + SETTINGS + 1] = {{NULL, 0}};
    body_arguments arguments;
    size_t count = 0;
    memcpy(arguments.items, self->arguments, sizeof arguments.items);
    for (size_t i = 0; i < SETTINGS; i++)
        if ((routes[self->route].arguments >> settings[i] & 1) != 0)
            keys[++count] = argument_names[settings[i]];
    if (!writes)
        keys[count + 1] = "texts";
    const json_view odd = json_view_members(object, keys, values);
    if (odd.text != NULL)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "unknown or repeated key '%.*s'", shown_length(odd),
                          odd.text + 1);
    const bool are_texts = !writes && values[count + 1].text != NULL;
    const json_view list = values[are_texts ? count + 1 : 0];
    if (json_view_kind(list) != JSON_VIEW_LIST || (are_texts && values[0].text != NULL))
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "expected an object with %s '%s'",
                          writes ? "a list" : "a list 'texts' or", keys[0]);
    for (size_t i = 0; i < count; i++)
        if (!take_setting(&arguments, settings[i], values[i + 1], reply_out))
            return false;
    const row_fn read = writes ? read_record_row : are_texts ? read_text_row : read_fingerprint_row;
    return read_settings(self, arguments.items, stores, reply_out) && read_rows(self, read, list, reply_out);
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
    if (!read_settings(self, self->arguments, stores, reply_out) || !allocate(self, 1, false, reply_out))
        return false;
    if (json_view_member(record, "id").text != NULL || json_view_member(record, "name").text != NULL)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "the path has the id or the name, and not the body");
    if (!read_row(self, read_record_row, record, 0, &fault))
        return fail_fault(reply_out, &fault);
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

bool request_read(request *self, const char *body, size_t size, const request_stores *stores, reply *reply_out)
{
    const bool writes = request_writes(self), has_body = request_has_body(self);
    self->bits = stores->bits;
    self->words = (stores->bits + 63) / 64;
    self->texts.rules = stores->texts;
    if (has_body && (self->arguments[ARGUMENT_FP] != NULL || self->arguments[ARGUMENT_ID] != NULL ||
                     self->arguments[ARGUMENT_NAME] != NULL || self->arguments[ARGUMENT_TEXT] != NULL))
        return reply_fail(
            reply_out, REPLY_BAD_REQUEST,
            "the parameters 'fp', 'id', 'name' and 'text' are for GET; POST has fingerprints in its body");
    if (has_body && !self->is_binary)
        return read_json(self, writes, body, size, stores->names, reply_out);
    if (!read_settings(self, self->arguments, stores->names, reply_out))
        return false;
    if (has_body)
        return read_binary(self, writes && self->route != ROUTE_RECORD, body, size, reply_out) &&
               (self->route != ROUTE_RECORD || take_key(self, reply_out));
    if (self->route == ROUTE_RECORD)
        return read_key(self, reply_out);
    return !request_is_query(self) || read_single(self, reply_out);
}

void request_free(request *self)
{
    if (self->fingerprints != self->single)
        free(self->fingerprints);
    if (self->ids != &self->single_id)
        free(self->ids);
    if (self->names != &self->single_name)
        free(self->names);
    free(self->name_texts);
    free(self->own_ids);
    text_reader_free(&self->texts);
    skipped_rows_free(&self->skipped);
    self->fingerprints = self->ids = self->own_ids = NULL;
    self->names = NULL;
    self->name_texts = NULL;
}
