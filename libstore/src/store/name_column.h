/*
 * name_column.h - reads the names of a segment: one after the other, or those of an id or a number. Everything that is
 * returned is checked: errors are IO, DAMAGED and MEMORY.
 *
 * The name part (store/manifest.h) is open like any index of a segment: its column is `ids`, the last ids of the
 * blocks are `ids_keys`, the numbers of their first names are `numbers`.
 */
#ifndef SS_NAME_COLUMN_H
#define SS_NAME_COLUMN_H

#include "codec/names.h"
#include "store/segment.h"

/* Check that a name of a caller's array can be one. ARGUMENT. */
sstore_status ss_check_name(const sstore_name *name, size_t index, sstore_error *error);

/* Check names of records that are added to the store at `path`, before anything is added. ARGUMENT if it has no names,
 * or as above. */
sstore_status ss_check_names(bool has_names, const char *path, const sstore_name *names, size_t count,
                             sstore_error *error);

/* Where the other name of an id is: also given, in the store that is added to, or in another merged store. */
typedef enum ss_name_owner { SS_NAME_GIVEN, SS_NAME_STORED, SS_NAME_MERGED } ss_name_owner;

/* Report that an id has two names. Returns ARGUMENT. */
sstore_status ss_fail_two_names(uint64_t id, const uint8_t *name, size_t size, const uint8_t *other, size_t other_size,
                                ss_name_owner owner, sstore_error *error);

/* ===== in order ===== */

/* Needs no directory. */
typedef struct ss_names_iterator {
    const ss_block_reader *reader; /* borrowed, as the next one */
    const ss_fragments *fragments;
    uint64_t next_block, first_block; /* first_block: in which the current name begins */
    ss_names_block block;             /* with the current name; count 0: none */
    ss_names_walk walk;
    uint64_t id, count; /* of the current name; count: of names so far */
    const uint8_t *name;
    size_t size;
    ss_read_ahead ahead;
    uint8_t *buffer, *codes; /* of a block; of a name that is longer, NULL until there is one */
} ss_names_iterator;

/* Begin before the first name. Close it also after a failure; a zeroed one is allowed. */
sstore_status ss_names_iterator_open(ss_names_iterator *iterator, const ss_segment *names, sstore_error *error);
void ss_names_iterator_close(ss_names_iterator *iterator);
void ss_names_iterator_rewind(ss_names_iterator *iterator);

/* Go to the next name; *more_out is false at the end. Ids ascend strictly. */
sstore_status ss_names_iterator_next(ss_names_iterator *iterator, bool *more_out, sstore_error *error);

/* The directory of a column of names: the last id of each block, and the number of its first name. */
sstore_status ss_names_index_blocks(const ss_block_reader *reader, ss_directory_writer *directory, sstore_error *error);

/* ===== by id or number ===== */

/* Room for a name. */
typedef struct ss_name_room {
    uint8_t *name, *codes;
    size_t size; /* of the name */
} ss_name_room;

/* MEMORY. Close it also after a failure; a zeroed one is allowed. */
sstore_status ss_name_room_open(ss_name_room *room, sstore_error *error);
void ss_name_room_close(ss_name_room *room);
#define SS_NAME_ROOM_BYTES (SS_NAME_BUFFER_BYTES + SS_NAME_CODES_BYTES)

/* The block that may have the name of an id; the number of blocks if none has. */
static inline uint64_t ss_names_find_block(const ss_segment *names, uint64_t id)
{
    return ss_key_index_find(&names->ids_keys, id);
}

/* The place of a name: in a block that stays in the slot. */
typedef struct ss_name_place {
    const ss_segment *names; /* NULL: there is no such name */
    uint64_t number;         /* of the block */
    ss_names_block block;
    uint32_t index;
} ss_name_place;

/* Find the place of the name of an id, if block `number` has it: ss_names_find_block(). Prefetches what is decoded. */
sstore_status ss_names_find(const ss_segment *names, uint64_t id, uint64_t number, ss_block_slot *slot,
                            ss_name_place *place_out, sstore_error *error);

/* Decode the name of a place. */
sstore_status ss_name_decode(const ss_name_place *place, ss_block_slot *slot, ss_name_room *room, sstore_error *error);

/* Get the name of an id, if block `number` has it. */
sstore_status ss_names_get(const ss_segment *names, uint64_t id, uint64_t number, ss_block_slot *slot,
                           ss_name_room *room, bool *found_out, sstore_error *error);

/* Get a name and its id by its number in the column. DAMAGED if there is none. */
sstore_status ss_names_get_number(const ss_segment *names, uint64_t name_number, ss_block_slot *slot,
                                  ss_name_room *room, uint64_t *id_out, sstore_error *error);

#endif
