/*
 * reply.c - bodies that grow, and errors.
 */
#include "serve/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "output/messages.h"

#define JSON_TYPE "application/json"
#define USUAL_BYTES 512u /* that answers to single queries do not exceed */

void reply_free(reply *self)
{
    free(self->body);
    *self = (reply){.status = 0};
}

static void fail_without_memory(reply *self)
{
    reply_free(self);
    self->status = REPLY_FAILED;
    self->content_type = JSON_TYPE;
}

char *reply_fill_begin(reply *self, size_t size)
{
    if (self->status >= REPLY_BAD_REQUEST)
        return NULL;
    const size_t needed = self->size + size;
    if (!grow(&self->body, &self->capacity, needed > USUAL_BYTES ? needed : USUAL_BYTES, 1)) {
        fail_without_memory(self);
        return NULL;
    }
    return self->body + self->size;
}

void reply_fill_end(reply *self, const char *end)
{
    self->size = (size_t)(end - self->body);
}

void reply_append(reply *self, const char *bytes, size_t size)
{
    char *to = reply_fill_begin(self, size);
    if (to == NULL)
        return;
    memcpy(to, bytes, size);
    reply_fill_end(self, to + size);
}

void reply_print(reply *self, const char *format, ...)
{
    va_list arguments;
    char text[512];
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reply_append(self, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

static bool fail(reply *self, unsigned status, const char *message)
{
    char escaped[2048];
    /* JSON has to be UTF-8, and a message may quote any bytes of a request. */
    sstore_escape(message, strlen(message), false, escaped, sizeof escaped);
    char *text = json_value_text(json_value_make("{s:s}", "error", escaped));
    reply_free(self);
    if (text != NULL) {
        reply_append(self, text, strlen(text));
        reply_append(self, "\n", 1);
        free(text);
    }
    self->status = status;
    self->content_type = JSON_TYPE;
    return false;
}

bool reply_fail(reply *self, unsigned status, const char *format, ...)
{
    va_list arguments;
    char message[1024];
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return fail(self, status, message);
}

bool reply_fail_with(reply *self, const sstore_error *error)
{
    const unsigned status = error->status == SSTORE_ERROR_ARGUMENT ? REPLY_BAD_REQUEST
                            : error->status == SSTORE_ERROR_BUSY   ? REPLY_BUSY
                                                                   : REPLY_FAILED;
    return fail(self, status, error->message);
}
