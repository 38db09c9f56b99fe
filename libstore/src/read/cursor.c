/*
 * cursor.c - see cursor.h. Steps bound the reads of a query, whatever a store has: probes and blocks as many as all its
 * segments justify, and more for each hit.
 */
#include "read/cursor.h"

#include "base/error.h"
#include "base/memory.h"

#define BUFFERS_BYTES ((size_t)256 << 10) /* of all open blocks, in pread mode */

/* ----- filters ----- */

sstore_status ss_id_filter_take(ss_id_filter *to, const sstore_id_filter *from, const sstore *store,
                                sstore_error *error)
{
    sstore_id_filter taken = SSTORE_ID_FILTER_INIT;
    *to = (ss_id_filter){.any = false};
    if (from == NULL)
        return SSTORE_OK;
    const sstore_status status = ss_take_options(&taken, sizeof taken, from, SS_ID_FILTER_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    if (!store->manifest.has_ids)
        return ss_fail_argument(error, "the store has no ids: queries cannot be restricted by id");
    if (taken.min_id > taken.max_id)
        return ss_fail_argument(error, "min_id is above max_id");
    *to =
        (ss_id_filter){.any = true, .min_id = taken.min_id, .max_id = taken.max_id, .excluded_ids = taken.excluded_ids};
    return SSTORE_OK;
}

/* ----- plans ----- */

const ss_segment_plan *ss_cursor_plan(sstore_cursor *cursor, uint32_t segment, uint32_t distance)
{
    if (cursor->planned_distance != distance) {
        ss_segment_plans_choose(cursor->store, distance, &cursor->planning, cursor->plans);
        cursor->plans_cut = cursor->planning.left == 0;
        cursor->planned_distance = distance;
    }
    return &cursor->plans[segment];
}

/* ----- steps ----- */

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
        cursor->planned_distance = SS_NO_DISTANCE;
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

/* ----- cursors ----- */

uint64_t ss_cursor_bytes(const ss_manifest *manifest, sstore_io io)
{
    const uint32_t block_bytes = largest_block(manifest);
    const uint64_t blocks = choose_open_capacity(io, block_bytes) + slot_count(manifest);
    return sizeof(sstore_cursor) + ss_segment_plans_bytes(manifest) + manifest->segment_count * sizeof(ss_rank_count) +
           (io == SSTORE_IO_PREAD ? blocks * block_bytes : 0) + ss_membership_bytes(manifest, true, io) +
           (manifest->has_names ? SS_NAME_ROOM_BYTES : 0);
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
    cursor->planned_distance = SS_NO_DISTANCE;
    cursor->query_steps = query_steps(store);
    cursor->row_hit_steps = row_hit_steps(store);
    ss_cursor_begin(cursor);
    cursor->plans = ss_segment_plans_alloc(&store->manifest);
    cursor->counts = ss_alloc(store->manifest.segment_count, sizeof *cursor->counts);
    if (cursor->plans == NULL || cursor->counts == NULL || !allocate_buffers(cursor, block_bytes)) {
        sstore_cursor_free(cursor);
        return ss_fail_memory(error, BUFFERS_BYTES + slot_count(&store->manifest) * (uint64_t)block_bytes);
    }
    sstore_status status = ss_membership_open(&cursor->newer, store, true, &cursor->steps, error);
    if (status == SSTORE_OK && store->manifest.has_names)
        status = ss_name_room_open(&cursor->name, error);
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
    ss_free(cursor->buffers);
    ss_membership_close(&cursor->newer);
    ss_name_room_close(&cursor->name);
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

sstore_status sstore_cursor_set_filter(sstore_cursor *cursor, const sstore_id_filter *filter, sstore_error *error)
{
    ss_id_filter taken;
    const sstore_status status = ss_id_filter_take(&taken, filter, cursor->store, error);
    if (status != SSTORE_OK)
        return status;
    cursor->filter = taken;
    if (taken.excluded_ids != NULL) {
        cursor->excluded_id = *taken.excluded_ids;
        cursor->filter.excluded_ids = &cursor->excluded_id;
    }
    return SSTORE_OK;
}

uint64_t sstore_cursor_block_count(const sstore_cursor *cursor)
{
    return cursor->steps.block_count;
}
