/* builder.h - the builder. */
#ifndef SS_BUILDER_H
#define SS_BUILDER_H

#include "sort/sorter.h"
#include "store/commit.h"
#include "write/id_conflicts.h"
#include "write/removal.h"
#include "write/segment_writer.h"

#define SS_DEFAULT_MEMORY_BYTES ((uint64_t)1 << 30)
#define SS_MIN_MEMORY_BYTES ((uint64_t)1 << 20)
#define SS_ENFORCED_MEMORY_BYTES ((uint64_t)64 << 20) /* from here on what a build takes is kept to what it may take */

/* The options of all calls that write: each takes those that it has from its own struct (sstore.h). */
typedef struct ss_write_options {
    const char *plan, *tmp_dir, *recipe;
    uint64_t memory_bytes, first_ordinal, expected_record_count, expected_max_id;
    uint32_t distance, block_bytes, threads;
    bool without_ids, replace, ignore_free_space, check_ids;
    sstore_progress_fn on_progress;
    void *progress_context;
} ss_write_options;

/* Where records get their ids from. */
typedef enum id_source {
    IDS_UNKNOWN, /* nothing was added yet */
    IDS_GIVEN,
    IDS_ORDINAL
} id_source;

/* The store that is added to, or removed from, as it was before. */
typedef struct ss_builder_base {
    sstore *store;    /* NULL: not looked into so far, or there is none */
    ss_membership_filter filter;
    ss_removal_keys fingerprints, ids; /* of a removal: keys that stand for all records of theirs */
} ss_builder_base;

struct sstore_builder {
    ss_transaction *transaction;     /* its own, or borrowed */
    ss_transaction own_transaction;
    ss_dir tmp_dir; /* SS_DIR_NONE: spill in the workplace */
    char *plan;     /* NULL: choose one */
    bool plan_given; /* to be kept in the manifest of a new store */
    char *recipe;
    ss_segment_writer build;
    ss_progress progress;
    ss_chunk_pool pool;
    uint64_t reserved_bytes, max_reserved_bytes; /* of memory, for reading stores; and how much that may be */
    bool extends; /* the store is there already */
    ss_builder_base base;
    ss_sorter *records; /* NULL: those that were added are all still in `first` */
    uint64_t *first_fingerprints, *first_ids; /* room for FIRST_RECORDS, made with the first one */
    size_t first_count;
    uint64_t given_count; /* records, or keys that stand for records */
    id_source ids;
    uint64_t next_ordinal;
    uint64_t base_next_ordinal; /* of the store that is added to, before */
    ss_id_conflicts conflicts;  /* of the ids that are given */
    uint64_t expected_max_id;
    bool ignore_free_space;
    bool in_order; /* the records come sorted, so none of them is spilled */
    sstore_change change; /* filled when the store was changed */
    uint32_t segment_count_before;
    uint64_t total_bytes_before;
};

/* A remover is the builder of a segment that removes. */
struct sstore_remover {
    sstore_builder builder;
};

static inline bool ss_builder_removes(const sstore_builder *builder)
{
    return builder->build.kind == SS_SEGMENT_REMOVED;
}

/* ----- builder_setup.c ----- */

/* Set up a builder that claims the folder at `path` in this way, but for its memory. `options` are whole. Errors as
 * sstore_builder_create(). */
sstore_status ss_builder_open(const char *path, ss_write_mode mode, const ss_write_options *options,
                              ss_segment_kind kind, sstore_builder **builder_out, sstore_error *error);
/* The same in a store that was claimed to be extended, and stays so when the builder is done. */
sstore_status ss_builder_open_in(ss_transaction *transaction, const ss_write_options *options, ss_segment_kind kind,
                                 sstore_builder **builder_out, sstore_error *error);

/* Fail where one of the oldest `count` segments of a store that is changed has a directory that cannot be used here:
 * so what a writer leaves as it is can be read where it writes. UNSUPPORTED. */
sstore_status ss_builder_check_formats(const sstore_builder *builder, uint32_t count, sstore_error *error);

/* Share the memory out, but for `reserved_bytes`, of which half of it may be. MEMORY. */
sstore_status ss_builder_share_memory(sstore_builder *builder, const ss_write_options *options,
                                      uint64_t reserved_bytes, sstore_error *error);

/* Fail with ARGUMENT where more was reserved than may be. */
sstore_status ss_builder_check_reserved(const sstore_builder *builder, sstore_error *error);

/* ----- the store that is changed, in builder.c ----- */

/* The bytes of memory that looking into a store takes on so many threads. */
uint64_t ss_builder_base_bytes(const ss_manifest *manifest, uint32_t threads);

/* Open the store that is changed, to look into it: what is added is thinned out to what it does not have, what is removed
 * to what it has. Errors as sstore_open(), and ARGUMENT where that takes too much of the memory. */
sstore_status ss_builder_open_base(sstore_builder *builder, sstore_error *error);
void ss_builder_close_base(sstore_builder *builder);

/* If the ids are to be checked, look up which ids of the added records now have two fingerprints. */
void ss_builder_find_conflicts(sstore_builder *builder);

/* ----- rewrite.c ----- */

/* Compact a store that was claimed to be extended; `options` are whole. Errors as sstore_compact(). */
sstore_status ss_compact_in(ss_transaction *transaction, sstore_compaction which, const ss_write_options *options,
                            sstore_error *error);

/* ----- builder.c ----- */

/* Add records whose ids are known; without ids these are not read. */
sstore_status ss_builder_add_records(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                     size_t count, sstore_error *error);

/* Fail with ENOSPC where the disk has too little room for a build of `record_count` records, of which `spilled_bytes` are on
 * it already. */
sstore_status ss_builder_check_space(const sstore_builder *builder, uint64_t record_count, uint64_t spilled_bytes,
                                     sstore_error *error);

/* Fill builder->change; `segment` is the one that was made of records, or NULL. */
void ss_builder_note_change(sstore_builder *builder, const ss_manifest_segment *segment);

/* Create a builder, or a remover, with all that the public functions do. */
sstore_status ss_builder_create(const char *path, const ss_write_options *options, ss_write_mode mode, ss_segment_kind kind,
                                sstore_builder **builder_out, sstore_error *error);

/* Make the segment of the source's records instead of those that were added, of which there must be none; next_ordinal
 * must be set. `release`, if not NULL, is called when the source is not needed any more. Frees the builder, as
 * sstore_builder_finish() does. */
sstore_status ss_builder_finish_from(sstore_builder *builder, const ss_sorted_pieces *source,
                                     void (*release)(void *context), sstore_change *change_out, sstore_error *error);

/* sstore_builder_finish(), and sstore_remover_finish() once the records of its keys are found. */
sstore_status ss_builder_finish(sstore_builder *builder, sstore_change *change_out, sstore_error *error);

#endif
