#include "serve/request_rows.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/input_line.h"
#include "input/name_text.h"
#include "input/padding.h"
#include "serve/request_value.h"

bool request_allocate_rows(request *self, size_t count, bool has_ids, reply *reply_out)
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

bool request_read_binary(request *self, bool has_ids, const char *body, size_t size, reply *reply_out)
{
    const size_t words = self->words, row = 8 * (words + has_ids);
    if (size % row != 0)
        return reply_fail(reply_out, REPLY_BAD_REQUEST,
                          "the body has %zu bytes: expected a multiple of %zu, for fingerprints of %zu bits%s", size,
                          row, 64 * words, has_ids ? " and ids" : "");
    if (!request_allocate_rows(self, size / row, has_ids, reply_out))
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

int json_shown_length(json_view key)
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
        return name_item(request_is_query(self) ? "queries" : "records", place, key);
    snprintf(only.text, sizeof only.text, "%s", key[0] == '.' ? key + 1 : "the record");
    return only;
}

bool request_fingerprint_row(request *self, json_view row, size_t place, line_fault *fault)
{
    uint64_t *to = self->fingerprints + self->count * self->words;
    line_fault unused;
    return (json_view_kind(row) == JSON_VIEW_STRING &&
            line_parse_hex(self->bits, row.text + 1, row.length - 2, to, &unused) > 0) ||
           request_read_json_fingerprint(self, row, name_item("fingerprints", place, "").text, to, fault);
}

bool request_text_row(request *self, json_view row, size_t place, line_fault *fault)
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
        return request_read_json_fingerprint(self, fingerprint, name_record(self, place, ".fingerprint").text, to,
                                             fault);
    if (fingerprint.text != NULL)
        return line_fault_set(fault, "%s: expected a fingerprint or a text, found both",
                              name_record(self, place, "").text);
    return text_reader_take_json(&self->texts, name_record(self, place, ".text").text, text, to, fault);
}

/* Read a name, or one that is escaped, as answers have those that are not UTF-8. */
static bool read_json_name(request *self, json_view value, bool is_escaped, const char *where, line_fault *fault)
{
    char *to = self->name_texts + self->name_bytes;
    sstore_name *name = &self->names[self->count];
    if (json_view_kind(value) != JSON_VIEW_STRING)
        return line_fault_set(fault, "%s: expected a string, a name", where);
    *name = (sstore_name){.bytes = to, .size = json_view_text(value, to, value.length)};
    line_fault cause;
    if (!(is_escaped ? name_decode : name_take)(to, name->size, is_escaped ? to : NULL, &name->size, &cause))
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
    return line_fault_set(fault, "%s: either all have %s, or none", name_record(self, place, "").text,
                          (other & RECORD_HAS_ID) != 0     ? "an id"
                          : (other & RECORD_HAS_NAME) != 0 ? "a name"
                                                           : "a fingerprint");
}

bool request_record_row(request *self, json_view row, size_t place, line_fault *fault)
{
    static const char *const keys[] = {"fingerprint", "id", "name", "text", "escaped_name", NULL};
    json_view values[5];
    const json_view odd = json_view_members(row, keys, values), id = values[1];
    const bool is_escaped = values[2].text == NULL;
    const json_view name = is_escaped ? values[4] : values[2];
    const unsigned key = (id.text != NULL ? RECORD_HAS_ID : 0) | (name.text != NULL ? RECORD_HAS_NAME : 0);
    const bool has_fingerprint = values[0].text != NULL || values[3].text != NULL || key == 0 ||
                                 self->route != ROUTE_REMOVE;
    if (odd.text != NULL)
        return line_fault_set(fault, "%s: unknown or repeated key '%.*s'", name_record(self, place, "").text,
                              json_shown_length(odd), odd.text + 1);
    if (!is_escaped && values[4].text != NULL)
        return line_fault_set(fault, "%s: expected a name or an escaped_name, found both",
                              name_record(self, place, "").text);
    if (request_is_query(self) && name.text != NULL && id.text != NULL)
        return line_fault_set(fault, "queries[%zu]: expected an id or a name, found both", place);
    if (self->route == ROUTE_REMOVE && name.text != NULL && (has_fingerprint || id.text != NULL))
        return line_fault_set(fault, "records[%zu]: to be removed, a record has a name alone", place);
    if ((has_fingerprint && !read_record_fingerprint(self, values[0], values[3], place, fault)) ||
        (id.text != NULL &&
         !request_read_json_id(id, name_record(self, place, ".id").text, &self->ids[self->count], fault)) ||
        (name.text != NULL &&
         !read_json_name(self, name, is_escaped, name_record(self, place, is_escaped ? ".escaped_name" : ".name").text,
                         fault)))
        return false;
    return check_members(self, key | (has_fingerprint ? RECORD_HAS_FINGERPRINT : 0), place, fault);
}

bool request_read_row(request *self, request_row_fn read, json_view row, size_t place, line_fault *fault)
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

bool request_read_rows(request *self, request_row_fn read, json_view list, reply *reply_out)
{
    const bool has_members = read == request_record_row;
    const size_t count = json_view_count(list);
    json_iterator rows = json_iterate(list);
    json_view row;
    line_fault fault, first;
    if (!request_allocate_rows(self, count, has_members, reply_out) ||
        (has_members && !allocate_names(self, count, list.length, reply_out)))
        return false;
    for (size_t i = 0; json_next_item(&rows, &row); i++) {
        if (request_read_row(self, read, row, i, &fault))
            continue;
        if (self->skipped.count == 0)
            first = fault;
        if (!skipped_rows_take(&self->skipped, i, count, row, &fault, reply_out))
            return false;
    }
    /* Then the whole request is of another form than expected. */
    if (self->count == 0 && count > 0)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "%s; none of %zu rows can be read", first.reason, count);
    if (has_members)
        drop_absent(self);
    return true;
}
