#include "support/row_set.h"

#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

/* ----- sets ----- */

void row_set_put(row_set *set, const row *added)
{
    if (set->count == set->capacity) {
        set->capacity = 2 * set->capacity + 64;
        set->rows = realloc(set->rows, set->capacity * sizeof *set->rows);
        assert_non_null(set->rows);
    }
    set->rows[set->count++] = *added;
}

int row_words_compare(const uint64_t *a, const uint64_t *b)
{
    for (size_t i = 0; i < SSTORE_MAX_WORDS; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

int rows_compare(const void *left, const void *right)
{
    const row *a = left, *b = right;
    const int order = row_words_compare(a->words, b->words);
    return order != 0 ? order : a->id < b->id ? -1 : a->id > b->id;
}

void row_set_sort(row_set *set)
{
    size_t kept = 0;
    if (set->count > 0)
        qsort(set->rows, set->count, sizeof *set->rows, rows_compare);
    for (size_t i = 0; i < set->count; i++)
        if (i == 0 || rows_compare(&set->rows[i], &set->rows[i - 1]) != 0)
            set->rows[kept++] = set->rows[i];
    set->count = kept;
}

uint32_t row_distance(const uint64_t *a, const uint64_t *b)
{
    uint32_t distance = 0;
    for (size_t i = 0; i < SSTORE_MAX_WORDS; i++)
        distance += sstore_hamming_distance(a[i], b[i]);
    return distance;
}

/* ----- columns ----- */

row_columns row_columns_of(const row_set *set, uint32_t words)
{
    row_columns made = {malloc((set->count * words + 1) * sizeof(uint64_t)),
                        malloc((set->count + 1) * sizeof(uint64_t))};
    assert_non_null(made.fingerprints);
    assert_non_null(made.ids);
    for (size_t i = 0; i < set->count; i++) {
        memcpy(made.fingerprints + i * words, set->rows[i].words, words * sizeof(uint64_t));
        made.ids[i] = set->rows[i].id;
    }
    return made;
}

void row_columns_free(row_columns *columns)
{
    free(columns->fingerprints);
    free(columns->ids);
}

/* ----- making them ----- */

row_maker row_maker_any(rng *random, uint32_t words, uint32_t distance)
{
    row_maker made = {.words = words, .distance = distance};
    for (uint32_t i = 0; i < words; i++)
        made.kinds[i] = rng_one_in(random, 2) ? WORD_UNIFORM : (word_kind)rng_below(random, WORD_KIND_COUNT);
    return made;
}

static uint64_t make_word(rng *random, const row_maker *maker, const row *made, uint32_t word)
{
    switch (maker->kinds[word]) {
    case WORD_CONSTANT: return UINT64_C(0xf0f0f0f0f0f0f0f0);
    case WORD_FEW: return rng_mix(rng_below(random, 3));
    case WORD_SPARSE: return rng_flip(random, 0, (uint32_t)rng_below(random, 4));
    case WORD_COPY: return word > 0 ? made->words[word - 1] : 0;
    default: return rng_next(random);
    }
}

void row_flip(rng *random, const row_maker *maker, row *changed, uint64_t flips)
{
    for (uint64_t i = rng_below(random, flips + 1); i > 0; i--)
        changed->words[rng_below(random, maker->words)] ^= UINT64_C(1) << rng_below(random, 64);
}

row row_make(rng *random, const row_maker *maker, const row_set *among)
{
    row made = {.id = 0};
    const uint64_t way = rng_below(random, 4);
    if (way > 0 && among->count > 0) {
        made = among->rows[rng_below(random, among->count)];
        made.id = 0;
        if (way > 1)
            row_flip(random, maker, &made, maker->distance + 2);
        return made;
    }
    for (uint32_t i = 0; i < maker->words; i++)
        made.words[i] = make_word(random, maker, &made, i);
    return made;
}
