/*
 * search.c - see search.h. The stages are below in reverse order: making probes, finding their blocks, finding groups
 * in blocks, testing fingerprints. The cursor has the items between two stages.
 */
#include "read/search.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define CACHE_LINE 64u
#define MAX_BYTES_AHEAD 1024u /* of a range's lower halves; the processor itself fetches what follows them */
#define STEPS_A_HIT 3u        /* to look up a hit's rank, and its ids in a block or two */
#define STEPS_A_SEGMENT 2u    /* to check a newer segment for it: a block of table 0, and one of ids */

/* The counts of a table; NULL: the work is not counted. */
static ss_search_counts *counts_of(const ss_search *self, uint32_t table)
{
    return SS_UNLIKELY(self->counts != NULL) ? &self->counts[table] : NULL;
}

/* The distance, which a full scan may lower. */
static uint32_t distance_of(const ss_search *self)
{
    return self->limit != NULL ? *self->limit : self->distance;
}

static const ss_table *table_of(const ss_search *self, const ss_open_block *open)
{
    return &self->segment->tables[open->table];
}

/* ----- the fourth stage: testing fingerprints ----- */

/* Whether a fingerprint within the distance is above the one found before in the table, since blocks, groups and
 * fingerprints are tested in their order. A repeated fingerprint would be reported, with all its ids, as often as it
 * occurs. */
static bool follows_last(const ss_search *self, uint32_t table, uint64_t permuted)
{
    sstore_cursor *cursor = self->cursor;
    const bool follows = table != cursor->last_table || permuted > cursor->last_found;
    cursor->last_table = table;
    cursor->last_found = permuted;
    return follows;
}

/*
 * Report a fingerprint within the distance, number `index` of its block, if its table covers its error pattern and no
 * table before it does. So every match is reported once without remembering matches: a table that covers the pattern is
 * probed for the fingerprint's prefix.
 */
static sstore_status report_hit(const ss_search *self, const ss_open_block *open, uint64_t permuted, uint32_t index)
{
    sstore_cursor *cursor = self->cursor;
    const uint32_t table = open->table;
    const uint64_t fingerprint = ss_unpermute(&table_of(self, open)->permutation, permuted);
    const uint64_t pattern = fingerprint ^ self->fingerprint;
    if (SS_UNLIKELY(!follows_last(self, table, permuted)))
        return ss_block_reader_malformed(&table_of(self, open)->blocks, open->slot.number,
                                         "its fingerprints do not ascend", self->error);
    if (!cursor->is_full_scan &&
        ss_plan_first_cover(&self->segment->metadata.plan, self->plan->radii, pattern) != table)
        return SSTORE_OK;
    ss_search_counts *counts = counts_of(self, table);
    if (counts != NULL)
        counts->found++;
    cursor->steps.left += STEPS_A_HIT + STEPS_A_SEGMENT * cursor->newer.lookup_count;
    const ss_hit found = {.segment = self->segment,
                          .segment_number = self->segment_number,
                          .fingerprint = fingerprint,
                          .distance = ss_popcount(pattern),
                          .has_rank = table == 0,
                          .rank = table == 0 ? ss_array_at(&self->segment->ranks, open->slot.number) + index : 0};
    return self->on_hit(self->context, &found, self->error);
}

/* Decode the groups with near lower halves. Report those in their range and within the distance. */
static sstore_status run_near_groups(const ss_search *self)
{
    sstore_cursor *cursor = self->cursor;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < cursor->near_group_count; i++) {
        const ss_near_group *near = &cursor->near_groups[i];
        const ss_block_range *range = near->range;
        const ss_open_block *open = &cursor->open_blocks[range->open];
        const uint64_t query = cursor->permuted_queries[open->table];
        const uint32_t distance = distance_of(self);
        status = ss_checked_block_decode_group(&table_of(self, open)->checked, open->slot.number, &open->block,
                                               near->group, ss_count_up_to(near->mask), cursor->values, self->error);
        for (uint64_t mask = near->mask; status == SSTORE_OK && mask != 0; mask &= mask - 1) {
            const uint32_t at = (uint32_t)__builtin_ctzll(mask);
            const uint64_t value = cursor->values[at];
            if (value >= range->first && value <= range->last && ss_popcount(value ^ query) <= distance)
                status = report_hit(self, open, value, near->group * SS_GROUP_SIZE + at);
        }
    }
    cursor->near_group_count = 0;
    return status;
}

