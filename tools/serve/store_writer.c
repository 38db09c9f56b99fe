/*
 * store_writer.c - the thread that writes to a store. It takes all jobs that wait, and publishes each run of jobs of
 * one kind as one change. While it writes, further jobs wait. Between runs the store is not locked, so that other
 * processes can also write to it.
 */
#include "serve/store_writer.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/messages.h"
#include "output/output.h"
#include "serve/request_matches.h"

#define BUSY_WAIT_NS 20000000 /* while another process writes to the store */
#define ANSWER_BYTES 256u     /* the maximum for an addition */
#define LATE "the time of the request is over"
#define OFFER_BYTES 512u       /* of memory, for each word of a record that is offered */
#define REPLACED_RECORDS 1024u /* that are published together, since each is compared with all before it */

struct store_writer {
    served_store *served;
    store_writer_options options;
    queue queue;
    atomic_bool refuses_offers;
    pthread_t thread;
};

/* Jobs of one kind: a list that NULL ends. */
typedef struct job_run {
    job *first;
    size_t count;
    bool is_refused; /* perhaps because of one job: nothing was written, and none has an answer */
    const store_writer *by;
    const job *offered; /* the offer that is being looked up */
} job_run;

/* ----- runs ----- */

/* Whether one call can write both. */
static bool are_alike(const request *a, const request *b)
{
    if (a->route != b->route || a->method != b->method || a->route == ROUTE_REPLACE ||
        (a->ids != NULL) != (b->ids != NULL) || (a->fingerprints != NULL) != (b->fingerprints != NULL) ||
        (a->names != NULL) != (b->names != NULL))
        return false;
    return a->route != ROUTE_OFFER ||
           (a->has_distance == b->has_distance && (!a->has_distance || a->distance == b->distance));
}

/* Whether one of the jobs first .. last replaces the records that `next` replaces too: then they must not come
 * together. */
static bool is_repeated(const job *first, const job *last, const job *next)
{
    bool found = false;
    for (const job *at = first; first->request.method == METHOD_PUT && !found; at = at->next) {
        found = strcmp(at->request.key, next->request.key) == 0 ||
                (at->request.ids != NULL && at->request.ids[0] == next->request.ids[0]);
        if (at == last)
            break;
    }
    return found;
}

/* How many records a run may have, unless its first job has more. */
static uint64_t max_records(const store_writer *self, const request *first)
{
    if (first->method == METHOD_PUT)
        return REPLACED_RECORDS;
    return first->route == ROUTE_OFFER ? self->options.memory_bytes / (OFFER_BYTES * first->words) : UINT64_MAX;
}

/* Take the first jobs from a list, as many as are alike. Offered records wait in memory, so together they are not more
 * than fit, unless a single job has more. */
static job_run take_run(const store_writer *self, job **list)
{
    job_run run = {.first = *list, .count = 1, .by = self};
    job *last = run.first;
    const uint64_t max = max_records(self, &last->request);
    uint64_t records = last->request.count;
    while (last->next != NULL && are_alike(&run.first->request, &last->next->request) &&
           records + last->next->request.count <= max && !is_repeated(run.first, last, last->next)) {
        last = last->next;
        records += last->request.count;
        run.count++;
    }
    *list = last->next;
    last->next = NULL;
    return run;
}

static void end_job(job *ended)
{
    if (ended->reply.status == 0)
        ended->reply.status = REPLY_OK;
    ended->done(ended);
}

static void end_run(const job_run *run)
{
    for (job *queued = run->first, *next; queued != NULL; queued = next) {
        next = queued->next;
        end_job(queued);
    }
}

static void fail_run(job_run *run, const sstore_error *error)
{
    run->is_refused = run->count > 1 && error->status == SSTORE_ERROR_ARGUMENT;
    if (run->is_refused)
        return;
    for (job *queued = run->first; queued != NULL; queued = queued->next)
        reply_fail_with(&queued->reply, error);
}

/* Fail a run whose publication failed, perhaps in a step that follows it. `before` is the state without it. */
static void fail_publication(job_run *run, const sstore *before, const sstore_error *error)
{
    if (sstore_is_newest(before)) {
        fail_run(run, error);
        return;
    }
    for (job *queued = run->first; queued != NULL; queued = queued->next)
        reply_fail(&queued->reply, REPLY_FAILED, "%s; the records may have been written", error->message);
}

