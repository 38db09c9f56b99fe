/*
 * builder.c - takes records, and at the end sorts, encodes and publishes them.
 */
#include "build/builder.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define ORDINAL_BATCH 1024u
#define FIRST_RECORDS ((size_t)16384)

/* ----- adding ----- */

static sstore_status open_sorter(sstore_builder *builder, uint64_t expected_count, sstore_error *error)
{
    const ss_build_memory *memory = &builder->build.memory;
    ss_sorter_options options = {.item_words = builder->build.has_ids ? 2 : 1,
                                 .writers = 1,
                                 .pool = &builder->pool,
                                 .piece_capacity = memory->piece_capacity,
                                 .expected_count = expected_count,
                                 .tmp_dir = builder->build.tmp_dir};
    sstore_status status = ss_sorter_create(&options, &builder->records, error);
    if (status == SSTORE_OK)
        status = ss_sorter_add(builder->records, 0, builder->first_fingerprints, builder->first_ids,
                               builder->first_count, error);
    return status;
}

/* Put records beside the first ones, as long as they are few: a sorter for any number takes time to set up. */
static sstore_status keep_first(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                size_t count, sstore_error *error)
{
    if (builder->first_fingerprints == NULL) {
        builder->first_fingerprints = ss_realloc(NULL, FIRST_RECORDS, sizeof *builder->first_fingerprints);
        builder->first_ids = ss_realloc(NULL, FIRST_RECORDS, sizeof *builder->first_ids);
    }
    if (builder->first_fingerprints == NULL || builder->first_ids == NULL)
        return ss_fail_memory(error, FIRST_RECORDS * sizeof *builder->first_fingerprints);
    memcpy(builder->first_fingerprints + builder->first_count, fingerprints, count * sizeof *fingerprints);
    if (builder->build.has_ids)
        memcpy(builder->first_ids + builder->first_count, ids, count * sizeof *ids);
    builder->first_count += count;
    return SSTORE_OK;
}

static sstore_status add_records(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                 size_t count, sstore_error *error)
{
    if (builder->records == NULL && count <= FIRST_RECORDS - builder->first_count)
        return keep_first(builder, fingerprints, ids, count, error);
    sstore_status status = SSTORE_OK;
    if (builder->records == NULL)
        status = open_sorter(builder, UINT64_MAX, error);
    if (status == SSTORE_OK)
        status = ss_sorter_add(builder->records, 0, fingerprints, ids, count, error);
    return status;
}

/* Add records whose ids are the ordinals from next_ordinal on. */
static sstore_status add_with_ordinals(sstore_builder *builder, const uint64_t *fingerprints, size_t count,
                                       sstore_error *error)
{
    uint64_t ids[ORDINAL_BATCH];
    sstore_status status = SSTORE_OK;
    if (count > UINT64_MAX - builder->next_ordinal)
        return ss_fail_argument(error, "there are no ordinals left: they end below 2^64 - 1, and the next one is %llu",
                                (unsigned long long)builder->next_ordinal);
    while (status == SSTORE_OK && count > 0) {
        size_t piece = count < ORDINAL_BATCH ? count : ORDINAL_BATCH;
        for (size_t i = 0; i < piece; i++)
            ids[i] = builder->next_ordinal++;
        status = add_records(builder, fingerprints, ids, piece, error);
        fingerprints += piece;
        count -= piece;
    }
    return status;
}

/* The next ordinal of a store whose ids are given is one above the largest, as far as there is one. */
static void note_given_ids(sstore_builder *builder, const uint64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= builder->next_ordinal)
            builder->next_ordinal = ids[i] == UINT64_MAX ? ids[i] : ids[i] + 1;
}

