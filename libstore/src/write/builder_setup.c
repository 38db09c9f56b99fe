#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "plan/cost.h"
#include "plan/planner.h"
#include "write/builder.h"

/* ===== set-up ===== */

/* Sets a builder up: its options, its place and its share of memory. */

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
        return ss_fail_argument(error, "the distance to build for is %u; it can be 0 to %d", options->distance,
                                SSTORE_MAX_BUILD_DISTANCE);
    if (options->block_bytes != 0 && !ss_block_bytes_valid(options->block_bytes))
        return ss_fail_argument(error, "the block size is %u; it can be a power of two from %u to %u",
                                options->block_bytes, SS_BLOCK_MIN_BYTES, SS_BLOCK_MAX_BYTES);
    if (options->memory_bytes != 0 && options->memory_bytes < SS_MIN_MEMORY_BYTES)
        return ss_fail_argument(error, "the memory is %llu bytes; at least %llu are needed",
                                (unsigned long long)options->memory_bytes, (unsigned long long)SS_MIN_MEMORY_BYTES);
    if (options->recipe != NULL && !is_recipe(options->recipe))
        return ss_fail_argument(error, "the recipe has more than %u bytes, or control characters in it",
                                SS_MAX_RECIPE_BYTES);
    return SSTORE_OK;
}

/* A plan that is NULL is still to be chosen. */
static sstore_status check_plan(const char *name, uint32_t distance, sstore_error *error)
{
    ss_plan plan;
    return name == NULL ? SSTORE_OK : ss_plan_parse(name, distance, &plan, error);
}

static sstore_status copy_text(const char *text, char **copy_out, sstore_error *error)
{
    *copy_out = ss_strdup(text);
    return *copy_out != NULL ? SSTORE_OK : ss_fail_memory(error, strlen(text));
}

sstore_status ss_builder_check_formats(const sstore_builder *builder, uint32_t count, sstore_error *error)
{
    const ss_transaction *transaction = builder->transaction;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++)
        status = ss_directory_check_format(transaction->manifest.segments[i].lmdb_format, transaction->path, error);
    return status;
}

/* The options that follow from the store that is changed. */
static sstore_status take_from_store(sstore_builder *builder, const ss_write_options *options, sstore_error *error)
{
    const ss_manifest *manifest = &builder->transaction->manifest;
    const ss_manifest_segment *first = manifest->segment_count > 0 ? &manifest->segments[0] : NULL;
    char plan[SS_PLAN_TEXT_BYTES];
    sstore_status status = ss_manifest_check_recipe(manifest, builder->transaction->path, options->recipe, error);
    if (status != SSTORE_OK)
        return status;
    builder->extends = true;
    builder->segment_count_before = manifest->segment_count;
    builder->total_bytes_before = ss_manifest_total_bytes(manifest);
    builder->build.distance = manifest->distance;
    builder->build.has_ids = manifest->has_ids;
    builder->next_ordinal = builder->base_next_ordinal = manifest->next_ordinal;
    if (options->block_bytes == 0 && first != NULL)
        builder->build.block_bytes = first->block_bytes;
    if (builder->plan != NULL)
        return check_plan(builder->plan, manifest->distance, error);
    if (!manifest->plan_given || first == NULL)
        return SSTORE_OK;
    ss_plan_format(&first->plan, plan, sizeof plan);
    return copy_text(plan, &builder->plan, error);
}

/* Copy what is text, and see that the plan is one before anything is made. */
static sstore_status take_text(sstore_builder *builder, const ss_write_options *options, bool extends,
                               sstore_error *error)
{
    const char *plan = ss_builder_removes(builder) ? SS_REMOVAL_PLAN : options->plan;
    bool auto_plan = plan == NULL || strcmp(plan, "auto") == 0;
    builder->plan_given = !auto_plan;
    sstore_status status = copy_text(options->recipe != NULL ? options->recipe : "", &builder->recipe, error);
    if (status == SSTORE_OK && !auto_plan)
        status = copy_text(plan, &builder->plan, error);
    if (status == SSTORE_OK && !extends)
        status = check_plan(builder->plan, options->distance, error);
    if (status == SSTORE_OK && options->tmp_dir != NULL)
        status = ss_dir_open(options->tmp_dir, &builder->tmp_dir, error);
    return status;
}

