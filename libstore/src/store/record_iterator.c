#include "store/record_iterator.h"

#include "base/error.h"
#include "base/memory.h"

/* ===== fingerprints of a table ===== */

#define FIRST_CAPACITY 1024u

/* Room grows with the fullest block that was met. Blocks are about as full as their average, twice that at most, but where
 * much of a table is far denser than the rest; growing doubles it. */
uint64_t ss_table_stream_bytes(const ss_block_reader *reader)
{
    uint64_t average = reader->header.item_count / ss_max_u64(reader->header.block_count, 1);
    uint64_t most = ss_min_u64(ss_max_u64(4 * average, FIRST_CAPACITY), ss_block_most(reader->header.block_bytes));
    return reader->header.block_bytes + most * sizeof(uint64_t);
}

/* Room for so many values. */
static sstore_status make_room(ss_table_stream *stream, uint32_t count, sstore_error *error)
{
    if (count <= stream->capacity)
        return SSTORE_OK;
    uint32_t capacity = ss_max_u32(ss_max_u32(2 * stream->capacity, FIRST_CAPACITY), count);
    uint64_t *values = ss_realloc(stream->values, capacity, sizeof *values);
    if (values == NULL)
        return ss_fail_memory(error, capacity * sizeof *values);
    stream->values = values;
    stream->capacity = capacity;
    return SSTORE_OK;
}

sstore_status ss_table_stream_open(ss_table_stream *stream, const ss_block_source *source, sstore_error *error)
{
    const uint32_t block_bytes = source->reader->header.block_bytes;
    *stream = (ss_table_stream){.source = source};
    ss_table_stream_seek(stream, 0, UINT64_MAX);
    stream->buffer = ss_alloc(1, block_bytes);
    return stream->buffer != NULL ? SSTORE_OK : ss_fail_memory(error, block_bytes);
}

void ss_table_stream_close(ss_table_stream *stream)
{
    ss_free(stream->buffer);
    ss_free(stream->values);
    stream->buffer = NULL;
    stream->values = NULL;
}

void ss_table_stream_seek(ss_table_stream *stream, uint64_t first, uint64_t end)
{
    stream->has_last = stream->has_last && first == stream->next_block;
    stream->next_block = first;
    stream->end_block = ss_min_u64(end, stream->source->reader->header.block_count);
    stream->walk = ss_block_walk_from(first, stream->end_block);
}

sstore_status ss_table_stream_next(ss_table_stream *stream, const uint64_t **values_out, uint32_t *count_out,
                                   sstore_error *error)
{
    const ss_block_reader *reader = stream->source->reader;
    const bool has_last = stream->has_last;
    ss_block block;
    *count_out = 0;
    *values_out = stream->values;
    if (stream->next_block >= stream->end_block)
        return SSTORE_OK;
    uint64_t number = stream->next_block++;
    stream->has_last = false;
    ss_block_reader_ahead(reader, number, &stream->walk);
    sstore_status status = ss_block_reader_get_once(reader, number, stream->buffer, &stream->bytes, error);
    if (status == SSTORE_OK)
        status = ss_block_source_open(stream->source, number, stream->bytes, &block, error);
    if (status == SSTORE_OK)
        status = make_room(stream, block.count, error);
    if (status == SSTORE_OK)
        status = ss_block_source_decode(stream->source, number, &block, stream->values, error);
    if (status != SSTORE_OK)
        return status;
    if (has_last && stream->values[0] <= stream->last)
        return ss_block_reader_malformed(reader, number, SS_BELOW_BLOCK_BEFORE, error);
    stream->has_last = true;
    stream->last = stream->values[block.count - 1];
    *count_out = block.count;
    *values_out = stream->values;
    return SSTORE_OK;
}

/* ===== records of a segment ===== */

#define OPEN_BYTES 16384u /* of names, handles and the manifest, about */

sstore_status ss_record_stream_open(ss_record_stream *stream, const ss_segment *segment, bool has_ids,
                                    sstore_error *error)
{
    *stream = (ss_record_stream){.segment = segment, .has_ids = has_ids};
    sstore_status status = ss_table_stream_open(&stream->fingerprints, &segment->tables[0].source, error);
    if (status != SSTORE_OK || !has_ids)
        return status;
    uint32_t block_bytes = segment->ids.header.block_bytes;
    stream->ids_walk = ss_block_walk_from(0, UINT64_MAX);
    stream->ids_buffer = ss_alloc(1, block_bytes);
    return stream->ids_buffer != NULL ? SSTORE_OK : ss_fail_memory(error, block_bytes);
}

