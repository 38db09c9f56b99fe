/*
 * segment.h - an open segment: its tables, id column and directory, and the key indexes. Immutable, so that cursors of
 * all threads and all handles of a store share it; only codes are made ready to decode, and the radii for other
 * distances added, when a query first needs them. Opening checks the files as far as possible without reading blocks.
 */
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

/* Finds block keys. The keys stay in the directory. For each value of their leading bits, the index has the place where
 * its keys begin. So a lookup reads one entry of a small table and about one cache line of keys. */
typedef struct ss_key_index {
    ss_array keys;    /* ascending; owned, its chunks are the directory's */
    uint32_t shift;   /* a key's bucket is key >> shift */
    uint64_t last;    /* the highest key; 0 if there is none */
    uint32_t *begins; /* begins[b] .. begins[b + 1] - 1 are the keys of bucket b */
} ss_key_index;

/* Build an index of ascending keys, which it takes over even if it fails. It takes about a byte for each key.
 * MEMORY. */
sstore_status ss_key_index_init(ss_key_index *index, ss_array *keys, sstore_error *error);
/* Free; a zeroed index is allowed. */
void ss_key_index_free(ss_key_index *index);

/* The maximum size of an index of this many keys in bytes, without the directory. */
uint64_t ss_key_index_bytes(uint64_t key_count);

/* Prefetch the entry that a lookup of `target` reads first. */
static inline void ss_key_index_prefetch(const ss_key_index *index, uint64_t target)
{
    uint64_t first = target <= index->last ? index->begins[target >> index->shift] : index->keys.count;
    if (first < index->keys.count)
        __builtin_prefetch(index->keys.chunks[first / SS_CHUNK_KEYS] + 8 * (first % SS_CHUNK_KEYS));
}

/* Estimate the position of `target` in block `number`, from 0 to 1. The block's key is at least `target`. */
static inline double ss_key_index_fraction(const ss_key_index *index, uint64_t number, uint64_t target)
{
    const uint64_t key = ss_array_at(&index->keys, number);
    const uint64_t before = number > 0 ? ss_array_at(&index->keys, number - 1) : 0;
    return key > before && target > before ? (double)(target - before) / (double)(key - before) : 0;
}

/* The number of the first key that is at least `target`; keys.count if there is none. */
uint64_t ss_key_index_find(const ss_key_index *index, uint64_t target);

/* ===== segment ===== */

/* The state of the plan for queries at a distance. It never changes once it is SS_PLANNED or SS_SCANNED. */
typedef enum ss_planning {
    SS_NOT_PLANNED,
    SS_BEING_PLANNED, /* a thread is setting the radii */
    SS_PLANNED,       /* its radii are known */
    SS_SCANNED        /* there are no radii: all of table 0 is read */
} ss_planning;

typedef struct ss_table {
    ss_block_reader blocks;
    ss_key_index keys; /* each block's last fingerprint, permuted */
    ss_permutation permutation;
    ss_code code;
    ss_checked_blocks checked;                    /* of its fingerprints */
    int16_t query_radii[SS_FINGERPRINT_BITS + 1]; /* at each distance that is SS_PLANNED */
} ss_table; /* of whole fingerprints: without permutation and code; its keys are their first words */

typedef struct ss_segment {
    atomic_uint reference_count;
    ss_manifest_segment metadata; /* without the indexes */
    uint32_t index_count;
    struct ss_segment **indexes; /* the word indexes, one a word; owned. Table 0 then holds whole fingerprints. Only
                                    with ss_segment_use.on_problem: NULL for one that cannot be opened */
    struct ss_segment *id_index; /* owned; NULL: there is none, or as above. So is the next one */
    struct ss_segment *names;
    ss_directory *directory;
    uint32_t table_count; /* open ones */
    ss_table *tables;
    ss_array ranks;        /* the first rank of each block of table 0 */
    ss_block_reader ids;   /* like ids_keys, only in a store with ids; of a name part, its column */
    ss_key_index ids_keys; /* each block's last rank; of names, last id */
    ss_checked_blocks checked_ids;
    ss_key_index numbers;    /* of names: the number of each block's first one */
    ss_fragments *fragments; /* of names; else NULL */
    ss_cost_model costs;
    atomic_int filler;                             /* of a table's code: checked_block.h */
    atomic_uchar planned[SS_FINGERPRINT_BITS + 1]; /* an ss_planning for each distance of queries */
} ss_segment;

