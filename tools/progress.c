/*
 * progress.c - a line on stderr that tells how far a long command is.
 */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Back to the line's beginning, and erase to its end. */
#define WIPE "\r\033[K"

static struct {
    bool shown, drawn;
    time_t last; /* when it was drawn */
} line;

static time_t now_seconds(void)
{
    struct timespec now;
    /* The coarse clock is read without a system call: this runs for every batch of records. */
    return clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0 ? now.tv_sec : 0;
}

void progress_begin(void)
{
    const char *terminal = getenv("TERM");
    bool dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    line.shown = isatty(STDERR_FILENO) && !dumb;
    line.last = now_seconds();
}

void progress_count(uint64_t count)
{
    if (!line.shown || now_seconds() == line.last)
        return;
    line.last = now_seconds();
    line.drawn = true;
    fprintf(stderr, WIPE "reading: %" PRIu64 " records", count);
}

void progress_say(const char *what)
{
    if (!line.shown)
        return;
    line.drawn = true;
    fprintf(stderr, WIPE "%s", what);
}

void progress_wipe(void)
{
    if (line.drawn)
        fputs(WIPE, stderr);
    line.drawn = false;
}
