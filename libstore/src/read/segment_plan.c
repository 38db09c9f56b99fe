/*
 * segment_plan.c - see segment_plan.h. Planning takes long, so the radii of an index are kept for all threads, and
 * those of an index of about as many fingerprints in equal tables are taken over.
 */
#include "read/segment_plan.h"

#include "base/memory.h"
#include "plan/durations.h"
#include "plan/radii.h"

#define ALIKE 4 /* the largest ratio of fingerprint counts */

ss_segment_plan *ss_segment_plans_alloc(const ss_manifest *manifest)
{
    ss_segment_plan *plans = ss_alloc(1, ss_segment_plans_bytes(manifest));
    ss_query_plan *indexes = plans != NULL ? (ss_query_plan *)(plans + manifest->segment_count) : NULL;
    for (uint32_t i = 0; plans != NULL && i < manifest->segment_count; i++)
        plans[i].indexes = indexes + (size_t)i * manifest->words;
    return plans;
}

uint64_t ss_segment_plans_bytes(const ss_manifest *manifest)
{
    return manifest->segment_count * (sizeof(ss_segment_plan) + manifest->words * sizeof(ss_query_plan));
}

/* ----- plans of an index, whose radii are found once for each distance ----- */

/* Take the radii that are known. False if there are none yet. */
static bool recall(const ss_segment *index, uint32_t distance, ss_query_plan *plan)
{
    const unsigned char planned = atomic_load_explicit(&index->planned[distance], memory_order_acquire);
    if (planned != SS_PLANNED && planned != SS_SCANNED)
        return false;
    *plan = (ss_query_plan){.distance = distance, .complete = planned == SS_PLANNED};
    for (uint32_t i = 0; i < index->table_count; i++)
        plan->radii[i] = index->tables[i].query_radii[distance];
    ss_query_plan_weigh(plan, &index->metadata.plan, &index->costs);
    return true;
}

/* Keep the radii for all threads, unless another one does so. */
static void remember(ss_segment *index, const ss_query_plan *plan)
{
    unsigned char expected = SS_NOT_PLANNED;
    if (!atomic_compare_exchange_strong(&index->planned[plan->distance], &expected, SS_BEING_PLANNED))
        return;
    for (uint32_t i = 0; i < index->table_count; i++)
        index->tables[i].query_radii[plan->distance] = (int16_t)plan->radii[i];
    atomic_store_explicit(&index->planned[plan->distance], plan->complete ? SS_PLANNED : SS_SCANNED,
                          memory_order_release);
}

/* Whether radii that were found for one index suit another: complete for both, and about equally good. */
static bool are_alike(const ss_segment *a, const ss_segment *b)
{
    const double count = a->costs.fingerprint_count, other = b->costs.fingerprint_count;
    return ss_plan_same_tables(&a->metadata.plan, &b->metadata.plan) && count <= ALIKE * other &&
           other <= ALIKE * count;
}

/* An index with its plan. */
typedef struct planned {
    const ss_segment *index;
    const ss_query_plan *plan; /* NULL: none was planned */
} planned;

/* Plan for an index, as for one of the two in `known` if one is alike. If the steps of the call end,
 * nothing is kept: the next call has new ones. */
static void plan_index(ss_segment *index, uint32_t distance, const planned known[2], ss_steps *steps,
                       ss_query_plan *plan)
{
    const planned *alike = NULL;
    if (recall(index, distance, plan))
        return;
    for (uint32_t i = 0; alike == NULL && i < 2; i++)
        if (known[i].plan != NULL && known[i].plan->distance == distance && are_alike(index, known[i].index))
            alike = &known[i];
    if (alike != NULL) {
        *plan = *alike->plan;
        ss_query_plan_weigh(plan, &index->metadata.plan, &index->costs);
    } else {
        ss_query_plan_init(plan, &index->metadata.plan, distance, &index->costs, steps);
    }
    if (!plan->exact && steps->left > 0)
        remember(index, plan);
}

/* ----- plans of segments ----- */

/* A segment and its plan, or neither. */
typedef struct planned_segment {
    const ss_segment *segment;
    const ss_segment_plan *plan;
} planned_segment;

static void plan_one_word(ss_segment *segment, uint32_t distance, const planned_segment *before, ss_steps *steps,
                          ss_segment_plan *plan)
{
    const planned known[2] = {{before->segment, before->plan != NULL ? before->plan->indexes : NULL}};
    ss_query_plan *index = plan->indexes;
    plan_index(segment, distance, known, steps, index);
    plan->radii[0] = (int32_t)distance;
    plan->full_scan = index->full_scan;
    plan->probe_cost = index->probe_cost;
    plan->full_scan_cost = index->full_scan_cost;
}

/* The words are planned until their probes cost as much as a full scan. */
static void plan_words(ss_segment *segment, uint32_t distance, const planned_segment *before, ss_steps *steps,
                       ss_segment_plan *plan)
{
    const uint32_t words = segment->metadata.words;
    const sstore_strategy strategy = segment->costs.strategy;
    planned known[2] = {{.plan = NULL}};
    plan->full_scan_cost = (SS_ROW_SCAN_NS + words * SS_ROW_SCAN_WORD_NS) * (double)segment->metadata.distinct_count;
    plan->probe_cost = 0;
    const double limit = strategy == SSTORE_STRATEGY_PROBE ? SS_PROBE_LIMIT_NS : plan->full_scan_cost;
    for (uint32_t i = 0; i < words; i++) {
        plan->radii[i] = ss_word_index_radius(segment->indexes[i]->metadata.kind);
        plan->indexes[i].distance = SS_NO_DISTANCE;
    }
    ss_radii_fit(plan->radii, words, distance);
    for (uint32_t i = 0; i < words && plan->probe_cost < limit; i++) {
        ss_query_plan *index = &plan->indexes[i];
        if (plan->radii[i] == SS_NO_PROBE)
            continue;
        if (before->plan != NULL)
            known[1] = (planned){before->segment->indexes[i], &before->plan->indexes[i]};
        plan_index(segment->indexes[i], (uint32_t)plan->radii[i], known, steps, index);
        plan->probe_cost += index->full_scan ? index->full_scan_cost : index->probe_cost;
        known[0] = (planned){segment->indexes[i], index};
    }
    plan->full_scan = strategy == SSTORE_STRATEGY_FULL_SCAN || plan->probe_cost >= limit;
}

void ss_segment_plans_choose(const sstore *store, uint32_t distance, ss_steps *steps, ss_segment_plan *plans)
{
    planned_segment before = {.plan = NULL};
    for (uint32_t i = 0; i < store->manifest.segment_count; i++) {
        ss_segment *segment = store->segments[i];
        if (ss_segment_removes(segment))
            continue;
        (store->manifest.words == 1 ? plan_one_word : plan_words)(segment, distance, &before, steps, &plans[i]);
        before = (planned_segment){segment, &plans[i]};
    }
}
