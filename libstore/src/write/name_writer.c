#include "write/name_writer.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/column_iterators.h"

#define BATCH 1024u /* values that are given to the sorter, or names to the progress */

/* ----- the names of all ids ----- */

/* The distinct ids of a segment in ascending order, from the table of their index, and their names. */
typedef struct name_walk {
    const ss_name_writer *writer;
    ss_segment *id_index;
    ss_table_iterator table;
    const uint64_t *values;
    uint32_t count, at;
    uint64_t number; /* of names so far */
    uint64_t id;     /* of the last one */
} name_walk;

static sstore_status open_walk(name_walk *walk, const ss_name_writer *writer, sstore_error *error)
{
    const uint32_t place = ss_id_index_place(writer->segment);
    char name[SS_NAME_CAPACITY];
    ss_dir dir;
    *walk = (name_walk){.writer = writer};
    ss_index_folder_name(name, writer->segment, place);
    sstore_status status = ss_dir_open_at(writer->segment_dir, name, &dir, error);
    if (status == SSTORE_OK)
        status = ss_segment_open_staged(&dir, &writer->segment->indexes[place], &walk->id_index, error);
    if (status == SSTORE_OK)
        status = ss_table_iterator_open(&walk->table, &walk->id_index->tables[0].checked, error);
    ss_dir_close(&dir);
    return status;
}

static void close_walk(name_walk *walk)
{
    ss_table_iterator_close(&walk->table);
    ss_segment_release(walk->id_index);
}

static sstore_status rewind_walk(name_walk *walk, sstore_error *error)
{
    ss_table_iterator_seek(&walk->table, 0, UINT64_MAX);
    walk->count = walk->at = 0;
    walk->number = 0;
    return ss_name_merge_rewind(walk->writer->names, error);
}

/* Go to the next id, and find its name; *more_out is false at the end. */
static sstore_status next_name(name_walk *walk, bool *more_out, sstore_error *error)
{
    const uint32_t shift = ss_id_index_is_packed(walk->id_index->metadata.kind) ? 32 : 0;
    sstore_status status = SSTORE_OK;
    for (;;) {
        if (walk->at == walk->count) {
            status = ss_table_iterator_next(&walk->table, &walk->values, &walk->count, error);
            walk->at = 0;
        }
        *more_out = walk->count > 0;
        if (status != SSTORE_OK || !*more_out)
            return status;
        const uint64_t id = walk->values[walk->at++] >> shift;
        if (walk->number > 0 && id == walk->id)
            continue;
        walk->id = id;
        break;
    }
    if (walk->number++ % BATCH == 0)
        status = ss_progress_add(walk->writer->progress, 0, BATCH);
    return status == SSTORE_OK ? ss_name_merge_find(walk->writer->names, walk->id, error) : status;
}

/* ----- counting ----- */

/* What the names are counted for. */
typedef struct name_count {
    const ss_name_writer *writer;
    uint32_t number_bits;
    ss_u128 sum;
    uint64_t stride; /* one in as many names is taken into the sample */
    ss_fragment_sample *sample;
    size_t last_size;
    uint8_t *last, *text; /* the name before; what a name has behind the bytes that it shares with it */
    ss_sorter *sorter;
    uint32_t value_count;
    uint64_t values[BATCH];
} name_count;

static void sample_name(name_count *count, const uint8_t *name, size_t size)
{
    const size_t shared = ss_name_shared_bytes(count->last, count->last_size, name, size);
    memcpy(count->text, name + shared, size - shared);
    count->text[size - shared] = SS_NAME_END;
    ss_fragment_sample_add(count->sample, count->text, size - shared + 1);
}

/* The sum of a name. */
static ss_u128 sum_of(uint64_t id, const uint8_t *name, size_t size, uint8_t *buffer)
{
    ss_store_le64(buffer, id);
    memcpy(buffer + 8, name, size);
    return ss_hash128(buffer, 8 + size);
}

static sstore_status give_values(name_count *count, sstore_error *error)
{
    const uint32_t value_count = count->value_count;
    count->value_count = 0;
    return ss_sorter_add(count->sorter, 0, count->values, NULL, value_count, error);
}

