/*
 * name_writer.h - writes the column of the names of a segment, in the order of its ids, which are read from its id
 * index. The names are read twice: to count, which gives their sum and so the id of the name part, a sample for the
 * fragments, and the items of the name index; then to encode them.
 */
#ifndef SS_NAME_WRITER_H
#define SS_NAME_WRITER_H

#include "base/tasks.h"
#include "sort/sorter.h"
#include "store/manifest.h"
#include "write/name_merge.h"

typedef struct ss_name_writer {
    const ss_dir *segment_dir; /* of the segment, whose tables, ids and id index are written; all are borrowed */
    const ss_manifest_segment *segment;
    const ss_dir *dir; /* of the name part */
    const ss_dir *tmp_dir;
    ss_name_merge *names;
    ss_progress *progress;
    ss_sort_memory memory;
    ss_chunk_pool *pool;
} ss_name_writer;

/* Write the column. *part has its plan and block size, and zeros otherwise. It gets its kind, counts, content sum,
 * segment id and column file. *pieces_out are the sorted fingerprints of its table; release them, but not after a
 * failure. IO, MEMORY, DAMAGED, STOPPED; ARGUMENT if an id has two names. */
sstore_status ss_name_writer_run(const ss_name_writer *self, ss_manifest_segment *part, ss_sorted_pieces *pieces_out,
                                 sstore_error *error);

#endif
