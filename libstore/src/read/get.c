/*
 * get.c - the records of ids, or of names. A name leads to ids: each segment that adds is asked for the numbers of
 * names with its hash, and for the name and id of each number.
 *
 * Ids. If the store has an id index, each segment that adds is asked for the ranks of an id, and
 * for the fingerprint of each rank; as far as no newer segment removes that record. Otherwise all records are read, and
 * each of their ids is looked up among the wanted ones.
 */
#include "base/error.h"
#include "base/memory.h"
#include "read/cursor.h"
#include "sort/radix.h"
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

/* ----- with an id index ----- */

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

/* A range of the values of a packed index, which are looked up through a slot. */
typedef struct value_range {
    uint64_t first, last;
    ss_block_slot *slot;
    bool has_found;
    uint64_t found; /* the last one */
    sstore_status (*take)(void *context, uint64_t value, sstore_error *error);
    void *context;
} value_range;

/* Take the values of the range that a block has; *more_out: the next block may have some. */
static sstore_status take_of_block(value_range *self, const ss_checked_blocks *checked, uint64_t number, bool *more_out,
                                   sstore_error *error)
{
    const uint64_t first = self->first, last = self->last;
    ss_block_slot *slot = self->slot;
    uint64_t values[SS_GROUP_SIZE];
    uint32_t group = 0, last_group = 0;
    ss_block block;
    ss_block_slot_prefetch(slot, checked->reader, number);
    sstore_status status = ss_block_slot_wait(slot, error);
    if (status == SSTORE_OK)
        status = ss_checked_block_open(checked, number, slot->bytes, &block, error);
    if (status != SSTORE_OK)
        return status;
    ss_block_find_groups(&block, ss_upper(first), ss_upper(last), &group, &last_group);
    for (; status == SSTORE_OK && group <= last_group; group++) {
        const uint32_t count = ss_block_group_size(&block, group);
        status = ss_checked_block_decode_group(checked, number, &block, group, count, values, error);
        for (uint32_t i = 0; status == SSTORE_OK && i < count && values[i] <= last; i++) {
            if (values[i] < first)
                continue;
            if (self->has_found && values[i] <= self->found)
                return ss_block_reader_malformed(checked->reader, number, SS_BELOW_BLOCK_BEFORE, error);
            self->has_found = true;
            self->found = values[i];
            status = self->take(self->context, values[i], error);
        }
    }
    *more_out = ss_array_at(checked->keys, number) <= last;
    return status;
}

/* Take all values of the range. */
static sstore_status take_range(value_range *self, const ss_segment *index, sstore_error *error)
{
    const ss_table *table = &index->tables[0];
    sstore_status status = SSTORE_OK;
    bool more = true;
    for (uint64_t number = ss_key_index_find(&table->keys, self->first);
         status == SSTORE_OK && more && number < table->keys.keys.count; number++)
        status = take_of_block(self, &table->checked, number, &more, error);
    return status;
}

static sstore_status take_rank(void *context, uint64_t value, sstore_error *error)
{
    return report_rank(context, value & UINT32_MAX, error);
}

