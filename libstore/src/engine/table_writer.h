/*
 * table_writer.h - writes one table of a segment: first its neighbours are counted, then, with the code made from the
 * counts, its fingerprints are encoded. Also the id column, which goes beside table 0.
 */
#ifndef SS_TABLE_WRITER_H
#define SS_TABLE_WRITER_H

#include "base/bitcount.h"
#include "file/block_writer.h"
#include "file/directory.h"
#include "file/ids.h"
#include "file/manifest.h"

/* ----- counting ----- */

typedef struct ss_table_counts {
    uint64_t count;
    uint64_t last;
    uint64_t h_counts[SS_SYMBOL_COUNT];
    ss_bit_counter gap_bits;
} ss_table_counts;

void ss_table_counts_init(ss_table_counts *counts);

/* Count a fingerprint above the last one. */
static inline void ss_table_counts_add(ss_table_counts *counts, uint64_t fingerprint)
{
    if (counts->count++ > 0) {
        counts->h_counts[ss_first_difference(counts->last, fingerprint)]++;
        ss_bit_counter_add(&counts->gap_bits, fingerprint - counts->last);
    }
    counts->last = fingerprint;
}

/* ----- encoding ----- */

typedef struct ss_table_writer {
    ss_block_writer file;
    ss_code *code;
    ss_block_encoder *encoder;
    ss_array_writer keys, ranks;
    bool is_first; /* table 0, whose ranks are kept */
    uint64_t rank; /* of the next fingerprint */
} ss_table_writer;

/* Create table `number` of the segment in `dir`; uses up `counts`. The directory's writer is borrowed. */
sstore_status ss_table_writer_open(ss_table_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                   uint32_t number, ss_table_counts *counts, ss_directory_writer *directory,
                                   sstore_error *error);
sstore_status ss_table_writer_add(ss_table_writer *writer, uint64_t fingerprint, sstore_error *error);
sstore_status ss_table_writer_finish(ss_table_writer *writer, ss_manifest_file *file_out, sstore_error *error);
/* Also after a failure, and of a zeroed writer. */
void ss_table_writer_close(ss_table_writer *writer);

typedef struct ss_ids_writer {
    ss_block_writer file;
    ss_ids_encoder encoder;
    ss_array_writer keys;
} ss_ids_writer;

sstore_status ss_ids_writer_open(ss_ids_writer *writer, const ss_dir *dir, const ss_manifest_segment *segment,
                                 ss_directory_writer *directory, sstore_error *error);
sstore_status ss_ids_writer_add(ss_ids_writer *writer, uint64_t rank, uint64_t id, sstore_error *error);
sstore_status ss_ids_writer_finish(ss_ids_writer *writer, ss_manifest_file *file_out, sstore_error *error);
/* Also after a failure, and of a zeroed writer. */
void ss_ids_writer_close(ss_ids_writer *writer);

/* An upper bound of the arrays that a segment's directory will hold, in bytes. */
uint64_t ss_directory_bound_bytes(const ss_manifest_segment *segment, bool has_ids);

#endif
