/*
 * pair_list.h - lists of pairs of fingerprints. Finds the near pairs by comparing all, and the components that pairs
 * connect. Also makes sets of fingerprints that are hard to join.
 */
#ifndef SUPPORT_PAIR_LIST_H
#define SUPPORT_PAIR_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/data.h"

/* Pairs that grow; zeroed is empty. Freed with pair_list_free(). */
typedef struct pair_list {
    uint64_t (*items)[2];
    size_t count, capacity;
} pair_list;

void pair_list_add(pair_list *list, uint64_t first, uint64_t second);
/* Add the pairs of another list, which is emptied. */
void pair_list_move(pair_list *list, pair_list *from);
void pair_list_sort(pair_list *list);
void pair_list_free(pair_list *list);
/* Whether two sorted lists are equal; says where they first differ. */
bool pair_list_equal(const pair_list *got, const pair_list *wanted);

/* Append every pair of different values within the distance, the lower one first, or of a left and a right one: in
 * order. */
void pair_list_self(const uint64_t *values, size_t count, uint32_t distance, pair_list *out);
void pair_list_cross(const uint64_t *left, size_t left_count, const uint64_t *right, size_t right_count,
                     uint32_t distance, pair_list *out);

/* Each value that occurs in a pair with the smallest one that pairs connect it with, sorted. */
void pair_list_roots(const pair_list *edges, pair_list *out);
/* As pair_list_roots(), of all pairs that pair_list_self() finds, without a list of them. */
void pair_list_self_roots(const uint64_t *values, size_t count, uint32_t distance, pair_list *out);

/* Distinct fingerprints: of the kinds of data.h, and such as are hard to join. Sorted. */
#define VALUES_FEW_BITS (DATA_KIND_COUNT)        /* they vary in about twice as many bits as it takes to number them */
#define VALUES_EQUAL_BLOCK (DATA_KIND_COUNT + 1) /* the upper half is the same, or nearly */
#define VALUES_OUTLIERS (DATA_KIND_COUNT + 2)    /* few bits vary in all but a few, which vary in any one to four */
#define VALUES_KIND_COUNT (DATA_KIND_COUNT + 3)
typedef struct value_list {
    uint64_t *items;
    size_t count;
} value_list;

/* About `count` values of a kind. Freed with value_list_free(). */
value_list value_list_make(rng *random, uint32_t kind, size_t count);
void value_list_free(value_list *list);

#endif
