#include "join/components.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "sort/sorter.h"

/* ===== union-find ===== */

#define MIN_BITS 4u
#define MAX_BITS 30u

/* The leading bits that tell evenly spread nodes apart, but for one or two. */
static uint32_t choose_bits(uint64_t capacity)
{
    uint32_t bits = MIN_BITS;
    while (bits < MAX_BITS && capacity >> bits > 1)
        bits++;
    return bits;
}

uint64_t ss_node_forest_bytes(uint64_t capacity)
{
    if (capacity >= UINT32_MAX)
        return UINT64_MAX;
    return capacity * (sizeof(uint64_t) + sizeof(uint32_t)) + sizeof(uint32_t) * ((uint64_t)1 << choose_bits(capacity));
}

static uint32_t leading_bits(const ss_node_forest *forest, uint64_t node)
{
    return (uint32_t)((node - forest->min) >> forest->shift);
}

sstore_status ss_node_forest_open(ss_node_forest *forest, size_t capacity, uint64_t min, uint64_t greatest,
                                  sstore_error *error)
{
    const uint32_t bits = choose_bits(capacity);
    *forest = (ss_node_forest){.min = min, .capacity = capacity};
    while ((greatest - min) >> forest->shift >> bits > 0)
        forest->shift++;
    forest->nodes = ss_alloc_large(capacity * sizeof *forest->nodes);
    forest->parents = ss_alloc_large(capacity * sizeof *forest->parents);
    forest->begins = ss_alloc_large(((size_t)1 << bits) * sizeof *forest->begins);
    if (forest->nodes != NULL && forest->parents != NULL && forest->begins != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, ss_node_forest_bytes(capacity));
}

void ss_node_forest_close(ss_node_forest *forest)
{
    ss_free(forest->nodes);
    ss_free(forest->parents);
    ss_free(forest->begins);
    *forest = (ss_node_forest){.nodes = NULL};
}

void ss_node_forest_add(ss_node_forest *forest, uint64_t node)
{
    if (forest->count > 0 && forest->nodes[forest->count - 1] == node)
        return;
    assert(forest->count < forest->capacity && (forest->count == 0 || forest->nodes[forest->count - 1] < node));
    const uint32_t leading = leading_bits(forest, node);
    while (forest->begun <= leading)
        forest->begins[forest->begun++] = (uint32_t)forest->count;
    forest->nodes[forest->count] = node;
    forest->parents[forest->count] = (uint32_t)forest->count;
    forest->count++;
}

