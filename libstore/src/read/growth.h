/*
 * growth.h - the distances that a search for the nearest tries, one after the other, until it has found enough. A full
 * scan, which finds them at any distance, follows once it is expected to take less time than the tries.
 *
 * Each try takes as long as if there had been none before it. So tries at small distances, which find what is in a
 * cluster with the query, must be cheap beside the try at the distance within which uniform fingerprints are enough,
 * and each takes about twice as long as the one before it.
 */
#ifndef SS_GROWTH_H
#define SS_GROWTH_H

#include "read/cursor.h"

typedef struct ss_growth {
    sstore_cursor *cursor;           /* has the plans for `distance` */
    uint32_t distance, max_distance; /* of the current try, and of the search */
    uint64_t wanted;                 /* so many records */
    double query_ns, scan_ns;        /* estimated for this try, and for a full scan */
    double spent_ns;                 /* on the tries before */
} ss_growth;

/* Begin with a distance. False: a full scan is better. */
bool ss_growth_begin(ss_growth *growth, sstore_cursor *cursor, uint32_t begin, uint32_t max_distance, uint64_t wanted);

/* Choose the next distance, after a try that was not at max_distance and has read so many blocks for a query. False: a
 * full scan is better. */
bool ss_growth_next(ss_growth *growth, uint64_t block_count);

#endif
