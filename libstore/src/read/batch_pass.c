/*
 * batch_pass.c - passes of many queries over a table. A table is cut into slices by leading bits. The blocks of a slice
 * are read once, and an index over the next bits leads every probe to its few groups, whose lower halves are tested.
 * Only the queries are sorted.
 *
 * A slice is a power of two of the key space that holds about SLICE_FINGERPRINTS at most, but it has no more leading
 * bits than the table's prefix. So slices are as fine as the data is dense, and a slice's blocks and index stay in a
 * core's cache while the queries are tested. The index's buckets are prefixes as well, mostly shorter than the table's.
 * A probe with a shorter prefix finds more candidates, never fewer, and testing these is faster than using a longer
 * prefix.
 *
 * A full scan is a pass over table 0 without an index: all of a slice is tested against the queries whose leading bits
 * are within the distance.
 */
#include "read/batch_pass.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "plan/durations.h"
#include "read/search.h"
#include "sort/partitions.h"

#define SLICE_FINGERPRINTS 64000.0 /* on average, if its blocks are as full as all */
#define MAX_BLOCKS_TIMES 2u        /* as many times the blocks that a slice should have are read together, */
#define MAX_BYTES (4u << 20)       /* but at most these bytes, with decoded ones: nearly empty blocks are many */
#define SLICES_A_THREAD 8u         /* in a full scan of a small table, */
#define SCANNED_BLOCKS 16u         /* but with this number of blocks in each */
#define INDEX_BITS 11u             /* at most, */
#define BUCKET_MIN 16.0            /* and no more than give a bucket this number of fingerprints on average */
#define LOW_BITS 3u                /* of a bucket: those that differ in these are tested together if flips are left */

#define BUCKET_MEAN 64.0 /* how many it has, unless the prefix is too short */

#define WORK_BATCH (UINT64_C(1) << 16) /* nanoseconds that are counted at once */

/* A slice of a table: the fingerprints that begin with the leading `bits` bits of `first`. */
typedef struct table_slice {
    uint64_t first;
    uint64_t begin_block, end_block; /* that have them, and perhaps others */
    uint32_t bits;
} table_slice;

/* A block of a slice. */
typedef struct slice_block {
    uint64_t block_number, rank; /* rank: of its first fingerprint, in table 0 */
    uint32_t first_group;        /* of all groups of the slice */
    ss_block block;
    uint64_t *decoded; /* all of it, or NULL: only groups with a near lower half are decoded */
} slice_block;

typedef struct slice_worker slice_worker;

/* One table and the queries of the batch. */
typedef struct table_pass {
    const ss_index_batch *batch;
    const ss_table *table;
    uint32_t table_number;
    bool is_full_scan; /* every fingerprint is tested, not only those with a probed prefix */
    uint32_t prefix_bits;
    int32_t radius;
    ss_record *queries; /* permuted fingerprint, and index in the batch as id: ascending */
    ss_record *scratch; /* for as many, while they are sorted */
    table_slice *slices;
    size_t slice_count, slice_capacity;
    uint64_t slice_blocks; /* in a slice at most, unless they have one prefix */
    slice_worker *workers; /* one a thread */
} table_pass;

/* The memory of one thread, and the slice that it tests. */
struct slice_worker {
    const table_pass *pass;
    const table_slice *slice;
    uint32_t index_bits, suffix_bits; /* a fingerprint is the slice's bits, the bucket's, and the suffix */
    uint32_t worker_number;
    sstore_error *error;
    uint8_t *buffers;    /* for the blocks, in pread mode */
    uint64_t *decoded;   /* for the blocks, if they are decoded */
    slice_block *blocks; /* and one behind them, of which only first_group counts */
    uint32_t block_count, block_capacity;
    uint64_t begin_block, end_block; /* the blocks in `blocks`; empty until a query needs them */
    uint32_t *block_of;              /* each group's block */
    ss_near near;
    uint64_t work;                           /* nanoseconds that are not counted yet */
    uint64_t pass_block_count;               /* of all blocks that were read */
    ss_read_ahead ahead;                     /* through the slices in their order */
    uint32_t begins[(1u << INDEX_BITS) + 1]; /* the groups that may have bucket k are begins[k] to begins[k + 1] */
};

/* ----- a slice's blocks ----- */

