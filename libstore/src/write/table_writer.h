/*
 * table_writer.h - writes a table of a segment from sorted pieces, and with table 0 the ids. The pieces are read twice:
 * to count, which gives the code of the table, and to encode it. All threads work on one table: each loads a piece,
 * divides it into columns, and counts it; or it reserves the blocks, when it is the piece's turn, and writes them.
 */
#ifndef SS_TABLE_WRITER_H
#define SS_TABLE_WRITER_H

#include "base/tasks.h"
#include "plan/cost.h"
#include "sort/sorter.h"
#include "write/column_writer.h"

typedef struct ss_table_writer {
    const ss_dir *dir; /* for the files */
    ss_manifest_segment *segment;
    ss_directory_writer *directory; /* needed to write */
    ss_progress *progress;
    uint32_t threads;
    /* Of the current table: */
    uint32_t number;
    ss_sorted_pieces pieces; /* of records, if the table has ids; else of fingerprints */
    ss_table_totals totals;  /* as counted: the number of distinct fingerprints, and what the code follows from */
    uint64_t max_id;         /* as counted, of table 0 with ids */
    /* Set by ss_table_writer_open(): */
    bool has_ids;
    struct ss_table_worker *workers; /* one a thread */
    uint64_t *ends;                  /* of the pieces */
    ss_column_writer table, ids;
    ss_sequencer sequencer;
} ss_table_writer;

/* The bytes that a thread takes for pieces of up to `capacity` items, except for a sample. */
uint64_t ss_table_writer_bytes(uint32_t words, bool has_ids, uint32_t block_bytes, size_t capacity);

/* Make room for pieces of up to `capacity` items. The fields above are set. Close it also after a failure. MEMORY. */
sstore_status ss_table_writer_open(ss_table_writer *self, bool has_ids, size_t capacity, sstore_error *error);
void ss_table_writer_close(ss_table_writer *self);

/* Count all pieces of the current table. If it is table 0, also set the counts and the content sum of the segment.
 * `sampler`, if not NULL, gets a sample of the fingerprints, which then have one word. MEMORY, and the errors of the
 * pieces. */
sstore_status ss_table_writer_count(ss_table_writer *self, ss_sampler *sampler, sstore_error *error);

/* Write the current table, and its ids, and fill in their files in the segment. IO, MEMORY, and the errors of the
 * pieces. */
sstore_status ss_table_writer_write(ss_table_writer *self, sstore_error *error);

#endif
