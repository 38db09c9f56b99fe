/*
 * store_cache.c - a list of open stores, the most recently used one first.
 */
#include "sqlite/store_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Unused stores that stay open. Each takes memory and file descriptors. */
#define MAX_IDLE 16u

typedef struct entry {
    cached_store public; /* first: callers hold a pointer to it */
    struct entry *next;
    char *path;
    dev_t device; /* of the store's folder, with its inode: another folder may take its path */
    ino_t inode;
    size_t use_count;
    bool is_old; /* a newer entry has its path */
} entry;

struct store_cache {
    entry *first;
};

store_cache *store_cache_create(void)
{
    return calloc(1, sizeof(store_cache));
}

static void free_entry(entry *cell)
{
    sstore_cursor_free(cell->public.cursor);
    sstore_close(cell->public.store);
    free(cell->path);
    free(cell);
}

void store_cache_free(store_cache *cache)
{
    while (cache != NULL && cache->first != NULL) {
        entry *next = cache->first->next;
        free_entry(cache->first);
        cache->first = next;
    }
    free(cache);
}

/* Close old states and the longest unused stores. */
static void close_idle(store_cache *cache)
{
    size_t idle = 0;
    for (entry **link = &cache->first; *link != NULL;) {
        entry *at = *link;
        idle += at->use_count == 0;
        if (at->use_count > 0 || (!at->is_old && idle <= MAX_IDLE)) {
            link = &at->next;
            continue;
        }
        *link = at->next;
        free_entry(at);
    }
}

/* Take the newest entry of a path out of the list. NULL: there is none. */
static entry *take_entry(store_cache *cache, const char *path)
{
    for (entry **link = &cache->first; *link != NULL; link = &(*link)->next) {
        entry *found = *link;
        if (!found->is_old && strcmp(found->path, path) == 0) {
            *link = found->next;
            return found;
        }
    }
    return NULL;
}

static void put_first(store_cache *cache, entry *to_put)
{
    to_put->next = cache->first;
    cache->first = to_put;
}

static sstore_status out_of_memory(sstore_error *error)
{
    *error = (sstore_error){.status = SSTORE_ERROR_MEMORY, .offset = SSTORE_NO_OFFSET};
    snprintf(error->message, sizeof error->message, "out of memory");
    return SSTORE_ERROR_MEMORY;
}

/* Open the state that follows `earlier`, or the store at the path if that is NULL. */
static sstore_status open_entry(const char *path, const sstore *earlier, entry **entry_out, sstore_error *error)
{
    struct stat folder;
    entry *made = calloc(1, sizeof *made);
    sstore_status status = made != NULL && (made->path = strdup(path)) != NULL ? SSTORE_OK : out_of_memory(error);
    /* Before it is opened: if the folder is replaced in between, the next call opens the other one. */
    if (status == SSTORE_OK && stat(path, &folder) == 0) {
        made->device = folder.st_dev;
        made->inode = folder.st_ino;
    }
    if (status == SSTORE_OK)
        status = earlier != NULL ? sstore_reopen(earlier, &made->public.store, error)
                                 : sstore_open(path, NULL, &made->public.store, error);
    if (status == SSTORE_OK) {
        made->public.metadata.struct_size = sizeof made->public.metadata;
        status = sstore_stat(made->public.store, &made->public.metadata, error);
    }
    if (status == SSTORE_OK)
        status = sstore_cursor_create(made->public.store, &made->public.cursor, error);
    if (status != SSTORE_OK && made != NULL)
        free_entry(made);
    *entry_out = status == SSTORE_OK ? made : NULL;
    return status;
}

static bool is_at_path(const entry *cell)
{
    struct stat folder;
    return stat(cell->path, &folder) == 0 && folder.st_dev == cell->device && folder.st_ino == cell->inode;
}

sstore_status store_cache_acquire(store_cache *cache, const char *path, cached_store **store_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    entry *newest = take_entry(cache, path), *earlier = newest;
    const sstore *known = earlier != NULL && is_at_path(earlier) ? earlier->public.store : NULL;
    if (known == NULL || !sstore_is_newest(known)) {
        status = open_entry(path, known, &newest, error);
        if (earlier != NULL) {
            earlier->is_old = true;
            put_first(cache, earlier);
        }
    }
    *store_out = NULL;
    if (status == SSTORE_OK) {
        put_first(cache, newest);
        newest->use_count++;
        *store_out = &newest->public;
    }
    close_idle(cache);
    return status;
}

void store_cache_release(store_cache *cache, cached_store *store)
{
    if (store == NULL)
        return;
    ((entry *)store)->use_count--;
    close_idle(cache);
}
