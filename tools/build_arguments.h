/*
 * build_arguments.h - the options of every command that works long: what it may take to do so; and where it makes or
 * changes a store, how what is made is to be.
 */
#ifndef BUILD_ARGUMENTS_H
#define BUILD_ARGUMENTS_H

#include <argp.h>
#include <stdbool.h>

#include "progress.h"
#include "sstore.h"

typedef struct build_arguments {
    sstore_build_options options;
    progress_mode progress;
    bool quiet;
    bool allow_empty; /* with --force: also without any input record */
} build_arguments;

#define BUILD_ARGUMENTS_INIT                                                                                           \
    {                                                                                                                  \
        SSTORE_BUILD_OPTIONS_INIT, PROGRESS_AUTO, false, false                                                         \
    }

/* For a command's argp as a child whose input is a build_arguments: what it tells meanwhile; the same, and on
 * what threads a task runs and what it may take; the same for one that writes a store; the same and how a segment is
 * to be; the same and how a store is made. */
extern const struct argp run_argp;
extern const struct argp task_argp;
extern const struct argp work_argp;
extern const struct argp segment_argp;
extern const struct argp build_argp;

/* Begin to show progress as the options ask for, and make the library stop on a signal: call it before the store is
 * begun. From then on a pipe that nobody reads is an error of the write, and no signal; progress is lost without a word. */
void build_arguments_begin(build_arguments *arguments);

/* The same for a command that writes no store: SIGPIPE ends it. */
void build_arguments_begin_reading(build_arguments *arguments);

/* Fail if `record_count` is 0 with --force, but without --allow-empty: the program that should have written the records has
 * probably failed, and a store may be lost. */
int build_arguments_check_records(const build_arguments *arguments, const char *path, uint64_t record_count);

/* The same if the input records are those of stores. */
int build_arguments_check_stores(const build_arguments *arguments, const char *path, char *const *inputs, size_t count);

/* What to do after the library made, or did not make, the store at `path`: report, and print a summary. Returns the exit
 * code. */
int build_arguments_end(const build_arguments *arguments, const char *path, sstore_status status,
                        const sstore_error *error);

/* The same without a summary. */
int build_arguments_check(const char *path, sstore_status status, const sstore_error *error);

#endif
