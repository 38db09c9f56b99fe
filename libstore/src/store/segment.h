/*
 * segment.h - an open segment: its tables, id column and directory. Immutable; shared by cursors of all threads, and by
 * all handles of a store that have it.
 */
#ifndef SS_SEGMENT_H
#define SS_SEGMENT_H

#include <stdatomic.h>

#include "file/block_reader.h"
#include "file/directory.h"
#include "file/manifest.h"
#include "plan/cost.h"
#include "plan/permute.h"
#include "store/block_source.h"
#include "store/key_index.h"

typedef struct ss_table {
    ss_block_reader blocks;
    ss_key_index keys; /* each block's last fingerprint, permuted */
    ss_permutation permutation;
    ss_code code;
    ss_block_source source; /* of its fingerprints */
} ss_table;

typedef struct ss_segment {
    atomic_uint holder_count; /* it is closed with the last one */
    ss_manifest_segment facts;
    ss_directory *directory;
    uint32_t table_count; /* that are open */
    ss_table *tables;
    ss_array ranks;          /* the first rank of each block of table 0 */
    ss_block_reader ids;     /* in a store with ids, as ids_keys */
    ss_key_index ids_keys;   /* each block's last rank */
    ss_block_source ids_source;
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
sstore_status ss_segment_open(const ss_dir *store, const ss_manifest_segment *facts, const ss_segment_use *use,
                              ss_segment **segment_out, sstore_error *error);

/* Hold it once more; returns it. From any thread. */
ss_segment *ss_segment_hold(ss_segment *segment);
/* Whoever opened or held it does not need it any more. NULL is allowed. */
void ss_segment_release(ss_segment *segment);

static inline bool ss_segment_removes(const ss_segment *segment)
{
    return segment->facts.kind == SS_SEGMENT_REMOVED;
}

/* The bytes that table `number` takes in the directory, its keys and ranks. */
uint64_t ss_table_directory_bytes(const ss_segment *segment, uint32_t number);

#endif
