/* open.c - opens stores to query them. */
#include "base/error.h"
#include "read/cursor.h"

sstore_status sstore_open(const char *path, const sstore_open_options *options, sstore **store_out, sstore_error *error)
{
    ss_opening how = {.path = path, .options = SSTORE_OPEN_OPTIONS_INIT, .cursor_bytes = ss_cursor_bytes};
    if (store_out != NULL)
        *store_out = NULL;
    if (path == NULL || store_out == NULL)
        return ss_fail_argument(error, "sstore_open: path and store_out must not be NULL");
    const sstore_status status = ss_take_options(&how.options, sizeof how.options, options, SS_OPEN_OPTIONS_SIZE_1,
                                                 error);
    if (status != SSTORE_OK)
        return status;
    if (how.options.io > SSTORE_IO_MEMORY || how.options.strategy > SSTORE_STRATEGY_FULL_SCAN)
        return ss_fail_argument(error, "sstore_open: the read mode or the strategy is out of range");
    how.recipe = how.options.recipe;
    return ss_store_open(&how, store_out, error);
}

sstore_status sstore_reopen(const sstore *store, sstore **store_out, sstore_error *error)
{
    if (store_out != NULL)
        *store_out = NULL;
    if (store == NULL || store_out == NULL)
        return ss_fail_argument(error, "sstore_reopen: store and store_out must not be NULL");
    const ss_opening how = {.dir = &store->dir,
                            .other = store,
                            .recipe = store->manifest.recipe,
                            .options = store->options,
                            .records_only = store->records_only,
                            .without_words = store->without_words,
                            .cursor_bytes = ss_cursor_bytes};
    return ss_store_open(&how, store_out, error);
}
