/*
 * match_list.h - the matches of one query, kept to be sorted.
 */
#ifndef MATCH_LIST_H
#define MATCH_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "sstore.h"

typedef struct match_list {
    sstore_match *items;
    size_t count, capacity;
} match_list;

/* Append a copy. False: no memory; the list is as it was. */
bool match_list_add(match_list *list, const sstore_match *match);

/* Sort ascending by distance, fingerprint, id. */
void match_list_sort(match_list *list);

void match_list_free(match_list *list);

#endif
