#include "read/verify_names.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/column_iterators.h"
#include "store/name_column.h"

#define NAMES_A_REPORT 4096u

typedef struct names_walk {
    ss_names_check *check;
    ss_names_iterator names;
    ss_names_encoder encoder; /* makes the blocks again */
    void *memory;             /* of the encoder */
    uint64_t next_block;      /* to be compared */
    uint64_t first_number;    /* of the first name in it */
    uint8_t *again, *buffer, *text;
    bool differs;           /* a block differed: those after it differ as well */
    ss_table_iterator ids;  /* the ids of the segment */
    const uint64_t *values; /* of a block of them */
    uint32_t value_count, value_at;
    bool has_id;
    uint64_t id;
    ss_u128 sum;
    ss_block_slot *slots; /* of older segments */
    uint8_t *slot_buffers;
    ss_name_room room;
} names_walk;

static sstore_status note_block(const names_walk *walk, uint64_t block, const char *reason)
{
    sstore_error problem;
    (void)ss_block_reader_malformed(&walk->check->names->ids, block, reason, &problem);
    return walk->check->note(walk->check->context, &problem);
}

static sstore_status note_file(const names_walk *walk, const char *reason)
{
    sstore_error problem;
    (void)ss_fail_damaged(&problem, walk->check->names->ids.file.path, SSTORE_NO_OFFSET, "%s", reason);
    return walk->check->note(walk->check->context, &problem);
}

/* ----- blocks ----- */

/* Compare what the directory has of a block, if it is open. */
static bool directory_fits(const names_walk *walk, uint64_t block, uint64_t last_id, uint64_t first_number)
{
    const ss_array *ids = &walk->check->names->ids_keys.keys, *numbers = &walk->check->names->numbers.keys;
    return walk->check->names->directory == NULL ||
           (ss_array_at(ids, block) == last_id && ss_array_at(numbers, block) == first_number);
}

/* Compare the next block with what a writer makes. */
static sstore_status compare_block(names_walk *walk, uint64_t last_id, sstore_error *error)
{
    const ss_block_reader *reader = &walk->check->names->ids;
    const uint64_t block = walk->next_block++;
    const uint8_t *bytes;
    if (block >= reader->header.block_count || walk->differs)
        return SSTORE_OK;
    const sstore_status status = ss_block_reader_get_once(reader, block, walk->buffer, &bytes, error);
    if (status != SSTORE_OK)
        return status;
    walk->differs = memcmp(bytes, walk->again, reader->header.block_bytes - SS_BLOCK_TRAILER_BYTES) != 0;
    if (walk->differs)
        return note_block(walk, block, "it differs from the block that a writer makes of its names");
    return directory_fits(walk, block, last_id, walk->first_number)
               ? SSTORE_OK
               : note_block(walk, block, "the directory has another last id or first number of the block");
}

/* Compare the blocks that the encoder has. */
static sstore_status compare_blocks(names_walk *walk, sstore_error *error)
{
    const uint64_t last_id = walk->encoder.last_id;
    uint64_t count = walk->encoder.count;
    sstore_status status = SSTORE_OK;
    bool more = true;
    for (; status == SSTORE_OK && more; count = 0) {
        more = ss_names_encoder_take(&walk->encoder, walk->again);
        status = compare_block(walk, last_id, error);
        walk->first_number += count;
    }
    return status;
}

static sstore_status encode_again(names_walk *walk, sstore_error *error)
{
    const ss_names_iterator *names = &walk->names;
    if (ss_names_encoder_add(&walk->encoder, names->id, names->name, names->size))
        return SSTORE_OK;
    const sstore_status status = compare_blocks(walk, error);
    if (status != SSTORE_OK)
        return status;
    const bool is_taken = ss_names_encoder_add(&walk->encoder, names->id, names->name, names->size);
    assert(is_taken); /* an empty block takes any name */
    (void)is_taken;
    return SSTORE_OK;
}

/* ----- ids ----- */

/* Go to the next distinct id of the segment. */
static sstore_status next_id(names_walk *walk, bool *more_out, sstore_error *error)
{
    const uint32_t shift = ss_id_index_is_packed(walk->check->id_index->metadata.kind) ? 32 : 0;
    for (;;) {
        if (walk->value_at == walk->value_count) {
            const sstore_status status = ss_table_iterator_next(&walk->ids, &walk->values, &walk->value_count, error);
            walk->value_at = 0;
            *more_out = walk->value_count > 0;
            if (status != SSTORE_OK || !*more_out)
                return status;
        }
        const uint64_t id = walk->values[walk->value_at++] >> shift;
        if (walk->has_id && id == walk->id)
            continue;
        walk->has_id = true;
        walk->id = id;
        return SSTORE_OK;
    }
}

/* Compare the id of a name with the next one of the segment. Both must end together. */
static sstore_status compare_id(names_walk *walk, bool has_name, sstore_error *error)
{
    bool more = true;
    if (walk->check->id_index == NULL)
        return SSTORE_OK;
    const sstore_status status = next_id(walk, &more, error);
    if (status != SSTORE_OK || (more == has_name && (!more || walk->id == walk->names.id)))
        return status;
    walk->check->id_index = NULL; /* what follows tells nothing new */
    return note_file(walk, "the names are not those of the ids of the segment's records");
}

