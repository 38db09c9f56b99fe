/*
 * hit_records.c - from hits to their records: the ranks of up to SS_HIT_BATCH hits, then their ids. The blocks of
 * all are prefetched before the first is read.
 */
#include "read/hit_records.h"

#include "base/error.h"
#include "store/lookup.h"

static ss_hit_slots *slots_of(const ss_record_sink *sink)
{
    return sink->uses_index_slots ? &sink->cursor->index_slots : &sink->cursor->slots;
}

static const uint64_t *words_of(const ss_hit *hit)
{
    return hit->words != NULL ? hit->words : &hit->fingerprint;
}

/* Prefetch a block in one of the slots, of which earlier hits use `*used`. If the last of these has the block, it is
 * shared; if another slot still has a block that is not in memory, that one is used. */
static ss_block_slot *prefetch_block(ss_block_slot *slots, uint32_t *used, const ss_block_reader *reader,
                                     uint64_t number)
{
    if (*used > 0 && ss_block_slot_is(&slots[*used - 1], reader, number))
        return &slots[*used - 1];
    for (uint32_t i = *used + 1; reader->base == NULL && i < SS_HIT_BATCH; i++) {
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
static sstore_status find_ranks(ss_hit_slots *lookup, ss_hit *hits, uint32_t count, sstore_error *error)
{
    ss_block_slot *slots[SS_HIT_BATCH];
    uint32_t used = 0;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < count; i++) {
        const ss_table *table = &hits[i].segment->tables[0];
        if (hits[i].has_rank)
            continue;
        uint64_t number = ss_key_index_find(&table->keys, hits[i].fingerprint);
        if (number == table->keys.keys.count)
            return fail_not_in_table_0(&hits[i], error);
        slots[i] = prefetch_block(lookup->slots, &used, &table->blocks, number);
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

/* ----- records that newer segments decide ----- */

/* Whether a newer segment may have records of a hit: it removes them, or reports them itself. */
static bool may_be_newer(const sstore_cursor *cursor, const ss_hit *hit)
{
    return hit->maybe_in_newer || hit->segment_number < cursor->store->removal_end;
}

static sstore_status is_in_newer(sstore_cursor *cursor, const ss_hit *hit, uint32_t segment, uint64_t id,
                                 bool *newer_out, sstore_error *error)
{
    return ss_membership_in_newer(&cursor->newer, segment, words_of(hit), id, hit->maybe_in_newer, newer_out, error);
}

/* A newer segment that may have records of a hit, and their number there. */
typedef struct newer_segment {
    uint32_t number;
    uint64_t rank, count;
} newer_segment;

/* Find the next newer segment after `number` that has the hit's fingerprint. False: there is none. */
static bool next_newer(sstore_cursor *cursor, const ss_hit *hit, newer_segment *at, sstore_status *status,
                       sstore_error *error)
{
    const sstore *store = cursor->store;
    const uint32_t end = hit->maybe_in_newer ? store->manifest.segment_count : store->removal_end;
    while (*status == SSTORE_OK && ++at->number < end) {
        ss_segment_lookup *lookup = &cursor->newer.lookups[at->number];
        if (lookup->segment == NULL || (!hit->maybe_in_newer && !ss_segment_removes(lookup->segment)))
            continue;
        *status = ss_segment_lookup_rank(lookup, words_of(hit), &at->rank, error);
        if (*status == SSTORE_OK && at->rank != SS_NO_RANK)
            return true;
    }
    return false;
}

/* The steps of the reads that count_covered() makes of a segment's ids of a rank. */
static void allow_ids(sstore_cursor *cursor, const ss_segment *segment, uint64_t rank)
{
    const ss_key_index *keys = &segment->ids_keys;
    const uint64_t blocks = ss_key_index_find(keys, rank + 1) - ss_key_index_find(keys, rank) + 1;
    cursor->steps.left += 2 * (blocks + 2) * (cursor->newer.lookup_count + UINT64_C(1));
}

/* Count the ids of a newer segment that the hit also has, but no segment that is newer still. `own` searches the hit's
 * ids. */
static sstore_status count_common(sstore_cursor *cursor, const ss_hit *hit, const newer_segment *at, ss_rank_ids *own,
                                  uint64_t *count, sstore_error *error)
{
    ss_rank_ids ids;
    bool more;
    ss_segment_lookup_ids(&cursor->newer.lookups[at->number], at->rank, &ids);
    sstore_status status = ss_rank_ids_next(&ids, &more, error);
    while (status == SSTORE_OK && more) {
        for (uint32_t i = ids.begin; status == SSTORE_OK && i < ids.end; i++) {
            uint64_t id;
            bool newer = false, found = false;
            status = ss_rank_ids_take(&ids, i, &id, error);
            if (status == SSTORE_OK)
                status = is_in_newer(cursor, hit, at->number, id, &newer, error);
            if (status == SSTORE_OK && !newer)
                status = ss_rank_ids_seek(own, id, &found, error);
            *count += found;
        }
        if (status == SSTORE_OK)
            status = ss_cursor_check_stop(cursor);
        if (status == SSTORE_OK)
            status = ss_rank_ids_next(&ids, &more, error);
    }
    return status;
}

/* Count the ids of a hit that newer segments also have: each of these is looked up among the hit's own. */
static sstore_status count_covered(sstore_cursor *cursor, const ss_hit *hit, ss_block_slot *slot, uint64_t *count_out,
                                   sstore_error *error)
{
    newer_segment at = {.number = hit->segment_number};
    sstore_status status = SSTORE_OK;
    *count_out = 0;
    while (next_newer(cursor, hit, &at, &status, error)) {
        ss_rank_ids own = {.segment = NULL};
        allow_ids(cursor, hit->segment, hit->rank);
        allow_ids(cursor, cursor->newer.lookups[at.number].segment, at.rank);
        ss_rank_ids_begin(&own, hit->segment, hit->rank, ss_key_index_find(&hit->segment->ids_keys, hit->rank), slot);
        status = count_common(cursor, hit, &at, &own, count_out, error);
    }
    return status;
}

/* Count the records of a hit. The last count of each segment is kept: queries near each other have the same hits. */
static sstore_status count_hit_records(sstore_cursor *cursor, const ss_hit *hit, ss_rank_ids *ids, uint64_t *count_out,
                                       sstore_error *error)
{
    ss_rank_count *last = &cursor->counts[hit->segment_number];
    uint64_t own = last->count, covered = 0;
    sstore_status status = SSTORE_OK;
    if (!last->is_set || last->rank != hit->rank) {
        status = ss_rank_ids_count(ids, hit->segment, hit->rank, ids->slot, &own, error);
        if (status == SSTORE_OK && may_be_newer(cursor, hit))
            status = count_covered(cursor, hit, ids->slot, &covered, error);
        if (status != SSTORE_OK)
            return status;
        own -= ss_min_u64(covered, own);
        *last = (ss_rank_count){.is_set = true, .rank = hit->rank, .count = own};
    }
    *count_out = own;
    return status;
}

/* ----- records ----- */

/* The report of a hit's records. */
typedef struct report {
    const ss_record_sink *sink;
    const ss_hit *hit;
    uint64_t from, last, wanted; /* at most `wanted` of the ids from .. last */
    bool counts_all;             /* the others of these are counted */
    uint64_t reported;
} report;

static sstore_match match_of(const ss_hit *hit, uint64_t id)
{
    return (sstore_match){.query_index = hit->query_index,
                          .fingerprint = words_of(hit),
                          .id = id,
                          .distance = hit->distance};
}

/* Report a record, unless a newer segment decides it. */
static sstore_status report_record(report *self, uint64_t id, sstore_error *error)
{
    const ss_record_sink *sink = self->sink;
    const sstore_match match = match_of(self->hit, id);
    if (SS_UNLIKELY(may_be_newer(sink->cursor, self->hit))) {
        bool is_newer;
        const sstore_status status = is_in_newer(sink->cursor, self->hit, self->hit->segment_number, id, &is_newer,
                                                 error);
        if (status != SSTORE_OK || is_newer)
            return status;
    }
    if (self->reported++ >= self->wanted)
        return SSTORE_OK; /* it is only counted */
    if (sink->selection == NULL)
        return sink->on_match(sink->context, &match) == 0 ? SSTORE_OK : SSTORE_STOPPED;
    if (!ss_selection_add(sink->selection, &match))
        self->wanted = self->reported; /* the ids ascend */
    return SSTORE_OK;
}

static bool is_excluded(const report *self, uint64_t id)
{
    const uint64_t *excluded = self->sink->filter.excluded_ids;
    return SS_UNLIKELY(excluded != NULL) && excluded[self->hit->query_index] == id;
}

/* Report the ids of a hit, which begin in block `number` and may continue in the next ones. *is_complete_out: none from
 * .. last was left out. */
static sstore_status report_ids(report *self, uint64_t number, ss_rank_ids *ids, bool *is_complete_out,
                                sstore_error *error)
{
    bool more = true;
    ss_rank_ids_begin(ids, self->hit->segment, self->hit->rank, number, ids->slot);
    sstore_status status = self->from > 0 ? ss_rank_ids_next_from(ids, self->from, &more, error)
                                          : ss_rank_ids_next(ids, &more, error);
    while (status == SSTORE_OK && more) {
        for (uint32_t i = ids->begin; status == SSTORE_OK && i < ids->end; i++) {
            uint64_t id;
            status = ss_rank_ids_take(ids, i, &id, error);
            *is_complete_out = status == SSTORE_OK && id > self->last;
            if (SS_UNLIKELY(*is_complete_out))
                return SSTORE_OK;
            if (status == SSTORE_OK && id >= self->from && !is_excluded(self, id))
                status = report_record(self, id, error);
            if (SS_UNLIKELY(self->reported >= self->wanted && !self->counts_all))
                return status;
        }
        if (status == SSTORE_OK)
            status = ss_cursor_check_stop(self->sink->cursor);
        if (status == SSTORE_OK)
            status = ss_rank_ids_next(ids, &more, error);
    }
    *is_complete_out = status == SSTORE_OK;
    return status;
}

/* Set which records of a hit are wanted. */
static void choose_records(report *self)
{
    const ss_id_filter *filter = &self->sink->filter;
    ss_selection *selection = self->sink->selection;
    const ss_hit *hit = self->hit;
    self->from = filter->min_id;
    self->last = filter->any ? filter->max_id : UINT64_MAX;
    self->counts_all = filter->any && self->sink->counts != NULL;
    if (selection == NULL) {
        self->wanted = self->sink->on_match == NULL ? 0 : self->sink->limit == 0 ? UINT64_MAX : self->sink->limit;
        return;
    }
    const sstore_match first = match_of(hit, 0);
    self->wanted = ss_selection_may_take(selection, &first) ? selection->capacity : 0;
    if (!ss_selection_follows(selection, &first))
        return;
    if (selection->after->id == UINT64_MAX || !hit->segment->metadata.has_ids)
        self->wanted = 0;
    else
        self->from = ss_max_u64(self->from, selection->after->id + 1);
}

/* Report the wanted records. *is_complete_out: none was left out. */
static sstore_status report_wanted(report *self, ss_rank_ids *ids, bool *is_complete_out, sstore_error *error)
{
    const ss_segment *segment = self->hit->segment;
    *is_complete_out = !segment->metadata.has_ids;
    if (*is_complete_out)
        return report_record(self, 0, error);
    const uint64_t number = ss_key_index_find(&segment->ids_keys, self->hit->rank);
    return number == segment->ids_keys.keys.count ? ss_fail_ids_missing(segment, self->hit->rank, error)
                                                  : report_ids(self, number, ids, is_complete_out, error);
}

/* Report the records of a hit: all ids of its rank, or itself if the store has no ids; as far as no newer segment has
 * them. They are read through the slot. */
static sstore_status report_hit(const ss_record_sink *sink, const ss_hit *hit, ss_block_slot *slot, sstore_error *error)
{
    ss_rank_ids *ids = &slots_of(sink)->ids;
    report self = {.sink = sink, .hit = hit};
    bool is_complete = false;
    sstore_status status = SSTORE_OK;
    ids->slot = slot;
    choose_records(&self);
    if (self.wanted > 0 || self.counts_all || (sink->counts != NULL && !hit->segment->metadata.has_ids))
        status = report_wanted(&self, ids, &is_complete, error);
    if (status != SSTORE_OK || sink->counts == NULL)
        return status;
    if (!is_complete)
        status = count_hit_records(sink->cursor, hit, ids, &self.reported, error);
    __atomic_fetch_add(&sink->counts[hit->query_index], self.reported, __ATOMIC_RELAXED);
    return status;
}

static sstore_status report_all_ids(const ss_record_sink *sink, const ss_hit *hits, uint32_t count, sstore_error *error)
{
    ss_block_slot *slots[SS_HIT_BATCH];
    uint32_t used = 0;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < count; i++) {
        const ss_segment *segment = hits[i].segment;
        uint64_t number = ss_key_index_find(&segment->ids_keys, hits[i].rank);
        if (number == segment->ids_keys.keys.count)
            return ss_fail_ids_missing(segment, hits[i].rank, error);
        slots[i] = prefetch_block(slots_of(sink)->slots, &used, &segment->ids, number);
        const double share = ss_key_index_fraction(&segment->ids_keys, number, hits[i].rank);
        ss_block_reader_prefetch_bytes(&segment->ids, number, (uint32_t)(share * segment->metadata.block_bytes), 1);
    }
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++) {
        /* A hit that shares the slot may have read later blocks into it; then this one prefetches again. */
        ss_block_slot_prefetch(slots[i], &hits[i].segment->ids,
                               ss_key_index_find(&hits[i].segment->ids_keys, hits[i].rank));
        status = report_hit(sink, &hits[i], slots[i], error);
    }
    return status;
}

sstore_status ss_report_records(const ss_record_sink *sink, ss_hit *hits, uint32_t count, sstore_error *error)
{
    const bool has_ids = count > 0 && hits->segment->metadata.has_ids;
    sstore_status status = SSTORE_OK;
    /* Newer segments are searched through their tables 0, so a hit of another table must also be in table 0. */
    if (has_ids || sink->cursor->store->several_add)
        status = find_ranks(slots_of(sink), hits, count, error);
    if (has_ids)
        return status == SSTORE_OK ? report_all_ids(sink, hits, count, error) : status;
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++)
        status = report_hit(sink, &hits[i], NULL, error);
    return status;
}
