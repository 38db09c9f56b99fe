#include "join/join_call.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "sort/buckets.h"
#include "store/record_iterator.h"

/* ===== sorted stage ===== */

sstore_status ss_sort_stage_open(ss_sort_stage *stage, uint32_t item_words, uint32_t threads, uint64_t memory_bytes,
                                 size_t piece_capacity, const ss_dir *tmp_dir, sstore_error *error)
{
    *stage = (ss_sort_stage){.item_words = item_words, .piece_capacity = piece_capacity};
    const ss_sorter_options options = {.item_words = item_words,
                                       .writers = threads,
                                       .pool = &stage->pool,
                                       .piece_capacity = piece_capacity,
                                       .expected_count = UINT64_MAX,
                                       .tmp_dir = tmp_dir};
    sstore_status status = ss_sorter_pool_open(&stage->pool, memory_bytes, threads, error);
    return status == SSTORE_OK ? ss_sorter_create(&options, &stage->sorter, error) : status;
}

void ss_sort_stage_close(ss_sort_stage *stage)
{
    ss_sorter_free(stage->sorter);
    ss_chunk_pool_close(&stage->pool);
    *stage = (ss_sort_stage){.sorter = NULL};
}

static size_t room_bytes(const ss_sort_stage *stage)
{
    return stage->piece_capacity * stage->item_words * sizeof(uint64_t);
}

sstore_status ss_sort_stage_finish(ss_sort_stage *stage, ss_progress *progress, sstore_error *error)
{
    void *buffer = ss_realloc(NULL, room_bytes(stage), 1);
    if (buffer == NULL)
        return ss_fail_memory(error, room_bytes(stage));
    sstore_status status = ss_sorter_finish(stage->sorter, buffer, progress, error);
    ss_free(buffer);
    return status;
}

sstore_status ss_piece_room_open(ss_piece_room *room, const ss_sort_stage *stage, sstore_error *error)
{
    *room = (ss_piece_room){.items = ss_realloc(NULL, room_bytes(stage), 1),
                            .scratch = ss_realloc(NULL, room_bytes(stage), 1)};
    return room->items != NULL && room->scratch != NULL ? SSTORE_OK : ss_fail_memory(error, 2 * room_bytes(stage));
}

void ss_piece_room_close(ss_piece_room *room)
{
    ss_free(room->items);
    ss_free(room->scratch);
    *room = (ss_piece_room){.items = NULL};
}

sstore_status ss_piece_room_load(ss_piece_room *room, const ss_sort_stage *stage, size_t piece, sstore_error *error)
{
    return ss_sorter_load(stage->sorter, piece, room->items, room->scratch, &room->count, error);
}

/* ===== lookup in ascending order ===== */

sstore_status ss_ordered_lookup_open(ss_ordered_lookup *lookup, const sstore *store, sstore_error *error)
{
    *lookup = (ss_ordered_lookup){.more = false};
    ss_merge_iterator_init(&lookup->records, store->manifest.has_ids);
    return ss_merge_iterator_add_store(&lookup->records, store, error);
}

void ss_ordered_lookup_close(ss_ordered_lookup *lookup)
{
    ss_merge_iterator_close(&lookup->records);
}

sstore_status ss_ordered_lookup_step(ss_ordered_lookup *lookup, sstore_error *error)
{
    return ss_merge_iterator_next(&lookup->records, &lookup->next, &lookup->more, error);
}

sstore_status ss_ordered_lookup_begin(ss_ordered_lookup *lookup, uint64_t fingerprint, sstore_error *error)
{
    sstore_status status = ss_merge_iterator_seek(&lookup->records, fingerprint, error);
    return status == SSTORE_OK ? ss_ordered_lookup_step(lookup, error) : status;
}

sstore_status ss_ordered_lookup_to(ss_ordered_lookup *lookup, uint64_t fingerprint, sstore_error *error)
{
    if (!lookup->more || lookup->next.fingerprint >= fingerprint)
        return SSTORE_OK;
    sstore_status status = ss_merge_iterator_skip(&lookup->records, fingerprint, error);
    return status == SSTORE_OK ? ss_ordered_lookup_step(lookup, error) : status;
}

/* ===== call ===== */

#define DEFAULT_MEMORY_BYTES ((uint64_t)1 << 30)
#define MIN_MEMORY_BYTES ((uint64_t)8 << 20)
#define FIXED_BYTES ((uint64_t)6 << 20) /* the process, its stacks */
#define MIN_PIECE ((uint64_t)1024)
#define MAX_PIECE ((uint64_t)1 << 18)
#define ITEM_BYTES 80u /* that an item at work takes: twice 24, and what it leads to */

/* Half of the memory is for finding pairs, a quarter for those found; then, when they are on their way to the caller, a
 * quarter each for what a step takes and what it leaves, and a quarter for what threads work on. */
