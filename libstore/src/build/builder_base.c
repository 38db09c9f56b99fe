/*
 * builder_base.c - looks into the store that a builder changes. Only what is not there is added, only what is there
 * removed: so readers need not look for doubles (file/manifest.h).
 */
#include "base/error.h"
#include "build/builder.h"
#include "store/cursor.h"

#define KEY_BYTES 20u /* of a key that stands for records, with what sorting and looking up takes */

uint64_t ss_builder_base_bytes(const ss_manifest *manifest, uint32_t threads)
{
    const sstore_io io = SSTORE_IO_PREAD;
    uint64_t finders = ss_presence_bytes(manifest, false, io);
    return ss_store_memory_bytes(manifest, io) - ss_cursor_bytes(manifest, io) + threads * finders;
}

static sstore_status add_found(void *context, const sstore_record *records, size_t count, sstore_error *error)
{
    sstore_builder *builder = context;
    uint64_t fingerprints[256], ids[256];
    sstore_status status = SSTORE_OK;
    for (size_t begin = 0, end; status == SSTORE_OK && begin < count; begin = end) {
        for (end = begin; end < count && end - begin < 256; end++) {
            fingerprints[end - begin] = records[end].fingerprint;
            ids[end - begin] = records[end].id;
        }
        status = ss_builder_add_records(builder, fingerprints, ids, end - begin, error);
    }
    return status;
}

sstore_status ss_builder_open_base(sstore_builder *builder, sstore_error *error)
{
    ss_builder_base *base = &builder->base;
    const uint32_t threads = builder->build.memory.threads;
    const bool removes = ss_builder_removes(builder);
    if (base->store != NULL)
        return SSTORE_OK;
    sstore_status status = ss_builder_check_reserved(builder, error);
    if (status == SSTORE_OK)
        status = ss_store_open_in(&builder->place->store, false, &base->store, error);
    if (status == SSTORE_OK)
        status = ss_presence_filter_open(&base->filter, base->store, threads, removes, error);
    if (status != SSTORE_OK || !removes)
        return status;
    size_t capacity = (size_t)ss_min_u64(builder->build.memory.sorter_bytes / 4 / KEY_BYTES, UINT32_MAX);
    ss_removal_keys_init(&base->fingerprints, base->store, false, capacity, add_found, builder);
    ss_removal_keys_init(&base->ids, base->store, true, capacity, add_found, builder);
    return SSTORE_OK;
}

void ss_builder_find_conflicts(sstore_builder *builder)
{
    sstore *store;
    if (builder->conflicts.capacity == 0)
        return;
    builder->change->ids_checked = 1;
    if (builder->change->added_count == 0 || (builder->conflicts.count == 0 && !builder->conflicts.left_out))
        return;
    ss_builder_close_base(builder); /* the memory is reserved for one open store */
    builder->change->ids_checked = 0;
    if (ss_store_open_in(&builder->place->store, true, &store, NULL) != SSTORE_OK)
        return;
    ss_id_conflicts_find(&builder->conflicts, store, builder->base_next_ordinal, builder->change);
    sstore_close(store);
}

void ss_builder_close_base(sstore_builder *builder)
{
    ss_builder_base *base = &builder->base;
    ss_removal_keys_free(&base->fingerprints);
    ss_removal_keys_free(&base->ids);
    ss_presence_filter_close(&base->filter);
    sstore_close(base->store);
    base->store = NULL;
}
