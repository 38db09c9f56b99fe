#include "join/store_source.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "store/record_merge.h"

#define PART_BLOCKS 64u /* of the largest segment, in a part at least */
#define READ_TOGETHER 1024u

/* The fingerprints of a part, once it was read. */
struct ss_kept_part {
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
            count += store->segments[i]->facts.distinct_count;
    return count;
}

/* The segment with the most fingerprints; parts are cut by its blocks. */
static const ss_segment *largest_segment(const sstore *store)
{
    const ss_segment *largest = NULL;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++)
        if (largest == NULL || store->segments[i]->facts.distinct_count > largest->facts.distinct_count)
            largest = store->segments[i];
    return largest;
}

sstore_status ss_store_source_open(ss_store_source *source, const sstore *store, uint64_t most_kept_bytes,
                                   sstore_error *error)
{
    const ss_segment *largest = largest_segment(store);
    const uint64_t blocks = largest == NULL ? 0 : largest->facts.tables[0].block_count;
    const uint64_t parts = ss_max_u64(ss_min_u64(blocks / PART_BLOCKS, SS_MOST_PARTS), 1);
    *source = (ss_store_source){.store = store,
                                .part_count = (uint32_t)parts,
                                .is_plain = store->manifest.segment_count == 1};
    source->blocks = ss_alloc(parts + 1, sizeof *source->blocks);
    source->firsts = ss_alloc(parts, sizeof *source->firsts);
    source->keeps = count_fingerprints(store) <= most_kept_bytes / sizeof(uint64_t);
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

void ss_store_source_close(ss_store_source *source)
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
static sstore_status read_blocks(const ss_store_source *source, uint32_t part, ss_values_fn on_values, void *sink,
                                 sstore_error *error)
{
    ss_table_stream stream;
    const uint64_t *values;
    uint32_t count = 1;
    sstore_status status = ss_table_stream_open(&stream, &source->store->segments[0]->tables[0].source, error);
    ss_table_stream_seek(&stream, source->blocks[part], source->blocks[part + 1]);
    while (status == SSTORE_OK && count > 0) {
        status = ss_table_stream_next(&stream, &values, &count, error);
        if (status == SSTORE_OK && count > 0)
            status = on_values(sink, values, count, error);
    }
    ss_table_stream_close(&stream);
    return status;
}

/* Fingerprints of several segments. The ids matter only where some of a fingerprint's may have been removed. */
static sstore_status read_merged(const ss_store_source *source, uint32_t part, ss_values_fn on_values, void *sink,
                                 sstore_error *error)
{
    const sstore *store = source->store;
    const bool is_last = part + 1 == source->part_count;
    ss_record_merge records;
    sstore_record record;
    uint64_t values[READ_TOGETHER], last = 0;
    size_t count = 0;
    bool more = true, any = false;
    ss_record_merge_init(&records, store->manifest.has_ids && store->removal_end > 0);
    sstore_status status = ss_record_merge_add_store(&records, store, error);
    if (status == SSTORE_OK)
        status = ss_record_merge_seek(&records, source->firsts[part], error);
    while (status == SSTORE_OK) {
        status = ss_record_merge_next(&records, &record, &more, error);
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
    ss_record_merge_close(&records);
    return status;
}

static sstore_status read_from_store(const ss_store_source *source, uint32_t part, ss_values_fn on_values, void *sink,
                                     sstore_error *error)
{
    return source->is_plain ? read_blocks(source, part, on_values, sink, error)
                            : read_merged(source, part, on_values, sink, error);
}

/* ----- keeping ----- */

static sstore_status keep_values(void *sink, const uint64_t *values, size_t count, sstore_error *error)
{
    struct ss_kept_part *kept = sink;
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
static sstore_status read_kept(const ss_store_source *source, uint32_t part, ss_values_fn on_values, void *sink,
                               sstore_error *error)
{
    struct ss_kept_part *kept = &source->kept[part];
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
    const ss_store_source *source = context;
    (void)worker;
    return source->keeps ? read_kept(source, part, on_values, sink, error)
                         : read_from_store(source, part, on_values, sink, error);
}

ss_fingerprint_source ss_store_source_fingerprints(ss_store_source *source)
{
    return (ss_fingerprint_source){.context = source,
                                   .part_count = source->part_count,
                                   .count = count_fingerprints(source->store),
                                   .read = read_part};
}

uint64_t ss_store_source_kept_bytes(const ss_store_source *source)
{
    return source->keeps ? count_fingerprints(source->store) * sizeof(uint64_t) : 0;
}

uint64_t ss_store_source_bytes(const sstore *store, uint32_t threads)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++)
        bytes += ss_record_stream_bytes(store->segments[i]);
    return bytes * threads;
}
