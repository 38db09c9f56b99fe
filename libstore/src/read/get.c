/*
 * get.c - the records of ids, or of names.
 *
 * Ids. If the store has an id index, each segment that adds is asked for the ranks of an id, and for the fingerprint of
 * each rank, as far as no newer segment removes that record. Otherwise all records are read, and the id of each is
 * looked up among the wanted ones.
 *
 * Names. A name leads to ids: each segment that adds is asked for the numbers of names with its hash, and for the name
 * and id of each number; then for the records of the id, as above.
 */
#include "base/error.h"
#include "read/cursor.h"
#include "read/id_set.h"
#include "read/value_range.h"
#include "store/record_iterator.h"

#define STEPS_A_RECORD 4u  /* to read a fingerprint, and ids in a block or two */
#define STEPS_A_SEGMENT 2u /* to check a newer segment for a record: a block of table 0, and one of ids */

/* The slots of the cursor that are used. */
enum { INDEX_SLOT, RANKS_SLOT, FINGERPRINT_SLOT, NAME_INDEX_SLOT, NAME_SLOT };

/* Where records go. */
typedef struct record_sink {
    sstore_cursor *cursor;
    sstore_match_fn on_match;
    void *context;
} record_sink;

static sstore_status report(const record_sink *sink, uint64_t index, const uint64_t *fingerprint, uint64_t id)
{
    const sstore_match match = {.query_index = index, .fingerprint = fingerprint, .id = id};
    return sink->on_match(sink->context, &match) == 0 ? SSTORE_OK : SSTORE_STOPPED;
}

/* ----- an id in id indexes ----- */

/* An id that is looked up. */
typedef struct id_lookup {
    const record_sink *sink;
    uint64_t index, id;
    uint32_t segment;       /* the one that is asked, of all from the newest to the oldest */
    bool any, any_in_newer; /* a record was found: in this segment, or in one before it */
} id_lookup;

/* Report the record of a rank, unless a newer segment has it as well. */
static sstore_status report_rank(id_lookup *self, uint64_t rank, sstore_error *error)
{
    sstore_cursor *cursor = self->sink->cursor;
    const ss_segment *segment = cursor->store->segments[self->segment];
    uint64_t fingerprint[SSTORE_MAX_WORDS];
    bool is_in_newer = false;
    if (rank >= segment->metadata.distinct_count)
        return ss_fail_damaged(error, segment->id_index->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                               "the id index has a rank that the segment does not have");
    cursor->steps.left += STEPS_A_RECORD + STEPS_A_SEGMENT * cursor->newer.lookup_count + cursor->row_hit_steps;
    sstore_status status = ss_fingerprint_at(segment, rank, &cursor->slots.slots[FINGERPRINT_SLOT], fingerprint, error);
    if (status == SSTORE_OK)
        status = ss_membership_in_newer(&cursor->newer, self->segment, fingerprint, self->id, self->any_in_newer,
                                        &is_in_newer, error);
    if (status != SSTORE_OK || is_in_newer)
        return status;
    self->any = true;
    return report(self->sink, self->index, fingerprint, self->id);
}

static sstore_status take_rank(void *context, uint64_t value, sstore_error *error)
{
    return report_rank(context, value & UINT32_MAX, error);
}

/* A packed index has numbers id * 2^32 + rank. */
static sstore_status ask_packed(id_lookup *self, const ss_segment *index, sstore_error *error)
{
    ss_value_range ranks = {.first = self->id << 32,
                            .last = self->id << 32 | UINT32_MAX,
                            .slot = &self->sink->cursor->slots.slots[INDEX_SLOT],
                            .take = take_rank,
                            .context = self};
    return self->id <= UINT32_MAX ? ss_value_range_take(&ranks, index, error) : SSTORE_OK;
}

/* Another index has records (id, rank). */
static sstore_status ask_wide(id_lookup *self, const ss_segment *index, sstore_error *error)
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

/* Report the records that a segment adds of an id. */
static sstore_status ask_segment(id_lookup *self, sstore_error *error)
{
    const ss_segment *id_index = self->sink->cursor->store->segments[self->segment]->id_index;
    return ss_id_index_is_packed(id_index->metadata.kind) ? ask_packed(self, id_index, error)
                                                          : ask_wide(self, id_index, error);
}

/* Look an id up in all segments, the newest first. */
static sstore_status look_up(const record_sink *sink, uint64_t index, uint64_t id, sstore_error *error)
{
    const sstore *store = sink->cursor->store;
    id_lookup lookup = {.sink = sink, .index = index, .id = id};
    sstore_status status = ss_cursor_check_stop(sink->cursor);
    ss_cursor_renew(sink->cursor);
    for (uint32_t i = store->manifest.segment_count; status == SSTORE_OK && i-- > 0;) {
        if (store->segments[i]->id_index == NULL) /* the segment removes */
            continue;
        lookup.segment = i;
        lookup.any_in_newer |= lookup.any;
        status = ask_segment(&lookup, error);
    }
    return status;
}

/* ----- ids without an id index ----- */

