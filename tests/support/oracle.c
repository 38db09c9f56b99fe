#include "support/oracle.h"
#include "support/data.h"

#include <stdlib.h>
#include <string.h>

#include "sstore_join.h"
#include "support/testing.h"

int compare_pairs(const void *left, const void *right)
{
    const sstore_pair *a = left, *b = right;
    const uint64_t of_a[4] = {a->fingerprint, a->other_fingerprint, a->other_id, a->id};
    const uint64_t of_b[4] = {b->fingerprint, b->other_fingerprint, b->other_id, b->id};
    for (int i = 0; i < 4; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

/* ----- the truth ----- */

void oracle_make(const data_set *set, oracle *oracle_out)
{
    sstore_record *records = calloc(set->count + 1, sizeof *records);
    if (records == NULL)
        fail_msg("out of memory for %zu records", set->count);
    for (size_t i = 0; i < set->count; i++) {
        uint64_t id = set->ids != NULL ? set->ids[i] : set->id_kind == DATA_ASSIGNED ? i : 0;
        records[i] = (sstore_record){.fingerprint = set->fingerprints[i], .id = id};
    }
    qsort(records, set->count, sizeof *records, compare_records);
    size_t kept = 0, distinct = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (kept > 0 && compare_records(&records[kept - 1], &records[i]) == 0)
            continue;
        if (kept == 0 || records[kept - 1].fingerprint != records[i].fingerprint)
            distinct++;
        records[kept++] = records[i];
    }
    *oracle_out = (oracle){.records = records, .count = kept, .distinct_count = distinct};
}

void oracle_free(oracle *truth)
{
    free(truth->records);
    *truth = (oracle){0};
}

void oracle_query(const oracle *truth, uint64_t fingerprint, uint32_t distance, uint64_t query_index, matches *out)
{
    const size_t first = out->count;
    for (size_t i = 0; i < truth->count; i++) {
        const sstore_record *record = &truth->records[i];
        uint32_t bits = (uint32_t)__builtin_popcountll(record->fingerprint ^ fingerprint);
        if (bits > distance)
            continue;
        matches_put(out, &query_index, bits, &record->fingerprint, record->id);
    }
    matches_sort_from(out, first);
}

void oracle_nearest(const oracle *truth, uint64_t fingerprint, uint32_t max_distance, matches *out)
{
    uint32_t nearest = 65;
    for (size_t i = 0; i < truth->count; i++) {
        uint32_t bits = (uint32_t)__builtin_popcountll(truth->records[i].fingerprint ^ fingerprint);
        if (bits < nearest)
            nearest = bits;
    }
    if (nearest <= max_distance)
        oracle_query(truth, fingerprint, nearest, 0, out);
}
