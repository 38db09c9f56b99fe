/*
 * build_memory.h - how a build shares out the memory that it may take.
 */
#ifndef SS_BUILD_MEMORY_H
#define SS_BUILD_MEMORY_H

#include "codec/block.h"

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
