#include "codec/block.h"

bool ss_block_open(ss_block *block, const uint8_t *bytes, ss_geometry geometry, const ss_code *code,
                   const char **reason)
{
    uint32_t count = ss_load_le16(bytes), key_shift = bytes[2];
    *reason = "the number of fingerprints is impossible";
    if (count == 0 || count > ss_block_most(geometry))
        return false;
    uint32_t groups = (count + geometry.restart_interval - 1) / geometry.restart_interval;
    *block = (ss_block){.bytes = bytes,
                        .code = code,
                        .slots = bytes + SS_BLOCK_HEAD_BYTES + (size_t)(groups - 1) * SS_KEY_BYTES,
                        .first = ss_load_le64(bytes + 4),
                        .count = count,
                        .group_count = groups,
                        .restart_interval = geometry.restart_interval,
                        .slot_bytes = ss_slot_bytes(geometry),
                        .key_shift = key_shift,
                        .first_group_bit = ss_block_first_group_bit(geometry, groups),
                        .end_bit = ss_block_end_bit(geometry)};
    if (block->first_group_bit > block->end_bit)
        return false;
    *reason = "the width of its groups' keys, or the byte behind it, is impossible";
    return key_shift <= 64 - SS_KEY_BITS && bytes[3] == 0;
}

/* Find a group's bounds, within the block, and its first fingerprint. */
static bool enter_group(const ss_block *block, uint32_t group, uint64_t *first_out, uint32_t *begin_out,
                        uint32_t *end_out)
{
    uint32_t begin = ss_block_group_begin(block, group), end = ss_block_group_end(block, group);
    uint32_t low_bits = group == 0 ? 0 : block->key_shift;
    if (SS_UNLIKELY(begin < block->first_group_bit || begin > end || end > block->end_bit || end - begin < low_bits))
        return false;
    *first_out = block->first;
    *begin_out = begin;
    *end_out = end - low_bits;
    if (group > 0) {
        uint64_t key = ss_load_le32(block->bytes + SS_BLOCK_HEAD_BYTES + SS_KEY_BYTES * (size_t)(group - 1));
        *first_out += key << low_bits | ss_bits_get(block->bytes, end - low_bits, low_bits);
    }
    return true;
}

/* The value that follows `previous` if they first differ at h. */
static inline uint64_t successor(uint64_t previous, uint32_t h, uint64_t rest)
{
    return (previous & ss_high_mask(h)) | UINT64_C(1) << (63 - h) | rest;
}

/* Groups that are decoded alone are so in pieces of at most this many, so that h[] stays small whatever the interval. */
#define PIECE 256u

/* Decode `count` codes to h[]. Writes up to SS_LOOKUP_SYMBOLS - 1 bytes more. */
static bool decode_piece(const ss_block *block, uint32_t begin, uint32_t end, uint32_t count, uint8_t *h)
{
    uint32_t done = 0;
    while (done < count) {
        ss_lookup entry = block->code->lookup[ss_bits_peek(block->bytes, begin) & ((1u << SS_MAX_CODE_BITS) - 1)];
        ss_store_le32(h + done, ss_lookup_h(entry));
        done += ss_lookup_symbols((uint32_t)entry);
        begin += ss_lookup_code_bits((uint32_t)entry);
        if (SS_UNLIKELY(entry == 0 || (begin > end && done < count)))
            return false;
    }
    return true;
}

static bool decode_alone(const ss_block *block, uint32_t group, uint64_t *out)
{
    uint8_t h[PIECE + SS_LOOKUP_SYMBOLS];
    uint32_t code_bit, rest_bit, count = ss_block_group_size(block, group);
    uint64_t value, no_difference = 0;
    if (!enter_group(block, group, &value, &code_bit, &rest_bit))
        return false;
    out[0] = value;
    for (uint32_t done = 1; done < count;) {
        uint32_t piece = count - done < PIECE ? count - done : PIECE;
        if (!decode_piece(block, code_bit, rest_bit, piece, h))
            return false;
        for (uint32_t i = 0; i < piece; i++) {
            uint32_t width = 63 - (uint32_t)h[i];
            code_bit += block->code->lengths[h[i]];
            if (SS_UNLIKELY(width > rest_bit))
                return false;
            rest_bit -= width;
            no_difference |= value >> width & 1; /* bit h was 1 before, too */
            value = successor(value, h[i], ss_bits_get(block->bytes, rest_bit, width));
            out[done + i] = value;
        }
        if (code_bit > rest_bit || no_difference != 0)
            return false;
        done += piece;
    }
    return true;
}

