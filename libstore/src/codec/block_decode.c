#include "codec/block.h"

bool ss_block_open(ss_block *block, const uint8_t *bytes, ss_geometry geometry, const ss_code *code,
                   const char **reason)
{
    uint32_t slot_bytes = ss_slot_bytes(geometry);
    uint32_t count = ss_load_slot(bytes, slot_bytes, 0);
    *reason = "the number of fingerprints is impossible";
    if (count == 0 || count > SS_BLOCK_MAX_COUNT)
        return false;
    uint32_t groups = (count + geometry.restart_interval - 1) / geometry.restart_interval;
    uint32_t first_bit = 8 * (slot_bytes + SS_KEY_BYTES) * groups;
    *block = (ss_block){.bytes = bytes, .code = code, .count = count, .group_count = groups,
                        .restart_interval = geometry.restart_interval, .slot_bytes = slot_bytes,
                        .end_bit = ss_block_end_bit(geometry)};
    if (first_bit > block->end_bit)
        return false;
    block->keys = bytes + (size_t)slot_bytes * groups;
    block->first_group_bit = first_bit;
    *reason = "the groups' positions do not rise within the block";
    uint32_t previous = block->first_group_bit;
    for (uint32_t group = 1; group < groups; group++) {
        uint32_t begin = ss_load_slot(bytes, slot_bytes, group);
        if (begin < previous || begin > block->end_bit)
            return false;
        previous = begin;
    }
    return true;
}

/* Decode the codes of one group to h[0 .. count-1]. Writes up to SS_LOOKUP_SYMBOLS - 1 bytes more. */
static bool decode_codes(const ss_block *block, uint32_t begin, uint32_t end, uint32_t count, uint8_t *h)
{
    uint32_t done = 0;
    while (done < count) {
        const ss_lookup *entry = &block->code->lookup[ss_bits_peek(block->bytes, begin) & ((1u << SS_MAX_CODE_BITS) - 1)];
        memcpy(h + done, entry->h, SS_LOOKUP_SYMBOLS);
        done += ss_lookup_symbols(entry);
        begin += ss_lookup_code_bits(entry);
        if (SS_UNLIKELY(entry->counts == 0 || (begin > end && done < count)))
            return false;
    }
    return true;
}

/* Groups are decoded in pieces of at most this many, so that the codes' buffer stays small whatever the interval. */
#define PIECE 256u

bool ss_block_decode_group(const ss_block *block, uint32_t group, uint64_t *out, uint32_t *count_out)
{
    uint8_t h[PIECE + SS_LOOKUP_SYMBOLS];
    uint32_t code_bit = ss_block_group_begin(block, group), rest_bit = ss_block_group_end(block, group);
    uint32_t left = block->count - group * block->restart_interval;
    uint32_t count = left < block->restart_interval ? left : block->restart_interval;
    uint64_t value = ss_block_key(block, group);
    *count_out = count;
    out[0] = value;
    for (uint32_t done = 1; done < count;) {
        uint32_t piece = count - done < PIECE ? count - done : PIECE;
        if (!decode_codes(block, code_bit, rest_bit, piece, h))
            return false;
        for (uint32_t i = 0; i < piece; i++) {
            uint32_t width = 63 - (uint32_t)h[i];
            code_bit += block->code->lengths[h[i]];
            if (SS_UNLIKELY(width > rest_bit))
                return false;
            rest_bit -= width;
            value = ss_successor(value, h[i], ss_bits_get(block->bytes, rest_bit, width));
            out[done + i] = value;
        }
        if (code_bit > rest_bit)
            return false;
        done += piece;
    }
    return true;
}

bool ss_block_decode(const ss_block *block, uint64_t *out)
{
    uint32_t count;
    for (uint32_t group = 0; group < block->group_count; group++, out += count)
        if (!ss_block_decode_group(block, group, out, &count))
            return false;
    return true;
}
