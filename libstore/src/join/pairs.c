#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "join/join_call.h"
#include "join/table_join.h"

/* ===== ids of pairs ===== */

#define TOGETHER 1024u

/* What a thread has. */
typedef struct ids_worker {
    ss_piece_room room;
    ss_ordered_lookup lookup;
    size_t count;
    ss_triple triples[TOGETHER]; /* on their way */
} ids_worker;

typedef struct ids_run {
    ss_join_call *call;
    const ss_sort_stage *pairs;
    ss_sort_stage *triples;
    ss_store_fingerprints parts;
    ids_worker *workers;
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
        status = ss_ordered_lookup_open(&self->workers[i].lookup, call->right, error);
        if (status == SSTORE_OK && self->pairs != NULL)
            status = ss_piece_room_open(&self->workers[i].room, self->pairs, error);
    }
    return status;
}

static void close_workers(ids_run *self)
{
    for (uint32_t i = 0; self->workers != NULL && i < self->call->threads; i++) {
        ss_ordered_lookup_close(&self->workers[i].lookup);
        ss_piece_room_close(&self->workers[i].room);
    }
    ss_free(self->workers);
}

static sstore_status flush(const ids_run *self, uint32_t index, sstore_error *error)
{
    ids_worker *of = &self->workers[index];
    size_t count = of->count;
    of->count = 0;
    return ss_sorter_add_items(self->triples->sorter, index, of->triples, count, error);
}

static sstore_status add_triple(const ids_run *self, uint32_t index, ss_triple triple, sstore_error *error)
{
    ids_worker *of = &self->workers[index];
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
    ss_ordered_lookup *lookup = &self->workers[index].lookup;
    const uint64_t second = pairs[0].fingerprint;
    sstore_status status = ss_ordered_lookup_to(lookup, second, error);
    while (status == SSTORE_OK && ss_ordered_lookup_at(lookup, second)) {
        for (size_t i = 0; status == SSTORE_OK && i < count; i++)
            status = add_triple(self, index, (ss_triple){pairs[i].id, second, lookup->next.id}, error);
        if (status == SSTORE_OK)
            status = ss_ordered_lookup_step(lookup, error);
    }
    return status;
}

static sstore_status add_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const ids_run *self = context;
    ids_worker *of = &self->workers[index];
    const sstore_record *pairs = of->room.items;
    sstore_status status = ss_piece_room_load(&of->room, self->pairs, (size_t)task, error);
    const size_t count = status == SSTORE_OK ? of->room.count : 0;
    if (count > 0)
        status = ss_ordered_lookup_begin(&of->lookup, pairs[0].fingerprint, error);
    for (size_t begin = 0, end; status == SSTORE_OK && begin < count; begin = end) {
        for (end = begin + 1; end < count && pairs[end].fingerprint == pairs[begin].fingerprint;)
            end++;
        status = add_ids(self, index, pairs + begin, end - begin, error);
    }
    return status == SSTORE_OK ? ss_progress_add(&self->call->progress, index, count) : status;
}

static sstore_status pair_ids_add(ss_join_call *call, const ss_sort_stage *pairs, ss_sort_stage *triples,
                                  double end_share, sstore_error *error)
{
    ids_run self = {.call = call, .pairs = pairs, .triples = triples};
    ss_progress_begin(&call->progress, "identifying", 0, ss_sorter_count(pairs->sorter), end_share);
    return run(&self, ss_sorter_piece_count(pairs->sorter), add_piece, error);
}

/* ----- equal fingerprints ----- */

static bool may_repeat(const sstore *store)
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
    ss_ordered_lookup *lookup = &self->workers[index].lookup;
    const bool is_last = task + 1 == self->parts.part_count;
    repeats found = {.run = self, .index = index};
    uint64_t count = 0;
    sstore_status status = ss_ordered_lookup_begin(lookup, self->parts.firsts[task], error);
    while (status == SSTORE_OK && lookup->more &&
           (is_last || lookup->next.fingerprint < self->parts.firsts[task + 1])) {
        status = add_repeat(&found, &lookup->next, error);
        if (status == SSTORE_OK)
            status = ss_ordered_lookup_step(lookup, error);
        count += 1 + ss_ordered_lookup_pass_singles(lookup);
    }
    return status == SSTORE_OK ? ss_progress_add(&self->call->progress, index, count) : status;
}