/* Why a job shall not be written any more: `late` if its time is over. NULL: it shall. */
static const char *reason_to_drop(const store_writer *self, const job *queued, const char *late)
{
    if (queued->request.route == ROUTE_OFFER && atomic_load_explicit(&self->refuses_offers, memory_order_relaxed))
        return "the service ends";
    return time_coarse_ns() > queued->request.deadline_ns ? late : NULL;
}

static void drop(job *queued, const char *reason)
{
    reply_fail(&queued->reply, REPLY_BUSY, "%s; nothing of this request was written", reason);
}

/* Answer the jobs whose time is over, without writing them. */
static void drop_late(job_run *run)
{
    job **link = &run->first;
    while (*link != NULL) {
        job *queued = *link;
        const char *reason = reason_to_drop(run->by, queued, "the store was being written to for too long");
        if (reason == NULL) {
            link = &queued->next;
            continue;
        }
        *link = queued->next;
        run->count--;
        drop(queued, reason);
        end_job(queued);
    }
}

/* ----- beginning ----- */

/* What writes a run: one of these. */
typedef struct change_handles {
    sstore_builder *builder;
    sstore_remover *remover;
    sstore_dedup *dedup;
} change_handles;

static bool is_over(const job_run *run)
{
    return run->offered != NULL && reason_to_drop(run->by, run->offered, LATE) != NULL;
}

static int check_time(void *context, const sstore_progress *progress)
{
    (void)progress;
    return is_over(context);
}

/* The number of matches to find for a record: 1, or as many as an answer may list. */
static uint64_t wanted_matches(const store_writer *self, const job_run *run)
{
    uint64_t wanted = 1;
    for (const job *queued = run->first; queued != NULL; queued = queued->next)
        wanted = queued->request.limit > wanted ? queued->request.limit : wanted;
    return wanted < self->options.max_matches ? wanted : self->options.max_matches;
}

static sstore_status open_handle(const store_writer *self, const job_run *run, change_handles *to, sstore_error *error)
{
    const char *path = served_store_path(self->served);
    const request *first = &run->first->request;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.memory_bytes = self->options.memory_bytes;
    options.threads = self->options.threads;
    options.replace_records = first->route == ROUTE_REPLACE || first->method == METHOD_PUT;
    if (first->route == ROUTE_RECORDS || options.replace_records)
        return sstore_builder_create_addition(path, &options, &to->builder, error);
    if (first->route == ROUTE_REMOVE || first->route == ROUTE_RECORD)
        return sstore_remover_create(path, &options, &to->remover, error);
    options.publish_every = UINT64_MAX; /* all or nothing */
    options.on_progress = check_time;
    options.progress_context = (void *)(uintptr_t)run;
    options.limit = wanted_matches(self, run);
    if (first->has_distance)
        options.distance = first->distance;
    return sstore_dedup_open(path, &options, &to->dedup, error);
}

/* Get the handle of a change. While another process writes, wait, until the time of all jobs is over: then the run is
 * empty. */
static sstore_status wait_to_write(const store_writer *self, job_run *run, change_handles *to, sstore_error *error)
{
    static const struct timespec wait = {.tv_nsec = BUSY_WAIT_NS};
    sstore_status status = SSTORE_ERROR_BUSY;
    drop_late(run);
    while (run->first != NULL && (status = open_handle(self, run, to, error)) == SSTORE_ERROR_BUSY) {
        nanosleep(&wait, NULL);
        drop_late(run);
    }
    return status;
}

/* Another store may have come to the path since the requests were read. */
static sstore_status check_bits(const job_run *run, const change_handles *to, sstore_error *error)
{
    sstore_dedup_statistics state = SSTORE_DEDUP_STATISTICS_INIT;
    const sstore_status status = to->dedup != NULL ? sstore_dedup_stat(to->dedup, &state, error) : SSTORE_OK;
    const uint32_t expected = 64 * run->first->request.words;
    const uint32_t bits = to->builder != NULL   ? sstore_builder_fingerprint_bits(to->builder)
                          : to->remover != NULL ? sstore_remover_fingerprint_bits(to->remover)
                                                : state.fingerprint_bits;
    if (status != SSTORE_OK || bits == expected)
        return status;
    *error = (sstore_error){.status = SSTORE_ERROR_UNSUPPORTED, .offset = SSTORE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message,
                   "the store now has fingerprints of %" PRIu32 " bits, not of %" PRIu32, bits, expected);
    return error->status;
}

