/* find_near.h - the search of a block's column, for the form that codec/form.h makes. */

#define VECTORS (128 / VECTOR_BYTES) /* that are looked at together, since few have something near */

/* Which halves of a group are near, by vectors of which some are. */
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

TARGET INLINE uint32_t OF_FORM(find_within)(const uint8_t *block, uint32_t group, uint32_t end, words wanted, uint32_t distance,
                                            uint64_t *near_out)
{
    const size_t group_bytes = SS_GROUP_SIZE * SS_LOWER_BYTES;
    for (; group < end; group++) {
        const uint8_t *from = block + group * group_bytes;
        for (size_t at = 0; at < group_bytes; at += VECTORS * VECTOR_BYTES) {
            words noted = NONE_NOTED;
            for (uint32_t i = 0; i < VECTORS; i++)
                noted = OF_FORM(note_left)(
                    noted, OF_FORM(take_ones)(OF_FORM(load)(from + at + i * sizeof noted) ^ wanted, distance), distance);
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
    const words wanted = SS_LE32(lower) - (words){0}; /* the order of the bytes does not matter for how many bits differ */
#define FIND_WITHIN(distance) OF_FORM(find_within)(block, group, end, wanted, distance, near_out)
    BY_DISTANCE(distance, FIND_WITHIN)
#undef FIND_WITHIN
}

#undef VECTORS
