/*
 * merge.c - makes a store of the records of other stores: all of them, or those of a shard.
 */
#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"
#include "write/finish.h"
#include "write/record_pieces.h"
#include "write/write_options.h"

/* The stores that are read. */
typedef struct inputs {
    size_t count;
    sstore **stores;
    ss_merge_iterator records;
    ss_name_merge names;
    uint64_t record_count, next_id;
    uint64_t memory_bytes; /* while they are read */
} inputs;

static void close_inputs(inputs *from)
{
    ss_merge_iterator_close(&from->records);
    ss_name_merge_close(&from->names);
    for (size_t i = 0; from->stores != NULL && i < from->count; i++)
        sstore_close(from->stores[i]);
    ss_free(from->stores);
}

/* Check that two stores can be merged: for one distance, both with ids or both without, and of one recipe. */
static sstore_status check_alike(const sstore *first, const sstore *other, sstore_error *error)
{
    const ss_manifest *a = &first->manifest, *b = &other->manifest;
    if (a->words != b->words)
        return ss_fail_argument(error, "%s: fingerprints of %u bits, but those of %s have %u", other->dir.path,
                                SS_WORD_BITS * b->words, first->dir.path, SS_WORD_BITS * a->words);
    if (a->distance != b->distance)
        return ss_fail_argument(
            error, "%s: built for distance %u, but %s for %u; dump one and build it again for the other distance",
            other->dir.path, b->distance, first->dir.path, a->distance);
    if (a->has_ids != b->has_ids)
        return ss_fail_argument(error, "%s has %s, but %s has %s", other->dir.path, b->has_ids ? "ids" : "no ids",
                                first->dir.path, a->has_ids ? "ids" : "no ids");
    if (a->has_names != b->has_names)
        return ss_fail_argument(error, "%s has %s, but %s has %s", other->dir.path, b->has_names ? "names" : "no names",
                                first->dir.path, a->has_names ? "names" : "no names");
    return ss_manifest_check_recipe(b, other->dir.path, a->recipe, first->dir.path, error);
}

/* Add the records of an input, and its names, with ids that are `id_offset` higher. */
static sstore_status add_input(inputs *from, const sstore *store, uint64_t id_offset, sstore_error *error)
{
    const ss_manifest *manifest = &store->manifest;
    const uint32_t count = manifest->segment_count;
    uint64_t next_id;
    if (__builtin_add_overflow(manifest->next_id, id_offset, &next_id))
        return ss_fail_argument(error, "%s: the ids of the merged stores would together exceed 2^64 - 1",
                                store->dir.path);
    from->record_count += ss_manifest_count(manifest).record_count;
    from->next_id = ss_max_u64(from->next_id, next_id);
    from->memory_bytes += ss_merge_iterator_bytes(store, 0, count) + ss_name_merge_bytes(manifest, 0, count);
    from->records.id_offset = id_offset;
    const sstore_status status = ss_merge_iterator_add(&from->records, store, 0, count, error);
    return status == SSTORE_OK && manifest->has_names
               ? ss_name_merge_add_segments(&from->names, store, 0, count, id_offset, error)
               : status;
}

static sstore_status open_inputs(inputs *from, const char *const *paths, size_t count, bool raise_ids,
                                 sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *from = (inputs){.count = count};
    from->stores = ss_alloc(count, sizeof(sstore *));
    if (from->stores == NULL)
        return ss_fail_memory(error, count * sizeof(sstore *));
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        if (paths[i] == NULL)
            return ss_fail_argument(error, "sstore_merge: no path of input_paths may be NULL");
        status = ss_store_open_records(paths[i], &from->stores[i], error);
        if (status == SSTORE_OK)
            status = check_alike(from->stores[0], from->stores[i], error);
    }
    if (status == SSTORE_OK)
        ss_merge_iterator_init(&from->records, from->stores[0]->manifest.words, from->stores[0]->manifest.has_ids);
    from->records.sums = true;
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = add_input(from, from->stores[i], raise_ids ? from->next_id : 0, error);
    return status;
}

