#include "join/row_walk.h"

#include "base/words.h"

/* ----- numbers ----- */

uint64_t ss_max_row_number(const sstore *store)
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

static sstore_status next_record(ss_row_walk *walk, sstore_error *error)
{
    return ss_merge_iterator_next(&walk->records, &walk->next, &walk->more, error);
}

sstore_status ss_row_walk_open(ss_row_walk *walk, const sstore *store, bool has_ids, sstore_error *error)
{
    *walk = (ss_row_walk){.words = store->manifest.words};
    ss_merge_iterator_init(&walk->records, walk->words, has_ids);
    sstore_status status = ss_merge_iterator_add(&walk->records, store, 0, store->manifest.segment_count, error);
    if (status == SSTORE_OK && ss_only_segment(store) == NULL)
        status = sstore_cursor_create(store, &walk->cursor, error);
    if (status == SSTORE_OK)
        status = ss_merge_iterator_rewind(&walk->records, error);
    return status == SSTORE_OK ? next_record(walk, error) : status;
}

void ss_row_walk_close(ss_row_walk *walk)
{
    ss_merge_iterator_close(&walk->records);
    sstore_cursor_free(walk->cursor);
    walk->cursor = NULL;
}

bool ss_row_walk_at(const ss_row_walk *walk, const uint64_t *fingerprint)
{
    return walk->more && ss_words_equal(ss_row_walk_fingerprint(walk), fingerprint, walk->words);
}

sstore_status ss_row_walk_number(ss_row_walk *walk, uint64_t *number_out, sstore_error *error)
{
    *number_out = walk->passed;
    return walk->cursor == NULL ? SSTORE_OK
                                : ss_row_number(walk->cursor, ss_row_walk_fingerprint(walk), number_out, error);
}

sstore_status ss_row_walk_step(ss_row_walk *walk, const uint64_t *fingerprint, sstore_error *error)
{
    const sstore_status status = next_record(walk, error);
    walk->passed += !ss_row_walk_at(walk, fingerprint);
    return status;
}
