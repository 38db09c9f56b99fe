/*
 * directory_rebuild.h - makes the directory of a segment from its block files. All blocks are read, and checked as far as
 * the directory rests on them: that they are sound, and follow each other. Reading them takes far longer than the rest. Where a build of the
 * segment on this host would make the directory, up to 2^16 blocks a file, it is the same file, byte for byte.
 */
#ifndef SS_DIRECTORY_REBUILD_H
#define SS_DIRECTORY_REBUILD_H

#include "base/call_progress.h"
#include "store/segment.h"

/* Segments whose directories are made, one after the other. */
typedef struct ss_directory_rebuild {
    ss_progress *progress;
    uint64_t item_count;  /* fingerprints of all tables, and records of id columns, of all of the segments */
    uint64_t begun_count; /* of them, in files that were begun */
} ss_directory_rebuild;

/* The items that are read for a segment's directory. */
uint64_t ss_directory_rebuild_items(const ss_manifest_segment *segment, bool has_ids);

/*
 * Write the directory of a segment, open for its blocks only, into `dir`, and note in *facts how large it is, its sum,
 * and its format. Beside the segment it takes a few blocks. DAMAGED
 * (a block file), MEMORY, IO, STOPPED.
 */
sstore_status ss_directory_rebuild_run(ss_directory_rebuild *self, const ss_segment *segment, bool has_ids,
                                       const ss_dir *dir, ss_manifest_segment *facts, sstore_error *error);

#endif