static sstore_status pair_ids_add_repeated(ss_join_call *call, ss_sort_stage *triples, double end_share,
                                           sstore_error *error)
{
    ids_run self = {.call = call, .triples = triples};
    ss_manifest_totals totals;
    (void)ss_manifest_counts(&call->right->manifest, &totals);
    ss_progress_begin(&call->progress, "identifying", 0, totals.record_count, end_share);
    sstore_status status = ss_store_fingerprints_open(&self.parts, call->right, 0, error);
    if (status == SSTORE_OK)
        status = run(&self, self.parts.part_count, add_part, error);
    ss_store_fingerprints_close(&self.parts);
    return status;
}

/* ----- the iterator ----- */

/*
 * All pairs of records within a distance: of one store, or of two. First the pairs of fingerprints, sorted by the second one;
 * then that one's ids, sorted by the first one; then the first one's ids, on the way to the caller.
 */

/* A piece of the sorted pairs: loaded and looked up by any thread, given to the caller by its own. */
typedef struct slot {
    ss_piece_room room;
    ss_ordered_lookup lookup;
    size_t record_count, record_capacity;
    sstore_record *records; /* of the piece's first fingerprints, ascending */
    bool too_many;          /* there is no room for all of them: each is looked up when it is given */
} slot;

struct sstore_pair_iterator {
    ss_join_call call;
    ss_sort_stage pairs;   /* of fingerprints: (first, second), or (second, first) if the right store has ids */
    ss_sort_stage triples; /* if the right store has ids: (first, second, id of the second) */
    slot *slots;           /* one a thread */
    size_t first_piece, slot_count; /* that are loaded, from the piece of slots[0] on */
    size_t slot_index, item_index;  /* the item that is given */
    size_t begin,
        record_index;     /* the first record with its first fingerprint, and the next one; of a slot with too many
                                       records, record_index is 1 if the walk stands before the next one */
    sstore_status status; /* of an earlier call */
};

static const ss_sort_stage *items_of(const sstore_pair_iterator *self)
{
    return self->triples.sorter != NULL ? &self->triples : &self->pairs;
}

static ss_triple triple_at(const sstore_pair_iterator *self, const slot *of, size_t i)
{
    const sstore_record *records = of->room.items;
    if (items_of(self)->item_words == 3)
        return ((const ss_triple *)of->room.items)[i];
    return (ss_triple){records[i].fingerprint, records[i].id, 0};
}

/* Keep the records of one fingerprint. */
static sstore_status keep_records(slot *of, uint64_t fingerprint, size_t max, sstore_error *error)
{
    sstore_status status = ss_ordered_lookup_to(&of->lookup, fingerprint, error);
    while (status == SSTORE_OK && !of->too_many && ss_ordered_lookup_at(&of->lookup, fingerprint)) {
        sstore_record *records = ss_grow(of->records, of->record_count, &of->record_capacity, 1024, sizeof *records);
        if (records == NULL)
            return ss_fail_memory(error, 2 * of->record_capacity * sizeof *records);
        of->records = records;
        records[of->record_count++] = of->lookup.next;
        of->too_many = of->record_count > max;
        status = ss_ordered_lookup_step(&of->lookup, error);
    }
    return status;
}

static sstore_status prepare_piece(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    sstore_pair_iterator *self = context;
    slot *of = &self->slots[task];
    const ss_sort_stage *items = items_of(self);
    (void)worker;
    of->record_count = 0;
    of->too_many = false;
    sstore_status status = ss_piece_room_load(&of->room, items, self->first_piece + (size_t)task, error);
    if (status != SSTORE_OK || of->room.count == 0)
        return status;
    uint64_t last = triple_at(self, of, 0).first;
    status = ss_ordered_lookup_begin(&of->lookup, last, error);
    for (size_t i = 0; status == SSTORE_OK && !of->too_many && i < of->room.count; i++) {
        const uint64_t first = triple_at(self, of, i).first;
        if (i == 0 || first != last)
            status = keep_records(of, first, items->piece_capacity, error);
        last = first;
    }
    return status;
}

