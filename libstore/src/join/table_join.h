/*
 * table_join.h - all pairs within a Hamming distance among any number of fingerprints, within a fixed memory, on
 * several threads.
 *
 * By the method of Manku, Jain and Das Sarma (2007), section 3: the 64 bits are cut into k + 1 bit groups, so two
 * fingerprints within k are equal in at least one of them. For each bit group all fingerprints are permuted so that it
 * comes first, and sorted. Those that are equal in it form a group, which is joined in memory (group_join.h). A pair
 * counts in the first bit group in which it is equal. At large distances bit groups are so narrow that they save
 * nothing: then all fingerprints form one group.
 *
 * A group that is too large for a thread's memory is joined in the same way by the bits in which it still varies, up to
 * three levels deep; what is too large even then is joined chunk against chunk.
 */
#ifndef SS_TABLE_JOIN_H
#define SS_TABLE_JOIN_H

#include "join/piece_join.h"

typedef sstore_status (*ss_values_fn)(void *sink, const uint64_t *values, size_t count, sstore_error *error);

/* Distinct fingerprints, in ranges that are disjoint. */
typedef struct ss_fingerprint_ranges {
    void *context;
    uint32_t range_count;
    uint64_t count; /* of the fingerprints of all ranges */
    /* Pass a range to `on_values`, in pieces of any size, and return its status if it is not OK. It is called from
     * several threads, for different ranges at once, and for each range once a bit group; no two calls at once have the
     * same `worker`. */
    sstore_status (*read)(void *context, uint32_t range, uint32_t worker, ss_values_fn on_values, void *sink,
                          sstore_error *error);
} ss_fingerprint_ranges;

/* Join fingerprints; `right` is NULL except for SS_JOIN_CROSS. Of a pair of a self-join the lower fingerprint comes
 * first, of a cross-join the left one. The order of pairs is not defined. Errors: IO, MEMORY, STOPPED by progress, and
 * those of the sources and on_pairs. */
sstore_status ss_table_join(ss_join_kind kind, const ss_fingerprint_ranges *left, const ss_fingerprint_ranges *right,
                            const ss_join_options *options, sstore_error *error);

#endif
