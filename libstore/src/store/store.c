#include "store/store.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "store/store_memory.h"

/* How often opening starts again when a writer replaces the store meanwhile. */
#define MAX_ATTEMPTS 100

static sstore_status check_table_header(const ss_segment *segment, uint32_t number, sstore_error *error)
{
    const ss_manifest_segment *facts = segment->facts;
    const ss_block_reader *blocks = &segment->tables[number].blocks;
    const ss_block_header *header = &blocks->header;
    if (header->item_count != facts->distinct_count || header->table_count != facts->plan.table_count ||
        header->distance != facts->plan.distance || header->radius != (uint32_t)facts->plan.tables[number].radius ||
        header->key_mask != facts->plan.tables[number].key_mask ||
        header->restart_interval != facts->geometry.restart_interval)
        return ss_fail_damaged(error, blocks->file.path, 0, "the header contradicts the manifest");
    return SSTORE_OK;
}

/* Open a table's blocks. */
static sstore_status open_blocks(ss_segment *segment, const ss_dir *dir, uint32_t number, sstore_io io,
                                 sstore_error *error)
{
    ss_table *table = &segment->tables[number];
    ss_block_file_facts facts = ss_manifest_file_facts(segment->facts, number);
    sstore_status status = ss_block_reader_open(&table->blocks, dir, &facts, io, error);
    if (status == SSTORE_OK)
        status = check_table_header(segment, number, error);
    if (status != SSTORE_OK)
        return status;
    ss_permutation_init(&table->permutation, segment->facts->plan.tables[number].key_mask);
    ss_code_init(&table->code, table->blocks.header.code_lengths);
    return SSTORE_OK;
}

static sstore_status open_table(ss_segment *segment, const ss_dir *dir, uint32_t number, sstore_io io,
                                sstore_error *error)
{
    ss_table *table = &segment->tables[number];
    ss_array keys = {.count = 0};
    sstore_status status = open_blocks(segment, dir, number, io, error);
    const uint64_t block_count = segment->facts->tables[number].block_count;
    if (status == SSTORE_OK)
        status = ss_directory_get(segment->directory, SS_ARRAY_KEYS, number, block_count, &keys, error);
    if (status == SSTORE_OK && !ss_array_ascends(&keys, true))
        status = ss_fail_damaged(error, table->blocks.file.path, SSTORE_NO_OFFSET,
                                 "the directory's keys for this table do not ascend");
    if (status == SSTORE_OK)
        status = ss_key_index_init(&table->keys, &keys, error);
    ss_array_free(&keys);
    return status;
}

/* Open the id column's blocks. */
static sstore_status open_id_blocks(ss_segment *segment, const ss_dir *dir, sstore_io io, sstore_error *error)
{
    ss_block_file_facts facts = ss_manifest_file_facts(segment->facts, SS_IDS_NUMBER);
    sstore_status status = ss_block_reader_open(&segment->ids, dir, &facts, io, error);
    if (status == SSTORE_OK && segment->ids.header.item_count != segment->facts->record_count)
        status = ss_fail_damaged(error, segment->ids.file.path, 0, "the header contradicts the manifest");
    return status;
}

static sstore_status open_ids(ss_segment *segment, const ss_dir *dir, sstore_io io, sstore_error *error)
{
    sstore_status status = open_id_blocks(segment, dir, io, error);
    ss_array keys = {.count = 0};
    if (status == SSTORE_OK)
        status = ss_directory_get(segment->directory, SS_ARRAY_KEYS, SS_IDS_NUMBER, segment->facts->ids.block_count,
                                  &keys, error);
    if (status == SSTORE_OK && !ss_array_ascends(&keys, false))
        status = ss_fail_damaged(error, segment->ids.file.path, SSTORE_NO_OFFSET,
                                 "the directory's ranks for the ids do not ascend");
    if (status == SSTORE_OK)
        status = ss_key_index_init(&segment->ids_keys, &keys, error);
    ss_array_free(&keys);
    return status;
}

static sstore_status open_ranks(ss_segment *segment, sstore_error *error)
{
    const ss_block_reader *blocks = &segment->tables[0].blocks;
    sstore_status status = ss_directory_get(segment->directory, SS_ARRAY_RANKS, 0, blocks->header.block_count,
                                            &segment->ranks, error);
    if (status != SSTORE_OK)
        return status;
    uint64_t count = segment->ranks.count;
    if (count > 0 && (ss_array_at(&segment->ranks, 0) != 0 || !ss_array_ascends(&segment->ranks, true) ||
                      ss_array_at(&segment->ranks, count - 1) >= segment->facts->distinct_count))
        return ss_fail_damaged(error, blocks->file.path, SSTORE_NO_OFFSET, "the directory's ranks do not ascend from 0");
    return SSTORE_OK;
}

