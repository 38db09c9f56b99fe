/*
 * progress.c - tells on stderr how far a long command is. At most once a second, and where a phase begins.
 */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress_json.h"

/* Back to the line's beginning, and erase to its end. */
#define WIPE "\r\033[K"

static struct {
    bool line, json;       /* what to show; neither: nothing */
    bool drawn;
    double last;           /* when it was told */
    char phase[32];        /* which, and which table's: what was told then */
    uint32_t table;
    double phase_begin;
    double work_begin;     /* when the library's work began; what was before is reading */
    sstore_progress now;
} state;

static double now_seconds(void)
{
    struct timespec now;
    /* The coarse clock is read without a system call: this runs for every batch of records. */
    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0)
        return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void progress_begin(progress_mode mode)
{
    const char *terminal = getenv("TERM");
    bool dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    state.line = mode == PROGRESS_AUTO && isatty(STDERR_FILENO) && !dumb;
    state.json = mode == PROGRESS_JSON;
}

/* ----- the line ----- */

/* 12345678 as "12.3 M": two to three digits are read at a glance. */
static const char *short_number(double value, char text[32])
{
    static const char units[] = " KMGT";
    size_t unit = 0;
    for (; value >= 999.5 && unit + 2 < sizeof units; unit++)
        value /= 1000;
    if (unit == 0)
        snprintf(text, 32, "%.0f", value);
    else
        snprintf(text, 32, "%.*f %c", value < 9.95 ? 2 : value < 99.5 ? 1 : 0, value, units[unit]);
    return text;
}

static const char *short_time(double seconds, char text[32])
{
    uint64_t whole = (uint64_t)(seconds + 0.5);
    if (whole < 100)
        snprintf(text, 32, "%" PRIu64 " s", whole);
    else if (whole < 6000)
        snprintf(text, 32, "%" PRIu64 " min %02" PRIu64 " s", whole / 60, whole % 60);
    else
        snprintf(text, 32, "%" PRIu64 " h %02" PRIu64 " min", whole / 3600, whole / 60 % 60);
    return text;
}

static void draw(const progress_facts *facts)
{
    char number[32], rate[32], left[32];
    const sstore_progress *now = facts->now;
    fprintf(stderr, WIPE "%s", now->phase);
    if (now->table_count > 0)
        fprintf(stderr, " table %" PRIu32 " of %" PRIu32, now->table + 1, now->table_count);
    fprintf(stderr, ": %s records", short_number((double)now->done, number));
    if (now->total > 0)
        fprintf(stderr, ", %.0f %%", 100 * (double)now->done / (double)now->total);
    if (facts->rate > 0)
        fprintf(stderr, ", %s/s", short_number(facts->rate, rate));
    if (facts->seconds_left >= 0)
        fprintf(stderr, ", %s left", short_time(facts->seconds_left, left));
    state.drawn = true;
}

void progress_wipe(void)
{
    if (state.drawn)
        fputs(WIPE, stderr);
    state.drawn = false;
}

/* ----- telling ----- */

static progress_facts make_facts(double time)
{
    const sstore_progress *now = &state.now;
    progress_facts facts = {.now = now, .seconds_left = -1};
    double in_phase = time - state.phase_begin, at_work = time - state.work_begin;
    if (in_phase > 0)
        facts.rate = (double)now->done / in_phase;
    bool reading = now->table_count == 0 && now->share == 0;
    if (reading && now->total > now->done && facts.rate > 0)
        facts.seconds_left = (double)(now->total - now->done) / facts.rate; /* of reading alone */
    else if (!reading && now->share > 0.02)
        facts.seconds_left = at_work * (1 - now->share) / now->share;
    return facts;
}

static void tell(double time)
{
    progress_facts facts = make_facts(time);
    state.last = time;
    if (state.json)
        progress_print_json(&facts);
    else
        draw(&facts);
}

/* Take note of what is told, and tell it if it is time. */
static void note(const sstore_progress *progress, double time)
{
    bool begins = strcmp(state.phase, progress->phase) != 0 || state.table != progress->table;
    bool due = begins || time - state.last >= 1;
    if (begins) {
        if (state.json && state.phase[0] != '\0')
            tell(time); /* how the phase before ended */
        snprintf(state.phase, sizeof state.phase, "%s", progress->phase);
        state.table = progress->table;
        state.phase_begin = time;
    }
    state.now = *progress;
    if (due)
        tell(time);
}

void progress_reading(uint64_t count, uint64_t expected)
{
    if (!state.line && !state.json)
        return;
    sstore_progress progress = {.phase = "reading", .done = count, .total = expected};
    note(&progress, now_seconds());
}

void progress_report(const sstore_progress *progress)
{
    if (!state.line && !state.json)
        return;
    double time = now_seconds();
    if (state.work_begin == 0)
        state.work_begin = time;
    note(progress, time);
}

void progress_end(void)
{
    if (state.json && state.phase[0] != '\0')
        tell(now_seconds());
    progress_wipe();
    memset(&state, 0, sizeof state);
}
