#include "build/stream_source.h"

#include "base/error.h"

/* Records must ascend strictly, also from piece to piece: encoders rely on that. The next ordinal must be above their ids,
 * or 'sstore verify' would reject the store that is written. */
static sstore_status check_record(ss_stream_source *stream, const sstore_record *record, sstore_error *error)
{
    const sstore_record *last = &stream->last;
    const bool ascends = !stream->has_last || record->fingerprint > last->fingerprint ||
                         (record->fingerprint == last->fingerprint && stream->records->has_ids && record->id > last->id);
    stream->has_last = true;
    stream->last = *record;
    if (stream->records->has_ids && SS_UNLIKELY(record->id + (record->id < UINT64_MAX) > stream->next_ordinal))
        return ss_fail_damaged(error, ss_record_merge_file(stream->records), SSTORE_NO_OFFSET,
                               "the manifest's next ordinal is not above all ids; 'sstore verify' says of which store");
    if (SS_LIKELY(ascends))
        return SSTORE_OK;
    return ss_fail_damaged(error, ss_record_merge_file(stream->records), SSTORE_NO_OFFSET,
                           "the records do not ascend at fingerprint %016llx; 'sstore verify' says which file is damaged",
                           (unsigned long long)record->fingerprint);
}

/* Take the next records off the stream, and keep those that are wanted. */
static sstore_status take(ss_stream_source *stream, void *items, size_t *count_out, sstore_error *error)
{
    sstore_record *records = items, record;
    uint64_t *keys = items;
    bool more = true;
    for (size_t taken = 0; taken < stream->piece_capacity; taken++) {
        sstore_status status = ss_record_merge_next(stream->records, &record, &more, error);
        if (status == SSTORE_OK && more)
            status = check_record(stream, &record, error);
        if (status != SSTORE_OK || !more)
            return status;
        if (stream->records->has_ids)
            records[*count_out] = record;
        else
            keys[*count_out] = record.fingerprint;
        *count_out += stream->is_wanted == NULL || stream->is_wanted(stream->context, &record);
    }
    return SSTORE_OK;
}

/* All pieces were taken: nothing may be left, or records would be lost silently. */
static sstore_status check_end(const ss_stream_source *stream, sstore_error *error)
{
    sstore_record record;
    bool more;
    const sstore_status status = ss_record_merge_next(stream->records, &record, &more, error);
    if (status != SSTORE_OK || !more)
        return status;
    return ss_fail_damaged(error, ss_record_merge_file(stream->records), SSTORE_NO_OFFSET,
                           "there are more records than the manifest says; 'sstore verify' says which file is damaged");
}

static sstore_status load(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                          sstore_error *error)
{
    ss_stream_source *stream = context;
    sstore_status status = SSTORE_OK;
    (void)scratch;
    *count_out = 0;
    if (!ss_turnstile_enter(&stream->turnstile, piece))
        return SSTORE_OK; /* a piece before could not be loaded, and whoever wanted it reports that */
    if (piece == 0) {
        stream->has_last = false;
        status = ss_record_merge_rewind(stream->records, error);
    }
    if (status == SSTORE_OK)
        status = take(stream, items, count_out, error);
    if (status == SSTORE_OK && piece + 1 == stream->piece_count)
        status = check_end(stream, error);
    if (status != SSTORE_OK)
        ss_turnstile_break(&stream->turnstile);
    else if (piece + 1 == stream->piece_count)
        ss_turnstile_restart(&stream->turnstile);
    else
        ss_turnstile_leave(&stream->turnstile);
    return status;
}

void ss_stream_source_open(ss_stream_source *stream, uint64_t most_records, size_t capacity, ss_piece_source *source_out)
{
    stream->piece_capacity = capacity;
    /* One at least, so that records are read also where the manifest says that none are left: that has to be true. */
    stream->piece_count = (size_t)ss_max_u64((most_records + capacity - 1) / capacity, 1);
    ss_turnstile_init(&stream->turnstile);
    *source_out = (ss_piece_source){.context = stream,
                                    .piece_count = stream->piece_count,
                                    .item_count = most_records,
                                    .progress_each = capacity,
                                    .most_items = capacity,
                                    .load = load};
}

void ss_stream_source_close(ss_stream_source *stream)
{
    ss_turnstile_destroy(&stream->turnstile);
}
