/*
 * served_store.c - states of a store, counted by their users. A state has one more user while it is the newest one.
 */
#include "serve/served_store.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input/padding.h"
#include "output/messages.h"

struct pooled_cursor {
    pooled_cursor *next; /* of those that wait for a query */
    sstore_cursor *cursor;
};

struct store_state {
    sstore *store;
    sstore_statistics statistics;
    uint64_t generation;
    uint64_t users;
    pooled_cursor *idle; /* cursors that wait for a query */
};

typedef struct folder_id {
    dev_t device;
    ino_t inode;
} folder_id;

struct served_store {
    char *path;
    sstore_open_options options;
    uint32_t bits;              /* of a fingerprint; 0: not yet known */
    folder_id folder;           /* at the path, when the newest state was opened */
    pthread_mutex_t refreshing; /* one refresh at a time */
    pthread_mutex_t lock;       /* of `newest`, and of all states but their stores */
    store_state *newest;
    atomic_uint open_count;
};

/* ----- states ----- */

static void close_state(served_store *served, store_state *state)
{
    for (pooled_cursor *next; state->idle != NULL; state->idle = next) {
        next = state->idle->next;
        sstore_cursor_free(state->idle->cursor);
        free(state->idle);
    }
    sstore_close(state->store);
    free(state);
    atomic_fetch_sub(&served->open_count, 1);
}

static uint32_t bits_of(const sstore_statistics *statistics)
{
    return padding_own_bits(statistics->recipe, statistics->fingerprint_bits / 64);
}

/* Requests that wait were read for the width of the states before. */
static sstore_status check_bits(const served_store *served, const sstore_statistics *statistics, sstore_error *error)
{
    const uint32_t bits = bits_of(statistics);
    if (served->bits == 0 || bits == served->bits)
        return SSTORE_OK;
    *error = (sstore_error){.status = SSTORE_ERROR_UNSUPPORTED, .offset = SSTORE_NO_OFFSET};
    (void)snprintf(error->message, sizeof error->message,
                   "%.512s: its fingerprints have %" PRIu32 " bits, and had %" PRIu32
                   " when the service began; restart the service",
                   served->path, bits, served->bits);
    return error->status;
}

/* Make a state of an open store, which belongs to it from now on, also after a failure. */
static sstore_status make_state(served_store *served, sstore *store, uint64_t generation, store_state **state_out,
                                sstore_error *error)
{
    store_state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        sstore_close(store);
        return error_no_memory(error);
    }
    *state = (store_state){.store = store, .statistics = SSTORE_STATISTICS_INIT, .generation = generation, .users = 1};
    sstore_status status = sstore_stat(store, &state->statistics, error);
    if (status == SSTORE_OK)
        status = check_bits(served, &state->statistics, error);
    if (status != SSTORE_OK) {
        free(state);
        sstore_close(store);
        return status;
    }
    atomic_fetch_add(&served->open_count, 1);
    *state_out = state;
    return SSTORE_OK;
}

/* Take one user from a state. Call this without the lock. */
static void drop_user(served_store *served, store_state *state)
{
    pthread_mutex_lock(&served->lock);
    const bool was_last = --state->users == 0;
    pthread_mutex_unlock(&served->lock);
    if (was_last)
        close_state(served, state);
}

/* ----- opening and closing ----- */

/* The folder at the path, or zeros. It is looked at before a store is opened there: if another folder comes meanwhile,
 * the next refresh sees it. */
static folder_id find_folder(const served_store *served)
{
    struct stat folder;
    if (stat(served->path, &folder) != 0)
        return (folder_id){.inode = 0};
    return (folder_id){.device = folder.st_dev, .inode = folder.st_ino};
}

/* Whether the path leads to another folder than before, or to none. Writers follow it, so readers must follow it. */
static bool is_elsewhere(const served_store *served, folder_id found)
{
    return found.inode == 0 || found.device != served->folder.device || found.inode != served->folder.inode;
}

