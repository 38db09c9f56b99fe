/*
 * scan_stream.h - records on their way from inputs through a scan: what is being read is gathered in one slot while a
 * thread of its own scans another, and prints the matches.
 */
#ifndef SCAN_STREAM_H
#define SCAN_STREAM_H

#include "handover.h"
#include "sstore.h"

#define SCAN_STREAM_SLOTS 2u

typedef struct scan_slot {
    uint64_t *fingerprints, *ids;
    size_t count;
    bool has_ids;
} scan_slot;

typedef struct scan_stream {
    sstore_scan *scan;
    scan_slot slots[SCAN_STREAM_SLOTS];
    size_t filling; /* the slot that records are put into */
    handover over;
    bool has_thread; /* otherwise a slot is scanned where it is filled */
    pthread_t thread;
    int code; /* of the scanning so far */
} scan_stream;

/* Begin to scan in a thread of its own, or, without `ahead`, in the caller's. Returns an exit code; the stream is to be
 * closed in any case. */
int scan_stream_open(scan_stream *stream, sstore_scan *scan, bool ahead);

/* Let records pass, whose ids may be NULL: an input_batch_fn whose context is the stream. */
int scan_stream_add(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count);

/* Wait until all that was added is scanned. Returns an exit code, by which a failure has been reported. */
int scan_stream_close(scan_stream *stream);

#endif
