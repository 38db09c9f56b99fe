/* record_batch.h - records of any width, in the order of an input. */
#ifndef RECORD_BATCH_H
#define RECORD_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/queue.h"
#include "sstore.h"

/* Records, one fingerprint after the other. Ids that stand for fingerprints (see line_format) have one word. */
typedef struct record_batch {
    queue_item item; /* where several batches go from thread to thread */
    size_t count;
    uint32_t words; /* of a fingerprint; 0: there is no record yet */
    bool has_ids;
    bool has_rows;      /* without ids, `ids` has the numbers of the rows, from 0 over all inputs: some are skipped */
    const char *recipe; /* that the input states before these records; or NULL */
    uint64_t *fingerprints, *ids;
    bool has_names;     /* instead of ids */
    sstore_name *names; /* in `name_bytes`, one after the other */
    char *name_bytes;
    size_t name_capacity, name_used, name_byte_capacity;
} record_batch;

#define RECORD_BATCH_NAME_BYTES ((size_t)1 << 20) /* a batch with longer names is full */

/* The ids, or NULL if the records have none. */
static inline const uint64_t *record_batch_ids(const record_batch *batch)
{
    return batch->has_ids ? batch->ids : NULL;
}

/* Add the name of the record that comes next. Returns false if there is no memory. */
bool record_batch_add_name(record_batch *batch, const char *bytes, size_t size);

/* How many records of this many words fill a batch with a capacity of `capacity` words. */
static inline size_t record_batch_records(size_t capacity, uint32_t words)
{
    return capacity > words ? capacity / words : 1;
}

/* Make room for fingerprints of together `capacity` words, or for one fingerprint, and for their ids. Returns false if
 * there is no memory. Free it in any case. */
bool record_batch_init(record_batch *batch, size_t capacity);
void record_batch_free(record_batch *batch);

/* Drop the first `count` records. */
void record_batch_drop(record_batch *batch, size_t count);

/* Append records, for which there is room. Returns false if there is no memory for names. */
bool record_batch_append(record_batch *batch, const record_batch *records);

#endif
