#include "store/record_iterator.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/rows.h"

/* ===== fingerprints of a table ===== */

#define FIRST_CAPACITY 1024u

/* The buffer grows with the fullest block so far. A block has at most about twice the average, unless a part of the
 * table is far denser than the rest. Growing doubles the buffer. */
static uint64_t table_iterator_bytes(const ss_block_reader *reader)
{
    const uint64_t average = reader->header.item_count / ss_max_u64(reader->header.block_count, 1);
    const uint64_t max = ss_min_u64(ss_max_u64(4 * average, FIRST_CAPACITY),
                                    ss_block_capacity(reader->header.block_bytes));
    return reader->header.block_bytes + max * reader->header.words * sizeof(uint64_t);
}

/* Make room for `count` fingerprints. */
static sstore_status make_room(ss_table_iterator *iterator, uint32_t count, sstore_error *error)
{
    if (count <= iterator->capacity)
        return SSTORE_OK;
    const uint32_t capacity = ss_max_u32(ss_max_u32(2 * iterator->capacity, FIRST_CAPACITY), count);
    const size_t bytes = iterator->checked->words * sizeof *iterator->values;
    uint64_t *values = ss_realloc(iterator->values, capacity, bytes);
    if (values == NULL)
        return ss_fail_memory(error, capacity * bytes);
    iterator->values = values;
    iterator->capacity = capacity;
    return SSTORE_OK;
}

sstore_status ss_table_iterator_open(ss_table_iterator *iterator, const ss_checked_blocks *checked, sstore_error *error)
{
    const uint32_t block_bytes = checked->reader->header.block_bytes;
    *iterator = (ss_table_iterator){.checked = checked};
    ss_table_iterator_seek(iterator, 0, UINT64_MAX);
    iterator->buffer = ss_alloc(1, block_bytes);
    return iterator->buffer != NULL ? SSTORE_OK : ss_fail_memory(error, block_bytes);
}

void ss_table_iterator_close(ss_table_iterator *iterator)
{
    ss_free(iterator->buffer);
    ss_free(iterator->values);
    iterator->buffer = NULL;
    iterator->values = NULL;
}

void ss_table_iterator_seek(ss_table_iterator *iterator, uint64_t first, uint64_t end)
{
    iterator->has_last = iterator->has_last && first == iterator->next_block;
    iterator->next_block = first;
    iterator->end_block = ss_min_u64(end, iterator->checked->reader->header.block_count);
    iterator->ahead = ss_read_ahead_from(first, iterator->end_block);
}

/* Decode the current block, of fingerprints of one word. */
static sstore_status decode_block(ss_table_iterator *iterator, uint64_t number, uint32_t *count_out,
                                  sstore_error *error)
{
    ss_block block;
    sstore_status status = ss_checked_block_open(iterator->checked, number, iterator->bytes, &block, error);
    if (status == SSTORE_OK)
        status = make_room(iterator, block.count, error);
    if (status == SSTORE_OK)
        status = ss_checked_block_decode(iterator->checked, number, &block, iterator->values, error);
    *count_out = block.count;
    return status;
}

/* Decode the current block, of whole fingerprints. */
static sstore_status decode_rows(ss_table_iterator *iterator, uint64_t number, uint32_t *count_out, sstore_error *error)
{
    const ss_checked_blocks *checked = iterator->checked;
    const uint32_t count = ss_checked_rows_count(checked, number);
    const sstore_status status = make_room(iterator, count, error);
    *count_out = count;
    return status == SSTORE_OK ? ss_checked_rows_decode(checked, number, iterator->bytes, iterator->values, error)
                               : status;
}

