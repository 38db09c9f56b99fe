/*
 * batch_pass.c - many queries against whole tables: a table is cut into slices by leading bits, each slice's blocks are got
 * once, and an index over the next bits leads every probe straight to its few groups, whose lower halves are tested. Nothing
 * is sorted but the queries.
 *
 * A slice is a power of two of the key space, as long as it holds about SLICE_FINGERPRINTS at most, and no shorter
 * than the table's prefix: so slices are as fine as the data is dense, and a slice's blocks and index stay in a
 * core's cache while the queries pass by. The index's buckets are prefixes too, mostly shorter than the table's: a
 * probe that is too short finds more candidates, never fewer, and a few of these are tested in less time than a longer
 * prefix is made.
 *
 * Where no table is to be probed, table 0 is swept in the same way, without an index: each slice is tested whole against the
 * queries whose leading bits are within the distance.
 */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "read/batch.h"
#include "read/search.h"
#include "sort/radix.h"

#define SLICE_FINGERPRINTS 64000.0 /* on average, if its blocks are as full as all */
#define MAX_BLOCKS_TIMES 2u        /* as many blocks as a slice should have are got together, */
#define MAX_BYTES                                                                                                      \
    (4u << 20) /* but no more than have so many bytes, decoded ones as well, where blocks are far from full */
#define SLICES_A_THREAD 8u /* where a small table is scanned, */
#define SCANNED_BLOCKS 16u /* but with so many blocks in each */
#define INDEX_BITS 11u     /* at most, */
#define BUCKET_MIN 16.0    /* and no more than give a bucket so many fingerprints on average */
#define LOW_BITS 3u        /* of a bucket: those that differ in these are tested together where flips are left */
#define DEAL_BITS 6u       /* queries are dealt out by these leading bits and then sorted by several threads */

/* Nanoseconds of one thread, measured by bench_batch (bench/README.md). */
#define BLOCK_NS 850.0   /* get a block, check it and index its groups */
#define DECODE_NS 2.2    /* decode a fingerprint, beyond SS_HALVES_TELL */
#define BUCKET_NS 12.0   /* find a bucket */
#define TEST_NS 0.15     /* test one of its fingerprints */
#define BUCKET_MEAN 64.0 /* how many it has, unless the prefix is too short */

/* A piece of a table: the fingerprints that begin with the leading `bits` bits of `first`. */
typedef struct slice {
    uint64_t first;
    uint64_t begin_block, end_block; /* that hold them, and perhaps neighbours */
    uint32_t bits;
} slice;

/* A block of a slice. */
typedef struct sliced_block {
    uint64_t number, rank; /* rank: of its first fingerprint, in table 0 */
    uint32_t first_group;  /* of all groups of the slice */
    ss_block block;
    uint64_t *decoded; /* all of it, or NULL: only groups where a lower half is near are decoded */
} sliced_block;

/* What a thread needs to work on a slice. */
typedef struct workplace {
    uint8_t *buffers;     /* for the blocks, in pread mode */
    uint64_t *decoded;    /* for the blocks, where they are decoded */
    sliced_block *blocks; /* and one behind them, of which only first_group counts */
    uint32_t block_count, capacity;
    uint64_t begin_block,
        end_block;      /* those that are here, once a query needed them; until then the end is the begin */
    uint32_t *block_of; /* each group's block */
    ss_near near;
    ss_read_ahead walk;                      /* of the slices in their order */
    uint32_t begins[(1u << INDEX_BITS) + 1]; /* the groups in which bucket k may lie are begins[k] to begins[k + 1] */
} workplace;

/* One table and the queries of the round. */
typedef struct table_pass {
    const ss_batch *batch;
    const ss_table *table;
    bool scans;      /* the table: all that is in it may be a match */
    uint32_t number; /* of the table */
    uint32_t prefix_bits;
    int32_t radius;
    sstore_record *queries; /* permuted fingerprint, and index in the round as id: ascending */
    sstore_record *scratch; /* for as many, while they are sorted */
    size_t dealt[(1u << DEAL_BITS) + 1];
    slice *slices;
    size_t slice_count, slice_capacity;
    uint64_t slice_blocks; /* in a slice at most, unless they have one prefix */
    double block_mean;     /* fingerprints in a block */
    workplace *places;     /* one a thread */
} table_pass;

