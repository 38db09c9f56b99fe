/*
 * group_join.h - all pairs within a Hamming distance among values in memory, of one set or of two, or only pairs that
 * connect the same values as all pairs. For one thread.
 *
 * Few values are all compared with each other. Many are divided by the pigeonhole principle: the bits in which they
 * vary form k + 1 parts, so two values within k are equal in at least one part. For each part the values are sorted
 * into runs that are equal in it, and each run is joined in the same way by the bits that still vary. A pair counts in
 * the first part in which it is equal, at every level, so it is found once. Bits are distributed to the parts by how
 * evenly they divide a sample. So every part divides the values, even if some bits are skewed or nearly constant.
 *
 * A spanning join connects by a breadth-first search first, as long as each value reaches at least 1/16 of those that
 * are left: so a set in which everything is near is not quadratic. It also leaves out sets that are mostly connected
 * already, but for the few values apart.
 *
 *   join(set):
 *       if a spanning join knows that most of the set is connected, connect the rest with it, and end
 *       if a spanning join, search; the set becomes the values that were not searched from
 *       if dividing costs less than comparing, for each part: sort by it, and join its runs
 *       else compare all values, or for a spanning join, search to the end once there are many pairs
 *
 * A join allocates nothing. The recursion ends at SS_GROUP_MAX_DEPTH, or if comparing all values is expected to take
 * less.
 */
#ifndef SS_GROUP_JOIN_H
#define SS_GROUP_JOIN_H

#include "base/common.h"
#include "codec/kernels.h"

#define SS_GROUP_PAIRS 1024u /* the maximum that is delivered at once */
#define SS_GROUP_TILE 2048u  /* values compared at once; they fit into the L1 cache */
#define SS_GROUP_MAX_DEPTH 8u
#define SS_GROUP_MAX_PARTS 17u                        /* k + 1, for the largest k */
#define SS_GROUP_PART_BITS 12u                        /* that values are partitioned by at once, at most */
#define SS_GROUP_MAX_EXCEPT (SS_GROUP_MAX_PARTS * 4u) /* of the caller's masks */
#define SS_GROUP_MAX_MASKS (SS_GROUP_MAX_PARTS * SS_GROUP_MAX_DEPTH + SS_GROUP_MAX_EXCEPT)

/*
 * The kinds of joins. Values are distinct within a set.
 *   self      each pair of two different values once, in any order
 *   cross     each pair (left, right) once; a value that is in both sets has the distance 0 from itself
 *   spanning  pairs that connect whatever the pairs of a self-join connect: at most ten times as many as values if they
 *             are compared each with each, (k + 1) times that for each level of the recursion; repeats are possible
 */
typedef enum ss_join_kind { SS_JOIN_SELF, SS_JOIN_CROSS, SS_JOIN_SPANNING } ss_join_kind;

typedef struct ss_fingerprint_pair {
    uint64_t first, second;
} ss_fingerprint_pair;

/* Takes pairs. It is sometimes called without pairs, so that long work can be stopped. Any status but OK ends the join,
 * which returns it. */
typedef sstore_status (*ss_group_pairs_fn)(void *context, const ss_fingerprint_pair *pairs, size_t count,
                                           sstore_error *error);

/* Find the values that are not known to be connected with the others. The others are all connected by pairs that were
 * delivered, or are about to be by another thread of the same join. Sets the indexes in `apart`, ascending, and returns
 * their number; more than `max` if there are more. */
typedef size_t (*ss_group_apart_fn)(void *context, const uint64_t *values, size_t count, uint32_t *apart, size_t max);

/* The state of one thread's joins; some 53 KiB, so it is for the heap. */
typedef struct ss_group_join {
    uint32_t distance;
    const ss_kernels *kernels;
    const ss_join_kernels *join_kernels;
    ss_group_pairs_fn on_pairs;
    ss_group_apart_fn find_apart; /* for spanning joins; the caller may set it. NULL: nothing is known */
    void *context;                /* of both */
    sstore_status status;         /* the first one that was not OK; it ends the work */
    sstore_error *error;          /* of the current call */
    uint64_t *scratch;            /* borrowed; as many values as the larger set has */
    uint64_t tests;               /* pairs compared so far, for tests of how much work is done */
    uint64_t tests_at_flush;
    uint64_t found;                     /* pairs so far */
    uint64_t masks[SS_GROUP_MAX_MASKS]; /* a pair that is equal under one of them was found elsewhere */
    uint32_t mask_count;
    uint32_t pair_count;
    ss_fingerprint_pair pairs[SS_GROUP_PAIRS];
    ss_folded row, tile; /* the values that are compared with a tile, and the tile */
    uint32_t row_words[2][SS_PAIR_LANES], tile_words[2][SS_GROUP_TILE + SS_PAIR_PADDING];
    uint32_t hits[SS_GROUP_TILE];
    uint32_t ends[1u << SS_GROUP_PART_BITS];
} ss_group_join;

/* Begin: pairs within `distance` (0 to 16) go to on_pairs. */
void ss_group_join_init(ss_group_join *join, uint32_t distance, uint64_t *scratch, ss_group_pairs_fn on_pairs,
                        void *context);

/* Leave out pairs that are equal under one of these masks (at most SS_GROUP_MAX_EXCEPT) from now on. */
void ss_group_join_except(ss_group_join *join, const uint64_t *masks, uint32_t count);

/* Whether a pair with these differing bits is not left out. */
bool ss_group_join_counts(const ss_group_join *join, uint64_t differing);

/* Join values; the right ones are read for SS_JOIN_CROSS only. The values come back in another order. Pairs may stay in
 * the buffer until the next call or ss_group_flush(). Returns the status of on_pairs. */
sstore_status ss_group_join_run(ss_group_join *join, ss_join_kind kind, uint64_t *left, size_t left_count,
                                uint64_t *right, size_t right_count, sstore_error *error);

/* Deliver the pairs of `from` with the values near it, as a spanning join does. The others move to the front, in the
 * same order; *apart_out is their number. `from` may be one of the values; it is near itself. */
sstore_status ss_group_connect(ss_group_join *join, uint64_t from, uint64_t *values, size_t count, size_t *apart_out,
                               sstore_error *error);

/* Deliver the pairs in the buffer. */
sstore_status ss_group_flush(ss_group_join *join, sstore_error *error);

#endif