/* The index of a node that is there. */
static uint32_t index_of(const ss_node_forest *forest, uint64_t node)
{
    const uint32_t leading = leading_bits(forest, node);
    uint32_t low = forest->begins[leading];
    uint32_t high = leading + 1 < forest->begun ? forest->begins[leading + 1] : (uint32_t)forest->count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (forest->nodes[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    assert(forest->nodes[low] == node);
    return low;
}

static uint32_t root_of(uint32_t *parents, uint32_t index)
{
    while (parents[index] != index)
        index = parents[index] = parents[parents[index]];
    return index;
}

void ss_node_forest_connect(ss_node_forest *forest, uint64_t node)
{
    const uint32_t a = root_of(forest->parents, (uint32_t)forest->count - 1);
    const uint32_t b = root_of(forest->parents, index_of(forest, node));
    forest->parents[a > b ? a : b] = a > b ? b : a;
}

void ss_node_forest_flatten(ss_node_forest *forest)
{
    for (size_t i = 0; i < forest->count; i++) /* a parent comes before its children, so it is flat already */
        forest->parents[i] = forest->parents[forest->parents[i]];
}

/* ===== components ===== */

#define ADDED_AT_ONCE 1024u
#define WORKERS_SHARE 8u /* of memory, that pieces take while they are worked on: 1/8 */
#define MIN_PIECE ((uint64_t)1024)
#define STEP_SHARE 0.3 /* of the work that is left, that a step is taken for: how many there will be is not known */

/* One thread, in a step. */
typedef struct step_worker {
    sstore_record *items, *scratch; /* a piece */
    uint64_t nodes[ADDED_AT_ONCE], others[ADDED_AT_ONCE];
    size_t pending;         /* edges in the two above */
    uint64_t node_count;    /* in pieces that were counted */
    uint64_t min, greatest; /* node of them */
    bool changed;
} step_worker;

struct ss_components {
    uint32_t threads, steps;
    size_t piece_capacity;
    const ss_dir *tmp_dir;
    ss_chunk_pool pools[2];
    ss_sorter *sorters[2]; /* each in its pool */
    uint32_t newest;       /* the one that has all edges */
    uint64_t pool_bytes;
    ss_node_forest forest; /* of all nodes, where they fit into the other pool's memory */
    step_worker *workers;
    ss_progress *progress;
};

/* ----- opening ----- */

static sstore_status open_sorter(ss_components *components, uint32_t which, uint64_t max, sstore_error *error)
{
    const ss_sorter_options options = {.item_words = 2,
                                       .writers = components->threads,
                                       .pool = &components->pools[which],
                                       .piece_capacity = components->piece_capacity,
                                       .expected_count = max,
                                       .tmp_dir = components->tmp_dir};
    return ss_sorter_create(&options, &components->sorters[which], error);
}

static void close_sorter(ss_components *components, uint32_t which)
{
    ss_sorter_free(components->sorters[which]);
    components->sorters[which] = NULL;
}

static void close_workers(ss_components *components)
{
    for (uint32_t i = 0; components->workers != NULL && i < components->threads; i++) {
        ss_free(components->workers[i].items);
        ss_free(components->workers[i].scratch);
    }
    ss_free(components->workers);
    components->workers = NULL;
}

static sstore_status open_workers(ss_components *components, sstore_error *error)
{
    const size_t bytes = components->piece_capacity * sizeof(sstore_record);
    components->workers = ss_alloc(components->threads, sizeof *components->workers);
    bool opened = components->workers != NULL;
    for (uint32_t i = 0; opened && i < components->threads; i++) {
        components->workers[i].items = ss_alloc_large(bytes);
        components->workers[i].scratch = ss_alloc_large(bytes);
        opened = components->workers[i].items != NULL && components->workers[i].scratch != NULL;
    }
    return opened ? SSTORE_OK : ss_fail_memory(error, 2 * bytes * components->threads);
}

sstore_status ss_components_create(const ss_components_options *options, ss_components **components_out,
                                   sstore_error *error)
{
    ss_components *components = ss_alloc(1, sizeof *components);
    *components_out = components;
    if (components == NULL)
        return ss_fail_memory(error, sizeof *components);
    components->threads = ss_pool_threads(options->threads);
    components->tmp_dir = options->tmp_dir;
    const uint64_t workers = options->memory_bytes / WORKERS_SHARE;
    const uint64_t capacity = workers / components->threads / 2 / sizeof(sstore_record);
    components->piece_capacity = (size_t)ss_max_u64(capacity, MIN_PIECE);
    components->pool_bytes = (options->memory_bytes - workers) / 2;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < 2; i++)
        status = ss_sorter_pool_open(&components->pools[i], components->pool_bytes, components->threads, error);
    if (status == SSTORE_OK)
        status = open_sorter(components, 0, UINT64_MAX, error);
    if (status != SSTORE_OK) {
        ss_components_free(components);
        *components_out = NULL;
    }
    return status;
}

void ss_components_free(ss_components *components)
{
    if (components == NULL)
        return;
    close_workers(components);
    ss_node_forest_close(&components->forest);
    for (uint32_t i = 0; i < 2; i++) {
        close_sorter(components, i);
        ss_chunk_pool_close(&components->pools[i]);
    }
    ss_free(components);
}

/* ----- edges ----- */

sstore_status ss_components_add(ss_components *components, uint32_t writer, const ss_fingerprint_pair *edges,
                                size_t count, sstore_error *error)
{
    uint64_t nodes[ADDED_AT_ONCE], others[ADDED_AT_ONCE];
    sstore_status status = SSTORE_OK;
    for (size_t done = 0; status == SSTORE_OK && done < count;) {
        size_t added = 0;
        for (; added < ADDED_AT_ONCE && done < count; done++) { /* in both directions */
            nodes[added] = others[added + 1] = edges[done].first;
            others[added] = nodes[added + 1] = edges[done].second;
            added += 2;
        }
        status = ss_sorter_add(components->sorters[0], writer, nodes, others, added, error);
    }
    return status;
}

static sstore_status flush(const ss_components *components, uint32_t worker, sstore_error *error)
{
    step_worker *self = &components->workers[worker];
    const size_t pending = self->pending;
    self->pending = 0;
    return ss_sorter_add(components->sorters[1 - components->newest], worker, self->nodes, self->others, pending,
                         error);
}

/* An edge for the next step. */
static sstore_status emit(const ss_components *components, uint32_t worker, uint64_t node, uint64_t other,
                          sstore_error *error)
{
    step_worker *self = &components->workers[worker];
    self->nodes[self->pending] = node;
    self->others[self->pending++] = other;
    return self->pending < ADDED_AT_ONCE ? SSTORE_OK : flush(components, worker, error);
}

/* ----- star steps ----- */

/* A node with the smallest of it and its neighbours, by which all edges of the node go. */
typedef struct star {
    uint64_t node, centre;
    bool any;
} star;

static star star_of(const sstore_record *first_edge)
{
    return (star){first_edge->fingerprint, ss_min_u64(first_edge->fingerprint, first_edge->id), true};
}

/* What an edge becomes. Edges of a node ascend by the other; `first` is whether this is the first one. */
typedef sstore_status (*edge_fn)(const ss_components *components, uint32_t worker, const star *of, uint64_t other,
                                 bool first, sstore_error *error);

/* Edges come in both directions; they leave from the larger node to the smaller. Roots also get one to themselves, so
 * that at the end they are among the nodes. */
static sstore_status large_star_edge(const ss_components *components, uint32_t worker, const star *of, uint64_t other,
                                     bool first, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (first && of->centre == of->node)
        status = emit(components, worker, of->node, of->node, error);
    if (status != SSTORE_OK || other <= of->node)
        return status;
    components->workers[worker].changed |= of->centre != of->node;
    return emit(components, worker, other, of->centre, error);
}

static sstore_status emit_both(const ss_components *components, uint32_t worker, uint64_t a, uint64_t b,
                               sstore_error *error)
{
    const sstore_status status = emit(components, worker, a, b, error);
    return status == SSTORE_OK && a != b ? emit(components, worker, b, a, error) : status;
}

/* Edges come from the larger node to the smaller; they leave in both directions. */
static sstore_status small_star_edge(const ss_components *components, uint32_t worker, const star *of, uint64_t other,
                                     bool first, sstore_error *error)
{
    if (first)
        return emit_both(components, worker, of->node, of->centre, error);
    if (other == of->node)
        return SSTORE_OK;
    components->workers[worker].changed = true;
    return emit_both(components, worker, other, of->centre, error);
}

typedef struct step {
    ss_components *components;
    edge_fn on_edge;
    ss_sequencer turnstile; /* guards the one below */
    star last;              /* of the pieces so far */
} step;

/* The star of a piece's last node: it may have begun in a piece before. */
static star last_star(const sstore_record *items, size_t count, const star *before)
{
    const uint64_t node = items[count - 1].fingerprint;
    size_t begin = count - 1;
    while (begin > 0 && items[begin - 1].fingerprint == node)
        begin--;
    return begin == 0 && before->any && before->node == node ? *before : star_of(&items[begin]);
}

static sstore_status step_over(const step *self, uint32_t index, const sstore_record *items, size_t count, star at,
                               sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        const bool first = !at.any || items[i].fingerprint != at.node;
        if (first)
            at = star_of(&items[i]);
        status = self->on_edge(self->components, index, &at, items[i].id, first, error);
    }
    return status;
}

