#include "text/text_options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/lexicon.h"

static const char *const kind_names[] = {[SSTORE_FEATURE_KIND_WORDS] = "words", [SSTORE_FEATURE_KIND_CHARS] = "chars"};
static const char *const weighting_names[] = {[SSTORE_WEIGHTING_FREQUENCY] = "frequency",
                                              [SSTORE_WEIGHTING_SUBLINEAR] = "sublinear",
                                              [SSTORE_WEIGHTING_PRESENCE] = "presence"};

static sstore_status check_options(const sstore_text_options *options, sstore_error *error)
{
    if (options->kind != SSTORE_FEATURE_KIND_WORDS && options->kind != SSTORE_FEATURE_KIND_CHARS)
        return ss_fail_argument(error, "feature kind %d does not exist", (int)options->kind);
    if ((unsigned)options->weighting > SSTORE_WEIGHTING_PRESENCE)
        return ss_fail_argument(error, "weighting %d does not exist", (int)options->weighting);
    if (options->hash == SSTORE_FEATURE_HASH_MINHASH && options->weighting == SSTORE_WEIGHTING_SUBLINEAR)
        return ss_fail_argument(error, "a MinHash knows no sublinear weights, only presence and frequency");
    if (options->shingle > SS_MAX_SHINGLE)
        return ss_fail_argument(error, "the shingle is %u; it must be at most %u", options->shingle, SS_MAX_SHINGLE);
    if (options->markup != SSTORE_MARKUP_NONE && options->markup != SSTORE_MARKUP_HTML)
        return ss_fail_argument(error, "markup %d does not exist", (int)options->markup);
    if (options->segmentation != SSTORE_SEGMENTATION_PAIRS && options->segmentation != SSTORE_SEGMENTATION_ICU)
        return ss_fail_argument(error, "segmentation %d does not exist", (int)options->segmentation);
    if (options->segmentation != SSTORE_SEGMENTATION_PAIRS && options->kind != SSTORE_FEATURE_KIND_WORDS)
        return ss_fail_argument(error, "segmentation finds words, but the features are characters");
    if (options->reserved != 0)
        return ss_fail_argument(error, "the reserved field of the options is not 0");
    ss_feature_hash unused;
    return ss_feature_hash_choose(options->hash, options->fingerprint_bits, &unused, error);
}

static void choose_defaults(sstore_text_options *options)
{
    const bool is_minhash = options->hash == SSTORE_FEATURE_HASH_MINHASH;
    if (options->shingle == 0)
        options->shingle = options->kind == SSTORE_FEATURE_KIND_CHARS ? 4 : is_minhash ? 2 : 1;
    if (options->weighting == SSTORE_WEIGHTING_AUTO)
        options->weighting = is_minhash ? SSTORE_WEIGHTING_PRESENCE : SSTORE_WEIGHTING_SUBLINEAR;
}

sstore_status ss_text_options_take(const sstore_text_options *options, sstore_text_options *taken_out,
                                   sstore_error *error)
{
    *taken_out = (sstore_text_options)SSTORE_TEXT_OPTIONS_INIT;
    sstore_status status = ss_take_options(taken_out, sizeof *taken_out, options, SS_TEXT_OPTIONS_SIZE_1, error);
    if (status == SSTORE_OK)
        status = check_options(taken_out, error);
    if (status != SSTORE_OK)
        return status;
    choose_defaults(taken_out);
    if (taken_out->hash == SSTORE_FEATURE_HASH_MINHASH && taken_out->lexicon != NULL &&
        ss_lexicon_has_factors(taken_out->lexicon))
        return ss_fail_argument(error, "a MinHash knows no weights of features, but the lexicon has some");
    if (taken_out->lexicon != NULL && !ss_lexicon_fits(taken_out->lexicon, taken_out))
        return ss_fail_argument(error,
                                "the lexicon was made for features of another kind, shingle, segmentation or markup");
    if (ss_fold_unicode_version() == NULL)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                       "this library was built without utf8proc; it can fingerprint weighted features, but no text");
    char version[SS_SEGMENTER_VERSION_BYTES];
    return taken_out->segmentation == SSTORE_SEGMENTATION_ICU ? ss_segmenter_version(version, error) : SSTORE_OK;
}

