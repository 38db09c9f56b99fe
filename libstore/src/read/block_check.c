#include "read/block_check.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const char *const not_full = "the block before it has room for what it begins with";
static const char *const other_bytes = "it is not what a writer makes of its contents";

static uint32_t max_items(const ss_block_check *self)
{
    return self->code != NULL ? ss_block_capacity(self->block_bytes) : SS_IDS_BLOCK_CAPACITY;
}

sstore_status ss_block_check_init(ss_block_check *self, uint32_t block_bytes, const ss_code *code, sstore_error *error)
{
    *self = (ss_block_check){.block_bytes = block_bytes, .code = code};
    const size_t max = max_items(self) + 1;
    self->items = ss_realloc(NULL, max, sizeof *self->items);
    self->marks = ss_realloc(NULL, max, 1);
    self->bytes = ss_realloc(NULL, block_bytes, 1);
    if (self->items != NULL && self->marks != NULL && self->bytes != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, max * (sizeof *self->items + 1) + block_bytes);
}

void ss_block_check_free(ss_block_check *self)
{
    ss_free(self->items);
    ss_free(self->marks);
    ss_free(self->bytes);
    *self = (ss_block_check){.items = NULL};
}

/* How many of the first `count` items a block takes; of ids with the frame for them. */
static uint32_t fit(const ss_block_check *self, uint32_t count, ss_ids_frame *frame)
{
    return self->code != NULL ? ss_block_fit(self->block_bytes, self->items, self->marks, count)
                              : ss_ids_fit(self->block_bytes, self->items, self->marks, count, frame);
}

/* Whether the block before has room for the first item of this one. */
static bool has_room_for(ss_block_check *self, uint64_t item)
{
    const uint32_t count = self->count;
    ss_ids_frame frame;
    if (count == 0 || count == max_items(self))
        return false;
    self->items[count] = item;
    if (self->code != NULL)
        ss_step_bits(self->code, self->items + count - 1, 2, self->marks + count - 1);
    else
        self->marks[count] = !self->continued;
    return fit(self, count + 1, &frame) > count;
}

/* Compare all but the trailers. */
static bool same_contents(const ss_block_check *self, const uint8_t *bytes)
{
    return memcmp(self->bytes, bytes, self->block_bytes - SS_BLOCK_TRAILER_BYTES) == 0;
}

bool ss_block_check_table(ss_block_check *self, const uint8_t *bytes, const uint64_t *values, uint32_t count,
                          const char **reason)
{
    const bool room = has_room_for(self, values[0]);
    self->count = 0;
    *reason = room ? not_full : other_bytes;
    if (room || count > max_items(self))
        return false;
    memcpy(self->items, values, count * sizeof *values);
    ss_step_bits(self->code, values, count, self->marks);
    if (fit(self, count, NULL) != count)
        return false;
    ss_block_encode(self->block_bytes, self->code, values, self->marks, count, self->bytes);
    self->count = count;
    return same_contents(self, bytes);
}

bool ss_block_check_ids(ss_block_check *self, const ss_ids_block *block, const char **reason)
{
    const bool room = has_room_for(self, ss_ids_block_id(block, 0));
    const uint32_t count = block->count;
    ss_ids_frame frame;
    self->count = 0;
    *reason = room ? not_full : other_bytes;
    if (room)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        self->items[i] = ss_ids_block_id(block, i);
        self->marks[i] = ss_ids_block_starts_rank(block, i);
    }
    if (fit(self, count, &frame) != count)
        return false;
    ss_ids_encode(self->block_bytes, &frame, self->items, self->marks, block->first_rank, block->continued,
                  self->bytes);
    self->count = count;
    self->continued = block->continued;
    return same_contents(self, block->bytes);
}