/* Open what queries need. */
static sstore_status open_whole(ss_segment *segment, const ss_dir *dir, bool has_ids, sstore_io io, sstore_error *error)
{
    const ss_manifest_segment *facts = segment->facts;
    sstore_status status =
        ss_directory_open(dir, facts->directory_bytes, facts->directory_sum, &segment->directory, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < facts->plan.table_count; i++)
        status = open_table(segment, dir, i, io, error);
    if (status == SSTORE_OK)
        status = open_ranks(segment, error);
    if (status == SSTORE_OK && has_ids)
        status = open_ids(segment, dir, io, error);
    return status;
}

/* Open what reading all records in order needs. */
static sstore_status open_records(ss_segment *segment, const ss_dir *dir, bool has_ids, sstore_error *error)
{
    sstore_status status = open_blocks(segment, dir, 0, SSTORE_IO_PREAD, error);
    return status == SSTORE_OK && has_ids ? open_id_blocks(segment, dir, SSTORE_IO_PREAD, error) : status;
}

static sstore_status open_segment(ss_segment *segment, const sstore *store, const ss_manifest_segment *facts,
                                  sstore_error *error)
{
    const bool has_ids = store->manifest.has_ids;
    const sstore_open_options *options = &store->options;
    const uint32_t table_count = store->records_only ? 1 : facts->plan.table_count;
    char name[SS_NAME_CAPACITY];
    ss_dir dir = SS_DIR_NONE;
    segment->facts = facts;
    ss_folder_name(name, SS_SEGMENT_PREFIX, facts->folder_number);
    sstore_status status = ss_dir_open_at(&store->dir, name, &dir, error);
    if (status == SSTORE_OK) {
        segment->tables = ss_alloc(table_count, sizeof *segment->tables);
        segment->table_count = segment->tables == NULL ? 0 : table_count;
        if (segment->tables == NULL)
            status = ss_fail_memory(error, table_count * sizeof *segment->tables);
    }
    if (status == SSTORE_OK)
        status = store->records_only ? open_records(segment, &dir, has_ids, error)
                                     : open_whole(segment, &dir, has_ids, options->io, error);
    segment->costs = (ss_cost_model){.fingerprint_count = (double)facts->distinct_count,
                                     .block_count = (double)facts->tables[0].block_count,
                                     .io = options->io,
                                     .strategy = options->strategy};
    ss_dir_close(&dir);
    return status;
}

static void close_segment(ss_segment *segment)
{
    for (uint32_t i = 0; i < segment->table_count; i++) {
        ss_block_reader_close(&segment->tables[i].blocks);
        ss_key_index_free(&segment->tables[i].keys);
    }
    ss_free(segment->tables);
    ss_array_free(&segment->ranks);
    ss_block_reader_close(&segment->ids);
    ss_key_index_free(&segment->ids_keys);
    ss_directory_close(segment->directory);
}

/* Close all that belongs to the manifest that was read. */
static void drop_manifest(sstore *store)
{
    for (uint32_t i = 0; store->segments != NULL && i < store->manifest.segment_count; i++)
        if (store->segments[i].facts != NULL)
            close_segment(&store->segments[i]);
    ss_free(store->segments);
    store->segments = NULL;
    ss_manifest_free(&store->manifest);
}

/* Hold what the store is going to take against what it may. */
static sstore_status check_memory(const sstore *store, sstore_error *error)
{
    uint64_t most = store->options.max_memory, needed = ss_store_memory_bytes(&store->manifest, store->options.io);
    if (most == 0 || needed <= most)
        return SSTORE_OK;
    return ss_fail(error, SSTORE_ERROR_MEMORY, 0, store->dir.path, SSTORE_NO_OFFSET,
                   "opening the store takes %.1f MiB, and max_memory allows %.1f; reading by pread takes least, and a store of "
                   "larger blocks or fewer tables less", (double)needed / 0x1p20, (double)most / 0x1p20);
}

