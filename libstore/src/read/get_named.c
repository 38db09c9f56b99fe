/*
 * get_named.c - the records of names. A name leads to ids: each segment that adds is asked for the numbers of names
 * with its hash, for the name and id of each number, and for the records of the ids.
 */
#include "base/error.h"
#include "read/id_lookup.h"
#include "read/name_set.h"
#include "read/value_range.h"

#define STEPS_A_NAME 4u    /* a block of names, and what decodes a long one */
#define CHECKED_EVERY 256u /* names with a wanted hash, until it is asked whether to stop */

/* The slots of the cursor that are used, beside those of id_lookup.h. */
enum { NAME_INDEX_SLOT = SS_ID_LOOKUP_SLOTS, NAME_SLOT };

/* A group of names that is looked up in a segment. */
typedef struct named_search {
    ss_name_set *set;
    size_t base;          /* the index of the set's first name in the call */
    size_t begin, end;    /* the group */
    ss_id_lookup lookup;  /* of the last name that was found */
    uint32_t number_bits; /* of the segment */
    uint32_t read_count;  /* names with a wanted hash */
} named_search;

/* The segment has a wanted name, at these places: report the records of its id, which is in `lookup`, for all of them
 * together. */
static sstore_status take_places(named_search *self, size_t begin, size_t end, sstore_error *error)
{
    const ss_record *asked = self->set->order + begin;
    const uint32_t mark = self->lookup.segment + 1; /* the segments are asked from the newest on */
    uint32_t *newest = &self->set->newest[asked->id];
    self->lookup.asked = asked;
    self->lookup.asked_count = end - begin;
    self->lookup.base = self->base;
    self->lookup.any = false;
    self->lookup.any_in_newer = *newest > mark;
    const sstore_status status = ss_id_lookup_ask(&self->lookup, error);
    if (self->lookup.any && *newest == 0)
        *newest = mark;
    return status;
}

/* A name of the segment has a wanted hash: if it is wanted, report the records of its id. A segment has the names of
 * all ids of its records, so each segment reports its own ones. */
static sstore_status take_number(void *context, uint64_t value, sstore_error *error)
{
    named_search *self = context;
    sstore_cursor *cursor = self->lookup.sink->cursor;
    const ss_segment *names = cursor->store->segments[self->lookup.segment]->names;
    const uint64_t number = value & ((UINT64_C(1) << self->number_bits) - 1);
    cursor->steps.left += STEPS_A_NAME;
    sstore_status status = ++self->read_count % CHECKED_EVERY == 0 ? ss_cursor_check_stop(cursor) : SSTORE_OK;
    if (status == SSTORE_OK)
        status = ss_names_get_number(names, number, &cursor->slots.slots[NAME_SLOT], &cursor->name, &self->lookup.id,
                                     error);
    if (status != SSTORE_OK)
        return status;
    const sstore_name name = {.bytes = (const char *)cursor->name.name, .size = cursor->name.size};
    size_t end;
    const size_t begin = ss_name_set_find(self->set, self->begin, self->end, &name, &end);
    if (begin < end)
        status = take_places(self, begin, end, error);
    return status;
}

/* Look a group up in a segment. */
static sstore_status ask_segment(named_search *self, const ss_segment *names, sstore_error *error)
{
    const ss_record *order = self->set->order;
    const uint32_t bits = ss_names_number_bits(names->metadata.kind);
    const uint64_t first = order[self->begin].fingerprint, last = order[self->end - 1].fingerprint;
    ss_value_range numbers = {.first = ss_names_value(first, bits),
                              .last = ss_names_value(last, bits) | ((UINT64_C(1) << bits) - 1),
                              .slot = &self->lookup.sink->cursor->slots.slots[NAME_INDEX_SLOT],
                              .take = take_number,
                              .context = self};
    self->number_bits = bits;
    return ss_value_range_take(&numbers, names, error);
}

/* Look a group up in all segments, the newest first. */
static sstore_status look_up_group(named_search *self, sstore_error *error)
{
    sstore_cursor *cursor = self->lookup.sink->cursor;
    const sstore *store = cursor->store;
    sstore_status status = ss_cursor_check_stop(cursor);
    ss_cursor_renew(cursor);
    for (uint32_t i = store->manifest.segment_count; status == SSTORE_OK && i-- > 0;) {
        if (store->segments[i]->names == NULL) /* the segment removes */
            continue;
        self->lookup.segment = i;
        status = ask_segment(self, store->segments[i]->names, error);
    }
    return status;
}

/* Look up the names of a set. */
static sstore_status look_up_set(named_search *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (self->begin = 0; status == SSTORE_OK && self->begin < self->set->count; self->begin = self->end) {
        self->end = ss_name_set_group_end(self->set, self->begin);
        status = look_up_group(self, error);
    }
    return status;
}

sstore_status sstore_get_named(sstore_cursor *cursor, const sstore_name *names, size_t count, sstore_match_fn on_match,
                               void *context, sstore_error *error)
{
    ss_record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    ss_name_set set;
    named_search search = {.set = &set, .lookup = {.sink = &sink}};
    if (cursor == NULL || (names == NULL && count > 0) || on_match == NULL)
        return ss_fail_argument(error, "sstore_get_named: cursor, names and on_match must not be NULL");
    sstore_status status = ss_check_names(cursor->store->manifest.has_names, cursor->store->dir.path, names, count,
                                          error);
    if (status != SSTORE_OK || count == 0)
        return status;
    ss_cursor_begin(cursor);
    status = ss_name_set_open(&set, count, error);
    for (size_t size; status == SSTORE_OK && search.base < count; search.base += size) {
        size = (size_t)ss_min_u64(count - search.base, SS_NAME_SET_MAX);
        ss_name_set_fill(&set, names + search.base, size);
        status = look_up_set(&search, error);
    }
    ss_name_set_close(&set);
    return status;
}