/* Count the current name of a walk. */
static sstore_status count_name(name_count *count, const name_walk *walk, sstore_error *error)
{
    const ss_name_merge *names = count->writer->names;
    const uint64_t number = walk->number - 1;
    if (number % count->stride == 0)
        sample_name(count, names->name, names->size);
    memcpy(count->last, names->name, names->size);
    count->last_size = names->size;
    count->sum = ss_u128_add(count->sum, sum_of(walk->id, names->name, names->size, count->text));
    count->values[count->value_count++] = ss_names_value(ss_hash64(names->name, names->size), count->number_bits) |
                                          number;
    return count->value_count == BATCH ? give_values(count, error) : SSTORE_OK;
}

static sstore_status open_count(name_count *count, const ss_name_writer *writer, sstore_error *error)
{
    const uint64_t max = writer->segment->record_count;
    const ss_sorter_options options = {.item_words = 1,
                                       .writers = 1,
                                       .pool = writer->pool,
                                       .piece_capacity = ss_piece_capacity(writer->memory.piece_capacity, max),
                                       .expected_count = max,
                                       .tmp_dir = writer->tmp_dir};
    *count = (name_count){.writer = writer,
                          .number_bits = ss_names_number_bits(ss_names_kind(max)),
                          .stride = ss_max_u64(max / SS_SAMPLE_TEXTS, 1),
                          .sample = ss_alloc(1, sizeof *count->sample),
                          .last = ss_alloc(1, SS_NAME_BUFFER_BYTES),
                          .text = ss_alloc(1, SS_NAME_BUFFER_BYTES)};
    if (count->sample == NULL || count->last == NULL || count->text == NULL)
        return ss_fail_memory(error, sizeof *count->sample + 2 * SS_NAME_BUFFER_BYTES);
    return ss_sorter_create(&options, &count->sorter, error);
}

static void close_count(name_count *count)
{
    ss_free(count->sample);
    ss_free(count->last);
    ss_free(count->text);
    ss_sorter_free(count->sorter);
}

static sstore_status choose_fragments(const ss_fragment_sample *sample, ss_fragments *fragments_out,
                                      sstore_error *error)
{
    ss_fragment_choice *choice = ss_alloc(1, ss_fragment_choice_bytes());
    if (choice == NULL)
        return ss_fail_memory(error, ss_fragment_choice_bytes());
    ss_fragments_choose(fragments_out, sample, choice);
    ss_free(choice);
    return SSTORE_OK;
}

/* Count all names. */
static sstore_status count_names(const ss_name_writer *self, name_walk *walk, ss_manifest_segment *part,
                                 ss_fragments *fragments_out, ss_sorted_pieces *pieces_out, sstore_error *error)
{
    name_count count;
    bool more = true;
    sstore_status status = open_count(&count, self, error);
    if (status == SSTORE_OK)
        status = rewind_walk(walk, error);
    while (status == SSTORE_OK && more) {
        status = next_name(walk, &more, error);
        if (status == SSTORE_OK && more)
            status = count_name(&count, walk, error);
    }
    if (status == SSTORE_OK)
        status = give_values(&count, error);
    if (status == SSTORE_OK)
        status = choose_fragments(count.sample, fragments_out, error);
    if (status == SSTORE_OK)
        status = ss_sorter_finish(count.sorter, self->progress, error);
    if (status == SSTORE_OK) {
        part->kind = ss_names_kind(self->segment->record_count);
        part->record_count = part->distinct_count = walk->number;
        part->content_sum = count.sum;
        part->segment_id = ss_segment_id(part);
        *pieces_out = ss_pieces_of_sorter(count.sorter,
                                          ss_piece_capacity(self->memory.piece_capacity, self->segment->record_count));
        count.sorter = NULL; /* it is freed with the pieces */
    }
    close_count(&count);
    return status;
}

/* ----- encoding ----- */

/* The column that is written. */
typedef struct column {
    ss_block_writer file;
    ss_names_encoder encoder;
    uint64_t block_count;
    uint32_t filled, room; /* blocks of the buffer */
    uint8_t *buffer;
    void *memory; /* of the encoder */
} column;

#define BUFFER_BYTES ((size_t)1 << 20)

