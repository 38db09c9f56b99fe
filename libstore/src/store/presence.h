/*
 * presence.h - whether a record is in a store: as the newest segment says that has it. Cheapest in ascending order.
 */
#ifndef SS_PRESENCE_H
#define SS_PRESENCE_H

#include "store/record_finder.h"
#include "store/store.h"

typedef struct ss_presence {
    const sstore *store; /* borrowed */
    uint32_t finder_count;
    ss_record_finder *finders; /* one a segment; only those that were opened */
} ss_presence;

/* Open finders for all segments; or only for those that can have records of older ones, which are all but the oldest and empty
 * ones. `steps`: see ss_block_slot. MEMORY. */
sstore_status ss_presence_open(ss_presence *presence, const sstore *store, bool newer_only, ss_steps *steps,
                               sstore_error *error);
/* Also of a zeroed one. */
void ss_presence_close(ss_presence *presence);

/* The bytes that it takes. */
uint64_t ss_presence_bytes(const ss_manifest *manifest, bool newer_only, sstore_io io);

/* Whether the record is in the store. Needs the finders of all segments. IO, DAMAGED. */
sstore_status ss_presence_has(ss_presence *presence, const sstore_record *record, bool *has_out, sstore_error *error);

/* Whether a newer segment than `segment` also has the record, and so decides whether it is in the store: a segment that removes
 * or, if `added`, also one that adds. IO, DAMAGED. */
sstore_status ss_presence_in_newer(ss_presence *presence, uint32_t segment, const sstore_record *record, bool added,
                                   bool *newer_out, sstore_error *error);

#endif
