#include "store/lookup.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/rows.h"

/* ===== ranks and their ids ===== */

sstore_status ss_find_rank(const ss_segment *segment, uint64_t fingerprint, ss_block_slot *slot, uint64_t *rank_out,
                           sstore_error *error)
{
    const ss_checked_blocks *checked = &segment->tables[0].checked;
    ss_block block;
    ss_near near;
    uint32_t last;
    *rank_out = SS_NO_RANK;
    sstore_status status = ss_block_slot_wait(slot, error);
    if (status == SSTORE_OK)
        status = ss_checked_block_open(checked, slot->number, slot->bytes, &block, error);
    if (status != SSTORE_OK)
        return status;
    ss_block_find_groups(&block, ss_upper(fingerprint), ss_upper(fingerprint), &near.group, &last);
    near.end = last + 1;
    ss_block_prefetch_group(&block, last); /* it is decoded if the fingerprint is there */
    near.decoded = NULL;
    near.query = fingerprint;
    near.distance = near.lower_distance = 0;
    near.any = false;
    status = ss_checked_block_find_near(checked, slot->number, &block, &near, error);
    if (status == SSTORE_OK && near.group < near.end)
        *rank_out = ss_array_at(&segment->ranks, slot->number) + near.group * SS_GROUP_SIZE +
                    (uint32_t)__builtin_ctzll(near.mask);
    return status;
}

/* A block of whole fingerprints, as far as a search needs it. */
typedef struct row_block {
    const ss_checked_blocks *checked;
    uint64_t number;
    const uint8_t *bytes;
} row_block;

static sstore_status open_rows(const ss_segment *segment, uint64_t number, ss_block_slot *slot, row_block *block_out,
                               sstore_error *error)
{
    const ss_checked_blocks *checked = &segment->tables[0].checked;
    ss_block_slot_prefetch(slot, checked->reader, number);
    const sstore_status status = ss_block_slot_wait(slot, error);
    *block_out = (row_block){.checked = checked, .number = number, .bytes = slot->bytes};
    return status;
}

/* Compare fingerprint `index` of a block with another one. */
static int compare_row(const row_block *block, uint32_t index, const uint64_t *fingerprint)
{
    uint64_t row[SSTORE_MAX_WORDS];
    ss_rows_load(block->bytes, index, block->checked->words, row);
    return ss_words_compare(row, fingerprint, block->checked->words);
}

#define NOT_IN_ROWS UINT32_MAX

/* The place of a fingerprint in a block, or NOT_IN_ROWS. */
static uint32_t find_in_rows(const row_block *block, const uint64_t *fingerprint)
{
    uint32_t low = 0, end = ss_checked_rows_count(block->checked, block->number);
    while (low < end) {
        const uint32_t middle = low + (end - low) / 2;
        const int order = compare_row(block, middle, fingerprint);
        if (order == 0)
            return middle;
        low = order < 0 ? middle + 1 : low;
        end = order < 0 ? end : middle;
    }
    return NOT_IN_ROWS;
}

