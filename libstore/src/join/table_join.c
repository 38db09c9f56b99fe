#include "join/table_join.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "join/piece_join.h"

/* From here on k + 1 blocks would save next to nothing: 15 blocks of 4.3 bits, a quarter of all tests. */
#define ONE_GROUP_DISTANCE 14u
#define DEALT_AT_ONCE 1024u
#define WORKERS_SHARE 4u              /* of memory, that workers take: 1/4 */
#define SPARE_PLACES 2u               /* in a filter of edges, as many more as make it faster */
#define EDGES_SHARE 3u                /* of memory, that filters of edges take: 1/3 */
#define MIN_PIECE ((uint64_t)512)     /* items */
#define USEFUL_PIECE ((uint64_t)2048) /* items; rather than work on smaller pieces, a thread is left out */
#define MAX_ALONE ((uint64_t)1 << 17) /* items of a group that one thread may join, however few there are in all */
#define MAX_TOGETHER ((uint64_t)UINT32_MAX) /* items of a group, whose indexes have 32 bits */
#define DEALING_SHARE 0.35                  /* of a block's time */
#define MAX_LEVELS 3u /* of large groups, each within a larger one; then they are joined in chunks */

/* A join on its way. */
typedef struct join_run {
    const ss_join_options *options;
    const ss_fingerprint_parts *sources[2]; /* the second is NULL but for SS_JOIN_CROSS */
    uint64_t count;                         /* of the fingerprints of both */
    ss_join_team team;
    ss_chunk_pool pool;
    double begin_share;
} join_run;

/* ----- memory ----- */

/* Smaller groups have to be divided, or joined chunk against chunk: that takes far more time than threads save. */
static uint32_t choose_threads(const ss_join_team *team, uint64_t memory_bytes)
{
    const uint64_t room = memory_bytes / WORKERS_SHARE / ss_join_team_bytes(team) * team->threads;
    return (uint32_t)ss_max_u64(ss_min_u64(team->threads, room / USEFUL_PIECE), 1);
}

static void choose_capacities(ss_join_team *team, uint64_t memory_bytes, uint64_t count)
{
    const uint64_t room = memory_bytes / WORKERS_SHARE / ss_join_team_bytes(team);
    /* All threads should have something to do, though all items were in one group: larger ones are divided. */
    const uint64_t wanted = ss_max_u64(count / (4 * team->threads), MAX_ALONE);
    const uint64_t piece = ss_max_u64(ss_min_u64(room, count), MIN_PIECE);
    const uint64_t group = ss_max_u64(ss_min_u64(ss_min_u64(piece * SS_GROUP_PIECES, wanted), MAX_TOGETHER),
                                      2 * MIN_PIECE);
    team->group_capacity = (size_t)group;
    team->piece_capacity = (size_t)ss_min_u64(piece, group / 2);
}

static void choose_edge_filter(ss_join_team *team, uint64_t memory_bytes, uint64_t count)
{
    const uint64_t bytes = memory_bytes / EDGES_SHARE, max = bytes / ss_edge_filter_bytes(1);
    team->shares_edges = count <= max;
    team->edge_capacity = (size_t)(team->shares_edges ? ss_min_u64(SPARE_PLACES * count, max) : max / team->threads);
}

static sstore_status open_run(join_run *self, ss_join_kind kind, sstore_error *error)
{
    const ss_join_options *options = self->options;
    const uint64_t memory = options->memory_bytes;
    ss_join_team *team = &self->team;
    *team = (ss_join_team){.kind = kind,
                           .options = options,
                           .threads = ss_pool_threads(options->threads),
                           .item_bytes = kind == SS_JOIN_CROSS ? sizeof(sstore_record) : sizeof(uint64_t)};
    team->threads = choose_threads(team, memory);
    choose_capacities(team, memory, self->count);
    choose_edge_filter(team, memory, self->count);
    sstore_status status = ss_join_team_open(team, error);
    if (status != SSTORE_OK)
        return status;
    const uint64_t workers = ss_join_team_bytes(team) * team->piece_capacity + ss_join_team_edge_bytes(team);
    return ss_sorter_pool_open(&self->pool, memory > workers ? memory - workers : 0, team->threads, error);
}

/* ----- dealing ----- */

