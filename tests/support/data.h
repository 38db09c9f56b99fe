/*
 * data.h - sets of records for tests: some like real data, others with extremes that may break code. Also comparisons
 * for qsort().
 */
#ifndef SUPPORT_DATA_H
#define SUPPORT_DATA_H

#include "sstore.h"
#include "support/random.h"

typedef enum data_kind {
    DATA_UNIFORM,   /* independent bits */
    DATA_CLUSTERED, /* one in four is a copy of an earlier one with 0 to 3 bits flipped */
    DATA_SKEWED,    /* a few leading prefixes of 4 to 28 bits hold nearly all */
    DATA_DENSE,     /* consecutive numbers */
    DATA_EQUAL,     /* one fingerprint only */
    DATA_ONE_BIT,   /* one fingerprint and those one bit from it */
    DATA_EXTREMES,  /* 0, 2^64-1, and fingerprints near them in value or in distance */
    DATA_CROWDED,   /* five fingerprints with twelve bits in a row set anyhow: they share long prefixes, in any table */
    DATA_REPEATED,  /* a few dozen fingerprints, some far more often than others */
    DATA_KIND_COUNT
} data_kind;

typedef enum data_ids {
    DATA_IDS,      /* random ids, among them 0 and 2^64-1, not unique */
    DATA_ASSIGNED, /* assigned by the library */
    DATA_NO_IDS,   /* none at all: a set of fingerprints */
    DATA_IDS_COUNT
} data_ids;

/* Records as the builder takes them. `ids` is NULL unless they are DATA_IDS. */
typedef struct data_set {
    data_kind kind;
    data_ids id_kind;
    size_t count;
    uint64_t *fingerprints, *ids;
} data_set;

const char *data_kind_name(data_kind kind);
const char *data_ids_name(data_ids kind);

/*
 * Make `count` records. With `repeats`, one in eight is a repeat of an earlier fingerprint, half of those also with its
 * id. The kinds DATA_EQUAL, DATA_ONE_BIT and DATA_REPEATED repeat by nature. Freed with data_free().
 */
void data_make(rng *random, data_kind kind, data_ids ids, size_t count, bool repeats, data_set *set_out);
void data_free(data_set *set);

/* Put the records in another order. Of DATA_ASSIGNED that makes other records. */
void data_shuffle(rng *random, data_set *set);

/* A useful query: near a record, far from all, or extreme. */
uint64_t data_query(rng *random, const data_set *set, uint32_t distance);

/* For qsort() and bsearch(), of uint64_t. */
int compare_numbers(const void *left, const void *right);

#endif