static bool is_probed(const ss_search *self, uint32_t table, uint64_t permuted)
{
    const uint32_t prefix_bits = ss_query_prefix_bits(self->plan, &self->segment->metadata.plan, table);
    const uint64_t pattern = (permuted ^ self->cursor->permuted_queries[table]) & ss_high_mask(prefix_bits);
    return (int32_t)ss_popcount(pattern) <= self->plan->radii[table];
}

/* Count a range's candidates: the fingerprints with a probed prefix, also without a near lower half. Only this count
 * decodes all their groups. */
static sstore_status count_candidates(const ss_search *self, const ss_open_block *open, const ss_block_range *range)
{
    ss_search_counts *counts = counts_of(self, open->table);
    uint64_t *values = self->cursor->values;
    if (self->cursor->is_full_scan)
        counts->candidates += open->block.count;
    for (uint32_t group = range->group; !self->cursor->is_full_scan && group < range->end; group++) {
        const uint32_t count = ss_block_group_size(&open->block, group);
        const sstore_status status = ss_checked_block_decode_group(&table_of(self, open)->checked, open->slot.number,
                                                                   &open->block, group, count, values, self->error);
        if (status != SSTORE_OK)
            return status;
        for (uint32_t i = 0; i < count; i++)
            counts->candidates += values[i] >= range->first && values[i] <= range->last &&
                                  is_probed(self, open->table, values[i]);
    }
    return SSTORE_OK;
}

/* Bits that are unknown before decoding count as differing: those of the upper half behind the prefix, and those of the
 * prefix if it may have flips. */
bool ss_may_be_new(const ss_segment *segment, const ss_query_plan *plan, uint32_t table, const ss_block *block,
                   uint32_t group, uint32_t lower_query, uint64_t mask)
{
    const ss_plan *tables = &segment->metadata.plan;
    if (table == 0)
        return true;
    const uint64_t behind_prefix = plan->radii[table] == 0 ? ss_low_mask(64 - tables->tables[table].prefix_bits)
                                                           : ~UINT64_C(0);
    const uint64_t unknown = behind_prefix & ~ss_low_mask(SS_COLUMN_BITS);
    bool is_new = false;
    for (; !is_new && mask != 0; mask &= mask - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(mask);
        const uint32_t differing = ss_block_lower(block, group * SS_GROUP_SIZE + i) ^ lower_query;
        const uint64_t pattern = ss_unpermute(&segment->tables[table].permutation, unknown | differing);
        is_new = ss_plan_first_cover(tables, plan->radii, pattern) >= table;
    }
    return is_new;
}

/* Test a range's lower halves, and prefetch the groups with near ones. */
static sstore_status test_range(const ss_search *self, const ss_block_range *range)
{
    sstore_cursor *cursor = self->cursor;
    const ss_open_block *open = &cursor->open_blocks[range->open];
    const uint32_t lower = (uint32_t)cursor->permuted_queries[open->table];
    sstore_status status = SS_UNLIKELY(self->counts != NULL) ? count_candidates(self, open, range) : SSTORE_OK;
    for (uint32_t group = range->group; status == SSTORE_OK; group++) {
        uint64_t mask;
        group = ss_block_find_lower(&open->block, group, range->end, lower, range->lower_distance, &mask);
        if (SS_LIKELY(group == range->end))
            break;
        if (!ss_may_be_new(self->segment, self->plan, open->table, &open->block, group, lower, mask))
            continue;
        ss_block_prefetch_group(&open->block, group);
        cursor->near_groups[cursor->near_group_count++] = (ss_near_group){.range = range, .group = group, .mask = mask};
        if (cursor->near_group_count == SS_STAGE_MAX)
            status = run_near_groups(self);
    }
    return status;
}

