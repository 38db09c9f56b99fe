/*
 * clusters.c - the connected groups of records: two within the distance are in one. Pairs of fingerprints that connect
 * what is to be connected give each fingerprint a root; its records, sorted by root, are the clusters.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "join/components.h"
#include "join/join_call.h"
#include "join/table_join.h"

/* Where a call's work is done, by measurement (bench/README.md). */
#define CONNECTED_SHARE 0.6
#define ROOTS_SHARE 0.75
#define IDENTIFIED_SHARE 0.85
#define TOGETHER 1024u

/* A cluster, or a part of one that goes on from piece to piece, of which some members are left. */
typedef struct open_cluster {
    uint64_t size;
    ss_triple representative;
    const ss_piece_room *room; /* that has its next member, at `at` */
    size_t at, end;
    size_t piece, end_piece; /* of a large one: the piece in `room`, and the first one that has none of it */
} open_cluster;

struct sstore_cluster_iterator {
    ss_join_call call;
    bool with_singles; /* records without neighbours are also wanted */
    ss_components *components;
    ss_sort_stage members; /* triples (root, id, fingerprint) */
    ss_piece_room *rooms;  /* one a thread for pieces that are loaded side by side, and one more */
    size_t first_piece, room_count,
        room_index; /* rooms that are loaded, from the piece of rooms[0] on; and the present one */
    size_t begin;   /* the first member of the next cluster in it */
    open_cluster open;
    uint64_t cluster;     /* the number of the open one */
    sstore_status status; /* of an earlier call */
};

/* ----- what is connected ----- */

static sstore_status keep_edges(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                                sstore_error *error)
{
    const sstore_cluster_iterator *self = context;
    return ss_components_add(self->components, worker, pairs, count, error);
}

static sstore_status connect(sstore_cluster_iterator *self, sstore_error *error)
{
    ss_join_call *call = &self->call;
    ss_store_fingerprints source = {.blocks = NULL};
    const ss_components_options options = {.threads = call->threads,
                                           .memory_bytes = call->join_bytes,
                                           .tmp_dir = &call->tmp_dir};
    ss_join_options join = {.distance = call->distance,
                            .threads = call->threads,
                            .tmp_dir = &call->tmp_dir,
                            .progress = &call->progress,
                            .end_share = CONNECTED_SHARE,
                            .on_pairs = keep_edges,
                            .context = self};
    sstore_status status = ss_components_create(&options, &self->components, error);
    if (status == SSTORE_OK)
        status = ss_store_fingerprints_open(&source, call->left, call->join_bytes / 3, error);
    join.memory_bytes = call->join_bytes - ss_store_fingerprints_kept_bytes(&source);
    if (status == SSTORE_OK) {
        const ss_fingerprint_parts fingerprints = ss_store_fingerprints_parts(&source);
        status = ss_join_spanning(&fingerprints, &join, error);
    }
    ss_store_fingerprints_close(&source);
    return status == SSTORE_OK ? ss_components_finish(self->components, &call->progress, ROOTS_SHARE, error) : status;
}

/* ----- records and their roots ----- */

/* The nodes in ascending order, one at hand. */
typedef struct node_iterator {
    ss_components *components;
    sstore_record *nodes, *scratch;
    size_t piece, count, at;
} node_iterator;

static sstore_status open_nodes(node_iterator *iterator, ss_components *components, sstore_error *error)
{
    const size_t capacity = ss_components_piece_capacity(components);
    *iterator = (node_iterator){.components = components,
                                .nodes = ss_realloc(NULL, capacity, sizeof *iterator->nodes),
                                .scratch = ss_realloc(NULL, capacity, sizeof *iterator->scratch)};
    return iterator->nodes != NULL && iterator->scratch != NULL
               ? SSTORE_OK
               : ss_fail_memory(error, 2 * capacity * sizeof *iterator->nodes);
}

static void close_nodes(node_iterator *iterator)
{
    ss_free(iterator->nodes);
    ss_free(iterator->scratch);
}

/* Whether the node at hand is the fingerprint's. */
static bool is_node(const node_iterator *iterator, uint64_t fingerprint)
{
    return iterator->at < iterator->count && iterator->nodes[iterator->at].fingerprint == fingerprint;
}

/* Get the root of a fingerprint, which ascend from call to call; its own where nothing is near it. */
static sstore_status find_root(node_iterator *iterator, uint64_t fingerprint, uint64_t *root_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (;;) {
        while (iterator->at < iterator->count && iterator->nodes[iterator->at].fingerprint < fingerprint)
            iterator->at++;
        if (iterator->at < iterator->count || iterator->piece == ss_components_piece_count(iterator->components))
            break;
        iterator->at = iterator->count = 0;
        status = ss_components_load(iterator->components, iterator->piece++, iterator->nodes, iterator->scratch,
                                    &iterator->count, error);
        if (status != SSTORE_OK)
            return status;
    }
    *root_out = is_node(iterator, fingerprint) ? iterator->nodes[iterator->at].id : fingerprint;
    return SSTORE_OK;
}

