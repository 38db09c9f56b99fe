/*
 * rewrite.h - sorted pieces cut from the records of stores, which are in order already. The pieces are taken from the
 * stream one after the other, whatever thread asks for them; what is done with them goes on side by side.
 */
#ifndef SS_REWRITE_H
#define SS_REWRITE_H

#include "base/tasks.h"
#include "store/record_iterator.h"
#include "write/segment_writer.h"

typedef struct ss_stream_source {
    ss_record_merge *records; /* borrowed */
    /* Whether a record is to be in a piece at all; NULL: all are. */
    bool (*is_wanted)(void *context, const sstore_record *record);
    void *context;
    uint64_t next_ordinal; /* that the store to be written gets: above all ids */
    size_t piece_count, piece_capacity;
    ss_sequencer turnstile;
    bool has_last;
    sstore_record last; /* that was read */
} ss_stream_source;

/* A stream of at most `most_records`, each piece made of up to `capacity` of them. All above the numbers must be set. */
void ss_stream_source_open(ss_stream_source *stream, uint64_t most_records, size_t capacity, ss_sorted_pieces *source_out);
void ss_stream_source_close(ss_stream_source *stream);

#endif
