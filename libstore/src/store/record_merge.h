/*
 * record_merge.h - all records of one store or several in order, each once: what their segments add, and do not remove
 * again.
 *
 * The segments of a store that have a record add and remove it in turn, and the oldest one adds it (file/manifest.h);
 * whatever else is met is DAMAGED. So the newest of them says whether the record is in the store. It may be in several
 * stores. Of some neighbouring segments of a store the oldest may also remove it: then an older one has it.
 */
#ifndef SS_RECORD_MERGE_H
#define SS_RECORD_MERGE_H

#include "store/record_stream.h"
#include "store/store.h"

/* A segment on its way, with its next record. */
typedef struct ss_merge_input {
    ss_record_stream stream;
    uint32_t store, age; /* which of the stores, and which of its segments, from the oldest */
    bool removes;
    sstore_record record;
} ss_merge_input;

typedef struct ss_record_merge {
    bool has_ids;     /* records are merged; else fingerprints, each once */
    bool removed;     /* give what the segments remove, not what they add; for neighbouring segments of one store */
    bool in_turn;     /* what is merged is whole records, so that segments add and remove each in turn */
    bool from_oldest; /* the segments begin with the store's oldest */
    size_t input_count, capacity;
    ss_merge_input *inputs; /* one a segment */
    size_t *heap;           /* indices of inputs that have not ended; the least record first, and of one the oldest segment */
    size_t heap_count;
    uint32_t store_count;
    const ss_merge_input *from; /* one that has the record that was given last; NULL at first */
} ss_record_merge;

/* A file that has the record that was given last. */
const char *ss_record_merge_file(const ss_record_merge *merge);

/* Begin with no segments. */
void ss_record_merge_init(ss_record_merge *merge, bool has_ids);
/* Add the segments first .. end - 1 of a store. It must stay open. MEMORY. */
sstore_status ss_record_merge_add(ss_record_merge *merge, const sstore *store, uint32_t first, uint32_t end,
                                  sstore_error *error);
/* Add all segments of a store. */
sstore_status ss_record_merge_add_store(ss_record_merge *merge, const sstore *store, sstore_error *error);
/* Go before the first record; to begin, and to start over. IO, DAMAGED. */
sstore_status ss_record_merge_rewind(ss_record_merge *merge, sstore_error *error);
/* Go before the first record whose fingerprint is at least this; not where a store is open for records only. IO, DAMAGED. */
sstore_status ss_record_merge_seek(ss_record_merge *merge, uint64_t fingerprint, sstore_error *error);
/* Go on to the first record whose fingerprint is at least this, unless that lies behind already. Reads on, or goes there,
 * whatever takes less. Not where a store is open for records only. IO, DAMAGED. */
sstore_status ss_record_merge_skip(ss_record_merge *merge, uint64_t fingerprint, sstore_error *error);
/* Get the next record, above the one before; *more_out is false at the end. IO, DAMAGED. */
sstore_status ss_record_merge_next(ss_record_merge *merge, sstore_record *record_out, bool *more_out,
                                   sstore_error *error);
/* Also of a zeroed one. */
void ss_record_merge_close(ss_record_merge *merge);

#endif