/* Begin to write: lock the store, and use the state that is changed. False: all jobs have their answers. */
static bool begin_change(const store_writer *self, job_run *run, change_handles *to, store_use *base_out)
{
    sstore_error error;
    sstore_status status = wait_to_write(self, run, to, &error);
    if (status == SSTORE_OK)
        status = check_bits(run, to, &error);
    if (status == SSTORE_OK)
        status = served_store_refresh(self->served, &error);
    if (status == SSTORE_OK)
        status = served_store_acquire(self->served, run->first->request.route == ROUTE_RECORD, base_out, &error);
    if (status != SSTORE_OK && run->first != NULL)
        fail_run(run, &error);
    return status == SSTORE_OK;
}

/* ----- offering ----- */

/* The answers of one job. */
typedef struct offer_answers {
    job *queued;
    const job_run *run;
    match_list list;     /* of the current record */
    stored_names source; /* of the names of its matches, unless it has no path */
    uint64_t listed, max_listed;
    bool has_ids;
} offer_answers;

static int answer_offer(void *context, const sstore_dedup_answer *answer)
{
    offer_answers *self = context;
    reply *to = &self->queued->reply;
    char fingerprint[RADIX_MAX_CHARACTERS + 1], id[40] = "null";
    if (self->has_ids && (answer->is_new || self->queued->request.ids != NULL))
        snprintf(id, sizeof id, "\"%" PRIu64 "\"", answer->id);
    reply_print(to, answer->index > 0 ? ",{" : "{");
    skipped_rows_print_place(&self->queued->request.skipped, answer->index, to);
    reply_print(to, "\"fingerprint\":\"%s\",\"is_new\":%s,\"id\":%s,\"match_count\":%" PRIu64 ",\"matches\":",
                radix_string(RADIX_HEX, fingerprint, answer->fingerprint, self->list.words),
                answer->is_new ? "true" : "false", id, answer->match_count);
    self->list.count = 0;
    for (size_t i = 0; i < answer->listed_count && i < self->queued->request.limit && self->listed < self->max_listed;
         i++) {
        if (match_list_take(&self->list, &answer->listed[i]) != 0)
            return 1;
        self->listed++;
    }
    if (self->source.path != NULL && !match_list_find_names(&self->list, 0, 1, &self->source))
        return 1;
    matches_print_list(&self->list, 0, self->list.count, NULL, to);
    reply_literal(to, "}");
    return to->status != 0 || is_over(self->run);
}

/* Why a call was stopped whose time is not over. */
static sstore_status stop_reason(const offer_answers *answers, sstore_error *error)
{
    const stored_names *names = answers->list.names;
    if (names == NULL || names->code == EXIT_DONE)
        return error_no_memory(error);
    *error = (sstore_error){.status = SSTORE_ERROR_IO, .offset = SSTORE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message, "names cannot be read; the service said why");
    return error->status;
}

/* STOPPED: the time of the job is over. */
static sstore_status offer(const store_writer *self, const job_run *run, sstore_dedup *dedup,
                           const sstore_statistics *base, job *queued, sstore_error *error)
{
    const bool has_ids = base->has_ids;
    offer_answers answers = {.queued = queued,
                             .run = run,
                             .has_ids = has_ids,
                             .max_listed = self->options.max_matches,
                             .list = {.words = queued->request.words, .max = UINT64_MAX, .has_ids = has_ids}};
    const request *req = &queued->request;
    reply_literal(&queued->reply, "{\"results\":[");
    if (base->has_names)
        answers.source = (stored_names){.path = served_store_path(self->served), .dedup = dedup};
    sstore_status status = req->names != NULL
                               ? sstore_dedup_insert_named(dedup, req->fingerprints, req->ids, req->names, req->count,
                                                           NULL, answer_offer, &answers, error)
                               : sstore_dedup_insert(dedup, req->fingerprints, req->ids, req->count, NULL, answer_offer,
                                                     &answers, error);
    reply_literal(&queued->reply, "]");
    skipped_rows_print(&req->skipped, &queued->reply);
    reply_literal(&queued->reply, "}\n");
    if ((status == SSTORE_STOPPED && !is_over(run)) || (status == SSTORE_OK && queued->reply.status != 0))
        status = stop_reason(&answers, error);
    match_list_free(&answers.list);
    return status;
}

