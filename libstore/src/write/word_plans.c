#include "write/word_plans.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "plan/planner.h"
#include "plan/radii.h"

#define SAMPLE_COUNT 3072.0 /* expected in the sample of a large segment: its capacity is not exceeded by chance */

static uint64_t hash_words(const uint64_t *fingerprint, uint32_t words)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < words; i++)
        hash = ss_sample_hash(hash ^ fingerprint[i]);
    return hash;
}

/* Take a sample of the fingerprints, in their order: those whose hashes are small. */
static sstore_status take_sample(const ss_checked_blocks *blocks, double total, ss_progress *progress, uint64_t *sample,
                                 size_t *count_out, sstore_error *error)
{
    const uint32_t words = blocks->words;
    const double share = total > 0 ? SAMPLE_COUNT / total : 1;
    const uint64_t limit = share < 1 ? (uint64_t)(share * 0x1p64) : UINT64_MAX;
    ss_table_iterator iterator;
    const uint64_t *values;
    uint32_t count = 1;
    *count_out = 0;
    sstore_status status = ss_table_iterator_open(&iterator, blocks, error);
    while (status == SSTORE_OK && count > 0) {
        status = ss_table_iterator_next(&iterator, &values, &count, error);
        for (uint32_t i = 0; status == SSTORE_OK && i < count && *count_out < SS_ROW_SAMPLE_CAPACITY; i++)
            if (hash_words(values + (size_t)i * words, words) <= limit)
                ss_words_copy(sample + (*count_out)++ * words, values + (size_t)i * words, words);
        if (status == SSTORE_OK)
            status = ss_progress_add(progress, 0, 0);
    }
    ss_table_iterator_close(&iterator);
    return status;
}

sstore_status ss_word_plans_init(ss_word_plans *plans, const ss_checked_blocks *blocks, ss_progress *progress,
                                 sstore_error *error)
{
    const uint32_t max_radius = plans->name != NULL ? plans->max_radius : SSTORE_MAX_BUILD_DISTANCE;
    const double total = plans->index.fingerprint_count;
    uint64_t *sample = ss_realloc(NULL, SS_ROW_SAMPLE_CAPACITY, blocks->words * sizeof *sample);
    size_t count;
    if (sample == NULL)
        return ss_fail_memory(error, SS_ROW_SAMPLE_CAPACITY * blocks->words * sizeof *sample);
    sstore_status status = take_sample(blocks, total, progress, sample, &count, error);
    if (status == SSTORE_OK)
        status = ss_radii_choose(sample, count, blocks->words, plans->distance, max_radius, total, plans->radii, error);
    ss_free(sample);
    return status;
}

sstore_status ss_word_plans_get(ss_word_plans *plans, uint32_t distance, const ss_plan **plan_out, sstore_error *error)
{
    const bool is_known = plans->plan.table_count > 0 && plans->plan.distance == distance;
    *plan_out = NULL;
    if (plans->name == NULL && plans->index.fingerprint_count >= SS_WEIGHED_MIN)
        return SSTORE_OK;
    *plan_out = &plans->plan;
    if (is_known)
        return SSTORE_OK;
    return plans->name != NULL ? ss_plan_parse(plans->name, distance, &plans->plan, error)
                               : ss_choose_plan(&plans->index, distance, NULL, &plans->plan, error);
}
