#include "store/record_merge.h"

#include "base/alloc.h"
#include "base/error.h"
#include "store/cursor.h"

void ss_record_merge_init(ss_record_merge *merge, bool has_ids)
{
    *merge = (ss_record_merge){.has_ids = has_ids, .in_turn = true, .from_oldest = true};
}

static sstore_status add_segment(ss_record_merge *merge, const sstore *store, uint32_t number, sstore_error *error)
{
    ss_merge_input *inputs = ss_grow(merge->inputs, merge->input_count, &merge->capacity, 4, sizeof *inputs);
    if (inputs == NULL)
        return ss_fail_memory(error, 2 * merge->capacity * sizeof *inputs);
    merge->inputs = inputs;
    ss_merge_input *input = &inputs[merge->input_count++];
    *input = (ss_merge_input){
        .store = merge->store_count, .age = number, .removes = ss_segment_removes(store->segments[number])};
    return ss_record_stream_open(&input->stream, store->segments[number], merge->has_ids, error);
}

sstore_status ss_record_merge_add(ss_record_merge *merge, const sstore *store, uint32_t first, uint32_t end,
                                  sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    merge->in_turn &= merge->has_ids == store->manifest.has_ids;
    merge->from_oldest &= first == 0;
    for (uint32_t i = first; status == SSTORE_OK && i < end; i++)
        status = add_segment(merge, store, i, error);
    merge->store_count++;
    size_t *heap = ss_realloc(merge->heap, merge->input_count, sizeof *heap);
    if (heap == NULL)
        return ss_fail_memory(error, merge->input_count * sizeof *heap);
    merge->heap = heap;
    return status;
}

sstore_status ss_record_merge_add_store(ss_record_merge *merge, const sstore *store, sstore_error *error)
{
    return ss_record_merge_add(merge, store, 0, store->manifest.segment_count, error);
}

static bool is_same(const sstore_record *a, const sstore_record *b)
{
    return a->fingerprint == b->fingerprint && a->id == b->id;
}

static bool is_less(const ss_merge_input *a, const ss_merge_input *b)
{
    if (a->record.fingerprint != b->record.fingerprint)
        return a->record.fingerprint < b->record.fingerprint;
    if (a->record.id != b->record.id)
        return a->record.id < b->record.id;
    return a->store < b->store || (a->store == b->store && a->age < b->age);
}

/* Restore the heap below `at`, whose record may have grown. */
static void sift_down(ss_record_merge *merge, size_t at)
{
    const ss_merge_input *inputs = merge->inputs;
    size_t *heap = merge->heap, moved = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= merge->heap_count)
            break;
        if (child + 1 < merge->heap_count && is_less(&inputs[heap[child + 1]], &inputs[heap[child]]))
            child++;
        if (!is_less(&inputs[heap[child]], &inputs[moved]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Make the heap of all inputs, whose streams stand before what is to come first. */
static sstore_status begin(ss_record_merge *merge, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    merge->heap_count = 0;
    for (size_t i = 0; status == SSTORE_OK && i < merge->input_count; i++) {
        bool more = false;
        status = ss_record_stream_next(&merge->inputs[i].stream, &merge->inputs[i].record, &more, error);
        if (more)
            merge->heap[merge->heap_count++] = i;
    }
    for (size_t i = merge->heap_count / 2; status == SSTORE_OK && i-- > 0;)
        sift_down(merge, i);
    return status;
}

sstore_status ss_record_merge_rewind(ss_record_merge *merge, sstore_error *error)
{
    for (size_t i = 0; i < merge->input_count; i++)
        ss_record_stream_rewind(&merge->inputs[i].stream);
    return begin(merge, error);
}

sstore_status ss_record_merge_seek(ss_record_merge *merge, uint64_t fingerprint, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < merge->input_count; i++)
        status = ss_record_stream_seek(&merge->inputs[i].stream, fingerprint, error);
    return status == SSTORE_OK ? begin(merge, error) : status;
}

/* The first input has given its record: go on to its next one. */
static sstore_status step(ss_record_merge *merge, sstore_error *error)
{
    ss_merge_input *least = &merge->inputs[merge->heap[0]];
    bool more;
    sstore_status status = ss_record_stream_next(&least->stream, &least->record, &more, error);
    if (status != SSTORE_OK)
        return status;
    if (!more)
        merge->heap[0] = merge->heap[--merge->heap_count];
    if (merge->heap_count > 1)
        sift_down(merge, 0);
    return SSTORE_OK;
}

/* Where reading on takes about as long as going there: fingerprints, some of whose ids are read on the way. */
#define NEAR_VALUES 4u

sstore_status ss_record_merge_skip(ss_record_merge *merge, uint64_t fingerprint, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && merge->heap_count > 0) {
        ss_merge_input *least = &merge->inputs[merge->heap[0]];
        if (least->record.fingerprint >= fingerprint)
            break;
        if (!ss_record_stream_is_near(&least->stream, fingerprint, NEAR_VALUES))
            status = ss_record_stream_seek(&least->stream, fingerprint, error);
        if (status == SSTORE_OK)
            status = step(merge, error);
    }
    return status;
}

