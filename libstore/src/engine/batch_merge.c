/*
 * batch_merge.c - the prefixes of many queries, sorted, and a table walked through together. A table's prefixes are cut into
 * slices by their leading bits; each slice is a task of its own, whose probes stay in the cache while they are sorted.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "engine/batch.h"
#include "engine/block_values.h"
#include "sort/radix.h"

#define SLICE_BITS 6u
#define SLICES (1u << SLICE_BITS)
#define MAX_PREFIX_BITS (64u - SS_ROUND_QUERY_BITS) /* a probe is a prefix and a query's index in 64 bits */
#define PROBES_AT_ONCE ((size_t)1 << 19)            /* of a slice: 4 MiB */

bool ss_batch_can_merge(const ss_segment *segment, const ss_query_plan *plan)
{
    for (uint32_t i = 0; i < segment->facts->plan.table_count; i++) {
        uint32_t prefix_bits = segment->facts->plan.tables[i].prefix_bits;
        if (plan->radii[i] != SS_NO_PROBE && (prefix_bits > MAX_PREFIX_BITS || prefix_bits < SLICE_BITS))
            return false;
    }
    return true;
}

/* A query as one table sees it. */
typedef struct table_query {
    uint64_t permuted;
    uint32_t index; /* in the round */
} table_query;

/* The queries of the round for one table, dealt out by their leading bits, so that a slice finds its own together. */
typedef struct table_batch {
    const ss_batch *batch;
    const ss_table *table;
    uint32_t number; /* of the table */
    uint32_t prefix_bits;
    table_query *queries;
    uint32_t begins[SLICES + 1]; /* queries[begins[s] .. begins[s + 1] - 1] have the leading bits s */
} table_batch;

/* A task: the probes of one slice. */
typedef struct slice {
    const table_batch *of;
    uint32_t worker;
    uint64_t *probes; /* prefix << SS_ROUND_QUERY_BITS | index in queries */
    size_t count;
    uint32_t *found;  /* indices from the filter */
    uint32_t found_capacity;
    ss_block_values values;
    sstore_error *error;
} slice;

/* ----- testing ----- */

static sstore_status match(const slice *self, const table_query *query, uint32_t index)
{
    const table_batch *of = self->of;
    const ss_batch *batch = of->batch;
    uint64_t fingerprint = ss_unpermute(&of->table->permutation, self->values.values[index]);
    uint64_t pattern = fingerprint ^ batch->fingerprints[query->index];
    if (ss_plan_first_cover(&batch->segment->facts->plan, batch->plan->radii, pattern) != of->number)
        return SSTORE_OK;
    uint64_t rank = of->number == 0 ? ss_array_at(&batch->segment->ranks, self->values.number) + index : SS_NO_RANK;
    ss_batch_hit hit = {.fingerprint = fingerprint, .rank = rank, .query = query->index};
    return ss_batch_add_hit(batch, self->worker, hit, self->error);
}

static sstore_status test_query(const slice *self, const table_query *query, uint32_t begin, uint32_t end)
{
    const ss_batch *batch = self->of->batch;
    uint32_t found = batch->store->filter(self->values.values + begin, end - begin, query->permuted, batch->distance,
                                          self->found);
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < found; i++)
        status = match(self, query, begin + self->found[i]);
    return status;
}

static sstore_status make_room_for_found(slice *self, uint32_t count)
{
    if (count <= self->found_capacity)
        return SSTORE_OK;
    uint32_t *found = ss_realloc(self->found, count, sizeof *found);
    if (found == NULL)
        return ss_fail_memory(self->error, count * sizeof *found);
    self->found = found;
    self->found_capacity = count;
    return SSTORE_OK;
}

/* The probes begin .. end - 1 have one prefix: test its fingerprints in block `number`. */
static sstore_status run_prefix_in_block(slice *self, size_t begin, size_t end, uint64_t first, uint64_t last,
                                         uint64_t number)
{
    uint32_t from = 0, to = 0;
    sstore_status status = ss_block_values_go(&self->values, number, self->error);
    if (status == SSTORE_OK)
        status = ss_block_values_range(&self->values, first, last, &from, &to, self->error);
    if (status == SSTORE_OK)
        status = make_room_for_found(self, self->values.block.count);
    for (size_t i = begin; status == SSTORE_OK && from < to && i < end; i++)
        status = test_query(self, &self->of->queries[self->probes[i] & (SS_ROUND_QUERIES - 1)], from, to);
    return status;
}

/* Sort the probes and walk through the table with them. Few probes search the keys for their blocks; many find them next to
 * the block before. */
