/*
 * sample.c - statistics that need some blocks: of a single block, and a random sample of the fingerprints.
 *
 * A fingerprint is drawn by its rank, its place in table 0. The directory has the first rank of each block.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/rows.h"
#include "sstore_statistics.h"
#include "store/column_iterators.h"
#include "store/store.h"

/* ===== a block ===== */

/* The bytes that the fingerprints of a block take (format-spec/block-codec.md, section 7, "Filling"). */
static uint32_t count_used_bytes(const ss_table *table, const ss_block *block, const uint64_t *values)
{
    uint32_t bytes = SS_BLOCK_HEAD_BYTES + SS_BLOCK_TRAILER_BYTES + block->count * SS_LOWER_BYTES;
    for (uint32_t group = 0; group < block->group_count; group++) {
        const uint32_t count = ss_block_group_size(block, group);
        uint8_t step_bits[SS_GROUP_SIZE];
        uint32_t bits = group > 0 ? block->key_shift : 0;
        ss_step_bits(&table->code, values + group * SS_GROUP_SIZE, count, step_bits);
        for (uint32_t i = 1; i < count; i++)
            bits += step_bits[i];
        bytes += (bits + 7) / 8 + (group > 0 ? SS_GROUP_FRAME_BYTES : 0);
    }
    return ss_min_u32(bytes, table->blocks.header.block_bytes); /* in a malicious one codes may overlap */
}

/* Read and decode a block. `buffer` has room for its bytes, and `values` for as many fingerprints as it can have. */
static sstore_status measure_block(const ss_table *table, uint64_t number, uint8_t *buffer, uint64_t *values,
                                   sstore_block_statistics *statistics, sstore_error *error)
{
    const uint8_t *bytes;
    ss_block block;
    sstore_status status = ss_block_reader_get(&table->blocks, number, buffer, &bytes, error);
    if (status == SSTORE_OK)
        status = ss_checked_block_open(&table->checked, number, bytes, &block, error);
    if (status == SSTORE_OK)
        status = ss_checked_block_decode(&table->checked, number, &block, values, error);
    if (status != SSTORE_OK)
        return status;
    statistics->fingerprint_count = block.count;
    statistics->used_bytes = count_used_bytes(table, &block, values);
    return SSTORE_OK;
}

