#include "read/batch_round.h"

#include "read/index_batch.h"
#include "read/row_batch.h"

static sstore_status add_hit(void *context, uint32_t worker, const ss_index_hit *hit, sstore_error *error)
{
    return ss_batch_hits_add(context, worker, hit->query, hit->rank, &hit->fingerprint, error);
}

/* Find the hits of fingerprints of one word in the current segment, which is an index itself. */
static sstore_status find_in_index(ss_batch_hits *hits, sstore_error *error)
{
    const ss_batch *batch = hits->batch;
    const ss_index_batch index = {.index = batch->store->segments[hits->segment],
                                  .plan = batch->plans[hits->segment].indexes,
                                  .queries = batch->fingerprints,
                                  .count = batch->count,
                                  .distance = batch->distance,
                                  .threads = batch->threads,
                                  .cursors = &hits->cursors,
                                  .on_hit = add_hit,
                                  .context = hits,
                                  .first = &hits->first,
                                  .block_count = batch->block_count,
                                  .progress = batch->progress};
    double cost;
    const ss_index_way way = ss_index_batch_choose(&index, &cost);
    const sstore_status status = ss_batch_hits_skip(hits, way == SS_FULL_SCAN, error);
    return status == SSTORE_OK ? ss_index_batch_run(&index, way, error) : status;
}

/* Find the hits in all segments of records. */
static sstore_status find_hits(ss_batch_hits *hits, sstore_error *error)
{
    const sstore *store = hits->batch->store;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++) {
        if (ss_segment_removes(store->segments[i]))
            continue;
        ss_batch_hits_begin(hits, i);
        status = hits->words == 1 ? find_in_index(hits, error) : ss_row_batch_find(hits, error);
    }
    return status;
}

sstore_status ss_batch_find(const ss_batch *batch, ss_batch_matches *matches_out, sstore_error *error)
{
    ss_batch_hits hits;
    *matches_out = (ss_batch_matches){.count = 0};
    sstore_status status = ss_batch_hits_open(&hits, batch, error);
    if (status == SSTORE_OK)
        status = find_hits(&hits, error);
    if (status == SSTORE_OK)
        status = ss_batch_report(&hits, matches_out, error);
    ss_batch_hits_close(&hits);
    return status;
}
