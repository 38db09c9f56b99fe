#include "write/column_writer.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/ids.h"
#include "codec/rows.h"

#define OUTPUT_BYTES 262144u /* of blocks that are written at once */

/* ----- blocks of each kind ----- */

/* The items of a block: the first `count` of those that are left in a piece. */
typedef struct block_items {
    const uint64_t *values;
    const uint8_t *marks;
    size_t left;
    uint32_t count;
    ss_ids_frame frame; /* of a block of ids */
} block_items;

static uint32_t fit_coded(const ss_column_form *form, block_items *items)
{
    return ss_block_fit(form->block_bytes, items->values, items->marks, items->left);
}

static uint32_t fit_whole(const ss_column_form *form, block_items *items)
{
    return (uint32_t)ss_min_u64(items->left, ss_rows_capacity(form->block_bytes, form->words));
}

static uint32_t fit_ids(const ss_column_form *form, block_items *items)
{
    return ss_ids_fit(form->block_bytes, items->values, items->marks, items->left, &items->frame);
}

/* The key of a table's block: its last fingerprint, or the first word of that. */
static uint64_t last_word(const ss_column_form *form, const block_items *items, uint64_t *next_rank)
{
    (void)next_rank;
    return items->values[(size_t)(items->count - 1) * form->words];
}

/* The key of a block of ids. *next_rank is that of the next record, if it starts one. */
static uint64_t last_rank(const ss_column_form *form, const block_items *items, uint64_t *next_rank)
{
    uint32_t starts = 0;
    (void)form;
    for (uint32_t i = 0; i < items->count; i++)
        starts += items->marks[i];
    *next_rank += starts;
    return *next_rank - 1;
}

static void encode_coded(const ss_column_writer *writer, const block_items *items, uint64_t next_rank, uint8_t *to)
{
    (void)next_rank;
    ss_block_encode(writer->form.block_bytes, writer->code, items->values, items->marks, items->count, to);
}

static void encode_whole(const ss_column_writer *writer, const block_items *items, uint64_t next_rank, uint8_t *to)
{
    (void)next_rank;
    ss_rows_encode(writer->form.block_bytes, items->values, items->count, writer->form.words, to);
}

static void encode_ids(const ss_column_writer *writer, const block_items *items, uint64_t next_rank, uint8_t *to)
{
    const bool continued = items->count < items->left && items->marks[items->count] == 0;
    const uint64_t first_rank = items->marks[0] != 0 ? next_rank : next_rank - 1;
    ss_ids_encode(writer->form.block_bytes, &items->frame, items->values, items->marks, first_rank, continued, to);
}

/* What the kinds differ in. */
typedef struct kind_methods {
    uint32_t (*fit)(const ss_column_form *form, block_items *items); /* how many items fit into a block, at least one */
    uint64_t (*key)(const ss_column_form *form, const block_items *items, uint64_t *next_rank);
    void (*encode)(const ss_column_writer *writer, const block_items *items, uint64_t next_rank, uint8_t *to);
} kind_methods;

static const kind_methods KINDS[] = {
    [SS_COLUMN_CODED] = {fit_coded, last_word, encode_coded},
    [SS_COLUMN_WHOLE] = {fit_whole, last_word, encode_whole},
    [SS_COLUMN_IDS] = {fit_ids, last_rank, encode_ids},
};

/* The largest number of items in a block. */
static uint32_t block_capacity(ss_column_form form)
{
    if (form.kind == SS_COLUMN_IDS)
        return SS_IDS_BLOCK_CAPACITY;
    return form.kind == SS_COLUMN_CODED ? ss_block_capacity(form.block_bytes)
                                        : ss_rows_capacity(form.block_bytes, form.words);
}

/* The items of the block that begins with item `done` of a piece. */
static block_items cut_block(const ss_column_writer *writer, const ss_column_piece *piece, size_t done)
{
    const size_t first = piece->first + done;
    block_items items = {.values = piece->items + first * piece->words,
                         .marks = piece->marks + first,
                         .left = piece->count - done};
    items.count = KINDS[writer->form.kind].fit(&writer->form, &items);
    return items;
}

