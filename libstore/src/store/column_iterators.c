#include "store/column_iterators.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"

/* ===== fingerprints of a table ===== */

#define FIRST_CAPACITY 1024u

/* The buffer grows with the fullest block so far. A block has at most about twice the average, unless a part of the
 * table is far denser than the rest. Growing doubles the buffer. */
uint64_t ss_table_iterator_bytes(const ss_block_reader *reader)
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
