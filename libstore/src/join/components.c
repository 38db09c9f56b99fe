#include "join/components.h"

#include "base/error.h"
#include "base/memory.h"
#include "join/edge_filter.h"
#include "join/join_call.h"

/* ===== union-find ===== */

#define MIN_BITS 4u
#define MAX_BITS 30u

/*
 * Disjoint sets of the nodes of a range, which are added in ascending order. The larger root always becomes a child of
 * the smaller one, so a tree's root is its smallest node in the range. A node is looked up by the leading bits of its
 * distance from the smallest one. Paths are halved when they are followed.
 */
typedef struct node_forest {
    uint64_t *nodes;   /* ascending */
    uint32_t *parents; /* of each node the index of its parent; a root's is its own */
    uint64_t *lowest;  /* of each root the smallest known node of its component; NULL if there is only one range */
    uint32_t *begins;  /* of each value of the leading bits: the first node that has it or a larger one */
    uint64_t min;      /* no node is below it */
    uint32_t shift;    /* leading bits are (node - min) >> shift */
    uint32_t begin_count;
    size_t count, capacity;
} node_forest;

/* About one node has each value of the leading bits, if nodes are evenly spread. */
static uint32_t leading_bits(uint64_t capacity)
{
    return ss_bits_for(capacity, MIN_BITS, MAX_BITS);
}

/* The bytes of a forest of all nodes; UINT64_MAX if there are more nodes than a forest may have. */
static uint64_t forest_bytes(uint64_t capacity)
{
    if (capacity >= UINT32_MAX)
        return UINT64_MAX;
    return capacity * (sizeof(uint64_t) + sizeof(uint32_t)) +
           sizeof(uint32_t) * ((uint64_t)1 << leading_bits(capacity));
}

static sstore_status open_forest(node_forest *forest, size_t capacity, bool is_whole, sstore_error *error)
{
    *forest = (node_forest){.capacity = capacity};
    forest->nodes = ss_alloc_large(capacity * sizeof *forest->nodes);
    forest->parents = ss_alloc_large(capacity * sizeof *forest->parents);
    forest->begins = ss_alloc_large(((size_t)1 << leading_bits(capacity)) * sizeof *forest->begins);
    if (!is_whole)
        forest->lowest = ss_alloc_large(capacity * sizeof *forest->lowest);
    const bool opened = forest->nodes != NULL && forest->parents != NULL && forest->begins != NULL &&
                        (is_whole || forest->lowest != NULL);
    return opened ? SSTORE_OK : ss_fail_memory(error, forest_bytes(capacity));
}

