/*
 * trial.h - an operation while the system refuses something: it comes through, or fails and says so; the store is as it was or
 * as it should become; nothing is leaked; and the next time it works.
 */
#ifndef FAULTS_TRIAL_H
#define FAULTS_TRIAL_H

#include "faults/interpose.h"
#include "faults/operations.h"

/* What is refused: the calls of some kinds, from the `at`-th on. */
typedef struct fault {
    const char *name;
    unsigned kinds; /* a mask, 1 << system_call_kind */
    int error;      /* errno; 0: reads and writes are cut short instead */
    sstore_status status; /* that failures must have */
    bool for_good;  /* not once, but from then on */
    bool creating;  /* of opening, only where a file is made */
} fault;

#define KIND(kind) (1u << (kind))
#define ALL_FILE_KINDS                                                                                                 \
    (KIND(CALL_KINDS) - 1u - KIND(CALL_ALLOCATE) - KIND(CALL_THREAD))

/* What became of trials. */
typedef struct tally {
    uint64_t trials;       /* in which the fault struck */
    uint64_t came_through; /* all the same */
    uint64_t failed;       /* with an error, the store as it was */
    uint64_t failed_late;  /* with an error, the store as it should become: what failed came after */
} tally;

/* Try an operation. False: it never came to the `at`-th call, and came through. */
bool trial_run(const operation *self, const fault *refused, uint64_t at, uint32_t threads, tally *sum);

/* Try it for each call in turn, one in `step` of them. */
void trial_run_all(const operation *self, const fault *refused, uint32_t threads, uint64_t step, uint64_t first,
                   tally *sum);

#endif