/* Get block `number` as the next one of the slice. */
static sstore_status get_block(slice_worker *self, uint64_t number, slice_block *to)
{
    const table_pass *pass = self->pass;
    const ss_table *table = pass->table;
    const size_t index = self->block_count, block_bytes = table->blocks.header.block_bytes;
    const uint8_t *bytes;
    uint8_t *buffer = self->buffers != NULL ? self->buffers + index * block_bytes : NULL;
    to->block_number = number;
    to->rank = pass->table_number == 0 ? ss_array_at(&pass->batch->index->ranks, number) : 0;
    to->decoded = self->decoded != NULL ? self->decoded + index * ss_block_capacity((uint32_t)block_bytes) : NULL;
    ss_block_reader_ahead(&table->blocks, number, &self->ahead);
    self->pass_block_count++;
    sstore_status status = ss_block_reader_get(&table->blocks, number, buffer, &bytes, self->error);
    if (status == SSTORE_OK)
        status = ss_checked_block_open(&table->checked, number, bytes, &to->block, self->error);
    if (status == SSTORE_OK && to->decoded != NULL)
        status = ss_checked_block_decode(&table->checked, number, &to->block, to->decoded, self->error);
    return status;
}

/* The first bucket that begins at or above a fingerprint; behind the last one if there is none. */
static uint64_t bucket_from(const slice_worker *self, uint64_t fingerprint)
{
    const table_slice *slice = self->slice;
    const uint64_t end = (UINT64_C(1) << self->index_bits) + 1;
    if (fingerprint <= slice->first)
        return 0;
    if (fingerprint - slice->first > ss_low_mask(64 - slice->bits))
        return end;
    return ss_min_u64(((fingerprint - slice->first - 1) >> self->suffix_bits) + 1, end);
}

/* Get blocks from begin_block on, up to the slice's end or as many as fit. Note for each bucket in which of their
 * groups its first fingerprint would be. */
static sstore_status get_blocks(slice_worker *self)
{
    const uint64_t bucket_end = (UINT64_C(1) << self->index_bits) + 1;
    uint64_t bucket = 0;
    uint32_t groups = 0;
    self->block_count = 0;
    for (uint64_t number = self->begin_block;
         number < self->slice->end_block && self->block_count < self->block_capacity; number++) {
        slice_block *in = &self->blocks[self->block_count];
        const sstore_status status = get_block(self, number, in);
        if (status != SSTORE_OK)
            return status;
        in->first_group = groups;
        for (uint32_t i = 0; i < in->block.group_count; i++, groups++) {
            uint64_t first;
            if (!ss_block_group_first(&in->block, i, &first))
                return ss_block_reader_malformed(&self->pass->table->blocks, number, SS_MALFORMED_GROUP, self->error);
            for (const uint64_t from = bucket_from(self, first); bucket < from; bucket++)
                self->begins[bucket] = groups > 0 ? groups - 1 : 0;
            self->block_of[groups] = self->block_count;
        }
        self->block_count++;
    }
    while (bucket < bucket_end)
        self->begins[bucket++] = groups - 1;
    self->blocks[self->block_count].first_group = groups;
    self->end_block = self->begin_block + self->block_count;
    return SSTORE_OK;
}

/* ----- testing ----- */

static sstore_status report_hit(const slice_worker *self, const ss_record *query, uint64_t permuted, uint64_t rank)
{
    const table_pass *pass = self->pass;
    const ss_index_batch *batch = pass->batch;
    const uint64_t pattern = ss_unpermute(&pass->table->permutation, permuted ^ query->fingerprint);
    if (!pass->is_full_scan &&
        ss_plan_first_cover(&batch->index->metadata.plan, batch->plan->radii, pattern) != pass->table_number)
        return SSTORE_OK;
    const ss_index_hit hit = {.fingerprint = ss_unpermute(&pass->table->permutation, permuted),
                              .rank = pass->table_number == 0 ? rank : SS_NO_RANK,
                              .query = (uint32_t)query->id};
    return batch->on_hit(batch->context, self->worker_number, &hit, self->error);
}

