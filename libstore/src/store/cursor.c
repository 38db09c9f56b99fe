#include "store/cursor.h"

#include "base/error.h"
#include "base/memory.h"
#include "plan/radii.h"

#define NOT_PLANNED UINT32_MAX
#define ALIKE 4                           /* the largest ratio of fingerprint counts */
#define BUFFERS_BYTES ((size_t)256 << 10) /* of all open blocks, in pread mode */

/* ----- radii of a segment, found once for each distance ----- */

/* Take the radii that are known. False if there are none yet. */
static bool recall(const ss_segment *segment, uint32_t distance, ss_query_plan *plan)
{
    const unsigned char planned = atomic_load_explicit(&segment->planned[distance], memory_order_acquire);
    if (planned != SS_PLANNED && planned != SS_SCANNED)
        return false;
    *plan = (ss_query_plan){.distance = distance, .complete = planned == SS_PLANNED};
    for (uint32_t i = 0; i < segment->table_count; i++)
        plan->radii[i] = segment->tables[i].query_radii[distance];
    ss_query_plan_weigh(plan, &segment->metadata.plan, &segment->costs);
    return true;
}

/* Keep the radii for all threads, unless another one does so. */
static void remember(ss_segment *segment, const ss_query_plan *plan)
{
    unsigned char expected = SS_NOT_PLANNED;
    if (!atomic_compare_exchange_strong(&segment->planned[plan->distance], &expected, SS_BEING_PLANNED))
        return;
    for (uint32_t i = 0; i < segment->table_count; i++)
        segment->tables[i].query_radii[plan->distance] = (int16_t)plan->radii[i];
    atomic_store_explicit(&segment->planned[plan->distance], plan->complete ? SS_PLANNED : SS_SCANNED,
                          memory_order_release);
}

/* Whether radii that were found for one segment suit another: complete for both, and about equally good. */
static bool are_alike(const ss_segment *a, const ss_segment *b)
{
    const double count = a->costs.fingerprint_count, other = b->costs.fingerprint_count;
    return ss_plan_same_tables(&a->metadata.plan, &b->metadata.plan) && count <= ALIKE * other &&
           other <= ALIKE * count;
}

/* A segment or a word index with its plan. */
typedef struct planned {
    const ss_segment *segment; /* NULL: none was planned */
    const ss_query_plan *plan;
} planned;

/* Plan for a segment or a word index, as for one of the two in `known` if one is alike. If the steps of the call end,
 * nothing is kept: the next call has new ones. */
static void plan_part(ss_segment *segment, uint32_t distance, const planned known[2], ss_steps *steps,
                      ss_query_plan *plan)
{
    const planned *alike = NULL;
    if (recall(segment, distance, plan))
        return;
    for (uint32_t i = 0; alike == NULL && i < 2; i++)
        if (known[i].segment != NULL && known[i].plan->distance == distance && are_alike(segment, known[i].segment))
            alike = &known[i];
    if (alike != NULL) {
        *plan = *alike->plan;
        ss_query_plan_weigh(plan, &segment->metadata.plan, &segment->costs);
    } else {
        ss_query_plan_init(plan, &segment->metadata.plan, distance, &segment->costs, steps);
    }
    if (!plan->exact && steps->left > 0)
        remember(segment, plan);
}

void ss_plan_queries(const sstore *store, uint32_t distance, ss_steps *steps, ss_query_plan *plans_out)
{
    planned known[2] = {{.segment = NULL}};
    for (uint32_t i = 0; i < store->manifest.segment_count; i++) {
        if (ss_segment_removes(store->segments[i]))
            continue;
        plan_part(store->segments[i], distance, known, steps, &plans_out[i]);
        known[0] = (planned){store->segments[i], &plans_out[i]};
    }
}

const ss_query_plan *ss_cursor_plans(sstore_cursor *cursor, uint32_t distance)
{
    if (cursor->planned_distance != distance) {
        ss_plan_queries(cursor->store, distance, &cursor->planning, cursor->plans);
        cursor->plans_cut = cursor->planning.left == 0;
        cursor->planned_distance = distance;
    }
    return cursor->plans;
}

