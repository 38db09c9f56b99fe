#include "codec/ids.h"

#include <string.h>

enum {
    AT_FIRST_RANK = 0,
    AT_MIN = 8,
    AT_COUNT = 16, /* 2 bytes */
    AT_WIDTH = 18, /* 1 byte */
    AT_FLAGS = 19, /* 1 byte */
    FRAME_BYTES = 20
};

#define FLAG_HAS_STARTS 1u
#define FLAG_CONTINUED 2u

/* Bits needed for 0 .. max - min. */
static uint32_t width_of(uint64_t min, uint64_t max)
{
    return max == min ? 0 : 64 - (uint32_t)__builtin_clzll(max - min);
}

/* Size of a block's contents without the trailer. */
static uint64_t content_bytes(uint32_t count, uint32_t width, bool has_starts)
{
    uint64_t starts_bytes = has_starts ? ((uint64_t)count + 7) / 8 : 0;
    return FRAME_BYTES + starts_bytes + ((uint64_t)count * width + 7) / 8;
}

/* The maximum number of records in a block. */
static uint32_t max_records(uint32_t block_bytes, uint32_t width, bool has_starts)
{
    const uint32_t room = block_bytes - SS_BLOCK_TRAILER_BYTES;
    uint64_t bits = width + (has_starts ? 1u : 0u);
    uint64_t max = SS_IDS_BLOCK_CAPACITY;
    if (bits > 0)
        max = ss_min_u64((room - FRAME_BYTES) * UINT64_C(8) / bits, max);
    while (content_bytes((uint32_t)max, width, has_starts) > room) /* each of the two parts takes whole bytes */
        max--;
    return (uint32_t)max;
}

uint32_t ss_ids_fit(uint32_t block_bytes, const uint64_t *ids, const uint8_t *starts, size_t count,
                    ss_ids_frame *frame_out)
{
    uint64_t min = ids[0], max = ids[0];
    bool has_starts = false;
    uint32_t fitting = 1, limit = max_records(block_bytes, 0, false);
    for (; fitting < count; fitting++) {
        uint64_t id = ids[fitting];
        bool repeats = starts[fitting] == 0;
        if (SS_UNLIKELY(id < min || id > max || repeats > has_starts)) {
            uint64_t lower = ss_min_u64(id, min), higher = ss_max_u64(id, max);
            uint32_t lower_limit = max_records(block_bytes, width_of(lower, higher), has_starts || repeats);
            if (fitting >= lower_limit)
                break;
            min = lower;
            max = higher;
            has_starts |= repeats;
            limit = lower_limit;
        }
        if (fitting >= limit)
            break;
    }
    *frame_out = (ss_ids_frame){.count = fitting, .width = width_of(min, max), .min = min, .has_starts = has_starts};
    return fitting;
}

static void write_starts(const uint8_t *starts, uint32_t count, uint8_t *to)
{
    memset(to, 0, (count + 7) / 8);
    for (uint32_t i = 1; i < count; i++)
        to[i / 8] = (uint8_t)(to[i / 8] | starts[i] << i % 8);
}

/* Write fields of `width` bits one after the other. Up to 8 bytes after them are overwritten. */
static void write_values(const uint64_t *ids, uint32_t count, uint64_t min, uint32_t width, uint8_t *to)
{
    const uint32_t low_width = width > 32 ? 32 : width;
    uint64_t bits = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = ids[i] - min;
        bits |= (value & ss_low_mask(low_width)) << used;
        used += low_width;
        for (uint32_t left = width - low_width;; left = 0) {
            ss_store_le64(to, bits);
            to += used >> 3;
            bits >>= used & ~7u;
            used &= 7;
            if (left == 0)
                break;
            bits |= (value >> 32) << used;
            used += left;
        }
    }
}

void ss_ids_encode(uint32_t block_bytes, const ss_ids_frame *frame, const uint64_t *ids, const uint8_t *starts,
                   uint64_t first_rank, bool continued, uint8_t *to)
{
    const uint32_t count = frame->count, width = frame->width;
    const uint64_t base = width == 64 ? 0 : frame->min;
    uint8_t *values = to + FRAME_BYTES + (frame->has_starts ? (count + 7) / 8 : 0);
    uint8_t *end = to + content_bytes(count, width, frame->has_starts);
    ss_store_le64(to + AT_FIRST_RANK, first_rank);
    ss_store_le64(to + AT_MIN, base);
    ss_store_le16(to + AT_COUNT, (uint16_t)count);
    to[AT_WIDTH] = (uint8_t)width;
    to[AT_FLAGS] = (uint8_t)((frame->has_starts ? FLAG_HAS_STARTS : 0) | (continued ? FLAG_CONTINUED : 0));
    if (frame->has_starts)
        write_starts(starts, count, to + FRAME_BYTES);
    write_values(ids, count, base, width, values);
    memset(end, 0, (size_t)(to + block_bytes - end));
}

