#include "store/table_stream.h"

#include "base/alloc.h"
#include "base/error.h"

#define FIRST_CAPACITY 1024u

/* Room grows with the fullest block that was met. Blocks are about as full as their average, twice that at most, but where
 * much of a table is far denser than the rest; growing doubles it. */
uint64_t ss_table_stream_bytes(const ss_block_reader *reader)
{
    uint64_t average = reader->header.item_count / ss_max_u64(reader->header.block_count, 1);
    uint64_t most = ss_min_u64(ss_max_u64(4 * average, FIRST_CAPACITY), ss_block_most(reader->header.block_bytes));
    return reader->header.block_bytes + most * sizeof(uint64_t);
}

/* Room for so many values. */
static sstore_status make_room(ss_table_stream *stream, uint32_t count, sstore_error *error)
{
    if (count <= stream->capacity)
        return SSTORE_OK;
    uint32_t capacity = ss_max_u32(ss_max_u32(2 * stream->capacity, FIRST_CAPACITY), count);
    uint64_t *values = ss_realloc(stream->values, capacity, sizeof *values);
    if (values == NULL)
        return ss_fail_memory(error, capacity * sizeof *values);
    stream->values = values;
    stream->capacity = capacity;
    return SSTORE_OK;
}

sstore_status ss_table_stream_open(ss_table_stream *stream, const ss_block_source *source, sstore_error *error)
{
    const uint32_t block_bytes = source->reader->header.block_bytes;
    *stream = (ss_table_stream){.source = source};
    ss_table_stream_seek(stream, 0, UINT64_MAX);
    stream->buffer = ss_alloc(1, block_bytes);
    return stream->buffer != NULL ? SSTORE_OK : ss_fail_memory(error, block_bytes);
}

void ss_table_stream_close(ss_table_stream *stream)
{
    ss_free(stream->buffer);
    ss_free(stream->values);
    stream->buffer = NULL;
    stream->values = NULL;
}

void ss_table_stream_seek(ss_table_stream *stream, uint64_t first, uint64_t end)
{
    stream->has_last = stream->has_last && first == stream->next_block;
    stream->next_block = first;
    stream->end_block = ss_min_u64(end, stream->source->reader->header.block_count);
    stream->walk = ss_block_walk_from(first, stream->end_block);
}

sstore_status ss_table_stream_next(ss_table_stream *stream, const uint64_t **values_out, uint32_t *count_out,
                                   sstore_error *error)
{
    const ss_block_reader *reader = stream->source->reader;
    const bool has_last = stream->has_last;
    ss_block block;
    *count_out = 0;
    *values_out = stream->values;
    if (stream->next_block >= stream->end_block)
        return SSTORE_OK;
    uint64_t number = stream->next_block++;
    stream->has_last = false;
    ss_block_reader_ahead(reader, number, &stream->walk);
    sstore_status status = ss_block_reader_get_once(reader, number, stream->buffer, &stream->bytes, error);
    if (status == SSTORE_OK)
        status = ss_block_source_open(stream->source, number, stream->bytes, &block, error);
    if (status == SSTORE_OK)
        status = make_room(stream, block.count, error);
    if (status == SSTORE_OK)
        status = ss_block_source_decode(stream->source, number, &block, stream->values, error);
    if (status != SSTORE_OK)
        return status;
    if (has_last && stream->values[0] <= stream->last)
        return ss_block_reader_malformed(reader, number, SS_BELOW_BLOCK_BEFORE, error);
    stream->has_last = true;
    stream->last = stream->values[block.count - 1];
    *count_out = block.count;
    *values_out = stream->values;
    return SSTORE_OK;
}
