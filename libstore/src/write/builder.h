/*
 * builder.h - takes records, sorts them, writes them as a segment, and publishes it. Builders, removers, merges,
 * compactions and deduplication all work through it. A builder creates a new store or extends one. When it extends one,
 * a record is added only if the store does not have it, and removed only if it does. Readers rely on this
 * (store/manifest.h).
 */
#ifndef SS_BUILDER_H
#define SS_BUILDER_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/tasks.h"
#include "sort/sorter.h"
#include "store/commit.h"
#include "store/lookup.h"
#include "write/id_conflicts.h"
#include "write/id_of_name.h"
#include "write/new_names.h"
#include "write/segment_writer.h"

#define SS_NO_ID_LEFT "cannot assign more ids: the next one would exceed 2^64 - 2; add records with ids"
#define SS_MAX_MADE 2u /* segments of one builder: of a compaction one that adds and one that removes */

/* The store that a builder extends, open for look-ups. */
typedef struct ss_builder_base {
    sstore *store; /* NULL: not opened yet */
    uint32_t count;
    ss_membership *memberships; /* one a thread */
    atomic_bool *is_taken;      /* by a thread */
} ss_builder_base;

struct sstore_builder {
    ss_transaction *transaction; /* its own, or borrowed */
    ss_transaction own_transaction;
    ss_dir tmp_dir;  /* SS_DIR_NONE: spill in the segment's own folder */
    ss_plan plan;    /* spec.plan, unless that is NULL */
    char *plan_name; /* spec.plan_name */
    char *recipe;
    ss_segment_spec spec;
    ss_progress progress;
    ss_chunk_pool pool;
    uint64_t reserved_bytes, max_reserved_bytes; /* of memory, for reading stores; and its maximum */
    bool extends, compacts;
    ss_builder_base base;
    _Atomic uint64_t unchanged_count; /* of given records that are there already, or of those to remove that are not */
    ss_sorter *records;               /* NULL: all added records are still in `first` */
    uint64_t *first; /* fingerprints of first_capacity records, then as many ids; NULL until there is a record */
    size_t first_count;
    bool ids_given;                 /* with the records so far */
    uint64_t next_id, base_next_id; /* now, and before the first record */
    ss_id_conflicts conflicts;      /* of given ids */
    ss_name_runs names;             /* of a store with names: those that were given */
    uint64_t name_memory_bytes;     /* the memory limit of `names`, and again of the next ones */
    ss_new_names new_names;         /* records without ids, by their names */
    sstore_remover *replaced;       /* finds the records that the added ones replace; NULL: they replace none */
    uint64_t expected_max_id;
    bool ignore_free_space;
    bool in_order;        /* the records come sorted, so none of them is spilled */
    sstore_change change; /* complete once the store was changed */
};

/* Begin a segment in the store at `path`; or, if `transaction` is not NULL, in that one, which is borrowed and extends
 * a store. The options are taken ones. The builder has no buffers yet. Errors as sstore_builder_create(). */
sstore_status ss_builder_open(const char *path, ss_transaction *transaction, ss_write_mode mode, ss_segment_kind kind,
                              const sstore_write_options *options, sstore_builder **builder_out, sstore_error *error);

/* Divide the memory, of which `reserved_bytes`, but at most half, is for reading stores. Check that the disk has space
 * for `record_count` records (0: an unknown number). ARGUMENT if too much memory is reserved: now if the builder is in
 * order, since it then reads stores at once, otherwise when it opens the store that it extends. Further errors as
 * ss_builder_check_space(); MEMORY. */
sstore_status ss_builder_prepare(sstore_builder *builder, const sstore_write_options *options, uint64_t reserved_bytes,
                                 uint64_t record_count, sstore_error *error);

/* ARGUMENT if too much memory is reserved. */
sstore_status ss_builder_check_reserved(const sstore_builder *builder, sstore_error *error);

/* IO with ENOSPC if the disk has too little space for a segment of this kind of `record_count` records, of which
 * `spilled_bytes` are on it already. */
sstore_status ss_builder_check_space(const sstore_builder *builder, ss_segment_kind kind, uint64_t record_count,
                                     uint64_t spilled_bytes, sstore_error *error);

/* Create a builder that is ready to take records, or those to remove. `transaction` is as for ss_builder_open(). Errors
 * as sstore_builder_create(). */
sstore_status ss_builder_create(const char *path, ss_transaction *transaction, ss_write_mode mode, ss_segment_kind kind,
                                const sstore_write_options *options, sstore_builder **builder_out, sstore_error *error);

/* UNSUPPORTED if one of the oldest `count` segments, which the builder leaves as they are, has a directory that this
 * host cannot read. */
sstore_status ss_builder_check_formats(const sstore_builder *builder, uint32_t count, sstore_error *error);

/* Open the extended store for look-ups, unless it is open. Errors as sstore_open(), and ARGUMENT if that takes too much
 * of the memory. */
sstore_status ss_builder_open_base(sstore_builder *builder, sstore_error *error);
void ss_builder_close_base(sstore_builder *builder);

/* The extended store, if this builder has opened it, or that of the replaced records; else NULL. */
const sstore *ss_builder_base_store(const sstore_builder *builder);

/* Keep only the items (words of a fingerprint and, with ids, an id) that change the store: records to add that it does
 * not have, or to remove that it has. For a sorter, from all its threads. Errors as ss_membership_has(). */
sstore_status ss_builder_keep_changes(void *context, void *items, size_t *count, sstore_error *error);

/* Add records whose ids are known; without ids these are not read. */
sstore_status ss_builder_add_records(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                     size_t count, sstore_error *error);

/* Find the ids of the names of records in the extended store: named_out has an element for each, zeroed. Errors as
 * ss_builder_open_base() and sstore_get_named(). */
sstore_status ss_builder_find_names(sstore_builder *builder, const sstore_name *names, const uint64_t *fingerprints,
                                    size_t count, ss_named_id *named_out, sstore_error *error);

/* Check the names of given ids against those that the extended store has. ARGUMENT; IO, DAMAGED, MEMORY. */
sstore_status ss_builder_check_names(sstore_builder *builder, sstore_error *error);

/* Sort what was added, after a check that the disk has space. Release *pieces_out, but not after a failure. IO, MEMORY,
 * STOPPED. */
sstore_status ss_builder_sort(sstore_builder *builder, ss_sorted_pieces *pieces_out, sstore_error *error);

/* Publish the store with the `count` new segments, which are all staged ones, in place of its segments first .. end -
 * 1. */
sstore_status ss_builder_publish(const sstore_builder *builder, uint32_t first, uint32_t end,
                                 const ss_manifest_segment *made, uint32_t count, sstore_error *error);

/* Fill in how many records the builder's segment changes. */
void ss_note_changed(sstore_builder *builder, uint64_t count);

/* Fill in the current state of the store. */
void ss_note_store(sstore_change *change, const ss_manifest *manifest);

#endif
