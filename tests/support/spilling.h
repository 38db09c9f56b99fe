/*
 * spilling.h - calls that spill to temporary files. They get as little memory as is allowed, so that some hundred
 * thousand records do not fit. For tests of how many files these calls open, and where.
 */
#ifndef SUPPORT_SPILLING_H
#define SUPPORT_SPILLING_H

#include "support/data.h"

typedef struct spilling {
    const data_set *set;       /* the records that are written, or collected as matches */
    const char *store, *other; /* stores that are joined or merged */
    const char *target;        /* the store that is written */
    const char *tmp_dir, *plan;
    uint32_t threads, distance; /* the distance of joins */
    uint64_t collection_bytes;  /* the memory of a collection */
} spilling;

typedef sstore_status spilling_call(const spilling *how, sstore_error *error);

/* These write the target. Building and merging replace an existing one; removing takes the first half of the set. */
spilling_call spilling_build, spilling_add, spilling_remove, spilling_compact, spilling_merge;
/* These only read. */
spilling_call spilling_pairs, spilling_clusters, spilling_join, spilling_collect;

#endif
