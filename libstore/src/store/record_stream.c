#include "store/record_stream.h"

#include "base/alloc.h"
#include "base/error.h"

#define OPEN_BYTES 16384u /* of names, handles and the manifest, about */

sstore_status ss_record_stream_open(ss_record_stream *stream, const ss_segment *segment, bool has_ids,
                                    sstore_error *error)
{
    *stream = (ss_record_stream){.segment = segment, .has_ids = has_ids};
    sstore_status status = ss_table_stream_open(&stream->fingerprints, &segment->tables[0].source, error);
    if (status != SSTORE_OK || !has_ids)
        return status;
    uint32_t block_bytes = segment->ids.header.block_bytes;
    stream->ids_walk = ss_block_walk_from(0, UINT64_MAX);
    stream->ids_buffer = ss_alloc(1, block_bytes);
    return stream->ids_buffer != NULL ? SSTORE_OK : ss_fail_memory(error, block_bytes);
}

uint64_t ss_record_stream_bytes(const ss_segment *segment)
{
    return ss_table_stream_bytes(&segment->tables[0].blocks) + segment->facts.block_bytes + sizeof(ss_segment) +
           sizeof(ss_table) + OPEN_BYTES;
}

void ss_record_stream_close(ss_record_stream *stream)
{
    ss_table_stream_close(&stream->fingerprints);
    ss_free(stream->ids_buffer);
    stream->ids_buffer = NULL;
}

void ss_record_stream_rewind(ss_record_stream *stream)
{
    ss_table_stream_seek(&stream->fingerprints, 0, UINT64_MAX);
    stream->value_count = stream->value_index = stream->single_count = 0;
    stream->rank = stream->next_ids_block = stream->id_count = 0;
    stream->whole = true;
    stream->ids_walk = ss_block_walk_from(0, UINT64_MAX);
    stream->ids = (ss_ids_block){.count = 0};
    stream->ids_index = 0;
    stream->id_order.any = false;
}

/* Make values[value_index] the present fingerprint. */
static sstore_status fill_values(ss_record_stream *stream, bool *more_out, sstore_error *error)
{
    *more_out = true;
    if (stream->value_index < stream->value_count)
        return SSTORE_OK;
    const sstore_status status =
        ss_table_stream_next(&stream->fingerprints, &stream->values, &stream->value_count, error);
    stream->value_index = 0;
    *more_out = stream->value_count > 0;
    return status;
}

static sstore_status open_next_ids(ss_record_stream *stream, sstore_error *error)
{
    const ss_block_reader *ids = &stream->segment->ids;
    const uint8_t *bytes;
    if (stream->next_ids_block == ids->header.block_count)
        return ss_fail_damaged(error, ids->file.path, SSTORE_NO_OFFSET, "there are fewer ids than fingerprints");
    uint64_t number = stream->next_ids_block++;
    ss_block_reader_ahead(ids, number, &stream->ids_walk);
    sstore_status status = ss_block_reader_get_once(ids, number, stream->ids_buffer, &bytes, error);
    if (status == SSTORE_OK)
        status = ss_block_source_open_ids(&stream->segment->ids_source, number, bytes, &stream->ids, error);
    stream->ids_index = 0;
    stream->ids_rank = stream->ids.first_rank;
    stream->id_count += stream->ids.count;
    return status;
}

/* The next seek may be near: what follows a block is asked for ahead with the block after it only. */
static const ss_block_walk nothing_ahead = {.asked = UINT64_MAX};

/* Go to the first record of the present rank in the id column; often it is in the block that is open. */
static sstore_status seek_ids(ss_record_stream *stream, sstore_error *error)
{
    uint64_t number = ss_key_index_find(&stream->segment->ids_keys, stream->rank);
    sstore_status status = SSTORE_OK;
    uint32_t end;
    if (stream->ids.count == 0 || number + 1 != stream->next_ids_block) {
        stream->next_ids_block = number;
        stream->ids_walk = nothing_ahead;
        status = open_next_ids(stream, error);
        stream->ids_walk = ss_block_walk_from(number + 1, UINT64_MAX);
    }
    if (status != SSTORE_OK)
        return status;
    ss_ids_block_find(&stream->ids, stream->rank, &stream->ids_index, &end);
    stream->ids_rank = stream->rank;
    stream->id_order.any = false;
    return SSTORE_OK; /* where the block does not have the rank, the next record is found to be missing */
}

static bool holds(const ss_record_stream *stream, uint64_t fingerprint)
{
    return stream->value_count > 0 && stream->values[0] <= fingerprint &&
           fingerprint <= stream->values[stream->value_count - 1];
}

