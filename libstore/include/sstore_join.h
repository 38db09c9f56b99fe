/*
 * sstore_join.h - all near pairs of a store, or of two stores, and the clusters that near pairs form; which of near
 * records to keep; and joins of records in memory, for tasks of a cluster of machines. The conventions are those of
 * sstore.h.
 */
#ifndef SSTORE_JOIN_H
#define SSTORE_JOIN_H

#include <sstore.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ===== The near pairs and clusters of one store, or the near pairs of two ===== */

/* The options of sstore_iterate_pairs(). */
typedef struct sstore_join_options {
    size_t struct_size;
    uint32_t distance;     /* 0 to 16 a word, or SSTORE_OWN_DISTANCE, the default */
    uint32_t threads;      /* 0: all that the process may use */
    uint64_t memory_bytes; /* maximum without the open stores; 0: 1 GiB. The limit is enforced from 64 MiB up. Smaller
                              values (minimum 8 MiB) may be exceeded. With little memory, fewer threads look for
                              pairs */
    const char *tmp_dir;   /* for items that do not fit in memory; NULL: the folder that TMPDIR names, or without it the
                              (left) store's. Nothing is made there if memory is enough */
    sstore_progress_fn on_progress;
    void *progress_context;
    const uint64_t *excluded; /* leave out all records within excluded_distance of one of these fingerprints, such as
                                 those of empty pictures or error pages: words as in the stores; copied */
    size_t excluded_count;
    uint32_t excluded_distance; /* if it is not 0, each fingerprint is compared with all excluded ones */
} sstore_join_options;

#define SSTORE_JOIN_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(sstore_join_options), SSTORE_OWN_DISTANCE, 0, 0, NULL, NULL, NULL, NULL, 0, 0                           \
    }

/*
 * Find every pair of different records of the left store within the distance, once, the lower record (by fingerprint,
 * then id) first; or, if `right` is not NULL, every pair of a left and a right record. The iterator has fingerprint,
 * id, other_fingerprint, other_id and distance. The order is that of (fingerprint, other_fingerprint, other_id, id),
 * with any memory and threads. Records with equal fingerprints are also pairs: a fingerprint with n ids has
 * n * (n - 1) / 2 of them. The stores must be two different handles of the same recipe (else RECIPE). One may be
 * without ids.
 *
 * With 64 bits, the fingerprints are sorted distance + 1 times, each time by other bits, and compared if these are
 * equal. The store's own tables are not used, so any distance is possible. Items that do not fit in memory are spilled:
 * up to about 16 bytes a fingerprint, and 40 a pair. At most 4 file descriptors are used. All pairs are found before
 * this call returns. With n words, n > 1, it is the same for one store: fingerprints are compared if they are equal, or
 * nearly, in some bits of a word, and items take up to 8 (n + 2) bytes a fingerprint and 8 (n + 5) a pair, in some
 * 8 files. Of two stores, each left fingerprint is a query of the right store; sstore_iterator_next() finds the pairs,
 * and nothing is spilled.
 * Errors: ARGUMENT, RECIPE, MEMORY, IO, DAMAGED, NOT_FOUND (no tmp_dir). Source: the paper, section 3.1.
 */
SSTORE_API sstore_status sstore_iterate_pairs(const sstore *left, const sstore *right,
                                              const sstore_join_options *options, sstore_iterator **iterator_out,
                                              sstore_error *error);

/* The options of sstore_iterate_clusters(): as sstore_join_options, and with_singles. */
typedef struct sstore_cluster_options {
    size_t struct_size;
    uint32_t distance;
    uint32_t threads;
    bool with_singles; /* also report records in no pair, as clusters of one */
    uint64_t memory_bytes;
    const char *tmp_dir;
    sstore_progress_fn on_progress;
    void *progress_context;
    const uint64_t *excluded; /* left out of all clusters, also as single ones */
    size_t excluded_count;
    uint32_t excluded_distance;
} sstore_cluster_options;

#define SSTORE_CLUSTER_OPTIONS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(sstore_cluster_options), SSTORE_OWN_DISTANCE, 0, false, 0, NULL, NULL, NULL, NULL, 0, 0                 \
    }

