/*
 * builder_create.c - creates and frees a builder: takes its options, stages a segment in the store, and divides memory
 * and disk space.
 */
#include "write/builder.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "plan/planner.h"
#include "store/lookup.h"
#include "write/disk_space.h"
#include "write/removal.h"
#include "write/word_plans.h"
#include "write/write_options.h"

#define NAMES_SHARE 8u /* of the memory */
#define NAME_WRITER_BYTES ((uint64_t)6 << 20)
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

static sstore_status fail_recipe(sstore_error *error)
{
    return ss_fail_argument(error, "the recipe is longer than %u bytes or contains control characters",
                            SS_MAX_RECIPE_BYTES);
}

static sstore_status fail_id_index(const char *path, sstore_error *error)
{
    return ss_fail(error, SSTORE_ERROR_ARGUMENT, 0, path, SSTORE_NO_OFFSET,
                   "a store without ids cannot have an id index");
}

static sstore_status check_options(const sstore_write_options *options, bool is_new, sstore_error *error)
{
    const uint32_t words = is_new ? options->fingerprint_bits / SS_WORD_BITS : 1;
    sstore_status status = ss_check_form(words, is_new ? options->distance : 0, options->block_bytes, error);
    if (status == SSTORE_OK)
        status = ss_check_memory(options->memory_bytes, SS_MIN_MEMORY_BYTES, error);
    if (status == SSTORE_OK && options->recipe != NULL && !is_recipe(options->recipe))
        status = fail_recipe(error);
    if (status == SSTORE_OK && options->no_ids && options->names)
        status = ss_fail_argument(error, "a store without ids cannot have names");
    if (status == SSTORE_OK && options->no_ids && options->id_index)
        status = fail_id_index(NULL, error);
    return status;
}

/* Set the name of the plan that serves each word. It is complete for some radius, which is the largest that a word can
 * have. */
static sstore_status set_word_plan(sstore_builder *builder, const char *name, sstore_error *error)
{
    ss_segment_spec *spec = &builder->spec;
    const uint32_t needed = spec->distance / spec->words; /* at least one word has this radius */
    const sstore_status status = ss_plan_parse(name, needed, &builder->plan, error);
    if (status != SSTORE_OK)
        return status;
    spec->max_radius = ss_plan_has_radii(name) ? needed : SSTORE_MAX_BUILD_DISTANCE;
    while (spec->max_radius < SSTORE_MAX_BUILD_DISTANCE &&
           ss_plan_parse(name, spec->max_radius + 1, &builder->plan, NULL) == SSTORE_OK)
        spec->max_radius++;
    spec->plan_name = builder->plan_name = ss_strdup(name);
    return builder->plan_name != NULL ? SSTORE_OK : ss_fail_memory(error, strlen(name));
}

/* Set the plan: the given one, that of the store if it was built with a given one, or none. */
static sstore_status set_plan(sstore_builder *builder, const char *name, sstore_error *error)
{
    const ss_manifest *manifest = &builder->transaction->manifest;
    const bool is_given = name != NULL && strcmp(name, "auto") != 0;
    char stored_name[SS_PLAN_TEXT_BYTES];
    if (!is_given && !(builder->extends && manifest->plan_given && manifest->segment_count > 0))
        return SSTORE_OK;
    if (builder->spec.words > 1) {
        if (!is_given)
            ss_word_plans_name(&manifest->segments[0], stored_name);
        return set_word_plan(builder, is_given ? name : stored_name, error);
    }
    builder->spec.plan = &builder->plan;
    if (is_given)
        return ss_plan_parse(name, builder->spec.distance, &builder->plan, error);
    builder->plan = manifest->segments[0].plan;
    return SSTORE_OK;
}

/* Take over the options that follow from the extended store. */
static sstore_status take_from_store(sstore_builder *builder, const sstore_write_options *options, sstore_error *error)
{
    const ss_manifest *manifest = &builder->transaction->manifest;
    sstore_status status = ss_manifest_check_bits(manifest, builder->transaction->path, options->fingerprint_bits,
                                                  error);
    if (status == SSTORE_OK)
        status = ss_manifest_check_recipe(manifest, builder->transaction->path, options->recipe, NULL, error);
    if (status != SSTORE_OK)
        return status;
    builder->change.segment_count_before = manifest->segment_count;
    builder->change.total_bytes_before = ss_manifest_total_bytes(manifest);
    builder->spec.words = manifest->words;
    builder->spec.distance = manifest->distance;
    builder->spec.has_ids = manifest->has_ids;
    builder->spec.has_id_index |= manifest->has_id_index;
    builder->spec.has_names = manifest->has_names;
    builder->next_id = builder->base_next_id = manifest->next_id;
    if (options->id_index && !manifest->has_ids)
        return fail_id_index(builder->transaction->path, error);
    if (options->block_bytes == 0 && manifest->segment_count > 0)
        builder->spec.block_bytes = manifest->segments[0].block_bytes;
    return set_plan(builder, builder->spec.kind == SS_SEGMENT_ADDS ? options->plan : NULL, error);
}

