#include "query/query.h"

#include "base/error.h"
#include "file/ids.h"

sstore_status ss_query_fingerprints(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, ss_hit_fn on_hit,
                                    void *context, sstore_error *error)
{
    const sstore *store = cursor->store;
    const ss_query_plan *plans = ss_cursor_plans(cursor, distance);
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++) {
        ss_search search = {.cursor = cursor,
                            .segment = &store->segments[i],
                            .plan = &plans[i],
                            .fingerprint = fingerprint,
                            .distance = distance,
                            .on_hit = on_hit,
                            .context = context,
                            .error = error};
        status = ss_search_run(&search);
    }
    return status;
}

/* ----- from a hit to its records ----- */

/* The index of a fingerprint in a block, or SS_BLOCK_MAX_COUNT: it is not there, or the block is malformed. */
static uint32_t find_in_block(sstore_cursor *cursor, const ss_block *block, uint64_t fingerprint)
{
    uint32_t group, last, count;
    ss_block_find_groups(block, fingerprint, fingerprint, &group, &last);
    for (; group <= last; group++) {
        if (!ss_block_decode_groups(block, group, 1, cursor->group, &count))
            break;
        for (uint32_t i = 0; i < count; i++)
            if (cursor->group[i] == fingerprint)
                return group * block->restart_interval + i;
    }
    return SS_BLOCK_MAX_COUNT;
}

/* Ask for a block, in one of the cursor's slots. The hits before have taken `*used` of them; if the last one asked for the
 * same block, it is shared, and if another one still holds it from before, it comes next. */
static ss_block_slot *ask_for(sstore_cursor *cursor, uint32_t *used, const ss_block_reader *reader, uint64_t number)
{
    ss_block_slot *slots = cursor->slots;
    if (*used > 0 && ss_block_slot_is(&slots[*used - 1], reader, number))
        return &slots[*used - 1];
    for (uint32_t i = *used + 1; i < SS_HITS_TOGETHER; i++) {
        if (ss_block_slot_is(&slots[i], reader, number)) {
            ss_block_slot held = slots[i];
            slots[i] = slots[*used];
            slots[*used] = held;
            break;
        }
    }
    ss_block_slot_ask(&slots[*used], reader, number);
    return &slots[(*used)++];
}

static sstore_status fail_not_in_table_0(const ss_hit *hit, sstore_error *error)
{
    return ss_fail_damaged(error, hit->segment->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                           "fingerprint %016llx stands in another table, but not in table 0",
                           (unsigned long long)hit->fingerprint);
}

static sstore_status find_rank(sstore_cursor *cursor, ss_hit *hit, ss_block_slot *slot, sstore_error *error)
{
    const ss_table *table = &hit->segment->tables[0];
    ss_block block;
    const char *reason;
    sstore_status status = ss_block_slot_wait(slot, error);
    if (status != SSTORE_OK)
        return status;
    if (!ss_block_open(&block, slot->bytes, ss_table_geometry(table), &table->code, &reason))
        return ss_block_reader_malformed(&table->blocks, slot->number, reason, error);
    uint32_t index = find_in_block(cursor, &block, hit->fingerprint);
    if (index == SS_BLOCK_MAX_COUNT)
        return fail_not_in_table_0(hit, error);
    hit->rank = ss_array_at(&hit->segment->ranks, slot->number) + index;
    hit->has_rank = true;
    return SSTORE_OK;
}

/* Find the ranks of those that were found through other tables than 0. */
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
        slots[i] = ask_for(cursor, &used, &table->blocks, number);
    }
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++)
        if (!hits[i].has_rank)
            status = find_rank(cursor, &hits[i], slots[i], error);
    return status;
}

/* Report the ids of a rank, which begin in the slot's block and may go on in the next ones. */
static sstore_status report_ids(const ss_hit *hit, ss_block_slot *slot, sstore_match_fn on_match, void *context,
                                sstore_error *error)
{
    const ss_block_reader *ids = &hit->segment->ids;
    sstore_match match = {.query_index = hit->query, .fingerprint = hit->fingerprint, .distance = hit->distance};
    for (uint64_t number = slot->number; number < ids->header.block_count; number++) {
        ss_ids_block block;
        uint32_t begin, end;
        const char *reason = "it does not hold the rank that the directory says";
        ss_block_slot_ask(slot, ids, number);
        sstore_status status = ss_block_slot_wait(slot, error);
        if (status != SSTORE_OK)
            return status;
        if (!ss_ids_block_open(&block, slot->bytes, ids->header.block_bytes, &reason))
            return ss_block_reader_malformed(ids, number, reason, error);
        ss_ids_block_find(&block, hit->rank, &begin, &end);
        if (begin == end)
            return ss_block_reader_malformed(ids, number, reason, error);
        for (uint32_t i = begin; i < end; i++) {
            match.id = ss_ids_block_id(&block, i);
            if (on_match(context, &match) != 0)
                return SSTORE_STOPPED;
        }
        if (end < block.count || !block.goes_on)
            return SSTORE_OK;
    }
    return ss_fail_damaged(error, ids->file.path, SSTORE_NO_OFFSET, "the ids of rank %llu are missing",
                           (unsigned long long)hit->rank);
}

