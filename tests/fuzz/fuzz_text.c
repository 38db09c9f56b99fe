/*
 * fuzz_text.c - any bytes as a text. Its features must be those that folding it as one piece gives; without its markup
 * it must not be longer, and a text without markup must stay as it is. If it has few features, its fingerprint must be
 * that of the different ones, and so must its MinHash.
 *   1 byte: words or characters; whether markup is taken away; whether ICU cuts words, if it is there; the shingle;
 *   then the text, whose size also chooses the hash: XXH3 of 64 or 128 bits, or java128
 */
#include "base/sums.h"
#include "support/fuzzing.h"
#include "text/features.h"
#include "text/markup.h"

#define MAX_BITS (64 * SS_FEATURE_HASH_WORDS)
#define FEW_FEATURES 300u
#define MINHASH_BITS 192u

typedef struct found_features {
    const ss_features *from;
    uint32_t words;
    ss_sums sums[SS_FEATURE_HASH_WORDS];
    size_t count;
    uint64_t first[FEW_FEATURES][SS_FEATURE_HASH_WORDS]; /* the words of the first features */
} found_features;

static sstore_status take_features(void *context, const uint64_t *hashes, size_t count, sstore_error *error)
{
    found_features *self = context;
    (void)error;
    for (uint32_t word = 0; word < self->words; word++) {
        const uint64_t *column = self->words > 1 ? ss_features_words(self->from, word) : hashes;
        ss_sums_add_ones(&self->sums[word], column, count);
        for (size_t i = 0; i < count && self->count + i < FEW_FEATURES; i++)
            self->first[self->count + i][word] = column[i];
    }
    self->count += count;
    return SSTORE_OK;
}

/* What the features come to, in whatever order. */
static void find_sums(ss_features *features, const uint8_t *text, size_t size, bool shortcuts, found_features *found,
                      double sums[MAX_BITS])
{
    found->from = features;
    found->words = features->rules.hash.words;
    found->count = 0;
    for (uint32_t word = 0; word < found->words; word++)
        ss_sums_init(&found->sums[word]);
    FUZZ_CHECK(ss_features_find(features, text, size, shortcuts, (ss_feature_sink){take_features, found}, NULL) ==
               SSTORE_OK);
    for (uint32_t word = 0; word < found->words; word++)
        ss_sums_values(&found->sums[word], sums + (size_t)64 * word);
}

/* Keep the different features alone, and count them. */
static size_t drop_repeated(found_features *found)
{
    const size_t bytes = found->words * sizeof(uint64_t);
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        size_t at = 0;
        while (at < kept && memcmp(found->first[at], found->first[i], bytes) != 0)
            at++;
        if (at == kept)
            memmove(found->first[kept++], found->first[i], bytes);
    }
    return kept;
}

/* The MinHash is that of the different features. */
static void check_minhash(sstore_text_options options, const found_features *found, size_t different,
                          const uint8_t *text, size_t size)
{
    uint64_t hashes[FEW_FEATURES], made[MINHASH_BITS / 64], wanted[MINHASH_BITS / 64];
    for (size_t i = 0; i < different; i++)
        hashes[i] = found->first[i][0];
    options.hash = SSTORE_FEATURE_HASH_MINHASH;
    options.fingerprint_bits = MINHASH_BITS;
    FUZZ_CHECK(sstore_minhash_hashes(hashes, NULL, different, MINHASH_BITS, wanted, NULL) == SSTORE_OK);
    FUZZ_CHECK(sstore_fingerprint_text((const char *)text, size, &options, made, NULL) == SSTORE_OK);
    FUZZ_CHECK(memcmp(made, wanted, sizeof made) == 0);
}

/* The fingerprint in which each feature counts once is that of the different features. */
static void check_presence(const ss_text_rules *rules, found_features *found, const uint8_t *text, size_t size)
{
    const sstore_text_options options = {.struct_size = sizeof options,
                                         .kind = rules->kind,
                                         .shingle = rules->shingle,
                                         .weighting = SSTORE_WEIGHTING_PRESENCE,
                                         .segmentation = rules->segmentation,
                                         .hash = rules->hash.kind,
                                         .fingerprint_bits = 64 * rules->hash.words};
    sstore_fingerprinter *maker;
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    if (found->count > FEW_FEATURES)
        return;
    const size_t different = drop_repeated(found);
    FUZZ_CHECK(sstore_fingerprinter_create(&options, &maker, NULL) == SSTORE_OK);
    FUZZ_CHECK(sstore_fingerprinter_text(maker, (const char *)text, size, &result, NULL, NULL) == SSTORE_OK);
    FUZZ_CHECK(result.feature_count == found->count);
    for (uint32_t word = 0; word < found->words; word++) {
        ss_sums sums;
        ss_sums_init(&sums);
        for (size_t i = 0; i < different; i++)
            ss_sums_add(&sums, found->first[i][word], 1);
        FUZZ_CHECK(result.fingerprint[word] == ss_sums_fingerprint(&sums, ss_feature_hash_sets_ties(&rules->hash)));
    }
    sstore_fingerprinter_free(maker);
    if (rules->hash.words == 1)
        check_minhash(options, found, different, text, size);
}

static void check_features(const ss_text_rules *rules, const uint8_t *text, size_t size)
{
    ss_features features;
    double fast[MAX_BITS], plain[MAX_BITS];
    found_features found;
    if (ss_features_init(&features, rules, NULL) != SSTORE_OK) {
        FUZZ_CHECK(rules->segmentation == SSTORE_SEGMENTATION_ICU); /* there is no ICU */
        return;
    }
    find_sums(&features, text, size, true, &found, fast);
    find_sums(&features, text, size, false, &found, plain);
    for (size_t i = 0; i < (size_t)64 * rules->hash.words; i++)
        FUZZ_CHECK(fast[i] == plain[i]);
    check_presence(rules, &found, text, size);
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

static ss_feature_hash hash_by(size_t size)
{
    static const ss_feature_hash hashes[] = {{SSTORE_FEATURE_HASH_XXH3, 1},
                                             {SSTORE_FEATURE_HASH_XXH3, 2},
                                             {SSTORE_FEATURE_HASH_JAVA128, 2}};
    return hashes[size % 3];
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
    rules.hash = hash_by(left);
    uint8_t *text = fuzz_take_rest(&input, left);
    if (choice & 2)
        text = without_markup(text, &left);
    check_features(&rules, text, left);
    free(text);
    return 0;
}
