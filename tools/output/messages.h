/*
 * messages.h - messages on stderr, each a line that begins with "sstore: ", exit codes, and the progress of a long
 * command.
 *
 * Progress is a line that is redrawn on a terminal, or one JSON object per line for programs. The process has one
 * progress state.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"

enum {
    EXIT_DONE = 0, /* also when a query has no match */
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_DAMAGED = 3
};

/* Print "sstore: ", the message and a newline. Returns EXIT_FAILED, for the caller to return. */
__attribute__((format(printf, 1, 2))) int message_print(const char *format, ...);

/* Print "PATH: WHAT: " and the reason that errno gives. Returns EXIT_FAILED. */
int message_errno(const char *path, const char *what);

/* Print an error of the library, with advice for a user of the command. */
void message_problem(const sstore_error *problem);

/* The same. Returns its exit code. */
int message_error(const sstore_error *error);

/* The exit code after a call of the library. An error is printed, but for SSTORE_STOPPED: then a callback failed, and
 * its failure has been or will be reported. */
int message_status(sstore_status status, const sstore_error *error);

/* Print how to get help, and exit with EXIT_USAGE. */
__attribute__((noreturn)) void message_exit_usage(void);

/* The same, after a message. */
__attribute__((format(printf, 1, 2), noreturn)) void message_usage_error(const char *format, ...);

/* Zeroed memory, to be freed with free(). Without memory the process exits with a message, so only commands that have
 * nothing to undo may call it. */
void *allocate_or_exit(size_t count, size_t size);

/* Make room for `needed` items in an array. `items` points to the variable that holds its address. Returns false, and
 * leaves the array alone, if there is no memory. */
bool grow(void *items, size_t *capacity, size_t needed, size_t item_bytes);

typedef enum progress_mode {
    PROGRESS_AUTO, /* a line if stderr is a terminal that can erase it, otherwise nothing */
    PROGRESS_JSON,
    PROGRESS_NONE
} progress_mode;

/* Begin a command. */
void progress_begin(progress_mode mode);

/* `count` of `expected` records were read; 0 expected: unknown. */
void progress_reading(uint64_t count, uint64_t expected);

/* Show the progress that the library reports. */
void progress_report(const sstore_progress *progress);

/* End a command: show JSON progress for the last time, or erase the line. */
void progress_end(void);

#endif
