/* text.c - fingerprints of texts: the calls of sstore_text.h. */
#include <stdio.h>

#include "base/bitcount.h"
#include "base/error.h"
#include "text/features.h"

/* Check the options (NULL: the defaults), and set the default shingle. */
static sstore_status take_options(sstore_text_options *taken, const sstore_text_options *options, sstore_error *error)
{
    *taken = (sstore_text_options)SSTORE_TEXT_OPTIONS_INIT;
    sstore_status status = ss_take_options(taken, sizeof *taken, options, SS_TEXT_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    if (taken->kind != SSTORE_FEATURE_KIND_WORDS && taken->kind != SSTORE_FEATURE_KIND_CHARS)
        return ss_fail_argument(error, "feature kind %d does not exist", (int)taken->kind);
    if (taken->shingle > SS_MAX_SHINGLE)
        return ss_fail_argument(error, "the shingle is %u; it must be at most %u", taken->shingle, SS_MAX_SHINGLE);
    if (taken->shingle == 0)
        taken->shingle = taken->kind == SSTORE_FEATURE_KIND_WORDS ? 3 : 4;
    return SSTORE_OK;
}

typedef struct unit_counter {
    ss_bit_counter bits;
    uint64_t count;
} unit_counter;

static sstore_status count_features(void *self, const uint64_t *hashes, size_t count, sstore_error *error)
{
    unit_counter *counter = self;
    (void)error;
    ss_bit_counter_add_many(&counter->bits, hashes, count);
    counter->count += count;
    return SSTORE_OK;
}

sstore_status sstore_fingerprint_text(const char *text, size_t size, const sstore_text_options *options,
                                      uint64_t *fingerprint_out, sstore_error *error)
{
    sstore_text_options taken;
    if ((text == NULL && size > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "text and fingerprint_out must not be NULL");
    sstore_status status = take_options(&taken, options, error);
    if (status != SSTORE_OK)
        return status;
    if (ss_fold_unicode_version() == NULL)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                       "this library was built without utf8proc; it can fingerprint weighted features, but no text");
    ss_features features;
    unit_counter counter;
    ss_bit_counter_init(&counter.bits);
    counter.count = 0;
    ss_features_init(&features, &(ss_text_rules){.kind = taken.kind, .shingle = taken.shingle});
    status = ss_features_find(&features, (const uint8_t *)text, size, true, (ss_feature_sink){count_features, &counter},
                              error);
    if (status == SSTORE_OK)
        *fingerprint_out = ss_bit_counter_above(&counter.bits, counter.count / 2); /* more ones than zeros */
    ss_features_free(&features);
    return status;
}

size_t sstore_text_recipe(const sstore_text_options *options, char *buffer, size_t size)
{
    sstore_text_options taken;
    if (size > 0)
        buffer[0] = '\0';
    if (take_options(&taken, options, NULL) != SSTORE_OK || ss_fold_unicode_version() == NULL)
        return 0; /* no valid recipe */
    int length = snprintf(buffer, size, "sstore-text-1 features=%s shingle=%u hash=xxh3-64 unicode=%s",
                          taken.kind == SSTORE_FEATURE_KIND_WORDS ? "words" : "chars", taken.shingle,
                          ss_fold_unicode_version());
    return length < 0 ? 0 : (size_t)length;
}
