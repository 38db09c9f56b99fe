/*
 * confirmed_groups.h - groups of records that are connected by pairs which the caller of a keeper confirms.
 *
 * A record's place is its position in the order of priority, from 0. Records that the caller cannot tell apart, those
 * of one digest, are a group from the beginning, and only the first of them is compared: so copies of one text are not
 * compared with each other. Two records that are connected already are not compared either. Each record takes up to 37
 * bytes of memory.
 */
#ifndef SS_CONFIRMED_GROUPS_H
#define SS_CONFIRMED_GROUPS_H

#include <pthread.h>

#include "join/edge_filter.h"
#include "sort/sorted_items.h"
#include "sstore_join.h"

typedef struct ss_confirmed_groups {
    const sstore_keeper_options *options;
    uint32_t words;
    size_t count, capacity;
    uint64_t *numbers;          /* by place */
    ss_edge_filter connected;   /* places, once all records are there */
    pthread_mutex_t confirming; /* the caller confirms one pair at a time */
    ss_sorted_items *by_digest; /* items (digest, place, fingerprint) */
} ss_confirmed_groups;

/* Begin without records. The options are borrowed, and so is tmp_dir. MEMORY. Free it also after a failure; zeroed, it
 * may be freed. */
sstore_status ss_confirmed_groups_open(ss_confirmed_groups *groups, const sstore_keeper_options *options,
                                       uint64_t memory_bytes, const ss_dir *tmp_dir, sstore_error *error);
void ss_confirmed_groups_free(ss_confirmed_groups *groups);

/* Add the next record in the order of priority. MEMORY, IO; ARGUMENT after 2^32 - 1 records. */
sstore_status ss_confirmed_groups_add(ss_confirmed_groups *groups, const uint64_t *fingerprint, uint64_t number,
                                      sstore_error *error);

/* Connect the records of each digest, and add the first of each to a builder, with its place as id. Errors as
 * sstore_builder_add(), STOPPED. */
sstore_status ss_confirmed_groups_add_distinct(ss_confirmed_groups *groups, ss_progress *progress,
                                               sstore_builder *builder, sstore_error *error);

/* Connect all pairs of the store of these records that are confirmed. Errors as sstore_iterate_pairs(). */
sstore_status ss_confirmed_groups_connect(ss_confirmed_groups *groups, const sstore *store,
                                          const sstore_join_options *options, sstore_error *error);

/* The first place of the group of a place. */
uint32_t ss_confirmed_groups_first(ss_confirmed_groups *groups, uint32_t place);

#endif
