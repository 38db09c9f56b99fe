#include "serve/plain_query.h"

#include <stdlib.h>
#include <string.h>

#include "input/input_line.h"
#include "output/json_scan.h"

static bool take_key(json_scan *self, const char *quoted)
{
    const char *const before = self->at;
    if (json_scan_take_text(self, quoted) && json_scan_take(self, ':'))
        return true;
    self->at = before;
    return false;
}

/* A whole number as JSON writes it, of up to 18 digits. */
static bool take_whole(json_scan *self, uint64_t *value_out)
{
    const char *const first = self->at;
    const size_t digits = json_scan_digits(self);
    if (digits == 0 || digits > 18 || (digits > 1 && *first == '0'))
        return false;
    *value_out = 0;
    for (size_t i = 0; i < digits; i++)
        *value_out = 10 * *value_out + (uint64_t)(first[i] - '0');
    json_scan_space(self);
    return true;
}

static bool take_fingerprint(json_scan *self, uint32_t words, uint64_t *fingerprint_out)
{
    line_fault fault;
    if (self->at == self->end || *self->at != '"')
        return false;
    const char *const text = self->at + 1, *const quote = memchr(text, '"', (size_t)(self->end - text));
    if (quote == NULL || line_parse_hex(64 * words, text, (size_t)(quote - text), fingerprint_out, &fault) == 0)
        return false;
    self->at = quote + 1;
    json_scan_space(self);
    return true;
}

/* The number of items of the list that begins here, if it is of strings without commas and brackets. */
static size_t count_items(const json_scan *self)
{
    const char *const end = memchr(self->at, ']', (size_t)(self->end - self->at));
    size_t count = end != NULL;
    for (const char *at = self->at; end != NULL && (at = memchr(at, ',', (size_t)(end - at))) != NULL; at++)
        count++;
    return count;
}

static bool take_list(json_scan *self, plain_query *to)
{
    const size_t count = json_scan_take(self, '[') ? count_items(self) : 0;
    if (count == 0 || to->fingerprints != NULL)
        return false;
    to->fingerprints = malloc(count * to->words * sizeof *to->fingerprints);
    if (to->fingerprints == NULL)
        return false;
    do
        if (!take_fingerprint(self, to->words, to->fingerprints + to->words * to->count++))
            return false;
    while (to->count < count && json_scan_take(self, ','));
    return json_scan_take(self, ']');
}

static bool take_member(json_scan *self, plain_query *to)
{
    if (take_key(self, "\"fingerprints\""))
        return take_list(self, to);
    if (!to->has_distance && take_key(self, "\"k\""))
        return to->has_distance = take_whole(self, &to->distance);
    return !to->has_limit && take_key(self, "\"limit\"") && (to->has_limit = take_whole(self, &to->limit));
}

bool plain_query_read(plain_query *self, uint32_t words, const char *body, size_t size)
{
    json_scan from = {.at = body, .end = body + size};
    *self = (plain_query){.words = words};
    json_scan_space(&from);
    bool read = json_scan_take(&from, '{');
    do
        read = read && take_member(&from, self);
    while (read && json_scan_take(&from, ','));
    if (read && json_scan_take(&from, '}') && from.at == from.end && self->fingerprints != NULL)
        return true;
    free(self->fingerprints);
    self->fingerprints = NULL;
    return false;
}
