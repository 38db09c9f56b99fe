#include "codec/block.h"

uint32_t ss_block_find_group(const ss_block *block, uint64_t target)
{
    uint32_t low = 0, count = block->group_count;
    while (count > 1) {
        uint32_t half = count / 2;
        low += ss_block_key(block, low + half) <= target ? half : 0;
        count -= half;
    }
    return low;
}

/*
 * Within a group, from a value below the target on. Let l be the number of leading bits in which the value equals the
 * target; they differ at bit l, where the value has 0. For the next fingerprint, which first differs from the value at h:
 *   h > l: it too has 0 at bit l after the same leading bits: still below, and l stays. Only its code was read.
 *   h < l: it has 1 where the target has 0: above.
 *   h = l: it agrees with the target at bit l as well; its rest decides.
 */
static ss_seek seek_in_group(const ss_block *block, uint64_t target, ss_position *position)
{
    uint32_t agreed = ss_first_difference(position->value, target);
    while (position->index < position->group_last) {
        const ss_lookup *entry = ss_position_look(block, position);
        uint32_t symbols = ss_lookup_symbols(entry);
        if (entry->smallest_h > agreed && symbols <= position->group_last - position->index && symbols != 0) {
            position->index += symbols;
            position->code_bit += ss_lookup_code_bits(entry);
            position->rest_bit -= entry->rest_bits;
            if (SS_UNLIKELY((int32_t)(position->rest_bit - position->code_bit) < 0))
                return SS_SEEK_DAMAGED;
            continue;
        }
        uint32_t h = ss_position_take(block, entry, position);
        if (SS_UNLIKELY(h == SS_SYMBOL_COUNT))
            return SS_SEEK_DAMAGED;
        position->index++;
        if (h > agreed)
            continue;
        uint64_t rest = ss_bits_get(block->bytes, position->rest_bit, 63 - h);
        position->value = ss_successor(target, h, rest); /* up to h the value and the target agree */
        if (position->value >= target)
            return SS_SEEK_AT;
        agreed = ss_first_difference(position->value, target);
    }
    return SS_SEEK_END;
}

ss_seek ss_block_seek(const ss_block *block, uint64_t target, ss_position *position)
{
    uint32_t group = ss_block_find_group(block, target);
    ss_position_enter_group(block, group, position);
    if (position->value >= target)
        return SS_SEEK_AT;
    ss_seek found = seek_in_group(block, target, position);
    if (found != SS_SEEK_END)
        return found;
    if (group + 1 == block->group_count)
        return SS_SEEK_END;
    /* The next group's first fingerprint is above the target, or ss_block_find_group() would have chosen it. */
    ss_position_enter_group(block, group + 1, position);
    return SS_SEEK_AT;
}
