#include "sort/buckets.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ===== chunk pool ===== */

#define SLAB_BYTES ((uint64_t)8 << 20) /* a multiple of huge pages */

sstore_status ss_chunk_pool_open(ss_chunk_pool *pool, uint64_t bytes, size_t chunk_bytes, sstore_error *error)
{
    assert((chunk_bytes & (chunk_bytes - 1)) == 0);
    uint64_t chunks = ss_min_u64(ss_max_u64(bytes / chunk_bytes, 1), SS_NO_CHUNK);
    uint32_t slab_chunks = (uint32_t)ss_min_u64(ss_max_u64(SLAB_BYTES / chunk_bytes, 1), chunks);
    size_t slabs = (size_t)((chunks + slab_chunks - 1) / slab_chunks);
    *pool = (ss_chunk_pool){.chunk_bytes = chunk_bytes,
                            .slab_chunks = slab_chunks,
                            .max_chunks = (uint32_t)chunks,
                            .free_chunk = SS_NO_CHUNK};
    pthread_mutex_init(&pool->lock, NULL);
    pool->slabs = ss_alloc(slabs, sizeof *pool->slabs);
    pool->bases = ss_alloc(slabs, sizeof *pool->bases);
    pool->next = ss_realloc(NULL, (size_t)chunks, sizeof *pool->next);
    if (pool->slabs != NULL && pool->bases != NULL && pool->next != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, chunks * sizeof *pool->next);
}

/* Make the slab of the next chunk. */
static bool add_slab(ss_chunk_pool *pool)
{
    uint32_t slab = pool->made / pool->slab_chunks;
    uint64_t left = pool->max_chunks - pool->made;
    size_t bytes = (size_t)ss_min_u64(left, pool->slab_chunks) * pool->chunk_bytes;
    size_t slack = bytes < SLAB_BYTES ? pool->chunk_bytes : 0; /* full slabs are aligned to more than a chunk */
    uint8_t *memory = ss_alloc_large(bytes + slack);
    if (memory == NULL)
        return false;
    pool->slabs[slab] = memory;
    pool->bases[slab] = memory + (-(uintptr_t)memory & (pool->chunk_bytes - 1));
    return true;
}

/* Take a chunk. SS_NO_CHUNK: all are taken, or the system has no memory for another slab. */
static uint32_t take_chunk(ss_chunk_pool *pool)
{
    uint32_t chunk = SS_NO_CHUNK;
    pthread_mutex_lock(&pool->lock);
    if (pool->free_chunk != SS_NO_CHUNK) {
        chunk = pool->free_chunk;
        pool->free_chunk = pool->next[chunk];
    } else if (pool->made < pool->max_chunks && (pool->made % pool->slab_chunks != 0 || add_slab(pool))) {
        chunk = pool->made++;
    }
    pool->taken += chunk != SS_NO_CHUNK;
    pthread_mutex_unlock(&pool->lock);
    return chunk;
}

static void give_chunk(ss_chunk_pool *pool, uint32_t chunk)
{
    pthread_mutex_lock(&pool->lock);
    pool->next[chunk] = pool->free_chunk;
    pool->free_chunk = chunk;
    pool->taken--;
    pthread_mutex_unlock(&pool->lock);
}

void ss_chunk_pool_close(ss_chunk_pool *pool)
{
    if (pool->chunk_bytes == 0)
        return;
    for (uint64_t slab = 0; slab * pool->slab_chunks < pool->made; slab++)
        ss_free(pool->slabs[slab]);
    ss_free(pool->slabs);
    ss_free(pool->bases);
    ss_free(pool->next);
    pthread_mutex_destroy(&pool->lock);
    *pool = (ss_chunk_pool){.chunk_bytes = 0};
}

/* ===== spill file ===== */

sstore_status ss_spill_dir_open(const char *path, const ss_dir *usual, ss_dir *dir_out, sstore_error *error)
{
    const char *named = path != NULL ? path : secure_getenv("TMPDIR");
    if (named != NULL && (path != NULL || named[0] != '\0'))
        return ss_dir_open(named, dir_out, error);
    return usual != NULL ? ss_dir_copy(usual, dir_out, error) : ss_dir_open(".", dir_out, error);
}

void ss_spill_file_open(ss_spill_file *spill, const ss_dir *dir)
{
    *spill = (ss_spill_file){.dir = dir, .file = SS_FILE_NONE};
    pthread_mutex_init(&spill->lock, NULL);
}