sstore_status sstore_builder_add(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                 size_t count, sstore_error *error)
{
    if (builder == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "sstore_builder_add: builder and fingerprints must not be NULL");
    if (count == 0)
        return SSTORE_OK;
    if (!builder->build.has_ids)
        return add_records(builder, fingerprints, NULL, count, error);
    id_source source = ids != NULL ? IDS_GIVEN : IDS_ORDINAL;
    if (builder->ids != IDS_UNKNOWN && builder->ids != source)
        return ss_fail_argument(error, "sstore_builder_add: either all records have ids or none has");
    builder->ids = source;
    if (source == IDS_ORDINAL)
        return add_with_ordinals(builder, fingerprints, count, error);
    note_given_ids(builder, ids, count);
    return add_records(builder, fingerprints, ids, count, error);
}

/* ----- finishing ----- */

static sstore_status load_records(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                                  sstore_error *error)
{
    const sstore_builder *builder = context;
    return ss_sorter_load(builder->records, piece, items, scratch, count_out, error);
}

static void release_records(void *context)
{
    sstore_builder *builder = context;
    ss_sorter_free(builder->records);
    builder->records = NULL;
}

/* Sort what was added. */
static sstore_status seal_records(sstore_builder *builder, ss_piece_source *source, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (builder->records == NULL)
        status = open_sorter(builder, builder->first_count, error);
    if (status == SSTORE_OK)
        status = ss_builder_check_space(builder, ss_sorter_count(builder->records),
                                        ss_sorter_spilled_bytes(builder->records), error);
    if (status != SSTORE_OK)
        return status;
    const uint64_t count = ss_sorter_count(builder->records);
    size_t capacity = ss_piece_capacity(builder->build.memory.piece_capacity, count);
    void *buffer = ss_realloc(NULL, capacity, sizeof(sstore_record));
    if (buffer == NULL)
        return ss_fail_memory(error, capacity * sizeof(sstore_record));
    ss_progress_begin(&builder->progress, "sorting", 0, count, 0);
    status = ss_sorter_seal(builder->records, buffer, &builder->progress, error);
    ss_free(buffer);
    *source = (ss_piece_source){.context = builder,
                                .item_count = count,
                                .piece_count = ss_sorter_piece_count(builder->records),
                                .most_items = capacity,
                                .load = load_records};
    return status;
}

static sstore_status publish(sstore_builder *builder, ss_manifest_segment *segment, sstore_error *error)
{
    ss_manifest manifest = {.distance = builder->build.distance,
                            .has_ids = builder->build.has_ids,
                            .next_ordinal = builder->next_ordinal,
                            .recipe = builder->recipe,
                            .segment_count = 1,
                            .segments = segment};
    return ss_workplace_publish(&builder->place, &manifest, error);
}

sstore_status sstore_builder_finish(sstore_builder *builder, sstore_error *error)
{
    if (builder == NULL)
        return ss_fail_argument(error, "sstore_builder_finish: builder must not be NULL");
    ss_piece_source source;
    sstore_status status = seal_records(builder, &source, error);
    if (status == SSTORE_OK)
        return ss_builder_finish_from(builder, &source, release_records, error);
    sstore_builder_abort(builder);
    return status;
}

sstore_status ss_builder_finish_from(sstore_builder *builder, const ss_piece_source *source,
                                     void (*release)(void *context), sstore_error *error)
{
    ss_manifest_segment *segment = ss_alloc(1, sizeof *segment);
    sstore_status status = segment != NULL ? SSTORE_OK : ss_fail_memory(error, sizeof *segment);
    if (status == SSTORE_OK)
        status = ss_segment_build_run(&builder->build, source, release, segment, error);
    if (status == SSTORE_OK)
        status = publish(builder, segment, error);
    ss_free(segment);
    sstore_builder_abort(builder); /* after publication nothing is left to remove */
    return status;
}

void sstore_builder_abort(sstore_builder *builder)
{
    if (builder == NULL)
        return;
    ss_sorter_free(builder->records);
    ss_chunk_pool_close(&builder->pool);
    ss_free(builder->first_fingerprints);
    ss_free(builder->first_ids);
    ss_workplace_close(&builder->place);
    ss_dir_close(&builder->tmp_dir);
    ss_free(builder->plan);
    ss_free(builder->recipe);
    ss_free(builder);
}
