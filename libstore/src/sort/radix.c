#include "sort/radix.h"

#include <string.h>

#define SMALL 24u          /* up to which insertion is faster */
#define FEW_ROWS 8u        /* the same for rows, whose words are apart from the pairs */
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
 * Defines a radix sort of items of TYPE. A level sorts by KEY(item); LESS is the full order. SORT_EQUAL sorts items of
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
DEFINE_SORT(static, sort_ids, ss_record, RECORD_ID, ID_LESS, LEAVE_EQUAL)

#define RECORD_FINGERPRINT(record) ((record).fingerprint)
#define RECORD_LESS(a, b) ((a).fingerprint < (b).fingerprint || ((a).fingerprint == (b).fingerprint && (a).id < (b).id))
DEFINE_SORT(, ss_sort_records, ss_record, RECORD_FINGERPRINT, RECORD_LESS, sort_ids)

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

/* ----- rows ----- */

/* Pairs of a word of a row, as fingerprint, and the row's index, as id. Those of equal words are left as they are. */
#define WORD_LESS(a, b) ((a).fingerprint < (b).fingerprint)
DEFINE_SORT(static, sort_by_word, ss_record, RECORD_FINGERPRINT, WORD_LESS, LEAVE_EQUAL)

/* Rows of one width, in the order of `pairs`. */
typedef struct row_order {
    const uint64_t *rows;
    uint32_t words;
    ss_record *pairs, *scratch;
} row_order;

/* Whether row a is below row b, which has the same words before `word`. */
static bool row_is_below(const row_order *self, uint64_t a, uint64_t b, uint32_t word)
{
    const uint64_t *left = self->rows + a * self->words, *right = self->rows + b * self->words;
    while (word + 1 < self->words && left[word] == right[word])
        word++;
    return left[word] < right[word];
}

/* The pairs first .. first + count - 1 are few. */
static void order_few(const row_order *self, size_t first, size_t count, uint32_t word)
{
    ss_record *pairs = self->pairs + first;
    for (size_t i = 1; i < count; i++) {
        const uint64_t row = pairs[i].id;
        size_t at = i;
        for (; at > 0 && row_is_below(self, row, pairs[at - 1].id, word); at--)
            pairs[at].id = pairs[at - 1].id;
        pairs[at].id = row;
    }
}

/* Put `word` of the rows into the pairs first .. first + count - 1. Returns whether any differ. */
static bool load_word(const row_order *self, size_t first, size_t count, uint32_t word)
{
    ss_record *pairs = self->pairs + first;
    const uint64_t *column = self->rows + word, some = column[pairs[0].id * self->words];
    uint64_t differing = 0;
    for (size_t i = 0; i < count; i++) {
        pairs[i].fingerprint = column[pairs[i].id * self->words];
        differing |= pairs[i].fingerprint ^ some;
    }
    return differing != 0;
}

/* Order the pairs first .. first + count - 1, whose rows have the same words before `word`: by the first word that
 * differs; then each run of one word in the same way, by later words. */
static void order_rows(const row_order *self, size_t first, size_t count, uint32_t word)
{
    if (count <= FEW_ROWS) {
        order_few(self, first, count, word);
        return;
    }
    while (!load_word(self, first, count, word))
        if (++word == self->words)
            return;
    ss_record *pairs = self->pairs + first;
    sort_by_word(pairs, self->scratch + first, count);
    if (++word == self->words)
        return;
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && pairs[begin].fingerprint == pairs[end].fingerprint;)
            end++;
        if (end - begin > 1)
            order_rows(self, first + begin, end - begin, word);
    }
}

/* Move each row to the place of its pair, along the cycles of the permutation. The pairs are consumed. */
static void move_rows(uint64_t *rows, ss_record *pairs, size_t count, uint32_t words)
{
    const size_t row_bytes = words * sizeof *rows;
    uint64_t saved[SS_MAX_ITEM_WORDS];
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].id == i)
            continue;
        size_t to = i, from;
        memcpy(saved, rows + i * words, row_bytes);
        for (; (from = (size_t)pairs[to].id) != i; to = from) {
            memcpy(rows + to * words, rows + from * words, row_bytes);
            pairs[to].id = to;
        }
        memcpy(rows + to * words, saved, row_bytes);
        pairs[to].id = to;
    }
}

void ss_order_rows(const uint64_t *rows, uint32_t words, ss_record *pairs, ss_record *scratch, size_t count)
{
    const row_order order = {.rows = rows, .words = words, .pairs = pairs, .scratch = scratch};
    order_rows(&order, 0, count, 0);
}

void ss_sort_rows(uint64_t *rows, uint64_t *scratch, size_t count, uint32_t words)
{
    assert(words >= 2 * sizeof(ss_record) / sizeof *rows && words <= SS_MAX_ITEM_WORDS);
    ss_record *pairs = (ss_record *)scratch;
    if (count < 2)
        return;
    for (size_t i = 0; i < count; i++)
        pairs[i].id = i;
    ss_order_rows(rows, words, pairs, pairs + count, count);
    move_rows(rows, pairs, count, words);
}

/* ----- items of any number of words ----- */

/* Keep each of sorted items once. Returns how many are left. Inlined with a constant `words`, those of an item. */
SS_ALWAYS_INLINE size_t remove_repeats(uint64_t *items, size_t count, size_t words)
{
    size_t kept = count > 0;
    for (size_t i = 1; i < count; i++) {
        const uint64_t *from = items + i * words; /* the item before it is still there */
        uint64_t differing = 0;
        for (size_t word = 0; word < words; word++) {
            differing |= from[word] ^ (from - words)[word];
            items[kept * words + word] = from[word];
        }
        kept += differing != 0;
    }
    return kept;
}

/* Keep each of sorted rows once. Rows are seldom equal, and too large to move them without need. */
static size_t remove_repeated_rows(uint64_t *rows, size_t count, size_t words)
{
    const size_t row_bytes = words * sizeof *rows;
    size_t kept = count > 0;
    for (size_t i = 1; i < count; i++) {
        const uint64_t *from = rows + i * words; /* the row before it is still there */
        if (from[0] == (from - words)[0] && memcmp(from, from - words, row_bytes) == 0)
            continue;
        if (kept < i)
            memcpy(rows + kept * words, from, row_bytes);
        kept++;
    }
    return kept;
}

size_t ss_sort_unique_items(void *items, void *scratch, size_t count, uint32_t words)
{
    switch (words) {
    case 1: ss_sort_keys(items, scratch, count); return remove_repeats(items, count, 1);
    case 2: ss_sort_records(items, scratch, count); return remove_repeats(items, count, 2);
    case 3: ss_sort_triples(items, scratch, count); return remove_repeats(items, count, 3);
    default: ss_sort_rows(items, scratch, count, words); return remove_repeated_rows(items, count, words);
    }
}
