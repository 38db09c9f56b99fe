/*
 * row_search.h - finds the whole fingerprints of a segment within a distance of one. Each word index is searched by the
 * query's word within a radius (plan/radii.h), as any segment of 64-bit fingerprints is. What it finds are candidates:
 * a word, and the rank of a fingerprint that has it. They are confirmed in table 0. A fingerprint counts only in the
 * first word that covers its error pattern, so none is found twice. All of table 0 is tested instead if that is
 * expected to take less time, also in the midst of a query whose words turn out to be those of very many fingerprints.
 */
#ifndef SS_ROW_SEARCH_H
#define SS_ROW_SEARCH_H

#include "read/search.h"

/* Find every distinct fingerprint of a segment with word indexes within `distance`. on_hit() gets each one once. */
sstore_status ss_row_search_segment(sstore_cursor *cursor, uint32_t segment, const uint64_t *fingerprint,
                                    uint32_t distance, ss_hit_fn on_hit, void *context, sstore_error *error);

/* Find every distinct fingerprint of a segment within *limit by testing all of table 0. on_hit() may lower *limit. */
sstore_status ss_row_search_scan(sstore_cursor *cursor, uint32_t segment, const uint64_t *fingerprint,
                                 const uint32_t *limit, ss_hit_fn on_hit, void *context, sstore_error *error);

#endif