/* A slice under way. */
typedef struct sliced {
    const table_pass *of;
    const slice *cut;
    workplace *place;
    uint32_t worker;
    uint32_t index_bits, suffix_bits; /* a fingerprint is the slice's bits, the bucket's, and the suffix */
    sstore_error *error;
} sliced;

/* ----- a slice's blocks ----- */

/* Get blocks from the place's begin on, up to the slice's end or as many as there is room for. */
static sstore_status get_blocks(const sliced *self)
{
    const ss_table *table = self->of->table;
    const uint32_t block_bytes = table->blocks.header.block_bytes;
    workplace *place = self->place;
    uint32_t groups = 0;
    place->block_count = 0;
    for (uint64_t number = place->begin_block; number < self->cut->end_block && place->block_count < place->capacity;
         number++) {
        const uint8_t *bytes;
        sliced_block *in = &place->blocks[place->block_count];
        uint8_t *buffer = place->buffers != NULL ? place->buffers + (size_t)place->block_count * block_bytes : NULL;
        ss_block_reader_ahead(&table->blocks, number, &place->walk);
        sstore_status status = ss_block_reader_get(&table->blocks, number, buffer, &bytes, self->error);
        if (status == SSTORE_OK)
            status = ss_checked_block_open(&table->checked, number, bytes, &in->block, self->error);
        if (status != SSTORE_OK)
            return status;
        in->number = number;
        in->rank = self->of->number == 0 ? ss_array_at(&self->of->batch->segment->ranks, number) : 0;
        in->decoded = place->decoded != NULL
                          ? place->decoded + (size_t)place->block_count * ss_block_capacity(block_bytes)
                          : NULL;
        if (in->decoded != NULL)
            status = ss_checked_block_decode(&table->checked, number, &in->block, in->decoded, self->error);
        if (status != SSTORE_OK)
            return status;
        in->first_group = groups;
        for (uint32_t i = 0; i < in->block.group_count; i++)
            place->block_of[groups++] = place->block_count;
        place->block_count++;
    }
    place->blocks[place->block_count].first_group = groups;
    place->end_block = place->begin_block + place->block_count;
    return SSTORE_OK;
}

/* The first bucket that begins at or above a fingerprint; behind the last one if there is none. */
static uint64_t bucket_from(const sliced *self, uint64_t fingerprint)
{
    const slice *cut = self->cut;
    const uint64_t end = (UINT64_C(1) << self->index_bits) + 1;
    if (fingerprint <= cut->first)
        return 0;
    if (fingerprint - cut->first > ss_low_mask(64 - cut->bits))
        return end;
    return ss_min_u64(((fingerprint - cut->first - 1) >> self->suffix_bits) + 1, end);
}

/* Note for each bucket in which group its first fingerprint would be. */
static sstore_status index_groups(const sliced *self)
{
    workplace *place = self->place;
    const uint64_t end = (UINT64_C(1) << self->index_bits) + 1;
    uint32_t group = 0;
    uint64_t bucket = 0;
    for (uint32_t i = 0; i < place->block_count; i++) {
        const sliced_block *in = &place->blocks[i];
        for (uint32_t j = 0; j < in->block.group_count; j++, group++) {
            uint64_t first;
            if (!ss_block_group_first(&in->block, j, &first))
                return ss_block_reader_malformed(&self->of->table->blocks, in->number, SS_MALFORMED_GROUP, self->error);
            for (const uint64_t from = bucket_from(self, first); bucket < from; bucket++)
                place->begins[bucket] = group > 0 ? group - 1 : 0;
        }
    }
    for (; bucket < end; bucket++)
        place->begins[bucket] = group - 1;
    return SSTORE_OK;
}

/* ----- testing ----- */

static sstore_status match(const sliced *self, const sstore_record *query, uint64_t permuted, uint64_t rank)
{
    const table_pass *of = self->of;
    const ss_batch *batch = of->batch;
    const uint64_t pattern = ss_unpermute(&of->table->permutation, permuted ^ query->fingerprint);
    if (!of->scans && ss_plan_first_cover(&batch->segment->metadata.plan, batch->plan->radii, pattern) != of->number)
        return SSTORE_OK;
    const ss_batch_hit hit = {.fingerprint = ss_unpermute(&of->table->permutation, permuted),
                              .rank = of->number == 0 ? rank : SS_NO_RANK,
                              .query = (uint32_t)query->id};
    return ss_batch_add_hit(batch, self->worker, hit, self->error);
}

