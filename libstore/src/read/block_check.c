#include "read/block_check.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const char *const not_full = "the block before it has room for what it begins with";
static const char *const other_bytes = "it is not what a writer makes of its contents";

/* Compare all but the trailers. */
static bool same_contents(const uint8_t *a, const uint8_t *b, uint32_t block_bytes)
{
    return memcmp(a, b, block_bytes - SS_BLOCK_TRAILER_BYTES) == 0;
}

/* ----- tables ----- */

sstore_status ss_canonical_table_init(ss_canonical_table *self, uint32_t block_bytes, const ss_code *code,
                                      sstore_error *error)
{
    const size_t max = ss_block_capacity(block_bytes) + 1;
    *self = (ss_canonical_table){.block_bytes = block_bytes, .code = code};
    self->values = ss_realloc(NULL, max, sizeof *self->values);
    self->step_bits = ss_realloc(NULL, max, 1);
    self->bytes = ss_realloc(NULL, block_bytes, 1);
    if (self->values != NULL && self->step_bits != NULL && self->bytes != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, max * (sizeof *self->values + 1) + block_bytes);
}

void ss_canonical_table_free(ss_canonical_table *self)
{
    ss_free(self->values);
    ss_free(self->step_bits);
    ss_free(self->bytes);
    *self = (ss_canonical_table){.values = NULL};
}

static bool all_fit(const ss_canonical_table *self, uint32_t count)
{
    return ss_block_fit(self->block_bytes, self->values, self->step_bits, count) == count;
}

static bool has_room_for(ss_canonical_table *self, uint64_t value)
{
    const uint32_t count = self->count;
    if (count == 0 || count == ss_block_capacity(self->block_bytes))
        return false;
    self->values[count] = value;
    ss_step_bits(self->code, self->values + count - 1, 2, self->step_bits + count - 1);
    return all_fit(self, count + 1);
}

bool ss_canonical_table_next(ss_canonical_table *self, const uint8_t *bytes, const uint64_t *values, uint32_t count,
                             const char **reason)
{
    const bool room = has_room_for(self, values[0]);
    self->count = 0;
    *reason = room ? not_full : other_bytes;
    if (room || count > ss_block_capacity(self->block_bytes))
        return false;
    memcpy(self->values, values, count * sizeof *values);
    ss_step_bits(self->code, values, count, self->step_bits);
    if (!all_fit(self, count))
        return false;
    ss_block_encode(self->block_bytes, self->code, values, self->step_bits, count, self->bytes);
    self->count = count;
    return same_contents(self->bytes, bytes, self->block_bytes);
}

void ss_canonical_table_skip(ss_canonical_table *self)
{
    self->count = 0;
}

/* ----- the id column ----- */

sstore_status ss_canonical_ids_init(ss_canonical_ids *self, uint32_t block_bytes, sstore_error *error)
{
    const size_t max = SS_IDS_BLOCK_CAPACITY + 1;
    *self = (ss_canonical_ids){.block_bytes = block_bytes};
    self->ids = ss_realloc(NULL, max, sizeof *self->ids);
    self->starts = ss_realloc(NULL, max, 1);
    self->bytes = ss_realloc(NULL, block_bytes, 1);
    if (self->ids != NULL && self->starts != NULL && self->bytes != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, max * (sizeof *self->ids + 1) + block_bytes);
}

void ss_canonical_ids_free(ss_canonical_ids *self)
{
    ss_free(self->ids);
    ss_free(self->starts);
    ss_free(self->bytes);
    *self = (ss_canonical_ids){.ids = NULL};
}

static bool has_room_for_record(ss_canonical_ids *self, uint64_t id)
{
    const uint32_t count = self->count;
    ss_ids_frame frame;
    if (count == 0 || count == SS_IDS_BLOCK_CAPACITY)
        return false;
    self->ids[count] = id;
    self->starts[count] = !self->continued;
    return ss_ids_fit(self->block_bytes, self->ids, self->starts, count + 1, &frame) > count;
}

bool ss_canonical_ids_next(ss_canonical_ids *self, const ss_ids_block *block, const char **reason)
{
    const bool room = has_room_for_record(self, ss_ids_block_id(block, 0));
    const uint32_t count = block->count;
    ss_ids_frame frame;
    self->count = 0;
    *reason = room ? not_full : other_bytes;
    if (room)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        self->ids[i] = ss_ids_block_id(block, i);
        self->starts[i] = ss_ids_block_starts_rank(block, i);
    }
    if (ss_ids_fit(self->block_bytes, self->ids, self->starts, count, &frame) != count)
        return false;
    ss_ids_encode(self->block_bytes, &frame, self->ids, self->starts, block->first_rank, block->continued, self->bytes);
    self->count = count;
    self->continued = block->continued;
    return same_contents(self->bytes, block->bytes, self->block_bytes);
}
