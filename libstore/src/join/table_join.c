#include "join/table_join.h"

#include "base/error.h"
#include "base/memory.h"
#include "join/edge_filter.h"

/* From here on k + 1 bit groups would save next to nothing: 15 of 4.3 bits, a quarter of all tests. */
#define ONE_GROUP_DISTANCE 14u
#define ADD_BATCH 1024u
#define WORKERS_DIVISOR 4u               /* of memory, that workers take: 1/4 */
#define SPARE_PLACES 2u                  /* in a filter of edges, as many more as make it faster */
#define EDGES_DIVISOR 3u                 /* of memory, that filters of edges take: 1/3 */
#define MIN_PIECE ((uint64_t)512)        /* items */
#define USEFUL_PIECE ((uint64_t)2048)    /* items; rather than work on smaller pieces, a thread is left out */
#define MAX_ALONE ((uint64_t)1 << 17)    /* items of a group that one thread may join, however few there are in all */
#define GROUP_MAX ((uint64_t)UINT32_MAX) /* items of a group, whose indexes have 32 bits */
#define PERMUTING_FRACTION 0.35          /* of a bit group's time */
#define MAX_LEVELS 3u                    /* of large groups, each within a larger one; then they are joined in chunks */

/* A join at work. */
typedef struct join_run {
    const ss_join_options *options;
    const ss_fingerprint_ranges *sources[2]; /* the second is NULL but for SS_JOIN_CROSS */
    uint64_t count;                          /* of the fingerprints of both */
    uint32_t bit_group_count;
    ss_join_team team;
    ss_chunk_pool pool;
    double begin_fraction;
} join_run;

/* What is joined: all fingerprints, or the group of them that has these bits. */
typedef struct join_level {
    uint32_t depth;
    uint64_t mask, bits;
    uint64_t count;   /* of the fingerprints */
    uint64_t varying; /* the bits that they differ in */
    uint32_t except_count;
    uint64_t except[SS_GROUP_MAX_EXCEPT]; /* pairs that are equal under one of these masks are found elsewhere */
} join_level;

/* ----- memory ----- */

static sstore_status open_run(join_run *self, ss_join_kind kind, sstore_error *error)
{
    const ss_join_options *options = self->options;
    const uint64_t memory = options->memory_bytes, count = self->count;
    const size_t item_bytes = kind == SS_JOIN_CROSS ? sizeof(ss_record) : sizeof(uint64_t);
    uint32_t threads = ss_pool_threads(options->threads);
    /* Groups that exceed a thread's memory are divided, or joined chunk against chunk. That takes far more time than
     * threads save. */
    const uint64_t useful = memory / WORKERS_DIVISOR / ss_join_team_item_bytes(threads, item_bytes) * threads /
                            USEFUL_PIECE;
    threads = (uint32_t)ss_max_u64(ss_min_u64(threads, useful), 1);
    const uint64_t room = memory / WORKERS_DIVISOR / ss_join_team_item_bytes(threads, item_bytes);
    const uint64_t piece = ss_max_u64(ss_min_u64(room, count), MIN_PIECE);
    /* If all items are in one group, it is divided, so that all threads have work. */
    const uint64_t alone = ss_min_u64(ss_max_u64(count / (4 * threads), MAX_ALONE), GROUP_MAX);
    const uint64_t group = ss_max_u64(ss_min_u64(piece * SS_GROUP_PIECES, alone), 2 * MIN_PIECE);
    const uint64_t max_edges = memory / EDGES_DIVISOR / ss_edge_filter_bytes(1);
    const bool shares_edges = count <= max_edges;
    ss_join_team *team = &self->team;
    *team = (ss_join_team){.kind = kind,
                           .options = options,
                           .threads = threads,
                           .item_bytes = item_bytes,
                           .group_capacity = (size_t)group,
                           .piece_capacity = (size_t)ss_min_u64(piece, group / 2),
                           .shares_edges = shares_edges,
                           .edge_capacity = (size_t)(shares_edges ? ss_min_u64(SPARE_PLACES * count, max_edges)
                                                                  : max_edges / threads)};
    team->bytes = ss_join_team_item_bytes(threads, item_bytes) * team->piece_capacity;
    if (kind == SS_JOIN_SPANNING)
        team->bytes += (shares_edges ? 1 : threads) * ss_edge_filter_bytes(team->edge_capacity);
    const sstore_status status = ss_join_team_open(team, error);
    const uint64_t pool_bytes = memory > team->bytes ? memory - team->bytes : 0;
    return status == SSTORE_OK ? ss_sorter_pool_open(&self->pool, pool_bytes, threads, error) : status;
}

/* ----- permuting ----- */

/* Adds the permuted fingerprints of a level to a sorter. */
typedef struct permute_run {
    const join_run *join;
    const join_level *level;
    const ss_permutation *permutation;
    ss_sorter *sorter;
    uint32_t worker; /* of one range */
    uint64_t side;
} permute_run;

static sstore_status permute_values(void *sink, const uint64_t *values, size_t count, sstore_error *error)
{
    const permute_run *self = sink;
    const join_level *level = self->level;
    uint64_t permuted[ADD_BATCH], sides[ADD_BATCH];
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; i < ADD_BATCH && i < count; i++)
        sides[i] = self->side;
    for (size_t done = 0; status == SSTORE_OK && done < count;) {
        const size_t end = count - done < ADD_BATCH ? count : done + ADD_BATCH;
        size_t size = 0;
        for (; done < end; done++) {
            permuted[size] = ss_permute(self->permutation, values[done]);
            size += (values[done] & level->mask) == level->bits;
        }
        status = ss_sorter_add(self->sorter, self->worker, permuted, sides, size, error);
    }
    return status == SSTORE_OK ? ss_progress_add(self->join->options->progress, self->worker, count) : status;
}