/* Reserve room for a run of `bytes`; *offset_out is where it goes. Creates the file if there is none. IO, MEMORY. */
static sstore_status reserve_room(ss_spill_file *spill, uint64_t bytes, uint64_t *offset_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    pthread_mutex_lock(&spill->lock);
    if (spill->file.fd < 0)
        status = ss_file_create_unnamed(spill->dir, &spill->file, error);
    *offset_out = spill->bytes;
    if (status == SSTORE_OK)
        spill->bytes += bytes;
    pthread_mutex_unlock(&spill->lock);
    return status;
}

void ss_spill_file_close(ss_spill_file *spill)
{
    if (spill->dir == NULL)
        return;
    ss_file_close(&spill->file);
    pthread_mutex_destroy(&spill->lock);
    spill->dir = NULL;
}

/* ===== buckets ===== */

#define PARTS 256u /* chunks written by one call */

/* ----- chunks ----- */

static uint8_t *chunk_items(const ss_buckets *buckets, uint32_t chunk)
{
    const ss_chunk_pool *pool = buckets->pool;
    uint8_t *start = pool->bases[chunk / pool->slab_chunks] + (size_t)(chunk % pool->slab_chunks) * pool->chunk_bytes;
    return start + buckets->margin_bytes;
}

static size_t full_bytes(const ss_buckets *buckets)
{
    return buckets->pool->chunk_bytes - buckets->margin_bytes;
}

/* ----- opening ----- */

sstore_status ss_buckets_open(ss_buckets *buckets, uint32_t writer_count, uint32_t max_chunks, sstore_error *error)
{
    const size_t count = buckets->count;
    buckets->item_bytes = buckets->item_words * sizeof(uint64_t);
    buckets->margin_bytes = buckets->pool->chunk_bytes % buckets->item_bytes;
    buckets->writers = ss_alloc(writer_count, sizeof *buckets->writers);
    buckets->writer_count = buckets->writers == NULL ? 0 : writer_count;
    /* A run counts its items in 32 bits. */
    max_chunks = (uint32_t)ss_min_u64(max_chunks, UINT32_MAX * buckets->item_bytes / buckets->pool->chunk_bytes);
    bool opened = buckets->writers != NULL;
    for (uint32_t i = 0; i < buckets->writer_count; i++) {
        ss_bucket_writer *writer = &buckets->writers[i];
        writer->max_chunks = max_chunks;
        writer->heads = ss_alloc(count, sizeof *writer->heads + sizeof *writer->newest + sizeof *writer->chunks);
        opened = opened && writer->heads != NULL;
        if (!opened)
            break;
        writer->newest = (uint32_t *)(writer->heads + count);
        writer->chunks = writer->newest + count;
    }
    return opened ? SSTORE_OK : ss_fail_memory(error, (uint64_t)writer_count * count * 16);
}

/* Return a bucket's chunks. */
static void drop_chunks(ss_buckets *buckets, ss_bucket_writer *writer, uint32_t bucket)
{
    for (uint32_t left = writer->chunks[bucket], chunk = writer->newest[bucket]; left > 0; left--) {
        uint32_t older = buckets->pool->next[chunk];
        give_chunk(buckets->pool, chunk);
        chunk = older;
    }
    writer->held_chunks -= writer->chunks[bucket];
    writer->chunks[bucket] = 0;
    writer->heads[bucket] = NULL;
}

static void close_writer(ss_buckets *buckets, ss_bucket_writer *writer)
{
    for (uint32_t bucket = 0; writer->held_chunks > 0 && bucket < buckets->count; bucket++)
        drop_chunks(buckets, writer, bucket);
    for (ss_spilled_run *run = writer->runs, *next; run != NULL; run = next) {
        next = run->next;
        ss_free(run);
    }
    ss_free(writer->heads); /* with the other two */
}

void ss_buckets_close(ss_buckets *buckets)
{
    for (uint32_t i = 0; i < buckets->writer_count; i++)
        close_writer(buckets, &buckets->writers[i]);
    ss_free(buckets->writers);
    buckets->writers = NULL;
    buckets->writer_count = 0;
}

/* ----- items in memory ----- */

/* The bytes of a bucket of a writer that are in memory. */
static size_t held_bytes(const ss_buckets *buckets, const ss_bucket_writer *writer, uint32_t bucket)
{
    if (writer->chunks[bucket] == 0)
        return 0;
    size_t in_newest = (size_t)(writer->heads[bucket] - chunk_items(buckets, writer->newest[bucket]));
    return (writer->chunks[bucket] - 1) * full_bytes(buckets) + in_newest;
}

