#include "read/growth.h"

#include <math.h>

#include "plan/durations.h"

#define SURPLUS 2.0 /* how many times as many records as are wanted are expected at the likely distance */
#define SHARE 0.25  /* of the time at that distance, which a try at a smaller one may take */
#define FACTOR 2.0  /* between the times of two tries */

/* The distance within which so many of the store's fingerprints are expected, as if they were uniform. */
static uint32_t likely_distance(const sstore *store, uint32_t max_distance, double wanted)
{
    const uint32_t bits = SSTORE_MAX_DISTANCE * store->manifest.words;
    double count = 0, near, found;
    uint32_t distance = 0;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++)
        if (!ss_segment_removes(store->segments[i]))
            count += (double)store->segments[i]->metadata.distinct_count;
    near = found = ldexp(count, -(int)bits);
    for (; distance < max_distance && found < wanted; distance++) {
        near *= (double)(bits - distance) / (distance + 1);
        found += near;
    }
    return distance;
}

/* Estimate the time of a query at a distance, and of a full scan. */
static void estimate(ss_growth *self, uint32_t distance)
{
    const sstore *store = self->cursor->store;
    self->distance = distance;
    self->query_ns = self->scan_ns = 0;
    for (uint32_t i = 0; i < store->manifest.segment_count; i++) {
        if (ss_segment_removes(store->segments[i]))
            continue;
        const ss_segment_plan *plan = ss_cursor_plan(self->cursor, i, distance);
        self->query_ns += plan->full_scan ? plan->full_scan_cost : plan->probe_cost;
        self->scan_ns += plan->full_scan_cost;
    }
}

bool ss_growth_begin(ss_growth *growth, sstore_cursor *cursor, uint32_t begin, uint32_t max_distance, uint64_t wanted)
{
    *growth = (ss_growth){.cursor = cursor, .max_distance = max_distance, .wanted = wanted};
    estimate(growth, begin);
    return growth->query_ns < growth->scan_ns;
}

bool ss_growth_next(ss_growth *growth, uint64_t block_count)
{
    const double tried_ns = fmax(growth->query_ns, SS_TRY_BLOCK_NS * (double)block_count);
    const uint32_t begin = growth->distance + 1;
    const uint32_t likely = likely_distance(growth->cursor->store, growth->max_distance,
                                            SURPLUS * (double)growth->wanted);
    growth->spent_ns += tried_ns;
    estimate(growth, likely);
    const double max_ns = SHARE * growth->query_ns;
    estimate(growth, begin);
    while (growth->distance < likely && growth->query_ns < FACTOR * tried_ns && growth->query_ns <= max_ns)
        estimate(growth, growth->distance + 1);
    if (growth->distance < likely && growth->query_ns > max_ns)
        estimate(growth, likely);
    return growth->spent_ns + growth->query_ns < growth->scan_ns;
}