/* Records on their way to the members. */
typedef struct member_batch {
    ss_sorter *to;
    size_t count;
    ss_triple triples[TOGETHER];
} member_batch;

static sstore_status flush(member_batch *batch, sstore_error *error)
{
    size_t count = batch->count;
    batch->count = 0;
    return ss_sorter_add_items(batch->to, 0, batch->triples, count, error);
}

static sstore_status add_member(member_batch *batch, uint64_t root, const sstore_record *record, sstore_error *error)
{
    batch->triples[batch->count++] = (ss_triple){root, record->id, record->fingerprint};
    return batch->count == TOGETHER ? flush(batch, error) : SSTORE_OK;
}

/* Add the records of the fingerprint that the walk stands before. One record alone is no cluster. */
static sstore_status add_fingerprint(const sstore_cluster_iterator *self, ss_ordered_lookup *lookup,
                                     node_iterator *nodes, member_batch *batch, sstore_error *error)
{
    const sstore_record first = lookup->next;
    uint64_t root;
    sstore_status status = find_root(nodes, first.fingerprint, &root, error);
    if (status == SSTORE_OK)
        status = ss_ordered_lookup_step(lookup, error);
    if (status != SSTORE_OK)
        return status;
    const bool is_single = !ss_ordered_lookup_at(lookup, first.fingerprint) && !is_node(nodes, first.fingerprint);
    if (is_single && !self->with_singles)
        return SSTORE_OK;
    status = add_member(batch, root, &first, error);
    while (status == SSTORE_OK && ss_ordered_lookup_at(lookup, first.fingerprint)) {
        status = add_member(batch, root, &lookup->next, error);
        if (status == SSTORE_OK)
            status = ss_ordered_lookup_step(lookup, error);
    }
    return status;
}

/* Give every record its root. */
static sstore_status identify(sstore_cluster_iterator *self, sstore_error *error)
{
    const ss_join_call *call = &self->call;
    ss_manifest_totals totals;
    node_iterator nodes = {.nodes = NULL};
    ss_ordered_lookup lookup = {.more = false};
    uint64_t done = 0;
    member_batch *batch = ss_alloc(1, sizeof *batch);
    if (batch == NULL)
        return ss_fail_memory(error, sizeof *batch);
    batch->to = self->members.sorter;
    (void)ss_manifest_counts(&call->left->manifest, &totals);
    ss_progress_begin(&self->call.progress, "identifying", 0, totals.record_count, IDENTIFIED_SHARE);
    sstore_status status = open_nodes(&nodes, self->components, error);
    if (status == SSTORE_OK)
        status = ss_ordered_lookup_open(&lookup, call->left, error);
    if (status == SSTORE_OK)
        status = ss_ordered_lookup_begin(&lookup, 0, error);
    while (status == SSTORE_OK && lookup.more) {
        status = add_fingerprint(self, &lookup, &nodes, batch, error);
        if (status == SSTORE_OK && ++done % TOGETHER == 0)
            status = ss_progress_add(&self->call.progress, 0, TOGETHER);
    }
    if (status == SSTORE_OK)
        status = flush(batch, error);
    ss_ordered_lookup_close(&lookup);
    close_nodes(&nodes);
    ss_free(batch);
    return status;
}

/* ----- giving the members ----- */

static sstore_status load_piece(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const sstore_cluster_iterator *self = context;
    (void)worker;
    return ss_piece_room_load(&self->rooms[task], &self->members, self->first_piece + (size_t)task, error);
}

/* Load the pieces from `first` on, side by side; room_count is 0 if there are no more. */
static sstore_status load_pieces(sstore_cluster_iterator *self, size_t first, sstore_error *error)
{
    const uint32_t threads = self->call.threads;
    self->first_piece = first;
    self->room_count = (size_t)ss_min_u64(ss_sorter_piece_count(self->members.sorter) - first, threads);
    self->room_index = self->begin = 0;
    return ss_pool_run(threads, self->room_count, load_piece, self, error);
}

static const ss_triple *members_of(const ss_piece_room *room)
{
    return room->items;
}

