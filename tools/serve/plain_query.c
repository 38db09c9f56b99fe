#include "serve/plain_query.h"

#include <stdlib.h>
#include <string.h>

#include "input/input_line.h"

typedef struct scanner {
    const char *at, *end;
} scanner;

static void skip_space(scanner *self)
{
    while (self->at < self->end && (*self->at == ' ' || *self->at == '\n' || *self->at == '\r' || *self->at == '\t'))
        self->at++;
}

/* Take a text, and the white space behind it, if it comes next. */
static bool take(scanner *self, const char *text)
{
    const size_t length = strlen(text);
    if ((size_t)(self->end - self->at) < length || memcmp(self->at, text, length) != 0)
        return false;
    self->at += length;
    skip_space(self);
    return true;
}

static bool take_key(scanner *self, const char *quoted)
{
    const char *const before = self->at;
    if (take(self, quoted) && take(self, ":"))
        return true;
    self->at = before;
    return false;
}

/* A whole number as JSON writes it, of up to 18 digits. */
static bool take_whole(scanner *self, uint64_t *value_out)
{
    const char *const first = self->at;
    *value_out = 0;
    for (; self->at < self->end && *self->at >= '0' && *self->at <= '9' && self->at - first < 19; self->at++)
        *value_out = 10 * *value_out + (uint64_t)(*self->at - '0');
    const size_t digits = (size_t)(self->at - first);
    skip_space(self);
    return digits > 0 && digits < 19 && (digits == 1 || *first != '0');
}

static bool take_fingerprint(scanner *self, uint64_t *fingerprint_out)
{
    line_fault fault;
    if (self->at == self->end || *self->at != '"')
        return false;
    const char *const text = self->at + 1, *const quote = memchr(text, '"', (size_t)(self->end - text));
    if (quote == NULL || !line_parse_fingerprint(RADIX_HEX, text, (size_t)(quote - text), fingerprint_out, &fault))
        return false;
    self->at = quote + 1;
    skip_space(self);
    return true;
}

/* The number of items of the list that begins here, if it is of strings without commas and brackets. */
static size_t count_items(const scanner *self)
{
    const char *const end = memchr(self->at, ']', (size_t)(self->end - self->at));
    size_t count = end != NULL;
    for (const char *at = self->at; end != NULL && (at = memchr(at, ',', (size_t)(end - at))) != NULL; at++)
        count++;
    return count;
}

static bool take_list(scanner *self, plain_query *to)
{
    const size_t count = take(self, "[") ? count_items(self) : 0;
    if (count == 0 || to->fingerprints != NULL)
        return false;
    to->fingerprints = malloc(count * sizeof *to->fingerprints);
    if (to->fingerprints == NULL)
        return false;
    do
        if (!take_fingerprint(self, &to->fingerprints[to->count++]))
            return false;
    while (to->count < count && take(self, ","));
    return take(self, "]");
}

static bool take_member(scanner *self, plain_query *to)
{
    if (take_key(self, "\"fingerprints\""))
        return take_list(self, to);
    if (!to->has_distance && take_key(self, "\"k\""))
        return to->has_distance = take_whole(self, &to->distance);
    return !to->has_limit && take_key(self, "\"limit\"") && (to->has_limit = take_whole(self, &to->limit));
}

bool plain_query_read(plain_query *self, const char *body, size_t size)
{
    scanner from = {.at = body, .end = body + size};
    *self = (plain_query){.count = 0};
    skip_space(&from);
    bool read = take(&from, "{");
    do
        read = read && take_member(&from, self);
    while (read && take(&from, ","));
    if (read && take(&from, "}") && from.at == from.end && self->fingerprints != NULL)
        return true;
    free(self->fingerprints);
    self->fingerprints = NULL;
    return false;
}
