#include "input/record_batch.h"

#include <stdlib.h>
#include <string.h>

#include "sstore.h"

bool record_batch_init(record_batch *batch, size_t capacity)
{
    *batch = (record_batch){.fingerprints = calloc(capacity > SSTORE_MAX_WORDS ? capacity : SSTORE_MAX_WORDS,
                                                   sizeof *batch->fingerprints),
                            .ids = calloc(capacity, sizeof *batch->ids)};
    return batch->fingerprints != NULL && batch->ids != NULL;
}

void record_batch_free(record_batch *batch)
{
    free(batch->fingerprints);
    free(batch->ids);
}

void record_batch_append(record_batch *batch, const record_batch *records)
{
    const size_t words = records->words;
    memcpy(batch->fingerprints + words * batch->count, records->fingerprints,
           words * records->count * sizeof *records->fingerprints);
    if (records->has_ids || records->has_rows)
        memcpy(batch->ids + batch->count, records->ids, records->count * sizeof *records->ids);
    batch->words = records->words;
    batch->has_ids = records->has_ids;
    batch->has_rows = records->has_rows;
    batch->count += records->count;
}
