/*
 * disk_space.c - estimates the disk space that a build needs, and compares it with what is free.
 */
#include <errno.h>

#include "base/error.h"
#include "codec/rows.h"
#include "plan/cost.h"
#include "plan/planner.h"
#include "write/builder.h"

/* The bytes that `count` items spill: 0 if they fit into memory, otherwise nearly all. Buckets that are partitioned
 * again are on the disk twice for a moment. */
static double spilled_bytes(double count, double item_bytes, const ss_sort_memory *memory)
{
    double bytes = count * item_bytes, twice = 1.01, filled = 0.9;
    return bytes > filled * (double)memory->sorter_bytes ? twice * bytes : 0;
}

/* Estimate for records before the first one is taken. `apart`: items are spilled to another file system. Does not set
 * the free space. */
static sstore_build_needs estimate_needs(const sstore_builder *builder, const ss_plan *plan,
                                         const ss_expected_store *store, bool apart)
{
    const ss_sort_memory *memory = &builder->writer.memory;
    ss_plan_cost cost;
    ss_plan_cost_init(&cost, plan, store);
    double record_bytes = store->has_ids ? sizeof(sstore_record) : sizeof(uint64_t);
    double records = builder->in_order ? 0 : spilled_bytes(store->record_count, record_bytes, memory);
    double keys = plan->table_count > 1 ? spilled_bytes(store->fingerprint_count, sizeof(uint64_t), memory) : 0;
    /* The records stay until table 0 and the ids are written, the last table's keys until the end. */
    double with_records = records + cost.table_bytes / plan->table_count + cost.ids_bytes;
    double with_keys = keys + cost.total_bytes;
    double peak = with_records > with_keys ? with_records : with_keys, spilled = records > keys ? records : keys;
    return (sstore_build_needs){.store_bytes = (uint64_t)cost.total_bytes,
                                .peak_bytes = (uint64_t)(apart ? cost.total_bytes : peak),
                                .tmp_peak_bytes = (uint64_t)(apart ? spilled : 0)};
}

/* The same for fingerprints of several words. `plan` is for one of them. Records are spilled until table 0 is written,
 * then (word, rank) of one word after the other. */
static sstore_build_needs estimate_rows_needs(const sstore_builder *builder, const ss_plan *plan,
                                              const ss_expected_store *store, bool apart)
{
    const ss_segment_writer *writer = &builder->writer;
    const uint32_t words = writer->words;
    const double block_share = (double)writer->block_bytes / ss_rows_capacity(writer->block_bytes, words);
    ss_expected_store index = *store;
    ss_plan_cost own, of_word;
    index.has_ids = true;
    index.id_bits = 0;
    ss_plan_cost_init(&own, plan, store);
    ss_plan_cost_init(&of_word, plan, &index);
    const double record_bytes = sizeof(uint64_t) * (words + (store->has_ids ? 1.0 : 0));
    const double records = builder->in_order ? 0 : spilled_bytes(store->record_count, record_bytes, &writer->memory);
    const double pairs = spilled_bytes(store->fingerprint_count, sizeof(sstore_record), &writer->memory);
    const double rows = store->fingerprint_count * block_share + own.ids_bytes;
    const double total = rows + (writer->kind == SS_SEGMENT_ADDS ? words * of_word.total_bytes : 0);
    const double spilled = records > pairs ? records : pairs, with_records = records + rows, with_pairs = pairs + total;
    return (sstore_build_needs){.store_bytes = (uint64_t)total,
                                .peak_bytes = (uint64_t)(apart                       ? total
                                                         : with_records > with_pairs ? with_records
                                                                                     : with_pairs),
                                .tmp_peak_bytes = (uint64_t)(apart ? spilled : 0)};
}

sstore_status sstore_builder_needs(const sstore_builder *builder, uint64_t record_count, sstore_build_needs *needs_out,
                                   sstore_error *error)
{
    if (builder == NULL || needs_out == NULL)
        return ss_fail_argument(error, "sstore_builder_needs: builder and needs_out must not be NULL");
    const ss_segment_writer *writer = &builder->writer;
    const ss_dir *dir = &builder->transaction->store;
    const bool apart = builder->tmp_dir.fd >= 0 && !ss_dir_same_device(&builder->tmp_dir, dir);
    /* The largest id that was given, or is expected. Assigned ids need no more bits than that. */
    uint64_t largest_id = ss_max_u64(ss_max_u64(builder->next_id, builder->expected_max_id), record_count);
    ss_expected_store store = {.record_count = (double)record_count,
                               .fingerprint_count = (double)record_count,
                               .has_ids = writer->has_ids,
                               .id_bits = largest_id > 0 ? 64 - (uint32_t)__builtin_clzll(largest_id) : 0,
                               .block_bytes = writer->block_bytes};
    ss_plan chosen;
    uint64_t tmp_free = 0, store_free;
    sstore_status status = SSTORE_OK;
    if (writer->plan == NULL)
        status = ss_choose_plan(&store, writer->distance / writer->words, NULL, &chosen, error);
    if (status == SSTORE_OK)
        status = ss_dir_free_bytes(dir, &store_free, error);
    if (status == SSTORE_OK && apart)
        status = ss_dir_free_bytes(&builder->tmp_dir, &tmp_free, error);
    if (status != SSTORE_OK)
        return status;
    const ss_plan *plan = writer->plan != NULL ? writer->plan : &chosen;
    sstore_build_needs needs = writer->words > 1 ? estimate_rows_needs(builder, plan, &store, apart)
                                                 : estimate_needs(builder, plan, &store, apart);
    needs.free_bytes = store_free;
    needs.tmp_free_bytes = tmp_free;
    return ss_give_result(needs_out, &needs, sizeof needs, SS_BUILD_NEEDS_SIZE_1, error);
}

static sstore_status check_free(const char *path, uint64_t needed, uint64_t available, sstore_error *error)
{
    const double unit = needed < 1000000000 ? 1e6 : 1e9;
    const char *unit_name = needed < 1000000000 ? "MB" : "GB";
    if (needed <= available)
        return SSTORE_OK;
    return ss_fail(
        error, SSTORE_ERROR_IO, ENOSPC, path, SSTORE_NO_OFFSET,
        "the build needs about %.1f %s of disk here at its peak, and %.1f %s are free; free some, choose another "
        "folder or a plan of fewer tables, or set ignore_free_space",
        (double)needed / unit, unit_name, (double)available / unit, unit_name);
}

sstore_status ss_builder_check_space(const sstore_builder *builder, uint64_t record_count, uint64_t spilled_bytes,
                                     sstore_error *error)
{
    sstore_build_needs needs = {.struct_size = sizeof needs};
    if (builder->ignore_free_space)
        return SSTORE_OK;
    sstore_status status = sstore_builder_needs(builder, record_count, &needs, error);
    if (status != SSTORE_OK)
        return status;
    uint64_t in_tmp = needs.tmp_peak_bytes > 0 ? spilled_bytes : 0, in_store = spilled_bytes - in_tmp;
    status = check_free(builder->transaction->path, needs.peak_bytes, needs.free_bytes + in_store, error);
    if (status == SSTORE_OK)
        status = check_free(builder->tmp_dir.path, needs.tmp_peak_bytes, needs.tmp_free_bytes + in_tmp, error);
    return status;
}