sstore_status ss_table_iterator_next(ss_table_iterator *iterator, const uint64_t **values_out, uint32_t *count_out,
                                     sstore_error *error)
{
    const ss_block_reader *reader = iterator->checked->reader;
    const uint32_t words = iterator->checked->words;
    const bool has_last = iterator->has_last;
    uint32_t count = 0;
    *count_out = 0;
    *values_out = iterator->values;
    if (iterator->next_block >= iterator->end_block)
        return SSTORE_OK;
    uint64_t number = iterator->next_block++;
    iterator->has_last = false;
    ss_block_reader_ahead(reader, number, &iterator->ahead);
    sstore_status status = ss_block_reader_get_once(reader, number, iterator->buffer, &iterator->bytes, error);
    if (status == SSTORE_OK)
        status = words == 1 ? decode_block(iterator, number, &count, error)
                            : decode_rows(iterator, number, &count, error);
    if (status != SSTORE_OK)
        return status;
    if (has_last && ss_words_compare(iterator->values, iterator->last, words) <= 0)
        return ss_block_reader_malformed(reader, number, SS_BELOW_BLOCK_BEFORE, error);
    iterator->has_last = true;
    ss_words_copy(iterator->last, iterator->values + (size_t)(count - 1) * words, words);
    *count_out = count;
    *values_out = iterator->values;
    return SSTORE_OK;
}

/* ===== blocks of an id column ===== */

sstore_status ss_ids_iterator_open(ss_ids_iterator *iterator, const ss_checked_blocks *checked, sstore_error *error)
{
    const uint32_t block_bytes = checked->reader->header.block_bytes;
    *iterator = (ss_ids_iterator){.checked = checked, .buffer = ss_alloc(1, block_bytes)};
    ss_ids_iterator_seek(iterator, 0);
    return iterator->buffer != NULL ? SSTORE_OK : ss_fail_memory(error, block_bytes);
}

void ss_ids_iterator_seek(ss_ids_iterator *iterator, uint64_t number)
{
    iterator->block = (ss_ids_block){.count = 0};
    iterator->next_block = number;
    iterator->next_rank = iterator->record_count = 0;
    iterator->has_last = number == 0;
    iterator->ahead = ss_read_ahead_from(number, UINT64_MAX);
}

void ss_ids_iterator_close(ss_ids_iterator *iterator)
{
    ss_free(iterator->buffer);
    iterator->buffer = NULL;
}

sstore_status ss_ids_iterator_next(ss_ids_iterator *iterator, sstore_error *error)
{
    const ss_block_reader *reader = iterator->checked->reader;
    const uint64_t number = iterator->next_block++;
    const bool has_last = iterator->has_last;
    const uint8_t *bytes;
    const bool goes_on = has_last && iterator->block.continued;
    iterator->order.any = goes_on;
    iterator->has_last = false;
    ss_block_reader_ahead(reader, number, &iterator->ahead);
    sstore_status status = ss_block_reader_get_once(reader, number, iterator->buffer, &bytes, error);
    if (status == SSTORE_OK)
        status = ss_checked_block_open_ids(iterator->checked, number, bytes, &iterator->block, error);
    if (status != SSTORE_OK)
        return status;
    if (has_last && iterator->block.first_rank != iterator->next_rank - goes_on)
        return ss_block_reader_malformed(reader, number, "its first rank does not follow the previous block", error);
    iterator->has_last = true;
    iterator->next_rank = ss_ids_block_last_rank(&iterator->block) + 1;
    iterator->record_count += iterator->block.count;
    return SSTORE_OK;
}

sstore_status ss_ids_iterator_check(ss_ids_iterator *iterator, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < iterator->block.count; i++) {
        uint64_t id = 0;
        iterator->order.any &= !ss_ids_block_starts_rank(&iterator->block, i);
        status = ss_checked_block_take_id(iterator->checked, iterator->next_block - 1, &iterator->block, i,
                                          &iterator->order, &id, error);
        if (status == SSTORE_OK)
            iterator->max_id = ss_max_u64(iterator->max_id, id);
    }
    iterator->has_last = status == SSTORE_OK;
    return status;
}

