#include "write/id_conflicts.h"

#include "base/memory.h"
#include "sort/radix.h"
#include "store/record_iterator.h"

/* Older segments are read if they have at most this many records for each added one, beyond the second number, which takes some
 * hundredths of a second. */
#define RECORDS_FOR_ONE 16u
#define RECORDS_AT_MIN 2000000u
#define MAX_STREAM_BYTES ((uint64_t)16 << 20) /* for reading all older segments at once: some hundreds of them */

#define SUSPECT_BYTES (2 * sizeof(uint64_t) + sizeof(uint8_t))
#define MAX_SUSPECT_BYTES ((uint64_t)16 << 20) /* a million */

enum { MARK_ADDED = 1, MARK_CONFLICT = 2 }; /* of a suspect: an added record has it; two records have it */

typedef struct search {
    const uint64_t *ids; /* ascending, each once */
    size_t count;
    uint8_t *marks;
} search;

uint64_t ss_id_conflicts_watch(ss_id_conflicts *conflicts, uint64_t memory_bytes)
{
    const uint64_t bytes = ss_min_u64(memory_bytes / 16, MAX_SUSPECT_BYTES);
    conflicts->capacity = (size_t)(bytes / SUSPECT_BYTES);
    return bytes;
}

void ss_id_conflicts_free(ss_id_conflicts *conflicts)
{
    ss_free(conflicts->suspects);
    ss_free(conflicts->scratch);
    *conflicts = (ss_id_conflicts){.capacity = 0};
}

void ss_id_conflicts_suspect(ss_id_conflicts *conflicts, uint64_t id)
{
    if (conflicts->capacity == 0)
        return;
    if (conflicts->suspects == NULL) {
        conflicts->suspects = ss_realloc(NULL, conflicts->capacity, sizeof *conflicts->suspects);
        conflicts->scratch = ss_realloc(NULL, conflicts->capacity, sizeof *conflicts->scratch);
    }
    if (conflicts->suspects == NULL || conflicts->scratch == NULL || conflicts->count == conflicts->capacity)
        conflicts->left_out = true;
    else
        conflicts->suspects[conflicts->count++] = id;
}

/* The mark of an id, or NULL. */
static uint8_t *find_mark(const search *self, uint64_t id)
{
    if (id < self->ids[0] || id > self->ids[self->count - 1])
        return NULL;
    const uint64_t at = ss_lower_bound(self->ids, 0, self->count, id, ss_word_is_below);
    return self->ids[at] == id ? &self->marks[at] : NULL;
}

/* Of a record of the newest segment. If two of its records have one id, their fingerprints differ, since equal records are one. */
static void mark_added(uint8_t *mark)
{
    *mark |= *mark == 0 ? MARK_ADDED : MARK_CONFLICT;
}

/* Of a record that was there before. An added record with its id has another fingerprint, or it would not have been added. */
static void mark_older(uint8_t *mark)
{
    if (*mark != 0)
        *mark |= MARK_CONFLICT;
}

/* Look through the records of the segments first .. end - 1. */
static bool look_through(const search *self, const sstore *store, uint32_t first, uint32_t end,
                         void (*mark)(uint8_t *mark))
{
    ss_merge_iterator records;
    sstore_record record;
    bool more = true;
    ss_merge_iterator_init(&records, true);
    sstore_status status = ss_merge_iterator_add(&records, store, first, end, NULL);
    if (status == SSTORE_OK)
        status = ss_merge_iterator_rewind(&records, NULL);
    while (status == SSTORE_OK && more) {
        status = ss_merge_iterator_next(&records, &record, &more, NULL);
        uint8_t *found = status == SSTORE_OK && more ? find_mark(self, record.id) : NULL;
        if (found != NULL)
            mark(found);
    }
    ss_merge_iterator_close(&records);
    return status == SSTORE_OK;
}

static uint64_t count_marks(const search *self, uint8_t mark, uint64_t below)
{
    uint64_t count = 0;
    /* An ordinal cannot be above the largest id, so that this one may be in the store all the same. */
    for (size_t i = 0; i < self->count && (self->ids[i] < below || below == UINT64_MAX); i++)
        count += (self->marks[i] & mark) != 0;
    return count;
}

/* Whether to look the suspects up in older segments. Where ids are hashes each is a suspect, and almost none is there; where
 * they are numbers, a suspect is there almost surely. */
static bool is_worth_it(uint64_t older_count, uint64_t added_count, uint64_t next_ordinal)
{
    const bool is_cheap = older_count <= RECORDS_AT_MIN ||
                          (older_count - RECORDS_AT_MIN) / RECORDS_FOR_ONE <= added_count;
    return is_cheap || older_count >= next_ordinal / 2;
}

void ss_id_conflicts_find(ss_id_conflicts *conflicts, const sstore *store, uint64_t next_ordinal, sstore_change *change)
{
    const uint32_t newest = store->manifest.segment_count - 1;
    const uint64_t added_count = store->segments[newest]->metadata.record_count;
    change->ids_checked = !conflicts->left_out;
    conflicts->left_out = false;
    if (conflicts->count == 0)
        return;
    conflicts->count = ss_sort_unique_keys(conflicts->suspects, conflicts->scratch, conflicts->count);
    search self = {.ids = conflicts->suspects, .count = conflicts->count, .marks = ss_alloc(conflicts->count, 1)};
    bool checked = self.marks != NULL && look_through(&self, store, newest, newest + 1, mark_added);
    if (checked && newest > 0 && count_marks(&self, MARK_ADDED, next_ordinal) > 0)
        checked = ss_merge_iterator_bytes(store, 0, newest) <= MAX_STREAM_BYTES &&
                  is_worth_it(change->record_count - added_count, added_count, next_ordinal) &&
                  look_through(&self, store, 0, newest, mark_older);
    change->ids_checked = change->ids_checked && checked;
    for (size_t i = 0; self.marks != NULL && i < self.count; i++) {
        if ((self.marks[i] & MARK_CONFLICT) == 0)
            continue;
        if (change->conflict_count++ == 0)
            change->min_conflicting_id = self.ids[i];
    }
    ss_free(self.marks);
    conflicts->count = 0;
}
