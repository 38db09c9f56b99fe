/*
 * progress.h - the progress of a long command: one fraction of the whole command, which never decreases, and the time
 * that is left.
 *
 * It is a line that is redrawn on a terminal, or one JSON object per line for programs. The line appears after a
 * second, and goes away before anything else is written to the terminal. The process has one progress state, and one
 * thread at a time reports; messages and output may come from another one.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

#include "sstore.h"

typedef enum progress_mode {
    PROGRESS_AUTO, /* a line if stderr is a terminal that can erase it, otherwise nothing */
    PROGRESS_JSON,
    PROGRESS_NONE
} progress_mode;

/* Begin a command. Later calls do nothing. */
void progress_begin(progress_mode mode);

/* Say which part of the command, from `begin` to `end` within 0 to 1, the next reports are about. Without this, it is
 * the whole. */
void progress_part(double begin, double end);

/*
 * Show that `done` of `total` records (0: unknown) are done in a phase, which is one word, and `fraction` of the part.
 * A negative fraction is unknown: then the line has the number of records and their rate.
 */
void progress_show(const char *phase, uint64_t done, uint64_t total, double fraction);

/* Show the progress that the library reports on a call that is a part of the command. */
void progress_report(const sstore_progress *progress);

/* Erase the line, if there is one; it comes back with a later report. */
void progress_erase(void);

/* No line from now on: a user types there. */
void progress_stop_line(void);

/* Call this before writing to stdout. If stdout is a terminal, the line goes away for good: it would come between the
 * lines of output. */
void progress_give_way(void);

/* End a command, or one of several tasks in it: show JSON progress once more, or erase the line. */
void progress_end(void);

#endif
