/* record_iterator.h - iterators over the fingerprints of a table, the records of a segment, and those of stores. */
#ifndef SS_RECORD_ITERATOR_H
#define SS_RECORD_ITERATOR_H

#include "codec/ids.h"
#include "store/checked_block.h"
#include "store/segment.h"
#include "store/store.h"

/* ===== fingerprints of a table ===== */

/* All fingerprints of a table in order, a block at a time, as the file has them (permuted). */

typedef struct ss_table_iterator {
    const ss_checked_blocks *checked; /* borrowed */
    uint64_t next_block, end_block;
    bool has_last; /* the block before was decoded */
    uint64_t last; /* its last fingerprint */
    ss_read_ahead ahead;
    const uint8_t *bytes; /* of the block that was decoded last */
    uint8_t *buffer;
    uint64_t *values;
    uint32_t capacity; /* of values */
} ss_table_iterator;

/* The bytes that a stream takes, about. */
uint64_t ss_table_iterator_bytes(const ss_block_reader *reader);

sstore_status ss_table_iterator_open(ss_table_iterator *iterator, const ss_checked_blocks *checked, sstore_error *error);
/* Go on with block `first`, and end before block `end` or at the table's end; also beyond that. */
void ss_table_iterator_seek(ss_table_iterator *iterator, uint64_t first, uint64_t end);
void ss_table_iterator_close(ss_table_iterator *iterator);

/* Decode the next block; *count_out is 0 at the end. The values ascend strictly, also from block to block, and stay until the
 * next call. After a damaged block the next call goes on with the block after it. */
sstore_status ss_table_iterator_next(ss_table_iterator *iterator, const uint64_t **values_out, uint32_t *count_out,
                                   sstore_error *error);

/* ===== records of a segment ===== */

/* All records of a segment in order: table 0 with the id column beside it. */

typedef struct ss_segment_iterator {
    const ss_segment *segment;
    bool has_ids;
    ss_table_iterator fingerprints;
    const uint64_t *values; /* of the present block of table 0 */
    uint32_t value_count, value_index;
    uint32_t single_count; /* records from the present one on that have a fingerprint each, and do not end a block */
    uint64_t rank; /* of values[value_index] */
    uint8_t *ids_buffer;
    ss_ids_block ids;
    uint64_t next_ids_block, ids_rank; /* ids_rank: of record ids_index */
    ss_id_order id_order;              /* of the present fingerprint's ids */
    bool whole;                        /* it is read from the first record on */
    uint64_t id_count;                 /* in the blocks of ids opened so far; of all only if `whole` */
    uint32_t ids_index;
    ss_read_ahead ids_ahead;
} ss_segment_iterator;

sstore_status ss_segment_iterator_open(ss_segment_iterator *iterator, const ss_segment *segment, bool has_ids,
                                    sstore_error *error);
void ss_segment_iterator_close(ss_segment_iterator *iterator);

/* Start over. */
void ss_segment_iterator_rewind(ss_segment_iterator *iterator);
/* Go before the first record whose fingerprint is at least this. The segment must be open with its directory. IO, DAMAGED. */
sstore_status ss_segment_iterator_seek(ss_segment_iterator *iterator, uint64_t fingerprint, sstore_error *error);

/* Pass by some of the next records, of which each is its fingerprint's only one in the segment, for whoever looks for others. Returns
 * how many. */
uint32_t ss_segment_iterator_pass_singles(ss_segment_iterator *iterator);

/* Whether the fingerprint lies at most `count` fingerprints on, in the present block. */
static inline bool ss_segment_iterator_is_near(const ss_segment_iterator *iterator, uint64_t fingerprint, uint32_t count)
{
    uint32_t left = iterator->value_count - iterator->value_index;
    return left > 0 && iterator->values[iterator->value_index + (count < left ? count : left - 1)] >= fingerprint;
}

/* Get the next record; *more_out is false at the end. The records ascend strictly. IO, DAMAGED. */
sstore_status ss_segment_iterator_next(ss_segment_iterator *iterator, sstore_record *record_out, bool *more_out,
                                    sstore_error *error);

/* ===== records of stores ===== */

/*
 * All records of one store or several in order, each once: what their segments add, and do not remove
 * again.
 *
 * The segments of a store that have a record add and remove it in turn, and the oldest one adds it (file/manifest.h);
 * whatever else is met is DAMAGED. So the newest of them says whether the record is in the store. It may be in several
 * stores. Of some neighbouring segments of a store the oldest may also remove it: then an older one has it.
 */

/* A segment on its way, with its next record. */
typedef struct ss_merge_input {
    ss_segment_iterator iterator;
    uint32_t store, age; /* which of the stores, and which of its segments, from the oldest */
    bool removes;
    sstore_record record;
} ss_merge_input;

typedef struct ss_merge_iterator {
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
} ss_merge_iterator;

/* A file that has the record that was given last. */
const char *ss_merge_iterator_file(const ss_merge_iterator *merge);

/* Begin with no segments. */
void ss_merge_iterator_init(ss_merge_iterator *merge, bool has_ids);
/* Add the segments first .. end - 1 of a store. It must stay open. MEMORY. */
sstore_status ss_merge_iterator_add(ss_merge_iterator *merge, const sstore *store, uint32_t first, uint32_t end,
                                  sstore_error *error);
/* Add all segments of a store. */
sstore_status ss_merge_iterator_add_store(ss_merge_iterator *merge, const sstore *store, sstore_error *error);
/* The bytes that reading the segments first .. end - 1 of a store takes, with the open segments. */
uint64_t ss_merge_iterator_bytes(const sstore *store, uint32_t first, uint32_t end);
/* Go before the first record; to begin, and to start over. IO, DAMAGED. */
sstore_status ss_merge_iterator_rewind(ss_merge_iterator *merge, sstore_error *error);
/* Go before the first record whose fingerprint is at least this; not where a store is open for records only. IO, DAMAGED. */
sstore_status ss_merge_iterator_seek(ss_merge_iterator *merge, uint64_t fingerprint, sstore_error *error);
/* Go on to the first record whose fingerprint is at least this, unless that lies behind already. Reads on, or goes there,
 * whatever takes less. Not where a store is open for records only. IO, DAMAGED. */
sstore_status ss_merge_iterator_skip(ss_merge_iterator *merge, uint64_t fingerprint, sstore_error *error);
/* Get the next record, above the one before; *more_out is false at the end. IO, DAMAGED. */
sstore_status ss_merge_iterator_next(ss_merge_iterator *merge, sstore_record *record_out, bool *more_out,
                                   sstore_error *error);
/* Also of a zeroed one. */
void ss_merge_iterator_close(ss_merge_iterator *merge);

#endif
