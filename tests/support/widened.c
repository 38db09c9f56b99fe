#include "support/widened.h"

#include "support/testing.h"

#define UPPER UINT64_C(0xffffffff00000000)
#define CONSTANT UINT64_C(0x0123456789abcdef)

uint32_t widened_words = 1;

const uint64_t *widened(const uint64_t *fingerprints, size_t count)
{
    static uint64_t wide[WIDENED_ROOM * WIDENED_MAX_WORDS]; /* no memory of a test may be refused */
    if (widened_words == 1)
        return fingerprints;
    assert_in_range(count, 0, WIDENED_ROOM);
    for (size_t i = 0; i < count; i++) {
        uint64_t *to = wide + (i + 1) * widened_words - 2;
        to[0] = fingerprints[i] & UPPER;
        to[1] = fingerprints[i] << 32;
        if (widened_words == 3)
            to[-1] = CONSTANT;
    }
    return wide;
}

uint64_t narrowed(const uint64_t *words)
{
    if (widened_words == 1)
        return *words;
    const uint64_t *from = words + widened_words - 2;
    assert_true(widened_words == 2 || words[0] == CONSTANT);
    assert_true((from[0] & ~UPPER) == 0 && (from[1] & ~UPPER) == 0);
    return from[0] | from[1] >> 32;
}
