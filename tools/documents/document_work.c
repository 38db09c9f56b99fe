/*
 * document_work.c - each thread takes a batch of documents, works on it, and gives it away, again and again. Only one
 * thread takes at a time, and only one gives; batches are given in the order in which they were taken. No queue stands
 * between the threads: each keeps its batch until it is given, so that nothing has to bound what is under way, and
 * waits only for its turn.
 */
#include "documents/document_work.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "input/queue.h"
#include "output/messages.h"
#include "output/output.h"

sstore_status document_worker_reserve(document_worker *self, size_t count, size_t size, sstore_error *error)
{
    if (grow(&self->found, &self->found_capacity, self->found_count + count, size))
        return SSTORE_OK;
    snprintf(error->message, sizeof error->message, "out of memory");
    return error->status = SSTORE_ERROR_MEMORY;
}

static void free_worker(document_worker *self)
{
    sstore_fingerprinter_free(self->fingerprinter);
    document_batch_free(&self->batch);
    free(self->found);
    free(self);
}

static document_worker *make_worker(const document_work *work)
{
    document_worker *self = calloc(1, sizeof *self);
    sstore_error error;
    if (self != NULL && sstore_fingerprinter_create(work->options, &self->fingerprinter, &error) == SSTORE_OK)
        return self;
    if (self != NULL)
        free_worker(self);
    return NULL;
}

static bool find(const document_work *work, document_worker *self, document *doc, const char *text, size_t length)
{
    sstore_error error;
    if (work->find(work->context, self, doc, text, length, &error) == SSTORE_OK)
        return true;
    self->batch.code = EXIT_FAILED;
    document_batch_explain(&self->batch, "%s", error.message);
    return false;
}

/* The document has a fault, which is the batch's failure. The fault of a first line is probably that of all. */
static bool end_at(const document_work *work, document_batch *batch, const document *doc)
{
    const bool may_skip = !bad_rows_skip(work->bad) && doc->line > 1;
    batch->code = EXIT_FAILED;
    document_batch_explain(batch, "%s:%" PRIu64 ": %s%s", doc->input, doc->line, doc->fault,
                           may_skip ? "; --skip-bad leaves out such lines" : "");
    return false;
}

static bool work_on_document(const document_work *work, document_worker *self, document *doc)
{
    document_text text;
    if (doc->is_left_out || doc->is_header)
        return true;
    return document_read(&self->batch, doc, &work->reader.form, &text)
               ? find(work, self, doc, text.text, text.length)
               : bad_rows_skip(work->bad) || end_at(work, &self->batch, doc);
}

/* A document that fails ends the batch before it, unless it is skipped. */
static void work_on_documents(const document_work *work, document_worker *self)
{
    size_t done = 0;
    while (done < self->batch.count && work_on_document(work, self, &self->batch.items[done]))
        done++;
    self->batch.count = done;
}

/* Names stand beside the numbers of the documents, which numbers as ids could equal. */
static void check_id_kind(document_work *work, document_batch *batch, document *doc)
{
    if (work->reader.form.id_key == NULL || doc->fault != NULL)
        return;
    if (!work->has_id_kind)
        work->are_named = doc->name != NULL;
    work->has_id_kind = true;
    if (work->are_named != (doc->name != NULL))
        document_fault(batch, doc, "expected %s as id, as in the documents before, found %s",
                       work->are_named ? "a name" : "a number", work->are_named ? "a number" : "a name");
}

static bool skip(document_work *work, document_batch *batch, document *doc)
{
    line_fault fault;
    const bad_row row = {
        .input = doc->input, .number = doc->line, .text = batch->bytes + doc->begin, .length = doc->length, .count = 1};
    (void)line_fault_set(&fault, "%s", doc->fault);
    if (bad_rows_take(work->bad, &row, &fault))
        return true;
    document_fault(batch, doc, "%s", fault.reason);
    return end_at(work, batch, doc);
}

