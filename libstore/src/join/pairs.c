/*
 * pairs.c - all pairs of records within a distance: of one store, or of two. First the pairs of fingerprints, sorted by
 * the second one; then that one's ids, sorted by the first one; then the first one's ids, on the way to the caller.
 */
#include "base/error.h"
#include "join/join_tables.h"
#include "join/pair_ids.h"
#include "join/pair_report.h"
#include "join/store_source.h"

/* Where a call's work is done, by measurement of joins with ids (bench/README.md). */
#define FOUND_SHARE 0.6
#define IDENTIFIED_SHARE 0.75

/* Where pairs of fingerprints go. */
typedef struct pair_sink {
    ss_sorter *sorter;
    bool second_first;
} pair_sink;

static sstore_status keep_pairs(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                                sstore_error *error)
{
    const pair_sink *sink = context;
    uint64_t firsts[SS_GROUP_PAIRS], seconds[SS_GROUP_PAIRS];
    for (size_t i = 0; i < count; i++) {
        firsts[i] = pairs[i].first;
        seconds[i] = pairs[i].second;
    }
    return ss_sorter_add(sink->sorter, worker, sink->second_first ? seconds : firsts,
                         sink->second_first ? firsts : seconds, count, error);
}

/* Find the pairs of fingerprints. */
static sstore_status find_pairs(ss_join_call *call, pair_sink *sink, sstore_error *error)
{
    ss_store_source left = {.blocks = NULL}, right = {.blocks = NULL};
    ss_join_options options = {.distance = call->distance,
                               .threads = call->threads,
                               .tmp_dir = &call->tmp_dir,
                               .progress = &call->progress,
                               .end_share = FOUND_SHARE,
                               .on_pairs = keep_pairs,
                               .context = sink};
    const bool self = ss_join_call_is_self(call);
    const uint64_t most_kept = call->join_bytes / (self ? 3 : 6);
    sstore_status status = ss_store_source_open(&left, call->left, most_kept, error);
    if (status == SSTORE_OK && !self)
        status = ss_store_source_open(&right, call->right, most_kept, error);
    options.memory_bytes =
        call->join_bytes - ss_store_source_kept_bytes(&left) - (self ? 0 : ss_store_source_kept_bytes(&right));
    if (status == SSTORE_OK) {
        const ss_fingerprint_source from_left = ss_store_source_fingerprints(&left);
        const ss_fingerprint_source from_right = self ? from_left : ss_store_source_fingerprints(&right);
        status = self ? ss_join_self(&from_left, &options, error)
                      : ss_join_cross(&from_left, &from_right, &options, error);
    }
    ss_store_source_close(&left);
    ss_store_source_close(&right);
    return status;
}

/* Give the pairs their second ids. */
static sstore_status identify(ss_join_call *call, ss_sort_stage *pairs, ss_sort_stage *triples, sstore_error *error)
{
    sstore_status status = ss_sort_stage_open(triples, 3, call->threads, call->stage_bytes, call->piece_capacity,
                                              &call->tmp_dir, error);
    if (status == SSTORE_OK)
        status = ss_pair_ids_add(call, pairs, triples, IDENTIFIED_SHARE, error);
    if (status == SSTORE_OK && ss_join_call_is_self(call) && ss_pair_ids_may_repeat(call->right))
        status = ss_pair_ids_add_repeated(call, triples, IDENTIFIED_SHARE, error);
    ss_sort_stage_close(pairs); /* its memory goes to the report */
    return status == SSTORE_OK ? ss_sort_stage_seal(triples, &call->progress, error) : status;
}

static sstore_status join(ss_join_call *call, sstore_pair_fn on_pair, void *context, sstore_error *error)
{
    const bool with_ids = call->right->manifest.has_ids;
    ss_sort_stage pairs = {.sorter = NULL}, triples = {.sorter = NULL};
    sstore_status status =
        ss_sort_stage_open(&pairs, 2, call->threads, call->stage_bytes, call->piece_capacity, &call->tmp_dir, error);
    pair_sink sink = {.sorter = pairs.sorter, .second_first = with_ids};
    if (status == SSTORE_OK)
        status = find_pairs(call, &sink, error);
    if (status == SSTORE_OK)
        status = ss_sort_stage_seal(&pairs, &call->progress, error);
    if (status == SSTORE_OK && with_ids)
        status = identify(call, &pairs, &triples, error);
    if (status == SSTORE_OK)
        status = ss_pair_report(call, with_ids ? &triples : &pairs, on_pair, context, 1, error);
    ss_sort_stage_close(&pairs);
    ss_sort_stage_close(&triples);
    return status;
}

static sstore_status join_stores(const sstore *left, const sstore *right, const sstore_join_options *options,
                                 sstore_pair_fn on_pair, void *context, sstore_error *error)
{
    ss_join_call call;
    sstore_status status = ss_join_call_begin(&call, left, right, options, error);
    if (status == SSTORE_OK)
        status = join(&call, on_pair, context, error);
    ss_join_call_end(&call);
    return status;
}

sstore_status sstore_pairs(const sstore *store, const sstore_join_options *options, sstore_pair_fn on_pair, void *context,
                           sstore_error *error)
{
    if (store == NULL || on_pair == NULL)
        return ss_fail_argument(error, "sstore_pairs: store and on_pair must not be NULL");
    return join_stores(store, store, options, on_pair, context, error);
}

sstore_status sstore_join(const sstore *left, const sstore *right, const sstore_join_options *options,
                          sstore_pair_fn on_pair, void *context, sstore_error *error)
{
    if (left == NULL || right == NULL || left == right || on_pair == NULL)
        return ss_fail_argument(error, "sstore_join: two different handles and on_pair must be given");
    return join_stores(left, right, options, on_pair, context, error);
}