typedef void (*ss_file_problem_fn)(void *context, const sstore_error *problem);

/* How to open a segment. */
typedef struct ss_segment_use {
    bool records_only;  /* only table 0 and the ids, or the names without their index, to read all in order with few
                           files and little memory */
    bool blocks_only;   /* only the block files, without the directory; one that is missing is DAMAGED */
    bool without_words; /* no word indexes */
    ss_file_problem_fn on_problem; /* with blocks_only: reports each block file that cannot be opened, which then has no
                                      blocks, and each folder of an index; NULL: opening fails */
    void *context;                 /* of on_problem */
    sstore_io io;                  /* not AUTO */
    sstore_strategy strategy;
    bool few_files; /* set for indexes, which have many files: the small ones do not stay open */
} ss_segment_use;

/* Open a segment of the store in `store`, described by its part of the manifest. Errors as sstore_open(). */
sstore_status ss_segment_open(const ss_dir *store, const ss_manifest_segment *metadata, const ss_segment_use *use,
                              ss_segment **segment_out, sstore_error *error);

/* Add a reference; returns the segment. From any thread. */
ss_segment *ss_segment_retain(ss_segment *segment);
/* Drop a reference; the last one closes the segment. NULL is allowed. */
void ss_segment_release(ss_segment *segment);

/* A part of a segment that is read and written like a segment: itself, or one of its indexes, by number. */
#define SS_NO_INDEX UINT32_MAX

/* Open an index of a segment, or the segment alone (SS_NO_INDEX); otherwise as ss_segment_open(). */
sstore_status ss_segment_open_part(const ss_dir *store, const ss_manifest_segment *metadata, uint32_t index,
                                   const ss_segment_use *use, ss_segment **segment_out, sstore_error *error);

/* Open a segment that is staged in `dir` to read its records only; otherwise as ss_segment_open(). */
sstore_status ss_segment_open_staged(const ss_dir *dir, const ss_manifest_segment *metadata, ss_segment **segment_out,
                                     sstore_error *error);

/* Open the folder of a segment, or of its index. Errors as ss_dir_open_at(). */
sstore_status ss_segment_dir_open(const ss_dir *store, const ss_manifest_segment *metadata, uint32_t index,
                                  ss_dir *dir_out, sstore_error *error);

/* Make and open the folder of an index in `dir`, that of its segment. Errors as ss_dir_make_at(), ss_dir_open_at(). */
sstore_status ss_index_dir_make(const ss_dir *dir, const ss_manifest_segment *segment, uint32_t index, ss_dir *dir_out,
                                sstore_error *error);

/* What the manifest says of a part. */
static inline ss_manifest_segment *ss_segment_part(ss_manifest_segment *segment, uint32_t index)
{
    return index == SS_NO_INDEX ? segment : &segment->indexes[index];
}

static inline bool ss_segment_removes(const ss_segment *segment)
{
    return segment->metadata.kind == SS_SEGMENT_REMOVES;
}

/* Its index of a word: a segment of one word is that itself. */
static inline const ss_segment *ss_segment_index(const ss_segment *segment, uint32_t word)
{
    return segment->metadata.words == 1 ? segment : segment->indexes[word];
}

/* The bytes of the keys and ranks of table `number` in the directory. */
uint64_t ss_table_directory_bytes(const ss_segment *segment, uint32_t number);

#endif
