/*
 * pairs.c - all pairs of records within a distance, of one store or of two. First the pairs of fingerprints are found
 * and sorted by the second one. Then the ids of the second one are added, and the results sorted by the first one. The
 * ids of the first one are looked up when the pairs are returned. Fingerprints of several words: see row_pairs.h, and
 * for those of two stores row_queries.h.
 */
#include "base/error.h"
#include "base/iterator.h"
#include "base/memory.h"
#include "join/join_call.h"
#include "join/record_reader.h"
#include "join/row_pairs.h"
#include "join/row_queries.h"

/* Fractions of a call's work, by measurement of joins with ids (bench/README.md). */
#define FOUND_FRACTION 0.6
#define IDENTIFIED_FRACTION 0.75

/* The state of one thread, or of one piece of the items that are returned. */
typedef struct pair_worker {
    ss_piece_room room;
    ss_record_reader reader;
    ss_triple_batch batch; /* while second ids are looked up */
    size_t record_count, record_capacity;
    ss_record *records; /* of the piece's first fingerprints, ascending */
    bool too_many;      /* the records do not fit: each is looked up when it is returned */
} pair_worker;

typedef struct pair_iterator {
    sstore_iterator base;
    ss_join_call call;
    ss_row_pairs *rows;            /* of fingerprints of several words: finds the pairs instead of all below; */
    ss_row_queries *queries;       /* those of two stores */
    ss_sort_stage pairs;           /* of fingerprints: (first, second), or (second, first) if the right store has ids */
    ss_sort_stage triples;         /* if the right store has ids: (first, second, id of the second) */
    ss_sort_stage *items;          /* that are returned: the triples if there are any, else the pairs */
    pair_worker *workers;          /* one a thread */
    ss_store_fingerprints repeats; /* while the search for fingerprints that several records have runs */
    ss_loaded_pieces pieces;       /* of the items, by the workers */
    size_t item_index;             /* the current item in its piece */
    size_t begin;                  /* the first record with its first fingerprint */
    size_t record_index;           /* the next record; if there are too many: 1 once the reader is at the first */
} pair_iterator;

/* Open the workers, to look up fingerprints of pieces of the stage in the store. */
static sstore_status open_workers(pair_iterator *self, const ss_sort_stage *stage, const sstore *store,
                                  sstore_error *error)
{
    const uint32_t threads = self->call.threads;
    sstore_status status = SSTORE_OK;
    self->workers = ss_alloc(threads, sizeof *self->workers);
    if (self->workers == NULL)
        return ss_fail_memory(error, threads * sizeof *self->workers);
    for (uint32_t i = 0; status == SSTORE_OK && i < threads; i++) {
        pair_worker *worker = &self->workers[i];
        worker->batch.sorter = self->triples.sorter;
        worker->batch.writer = i;
        status = ss_piece_room_open(&worker->room, stage->item_words, self->call.piece_capacity, error);
        if (status == SSTORE_OK)
            status = ss_record_reader_open(&worker->reader, store, store->manifest.has_ids, &self->call.excluded,
                                           error);
    }
    return status;
}

static void close_workers(pair_iterator *self)
{
    for (uint32_t i = 0; self->workers != NULL && i < self->call.threads; i++) {
        ss_free(self->workers[i].room.items);
        ss_record_reader_close(&self->workers[i].reader);
        ss_free(self->workers[i].records);
    }
    ss_free(self->workers);
    self->workers = NULL;
}

/* ----- pairs of fingerprints ----- */

static sstore_status add_pairs(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                               sstore_error *error)
{
    const pair_iterator *self = context;
    const bool second_leads = self->call.right->manifest.has_ids;
    ss_record items[SS_GROUP_PAIRS];
    for (size_t i = 0; i < count; i++)
        items[i] = second_leads ? (ss_record){pairs[i].second, pairs[i].first}
                                : (ss_record){pairs[i].first, pairs[i].second};
    return ss_sorter_add_items(self->pairs.sorter, worker, items, count, error);
}

/* ----- second ids ----- */

