/*
 * table_counts.h - how the neighbours of a table differ: what its code is made from, and the facts that its header
 * keeps. Counted piece by piece, side by side, and joined.
 */
#ifndef SS_TABLE_COUNTS_H
#define SS_TABLE_COUNTS_H

#include "base/bitcount.h"
#include "codec/huffman.h"

typedef struct ss_table_counts {
    uint64_t count; /* fingerprints */
    uint64_t h_counts[SS_FINGERPRINT_BITS];
    ss_bit_counter gap_bits;
} ss_table_counts;

void ss_table_counts_init(ss_table_counts *counts);

/* Count ascending, distinct fingerprints and the neighbours among them. */
void ss_table_counts_add(ss_table_counts *counts, const uint64_t *values, size_t count);

/* Count a pair of neighbours of which each was added with others. */
void ss_table_counts_add_pair(ss_table_counts *counts, uint64_t lower, uint64_t upper);

/* What is known of a whole table: the sums over all its pieces. */
typedef struct ss_table_facts {
    uint64_t count;
    uint64_t h_counts[SS_FINGERPRINT_BITS];
    uint64_t gap_bit_counts[SS_FINGERPRINT_BITS];
} ss_table_facts;

/* Add what was counted to the facts, which begin zeroed. */
void ss_table_facts_add(ss_table_facts *facts, ss_table_counts *counts);

#endif