sstore_status ss_find_row(const ss_segment *segment, const uint64_t *fingerprint, ss_block_slot *slot,
                          uint64_t *rank_out, sstore_error *error)
{
    const ss_key_index *keys = &segment->tables[0].keys;
    const uint64_t block_count = keys->keys.count, first = fingerprint[0];
    row_block block;
    *rank_out = SS_NO_RANK;
    /* The first words of blocks may be equal, so several blocks may have it. */
    uint64_t low = ss_key_index_find(keys, first);
    if (low == block_count)
        return SSTORE_OK;
    uint64_t high = first == UINT64_MAX ? block_count : ss_key_index_find(keys, first + 1);
    high = ss_min_u64(high, block_count - 1);
    sstore_status status = SSTORE_OK;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        status = open_rows(segment, middle, slot, &block, error);
        if (status != SSTORE_OK)
            return status;
        const uint32_t last = ss_checked_rows_count(block.checked, middle) - 1;
        if (compare_row(&block, last, fingerprint) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    status = open_rows(segment, low, slot, &block, error);
    if (status != SSTORE_OK)
        return status;
    const uint32_t index = find_in_rows(&block, fingerprint);
    if (index != NOT_IN_ROWS)
        *rank_out = low * ss_rows_capacity(segment->metadata.block_bytes, segment->metadata.words) + index;
    return SSTORE_OK;
}

/* Whether ss_find_row() opens no block but this one for a first word. */
static bool is_only_block(const ss_key_index *keys, uint64_t block, uint64_t first)
{
    const uint64_t key = ss_array_at(&keys->keys, block);
    const bool begins = block == 0 || ss_array_at(&keys->keys, block - 1) < first;
    return begins && (first < key || (first == key && block + 1 == keys->keys.count));
}

/* Whether find_in_rows() finds a fingerprint at `index`. */
static bool finds_in_rows_at(const row_block *block, const uint64_t *fingerprint, uint32_t index)
{
    uint32_t low = 0, end = ss_checked_rows_count(block->checked, block->number);
    bool leads = true;
    assert(index < end);
    for (uint32_t middle; (middle = low + (end - low) / 2) != index;) {
        const int order = compare_row(block, middle, fingerprint);
        leads &= middle < index ? order < 0 : order > 0;
        low = middle < index ? middle + 1 : low;
        end = middle < index ? end : middle;
    }
    return leads && compare_row(block, index, fingerprint) == 0;
}

sstore_status ss_finds_row_at(const ss_segment *segment, const uint64_t *fingerprint, uint64_t rank,
                              ss_block_slot *slot, bool *is_found_out, sstore_error *error)
{
    const uint32_t capacity = ss_rows_capacity(segment->metadata.block_bytes, segment->metadata.words);
    const uint64_t number = rank / capacity;
    uint64_t found = SS_NO_RANK;
    row_block block;
    sstore_status status;
    if (!is_only_block(&segment->tables[0].keys, number, fingerprint[0])) {
        status = ss_find_row(segment, fingerprint, slot, &found, error);
        *is_found_out = found == rank;
        return status;
    }
    status = open_rows(segment, number, slot, &block, error);
    *is_found_out = status == SSTORE_OK && finds_in_rows_at(&block, fingerprint, (uint32_t)(rank % capacity));
    return status;
}

SS_ALWAYS_INLINE bool rank_is_at_most(const void *ranks, uint64_t index, uint64_t rank)
{
    return ss_array_at(ranks, index) <= rank;
}

/* Of fingerprints of one word. */
static sstore_status coded_fingerprint_at(const ss_segment *segment, uint64_t rank, ss_block_slot *slot,
                                          uint64_t *fingerprint_out, sstore_error *error)
{
    const ss_checked_blocks *checked = &segment->tables[0].checked;
    const ss_array *ranks = &segment->ranks;
    const uint64_t number = ss_lower_bound(ranks, 0, ranks->count, rank, rank_is_at_most) - 1; /* the first is 0 */
    const uint64_t index = rank - ss_array_at(ranks, number);
    uint64_t values[SS_GROUP_SIZE];
    ss_block block;
    ss_block_slot_prefetch(slot, checked->reader, number);
    sstore_status status = ss_block_slot_wait(slot, error);
    if (status == SSTORE_OK)
        status = ss_checked_block_open(checked, number, slot->bytes, &block, error);
    if (status == SSTORE_OK) /* the block has as many fingerprints as the ranks require */
        status = ss_checked_block_decode_group(checked, number, &block, (uint32_t)(index / SS_GROUP_SIZE),
                                               index % SS_GROUP_SIZE + 1, values, error);
    if (status == SSTORE_OK)
        *fingerprint_out = values[index % SS_GROUP_SIZE];
    return status;
}

sstore_status ss_fingerprint_at(const ss_segment *segment, uint64_t rank, ss_block_slot *slot,
                                uint64_t *fingerprint_out, sstore_error *error)
{
    const uint32_t words = segment->metadata.words, capacity = ss_rows_capacity(segment->metadata.block_bytes, words);
    row_block block;
    if (words == 1)
        return coded_fingerprint_at(segment, rank, slot, fingerprint_out, error);
    const sstore_status status = open_rows(segment, rank / capacity, slot, &block, error);
    if (status == SSTORE_OK)
        ss_rows_load(block.bytes, (uint32_t)(rank % capacity), words, fingerprint_out);
    return status;
}

void ss_rank_ids_begin(ss_rank_ids *ids, const ss_segment *segment, uint64_t rank, uint64_t first_block,
                       ss_block_slot *slot)
{
    if (ids->segment != segment)
        ids->block.bytes = NULL;
    ids->segment = segment;
    ids->rank = rank;
    ids->slot = slot;
    ids->next_block = first_block;
    ids->order.any = false;
}

sstore_status ss_fail_ids_missing(const ss_segment *segment, uint64_t rank, sstore_error *error)
{
    return ss_fail_damaged(error, segment->ids.file.path, SSTORE_NO_OFFSET, "the ids of rank %llu are missing",
                           (unsigned long long)rank);
}

/* Open the slot's block of ids, unless it is open. */
static sstore_status open_block(ss_rank_ids *ids, uint64_t number, sstore_error *error)
{
    if (SS_LIKELY(ids->block.bytes == ids->slot->bytes && ids->number == number))
        return SSTORE_OK;
    const sstore_status status = ss_checked_block_open_ids(&ids->segment->checked_ids, number, ids->slot->bytes,
                                                           &ids->block, error);
    if (status != SSTORE_OK)
        ids->block.bytes = NULL;
    ids->number = number;
    ids->begin = 0;
    ids->found = ids->block.first_rank;
    return status;
}

/* Open a block of ids, and find those of the rank: begin == end if it has none. */
static sstore_status open_ids(ss_rank_ids *ids, uint64_t number, sstore_error *error)
{
    ss_block_slot_prefetch(ids->slot, &ids->segment->ids, number);
    sstore_status status = ss_block_slot_wait(ids->slot, error);
    if (status == SSTORE_OK)
        status = open_block(ids, number, error);
    if (status != SSTORE_OK)
        return status;
    const bool goes_on = ids->rank >= ids->found && ids->begin < ids->block.count;
    ss_ids_block_find_from(&ids->block, goes_on ? ids->found : ids->block.first_rank, goes_on ? ids->begin : 0,
                           ids->rank, &ids->begin, &ids->end);
    ids->found = ids->rank;
    return SSTORE_OK;
}

/* Whether the rank has more ids after the open block, which begin the next one. A block without ids of the rank, the
 * one behind its last, may end in another rank that goes on. */
static void set_next_block(ss_rank_ids *ids)
{
    const bool goes_on = ids->begin < ids->end && ids->end == ids->block.count && ids->block.continued;
    ids->next_block = goes_on ? ids->number + 1 : UINT64_MAX;
}

sstore_status ss_rank_ids_next(ss_rank_ids *ids, bool *more_out, sstore_error *error)
{
    const ss_block_reader *reader = &ids->segment->ids;
    uint64_t number = ids->next_block;
    *more_out = false;
    if (number == UINT64_MAX)
        return SSTORE_OK;
    if (number >= reader->header.block_count)
        return ss_fail_ids_missing(ids->segment, ids->rank, error);
    const sstore_status status = open_ids(ids, number, error);
    if (status != SSTORE_OK)
        return status;
    if (ids->begin == ids->end)
        return ss_block_reader_malformed(reader, number, "it does not have the rank that the directory names", error);
    set_next_block(ids);
    *more_out = true;
    return SSTORE_OK;
}

sstore_status ss_rank_ids_take(ss_rank_ids *ids, uint32_t index, uint64_t *id_out, sstore_error *error)
{
    return ss_checked_block_take_id(&ids->segment->checked_ids, ids->number, &ids->block, index, &ids->order, id_out,
                                    error);
}

/* ----- seeking ----- */

SS_ALWAYS_INLINE bool id_is_below(const void *block, uint64_t index, uint64_t target)
{
    return ss_ids_block_id(block, (uint32_t)index) < target;
}

/* Whether all ids of the rank in the open block are below one. */
static bool is_passed(const ss_rank_ids *ids, uint64_t id)
{
    return ids->begin < ids->end && ss_ids_block_id(&ids->block, ids->end - 1) < id;
}

/* Open the first block up to `last` that is not passed, or `last`. The open one is passed. */
static sstore_status seek_block(ss_rank_ids *ids, uint64_t last, uint64_t id, sstore_error *error)
{
    uint64_t low = ids->number, high = low; /* blocks up to `low` are passed */
    sstore_status status = SSTORE_OK;
    for (uint64_t step = 1; status == SSTORE_OK && is_passed(ids, id) && high < last; step *= 2) {
        low = high;
        high = ss_min_u64(high + step, last);
        status = open_ids(ids, high, error);
    }
    while (status == SSTORE_OK && high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        status = open_ids(ids, middle, error);
        if (is_passed(ids, id))
            low = middle;
        else
            high = middle;
    }
    return status == SSTORE_OK && ids->number != high ? open_ids(ids, high, error) : status;
}

/* The last block that may have ids of the rank. */
static uint64_t last_block(const ss_rank_ids *ids)
{
    const ss_key_index *keys = &ids->segment->ids_keys;
    return ss_min_u64(ss_key_index_find(keys, ids->rank + 1), keys->keys.count - 1);
}

sstore_status ss_rank_ids_next_from(ss_rank_ids *ids, uint64_t id, bool *more_out, sstore_error *error)
{
    sstore_status status = ss_rank_ids_next(ids, more_out, error);
    if (status != SSTORE_OK || !is_passed(ids, id))
        return status;
    status = seek_block(ids, last_block(ids), id, error);
    set_next_block(ids);
    return status;
}

sstore_status ss_rank_ids_seek(ss_rank_ids *ids, uint64_t id, bool *found_out, sstore_error *error)
{
    const ss_key_index *keys = &ids->segment->ids_keys;
    sstore_status status = SSTORE_OK;
    *found_out = false;
    if (ids->next_block != UINT64_MAX) {
        status = ids->next_block < keys->keys.count ? open_ids(ids, ids->next_block, error)
                                                    : ss_fail_ids_missing(ids->segment, ids->rank, error);
        ids->next_block = UINT64_MAX;
    }
    if (status == SSTORE_OK && is_passed(ids, id))
        status = seek_block(ids, last_block(ids), id, error);
    if (status != SSTORE_OK)
        return status;
    const uint32_t at = (uint32_t)ss_lower_bound(&ids->block, ids->begin, ids->end - ids->begin, id, id_is_below);
    *found_out = at < ids->end && ss_ids_block_id(&ids->block, at) == id;
    return SSTORE_OK;
}

/* ----- counting ----- */

/* Add up the records of the blocks begin .. end - 1. */
static sstore_status add_block_counts(ss_rank_ids *ids, uint64_t begin, uint64_t end, uint64_t *count,
                                      sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (ids->slot->steps != NULL && begin < end)
        ids->slot->steps->left += end - begin;
    for (uint64_t i = begin; status == SSTORE_OK && i < end; i++) {
        status = open_ids(ids, i, error);
        if (status == SSTORE_OK)
            *count += ids->block.count;
    }
    return status;
}

/* Add up the records of the rank in the blocks first .. last, which all have it, and those of the others in them. */
static sstore_status count_at_ends(ss_rank_ids *ids, uint64_t first, uint64_t last, uint64_t *own, uint64_t *others,
                                   sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint64_t number = first; status == SSTORE_OK; number = last) {
        status = open_ids(ids, number, error);
        if (status == SSTORE_OK) {
            *own += ids->end - ids->begin;
            *others += ids->block.count - (ids->end - ids->begin);
        }
        if (number == last)
            break;
    }
    return status;
}

