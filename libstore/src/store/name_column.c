#include "store/name_column.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define SHOWN_BYTES 200u /* of a name in a message */

#define MALFORMED_NAME "a name is malformed"
#define TOO_LONG "a name is longer than names can be"
#define LOST_PART "a name does not go on in the next block"
#define DOES_NOT_FOLLOW "its names do not follow those of the block before"
#define DESCENDS "its ids do not ascend"
#define OTHER_COUNT "the number of names differs from the manifest's"
#define OTHER_LAST_ID "its last id differs from its key in the directory"

sstore_status ss_check_name(const sstore_name *name, size_t index, sstore_error *error)
{
    if (name->bytes != NULL && ss_name_valid(name->bytes, name->size))
        return SSTORE_OK;
    return ss_fail_argument(
        error,
        "name %llu cannot be one: it has %llu bytes, and NUL or newline, or none; a name has 1 to %u "
        "bytes without these two",
        (unsigned long long)index, (unsigned long long)name->size, SS_MAX_NAME_BYTES);
}

sstore_status ss_check_names(bool has_names, const char *path, const sstore_name *names, size_t count,
                             sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (!has_names)
        return ss_fail_argument(error, "%s: the store has no names; build it with names", path);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = ss_check_name(&names[i], i, error);
    return status;
}

/* Make a name printable. */
static void show(const uint8_t *name, size_t size, char shown[SHOWN_BYTES + 1])
{
    char text[SHOWN_BYTES + 1];
    const size_t taken = ss_min_u64(size, SHOWN_BYTES);
    memcpy(text, name, taken);
    text[taken] = '\0';
    ss_printable(text, shown, SHOWN_BYTES + 1);
}

sstore_status ss_fail_two_names(uint64_t id, const uint8_t *name, size_t size, const uint8_t *other, size_t other_size,
                                ss_name_owner owner, sstore_error *error)
{
    char shown[SHOWN_BYTES + 1], other_shown[SHOWN_BYTES + 1];
    show(name, size, shown);
    show(other, other_size, other_shown);
    const char *remedy = "";
    if (owner == SS_NAME_STORED)
        remedy = "; the second one is in the store, and stays until the id's records are removed and all segments "
                 "compacted";
    if (owner == SS_NAME_MERGED)
        remedy = ", in two of the merged stores; if the ids of each begin with 0, set raise_ids";
    return ss_fail_argument(error, "id %llu has two names: '%s' and '%s'%s", (unsigned long long)id, shown, other_shown,
                            remedy);
}

/* ===== blocks ===== */

static sstore_status open_block(const ss_block_reader *reader, uint64_t number, const uint8_t *bytes,
                                ss_names_block *block, sstore_error *error)
{
    const char *reason;
    if (SS_UNLIKELY(!ss_names_block_open(block, bytes, reader->header.block_bytes, &reason)))
        return ss_block_reader_malformed(reader, number, reason, error);
    return SSTORE_OK;
}

/* Add the codes of a block to those of a name. */
static sstore_status gather(const ss_block_reader *reader, uint64_t number, const ss_names_block *block, uint8_t *codes,
                            size_t *total, sstore_error *error)
{
    uint32_t size;
    const uint8_t *part = ss_names_block_codes(block, &size);
    const size_t room = SS_NAME_CODES_BYTES - *total;
    if (size > room && block->continued)
        return ss_block_reader_malformed(reader, number, TOO_LONG, error);
    memcpy(codes + *total, part, ss_min_u64(size, room)); /* zeros follow the end */
    *total += ss_min_u64(size, room);
    return SSTORE_OK;
}

/* Check that a block is the next one of a name. */
static sstore_status check_part(const ss_block_reader *reader, uint64_t number, const ss_names_block *block,
                                uint64_t id, sstore_error *error)
{
    if (block->count == 0 && block->first_id == id)
        return SSTORE_OK;
    return ss_block_reader_malformed(reader, number, LOST_PART, error);
}

/* ===== in order ===== */

sstore_status ss_names_iterator_open(ss_names_iterator *iterator, const ss_segment *names, sstore_error *error)
{
    const ss_block_reader *reader = &names->ids;
    *iterator = (ss_names_iterator){.reader = reader, .fragments = names->fragments};
    ss_names_iterator_rewind(iterator);
    iterator->buffer = ss_alloc(1, reader->header.block_bytes);
    iterator->walk.first = ss_alloc(1, SS_NAME_BUFFER_BYTES);
    iterator->walk.name = ss_alloc(1, SS_NAME_BUFFER_BYTES);
    if (iterator->buffer == NULL || iterator->walk.first == NULL || iterator->walk.name == NULL)
        return ss_fail_memory(error, 2 * SS_NAME_BUFFER_BYTES);
    return SSTORE_OK;
}

