#include "join/edge_filter.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define UNKNOWN SS_EDGE_FILTER_UNKNOWN
#define BUCKET 8u                                /* places */
#define BUCKET_BYTES (BUCKET * sizeof(uint64_t)) /* of nodes: a cache line */
#define PLACE_BYTES (sizeof(uint64_t) + sizeof(uint32_t))
#define AHEAD 8u /* nodes whose places are fetched before they are looked at */
#define MAX_BUCKETS (UINT32_C(1) << 28)
#define FULL 0.8 /* of the places; from there on ever more nodes find none */

static size_t place_count(const ss_edge_filter *filter)
{
    return (size_t)filter->bucket_count * BUCKET;
}

sstore_status ss_edge_filter_open(ss_edge_filter *filter, size_t capacity, sstore_error *error)
{
    filter->bucket_count = (uint32_t)ss_min_u64((uint64_t)((double)capacity / FULL / BUCKET) + 1, MAX_BUCKETS);
    filter->expected = 0;
    filter->memory = ss_alloc_sparse(place_count(filter) * PLACE_BYTES + BUCKET_BYTES);
    if (filter->memory == NULL)
        return ss_fail_memory(error, ss_edge_filter_bytes(capacity));
    filter->nodes = (uint64_t *)(((uintptr_t)filter->memory + BUCKET_BYTES - 1) / BUCKET_BYTES * BUCKET_BYTES);
    filter->steps = (uint32_t *)(filter->nodes + place_count(filter));
    return SSTORE_OK;
}

uint64_t ss_edge_filter_bytes(size_t capacity)
{
    return (uint64_t)((double)capacity / FULL * PLACE_BYTES);
}

void ss_edge_filter_close(ss_edge_filter *filter)
{
    ss_free(filter->memory);
    *filter = (ss_edge_filter){.memory = NULL};
}

void ss_edge_filter_expect(ss_edge_filter *filter, size_t count)
{
    if (filter->expected > 0 && (double)(filter->expected + count) > FULL * (double)place_count(filter)) {
        memset(filter->nodes, 0, place_count(filter) * sizeof *filter->nodes);
        memset(filter->steps, 0, place_count(filter) * sizeof *filter->steps);
        filter->expected = 0;
    }
    filter->expected += count;
}

/* ----- places ----- */

/* Fibonacci hashing (Knuth, "The Art of Computer Programming", volume 3, section 6.4), also of what is stored: one
 * node, which is not 0, would be stored as 0, and is never known. */
static uint64_t stored_form(uint64_t node)
{
    return (node ^ UINT64_C(0xd1b54a32d192ed03)) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The first place of the two buckets that a form may be in: the second one only if the first one is full. */
static size_t first_bucket(const ss_edge_filter *filter, uint64_t form)
{
    return (size_t)((form >> 32) * filter->bucket_count >> 32) * BUCKET;
}

static size_t second_bucket(const ss_edge_filter *filter, uint64_t form)
{
    return first_bucket(filter, (form ^ form >> 32) * UINT64_C(0x9e3779b97f4a7c15));
}

/* The form's place in a bucket, which it gets if there is one and `claim` is set. UNKNOWN: it has none; then *full_out
 * tells whether the bucket is full. A form has an order of places, and keeps those that it has, so nobody gets two. */
static uint32_t place_in(ss_edge_filter *filter, size_t bucket, uint64_t form, bool claim, bool *full_out)
{
    *full_out = false;
    for (size_t i = 0; i < BUCKET; i++) {
        const size_t place = bucket + (form + i) % BUCKET;
        uint64_t found = __atomic_load_n(&filter->nodes[place], __ATOMIC_RELAXED);
        if (found == 0 && !claim)
            return UNKNOWN;
        if (found == 0 &&
            __atomic_compare_exchange_n(&filter->nodes[place], &found, form, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            found = form;
        if (found == form)
            return (uint32_t)place;
    }
    *full_out = true;
    return UNKNOWN;
}

static uint32_t place_of(ss_edge_filter *filter, uint64_t node, bool claim)
{
    const uint64_t form = stored_form(node);
    bool full;
    if (form == 0)
        return UNKNOWN;
    const uint32_t place = place_in(filter, first_bucket(filter, form), form, claim, &full);
    return full ? place_in(filter, second_bucket(filter, form), form, claim, &full) : place;
}

/* ----- sets ----- */

/* The root of a place's tree. On the way every other place is hung under its grandparent; whoever else does so at the
 * same time hangs it under another ancestor. */
static uint32_t root_of(ss_edge_filter *filter, uint32_t place)
{
    for (;;) {
        const uint32_t step = __atomic_load_n(&filter->steps[place], __ATOMIC_RELAXED);
        if (step == 0)
            return place;
        const uint32_t next = __atomic_load_n(&filter->steps[place - step], __ATOMIC_RELAXED);
        if (next == 0)
            return place - step;
        __atomic_store_n(&filter->steps[place], step + next, __ATOMIC_RELAXED);
        place -= step + next;
    }
}

/* Whether the two were not in one set before. Steps lead to lower places, so there are no circles. */
static bool unite(ss_edge_filter *filter, uint32_t a, uint32_t b)
{
    for (;;) {
        a = root_of(filter, a);
        b = root_of(filter, b);
        if (a == b)
            return false;
        const uint32_t higher = a > b ? a : b, step = a > b ? a - b : b - a;
        uint32_t still_root = 0;
        if (__atomic_compare_exchange_n(&filter->steps[higher], &still_root, step, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return true;
    }
}

bool ss_edge_filter_pass(ss_edge_filter *filter, uint64_t a, uint64_t b)
{
    const uint32_t place_a = place_of(filter, a, true), place_b = place_of(filter, b, true);
    return place_a == UNKNOWN || place_b == UNKNOWN || unite(filter, place_a, place_b);
}

static void fetch(const ss_edge_filter *filter, uint64_t node)
{
    const size_t bucket = first_bucket(filter, stored_form(node));
    __builtin_prefetch(&filter->nodes[bucket]);
    __builtin_prefetch(&filter->steps[bucket]);
}

void ss_edge_filter_roots(ss_edge_filter *filter, const uint64_t *nodes, size_t count, uint32_t *roots)
{
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            fetch(filter, nodes[i + AHEAD]);
        const uint32_t place = place_of(filter, nodes[i], false);
        roots[i] = place == UNKNOWN ? UNKNOWN : root_of(filter, place);
    }
}
