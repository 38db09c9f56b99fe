#include "join/pair_ids.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "join/record_walk.h"
#include "join/store_source.h"
#include "store/repeated_ids.h"
#include "store/table_stream.h"

#define TOGETHER 1024u

/* What a thread has. */
typedef struct worker {
    ss_piece_room room;
    ss_record_walk walk;
    size_t count;
    ss_triple triples[TOGETHER]; /* on their way */
} worker;

typedef struct ids_run {
    ss_join_call *call;
    const ss_sort_stage *pairs;
    ss_sort_stage *triples;
    ss_store_source parts;
    worker *workers;
} ids_run;

/* ----- threads ----- */

static sstore_status open_workers(ids_run *self, sstore_error *error)
{
    const ss_join_call *call = self->call;
    sstore_status status = SSTORE_OK;
    self->workers = ss_alloc(call->threads, sizeof *self->workers);
    if (self->workers == NULL)
        return ss_fail_memory(error, call->threads * sizeof *self->workers);
    for (uint32_t i = 0; status == SSTORE_OK && i < call->threads; i++) {
        status = ss_record_walk_open(&self->workers[i].walk, call->right, error);
        if (status == SSTORE_OK && self->pairs != NULL)
            status = ss_piece_room_open(&self->workers[i].room, self->pairs, error);
    }
    return status;
}

static void close_workers(ids_run *self)
{
    for (uint32_t i = 0; self->workers != NULL && i < self->call->threads; i++) {
        ss_record_walk_close(&self->workers[i].walk);
        ss_piece_room_close(&self->workers[i].room);
    }
    ss_free(self->workers);
}

static sstore_status flush(const ids_run *self, uint32_t index, sstore_error *error)
{
    worker *of = &self->workers[index];
    size_t count = of->count;
    of->count = 0;
    return ss_sorter_add_items(self->triples->sorter, index, of->triples, count, error);
}

static sstore_status add_triple(const ids_run *self, uint32_t index, ss_triple triple, sstore_error *error)
{
    worker *of = &self->workers[index];
    of->triples[of->count++] = triple;
    return of->count == TOGETHER ? flush(self, index, error) : SSTORE_OK;
}

static sstore_status run(ids_run *self, uint64_t tasks, ss_task_fn task, sstore_error *error)
{
    const uint32_t threads = self->call->threads;
    sstore_status status = open_workers(self, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(threads, tasks, task, self, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < threads; i++)
        status = flush(self, i, error);
    close_workers(self);
    return status;
}

/* ----- ids of pairs ----- */

/* The ids of one fingerprint for all pairs[0 .. count-1], which have it for their second one. */
static sstore_status add_ids(const ids_run *self, uint32_t index, const sstore_record *pairs, size_t count,
                             sstore_error *error)
{
    ss_record_walk *walk = &self->workers[index].walk;
    const uint64_t second = pairs[0].fingerprint;
    sstore_status status = ss_record_walk_to(walk, second, error);
    while (status == SSTORE_OK && ss_record_walk_at(walk, second)) {
        for (size_t i = 0; status == SSTORE_OK && i < count; i++)
            status = add_triple(self, index, (ss_triple){pairs[i].id, second, walk->next.id}, error);
        if (status == SSTORE_OK)
            status = ss_record_walk_step(walk, error);
    }
    return status;
}

static sstore_status add_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const ids_run *self = context;
    worker *of = &self->workers[index];
    const sstore_record *pairs = of->room.items;
    sstore_status status = ss_piece_room_load(&of->room, self->pairs, (size_t)task, error);
    const size_t count = status == SSTORE_OK ? of->room.count : 0;
    if (count > 0)
        status = ss_record_walk_begin(&of->walk, pairs[0].fingerprint, error);
    for (size_t begin = 0, end; status == SSTORE_OK && begin < count; begin = end) {
        for (end = begin + 1; end < count && pairs[end].fingerprint == pairs[begin].fingerprint;)
            end++;
        status = add_ids(self, index, pairs + begin, end - begin, error);
    }
    return status == SSTORE_OK ? ss_progress_add(&self->call->progress, index, count) : status;
}

sstore_status ss_pair_ids_add(ss_join_call *call, const ss_sort_stage *pairs, ss_sort_stage *triples, double end_share,
                              sstore_error *error)
{
    ids_run self = {.call = call, .pairs = pairs, .triples = triples};
    ss_progress_begin(&call->progress, "identifying", 0, ss_sorter_count(pairs->sorter), end_share);
    return run(&self, ss_sorter_piece_count(pairs->sorter), add_piece, error);
}

/* ----- equal fingerprints ----- */

bool ss_pair_ids_may_repeat(const sstore *store)
{
    const ss_manifest *manifest = &store->manifest;
    if (!manifest->has_ids || manifest->segment_count == 0)
        return false;
    return manifest->segment_count > 1 || manifest->segments[0].record_count > manifest->segments[0].distinct_count;
}

