/*
 * skipped_rows.h - the malformed rows of a request that was sent with skip_bad: they are left out, and the reply lists
 * the first ones.
 */
#ifndef SKIPPED_ROWS_H
#define SKIPPED_ROWS_H

#include "input/input_line.h"
#include "output/json_read.h"
#include "serve/reply.h"

typedef struct skipped_rows {
    bool is_on;   /* otherwise a malformed row refuses the request */
    uint64_t max; /* rows that may be skipped */
    uint64_t count;
    size_t *rows; /* the place in the request of each row that stayed; NULL: none was skipped */
    reply listed; /* the first ones, as JSON objects with commas between them */
} skipped_rows;

void skipped_rows_free(skipped_rows *self);

/* The place in the request of the row that stayed as number `index`. */
static inline size_t skipped_rows_place(const skipped_rows *self, size_t index)
{
    return self->rows != NULL ? self->rows[index] : index;
}

/* The row at a place of a request of `count` rows stayed, as number `index`. */
static inline void skipped_rows_keep(skipped_rows *self, size_t index, size_t place)
{
    if (self->rows != NULL)
        self->rows[index] = place;
}

/* Skip the row at a place of a request of `count` rows. False: the request is refused, and the reply is an error. */
bool skipped_rows_take(skipped_rows *self, size_t place, size_t count, json_view row, const line_fault *fault,
                       reply *reply_out);

/* Append the members of an answer that say what was skipped, if the request wants them. */
void skipped_rows_print(const skipped_rows *self, reply *to);

/* Begin a result of an answer with the place of its row, if the request wants to know. */
void skipped_rows_print_place(const skipped_rows *self, size_t index, reply *to);

#endif
