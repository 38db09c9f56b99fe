/*
 * id_conflicts.h - ids that come back with another fingerprint when records are added: two documents that were given one
 * number, more often than not.
 *
 * An id is suspect if it is not above all before it, in the store and in the input: any other is new for sure. So who numbers
 * documents on and on pays nothing. Suspects are looked up when the store has its new segment; in the older ones only where
 * that is cheap beside the addition, or where most numbers below the next ordinal are in use.
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

/* The memory that up to `capacity` suspects take. */
uint64_t ss_id_conflicts_bytes(size_t capacity);

/* Also of a zeroed one. */
void ss_id_conflicts_free(ss_id_conflicts *conflicts);

/* Note a suspect. Those that find no room, or no memory, are left out. */
void ss_id_conflicts_suspect(ss_id_conflicts *conflicts, uint64_t id);

/*
 * Look the suspects up in `store`, whose newest segment was just added; the next ordinal before was `next_ordinal`. Fills
 * conflict_count, least_conflicting_id and ids_checked. What cannot be read counts as not checked.
 */
void ss_id_conflicts_find(ss_id_conflicts *conflicts, const sstore *store, uint64_t next_ordinal, sstore_change *change);

#endif
