/*
 * record_set.h - records of fingerprints of 1 to 16 words, as the truth that a store is compared with, and the right
 * answers, found by looking at every record.
 */
#ifndef SUPPORT_RECORD_SET_H
#define SUPPORT_RECORD_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/data.h"
#include "support/found_matches.h"

/* Records that grow, as columns, as the library takes them. Zeroed is empty, of 64-bit fingerprints. Freed with
 * record_set_free(). */
typedef struct record_set {
    uint32_t words; /* of a fingerprint; 0 is 1 */
    size_t count, capacity;
    uint64_t *fingerprints, *ids;
} record_set;

/* An empty one, whose columns are not NULL. */
record_set record_set_new(uint32_t words);
void record_set_put(record_set *set, const uint64_t *fingerprint, uint64_t id);
/* Append records of another set, from `begin` to `end`. */
void record_set_append(record_set *set, const record_set *from, size_t begin, size_t end);
/* Records from `begin` to `end` as a set that must not be changed or freed. */
record_set record_set_part(const record_set *set, size_t begin, size_t end);
void record_set_free(record_set *set);

const uint64_t *record_set_at(const record_set *set, size_t index);
/* Whether two records have equal fingerprints. */
bool record_set_alike(const record_set *set, size_t i, size_t j);
/* Below 0, 0 or above 0, by (fingerprint, id). */
int record_set_compare(const record_set *set, size_t i, const record_set *other, size_t j);

/* Sort by (fingerprint, id). */
void record_set_sort(record_set *set);
/* Drop repeats from a sorted set. */
void record_set_unique(record_set *set);
/* Whether a sorted set has the record. */
bool record_set_has(const record_set *set, const uint64_t *fingerprint, uint64_t id);
bool record_set_equal(const record_set *left, const record_set *right);
/* Fail unless they are equal. */
void record_set_assert_equal(const record_set *got, const record_set *wanted);
/* Of a sorted set. */
size_t record_set_count_distinct(const record_set *set);

/* What a store of these data holds: sorted, each once. */
record_set record_set_of_data(const data_set *data);

/* Records of a form. Some ids are large, some equal. */
record_set record_set_make(rng *random, const fingerprint_form *form, size_t count);
/* Put the records in another order. */
void record_set_shuffle(rng *random, record_set *set);

/* ----- right answers ----- */

/* Append what a query of a sorted set must find, sorted, under `query_index`; or only the nearest records. */
void record_set_query(const record_set *set, const uint64_t *query, uint32_t distance, uint64_t query_index,
                      matches *out);
void record_set_nearest(const record_set *set, const uint64_t *query, uint32_t max_distance, matches *out);

/* The number of ones. __builtin_popcountll() would be a call, since the tests run on any processor. */
static inline uint32_t count_ones(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

uint32_t fingerprint_distance(const uint64_t *a, const uint64_t *b, uint32_t words);

#endif
