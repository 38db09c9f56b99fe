/*
 * candidates.h - fingerprints of several words that a word index has found. Each has a word near the query's, and is
 * confirmed in table 0. It counts only in the first word that covers its error pattern, so none is found twice.
 */
#ifndef SS_CANDIDATES_H
#define SS_CANDIDATES_H

#include "store/segment.h"

typedef struct ss_candidate {
    uint64_t word, rank;  /* the word, and the rank of a fingerprint that must have it */
    uint32_t word_number; /* of the word, and of its index */
    uint32_t query;       /* the query's index in a batch, else 0 */
} ss_candidate;

/* A query of a segment. */
typedef struct ss_row_query {
    const uint64_t *fingerprint;
    uint32_t distance;
    const int32_t *radii; /* of the words */
} ss_row_query;

/* A fingerprint of a segment. */
typedef struct ss_row_hit {
    uint32_t distance;
    uint64_t rank;
    uint64_t fingerprint[SSTORE_MAX_WORDS];
} ss_row_hit;

/* Prefetch the fingerprint of a rank, if it is in memory. */
void ss_candidate_prefetch(const ss_segment *segment, uint64_t rank);

/* Load the fingerprint of a candidate through a slot. *is_hit_out: it is within the distance, and no word before covers
 * its error pattern. DAMAGED if it does not have the word, or if its rank is not the only one that it has. */
sstore_status ss_candidate_confirm(const ss_segment *segment, const ss_candidate *candidate, const ss_row_query *query,
                                   ss_block_slot *slot, ss_row_hit *hit_out, bool *is_hit_out, sstore_error *error);

#endif
