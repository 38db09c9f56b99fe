/*
 * id_lookup.h - the records of an id, by the id indexes of segments.
 */
#ifndef SS_ID_LOOKUP_H
#define SS_ID_LOOKUP_H

#include "read/cursor.h"

/* The slots of the cursor from this one on are free for others. */
#define SS_ID_LOOKUP_SLOTS 3u

/* Where the records of a call go. */
typedef struct ss_record_sink {
    sstore_cursor *cursor;
    sstore_match_fn on_match;
    void *context;
    uint32_t taken; /* records that were found or reported: sometimes it is asked whether to stop */
} ss_record_sink;

/* Report a record of the id or name `index`. STOPPED. */
sstore_status ss_record_sink_report(ss_record_sink *sink, uint64_t index, const uint64_t *fingerprint, uint64_t id);

/* An id that is looked up. */
typedef struct ss_id_lookup {
    ss_record_sink *sink;
    uint64_t id;
    const ss_record *asked; /* who asked for it: the ids are indexes in the call, less `base` */
    size_t asked_count;
    uint64_t base;
    uint32_t segment;       /* the one that is asked, of all from the newest to the oldest */
    bool any, any_in_newer; /* a record was found in this segment; in a newer one, as the caller says */
} ss_id_lookup;

/* Report the records of the id that the segment adds and no newer one removes. IO, DAMAGED, STOPPED. */
sstore_status ss_id_lookup_ask(ss_id_lookup *self, sstore_error *error);

#endif
