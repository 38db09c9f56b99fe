#include "join/join_call.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "join/record_reader.h"

/* ===== call ===== */

#define MIN_MEMORY_BYTES ((uint64_t)8 << 20)
#define MIN_PIECE ((uint64_t)1024)
#define MAX_PIECE ((uint64_t)1 << 18)
#define ITEM_BYTES 80u /* of an item that is processed: twice 24, and the records that are looked up for it */

/* Half of the memory is for finding pairs, a quarter for the pairs found. Later a quarter each is for the items that a
 * step reads, for those that it adds, and for those that threads process. */
static void divide_memory(ss_join_call *call, uint64_t memory_bytes)
{
    uint64_t reading = ss_merge_iterator_bytes(call->left, 0, call->left->manifest.segment_count);
    if (call->left != call->right)
        reading += ss_merge_iterator_bytes(call->right, 0, call->right->manifest.segment_count);
    const uint64_t rest = ss_remaining_memory(memory_bytes, SS_PROCESS_BYTES + call->threads * reading);
    call->join_bytes = rest / 2;
    call->stage_bytes = rest / 4;
    const uint64_t item_bytes = ss_max_u64(2 * sizeof(uint64_t) * ss_member_words(call->left->manifest.words),
                                           ITEM_BYTES);
    call->piece_capacity = (size_t)ss_max_u64(ss_min_u64(rest / 4 / item_bytes / call->threads, MAX_PIECE), MIN_PIECE);
}

sstore_status ss_join_call_begin(ss_join_call *call, const sstore *left, const sstore *right,
                                 const sstore_join_options *options, sstore_error *error)
{
    sstore_join_options taken = SSTORE_JOIN_OPTIONS_INIT;
    *call = (ss_join_call){.left = left, .right = right, .tmp_dir = SS_DIR_NONE};
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_JOIN_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    const uint32_t words = left->manifest.words;
    if (words != right->manifest.words)
        return ss_fail_argument(error,
                                "%s has fingerprints of %u bits, and %s of %u; stores can be joined only if their "
                                "fingerprints have the same number of bits",
                                left->dir.path, SS_WORD_BITS * words, right->dir.path,
                                SS_WORD_BITS * right->manifest.words);
    if (taken.distance == SSTORE_OWN_DISTANCE)
        taken.distance = (uint32_t)ss_min_u64(left->manifest.distance, right->manifest.distance);
    const uint64_t memory_bytes = ss_memory_or_default(taken.memory_bytes);
    status = ss_check_distance(words, taken.distance, error);
    if (status == SSTORE_OK)
        status = ss_check_memory(memory_bytes, MIN_MEMORY_BYTES, error);
    if (status == SSTORE_OK)
        status = ss_exclusion_open(&call->excluded, words, taken.excluded, taken.excluded_count,
                                   taken.excluded_distance, error);
    if (status != SSTORE_OK)
        return status;
    call->distance = taken.distance;
    call->threads = ss_pool_threads(taken.threads);
    call->progress.report = taken.on_progress;
    call->progress.context = taken.progress_context;
    divide_memory(call, memory_bytes);
    status = ss_manifest_check_recipe(&right->manifest, right->dir.path, left->manifest.recipe, left->dir.path, error);
    return status == SSTORE_OK ? ss_spill_dir_open(taken.tmp_dir, &left->dir, &call->tmp_dir, error) : status;
}

void ss_join_call_end(ss_join_call *call)
{
    ss_exclusion_close(&call->excluded);
    ss_dir_close(&call->tmp_dir);
}

sstore_status ss_join_call_find(ss_join_call *call, ss_join_kind kind, double end_fraction, ss_join_pairs_fn on_pairs,
                                void *context, sstore_error *error)
{
    ss_store_fingerprints left = {.ranges = NULL}, right = {.ranges = NULL};
    const bool cross = kind == SS_JOIN_CROSS;
    const uint64_t max_retained = call->join_bytes / (cross ? 6 : 3);
    sstore_status status = ss_store_fingerprints_open(&left, call->left, &call->excluded, max_retained, error);
    if (status == SSTORE_OK && cross)
        status = ss_store_fingerprints_open(&right, call->right, &call->excluded, max_retained, error);
    const ss_join_options options = {.distance = call->distance,
                                     .threads = call->threads,
                                     .memory_bytes = call->join_bytes - left.retained_bytes - right.retained_bytes,
                                     .tmp_dir = &call->tmp_dir,
                                     .progress = &call->progress,
                                     .end_fraction = end_fraction,
                                     .on_pairs = on_pairs,
                                     .context = context};
    if (status == SSTORE_OK)
        status = ss_table_join(kind, &left.source, cross ? &right.source : NULL, &options, error);
    ss_store_fingerprints_close(&left);
    ss_store_fingerprints_close(&right);
    return status;
}

