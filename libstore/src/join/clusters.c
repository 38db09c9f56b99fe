/*
 * clusters.c - the connected groups of records: two records within the distance are in one cluster. A spanning join of
 * the fingerprints gives each one a root. Sorted by root, the records form the clusters. Nodes are fingerprints, or
 * if these have several words, their numbers (record_reader.h).
 */
#include "base/error.h"
#include "base/iterator.h"
#include "base/memory.h"
#include "join/components.h"
#include "join/join_call.h"
#include "join/record_reader.h"
#include "join/row_join.h"

/* Fractions of a call's work, by measurement (bench/README.md). */
#define CONNECTED_FRACTION 0.6
#define ROOTS_FRACTION 0.75
#define IDENTIFIED_FRACTION 0.85

#define WAITING_WORDS 4096u /* of members that are added to the sorter together */

typedef struct cluster_iterator {
    sstore_iterator base;
    ss_join_call call;
    uint32_t words;    /* of a fingerprint */
    bool with_singles; /* also give records without neighbours */
    ss_components *components;
    ss_sort_stage members; /* items (root, id, fingerprint) */
    size_t waiting_count;  /* of members that wait to be added */
    uint64_t waiting[WAITING_WORDS];
    ss_piece_room *rooms; /* one a thread for pieces that are loaded at once, and one more to read ahead */
    ss_loaded_pieces pieces;
    size_t at;           /* the next member in its piece */
    uint64_t cluster;    /* the number of the current cluster */
    uint64_t size, left; /* its members: all, and the remaining ones */
    uint64_t representative[SS_MAX_ITEM_WORDS];
} cluster_iterator;

/* ----- records and their roots ----- */

static sstore_status add_edges(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                               sstore_error *error)
{
    return ss_components_add(context, worker, pairs, count, error);
}

static sstore_status flush_members(cluster_iterator *self, sstore_error *error)
{
    const size_t count = self->waiting_count;
    self->waiting_count = 0;
    return ss_sorter_add_items(self->members.sorter, 0, self->waiting, count, error);
}

static sstore_status add_member(cluster_iterator *self, uint64_t root, uint64_t id, const uint64_t *fingerprint,
                                sstore_error *error)
{
    const uint32_t item_words = self->members.item_words;
    uint64_t *item = self->waiting + self->waiting_count++ * item_words;
    item[0] = root;
    item[1] = id;
    ss_words_set(item + 2, 0, fingerprint, self->words);
    return (self->waiting_count + 1) * item_words > WAITING_WORDS ? flush_members(self, error) : SSTORE_OK;
}

/* Add the records of the current fingerprint, whose node is `own`, with their root. `node` is the first node that is
 * not below it. A single record is not a cluster. */
static sstore_status add_fingerprint(cluster_iterator *self, ss_record_reader *reader, uint64_t own,
                                     const ss_record *node, sstore_error *error)
{
    uint64_t fingerprint[SSTORE_MAX_WORDS];
    const uint64_t id = reader->current.id, number = reader->number;
    const bool is_node = node != NULL && node->fingerprint == own;
    const uint64_t root = is_node ? node->id : own;
    ss_words_set(fingerprint, 0, ss_record_reader_fingerprint(reader), self->words);
    sstore_status status = ss_record_reader_next_number(reader, fingerprint, error);
    const bool is_single = !is_node && reader->number > number;
    if (status != SSTORE_OK || (is_single && !self->with_singles))
        return status;
    status = add_member(self, root, id, fingerprint, error);
    while (status == SSTORE_OK && reader->number == number) {
        status = add_member(self, root, reader->current.id, fingerprint, error);
        if (status == SSTORE_OK)
            status = ss_record_reader_next_number(reader, fingerprint, error);
    }
    return status;
}