/* Compare a name with those that older segments have for its id. */
static sstore_status compare_older(names_walk *walk, sstore_error *error)
{
    const ss_names_iterator *names = &walk->names;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && walk->slots != NULL && i < walk->check->segment; i++) {
        const ss_segment *older = walk->check->store->segments[i]->names;
        bool found = false;
        if (older == NULL)
            continue;
        status = ss_names_get(older, names->id, ss_names_find_block(older, names->id), &walk->slots[i], &walk->room,
                              &found, error);
        if (status == SSTORE_OK && found && !ss_name_equal(walk->room.name, walk->room.size, names->name, names->size))
            status = note_file(walk, "an id has another name than in an older segment");
    }
    return status;
}

/* ----- the check ----- */

/* Make room to read the names of older segments, if there are any. */
static sstore_status open_older(names_walk *walk, sstore_error *error)
{
    const ss_names_check *check = walk->check;
    uint64_t bytes = 0;
    if (check->store == NULL || check->segment == 0)
        return SSTORE_OK;
    for (uint32_t i = 0; i < check->segment; i++)
        bytes += check->store->manifest.segments[i].block_bytes;
    walk->slots = ss_alloc(check->segment, sizeof *walk->slots);
    walk->slot_buffers = ss_realloc(NULL, bytes, 1);
    if (walk->slots == NULL || walk->slot_buffers == NULL)
        return ss_fail_memory(error, bytes);
    uint8_t *next = walk->slot_buffers;
    for (uint32_t i = 0; i < check->segment; next += check->store->manifest.segments[i++].block_bytes)
        walk->slots[i].buffer = next;
    return ss_name_room_open(&walk->room, error);
}

static sstore_status open_walk(names_walk *walk, sstore_error *error)
{
    const ss_segment *names = walk->check->names;
    const uint32_t block_bytes = names->metadata.block_bytes;
    sstore_status status = ss_names_iterator_open(&walk->names, names, error);
    walk->memory = ss_alloc(1, ss_names_encoder_bytes(block_bytes));
    walk->again = ss_alloc(1, block_bytes);
    walk->buffer = ss_alloc(1, block_bytes);
    walk->text = ss_alloc(1, SS_NAME_BUFFER_BYTES);
    if (status == SSTORE_OK &&
        (walk->memory == NULL || walk->again == NULL || walk->buffer == NULL || walk->text == NULL))
        status = ss_fail_memory(error, ss_names_encoder_bytes(block_bytes) + SS_NAME_BUFFER_BYTES);
    if (status == SSTORE_OK)
        ss_names_encoder_init(&walk->encoder, names->fragments, block_bytes, walk->memory);
    if (status == SSTORE_OK && walk->check->id_index != NULL)
        status = ss_table_iterator_open(&walk->ids, &walk->check->id_index->tables[0].checked, error);
    return status == SSTORE_OK ? open_older(walk, error) : status;
}

static void close_walk(names_walk *walk)
{
    ss_names_iterator_close(&walk->names);
    ss_table_iterator_close(&walk->ids);
    ss_name_room_close(&walk->room);
    ss_free(walk->slots);
    ss_free(walk->slot_buffers);
    ss_free(walk->memory);
    ss_free(walk->again);
    ss_free(walk->buffer);
    ss_free(walk->text);
}

/* Add a name to the sums of the names, and of the table that leads to them. */
static void add_to_sums(names_walk *walk, ss_u128 *table_sum)
{
    const ss_names_iterator *names = &walk->names;
    const uint32_t bits = ss_names_number_bits(walk->check->names->metadata.kind);
    const uint64_t value = ss_names_value(ss_hash64(names->name, names->size), bits) | (names->count - 1);
    ss_store_le64(walk->text, names->id);
    memcpy(walk->text + 8, names->name, names->size);
    walk->sum = ss_u128_add(walk->sum, ss_hash128(walk->text, 8 + names->size));
    ss_content_add(table_sum, false, value, 0);
}

static sstore_status check_name(names_walk *walk, sstore_error *error)
{
    sstore_status status = encode_again(walk, error);
    add_to_sums(walk, &walk->check->table_sum);
    if (status == SSTORE_OK)
        status = compare_id(walk, true, error);
    if (status == SSTORE_OK)
        status = compare_older(walk, error);
    if (status == SSTORE_OK && walk->names.count % NAMES_A_REPORT == 0)
        status = walk->check->count(walk->check->context, NAMES_A_REPORT);
    return status;
}

sstore_status ss_verify_names(ss_names_check *check, sstore_error *error)
{
    names_walk walk = {.check = check};
    bool more = true;
    sstore_status status = open_walk(&walk, error);
    check->table_sum = (ss_u128){0};
    while (status == SSTORE_OK && more) {
        status = ss_names_iterator_next(&walk.names, &more, error);
        if (status == SSTORE_OK && more)
            status = check_name(&walk, error);
    }
    if (status == SSTORE_OK && walk.names.count > 0)
        status = compare_blocks(&walk, error);
    if (status == SSTORE_OK)
        status = compare_id(&walk, false, error);
    if (status == SSTORE_OK && !ss_u128_equal(walk.sum, check->names->metadata.content_sum))
        status = note_file(&walk, "the names do not match the manifest's content sum");
    close_walk(&walk);
    return status;
}
