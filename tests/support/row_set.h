/*
 * row_set.h - records of fingerprints of several words: sets of them, as the truth that a store is compared with, and
 * fingerprints that are skewed as real ones are.
 */
#ifndef SUPPORT_ROW_SET_H
#define SUPPORT_ROW_SET_H

#include "sstore.h"
#include "support/random.h"

/* A record. The words behind those of a fingerprint are 0. */
typedef struct row {
    uint64_t words[SSTORE_MAX_WORDS], id;
} row;

/* Records that grow; zeroed is empty. Free `rows` with free(). */
typedef struct row_set {
    size_t count, capacity;
    row *rows;
} row_set;

void row_set_put(row_set *set, const row *added);
/* Sort by (fingerprint, id), and keep each record once. */
void row_set_sort(row_set *set);

/* Below 0, 0 or above 0; rows_compare() is for qsort(). */
int row_words_compare(const uint64_t *a, const uint64_t *b);
int rows_compare(const void *left, const void *right);
uint32_t row_distance(const uint64_t *a, const uint64_t *b);

/* ----- as the library takes them ----- */

typedef struct row_columns {
    uint64_t *fingerprints, *ids;
} row_columns;

row_columns row_columns_of(const row_set *set, uint32_t words);
void row_columns_free(row_columns *columns);

/* ----- making them ----- */

/* How a word is made. */
typedef enum word_kind { WORD_UNIFORM, WORD_CONSTANT, WORD_FEW, WORD_SPARSE, WORD_COPY, WORD_KIND_COUNT } word_kind;

typedef struct row_maker {
    uint32_t words, distance;
    word_kind kinds[SSTORE_MAX_WORDS];
} row_maker;

/* Make words of any kinds. */
row_maker row_maker_any(rng *random, uint32_t words, uint32_t distance);

/* A new fingerprint, one about as far as the distance from one of the set, or one of the set; the id is 0. */
row row_make(rng *random, const row_maker *maker, const row_set *among);

/* Flip up to `flips` bits. */
void row_flip(rng *random, const row_maker *maker, row *changed, uint64_t flips);

#endif
