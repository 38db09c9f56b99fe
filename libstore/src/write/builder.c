/*
 * builder.c - creates a builder: options, staged segment, memory. Then takes records, sorts them, and publishes
 * segments of them.
 */
#include "write/builder.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "plan/planner.h"
#include "store/lookup.h"
#include "write/disk_space.h"
#include "write/word_plans.h"
#include "write/write_options.h"

#define ENFORCED_MEMORY_BYTES ((uint64_t)64 << 20) /* the smallest memory that a build does not exceed */
#define ID_BATCH 1024u
#define FIRST_WORDS ((size_t)16384) /* of fingerprints that are gathered before they are sorted */

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

static sstore_status check_options(const sstore_write_options *options, bool is_new, sstore_error *error)
{
    const uint32_t words = is_new ? options->fingerprint_bits / SS_WORD_BITS : 1;
    sstore_status status = ss_check_form(words, is_new ? options->distance : 0, options->block_bytes, error);
    if (status == SSTORE_OK)
        status = ss_check_memory(options->memory_bytes, SS_MIN_MEMORY_BYTES, error);
    if (status == SSTORE_OK && options->recipe != NULL && !is_recipe(options->recipe))
        status = fail_recipe(error);
    return status;
}

/* Set the name of the plan that serves each word. It is complete for some radius, which is the largest that a word can
 * have. */
static sstore_status set_word_plan(sstore_builder *builder, const char *name, sstore_error *error)
{
    ss_segment_writer *writer = &builder->writer;
    const uint32_t needed = writer->distance / writer->words; /* at least one word has this radius */
    const sstore_status status = ss_plan_parse(name, needed, &builder->plan, error);
    if (status != SSTORE_OK)
        return status;
    writer->max_radius = ss_plan_has_radii(name) ? needed : SSTORE_MAX_BUILD_DISTANCE;
    while (writer->max_radius < SSTORE_MAX_BUILD_DISTANCE &&
           ss_plan_parse(name, writer->max_radius + 1, &builder->plan, NULL) == SSTORE_OK)
        writer->max_radius++;
    writer->plan_name = builder->plan_name = ss_strdup(name);
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
    if (builder->writer.words > 1) {
        if (!is_given)
            ss_word_plans_name(&manifest->segments[0], stored_name);
        return set_word_plan(builder, is_given ? name : stored_name, error);
    }
    builder->writer.plan = &builder->plan;
    if (is_given)
        return ss_plan_parse(name, builder->writer.distance, &builder->plan, error);
    builder->plan = manifest->segments[0].plan;
    return SSTORE_OK;
}