/* Empty a forest, for nodes from `min` to `max`. */
static void begin_forest(node_forest *forest, uint64_t min, uint64_t max)
{
    const uint32_t bits = leading_bits(forest->capacity);
    forest->min = min;
    forest->shift = 0;
    while ((max - min) >> forest->shift >> bits > 0)
        forest->shift++;
    forest->count = 0;
    forest->begin_count = 0;
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
    if (forest->lowest != NULL)
        forest->lowest[forest->count] = node;
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

/* Make each node a child of its root. */
static void flatten(node_forest *forest)
{
    for (size_t i = 0; i < forest->count; i++) /* a parent comes before its children, so its own parent is the root */
        forest->parents[i] = forest->parents[forest->parents[i]];
}

/* ===== components ===== */

#define ADD_BATCH 1024u
#define WORKERS_DIVISOR 8u  /* pieces of the workers take 1/8 of memory */
#define POSTED_DIVISOR 8u   /* what is posted between ranges takes 1/8 of the memory of a forest */
#define FILTERED_DIVISOR 2u /* the filter has half as many nodes as a range */
#define NODE_BYTES 40u      /* in the forest of a range and the filter, at most, with some waste in pages */
#define MIN_PIECE ((uint64_t)1024)

/* The nodes of a piece. */
typedef struct piece_nodes {
    uint64_t count, first, last;
} piece_nodes;

/* Consecutive nodes that fit into the forest together. */
typedef struct node_range {
    uint64_t first, last;
    size_t count;
    size_t first_piece, end_piece;
    uint64_t offset; /* of the saved forest: nodes, then parents */
} node_range;

struct ss_components {
    uint32_t threads;
    size_t piece_capacity;
    const ss_dir *tmp_dir;
    uint64_t pool_bytes;
    ss_chunk_pool pool;
    ss_sorter *sorter; /* of all edges, in both directions */
    ss_piece_room *rooms;
    piece_nodes *pieces;
    node_range *ranges; /* ascending */
    size_t range_count, range_capacity;
    node_forest forest; /* of a range */
    ss_chunk_pool posted_pool;
    ss_spill_file spill;
    ss_edge_filter filter; /* of the edges that the current range posts */
    ss_buckets edges;      /* triples (range, node in it, smaller node outside) */
    ss_buckets questions;  /* triples (range, node in it, node of a higher range, or its root in a lower one) */
    ss_file saved;
    uint64_t saved_bytes, posted_count;
    ss_progress *progress;
    size_t range, next; /* for ss_components_next() */
};

static sstore_status open_sorter(ss_components *self, sstore_error *error)
{
    const ss_sorter_options options = {.item_words = 2,
                                       .writers = self->threads,
                                       .pool = &self->pool,
                                       .piece_capacity = self->piece_capacity,
                                       .expected_count = UINT64_MAX,
                                       .tmp_dir = self->tmp_dir};
    return ss_sorter_create(&options, &self->sorter, error);
}

static void close_sorter(ss_components *self)
{
    ss_sorter_free(self->sorter);
    self->sorter = NULL;
    ss_chunk_pool_close(&self->pool);
}

sstore_status ss_components_create(uint32_t threads, uint64_t memory_bytes, const ss_dir *tmp_dir,
                                   ss_components **components_out, sstore_error *error)
{
    ss_components *self = *components_out = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    self->threads = ss_pool_threads(threads);
    self->tmp_dir = tmp_dir;
    self->saved = SS_FILE_NONE;
    const uint64_t workers = memory_bytes / WORKERS_DIVISOR;
    self->piece_capacity = (size_t)ss_max_u64(workers / self->threads / 2 / sizeof(ss_record), MIN_PIECE);
    self->pool_bytes = (memory_bytes - workers) / 2;
    sstore_status status = ss_sorter_pool_open(&self->pool, self->pool_bytes, self->threads, error);
    if (status == SSTORE_OK)
        status = open_sorter(self, error);
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
    for (uint32_t i = 0; components->rooms != NULL && i < components->threads; i++)
        ss_free(components->rooms[i].items);
    ss_free(components->rooms);
    ss_free(components->pieces);
    ss_free(components->ranges);
    ss_free(components->forest.nodes);
    ss_free(components->forest.parents);
    ss_free(components->forest.lowest);
    ss_free(components->forest.begins);
    close_sorter(components);
    ss_buckets_close(&components->edges);
    ss_buckets_close(&components->questions);
    ss_spill_file_close(&components->spill);
    ss_chunk_pool_close(&components->posted_pool);
    ss_edge_filter_close(&components->filter);
    ss_file_close(&components->saved);
    ss_free(components);
}

sstore_status ss_components_add(ss_components *components, uint32_t writer, const ss_fingerprint_pair *edges,
                                size_t count, sstore_error *error)
{
    ss_record items[ADD_BATCH];
    sstore_status status = SSTORE_OK;
    for (size_t done = 0; status == SSTORE_OK && done < count;) {
        size_t added = 0;
        for (; added < ADD_BATCH && done < count; done++) { /* in both directions */
            items[added++] = (ss_record){edges[done].first, edges[done].second};
            items[added++] = (ss_record){edges[done].second, edges[done].first};
        }
        status = ss_sorter_add_items(components->sorter, writer, items, added, error);
    }
    return status;
}

/* ----- ranges ----- */

/* Count the nodes of a piece. */
static sstore_status count_nodes(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const ss_components *self = context;
    ss_piece_room *room = &self->rooms[index];
    const ss_record *items = room->items;
    const sstore_status status = ss_piece_room_load(room, self->sorter, (size_t)task, error);
    if (status != SSTORE_OK || room->count == 0)
        return status;
    piece_nodes *found = &self->pieces[task];
    *found = (piece_nodes){.count = 1, .first = items[0].fingerprint, .last = items[room->count - 1].fingerprint};
    for (size_t i = 1; i < room->count; i++)
        found->count += items[i].fingerprint != items[i - 1].fingerprint;
    return ss_progress_add(self->progress, index, room->count);
}

/* Count each node in one piece only: further pieces of a node have no other ones. Returns the number of all nodes. */
static uint64_t count_all_nodes(const ss_components *self)
{
    uint64_t count = 0, last = 0;
    for (size_t i = 0; i < ss_sorter_piece_count(self->sorter); i++) {
        piece_nodes *piece = &self->pieces[i];
        if (piece->count > 0 && count > 0 && piece->first == last)
            piece->count = 0;
        last = piece->count > 0 ? piece->last : last;
        count += piece->count;
    }
    return count;
}

/* Divide the pieces into ranges of at most `capacity` nodes. */
static sstore_status divide_nodes(ss_components *self, uint64_t capacity, sstore_error *error)
{
    for (size_t i = 0; i < ss_sorter_piece_count(self->sorter); i++) {
        const piece_nodes *piece = &self->pieces[i];
        const bool begins = piece->count > 0 && (self->range_count == 0 ||
                                                 self->ranges[self->range_count - 1].count + piece->count > capacity);
        if (begins) {
            node_range *ranges = ss_grow(self->ranges, self->range_count, &self->range_capacity, 16, sizeof *ranges);
            if (ranges == NULL)
                return ss_fail_memory(error, 2 * self->range_capacity * sizeof *ranges);
            self->ranges = ranges;
            ranges[self->range_count++] = (node_range){.first = piece->first, .first_piece = i};
        }
        if (self->range_count == 0)
            continue;
        node_range *range = &self->ranges[self->range_count - 1];
        range->end_piece = i + 1;
        range->count += (size_t)piece->count;
        range->last = piece->count > 0 ? piece->last : range->last;
    }
    return SSTORE_OK;
}

static bool range_is_below(const void *items, uint64_t index, uint64_t node)
{
    return ((const node_range *)items)[index].last < node;
}

/* Post (node, other) to the range of the node. */
static sstore_status post(ss_components *self, ss_buckets *to, uint64_t node, uint64_t other, sstore_error *error)
{
    const uint64_t range = ss_lower_bound(self->ranges, 0, self->range_count, node, range_is_below);
    const ss_triple item = {range, node, other};
    self->posted_count++;
    return ss_buckets_partition_items(to, 0, &item, 1, error);
}

/* Pass on what was posted to the current range. Meanwhile on_items may post to other ones: what is spilled stays. */
static sstore_status each_posted(ss_components *self, ss_buckets *posted, bool take, ss_items_fn on_items,
                                 sstore_error *error)
{
    const sstore_status status = ss_buckets_spill(posted, 0, error);
    return status == SSTORE_OK ? ss_buckets_each(posted, (uint32_t)self->range, take, self->rooms[0].items,
                                                 self->piece_capacity, on_items, self, error)
                               : status;
}

static sstore_status open_posted(ss_components *self, ss_buckets *posted, sstore_error *error)
{
    *posted = (ss_buckets){.pool = &self->posted_pool, .spill = &self->spill, .item_words = 3, .count = 1};
    while (posted->count < self->range_count)
        posted->count *= 2;
    return ss_buckets_open(posted, 1, self->posted_pool.max_chunks / 2, error);
}

/* Make ranges, and room for the largest one. */
static sstore_status open_ranges(ss_components *self, sstore_error *error)
{
    const uint64_t posted_bytes = self->pool_bytes / POSTED_DIVISOR, node_count = count_all_nodes(self);
    const uint64_t max = ss_min_u64((self->pool_bytes - posted_bytes) / NODE_BYTES, UINT32_MAX - 1);
    const bool is_whole = forest_bytes(node_count) <= self->pool_bytes;
    const uint64_t capacity = is_whole ? node_count : ss_max_u64(max, self->piece_capacity);
    sstore_status status = divide_nodes(self, capacity, error);
    if (status == SSTORE_OK)
        status = open_forest(&self->forest, (size_t)capacity, is_whole, error);
    if (status != SSTORE_OK || is_whole)
        return status;
    ss_spill_file_open(&self->spill, self->tmp_dir);
    status = ss_file_create_unnamed(self->tmp_dir, &self->saved, error);
    if (status == SSTORE_OK)
        status = ss_sorter_pool_open(&self->posted_pool, posted_bytes, 2, error);
    if (status == SSTORE_OK)
        status = ss_edge_filter_open(&self->filter, (size_t)capacity / FILTERED_DIVISOR, error);
    if (status == SSTORE_OK)
        status = open_posted(self, &self->edges, error);
    return status == SSTORE_OK ? open_posted(self, &self->questions, error) : status;
}

/* ----- from the highest range to the lowest ----- */

/* Note a node of a root's component. If two are below the range, a lower range has to connect them, unless edges that
 * this range has posted do so. */
static sstore_status note_lowest(ss_components *self, uint32_t root, uint64_t node, sstore_error *error)
{
    const uint64_t known = self->forest.lowest[root], low = ss_min_u64(known, node), high = ss_max_u64(known, node);
    self->forest.lowest[root] = low;
    const bool is_needed = low < high && high < self->forest.min && ss_edge_filter_pass(&self->filter, high, low);
    return is_needed ? post(self, &self->edges, high, low, error) : SSTORE_OK;
}

/* Connect the node at `index` with a smaller one, of this range or a lower one. */
static sstore_status connect(ss_components *self, uint32_t index, uint64_t node, sstore_error *error)
{
    node_forest *forest = &self->forest;
    const uint32_t a = root_of(forest->parents, index);
    if (node < forest->min)
        return note_lowest(self, a, node, error);
    const uint32_t b = root_of(forest->parents, index_of(forest, node));
    const uint32_t child = ss_max_u32(a, b), root = a < b ? a : b;
    forest->parents[child] = root;
    if (forest->lowest == NULL || child == root)
        return SSTORE_OK;
    return note_lowest(self, root, forest->lowest[child], error);
}

static sstore_status connect_posted(void *context, const void *items, size_t count, sstore_error *error)
{
    ss_components *self = context;
    const ss_triple *edges = items;
    sstore_status status = ss_progress_add(self->progress, 0, 0);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = connect(self, index_of(&self->forest, edges[i].second), edges[i].third, error);
    return status;
}

static sstore_status connect_pieces(ss_components *self, const node_range *range, sstore_error *error)
{
    node_forest *forest = &self->forest;
    ss_piece_room *room = &self->rooms[0];
    const ss_record *items = room->items;
    sstore_status status = SSTORE_OK;
    begin_forest(forest, range->first, range->last);
    for (size_t piece = range->first_piece; status == SSTORE_OK && piece < range->end_piece; piece++) {
        status = ss_piece_room_load(room, self->sorter, piece, error);
        for (size_t i = 0; status == SSTORE_OK && i < room->count; i++) {
            add_node(forest, items[i].fingerprint);
            if (items[i].id < items[i].fingerprint) /* the other direction is the same edge */
                status = connect(self, (uint32_t)forest->count - 1, items[i].id, error);
        }
        if (status == SSTORE_OK)
            status = ss_progress_add(self->progress, 0, room->count);
    }
    return status;
}

/* Save a range's forest, and ask lower ranges for the roots of its components. */
static sstore_status leave_range(ss_components *self, node_range *range, sstore_error *error)
{
    const node_forest *forest = &self->forest;
    const size_t nodes_bytes = forest->count * sizeof *forest->nodes;
    const size_t parents_bytes = forest->count * sizeof *forest->parents;
    range->offset = self->saved_bytes;
    self->saved_bytes += nodes_bytes + parents_bytes;
    sstore_status status = ss_file_write_at(&self->saved, range->offset, forest->nodes, nodes_bytes, error);
    if (status == SSTORE_OK)
        status = ss_file_write_at(&self->saved, range->offset + nodes_bytes, forest->parents, parents_bytes, error);
    for (size_t i = 0; status == SSTORE_OK && i < forest->count; i++)
        if (forest->parents[i] == i && forest->lowest[i] < forest->min)
            status = post(self, &self->questions, forest->lowest[i], forest->nodes[i], error);
    return status;
}

/* Connect the nodes of all ranges. The forest is then that of the lowest one. */
static sstore_status connect_ranges(ss_components *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (self->range = self->range_count; status == SSTORE_OK && self->range > 0;) {
        node_range *range = &self->ranges[--self->range];
        /* Empty the filter: the nodes of this range are removed, so edges to them no longer connect others. */
        if (self->range_count > 1)
            ss_edge_filter_expect(&self->filter, self->filter.slot_count);
        status = connect_pieces(self, range, error);
        if (status == SSTORE_OK && self->range_count > 1)
            status = each_posted(self, &self->edges, true, connect_posted, error);
        flatten(&self->forest);
        if (status == SSTORE_OK && self->range > 0)
            status = leave_range(self, range, error);
    }
    close_sorter(self);
    return status;
}

/* ----- from the lowest range to the highest ----- */

static sstore_status load_range(ss_components *self, const node_range *range, sstore_error *error)
{
    node_forest *forest = &self->forest;
    const size_t nodes_bytes = range->count * sizeof *forest->nodes;
    sstore_status status = ss_file_read_at(&self->saved, range->offset, forest->nodes, nodes_bytes, error);
    if (status != SSTORE_OK)
        return status;
    begin_forest(forest, range->first, range->last);
    for (size_t i = 0; i < range->count; i++)
        add_node(forest, forest->nodes[i]);
    return ss_file_read_at(&self->saved, range->offset + nodes_bytes, forest->parents,
                           range->count * sizeof *forest->parents, error);
}

/* Take the roots that lower ranges have found. */
static sstore_status take_answers(void *context, const void *items, size_t count, sstore_error *error)
{
    const ss_components *self = context;
    const ss_triple *posted = items;
    (void)error;
    for (size_t i = 0; i < count; i++)
        if (posted[i].third < posted[i].second)
            self->forest.lowest[index_of(&self->forest, posted[i].second)] = posted[i].third;
    return SSTORE_OK;
}

/* Answer the questions of higher ranges. */
static sstore_status answer_questions(void *context, const void *items, size_t count, sstore_error *error)
{
    ss_components *self = context;
    const node_forest *forest = &self->forest;
    const ss_triple *posted = items;
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        if (posted[i].third < posted[i].second)
            continue;
        const uint32_t root = forest->parents[index_of(forest, posted[i].second)];
        status = post(self, &self->questions, posted[i].third, forest->lowest[root], error);
    }
    return status;
}

