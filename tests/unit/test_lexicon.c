/* Stop words, weights of features, and counts of documents. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sstore_text.h"
#include "support/random.h"
#include "support/testing.h"
#include "text/frequencies.h"

static const sstore_text_options single_words = {.struct_size = sizeof single_words,
                                                 .kind = SSTORE_FEATURE_KIND_WORDS,
                                                 .shingle = 1,
                                                 .weighting = SSTORE_WEIGHTING_FREQUENCY};
static const sstore_text_options three_words = {.struct_size = sizeof three_words,
                                                .kind = SSTORE_FEATURE_KIND_WORDS,
                                                .shingle = 3,
                                                .weighting = SSTORE_WEIGHTING_FREQUENCY};

static sstore_lexicon *new_lexicon(const sstore_text_options *options)
{
    sstore_lexicon *lexicon;
    sstore_error error;
    assert_ok(sstore_lexicon_create(options, &lexicon, &error), &error);
    return lexicon;
}

static void add_stop_word(sstore_lexicon *lexicon, const char *word)
{
    sstore_error error;
    assert_ok(sstore_lexicon_add_stop_word(lexicon, word, strlen(word), &error), &error);
}

static void set_weight(sstore_lexicon *lexicon, const char *feature, double weight)
{
    sstore_error error;
    assert_ok(sstore_lexicon_set_weight(lexicon, feature, strlen(feature), weight, &error), &error);
}

typedef struct found_text {
    uint64_t fingerprint, feature_count;
    double weight;
} found_text;

static found_text fingerprint(const sstore_text_options *options, const sstore_lexicon *lexicon, const char *text)
{
    sstore_text_options with_lexicon = *options;
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    sstore_fingerprinter *fingerprinter;
    sstore_error error;
    with_lexicon.lexicon = lexicon;
    assert_ok(sstore_fingerprinter_create(&with_lexicon, &fingerprinter, &error), &error);
    assert_ok(sstore_fingerprinter_text(fingerprinter, text, strlen(text), &result, NULL, &error), &error);
    const found_text found = {*result.fingerprint, result.feature_count, result.weight};
    sstore_fingerprinter_free(fingerprinter);
    return found;
}

/* ----- stop words ----- */

static void test_stop_words_are_left_out_before_shingles(void **state)
{
    static const char *const pairs[][2] = {
        {"the cat sat on the mat", "cat sat mat"},
        {"THE Cat, sat; on T\uff28E mat", "cat sat mat"},         /* folded like texts */
        {"cat then sat onto mat", "cat then sat onto mat"},       /* only whole words */
        {"\u6211\u7684\u732b\u7684\u5bb6", "\u6211\u732b\u5bb6"}, /* characters without spaces: neighbours meet */
        {"\u732b the \u5bb6", "\u732b.\u5bb6 "},                  /* but here the word ends their run */
        {"the the on \u7684", ""},
        {"caf\u00e9 cat", "cat"},
    };
    sstore_lexicon *lexicon = new_lexicon(&three_words);
    add_stop_word(lexicon, "the");
    add_stop_word(lexicon, " On ");
    add_stop_word(lexicon, "\u7684");
    add_stop_word(lexicon, "cafe\u0301");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (i == 4)
            continue;
        testing_doing("pair %zu", i);
        const found_text with = fingerprint(&three_words, lexicon, pairs[i][0]);
        const found_text without = fingerprint(&three_words, NULL, pairs[i][1]);
        assert_int_equal(with.fingerprint, without.fingerprint);
        assert_int_equal(with.feature_count, without.feature_count);
    }
    /* The word ends the run of characters, so each is a feature of its own. */
    const sstore_feature two[] = {{"\u732b", 3, 1}, {"\u5bb6", 3, 1}};
    uint64_t wanted;
    sstore_error error;
    assert_ok(sstore_simhash(two, 2, SSTORE_FEATURE_HASH_XXH3, 64, &wanted, &error), &error);
    assert_int_equal(fingerprint(&three_words, lexicon, pairs[4][0]).fingerprint, wanted);
    testing_done();
    sstore_lexicon_free(lexicon);
}

