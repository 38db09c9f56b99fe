/*
 * id_table_form.h - the file format of id tables, which give ids their names (format-spec/id-table.md): header and
 * footer, and the inside of a block; and faults of such files. This touches memory only.
 */
#ifndef ID_TABLE_FORM_H
#define ID_TABLE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sstore.h"

#define ID_TABLE_HEADER_BYTES 16u
#define ID_TABLE_ROW_BYTES 24u
#define ID_TABLE_FOOTER_BYTES 48u
#define ID_TABLE_MAX_NAME_BYTES ((size_t)1 << 20)
#define ID_TABLE_BLOCK_BYTES 4096u /* the entry that reaches this length ends its block */
/* The numbers before a suffix have at most 3, 4 and 10 bytes. */
#define ID_TABLE_MAX_BLOCK_BYTES (ID_TABLE_BLOCK_BYTES - 1 + ID_TABLE_MAX_NAME_BYTES + 17)

/* A row of the index: where a block is. It ends where the next one begins. */
typedef struct id_table_row {
    uint64_t first_id, offset, checksum;
} id_table_row;

typedef struct id_table_footer {
    uint64_t entry_count, last_id, index_offset, block_count, index_checksum;
} id_table_footer;

typedef enum id_table_kind { ID_TABLE_OF_THIS_VERSION, ID_TABLE_OF_ANOTHER_VERSION, ID_TABLE_NONE } id_table_kind;

/* Fill the error with "PATH: at byte OFFSET: REASON", with what errno says if the status is SSTORE_ERROR_IO, and with
 * the remedy if it is SSTORE_ERROR_DAMAGED. Without a place, the offset is SSTORE_NO_OFFSET. Returns the status. */
sstore_status id_table_fail(sstore_error *error, sstore_status status, const char *path, uint64_t offset,
                            const char *reason);

uint64_t id_table_checksum(const void *bytes, size_t size);

void id_table_put_header(uint8_t to[ID_TABLE_HEADER_BYTES]);
id_table_kind id_table_take_header(const uint8_t from[ID_TABLE_HEADER_BYTES]);

void id_table_put_row(uint8_t to[ID_TABLE_ROW_BYTES], const id_table_row *row);
id_table_row id_table_take_row(const uint8_t from[ID_TABLE_ROW_BYTES]);

void id_table_put_footer(uint8_t to[ID_TABLE_FOOTER_BYTES], const id_table_footer *footer);
/* False: the checksum, which is also that of the header, is wrong. */
bool id_table_take_footer(const uint8_t header[ID_TABLE_HEADER_BYTES], const uint8_t from[ID_TABLE_FOOTER_BYTES],
                          id_table_footer *footer_out);

/* A name that grows and shrinks in place. */
typedef struct id_table_name {
    char *bytes;
    size_t length, capacity;
} id_table_name;

/* A block that is being made. Begins zeroed, and ends with id_table_encoder_free(). */
typedef struct id_table_encoder {
    uint8_t *bytes;
    size_t used, capacity;
    uint64_t first_id, last_id; /* if `used` is not 0 */
    id_table_name name;         /* of the last entry */
} id_table_encoder;

/* Append an entry. Its id is above the last one, and its name has at most ID_TABLE_MAX_NAME_BYTES. False: there is no
 * memory, and the block is as before. */
bool id_table_encoder_add(id_table_encoder *self, uint64_t id, const char *name, size_t length);
/* Begin the next block. */
void id_table_encoder_clear(id_table_encoder *self);
void id_table_encoder_free(id_table_encoder *self);

/* Reads a block, entry by entry. Begins zeroed, and ends with id_table_decoder_free(). */
typedef struct id_table_decoder {
    const uint8_t *begin, *at, *end;
    uint64_t id, max_id;
    id_table_name name; /* of entry `id`, after the first call of id_table_decoder_next() */
    const char *reason; /* what is wrong with the entry at `at` */
} id_table_decoder;

typedef enum id_table_step { ID_TABLE_ENTRY, ID_TABLE_END, ID_TABLE_MALFORMED, ID_TABLE_NO_MEMORY } id_table_step;

/* Begin to read the block, which stays valid meanwhile. Its first id is known, and so is a bound of the others. */
void id_table_decoder_begin(id_table_decoder *self, const uint8_t *bytes, size_t size, uint64_t first_id,
                            uint64_t max_id);
id_table_step id_table_decoder_next(id_table_decoder *self);
void id_table_decoder_free(id_table_decoder *self);

#endif