/* Add the ids of one fingerprint to all pairs[0 .. count-1], which have it as their second one. */
static sstore_status add_ids(pair_worker *worker, const ss_record *pairs, size_t count, sstore_error *error)
{
    ss_record_reader *reader = &worker->reader;
    const uint64_t second = pairs[0].fingerprint;
    sstore_status status = ss_record_reader_skip(reader, second, error);
    while (status == SSTORE_OK && ss_record_reader_at(reader, &second)) {
        for (size_t i = 0; status == SSTORE_OK && i < count; i++)
            status = ss_triple_batch_add(&worker->batch, (ss_triple){pairs[i].id, second, reader->current.id}, error);
        if (status == SSTORE_OK)
            status = ss_record_reader_next(reader, error);
    }
    return status;
}

static sstore_status identify_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    pair_iterator *self = context;
    pair_worker *worker = &self->workers[index];
    const ss_record *pairs = worker->room.items;
    sstore_status status = ss_piece_room_load(&worker->room, self->pairs.sorter, (size_t)task, error);
    const size_t count = status == SSTORE_OK ? worker->room.count : 0;
    if (count > 0)
        status = ss_record_reader_seek(&worker->reader, &pairs[0].fingerprint, error);
    for (size_t begin = 0, end; status == SSTORE_OK && begin < count; begin = end) {
        for (end = begin + 1; end < count && pairs[end].fingerprint == pairs[begin].fingerprint;)
            end++;
        status = add_ids(worker, pairs + begin, end - begin, error);
    }
    return status == SSTORE_OK ? ss_progress_add(&self->call.progress, index, count) : status;
}

/* Add the records of a range's fingerprints that have several. */
static sstore_status add_repeats(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    pair_iterator *self = context;
    const ss_fingerprint_range *range = &self->repeats.ranges[task];
    const bool is_last = task + 1 == self->repeats.source.range_count;
    pair_worker *worker = &self->workers[index];
    ss_record_reader *reader = &worker->reader;
    ss_merge_iterator *records = &reader->records;
    ss_record first = {0, 0}; /* of the fingerprint */
    bool first_added = false;
    uint64_t count = 0;
    sstore_status status = ss_record_reader_seek(reader, &range->min, error);
    while (status == SSTORE_OK && reader->more && (is_last || reader->current.fingerprint < range[1].min)) {
        const uint64_t fingerprint = reader->current.fingerprint;
        if (count == 0 || first.fingerprint != fingerprint) {
            first = reader->current;
            first_added = false;
        } else {
            if (!first_added)
                status = ss_triple_batch_add(&worker->batch, (ss_triple){fingerprint, fingerprint, first.id}, error);
            first_added = true;
            const ss_triple triple = {fingerprint, fingerprint, reader->current.id};
            if (status == SSTORE_OK)
                status = ss_triple_batch_add(&worker->batch, triple, error);
        }
        if (status == SSTORE_OK)
            status = ss_record_reader_next(reader, error);
        count++;
        if (records->input_count == 1) /* only then a segment knows which fingerprints have a single record */
            count += ss_segment_iterator_pass_singles(&records->inputs[0].iterator);
    }
    return status == SSTORE_OK ? ss_progress_add(&self->call.progress, index, count) : status;
}

