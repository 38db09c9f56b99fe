/*
 * messages.c - messages and progress on stderr. Progress is shown when a phase begins and then at most once a second.
 */
#include "output/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output/json.h"

/* Return to the beginning of the line and erase it. */
#define WIPE "\r\033[K"

/* The progress of the command. */
static struct {
    bool line, json; /* what to show; neither: nothing */
    bool drawn;
    double last;    /* when progress was shown last */
    char phase[32]; /* the current phase and table */
    uint32_t table;
    double phase_begin;
    double processing_begin; /* the end of reading */
    sstore_progress now;
} state;

typedef struct progress_estimate {
    double rate;         /* items per second in this phase; 0: unknown */
    double seconds_left; /* negative: unknown */
} progress_estimate;

/* ----- messages ----- */

static void wipe_progress(void)
{
    if (state.drawn)
        fputs(WIPE, stderr);
    state.drawn = false;
}

__attribute__((format(printf, 1, 0))) static void print_message(const char *format, va_list arguments)
{
    /* One write for each message, so that messages of processes that share a terminal or a log do not mix. */
    char message[8192], shown[4 * sizeof message];
    vsnprintf(message, sizeof message, format, arguments);
    (void)sstore_escape(message, strlen(message), 0, shown, sizeof shown);
    wipe_progress();
    dprintf(STDERR_FILENO, "sstore: %s\n", shown);
}

int message_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

/* What to do about a failed call of the system, as the end of a message. */
static const char *remedy(int number)
{
    return number == EACCES || number == EPERM ? "; change the permissions, or run sstore as a user who has access"
                                               : "";
}

int message_errno(const char *path, const char *what)
{
    const int number = errno;
    return message_print("%s: %s: %s%s", path, what, strerror(number), remedy(number));
}

/* What messages of the library advise a program, and the same for a user of the command. */
static const struct translation {
    const char *program, *user;
} translations[] = {
    {"sstore_plan()", "'sstore plan'"},
    {"sstore_reindex()", "'sstore reindex'"},
    {"sstore_verify()", "'sstore verify'"},
    {"this is not a store: a store is a folder",
     "this is not a store, which is a folder; 'sstore build STORE FILE' makes one of a file"},
    {"set replace to replace it", "--force replaces it"},
    {"set ignore_free_space", "use --ignore-free-space"},
    {"set tmp_dir to another folder", "use another --tmp-dir"},
    {"raise memory_bytes", "raise --memory"},
};

void message_problem(const sstore_error *problem)
{
    char text[2 * sizeof problem->message];
    snprintf(text, sizeof text, "%s", problem->message);
    for (size_t i = 0; i < sizeof translations / sizeof *translations; i++) {
        const char *found = strstr(problem->message, translations[i].program);
        if (found != NULL)
            snprintf(text, sizeof text, "%.*s%s%s", (int)(found - problem->message), problem->message,
                     translations[i].user, found + strlen(translations[i].program));
    }
    message_print("%s%s", text, problem->status == SSTORE_ERROR_IO ? remedy(problem->system_errno) : "");
}

int message_error(const sstore_error *error)
{
    message_problem(error);
    if (error->status == SSTORE_ERROR_DAMAGED)
        return EXIT_DAMAGED;
    /* All arguments of the library come from the command line, so a wrong one is wrong usage. */
    return error->status == SSTORE_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
}

int message_status(sstore_status status, const sstore_error *error)
{
    if (status == SSTORE_OK)
        return EXIT_DONE;
    return status == SSTORE_STOPPED ? EXIT_FAILED : message_error(error);
}

void message_exit_usage(void)
{
    dprintf(STDERR_FILENO, "Try '%s --help' for more information.\n", program_invocation_short_name);
    exit(EXIT_USAGE);
}

void message_usage_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    message_exit_usage();
}

void *allocate_or_exit(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        message_print("out of memory");
        exit(EXIT_FAILED);
    }
    return memory;
}

