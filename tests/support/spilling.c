#include "support/spilling.h"

#include "output/walk.h"
#include "sstore_stream.h"
#include "support/scratch.h"
#include "support/use_store.h"

static sstore_write_options build_options(const spilling *how)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.memory_bytes = 1 << 20;
    options.plan = how->plan;
    options.threads = how->threads;
    options.tmp_dir = how->tmp_dir;
    return options;
}

static sstore_join_options join_options(const spilling *how)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    options.memory_bytes = 8 << 20;
    options.threads = how->threads;
    options.tmp_dir = how->tmp_dir;
    options.distance = how->distance;
    return options;
}

/* ----- writing ----- */

sstore_status spilling_build(const spilling *how, sstore_error *error)
{
    const sstore_write_options options = build_options(how);
    scratch_remove(how->target);
    return store_build(how->target, &options, how->set, 0, error);
}

sstore_status spilling_add(const spilling *how, sstore_error *error)
{
    const sstore_write_options as_built = build_options(how);
    const sstore_write_options options = options_to_add(&as_built);
    return store_add(how->target, &options, how->set->fingerprints, how->set->ids, how->set->count, NULL, error);
}

sstore_status spilling_remove(const spilling *how, sstore_error *error)
{
    const sstore_write_options as_built = build_options(how);
    const sstore_write_options options = options_to_remove(&as_built);
    return store_remove(how->target, &options, how->set->fingerprints, how->set->ids, how->set->count / 2, NULL, error);
}

sstore_status spilling_compact(const spilling *how, sstore_error *error)
{
    const sstore_write_options as_built = build_options(how);
    const sstore_write_options options = options_to_compact(&as_built);
    return sstore_compact(how->target, SSTORE_COMPACTION_ALL, &options, NULL, error);
}

sstore_status spilling_merge(const spilling *how, sstore_error *error)
{
    const sstore_write_options as_built = build_options(how);
    const sstore_write_options options = options_to_merge(&as_built);
    const char *const inputs[] = {how->store, how->other};
    scratch_remove(how->target);
    return sstore_merge(how->target, inputs, 2, &options, NULL, error);
}

/* ----- reading ----- */

sstore_status spilling_pairs(const spilling *how, sstore_error *error)
{
    const sstore_join_options options = join_options(how);
    sstore *opened;
    sstore_status status = sstore_open(how->store, NULL, &opened, error);
    if (status == SSTORE_OK)
        status = walk_pairs(opened, NULL, &options, store_ignore_pair, NULL, error);
    sstore_close(opened);
    return status;
}

sstore_status spilling_clusters(const spilling *how, sstore_error *error)
{
    const sstore_join_options join = join_options(how);
    const sstore_cluster_options options = options_to_cluster(&join, true);
    sstore *opened;
    sstore_status status = sstore_open(how->store, NULL, &opened, error);
    if (status == SSTORE_OK)
        status = walk_clusters(opened, &options, store_ignore_clustered, NULL, error);
    sstore_close(opened);
    return status;
}

sstore_status spilling_join(const spilling *how, sstore_error *error)
{
    const sstore_join_options options = join_options(how);
    sstore *left, *right = NULL;
    sstore_status status = sstore_open(how->store, NULL, &left, error);
    if (status == SSTORE_OK)
        status = sstore_open(how->other, NULL, &right, error);
    if (status == SSTORE_OK)
        status = walk_pairs(left, right, &options, store_ignore_pair, NULL, error);
    sstore_close(left);
    sstore_close(right);
    return status;
}

sstore_status spilling_collect(const spilling *how, sstore_error *error)
{
    sstore_collection_options options = SSTORE_COLLECTION_OPTIONS_INIT;
    sstore_collection *collection;
    options.memory_bytes = how->collection_bytes;
    options.tmp_dir = how->tmp_dir;
    sstore_status status = sstore_collection_create(&options, &collection, error);
    for (size_t i = 0; status == SSTORE_OK && i < how->set->count; i++) {
        const uint64_t fingerprint = how->set->fingerprints[i], query = fingerprint ^ 1;
        const sstore_stream_match match = {.query = &query, .fingerprint = &fingerprint};
        status = sstore_collection_add(collection, &match, 1, error);
    }
    if (status == SSTORE_OK)
        status = sstore_collection_report(collection, store_ignore_scanned, NULL, error);
    sstore_collection_free(collection);
    return status;
}