void ss_names_iterator_close(ss_names_iterator *iterator)
{
    ss_free(iterator->buffer);
    ss_free(iterator->walk.first);
    ss_free(iterator->walk.name);
    ss_free(iterator->codes);
    *iterator = (ss_names_iterator){.reader = NULL};
}

void ss_names_iterator_rewind(ss_names_iterator *iterator)
{
    iterator->block = (ss_names_block){.count = 0};
    iterator->walk.index = 0;
    iterator->next_block = iterator->count = 0;
    iterator->ahead = ss_read_ahead_from(0, UINT64_MAX);
}

static sstore_status read_block(ss_names_iterator *iterator, sstore_error *error)
{
    const ss_block_reader *reader = iterator->reader;
    const uint64_t number = iterator->next_block++;
    const uint8_t *bytes;
    ss_block_reader_ahead(reader, number, &iterator->ahead);
    const sstore_status status = ss_block_reader_get_once(reader, number, iterator->buffer, &bytes, error);
    return status == SSTORE_OK ? open_block(reader, number, bytes, &iterator->block, error) : status;
}

/* Gather and decode the name that begins in the block, and goes on in others. */
static sstore_status read_long(ss_names_iterator *iterator, sstore_error *error)
{
    const ss_block_reader *reader = iterator->reader;
    const uint64_t id = iterator->block.first_id;
    size_t total = 0;
    if (iterator->codes == NULL)
        iterator->codes = ss_alloc(1, SS_NAME_CODES_BYTES);
    if (iterator->codes == NULL)
        return ss_fail_memory(error, SS_NAME_CODES_BYTES);
    sstore_status status = gather(reader, iterator->first_block, &iterator->block, iterator->codes, &total, error);
    while (status == SSTORE_OK && iterator->block.continued) {
        if (iterator->next_block == reader->header.block_count)
            return ss_block_reader_malformed(reader, iterator->next_block - 1, LOST_PART, error);
        status = read_block(iterator, error);
        if (status == SSTORE_OK)
            status = check_part(reader, iterator->next_block - 1, &iterator->block, id, error);
        if (status == SSTORE_OK)
            status = gather(reader, iterator->next_block - 1, &iterator->block, iterator->codes, &total, error);
    }
    if (status == SSTORE_OK &&
        !ss_names_decode_codes(iterator->fragments, iterator->codes, total, iterator->walk.name, &iterator->walk.size))
        status = ss_block_reader_malformed(reader, iterator->first_block, MALFORMED_NAME, error);
    iterator->block.count = 1; /* of which all names were read */
    iterator->walk.index = 1;
    return status;
}

/* Go to the next block, and to its first name. */
static sstore_status begin_block(ss_names_iterator *iterator, sstore_error *error)
{
    iterator->first_block = iterator->next_block;
    sstore_status status = read_block(iterator, error);
    if (status != SSTORE_OK)
        return status;
    if (iterator->block.count == 0 || (iterator->count > 0 && iterator->block.first_id <= iterator->id))
        return ss_block_reader_malformed(iterator->reader, iterator->first_block, DOES_NOT_FOLLOW, error);
    ss_names_walk_begin(&iterator->walk, &iterator->block);
    iterator->id = iterator->block.first_id;
    if (iterator->block.continued)
        return read_long(iterator, error);
    return ss_names_walk_next(&iterator->walk, &iterator->block, iterator->fragments)
               ? SSTORE_OK
               : ss_block_reader_malformed(iterator->reader, iterator->first_block, MALFORMED_NAME, error);
}

/* Go to the next name of the block. */
static sstore_status next_in_block(ss_names_iterator *iterator, sstore_error *error)
{
    const uint64_t id = ss_names_block_id(&iterator->block, iterator->walk.index);
    if (id <= iterator->id)
        return ss_block_reader_malformed(iterator->reader, iterator->first_block, DESCENDS, error);
    iterator->id = id;
    return ss_names_walk_next(&iterator->walk, &iterator->block, iterator->fragments)
               ? SSTORE_OK
               : ss_block_reader_malformed(iterator->reader, iterator->first_block, MALFORMED_NAME, error);
}