/* Iterates over the chunks of a bucket, the newest first. */
typedef struct chunk_iterator {
    uint32_t chunk, left;
    uint8_t *bytes;
    size_t size;
} chunk_iterator;

static chunk_iterator first_chunk(const ss_buckets *buckets, const ss_bucket_writer *writer, uint32_t bucket)
{
    uint32_t chunk = writer->newest[bucket];
    chunk_iterator chunks = {.chunk = chunk, .left = writer->chunks[bucket]};
    if (chunks.left > 0) {
        chunks.bytes = chunk_items(buckets, chunk);
        chunks.size = (size_t)(writer->heads[bucket] - chunks.bytes);
    }
    return chunks;
}

static void next_chunk(const ss_buckets *buckets, chunk_iterator *chunks)
{
    if (--chunks->left == 0)
        return;
    chunks->chunk = buckets->pool->next[chunks->chunk];
    chunks->bytes = chunk_items(buckets, chunks->chunk);
    chunks->size = full_bytes(buckets);
}

/* ----- spilling ----- */

/* Write all items of a writer that are in memory, bucket by bucket. */
static sstore_status write_chunks(const ss_buckets *buckets, const ss_bucket_writer *writer, uint64_t offset,
                                  sstore_error *error)
{
    const ss_file *file = &buckets->spill->file;
    ss_file_part parts[PARTS];
    uint32_t count = 0;
    uint64_t bytes = 0;
    sstore_status status = SSTORE_OK;
    for (uint32_t bucket = 0; status == SSTORE_OK && bucket < buckets->count; bucket++) {
        chunk_iterator chunks = first_chunk(buckets, writer, bucket);
        for (; status == SSTORE_OK && chunks.left > 0; next_chunk(buckets, &chunks)) {
            parts[count++] = (ss_file_part){.data = chunks.bytes, .size = chunks.size};
            bytes += chunks.size;
            if (count < PARTS)
                continue;
            status = ss_file_write_parts_at(file, offset, parts, count, error);
            offset += bytes;
            bytes = 0;
            count = 0;
        }
    }
    return status == SSTORE_OK ? ss_file_write_parts_at(file, offset, parts, count, error) : status;
}

sstore_status ss_buckets_spill(ss_buckets *buckets, uint32_t writer, sstore_error *error)
{
    ss_bucket_writer *from = &buckets->writers[writer];
    uint64_t bytes = 0;
    if (from->held_chunks == 0)
        return SSTORE_OK;
    const size_t run_bytes = sizeof(ss_spilled_run) + ((size_t)buckets->count + 1) * sizeof(uint32_t);
    ss_spilled_run *run = ss_realloc(NULL, run_bytes, 1);
    if (run == NULL)
        return ss_fail_memory(error, run_bytes);
    for (uint32_t bucket = 0; bucket < buckets->count; bucket++) {
        run->begins[bucket] = (uint32_t)(bytes / buckets->item_bytes);
        bytes += held_bytes(buckets, from, bucket);
    }
    run->begins[buckets->count] = (uint32_t)(bytes / buckets->item_bytes);
    run->next = NULL;
    sstore_status status = reserve_room(buckets->spill, bytes, &run->offset, error);
    if (status == SSTORE_OK)
        status = write_chunks(buckets, from, run->offset, error);
    if (status != SSTORE_OK) {
        ss_free(run);
        return status;
    }
    *(from->runs == NULL ? &from->runs : &from->last_run->next) = run;
    from->last_run = run;
    for (uint32_t bucket = 0; bucket < buckets->count; bucket++)
        drop_chunks(buckets, from, bucket);
    return SSTORE_OK;
}

/* ----- partitioning ----- */

/* Give a bucket a new chunk. If none is left for this writer, it first spills all that it has. */
static sstore_status add_chunk(ss_buckets *buckets, uint32_t writer, uint32_t bucket, sstore_error *error)
{
    ss_bucket_writer *to = &buckets->writers[writer];
    uint32_t chunk = to->held_chunks < to->max_chunks ? take_chunk(buckets->pool) : SS_NO_CHUNK;
    if (chunk == SS_NO_CHUNK) {
        sstore_status status = ss_buckets_spill(buckets, writer, error);
        if (status != SSTORE_OK)
            return status;
        chunk = take_chunk(buckets->pool);
    }
    if (chunk == SS_NO_CHUNK)
        return ss_fail_memory(error, buckets->pool->chunk_bytes);
    buckets->pool->next[chunk] = to->newest[bucket];
    to->newest[bucket] = chunk;
    to->heads[bucket] = chunk_items(buckets, chunk);
    to->chunks[bucket]++;
    to->held_chunks++;
    return SSTORE_OK;
}

