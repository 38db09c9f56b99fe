#include "support/wide_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

/* ----- fingerprints ----- */

wide_form wide_form_of(wide_kind kind, uint32_t words, uint32_t distance)
{
    wide_form form = {.words = words, .distance = distance};
    for (uint32_t i = 0; i < words; i++)
        form.kinds[i] = kind;
    return form;
}

wide_form wide_form_any(rng *random, uint32_t min_words)
{
    static const uint32_t usual[] = {1, 1, 2, 2, 3, 4, 4, 8, 16};
    uint32_t words = usual[rng_below(random, sizeof usual / sizeof *usual)];
    if (words < min_words || rng_one_in(random, 4))
        words = (uint32_t)rng_between(random, min_words, SSTORE_MAX_WORDS);
    wide_form form = wide_form_of(WIDE_UNIFORM, words, 0);
    const uint32_t max = SSTORE_MAX_BUILD_DISTANCE * words;
    form.distance = (uint32_t)rng_below(random, (rng_one_in(random, 4) ? max : 8 * words) + 1);
    for (uint32_t i = 0; i < words; i++)
        if (rng_one_in(random, 2))
            form.kinds[i] = (wide_kind)rng_below(random, WIDE_KIND_COUNT);
    return form;
}

const char *wide_form_text(const wide_form *form)
{
    static char text[100];
    int used = snprintf(text, sizeof text, "%u words of kinds ", form->words);
    for (uint32_t i = 0; i < form->words; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%u", (unsigned)form->kinds[i]);
    snprintf(text + used, sizeof text - (size_t)used, ", distance %u", form->distance);
    return text;
}

static uint64_t make_word(rng *random, wide_kind kind, uint64_t before)
{
    switch (kind) {
    case WIDE_CONSTANT: return UINT64_C(0xf0f0f0f0f0f0f0f0);
    case WIDE_FEW: return rng_mix(rng_below(random, 3));
    case WIDE_SPARSE: return rng_flip(random, 0, (uint32_t)rng_below(random, 4));
    case WIDE_COPY: return before;
    case WIDE_HALF: return rng_next(random) >> 32;
    default: return rng_next(random);
    }
}

void wide_make(rng *random, const wide_form *form, const uint64_t *others, size_t count, uint64_t *made)
{
    if (count > 0 && rng_one_in(random, 2)) {
        memcpy(made, others + rng_below(random, count) * form->words, form->words * sizeof *made);
        for (uint64_t flips = rng_one_in(random, 4) ? 0 : rng_below(random, form->distance + 3); flips > 0; flips--)
            made[rng_below(random, form->words)] ^= UINT64_C(1) << rng_below(random, 64);
        return;
    }
    for (uint32_t i = 0; i < form->words; i++)
        made[i] = make_word(random, form->kinds[i], i > 0 ? made[i - 1] : 0);
}

uint64_t *wide_make_many(rng *random, const wide_form *form, size_t count)
{
    uint64_t *made = malloc((count + 1) * form->words * sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < count; i++)
        wide_make(random, form, made, i, made + i * form->words);
    return made;
}

uint32_t wide_distance(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint32_t distance = 0;
    for (uint32_t i = 0; i < words; i++)
        distance += sstore_hamming_distance(a[i], b[i]);
    return distance;
}

/* ----- matches ----- */

void wide_matches_add(wide_matches *list, uint32_t query_words, const uint64_t *query, uint32_t words,
                      const uint64_t *fingerprint, uint64_t id, uint32_t distance)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 100;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        assert_non_null(list->items);
    }
    wide_match *made = &list->items[list->count++];
    *made = (wide_match){.distance = distance, .id = id};
    memcpy(made->query, query, query_words * sizeof *query);
    memcpy(made->words, fingerprint, words * sizeof *fingerprint);
}

void wide_matches_free(wide_matches *list)
{
    free(list->items);
    *list = (wide_matches){.count = 0};
}

/* All parts of a match are numbers, in the order in which they count. */
static int compare_matches(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    for (size_t i = 0; i < sizeof(wide_match) / sizeof *a; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

void wide_matches_sort(wide_matches *list)
{
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, compare_matches);
}

void wide_matches_unique(wide_matches *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || compare_matches(&list->items[i], &list->items[kept - 1]) != 0)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

void wide_matches_assert_equal(const wide_matches *got, const wide_matches *wanted, const char *what)
{
    size_t same = 0;
    while (same < got->count && same < wanted->count && compare_matches(&got->items[same], &wanted->items[same]) == 0)
        same++;
    if (same < got->count || same < wanted->count)
        fail_msg("%s: %zu matches instead of %zu, and match %zu is another one", what, got->count, wanted->count, same);
}
