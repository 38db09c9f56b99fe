/*
 * bad_rows.h - what becomes of rows that cannot be read: the first one ends the command, or they are counted and kept.
 * One thread at a time uses it.
 */
#ifndef BAD_ROWS_H
#define BAD_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "input/input_line.h"

typedef struct bad_rows {
    const char *path;  /* option: a file to keep them in; "": only count them; NULL: the first one ends the command */
    uint64_t max;      /* option: the maximum of bad rows, which are then skipped; UINT64_MAX: not given */
    bool reports_each; /* at once, since the writer of the input waits for answers */
    FILE *file;
    uint64_t bad_count, good_count;
    uint64_t input_bad, input_good;    /* of the input that is being read */
    char first[640], input_first[640]; /* the messages of the first ones */
} bad_rows;

#define BAD_ROWS_INIT                                                                                                  \
    {                                                                                                                  \
        NULL, UINT64_MAX, false, NULL, 0, 0, 0, 0, "", ""                                                              \
    }

/* A row, as it was read. */
typedef struct bad_row {
    const char *input;
    uint64_t number; /* of its line, or of the row in an input without lines, from 1 */
    const char *text;
    size_t length;
    bool is_binary; /* its bytes are kept as hex digits */
    uint64_t count; /* of rows that it stands for */
} bad_row;

/* Are bad rows skipped? NULL is allowed. */
static inline bool bad_rows_skip(const bad_rows *self)
{
    return self != NULL && (self->path != NULL || self->max != UINT64_MAX);
}

/* Begin: make the file, which must not be one of the inputs ("-": stdin). Returns an exit code. */
int bad_rows_open(bad_rows *self, char *const *inputs, int count);

/* So many rows were read. NULL is allowed. */
static inline void bad_rows_note_good(bad_rows *self, uint64_t count)
{
    if (self != NULL) {
        self->good_count += count;
        self->input_good += count;
    }
}

/* Skip a row, which is malformed for that reason. False: it must end the command; then *fault also says why. */
bool bad_rows_take(bad_rows *self, const bad_row *row, line_fault *fault);

/* An input ends that could be read until its end. It fails if it had bad rows only: then it is of another form than
 * expected. Returns an exit code. NULL is allowed. */
int bad_rows_end_input(bad_rows *self);

/* The command has read all inputs, or failed with that exit code: close the file, and print a summary if any row was
 * skipped. Returns the exit code. */
int bad_rows_end(bad_rows *self, int code);

#endif