/* Long texts, so that stop words stand at the edges of all buffers. */
static void test_stop_words_at_random_places(void **state)
{
    static const char *const words[] = {"a", "the", "Night", "longerword", "of", "x2", "caf\u00e9"};
    static const size_t sizes[] = {10, 500, 4000};
    rng random = rng_seeded(run_seed);
    sstore_lexicon *lexicon = new_lexicon(&three_words);
    static char with[60000], without[60000];
    add_stop_word(lexicon, words[1]);
    add_stop_word(lexicon, words[3]);
    for (uint32_t trial = 0; trial < 300; trial++) {
        char *to = with, *kept = without;
        *to = *kept = '\0';
        for (size_t i = rng_below(&random, sizes[trial % 3]); i > 0; i--) {
            const size_t word = (size_t)rng_below(&random, 7);
            to += sprintf(to, "%s ", words[word]);
            if (word != 1 && word != 3)
                kept += sprintf(kept, "%s ", words[word]);
        }
        testing_doing("trial %u", trial);
        assert_int_equal(fingerprint(&three_words, lexicon, with).fingerprint,
                         fingerprint(&three_words, NULL, without).fingerprint);
    }
    testing_done();
    sstore_lexicon_free(lexicon);
}

/* ----- weights ----- */

static void test_own_weights_multiply(void **state)
{
    const sstore_feature wanted_features[] = {{"cat", 3, 2 * 2.5}, {"mat", 3, -1}, {"sat", 3, 1}};
    sstore_lexicon *lexicon = new_lexicon(&single_words);
    sstore_error error;
    uint64_t wanted;
    set_weight(lexicon, "CAT", 7);
    set_weight(lexicon, "cat", 2.5); /* the later one counts */
    set_weight(lexicon, "mat", -1);
    set_weight(lexicon, "the", 0);
    assert_ok(sstore_simhash(wanted_features, 3, SSTORE_FEATURE_HASH_XXH3, 64, &wanted, &error), &error);
    const found_text result = fingerprint(&single_words, lexicon, "The cat, the cat sat. The mat");
    assert_int_equal(result.fingerprint, wanted);
    assert_int_equal(result.feature_count, 4);
    assert_true(result.weight == 7);
    assert_int_equal(fingerprint(&single_words, lexicon, "the the").feature_count, 0);
    sstore_lexicon_free(lexicon);

    /* A product that is too large stays at the limit. */
    lexicon = new_lexicon(&single_words);
    set_weight(lexicon, "a", 2147483648.0);
    set_weight(lexicon, "b", -2147483648.0);
    const found_text large = fingerprint(&single_words, lexicon, "a a a b b");
    assert_true(large.weight == 2 * 2147483648.0);
    sstore_lexicon_free(lexicon);
}

#define WORDS 200u
#define DOCUMENTS 500u

/* Random documents of words w0, w1, ..., the lower ones more frequent. */
static char documents[DOCUMENTS][4096];
static uint32_t holders[WORDS]; /* the documents that have each word */

static void make_documents(rng *random)
{
    memset(holders, 0, sizeof holders);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        bool has[WORDS] = {false};
        char *to = documents[i];
        for (size_t left = rng_between(random, 1, 60); left > 0; left--) {
            const size_t word = (size_t)rng_below(random, 1 + rng_below(random, WORDS));
            to += sprintf(to, "w%zu ", word);
            holders[word] += !has[word];
            has[word] = true;
        }
    }
}

static sstore_frequency_counter *count_documents(const void **table, size_t *size)
{
    sstore_frequency_counter *counter;
    sstore_fingerprinter *fingerprinter;
    sstore_frequency_summary summary = SSTORE_FREQUENCY_SUMMARY_INIT;
    sstore_error error;
    assert_ok(sstore_frequency_counter_create(&single_words, 0, &counter, &error), &error);
    assert_ok(sstore_fingerprinter_create(&single_words, &fingerprinter, &error), &error);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        const sstore_counted_feature *features;
        size_t count;
        assert_ok(sstore_fingerprinter_features(fingerprinter, documents[i], strlen(documents[i]), &features, &count,
                                                &error),
                  &error);
        assert_ok(sstore_frequency_counter_add(counter, features, count, &error), &error);
    }
    sstore_fingerprinter_free(fingerprinter);
    assert_ok(sstore_frequency_counter_finish(counter, table, size, &summary, &error), &error);
    assert_int_equal(summary.document_count, DOCUMENTS);
    assert_int_equal(summary.error_bound, 0);
    assert_status(sstore_frequency_counter_add(counter, NULL, 0, &error), SSTORE_ERROR_ARGUMENT, &error);
    return counter;
}

