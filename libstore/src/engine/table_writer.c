#include "engine/table_writer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

void ss_table_counts_init(ss_table_counts *counts)
{
    *counts = (ss_table_counts){.count = 0};
    ss_bit_counter_init(&counts->gap_bits);
}

sstore_status ss_table_writer_open(ss_table_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                   uint32_t number, ss_table_counts *counts, ss_directory_writer *directory,
                                   sstore_error *error)
{
    ss_block_header header = {.segment_id = segment->segment_id,
                              .number = number,
                              .block_bytes = segment->geometry.block_bytes,
                              .restart_interval = segment->geometry.restart_interval,
                              .table_count = segment->plan.table_count,
                              .distance = segment->plan.distance,
                              .radius = (uint32_t)segment->plan.tables[number].radius,
                              .key_mask = segment->plan.tables[number].key_mask};
    memcpy(header.h_counts, counts->h_counts, sizeof header.h_counts);
    ss_bit_counter_counts(&counts->gap_bits, header.gap_bit_counts);
    ss_huffman_lengths(header.h_counts, header.code_lengths);

    *writer = (ss_table_writer){.is_first = number == 0};
    ss_array_writer_init(&writer->keys, directory, SS_ARRAY_KEYS, number);
    ss_array_writer_init(&writer->ranks, directory, SS_ARRAY_RANKS, number);
    writer->code = ss_alloc(1, sizeof *writer->code);
    if (writer->code == NULL)
        return ss_fail_memory(error, sizeof *writer->code);
    ss_code_init(writer->code, header.code_lengths);
    writer->encoder = ss_block_encoder_create(segment->geometry, writer->code);
    if (writer->encoder == NULL)
        return ss_fail_memory(error, SS_BLOCK_MAX_COUNT * sizeof(uint64_t));
    return ss_block_writer_open(&writer->file, dir, &header, error);
}

static sstore_status finish_block(ss_table_writer *writer, sstore_error *error)
{
    uint32_t count = ss_block_encoder_count(writer->encoder);
    uint64_t last = ss_block_encoder_last(writer->encoder);
    ss_block_encoder_finish(writer->encoder, writer->file.block);
    sstore_status status = ss_block_writer_append(&writer->file, count, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_add(&writer->keys, last, error);
    if (status == SSTORE_OK && writer->is_first)
        status = ss_array_writer_add(&writer->ranks, writer->rank - count, error);
    return status;
}

sstore_status ss_table_writer_add(ss_table_writer *writer, uint64_t fingerprint, sstore_error *error)
{
    if (SS_UNLIKELY(!ss_block_encoder_add(writer->encoder, fingerprint))) {
        sstore_status status = finish_block(writer, error);
        if (status != SSTORE_OK)
            return status;
        (void)ss_block_encoder_add(writer->encoder, fingerprint); /* an empty block has room for one */
    }
    writer->rank++;
    return SSTORE_OK;
}

sstore_status ss_table_writer_finish(ss_table_writer *writer, ss_manifest_file *file_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (ss_block_encoder_count(writer->encoder) > 0)
        status = finish_block(writer, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&writer->keys, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&writer->ranks, error);
    if (status == SSTORE_OK)
        status = ss_block_writer_finish(&writer->file, &file_out->header_checksum, error);
    file_out->block_count = writer->file.header.block_count;
    return status;
}

void ss_table_writer_close(ss_table_writer *writer)
{
    ss_block_writer_close(&writer->file);
    ss_block_encoder_free(writer->encoder);
    ss_free(writer->code);
    ss_array_writer_free(&writer->keys);
    ss_array_writer_free(&writer->ranks);
    *writer = (ss_table_writer){.encoder = NULL};
}

/* ----- the id column ----- */

sstore_status ss_ids_writer_open(ss_ids_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                 ss_directory_writer *directory, sstore_error *error)
{
    ss_block_header header = {.segment_id = segment->segment_id,
                              .number = SS_IDS_NUMBER,
                              .table_count = segment->plan.table_count,
                              .distance = segment->plan.distance,
                              .block_bytes = segment->geometry.block_bytes};
    *writer = (ss_ids_writer){.encoder = {.count = 0}};
    ss_array_writer_init(&writer->keys, directory, SS_ARRAY_KEYS, SS_IDS_NUMBER);
    sstore_status status = ss_ids_encoder_init(&writer->encoder, segment->geometry.block_bytes, error);
    return status == SSTORE_OK ? ss_block_writer_open(&writer->file, dir, &header, error) : status;
}

static sstore_status finish_ids_block(ss_ids_writer *writer, bool goes_on, sstore_error *error)
{
    uint32_t count = writer->encoder.count;
    ss_ids_encoder_finish(&writer->encoder, goes_on, writer->file.block);
    sstore_status status = ss_block_writer_append(&writer->file, count, error);
    return status == SSTORE_OK ? ss_array_writer_add(&writer->keys, writer->encoder.last_rank, error) : status;
}

sstore_status ss_ids_writer_add(ss_ids_writer *writer, uint64_t rank, uint64_t id, sstore_error *error)
{
    if (SS_LIKELY(ss_ids_encoder_add(&writer->encoder, rank, id)))
        return SSTORE_OK;
    sstore_status status = finish_ids_block(writer, rank == writer->encoder.last_rank, error);
    (void)ss_ids_encoder_add(&writer->encoder, rank, id); /* an empty block has room for one */
    return status;
}

sstore_status ss_ids_writer_finish(ss_ids_writer *writer, ss_manifest_file *file_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (writer->encoder.count > 0)
        status = finish_ids_block(writer, false, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&writer->keys, error);
    if (status == SSTORE_OK)
        status = ss_block_writer_finish(&writer->file, &file_out->header_checksum, error);
    file_out->block_count = writer->file.header.block_count;
    return status;
}

void ss_ids_writer_close(ss_ids_writer *writer)
{
    ss_block_writer_close(&writer->file);
    ss_ids_encoder_free(&writer->encoder);
    ss_array_writer_free(&writer->keys);
}

uint64_t ss_directory_bound_bytes(const ss_manifest_segment *segment, bool has_ids)
{
    /* A fingerprint takes a key and a slot, or a code and a rest: at most 12 bytes; an id 8 bytes and a bit. What a block
     * cannot use, since the next item does not fit, is less than one such item. */
    const uint64_t fingerprint_bytes = 12, id_bytes = 9, frame_bytes = 40;
    uint64_t room = segment->geometry.block_bytes - frame_bytes;
    uint64_t table_blocks = segment->distinct_count * fingerprint_bytes / room + 2;
    uint64_t ids_blocks = has_ids ? segment->record_count * id_bytes / room + 2 : 0;
    return 8 * (table_blocks * (segment->plan.table_count + 1) + ids_blocks);
}
