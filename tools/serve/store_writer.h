/*
 * store_writer.h - writes what requests ask for to a store, in a thread of its own. Requests that wait together are
 * published together. A request is answered when its records are durable and queries find them.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "serve/job.h"
#include "serve/metrics.h"
#include "serve/served_store.h"

typedef struct store_writer store_writer;

typedef struct store_writer_options {
    uint64_t memory_bytes; /* of a call */
    uint32_t threads;
    uint64_t max_matches; /* listed in the answer of an offer */
    uint32_t max_waiting; /* requests */
    metrics *metrics;
} store_writer_options;

/* Start the thread. NULL: that failed. */
store_writer *store_writer_start(served_store *served, const store_writer_options *options);

/* End the offers that come, wait or are being looked up, which can take as long as their time allows. Nothing of them
 * is written. */
void store_writer_refuse_offers(store_writer *writer);

/* Write what waits, and end the thread. NULL is allowed. */
void store_writer_stop(store_writer *writer);

/* Hand over a request of a route that writes, whose done() is called when it is answered. False: too many
 * wait. */
bool store_writer_push(store_writer *writer, job *pushed);

#endif
