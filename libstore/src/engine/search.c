#include "engine/search.h"

#include "base/error.h"

#define CACHE_LINE 64u
#define FRAME_LINES 2u /* slots and keys of a block of 4 KiB */

static const char malformed_bits[] = "its codes or rests run over";

static sstore_status hit(const ss_search *self, uint64_t fingerprint, bool has_rank, uint64_t rank)
{
    ss_hit found = {.segment = self->segment,
                    .fingerprint = fingerprint,
                    .distance = ss_popcount(fingerprint ^ self->fingerprint),
                    .has_rank = has_rank,
                    .rank = rank};
    return self->on_hit(self->context, &found, self->error);
}

/* Where to count what is done in a table, or NULL. */
static ss_search_counts *counts_of(const ss_search *self, uint32_t table)
{
    return SS_UNLIKELY(self->counts != NULL) ? &self->counts[table] : NULL;
}

/* ----- one visit ----- */

static const ss_table *table_of(const ss_search *self, const ss_visit *visit)
{
    return &self->segment->tables[visit->probe.table];
}

static sstore_status fail_malformed(const ss_search *self, const ss_visit *visit, const char *reason)
{
    return ss_block_reader_malformed(&table_of(self, visit)->blocks, visit->number, reason, self->error);
}

/*
 * A candidate is within the distance. It was found through one table, and counts only if no earlier one covers its error
 * pattern: so every match is reported once, and nothing has to be remembered.
 */
static sstore_status match(const ss_search *self, const ss_visit *visit, uint64_t permuted, uint32_t index)
{
    uint32_t table = visit->probe.table;
    uint64_t fingerprint = ss_unpermute(&table_of(self, visit)->permutation, permuted);
    uint64_t pattern = fingerprint ^ self->fingerprint;
    if (ss_plan_first_cover(&self->segment->facts->plan, self->plan->radii, pattern) != table)
        return SSTORE_OK;
    ss_search_counts *counts = counts_of(self, table);
    if (counts != NULL)
        counts->matches++;
    if (table != 0)
        return hit(self, fingerprint, false, 0);
    return hit(self, fingerprint, true, ss_array_at(&self->segment->ranks, visit->number) + index);
}

/* Only those of the probed prefix are its candidates, whatever else was decoded. */
static void note_candidates(ss_search_counts *counts, const ss_probe *probe, const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        counts->candidates += values[i] >= probe->first && values[i] <= probe->last;
}

/* Test `count` values in the cursor's scratch; the first has that index in the visited block. Those of other prefixes that
 * were decoded along with them do not count. */
static sstore_status test_values(const ss_search *self, const ss_visit *visit, uint32_t index, uint32_t count)
{
    sstore_cursor *cursor = self->cursor;
    const uint64_t *values = cursor->values;
    uint64_t query = cursor->queries[visit->probe.table];
    uint32_t found = cursor->store->filter(values, count, query, self->distance, cursor->hits);
    ss_search_counts *counts = counts_of(self, visit->probe.table);
    if (counts != NULL)
        note_candidates(counts, &visit->probe, values, count);
    for (uint32_t i = 0; i < found; i++) {
        uint64_t value = values[cursor->hits[i]];
        if (value < visit->probe.first || value > visit->probe.last)
            continue;
        sstore_status status = match(self, visit, value, index + cursor->hits[i]);
        if (status != SSTORE_OK)
            return status;
    }
    return SSTORE_OK;
}

/* The candidates lie in one group or two: read codes up to the first of them, then go on value by value. */
static sstore_status search_few(const ss_search *self, const ss_visit *visit)
{
    uint64_t *values = self->cursor->values;
    uint32_t capacity = SS_GROUPS_AT_ONCE * visit->block.restart_interval, count = 0;
    ss_position position;
    ss_seek found = ss_block_seek(&visit->block, visit->probe.first, &position);
    uint32_t index = position.index;
    while (found == SS_SEEK_AT && position.value <= visit->probe.last && count < capacity) {
        values[count++] = position.value;
        found = ss_block_next(&visit->block, &position);
    }
    if (SS_UNLIKELY(found == SS_SEEK_DAMAGED))
        return fail_malformed(self, visit, malformed_bits);
    return test_values(self, visit, index, count);
}

