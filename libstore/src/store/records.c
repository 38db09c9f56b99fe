/* records.c - all records of a store in order, for dumps. */
#include "base/error.h"
#include "store/cursor.h"
#include "store/record_merge.h"

sstore_status sstore_each_record(sstore_cursor *cursor, sstore_record_fn on_record, void *context, sstore_error *error)
{
    ss_record_merge records;
    sstore_record record;
    bool more = true;
    if (cursor == NULL || on_record == NULL)
        return ss_fail_argument(error, "sstore_each_record: cursor and on_record must not be NULL");
    ss_record_merge_init(&records, cursor->store->manifest.has_ids);
    sstore_status status = ss_record_merge_add_store(&records, cursor->store, error);
    if (status == SSTORE_OK)
        status = ss_record_merge_rewind(&records, error);
    while (status == SSTORE_OK) {
        status = ss_record_merge_next(&records, &record, &more, error);
        if (status != SSTORE_OK || !more)
            break;
        if (on_record(context, &record) != 0)
            status = SSTORE_STOPPED;
    }
    ss_record_merge_close(&records);
    return status;
}
