/*
 * form.h - the inner loops of kernels.h in one form: for vectors of VECTOR_BYTES bytes and a processor of the kind
 * TARGET. kernels.c includes it for each form; all names get the form's name, FORM. The compiler turns plain C into
 * vector instructions. COUNT_ONES, if defined, is an instruction that it does not find. FOLDS_TELL, at most
 * SS_HALVES_TELL, is the distance up to which pairs are excluded by their folds alone: it is less if ones are counted
 * fast. Forms of 32 bytes need <immintrin.h>.
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
/* gcc's analyser takes a vector's shift for that of one bit. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
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

/* A number that is at most max_left(max) if at most `max` bits are 1. Quick if `max` is a constant up to FEW_BITS. */
TARGET INLINE words OF_FORM(take_ones)(words x, uint32_t max)
{
    if (max > FEW_BITS)
        return COUNT_ONES(x);
    for (uint32_t i = 0; i < max; i++)
        x &= x - 1;
    return x;
}

INLINE uint32_t OF_FORM(max_left)(uint32_t max)
{
    return max > FEW_BITS ? max : 0;
}

/* All ones if at most `max` bits are 1, otherwise 0; for each word. */
TARGET INLINE words OF_FORM(are_few)(words x, uint32_t max)
{
    return (words)(OF_FORM(take_ones)(x, max) <= OF_FORM(max_left)(max));
}

#if VECTOR_BYTES == 32 /* the compiler does not find the two instructions that AVX2 has for this */

TARGET INLINE bool OF_FORM(is_any)(words x)
{
    return !_mm256_testz_si256((__m256i)x, (__m256i)x);
}

/* Note words that are at most max_left(max); begin with NONE_NOTED. The smallest word suffices. */
#define NONE_NOTED (~(words){0})
TARGET INLINE words OF_FORM(note_left)(words noted, words left, uint32_t max)
{
    (void)max;
    return (words)_mm256_min_epu32((__m256i)noted, (__m256i)left);
}

TARGET INLINE bool OF_FORM(noted_any)(words noted, uint32_t max)
{
    return OF_FORM(is_any)((words)(noted <= OF_FORM(max_left)(max)));
}

/* A bit for each word; each is 0 or all ones. */
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
TARGET INLINE words OF_FORM(note_left)(words noted, words left, uint32_t max)
{
    return noted | (words)(left <= OF_FORM(max_left)(max));
}

TARGET INLINE bool OF_FORM(noted_any)(words noted, uint32_t max)
{
    (void)max;
    return OF_FORM(is_any)(noted);
}

/* A bit for each word; each is 0 or all ones. */
TARGET INLINE uint32_t OF_FORM(list)(words x)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < VECTOR_WORDS; i++)
        bits |= (x[i] & 1) << i;
    return bits;
}

#endif

/* Call a function with the distance, as a constant if that makes it quick. */
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

/* ----- the search of a block's column ----- */

#define VECTORS (128 / VECTOR_BYTES) /* tested together, since few have a near half */

/* The set of near halves of a group. Most vectors have none. */
TARGET static uint64_t OF_FORM(list_near)(const uint8_t *from, words wanted, uint32_t distance)
{
    uint64_t near = 0;
    for (uint32_t i = 0; i < SS_GROUP_SIZE; i += VECTOR_WORDS) {
        const words found = OF_FORM(are_few)(OF_FORM(load)(from + (size_t)i * SS_LOWER_BYTES) ^ wanted, distance);
        if (OF_FORM(is_any)(found))
            near |= (uint64_t)OF_FORM(list)(found) << i;
    }
    return near;
}

TARGET INLINE uint32_t OF_FORM(find_within)(const uint8_t *block, uint32_t group, uint32_t end, words wanted,
                                            uint32_t distance, uint64_t *near_out)
{
    const size_t group_bytes = SS_GROUP_SIZE * SS_LOWER_BYTES;
    for (; group < end; group++) {
        const uint8_t *from = block + group * group_bytes;
        for (size_t at = 0; at < group_bytes; at += VECTORS * VECTOR_BYTES) {
            words noted = NONE_NOTED;
            for (uint32_t i = 0; i < VECTORS; i++) {
                const words differing = OF_FORM(load)(from + at + i * sizeof noted) ^ wanted;
                noted = OF_FORM(note_left)(noted, OF_FORM(take_ones)(differing, distance), distance);
            }
            if (SS_UNLIKELY(OF_FORM(noted_any)(noted, distance))) {
                *near_out = OF_FORM(list_near)(from, wanted, distance);
                return group;
            }
        }
    }
    return end;
}

TARGET static uint32_t OF_FORM(find_near)(const uint8_t *block, uint32_t group, uint32_t end, uint32_t lower,
                                          uint32_t distance, uint64_t *near_out)
{
    const words wanted = SS_LE32(lower) - (words){0}; /* in the order of the block's bytes, which is not swapped */
#define FIND_WITHIN(distance) OF_FORM(find_within)(block, group, end, wanted, distance, near_out)
    BY_DISTANCE(distance, FIND_WITHIN)
#undef FIND_WITHIN
}

#undef VECTORS

/* ----- pairs of near values ----- */

#define ROW_VECTORS (SS_PAIR_LANES / VECTOR_WORDS)
#define SHIFTS 4u /* tested together: few have a hit, so one comparison serves all */

/* Eight values, or the differences of eight pairs. */
typedef struct OF_FORM(row) {
    words folds[ROW_VECTORS], uppers[ROW_VECTORS];
} OF_FORM(row);
#define row OF_FORM(row)