/* Find the next group with a near fingerprint that may be new. */
static sstore_status find_near(slice_worker *self, const ss_record *query, const slice_block *in)
{
    const ss_index_batch *batch = self->pass->batch;
    const ss_checked_blocks *checked = &self->pass->table->checked;
    const uint32_t lower = (uint32_t)query->fingerprint;
    ss_near *near = &self->near;
    near->decoded = in->decoded;
    if (near->decoded != NULL)
        return ss_checked_block_find_near(checked, in->block_number, &in->block, near, self->error);
    for (;; near->group++) {
        near->group = ss_block_find_lower(&in->block, near->group, near->end, lower, near->lower_distance, &near->mask);
        if (SS_LIKELY(near->group == near->end))
            return SSTORE_OK;
        self->work += SS_GROUP_DECODE_NS;
        if (ss_may_be_new(batch->index, batch->plan, self->pass->table_number, &in->block, near->group, lower,
                          near->mask))
            return ss_checked_block_keep_near(checked, in->block_number, &in->block, near, self->error);
    }
}

/* Whether hits may be left out. */
static bool may_skip(const table_pass *pass)
{
    return pass->is_full_scan && pass->batch->first != NULL && pass->batch->first->skips;
}

/* In a full scan, count the near fingerprints of a group between first and last that need not be stored, and keep the
 * others. */
static void skip_hits(slice_worker *self, const ss_record *query, const slice_block *in, uint64_t first, uint64_t last)
{
    const ss_index_batch *batch = self->pass->batch;
    ss_near *near = &self->near;
    const int32_t bound = ss_first_hits_bound(batch->first, (uint32_t)query->id, batch->distance);
    uint64_t records = 0, left = near->mask;
    for (uint64_t mask = near->mask; mask != 0; mask &= mask - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(mask);
        const uint64_t value = near->values[i];
        const bool is_kept = (int32_t)ss_popcount(value ^ query->fingerprint) <= bound;
        if (is_kept)
            continue;
        left &= ~(UINT64_C(1) << i);
        if (value >= first && value <= last)
            records += ss_first_hits_records(batch->first, in->rank + near->group * SS_GROUP_SIZE + i);
    }
    near->mask = left;
    ss_first_hits_skip(batch->first, (uint32_t)query->id, records);
}

/* Test groups of a block, and report the matches between first and last. */
static sstore_status test_groups(slice_worker *self, const ss_record *query, const slice_block *in, uint64_t first,
                                 uint64_t last)
{
    ss_near *near = &self->near;
    for (;; near->group++) {
        sstore_status status = find_near(self, query, in);
        if (status != SSTORE_OK || SS_LIKELY(near->group == near->end))
            return status;
        if (may_skip(self->pass))
            skip_hits(self, query, in, first, last);
        for (uint64_t mask = near->mask; mask != 0; mask &= mask - 1) {
            const uint32_t i = (uint32_t)__builtin_ctzll(mask);
            const uint64_t value = near->values[i];
            if (value >= first && value <= last)
                status = report_hit(self, query, value, in->rank + near->group * SS_GROUP_SIZE + i);
            if (status != SSTORE_OK)
                return status;
        }
    }
}

/* Test the groups that may have a bucket, and those that differ from it in its lowest `low_bits` bits. */
static sstore_status test_buckets(slice_worker *self, const ss_record *query, uint64_t bucket, uint32_t low_bits)
{
    const uint64_t first_bucket = bucket & ~ss_low_mask(low_bits), last_bucket = bucket | ss_low_mask(low_bits);
    const uint64_t unknown = ss_low_mask(self->suffix_bits + low_bits);
    const uint64_t first = self->slice->first | first_bucket << self->suffix_bits, last = first | unknown;
    const uint32_t known = ss_popcount((first ^ query->fingerprint) & ~unknown & ~UINT64_C(0) << SS_UPPER_BITS);
    const uint32_t distance = self->pass->batch->distance;
    const uint32_t last_group = self->begins[last_bucket + 1];
    ss_near *near = &self->near;
    sstore_status status = SSTORE_OK;
    near->query = query->fingerprint;
    near->distance = distance;
    near->lower_distance = distance > known ? distance - known : 0;
    for (uint32_t group = self->begins[first_bucket]; status == SSTORE_OK && group <= last_group;) {
        const slice_block *in = &self->blocks[self->block_of[group]];
        near->group = group - in->first_group;
        near->end = ss_min_u32(last_group + 1, in[1].first_group) - in->first_group;
        near->any = false;
        self->work += SS_BUCKET_NS + (near->end - near->group) * SS_GROUP_TEST_NS;
        group = in->first_group + near->end;
        status = test_groups(self, query, in, first, last);
    }
    return status;
}

/* Test the buckets that differ from `bucket` in at most `flips` of the bits below bit `from`. Consecutive buckets share
 * most of their groups and are tested together. */
