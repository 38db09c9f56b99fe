/*
 * compact.h - merges consecutive segments of a store into one, without removed records. If they remove records of older
 * segments, these removals become a second segment. A change may be the newest of these segments, or a removal and an
 * addition the newest two; then nothing but the result is published.
 */
#ifndef SS_COMPACT_H
#define SS_COMPACT_H

#include "write/builder.h"

/* The segments first .. end - 1 of a store. */
typedef struct ss_segment_range {
    uint32_t first, end;
} ss_segment_range;

/* The newest segments that are worth merging, with a new one of `added_count` records if that is not 0, whose number is
 * manifest->segment_count. Empty: none. */
ss_segment_range ss_tiers_find(const ss_manifest *manifest, uint64_t added_count);

/* Write these records, merge them with the segments from `first` on, and publish the result. The builder's change gets
 * the number of records that change the store; if it is 0, nothing is published. */
sstore_status ss_builder_merge(sstore_builder *builder, const ss_sorted_pieces *records, uint32_t first,
                               sstore_error *error);

/* The same of two changes: the `replaced` records, which the store has, are removed, and then `records` are added. What
 * both have does not change. `first` may be the number of segments: then none is merged. */
sstore_status ss_builder_replace(sstore_builder *builder, const ss_sorted_pieces *replaced,
                                 const ss_sorted_pieces *records, uint32_t first, sstore_error *error);

#endif
