#include "sort/extsort.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sort/radix.h"

#define FIRST_CAPACITY ((size_t)4096)      /* items; doubled as needed, so that small inputs take little */
#define MIN_BUFFER_BYTES ((size_t)4096)    /* of one run while merging */
#define MAX_BUFFER_BYTES ((size_t)1 << 20) /* more does not make the disk faster */

/* A sorted piece of the spill file, read through a buffer of its own. */
typedef struct run {
    uint64_t offset, end;  /* bytes in the file, of what is not in the buffer yet */
    uint8_t *buffer;
    size_t at, filled;     /* items in the buffer */
    sstore_record current; /* of a run that has not ended */
} run;

struct ss_sorter {
    bool with_ids;
    bool sorted;
    size_t item_bytes;
    const ss_dir *tmp_dir;
    void *items; /* uint64_t or sstore_record */
    size_t count, capacity, max_capacity;
    ss_file spill;
    uint64_t spill_bytes;
    run *runs;
    size_t run_count, run_capacity;
    uint8_t *buffers;     /* of all runs, while merging */
    size_t buffer_items;
    size_t *heap;         /* indices of runs, the least current record first */
    size_t heap_count;
    size_t next;          /* item, where nothing was spilled */
    sstore_record previous; /* the last one given out */
    bool has_previous;
};

sstore_status ss_sorter_create(bool with_ids, uint64_t memory_bytes, const ss_dir *tmp_dir, ss_sorter **sorter_out,
                               sstore_error *error)
{
    ss_sorter *sorter = ss_alloc(1, sizeof *sorter);
    if (sorter == NULL)
        return ss_fail_memory(error, sizeof *sorter);
    *sorter = (ss_sorter){.with_ids = with_ids, .tmp_dir = tmp_dir, .spill = SS_FILE_NONE};
    sorter->item_bytes = with_ids ? sizeof(sstore_record) : sizeof(uint64_t);
    sorter->max_capacity = (size_t)(ss_max_u64(memory_bytes, (uint64_t)1 << 20) / sorter->item_bytes);
    *sorter_out = sorter;
    return SSTORE_OK;
}

void ss_sorter_free(ss_sorter *sorter)
{
    if (sorter == NULL)
        return;
    ss_free(sorter->items);
    ss_free(sorter->runs);
    ss_free(sorter->buffers);
    ss_free(sorter->heap);
    ss_file_close(&sorter->spill);
    ss_free(sorter);
}

/* ----- gathering ----- */

static void sort_items(ss_sorter *sorter)
{
    if (sorter->with_ids)
        ss_sort_records(sorter->items, sorter->count);
    else
        ss_sort_keys(sorter->items, sorter->count);
}

static sstore_status add_run(ss_sorter *sorter, uint64_t bytes, sstore_error *error)
{
    if (sorter->run_count == sorter->run_capacity) {
        size_t capacity = sorter->run_capacity == 0 ? 16 : 2 * sorter->run_capacity;
        run *runs = ss_realloc(sorter->runs, capacity, sizeof *runs);
        if (runs == NULL)
            return ss_fail_memory(error, capacity * sizeof *runs);
        sorter->runs = runs;
        sorter->run_capacity = capacity;
    }
    sorter->runs[sorter->run_count++] =
        (run){.offset = sorter->spill_bytes, .end = sorter->spill_bytes + bytes};
    sorter->spill_bytes += bytes;
    return SSTORE_OK;
}

/* Runs are in the machine's own byte order: nobody but this process reads them. */
static sstore_status spill(ss_sorter *sorter, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    size_t bytes = sorter->count * sorter->item_bytes;
    sort_items(sorter);
    if (sorter->spill.fd < 0)
        status = ss_file_create_nameless(sorter->tmp_dir, &sorter->spill, error);
    if (status == SSTORE_OK)
        status = ss_file_write_at(&sorter->spill, sorter->spill_bytes, sorter->items, bytes, error);
    if (status == SSTORE_OK)
        status = add_run(sorter, bytes, error);
    sorter->count = 0;
    return status;
}

/* Make room for one item at least. */
static sstore_status make_room(ss_sorter *sorter, sstore_error *error)
{
    if (sorter->count < sorter->capacity)
        return SSTORE_OK;
    if (sorter->capacity == sorter->max_capacity)
        return spill(sorter, error);
    size_t capacity = sorter->capacity == 0 ? FIRST_CAPACITY : 2 * sorter->capacity;
    if (capacity > sorter->max_capacity)
        capacity = sorter->max_capacity;
    void *items = ss_realloc(sorter->items, capacity, sorter->item_bytes);
    if (items == NULL)
        return ss_fail_memory(error, capacity * sorter->item_bytes);
    sorter->items = items;
    sorter->capacity = capacity;
    return SSTORE_OK;
}

sstore_status ss_sorter_add(ss_sorter *sorter, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                            sstore_error *error)
{
    assert(!sorter->sorted);
    while (count > 0) {
        sstore_status status = make_room(sorter, error);
        if (status != SSTORE_OK)
            return status;
        size_t piece = sorter->capacity - sorter->count;
        if (piece > count)
            piece = count;
        if (sorter->with_ids) {
            sstore_record *to = (sstore_record *)sorter->items + sorter->count;
            for (size_t i = 0; i < piece; i++)
                to[i] = (sstore_record){.fingerprint = fingerprints[i], .id = ids[i]};
            ids += piece;
        } else {
            memcpy((uint64_t *)sorter->items + sorter->count, fingerprints, piece * sizeof *fingerprints);
        }
        sorter->count += piece;
        fingerprints += piece;
        count -= piece;
    }
    return SSTORE_OK;
}

