#include "read/round.h"

#include "read/index_batch.h"
#include "read/row_batch.h"

static sstore_status add_hit(void *context, uint32_t worker, const ss_index_hit *hit, sstore_error *error)
{
    return ss_round_hits_add(context, worker, hit->query, hit->rank, &hit->fingerprint, error);
}

/* Find the hits of fingerprints of one word in the current segment, which is an index itself. */
static sstore_status find_in_index(ss_round_hits *hits, sstore_error *error)
{
    const ss_round *round = hits->round;
    const ss_index_batch index = {.index = round->store->segments[hits->segment],
                                  .plan = round->plans[hits->segment].indexes,
                                  .queries = round->fingerprints,
                                  .count = round->count,
                                  .distance = round->distance,
                                  .threads = round->threads,
                                  .cursors = &hits->cursors,
                                  .on_hit = add_hit,
                                  .context = hits,
                                  .first = &hits->first,
                                  .block_count = round->block_count,
                                  .progress = round->progress};
    double cost;
    const ss_index_way way = ss_index_batch_choose(&index, &cost);
    const sstore_status status = ss_round_hits_skip(hits, way == SS_FULL_SCAN, error);
    return status == SSTORE_OK ? ss_index_batch_run(&index, way, error) : status;
}

/* Find the hits in all segments of records. */
static sstore_status find_hits(ss_round_hits *hits, sstore_error *error)
{
    const sstore *store = hits->round->store;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++) {
        if (ss_segment_removes(store->segments[i]))
            continue;
        ss_round_hits_begin(hits, i);
        status = hits->words == 1 ? find_in_index(hits, error) : ss_row_batch_find(hits, error);
    }
    return status;
}

sstore_status ss_round_answer(const ss_round *round, ss_round_matches *matches_out, sstore_error *error)
{
    ss_round_hits hits;
    *matches_out = (ss_round_matches){.count = 0};
    sstore_status status = ss_round_hits_open(&hits, round, error);
    if (status == SSTORE_OK)
        status = find_hits(&hits, error);
    if (status == SSTORE_OK)
        status = ss_round_report(&hits, matches_out, error);
    ss_round_hits_close(&hits);
    return status;
}
