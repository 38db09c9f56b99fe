/* partitions.h - divides items among partitions, which threads then sort: each partition is numbered by leading bits,
 * its items are counted, and then placed from the last item to the first one, which keeps their order. */
#ifndef SS_PARTITIONS_H
#define SS_PARTITIONS_H

#include "sort/radix.h"

#define SS_PARTITION_BITS 6u
#define SS_PARTITION_COUNT (1u << SS_PARTITION_BITS)

/* Begins zeroed. Partition i is begins[i] to begins[i + 1] - 1 once all items are placed. */
typedef struct ss_partitions {
    size_t begins[SS_PARTITION_COUNT + 1];
} ss_partitions;

static inline void ss_partitions_count(ss_partitions *self, uint64_t partition)
{
    self->begins[partition]++;
}

/* Set where the partitions end, after all items are counted. */
static inline void ss_partitions_divide(ss_partitions *self)
{
    for (uint32_t i = 1; i <= SS_PARTITION_COUNT; i++)
        self->begins[i] += self->begins[i - 1];
}

/* The place of the next item of a partition. */
static inline size_t ss_partitions_place(ss_partitions *self, uint64_t partition)
{
    return --self->begins[partition];
}

/* Sort records to another place with threads, ascending by (fingerprint, id). Of several words, the fingerprints are
 * the first words of rows, and the ids their indices: then they are sorted by rows, as by ss_order_rows(). The
 * contents of `from` are undefined afterwards. */
sstore_status ss_partitions_sort(ss_record *from, ss_record *to, size_t count, const uint64_t *rows, uint32_t words,
                                 uint32_t threads, sstore_error *error);

#endif
