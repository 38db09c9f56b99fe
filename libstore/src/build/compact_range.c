#include "build/compact_range.h"

#define TIER_RATIO 4u
#define TIER_LEAST 4u /* segments */

static const ss_compact_range none = {0, 0};

ss_compact_range ss_compact_tiers(const ss_manifest *manifest)
{
    ss_compact_range range = {.first = manifest->segment_count, .end = manifest->segment_count};
    uint64_t sum = 0;
    while (range.first > 0) {
        uint64_t count = manifest->segments[range.first - 1].record_count;
        if (range.first < range.end && count / TIER_RATIO > sum)
            break;
        sum += count;
        range.first--;
    }
    return range.end - range.first < TIER_LEAST ? none : range;
}

ss_compact_range ss_compact_all(const ss_manifest *manifest)
{
    return manifest->segment_count > 1 ? (ss_compact_range){.end = manifest->segment_count} : none;
}

uint64_t ss_compact_most(const ss_manifest *manifest, ss_compact_range range, ss_segment_kind kind)
{
    uint64_t count = 0;
    for (uint32_t i = range.first; i < range.end; i++)
        count += manifest->segments[i].kind == kind ? manifest->segments[i].record_count : 0;
    return count;
}
