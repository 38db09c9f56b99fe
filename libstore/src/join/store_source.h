/*
 * store_source.h - the distinct fingerprints of a store, in parts that several threads read at once.
 */
#ifndef SS_STORE_SOURCE_H
#define SS_STORE_SOURCE_H

#include "join/join_tables.h"
#include "store/store.h"

#define SS_MOST_PARTS 256u

typedef struct ss_store_source {
    const sstore *store; /* borrowed */
    uint32_t part_count;
    bool is_plain;       /* one segment: its blocks are the parts */
    uint64_t *blocks;    /* of the largest segment: part_count + 1 bounds */
    uint64_t *firsts;    /* the least fingerprint that a part may have */
    bool keeps;          /* parts that were read stay in memory */
    struct ss_kept_part *kept; /* one a part */
} ss_store_source;

/* All fingerprints are kept in memory, once they were read, if they take at most `most_kept_bytes`. MEMORY. */
sstore_status ss_store_source_open(ss_store_source *source, const sstore *store, uint64_t most_kept_bytes,
                                   sstore_error *error);
/* Also of a zeroed one. */
void ss_store_source_close(ss_store_source *source);

/* As a join takes it; the store source must stay where it is. */
ss_fingerprint_source ss_store_source_fingerprints(ss_store_source *source);

/* The bytes that are kept, or will be. */
uint64_t ss_store_source_kept_bytes(const ss_store_source *source);

/* The bytes that reading it on so many threads takes, about. */
uint64_t ss_store_source_bytes(const sstore *store, uint32_t threads);

#endif
