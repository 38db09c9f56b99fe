#include "engine/query.h"

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

/* Find the rank of a fingerprint that was found through another table than 0. */
static sstore_status find_rank(sstore_cursor *cursor, const ss_hit *hit, uint64_t *rank_out, sstore_error *error)
{
    const ss_table *table = &hit->segment->tables[0];
    uint64_t number = ss_key_index_find(&table->keys, hit->fingerprint);
    ss_block block;
    const char *reason;
    if (number < table->blocks.header.block_count) {
        sstore_status status = ss_block_slot_load(&cursor->ranked, &table->blocks, number, error);
        if (status != SSTORE_OK)
            return status;
        if (!ss_block_open(&block, cursor->ranked.bytes, ss_table_geometry(table), &table->code, &reason))
            return ss_block_reader_malformed(&table->blocks, number, reason, error);
        uint32_t index = find_in_block(cursor, &block, hit->fingerprint);
        if (index < SS_BLOCK_MAX_COUNT) {
            *rank_out = ss_array_at(&hit->segment->ranks, number) + index;
            return SSTORE_OK;
        }
    }
    return ss_fail_damaged(error, table->blocks.file.path, SSTORE_NO_OFFSET,
                           "fingerprint %016llx stands in another table, but not in table 0",
                           (unsigned long long)hit->fingerprint);
}

/* Report the ids of a rank: they begin in the first block whose last rank is not below it. */
static sstore_status report_ids(sstore_cursor *cursor, const ss_segment *segment, uint64_t rank, sstore_match *match,
                                sstore_match_fn on_match, void *context, sstore_error *error)
{
    const ss_block_reader *ids = &segment->ids;
    uint64_t number = ss_array_lower_bound(&segment->ids_keys, rank);
    bool goes_on = true;
    for (; goes_on && number < segment->ids_keys.count; number++) {
        ss_ids_block block;
        uint32_t begin, end;
        const char *reason = "it does not hold the rank that the directory says";
        sstore_status status = ss_block_slot_load(&cursor->identified, ids, number, error);
        if (status != SSTORE_OK)
            return status;
        if (!ss_ids_block_open(&block, cursor->identified.bytes, ids->header.block_bytes, &reason))
            return ss_block_reader_malformed(ids, number, reason, error);
        ss_ids_block_find(&block, rank, &begin, &end);
        if (begin == end)
            return ss_block_reader_malformed(ids, number, reason, error);
        for (uint32_t i = begin; i < end; i++) {
            match->id = ss_ids_block_id(&block, i);
            if (on_match(context, match) != 0)
                return SSTORE_STOPPED;
        }
        goes_on = end == block.count && block.goes_on;
    }
    if (goes_on)
        return ss_fail_damaged(error, ids->file.path, SSTORE_NO_OFFSET, "the ids of rank %llu are missing",
                               (unsigned long long)rank);
    return SSTORE_OK;
}

sstore_status ss_report_records(sstore_cursor *cursor, const ss_hit *hit, uint64_t query_index,
                                sstore_match_fn on_match, void *context, sstore_error *error)
{
    sstore_match match = {.query_index = query_index, .fingerprint = hit->fingerprint, .distance = hit->distance};
    uint64_t rank = hit->rank;
    if (!cursor->store->manifest.has_ids)
        return on_match(context, &match) == 0 ? SSTORE_OK : SSTORE_STOPPED;
    sstore_status status = hit->has_rank ? SSTORE_OK : find_rank(cursor, hit, &rank, error);
    if (status != SSTORE_OK)
        return status;
    return report_ids(cursor, hit->segment, rank, &match, on_match, context, error);
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

static sstore_status report_hit(void *context, const ss_hit *hit, sstore_error *error)
{
    const record_sink *sink = context;
    return ss_report_records(sink->cursor, hit, 0, sink->on_match, sink->context, error);
}

sstore_status sstore_query(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, sstore_match_fn on_match,
                           void *context, sstore_error *error)
{
    if (cursor == NULL || on_match == NULL || distance > SSTORE_MAX_DISTANCE)
        return ss_fail_argument(error, "sstore_query: cursor and on_match must not be NULL, nor the distance above 64");
    record_sink sink = {.cursor = cursor, .on_match = on_match, .context = context};
    return ss_query_fingerprints(cursor, fingerprint, distance, report_hit, &sink, error);
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
        return ss_fail_argument(error,
                                "sstore_query_nearest: cursor and on_match must not be NULL, nor the distance above 64");
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
