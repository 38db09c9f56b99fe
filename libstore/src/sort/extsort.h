/*
 * extsort.h - sort any number of records within a fixed memory: sorted runs in memory, spilled to a nameless file when the
 * memory is full, merged when read. Equal records are kept once.
 *
 * Keys without ids are records with id 0, kept in half the room: a sorter is told which of the two it holds. What is
 * read back can be read again from the start: builders count first and encode then.
 */
#ifndef SS_EXTSORT_H
#define SS_EXTSORT_H

#include "base/common.h"
#include "base/file.h"

typedef struct ss_sorter ss_sorter;

/* A sorter of at most about `memory_bytes` (at least 1 MiB), which spills into the folder `tmp_dir` (borrowed). */
sstore_status ss_sorter_create(bool with_ids, uint64_t memory_bytes, const ss_dir *tmp_dir, ss_sorter **sorter_out,
                               sstore_error *error);
void ss_sorter_free(ss_sorter *sorter);

/* Add records; `ids` is not read by a sorter without ids. */
sstore_status ss_sorter_add(ss_sorter *sorter, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                            sstore_error *error);

/* Sort what was added and go to the first record; may be called again to start over. Nothing can be added after. */
sstore_status ss_sorter_rewind(ss_sorter *sorter, sstore_error *error);

/* Get the next records in ascending order, up to `capacity`; *count_out is 0 at the end. ids are 0 in a sorter without
 * ids. */
sstore_status ss_sorter_read(ss_sorter *sorter, sstore_record *records, size_t capacity, size_t *count_out,
                             sstore_error *error);

#endif