bool ss_ids_iterator_has_all(const ss_ids_iterator *iterator, uint64_t rank_count, uint64_t record_count)
{
    return iterator->has_last && !iterator->block.continued && iterator->next_rank == rank_count &&
           iterator->record_count == record_count;
}

/* ===== records of a segment ===== */

sstore_status ss_segment_iterator_open(ss_segment_iterator *iterator, const ss_segment *segment, bool has_ids,
                                       sstore_error *error)
{
    *iterator = (ss_segment_iterator){.segment = segment, .words = segment->metadata.words, .has_ids = has_ids};
    const sstore_status status = ss_table_iterator_open(&iterator->fingerprints, &segment->tables[0].checked, error);
    return status == SSTORE_OK && has_ids ? ss_ids_iterator_open(&iterator->ids, &segment->checked_ids, error) : status;
}

void ss_segment_iterator_close(ss_segment_iterator *iterator)
{
    ss_table_iterator_close(&iterator->fingerprints);
    ss_ids_iterator_close(&iterator->ids);
}

static void rewind_segment(ss_segment_iterator *iterator)
{
    ss_table_iterator_seek(&iterator->fingerprints, 0, UINT64_MAX);
    iterator->value_count = iterator->value_index = iterator->single_count = 0;
    ss_ids_iterator_seek(&iterator->ids, 0);
    iterator->rank = 0;
    iterator->from_first = true;
    iterator->sum = (ss_u128){0};
    iterator->ids_index = 0;
    iterator->id_order.any = false;
}

/* Make values[value_index] the current fingerprint. */
static sstore_status fill_values(ss_segment_iterator *iterator, bool *more_out, sstore_error *error)
{
    *more_out = true;
    if (iterator->value_index < iterator->value_count)
        return SSTORE_OK;
    const sstore_status status = ss_table_iterator_next(&iterator->fingerprints, &iterator->values,
                                                        &iterator->value_count, error);
    iterator->value_index = 0;
    *more_out = iterator->value_count > 0;
    return status;
}

static sstore_status open_next_ids(ss_segment_iterator *iterator, sstore_error *error)
{
    const ss_block_reader *ids = &iterator->segment->ids;
    if (iterator->ids.next_block == ids->header.block_count)
        return ss_fail_damaged(error, ids->file.path, SSTORE_NO_OFFSET, "there are fewer ids than fingerprints");
    const sstore_status status = ss_ids_iterator_next(&iterator->ids, error);
    iterator->ids_index = 0;
    iterator->ids_rank = iterator->ids.block.first_rank;
    return status;
}

/* After a seek, blocks are read ahead only from the second one on, since the next seek may be near. */
static const ss_read_ahead nothing_ahead = {.prefetched = UINT64_MAX};

/* Go to the first record of the current rank in the id column, which is often in the open block. */
static sstore_status seek_ids(ss_segment_iterator *iterator, sstore_error *error)
{
    uint64_t number = ss_key_index_find(&iterator->segment->ids_keys, iterator->rank);
    sstore_status status = SSTORE_OK;
    uint32_t end;
    if (iterator->ids.block.count == 0 || number + 1 != iterator->ids.next_block) {
        ss_ids_iterator_seek(&iterator->ids, number);
        iterator->ids.ahead = nothing_ahead;
        status = open_next_ids(iterator, error);
        iterator->ids.ahead = ss_read_ahead_from(number + 1, UINT64_MAX);
    }
    if (status != SSTORE_OK)
        return status;
    ss_ids_block_find(&iterator->ids.block, iterator->rank, &iterator->ids_index, &end);
    iterator->ids_rank = iterator->rank;
    iterator->id_order.any = false;
    return SSTORE_OK; /* if the block does not have the rank, take_id() reports it */
}

