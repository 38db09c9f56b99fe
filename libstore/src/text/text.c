/* text.c - fingerprints of texts: the calls of sstore_text.h. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sums.h"
#include "text/feature_set.h"
#include "text/features.h"
#include "text/markup.h"
#include "text/segmenter.h"

struct sstore_fingerprinter {
    sstore_weighting weighting;
    sstore_markup markup_kind;
    ss_markup markup; /* the text without it */
    ss_features features;
    ss_feature_set set; /* of one text; used if features are weighted by more than how often they occur */
    ss_sums sums;
    uint64_t feature_count;
};

/* ----- options ----- */

static const char *const kind_names[] = {[SSTORE_FEATURE_KIND_WORDS] = "words", [SSTORE_FEATURE_KIND_CHARS] = "chars"};
static const char *const weighting_names[] = {[SSTORE_WEIGHTING_FREQUENCY] = "frequency",
                                              [SSTORE_WEIGHTING_SUBLINEAR] = "sublinear",
                                              [SSTORE_WEIGHTING_PRESENCE] = "presence"};

/* Check the options (NULL: the defaults), and set the default shingle. */
static sstore_status take_options(sstore_text_options *taken, const sstore_text_options *options, sstore_error *error)
{
    *taken = (sstore_text_options)SSTORE_TEXT_OPTIONS_INIT;
    sstore_status status = ss_take_options(taken, sizeof *taken, options, SS_TEXT_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    if (taken->kind != SSTORE_FEATURE_KIND_WORDS && taken->kind != SSTORE_FEATURE_KIND_CHARS)
        return ss_fail_argument(error, "feature kind %d does not exist", (int)taken->kind);
    if (taken->weighting != SSTORE_WEIGHTING_FREQUENCY && taken->weighting != SSTORE_WEIGHTING_SUBLINEAR &&
        taken->weighting != SSTORE_WEIGHTING_PRESENCE)
        return ss_fail_argument(error, "weighting %d does not exist", (int)taken->weighting);
    if (taken->shingle > SS_MAX_SHINGLE)
        return ss_fail_argument(error, "the shingle is %u; it must be at most %u", taken->shingle, SS_MAX_SHINGLE);
    if (taken->markup != SSTORE_MARKUP_NONE && taken->markup != SSTORE_MARKUP_HTML)
        return ss_fail_argument(error, "markup %d does not exist", (int)taken->markup);
    if (taken->segmentation != SSTORE_SEGMENTATION_PAIRS && taken->segmentation != SSTORE_SEGMENTATION_ICU)
        return ss_fail_argument(error, "segmentation %d does not exist", (int)taken->segmentation);
    if (taken->segmentation != SSTORE_SEGMENTATION_PAIRS && taken->kind != SSTORE_FEATURE_KIND_WORDS)
        return ss_fail_argument(error, "segmentation finds words, but the features are characters");
    if (taken->reserved != 0)
        return ss_fail_argument(error, "the reserved field of the options is not 0");
    if (taken->shingle == 0)
        taken->shingle = taken->kind == SSTORE_FEATURE_KIND_WORDS ? 3 : 4;
    return SSTORE_OK;
}

#define SEGMENTATION_BYTES (sizeof " segment=icu-" + SS_SEGMENTER_VERSION_BYTES)

/* Write the field of the segmentation, with a space before it, or "" for pairs. */
static sstore_status describe_segmentation(const sstore_text_options *taken, char field[SEGMENTATION_BYTES])
{
    char version[SS_SEGMENTER_VERSION_BYTES];
    field[0] = '\0';
    if (taken->segmentation == SSTORE_SEGMENTATION_PAIRS)
        return SSTORE_OK;
    const sstore_status status = ss_segmenter_version(version, NULL);
    if (status == SSTORE_OK)
        (void)snprintf(field, SEGMENTATION_BYTES, " segment=icu-%s", version);
    return status;
}

size_t sstore_text_recipe(const sstore_text_options *options, char *buffer, size_t size)
{
    sstore_text_options taken;
    char segmentation[SEGMENTATION_BYTES];
    if (size > 0)
        buffer[0] = '\0';
    if (take_options(&taken, options, NULL) != SSTORE_OK || ss_fold_unicode_version() == NULL ||
        describe_segmentation(&taken, segmentation) != SSTORE_OK)
        return 0; /* no valid recipe */
    int length = snprintf(buffer, size, "sstore-text-1 features=%s shingle=%u%s weights=%s%s hash=xxh3-64 unicode=%s",
                          kind_names[taken.kind], taken.shingle, segmentation, weighting_names[taken.weighting],
                          taken.markup == SSTORE_MARKUP_HTML ? " markup=html" : "", ss_fold_unicode_version());
    return length < 0 ? 0 : (size_t)length;
}

/* ----- fingerprinters ----- */

static sstore_status init(sstore_fingerprinter *self, const sstore_text_options *options, sstore_error *error)
{
    sstore_text_options taken;
    sstore_status status = take_options(&taken, options, error);
    if (status == SSTORE_OK && ss_fold_unicode_version() == NULL)
        status = ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                         "this library was built without utf8proc; it can fingerprint weighted features, but no text");
    if (status != SSTORE_OK)
        return status;
    self->weighting = taken.weighting;
    self->markup_kind = taken.markup;
    self->markup = (ss_markup){0};
    self->set = (ss_feature_set){.count = 0};
    const ss_text_rules rules = {.kind = taken.kind, .shingle = taken.shingle, .segmentation = taken.segmentation};
    return ss_features_init(&self->features, &rules, error);
}