/* Report what was found in a group, of those between first and last. */
static sstore_status report_near(const sliced *self, const sstore_record *query, const sliced_block *in, uint64_t first,
                                 uint64_t last)
{
    const ss_near *near = &self->place->near;
    sstore_status status = SSTORE_OK;
    for (uint64_t which = near->which; status == SSTORE_OK && which != 0; which &= which - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(which);
        const uint64_t value = near->values[i];
        if (value >= first && value <= last)
            status = match(self, query, value, in->rank + near->group * SS_GROUP_SIZE + i);
    }
    return status;
}

/* Find the next group that has something near, and perhaps new. */
static sstore_status find_near(const sliced *self, const sstore_record *query, const sliced_block *in)
{
    const ss_batch *batch = self->of->batch;
    const ss_checked_blocks *checked = &self->of->table->checked;
    const uint32_t lower = (uint32_t)query->fingerprint;
    ss_near *near = &self->place->near;
    near->decoded = in->decoded;
    if (near->decoded != NULL)
        return ss_checked_block_find_near(checked, in->number, &in->block, near, self->error);
    for (;; near->group++) {
        near->group = ss_block_find_lower(&in->block, near->group, near->end, lower, near->lower_distance,
                                          &near->which);
        if (SS_LIKELY(near->group == near->end))
            return SSTORE_OK;
        if (ss_may_be_new(batch->segment, batch->plan, self->of->number, &in->block, near->group, lower, near->which))
            return ss_checked_block_keep_near(checked, in->number, &in->block, near, self->error);
    }
}

/* Test groups of a block. */
static sstore_status test_groups(const sliced *self, const sstore_record *query, const sliced_block *in, uint64_t first,
                                 uint64_t last)
{
    ss_near *near = &self->place->near;
    sstore_status status = SSTORE_OK;
    for (; status == SSTORE_OK; near->group++) {
        status = find_near(self, query, in);
        if (SS_LIKELY(near->group == near->end))
            break;
        if (status == SSTORE_OK)
            status = report_near(self, query, in, first, last);
    }
    return status;
}

/* Test the groups in which a bucket may lie, and those that differ from it in its lowest `low_bits` bits. */
static sstore_status test_buckets(const sliced *self, const sstore_record *query, uint64_t bucket, uint32_t low_bits)
{
    const workplace *place = self->place;
    const uint64_t first_bucket = bucket & ~ss_low_mask(low_bits), last_bucket = bucket | ss_low_mask(low_bits);
    const uint64_t unknown = ss_low_mask(self->suffix_bits + low_bits);
    const uint64_t first = self->cut->first | first_bucket << self->suffix_bits, last = first | unknown;
    const uint32_t known = ss_popcount((first ^ query->fingerprint) & ~unknown & ~UINT64_C(0) << SS_UPPER_BITS);
    const uint32_t distance = self->of->batch->distance;
    const uint32_t last_group = place->begins[last_bucket + 1];
    ss_near *near = &self->place->near;
    sstore_status status = SSTORE_OK;
    near->query = query->fingerprint;
    near->distance = distance;
    near->lower_distance = distance > known ? distance - known : 0;
    for (uint32_t group = place->begins[first_bucket]; status == SSTORE_OK && group <= last_group;) {
        const sliced_block *in = &place->blocks[place->block_of[group]];
        near->group = group - in->first_group;
        near->end = ss_min_u32(last_group + 1, in[1].first_group) - in->first_group;
        near->any = false;
        group = in->first_group + near->end;
        status = test_groups(self, query, in, first, last);
    }
    return status;
}

/* Test the buckets that differ from `bucket` in at most `flips` of the bits below bit `from`. Those that lie beside it share its
 * groups, most of them, and are tested together. */
static sstore_status test_near(const sliced *self, const sstore_record *query, uint64_t bucket, uint32_t from,
                               int32_t flips)
{
    const uint32_t low_bits = flips > 0 ? ss_min_u32(from, LOW_BITS) : 0;
    sstore_status status = test_buckets(self, query, bucket, low_bits);
    for (uint32_t bit = low_bits; status == SSTORE_OK && flips > 0 && bit < from; bit++)
        status = test_near(self, query, bucket ^ UINT64_C(1) << bit, bit, flips - 1);
    return status;
}

SS_ALWAYS_INLINE bool query_is_below(const void *queries, uint64_t index, uint64_t target)
{
    return ((const sstore_record *)queries)[index].fingerprint < target;
}