/* Give every record its root. */
static sstore_status identify(cluster_iterator *self, sstore_error *error)
{
    const sstore *store = self->call.left;
    ss_record_reader reader;
    ss_record node = {0, 0};
    bool more_nodes = false;
    uint64_t done = 0;
    ss_progress_begin(&self->call.progress, "identifying", 0, ss_manifest_count(&store->manifest).record_count,
                      IDENTIFIED_FRACTION);
    sstore_status status = ss_record_reader_open(&reader, store, store->manifest.has_ids, &self->call.excluded, error);
    if (status == SSTORE_OK)
        status = ss_record_reader_first(&reader, error);
    if (status == SSTORE_OK)
        status = ss_components_next(self->components, &node, &more_nodes, error);
    while (status == SSTORE_OK && reader.more) {
        const uint64_t own = self->words == 1 ? reader.current.fingerprint : reader.number;
        while (status == SSTORE_OK && more_nodes && node.fingerprint < own)
            status = ss_components_next(self->components, &node, &more_nodes, error);
        if (status == SSTORE_OK)
            status = add_fingerprint(self, &reader, own, more_nodes ? &node : NULL, error);
        if (status == SSTORE_OK && ++done % 1024 == 0)
            status = ss_progress_add(&self->call.progress, 0, 1024);
    }
    ss_record_reader_close(&reader);
    return status == SSTORE_OK ? flush_members(self, error) : status;
}

/* ----- returning the members ----- */

static sstore_status load_members(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const cluster_iterator *self = context;
    (void)worker;
    return ss_piece_room_load(&self->rooms[task], self->members.sorter, self->pieces.first + (size_t)task, error);
}

/* A member: its root, its id and its fingerprint. */
static const uint64_t *member_at(const ss_piece_room *room, size_t index, uint32_t item_words)
{
    return (const uint64_t *)room->items + index * item_words;
}

/* The next member is the first one of a cluster: count its members. A cluster that exceeds a piece has separate
 * pieces. */
static sstore_status open_cluster(cluster_iterator *self, sstore_error *error)
{
    const ss_piece_room *room = &self->rooms[self->pieces.index];
    const uint32_t item_words = self->members.item_words;
    const size_t piece_count = ss_sorter_piece_count(self->members.sorter);
    ss_piece_room *ahead = &self->rooms[self->call.threads];
    size_t end = self->at + 1;
    ss_words_copy(self->representative, member_at(room, self->at, item_words), item_words);
    const uint64_t root = self->representative[0];
    while (end < room->count && *member_at(room, end, item_words) == root)
        end++;
    self->size = end - self->at;
    if (self->size == room->count) {
        for (size_t piece = self->pieces.first + self->pieces.index + 1; piece < piece_count; piece++) {
            const sstore_status status = ss_piece_room_load(ahead, self->members.sorter, piece, error);
            if (status != SSTORE_OK)
                return status;
            if (ahead->count > 0 && *member_at(ahead, 0, item_words) != root)
                break;
            self->size += ahead->count;
        }
    }
    self->left = self->size;
    return SSTORE_OK;
}

/* Go to the next record; *more_out is false after the last one. */
static sstore_status find_next(cluster_iterator *self, bool *more_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && self->pieces.count > 0 && self->at == self->rooms[self->pieces.index].count) {
        status = ss_loaded_pieces_next(&self->pieces, self->at, error);
        self->at = 0;
    }
    *more_out = status == SSTORE_OK && self->pieces.count > 0;
    return *more_out && self->left == 0 ? open_cluster(self, error) : status;
}

/* Put the record into the columns, and go behind it. */
static void take_record(cluster_iterator *self, const sstore_columns *columns, size_t at)
{
    const uint64_t *member = member_at(&self->rooms[self->pieces.index], self->at++, self->members.item_words);
    const uint64_t *representative = self->representative;
    const uint32_t distance = ss_words_distance(member + 2, representative + 2, self->words);
    ss_set_fingerprint(columns->fingerprint, at, member + 2, self->words);
    ss_set_word(columns->id, at, member[1]);
    ss_set_distance(columns->distance, at, distance);
    ss_set_word(columns->cluster, at, self->cluster);
    ss_set_word(columns->cluster_size, at, self->size);
    if (columns->is_representative != NULL)
        columns->is_representative[at] = distance == 0 && member[1] == representative[1];
    if (--self->left == 0)
        self->cluster++;
}

/* ----- public ----- */

/* Add edges that connect the near fingerprints. The memory that is for sorted members is free meanwhile. */
static sstore_status connect(cluster_iterator *self, sstore_error *error)
{
    ss_join_call *call = &self->call;
    return self->words == 1
               ? ss_join_call_find(call, SS_JOIN_SPANNING, CONNECTED_FRACTION, add_edges, self->components, error)
               : ss_row_join(call, SS_JOIN_SPANNING, call->join_bytes + call->stage_bytes, CONNECTED_FRACTION,
                             add_edges, self->components, error);
}

