/* builder.c - takes records, sorts them, and publishes segments. */
#include "write/builder.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define ID_BATCH 1024u
#define FIRST_WORDS ((size_t)16384) /* of fingerprints that are gathered before they are sorted */

/* ----- adding ----- */

/* The number of records that are gathered, and where their ids are. */
static size_t first_capacity(const sstore_builder *builder)
{
    return FIRST_WORDS / builder->spec.words;
}

static uint64_t *first_ids(const sstore_builder *builder)
{
    return builder->first + first_capacity(builder) * builder->spec.words;
}

static sstore_status open_sorter(sstore_builder *builder, uint64_t expected_count, sstore_error *error)
{
    const bool has_ids = builder->spec.has_ids;
    ss_sorter_options options = {.item_words = builder->spec.words + (has_ids ? 1 : 0),
                                 .writers = 1,
                                 .pool = &builder->pool,
                                 .piece_capacity = builder->spec.memory.piece_capacity,
                                 .expected_count = expected_count,
                                 .tmp_dir = builder->spec.tmp_dir,
                                 .refine = builder->base.store != NULL ? ss_builder_keep_changes : NULL,
                                 .refine_context = builder};
    sstore_status status = ss_sorter_create(&options, &builder->records, error);
    if (status == SSTORE_OK && builder->first_count > 0)
        status = ss_sorter_add(builder->records, 0, builder->first, has_ids ? first_ids(builder) : NULL,
                               builder->first_count, error);
    return status;
}

/* Few records stay in an array, because a sorter takes time to create. */
sstore_status ss_builder_add_records(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                     size_t count, sstore_error *error)
{
    assert(ids != NULL || !builder->spec.has_ids);
    const uint32_t words = builder->spec.words;
    if (builder->records == NULL && count <= first_capacity(builder) - builder->first_count) {
        if (builder->first == NULL)
            builder->first = ss_realloc(NULL, 2 * FIRST_WORDS, sizeof *builder->first);
        if (builder->first == NULL)
            return ss_fail_memory(error, 2 * FIRST_WORDS * sizeof *builder->first);
        memcpy(builder->first + builder->first_count * words, fingerprints, count * words * sizeof *fingerprints);
        if (builder->spec.has_ids)
            memcpy(first_ids(builder) + builder->first_count, ids, count * sizeof *ids);
        builder->first_count += count;
        return SSTORE_OK;
    }
    sstore_status status = SSTORE_OK;
    if (builder->records == NULL)
        status = open_sorter(builder, UINT64_MAX, error);
    if (status == SSTORE_OK)
        status = ss_sorter_add(builder->records, 0, fingerprints, builder->spec.has_ids ? ids : NULL, count, error);
    return status;
}

/* Add records that are numbered from next_id on. */
static sstore_status add_with_next_ids(sstore_builder *builder, const uint64_t *fingerprints, size_t count,
                                       sstore_error *error)
{
    uint64_t ids[ID_BATCH];
    sstore_status status = SSTORE_OK;
    if (count > UINT64_MAX - builder->next_id)
        return ss_fail_argument(error, SS_NO_ID_LEFT);
    for (size_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
        size = (size_t)ss_min_u64(count - done, ID_BATCH);
        for (size_t i = 0; i < size; i++)
            ids[i] = builder->next_id++;
        status = ss_builder_add_records(builder, fingerprints + done * builder->spec.words, ids, size, error);
    }
    return status;
}

sstore_status sstore_builder_skip_ids(sstore_builder *builder, uint64_t count, sstore_error *error)
{
    if (builder == NULL)
        return ss_fail_argument(error, "sstore_builder_skip_ids: builder must not be NULL");
    if (!builder->spec.has_ids)
        return SSTORE_OK;
    if (count > UINT64_MAX - builder->next_id)
        return ss_fail_argument(error, SS_NO_ID_LEFT);
    builder->next_id += count;
    return SSTORE_OK;
}

/* Add records with given ids, or with the next ones. */
static sstore_status add(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                         sstore_error *error)
{
    const bool has_ids = builder->spec.has_ids;
    builder->change.given_count += count;
    builder->ids_given = ids != NULL;
    if (has_ids && ids == NULL) /* no record of the extended store can have these */
        return add_with_next_ids(builder, fingerprints, count, error);
    sstore_status status = builder->extends ? ss_builder_open_base(builder, error) : SSTORE_OK;
    if (status != SSTORE_OK)
        return status;
    for (size_t i = 0; has_ids && i < count; i++)
        ss_id_conflicts_note(&builder->conflicts, ids[i], &builder->next_id);
    return ss_builder_add_records(builder, fingerprints, ids, count, error);
}

/* Check that records can be added with given ids, or without. */
static sstore_status check_given(const sstore_builder *builder, bool ids_given, sstore_error *error)
{
    if (!builder->spec.has_ids || builder->change.given_count == 0 || builder->ids_given == ids_given)
        return SSTORE_OK;
    return ss_fail_argument(error, "sstore_builder_add: either all records have ids or none has");
}

