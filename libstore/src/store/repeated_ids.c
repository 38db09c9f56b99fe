#include "store/repeated_ids.h"

#include "base/alloc.h"
#include "base/error.h"

/* A walk over the id column. */
typedef struct walk {
    const ss_block_source *source;
    uint64_t first, end; /* ranks that are asked for */
    ss_repeated_id_fn on_id;
    void *context;
    bool goes_on;      /* the block before ended with the rank that this one begins with */
    ss_id_order order; /* of that rank's ids */
    uint64_t number;   /* of the block */
} walk;

/* Give the ids of records begin .. end - 1, which have one rank. */
static sstore_status give(walk *self, uint64_t rank, const ss_ids_block *block, uint32_t begin, uint32_t end,
                          sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (begin > 0 || !self->goes_on)
        self->order.any = false;
    for (uint32_t i = begin; status == SSTORE_OK && i < end; i++) {
        uint64_t id = 0;
        status = ss_block_source_take_id(self->source, self->number, block, i, &self->order, &id, error);
        if (status == SSTORE_OK && rank >= self->first && rank < self->end)
            status = self->on_id(self->context, rank, id, error);
    }
    return status;
}

/* The end of the records that have the rank of record `begin`. */
static uint32_t rank_end(const ss_ids_block *block, uint32_t begin)
{
    uint32_t end = begin + 1;
    while (end < block->count && !ss_ids_block_starts_rank(block, end))
        end++;
    return end;
}

/* Give the repeated ranks of a block. */
static sstore_status walk_block(walk *self, const ss_ids_block *block, sstore_error *error)
{
    const uint32_t count = block->count;
    sstore_status status = SSTORE_OK;
    if (block->starts == NULL) { /* every record has another rank, but those at the block's ends may be shared */
        if (self->goes_on || (count == 1 && block->goes_on))
            status = give(self, block->first_rank, block, 0, 1, error);
        if (status == SSTORE_OK && count > 1 && block->goes_on)
            status = give(self, block->first_rank + count - 1, block, count - 1, count, error);
        return status;
    }
    uint64_t rank = block->first_rank;
    for (uint32_t begin = 0, end; status == SSTORE_OK && begin < count; begin = end, rank++) {
        /* Most ranks have one record: those are passed by, many at a time. */
        uint32_t single = begin > 0 ? ss_ids_block_singles(block, begin) : 0;
        if (single > 0 && begin + single == count && block->goes_on)
            single--; /* the last one's rank has more in the next block */
        begin += single;
        rank += single;
        if (begin == count)
            break;
        end = rank_end(block, begin);
        if (end - begin > 1 || (begin == 0 && self->goes_on) || (end == count && block->goes_on))
            status = give(self, rank, block, begin, end, error);
    }
    return status;
}

sstore_status ss_each_repeated_id(const ss_segment *segment, uint64_t first, uint64_t end, ss_repeated_id_fn on_id,
                                  void *context, sstore_error *error)
{
    const ss_block_reader *reader = &segment->ids;
    walk self = {.source = &segment->ids_source, .first = first, .end = end, .on_id = on_id, .context = context};
    uint64_t number = ss_key_index_find(&segment->ids_keys, first);
    ss_block_walk ahead = ss_block_walk_from(number, ss_key_index_find(&segment->ids_keys, end) + 1);
    uint8_t *buffer = ss_alloc(1, reader->header.block_bytes);
    sstore_status status = buffer != NULL ? SSTORE_OK : ss_fail_memory(error, reader->header.block_bytes);
    for (; status == SSTORE_OK && number < reader->header.block_count; number++) {
        const uint8_t *bytes;
        ss_ids_block block = {.count = 0};
        self.number = number;
        ss_block_reader_ahead(reader, number, &ahead);
        status = ss_block_reader_get_once(reader, number, buffer, &bytes, error);
        if (status == SSTORE_OK)
            status = ss_block_source_open_ids(self.source, number, bytes, &block, error);
        if (status != SSTORE_OK || block.first_rank >= end)
            break;
        status = walk_block(&self, &block, error);
        self.goes_on = block.goes_on;
    }
    ss_free(buffer);
    return status;
}