/* Prepare the next pieces, side by side; slot_count is 0 if there are no more. */
static sstore_status prepare_pieces(sstore_pair_iterator *self, sstore_error *error)
{
    const uint32_t threads = self->call.threads;
    self->first_piece += self->slot_count;
    self->slot_count = (size_t)ss_min_u64(ss_sorter_piece_count(items_of(self)->sorter) - self->first_piece, threads);
    self->slot_index = self->item_index = self->begin = self->record_index = 0;
    return ss_pool_run(threads, self->slot_count, prepare_piece, self, error);
}

/* Get the next id that a slot's present item has for its first fingerprint; *more_out is false if there are no more. */
static sstore_status next_id(sstore_pair_iterator *self, slot *of, uint64_t first, uint64_t *id_out, bool *more_out,
                             sstore_error *error)
{
    if (of->too_many) {
        sstore_status status = self->record_index == 0 ? ss_ordered_lookup_begin(&of->lookup, first, error)
                                                       : ss_ordered_lookup_step(&of->lookup, error);
        self->record_index = 1;
        *more_out = status == SSTORE_OK && ss_ordered_lookup_at(&of->lookup, first);
        *id_out = of->lookup.next.id;
        return status;
    }
    while (self->begin < of->record_count && of->records[self->begin].fingerprint < first)
        self->begin++;
    self->record_index = ss_max_u64(self->record_index, self->begin);
    *more_out = self->record_index < of->record_count && of->records[self->record_index].fingerprint == first;
    if (*more_out)
        *id_out = of->records[self->record_index++].id;
    return SSTORE_OK;
}

/* The piece is done: go on to the next one. */
static sstore_status end_piece(sstore_pair_iterator *self, sstore_error *error)
{
    if (self->slot_index < self->slot_count) {
        const size_t count = self->slots[self->slot_index++].room.count;
        self->item_index = self->begin = self->record_index = 0;
        const sstore_status status = ss_progress_add(&self->call.progress, 0, count);
        if (status != SSTORE_OK)
            return status;
    }
    return self->slot_index == self->slot_count ? prepare_pieces(self, error) : SSTORE_OK;
}

/* Get the next pair; *more_out is false after the last one. */
static sstore_status next_pair(sstore_pair_iterator *self, sstore_pair *pair, bool *more_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *more_out = false;
    while (status == SSTORE_OK && self->slot_count > 0) {
        slot *of = &self->slots[self->slot_index];
        uint64_t id;
        bool more;
        if (self->slot_index == self->slot_count || self->item_index == of->room.count) {
            status = end_piece(self, error);
            continue;
        }
        const ss_triple triple = triple_at(self, of, self->item_index);
        status = next_id(self, of, triple.first, &id, &more, error);
        if (status != SSTORE_OK)
            return status;
        if (!more) {
            self->item_index++;
            self->record_index = 0;
            continue;
        }
        if (ss_join_call_is_self(&self->call) && triple.first == triple.second && id >= triple.third)
            continue; /* it comes the other way round, or is the record itself */
        *pair = (sstore_pair){.fingerprint = triple.first,
                              .id = id,
                              .other_fingerprint = triple.second,
                              .other_id = triple.third,
                              .distance = sstore_hamming_distance(triple.first, triple.second)};
        *more_out = true;
        return SSTORE_OK;
    }
    return status;
}

/* ----- finding the pairs ----- */

/* Where a call's work is done, by measurement of joins with ids (bench/README.md). */
#define FOUND_SHARE 0.6
#define IDENTIFIED_SHARE 0.75

/* Where pairs of fingerprints go. */
typedef struct pair_sink {
    ss_sorter *sorter;
    bool second_first;
} pair_sink;

static sstore_status keep_pairs(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                                sstore_error *error)
{
    const pair_sink *sink = context;
    uint64_t firsts[SS_GROUP_PAIRS], seconds[SS_GROUP_PAIRS];
    for (size_t i = 0; i < count; i++) {
        firsts[i] = pairs[i].first;
        seconds[i] = pairs[i].second;
    }
    return ss_sorter_add(sink->sorter, worker, sink->second_first ? seconds : firsts,
                         sink->second_first ? firsts : seconds, count, error);
}