/* The first query at or above a permuted fingerprint. */
static size_t find_query(const table_pass *of, uint64_t target)
{
    return (size_t)ss_lower_bound(of->queries, 0, of->batch->count, target, query_is_below);
}

static sstore_status test_query(const sliced *self, const sstore_record *query, int32_t flips)
{
    uint64_t bucket = query->fingerprint >> self->suffix_bits & ss_low_mask(self->index_bits);
    sstore_status status = SSTORE_OK;
    if (self->place->end_block == self->place->begin_block) {
        status = get_blocks(self);
        if (status == SSTORE_OK)
            status = index_groups(self);
    }
    return status == SSTORE_OK ? test_near(self, query, bucket, self->index_bits, flips) : status;
}

/* The queries whose leading bits are those of `leading`, which took all flips but so many to become the slice's. */
static sstore_status test_queries(const sliced *self, uint64_t leading, uint32_t slice_bits, int32_t flips)
{
    const table_pass *of = self->of;
    uint64_t last = leading | ss_low_mask(64 - slice_bits);
    sstore_status status = SSTORE_OK;
    for (size_t i = find_query(of, leading);
         status == SSTORE_OK && i < of->batch->count && of->queries[i].fingerprint <= last; i++)
        status = test_query(self, &of->queries[i], flips);
    return status;
}

/* Queries whose leading bits differ from `leading` in at most `flips` of those to the left of bit `from`. */
static sstore_status test_queries_near(const sliced *self, uint64_t leading, uint32_t slice_bits, uint32_t from,
                                       int32_t flips)
{
    sstore_status status = test_queries(self, leading, slice_bits, flips);
    for (uint32_t bit = 0; status == SSTORE_OK && flips > 0 && bit < from; bit++)
        status = test_queries_near(self, leading ^ UINT64_C(1) << (63 - bit), slice_bits, bit, flips - 1);
    return status;
}

/* Whether a slice has more leading bits near it than there are queries: dense data make slices short, and a large radius is
 * near to much. Then each query is looked at instead, so that a slice never takes longer than that. */
static bool near_too_many(const table_pass *of, const slice *cut)
{
    return ss_probe_count(cut->bits, of->radius) > (double)of->batch->count;
}

/* How many flips a query has left at a slice, or less than 0: it is not near. */
static int32_t flips_left(const table_pass *of, const slice *cut, uint64_t query)
{
    return of->radius - (int32_t)ss_popcount((query ^ cut->first) & ss_high_mask(cut->bits));
}

static sstore_status test_each_query(const sliced *self, const slice *cut)
{
    const table_pass *of = self->of;
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < of->batch->count; i++) {
        const int32_t flips = flips_left(of, cut, of->queries[i].fingerprint);
        if (flips >= 0)
            status = test_query(self, &of->queries[i], flips);
    }
    return status;
}

static sstore_status test_slice(const sliced *self, const slice *cut)
{
    if (near_too_many(self->of, cut))
        return test_each_query(self, cut);
    return test_queries_near(self, cut->first, cut->bits, cut->bits, self->of->radius);
}

/* ----- slices ----- */

/* So many that a bucket has some fingerprints, if the slice's are spread evenly. A scan needs no index, but the one bit that leaves a
 * suffix of 63 bits. */
static uint32_t choose_index_bits(const table_pass *of, const slice *cut)
{
    uint64_t left = of->scans ? 0
                              : (uint64_t)((double)(cut->end_block - cut->begin_block) * of->block_mean / BUCKET_MIN);
    uint32_t bits = 1;
    for (; bits < INDEX_BITS && left > 1; left /= 2)
        bits++;
    return bits;
}

static sstore_status run_slice(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const table_pass *of = context;
    const slice *cut = &of->slices[task];
    workplace *place = &of->places[worker];
    sliced self = {.of = of, .cut = cut, .place = place, .worker = worker, .error = error};
    sstore_status status = SSTORE_OK;
    self.index_bits = ss_min_u32(choose_index_bits(of, cut), of->prefix_bits - cut->bits);
    self.suffix_bits = 64 - cut->bits - self.index_bits;
    /* More than one round only where a single prefix has as many blocks, or they are much fuller than most. */
    place->end_block = cut->begin_block;
    do {
        place->begin_block = place->end_block;
        status = test_slice(&self, cut);
    } while (status == SSTORE_OK && place->begin_block < place->end_block && place->end_block < cut->end_block);
    return status;
}

