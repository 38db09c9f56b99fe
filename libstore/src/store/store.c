#include "store/store.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* The maximum number of attempts to open a store that writers replace meanwhile. */
#define MAX_ATTEMPTS 100

/* ----- memory ----- */

/* The memory of a block file. In mmap mode it is a bit for each block; the system can take mapped pages back. */
static uint64_t block_file_bytes(uint64_t block_count, uint32_t block_bytes, sstore_io io)
{
    const uint64_t bytes = SS_HEADER_BYTES + block_count * block_bytes;
    const uint64_t checked_bytes = io == SSTORE_IO_MMAP ? block_count / 8 + 1 : 0;
    return checked_bytes + (io == SSTORE_IO_MEMORY || ss_block_file_is_copied(bytes, io) ? bytes : 0);
}

/* A segment, or one of its indexes. */
static uint64_t part_bytes(const ss_manifest_segment *segment, sstore_io io)
{
    uint64_t bytes = segment->directory_bytes + sizeof(ss_segment) + segment->plan.table_count * sizeof(ss_table);
    for (uint32_t i = 0; i < ss_file_count(segment); i++) {
        const ss_manifest_file *file = ss_file_entry(segment, i);
        bytes += ss_key_index_bytes(file->block_count) + block_file_bytes(file->block_count, segment->block_bytes, io);
    }
    if (ss_is_names(segment->kind))
        bytes += ss_key_index_bytes(segment->ids.block_count) + sizeof(ss_fragments);
    return bytes;
}

static uint64_t segment_bytes(const ss_manifest_segment *segment, sstore_io io)
{
    const uint32_t index_count = ss_index_count(segment);
    uint64_t bytes = part_bytes(segment, io) + index_count * (sizeof(ss_segment *) + sizeof *segment->indexes);
    for (uint32_t i = 0; i < index_count; i++)
        bytes += part_bytes(&segment->indexes[i], io);
    return bytes;
}

uint64_t ss_store_memory_bytes(const ss_manifest *manifest, sstore_io io)
{
    uint64_t bytes = sizeof(sstore) + manifest->segment_count * sizeof *manifest->segments;
    for (uint32_t i = 0; i < manifest->segment_count; i++)
        bytes += segment_bytes(&manifest->segments[i], io);
    return bytes;
}

static uint64_t needed_bytes(const ss_opening *how, const ss_manifest *manifest, sstore_io io)
{
    return ss_store_memory_bytes(manifest, io) + (how->cursor_bytes != NULL ? how->cursor_bytes(manifest, io) : 0);
}

/* ----- opening ----- */

/* Close the manifest, and everything that was opened according to it. */
static void drop_manifest(sstore *store)
{
    for (uint32_t i = 0; store->segments != NULL && i < store->manifest.segment_count; i++)
        ss_segment_release(store->segments[i]);
    ss_free(store->segments);
    store->segments = NULL;
    store->removal_end = 0;
    store->several_add = false;
    ss_manifest_free(&store->manifest);
}

/* Check that the store will not take more memory than the options allow. */
static sstore_status check_memory(const sstore *store, const ss_opening *how, sstore_error *error)
{
    const uint64_t max = store->options.max_memory_bytes,
                   needed = needed_bytes(how, &store->manifest, store->options.io);
    if (max == 0 || needed <= max)
        return SSTORE_OK;
    return ss_fail(error, SSTORE_ERROR_MEMORY, 0, store->dir.path, SSTORE_NO_OFFSET,
                   "opening the store takes %.1f MiB, but max_memory_bytes allows %.1f; use the read mode pread "
                   "or mmap, or a store with fewer tables or segments",
                   (double)needed / 0x1p20, (double)max / 0x1p20);
}

/* Whether an open segment or index has this metadata. Segments never change, but one with the same id may lie in
 * another folder, with another directory. */
static bool is_of(const ss_segment *open, const ss_manifest_segment *metadata)
{
    const ss_manifest_segment *own = &open->metadata;
    return ss_u128_equal(own->segment_id, metadata->segment_id) && own->folder_number == metadata->folder_number &&
           ss_u128_equal(own->directory_checksum, metadata->directory_checksum);
}

