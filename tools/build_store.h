/*
 * build_store.h - from inputs to a published store. Functions return exit codes; failures have been reported.
 */
#ifndef BUILD_STORE_H
#define BUILD_STORE_H

#include "build_arguments.h"
#include "input.h"

/* What is done with the records of the inputs. */
typedef enum store_work {
    STORE_BUILD,     /* they become a store */
    STORE_ADD,       /* they are added to a store */
    STORE_REMOVE,    /* they are removed from a store, or without ids all records of these fingerprints are */
    STORE_REMOVE_IDS /* the inputs' first column is of ids: all records with one of these are removed */
} store_work;

/* Do the work with all the inputs, publish the store at `path`, and say what it is. On a failure or an interruption
 * nothing was changed. */
int build_store(store_work work, const char *path, build_arguments *arguments, char **inputs, size_t input_count,
                input_options *format);

#endif