/* Report a record as often as its id is wanted. */
static sstore_status report_wanted(const record_sink *sink, const ss_id_set *set, const uint64_t *fingerprint,
                                   uint64_t id)
{
    sstore_status status = SSTORE_OK;
    for (uint64_t place = ss_id_set_find(set, id);
         status == SSTORE_OK && place < set->count && ss_id_set_at(set, place) == id; place++)
        status = report(sink, ss_id_set_index(set, place), fingerprint, id);
    return status;
}

static sstore_status read_all(const record_sink *sink, const ss_id_set *set, sstore_error *error)
{
    ss_merge_iterator records;
    ss_record record;
    bool more = true;
    sstore_status status = ss_merge_iterator_open(&records, sink->cursor->store, error);
    while (status == SSTORE_OK && more) {
        status = ss_merge_iterator_next(&records, &record, &more, error);
        if (status == SSTORE_OK && more)
            status = report_wanted(sink, set, ss_merge_iterator_fingerprint(&records, &record), record.id);
        if (status == SSTORE_OK)
            status = ss_cursor_check_stop(sink->cursor);
    }
    ss_merge_iterator_close(&records);
    return status;
}

/* ----- a name ----- */

/* A name that is looked up. */
typedef struct named_search {
    const sstore_name *name;
    id_lookup records;
} named_search;

/* A name of the segment has the hash that is looked up: if it is the same, report the records of its id. A segment has
 * the name of all ids of its records, so each segment reports its own ones. */
static sstore_status take_number(void *context, uint64_t value, sstore_error *error)
{
    named_search *self = context;
    sstore_cursor *cursor = self->records.sink->cursor;
    const ss_segment *names = cursor->store->segments[self->records.segment]->names;
    const uint32_t bits = ss_names_number_bits(names->metadata.kind);
    const ss_name_room *room = &cursor->name;
    cursor->steps.left += STEPS_A_RECORD;
    sstore_status status = ss_names_get_number(names, value & ((UINT64_C(1) << bits) - 1),
                                               &cursor->slots.slots[NAME_SLOT], &cursor->name, &self->records.id,
                                               error);
    if (status != SSTORE_OK || !ss_name_equal(room->name, room->size, self->name->bytes, self->name->size))
        return status;
    return ask_segment(&self->records, error);
}

/* Look a name up in all segments, the newest first. */
static sstore_status look_up_name(const record_sink *sink, uint64_t index, const sstore_name *name, sstore_error *error)
{
    const sstore *store = sink->cursor->store;
    named_search lookup = {.name = name, .records = {.sink = sink, .index = index}};
    const uint64_t hash = ss_hash64(name->bytes, name->size);
    sstore_status status = ss_cursor_check_stop(sink->cursor);
    ss_cursor_renew(sink->cursor);
    for (uint32_t i = store->manifest.segment_count; status == SSTORE_OK && i-- > 0;) {
        const ss_segment *names = store->segments[i]->names;
        if (names == NULL) /* the segment removes */
            continue;
        const uint32_t bits = ss_names_number_bits(names->metadata.kind);
        const uint64_t first = ss_names_value(hash, bits);
        ss_value_range numbers = {.first = first,
                                  .last = first | ((UINT64_C(1) << bits) - 1),
                                  .slot = &sink->cursor->slots.slots[NAME_INDEX_SLOT],
                                  .take = take_number,
                                  .context = &lookup};
        lookup.records.segment = i;
        lookup.records.any_in_newer |= lookup.records.any;
        status = ss_value_range_take(&numbers, names, error);
    }
    return status;
}

/* ----- the calls ----- */

sstore_status sstore_get(sstore_cursor *cursor, const uint64_t *ids, size_t count, sstore_match_fn on_match,
                         void *context, sstore_error *error)
{
    const record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    ss_id_set set;
    sstore_status status = SSTORE_OK;
    if (cursor == NULL || (ids == NULL && count > 0) || on_match == NULL)
        return ss_fail_argument(error, "sstore_get: cursor, ids and on_match must not be NULL");
    if (!cursor->store->manifest.has_ids)
        return ss_fail_argument(error, "%s: the store has no ids", cursor->store->dir.path);
    if (count > UINT32_MAX)
        return ss_fail_argument(error, "sstore_get: at most 2^32 - 1 ids can be looked up by one call");
    if (count == 0)
        return SSTORE_OK;
    ss_cursor_begin(cursor);
    if (cursor->store->manifest.has_id_index) {
        for (size_t i = 0; status == SSTORE_OK && i < count; i++)
            status = look_up(&sink, i, ids[i], error);
        return status;
    }
    status = ss_id_set_open(&set, ids, count, error);
    if (status == SSTORE_OK)
        status = read_all(&sink, &set, error);
    ss_id_set_close(&set);
    return status;
}

sstore_status sstore_get_named(sstore_cursor *cursor, const sstore_name *names, size_t count, sstore_match_fn on_match,
                               void *context, sstore_error *error)
{
    const record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    sstore_status status = SSTORE_OK;
    if (cursor == NULL || (names == NULL && count > 0) || on_match == NULL)
        return ss_fail_argument(error, "sstore_get_named: cursor, names and on_match must not be NULL");
    if (!cursor->store->manifest.has_names)
        return ss_fail_argument(error, "%s: the store has no names", cursor->store->dir.path);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = ss_check_name(&names[i], i, error);
    if (count > 0)
        ss_cursor_begin(cursor);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = look_up_name(&sink, i, &names[i], error);
    return status;
}