/* Make a block of table 0 the current one. */
static sstore_status load_values(ss_segment_iterator *iterator, uint64_t number, sstore_error *error)
{
    bool more;
    iterator->value_count = iterator->value_index = 0;
    ss_table_iterator_seek(&iterator->fingerprints, number, UINT64_MAX);
    iterator->fingerprints.ahead = nothing_ahead;
    const sstore_status status = fill_values(iterator, &more, error);
    iterator->fingerprints.ahead = ss_read_ahead_from(iterator->fingerprints.next_block, UINT64_MAX);
    return status;
}

/* Compare fingerprint `index` of the current block with another one. */
static int compare_at(const ss_segment_iterator *iterator, uint32_t index, const uint64_t *fingerprint)
{
    return ss_words_compare(iterator->values + (size_t)index * iterator->words, fingerprint, iterator->words);
}

/* Make the block of the first fingerprint that is not below another one the current one, or else the last block. The
 * keys of several blocks may be equal if they are first words. */
static sstore_status find_block(ss_segment_iterator *iterator, const uint64_t *fingerprint, sstore_error *error)
{
    const ss_key_index *keys = &iterator->segment->tables[0].keys;
    const uint64_t block_count = keys->keys.count, first = fingerprint[0];
    uint64_t low = ss_key_index_find(keys, first), high = low, loaded = UINT64_MAX;
    sstore_status status = SSTORE_OK;
    if (low < block_count && iterator->words > 1)
        high = ss_min_u64(first == UINT64_MAX ? block_count : ss_key_index_find(keys, first + 1), block_count - 1);
    while (status == SSTORE_OK && low < high) {
        loaded = low + (high - low) / 2;
        status = load_values(iterator, loaded, error);
        if (status == SSTORE_OK && compare_at(iterator, iterator->value_count - 1, fingerprint) < 0)
            low = loaded + 1;
        else
            high = loaded;
    }
    return status == SSTORE_OK && loaded != low ? load_values(iterator, low, error) : status;
}

/* The index of the first fingerprint of the current block that is not below another one. */
static uint32_t first_from(const ss_segment_iterator *iterator, const uint64_t *fingerprint)
{
    uint32_t low = 0, end = iterator->value_count;
    if (iterator->words == 1)
        return (uint32_t)ss_lower_bound(iterator->values, 0, end, *fingerprint, ss_word_is_below);
    while (low < end) {
        const uint32_t middle = low + (end - low) / 2;
        const bool is_below = compare_at(iterator, middle, fingerprint) < 0;
        low = is_below ? middle + 1 : low;
        end = is_below ? end : middle;
    }
    return low;
}

/* The rank of fingerprint `index` of the current block. */
static uint64_t rank_at(const ss_segment_iterator *iterator, uint32_t index)
{
    const ss_segment *segment = iterator->segment;
    const uint64_t number = iterator->fingerprints.next_block - 1;
    return index + (iterator->words == 1 ? ss_array_at(&segment->ranks, number)
                                         : number * ss_rows_capacity(segment->metadata.block_bytes, iterator->words));
}

/* Go before the first record with at least this fingerprint. */
static sstore_status seek_segment(ss_segment_iterator *iterator, const uint64_t *fingerprint, sstore_error *error)
{
    const bool is_open = iterator->value_count > 0 && compare_at(iterator, 0, fingerprint) <= 0 &&
                         compare_at(iterator, iterator->value_count - 1, fingerprint) >= 0;
    iterator->from_first = false;
    iterator->single_count = 0;
    const sstore_status status = is_open ? SSTORE_OK : find_block(iterator, fingerprint, error);
    if (status != SSTORE_OK)
        return status;
    if (iterator->value_count == 0) {
        iterator->rank = iterator->segment->metadata.distinct_count;
        return SSTORE_OK;
    }
    iterator->value_index = first_from(iterator, fingerprint);
    iterator->rank = rank_at(iterator, iterator->value_index);
    return iterator->has_ids && iterator->value_index < iterator->value_count ? seek_ids(iterator, error) : SSTORE_OK;
}

