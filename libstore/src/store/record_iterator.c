#include "store/record_iterator.h"

#include "base/error.h"
#include "base/iterator.h"
#include "base/memory.h"
#include "base/words.h"

void ss_merge_iterator_init(ss_merge_iterator *merge, uint32_t words, bool has_ids)
{
    *merge = (ss_merge_iterator){.words = words, .has_ids = has_ids, .in_turn = true, .from_oldest = true};
}

sstore_status ss_merge_iterator_add(ss_merge_iterator *merge, const sstore *store, uint32_t first, uint32_t end,
                                    sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    merge->in_turn &= merge->has_ids == store->manifest.has_ids;
    merge->from_oldest &= first == 0;
    for (uint32_t i = first; status == SSTORE_OK && i < end; i++) {
        ss_merge_input *inputs = ss_grow(merge->inputs, merge->input_count, &merge->capacity, 4, sizeof *inputs);
        if (inputs == NULL)
            return ss_fail_memory(error, 2 * merge->capacity * sizeof *inputs);
        merge->inputs = inputs;
        ss_merge_input *input = &inputs[merge->input_count++];
        *input = (ss_merge_input){.store = merge->store_count,
                                  .age = i,
                                  .id_offset = merge->id_offset,
                                  .is_removal = ss_segment_removes(store->segments[i])};
        status = ss_segment_iterator_open(&input->iterator, store->segments[i], merge->has_ids, error);
        input->iterator.sums = merge->sums && merge->in_turn;
    }
    merge->store_count++;
    size_t *heap = ss_realloc(merge->heap, merge->input_count, sizeof *heap);
    if (heap == NULL)
        return ss_fail_memory(error, merge->input_count * sizeof *heap);
    merge->heap = heap;
    return status;
}

#define OPEN_BYTES 16384u /* of a segment's names, handles and manifest, about */

uint64_t ss_merge_iterator_bytes(const sstore *store, uint32_t first, uint32_t end)
{
    uint64_t bytes = 0;
    for (uint32_t i = first; i < end; i++)
        bytes += ss_table_iterator_bytes(&store->segments[i]->tables[0].blocks) +
                 store->segments[i]->metadata.block_bytes + sizeof(ss_segment) + sizeof(ss_table) + OPEN_BYTES;
    return bytes;
}

/* Compare the fingerprints of two inputs behind their first words, which are equal. */
static int compare_further(const ss_merge_input *a, const ss_merge_input *b)
{
    return ss_words_compare(a->iterator.last + 1, b->iterator.last + 1, a->iterator.words - 1);
}

static bool is_less(const ss_merge_input *a, const ss_merge_input *b)
{
    if (a->record.fingerprint != b->record.fingerprint)
        return a->record.fingerprint < b->record.fingerprint;
    const int further = compare_further(a, b);
    if (further != 0)
        return further < 0;
    if (a->record.id != b->record.id)
        return a->record.id < b->record.id;
    return a->store < b->store || (a->store == b->store && a->age < b->age);
}

/* Restore the heap below `at`, whose record may have grown. */
static void sift_down(ss_merge_iterator *merge, size_t at)
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

/* Get the next record of an input. */
static sstore_status next_of(ss_merge_input *input, bool *more_out, sstore_error *error)
{
    const sstore_status status = ss_segment_iterator_next(&input->iterator, &input->record, more_out, error);
    input->record.id += input->id_offset;
    return status;
}

/* Get the first record of each input, and make the heap. */
static sstore_status begin_merge(ss_merge_iterator *merge, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    merge->heap_count = 0;
    for (size_t i = 0; status == SSTORE_OK && i < merge->input_count; i++) {
        bool more = false;
        status = next_of(&merge->inputs[i], &more, error);
        if (more)
            merge->heap[merge->heap_count++] = i;
    }
    for (size_t i = merge->heap_count / 2; status == SSTORE_OK && i-- > 0;)
        sift_down(merge, i);
    return status;
}

