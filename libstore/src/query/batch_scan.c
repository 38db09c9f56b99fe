/*
 * batch_scan.c - all queries against all fingerprints: every block of table 0 is decoded once and stays in the cache
 * while the queries are tested against it.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "query/batch.h"
#include "store/table_stream.h"

#define TASKS 64u       /* at most */
#define TASK_BLOCKS 16u /* in each at least */

static sstore_status test_block(const ss_batch *batch, uint32_t worker, const uint64_t *values, uint32_t count,
                                uint64_t rank, uint32_t *found, sstore_error *error)
{
    for (uint32_t query = 0; query < batch->count; query++) {
        uint32_t hits = batch->store->filter(values, count, batch->fingerprints[query], batch->distance, found);
        for (uint32_t i = 0; i < hits; i++) {
            ss_batch_hit hit = {.fingerprint = values[found[i]], .rank = rank + found[i], .query = query};
            sstore_status status = ss_batch_add_hit(batch, worker, hit, error);
            if (status != SSTORE_OK)
                return status;
        }
    }
    return SSTORE_OK;
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
    uint64_t blocks = table->blocks.header.block_count, tasks = count_tasks(batch);
    uint64_t end = blocks * (task + 1) / tasks;
    uint32_t *found = ss_realloc(NULL, SS_BLOCK_MAX_COUNT, sizeof *found);
    ss_table_stream stream;
    sstore_status status = ss_table_stream_open(&stream, &table->source, error);
    if (status == SSTORE_OK && found == NULL)
        status = ss_fail_memory(error, SS_BLOCK_MAX_COUNT * sizeof *found);
    ss_table_stream_seek(&stream, blocks * task / tasks, end);
    while (status == SSTORE_OK && stream.next_block < end) {
        const uint64_t *values;
        uint32_t count;
        const uint64_t rank = ss_array_at(&batch->segment->ranks, stream.next_block);
        status = ss_table_stream_next(&stream, &values, &count, error);
        if (status == SSTORE_OK)
            status = test_block(batch, worker, values, count, rank, found, error);
    }
    ss_table_stream_close(&stream);
    ss_free(found);
    return status;
}

sstore_status ss_batch_scan(const ss_batch *batch, sstore_error *error)
{
    return ss_pool_run(batch->threads, count_tasks(batch), scan_share, (void *)(uintptr_t)batch, error);
}
