/*
 * id_table_writer.h - makes an id table, or continues one.
 *
 * The table is written to a file beside it, PATH.sstore-new, which replaces the one at PATH when it is complete and on
 * the disk. Until then, and after any failure, the table at PATH is as before. A lock on the new file keeps other
 * writers out; what a killed writer left is overwritten.
 *
 * Memory: 24 bytes for each block of 4 KiB. Functions fail with BUSY (another process writes the table), ARGUMENT,
 * MEMORY, IO, or as those of id_table_reader.h about the existing table.
 */
#ifndef ID_TABLE_WRITER_H
#define ID_TABLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"

typedef struct id_table_writer id_table_writer;

/* Begin to write. If there is a table at `path`, or where a link there leads to, its entries are in the new one. */
sstore_status id_table_writer_open(const char *path, id_table_writer **writer_out, sstore_error *error);

/* The number of entries so far, and the largest id. */
uint64_t id_table_writer_count(const id_table_writer *self);
uint64_t id_table_writer_last_id(const id_table_writer *self);

/* Append an entry. ARGUMENT: the id is not above the last one, or the name is too long. */
sstore_status id_table_writer_add(id_table_writer *self, uint64_t id, const char *name, size_t length,
                                  sstore_error *error);

/* Put the new table in the place of the old one. After this, or a failure, only id_table_writer_free() may follow. */
sstore_status id_table_writer_commit(id_table_writer *self, sstore_error *error);

/* Without a commit, the new table is removed. */
void id_table_writer_free(id_table_writer *self);

#endif
