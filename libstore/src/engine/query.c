#include "engine/query.h"

#include "base/error.h"
#include "file/ids.h"

/* One query on one segment. */
typedef struct search {
    sstore_cursor *cursor;
    const ss_segment *segment;
    const ss_query_plan *plan;
    uint64_t fingerprint;
    uint32_t distance;
    ss_hit_fn on_hit;
    void *context;
    sstore_error *error;
} search;

static sstore_status hit(const search *self, uint64_t fingerprint, bool has_rank, uint64_t rank)
{
    ss_hit found = {.segment = self->segment,
                    .fingerprint = fingerprint,
                    .distance = ss_popcount(fingerprint ^ self->fingerprint),
                    .has_rank = has_rank,
                    .rank = rank};
    return self->on_hit(self->context, &found, self->error);
}

/* ----- probing ----- */

/*
 * A candidate is within the distance. It was found through `table`, and counts only if no earlier table covers its error
 * pattern: so every match is reported once, and nothing has to be remembered.
 */
static sstore_status match(const search *self, uint32_t table, uint64_t permuted, uint64_t block, uint32_t index)
{
    const ss_plan *plan = &self->segment->facts->plan;
    uint64_t fingerprint = ss_unpermute(&self->segment->tables[table].permutation, permuted);
    if (ss_plan_first_cover(plan, self->plan->radii, fingerprint ^ self->fingerprint) != table)
        return SSTORE_OK;
    bool has_rank = table == 0;
    return hit(self, fingerprint, has_rank, has_rank ? ss_array_at(&self->segment->ranks, block) + index : 0);
}

/* Test the fingerprints first .. last (permuted) of one block. */
static sstore_status search_block(const search *self, uint32_t table, uint64_t number, uint64_t first, uint64_t last,
                                  uint64_t query)
{
    const ss_table *in = &self->segment->tables[table];
    ss_block block;
    ss_position position;
    sstore_status status = ss_block_slot_open(&self->cursor->probed, in, number, &block, self->error);
    if (status != SSTORE_OK)
        return status;
    ss_seek found = ss_block_seek(&block, first, &position);
    while (found == SS_SEEK_AT && position.value <= last) {
        if (SS_UNLIKELY(ss_popcount(position.value ^ query) <= self->distance)) {
            status = match(self, table, position.value, number, position.index);
            if (status != SSTORE_OK)
                return status;
        }
        found = ss_block_next(&block, &position);
    }
    if (SS_UNLIKELY(found == SS_SEEK_DAMAGED))
        return ss_block_reader_malformed(&in->blocks, number, "its codes or rests run over", self->error);
    return SSTORE_OK;
}

/* Test all fingerprints that begin with a prefix. They lie in one block, unless the prefix runs over a block's end. */
static sstore_status probe(const search *self, uint32_t table, uint64_t first, uint64_t last, uint64_t query)
{
    const ss_array *keys = &self->segment->tables[table].keys;
    for (uint64_t block = ss_array_lower_bound(keys, first); block < keys->count; block++) {
        sstore_status status = search_block(self, table, block, first, last, query);
        if (status != SSTORE_OK)
            return status;
        if (ss_array_at(keys, block) >= last)
            break;
    }
    return SSTORE_OK;
}

/* The next larger number with as many ones (Gosper, in HAKMEM item 175). */
static uint64_t next_combination(uint64_t x)
{
    uint64_t lowest = x & -x, ripple = x + lowest;
    return ripple | ((x ^ ripple) >> 2) / lowest;
}

/* Probe a table with every prefix within its radius of the query's. */
static sstore_status probe_table(const search *self, uint32_t table)
{
    uint32_t prefix_bits = self->segment->facts->plan.tables[table].prefix_bits;
    uint64_t query = ss_permute(&self->segment->tables[table].permutation, self->fingerprint);
    uint64_t others = ss_low_mask(64 - prefix_bits);
    sstore_status status = SSTORE_OK;
    for (int32_t flips = 0; flips <= self->plan->radii[table]; flips++) {
        uint64_t pattern = ss_low_mask((uint32_t)flips);
        uint64_t last_pattern = pattern << (prefix_bits - (uint32_t)flips) % 64;
        for (;; pattern = next_combination(pattern)) {
            uint64_t prefix = (query & ~others) ^ pattern << (64 - prefix_bits);
            status = probe(self, table, prefix, prefix | others, query);
            if (status != SSTORE_OK)
                return status;
            if (pattern == last_pattern)
                break;
        }
    }
    return status;
}

