/*
 * find_near.h - the search of a block's column, for vectors of VECTOR_BYTES bytes and a processor of the kind TARGET: kernels.c
 * includes it for each of its forms.
 */
#define JOIN_NAMES(a, b) a##_##b
#define NAME_OF(a, b) JOIN_NAMES(a, b)
#define OF_FORM(name) NAME_OF(name, FORM)

typedef uint32_t OF_FORM(halves) __attribute__((vector_size(VECTOR_BYTES)));
#define halves OF_FORM(halves)
#define VECTOR_HALVES (VECTOR_BYTES / SS_LOWER_BYTES)
#define VECTORS (VECTORS_BYTES / VECTOR_BYTES)

TARGET INLINE halves OF_FORM(count_ones)(halves x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    x += x >> 8;
    return (x + (x >> 16)) & 63u;
}

/* All ones where at most `distance` bits are 1. */
TARGET INLINE halves OF_FORM(are_few)(halves x, uint32_t distance)
{
    if (distance > FEW_BITS)
        return (halves)(OF_FORM(count_ones)(x) <= distance);
    for (uint32_t i = 0; i < distance; i++)
        x &= x - 1;
    return (halves)(x == 0);
}

TARGET INLINE bool OF_FORM(is_any)(halves x)
{
    uint64_t words[VECTOR_BYTES / 8], any = 0;
    memcpy(words, &x, sizeof words);
    for (uint32_t i = 0; i < VECTOR_BYTES / 8; i++)
        any |= words[i];
    return any != 0;
}

/* Which halves of a group are near, by vectors of which some are. */
TARGET static uint64_t OF_FORM(list_near)(const uint8_t *from, halves wanted, uint32_t distance)
{
    uint64_t near = 0;
    for (uint32_t i = 0; i < SS_GROUP_SIZE; i += VECTOR_HALVES) {
        halves loaded;
        memcpy(&loaded, from + (size_t)i * SS_LOWER_BYTES, sizeof loaded);
        const halves found = OF_FORM(are_few)(loaded ^ wanted, distance);
        if (OF_FORM(is_any)(found))
            for (uint32_t j = 0; j < VECTOR_HALVES; j++)
                near |= (uint64_t)(found[j] & 1) << (i + j);
    }
    return near;
}

/* Some vectors at a time, so that few have to be looked at closely. `distance` is a constant where it is at most FEW_BITS. */
TARGET INLINE uint32_t OF_FORM(find_within)(const uint8_t *block, uint32_t group, uint32_t end, halves wanted,
                                            uint32_t distance, uint64_t *near_out)
{
    const size_t group_bytes = SS_GROUP_SIZE * SS_LOWER_BYTES;
    for (; group < end; group++) {
        const uint8_t *from = block + group * group_bytes;
        for (size_t at = 0; at < group_bytes; at += VECTORS_BYTES) {
            halves any = {0};
            for (uint32_t i = 0; i < VECTORS; i++) {
                halves loaded;
                memcpy(&loaded, from + at + i * sizeof loaded, sizeof loaded);
                any |= OF_FORM(are_few)(loaded ^ wanted, distance);
            }
            if (SS_UNLIKELY(OF_FORM(is_any)(any))) {
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
    const halves wanted = SS_LE32(lower) - (halves){0}; /* the order of the bytes does not matter for how many bits differ */
    switch (distance) {
    case 0: return OF_FORM(find_within)(block, group, end, wanted, 0, near_out);
    case 1: return OF_FORM(find_within)(block, group, end, wanted, 1, near_out);
    case 2: return OF_FORM(find_within)(block, group, end, wanted, 2, near_out);
    case 3: return OF_FORM(find_within)(block, group, end, wanted, 3, near_out);
    case 4: return OF_FORM(find_within)(block, group, end, wanted, 4, near_out);
    case 5: return OF_FORM(find_within)(block, group, end, wanted, 5, near_out);
    default: return OF_FORM(find_within)(block, group, end, wanted, distance, near_out);
    }
}

#undef halves
#undef VECTOR_HALVES
#undef VECTORS
#undef JOIN_NAMES
#undef NAME_OF
#undef OF_FORM
