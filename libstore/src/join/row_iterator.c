#include "join/row_iterator.h"

#include "base/words.h"

/* ----- numbers ----- */

uint64_t ss_row_number_max(const sstore *store)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++)
        sum += store->segments[i]->metadata.distinct_count;
    return sum;
}

sstore_status ss_row_number(sstore_cursor *cursor, const uint64_t *fingerprint, uint64_t *number_out,
                            sstore_error *error)
{
    const sstore *store = cursor->store;
    sstore_status status = SSTORE_OK;
    *number_out = 0;
    ss_cursor_renew(cursor);
    for (uint32_t i = 0; status == SSTORE_OK && i < store->manifest.segment_count; i++) {
        uint64_t below = 0;
        status = ss_count_rows_below(store->segments[i], fingerprint, &cursor->slots[i % SS_HITS_TOGETHER], &below,
                                     error);
        *number_out += below;
    }
    return status;
}

/* ----- records ----- */

static sstore_status next_record(ss_row_iterator *iterator, sstore_error *error)
{
    return ss_merge_iterator_next(&iterator->records, &iterator->next, &iterator->more, error);
}

sstore_status ss_row_iterator_open(ss_row_iterator *iterator, const sstore *store, bool has_ids, sstore_error *error)
{
    *iterator = (ss_row_iterator){.words = store->manifest.words};
    ss_merge_iterator_init(&iterator->records, iterator->words, has_ids);
    sstore_status status = ss_merge_iterator_add(&iterator->records, store, 0, store->manifest.segment_count, error);
    if (status == SSTORE_OK && ss_only_segment(store) == NULL)
        status = sstore_cursor_create(store, &iterator->cursor, error);
    if (status == SSTORE_OK)
        status = ss_merge_iterator_rewind(&iterator->records, error);
    return status == SSTORE_OK ? next_record(iterator, error) : status;
}

void ss_row_iterator_close(ss_row_iterator *iterator)
{
    ss_merge_iterator_close(&iterator->records);
    sstore_cursor_free(iterator->cursor);
    iterator->cursor = NULL;
}

bool ss_row_iterator_at(const ss_row_iterator *iterator, const uint64_t *fingerprint)
{
    return iterator->more && ss_words_equal(ss_row_iterator_fingerprint(iterator), fingerprint, iterator->words);
}

sstore_status ss_row_iterator_number(ss_row_iterator *iterator, uint64_t *number_out, sstore_error *error)
{
    *number_out = iterator->passed;
    return iterator->cursor == NULL
               ? SSTORE_OK
               : ss_row_number(iterator->cursor, ss_row_iterator_fingerprint(iterator), number_out, error);
}

sstore_status ss_row_iterator_next(ss_row_iterator *iterator, const uint64_t *fingerprint, sstore_error *error)
{
    const sstore_status status = next_record(iterator, error);
    iterator->passed += !ss_row_iterator_at(iterator, fingerprint);
    return status;
}
