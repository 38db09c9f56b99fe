/*
 * builder_space.c - what a build takes of the disk, and whether there is room.
 */
#include <errno.h>

#include "base/error.h"
#include "build/builder.h"
#include "build/planning.h"
#include "plan/figures.h"

/* What a build takes of the disk, in bytes. */
typedef struct build_disk {
    uint64_t store_bytes;      /* of the finished store */
    uint64_t store_peak_bytes; /* of its files and of what is spilled, where both go to the same place */
    uint64_t spill_peak_bytes; /* of what is spilled alone */
} build_disk;

/* What is spilled of `count` items: nothing if they fit into memory, else nearly all. Buckets that are dealt again are
 * there twice for a moment. */
static double spilled_bytes(double count, double item_bytes, const ss_build_memory *memory)
{
    double bytes = count * item_bytes, twice = 1.01, filled = 0.9;
    return bytes > filled * (double)memory->sorter_bytes ? twice * bytes : 0;
}

static uint64_t at_least(double a, double b)
{
    return (uint64_t)(a > b ? a : b);
}

/* Estimate, for records of which none has been taken in yet. `in_order`: they come sorted, so none of them is spilled. */
static build_disk expect_disk(const ss_plan *plan, const ss_expected_store *store, const ss_build_memory *memory,
                              bool in_order)
{
    ss_plan_figures figures;
    ss_plan_figures_init(&figures, plan, store);
    double record_bytes = store->has_ids ? sizeof(sstore_record) : sizeof(uint64_t);
    double records = in_order ? 0 : spilled_bytes(store->record_count, record_bytes, memory);
    double keys = plan->table_count > 1 ? spilled_bytes(store->fingerprint_count, sizeof(uint64_t), memory) : 0;
    /* The records stay until table 0 and the ids are written, the last table's keys until all is. */
    double with_records = records + figures.table_bytes / plan->table_count + figures.ids_bytes;
    double with_keys = keys + figures.total_bytes;
    return (build_disk){.store_bytes = (uint64_t)figures.total_bytes,
                        .store_peak_bytes = at_least(with_records, with_keys),
                        .spill_peak_bytes = at_least(records, keys)};
}

sstore_status sstore_builder_needs(const sstore_builder *builder, uint64_t record_count, sstore_build_needs *needs_out,
                                   sstore_error *error)
{
    if (builder == NULL || needs_out == NULL || needs_out->struct_size < sizeof *needs_out)
        return ss_fail_argument(error, "sstore_builder_needs: builder and needs_out, with its size, must be given");
    const ss_segment_build *build = &builder->build;
    bool apart = builder->tmp_dir.fd >= 0 && !ss_dir_same_device(&builder->tmp_dir, &builder->place->store);
    /* What is known of the ids: the largest that was given, or is expected. Ordinals need no more than others. */
    uint64_t largest_id = ss_max_u64(builder->next_ordinal, builder->expected_largest_id);
    largest_id = ss_max_u64(largest_id, record_count);
    ss_expected_store store = {.record_count = (double)record_count,
                               .fingerprint_count = (double)record_count,
                               .has_ids = build->has_ids,
                               .id_bits = largest_id > 0 ? 64 - (uint32_t)__builtin_clzll(largest_id) : 0,
                               .block_bytes = build->block_bytes};
    ss_plan plan;
    uint64_t tmp_free = 0, store_free;
    sstore_status status = build->plan_name != NULL ? ss_plan_parse(build->plan_name, build->distance, &plan, error)
                                                    : ss_expect_plan(&store, build->distance, &plan, error);
    if (status == SSTORE_OK)
        status = ss_dir_free_bytes(&builder->place->store, &store_free, error);
    if (status == SSTORE_OK && apart)
        status = ss_dir_free_bytes(&builder->tmp_dir, &tmp_free, error);
    if (status != SSTORE_OK)
        return status;
    const build_disk disk = expect_disk(&plan, &store, &build->memory, builder->in_order);
    *needs_out = (sstore_build_needs){.struct_size = needs_out->struct_size,
                                      .store_bytes = disk.store_bytes,
                                      .peak_bytes = apart ? disk.store_bytes : disk.store_peak_bytes,
                                      .free_bytes = store_free,
                                      .tmp_peak_bytes = apart ? disk.spill_peak_bytes : 0,
                                      .tmp_free_bytes = tmp_free};
    return SSTORE_OK;
}

static sstore_status fail_space(sstore_error *error, const char *path, uint64_t needed, uint64_t available)
{
    const double unit = needed < 1000000000 ? 1e6 : 1e9;
    const char *unit_name = needed < 1000000000 ? "MB" : "GB";
    return ss_fail(error, SSTORE_ERROR_IO, ENOSPC, path, SSTORE_NO_OFFSET,
                   "the build needs about %.1f %s of disk here at its peak, and %.1f %s are free; make room, choose another "
                   "place or a plan of fewer tables, or use --ignore-free-space (or options.ignore_free_space)",
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
    if (needs.peak_bytes > needs.free_bytes + in_store)
        return fail_space(error, builder->place->path, needs.peak_bytes, needs.free_bytes + in_store);
    if (needs.tmp_peak_bytes > needs.tmp_free_bytes + in_tmp)
        return fail_space(error, builder->tmp_dir.path, needs.tmp_peak_bytes, needs.tmp_free_bytes + in_tmp);
    return SSTORE_OK;
}
