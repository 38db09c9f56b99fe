/*
 * build.c - the builder of a store: takes records, and at the end sorts, encodes and publishes them.
 */
#include "engine/build.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/pool.h"
#include "engine/planning.h"
#include "engine/publish.h"
#include "engine/segment_build.h"
#include "sort/sorter.h"

#define DEFAULT_MEMORY_BYTES ((uint64_t)1 << 30)
#define MIN_MEMORY_BYTES ((uint64_t)1 << 20)
#define ORDINAL_BATCH 1024u
#define FIRST_RECORDS ((size_t)16384)

/* Where records get their ids from. */
typedef enum id_source {
    IDS_UNKNOWN, /* nothing was added yet */
    IDS_GIVEN,
    IDS_ORDINAL
} id_source;

struct sstore_builder {
    ss_workplace place;
    ss_dir tmp_dir; /* SS_DIR_NONE: spill in the workplace */
    char *plan;     /* NULL: choose one */
    char *recipe;
    ss_segment_build build;
    ss_progress progress;
    ss_chunk_pool pool;
    ss_sorter *records; /* NULL: those that were added are all still in `first` */
    uint64_t *first_fingerprints, *first_ids; /* room for FIRST_RECORDS, made with the first one */
    size_t first_count;
    id_source ids;
    uint64_t next_ordinal;
};

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
    if (options->memory_bytes != 0 && options->memory_bytes < MIN_MEMORY_BYTES)
        return ss_fail_argument(error, "the memory is %llu bytes; at least %llu are needed",
                                (unsigned long long)options->memory_bytes, (unsigned long long)MIN_MEMORY_BYTES);
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
        ss_build_memory_share(options->memory_bytes != 0 ? options->memory_bytes : DEFAULT_MEMORY_BYTES,
                              ss_pool_threads(options->threads), builder->build.has_ids, builder->build.geometry);
    builder->build.pool = &builder->pool;
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

/* ----- adding ----- */

static sstore_status open_sorter(sstore_builder *builder, uint64_t expected_count, sstore_error *error)
{
    const ss_build_memory *memory = &builder->build.memory;
    ss_sorter_options options = {.with_ids = builder->build.has_ids,
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
    if (!builder->build.has_ids) {
        builder->next_ordinal += count;
        return add_records(builder, fingerprints, NULL, count, error);
    }
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
    if (status != SSTORE_OK)
        return status;
    size_t capacity = ss_piece_capacity(builder->build.memory.piece_capacity, ss_sorter_count(builder->records));
    void *buffer = ss_realloc(NULL, capacity, sizeof(sstore_record));
    if (buffer == NULL)
        return ss_fail_memory(error, capacity * sizeof(sstore_record));
    status = ss_sorter_seal(builder->records, buffer, error);
    ss_free(buffer);
    *source = (ss_piece_source){.context = builder,
                                .item_count = ss_sorter_count(builder->records),
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
    ss_manifest_segment *segment = ss_alloc(1, sizeof *segment);
    sstore_status status = segment != NULL ? SSTORE_OK : ss_fail_memory(error, sizeof *segment);
    if (status == SSTORE_OK)
        status = seal_records(builder, &source, error);
    if (status == SSTORE_OK)
        status = ss_segment_build_run(&builder->build, &source, release_records, segment, error);
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
