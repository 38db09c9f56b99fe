#include "read/value_range.h"

#include "base/error.h"

/* Take the values of the range that a block has; *more_out: the next block may have some. */
static sstore_status take_of_block(ss_value_range *self, const ss_checked_blocks *checked, uint64_t number,
                                   bool *more_out, sstore_error *error)
{
    const uint64_t first = self->first, last = self->last;
    ss_block_slot *slot = self->slot;
    uint64_t values[SS_GROUP_SIZE];
    uint32_t group = 0, last_group = 0;
    ss_block block;
    ss_block_slot_prefetch(slot, checked->reader, number);
    sstore_status status = ss_block_slot_wait(slot, error);
    if (status == SSTORE_OK)
        status = ss_checked_block_open(checked, number, slot->bytes, &block, error);
    if (status != SSTORE_OK)
        return status;
    ss_block_find_groups(&block, ss_upper(first), ss_upper(last), &group, &last_group);
    for (; status == SSTORE_OK && group <= last_group; group++) {
        const uint32_t count = ss_block_group_size(&block, group);
        status = ss_checked_block_decode_group(checked, number, &block, group, count, values, error);
        for (uint32_t i = 0; status == SSTORE_OK && i < count && values[i] <= last; i++) {
            if (values[i] < first)
                continue;
            if (self->has_taken && values[i] <= self->taken)
                return ss_block_reader_malformed(checked->reader, number, SS_BELOW_BLOCK_BEFORE, error);
            self->has_taken = true;
            self->taken = values[i];
            status = self->take(self->context, values[i], error);
        }
    }
    *more_out = ss_array_at(checked->keys, number) <= last;
    return status;
}

sstore_status ss_value_range_take(ss_value_range *self, const ss_segment *index, sstore_error *error)
{
    const ss_table *table = &index->tables[0];
    sstore_status status = SSTORE_OK;
    bool more = true;
    for (uint64_t number = ss_key_index_find(&table->keys, self->first);
         status == SSTORE_OK && more && number < table->keys.keys.count; number++)
        status = take_of_block(self, &table->checked, number, &more, error);
    return status;
}