static void destroy(sstore_fingerprinter *self)
{
    ss_markup_free(&self->markup);
    ss_features_free(&self->features);
    ss_feature_set_free(&self->set);
}

/* The sink of features that each count as often as they occur. */
static sstore_status take_ones(void *context, const uint64_t *hashes, size_t count, sstore_error *error)
{
    sstore_fingerprinter *self = context;
    (void)error;
    ss_sums_add_ones(&self->sums, hashes, count);
    self->feature_count += count;
    return SSTORE_OK;
}

/* The sink of features that must be counted first. */
static sstore_status take_counted(void *context, const uint64_t *hashes, size_t count, sstore_error *error)
{
    sstore_fingerprinter *self = context;
    self->feature_count += count;
    return ss_feature_set_add(&self->set, hashes, count, error);
}

static double weight_of(const sstore_fingerprinter *self, const ss_counted_feature *feature)
{
    return self->weighting == SSTORE_WEIGHTING_PRESENCE ? 1 : 1 + log2((double)feature->count);
}

static sstore_status find_sums(sstore_fingerprinter *self, const uint8_t *text, size_t size, sstore_error *error)
{
    if (self->markup_kind == SSTORE_MARKUP_HTML) {
        const sstore_status removed = ss_markup_remove(&self->markup, text, size, error);
        if (removed != SSTORE_OK)
            return removed;
        text = self->markup.bytes;
        size = self->markup.size;
    }
    const bool counted = self->weighting != SSTORE_WEIGHTING_FREQUENCY;
    const ss_feature_sink sink = {counted ? take_counted : take_ones, self};
    self->feature_count = 0;
    ss_sums_init(&self->sums);
    if (counted)
        ss_feature_set_clear(&self->set);
    const sstore_status status = ss_features_find(&self->features, text, size, true, sink, error);
    for (size_t i = 0; counted && i < self->set.count; i++)
        ss_sums_add(&self->sums, self->set.items[i].hash, weight_of(self, &self->set.items[i]));
    return status;
}

sstore_status sstore_fingerprinter_create(const sstore_text_options *options, sstore_fingerprinter **fingerprinter_out,
                                          sstore_error *error)
{
    if (fingerprinter_out == NULL)
        return ss_fail_argument(error, "fingerprinter_out must not be NULL");
    *fingerprinter_out = NULL;
    sstore_fingerprinter *self = ss_realloc(NULL, 1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    const sstore_status status = init(self, options, error);
    if (status == SSTORE_OK)
        *fingerprinter_out = self;
    else
        ss_free(self);
    return status;
}

sstore_status sstore_fingerprinter_text(sstore_fingerprinter *fingerprinter, const char *text, size_t size,
                                        sstore_text_result *result_out, double *sums_out, sstore_error *error)
{
    if ((text == NULL && size > 0) || fingerprinter == NULL || result_out == NULL)
        return ss_fail_argument(error, "fingerprinter, text and result_out must not be NULL");
    sstore_status status = ss_check_result(result_out, SS_TEXT_RESULT_SIZE_1, error);
    if (status == SSTORE_OK)
        status = find_sums(fingerprinter, (const uint8_t *)text, size, error);
    if (status != SSTORE_OK)
        return status;
    if (sums_out != NULL)
        ss_sums_values(&fingerprinter->sums, sums_out);
    const sstore_text_result made = {.struct_size = sizeof made,
                                     .fingerprint = ss_sums_fingerprint(&fingerprinter->sums),
                                     .feature_count = fingerprinter->feature_count,
                                     .replaced_count = fingerprinter->features.replaced_count};
    return ss_give_result(result_out, &made, sizeof made, SS_TEXT_RESULT_SIZE_1, error);
}

void sstore_fingerprinter_free(sstore_fingerprinter *fingerprinter)
{
    if (fingerprinter != NULL)
        destroy(fingerprinter);
    ss_free(fingerprinter);
}

sstore_status sstore_fingerprint_text(const char *text, size_t size, const sstore_text_options *options,
                                      uint64_t *fingerprint_out, sstore_error *error)
{
    sstore_fingerprinter self; /* some 60 KiB */
    if ((text == NULL && size > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "text and fingerprint_out must not be NULL");
    sstore_status status = init(&self, options, error);
    if (status != SSTORE_OK)
        return status;
    status = find_sums(&self, (const uint8_t *)text, size, error);
    if (status == SSTORE_OK)
        *fingerprint_out = ss_sums_fingerprint(&self.sums);
    destroy(&self);
    return status;
}
