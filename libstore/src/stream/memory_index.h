/*
 * memory_index.h - a static index of fingerprints of 1 to 16 words in memory, searched by distance: of the queries of a
 * stream matcher, and of the parts of a growing index (growing_index.h). It finds all that are within the distance,
 * each once.
 *
 * The distance is divided among the words (plan/radii.h), and each word has an index of its own (word_index.h) for its
 * radius. A fingerprint whose word it finds is a candidate. It counts only in the first word that covers its error
 * pattern, and only if the whole fingerprint is within the distance. The only word of a 64-bit fingerprint has the
 * whole distance, so all candidates count.
 *
 * Words of real fingerprints are skewed or even constant, and then have many candidates. A sample of the fingerprints
 * shows how many, so such a word gets a small radius, or none. If even the best radii are expected to take longer than
 * testing all fingerprints, that is what a search does, and no word has an index.
 */
#ifndef SS_MEMORY_INDEX_H
#define SS_MEMORY_INDEX_H

#include "stream/word_index.h"

/* The index of one word. Its values are the distinct words. Bits that are the same in almost all words would not tell
 * anything as keys, so the others are moved to the front. The only word of a fingerprint is in the rows already. */
typedef struct ss_indexed_word {
    uint32_t width;             /* of the moved bits; 64: the words are as they are */
    ss_permutation permutation; /* unless it is 64 */
    ss_word_index index;
    uint64_t *values;  /* of the index; NULL: the rows */
    uint32_t *begins;  /* where the rows of each value begin in `numbers`, and one more; NULL: each has one */
    uint32_t *numbers; /* of the rows, in the order of their words; NULL: as they are */
} ss_indexed_word;

/* Immutable once it is open: any number of threads may search it. */
typedef struct ss_memory_index {
    uint32_t count, words, distance;
    uint64_t *rows;                  /* the fingerprints, numbered from 0 */
    bool is_scanned;                 /* a search tests all rows */
    int32_t radii[SSTORE_MAX_WORDS]; /* unless it does */
    ss_indexed_word *indexed;        /* one a word; those without a radius are empty */
    const ss_kernels *kernels;
} ss_memory_index;

/*
 * Open an index of `count` distinct fingerprints of `words` words for searches within `distance`, at most
 * SSTORE_MAX_BUILD_DISTANCE a word. They may be in any order, but in ascending order if they have one word. `rows`
 * comes from ss_realloc(); the index owns it from now on, also after a failure. Tables are built on up to `threads`
 * threads (0: all). Close the index also after a failure. MEMORY.
 */
sstore_status ss_memory_index_open(ss_memory_index *index, uint64_t *rows, uint32_t count, uint32_t words,
                                   uint32_t distance, uint32_t threads, sstore_error *error);
/* A zeroed one, and one that could not be opened, are allowed. */
void ss_memory_index_close(ss_memory_index *index);

/* Scratch memory of one thread. */
typedef struct ss_memory_scratch {
    ss_word_order order;
    uint64_t *words; /* NULL if fingerprints have one */
} ss_memory_scratch;

/* Allocate scratch memory for searches of up to `count` fingerprints of `words` words. Close it also after a failure.
 * MEMORY. */
sstore_status ss_memory_scratch_open(ss_memory_scratch *scratch, uint32_t words, size_t count, sstore_error *error);
/* A zeroed one is allowed. */
void ss_memory_scratch_close(ss_memory_scratch *scratch);

/* Report all rows that are within `distance`, at most the index's own, of each of `count` fingerprints, in any order.
 * If there is only one fingerprint, `scratch` may be NULL. */
sstore_status ss_memory_index_search(const ss_memory_index *index, const uint64_t *fingerprints, uint32_t count,
                                     uint32_t distance, ss_memory_scratch *scratch, ss_memory_hit_fn on_hit,
                                     void *context, sstore_error *error);

static inline const uint64_t *ss_memory_index_row(const ss_memory_index *index, uint32_t number)
{
    return index->rows + (size_t)number * index->words;
}

/* The number of a row that a search found. */
uint32_t ss_memory_index_number(const ss_memory_index *index, const uint64_t *found);

/* Its size in bytes: of the fingerprints, and for each word with a radius 12 to 16 a fingerprint unless it is the only
 * one, and the tables of its index. */
uint64_t ss_memory_index_bytes(const ss_memory_index *index);

#endif
