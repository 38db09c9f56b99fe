/*
 * messages.h - what a command says on stderr, and its exit code: messages, each a line that begins with "sstore: ",
 * and the progress of a long command.
 *
 * Progress is a line that is drawn again and again on a terminal; for programs, JSON objects, one a line. There is
 * one at a time.
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

/* Print "sstore: ", the message and a newline, to the descriptor, not by the stream of C. Returns EXIT_FAILED, for
 * a caller that has failed to return. */
__attribute__((format(printf, 1, 2))) int message_print(const char *format, ...);

/* Print a library error and return the exit code that stands for it. */
int message_error(const sstore_error *error);

/* The exit code after a call of the library that may end with SSTORE_STOPPED, because a callback failed and its
 * failure has been or will be reported. Any other error is printed. */
int message_status(sstore_status status, const sstore_error *error);

/* Print where help is to be found, and exit with EXIT_USAGE. */
__attribute__((noreturn)) void message_exit_usage(void);

/* Print the message first. */
__attribute__((format(printf, 1, 2), noreturn)) void message_usage_error(const char *format, ...);

/* Zeroed memory, to be freed with free(); without any the process ends with a message, so only for commands that have
 * nothing to undo. */
void *allocate_or_exit(size_t count, size_t size);

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

/* The command is done: show progress for the last time, or wipe the line. */
void progress_end(void);

#endif
