/* builder.c - gathers records, sorts them, and publishes segments. */
#include "write/builder.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

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

/* Add the records that got their ids from new names. */
static sstore_status add_newly_named(sstore_builder *builder, sstore_error *error)
{
    ss_new_names *names = &builder->new_names;
    const uint64_t *fingerprint;
    if (names->items == NULL)
        return SSTORE_OK;
    ss_progress_begin(&builder->progress, "sorting", 0, ss_sorter_count(names->items->sorter), 0);
    sstore_status status = ss_new_names_finish(names, &builder->progress, error);
    do {
        if (status == SSTORE_OK)
            status = ss_progress_add(&builder->progress, 0, 1);
        if (status == SSTORE_OK)
            status = ss_new_names_next(names, &fingerprint, error);
        if (status == SSTORE_OK && fingerprint != NULL)
            status = ss_builder_add_records(builder, fingerprint, &names->id, 1, error);
    } while (status == SSTORE_OK && fingerprint != NULL);
    ss_new_names_close(names);
    return status;
}

sstore_status ss_builder_sort(sstore_builder *builder, ss_sorted_pieces *pieces_out, sstore_error *error)
{
    sstore_status status = add_newly_named(builder, error);
    if (status != SSTORE_OK)
        return status;
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

void ss_note_changed(sstore_builder *builder, uint64_t count)
{
    if (builder->spec.kind == SS_SEGMENT_REMOVES)
        builder->change.removed_count = count;
    else
        builder->change.added_count = count;
}

void ss_note_store(sstore_change *change, const ss_manifest *manifest)
{
    change->record_count = ss_manifest_count(manifest).record_count;
    change->total_bytes = ss_manifest_total_bytes(manifest);
    change->segment_count = manifest->segment_count;
}
