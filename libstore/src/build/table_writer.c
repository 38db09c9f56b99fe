#include "build/table_writer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define OUTPUT_BYTES 262144u /* of blocks that are written at once */

/* ----- the writer ----- */

sstore_status ss_table_writer_open(ss_table_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                   uint32_t number, const ss_table_facts *facts, ss_directory_writer *directory,
                                   sstore_error *error)
{
    ss_block_header header = {.segment_id = segment->segment_id,
                              .number = number,
                              .block_bytes = segment->block_bytes,
                              .table_count = segment->plan.table_count,
                              .distance = segment->plan.distance,
                              .radius = (uint32_t)segment->plan.tables[number].radius,
                              .key_mask = segment->plan.tables[number].key_mask};
    uint64_t symbol_counts[SS_SYMBOL_COUNT];
    memcpy(header.h_counts, facts->h_counts, sizeof header.h_counts);
    memcpy(header.gap_bit_counts, facts->gap_bit_counts, sizeof header.gap_bit_counts);
    ss_symbol_counts(header.h_counts, symbol_counts);
    ss_huffman_lengths(symbol_counts, header.code_lengths);

    const uint32_t most = ss_block_most(segment->block_bytes);
    *writer = (ss_table_writer){.block_bytes = segment->block_bytes, .is_first = number == 0};
    ss_array_writer_init(&writer->keys, directory, SS_ARRAY_KEYS, number);
    ss_array_writer_init(&writer->ranks, directory, SS_ARRAY_RANKS, number);
    writer->code = ss_alloc(1, sizeof *writer->code);
    writer->kept = ss_realloc(NULL, most, sizeof *writer->kept);
    writer->kept_bits = ss_realloc(NULL, most, 1);
    if (writer->code == NULL || writer->kept == NULL || writer->kept_bits == NULL)
        return ss_fail_memory(error, sizeof *writer->code + (uint64_t)most * 9);
    ss_code_init(writer->code, header.code_lengths);
    return ss_block_writer_open(&writer->file, dir, &header, error);
}

sstore_status ss_table_writer_finish(ss_table_writer *writer, ss_manifest_file *file_out, sstore_error *error)
{
    assert(writer->kept_count == 0);
    sstore_status status = ss_array_writer_finish(&writer->keys, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&writer->ranks, error);
    if (status == SSTORE_OK)
        status = ss_block_writer_finish(&writer->file, writer->block_count, writer->count, &file_out->header_checksum,
                                        error);
    file_out->block_count = writer->block_count;
    return status;
}

void ss_table_writer_close(ss_table_writer *writer)
{
    ss_block_writer_close(&writer->file);
    ss_free(writer->code);
    ss_free(writer->kept);
    ss_free(writer->kept_bits);
    ss_array_writer_free(&writer->keys);
    ss_array_writer_free(&writer->ranks);
    *writer = (ss_table_writer){.code = NULL};
}

/* ----- pieces ----- */

static uint32_t output_blocks(uint32_t block_bytes)
{
    return OUTPUT_BYTES / block_bytes;
}

size_t ss_table_piece_bytes(uint32_t block_bytes, size_t capacity)
{
    return (ss_block_most(block_bytes) + capacity) * (sizeof(uint64_t) + 1) + OUTPUT_BYTES;
}

sstore_status ss_table_piece_open(ss_table_piece *piece, uint32_t block_bytes, size_t capacity, sstore_error *error)
{
    *piece = (ss_table_piece){.margin = ss_block_most(block_bytes), .output_blocks = output_blocks(block_bytes)};
    piece->values = ss_realloc(NULL, piece->margin + capacity, sizeof *piece->values);
    piece->step_bits = ss_realloc(NULL, piece->margin + capacity, 1);
    piece->output = ss_realloc(NULL, piece->output_blocks, block_bytes);
    if (piece->values != NULL && piece->step_bits != NULL && piece->output != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, ss_table_piece_bytes(block_bytes, capacity));
}

void ss_table_piece_close(ss_table_piece *piece)
{
    ss_free(piece->values);
    ss_free(piece->step_bits);
    ss_free(piece->output);
    *piece = (ss_table_piece){.values = NULL};
}

void ss_table_piece_measure(ss_table_piece *piece, const ss_table_writer *writer, size_t count)
{
    piece->first = piece->margin;
    piece->count = count;
    ss_step_bits(writer->code, piece->values + piece->first, count, piece->step_bits + piece->first);
}

/* Put what was kept before the piece, and the step from the one to the other. */
static void take_kept(ss_table_writer *writer, ss_table_piece *piece)
{
    if (piece->count > 0 && writer->count > 0 && piece->values[piece->first] == writer->last) {
        piece->first++;
        piece->count--;
    }
    writer->count += piece->count;
    if (piece->count > 0)
        writer->last = piece->values[piece->first + piece->count - 1];
    piece->first -= writer->kept_count;
    piece->count += writer->kept_count;
    memcpy(piece->values + piece->first, writer->kept, writer->kept_count * sizeof *writer->kept);
    memcpy(piece->step_bits + piece->first, writer->kept_bits, writer->kept_count);
    if (writer->kept_count > 0 && piece->count > writer->kept_count) {
        size_t last_kept = piece->first + writer->kept_count - 1;
        ss_step_bits(writer->code, piece->values + last_kept, 2, piece->step_bits + last_kept);
    }
    writer->kept_count = 0;
}

static uint32_t fit(const ss_table_writer *writer, const ss_table_piece *piece, size_t done)
{
    const size_t at = piece->first + done;
    return ss_block_fit(writer->block_bytes, piece->values + at, piece->step_bits + at, piece->count - done);
}

sstore_status ss_table_writer_claim(ss_table_writer *writer, ss_table_piece *piece, bool is_last, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    take_kept(writer, piece);
    const uint64_t first_rank = writer->count - piece->count;
    piece->first_block = writer->block_count;
    size_t done = 0;
    while (status == SSTORE_OK && done < piece->count) {
        uint32_t fitting = fit(writer, piece, done);
        if (done + fitting == piece->count && !is_last)
            break;
        if (writer->is_first)
            status = ss_array_writer_add(&writer->ranks, first_rank + done, error);
        done += fitting;
        if (status == SSTORE_OK)
            status = ss_array_writer_add(&writer->keys, piece->values[piece->first + done - 1], error);
        writer->block_count++;
    }
    if (status != SSTORE_OK)
        return status; /* more may be left than can be kept */
    piece->block_count = writer->block_count - piece->first_block;
    writer->kept_count = (uint32_t)(piece->count - done);
    memcpy(writer->kept, piece->values + piece->first + done, writer->kept_count * sizeof *writer->kept);
    memcpy(writer->kept_bits, piece->step_bits + piece->first + done, writer->kept_count);
    return SSTORE_OK;
}

sstore_status ss_table_piece_write(ss_table_piece *piece, const ss_table_writer *writer, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    size_t done = 0;
    for (uint64_t block = 0; status == SSTORE_OK && block < piece->block_count;) {
        uint32_t count = (uint32_t)ss_min_u64(piece->block_count - block, piece->output_blocks);
        for (uint32_t i = 0; i < count; i++) {
            const size_t at = piece->first + done;
            uint32_t fitting = fit(writer, piece, done);
            ss_block_encode(writer->block_bytes, writer->code, piece->values + at, piece->step_bits + at, fitting,
                            piece->output + (size_t)i * writer->block_bytes);
            done += fitting;
        }
        status = ss_block_writer_put(&writer->file, piece->first_block + block, piece->output, count, error);
        block += count;
    }
    return status;
}