/* ----- word indexes ----- */

#define ROW_SCAN_NS 1.5 /* to test a fingerprint of table 0, as the next one */
#define ROW_WORD_NS 0.7
#define MAX_PROBES_NS 4e8 /* of demanded probes */

/* The words are planned until their probes cost as much as a full scan. `before` is an older segment that was planned,
 * or NULL. */
static void plan_rows(const sstore *store, const ss_segment *segment, uint32_t distance, const ss_segment *before,
                      const ss_row_plan *plan_before, ss_steps *steps, ss_row_plan *plan)
{
    const uint32_t words = segment->metadata.words;
    const sstore_strategy strategy = store->options.strategy;
    planned known[2] = {{.segment = NULL}};
    plan->full_scan_cost = (ROW_SCAN_NS + words * ROW_WORD_NS) * (double)segment->metadata.distinct_count;
    plan->probe_cost = 0;
    const double limit = strategy == SSTORE_STRATEGY_PROBE ? MAX_PROBES_NS : plan->full_scan_cost;
    for (uint32_t i = 0; i < words; i++) {
        plan->radii[i] = ss_word_index_radius(segment->indexes[i]->metadata.kind);
        plan->words[i].distance = NOT_PLANNED;
    }
    ss_radii_fit(plan->radii, words, distance);
    for (uint32_t i = 0; i < words && plan->probe_cost < limit; i++) {
        if (plan->radii[i] == SS_NO_PROBE)
            continue;
        if (before != NULL)
            known[1] = (planned){before->indexes[i], &plan_before->words[i]};
        plan_part(segment->indexes[i], (uint32_t)plan->radii[i], known, steps, &plan->words[i]);
        plan->probe_cost += plan->words[i].full_scan ? plan->words[i].full_scan_cost : plan->words[i].probe_cost;
        known[0] = (planned){segment->indexes[i], &plan->words[i]};
    }
    plan->full_scan = strategy == SSTORE_STRATEGY_FULL_SCAN || plan->probe_cost >= limit;
}

void ss_plan_row_queries(const sstore *store, uint32_t distance, ss_steps *steps, ss_row_plan *plans_out)
{
    const ss_segment *before = NULL;
    const ss_row_plan *plan_before = NULL;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++) {
        if (ss_segment_removes(store->segments[i]))
            continue;
        plan_rows(store, store->segments[i], distance, before, plan_before, steps, &plans_out[i]);
        before = store->segments[i];
        plan_before = &plans_out[i];
    }
}

const ss_row_plan *ss_cursor_row_plans(sstore_cursor *cursor, uint32_t distance)
{
    if (cursor->planned_distance != distance) {
        ss_plan_row_queries(cursor->store, distance, &cursor->planning, cursor->row_plans);
        cursor->plans_cut = cursor->planning.left == 0;
        cursor->planned_distance = distance;
    }
    return cursor->row_plans;
}

/* ----- cursors ----- */

/* The prefixes that a query may look up in a part of a segment, and the part's blocks. */
static void add_part_steps(const ss_manifest_segment *part, sstore_strategy strategy, uint64_t *prefixes,
                           uint64_t *blocks)
{
    *prefixes += ss_max_probes((double)part->tables[0].block_count * ss_block_capacity(part->block_bytes), strategy);
    *blocks += part->ids.block_count;
    for (uint32_t j = 0; j < part->plan.table_count; j++)
        *blocks += part->tables[j].block_count;
}

static uint64_t query_steps(const sstore *store)
{
    uint64_t prefixes = 0, blocks = 0, adding = 0;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++) {
        const ss_manifest_segment *metadata = &store->manifest.segments[i];
        add_part_steps(metadata, store->options.strategy, &prefixes, &blocks);
        for (uint32_t j = 0; j < ss_word_index_count(metadata); j++)
            add_part_steps(&metadata->indexes[j], store->options.strategy, &prefixes, &blocks);
        adding += metadata->kind == SS_SEGMENT_ADDS;
    }
    return prefixes + 2 * blocks * (1 + adding);
}