static sstore_status step_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    step *self = context;
    ss_components *components = self->components;
    step_worker *worker = &components->workers[index];
    size_t count = 0;
    sstore_status status = ss_sorter_load(components->sorters[components->newest], (size_t)task, worker->items,
                                          worker->scratch, &count, error);
    if (status != SSTORE_OK) {
        ss_sequencer_break(&self->turnstile);
        return status;
    }
    if (!ss_sequencer_enter(&self->turnstile, task))
        return SSTORE_OK; /* whoever failed reports it */
    const star before = self->last;
    if (count > 0)
        self->last = last_star(worker->items, count, &before);
    ss_sequencer_leave(&self->turnstile);
    status = step_over(self, index, worker->items, count, before, error);
    return status == SSTORE_OK ? ss_progress_add(components->progress, index, count) : status;
}

/* Go over all edges of the newest sorter, whose successor becomes the other one. */
static sstore_status run_step(ss_components *components, edge_fn on_edge, double end_share, bool *changed_out,
                              sstore_error *error)
{
    const uint32_t from = components->newest, to = 1 - from;
    ss_progress *progress = components->progress;
    const uint64_t count = ss_sorter_count(components->sorters[from]);
    step self = {.components = components, .on_edge = on_edge};
    ss_progress_begin(progress, "connecting", components->steps++, count,
                      progress->end_share + (end_share - progress->end_share) * STEP_SHARE);
    close_sorter(components, to);
    sstore_status status = open_sorter(components, to, 2 * count, error); /* an edge becomes two at most */
    ss_sequencer_init(&self.turnstile);
    if (status == SSTORE_OK)
        status = ss_pool_run(components->threads, ss_sorter_piece_count(components->sorters[from]), step_piece, &self,
                             error);
    ss_sequencer_destroy(&self.turnstile);
    for (uint32_t i = 0; status == SSTORE_OK && i < components->threads; i++)
        status = flush(components, i, error);
    for (uint32_t i = 0; i < components->threads; i++) {
        *changed_out |= components->workers[i].changed;
        components->workers[i].changed = false;
    }
    return status;
}

