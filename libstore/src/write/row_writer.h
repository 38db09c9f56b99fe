/*
 * row_writer.h - writes a segment of fingerprints of several words: table 0 with the whole fingerprints, the ids, and
 * the word indexes. Each of these is written like a segment of 64-bit fingerprints, whose records are (word, rank).
 */
#ifndef SS_ROW_WRITER_H
#define SS_ROW_WRITER_H

#include "write/segment_writer.h"

/* As ss_segment_write(), for any number of words. Items of pieces are the words of a fingerprint and, with ids, an id.
 * The plan of the writer, if there is one, is for each word. Free *segment_out by ss_manifest_segment_free(), also
 * after a failure. */
sstore_status ss_row_writer_write(const ss_segment_writer *writer, const ss_sorted_pieces *records,
                                  ss_manifest_segment *segment_out, sstore_error *error);

/* ss_build_memory_divide(), for any number of words. */
ss_sort_memory ss_row_writer_memory_divide(uint64_t limit_bytes, uint32_t threads, uint32_t words, bool with_ids,
                                           uint32_t block_bytes);

#endif