/* All fingerprints on their way into a sorter, permuted, or those of a group. */
typedef struct dealing {
    const join_run *run;
    uint64_t mask, bits; /* only fingerprints that have these bits under the mask */
    const ss_permutation *permutation;
    ss_sorter *sorter;
} dealing;

/* One part of them. */
typedef struct part_dealing {
    const dealing *all;
    uint32_t worker;
    uint64_t side;
} part_dealing;

static sstore_status deal_values(void *sink, const uint64_t *values, size_t count, sstore_error *error)
{
    const part_dealing *self = sink;
    const dealing *all = self->all;
    uint64_t permuted[DEALT_AT_ONCE], sides[DEALT_AT_ONCE];
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; i < DEALT_AT_ONCE && i < count; i++)
        sides[i] = self->side;
    for (size_t done = 0; status == SSTORE_OK && done < count;) {
        const size_t end = count - done < DEALT_AT_ONCE ? count : done + DEALT_AT_ONCE;
        size_t size = 0;
        for (; done < end; done++) {
            permuted[size] = ss_permute(all->permutation, values[done]);
            size += (values[done] & all->mask) == all->bits;
        }
        status = ss_sorter_add(all->sorter, self->worker, permuted, sides, size, error);
    }
    return status == SSTORE_OK ? ss_progress_add(all->run->options->progress, self->worker, count) : status;
}

static sstore_status deal_part(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const dealing *self = context;
    const ss_fingerprint_parts *const *sources = self->run->sources;
    const bool right = task >= sources[0]->part_count;
    const ss_fingerprint_parts *source = sources[right];
    const uint32_t part = (uint32_t)(right ? task - sources[0]->part_count : task);
    part_dealing sink = {.all = self, .worker = worker, .side = right ? SS_RIGHT : SS_LEFT};
    return source->read(source->context, part, worker, deal_values, &sink, error);
}

static uint64_t count_parts(const join_run *self)
{
    return (uint64_t)self->sources[0]->part_count + (self->sources[1] != NULL ? self->sources[1]->part_count : 0);
}

/* ----- blocks ----- */

static uint32_t block_count(uint32_t distance)
{
    return distance < ONE_GROUP_DISTANCE ? distance + 1 : 1;
}

/* What is joined: all fingerprints, or the group of them that has these bits. */
typedef struct join_level {
    uint32_t depth;
    uint64_t mask, bits;
    uint64_t count;   /* of the fingerprints */
    uint64_t varying; /* the bits that they differ in */
    uint32_t except_count;
    uint64_t except[SS_GROUP_MAX_EXCEPT]; /* pairs that are equal under one of them are found elsewhere */
} join_level;

/* The `number`-th of `count` parts of the varying bits: as many as in the others, or one more. */
static uint64_t part_mask(uint64_t varying, uint32_t number, uint32_t count)
{
    const uint32_t bits = ss_popcount(varying), begin = bits * number / count, end = bits * (number + 1) / count;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < end; i++) { /* from the highest on */
        const uint64_t highest = UINT64_C(1) << (63 - __builtin_clzll(varying));
        mask |= i >= begin ? highest : 0;
        varying ^= highest;
    }
    return mask;
}

static uint64_t block_mask(const join_run *self, const join_level *level, uint32_t number)
{
    const uint32_t distance = self->options->distance;
    return distance < ONE_GROUP_DISTANCE ? part_mask(level->varying, number, block_count(distance)) : 0;
}

static void choose_block(const join_run *self, const join_level *level, uint32_t number, ss_join_block *block)
{
    const uint64_t mask = block_mask(self, level, number);
    ss_permutation_init(&block->permutation, mask);
    block->prefix_bits = ss_popcount(mask);
    block->except_count = 0;
    for (uint32_t i = 0; i < level->except_count; i++)
        block->except[block->except_count++] = ss_permute(&block->permutation, level->except[i]);
    for (uint32_t i = 0; i < number; i++)
        block->except[block->except_count++] = ss_permute(&block->permutation, block_mask(self, level, i));
}

/* The level of a group that a block has left. */
static join_level next_level(const join_run *self, const join_level *level, uint32_t number, const ss_join_block *block,
                             const ss_large_group *group)
{
    join_level next = *level;
    next.depth++;
    next.mask |= block_mask(self, level, number);
    next.bits |= ss_unpermute(&block->permutation, group->prefix);
    next.count = group->count;
    next.varying = ss_unpermute(&block->permutation, group->varying);
    for (uint32_t i = 0; i < number; i++)
        next.except[next.except_count++] = block_mask(self, level, i);
    return next;
}