sstore_status ss_merge_iterator_rewind(ss_merge_iterator *merge, sstore_error *error)
{
    for (size_t i = 0; i < merge->input_count; i++)
        ss_segment_iterator_rewind(&merge->inputs[i].iterator);
    return begin_merge(merge, error);
}

sstore_status ss_merge_iterator_open(ss_merge_iterator *merge, const sstore *store, sstore_error *error)
{
    ss_merge_iterator_init(merge, store->manifest.words, store->manifest.has_ids);
    merge->sums = true;
    const sstore_status status = ss_merge_iterator_add(merge, store, 0, store->manifest.segment_count, error);
    return status == SSTORE_OK ? ss_merge_iterator_rewind(merge, error) : status;
}

sstore_status ss_merge_iterator_seek(ss_merge_iterator *merge, const uint64_t *fingerprint, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < merge->input_count; i++)
        status = ss_segment_iterator_seek(&merge->inputs[i].iterator, fingerprint, error);
    return status == SSTORE_OK ? begin_merge(merge, error) : status;
}

/* Replace the record of the first input by its next one. */
static sstore_status replace_first(ss_merge_iterator *merge, sstore_error *error)
{
    ss_merge_input *min = &merge->inputs[merge->heap[0]];
    bool more;
    sstore_status status = next_of(min, &more, error);
    if (status != SSTORE_OK)
        return status;
    if (!more)
        merge->heap[0] = merge->heap[--merge->heap_count];
    if (merge->heap_count > 1)
        sift_down(merge, 0);
    return SSTORE_OK;
}

/* Reading this many fingerprints with their ids takes about as long as a seek. */
#define NEAR_VALUES 4u

/* Whether the fingerprint is at most NEAR_VALUES ahead in the current block. */
static bool is_near(const ss_segment_iterator *iterator, uint64_t fingerprint)
{
    const uint32_t left = iterator->value_count - iterator->value_index;
    return left > 0 && iterator->values[iterator->value_index + ss_min_u32(NEAR_VALUES, left - 1)] >= fingerprint;
}

sstore_status ss_merge_iterator_skip(ss_merge_iterator *merge, uint64_t fingerprint, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && merge->heap_count > 0) {
        ss_merge_input *min = &merge->inputs[merge->heap[0]];
        if (min->record.fingerprint >= fingerprint)
            break;
        if (!is_near(&min->iterator, fingerprint))
            status = ss_segment_iterator_seek(&min->iterator, &fingerprint, error);
        if (status == SSTORE_OK)
            status = replace_first(merge, error);
    }
    return status;
}

/* Whether `input` may have a record after `before`, the next older segment of the store that has it; NULL: none. */
static bool comes_in_turn(const ss_merge_iterator *merge, const ss_merge_input *before, const ss_merge_input *input)
{
    if (!merge->in_turn)
        return true;
    return before == NULL ? !input->is_removal || !merge->from_oldest : input->is_removal != before->is_removal;
}

/* Return an input's record, which stays valid when the input goes on. */
static void note_last(ss_merge_iterator *merge, const ss_merge_input *input, ss_record *record_out)
{
    merge->from = input;
    *record_out = input->record;
    if (SS_UNLIKELY(merge->words > 1))
        ss_words_copy(merge->last, input->iterator.last, merge->words);
}

/* Take a record from all inputs that have it. It is wanted if in some store the oldest and the newest of them both add
 * it, or both remove it if removed records are wanted. Otherwise they do not change the older state. */