bool grow(void *items, size_t *capacity, size_t needed, size_t item_bytes)
{
    void *array;
    if (needed <= *capacity)
        return true;
    memcpy(&array, items, sizeof array); /* a pointer of any type */
    array = reallocarray(array, needed, 2 * item_bytes);
    if (array == NULL)
        return false;
    memcpy(items, &array, sizeof array);
    *capacity = 2 * needed;
    return true;
}

/* ----- progress ----- */

static double now_seconds(void)
{
    struct timespec now;
    /* The coarse clock needs no system call. This runs for every batch of records. */
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

/* 12345678 as "12.3 M". */
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

static void draw_line(const progress_estimate *estimate)
{
    char number[32], rate[32], left[32];
    const sstore_progress *now = &state.now;
    fprintf(stderr, WIPE "%s", now->phase);
    if (now->table_count > 0)
        fprintf(stderr, " table %" PRIu32 " of %" PRIu32, now->table + 1, now->table_count);
    fprintf(stderr, ": %s records", short_number((double)now->done, number));
    if (now->total > 0)
        fprintf(stderr, ", %.0f %%", 100 * (double)now->done / (double)now->total);
    if (estimate->rate > 0)
        fprintf(stderr, ", %s/s", short_number(estimate->rate, rate));
    if (estimate->seconds_left >= 0)
        fprintf(stderr, ", %s left", short_time(estimate->seconds_left, left));
    state.drawn = true;
}

static void print_json(const progress_estimate *estimate)
{
    const sstore_progress *now = &state.now;
    const bool in_table = now->table_count > 0;
    char *text = json_value_text(
        json_value_make("{s:s, s:I, s:I, s:f, s:o*, s:o*, s:o*, s:o*}", "phase", now->phase, "done",
                        (long long)now->done, "total", (long long)now->total, "fraction", now->fraction, "table",
                        in_table ? json_value_make("I", (long long)now->table) : NULL, "table_count",
                        in_table ? json_value_make("I", (long long)now->table_count) : NULL, "per_second",
                        estimate->rate > 0 ? json_value_make("f", estimate->rate) : NULL, "seconds_left",
                        estimate->seconds_left >= 0 ? json_value_make("f", estimate->seconds_left) : NULL));
    if (text != NULL)
        fprintf(stderr, "%s\n", text);
    free(text);
}

static progress_estimate estimate_progress(double time)
{
    const sstore_progress *now = &state.now;
    progress_estimate estimate = {.seconds_left = -1};
    double in_phase = time - state.phase_begin, processing = time - state.processing_begin;
    if (in_phase > 0)
        estimate.rate = (double)now->done / in_phase;
    bool reading = now->table_count == 0 && now->fraction == 0;
    if (reading && now->total > now->done && estimate.rate > 0)
        estimate.seconds_left = (double)(now->total - now->done) / estimate.rate; /* of reading alone */
    else if (!reading && now->fraction > 0.02)
        estimate.seconds_left = processing * (1 - now->fraction) / now->fraction;
    return estimate;
}

static void tell(double time)
{
    const progress_estimate estimate = estimate_progress(time);
    state.last = time;
    if (state.json)
        print_json(&estimate);
    else
        draw_line(&estimate);
}

/* Keep the new state, and show it if it is time. */
static void note(const sstore_progress *progress, bool processing)
{
    if (!state.line && !state.json)
        return;
    const double time = now_seconds();
    if (processing && state.processing_begin == 0)
        state.processing_begin = time;
    bool begins = strcmp(state.phase, progress->phase) != 0 || state.table != progress->table;
    bool due = begins || time - state.last >= 1;
    if (begins) {
        if (state.json && state.phase[0] != '\0')
            tell(time); /* the end of the previous phase */
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
    note(&(sstore_progress){.phase = "reading", .done = count, .total = expected}, false);
}

void progress_report(const sstore_progress *progress)
{
    note(progress, true);
}

void progress_end(void)
{
    if (state.json && state.phase[0] != '\0')
        tell(now_seconds());
    wipe_progress();
    memset(&state, 0, sizeof state);
}
