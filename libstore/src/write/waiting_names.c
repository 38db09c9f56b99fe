#include "write/waiting_names.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/name_column.h"

#define FIRST_ENTRIES 64u
#define FIRST_BYTES 1024u

void ss_waiting_names_free(ss_waiting_names *names)
{
    ss_free(names->bytes);
    ss_free(names->entries);
    ss_free(names->by_id);
    ss_free(names->by_name);
    *names = (ss_waiting_names){.count = 0};
}

uint64_t ss_waiting_names_bytes(const ss_waiting_names *names)
{
    return names->byte_capacity + names->capacity * sizeof *names->entries +
           2 * names->slot_count * sizeof *names->by_id;
}

/* ----- hash tables ----- */

/* The slot of an id, or the empty one where it belongs. There are slots. */
static size_t *slot_of_id(const ss_waiting_names *names, uint64_t id)
{
    size_t i = ss_seeded_hash64(&id, sizeof id, names->seed) & (names->slot_count - 1);
    while (names->by_id[i] != 0 && names->entries[names->by_id[i] - 1].id != id)
        i = (i + 1) & (names->slot_count - 1);
    return &names->by_id[i];
}

static bool has_name(const ss_waiting_names *names, const ss_waiting_name *entry, const sstore_name *name)
{
    return ss_name_equal(names->bytes + entry->at, entry->size, name->bytes, name->size);
}

static size_t *slot_of_name(const ss_waiting_names *names, const sstore_name *name)
{
    size_t i = ss_seeded_hash64(name->bytes, name->size, names->seed) & (names->slot_count - 1);
    while (names->by_name[i] != 0 && !has_name(names, &names->entries[names->by_name[i] - 1], name))
        i = (i + 1) & (names->slot_count - 1);
    return &names->by_name[i];
}

static const ss_waiting_name *entry_of(const ss_waiting_names *names, const size_t *slot)
{
    return *slot > 0 ? &names->entries[*slot - 1] : NULL;
}

static const ss_waiting_name *find_id(const ss_waiting_names *names, uint64_t id)
{
    return names->count > 0 ? entry_of(names, slot_of_id(names, id)) : NULL;
}

/* The entry with the smallest id of a name. */
static const ss_waiting_name *find_name(const ss_waiting_names *names, const sstore_name *name)
{
    return names->count > 0 ? entry_of(names, slot_of_name(names, name)) : NULL;
}

void ss_waiting_names_find(const ss_waiting_names *names, const sstore_name *name, ss_named_id *named)
{
    const ss_waiting_name *waiting = find_name(names, name);
    if (waiting != NULL && (!named->is_found || waiting->id < named->id))
        *named = (ss_named_id){.is_found = true, .id = waiting->id};
}

static sstore_name name_of(const ss_waiting_names *names, const ss_waiting_name *entry)
{
    return (sstore_name){.bytes = names->bytes + entry->at, .size = entry->size};
}

/* Enter entry `number` in both tables, unless a smaller id has its name. */
static void enter(ss_waiting_names *names, size_t number)
{
    const ss_waiting_name *entry = &names->entries[number];
    const sstore_name name = name_of(names, entry);
    size_t *slot = slot_of_name(names, &name);
    *slot_of_id(names, entry->id) = number + 1;
    if (*slot == 0 || entry->id < names->entries[*slot - 1].id)
        *slot = number + 1;
}

/* ----- adding ----- */

/* Make both tables twice as large. */
static sstore_status grow_slots(ss_waiting_names *names, sstore_error *error)
{
    const size_t count = ss_max_u64(2 * names->slot_count, 2 * FIRST_ENTRIES);
    size_t *by_id = ss_alloc(count, sizeof *by_id), *by_name = ss_alloc(count, sizeof *by_name);
    if (by_id == NULL || by_name == NULL) {
        ss_free(by_id);
        ss_free(by_name);
        return ss_fail_memory(error, 2 * count * sizeof *by_id);
    }
    ss_free(names->by_id);
    ss_free(names->by_name);
    names->by_id = by_id;
    names->by_name = by_name;
    names->slot_count = count;
    names->seed = ss_make_seed(names, by_id);
    for (size_t i = 0; i < names->count; i++)
        enter(names, i);
    return SSTORE_OK;
}