static sstore_status permute_range(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    permute_run self = *(const permute_run *)context;
    const ss_fingerprint_ranges *const *sources = self.join->sources;
    const bool right = task >= sources[0]->range_count;
    const uint64_t range = right ? task - sources[0]->range_count : task;
    self.worker = worker;
    self.side = right ? SS_RIGHT : SS_LEFT;
    return sources[right]->read(sources[right]->context, (uint32_t)range, worker, permute_values, &self, error);
}

/* ----- bit groups ----- */

/* The mask of a bit group: its share of the varying bits, as many as the others have, or one more. 0: all fingerprints
 * are one group. */
static uint64_t bit_group_mask(const join_run *self, uint64_t varying, uint32_t bit_group)
{
    if (self->options->distance >= ONE_GROUP_DISTANCE)
        return 0;
    const uint32_t bits = ss_popcount(varying), count = self->bit_group_count;
    const uint32_t begin = bits * bit_group / count, end = bits * (bit_group + 1) / count;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < end; i++) { /* from the highest on */
        const uint64_t highest = UINT64_C(1) << (63 - __builtin_clzll(varying));
        mask |= i >= begin ? highest : 0;
        varying ^= highest;
    }
    return mask;
}

/* Begin a phase that ends with this part of a bit group's time. Large groups are part of the one that they are from. */
static void begin_phase(const join_run *self, const join_level *level, const char *phase, uint32_t bit_group,
                        double part)
{
    const ss_join_options *options = self->options;
    if (level->depth > 0)
        return;
    options->progress->now.table_count = self->bit_group_count;
    ss_progress_begin(options->progress, phase, bit_group, self->count,
                      self->begin_fraction +
                          (options->end_fraction - self->begin_fraction) * (bit_group + part) / self->bit_group_count);
}

static sstore_status join_bit_groups(join_run *self, const join_level *level, sstore_error *error);

static sstore_status join_bit_group(join_run *self, const join_level *level, uint32_t number, sstore_error *error)
{
    ss_join_team *team = &self->team;
    const ss_sorter_options options = {.item_words = team->kind == SS_JOIN_CROSS ? 2 : 1,
                                       .writers = team->threads,
                                       .pool = &self->pool,
                                       .piece_capacity = team->piece_capacity,
                                       .expected_count = level->count,
                                       .tmp_dir = self->options->tmp_dir};
    const uint64_t mask = bit_group_mask(self, level->varying, number);
    const uint64_t ranges = (uint64_t)self->sources[0]->range_count +
                            (self->sources[1] != NULL ? self->sources[1]->range_count : 0);
    const bool divides = level->depth < MAX_LEVELS && mask != 0;
    join_level group = *level; /* as its groups that are joined bit group by bit group again */
    ss_join_bit_group bit_group = {.prefix_bits = ss_popcount(mask)};
    ss_large_groups large = {.groups = NULL};
    ss_sorter *sorter;
    group.depth++;
    group.mask |= mask;
    for (uint32_t i = 0; i < number; i++)
        group.except[group.except_count++] = bit_group_mask(self, level->varying, i);
    ss_permutation_init(&bit_group.permutation, mask);
    bit_group.except_count = group.except_count;
    for (uint32_t i = 0; i < group.except_count; i++)
        bit_group.except[i] = ss_permute(&bit_group.permutation, group.except[i]);
    sstore_status status = ss_sorter_create(&options, &sorter, error);
    permute_run run = {.join = self, .level = level, .permutation = &bit_group.permutation, .sorter = sorter};
    begin_phase(self, level, "permuting", number, PERMUTING_FRACTION);
    if (status == SSTORE_OK)
        status = ss_pool_run(team->threads, ranges, permute_range, &run, error);
    if (status == SSTORE_OK)
        status = ss_sorter_finish(sorter, self->options->progress, error);
    begin_phase(self, level, "comparing", number, 1);
    if (status == SSTORE_OK)
        status = ss_join_pieces(team, &bit_group, sorter, divides, &large, error);
    ss_sorter_free(sorter);
    for (size_t i = 0; status == SSTORE_OK && i < large.count; i++) {
        group.bits = level->bits | ss_unpermute(&bit_group.permutation, large.groups[i].prefix);
        group.count = large.groups[i].count;
        group.varying = ss_unpermute(&bit_group.permutation, large.groups[i].varying);
        status = join_bit_groups(self, &group, error);
    }
    ss_free(large.groups);
    return status;
}

static sstore_status join_bit_groups(join_run *self, const join_level *level, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t bit_group = 0; status == SSTORE_OK && bit_group < self->bit_group_count; bit_group++)
        status = join_bit_group(self, level, bit_group, error);
    return status;
}

sstore_status ss_table_join(ss_join_kind kind, const ss_fingerprint_ranges *left, const ss_fingerprint_ranges *right,
                            const ss_join_options *options, sstore_error *error)
{
    assert(options->distance <= SSTORE_MAX_BUILD_DISTANCE);
    join_run self = {.options = options,
                     .sources = {left, right},
                     .count = left->count + (right != NULL ? right->count : 0),
                     .bit_group_count = options->distance < ONE_GROUP_DISTANCE ? options->distance + 1 : 1,
                     .begin_fraction = options->progress->end_fraction};
    const join_level whole = {.count = self.count, .varying = UINT64_MAX};
    sstore_status status = open_run(&self, kind, error);
    if (status == SSTORE_OK)
        status = join_bit_groups(&self, &whole, error);
    ss_join_team_close(&self.team);
    ss_chunk_pool_close(&self.pool);
    return status;
}
