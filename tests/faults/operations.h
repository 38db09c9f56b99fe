/*
 * operations.h - the operations on a store for the tests of faults, each from a known state, with the states that are
 * allowed after a failure, and required after success.
 */
#ifndef FAULTS_OPERATIONS_H
#define FAULTS_OPERATIONS_H

#include "sstore.h"
#include "support/record_set.h"
#include "support/testing.h"

#define OPERATIONS_PATH_BYTES 256

/* An operation and its stage. */
typedef struct operation operation;

/* Runs it with so many threads on the store at the operation's path. Everything that it reads before a failure must be
 * right. */
typedef sstore_status (*operation_fn)(const operation *self, uint32_t threads, sstore_error *error);

struct operation {
    const char *name;
    operation_fn run;
    bool writes;                       /* and the next one removes leftovers */
    bool mends;                        /* the store before it cannot be opened */
    bool merges;                       /* with the segments of the store */
    bool id_index, names;              /* of the store */
    char saved[OPERATIONS_PATH_BYTES]; /* the store before it; "": none */
    char path[OPERATIONS_PATH_BYTES];
    data_set first, second;   /* records in the store, and others */
    record_set before, after; /* equal if nothing changes */
    uint64_t *queries;        /* the fingerprints of `before` */
    uint64_t near_pairs;      /* of different records of `before`, within 3 */
    uint64_t stream_matches;  /* of each different query with all records, within 3 */
};

/* Make the operations, with their stores in scratch folders. */
#define OPERATION_COUNT 25u
void operations_make(uint64_t seed, operation operations[OPERATION_COUNT]);
void operations_free(operation operations[OPERATION_COUNT]);

/* Those of them that stores of several words have, on such a store. Until they are freed, widened_words is set. */
#define WIDE_OPERATION_COUNT 13u
void operations_make_wide(uint64_t seed, operation operations[WIDE_OPERATION_COUNT]);
void operations_free_wide(operation operations[WIDE_OPERATION_COUNT]);

/* One more, which takes a thousand times as long: a build, without a store before it, of so many records in so
 * little memory that they are spilled. */
void operation_make_spilling(uint64_t seed, operation *made);
void operation_free(operation *made);

/* Put the store back as it was before. */
void operation_set_stage(const operation *self);

typedef enum store_state { STORE_ABSENT, STORE_BEFORE, STORE_AFTER } store_state;

/* The state at the path: anything but one of the states, intact and verified, fails the test. If both states are equal,
 * it is STORE_AFTER. */
store_state operation_check(const operation *self);

/* Whether the state after it differs from the one before. */
bool operation_is_seen(const operation *self);

/* Fail if there are foreign files at the path, or a folder without a store. */
void operation_check_tidy(const operation *self);

#endif
