#include "write/builder.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/cursor.h"

/* ===== builder ===== */

/* Takes records, and at the end sorts, encodes and publishes them. */

#define ORDINAL_BATCH 1024u
#define FIRST_RECORDS ((size_t)16384)

/* ----- adding ----- */

/* What is there already need not be added, and what is not there cannot be removed. */
static sstore_status keep_what_changes(void *context, void *items, size_t *count, sstore_error *error)
{
    return ss_membership_filter_run(context, items, count, error);
}

static sstore_status open_sorter(sstore_builder *builder, uint64_t expected_count, sstore_error *error)
{
    const ss_build_memory *memory = &builder->build.memory;
    ss_sorter_options options = {.item_words = builder->build.has_ids ? 2 : 1,
                                 .writers = 1,
                                 .pool = &builder->pool,
                                 .piece_capacity = memory->piece_capacity,
                                 .expected_count = expected_count,
                                 .tmp_dir = builder->build.tmp_dir};
    if (builder->base.store != NULL) {
        options.refine = keep_what_changes;
        options.refine_context = &builder->base.filter;
    }
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

sstore_status ss_builder_add_records(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                     size_t count, sstore_error *error)
{
    assert(ids != NULL || !builder->build.has_ids);
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
        return ss_fail_argument(error,
                                "there are no ordinals left: they end below 2^64 - 1, and the next one is %llu; "
                                "give ids with the records",
                                (unsigned long long)builder->next_ordinal);
    while (status == SSTORE_OK && count > 0) {
        size_t piece = count < ORDINAL_BATCH ? count : ORDINAL_BATCH;
        for (size_t i = 0; i < piece; i++)
            ids[i] = builder->next_ordinal++;
        status = ss_builder_add_records(builder, fingerprints, ids, piece, error);
        fingerprints += piece;
        count -= piece;
    }
    return status;
}

/* The next ordinal of a store whose ids are given is one above the largest, as far as there is one. */
static void note_given_ids(sstore_builder *builder, const uint64_t *ids, size_t count)
{
    assert(ids != NULL);
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < builder->next_ordinal || ids[i] == UINT64_MAX)
            ss_id_conflicts_suspect(&builder->conflicts, ids[i]);
        if (ids[i] >= builder->next_ordinal)
            builder->next_ordinal = ids[i] == UINT64_MAX ? ids[i] : ids[i] + 1;
    }
}

sstore_status sstore_builder_add(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                 size_t count, sstore_error *error)
{
    if (builder == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "sstore_builder_add: builder and fingerprints must not be NULL");
    if (count == 0)
        return SSTORE_OK;
    const bool has_ids = builder->build.has_ids;
    const id_source source = ids != NULL ? IDS_GIVEN : IDS_ORDINAL;
    if (has_ids && builder->ids != IDS_UNKNOWN && builder->ids != source)
        return ss_fail_argument(error, "sstore_builder_add: either all records have ids or none has");
    builder->given_count += count;
    builder->ids = source;
    if (has_ids && source == IDS_ORDINAL) /* which no record of a store that is added to can have */
        return add_with_ordinals(builder, fingerprints, count, error);
    sstore_status status = builder->extends ? ss_builder_open_base(builder, error) : SSTORE_OK;
    if (status != SSTORE_OK)
        return status;
    if (has_ids)
        note_given_ids(builder, ids, count);
    return ss_builder_add_records(builder, fingerprints, ids, count, error);
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
static sstore_status finish_records(sstore_builder *builder, ss_sorted_pieces *source, sstore_error *error)
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
    status = ss_sorter_finish(builder->records, buffer, &builder->progress, error);
    ss_free(buffer);
    *source = (ss_sorted_pieces){.context = builder,
                                 .item_count = count,
                                 .piece_count = ss_sorter_piece_count(builder->records),
                                 .max_items = capacity,
                                 .load = load_records};
    return status;
}

void ss_builder_note_change(sstore_builder *builder, const ss_manifest_segment *segment)
{
    const ss_manifest *manifest = &builder->transaction->manifest;
    ss_manifest_totals totals;
    (void)ss_manifest_counts(manifest, &totals);
    builder->change = (sstore_change){
        .given_count = builder->given_count,
        .added_count = segment != NULL && segment->kind == SS_SEGMENT_RECORDS ? segment->record_count : 0,
        .removed_count = segment != NULL && segment->kind == SS_SEGMENT_REMOVED ? segment->record_count : 0,
        .record_count = totals.record_count,
        .total_bytes = ss_manifest_total_bytes(manifest),
        .segment_count = manifest->segment_count,
        .segment_count_before = builder->segment_count_before,
        .total_bytes_before = builder->total_bytes_before};
}

/* Publish the segment as all of the store. */
static sstore_status publish_alone(sstore_builder *builder, ss_manifest_segment *segment, sstore_error *error)
{
    const uint32_t fresh = 0;
    ss_manifest manifest = {.distance = builder->build.distance,
                            .has_ids = builder->build.has_ids,
                            .plan_given = builder->plan_given,
                            .next_ordinal = builder->next_ordinal,
                            .recipe = builder->recipe,
                            .segment_count = 1,
                            .segments = segment};
    return ss_transaction_commit(builder->transaction, &manifest, &fresh, error);
}

