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

sstore_status ss_edge_filter_open(ss_edge_filter *filter, size_t capacity, sstore_error *error)
{
    filter->place_count = (size_t)ss_min_u64((uint64_t)((double)capacity / FULL / BUCKET) + 1, MAX_BUCKETS) * BUCKET;
    filter->expected = 0;
    filter->memory = ss_alloc_sparse(filter->place_count * PLACE_BYTES + BUCKET_BYTES);
    if (filter->memory == NULL)
        return ss_fail_memory(error, ss_edge_filter_bytes(capacity));
    filter->nodes = (uint64_t *)(((uintptr_t)filter->memory + BUCKET_BYTES - 1) / BUCKET_BYTES * BUCKET_BYTES);
    filter->steps = (uint32_t *)(filter->nodes + filter->place_count);
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
    if (filter->expected > 0 && (double)(filter->expected + count) > FULL * (double)filter->place_count) {
        memset(filter->nodes, 0, filter->place_count * PLACE_BYTES); /* the steps follow */
        filter->expected = 0;
    }
    filter->expected += count;
}

/* ----- places ----- */

#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* Fibonacci hashing (Knuth, "The Art of Computer Programming", volume 3, section 6.4). The hash is also what is stored:
 * one node, which is not 0, would be stored as 0, and is never known. */
static uint64_t stored_form(uint64_t node)
{
    return (node ^ UINT64_C(0xd1b54a32d192ed03)) * FACTOR;
}

/* The first place of a hash's bucket. */
static size_t bucket_of(const ss_edge_filter *filter, uint64_t hash)
{
    return (size_t)((hash >> 32) * (filter->place_count / BUCKET) >> 32) * BUCKET;
}

/* The place of a node, which it gets if there is one and `reserve` is set; else UNKNOWN. It may be in two buckets, in
 * the second one only if the first one is full. A form has an order of places, and they stay taken, so no form gets
 * two. */
static uint32_t place_of(ss_edge_filter *filter, uint64_t node, bool reserve)
{
    const uint64_t form = stored_form(node);
    uint64_t hash = form;
    for (uint32_t bucket = 0; form != 0 && bucket < 2; bucket++) {
        const size_t first = bucket_of(filter, hash);
        for (size_t i = 0; i < BUCKET; i++) {
            const size_t place = first + (form + i) % BUCKET;
            uint64_t found = __atomic_load_n(&filter->nodes[place], __ATOMIC_RELAXED);
            if (found == 0 && !reserve)
                return UNKNOWN;
            if (found == 0 && __atomic_compare_exchange_n(&filter->nodes[place], &found, form, false, __ATOMIC_RELAXED,
                                                          __ATOMIC_RELAXED))
                return (uint32_t)place;
            if (found == form)
                return (uint32_t)place;
        }
        hash = (form ^ form >> 32) * FACTOR;
    }
    return UNKNOWN;
}

/* ----- sets ----- */

/* The root of a place's tree. On the way every other place is hung under its grandparent; another thread that does so
 * at the same time hangs it under another ancestor. */
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

bool ss_edge_filter_pass(ss_edge_filter *filter, uint64_t a, uint64_t b)
{
    uint32_t low = place_of(filter, a, true), high = place_of(filter, b, true), still_root;
    if (low == UNKNOWN || high == UNKNOWN)
        return true;
    do {
        const uint32_t root_a = root_of(filter, low), root_b = root_of(filter, high);
        if (root_a == root_b)
            return false;
        low = ss_min_u32(root_a, root_b);
        high = ss_max_u32(root_a, root_b);
        still_root = 0; /* steps lead to lower places, so there are no circles */
    } while (!__atomic_compare_exchange_n(&filter->steps[high], &still_root, high - low, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return true;
}

void ss_edge_filter_roots(ss_edge_filter *filter, const uint64_t *nodes, size_t count, uint32_t *roots)
{
    for (size_t i = 0; i < count; i++) {
        const size_t ahead = bucket_of(filter, stored_form(nodes[i + AHEAD < count ? i + AHEAD : i]));
        __builtin_prefetch(&filter->nodes[ahead]);
        __builtin_prefetch(&filter->steps[ahead]);
        const uint32_t place = place_of(filter, nodes[i], false);
        roots[i] = place == UNKNOWN ? UNKNOWN : root_of(filter, place);
    }
}
