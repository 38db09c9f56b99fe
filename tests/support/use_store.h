/*
 * use_store.h - builds, changes and queries stores through the public API, each in one call. If a test sets
 * widened_words (support/widened.h), the stores have wider fingerprints; the test still sees those of 64 bits.
 */
#ifndef SUPPORT_USE_STORE_H
#define SUPPORT_USE_STORE_H

#include "output/walk.h"
#include "sstore_stream.h"
#include "support/data.h"
#include "support/record_set.h"
#include "support/testing.h"
#include "support/walk_records.h"

/*
 * Build a store from a data set, handed over in pieces of `piece` records (0: all at once). options->no_ids is set
 * for DATA_NO_IDS. Returns the first status that is not OK, with *error filled.
 */
sstore_status store_build(const char *path, const sstore_write_options *options, const data_set *set, size_t piece,
                          sstore_error *error);

/* Build a store; whatever goes wrong fails the test. NULL options: small blocks, little memory. */
void store_must_build(const char *path, const sstore_write_options *options, const data_set *set);

/* The options of a build for other calls, as far as they have them. Changes are segments of their own. */
sstore_write_options options_to_add(const sstore_write_options *build);
sstore_write_options options_to_remove(const sstore_write_options *build);
sstore_write_options options_to_merge(const sstore_write_options *build);
sstore_write_options options_to_compact(const sstore_write_options *build);
sstore_write_options options_to_dedup(const sstore_write_options *build);
sstore_cluster_options options_to_cluster(const sstore_join_options *from, bool with_singles);

/* Whether the stores that these calls build, if they have ids, also have names, those of additions included: each id
 * the one that store_name_of() tells. Ids that are assigned have the names of their fingerprints. False unless a test
 * sets it. */
extern bool stores_are_named;
sstore_name store_name_of(uint64_t id, char buffer[100]);

/* Add `count` records to a store in one step, or remove them. `ids` and `change_out` may be NULL. Without options, the
 * change is a segment of its own. */
sstore_status store_add(const char *path, const sstore_write_options *options, const uint64_t *fingerprints,
                        const uint64_t *ids, size_t count, sstore_change *change_out, sstore_error *error);
/* Without ids: all records with these fingerprints. */
sstore_status store_remove(const char *path, const sstore_write_options *options, const uint64_t *fingerprints,
                           const uint64_t *ids, size_t count, sstore_change *change_out, sstore_error *error);
/* One of the two, on one thread and in little memory. */
sstore_status store_change(const char *path, bool removes, const uint64_t *fingerprints, const uint64_t *ids,
                           size_t count, sstore_error *error);

/* Make a store of a shard of another one. Without options, with the defaults. */
sstore_status store_shard(const char *path, const char *input_path, uint32_t shard, uint32_t shard_count,
                          const sstore_write_options *options, sstore_change *change_out, sstore_error *error);

/* Open or fail the test. */
sstore *store_must_open(const char *path, sstore_io io, sstore_strategy strategy);
sstore_cursor *store_must_cursor(const sstore *store);

/* sstore_query(), walk_matches() (output/walk.h) and walk_records(). */
sstore_status store_ask(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, sstore_match_fn on_match,
                        void *context, sstore_error *error);
sstore_status store_ask_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                              const sstore_batch_options *options, sstore_match_fn on_match, void *context,
                              sstore_error *error);
sstore_status store_each_record(const sstore *store, record_fn on_record, void *context, sstore_error *error);

/* All records at the smallest distance, of a fingerprint of any width. */
sstore_status store_nearest(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t max_distance,
                            sstore_match_fn on_match, void *context, sstore_error *error);

/* The matches of one query, in the order in which they came, or sorted. Appended to *out. */
sstore_status store_query(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, matches *out,
                          sstore_error *error);
sstore_status store_query_sorted(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, matches *out,
                                 sstore_error *error);
sstore_status store_nearest_sorted(sstore_cursor *cursor, uint64_t fingerprint, uint32_t max_distance, matches *out,
                                   sstore_error *error);
/* A batch's matches, in the order in which they came. */
sstore_status store_batch(const sstore *store, const uint64_t *fingerprints, size_t count, uint32_t distance,
                          uint32_t threads, matches *out, sstore_error *error);

/* All records of a store of any width. */
record_set store_must_read(const sstore *store);

/* Read all records and hold each against the truth, in order. *right_out is whether all that were reported were right;
 * *count_out how many were. */
sstore_status store_compare_records(const sstore *store, const record_set *truth, bool *right_out, size_t *count_out,
                                    sstore_error *error);

/* Callbacks that append to the `matches` in context. */
int store_collect(void *context, const sstore_match *match);
int store_collect_stream(void *context, const sstore_stream_match *match);

/* Callbacks that take whatever comes and want more. */
int store_ignore_pair(void *context, const sstore_pair *pair);
int store_ignore_clustered(void *context, const cluster_record *record);
int store_ignore_scanned(void *context, const sstore_stream_match *match);

#endif
