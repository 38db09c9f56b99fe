#include "serve/skipped_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/json.h"

#define LISTED_ROWS 100u /* of those that were skipped */
#define TEXT_BYTES 100u  /* of each */
#define ESCAPED_BYTES(bytes) (4 * (bytes) + 1)

void skipped_rows_free(skipped_rows *self)
{
    free(self->rows);
    self->rows = NULL;
    reply_free(&self->listed);
}

/* Make room for the places of the rows that stay; all rows before this one have stayed. */
static bool note_places(skipped_rows *self, size_t place, size_t count)
{
    self->rows = malloc(count * sizeof *self->rows);
    for (size_t i = 0; self->rows != NULL && i < place; i++)
        self->rows[i] = i;
    return self->rows != NULL;
}

/* The beginning of a row, which may end within a character: of a string its text, of any other value JSON. */
static size_t row_begin(json_view row, char to[TEXT_BYTES + 1])
{
    const size_t length = row.length < TEXT_BYTES ? row.length : TEXT_BYTES;
    if (json_view_kind(row) == JSON_VIEW_STRING)
        return json_view_text(row, to, TEXT_BYTES + 1);
    memcpy(to, row.text, length);
    return length;
}

static bool list(skipped_rows *self, size_t place, json_view row, const line_fault *fault)
{
    char begin[TEXT_BYTES + 1], shown[ESCAPED_BYTES(sizeof begin)], reason[ESCAPED_BYTES(sizeof fault->reason)];
    /* JSON has to be UTF-8, and both may have any bytes. */
    sstore_escape(begin, row_begin(row, begin), false, shown, sizeof shown);
    sstore_escape(fault->reason, strlen(fault->reason), false, reason, sizeof reason);
    char *item = json_value_text(
        json_value_make("{s:I, s:s, s:s}", "index", (long long)place, "error", reason, "text", shown));
    if (item == NULL)
        return false;
    if (self->listed.size > 0)
        reply_literal(&self->listed, ",");
    reply_append(&self->listed, item, strlen(item));
    free(item);
    return self->listed.status == 0;
}

bool skipped_rows_take(skipped_rows *self, size_t place, size_t count, json_view row, const line_fault *fault,
                       reply *reply_out)
{
    if (!self->is_on)
        return reply_fail(reply_out, REPLY_BAD_REQUEST, "%s", fault->reason);
    if (self->count == self->max)
        return reply_fail(reply_out, REPLY_BAD_REQUEST,
                          "%s; more than the %" PRIu64 " row%s that max_bad allows cannot be read", fault->reason,
                          self->max, self->max == 1 ? "" : "s");
    if ((self->rows == NULL && !note_places(self, place, count)) ||
        (self->count < LISTED_ROWS && !list(self, place, row, fault)))
        return reply_fail(reply_out, REPLY_FAILED, "out of memory");
    self->count++;
    return true;
}

void skipped_rows_print(const skipped_rows *self, reply *to)
{
    if (!self->is_on)
        return;
    reply_print(to, ",\"bad_count\":%" PRIu64 ",\"bad\":[", self->count);
    if (self->listed.size > 0)
        reply_append(to, self->listed.body, self->listed.size);
    reply_literal(to, "]");
}

void skipped_rows_print_place(const skipped_rows *self, size_t index, reply *to)
{
    if (self->is_on)
        reply_print(to, "\"index\":%zu,", skipped_rows_place(self, index));
}
