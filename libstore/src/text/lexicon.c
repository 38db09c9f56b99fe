#include "text/lexicon.h"

#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sums.h"

#define INDEX_AHEAD 32u /* features; a large table is in memory, not in the processor's caches */
#define ENTRY_AHEAD 16u

/* The factor of a feature that `count` documents have, 0 or more, in units. */
static double units_of(const ss_frequencies *self, uint32_t count)
{
    return rint(log2(((double)self->head.document_count + 1) / (count > 0 ? count : 1)) * SS_WEIGHT_UNITS);
}

void ss_lexicon_set_frequencies(sstore_lexicon *lexicon, const ss_frequencies *frequencies, uint32_t levels)
{
    ss_frequencies_close(&lexicon->frequencies);
    lexicon->frequencies = *frequencies;
    lexicon->levels = levels;
    lexicon->max_units = units_of(frequencies, 1);
    lexicon->has_frequencies = true;
}

static double factor_by_frequency(const sstore_lexicon *lexicon, uint64_t hash)
{
    const double units = units_of(&lexicon->frequencies, ss_frequencies_find(&lexicon->frequencies, hash));
    if (lexicon->levels == 0)
        return units / SS_WEIGHT_UNITS;
    const double level = 1 + floor(units * lexicon->levels / lexicon->max_units); /* the product is exact */
    return fmin(level, lexicon->levels);
}

bool ss_lexicon_fits(const sstore_lexicon *lexicon, const sstore_text_options *options)
{
    return lexicon->options.kind == options->kind && lexicon->options.shingle == options->shingle &&
           lexicon->options.segmentation == options->segmentation &&
           (!lexicon->has_frequencies || lexicon->options.markup == options->markup);
}

const ss_feature_set *ss_lexicon_stop_words(const sstore_lexicon *lexicon)
{
    return lexicon->stop_words.count > 0 ? &lexicon->stop_words : NULL;
}

bool ss_lexicon_has_factors(const sstore_lexicon *lexicon)
{
    return lexicon->weighted.count > 0 || lexicon->has_frequencies;
}

double ss_lexicon_factor(const sstore_lexicon *lexicon, const sstore_counted_feature *features, size_t count, size_t i)
{
    if (lexicon->has_frequencies && i + INDEX_AHEAD < count)
        ss_frequencies_prefetch_index(&lexicon->frequencies, features[i + INDEX_AHEAD].hash);
    if (lexicon->has_frequencies && i + ENTRY_AHEAD < count)
        ss_frequencies_prefetch_entry(&lexicon->frequencies, features[i + ENTRY_AHEAD].hash);
    const sstore_counted_feature *own = ss_feature_set_find(&lexicon->weighted, features[i].hash);
    if (own != NULL)
        return lexicon->weights[own - lexicon->weighted.items];
    return lexicon->has_frequencies ? factor_by_frequency(lexicon, features[i].hash) : 1;
}

/* Names are sums, so that they do not depend on the order of entries. */
ss_lexicon_hashes ss_lexicon_hashes_of(const sstore_lexicon *lexicon)
{
    ss_lexicon_hashes names = {0};
    if (lexicon == NULL)
        return names;
    names.has_stop_words = lexicon->stop_words.count > 0;
    for (size_t i = 0; i < lexicon->stop_words.count; i++)
        names.stop_words += lexicon->stop_words.items[i].hash;
    names.has_weights = lexicon->weighted.count > 0;
    for (size_t i = 0; i < lexicon->weighted.count; i++) {
        uint8_t entry[16];
        ss_store_le64(entry, lexicon->weighted.items[i].hash);
        ss_store_le64(entry + 8, (uint64_t)(int64_t)(lexicon->weights[i] * SS_WEIGHT_UNITS));
        names.weights += ss_hash64(entry, sizeof entry);
    }
    names.has_frequencies = lexicon->has_frequencies;
    names.frequencies = lexicon->has_frequencies ? lexicon->frequencies.checksum : 0;
    names.levels = lexicon->levels;
    return names;
}

void sstore_lexicon_free(sstore_lexicon *lexicon)
{
    if (lexicon == NULL)
        return;
    ss_feature_set_free(&lexicon->stop_words);
    ss_feature_set_free(&lexicon->weighted);
    ss_free(lexicon->weights);
    ss_frequencies_close(&lexicon->frequencies);
    ss_free(lexicon);
}