static sstore_status add_slice(table_pass *self, slice cut, sstore_error *error)
{
    slice *slices = ss_grow(self->slices, self->slice_count, &self->slice_capacity, 256, sizeof *slices);
    if (slices == NULL)
        return ss_fail_memory(error, 2 * self->slice_capacity * sizeof *slices);
    self->slices = slices;
    self->slices[self->slice_count++] = cut;
    return SSTORE_OK;
}

/* Cut what begins with the leading `bits` bits of `first` into slices. */
static sstore_status cut_slices(table_pass *self, uint64_t first, uint32_t bits, sstore_error *error)
{
    const ss_key_index *keys = &self->table->keys;
    uint64_t count = keys->keys.count, begin = ss_key_index_find(keys, first);
    if (begin == count)
        return SSTORE_OK;
    uint64_t end = ss_min_u64(ss_key_index_find(keys, first | ss_low_mask(64 - bits)) + 1, count);
    if (end - begin <= self->slice_blocks || bits == self->prefix_bits)
        return add_slice(self, (slice){.first = first, .begin_block = begin, .end_block = end, .bits = bits}, error);
    sstore_status status = cut_slices(self, first, bits + 1, error);
    return status == SSTORE_OK ? cut_slices(self, first | UINT64_C(1) << (63 - bits), bits + 1, error) : status;
}

/* ----- queries ----- */

static sstore_status sort_partitioned(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const table_pass *self = context;
    const size_t first = self->dealt[task];
    (void)worker, (void)error;
    ss_sort_records(self->queries + first, self->scratch + first, self->dealt[task + 1] - first);
    return SSTORE_OK;
}

/* Permute the queries and sort them. */
static sstore_status sort_queries(table_pass *self, sstore_error *error)
{
    const ss_batch *batch = self->batch;
    size_t next[1u << DEAL_BITS];
    self->queries = ss_realloc(NULL, batch->count, sizeof *self->queries);
    self->scratch = ss_realloc(NULL, batch->count, sizeof *self->scratch);
    if (self->queries == NULL || self->scratch == NULL)
        return ss_fail_memory(error, batch->count * 2 * sizeof *self->queries);
    for (uint32_t i = 0; i < batch->count; i++)
        self->dealt[(ss_permute(&self->table->permutation, batch->fingerprints[i]) >> (64 - DEAL_BITS)) + 1]++;
    for (uint32_t i = 0; i < 1u << DEAL_BITS; i++) {
        next[i] = self->dealt[i];
        self->dealt[i + 1] += self->dealt[i];
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t permuted = ss_permute(&self->table->permutation, batch->fingerprints[i]);
        self->queries[next[permuted >> (64 - DEAL_BITS)]++] = (sstore_record){.fingerprint = permuted, .id = i};
    }
    return ss_pool_run(batch->threads, 1u << DEAL_BITS, sort_partitioned, self, error);
}

static void free_scratch(table_pass *self)
{
    ss_free(self->scratch);
    self->scratch = NULL;
}

/* ----- tables ----- */

static sstore_status sweep_table(table_pass *self, sstore_error *error)
{
    sstore_status status = sort_queries(self, error);
    free_scratch(self);
    if (status == SSTORE_OK)
        status = cut_slices(self, 0, 0, error);
    for (uint32_t i = 0; i < self->batch->threads; i++)
        self->places[i].walk = ss_read_ahead_from(0, UINT64_MAX);
    if (status == SSTORE_OK)
        status = ss_pool_run(self->batch->threads, self->slice_count, run_slice, self, error);
    ss_free(self->queries);
    ss_free(self->slices);
    return status;
}

static void free_places(workplace *places, uint32_t count)
{
    for (uint32_t i = 0; places != NULL && i < count; i++) {
        ss_free(places[i].buffers);
        ss_free(places[i].decoded);
        ss_free(places[i].blocks);
        ss_free(places[i].block_of);
    }
    ss_free(places);
}

/* What a block is decoded to, where that is done. */
static size_t decoded_bytes_of(const ss_batch *batch)
{
    return batch->distance > SS_HALVES_TELL ? ss_block_capacity(batch->segment->metadata.block_bytes) * sizeof(uint64_t)
                                            : 0;
}