/* The factor by the specification. */
static double factor_of(uint32_t count, uint32_t levels)
{
    const double most = nearbyint(log2(DOCUMENTS + 1.0) * 1048576);
    const double units = nearbyint(log2((DOCUMENTS + 1.0) / (count > 1 ? count : 1)) * 1048576);
    const double level = floor(units * levels / most) + 1;
    return levels == 0 ? units / 1048576 : level < levels ? level : levels;
}

/* Every document's fingerprint is that of its words with factors computed here. */
static void compare_with_factors(const sstore_lexicon *lexicon, uint32_t levels)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        uint32_t counts[WORDS] = {0};
        static char names[WORDS][8];
        sstore_feature features[WORDS];
        size_t count = 0;
        uint64_t wanted;
        sstore_error error;
        for (const char *from = documents[i]; *from != '\0'; from = strchr(from, ' ') + 1)
            counts[strtoul(from + 1, NULL, 10)]++;
        for (size_t word = 0; word < WORDS; word++) {
            const size_t length = (size_t)sprintf(names[word], "w%zu", word);
            const double factor = word == 7 ? 3 : factor_of(holders[word], levels); /* a weight of its own */
            if (counts[word] > 0)
                features[count++] = (sstore_feature){names[word], length, counts[word] * factor};
        }
        testing_doing("document %zu, levels %u", i, levels);
        assert_ok(sstore_simhash(features, count, SSTORE_FEATURE_HASH_XXH3, 64, &wanted, &error), &error);
        assert_int_equal(fingerprint(&single_words, lexicon, documents[i]).fingerprint, wanted);
    }
    testing_done();
}

static void test_rare_features_weigh_more(void **state)
{
    static const uint32_t levels[] = {0, 5, 2, 255};
    rng random = rng_seeded(run_seed + 1);
    sstore_error error;
    const void *table;
    size_t size;
    make_documents(&random);
    sstore_frequency_counter *counter = count_documents(&table, &size);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        sstore_lexicon *lexicon = new_lexicon(&single_words);
        set_weight(lexicon, "w7", 3);
        assert_ok(sstore_lexicon_use_frequencies(lexicon, table, size, levels[i], &error), &error);
        compare_with_factors(lexicon, levels[i]);
        sstore_lexicon_free(lexicon);
    }
    sstore_frequency_counter_free(counter);
}

/* ----- counting in little memory ----- */

#define DISTINCT 200000u /* features; 1 MiB holds some 32,000 */

static uint64_t hash_of(uint64_t feature)
{
    uint8_t bytes[8];
    ss_store_le64(bytes, feature);
    return ss_hash64(bytes, sizeof bytes);
}

static void test_counts_are_too_low_by_at_most_the_bound(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    static uint32_t truth[DISTINCT];
    sstore_frequency_counter *counter;
    sstore_frequency_summary summary = SSTORE_FREQUENCY_SUMMARY_INIT;
    sstore_error error;
    ss_frequencies found;
    const void *table;
    size_t size;
    uint64_t listed = 0;
    memset(truth, 0, sizeof truth);
    assert_ok(sstore_frequency_counter_create(&single_words, 1 << 20, &counter, &error), &error);
    for (uint32_t document = 0; document < 20000; document++) {
        sstore_counted_feature features[100];
        size_t count = 0;
        for (size_t i = 0; i < 100; i++) { /* half of them are frequent; ascending, so none is repeated */
            const uint64_t width = i < 50 ? 20 : DISTINCT / 50 - 20;
            const uint64_t feature = (i < 50 ? 20 * i : 1000 + width * (i - 50)) + rng_below(&random, width);
            truth[feature]++;
            features[count++] = (sstore_counted_feature){hash_of(feature), 1};
        }
        assert_ok(sstore_frequency_counter_add(counter, features, count, &error), &error);
    }
    assert_ok(sstore_frequency_counter_finish(counter, &table, &size, &summary, &error), &error);
    assert_true(summary.error_bound > 0 && summary.error_bound < 100);
    assert_true(size < 1 << 20);
    assert_ok(ss_frequencies_open(&found, table, size, &error), &error);
    for (uint64_t feature = 0; feature < DISTINCT; feature++) {
        const uint32_t count = ss_frequencies_find(&found, hash_of(feature));
        listed += count > 0;
        testing_doing("feature %u: %u of %u", (unsigned)feature, count, truth[feature]);
        assert_true(count <= truth[feature]);
        assert_true((count > 0 ? count : 1) + summary.error_bound >= truth[feature]);
        assert_true(feature >= 1000 || count > 100); /* the frequent ones are never forgotten for long */
    }
    testing_done();
    assert_int_equal(listed, summary.feature_count);
    testing_figure("2,000,000 counts of 200,000 features in 1 MiB: too low by at most %u",
                   (unsigned)summary.error_bound);
    ss_frequencies_close(&found);
    sstore_frequency_counter_free(counter);
}

