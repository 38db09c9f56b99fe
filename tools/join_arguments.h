/*
 * join_arguments.h - what the commands that join have in common: their options, and stores that are open.
 */
#ifndef JOIN_ARGUMENTS_H
#define JOIN_ARGUMENTS_H

#include "build_arguments.h"
#include "output.h"

typedef struct join_arguments {
    build_arguments task; /* what it may take */
    uint32_t distance;    /* or SSTORE_OWN_DISTANCE */
    bool json;
} join_arguments;

#define JOIN_ARGUMENTS_INIT                                                                                            \
    {                                                                                                                  \
        BUILD_ARGUMENTS_INIT, SSTORE_OWN_DISTANCE, false                                                               \
    }

/* For a command's argp as a child whose input is a join_arguments. */
extern const struct argp join_argp;

/* Open a store to join it, and choose how its records are printed. Returns an exit code. */
int join_open(const char *path, const join_arguments *arguments, sstore **store_out, output_style *style_out);

/* Begin to show progress. */
sstore_join_options join_begin(join_arguments *arguments);

/* What to do after the join of the store at `path`. Returns the exit code. */
int join_end(const char *path, sstore_status status, const sstore_error *error);

#endif
