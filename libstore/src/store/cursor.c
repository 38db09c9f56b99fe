#include "store/cursor.h"

#include "base/alloc.h"
#include "base/error.h"

#define NOT_PLANNED UINT32_MAX
#define BUFFERS_BYTES ((size_t)256 << 10) /* of all visits' blocks, in pread mode */

const ss_query_plan *ss_cursor_plans(sstore_cursor *cursor, uint32_t distance)
{
    const sstore *store = cursor->store;
    if (cursor->planned_distance != distance) {
        for (uint32_t i = 0; i < store->manifest.segment_count; i++)
            if (!ss_segment_removes(store->segments[i]))
                ss_query_plan_init(&cursor->plans[i], &store->segments[i]->facts.plan, distance,
                                   &store->segments[i]->costs);
        cursor->planned_distance = distance;
    }
    return cursor->plans;
}

/* The largest block, and the largest restart interval, of all segments. */
static ss_geometry largest_geometry(const ss_manifest *manifest)
{
    ss_geometry largest = {0};
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        ss_geometry geometry = manifest->segments[i].geometry;
        largest.block_bytes = (uint32_t)ss_max_u64(largest.block_bytes, geometry.block_bytes);
        largest.restart_interval = (uint32_t)ss_max_u64(largest.restart_interval, geometry.restart_interval);
    }
    return largest;
}

/* How many blocks are read into buffers of the cursor before they are searched. */
static uint32_t choose_visit_capacity(sstore_io io, uint32_t block_bytes)
{
    if (io != SSTORE_IO_PREAD || block_bytes == 0)
        return SS_TOGETHER;
    return (uint32_t)ss_min_u64(BUFFERS_BYTES / block_bytes, SS_TOGETHER);
}

/* Only in pread mode are blocks read into buffers. */
static bool allocate_buffers(sstore_cursor *cursor, uint32_t block_bytes)
{
    bool needed = cursor->store->options.io == SSTORE_IO_PREAD;
    cursor->visit_capacity = choose_visit_capacity(cursor->store->options.io, block_bytes);
    assert(cursor->visit_capacity >= 2); /* one stays while the next ones are added */
    cursor->buffers = ss_realloc(NULL, needed ? cursor->visit_capacity + SS_HITS_TOGETHER : 0, block_bytes);
    uint8_t *buffer = cursor->buffers;
    for (uint32_t i = 0; needed && buffer != NULL && i < cursor->visit_capacity; i++, buffer += block_bytes)
        cursor->visits[i].slot.buffer = buffer;
    for (uint32_t i = 0; needed && buffer != NULL && i < SS_HITS_TOGETHER; i++, buffer += block_bytes)
        cursor->slots[i].buffer = buffer;
    return cursor->buffers != NULL;
}

uint64_t ss_cursor_bytes(const ss_manifest *manifest, sstore_io io)
{
    const ss_geometry largest = largest_geometry(manifest);
    uint64_t values = (uint64_t)SS_LANES * largest.restart_interval;
    uint64_t blocks = choose_visit_capacity(io, largest.block_bytes) + SS_HITS_TOGETHER;
    uint64_t buffers = io == SSTORE_IO_PREAD ? blocks * largest.block_bytes : 0;
    return sizeof(sstore_cursor) + manifest->segment_count * sizeof(ss_query_plan) + buffers +
           values * (sizeof(uint64_t) + sizeof(uint32_t)) + largest.restart_interval * sizeof(uint64_t) +
           ss_presence_bytes(manifest, true, io);
}

static bool allocate(sstore_cursor *cursor, ss_geometry largest)
{
    size_t values = (size_t)SS_LANES * largest.restart_interval;
    cursor->plans = ss_alloc(cursor->store->manifest.segment_count, sizeof *cursor->plans);
    cursor->values = ss_alloc(values, sizeof *cursor->values);
    cursor->hits = ss_alloc(values, sizeof *cursor->hits);
    cursor->group = ss_alloc(largest.restart_interval, sizeof *cursor->group);
    return allocate_buffers(cursor, largest.block_bytes) && cursor->plans != NULL && cursor->values != NULL &&
           cursor->hits != NULL && cursor->group != NULL;
}

sstore_status sstore_cursor_create(const sstore *store, sstore_cursor **cursor_out, sstore_error *error)
{
    if (cursor_out != NULL)
        *cursor_out = NULL;
    if (store == NULL || cursor_out == NULL)
        return ss_fail_argument(error, "sstore_cursor_create: store and cursor_out must not be NULL");
    ss_geometry largest = largest_geometry(&store->manifest);
    sstore_cursor *cursor = ss_alloc(1, sizeof *cursor);
    if (cursor == NULL)
        return ss_fail_memory(error, sizeof *cursor);
    cursor->store = store;
    cursor->planned_distance = NOT_PLANNED;
    if (!allocate(cursor, largest)) {
        sstore_cursor_free(cursor);
        return ss_fail_memory(error, BUFFERS_BYTES + SS_HITS_TOGETHER * (uint64_t)largest.block_bytes);
    }
    sstore_status status = ss_presence_open(&cursor->newer, store, true, error);
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
    ss_free(cursor->buffers);
    ss_free(cursor->values);
    ss_free(cursor->hits);
    ss_free(cursor->group);
    ss_presence_close(&cursor->newer);
    ss_free(cursor);
}
