/*
 * row_index.h - a static index of fingerprints of several words in memory, searched by distance. It finds all that are
 * within the distance, each once.
 *
 * The distance is divided among the words (plan/radii.h), and each word has an index of its own (memory_index.h) for
 * its radius. A fingerprint whose word it finds is a candidate. It counts only in the first word that covers its error
 * pattern, and only if the whole fingerprint is within the distance.
 *
 * Words of real fingerprints are skewed or even constant, and then have many candidates. A sample of the fingerprints
 * shows how many, so such a word gets a small radius, or none. If even the best radii are expected to take longer than
 * testing all fingerprints, that is what a search does, and no word has an index.
 */
#ifndef SS_ROW_INDEX_H
#define SS_ROW_INDEX_H

#include "stream/memory_index.h"

/* The index of one word. Its values are the distinct words. Bits that are the same in almost all words would not tell
 * anything as keys, so the others are moved to the front. */
typedef struct ss_row_word {
    uint32_t width;             /* of the moved bits; 64: the words are as they are */
    ss_permutation permutation; /* unless it is 64 */
    ss_fingerprint_index index;
    uint32_t *begins;  /* where the rows of each value begin in `numbers`, and one more; NULL: each has one */
    uint32_t *numbers; /* of the rows, in the order of their words */
} ss_row_word;

/* Immutable once it is open: any number of threads may search it. */
typedef struct ss_row_index {
    uint32_t count, words, distance;
    uint64_t *rows;                  /* the fingerprints, numbered from 0 */
    bool is_scanned;                 /* a search tests all rows */
    int32_t radii[SSTORE_MAX_WORDS]; /* unless it does */
    ss_row_word *of_words;           /* one a word; those without a radius are empty */
    const ss_kernels *kernels;
} ss_row_index;

/*
 * Open an index of `count` distinct fingerprints of `words` words, in any order, for searches within `distance`, at
 * most SSTORE_MAX_BUILD_DISTANCE a word. `rows` comes from ss_realloc(); the index owns it from now on, also after a
 * failure. Tables are built on up to `threads` threads (0: all). Close the index also after a failure. MEMORY.
 */
sstore_status ss_row_index_open(ss_row_index *index, uint64_t *rows, uint32_t count, uint32_t words, uint32_t distance,
                                uint32_t threads, sstore_error *error);
/* A zeroed one, and one that could not be opened, are allowed. */
void ss_row_index_close(ss_row_index *index);

/* The row is at that distance, within the index's own, of the searched fingerprint `number`. Any status but SSTORE_OK
 * ends the search, which returns it. */
typedef sstore_status (*ss_row_index_hit_fn)(void *context, uint32_t number, uint32_t row, uint32_t distance,
                                             sstore_error *error);

/* Scratch memory of one thread. The arrays have a value for each fingerprint of a search. */
typedef struct ss_row_scratch {
    ss_index_order order;
    uint64_t *words;
} ss_row_scratch;

/* Report all rows that are within the distance of each of `count` fingerprints, in any order. If there is only one
 * fingerprint, `scratch` may be NULL. */
sstore_status ss_row_index_search(const ss_row_index *index, const uint64_t *fingerprints, uint32_t count,
                                  ss_row_scratch *scratch, ss_row_index_hit_fn on_hit, void *context,
                                  sstore_error *error);

static inline const uint64_t *ss_row_index_row(const ss_row_index *index, uint32_t number)
{
    return index->rows + (size_t)number * index->words;
}

/* Its size in bytes: of the fingerprints, and for each word with a radius 4 or 8 a fingerprint, and its index. */
uint64_t ss_row_index_bytes(const ss_row_index *index);

#endif
