#include "store/record_merge.h"

#include "base/alloc.h"
#include "base/error.h"

void ss_record_merge_init(ss_record_merge *merge, bool has_ids)
{
    *merge = (ss_record_merge){.has_ids = has_ids};
}

sstore_status ss_record_merge_add(ss_record_merge *merge, const ss_segment *segment, sstore_error *error)
{
    const ss_segment **segments =
        ss_grow(merge->segments, merge->segment_count, &merge->capacity, 8, sizeof(ss_segment *));
    if (segments == NULL)
        return ss_fail_memory(error, 2 * merge->capacity * sizeof(ss_segment *));
    merge->segments = segments;
    merge->segments[merge->segment_count++] = segment;
    return SSTORE_OK;
}

static bool is_less(const sstore_record *a, const sstore_record *b)
{
    return a->fingerprint < b->fingerprint || (a->fingerprint == b->fingerprint && a->id < b->id);
}

/* Restore the heap below `at`, whose record may have grown. */
static void sift_down(ss_record_merge *merge, size_t at)
{
    size_t *heap = merge->heap, moved = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= merge->heap_count)
            break;
        if (child + 1 < merge->heap_count &&
            is_less(&merge->inputs[heap[child + 1]].record, &merge->inputs[heap[child]].record))
            child++;
        if (!is_less(&merge->inputs[heap[child]].record, &merge->inputs[moved].record))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void close_inputs(ss_record_merge *merge)
{
    for (size_t i = 0; merge->inputs != NULL && i < merge->segment_count; i++)
        ss_record_stream_close(&merge->inputs[i].stream);
    ss_free(merge->inputs);
    ss_free(merge->heap);
    merge->inputs = NULL;
    merge->heap = NULL;
}

sstore_status ss_record_merge_rewind(ss_record_merge *merge, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    close_inputs(merge);
    merge->inputs = ss_alloc(merge->segment_count, sizeof *merge->inputs);
    merge->heap = ss_alloc(merge->segment_count, sizeof *merge->heap);
    merge->heap_count = 0;
    merge->has_last = false;
    if (merge->inputs == NULL || merge->heap == NULL)
        return ss_fail_memory(error, merge->segment_count * sizeof *merge->inputs);
    for (size_t i = 0; status == SSTORE_OK && i < merge->segment_count; i++) {
        ss_merge_input *input = &merge->inputs[i];
        bool more = false;
        status = ss_record_stream_open(&input->stream, merge->segments[i], merge->has_ids, error);
        if (status == SSTORE_OK)
            status = ss_record_stream_next(&input->stream, &input->record, &more, error);
        if (more)
            merge->heap[merge->heap_count++] = i;
    }
    for (size_t i = merge->heap_count / 2; status == SSTORE_OK && i-- > 0;)
        sift_down(merge, i);
    return status;
}

sstore_status ss_record_merge_next(ss_record_merge *merge, sstore_record *record_out, bool *more_out,
                                   sstore_error *error)
{
    bool repeats = true;
    *more_out = false;
    while (repeats && merge->heap_count > 0) {
        ss_merge_input *least = &merge->inputs[merge->heap[0]];
        bool more;
        *record_out = least->record;
        repeats = merge->has_last && !is_less(&merge->last, record_out);
        *more_out = !repeats;
        sstore_status status = ss_record_stream_next(&least->stream, &least->record, &more, error);
        if (status != SSTORE_OK)
            return status;
        if (!more)
            merge->heap[0] = merge->heap[--merge->heap_count];
        if (merge->heap_count > 0)
            sift_down(merge, 0);
    }
    if (*more_out) {
        merge->last = *record_out;
        merge->has_last = true;
    }
    return SSTORE_OK;
}

void ss_record_merge_close(ss_record_merge *merge)
{
    close_inputs(merge);
    ss_free(merge->segments);
    merge->segments = NULL;
}
