/*
 * record_stream.h - all records of a segment in order: table 0 with the id column beside it.
 */
#ifndef SS_RECORD_STREAM_H
#define SS_RECORD_STREAM_H

#include "file/ids.h"
#include "store/segment.h"
#include "store/table_stream.h"

typedef struct ss_record_stream {
    const ss_segment *segment;
    bool has_ids;
    ss_table_stream fingerprints;
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
    ss_block_walk ids_walk;
} ss_record_stream;

/* The bytes that a stream of the segment takes. */
uint64_t ss_record_stream_bytes(const ss_segment *segment);

sstore_status ss_record_stream_open(ss_record_stream *stream, const ss_segment *segment, bool has_ids,
                                    sstore_error *error);
void ss_record_stream_close(ss_record_stream *stream);

/* Start over. */
void ss_record_stream_rewind(ss_record_stream *stream);
/* Go before the first record whose fingerprint is at least this. The segment must be open with its directory. IO, DAMAGED. */
sstore_status ss_record_stream_seek(ss_record_stream *stream, uint64_t fingerprint, sstore_error *error);

/* Pass by some of the next records, of which each is its fingerprint's only one in the segment, for whoever looks for others. Returns
 * how many. */
uint32_t ss_record_stream_pass_singles(ss_record_stream *stream);

/* Whether the fingerprint lies at most `count` fingerprints on, in the present block. */
static inline bool ss_record_stream_is_near(const ss_record_stream *stream, uint64_t fingerprint, uint32_t count)
{
    uint32_t left = stream->value_count - stream->value_index;
    return left > 0 && stream->values[stream->value_index + (count < left ? count : left - 1)] >= fingerprint;
}

/* Get the next record; *more_out is false at the end. The records ascend strictly. IO, DAMAGED. */
sstore_status ss_record_stream_next(ss_record_stream *stream, sstore_record *record_out, bool *more_out,
                                    sstore_error *error);

#endif
