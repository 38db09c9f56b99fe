/*
 * get.c - the records of ids. If the store has an id index, each segment that adds is asked for those of an id.
 * Otherwise all records are read, and the id of each is looked up among the wanted ones.
 */
#include "base/error.h"
#include "read/id_lookup.h"
#include "read/id_set.h"
#include "store/record_iterator.h"

/* Look an id up in all segments, the newest first. */
static sstore_status look_up(ss_record_sink *sink, uint64_t index, uint64_t id, sstore_error *error)
{
    const sstore *store = sink->cursor->store;
    const ss_record asked = {.id = index};
    ss_id_lookup lookup = {.sink = sink, .id = id, .asked = &asked, .asked_count = 1};
    sstore_status status = ss_cursor_check_stop(sink->cursor);
    ss_cursor_renew(sink->cursor);
    for (uint32_t i = store->manifest.segment_count; status == SSTORE_OK && i-- > 0;) {
        if (store->segments[i]->id_index == NULL) /* the segment removes */
            continue;
        lookup.segment = i;
        lookup.any_in_newer |= lookup.any;
        status = ss_id_lookup_ask(&lookup, error);
    }
    return status;
}

/* ----- without an id index ----- */

/* Report a record as often as its id is wanted. */
static sstore_status report_wanted(ss_record_sink *sink, const ss_id_set *set, const uint64_t *fingerprint, uint64_t id)
{
    sstore_status status = SSTORE_OK;
    for (uint64_t place = ss_id_set_find(set, id);
         status == SSTORE_OK && place < set->count && ss_id_set_at(set, place) == id; place++)
        status = ss_record_sink_report(sink, ss_id_set_index(set, place), fingerprint, id);
    return status;
}

static sstore_status read_all(ss_record_sink *sink, const ss_id_set *set, sstore_error *error)
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

sstore_status sstore_get(sstore_cursor *cursor, const uint64_t *ids, size_t count, sstore_match_fn on_match,
                         void *context, sstore_error *error)
{
    ss_record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
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
