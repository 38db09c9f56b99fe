/*
 * builder_setup.c - sets a builder up: its options, its staged segment, its share of memory, and the disk space that it
 * needs.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "plan/cost.h"
#include "plan/planner.h"
#include "store/cursor.h"
#include "write/builder.h"

#define ENFORCED_MEMORY_BYTES ((uint64_t)64 << 20) /* the smallest memory that a build does not exceed */

/* ----- options ----- */

/* Recipes are compared and printed: one line of text. */
static bool is_recipe(const char *text)
{
    size_t length = 0;
    while (length <= SS_MAX_RECIPE_BYTES && (unsigned char)text[length] >= ' ' && text[length] != 0x7f)
        length++;
    return length <= SS_MAX_RECIPE_BYTES && text[length] == '\0';
}

static sstore_status check_options(const ss_write_options *options, sstore_error *error)
{
    if (options->distance > SSTORE_MAX_BUILD_DISTANCE)
        return ss_fail_argument(error, "the distance is %u; it can be 0 to %d", options->distance,
                                SSTORE_MAX_BUILD_DISTANCE);
    if (options->block_bytes != 0 && !ss_block_bytes_valid(options->block_bytes))
        return ss_fail_argument(error, "the block size is %u; it can be a power of two from %u to %u",
                                options->block_bytes, SS_BLOCK_MIN_BYTES, SS_BLOCK_MAX_BYTES);
    if (options->memory_bytes < SS_MIN_MEMORY_BYTES)
        return ss_fail_argument(error, "the memory is %llu bytes; at least %llu are needed",
                                (unsigned long long)options->memory_bytes, (unsigned long long)SS_MIN_MEMORY_BYTES);
    if (options->recipe != NULL && !is_recipe(options->recipe))
        return ss_fail_argument(error, "the recipe has more than %u bytes, or control characters in it",
                                SS_MAX_RECIPE_BYTES);
    return SSTORE_OK;
}

/* Set the plan that was given, or that follows from the store. Otherwise it is chosen when the records are known. */
static sstore_status set_plan(sstore_builder *builder, const ss_write_options *options, sstore_error *error)
{
    const ss_manifest *manifest = &builder->transaction->manifest;
    const char *name = options->kind == SS_SEGMENT_REMOVED ? SS_REMOVAL_PLAN : options->plan;
    if (name != NULL && strcmp(name, "auto") != 0) {
        builder->writer.plan = &builder->plan;
        return ss_plan_parse(name, builder->writer.distance, &builder->plan, error);
    }
    if (builder->extends && manifest->plan_given && manifest->segment_count > 0) {
        builder->plan = manifest->segments[0].plan;
        builder->writer.plan = &builder->plan;
    }
    return SSTORE_OK;
}

/* Take over the options that follow from the store that is extended. */
static sstore_status take_from_store(sstore_builder *builder, const ss_write_options *options, sstore_error *error)
{
    const ss_manifest *manifest = &builder->transaction->manifest;
    sstore_status status = ss_manifest_check_recipe(manifest, builder->transaction->path, options->recipe, error);
    if (status != SSTORE_OK)
        return status;
    builder->change.segment_count_before = manifest->segment_count;
    builder->change.total_bytes_before = ss_manifest_total_bytes(manifest);
    builder->writer.distance = manifest->distance;
    builder->writer.has_ids = manifest->has_ids;
    builder->next_ordinal = builder->base_next_ordinal = manifest->next_ordinal;
    if (options->block_bytes == 0 && manifest->segment_count > 0)
        builder->writer.block_bytes = manifest->segments[0].block_bytes;
    return set_plan(builder, options, error);
}

sstore_status ss_builder_check_formats(const sstore_builder *builder, uint32_t count, sstore_error *error)
{
    const ss_transaction *transaction = builder->transaction;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++)
        status = ss_directory_check_format(transaction->manifest.segments[i].lmdb_format, transaction->path, error);
    return status;
}

/* ----- opening ----- */

/* Do what can fail. All that does not need the store comes before it is opened. */
static sstore_status set_up(sstore_builder *builder, const char *path, const ss_write_options *options,
                            sstore_error *error)
{
    const char *recipe = options->recipe != NULL ? options->recipe : "";
    sstore_status status = SSTORE_OK;
    builder->recipe = ss_strdup(recipe);
    if (builder->recipe == NULL)
        return ss_fail_memory(error, strlen(recipe));
    if (!builder->extends)
        status = set_plan(builder, options, error);
    if (status == SSTORE_OK && options->tmp_dir != NULL)
        status = ss_dir_open(options->tmp_dir, &builder->tmp_dir, error);
    if (status == SSTORE_OK && builder->transaction == &builder->own_transaction)
        status = ss_transaction_open(builder->transaction, path, options->mode, error);
    if (status == SSTORE_OK)
        status = ss_transaction_stage(builder->transaction, error);
    if (status != SSTORE_OK)
        return status;
    builder->writer.dir = &builder->transaction->staged[0]->dir;
    builder->writer.tmp_dir = options->tmp_dir != NULL ? &builder->tmp_dir : builder->writer.dir;
    return builder->extends ? take_from_store(builder, options, error) : SSTORE_OK;
}

