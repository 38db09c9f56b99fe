/* records.c - all records of a store in order, for dumps. */
#include "base/error.h"
#include "store/cursor.h"
#include "store/record_stream.h"

static sstore_status each_of_segment(const ss_segment *segment, bool has_ids, sstore_record_fn on_record, void *context,
                                     sstore_error *error)
{
    ss_record_stream stream;
    sstore_record record;
    bool more = true;
    sstore_status status = ss_record_stream_open(&stream, segment, has_ids, error);
    while (status == SSTORE_OK) {
        status = ss_record_stream_next(&stream, &record, &more, error);
        if (status != SSTORE_OK || !more)
            break;
        if (on_record(context, &record) != 0)
            status = SSTORE_STOPPED;
    }
    ss_record_stream_close(&stream);
    return status;
}

sstore_status sstore_each_record(sstore_cursor *cursor, sstore_record_fn on_record, void *context, sstore_error *error)
{
    if (cursor == NULL || on_record == NULL)
        return ss_fail_argument(error, "sstore_each_record: cursor and on_record must not be NULL");
    const sstore *store = cursor->store;
    /* A build makes one segment. More would have to be merged here; the format has room for them. */
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++)
        status = each_of_segment(&store->segments[i], store->manifest.has_ids, on_record, context, error);
    return status;
}
