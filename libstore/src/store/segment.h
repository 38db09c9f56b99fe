/* segment.h - an open segment. */
#ifndef SS_SEGMENT_H
#define SS_SEGMENT_H

#include <stdatomic.h>

#include "plan/cost.h"
#include "plan/plan.h"
#include "store/block_file.h"
#include "store/checked_block.h"
#include "store/directory.h"
#include "store/manifest.h"

/* ===== key index ===== */

/*
 * Looks up block keys. The keys stay in the directory; beside them the index holds, for every value of
 * their leading bits, where keys with it begin: one small table in the cache, one line of keys, and a few steps
 * between, however the keys are spread.
 */

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

/* ===== segment ===== */

/*
 * An open segment: its tables, id column and directory. Immutable; shared by cursors of all threads, and by
 * all handles of a store that have it.
 */

typedef struct ss_table {
    ss_block_reader blocks;
    ss_key_index keys; /* each block's last fingerprint, permuted */
    ss_permutation permutation;
    ss_code code;
    ss_checked_blocks checked; /* of its fingerprints */
} ss_table;

typedef struct ss_segment {
    atomic_uint reference_count; /* it is closed with the last one */
    ss_manifest_segment metadata;
    ss_directory *directory;
    uint32_t table_count; /* that are open */
    ss_table *tables;
    ss_array ranks;          /* the first rank of each block of table 0 */
    ss_block_reader ids;     /* in a store with ids, as ids_keys */
    ss_key_index ids_keys;   /* each block's last rank */
    ss_checked_blocks checked_ids;
    ss_cost_model costs;
} ss_segment;

typedef void (*ss_file_problem_fn)(void *context, const sstore_error *problem);

/* What a segment is opened for. */
typedef struct ss_segment_use {
    bool has_ids;      /* the store has */
    bool records_only; /* to read all records in order and nothing else: only table 0 and the ids, without the directory. It
                          takes two files and next to no memory */
    bool blocks_only;  /* to read all block files from end to end: without the directory */
    ss_file_problem_fn on_problem; /* with blocks_only: told of each block file that cannot be opened, which is then left
                                      out, with no block; NULL: one is enough to fail */
    void *context;                 /* of on_problem */
    sstore_io io;
    sstore_strategy strategy;
} ss_segment_use;

/* Open the segment that the manifest of the store in `store` knows by these facts. Errors as sstore_open(). */
sstore_status ss_segment_open(const ss_dir *store, const ss_manifest_segment *metadata, const ss_segment_use *use,
                              ss_segment **segment_out, sstore_error *error);

/* Hold it once more; returns it. From any thread. */
ss_segment *ss_segment_retain(ss_segment *segment);
/* Whoever opened or held it does not need it any more. NULL is allowed. */
void ss_segment_release(ss_segment *segment);

static inline bool ss_segment_removes(const ss_segment *segment)
{
    return segment->metadata.kind == SS_SEGMENT_REMOVED;
}

/* The bytes that table `number` takes in the directory, its keys and ranks. */
uint64_t ss_table_directory_bytes(const ss_segment *segment, uint32_t number);

#endif
