/*
 * match_order.h - the order in which the matches of a query are reported where they are sorted.
 */
#ifndef SS_MATCH_ORDER_H
#define SS_MATCH_ORDER_H

#include "base/common.h"

/* Ascending by (distance, fingerprint, id), for qsort(). */
static inline int ss_compare_matches(const void *left, const void *right)
{
    const sstore_match *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->fingerprint != b->fingerprint)
        return a->fingerprint < b->fingerprint ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

#endif
