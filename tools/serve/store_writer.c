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
#include <time.h>

#include "output/messages.h"
#include "output/output.h"
#include "serve/request_matches.h"

#define BUSY_WAIT_NS 20000000 /* while another process writes to the store */
#define ANSWER_BYTES 256u     /* the maximum for an addition */
#define LATE "the time of the request is over"
#define OFFER_BYTES 512u /* of memory, for each word of a record that is offered */

struct store_writer {
    served_store *served;
    store_writer_options options;
    job_queue queue;
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
    if (a->route != b->route || (a->ids != NULL) != (b->ids != NULL))
        return false;
    return a->route != ROUTE_OFFER ||
           (a->has_distance == b->has_distance && (!a->has_distance || a->distance == b->distance));
}

/* Take the first jobs from a list, as many as are alike. Offered records wait in memory, so together they are not more
 * than fit, unless a single job has more. */
static job_run take_run(const store_writer *self, job **list)
{
    job_run run = {.first = *list, .count = 1, .by = self};
    job *last = run.first;
    const uint64_t max = last->request.route == ROUTE_OFFER
                             ? self->options.memory_bytes / (OFFER_BYTES * last->request.words)
                             : UINT64_MAX;
    uint64_t records = last->request.count;
    while (last->next != NULL && are_alike(&run.first->request, &last->next->request) &&
           records + last->next->request.count <= max) {
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

/* ----- adding ----- */

typedef sstore_status (*begin_fn)(const store_writer *self, const job_run *run, void **handle_out, sstore_error *error);

/* Get the handle of a change. While another process writes, wait, until the time of all jobs is over: then the run is
 * empty. */
static sstore_status wait_to_write(const store_writer *self, job_run *run, begin_fn try_once, void **handle_out,
                                   sstore_error *error)
{
    static const struct timespec wait = {.tv_nsec = BUSY_WAIT_NS};
    sstore_status status = SSTORE_ERROR_BUSY;
    drop_late(run);
    while (run->first != NULL && (status = try_once(self, run, handle_out, error)) == SSTORE_ERROR_BUSY) {
        nanosleep(&wait, NULL);
        drop_late(run);
    }
    return status;
}

/* Begin to write: lock the store, and use the state that is changed. False: all jobs have their answers, and the
 * handle, which may be NULL, is to be aborted. */
static bool begin(const store_writer *self, job_run *run, begin_fn try_once, void **handle_out, store_use *base_out)
{
    sstore_error error;
    sstore_status status = wait_to_write(self, run, try_once, handle_out, &error);
    if (status == SSTORE_OK)
        status = served_store_refresh(self->served, &error);
    if (status == SSTORE_OK)
        status = served_store_acquire(self->served, false, base_out, &error);
    if (status != SSTORE_OK && run->first != NULL)
        fail_run(run, &error);
    return status == SSTORE_OK;
}

/* Another store may have come to the path since the requests were read. */
static sstore_status check_bits(const job_run *run, uint32_t bits, sstore_error *error)
{
    const uint32_t expected = 64 * run->first->request.words;
    if (bits == expected)
        return SSTORE_OK;
    *error = (sstore_error){.status = SSTORE_ERROR_UNSUPPORTED, .offset = SSTORE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message,
                   "the store now has fingerprints of %" PRIu32 " bits, not of %" PRIu32, bits, expected);
    return error->status;
}

static sstore_status begin_addition(const store_writer *self, const job_run *run, void **handle_out,
                                    sstore_error *error)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    options.memory_bytes = self->options.memory_bytes;
    options.threads = self->options.threads;
    const sstore_status status = sstore_builder_create_addition(served_store_path(self->served), &options, &builder,
                                                                error);
    *handle_out = builder;
    return status == SSTORE_OK ? check_bits(run, sstore_builder_fingerprint_bits(builder), error) : status;
}

/* Get the memory of the answers before anything is written. */
static bool has_answer_room(const job_run *run)
{
    for (job *queued = run->first; queued != NULL; queued = queued->next)
        if (reply_fill_begin(&queued->reply, ANSWER_BYTES + queued->request.skipped.listed.size) == NULL)
            return false;
    return true;
}

static void answer_additions(const job_run *run, const sstore_statistics *base, const sstore_change *change)
{
    const bool assigns_ids = base->has_ids && run->first->request.ids == NULL;
    uint64_t next_id = base->next_id;
    for (job *queued = run->first; queued != NULL; queued = queued->next) {
        char first_id[40] = "null";
        if (assigns_ids && queued->request.count > 0)
            snprintf(first_id, sizeof first_id, "\"%" PRIu64 "\"", next_id);
        next_id += queued->request.count;
        reply_print(&queued->reply,
                    "{\"given_count\":%zu,\"first_id\":%s,\"record_count\":%" PRIu64 ",\"segment_count\":%" PRIu32,
                    queued->request.count, first_id, change->record_count, change->segment_count);
        skipped_rows_print(&queued->request.skipped, &queued->reply);
        reply_literal(&queued->reply, "}\n");
    }
}

static sstore_status add_all(const job_run *run, sstore_builder *builder, sstore_error *error)
{
    sstore_status status = has_answer_room(run) ? SSTORE_OK : error_no_memory(error);
    for (const job *queued = run->first; queued != NULL && status == SSTORE_OK; queued = queued->next)
        status = sstore_builder_add(builder, queued->request.fingerprints, queued->request.ids, queued->request.count,
                                    error);
    return status;
}

static void publish_additions(const store_writer *self, job_run *run, const store_use *base, sstore_builder *builder)
{
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error;
    if (sstore_builder_finish(builder, &change, &error) != SSTORE_OK) {
        fail_publication(run, base->store, &error);
        return;
    }
    message_unmerged(served_store_path(self->served), &change);
    metrics_add(&self->options.metrics->added_records, change.added_count);
    answer_additions(run, store_use_statistics(base), &change);
}

static void write_records(const store_writer *self, job_run *run)
{
    void *builder = NULL;
    store_use base;
    sstore_error error;
    if (!begin(self, run, begin_addition, &builder, &base)) {
        sstore_builder_abort(builder);
        return;
    }
    if (add_all(run, builder, &error) == SSTORE_OK) {
        publish_additions(self, run, &base, builder);
    } else {
        sstore_builder_abort(builder);
        fail_run(run, &error);
    }
    served_store_release(self->served, &base);
}

/* ----- removing ----- */

static sstore_status begin_removal(const store_writer *self, const job_run *run, void **handle_out, sstore_error *error)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_remover *remover;
    options.memory_bytes = self->options.memory_bytes;
    options.threads = self->options.threads;
    const sstore_status status = sstore_remover_create(served_store_path(self->served), &options, &remover, error);
    *handle_out = remover;
    return status == SSTORE_OK ? check_bits(run, sstore_remover_fingerprint_bits(remover), error) : status;
}