/* Begin a phase that ends with this part of a block's time. */
static void begin_phase(const join_run *self, const join_level *level, const char *phase, uint32_t block, double part)
{
    const ss_join_options *options = self->options;
    const uint32_t blocks = block_count(options->distance);
    if (level->depth > 0)
        return; /* large groups are part of the block that they are from */
    options->progress->now.table_count = blocks;
    ss_progress_begin(options->progress, phase, block, self->count,
                      self->begin_share + (options->end_share - self->begin_share) * (block + part) / blocks);
}

static sstore_status join_all_blocks(join_run *self, const join_level *level, sstore_error *error);

/* Join the large groups of a block, one after the other, each divided by further bits. */
static sstore_status join_large_groups(join_run *self, const join_level *level, uint32_t number,
                                       const ss_join_block *block, const ss_large_groups *large, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < large->count; i++) {
        const join_level next = next_level(self, level, number, block, &large->groups[i]);
        status = join_all_blocks(self, &next, error);
    }
    return status;
}

static sstore_status join_block(join_run *self, const join_level *level, uint32_t number, sstore_error *error)
{
    ss_join_team *team = &self->team;
    ss_sorter_options options = {.item_words = team->kind == SS_JOIN_CROSS ? 2 : 1,
                                 .writers = team->threads,
                                 .pool = &self->pool,
                                 .piece_capacity = team->piece_capacity,
                                 .expected_count = level->count,
                                 .tmp_dir = self->options->tmp_dir};
    ss_join_block block;
    ss_large_groups large = {.groups = NULL};
    ss_sorter *sorter;
    choose_block(self, level, number, &block);
    sstore_status status = ss_sorter_create(&options, &sorter, error);
    dealing all = {
        .run = self, .mask = level->mask, .bits = level->bits, .permutation = &block.permutation, .sorter = sorter};
    begin_phase(self, level, "permuting", number, DEALING_SHARE);
    if (status == SSTORE_OK)
        status = ss_pool_run(team->threads, count_parts(self), deal_part, &all, error);
    if (status == SSTORE_OK)
        status = ss_sorter_finish(sorter, ss_join_team_buffer(team), self->options->progress, error);
    begin_phase(self, level, "comparing", number, 1);
    const bool divides = level->depth < MAX_LEVELS && block.prefix_bits > 0;
    if (status == SSTORE_OK)
        status = ss_join_pieces(team, &block, sorter, divides ? &large : NULL, error);
    ss_sorter_free(sorter);
    if (status == SSTORE_OK)
        status = join_large_groups(self, level, number, &block, &large, error);
    ss_free(large.groups);
    return status;
}

static sstore_status join_all_blocks(join_run *self, const join_level *level, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t block = 0; status == SSTORE_OK && block < block_count(self->options->distance); block++)
        status = join_block(self, level, block, error);
    return status;
}

static sstore_status run_join(ss_join_kind kind, const ss_fingerprint_parts *left, const ss_fingerprint_parts *right,
                              const ss_join_options *options, sstore_error *error)
{
    assert(options->distance <= SSTORE_MAX_BUILD_DISTANCE);
    join_run self = {.options = options,
                     .sources = {left, right},
                     .count = left->count + (right != NULL ? right->count : 0),
                     .begin_share = options->progress->end_share};
    const join_level all = {.count = self.count, .varying = UINT64_MAX};
    sstore_status status = open_run(&self, kind, error);
    if (status == SSTORE_OK)
        status = join_all_blocks(&self, &all, error);
    ss_join_team_close(&self.team);
    ss_chunk_pool_close(&self.pool);
    return status;
}

sstore_status ss_join_self(const ss_fingerprint_parts *source, const ss_join_options *options, sstore_error *error)
{
    return run_join(SS_JOIN_SELF, source, NULL, options, error);
}

sstore_status ss_join_cross(const ss_fingerprint_parts *left, const ss_fingerprint_parts *right,
                            const ss_join_options *options, sstore_error *error)
{
    return run_join(SS_JOIN_CROSS, left, right, options, error);
}

sstore_status ss_join_spanning(const ss_fingerprint_parts *source, const ss_join_options *options, sstore_error *error)
{
    return run_join(SS_JOIN_SPANNING, source, NULL, options, error);
}
