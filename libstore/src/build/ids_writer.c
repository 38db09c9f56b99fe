#include "build/ids_writer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define OUTPUT_BYTES 262144u /* of blocks that are written at once */

/* ----- the writer ----- */

sstore_status ss_ids_writer_open(ss_ids_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                 ss_directory_writer *directory, sstore_error *error)
{
    ss_block_header header = {.segment_id = segment->segment_id,
                              .number = SS_IDS_NUMBER,
                              .table_count = segment->plan.table_count,
                              .distance = segment->plan.distance,
                              .block_bytes = segment->block_bytes};
    *writer = (ss_ids_writer){.block_bytes = header.block_bytes};
    ss_array_writer_init(&writer->keys, directory, SS_ARRAY_KEYS, SS_IDS_NUMBER);
    writer->kept = ss_realloc(NULL, SS_IDS_BLOCK_MOST, sizeof *writer->kept);
    writer->kept_starts = ss_realloc(NULL, SS_IDS_BLOCK_MOST, 1);
    if (writer->kept == NULL || writer->kept_starts == NULL)
        return ss_fail_memory(error, SS_IDS_BLOCK_MOST * (sizeof *writer->kept + 1));
    return ss_block_writer_open(&writer->file, dir, &header, error);
}

sstore_status ss_ids_writer_finish(ss_ids_writer *writer, ss_manifest_file *file_out, sstore_error *error)
{
    assert(writer->kept_count == 0);
    sstore_status status = ss_array_writer_finish(&writer->keys, error);
    if (status == SSTORE_OK)
        status = ss_block_writer_finish(&writer->file, writer->block_count, writer->count, &file_out->header_checksum,
                                        error);
    file_out->block_count = writer->block_count;
    return status;
}

void ss_ids_writer_close(ss_ids_writer *writer)
{
    ss_block_writer_close(&writer->file);
    ss_array_writer_free(&writer->keys);
    ss_free(writer->kept);
    ss_free(writer->kept_starts);
    *writer = (ss_ids_writer){.kept = NULL};
}

/* ----- pieces ----- */

size_t ss_ids_piece_bytes(size_t capacity)
{
    return (SS_IDS_MARGIN + capacity) * (sizeof(uint64_t) + 1) + OUTPUT_BYTES;
}

sstore_status ss_ids_piece_open(ss_ids_piece *piece, uint32_t block_bytes, size_t capacity, sstore_error *error)
{
    *piece = (ss_ids_piece){.output_blocks = OUTPUT_BYTES / block_bytes};
    piece->ids = ss_realloc(NULL, SS_IDS_MARGIN + capacity, sizeof *piece->ids);
    piece->starts = ss_realloc(NULL, SS_IDS_MARGIN + capacity, 1);
    piece->output = ss_realloc(NULL, piece->output_blocks, block_bytes);
    if (piece->ids != NULL && piece->starts != NULL && piece->output != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, ss_ids_piece_bytes(capacity));
}

void ss_ids_piece_close(ss_ids_piece *piece)
{
    ss_free(piece->ids);
    ss_free(piece->starts);
    ss_free(piece->output);
    *piece = (ss_ids_piece){.ids = NULL};
}

static void take_kept(ss_ids_writer *writer, ss_ids_piece *piece)
{
    writer->count += piece->count;
    piece->first = SS_IDS_MARGIN - writer->kept_count;
    piece->count += writer->kept_count;
    memcpy(piece->ids + piece->first, writer->kept, writer->kept_count * sizeof *writer->kept);
    memcpy(piece->starts + piece->first, writer->kept_starts, writer->kept_count);
    writer->kept_count = 0;
}

static uint32_t fit(const ss_ids_piece *piece, uint32_t block_bytes, size_t done, ss_ids_frame *frame)
{
    const size_t at = piece->first + done;
    return ss_ids_fit(block_bytes, piece->ids + at, piece->starts + at, piece->count - done, frame);
}

/* How many of the records start a rank. */
static uint32_t count_starts(const ss_ids_piece *piece, size_t done, uint32_t count)
{
    const uint8_t *starts = piece->starts + piece->first + done;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += starts[i];
    return sum;
}

sstore_status ss_ids_writer_claim(ss_ids_writer *writer, ss_ids_piece *piece, size_t count, bool is_last,
                                  sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    ss_ids_frame frame;
    piece->count = count;
    take_kept(writer, piece);
    piece->first_block = writer->block_count;
    piece->first_rank = writer->next_rank;
    size_t done = 0;
    while (status == SSTORE_OK && done < piece->count) {
        uint32_t fitting = fit(piece, writer->block_bytes, done, &frame);
        if (done + fitting == piece->count && !is_last)
            break;
        writer->next_rank += count_starts(piece, done, fitting);
        status = ss_array_writer_add(&writer->keys, writer->next_rank - 1, error);
        writer->block_count++;
        done += fitting;
    }
    if (status != SSTORE_OK)
        return status; /* more may be left than can be kept */
    piece->block_count = writer->block_count - piece->first_block;
    writer->kept_count = (uint32_t)(piece->count - done);
    memcpy(writer->kept, piece->ids + piece->first + done, writer->kept_count * sizeof *writer->kept);
    memcpy(writer->kept_starts, piece->starts + piece->first + done, writer->kept_count);
    return SSTORE_OK;
}

sstore_status ss_ids_piece_write(ss_ids_piece *piece, const ss_ids_writer *writer, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    ss_ids_frame frame;
    uint64_t next_rank = piece->first_rank;
    size_t done = 0;
    for (uint64_t block = 0; status == SSTORE_OK && block < piece->block_count;) {
        uint32_t count = (uint32_t)ss_min_u64(piece->block_count - block, piece->output_blocks);
        for (uint32_t i = 0; i < count; i++) {
            const size_t at = piece->first + done;
            uint32_t fitting = fit(piece, writer->block_bytes, done, &frame);
            bool goes_on = done + fitting < piece->count && piece->starts[at + fitting] == 0;
            uint64_t first_rank = piece->starts[at] != 0 ? next_rank : next_rank - 1;
            ss_ids_encode(writer->block_bytes, &frame, piece->ids + at, piece->starts + at, first_rank, goes_on,
                          piece->output + (size_t)i * writer->block_bytes);
            next_rank += count_starts(piece, done, fitting);
            done += fitting;
        }
        status = ss_block_writer_put(&writer->file, piece->first_block + block, piece->output, count, error);
        block += count;
    }
    return status;
}