/* Hashes that lie close together, at both ends, and the extreme ones. */
static void test_counts_of_crowded_hashes(void **state)
{
    sstore_frequency_counter *counter;
    sstore_error error;
    ss_frequencies found;
    const void *table;
    size_t size;
    sstore_counted_feature features[2001];
    size_t count = 0;
    for (uint64_t i = 0; i < 1000; i++)
        features[count++] = (sstore_counted_feature){UINT64_MAX - (i * 7919) % 1000, 1};
    for (uint64_t i = 0; i < 1000; i++)
        features[count++] = (sstore_counted_feature){(i * 7919) % 1000, 1};
    features[count++] = (sstore_counted_feature){UINT64_C(1) << 63, 1};
    assert_ok(sstore_frequency_counter_create(NULL, 1 << 20, &counter, &error), &error);
    for (uint32_t document = 0; document < 3; document++)
        assert_ok(sstore_frequency_counter_add(counter, features, document == 2 ? 1500 : count, &error), &error);
    assert_ok(sstore_frequency_counter_finish(counter, &table, &size, NULL, &error), &error);
    assert_ok(ss_frequencies_open(&found, table, size, &error), &error);
    assert_int_equal(found.head.feature_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ss_frequencies_find(&found, features[i].hash), i < 1500 ? 3 : 2);
    assert_int_equal(ss_frequencies_find(&found, 1000), 0);
    ss_frequencies_close(&found);
    sstore_frequency_counter_free(counter);
}

/* ----- wrong tables and arguments ----- */

static void test_damaged_tables_are_refused(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    sstore_error error;
    const void *table;
    size_t size;
    make_documents(&random);
    sstore_frequency_counter *counter = count_documents(&table, &size);
    for (size_t cut = 0; cut < size; cut++) { /* of exactly this size, so that a sanitizer detects reads beyond it */
        sstore_lexicon *lexicon = new_lexicon(&single_words);
        uint8_t *copy = malloc(cut > 0 ? cut : 1);
        assert_non_null(copy);
        memcpy(copy, table, cut);
        assert_status(sstore_lexicon_use_frequencies(lexicon, copy, cut, 0, &error),
                      cut < 8 ? SSTORE_ERROR_UNSUPPORTED : SSTORE_ERROR_DAMAGED, &error);
        free(copy);
        sstore_lexicon_free(lexicon);
    }
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    for (size_t at = 0; at < size; at++) {
        sstore_lexicon *lexicon = new_lexicon(&single_words);
        memcpy(copy, table, size);
        copy[at] ^= (uint8_t)(1u << rng_below(&random, 8));
        assert_int_not_equal(sstore_lexicon_use_frequencies(lexicon, copy, size, 0, &error), SSTORE_OK);
        /* With a correct checksum it may be accepted, and must serve. */
        ss_store_le64(copy + size - 8, ss_hash64(copy, size - 8));
        if (sstore_lexicon_use_frequencies(lexicon, copy, size, 5, &error) == SSTORE_OK)
            (void)fingerprint(&single_words, lexicon, documents[0]);
        sstore_lexicon_free(lexicon);
    }
    free(copy);
    sstore_frequency_counter_free(counter);
}