/* ----- the writer ----- */

static void set_code(ss_block_header *header, const ss_manifest_segment *segment, const ss_table_totals *totals)
{
    const ss_plan_table *table = &segment->plan.tables[header->number];
    uint64_t symbol_counts[SS_SYMBOL_COUNT];
    header->radius = (uint32_t)table->radius;
    header->key_mask = table->key_mask;
    memcpy(header->h_counts, totals->h_counts, sizeof header->h_counts);
    memcpy(header->gap_bit_counts, totals->gap_bit_counts, sizeof header->gap_bit_counts);
    ss_symbol_counts(header->h_counts, symbol_counts);
    ss_huffman_lengths(symbol_counts, header->code_lengths);
}

sstore_status ss_column_writer_open(ss_column_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                    uint32_t number, const ss_table_totals *totals, ss_directory_writer *directory,
                                    sstore_error *error)
{
    const ss_column_form form = number == SS_IDS_NUMBER ? ss_ids_form(segment->block_bytes)
                                                        : ss_table_form(segment->words, segment->block_bytes);
    const bool is_coded = form.kind == SS_COLUMN_CODED;
    const uint32_t max = block_capacity(form);
    ss_block_header header = {.segment_id = segment->segment_id,
                              .number = number,
                              .words = segment->words,
                              .block_bytes = segment->block_bytes,
                              .table_count = segment->plan.table_count,
                              .distance = segment->plan.distance};
    *writer = (ss_column_writer){.form = form, .number = number};
    ss_array_writer_init(&writer->keys, directory, SS_ARRAY_KEYS, number);
    ss_array_writer_init(&writer->ranks, directory, SS_ARRAY_RANKS, number);
    writer->carried = ss_realloc(NULL, max, form.words * sizeof *writer->carried);
    writer->carried_marks = ss_realloc(NULL, max, 1);
    writer->code = is_coded ? ss_alloc(1, sizeof *writer->code) : NULL;
    if (writer->carried == NULL || writer->carried_marks == NULL || (writer->code == NULL && is_coded))
        return ss_fail_memory(error, sizeof *writer->code + (uint64_t)max * (form.words * sizeof *writer->carried + 1));
    if (is_coded) {
        set_code(&header, segment, totals);
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

uint64_t ss_column_piece_bytes(ss_column_form form, size_t capacity)
{
    return (block_capacity(form) + (uint64_t)capacity) * (form.words * sizeof(uint64_t) + 1) + OUTPUT_BYTES;
}

sstore_status ss_column_piece_open(ss_column_piece *piece, ss_column_form form, size_t capacity, sstore_error *error)
{
    *piece = (ss_column_piece){.words = form.words, .margin = block_capacity(form)};
    piece->items = ss_realloc(NULL, piece->margin + capacity, form.words * sizeof *piece->items);
    piece->marks = ss_realloc(NULL, piece->margin + capacity, 1);
    piece->output = ss_realloc(NULL, OUTPUT_BYTES, 1);
    if (piece->items != NULL && piece->marks != NULL && piece->output != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, ss_column_piece_bytes(form, capacity));
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
    if (writer->form.kind == SS_COLUMN_CODED)
        ss_step_bits(writer->code, ss_column_piece_items(piece), count, ss_column_piece_marks(piece));
    else
        memset(ss_column_piece_marks(piece), 0, count);
}

/* Skip a fingerprint that ended the piece before, and note the last one of this piece. */
static void join_fingerprints(ss_column_writer *writer, ss_column_piece *piece)
{
    const uint32_t words = piece->words;
    const uint64_t *items = ss_column_piece_items(piece);
    if (piece->count == 0)
        return;
    piece->repeats = writer->count > 0 && ss_words_equal(items, writer->last, words);
    ss_words_copy(writer->last, items + (piece->count - 1) * words, words);
    piece->first += piece->repeats;
    piece->count -= piece->repeats;
}

/* Put the carried items before the piece, and, in a coded table, mark the step from the last of them. */
static void take_carried(ss_column_writer *writer, ss_column_piece *piece)
{
    const uint32_t carried = writer->carried_count;
    writer->count += piece->count;
    piece->first -= carried;
    piece->count += carried;
    memcpy(piece->items + piece->first * piece->words, writer->carried,
           (size_t)carried * piece->words * sizeof *writer->carried);
    memcpy(piece->marks + piece->first, writer->carried_marks, carried);
    if (writer->code != NULL && carried > 0 && piece->count > carried) {
        const size_t last_carried = piece->first + carried - 1;
        ss_step_bits(writer->code, piece->items + last_carried, 2, piece->marks + last_carried);
    }
    writer->carried_count = 0;
}

/* Carry the piece's items from `done` on into the next piece. They are at most as many as a block can have. */
static void carry(ss_column_writer *writer, const ss_column_piece *piece, size_t done)
{
    const size_t first = piece->first + done;
    writer->carried_count = (uint32_t)(piece->count - done);
    memcpy(writer->carried, piece->items + first * piece->words,
           (size_t)writer->carried_count * piece->words * sizeof *writer->carried);
    memcpy(writer->carried_marks, piece->marks + first, writer->carried_count);
}

/* Add the key of a block to the directory, and in a coded table 0 its first rank. Whole fingerprints are found by their
 * ranks without it, since all blocks but the last are full. */
static sstore_status add_key(ss_column_writer *writer, const block_items *items, sstore_error *error)
{
    const uint64_t key = KINDS[writer->form.kind].key(&writer->form, items, &writer->next_rank);
    sstore_status status = SSTORE_OK;
    if (writer->form.kind == SS_COLUMN_CODED && writer->number == 0)
        status = ss_array_writer_add(&writer->ranks, writer->count - items->left, error);
    return status == SSTORE_OK ? ss_array_writer_add(&writer->keys, key, error) : status;
}

sstore_status ss_column_writer_reserve(ss_column_writer *writer, ss_column_piece *piece, size_t count, bool is_last,
                                       sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    piece->first = piece->margin;
    piece->count = count;
    piece->repeats = false;
    if (writer->form.kind != SS_COLUMN_IDS)
        join_fingerprints(writer, piece);
    take_carried(writer, piece);
    piece->first_block = writer->block_count;
    piece->first_rank = writer->next_rank;
    size_t done = 0;
    while (status == SSTORE_OK && done < piece->count) {
        const block_items items = cut_block(writer, piece, done);
        if (items.count == items.left && !is_last)
            break;
        done += items.count;
        status = add_key(writer, &items, error);
        writer->block_count++;
    }
    if (status != SSTORE_OK)
        return status; /* more items may remain than can be carried */
    piece->block_count = writer->block_count - piece->first_block;
    carry(writer, piece, done);
    return SSTORE_OK;
}

sstore_status ss_column_piece_write(ss_column_piece *piece, const ss_column_writer *writer, sstore_error *error)
{
    const kind_methods *kind = &KINDS[writer->form.kind];
    const uint32_t block_bytes = writer->form.block_bytes, output_blocks = OUTPUT_BYTES / block_bytes;
    uint64_t next_rank = piece->first_rank;
    sstore_status status = SSTORE_OK;
    size_t done = 0;
    for (uint64_t block = 0; status == SSTORE_OK && block < piece->block_count;) {
        const uint32_t count = (uint32_t)ss_min_u64(piece->block_count - block, output_blocks);
        for (uint32_t i = 0; i < count; i++) {
            const block_items items = cut_block(writer, piece, done);
            kind->encode(writer, &items, next_rank, piece->output + (size_t)i * block_bytes);
            (void)kind->key(&writer->form, &items, &next_rank);
            done += items.count;
        }
        status = ss_block_writer_put(&writer->file, piece->first_block + block, piece->output, count, error);
        block += count;
    }
    return status;
}
