/*
 * key_index.h - looks up block keys. The keys stay in the directory; beside them the index holds, for every value of
 * their leading bits, where keys with it begin: one small table in the cache, one line of keys, and a few steps
 * between, however the keys are spread.
 */
#ifndef SS_KEY_INDEX_H
#define SS_KEY_INDEX_H

#include "file/directory.h"

typedef struct ss_key_index {
    ss_array keys;    /* ascending; owned, its chunks are the directory's */
    uint32_t shift;   /* a key's bucket is key >> shift */
    uint64_t last;    /* the highest key; 0 if there is none */
    uint32_t *begins; /* begins[b] .. begins[b + 1] - 1 are the keys of bucket b */
} ss_key_index;

/* Make an index of ascending keys, which it takes over also where it fails. About a byte a key. MEMORY. */
sstore_status ss_key_index_init(ss_key_index *index, ss_array *keys, sstore_error *error);
/* Also of a zeroed index. */
void ss_key_index_free(ss_key_index *index);

/* The bytes that an index of so many keys takes at most, beside the directory. */
uint64_t ss_key_index_bytes(uint64_t key_count);

/* Bring what a look-up of `target` reads first into the cache. */
static inline void ss_key_index_prefetch(const ss_key_index *index, uint64_t target)
{
    uint64_t first = target <= index->last ? index->begins[target >> index->shift] : index->keys.count;
    if (first < index->keys.count)
        __builtin_prefetch(index->keys.chunks[first / SS_CHUNK_KEYS] + 8 * (first % SS_CHUNK_KEYS));
}

/* How far into a block `target` is, of 0 to 1: where block keys and what they are keys of are spread evenly. `number` is that of the
 * block, whose key is at or above it. */
static inline double ss_key_index_share(const ss_key_index *index, uint64_t number, uint64_t target)
{
    const uint64_t key = ss_array_at(&index->keys, number), before = number > 0 ? ss_array_at(&index->keys, number - 1) : 0;
    return key > before && target > before ? (double)(target - before) / (double)(key - before) : 0;
}

/* The first key at or above `target`; keys.count if there is none. */
uint64_t ss_key_index_find(const ss_key_index *index, uint64_t target);

#endif
