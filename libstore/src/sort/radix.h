/*
 * radix.h - sorting 64-bit keys, records, triples and rows of more words in memory, fastest if items and scratch fit
 * into a cache.
 *
 * A level is two passes of counting sort. They sort by the bits just below those that all items have in common: three
 * more bits than it takes to number the items. Few items are then equal in these bits, and such runs are sorted in the
 * same way, or by insertion. So evenly spread keys take two passes, and each level takes linear time for any data.
 *
 * Rows are large, so they are moved once: (word, index) pairs are sorted in their place, by one word after the other.
 */
#ifndef SS_RADIX_H
#define SS_RADIX_H

#include "base/common.h"

/* Sort ascending. `scratch` has the same size; its contents are undefined afterwards. */
void ss_sort_keys(uint64_t *items, uint64_t *scratch, size_t count);

/* Sort ascending by (fingerprint, id). */
void ss_sort_records(ss_record *items, ss_record *scratch, size_t count);

typedef struct ss_triple {
    uint64_t first, second, third;
} ss_triple;

/* Sort ascending by (first, second, third). */
void ss_sort_triples(ss_triple *items, ss_triple *scratch, size_t count);

/* Of a row, and of an item that a sorter takes: the words of two of the widest fingerprints, and an id. */
#define SS_MAX_ITEM_WORDS 33u

/* Sort rows of `words` words, 4 to SS_MAX_ITEM_WORDS, ascending by (first word, second word, ...). They are one after
 * the other in an array. Also linear in the words, for any data. */
void ss_sort_rows(uint64_t *rows, uint64_t *scratch, size_t count, uint32_t words);

/* Sort pairs, whose ids are the indices of rows, by their rows. The rows are not moved; the fingerprints of the pairs
 * are undefined before and afterwards. */
void ss_order_rows(const uint64_t *rows, uint32_t words, ss_record *pairs, ss_record *scratch, size_t count);

/* Sort items of 1 to SS_MAX_ITEM_WORDS words, one after the other in an array, ascending by their words, and keep equal
 * ones once. Returns how many are left. */
size_t ss_sort_unique_items(void *items, void *scratch, size_t count, uint32_t words);

#endif
