#include "build/directory_rebuild.h"

#include "base/alloc.h"
#include "base/error.h"
#include "build/segment_build.h"
#include "store/table_stream.h"

static sstore_status fail_file(const ss_block_reader *blocks, const char *reason, sstore_error *error)
{
    return ss_fail_damaged(error, blocks->file.path, SSTORE_NO_OFFSET, "%s", reason);
}

/* The last fingerprints of a table's blocks; and of table 0 the first ranks. */
static sstore_status write_table(const ss_directory_rebuild *self, const ss_table *table, uint32_t number,
                                 ss_directory_writer *directory, sstore_error *error)
{
    const ss_block_source source = {.reader = &table->blocks, .code = &table->code};
    ss_table_stream stream;
    ss_array_writer keys, ranks;
    const uint64_t *values;
    uint64_t rank = 0;
    uint32_t count = 0;
    ss_array_writer_init(&keys, directory, SS_ARRAY_KEYS, number);
    ss_array_writer_init(&ranks, directory, SS_ARRAY_RANKS, number);
    sstore_status status = ss_table_stream_open(&stream, &source, error);
    while (status == SSTORE_OK) {
        status = ss_table_stream_next(&stream, &values, &count, error);
        if (status != SSTORE_OK || count == 0)
            break;
        if (number == 0)
            status = ss_array_writer_add(&ranks, rank, error);
        if (status == SSTORE_OK)
            status = ss_array_writer_add(&keys, values[count - 1], error);
        if (status == SSTORE_OK)
            status = ss_progress_add(self->progress, 0, count);
        rank += count;
    }
    if (status == SSTORE_OK && rank != table->blocks.header.item_count)
        status = fail_file(&table->blocks, "the table has another number of fingerprints than the manifest says", error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&keys, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&ranks, error);
    ss_array_writer_free(&keys);
    ss_array_writer_free(&ranks);
    ss_table_stream_close(&stream);
    return status;
}

/* Where the id column stands between two blocks. */
typedef struct ids_state {
    uint64_t next_rank, count;
    bool goes_on;      /* the last rank has more records */
    ss_id_order order; /* of its ids */
} ids_state;

static sstore_status follow_ids(ids_state *state, const ss_block_source *source, uint64_t number, const ss_ids_block *block,
                                sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    uint64_t id;
    if (block->first_rank != state->next_rank - (state->goes_on ? 1 : 0))
        return ss_block_reader_malformed(source->reader, number, "it does not begin with the rank after the block before", error);
    state->order.any &= state->goes_on;
    for (uint32_t i = 0; status == SSTORE_OK && i < block->count; i++) {
        state->order.any &= !ss_ids_block_starts_rank(block, i);
        status = ss_block_source_take_id(source, number, block, i, &state->order, &id, error);
    }
    state->next_rank = ss_ids_block_last_rank(block) + 1;
    state->goes_on = block->goes_on;
    state->count += block->count;
    return status;
}

/* The last ranks of the id column's blocks. */
static sstore_status write_ids(const ss_directory_rebuild *self, const ss_segment *segment, ss_directory_writer *directory,
                               sstore_error *error)
{
    const ss_block_reader *blocks = &segment->ids;
    const ss_block_source source = {.reader = blocks};
    ss_block_walk walk = ss_block_walk_from(0, UINT64_MAX);
    ids_state state = {.count = 0};
    ss_array_writer keys;
    uint8_t *buffer = ss_alloc(1, blocks->header.block_bytes);
    sstore_status status = buffer != NULL ? SSTORE_OK : ss_fail_memory(error, blocks->header.block_bytes);
    ss_array_writer_init(&keys, directory, SS_ARRAY_KEYS, SS_IDS_NUMBER);
    for (uint64_t number = 0; status == SSTORE_OK && number < blocks->header.block_count; number++) {
        const uint8_t *bytes;
        ss_ids_block block;
        ss_block_reader_ahead(blocks, number, &walk);
        status = ss_block_reader_get(blocks, number, buffer, &bytes, error);
        if (status == SSTORE_OK)
            status = ss_block_source_open_ids(&source, number, bytes, &block, error);
        if (status == SSTORE_OK)
            status = follow_ids(&state, &source, number, &block, error);
        if (status == SSTORE_OK)
            status = ss_array_writer_add(&keys, state.next_rank - 1, error);
        if (status == SSTORE_OK)
            status = ss_progress_add(self->progress, 0, block.count);
    }
    if (status == SSTORE_OK && (state.goes_on || state.next_rank != segment->facts.distinct_count ||
                                state.count != blocks->header.item_count))
        status = fail_file(blocks, "the ids are not those of the store's fingerprints", error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&keys, error);
    ss_array_writer_free(&keys);
    ss_free(buffer);
    return status;
}

/* ----- a segment ----- */

uint64_t ss_directory_rebuild_items(const ss_manifest_segment *segment, bool has_ids)
{
    return segment->plan.table_count * segment->distinct_count + (has_ids ? segment->record_count : 0);
}

/* A phase of some items begins. */
static void begin_phase(ss_directory_rebuild *self, const ss_segment *segment, uint32_t table, uint64_t items)
{
    self->begun_count += items;
    self->progress->now.table_count = segment->facts.plan.table_count;
    ss_progress_begin(self->progress, "indexing", table, items,
                      self->item_count > 0 ? (double)self->begun_count / (double)self->item_count : 1);
}

/* Room for what a build may need, so that the file is the same; and for blocks that a build would fill better. */
static uint64_t most_bytes(const ss_manifest_segment *facts, bool has_ids)
{
    uint64_t values = facts->tables[0].block_count + facts->ids.block_count;
    for (uint32_t i = 0; i < facts->plan.table_count; i++)
        values += facts->tables[i].block_count;
    return ss_max_u64(8 * values, ss_directory_bound_bytes(facts, has_ids));
}

sstore_status ss_directory_rebuild_run(ss_directory_rebuild *self, const ss_segment *segment, bool has_ids,
                                       const ss_dir *dir, ss_manifest_segment *facts, sstore_error *error)
{
    const uint64_t distinct = facts->distinct_count;
    ss_directory_writer *directory = NULL;
    sstore_status status = ss_directory_writer_open(dir, most_bytes(facts, has_ids), &directory, error);
    /* In the order of a build. */
    for (uint32_t number = 0; status == SSTORE_OK && number < facts->plan.table_count; number++) {
        const bool with_ids = number == 0 && has_ids;
        begin_phase(self, segment, number, distinct + (with_ids ? facts->record_count : 0));
        status = write_table(self, &segment->tables[number], number, directory, error);
        if (status == SSTORE_OK && with_ids)
            status = write_ids(self, segment, directory, error);
    }
    facts->lmdb_format = ss_directory_lmdb_format();
    if (status == SSTORE_OK)
        status = ss_directory_writer_finish(directory, &facts->directory_bytes, &facts->directory_sum, error);
    ss_directory_writer_close(directory);
    return status;
}