/* A packed index has numbers id * 2^32 + rank. */
static sstore_status ask_packed(id_lookup *self, const ss_segment *index, sstore_error *error)
{
    value_range ranks = {.first = self->id << 32,
                         .last = self->id << 32 | UINT32_MAX,
                         .slot = &self->sink->cursor->slots.slots[INDEX_SLOT],
                         .take = take_rank,
                         .context = self};
    return self->id <= UINT32_MAX ? take_range(&ranks, index, error) : SSTORE_OK;
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

/* ----- names ----- */

/* A name that is looked up. */
typedef struct name_lookup {
    const sstore_name *name;
    id_lookup records;
} name_lookup;

/* A name of the segment has the hash that is looked up: if it is the same, report the records of its id. A segment has
 * the name of all ids of its records, so each segment reports its own ones. */
static sstore_status take_number(void *context, uint64_t value, sstore_error *error)
{
    name_lookup *self = context;
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
    name_lookup lookup = {.name = name, .records = {.sink = sink, .index = index}};
    const uint64_t hash = ss_hash64(name->bytes, name->size);
    sstore_status status = ss_cursor_check_stop(sink->cursor);
    ss_cursor_renew(sink->cursor);
    for (uint32_t i = store->manifest.segment_count; status == SSTORE_OK && i-- > 0;) {
        const ss_segment *names = store->segments[i]->names;
        if (names == NULL) /* the segment removes */
            continue;
        const uint32_t bits = ss_names_number_bits(names->metadata.kind);
        const uint64_t first = ss_names_value(hash, bits);
        value_range numbers = {.first = first,
                               .last = first | ((UINT64_C(1) << bits) - 1),
                               .slot = &sink->cursor->slots.slots[NAME_INDEX_SLOT],
                               .take = take_number,
                               .context = &lookup};
        lookup.records.segment = i;
        lookup.records.any_in_newer |= lookup.records.any;
        status = take_range(&numbers, names, error);
    }
    return status;
}

/* ----- without ----- */

#define IDS_A_BUCKET 4u

/* The wanted ids in ascending order, and for each value of their leading bits where its ids begin. */
typedef struct id_set {
    const uint64_t *ids;
    size_t count;
    ss_record *order; /* (id, index in `ids`), ascending; NULL if the ids ascend */
    uint32_t shift;
    uint32_t *begins;
} id_set;

SS_ALWAYS_INLINE uint64_t id_at(const id_set *set, uint64_t place)
{
    return set->order != NULL ? set->order[place].fingerprint : set->ids[place];
}

SS_ALWAYS_INLINE bool id_is_below(const void *set, uint64_t place, uint64_t target)
{
    return id_at(set, place) < target;
}

static sstore_status order_ids(id_set *set, sstore_error *error)
{
    bool ascend = true;
    for (size_t i = 1; i < set->count; i++)
        ascend &= set->ids[i - 1] < set->ids[i];
    if (ascend)
        return SSTORE_OK;
    ss_record *scratch = ss_alloc(set->count, sizeof *scratch);
    set->order = ss_alloc(set->count, sizeof *set->order);
    if (scratch == NULL || set->order == NULL) {
        ss_free(scratch);
        return ss_fail_memory(error, 2 * set->count * sizeof *scratch);
    }
    for (size_t i = 0; i < set->count; i++)
        set->order[i] = (ss_record){.fingerprint = set->ids[i], .id = i};
    ss_sort_records(set->order, scratch, set->count);
    ss_free(scratch);
    return SSTORE_OK;
}

static sstore_status open_id_set(id_set *set, sstore_error *error)
{
    sstore_status status = order_ids(set, error);
    if (status != SSTORE_OK)
        return status;
    const uint64_t last = id_at(set, set->count - 1);
    const uint32_t used_bits = last == 0 ? 1 : 64 - (uint32_t)__builtin_clzll(last);
    set->shift = used_bits - ss_bits_for(set->count / IDS_A_BUCKET, 1, used_bits);
    const size_t buckets = (size_t)(last >> set->shift) + 1;
    set->begins = ss_alloc(buckets + 1, sizeof *set->begins);
    if (set->begins == NULL)
        return ss_fail_memory(error, (buckets + 1) * sizeof *set->begins);
    size_t bucket = 0;
    for (size_t i = 0; i < set->count; i++)
        for (; bucket <= id_at(set, i) >> set->shift; bucket++)
            set->begins[bucket] = (uint32_t)i;
    for (; bucket <= buckets; bucket++)
        set->begins[bucket] = (uint32_t)set->count;
    return SSTORE_OK;
}

static void close_id_set(id_set *set)
{
    ss_free(set->order);
    ss_free(set->begins);
}

/* Report a record as often as its id is wanted. */
static sstore_status report_wanted(const record_sink *sink, const id_set *set, const uint64_t *fingerprint, uint64_t id)
{
    sstore_status status = SSTORE_OK;
    if (id > id_at(set, set->count - 1))
        return SSTORE_OK;
    const uint32_t *begin = &set->begins[id >> set->shift];
    uint64_t place = ss_lower_bound(set, begin[0], begin[1] - begin[0], id, id_is_below);
    for (; status == SSTORE_OK && place < set->count && id_at(set, place) == id; place++)
        status = report(sink, set->order != NULL ? set->order[place].id : place, fingerprint, id);
    return status;
}

static sstore_status read_all(const record_sink *sink, id_set *set, sstore_error *error)
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

/* ----- the calls ----- */

sstore_status sstore_get(sstore_cursor *cursor, const uint64_t *ids, size_t count, sstore_match_fn on_match,
                         void *context, sstore_error *error)
{
    const record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    id_set set = {.ids = ids, .count = count};
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
    status = open_id_set(&set, error);
    if (status == SSTORE_OK)
        status = read_all(&sink, &set, error);
    close_id_set(&set);
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
