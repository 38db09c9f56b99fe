#include "sort/partitions.h"

#include "base/tasks.h"

typedef struct sorter {
    const uint64_t *rows;
    uint32_t words;
    ss_record *records, *scratch;
    ss_partitions partitions;
} sorter;

static sstore_status sort_partition(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const sorter *self = context;
    const size_t first = self->partitions.begins[task], count = self->partitions.begins[task + 1] - first;
    (void)worker, (void)error;
    if (self->words == 1)
        ss_sort_records(self->records + first, self->scratch + first, count);
    else
        ss_order_rows(self->rows, self->words, self->records + first, self->scratch + first, count);
    return SSTORE_OK;
}

sstore_status ss_partitions_sort(ss_record *from, ss_record *to, size_t count, const uint64_t *rows, uint32_t words,
                                 uint32_t threads, sstore_error *error)
{
    const uint32_t shift = SS_WORD_BITS - SS_PARTITION_BITS;
    sorter self = {.rows = rows, .words = words, .records = to, .scratch = from};
    for (size_t i = 0; i < count; i++)
        ss_partitions_count(&self.partitions, from[i].fingerprint >> shift);
    ss_partitions_divide(&self.partitions);
    for (size_t i = count; i-- > 0;)
        to[ss_partitions_place(&self.partitions, from[i].fingerprint >> shift)] = from[i];
    return ss_pool_run(threads, SS_PARTITION_COUNT, sort_partition, &self, error);
}
