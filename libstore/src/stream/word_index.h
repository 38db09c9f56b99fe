/*
 * word_index.h - a static index of 64-bit words in memory, searched by distance: the part of a memory index
 * (memory_index.h) that finds candidates by one word of their fingerprints. It finds all words within the distance,
 * each once.
 *
 * The 64 bits, or the leading ones, are cut into equal bit groups, and the key of each table is the first `key_bits` of
 * one group. A table has the words ordered by key, and the place where each key begins: a probe takes two reads. The
 * tables are those of a disjoint plan (plan/plan.h): table j is probed with every key within radius[j] flips, and
 * counts only the words whose error pattern no table before it covers. So each is found once, without remembering
 * matches.
 *
 * Some dozens of probes are looked up together, stage by stage. Each stage prefetches the memory that the next one
 * reads.
 */
#ifndef SS_WORD_INDEX_H
#define SS_WORD_INDEX_H

#include "codec/kernels.h"
#include "plan/plan.h"

#define SS_WORD_INDEX_MAX_DISTANCE 16u
#define SS_WORD_INDEX_MAX_TABLES (SS_WORD_INDEX_MAX_DISTANCE + 1)

typedef struct ss_word_table {
    uint32_t shift;         /* of the key's last bit, counted from the least significant one */
    uint32_t flip_count;    /* how many of flips[], from the first on, a key is probed with */
    uint32_t *begins;       /* of each key's values, and one more */
    const uint64_t *values; /* ascending by key; of table 0 altogether */
} ss_word_table;

/* The tables that are chosen for an index. */
typedef struct ss_word_layout {
    uint32_t width; /* of the leading bits that are cut into bit groups */
    uint32_t table_count, key_bits;
    double search_ns; /* about the nanoseconds of a search, if the values are uniform */
} ss_word_layout;

/* Choose the number of tables and the length of their keys for an index of `count` values and searches within
 * `distance`: try all. Keys are in the `width` leading bits. */
ss_word_layout ss_word_choose_layout(uint32_t width, uint32_t count, uint32_t distance);

/* About the nanoseconds of a search if the values are skewed. `differences`: the bits in which two values differ, for a
 * sample of pairs. */
double ss_word_skewed_ns(const ss_word_layout *layout, uint32_t count, uint32_t distance, const uint64_t *differences,
                         size_t difference_count);

/* Immutable once it is open: any number of threads may search it. */
typedef struct ss_word_index {
    uint32_t count, distance, key_bits;
    ss_plan plan; /* the tables' masks and radii */
    int32_t radii[SS_WORD_INDEX_MAX_TABLES];
    ss_word_table tables[SS_WORD_INDEX_MAX_TABLES];
    uint64_t *copies[SS_WORD_INDEX_MAX_TABLES]; /* their values; NULL: of table 0, whose values are the caller's */
    uint32_t *flips; /* all masks of key_bits bits that any table is probed with, those with fewer ones first */
    uint32_t flip_count;
    const ss_kernels *kernels;
} ss_word_index;

/*
 * Open an index of `count` distinct values in ascending order, for searches within `distance` (0 to
 * SS_WORD_INDEX_MAX_DISTANCE). Keys are in the `width` leading bits: all 64, unless the others hardly tell anything.
 * `values` stays the caller's, and must not change before the index is closed. Tables are built on up to `threads`
 * threads (0: all). Close the index also after a failure. MEMORY.
 */
sstore_status ss_word_index_open(ss_word_index *index, const uint64_t *values, uint32_t count, uint32_t width,
                                 uint32_t distance, uint32_t threads, sstore_error *error);
/* A zeroed one, and one that could not be opened, are allowed. */
void ss_word_index_close(ss_word_index *index);

/* The fingerprint at `found`, in the index's memory, is within the distance of the searched fingerprint `number`. Any
 * status but SSTORE_OK ends the search, which returns it. */
typedef sstore_status (*ss_memory_hit_fn)(void *context, uint32_t number, const uint64_t *found, sstore_error *error);

/* Scratch memory of one thread. Both arrays have a value for each word of a search. */
typedef struct ss_word_order {
    uint64_t *values;
    uint32_t *numbers;
} ss_word_order;

/* Report all values that are within `distance`, at most the index's own, of each of `count` words, in any order.
 * Without `order` (NULL) the words are looked up as they come, which is slower for many. */
sstore_status ss_word_index_search(const ss_word_index *index, const uint64_t *words, uint32_t count, uint32_t distance,
                                   ss_word_order *order, ss_memory_hit_fn on_hit, void *context, sstore_error *error);

/* How many of the index's values are below `value`. */
uint32_t ss_word_index_rank(const ss_word_index *index, uint64_t value);

/* The bytes of its tables: for each table and value 8, but not of table 0, and up to 8 for the places of keys. */
uint64_t ss_word_index_bytes(const ss_word_index *index);

#endif
