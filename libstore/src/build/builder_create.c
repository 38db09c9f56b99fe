/*
 * builder_create.c - sets a builder up: its options, its place and its share of memory.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/pool.h"
#include "build/builder.h"
#include "build/planning.h"

/* Recipes are compared and printed: one line of text. */
static bool is_recipe(const char *text)
{
    size_t length = 0;
    while (length <= SS_MAX_RECIPE_BYTES && (unsigned char)text[length] >= ' ' && text[length] != 0x7f)
        length++;
    return length <= SS_MAX_RECIPE_BYTES && text[length] == '\0';
}

static sstore_status check_options(const sstore_build_options *options, sstore_error *error)
{
    ss_geometry geometry = {.block_bytes = options->block_bytes, .restart_interval = SS_RESTART_INTERVAL};
    ss_plan plan;
    if (options->distance > SSTORE_MAX_BUILD_DISTANCE)
        return ss_fail_argument(error, "the distance to build for is %u; it can be 0 to %d", options->distance,
                                SSTORE_MAX_BUILD_DISTANCE);
    if (options->block_bytes != 0 && !ss_geometry_valid(geometry))
        return ss_fail_argument(error, "the block size is %u; it can be a power of two from %u to %u",
                                options->block_bytes, SS_BLOCK_MIN_BYTES, SS_BLOCK_MAX_BYTES);
    if (options->memory_bytes != 0 && options->memory_bytes < SS_LEAST_MEMORY_BYTES)
        return ss_fail_argument(error, "the memory is %llu bytes; at least %llu are needed",
                                (unsigned long long)options->memory_bytes, (unsigned long long)SS_LEAST_MEMORY_BYTES);
    if (options->recipe != NULL && !is_recipe(options->recipe))
        return ss_fail_argument(error, "the recipe has more than %u bytes, or control characters in it",
                                SS_MAX_RECIPE_BYTES);
    if (options->plan == NULL || strcmp(options->plan, "auto") == 0)
        return SSTORE_OK;
    return ss_plan_parse(options->plan, options->distance, &plan, error);
}

static sstore_status copy_text(const char *text, char **copy_out, sstore_error *error)
{
    *copy_out = ss_strdup(text);
    return *copy_out != NULL ? SSTORE_OK : ss_fail_memory(error, strlen(text));
}

static sstore_status set_up(sstore_builder *builder, const char *path, const sstore_build_options *options,
                            sstore_error *error)
{
    bool auto_plan = options->plan == NULL || strcmp(options->plan, "auto") == 0;
    sstore_status status = copy_text(options->recipe != NULL ? options->recipe : "", &builder->recipe, error);
    if (status == SSTORE_OK && !auto_plan)
        status = copy_text(options->plan, &builder->plan, error);
    if (status == SSTORE_OK && options->tmp_dir != NULL)
        status = ss_dir_open(options->tmp_dir, &builder->tmp_dir, error);
    if (status == SSTORE_OK)
        status = ss_workplace_open(&builder->place, path, options->replace != 0, error);
    if (status != SSTORE_OK)
        return status;
    builder->build = (ss_segment_build){
        .dir = &builder->place.work,
        .tmp_dir = options->tmp_dir != NULL ? &builder->tmp_dir : &builder->place.work,
        .has_ids = options->without_ids == 0,
        .plan_name = builder->plan,
        .distance = options->distance,
        .geometry = {.block_bytes = options->block_bytes != 0 ? options->block_bytes : SS_DEFAULT_BLOCK_BYTES,
                     .restart_interval = SS_RESTART_INTERVAL},
        .progress = &builder->progress,
    };
    builder->progress.report = options->on_progress;
    builder->progress.context = options->progress_context;
    builder->build.memory =
        ss_build_memory_share(options->memory_bytes != 0 ? options->memory_bytes : SS_DEFAULT_MEMORY_BYTES,
                              ss_pool_threads(options->threads), builder->build.has_ids, builder->build.geometry);
    builder->build.pool = &builder->pool;
    builder->next_ordinal = options->without_ids == 0 ? options->first_ordinal : 0;
    builder->expected_largest_id = options->expected_largest_id;
    builder->ignore_free_space = options->ignore_free_space != 0;
    return ss_sorter_pool_open(&builder->pool, builder->build.memory.sorter_bytes, builder->build.memory.threads, error);
}

sstore_status sstore_builder_create(const char *path, const sstore_build_options *options,
                                    sstore_builder **builder_out, sstore_error *error)
{
    sstore_build_options taken = SSTORE_BUILD_OPTIONS_INIT;
    if (builder_out != NULL)
        *builder_out = NULL;
    if (path == NULL || builder_out == NULL)
        return ss_fail_argument(error, "sstore_builder_create: path and builder_out must not be NULL");
    if (!ss_take_options(&taken, sizeof taken, options, sizeof taken))
        return ss_fail_argument(error, "sstore_builder_create: the options are not set by SSTORE_BUILD_OPTIONS_INIT");
    sstore_status status = check_options(&taken, error);
    if (status != SSTORE_OK)
        return status;
    sstore_builder *builder = ss_alloc(1, sizeof *builder);
    if (builder == NULL)
        return ss_fail_memory(error, sizeof *builder);
    builder->tmp_dir = SS_DIR_NONE;
    builder->place = (ss_workplace){.store = SS_DIR_NONE, .work = SS_DIR_NONE};
    status = set_up(builder, path, &taken, error);
    if (status == SSTORE_OK && taken.expected_record_count > 0)
        status = ss_builder_check_space(builder, taken.expected_record_count, 0, error);
    if (status == SSTORE_OK)
        *builder_out = builder;
    else
        sstore_builder_abort(builder);
    return status;
}

void ss_builder_set_restart_interval(sstore_builder *builder, uint32_t interval)
{
    builder->build.geometry.restart_interval = interval;
    assert(ss_geometry_valid(builder->build.geometry));
}
