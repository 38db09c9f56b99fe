#include "base/iterator.h"

#include "base/error.h"

/* The columns that the caller wants, as a mask. */
static unsigned wanted(const sstore_columns *columns)
{
    return (columns->fingerprint != NULL ? SS_COLUMN_FINGERPRINT : 0u) | (columns->id != NULL ? SS_COLUMN_ID : 0u) |
           (columns->distance != NULL ? SS_COLUMN_DISTANCE : 0u) |
           (columns->query_index != NULL ? SS_COLUMN_QUERY_INDEX : 0u) |
           (columns->other_fingerprint != NULL || columns->other_id != NULL ? SS_COLUMN_OTHERS : 0u) |
           (columns->cluster != NULL || columns->cluster_size != NULL || columns->is_representative != NULL
                ? SS_COLUMN_CLUSTERS
                : 0u);
}

sstore_status ss_take_columns(sstore_columns *to, const sstore_columns *from, unsigned allowed, sstore_error *error)
{
    *to = (sstore_columns)SSTORE_COLUMNS_INIT;
    const sstore_status status = ss_take_options(to, sizeof *to, from, SS_COLUMNS_SIZE_1, error);
    if (status == SSTORE_OK && (wanted(to) & ~allowed) != 0)
        return ss_fail_argument(error, "an array is set in the columns that these results do not have");
    return status;
}

sstore_status ss_iterator_give(sstore_iterator *iterator, sstore_status status, sstore_iterator **iterator_out)
{
    if (status == SSTORE_OK)
        *iterator_out = iterator;
    else
        sstore_iterator_free(iterator);
    return status;
}

sstore_status sstore_iterator_next(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity,
                                   size_t *count_out, sstore_error *error)
{
    sstore_columns to;
    const bool is_usable = iterator != NULL && iterator->status == SSTORE_OK;
    if (!ss_check_next("sstore_iterator_next", is_usable, capacity, count_out, error) || !is_usable)
        return SSTORE_ERROR_ARGUMENT;
    const sstore_status status = ss_take_columns(&to, columns, iterator->methods->columns, error);
    if (status != SSTORE_OK)
        return status;
    iterator->status = iterator->methods->fill(iterator, &to, capacity, count_out, error);
    return iterator->status;
}

void sstore_iterator_free(sstore_iterator *iterator)
{
    if (iterator != NULL)
        iterator->methods->free(iterator);
}
