#include "join/row_iterator.h"

sstore_status ss_row_iterator_open(ss_row_iterator *iterator, const sstore *store, bool has_ids, sstore_error *error)
{
    *iterator = (ss_row_iterator){.words = store->manifest.words};
    ss_merge_iterator_init(&iterator->records, iterator->words, has_ids);
    sstore_status status = ss_merge_iterator_add(&iterator->records, store, 0, store->manifest.segment_count, error);
    if (status == SSTORE_OK)
        status = ss_merge_iterator_rewind(&iterator->records, error);
    return status == SSTORE_OK ? ss_merge_iterator_next(&iterator->records, &iterator->next, &iterator->more, error)
                               : status;
}

void ss_row_iterator_close(ss_row_iterator *iterator)
{
    ss_merge_iterator_close(&iterator->records);
}
