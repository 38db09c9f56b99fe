/*
 * build_worker.h - what one thread of a build holds: a piece of sorted items, and what is made of it.
 */
#ifndef SS_BUILD_WORKER_H
#define SS_BUILD_WORKER_H

#include "build/ids_writer.h"
#include "build/piece_source.h"
#include "build/table_writer.h"
#include "plan/skew.h"

typedef struct ss_build_worker {
    bool with_ids;
    void *scratch;          /* of sorting */
    sstore_record *records; /* the piece, with ids */
    size_t record_count;
    size_t distinct_count;  /* of its fingerprints, which are table.values[table.margin ...] */
    ss_table_piece table;
    ss_ids_piece ids;       /* with ids */
    ss_table_counts counts; /* of all pieces that were counted */
    ss_u128 content_sum;
    uint64_t counted_records;
    ss_sampler sampler;     /* fingerprints NULL: no sample is wanted */
} ss_build_worker;

/* Room for pieces of up to `capacity` items. MEMORY. */
sstore_status ss_build_worker_open(ss_build_worker *worker, bool with_ids, uint32_t block_bytes, size_t capacity,
                                   sstore_error *error);
/* Also of a zeroed one. */
void ss_build_worker_close(ss_build_worker *worker);

/* The bytes that it takes, but for a sample. */
uint64_t ss_build_worker_bytes(bool with_ids, uint32_t block_bytes, size_t capacity);

/* Load a piece. */
sstore_status ss_build_worker_load(ss_build_worker *worker, const ss_piece_source *source, size_t piece,
                                   sstore_error *error);

/* The piece's distinct fingerprints, ascending. */
static inline uint64_t *ss_build_worker_values(const ss_build_worker *worker)
{
    return worker->table.values + worker->table.margin;
}

/* How a build shares out the memory that it may take. */
typedef struct ss_build_memory {
    uint32_t threads;      /* as many as were asked for, unless each would have too little */
    size_t piece_capacity; /* items that a thread sorts and encodes at once */
    uint64_t sorter_bytes; /* for items that wait in memory */
} ss_build_memory;

/* Share out `memory_bytes`, all in all, process included, among up to `threads` threads. Below 32 MiB more is taken. */
ss_build_memory ss_build_memory_share(uint64_t memory_bytes, uint32_t threads, bool with_ids, uint32_t block_bytes);

/* The room that pieces need where there are `count` items in all. */
static inline size_t ss_piece_capacity(size_t most, uint64_t count)
{
    return (size_t)ss_min_u64(most, ss_max_u64(count, 1));
}

#endif
