/*
 * stream_source.h - sorted pieces cut from a stream of records that are in order already. The pieces are taken from the
 * stream one after the other, whatever thread asks for them; what is done with them goes on side by side.
 */
#ifndef SS_STREAM_SOURCE_H
#define SS_STREAM_SOURCE_H

#include "base/turnstile.h"
#include "build/piece_source.h"

typedef struct ss_stream_source {
    void *context;
    bool with_ids;
    size_t piece_count, piece_capacity;
    /* Begin at the first record, again if need be. */
    sstore_status (*rewind)(void *context, sstore_error *error);
    /* Get the next record, above the one before; *more_out is false at the end. */
    sstore_status (*next)(void *context, sstore_record *record_out, bool *more_out, sstore_error *error);
    /* Whether a record is to be in a piece at all. */
    bool (*is_wanted)(void *context, const sstore_record *record);
    ss_turnstile turnstile;
} ss_stream_source;

/* A stream of at most `most_records`, each piece made of up to `capacity` of them. All above but the numbers must be set. */
void ss_stream_source_open(ss_stream_source *stream, uint64_t most_records, size_t capacity, ss_piece_source *source_out);
void ss_stream_source_close(ss_stream_source *stream);

#endif
