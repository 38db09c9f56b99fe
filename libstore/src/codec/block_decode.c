#include "codec/bits.h"
#include "codec/block.h"

bool ss_block_open(ss_block *block, const uint8_t *bytes, uint32_t block_bytes, const ss_code *code,
                   const char **reason)
{
    const uint8_t *head = bytes + block_bytes - SS_BLOCK_TRAILER_BYTES - SS_BLOCK_HEAD_BYTES;
    const uint32_t count = ss_load_le16(head), key_shift = head[2], groups = ss_group_count(count);
    *reason = "its number of fingerprints is out of range";
    if (count == 0 || count > ss_block_capacity(block_bytes))
        return false;
    const size_t frame_bytes = (size_t)(groups - 1) * SS_GROUP_FRAME_BYTES;
    *block = (ss_block){.bytes = bytes,
                        .code = code,
                        .keys = head - frame_bytes / 2,
                        .begins = head - frame_bytes,
                        .count = count,
                        .group_count = groups,
                        .first = ss_load_le32(head + 4),
                        .key_shift = key_shift};
    if (bytes + (size_t)count * SS_LOWER_BYTES > block->begins)
        return false;
    *reason = "the width of its group keys, or the byte after it, is invalid";
    return key_shift <= SS_UPPER_BITS - SS_KEY_BITS && head[3] == 0;
}

/* Where a group begins, in bytes. For group_count it is the end of the coded groups. */
static uint32_t group_begin(const ss_block *block, uint32_t group)
{
    if (group == 0)
        return block->count * SS_LOWER_BYTES;
    if (group == block->group_count)
        return (uint32_t)(block->begins - block->bytes);
    return ss_load_le16(block->begins + (size_t)(group - 1) * 2);
}

/* Find where a group's codes begin, where its suffixes end, and its first upper half. */
static inline bool enter_group(const ss_block *block, uint32_t number, uint32_t count, ss_coded_group *group)
{
    const uint32_t begin = group_begin(block, number), end = group_begin(block, number + 1);
    const uint32_t low_bits = number == 0 ? 0 : block->key_shift;
    *group = (ss_coded_group){.block = block->bytes,
                              .first = number * SS_GROUP_SIZE,
                              .count = count,
                              .upper = block->first,
                              .code_bit = 8 * begin,
                              .suffix_bit = 8 * end - low_bits};
    if (SS_UNLIKELY(begin < block->count * SS_LOWER_BYTES || begin + (low_bits + 7) / 8 > end ||
                    end > (uint32_t)(block->begins - block->bytes)))
        return false;
    if (number > 0)
        group->upper += (uint32_t)ss_load_le16(block->keys + (size_t)(number - 1) * 2) << low_bits |
                        (uint32_t)(ss_bits_peek(block->bytes, group->suffix_bit) & ss_low_mask(low_bits));
    return true;
}

#define CACHE_LINE 64u

void ss_block_prefetch_group(const ss_block *block, uint32_t number)
{
    ss_coded_group group;
    if (!enter_group(block, number, 1, &group)) /* malformed: do not compute addresses outside the block */
        return;
    for (uint32_t at = group.code_bit / 8 & ~(CACHE_LINE - 1); at < group.suffix_bit / 8; at += CACHE_LINE)
        __builtin_prefetch(block->bytes + at);
}

bool ss_block_group_first(const ss_block *block, uint32_t number, uint64_t *first_out)
{
    ss_coded_group group;
    const bool valid = enter_group(block, number, 1, &group);
    *first_out = (uint64_t)group.upper << SS_UPPER_BITS | ss_block_lower(block, number * SS_GROUP_SIZE);
    return valid;
}

bool ss_block_decode_group(const ss_block *block, uint32_t number, uint32_t count, uint64_t *out)
{
    ss_coded_group group;
    return enter_group(block, number, count, &group) &&
           block->code->kernels->decode(block->code->lookup, &group, NULL, out);
}

