/*
 * progress.h - a line on stderr that tells how far a long command is. Shown on a terminal only; there is one.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Show the line from now on, if stderr is a terminal that can wipe it. */
void progress_begin(void);

/* Say "reading: COUNT records", at most once a second. */
void progress_count(uint64_t count);

/* Say `what` now. */
void progress_say(const char *what);

/* Wipe the line, so that a message can take its place. Allowed at any time. */
void progress_wipe(void);

#endif