/*
 * Find the clusters, the connected components of the pairs within the distance. The iterator has their records:
 * fingerprint, id, distance, cluster, cluster_size and is_representative. Clusters are numbered from 0, in the order of
 * their smallest fingerprints. The record with the smallest id, and of several the smallest fingerprint, represents its
 * cluster; distances are from it. A cluster's records come together, the representative first, then by (id,
 * fingerprint).
 *
 * Time grows about in proportion to the records, also if clusters are large or dense: of many fingerprints near each
 * other, only as many pairs are compared as connect them. All clusters are found before this call returns. Items that
 * do not fit in memory are spilled, also with several words. Otherwise as sstore_iterate_pairs(), also the errors, but
 * RECIPE.
 */
SSTORE_API sstore_status sstore_iterate_clusters(const sstore *store, const sstore_cluster_options *options,
                                                 sstore_iterator **iterator_out, sstore_error *error);

/* ===== Which of near records to keep ===== */

/* Of records that are given one after the other, and are not in a store: which ones to keep, so that near ones are kept
 * once. Records are numbered from 0, as they come. */
typedef struct sstore_keeper sstore_keeper;

/* Called for each group of more than max_group records, of which none is dropped: the number of the record that would
 * have been kept, and how many there are. Returns 0 to continue. */
typedef int (*sstore_large_group_fn)(void *context, uint64_t kept_number, uint64_t record_count);

/* Whether two records within the distance are near, by what the caller has of them, such as their texts. Sets
 * *distance_out in any case, to a measure of the caller, below 2^32 - 1. It must be symmetric. It may be called by any
 * thread of the library, by one at a time, and must not use the keeper. */
typedef bool (*sstore_confirm_fn)(void *context, uint64_t number, uint64_t other_number, uint32_t *distance_out);

/* Sets two words. They must be equal for two records if and only if confirm() cannot tell the records apart. Then
 * confirm() must accept the two, and their fingerprints must be equal. Threads as for confirm(). */
typedef void (*sstore_digest_fn)(void *context, uint64_t number, uint64_t digest_out[2]);

/* The options of sstore_keeper_create(). */
typedef struct sstore_keeper_options {
    size_t struct_size;
    uint32_t fingerprint_bits; /* see "Conventions" */
    uint32_t distance;         /* 0 to 16 a word, or SSTORE_OWN_DISTANCE, the default of a build */
    bool strict;               /* see sstore_keeper_create() */
    uint32_t threads;          /* 0: all that the process may use */
    uint64_t memory_bytes; /* what the calls may take in all; 0: 1 GiB. The limit is enforced from 64 MiB up. Smaller
                                  values (minimum 8 MiB) may be exceeded */
    const char
        *tmp_dir;       /* for a store of the records, and items that do not fit in memory; NULL: the folder that TMPDIR
                            names, or without it the working folder */
    uint64_t max_group; /* drop nothing of groups of more records; 0: no limit */
    sstore_large_group_fn on_large_group; /* or NULL */
    void *large_group_context;
    sstore_progress_fn on_progress; /* of sstore_keeper_finish() */
    void *progress_context;
    sstore_confirm_fn confirm; /* or NULL: records are near if their fingerprints are */
    sstore_digest_fn digest;   /* given with `confirm` */
    void *confirm_context;
} sstore_keeper_options;

#define SSTORE_KEEPER_OPTIONS_INIT                                                                                     \
    {                                                                                                                  \
        sizeof(sstore_keeper_options), 0, SSTORE_OWN_DISTANCE, false, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL,     \
            NULL, NULL                                                                                                 \
    }

