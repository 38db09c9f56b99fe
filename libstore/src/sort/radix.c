#include "sort/radix.h"

#include <string.h>

#define SMALL 24u          /* up to which insertion is faster */
#define SPARE_BITS 3u      /* so that one item in eight has equal digits with another, if they are spread evenly */
#define MAX_DIGIT_BITS 11u /* more counters would not fit into the L1 cache */

/* How a level takes its two digits from a key: the `low_bits` from bit `shift` on, and the `high_bits` above them. */
typedef struct digits {
    uint32_t shift, low_bits, high_bits;
} digits;

/* `differing`: the bits in which any keys differ; not 0. */
static digits choose_digits(uint64_t differing, size_t count)
{
    uint32_t top = 64 - (uint32_t)__builtin_clzll(differing);
    uint32_t bits = 64 - (uint32_t)__builtin_clzll(count) + SPARE_BITS;
    bits = (uint32_t)ss_min_u64(ss_min_u64(bits, 2 * MAX_DIGIT_BITS), top);
    return (digits){.shift = top - bits, .low_bits = bits / 2, .high_bits = bits - bits / 2};
}

/* Turn counts into where each digit's items begin. */
static void sum_up(uint32_t *counts, uint32_t bits)
{
    uint32_t begin = 0;
    for (uint32_t i = 0; i < 1u << bits; i++) {
        uint32_t count = counts[i];
        counts[i] = begin;
        begin += count;
    }
}

/*
 * The same algorithm for different items. A level sorts by KEY(item); LESS is the full order. SORT_EQUAL sorts items of
 * one key. STORAGE is `static`, or empty for a function of radix.h.
 */
#define DEFINE_SORT(STORAGE, NAME, TYPE, KEY, LESS, SORT_EQUAL)                                                        \
    static void NAME##_few(TYPE *items, size_t count)                                                                  \
    {                                                                                                                  \
        for (size_t i = 1; i < count; i++) {                                                                           \
            TYPE item = items[i];                                                                                      \
            size_t at = i;                                                                                             \
            for (; at > 0 && LESS(item, items[at - 1]); at--)                                                          \
                items[at] = items[at - 1];                                                                             \
            items[at] = item;                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* Order the items by both digits: by the lower one into scratch, then by the higher one back. */                  \
    static void NAME##_by_digits(TYPE *items, TYPE *scratch, size_t count, digits by)                                  \
    {                                                                                                                  \
        uint32_t low[1u << MAX_DIGIT_BITS], high[1u << MAX_DIGIT_BITS];                                                \
        const uint64_t low_mask = ss_low_mask(by.low_bits), high_mask = ss_low_mask(by.high_bits);                     \
        const uint32_t high_shift = by.shift + by.low_bits;                                                            \
        memset(low, 0, sizeof *low << by.low_bits);                                                                    \
        memset(high, 0, sizeof *high << by.high_bits);                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                           \
            low[KEY(items[i]) >> by.shift & low_mask]++;                                                               \
            high[KEY(items[i]) >> high_shift & high_mask]++;                                                           \
        }                                                                                                              \
        sum_up(low, by.low_bits);                                                                                      \
        sum_up(high, by.high_bits);                                                                                    \
        for (size_t i = 0; i < count; i++)                                                                             \
            scratch[low[KEY(items[i]) >> by.shift & low_mask]++] = items[i];                                           \
        for (size_t i = 0; i < count; i++)                                                                             \
            items[high[KEY(scratch[i]) >> high_shift & high_mask]++] = scratch[i];                                     \
    }                                                                                                                  \
                                                                                                                       \
    STORAGE void NAME(TYPE *items, TYPE *scratch, size_t count)                                                        \
    {                                                                                                                  \
        if (count <= SMALL) {                                                                                          \
            NAME##_few(items, count);                                                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        uint64_t differing = 0;                                                                                        \
        for (size_t i = 1; i < count; i++)                                                                             \
            differing |= KEY(items[i]) ^ KEY(items[0]);                                                                \
        if (differing == 0) {                                                                                          \
            SORT_EQUAL(items, scratch, count);                                                                         \
            return;                                                                                                    \
        }                                                                                                              \
        digits by = choose_digits(differing, count);                                                                   \
        NAME##_by_digits(items, scratch, count, by);                                                                   \
        for (size_t begin = 0, end; begin < count; begin = end) { /* runs of equal digits */                           \
            for (end = begin + 1; end < count && (KEY(items[begin]) ^ KEY(items[end])) >> by.shift == 0;)              \
                end++;                                                                                                 \
            if (end - begin > 1)                                                                                       \
                NAME(items + begin, scratch + begin, end - begin);                                                     \
        }                                                                                                              \
    }

#define LEAVE_EQUAL(items, scratch, count) ((void)(items), (void)(scratch), (void)(count))

#define KEY_ITSELF(key) (key)
#define KEY_LESS(a, b) ((a) < (b))
DEFINE_SORT(, ss_sort_keys, uint64_t, KEY_ITSELF, KEY_LESS, LEAVE_EQUAL)

/* Records of one fingerprint, by id. */
#define RECORD_ID(record) ((record).id)
#define ID_LESS(a, b) ((a).id < (b).id)
DEFINE_SORT(static, sort_ids, sstore_record, RECORD_ID, ID_LESS, LEAVE_EQUAL)

#define RECORD_FINGERPRINT(record) ((record).fingerprint)
#define RECORD_LESS(a, b) ((a).fingerprint < (b).fingerprint || ((a).fingerprint == (b).fingerprint && (a).id < (b).id))
DEFINE_SORT(, ss_sort_records, sstore_record, RECORD_FINGERPRINT, RECORD_LESS, sort_ids)

/* Triples of one first and second word, by the third; of one first word, by the others; all. */
#define TRIPLE_FIRST(triple) ((triple).first)
#define TRIPLE_SECOND(triple) ((triple).second)
#define TRIPLE_THIRD(triple) ((triple).third)
#define THIRD_LESS(a, b) ((a).third < (b).third)
#define SECOND_LESS(a, b) ((a).second < (b).second || ((a).second == (b).second && THIRD_LESS(a, b)))
#define FIRST_LESS(a, b) ((a).first < (b).first || ((a).first == (b).first && SECOND_LESS(a, b)))
DEFINE_SORT(static, sort_by_third, ss_triple, TRIPLE_THIRD, THIRD_LESS, LEAVE_EQUAL)
DEFINE_SORT(static, sort_by_second, ss_triple, TRIPLE_SECOND, SECOND_LESS, sort_by_third)
DEFINE_SORT(, ss_sort_triples, ss_triple, TRIPLE_FIRST, FIRST_LESS, sort_by_second)

size_t ss_sort_unique_keys(uint64_t *keys, uint64_t *scratch, size_t count)
{
    size_t unique = count > 0;
    ss_sort_keys(keys, scratch, count);
    for (size_t i = 1; i < count; i++) {
        keys[unique] = keys[i];
        unique += keys[unique] != keys[unique - 1];
    }
    return unique;
}