/* An offer was ended. The others of the run have perhaps more time. */
static void fail_late(job_run *run)
{
    const char *reason = reason_to_drop(run->by, run->first, LATE);
    run->is_refused = run->count > 1;
    if (!run->is_refused)
        drop(run->first, reason != NULL ? reason : LATE);
}

/* ----- writing ----- */

/* Get the memory of the answers before anything is written. */
static bool has_answer_room(const job_run *run)
{
    for (job *queued = run->first; queued != NULL; queued = queued->next)
        if (reply_fill_begin(&queued->reply, ANSWER_BYTES + queued->request.skipped.listed.size) == NULL)
            return false;
    return true;
}

static int is_late(void *context)
{
    const job *queued = context;
    return time_coarse_ns() > queued->request.deadline_ns;
}

static int take_first(void *context, const sstore_match *record)
{
    bool *found = context;
    (void)record;
    *found = true;
    return 1;
}

/* Whether records are known by names. A key that is an id is a name in a store with names. */
static bool are_named(const request *req, const store_use *base)
{
    return req->names != NULL &&
           (req->route != ROUTE_RECORD || req->ids == NULL || store_use_statistics(base)->has_names);
}

/* Remove the records of a single id or name, if there are any. */
static sstore_status remove_key(job *queued, const store_use *base, sstore_remover *remover, sstore_error *error)
{
    const request *req = &queued->request;
    const bool is_named = are_named(req, base);
    bool found = false;
    sstore_cursor_set_stop(base->cursor, is_late, queued);
    const sstore_status status = is_named ? sstore_get_named(base->cursor, req->names, 1, take_first, &found, error)
                                          : sstore_get(base->cursor, req->ids, 1, take_first, &found, error);
    if (found)
        return is_named ? sstore_remover_remove_named(remover, req->names, 1, error)
                        : sstore_remover_remove(remover, NULL, req->ids, 1, error);
    if (status == SSTORE_OK)
        reply_fail(&queued->reply, REPLY_NOT_FOUND, "no record has the %s '%.200s'", is_named ? "name" : "id",
                   req->key);
    else if (status == SSTORE_STOPPED)
        drop(queued, LATE);
    return status == SSTORE_STOPPED ? SSTORE_OK : status;
}

static sstore_status add_records(const request *req, const store_use *base, sstore_builder *builder,
                                 sstore_error *error)
{
    const uint64_t *ids = req->route == ROUTE_RECORD && are_named(req, base) ? NULL : req->ids;
    return are_named(req, base)
               ? sstore_builder_add_named(builder, req->fingerprints, ids, req->names, req->count, error)
               : sstore_builder_add(builder, req->fingerprints, ids, req->count, error);
}

static sstore_status remove_records(const request *req, sstore_remover *remover, sstore_error *error)
{
    return req->names != NULL ? sstore_remover_remove_named(remover, req->names, req->count, error)
                              : sstore_remover_remove(remover, req->fingerprints, req->ids, req->count, error);
}

/* Give all records of a run to what writes them. To be removed, those without ids stand for all records of their
 * fingerprints. */
static sstore_status give_records(const store_writer *self, job_run *run, const store_use *base,
                                  const change_handles *to, sstore_error *error)
{
    sstore_status status = to->dedup != NULL || has_answer_room(run) ? SSTORE_OK : error_no_memory(error);
    for (job *queued = run->first; queued != NULL && status == SSTORE_OK; queued = queued->next) {
        const request *req = &queued->request;
        run->offered = to->dedup != NULL ? queued : NULL;
        if (to->builder != NULL)
            status = add_records(req, base, to->builder, error);
        else if (req->route == ROUTE_RECORD)
            status = remove_key(queued, base, to->remover, error);
        else if (to->remover != NULL)
            status = remove_records(req, to->remover, error);
        else
            status = offer(self, run, to->dedup, store_use_statistics(base), queued, error);
    }
    run->offered = NULL;
    return status;
}

static sstore_status publish(change_handles *to, sstore_change *change, sstore_error *error)
{
    const change_handles from = *to;
    to->builder = NULL; /* it is freed when it finishes, as is the next one */
    to->remover = NULL;
    return from.builder != NULL   ? sstore_builder_finish(from.builder, change, error)
           : from.remover != NULL ? sstore_remover_finish(from.remover, change, error)
                                  : sstore_dedup_publish(from.dedup, change, error);
}

