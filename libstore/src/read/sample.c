/*
 * sample.c - statistics that need some blocks: of a single block, and a random sample of the fingerprints.
 *
 * A fingerprint is drawn by its rank, its place in table 0. The directory has the first rank of each block.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"

/* A table, memory for one of its blocks, and the block that is decoded in it. */
typedef struct block_decoder {
    const ss_table *table;
    uint8_t *buffer;  /* in pread mode */
    uint64_t *values; /* permuted */
    uint64_t number;  /* of the decoded block; UINT64_MAX: none */
    ss_block block;   /* its head; its bytes may be gone */
} block_decoder;

static void free_decoder(block_decoder *decoder)
{
    ss_free(decoder->buffer);
    ss_free(decoder->values);
    *decoder = (block_decoder){.table = NULL};
}

static sstore_status init_decoder(block_decoder *decoder, const ss_table *table, sstore_error *error)
{
    const uint32_t block_bytes = table->blocks.header.block_bytes, capacity = ss_block_capacity(block_bytes);
    *decoder = (block_decoder){.table = table, .number = UINT64_MAX};
    decoder->buffer = ss_realloc(NULL, block_bytes, 1);
    decoder->values = ss_realloc(NULL, capacity, sizeof *decoder->values);
    if (decoder->buffer != NULL && decoder->values != NULL)
        return SSTORE_OK;
    free_decoder(decoder);
    return ss_fail_memory(error, block_bytes + capacity * sizeof *decoder->values);
}

static sstore_status decode(block_decoder *decoder, uint64_t number, sstore_error *error)
{
    const ss_table *table = decoder->table;
    const uint8_t *bytes;
    if (decoder->number == number)
        return SSTORE_OK;
    decoder->number = UINT64_MAX;
    sstore_status status = ss_block_reader_get(&table->blocks, number, decoder->buffer, &bytes, error);
    if (status == SSTORE_OK)
        status = ss_checked_block_open(&table->checked, number, bytes, &decoder->block, error);
    if (status == SSTORE_OK)
        status = ss_checked_block_decode(&table->checked, number, &decoder->block, decoder->values, error);
    if (status == SSTORE_OK)
        decoder->number = number;
    return status;
}

/* ===== a block ===== */

/* The bytes that the fingerprints of the decoded block take (format-spec/block-codec.md, section 7, "Filling"). */
static uint32_t count_used_bytes(const block_decoder *decoder)
{
    const ss_block *block = &decoder->block;
    uint32_t bytes = SS_BLOCK_HEAD_BYTES + SS_BLOCK_TRAILER_BYTES + block->count * SS_LOWER_BYTES;
    for (uint32_t group = 0; group < block->group_count; group++) {
        const uint32_t count = ss_block_group_size(block, group);
        uint8_t step_bits[SS_GROUP_SIZE];
        uint32_t bits = group > 0 ? block->key_shift : 0;
        ss_step_bits(&decoder->table->code, decoder->values + group * SS_GROUP_SIZE, count, step_bits);
        for (uint32_t i = 1; i < count; i++)
            bits += step_bits[i];
        bytes += (bits + 7) / 8 + (group > 0 ? SS_GROUP_FRAME_BYTES : 0);
    }
    return ss_min_u32(bytes, decoder->table->blocks.header.block_bytes); /* in a malicious one codes may overlap */
}

sstore_status sstore_stat_block(const sstore *store, uint32_t segment, uint32_t table, uint64_t block,
                                sstore_block_statistics *statistics_out, sstore_error *error)
{
    if (statistics_out == NULL || !ss_table_exists(store, segment, table) ||
        block >= store->segments[segment]->tables[table].blocks.header.block_count)
        return ss_fail_argument(
            error, "sstore_stat_block: store and statistics_out must not be NULL, and the block must exist");
    sstore_block_statistics statistics = {.struct_size = sizeof statistics};
    block_decoder decoder;
    sstore_status status = ss_check_result(statistics_out, SS_BLOCK_STATISTICS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    status = init_decoder(&decoder, &store->segments[segment]->tables[table], error);
    if (status == SSTORE_OK)
        status = decode(&decoder, block, error);
    if (status == SSTORE_OK) {
        statistics.fingerprint_count = decoder.block.count;
        statistics.used_bytes = count_used_bytes(&decoder);
        status = ss_give_result(statistics_out, &statistics, sizeof statistics, SS_BLOCK_STATISTICS_SIZE_1, error);
    }
    free_decoder(&decoder);
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
    return (a > b) - (a < b);
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

/* Replace ascending ranks of a segment, plus `base`, by the fingerprints. */
static sstore_status read_ranks(const ss_segment *segment, uint64_t base, uint64_t *places, size_t count,
                                sstore_error *error)
{
    block_decoder decoder;
    sstore_status status = init_decoder(&decoder, &segment->tables[0], error);
    for (size_t i = 0; i < count && status == SSTORE_OK; i++) {
        const uint64_t rank = places[i] - base;
        const uint64_t number = ss_lower_bound(&segment->ranks, 0, segment->ranks.count, rank, first_rank_is_up_to) - 1;
        status = decode(&decoder, number, error);
        /* The block has as many fingerprints as the ranks say. */
        if (status == SSTORE_OK)
            places[i] = ss_unpermute(&segment->tables[0].permutation,
                                     decoder.values[rank - ss_array_at(&segment->ranks, number)]);
    }
    free_decoder(&decoder);
    return status;
}

sstore_status sstore_sample(const sstore *store, uint64_t seed, uint64_t *fingerprints_out, size_t capacity,
                            size_t *count_out, sstore_error *error)
{
    if (store == NULL || count_out == NULL || (capacity > 0 && fingerprints_out == NULL))
        return ss_fail_argument(error, "sstore_sample: store, fingerprints_out and count_out must not be NULL");
    const uint32_t segment_count = store->manifest.segment_count;
    sstore_status status = SSTORE_OK;
    uint64_t total = 0, next = 0;
    for (uint32_t i = 0; i < segment_count; i++)
        total += count_added(store->segments[i]);
    const size_t count = capacity == 0 ? 0 : draw_places(seed, total, fingerprints_out, capacity);
    for (size_t i = 0, begin = 0, end = 0; i < segment_count && status == SSTORE_OK; i++, begin = end) {
        const uint64_t base = next;
        next += count_added(store->segments[i]);
        while (end < count && fingerprints_out[end] < next)
            end++;
        if (end > begin)
            status = read_ranks(store->segments[i], base, fingerprints_out + begin, end - begin, error);
    }
    *count_out = status == SSTORE_OK ? count : 0;
    return status;
}
