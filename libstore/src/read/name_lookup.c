/*
 * name_lookup.c - the names of ids. Those of 16 ids at a time are looked up, so that their cache misses overlap.
 */
#include "base/error.h"
#include "read/cursor.h"

#define STEPS_A_SEGMENT 1u /* a block of names */

/* Ids that are looked up together. */
typedef struct name_batch {
    sstore_cursor *cursor;
    const uint64_t *ids;
    uint32_t count;
    uint64_t blocks[SS_HIT_BATCH]; /* of the segment that is asked */
    ss_name_place places[SS_HIT_BATCH];
} name_batch;

/* Find the places of names in a segment, of the ids that have none yet. */
static sstore_status ask_segment(name_batch *self, const ss_segment *names, sstore_error *error)
{
    sstore_cursor *cursor = self->cursor;
    const uint64_t block_count = names->ids_keys.keys.count;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < self->count; i++)
        ss_key_index_prefetch(&names->ids_keys, self->ids[i]);
    for (uint32_t i = 0; i < self->count; i++) {
        self->blocks[i] = self->places[i].names == NULL ? ss_names_find_block(names, self->ids[i]) : block_count;
        if (self->blocks[i] < block_count)
            ss_block_slot_prefetch(&cursor->slots.slots[i], &names->ids, self->blocks[i]);
    }
    cursor->steps.left += STEPS_A_SEGMENT * self->count;
    for (uint32_t i = 0; status == SSTORE_OK && i < self->count; i++)
        if (self->blocks[i] < block_count)
            status = ss_names_find(names, self->ids[i], self->blocks[i], &cursor->slots.slots[i], &self->places[i],
                                   error);
    return status;
}

/* Find the places of all names, the newest segment first. */
static sstore_status find_places(name_batch *self, sstore_error *error)
{
    const sstore *store = self->cursor->store;
    sstore_status status = ss_cursor_check_stop(self->cursor);
    ss_cursor_renew(self->cursor);
    for (uint32_t i = 0; i < self->count; i++)
        self->places[i].names = NULL;
    for (uint32_t i = store->manifest.segment_count; status == SSTORE_OK && i-- > 0;)
        if (store->segments[i]->names != NULL) /* otherwise the segment removes */
            status = ask_segment(self, store->segments[i]->names, error);
    return status;
}

sstore_status sstore_names(sstore_cursor *cursor, const uint64_t *ids, size_t count, sstore_name_fn on_name,
                           void *context, sstore_error *error)
{
    name_batch batch = {.cursor = cursor};
    sstore_status status = SSTORE_OK;
    if (cursor == NULL || (ids == NULL && count > 0) || on_name == NULL)
        return ss_fail_argument(error, "sstore_names: cursor, ids and on_name must not be NULL");
    if (!cursor->store->manifest.has_names)
        return ss_fail_argument(error, "%s: the store has no names", cursor->store->dir.path);
    if (count > 0)
        ss_cursor_begin(cursor);
    for (size_t done = 0; status == SSTORE_OK && done < count; done += batch.count) {
        batch.ids = ids + done;
        batch.count = (uint32_t)ss_min_u64(count - done, SS_HIT_BATCH);
        status = find_places(&batch, error);
        for (uint32_t i = 0; status == SSTORE_OK && i < batch.count; i++) {
            const ss_name_place *place = &batch.places[i];
            if (place->names == NULL)
                continue;
            status = ss_name_decode(place, &cursor->slots.slots[i], &cursor->name, error);
            const sstore_name name = {.bytes = (const char *)cursor->name.name, .size = cursor->name.size};
            if (status == SSTORE_OK && on_name(context, done + i, batch.ids[i], &name) != 0)
                status = SSTORE_STOPPED;
        }
    }
    return status;
}
