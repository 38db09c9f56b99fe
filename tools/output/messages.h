/*
 * messages.h - messages on stderr, each a line that begins with "sstore: ", and exit codes.
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

/* Does stderr take a message, within a second? A pipe that nobody reads must not keep an interrupted command. */
bool message_is_taken(void);

/* Print "sstore: ", the message and a newline. Returns EXIT_FAILED, for the caller to return. */
__attribute__((format(printf, 1, 2))) int message_print(const char *format, ...);

/* Print "PATH: WHAT: " and the reason that errno gives. Returns EXIT_FAILED. */
int message_errno(const char *path, const char *what);

/* Print an error of the library, with advice for a user of the command. */
void message_problem(const sstore_error *problem);

/* Print an error of the library as message_problem() does. Returns its exit code. */
int message_error(const sstore_error *error);

/* The exit code after a call of the library. An error is printed, but for SSTORE_STOPPED: then a callback failed, and
 * its failure has been or will be reported. */
int message_status(sstore_status status, const sstore_error *error);

/* Warn of a damaged file because of which a change was not merged, if there is one. */
void message_unmerged(const char *path, const sstore_change *change);

/* Fill the error that the library's calls give without memory. Returns its status. */
sstore_status error_no_memory(sstore_error *error);

/* Print how to get help, and exit with EXIT_USAGE. */
__attribute__((noreturn)) void message_exit_usage(void);

/* Print "sstore: ", the message and how to get help, and exit with EXIT_USAGE. */
__attribute__((format(printf, 1, 2), noreturn)) void message_usage_error(const char *format, ...);

/* Zeroed memory, to be freed with free(). Without memory the process exits with a message, so only commands that have
 * nothing to undo may call it. */
void *allocate_or_exit(size_t count, size_t size);

/* Make room for `needed` items in an array. `items` points to the variable that holds its address. Returns false, and
 * leaves the array alone, if there is no memory. */
bool grow(void *items, size_t *capacity, size_t needed, size_t item_bytes);

#endif
