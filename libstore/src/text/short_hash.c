/*
 * short_hash.c - XXH3 for 4 to 8 bytes (the xxHash specification, "XXH3 small inputs"). All pieces have one size, so a
 * loop mixes them without a branch, several at once. A test compares it with the library xxHash.
 */
#include "text/short_hash.h"

#include "base/bytes.h"
#include "base/simd.h"

#define FLIP UINT64_C(0xc73ab174c5ecd5a2) /* the words at 8 and 16 of the default secret, combined by exclusive or */
#define PRIME UINT64_C(0x9fb21c651e98df25)

static inline uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

/* Both halves of a piece: its first four bytes above its last four. */
static inline uint64_t load(const uint8_t *from, size_t size)
{
    return (uint64_t)ss_load_le32(from) << 32 | ss_load_le32(from + size - 4);
}

static inline uint64_t mix(uint64_t x, size_t size)
{
    x ^= FLIP;
    x ^= rotate(x, 49) ^ rotate(x, 24);
    x *= PRIME;
    x ^= (x >> 35) + size;
    x *= PRIME;
    return x ^ x >> 28;
}

static inline void hash_all(const uint8_t *bytes, size_t stride, size_t size, size_t count, uint64_t *restrict hashes)
{
    for (size_t i = 0; i < count; i++)
        hashes[i] = load(bytes + i * stride, size);
    for (size_t i = 0; i < count; i++)
        hashes[i] = mix(hashes[i], size);
}

#if SS_SIMD_X86
SS_TARGET_AVX2 static void hash_all_avx2(const uint8_t *bytes, size_t stride, size_t size, size_t count,
                                         uint64_t *restrict hashes)
{
    hash_all(bytes, stride, size, count, hashes);
}
#endif

void ss_short_hashes(const uint8_t *bytes, size_t stride, size_t size, size_t count, uint64_t *hashes)
{
    assert(size >= SS_MIN_SHORT && size <= SS_MAX_SHORT);
#if SS_SIMD_X86
    if (ss_simd_best() >= SS_SIMD_AVX2) {
        hash_all_avx2(bytes, stride, size, count, hashes);
        return;
    }
#endif
    hash_all(bytes, stride, size, count, hashes);
}
