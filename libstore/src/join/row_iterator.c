#include "join/row_iterator.h"

#include "base/words.h"

static sstore_status next_record(ss_row_iterator *iterator, sstore_error *error)
{
    return ss_merge_iterator_next(&iterator->records, &iterator->next, &iterator->more, error);
}

sstore_status ss_row_iterator_open(ss_row_iterator *iterator, const sstore *store, bool has_ids, sstore_error *error)
{
    *iterator = (ss_row_iterator){.words = store->manifest.words};
    ss_merge_iterator_init(&iterator->records, iterator->words, has_ids);
    sstore_status status = ss_merge_iterator_add(&iterator->records, store, 0, store->manifest.segment_count, error);
    if (status == SSTORE_OK)
        status = ss_merge_iterator_rewind(&iterator->records, error);
    return status == SSTORE_OK ? next_record(iterator, error) : status;
}

void ss_row_iterator_close(ss_row_iterator *iterator)
{
    ss_merge_iterator_close(&iterator->records);
}

bool ss_row_iterator_at(const ss_row_iterator *iterator, const uint64_t *fingerprint)
{
    return iterator->more && ss_words_equal(ss_row_iterator_fingerprint(iterator), fingerprint, iterator->words);
}

sstore_status ss_row_iterator_next(ss_row_iterator *iterator, const uint64_t *fingerprint, sstore_error *error)
{
    const sstore_status status = next_record(iterator, error);
    iterator->number += !ss_row_iterator_at(iterator, fingerprint);
    return status;
}