sstore_status ss_names_iterator_next(ss_names_iterator *iterator, bool *more_out, sstore_error *error)
{
    const ss_block_header *header = &iterator->reader->header;
    sstore_status status = SSTORE_OK;
    *more_out = true;
    if (iterator->walk.index < iterator->block.count) {
        status = next_in_block(iterator, error);
    } else if (iterator->next_block < header->block_count) {
        status = begin_block(iterator, error);
    } else {
        *more_out = false;
        if (iterator->count != header->item_count)
            return ss_fail_damaged(error, iterator->reader->file.path, SSTORE_NO_OFFSET, OTHER_COUNT);
        return SSTORE_OK;
    }
    iterator->name = iterator->walk.name;
    iterator->size = iterator->walk.size;
    iterator->count += status == SSTORE_OK;
    return status;
}

/* What the directory has of the blocks so far. */
typedef struct block_index {
    const ss_block_reader *reader;
    ss_array_writer ids, numbers;
    uint64_t last, number; /* the last id, and the number of names */
    bool continued;        /* the last name goes on */
} block_index;

static sstore_status index_block(block_index *self, uint64_t number, const ss_names_block *block, sstore_error *error)
{
    const bool is_part = block->count == 0;
    if (is_part != self->continued || (is_part && block->first_id != self->last) ||
        (!is_part && self->number > 0 && block->first_id <= self->last))
        return ss_block_reader_malformed(self->reader, number, DOES_NOT_FOLLOW, error);
    if (!is_part)
        self->last = ss_names_block_id(block, block->count - 1);
    if (self->last < block->first_id)
        return ss_block_reader_malformed(self->reader, number, DESCENDS, error);
    sstore_status status = ss_array_writer_add(&self->ids, self->last, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_add(&self->numbers, self->number, error);
    self->number += block->count;
    self->continued = block->continued;
    return status;
}

sstore_status ss_names_index_blocks(const ss_block_reader *reader, ss_directory_writer *directory, sstore_error *error)
{
    uint8_t *buffer = ss_alloc(1, reader->header.block_bytes);
    ss_read_ahead ahead = ss_read_ahead_from(0, UINT64_MAX);
    block_index self = {.reader = reader};
    sstore_status status = buffer != NULL ? SSTORE_OK : ss_fail_memory(error, reader->header.block_bytes);
    ss_array_writer_init(&self.ids, directory, SS_ARRAY_KEYS, SS_NAMES_NUMBER);
    ss_array_writer_init(&self.numbers, directory, SS_ARRAY_RANKS, SS_NAMES_NUMBER);
    for (uint64_t i = 0; status == SSTORE_OK && i < reader->header.block_count; i++) {
        const uint8_t *bytes;
        ss_names_block block;
        ss_block_reader_ahead(reader, i, &ahead);
        status = ss_block_reader_get_once(reader, i, buffer, &bytes, error);
        if (status == SSTORE_OK)
            status = open_block(reader, i, bytes, &block, error);
        if (status == SSTORE_OK)
            status = index_block(&self, i, &block, error);
    }
    if (status == SSTORE_OK && (self.continued || self.number != reader->header.item_count))
        status = ss_fail_damaged(error, reader->file.path, SSTORE_NO_OFFSET, OTHER_COUNT);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&self.ids, error);
    if (status == SSTORE_OK)
        status = ss_array_writer_finish(&self.numbers, error);
    ss_array_writer_free(&self.ids);
    ss_array_writer_free(&self.numbers);
    ss_free(buffer);
    return status;
}

/* ===== by id or number ===== */

sstore_status ss_name_room_open(ss_name_room *room, sstore_error *error)
{
    *room = (ss_name_room){.name = ss_alloc_sparse(SS_NAME_BUFFER_BYTES),
                           .codes = ss_alloc_sparse(SS_NAME_CODES_BYTES)};
    return room->name != NULL && room->codes != NULL ? SSTORE_OK : ss_fail_memory(error, SS_NAME_ROOM_BYTES);
}

void ss_name_room_close(ss_name_room *room)
{
    ss_free(room->name);
    ss_free(room->codes);
    *room = (ss_name_room){.name = NULL};
}

