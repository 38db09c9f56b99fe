/*
 * build_store.h - from inputs to a published store. Functions return exit codes; failures have been reported.
 */
#ifndef BUILD_STORE_H
#define BUILD_STORE_H

#include "build_arguments.h"
#include "cmd.h"
#include "input.h"

/* What is done with the records of the inputs. */
typedef enum store_work {
    STORE_BUILD,     /* they become a store */
    STORE_ADD,       /* they are added to a store */
    STORE_REMOVE,    /* they are removed from a store, or without ids all records of these fingerprints are */
    STORE_REMOVE_IDS /* the inputs are of ids: all records with one of these are removed */
} store_work;

/* What commands with the operands STORE [INPUT...] are given. */
typedef struct store_arguments {
    cmd_store_and_inputs operands;
    build_arguments build;
    input_options input;
} store_arguments;

#define STORE_ARGUMENTS_INIT                                                                                           \
    {                                                                                                                  \
        {NULL, NULL, 0}, BUILD_ARGUMENTS_INIT, INPUT_OPTIONS_INIT                                                      \
    }

/* For a parser of such a command: call it for every key that the command does not know. The first of its argp's children
 * gets the build_arguments, the second one the input_options. */
error_t store_arguments_parse(int key, struct argp_state *state, store_arguments *arguments);

/* Check cheaply that all inputs can be read, and choose how. Returns an exit code. */
int store_arguments_check(store_arguments *arguments);

/* Warn of ids of added records that another fingerprint also has: where the lines of two files are both numbered from 0, two
 * documents get one id, and nothing fails. */
void warn_of_ids(const char *path, const sstore_change *change);

/* Do the work with all the inputs, publish the store, and say what it is. On a failure or an interruption nothing was
 * changed. */
int build_store(store_work work, store_arguments *arguments);

#endif
