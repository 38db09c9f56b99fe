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

sstore_status ss_key_sorter_run(ss_key_sorter *keys, uint32_t number, ss_sorted_pieces *pieces_out, sstore_error *error)
{
    const ss_manifest_segment *segment = keys->segment;
    const uint64_t ranges = (segment->tables[0].block_count + RANGE_BLOCKS - 1) / RANGE_BLOCKS;
    const size_t capacity = ss_piece_capacity(keys->memory.piece_capacity, segment->distinct_count);
    const ss_sorter_options options = {.item_words = segment->words == 1 ? 1 : 2,
                                       .writers = keys->memory.threads,
                                       .pool = keys->pool,
                                       .piece_capacity = capacity,
                                       .expected_count = segment->distinct_count,
                                       .tmp_dir = keys->tmp_dir};
    if (segment->words == 1)
        ss_permutation_init(&keys->permutation, segment->plan.tables[number].key_mask);
    keys->word = number;
    sstore_status status = ss_sorter_create(&options, &keys->sorter, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(keys->memory.threads, ranges, add_range, keys, error);
    for (uint32_t i = 0; i < keys->memory.threads; i++)
        ss_table_iterator_close(&keys->iterators[i]);
    if (status == SSTORE_OK)
        status = ss_sorter_finish(keys->sorter, keys->progress, error);
    if (status == SSTORE_OK)
        *pieces_out = ss_pieces_of_sorter(keys->sorter, capacity);
    else
        ss_sorter_free(keys->sorter);
    return status;
}