sstore_status sstore_builder_add(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                 size_t count, sstore_error *error)
{
    if (builder == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "sstore_builder_add: builder and fingerprints must not be NULL");
    if (count == 0)
        return SSTORE_OK;
    if (builder->spec.has_names)
        return ss_fail_argument(error, "%s: the store has names: add each record with its name",
                                builder->transaction->path);
    const sstore_status status = check_given(builder, ids != NULL, error);
    return status == SSTORE_OK ? add(builder, fingerprints, ids, count, error) : status;
}

/* Check all names before anything is added. */
static sstore_status check_names(const sstore_builder *builder, const sstore_name *names, size_t count,
                                 sstore_error *error)
{
    if (!builder->spec.has_names)
        return ss_fail_argument(error, "%s: the store has no names; build it with names", builder->transaction->path);
    for (size_t i = 0; i < count; i++) {
        const sstore_status status = ss_check_name(&names[i], i, error);
        if (status != SSTORE_OK)
            return status;
    }
    return SSTORE_OK;
}

sstore_status sstore_builder_add_named(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                       const sstore_name *names, size_t count, sstore_error *error)
{
    if (builder == NULL || ((fingerprints == NULL || names == NULL) && count > 0))
        return ss_fail_argument(error, "sstore_builder_add_named: builder, fingerprints and names must not be NULL");
    if (count == 0)
        return SSTORE_OK;
    sstore_status status = check_names(builder, names, count, error);
    if (status == SSTORE_OK)
        status = check_given(builder, ids != NULL, error);
    const uint64_t first_id = builder->next_id;
    if (status == SSTORE_OK)
        status = add(builder, fingerprints, ids, count, error);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = ss_name_runs_add(&builder->names, ids != NULL ? ids[i] : first_id + i, names[i].bytes, names[i].size,
                                  error);
    builder->spec.name_bytes = builder->names.name_bytes;
    return status;
}

sstore_status ss_builder_sort(sstore_builder *builder, ss_sorted_pieces *pieces_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (builder->records == NULL)
        status = open_sorter(builder, builder->first_count, error);
    if (status != SSTORE_OK)
        return status;
    const uint64_t count = ss_sorter_count(builder->records);
    const size_t capacity = ss_piece_capacity(builder->spec.memory.piece_capacity, count);
    status = ss_builder_check_space(builder, builder->spec.kind, count, ss_sorter_spilled_bytes(builder->records),
                                    error);
    if (status != SSTORE_OK)
        return status;
    ss_progress_begin(&builder->progress, "sorting", 0, count, 0);
    status = ss_sorter_finish(builder->records, &builder->progress, error);
    if (status != SSTORE_OK)
        return status;
    *pieces_out = ss_pieces_of_sorter(builder->records, capacity);
    /* A piece may keep none of its records: those left out have also taken time. */
    if (builder->base.store != NULL && pieces_out->piece_count > 0)
        pieces_out->progress_each = (size_t)(pieces_out->item_count / pieces_out->piece_count);
    builder->records = NULL;
    return SSTORE_OK;
}

/* ----- publishing ----- */

sstore_status ss_builder_publish(const sstore_builder *builder, uint32_t first, uint32_t end,
                                 const ss_manifest_segment *made, uint32_t count, sstore_error *error)
{
    const ss_manifest *before = &builder->transaction->manifest;
    const ss_manifest new_store = {.words = builder->spec.words,
                                   .distance = builder->spec.distance,
                                   .has_ids = builder->spec.has_ids,
                                   .plan_given = builder->spec.plan != NULL || builder->plan_name != NULL,
                                   .recipe = builder->recipe};
    ss_manifest manifest = builder->extends ? *before : new_store;
    if (builder->recipe[0] != '\0')
        manifest.recipe = builder->recipe;
    manifest.has_id_index = builder->spec.has_id_index;
    manifest.has_names = builder->spec.has_names;
    const uint32_t newer = manifest.segment_count - end;
    uint32_t fresh[SS_MAX_MADE];
    manifest.next_id = builder->next_id;
    manifest.segment_count = first + count + newer;
    manifest.segments = ss_alloc(manifest.segment_count, sizeof *manifest.segments);
    if (manifest.segments == NULL)
        return ss_fail_memory(error, manifest.segment_count * sizeof *manifest.segments);
    for (uint32_t i = 0; i < first; i++)
        manifest.segments[i] = before->segments[i];
    for (uint32_t i = 0; i < count; i++) {
        fresh[i] = first + i;
        manifest.segments[first + i] = made[i];
    }
    for (uint32_t i = 0; i < newer; i++)
        manifest.segments[first + count + i] = before->segments[end + i];
    sstore_status status = ss_manifest_entry_count(&manifest) <= SS_MAX_SEGMENTS
                               ? ss_transaction_commit(builder->transaction, &manifest, fresh, error)
                               : ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, builder->transaction->path,
                                         SSTORE_NO_OFFSET, "the store has %u segments, the maximum; compact it",
                                         before->segment_count);
    ss_free(manifest.segments);
    return status;
}

void ss_note_store(sstore_change *change, const ss_manifest *manifest)
{
    change->record_count = ss_manifest_count(manifest).record_count;
    change->total_bytes = ss_manifest_total_bytes(manifest);
    change->segment_count = manifest->segment_count;
}
