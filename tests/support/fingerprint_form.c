#include "support/fingerprint_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

fingerprint_form form_of(word_kind kind, uint32_t words, uint32_t distance)
{
    fingerprint_form form = {.words = words, .distance = distance};
    for (uint32_t i = 0; i < words; i++)
        form.kinds[i] = kind;
    return form;
}

fingerprint_form form_with(rng *random, uint32_t words, uint32_t distance)
{
    fingerprint_form form = form_of(WORD_UNIFORM, words, distance);
    for (uint32_t i = 0; i < words; i++)
        if (rng_one_in(random, 2))
            form.kinds[i] = (word_kind)rng_below(random, WORD_KIND_COUNT);
    return form;
}

fingerprint_form form_any(rng *random, uint32_t min_words)
{
    static const uint32_t usual[] = {1, 1, 2, 2, 3, 4, 4, 8, 16};
    uint32_t words = usual[rng_below(random, sizeof usual / sizeof *usual)];
    if (words < min_words || rng_one_in(random, 4))
        words = (uint32_t)rng_between(random, min_words, SSTORE_MAX_WORDS);
    const uint32_t max = SSTORE_MAX_BUILD_DISTANCE * words;
    return form_with(random, words, (uint32_t)rng_below(random, (rng_one_in(random, 4) ? max : 8 * words) + 1));
}

const char *form_text(const fingerprint_form *form)
{
    static char text[100];
    int used = snprintf(text, sizeof text, "%u words of kinds ", form->words);
    for (uint32_t i = 0; i < form->words; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%u", (unsigned)form->kinds[i]);
    snprintf(text + used, sizeof text - (size_t)used, ", distance %u", form->distance);
    return text;
}

static uint64_t make_word(rng *random, word_kind kind, uint64_t before)
{
    switch (kind) {
    case WORD_CONSTANT: return UINT64_C(0xf0f0f0f0f0f0f0f0);
    case WORD_FEW: return rng_mix(rng_below(random, 3));
    case WORD_SPARSE: return rng_flip(random, 0, (uint32_t)rng_below(random, 4));
    case WORD_COPY: return before;
    case WORD_HALF: return rng_next(random) >> 32;
    default: return rng_next(random);
    }
}

void fingerprint_flip(rng *random, const fingerprint_form *form, uint64_t *fingerprint, uint64_t flips)
{
    for (uint64_t i = rng_below(random, flips + 1); i > 0; i--)
        fingerprint[rng_below(random, form->words)] ^= UINT64_C(1) << rng_below(random, 64);
}

void fingerprint_make(rng *random, const fingerprint_form *form, const uint64_t *others, size_t count, uint64_t *made)
{
    if (count > 0 && !rng_one_in(random, 3)) {
        memcpy(made, others + rng_below(random, count) * form->words, form->words * sizeof *made);
        fingerprint_flip(random, form, made, rng_one_in(random, 4) ? 0 : form->distance + 2);
        return;
    }
    for (uint32_t i = 0; i < form->words; i++)
        made[i] = make_word(random, form->kinds[i], i > 0 ? made[i - 1] : 0);
}

uint64_t *fingerprint_make_many(rng *random, const fingerprint_form *form, size_t count)
{
    uint64_t *made = malloc((count + 1) * form->words * sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < count; i++)
        fingerprint_make(random, form, made, i, made + i * form->words);
    return made;
}
