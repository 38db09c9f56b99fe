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

static inline void mix_all(size_t size, size_t count, uint64_t *restrict hashes)
{
    for (size_t i = 0; i < count; i++)
        hashes[i] = mix(hashes[i], size);
}

static void load_some(const uint8_t *bytes, size_t stride, size_t size, size_t first, size_t count, uint64_t *to)
{
    for (size_t i = first; i < count; i++)
        to[i] = load(bytes + i * stride, size);
}

#if SS_SIMD_X86

#include <immintrin.h>

#define LANES 4u
#define LOADED_BYTES 16u

/* Load pieces, LANES at a time, if 16 bytes hold as many; returns how many. */
SS_TARGET_AVX2 static size_t load_many(const uint8_t *bytes, size_t stride, size_t size, size_t count, uint64_t *to)
{
    uint8_t places[LANES * 8]; /* where each byte of the loaded pieces comes from */
    if ((LANES - 1) * stride + size > LOADED_BYTES || count * stride < LOADED_BYTES)
        return 0;
    for (size_t i = 0; i < sizeof places; i++)
        places[i] = (uint8_t)(i / 8 * stride + (i % 8 < 4 ? size - 4 : 0) + i % 4);
    const __m256i shuffle = _mm256_loadu_si256((const void *)places);
    const size_t end = count - (LOADED_BYTES + stride - 1) / stride + 1; /* no byte behind the pieces is read */
    size_t i = 0;
    for (; i < end && count - i >= LANES; i += LANES) {
        const __m128i some = _mm_loadu_si128((const void *)(bytes + i * stride));
        _mm256_storeu_si256((void *)(to + i), _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(some), shuffle));
    }
    return i;
}

SS_TARGET_AVX2 static void mix_all_avx2(size_t size, size_t count, uint64_t *restrict hashes)
{
    mix_all(size, count, hashes);
}

/* This one has multiplications of 64 bits. */
SS_TARGET_AVX512 static void mix_all_avx512(size_t size, size_t count, uint64_t *restrict hashes)
{
    mix_all(size, count, hashes);
}

#endif

void ss_short_hashes(const uint8_t *bytes, size_t stride, size_t size, size_t count, uint64_t *hashes)
{
    assert(size >= SS_MIN_SHORT && size <= SS_MAX_SHORT);
#if SS_SIMD_X86
    const ss_simd_level level = ss_simd_best();
    if (level >= SS_SIMD_AVX2) {
        load_some(bytes, stride, size, load_many(bytes, stride, size, count, hashes), count, hashes);
        (level >= SS_SIMD_AVX512 ? mix_all_avx512 : mix_all_avx2)(size, count, hashes);
        return;
    }
#endif
    load_some(bytes, stride, size, 0, count, hashes);
    mix_all(size, count, hashes);
}