uint32_t ss_block_decode_lanes(const ss_group *groups, uint32_t group_count, uint64_t *out)
{
    ss_lane lanes[SS_LANES];
    uint32_t index[SS_LANES]; /* of the group in each lane */
    uint32_t count = 0, alone = 0, interval = groups[0].block->restart_interval;
    const ss_code *code = groups[0].block->code;
    for (uint32_t i = 0; i < group_count; i++) {
        const ss_block *block = groups[i].block;
        ss_lane *lane = &lanes[count];
        lane->block = block->bytes;
        lane->steps = ss_block_group_size(block, groups[i].number) - 1;
        lane->out = out + (size_t)i * interval;
        if (SS_UNLIKELY(!enter_group(block, groups[i].number, &lane->first, &lane->begin, &lane->end))) {
            group_count = i; /* unless one before it turns out malformed */
            break;
        }
        /* All lanes go on for as long as the longest, which has interval - 1 steps at most. */
        if (SS_LIKELY(interval <= SS_LANE_STEPS + 1 && lane->begin + ss_lane_reach(interval - 1) <= block->end_bit))
            index[count++] = i;
        else
            alone |= 1u << i;
    }
    if (SS_LIKELY(count > 0))
        for (uint32_t missed = code->decode_lanes(code->lookup, lanes, count); missed != 0; missed &= missed - 1)
            alone |= 1u << index[__builtin_ctz(missed)];
    for (; SS_UNLIKELY(alone != 0); alone &= alone - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(alone);
        if (!decode_alone(groups[i].block, groups[i].number, out + (size_t)i * interval))
            return i;
    }
    return group_count;
}

/* Whether groups that were decoded from `first_group` on ascend from one to the next, and to the one behind them. */
static bool groups_ascend(const ss_block *block, uint32_t first_group, const uint64_t *values, uint32_t count)
{
    const uint32_t interval = block->restart_interval, behind = first_group + (count + interval - 1) / interval;
    uint64_t next;
    uint32_t begin, end;
    bool ascend = true;
    for (uint32_t at = interval; at < count; at += interval)
        ascend &= values[at] > values[at - 1];
    if (behind < block->group_count)
        ascend &= enter_group(block, behind, &next, &begin, &end) && next > values[count - 1];
    return ascend;
}

bool ss_block_decode_groups(const ss_block *block, uint32_t first_group, uint32_t groups, uint64_t *out,
                            uint32_t *count_out)
{
    const uint64_t *const values = out;
    const uint32_t from = first_group;
    uint32_t interval = block->restart_interval, left = block->count - first_group * interval;
    *count_out = left < groups * interval ? left : groups * interval;
    while (groups > 0) {
        ss_group together[SS_LANES];
        uint32_t count = groups < SS_LANES ? groups : SS_LANES;
        for (uint32_t i = 0; i < count; i++)
            together[i] = (ss_group){.block = block, .number = first_group + i};
        if (ss_block_decode_lanes(together, count, out) != count)
            return false;
        out += (size_t)count * interval;
        first_group += count;
        groups -= count;
    }
    return groups_ascend(block, from, values, *count_out);
}

bool ss_block_decode(const ss_block *block, uint64_t *out)
{
    uint32_t count;
    return ss_block_decode_groups(block, 0, block->group_count, out, &count);
}

bool ss_block_decode_strictly(const ss_block *block, uint64_t *out)
{
    for (uint32_t group = 0; group < block->group_count; group++)
        if (!decode_alone(block, group, out + (size_t)group * block->restart_interval))
            return false;
    return groups_ascend(block, 0, out, block->count);
}