/* Room for so many blocks at each of the threads' places. */
static sstore_status make_places(const ss_batch *batch, uint32_t capacity, workplace **places_out, sstore_error *error)
{
    const uint32_t block_bytes = batch->segment->metadata.block_bytes;
    const size_t max_groups = (size_t)capacity * ss_group_count(ss_block_capacity(block_bytes));
    const size_t decoded_bytes = decoded_bytes_of(batch);
    const bool buffered = batch->store->options.io == SSTORE_IO_PREAD, decoded = decoded_bytes > 0;
    workplace *places = ss_alloc(batch->threads, sizeof *places);
    bool made = places != NULL;
    for (uint32_t i = 0; made && i < batch->threads; i++) {
        places[i].capacity = capacity;
        places[i].blocks = ss_alloc(capacity + 1, sizeof *places[i].blocks);
        places[i].block_of = ss_realloc(NULL, max_groups, sizeof *places[i].block_of);
        places[i].buffers = buffered ? ss_realloc(NULL, capacity, block_bytes) : NULL;
        places[i].decoded = decoded ? ss_realloc(NULL, capacity, decoded_bytes) : NULL;
        made = places[i].blocks != NULL && places[i].block_of != NULL && (!buffered || places[i].buffers != NULL) &&
               (!decoded || places[i].decoded != NULL);
    }
    *places_out = places;
    if (made)
        return SSTORE_OK;
    free_places(places, batch->threads);
    return ss_fail_memory(error,
                          (uint64_t)batch->threads * capacity * (block_bytes + decoded_bytes + sizeof *places->blocks));
}

static bool sweeps_table(const ss_batch *batch, uint32_t number, bool scan)
{
    return scan ? number == 0 : batch->plan->radii[number] != SS_NO_PROBE;
}

sstore_status ss_batch_pass(const ss_batch *batch, bool scan, sstore_error *error)
{
    const ss_plan *plan = &batch->segment->metadata.plan;
    const ss_cost_model *costs = &batch->segment->costs;
    const uint64_t in_cache = (uint64_t)(SLICE_FINGERPRINTS * costs->block_count / (costs->fingerprint_count + 1));
    const uint64_t shared = ss_max_u64((uint64_t)costs->block_count / (SLICES_A_THREAD * batch->threads),
                                       SCANNED_BLOCKS);
    const uint64_t slice_blocks = 1 + (scan ? ss_min_u64(in_cache, shared) : in_cache);
    const uint64_t wanted = ss_min_u64(MAX_BLOCKS_TIMES * slice_blocks, (uint64_t)costs->block_count + 1);
    workplace *places;
    const uint64_t max = ss_max_u64(1, MAX_BYTES / (batch->segment->metadata.block_bytes + decoded_bytes_of(batch)));
    sstore_status status = make_places(batch, (uint32_t)ss_min_u64(wanted, max), &places, error);
    if (status != SSTORE_OK)
        return status;
    for (uint32_t i = 0; status == SSTORE_OK && i < plan->table_count; i++) {
        if (!sweeps_table(batch, i, scan))
            continue;
        table_pass self = {.batch = batch,
                           .scans = scan,
                           .table = &batch->segment->tables[i],
                           .number = i,
                           .places = places,
                           .slice_blocks = slice_blocks,
                           .block_mean = costs->fingerprint_count / fmax(1, costs->block_count),
                           .prefix_bits = scan ? SS_FINGERPRINT_BITS : ss_query_prefix_bits(batch->plan, plan, i),
                           .radius = scan ? (int32_t)batch->distance : batch->plan->radii[i]};
        status = sweep_table(&self, error);
    }
    free_places(places, batch->threads);
    return status;
}

double ss_batch_pass_cost(const ss_batch *batch, bool scan)
{
    const ss_cost_model *costs = &batch->segment->costs;
    const ss_plan *plan = &batch->segment->metadata.plan;
    const double decode_ns = batch->distance > SS_HALVES_TELL ? DECODE_NS : 0;
    const double useful_bits = scan ? 0 : log2(fmax(1, costs->fingerprint_count / BUCKET_MEAN));
    double cost = 0;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        if (!sweeps_table(batch, i, scan))
            continue;
        const uint32_t bits = (uint32_t)fmin(ss_query_prefix_bits(batch->plan, plan, i), useful_bits);
        const double buckets = batch->count * (scan ? 1 : ss_probe_count(bits, batch->plan->radii[i]));
        const double candidates = buckets * costs->fingerprint_count / ldexp(1, (int)bits);
        cost += costs->block_count * BLOCK_NS + costs->fingerprint_count * decode_ns + buckets * BUCKET_NS +
                candidates * TEST_NS;
    }
    return cost;
}
