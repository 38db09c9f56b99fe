#include "write/column_writer.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/ids.h"

#define OUTPUT_BYTES 262144u /* of blocks that are written at once */

/* The largest number of items in a block. */
static uint32_t block_capacity(bool of_ids, uint32_t block_bytes)
{
    return of_ids ? SS_IDS_BLOCK_CAPACITY : ss_block_capacity(block_bytes);
}

/* ----- the writer ----- */

static void set_code(ss_block_header *header, const ss_manifest_segment *segment, const ss_table_totals *metadata)
{
    const ss_plan_table *table = &segment->plan.tables[header->number];
    uint64_t symbol_counts[SS_SYMBOL_COUNT];
    header->radius = (uint32_t)table->radius;
    header->key_mask = table->key_mask;
    memcpy(header->h_counts, metadata->h_counts, sizeof header->h_counts);
    memcpy(header->gap_bit_counts, metadata->gap_bit_counts, sizeof header->gap_bit_counts);
    ss_symbol_counts(header->h_counts, symbol_counts);
    ss_huffman_lengths(symbol_counts, header->code_lengths);
}

sstore_status ss_column_writer_open(ss_column_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                    uint32_t number, const ss_table_totals *metadata, ss_directory_writer *directory,
                                    sstore_error *error)
{
    const bool of_ids = number == SS_IDS_NUMBER;
    const uint32_t max = block_capacity(of_ids, segment->block_bytes);
    ss_block_header header = {.segment_id = segment->segment_id,
                              .number = number,
                              .words = segment->words,
                              .block_bytes = segment->block_bytes,
                              .table_count = segment->plan.table_count,
                              .distance = segment->plan.distance};
    *writer = (ss_column_writer){.number = number, .block_bytes = segment->block_bytes};
    ss_array_writer_init(&writer->keys, directory, SS_ARRAY_KEYS, number);
    ss_array_writer_init(&writer->ranks, directory, SS_ARRAY_RANKS, number);
    writer->carried = ss_realloc(NULL, max, sizeof *writer->carried);
    writer->carried_marks = ss_realloc(NULL, max, 1);
    writer->code = of_ids ? NULL : ss_alloc(1, sizeof *writer->code);
    if (writer->carried == NULL || writer->carried_marks == NULL || (writer->code == NULL && !of_ids))
        return ss_fail_memory(error, sizeof *writer->code + (uint64_t)max * (sizeof *writer->carried + 1));
    if (!of_ids) {
        set_code(&header, segment, metadata);
        ss_code_assign(writer->code, header.code_lengths);
    }
    return ss_block_writer_open(&writer->file, dir, &header, error);
}

sstore_status ss_column_writer_finish(ss_column_writer *writer, ss_manifest_file *file_out, sstore_error *error)
{
    assert(writer->carried_count == 0);
    sstore_status status = ss_array_writer_finish(&writer->keys, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&writer->ranks, error);
    if (status == SSTORE_OK)
        status = ss_block_writer_finish(&writer->file, writer->block_count, writer->count, &file_out->header_checksum,
                                        error);
    file_out->block_count = writer->block_count;
    return status;
}

void ss_column_writer_close(ss_column_writer *writer)
{
    ss_block_writer_close(&writer->file);
    ss_free(writer->code);
    ss_free(writer->carried);
    ss_free(writer->carried_marks);
    ss_array_writer_free(&writer->keys);
    ss_array_writer_free(&writer->ranks);
    *writer = (ss_column_writer){.code = NULL};
}

/* ----- pieces ----- */

size_t ss_column_piece_bytes(bool of_ids, uint32_t block_bytes, size_t capacity)
{
    return (block_capacity(of_ids, block_bytes) + capacity) * (sizeof(uint64_t) + 1) + OUTPUT_BYTES;
}

sstore_status ss_column_piece_open(ss_column_piece *piece, bool of_ids, uint32_t block_bytes, size_t capacity,
                                   sstore_error *error)
{
    *piece = (ss_column_piece){.margin = block_capacity(of_ids, block_bytes)};
    piece->items = ss_realloc(NULL, piece->margin + capacity, sizeof *piece->items);
    piece->marks = ss_realloc(NULL, piece->margin + capacity, 1);
    piece->output = ss_realloc(NULL, OUTPUT_BYTES, 1);
    if (piece->items != NULL && piece->marks != NULL && piece->output != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, ss_column_piece_bytes(of_ids, block_bytes, capacity));
}

void ss_column_piece_close(ss_column_piece *piece)
{
    ss_free(piece->items);
    ss_free(piece->marks);
    ss_free(piece->output);
    *piece = (ss_column_piece){.items = NULL};
}

void ss_column_piece_measure(ss_column_piece *piece, const ss_column_writer *writer, size_t count)
{
    ss_step_bits(writer->code, piece->items + piece->margin, count, piece->marks + piece->margin);
}

/* Skip a fingerprint that ended the piece before, and note the last one of this piece. */
static void join_fingerprints(ss_column_writer *writer, ss_column_piece *piece)
{
    if (piece->count > 0 && writer->count > 0 && piece->items[piece->first] == writer->last) {
        piece->first++;
        piece->count--;
    }
    if (piece->count > 0)
        writer->last = piece->items[piece->first + piece->count - 1];
}

