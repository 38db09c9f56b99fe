/*
 * fuzz_text.c - any bytes as a text. Its features must be those that folding it as one piece gives; without its markup
 * it must not be longer, and a text without markup must stay as it is.
 *   1 byte: words or characters; whether markup is taken away; whether ICU cuts words, if it is there; the shingle;
 *   then the text
 */
#include "base/sums.h"
#include "support/fuzzing.h"
#include "text/features.h"
#include "text/markup.h"

static sstore_status take_hashes(void *self, const uint64_t *hashes, size_t count, sstore_error *error)
{
    (void)error;
    ss_sums_add_ones(self, hashes, count);
    return SSTORE_OK;
}

/* What the features come to, in whatever order. */
static void find_sums(ss_features *features, const uint8_t *text, size_t size, bool shortcuts, double sums[64])
{
    ss_sums found;
    ss_sums_init(&found);
    FUZZ_CHECK(ss_features_find(features, text, size, shortcuts, (ss_feature_sink){take_hashes, &found}, NULL) ==
               SSTORE_OK);
    ss_sums_values(&found, sums);
}

static void check_features(const ss_text_rules *rules, const uint8_t *text, size_t size)
{
    ss_features features;
    double fast[64], plain[64];
    if (ss_features_init(&features, rules, NULL) != SSTORE_OK) {
        FUZZ_CHECK(rules->segmentation == SSTORE_SEGMENTATION_ICU); /* there is no ICU */
        return;
    }
    find_sums(&features, text, size, true, fast);
    find_sums(&features, text, size, false, plain);
    for (size_t i = 0; i < 64; i++)
        FUZZ_CHECK(fast[i] == plain[i]);
    ss_features_free(&features);
}

static bool has_markup(const uint8_t *text, size_t size)
{
    return size > 0 && (memchr(text, '<', size) != NULL || memchr(text, '&', size) != NULL);
}

/* The text without markup, in memory of its own size. */
static uint8_t *without_markup(uint8_t *text, size_t *size)
{
    ss_markup markup = {0};
    FUZZ_CHECK(ss_markup_remove(&markup, text, *size, NULL) == SSTORE_OK && markup.size <= *size);
    FUZZ_CHECK(has_markup(text, *size) ||
               (markup.size == *size && (*size == 0 || memcmp(markup.bytes, text, *size) == 0)));
    free(text);
    *size = markup.size;
    uint8_t *left = fuzz_memory(malloc(*size > 0 ? *size : 1));
    if (*size > 0)
        memcpy(left, markup.bytes, *size);
    ss_markup_free(&markup);
    return left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, size};
    const uint64_t choice = fuzz_take(&input, 1);
    ss_text_rules rules = {.kind = choice & 1 ? SSTORE_FEATURE_KIND_CHARS : SSTORE_FEATURE_KIND_WORDS,
                           .shingle = (uint32_t)(choice >> 3) + 1,
                           .spaceless_shingle = SS_CHARACTER_PAIR};
    if ((choice & 5) == 4)
        rules.segmentation = SSTORE_SEGMENTATION_ICU;
    size_t left = input.left;
    uint8_t *text = fuzz_take_rest(&input, left);
    if (choice & 2)
        text = without_markup(text, &left);
    check_features(&rules, text, left);
    free(text);
    return 0;
}