/* The builder has a place: take the rest of the options, and what the store says. */
static sstore_status set_up(sstore_builder *builder, const ss_write_options *options, bool extends, sstore_error *error)
{
    sstore_status status = ss_transaction_stage(builder->transaction, error);
    if (status != SSTORE_OK)
        return status;
    builder->build.dir = &builder->transaction->staged[0]->dir;
    builder->build.tmp_dir = options->tmp_dir != NULL ? &builder->tmp_dir : builder->build.dir;
    builder->build.has_ids = !options->without_ids;
    builder->build.distance = options->distance;
    builder->build.block_bytes = options->block_bytes != 0 ? options->block_bytes : SS_DEFAULT_BLOCK_BYTES;
    builder->build.progress = &builder->progress;
    builder->progress.report = options->on_progress;
    builder->progress.context = options->progress_context;
    builder->next_ordinal = !options->without_ids ? options->first_ordinal : 0;
    builder->expected_max_id = options->expected_max_id;
    builder->ignore_free_space = options->ignore_free_space;
    if (extends)
        status = take_from_store(builder, options, error);
    builder->build.plan_name = builder->plan;
    return status;
}

/* With a place that is borrowed, or claims `path`. */
static sstore_status open_builder(ss_transaction *transaction, const char *path, ss_write_mode mode,
                                  const ss_write_options *options, ss_segment_kind kind, sstore_builder **builder_out,
                                  sstore_error *error)
{
    const bool extends = mode == SS_WRITE_EXTEND;
    *builder_out = NULL;
    sstore_status status = check_options(options, error);
    if (status != SSTORE_OK)
        return status;
    sstore_builder *builder = ss_alloc(1, sizeof(sstore_remover)); /* it may be one */
    if (builder == NULL)
        return ss_fail_memory(error, sizeof *builder);
    builder->tmp_dir = SS_DIR_NONE;
    builder->own_transaction = (ss_transaction){.store = SS_DIR_NONE};
    builder->transaction = transaction != NULL ? transaction : &builder->own_transaction;
    builder->build.kind = kind;
    status = take_text(builder, options, extends, error);
    if (status == SSTORE_OK && transaction == NULL)
        status = ss_transaction_open(builder->transaction, path, mode, error);
    if (status == SSTORE_OK)
        status = set_up(builder, options, extends, error);
    if (status == SSTORE_OK)
        *builder_out = builder;
    else
        sstore_builder_abort(builder);
    return status;
}

sstore_status ss_builder_open(const char *path, ss_write_mode mode, const ss_write_options *options,
                              ss_segment_kind kind, sstore_builder **builder_out, sstore_error *error)
{
    return open_builder(NULL, path, mode, options, kind, builder_out, error);
}

sstore_status ss_builder_open_in(ss_transaction *transaction, const ss_write_options *options, ss_segment_kind kind,
                                 sstore_builder **builder_out, sstore_error *error)
{
    return open_builder(transaction, NULL, SS_WRITE_EXTEND, options, kind, builder_out, error);
}

sstore_status ss_builder_share_memory(sstore_builder *builder, const ss_write_options *options, uint64_t reserved_bytes,
                                      sstore_error *error)
{
    const ss_segment_writer *build = &builder->build;
    const uint64_t all = options->memory_bytes != 0 ? options->memory_bytes : SS_DEFAULT_MEMORY_BYTES;
    const uint64_t rest = ss_max_u64(all - ss_min_u64(reserved_bytes, all / 2), SS_MIN_MEMORY_BYTES);
    builder->reserved_bytes = reserved_bytes;
    builder->max_reserved_bytes = all >= SS_ENFORCED_MEMORY_BYTES ? all / 2 : UINT64_MAX;
    builder->build.memory = ss_build_memory_share(rest, ss_pool_threads(options->threads), build->has_ids,
                                                  build->block_bytes);
    uint64_t pool_bytes = build->memory.sorter_bytes;
    if (ss_builder_removes(builder)) /* the rest is for keys that stand for records */
        pool_bytes /= 2;
    builder->build.pool = &builder->pool;
    return ss_sorter_pool_open(&builder->pool, pool_bytes, build->memory.threads, error);
}