static sstore_status take_record(ss_merge_iterator *merge, ss_record *record_out, bool *wanted_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    const ss_merge_input *input = &merge->inputs[merge->heap[0]];
    const ss_merge_input *first = input, *last = NULL; /* of one store */
    *wanted_out = false;
    note_last(merge, input, record_out);
    do {
        if (last != NULL && last->store != input->store) {
            *wanted_out |= first->is_removal == merge->removed && last->is_removal == merge->removed;
            first = input;
            last = NULL;
        }
        if (SS_UNLIKELY(!comes_in_turn(merge, last, input)))
            return ss_fail_damaged(error, input->iterator.segment->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                                   "the segment %s the record (%016llx, %llu), which %s in the older segments",
                                   input->is_removal ? "removes" : "adds", (unsigned long long)record_out->fingerprint,
                                   (unsigned long long)record_out->id, input->is_removal ? "is not" : "is already");
        last = input;
        status = replace_first(merge, error);
        input = status == SSTORE_OK && merge->heap_count > 0 ? &merge->inputs[merge->heap[0]] : NULL;
    } while (input != NULL && input->record.fingerprint == record_out->fingerprint &&
             input->record.id == record_out->id &&
             (merge->words == 1 || ss_words_equal(input->iterator.last, merge->last, merge->words)));
    *wanted_out |= first->is_removal == merge->removed && last->is_removal == merge->removed;
    return status;
}

/* Get the next record if several inputs may have it, or removals count. Not inlined, so that ss_merge_iterator_next()
 * saves fewer registers. */
__attribute__((noinline)) static sstore_status next_wanted(ss_merge_iterator *merge, ss_record *record_out,
                                                           bool *more_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *more_out = false;
    while (status == SSTORE_OK && !*more_out && merge->heap_count > 0)
        status = take_record(merge, record_out, more_out, error);
    return status;
}

sstore_status ss_merge_iterator_next(ss_merge_iterator *merge, ss_record *record_out, bool *more_out,
                                     sstore_error *error)
{
    ss_merge_input *input = merge->inputs;
    if (merge->input_count != 1 || input->is_removal || merge->removed || merge->heap_count == 0)
        return next_wanted(merge, record_out, more_out, error);
    bool more;
    note_last(merge, input, record_out);
    *more_out = true;
    const sstore_status status = next_of(input, &more, error);
    if (status == SSTORE_OK)
        merge->heap_count = more;
    return status;
}

const char *ss_merge_iterator_file(const ss_merge_iterator *merge)
{
    return merge->from->iterator.segment->tables[0].blocks.file.path;
}

void ss_merge_iterator_close(ss_merge_iterator *merge)
{
    for (size_t i = 0; i < merge->input_count; i++)
        ss_segment_iterator_close(&merge->inputs[i].iterator);
    ss_free(merge->inputs);
    ss_free(merge->heap);
    *merge = (ss_merge_iterator){.inputs = NULL};
}

/* ----- public ----- */

typedef struct record_iterator {
    sstore_iterator base;
    ss_merge_iterator records;
} record_iterator;

static sstore_status fill_records(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity,
                                  size_t *count, sstore_error *error)
{
    ss_merge_iterator *records = &((record_iterator *)iterator)->records;
    ss_record record;
    bool more = true;
    for (; *count < capacity; ++*count) {
        const sstore_status status = ss_merge_iterator_next(records, &record, &more, error);
        if (status != SSTORE_OK || !more)
            return status;
        ss_set_fingerprint(columns->fingerprint, *count, ss_merge_iterator_fingerprint(records, &record),
                           records->words);
        ss_set_word(columns->id, *count, record.id);
    }
    return SSTORE_OK;
}

static void free_records(sstore_iterator *iterator)
{
    record_iterator *self = (record_iterator *)iterator;
    ss_merge_iterator_close(&self->records);
    ss_free(self);
}

sstore_status sstore_iterate_records(const sstore *store, sstore_iterator **iterator_out, sstore_error *error)
{
    static const ss_iterator_methods methods = {SS_RECORD_COLUMNS, fill_records, free_records};
    if (iterator_out != NULL)
        *iterator_out = NULL;
    if (store == NULL || iterator_out == NULL)
        return ss_fail_argument(error, "sstore_iterate_records: store and iterator_out must not be NULL");
    record_iterator *self = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    self->base.methods = &methods;
    return ss_iterator_give(&self->base, ss_merge_iterator_open(&self->records, store, error), iterator_out);
}