bool ss_ids_block_open(ss_ids_block *block, const uint8_t *bytes, uint32_t block_bytes, const char **reason)
{
    uint8_t flags = bytes[AT_FLAGS];
    *block = (ss_ids_block){.bytes = bytes,
                            .count = ss_load_le16(bytes + AT_COUNT),
                            .width = bytes[AT_WIDTH],
                            .first_rank = ss_load_le64(bytes + AT_FIRST_RANK),
                            .min = ss_load_le64(bytes + AT_MIN),
                            .starts = (flags & FLAG_HAS_STARTS) != 0 ? bytes + FRAME_BYTES : NULL,
                            .continued = (flags & FLAG_CONTINUED) != 0};
    *reason = "an unknown flag is set";
    if ((flags & ~(FLAG_HAS_STARTS | FLAG_CONTINUED)) != 0)
        return false;
    *reason = "its records are larger than the block, or there are none";
    if (block->count == 0 || block->width > 64 ||
        content_bytes(block->count, block->width, block->starts != NULL) > block_bytes - SS_BLOCK_TRAILER_BYTES)
        return false;
    *reason = "its first record is marked as starting a rank";
    if (block->starts != NULL && (block->starts[0] & 1) != 0)
        return false;
    *reason = "it has a base although its ids take 64 bits";
    if (block->width == 64 && block->min != 0)
        return false;
    block->ids_bit = 8 * (FRAME_BYTES + (block->starts != NULL ? (block->count + 7) / 8 : 0));
    return true;
}

/* The bits of `starts` for the up to 64 records from `at` on, a multiple of 64. */
static uint64_t load_starts(const ss_ids_block *block, uint32_t at)
{
    return ss_load_le64(block->starts + at / 8) & ss_low_mask(ss_min_u32(block->count - at, 64));
}

/* The first record whose rank is `steps` above that of record `from`, the first one of its rank; count if there is
 * none. */
static uint32_t find_start(const ss_ids_block *block, uint32_t from, uint64_t steps)
{
    if (steps == 0)
        return from;
    uint64_t passed = ss_low_mask(from % 64 + 1);
    for (uint32_t at = from / 64 * 64; at < block->count; at += 64, passed = 0) {
        uint64_t bits = load_starts(block, at) & ~passed;
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

uint64_t ss_ids_block_last_rank(const ss_ids_block *block)
{
    uint64_t steps = 0;
    if (block->starts == NULL)
        return block->first_rank + block->count - 1;
    for (uint32_t at = 0; at < block->count; at += 64)
        steps += ss_popcount(load_starts(block, at));
    return block->first_rank + steps;
}

uint32_t ss_ids_block_singles(const ss_ids_block *block, uint32_t first)
{
    if (block->starts == NULL)
        return block->count - first;
    /* The record before one that starts no rank is not alone in its rank. */
    for (uint32_t at = first / 64 * 64; at < block->count; at += 64) {
        uint64_t others = ~load_starts(block, at) & ss_low_mask(ss_min_u32(block->count - at, 64));
        if (at < first)
            others &= ~ss_low_mask(first - at);
        if (others != 0)
            return at + (uint32_t)__builtin_ctzll(others) - 1 - first;
    }
    return block->count - first;
}

void ss_ids_block_find_from(const ss_ids_block *block, uint64_t from_rank, uint32_t from, uint64_t rank,
                            uint32_t *begin_out, uint32_t *end_out)
{
    *begin_out = *end_out = block->count;
    if (rank < from_rank)
        return;
    const uint64_t steps = rank - from_rank;
    if (block->starts == NULL) {
        *begin_out = (uint32_t)ss_min_u64(from + ss_min_u64(steps, block->count), block->count);
        *end_out = (uint32_t)ss_min_u64(*begin_out + UINT64_C(1), block->count);
        return;
    }
    *begin_out = find_start(block, from, steps);
    *end_out = *begin_out < block->count ? find_start(block, *begin_out, 1) : block->count;
}

void ss_ids_block_find(const ss_ids_block *block, uint64_t rank, uint32_t *begin_out, uint32_t *end_out)
{
    ss_ids_block_find_from(block, block->first_rank, 0, rank, begin_out, end_out);
}