/*
 * Begin. The groups, of which one record each is kept, are
 *  - the clusters of sstore_iterate_clusters(): records that are connected by steps of at most the distance. The record
 *    of the highest priority is kept. A dropped record may be farther from it than the distance;
 *  - with `strict`, those of a sequence: in the order of their priority, a record is kept if no kept one is within the
 *    distance. Otherwise it is dropped in favour of the nearest kept one, of several the one with the smallest
 *    fingerprint, and then with the lowest number.
 * With `confirm`, records are near if they are within the distance and confirmed. The distance of the iterator, and
 * that of "nearest", is confirm()'s. Connected records are not compared again. At the end, confirm() is called once
 * more for each dropped record, for the distance to the kept one. Without `strict` this takes up to 37 bytes for each
 * record, beside memory_bytes, and at most 2^32 - 1 records. With `strict`, digest() is not called.
 * The records wait in a temporary store in tmp_dir, in a folder whose name begins with "sstore-keep-" and which only
 * the user can read. It is gone after sstore_keeper_finish() or sstore_keeper_free(), but a killed process leaves it
 * behind. One thread at a time may use the keeper.
 * Errors: ARGUMENT, MEMORY, IO, NOT_FOUND (no tmp_dir).
 */
SSTORE_API sstore_status sstore_keeper_create(const sstore_keeper_options *options, sstore_keeper **keeper_out,
                                              sstore_error *error);

/* Add `count` records. The smaller its number in `priorities`, the higher the priority of a record; of equal ones, the
 * record that came first precedes. NULL: the records precede in the order in which they come, which takes less time.
 * All calls must give priorities, or none. The arrays are copied. Errors: ARGUMENT, MEMORY, IO. After an error only
 * sstore_keeper_free() is allowed. */
SSTORE_API sstore_status sstore_keeper_add(sstore_keeper *keeper, const uint64_t *fingerprints,
                                           const uint64_t *priorities, size_t count, sstore_error *error);

/* Leave out `count` numbers: records that are kept, and in no group. Errors: ARGUMENT. */
SSTORE_API sstore_status sstore_keeper_skip(sstore_keeper *keeper, uint64_t count, sstore_error *error);

/* Find the records to drop. The iterator has their number as id, ascending; the number of the record that is kept
 * instead as other_id; and the distance between the two. The result does not depend on memory and threads. All is found
 * before this call returns, and what does not fit in memory is spilled. The keeper is freed in all cases. Errors:
 * ARGUMENT, MEMORY, IO, STOPPED. */
SSTORE_API sstore_status sstore_keeper_finish(sstore_keeper *keeper, sstore_iterator **iterator_out,
                                              sstore_error *error);

/* Give up, and free the keeper, with its temporary files. NULL is allowed. */
SSTORE_API void sstore_keeper_free(sstore_keeper *keeper);

/* ===== Without a store, for the tasks of a cluster ===== */

/*
 * Near pairs among records that are spread over many machines. The 64 bits are cut into distance + 1 groups of adjacent
 * bits, the keys of as many tables. Two fingerprints within the distance are equal in at least one key. So, for each
 * table, records with equal keys are brought together, and joined by sstore_join_records(). It reports only the pairs
 * that no earlier table finds: all tables together report each pair once.
 *
 * These calls take 64 bits only. Records of wider fingerprints can be divided into n parts by a hash of the record.
 * Build a store of each part: sstore_iterate_pairs() finds the pairs of a part in n tasks, and those of two parts in
 * n * (n - 1) / 2 tasks.
 */

/* Set keys_out to the keys of `count` fingerprints in a table, 0 to distance: numbers of 64 / (distance + 1) bits, or
 * one bit more. Errors: ARGUMENT (also a distance above SSTORE_MAX_BUILD_DISTANCE). */
SSTORE_API sstore_status sstore_join_keys(const uint64_t *fingerprints, size_t count, uint32_t distance, uint32_t table,
                                          uint64_t *keys_out, sstore_error *error);

/* Two records that are near each other, with fingerprints of 64 bits. */
typedef struct sstore_pair {
    const uint64_t *fingerprint;
    uint64_t id;
    const uint64_t *other_fingerprint;
    uint64_t other_id;
    uint32_t distance;
} sstore_pair;

/* Called for each pair. Returns 0 to continue. */
typedef int (*sstore_pair_fn)(void *context, const sstore_pair *pair);