/* The loop for all kinds of items, inlined with constant `item_words` where these are few. Items are one after the
 * other in `words`; or, if `ids` is not NULL, these are their last words. */
SS_ALWAYS_INLINE sstore_status partition(ss_buckets *buckets, uint32_t writer, const uint64_t *words,
                                         const uint64_t *ids, uint32_t item_words, size_t count, sstore_error *error)
{
    uint8_t **heads = buckets->writers[writer].heads;
    const uint32_t shift = buckets->shift, mask = buckets->count - 1, key_word = item_words == 1 ? 0 : buckets->word;
    const uintptr_t within = buckets->pool->chunk_bytes - 1;
    const size_t step = ids != NULL ? item_words - 1 : item_words;
    assert(buckets->word < step);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *item = words + i * step;
        const uint32_t bucket = (uint32_t)(item[key_word] >> shift) & mask;
        if (SS_UNLIKELY(((uintptr_t)heads[bucket] & within) == 0)) {
            const sstore_status status = add_chunk(buckets, writer, bucket, error);
            if (status != SSTORE_OK)
                return status;
        }
        memcpy(heads[bucket], item, step * sizeof *item);
        if (ids != NULL)
            memcpy(heads[bucket] + step * sizeof *item, &ids[i], sizeof *ids);
        heads[bucket] += item_words * sizeof *item;
    }
    return SSTORE_OK;
}

sstore_status ss_buckets_partition(ss_buckets *buckets, uint32_t writer, const uint64_t *fingerprints,
                                   const uint64_t *ids, size_t count, sstore_error *error)
{
    assert(buckets->word == 0);
    if (buckets->item_words == 1 || ids == NULL)
        return ss_buckets_partition_items(buckets, writer, fingerprints, count, error);
    switch (buckets->item_words) {
    case 2: return partition(buckets, writer, fingerprints, ids, 2, count, error);
    case 3: return partition(buckets, writer, fingerprints, ids, 3, count, error);
    case 5: return partition(buckets, writer, fingerprints, ids, 5, count, error);
    default: return partition(buckets, writer, fingerprints, ids, buckets->item_words, count, error);
    }
}

sstore_status ss_buckets_partition_items(ss_buckets *buckets, uint32_t writer, const void *items, size_t count,
                                         sstore_error *error)
{
    switch (buckets->item_words) {
    case 1: return partition(buckets, writer, items, NULL, 1, count, error);
    case 2: return partition(buckets, writer, items, NULL, 2, count, error);
    case 3: return partition(buckets, writer, items, NULL, 3, count, error);
    case 4: return partition(buckets, writer, items, NULL, 4, count, error);
    default: return partition(buckets, writer, items, NULL, buckets->item_words, count, error);
    }
}

/* ----- reading ----- */

uint64_t ss_buckets_size(const ss_buckets *buckets, uint32_t bucket)
{
    uint64_t bytes = 0, spilled = 0;
    for (uint32_t i = 0; i < buckets->writer_count; i++) {
        const ss_bucket_writer *writer = &buckets->writers[i];
        bytes += held_bytes(buckets, writer, bucket);
        for (const ss_spilled_run *run = writer->runs; run != NULL; run = run->next)
            spilled += run->begins[bucket + 1] - run->begins[bucket];
    }
    return bytes / buckets->item_bytes + spilled;
}

bool ss_buckets_in_memory(const ss_buckets *buckets, uint32_t first, uint32_t end)
{
    bool spilled = false;
    for (uint32_t i = 0; i < buckets->writer_count; i++)
        for (const ss_spilled_run *run = buckets->writers[i].runs; run != NULL; run = run->next)
            spilled |= run->begins[first] != run->begins[end];
    return !spilled;
}

/* The place of the buckets first .. end - 1 of a run. */
static uint64_t run_extent(const ss_buckets *buckets, const ss_spilled_run *run, uint32_t first, uint32_t end,
                           uint64_t *bytes_out)
{
    *bytes_out = (uint64_t)(run->begins[end] - run->begins[first]) * buckets->item_bytes;
    return run->offset + (uint64_t)run->begins[first] * buckets->item_bytes;
}