/* Find the clusters, and load the first of them. */
static sstore_status find_clusters(cluster_iterator *self, const sstore *store, const sstore_cluster_options *options,
                                   sstore_error *error)
{
    ss_join_call *call = &self->call;
    sstore_cluster_options taken = SSTORE_CLUSTER_OPTIONS_INIT;
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_CLUSTER_OPTIONS_SIZE_1, error);
    self->with_singles = taken.with_singles;
    const sstore_join_options join = {.struct_size = sizeof join,
                                      .distance = taken.distance,
                                      .threads = taken.threads,
                                      .memory_bytes = taken.memory_bytes,
                                      .tmp_dir = taken.tmp_dir,
                                      .excluded = taken.excluded,
                                      .excluded_count = taken.excluded_count,
                                      .excluded_distance = taken.excluded_distance,
                                      .on_progress = taken.on_progress,
                                      .progress_context = taken.progress_context};
    call->tmp_dir = SS_DIR_NONE;
    if (status == SSTORE_OK)
        status = ss_join_call_begin(call, store, store, &join, error);
    if (status == SSTORE_OK)
        status = ss_components_create(call->threads, call->join_bytes, &call->tmp_dir, &self->components, error);
    self->words = store->manifest.words;
    if (status == SSTORE_OK)
        status = connect(self, error);
    if (status == SSTORE_OK)
        status = ss_components_finish(self->components, &call->progress, ROOTS_FRACTION, error);
    if (status == SSTORE_OK)
        status = ss_sort_stage_open(&self->members, ss_member_words(self->words), call, error);
    if (status == SSTORE_OK)
        status = identify(self, error);
    ss_components_free(self->components); /* the last steps use its memory */
    self->components = NULL;
    if (status == SSTORE_OK)
        status = ss_sorter_finish(self->members.sorter, &call->progress, error);
    if (status != SSTORE_OK)
        return status;
    self->rooms = ss_alloc(call->threads + 1, sizeof *self->rooms);
    if (self->rooms == NULL)
        return ss_fail_memory(error, (call->threads + 1) * sizeof *self->rooms);
    for (uint32_t i = 0; status == SSTORE_OK && i <= call->threads; i++)
        status = ss_piece_room_open(&self->rooms[i], self->members.item_words, call->piece_capacity, error);
    ss_progress_begin(&call->progress, "reporting", 0, ss_sorter_count(self->members.sorter), 1);
    self->pieces = (ss_loaded_pieces){call, self->members.sorter, load_members, self, 0, 0, 0};
    return status == SSTORE_OK ? ss_loaded_pieces_next(&self->pieces, 0, error) : status;
}

static sstore_status fill_members(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity,
                                  size_t *count, sstore_error *error)
{
    cluster_iterator *self = (cluster_iterator *)iterator;
    bool more = true;
    while (*count < capacity) {
        const sstore_status status = find_next(self, &more, error);
        if (status != SSTORE_OK || !more)
            return status;
        take_record(self, columns, (*count)++);
    }
    return SSTORE_OK;
}

static void free_clusters(sstore_iterator *iterator)
{
    cluster_iterator *self = (cluster_iterator *)iterator;
    for (uint32_t i = 0; self->rooms != NULL && i <= self->call.threads; i++)
        ss_free(self->rooms[i].items);
    ss_free(self->rooms);
    ss_components_free(self->components);
    ss_sort_stage_close(&self->members);
    ss_join_call_end(&self->call);
    ss_free(self);
}

sstore_status sstore_iterate_clusters(const sstore *store, const sstore_cluster_options *options,
                                      sstore_iterator **iterator_out, sstore_error *error)
{
    static const ss_iterator_methods methods = {SS_CLUSTER_COLUMNS, fill_members, free_clusters};
    if (iterator_out != NULL)
        *iterator_out = NULL;
    if (store == NULL || iterator_out == NULL)
        return ss_fail_argument(error, "sstore_iterate_clusters: store and iterator_out must not be NULL");
    cluster_iterator *self = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    self->base.methods = &methods;
    return ss_iterator_give(&self->base, find_clusters(self, store, options, error), iterator_out);
}
