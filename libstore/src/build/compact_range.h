/*
 * compact_range.h - which neighbouring segments of a store are to be made one.
 */
#ifndef SS_COMPACT_RANGE_H
#define SS_COMPACT_RANGE_H

#include "file/manifest.h"

/* The segments first .. end - 1. */
typedef struct ss_compact_range {
    uint32_t first, end;
} ss_compact_range;

/*
 * The newest segments, as long as the next older one has at most four times as many records as they have together; and
 * none at all if that would be fewer than four segments. So a record is written again a few times each time that the
 * store has grown fourfold, and there are three segments of about one size at most: of a store of n records that grows
 * by s at a time, three times log4(n/s). Source: the size-tiered rule of log-structured merge trees.
 */
ss_compact_range ss_compact_tiers(const ss_manifest *manifest);

/* All segments; none where there is only one, which adds. */
ss_compact_range ss_compact_all(const ss_manifest *manifest);

/* What records of the range there can be at most, of those that it adds, or of those that it removes from older segments. */
uint64_t ss_compact_most(const ss_manifest *manifest, ss_compact_range range, ss_segment_kind kind);

#endif