static sstore_status open_manifest(sstore *store, const char *recipe, sstore_error *error)
{
    ss_manifest *manifest = &store->manifest;
    sstore_status status = ss_manifest_read(&store->dir, manifest, error);
    if (status == SSTORE_ERROR_NOT_FOUND)
        return ss_fail(error, status, 0, store->dir.path, SSTORE_NO_OFFSET,
                       "is not a store: it has no " SS_MANIFEST_NAME " (or its build has not finished)");
    if (status == SSTORE_OK && recipe != NULL && strcmp(recipe, manifest->recipe) != 0)
        return ss_fail(error, SSTORE_ERROR_RECIPE, 0, store->dir.path, SSTORE_NO_OFFSET,
                       "its fingerprints were made by the recipe '%s', not '%s'", manifest->recipe, recipe);
    if (status == SSTORE_OK && manifest->segment_count > 1)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, store->dir.path, SSTORE_NO_OFFSET,
                       "it has %u segments; this version of sstore reads stores of one", manifest->segment_count);
    if (status == SSTORE_OK)
        status = check_memory(store, error);
    if (status != SSTORE_OK)
        return status;
    store->segments = ss_alloc(manifest->segment_count, sizeof *store->segments);
    if (store->segments == NULL)
        return ss_fail_memory(error, manifest->segment_count * sizeof *store->segments);
    for (uint32_t i = 0; status == SSTORE_OK && i < manifest->segment_count; i++)
        status = open_segment(&store->segments[i], store, &manifest->segments[i], error);
    return status;
}

/* Whether the store has another manifest now than the one that was read. */
static bool was_replaced(const sstore *store)
{
    ss_manifest now = {.segment_count = 0};
    sstore_status status = ss_manifest_read(&store->dir, &now, NULL);
    bool same = status == SSTORE_OK && ss_u128_equal(now.checksum, store->manifest.checksum);
    ss_manifest_free(&now);
    return !same;
}

/* A writer that replaces the store removes the files that the old manifest names: then start again from the new one. */
static sstore_status open_store(sstore *store, const char *path, const char *recipe, sstore_error *error)
{
    sstore_error attempt_error;
    sstore_status status = ss_dir_open(path, &store->dir, error);
    if (status != SSTORE_OK)
        return status;
    for (int attempt = 1;; attempt++) {
        status = open_manifest(store, recipe, &attempt_error);
        bool lost_file = status == SSTORE_ERROR_NOT_FOUND && store->segments != NULL;
        if (lost_file && attempt < MAX_ATTEMPTS && was_replaced(store)) {
            drop_manifest(store);
            continue;
        }
        if (lost_file) /* a file that the manifest names is not there */
            attempt_error.status = status = SSTORE_ERROR_DAMAGED;
        if (status != SSTORE_OK && error != NULL)
            *error = attempt_error;
        return status;
    }
}

sstore_status sstore_open(const char *path, const sstore_open_options *options, sstore **store_out,
                          sstore_error *error)
{
    sstore_open_options taken = SSTORE_OPEN_OPTIONS_INIT;
    if (store_out != NULL)
        *store_out = NULL;
    if (path == NULL || store_out == NULL)
        return ss_fail_argument(error, "sstore_open: path and store_out must not be NULL");
    if (!ss_take_options(&taken, sizeof taken, options, sizeof taken) || taken.io > SSTORE_IO_MEMORY ||
        taken.strategy > SSTORE_STRATEGY_SCAN)
        return ss_fail_argument(error, "sstore_open: the options are not set by SSTORE_OPEN_OPTIONS_INIT or out of range");
    sstore *store = ss_alloc(1, sizeof *store);
    if (store == NULL)
        return ss_fail_memory(error, sizeof *store);
    *store = (sstore){.dir = SS_DIR_NONE, .options = taken, .filter = ss_filter_best()};
    store->options.recipe = NULL;
    sstore_status status = open_store(store, path, taken.recipe, error);
    if (status == SSTORE_OK)
        *store_out = store;
    else
        sstore_close(store);
    return status;
}

sstore_status ss_store_open_records(const char *path, sstore **store_out, sstore_error *error)
{
    *store_out = NULL;
    sstore *store = ss_alloc(1, sizeof *store);
    if (store == NULL)
        return ss_fail_memory(error, sizeof *store);
    *store = (sstore){.dir = SS_DIR_NONE, .options = SSTORE_OPEN_OPTIONS_INIT, .records_only = true};
    sstore_status status = open_store(store, path, NULL, error);
    if (status == SSTORE_OK)
        *store_out = store;
    else
        sstore_close(store);
    return status;
}

void sstore_close(sstore *store)
{
    if (store == NULL)
        return;
    drop_manifest(store);
    ss_dir_close(&store->dir);
    ss_free(store);
}

uint64_t ss_table_directory_bytes(const ss_segment *segment, uint32_t number)
{
    return 8 * (segment->tables[number].keys.keys.count + (number == 0 ? segment->ranks.count : 0));
}