/* ----- the third stage: finding groups in blocks ----- */

static sstore_status open_block(const ss_search *self, ss_open_block *open)
{
    sstore_status status = ss_block_slot_wait(&open->slot, self->error);
    if (status == SSTORE_OK)
        status = ss_checked_block_open(&table_of(self, open)->checked, open->slot.number, open->slot.bytes,
                                       &open->block, self->error);
    ss_search_counts *counts = counts_of(self, open->table);
    if (counts != NULL)
        counts->blocks++;
    open->opened = status == SSTORE_OK;
    return status;
}

/* Prefetch the lower halves of the range's groups from `group` on. */
static void prefetch_range(const ss_search *self, const ss_block_range *range, uint32_t group)
{
    const uint8_t *column = self->cursor->open_blocks[range->open].block.bytes;
    const uint32_t begin = group * SS_GROUP_SIZE * SS_LOWER_BYTES, end = range->end * SS_GROUP_SIZE * SS_LOWER_BYTES;
    for (uint32_t at = begin; at < end && at - begin < MAX_BYTES_AHEAD; at += CACHE_LINE)
        __builtin_prefetch(column + at);
}

/* Find the groups that may have each range's fingerprints. Ranges whose groups overlap become one, so that each group
 * is tested once: the ranges of a block ascend, and between two of them there is no match that counts. */
static sstore_status find_groups(const ss_search *self)
{
    sstore_cursor *cursor = self->cursor;
    uint32_t entered = 0;
    for (uint32_t i = 0; i < cursor->range_count; i++) {
        ss_block_range range = cursor->ranges[i], *last = entered > 0 ? &cursor->ranges[entered - 1] : NULL;
        ss_open_block *open = &cursor->open_blocks[range.open];
        const sstore_status status = open->opened ? SSTORE_OK : open_block(self, open);
        if (status != SSTORE_OK)
            return status;
        ss_block_find_groups(&open->block, ss_upper(range.first), ss_upper(range.last), &range.group, &range.end);
        range.end++;
        if (last != NULL && last->open == range.open && range.group < last->end) {
            const uint32_t fetched = last->end;
            last->last = range.last;
            last->lower_distance = ss_max_u32(last->lower_distance, range.lower_distance);
            last->end = ss_max_u32(last->end, range.end);
            prefetch_range(self, last, fetched);
        } else {
            prefetch_range(self, &range, range.group);
            cursor->ranges[entered++] = range;
        }
    }
    cursor->range_count = entered;
    return SSTORE_OK;
}

/* Test all ranges. The last block stays open, with its buffer: the next probe may begin in it. */
static sstore_status run_ranges(const ss_search *self)
{
    sstore_cursor *cursor = self->cursor;
    sstore_status status = find_groups(self);
    for (uint32_t i = 0; status == SSTORE_OK && i < cursor->range_count; i++)
        status = test_range(self, &cursor->ranges[i]);
    if (status == SSTORE_OK)
        status = run_near_groups(self);
    cursor->range_count = 0;
    if (cursor->open_block_count > 1) {
        const ss_open_block first = cursor->open_blocks[0];
        cursor->open_blocks[0] = cursor->open_blocks[cursor->open_block_count - 1];
        cursor->open_blocks[cursor->open_block_count - 1] = first;
        cursor->open_block_count = 1;
    }
    return status;
}

/* ----- the second stage: finding blocks ----- */

