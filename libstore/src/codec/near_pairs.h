/* near_pairs.h - which pairs of folds are near, for the form that codec/form.h makes. */

#define ROW_VECTORS (SS_PAIR_LANES / VECTOR_WORDS)
#define SHIFTS 4u /* looked at together: few have a hit, so one comparison stands for all */

/* A row of folds, and the vectors of one. */
typedef struct OF_FORM(row) {
    words at[ROW_VECTORS];
} OF_FORM(row);
#define row OF_FORM(row)

TARGET INLINE row OF_FORM(load_row)(const uint32_t *folds)
{
    row loaded;
    for (uint32_t i = 0; i < ROW_VECTORS; i++)
        loaded.at[i] = OF_FORM(load)(folds + i * VECTOR_WORDS);
    return loaded;
}

/* A row of which each lane is the same fold. */
TARGET INLINE row OF_FORM(repeat)(uint32_t fold)
{
    row repeated;
    for (uint32_t i = 0; i < ROW_VECTORS; i++)
        repeated.at[i] = fold - (words){0};
    return repeated;
}

TARGET INLINE row OF_FORM(differences)(row a, row b)
{
    for (uint32_t i = 0; i < ROW_VECTORS; i++)
        a.at[i] ^= b.at[i];
    return a;
}

/* Whether any of some differences is within the distance. */
TARGET INLINE bool OF_FORM(is_any_near)(const row *rows, uint32_t count, uint32_t distance)
{
    words noted = NONE_NOTED;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < ROW_VECTORS; j++)
            noted = OF_FORM(note_few)(noted, rows[i].at[j], distance);
    return OF_FORM(noted_any)(noted, distance);
}

/* Put the lanes below `count` behind the other hits; they stay if there are any. */
TARGET INLINE uint32_t OF_FORM(add_hit)(uint32_t *hits, uint32_t found, uint32_t number, row differing, uint32_t count,
                                          uint32_t distance)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < ROW_VECTORS; i++)
        lanes |= OF_FORM(list)(OF_FORM(are_few)(differing.at[i], distance)) << (i * VECTOR_WORDS);
    lanes &= (1u << ss_min_u32(count, SS_PAIR_LANES)) - 1;
    hits[found] = number << SS_PAIR_LANES | lanes;
    return found + (lanes != 0);
}

TARGET INLINE uint32_t OF_FORM(list_within)(const uint32_t *folds, uint32_t count, uint32_t distance, uint32_t *hits)
{
    const row first = OF_FORM(load_row)(folds);
    uint32_t found = 0;
    for (uint32_t shift = 1; shift < count; shift += SHIFTS) {
        row differing[SHIFTS];
        for (uint32_t i = 0; i < SHIFTS; i++)
            differing[i] = OF_FORM(differences)(first, OF_FORM(load_row)(folds + shift + i));
        if (SS_LIKELY(!OF_FORM(is_any_near)(differing, SHIFTS, distance)))
            continue;
        for (uint32_t i = 0; i < SHIFTS && shift + i < count; i++)
            found = OF_FORM(add_hit)(hits, found, shift + i, differing[i], count - shift - i, distance);
    }
    return found;
}

TARGET INLINE uint32_t OF_FORM(list_between)(const uint32_t *folds, uint32_t fold_count, const uint32_t *others,
                                              uint32_t count, uint32_t distance, uint32_t *hits)
{
    uint32_t found = 0;
    for (uint32_t begin = 0; begin < count; begin += SS_PAIR_LANES) {
        const row some = OF_FORM(load_row)(others + begin);
        row differing[SS_PAIR_LANES];
        for (uint32_t i = 0; i < SS_PAIR_LANES; i++)
            differing[i] = OF_FORM(differences)(OF_FORM(repeat)(folds[i]), some);
        if (SS_LIKELY(!OF_FORM(is_any_near)(differing, SS_PAIR_LANES, distance)))
            continue;
        for (uint32_t i = 0; i < fold_count; i++)
            found = OF_FORM(add_hit)(hits, found, begin + i, differing[i], count - begin, distance);
    }
    return found;
}

TARGET static uint32_t OF_FORM(pairs_within)(const uint32_t *folds, uint32_t count, uint32_t distance, uint32_t *hits)
{
#define PAIRS(distance) OF_FORM(list_within)(folds, count, distance, hits)
    BY_DISTANCE(distance, PAIRS)
#undef PAIRS
}

TARGET static uint32_t OF_FORM(pairs_between)(const uint32_t *folds, uint32_t fold_count, const uint32_t *others, uint32_t count,
                                        uint32_t distance, uint32_t *hits)
{
#define PAIRS(distance) OF_FORM(list_between)(folds, fold_count, others, count, distance, hits)
    BY_DISTANCE(distance, PAIRS)
#undef PAIRS
}

#undef row
#undef ROW_VECTORS
#undef SHIFTS
