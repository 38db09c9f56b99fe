#include "support/fingerprint_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

#define REPEATED_COUNT 60

static const char *const names[DATA_KIND_COUNT] = {"uniform", "clustered", "skewed",  "dense",    "equal",
                                                   "one-bit", "extremes",  "crowded", "repeated", "few",
                                                   "sparse",  "copy",      "half"};

const char *data_kind_name(data_kind kind)
{
    return names[kind];
}

fingerprint_form form_of(rng *random, data_kind kind, uint32_t words, uint32_t distance)
{
    fingerprint_form form = {.words = words, .distance = distance, .base = rng_next(random)};
    if (kind == DATA_DENSE && rng_one_in(random, 4))
        form.base = rng_one_in(random, 2) ? 0 : UINT64_MAX - rng_below(random, 1000);
    for (uint32_t i = 0; i < FORM_PREFIXES; i++)
        form.prefixes[i] = rng_next(random);
    for (uint32_t i = 0; i < words; i++)
        form.kinds[i] = kind;
    return form;
}

fingerprint_form form_with(rng *random, uint32_t words, uint32_t distance)
{
    fingerprint_form form = form_of(random, DATA_UNIFORM, words, distance);
    for (uint32_t i = 0; i < words; i++)
        if (words == 1 || rng_one_in(random, 2))
            form.kinds[i] = (data_kind)rng_below(random, DATA_KIND_COUNT);
    form.apart = words == 1 ? !rng_one_in(random, 4) : rng_one_in(random, 8);
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
    static char text[SSTORE_MAX_WORDS * 12 + 100];
    int used = snprintf(text, sizeof text, "%u words,", form->words);
    for (uint32_t i = 0; i < form->words; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s", names[form->kinds[i]]);
    snprintf(text + used, sizeof text - (size_t)used, "%s, distance %u", form->apart ? ", apart" : "", form->distance);
    return text;
}

static uint64_t extreme(rng *random)
{
    uint64_t end = rng_one_in(random, 2) ? 0 : UINT64_MAX;
    switch (rng_below(random, 4)) {
    case 0: return end;
    case 1: return end ^ rng_below(random, 8);
    case 2: return rng_flip(random, end, (uint32_t)rng_below(random, 4));
    default: return end ^ (rng_below(random, 8) << 61);
    }
}

static uint64_t skewed(rng *random, const fingerprint_form *form)
{
    const size_t which = rng_below(random, FORM_PREFIXES + 1);
    if (which == FORM_PREFIXES)
        return rng_next(random);
    const uint32_t width = 4 + 6 * (uint32_t)which;
    return (form->prefixes[which] & ~(UINT64_MAX >> width)) | (rng_next(random) >> width);
}

static uint64_t crowded(rng *random, const fingerprint_form *form)
{
    const uint64_t twelve_bits = rng_below(random, 1 << 12);
    return form->prefixes[rng_below(random, FORM_PREFIXES)] ^ twelve_bits << rng_below(random, 53);
}

/* Word `at` of fingerprint number `count`. */
static uint64_t make_word(rng *random, const fingerprint_form *form, uint32_t at, const uint64_t *others, size_t count,
                          const uint64_t *made)
{
    const uint64_t base = at == 0 ? form->base : rng_mix(form->base + at);
    switch (form->kinds[at]) {
    case DATA_CLUSTERED:
        if (count > 0 && rng_one_in(random, 4)) {
            /* First, whatever order a compiler takes arguments in. */
            const uint64_t near = others[rng_below(random, count) * form->words + at];
            return rng_flip(random, near, (uint32_t)rng_below(random, 4));
        }
        return rng_next(random);
    case DATA_SKEWED: return skewed(random, form);
    case DATA_DENSE: return base + count;
    case DATA_EQUAL: return base;
    case DATA_ONE_BIT: return rng_flip(random, base, (uint32_t)rng_below(random, 2));
    case DATA_EXTREMES: return extreme(random);
    case DATA_CROWDED: return crowded(random, form);
    case DATA_REPEATED: return rng_mix(base + rng_below(random, rng_between(random, 1, REPEATED_COUNT)));
    case DATA_FEW: return rng_mix(base + rng_below(random, 3));
    case DATA_SPARSE: return rng_flip(random, 0, (uint32_t)rng_below(random, 4));
    case DATA_COPY: return at > 0 ? made[at - 1] : 0;
    case DATA_HALF: return rng_next(random) >> 32;
    default: return rng_next(random);
    }
}

void fingerprint_flip(rng *random, uint32_t words, uint64_t *fingerprint, uint64_t flips)
{
    uint64_t flipped[SSTORE_MAX_WORDS] = {0};
    for (uint64_t left = rng_below(random, (flips < 64 * words ? flips : 64 * words) + 1); left > 0;) {
        const uint64_t at = rng_below(random, 64 * words), bit = UINT64_C(1) << at % 64;
        if ((flipped[at / 64] & bit) != 0)
            continue;
        flipped[at / 64] |= bit;
        fingerprint[at / 64] ^= bit;
        left--;
    }
}

void fingerprint_make(rng *random, const fingerprint_form *form, const uint64_t *others, size_t count, uint64_t *made)
{
    if (!form->apart && count > 0 && !rng_one_in(random, 3)) {
        memcpy(made, others + rng_below(random, count) * form->words, form->words * sizeof *made);
        fingerprint_flip(random, form->words, made, rng_one_in(random, 4) ? 0 : form->distance + 2);
        return;
    }
    for (uint32_t i = 0; i < form->words; i++)
        made[i] = make_word(random, form, i, others, count, made);
}

uint64_t *fingerprint_make_many(rng *random, const fingerprint_form *form, size_t count)
{
    uint64_t *made = malloc((count + 1) * form->words * sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < count; i++)
        fingerprint_make(random, form, made, i, made + i * form->words);
    return made;
}

void fingerprint_make_extreme(rng *random, uint32_t words, uint64_t *made)
{
    for (uint32_t i = 0; i < words; i++)
        made[i] = extreme(random);
}
