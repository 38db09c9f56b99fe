/*
 * table_stream.h - all fingerprints of a table in order, a block at a time, as the file has them (permuted).
 */
#ifndef SS_TABLE_STREAM_H
#define SS_TABLE_STREAM_H

#include "store/block_source.h"

typedef struct ss_table_stream {
    const ss_block_source *source; /* borrowed */
    uint64_t next_block, end_block;
    bool has_last; /* the block before was decoded */
    uint64_t last; /* its last fingerprint */
    ss_block_walk walk;
    const uint8_t *bytes; /* of the block that was decoded last */
    uint8_t *buffer;
    uint64_t *values;
    uint32_t capacity; /* of values */
} ss_table_stream;

/* The bytes that a stream takes, about. */
uint64_t ss_table_stream_bytes(const ss_block_reader *reader);

sstore_status ss_table_stream_open(ss_table_stream *stream, const ss_block_source *source, sstore_error *error);
/* Go on with block `first`, and end before block `end` or at the table's end; also beyond that. */
void ss_table_stream_seek(ss_table_stream *stream, uint64_t first, uint64_t end);
void ss_table_stream_close(ss_table_stream *stream);

/* Decode the next block; *count_out is 0 at the end. The values ascend strictly, also from block to block, and stay until the
 * next call. After a damaged block the next call goes on with the block after it. */
sstore_status ss_table_stream_next(ss_table_stream *stream, const uint64_t **values_out, uint32_t *count_out,
                                   sstore_error *error);

#endif
