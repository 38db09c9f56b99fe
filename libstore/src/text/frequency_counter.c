/*
 * frequency_counter.c - counts the documents that have each feature, within fixed memory. An array of slots is a hash
 * table; the home of a hash is proportional to it, so the slots are nearly in the order of hashes, and become the table
 * in place.
 *
 * When the array is full and cannot grow, the rarest features are forgotten, as in lossy counting: a feature that is
 * met after that was perhaps met before, at most `bound` times, which its slot notes as `missed`. So each feature
 * occurs in at least `count` and at most count + missed documents, and one without a slot in at most `bound`.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "text/frequencies.h"
#include "text/text_options.h"

typedef struct slot {
    uint64_t hash;
    uint32_t count; /* 0: the slot is free */
    uint32_t missed;
} slot;

#define FIRST_CAPACITY 4096u
#define HEAD_ROOM 1024u  /* bytes before the slots, for the head of the table */
#define MAX_CLASSES 256u /* of rare features, of which one more or less is forgotten */

struct sstore_frequency_counter {
    uint32_t recipe_size;
    char recipe[SS_MAX_RECIPE + 1];
    uint8_t *memory; /* HEAD_ROOM bytes, then the slots */
    size_t capacity, max_capacity, used;
    uint64_t document_count, bound;
    bool is_finished;
    size_t table_begin, table_size; /* in memory, when it is finished */
    sstore_frequency_summary summary;
};

static slot *slots_of(const sstore_frequency_counter *self)
{
    return (slot *)(void *)(self->memory + HEAD_ROOM);
}

static size_t home_of(const sstore_frequency_counter *self, uint64_t hash)
{
    __extension__ typedef unsigned __int128 u128;
    return (size_t)((u128)hash * self->capacity >> 64);
}

/* The slot of a hash, or the free one where it belongs. */
static slot *find_slot(const sstore_frequency_counter *self, uint64_t hash)
{
    slot *slots = slots_of(self);
    size_t at = home_of(self, hash);
    while (slots[at].count != 0 && slots[at].hash != hash)
        at = at + 1 < self->capacity ? at + 1 : 0;
    return &slots[at];
}

sstore_status sstore_frequency_counter_create(const sstore_text_options *options, uint64_t memory_bytes,
                                              sstore_frequency_counter **counter_out, sstore_error *error)
{
    sstore_text_options taken;
    if (counter_out == NULL)
        return ss_fail_argument(error, "counter_out must not be NULL");
    *counter_out = NULL;
    if (memory_bytes != 0 && memory_bytes < SS_MIN_MEMORY_BYTES)
        return ss_fail_argument(error, "the memory limit is %llu bytes; it must be at least 1 MiB",
                                (unsigned long long)memory_bytes);
    const sstore_status status = ss_text_options_take(options, &taken, error);
    if (status != SSTORE_OK)
        return status;
    sstore_frequency_counter *self = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    self->recipe_size = (uint32_t)ss_text_recipe_write(&taken, true, self->recipe, sizeof self->recipe);
    /* While it grows, there are two arrays, the old one of half the capacity. */
    self->max_capacity = (size_t)(ss_memory_or_default(memory_bytes) / 3 * 2 / sizeof(slot));
    self->capacity = self->max_capacity;
    while (self->capacity / 2 >= FIRST_CAPACITY)
        self->capacity /= 2;
    self->memory = ss_alloc(1, HEAD_ROOM + self->capacity * sizeof(slot));
    if (self->memory == NULL) {
        ss_free(self);
        return ss_fail_memory(error, HEAD_ROOM + self->capacity * sizeof(slot));
    }
    *counter_out = self;
    return SSTORE_OK;
}

static sstore_status extend(sstore_frequency_counter *self, sstore_error *error)
{
    const sstore_frequency_counter old = *self;
    const size_t capacity = ss_min_u64(2 * self->capacity + 1, self->max_capacity);
    uint8_t *memory = ss_alloc(1, HEAD_ROOM + capacity * sizeof(slot));
    if (memory == NULL)
        return ss_fail_memory(error, HEAD_ROOM + capacity * sizeof(slot));
    self->memory = memory;
    self->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++)
        if (slots_of(&old)[i].count != 0)
            *find_slot(self, slots_of(&old)[i].hash) = slots_of(&old)[i];
    ss_free(old.memory);
    return SSTORE_OK;
}