/* The bytes that a stream takes, with its open segment. */
static uint64_t record_stream_bytes(const ss_segment *segment)
{
    return ss_table_stream_bytes(&segment->tables[0].blocks) + segment->facts.block_bytes + sizeof(ss_segment) +
           sizeof(ss_table) + OPEN_BYTES;
}

void ss_record_stream_close(ss_record_stream *stream)
{
    ss_table_stream_close(&stream->fingerprints);
    ss_free(stream->ids_buffer);
    stream->ids_buffer = NULL;
}

void ss_record_stream_rewind(ss_record_stream *stream)
{
    ss_table_stream_seek(&stream->fingerprints, 0, UINT64_MAX);
    stream->value_count = stream->value_index = stream->single_count = 0;
    stream->rank = stream->next_ids_block = stream->id_count = 0;
    stream->whole = true;
    stream->ids_walk = ss_block_walk_from(0, UINT64_MAX);
    stream->ids = (ss_ids_block){.count = 0};
    stream->ids_index = 0;
    stream->id_order.any = false;
}

/* Make values[value_index] the present fingerprint. */
static sstore_status fill_values(ss_record_stream *stream, bool *more_out, sstore_error *error)
{
    *more_out = true;
    if (stream->value_index < stream->value_count)
        return SSTORE_OK;
    const sstore_status status =
        ss_table_stream_next(&stream->fingerprints, &stream->values, &stream->value_count, error);
    stream->value_index = 0;
    *more_out = stream->value_count > 0;
    return status;
}

static sstore_status open_next_ids(ss_record_stream *stream, sstore_error *error)
{
    const ss_block_reader *ids = &stream->segment->ids;
    const uint8_t *bytes;
    if (stream->next_ids_block == ids->header.block_count)
        return ss_fail_damaged(error, ids->file.path, SSTORE_NO_OFFSET, "there are fewer ids than fingerprints");
    uint64_t number = stream->next_ids_block++;
    ss_block_reader_ahead(ids, number, &stream->ids_walk);
    sstore_status status = ss_block_reader_get_once(ids, number, stream->ids_buffer, &bytes, error);
    if (status == SSTORE_OK)
        status = ss_block_source_open_ids(&stream->segment->ids_source, number, bytes, &stream->ids, error);
    stream->ids_index = 0;
    stream->ids_rank = stream->ids.first_rank;
    stream->id_count += stream->ids.count;
    return status;
}

/* The next seek may be near: what follows a block is asked for ahead with the block after it only. */
static const ss_block_walk nothing_ahead = {.asked = UINT64_MAX};

/* Go to the first record of the present rank in the id column; often it is in the block that is open. */
static sstore_status seek_ids(ss_record_stream *stream, sstore_error *error)
{
    uint64_t number = ss_key_index_find(&stream->segment->ids_keys, stream->rank);
    sstore_status status = SSTORE_OK;
    uint32_t end;
    if (stream->ids.count == 0 || number + 1 != stream->next_ids_block) {
        stream->next_ids_block = number;
        stream->ids_walk = nothing_ahead;
        status = open_next_ids(stream, error);
        stream->ids_walk = ss_block_walk_from(number + 1, UINT64_MAX);
    }
    if (status != SSTORE_OK)
        return status;
    ss_ids_block_find(&stream->ids, stream->rank, &stream->ids_index, &end);
    stream->ids_rank = stream->rank;
    stream->id_order.any = false;
    return SSTORE_OK; /* where the block does not have the rank, the next record is found to be missing */
}

static bool holds(const ss_record_stream *stream, uint64_t fingerprint)
{
    return stream->value_count > 0 && stream->values[0] <= fingerprint &&
           fingerprint <= stream->values[stream->value_count - 1];
}