/* The steps to look up a whole fingerprint and its ids in all segments: the blocks of table 0 whose first words may be
 * equal are bisected, and the ids are in a block or two. */
static uint64_t row_hit_steps(const sstore *store)
{
    uint64_t steps = 1; /* to go back to the block of the fingerprint */
    for (uint32_t i = 0; i < store->manifest.segment_count; i++)
        for (uint64_t blocks = 8 * store->manifest.segments[i].tables[0].block_count; blocks > 0; blocks /= 2)
            steps++;
    return steps;
}

void ss_cursor_begin(sstore_cursor *cursor)
{
    if (cursor->plans_cut)
        cursor->planned_distance = NOT_PLANNED;
    cursor->plans_cut = false;
    cursor->planning.left = SS_CALL_STEPS;
    ss_cursor_renew(cursor);
}

static uint32_t largest_block(const ss_manifest *manifest)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < manifest->segment_count; i++)
        largest = ss_max_u32(largest, manifest->segments[i].block_bytes);
    return largest;
}

/* The number of blocks that are open at the same time. */
static uint32_t choose_open_capacity(sstore_io io, uint32_t block_bytes)
{
    if (io != SSTORE_IO_PREAD || block_bytes == 0)
        return SS_STAGE_MAX;
    return (uint32_t)ss_min_u64(BUFFERS_BYTES / block_bytes, SS_STAGE_MAX);
}

/* The slots of a cursor beside the open blocks. */
static uint32_t slot_count(const ss_manifest *manifest)
{
    return manifest->words > 1 ? 2 * SS_HIT_BATCH + 1 : SS_HIT_BATCH;
}

/* Take the next buffers for `count` slots. */
static void take_buffers(sstore_cursor *cursor, ss_block_slot *slots, uint32_t count, size_t bytes, uint8_t **next)
{
    for (uint32_t i = 0; i < count; i++, *next += bytes)
        slots[i] = (ss_block_slot){.buffer = *next, .steps = &cursor->steps};
}

/* Blocks are read into buffers only in pread mode. */
static bool allocate_buffers(sstore_cursor *cursor, uint32_t block_bytes)
{
    const sstore_io io = cursor->store->options.io;
    const size_t bytes = io == SSTORE_IO_PREAD ? block_bytes : 0;
    cursor->open_block_capacity = choose_open_capacity(io, block_bytes);
    assert(cursor->open_block_capacity >= 2); /* one stays open while the next ones are added */
    cursor->buffers = ss_realloc(NULL, cursor->open_block_capacity + slot_count(&cursor->store->manifest), bytes);
    if (cursor->buffers == NULL)
        return false;
    uint8_t *next = cursor->buffers;
    for (uint32_t i = 0; i < cursor->open_block_capacity; i++)
        take_buffers(cursor, &cursor->open_blocks[i].slot, 1, bytes, &next);
    take_buffers(cursor, cursor->slots.slots, SS_HIT_BATCH, bytes, &next);
    if (cursor->store->manifest.words > 1) {
        take_buffers(cursor, cursor->index_slots.slots, SS_HIT_BATCH, bytes, &next);
        take_buffers(cursor, &cursor->row_slot, 1, bytes, &next);
    }
    return true;
}

/* The bytes of a segment's query plan. */
static size_t plan_bytes(const ss_manifest *manifest)
{
    return manifest->words > 1 ? sizeof(ss_row_plan) : sizeof(ss_query_plan);
}

uint64_t ss_cursor_bytes(const ss_manifest *manifest, sstore_io io)
{
    const uint32_t block_bytes = largest_block(manifest);
    const uint64_t blocks = choose_open_capacity(io, block_bytes) + slot_count(manifest);
    return sizeof(sstore_cursor) + manifest->segment_count * (plan_bytes(manifest) + sizeof(ss_rank_count)) +
           (io == SSTORE_IO_PREAD ? blocks * block_bytes : 0) + ss_membership_bytes(manifest, true, io);
}

