/*
 * id_lookup.c - the records of an id, by the id index of a segment. A packed index has numbers id * 2^32 + rank, whose
 * range for the id is read. Another one has records (id, rank), of which those of the id are found by its rank.
 */
#include "read/id_lookup.h"

#include "base/error.h"
#include "read/value_range.h"

#define STEPS_A_RECORD 4u  /* to read a fingerprint, and ids in a block or two */
#define STEPS_A_SEGMENT 2u /* to check a newer segment for a record: a block of table 0, and one of ids */

/* The slots of the cursor that are used. */
enum { INDEX_SLOT, RANKS_SLOT, FINGERPRINT_SLOT };

/* Whether to stop is asked each time after so many records. */
#define CHECKED_RECORDS 1024u

static sstore_status check_stop(ss_record_sink *sink)
{
    return ++sink->taken % CHECKED_RECORDS == 0 ? ss_cursor_check_stop(sink->cursor) : SSTORE_OK;
}

sstore_status ss_record_sink_report(ss_record_sink *sink, uint64_t index, const uint64_t *fingerprint, uint64_t id)
{
    const sstore_status status = check_stop(sink);
    if (status != SSTORE_OK)
        return status;
    const sstore_match match = {.query_index = index, .fingerprint = fingerprint, .id = id};
    return sink->on_match(sink->context, &match) == 0 ? SSTORE_OK : SSTORE_STOPPED;
}

/* Report the record of a rank, unless a newer segment has it as well. */
static sstore_status report_rank(ss_id_lookup *self, uint64_t rank, sstore_error *error)
{
    sstore_cursor *cursor = self->sink->cursor;
    const ss_segment *segment = cursor->store->segments[self->segment];
    uint64_t fingerprint[SSTORE_MAX_WORDS];
    bool is_in_newer = false;
    if (rank >= segment->metadata.distinct_count)
        return ss_fail_damaged(error, segment->id_index->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                               "the id index has a rank that the segment does not have");
    cursor->steps.left += STEPS_A_RECORD + STEPS_A_SEGMENT * cursor->newer.lookup_count + cursor->row_hit_steps;
    sstore_status status = check_stop(self->sink);
    if (status == SSTORE_OK)
        status = ss_fingerprint_at(segment, rank, &cursor->slots.slots[FINGERPRINT_SLOT], fingerprint, error);
    if (status == SSTORE_OK)
        status = ss_membership_in_newer(&cursor->newer, self->segment, fingerprint, self->id, self->any_in_newer,
                                        &is_in_newer, error);
    if (status != SSTORE_OK || is_in_newer)
        return status;
    self->any = true;
    for (size_t i = 0; status == SSTORE_OK && i < self->asked_count; i++)
        status = ss_record_sink_report(self->sink, self->base + self->asked[i].id, fingerprint, self->id);
    return status;
}

static sstore_status take_rank(void *context, uint64_t value, sstore_error *error)
{
    return report_rank(context, value & UINT32_MAX, error);
}

/* A packed index has numbers id * 2^32 + rank. */
static sstore_status ask_packed(ss_id_lookup *self, const ss_segment *index, sstore_error *error)
{
    ss_value_range ranks = {.first = self->id << 32,
                            .last = self->id << 32 | UINT32_MAX,
                            .slot = &self->sink->cursor->slots.slots[INDEX_SLOT],
                            .take = take_rank,
                            .context = self};
    return self->id <= UINT32_MAX ? ss_value_range_take(&ranks, index, error) : SSTORE_OK;
}

/* Another index has records (id, rank). */
static sstore_status ask_wide(ss_id_lookup *self, const ss_segment *index, sstore_error *error)
{
    sstore_cursor *cursor = self->sink->cursor;
    ss_block_slot *slot = &cursor->slots.slots[INDEX_SLOT];
    ss_rank_ids ranks = {.segment = NULL};
    uint64_t place = SS_NO_RANK, rank;
    bool more = false;
    const uint64_t number = ss_key_index_find(&index->tables[0].keys, self->id);
    if (number == index->tables[0].keys.keys.count)
        return SSTORE_OK;
    ss_block_slot_prefetch(slot, &index->tables[0].blocks, number);
    sstore_status status = ss_find_rank(index, self->id, slot, &place, error);
    if (status != SSTORE_OK || place == SS_NO_RANK)
        return status;
    ss_rank_ids_begin(&ranks, index, place, ss_key_index_find(&index->ids_keys, place),
                      &cursor->slots.slots[RANKS_SLOT]);
    status = ss_rank_ids_next(&ranks, &more, error);
    while (status == SSTORE_OK && more) {
        for (uint32_t i = ranks.begin; status == SSTORE_OK && i < ranks.end; i++) {
            status = ss_rank_ids_take(&ranks, i, &rank, error);
            if (status == SSTORE_OK)
                status = report_rank(self, rank, error);
        }
        if (status == SSTORE_OK)
            status = ss_rank_ids_next(&ranks, &more, error);
    }
    return status;
}

sstore_status ss_id_lookup_ask(ss_id_lookup *self, sstore_error *error)
{
    const ss_segment *id_index = self->sink->cursor->store->segments[self->segment]->id_index;
    return ss_id_index_is_packed(id_index->metadata.kind) ? ask_packed(self, id_index, error)
                                                          : ask_wide(self, id_index, error);
}