TARGET INLINE row OF_FORM(load_row)(const ss_folded *values, uint32_t at)
{
    row loaded;
    for (uint32_t i = 0; i < ROW_VECTORS; i++) {
        loaded.folds[i] = OF_FORM(load)(values->folds + at + i * VECTOR_WORDS);
        loaded.uppers[i] = OF_FORM(load)(values->uppers + at + i * VECTOR_WORDS);
    }
    return loaded;
}

/* A row with the same value in each lane. */
TARGET INLINE row OF_FORM(repeat)(const ss_folded *values, uint32_t at)
{
    row repeated;
    for (uint32_t i = 0; i < ROW_VECTORS; i++) {
        repeated.folds[i] = values->folds[at] - (words){0};
        repeated.uppers[i] = values->uppers[at] - (words){0};
    }
    return repeated;
}

TARGET INLINE row OF_FORM(differences)(row a, row b)
{
    for (uint32_t i = 0; i < ROW_VECTORS; i++) {
        a.folds[i] ^= b.folds[i];
        a.uppers[i] ^= b.uppers[i];
    }
    return a;
}

/* The number of differing bits among all 64. */
TARGET INLINE words OF_FORM(count_all)(const row *differing, uint32_t vector)
{
    return COUNT_ONES(differing->uppers[vector]) + COUNT_ONES(differing->folds[vector] ^ differing->uppers[vector]);
}

/* Whether any of some differences may be within the distance. */
TARGET INLINE bool OF_FORM(may_be_near)(const row *rows, uint32_t count, uint32_t distance)
{
    words noted = NONE_NOTED;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < ROW_VECTORS; j++) {
            const words left = distance > FOLDS_TELL ? OF_FORM(count_all)(&rows[i], j)
                                                     : OF_FORM(take_ones)(rows[i].folds[j], distance);
            noted = OF_FORM(note_left)(noted, left, distance);
        }
    return OF_FORM(noted_any)(noted, distance);
}

/* Write the near lanes below `count` after the other hits. They count as a hit if there are any. */
TARGET INLINE uint32_t OF_FORM(add_hit)(uint32_t *hits, uint32_t found, uint32_t number, const row *differing,
                                        uint32_t count, uint32_t distance)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < ROW_VECTORS; i++)
        lanes |= OF_FORM(list)((words)(OF_FORM(count_all)(differing, i) <= distance)) << (i * VECTOR_WORDS);
    lanes &= (1u << ss_min_u32(count, SS_PAIR_LANES)) - 1;
    hits[found] = number << SS_PAIR_LANES | lanes;
    return found + (lanes != 0);
}

TARGET INLINE uint32_t OF_FORM(list_within)(const ss_folded *values, uint32_t begin, uint32_t end, uint32_t distance,
                                            uint32_t *hits)
{
    const row first = OF_FORM(load_row)(values, begin);
    uint32_t found = 0, count = end - begin;
    for (uint32_t shift = 1; shift < count; shift += SHIFTS) {
        row differing[SHIFTS];
        for (uint32_t i = 0; i < SHIFTS; i++)
            differing[i] = OF_FORM(differences)(first, OF_FORM(load_row)(values, begin + shift + i));
        if (SS_LIKELY(!OF_FORM(may_be_near)(differing, SHIFTS, distance)))
            continue;
        for (uint32_t i = 0; i < SHIFTS && shift + i < count; i++)
            found = OF_FORM(add_hit)(hits, found, shift + i, &differing[i], count - shift - i, distance);
    }
    return found;
}

TARGET INLINE uint32_t OF_FORM(list_between)(const ss_folded *values, uint32_t value_count, const ss_folded *others,
                                             uint32_t count, uint32_t distance, uint32_t *hits)
{
    uint32_t found = 0;
    for (uint32_t begin = 0; begin < count; begin += SS_PAIR_LANES) {
        const row some = OF_FORM(load_row)(others, begin);
        row differing[SS_PAIR_LANES];
        for (uint32_t i = 0; i < SS_PAIR_LANES; i++)
            differing[i] = OF_FORM(differences)(OF_FORM(repeat)(values, i), some);
        if (SS_LIKELY(!OF_FORM(may_be_near)(differing, SS_PAIR_LANES, distance)))
            continue;
        for (uint32_t i = 0; i < value_count; i++)
            found = OF_FORM(add_hit)(hits, found, begin + i, &differing[i], count - begin, distance);
    }
    return found;
}

TARGET static uint32_t OF_FORM(pairs_within)(const ss_folded *values, uint32_t begin, uint32_t end, uint32_t distance,
                                             uint32_t *hits)
{
#define PAIRS(distance) OF_FORM(list_within)(values, begin, end, distance, hits)
    if (distance > FOLDS_TELL)
        return PAIRS(distance);
    BY_DISTANCE(distance, PAIRS)
#undef PAIRS
}

TARGET static uint32_t OF_FORM(pairs_between)(const ss_folded *values, uint32_t value_count, const ss_folded *others,
                                              uint32_t count, uint32_t distance, uint32_t *hits)
{
#define PAIRS(distance) OF_FORM(list_between)(values, value_count, others, count, distance, hits)
    if (distance > FOLDS_TELL)
        return PAIRS(distance);
    BY_DISTANCE(distance, PAIRS)
#undef PAIRS
}

#undef row
#undef ROW_VECTORS
#undef SHIFTS

#undef JOIN_NAMES
#undef NAME_OF
#undef OF_FORM
#undef INLINE
#undef NONE_NOTED
#undef words
#undef VECTOR_WORDS
#undef FEW_BITS
#undef COUNT_ONES
#undef FOLDS_TELL
#undef BY_DISTANCE
#undef FORM
#undef TARGET
#undef VECTOR_BYTES
