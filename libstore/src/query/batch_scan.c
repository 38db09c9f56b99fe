/*
 * batch_scan.c - all queries against all fingerprints: every block of table 0 is got once and stays in the cache while the
 * queries are tested against it.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "query/batch.h"

#define TASKS 64u       /* at most */
#define TASK_BLOCKS 16u /* in each at least */

/* A block of table 0. */
typedef struct scanned {
    const ss_batch *batch;
    const ss_block_source *source;
    uint64_t number, rank;
    uint32_t worker;
    ss_block block;
    ss_near near;
    sstore_error *error;
} scanned;

static sstore_status report_near(const scanned *self, uint32_t query)
{
    const ss_near *near = &self->near;
    sstore_status status = SSTORE_OK;
    for (uint64_t which = near->which; status == SSTORE_OK && which != 0; which &= which - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(which);
        const ss_batch_hit hit = {
            .fingerprint = near->values[i], .rank = self->rank + near->group * SS_GROUP_SIZE + i, .query = query};
        status = ss_batch_add_hit(self->batch, self->worker, hit, self->error);
    }
    return status;
}

static sstore_status test_block(scanned *self)
{
    ss_near *near = &self->near;
    sstore_status status = SSTORE_OK;
    near->distance = near->lower_distance = self->batch->distance;
    near->end = self->block.group_count;
    for (uint32_t query = 0; status == SSTORE_OK && query < self->batch->count; query++) {
        near->query = self->batch->fingerprints[query];
        near->any = false;
        for (near->group = 0; status == SSTORE_OK; near->group++) {
            status = ss_block_source_find_near(self->source, self->number, &self->block, near, self->error);
            if (status != SSTORE_OK || near->group == near->end)
                break;
            status = report_near(self, query);
        }
    }
    return status;
}

static uint64_t count_tasks(const ss_batch *batch)
{
    uint64_t blocks = batch->segment->tables[0].blocks.header.block_count;
    return ss_min_u64(TASKS, (blocks + TASK_BLOCKS - 1) / TASK_BLOCKS);
}

/* One share of the blocks. */
static sstore_status scan_share(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const ss_batch *batch = context;
    const ss_table *table = &batch->segment->tables[0];
    const ss_block_reader *reader = &table->blocks;
    const uint64_t blocks = reader->header.block_count, tasks = count_tasks(batch), end = blocks * (task + 1) / tasks;
    scanned self = {.batch = batch, .source = &table->source, .worker = worker, .error = error};
    ss_block_walk walk = ss_block_walk_from(blocks * task / tasks, end);
    uint8_t *buffer = ss_alloc(1, reader->header.block_bytes);
    sstore_status status = buffer != NULL ? SSTORE_OK : ss_fail_memory(error, reader->header.block_bytes);
    for (self.number = blocks * task / tasks; status == SSTORE_OK && self.number < end; self.number++) {
        const uint8_t *bytes;
        ss_block_reader_ahead(reader, self.number, &walk);
        status = ss_block_reader_get(reader, self.number, buffer, &bytes, error);
        if (status == SSTORE_OK)
            status = ss_block_source_open(self.source, self.number, bytes, &self.block, error);
        self.rank = ss_array_at(&batch->segment->ranks, self.number);
        if (status == SSTORE_OK)
            status = test_block(&self);
    }
    ss_free(buffer);
    return status;
}

sstore_status ss_batch_scan(const ss_batch *batch, sstore_error *error)
{
    return ss_pool_run(batch->threads, count_tasks(batch), scan_share, (void *)(uintptr_t)batch, error);
}
