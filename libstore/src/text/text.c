/* text.c - fingerprints of texts: the calls of sstore_text.h. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/minhash.h"
#include "base/sums.h"
#include "text/feature_set.h"
#include "text/features.h"
#include "text/lexicon.h"
#include "text/markup.h"
#include "text/text_options.h"

struct sstore_fingerprinter {
    sstore_weighting weighting;
    const sstore_lexicon *factors; /* NULL: all are 1 */
    sstore_markup markup_kind;
    ss_markup markup; /* the text without it */
    ss_features features;
    ss_feature_set set; /* of one text; used if features are weighted by more than how often they occur */
    ss_sums sums[SS_FEATURE_HASH_WORDS];
    ss_feature_hash hash;
    uint64_t *set_words; /* of a wide hash: those of the features of the set, feature by feature */
    size_t set_words_capacity;
    ss_minhash minhash;
    uint64_t words[SSTORE_MAX_WORDS];
    uint64_t feature_count;
    double weight;
};

static sstore_status init(sstore_fingerprinter *self, const sstore_text_options *options, sstore_error *error)
{
    sstore_text_options taken;
    const sstore_status status = ss_text_options_take(options, &taken, error);
    if (status != SSTORE_OK)
        return status;
    const ss_text_rules rules = ss_text_rules_of(&taken);
    self->weighting = taken.weighting;
    self->factors = taken.lexicon != NULL && ss_lexicon_has_factors(taken.lexicon) ? taken.lexicon : NULL;
    self->markup_kind = taken.markup;
    self->markup = (ss_markup){0};
    self->set = (ss_feature_set){.count = 0};
    self->hash = rules.hash;
    self->set_words = NULL;
    self->set_words_capacity = 0;
    self->minhash = (ss_minhash){.count = 0};
    return ss_features_init(&self->features, &rules, error);
}

static void destroy(sstore_fingerprinter *self)
{
    ss_markup_free(&self->markup);
    ss_features_free(&self->features);
    ss_feature_set_free(&self->set);
    ss_free(self->set_words);
    ss_minhash_free(&self->minhash);
}

/* Find the features of a text, without its markup. */
static sstore_status find_features(sstore_fingerprinter *self, const uint8_t *text, size_t size, ss_feature_sink sink,
                                   sstore_error *error)
{
    if (self->markup_kind == SSTORE_MARKUP_HTML) {
        const sstore_status status = ss_markup_remove(&self->markup, text, size, error);
        if (status != SSTORE_OK)
            return status;
        text = self->markup.bytes;
        size = self->markup.size;
    }
    return ss_features_find(&self->features, text, size, true, sink, error);
}

/* Word `word` of the features that a sink is given with these hashes. */
static const uint64_t *column(const sstore_fingerprinter *self, const uint64_t *hashes, uint32_t word)
{
    return ss_feature_hash_is_wide(&self->hash) ? ss_features_words(&self->features, word) : hashes;
}

/* The sink of features that each count as often as they occur. */
static sstore_status take_ones(void *context, const uint64_t *hashes, size_t count, sstore_error *error)
{
    sstore_fingerprinter *self = context;
    (void)error;
    for (uint32_t i = 0; i < self->hash.words; i++)
        ss_sums_add_ones(&self->sums[i], column(self, hashes, i), count);
    self->feature_count += count;
    return SSTORE_OK;
}

/* Keep the words of the features that are new in the set, from `known` on. These stand there in the order in which they
 * first occur among the hashes. */
static sstore_status keep_words(sstore_fingerprinter *self, const uint64_t *hashes, size_t count, size_t known,
                                sstore_error *error)
{
    const size_t words = self->hash.words, needed = words * self->set.count;
    if (needed > self->set_words_capacity) {
        const size_t capacity = words * self->set.capacity;
        uint64_t *memory = ss_realloc(self->set_words, capacity, sizeof *memory);
        if (memory == NULL)
            return ss_fail_memory(error, capacity * sizeof *memory);
        self->set_words = memory;
        self->set_words_capacity = capacity;
    }
    for (size_t i = 0; known < self->set.count; i++) {
        assert(i < count);
        if (hashes[i] != self->set.items[known].hash)
            continue;
        for (uint32_t word = 0; word < words; word++)
            self->set_words[words * known + word] = column(self, hashes, word)[i];
        known++;
    }
    (void)count;
    return SSTORE_OK;
}

/* The sink of features that must be counted first. */
static sstore_status take_counted(void *context, const uint64_t *hashes, size_t count, sstore_error *error)
{
    sstore_fingerprinter *self = context;
    const size_t known = self->set.count;
    const sstore_status status = ss_feature_set_add(&self->set, hashes, count, error);
    return status == SSTORE_OK && ss_feature_hash_is_wide(&self->hash) ? keep_words(self, hashes, count, known, error)
                                                                       : status;
}

static sstore_status find_set(sstore_fingerprinter *self, const uint8_t *text, size_t size, sstore_error *error)
{
    ss_feature_set_clear(&self->set);
    return find_features(self, text, size, (ss_feature_sink){take_counted, self}, error);
}

/* The weight of feature i of the set. */
static double weight_of(const sstore_fingerprinter *self, size_t i)
{
    const uint64_t count = self->set.items[i].count;
    double weight = 1;
    if (count > 1 && self->weighting == SSTORE_WEIGHTING_SUBLINEAR)
        weight += log2((double)count);
    else if (self->weighting == SSTORE_WEIGHTING_FREQUENCY)
        weight = (double)count;
    if (self->factors != NULL)
        weight *= ss_lexicon_factor(self->factors, self->set.items, self->set.count, i);
    return ss_weight_rounded(fmax(-SS_MAX_WEIGHT, fmin(SS_MAX_WEIGHT, weight)));
}