sstore_status ss_rank_ids_count(ss_rank_ids *ids, const ss_segment *segment, uint64_t rank, ss_block_slot *slot,
                                uint64_t *count_out, sstore_error *error)
{
    const ss_key_index *keys = &segment->ids_keys;
    const uint64_t blocks = keys->keys.count, first = ss_key_index_find(keys, rank);
    if (first == blocks)
        return ss_fail_ids_missing(segment, rank, error);
    const uint64_t last = ss_min_u64(ss_key_index_find(keys, rank + 1), blocks - 1);
    const uint64_t between = last - first > 1 ? last - first - 1 : 0, outside = blocks - (last - first + 1);
    uint64_t own = 0, others = 0;
    ss_rank_ids_begin(ids, segment, rank, first, slot);
    sstore_status status = count_at_ends(ids, first, last, &own, &others, error);
    if (between <= outside) {
        if (status == SSTORE_OK)
            status = add_block_counts(ids, first + 1, last, &own, error);
        *count_out = own;
        return status;
    }
    if (status == SSTORE_OK)
        status = add_block_counts(ids, 0, first, &others, error);
    if (status == SSTORE_OK)
        status = add_block_counts(ids, last + 1, blocks, &others, error);
    *count_out = segment->metadata.record_count - ss_min_u64(others, segment->metadata.record_count);
    return status;
}

