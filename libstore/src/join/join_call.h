/* join_call.h - what the calls that join have in common. */
#ifndef SS_JOIN_CALL_H
#define SS_JOIN_CALL_H

#include "base/file.h"
#include "base/tasks.h"
#include "join/table_join.h"
#include "sort/radix.h"
#include "sort/sorter.h"
#include "store/record_iterator.h"
#include "store/store.h"

/* ===== sorted stage ===== */

/* Items that one step of a join leaves for the next: sorted within a memory of their own. */

typedef struct ss_sort_stage {
    uint32_t item_words;
    size_t piece_capacity;
    ss_chunk_pool pool;
    ss_sorter *sorter;
} ss_sort_stage;

/* For items of 1 to 3 words from up to `threads` writers, which take `memory_bytes`. MEMORY. */
sstore_status ss_sort_stage_open(ss_sort_stage *stage, uint32_t item_words, uint32_t threads, uint64_t memory_bytes,
                                 size_t piece_capacity, const ss_dir *tmp_dir, sstore_error *error);
/* Also of a zeroed one, or of one that could not be opened. */
void ss_sort_stage_close(ss_sort_stage *stage);

/* All items are there. MEMORY, IO, STOPPED. */
sstore_status ss_sort_stage_finish(ss_sort_stage *stage, ss_progress *progress, sstore_error *error);

/* Room for a piece and for sorting it. */
typedef struct ss_piece_room {
    void *items, *scratch;
    size_t count; /* of the items that were loaded */
} ss_piece_room;

/* MEMORY. */
sstore_status ss_piece_room_open(ss_piece_room *room, const ss_sort_stage *stage, sstore_error *error);
/* Also of a zeroed one. */
void ss_piece_room_close(ss_piece_room *room);
/* Load a piece of a sealed stage. IO. */
sstore_status ss_piece_room_load(ss_piece_room *room, const ss_sort_stage *stage, size_t piece, sstore_error *error);

/* ===== lookup in ascending order ===== */

/* The records of ascending fingerprints, wherever they lie in a store. */

typedef struct ss_ordered_lookup {
    ss_merge_iterator records;
    sstore_record next; /* the record that the walk stands before */
    bool more;          /* there is one */
} ss_ordered_lookup;

/* MEMORY. The walk stands nowhere yet. */
sstore_status ss_ordered_lookup_open(ss_ordered_lookup *lookup, const sstore *store, sstore_error *error);
/* Also of a zeroed one. */
void ss_ordered_lookup_close(ss_ordered_lookup *lookup);

/* Stand before the first record whose fingerprint is at least this, anywhere. IO, DAMAGED. */
sstore_status ss_ordered_lookup_begin(ss_ordered_lookup *lookup, uint64_t fingerprint, sstore_error *error);
/* The same further on; not back. */
sstore_status ss_ordered_lookup_to(ss_ordered_lookup *lookup, uint64_t fingerprint, sstore_error *error);
/* Step over a record. */
sstore_status ss_ordered_lookup_step(ss_ordered_lookup *lookup, sstore_error *error);

/* Pass by records behind the next one, of which each is its fingerprint's only one in the store, if it has one segment. Returns how
 * many. */
static inline uint32_t ss_ordered_lookup_pass_singles(ss_ordered_lookup *lookup)
{
    return lookup->records.input_count == 1 ? ss_segment_iterator_pass_singles(&lookup->records.inputs[0].iterator) : 0;
}

/* Whether the walk stands before a record of the fingerprint. */
static inline bool ss_ordered_lookup_at(const ss_ordered_lookup *lookup, uint64_t fingerprint)
{
    return lookup->more && lookup->next.fingerprint == fingerprint;
}

/* ===== call ===== */

/* What one call that joins has of its caller, and how it shares out the memory that it may take. */

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

/* ===== fingerprints of a store ===== */

/* The distinct fingerprints of a store, in parts that several threads read at once. */

#define SS_MAX_PARTS 256u

typedef struct ss_store_fingerprints {
    const sstore *store; /* borrowed */
    uint32_t part_count;
    bool is_plain;       /* one segment: its blocks are the parts */
    uint64_t *blocks;    /* of the largest segment: part_count + 1 bounds */
    uint64_t *firsts;    /* the least fingerprint that a part may have */
    bool keeps;          /* parts that were read stay in memory */
    struct ss_retained_part *kept; /* one a part */
} ss_store_fingerprints;

/* All fingerprints are kept in memory, once they were read, if they take at most `max_kept_bytes`. MEMORY. */
sstore_status ss_store_fingerprints_open(ss_store_fingerprints *source, const sstore *store, uint64_t max_kept_bytes,
                                   sstore_error *error);
/* Also of a zeroed one. */
void ss_store_fingerprints_close(ss_store_fingerprints *source);

/* As a join takes it; the store source must stay where it is. */
ss_fingerprint_parts ss_store_fingerprints_parts(ss_store_fingerprints *source);

/* The bytes that are kept, or will be. */
uint64_t ss_store_fingerprints_kept_bytes(const ss_store_fingerprints *source);

#endif
