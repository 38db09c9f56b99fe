/* document_work.h - finds something in every document, on several threads, and gives it away in order. */
#ifndef DOCUMENT_WORK_H
#define DOCUMENT_WORK_H

#include <sstore_text.h>

#include "documents/document_reader.h"
#include "input/bad_rows.h"

/* What a thread has for itself. */
typedef struct document_worker {
    sstore_fingerprinter *fingerprinter;
    document_batch batch;
    void *found; /* memory for what is found in the documents of a batch; the work alone uses it */
    size_t found_count, found_capacity; /* 0 when a batch begins */
} document_worker;

typedef struct document_work {
    void *context;
    const sstore_text_options *options;
    document_reader reader;
    bad_rows *bad;               /* what becomes of lines that cannot be read */
    bool has_id_kind, are_named; /* of ids in JSON */
    /* Find something in a document of the worker's batch; at the same time as other threads. */
    sstore_status (*find)(void *context, document_worker *worker, document *doc, const char *text, size_t length,
                          sstore_error *error);
    /* Use what was found in the worker's batch; by one thread at a time, in order. Returns an exit code. */
    int (*give)(void *context, document_worker *worker);
} document_work;

/* Make room for `count` more elements of `size` bytes behind found_count others. MEMORY. */
sstore_status document_worker_reserve(document_worker *self, size_t count, size_t size, sstore_error *error);

/* Do all of it on `threads` threads (0: one for each processor). Returns an exit code; a failure has been reported. */
int document_work_run(document_work *work, uint32_t threads);

#endif