/* Take the current id, and step to the next one. *last_out: no further id belongs to the current rank. */
static sstore_status take_id(ss_segment_iterator *iterator, uint64_t *id_out, bool *last_out, sstore_error *error)
{
    ss_ids_block *block = &iterator->ids.block;
    if (iterator->ids_index == block->count) {
        const sstore_status status = open_next_ids(iterator, error);
        if (status != SSTORE_OK)
            return status;
    }
    const uint64_t number = iterator->ids.next_block - 1;
    if (iterator->ids_rank != iterator->rank)
        return ss_block_reader_malformed(&iterator->segment->ids, number, "its ranks do not match the fingerprints",
                                         error);
    const sstore_status status = ss_checked_block_take_id(&iterator->segment->checked_ids, number, block,
                                                          iterator->ids_index, &iterator->id_order, id_out, error);
    iterator->ids_index++;
    if (iterator->ids_index < block->count && ss_ids_block_starts_rank(block, iterator->ids_index))
        iterator->ids_rank++;
    *last_out = iterator->ids_index < block->count ? iterator->ids_rank != iterator->rank : !block->continued;
    return status;
}

static sstore_status check_end(const ss_segment_iterator *iterator, sstore_error *error)
{
    const ss_segment *segment = iterator->segment;
    if (iterator->rank != segment->metadata.distinct_count)
        return ss_fail_damaged(error, segment->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                               "the table's number of fingerprints differs from the manifest's");
    if (iterator->from_first && iterator->has_ids && iterator->ids.record_count != segment->metadata.record_count)
        return ss_fail_damaged(error, segment->ids.file.path, SSTORE_NO_OFFSET,
                               "the number of ids differs from the manifest's");
    if (iterator->sums && iterator->from_first && !ss_u128_equal(iterator->sum, segment->metadata.content_sum))
        return ss_fail_damaged(error, segment->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                               "the records do not match the manifest's content sum; sstore_verify() names what else "
                               "is damaged");
    return SSTORE_OK;
}

/* How many records from the current one on have ranks of their own; without the last record of either block. */
static uint32_t count_singles(const ss_segment_iterator *iterator)
{
    const uint32_t values = iterator->value_count - iterator->value_index,
                   ids = iterator->ids.block.count - iterator->ids_index;
    if (!iterator->has_ids)
        return values - (values > 0);
    if (values == 0 || ids == 0 || iterator->ids_index == 0 || iterator->ids_rank != iterator->rank)
        return 0;
    const uint32_t single = ss_ids_block_singles(&iterator->ids.block, iterator->ids_index);
    return ss_min_u32(single, ss_min_u32(values, ids) - 1);
}

static void pass_singles(ss_segment_iterator *iterator, uint32_t count)
{
    iterator->single_count -= count;
    iterator->value_index += count;
    iterator->rank += count;
    if (iterator->has_ids) {
        iterator->ids_index += count;
        iterator->ids_rank += count;
    }
}

uint32_t ss_segment_iterator_pass_singles(ss_segment_iterator *iterator)
{
    const uint32_t count = iterator->single_count;
    pass_singles(iterator, count);
    return count;
}

/* Note the current fingerprint, and return its first word. */
static inline uint64_t take_fingerprint(ss_segment_iterator *iterator)
{
    iterator->last = iterator->values + (size_t)iterator->value_index * iterator->words;
    return *iterator->last;
}

