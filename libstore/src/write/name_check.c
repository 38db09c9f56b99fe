/* name_check.c - compares the names that a builder was given with those that the extended store has for their ids. */
#include "base/error.h"
#include "base/memory.h"
#include "write/removal.h"

/* The names of the segments of a store, each read through a slot of its own, since the ids ascend. */
typedef struct stored_names {
    const sstore *store;
    ss_block_slot *slots;
    uint8_t *buffers;
    ss_name_room room;
} stored_names;

static sstore_status open_stored_names(stored_names *names, const sstore *store, sstore_error *error)
{
    const ss_manifest *manifest = &store->manifest;
    uint64_t bytes = 0;
    *names = (stored_names){.store = store};
    for (uint32_t i = 0; i < manifest->segment_count; i++)
        bytes += manifest->segments[i].block_bytes;
    names->slots = ss_alloc(manifest->segment_count, sizeof *names->slots);
    names->buffers = ss_realloc(NULL, bytes, 1);
    if (names->slots == NULL || names->buffers == NULL)
        return ss_fail_memory(error, bytes);
    uint8_t *next = names->buffers;
    for (uint32_t i = 0; i < manifest->segment_count; next += manifest->segments[i++].block_bytes)
        names->slots[i].buffer = next;
    return ss_name_room_open(&names->room, error);
}

static void close_stored_names(stored_names *names)
{
    ss_free(names->slots);
    ss_free(names->buffers);
    ss_name_room_close(&names->room);
}

/* Compare a given name with those that the store has for its id. */
static sstore_status compare_stored(stored_names *names, const ss_name_merge *given, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < names->store->manifest.segment_count; i++) {
        const ss_segment *column = names->store->segments[i]->names;
        bool found = false;
        if (column == NULL)
            continue;
        status = ss_names_get(column, given->id, ss_names_find_block(column, given->id), &names->slots[i], &names->room,
                              &found, error);
        if (status == SSTORE_OK && found &&
            !ss_name_equal(names->room.name, names->room.size, given->name, given->size))
            status = ss_fail_two_names(given->id, given->name, given->size, names->room.name, names->room.size,
                                       SS_NAME_STORED, error);
    }
    return status;
}

/* Compare the given names of ids that the store may have. */
static sstore_status compare_with_base(sstore_builder *builder, sstore_error *error)
{
    stored_names names;
    ss_name_merge given = {.count = 0};
    bool more = true;
    sstore_status status = open_stored_names(&names, ss_builder_base_store(builder), error);
    if (status == SSTORE_OK)
        status = ss_name_merge_add_runs(&given, &builder->names, error);
    if (status == SSTORE_OK)
        status = ss_name_merge_rewind(&given, error);
    while (status == SSTORE_OK) {
        status = ss_name_merge_next(&given, &more, error);
        if (status != SSTORE_OK || !more || given.id >= builder->base_next_id)
            break;
        status = compare_stored(&names, &given, error);
    }
    ss_name_merge_close(&given);
    close_stored_names(&names);
    return status;
}

sstore_status ss_builder_check_names(sstore_builder *builder, sstore_error *error)
{
    const sstore_status status = ss_name_runs_finish(&builder->names, error);
    const bool is_new = ss_builder_base_store(builder) == NULL || builder->spec.kind == SS_SEGMENT_REMOVES;
    return status != SSTORE_OK || is_new || builder->names.name_count == 0 ? status : compare_with_base(builder, error);
}