/* Find the pairs of fingerprints. */
static sstore_status find_pairs(ss_join_call *call, pair_sink *sink, sstore_error *error)
{
    ss_store_fingerprints left = {.blocks = NULL}, right = {.blocks = NULL};
    ss_join_options options = {.distance = call->distance,
                               .threads = call->threads,
                               .tmp_dir = &call->tmp_dir,
                               .progress = &call->progress,
                               .end_share = FOUND_SHARE,
                               .on_pairs = keep_pairs,
                               .context = sink};
    const bool self = ss_join_call_is_self(call);
    const uint64_t max_kept = call->join_bytes / (self ? 3 : 6);
    sstore_status status = ss_store_fingerprints_open(&left, call->left, max_kept, error);
    if (status == SSTORE_OK && !self)
        status = ss_store_fingerprints_open(&right, call->right, max_kept, error);
    options.memory_bytes = call->join_bytes - ss_store_fingerprints_kept_bytes(&left) -
                           (self ? 0 : ss_store_fingerprints_kept_bytes(&right));
    if (status == SSTORE_OK) {
        const ss_fingerprint_parts from_left = ss_store_fingerprints_parts(&left);
        const ss_fingerprint_parts from_right = self ? from_left : ss_store_fingerprints_parts(&right);
        status = self ? ss_join_self(&from_left, &options, error)
                      : ss_join_cross(&from_left, &from_right, &options, error);
    }
    ss_store_fingerprints_close(&left);
    ss_store_fingerprints_close(&right);
    return status;
}

/* Give the pairs their second ids. */
static sstore_status identify(ss_join_call *call, ss_sort_stage *pairs, ss_sort_stage *triples, sstore_error *error)
{
    sstore_status status = ss_sort_stage_open(triples, 3, call->threads, call->stage_bytes, call->piece_capacity,
                                              &call->tmp_dir, error);
    if (status == SSTORE_OK)
        status = pair_ids_add(call, pairs, triples, IDENTIFIED_SHARE, error);
    if (status == SSTORE_OK && ss_join_call_is_self(call) && may_repeat(call->right))
        status = pair_ids_add_repeated(call, triples, IDENTIFIED_SHARE, error);
    ss_sort_stage_close(pairs); /* its memory goes to the report */
    return status == SSTORE_OK ? ss_sort_stage_finish(triples, &call->progress, error) : status;
}

static sstore_status open_slots(sstore_pair_iterator *self, sstore_error *error)
{
    const ss_join_call *call = &self->call;
    sstore_status status = SSTORE_OK;
    self->slots = ss_alloc(call->threads, sizeof *self->slots);
    if (self->slots == NULL)
        return ss_fail_memory(error, call->threads * sizeof *self->slots);
    for (uint32_t i = 0; status == SSTORE_OK && i < call->threads; i++) {
        status = ss_piece_room_open(&self->slots[i].room, items_of(self), error);
        if (status == SSTORE_OK)
            status = ss_ordered_lookup_open(&self->slots[i].lookup, call->left, error);
    }
    return status;
}

static void close_iterator(sstore_pair_iterator *self)
{
    for (uint32_t i = 0; self->slots != NULL && i < self->call.threads; i++) {
        ss_piece_room_close(&self->slots[i].room);
        ss_ordered_lookup_close(&self->slots[i].lookup);
        ss_free(self->slots[i].records);
    }
    ss_free(self->slots);
    ss_sort_stage_close(&self->pairs);
    ss_sort_stage_close(&self->triples);
    ss_join_call_end(&self->call);
}

/* Find the pairs, and prepare the first of them. The iterator, which is zeroed, must stay where it is. */
static sstore_status open_iterator(sstore_pair_iterator *self, const sstore *left, const sstore *right,
                                   const sstore_join_options *options, sstore_error *error)
{
    ss_join_call *call = &self->call;
    sstore_status status = ss_join_call_begin(call, left, right, options, error);
    if (status == SSTORE_OK)
        status = ss_sort_stage_open(&self->pairs, 2, call->threads, call->stage_bytes, call->piece_capacity,
                                    &call->tmp_dir, error);
    pair_sink sink = {.sorter = self->pairs.sorter, .second_first = right->manifest.has_ids};
    if (status == SSTORE_OK)
        status = find_pairs(call, &sink, error);
    if (status == SSTORE_OK)
        status = ss_sort_stage_finish(&self->pairs, &call->progress, error);
    if (status == SSTORE_OK && right->manifest.has_ids)
        status = identify(call, &self->pairs, &self->triples, error);
    if (status == SSTORE_OK)
        status = open_slots(self, error);
    if (status != SSTORE_OK)
        return status;
    ss_progress_begin(&call->progress, "reporting", 0, ss_sorter_count(items_of(self)->sorter), 1);
    return prepare_pieces(self, error);
}