sstore_status sstore_stat_block(const sstore *store, uint32_t segment, uint32_t table, uint64_t block,
                                sstore_block_statistics *statistics_out, sstore_error *error)
{
    const ss_table_place place = ss_table_find(store, segment, table);
    if (statistics_out == NULL || place.part == NULL ||
        block >= place.part->tables[place.number].blocks.header.block_count)
        return ss_fail_argument(
            error, "sstore_stat_block: store and statistics_out must not be NULL, and the block must exist");
    sstore_block_statistics statistics = {.struct_size = sizeof statistics};
    sstore_status status = ss_check_result(statistics_out, SS_BLOCK_STATISTICS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    const uint32_t block_bytes = place.part->metadata.block_bytes, capacity = ss_block_capacity(block_bytes);
    uint8_t *buffer = ss_realloc(NULL, block_bytes, 1);
    uint64_t *values = ss_realloc(NULL, capacity, sizeof *values);
    status = buffer != NULL && values != NULL
                 ? measure_block(&place.part->tables[place.number], block, buffer, values, &statistics, error)
                 : ss_fail_memory(error, block_bytes + capacity * sizeof *values);
    if (status == SSTORE_OK)
        status = ss_give_result(statistics_out, &statistics, sizeof statistics, SS_BLOCK_STATISTICS_SIZE_1, error);
    ss_free(buffer);
    ss_free(values);
    return status;
}

/* ===== a sample ===== */

/* The number of fingerprints that a segment adds. */
static uint64_t count_added(const ss_segment *segment)
{
    return ss_segment_removes(segment) ? 0 : segment->metadata.distinct_count;
}

static int compare_places(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return ss_compare_u64(a, b);
}

/* Set places[0 .. result - 1] to different numbers below `total`, ascending: all of them, or `capacity` random ones
 * without repeats. */
static size_t draw_places(uint64_t seed, uint64_t total, uint64_t *places, size_t capacity)
{
    size_t count = 0;
    if (total <= capacity) {
        for (; count < total; count++)
            places[count] = count;
        return count;
    }
    for (size_t i = 0; i < capacity; i++) /* splitmix64; the remainder favours no place noticeably */
        places[i] = ss_sample_hash(seed += UINT64_C(0x9e3779b97f4a7c15)) % total;
    qsort(places, capacity, sizeof *places, compare_places);
    for (size_t i = 0; i < capacity; i++)
        if (count == 0 || places[i] != places[count - 1])
            places[count++] = places[i];
    return count;
}

static bool first_rank_is_up_to(const void *ranks, uint64_t index, uint64_t rank)
{
    return ss_array_at(ranks, index) <= rank;
}

/* The block of table 0 that has a rank, and the rank of its first fingerprint. */
static uint64_t find_block(const ss_segment *segment, uint64_t rank, uint64_t *first_out)
{
    const uint32_t words = segment->metadata.words;
    uint64_t number = 0;
    if (words > 1)
        number = rank / ss_rows_capacity(segment->metadata.block_bytes, words);
    else
        number = ss_lower_bound(&segment->ranks, 0, segment->ranks.count, rank, first_rank_is_up_to) - 1;
    *first_out = words > 1 ? number * ss_rows_capacity(segment->metadata.block_bytes, words)
                           : ss_array_at(&segment->ranks, number);
    return number;
}

/* Read the fingerprints of ascending ranks of a segment, which are places less `base`. With one word, they may replace
 * the places. */
static sstore_status read_ranks(const ss_segment *segment, uint64_t base, const uint64_t *places, size_t count,
                                uint64_t *fingerprints_out, sstore_error *error)
{
    const uint32_t words = segment->metadata.words;
    ss_table_iterator iterator;
    const uint64_t *values = NULL;
    uint64_t current = 0, first;
    uint32_t value_count;
    sstore_status status = ss_table_iterator_open(&iterator, &segment->tables[0].checked, error);
    for (size_t i = 0; i < count && status == SSTORE_OK; i++) {
        const uint64_t rank = places[i] - base, number = find_block(segment, rank, &first);
        if (values == NULL || number != current) {
            ss_table_iterator_seek(&iterator, number, number + 1);
            status = ss_table_iterator_next(&iterator, &values, &value_count, error);
            current = number;
        }
        if (status == SSTORE_OK) /* the block has as many fingerprints as the ranks say */
            ss_words_set(fingerprints_out, i, values + (size_t)(rank - first) * words, words);
    }
    ss_table_iterator_close(&iterator);
    return status;
}

/* Replace ascending places among all segments that add by the fingerprints there. With several words, `places` is apart
 * from fingerprints_out. */
static sstore_status read_places(const sstore *store, const uint64_t *places, size_t count, uint64_t *fingerprints_out,
                                 sstore_error *error)
{
    const uint32_t words = store->manifest.words;
    sstore_status status = SSTORE_OK;
    uint64_t next = 0;
    size_t begin = 0, end = 0;
    for (uint32_t i = 0; i < store->manifest.segment_count && status == SSTORE_OK; i++, begin = end) {
        const ss_segment *segment = store->segments[i];
        const uint64_t base = next;
        assert(places != NULL || count == 0);
        next += count_added(segment);
        while (end < count && places[end] < next)
            end++;
        if (end > begin)
            status = read_ranks(segment, base, places + begin, end - begin, fingerprints_out + begin * words, error);
    }
    return status;
}

sstore_status sstore_sample(const sstore *store, uint64_t seed, uint64_t *fingerprints_out, size_t capacity,
                            size_t *count_out, sstore_error *error)
{
    if (store == NULL || count_out == NULL || (capacity > 0 && fingerprints_out == NULL))
        return ss_fail_argument(error, "sstore_sample: store, fingerprints_out and count_out must not be NULL");
    uint64_t total = 0;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++)
        total += count_added(store->segments[i]);
    const bool in_place = store->manifest.words == 1;
    const size_t max = (size_t)ss_min_u64(total, capacity);
    uint64_t *places = in_place ? fingerprints_out : ss_alloc(max, sizeof *places);
    *count_out = 0;
    if (places == NULL && max > 0)
        return ss_fail_memory(error, max * sizeof *places);
    const size_t count = capacity == 0 ? 0 : draw_places(seed, total, places, capacity);
    const sstore_status status = read_places(store, places, count, fingerprints_out, error);
    if (!in_place)
        ss_free(places);
    *count_out = status == SSTORE_OK ? count : 0;
    return status;
}