/* The first of the present block's values that is not below the fingerprint. */
static uint32_t bisect_values(const ss_record_stream *stream, uint64_t fingerprint)
{
    uint32_t low = 0, count = stream->value_count;
    while (count > 0) {
        uint32_t half = count / 2;
        bool below = stream->values[low + half] < fingerprint;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}

sstore_status ss_record_stream_seek(ss_record_stream *stream, uint64_t fingerprint, sstore_error *error)
{
    const ss_segment *segment = stream->segment;
    bool more = true;
    stream->whole = false;
    stream->single_count = 0;
    if (!holds(stream, fingerprint)) {
        stream->value_count = stream->value_index = 0;
        ss_table_stream_seek(&stream->fingerprints, ss_key_index_find(&segment->tables[0].keys, fingerprint),
                             UINT64_MAX);
        stream->fingerprints.walk = nothing_ahead;
        sstore_status status = fill_values(stream, &more, error);
        stream->fingerprints.walk = ss_block_walk_from(stream->fingerprints.next_block, UINT64_MAX);
        if (status == SSTORE_OK && !more)
            stream->rank = segment->facts.distinct_count;
        if (status != SSTORE_OK || !more)
            return status;
    }
    stream->value_index = bisect_values(stream, fingerprint);
    stream->rank = ss_array_at(&segment->ranks, stream->fingerprints.next_block - 1) + stream->value_index;
    return stream->has_ids && stream->value_index < stream->value_count ? seek_ids(stream, error) : SSTORE_OK;
}

/* Whether the next record in the id column belongs to the present rank. */
static bool next_id_is_of_rank(const ss_record_stream *stream)
{
    if (stream->ids_index < stream->ids.count)
        return stream->ids_rank == stream->rank;
    return stream->ids.goes_on;
}

static void step_id(ss_record_stream *stream)
{
    stream->ids_index++;
    if (stream->ids_index < stream->ids.count && ss_ids_block_starts_rank(&stream->ids, stream->ids_index))
        stream->ids_rank++;
}

/* Give out the present id, and step on; the fingerprint is done when no further id is its. */
static sstore_status take_id(ss_record_stream *stream, uint64_t *id_out, sstore_error *error)
{
    if (stream->ids_index == stream->ids.count) {
        sstore_status status = open_next_ids(stream, error);
        if (status != SSTORE_OK)
            return status;
    }
    if (stream->ids_rank != stream->rank)
        return ss_block_reader_malformed(&stream->segment->ids, stream->next_ids_block - 1,
                                         "its ranks do not follow the fingerprints", error);
    sstore_status status = ss_block_source_take_id(&stream->segment->ids_source, stream->next_ids_block - 1, &stream->ids,
                                                   stream->ids_index, &stream->id_order, id_out, error);
    step_id(stream);
    return status;
}

static sstore_status check_end(const ss_record_stream *stream, sstore_error *error)
{
    const ss_segment *segment = stream->segment;
    if (stream->rank != segment->facts.distinct_count)
        return ss_fail_damaged(error, segment->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                               "the table has another number of fingerprints than the manifest says");
    if (stream->whole && stream->has_ids && stream->id_count != segment->facts.record_count)
        return ss_fail_damaged(error, segment->ids.file.path, SSTORE_NO_OFFSET,
                               "there are more or fewer ids than the manifest says");
    return SSTORE_OK;
}

/* When the last fingerprint is done. */
static sstore_status check_end_of_ids(const ss_record_stream *stream, sstore_error *error)
{
    const ss_block_reader *ids = &stream->segment->ids;
    if (stream->ids_index == stream->ids.count && stream->next_ids_block == ids->header.block_count)
        return SSTORE_OK;
    return ss_fail_damaged(error, ids->file.path, SSTORE_NO_OFFSET, "there are more ids than fingerprints");
}

/* How many records from the present one on have ranks of their own, but for the last of either block. */
static uint32_t count_singles(const ss_record_stream *stream)
{
    const uint32_t values = stream->value_count - stream->value_index, ids = stream->ids.count - stream->ids_index;
    if (!stream->has_ids)
        return values - (values > 0);
    if (values == 0 || ids == 0 || stream->ids_index == 0 || stream->ids_rank != stream->rank)
        return 0;
    const uint32_t single = ss_ids_block_singles(&stream->ids, stream->ids_index);
    return ss_min_u32(single, ss_min_u32(values, ids) - 1);
}

static void pass_singles(ss_record_stream *stream, uint32_t count)
{
    stream->single_count -= count;
    stream->value_index += count;
    stream->rank += count;
    if (stream->has_ids) {
        stream->ids_index += count;
        stream->ids_rank += count;
    }
}

static void take_single(ss_record_stream *stream, sstore_record *record_out)
{
    record_out->fingerprint = stream->values[stream->value_index];
    record_out->id = stream->has_ids ? ss_ids_block_id(&stream->ids, stream->ids_index) : 0;
    pass_singles(stream, 1);
}

uint32_t ss_record_stream_pass_singles(ss_record_stream *stream)
{
    const uint32_t count = stream->single_count;
    pass_singles(stream, count);
    return count;
}

sstore_status ss_record_stream_next(ss_record_stream *stream, sstore_record *record_out, bool *more_out,
                                    sstore_error *error)
{
    if (SS_LIKELY(stream->single_count > 0)) {
        take_single(stream, record_out);
        *more_out = true;
        return SSTORE_OK;
    }
    sstore_status status = fill_values(stream, more_out, error);
    if (status == SSTORE_OK && !*more_out)
        status = check_end(stream, error);
    if (status != SSTORE_OK || !*more_out)
        return status;
    record_out->fingerprint = stream->values[stream->value_index];
    record_out->id = 0;
    if (stream->has_ids) {
        status = take_id(stream, &record_out->id, error);
        if (status != SSTORE_OK || next_id_is_of_rank(stream))
            return status;
    }
    stream->value_index++;
    stream->rank++;
    stream->id_order.any = false;
    stream->single_count = count_singles(stream);
    return stream->has_ids && stream->rank == stream->segment->facts.distinct_count ? check_end_of_ids(stream, error)
                                                                                     : SSTORE_OK;
}
