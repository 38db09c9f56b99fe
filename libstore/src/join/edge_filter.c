#include "join/edge_filter.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define UNKNOWN SS_EDGE_FILTER_UNKNOWN
#define BUCKET 8u                                /* slots */
#define BUCKET_BYTES (BUCKET * sizeof(uint64_t)) /* of nodes: a cache line */
#define SLOT_BYTES (sizeof(uint64_t) + sizeof(uint32_t))
#define AHEAD 8u /* nodes whose slots are prefetched */
#define MAX_BUCKETS (UINT32_C(1) << 28)
#define FULL 0.8 /* of the slots; beyond it ever more nodes find none */

sstore_status ss_edge_filter_open(ss_edge_filter *filter, size_t capacity, sstore_error *error)
{
    filter->slot_count = (size_t)ss_min_u64((uint64_t)((double)capacity / FULL / BUCKET) + 1, MAX_BUCKETS) * BUCKET;
    filter->expected = 0;
    filter->memory = ss_alloc_sparse(filter->slot_count * SLOT_BYTES + BUCKET_BYTES);
    if (filter->memory == NULL)
        return ss_fail_memory(error, ss_edge_filter_bytes(capacity));
    filter->nodes = (uint64_t *)(((uintptr_t)filter->memory + BUCKET_BYTES - 1) / BUCKET_BYTES * BUCKET_BYTES);
    filter->steps = (uint32_t *)(filter->nodes + filter->slot_count);
    return SSTORE_OK;
}

sstore_status ss_edge_filter_open_dense(ss_edge_filter *filter, uint32_t count, sstore_error *error)
{
    const uint64_t bytes = ss_max_u64(count, 1) * sizeof *filter->steps;
    *filter = (ss_edge_filter){.slot_count = count, .memory = ss_alloc_sparse(bytes)};
    filter->steps = filter->memory;
    return filter->memory != NULL ? SSTORE_OK : ss_fail_memory(error, bytes);
}

uint64_t ss_edge_filter_bytes(size_t capacity)
{
    return (uint64_t)((double)capacity / FULL * SLOT_BYTES);
}

void ss_edge_filter_close(ss_edge_filter *filter)
{
    ss_free(filter->memory);
    *filter = (ss_edge_filter){.memory = NULL};
}

void ss_edge_filter_expect(ss_edge_filter *filter, size_t count)
{
    if (filter->expected > 0 && (double)(filter->expected + count) > FULL * (double)filter->slot_count) {
        memset(filter->nodes, 0, filter->slot_count * SLOT_BYTES); /* the steps follow */
        filter->expected = 0;
    }
    filter->expected += count;
}

/* ----- slots ----- */

#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* Fibonacci hashing (Knuth, "The Art of Computer Programming", volume 3, section 6.4). The hash is also what is stored:
 * one node, which is not 0, would be stored as 0, and is never remembered. */
static uint64_t stored_form(uint64_t node)
{
    return (node ^ UINT64_C(0xd1b54a32d192ed03)) * FACTOR;
}

/* The first slot of a hash's bucket. */
static size_t bucket_of(const ss_edge_filter *filter, uint64_t hash)
{
    return (size_t)((hash >> 32) * (filter->slot_count / BUCKET) >> 32) * BUCKET;
}

/* The slot of a node; with `reserve` a new node gets one if possible; else UNKNOWN. A node may be in two buckets, in
 * the second one only if the first one is full. The slots of a node have an order and stay occupied, so none gets
 * two. */
static uint32_t slot_of(ss_edge_filter *filter, uint64_t node, bool reserve)
{
    const uint64_t form = stored_form(node);
    uint64_t hash = form;
    if (filter->nodes == NULL)
        return (uint32_t)node;
    for (uint32_t bucket = 0; form != 0 && bucket < 2; bucket++) {
        const size_t first = bucket_of(filter, hash);
        for (size_t i = 0; i < BUCKET; i++) {
            const size_t slot = first + (form + i) % BUCKET;
            uint64_t found = __atomic_load_n(&filter->nodes[slot], __ATOMIC_RELAXED);
            if (found == 0 && !reserve)
                return UNKNOWN;
            if (found == 0 && __atomic_compare_exchange_n(&filter->nodes[slot], &found, form, false, __ATOMIC_RELAXED,
                                                          __ATOMIC_RELAXED))
                return (uint32_t)slot;
            if (found == form)
                return (uint32_t)slot;
        }
        hash = (form ^ form >> 32) * FACTOR;
    }
    return UNKNOWN;
}

/* ----- sets ----- */

/* The root of a slot's tree. On the way every other slot becomes a child of its grandparent. If another thread does so
 * at the same time, it becomes a child of another ancestor. */
static uint32_t root_of(ss_edge_filter *filter, uint32_t slot)
{
    for (;;) {
        const uint32_t step = __atomic_load_n(&filter->steps[slot], __ATOMIC_RELAXED);
        if (step == 0)
            return slot;
        const uint32_t next = __atomic_load_n(&filter->steps[slot - step], __ATOMIC_RELAXED);
        if (next == 0)
            return slot - step;
        __atomic_store_n(&filter->steps[slot], step + next, __ATOMIC_RELAXED);
        slot -= step + next;
    }
}

bool ss_edge_filter_pass(ss_edge_filter *filter, uint64_t a, uint64_t b)
{
    uint32_t low = slot_of(filter, a, true), high = slot_of(filter, b, true), still_root;
    if (low == UNKNOWN || high == UNKNOWN)
        return true;
    do {
        const uint32_t root_a = root_of(filter, low), root_b = root_of(filter, high);
        if (root_a == root_b)
            return false;
        low = ss_min_u32(root_a, root_b);
        high = ss_max_u32(root_a, root_b);
        still_root = 0; /* steps lead to lower slots, so there are no cycles */
    } while (!__atomic_compare_exchange_n(&filter->steps[high], &still_root, high - low, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return true;
}

void ss_edge_filter_prefetch(const ss_edge_filter *filter, uint64_t node)
{
    const size_t slot = filter->nodes == NULL ? (size_t)node : bucket_of(filter, stored_form(node));
    if (filter->nodes != NULL)
        __builtin_prefetch(&filter->nodes[slot]);
    __builtin_prefetch(&filter->steps[slot]);
}

void ss_edge_filter_roots(ss_edge_filter *filter, const uint64_t *nodes, size_t count, uint32_t *roots)
{
    for (size_t i = 0; i < count; i++) {
        ss_edge_filter_prefetch(filter, nodes[i + AHEAD < count ? i + AHEAD : i]);
        const uint32_t slot = slot_of(filter, nodes[i], false);
        roots[i] = slot == UNKNOWN ? UNKNOWN : root_of(filter, slot);
    }
}

/* After Boyer and Moore, "MJRTY: A Fast Majority Vote Algorithm" (1991). */
uint32_t ss_edge_filter_majority(const uint32_t *roots, size_t count)
{
    uint32_t root = UNKNOWN;
    size_t lead = 0;
    for (size_t i = 0; i < count; i++) {
        root = lead == 0 ? roots[i] : root;
        lead = roots[i] == root ? lead + 1 : lead - 1;
    }
    return root;
}