/* ===== fingerprints of a store ===== */

#define MAX_RANGES 256u
#define MIN_RANGE_BLOCKS 64u /* of the largest segment */
#define READ_BATCH 1024u

/* Read blocks of the only segment. */
static sstore_status read_blocks(const ss_store_fingerprints *self, uint32_t range, ss_values_fn on_values, void *sink,
                                 sstore_error *error)
{
    ss_table_iterator iterator;
    const uint64_t *values;
    uint32_t count = 1;
    sstore_status status = ss_table_iterator_open(&iterator, &self->store->segments[0]->tables[0].checked, error);
    ss_table_iterator_seek(&iterator, self->ranges[range].first_block, self->ranges[range + 1].first_block);
    while (status == SSTORE_OK && count > 0) {
        status = ss_table_iterator_next(&iterator, &values, &count, error);
        if (status == SSTORE_OK && count > 0)
            status = on_values(sink, values, count, error);
    }
    ss_table_iterator_close(&iterator);
    return status;
}

/* Read the fingerprints of several segments. Their ids matter only if some of a fingerprint's ids may have been
 * removed. */
static sstore_status read_merged(const ss_store_fingerprints *self, uint32_t range, ss_values_fn on_values, void *sink,
                                 sstore_error *error)
{
    const sstore *store = self->store;
    const bool is_last = range + 1 == self->source.range_count;
    ss_record_reader reader;
    uint64_t values[READ_BATCH];
    size_t count = 0;
    sstore_status status = ss_record_reader_open(&reader, store, store->manifest.has_ids && store->removal_end > 0,
                                                 self->excluded, error);
    if (status == SSTORE_OK)
        status = ss_record_reader_seek(&reader, &self->ranges[range].min, error);
    while (status == SSTORE_OK && reader.more &&
           (is_last || reader.current.fingerprint < self->ranges[range + 1].min)) {
        const uint64_t fingerprint = values[count++] = reader.current.fingerprint;
        if (count == READ_BATCH) {
            status = on_values(sink, values, count, error);
            count = 0;
        }
        if (status == SSTORE_OK)
            status = ss_record_reader_pass(&reader, &fingerprint, error);
    }
    if (status == SSTORE_OK && count > 0)
        status = on_values(sink, values, count, error);
    ss_record_reader_close(&reader);
    return status;
}

static sstore_status read_from_store(const ss_store_fingerprints *self, uint32_t range, ss_values_fn on_values,
                                     void *sink, sstore_error *error)
{
    return self->store->manifest.segment_count == 1 && self->excluded->count == 0
               ? read_blocks(self, range, on_values, sink, error)
               : read_merged(self, range, on_values, sink, error);
}

static sstore_status retain_values(void *sink, const uint64_t *values, size_t count, sstore_error *error)
{
    ss_fingerprint_range *range = sink;
    if (count > range->capacity - range->count) {
        const size_t capacity = (size_t)ss_max_u64(range->count + count, range->capacity + range->capacity / 4);
        uint64_t *grown = ss_realloc(range->values, capacity, sizeof *grown);
        if (grown == NULL)
            return ss_fail_memory(error, capacity * sizeof *grown);
        range->values = grown;
        range->capacity = capacity;
    }
    memcpy(range->values + range->count, values, count * sizeof *values);
    range->count += count;
    return SSTORE_OK;
}

/* A range is retained without a lock, because no two threads read the same one at once. */
static sstore_status read_range(void *context, uint32_t number, uint32_t worker, ss_values_fn on_values, void *sink,
                                sstore_error *error)
{
    const ss_store_fingerprints *self = context;
    ss_fingerprint_range *range = &self->ranges[number];
    (void)worker;
    if (self->retained_bytes == 0)
        return read_from_store(self, number, on_values, sink, error);
    if (!range->is_retained) {
        range->capacity = (size_t)(self->source.count / self->source.range_count + 1);
        range->values = ss_realloc(NULL, range->capacity, sizeof *range->values);
        if (range->values == NULL)
            return ss_fail_memory(error, range->capacity * sizeof *range->values);
        const sstore_status status = read_from_store(self, number, retain_values, range, error);
        if (status != SSTORE_OK)
            return status;
        range->is_retained = true;
    }
    return range->count > 0 ? on_values(sink, range->values, range->count, error) : SSTORE_OK;
}

