#include "store/segment_iterator.h"

#include "base/error.h"
#include "base/words.h"
#include "codec/rows.h"

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

void ss_segment_iterator_rewind(ss_segment_iterator *iterator)
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

sstore_status ss_segment_iterator_seek(ss_segment_iterator *iterator, const uint64_t *fingerprint, sstore_error *error)
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

static sstore_status next_record(ss_segment_iterator *iterator, ss_record *record_out, bool *more_out,
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

sstore_status ss_segment_iterator_next(ss_segment_iterator *iterator, ss_record *record_out, bool *more_out,
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
