/* json_scan.h - moves through a JSON text, for readers of a few forms that need no parser. */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct json_scan {
    const char *at, *end;
} json_scan;

static inline void json_scan_space(json_scan *self)
{
    while (self->at < self->end && (*self->at == ' ' || *self->at == '\n' || *self->at == '\r' || *self->at == '\t'))
        self->at++;
}

/* Take a byte, and the white space behind it, if it comes next. */
static inline bool json_scan_take(json_scan *self, char byte)
{
    if (self->at == self->end || *self->at != byte)
        return false;
    self->at++;
    json_scan_space(self);
    return true;
}

/* Take a text that has no zero, and the white space behind it, if it comes next. */
static inline bool json_scan_take_text(json_scan *self, const char *text)
{
    const size_t length = strlen(text);
    if ((size_t)(self->end - self->at) < length || memcmp(self->at, text, length) != 0)
        return false;
    self->at += length;
    json_scan_space(self);
    return true;
}

/* Take the digits that come next, and no white space; returns how many. */
static inline size_t json_scan_digits(json_scan *self)
{
    const char *const first = self->at;
    while (self->at < self->end && *self->at >= '0' && *self->at <= '9')
        self->at++;
    return (size_t)(self->at - first);
}

#endif