static sstore_status report_all_ids(sstore_cursor *cursor, const ss_hit *hits, uint32_t count, sstore_match_fn on_match,
                                    void *context, sstore_error *error)
{
    ss_block_slot *slots[SS_HITS_TOGETHER];
    uint32_t used = 0;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < count; i++) {
        const ss_segment *segment = hits[i].segment;
        uint64_t number = ss_key_index_find(&segment->ids_keys, hits[i].rank);
        if (number == segment->ids_keys.keys.count)
            return ss_fail_damaged(error, segment->ids.file.path, SSTORE_NO_OFFSET, "the ids of rank %llu are missing",
                                   (unsigned long long)hits[i].rank);
        slots[i] = ask_for(cursor, &used, &segment->ids, number);
    }
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++) {
        /* A hit that shares the slot may have gone on to later blocks in it; then this one asks again. */
        ss_block_slot_ask(slots[i], &hits[i].segment->ids, ss_key_index_find(&hits[i].segment->ids_keys, hits[i].rank));
        status = report_ids(&hits[i], slots[i], on_match, context, error);
    }
    return status;
}

sstore_status ss_report_records(sstore_cursor *cursor, ss_hit *hits, uint32_t count, sstore_match_fn on_match,
                                void *context, sstore_error *error)
{
    if (cursor->store->manifest.has_ids) {
        sstore_status status = find_ranks(cursor, hits, count, error);
        return status == SSTORE_OK ? report_all_ids(cursor, hits, count, on_match, context, error) : status;
    }
    for (uint32_t i = 0; i < count; i++) {
        sstore_match match = {.query_index = hits[i].query,
                              .fingerprint = hits[i].fingerprint,
                              .distance = hits[i].distance};
        if (on_match(context, &match) != 0)
            return SSTORE_STOPPED;
    }
    return SSTORE_OK;
}

/* ----- the public functions ----- */

uint32_t sstore_hamming_distance(uint64_t a, uint64_t b)
{
    return ss_popcount(a ^ b);
}

/* Where the records of hits go. */
typedef struct record_sink {
    sstore_cursor *cursor;
    sstore_match_fn on_match;
    void *context;
} record_sink;

static sstore_status report_found(const record_sink *sink, sstore_error *error)
{
    sstore_cursor *cursor = sink->cursor;
    uint32_t count = cursor->found_count;
    cursor->found_count = 0;
    return ss_report_records(cursor, cursor->found, count, sink->on_match, sink->context, error);
}

static sstore_status keep_hit(void *context, const ss_hit *hit, sstore_error *error)
{
    const record_sink *sink = context;
    sink->cursor->found[sink->cursor->found_count++] = *hit;
    return sink->cursor->found_count == SS_HITS_TOGETHER ? report_found(sink, error) : SSTORE_OK;
}

sstore_status sstore_query(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, sstore_match_fn on_match,
                           void *context, sstore_error *error)
{
    if (cursor == NULL || on_match == NULL || distance > SSTORE_MAX_DISTANCE)
        return ss_fail_argument(error, "sstore_query: cursor and on_match must not be NULL, nor the distance above 64");
    record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    cursor->found_count = 0;
    sstore_status status = ss_query_fingerprints(cursor, fingerprint, distance, keep_hit, &sink, error);
    return status == SSTORE_OK && cursor->found_count > 0 ? report_found(&sink, error) : status;
}

static sstore_status note_distance(void *context, const ss_hit *hit, sstore_error *error)
{
    uint32_t *smallest = context;
    (void)error;
    if (hit->distance < *smallest)
        *smallest = hit->distance;
    return *smallest == 0 ? SSTORE_STOPPED : SSTORE_OK;
}

/* The distance to try after `tried` found nothing: one more, as long as all that was spent on trying stays below what a scan
 * costs, which finds the nearest at whatever distance; then the largest. */
static uint32_t next_distance(sstore_cursor *cursor, uint32_t tried, uint32_t max_distance, double *spent)
{
    const ss_query_plan *plans = ss_cursor_plans(cursor, tried + 1);
    double scan_cost = 0;
    for (uint32_t i = 0; i < cursor->store->manifest.segment_count; i++) {
        *spent += plans[i].scan ? plans[i].scan_cost : plans[i].probe_cost;
        scan_cost += plans[i].scan_cost;
    }
    return *spent >= scan_cost ? max_distance : tried + 1;
}

sstore_status sstore_query_nearest(sstore_cursor *cursor, uint64_t fingerprint, uint32_t max_distance,
                                   sstore_match_fn on_match, void *context, sstore_error *error)
{
    const uint32_t none = UINT32_MAX;
    uint32_t smallest = none;
    if (cursor == NULL || on_match == NULL || max_distance > SSTORE_MAX_DISTANCE)
        return ss_fail_argument(
            error, "sstore_query_nearest: cursor and on_match must not be NULL, nor the distance above 64");
    uint32_t distance = (uint32_t)ss_min_u64(max_distance, cursor->store->manifest.distance);
    double spent = 0; /* estimated nanoseconds */
    for (;; distance = next_distance(cursor, distance, max_distance, &spent)) {
        sstore_status status = ss_query_fingerprints(cursor, fingerprint, distance, note_distance, &smallest, error);
        if (status != SSTORE_OK && status != SSTORE_STOPPED)
            return status;
        if (smallest != none)
            return sstore_query(cursor, fingerprint, smallest, on_match, context, error);
        if (distance == max_distance)
            return SSTORE_OK;
    }
}