sstore_status ss_builder_check_formats(const sstore_builder *builder, uint32_t count, sstore_error *error)
{
    const ss_transaction *transaction = builder->transaction;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++)
        status = ss_directory_check_format(transaction->manifest.segments[i].lmdb_format, transaction->path, error);
    return status;
}

sstore_status sstore_builder_set_recipe(sstore_builder *builder, const char *recipe, sstore_error *error)
{
    if (builder == NULL || recipe == NULL)
        return ss_fail_argument(error, "sstore_builder_set_recipe: builder and recipe must not be NULL");
    if (!is_recipe(recipe))
        return fail_recipe(error);
    const char *path = builder->transaction->path;
    const ss_manifest new_store = {.recipe = builder->recipe};
    const ss_manifest *store = builder->extends ? &builder->transaction->manifest : &new_store;
    const bool is_open = store->recipe[0] == '\0' && builder->recipe[0] == '\0';
    if (builder->extends && store->recipe[0] == '\0' && ss_manifest_count(store).record_count > 0)
        return SSTORE_OK;
    if (!is_open)
        return ss_manifest_check_recipe(store->recipe[0] != '\0' ? store : &new_store, path, recipe, NULL, error);
    char *copy = ss_strdup(recipe);
    if (copy == NULL)
        return ss_fail_memory(error, strlen(recipe));
    ss_free(builder->recipe);
    builder->recipe = copy;
    return SSTORE_OK;
}

/* ----- opening ----- */

/* The steps that can fail. Those that do not need the store come before it is opened. */
static sstore_status set_up(sstore_builder *builder, const char *path, ss_write_mode mode,
                            const sstore_write_options *options, sstore_error *error)
{
    const char *recipe = options->recipe != NULL ? options->recipe : "";
    const ss_writer_wait wait = {options->wait_ms, options->on_progress, options->progress_context};
    sstore_status status = SSTORE_OK;
    builder->recipe = ss_strdup(recipe);
    if (builder->recipe == NULL)
        return ss_fail_memory(error, strlen(recipe));
    if (!builder->extends)
        status = set_plan(builder, options->plan, error);
    if (status == SSTORE_OK && options->tmp_dir != NULL)
        status = ss_dir_open(options->tmp_dir, &builder->tmp_dir, error);
    if (status == SSTORE_OK && builder->transaction == &builder->own_transaction)
        status = ss_transaction_open(builder->transaction, path, mode, &wait, error);
    if (status == SSTORE_OK)
        status = ss_transaction_stage(builder->transaction, error);
    if (status != SSTORE_OK)
        return status;
    builder->spec.dir = &builder->transaction->staged[builder->transaction->staged_count - 1]->dir;
    builder->spec.tmp_dir = options->tmp_dir != NULL ? &builder->tmp_dir : builder->spec.dir;
    return builder->extends ? take_from_store(builder, options, error) : SSTORE_OK;
}