static ss_feature_hash hash_of(const sstore_text_options *options)
{
    ss_feature_hash hash = {.kind = SSTORE_FEATURE_HASH_XXH3};
    (void)ss_feature_hash_choose(options->hash, options->fingerprint_bits, &hash, NULL); /* it was checked */
    return hash;
}

ss_text_rules ss_text_rules_of(const sstore_text_options *options)
{
    return (ss_text_rules){.kind = options->kind,
                           .shingle = options->shingle,
                           .spaceless_shingle = SS_CHARACTER_PAIR,
                           .segmentation = options->segmentation,
                           .stop_words = options->lexicon != NULL ? ss_lexicon_stop_words(options->lexicon) : NULL,
                           .hash = hash_of(options)};
}

/* A buffer that text is appended to, as far as there is space. */
typedef struct appended {
    char *buffer;
    size_t size, length;
} appended;

__attribute__((format(printf, 2, 3))) static void append(appended *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t left = self->size > self->length ? self->size - self->length : 0;
    const int added = vsnprintf(left > 0 ? self->buffer + self->length : NULL, left, format, arguments);
    va_end(arguments);
    self->length += added > 0 ? (size_t)added : 0;
}

static void append_hash(appended *self, const char *name, uint64_t hash)
{
    append(self, " %s=%016" PRIx64, name, hash);
}

size_t ss_text_recipe_write(const sstore_text_options *options, bool only_features, char *buffer, size_t size)
{
    appended recipe = {buffer, size, 0};
    const ss_lexicon_hashes names = ss_lexicon_hashes_of(options->lexicon);
    char version[SS_SEGMENTER_VERSION_BYTES];
    append(&recipe, "sstore-text-1 features=%s shingle=%u", kind_names[options->kind], options->shingle);
    if (options->segmentation == SSTORE_SEGMENTATION_ICU && ss_segmenter_version(version, NULL) == SSTORE_OK)
        append(&recipe, " segment=icu-%s", version);
    if (names.has_stop_words)
        append_hash(&recipe, "stop-words", names.stop_words);
    if (!only_features) {
        append(&recipe, " weights=%s", weighting_names[options->weighting]);
        if (names.has_weights)
            append_hash(&recipe, "feature-weights", names.weights);
        if (names.has_frequencies)
            append_hash(&recipe, "idf", names.frequencies);
        if (names.levels > 0)
            append(&recipe, " levels=%u", names.levels);
    }
    if (options->markup == SSTORE_MARKUP_HTML)
        append(&recipe, " markup=html");
    const ss_feature_hash known_by = {.kind = SSTORE_FEATURE_HASH_XXH3}, own = hash_of(options);
    char hash[SS_FEATURE_HASH_NAME_BYTES];
    ss_feature_hash_name(only_features ? &known_by : &own, hash);
    append(&recipe, " hash=%s unicode=%s", hash, ss_fold_unicode_version());
    return recipe.length;
}

size_t sstore_text_recipe(const sstore_text_options *options, char *buffer, size_t size)
{
    sstore_text_options taken;
    if (size > 0)
        buffer[0] = '\0';
    return ss_text_options_take(options, &taken, NULL) == SSTORE_OK ? ss_text_recipe_write(&taken, false, buffer, size)
                                                                    : 0;
}

/* ----- from a recipe ----- */

/* The value of a field, and what follows it. "" if there is none. */
static const char *field_of(const char *recipe, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strchr(recipe, ' '); at != NULL; at = strchr(at + 1, ' '))
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] == '=')
            return at + 2 + length;
    return "";
}

