/* The features of texts: words, characters and shingles. The fast paths must equal the simple one. */
#include "text/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "support/random.h"
#include "support/testing.h"
#include "text/fold.h"

#define WORDS SSTORE_FEATURE_KIND_WORDS
#define CHARS SSTORE_FEATURE_KIND_CHARS
#define POINTS 0x110000u
#define MAX_HASHES 25000u

/* The fingerprint, from bytes of exactly the text's size, so that a sanitizer detects reads beyond them. */
static uint64_t fingerprint_of(sstore_feature_kind kind, uint32_t shingle, const char *text, size_t size)
{
    sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
    sstore_error error;
    uint64_t fingerprint;
    options.kind = kind;
    options.shingle = shingle;
    options.weighting = SSTORE_WEIGHTING_FREQUENCY;
    char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    assert_ok(sstore_fingerprint_text(copy, size, &options, &fingerprint, &error), &error);
    free(copy);
    return fingerprint;
}

static uint64_t fingerprint(sstore_feature_kind kind, uint32_t shingle, const char *text)
{
    return fingerprint_of(kind, shingle, text, strlen(text));
}

/* Fail unless the text's features are the given ones, which a NULL ends. */
static void assert_features(sstore_feature_kind kind, uint32_t shingle, const char *text, const char *const *expected)
{
    sstore_feature features[32];
    sstore_error error;
    uint64_t wanted;
    size_t count = 0;
    for (; expected[count] != NULL; count++)
        features[count] = (sstore_feature){.data = expected[count], .size = strlen(expected[count]), .weight = 1};
    assert_ok(sstore_simhash(features, count, SSTORE_FEATURE_HASH_XXH3, 64, &wanted, &error), &error);
    testing_doing("text '%s', shingle %u", text, shingle);
    assert_int_equal(fingerprint(kind, shingle, text), wanted);
    testing_done();
}

#define assert_words(shingle, text, ...) assert_features(WORDS, shingle, text, (const char *const[]){__VA_ARGS__, NULL})
#define assert_chars(shingle, text, ...) assert_features(CHARS, shingle, text, (const char *const[]){__VA_ARGS__, NULL})

/* ----- words ----- */

static void test_words_are_runs_of_letters_marks_and_numbers(void **state)
{
    assert_words(1, "The  cat,sat. ON-the\tmat!", "the", "cat", "sat", "on", "the", "mat");
    assert_words(1, "don't 2nd x86_64 3.14", "don", "t", "2nd", "x86", "64", "3", "14");
    assert_words(1, "\u00c9CLAIR stra\u00dfe", "\u00e9clair", "strasse");
    assert_words(1, "x\u00b2\u2163 \U0001f600y \U00010107", "x2iv", "y", "\U00010107"); /* No, Nl; So separates; No */
    assert_words(1, "@[`{/:az09AZ", "az09az");
}

static void test_shingles_are_words_joined_by_one_space(void **state)
{
    assert_words(3, "a, b; c -- d", "a b c", "b c d");
    assert_words(2, "one\r\ntwo\u00a0three", "one two", "two three");
    assert_words(0, "a b c d", "a", "b", "c", "d"); /* the default is 1 */
}

static void test_few_words_are_one_feature(void **state)
{
    assert_words(3, "Hello", "hello");
    assert_words(3, " hello -- world ", "hello world");
    assert_words(64, "a b. \u732b", "a b", "\u732b");
}