static void share_memory(ss_join_call *call, uint64_t memory_bytes)
{
    uint64_t reading = ss_merge_iterator_bytes(call->left, 0, call->left->manifest.segment_count);
    if (!ss_join_call_is_self(call))
        reading += ss_merge_iterator_bytes(call->right, 0, call->right->manifest.segment_count);
    const uint64_t fixed = FIXED_BYTES + call->threads * reading;
    const uint64_t rest = ss_max_u64(memory_bytes - ss_min_u64(fixed, memory_bytes / 2), MIN_MEMORY_BYTES / 2);
    call->join_bytes = rest / 2;
    call->stage_bytes = rest / 4;
    call->piece_capacity = (size_t)ss_max_u64(ss_min_u64(rest / 4 / ITEM_BYTES / call->threads, MAX_PIECE), MIN_PIECE);
}

sstore_status ss_join_call_begin(ss_join_call *call, const sstore *left, const sstore *right,
                                 const sstore_join_options *options, sstore_error *error)
{
    sstore_join_options taken = SSTORE_JOIN_OPTIONS_INIT;
    *call = (ss_join_call){.left = left, .right = right, .tmp_dir = SS_DIR_NONE};
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_JOIN_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    if (taken.distance == SSTORE_OWN_DISTANCE)
        taken.distance = (uint32_t)ss_min_u64(left->manifest.distance, right->manifest.distance);
    if (taken.distance > SSTORE_MAX_BUILD_DISTANCE)
        return ss_fail_argument(error, "the distance to join within is %u; it can be 0 to %d", taken.distance,
                                SSTORE_MAX_BUILD_DISTANCE);
    if (taken.memory_bytes != 0 && taken.memory_bytes < MIN_MEMORY_BYTES)
        return ss_fail_argument(error, "the memory is %llu bytes; at least %llu are needed",
                                (unsigned long long)taken.memory_bytes, (unsigned long long)MIN_MEMORY_BYTES);
    call->distance = taken.distance;
    call->threads = ss_pool_threads(taken.threads);
    call->progress.report = taken.on_progress;
    call->progress.context = taken.progress_context;
    share_memory(call, taken.memory_bytes != 0 ? taken.memory_bytes : DEFAULT_MEMORY_BYTES);
    status = ss_store_check_same_recipe(left, right, error);
    return status == SSTORE_OK ? ss_spill_dir_open(taken.tmp_dir, &left->dir, &call->tmp_dir, error) : status;
}

void ss_join_call_end(ss_join_call *call)
{
    ss_dir_close(&call->tmp_dir);
}

/* ===== fingerprints of a store ===== */

#define PART_BLOCKS 64u /* of the largest segment, in a part at least */
#define READ_TOGETHER 1024u

/* The fingerprints of a part, once it was read. */
struct ss_retained_part {
    bool whole;
    size_t count, capacity;
    uint64_t *values;
};

/* An upper bound of the distinct fingerprints. */
static uint64_t count_fingerprints(const sstore *store)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++)
        if (!ss_segment_removes(store->segments[i]))
            count += store->segments[i]->metadata.distinct_count;
    return count;
}

/* The segment with the most fingerprints; parts are cut by its blocks. */
static const ss_segment *largest_segment(const sstore *store)
{
    const ss_segment *largest = NULL;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++)
        if (largest == NULL || store->segments[i]->metadata.distinct_count > largest->metadata.distinct_count)
            largest = store->segments[i];
    return largest;
}

sstore_status ss_store_fingerprints_open(ss_store_fingerprints *source, const sstore *store, uint64_t max_kept_bytes,
                                         sstore_error *error)
{
    const ss_segment *largest = largest_segment(store);
    const uint64_t blocks = largest == NULL ? 0 : largest->metadata.tables[0].block_count;
    const uint64_t parts = ss_max_u64(ss_min_u64(blocks / PART_BLOCKS, SS_MAX_PARTS), 1);
    *source = (ss_store_fingerprints){.store = store,
                                      .part_count = (uint32_t)parts,
                                      .is_plain = store->manifest.segment_count == 1};
    source->blocks = ss_alloc(parts + 1, sizeof *source->blocks);
    source->firsts = ss_alloc(parts, sizeof *source->firsts);
    source->keeps = count_fingerprints(store) <= max_kept_bytes / sizeof(uint64_t);
    source->kept = ss_alloc(source->keeps ? parts : 0, sizeof *source->kept);
    if (source->blocks == NULL || source->firsts == NULL || source->kept == NULL)
        return ss_fail_memory(error, (parts + 1) * sizeof *source->blocks);
    for (uint64_t i = 1; i < parts; i++) {
        source->blocks[i] = blocks * i / parts;
        /* Keys ascend, so that one with another behind it is not the largest number. */
        source->firsts[i] = ss_array_at(&largest->tables[0].keys.keys, source->blocks[i] - 1) + 1;
    }
    source->blocks[parts] = blocks;
    return SSTORE_OK;
}

void ss_store_fingerprints_close(ss_store_fingerprints *source)
{
    for (uint32_t i = 0; source->keeps && source->kept != NULL && i < source->part_count; i++)
        ss_free(source->kept[i].values);
    ss_free(source->kept);
    source->kept = NULL;
    ss_free(source->blocks);
    ss_free(source->firsts);
    source->blocks = NULL;
    source->firsts = NULL;
}