/* Build a store at `path` of a shard of the inputs. */
static sstore_status build_shard(inputs *from, const char *path, const sstore_write_options *options,
                                 sstore_change *change_out, sstore_error *error)
{
    ss_record_pieces pieces = {.records = &from->records,
                               .shard = options->shard,
                               .shard_count = options->shard_count,
                               .next_id = from->next_id};
    sstore_builder *builder;
    sstore_status status = ss_builder_open(path, NULL, options->force ? SS_WRITE_REPLACE : SS_WRITE_NEW,
                                           SS_SEGMENT_ADDS, options, &builder, error);
    if (status != SSTORE_OK)
        return status;
    builder->next_id = from->next_id;
    builder->in_order = true;
    builder->spec.names = &from->names;
    builder->change.given_count = from->record_count;
    status = ss_builder_prepare(builder, options, from->memory_bytes, from->record_count / options->shard_count, error);
    if (status != SSTORE_OK) {
        sstore_builder_abort(builder);
        return status;
    }
    const ss_sorted_pieces source = ss_record_pieces_open(&pieces, builder->spec.memory.piece_capacity,
                                                          from->record_count);
    status = ss_builder_finish_from(builder, &source, change_out, error);
    ss_record_pieces_close(&pieces);
    return status;
}

static bool all_have_id_index(const inputs *from)
{
    bool all = true;
    for (size_t i = 0; i < from->count; i++)
        all &= from->stores[i]->manifest.has_id_index;
    return all;
}

/* Set the options of the store that is made to what the inputs have. A shard of 1 is the whole. */
static sstore_status settle_options(const inputs *from, const char *path, sstore_write_options *options,
                                    sstore_error *error)
{
    const ss_manifest *manifest = &from->stores[0]->manifest;
    const sstore_status status = ss_manifest_check_bits(manifest, path, options->fingerprint_bits, error);
    if (status != SSTORE_OK)
        return status;
    options->fingerprint_bits = manifest->words * SS_WORD_BITS;
    options->recipe = manifest->recipe;
    options->distance = manifest->distance;
    options->no_ids = !manifest->has_ids;
    options->id_index |= all_have_id_index(from);
    options->names = manifest->has_names;
    options->shard_count = ss_max_u32(options->shard_count, 1);
    if (options->shard < options->shard_count)
        return SSTORE_OK;
    return ss_fail_argument(error, "shard %u of %u does not exist; shards are numbered from 0", options->shard,
                            options->shard_count);
}

sstore_status sstore_merge(const char *path, const char *const *input_paths, size_t input_count,
                           const sstore_write_options *options, sstore_change *change_out, sstore_error *error)
{
    sstore_write_options taken;
    inputs from = {.count = 0};
    if (path == NULL || input_paths == NULL || input_count == 0)
        return ss_fail_argument(error, "the path must not be NULL, and there must be at least one store to read");
    sstore_status status = ss_write_options_take(&taken, options, SS_WRITE_CALL_MERGE, error);
    if (status == SSTORE_OK)
        status = ss_check_result(change_out, SS_CHANGE_SIZE_1, error);
    if (status == SSTORE_OK)
        status = open_inputs(&from, input_paths, input_count, taken.raise_ids, error);
    if (status == SSTORE_OK)
        status = settle_options(&from, input_paths[0], &taken, error);
    if (status == SSTORE_OK)
        status = build_shard(&from, path, &taken, change_out, error);
    close_inputs(&from);
    return status;
}

sstore_status sstore_shard_numbers(const uint64_t *fingerprints, uint32_t fingerprint_bits, size_t count,
                                   uint32_t shard_count, uint32_t *shards_out, sstore_error *error)
{
    const uint32_t words = fingerprint_bits / SS_WORD_BITS;
    const sstore_status status = ss_check_fingerprint_bits(fingerprint_bits, error);
    if (status != SSTORE_OK)
        return status;
    if (count > 0 && (fingerprints == NULL || shards_out == NULL))
        return ss_fail_argument(error, "sstore_shard_numbers: fingerprints and shards_out must not be NULL");
    if (shard_count == 0)
        return ss_fail_argument(error, "there must be at least one shard");
    for (size_t i = 0; i < count; i++)
        shards_out[i] = ss_shard_of(fingerprints + i * words, words, shard_count);
    return SSTORE_OK;
}
