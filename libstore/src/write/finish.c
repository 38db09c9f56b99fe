#include "write/finish.h"

#include "base/error.h"
#include "store/store.h"
#include "write/compact.h"
#include "write/removal.h"

/* Find added records that have the same id as another one. */
static void find_conflicts(sstore_builder *builder)
{
    sstore *store;
    if (builder->conflicts.capacity == 0)
        return;
    builder->change.ids_checked = true;
    if (builder->change.added_count == 0 || !ss_id_conflicts_any(&builder->conflicts))
        return;
    ss_builder_close_base(builder); /* memory is reserved for one open store */
    builder->change.ids_checked = false;
    if (ss_store_open_in(&builder->transaction->store, SS_STORE_RECORDS, &store, NULL) != SSTORE_OK)
        return;
    ss_id_conflicts_find(&builder->conflicts, store, builder->base_next_id, &builder->change);
    sstore_close(store);
}

/* Write a segment of its own, and publish it, unless it changes nothing. */
static sstore_status write_and_publish(sstore_builder *builder, const ss_sorted_pieces *records, sstore_error *error)
{
    const uint32_t place = builder->extends ? builder->transaction->manifest.segment_count : 0;
    ss_manifest_segment segment = {.record_count = 0};
    ss_name_merge names = {.count = 0};
    ss_segment_spec spec = builder->spec;
    if (spec.names == NULL)
        spec.names = &names;
    sstore_status status = ss_name_merge_add_runs(&names, &builder->names, error);
    if (status == SSTORE_OK)
        status = ss_segment_write(&spec, records, &segment, error);
    else
        ss_pieces_release(records);
    ss_name_merge_close(&names);
    ss_note_changed(builder, segment.record_count);
    if (status == SSTORE_OK && (segment.record_count > 0 || !builder->extends))
        status = ss_builder_publish(builder, place, place, &segment, 1, error);
    ss_manifest_segment_free(&segment);
    return status;
}

/* Fill in what the store is now, and clean up if nothing changed. */
static void note_change(sstore_builder *builder)
{
    ss_transaction *transaction = builder->transaction;
    sstore_change *change = &builder->change;
    if (builder->extends && change->added_count + change->removed_count == 0) {
        ss_transaction_discard_all(transaction);
        ss_transaction_clean_up(transaction);
    }
    if (builder->spec.kind == SS_SEGMENT_REMOVES)
        change->absent_count += builder->unchanged_count;
    if (builder->replaced != NULL)
        change->absent_count = ss_remover_builder(builder->replaced)->change.absent_count;
    ss_note_store(change, &transaction->manifest);
    find_conflicts(builder);
}

/* Fill in and give the result, and free the builder. */
static sstore_status end(sstore_builder *builder, sstore_status status, sstore_change *change_out, sstore_error *error)
{
    if (status == SSTORE_OK)
        note_change(builder);
    if (status == SSTORE_OK && change_out != NULL)
        status = ss_give_result(change_out, &builder->change, sizeof builder->change, SS_CHANGE_SIZE_1, error);
    sstore_builder_abort(builder); /* after publication nothing is left to remove */
    return status;
}

sstore_status ss_builder_finish_from(sstore_builder *builder, const ss_sorted_pieces *records,
                                     sstore_change *change_out, sstore_error *error)
{
    ss_segment_range merged = {0, 0};
    if (builder->compacts && records->item_count > 0)
        merged = ss_tiers_find(&builder->transaction->manifest, records->item_count);
    sstore_status status = ss_builder_check_names(builder, error);
    if (status != SSTORE_OK)
        ss_pieces_release(records);
    else
        status = merged.first < merged.end ? ss_builder_merge(builder, records, merged.first, error)
                                           : write_and_publish(builder, records, error);
    return end(builder, status, change_out, error);
}

/* Publish the removal of replaced records together with the records, even if no older segments are merged. */
static sstore_status replace(sstore_builder *builder, const ss_sorted_pieces *replaced, const ss_sorted_pieces *records,
                             sstore_error *error)
{
    const ss_manifest *manifest = &builder->transaction->manifest;
    const uint64_t count = records->item_count + replaced->item_count;
    ss_segment_range merged = {0, 0};
    if (builder->compacts && count > 0)
        merged = ss_tiers_find(manifest, count);
    return ss_builder_replace(builder, replaced, records,
                              merged.first < merged.end ? merged.first : manifest->segment_count, error);
}

/* Finish an addition that replaces records. */
static sstore_status finish_replacement(sstore_builder *builder, const ss_sorted_pieces *records,
                                        sstore_change *change_out, sstore_error *error)
{
    ss_sorted_pieces replaced;
    sstore_status status = ss_builder_check_names(builder, error);
    if (status == SSTORE_OK)
        status = ss_remover_sort(builder->replaced, &replaced, error);
    if (status == SSTORE_OK)
        return end(builder, replace(builder, &replaced, records, error), change_out, error);
    ss_pieces_release(records);
    return end(builder, status, change_out, error);
}

sstore_status sstore_builder_finish(sstore_builder *builder, sstore_change *change_out, sstore_error *error)
{
    ss_sorted_pieces records;
    if (builder == NULL)
        return ss_fail_argument(error, "sstore_builder_finish: builder must not be NULL");
    sstore_status status = ss_check_result(change_out, SS_CHANGE_SIZE_1, error);
    if (status == SSTORE_OK)
        status = ss_builder_sort(builder, &records, error);
    if (status != SSTORE_OK)
        return end(builder, status, change_out, error);
    return builder->replaced != NULL ? finish_replacement(builder, &records, change_out, error)
                                     : ss_builder_finish_from(builder, &records, change_out, error);
}