sstore_status ss_builder_open(const char *path, ss_transaction *transaction, const ss_write_options *options,
                              sstore_builder **builder_out, sstore_error *error)
{
    *builder_out = NULL;
    sstore_status status = check_options(options, error);
    if (status != SSTORE_OK)
        return status;
    sstore_builder *builder = ss_alloc(1, sizeof *builder);
    if (builder == NULL)
        return ss_fail_memory(error, sizeof *builder);
    builder->tmp_dir = SS_DIR_NONE;
    builder->own_transaction.store = SS_DIR_NONE;
    builder->transaction = transaction != NULL ? transaction : &builder->own_transaction;
    builder->extends = options->mode == SS_WRITE_EXTEND;
    builder->progress.report = options->on_progress;
    builder->progress.context = options->progress_context;
    builder->next_ordinal = !options->without_ids ? options->first_ordinal : 0;
    builder->expected_max_id = options->expected_max_id;
    builder->ignore_free_space = options->ignore_free_space;
    builder->writer = (ss_segment_writer){
        .kind = options->kind,
        .has_ids = !options->without_ids,
        .distance = options->distance,
        .block_bytes = options->block_bytes != 0 ? options->block_bytes : SS_DEFAULT_BLOCK_BYTES,
        .pool = &builder->pool,
        .progress = &builder->progress,
    };
    status = set_up(builder, path, options, error);
    if (status == SSTORE_OK)
        *builder_out = builder;
    else
        sstore_builder_abort(builder);
    return status;
}

/* ----- memory ----- */

sstore_status ss_builder_share_memory(sstore_builder *builder, const ss_write_options *options, uint64_t reserved_bytes,
                                      sstore_error *error)
{
    ss_segment_writer *writer = &builder->writer;
    const uint64_t all = options->memory_bytes;
    builder->reserved_bytes = reserved_bytes;
    builder->max_reserved_bytes = all >= ENFORCED_MEMORY_BYTES ? all / 2 : UINT64_MAX;
    writer->memory = ss_build_memory_share(ss_remaining_memory(all, reserved_bytes), options->threads, writer->has_ids,
                                           writer->block_bytes);
    uint64_t pool_bytes = writer->memory.sorter_bytes;
    if (writer->kind == SS_SEGMENT_REMOVED) /* the rest is for keys that stand for records */
        pool_bytes /= 2;
    return ss_sorter_pool_open(&builder->pool, pool_bytes, writer->memory.threads, error);
}

sstore_status ss_builder_check_reserved(const sstore_builder *builder, sstore_error *error)
{
    if (builder->reserved_bytes <= builder->max_reserved_bytes)
        return SSTORE_OK;
    return ss_fail_argument(error,
                            "%s: reading the store takes %.0f MiB, which is more than half of the memory; give "
                            "more, or work in smaller steps",
                            builder->transaction->path, (double)builder->reserved_bytes / 0x1p20);
}

/* The bytes that look-ups in the store take, which need no cursor. */
static uint64_t base_bytes(const ss_manifest *manifest, uint32_t threads)
{
    const sstore_io io = SSTORE_IO_PREAD;
    return ss_store_memory_bytes(manifest, io) - ss_cursor_bytes(manifest, io) +
           threads * ss_membership_bytes(manifest, false, io);
}

/* ----- creating ----- */

sstore_status ss_builder_create(const char *path, const ss_write_options *options, sstore_builder **builder_out,
                                sstore_error *error)
{
    if (path == NULL || builder_out == NULL)
        return ss_fail_argument(error, "path and builder_out must not be NULL");
    sstore_builder *builder;
    uint64_t reserved = 0;
    sstore_status status = ss_builder_open(path, NULL, options, &builder, error);
    if (status != SSTORE_OK)
        return status;
    if (builder->extends) {
        const ss_manifest *manifest = &builder->transaction->manifest;
        status = ss_builder_check_formats(builder, manifest->segment_count, error);
        reserved = base_bytes(manifest, options->threads);
        if (options->check_ids && manifest->has_ids)
            reserved += ss_id_conflicts_watch(&builder->conflicts, options->memory_bytes);
    }
    if (status == SSTORE_OK)
        status = ss_builder_share_memory(builder, options, reserved, error);
    if (status == SSTORE_OK && options->expected_record_count > 0)
        status = ss_builder_check_space(builder, options->expected_record_count, 0, error);
    if (status == SSTORE_OK)
        *builder_out = builder;
    else
        sstore_builder_abort(builder);
    return status;
}

