#include "read/name_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "sort/radix.h"

#define GROUP_SHIFT 33u /* the first 31 bits of a hash tell the group */

sstore_status ss_name_set_open(ss_name_set *set, size_t count, sstore_error *error)
{
    const size_t room = (size_t)ss_min_u64(count, SS_NAME_SET_MAX);
    *set = (ss_name_set){.order = ss_alloc(room, sizeof *set->order),
                         .scratch = ss_alloc(room, sizeof *set->scratch),
                         .newest = ss_alloc(room, sizeof *set->newest)};
    return set->order != NULL && set->scratch != NULL && set->newest != NULL
               ? SSTORE_OK
               : ss_fail_memory(error, room * (2 * sizeof *set->order + sizeof *set->newest));
}

void ss_name_set_close(ss_name_set *set)
{
    ss_free(set->order);
    ss_free(set->scratch);
    ss_free(set->newest);
}

/* Compare two names of one hash, in any fixed order. */
static int compare_names(const sstore_name *a, const sstore_name *b)
{
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return memcmp(a->bytes, b->bytes, a->size);
}

static int compare_items(const void *left, const void *right, void *context)
{
    const ss_record *a = left, *b = right;
    const sstore_name *names = context;
    return compare_names(&names[a->id], &names[b->id]);
}

void ss_name_set_fill(ss_name_set *set, const sstore_name *names, size_t count)
{
    set->names = names;
    set->count = count;
    memset(set->newest, 0, count * sizeof *set->newest);
    for (size_t i = 0; i < count; i++)
        set->order[i] = (ss_record){.fingerprint = ss_hash64(names[i].bytes, names[i].size), .id = i};
    ss_sort_records(set->order, set->scratch, count);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && set->order[end].fingerprint == set->order[begin].fingerprint;)
            end++;
        if (end > begin + 1)
            qsort_r(set->order + begin, end - begin, sizeof *set->order, compare_items, (void *)(uintptr_t)names);
    }
}

size_t ss_name_set_group_end(const ss_name_set *set, size_t begin)
{
    size_t end = begin + 1;
    while (end < set->count &&
           set->order[end].fingerprint >> GROUP_SHIFT == set->order[begin].fingerprint >> GROUP_SHIFT)
        end++;
    return end;
}

/* Compare the name of a place with another one, by hash and then by name. */
static int compare_at(const ss_name_set *set, size_t place, uint64_t hash, const sstore_name *name)
{
    const ss_record *item = &set->order[place];
    if (item->fingerprint != hash)
        return item->fingerprint < hash ? -1 : 1;
    return compare_names(&set->names[item->id], name);
}

size_t ss_name_set_find(const ss_name_set *set, size_t begin, size_t end, const sstore_name *name, size_t *end_out)
{
    const uint64_t hash = ss_hash64(name->bytes, name->size);
    size_t low = begin, high = end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_at(set, middle, hash, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*end_out = low; *end_out < end && compare_at(set, *end_out, hash, name) == 0;)
        ++*end_out;
    if (low == *end_out)
        low = *end_out = end;
    return low;
}