static sstore_status test_near(slice_worker *self, const ss_record *query, uint64_t bucket, uint32_t from,
                               int32_t flips)
{
    const uint32_t low_bits = flips > 0 ? ss_min_u32(from, LOW_BITS) : 0;
    sstore_status status = test_buckets(self, query, bucket, low_bits);
    for (uint32_t bit = low_bits; status == SSTORE_OK && flips > 0 && bit < from; bit++)
        status = test_near(self, query, bucket ^ UINT64_C(1) << bit, bit, flips - 1);
    return status;
}

static sstore_status test_query(slice_worker *self, const ss_record *query, int32_t flips)
{
    const uint64_t bucket = query->fingerprint >> self->suffix_bits & ss_low_mask(self->index_bits);
    sstore_status status = self->end_block == self->begin_block ? get_blocks(self) : SSTORE_OK;
    if (status == SSTORE_OK)
        status = test_near(self, query, bucket, self->index_bits, flips);
    if (status != SSTORE_OK || self->work < WORK_BATCH)
        return status;
    const uint64_t work = self->work;
    self->work = 0;
    return ss_index_batch_spend(self->pass->batch, work);
}

SS_ALWAYS_INLINE bool query_is_below(const void *queries, uint64_t index, uint64_t target)
{
    return ((const ss_record *)queries)[index].fingerprint < target;
}

/* Test the queries whose leading bits differ from `leading` in at most `flips` of those to the left of bit `from`,
 * and in no other one. */
static sstore_status test_queries(slice_worker *self, uint64_t leading, uint32_t from, int32_t flips)
{
    const ss_record *queries = self->pass->queries;
    const uint32_t count = self->pass->batch->count;
    const uint64_t last = leading | ss_low_mask(64 - self->slice->bits);
    sstore_status status = SSTORE_OK;
    for (uint64_t i = ss_lower_bound(queries, 0, count, leading, query_is_below);
         status == SSTORE_OK && i < count && queries[i].fingerprint <= last; i++)
        status = test_query(self, &queries[i], flips);
    for (uint32_t bit = 0; status == SSTORE_OK && flips > 0 && bit < from; bit++)
        status = test_queries(self, leading ^ UINT64_C(1) << (63 - bit), bit, flips - 1);
    return status;
}

/* Test a slice against the queries near it. If more leading bits are near it than there are queries, each query is
 * tested instead, which bounds the time of a slice: dense data have short slices, and a large radius has many near
 * prefixes. */
static sstore_status test_slice(slice_worker *self)
{
    const table_pass *pass = self->pass;
    const table_slice *slice = self->slice;
    sstore_status status = SSTORE_OK;
    if (ss_probe_count(slice->bits, pass->radius) <= (double)pass->batch->count)
        return test_queries(self, slice->first, slice->bits, pass->radius);
    for (size_t i = 0; status == SSTORE_OK && i < pass->batch->count; i++) {
        const uint64_t differing = (pass->queries[i].fingerprint ^ slice->first) & ss_high_mask(slice->bits);
        const int32_t flips = pass->radius - (int32_t)ss_popcount(differing);
        if (flips >= 0)
            status = test_query(self, &pass->queries[i], flips);
    }
    return status;
}

/* ----- slices ----- */

/* Choose as many that a bucket has some fingerprints, if the slice's are spread evenly. A full scan needs no index, but
 * the one bit that leaves a suffix of 63 bits. */
static uint32_t choose_index_bits(const table_pass *pass, const table_slice *slice)
{
    const ss_cost_model *costs = &pass->batch->index->costs;
    const double block_mean = costs->fingerprint_count / fmax(1, costs->block_count);
    uint64_t left = pass->is_full_scan
                        ? 0
                        : (uint64_t)((double)(slice->end_block - slice->begin_block) * block_mean / BUCKET_MIN);
    uint32_t bits = 1;
    for (; bits < INDEX_BITS && left > 1; left /= 2)
        bits++;
    return ss_min_u32(bits, pass->prefix_bits - slice->bits);
}