sstore_status sstore_builder_create(const char *path, const sstore_build_options *options, sstore_builder **builder_out,
                                    sstore_error *error)
{
    sstore_build_options from = SSTORE_BUILD_OPTIONS_INIT;
    if (builder_out != NULL)
        *builder_out = NULL;
    sstore_status status = ss_take_options(&from, sizeof from, options, SS_BUILD_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    const ss_write_options taken = {
        SS_SHARED_OPTIONS(from),
        .mode = from.replace ? SS_WRITE_REPLACE : SS_WRITE_NEW,
        .plan = from.plan,
        .recipe = from.recipe,
        .first_ordinal = from.first_ordinal,
        .expected_record_count = from.expected_record_count,
        .expected_max_id = from.expected_max_id,
        .distance = from.distance,
        .without_ids = from.without_ids,
    };
    return ss_builder_create(path, &taken, builder_out, error);
}

sstore_status sstore_builder_create_addition(const char *path, const sstore_add_options *options,
                                             sstore_builder **builder_out, sstore_error *error)
{
    sstore_add_options from = SSTORE_ADD_OPTIONS_INIT;
    if (builder_out != NULL)
        *builder_out = NULL;
    sstore_status status = ss_take_options(&from, sizeof from, options, SS_ADD_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    const ss_write_options taken = {
        SS_SHARED_OPTIONS(from),
        .mode = SS_WRITE_EXTEND,
        .plan = from.plan,
        .recipe = from.recipe,
        .expected_record_count = from.expected_record_count,
        .expected_max_id = from.expected_max_id,
        .check_ids = from.check_ids,
    };
    return ss_builder_create(path, &taken, builder_out, error);
}

/* ----- disk space ----- */

/* The bytes that are spilled of `count` items: 0 if they fit into memory, otherwise nearly all. Buckets that are
 * partitioned again are there twice for a moment. */
static double spilled_bytes(double count, double item_bytes, const ss_build_memory *memory)
{
    double bytes = count * item_bytes, twice = 1.01, filled = 0.9;
    return bytes > filled * (double)memory->sorter_bytes ? twice * bytes : 0;
}

/* Estimate for records of which none has been taken so far. `apart`: items are spilled in another file system. Free
 * space is left out. */
static sstore_build_needs estimate_needs(const sstore_builder *builder, const ss_plan *plan,
                                         const ss_expected_store *store, bool apart)
{
    const ss_build_memory *memory = &builder->writer.memory;
    ss_plan_cost cost;
    ss_plan_cost_init(&cost, plan, store);
    double record_bytes = store->has_ids ? sizeof(sstore_record) : sizeof(uint64_t);
    double records = builder->in_order ? 0 : spilled_bytes(store->record_count, record_bytes, memory);
    double keys = plan->table_count > 1 ? spilled_bytes(store->fingerprint_count, sizeof(uint64_t), memory) : 0;
    /* The records stay until table 0 and the ids are written, the last table's keys until all is. */
    double with_records = records + cost.table_bytes / plan->table_count + cost.ids_bytes;
    double with_keys = keys + cost.total_bytes;
    double peak = with_records > with_keys ? with_records : with_keys, spilled = records > keys ? records : keys;
    return (sstore_build_needs){.store_bytes = (uint64_t)cost.total_bytes,
                                .peak_bytes = (uint64_t)(apart ? cost.total_bytes : peak),
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
    /* The largest id that was given, or is expected. Ordinals need no more bits than that. */
    uint64_t largest_id = ss_max_u64(ss_max_u64(builder->next_ordinal, builder->expected_max_id), record_count);
    ss_expected_store store = {.record_count = (double)record_count,
                               .fingerprint_count = (double)record_count,
                               .has_ids = writer->has_ids,
                               .id_bits = largest_id > 0 ? 64 - (uint32_t)__builtin_clzll(largest_id) : 0,
                               .block_bytes = writer->block_bytes};
    ss_plan chosen;
    uint64_t tmp_free = 0, store_free;
    sstore_status status = SSTORE_OK;
    if (writer->plan == NULL)
        status = ss_choose_plan(&store, writer->distance, NULL, &chosen, error);
    if (status == SSTORE_OK)
        status = ss_dir_free_bytes(dir, &store_free, error);
    if (status == SSTORE_OK && apart)
        status = ss_dir_free_bytes(&builder->tmp_dir, &tmp_free, error);
    if (status != SSTORE_OK)
        return status;
    sstore_build_needs needs = estimate_needs(builder, writer->plan != NULL ? writer->plan : &chosen, &store, apart);
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
        "the build needs about %.1f %s of disk here at its peak, and %.1f %s are free; make room, choose another "
        "place or a plan of fewer tables, or ignore the free space",
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
