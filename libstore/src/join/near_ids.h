/*
 * near_ids.h - the ids of near records of a store, without an order: nothing of them is kept, so that whoever gets them
 * can leave most of them out, however many they are.
 */
#ifndef SS_NEAR_IDS_H
#define SS_NEAR_IDS_H

#include "sstore_join.h"

/* Called for two records within the distance, by several threads at once, in any order. */
typedef void (*ss_near_ids_fn)(void *context, uint32_t id, uint32_t other_id);

/* Give every pair of near records of a store, once. All ids are below 2^32, and none is repeated. Beside the memory of
 * the options, each record takes 8 bytes, or 16 if fingerprints have 64 bits. Errors as sstore_iterate_pairs(). */
sstore_status ss_near_ids_find(const sstore *store, const sstore_join_options *options, ss_near_ids_fn on_ids,
                               void *context, sstore_error *error);

#endif
