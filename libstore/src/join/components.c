#include "join/components.h"

#include "base/error.h"
#include "base/memory.h"
#include "join/join_call.h"

/* ===== union-find ===== */

#define MIN_BITS 4u
#define MAX_BITS 30u

/*
 * Disjoint sets of nodes, which are added in ascending order. The larger root always becomes a child of the smaller
 * one, so a tree's root is its smallest node. A node is looked up by the leading bits of its distance from the smallest
 * one. Paths are halved when they are followed.
 */
typedef struct node_forest {
    uint64_t *nodes;   /* ascending */
    uint32_t *parents; /* of each node the index of its parent; a root's is its own */
    uint32_t *begins;  /* of each value of the leading bits: the first node that has it or a larger one */
    uint64_t min;      /* no node is below it */
    uint32_t shift;    /* leading bits are (node - min) >> shift */
    uint32_t begin_count;
    size_t count, capacity;
} node_forest;

/* Choose so many leading bits that about one node has each value, if nodes are evenly spread. */
static uint32_t choose_bits(uint64_t capacity)
{
    uint32_t bits = MIN_BITS;
    while (bits < MAX_BITS && capacity >> bits > 1)
        bits++;
    return bits;
}

/* The bytes of a forest; UINT64_MAX if there are more nodes than a forest may have. */
static uint64_t forest_bytes(uint64_t capacity)
{
    if (capacity >= UINT32_MAX)
        return UINT64_MAX;
    return capacity * (sizeof(uint64_t) + sizeof(uint32_t)) + sizeof(uint32_t) * ((uint64_t)1 << choose_bits(capacity));
}

/* Open a forest for nodes from `min` to `max`. */
static sstore_status open_forest(node_forest *forest, size_t capacity, uint64_t min, uint64_t max, sstore_error *error)
{
    const uint32_t bits = choose_bits(capacity);
    *forest = (node_forest){.min = min, .capacity = capacity};
    while ((max - min) >> forest->shift >> bits > 0)
        forest->shift++;
    forest->nodes = ss_alloc_large(capacity * sizeof *forest->nodes);
    forest->parents = ss_alloc_large(capacity * sizeof *forest->parents);
    forest->begins = ss_alloc_large(((size_t)1 << bits) * sizeof *forest->begins);
    const bool opened = forest->nodes != NULL && forest->parents != NULL && forest->begins != NULL;
    return opened ? SSTORE_OK : ss_fail_memory(error, forest_bytes(capacity));
}

/* Add a node above all others, unless it is the last one added. */
static void add_node(node_forest *forest, uint64_t node)
{
    if (forest->count > 0 && forest->nodes[forest->count - 1] == node)
        return;
    assert(forest->count < forest->capacity && (forest->count == 0 || forest->nodes[forest->count - 1] < node));
    const uint64_t leading = (node - forest->min) >> forest->shift;
    while (forest->begin_count <= leading)
        forest->begins[forest->begin_count++] = (uint32_t)forest->count;
    forest->nodes[forest->count] = node;
    forest->parents[forest->count] = (uint32_t)forest->count;
    forest->count++;
}

/* The index of a present node. */
static uint32_t index_of(const node_forest *forest, uint64_t node)
{
    const uint64_t leading = (node - forest->min) >> forest->shift;
    const uint64_t begin = forest->begins[leading];
    const uint64_t end = leading + 1 < forest->begin_count ? forest->begins[leading + 1] : forest->count;
    const uint64_t index = ss_lower_bound(forest->nodes, begin, end - begin, node, ss_word_is_below);
    assert(forest->nodes[index] == node);
    return (uint32_t)index;
}

static uint32_t root_of(uint32_t *parents, uint32_t index)
{
    while (parents[index] != index)
        index = parents[index] = parents[parents[index]];
    return index;
}

/* Connect the last node with a present one. */
static void connect_last(node_forest *forest, uint64_t node)
{
    const uint32_t a = root_of(forest->parents, (uint32_t)forest->count - 1);
    const uint32_t b = root_of(forest->parents, index_of(forest, node));
    forest->parents[a > b ? a : b] = a > b ? b : a;
}

/* ===== components ===== */

#define ADDED_AT_ONCE 1024u
#define WORKERS_DIVISOR 8u /* pieces of the workers take 1/8 of memory */
#define MIN_PIECE ((uint64_t)1024)
#define STEP_FRACTION 0.3 /* of the remaining work, the estimate of a step: the number of steps is unknown */

/* The state of one thread. */
typedef struct step_worker {
    ss_piece_room room;
    sstore_record edges[ADDED_AT_ONCE]; /* for the next step, not added yet */
    size_t edge_count;
    uint64_t node_count, min, max; /* of the pieces that were counted */
    bool changed;                  /* some edge, in this step */
} step_worker;

