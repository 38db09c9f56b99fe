/*
 * trial.h - runs an operation while the system refuses something. The operation must succeed or report an error, leave
 * the old store or the new one, leak nothing, and succeed when it is run again.
 */
#ifndef FAULTS_TRIAL_H
#define FAULTS_TRIAL_H

#include "faults/interpose.h"
#include "faults/operations.h"

/* The refused calls: those of some kinds, from the `at`-th on. */
typedef struct fault {
    const char *name;
    unsigned kinds;       /* a mask, 1 << system_call_kind */
    int error;            /* errno; 0: reads and writes are cut short instead */
    sstore_status status; /* that failures must have */
    bool for_good;        /* not once, but from then on */
    bool creating;        /* of opening, only the creation of files */
} fault;

/* Of the calls of an operation, one in so many fails: each with SSTORE_TEST_LONG, one in `sanitized` with a sanitizer,
 * else one in three. A run begins at another call each time. SSTORE_TEST_STEP is another number. */
uint64_t trial_step(uint64_t sanitized);

#define KIND(kind) (1u << (kind))
#define ALL_FILE_KINDS (KIND(CALL_KINDS) - 1u - KIND(CALL_ALLOCATE) - KIND(CALL_THREAD))

/* Operations, and faults to try. */
typedef struct trials {
    const operation *operations;
    size_t operation_count;
    const fault *faults;
    size_t fault_count;
} trials;

/* Try every operation with every fault, for each call in turn, one in `step` of them; on several threads one in five of
 * these, but for SSTORE_TEST_LONG. Prints the results of each operation, and the figure of all: `what` is refused. */
void trial_run_all(const trials *all, const char *what, uint64_t step, uint64_t seed);

#endif
