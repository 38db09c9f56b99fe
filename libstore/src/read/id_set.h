/*
 * id_set.h - ids that are looked for among those of all records: in ascending order, with the place where those with
 * given leading bits begin.
 */
#ifndef SS_ID_SET_H
#define SS_ID_SET_H

#include "base/common.h"
#include "sort/radix.h"

typedef struct ss_id_set {
    const uint64_t *ids; /* as they were given; borrowed */
    size_t count;
    ss_record *order; /* (id, index in `ids`), ascending; NULL if the ids ascend */
    uint32_t shift;
    uint32_t *begins; /* for each value of the leading bits of ids */
} ss_id_set;

/* Begin with `count` ids, at least one and fewer than 2^32. MEMORY. Close it also after a failure. */
sstore_status ss_id_set_open(ss_id_set *set, const uint64_t *ids, size_t count, sstore_error *error);
void ss_id_set_close(ss_id_set *set);

/* The id at a place in the order, and its index in the given ids. */
SS_ALWAYS_INLINE uint64_t ss_id_set_at(const ss_id_set *set, uint64_t place)
{
    return set->order != NULL ? set->order[place].fingerprint : set->ids[place];
}

static inline uint64_t ss_id_set_index(const ss_id_set *set, uint64_t place)
{
    return set->order != NULL ? set->order[place].id : place;
}

SS_ALWAYS_INLINE bool ss_id_set_is_below(const void *set, uint64_t place, uint64_t target)
{
    return ss_id_set_at(set, place) < target;
}

/* The first place of an id; if the set does not have it, the number of ids or the place of another one. */
static inline uint64_t ss_id_set_find(const ss_id_set *set, uint64_t id)
{
    if (id > ss_id_set_at(set, set->count - 1))
        return set->count;
    const uint32_t *begin = &set->begins[id >> set->shift];
    return ss_lower_bound(set, begin[0], begin[1] - begin[0], id, ss_id_set_is_below);
}

#endif