/* Copy the items in memory of the buckets first .. end - 1 to `items`; or, if `back`, the first `bytes` of the items
 * into these buckets. */
static void copy_chunks(const ss_buckets *buckets, uint32_t first, uint32_t end, uint8_t *items, size_t bytes,
                        bool back)
{
    for (uint32_t bucket = first; bucket < end; bucket++) {
        for (uint32_t i = 0; i < buckets->writer_count; i++) {
            chunk_iterator chunks = first_chunk(buckets, &buckets->writers[i], bucket);
            for (; chunks.left > 0 && bytes > 0; next_chunk(buckets, &chunks)) {
                const size_t size = chunks.size < bytes ? chunks.size : bytes;
                /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the remaining size is not 0 */
                memcpy(back ? chunks.bytes : items, back ? items : chunks.bytes, size);
                items += size;
                bytes -= size;
            }
        }
    }
}

sstore_status ss_buckets_gather(const ss_buckets *buckets, uint32_t first, uint32_t end, void *items,
                                sstore_error *error)
{
    uint8_t *to = items;
    for (uint32_t i = 0; i < buckets->writer_count; i++) {
        for (const ss_spilled_run *run = buckets->writers[i].runs; run != NULL; run = run->next) {
            uint64_t bytes, offset = run_extent(buckets, run, first, end, &bytes);
            sstore_status status = SSTORE_OK;
            if (bytes > 0)
                status = ss_file_read_at(&buckets->spill->file, offset, to, (size_t)bytes, error);
            if (status != SSTORE_OK)
                return status;
            to += bytes;
        }
    }
    copy_chunks(buckets, first, end, to, SIZE_MAX, false);
    return SSTORE_OK;
}

void ss_buckets_put_back(ss_buckets *buckets, uint32_t first, uint32_t end, void *items, size_t count)
{
    copy_chunks(buckets, first, end, items, count * buckets->item_bytes, true);
}

/* Pass on the part of a bucket that is in a run. If it is taken, free its disk space. */
static sstore_status each_in_run(const ss_buckets *buckets, const ss_spilled_run *run, uint32_t bucket, bool take,
                                 void *buffer, size_t capacity, ss_items_fn on_items, void *context,
                                 sstore_error *error)
{
    uint64_t bytes;
    const uint64_t offset = run_extent(buckets, run, bucket, bucket + 1, &bytes);
    sstore_status status = SSTORE_OK;
    for (uint64_t done = 0, size; status == SSTORE_OK && done < bytes; done += size) {
        size = ss_min_u64(bytes - done, capacity * buckets->item_bytes);
        status = ss_file_read_at(&buckets->spill->file, offset + done, buffer, (size_t)size, error);
        if (status == SSTORE_OK)
            status = on_items(context, buffer, (size_t)size / buckets->item_bytes, error);
    }
    if (status == SSTORE_OK && take)
        ss_file_punch(&buckets->spill->file, offset, bytes);
    return status;
}

/* Pass on the part that is in memory. Taken chunks are returned one by one, so that on_items can store the items. */
static sstore_status each_in_memory(ss_buckets *buckets, ss_bucket_writer *writer, uint32_t bucket, bool take,
                                    ss_items_fn on_items, void *context, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    chunk_iterator chunks = first_chunk(buckets, writer, bucket);
    while (status == SSTORE_OK && chunks.left > 0) {
        uint32_t given = chunks.chunk;
        status = on_items(context, chunks.bytes, chunks.size / buckets->item_bytes, error);
        next_chunk(buckets, &chunks);
        if (!take)
            continue;
        give_chunk(buckets->pool, given);
        writer->held_chunks--;
        writer->chunks[bucket]--;
        writer->newest[bucket] = chunks.chunk;
        writer->heads[bucket] = chunks.left > 0 ? chunks.bytes + chunks.size : NULL;
    }
    return status;
}

sstore_status ss_buckets_each(ss_buckets *buckets, uint32_t bucket, bool take, void *buffer, size_t capacity,
                              ss_items_fn on_items, void *context, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < buckets->writer_count; i++) {
        ss_bucket_writer *writer = &buckets->writers[i];
        for (const ss_spilled_run *run = writer->runs; status == SSTORE_OK && run != NULL; run = run->next)
            status = each_in_run(buckets, run, bucket, take, buffer, capacity, on_items, context, error);
        if (status == SSTORE_OK)
            status = each_in_memory(buckets, writer, bucket, take, on_items, context, error);
    }
    return status;
}
