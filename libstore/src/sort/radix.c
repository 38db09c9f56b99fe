#include "sort/radix.h"

#define DIGIT_BITS 8u
#define BUCKETS (1u << DIGIT_BITS)
#define TOP_SHIFT (64u - DIGIT_BITS)
#define SMALL 48u /* below it insertion is faster than a level of counting */

/*
 * The same algorithm for two element types. DIGIT(element, shift) is the digit to sort by, LESS the full order, and
 * AFTER_LAST_DIGIT what to do with a bucket whose digits are used up.
 */
#define DEFINE_FLAG_SORT(NAME, TYPE, KEY, LESS, AFTER_LAST_DIGIT)                                                      \
    static void NAME##_small(TYPE *items, size_t count)                                                                \
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
    /* Move every item to its bucket; begins[b] .. begins[b + 1] is bucket b. */                                       \
    static void NAME##_place(TYPE *items, size_t count, uint32_t shift, size_t begins[BUCKETS + 1])                    \
    {                                                                                                                  \
        size_t heads[BUCKETS];                                                                                         \
        size_t counts[BUCKETS] = {0};                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            counts[KEY(items[i]) >> shift & (BUCKETS - 1)]++;                                                          \
        begins[0] = 0;                                                                                                 \
        for (uint32_t b = 0; b < BUCKETS; b++) {                                                                       \
            heads[b] = begins[b];                                                                                      \
            begins[b + 1] = begins[b] + counts[b];                                                                     \
        }                                                                                                              \
        for (uint32_t b = 0; b < BUCKETS; b++) {                                                                       \
            while (heads[b] < begins[b + 1]) {                                                                         \
                TYPE item = items[heads[b]];                                                                           \
                uint32_t digit = (uint32_t)(KEY(item) >> shift & (BUCKETS - 1));                                       \
                while (digit != b) {                                                                                   \
                    TYPE displaced = items[heads[digit]];                                                              \
                    items[heads[digit]++] = item;                                                                      \
                    item = displaced;                                                                                  \
                    digit = (uint32_t)(KEY(item) >> shift & (BUCKETS - 1));                                            \
                }                                                                                                      \
                items[heads[b]++] = item;                                                                              \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME(TYPE *items, size_t count, uint32_t shift)                                                        \
    {                                                                                                                  \
        if (count <= SMALL) {                                                                                          \
            NAME##_small(items, count);                                                                                \
            return;                                                                                                    \
        }                                                                                                              \
        size_t begins[BUCKETS + 1];                                                                                    \
        NAME##_place(items, count, shift, begins);                                                                     \
        for (uint32_t b = 0; b < BUCKETS; b++) {                                                                       \
            size_t bucket_count = begins[b + 1] - begins[b];                                                           \
            if (bucket_count < 2)                                                                                      \
                continue;                                                                                              \
            if (shift > 0)                                                                                             \
                NAME(items + begins[b], bucket_count, shift - DIGIT_BITS);                                             \
            else                                                                                                       \
                AFTER_LAST_DIGIT(items + begins[b], bucket_count);                                                     \
        }                                                                                                              \
    }

#define NOTHING_LEFT(items, count) ((void)(items), (void)(count))

#define KEY_ITSELF(key) (key)
#define KEY_LESS(a, b) ((a) < (b))
DEFINE_FLAG_SORT(sort_keys, uint64_t, KEY_ITSELF, KEY_LESS, NOTHING_LEFT)

/* Records of one fingerprint, by id. */
#define RECORD_ID(record) ((record).id)
#define ID_LESS(a, b) ((a).id < (b).id)
DEFINE_FLAG_SORT(sort_ids, sstore_record, RECORD_ID, ID_LESS, NOTHING_LEFT)

static void sort_equal_fingerprints(sstore_record *records, size_t count)
{
    sort_ids(records, count, TOP_SHIFT);
}

#define RECORD_FINGERPRINT(record) ((record).fingerprint)
#define RECORD_LESS(a, b)                                                                                              \
    ((a).fingerprint < (b).fingerprint || ((a).fingerprint == (b).fingerprint && (a).id < (b).id))
DEFINE_FLAG_SORT(sort_records, sstore_record, RECORD_FINGERPRINT, RECORD_LESS, sort_equal_fingerprints)

void ss_sort_keys(uint64_t *keys, size_t count)
{
    sort_keys(keys, count, TOP_SHIFT);
}

void ss_sort_records(sstore_record *records, size_t count)
{
    sort_records(records, count, TOP_SHIFT);
}
