/* Words that ICU finds in scripts without spaces: as features, and the calls of the segmenter. Which words they are is
 * ICU's matter: those of the tests are so common that every version has them. */
#include "text/segmenter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_text.h"
#include "support/testing.h"

static sstore_text_options icu_options(uint32_t shingle)
{
    sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
    options.shingle = shingle;
    options.segmentation = SSTORE_SEGMENTATION_ICU;
    return options;
}

/* Fail unless the text's features are the given ones, which a NULL ends. */
static void assert_features(uint32_t shingle, const char *text, const char *const *expected)
{
    const sstore_text_options options = icu_options(shingle);
    sstore_feature features[32];
    sstore_error error;
    uint64_t wanted, found;
    size_t count = 0;
    for (; expected[count] != NULL; count++)
        features[count] = (sstore_feature){.data = expected[count], .size = strlen(expected[count]), .weight = 1};
    testing_doing("text '%s', shingle %u", text, shingle);
    assert_ok(sstore_simhash(features, count, SSTORE_FEATURE_HASH_XXH3, 64, &wanted, &error), &error);
    assert_ok(sstore_fingerprint_text(text, strlen(text), &options, &found, &error), &error);
    assert_int_equal(found, wanted);
    testing_done();
}

#define assert_words(shingle, text, ...) assert_features(shingle, text, (const char *const[]){__VA_ARGS__, NULL})

static void test_words_of_a_dictionary(void **state)
{
    assert_words(1, "\u7535\u8111", "\u7535\u8111");                             /* computer */
    assert_words(1, "\u4e2d\u56fd\u7535\u8111", "\u4e2d\u56fd", "\u7535\u8111"); /* China computer */
    assert_words(1, "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22", "\u0e20\u0e32\u0e29\u0e32",
                 "\u0e44\u0e17\u0e22");                                                /* Thai language */
    assert_words(1, "\u7535\u8111\u3001\u7535\u8111", "\u7535\u8111", "\u7535\u8111"); /* with a comma */
    assert_words(1, "\u7535 \u8111", "\u7535", "\u8111"); /* nothing is found across what separates */
    assert_words(1, "\u7535\xff\u8111", "\u7535", "\u8111");
}

static void test_all_words_are_one_run(void **state)
{
    assert_words(2, "my \u7535\u8111 is", "my \u7535\u8111", "\u7535\u8111 is");
    assert_words(3, "a\u7535\u8111b", "a \u7535\u8111 b"); /* not separated */
    assert_words(3, "\u4e2d\u56fd\u7535\u8111 2x", "\u4e2d\u56fd \u7535\u8111 2x");
    assert_words(3, "\u7535\u8111", "\u7535\u8111");
    assert_words(1, "\u304b\u3099z", "\u304c", "z");               /* folded before it is cut */
    assert_words(1, "\uff76\uff9e, \u0301x", "\u30ac", "\u0301x"); /* a mark after a separator begins a word */
    assert_words(2, "z, \U00020000 y", "z \U00020000", "\U00020000 y");
    assert_words(2, "no such script", "no such", "such script");
    assert_words(1, "...", NULL);
}

/* A word across the end of a stretch is cut there. */
static void test_long_stretches_are_divided(void **state)
{
    enum { POINTS = SS_SEGMENTER_MAX_POINTS + 1, BYTES = 3 };
    static const char chosen[] = "\u7684", pair[] = "\u7535\u8111";
    const sstore_feature features[] = {{chosen, BYTES, 1},
                                       {pair, 2 * BYTES, 1},
                                       {pair, BYTES, 1},
                                       {pair + BYTES, BYTES, 1}};
    sstore_text_options options = icu_options(1);
    sstore_error error;
    uint64_t wanted, found;
    char *text = malloc(POINTS * BYTES);
    assert_non_null(text);
    memcpy(text, chosen, BYTES);
    for (size_t i = 1; i < POINTS; i++)
        memcpy(text + i * BYTES, pair + (i - 1) % 2 * BYTES, BYTES);
    options.weighting = SSTORE_WEIGHTING_PRESENCE;
    assert_ok(sstore_simhash(features, 4, SSTORE_FEATURE_HASH_XXH3, 64, &wanted, &error), &error);
    assert_ok(sstore_fingerprint_text(text, POINTS * BYTES, &options, &found, &error), &error);
    assert_int_equal(found, wanted);
    free(text);
}

static void test_a_segmenter_takes_text_after_text(void **state)
{
    ss_segmenter segmenter = {0};
    sstore_error error;
    const uint16_t *word = NULL;
    assert_ok(ss_segmenter_open(&segmenter, &error), &error);
    for (uint32_t trial = 0; trial < 3; trial++) {
        for (uint32_t i = 0; i < 300 * trial; i++)
            assert_ok(ss_segmenter_add(&segmenter, 0x20000, &error), &error);
        assert_ok(ss_segmenter_begin(&segmenter, &error), &error);
        size_t units = 0, length;
        while ((length = ss_segmenter_next(&segmenter, &word)) > 0) {
            assert_ptr_equal(word, segmenter.units + units);
            units += length;
        }
        assert_int_equal(units, 600 * trial);
    }
    ss_segmenter_close(&segmenter);
}

static void test_the_recipe_names_the_version(void **state)
{
    const sstore_text_options options = icu_options(0);
    char version[SS_SEGMENTER_VERSION_BYTES], recipe[256], wanted[64];
    sstore_error error;
    assert_ok(ss_segmenter_version(version, &error), &error);
    snprintf(wanted, sizeof wanted, " shingle=1 segment=icu-%s weights=", version);
    assert_true(sstore_text_recipe(&options, recipe, sizeof recipe) > 0);
    assert_non_null(strstr(recipe, wanted));
}

static void test_characters_are_not_cut(void **state)
{
    sstore_text_options options = icu_options(0);
    sstore_error error;
    uint64_t value;
    options.kind = SSTORE_FEATURE_KIND_CHARS;
    assert_status(sstore_fingerprint_text("a", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.kind = SSTORE_FEATURE_KIND_WORDS;
    options.segmentation = (sstore_segmentation)2;
    assert_status(sstore_fingerprint_text("a", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
}

static void test_without_icu_words_are_unsupported(void **state)
{
    const sstore_text_options options = icu_options(0);
    sstore_fingerprinter *made;
    sstore_error error;
    uint64_t value;
    char recipe[8] = "before";
    assert_status(sstore_fingerprint_text("a", 1, &options, &value, &error), SSTORE_ERROR_UNSUPPORTED, &error);
    assert_status(sstore_fingerprinter_create(&options, &made, &error), SSTORE_ERROR_UNSUPPORTED, &error);
    assert_null(made);
    assert_int_equal(sstore_text_recipe(&options, recipe, sizeof recipe), 0);
    assert_string_equal(recipe, "");
}

int main(void)
{
    const sstore_text_options options = icu_options(0);
    const struct CMUnitTest without[] = {
        cmocka_unit_test(test_characters_are_not_cut),
        cmocka_unit_test(test_without_icu_words_are_unsupported),
    };
    if (sstore_text_recipe(&options, NULL, 0) == 0)
        return cmocka_run_group_tests(without, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_words_of_a_dictionary, testing_teardown),
        cmocka_unit_test_teardown(test_all_words_are_one_run, testing_teardown),
        cmocka_unit_test(test_long_stretches_are_divided),
        cmocka_unit_test(test_a_segmenter_takes_text_after_text),
        cmocka_unit_test(test_the_recipe_names_the_version),
        cmocka_unit_test(test_characters_are_not_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
