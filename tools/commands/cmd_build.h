/*
 * cmd_build.h - from inputs to a store that is new or changed: what build, add and remove share. Functions return
 * exit codes; failures have been reported.
 */
#ifndef CMD_BUILD_H
#define CMD_BUILD_H

#include "commands/cmd.h"

/* What is done with the records of the inputs. */
typedef enum store_change {
    STORE_BUILD,     /* they become a store */
    STORE_ADD,       /* they are added to a store */
    STORE_REMOVE,    /* they are removed from a store, or without ids all records of these fingerprints are */
    STORE_REMOVE_IDS /* the inputs are of ids: all records with one of these are removed */
} store_change;

/* What commands with the operands STORE [INPUT...] are given. */
typedef struct store_arguments {
    const char *store;
    operands inputs;
    task_arguments task;
    input_options input;
} store_arguments;

#define STORE_ARGUMENTS_INIT                                                                                           \
    {                                                                                                                  \
        NULL, {NULL, 0}, TASK_ARGUMENTS_INIT, INPUT_OPTIONS_INIT                                                       \
    }

/* Set the store and the inputs. */
void store_take_operands(store_arguments *arguments, operands given);

/* Check cheaply that all inputs can be read, and choose how. */
int store_check_inputs(store_arguments *arguments);

/* Warn of ids of added records that another fingerprint also has: where the lines of two files are both numbered
 * from 0, two documents get one id, and nothing fails. */
void store_warn_of_ids(const char *path, const sstore_change *change);

/* Make the change with all the inputs, publish the store, and say what it is. On a failure or an interruption
 * nothing was changed. */
int store_change_from_inputs(store_change kind, store_arguments *arguments);

#endif