sstore_status ss_count_ids(const ss_segment *segment, ss_block_slot *slot, uint32_t *counts, sstore_error *error)
{
    const uint64_t blocks = segment->ids.header.block_count, ranks = segment->metadata.distinct_count;
    ss_rank_ids ids = {.segment = segment, .slot = slot};
    sstore_status status = SSTORE_OK;
    for (uint64_t number = 0; status == SSTORE_OK && number < blocks; number++) {
        status = open_ids(&ids, number, error);
        uint64_t rank = ids.block.first_rank;
        for (uint32_t i = 0; status == SSTORE_OK && i < ids.block.count; i++) {
            rank += ss_ids_block_starts_rank(&ids.block, i);
            if (SS_UNLIKELY(rank >= ranks))
                return ss_block_reader_malformed(&segment->ids, number, SS_OTHER_LAST_RANK, error);
            counts[rank]++;
        }
    }
    return status;
}

/* ===== lookup in a segment ===== */

/* Blocks are read into buffers only in pread mode. */
static uint64_t buffer_bytes(const ss_manifest_segment *metadata, sstore_io io)
{
    return io == SSTORE_IO_PREAD && metadata->distinct_count > 0 ? 2 * (uint64_t)metadata->block_bytes : 0;
}

/* Find a fingerprint of one word through the directory. */
static sstore_status find_word(ss_segment_lookup *lookup, uint64_t fingerprint, sstore_error *error)
{
    const ss_table *table = &lookup->segment->tables[0];
    const uint64_t number = ss_key_index_find(&table->keys, fingerprint);
    lookup->rank = SS_NO_RANK;
    if (number == table->keys.keys.count)
        return SSTORE_OK;
    ss_block_slot_prefetch(&lookup->fingerprints, &table->blocks, number);
    return ss_find_rank(lookup->segment, fingerprint, &lookup->fingerprints, &lookup->rank, error);
}