sstore_status ss_waiting_names_reserve(ss_waiting_names *names, size_t size, sstore_error *error)
{
    if (names->used + size > names->byte_capacity) {
        const size_t capacity = ss_max_u64(2 * names->byte_capacity, names->used + ss_max_u64(size, FIRST_BYTES));
        char *bytes = ss_realloc(names->bytes, capacity, 1);
        if (bytes == NULL)
            return ss_fail_memory(error, capacity);
        names->bytes = bytes;
        names->byte_capacity = capacity;
    }
    ss_waiting_name *entries = ss_grow(names->entries, names->count, &names->capacity, FIRST_ENTRIES, sizeof *entries);
    if (entries == NULL)
        return ss_fail_memory(error, 2 * names->capacity * sizeof *entries);
    names->entries = entries;
    return 2 * (names->count + 1) > names->slot_count ? grow_slots(names, error) : SSTORE_OK;
}

void ss_waiting_names_add(ss_waiting_names *names, uint64_t id, const sstore_name *name)
{
    const ss_waiting_name *same = find_name(names, name);
    const ss_waiting_name entry = {.id = id, .at = same != NULL ? same->at : names->used, .size = name->size};
    assert(names->count < names->capacity && names->entries != NULL); /* reserved */
    if (find_id(names, id) != NULL)
        return;
    if (same == NULL) {
        memcpy(names->bytes + names->used, name->bytes, name->size);
        names->used += name->size;
    }
    names->entries[names->count++] = entry;
    enter(names, names->count - 1);
}

sstore_status ss_waiting_names_give(const ss_waiting_names *names, ss_name_runs *runs, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < names->count; i++) {
        const ss_waiting_name *entry = &names->entries[i];
        status = ss_name_runs_add(runs, entry->id, names->bytes + entry->at, entry->size, error);
    }
    return status;
}

/* ----- with the names of the store ----- */

/* A name that is compared with that of the store. */
typedef struct name_check {
    const sstore_name *name;
    sstore_status status;
    sstore_error *error;
} name_check;

static sstore_status compare(uint64_t id, const sstore_name *name, const sstore_name *other, ss_name_owner owner,
                             sstore_error *error)
{
    if (ss_name_equal(name->bytes, name->size, other->bytes, other->size))
        return SSTORE_OK;
    return ss_fail_two_names(id, (const uint8_t *)name->bytes, name->size, (const uint8_t *)other->bytes, other->size,
                             owner, error);
}

static int compare_stored(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    name_check *self = context;
    (void)index;
    self->status = compare(id, self->name, name, SS_NAME_STORED, self->error);
    return self->status != SSTORE_OK;
}

sstore_status ss_waiting_names_check(const ss_waiting_names *names, sstore_cursor *cursor, uint64_t id,
                                     const sstore_name *name, sstore_error *error)
{
    const ss_waiting_name *waiting = find_id(names, id);
    if (waiting != NULL) {
        const sstore_name other = name_of(names, waiting);
        return compare(id, name, &other, SS_NAME_GIVEN, error);
    }
    name_check check = {.name = name, .status = SSTORE_OK, .error = error};
    const sstore_status status = sstore_names(cursor, &id, 1, compare_stored, &check, error);
    return status == SSTORE_STOPPED ? check.status : status;
}

/* Passes names on, with other indexes. */
typedef struct name_relay {
    size_t index;
    sstore_name_fn on_name;
    void *context;
} name_relay;

static int relay(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    const name_relay *self = context;
    return self->on_name(self->context, self->index + index, id, name);
}

sstore_status ss_waiting_names_get(const ss_waiting_names *names, sstore_cursor *cursor, const uint64_t *ids,
                                   size_t count, sstore_name_fn on_name, void *context, sstore_error *error)
{
    name_relay from_store = {.on_name = on_name, .context = context};
    sstore_status status = SSTORE_OK;
    for (size_t i = 0, end; status == SSTORE_OK && i < count; i = end) {
        const ss_waiting_name *waiting = find_id(names, ids[i]);
        end = i + 1;
        if (waiting != NULL) {
            const sstore_name name = name_of(names, waiting);
            status = on_name(context, i, ids[i], &name) == 0 ? SSTORE_OK : SSTORE_STOPPED;
            continue;
        }
        while (end < count && find_id(names, ids[end]) == NULL)
            end++;
        from_store.index = i;
        status = sstore_names(cursor, ids + i, end - i, relay, &from_store, error);
    }
    return status;
}
