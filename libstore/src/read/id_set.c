#include "read/id_set.h"

#include "base/error.h"
#include "base/memory.h"

#define IDS_A_BUCKET 4u

static sstore_status order_ids(ss_id_set *set, sstore_error *error)
{
    bool ascend = true;
    for (size_t i = 1; i < set->count; i++)
        ascend &= set->ids[i - 1] < set->ids[i];
    if (ascend)
        return SSTORE_OK;
    ss_record *scratch = ss_alloc(set->count, sizeof *scratch);
    set->order = ss_alloc(set->count, sizeof *set->order);
    if (scratch == NULL || set->order == NULL) {
        ss_free(scratch);
        return ss_fail_memory(error, 2 * set->count * sizeof *scratch);
    }
    for (size_t i = 0; i < set->count; i++)
        set->order[i] = (ss_record){.fingerprint = set->ids[i], .id = i};
    ss_sort_records(set->order, scratch, set->count);
    ss_free(scratch);
    return SSTORE_OK;
}

sstore_status ss_id_set_open(ss_id_set *set, const uint64_t *ids, size_t count, sstore_error *error)
{
    *set = (ss_id_set){.ids = ids, .count = count};
    const sstore_status status = order_ids(set, error);
    if (status != SSTORE_OK)
        return status;
    const uint64_t last = ss_id_set_at(set, set->count - 1);
    const uint32_t used_bits = last == 0 ? 1 : 64 - (uint32_t)__builtin_clzll(last);
    set->shift = used_bits - ss_bits_for(set->count / IDS_A_BUCKET, 1, used_bits);
    const size_t buckets = (size_t)(last >> set->shift) + 1;
    set->begins = ss_alloc(buckets + 1, sizeof *set->begins);
    if (set->begins == NULL)
        return ss_fail_memory(error, (buckets + 1) * sizeof *set->begins);
    size_t bucket = 0;
    for (size_t i = 0; i < set->count; i++)
        for (; bucket <= ss_id_set_at(set, i) >> set->shift; bucket++)
            set->begins[bucket] = (uint32_t)i;
    for (; bucket <= buckets; bucket++)
        set->begins[bucket] = (uint32_t)set->count;
    return SSTORE_OK;
}

void ss_id_set_close(ss_id_set *set)
{
    ss_free(set->order);
    ss_free(set->begins);
}