static const char *file_of(const ss_merge_input *input)
{
    return input->stream.segment->tables[0].blocks.file.path;
}

static sstore_status fail_order(const ss_merge_input *input, sstore_error *error)
{
    return ss_fail_damaged(error, file_of(input), SSTORE_NO_OFFSET,
                           "the segment %s the record (%016llx, %llu), which %s in the store before it",
                           input->removes ? "removes" : "adds", (unsigned long long)input->record.fingerprint,
                           (unsigned long long)input->record.id, input->removes ? "was not" : "was");
}

/* Whether an input may be the next of its store that has a record; `before`: the one before, NULL if there is none. */
static bool comes_in_turn(const ss_record_merge *merge, const ss_merge_input *before, const ss_merge_input *input)
{
    if (!merge->in_turn)
        return true;
    return before == NULL ? !input->removes || !merge->from_oldest : input->removes != before->removes;
}

/* What becomes of a record by the inputs of one store, from the first that has it to the last: it is added, removed, or stays
 * as it was before them. */
static bool is_net(const ss_merge_input *first, const ss_merge_input *last, bool removes)
{
    return first->removes == removes && last->removes == removes;
}

/* Take a record off all inputs that have it. *wanted_out: it is among what is to be given. */
static sstore_status take(ss_record_merge *merge, sstore_record *record_out, bool *wanted_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    const ss_merge_input *input = &merge->inputs[merge->heap[0]];
    const ss_merge_input *first = input, *last = NULL; /* that have it, of one store */
    *wanted_out = false;
    *record_out = input->record;
    merge->from = input;
    do {
        if (last != NULL && last->store != input->store) {
            *wanted_out |= is_net(first, last, merge->removed);
            first = input;
            last = NULL;
        }
        if (SS_UNLIKELY(!comes_in_turn(merge, last, input)))
            return fail_order(input, error);
        last = input;
        status = step(merge, error);
        input = status == SSTORE_OK && merge->heap_count > 0 ? &merge->inputs[merge->heap[0]] : NULL;
    } while (input != NULL && is_same(&input->record, record_out));
    *wanted_out |= is_net(first, last, merge->removed);
    return status;
}

sstore_status ss_record_merge_next(ss_record_merge *merge, sstore_record *record_out, bool *more_out,
                                   sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *more_out = false;
    if (merge->input_count == 1 && !merge->inputs[0].removes && !merge->removed && merge->heap_count == 1) {
        merge->from = &merge->inputs[0];
        *record_out = merge->from->record;
        *more_out = true;
        return step(merge, error);
    }
    while (status == SSTORE_OK && !*more_out && merge->heap_count > 0)
        status = take(merge, record_out, more_out, error);
    return status;
}

const char *ss_record_merge_file(const ss_record_merge *merge)
{
    return file_of(merge->from);
}

void ss_record_merge_close(ss_record_merge *merge)
{
    for (size_t i = 0; i < merge->input_count; i++)
        ss_record_stream_close(&merge->inputs[i].stream);
    ss_free(merge->inputs);
    ss_free(merge->heap);
    *merge = (ss_record_merge){.inputs = NULL};
}

sstore_status sstore_each_record(sstore_cursor *cursor, sstore_record_fn on_record, void *context, sstore_error *error)
{
    ss_record_merge records;
    sstore_record record;
    bool more = true;
    if (cursor == NULL || on_record == NULL)
        return ss_fail_argument(error, "sstore_each_record: cursor and on_record must not be NULL");
    ss_record_merge_init(&records, cursor->store->manifest.has_ids);
    sstore_status status = ss_record_merge_add_store(&records, cursor->store, error);
    if (status == SSTORE_OK)
        status = ss_record_merge_rewind(&records, error);
    while (status == SSTORE_OK) {
        status = ss_record_merge_next(&records, &record, &more, error);
        if (status != SSTORE_OK || !more)
            break;
        if (on_record(context, &record) != 0)
            status = SSTORE_STOPPED;
    }
    ss_record_merge_close(&records);
    return status;
}
