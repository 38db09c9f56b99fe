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

typedef struct clusters_run {
    ss_join_call *call;
    bool with_singles; /* records that are in no cluster with another one are wanted, too */
    ss_components *components;
    ss_sort_stage members; /* triples (root, id, fingerprint) */
    sstore_cluster_fn on_record;
    void *context;
} clusters_run;

/* ----- what is connected ----- */

static sstore_status keep_edges(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                                sstore_error *error)
{
    const clusters_run *self = context;
    return ss_components_add(self->components, worker, pairs, count, error);
}

static sstore_status connect(clusters_run *self, sstore_error *error)
{
    ss_join_call *call = self->call;
    ss_store_source source = {.blocks = NULL};
    const ss_components_options options = {
        .threads = call->threads, .memory_bytes = call->join_bytes, .tmp_dir = &call->tmp_dir};
    ss_join_options join = {.distance = call->distance,
                            .threads = call->threads,
                            .tmp_dir = &call->tmp_dir,
                            .progress = &call->progress,
                            .end_share = CONNECTED_SHARE,
                            .on_pairs = keep_edges,
                            .context = self};
    sstore_status status = ss_components_create(&options, &self->components, error);
    if (status == SSTORE_OK)
        status = ss_store_source_open(&source, call->left, call->join_bytes / 3, error);
    join.memory_bytes = call->join_bytes - ss_store_source_kept_bytes(&source);
    if (status == SSTORE_OK) {
        const ss_fingerprint_source fingerprints = ss_store_source_fingerprints(&source);
        status = ss_join_spanning(&fingerprints, &join, error);
    }
    ss_store_source_close(&source);
    return status == SSTORE_OK ? ss_components_finish(self->components, &call->progress, ROOTS_SHARE, error) : status;
}

/* ----- records and their roots ----- */

/* The nodes in ascending order, one at hand. */
typedef struct node_stream {
    ss_components *components;
    sstore_record *nodes, *scratch;
    size_t piece, count, at;
} node_stream;

static sstore_status open_nodes(node_stream *stream, ss_components *components, sstore_error *error)
{
    const size_t capacity = ss_components_piece_capacity(components);
    *stream = (node_stream){.components = components,
                            .nodes = ss_realloc(NULL, capacity, sizeof *stream->nodes),
                            .scratch = ss_realloc(NULL, capacity, sizeof *stream->scratch)};
    return stream->nodes != NULL && stream->scratch != NULL
               ? SSTORE_OK
               : ss_fail_memory(error, 2 * capacity * sizeof *stream->nodes);
}

static void close_nodes(node_stream *stream)
{
    ss_free(stream->nodes);
    ss_free(stream->scratch);
}

/* Whether the node at hand is the fingerprint's. */
static bool is_node(const node_stream *stream, uint64_t fingerprint)
{
    return stream->at < stream->count && stream->nodes[stream->at].fingerprint == fingerprint;
}

