/*
 * id_conflicts.h - finds ids of added records that another record also has, with another fingerprint. Mostly two documents were
 * given one number.
 *
 * An id is suspect unless it is above all ids before it, in the store and in the input: such an id is new. So numbering documents
 * on costs nothing. Suspects are looked up after the new segment is published; in older segments only if that is cheap compared
 * to the addition, or if half of the numbers below the next ordinal are in use.
 */
#ifndef SS_ID_CONFLICTS_H
#define SS_ID_CONFLICTS_H

#include "store/store.h"

typedef struct ss_id_conflicts {
    size_t capacity;           /* of suspects; 0: nobody wants to know */
    uint64_t *suspects, *scratch;
    size_t count;
    bool left_out;             /* there were more */
} ss_id_conflicts;

/* Watch from now on, in a share of what a call may take. Returns the bytes that this may take. */
uint64_t ss_id_conflicts_watch(ss_id_conflicts *conflicts, uint64_t memory_bytes);

/* Also of a zeroed one. */
void ss_id_conflicts_free(ss_id_conflicts *conflicts);

/* Note a suspect. Those that find no room, or no memory, are left out. */
void ss_id_conflicts_suspect(ss_id_conflicts *conflicts, uint64_t id);

/*
 * Look the suspects up in `store`, whose newest segment was just added, and forget them; the next ordinal before was
 * `next_ordinal`. Fills conflict_count, min_conflicting_id and ids_checked. What cannot be read counts as not checked.
 */
void ss_id_conflicts_find(ss_id_conflicts *conflicts, const sstore *store, uint64_t next_ordinal, sstore_change *change);

#endif