/* They lie in more groups: decode all of these, which is faster a value than finding their bounds. */
static sstore_status search_many(const ss_search *self, const ss_visit *visit)
{
    sstore_status status = SSTORE_OK;
    uint32_t interval = visit->block.restart_interval, count;
    for (uint32_t group = visit->first_group; status == SSTORE_OK && group <= visit->last_group;
         group += SS_GROUPS_AT_ONCE) {
        uint32_t groups = (uint32_t)ss_min_u64(visit->last_group - group + 1, SS_GROUPS_AT_ONCE);
        if (!ss_block_decode_groups(&visit->block, group, groups, self->cursor->values, &count))
            return fail_malformed(self, visit, malformed_bits);
        status = test_values(self, visit, group * interval, count);
    }
    return status;
}

/* ----- stages ----- */

/* Have the block's bytes, checked; a visit of the same block as the one before shares them. */
static sstore_status fetch(const ss_search *self, uint32_t index, const uint8_t **bytes_out)
{
    sstore_cursor *cursor = self->cursor;
    const ss_visit *visit = &cursor->visits[index];
    const ss_block_reader *blocks = &table_of(self, visit)->blocks;
    if (index > 0 && visit[-1].number == visit->number && visit[-1].probe.table == visit->probe.table) {
        *bytes_out = visit[-1].block.bytes;
        return SSTORE_OK;
    }
    ss_search_counts *counts = counts_of(self, visit->probe.table);
    if (counts != NULL)
        counts->blocks++;
    uint8_t *buffer = cursor->buffers; /* of one block where blocks are not read into it */
    if (blocks->base == NULL)
        buffer += index * cursor->buffer_bytes;
    return ss_block_reader_get(blocks, visit->number, buffer, bytes_out, self->error);
}

/* Find the groups where the candidates can be, and ask for the first one's codes and rests. */
static sstore_status open_visit(const ss_search *self, uint32_t index)
{
    ss_visit *visit = &self->cursor->visits[index];
    const ss_table *table = table_of(self, visit);
    const uint8_t *bytes;
    const char *reason;
    sstore_status status = fetch(self, index, &bytes);
    if (status != SSTORE_OK)
        return status;
    if (!ss_block_open(&visit->block, bytes, ss_table_geometry(table), &table->code, &reason))
        return fail_malformed(self, visit, reason);
    visit->first_group = ss_block_find_group(&visit->block, visit->probe.first);
    visit->last_group = ss_block_find_group(&visit->block, visit->probe.last);
    uint32_t begin = ss_block_group_begin(&visit->block, visit->first_group) / 8;
    uint32_t end = ss_block_group_end(&visit->block, visit->last_group) / 8;
    for (uint32_t at = begin; at < end; at += CACHE_LINE)
        __builtin_prefetch(bytes + at);
    return SSTORE_OK;
}

static sstore_status run_visits(const ss_search *self)
{
    sstore_cursor *cursor = self->cursor;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < cursor->visit_count; i++)
        status = open_visit(self, i);
    for (uint32_t i = 0; status == SSTORE_OK && i < cursor->visit_count; i++) {
        const ss_visit *visit = &cursor->visits[i];
        status = visit->last_group > visit->first_group + 1 ? search_many(self, visit) : search_few(self, visit);
    }
    cursor->visit_count = 0;
    return status;
}

static sstore_status add_visit(const ss_search *self, ss_probe probe, uint64_t number)
{
    sstore_cursor *cursor = self->cursor;
    const ss_block_reader *blocks = &self->segment->tables[probe.table].blocks;
    if (cursor->visit_count == cursor->visit_capacity) {
        sstore_status status = run_visits(self);
        if (status != SSTORE_OK)
            return status;
    }
    if (blocks->base != NULL)
        for (uint32_t line = 0; line < FRAME_LINES; line++)
            __builtin_prefetch(blocks->base + ss_block_offset(blocks, number) + (size_t)line * CACHE_LINE);
    ss_visit *visit = &cursor->visits[cursor->visit_count++];
    visit->probe = probe;
    visit->number = number;
    return SSTORE_OK;
}

/* Look up the blocks of all probes. A probe's fingerprints lie in one block, unless the prefix runs over a block's end. */
static sstore_status run_probes(const ss_search *self)
{
    sstore_cursor *cursor = self->cursor;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < cursor->probe_count; i++) {
        ss_probe probe = cursor->probes[i];
        const ss_key_index *index = &self->segment->tables[probe.table].keys;
        uint64_t number = ss_key_index_find(index, probe.first);
        for (bool more = true; status == SSTORE_OK && more && number < index->keys.count; number++) {
            status = add_visit(self, probe, number);
            more = ss_array_at(&index->keys, number) < probe.last;
        }
    }
    cursor->probe_count = 0;
    return status == SSTORE_OK ? run_visits(self) : status;
}

