/* near_pairs.h - which pairs of values are near, for the form that codec/form.h makes. */

#define ROW_VECTORS (SS_PAIR_LANES / VECTOR_WORDS)
#define SHIFTS 4u /* looked at together: few have a hit, so one comparison stands for all */

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

/* A row of which each lane is the same value. */
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

/* How many bits of the whole values differ. */
TARGET INLINE words OF_FORM(count_whole)(const row *differing, uint32_t vector)
{
    return COUNT_ONES(differing->uppers[vector]) + COUNT_ONES(differing->folds[vector] ^ differing->uppers[vector]);
}

/* Whether any of some differences may be within the distance. */
TARGET INLINE bool OF_FORM(may_be_near)(const row *rows, uint32_t count, uint32_t distance)
{
    words noted = NONE_NOTED;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < ROW_VECTORS; j++)
            noted = OF_FORM(note_left)(noted, distance > SS_HALVES_TELL ? OF_FORM(count_whole)(&rows[i], j)
                                                                    : OF_FORM(take_ones)(rows[i].folds[j], distance), distance);
    return OF_FORM(noted_any)(noted, distance);
}

/* Put the lanes below `count` that are near behind the other hits; they stay if there are any. */
TARGET INLINE uint32_t OF_FORM(add_hit)(uint32_t *hits, uint32_t found, uint32_t number, const row *differing, uint32_t count,
                                        uint32_t distance)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < ROW_VECTORS; i++)
        lanes |= OF_FORM(list)((words)(OF_FORM(count_whole)(differing, i) <= distance)) << (i * VECTOR_WORDS);
    lanes &= (1u << ss_min_u32(count, SS_PAIR_LANES)) - 1;
    hits[found] = number << SS_PAIR_LANES | lanes;
    return found + (lanes != 0);
}

TARGET INLINE uint32_t OF_FORM(list_within)(const ss_folded *values, uint32_t begin, uint32_t end, uint32_t distance, uint32_t *hits)
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

TARGET static uint32_t OF_FORM(pairs_within)(const ss_folded *values, uint32_t begin, uint32_t end, uint32_t distance, uint32_t *hits)
{
#define PAIRS(distance) OF_FORM(list_within)(values, begin, end, distance, hits)
    if (distance > SS_HALVES_TELL)
        return PAIRS(distance);
    BY_DISTANCE(distance, PAIRS)
#undef PAIRS
}

TARGET static uint32_t OF_FORM(pairs_between)(const ss_folded *values, uint32_t value_count, const ss_folded *others, uint32_t count,
                                              uint32_t distance, uint32_t *hits)
{
#define PAIRS(distance) OF_FORM(list_between)(values, value_count, others, count, distance, hits)
    if (distance > SS_HALVES_TELL)
        return PAIRS(distance);
    BY_DISTANCE(distance, PAIRS)
#undef PAIRS
}

#undef row
#undef ROW_VECTORS
#undef SHIFTS
