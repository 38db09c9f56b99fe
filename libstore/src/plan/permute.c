#include "plan/permute.h"

/* Add one bit's move; it joins a run that moves as far. Positions count from the most significant bit. */
static void add_move(ss_permutation *permutation, uint32_t from, uint32_t to)
{
    uint32_t rotate = (from - to) & 63u;
    uint32_t i = 0;
    while (i < permutation->run_count && permutation->runs[i].rotate_left != rotate)
        i++;
    if (i == permutation->run_count)
        permutation->runs[permutation->run_count++] = (ss_run){.rotate_left = rotate, .rotate_back = -rotate & 63u};
    permutation->runs[i].from_mask |= UINT64_C(1) << (63 - from);
    permutation->runs[i].to_mask |= UINT64_C(1) << (63 - to);
}

void ss_permutation_init(ss_permutation *permutation, uint64_t key_mask)
{
    const uint32_t behind_keys = key_mask == 0 ? 0 : SS_FINGERPRINT_BITS - (uint32_t)__builtin_ctzll(key_mask);
    uint32_t next_key = 0, next_other = ss_popcount(key_mask);
    permutation->run_count = 0;
    for (uint32_t bit = 0; bit < SS_FINGERPRINT_BITS; bit++)
        if (key_mask >> (63 - bit) & 1)
            add_move(permutation, bit, next_key++);
    for (uint32_t i = 0; i < SS_FINGERPRINT_BITS; i++) {
        const uint32_t bit = (behind_keys + i) % SS_FINGERPRINT_BITS;
        if (!(key_mask >> (63 - bit) & 1))
            add_move(permutation, bit, next_other++);
    }
}