sstore_status ss_store_fingerprints_open(ss_store_fingerprints *self, const sstore *store, const ss_exclusion *excluded,
                                         uint64_t max_retained_bytes, sstore_error *error)
{
    const ss_segment *largest = NULL; /* the ranges are cut by its blocks */
    uint64_t count = 0;               /* an upper bound */
    for (uint32_t i = 0; i < store->manifest.segment_count; i++) {
        const ss_segment *segment = store->segments[i];
        if (largest == NULL || segment->metadata.distinct_count > largest->metadata.distinct_count)
            largest = segment;
        count += ss_segment_removes(segment) ? 0 : segment->metadata.distinct_count;
    }
    const uint64_t blocks = largest == NULL ? 0 : largest->metadata.tables[0].block_count;
    const uint64_t ranges = ss_max_u64(ss_min_u64(blocks / MIN_RANGE_BLOCKS, MAX_RANGES), 1);
    *self = (ss_store_fingerprints){
        .store = store,
        .excluded = excluded,
        .source = {.context = self, .range_count = (uint32_t)ranges, .count = count, .read = read_range},
        .ranges = ss_alloc(ranges + 1, sizeof *self->ranges),
        .retained_bytes = count <= max_retained_bytes / sizeof(uint64_t) ? count * sizeof(uint64_t) : 0};
    if (self->ranges == NULL)
        return ss_fail_memory(error, (ranges + 1) * sizeof *self->ranges);
    for (uint64_t i = 1; i < ranges; i++) {
        self->ranges[i].first_block = blocks * i / ranges;
        /* Keys ascend, so a key with another one behind it is not the largest number. */
        self->ranges[i].min = ss_array_at(&largest->tables[0].keys.keys, self->ranges[i].first_block - 1) + 1;
    }
    self->ranges[ranges].first_block = blocks;
    return SSTORE_OK;
}

void ss_store_fingerprints_close(ss_store_fingerprints *self)
{
    for (uint32_t i = 0; self->ranges != NULL && i < self->source.range_count; i++)
        ss_free(self->ranges[i].values);
    ss_free(self->ranges);
    self->ranges = NULL;
}

/* ===== sorted stage ===== */

sstore_status ss_sort_stage_open(ss_sort_stage *stage, uint32_t item_words, const ss_join_call *call,
                                 sstore_error *error)
{
    *stage = (ss_sort_stage){.item_words = item_words};
    const ss_sorter_options options = {.item_words = item_words,
                                       .writers = call->threads,
                                       .pool = &stage->pool,
                                       .piece_capacity = call->piece_capacity,
                                       .expected_count = UINT64_MAX,
                                       .tmp_dir = &call->tmp_dir};
    sstore_status status = ss_sorter_pool_open(&stage->pool, call->stage_bytes, call->threads, error);
    return status == SSTORE_OK ? ss_sorter_create(&options, &stage->sorter, error) : status;
}

void ss_sort_stage_close(ss_sort_stage *stage)
{
    ss_sorter_free(stage->sorter);
    ss_chunk_pool_close(&stage->pool);
    *stage = (ss_sort_stage){.sorter = NULL};
}

sstore_status ss_loaded_pieces_next(ss_loaded_pieces *pieces, size_t item_count, sstore_error *error)
{
    const uint32_t threads = pieces->call->threads;
    if (pieces->count > 0) {
        const sstore_status status = ss_progress_add(&pieces->call->progress, 0, item_count);
        if (status != SSTORE_OK || ++pieces->index < pieces->count)
            return status;
    }
    pieces->first += pieces->count;
    pieces->count = (size_t)ss_min_u64(ss_sorter_piece_count(pieces->sorter) - pieces->first, threads);
    pieces->index = 0;
    return ss_pool_run(threads, pieces->count, pieces->load, pieces->context, error);
}

sstore_status ss_triple_batch_add(ss_triple_batch *batch, ss_triple triple, sstore_error *error)
{
    batch->triples[batch->count++] = triple;
    return batch->count == sizeof batch->triples / sizeof triple ? ss_triple_batch_flush(batch, error) : SSTORE_OK;
}

sstore_status ss_triple_batch_flush(ss_triple_batch *batch, sstore_error *error)
{
    const size_t count = batch->count;
    batch->count = 0;
    return ss_sorter_add_items(batch->sorter, batch->writer, batch->triples, count, error);
}
