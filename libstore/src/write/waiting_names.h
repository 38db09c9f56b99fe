/*
 * waiting_names.h - the names of new records that wait in a deduplication, by id and by name, beside those that its
 * store has. An id has one name. A record without an id gets the smallest id of its name.
 */
#ifndef SS_WAITING_NAMES_H
#define SS_WAITING_NAMES_H

#include "write/id_of_name.h"
#include "write/name_runs.h"

/* An id with its name, whose bytes ids of the same name share. */
typedef struct ss_waiting_name {
    uint64_t id;
    size_t at, size;
} ss_waiting_name;

/* Zeroed at first. */
typedef struct ss_waiting_names {
    size_t used, byte_capacity;
    char *bytes;
    size_t count, capacity;
    ss_waiting_name *entries; /* each id once */
    size_t slot_count;        /* of each hash table: a power of two, at least twice `count`; or 0 */
    uint64_t seed;            /* of the hashes */
    size_t *by_id, *by_name;  /* number of an entry + 1, or 0: nothing. by_name: of the smallest id of each name */
} ss_waiting_names;

/* Forget all names, and free their memory. */
void ss_waiting_names_free(ss_waiting_names *names);

/* Its current size in bytes. It doubles when it is full. */
uint64_t ss_waiting_names_bytes(const ss_waiting_names *names);

/* If a name here has an id below *named, or *named has none, set *named to it. */
void ss_waiting_names_find(const ss_waiting_names *names, const sstore_name *name, ss_named_id *named);

/* ARGUMENT if an id has another name in the cursor's store or here. Errors as sstore_names(). */
sstore_status ss_waiting_names_check(const ss_waiting_names *names, sstore_cursor *cursor, uint64_t id,
                                     const sstore_name *name, sstore_error *error);

/* As sstore_names(), also with the names here. */
sstore_status ss_waiting_names_get(const ss_waiting_names *names, sstore_cursor *cursor, const uint64_t *ids,
                                   size_t count, sstore_name_fn on_name, void *context, sstore_error *error);

/* Make room for a name of `size` bytes, so that the next call of ss_waiting_names_add() cannot fail. MEMORY. */
sstore_status ss_waiting_names_reserve(ss_waiting_names *names, size_t size, sstore_error *error);

/* Add the name of an id, which has none here or this one. */
void ss_waiting_names_add(ss_waiting_names *names, uint64_t id, const sstore_name *name);

/* Add all names to those of a segment. Errors as ss_name_runs_add(). */
sstore_status ss_waiting_names_give(const ss_waiting_names *names, ss_name_runs *runs, sstore_error *error);

#endif