sstore_status served_store_open(const char *path, const sstore_open_options *options, served_store **served_out,
                                sstore_error *error)
{
    served_store *served = calloc(1, sizeof *served);
    sstore *store;
    *served_out = NULL;
    if (served == NULL || (served->path = strdup(path)) == NULL) {
        free(served);
        return error_no_memory(error);
    }
    pthread_mutex_init(&served->lock, NULL);
    pthread_mutex_init(&served->refreshing, NULL);
    served->options = *options;
    served->folder = find_folder(served);
    sstore_status status = sstore_open(path, options, &store, error);
    if (status == SSTORE_OK)
        status = make_state(served, store, 1, &served->newest, error);
    if (status != SSTORE_OK) {
        served_store_close(served);
        return status;
    }
    served->bits = bits_of(&served->newest->statistics);
    *served_out = served;
    return SSTORE_OK;
}

void served_store_close(served_store *served)
{
    if (served == NULL)
        return;
    if (served->newest != NULL)
        drop_user(served, served->newest);
    pthread_mutex_destroy(&served->lock);
    pthread_mutex_destroy(&served->refreshing);
    free(served->path);
    free(served);
}

/* ----- use ----- */

/* Make a cursor for a state in use. */
static sstore_status make_cursor(const store_state *state, pooled_cursor **cursor_out, sstore_error *error)
{
    pooled_cursor *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    const sstore_status status = sstore_cursor_create(state->store, &made->cursor, error);
    if (status == SSTORE_OK)
        *cursor_out = made;
    else
        free(made);
    return status;
}

sstore_status served_store_acquire(served_store *served, bool with_cursor, store_use *use_out, sstore_error *error)
{
    pthread_mutex_lock(&served->lock);
    store_state *state = served->newest;
    pooled_cursor *pooled = with_cursor ? state->idle : NULL;
    if (pooled != NULL)
        state->idle = pooled->next;
    state->users++;
    pthread_mutex_unlock(&served->lock);
    const sstore_status status = with_cursor && pooled == NULL ? make_cursor(state, &pooled, error) : SSTORE_OK;
    if (status != SSTORE_OK) {
        drop_user(served, state);
        return status;
    }
    *use_out = (store_use){.state = state,
                           .store = state->store,
                           .pooled = pooled,
                           .cursor = pooled != NULL ? pooled->cursor : NULL};
    return SSTORE_OK;
}

void served_store_release(served_store *served, store_use *use)
{
    store_state *state = use->state;
    pthread_mutex_lock(&served->lock);
    if (use->pooled != NULL) {
        use->pooled->next = state->idle;
        state->idle = use->pooled;
    }
    const bool was_last = --state->users == 0;
    pthread_mutex_unlock(&served->lock);
    if (was_last)
        close_state(served, state);
}

/* ----- new states ----- */

static sstore_status open_newest(served_store *served, folder_id folder, sstore_error *error)
{
    /* The newest state is only replaced here, so it stays open. */
    store_state *old = served->newest, *state = NULL;
    sstore *store;
    sstore_status status = is_elsewhere(served, folder) ? sstore_open(served->path, &served->options, &store, error)
                                                        : sstore_reopen(old->store, &store, error);
    if (status == SSTORE_OK)
        status = make_state(served, store, old->generation + 1, &state, error);
    if (status != SSTORE_OK)
        return status;
    served->folder = folder;
    pthread_mutex_lock(&served->lock);
    served->newest = state;
    pthread_mutex_unlock(&served->lock);
    drop_user(served, old);
    return SSTORE_OK;
}

sstore_status served_store_refresh(served_store *served, sstore_error *error)
{
    pthread_mutex_lock(&served->refreshing);
    const folder_id folder = find_folder(served);
    const sstore_status status = !is_elsewhere(served, folder) && sstore_is_newest(served->newest->store)
                                     ? SSTORE_OK
                                     : open_newest(served, folder, error);
    pthread_mutex_unlock(&served->refreshing);
    return status;
}

/* ----- properties ----- */

const char *served_store_path(const served_store *served)
{
    return served->path;
}

uint32_t served_store_bits(const served_store *served)
{
    return served->bits;
}

const sstore_statistics *store_use_statistics(const store_use *use)
{
    return &use->state->statistics;
}

uint64_t store_use_generation(const store_use *use)
{
    return use->state->generation;
}

uint32_t served_store_open_count(const served_store *served)
{
    return atomic_load(&served->open_count);
}