/* Open a cluster that has all of the present piece, and may go on in the next ones: count its members, and begin again. */
static sstore_status open_large(sstore_cluster_iterator *self, const ss_piece_room *first, sstore_error *error)
{
    const size_t piece_count = ss_sorter_piece_count(self->members.sorter),
                 piece = self->first_piece + self->room_index;
    const ss_triple representative = members_of(first)[0];
    ss_piece_room *room = &self->rooms[self->call.threads];
    uint64_t size = first->count;
    size_t end = piece + 1;
    sstore_status status = SSTORE_OK;
    for (; status == SSTORE_OK && end < piece_count; end++) {
        status = ss_piece_room_load(room, &self->members, end, error);
        if (status == SSTORE_OK && room->count > 0 && members_of(room)[0].first != representative.first)
            break;
        size += status == SSTORE_OK ? room->count : 0;
    }
    self->open = (open_cluster){.size = size,
                                .representative = representative,
                                .room = first,
                                .end = first->count,
                                .piece = piece,
                                .end_piece = end};
    return status;
}

/* Open the next cluster of the present piece. */
static sstore_status open_next(sstore_cluster_iterator *self, sstore_error *error)
{
    const ss_piece_room *room = &self->rooms[self->room_index];
    const ss_triple *members = members_of(room);
    const size_t begin = self->begin;
    if (begin == 0 && members[0].first == members[room->count - 1].first)
        return open_large(self, room, error);
    size_t end = begin + 1;
    while (end < room->count && members[end].first == members[begin].first)
        end++;
    self->open =
        (open_cluster){.size = end - begin, .representative = members[begin], .room = room, .at = begin, .end = end};
    self->begin = end;
    return SSTORE_OK;
}

/* All members of the open cluster that are in memory were given: load more of it, or close it. */
static sstore_status go_on_or_close(sstore_cluster_iterator *self, sstore_error *error)
{
    open_cluster *open = &self->open;
    const bool is_large = open->end_piece > 0;
    if (is_large && ++open->piece < open->end_piece) {
        ss_piece_room *room = &self->rooms[self->call.threads];
        const sstore_status status = ss_piece_room_load(room, &self->members, open->piece, error);
        open->room = room;
        open->at = 0;
        open->end = room->count;
        return status == SSTORE_OK ? ss_progress_add(&self->call.progress, 0, room->count) : status;
    }
    const size_t next_piece = open->end_piece;
    *open = (open_cluster){.room = NULL};
    self->cluster++;
    if (!is_large)
        return SSTORE_OK;
    const sstore_status status = ss_progress_add(&self->call.progress, 0, self->rooms[self->room_index].count);
    return status == SSTORE_OK ? load_pieces(self, next_piece, error) : status;
}

/* Go on to the next piece. */
static sstore_status end_piece(sstore_cluster_iterator *self, sstore_error *error)
{
    sstore_status status = ss_progress_add(&self->call.progress, 0, self->rooms[self->room_index++].count);
    self->begin = 0;
    if (status == SSTORE_OK && self->room_index == self->room_count)
        status = load_pieces(self, self->first_piece + self->room_count, error);
    return status;
}

/* Get the next record; *more_out is false after the last one. */
static sstore_status next_record(sstore_cluster_iterator *self, sstore_cluster_record *record, bool *more_out,
                                 sstore_error *error)
{
    open_cluster *open = &self->open;
    sstore_status status = SSTORE_OK;
    *more_out = false;
    while (status == SSTORE_OK && (open->room == NULL || open->at == open->end)) {
        if (open->room != NULL)
            status = go_on_or_close(self, error);
        else if (self->room_count == 0)
            return SSTORE_OK;
        else if (self->begin == self->rooms[self->room_index].count)
            status = end_piece(self, error);
        else
            status = open_next(self, error);
    }
    if (status != SSTORE_OK)
        return status;
    const ss_triple member = members_of(open->room)[open->at++], *representative = &open->representative;
    *record = (sstore_cluster_record){
        .cluster = self->cluster,
        .cluster_size = open->size,
        .fingerprint = member.third,
        .id = member.second,
        .distance = sstore_hamming_distance(member.third, representative->third),
        .is_representative = member.third == representative->third && member.second == representative->second,
    };
    *more_out = true;
    return SSTORE_OK;
}

/* ----- all steps ----- */

static sstore_status open_rooms(sstore_cluster_iterator *self, sstore_error *error)
{
    const uint32_t rooms = self->call.threads + 1;
    sstore_status status = SSTORE_OK;
    self->rooms = ss_alloc(rooms, sizeof *self->rooms);
    if (self->rooms == NULL)
        return ss_fail_memory(error, rooms * sizeof *self->rooms);
    for (uint32_t i = 0; status == SSTORE_OK && i < rooms; i++)
        status = ss_piece_room_open(&self->rooms[i], &self->members, error);
    return status;
}

static void close_iterator(sstore_cluster_iterator *self)
{
    for (uint32_t i = 0; self->rooms != NULL && i <= self->call.threads; i++)
        ss_piece_room_close(&self->rooms[i]);
    ss_free(self->rooms);
    ss_components_free(self->components);
    ss_sort_stage_close(&self->members);
    ss_join_call_end(&self->call);
}

