#include "build/directory_rebuild.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "build/segment_build.h"
#include "file/ids.h"
#include "store/table_stream.h"

#define RANGE_BLOCKS 64u /* that a task reads */

/* What the directory, and the check that blocks follow each other, need to know of a block. */
typedef struct block_facts {
    uint64_t first, last; /* fingerprints; in the id column, ranks */
    uint32_t count;
    bool goes_on;               /* in the id column: the last rank has records in the next block too */
    uint64_t first_id, last_id; /* in the id column */
} block_facts;

/* What a thread reads with. */
typedef struct reading_worker {
    ss_table_stream stream; /* opened when first needed, as the buffer */
    uint8_t *buffer;
} reading_worker;

/* A block file that is read. */
typedef struct file_reading {
    const ss_block_reader *blocks;
    ss_block_source source; /* of these; without a code: it is the id column */
    ss_progress *progress;
    block_facts *facts; /* of each block */
    uint32_t worker_count;
    reading_worker *workers;
} file_reading;

/* ----- reading ----- */

static sstore_status read_table_range(const file_reading *self, uint64_t first, uint64_t end, reading_worker *worker,
                                      uint64_t *items_out, sstore_error *error)
{
    ss_table_stream *stream = &worker->stream;
    sstore_status status = SSTORE_OK;
    if (stream->buffer == NULL) {
        status = ss_table_stream_open(stream, &self->source, error);
    }
    ss_table_stream_seek(stream, first, end);
    for (uint64_t block = first; status == SSTORE_OK; block++) {
        const uint64_t *values;
        uint32_t count;
        status = ss_table_stream_next(stream, &values, &count, error);
        if (status != SSTORE_OK || count == 0)
            break;
        self->facts[block] = (block_facts){.first = values[0], .last = values[count - 1], .count = count};
        *items_out += count;
    }
    return status;
}

static block_facts facts_of_ids(const ss_ids_block *block)
{
    return (block_facts){.first = block->first_rank,
                         .last = ss_ids_block_last_rank(block),
                         .count = block->count,
                         .goes_on = block->goes_on,
                         .first_id = ss_ids_block_id(block, 0),
                         .last_id = ss_ids_block_id(block, block->count - 1)};
}

static sstore_status read_ids_range(const file_reading *self, uint64_t first, uint64_t end, reading_worker *worker,
                                    uint64_t *items_out, sstore_error *error)
{
    const ss_block_reader *blocks = self->blocks;
    ss_block_walk walk = ss_block_walk_from(first, end);
    if (worker->buffer == NULL)
        worker->buffer = ss_alloc(1, blocks->header.block_bytes);
    if (worker->buffer == NULL)
        return ss_fail_memory(error, blocks->header.block_bytes);
    for (uint64_t number = first; number < end; number++) {
        const uint8_t *bytes;
        ss_ids_block block;
        ss_block_reader_ahead(blocks, number, &walk);
        sstore_status status = ss_block_reader_get(blocks, number, worker->buffer, &bytes, error);
        if (status == SSTORE_OK)
            status = ss_block_source_open_ids(&self->source, number, bytes, &block, error);
        if (status == SSTORE_OK)
            status = ss_block_source_check_ids(&self->source, number, &block, error);
        if (status != SSTORE_OK)
            return status;
        self->facts[number] = facts_of_ids(&block);
        *items_out += block.count;
    }
    return SSTORE_OK;
}

static sstore_status read_range(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const file_reading *self = context;
    const uint64_t first = task * RANGE_BLOCKS;
    const uint64_t end = ss_min_u64(first + RANGE_BLOCKS, self->blocks->header.block_count);
    uint64_t items = 0;
    const sstore_status status = self->source.code != NULL
                                     ? read_table_range(self, first, end, &self->workers[worker], &items, error)
                                     : read_ids_range(self, first, end, &self->workers[worker], &items, error);
    return status == SSTORE_OK ? ss_progress_add(self->progress, worker, items) : status;
}

static void close_file(file_reading *file)
{
    for (uint32_t i = 0; file->workers != NULL && i < file->worker_count; i++) {
        ss_table_stream_close(&file->workers[i].stream);
        ss_free(file->workers[i].buffer);
    }
    ss_free(file->workers);
    ss_free(file->facts);
}

/* Read all blocks of a file. `code`: the table's; NULL for the id column. Also to be closed after a failure. */
static sstore_status read_file(const ss_directory_rebuild *rebuild, const ss_block_reader *blocks, const ss_code *code,
                               file_reading *file_out, sstore_error *error)
{
    const uint64_t count = blocks->header.block_count;
    *file_out = (file_reading){
        .blocks = blocks, .source = {.reader = blocks, .code = code}, .progress = rebuild->progress, .worker_count = rebuild->threads};
    file_out->facts = ss_alloc(count, sizeof *file_out->facts);
    file_out->workers = ss_alloc(rebuild->threads, sizeof *file_out->workers);
    if (file_out->facts == NULL || file_out->workers == NULL)
        return ss_fail_memory(error, count * sizeof *file_out->facts);
    return ss_pool_run(rebuild->threads, (count + RANGE_BLOCKS - 1) / RANGE_BLOCKS, read_range, file_out, error);
}

