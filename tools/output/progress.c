/*
 * progress.c - progress on stderr, at most once a second, and in JSON also at the beginning and end of each phase.
 */
#include "output/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "output/json.h"
#include "output/numbers.h"
#include "output/time_estimate.h"

/* Return to the beginning of the line and erase it. */
#define ERASE "\r\033[K"
#define MAX_LINE 160

/* The progress of the command. */
static struct {
    bool begun;
    bool line, json;      /* what to show; neither: nothing */
    bool shares_terminal; /* stdout is also a terminal */
    double begin, last;   /* when the command began, and when progress was shown last */
    double part_begin, part_end;
    double whole; /* the fraction of the command; negative: unknown */
    time_estimate estimate;
    double seconds_left; /* negative: unknown */
    char phase[32];      /* the current phase and table */
    double phase_begin;
    double rate; /* items per second in this phase; 0: unknown */
    sstore_progress now;
} state;

/* The line is drawn by one thread, and may be erased by another one that prints a message. */
static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t drawn;

static double now_seconds(void)
{
    struct timespec now;
    /* The coarse clock needs no system call. This runs for every batch of records. */
    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0)
        return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ----- the line ----- */

void progress_erase(void)
{
    pthread_mutex_lock(&line_lock);
    if (drawn)
        fputs(ERASE, stderr);
    drawn = false;
    pthread_mutex_unlock(&line_lock);
}

void progress_stop_line(void)
{
    progress_erase();
    state.line = false;
}

void progress_give_way(void)
{
    if (state.line && state.shares_terminal)
        progress_stop_line();
}

/* For a signal that ends the process: erase the line first. */
static void erase_and_end(int number)
{
    if (drawn && write(STDERR_FILENO, ERASE, sizeof ERASE - 1) < 0) {
        /* The terminal is gone. */
    }
    (void)raise(number); /* its action is the default one again, by SA_RESETHAND */
}

/* Catch the signals that a user ends commands with, unless the command does so itself. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = erase_and_end, .sa_flags = (int)SA_RESETHAND}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            (void)sigaction(numbers[i], &action, NULL);
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

/* The number of columns that the line may take: a longer one would wrap, and could not be erased. */
static int line_width(void)
{
    struct winsize size;
    const int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
    return columns <= MAX_LINE ? columns - 1 : MAX_LINE;
}

/* Such as "34 %, 12 s left: writing table 2 of 4, 1.20 M/s", or "reading: 3.41 M, 1.20 M/s" if the whole is
 * unknown. */
static void draw_line(void)
{
    char text[MAX_LINE + 1] = "", number[32];
    const sstore_progress *now = &state.now;
    FILE *to = fmemopen(text, sizeof text, "w");
    if (to == NULL)
        return;
    if (state.whole >= 0)
        fprintf(to, "%d %%", (int)(100 * state.whole));
    if (state.whole >= 0 && state.seconds_left >= 0)
        fprintf(to, ", %s left", short_time(state.seconds_left, number));
    fprintf(to, "%s%s", state.whole >= 0 ? ": " : "", now->phase);
    if (now->table_count > 0)
        fprintf(to, " table %" PRIu32 " of %" PRIu32, now->table + 1, now->table_count);
    if (state.whole < 0)
        fprintf(to, ": %s", number_scaled((double)now->done, count_units).text);
    if (state.rate > 0)
        fprintf(to, ", %s/s", number_scaled(state.rate, count_units).text);
    fclose(to);
    pthread_mutex_lock(&line_lock);
    fprintf(stderr, ERASE "%.*s", line_width(), text);
    drawn = true;
    pthread_mutex_unlock(&line_lock);
}

/* ----- JSON ----- */

static json_value *known_number(double value)
{
    return value >= 0 ? json_value_make("f", value) : NULL;
}

static void print_json(void)
{
    const sstore_progress *now = &state.now;
    const bool in_table = now->table_count > 0;
    char *text = json_value_text(
        json_value_make("{s:s, s:I, s:I, s:o*, s:o*, s:o*, s:o*, s:o*}", "phase", now->phase, "done",
                        (long long)now->done, "total", (long long)now->total, "fraction", known_number(state.whole),
                        "table", in_table ? json_value_make("I", (long long)now->table) : NULL, "table_count",
                        in_table ? json_value_make("I", (long long)now->table_count) : NULL, "per_second",
                        known_number(state.rate > 0 ? state.rate : -1), "seconds_left",
                        known_number(state.seconds_left)));
    if (text != NULL)
        fprintf(stderr, "%s\n", text);
    free(text);
}

/* ----- reports ----- */

void progress_begin(progress_mode mode)
{
    if (state.begun)
        return;
    const char *terminal = getenv("TERM");
    state.begun = true;
    const bool dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    state.line = mode == PROGRESS_AUTO && isatty(STDERR_FILENO) && !dumb;
    state.json = mode == PROGRESS_JSON;
    state.shares_terminal = isatty(STDOUT_FILENO);
    state.begin = now_seconds();
    state.whole = state.seconds_left = -1;
    time_estimate_begin(&state.estimate, state.begin);
    progress_part(0, 1);
    if (state.line)
        catch_signals();
}

void progress_part(double begin, double end)
{
    state.part_begin = begin;
    state.part_end = end;
}

static void show(double time)
{
    const double in_phase = time - state.phase_begin;
    state.last = time;
    state.rate = in_phase > 0 ? (double)state.now.done / in_phase : 0;
    if (state.whole >= 0)
        state.seconds_left = time_estimate_update(&state.estimate, time, state.whole);
    if (state.json)
        print_json();
    else
        draw_line();
}

/* Keep the new state, and show it if it is time. */
static void note(const sstore_progress *progress)
{
    if (!state.line && !state.json)
        return;
    const double time = now_seconds();
    const double whole = state.part_begin + (state.part_end - state.part_begin) * progress->fraction;
    const bool begins = strcmp(state.phase, progress->phase) != 0 || state.now.table != progress->table;
    if (begins) {
        if (state.json && state.phase[0] != '\0')
            show(time); /* the end of the previous phase */
        snprintf(state.phase, sizeof state.phase, "%s", progress->phase);
        state.phase_begin = time;
    }
    state.now = *progress;
    state.now.phase = state.phase;
    if (progress->fraction >= 0 && whole > state.whole)
        state.whole = whole < 1 ? whole : 1;
    if ((begins && state.json) || (time - state.begin >= 1 && time - state.last >= 1))
        show(time);
}

void progress_show(const char *phase, uint64_t done, uint64_t total, double fraction)
{
    note(&(sstore_progress){.phase = phase, .done = done, .total = total, .fraction = fraction});
}

void progress_report(const sstore_progress *progress)
{
    note(progress);
}

void progress_end(void)
{
    if (state.json && state.phase[0] != '\0')
        show(now_seconds());
    progress_erase();
    state.phase[0] = '\0';
}
