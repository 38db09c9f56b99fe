/*
 * reindex.c - rebuilds directories that are lost, damaged, or of another LMDB, from the block files. Published files
 * never change, so a segment gets its new directory in a new folder, beside hard links to its block files. Readers are
 * not disturbed, and after any failure the store is the old one or the new one.
 */
#include "base/error.h"
#include "base/memory.h"
#include "store/column_iterators.h"
#include "store/commit.h"
#include "store/name_column.h"
#include "store/segment.h"
#include "write/segment_writer.h"

typedef struct reindexing {
    ss_transaction transaction;
    ss_manifest manifest; /* as it will be */
    uint32_t chosen_count;
    uint32_t *chosen; /* the segments whose directories are rebuilt */
    ss_progress progress;
    uint64_t item_count;  /* fingerprints of all tables, and records of id columns, of the chosen segments */
    uint64_t begun_count; /* of them, in files that were started */
} reindexing;

/* ----- choosing ----- */

/* Open a segment without its indexes (SS_NO_INDEX), or one of these. */
static sstore_status open_part(const reindexing *self, uint32_t number, uint32_t index, bool blocks_only,
                               ss_segment **segment_out, sstore_error *error)
{
    const ss_segment_use use = {.blocks_only = blocks_only, .io = SSTORE_IO_PREAD};
    return ss_segment_open_part(&self->transaction.store, &self->manifest.segments[number], index, &use, segment_out,
                                error);
}

/* Check whether a part can be used as it is. If not, and its block files are intact, its directory is to be
 * rebuilt. */
static sstore_status check_part(const reindexing *self, uint32_t number, uint32_t index, bool *is_usable_out,
                                sstore_error *error)
{
    ss_segment *segment;
    sstore_error reason = {.status = SSTORE_OK};
    sstore_status status = open_part(self, number, index, false, &segment, &reason);
    *is_usable_out = status == SSTORE_OK;
    if (status != SSTORE_OK && ss_directory_is_lost(&reason))
        status = open_part(self, number, index, true, &segment, error);
    else if (status != SSTORE_OK)
        status = ss_fail_as(error, &reason);
    ss_segment_release(segment);
    return status;
}

/* Check all parts of a segment. It is usable if all are; each is checked. */
static sstore_status check_segment(const reindexing *self, uint32_t number, bool *is_usable_out, sstore_error *error)
{
    const uint32_t index_count = ss_index_count(&self->manifest.segments[number]);
    bool is_usable;
    sstore_status status = check_part(self, number, SS_NO_INDEX, is_usable_out, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < index_count; i++) {
        status = check_part(self, number, i, &is_usable, error);
        *is_usable_out &= is_usable;
    }
    return status;
}

static sstore_status choose(reindexing *self, bool rebuilds_all, sstore_error *error)
{
    const uint32_t count = self->manifest.segment_count;
    sstore_status status = SSTORE_OK;
    self->chosen = ss_alloc(count, sizeof *self->chosen);
    if (self->chosen == NULL)
        return ss_fail_memory(error, count * sizeof *self->chosen);
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++) {
        bool is_usable = false;
        if (!rebuilds_all)
            status = check_segment(self, i, &is_usable, error);
        if (!is_usable)
            self->chosen[self->chosen_count++] = i;
    }
    return status;
}

/* ----- reading blocks ----- */

static sstore_status fail_file(const ss_block_reader *blocks, const char *reason, sstore_error *error)
{
    return ss_fail_damaged(error, blocks->file.path, SSTORE_NO_OFFSET, "%s", reason);
}

/* Write the last fingerprint of each block of a table, of whole fingerprints its first word; and of table 0, unless it
 * has whole ones, the first ranks. */
static sstore_status write_table(reindexing *self, const ss_table *table, uint32_t number,
                                 ss_directory_writer *directory, sstore_error *error)
{
    const uint32_t words = table->checked.words;
    ss_table_iterator iterator;
    ss_array_writer keys, ranks;
    const uint64_t *values;
    uint64_t rank = 0;
    uint32_t count = 0;
    ss_array_writer_init(&keys, directory, SS_ARRAY_KEYS, number);
    ss_array_writer_init(&ranks, directory, SS_ARRAY_RANKS, number);
    sstore_status status = ss_table_iterator_open(&iterator, &table->checked, error);
    while (status == SSTORE_OK) {
        status = ss_table_iterator_next(&iterator, &values, &count, error);
        if (status != SSTORE_OK || count == 0)
            break;
        if (number == 0 && words == 1)
            status = ss_array_writer_add(&ranks, rank, error);
        if (status == SSTORE_OK)
            status = ss_array_writer_add(&keys, values[(size_t)(count - 1) * words], error);
        if (status == SSTORE_OK)
            status = ss_progress_add(&self->progress, 0, count);
        rank += count;
    }
    if (status == SSTORE_OK && rank != table->blocks.header.item_count)
        status = fail_file(&table->blocks, "the table's number of fingerprints differs from the manifest's", error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&keys, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&ranks, error);
    ss_array_writer_free(&keys);
    ss_array_writer_free(&ranks);
    ss_table_iterator_close(&iterator);
    return status;
}

