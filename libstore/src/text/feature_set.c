#include "text/feature_set.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

#define FIRST_CAPACITY 256u

/* Words can be chosen so that their hashes agree in any bits, and then would all want one slot. So the slot is told by
 * the product with a factor that nobody knows beforehand. */
static uint64_t make_factor(const ss_feature_set *self, const void *memory)
{
    return ss_make_seed(self, memory) | 1;
}

static inline size_t home_of(const ss_feature_set *self, uint64_t hash)
{
    return (size_t)(hash * self->factor >> self->shift);
}

/* The slot of a hash, or the empty one where it belongs. */
static uint32_t *find_slot(const ss_feature_set *self, uint64_t hash)
{
    const size_t mask = 2 * self->capacity - 1;
    size_t at = home_of(self, hash);
    while (self->slots[at] != 0 && self->items[self->slots[at] - 1].hash != hash)
        at = (at + 1) & mask;
    return &self->slots[at];
}

static sstore_status extend(ss_feature_set *self, sstore_error *error)
{
    const size_t capacity = self->capacity > 0 ? 2 * self->capacity : FIRST_CAPACITY;
    if (capacity > UINT32_MAX / 2)
        return ss_fail_memory(error, capacity * sizeof *self->items);
    sstore_counted_feature *items = ss_realloc(self->items, capacity, sizeof *items);
    if (items == NULL)
        return ss_fail_memory(error, capacity * sizeof *items);
    self->items = items;
    uint32_t *slots = ss_alloc(2 * capacity, sizeof *slots);
    if (slots == NULL)
        return ss_fail_memory(error, 2 * capacity * sizeof *slots);
    ss_free(self->slots);
    self->slots = slots;
    self->capacity = capacity;
    self->factor = make_factor(self, slots);
    self->shift = 64 - (uint32_t)__builtin_ctzll(2 * capacity);
    for (size_t i = 0; i < self->count; i++)
        *find_slot(self, items[i].hash) = (uint32_t)i + 1;
    return SSTORE_OK;
}

sstore_status ss_feature_set_add(ss_feature_set *self, const uint64_t *hashes, size_t count, sstore_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (self->count == self->capacity) {
            const sstore_status status = extend(self, error);
            if (status != SSTORE_OK)
                return status;
        }
        uint32_t *slot = find_slot(self, hashes[i]);
        if (*slot == 0) {
            self->items[self->count] = (sstore_counted_feature){.hash = hashes[i], .count = 0};
            *slot = (uint32_t)++self->count;
        }
        self->items[*slot - 1].count++;
    }
    return SSTORE_OK;
}

const sstore_counted_feature *ss_feature_set_find(const ss_feature_set *self, uint64_t hash)
{
    const uint32_t slot = self->count > 0 ? *find_slot(self, hash) : 0;
    return slot != 0 ? &self->items[slot - 1] : NULL;
}

/* Few features are removed one by one: another text may have had millions. Those after a removed one need not be found
 * any more. */
void ss_feature_set_clear(ss_feature_set *self)
{
    const size_t mask = 2 * self->capacity - 1;
    if (self->count > self->capacity / 8) {
        memset(self->slots, 0, 2 * self->capacity * sizeof *self->slots);
    } else {
        for (size_t i = 0; i < self->count; i++)
            for (size_t at = home_of(self, self->items[i].hash); self->slots[at] != 0; at = (at + 1) & mask)
                self->slots[at] = 0;
    }
    self->count = 0;
}

void ss_feature_set_free(ss_feature_set *self)
{
    ss_free(self->items);
    ss_free(self->slots);
    *self = (ss_feature_set){.count = 0};
}
