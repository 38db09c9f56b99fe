/*
 * join_call.h - what one call that joins has of its caller, and how it shares out the memory that it may take.
 */
#ifndef SS_JOIN_CALL_H
#define SS_JOIN_CALL_H

#include "base/call_progress.h"
#include "base/file.h"
#include "store/store.h"

typedef struct ss_join_call {
    const sstore *left, *right; /* the same where a store is joined with itself */
    uint32_t distance, threads;
    ss_dir tmp_dir;
    ss_progress progress;
    uint64_t join_bytes;   /* for finding pairs of fingerprints */
    uint64_t stage_bytes;  /* for what waits in memory between two steps */
    size_t piece_capacity; /* items that a thread works on at once */
} ss_join_call;

/* Take the options of a public call, and check them. `right` may be `left`. ARGUMENT, RECIPE, NOT_FOUND (no tmp_dir). */
sstore_status ss_join_call_begin(ss_join_call *call, const sstore *left, const sstore *right,
                                 const sstore_join_options *options, sstore_error *error);
/* Also of one that could not begin. */
void ss_join_call_end(ss_join_call *call);

static inline bool ss_join_call_is_self(const ss_join_call *call)
{
    return call->left == call->right;
}

#endif
