/*
 * piece_join.h - joins the groups of items in a sorter that are equal in their leading bits, a piece at a time, on
 * several threads.
 *
 * A group may continue from piece to piece. In the order of the pieces, the items of the last group are carried into
 * the next piece, so one thread gets each group completely. A group of more than `group_capacity` items is not carried:
 * its pieces are noted, and after all other groups it is left to the caller, or joined chunk against chunk by all
 * threads. A spanning join first reads such a group once: if most of it is near one value, or known to be connected
 * with it, the other values are joined with each chunk, and the group is done.
 *
 * Items are fingerprints, or for SS_JOIN_CROSS records of a fingerprint and its side, SS_LEFT or SS_RIGHT. They are
 * permuted so that the bits of a bit group come first.
 */
#ifndef SS_PIECE_JOIN_H
#define SS_PIECE_JOIN_H

#include "base/file.h"
#include "base/tasks.h"
#include "join/group_join.h"
#include "plan/plan.h"
#include "sort/sorter.h"

enum { SS_LEFT, SS_RIGHT };

/* Takes pairs, at most SS_GROUP_PAIRS. `worker` is below ss_pool_threads(threads), and no two calls at once have the
 * same. Any status but OK ends the join, which returns it. */
typedef sstore_status (*ss_join_pairs_fn)(void *context, uint32_t worker, const ss_fingerprint_pair *pairs,
                                          size_t count, sstore_error *error);

typedef struct ss_join_options {
    uint32_t distance;     /* k, 0 to 16 */
    uint32_t threads;      /* 0: all available ones */
    uint64_t memory_bytes; /* beside the process; enforced from 58 MiB up. With little memory fewer threads work */
    const ss_dir *tmp_dir; /* for spilled items; borrowed */
    ss_progress *progress; /* advances from its end_fraction to this one */
    double end_fraction;
    ss_join_pairs_fn on_pairs;
    void *context;
} ss_join_options;

typedef struct ss_join_worker ss_join_worker;

/* The threads that join all bit groups, and their memory. */
typedef struct ss_join_team {
    ss_join_kind kind;
    const ss_join_options *options;
    uint32_t threads;
    size_t item_bytes;
    size_t piece_capacity; /* items of the largest piece */
    size_t group_capacity; /* items of a group that one thread joins: at least two pieces */
    size_t edge_capacity;  /* fingerprints that an edge filter remembers; for SS_JOIN_SPANNING alone */
    bool shares_edges;     /* one filter for all fingerprints; else each worker has one, for some groups at a time */
    uint64_t bytes;        /* of the team, about */
    ss_join_worker *workers;
    void *carried; /* group_capacity items: the group that may continue in the next piece */
} ss_join_team;

/* The bytes that a team takes for each item of its piece capacity, if a group has SS_GROUP_PIECES times as many. */
#define SS_GROUP_PIECES 4u
static inline uint64_t ss_join_team_item_bytes(uint32_t threads, size_t item_bytes)
{
    return threads * (item_bytes + 2 * SS_GROUP_PIECES * sizeof(uint64_t)) + SS_GROUP_PIECES * item_bytes;
}

/* Allocate the memory; the caller has set the fields above `workers`. MEMORY. */
sstore_status ss_join_team_open(ss_join_team *team, sstore_error *error);
/* A zeroed team, and one that could not be opened, are allowed. */
void ss_join_team_close(ss_join_team *team);

typedef struct ss_join_bit_group {
    ss_permutation permutation;
    uint32_t prefix_bits; /* that the items of a group are equal in */
    uint32_t except_count;
    uint64_t except[SS_GROUP_MAX_EXCEPT]; /* permuted masks for ss_group_join_except() */
} ss_join_bit_group;

/* A group of items, permuted. */
typedef struct ss_item_group {
    uint64_t prefix;
    uint64_t first, varying; /* an item, and the bits in which any item differs from it */
    uint64_t count;
    size_t first_piece, end_piece;
} ss_item_group;

/* Groups with more items than group_capacity. Begins zeroed; free `groups` with ss_free(). */
typedef struct ss_large_groups {
    ss_item_group *groups;
    size_t count, capacity;
} ss_large_groups;

/* Join all groups of a finished sorter. The progress's phase has begun; all items count. If `divides`, large groups
 * that can be divided further are left in *large, which is zeroed before. If not, they are joined chunk against chunk,
 * which takes quadratic time in the number of chunks. IO, MEMORY, STOPPED. */
sstore_status ss_join_pieces(ss_join_team *team, const ss_join_bit_group *bit_group, ss_sorter *sorter, bool divides,
                             ss_large_groups *large, sstore_error *error);

#endif