/* Find the roots of the nodes of the current range, which is in the forest. */
static sstore_status find_roots(ss_components *self, sstore_error *error)
{
    self->next = 0;
    if (self->range_count <= 1)
        return SSTORE_OK;
    const sstore_status status = each_posted(self, &self->questions, false, take_answers, error);
    return status == SSTORE_OK ? each_posted(self, &self->questions, true, answer_questions, error) : status;
}

/* ----- result ----- */

static sstore_status open_rooms(ss_components *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    self->rooms = ss_alloc(self->threads, sizeof *self->rooms);
    if (self->rooms == NULL)
        return ss_fail_memory(error, self->threads * sizeof *self->rooms);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->threads; i++)
        status = ss_piece_room_open(&self->rooms[i], 2, self->piece_capacity, error);
    return status;
}

sstore_status ss_components_finish(ss_components *components, ss_progress *progress, double end_fraction,
                                   sstore_error *error)
{
    const uint64_t count = ss_sorter_count(components->sorter);
    const double begin_fraction = progress->end_fraction, quarter = (end_fraction - begin_fraction) / 4;
    components->progress = progress;
    sstore_status status = open_rooms(components, error);
    ss_progress_begin(progress, "connecting", 0, count, begin_fraction + quarter);
    if (status == SSTORE_OK)
        status = ss_sorter_finish(components->sorter, progress, error);
    if (status != SSTORE_OK)
        return status;
    const size_t piece_count = ss_sorter_piece_count(components->sorter);
    components->pieces = ss_alloc(ss_max_u64(piece_count, 1), sizeof *components->pieces);
    if (components->pieces == NULL)
        return ss_fail_memory(error, piece_count * sizeof *components->pieces);
    ss_progress_begin(progress, "connecting", 0, count, begin_fraction + 2 * quarter);
    status = ss_pool_run(components->threads, piece_count, count_nodes, components, error);
    if (status == SSTORE_OK)
        status = open_ranges(components, error);
    ss_progress_begin(progress, "connecting", 0, count, end_fraction);
    if (status == SSTORE_OK)
        status = connect_ranges(components, error);
    if (status == SSTORE_OK)
        status = find_roots(components, error);
    ss_progress_begin(progress, "connecting", 0, 0, end_fraction);
    return status;
}

sstore_status ss_components_next(ss_components *components, ss_record *node_out, bool *more_out, sstore_error *error)
{
    const node_forest *forest = &components->forest;
    while (components->next == forest->count && components->range + 1 < components->range_count) {
        sstore_status status = load_range(components, &components->ranges[++components->range], error);
        if (status == SSTORE_OK)
            status = find_roots(components, error);
        if (status != SSTORE_OK)
            return status;
    }
    *more_out = components->next < forest->count;
    if (!*more_out)
        return SSTORE_OK;
    const uint32_t root = forest->parents[components->next];
    *node_out = (ss_record){forest->nodes[components->next++],
                            forest->lowest == NULL ? forest->nodes[root] : forest->lowest[root]};
    return SSTORE_OK;
}

ss_components_work ss_components_count_work(const ss_components *components)
{
    return (ss_components_work){.ranges = components->range_count, .posted = components->posted_count};
}