static sstore_status run_probes(slice *self)
{
    const ss_key_index *keys = &self->of->table->keys;
    uint32_t other_bits = 64 - self->of->prefix_bits;
    uint64_t number = 0, block_last = 0;
    sstore_status status = SSTORE_OK;
    ss_sort_keys(self->probes, self->count);
    self->values.number = SS_NO_BLOCK;
    for (size_t begin = 0, end; status == SSTORE_OK && begin < self->count; begin = end) {
        uint64_t prefix = self->probes[begin] >> SS_ROUND_QUERY_BITS;
        uint64_t first = prefix << other_bits, last = first | ss_low_mask(other_bits);
        for (end = begin + 1; end < self->count && self->probes[end] >> SS_ROUND_QUERY_BITS == prefix;)
            end++;
        if (begin == 0 || first > block_last)
            number = ss_key_index_find(keys, first);
        for (; status == SSTORE_OK && number < keys->keys.count; number++) {
            status = run_prefix_in_block(self, begin, end, first, last, number);
            block_last = ss_array_at(&keys->keys, number);
            if (block_last >= last)
                break;
        }
    }
    self->count = 0;
    return status;
}

/* ----- making probes ----- */

static sstore_status add_probe(slice *self, uint64_t prefix, uint32_t query)
{
    self->probes[self->count++] = prefix << SS_ROUND_QUERY_BITS | query;
    return self->count == PROBES_AT_ONCE ? run_probes(self) : SSTORE_OK;
}

/* Add every prefix that differs from `prefix` in at most `flips` of the bits below bit `from`. */
static sstore_status add_flips(slice *self, uint64_t prefix, uint32_t query, uint32_t from, int32_t flips)
{
    sstore_status status = add_probe(self, prefix, query);
    for (uint32_t bit = 0; status == SSTORE_OK && flips > 0 && bit < from; bit++)
        status = add_flips(self, prefix ^ UINT64_C(1) << bit, query, bit, flips - 1);
    return status;
}

/* The probes that fall into the slice `leading`: the leading bits of a query have to become the slice's, which takes some
 * flips; what is left of the radius goes to the other bits of the prefix. */
static sstore_status add_probes(slice *self, uint64_t leading)
{
    const table_batch *of = self->of;
    uint32_t low_bits = of->prefix_bits - SLICE_BITS;
    sstore_status status = SSTORE_OK;
    for (uint64_t from = 0; from < SLICES; from++) {
        int32_t left = of->batch->plan->radii[of->number] - (int32_t)ss_popcount(from ^ leading);
        for (uint32_t i = of->begins[from]; status == SSTORE_OK && left >= 0 && i < of->begins[from + 1]; i++) {
            uint64_t prefix = of->queries[i].permuted >> (64 - of->prefix_bits) & ss_low_mask(low_bits);
            status = add_flips(self, leading << low_bits | prefix, i, low_bits, left);
        }
    }
    return status;
}

/* Whether a slice's probes meet most of its blocks several times. */
static bool is_dense(const table_batch *of)
{
    double probes = of->batch->count * ss_probe_count(of->prefix_bits, of->batch->plan->radii[of->number]);
    return probes > 4.0 * of->batch->segment->costs.block_count;
}

static sstore_status run_slice(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const table_batch *of = context;
    slice self = {.of = of, .worker = worker, .error = error};
    sstore_status status = ss_block_values_open(&self.values, of->table, error);
    self.values.whole = is_dense(of);
    self.probes = ss_realloc(NULL, PROBES_AT_ONCE, sizeof *self.probes);
    if (status == SSTORE_OK && self.probes == NULL)
        status = ss_fail_memory(error, PROBES_AT_ONCE * sizeof *self.probes);
    if (status == SSTORE_OK)
        status = add_probes(&self, task);
    if (status == SSTORE_OK)
        status = run_probes(&self);
    ss_block_values_close(&self.values);
    ss_free(self.probes);
    ss_free(self.found);
    return status;
}

/* Permute the queries and deal them out to the slices. */
static sstore_status deal_out(table_batch *self, sstore_error *error)
{
    const ss_batch *batch = self->batch;
    uint32_t next[SLICES];
    self->queries = ss_realloc(NULL, batch->count, sizeof *self->queries);
    if (self->queries == NULL)
        return ss_fail_memory(error, batch->count * sizeof *self->queries);
    for (uint32_t i = 0; i < batch->count; i++)
        self->begins[(ss_permute(&self->table->permutation, batch->fingerprints[i]) >> (64 - SLICE_BITS)) + 1]++;
    for (uint32_t s = 0; s < SLICES; s++) {
        next[s] = self->begins[s];
        self->begins[s + 1] += self->begins[s];
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t permuted = ss_permute(&self->table->permutation, batch->fingerprints[i]);
        self->queries[next[permuted >> (64 - SLICE_BITS)]++] = (table_query){.permuted = permuted, .index = i};
    }
    return SSTORE_OK;
}

sstore_status ss_batch_merge(const ss_batch *batch, sstore_error *error)
{
    const ss_plan *plan = &batch->segment->facts->plan;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < plan->table_count; i++) {
        if (batch->plan->radii[i] == SS_NO_PROBE)
            continue;
        table_batch self = {.batch = batch,
                            .table = &batch->segment->tables[i],
                            .number = i,
                            .prefix_bits = plan->tables[i].prefix_bits};
        status = deal_out(&self, error);
        if (status == SSTORE_OK)
            status = ss_pool_run(batch->threads, SLICES, run_slice, &self, error);
        ss_free(self.queries);
    }
    return status;
}
