/* hit_records.h - the records of hits: their ranks and ids, as far as no newer segment has them. */
#ifndef SS_HIT_RECORDS_H
#define SS_HIT_RECORDS_H

#include "read/cursor.h"
#include "read/selection.h"

/* Where the records of hits go. */
typedef struct ss_record_sink {
    sstore_cursor *cursor;
    sstore_match_fn on_match; /* NULL: records are only counted */
    void *context;
    ss_selection *selection; /* takes the matches instead, if not NULL */
    uint64_t limit;          /* only the first records of each hit are wanted; 0: all */
    uint64_t *counts;        /* one a query: the number of all records is added to it; NULL: not wanted */
    ss_id_filter filter;     /* other records are neither reported nor counted */
    bool uses_index_slots; /* look up through index_slots, because records of `slots` may be in the midst of a report */
} ss_record_sink;

/* Report the records of up to SS_HIT_BATCH hits: all ids of their ranks, or themselves if the store has no ids; as
 * far as no newer segment has them. Fills in unknown ranks. Not while records of the same slots are being reported. */
sstore_status ss_report_records(const ss_record_sink *sink, ss_hit *hits, uint32_t count, sstore_error *error);

#endif