static sstore_status seal(const ss_components *components, uint32_t which, sstore_error *error)
{
    return ss_sorter_finish(components->sorters[which], components->workers[0].items, components->progress, error);
}

/* A large-star step and a small-star step. Where neither changes anything, the edges between them are what is wanted,
 * and the newest sorter has them. */
static sstore_status alternate(ss_components *components, double end_share, bool *changed_out, sstore_error *error)
{
    *changed_out = false;
    sstore_status status = run_step(components, large_star_edge, end_share, changed_out, error);
    if (status == SSTORE_OK) {
        components->newest = 1 - components->newest;
        status = seal(components, components->newest, error);
    }
    if (status == SSTORE_OK)
        status = run_step(components, small_star_edge, end_share, changed_out, error);
    if (status == SSTORE_OK && *changed_out) {
        components->newest = 1 - components->newest;
        status = seal(components, components->newest, error);
    }
    return status;
}

/* Alternate until nothing changes. */
static sstore_status connect_by_stars(ss_components *components, double end_share, sstore_error *error)
{
    bool changed = true;
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && changed)
        status = alternate(components, end_share, &changed, error);
    close_sorter(components, 1 - components->newest);
    ss_chunk_pool_close(&components->pools[1 - components->newest]);
    return status;
}

/* ----- all nodes in memory ----- */

static sstore_status load_edges(ss_components *components, size_t piece, uint32_t index, size_t *count_out,
                                sstore_error *error)
{
    const step_worker *worker = &components->workers[index];
    return ss_sorter_load(components->sorters[0], piece, worker->items, worker->scratch, count_out, error);
}

/* Count the nodes of a piece; one that goes on from the piece before counts again. */
static sstore_status count_nodes(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    ss_components *components = context;
    step_worker *worker = &components->workers[index];
    size_t count = 0;
    const sstore_status status = load_edges(components, (size_t)task, index, &count, error);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        worker->node_count += i == 0 || worker->items[i].fingerprint != worker->items[i - 1].fingerprint;
    if (status == SSTORE_OK && count > 0) {
        worker->min = ss_min_u64(worker->min, worker->items[0].fingerprint);
        worker->greatest = ss_max_u64(worker->greatest, worker->items[count - 1].fingerprint);
    }
    return status == SSTORE_OK ? ss_progress_add(components->progress, index, count) : status;
}