struct ss_components {
    uint32_t threads, steps;
    size_t piece_capacity;
    const ss_dir *tmp_dir;
    ss_chunk_pool pools[2];
    ss_sorter *sorters[2]; /* each in its pool */
    uint32_t newest;       /* the sorter that has all edges */
    uint64_t pool_bytes;
    node_forest forest; /* of all nodes, if it fits into the other pool's memory */
    step_worker *workers;
    ss_progress *progress;
    size_t next, next_piece; /* for ss_components_next(): in the forest, or in the first worker's room */
};

static sstore_status open_sorter(ss_components *self, uint32_t which, uint64_t expected_count, sstore_error *error)
{
    const ss_sorter_options options = {.item_words = 2,
                                       .writers = self->threads,
                                       .pool = &self->pools[which],
                                       .piece_capacity = self->piece_capacity,
                                       .expected_count = expected_count,
                                       .tmp_dir = self->tmp_dir};
    return ss_sorter_create(&options, &self->sorters[which], error);
}

static void close_sorter(ss_components *self, uint32_t which)
{
    ss_sorter_free(self->sorters[which]);
    self->sorters[which] = NULL;
}

sstore_status ss_components_create(uint32_t threads, uint64_t memory_bytes, const ss_dir *tmp_dir,
                                   ss_components **components_out, sstore_error *error)
{
    ss_components *self = *components_out = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    self->threads = ss_pool_threads(threads);
    self->tmp_dir = tmp_dir;
    const uint64_t workers = memory_bytes / WORKERS_DIVISOR;
    self->piece_capacity = (size_t)ss_max_u64(workers / self->threads / 2 / sizeof(sstore_record), MIN_PIECE);
    self->pool_bytes = (memory_bytes - workers) / 2;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < 2; i++)
        status = ss_sorter_pool_open(&self->pools[i], self->pool_bytes, self->threads, error);
    if (status == SSTORE_OK)
        status = open_sorter(self, 0, UINT64_MAX, error);
    if (status != SSTORE_OK) {
        ss_components_free(self);
        *components_out = NULL;
    }
    return status;
}

void ss_components_free(ss_components *components)
{
    if (components == NULL)
        return;
    for (uint32_t i = 0; components->workers != NULL && i < components->threads; i++)
        ss_free(components->workers[i].room.items);
    ss_free(components->workers);
    ss_free(components->forest.nodes);
    ss_free(components->forest.parents);
    ss_free(components->forest.begins);
    for (uint32_t i = 0; i < 2; i++) {
        close_sorter(components, i);
        ss_chunk_pool_close(&components->pools[i]);
    }
    ss_free(components);
}

sstore_status ss_components_add(ss_components *components, uint32_t writer, const ss_fingerprint_pair *edges,
                                size_t count, sstore_error *error)
{
    sstore_record items[ADDED_AT_ONCE];
    sstore_status status = SSTORE_OK;
    for (size_t done = 0; status == SSTORE_OK && done < count;) {
        size_t added = 0;
        for (; added < ADDED_AT_ONCE && done < count; done++) { /* in both directions */
            items[added++] = (sstore_record){edges[done].first, edges[done].second};
            items[added++] = (sstore_record){edges[done].second, edges[done].first};
        }
        status = ss_sorter_add_items(components->sorters[0], writer, items, added, error);
    }
    return status;
}

/* ----- star steps ----- */

/* A node, and the smallest of it and its neighbours: the centre, to which the node's edges go. */
typedef struct star {
    uint64_t node, centre;
    bool any;
} star;

typedef struct step {
    ss_components *components;
    bool is_large;          /* a large-star step, else a small-star step */
    ss_sequencer sequencer; /* guards `last` */
    star last;              /* of the pieces so far */
} step;

static star star_of(const sstore_record *first_edge)
{
    return (star){first_edge->fingerprint, ss_min_u64(first_edge->fingerprint, first_edge->id), true};
}

static sstore_status flush_edges(const ss_components *self, uint32_t index, sstore_error *error)
{
    step_worker *worker = &self->workers[index];
    const size_t count = worker->edge_count;
    worker->edge_count = 0;
    return ss_sorter_add_items(self->sorters[1 - self->newest], index, worker->edges, count, error);
}

/* Add an edge for the next step. */
static sstore_status emit(const ss_components *self, uint32_t index, uint64_t node, uint64_t other, sstore_error *error)
{
    step_worker *worker = &self->workers[index];
    worker->edges[worker->edge_count++] = (sstore_record){node, other};
    return worker->edge_count < ADDED_AT_ONCE ? SSTORE_OK : flush_edges(self, index, error);
}

/* A large-star step reads edges in both directions, and writes them from the larger node to the smaller. `first` tells
 * that it is the star's first edge: they ascend by the other node. A root also gets an edge to itself, so that it is
 * among the final nodes. */
