/*
 * near_ids.h - connects near records of a store as the caller judges. Nothing of the pairs is kept. Pairs of records
 * that are connected already are left out, of fingerprints of several words before they are found: so a crowd of near
 * copies is not quadratic.
 */
#ifndef SS_NEAR_IDS_H
#define SS_NEAR_IDS_H

#include "sstore_join.h"

/* Called for two records within the distance, by several threads at once, in any order. Returns whether they are
 * connected now. */
typedef bool (*ss_near_ids_fn)(void *context, uint32_t id, uint32_t other_id);

/* Give the pairs of near records of a store, each once, but for some that are connected by others. All ids are below
 * 2^32, and none is repeated. Beside the memory of the options, each record takes 9 bytes, or 17 if fingerprints have
 * 64 bits. Errors as sstore_iterate_pairs(). */
sstore_status ss_near_ids_find(const sstore *store, const sstore_join_options *options, ss_near_ids_fn on_ids,
                               void *context, sstore_error *error);

#endif