/* The options of sstore_join_records(). */
typedef struct sstore_record_join_options {
    size_t struct_size;
    uint32_t distance; /* 0 to 16, or SSTORE_OWN_DISTANCE, the default */
    uint32_t table;    /* whose keys are compared: 0 to distance */
    bool spanning;     /* report only pairs that connect whatever all pairs connect: at most ten for each record of a
                          small key. The records of larger keys are divided up to 8 times, each of which multiplies
                          this bound by distance + 1. Pairs may repeat */
    sstore_progress_fn on_progress;
    void *progress_context;
} sstore_record_join_options;

#define SSTORE_RECORD_JOIN_OPTIONS_INIT                                                                                \
    {                                                                                                                  \
        sizeof(sstore_record_join_options), SSTORE_OWN_DISTANCE, 0, false, NULL, NULL                                  \
    }

/*
 * Report each pair of different records that have equal keys in a table, but in no earlier one, and are within the
 * distance. If `right` is NULL, these are pairs of left records, the lower one (by fingerprint, then id) first. If not,
 * they are pairs of a left and a right record, in this order. Only the columns `fingerprint` and `id` are read; the
 * others must be NULL. If `id` is NULL, all ids are 0. Equal records of a side count once. The order of the pairs is
 * not defined.
 *
 * If the records of a key are too many for one task, they can be distributed to n parts by a hash of the record. n
 * tasks join a part with itself, and n * (n - 1) / 2 tasks two parts. Works on one thread, in 40 bytes a record.
 * Errors: ARGUMENT (also `spanning` with right records), MEMORY. Source: the paper, section 3.1.
 */
SSTORE_API sstore_status sstore_join_records(const sstore_columns *left, size_t left_count, const sstore_columns *right,
                                             size_t right_count, const sstore_record_join_options *options,
                                             sstore_pair_fn on_pair, void *context, sstore_error *error);

/* The connected components of a graph of any size. Nodes are numbers, such as ids of records. */
typedef struct sstore_components sstore_components;

/* The options of sstore_components_create(). */
typedef struct sstore_components_options {
    size_t struct_size;
    uint32_t threads;      /* 0: all that the process may use */
    uint64_t memory_bytes; /* what the call may take; 0: 1 GiB. The limit is enforced from 64 MiB up. Smaller values
                              (minimum 8 MiB) may be exceeded */
    const char *tmp_dir;   /* for edges that do not fit in memory, up to some 100 bytes each; NULL: the folder that
                              TMPDIR names, or without it the working folder */
    sstore_progress_fn on_progress; /* of the first sstore_components_next() */
    void *progress_context;
} sstore_components_options;

#define SSTORE_COMPONENTS_OPTIONS_INIT                                                                                 \
    {                                                                                                                  \
        sizeof(sstore_components_options), 0, 0, NULL, NULL, NULL                                                      \
    }

/* Make an object that finds the components of edges. `options` may be NULL. One thread at a time may use it. Free it
 * with sstore_components_free(). Errors: ARGUMENT, MEMORY, IO, NOT_FOUND (no tmp_dir). */
SSTORE_API sstore_status sstore_components_create(const sstore_components_options *options,
                                                  sstore_components **components_out, sstore_error *error);

/* Add `count` edges. They may come in any order, and repeat. An edge of a node to itself only makes it a node. Errors:
 * ARGUMENT (after sstore_components_next() or a failed call), MEMORY, IO. After the latter two only
 * sstore_components_free() is allowed. */
SSTORE_API sstore_status sstore_components_add(sstore_components *components, const uint64_t *nodes,
                                               const uint64_t *other_nodes, size_t count, sstore_error *error);

/* Fill the columns, either of which may be NULL, with the next nodes, ascending, and with the smallest node of the
 * component of each. Otherwise as sstore_iterator_next(). The first call finds the components. Errors: ARGUMENT,
 * MEMORY, IO. Source: Sibeyn, "External Connected Components" (SWAT 2004), for many nodes at once. */
SSTORE_API sstore_status sstore_components_next(sstore_components *components, uint64_t *nodes, uint64_t *smallest,
                                                size_t capacity, size_t *count_out, sstore_error *error);

/* Free the components, with their temporary files. NULL is allowed. */
SSTORE_API void sstore_components_free(sstore_components *components);

#ifdef __cplusplus
}
#endif

#endif /* SSTORE_JOIN_H */
