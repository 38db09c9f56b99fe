/*
 * answers.h - a set of records, queries to ask of it, and their right answers as bytes, each made once and then compared with
 * many.
 */
#ifndef SUPPORT_ANSWERS_H
#define SUPPORT_ANSWERS_H

#include "support/data.h"
#include "support/oracle.h"

/* ----- matches as bytes ----- */

/* A match without padding. */
typedef struct row {
    uint64_t query, distance, fingerprint, id;
} row;

/* Rows that grow; zeroed is empty. Freed with rows_free(). */
typedef struct rows {
    row *items;
    size_t count, capacity;
} rows;

void rows_add(rows *list, row added);
void rows_free(rows *list);
/* Ascending by (query, distance, fingerprint, id). */
void rows_sort(rows *list);
bool rows_equal(const rows *a, const rows *b);
/* Fail unless they are equal, and say where they first differ. `what` was asked. */
void rows_assert_equal(const rows *got, const rows *wanted, const char *what);

/* Where rows_collect() puts matches; to their query's index it adds `first_query`. */
typedef struct rows_sink {
    rows *to;
    uint64_t first_query;
} rows_sink;

/* An sstore_match_fn; its context is a rows_sink. */
int rows_collect(void *context, const sstore_match *match);

/* ----- a set of records and what is asked of it ----- */

#define SUBJECT_QUERIES 40u
#define SUBJECT_DISTANCES (SSTORE_MAX_DISTANCE + 1u)

/* The answers at one distance: sorted, each query's under the number 0. Only those of the first queries are there if they
 * have very many matches together. */
typedef struct answers {
    size_t count; /* of queries */
    rows all;     /* those of query q are all.items[begins[q] .. begins[q + 1] - 1] */
    size_t begins[SUBJECT_QUERIES + 1];
} answers;

typedef struct subject {
    char words[128]; /* what records these are, with the seed */
    rng random;
    data_set data;
    oracle truth;
    uint64_t queries[SUBJECT_QUERIES];
    answers *at[SUBJECT_DISTANCES];
} subject;

/* Make records as data_make() does, with repeats. The caller may change them, and the words, before subject_begin(). */
void subject_make(subject *self, uint64_t seed, data_kind kind, data_ids ids, size_t count);
/* Make the truth, and queries: some for records themselves, most near to them, some far. These may be changed until the first
 * of their answers is asked for. */
void subject_begin(subject *self);
void subject_end(subject *self);

/* The answers at a distance; the subject keeps them. */
const answers *subject_answers(subject *self, uint32_t distance);

/* Append a query's answer, as that of number `as`. The query is below from->count. */
void answers_copy(const answers *from, size_t query, uint64_t as, rows *to);
/* How many distinct fingerprints the answer has. */
size_t answers_fingerprints(const answers *from, size_t query);

#endif