static uint64_t most_of(const slot *place)
{
    return (uint64_t)place->count + place->missed;
}

/* The lowest bound that leaves at most `wanted` features, or as far as the classes reach. */
static uint64_t choose_bound(const sstore_frequency_counter *self, size_t wanted)
{
    size_t counts[MAX_CLASSES] = {0}, left = self->used;
    const slot *slots = slots_of(self);
    for (size_t i = 0; i < self->capacity; i++)
        if (slots[i].count != 0 && most_of(&slots[i]) - self->bound <= MAX_CLASSES)
            counts[most_of(&slots[i]) - self->bound - 1]++;
    for (size_t i = 0; i < MAX_CLASSES; i++) {
        left -= counts[i];
        if (left <= wanted)
            return self->bound + i + 1;
    }
    return self->bound + MAX_CLASSES;
}

/* Forget the features of at most `bound` documents. Every feature is taken out and put back, beginning after a free
 * slot, so that those of one home stay together. */
static void forget(sstore_frequency_counter *self, uint64_t bound)
{
    slot *slots = slots_of(self);
    size_t first = 0;
    while (slots[first].count != 0)
        first++;
    for (size_t i = 1; i < self->capacity; i++) {
        slot *const from = &slots[first + i < self->capacity ? first + i : first + i - self->capacity];
        const slot taken = *from;
        if (taken.count == 0)
            continue;
        from->count = 0;
        if (most_of(&taken) > bound)
            *find_slot(self, taken.hash) = taken;
        else
            self->used--;
    }
    self->bound = bound;
}

/* Make room for a feature. MEMORY. */
static sstore_status reserve(sstore_frequency_counter *self, sstore_error *error)
{
    while (self->used >= self->capacity / 4 * 3) {
        if (self->capacity < self->max_capacity) {
            const sstore_status status = extend(self, error);
            if (status != SSTORE_OK)
                return status;
        } else {
            forget(self, choose_bound(self, self->capacity / 8 * 3));
        }
    }
    return SSTORE_OK;
}

sstore_status sstore_frequency_counter_add(sstore_frequency_counter *counter, const sstore_counted_feature *features,
                                           size_t count, sstore_error *error)
{
    if (counter == NULL || (features == NULL && count > 0))
        return ss_fail_argument(error, "counter and features must not be NULL");
    if (counter->is_finished)
        return ss_fail_argument(error, "the table is finished: no document can be added");
    counter->document_count++; /* first, so that no count is higher even if memory is short in the middle */
    for (size_t i = 0; i < count; i++) {
        slot *place = find_slot(counter, features[i].hash);
        if (place->count == 0) {
            const sstore_status status = reserve(counter, error);
            if (status != SSTORE_OK)
                return status;
            place = find_slot(counter, features[i].hash); /* it may have moved */
            *place = (slot){.hash = features[i].hash, .missed = (uint32_t)ss_min_u64(counter->bound, UINT32_MAX)};
            counter->used++;
        }
        place->count += place->count < UINT32_MAX;
    }
    return SSTORE_OK;
}

/* ----- the table ----- */

/* Move all features to the beginning of the array, in the order of hashes. Each is near its place: an insertion moves
 * it as far as it was put from its home. Those that were put at the beginning, since the end was full, come last.
 * MEMORY. */
