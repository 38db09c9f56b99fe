#include "write/name_merge.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static ss_name_input *add_input(ss_name_merge *merge, sstore_error *error)
{
    ss_name_input *inputs = ss_grow(merge->inputs, merge->count, &merge->capacity, 8, sizeof *inputs);
    if (inputs == NULL) {
        (void)ss_fail_memory(error, 2 * merge->capacity * sizeof *inputs);
        return NULL;
    }
    merge->inputs = inputs;
    inputs[merge->count] = (ss_name_input){.segment = NULL};
    return &inputs[merge->count++];
}

sstore_status ss_name_merge_add_runs(ss_name_merge *merge, const ss_name_runs *runs, sstore_error *error)
{
    for (size_t i = 0; i < ss_name_runs_count(runs); i++) {
        ss_name_input *input = add_input(merge, error);
        if (input == NULL)
            return SSTORE_ERROR_MEMORY;
        ss_name_run_reader_open(&input->run, runs, i);
    }
    return SSTORE_OK;
}

sstore_status ss_name_merge_add_segments(ss_name_merge *merge, const sstore *store, uint32_t first, uint32_t end,
                                         uint64_t id_offset, sstore_error *error)
{
    const ss_segment_use use = {.records_only = true, .blocks_only = true, .io = SSTORE_IO_PREAD};
    sstore_status status = SSTORE_OK;
    for (uint32_t i = first; status == SSTORE_OK && i < end; i++) {
        const ss_manifest_segment *metadata = &store->manifest.segments[i];
        if (metadata->indexes == NULL || metadata->kind != SS_SEGMENT_ADDS) /* it removes, or is not published */
            continue;
        ss_name_input *input = add_input(merge, error);
        if (input == NULL)
            return SSTORE_ERROR_MEMORY;
        input->store = store;
        input->id_offset = id_offset;
        status = ss_segment_open_part(&store->dir, metadata, ss_names_place(metadata), &use, &input->segment, error);
        if (status == SSTORE_OK)
            status = ss_names_iterator_open(&input->column, input->segment, error);
    }
    return status;
}

uint64_t ss_name_merge_bytes(const ss_manifest *manifest, uint32_t first, uint32_t end)
{
    uint64_t bytes = 0;
    for (uint32_t i = first; manifest->has_names && i < end; i++)
        bytes += sizeof(ss_segment) + sizeof(ss_table) + sizeof(ss_fragments) + manifest->segments[i].block_bytes +
                 2 * SS_NAME_BUFFER_BYTES;
    return bytes;
}

void ss_name_merge_close(ss_name_merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        ss_names_iterator_close(&merge->inputs[i].column);
        ss_segment_release(merge->inputs[i].segment);
        ss_name_run_reader_close(&merge->inputs[i].run);
    }
    ss_free(merge->inputs);
    ss_free(merge->heap);
    ss_free(merge->name);
    *merge = (ss_name_merge){.count = 0};
}

/* ----- the heap ----- */

/* Of equal ids, those that were added come first. */
static bool is_less(const ss_name_merge *merge, size_t a, size_t b)
{
    const ss_name_input *left = &merge->inputs[a], *right = &merge->inputs[b];
    return left->id < right->id || (left->id == right->id && a < b);
}

