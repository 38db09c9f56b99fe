/*
 * id_table_reader.h - finds the names of ids in an id table. A lookup is a binary search in the index, which is in
 * memory, and a pass over one block. Blocks are read when they are needed; the last ones that were stay in memory, at
 * most 9 MiB of them.
 *
 * Everything that is read is checked. Functions fail with NOT_FOUND (there is no file), UNSUPPORTED (the file is no id
 * table, or of a later version), DAMAGED, IO or MEMORY. A reader is for one thread.
 */
#ifndef ID_TABLE_READER_H
#define ID_TABLE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"

typedef struct id_table_reader id_table_reader;

/* Open a table, and check all but its blocks. */
sstore_status id_table_reader_open(const char *path, id_table_reader **reader_out, sstore_error *error);
void id_table_reader_close(id_table_reader *self);

uint64_t id_table_reader_count(const id_table_reader *self);
/* The largest id; 0 in an empty table. */
uint64_t id_table_reader_last_id(const id_table_reader *self);
/* The permissions of the file. */
unsigned id_table_reader_mode(const id_table_reader *self);

/* Find the name of an id, which is valid until the next call, and has no zero at its end. NULL: the table lacks the
 * id. */
sstore_status id_table_reader_find(id_table_reader *self, uint64_t id, const char **name_out, size_t *length_out,
                                   sstore_error *error);

/* Read and check everything. Call `visit` for each id in ascending order until it returns false. */
sstore_status id_table_reader_each(id_table_reader *self,
                                   bool (*visit)(void *context, uint64_t id, const char *name, size_t length),
                                   void *context, sstore_error *error);

/* A block as it is in the file, with the right checksum, in memory that the next call uses again. */
typedef struct id_table_block {
    const uint8_t *bytes;
    size_t size;
    uint64_t first_id, max_id;
} id_table_block;

uint64_t id_table_reader_block_count(const id_table_reader *self);
sstore_status id_table_reader_block(id_table_reader *self, uint64_t index, id_table_block *block_out,
                                    sstore_error *error);

#endif