static sstore_status large_star_edge(const ss_components *self, uint32_t index, const star *of, uint64_t other,
                                     bool first, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (first && of->centre == of->node)
        status = emit(self, index, of->node, of->node, error);
    if (status != SSTORE_OK || other <= of->node)
        return status;
    self->workers[index].changed |= of->centre != of->node;
    return emit(self, index, other, of->centre, error);
}

/* A small-star step reads edges from the larger node to the smaller, and writes them in both directions. */
static sstore_status small_star_edge(const ss_components *self, uint32_t index, const star *of, uint64_t other,
                                     bool first, sstore_error *error)
{
    const uint64_t from = first ? of->node : other;
    if (!first && other == of->node)
        return SSTORE_OK;
    self->workers[index].changed |= !first;
    const sstore_status status = emit(self, index, from, of->centre, error);
    return status == SSTORE_OK && from != of->centre ? emit(self, index, of->centre, from, error) : status;
}

/* The star of a piece's last node, which may have begun in an earlier piece. */
static star last_star(const sstore_record *items, size_t count, const star *before)
{
    const uint64_t node = items[count - 1].fingerprint;
    size_t begin = count - 1;
    while (begin > 0 && items[begin - 1].fingerprint == node)
        begin--;
    return begin == 0 && before->any && before->node == node ? *before : star_of(&items[begin]);
}

static sstore_status step_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    step *self = context;
    const ss_components *components = self->components;
    ss_piece_room *room = &components->workers[index].room;
    const sstore_record *items = room->items;
    sstore_status status = ss_piece_room_load(room, components->sorters[components->newest], (size_t)task, error);
    if (status != SSTORE_OK) {
        ss_sequencer_break(&self->sequencer);
        return status;
    }
    if (!ss_sequencer_enter(&self->sequencer, task))
        return SSTORE_OK; /* the failed task reports it */
    star at = self->last;
    if (room->count > 0)
        self->last = last_star(items, room->count, &at);
    ss_sequencer_leave(&self->sequencer);
    for (size_t i = 0; status == SSTORE_OK && i < room->count; i++) {
        const bool first = !at.any || items[i].fingerprint != at.node;
        if (first)
            at = star_of(&items[i]);
        status = self->is_large ? large_star_edge(components, index, &at, items[i].id, first, error)
                                : small_star_edge(components, index, &at, items[i].id, first, error);
    }
    return status == SSTORE_OK ? ss_progress_add(components->progress, index, room->count) : status;
}

/* Run a step: the edges go into the other sorter. It becomes the newest, unless a small-star step changed nothing. */
static sstore_status run_step(ss_components *self, bool is_large, double end_fraction, bool *changed,
                              sstore_error *error)
{
    ss_sorter *const from = self->sorters[self->newest];
    const uint32_t to = 1 - self->newest;
    const uint64_t count = ss_sorter_count(from);
    step run = {.components = self, .is_large = is_large};
    ss_progress_begin(self->progress, "connecting", self->steps++, count,
                      self->progress->end_fraction + (end_fraction - self->progress->end_fraction) * STEP_FRACTION);
    close_sorter(self, to);
    sstore_status status = open_sorter(self, to, 2 * count, error); /* an edge becomes two at most */
    ss_sequencer_init(&run.sequencer);
    if (status == SSTORE_OK)
        status = ss_pool_run(self->threads, ss_sorter_piece_count(from), step_piece, &run, error);
    ss_sequencer_destroy(&run.sequencer);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->threads; i++) {
        status = flush_edges(self, i, error);
        *changed |= self->workers[i].changed;
        self->workers[i].changed = false;
    }
    if (status != SSTORE_OK || !(is_large || *changed))
        return status;
    self->newest = to;
    return ss_sorter_finish(self->sorters[to], self->progress, error);
}

/* Alternate until nothing changes. The edges between the last two steps are the result. */
static sstore_status connect_by_stars(ss_components *self, double end_fraction, sstore_error *error)
{
    bool changed = true;
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && changed) {
        changed = false;
        status = run_step(self, true, end_fraction, &changed, error);
        if (status == SSTORE_OK)
            status = run_step(self, false, end_fraction, &changed, error);
    }
    close_sorter(self, 1 - self->newest);
    ss_chunk_pool_close(&self->pools[1 - self->newest]);
    return status;
}

/* ----- all nodes in memory ----- */