bool ss_block_decode(const ss_block *block, uint64_t *out)
{
    for (uint32_t number = 0; number < block->group_count; number += 2) {
        ss_coded_group group, next;
        const bool has_next = number + 1 < block->group_count;
        if (!enter_group(block, number, ss_block_group_size(block, number), &group) ||
            (has_next && !enter_group(block, number + 1, ss_block_group_size(block, number + 1), &next)) ||
            !block->code->kernels->decode(block->code->lookup, &group, has_next ? &next : NULL,
                                          out + (size_t)number * SS_GROUP_SIZE))
            return false;
    }
    for (uint32_t first = SS_GROUP_SIZE; first < block->count; first += SS_GROUP_SIZE)
        if (out[first] <= out[first - 1])
            return false;
    return true;
}

/* ----- searching ----- */

typedef uint16_t keys __attribute__((vector_size(16)));
#define VECTOR_KEYS 8u

/* The key that an upper half would have as the first of a group. */
static uint32_t key_of(const ss_block *block, uint32_t upper)
{
    const uint32_t distance = upper <= block->first ? 0 : (upper - block->first) >> block->key_shift;
    return distance <= UINT16_MAX ? distance : UINT16_MAX;
}

static uint32_t add_up(keys counts)
{
    uint64_t words[2];
    memcpy(words, &counts, sizeof words);
    return (uint32_t)((words[0] + words[1]) * UINT64_C(0x0001000100010001) >> 48);
}

/* Group g begins after g keys. Fingerprints from `low` on may lie in the group before the first key that is not below
 * low's: of equal keys, only the bits below them decide. Keys are counted eight at a time and without a branch. Head
 * and trailer follow them, so a vector of keys stays in the block. */
void ss_block_find_groups(const ss_block *block, uint32_t low, uint32_t high, uint32_t *first_out, uint32_t *last_out)
{
    const uint16_t low_key = (uint16_t)key_of(block, low), high_key = (uint16_t)key_of(block, high);
    const uint32_t count = block->group_count - 1;
    const keys numbers = {0, 1, 2, 3, 4, 5, 6, 7};
    keys below = {0}, up_to = {0};
    for (uint32_t i = 0; i < count; i += VECTOR_KEYS) {
        keys loaded;
        memcpy(&loaded, block->keys + (size_t)i * 2, sizeof loaded);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        loaded = loaded << 8 | loaded >> 8;
#endif
        const keys present = (keys)(numbers < (uint16_t)(count - i));
        below -= (keys)(loaded < low_key) & present;
        up_to -= (keys)(loaded <= high_key) & present;
    }
    *first_out = add_up(below);
    *last_out = add_up(up_to);
}

bool ss_block_keep_near(const ss_block *block, ss_near *near)
{
    uint64_t near_ones = 0;
    if (!ss_block_decode_group(block, near->group, ss_count_up_to(near->mask), near->buffer))
        return false;
    near->values = near->buffer;
    for (uint64_t mask = near->mask; mask != 0; mask &= mask - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(mask);
        near_ones |= (uint64_t)(ss_popcount(near->values[i] ^ near->query) <= near->distance) << i;
    }
    near->mask = near_ones;
    return true;
}

static void find_decoded(const ss_block *block, ss_near *near)
{
    uint32_t found[SS_GROUP_SIZE];
    for (; near->group != near->end; near->group++) {
        near->values = near->decoded + (size_t)near->group * SS_GROUP_SIZE;
        uint32_t count = block->code->kernels->near_values(near->values, ss_block_group_size(block, near->group),
                                                           near->query, near->distance, found);
        for (near->mask = 0; count > 0; count--)
            near->mask |= UINT64_C(1) << found[count - 1];
        if (near->mask != 0)
            return;
    }
}

bool ss_block_find_near(const ss_block *block, ss_near *near)
{
    if (near->decoded != NULL) {
        find_decoded(block, near);
        return true;
    }
    for (;; near->group++) {
        near->group = ss_block_find_lower(block, near->group, near->end, (uint32_t)near->query, near->lower_distance,
                                          &near->mask);
        if (SS_LIKELY(near->group == near->end))
            return true;
        if (!ss_block_keep_near(block, near))
            return false;
        if (near->mask != 0)
            return true;
    }
}