sstore_status ss_segment_lookup_rank(ss_segment_lookup *lookup, const uint64_t *fingerprint, uint64_t *rank_out,
                                     sstore_error *error)
{
    const uint32_t words = lookup->segment->metadata.words;
    sstore_status status = SSTORE_OK;
    if (!lookup->any || !ss_words_equal(lookup->fingerprint, fingerprint, words)) {
        status = words == 1 ? find_word(lookup, *fingerprint, error)
                            : ss_find_row(lookup->segment, fingerprint, &lookup->fingerprints, &lookup->rank, error);
        lookup->any = status == SSTORE_OK;
        ss_words_copy(lookup->fingerprint, fingerprint, words);
        lookup->has_rank_ids = false;
    }
    *rank_out = lookup->rank;
    return status;
}

void ss_segment_lookup_ids(ss_segment_lookup *lookup, uint64_t rank, ss_rank_ids *ids_out)
{
    lookup->has_rank_ids = false;
    *ids_out = (ss_rank_ids){.segment = NULL};
    const uint64_t first_block = ss_key_index_find(&lookup->segment->ids_keys, rank);
    ss_rank_ids_begin(ids_out, lookup->segment, rank, first_block, &lookup->ids);
}

/* Whether the lookup's rank has an id. Ids ascend, also across blocks: so the search continues where the last one
 * ended, unless that was for a higher id. */
static sstore_status has_id(ss_segment_lookup *lookup, uint64_t id, bool *has_out, sstore_error *error)
{
    ss_rank_ids *ids = &lookup->rank_ids;
    sstore_status status = SSTORE_OK;
    *has_out = false;
    if (!lookup->has_rank_ids || !lookup->more || id < lookup->last_id) {
        ss_segment_lookup_ids(lookup, lookup->rank, ids);
        status = ss_rank_ids_next(ids, &lookup->more, error);
        lookup->has_rank_ids = status == SSTORE_OK;
    }
    lookup->last_id = id;
    while (status == SSTORE_OK && lookup->more) {
        const uint32_t at = (uint32_t)ss_lower_bound(&ids->block, ids->begin, ids->end - ids->begin, id, id_is_below);
        if (at < ids->end) {
            *has_out = ss_ids_block_id(&ids->block, at) == id;
            return SSTORE_OK;
        }
        if (ids->next_block == UINT64_MAX)
            return SSTORE_OK;
        status = ss_rank_ids_next(ids, &lookup->more, error);
        lookup->has_rank_ids = status == SSTORE_OK;
    }
    return status;
}