sstore_status ss_builder_open(const char *path, ss_transaction *transaction, ss_write_mode mode, ss_segment_kind kind,
                              const sstore_write_options *options, sstore_builder **builder_out, sstore_error *error)
{
    *builder_out = NULL;
    sstore_status status = check_options(options, mode != SS_WRITE_EXTEND, error);
    if (status != SSTORE_OK)
        return status;
    sstore_builder *builder = ss_alloc(1, sizeof *builder);
    if (builder == NULL)
        return ss_fail_memory(error, sizeof *builder);
    builder->tmp_dir = SS_DIR_NONE;
    builder->own_transaction.store = SS_DIR_NONE;
    builder->transaction = transaction != NULL ? transaction : &builder->own_transaction;
    builder->extends = mode == SS_WRITE_EXTEND;
    builder->compacts = builder->extends && !options->no_compact;
    builder->progress.report = options->on_progress;
    builder->progress.context = options->progress_context;
    builder->next_id = !options->no_ids ? options->first_id : 0;
    builder->expected_max_id = options->expected_max_id;
    builder->ignore_free_space = options->ignore_free_space;
    builder->spec = (ss_segment_spec){
        .kind = kind,
        .words = options->fingerprint_bits / SS_WORD_BITS,
        .has_ids = !options->no_ids,
        .has_id_index = options->id_index || options->names, /* names are in the order of its ids */
        .has_names = options->names,
        .distance = options->distance,
        .block_bytes = options->block_bytes != 0 ? options->block_bytes : SS_DEFAULT_BLOCK_BYTES,
        .pool = &builder->pool,
        .progress = &builder->progress,
        .end_fraction = 1,
    };
    status = set_up(builder, path, mode, options, error);
    if (status == SSTORE_OK)
        *builder_out = builder;
    else
        sstore_builder_abort(builder);
    return status;
}

/* ----- memory and disk space ----- */

sstore_status ss_builder_prepare(sstore_builder *builder, const sstore_write_options *options, uint64_t reserved_bytes,
                                 uint64_t record_count, sstore_error *error)
{
    ss_segment_spec *spec = &builder->spec;
    const uint64_t limit_bytes = options->memory_bytes;
    builder->reserved_bytes = reserved_bytes;
    builder->max_reserved_bytes = limit_bytes >= ENFORCED_MEMORY_BYTES ? limit_bytes / 2 : UINT64_MAX;
    if (spec->has_names)
        builder->name_memory_bytes = limit_bytes / NAMES_SHARE;
    ss_name_runs_init(&builder->names, builder->name_memory_bytes, spec->tmp_dir);
    const uint64_t taken = 2 * builder->name_memory_bytes + (builder->name_memory_bytes > 0 ? NAME_WRITER_BYTES : 0);
    spec->memory = ss_build_memory_divide(ss_remaining_memory(limit_bytes, reserved_bytes + taken), options->threads,
                                          spec->words, spec->has_ids, spec->block_bytes);
    uint64_t pool_bytes = spec->memory.sorter_bytes;
    if (spec->kind == SS_SEGMENT_REMOVES) /* the other part is for keys that stand for records */
        pool_bytes /= 2;
    sstore_status status = ss_sorter_pool_open(&builder->pool, pool_bytes, spec->memory.threads, error);
    if (status == SSTORE_OK && builder->in_order)
        status = ss_builder_check_reserved(builder, error);
    return status == SSTORE_OK && record_count > 0 ? ss_builder_check_space(builder, spec->kind, record_count, 0, error)
                                                   : status;
}

/* Estimate the space that a segment of this kind needs. */
static sstore_status estimate_needs(const sstore_builder *builder, ss_segment_kind kind, uint64_t record_count,
                                    sstore_build_needs *needs_out, sstore_error *error)
{
    /* The largest id that was given, or is expected. Assigned ids need no more bits than that. */
    const uint64_t largest_id = ss_max_u64(ss_max_u64(builder->next_id, builder->expected_max_id), record_count);
    ss_segment_spec spec = builder->spec;
    spec.kind = kind;
    return ss_build_needs_estimate(&spec, &builder->transaction->store, builder->in_order, record_count, largest_id,
                                   needs_out, error);
}

sstore_status sstore_builder_needs(const sstore_builder *builder, uint64_t record_count, sstore_build_needs *needs_out,
                                   sstore_error *error)
{
    sstore_build_needs needs;
    if (builder == NULL || needs_out == NULL)
        return ss_fail_argument(error, "sstore_builder_needs: builder and needs_out must not be NULL");
    const sstore_status status = estimate_needs(builder, builder->spec.kind, record_count, &needs, error);
    return status == SSTORE_OK ? ss_give_result(needs_out, &needs, sizeof needs, SS_BUILD_NEEDS_SIZE_1, error) : status;
}

sstore_status ss_builder_check_space(const sstore_builder *builder, ss_segment_kind kind, uint64_t record_count,
                                     uint64_t spilled_bytes, sstore_error *error)
{
    sstore_build_needs needs;
    if (builder->ignore_free_space)
        return SSTORE_OK;
    const sstore_status status = estimate_needs(builder, kind, record_count, &needs, error);
    return status == SSTORE_OK
               ? ss_build_needs_check(&needs, spilled_bytes, builder->transaction->path, builder->tmp_dir.path, error)
               : status;
}