/* ----- public ----- */

static sstore_status report_pairs(const sstore *left, const sstore *right, const sstore_join_options *options,
                                  sstore_pair_fn on_pair, void *context, sstore_error *error)
{
    sstore_pair_iterator self = {.slots = NULL};
    sstore_pair pair;
    bool more = true;
    sstore_status status = open_iterator(&self, left, right, options, error);
    while (status == SSTORE_OK) {
        status = next_pair(&self, &pair, &more, error);
        if (status != SSTORE_OK || !more)
            break;
        if (on_pair(context, &pair) != 0)
            status = SSTORE_STOPPED;
    }
    close_iterator(&self);
    return status;
}

sstore_status sstore_pairs(const sstore *store, const sstore_join_options *options, sstore_pair_fn on_pair,
                           void *context, sstore_error *error)
{
    if (store == NULL || on_pair == NULL)
        return ss_fail_argument(error, "sstore_pairs: store and on_pair must not be NULL");
    return report_pairs(store, store, options, on_pair, context, error);
}

sstore_status sstore_join(const sstore *left, const sstore *right, const sstore_join_options *options,
                          sstore_pair_fn on_pair, void *context, sstore_error *error)
{
    if (left == NULL || right == NULL || left == right || on_pair == NULL)
        return ss_fail_argument(error, "sstore_join: two different handles and on_pair must be given");
    return report_pairs(left, right, options, on_pair, context, error);
}

sstore_status sstore_pair_iterator_create(const sstore *left, const sstore *right, const sstore_join_options *options,
                                          sstore_pair_iterator **iterator_out, sstore_error *error)
{
    if (iterator_out != NULL)
        *iterator_out = NULL;
    if (left == NULL || left == right || iterator_out == NULL)
        return ss_fail_argument(
            error, "sstore_pair_iterator_create: left and iterator_out must not be NULL, nor right be left");
    sstore_pair_iterator *iterator = ss_alloc(1, sizeof *iterator);
    if (iterator == NULL)
        return ss_fail_memory(error, sizeof *iterator);
    const sstore_status status = open_iterator(iterator, left, right != NULL ? right : left, options, error);
    if (status == SSTORE_OK)
        *iterator_out = iterator;
    else
        sstore_pair_iterator_free(iterator);
    return status;
}

static void set_pair(const sstore_pair_columns *columns, size_t at, const sstore_pair *pair)
{
    if (columns->fingerprint != NULL)
        columns->fingerprint[at] = pair->fingerprint;
    if (columns->id != NULL)
        columns->id[at] = pair->id;
    if (columns->other_fingerprint != NULL)
        columns->other_fingerprint[at] = pair->other_fingerprint;
    if (columns->other_id != NULL)
        columns->other_id[at] = pair->other_id;
    if (columns->distance != NULL)
        columns->distance[at] = pair->distance;
}

sstore_status sstore_pair_iterator_next(sstore_pair_iterator *iterator, const sstore_pair_columns *columns,
                                        size_t capacity, size_t *count_out, sstore_error *error)
{
    sstore_pair_columns to = SSTORE_PAIR_COLUMNS_INIT;
    sstore_pair pair;
    bool more = true;
    if (iterator == NULL || capacity == 0 || count_out == NULL || iterator->status != SSTORE_OK)
        return ss_fail_argument(
            error, "sstore_pair_iterator_next: iterator and count_out must not be NULL, nor the capacity 0; "
                   "and no call may follow one that failed");
    *count_out = 0;
    sstore_status status = ss_take_options(&to, sizeof to, columns, SS_PAIR_COLUMNS_SIZE_1, error);
    while (status == SSTORE_OK && *count_out < capacity) {
        status = iterator->status = next_pair(iterator, &pair, &more, error);
        if (status != SSTORE_OK || !more)
            break;
        set_pair(&to, (*count_out)++, &pair);
    }
    return status;
}

void sstore_pair_iterator_free(sstore_pair_iterator *iterator)
{
    if (iterator == NULL)
        return;
    close_iterator(iterator);
    ss_free(iterator);
}