sstore_status ss_record_stream_seek(ss_record_stream *stream, uint64_t fingerprint, sstore_error *error)
{
    const ss_segment *segment = stream->segment;
    bool more = true;
    stream->whole = false;
    stream->single_count = 0;
    if (!holds(stream, fingerprint)) {
        stream->value_count = stream->value_index = 0;
        ss_table_stream_seek(&stream->fingerprints, ss_key_index_find(&segment->tables[0].keys, fingerprint),
                             UINT64_MAX);
        stream->fingerprints.walk = nothing_ahead;
        sstore_status status = fill_values(stream, &more, error);
        stream->fingerprints.walk = ss_block_walk_from(stream->fingerprints.next_block, UINT64_MAX);
        if (status == SSTORE_OK && !more)
            stream->rank = segment->facts.distinct_count;
        if (status != SSTORE_OK || !more)
            return status;
    }
    stream->value_index = (uint32_t)ss_lower_bound(stream->values, 0, stream->value_count, fingerprint, ss_word_is_below);
    stream->rank = ss_array_at(&segment->ranks, stream->fingerprints.next_block - 1) + stream->value_index;
    return stream->has_ids && stream->value_index < stream->value_count ? seek_ids(stream, error) : SSTORE_OK;
}

/* Whether the next record in the id column belongs to the present rank. */
static bool next_id_is_of_rank(const ss_record_stream *stream)
{
    if (stream->ids_index < stream->ids.count)
        return stream->ids_rank == stream->rank;
    return stream->ids.goes_on;
}

static void step_id(ss_record_stream *stream)
{
    stream->ids_index++;
    if (stream->ids_index < stream->ids.count && ss_ids_block_starts_rank(&stream->ids, stream->ids_index))
        stream->ids_rank++;
}

/* Give out the present id, and step on; the fingerprint is done when no further id is its. */
static sstore_status take_id(ss_record_stream *stream, uint64_t *id_out, sstore_error *error)
{
    if (stream->ids_index == stream->ids.count) {
        sstore_status status = open_next_ids(stream, error);
        if (status != SSTORE_OK)
            return status;
    }
    if (stream->ids_rank != stream->rank)
        return ss_block_reader_malformed(&stream->segment->ids, stream->next_ids_block - 1,
                                         "its ranks do not follow the fingerprints", error);
    sstore_status status = ss_block_source_take_id(&stream->segment->ids_source, stream->next_ids_block - 1, &stream->ids,
                                                   stream->ids_index, &stream->id_order, id_out, error);
    step_id(stream);
    return status;
}

static sstore_status check_end(const ss_record_stream *stream, sstore_error *error)
{
    const ss_segment *segment = stream->segment;
    if (stream->rank != segment->facts.distinct_count)
        return ss_fail_damaged(error, segment->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                               "the table has another number of fingerprints than the manifest says");
    if (stream->whole && stream->has_ids && stream->id_count != segment->facts.record_count)
        return ss_fail_damaged(error, segment->ids.file.path, SSTORE_NO_OFFSET,
                               "there are more or fewer ids than the manifest says");
    return SSTORE_OK;
}

/* When the last fingerprint is done. */
static sstore_status check_end_of_ids(const ss_record_stream *stream, sstore_error *error)
{
    const ss_block_reader *ids = &stream->segment->ids;
    if (stream->ids_index == stream->ids.count && stream->next_ids_block == ids->header.block_count)
        return SSTORE_OK;
    return ss_fail_damaged(error, ids->file.path, SSTORE_NO_OFFSET, "there are more ids than fingerprints");
}

/* How many records from the present one on have ranks of their own, but for the last of either block. */
static uint32_t count_singles(const ss_record_stream *stream)
{
    const uint32_t values = stream->value_count - stream->value_index, ids = stream->ids.count - stream->ids_index;
    if (!stream->has_ids)
        return values - (values > 0);
    if (values == 0 || ids == 0 || stream->ids_index == 0 || stream->ids_rank != stream->rank)
        return 0;
    const uint32_t single = ss_ids_block_singles(&stream->ids, stream->ids_index);
    return ss_min_u32(single, ss_min_u32(values, ids) - 1);
}

static void pass_singles(ss_record_stream *stream, uint32_t count)
{
    stream->single_count -= count;
    stream->value_index += count;
    stream->rank += count;
    if (stream->has_ids) {
        stream->ids_index += count;
        stream->ids_rank += count;
    }
}

static void take_single(ss_record_stream *stream, sstore_record *record_out)
{
    record_out->fingerprint = stream->values[stream->value_index];
    record_out->id = stream->has_ids ? ss_ids_block_id(&stream->ids, stream->ids_index) : 0;
    pass_singles(stream, 1);
}

