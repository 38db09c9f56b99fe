/*
 * row_batch.h - many queries at once on a segment with word indexes. Each index answers a batch of the queries' words
 * (read/index_batch.h). What a thread finds are candidates, which it confirms a few thousand at a time, so that they
 * never fill memory. If that takes longer than comparing all queries with all fingerprints, since words tell badly
 * apart or there are few fingerprints, all are compared: the work is at most a small multiple of that. Equal
 * fingerprints are looked up.
 */
#ifndef SS_ROW_BATCH_H
#define SS_ROW_BATCH_H

#include "read/batch_hits.h"

/* Find the hits in the current segment. STOPPED if they are too many, or if the progress says so. */
sstore_status ss_row_batch_find(ss_batch_hits *hits, sstore_error *error);

#endif