/* The same with the indexes, on which the segment's id does not depend. */
static bool is_of_with_indexes(const ss_segment *open, const ss_manifest_segment *metadata)
{
    const uint32_t words = ss_word_index_count(metadata), count = ss_index_count(metadata);
    bool is_same = is_of(open, metadata) && open->index_count == words && (open->id_index != NULL) == (count > words) &&
                   (open->names != NULL) == (count > words + 1);
    for (uint32_t i = 0; is_same && i < words; i++)
        is_same = is_of(open->indexes[i], &metadata->indexes[i]);
    return is_same && (open->id_index == NULL || is_of(open->id_index, &metadata->indexes[words])) &&
           (open->names == NULL || is_of(open->names, &metadata->indexes[words + 1]));
}

/* The segment with this metadata that another handle of the store has open; NULL if there is none. */
static ss_segment *find_open(const sstore *other, const ss_manifest_segment *metadata)
{
    for (uint32_t i = 0; other != NULL && i < other->manifest.segment_count; i++)
        if (is_of_with_indexes(other->segments[i], metadata))
            return other->segments[i];
    return NULL;
}

static sstore_status open_segments(sstore *store, const sstore *other, sstore_error *error)
{
    const ss_manifest *manifest = &store->manifest;
    const ss_segment_use use = {.records_only = store->records_only,
                                .without_words = store->without_words,
                                .io = store->options.io,
                                .strategy = store->options.strategy};
    uint32_t adding_count = 0;
    sstore_status status = SSTORE_OK;
    store->segments = ss_alloc(manifest->segment_count, sizeof(ss_segment *));
    if (store->segments == NULL)
        return ss_fail_memory(error, manifest->segment_count * sizeof(ss_segment *));
    for (uint32_t i = 0; status == SSTORE_OK && i < manifest->segment_count; i++) {
        ss_segment *open = find_open(other, &manifest->segments[i]);
        if (open != NULL)
            store->segments[i] = ss_segment_retain(open);
        else
            status = ss_segment_open(&store->dir, &manifest->segments[i], &use, &store->segments[i], error);
        if (manifest->segments[i].kind == SS_SEGMENT_REMOVES)
            store->removal_end = i + 1;
        else
            adding_count++;
    }
    store->several_add = adding_count > 1;
    return status;
}

/* Choose the read mode: the given one, or one that fits in memory. */
static sstore_io choose_io(const ss_opening *how, const ss_manifest *manifest)
{
    const sstore_open_options *options = &how->options;
    if (options->io != SSTORE_IO_AUTO)
        return options->io;
    const uint64_t max = options->max_memory_bytes != 0 ? options->max_memory_bytes : UINT64_MAX;
    if (ss_manifest_total_bytes(manifest) <= ss_min_u64(max, ss_memory_limit()) / 2)
        return SSTORE_IO_MMAP;
    /* With large blocks in many segments the buffers for pread may not fit. */
    return needed_bytes(how, manifest, SSTORE_IO_PREAD) > max ? SSTORE_IO_MMAP : SSTORE_IO_PREAD;
}

static sstore_status open_manifest(sstore *store, const ss_opening *how, sstore_error *error)
{
    ss_manifest *manifest = &store->manifest;
    sstore_status status = ss_manifest_read(&store->dir, manifest, error);
    if (status == SSTORE_ERROR_NOT_FOUND)
        return ss_fail_no_manifest(&store->dir, error);
    if (status == SSTORE_OK)
        status = ss_manifest_check_recipe(manifest, store->dir.path, how->recipe, NULL, error);
    if (status == SSTORE_OK) {
        store->options.io = choose_io(how, manifest);
        status = check_memory(store, how, error);
    }
    return status == SSTORE_OK ? open_segments(store, how->other, error) : status;
}

/* A writer that replaces segments removes files that the old manifest names, and may reuse their folders' names. If
 * that happens meanwhile, start again with the new manifest. */
