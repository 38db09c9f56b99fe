/*
 * data.h - sets of records for tests, as a builder takes them. Also comparisons for qsort().
 */
#ifndef SUPPORT_DATA_H
#define SUPPORT_DATA_H

#include "support/fingerprint_form.h"

typedef enum data_ids {
    DATA_IDS,      /* random ids, among them 0 and 2^64-1, not unique */
    DATA_ASSIGNED, /* assigned by the library */
    DATA_NO_IDS,   /* none at all: a set of fingerprints */
    DATA_IDS_COUNT
} data_ids;

/* Records as the builder takes them. `ids` is NULL unless they are DATA_IDS. */
typedef struct data_set {
    data_ids id_kind;
    uint32_t words; /* of a fingerprint; 0 is 1 */
    size_t count;
    uint64_t *fingerprints, *ids;
} data_set;

const char *data_ids_name(data_ids kind);

/*
 * Make `count` records of one form. With `repeats`, one in eight is a repeat of an earlier fingerprint, half of those
 * also with its id. Freed with data_free().
 */
void data_make_form(rng *random, const fingerprint_form *form, data_ids ids, size_t count, bool repeats,
                    data_set *set_out);
/* The records have one word of a kind. */
void data_make(rng *random, data_kind kind, data_ids ids, size_t count, bool repeats, data_set *set_out);
void data_free(data_set *set);

/* Records from `begin` to `end` as a set that must not be freed. */
data_set data_part(const data_set *set, size_t begin, size_t end);
/* Put the records in another order. Of DATA_ASSIGNED that makes other records. */
void data_shuffle(rng *random, data_set *set);

/* A useful query: near a record, far from all, or extreme. */
void data_query_words(rng *random, const data_set *set, uint32_t distance, uint64_t *query_out);
/* The query of a set of one word. */
uint64_t data_query(rng *random, const data_set *set, uint32_t distance);

/* For qsort() and bsearch(), of uint64_t. */
int compare_numbers(const void *left, const void *right);

#endif
