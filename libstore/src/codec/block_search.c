#include "codec/block.h"

/* Where a fingerprint lies among the keys. */
static uint32_t key_of(const ss_block *block, uint64_t fingerprint)
{
    uint64_t distance = fingerprint <= block->first ? 0 : (fingerprint - block->first) >> block->key_shift;
    return distance <= UINT32_MAX ? (uint32_t)distance : UINT32_MAX;
}

/* Keys are counted instead of searched where there are few: without a branch, and several at a time. */
#define FEW_KEYS 64u

static uint32_t count_keys(const uint8_t *keys, uint32_t count, uint32_t low, uint32_t high, uint32_t *up_to_high)
{
    uint32_t below = 0, up_to = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = ss_load_le32(keys + SS_KEY_BYTES * (size_t)i);
        below += key < low;
        up_to += key <= high;
    }
    *up_to_high = up_to;
    return below;
}

/* The number of keys below `bound`. */
static uint32_t bisect(const uint8_t *keys, uint32_t count, uint64_t bound)
{
    uint32_t low = 0;
    while (count > 0) {
        uint32_t half = count / 2;
        bool below = ss_load_le32(keys + SS_KEY_BYTES * (size_t)(low + half)) < bound;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/* Group g is the one after g keys. Fingerprints from `low` on may lie in the group before the first key that is not below
 * low's: of equal keys only the bits behind tell which is lower. */
void ss_block_find_groups(const ss_block *block, uint64_t low, uint64_t high, uint32_t *first_out, uint32_t *last_out)
{
    const uint8_t *keys = block->bytes + SS_BLOCK_HEAD_BYTES;
    uint32_t count = block->group_count - 1, low_key = key_of(block, low), high_key = key_of(block, high);
    if (count <= FEW_KEYS) {
        *first_out = count_keys(keys, count, low_key, high_key, last_out);
    } else {
        *first_out = bisect(keys, count, low_key);
        *last_out = bisect(keys, count, high_key + UINT64_C(1));
    }
}