static void test_no_words_give_zero(void **state)
{
    static const char *const empty[] = {"", " ", "...", "\n\n", "\ufeff", "\xff\xfe", "\U0001f600", "\u3002"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        assert_int_equal(fingerprint(WORDS, 3, empty[i]), 0);
    sstore_error error;
    uint64_t value = 1;
    assert_ok(sstore_fingerprint_text(NULL, 0, NULL, &value, &error), &error);
    assert_int_equal(value, 0);
}

/* In scripts without spaces each two characters in a row are a feature, whatever the shingle. */
static void test_scripts_without_spaces_give_pairs_of_characters(void **state)
{
    assert_words(3, "\u6211\u7231\u4f60", "\u6211\u7231", "\u7231\u4f60");
    assert_words(1, "\u6211\uff0c\n\u7231 \u4f60", "\u6211\u7231", "\u7231\u4f60"); /* all else only separates words */
    assert_words(2, "\u732b", "\u732b");
    assert_words(2, "Tom \u732b2\u53f7", "tom", "\u732b", "2", "\u53f7"); /* four runs */
    assert_words(2, "a b c \u732b\u53f7 d", "a b", "b c", "\u732b\u53f7", "d");
    /* Hiragana, Katakana with its length mark, a mark of voice that stays with its letter. */
    assert_words(1, "\u306d\u30b3\u30fc", "\u306d\u30b3", "\u30b3\u30fc");
    assert_words(1, "\u3042\u3099\u3042z", "\u3042\u3099\u3042", "z");
    /* Thai: KO KAI with a vowel sign above, then SARA AA. */
    assert_words(1, "\u0e01\u0e34\u0e32", "\u0e01\u0e34\u0e32");
    /* Hangul has spaces. */
    assert_words(1, "\ud55c\uad6d \ub9d0", "\ud55c\uad6d", "\ub9d0");
    /* One of the few compatibility ideographs that do not fold to another. */
    assert_words(1, "\ufa0e\ufa0e", "\ufa0e\ufa0e");
    assert_words(1, "\U00020000\U00020001", "\U00020000\U00020001");
    /* A mark after a separator begins a word. */
    assert_words(1, "\u6211 \u0301x", "\u6211", "\u0301x");
}

static void test_what_is_not_seen_is_dropped(void **state)
{
    assert_words(1, "\ufeffsoft\u00adhy\u200dphen", "softhyphen");
    assert_chars(3, "a\u200bbc", "abc");
}

/* ----- characters ----- */

static void test_chars_fold_white_space_and_case(void **state)
{
    assert_chars(4, "  Ab \t\r\n C\u00a0\u3000", "ab c");
    assert_chars(3, "AB  CD", "ab ", "b c", " cd");
    assert_chars(1, " A ", "a");
    assert_chars(0, "Straw", "stra", "traw"); /* the default is 4 */
    assert_chars(2, "\u00c9t\u732b", "\u00e9t", "t\u732b");
    assert_chars(5, "x y", "x y");
    assert_chars(2, "(1]", "(1", "1]");
    assert_int_equal(fingerprint(CHARS, 3, " \n "), 0);
    assert_int_equal(fingerprint(CHARS, 3, ""), 0);
    assert_int_equal(fingerprint_of(CHARS, 2, "a\0b", 3), fingerprint_of(CHARS, 2, "A\0B", 3));
    assert_int_not_equal(fingerprint_of(CHARS, 2, "a\0b", 3), fingerprint(CHARS, 2, "ab"));
}

/* One U+FFFD for each maximal subpart, as Unicode recommends. */
static void test_invalid_bytes_are_replacement_characters(void **state)
{
#define BAD "\ufffd"
    assert_chars(9, "a\xffz", "a" BAD "z");
    assert_chars(9, "a\xc0\xaf", "a" BAD BAD);
    assert_chars(9, "\xed\xa0\x80", BAD BAD BAD); /* a surrogate */
    assert_chars(9, "\xf0\x9f\x98", BAD);         /* cut short by the end */
    assert_chars(9, "\xf0\x9f\x98z", BAD "z");    /* and by a letter */
    assert_chars(9, "\xe2\x82\u20ac", BAD "\u20ac");
    assert_chars(9, "\xf4\x90\x80\x80", BAD BAD BAD BAD); /* above U+10FFFF */
    assert_chars(9, "\xe0\x80\x80\x80", BAD BAD BAD BAD); /* overlong */
#undef BAD
    assert_words(1, "a\xffz\xc3", "a", "z");
    assert_words(1, "a\xcc", "a");
}

static void test_utf8_round_trip(void **state)
{
    uint8_t bytes[SS_UTF8_MAX_BYTES];
    for (uint32_t point = 0; point < POINTS; point++) {
        uint32_t decoded;
        if (point >= 0xd800 && point < 0xe000)
            continue;
        size_t size = ss_utf8_encode(point, bytes);
        if (ss_utf8_decode(bytes, size, &decoded) != size || decoded != point)
            fail_msg("U+%04X does not survive", (unsigned)point);
        /* A piece of it is one replacement character, and all of it is taken. */
        if (size > 1 && (ss_utf8_decode(bytes, size - 1, &decoded) != size - 1 || decoded != SS_REPLACEMENT_CHARACTER))
            fail_msg("U+%04X cut short is not taken whole", (unsigned)point);
    }
}

/* ----- folding ----- */

static void test_equivalent_texts_have_one_fingerprint(void **state)
{
    static const char *const pairs[][2] = {
        {"caf\u00e9", "cafe\u0301"},                  /* composed or not */
        {"CAF\u00c9", "CAFE\u0301"},                  /* in upper case */
        {"\u01f0", "J\u030c"},                        /* no composed upper case */
        {"\u0130", "i\u0307"},                        /* I with dot above */
        {"q\u0323\u0307", "q\u0307\u0323"},           /* marks in another order */
        {"\ud55c", "\u1112\u1161\u11ab"},             /* a Hangul syllable and its letters */
        {"\u212b k \u212a", "\u00e5 K k"},            /* Angstrom, Kelvin */
        {"\u1ead", "a\u0323\u0302"},                  /* two marks in one */
        {"\u304c", "\u304b\u3099"},                   /* kana and its mark of voice */
        {"\uf900", "\u8c48"},                         /* a compatibility ideograph */
        {"\u0958", "\u0915\u093c"},                   /* one that is never composed */
        {"\u03a3\u0391\u03a3", "\u03c3\u03b1\u03c2"}, /* sigma, at the end too */
        {"\uff21\uff42\uff11", "aB1"},                /* full width */
        {"\uff76\uff9e", "\u30ac"},                   /* half width, with a mark of voice */
        {"\u01c4\ufb01\u2460", "d\u017efi1"},         /* compatibility forms */
        {"stra\u00dfe", "STRASSE"},                   /* one becomes two */
        {"\u1fb3\u0301", "\u03b1\u0301\u03b9"},       /* a mark that becomes a letter, behind the other mark */
        {"a\ufe0f\u200db\u00ad", "ab"},               /* what is not seen */
        {"e\u200d\u0301", "\u00e9"},                  /* also between a letter and its mark */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (uint32_t shingle = 1; shingle <= 4; shingle++) {
            testing_doing("pair %zu, shingle %u", i, shingle);
            assert_int_equal(fingerprint(WORDS, shingle, pairs[i][0]), fingerprint(WORDS, shingle, pairs[i][1]));
            assert_int_equal(fingerprint(CHARS, shingle, pairs[i][0]), fingerprint(CHARS, shingle, pairs[i][1]));
        }
    testing_done();
}

static void fold(ss_fold *folded, uint32_t first, uint32_t second)
{
    sstore_error error;
    folded->count = 0;
    assert_ok(ss_fold_add(folded, first, &error), &error);
    if (second != 0)
        assert_ok(ss_fold_add(folded, second, &error), &error);
    assert_ok(ss_fold_end(folded, &error), &error);
}

/* Mark the code points that can follow the first in a decomposition: only these can compose with the one before. */
static void mark_seconds(ss_fold *folded, bool *seconds)
{
    sstore_error error;
    for (uint32_t code = 0; code < POINTS; code++) {
        if (code >= 0xd800 && code < 0xe000)
            continue;
        folded->count = 0;
        assert_ok(ss_fold_add(folded, code, &error), &error);
        for (size_t i = 1; i < folded->count; i++)
            seconds[folded->points[i]] = true;
    }
}

/* What ss_point_look() says of every code point: it allows folding a text in pieces. */
static void test_settled_points_keep_their_promise(void **state)
{
    const uint32_t lowest_class = 0x334, highest_class = 0x302; /* the latter of the highest that does not fold away */
    bool *seconds = calloc(POINTS, sizeof *seconds);
    ss_fold folded = {0};
    uint32_t settled_count = 0;
    assert_non_null(seconds);
    mark_seconds(&folded, seconds);
    for (uint32_t code = 0; code < POINTS; code++) {
        const ss_point point = ss_point_look(code);
        if (code >= 0xd800 && code < 0xe000)
            continue;
        testing_doing("U+%04X", (unsigned)code);
        assert_int_equal(ss_point_look(code), point); /* also when it is kept */
        if (!ss_point_is_settled(point)) {
            assert_int_equal(ss_point_folded(point), code);
            continue;
        }
        settled_count++;
        fold(&folded, code, 0);
        const uint32_t first = (uint32_t)folded.points[0];
        assert_false(seconds[code] || seconds[first]);
        assert_int_equal(folded.count, 1);
        assert_int_equal(first, ss_point_folded(point));
        assert_int_equal(ss_point_folded(ss_point_look(first)), first);
        assert_int_equal(ss_point_class_of(ss_point_look(first)), ss_point_class_of(point));
        /* A mark would change places with one of these two. */
        fold(&folded, highest_class, code);
        assert_int_equal(folded.points[0], highest_class);
        fold(&folded, code, lowest_class);
        assert_int_equal(folded.points[0], first);
    }
    testing_done();
    assert_true(settled_count > 1000000);
    ss_fold_free(&folded);
    free(seconds);
}

/* ----- the shortcuts ----- */

/* The hashes of features, in order, up to a limit. */
typedef struct hash_list {
    uint64_t hashes[MAX_HASHES];
    size_t count;
} hash_list;

static sstore_status take_hashes(void *self, const uint64_t *hashes, size_t count, sstore_error *error)
{
    hash_list *list = self;
    (void)error;
    for (size_t i = 0; i < count; i++, list->count++)
        if (list->count < MAX_HASHES)
            list->hashes[list->count] = hashes[i];
    return SSTORE_OK;
}

/* Returns the number of wrong byte sequences. */
static uint64_t find_features(const ss_text_rules *rules, const uint8_t *text, size_t size, bool shortcuts,
                              hash_list *found)
{
    ss_features features;
    sstore_error error;
    found->count = 0;
    assert_ok(ss_features_init(&features, rules, &error), &error);
    assert_ok(ss_features_find(&features, text, size, shortcuts, (ss_feature_sink){take_hashes, found}, &error),
              &error);
    ss_features_free(&features);
    return features.replaced_count;
}

/* Make some words of a text stop words. */
static void choose_stop_words(const uint8_t *text, size_t size, rng *random, ss_feature_set *words)
{
    static hash_list units;
    const ss_text_rules rules = {.kind = WORDS, .shingle = 1, .spaceless_shingle = 1};
    sstore_error error;
    (void)find_features(&rules, text, size, false, &units);
    for (uint64_t left = rng_below(random, 4); left > 0 && units.count > 0; left--) {
        const size_t stored = units.count < MAX_HASHES ? units.count : MAX_HASHES;
        assert_ok(ss_feature_set_add(words, &units.hashes[rng_below(random, stored)], 1, &error), &error);
    }
}

static bool has_icu(void)
{
    char version[SS_SEGMENTER_VERSION_BYTES];
    return ss_segmenter_version(version, NULL) == SSTORE_OK;
}

static void assert_shortcuts_agree(const uint8_t *text, size_t size, rng *random)
{
    static hash_list fast, plain;
    ss_feature_set stop_words = {.count = 0};
    const bool words = rng_one_in(random, 2);
    if (words && rng_one_in(random, 4))
        choose_stop_words(text, size, random, &stop_words);
    ss_text_rules rules = {.kind = words ? WORDS : CHARS,
                           .shingle = rng_one_in(random, 4) ? (uint32_t)rng_between(random, 1, 64)
                                                            : (uint32_t)rng_between(random, 1, 5),
                           .spaceless_shingle = SS_CHARACTER_PAIR,
                           .stop_words = stop_words.count > 0 ? &stop_words : NULL};
    if (words && rng_one_in(random, 4) && has_icu())
        rules.segmentation = SSTORE_SEGMENTATION_ICU;
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    testing_doing("%zu bytes, kind %d, shingle %u, segmentation %d", size, (int)rules.kind, rules.shingle,
                  (int)rules.segmentation);
    assert_int_equal(find_features(&rules, copy, size, true, &fast), find_features(&rules, copy, size, false, &plain));
    assert_int_equal(fast.count, plain.count);
    assert_memory_equal(fast.hashes, plain.hashes,
                        (fast.count < MAX_HASHES ? fast.count : MAX_HASHES) * sizeof *fast.hashes);
    testing_done();
    ss_feature_set_free(&stop_words);
    free(copy);
}

/* ASCII from all bytes or a few, in sizes about those of a machine word, of a block and of several chunks. */
static void test_ascii_equals_the_plain_way(void **state)
{
    static const size_t sizes[] = {0, 1, 7, 8, 9, 63, 64, 65, 128, 2046, 2047, 2048, 2049, 4097, 20000};
    static const char few[] = "aB9 ,";
    static uint8_t text[20100];
    rng random = rng_seeded(run_seed);
    for (uint32_t trial = 0; trial < 1500; trial++) {
        size_t size = sizes[rng_below(&random, sizeof sizes / sizeof *sizes)] + (size_t)rng_below(&random, 20);
        uint64_t letters = rng_below(&random, 3), word_length = rng_between(&random, 1, 2000);
        for (size_t i = 0; i < size; i++) {
            if (letters == 0)
                text[i] = (uint8_t)rng_below(&random, 128);
            else if (letters == 1)
                text[i] = (uint8_t)few[rng_below(&random, sizeof few - 1)];
            else
                text[i] = rng_one_in(&random, word_length) ? ' ' : 'x';
        }
        assert_shortcuts_agree(text, size, &random);
    }
}

/* A code point from critical ranges. */
static uint32_t random_point(rng *random)
{
    static const uint32_t ranges[][2] = {
        {0x00, 0x7f},     {0x41, 0x7a},       {0x20, 0x20},       {0x80, 0x24f},      {0x300, 0x370},
        {0x370, 0x590},   {0x590, 0x700},     {0x900, 0x9ff},     {0xe00, 0xeff},     {0x1100, 0x11ff},
        {0x1e00, 0x206f}, {0x3000, 0x30ff},   {0x4e00, 0x4eff},   {0xac00, 0xacff},   {0xf900, 0xfaff},
        {0xfe00, 0xffff}, {0x1d150, 0x1d170}, {0x20000, 0x20010}, {0x2f800, 0x2f810}, {0x10fff0, 0x10ffff},
    };
    const uint32_t *range = ranges[rng_below(random, sizeof ranges / sizeof *ranges)];
    return (uint32_t)rng_between(random, range[0], range[1]);
}

static void test_any_text_equals_the_plain_way(void **state)
{
    static uint8_t text[12000];
    rng random = rng_seeded(run_seed + 1);
    for (uint32_t trial = 0; trial < 3000; trial++) {
        size_t size = 0, wanted = (size_t)rng_below(&random, rng_one_in(&random, 20) ? 10000 : 200);
        uint32_t points[6]; /* few, so that combinations are frequent */
        for (size_t i = 0; i < 6; i++)
            points[i] = random_point(&random);
        while (size < wanted) {
            if (rng_one_in(&random, 30))
                text[size++] = (uint8_t)rng_next(&random);
            else
                size += ss_utf8_encode(points[rng_below(&random, 6)], text + size);
        }
        assert_shortcuts_agree(text, size, &random);
    }
}

/* ----- malicious texts ----- */

/* At some positions everything before was hashed and dropped. A space there must not count as leading white space. The
 * counts of the three characters balance, so that a missing space is noticed. */
static void test_no_space_is_lost_between_batches(void **state)
{
    enum { LETTERS = 5000 };
    static uint8_t text[2 * LETTERS];
    const sstore_feature features[] = {{"a", 1, LETTERS}, {" ", 1, LETTERS - 1}, {"b", 1, 1}};
    sstore_error error;
    uint64_t wanted;
    assert_ok(sstore_simhash(features, 3, SSTORE_FEATURE_HASH_XXH3, 64, &wanted, &error), &error);
    for (size_t shift = 0; shift < 2; shift++) {
        for (size_t i = 0; i < LETTERS; i++) {
            text[shift + 2 * i] = 'a';
            text[(shift + 2 * i + 1) % sizeof text] = ' ';
        }
        text[shift == 0 ? sizeof text - 1 : 0] = 'b';
        assert_int_equal(fingerprint_of(CHARS, 1, (const char *)text, sizeof text), wanted);
    }
}

static void test_a_word_longer_than_any_buffer(void **state)
{
    enum { SIZE = 1000000 };
    sstore_error error;
    char *text = malloc(SIZE + 5);
    uint64_t wanted;
    assert_non_null(text);
    memset(text, 'X', SIZE);
    memcpy(text + SIZE, " y. z", 5);
    uint64_t found = fingerprint_of(WORDS, 3, text, SIZE + 5);
    memset(text, 'x', SIZE);
    memcpy(text + SIZE, " y z", 4);
    const sstore_feature feature = {.data = text, .size = SIZE + 4, .weight = 1};
    assert_ok(sstore_simhash(&feature, 1, SSTORE_FEATURE_HASH_XXH3, 64, &wanted, &error), &error);
    assert_int_equal(found, wanted);
    free(text);
}

/* Quadratic sorting of the marks would take minutes. */
static void test_a_letter_under_a_million_marks(void **state)
{
    enum { MARKS = 1000000 };
    static const char above[] = "\u0301", below[] = "\u0323";
    char *mixed = malloc(1 + 2 * MARKS), *sorted = malloc(1 + 2 * MARKS);
    assert_true(mixed != NULL && sorted != NULL);
    mixed[0] = sorted[0] = 'q';
    for (size_t i = 0; i < MARKS; i++) {
        memcpy(mixed + 1 + 2 * i, i % 2 == 0 ? above : below, 2);
        memcpy(sorted + 1 + 2 * i, i < MARKS / 2 ? below : above, 2);
    }
    assert_int_equal(fingerprint_of(WORDS, 1, mixed, 1 + 2 * MARKS), fingerprint_of(WORDS, 1, sorted, 1 + 2 * MARKS));
    free(mixed);
    free(sorted);
}

/* ----- weights ----- */

/* How fingerprints are made of features. */
typedef struct width {
    sstore_feature_hash hash;
    uint32_t bits;
} width;

static const width widths[] = {{SSTORE_FEATURE_HASH_XXH3, 64},
                               {SSTORE_FEATURE_HASH_XXH3, 128},
                               {SSTORE_FEATURE_HASH_JAVA128, 128}};
#define WIDTHS (sizeof widths / sizeof *widths)

/* Fail unless a fingerprinter of this width finds the features, with these weights and counts. */
static void assert_weighted(sstore_fingerprinter *fingerprinter, const width *wide, const char *text,
                            const sstore_feature *features, size_t count, uint64_t feature_count)
{
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    sstore_error error;
    uint64_t wanted[2];
    double sums[128], total = 0;
    testing_doing("%u bits, hash %d, text '%s'", wide->bits, (int)wide->hash, text);
    assert_ok(sstore_simhash(features, count, wide->hash, wide->bits, wanted, &error), &error);
    assert_ok(sstore_fingerprinter_text(fingerprinter, text, strlen(text), &result, sums, &error), &error);
    assert_memory_equal(result.fingerprint, wanted, wide->bits / 8);
    assert_int_equal(result.feature_count, feature_count);
    for (size_t i = 0; i < count; i++)
        total += features[i].weight;
    for (uint32_t i = 0; i < wide->bits; i++) {
        const bool is_tie = sums[i] == 0 && wide->hash == SSTORE_FEATURE_HASH_JAVA128;
        assert_int_equal(sums[i] > 0 || is_tie, wanted[i / 64] >> (63 - i % 64) & 1);
        assert_true(fabs(sums[i]) <= total + ldexp((double)count, -21)); /* each weight is rounded to 2^-20 */
    }
    testing_done();
}

static sstore_fingerprinter *must_create(const width *wide, sstore_feature_kind kind, uint32_t shingle,
                                         sstore_weighting weighting)
{
    sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
    sstore_fingerprinter *made;
    sstore_error error;
    options.kind = kind;
    options.shingle = shingle;
    options.weighting = weighting;
    options.hash = wide->hash;
    options.fingerprint_bits = wide->bits;
    assert_ok(sstore_fingerprinter_create(&options, &made, &error), &error);
    return made;
}

static void test_weights_by_frequency(void **state)
{
    static const char text[] = "b a a c a a b a a";
    const double by_weighting[][3] = {{1 + log2(6), 2, 1}, {6, 2, 1}, {1, 1, 1}};
    for (size_t i = 0; i < 3 * WIDTHS; i++) {
        const width *wide = &widths[i / 3];
        const double *weights = by_weighting[i % 3];
        const sstore_feature features[] = {{"a", 1, weights[0]}, {"b", 1, weights[1]}, {"c", 1, weights[2]}};
        sstore_fingerprinter *made = must_create(wide, WORDS, 1, (sstore_weighting)(1 + i % 3));
        assert_weighted(made, wide, text, features, 3, 9);
        assert_weighted(made, wide, "...", NULL, 0, 0);
        assert_weighted(made, wide, text, features, 3, 9); /* nothing stays of a text */
        sstore_fingerprinter_free(made);
    }
    sstore_fingerprinter_free(NULL);
}

/* Against features that were counted in another way, in texts of few and of many features. */
static void test_weights_of_many_features(void **state)
{
    enum { MOST = 20000 };
    static sstore_feature features[MOST];
    static char text[3 * MOST + 1];
    static uint32_t counts[1 << 16];
    rng random = rng_seeded(run_seed + 3);
    sstore_fingerprinter *made[2 * WIDTHS]; /* by the logarithm, and by the frequency itself */
    for (size_t i = 0; i < 2 * WIDTHS; i++)
        made[i] = must_create(&widths[i / 2], CHARS, 2, (sstore_weighting)(1 + i % 2));
    for (uint32_t trial = 0; trial < 200; trial++) {
        const size_t maker = (size_t)rng_below(&random, 2 * WIDTHS);
        const size_t size = 2 + (size_t)rng_below(&random, rng_one_in(&random, 10) ? MOST : 300);
        const uint64_t letters = rng_between(&random, 1, 90);
        size_t count = 0;
        memset(counts, 0, sizeof counts);
        for (size_t i = 0; i < size; i++)
            text[i] = (char)('!' + (char)rng_below(&random, letters < 32 ? letters : 32)); /* no letter changes */
        text[size] = '\0';
        for (size_t i = 0; i + 1 < size; i++)
            counts[(size_t)text[i] << 8 | (size_t)text[i + 1]]++;
        for (size_t i = 0; i + 1 < size; i++) {
            uint32_t *times = &counts[(size_t)text[i] << 8 | (size_t)text[i + 1]];
            if (*times > 0)
                features[count++] = (sstore_feature){text + i, 2, maker % 2 != 0 ? *times : 1 + log2(*times)};
            *times = 0;
        }
        assert_weighted(made[maker], &widths[maker / 2], text, features, count, size - 1);
    }
    for (size_t i = 0; i < 2 * WIDTHS; i++)
        sstore_fingerprinter_free(made[i]);
}

/* Whatever the width, in texts of several runs, some of them longer than the buffer or shorter than the shingle. */
static void test_features_are_known_by_64_bits(void **state)
{
    static char text[60000];
    static const char *const pieces[] = {"a",      "quite",        " ",  ". ", "\u6211", "\u7231",
                                         "\u00e9", "longer-words", "\n", "x2"};
    rng random = rng_seeded(run_seed + 4);
    for (uint32_t trial = 0; trial < 200; trial++) {
        const sstore_feature_kind kind = trial % 2 != 0 ? WORDS : CHARS;
        const uint32_t shingle = (uint32_t)rng_between(&random, 1, 5);
        const size_t limit = (size_t)rng_between(&random, 1, trial % 10 != 0 ? 100 : sizeof text - 20);
        size_t size = 0;
        while (size < limit) {
            const char *piece = pieces[rng_below(&random, sizeof pieces / sizeof *pieces)];
            strcpy(text + size, piece);
            size += strlen(piece);
        }
        const sstore_counted_feature *features;
        size_t count, wide_count = 0;
        sstore_error error;
        sstore_fingerprinter *narrow = must_create(&widths[0], kind, shingle, SSTORE_WEIGHTING_FREQUENCY);
        sstore_fingerprinter *wide = must_create(&widths[1], kind, shingle, SSTORE_WEIGHTING_FREQUENCY);
        const sstore_counted_feature *wide_features;
        testing_doing("trial %u, kind %d, shingle %u, text '%.200s'", trial, (int)kind, shingle, text);
        assert_ok(sstore_fingerprinter_features(narrow, text, size, &features, &count, &error), &error);
        assert_ok(sstore_fingerprinter_features(wide, text, size, &wide_features, &wide_count, &error), &error);
        assert_int_equal(wide_count, count);
        if (count > 0)
            assert_memory_equal(wide_features, features, count * sizeof *features);
        sstore_fingerprinter_free(narrow);
        sstore_fingerprinter_free(wide);
    }
    testing_done();
}

/* A single call and a fingerprinter make equal fingerprints, of all widths. */
static void test_one_call(void **state)
{
    static const char *const texts[] = {"", "a", "the cat sat on the mat"};
    sstore_error error;
    for (size_t i = 0; i < 3 * WIDTHS; i++) {
        const char *text = texts[i / WIDTHS];
        sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
        sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
        sstore_fingerprinter *made;
        uint64_t found[3] = {0, 0, 7};
        options.hash = widths[i % WIDTHS].hash;
        options.fingerprint_bits = widths[i % WIDTHS].bits;
        testing_doing("%u bits, hash %d, text '%s'", options.fingerprint_bits, (int)options.hash, text);
        assert_ok(sstore_fingerprint_text(text, strlen(text), &options, found, &error), &error);
        assert_ok(sstore_fingerprinter_create(&options, &made, &error), &error);
        assert_ok(sstore_fingerprinter_text(made, text, strlen(text), &result, NULL, &error), &error);
        assert_memory_equal(found, result.fingerprint, options.fingerprint_bits / 8);
        assert_int_equal(found[options.fingerprint_bits / 64], options.fingerprint_bits == 64 ? 0 : 7);
        sstore_fingerprinter_free(made);
    }
    testing_done();
}

static void test_widths_that_a_hash_lacks(void **state)
{
    sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
    sstore_fingerprinter *made;
    sstore_error error;
    uint64_t found[2];
    options.hash = SSTORE_FEATURE_HASH_JAVA128;
    options.fingerprint_bits = 64;
    assert_status(sstore_fingerprint_text("a", 1, &options, found, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.fingerprint_bits = 192;
    assert_status(sstore_fingerprinter_create(&options, &made, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_null(made);
}

static void test_recipes_name_the_hash(void **state)
{
    static const char *const names[] = {" hash=xxh3-64 ", " hash=xxh3-128 ", " hash=java128 "};
    char recipe[512];
    for (size_t i = 0; i < WIDTHS; i++) {
        sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
        options.hash = widths[i].hash;
        options.fingerprint_bits = widths[i].bits;
        assert_true(sstore_text_recipe(&options, recipe, sizeof recipe) > 0);
        assert_non_null(strstr(recipe, names[i]));
    }
}

static sstore_text_options minhash_options(uint32_t bits, sstore_weighting weighting)
{
    sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
    options.hash = SSTORE_FEATURE_HASH_MINHASH;
    options.fingerprint_bits = bits;
    options.weighting = weighting;
    return options;
}

/* The MinHash of a text is that of its features, once or as often as they occur, by one fingerprinter for all texts. */
static void test_minhash_is_of_the_features(void **state)
{
    static const uint32_t bits[] = {64, 320, 1024};
    rng random = rng_seeded(run_seed);
    for (size_t i = 0; i < 6; i++) {
        const bool counts = i % 2 != 0;
        const sstore_text_options options = minhash_options(bits[i / 2], counts ? SSTORE_WEIGHTING_FREQUENCY
                                                                                : SSTORE_WEIGHTING_AUTO);
        sstore_fingerprinter *made;
        sstore_error error;
        assert_ok(sstore_fingerprinter_create(&options, &made, &error), &error);
        for (uint32_t trial = 0; trial < 100; trial++) {
            sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
            const sstore_counted_feature *features;
            char text[2000];
            uint64_t hashes[1000], wanted[16];
            double weights[1000], total = 0;
            size_t size = (size_t)rng_below(&random, sizeof text), count;
            for (size_t j = 0; j < size; j++)
                text[j] = "ab c"[rng_below(&random, 4)];
            testing_doing("%u bits, '%.*s'", bits[i / 2], (int)size, text);
            assert_ok(sstore_fingerprinter_features(made, text, size, &features, &count, &error), &error);
            for (size_t j = 0; j < count; j++) {
                hashes[j] = features[j].hash;
                weights[j] = counts ? (double)features[j].count : 1;
                total += (double)features[j].count;
            }
            assert_ok(sstore_minhash_hashes(hashes, weights, count, bits[i / 2], wanted, &error), &error);
            assert_ok(sstore_fingerprinter_text(made, text, size, &result, NULL, &error), &error);
            assert_memory_equal(result.fingerprint, wanted, bits[i / 2] / 8);
            assert_true(result.weight == total);
            memset(wanted, 0, sizeof wanted);
            assert_ok(sstore_fingerprint_text(text, size, &options, wanted, &error), &error);
            assert_memory_equal(result.fingerprint, wanted, bits[i / 2] / 8);
        }
        sstore_fingerprinter_free(made);
    }
    testing_done();
}

/* Its defaults, its recipe, and what it has not. */
static void test_minhash_has_options_of_its_own(void **state)
{
    sstore_text_options options = minhash_options(0, SSTORE_WEIGHTING_AUTO), found;
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    sstore_fingerprinter *made;
    sstore_lexicon *lexicon;
    sstore_error error;
    double sums[256];
    char recipe[512], again[512];
    (void)sstore_text_recipe(&options, recipe, sizeof recipe);
    assert_non_null(strstr(recipe, "features=words shingle=2 weights=presence hash=minhash-256 "));
    assert_ok(sstore_fingerprinter_create(&options, &made, &error), &error);
    assert_status(sstore_fingerprinter_text(made, "a b", 3, &result, sums, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_fingerprinter_free(made);
    for (options.fingerprint_bits = 1; options.fingerprint_bits < 1200; options.fingerprint_bits++) {
        const bool is_width = options.fingerprint_bits % 64 == 0 && options.fingerprint_bits <= 1024;
        const size_t length = sstore_text_recipe(&options, recipe, sizeof recipe);
        testing_doing("%u bits", options.fingerprint_bits);
        assert_true((length > 0) == is_width);
        if (!is_width)
            continue;
        assert_ok(sstore_text_options_of_recipe(recipe, NULL, &found, &error), &error);
        (void)sstore_text_recipe(&found, again, sizeof again);
        assert_string_equal(again, recipe);
        assert_int_equal(found.fingerprint_bits, options.fingerprint_bits);
    }
    options = minhash_options(64, SSTORE_WEIGHTING_SUBLINEAR);
    assert_status(sstore_fingerprinter_create(&options, &made, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.weighting = SSTORE_WEIGHTING_AUTO;
    assert_ok(sstore_lexicon_create(&options, &lexicon, &error), &error);
    assert_ok(sstore_lexicon_add_stop_word(lexicon, "the", 3, &error), &error);
    options.lexicon = lexicon;
    assert_ok(sstore_fingerprinter_create(&options, &made, &error), &error);
    sstore_fingerprinter_free(made);
    assert_ok(sstore_lexicon_set_weight(lexicon, "a b", 3, 2, &error), &error);
    assert_status(sstore_fingerprinter_create(&options, &made, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_lexicon_free(lexicon);
    testing_done();
}

/* The options of a recipe have this recipe. */
static void test_options_of_recipes(void **state)
{
    sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT, found;
    sstore_error error;
    char recipe[512], again[512];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * 3 * 2 * 2 * WIDTHS * 5; i++) {
        static const uint32_t shingles[] = {0, 1, 3, 17, 64};
        options.kind = (sstore_feature_kind)(i % 2);
        options.weighting = (sstore_weighting)(1 + i / 2 % 3);
        options.markup = (sstore_markup)(i / 6 % 2);
        options.segmentation = (sstore_segmentation)(i / 12 % 2);
        options.hash = widths[i / 24 % WIDTHS].hash;
        options.fingerprint_bits = widths[i / 24 % WIDTHS].bits;
        options.shingle = shingles[i / 24 / WIDTHS];
        if (sstore_text_recipe(&options, recipe, sizeof recipe) == 0) /* such as characters cut by ICU */
            continue;
        testing_doing("%s", recipe);
        assert_ok(sstore_text_options_of_recipe(recipe, NULL, &found, &error), &error);
        assert_true(sstore_text_recipe(&found, again, sizeof again) > 0);
        assert_string_equal(again, recipe);
        assert_true(found.kind == options.kind && found.weighting == options.weighting);
        count++;
    }
    assert_true(count >= 2 * 3 * 2 * WIDTHS * 5);
}

static void test_recipes_without_options(void **state)
{
    static const struct {
        const char *recipe;
        sstore_status status;
    } cases[] = {
        {"", SSTORE_ERROR_ARGUMENT},
        {"pdq", SSTORE_ERROR_ARGUMENT},
        {"sstore-text-1 ", SSTORE_ERROR_ARGUMENT},
        {"sstore-text-2 features=words shingle=1 weights=sublinear hash=xxh3-64 unicode=15.0.0", SSTORE_ERROR_ARGUMENT},
        {"sstore-text-1 features=lines shingle=1 weights=sublinear hash=xxh3-64 unicode=15.0.0", SSTORE_ERROR_ARGUMENT},
        {"sstore-text-1 features=words shingle=65 weights=sublinear hash=xxh3-64 unicode=1", SSTORE_ERROR_ARGUMENT},
        {"sstore-text-1 features=words shingle=01 weights=sublinear hash=xxh3-64 unicode=1", SSTORE_ERROR_ARGUMENT},
        {"sstore-text-1 features=words shingle=1 weights=sublinear hash=md5 unicode=15.0.0", SSTORE_ERROR_ARGUMENT},
        {"sstore-text-1 features=words shingle=1 weights=sublinear hash=xxh3-64 unicode=1 x", SSTORE_ERROR_ARGUMENT},
        {"sstore-text-1 features=words shingle=1 stop-words=0123456789abcdef weights=sublinear hash=xxh3-64 unicode=1",
         SSTORE_ERROR_ARGUMENT},
        {"sstore-text-1 features=words shingle=1 weights=sublinear hash=xxh3-64 unicode=1.0", SSTORE_ERROR_UNSUPPORTED},
        {"sstore-text-1 features=words shingle=1 weights=sublinear hash=xxh3-64 unicode=", SSTORE_ERROR_UNSUPPORTED},
    };
    sstore_text_options found;
    sstore_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        testing_doing("%s", cases[i].recipe);
        assert_status(sstore_text_options_of_recipe(cases[i].recipe, NULL, &found, &error), cases[i].status, &error);
    }
    assert_status(sstore_text_options_of_recipe(NULL, NULL, &found, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_text_options_of_recipe("", NULL, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
}

static void test_results_of_a_fingerprinter(void **state)
{
    sstore_fingerprinter *made = must_create(&widths[0], WORDS, 3, SSTORE_WEIGHTING_FREQUENCY);
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    sstore_error error;
    assert_ok(sstore_fingerprinter_text(made, "a b\xff c\xe2\x82 d \ufffd e", 16, &result, NULL, &error), &error);
    assert_int_equal(result.feature_count, 3);
    assert_int_equal(result.replaced_count, 2);
    assert_int_equal(*result.fingerprint, fingerprint(WORDS, 3, "a b c d e"));
    assert_ok(sstore_fingerprinter_text(made, NULL, 0, &result, NULL, &error), &error);
    assert_int_equal(result.feature_count, 0);
    assert_int_equal(result.replaced_count, 0);
    assert_int_equal(*result.fingerprint, 0);
    assert_status(sstore_fingerprinter_text(made, NULL, 1, &result, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_fingerprinter_text(made, "", 0, NULL, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_fingerprinter_text(NULL, "", 0, &result, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    sstore_fingerprinter_free(made);
}

/* ----- markup: what is taken away is the matter of unit.markup ----- */

static void test_markup_is_taken_away_before_all_else(void **state)
{
    static const char page[] =
        "<title>\xff</title><p CLASS='\xff'>Na\xc3<b>\xaf</b>ve &Eacute;clair<script>\xff</script>&#xe8;";
    sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
    sstore_fingerprinter *made;
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    sstore_error error;
    uint64_t value;
    for (int kind = WORDS; kind <= CHARS; kind++) {
        options.kind = (sstore_feature_kind)kind;
        options.markup = SSTORE_MARKUP_HTML;
        assert_ok(sstore_fingerprinter_create(&options, &made, &error), &error);
        for (uint32_t times = 0; times < 2; times++) {
            assert_ok(sstore_fingerprinter_text(made, page, strlen(page), &result, NULL, &error), &error);
            assert_int_equal(result.replaced_count, 1); /* what is dropped is not read */
            assert_int_equal(*result.fingerprint, fingerprint(options.kind, 0, "\xff na\u00efve \u00e9clair \u00e8"));
            assert_ok(sstore_fingerprinter_text(made, NULL, 0, &result, NULL, &error), &error);
            assert_int_equal(result.feature_count, 0);
        }
        sstore_fingerprinter_free(made);
        assert_ok(sstore_fingerprint_text("A<b>B</b>", 9, &options, &value, &error), &error);
        assert_int_equal(value, fingerprint(options.kind, 0, "ab"));
        options.markup = SSTORE_MARKUP_NONE;
        assert_ok(sstore_fingerprint_text("A<b>B</b>", 9, &options, &value, &error), &error);
        assert_int_equal(value, fingerprint(options.kind, 0, "a<b>b</b>"));
        assert_int_not_equal(value, fingerprint(options.kind, 0, "ab"));
    }
}

/* ----- near texts have near fingerprints ----- */

static uint32_t distance(sstore_feature_kind kind, uint32_t shingle, const char *a, const char *b)
{
    const uint64_t left = fingerprint(kind, shingle, a), right = fingerprint(kind, shingle, b);
    return sstore_hamming_distance(&left, &right, 64);
}

static void test_near_sentences_are_near(void **state)
{
    static const char mat[] = "the cat sat on the mat", a_mat[] = "the cat sat on a mat";
    static const char cream[] = "we all scream for ice cream";
    for (int kind = WORDS; kind <= CHARS; kind++) {
        uint32_t near = distance((sstore_feature_kind)kind, 0, mat, a_mat);
        assert_true(near <= 16);
        assert_true(distance((sstore_feature_kind)kind, 0, mat, cream) >= near + 10);
        assert_true(distance((sstore_feature_kind)kind, 0, a_mat, cream) >= near + 10);
    }
    assert_true(distance(CHARS, 2, mat, a_mat) <= 7);
}

static void test_near_words_are_near(void **state)
{
    static const char *const others[][2] = {{"banana", "bozo"},
                                            {"banana", "ozone"},
                                            {"cabana", "bozo"},
                                            {"cabana", "ozone"}};
    for (uint32_t shingle = 1; shingle <= 3; shingle++) {
        uint32_t banana = distance(CHARS, shingle, "banana", "cabana"),
                 bozo = distance(CHARS, shingle, "bozo", "ozone");
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            uint32_t far = distance(CHARS, shingle, others[i][0], others[i][1]);
            assert_true(far > banana && far > bozo);
        }
    }
}

/* ----- the definition: the values of format-spec/fingerprint.md, which must never change under this recipe ----- */

static void test_values_of_the_specification(void **state)
{
    static const char fox[] = "The quick brown fox jumps over the lazy dog.";
    assert_int_equal(fingerprint(WORDS, 3, "Hello"), UINT64_C(0x9555e8555c62dcfd));
    assert_int_equal(fingerprint(WORDS, 3, fox), UINT64_C(0x5cc1c8efc0c9b905));
    assert_int_equal(fingerprint(CHARS, 4, fox), UINT64_C(0x99b2a50054a01714));
    /* "We all love ice cream" in Chinese. */
    assert_int_equal(fingerprint(WORDS, 3, "\u6211\u4eec\u90fd\u7231\u51b0\u6dc7\u6dcb"), UINT64_C(0x43b504141002d098));
    assert_int_equal(fingerprint(WORDS, 2, "Don't STOP: \u00c9clair \u2014 e\u0301clair, 2nd try"),
                     UINT64_C(0x63404dc084844060));
}

/* ----- options and recipes ----- */

static void test_options_out_of_range_are_refused(void **state)
{
    sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
    sstore_error error;
    uint64_t value;
    char recipe[8] = "before";
    options.shingle = 65;
    assert_status(sstore_fingerprint_text("a", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_int_equal(sstore_text_recipe(&options, recipe, sizeof recipe), 0);
    assert_string_equal(recipe, "");
    options.shingle = 64;
    assert_ok(sstore_fingerprint_text("a", 1, &options, &value, &error), &error);
    options.kind = (sstore_feature_kind)2;
    assert_status(sstore_fingerprint_text("a", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    options = (sstore_text_options)SSTORE_TEXT_OPTIONS_INIT;
    options.weighting = (sstore_weighting)4;
    assert_status(sstore_fingerprint_text("a", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    options = (sstore_text_options)SSTORE_TEXT_OPTIONS_INIT;
    options.markup = (sstore_markup)2;
    assert_status(sstore_fingerprint_text("a", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    options = (sstore_text_options)SSTORE_TEXT_OPTIONS_INIT;
    options.reserved = 1;
    assert_status(sstore_fingerprint_text("a", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    options = (sstore_text_options){.struct_size = 0};
    assert_status(sstore_fingerprint_text("a", 1, &options, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_fingerprint_text(NULL, 1, NULL, &value, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_fingerprint_text("a", 1, NULL, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
}

static void test_recipes_tell_the_options(void **state)
{
    sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
    char recipe[128], cut[10];
    size_t length = sstore_text_recipe(NULL, recipe, sizeof recipe);
    assert_int_equal(length, strlen(recipe));
    assert_int_equal(strncmp(recipe,
                             "sstore-text-1 features=words shingle=1 weights=sublinear hash=xxh3-64 unicode=", 78),
                     0);
    assert_int_equal(sstore_text_recipe(&options, NULL, 0), length);
    assert_int_equal(sstore_text_recipe(&options, cut, sizeof cut), length);
    assert_string_equal(cut, "sstore-te");
    options.kind = CHARS;
    sstore_text_recipe(&options, recipe, sizeof recipe);
    assert_non_null(strstr(recipe, " features=chars shingle=4 "));
    assert_null(strstr(recipe, "markup"));
    assert_null(strstr(recipe, "segment"));
    options.shingle = 11;
    options.markup = SSTORE_MARKUP_HTML;
    options.weighting = SSTORE_WEIGHTING_FREQUENCY;
    sstore_text_recipe(&options, recipe, sizeof recipe);
    assert_non_null(strstr(recipe, " weights=frequency markup=html hash="));
    assert_non_null(strstr(recipe, " features=chars shingle=11 "));
}

static void test_without_utf8proc_text_is_unsupported(void **state)
{
    sstore_error error;
    uint64_t value;
    char recipe[8];
    assert_status(sstore_fingerprint_text("a", 1, NULL, &value, &error), SSTORE_ERROR_UNSUPPORTED, &error);
    assert_int_equal(sstore_text_recipe(NULL, recipe, sizeof recipe), 0);
}

int main(void)
{
    const struct CMUnitTest without[] = {cmocka_unit_test(test_without_utf8proc_text_is_unsupported)};
    if (ss_fold_unicode_version() == NULL)
        return cmocka_run_group_tests(without, NULL, NULL);
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_words_are_runs_of_letters_marks_and_numbers, testing_teardown),
        cmocka_unit_test_teardown(test_shingles_are_words_joined_by_one_space, testing_teardown),
        cmocka_unit_test_teardown(test_few_words_are_one_feature, testing_teardown),
        cmocka_unit_test(test_no_words_give_zero),
        cmocka_unit_test_teardown(test_scripts_without_spaces_give_pairs_of_characters, testing_teardown),
        cmocka_unit_test_teardown(test_what_is_not_seen_is_dropped, testing_teardown),
        cmocka_unit_test_teardown(test_chars_fold_white_space_and_case, testing_teardown),
        cmocka_unit_test_teardown(test_invalid_bytes_are_replacement_characters, testing_teardown),
        cmocka_unit_test(test_utf8_round_trip),
        cmocka_unit_test_teardown(test_equivalent_texts_have_one_fingerprint, testing_teardown),
        cmocka_unit_test_teardown(test_settled_points_keep_their_promise, testing_teardown),
        cmocka_unit_test_teardown(test_ascii_equals_the_plain_way, testing_teardown),
        cmocka_unit_test_teardown(test_any_text_equals_the_plain_way, testing_teardown),
        cmocka_unit_test(test_no_space_is_lost_between_batches),
        cmocka_unit_test(test_a_word_longer_than_any_buffer),
        cmocka_unit_test(test_a_letter_under_a_million_marks),
        cmocka_unit_test(test_near_sentences_are_near),
        cmocka_unit_test(test_near_words_are_near),
        cmocka_unit_test_teardown(test_weights_by_frequency, testing_teardown),
        cmocka_unit_test_teardown(test_weights_of_many_features, testing_teardown),
        cmocka_unit_test_teardown(test_minhash_is_of_the_features, testing_teardown),
        cmocka_unit_test_teardown(test_minhash_has_options_of_its_own, testing_teardown),
        cmocka_unit_test_teardown(test_features_are_known_by_64_bits, testing_teardown),
        cmocka_unit_test_teardown(test_one_call, testing_teardown),
        cmocka_unit_test(test_widths_that_a_hash_lacks),
        cmocka_unit_test(test_recipes_name_the_hash),
        cmocka_unit_test(test_options_of_recipes),
        cmocka_unit_test(test_recipes_without_options),
        cmocka_unit_test(test_results_of_a_fingerprinter),
        cmocka_unit_test(test_markup_is_taken_away_before_all_else),
        cmocka_unit_test(test_values_of_the_specification),
        cmocka_unit_test(test_options_out_of_range_are_refused),
        cmocka_unit_test(test_recipes_tell_the_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