static sstore_status next_record(ss_segment_iterator *iterator, sstore_record *record_out, bool *more_out,
                                 sstore_error *error)
{
    if (SS_LIKELY(iterator->single_count > 0)) {
        record_out->fingerprint = take_fingerprint(iterator);
        record_out->id = iterator->has_ids ? ss_ids_block_id(&iterator->ids.block, iterator->ids_index) : 0;
        pass_singles(iterator, 1);
        *more_out = true;
        return SSTORE_OK;
    }
    bool last = true; /* of the fingerprint's records */
    sstore_status status = fill_values(iterator, more_out, error);
    if (status == SSTORE_OK && !*more_out)
        status = check_end(iterator, error);
    if (status != SSTORE_OK || !*more_out)
        return status;
    record_out->fingerprint = take_fingerprint(iterator);
    record_out->id = 0;
    if (iterator->has_ids)
        status = take_id(iterator, &record_out->id, &last, error);
    if (status != SSTORE_OK || !last)
        return status;
    iterator->value_index++;
    iterator->rank++;
    iterator->id_order.any = false;
    iterator->single_count = count_singles(iterator);
    const ss_block_reader *ids = &iterator->segment->ids;
    if (iterator->has_ids && iterator->rank == iterator->segment->metadata.distinct_count &&
        (iterator->ids_index < iterator->ids.block.count || iterator->ids.next_block < ids->header.block_count))
        return ss_fail_damaged(error, ids->file.path, SSTORE_NO_OFFSET, "there are more ids than fingerprints");
    return SSTORE_OK;
}

sstore_status ss_segment_iterator_next(ss_segment_iterator *iterator, sstore_record *record_out, bool *more_out,
                                       sstore_error *error)
{
    const sstore_status status = next_record(iterator, record_out, more_out, error);
    if (SS_LIKELY(!iterator->sums) || status != SSTORE_OK)
        return status;
    if (*more_out)
        ss_content_add_words(&iterator->sum, iterator->has_ids, iterator->last, iterator->words, record_out->id);
    else
        iterator->sums = false; /* they are right */
    return SSTORE_OK;
}

/* ===== records of stores ===== */

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
        bytes += table_iterator_bytes(&store->segments[i]->tables[0].blocks) +
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

/* Get the first record of each input, and make the heap. */
static sstore_status begin(ss_merge_iterator *merge, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    merge->heap_count = 0;
    for (size_t i = 0; status == SSTORE_OK && i < merge->input_count; i++) {
        bool more = false;
        status = ss_segment_iterator_next(&merge->inputs[i].iterator, &merge->inputs[i].record, &more, error);
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
        rewind_segment(&merge->inputs[i].iterator);
    return begin(merge, error);
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
        status = seek_segment(&merge->inputs[i].iterator, fingerprint, error);
    return status == SSTORE_OK ? begin(merge, error) : status;
}

/* Replace the record of the first input by its next one. */
static sstore_status step(ss_merge_iterator *merge, sstore_error *error)
{
    ss_merge_input *min = &merge->inputs[merge->heap[0]];
    bool more;
    sstore_status status = ss_segment_iterator_next(&min->iterator, &min->record, &more, error);
    if (status != SSTORE_OK)
        return status;
    if (!more)
        merge->heap[0] = merge->heap[--merge->heap_count];
    if (merge->heap_count > 1)
        sift_down(merge, 0);
    return SSTORE_OK;
}

/* Reading so many fingerprints with their ids takes about as long as a seek. */
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
            status = seek_segment(&min->iterator, &fingerprint, error);
        if (status == SSTORE_OK)
            status = step(merge, error);
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
static void note_last(ss_merge_iterator *merge, const ss_merge_input *input, sstore_record *record_out)
{
    merge->from = input;
    *record_out = input->record;
    if (SS_UNLIKELY(merge->words > 1))
        ss_words_copy(merge->last, input->iterator.last, merge->words);
}

/* Take a record from all inputs that have it. It is wanted if in some store the oldest and the newest of them both add
 * it, or both remove it if removed records are wanted. Otherwise they do not change the older state. */
static sstore_status take(ss_merge_iterator *merge, sstore_record *record_out, bool *wanted_out, sstore_error *error)
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
        status = step(merge, error);
        input = status == SSTORE_OK && merge->heap_count > 0 ? &merge->inputs[merge->heap[0]] : NULL;
    } while (input != NULL && input->record.fingerprint == record_out->fingerprint &&
             input->record.id == record_out->id &&
             (merge->words == 1 || ss_words_equal(input->iterator.last, merge->last, merge->words)));
    *wanted_out |= first->is_removal == merge->removed && last->is_removal == merge->removed;
    return status;
}