/* Count the nodes of a piece. A node that continues from the piece before is counted again. */
static sstore_status count_nodes(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const ss_components *self = context;
    step_worker *worker = &self->workers[index];
    const sstore_record *items = worker->room.items;
    const sstore_status status = ss_piece_room_load(&worker->room, self->sorters[0], (size_t)task, error);
    if (status != SSTORE_OK)
        return status;
    const size_t count = worker->room.count;
    for (size_t i = 0; i < count; i++)
        worker->node_count += i == 0 || items[i].fingerprint != items[i - 1].fingerprint;
    if (count > 0) {
        worker->min = ss_min_u64(worker->min, items[0].fingerprint);
        worker->max = ss_max_u64(worker->max, items[count - 1].fingerprint);
    }
    return ss_progress_add(self->progress, index, count);
}

static sstore_status connect_in_memory(ss_components *self, sstore_error *error)
{
    node_forest *forest = &self->forest;
    ss_piece_room *room = &self->workers[0].room;
    const sstore_record *items = room->items;
    sstore_status status = SSTORE_OK;
    for (size_t piece = 0; status == SSTORE_OK && piece < ss_sorter_piece_count(self->sorters[0]); piece++) {
        status = ss_piece_room_load(room, self->sorters[0], piece, error);
        for (size_t i = 0; status == SSTORE_OK && i < room->count; i++) {
            add_node(forest, items[i].fingerprint);
            if (items[i].id < items[i].fingerprint) /* the other direction is the same edge */
                connect_last(forest, items[i].id);
        }
        if (status == SSTORE_OK)
            status = ss_progress_add(self->progress, 0, room->count);
    }
    for (size_t i = 0; i < forest->count; i++) /* a parent comes before its children, so its own parent is the root */
        forest->parents[i] = forest->parents[forest->parents[i]];
    close_sorter(self, 0);
    ss_chunk_pool_close(&self->pools[0]);
    return status;
}

/* ----- result ----- */

sstore_status ss_components_finish(ss_components *components, ss_progress *progress, double end_fraction,
                                   sstore_error *error)
{
    const uint64_t count = ss_sorter_count(components->sorters[0]);
    const double begin_fraction = progress->end_fraction, quarter = (end_fraction - begin_fraction) / 4;
    uint64_t node_count = 0, min = UINT64_MAX, max = 0;
    sstore_status status = SSTORE_OK;
    components->progress = progress;
    components->workers = ss_alloc(components->threads, sizeof *components->workers);
    if (components->workers == NULL)
        return ss_fail_memory(error, components->threads * sizeof *components->workers);
    for (uint32_t i = 0; status == SSTORE_OK && i < components->threads; i++) {
        components->workers[i].min = UINT64_MAX;
        status = ss_piece_room_open(&components->workers[i].room, 2, components->piece_capacity, error);
    }
    ss_progress_begin(progress, "connecting", 0, count, begin_fraction + quarter);
    if (status == SSTORE_OK)
        status = ss_sorter_finish(components->sorters[0], progress, error);
    ss_progress_begin(progress, "connecting", 0, count, begin_fraction + 2 * quarter);
    if (status == SSTORE_OK)
        status = ss_pool_run(components->threads, ss_sorter_piece_count(components->sorters[0]), count_nodes,
                             components, error);
    if (status != SSTORE_OK)
        return status;
    for (uint32_t i = 0; i < components->threads; i++) {
        node_count += components->workers[i].node_count;
        min = ss_min_u64(min, components->workers[i].min);
        max = ss_max_u64(max, components->workers[i].max);
    }
    if (forest_bytes(node_count) > components->pool_bytes) {
        status = connect_by_stars(components, end_fraction, error);
    } else {
        ss_progress_begin(progress, "connecting", 0, count, end_fraction);
        status = open_forest(&components->forest, (size_t)node_count, ss_min_u64(min, max), max, error);
        if (status == SSTORE_OK)
            status = connect_in_memory(components, error);
    }
    ss_progress_begin(progress, "connecting", components->steps, 0, end_fraction);
    components->workers[0].room.count = 0;
    return status;
}

sstore_status ss_components_next(ss_components *components, sstore_record *node_out, bool *more_out,
                                 sstore_error *error)
{
    const node_forest *forest = &components->forest;
    ss_piece_room *room = &components->workers[0].room;
    *more_out = true;
    if (forest->nodes != NULL && components->next < forest->count) {
        *node_out = (sstore_record){forest->nodes[components->next], forest->nodes[forest->parents[components->next]]};
        components->next++;
        return SSTORE_OK;
    }
    ss_sorter *const sorter = components->sorters[components->newest]; /* none if there is a forest */
    while (sorter != NULL && components->next == room->count &&
           components->next_piece < ss_sorter_piece_count(sorter)) {
        const sstore_status status = ss_piece_room_load(room, sorter, components->next_piece++, error);
        if (status != SSTORE_OK)
            return status;
        components->next = 0;
    }
    *more_out = sorter != NULL && components->next < room->count;
    if (*more_out)
        *node_out = ((const sstore_record *)room->items)[components->next++];
    return SSTORE_OK;
}