/* ----- merging ----- */

static bool record_less(const sstore_record *a, const sstore_record *b)
{
    return a->fingerprint < b->fingerprint || (a->fingerprint == b->fingerprint && a->id < b->id);
}

static sstore_record get_item(const ss_sorter *sorter, const void *items, size_t index)
{
    if (sorter->with_ids)
        return ((const sstore_record *)items)[index];
    return (sstore_record){.fingerprint = ((const uint64_t *)items)[index]};
}

/* Go to the run's next record; false in *more_out at its end. */
static sstore_status advance(ss_sorter *sorter, run *from, bool *more_out, sstore_error *error)
{
    *more_out = true;
    if (from->at == from->filled) {
        size_t bytes = (size_t)ss_min_u64(from->end - from->offset, sorter->buffer_items * sorter->item_bytes);
        *more_out = bytes > 0;
        if (bytes == 0)
            return SSTORE_OK;
        sstore_status status = ss_file_read_at(&sorter->spill, from->offset, from->buffer, bytes, error);
        if (status != SSTORE_OK)
            return status;
        from->offset += bytes;
        from->at = 0;
        from->filled = bytes / sorter->item_bytes;
    }
    from->current = get_item(sorter, from->buffer, from->at++);
    return SSTORE_OK;
}

/* Restore the heap below `at`, whose record may have grown. */
static void sift_down(ss_sorter *sorter, size_t at)
{
    size_t *heap = sorter->heap, moved = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= sorter->heap_count)
            break;
        if (child + 1 < sorter->heap_count &&
            record_less(&sorter->runs[heap[child + 1]].current, &sorter->runs[heap[child]].current))
            child++;
        if (!record_less(&sorter->runs[heap[child]].current, &sorter->runs[moved].current))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Share out the memory that held the last run among the buffers of all. */
static sstore_status allot_buffers(ss_sorter *sorter, sstore_error *error)
{
    size_t bytes = sorter->max_capacity * sorter->item_bytes / sorter->run_count;
    bytes = bytes > MAX_BUFFER_BYTES ? MAX_BUFFER_BYTES : bytes < MIN_BUFFER_BYTES ? MIN_BUFFER_BYTES : bytes;
    ss_free(sorter->items);
    sorter->items = NULL;
    sorter->buffer_items = bytes / sorter->item_bytes;
    sorter->buffers = ss_alloc(sorter->run_count, sorter->buffer_items * sorter->item_bytes);
    sorter->heap = ss_alloc(sorter->run_count, sizeof *sorter->heap);
    if (sorter->buffers == NULL || sorter->heap == NULL)
        return ss_fail_memory(error, sorter->run_count * bytes);
    return SSTORE_OK;
}

static sstore_status start_merge(ss_sorter *sorter, sstore_error *error)
{
    uint64_t offset = 0;
    sorter->heap_count = 0;
    for (size_t i = 0; i < sorter->run_count; i++) {
        run *from = &sorter->runs[i];
        bool more;
        from->offset = offset;
        offset = from->end;
        from->buffer = sorter->buffers + i * sorter->buffer_items * sorter->item_bytes;
        from->at = from->filled = 0;
        sstore_status status = advance(sorter, from, &more, error);
        if (status != SSTORE_OK)
            return status;
        if (more)
            sorter->heap[sorter->heap_count++] = i;
    }
    for (size_t i = sorter->heap_count / 2; i-- > 0;)
        sift_down(sorter, i);
    return SSTORE_OK;
}

sstore_status ss_sorter_rewind(ss_sorter *sorter, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (!sorter->sorted) {
        if (sorter->run_count == 0)
            sort_items(sorter);
        else if (sorter->count > 0)
            status = spill(sorter, error);
        if (status == SSTORE_OK && sorter->run_count > 0)
            status = allot_buffers(sorter, error);
        sorter->sorted = true;
    }
    sorter->next = 0;
    sorter->has_previous = false;
    if (status == SSTORE_OK && sorter->run_count > 0)
        status = start_merge(sorter, error);
    return status;
}

/* Hand out a record unless it equals the one before. */
static size_t emit(ss_sorter *sorter, sstore_record record, sstore_record *to)
{
    if (sorter->has_previous && record.fingerprint == sorter->previous.fingerprint && record.id == sorter->previous.id)
        return 0;
    sorter->previous = record;
    sorter->has_previous = true;
    *to = record;
    return 1;
}

static sstore_status read_merged(ss_sorter *sorter, sstore_record *records, size_t capacity, size_t *count_out,
                                 sstore_error *error)
{
    while (*count_out < capacity && sorter->heap_count > 0) {
        run *least = &sorter->runs[sorter->heap[0]];
        bool more;
        *count_out += emit(sorter, least->current, records + *count_out);
        sstore_status status = advance(sorter, least, &more, error);
        if (status != SSTORE_OK)
            return status;
        if (!more)
            sorter->heap[0] = sorter->heap[--sorter->heap_count];
        if (sorter->heap_count > 0)
            sift_down(sorter, 0);
    }
    return SSTORE_OK;
}

sstore_status ss_sorter_read(ss_sorter *sorter, sstore_record *records, size_t capacity, size_t *count_out,
                             sstore_error *error)
{
    *count_out = 0;
    if (sorter->run_count > 0)
        return read_merged(sorter, records, capacity, count_out, error);
    while (*count_out < capacity && sorter->next < sorter->count) {
        sstore_record record = get_item(sorter, sorter->items, sorter->next++);
        *count_out += emit(sorter, record, records + *count_out);
    }
    return SSTORE_OK;
}