static sstore_status put_in_order(sstore_frequency_counter *self, sstore_error *error)
{
    slot *slots = slots_of(self);
    size_t wrapped_count = 0, count = 0;
    while (slots[wrapped_count].count != 0)
        wrapped_count++; /* these may be */
    slot *wrapped = ss_realloc(NULL, wrapped_count > 0 ? wrapped_count : 1, sizeof *wrapped);
    if (wrapped == NULL)
        return ss_fail_memory(error, wrapped_count * sizeof *wrapped);
    const size_t candidates = wrapped_count;
    wrapped_count = 0;
    for (size_t i = 0; i < self->capacity; i++) {
        const slot taken = slots[i];
        if (taken.count == 0)
            continue;
        if (i < candidates && home_of(self, taken.hash) > i) {
            wrapped[wrapped_count++] = taken;
            continue;
        }
        size_t to = count++;
        for (; to > 0 && slots[to - 1].hash > taken.hash; to--)
            slots[to] = slots[to - 1];
        slots[to] = taken;
    }
    for (size_t i = 0; i < wrapped_count; i++) {
        size_t to = count++;
        for (; to > 0 && slots[to - 1].hash > wrapped[i].hash; to--)
            slots[to] = slots[to - 1];
        slots[to] = wrapped[i];
    }
    ss_free(wrapped);
    return SSTORE_OK;
}

/* Write the entries over the slots, which are larger. Features of one document have the weight of those without an
 * entry, and need none. Returns the number of entries. */
static uint64_t write_entries(sstore_frequency_counter *self)
{
    const slot *slots = slots_of(self);
    uint8_t *to = self->memory + HEAD_ROOM;
    for (size_t i = 0; i < self->used; i++) {
        const slot from = slots[i];
        if (from.count < 2)
            continue;
        ss_store_le64(to, from.hash);
        ss_store_le32(to + 8, from.count);
        to += SS_FREQUENCIES_ENTRY;
    }
    return (uint64_t)(to - self->memory - HEAD_ROOM) / SS_FREQUENCIES_ENTRY;
}

static sstore_status make_table(sstore_frequency_counter *self, sstore_error *error)
{
    if (self->document_count == 0)
        return ss_fail_argument(error, "there is no document whose features could be counted");
    const sstore_status status = put_in_order(self, error);
    if (status != SSTORE_OK)
        return status;
    const ss_frequencies_head head = {.recipe_size = self->recipe_size,
                                      .document_count = self->document_count,
                                      .feature_count = write_entries(self),
                                      .error_bound = self->bound};
    const size_t head_bytes = ss_frequencies_head_bytes(head.recipe_size);
    const size_t entry_bytes = (size_t)head.feature_count * SS_FREQUENCIES_ENTRY;
    self->table_begin = HEAD_ROOM - head_bytes;
    self->table_size = head_bytes + entry_bytes + SS_FREQUENCIES_TAIL;
    uint8_t *table = self->memory + self->table_begin;
    ss_frequencies_write_head(&head, self->recipe, table);
    ss_store_le64(table + head_bytes + entry_bytes, ss_hash64(table, head_bytes + entry_bytes));
    self->summary = (sstore_frequency_summary){.struct_size = sizeof self->summary,
                                               .document_count = head.document_count,
                                               .feature_count = head.feature_count,
                                               .error_bound = head.error_bound};
    self->is_finished = true;
    return SSTORE_OK;
}

sstore_status sstore_frequency_counter_finish(sstore_frequency_counter *counter, const void **table_out,
                                              size_t *size_out, sstore_frequency_summary *summary_out,
                                              sstore_error *error)
{
    if (counter == NULL || table_out == NULL || size_out == NULL)
        return ss_fail_argument(error, "counter, table_out and size_out must not be NULL");
    sstore_status status = summary_out == NULL ? SSTORE_OK
                                               : ss_check_result(summary_out, SS_FREQUENCY_SUMMARY_SIZE_1, error);
    if (status == SSTORE_OK && !counter->is_finished)
        status = make_table(counter, error);
    if (status != SSTORE_OK)
        return status;
    *table_out = counter->memory + counter->table_begin;
    *size_out = counter->table_size;
    return summary_out == NULL ? SSTORE_OK
                               : ss_give_result(summary_out, &counter->summary, sizeof counter->summary,
                                                SS_FREQUENCY_SUMMARY_SIZE_1, error);
}

void sstore_frequency_counter_free(sstore_frequency_counter *counter)
{
    if (counter != NULL)
        ss_free(counter->memory);
    ss_free(counter);
}