sstore_status sstore_cursor_create(const sstore *store, sstore_cursor **cursor_out, sstore_error *error)
{
    if (cursor_out != NULL)
        *cursor_out = NULL;
    if (store == NULL || cursor_out == NULL)
        return ss_fail_argument(error, "sstore_cursor_create: store and cursor_out must not be NULL");
    const uint32_t block_bytes = largest_block(&store->manifest);
    sstore_cursor *cursor = ss_alloc(1, sizeof *cursor);
    if (cursor == NULL)
        return ss_fail_memory(error, sizeof *cursor);
    cursor->store = store;
    cursor->planned_distance = NOT_PLANNED;
    cursor->query_steps = query_steps(store);
    cursor->row_hit_steps = row_hit_steps(store);
    ss_cursor_begin(cursor);
    void *plans = ss_alloc(store->manifest.segment_count, plan_bytes(&store->manifest));
    if (store->manifest.words > 1)
        cursor->row_plans = plans;
    else
        cursor->plans = plans;
    cursor->counts = ss_alloc(store->manifest.segment_count, sizeof *cursor->counts);
    if (plans == NULL || cursor->counts == NULL || !allocate_buffers(cursor, block_bytes)) {
        sstore_cursor_free(cursor);
        return ss_fail_memory(error, BUFFERS_BYTES + slot_count(&store->manifest) * (uint64_t)block_bytes);
    }
    sstore_status status = ss_membership_open(&cursor->newer, store, true, &cursor->steps, error);
    if (status != SSTORE_OK) {
        sstore_cursor_free(cursor);
        return status;
    }
    *cursor_out = cursor;
    return SSTORE_OK;
}

void sstore_cursor_free(sstore_cursor *cursor)
{
    if (cursor == NULL)
        return;
    ss_free(cursor->plans);
    ss_free(cursor->counts);
    ss_free(cursor->row_plans);
    ss_free(cursor->buffers);
    ss_membership_close(&cursor->newer);
    ss_free(cursor);
}

sstore_status ss_cursors_open(ss_cursors *cursors, const sstore *store, uint32_t count, sstore_error *error)
{
    *cursors = (ss_cursors){.store = store, .count = count};
    cursors->cursors = ss_alloc(count, sizeof(sstore_cursor *));
    return cursors->cursors != NULL ? SSTORE_OK : ss_fail_memory(error, count * sizeof(sstore_cursor *));
}

void ss_cursors_close(ss_cursors *cursors, uint64_t *block_count)
{
    for (uint32_t i = 0; cursors->cursors != NULL && i < cursors->count; i++) {
        if (block_count != NULL && cursors->cursors[i] != NULL)
            *block_count += cursors->cursors[i]->steps.block_count;
        sstore_cursor_free(cursors->cursors[i]);
    }
    ss_free(cursors->cursors);
    *cursors = (ss_cursors){.store = NULL};
}

sstore_status ss_cursors_get(const ss_cursors *cursors, uint32_t index, sstore_cursor **cursor_out, sstore_error *error)
{
    sstore_cursor **cursor = &cursors->cursors[index];
    const sstore_status status = *cursor == NULL ? sstore_cursor_create(cursors->store, cursor, error) : SSTORE_OK;
    *cursor_out = *cursor;
    if (status != SSTORE_OK)
        return status;
    assert(*cursor != NULL);
    ss_cursor_renew(*cursor);
    return SSTORE_OK;
}

void sstore_cursor_set_stop(sstore_cursor *cursor, sstore_stop_fn should_stop, void *context)
{
    cursor->should_stop = should_stop;
    cursor->stop_context = context;
}

uint64_t sstore_cursor_block_count(const sstore_cursor *cursor)
{
    return cursor->steps.block_count;
}