/* Write the last rank of each block of ids. */
static sstore_status write_ids(reindexing *self, const ss_segment *segment, ss_directory_writer *directory,
                               sstore_error *error)
{
    const ss_block_reader *blocks = &segment->ids;
    ss_ids_iterator iterator;
    ss_array_writer keys;
    ss_array_writer_init(&keys, directory, SS_ARRAY_KEYS, SS_IDS_NUMBER);
    sstore_status status = ss_ids_iterator_open(&iterator, &segment->checked_ids, error);
    while (status == SSTORE_OK && iterator.next_block < blocks->header.block_count) {
        status = ss_ids_iterator_next(&iterator, error);
        if (status == SSTORE_OK)
            status = ss_ids_iterator_check(&iterator, error);
        if (status == SSTORE_OK)
            status = ss_array_writer_add(&keys, iterator.next_rank - 1, error);
        if (status == SSTORE_OK)
            status = ss_progress_add(&self->progress, 0, iterator.block.count);
    }
    if (status == SSTORE_OK &&
        !ss_ids_iterator_has_all(&iterator, segment->metadata.distinct_count, blocks->header.item_count))
        status = fail_file(blocks, "the ids do not match the fingerprints of table 0", error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&keys, error);
    ss_array_writer_free(&keys);
    ss_ids_iterator_close(&iterator);
    return status;
}

/* ----- one directory ----- */

/* Begin a phase of some items. */
static void begin_phase(reindexing *self, const ss_segment *segment, uint32_t table, uint64_t items)
{
    self->begun_count += items;
    self->progress.now.table_count = segment->metadata.plan.table_count;
    ss_progress_begin(&self->progress, "indexing", table, items,
                      self->item_count > 0 ? (double)self->begun_count / (double)self->item_count : 1);
}

/* At least the size that a build requests, so that the file is the same, also for blocks that a build would fill
 * more. */
static uint64_t max_bytes(const ss_manifest_segment *metadata)
{
    uint64_t values = metadata->tables[0].block_count + metadata->ids.block_count;
    if (ss_is_names(metadata->kind))
        values += metadata->ids.block_count;
    for (uint32_t i = 0; i < metadata->plan.table_count; i++)
        values += metadata->tables[i].block_count;
    return ss_max_u64(8 * values, ss_directory_bound_bytes(metadata));
}

/* Write the directory of a segment, which is open for its blocks only, into `dir`, and note its size, checksum and
 * format. Checks everything that the directory depends on: each block is valid, and follows the one before. If a build
 * on this host made the old directory, and no file has more than 2^16 blocks, the new one is equal, byte for byte. */
static sstore_status make_directory(reindexing *self, const ss_segment *segment, const ss_dir *dir,
                                    ss_manifest_segment *metadata, sstore_error *error)
{
    const uint64_t distinct = metadata->distinct_count;
    ss_directory_writer *directory = NULL;
    sstore_status status = ss_directory_writer_open(dir, max_bytes(metadata), &directory, error);
    /* In the order of a build. */
    for (uint32_t number = 0; status == SSTORE_OK && number < metadata->plan.table_count; number++) {
        const bool has_ids = number == 0 && metadata->has_ids;
        begin_phase(self, segment, number, distinct + (has_ids ? metadata->record_count : 0));
        status = write_table(self, &segment->tables[number], number, directory, error);
        if (status == SSTORE_OK && has_ids)
            status = write_ids(self, segment, directory, error);
    }
    if (status == SSTORE_OK && ss_is_names(metadata->kind))
        status = ss_names_index_blocks(&segment->ids, directory, error);
    metadata->lmdb_format = ss_directory_lmdb_format();
    if (status == SSTORE_OK)
        status = ss_directory_writer_finish(directory, &metadata->directory_bytes, &metadata->directory_checksum,
                                            error);
    ss_directory_writer_close(directory);
    return status;
}

/* ----- segments ----- */