/* A part's fingerprints so far. */
typedef struct repeats {
    const ids_run *run;
    uint32_t index;
    bool any;
    sstore_record first; /* the first record of the last fingerprint */
    bool added;          /* it was given, since a second one followed */
} repeats;

static sstore_status add_repeat(repeats *self, const sstore_record *record, sstore_error *error)
{
    const uint64_t fingerprint = record->fingerprint;
    sstore_status status = SSTORE_OK;
    if (!self->any || self->first.fingerprint != fingerprint) {
        self->first = *record;
        self->any = true;
        self->added = false;
        return SSTORE_OK;
    }
    if (!self->added)
        status = add_triple(self->run, self->index, (ss_triple){fingerprint, fingerprint, self->first.id}, error);
    self->added = true;
    if (status == SSTORE_OK)
        status = add_triple(self->run, self->index, (ss_triple){fingerprint, fingerprint, record->id}, error);
    return status;
}

static sstore_status add_part(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const ids_run *self = context;
    ss_record_walk *walk = &self->workers[index].walk;
    const bool is_last = task + 1 == self->parts.part_count;
    repeats found = {.run = self, .index = index};
    uint64_t count = 0;
    sstore_status status = ss_record_walk_begin(walk, self->parts.firsts[task], error);
    while (status == SSTORE_OK && walk->more &&
           (is_last || walk->next.fingerprint < self->parts.firsts[task + 1])) {
        status = add_repeat(&found, &walk->next, error);
        if (status == SSTORE_OK)
            status = ss_record_walk_step(walk, error);
        count++;
    }
    return status == SSTORE_OK ? ss_progress_add(&self->call->progress, index, count) : status;
}

/* Blocks of the only segment. */
typedef struct repeats_of_blocks {
    const ids_run *run;
    uint32_t index;
    ss_table_stream stream;
    const uint64_t *values; /* of the block at hand */
    uint32_t count;
    uint64_t first_rank, next_rank; /* of the block at hand, and of the next one */
} repeats_of_blocks;

static sstore_status fail_ranks(const ss_segment *segment, sstore_error *error)
{
    return ss_fail_damaged(error, segment->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                           "it does not have the ranks that the ids say");
}

/* Go on to the block that has the rank. */
static sstore_status find_values(repeats_of_blocks *self, uint64_t rank, sstore_error *error)
{
    const ss_segment *segment = self->run->call->right->segments[0];
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && rank >= self->next_rank) {
        if (self->stream.next_block == self->stream.end_block)
            return fail_ranks(segment, error);
        self->first_rank = ss_array_at(&segment->ranks, self->stream.next_block);
        status = ss_table_stream_next(&self->stream, &self->values, &self->count, error);
        self->next_rank = self->first_rank + self->count;
    }
    return status == SSTORE_OK && rank < self->first_rank ? fail_ranks(segment, error) : status;
}

static sstore_status add_repeated_id(void *context, uint64_t rank, uint64_t id, sstore_error *error)
{
    repeats_of_blocks *self = context;
    const sstore_status status = find_values(self, rank, error);
    if (status != SSTORE_OK)
        return status;
    const uint64_t fingerprint = self->values[rank - self->first_rank];
    return add_triple(self->run, self->index, (ss_triple){fingerprint, fingerprint, id}, error);
}

/* A part of a store of one segment: the id column tells which fingerprints to read. */
static sstore_status add_blocks(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const ids_run *self = context;
    const ss_segment *segment = self->call->right->segments[0];
    const uint64_t first_block = self->parts.blocks[task], end_block = self->parts.blocks[task + 1];
    repeats_of_blocks found = {.run = self, .index = index};
    if (first_block == end_block)
        return SSTORE_OK;
    const uint64_t first = ss_array_at(&segment->ranks, first_block);
    const uint64_t end = end_block < segment->ranks.count ? ss_array_at(&segment->ranks, end_block)
                                                          : segment->facts.distinct_count;
    sstore_status status = ss_table_stream_open(&found.stream, &segment->tables[0].source, error);
    ss_table_stream_seek(&found.stream, first_block, end_block);
    if (status == SSTORE_OK)
        status = ss_each_repeated_id(segment, first, end, add_repeated_id, &found, error);
    ss_table_stream_close(&found.stream);
    return status == SSTORE_OK ? ss_progress_add(&self->call->progress, index, end - first) : status;
}

sstore_status ss_pair_ids_add_repeated(ss_join_call *call, ss_sort_stage *triples, double end_share,
                                       sstore_error *error)
{
    ids_run self = {.call = call, .triples = triples};
    ss_manifest_totals totals;
    (void)ss_manifest_counts(&call->right->manifest, &totals);
    ss_progress_begin(&call->progress, "identifying", 0, totals.record_count, end_share);
    sstore_status status = ss_store_source_open(&self.parts, call->right, 0, error);
    if (status == SSTORE_OK)
        status = run(&self, self.parts.part_count, self.parts.is_plain ? add_blocks : add_part, error);
    ss_store_source_close(&self.parts);
    return status;
}
