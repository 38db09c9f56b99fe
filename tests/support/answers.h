/*
 * answers.h - a set of records, queries, and their correct answers. Each answer is computed once, by looking at every
 * record, and then compared with those of many stores.
 */
#ifndef SUPPORT_ANSWERS_H
#define SUPPORT_ANSWERS_H

#include "support/data.h"
#include "support/record_set.h"

#define SUBJECT_QUERIES 40u
#define SUBJECT_DISTANCES (SSTORE_MAX_DISTANCE + 1u)

/* The answers at one distance: sorted, each query's under the number 0. Only those of the first queries are there if
 * they have very many matches together. */
typedef struct answers {
    size_t count; /* of queries */
    matches all;  /* those of query q are numbers begins[q] to begins[q + 1] - 1 */
    size_t begins[SUBJECT_QUERIES + 1];
} answers;

typedef struct subject {
    char words[128]; /* what records these are, with the seed */
    rng random;
    data_set data;
    record_set truth;
    uint64_t queries[SUBJECT_QUERIES];
    answers *at[SUBJECT_DISTANCES];
} subject;

/* Make records as data_make() does, with repeats. The caller may change them, and the words, before subject_begin(). */
void subject_make(subject *self, uint64_t seed, data_kind kind, data_ids ids, size_t count);
/* Make the truth, and queries: some for records themselves, most near to them, some far. These may be changed until
 * the first of their answers is asked for. */
void subject_begin(subject *self);
void subject_end(subject *self);

/* The answers at a distance; the subject keeps them. */
const answers *subject_answers(subject *self, uint32_t distance);

/* Append a query's answer, as that of number `as`. The query is below from->count. */
void answers_copy(const answers *from, size_t query, uint64_t as, matches *to);
/* How many distinct fingerprints the answer has. */
size_t answers_fingerprints(const answers *from, size_t query);

#endif
