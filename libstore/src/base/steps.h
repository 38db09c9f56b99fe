/*
 * steps.h - a budget of work. What the bytes of a store can make a call do beyond reading them once is counted in steps: a step
 * of a proof or a prefix that is looked up, of a microsecond at most, or a block that is fetched and checked. SECURITY.md states
 * how many a call has.
 */
#ifndef SS_STEPS_H
#define SS_STEPS_H

#include "base/common.h"

typedef struct ss_steps {
    uint64_t left;
} ss_steps;

/* What a call has for proving plans complete, naming them, and finding radii: for all segments together. Plans in use take some
 * thousand for a proof and a hundred thousand for radii. */
#define SS_CALL_STEPS (UINT64_C(1) << 22)

/* Take steps. False if fewer are left; then none is left, so that all further calls fail as well. */
static inline bool ss_steps_take(ss_steps *steps, uint64_t count)
{
    const bool enough = count <= steps->left;
    steps->left = enough ? steps->left - count : 0;
    return enough;
}

#endif