static sstore_status open_column(column *to, const ss_name_writer *self, const ss_manifest_segment *part,
                                 const ss_fragments *fragments, uint8_t stored[SS_FRAGMENTS_STORED_BYTES],
                                 sstore_error *error)
{
    ss_block_header header = {.segment_id = part->segment_id,
                              .number = SS_NAMES_NUMBER,
                              .words = 1,
                              .table_count = part->plan.table_count,
                              .distance = part->plan.distance,
                              .block_bytes = part->block_bytes};
    ss_fragments_store(fragments, stored);
    ss_block_header_set_fragments(&header, stored);
    *to = (column){.room = (uint32_t)(BUFFER_BYTES / part->block_bytes),
                   .buffer = ss_realloc(NULL, BUFFER_BYTES, 1),
                   .memory = ss_alloc(1, ss_names_encoder_bytes(part->block_bytes))};
    to->file.file = SS_FILE_NONE;
    if (to->buffer == NULL || to->memory == NULL)
        return ss_fail_memory(error, BUFFER_BYTES + ss_names_encoder_bytes(part->block_bytes));
    ss_names_encoder_init(&to->encoder, fragments, part->block_bytes, to->memory);
    return ss_block_writer_open(&to->file, self->dir, &header, error);
}

static void close_column(column *to)
{
    ss_block_writer_close(&to->file);
    ss_free(to->buffer);
    ss_free(to->memory);
}

static sstore_status write_buffer(column *to, sstore_error *error)
{
    const sstore_status status = ss_block_writer_put(&to->file, to->block_count, to->buffer, to->filled, error);
    to->block_count += to->filled;
    to->filled = 0;
    return status;
}

/* Take the block that is full, or the blocks of a long name. */
static sstore_status take_blocks(column *to, sstore_error *error)
{
    const uint32_t block_bytes = to->encoder.block_bytes;
    sstore_status status = SSTORE_OK;
    bool more = true;
    while (status == SSTORE_OK && more) {
        more = ss_names_encoder_take(&to->encoder, to->buffer + (size_t)to->filled * block_bytes);
        if (++to->filled == to->room)
            status = write_buffer(to, error);
    }
    return status;
}

static sstore_status put_name(column *to, uint64_t id, const ss_name_merge *names, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (ss_names_encoder_add(&to->encoder, id, names->name, names->size))
        return SSTORE_OK;
    status = take_blocks(to, error);
    if (status != SSTORE_OK)
        return status;
    const bool is_taken = ss_names_encoder_add(&to->encoder, id, names->name, names->size);
    assert(is_taken); /* an empty block takes any name */
    (void)is_taken;
    return SSTORE_OK;
}

static sstore_status write_column(const ss_name_writer *self, name_walk *walk, const ss_fragments *fragments,
                                  ss_manifest_segment *part, sstore_error *error)
{
    uint8_t stored[SS_FRAGMENTS_STORED_BYTES];
    column to;
    bool more = true;
    sstore_status status = open_column(&to, self, part, fragments, stored, error);
    if (status == SSTORE_OK)
        status = rewind_walk(walk, error);
    while (status == SSTORE_OK && more) {
        status = next_name(walk, &more, error);
        if (status == SSTORE_OK && more)
            status = put_name(&to, walk->id, self->names, error);
    }
    if (status == SSTORE_OK && walk->number > 0)
        status = take_blocks(&to, error);
    if (status == SSTORE_OK && to.filled > 0)
        status = write_buffer(&to, error);
    if (status == SSTORE_OK) {
        part->ids.block_count = to.block_count;
        status = ss_block_writer_finish(&to.file, to.block_count, walk->number, &part->ids.header_checksum, error);
    }
    close_column(&to);
    return status;
}

sstore_status ss_name_writer_run(const ss_name_writer *self, ss_manifest_segment *part, ss_sorted_pieces *pieces_out,
                                 sstore_error *error)
{
    ss_fragments *fragments = ss_alloc(1, sizeof *fragments);
    name_walk walk = {.writer = self};
    if (fragments == NULL)
        return ss_fail_memory(error, sizeof *fragments);
    sstore_status status = open_walk(&walk, self, error);
    ss_progress_begin(self->progress, "naming", 0, 2 * self->segment->record_count, self->progress->end_fraction);
    if (status == SSTORE_OK)
        status = count_names(self, &walk, part, fragments, pieces_out, error);
    if (status == SSTORE_OK) {
        status = write_column(self, &walk, fragments, part, error);
        if (status != SSTORE_OK)
            ss_pieces_release(pieces_out);
    }
    close_walk(&walk);
    ss_free(fragments);
    return status;
}
