#include "names/id_table_form.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "output/messages.h"

#define MAGIC "\x89ssname\n"
#define MAGIC_BYTES 8u
#define VERSION 1u
#define MAX_VARINT_BYTES 10u

sstore_status id_table_fail(sstore_error *error, sstore_status status, const char *path, uint64_t offset,
                            const char *reason)
{
    const int number = status == SSTORE_ERROR_IO ? errno : 0;
    char name[600], place[48] = "";
    (void)sstore_escape(path, strlen(path), false, name, sizeof name);
    *error = (sstore_error){.status = status, .system_errno = number, .offset = offset};
    snprintf(error->file, sizeof error->file, "%s", path);
    if (offset != SSTORE_NO_OFFSET)
        snprintf(place, sizeof place, "at byte %" PRIu64 ": ", offset);
    snprintf(error->message, sizeof error->message, "%s: %s%s%s%s", name, place, reason, number != 0 ? ": " : "",
             number != 0                      ? strerror(number)
             : status == SSTORE_ERROR_DAMAGED ? "; restore the id table from a copy, or make it again"
                                              : "");
    return status;
}

uint64_t id_table_checksum(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

/* ----- header, index and footer ----- */

static void put_u64(uint8_t *to, uint64_t value)
{
    for (size_t i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t take_u64(const uint8_t *from)
{
    uint64_t value = 0;
    for (size_t i = 0; i < 8; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

void id_table_put_header(uint8_t to[ID_TABLE_HEADER_BYTES])
{
    memcpy(to, MAGIC, MAGIC_BYTES);
    put_u64(to + MAGIC_BYTES, VERSION);
}

id_table_kind id_table_take_header(const uint8_t from[ID_TABLE_HEADER_BYTES])
{
    if (memcmp(from, MAGIC, MAGIC_BYTES) != 0)
        return ID_TABLE_NONE;
    return take_u64(from + MAGIC_BYTES) == VERSION ? ID_TABLE_OF_THIS_VERSION : ID_TABLE_OF_ANOTHER_VERSION;
}

void id_table_put_row(uint8_t to[ID_TABLE_ROW_BYTES], const id_table_row *row)
{
    put_u64(to, row->first_id);
    put_u64(to + 8, row->offset);
    put_u64(to + 16, row->checksum);
}

id_table_row id_table_take_row(const uint8_t from[ID_TABLE_ROW_BYTES])
{
    return (id_table_row){take_u64(from), take_u64(from + 8), take_u64(from + 16)};
}

#define CHECKED_FOOTER_BYTES (ID_TABLE_FOOTER_BYTES - 8)

static uint64_t footer_checksum(const uint8_t header[ID_TABLE_HEADER_BYTES], const uint8_t *footer)
{
    uint8_t both[ID_TABLE_HEADER_BYTES + CHECKED_FOOTER_BYTES];
    memcpy(both, header, ID_TABLE_HEADER_BYTES);
    memcpy(both + ID_TABLE_HEADER_BYTES, footer, CHECKED_FOOTER_BYTES);
    return id_table_checksum(both, sizeof both);
}

void id_table_put_footer(uint8_t to[ID_TABLE_FOOTER_BYTES], const id_table_footer *footer)
{
    uint8_t header[ID_TABLE_HEADER_BYTES];
    id_table_put_header(header);
    put_u64(to, footer->entry_count);
    put_u64(to + 8, footer->last_id);
    put_u64(to + 16, footer->index_offset);
    put_u64(to + 24, footer->block_count);
    put_u64(to + 32, footer->index_checksum);
    put_u64(to + CHECKED_FOOTER_BYTES, footer_checksum(header, to));
}

bool id_table_take_footer(const uint8_t header[ID_TABLE_HEADER_BYTES], const uint8_t from[ID_TABLE_FOOTER_BYTES],
                          id_table_footer *footer_out)
{
    *footer_out = (id_table_footer){.entry_count = take_u64(from),
                                    .last_id = take_u64(from + 8),
                                    .index_offset = take_u64(from + 16),
                                    .block_count = take_u64(from + 24),
                                    .index_checksum = take_u64(from + 32)};
    return take_u64(from + CHECKED_FOOTER_BYTES) == footer_checksum(header, from);
}

/* ----- numbers in a block: 7 bits a byte, the lowest first; all bytes but the last have the top bit ----- */

static uint8_t *put_varint(uint8_t *to, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *to++ = (uint8_t)(value | 128);
    *to++ = (uint8_t)value;
    return to;
}

/* False: it breaks off, has more bytes than it needs, or has more than 64 bits. */
static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value_out)
{
    uint64_t value = 0;
    if (*at < end && **at < 128) { /* as most are */
        *value_out = *(*at)++;
        return true;
    }
    for (unsigned shift = 0; shift < 7 * MAX_VARINT_BYTES && *at < end; shift += 7) {
        const uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *value_out = value;
            return (byte > 0 || shift == 0) && (shift < 63 || byte == 1);
        }
    }
    return false;
}

/* ----- making a block ----- */

/* Keep `shared` bytes of the name, and append the suffix. */
static bool set_name(id_table_name *name, size_t shared, const void *suffix, size_t length)
{
    /* An empty name also has an address. */
    if (shared + length >= name->capacity && !grow(&name->bytes, &name->capacity, shared + length + 1, 1))
        return false;
    if (length > 0)
        memcpy(name->bytes + shared, suffix, length);
    name->length = shared + length;
    return true;
}

static size_t common_length(const id_table_name *name, const char *other, size_t length)
{
    const size_t most = name->length < length ? name->length : length;
    size_t shared = 0;
    while (shared < most && name->bytes[shared] == other[shared])
        shared++;
    return shared;
}

bool id_table_encoder_add(id_table_encoder *self, uint64_t id, const char *name, size_t length)
{
    const bool is_first = self->used == 0;
    const uint64_t gap = is_first ? 1 : id - self->last_id;
    const size_t shared = is_first ? 0 : common_length(&self->name, name, length), rest = length - shared;
    if (!grow(&self->bytes, &self->capacity, self->used + rest + 3 * MAX_VARINT_BYTES, 1) ||
        !set_name(&self->name, shared, name + shared, rest))
        return false;
    uint8_t *at = self->bytes + self->used;
    at = put_varint(at, shared);
    at = put_varint(at, (uint64_t)rest << 1 | (gap > 1));
    if (gap > 1)
        at = put_varint(at, gap - 2);
    if (rest > 0)
        memcpy(at, name + shared, rest);
    self->used = (size_t)(at - self->bytes) + rest;
    self->last_id = id;
    if (is_first)
        self->first_id = id;
    return true;
}

void id_table_encoder_clear(id_table_encoder *self)
{
    self->used = 0;
}

void id_table_encoder_free(id_table_encoder *self)
{
    free(self->bytes);
    free(self->name.bytes);
}

/* ----- reading a block ----- */

void id_table_decoder_begin(id_table_decoder *self, const uint8_t *bytes, size_t size, uint64_t first_id,
                            uint64_t max_id)
{
    self->begin = self->at = bytes;
    self->end = bytes + size;
    self->id = first_id;
    self->max_id = max_id;
    self->name.length = 0;
}

static id_table_step malformed(id_table_decoder *self, const uint8_t *entry, const char *reason)
{
    self->at = entry;
    self->reason = reason;
    return ID_TABLE_MALFORMED;
}

id_table_step id_table_decoder_next(id_table_decoder *self)
{
    const uint8_t *entry = self->at;
    const bool is_first = entry == self->begin;
    uint64_t shared, rest, gap = 0;
    if (entry == self->end)
        return ID_TABLE_END;
    if (!take_varint(&self->at, self->end, &shared) || !take_varint(&self->at, self->end, &rest))
        return malformed(self, entry, "a length breaks off, or has more digits than it needs");
    const bool has_gap = (rest & 1) != 0;
    rest >>= 1;
    if (has_gap && (is_first || !take_varint(&self->at, self->end, &gap)))
        return malformed(self, entry, "a distance of ids breaks off, or stands before the first entry");
    const uint64_t room = self->max_id - self->id;
    if (!is_first && (room < 1 || (has_gap && (room < 2 || gap > room - 2))))
        return malformed(self, entry, "an id is above those of its block");
    if (shared > self->name.length)
        return malformed(self, entry, "a name shares more bytes with the one before than that has");
    if (rest > (uint64_t)(self->end - self->at) || shared + rest > ID_TABLE_MAX_NAME_BYTES)
        return malformed(self, entry, "a name is too long");
    if (!set_name(&self->name, (size_t)shared, self->at, (size_t)rest)) {
        self->at = entry;
        return ID_TABLE_NO_MEMORY;
    }
    self->at += rest;
    if (!is_first)
        self->id += has_gap ? gap + 2 : 1;
    return ID_TABLE_ENTRY;
}

void id_table_decoder_free(id_table_decoder *self)
{
    free(self->name.bytes);
}
