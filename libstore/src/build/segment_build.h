/*
 * segment_build.h - makes the files of one segment from sorted records, within a fixed memory and on several threads.
 *
 * The records are read twice, in pieces: once to count (which gives the codes, the content sum and so the segment's
 * id), once to encode table 0 and the id column. Every other table is then made from table 0's file: decode, permute,
 * sort, count, encode. One table is made at a time, by all threads. Equal records and options give equal files, byte
 * for byte, whatever the memory, the threads and the pieces.
 */
#ifndef SS_SEGMENT_BUILD_H
#define SS_SEGMENT_BUILD_H

#include "base/call_progress.h"
#include "build/build_worker.h"
#include "build/piece_source.h"
#include "file/manifest.h"
#include "sort/chunk_pool.h"

/* The plan of a segment that removes: one table of whole fingerprints, since it is looked up, not searched. */
#define SS_REMOVAL_PLAN "1"

typedef struct ss_segment_build {
    const ss_dir *dir;     /* where the files go */
    const ss_dir *tmp_dir; /* where sorters spill */
    bool has_ids;
    ss_segment_kind kind;
    ss_build_memory memory;
    ss_chunk_pool *pool; /* what sorters keep items in */
    const char *plan_name; /* NULL: chosen from the fingerprints */
    uint32_t distance;
    uint32_t block_bytes;
    ss_progress *progress;
} ss_segment_build;

/* Make all files from the source's records; `release`, if not NULL, is called when they are written, to free what
 * they take. Fills
 * *segment_out but for its folder. */
sstore_status ss_segment_build_run(const ss_segment_build *build, const ss_piece_source *source,
                                   void (*release)(void *context), ss_manifest_segment *segment_out,
                                   sstore_error *error);

/* An upper bound of the arrays that a segment's directory holds, in bytes: known before its blocks are. */
uint64_t ss_directory_bound_bytes(const ss_manifest_segment *segment, bool has_ids);

#endif