/* Prefetch a block, unless it was prefetched last, and add the range that a probe has in it. */
static sstore_status add_range(const ss_search *self, const ss_probe *probe, uint64_t number)
{
    sstore_cursor *cursor = self->cursor;
    const ss_block_reader *blocks = &self->segment->tables[probe->table].blocks;
    if (cursor->range_count == SS_STAGE_MAX || cursor->open_block_count == cursor->open_block_capacity) {
        const sstore_status status = run_ranges(self);
        if (status != SSTORE_OK)
            return status;
    }
    if (cursor->open_block_count == 0 ||
        !ss_block_slot_is(&cursor->open_blocks[cursor->open_block_count - 1].slot, blocks, number)) {
        ss_open_block *open = &cursor->open_blocks[cursor->open_block_count++];
        open->table = probe->table;
        open->opened = false;
        if (probe->table == 0) /* opening the block compares its count with the ranks */
            ss_array_prefetch(&self->segment->ranks, number);
        ss_block_slot_prefetch(&open->slot, blocks, number);
    }
    cursor->ranges[cursor->range_count++] = (ss_block_range){.first = probe->first,
                                                             .last = probe->last,
                                                             .lower_distance = probe->lower_distance,
                                                             .open = cursor->open_block_count - 1};
    return SSTORE_OK;
}

/* Find the blocks of each probe's fingerprints: one, unless they cross a block's end. Returns the number of
 * distinct ones. Probes of a table ascend, so the next one often begins in the block where the one before ended. */
static uint64_t find_blocks(const ss_search *self)
{
    sstore_cursor *cursor = self->cursor;
    uint64_t key = 0, count = 0; /* key: of the last block of the probe before */
    for (uint32_t i = 0; i < cursor->probe_count; i++) {
        ss_probe *probe = &cursor->probes[i];
        const ss_key_index *index = &self->segment->tables[probe->table].keys;
        const bool found_before = i > 0 && probe->table == probe[-1].table && probe[-1].block < probe[-1].blocks_end;
        const bool continued = found_before && probe->first <= key;
        probe->block = probe->blocks_end = continued ? probe[-1].blocks_end - 1
                                                     : ss_key_index_find(index, probe->first);
        if (probe->block == index->keys.count)
            continue;
        ss_block_reader_prefetch_end(&self->segment->tables[probe->table].blocks, probe->block);
        key = ss_array_at(&index->keys, probe->blocks_end++);
        if (SS_UNLIKELY(key < probe->last)) {
            probe->blocks_end = ss_min_u64(ss_key_index_find(index, probe->last) + 1, index->keys.count);
            key = ss_array_at(&index->keys, probe->blocks_end - 1);
        }
        count += probe->blocks_end - probe->block - continued;
    }
    return count;
}

/* Whether reading the blocks of a query's first probes takes longer than a full scan. The plan was chosen for uniform
 * data; the directory shows whether many fingerprints have the query's prefixes. False once blocks were read, because
 * no match may be reported before a full scan. */
static bool should_scan(const ss_search *self, uint64_t block_count)
{
    return !self->cursor->any_probed && self->segment->costs.strategy == SSTORE_STRATEGY_AUTO &&
           (double)block_count > self->plan->max_blocks;
}

/* Read and test the blocks of the probes. STOPPED, with cursor->is_full_scan, if a full scan follows instead. */
static sstore_status run_probes(const ss_search *self)
{
    sstore_cursor *cursor = self->cursor;
    sstore_status status = SSTORE_OK;
    if (SS_UNLIKELY(!ss_steps_take(&cursor->steps, cursor->probe_count)))
        return ss_fail_steps(&self->segment->tables[cursor->probes[0].table].blocks, self->error);
    cursor->is_full_scan = should_scan(self, find_blocks(self));
    cursor->any_probed = true;
    if (cursor->is_full_scan)
        return SSTORE_STOPPED;
    status = ss_cursor_check_stop(cursor);
    for (uint32_t i = 0; status == SSTORE_OK && i < cursor->probe_count; i++) {
        const ss_probe *probe = &cursor->probes[i];
        for (uint64_t block = probe->block; status == SSTORE_OK && block < probe->blocks_end; block++)
            status = add_range(self, probe, block);
    }
    if (status == SSTORE_OK)
        status = run_ranges(self);
    cursor->probe_count = 0;
    return status;
}

