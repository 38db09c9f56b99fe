#include "engine/block_values.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define STRIDE 4u /* groups that are decoded together */

static const char malformed_bits[] = "its codes or rests run over";

sstore_status ss_block_values_open(ss_block_values *self, const ss_table *table, sstore_error *error)
{
    *self = (ss_block_values){.table = table, .number = SS_NO_BLOCK};
    self->buffer = ss_alloc(1, table->blocks.header.block_bytes);
    return self->buffer != NULL ? SSTORE_OK : ss_fail_memory(error, table->blocks.header.block_bytes);
}

void ss_block_values_close(ss_block_values *self)
{
    ss_free(self->buffer);
    ss_free(self->values);
    self->buffer = NULL;
    self->values = NULL;
}

static sstore_status make_room(ss_block_values *self, sstore_error *error)
{
    if (self->block.count <= self->values_capacity)
        return SSTORE_OK;
    uint64_t *values = ss_realloc(self->values, self->block.count, sizeof *values);
    if (values == NULL)
        return ss_fail_memory(error, self->block.count * sizeof *values);
    self->values = values;
    self->values_capacity = self->block.count;
    return SSTORE_OK;
}

sstore_status ss_block_values_go(ss_block_values *self, uint64_t number, sstore_error *error)
{
    const ss_block_reader *blocks = &self->table->blocks;
    const uint8_t *bytes;
    const char *reason;
    if (self->number == number)
        return SSTORE_OK;
    self->number = SS_NO_BLOCK;
    sstore_status status = ss_block_reader_get(blocks, number, self->buffer, &bytes, error);
    if (status != SSTORE_OK)
        return status;
    if (!ss_block_open(&self->block, bytes, ss_table_geometry(self->table), &self->table->code, &reason))
        return ss_block_reader_malformed(blocks, number, reason, error);
    status = make_room(self, error);
    if (status != SSTORE_OK)
        return status;
    memset(self->decoded, 0, (self->block.group_count / STRIDE / 64 + 1) * sizeof *self->decoded);
    self->hint = 0;
    if (self->whole && !ss_block_decode(&self->block, self->values))
        return ss_block_reader_malformed(blocks, number, malformed_bits, error);
    self->number = number;
    return SSTORE_OK;
}

/* Decode the stride's groups unless they are. */
static bool decode_stride(ss_block_values *self, uint32_t stride)
{
    uint64_t *word = &self->decoded[stride / 64], bit = UINT64_C(1) << stride % 64;
    uint32_t group = stride * STRIDE, left = self->block.group_count - group, count;
    if (*word & bit)
        return true;
    *word |= bit;
    return ss_block_decode_groups(&self->block, group, left < STRIDE ? left : STRIDE,
                                  self->values + (size_t)group * self->block.restart_interval, &count);
}

/* The first index in low .. high - 1 whose value is at or above target; high if there is none. */
static uint32_t lower_bound(const uint64_t *values, uint32_t low, uint32_t high, uint64_t target)
{
    uint32_t count = high - low;
    while (count > 0) {
        uint32_t half = count / 2;
        bool below = values[low + half] < target;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/* The same from `low` on, where it is not far. */
static uint32_t lower_bound_near(const uint64_t *values, uint32_t low, uint32_t high, uint64_t target)
{
    uint32_t step = 1;
    while (step < high - low && values[low + step - 1] < target) {
        low += step;
        step *= 2;
    }
    return lower_bound(values, low, step < high - low ? low + step : high, target);
}

static void range_in_whole_block(ss_block_values *self, uint64_t first, uint64_t last, uint32_t *begin_out,
                                 uint32_t *end_out)
{
    uint32_t high = self->block.count;
    self->hint = *begin_out = lower_bound_near(self->values, self->hint, high, first);
    *end_out = last == UINT64_MAX ? high : lower_bound_near(self->values, *begin_out, high, last + 1);
}

sstore_status ss_block_values_range(ss_block_values *self, uint64_t first, uint64_t last, uint32_t *begin_out,
                                    uint32_t *end_out, sstore_error *error)
{
    const ss_block *block = &self->block;
    uint32_t interval = block->restart_interval;
    if (self->whole) {
        range_in_whole_block(self, first, last, begin_out, end_out);
        return SSTORE_OK;
    }
    uint32_t first_group, last_group;
    bool sound = true;
    ss_block_find_groups(block, first, last, &first_group, &last_group);
    for (uint32_t stride = first_group / STRIDE; sound && stride <= last_group / STRIDE; stride++)
        sound = decode_stride(self, stride);
    if (!sound)
        return ss_block_reader_malformed(&self->table->blocks, self->number, malformed_bits, error);
    uint64_t end = (uint64_t)(last_group + 1) * interval;
    uint32_t high = (uint32_t)ss_min_u64(end, block->count);
    *begin_out = lower_bound(self->values, first_group * interval, high, first);
    *end_out = last == UINT64_MAX ? high : lower_bound(self->values, *begin_out, high, last + 1);
    return SSTORE_OK;
}
