#include "write/key_sorter.h"

#include "base/error.h"
#include "base/memory.h"
#include "codec/rows.h"

#define RANGE_BLOCKS 64u /* of table 0 that a task reads */
#define KEY_BATCH 1024u  /* that are given to the sorter */

sstore_status ss_key_sorter_open(ss_key_sorter *keys, sstore_error *error)
{
    const ss_block_file_metadata metadata = ss_manifest_file_metadata(keys->segment, 0);
    const uint32_t threads = keys->memory.threads, words = keys->segment->words;
    keys->iterators = ss_alloc(threads, sizeof *keys->iterators);
    if (keys->iterators == NULL)
        return ss_fail_memory(error, threads * sizeof *keys->iterators);
    const sstore_status status = ss_block_reader_open(&keys->reader, keys->dir, &metadata, SSTORE_IO_PREAD, error);
    keys->blocks = (ss_checked_blocks){.reader = &keys->reader, .words = words};
    if (status == SSTORE_OK && words == 1) {
        ss_code_init(&keys->code, keys->reader.header.code_lengths);
        keys->blocks.code = &keys->code;
    }
    return status;
}

void ss_key_sorter_close(ss_key_sorter *keys)
{
    ss_free(keys->iterators);
    ss_block_reader_close(&keys->reader);
}

/* The keys of some fingerprints, and the ranks of these, the first of which is *rank. Keys of one word need no
 * ranks. */
static void make_keys(const ss_key_sorter *keys, const uint64_t *fingerprints, uint32_t count, uint64_t *rank,
                      uint64_t *keys_out, uint64_t *ranks_out)
{
    const uint32_t words = keys->segment->words;
    if (words == 1) {
        for (uint32_t i = 0; i < count; i++)
            keys_out[i] = ss_permute(&keys->permutation, fingerprints[i]);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        keys_out[i] = fingerprints[(size_t)i * words + keys->word];
        ranks_out[i] = (*rank)++;
    }
}

/* Add the keys of the fingerprints of some blocks to the sorter. */
static sstore_status add_range(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const ss_key_sorter *keys = context;
    const uint32_t words = keys->segment->words;
    ss_table_iterator *iterator = &keys->iterators[index];
    uint64_t values[KEY_BATCH], ranks[KEY_BATCH], total = 0;
    uint64_t rank = task * RANGE_BLOCKS * ss_rows_capacity(keys->segment->block_bytes, words);
    const uint64_t *fingerprints;
    uint32_t count = 1;
    sstore_status status = SSTORE_OK;
    if (iterator->values == NULL)
        status = ss_table_iterator_open(iterator, &keys->blocks, error);
    ss_table_iterator_seek(iterator, task * RANGE_BLOCKS, (task + 1) * RANGE_BLOCKS);
    while (status == SSTORE_OK && count > 0) {
        status = ss_table_iterator_next(iterator, &fingerprints, &count, error);
        for (uint32_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
            size = ss_min_u32(count - done, KEY_BATCH);
            make_keys(keys, fingerprints + (size_t)done * words, size, &rank, values, ranks);
            status = ss_sorter_add(keys->sorter, index, values, ranks, size, error);
            total += size;
        }
    }
    return status == SSTORE_OK ? ss_progress_add(keys->progress, index, total) : status;
}