static sstore_status run_slice(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const table_pass *pass = context;
    const table_slice *slice = &pass->slices[task];
    slice_worker *self = &pass->workers[worker];
    sstore_status status = ss_progress_add(pass->batch->progress, worker, 0);
    if (status != SSTORE_OK)
        return status;
    self->pass = pass;
    self->slice = slice;
    self->worker_number = worker;
    self->error = error;
    self->index_bits = choose_index_bits(pass, slice);
    self->suffix_bits = 64 - slice->bits - self->index_bits;
    /* More than one round only if a single prefix has as many blocks, or they are much fuller than most. */
    self->end_block = slice->begin_block;
    do {
        self->begin_block = self->end_block;
        status = test_slice(self);
    } while (status == SSTORE_OK && self->begin_block < self->end_block && self->end_block < slice->end_block);
    return status;
}

/* Cut the fingerprints that begin with the leading `bits` bits of `first` into slices. */
static sstore_status cut_slices(table_pass *self, uint64_t first, uint32_t bits, sstore_error *error)
{
    const ss_key_index *keys = &self->table->keys;
    const uint64_t count = keys->keys.count, begin = ss_key_index_find(keys, first);
    if (begin == count)
        return SSTORE_OK;
    const uint64_t end = ss_min_u64(ss_key_index_find(keys, first | ss_low_mask(64 - bits)) + 1, count);
    if (end - begin > self->slice_blocks && bits < self->prefix_bits) {
        const sstore_status status = cut_slices(self, first, bits + 1, error);
        return status == SSTORE_OK ? cut_slices(self, first | UINT64_C(1) << (63 - bits), bits + 1, error) : status;
    }
    table_slice *slices = ss_grow(self->slices, self->slice_count, &self->slice_capacity, 256, sizeof *slices);
    if (slices == NULL)
        return ss_fail_memory(error, 2 * self->slice_capacity * sizeof *slices);
    self->slices = slices;
    self->slices[self->slice_count++] =
        (table_slice){.first = first, .begin_block = begin, .end_block = end, .bits = bits};
    return SSTORE_OK;
}

/* ----- tables ----- */

/* Permute the queries and sort them. */
static sstore_status sort_queries(table_pass *self, sstore_error *error)
{
    const ss_index_batch *batch = self->batch;
    const ss_permutation *permutation = &self->table->permutation;
    self->queries = ss_realloc(NULL, batch->count, sizeof *self->queries);
    self->scratch = ss_realloc(NULL, batch->count, sizeof *self->scratch);
    if (self->queries == NULL || self->scratch == NULL)
        return ss_fail_memory(error, batch->count * 2 * sizeof *self->queries);
    for (uint32_t i = 0; i < batch->count; i++)
        self->scratch[i] = (ss_record){ss_permute(permutation, batch->queries[i]), i};
    return ss_partitions_sort(self->scratch, self->queries, batch->count, NULL, 1, batch->threads, error);
}

static sstore_status run_pass(table_pass *self, sstore_error *error)
{
    sstore_status status = sort_queries(self, error);
    ss_free(self->scratch);
    if (status == SSTORE_OK)
        status = cut_slices(self, 0, 0, error);
    for (uint32_t i = 0; i < self->batch->threads; i++)
        self->workers[i].ahead = ss_read_ahead_from(0, UINT64_MAX);
    if (status == SSTORE_OK)
        status = ss_pool_run(self->batch->threads, self->slice_count, run_slice, self, error);
    ss_free(self->queries);
    ss_free(self->slices);
    return status;
}

/* ----- all tables ----- */

static void free_workers(slice_worker *workers, uint32_t count)
{
    for (uint32_t i = 0; workers != NULL && i < count; i++) {
        ss_free(workers[i].buffers);
        ss_free(workers[i].decoded);
        ss_free(workers[i].blocks);
        ss_free(workers[i].block_of);
    }
    ss_free(workers);
}

/* The bytes that a block is decoded to; 0: only groups are decoded. */
static size_t decoded_block_bytes(const ss_index_batch *batch)
{
    const size_t capacity = ss_block_capacity(batch->index->metadata.block_bytes);
    return batch->distance > SS_HALVES_TELL ? capacity * sizeof(uint64_t) : 0;
}