/* Add the records that have a fingerprint in common, which are pairs of one store. */
static sstore_status identify_repeats(pair_iterator *self, sstore_error *error)
{
    ss_join_call *call = &self->call;
    const ss_manifest *manifest = &call->right->manifest;
    const bool may_repeat = manifest->segment_count > 1 ||
                            (manifest->segment_count == 1 &&
                             manifest->segments[0].record_count > manifest->segments[0].distinct_count);
    if (call->left != call->right || !may_repeat)
        return SSTORE_OK;
    ss_progress_begin(&call->progress, "identifying", 0, ss_manifest_count(manifest).record_count, IDENTIFIED_FRACTION);
    sstore_status status = ss_store_fingerprints_open(&self->repeats, call->right, &call->excluded, 0, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(call->threads, self->repeats.source.range_count, add_repeats, self, error);
    ss_store_fingerprints_close(&self->repeats);
    return status;
}

/* Add the second ids to the pairs. */
static sstore_status identify(pair_iterator *self, sstore_error *error)
{
    ss_join_call *call = &self->call;
    ss_sorter *const pairs = self->pairs.sorter;
    sstore_status status = ss_sort_stage_open(&self->triples, 3, call, error);
    if (status == SSTORE_OK)
        status = open_workers(self, &self->pairs, call->right, error);
    ss_progress_begin(&call->progress, "identifying", 0, ss_sorter_count(pairs), IDENTIFIED_FRACTION);
    if (status == SSTORE_OK)
        status = ss_pool_run(call->threads, ss_sorter_piece_count(pairs), identify_piece, self, error);
    if (status == SSTORE_OK)
        status = identify_repeats(self, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < call->threads; i++)
        status = ss_triple_batch_flush(&self->workers[i].batch, error);
    close_workers(self);
    ss_sort_stage_close(&self->pairs); /* the report uses its memory */
    self->items = &self->triples;
    return status == SSTORE_OK ? ss_sorter_finish(self->triples.sorter, &call->progress, error) : status;
}

/* ----- returning the pairs ----- */

static ss_triple triple_at(const pair_iterator *self, const pair_worker *piece, size_t i)
{
    const ss_record *pairs = piece->room.items;
    return self->items->item_words == 3 ? ((const ss_triple *)piece->room.items)[i]
                                        : (ss_triple){pairs[i].fingerprint, pairs[i].id, 0};
}

/* Retain the records of a first fingerprint. */
static sstore_status retain_records(pair_worker *piece, uint64_t fingerprint, size_t max, sstore_error *error)
{
    sstore_status status = ss_record_reader_skip(&piece->reader, fingerprint, error);
    while (status == SSTORE_OK && !piece->too_many && ss_record_reader_at(&piece->reader, &fingerprint)) {
        ss_record *records = ss_grow(piece->records, piece->record_count, &piece->record_capacity, 1024,
                                     sizeof *records);
        if (records == NULL)
            return ss_fail_memory(error, 2 * piece->record_capacity * sizeof *records);
        piece->records = records;
        records[piece->record_count++] = piece->reader.current;
        piece->too_many = piece->record_count > max;
        status = ss_record_reader_next(&piece->reader, error);
    }
    return status;
}

static sstore_status load_items(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    pair_iterator *self = context;
    pair_worker *piece = &self->workers[task];
    (void)worker;
    piece->record_count = 0;
    piece->too_many = false;
    sstore_status status = ss_piece_room_load(&piece->room, self->items->sorter, self->pieces.first + (size_t)task,
                                              error);
    if (status != SSTORE_OK || piece->room.count == 0)
        return status;
    uint64_t last = triple_at(self, piece, 0).first;
    status = ss_record_reader_seek(&piece->reader, &last, error);
    for (size_t i = 0; status == SSTORE_OK && !piece->too_many && i < piece->room.count; i++) {
        const uint64_t first = triple_at(self, piece, i).first;
        if (i == 0 || first != last)
            status = retain_records(piece, first, self->call.piece_capacity, error);
        last = first;
    }
    return status;
}

/* Get the next id of the first fingerprint of the current item; *more_out is false if there are no more. */
static sstore_status next_id(pair_iterator *self, pair_worker *piece, uint64_t first, uint64_t *id_out, bool *more_out,
                             sstore_error *error)
{
    if (piece->too_many) {
        sstore_status status = self->record_index == 0 ? ss_record_reader_seek(&piece->reader, &first, error)
                                                       : ss_record_reader_next(&piece->reader, error);
        self->record_index = 1;
        *more_out = status == SSTORE_OK && ss_record_reader_at(&piece->reader, &first);
        *id_out = piece->reader.current.id;
        return status;
    }
    while (self->begin < piece->record_count && piece->records[self->begin].fingerprint < first)
        self->begin++;
    self->record_index = ss_max_u64(self->record_index, self->begin);
    *more_out = self->record_index < piece->record_count && piece->records[self->record_index].fingerprint == first;
    if (*more_out)
        *id_out = piece->records[self->record_index++].id;
    return SSTORE_OK;
}

/* Put the next pair of fingerprints of one word into the columns; *more_out is false after the last one. */
static sstore_status take_pair(pair_iterator *self, const sstore_columns *columns, size_t at, bool *more_out,
                               sstore_error *error)
{
    const bool is_self = self->call.left == self->call.right;
    sstore_status status = SSTORE_OK;
    *more_out = false;
    while (status == SSTORE_OK && self->pieces.count > 0) {
        pair_worker *piece = &self->workers[self->pieces.index];
        uint64_t id;
        bool more;
        if (self->item_index == piece->room.count) {
            status = ss_loaded_pieces_next(&self->pieces, self->item_index, error);
            self->item_index = self->begin = self->record_index = 0;
            continue;
        }
        const ss_triple triple = triple_at(self, piece, self->item_index);
        status = next_id(self, piece, triple.first, &id, &more, error);
        if (status != SSTORE_OK)
            return status;
        if (!more) {
            self->item_index++;
            self->record_index = 0;
            continue;
        }
        if (is_self && triple.first == triple.second && id >= triple.third)
            continue; /* it also comes in the other order, or is the record itself */
        ss_set_word(columns->fingerprint, at, triple.first);
        ss_set_word(columns->id, at, id);
        ss_set_word(columns->other_fingerprint, at, triple.second);
        ss_set_word(columns->other_id, at, triple.third);
        ss_set_distance(columns->distance, at, ss_popcount(triple.first ^ triple.second));
        *more_out = true;
        return SSTORE_OK;
    }
    return status;
}

/* ----- public ----- */

/* Find the pairs, and load the first of them. */
static sstore_status find_pairs(pair_iterator *self, const sstore *left, const sstore *right,
                                const sstore_join_options *options, sstore_error *error)
{
    ss_join_call *call = &self->call;
    self->items = &self->pairs;
    sstore_status status = ss_join_call_begin(call, left, right, options, error);
    if (status == SSTORE_OK && left->manifest.words > 1)
        return left == right ? ss_row_pairs_create(call, &self->rows, error)
                             : ss_row_queries_create(call, &self->queries, error);
    if (status == SSTORE_OK)
        status = ss_sort_stage_open(&self->pairs, 2, call, error);
    if (status == SSTORE_OK)
        status = ss_join_call_find(call, left == right ? SS_JOIN_SELF : SS_JOIN_CROSS, FOUND_FRACTION, add_pairs, self,
                                   error);
    if (status == SSTORE_OK)
        status = ss_sorter_finish(self->pairs.sorter, &call->progress, error);
    if (status == SSTORE_OK && right->manifest.has_ids)
        status = identify(self, error);
    if (status == SSTORE_OK)
        status = open_workers(self, self->items, left, error);
    if (status != SSTORE_OK)
        return status;
    ss_progress_begin(&call->progress, "reporting", 0, ss_sorter_count(self->items->sorter), 1);
    self->pieces = (ss_loaded_pieces){call, self->items->sorter, load_items, self, 0, 0, 0};
    return ss_loaded_pieces_next(&self->pieces, 0, error);
}

static sstore_status next_pair(pair_iterator *self, const sstore_columns *columns, size_t at, bool *more_out,
                               sstore_error *error)
{
    if (self->rows != NULL)
        return ss_row_pairs_next(self->rows, columns, at, more_out, error);
    return self->queries != NULL ? ss_row_queries_next(self->queries, columns, at, more_out, error)
                                 : take_pair(self, columns, at, more_out, error);
}

static sstore_status fill_pairs(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity,
                                size_t *count, sstore_error *error)
{
    pair_iterator *self = (pair_iterator *)iterator;
    bool more = true;
    for (; *count < capacity; ++*count) {
        const sstore_status status = next_pair(self, columns, *count, &more, error);
        if (status != SSTORE_OK || !more)
            return status;
    }
    return SSTORE_OK;
}

static void free_pairs(sstore_iterator *iterator)
{
    pair_iterator *self = (pair_iterator *)iterator;
    ss_row_pairs_free(self->rows);
    ss_row_queries_free(self->queries);
    close_workers(self);
    ss_sort_stage_close(&self->pairs);
    ss_sort_stage_close(&self->triples);
    ss_join_call_end(&self->call);
    ss_free(self);
}

sstore_status sstore_iterate_pairs(const sstore *left, const sstore *right, const sstore_join_options *options,
                                   sstore_iterator **iterator_out, sstore_error *error)
{
    static const ss_iterator_methods methods = {SS_PAIR_COLUMNS, fill_pairs, free_pairs};
    if (iterator_out != NULL)
        *iterator_out = NULL;
    if (left == NULL || left == right || iterator_out == NULL)
        return ss_fail_argument(
            error, "sstore_iterate_pairs: left and iterator_out must not be NULL, and left and right must differ");
    pair_iterator *self = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    self->base.methods = &methods;
    return ss_iterator_give(&self->base, find_pairs(self, left, right != NULL ? right : left, options, error),
                            iterator_out);
}
