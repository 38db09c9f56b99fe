/*
 * merge.c - one store of the records of several, and the store of a share of one's records. Both take the records in
 * order from table 0 and the ids of the stores they read, so that none of them is sorted again.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "build/builder.h"
#include "build/stream_source.h"
#include "store/record_merge.h"
#include "store/store.h"

/* The stores that are read, as one stream. */
typedef struct inputs {
    size_t count;
    sstore **stores;
    ss_record_merge records;
    uint64_t shard, shard_count; /* records of other shards are left out */
} inputs;

static void close_inputs(inputs *from)
{
    ss_record_merge_close(&from->records);
    for (size_t i = 0; from->stores != NULL && i < from->count; i++)
        sstore_close(from->stores[i]);
    ss_free(from->stores);
    from->stores = NULL;
}

/* Whether two stores belong together: for one distance, both with ids or both without, and of one recipe. */
static sstore_status check_alike(const sstore *first, const sstore *other, sstore_error *error)
{
    const ss_manifest *a = &first->manifest, *b = &other->manifest;
    if (a->distance != b->distance)
        return ss_fail_argument(error, "%s: it is made for distance %u, but %s for %u", other->dir.path, b->distance,
                                first->dir.path, a->distance);
    if (a->has_ids != b->has_ids)
        return ss_fail_argument(error, "%s: it has %s, but %s has %s", other->dir.path, b->has_ids ? "ids" : "no ids",
                                first->dir.path, a->has_ids ? "some" : "none");
    if (strcmp(a->recipe, b->recipe) != 0)
        return ss_fail(error, SSTORE_ERROR_RECIPE, 0, other->dir.path, SSTORE_NO_OFFSET,
                       "its fingerprints were made by the recipe '%s', but those of %s by '%s'", b->recipe,
                       first->dir.path, a->recipe);
    return SSTORE_OK;
}

static sstore_status open_inputs(inputs *from, const char *const *paths, size_t count, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *from = (inputs){.count = count, .shard_count = 1};
    from->stores = ss_alloc(count, sizeof(sstore *));
    if (from->stores == NULL)
        return ss_fail_memory(error, count * sizeof(sstore *));
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        status = ss_store_open_records(paths[i], &from->stores[i], error);
        if (status == SSTORE_OK)
            status = check_alike(from->stores[0], from->stores[i], error);
    }
    if (status == SSTORE_OK)
        ss_record_merge_init(&from->records, from->stores[0]->manifest.has_ids);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = ss_record_merge_add_store(&from->records, from->stores[i], error);
    return status;
}

/* Which of `count` shards a fingerprint belongs to: the shards are ranges of its hash. */
static uint64_t shard_of(uint64_t fingerprint, uint64_t count)
{
    uint8_t bytes[8];
    ss_store_le64(bytes, fingerprint);
    return (ss_hash64(bytes, sizeof bytes) >> 32) * count >> 32;
}

static bool is_wanted(void *context, const sstore_record *record)
{
    const inputs *from = context;
    return from->shard_count == 1 || shard_of(record->fingerprint, from->shard_count) == from->shard;
}

/* ----- building ----- */

typedef struct input_totals {
    uint64_t record_count, next_ordinal;
    uint64_t memory_bytes; /* while they are read */
} input_totals;

static input_totals sum_up(const inputs *from)
{
    input_totals totals = {0};
    for (size_t i = 0; i < from->count; i++) {
        const ss_manifest *manifest = &from->stores[i]->manifest;
        ss_manifest_totals counts;
        (void)ss_manifest_counts(manifest, &counts);
        totals.next_ordinal = ss_max_u64(totals.next_ordinal, manifest->next_ordinal);
        totals.record_count += counts.record_count;
        for (uint32_t j = 0; j < manifest->segment_count; j++)
            totals.memory_bytes += ss_record_stream_bytes(from->stores[i]->segments[j]);
    }
    return totals;
}

/* Build a store at `path` of what the stream gives. */
static sstore_status build_from(inputs *from, const char *path, const sstore_build_options *options,
                                sstore_error *error)
{
    const ss_manifest *manifest = &from->stores[0]->manifest;
    const input_totals totals = sum_up(from);
    sstore_build_options taken = *options;
    sstore_builder *builder;
    taken.distance = manifest->distance;
    taken.without_ids = !manifest->has_ids;
    taken.recipe = manifest->recipe;
    sstore_status status = ss_builder_open(path, taken.replace != 0 ? SS_CLAIM_REPLACE : SS_CLAIM_NEW, &taken,
                                           SS_SEGMENT_RECORDS, &builder, error);
    if (status != SSTORE_OK)
        return status;
    builder->next_ordinal = totals.next_ordinal;
    builder->in_order = true;
    status = ss_builder_share_memory(builder, &taken, totals.memory_bytes, error);
    if (status == SSTORE_OK)
        status = ss_builder_check_reserved(builder, error);
    if (status == SSTORE_OK)
        status = ss_builder_check_space(builder, totals.record_count / from->shard_count, 0, error);
    if (status != SSTORE_OK) {
        sstore_builder_abort(builder);
        return status;
    }
    ss_stream_source stream = {.records = &from->records,
                               .is_wanted = is_wanted,
                               .context = from,
                               .next_ordinal = totals.next_ordinal};
    ss_piece_source source;
    size_t capacity = ss_piece_capacity(builder->build.memory.piece_capacity, totals.record_count);
    ss_stream_source_open(&stream, totals.record_count, capacity, &source);
    status = ss_builder_finish_from(builder, &source, NULL, error);
    ss_stream_source_close(&stream);
    return status;
}

/* The options of a call that reads `input_count` stores. */
static sstore_status take_options(const char *path, const char *const *input_paths, size_t input_count,
                                  const sstore_build_options *options, sstore_build_options *taken, sstore_error *error)
{
    if (path == NULL || input_paths == NULL || input_count == 0)
        return ss_fail_argument(error, "a path and at least one store to read must be given");
    if (!ss_take_options(taken, sizeof *taken, options, sizeof *taken))
        return ss_fail_argument(error, "the options are not set by SSTORE_BUILD_OPTIONS_INIT");
    return SSTORE_OK;
}

sstore_status sstore_merge(const char *path, const char *const *input_paths, size_t input_count,
                           const sstore_build_options *options, sstore_error *error)
{
    sstore_build_options taken = SSTORE_BUILD_OPTIONS_INIT;
    inputs from = {.count = 0};
    sstore_status status = take_options(path, input_paths, input_count, options, &taken, error);
    if (status == SSTORE_OK)
        status = open_inputs(&from, input_paths, input_count, error);
    if (status == SSTORE_OK)
        status = build_from(&from, path, &taken, error);
    close_inputs(&from);
    return status;
}

sstore_status sstore_shard(const char *path, const char *input_path, uint32_t shard, uint32_t shard_count,
                           const sstore_build_options *options, sstore_error *error)
{
    sstore_build_options taken = SSTORE_BUILD_OPTIONS_INIT;
    inputs from = {.count = 0};
    if (shard >= shard_count)
        return ss_fail_argument(error, "there is no shard %u of %u; the first one is 0", shard, shard_count);
    sstore_status status = take_options(path, &input_path, input_path != NULL, options, &taken, error);
    if (status == SSTORE_OK)
        status = open_inputs(&from, &input_path, 1, error);
    from.shard = shard;
    from.shard_count = shard_count;
    if (status == SSTORE_OK)
        status = build_from(&from, path, &taken, error);
    close_inputs(&from);
    return status;
}