/* Blocks of the only segment. */
static sstore_status read_blocks(const ss_store_fingerprints *source, uint32_t part, ss_values_fn on_values, void *sink,
                                 sstore_error *error)
{
    ss_table_iterator iterator;
    const uint64_t *values;
    uint32_t count = 1;
    sstore_status status = ss_table_iterator_open(&iterator, &source->store->segments[0]->tables[0].checked, error);
    ss_table_iterator_seek(&iterator, source->blocks[part], source->blocks[part + 1]);
    while (status == SSTORE_OK && count > 0) {
        status = ss_table_iterator_next(&iterator, &values, &count, error);
        if (status == SSTORE_OK && count > 0)
            status = on_values(sink, values, count, error);
    }
    ss_table_iterator_close(&iterator);
    return status;
}

/* Fingerprints of several segments. The ids matter only where some of a fingerprint's may have been removed. */
static sstore_status read_merged(const ss_store_fingerprints *source, uint32_t part, ss_values_fn on_values, void *sink,
                                 sstore_error *error)
{
    const sstore *store = source->store;
    const bool is_last = part + 1 == source->part_count;
    ss_merge_iterator records;
    sstore_record record;
    uint64_t values[READ_TOGETHER], last = 0;
    size_t count = 0;
    bool more = true, any = false;
    ss_merge_iterator_init(&records, store->manifest.has_ids && store->removal_end > 0);
    sstore_status status = ss_merge_iterator_add_store(&records, store, error);
    if (status == SSTORE_OK)
        status = ss_merge_iterator_seek(&records, source->firsts[part], error);
    while (status == SSTORE_OK) {
        status = ss_merge_iterator_next(&records, &record, &more, error);
        if (status != SSTORE_OK || !more || (!is_last && record.fingerprint >= source->firsts[part + 1]))
            break;
        if (any && record.fingerprint == last)
            continue;
        any = true;
        values[count++] = last = record.fingerprint;
        if (count == READ_TOGETHER) {
            status = on_values(sink, values, count, error);
            count = 0;
        }
    }
    if (status == SSTORE_OK && count > 0)
        status = on_values(sink, values, count, error);
    ss_merge_iterator_close(&records);
    return status;
}

static sstore_status read_from_store(const ss_store_fingerprints *source, uint32_t part, ss_values_fn on_values,
                                     void *sink, sstore_error *error)
{
    return source->is_plain ? read_blocks(source, part, on_values, sink, error)
                            : read_merged(source, part, on_values, sink, error);
}

/* ----- keeping ----- */

static sstore_status keep_values(void *sink, const uint64_t *values, size_t count, sstore_error *error)
{
    struct ss_retained_part *kept = sink;
    if (count > kept->capacity - kept->count) {
        size_t capacity = (size_t)ss_max_u64(kept->count + count, kept->capacity + kept->capacity / 4);
        uint64_t *grown = ss_realloc(kept->values, capacity, sizeof *grown);
        if (grown == NULL)
            return ss_fail_memory(error, capacity * sizeof *grown);
        kept->values = grown;
        kept->capacity = capacity;
    }
    memcpy(kept->values + kept->count, values, count * sizeof *values);
    kept->count += count;
    return SSTORE_OK;
}

/* The first time from the store, by one thread, since nobody else reads the part then; from then on from memory. */
static sstore_status read_kept(const ss_store_fingerprints *source, uint32_t part, ss_values_fn on_values, void *sink,
                               sstore_error *error)
{
    struct ss_retained_part *kept = &source->kept[part];
    if (!kept->whole) {
        kept->capacity = (size_t)(count_fingerprints(source->store) / source->part_count + 1);
        kept->values = ss_realloc(NULL, kept->capacity, sizeof *kept->values);
        if (kept->values == NULL)
            return ss_fail_memory(error, kept->capacity * sizeof *kept->values);
        sstore_status status = read_from_store(source, part, keep_values, kept, error);
        if (status != SSTORE_OK)
            return status;
        kept->whole = true;
    }
    return kept->count > 0 ? on_values(sink, kept->values, kept->count, error) : SSTORE_OK;
}

/* ----- as a join takes it ----- */

static sstore_status read_part(void *context, uint32_t part, uint32_t worker, ss_values_fn on_values, void *sink,
                               sstore_error *error)
{
    const ss_store_fingerprints *source = context;
    (void)worker;
    return source->keeps ? read_kept(source, part, on_values, sink, error)
                         : read_from_store(source, part, on_values, sink, error);
}

ss_fingerprint_parts ss_store_fingerprints_parts(ss_store_fingerprints *source)
{
    return (ss_fingerprint_parts){.context = source,
                                  .part_count = source->part_count,
                                  .count = count_fingerprints(source->store),
                                  .read = read_part};
}

uint64_t ss_store_fingerprints_kept_bytes(const ss_store_fingerprints *source)
{
    return source->keeps ? count_fingerprints(source->store) * sizeof(uint64_t) : 0;
}
