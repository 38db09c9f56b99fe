/*
 * found_matches.h - lists of matches of fingerprints of 1 to 16 words: those that a call reported, and the right
 * ones.
 */
#ifndef SUPPORT_FOUND_MATCHES_H
#define SUPPORT_FOUND_MATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"

/*
 * Matches that grow; zeroed is an empty list of matches of 64-bit fingerprints. A match is several numbers, in the
 * order in which matches are sorted: its query, distance, fingerprint and id. A query is its index or, in results of
 * streams, its fingerprint. Freed with matches_free().
 */
typedef struct matches {
    uint32_t words, query_words; /* of a fingerprint and of a query; 0 is 1 */
    size_t count, capacity;
    uint64_t *numbers;
} matches;

void matches_put(matches *list, const uint64_t *query, uint32_t distance, const uint64_t *fingerprint, uint64_t id);
/* What a call reports. */
void matches_add(matches *list, const sstore_match *match);
/* Its fingerprint is in the list. */
sstore_match matches_get(const matches *list, size_t index);
/* `count` matches from `begin` on, as a list that must not be changed or freed. */
matches matches_part(const matches *list, size_t begin, size_t count);
/* Append all matches of another list. */
void matches_append(matches *list, const matches *added);
/* Matches from `begin` on become those of another query. */
void matches_set_query(matches *list, size_t begin, uint64_t query);

void matches_sort(matches *list);
/* Sort those from `begin` on. */
void matches_sort_from(matches *list, size_t begin);
/* Drop repeats from sorted matches. */
void matches_unique(matches *list);
void matches_free(matches *list);

/* Whether match i of one list differs from match j of another one. */
bool matches_differ(const matches *list, size_t i, const matches *other, size_t j);
/* Whether two lists are equal, in this order; says where they first differ. */
bool matches_equal(const matches *got, const matches *wanted);
/* Fail unless they are. `what` names the query. */
void matches_assert_equal(const matches *got, const matches *wanted, const char *what);
/* Whether each one of sorted `got` is in sorted `wanted`, none twice; says which is not. */
bool matches_within(const matches *got, const matches *wanted);

#endif
