#include "base/iterator.h"

#include "base/error.h"

sstore_status ss_take_columns(sstore_columns *to, const sstore_columns *from, unsigned allowed, sstore_error *error)
{
    *to = (sstore_columns)SSTORE_COLUMNS_INIT;
    const sstore_status status = ss_take_options(to, sizeof *to, from, SS_COLUMNS_SIZE_1, error);
    const struct {
        const char *name;
        const void *array;
        unsigned column;
    } arrays[] = {{"fingerprint", to->fingerprint, SS_COLUMN_FINGERPRINT},
                  {"id", to->id, SS_COLUMN_ID},
                  {"distance", to->distance, SS_COLUMN_DISTANCE},
                  {"query_index", to->query_index, SS_COLUMN_QUERY_INDEX},
                  {"other_fingerprint", to->other_fingerprint, SS_COLUMN_OTHER_FINGERPRINT},
                  {"other_id", to->other_id, SS_COLUMN_OTHER_ID},
                  {"cluster", to->cluster, SS_COLUMN_CLUSTERS},
                  {"cluster_size", to->cluster_size, SS_COLUMN_CLUSTERS},
                  {"is_representative", to->is_representative, SS_COLUMN_CLUSTERS}};
    for (size_t i = 0; status == SSTORE_OK && i < sizeof arrays / sizeof *arrays; i++)
        if (arrays[i].array != NULL && (arrays[i].column & ~allowed) != 0)
            return ss_fail_argument(error, "`%s` is set in the columns, but these results do not have it",
                                    arrays[i].name);
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