sstore_status ss_builder_check_reserved(const sstore_builder *builder, sstore_error *error)
{
    if (builder->reserved_bytes <= builder->max_reserved_bytes)
        return SSTORE_OK;
    return ss_fail_argument(error,
                            "%s: reading what is there takes %.0f MiB, which is more than half of the memory; give "
                            "more, or do it in steps",
                            builder->transaction->path, (double)builder->reserved_bytes / 0x1p20);
}

/* Watch for ids that come back with another fingerprint, if the caller asked for that. Returns the bytes of memory
 * that it takes. */
static uint64_t watch_ids(sstore_builder *builder, const ss_write_options *options)
{
    const uint64_t all = options->memory_bytes != 0 ? options->memory_bytes : SS_DEFAULT_MEMORY_BYTES;
    if (!options->check_ids || !builder->build.has_ids)
        return 0;
    return ss_id_conflicts_watch(&builder->conflicts, all);
}

sstore_status ss_builder_create(const char *path, const ss_write_options *options, ss_write_mode mode,
                                ss_segment_kind kind, sstore_builder **builder_out, sstore_error *error)
{
    const bool extends = mode == SS_WRITE_EXTEND;
    sstore_builder *builder;
    sstore_status status = ss_builder_open(path, mode, options, kind, &builder, error);
    if (status != SSTORE_OK)
        return status;
    const uint32_t threads = ss_pool_threads(options->threads);
    uint64_t reserved = 0;
    if (extends)
        status = ss_builder_check_formats(builder, builder->transaction->manifest.segment_count, error);
    if (status == SSTORE_OK && extends)
        reserved = ss_builder_base_bytes(&builder->transaction->manifest, threads) + watch_ids(builder, options);
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

/* ----- public ----- */

sstore_status sstore_builder_create(const char *path, const sstore_build_options *options, sstore_builder **builder_out,
                                    sstore_error *error)
{
    sstore_build_options from = SSTORE_BUILD_OPTIONS_INIT;
    if (builder_out != NULL)
        *builder_out = NULL;
    if (path == NULL || builder_out == NULL)
        return ss_fail_argument(error, "path and builder_out must not be NULL");
    sstore_status status = ss_take_options(&from, sizeof from, options, SS_BUILD_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    const ss_write_options taken = {.plan = from.plan,
                                    .tmp_dir = from.tmp_dir,
                                    .recipe = from.recipe,
                                    .memory_bytes = from.memory_bytes,
                                    .first_ordinal = from.first_ordinal,
                                    .expected_record_count = from.expected_record_count,
                                    .expected_max_id = from.expected_max_id,
                                    .distance = from.distance,
                                    .block_bytes = from.block_bytes,
                                    .threads = from.threads,
                                    .without_ids = from.without_ids,
                                    .replace = from.replace,
                                    .ignore_free_space = from.ignore_free_space,
                                    .on_progress = from.on_progress,
                                    .progress_context = from.progress_context};
    return ss_builder_create(path, &taken, from.replace ? SS_WRITE_REPLACE : SS_WRITE_NEW, SS_SEGMENT_RECORDS,
                             builder_out, error);
}

sstore_status sstore_builder_create_addition(const char *path, const sstore_add_options *options,
                                             sstore_builder **builder_out, sstore_error *error)
{
    sstore_add_options from = SSTORE_ADD_OPTIONS_INIT;
    if (builder_out != NULL)
        *builder_out = NULL;
    if (path == NULL || builder_out == NULL)
        return ss_fail_argument(error, "path and builder_out must not be NULL");
    sstore_status status = ss_take_options(&from, sizeof from, options, SS_ADD_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    const ss_write_options taken = {.plan = from.plan,
                                    .tmp_dir = from.tmp_dir,
                                    .recipe = from.recipe,
                                    .memory_bytes = from.memory_bytes,
                                    .expected_record_count = from.expected_record_count,
                                    .expected_max_id = from.expected_max_id,
                                    .block_bytes = from.block_bytes,
                                    .threads = from.threads,
                                    .ignore_free_space = from.ignore_free_space,
                                    .check_ids = from.check_ids,
                                    .on_progress = from.on_progress,
                                    .progress_context = from.progress_context};
    return ss_builder_create(path, &taken, SS_WRITE_EXTEND, SS_SEGMENT_RECORDS, builder_out, error);
}

sstore_status sstore_remover_create(const char *path, const sstore_remove_options *options,
                                    sstore_remover **remover_out, sstore_error *error)
{
    sstore_remove_options from = SSTORE_REMOVE_OPTIONS_INIT;
    sstore_builder *builder = NULL;
    if (remover_out != NULL)
        *remover_out = NULL;
    if (path == NULL || remover_out == NULL)
        return ss_fail_argument(error, "path and remover_out must not be NULL");
    sstore_status status = ss_take_options(&from, sizeof from, options, SS_REMOVE_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    const ss_write_options taken = {.tmp_dir = from.tmp_dir,
                                    .recipe = from.recipe,
                                    .memory_bytes = from.memory_bytes,
                                    .block_bytes = from.block_bytes,
                                    .threads = from.threads,
                                    .ignore_free_space = from.ignore_free_space,
                                    .on_progress = from.on_progress,
                                    .progress_context = from.progress_context};
    status = ss_builder_create(path, &taken, SS_WRITE_EXTEND, SS_SEGMENT_REMOVED, &builder, error);
    *remover_out = (sstore_remover *)builder; /* which has room for one */
    return status;
}

/* ===== disk space ===== */

/* What a build takes of the disk, and whether there is room. */

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
    ss_plan_cost figures;
    ss_plan_cost_init(&figures, plan, store);
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
    if (builder == NULL || needs_out == NULL)
        return ss_fail_argument(error, "sstore_builder_needs: builder and needs_out must not be NULL");
    const ss_segment_writer *build = &builder->build;
    bool apart = builder->tmp_dir.fd >= 0 && !ss_dir_same_device(&builder->tmp_dir, &builder->transaction->store);
    /* What is known of the ids: the largest that was given, or is expected. Ordinals need no more than others. */
    uint64_t largest_id = ss_max_u64(builder->next_ordinal, builder->expected_max_id);
    largest_id = ss_max_u64(largest_id, record_count);
    ss_expected_store store = {.record_count = (double)record_count,
                               .fingerprint_count = (double)record_count,
                               .has_ids = build->has_ids,
                               .id_bits = largest_id > 0 ? 64 - (uint32_t)__builtin_clzll(largest_id) : 0,
                               .block_bytes = build->block_bytes};
    ss_plan plan;
    uint64_t tmp_free = 0, store_free;
    sstore_status status = build->plan_name != NULL ? ss_plan_parse(build->plan_name, build->distance, &plan, error)
                                                    : ss_choose_plan(&store, build->distance, NULL, &plan, error);
    if (status == SSTORE_OK)
        status = ss_dir_free_bytes(&builder->transaction->store, &store_free, error);
    if (status == SSTORE_OK && apart)
        status = ss_dir_free_bytes(&builder->tmp_dir, &tmp_free, error);
    if (status != SSTORE_OK)
        return status;
    const build_disk disk = expect_disk(&plan, &store, &build->memory, builder->in_order);
    const sstore_build_needs needs = {.store_bytes = disk.store_bytes,
                                      .peak_bytes = apart ? disk.store_bytes : disk.store_peak_bytes,
                                      .free_bytes = store_free,
                                      .tmp_peak_bytes = apart ? disk.spill_peak_bytes : 0,
                                      .tmp_free_bytes = tmp_free};
    return ss_give_result(needs_out, &needs, sizeof needs, SS_BUILD_NEEDS_SIZE_1, error);
}

static sstore_status fail_space(sstore_error *error, const char *path, uint64_t needed, uint64_t available)
{
    const double unit = needed < 1000000000 ? 1e6 : 1e9;
    const char *unit_name = needed < 1000000000 ? "MB" : "GB";
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
    if (needs.peak_bytes > needs.free_bytes + in_store)
        return fail_space(error, builder->transaction->path, needs.peak_bytes, needs.free_bytes + in_store);
    if (needs.tmp_peak_bytes > needs.tmp_free_bytes + in_tmp)
        return fail_space(error, builder->tmp_dir.path, needs.tmp_peak_bytes, needs.tmp_free_bytes + in_tmp);
    return SSTORE_OK;
}
