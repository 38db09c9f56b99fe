/*
 * vectors.h - vectors of 32-bit words for one form of an inner loop: for VECTOR_BYTES bytes and a processor of the kind TARGET.
 * A file that makes several forms includes it for each, with FORM the form's name, and codec/vectors_end.h behind the form.
 * The compiler makes vector instructions of ordinary C; COUNT_ONES, where it is defined, is one that it does not find. Forms of 32
 * bytes need <immintrin.h>.
 */
#include "base/common.h"

#define JOIN_NAMES(a, b) a##_##b
#define NAME_OF(a, b) JOIN_NAMES(a, b)
#define OF_FORM(name) NAME_OF(name, FORM)
#define INLINE __attribute__((always_inline)) static inline

typedef uint32_t OF_FORM(words) __attribute__((vector_size(VECTOR_BYTES)));
#define words OF_FORM(words)
#define VECTOR_WORDS (VECTOR_BYTES / sizeof(uint32_t))

TARGET INLINE words OF_FORM(load)(const void *from)
{
    words loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

#ifndef COUNT_ONES
#define COUNT_ONES OF_FORM(count_ones)
#define FEW_BITS 5u /* up to which ones are taken away one by one; more are counted */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 /* its analyser takes a vector's shift for that of one bit */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wanalyzer-shift-count-overflow"
#endif
TARGET INLINE words OF_FORM(count_ones)(words x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    x += x >> 8;
    return (x + (x >> 16)) & 63u;
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic pop
#endif
#else
#define FEW_BITS 0u
#endif

/* All ones where at most `most` bits are 1, else 0. Quick where `most` is a constant up to FEW_BITS. */
TARGET INLINE words OF_FORM(are_few)(words x, uint32_t most)
{
    if (most > FEW_BITS)
        return (words)(COUNT_ONES(x) <= most);
    for (uint32_t i = 0; i < most; i++)
        x &= x - 1;
    return (words)(x == 0);
}

#if VECTOR_BYTES == 32 /* with AVX2, of which the compiler does not find the two instructions that are made for it */

TARGET INLINE bool OF_FORM(is_any)(words x)
{
    return !_mm256_testz_si256((__m256i)x, (__m256i)x);
}

/* A bit for each word that is not 0, which are all ones. */
TARGET INLINE uint32_t OF_FORM(list)(words x)
{
    return (uint32_t)_mm256_movemask_ps((__m256)x);
}

#else

TARGET INLINE bool OF_FORM(is_any)(words x)
{
    uint64_t parts[VECTOR_BYTES / 8], any = 0;
    memcpy(parts, &x, sizeof parts);
    for (uint32_t i = 0; i < VECTOR_BYTES / 8; i++)
        any |= parts[i];
    return any != 0;
}

/* A bit for each word that is not 0, which are all ones. */
TARGET INLINE uint32_t OF_FORM(list)(words x)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < VECTOR_WORDS; i++)
        bits |= (x[i] & 1) << i;
    return bits;
}

#endif

/* Call a function for a distance, which is a constant where that makes it quick. */
#define BY_DISTANCE(distance, call)                                                                                    \
    switch (distance) {                                                                                                \
    case 0: return call(0);                                                                                            \
    case 1: return call(1);                                                                                            \
    case 2: return call(2);                                                                                            \
    case 3: return call(3);                                                                                            \
    case 4: return call(4);                                                                                            \
    case 5: return call(5);                                                                                            \
    default: return call(distance);                                                                                    \
    }
