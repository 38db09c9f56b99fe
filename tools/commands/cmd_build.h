/*
 * cmd_build.h - the steps that build, add and remove share: they make or change a store from inputs. Functions return
 * exit codes, and have reported failures.
 */
#ifndef CMD_BUILD_H
#define CMD_BUILD_H

#include "commands/similarity_option.h"

/* What to do with the records of the inputs. */
typedef enum store_change {
    STORE_BUILD,      /* make a store of them */
    STORE_ADD,        /* add them to a store */
    STORE_REMOVE,     /* remove them from a store; a fingerprint without an id stands for all its records */
    STORE_REMOVE_IDS, /* the inputs are ids: remove all records with one of them */
    STORE_REMOVE_NAMES
} store_change;

/* The arguments of commands with the operands STORE [INPUT...]. */
typedef struct store_arguments {
    const char *store;
    operands inputs;
    task_arguments task;
    similarity similarity; /* of a build, and of add --if-new */
    input_options input;
    const char *first_id_given; /* the option, if it is */
    const char *absent;         /* a file for ids to remove that are not in the store, or NULL */
} store_arguments;

#define STORE_ARGUMENTS_INIT                                                                                           \
    {                                                                                                                  \
        .task = TASK_ARGUMENTS_INIT, .input = INPUT_OPTIONS_INIT                                                       \
    }

/* Set the store and the inputs. */
void store_take_operands(store_arguments *arguments, operands given);

/* Check cheaply that all inputs can be read, and set how to read them. */
int store_check_inputs(store_arguments *arguments);

/* A doubt about the store of that name. */
#define STORE_DROPS_IDS                                                                                                \
    "%s: the store has no ids, so those of the input are dropped; --columns fingerprint,- leaves them out"

/* Report ids that the added records share with other fingerprints: a warning, or a failure with --strict. Returns an
 * exit code. */
int store_end_ids(const store_arguments *arguments, const sstore_change *change);

/* Make the change with all inputs, publish it, and print a summary. After a failure or an interruption nothing has
 * changed. */
int store_change_from_inputs(store_change kind, store_arguments *arguments);

#endif
