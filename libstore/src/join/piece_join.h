/*
 * piece_join.h - the pieces of a sorter, cut into groups that are equal in their leading bits, each joined: on several
 * threads, a piece at a time.
 *
 * A group may go on from piece to piece. Pieces pass in their order what may go on in the next one, so each group is
 * seen whole by one thread. One with more items than `group_capacity` is not held: its pieces are noted, and when all
 * others are done they are left to the caller, or joined chunk against chunk, by all threads.
 * A spanning join first reads such a group once: if most of it is near one value, or known to be connected with it, the
 * rest is joined with each chunk, and nothing is left.
 *
 * Items are fingerprints, or records of a fingerprint and its side, SS_LEFT or SS_RIGHT. Permuted so that the leading
 * bits are those of a block.
 */
#ifndef SS_PIECE_JOIN_H
#define SS_PIECE_JOIN_H

#include "join/edge_filter.h"
#include "join/table_join.h"
#include "plan/plan.h"
#include "sort/sorter.h"

typedef enum ss_join_kind { SS_JOIN_SELF, SS_JOIN_CROSS, SS_JOIN_SPANNING } ss_join_kind;

enum { SS_LEFT, SS_RIGHT };

typedef struct ss_join_worker ss_join_worker;

/* What all blocks have in common. */
typedef struct ss_join_team {
    ss_join_kind kind;
    const ss_join_options *options;
    uint32_t threads;
    size_t item_bytes;
    size_t piece_capacity; /* items of the largest piece */
    size_t group_capacity; /* items of a group that one thread joins: at least two pieces */
    size_t edge_capacity;  /* fingerprints that an edge filter remembers; read for SS_JOIN_SPANNING alone */
    bool shares_edges;     /* one filter for all fingerprints; else each worker has one, for some groups at a time */
    ss_join_worker *workers;
    void *held; /* group_capacity items: the group that may go on in the next piece */
} ss_join_team;

/* The bytes that a team takes for each item of its piece capacity, where a group has SS_GROUP_PIECES times as many. Of
 * the team, the fields `threads` and `item_bytes` are read. */
#define SS_GROUP_PIECES 4u
uint64_t ss_join_team_bytes(const ss_join_team *team);
/* Those of its edge filters, all in all. */
uint64_t ss_join_team_edge_bytes(const ss_join_team *team);

/* Get the memory; the fields above `workers` are set. MEMORY. */
sstore_status ss_join_team_open(ss_join_team *team, sstore_error *error);
/* Also of one that could not be opened, or is zeroed. */
void ss_join_team_close(ss_join_team *team);
/* Room for piece_capacity items, to seal a sorter with. */
void *ss_join_team_buffer(const ss_join_team *team);

/* One block. */
typedef struct ss_join_block {
    ss_permutation permutation;
    uint32_t prefix_bits; /* that a group is equal in */
    uint32_t except_count;
    uint64_t except[SS_GROUP_MAX_EXCEPT]; /* permuted masks of the blocks before: see ss_group_join_except() */
} ss_join_block;

/* A group too large to be held. */
typedef struct ss_large_group {
    uint64_t prefix, varying; /* permuted: what its items have in common, and the bits in which any of them differ */
    uint64_t count;
    size_t first_piece, end_piece;
} ss_large_group;

/* They grow; zeroed is none. Their array is to be freed with ss_free(). */
typedef struct ss_large_groups {
    ss_large_group *groups;
    size_t count, capacity;
} ss_large_groups;

/* Join all groups of a sealed sorter. The progress's phase has begun; all items count. Large groups that can be divided
 * further are left to the caller, in *large_out, unless that is NULL: then all are joined here, chunk against chunk, which
 * takes quadratic time in the number of chunks. IO, MEMORY, STOPPED. */
sstore_status ss_join_pieces(ss_join_team *team, const ss_join_block *block, ss_sorter *sorter,
                             ss_large_groups *large_out, sstore_error *error);

#endif
