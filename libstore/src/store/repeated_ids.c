#include "store/repeated_ids.h"

#include "base/alloc.h"
#include "base/error.h"

/* A walk over the id column. */
typedef struct walk {
    uint64_t first, end; /* ranks that are asked for */
    ss_repeated_ids_fn on_ids;
    void *context;
    bool goes_on; /* the block before ended with the rank that this one begins with */
} walk;

static sstore_status give(const walk *self, uint64_t rank, const ss_ids_block *block, uint32_t begin, uint32_t end,
                          sstore_error *error)
{
    if (rank < self->first || rank >= self->end)
        return SSTORE_OK;
    return self->on_ids(self->context, rank, block, begin, end, error);
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
static sstore_status walk_block(const walk *self, const ss_ids_block *block, sstore_error *error)
{
    const uint32_t count = block->count;
    sstore_status status = SSTORE_OK;
    if (!block->has_starts) { /* every record has another rank, but those at the block's ends may be shared */
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

sstore_status ss_each_repeated_ids(const ss_segment *segment, uint64_t first, uint64_t end, ss_repeated_ids_fn on_ids,
                                   void *context, sstore_error *error)
{
    const ss_block_reader *reader = &segment->ids;
    walk self = {.first = first, .end = end, .on_ids = on_ids, .context = context};
    uint64_t number = ss_key_index_find(&segment->ids_keys, first);
    ss_block_walk ahead = ss_block_walk_from(number, ss_key_index_find(&segment->ids_keys, end) + 1);
    uint8_t *buffer = ss_alloc(1, reader->header.block_bytes);
    sstore_status status = buffer != NULL ? SSTORE_OK : ss_fail_memory(error, reader->header.block_bytes);
    for (; status == SSTORE_OK && number < reader->header.block_count; number++) {
        const uint8_t *bytes;
        const char *reason;
        ss_ids_block block;
        ss_block_reader_ahead(reader, number, &ahead);
        status = ss_block_reader_get(reader, number, buffer, &bytes, error);
        if (status != SSTORE_OK)
            break;
        if (!ss_ids_block_open(&block, bytes, reader->header.block_bytes, &reason)) {
            status = ss_block_reader_malformed(reader, number, reason, error);
            break;
        }
        if (block.first_rank >= end)
            break;
        status = walk_block(&self, &block, error);
        self.goes_on = block.goes_on;
    }
    ss_free(buffer);
    return status;
}