/* Sort `count` items that tasks make, each of them of a range of `blocks`. */
static sstore_status sort_items(ss_key_sorter *keys, uint32_t item_words, uint64_t count, uint64_t blocks,
                                ss_task_fn add, ss_sorted_pieces *pieces_out, sstore_error *error)
{
    const size_t capacity = ss_piece_capacity(keys->memory.piece_capacity, count);
    const ss_sorter_options options = {.item_words = item_words,
                                       .writers = keys->memory.threads,
                                       .pool = keys->pool,
                                       .piece_capacity = capacity,
                                       .expected_count = count,
                                       .tmp_dir = keys->tmp_dir};
    sstore_status status = ss_sorter_create(&options, &keys->sorter, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(keys->memory.threads, (blocks + RANGE_BLOCKS - 1) / RANGE_BLOCKS, add, keys, error);
    if (status == SSTORE_OK)
        status = ss_sorter_finish(keys->sorter, keys->progress, error);
    if (status == SSTORE_OK)
        *pieces_out = ss_pieces_of_sorter(keys->sorter, capacity);
    else
        ss_sorter_free(keys->sorter);
    return status;
}

sstore_status ss_key_sorter_run(ss_key_sorter *keys, uint32_t number, ss_sorted_pieces *pieces_out, sstore_error *error)
{
    const ss_manifest_segment *segment = keys->segment;
    if (segment->words == 1)
        ss_permutation_init(&keys->permutation, segment->plan.tables[number].key_mask);
    keys->word = number;
    const sstore_status status = sort_items(keys, segment->words == 1 ? 1 : 2, segment->distinct_count,
                                            segment->tables[0].block_count, add_range, pieces_out, error);
    for (uint32_t i = 0; i < keys->memory.threads; i++)
        ss_table_iterator_close(&keys->iterators[i]);
    return status;
}

/* ----- ids ----- */

/* The items of the records of a block of ids, from `first` on. Returns their number. */
static uint32_t make_id_items(const ss_key_sorter *keys, const ss_ids_block *block, uint32_t first, uint64_t *rank,
                              uint64_t *values_out, uint64_t *ranks_out)
{
    const uint32_t count = ss_min_u32(block->count - first, KEY_BATCH);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t id = ss_ids_block_id(block, first + i);
        *rank += ss_ids_block_starts_rank(block, first + i);
        values_out[i] = keys->packed ? id << 32 | *rank : id;
        ranks_out[i] = *rank;
    }
    return count;
}

/* Add the items of the records of some blocks of ids to the sorter. */
static sstore_status add_ids_range(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const ss_key_sorter *keys = context;
    const uint64_t end = ss_min_u64((task + 1) * RANGE_BLOCKS, keys->ids.reader->header.block_count);
    ss_ids_iterator *iterator = &keys->ids_iterators[index];
    uint64_t values[KEY_BATCH], ranks[KEY_BATCH], total = 0;
    sstore_status status = SSTORE_OK;
    if (iterator->buffer == NULL)
        status = ss_ids_iterator_open(iterator, &keys->ids, error);
    ss_ids_iterator_seek(iterator, task * RANGE_BLOCKS);
    while (status == SSTORE_OK && iterator->next_block < end) {
        status = ss_ids_iterator_next(iterator, error);
        uint64_t rank = iterator->block.first_rank;
        for (uint32_t done = 0, count; status == SSTORE_OK && done < iterator->block.count; done += count) {
            count = make_id_items(keys, &iterator->block, done, &rank, values, ranks);
            status = ss_sorter_add(keys->sorter, index, values, ranks, count, error);
            total += count;
        }
    }
    return status == SSTORE_OK ? ss_progress_add(keys->progress, index, total) : status;
}

sstore_status ss_key_sorter_run_ids(ss_key_sorter *keys, bool packed, ss_sorted_pieces *pieces_out, sstore_error *error)
{
    const ss_manifest_segment *segment = keys->segment;
    const ss_block_file_metadata metadata = ss_manifest_file_metadata(segment, SS_IDS_NUMBER);
    const uint32_t threads = keys->memory.threads;
    ss_block_reader reader;
    sstore_status status = ss_block_reader_open(&reader, keys->dir, &metadata, SSTORE_IO_PREAD, error);
    keys->packed = packed;
    keys->ids = (ss_checked_blocks){.reader = &reader};
    keys->ids_iterators = ss_alloc(threads, sizeof *keys->ids_iterators);
    if (status == SSTORE_OK && keys->ids_iterators == NULL)
        status = ss_fail_memory(error, threads * sizeof *keys->ids_iterators);
    if (status == SSTORE_OK)
        status = sort_items(keys, packed ? 1 : 2, segment->record_count, segment->ids.block_count, add_ids_range,
                            pieces_out, error);
    for (uint32_t i = 0; keys->ids_iterators != NULL && i < threads; i++)
        ss_ids_iterator_close(&keys->ids_iterators[i]);
    ss_free(keys->ids_iterators);
    ss_block_reader_close(&reader);
    return status;
}