/* Take the documents with a fault out of the batch, or end it before the first one. */
static void drop_bad(document_work *work, document_batch *batch)
{
    const size_t count = batch->count;
    batch->count = 0;
    for (size_t i = 0; i < count; i++) {
        document *doc = &batch->items[i];
        if (doc->is_header)
            continue;
        check_id_kind(work, batch, doc);
        if (doc->fault == NULL)
            batch->items[batch->count++] = *doc;
        else if (!skip(work, batch, doc))
            break;
    }
    bad_rows_note_good(work->bad, batch->count);
}

static int give_documents(document_work *work, document_worker *self)
{
    drop_bad(work, &self->batch);
    const int code = work->give(work->context, self);
    if (code != EXIT_DONE)
        return code;
    if (self->batch.flushes && !output_flush())
        return EXIT_FAILED;
    if (self->batch.reason[0] != '\0')
        message_print("%s", self->batch.reason);
    return self->batch.code;
}

/* ----- threads ----- */

typedef struct runner {
    document_work *work;
    pthread_mutex_t take_lock, give_lock;
    pthread_cond_t given; /* a batch */
    uint64_t taken_count, given_count;
    atomic_bool is_over; /* no more batches are taken */
    atomic_uint thread_count;
    int code; /* of the last batch */
} runner;

/* Take a batch; its number is set. False: there are no more, or an earlier one failed. */
static bool take_batch(runner *self, document_worker *worker, uint64_t *number_out)
{
    pthread_mutex_lock(&self->take_lock);
    worker->found_count = 0;
    if (!self->is_over && !document_reader_take(&self->work->reader, &worker->batch))
        self->is_over = true;
    const bool taken = !self->is_over;
    *number_out = taken ? self->taken_count++ : 0;
    pthread_mutex_unlock(&self->take_lock);
    return taken;
}

/* Give a batch when its turn comes. False: it or an earlier one failed. */
static bool give_batch(runner *self, document_worker *worker, uint64_t number)
{
    pthread_mutex_lock(&self->give_lock);
    while (self->given_count != number)
        pthread_cond_wait(&self->given, &self->give_lock);
    if (self->code == EXIT_DONE)
        self->code = give_documents(self->work, worker);
    const bool done = self->code == EXIT_DONE;
    self->given_count++;
    pthread_cond_broadcast(&self->given);
    pthread_mutex_unlock(&self->give_lock);
    return done;
}

static void *run_batches(void *context)
{
    runner *self = context;
    document_worker *worker = make_worker(self->work);
    uint64_t number;
    if (worker == NULL)
        return NULL; /* the other threads do the work */
    self->thread_count++;
    while (take_batch(self, worker, &number)) {
        work_on_documents(self->work, worker);
        if (!give_batch(self, worker, number))
            self->is_over = true;
    }
    free_worker(worker);
    return NULL;
}

/* Run on the caller's thread and on `others`, or on fewer if the system has no more. Returns the exit code of the last
 * batch, or EXIT_FAILED after saying that there is no memory. */
static int run_threads(document_work *work, pthread_t *others, uint32_t count)
{
    runner self = {.work = work, .code = EXIT_DONE};
    uint32_t started = 0;
    pthread_mutex_init(&self.take_lock, NULL);
    pthread_mutex_init(&self.give_lock, NULL);
    pthread_cond_init(&self.given, NULL);
    while (started < count && pthread_create(&others[started], NULL, run_batches, &self) == 0)
        started++;
    run_batches(&self);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    pthread_cond_destroy(&self.given);
    pthread_mutex_destroy(&self.give_lock);
    pthread_mutex_destroy(&self.take_lock);
    return self.thread_count > 0 ? self.code : message_print("out of memory");
}

int document_work_run(document_work *work, uint32_t threads)
{
    const uint32_t count = threads > 0 ? threads : processor_count();
    sstore_fingerprinter *tried;
    sstore_error error;
    if (sstore_fingerprinter_create(work->options, &tried, &error) != SSTORE_OK)
        return message_error(&error); /* the threads would only say that there is no memory */
    sstore_fingerprinter_free(tried);
    pthread_t *others = allocate_or_exit(count, sizeof *others);
    const int code = run_threads(work, others, count - 1);
    free(others);
    document_reader_close(&work->reader);
    return code;
}