static sstore_status connect_in_memory(ss_components *components, sstore_error *error)
{
    ss_node_forest *forest = &components->forest;
    const sstore_record *items = components->workers[0].items;
    sstore_status status = SSTORE_OK;
    for (size_t piece = 0; status == SSTORE_OK && piece < ss_sorter_piece_count(components->sorters[0]); piece++) {
        size_t count = 0;
        status = load_edges(components, piece, 0, &count, error);
        for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
            ss_node_forest_add(forest, items[i].fingerprint);
            if (items[i].id < items[i].fingerprint) /* the other direction is the same edge */
                ss_node_forest_connect(forest, items[i].id);
        }
        if (status == SSTORE_OK)
            status = ss_progress_add(components->progress, 0, count);
    }
    ss_node_forest_flatten(forest);
    close_sorter(components, 0);
    ss_chunk_pool_close(&components->pools[0]);
    return status;
}

/* Count the nodes, and connect them in the way that there is memory for. */
static sstore_status connect(ss_components *components, double end_share, sstore_error *error)
{
    ss_progress *progress = components->progress;
    const uint64_t count = ss_sorter_count(components->sorters[0]);
    const double half = progress->end_share + (end_share - progress->end_share) / 2;
    uint64_t node_count = 0, min = UINT64_MAX, greatest = 0;
    for (uint32_t i = 0; i < components->threads; i++)
        components->workers[i].min = UINT64_MAX;
    ss_progress_begin(progress, "connecting", 0, count, half);
    sstore_status status = ss_pool_run(components->threads, ss_sorter_piece_count(components->sorters[0]), count_nodes,
                                       components, error);
    for (uint32_t i = 0; i < components->threads; i++) {
        const step_worker *worker = &components->workers[i];
        node_count += worker->node_count;
        min = ss_min_u64(min, worker->min);
        greatest = ss_max_u64(greatest, worker->greatest);
    }
    if (status != SSTORE_OK)
        return status;
    if (ss_node_forest_bytes(node_count) > components->pool_bytes)
        return connect_by_stars(components, end_share, error);
    ss_progress_begin(progress, "connecting", 0, count, end_share);
    status = ss_node_forest_open(&components->forest, (size_t)node_count, ss_min_u64(min, greatest), greatest, error);
    return status == SSTORE_OK ? connect_in_memory(components, error) : status;
}

sstore_status ss_components_finish(ss_components *components, ss_progress *progress, double end_share,
                                   sstore_error *error)
{
    components->progress = progress;
    sstore_status status = open_workers(components, error);
    if (status == SSTORE_OK)
        status = seal(components, 0, error);
    if (status == SSTORE_OK)
        status = connect(components, end_share, error);
    ss_progress_begin(progress, "connecting", components->steps, 0, end_share);
    close_workers(components);
    return status;
}

/* ----- what was found ----- */

uint32_t ss_components_steps(const ss_components *components)
{
    return components->steps;
}

static bool in_memory(const ss_components *components)
{
    return components->forest.nodes != NULL;
}

size_t ss_components_piece_count(const ss_components *components)
{
    if (in_memory(components))
        return (components->forest.count + components->piece_capacity - 1) / components->piece_capacity;
    return ss_sorter_piece_count(components->sorters[components->newest]);
}

size_t ss_components_piece_capacity(const ss_components *components)
{
    return components->piece_capacity;
}

/* The nodes of a piece with their roots. */
static size_t copy_nodes(const ss_components *components, size_t piece, sstore_record *nodes)
{
    const ss_node_forest *forest = &components->forest;
    const size_t begin = piece * components->piece_capacity;
    const size_t left = forest->count - begin;
    const size_t count = left < components->piece_capacity ? left : components->piece_capacity;
    for (size_t i = 0; i < count; i++)
        nodes[i] = (sstore_record){forest->nodes[begin + i], forest->nodes[forest->parents[begin + i]]};
    return count;
}

sstore_status ss_components_load(ss_components *components, size_t piece, sstore_record *nodes, sstore_record *scratch,
                                 size_t *count_out, sstore_error *error)
{
    if (!in_memory(components))
        return ss_sorter_load(components->sorters[components->newest], piece, nodes, scratch, count_out, error);
    *count_out = copy_nodes(components, piece, nodes);
    return SSTORE_OK;
}
