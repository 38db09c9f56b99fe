/*
 * row_balls.h - connects fingerprints of several words that have very many near ones, without a query for each.
 *
 * Let k be the distance of the join, and r at most k. All fingerprints within k of a centre are connected with it. Let
 * those within r be the members. Whatever is near a member is within k + r of the centre, by the triangle inequality.
 * So one pass over all fingerprints connects those within k with the centre, and another one compares those from k + 1
 * to k + r, the ring, with the members, each until one is near it or it is known to be connected. Then all members are
 * done. The time is that of a few passes, if the ring has few fingerprints that are not connected; r is chosen so that
 * it pays.
 */
#ifndef SS_ROW_BALLS_H
#define SS_ROW_BALLS_H

#include "join/row_graph.h"

/* About how many fingerprints are compared in the time that a query takes for a match. */
#define SS_TESTS_A_MATCH 64u

typedef struct ss_row_balls_worker ss_row_balls_worker;

typedef struct ss_row_balls {
    ss_row_graph *graph; /* borrowed */
    uint64_t row_count;  /* of the fingerprints that a pass compares */
    size_t capacity;     /* of the members */
    uint64_t *rows, *numbers;
    uint16_t *distances; /* from the centre */
    size_t member_count; /* of the current centre; also counts those that do not fit */
    ss_row_balls_worker *workers;
    const uint64_t *centre;
    uint64_t centre_number;
    uint32_t segment, radius; /* of the pass; radius UINT32_MAX: it is the first one */
} ss_row_balls;

/* Takes about `bytes`. Close it also after a failure; a zeroed one is allowed. MEMORY. */
sstore_status ss_row_balls_open(ss_row_balls *balls, ss_row_graph *graph, uint64_t bytes, sstore_error *error);
void ss_row_balls_close(ss_row_balls *balls);

/* Connect a fingerprint of the store with all near ones; it is done then. So are others near it, if that pays. IO,
 * DAMAGED, MEMORY, STOPPED. */
sstore_status ss_row_balls_connect(ss_row_balls *balls, const uint64_t *centre, uint64_t number, sstore_error *error);

#endif