static sstore_status open_newest(sstore *store, const ss_opening *how, sstore_error *error)
{
    sstore_error attempt_error;
    for (int attempt = 1;; attempt++) {
        sstore_status status = open_manifest(store, how, &attempt_error);
        const bool lost_file = status == SSTORE_ERROR_NOT_FOUND && store->segments != NULL;
        const bool other_file = status == SSTORE_ERROR_DAMAGED && store->segments != NULL;
        if ((lost_file || other_file) && attempt < MAX_ATTEMPTS &&
            !ss_manifest_is_newest(&store->dir, &store->manifest)) {
            drop_manifest(store);
            continue;
        }
        if (lost_file) /* the manifest names it */
            attempt_error.status = status = SSTORE_ERROR_DAMAGED;
        return status != SSTORE_OK ? ss_fail_as(error, &attempt_error) : SSTORE_OK;
    }
}

sstore_status ss_store_open(const ss_opening *how, sstore **store_out, sstore_error *error)
{
    sstore *store = ss_alloc(1, sizeof *store);
    *store_out = NULL;
    if (store == NULL)
        return ss_fail_memory(error, sizeof *store);
    *store = (sstore){.dir = SS_DIR_NONE,
                      .options = how->options,
                      .records_only = how->records_only,
                      .without_words = how->without_words};
    store->options.recipe = NULL;
    sstore_status status = how->dir != NULL ? ss_dir_copy(how->dir, &store->dir, error)
                                            : ss_store_dir_open(how->path, &store->dir, error);
    if (status == SSTORE_OK)
        status = open_newest(store, how, error);
    if (status == SSTORE_OK)
        *store_out = store;
    else
        sstore_close(store);
    return status;
}

uint32_t sstore_fingerprint_bits(const sstore *store)
{
    return SS_WORD_BITS * store->manifest.words;
}

bool sstore_is_newest(const sstore *store)
{
    return ss_manifest_is_newest(&store->dir, &store->manifest);
}

/* Writers read much once, and a file that is cut short meanwhile must not end the process: so no mapping. */
static const sstore_open_options for_writers = {.struct_size = sizeof(sstore_open_options), .io = SSTORE_IO_PREAD};

sstore_status ss_store_open_records(const char *path, sstore **store_out, sstore_error *error)
{
    const ss_opening how = {.path = path, .options = for_writers, .records_only = true};
    return ss_store_open(&how, store_out, error);
}

sstore_status ss_store_open_in(const ss_dir *dir, ss_store_use use, sstore **store_out, sstore_error *error)
{
    const ss_opening how = {.dir = dir,
                            .options = for_writers,
                            .records_only = use == SS_STORE_RECORDS,
                            .without_words = use != SS_STORE_QUERIES};
    return ss_store_open(&how, store_out, error);
}

sstore_status ss_store_append_staged(sstore *store, const ss_dir *dir, const ss_manifest_segment *segment,
                                     sstore_error *error)
{
    ss_manifest *manifest = &store->manifest;
    const size_t count = (size_t)manifest->segment_count + 1;
    ss_segment **segments = ss_realloc(store->segments, count, sizeof(ss_segment *));
    if (segments != NULL)
        store->segments = segments;
    ss_manifest_segment *entries = ss_realloc(manifest->segments, count, sizeof *entries);
    if (entries != NULL)
        manifest->segments = entries;
    if (segments == NULL || entries == NULL)
        return ss_fail_memory(error, count * sizeof *entries);
    entries[count - 1] = *segment;
    entries[count - 1].indexes = NULL;
    const sstore_status status = ss_segment_open_staged(dir, segment, &segments[count - 1], error);
    if (status == SSTORE_OK)
        manifest->segment_count++;
    return status;
}

void sstore_close(sstore *store)
{
    if (store == NULL)
        return;
    drop_manifest(store);
    ss_dir_close(&store->dir);
    ss_free(store);
}

ss_table_place ss_table_find(const sstore *store, uint32_t segment, uint32_t table)
{
    ss_table_place place = {.number = table};
    if (store == NULL || segment >= store->manifest.segment_count)
        return place;
    const ss_segment *opened = store->segments[segment];
    const uint32_t count = opened->metadata.words == 1 ? 1 : opened->index_count;
    for (; place.part == NULL && place.word < count; place.word++) {
        const ss_segment *index = ss_segment_index(opened, place.word);
        if (place.number < index->metadata.plan.table_count) {
            place.part = index;
            return place;
        }
        place.number -= index->metadata.plan.table_count;
    }
    return place;
}
