/*
 * stored_names.h - the names of a store's ids, in the form in which they are printed: in text a name takes the place of
 * its id, escaped; an object of JSON has both, the name as it is.
 *
 * A name that is not UTF-8 cannot stand in JSON; then it is as in text, and its key says so.
 */
#ifndef STORED_NAMES_H
#define STORED_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sstore_statistics.h"

/* A name, which a 0 follows; or no text. */
typedef struct printed_name {
    const char *text;
    size_t length;
    bool is_escaped;
} printed_name;

static inline bool name_equal(const sstore_name *a, const sstore_name *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* Write a name as text has it: escaped by sstore_escape() with doubled backslashes, and its first character too where a
 * line with a name would mean something else, '#' or a sole '-'. `to` has room for 4 * size + 1. Returns its length. */
size_t name_escape(const char *bytes, size_t size, char *to);

/* A name in the form in which it is printed, in text or in JSON. `to` has room for 4 * size + 1. */
printed_name name_form(const sstore_name *name, bool json, char *to);

/* Where it is among the names that were looked up together. */
typedef struct name_place {
    size_t at, length;
    bool is_found, is_escaped;
} name_place;

/* Begins zeroed, and ends with stored_names_close(), before its store is closed. */
typedef struct stored_names {
    const char *path; /* of the store, for messages */
    sstore_cursor *cursor;
    sstore_dedup *dedup; /* in place of the cursor: its store, and the records that wait there */
    bool escapes;        /* all names: they are printed as text */
    uint64_t *ids;       /* that were looked up together */
    name_place *places;  /* of their names */
    size_t count, next;  /* next: the id that is probably wanted next */
    size_t id_capacity, place_capacity;
    char *texts;
    size_t text_bytes, text_capacity;
    int code; /* EXIT_DONE, or why a name was not found */
} stored_names;

/* Find names of this store from now on: *names_out is `self`, or NULL if it has none. Returns an exit code. */
int stored_names_open(stored_names *self, const sstore *store, const char *path, bool json, stored_names **names_out);
/* As before, with the store of a deduplication, and with the records that wait there. */
void stored_names_open_dedup(stored_names *self, sstore_dedup *dedup, const char *path, bool json);
void stored_names_close(stored_names *self);

/* Look up the names of some ids together, which takes less time for each. If `self` is NULL, do nothing. */
void stored_names_expect(stored_names *self, const uint64_t *ids, size_t count);

/* The name of an id, valid until others are looked up. Without a text: there is none, which has been reported, and
 * printing must stop. */
printed_name stored_names_find(stored_names *self, uint64_t id);

/* The exit code of a command that has ended with `code`: if it stopped since a name was not found, that of this. */
int stored_names_exit_code(const stored_names *self, int code);

#endif