uint32_t ss_record_stream_pass_singles(ss_record_stream *stream)
{
    const uint32_t count = stream->single_count;
    pass_singles(stream, count);
    return count;
}

sstore_status ss_record_stream_next(ss_record_stream *stream, sstore_record *record_out, bool *more_out,
                                    sstore_error *error)
{
    if (SS_LIKELY(stream->single_count > 0)) {
        take_single(stream, record_out);
        *more_out = true;
        return SSTORE_OK;
    }
    sstore_status status = fill_values(stream, more_out, error);
    if (status == SSTORE_OK && !*more_out)
        status = check_end(stream, error);
    if (status != SSTORE_OK || !*more_out)
        return status;
    record_out->fingerprint = stream->values[stream->value_index];
    record_out->id = 0;
    if (stream->has_ids) {
        status = take_id(stream, &record_out->id, error);
        if (status != SSTORE_OK || next_id_is_of_rank(stream))
            return status;
    }
    stream->value_index++;
    stream->rank++;
    stream->id_order.any = false;
    stream->single_count = count_singles(stream);
    return stream->has_ids && stream->rank == stream->segment->facts.distinct_count ? check_end_of_ids(stream, error)
                                                                                     : SSTORE_OK;
}

/* ===== records of stores ===== */

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

uint64_t ss_record_merge_bytes(const sstore *store, uint32_t first, uint32_t end)
{
    uint64_t bytes = 0;
    for (uint32_t i = first; i < end; i++)
        bytes += record_stream_bytes(store->segments[i]);
    return bytes;
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

/* ----- public ----- */

struct sstore_record_iterator {
    ss_record_merge records;
    sstore_status status; /* of an earlier call */
};

/* Go before the first record of a store. */
static sstore_status begin_store(ss_record_merge *records, const sstore *store, sstore_error *error)
{
    ss_record_merge_init(records, store->manifest.has_ids);
    const sstore_status status = ss_record_merge_add_store(records, store, error);
    return status == SSTORE_OK ? ss_record_merge_rewind(records, error) : status;
}

sstore_status sstore_each_record(const sstore *store, sstore_record_fn on_record, void *context, sstore_error *error)
{
    ss_record_merge records;
    sstore_record record;
    bool more = true;
    if (store == NULL || on_record == NULL)
        return ss_fail_argument(error, "sstore_each_record: store and on_record must not be NULL");
    sstore_status status = begin_store(&records, store, error);
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

sstore_status sstore_record_iterator_create(const sstore *store, sstore_record_iterator **iterator_out, sstore_error *error)
{
    if (iterator_out != NULL)
        *iterator_out = NULL;
    if (store == NULL || iterator_out == NULL)
        return ss_fail_argument(error, "sstore_record_iterator_create: store and iterator_out must not be NULL");
    sstore_record_iterator *iterator = ss_alloc(1, sizeof *iterator);
    if (iterator == NULL)
        return ss_fail_memory(error, sizeof *iterator);
    const sstore_status status = begin_store(&iterator->records, store, error);
    if (status == SSTORE_OK)
        *iterator_out = iterator;
    else
        sstore_record_iterator_free(iterator);
    return status;
}

sstore_status sstore_record_iterator_next(sstore_record_iterator *iterator, uint64_t *fingerprints, uint64_t *ids,
                                          size_t capacity, size_t *count_out, sstore_error *error)
{
    sstore_record record;
    bool more = true;
    if (iterator == NULL || capacity == 0 || count_out == NULL || iterator->status != SSTORE_OK)
        return ss_fail_argument(error, "sstore_record_iterator_next: iterator and count_out must not be NULL, nor the capacity 0; "
                                       "and no call may follow one that failed");
    *count_out = 0;
    while (*count_out < capacity) {
        iterator->status = ss_record_merge_next(&iterator->records, &record, &more, error);
        if (iterator->status != SSTORE_OK || !more)
            return iterator->status;
        if (fingerprints != NULL)
            fingerprints[*count_out] = record.fingerprint;
        if (ids != NULL)
            ids[*count_out] = record.id;
        ++*count_out;
    }
    return SSTORE_OK;
}

void sstore_record_iterator_free(sstore_record_iterator *iterator)
{
    if (iterator == NULL)
        return;
    ss_record_merge_close(&iterator->records);
    ss_free(iterator);
}