static bool is_value(const char *field, const char *value)
{
    const size_t length = strlen(value);
    return strncmp(field, value, length) == 0 && (field[length] == ' ' || field[length] == '\0');
}

static void read_hash(const char *name, sstore_text_options *options)
{
    static const char minhash[] = "minhash-";
    if (strncmp(name, minhash, sizeof minhash - 1) == 0) {
        options->hash = SSTORE_FEATURE_HASH_MINHASH;
        options->fingerprint_bits = (uint32_t)strtoul(name + sizeof minhash - 1, NULL, 10);
    } else {
        options->hash = is_value(name, "java128") ? SSTORE_FEATURE_HASH_JAVA128 : SSTORE_FEATURE_HASH_XXH3;
        options->fingerprint_bits = is_value(name, "xxh3-64") ? 64 : 128;
    }
}

/* What the fields say. Those that make no sense become anything: the recipe is compared with that of the options. */
static sstore_text_options read_fields(const char *recipe, const sstore_lexicon *lexicon)
{
    const char *weights = field_of(recipe, "weights");
    sstore_text_options found = SSTORE_TEXT_OPTIONS_INIT;
    if (is_value(field_of(recipe, "features"), kind_names[SSTORE_FEATURE_KIND_CHARS]))
        found.kind = SSTORE_FEATURE_KIND_CHARS;
    for (int i = SSTORE_WEIGHTING_SUBLINEAR; i <= SSTORE_WEIGHTING_PRESENCE; i++)
        if (is_value(weights, weighting_names[i]))
            found.weighting = (sstore_weighting)i;
    found.shingle = (uint32_t)strtoul(field_of(recipe, "shingle"), NULL, 10);
    found.markup = is_value(field_of(recipe, "markup"), "html") ? SSTORE_MARKUP_HTML : SSTORE_MARKUP_NONE;
    found.segmentation = *field_of(recipe, "segment") != '\0' ? SSTORE_SEGMENTATION_ICU : SSTORE_SEGMENTATION_PAIRS;
    read_hash(field_of(recipe, "hash"), &found);
    found.lexicon = lexicon;
    return found;
}

/* Whether two recipes differ only in versions. */
static bool differ_in_versions(const char *left, const char *right)
{
    static const char *const versions[] = {" unicode=", " segment=icu-"};
    while (*left == *right && *left != '\0') {
        size_t same = 1;
        for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
            const size_t length = strlen(versions[i]);
            if (strncmp(left, versions[i], length) == 0 && strncmp(right, versions[i], length) == 0)
                same = length;
        }
        left += same > 1 ? same + strcspn(left + same, " ") : same;
        right += same > 1 ? same + strcspn(right + same, " ") : same;
    }
    return *left == *right;
}

sstore_status sstore_text_options_of_recipe(const char *recipe, const sstore_lexicon *lexicon,
                                            sstore_text_options *options_out, sstore_error *error)
{
    char own[SS_MAX_RECIPE + 1];
    if (recipe == NULL || options_out == NULL)
        return ss_fail_argument(error, "sstore_text_options_of_recipe: recipe and options_out must not be NULL");
    const sstore_text_options found = read_fields(recipe, lexicon);
    sstore_text_options taken;
    if (strncmp(recipe, "sstore-text-1 ", 14) != 0)
        return ss_fail_argument(error, "'%.200s' is no recipe of texts that this library knows", recipe);
    const sstore_status status = ss_text_options_take(&found, &taken, error);
    if (status != SSTORE_OK)
        return status;
    (void)ss_text_recipe_write(&taken, false, own, sizeof own);
    if (strcmp(recipe, own) == 0) {
        *options_out = taken;
        return SSTORE_OK;
    }
    return ss_fail(error, differ_in_versions(recipe, own) ? SSTORE_ERROR_UNSUPPORTED : SSTORE_ERROR_ARGUMENT, 0, NULL,
                   SSTORE_NO_OFFSET, "the recipe is '%.400s'; here texts would have '%.400s'", recipe, own);
}