static void test_wrong_arguments_are_refused(void **state)
{
    const sstore_text_options chars = {.struct_size = sizeof chars, .kind = SSTORE_FEATURE_KIND_CHARS};
    static const char *const not_words[] = {"", " ", "two words", "\u6211\u4eec", "cat\u732b", "..."};
    sstore_error error;
    sstore_lexicon *lexicon = new_lexicon(&three_words), *other;
    uint64_t value;
    for (size_t i = 0; i < sizeof not_words / sizeof *not_words; i++)
        assert_status(sstore_lexicon_add_stop_word(lexicon, not_words[i], strlen(not_words[i]), &error),
                      SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_lexicon_set_weight(lexicon, "one two three four", 18, 1, &error), SSTORE_ERROR_ARGUMENT,
                  &error);
    assert_status(sstore_lexicon_set_weight(lexicon, "", 0, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_lexicon_set_weight(lexicon, "one", 3, NAN, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_lexicon_set_weight(lexicon, "one", 3, 2147483649.0, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_lexicon_use_frequencies(lexicon, "x", 1, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_lexicon_use_frequencies(lexicon, "x", 1, 256, &error), SSTORE_ERROR_ARGUMENT, &error);
    set_weight(lexicon, "one two three", 2);
    assert_status(sstore_lexicon_add_stop_word(lexicon, "two", 3, &error), SSTORE_ERROR_ARGUMENT, &error);

    /* A lexicon of other features. */
    sstore_text_options options = chars;
    options.lexicon = lexicon;
    assert_status(sstore_fingerprint_text("x", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    options = single_words;
    options.lexicon = lexicon;
    assert_status(sstore_fingerprint_text("x", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_lexicon_create(&options, &other, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_lexicon_free(lexicon);
    lexicon = new_lexicon(&chars);
    assert_status(sstore_lexicon_add_stop_word(lexicon, "x", 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_lexicon_free(lexicon);

    sstore_frequency_counter *counter;
    const void *table;
    size_t size;
    assert_status(sstore_frequency_counter_create(NULL, 1000, &counter, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_ok(sstore_frequency_counter_create(NULL, 0, &counter, &error), &error);
    assert_status(sstore_frequency_counter_finish(counter, &table, &size, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_frequency_counter_free(counter);
    sstore_frequency_counter_free(NULL);
    sstore_lexicon_free(NULL);
}

/* A table of texts without markup is no table of texts with it. */
static void test_tables_serve_one_markup(void **state)
{
    rng random = rng_seeded(run_seed + 5);
    sstore_error error;
    const void *table;
    size_t size;
    uint64_t value;
    make_documents(&random);
    sstore_frequency_counter *counter = count_documents(&table, &size);
    sstore_text_options options = single_words;
    sstore_lexicon *lexicon = new_lexicon(&options);
    options.lexicon = lexicon;
    options.markup = SSTORE_MARKUP_HTML;
    assert_ok(sstore_fingerprint_text("x", 1, &options, &value, &error), &error);
    assert_ok(sstore_lexicon_use_frequencies(lexicon, table, size, 0, &error), &error);
    assert_status(sstore_fingerprint_text("x", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_lexicon_free(lexicon);
    sstore_frequency_counter_free(counter);
}

/* A table of other features is refused, and both recipes are told. */
static void test_tables_serve_their_features_alone(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    sstore_error error;
    const void *table;
    size_t size;
    make_documents(&random);
    sstore_frequency_counter *counter = count_documents(&table, &size);
    sstore_lexicon *lexicon = new_lexicon(&three_words);
    assert_status(sstore_lexicon_use_frequencies(lexicon, table, size, 0, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_non_null(strstr(error.message, "shingle=1"));
    assert_non_null(strstr(error.message, "shingle=3"));
    sstore_lexicon_free(lexicon);
    lexicon = new_lexicon(&single_words);
    add_stop_word(lexicon, "w1");
    assert_status(sstore_lexicon_use_frequencies(lexicon, table, size, 0, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_lexicon_free(lexicon);
    sstore_frequency_counter_free(counter);
}

int main(void)
{
    char recipe[256];
    if (sstore_text_recipe(NULL, recipe, sizeof recipe) == 0) {
        print_message("built without utf8proc: no lexicon can be made\n");
        return 0;
    }
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_stop_words_are_left_out_before_shingles, testing_teardown),
        cmocka_unit_test_teardown(test_stop_words_at_random_places, testing_teardown),
        cmocka_unit_test(test_own_weights_multiply),
        cmocka_unit_test_teardown(test_rare_features_weigh_more, testing_teardown),
        cmocka_unit_test_teardown(test_counts_are_too_low_by_at_most_the_bound, testing_teardown),
        cmocka_unit_test(test_counts_of_crowded_hashes),
        cmocka_unit_test(test_damaged_tables_are_refused),
        cmocka_unit_test(test_wrong_arguments_are_refused),
        cmocka_unit_test(test_tables_serve_their_features_alone),
        cmocka_unit_test(test_tables_serve_one_markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