/* ----- writing ----- */

static sstore_status fail_file(const file_reading *file, const char *reason, sstore_error *error)
{
    return ss_fail_damaged(error, file->blocks->file.path, SSTORE_NO_OFFSET, "%s", reason);
}

/* The last fingerprints of a table's blocks; and of table 0 the first ranks. */
static sstore_status write_table(const file_reading *file, uint32_t number, ss_directory_writer *directory,
                                 sstore_error *error)
{
    const ss_block_header *header = &file->blocks->header;
    ss_array_writer keys, ranks;
    uint64_t rank = 0;
    sstore_status status = SSTORE_OK;
    ss_array_writer_init(&keys, directory, SS_ARRAY_KEYS, number);
    ss_array_writer_init(&ranks, directory, SS_ARRAY_RANKS, number);
    for (uint64_t block = 0; status == SSTORE_OK && block < header->block_count; block++) {
        const block_facts *facts = &file->facts[block];
        if (block > 0 && facts->first <= facts[-1].last)
            status = ss_block_reader_malformed(file->blocks, block,
                                               "its fingerprints do not ascend from the block before", error);
        if (status == SSTORE_OK && number == 0)
            status = ss_array_writer_add(&ranks, rank, error);
        if (status == SSTORE_OK)
            status = ss_array_writer_add(&keys, facts->last, error);
        rank += facts->count;
    }
    if (status == SSTORE_OK && rank != header->item_count)
        status = fail_file(file, "the table has another number of fingerprints than the manifest says", error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&keys, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&ranks, error);
    ss_array_writer_free(&keys);
    ss_array_writer_free(&ranks);
    return status;
}

/* The last ranks of the id column's blocks. */
static sstore_status write_ids(const file_reading *file, uint64_t distinct_count, ss_directory_writer *directory,
                               sstore_error *error)
{
    const ss_block_header *header = &file->blocks->header;
    ss_array_writer keys;
    uint64_t next_rank = 0, count = 0;
    bool goes_on = false;
    sstore_status status = SSTORE_OK;
    ss_array_writer_init(&keys, directory, SS_ARRAY_KEYS, SS_IDS_NUMBER);
    for (uint64_t block = 0; status == SSTORE_OK && block < header->block_count; block++) {
        const block_facts *facts = &file->facts[block];
        if (facts->first != next_rank - (goes_on ? 1 : 0))
            status = ss_block_reader_malformed(file->blocks, block,
                                               "it does not begin with the rank after the block before", error);
        else if (goes_on && facts->first_id <= facts[-1].last_id)
            status = ss_block_reader_malformed(file->blocks, block, SS_IDS_DO_NOT_ASCEND, error);
        if (status == SSTORE_OK)
            status = ss_array_writer_add(&keys, facts->last, error);
        next_rank = facts->last + 1;
        goes_on = facts->goes_on;
        count += facts->count;
    }
    if (status == SSTORE_OK && (goes_on || next_rank != distinct_count || count != header->item_count))
        status = fail_file(file, "the ids are not those of the store's fingerprints", error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&keys, error);
    ss_array_writer_free(&keys);
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

static sstore_status rebuild_table(const ss_directory_rebuild *self, const ss_segment *segment, uint32_t number,
                                   ss_directory_writer *directory, sstore_error *error)
{
    const ss_table *table = &segment->tables[number];
    file_reading file;
    sstore_status status = read_file(self, &table->blocks, &table->code, &file, error);
    if (status == SSTORE_OK)
        status = write_table(&file, number, directory, error);
    close_file(&file);
    return status;
}

static sstore_status rebuild_ids(const ss_directory_rebuild *self, const ss_segment *segment,
                                 ss_directory_writer *directory, sstore_error *error)
{
    file_reading file;
    sstore_status status = read_file(self, &segment->ids, NULL, &file, error);
    if (status == SSTORE_OK)
        status = write_ids(&file, segment->facts.distinct_count, directory, error);
    close_file(&file);
    return status;
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
        status = rebuild_table(self, segment, number, directory, error);
        if (status == SSTORE_OK && with_ids)
            status = rebuild_ids(self, segment, directory, error);
    }
    facts->lmdb_format = ss_directory_lmdb_format();
    if (status == SSTORE_OK)
        status = ss_directory_writer_finish(directory, &facts->directory_bytes, &facts->directory_sum, error);
    ss_directory_writer_close(directory);
    return status;
}
