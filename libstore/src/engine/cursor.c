#include "engine/cursor.h"

#include "base/alloc.h"
#include "base/error.h"

#define NOT_PLANNED UINT32_MAX

sstore_status ss_block_slot_load(ss_block_slot *slot, const ss_block_reader *reader, uint64_t number,
                                 sstore_error *error)
{
    if (slot->reader == reader && slot->number == number)
        return SSTORE_OK;
    slot->reader = NULL; /* if reading fails, it holds nothing */
    sstore_status status = ss_block_reader_get(reader, number, slot->buffer, &slot->bytes, error);
    if (status == SSTORE_OK) {
        slot->reader = reader;
        slot->number = number;
    }
    return status;
}

sstore_status ss_block_slot_open(ss_block_slot *slot, const ss_table *table, uint64_t number, ss_block *block_out,
                                 sstore_error *error)
{
    const char *reason;
    sstore_status status = ss_block_slot_load(slot, &table->blocks, number, error);
    if (status != SSTORE_OK)
        return status;
    if (ss_block_open(block_out, slot->bytes, ss_table_geometry(table), &table->code, &reason))
        return SSTORE_OK;
    return ss_block_reader_malformed(&table->blocks, number, reason, error);
}

const ss_query_plan *ss_cursor_plans(sstore_cursor *cursor, uint32_t distance)
{
    const sstore *store = cursor->store;
    if (cursor->planned_distance != distance) {
        for (uint32_t i = 0; i < store->manifest.segment_count; i++)
            ss_query_plan_init(&cursor->plans[i], &store->segments[i].facts->plan, distance,
                               &store->segments[i].costs);
        cursor->planned_distance = distance;
    }
    return cursor->plans;
}

sstore_status sstore_cursor_create(const sstore *store, sstore_cursor **cursor_out, sstore_error *error)
{
    if (cursor_out != NULL)
        *cursor_out = NULL;
    if (store == NULL || cursor_out == NULL)
        return ss_fail_argument(error, "sstore_cursor_create: store and cursor_out must not be NULL");
    size_t block_bytes = 0, interval = 0;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++) {
        ss_geometry geometry = store->manifest.segments[i].geometry;
        block_bytes = ss_max_u64(block_bytes, geometry.block_bytes);
        interval = ss_max_u64(interval, geometry.restart_interval);
    }
    sstore_cursor *cursor = ss_alloc(1, sizeof *cursor);
    if (cursor == NULL)
        return ss_fail_memory(error, sizeof *cursor);
    *cursor = (sstore_cursor){.store = store, .planned_distance = NOT_PLANNED};
    cursor->plans = ss_alloc(store->manifest.segment_count, sizeof *cursor->plans);
    cursor->values = ss_alloc(interval, sizeof *cursor->values);
    cursor->probed.buffer = ss_alloc(block_bytes, 1);
    cursor->ranked.buffer = ss_alloc(block_bytes, 1);
    cursor->identified.buffer = ss_alloc(block_bytes, 1);
    if (cursor->plans == NULL || cursor->values == NULL || cursor->probed.buffer == NULL ||
        cursor->ranked.buffer == NULL || cursor->identified.buffer == NULL) {
        sstore_cursor_free(cursor);
        return ss_fail_memory(error, 3 * block_bytes);
    }
    *cursor_out = cursor;
    return SSTORE_OK;
}

void sstore_cursor_free(sstore_cursor *cursor)
{
    if (cursor == NULL)
        return;
    ss_free(cursor->plans);
    ss_free(cursor->values);
    ss_free(cursor->probed.buffer);
    ss_free(cursor->ranked.buffer);
    ss_free(cursor->identified.buffer);
    ss_free(cursor);
}