/* Records without ids stand for all records of their fingerprints. */
static sstore_status remove_all(const job_run *run, sstore_remover *remover, sstore_error *error)
{
    sstore_status status = has_answer_room(run) ? SSTORE_OK : error_no_memory(error);
    for (const job *queued = run->first; queued != NULL && status == SSTORE_OK; queued = queued->next) {
        const request *asked = &queued->request;
        status = sstore_remover_remove(remover, asked->fingerprints, asked->ids, asked->count, error);
    }
    return status;
}

static void publish_removals(const store_writer *self, job_run *run, const store_use *base, sstore_remover *remover)
{
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error;
    if (sstore_remover_finish(remover, &change, &error) != SSTORE_OK) {
        fail_publication(run, base->store, &error);
        return;
    }
    message_unmerged(served_store_path(self->served), &change);
    metrics_add(&self->options.metrics->removed_records, change.removed_count);
    for (job *queued = run->first; queued != NULL; queued = queued->next) {
        reply_print(&queued->reply, "{\"given_count\":%zu,\"record_count\":%" PRIu64 ",\"segment_count\":%" PRIu32,
                    queued->request.count, change.record_count, change.segment_count);
        skipped_rows_print(&queued->request.skipped, &queued->reply);
        reply_literal(&queued->reply, "}\n");
    }
}

static void remove_records(const store_writer *self, job_run *run)
{
    void *remover = NULL;
    store_use base;
    sstore_error error;
    if (!begin(self, run, begin_removal, &remover, &base)) {
        sstore_remover_abort(remover);
        return;
    }
    if (remove_all(run, remover, &error) == SSTORE_OK) {
        publish_removals(self, run, &base, remover);
    } else {
        sstore_remover_abort(remover);
        fail_run(run, &error);
    }
    served_store_release(self->served, &base);
}

/* ----- offering ----- */

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

