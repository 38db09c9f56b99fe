/*
 * progress.h - tells on stderr how far a long command is: on a terminal in a line that is drawn again and again, for
 * programs as JSON objects, one a line. There is one at a time.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "sstore.h"

typedef enum progress_mode {
    PROGRESS_AUTO, /* a line if stderr is a terminal that can wipe it, else nothing */
    PROGRESS_JSON,
    PROGRESS_NONE
} progress_mode;

/* Begin a command. */
void progress_begin(progress_mode mode);

/* `count` records were read, of `expected` in all if that is known, else 0. */
void progress_reading(uint64_t count, uint64_t expected);

/* The library says how far it is. */
void progress_report(const sstore_progress *progress);

/* The command is done: tell for the last time, or wipe the line. */
void progress_end(void);

/* Wipe the line, so that a message can take its place. Allowed at any time. */
void progress_wipe(void);

#endif