/* The memory of look-ups in the store. */
static uint64_t base_bytes(const ss_manifest *manifest, uint32_t threads)
{
    const sstore_io io = SSTORE_IO_PREAD;
    return ss_store_memory_bytes(manifest, io) + threads * ss_membership_bytes(manifest, false, io);
}

/* ----- creating ----- */

sstore_status ss_builder_create(const char *path, ss_transaction *transaction, ss_write_mode mode, ss_segment_kind kind,
                                const sstore_write_options *options, sstore_builder **builder_out, sstore_error *error)
{
    if (path == NULL || builder_out == NULL)
        return ss_fail_argument(error, "path and builder_out must not be NULL");
    sstore_builder *builder;
    uint64_t reserved = 0;
    sstore_status status = ss_builder_open(path, transaction, mode, kind, options, &builder, error);
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
        status = ss_builder_prepare(builder, options, reserved, options->expected_record_count, error);
    if (status == SSTORE_OK)
        *builder_out = builder;
    else
        sstore_builder_abort(builder);
    return status;
}

sstore_status sstore_builder_create(const char *path, const sstore_write_options *options, sstore_builder **builder_out,
                                    sstore_error *error)
{
    sstore_write_options taken;
    if (builder_out != NULL)
        *builder_out = NULL;
    sstore_status status = ss_write_options_take(&taken, options, SS_WRITE_CALL_BUILD, error);
    if (status == SSTORE_OK)
        status = ss_take_fingerprint_bits(&taken.fingerprint_bits, error);
    if (status != SSTORE_OK)
        return status;
    taken.distance = ss_distance_or_default(taken.distance);
    const ss_write_mode mode = taken.force ? SS_WRITE_REPLACE : SS_WRITE_NEW;
    return ss_builder_create(path, NULL, mode, SS_SEGMENT_ADDS, &taken, builder_out, error);
}

/* Open what finds the records that added ones replace. */
static sstore_status open_replaced(sstore_builder *builder, const sstore_write_options *options, sstore_error *error)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a builder was made */
    if (!builder->spec.has_ids)
        return ss_fail_argument(error,
                                "%s: the store has no ids, so records cannot replace those of their ids; remove old "
                                "fingerprints, and add new ones",
                                builder->transaction->path);
    return ss_remover_create(builder->transaction->path, builder->transaction, options, &builder->replaced, error);
}

sstore_status sstore_builder_create_addition(const char *path, const sstore_write_options *options,
                                             sstore_builder **builder_out, sstore_error *error)
{
    sstore_write_options taken;
    if (builder_out == NULL)
        return ss_fail_argument(error, "path and builder_out must not be NULL");
    *builder_out = NULL;
    sstore_status status = ss_write_options_take(&taken, options, SS_WRITE_CALL_ADD, error);
    if (status != SSTORE_OK)
        return status;
    if (taken.replace_records) /* the other half is for the records that are replaced */
        taken.memory_bytes = ss_max_u64(taken.memory_bytes / 2, SS_MIN_MEMORY_BYTES);
    status = ss_builder_create(path, NULL, SS_WRITE_EXTEND, SS_SEGMENT_ADDS, &taken, builder_out, error);
    if (status != SSTORE_OK || !taken.replace_records)
        return status;
    status = open_replaced(*builder_out, &taken, error);
    if (status != SSTORE_OK) {
        sstore_builder_abort(*builder_out);
        *builder_out = NULL;
    }
    return status;
}

/* ----- the builder ----- */

uint32_t sstore_builder_fingerprint_bits(const sstore_builder *builder)
{
    return SS_WORD_BITS * builder->spec.words;
}

void sstore_builder_abort(sstore_builder *builder)
{
    if (builder == NULL)
        return;
    ss_sorter_free(builder->records);
    ss_builder_close_base(builder);
    ss_id_conflicts_free(&builder->conflicts);
    ss_name_runs_free(&builder->names);
    ss_new_names_close(&builder->new_names);
    ss_chunk_pool_close(&builder->pool);
    ss_free(builder->first);
    sstore_remover_abort(builder->replaced);
    if (builder->transaction == &builder->own_transaction)
        ss_transaction_close(builder->transaction);
    else
        ss_transaction_discard_all(builder->transaction);
    ss_dir_close(&builder->tmp_dir);
    ss_free(builder->recipe);
    ss_free(builder->plan_name);
    ss_free(builder);
}
