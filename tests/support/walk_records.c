#include "support/walk_records.h"

#define ROWS 64u

sstore_status walk_records(const sstore *store, record_fn on_record, void *context, sstore_error *error)
{
    uint64_t fingerprints[ROWS * SSTORE_MAX_WORDS], ids[ROWS];
    const sstore_columns columns = {.struct_size = sizeof columns, .fingerprint = fingerprints, .id = ids};
    sstore_iterator *iterator;
    size_t got = ROWS;
    sstore_status status = sstore_iterate_records(store, &iterator, error);
    while (status == SSTORE_OK && got > 0) {
        status = sstore_iterator_next(iterator, &columns, ROWS, &got, error);
        for (size_t i = 0; i < got; i++) /* after a failure, too */
            if (on_record(context, fingerprints + i * (sstore_fingerprint_bits(store) / 64), ids[i]) != 0) {
                sstore_iterator_free(iterator);
                return SSTORE_STOPPED;
            }
    }
    sstore_iterator_free(iterator);
    return status;
}