/* Get the root of a fingerprint, which ascend from call to call; its own where nothing is near it. */
static sstore_status find_root(node_stream *stream, uint64_t fingerprint, uint64_t *root_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (;;) {
        while (stream->at < stream->count && stream->nodes[stream->at].fingerprint < fingerprint)
            stream->at++;
        if (stream->at < stream->count || stream->piece == ss_components_piece_count(stream->components))
            break;
        stream->at = stream->count = 0;
        status = ss_components_load(stream->components, stream->piece++, stream->nodes, stream->scratch, &stream->count,
                                    error);
        if (status != SSTORE_OK)
            return status;
    }
    *root_out = is_node(stream, fingerprint) ? stream->nodes[stream->at].id : fingerprint;
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
static sstore_status add_fingerprint(const clusters_run *self, ss_record_walk *walk, node_stream *nodes,
                                     member_batch *batch, sstore_error *error)
{
    const sstore_record first = walk->next;
    uint64_t root;
    sstore_status status = find_root(nodes, first.fingerprint, &root, error);
    if (status == SSTORE_OK)
        status = ss_record_walk_step(walk, error);
    if (status != SSTORE_OK)
        return status;
    const bool is_single = !ss_record_walk_at(walk, first.fingerprint) && !is_node(nodes, first.fingerprint);
    if (is_single && !self->with_singles)
        return SSTORE_OK;
    status = add_member(batch, root, &first, error);
    while (status == SSTORE_OK && ss_record_walk_at(walk, first.fingerprint)) {
        status = add_member(batch, root, &walk->next, error);
        if (status == SSTORE_OK)
            status = ss_record_walk_step(walk, error);
    }
    return status;
}

/* Give every record its root. */
static sstore_status identify(clusters_run *self, sstore_error *error)
{
    const ss_join_call *call = self->call;
    ss_manifest_totals totals;
    node_stream nodes = {.nodes = NULL};
    ss_record_walk walk = {.more = false};
    uint64_t done = 0;
    member_batch *batch = ss_alloc(1, sizeof *batch);
    if (batch == NULL)
        return ss_fail_memory(error, sizeof *batch);
    batch->to = self->members.sorter;
    (void)ss_manifest_counts(&call->left->manifest, &totals);
    ss_progress_begin(&self->call->progress, "identifying", 0, totals.record_count, IDENTIFIED_SHARE);
    sstore_status status = open_nodes(&nodes, self->components, error);
    if (status == SSTORE_OK)
        status = ss_record_walk_open(&walk, call->left, error);
    if (status == SSTORE_OK)
        status = ss_record_walk_begin(&walk, 0, error);
    while (status == SSTORE_OK && walk.more) {
        status = add_fingerprint(self, &walk, &nodes, batch, error);
        if (status == SSTORE_OK && ++done % TOGETHER == 0)
            status = ss_progress_add(&self->call->progress, 0, TOGETHER);
    }
    if (status == SSTORE_OK)
        status = flush(batch, error);
    ss_record_walk_close(&walk);
    close_nodes(&nodes);
    ss_free(batch);
    return status;
}

/* ----- reporting ----- */

/* Pieces of the members, loaded side by side, reported one after the other. */
typedef struct report {
    const clusters_run *run;
    ss_piece_room *rooms; /* one a thread, and one more */
    size_t first;         /* the piece of rooms[0] */
    uint64_t cluster;     /* the number of the next one */
} report;

static sstore_status load_piece(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const report *self = context;
    (void)worker;
    return ss_piece_room_load(&self->rooms[task], &self->run->members, self->first + (size_t)task, error);
}

/* Report some members of a cluster, of which `representative` is the first. */
static sstore_status report_members(const report *self, const ss_triple *members, size_t count, uint64_t size,
                                    const ss_triple *representative)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t fingerprint = members[i].third, id = members[i].second;
        const sstore_cluster_record record = {
            .cluster = self->cluster,
            .cluster_size = size,
            .fingerprint = fingerprint,
            .id = id,
            .distance = sstore_hamming_distance(fingerprint, representative->third),
            .is_representative = fingerprint == representative->third && id == representative->second,
        };
        if (self->run->on_record(self->run->context, &record) != 0)
            return SSTORE_STOPPED;
    }
    return SSTORE_OK;
}

/* Report the clusters of a piece, all of which are whole. */
static sstore_status report_piece(report *self, const ss_piece_room *room)
{
    const ss_triple *members = room->items;
    sstore_status status = SSTORE_OK;
    for (size_t begin = 0, end; status == SSTORE_OK && begin < room->count; begin = end) {
        for (end = begin + 1; end < room->count && members[end].first == members[begin].first;)
            end++;
        status = report_members(self, members + begin, end - begin, end - begin, &members[begin]);
        self->cluster++;
    }
    return status;
}

static bool has_one_cluster(const ss_piece_room *room)
{
    const ss_triple *members = room->items;
    return room->count > 0 && members[0].first == members[room->count - 1].first;
}