static sstore_status begin_dedup(const store_writer *self, const job_run *run, void **handle_out, sstore_error *error)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_dedup *dedup;
    options.memory_bytes = self->options.memory_bytes;
    options.threads = self->options.threads;
    options.publish_every = UINT64_MAX; /* all or nothing */
    options.on_progress = check_time;
    options.progress_context = (void *)(uintptr_t)run;
    options.limit = wanted_matches(self, run);
    if (run->first->request.has_distance)
        options.distance = run->first->request.distance;
    sstore_dedup_statistics state = SSTORE_DEDUP_STATISTICS_INIT;
    sstore_status status = sstore_dedup_open(served_store_path(self->served), &options, &dedup, error);
    *handle_out = dedup;
    if (status == SSTORE_OK)
        status = sstore_dedup_stat(dedup, &state, error);
    return status == SSTORE_OK ? check_bits(run, state.fingerprint_bits, error) : status;
}

/* The answers of one job. */
typedef struct offer_answers {
    job *queued;
    const job_run *run;
    match_list list; /* of the current record */
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
    reply_print(to, "\"fingerprint\":\"%s\",\"new\":%s,\"id\":%s,\"match_count\":%" PRIu64 ",\"matches\":",
                radix_string(RADIX_HEX, fingerprint, answer->fingerprint, self->list.words),
                answer->is_new ? "true" : "false", id, answer->found_count);
    self->list.count = 0;
    for (size_t i = 0; i < answer->match_count && i < self->queued->request.limit && self->listed < self->max_listed;
         i++) {
        if (match_list_take(&self->list, &answer->matches[i]) != 0)
            return 1;
        self->listed++;
    }
    matches_print_list(&self->list, 0, self->list.count, NULL, to);
    reply_literal(to, "}");
    return to->status != 0 || is_over(self->run);
}

/* STOPPED: the time of the job is over. */
static sstore_status offer(const store_writer *self, const job_run *run, sstore_dedup *dedup, bool has_ids, job *queued,
                           sstore_error *error)
{
    offer_answers answers = {.queued = queued,
                             .run = run,
                             .has_ids = has_ids,
                             .max_listed = self->options.max_matches,
                             .list = {.words = queued->request.words, .max = UINT64_MAX, .has_ids = has_ids}};
    const request *asked = &queued->request;
    reply_literal(&queued->reply, "{\"results\":[");
    sstore_status status = sstore_dedup_insert(dedup, asked->fingerprints, asked->ids, asked->count, NULL, answer_offer,
                                               &answers, error);
    reply_literal(&queued->reply, "]");
    skipped_rows_print(&asked->skipped, &queued->reply);
    reply_literal(&queued->reply, "}\n");
    if ((status == SSTORE_STOPPED && !is_over(run)) || (status == SSTORE_OK && queued->reply.status != 0))
        status = error_no_memory(error);
    match_list_free(&answers.list);
    return status;
}

static sstore_status offer_all(const store_writer *self, job_run *run, const store_use *base, sstore_dedup *dedup,
                               sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (job *queued = run->first; queued != NULL && status == SSTORE_OK; queued = queued->next) {
        run->offered = queued;
        status = offer(self, run, dedup, store_use_statistics(base)->has_ids, queued, error);
    }
    run->offered = NULL;
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

static void write_offers(const store_writer *self, job_run *run)
{
    void *dedup = NULL;
    store_use base;
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_error error;
    if (!begin(self, run, begin_dedup, &dedup, &base)) {
        sstore_dedup_close(dedup);
        return;
    }
    const sstore_status status = offer_all(self, run, &base, dedup, &error);
    if (status == SSTORE_STOPPED)
        fail_late(run);
    else if (status != SSTORE_OK)
        fail_run(run, &error);
    else if (sstore_dedup_publish(dedup, &change, &error) != SSTORE_OK)
        fail_publication(run, base.store, &error);
    message_unmerged(served_store_path(self->served), &change);
    metrics_add(&self->options.metrics->added_records, change.added_count);
    sstore_dedup_close(dedup);
    served_store_release(self->served, &base);
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
    switch (run->first->request.route) {
    case ROUTE_RECORDS: write_records(self, run); break;
    case ROUTE_REMOVE: remove_records(self, run); break;
    default: write_offers(self, run); break;
    }
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

static void *write_jobs(void *context)
{
    store_writer *self = context;
    for (job *list; (list = job_queue_take_all(&self->queue)) != NULL;) {
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
    job_queue_init(&self->queue, options->max_waiting);
    /* A signal that ends the process in the middle of a write is not for this thread, nor for those that it starts. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&self->thread, NULL, write_jobs, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        return self;
    job_queue_destroy(&self->queue);
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
    job_queue_close(&writer->queue);
    pthread_join(writer->thread, NULL);
    job_queue_destroy(&writer->queue);
    free(writer);
}

bool store_writer_push(store_writer *writer, job *pushed)
{
    return job_queue_push(&writer->queue, pushed);
}
