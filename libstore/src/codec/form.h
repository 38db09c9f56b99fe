/*
 * form.h - the inner loops of kernels.h in one form: for vectors of VECTOR_BYTES bytes and a processor of the kind TARGET. kernels.c
 * includes it for each, with FORM the form's name, which all names get. The compiler makes vector instructions of ordinary C;
 * COUNT_ONES, where it is defined, is one that it does not find. Forms of 32 bytes need <immintrin.h>.
 */
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
#define FEW_BITS 5u
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
#endif

/* Something that is at most most_left(most) where at most `most` bits are 1. Quick where `most` is a constant up to FEW_BITS. */
TARGET INLINE words OF_FORM(take_ones)(words x, uint32_t most)
{
    if (most > FEW_BITS)
        return COUNT_ONES(x);
    for (uint32_t i = 0; i < most; i++)
        x &= x - 1;
    return x;
}

INLINE uint32_t OF_FORM(most_left)(uint32_t most)
{
    return most > FEW_BITS ? most : 0;
}

/* All ones where at most `most` bits are 1, else 0. */
TARGET INLINE words OF_FORM(are_few)(words x, uint32_t most)
{
    return (words)(OF_FORM(take_ones)(x, most) <= OF_FORM(most_left)(most));
}

#if VECTOR_BYTES == 32 /* with AVX2, of which the compiler does not find the two instructions that are made for it */

TARGET INLINE bool OF_FORM(is_any)(words x)
{
    return !_mm256_testz_si256((__m256i)x, (__m256i)x);
}

/* Note words of which at most most_left(most) is left; begin with NONE_NOTED. The least of them says enough. */
#define NONE_NOTED (~(words){0})
TARGET INLINE words OF_FORM(note_left)(words noted, words left, uint32_t most)
{
    (void)most;
    return (words)_mm256_min_epu32((__m256i)noted, (__m256i)left);
}

TARGET INLINE bool OF_FORM(noted_any)(words noted, uint32_t most)
{
    return OF_FORM(is_any)((words)(noted <= OF_FORM(most_left)(most)));
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

#define NONE_NOTED ((words){0})
TARGET INLINE words OF_FORM(note_left)(words noted, words left, uint32_t most)
{
    return noted | (words)(left <= OF_FORM(most_left)(most));
}

TARGET INLINE bool OF_FORM(noted_any)(words noted, uint32_t most)
{
    (void)most;
    return OF_FORM(is_any)(noted);
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

#include "codec/find_near.h"
#include "codec/near_pairs.h"

#undef JOIN_NAMES
#undef NAME_OF
#undef OF_FORM
#undef INLINE
#undef NONE_NOTED
#undef words
#undef VECTOR_WORDS
#undef FEW_BITS
#undef COUNT_ONES
#undef BY_DISTANCE
#undef FORM
#undef TARGET
#undef VECTOR_BYTES