sstore_status ss_merge_iterator_next(ss_merge_iterator *merge, sstore_record *record_out, bool *more_out,
                                     sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *more_out = false;
    if (merge->input_count == 1 && !merge->inputs[0].is_removal && !merge->removed && merge->heap_count == 1) {
        note_last(merge, &merge->inputs[0], record_out);
        *more_out = true;
        return step(merge, error);
    }
    while (status == SSTORE_OK && !*more_out && merge->heap_count > 0)
        status = take(merge, record_out, more_out, error);
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

struct sstore_record_iterator {
    ss_merge_iterator records;
    sstore_status status; /* of an earlier call */
};

sstore_status sstore_each_record(const sstore *store, sstore_record_fn on_record, void *context, sstore_error *error)
{
    ss_merge_iterator records;
    sstore_record record;
    bool more = true;
    if (store == NULL || on_record == NULL)
        return ss_fail_argument(error, "sstore_each_record: store and on_record must not be NULL");
    if (store->manifest.words > 1)
        return ss_fail_argument(error, "sstore_each_record: the store has fingerprints of %u bits; use an iterator",
                                SS_WORD_BITS * store->manifest.words);
    sstore_status status = ss_merge_iterator_open(&records, store, error);
    while (status == SSTORE_OK) {
        status = ss_merge_iterator_next(&records, &record, &more, error);
        if (status != SSTORE_OK || !more)
            break;
        if (on_record(context, &record) != 0)
            status = SSTORE_STOPPED;
    }
    ss_merge_iterator_close(&records);
    return status;
}

sstore_status sstore_record_iterator_create(const sstore *store, sstore_record_iterator **iterator_out,
                                            sstore_error *error)
{
    if (iterator_out != NULL)
        *iterator_out = NULL;
    if (store == NULL || iterator_out == NULL)
        return ss_fail_argument(error, "sstore_record_iterator_create: store and iterator_out must not be NULL");
    sstore_record_iterator *iterator = ss_alloc(1, sizeof *iterator);
    if (iterator == NULL)
        return ss_fail_memory(error, sizeof *iterator);
    const sstore_status status = ss_merge_iterator_open(&iterator->records, store, error);
    if (status == SSTORE_OK)
        *iterator_out = iterator;
    else
        sstore_record_iterator_free(iterator);
    return status;
}

sstore_status sstore_record_iterator_next(sstore_record_iterator *iterator, const sstore_record_columns *columns,
                                          size_t capacity, size_t *count_out, sstore_error *error)
{
    sstore_record_columns to = SSTORE_RECORD_COLUMNS_INIT;
    sstore_record record;
    bool more = true;
    const bool is_usable = iterator != NULL && iterator->status == SSTORE_OK;
    if (!ss_check_next("sstore_record_iterator_next", is_usable, capacity, count_out, error) || !is_usable)
        return SSTORE_ERROR_ARGUMENT;
    const sstore_status status = ss_take_options(&to, sizeof to, columns, SS_RECORD_COLUMNS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    while (*count_out < capacity) {
        iterator->status = ss_merge_iterator_next(&iterator->records, &record, &more, error);
        if (iterator->status != SSTORE_OK || !more)
            return iterator->status;
        if (to.fingerprint != NULL && iterator->records.words == 1)
            to.fingerprint[*count_out] = record.fingerprint;
        else if (to.fingerprint != NULL)
            ss_words_copy(to.fingerprint + *count_out * iterator->records.words, iterator->records.last,
                          iterator->records.words);
        if (to.id != NULL)
            to.id[*count_out] = record.id;
        ++*count_out;
    }
    return SSTORE_OK;
}

void sstore_record_iterator_free(sstore_record_iterator *iterator)
{
    if (iterator == NULL)
        return;
    ss_merge_iterator_close(&iterator->records);
    ss_free(iterator);
}
