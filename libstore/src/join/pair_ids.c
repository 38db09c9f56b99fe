#include "join/pair_ids.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "join/record_walk.h"
#include "join/store_source.h"

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
        count += 1 + ss_record_walk_pass_singles(walk);
    }
    return status == SSTORE_OK ? ss_progress_add(&self->call->progress, index, count) : status;
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
        status = run(&self, self.parts.part_count, add_part, error);
    ss_store_source_close(&self.parts);
    return status;
}
