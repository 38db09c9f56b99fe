#include "store/table_counts.h"

#define LANES 4u /* of counters, so that equal h in a row do not wait for each other */

void ss_table_counts_init(ss_table_counts *counts)
{
    *counts = (ss_table_counts){.count = 0};
    ss_bit_counter_init(&counts->gap_bits);
}

void ss_table_counts_add(ss_table_counts *counts, const uint64_t *values, size_t count)
{
    uint64_t h_counts[LANES][SS_FINGERPRINT_BITS] = {{0}};
    for (size_t i = 1; i < count; i++) {
        h_counts[i % LANES][ss_first_difference(values[i - 1], values[i])]++;
        ss_bit_counter_add(&counts->gap_bits, values[i] - values[i - 1]);
    }
    for (uint32_t h = 0; h < SS_FINGERPRINT_BITS; h++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            counts->h_counts[h] += h_counts[lane][h];
    counts->count += count;
}

void ss_table_counts_add_pair(ss_table_counts *counts, uint64_t lower, uint64_t upper)
{
    counts->h_counts[ss_first_difference(lower, upper)]++;
    ss_bit_counter_add(&counts->gap_bits, upper - lower);
}

void ss_table_facts_add(ss_table_facts *facts, ss_table_counts *counts)
{
    uint64_t gap_bit_counts[SS_FINGERPRINT_BITS];
    ss_bit_counter_counts(&counts->gap_bits, gap_bit_counts);
    facts->count += counts->count;
    for (uint32_t i = 0; i < SS_FINGERPRINT_BITS; i++) {
        facts->h_counts[i] += counts->h_counts[i];
        facts->gap_bit_counts[i] += gap_bit_counts[i];
    }
}