/* Take over the options that follow from the extended store. */
static sstore_status take_from_store(sstore_builder *builder, const sstore_write_options *options, sstore_error *error)
{
    const ss_manifest *manifest = &builder->transaction->manifest;
    sstore_status status = ss_manifest_check_recipe(manifest, builder->transaction->path, options->recipe, NULL, error);
    if (status != SSTORE_OK)
        return status;
    builder->change.segment_count_before = manifest->segment_count;
    builder->change.total_bytes_before = ss_manifest_total_bytes(manifest);
    builder->writer.words = manifest->words;
    builder->writer.distance = manifest->distance;
    builder->writer.has_ids = manifest->has_ids;
    builder->next_id = builder->base_next_id = manifest->next_id;
    if (options->block_bytes == 0 && manifest->segment_count > 0)
        builder->writer.block_bytes = manifest->segments[0].block_bytes;
    return set_plan(builder, builder->writer.kind == SS_SEGMENT_ADDS ? options->plan : NULL, error);
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
    builder->writer.dir = &builder->transaction->staged[0]->dir;
    builder->writer.tmp_dir = options->tmp_dir != NULL ? &builder->tmp_dir : builder->writer.dir;
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
    builder->next_id = !options->without_ids ? options->first_id : 0;
    builder->expected_max_id = options->expected_max_id;
    builder->ignore_free_space = options->ignore_free_space;
    builder->writer = (ss_segment_writer){
        .kind = kind,
        .words = options->fingerprint_bits / SS_WORD_BITS,
        .has_ids = !options->without_ids,
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

/* Fail if too much memory is reserved. */
static sstore_status check_reserved(const sstore_builder *builder, sstore_error *error)
{
    if (builder->reserved_bytes <= builder->max_reserved_bytes)
        return SSTORE_OK;
    return ss_fail_argument(
        error, "%s: reading the store takes %.0f MiB, more than half of the memory limit; raise memory_bytes",
        builder->transaction->path, (double)builder->reserved_bytes / 0x1p20);
}

sstore_status ss_builder_prepare(sstore_builder *builder, const sstore_write_options *options, uint64_t reserved_bytes,
                                 uint64_t record_count, sstore_error *error)
{
    ss_segment_writer *writer = &builder->writer;
    const uint64_t all = options->memory_bytes;
    builder->reserved_bytes = reserved_bytes;
    builder->max_reserved_bytes = all >= ENFORCED_MEMORY_BYTES ? all / 2 : UINT64_MAX;
    writer->memory = ss_build_memory_divide(ss_remaining_memory(all, reserved_bytes), options->threads, writer->words,
                                            writer->has_ids, writer->block_bytes);
    uint64_t pool_bytes = writer->memory.sorter_bytes;
    if (writer->kind == SS_SEGMENT_REMOVES) /* the other part is for keys that stand for records */
        pool_bytes /= 2;
    sstore_status status = ss_sorter_pool_open(&builder->pool, pool_bytes, writer->memory.threads, error);
    if (status == SSTORE_OK && builder->in_order)
        status = check_reserved(builder, error);
    return status == SSTORE_OK && record_count > 0
               ? ss_builder_check_space(builder, writer->kind, record_count, 0, error)
               : status;
}

/* Estimate the space that a segment of this kind needs. */
static sstore_status estimate_needs(const sstore_builder *builder, ss_segment_kind kind, uint64_t record_count,
                                    sstore_build_needs *needs_out, sstore_error *error)
{
    /* The largest id that was given, or is expected. Assigned ids need no more bits than that. */
    const uint64_t largest_id = ss_max_u64(ss_max_u64(builder->next_id, builder->expected_max_id), record_count);
    ss_segment_writer writer = builder->writer;
    writer.kind = kind;
    return ss_build_needs_estimate(&writer, &builder->transaction->store, builder->in_order, record_count, largest_id,
                                   needs_out, error);
}

sstore_status sstore_builder_needs(const sstore_builder *builder, uint64_t record_count, sstore_build_needs *needs_out,
                                   sstore_error *error)
{
    sstore_build_needs needs;
    if (builder == NULL || needs_out == NULL)
        return ss_fail_argument(error, "sstore_builder_needs: builder and needs_out must not be NULL");
    const sstore_status status = estimate_needs(builder, builder->writer.kind, record_count, &needs, error);
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

sstore_status ss_builder_create(const char *path, ss_write_mode mode, ss_segment_kind kind,
                                const sstore_write_options *options, sstore_builder **builder_out, sstore_error *error)
{
    if (path == NULL || builder_out == NULL)
        return ss_fail_argument(error, "path and builder_out must not be NULL");
    sstore_builder *builder;
    uint64_t reserved = 0;
    sstore_status status = ss_builder_open(path, NULL, mode, kind, options, &builder, error);
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
        status = ss_check_fingerprint_bits(taken.fingerprint_bits, error);
    if (status != SSTORE_OK)
        return status;
    if (taken.distance == SSTORE_OWN_DISTANCE)
        taken.distance = SSTORE_DEFAULT_DISTANCE;
    const ss_write_mode mode = taken.replace ? SS_WRITE_REPLACE : SS_WRITE_NEW;
    return ss_builder_create(path, mode, SS_SEGMENT_ADDS, &taken, builder_out, error);
}

sstore_status sstore_builder_create_addition(const char *path, const sstore_write_options *options,
                                             sstore_builder **builder_out, sstore_error *error)
{
    sstore_write_options taken;
    if (builder_out != NULL)
        *builder_out = NULL;
    const sstore_status status = ss_write_options_take(&taken, options, SS_WRITE_CALL_ADD, error);
    if (status != SSTORE_OK)
        return status;
    return ss_builder_create(path, SS_WRITE_EXTEND, SS_SEGMENT_ADDS, &taken, builder_out, error);
}

/* ----- the extended store ----- */

sstore_status ss_builder_open_base(sstore_builder *builder, sstore_error *error)
{
    ss_builder_base *base = &builder->base;
    const uint32_t threads = builder->writer.memory.threads;
    if (base->store != NULL)
        return SSTORE_OK;
    sstore_status status = check_reserved(builder, error);
    if (status == SSTORE_OK)
        status = ss_store_open_in(&builder->transaction->store, SS_STORE_LOOKUPS, &base->store, error);
    if (status != SSTORE_OK)
        return status;
    base->memberships = ss_alloc(threads, sizeof *base->memberships);
    base->is_taken = ss_alloc(threads, sizeof *base->is_taken);
    if (base->memberships == NULL || base->is_taken == NULL)
        return ss_fail_memory(error, threads * sizeof *base->memberships);
    for (; status == SSTORE_OK && base->count < threads; base->count++)
        status = ss_membership_open(&base->memberships[base->count], base->store, false, NULL, error);
    return status;
}

void ss_builder_close_base(sstore_builder *builder)
{
    ss_builder_base *base = &builder->base;
    for (uint32_t i = 0; i < base->count; i++)
        ss_membership_close(&base->memberships[i]);
    ss_free(base->memberships);
    ss_free(base->is_taken);
    sstore_close(base->store);
    *base = (ss_builder_base){.store = NULL};
}

/* Keep only the records that change the store: new ones to add, or present ones to remove. */
static sstore_status keep_changes(void *context, void *items, size_t *count, sstore_error *error)
{
    sstore_builder *builder = context;
    ss_builder_base *base = &builder->base;
    const bool has_ids = builder->writer.has_ids, removes = builder->writer.kind == SS_SEGMENT_REMOVES;
    const uint32_t words = builder->writer.words, item_words = words + (has_ids ? 1 : 0);
    uint64_t *to = items;
    sstore_status status = SSTORE_OK;
    size_t kept = 0;
    uint32_t own = 0; /* there is one for each thread that runs this */
    while (atomic_exchange(&base->is_taken[own], true))
        own = (own + 1) % base->count;
    for (size_t i = 0; status == SSTORE_OK && i < *count; i++) {
        const uint64_t *item = (const uint64_t *)items + i * item_words;
        bool present;
        status = ss_membership_has(&base->memberships[own], item, has_ids ? item[words] : 0, &present, error);
        ss_words_move(to + kept * item_words, item, item_words);
        kept += present == removes;
    }
    atomic_fetch_add(&builder->unchanged_count, *count - kept);
    *count = kept;
    atomic_store(&base->is_taken[own], false);
    return status;
}

/* ----- adding ----- */

/* The number of records that are gathered, and where their ids are. */
static size_t first_capacity(const sstore_builder *builder)
{
    return FIRST_WORDS / builder->writer.words;
}

static uint64_t *first_ids(const sstore_builder *builder)
{
    return builder->first + first_capacity(builder) * builder->writer.words;
}

static sstore_status open_sorter(sstore_builder *builder, uint64_t expected_count, sstore_error *error)
{
    const bool has_ids = builder->writer.has_ids;
    ss_sorter_options options = {.item_words = builder->writer.words + (has_ids ? 1 : 0),
                                 .writers = 1,
                                 .pool = &builder->pool,
                                 .piece_capacity = builder->writer.memory.piece_capacity,
                                 .expected_count = expected_count,
                                 .tmp_dir = builder->writer.tmp_dir,
                                 .refine = builder->base.store != NULL ? keep_changes : NULL,
                                 .refine_context = builder};
    sstore_status status = ss_sorter_create(&options, &builder->records, error);
    if (status == SSTORE_OK && builder->first_count > 0)
        status = ss_sorter_add(builder->records, 0, builder->first, has_ids ? first_ids(builder) : NULL,
                               builder->first_count, error);
    return status;
}

/* Few records stay in an array, because a sorter takes time to create. */
sstore_status ss_builder_add_records(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                     size_t count, sstore_error *error)
{
    assert(ids != NULL || !builder->writer.has_ids);
    const uint32_t words = builder->writer.words;
    if (builder->records == NULL && count <= first_capacity(builder) - builder->first_count) {
        if (builder->first == NULL)
            builder->first = ss_realloc(NULL, 2 * FIRST_WORDS, sizeof *builder->first);
        if (builder->first == NULL)
            return ss_fail_memory(error, 2 * FIRST_WORDS * sizeof *builder->first);
        memcpy(builder->first + builder->first_count * words, fingerprints, count * words * sizeof *fingerprints);
        if (builder->writer.has_ids)
            memcpy(first_ids(builder) + builder->first_count, ids, count * sizeof *ids);
        builder->first_count += count;
        return SSTORE_OK;
    }
    sstore_status status = SSTORE_OK;
    if (builder->records == NULL)
        status = open_sorter(builder, UINT64_MAX, error);
    if (status == SSTORE_OK)
        status = ss_sorter_add(builder->records, 0, fingerprints, builder->writer.has_ids ? ids : NULL, count, error);
    return status;
}

/* Add records that are numbered from next_id on. */
static sstore_status add_with_next_ids(sstore_builder *builder, const uint64_t *fingerprints, size_t count,
                                       sstore_error *error)
{
    uint64_t ids[ID_BATCH];
    sstore_status status = SSTORE_OK;
    if (count > UINT64_MAX - builder->next_id)
        return ss_fail_argument(error, SS_NO_ID_LEFT);
    for (size_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
        size = (size_t)ss_min_u64(count - done, ID_BATCH);
        for (size_t i = 0; i < size; i++)
            ids[i] = builder->next_id++;
        status = ss_builder_add_records(builder, fingerprints + done * builder->writer.words, ids, size, error);
    }
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

sstore_status sstore_builder_skip_ids(sstore_builder *builder, uint64_t count, sstore_error *error)
{
    if (builder == NULL)
        return ss_fail_argument(error, "sstore_builder_skip_ids: builder must not be NULL");
    if (!builder->writer.has_ids)
        return SSTORE_OK;
    if (count > UINT64_MAX - builder->next_id)
        return ss_fail_argument(error, SS_NO_ID_LEFT);
    builder->next_id += count;
    return SSTORE_OK;
}

sstore_status sstore_builder_add(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                 size_t count, sstore_error *error)
{
    if (builder == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "sstore_builder_add: builder and fingerprints must not be NULL");
    if (count == 0)
        return SSTORE_OK;
    const bool has_ids = builder->writer.has_ids;
    if (has_ids && builder->change.given_count > 0 && builder->ids_given != (ids != NULL))
        return ss_fail_argument(error, "sstore_builder_add: either all records have ids or none has");
    builder->change.given_count += count;
    builder->ids_given = ids != NULL;
    if (has_ids && ids == NULL) /* no record of the extended store can have these */
        return add_with_next_ids(builder, fingerprints, count, error);
    sstore_status status = builder->extends ? ss_builder_open_base(builder, error) : SSTORE_OK;
    if (status != SSTORE_OK)
        return status;
    for (size_t i = 0; has_ids && i < count; i++)
        ss_id_conflicts_note(&builder->conflicts, ids[i], &builder->next_id);
    return ss_builder_add_records(builder, fingerprints, ids, count, error);
}

sstore_status ss_builder_sort(sstore_builder *builder, ss_sorted_pieces *pieces_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (builder->records == NULL)
        status = open_sorter(builder, builder->first_count, error);
    if (status != SSTORE_OK)
        return status;
    const uint64_t count = ss_sorter_count(builder->records);
    const size_t capacity = ss_piece_capacity(builder->writer.memory.piece_capacity, count);
    status = ss_builder_check_space(builder, builder->writer.kind, count, ss_sorter_spilled_bytes(builder->records),
                                    error);
    if (status != SSTORE_OK)
        return status;
    ss_progress_begin(&builder->progress, "sorting", 0, count, 0);
    status = ss_sorter_finish(builder->records, &builder->progress, error);
    if (status != SSTORE_OK)
        return status;
    *pieces_out = ss_pieces_of_sorter(builder->records, capacity);
    /* A piece may keep none of its records: those left out have also taken time. */
    if (builder->base.store != NULL && pieces_out->piece_count > 0)
        pieces_out->progress_each = (size_t)(pieces_out->item_count / pieces_out->piece_count);
    builder->records = NULL;
    return SSTORE_OK;
}

/* ----- publishing ----- */

sstore_status ss_builder_publish(const sstore_builder *builder, uint32_t first, uint32_t end,
                                 const ss_manifest_segment *made, uint32_t count, sstore_error *error)
{
    const ss_manifest *before = &builder->transaction->manifest;
    const ss_manifest new_store = {.words = builder->writer.words,
                                   .distance = builder->writer.distance,
                                   .has_ids = builder->writer.has_ids,
                                   .plan_given = builder->writer.plan != NULL || builder->plan_name != NULL,
                                   .recipe = builder->recipe};
    ss_manifest manifest = builder->extends ? *before : new_store;
    if (builder->recipe[0] != '\0')
        manifest.recipe = builder->recipe;
    const uint32_t newer = manifest.segment_count - end;
    uint32_t fresh[SS_MAX_MADE];
    manifest.next_id = builder->next_id;
    manifest.segment_count = first + count + newer;
    manifest.segments = ss_alloc(manifest.segment_count, sizeof *manifest.segments);
    if (manifest.segments == NULL)
        return ss_fail_memory(error, manifest.segment_count * sizeof *manifest.segments);
    for (uint32_t i = 0; i < first; i++)
        manifest.segments[i] = before->segments[i];
    for (uint32_t i = 0; i < count; i++) {
        fresh[i] = first + i;
        manifest.segments[first + i] = made[i];
    }
    for (uint32_t i = 0; i < newer; i++)
        manifest.segments[first + count + i] = before->segments[end + i];
    sstore_status status = ss_manifest_entry_count(&manifest) <= SS_MAX_SEGMENTS
                               ? ss_transaction_commit(builder->transaction, &manifest, fresh, error)
                               : ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, builder->transaction->path,
                                         SSTORE_NO_OFFSET, "the store has %u segments, the maximum; compact it",
                                         before->segment_count);
    ss_free(manifest.segments);
    return status;
}

void ss_note_store(sstore_change *change, const ss_manifest *manifest)
{
    change->record_count = ss_manifest_count(manifest).record_count;
    change->total_bytes = ss_manifest_total_bytes(manifest);
    change->segment_count = manifest->segment_count;
}

/* ----- the builder ----- */

uint32_t sstore_builder_fingerprint_bits(const sstore_builder *builder)
{
    return SS_WORD_BITS * builder->writer.words;
}

void sstore_builder_abort(sstore_builder *builder)
{
    if (builder == NULL)
        return;
    ss_sorter_free(builder->records);
    ss_builder_close_base(builder);
    ss_id_conflicts_free(&builder->conflicts);
    ss_chunk_pool_close(&builder->pool);
    ss_free(builder->first);
    if (builder->transaction == &builder->own_transaction)
        ss_transaction_close(builder->transaction);
    else
        ss_transaction_discard_all(builder->transaction);
    ss_dir_close(&builder->tmp_dir);
    ss_free(builder->recipe);
    ss_free(builder->plan_name);
    ss_free(builder);
}
