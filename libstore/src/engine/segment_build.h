/*
 * segment_build.h - makes the files of one segment from sorted records, within a fixed memory.
 *
 * The records are read twice: once to count (which gives the codes, the content sum and so the segment's id), once to encode
 * table 0 and the id column. Every other table is then made from table 0's file: decode, permute, sort, count, encode; as
 * many at once as there are threads, sharing the memory. Equal records and options give equal block files, byte for byte.
 */
#ifndef SS_SEGMENT_BUILD_H
#define SS_SEGMENT_BUILD_H

#include "file/manifest.h"
#include "sort/extsort.h"

typedef struct ss_segment_build {
    const ss_dir *dir;     /* where the files go */
    const ss_dir *tmp_dir; /* where sorters spill */
    bool has_ids;
    uint64_t memory_bytes;
    uint32_t threads;
    const char *plan_name; /* NULL: chosen from the fingerprints */
    uint32_t distance;
    ss_geometry geometry;
    int (*should_stop)(void *context); /* or NULL */
    void *stop_context;
} ss_segment_build;

/* Make all files from the sorter's records, which is freed when they are written. Fills *segment_out but for its folder. */
sstore_status ss_segment_build_run(const ss_segment_build *build, ss_sorter **records, ss_manifest_segment *segment_out,
                                   sstore_error *error);

#endif