/* Put the carried items before the piece, and, in a table, mark the step from the last of them. */
static void take_carried(ss_column_writer *writer, ss_column_piece *piece)
{
    const uint32_t carried = writer->carried_count;
    writer->count += piece->count;
    piece->first -= carried;
    piece->count += carried;
    memcpy(piece->items + piece->first, writer->carried, carried * sizeof *writer->carried);
    memcpy(piece->marks + piece->first, writer->carried_marks, carried);
    if (writer->code != NULL && carried > 0 && piece->count > carried) {
        const size_t last_carried = piece->first + carried - 1;
        ss_step_bits(writer->code, piece->items + last_carried, 2, piece->marks + last_carried);
    }
    writer->carried_count = 0;
}

/* The number of the piece's items from `done` on that fit into one block. A block of ids also gets its frame. */
static uint32_t fit(const ss_column_writer *writer, const ss_column_piece *piece, size_t done, ss_ids_frame *frame_out)
{
    const uint64_t *items = piece->items + piece->first + done;
    const uint8_t *marks = piece->marks + piece->first + done;
    return writer->code != NULL ? ss_block_fit(writer->block_bytes, items, marks, piece->count - done)
                                : ss_ids_fit(writer->block_bytes, items, marks, piece->count - done, frame_out);
}

/* The number of records that start a rank. */
static uint32_t count_starts(const uint8_t *marks, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += marks[i];
    return sum;
}

/* Add the key of a block of `count` items, which ends before the piece's item `end`, to the directory, and in table 0
 * its rank. */
static sstore_status add_key(ss_column_writer *writer, const ss_column_piece *piece, size_t end, uint32_t count,
                             sstore_error *error)
{
    if (writer->code == NULL) {
        writer->next_rank += count_starts(piece->marks + piece->first + end - count, count);
        return ss_array_writer_add(&writer->keys, writer->next_rank - 1, error);
    }
    sstore_status status = SSTORE_OK;
    if (writer->number == 0)
        status = ss_array_writer_add(&writer->ranks, writer->count - piece->count + end - count, error);
    return status == SSTORE_OK ? ss_array_writer_add(&writer->keys, piece->items[piece->first + end - 1], error)
                               : status;
}

sstore_status ss_column_writer_reserve(ss_column_writer *writer, ss_column_piece *piece, size_t count, bool is_last,
                                       sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    ss_ids_frame frame;
    piece->first = piece->margin;
    piece->count = count;
    if (writer->code != NULL)
        join_fingerprints(writer, piece);
    take_carried(writer, piece);
    piece->first_block = writer->block_count;
    piece->first_rank = writer->next_rank;
    size_t done = 0;
    while (status == SSTORE_OK && done < piece->count) {
        const uint32_t fitting = fit(writer, piece, done, &frame);
        if (done + fitting == piece->count && !is_last)
            break;
        done += fitting;
        status = add_key(writer, piece, done, fitting, error);
        writer->block_count++;
    }
    if (status != SSTORE_OK)
        return status; /* more items may remain than can be carried */
    piece->block_count = writer->block_count - piece->first_block;
    writer->carried_count = (uint32_t)(piece->count - done);
    memcpy(writer->carried, piece->items + piece->first + done, writer->carried_count * sizeof *writer->carried);
    memcpy(writer->carried_marks, piece->marks + piece->first + done, writer->carried_count);
    return SSTORE_OK;
}

/* Encode the next block at `to`, and return the number of its items. *next_rank is that of the next record, if it
 * starts one. */
static uint32_t encode_block(const ss_column_piece *piece, const ss_column_writer *writer, size_t done,
                             uint64_t *next_rank, uint8_t *to)
{
    ss_ids_frame frame;
    const uint64_t *items = piece->items + piece->first + done;
    const uint8_t *marks = piece->marks + piece->first + done;
    const uint32_t fitting = fit(writer, piece, done, &frame);
    if (writer->code != NULL) {
        ss_block_encode(writer->block_bytes, writer->code, items, marks, fitting, to);
        return fitting;
    }
    const bool continued = done + fitting < piece->count && marks[fitting] == 0;
    const uint64_t first_rank = marks[0] != 0 ? *next_rank : *next_rank - 1;
    ss_ids_encode(writer->block_bytes, &frame, items, marks, first_rank, continued, to);
    *next_rank += count_starts(marks, fitting);
    return fitting;
}

sstore_status ss_column_piece_write(ss_column_piece *piece, const ss_column_writer *writer, sstore_error *error)
{
    const uint32_t output_blocks = OUTPUT_BYTES / writer->block_bytes;
    uint64_t next_rank = piece->first_rank;
    sstore_status status = SSTORE_OK;
    size_t done = 0;
    for (uint64_t block = 0; status == SSTORE_OK && block < piece->block_count;) {
        const uint32_t count = (uint32_t)ss_min_u64(piece->block_count - block, output_blocks);
        for (uint32_t i = 0; i < count; i++)
            done += encode_block(piece, writer, done, &next_rank, piece->output + (size_t)i * writer->block_bytes);
        status = ss_block_writer_put(&writer->file, piece->first_block + block, piece->output, count, error);
        block += count;
    }
    return status;
}
