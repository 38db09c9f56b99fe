#include "join/pair_report.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "join/record_walk.h"

/* A piece on its way: loaded and looked up by any thread, reported by the caller's. */
typedef struct slot {
    ss_piece_room room;
    ss_record_walk walk;
    size_t record_count, record_capacity;
    sstore_record *records; /* of the piece's first fingerprints, ascending */
    bool too_many;          /* there are more of them than there is room for: each is looked up when it is reported */
} slot;

typedef struct report {
    ss_join_call *call;
    const ss_sort_stage *pairs;
    slot *slots;     /* one a thread */
    size_t first;    /* the piece of slots[0] */
    sstore_pair_fn on_pair;
    void *context;
} report;

static ss_triple triple_at(const report *self, const slot *of, size_t i)
{
    const sstore_record *records = of->room.items;
    if (self->pairs->item_words == 3)
        return ((const ss_triple *)of->room.items)[i];
    return (ss_triple){records[i].fingerprint, records[i].id, 0};
}

/* ----- looking up, side by side ----- */

/* Keep the records of one fingerprint. */
static sstore_status keep_records(slot *of, uint64_t fingerprint, size_t most, sstore_error *error)
{
    sstore_status status = ss_record_walk_to(&of->walk, fingerprint, error);
    while (status == SSTORE_OK && !of->too_many && ss_record_walk_at(&of->walk, fingerprint)) {
        sstore_record *records =
            ss_grow(of->records, of->record_count, &of->record_capacity, 1024, sizeof *records);
        if (records == NULL)
            return ss_fail_memory(error, 2 * of->record_capacity * sizeof *records);
        of->records = records;
        records[of->record_count++] = of->walk.next;
        of->too_many = of->record_count > most;
        status = ss_record_walk_step(&of->walk, error);
    }
    return status;
}

static sstore_status prepare_piece(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    report *self = context;
    slot *of = &self->slots[task];
    const size_t most = self->pairs->piece_capacity;
    (void)worker;
    of->record_count = 0;
    of->too_many = false;
    sstore_status status = ss_piece_room_load(&of->room, self->pairs, self->first + (size_t)task, error);
    if (status != SSTORE_OK || of->room.count == 0)
        return status;
    uint64_t last = triple_at(self, of, 0).first;
    status = ss_record_walk_begin(&of->walk, last, error);
    for (size_t i = 0; status == SSTORE_OK && !of->too_many && i < of->room.count; i++) {
        const uint64_t first = triple_at(self, of, i).first;
        if (i == 0 || first != last)
            status = keep_records(of, first, most, error);
        last = first;
    }
    return status;
}

/* ----- reporting, in order ----- */

static sstore_status report_pair(const report *self, const ss_triple *triple, uint64_t first_id)
{
    const sstore_pair pair = {.fingerprint = triple->first,
                              .id = first_id,
                              .other_fingerprint = triple->second,
                              .other_id = triple->third,
                              .distance = sstore_hamming_distance(triple->first, triple->second)};
    if (ss_join_call_is_self(self->call) && pair.distance == 0 && first_id >= triple->third)
        return SSTORE_OK; /* it comes the other way round, or is the record itself */
    return self->on_pair(self->context, &pair) == 0 ? SSTORE_OK : SSTORE_STOPPED;
}

static sstore_status report_by_looking_up(const report *self, slot *of, const ss_triple *triple, sstore_error *error)
{
    sstore_status status = ss_record_walk_begin(&of->walk, triple->first, error);
    while (status == SSTORE_OK && ss_record_walk_at(&of->walk, triple->first)) {
        status = report_pair(self, triple, of->walk.next.id);
        if (status == SSTORE_OK)
            status = ss_record_walk_step(&of->walk, error);
    }
    return status;
}

static sstore_status report_piece(const report *self, slot *of, sstore_error *error)
{
    size_t begin = 0; /* of the records of the pair's first fingerprint */
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < of->room.count; i++) {
        const ss_triple triple = triple_at(self, of, i);
        if (of->too_many) {
            status = report_by_looking_up(self, of, &triple, error);
            continue;
        }
        while (begin < of->record_count && of->records[begin].fingerprint < triple.first)
            begin++;
        for (size_t j = begin; status == SSTORE_OK && j < of->record_count; j++) {
            if (of->records[j].fingerprint != triple.first)
                break;
            status = report_pair(self, &triple, of->records[j].id);
        }
    }
    return status;
}

/* ----- all pieces ----- */

static sstore_status open_slots(report *self, sstore_error *error)
{
    const ss_join_call *call = self->call;
    sstore_status status = SSTORE_OK;
    self->slots = ss_alloc(call->threads, sizeof *self->slots);
    if (self->slots == NULL)
        return ss_fail_memory(error, call->threads * sizeof *self->slots);
    for (uint32_t i = 0; status == SSTORE_OK && i < call->threads; i++) {
        status = ss_piece_room_open(&self->slots[i].room, self->pairs, error);
        if (status == SSTORE_OK)
            status = ss_record_walk_open(&self->slots[i].walk, call->left, error);
    }
    return status;
}

static void close_slots(report *self)
{
    for (uint32_t i = 0; self->slots != NULL && i < self->call->threads; i++) {
        ss_piece_room_close(&self->slots[i].room);
        ss_record_walk_close(&self->slots[i].walk);
        ss_free(self->slots[i].records);
    }
    ss_free(self->slots);
}

sstore_status ss_pair_report(ss_join_call *call, const ss_sort_stage *pairs, sstore_pair_fn on_pair, void *context,
                             double end_share, sstore_error *error)
{
    report self = {.call = call, .pairs = pairs, .on_pair = on_pair, .context = context};
    const size_t piece_count = ss_sorter_piece_count(pairs->sorter);
    ss_progress_begin(&call->progress, "reporting", 0, ss_sorter_count(pairs->sorter), end_share);
    sstore_status status = open_slots(&self, error);
    for (; status == SSTORE_OK && self.first < piece_count; self.first += call->threads) {
        const uint64_t count = ss_min_u64(piece_count - self.first, call->threads);
        status = ss_pool_run(call->threads, count, prepare_piece, &self, error);
        for (uint64_t i = 0; status == SSTORE_OK && i < count; i++) {
            status = report_piece(&self, &self.slots[i], error);
            if (status == SSTORE_OK)
                status = ss_progress_add(&call->progress, 0, self.slots[i].room.count);
        }
    }
    close_slots(&self);
    return status;
}