static void sift_down(ss_name_merge *merge, size_t at)
{
    size_t *heap = merge->heap;
    const size_t moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < merge->heap_count; at = child) {
        child += child + 1 < merge->heap_count && is_less(merge, heap[child + 1], heap[child]);
        if (!is_less(merge, heap[child], moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* Go to the next name of an input. */
static sstore_status next_of(ss_name_input *input, bool *more_out, sstore_error *error)
{
    const bool is_run = input->segment == NULL;
    const sstore_status status = is_run ? ss_name_run_reader_next(&input->run, more_out, error)
                                        : ss_names_iterator_next(&input->column, more_out, error);
    input->id = is_run ? input->run.id : input->column.id + input->id_offset;
    input->name = is_run ? input->run.name : input->column.name;
    input->size = is_run ? input->run.size : input->column.size;
    return status;
}

sstore_status ss_name_merge_rewind(ss_name_merge *merge, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (merge->heap == NULL) {
        merge->heap = ss_alloc(merge->count, sizeof *merge->heap);
        merge->name = ss_alloc(1, SS_NAME_BUFFER_BYTES);
    }
    if (merge->heap == NULL || merge->name == NULL)
        return ss_fail_memory(error, SS_NAME_BUFFER_BYTES);
    merge->heap_count = 0;
    merge->has_name = false;
    for (size_t i = 0; status == SSTORE_OK && i < merge->count; i++) {
        ss_name_input *input = &merge->inputs[i];
        bool more = false;
        if (input->segment == NULL)
            ss_name_run_reader_rewind(&input->run);
        else
            ss_names_iterator_rewind(&input->column);
        status = next_of(input, &more, error);
        if (status == SSTORE_OK && more)
            merge->heap[merge->heap_count++] = i;
    }
    for (size_t i = merge->heap_count / 2; status == SSTORE_OK && i-- > 0;)
        sift_down(merge, i);
    return status;
}

/* Go on from the smallest name. */
static sstore_status pass_smallest(ss_name_merge *merge, sstore_error *error)
{
    bool more = false;
    const sstore_status status = next_of(&merge->inputs[merge->heap[0]], &more, error);
    if (status != SSTORE_OK)
        return status;
    if (!more)
        merge->heap[0] = merge->heap[--merge->heap_count];
    if (merge->heap_count > 1)
        sift_down(merge, 0);
    return SSTORE_OK;
}

/* Compare the current name with another one of the same id. */
static sstore_status compare_names(const ss_name_merge *merge, const ss_name_input *other, sstore_error *error)
{
    if (ss_name_equal(other->name, other->size, merge->name, merge->size))
        return SSTORE_OK;
    if (other->store != NULL && other->store == merge->store)
        return ss_fail_damaged(error, other->segment->ids.file.path, SSTORE_NO_OFFSET,
                               "id %llu has another name than in an older segment", (unsigned long long)merge->id);
    const ss_name_owner owner = other->store == NULL   ? SS_NAME_GIVEN
                                : merge->store == NULL ? SS_NAME_STORED
                                                       : SS_NAME_MERGED;
    return ss_fail_two_names(merge->id, merge->name, merge->size, other->name, other->size, owner, error);
}

sstore_status ss_name_merge_next(ss_name_merge *merge, bool *more_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *more_out = merge->has_name = merge->heap_count > 0;
    if (!merge->has_name)
        return SSTORE_OK;
    const ss_name_input *first = &merge->inputs[merge->heap[0]];
    merge->id = first->id;
    merge->store = first->store;
    merge->size = first->size;
    memcpy(merge->name, first->name, first->size);
    status = pass_smallest(merge, error);
    while (status == SSTORE_OK && merge->heap_count > 0 && merge->inputs[merge->heap[0]].id == merge->id) {
        status = compare_names(merge, &merge->inputs[merge->heap[0]], error);
        if (status == SSTORE_OK)
            status = pass_smallest(merge, error);
    }
    return status;
}

sstore_status ss_name_merge_find(ss_name_merge *merge, uint64_t id, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    bool more = merge->has_name || merge->heap_count > 0;
    while (status == SSTORE_OK && more && (!merge->has_name || merge->id < id))
        status = ss_name_merge_next(merge, &more, error);
    if (status != SSTORE_OK || (more && merge->id == id))
        return status;
    const ss_segment *segment = merge->count > 0 ? merge->inputs[merge->count - 1].segment : NULL;
    return ss_fail_damaged(error, segment != NULL ? segment->ids.file.path : NULL, SSTORE_NO_OFFSET,
                           "id %llu has no name; sstore_verify() names the damaged store", (unsigned long long)id);
}
