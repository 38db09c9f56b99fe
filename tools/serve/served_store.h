/*
 * served_store.h - a store that many threads query while its newest state replaces older ones. A state is closed after
 * its last query.
 */
#ifndef SERVED_STORE_H
#define SERVED_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "sstore.h"
#include "sstore_statistics.h"

typedef struct served_store served_store;

/* A state of the store in use by one thread. */
typedef struct store_state store_state;
typedef struct pooled_cursor pooled_cursor;
typedef struct store_use {
    store_state *state;
    const sstore *store;
    pooled_cursor *pooled;
    sstore_cursor *cursor; /* NULL if none was wanted */
} store_use;

/* Open the store at `path`, which is copied; what the options point to must stay. Close it with
 * served_store_close(). */
sstore_status served_store_open(const char *path, const sstore_open_options *options, served_store **served_out,
                                sstore_error *error);
/* No state may be in use. */
void served_store_close(served_store *served);

/* Use the newest state that was opened, perhaps with a cursor, until served_store_release(). Any thread may call this.
 * Fails only if a cursor cannot be made; nothing is to be released then. */
sstore_status served_store_acquire(served_store *served, bool with_cursor, store_use *use_out, sstore_error *error);
void served_store_release(served_store *served, store_use *use);

/* Open the newest state, if another one was published, or if the path leads to another store. After a failure the old
 * one stays in use. It is a failure if the bits of a fingerprint are not as many as before. Any thread may call
 * this. */
sstore_status served_store_refresh(served_store *served, sstore_error *error);

const char *served_store_path(const served_store *served);

/* The bits of a fingerprint, which no refresh changes; without those that --pad fills up. */
uint32_t served_store_bits(const served_store *served);

/* The statistics of the state in use, and its number: 1 for the first one. */
const sstore_statistics *store_use_statistics(const store_use *use);
uint64_t store_use_generation(const store_use *use);

/* How many states are open: one, and those whose last queries are still running. */
uint32_t served_store_open_count(const served_store *served);

#endif