/* Publish the segment as the newest of a store. */
static sstore_status publish_newest(sstore_builder *builder, const ss_manifest_segment *segment, sstore_error *error)
{
    ss_manifest manifest = builder->transaction->manifest;
    const uint32_t count = manifest.segment_count;
    if (count >= SS_MAX_SEGMENTS)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, builder->transaction->path, SSTORE_NO_OFFSET,
                       "the store has %u segments already, as many as it can; compact it", count);
    manifest.segments = ss_alloc(count + 1, sizeof *manifest.segments);
    if (manifest.segments == NULL)
        return ss_fail_memory(error, (count + 1) * sizeof *manifest.segments);
    if (count > 0)
        memcpy(manifest.segments, builder->transaction->manifest.segments, count * sizeof *manifest.segments);
    manifest.segments[count] = *segment;
    manifest.segment_count = count + 1;
    manifest.next_ordinal = builder->next_ordinal;
    sstore_status status = ss_transaction_commit(builder->transaction, &manifest, &count, error);
    ss_free(manifest.segments);
    return status;
}

/* A segment that changes nothing is not published. */
static sstore_status publish(sstore_builder *builder, ss_manifest_segment *segment, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (!builder->extends) {
        status = publish_alone(builder, segment, error);
    } else if (segment->record_count > 0) {
        status = publish_newest(builder, segment, error);
    } else {
        ss_transaction_discard_all(builder->transaction);
        ss_transaction_clean_up(builder->transaction);
    }
    if (status == SSTORE_OK) {
        ss_builder_note_change(builder, segment);
        ss_builder_find_conflicts(builder);
    }
    return status;
}

sstore_status ss_builder_finish_from(sstore_builder *builder, const ss_sorted_pieces *source,
                                     void (*release)(void *context), sstore_change *change_out, sstore_error *error)
{
    ss_manifest_segment *segment = ss_alloc(1, sizeof *segment);
    sstore_status status = segment != NULL ? SSTORE_OK : ss_fail_memory(error, sizeof *segment);
    if (status == SSTORE_OK)
        status = ss_segment_write(&builder->build, source, release, segment, error);
    if (status == SSTORE_OK)
        status = publish(builder, segment, error);
    if (status == SSTORE_OK && change_out != NULL)
        status = ss_give_result(change_out, &builder->change, sizeof builder->change, SS_CHANGE_SIZE_1, error);
    ss_free(segment);
    sstore_builder_abort(builder); /* after publication nothing is left to remove */
    return status;
}

sstore_status ss_builder_finish(sstore_builder *builder, sstore_change *change_out, sstore_error *error)
{
    ss_sorted_pieces source;
    sstore_status status = ss_check_result(change_out, SS_CHANGE_SIZE_1, error);
    if (status == SSTORE_OK)
        status = finish_records(builder, &source, error);
    if (status == SSTORE_OK)
        return ss_builder_finish_from(builder, &source, release_records, change_out, error);
    sstore_builder_abort(builder);
    return status;
}

sstore_status sstore_builder_finish(sstore_builder *builder, sstore_change *change_out, sstore_error *error)
{
    if (builder == NULL)
        return ss_fail_argument(error, "sstore_builder_finish: builder must not be NULL");
    return ss_builder_finish(builder, change_out, error);
}

void sstore_builder_abort(sstore_builder *builder)
{
    if (builder == NULL)
        return;
    ss_sorter_free(builder->records);
    ss_builder_close_base(builder);
    ss_id_conflicts_free(&builder->conflicts);
    ss_chunk_pool_close(&builder->pool);
    ss_free(builder->first_fingerprints);
    ss_free(builder->first_ids);
    if (builder->transaction == &builder->own_transaction)
        ss_transaction_close(builder->transaction);
    else
        ss_transaction_discard_all(builder->transaction);
    ss_dir_close(&builder->tmp_dir);
    ss_free(builder->plan);
    ss_free(builder->recipe);
    ss_free(builder);
}

/* ===== the store that is changed ===== */

/*
 * Looks into the store that a builder changes. Only what is not there is added, only what is there
 * removed: so readers need not look for doubles (file/manifest.h).
 */

#define KEY_BYTES 20u /* of a key that stands for records, with what sorting and looking up takes */

uint64_t ss_builder_base_bytes(const ss_manifest *manifest, uint32_t threads)
{
    const sstore_io io = SSTORE_IO_PREAD;
    uint64_t finders = ss_membership_bytes(manifest, false, io);
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
        status = ss_store_open_in(&builder->transaction->store, false, &base->store, error);
    if (status == SSTORE_OK)
        status = ss_membership_filter_open(&base->filter, base->store, threads, removes, error);
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
    builder->change.ids_checked = true;
    if (builder->change.added_count == 0 || (builder->conflicts.count == 0 && !builder->conflicts.left_out))
        return;
    ss_builder_close_base(builder); /* the memory is reserved for one open store */
    builder->change.ids_checked = false;
    if (ss_store_open_in(&builder->transaction->store, true, &store, NULL) != SSTORE_OK)
        return;
    ss_id_conflicts_find(&builder->conflicts, store, builder->base_next_ordinal, &builder->change);
    sstore_close(store);
}

void ss_builder_close_base(sstore_builder *builder)
{
    ss_builder_base *base = &builder->base;
    ss_removal_keys_free(&base->fingerprints);
    ss_removal_keys_free(&base->ids);
    ss_membership_filter_close(&base->filter);
    sstore_close(base->store);
    base->store = NULL;
}
