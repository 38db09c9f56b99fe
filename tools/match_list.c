/*
 * match_list.c - the matches of one query, kept to be sorted.
 */
#include "match_list.h"

#include <stdlib.h>

bool match_list_add(match_list *list, const sstore_match *match)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 256 : 2 * list->capacity;
        sstore_match *items = reallocarray(list->items, capacity, sizeof *items);
        if (items == NULL)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *match;
    return true;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_matches(const void *left, const void *right)
{
    const sstore_match *a = left, *b = right;
    int order = compare(a->distance, b->distance);
    if (order == 0)
        order = compare(a->fingerprint, b->fingerprint);
    return order != 0 ? order : compare(a->id, b->id);
}

void match_list_sort(match_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof list->items[0], compare_matches);
}

void match_list_free(match_list *list)
{
    free(list->items);
    *list = (match_list){0};
}
