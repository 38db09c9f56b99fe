#include "write/word_plans.h"

#include <string.h>

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

/* ----- the name of a given plan ----- */

/* Leave out the radii of a plan of bit groups, such as 22:2,21:1,21:1, so that it gets those that a word needs. */
static void leave_out_radii(char *name)
{
    char *to = name;
    if (strspn(name, "0123456789abcdef") == 16) /* masks, which need their radii */
        return;
    if (strncmp(name, "64:", 3) == 0) {
        name[0] = '1';
        name[1] = '\0';
        return;
    }
    for (const char *from = name; *from != '\0'; from++) {
        if (*from == ':')
            from += 1 + strspn(from + 1, "0123456789-");
        if ((*to++ = *from) == '\0')
            return;
    }
    *to = '\0';
}

/* Whether the word indexes of a segment have the plans of this name. */
static bool has_word_plans(const ss_manifest_segment *segment, const char *name)
{
    ss_plan plan;
    bool has = true;
    for (uint32_t i = 0; has && i < segment->words; i++) {
        const ss_plan *own = &segment->indexes[i].plan;
        uint32_t known = 0; /* the first that has this plan: making one takes long */
        while (!ss_plan_same(&segment->indexes[known].plan, own))
            known++;
        has = known < i || (ss_plan_parse(name, own->distance, &plan, NULL) == SSTORE_OK && ss_plan_same(&plan, own));
    }
    return has;
}

void ss_word_plans_name(const ss_manifest_segment *segment, char name[SS_PLAN_TEXT_BYTES])
{
    char general[SS_PLAN_TEXT_BYTES];
    uint32_t widest = 0;
    for (uint32_t i = 1; i < segment->words; i++)
        if (ss_word_index_radius(segment->indexes[i].kind) > ss_word_index_radius(segment->indexes[widest].kind))
            widest = i;
    (void)ss_plan_format(&segment->indexes[widest].plan, name, SS_PLAN_TEXT_BYTES);
    memcpy(general, name, sizeof general);
    leave_out_radii(general);
    if (has_word_plans(segment, general))
        memcpy(name, general, sizeof general);
}
