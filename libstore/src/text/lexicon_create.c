/*
 * lexicon_create.c - makes lexicons: takes stop words, weights of features and tables of document frequencies.
 * lexicon.c looks features up in them.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sums.h"
#include "text/lexicon.h"
#include "text/text_options.h"

#define MAX_LEVELS 255u

/* ----- reading entries ----- */

/* The hashes of a text; only the first is kept. */
typedef struct first_hash {
    uint64_t hash, count;
} first_hash;

static sstore_status take_first_hash(void *context, const uint64_t *hashes, size_t count, sstore_error *error)
{
    first_hash *self = context;
    (void)error;
    if (self->count == 0)
        self->hash = hashes[0];
    self->count += count;
    return SSTORE_OK;
}

/* Find the only feature of a text by these rules. ARGUMENT with the message `unless`, MEMORY. */
static sstore_status find_only(const ss_text_rules *rules, const char *text, size_t size, const char *unless,
                               uint64_t *hash_out, sstore_error *error)
{
    ss_features *features = ss_realloc(NULL, 1, sizeof *features);
    first_hash found = {0, 0};
    if (features == NULL)
        return ss_fail_memory(error, sizeof *features);
    sstore_status status = ss_features_init(features, rules, error);
    if (status != SSTORE_OK) {
        ss_free(features);
        return status;
    }
    status = ss_features_find(features, (const uint8_t *)text, size, true, (ss_feature_sink){take_first_hash, &found},
                              error);
    ss_features_free(features);
    ss_free(features);
    if (status == SSTORE_OK && found.count != 1)
        status = ss_fail_argument(error, "%s", unless);
    *hash_out = found.hash;
    return status;
}

sstore_status sstore_lexicon_create(const sstore_text_options *options, sstore_lexicon **lexicon_out,
                                    sstore_error *error)
{
    if (lexicon_out == NULL)
        return ss_fail_argument(error, "lexicon_out must not be NULL");
    *lexicon_out = NULL;
    sstore_lexicon *self = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    sstore_status status = ss_text_options_take(options, &self->options, error);
    if (status == SSTORE_OK && self->options.lexicon != NULL)
        status = ss_fail_argument(error, "the lexicon of a lexicon's options must be NULL");
    if (status != SSTORE_OK) {
        ss_free(self);
        return status;
    }
    self->options.lexicon = self;
    self->options.hash = SSTORE_FEATURE_HASH_XXH3; /* entries are known by their 64-bit hashes */
    self->options.fingerprint_bits = 64;
    *lexicon_out = self;
    return SSTORE_OK;
}

sstore_status sstore_lexicon_add_stop_word(sstore_lexicon *lexicon, const char *word, size_t size, sstore_error *error)
{
    uint64_t hash;
    if (lexicon == NULL || (word == NULL && size > 0))
        return ss_fail_argument(error, "lexicon and word must not be NULL");
    if (lexicon->options.kind != SSTORE_FEATURE_KIND_WORDS)
        return ss_fail_argument(error, "stop words are for features of words");
    if (lexicon->weighted.count > 0 || lexicon->has_frequencies)
        return ss_fail_argument(error, "stop words must be added before weights");
    const ss_text_rules rules = {.kind = SSTORE_FEATURE_KIND_WORDS,
                                 .shingle = 1,
                                 .spaceless_shingle = 1,
                                 .segmentation = lexicon->options.segmentation};
    const sstore_status status = find_only(
        &rules, word, size,
        "a stop word must be one word, or, in scripts without spaces that are not cut into words, one character", &hash,
        error);
    return status == SSTORE_OK && ss_feature_set_find(&lexicon->stop_words, hash) == NULL
               ? ss_feature_set_add(&lexicon->stop_words, &hash, 1, error)
               : status;
}

sstore_status sstore_lexicon_set_weight(sstore_lexicon *lexicon, const char *feature, size_t size, double weight,
                                        sstore_error *error)
{
    uint64_t hash;
    if (lexicon == NULL || (feature == NULL && size > 0))
        return ss_fail_argument(error, "lexicon and feature must not be NULL");
    if (!(fabs(weight) <= SS_MAX_WEIGHT)) /* also NaN */
        return ss_fail_argument(error, "the weight is %g; it must be a number from -2^31 to 2^31", weight);
    const ss_text_rules rules = ss_text_rules_of(&lexicon->options);
    sstore_status status = find_only(&rules, feature, size, "the text is not exactly one feature", &hash, error);
    if (status != SSTORE_OK)
        return status;
    const sstore_counted_feature *known = ss_feature_set_find(&lexicon->weighted, hash);
    const size_t at = known != NULL ? (size_t)(known - lexicon->weighted.items) : lexicon->weighted.count;
    double *weights = ss_grow(lexicon->weights, at, &lexicon->weight_capacity, 64, sizeof *weights);
    if (weights == NULL)
        return ss_fail_memory(error, lexicon->weight_capacity * sizeof *weights);
    lexicon->weights = weights;
    if (known == NULL)
        status = ss_feature_set_add(&lexicon->weighted, &hash, 1, error);
    if (status == SSTORE_OK)
        weights[at] = ss_weight_rounded(weight);
    return status;
}

/* ----- document frequencies ----- */

static sstore_status check_recipe(const sstore_lexicon *lexicon, const ss_frequencies *table, sstore_error *error)
{
    char expected[SS_MAX_RECIPE + 1];
    const size_t length = ss_text_recipe_write(&lexicon->options, true, expected, sizeof expected);
    assert(length < sizeof expected);
    if (length == table->head.recipe_size && memcmp(expected, table->recipe, length) == 0)
        return SSTORE_OK;
    char found[2 * SS_MAX_RECIPE];
    sstore_escape(table->recipe, table->head.recipe_size, false, found, sizeof found);
    return ss_fail_argument(error, "the table of document frequencies is of other features: '%s' instead of '%s'",
                            found, expected);
}

sstore_status sstore_lexicon_use_frequencies(sstore_lexicon *lexicon, const void *table, size_t size, uint32_t levels,
                                             sstore_error *error)
{
    ss_frequencies opened;
    if (lexicon == NULL || table == NULL)
        return ss_fail_argument(error, "lexicon and table must not be NULL");
    if (levels == 1 || levels > MAX_LEVELS)
        return ss_fail_argument(error, "there must be 2 to %u levels, or 0 for none", MAX_LEVELS);
    sstore_status status = ss_frequencies_open(&opened, table, size, error);
    if (status != SSTORE_OK)
        return status;
    status = check_recipe(lexicon, &opened, error);
    if (status != SSTORE_OK) {
        ss_frequencies_close(&opened);
        return status;
    }
    ss_lexicon_set_frequencies(lexicon, &opened, levels);
    return SSTORE_OK;
}
