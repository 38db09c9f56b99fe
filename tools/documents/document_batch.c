#include "documents/document_batch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/messages.h"

void document_batch_clear(document_batch *self)
{
    while (self->kept_count > 0)
        free(self->kept[--self->kept_count]);
    self->used = self->count = 0;
    self->code = EXIT_DONE;
    self->reason[0] = '\0';
}

void document_batch_free(document_batch *self)
{
    document_batch_clear(self);
    free(self->bytes);
    free(self->decoded);
    free(self->items);
    free(self->kept);
}

document *document_batch_add(document_batch *self, const char *bytes, size_t length)
{
    if (!grow(&self->bytes, &self->capacity, self->used + length + 1, 1) || /* also an empty one is somewhere */
        !grow(&self->items, &self->item_capacity, self->count + 1, sizeof *self->items))
        return NULL;
    if (length > 0)
        memcpy(self->bytes + self->used, bytes, length);
    document *added = &self->items[self->count++];
    *added = (document){.begin = self->used, .length = length};
    self->used += length;
    return added;
}

char *document_batch_keep(document_batch *self, const char *name, size_t length)
{
    char *last = self->kept_count > 0 ? self->kept[self->kept_count - 1] : NULL;
    if (last != NULL && strlen(last) == length && memcmp(last, name, length) == 0)
        return last; /* documents in a row are of one input */
    if (!grow(&self->kept, &self->kept_capacity, self->kept_count + 1, sizeof *self->kept))
        return NULL;
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, name, length);
    copy[length] = '\0';
    self->kept[self->kept_count++] = copy;
    return copy;
}

void document_fault(document_batch *self, document *doc, const char *format, ...)
{
    char fault[sizeof self->reason];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault, sizeof fault, format, arguments);
    va_end(arguments);
    doc->fault = document_batch_keep(self, fault, strlen(fault));
    if (doc->fault == NULL)
        doc->fault = "out of memory";
}

void document_batch_explain(document_batch *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->reason, sizeof self->reason, format, arguments);
    va_end(arguments);
}
