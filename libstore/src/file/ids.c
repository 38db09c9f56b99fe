#include "file/ids.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum {
    AT_FIRST_RANK = 0,
    AT_LEAST = 8,
    AT_COUNT = 16, /* 2 bytes */
    AT_WIDTH = 18, /* 1 byte */
    AT_FLAGS = 19, /* 1 byte */
    FRAME_BYTES = 20
};

#define FLAG_HAS_STARTS 1u
#define FLAG_GOES_ON 2u

/* Bits needed for 0 .. greatest - least. */
static uint32_t width_of(uint64_t least, uint64_t greatest)
{
    return greatest == least ? 0 : 64 - (uint32_t)__builtin_clzll(greatest - least);
}

/* Size of a block's contents without the trailer. */
static uint64_t content_bytes(uint32_t count, uint32_t width, bool has_starts)
{
    uint64_t starts_bytes = has_starts ? ((uint64_t)count + 7) / 8 : 0;
    return FRAME_BYTES + starts_bytes + ((uint64_t)count * width + 7) / 8;
}

sstore_status ss_ids_encoder_init(ss_ids_encoder *encoder, uint32_t block_bytes, sstore_error *error)
{
    *encoder = (ss_ids_encoder){.block_bytes = block_bytes, .capacity = SS_BLOCK_MAX_COUNT};
    encoder->ids = ss_alloc(encoder->capacity, sizeof *encoder->ids);
    encoder->starts = ss_alloc(encoder->capacity, 1);
    if (encoder->ids != NULL && encoder->starts != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, encoder->capacity * sizeof *encoder->ids);
}

void ss_ids_encoder_free(ss_ids_encoder *encoder)
{
    ss_free(encoder->ids);
    ss_free(encoder->starts);
    encoder->ids = NULL;
    encoder->starts = NULL;
}

bool ss_ids_encoder_add(ss_ids_encoder *encoder, uint64_t rank, uint64_t id)
{
    bool first = encoder->count == 0;
    bool repeats = !first && (encoder->repeats || rank == encoder->last_rank);
    uint64_t least = first || id < encoder->least ? id : encoder->least;
    uint64_t greatest = first || id > encoder->greatest ? id : encoder->greatest;
    if (encoder->count == encoder->capacity ||
        content_bytes(encoder->count + 1, width_of(least, greatest), repeats) >
            encoder->block_bytes - SS_BLOCK_TRAILER_BYTES)
        return false;
    if (first)
        encoder->first_rank = rank;
    encoder->starts[encoder->count] = !first && rank != encoder->last_rank;
    encoder->ids[encoder->count++] = id;
    encoder->repeats = repeats;
    encoder->least = least;
    encoder->greatest = greatest;
    encoder->last_rank = rank;
    return true;
}

void ss_ids_encoder_finish(ss_ids_encoder *encoder, bool goes_on, uint8_t *to)
{
    uint32_t width = width_of(encoder->least, encoder->greatest);
    uint32_t bit = 8 * FRAME_BYTES;
    memset(to, 0, encoder->block_bytes);
    ss_store_le64(to + AT_FIRST_RANK, encoder->first_rank);
    ss_store_le64(to + AT_LEAST, width == 64 ? 0 : encoder->least);
    ss_store_le16(to + AT_COUNT, (uint16_t)encoder->count);
    to[AT_WIDTH] = (uint8_t)width;
    to[AT_FLAGS] = (uint8_t)((encoder->repeats ? FLAG_HAS_STARTS : 0) | (goes_on ? FLAG_GOES_ON : 0));
    if (encoder->repeats) {
        for (uint32_t i = 0; i < encoder->count; i++)
            to[FRAME_BYTES + i / 8] = (uint8_t)(to[FRAME_BYTES + i / 8] | encoder->starts[i] << i % 8);
        bit += (encoder->count + 7) / 8 * 8;
    }
    for (uint32_t i = 0; i < encoder->count; i++, bit += width) {
        if (width == 64) { /* a field has at most 63 bits */
            ss_bits_put(to, bit, encoder->ids[i] & UINT32_MAX, 32);
            ss_bits_put(to, bit + 32, encoder->ids[i] >> 32, 32);
        } else {
            ss_bits_put(to, bit, encoder->ids[i] - encoder->least, width);
        }
    }
    encoder->count = 0;
    encoder->repeats = false;
}

bool ss_ids_block_open(ss_ids_block *block, const uint8_t *bytes, uint32_t block_bytes, const char **reason)
{
    uint8_t flags = bytes[AT_FLAGS];
    *block = (ss_ids_block){.bytes = bytes,
                            .count = ss_load_le16(bytes + AT_COUNT),
                            .width = bytes[AT_WIDTH],
                            .first_rank = ss_load_le64(bytes + AT_FIRST_RANK),
                            .least = ss_load_le64(bytes + AT_LEAST),
                            .has_starts = (flags & FLAG_HAS_STARTS) != 0,
                            .goes_on = (flags & FLAG_GOES_ON) != 0};
    *reason = "an unknown flag is set";
    if ((flags & ~(FLAG_HAS_STARTS | FLAG_GOES_ON)) != 0)
        return false;
    *reason = "its records do not fit into it";
    if (block->count == 0 || block->width > 64 ||
        content_bytes(block->count, block->width, block->has_starts) > block_bytes - SS_BLOCK_TRAILER_BYTES)
        return false;
    block->ids_bit = 8 * (FRAME_BYTES + (block->has_starts ? (block->count + 7) / 8 : 0));
    return true;
}

bool ss_ids_block_starts_rank(const ss_ids_block *block, uint32_t index)
{
    if (index == 0 || !block->has_starts)
        return index > 0;
    return block->bytes[FRAME_BYTES + index / 8] >> index % 8 & 1;
}

/* The index of the first record whose rank is first_rank + steps; count if there is none. 64 bits are counted at a time. */
static uint32_t find_start(const ss_ids_block *block, uint64_t steps)
{
    const uint8_t *starts = block->bytes + FRAME_BYTES;
    if (steps == 0)
        return 0;
    for (uint32_t at = 0; at < block->count; at += 64) {
        uint64_t bits = ss_load_le64(starts + at / 8); /* may hold bits of ids behind the last record's */
        if (block->count - at < 64)
            bits &= ss_low_mask(block->count - at);
        uint32_t ones = ss_popcount(bits);
        if (steps > ones) {
            steps -= ones;
            continue;
        }
        while (--steps > 0)
            bits &= bits - 1;
        return at + (uint32_t)__builtin_ctzll(bits);
    }
    return block->count;
}

void ss_ids_block_find(const ss_ids_block *block, uint64_t rank, uint32_t *begin_out, uint32_t *end_out)
{
    *begin_out = *end_out = block->count;
    if (rank < block->first_rank)
        return;
    uint64_t steps = rank - block->first_rank;
    if (!block->has_starts) {
        *begin_out = (uint32_t)ss_min_u64(steps, block->count);
        *end_out = (uint32_t)ss_min_u64(*begin_out + UINT64_C(1), block->count);
        return;
    }
    *begin_out = find_start(block, steps);
    uint32_t end = *begin_out;
    while (end < block->count && (end == *begin_out || !ss_ids_block_starts_rank(block, end)))
        end++;
    *end_out = end;
}
