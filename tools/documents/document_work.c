#include "documents/document_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "documents/document_json.h"
#include "documents/ordered.h"
#include "output/messages.h"
#include "output/output.h"

sstore_status document_worker_reserve(document_worker *self, size_t count, size_t size, sstore_error *error)
{
    if (grow(&self->found, &self->found_capacity, self->found_count + count, size))
        return SSTORE_OK;
    snprintf(error->message, sizeof error->message, "out of memory");
    return error->status = SSTORE_ERROR_MEMORY;
}

static void free_worker(void *item)
{
    document_worker *self = item;
    sstore_fingerprinter_free(self->fingerprinter);
    document_batch_free(&self->batch);
    free(self->found);
    free(self);
}

static void *make_worker(void *context)
{
    const document_work *work = context;
    document_worker *self = calloc(1, sizeof *self);
    sstore_error error;
    if (self != NULL && sstore_fingerprinter_create(work->options, &self->fingerprinter, &error) == SSTORE_OK)
        return self;
    if (self != NULL)
        free_worker(self);
    return NULL;
}

static bool take_documents(void *context, void *item)
{
    document_work *work = context;
    document_worker *self = item;
    self->found_count = 0;
    return document_reader_take(&work->reader, &self->batch);
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
    if (doc->is_left_out)
        return true;
    const document_form *form = &work->reader.form;
    if (form->unit != DOCUMENT_JSONL)
        return find(work, self, doc, self->batch.bytes + doc->begin, doc->length);
    return document_json_read(&self->batch, doc, form, &text)
               ? find(work, self, doc, text.text, text.length)
               : bad_rows_skip(work->bad) || end_at(work, &self->batch, doc);
}

/* A document that fails ends the batch before it, unless it is skipped. */
static void work_on_documents(void *context, void *item)
{
    document_worker *self = item;
    size_t done = 0;
    while (done < self->batch.count && work_on_document(context, self, &self->batch.items[done]))
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
        check_id_kind(work, batch, doc);
        if (doc->fault == NULL)
            batch->items[batch->count++] = *doc;
        else if (!skip(work, batch, doc))
            break;
    }
    bad_rows_note_good(work->bad, batch->count);
}

static int give_documents(void *context, void *item)
{
    document_work *work = context;
    document_worker *self = item;
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

int document_work_run(document_work *work, uint32_t threads)
{
    const ordered_work ordered = {.context = work,
                                  .make = make_worker,
                                  .free = free_worker,
                                  .take = take_documents,
                                  .work = work_on_documents,
                                  .give = give_documents};
    sstore_fingerprinter *tried;
    sstore_error error;
    if (sstore_fingerprinter_create(work->options, &tried, &error) != SSTORE_OK)
        return message_error(&error); /* the threads would only say that there is no memory */
    sstore_fingerprinter_free(tried);
    const int code = ordered_run(&ordered, threads);
    document_reader_close(&work->reader);
    return code;
}