/* ----- scanning ----- */

static sstore_status scan_block(const search *self, const ss_block *block, uint64_t number)
{
    uint64_t *values = self->cursor->values;
    uint64_t rank = ss_array_at(&self->segment->ranks, number);
    uint32_t count;
    for (uint32_t group = 0; group < block->group_count; group++, rank += count) {
        if (!ss_block_decode_group(block, group, values, &count))
            return ss_block_reader_malformed(&self->segment->tables[0].blocks, number, "its codes or rests run over",
                                             self->error);
        for (uint32_t i = 0; i < count; i++) {
            if (SS_LIKELY(ss_popcount(values[i] ^ self->fingerprint) > self->distance))
                continue;
            sstore_status status = hit(self, values[i], true, rank + i);
            if (status != SSTORE_OK)
                return status;
        }
    }
    return SSTORE_OK;
}

/* Test every fingerprint of table 0. */
static sstore_status scan(const search *self)
{
    const ss_table *table = &self->segment->tables[0];
    for (uint64_t number = 0; number < table->keys.count; number++) {
        ss_block block;
        sstore_status status = ss_block_slot_open(&self->cursor->probed, table, number, &block, self->error);
        if (status == SSTORE_OK)
            status = scan_block(self, &block, number);
        if (status != SSTORE_OK)
            return status;
    }
    return SSTORE_OK;
}

sstore_status ss_query_fingerprints(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, ss_hit_fn on_hit,
                                    void *context, sstore_error *error)
{
    const sstore *store = cursor->store;
    const ss_query_plan *plans = ss_cursor_plans(cursor, distance);
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++) {
        search self = {.cursor = cursor,
                       .segment = &store->segments[i],
                       .plan = &plans[i],
                       .fingerprint = fingerprint,
                       .distance = distance,
                       .on_hit = on_hit,
                       .context = context,
                       .error = error};
        if (plans[i].scan) {
            status = scan(&self);
            continue;
        }
        for (uint32_t table = 0; status == SSTORE_OK && table < self.segment->facts->plan.table_count; table++)
            status = probe_table(&self, table);
    }
    return status;
}

/* ----- from a hit to its records ----- */

/* Find the rank of a fingerprint that was found through another table than 0. */
static sstore_status find_rank(sstore_cursor *cursor, const ss_hit *hit, uint64_t *rank_out, sstore_error *error)
{
    const ss_table *table = &hit->segment->tables[0];
    uint64_t number = ss_array_lower_bound(&table->keys, hit->fingerprint);
    ss_block block;
    ss_position position;
    if (number < table->keys.count) {
        sstore_status status = ss_block_slot_open(&cursor->ranked, table, number, &block, error);
        if (status != SSTORE_OK)
            return status;
        if (ss_block_seek(&block, hit->fingerprint, &position) == SS_SEEK_AT && position.value == hit->fingerprint) {
            *rank_out = ss_array_at(&hit->segment->ranks, number) + position.index;
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

/* Whether a query at that distance would read all of some segment. */
static bool needs_scan(sstore_cursor *cursor, uint32_t distance)
{
    const ss_query_plan *plans = ss_cursor_plans(cursor, distance);
    for (uint32_t i = 0; i < cursor->store->manifest.segment_count; i++)
        if (plans[i].scan)
            return true;
    return false;
}

/* The distance to try after `tried` found nothing: one more, or the largest at once where that takes a scan anyway. */
static uint32_t next_distance(sstore_cursor *cursor, uint32_t tried, uint32_t max_distance)
{
    return needs_scan(cursor, tried + 1) ? max_distance : tried + 1;
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
    for (;; distance = next_distance(cursor, distance, max_distance)) {
        sstore_status status = ss_query_fingerprints(cursor, fingerprint, distance, note_distance, &smallest, error);
        if (status != SSTORE_OK && status != SSTORE_STOPPED)
            return status;
        if (smallest != none)
            return sstore_query(cursor, fingerprint, smallest, on_match, context, error);
        if (distance == max_distance)
            return SSTORE_OK;
    }
}
