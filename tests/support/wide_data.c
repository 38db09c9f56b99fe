#include "support/wide_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

wide_form wide_form_of(wide_kind kind, uint32_t words, uint32_t distance)
{
    wide_form form = {.words = words, .distance = distance};
    for (uint32_t i = 0; i < words; i++)
        form.kinds[i] = kind;
    return form;
}

wide_form wide_form_with(rng *random, uint32_t words, uint32_t distance)
{
    wide_form form = wide_form_of(WIDE_UNIFORM, words, distance);
    for (uint32_t i = 0; i < words; i++)
        if (rng_one_in(random, 2))
            form.kinds[i] = (wide_kind)rng_below(random, WIDE_KIND_COUNT);
    return form;
}

wide_form wide_form_any(rng *random, uint32_t min_words)
{
    static const uint32_t usual[] = {1, 1, 2, 2, 3, 4, 4, 8, 16};
    uint32_t words = usual[rng_below(random, sizeof usual / sizeof *usual)];
    if (words < min_words || rng_one_in(random, 4))
        words = (uint32_t)rng_between(random, min_words, SSTORE_MAX_WORDS);
    const uint32_t max = SSTORE_MAX_BUILD_DISTANCE * words;
    return wide_form_with(random, words, (uint32_t)rng_below(random, (rng_one_in(random, 4) ? max : 8 * words) + 1));
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