/* Get a block through the slot. */
static sstore_status get_block(const ss_block_reader *reader, uint64_t number, ss_block_slot *slot,
                               ss_names_block *block, sstore_error *error)
{
    ss_block_slot_prefetch(slot, reader, number);
    const sstore_status status = ss_block_slot_wait(slot, error);
    return status == SSTORE_OK ? open_block(reader, number, slot->bytes, block, error) : status;
}

/* Gather and decode the name that begins in a block, and goes on in others. */
static sstore_status get_long(const ss_segment *names, uint64_t number, ss_names_block *block, ss_block_slot *slot,
                              ss_name_room *room, sstore_error *error)
{
    const ss_block_reader *reader = &names->ids;
    const uint64_t id = block->first_id, first = number;
    size_t total = 0;
    sstore_status status = gather(reader, number, block, room->codes, &total, error);
    while (status == SSTORE_OK && block->continued) {
        if (++number == reader->header.block_count)
            return ss_block_reader_malformed(reader, first, LOST_PART, error);
        if (slot->steps != NULL)
            slot->steps->left++;
        status = get_block(reader, number, slot, block, error);
        if (status == SSTORE_OK)
            status = check_part(reader, number, block, id, error);
        if (status == SSTORE_OK)
            status = gather(reader, number, block, room->codes, &total, error);
    }
    if (status == SSTORE_OK && !ss_names_decode_codes(names->fragments, room->codes, total, room->name, &room->size))
        return ss_block_reader_malformed(reader, first, MALFORMED_NAME, error);
    return status;
}

sstore_status ss_name_decode(const ss_name_place *place, ss_block_slot *slot, ss_name_room *room, sstore_error *error)
{
    ss_names_block block = place->block;
    if (block.continued)
        return get_long(place->names, place->number, &block, slot, room, error);
    return ss_names_block_decode(&block, place->names->fragments, place->index, room->name, &room->size)
               ? SSTORE_OK
               : ss_block_reader_malformed(&place->names->ids, place->number, MALFORMED_NAME, error);
}

sstore_status ss_names_find(const ss_segment *names, uint64_t id, uint64_t number, ss_block_slot *slot,
                            ss_name_place *place_out, sstore_error *error)
{
    ss_names_block *block = &place_out->block;
    place_out->names = NULL;
    if (number == names->ids_keys.keys.count)
        return SSTORE_OK;
    const sstore_status status = get_block(&names->ids, number, slot, block, error);
    if (status != SSTORE_OK)
        return status;
    if (block->count == 0 || ss_names_block_id(block, block->count - 1) != ss_array_at(&names->ids_keys.keys, number))
        return ss_block_reader_malformed(&names->ids, number, OTHER_LAST_ID, error);
    place_out->index = ss_names_block_find(block, id);
    if (place_out->index == block->count)
        return SSTORE_OK;
    place_out->names = names;
    place_out->number = number;
    ss_names_block_prefetch(block, place_out->index);
    return SSTORE_OK;
}

sstore_status ss_names_get(const ss_segment *names, uint64_t id, uint64_t number, ss_block_slot *slot,
                           ss_name_room *room, bool *found_out, sstore_error *error)
{
    ss_name_place place;
    const sstore_status status = ss_names_find(names, id, number, slot, &place, error);
    *found_out = status == SSTORE_OK && place.names != NULL;
    return *found_out ? ss_name_decode(&place, slot, room, error) : status;
}

sstore_status ss_names_get_number(const ss_segment *names, uint64_t name_number, ss_block_slot *slot,
                                  ss_name_room *room, uint64_t *id_out, sstore_error *error)
{
    const ss_key_index *numbers = &names->numbers;
    ss_name_place place = {.names = names};
    if (name_number >= names->metadata.record_count)
        return ss_fail_damaged(error, names->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                               "the name index has a number that no name has");
    place.number = ss_key_index_find(numbers, name_number + 1) - 1; /* the first one is 0 */
    const sstore_status status = get_block(&names->ids, place.number, slot, &place.block, error);
    if (status != SSTORE_OK)
        return status;
    const uint64_t index = name_number - ss_array_at(&numbers->keys, place.number);
    if (index >= place.block.count)
        return ss_block_reader_malformed(&names->ids, place.number, "it has fewer names than the directory says",
                                         error);
    place.index = (uint32_t)index;
    *id_out = ss_names_block_id(&place.block, place.index);
    return ss_name_decode(&place, slot, room, error);
}
