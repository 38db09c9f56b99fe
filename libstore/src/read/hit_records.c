/*
 * hit_records.c - from hits to their records: the ranks of up to SS_HITS_TOGETHER hits, then their ids. The blocks of
 * all are prefetched before the first is read.
 */
#include "read/search.h"

#include "base/error.h"
#include "store/lookup.h"

/* Prefetch a block in one of the cursor's slots, of which earlier hits use `*used`. If the last of these has the same
 * block, it is shared; if another slot still has the block, that one is used. */
static ss_block_slot *prefetch_block(sstore_cursor *cursor, uint32_t *used, const ss_block_reader *reader,
                                     uint64_t number)
{
    ss_block_slot *slots = cursor->slots;
    if (*used > 0 && ss_block_slot_is(&slots[*used - 1], reader, number))
        return &slots[*used - 1];
    for (uint32_t i = *used + 1; i < SS_HITS_TOGETHER; i++) {
        if (ss_block_slot_is(&slots[i], reader, number)) {
            const ss_block_slot found = slots[i];
            slots[i] = slots[*used];
            slots[*used] = found;
            break;
        }
    }
    ss_block_slot_prefetch(&slots[*used], reader, number);
    return &slots[(*used)++];
}

static sstore_status fail_not_in_table_0(const ss_hit *hit, sstore_error *error)
{
    return ss_fail_damaged(error, hit->segment->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                           "fingerprint %016llx is in another table, but not in table 0",
                           (unsigned long long)hit->fingerprint);
}

/* Prefetch the group that probably has a fingerprint, as if all were spread evenly. */
static void prefetch_likely(const ss_table *table, uint64_t number, uint64_t fingerprint)
{
    const ss_block_header *header = &table->blocks.header;
    const double share = ss_key_index_fraction(&table->keys, number, fingerprint);
    const double count = (double)header->item_count / (double)header->block_count;
    const uint32_t group = (uint32_t)(share * count) / SS_GROUP_SIZE;
    ss_block_reader_prefetch_bytes(&table->blocks, number, group * SS_GROUP_SIZE * SS_LOWER_BYTES,
                                   SS_GROUP_SIZE * SS_LOWER_BYTES);
}

/* Find the ranks of the hits that were found through other tables than 0. */
static sstore_status find_ranks(sstore_cursor *cursor, ss_hit *hits, uint32_t count, sstore_error *error)
{
    ss_block_slot *slots[SS_HITS_TOGETHER];
    uint32_t used = 0;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < count; i++) {
        const ss_table *table = &hits[i].segment->tables[0];
        if (hits[i].has_rank)
            continue;
        uint64_t number = ss_key_index_find(&table->keys, hits[i].fingerprint);
        if (number == table->keys.keys.count)
            return fail_not_in_table_0(&hits[i], error);
        slots[i] = prefetch_block(cursor, &used, &table->blocks, number);
        prefetch_likely(table, number, hits[i].fingerprint);
    }
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++) {
        ss_hit *hit = &hits[i];
        if (hit->has_rank)
            continue;
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): so the slot was set */
        status = ss_find_rank(hit->segment, hit->fingerprint, slots[i], &hit->rank, error);
        hit->has_rank = status == SSTORE_OK && hit->rank != SS_NO_RANK;
        if (status == SSTORE_OK && !hit->has_rank)
            status = fail_not_in_table_0(hit, error);
    }
    return status;
}

/* Report a record of a hit, unless a newer segment also has it: that one removes it, or reports it itself. */
static sstore_status report_record(const ss_record_sink *sink, const ss_hit *hit, uint64_t id, sstore_error *error)
{
    const sstore_match match = {.query_index = hit->query,
                                .fingerprint = hit->fingerprint,
                                .id = id,
                                .distance = hit->distance,
                                .words = &hit->fingerprint};
    if (SS_UNLIKELY(hit->maybe_in_newer || hit->segment_number < sink->cursor->store->removal_end)) {
        bool is_newer;
        sstore_status status = ss_membership_in_newer(&sink->cursor->newer, hit->segment_number, &hit->fingerprint, id,
                                                      hit->maybe_in_newer, &is_newer, error);
        if (status != SSTORE_OK || is_newer)
            return status;
    }
    return sink->on_match(sink->context, &match) == 0 ? SSTORE_OK : SSTORE_STOPPED;
}

/* Report the ids of a hit, which begin in the slot's block and may continue in the next ones. */
static sstore_status report_ids(const ss_record_sink *sink, const ss_hit *hit, ss_block_slot *slot, sstore_error *error)
{
    ss_rank_ids ids;
    bool more = true;
    ss_rank_ids_init(&ids, hit->segment, hit->rank, slot->number, slot);
    sstore_status status = ss_rank_ids_next(&ids, &more, error);
    while (status == SSTORE_OK && more) {
        for (uint32_t i = ids.begin; status == SSTORE_OK && i < ids.end; i++) {
            uint64_t id;
            status = ss_rank_ids_take(&ids, i, &id, error);
            if (status == SSTORE_OK)
                status = report_record(sink, hit, id, error);
        }
        if (status == SSTORE_OK)
            status = ss_rank_ids_next(&ids, &more, error);
    }
    return status;
}

static sstore_status report_all_ids(const ss_record_sink *sink, const ss_hit *hits, uint32_t count, sstore_error *error)
{
    ss_block_slot *slots[SS_HITS_TOGETHER];
    uint32_t used = 0;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < count; i++) {
        const ss_segment *segment = hits[i].segment;
        uint64_t number = ss_key_index_find(&segment->ids_keys, hits[i].rank);
        if (number == segment->ids_keys.keys.count)
            return ss_fail_ids_missing(segment, hits[i].rank, error);
        slots[i] = prefetch_block(sink->cursor, &used, &segment->ids, number);
        const double share = ss_key_index_fraction(&segment->ids_keys, number, hits[i].rank);
        ss_block_reader_prefetch_bytes(&segment->ids, number, (uint32_t)(share * segment->metadata.block_bytes), 1);
    }
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++) {
        /* A hit that shares the slot may have read later blocks into it; then this one prefetches again. */
        ss_block_slot_prefetch(slots[i], &hits[i].segment->ids,
                               ss_key_index_find(&hits[i].segment->ids_keys, hits[i].rank));
        status = report_ids(sink, &hits[i], slots[i], error);
    }
    return status;
}

sstore_status ss_report_records(sstore_cursor *cursor, ss_hit *hits, uint32_t count, sstore_match_fn on_match,
                                void *context, sstore_error *error)
{
    const ss_record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    const bool has_ids = count > 0 && hits->segment->metadata.has_ids;
    sstore_status status = SSTORE_OK;
    /* Newer segments are searched through their tables 0, so a hit of another table must also be in table 0. */
    if (has_ids || cursor->store->several_add)
        status = find_ranks(cursor, hits, count, error);
    if (has_ids)
        return status == SSTORE_OK ? report_all_ids(&sink, hits, count, error) : status;
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++)
        status = report_record(&sink, &hits[i], 0, error);
    return status;
}