/* Allocate the threads' memory, for `block_capacity` blocks each. NULL if memory is short. */
static slice_worker *make_workers(const ss_index_batch *batch, uint32_t block_capacity)
{
    const uint32_t block_bytes = batch->index->metadata.block_bytes;
    const size_t max_groups = (size_t)block_capacity * ss_group_count(ss_block_capacity(block_bytes));
    const size_t decoded_bytes = decoded_block_bytes(batch);
    const bool buffered = batch->index->costs.io == SSTORE_IO_PREAD, decoded = decoded_bytes > 0;
    slice_worker *workers = ss_alloc(batch->threads, sizeof *workers);
    bool made = workers != NULL;
    for (uint32_t i = 0; made && i < batch->threads; i++) {
        slice_worker *self = &workers[i];
        self->block_capacity = block_capacity;
        self->blocks = ss_alloc(block_capacity + 1, sizeof *self->blocks);
        self->block_of = ss_realloc(NULL, max_groups, sizeof *self->block_of);
        self->buffers = buffered ? ss_realloc(NULL, block_capacity, block_bytes) : NULL;
        self->decoded = decoded ? ss_realloc(NULL, block_capacity, decoded_bytes) : NULL;
        made = self->blocks != NULL && self->block_of != NULL && (!buffered || self->buffers != NULL) &&
               (!decoded || self->decoded != NULL);
    }
    if (made)
        return workers;
    free_workers(workers, batch->threads);
    return NULL;
}

static bool needs_table(const ss_index_batch *batch, uint32_t table, bool full_scan)
{
    return full_scan ? table == 0 : batch->plan->radii[table] != SS_NO_PROBE;
}

sstore_status ss_batch_pass(const ss_index_batch *batch, bool full_scan, sstore_error *error)
{
    const ss_plan *plan = &batch->index->metadata.plan;
    const ss_cost_model *costs = &batch->index->costs;
    const uint64_t block_count = (uint64_t)costs->block_count;
    const uint64_t in_cache = (uint64_t)(SLICE_FINGERPRINTS * costs->block_count / (costs->fingerprint_count + 1));
    const uint64_t shared = ss_max_u64(block_count / (SLICES_A_THREAD * batch->threads), SCANNED_BLOCKS);
    const uint64_t slice_blocks = 1 + (full_scan ? ss_min_u64(in_cache, shared) : in_cache);
    const uint64_t block_bytes = batch->index->metadata.block_bytes + decoded_block_bytes(batch);
    const uint64_t wanted = ss_min_u64(MAX_BLOCKS_TIMES * slice_blocks, block_count + 1);
    const uint64_t capacity = ss_min_u64(wanted, ss_max_u64(1, MAX_BYTES / block_bytes));
    sstore_status status = SSTORE_OK;
    slice_worker *workers = make_workers(batch, (uint32_t)capacity);
    if (workers == NULL)
        return ss_fail_memory(error, batch->threads * capacity * (block_bytes + sizeof *workers->blocks));
    for (uint32_t i = 0; status == SSTORE_OK && i < plan->table_count; i++) {
        table_pass self = {.batch = batch,
                           .table = &batch->index->tables[i],
                           .table_number = i,
                           .is_full_scan = full_scan,
                           .prefix_bits = full_scan ? SS_FINGERPRINT_BITS : ss_query_prefix_bits(batch->plan, plan, i),
                           .radius = full_scan ? (int32_t)batch->distance : batch->plan->radii[i],
                           .slice_blocks = slice_blocks,
                           .workers = workers};
        if (needs_table(batch, i, full_scan))
            status = run_pass(&self, error);
    }
    for (uint32_t i = 0; batch->block_count != NULL && i < batch->threads; i++)
        *batch->block_count += workers[i].pass_block_count;
    free_workers(workers, batch->threads);
    return status;
}

double ss_batch_pass_cost(const ss_index_batch *batch, bool full_scan)
{
    const ss_cost_model *costs = &batch->index->costs;
    const ss_plan *plan = &batch->index->metadata.plan;
    const double decode_ns = batch->distance > SS_HALVES_TELL ? SS_PASS_DECODE_NS : 0;
    const double useful_bits = full_scan ? 0 : log2(fmax(1, costs->fingerprint_count / BUCKET_MEAN));
    double cost = 0;
    for (uint32_t i = 0; i < plan->table_count; i++) {
        if (!needs_table(batch, i, full_scan))
            continue;
        const uint32_t bits = (uint32_t)fmin(ss_query_prefix_bits(batch->plan, plan, i), useful_bits);
        const double buckets = batch->count * (full_scan ? 1 : ss_probe_count(bits, batch->plan->radii[i]));
        const double candidates = buckets * costs->fingerprint_count / ldexp(1, (int)bits);
        cost += costs->block_count * SS_PASS_BLOCK_NS + costs->fingerprint_count * decode_ns + buckets * SS_BUCKET_NS +
                candidates * SS_BUCKET_TEST_NS;
    }
    return cost;
}