/* Whether the segment has the record; without ids, the fingerprint. */
static sstore_status has_record(ss_segment_lookup *lookup, const uint64_t *fingerprint, uint64_t id, bool *has_out,
                                sstore_error *error)
{
    uint64_t rank;
    *has_out = false;
    sstore_status status = ss_segment_lookup_rank(lookup, fingerprint, &rank, error);
    if (status != SSTORE_OK || rank == SS_NO_RANK)
        return status;
    if (lookup->has_ids)
        return has_id(lookup, id, has_out, error);
    *has_out = true;
    return SSTORE_OK;
}

/* ===== lookup in a store ===== */

/* Whether a segment can have a record of an older one. */
static bool can_be_newer(const ss_manifest *manifest, uint32_t segment)
{
    return segment > 0 && manifest->segments[segment].record_count > 0;
}

uint64_t ss_membership_bytes(const ss_manifest *manifest, bool newer_only, sstore_io io)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < manifest->segment_count; i++)
        if (!newer_only || can_be_newer(manifest, i))
            bytes += sizeof(ss_segment_lookup) + buffer_bytes(&manifest->segments[i], io);
    return bytes;
}

sstore_status ss_membership_open(ss_membership *membership, const sstore *store, bool newer_only, ss_steps *steps,
                                 sstore_error *error)
{
    const ss_manifest *manifest = &store->manifest;
    const uint32_t count = manifest->segment_count;
    *membership = (ss_membership){.store = store};
    membership->lookups = ss_alloc(count, sizeof *membership->lookups);
    if (membership->lookups == NULL)
        return ss_fail_memory(error, count * sizeof *membership->lookups);
    membership->lookup_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const ss_segment *segment = store->segments[i];
        ss_segment_lookup *lookup = &membership->lookups[i];
        if (newer_only && !can_be_newer(manifest, i))
            continue;
        const uint64_t bytes = buffer_bytes(&segment->metadata, segment->tables[0].blocks.io);
        *lookup = (ss_segment_lookup){.segment = segment, .has_ids = manifest->has_ids, .buffers = ss_alloc(1, bytes)};
        if (lookup->buffers == NULL)
            return ss_fail_memory(error, bytes);
        lookup->fingerprints = (ss_block_slot){.buffer = lookup->buffers, .steps = steps};
        lookup->ids = (ss_block_slot){.buffer = lookup->buffers + bytes / 2, .steps = steps};
    }
    return SSTORE_OK;
}

void ss_membership_close(ss_membership *membership)
{
    for (uint32_t i = 0; i < membership->lookup_count; i++)
        ss_free(membership->lookups[i].buffers);
    ss_free(membership->lookups);
    *membership = (ss_membership){.lookups = NULL};
}

sstore_status ss_membership_has(ss_membership *membership, const uint64_t *fingerprint, uint64_t id, bool *has_out,
                                sstore_error *error)
{
    bool mentioned = false;
    sstore_status status = SSTORE_OK;
    *has_out = false;
    for (uint32_t i = membership->lookup_count; status == SSTORE_OK && !mentioned && i-- > 0;) {
        status = has_record(&membership->lookups[i], fingerprint, id, &mentioned, error);
        *has_out = mentioned && !ss_segment_removes(membership->store->segments[i]);
    }
    return status;
}

sstore_status ss_membership_in_newer(ss_membership *membership, uint32_t segment, const uint64_t *fingerprint,
                                     uint64_t id, bool added, bool *newer_out, sstore_error *error)
{
    const sstore *store = membership->store;
    const uint32_t end = added ? store->manifest.segment_count : store->removal_end;
    sstore_status status = SSTORE_OK;
    *newer_out = false;
    for (uint32_t i = end; status == SSTORE_OK && !*newer_out && i-- > segment + 1;)
        if ((added || ss_segment_removes(store->segments[i])) && membership->lookups[i].segment != NULL)
            status = has_record(&membership->lookups[i], fingerprint, id, newer_out, error);
    return status;
}