/* ----- the first stage: making probes ----- */

static sstore_status add_probe(const ss_search *self, uint32_t table, uint64_t first, uint32_t prefix_bits)
{
    sstore_cursor *cursor = self->cursor;
    ss_search_counts *counts = counts_of(self, table);
    /* The prefix's bits in the upper half are known to differ or not. They leave less of the distance for the
     * lower half. */
    const uint64_t differing = (first ^ cursor->permuted_queries[table]) & ss_high_mask(prefix_bits);
    const uint32_t known = ss_popcount(differing >> SS_UPPER_BITS);
    if (counts != NULL)
        counts->probes++;
    ss_key_index_prefetch(&self->segment->tables[table].keys, first);
    cursor->probes[cursor->probe_count++] = (ss_probe){.first = first,
                                                       .last = first | ss_low_mask(SS_FINGERPRINT_BITS - prefix_bits),
                                                       .table = table,
                                                       .lower_distance = self->distance > known ? self->distance - known
                                                                                                : 0};
    return cursor->probe_count == SS_STAGE_MAX ? run_probes(self) : SSTORE_OK;
}

/* A table that is probed. */
typedef struct probed_table {
    uint32_t number, prefix_bits;
    uint32_t single_bits; /* the prefix's highest bits, which are flipped one by one */
} probed_table;

/* Probe with every prefix that differs from `prefix` in at most `flips` of the bits from `bit` down to the prefix's
 * lowest, in ascending order, so that each block of a table is read once. If flips are left for the bits behind the
 * single ones, one probe covers all prefixes that differ in those. */
static sstore_status probe_near(const ss_search *self, const probed_table *table, uint64_t prefix, uint64_t bit,
                                int32_t flips)
{
    if (flips == 0)
        return add_probe(self, table->number, prefix, table->prefix_bits);
    if ((bit & ss_high_mask(table->single_bits)) == 0)
        return add_probe(self, table->number, prefix & ss_high_mask(table->single_bits), table->single_bits);
    bool is_set = (prefix & bit) != 0;
    sstore_status status = probe_near(self, table, prefix & ~bit, bit >> 1, is_set ? flips - 1 : flips);
    return status == SSTORE_OK ? probe_near(self, table, prefix | bit, bit >> 1, is_set ? flips : flips - 1) : status;
}

static sstore_status probe_table(const ss_search *self, uint32_t number)
{
    const uint64_t query = ss_permute(&self->segment->tables[number].permutation, self->fingerprint);
    const uint32_t prefix_bits = ss_query_prefix_bits(self->plan, &self->segment->metadata.plan, number);
    const uint32_t range_bits = ss_range_bits(prefix_bits, self->segment->costs.fingerprint_count);
    const probed_table table = {.number = number, .prefix_bits = prefix_bits, .single_bits = prefix_bits - range_bits};
    self->cursor->permuted_queries[number] = query;
    return probe_near(self, &table, query & ss_high_mask(prefix_bits), UINT64_C(1) << 63, self->plan->radii[number]);
}

/* ----- the full scan ----- */