/* Report a cluster that may go on in the pieces after `piece`, which has nothing else; *end_out is the piece after it. */
static sstore_status report_large(report *self, size_t piece, const ss_piece_room *begin, size_t *end_out,
                                  sstore_error *error)
{
    const ss_sort_stage *members = &self->run->members;
    const size_t piece_count = ss_sorter_piece_count(members->sorter);
    const ss_triple representative = ((const ss_triple *)begin->items)[0];
    ss_piece_room *room = &self->rooms[self->run->call->threads];
    uint64_t size = begin->count;
    sstore_status status = SSTORE_OK;
    for (*end_out = piece + 1; status == SSTORE_OK && *end_out < piece_count; (*end_out)++) {
        status = ss_piece_room_load(room, members, *end_out, error);
        if (status == SSTORE_OK && room->count > 0 && ((const ss_triple *)room->items)[0].first != representative.first)
            break;
        size += status == SSTORE_OK ? room->count : 0;
    }
    for (size_t i = piece; status == SSTORE_OK && i < *end_out; i++) {
        status = ss_piece_room_load(room, members, i, error);
        if (status == SSTORE_OK)
            status = report_members(self, room->items, room->count, size, &representative);
    }
    self->cluster++;
    return status;
}

/* Load some pieces and report them, up to the first one that has a cluster which may go on. */
static sstore_status report_some(report *self, sstore_error *error)
{
    ss_join_call *call = self->run->call;
    const size_t piece_count = ss_sorter_piece_count(self->run->members.sorter);
    const uint64_t count = ss_min_u64(piece_count - self->first, call->threads);
    size_t next = self->first + (size_t)count;
    sstore_status status = ss_pool_run(call->threads, count, load_piece, self, error);
    for (uint64_t i = 0; status == SSTORE_OK && i < count; i++) {
        const ss_piece_room *room = &self->rooms[i];
        const bool may_go_on = has_one_cluster(room);
        status = may_go_on ? report_large(self, self->first + (size_t)i, room, &next, error) : report_piece(self, room);
        if (status == SSTORE_OK)
            status = ss_progress_add(&call->progress, 0, room->count);
        if (may_go_on)
            break;
    }
    self->first = next;
    return status;
}

static sstore_status report_all(clusters_run *run, sstore_error *error)
{
    const uint32_t rooms = run->call->threads + 1;
    report self = {.run = run};
    sstore_status status = SSTORE_OK;
    ss_progress_begin(&run->call->progress, "reporting", 0, ss_sorter_count(run->members.sorter), 1);
    self.rooms = ss_alloc(rooms, sizeof *self.rooms);
    if (self.rooms == NULL)
        return ss_fail_memory(error, rooms * sizeof *self.rooms);
    for (uint32_t i = 0; status == SSTORE_OK && i < rooms; i++)
        status = ss_piece_room_open(&self.rooms[i], &run->members, error);
    while (status == SSTORE_OK && self.first < ss_sorter_piece_count(run->members.sorter))
        status = report_some(&self, error);
    for (uint32_t i = 0; i < rooms; i++)
        ss_piece_room_close(&self.rooms[i]);
    ss_free(self.rooms);
    return status;
}

/* ----- all steps ----- */

static sstore_status run(clusters_run *self, sstore_error *error)
{
    ss_join_call *call = self->call;
    sstore_status status = connect(self, error);
    if (status == SSTORE_OK)
        status = ss_sort_stage_open(&self->members, 3, call->threads, call->stage_bytes, call->piece_capacity,
                                    &call->tmp_dir, error);
    if (status == SSTORE_OK)
        status = identify(self, error);
    ss_components_free(self->components);
    if (status == SSTORE_OK)
        status = ss_sort_stage_seal(&self->members, &call->progress, error);
    if (status == SSTORE_OK)
        status = report_all(self, error);
    ss_sort_stage_close(&self->members);
    return status;
}

sstore_status sstore_clusters(const sstore *store, const sstore_join_options *options, int with_singles,
                              sstore_cluster_fn on_record, void *context, sstore_error *error)
{
    ss_join_call call;
    if (store == NULL || on_record == NULL)
        return ss_fail_argument(error, "sstore_clusters: store and on_record must not be NULL");
    sstore_status status = ss_join_call_begin(&call, store, store, options, error);
    clusters_run self = {.call = &call, .with_singles = with_singles != 0, .on_record = on_record, .context = context};
    if (status == SSTORE_OK)
        status = run(&self, error);
    ss_join_call_end(&call);
    return status;
}