static void add_to_sums(sstore_fingerprinter *self, size_t i, double weight)
{
    if (!ss_feature_hash_is_wide(&self->hash)) {
        ss_sums_add(&self->sums[0], self->set.items[i].hash, weight);
        return;
    }
    for (uint32_t word = 0; word < self->hash.words; word++)
        ss_sums_add(&self->sums[word], self->set_words[self->hash.words * i + word], weight);
}

/* Add the features of the set, each with its weight. */
static void add_weighted(sstore_fingerprinter *self)
{
    self->feature_count = 0;
    for (size_t i = 0; i < self->set.count; i++) {
        const double weight = weight_of(self, i);
        if (weight == 0)
            continue;
        add_to_sums(self, i, weight);
        self->feature_count += self->set.items[i].count;
        self->weight += fabs(weight);
    }
}

static sstore_status find_sums(sstore_fingerprinter *self, const uint8_t *text, size_t size, sstore_error *error)
{
    const bool simple = self->weighting == SSTORE_WEIGHTING_FREQUENCY && self->factors == NULL;
    self->feature_count = 0;
    self->weight = 0;
    for (uint32_t i = 0; i < self->hash.words; i++)
        ss_sums_init(&self->sums[i]);
    const sstore_status status = simple ? find_features(self, text, size, (ss_feature_sink){take_ones, self}, error)
                                        : find_set(self, text, size, error);
    if (simple)
        self->weight = (double)self->feature_count;
    else
        add_weighted(self);
    return status;
}

static sstore_status make_simhash(sstore_fingerprinter *self, const uint8_t *text, size_t size, sstore_error *error)
{
    const sstore_status status = find_sums(self, text, size, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->hash.words; i++)
        self->words[i] = ss_sums_fingerprint(&self->sums[i], ss_feature_hash_sets_ties(&self->hash));
    return status;
}

/* The sink of features that each count once, however often they occur. */
static sstore_status take_elements(void *context, const uint64_t *hashes, size_t count, sstore_error *error)
{
    sstore_fingerprinter *self = context;
    self->feature_count += count;
    return ss_minhash_add(&self->minhash, hashes, count, error);
}

/* Find the features, and add as many occurrences of each as there are. */
static sstore_status add_occurrences(sstore_fingerprinter *self, const uint8_t *text, size_t size, sstore_error *error)
{
    sstore_status status = find_set(self, text, size, error);
    for (size_t i = 0; status == SSTORE_OK && i < self->set.count; i++) {
        const sstore_counted_feature *item = &self->set.items[i];
        status = ss_minhash_add_times(&self->minhash, item->hash, item->count, error);
        self->feature_count += item->count;
    }
    return status;
}

static sstore_status make_minhash(sstore_fingerprinter *self, const uint8_t *text, size_t size, sstore_error *error)
{
    self->feature_count = 0;
    ss_minhash_begin(&self->minhash, 64 * self->hash.words);
    const sstore_status status = self->weighting == SSTORE_WEIGHTING_FREQUENCY
                                     ? add_occurrences(self, text, size, error)
                                     : find_features(self, text, size, (ss_feature_sink){take_elements, self}, error);
    self->weight = (double)self->feature_count;
    if (status == SSTORE_OK)
        ss_minhash_finish(&self->minhash, self->words);
    return status;
}

static sstore_status make_fingerprint(sstore_fingerprinter *self, const char *text, size_t size, sstore_error *error)
{
    const uint8_t *bytes = (const uint8_t *)text;
    return ss_feature_hash_is_minhash(&self->hash) ? make_minhash(self, bytes, size, error)
                                                   : make_simhash(self, bytes, size, error);
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
    if (sums_out != NULL && ss_feature_hash_is_minhash(&fingerprinter->hash))
        return ss_fail_argument(error, "a MinHash has no sums of weights: sums_out must be NULL");
    sstore_status status = ss_check_result(result_out, SS_TEXT_RESULT_SIZE_1, error);
    if (status == SSTORE_OK)
        status = make_fingerprint(fingerprinter, text, size, error);
    if (status != SSTORE_OK)
        return status;
    for (uint32_t i = 0; sums_out != NULL && i < fingerprinter->hash.words; i++)
        ss_sums_values(&fingerprinter->sums[i], sums_out + (size_t)64 * i);
    const sstore_text_result made = {.struct_size = sizeof made,
                                     .fingerprint = fingerprinter->words,
                                     .feature_count = fingerprinter->feature_count,
                                     .replaced_count = fingerprinter->features.replaced_count,
                                     .weight = fingerprinter->weight};
    return ss_give_result(result_out, &made, sizeof made, SS_TEXT_RESULT_SIZE_1, error);
}

sstore_status sstore_fingerprinter_features(sstore_fingerprinter *fingerprinter, const char *text, size_t size,
                                            const sstore_counted_feature **features_out, size_t *count_out,
                                            sstore_error *error)
{
    if ((text == NULL && size > 0) || fingerprinter == NULL || features_out == NULL || count_out == NULL)
        return ss_fail_argument(error, "fingerprinter, text, features_out and count_out must not be NULL");
    const sstore_status status = find_set(fingerprinter, (const uint8_t *)text, size, error);
    if (status != SSTORE_OK)
        return status;
    *features_out = fingerprinter->set.items;
    *count_out = fingerprinter->set.count;
    return SSTORE_OK;
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
    status = make_fingerprint(&self, text, size, error);
    if (status == SSTORE_OK)
        memcpy(fingerprint_out, self.words, self.hash.words * sizeof *fingerprint_out);
    destroy(&self);
    return status;
}