/* Find the clusters, and load the first of them. The iterator, which is zeroed, must stay where it is. */
static sstore_status open_iterator(sstore_cluster_iterator *self, const sstore *store,
                                   const sstore_join_options *options, bool with_singles, sstore_error *error)
{
    ss_join_call *call = &self->call;
    self->with_singles = with_singles;
    sstore_status status = ss_join_call_begin(call, store, store, options, error);
    if (status == SSTORE_OK)
        status = connect(self, error);
    if (status == SSTORE_OK)
        status = ss_sort_stage_open(&self->members, 3, call->threads, call->stage_bytes, call->piece_capacity,
                                    &call->tmp_dir, error);
    if (status == SSTORE_OK)
        status = identify(self, error);
    ss_components_free(self->components); /* its memory goes to the last steps */
    self->components = NULL;
    if (status == SSTORE_OK)
        status = ss_sort_stage_finish(&self->members, &call->progress, error);
    if (status == SSTORE_OK)
        status = open_rooms(self, error);
    if (status != SSTORE_OK)
        return status;
    ss_progress_begin(&call->progress, "reporting", 0, ss_sorter_count(self->members.sorter), 1);
    return load_pieces(self, 0, error);
}

/* ----- public ----- */

sstore_status sstore_clusters(const sstore *store, const sstore_join_options *options, bool with_singles,
                              sstore_cluster_fn on_record, void *context, sstore_error *error)
{
    sstore_cluster_iterator self = {.rooms = NULL};
    sstore_cluster_record record;
    bool more = true;
    if (store == NULL || on_record == NULL)
        return ss_fail_argument(error, "sstore_clusters: store and on_record must not be NULL");
    sstore_status status = open_iterator(&self, store, options, with_singles, error);
    while (status == SSTORE_OK) {
        status = next_record(&self, &record, &more, error);
        if (status != SSTORE_OK || !more)
            break;
        if (on_record(context, &record) != 0)
            status = SSTORE_STOPPED;
    }
    close_iterator(&self);
    return status;
}

sstore_status sstore_cluster_iterator_create(const sstore *store, const sstore_join_options *options, bool with_singles,
                                             sstore_cluster_iterator **iterator_out, sstore_error *error)
{
    if (iterator_out != NULL)
        *iterator_out = NULL;
    if (store == NULL || iterator_out == NULL)
        return ss_fail_argument(error, "sstore_cluster_iterator_create: store and iterator_out must not be NULL");
    sstore_cluster_iterator *iterator = ss_alloc(1, sizeof *iterator);
    if (iterator == NULL)
        return ss_fail_memory(error, sizeof *iterator);
    const sstore_status status = open_iterator(iterator, store, options, with_singles, error);
    if (status == SSTORE_OK)
        *iterator_out = iterator;
    else
        sstore_cluster_iterator_free(iterator);
    return status;
}

static void set_record(const sstore_cluster_columns *columns, size_t at, const sstore_cluster_record *record)
{
    if (columns->cluster != NULL)
        columns->cluster[at] = record->cluster;
    if (columns->cluster_size != NULL)
        columns->cluster_size[at] = record->cluster_size;
    if (columns->fingerprint != NULL)
        columns->fingerprint[at] = record->fingerprint;
    if (columns->id != NULL)
        columns->id[at] = record->id;
    if (columns->distance != NULL)
        columns->distance[at] = record->distance;
    if (columns->is_representative != NULL)
        columns->is_representative[at] = record->is_representative;
}

sstore_status sstore_cluster_iterator_next(sstore_cluster_iterator *iterator, const sstore_cluster_columns *columns,
                                           size_t capacity, size_t *count_out, sstore_error *error)
{
    sstore_cluster_columns to = SSTORE_CLUSTER_COLUMNS_INIT;
    sstore_cluster_record record;
    bool more = true;
    if (iterator == NULL || capacity == 0 || count_out == NULL || iterator->status != SSTORE_OK)
        return ss_fail_argument(
            error, "sstore_cluster_iterator_next: iterator and count_out must not be NULL, nor the capacity "
                   "0; and no call may follow one that failed");
    *count_out = 0;
    sstore_status status = ss_take_options(&to, sizeof to, columns, SS_CLUSTER_COLUMNS_SIZE_1, error);
    while (status == SSTORE_OK && *count_out < capacity) {
        status = iterator->status = next_record(iterator, &record, &more, error);
        if (status != SSTORE_OK || !more)
            break;
        set_record(&to, (*count_out)++, &record);
    }
    return status;
}

void sstore_cluster_iterator_free(sstore_cluster_iterator *iterator)
{
    if (iterator == NULL)
        return;
    close_iterator(iterator);
    ss_free(iterator);
}
