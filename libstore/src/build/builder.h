/*
 * builder.h - the builder of a store, as its parts see it: builder_create.c sets it up, builder_space.c knows what it
 * takes of the disk, builder.c takes records and makes the store of them. And what tests and benchmarks may ask of it
 * beyond <sstore.h>.
 */
#ifndef SS_BUILDER_H
#define SS_BUILDER_H

#include "build/publish.h"
#include "build/segment_build.h"
#include "sort/sorter.h"

#define SS_DEFAULT_MEMORY_BYTES ((uint64_t)1 << 30)
#define SS_LEAST_MEMORY_BYTES ((uint64_t)1 << 20)
#define SS_KEPT_MEMORY_BYTES ((uint64_t)64 << 20) /* from here on what a build takes is kept to what it may take */

/* Where records get their ids from. */
typedef enum id_source {
    IDS_UNKNOWN, /* nothing was added yet */
    IDS_GIVEN,
    IDS_ORDINAL
} id_source;

struct sstore_builder {
    ss_workplace place;
    ss_dir tmp_dir; /* SS_DIR_NONE: spill in the workplace */
    char *plan;     /* NULL: choose one */
    char *recipe;
    ss_segment_build build;
    ss_progress progress;
    ss_chunk_pool pool;
    ss_sorter *records; /* NULL: those that were added are all still in `first` */
    uint64_t *first_fingerprints, *first_ids; /* room for FIRST_RECORDS, made with the first one */
    size_t first_count;
    id_source ids;
    uint64_t next_ordinal;
    uint64_t expected_largest_id;
    bool ignore_free_space;
    bool in_order; /* the records come sorted, so none of them is spilled */
};

/* Fail with ENOSPC where the disk has too little room for a build of `record_count` records, of which `spilled_bytes` are on
 * it already. */
sstore_status ss_builder_check_space(const sstore_builder *builder, uint64_t record_count, uint64_t spilled_bytes,
                                     sstore_error *error);

/* Make the store of the source's records instead of those that were added, of which there must be none; next_ordinal must
 * be set. `release`, if not NULL, is called when the source is not needed any more. Frees the builder, as
 * sstore_builder_finish() does. */
sstore_status ss_builder_finish_from(sstore_builder *builder, const ss_piece_source *source,
                                     void (*release)(void *context), sstore_error *error);

/* Build with `interval` (1 to SS_BLOCK_MAX_COUNT) fingerprints between two restart points instead of SS_RESTART_INTERVAL.
 * The format allows any, and readers take it from the store. Between create and finish. */
void ss_builder_set_restart_interval(sstore_builder *builder, uint32_t interval);

#endif