/* Test every fingerprint of table 0. */
static sstore_status run_full_scan(const ss_search *self)
{
    sstore_cursor *cursor = self->cursor;
    const ss_table *table = &self->segment->tables[0];
    ss_open_block *open = &cursor->open_blocks[0];
    ss_read_ahead ahead = ss_read_ahead_from(0, UINT64_MAX);
    sstore_status status = SSTORE_OK;
    cursor->permuted_queries[0] = self->fingerprint;
    for (uint64_t number = 0; status == SSTORE_OK && number < table->blocks.header.block_count; number++) {
        ss_block_reader_ahead(&table->blocks, number, &ahead);
        ss_block_slot_prefetch(&open->slot, &table->blocks, number);
        open->table = 0;
        status = open_block(self, open);
        const ss_block_range range = {.last = UINT64_MAX,
                                      .lower_distance = distance_of(self),
                                      .end = open->block.group_count};
        if (status == SSTORE_OK)
            status = test_range(self, &range);
        if (status == SSTORE_OK)
            status = run_near_groups(self);
        if (status == SSTORE_OK)
            status = ss_cursor_check_stop(cursor);
    }
    return status;
}

sstore_status ss_search_run(const ss_search *search)
{
    const uint32_t table_count = search->segment->metadata.plan.table_count;
    sstore_status status = SSTORE_OK;
    sstore_cursor *cursor = search->cursor;
    /* The last search may have failed and left something in the cursor. */
    cursor->probe_count = cursor->range_count = cursor->open_block_count = cursor->near_group_count = 0;
    cursor->last_table = SS_MAX_TABLES;
    cursor->any_probed = false;
    cursor->is_full_scan = search->limit != NULL || search->plan->full_scan;
    for (uint32_t table = 0; status == SSTORE_OK && !cursor->is_full_scan && table < table_count; table++)
        if (search->plan->radii[table] != SS_NO_PROBE)
            status = probe_table(search, table);
    if (status == SSTORE_OK && !cursor->is_full_scan)
        status = run_probes(search);
    if (!cursor->is_full_scan)
        return status;
    if (search->counts != NULL)
        memset(search->counts, 0, table_count * sizeof *search->counts);
    return run_full_scan(search);
}

/* ----- expected costs ----- */

#define FLIPS_LOOKED_AT 8u

/* The fraction of a table's fingerprints that have a prefix: that of block keys, or that of uniform data if larger. */
static double fraction_of(const ss_key_index *keys, uint64_t first, uint64_t suffix_mask)
{
    const double count = (double)(ss_key_index_find(keys, first | suffix_mask) - ss_key_index_find(keys, first));
    return fmax(count / fmax(1, (double)keys->keys.count), ldexp((double)suffix_mask + 1, -64));
}

ss_table_cost ss_search_table_cost(const ss_segment *segment, const ss_query_plan *plan, uint64_t fingerprint,
                                   uint32_t table)
{
    const ss_key_index *keys = &segment->tables[table].keys;
    const uint32_t prefix_bits = ss_query_prefix_bits(plan, &segment->metadata.plan, table);
    const ss_plan_table shape = {.prefix_bits = prefix_bits};
    const uint64_t suffix_mask = ss_low_mask(64 - prefix_bits);
    const uint64_t prefix = ss_permute(&segment->tables[table].permutation, fingerprint) & ~suffix_mask;
    double fractions[2] = {fraction_of(keys, prefix, suffix_mask), 0};
    for (uint32_t i = 0; i < FLIPS_LOOKED_AT; i++)
        fractions[1] += fraction_of(keys, prefix ^ UINT64_C(1) << (63 - i * prefix_bits / FLIPS_LOOKED_AT),
                                    suffix_mask) /
                        FLIPS_LOOKED_AT;
    return ss_table_cost_of(&shape, plan->radii[table], plan->distance, &segment->costs, fractions);
}

double ss_search_cost(const ss_segment *segment, const ss_query_plan *plan, uint64_t fingerprint)
{
    double cost = 0;
    for (uint32_t i = 0; !plan->full_scan && i < segment->metadata.plan.table_count; i++)
        if (plan->radii[i] != SS_NO_PROBE)
            cost += ss_search_table_cost(segment, plan, fingerprint, i).warm_ns;
    return plan->full_scan ? plan->full_scan_cost : cost;
}