static sstore_status add_probe(const ss_search *self, ss_probe probe)
{
    sstore_cursor *cursor = self->cursor;
    ss_search_counts *counts = counts_of(self, probe.table);
    if (counts != NULL)
        counts->probes++;
    ss_key_index_prefetch(&self->segment->tables[probe.table].keys, probe.first);
    cursor->probes[cursor->probe_count++] = probe;
    return cursor->probe_count == SS_TOGETHER ? run_probes(self) : SSTORE_OK;
}

/* The next larger number with as many ones (Gosper, in HAKMEM item 175). */
static uint64_t next_combination(uint64_t x)
{
    uint64_t lowest = x & -x, ripple = x + lowest;
    return ripple | ((x ^ ripple) >> 2) / lowest;
}

/* Probe a table with every prefix within its radius of the query's. */
static sstore_status probe_table(const ss_search *self, uint32_t number)
{
    uint32_t prefix_bits = self->segment->facts->plan.tables[number].prefix_bits;
    uint64_t query = ss_permute(&self->segment->tables[number].permutation, self->fingerprint);
    uint64_t others = ss_low_mask(64 - prefix_bits);
    sstore_status status = SSTORE_OK;
    self->cursor->queries[number] = query;
    for (int32_t flips = 0; flips <= self->plan->radii[number]; flips++) {
        uint64_t pattern = ss_low_mask((uint32_t)flips);
        uint64_t last_pattern = pattern << (prefix_bits - (uint32_t)flips) % 64;
        for (;; pattern = next_combination(pattern)) {
            uint64_t prefix = (query & ~others) ^ pattern << (64 - prefix_bits);
            status = add_probe(self, (ss_probe){.first = prefix, .last = prefix | others, .table = number});
            if (status != SSTORE_OK)
                return status;
            if (pattern == last_pattern)
                break;
        }
    }
    return status;
}

/* ----- scanning ----- */

static sstore_status scan_block(const ss_search *self, const ss_block *block, uint64_t number)
{
    sstore_cursor *cursor = self->cursor;
    const ss_block_reader *blocks = &self->segment->tables[0].blocks;
    uint64_t rank = ss_array_at(&self->segment->ranks, number);
    for (uint32_t group = 0; group < block->group_count; group += SS_GROUPS_AT_ONCE) {
        uint32_t groups = (uint32_t)ss_min_u64(block->group_count - group, SS_GROUPS_AT_ONCE), count;
        if (!ss_block_decode_groups(block, group, groups, cursor->values, &count))
            return ss_block_reader_malformed(blocks, number, malformed_bits, self->error);
        uint32_t found =
            cursor->store->filter(cursor->values, count, self->fingerprint, self->distance, cursor->hits);
        ss_search_counts *counts = counts_of(self, 0);
        if (counts != NULL) {
            counts->candidates += count;
            counts->matches += found;
        }
        for (uint32_t i = 0; i < found; i++) {
            sstore_status status = hit(self, cursor->values[cursor->hits[i]], true, rank + cursor->hits[i]);
            if (status != SSTORE_OK)
                return status;
        }
        rank += count;
    }
    return SSTORE_OK;
}

/* Test every fingerprint of table 0. */
static sstore_status scan(const ss_search *self)
{
    const ss_table *table = &self->segment->tables[0];
    for (uint64_t number = 0; number < table->blocks.header.block_count; number++) {
        const uint8_t *bytes;
        const char *reason;
        ss_block block;
        ss_search_counts *counts = counts_of(self, 0);
        if (counts != NULL)
            counts->blocks++;
        sstore_status status =
            ss_block_reader_get(&table->blocks, number, self->cursor->buffers, &bytes, self->error);
        if (status != SSTORE_OK)
            return status;
        if (!ss_block_open(&block, bytes, ss_table_geometry(table), &table->code, &reason))
            return ss_block_reader_malformed(&table->blocks, number, reason, self->error);
        status = scan_block(self, &block, number);
        if (status != SSTORE_OK)
            return status;
    }
    return SSTORE_OK;
}

sstore_status ss_search_run(const ss_search *search)
{
    sstore_status status = SSTORE_OK;
    if (search->plan->scan)
        return scan(search);
    search->cursor->probe_count = search->cursor->visit_count = 0; /* an error may have left some */
    for (uint32_t table = 0; status == SSTORE_OK && table < search->segment->facts->plan.table_count; table++)
        if (search->plan->radii[table] != SS_NO_PROBE)
            status = probe_table(search, table);
    return status == SSTORE_OK ? run_probes(search) : status;
}
