/*
 * id_conflicts.h - finds ids of added records that another record, with another fingerprint, also has: usually two
 * documents with the same number.
 *
 * An id is suspect unless it is above all ids before it, in the store and in the input: such an id is new. So
 * consecutive numbers cost nothing. Suspects are looked up after the new segment is published; in older segments only
 * if that is cheap compared to the addition, or if half of the ids below the next id are in use.
 */
#ifndef SS_ID_CONFLICTS_H
#define SS_ID_CONFLICTS_H

#include "store/store.h"

typedef struct ss_id_conflicts {
    size_t capacity; /* of suspects; 0: conflicts are not searched */
    uint64_t *suspects, *scratch;
    size_t count;
    bool left_out; /* some suspects did not fit, or memory was short */
} ss_id_conflicts;

/* Watch ids from now on, in a part of the call's memory. Returns its maximum size in bytes. */
uint64_t ss_id_conflicts_watch(ss_id_conflicts *conflicts, uint64_t memory_bytes);

/* A zeroed one is allowed. */
void ss_id_conflicts_free(ss_id_conflicts *conflicts);

void ss_id_conflicts_add_suspect(ss_id_conflicts *conflicts, uint64_t id);

/* Note the id of a record that is added, and set *next_id to one above the largest id, if possible. */
static inline void ss_id_conflicts_note(ss_id_conflicts *conflicts, uint64_t id, uint64_t *next_id)
{
    if (id < *next_id || id == UINT64_MAX)
        ss_id_conflicts_add_suspect(conflicts, id);
    if (id >= *next_id)
        *next_id = id + (id < UINT64_MAX);
}

/* Whether there are suspects. */
static inline bool ss_id_conflicts_any(const ss_id_conflicts *conflicts)
{
    return conflicts->count > 0 || conflicts->left_out;
}

/*
 * Look the suspects up in `store`, whose newest segment was just added, and forget them. `next_id` is that before the
 * addition. Fills conflict_count, min_conflicting_id and ids_checked. Unreadable segments count as not checked.
 */
void ss_id_conflicts_find(ss_id_conflicts *conflicts, const sstore *store, uint64_t next_id, sstore_change *change);

#endif