/* Link or copy a part's block files into its new folder. */
static sstore_status link_blocks(const reindexing *self, ss_manifest_segment *segment, uint32_t index, const ss_dir *to,
                                 sstore_error *error)
{
    const ss_manifest_segment *metadata = ss_segment_part(segment, index);
    char name[SS_NAME_CAPACITY];
    ss_dir from;
    sstore_status status = ss_segment_dir_open(&self->transaction.store, segment, index, &from, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < ss_file_count(metadata); i++) {
        ss_block_file_name(name, ss_file_number(metadata, i));
        status = ss_file_link_or_copy(&from, to, name, error);
    }
    ss_dir_close(&from);
    return status;
}

/* Make a part with a new directory in `dir`. */
static sstore_status make_part(reindexing *self, uint32_t number, uint32_t index, const ss_dir *dir,
                               sstore_error *error)
{
    ss_manifest_segment *metadata = &self->manifest.segments[number];
    ss_segment *segment;
    sstore_status status = open_part(self, number, index, true, &segment, error);
    if (status == SSTORE_OK)
        status = make_directory(self, segment, dir, ss_segment_part(metadata, index), error);
    if (status == SSTORE_OK)
        status = link_blocks(self, metadata, index, dir, error);
    ss_segment_release(segment);
    return status;
}

/* Make an index with a new directory in a folder of its own. */
static sstore_status make_index(reindexing *self, uint32_t number, uint32_t index, const ss_dir *dir,
                                sstore_error *error)
{
    ss_dir inner;
    sstore_status status = ss_index_dir_make(dir, &self->manifest.segments[number], index, &inner, error);
    if (status == SSTORE_OK)
        status = make_part(self, number, index, &inner, error);
    if (status == SSTORE_OK)
        status = ss_dir_sync(&inner, error);
    ss_dir_close(&inner);
    return status;
}

/* Stage a segment with new directories. */
static sstore_status rebuild_directories(reindexing *self, uint32_t number, sstore_error *error)
{
    sstore_status status = ss_transaction_stage(&self->transaction, error);
    if (status != SSTORE_OK)
        return status;
    const ss_dir *dir = &self->transaction.staged[self->transaction.staged_count - 1]->dir;
    status = make_part(self, number, SS_NO_INDEX, dir, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < ss_index_count(&self->manifest.segments[number]); i++)
        status = make_index(self, number, i, dir, error);
    return status;
}

/* The fingerprints of all tables of a part, and its ids. */
static uint64_t count_items(const ss_manifest_segment *part)
{
    return part->plan.table_count * part->distinct_count + (part->has_ids ? part->record_count : 0);
}

static sstore_status make_all_again(reindexing *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < self->chosen_count; i++) {
        const ss_manifest_segment *segment = &self->manifest.segments[self->chosen[i]];
        self->item_count += count_items(segment);
        for (uint32_t j = 0; j < ss_index_count(segment); j++)
            self->item_count += count_items(&segment->indexes[j]);
    }
    for (uint32_t i = 0; status == SSTORE_OK && i < self->chosen_count; i++)
        status = rebuild_directories(self, self->chosen[i], error);
    if (status == SSTORE_OK && self->chosen_count == 0)
        ss_transaction_clean_up(&self->transaction);
    else if (status == SSTORE_OK)
        status = ss_transaction_commit(&self->transaction, &self->manifest, self->chosen, error);
    return status;
}

sstore_status sstore_reindex(const char *path, const sstore_reindex_options *options, uint32_t *rebuilt_count_out,
                             sstore_error *error)
{
    sstore_reindex_options taken = SSTORE_REINDEX_OPTIONS_INIT;
    reindexing self = {.transaction = {.store = SS_DIR_NONE}};
    if (path == NULL)
        return ss_fail_argument(error, "sstore_reindex: path must not be NULL");
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_REINDEX_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    self.progress.report = taken.on_progress;
    self.progress.context = taken.progress_context;
    const ss_writer_wait wait = {taken.wait_ms, taken.on_progress, taken.progress_context};
    status = ss_transaction_open(&self.transaction, path, SS_WRITE_EXTEND, &wait, error);
    if (status == SSTORE_OK)
        status = ss_manifest_copy(&self.transaction.manifest, &self.manifest, error);
    if (status == SSTORE_OK)
        status = choose(&self, taken.all, error);
    if (status == SSTORE_OK)
        status = make_all_again(&self, error);
    if (status == SSTORE_OK && rebuilt_count_out != NULL)
        *rebuilt_count_out = self.chosen_count;
    ss_free(self.chosen);
    ss_manifest_free(&self.manifest);
    ss_transaction_close(&self.transaction);
    return status;
}