/* Answer jobs that add or remove; offers have their answers. */
static void answer_changes(const job_run *run, const sstore_statistics *base, const sstore_change *change)
{
    const bool adds = run->first->request.route == ROUTE_RECORDS;
    uint64_t next_id = base->next_id;
    for (job *queued = run->first; queued != NULL; queued = queued->next) {
        const size_t count = queued->request.count;
        if (queued->reply.status != 0) /* nothing was to be done */
            continue;
        char first_id[40] = "null";
        if (base->has_ids && queued->request.ids == NULL && count > 0)
            snprintf(first_id, sizeof first_id, "\"%" PRIu64 "\"", next_id);
        next_id += count;
        reply_print(&queued->reply, "{\"given_count\":%zu,", count);
        if (adds)
            reply_print(&queued->reply, "\"first_id\":%s,", first_id);
        reply_print(&queued->reply, "\"record_count\":%" PRIu64 ",\"segment_count\":%" PRIu32, change->record_count,
                    change->segment_count);
        skipped_rows_print(&queued->request.skipped, &queued->reply);
        reply_literal(&queued->reply, "}\n");
    }
}

/* Write a run, for which the store is locked, as one change. */
static void write_change(const store_writer *self, job_run *run, const store_use *base, change_handles *to)
{
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error;
    const sstore_status status = give_records(self, run, base, to, &error);
    if (status == SSTORE_STOPPED)
        fail_late(run);
    else if (status != SSTORE_OK)
        fail_run(run, &error);
    else if (publish(to, &change, &error) != SSTORE_OK)
        fail_publication(run, base->store, &error);
    else if (to->dedup == NULL)
        answer_changes(run, store_use_statistics(base), &change);
    message_unmerged(served_store_path(self->served), &change);
    metrics_add(&self->options.metrics->added_records, change.added_count);
    metrics_add(&self->options.metrics->removed_records, change.removed_count);
}

/* ----- the thread ----- */

static void refresh(const store_writer *self)
{
    sstore_error error;
    if (served_store_refresh(self->served, &error) == SSTORE_OK)
        return;
    message_problem(&error);
    metrics_add(&self->options.metrics->refresh_failures, 1);
}

static void write_run(const store_writer *self, job_run *run)
{
    change_handles to = {NULL, NULL, NULL};
    store_use base;
    if (begin_change(self, run, &to, &base)) {
        write_change(self, run, &base, &to);
        served_store_release(self->served, &base);
    }
    sstore_builder_abort(to.builder);
    sstore_remover_abort(to.remover);
    sstore_dedup_close(to.dedup);
    refresh(self);
}

/* Only the job that is wrong shall fail. */
static void write_singly(const store_writer *self, const job_run *run)
{
    for (job *queued = run->first, *next; queued != NULL; queued = next) {
        job_run single = {.first = queued, .count = 1, .by = self};
        next = queued->next;
        queued->next = NULL;
        reply_free(&queued->reply);
        write_run(self, &single);
        end_run(&single);
    }
}

/* Wait for jobs, and take all as a list. NULL: there are no more. */
static job *take_waiting(queue *from)
{
    job *first = queue_take(from), *last = first;
    while (last != NULL) {
        last->next = queue_count(from) > 0 ? queue_take(from) : NULL;
        last = last->next;
    }
    return first;
}

static void *write_jobs(void *context)
{
    store_writer *self = context;
    for (job *list; (list = take_waiting(&self->queue)) != NULL;) {
        while (list != NULL) {
            job_run run = take_run(self, &list);
            write_run(self, &run);
            if (run.is_refused)
                write_singly(self, &run);
            else
                end_run(&run);
        }
    }
    return NULL;
}

store_writer *store_writer_start(served_store *served, const store_writer_options *options)
{
    store_writer *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->served = served;
    self->options = *options;
    queue_init(&self->queue, options->max_waiting);
    /* A signal that ends the process in the middle of a write is not for this thread, nor for those that it starts. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&self->thread, NULL, write_jobs, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        return self;
    queue_destroy(&self->queue);
    free(self);
    return NULL;
}

void store_writer_refuse_offers(store_writer *writer)
{
    atomic_store(&writer->refuses_offers, true);
}

void store_writer_stop(store_writer *writer)
{
    if (writer == NULL)
        return;
    queue_close(&writer->queue);
    pthread_join(writer->thread, NULL);
    queue_destroy(&writer->queue);
    free(writer);
}

bool store_writer_push(store_writer *writer, job *pushed)
{
    return queue_put(&writer->queue, pushed);
}
