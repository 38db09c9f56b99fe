#include "write/id_conflicts.h"

#include "base/memory.h"
#include "sort/radix.h"
#include "store/record_iterator.h"

/* Older segments are read if they have at most RECORDS_FOR_ONE records for each added one, apart from RECORDS_AT_MIN,
 * which take some hundredths of a second. */
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

void ss_id_conflicts_add_suspect(ss_id_conflicts *conflicts, uint64_t id)
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

/* Mark the suspects among the ids of the segments first .. end - 1. False if a segment cannot be read. */
static bool mark_ids(const search *self, const sstore *store, uint32_t first, uint32_t end, bool are_added)
{
    ss_merge_iterator records;
    ss_record record;
    bool more = true;
    ss_merge_iterator_init(&records, store->manifest.words, true);
    sstore_status status = ss_merge_iterator_add(&records, store, first, end, NULL);
    if (status == SSTORE_OK)
        status = ss_merge_iterator_rewind(&records, NULL);
    while (status == SSTORE_OK && more) {
        status = ss_merge_iterator_next(&records, &record, &more, NULL);
        if (status != SSTORE_OK || !more || record.id < self->ids[0] || record.id > self->ids[self->count - 1])
            continue;
        const uint64_t at = ss_lower_bound(self->ids, 0, self->count, record.id, ss_word_is_below);
        if (self->ids[at] != record.id)
            continue;
        /* Records are distinct in a segment and in the store. So two records of one id have different fingerprints. */
        if (self->marks[at] != 0)
            self->marks[at] |= MARK_CONFLICT;
        else if (are_added)
            self->marks[at] = MARK_ADDED;
    }
    ss_merge_iterator_close(&records);
    return status == SSTORE_OK;
}

/* Whether an older record may have one of the added ids: one below the next id of then. An assigned id cannot be above
 * the largest id, so the largest id may also be one. */
static bool may_be_older(const search *self, uint64_t next_id)
{
    bool any = false;
    for (size_t i = 0; i < self->count && (self->ids[i] < next_id || next_id == UINT64_MAX); i++)
        any |= (self->marks[i] & MARK_ADDED) != 0;
    return any;
}

/* Whether to look the suspects up in older segments. If ids are hashes, each is suspect, and almost none is found; if
 * they are consecutive numbers, almost every suspect is found. */
static bool is_worth_it(uint64_t older_count, uint64_t added_count, uint64_t next_id)
{
    const bool is_cheap = older_count <= RECORDS_AT_MIN ||
                          (older_count - RECORDS_AT_MIN) / RECORDS_FOR_ONE <= added_count;
    return is_cheap || older_count >= next_id / 2;
}

void ss_id_conflicts_find(ss_id_conflicts *conflicts, const sstore *store, uint64_t next_id, sstore_change *change)
{
    const uint32_t newest = store->manifest.segment_count - 1;
    const uint64_t added_count = store->segments[newest]->metadata.record_count;
    change->ids_checked = !conflicts->left_out;
    conflicts->left_out = false;
    if (conflicts->count == 0)
        return;
    conflicts->count = ss_sort_unique_items(conflicts->suspects, conflicts->scratch, conflicts->count, 1);
    search self = {.ids = conflicts->suspects, .count = conflicts->count, .marks = ss_alloc(conflicts->count, 1)};
    bool checked = self.marks != NULL && mark_ids(&self, store, newest, newest + 1, true);
    if (checked && newest > 0 && may_be_older(&self, next_id))
        checked = ss_merge_iterator_bytes(store, 0, newest) <= MAX_STREAM_BYTES &&
                  is_worth_it(change->record_count - added_count, added_count, next_id) &&
                  mark_ids(&self, store, 0, newest, false);
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
