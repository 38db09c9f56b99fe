/*
 * store_cache.h - the open stores of one database connection, found by their paths. Each is opened once, and again when
 * a newer state of it was published, or another store has taken its path.
 *
 * A cache belongs to one thread at a time.
 */
#ifndef STORE_CACHE_H
#define STORE_CACHE_H

#include "sstore.h"
#include "sstore_statistics.h"

typedef struct store_cache store_cache;

/* One state of a store. */
typedef struct cached_store {
    sstore *store;
    sstore_cursor *cursor;
    sstore_statistics metadata;
} cached_store;

/* NULL: out of memory. */
store_cache *store_cache_create(void);

/* Close all stores. None may be in use. */
void store_cache_free(store_cache *cache);

/* Get the newest state of the store at `path`, to be given back with store_cache_release(). Errors: as
 * sstore_open(). */
sstore_status store_cache_acquire(store_cache *cache, const char *path, cached_store **store_out, sstore_error *error);

/* `store` may be NULL. */
void store_cache_release(store_cache *cache, cached_store *store);

#endif
