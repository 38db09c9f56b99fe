#include "write/builder.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "sort/radix.h"
#include "store/record_iterator.h"

/* ===== filter ===== */

sstore_status ss_membership_filter_open(ss_membership_filter *filter, const sstore *store, uint32_t threads,
                                        bool keep_present, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *filter = (ss_membership_filter){.is_open = true,
                                     .keep_present = keep_present,
                                     .has_ids = store->manifest.has_ids,
                                     .lock = PTHREAD_MUTEX_INITIALIZER};
    filter->memberships = ss_alloc(threads, sizeof *filter->memberships);
    filter->is_taken = ss_alloc(threads, sizeof *filter->is_taken);
    if (filter->memberships == NULL || filter->is_taken == NULL)
        status = ss_fail_memory(error, threads * sizeof *filter->memberships);
    for (uint32_t i = 0; status == SSTORE_OK && i < threads; i++, filter->count++)
        status = ss_membership_open(&filter->memberships[i], store, false, NULL, error);
    return status;
}

void ss_membership_filter_close(ss_membership_filter *filter)
{
    if (!filter->is_open)
        return;
    for (uint32_t i = 0; i < filter->count; i++)
        ss_membership_close(&filter->memberships[i]);
    ss_free(filter->memberships);
    ss_free(filter->is_taken);
    (void)pthread_mutex_destroy(&filter->lock);
    *filter = (ss_membership_filter){.count = 0};
}

/* Take one that no other thread has: there are as many as threads. */
static uint32_t borrow(ss_membership_filter *filter)
{
    uint32_t number = 0;
    (void)pthread_mutex_lock(&filter->lock);
    while (filter->is_taken[number])
        number++;
    assert(number < filter->count);
    filter->is_taken[number] = true;
    (void)pthread_mutex_unlock(&filter->lock);
    return number;
}

static void give_back(ss_membership_filter *filter, uint32_t number)
{
    (void)pthread_mutex_lock(&filter->lock);
    filter->is_taken[number] = false;
    (void)pthread_mutex_unlock(&filter->lock);
}

sstore_status ss_membership_filter_run(ss_membership_filter *filter, void *items, size_t *count, sstore_error *error)
{
    sstore_record *records = items;
    uint64_t *fingerprints = items;
    const uint32_t number = borrow(filter);
    sstore_status status = SSTORE_OK;
    size_t kept = 0;
    for (size_t i = 0; status == SSTORE_OK && i < *count; i++) {
        const sstore_record record = filter->has_ids ? records[i] : (sstore_record){.fingerprint = fingerprints[i]};
        bool present;
        status = ss_membership_has(&filter->memberships[number], &record, &present, error);
        if (filter->has_ids)
            records[kept] = record;
        else
            fingerprints[kept] = record.fingerprint;
        kept += present == filter->keep_present;
    }
    *count = kept;
    give_back(filter, number);
    return status;
}

/* ===== keys ===== */

#define FOUND_TOGETHER 1024u
#define KEYS_A_BUCKET 4u

void ss_removal_keys_init(ss_removal_keys *keys, const sstore *store, bool are_ids, size_t capacity,
                          ss_found_records_fn on_found, void *context)
{
    *keys = (ss_removal_keys){
        .store = store, .are_ids = are_ids, .capacity = capacity, .on_found = on_found, .context = context};
}

void ss_removal_keys_free(ss_removal_keys *keys)
{
    ss_free(keys->keys);
    ss_free(keys->scratch);
    keys->keys = NULL;
    keys->scratch = NULL;
}

/* Records on their way to on_found. */
typedef struct found_records {
    const ss_removal_keys *keys;
    size_t count;
    sstore_record records[FOUND_TOGETHER];
} found_records;

static sstore_status hand_on(found_records *found, sstore_error *error)
{
    size_t count = found->count;
    found->count = 0;
    return count == 0 ? SSTORE_OK : found->keys->on_found(found->keys->context, found->records, count, error);
}

static sstore_status add_found(found_records *found, const sstore_record *record, sstore_error *error)
{
    found->records[found->count++] = *record;
    return found->count == FOUND_TOGETHER ? hand_on(found, error) : SSTORE_OK;
}

/* ----- fingerprints ----- */

/* The records that segment `number` adds of a fingerprint, as far as no newer one removes them. */
static sstore_status find_in_segment(found_records *found, ss_membership *membership, uint32_t number,
                                     uint64_t fingerprint, sstore_error *error)
{
    ss_segment_lookup *lookup = &membership->lookups[number];
    sstore_record record = {.fingerprint = fingerprint};
    uint64_t rank;
    ss_rank_ids ids = {.begin = 0, .end = 1};
    bool has_ids = membership->store->manifest.has_ids, more = !has_ids, removed;
    sstore_status status = ss_segment_lookup_rank(lookup, fingerprint, &rank, error);
    if (status != SSTORE_OK || rank == SS_NO_RANK)
        return status;
    if (has_ids) {
        ss_segment_lookup_ids(lookup, rank, &ids);
        status = ss_rank_ids_next(&ids, &more, error);
    }
    while (status == SSTORE_OK && more) {
        for (uint32_t i = ids.begin; status == SSTORE_OK && i < ids.end; i++) {
            status = has_ids ? ss_rank_ids_take(&ids, i, &record.id, error) : SSTORE_OK;
            if (status == SSTORE_OK)
                status = ss_membership_in_newer(membership, number, &record, false, &removed, error);
            if (status == SSTORE_OK && !removed)
                status = add_found(found, &record, error);
        }
        more = false;
        if (status == SSTORE_OK && has_ids)
            status = ss_rank_ids_next(&ids, &more, error);
    }
    return status;
}

static sstore_status find_by_fingerprint(const ss_removal_keys *keys, found_records *found, sstore_error *error)
{
    const sstore *store = keys->store;
    ss_membership membership;
    sstore_status status = ss_membership_open(&membership, store, false, NULL, error);
    for (size_t i = 0; status == SSTORE_OK && i < keys->count; i++)
        for (uint32_t j = 0; status == SSTORE_OK && j < store->manifest.segment_count; j++)
            if (!ss_segment_removes(store->segments[j]))
                status = find_in_segment(found, &membership, j, keys->keys[i], error);
    ss_membership_close(&membership);
    return status;
}

/* ----- ids ----- */

/* Ascending ids and where those begin that have some leading bits. */
typedef struct id_set {
    const uint64_t *ids;
    size_t count;
    uint32_t shift;
    uint32_t *begins;
} id_set;

static sstore_status open_id_set(id_set *set, const uint64_t *ids, size_t count, sstore_error *error)
{
    const uint64_t last = ids[count - 1];
    uint32_t used_bits = last == 0 ? 1 : 64 - (uint32_t)__builtin_clzll(last), bits = 1;
    while (bits < used_bits && (count >> bits) > KEYS_A_BUCKET)
        bits++;
    const size_t buckets = (size_t)(last >> (used_bits - bits)) + 1;
    *set = (id_set){.ids = ids, .count = count, .shift = used_bits - bits};
    set->begins = ss_alloc(buckets + 1, sizeof *set->begins);
    if (set->begins == NULL)
        return ss_fail_memory(error, (buckets + 1) * sizeof *set->begins);
    size_t bucket = 0;
    for (size_t i = 0; i < count; i++)
        for (; bucket <= ids[i] >> set->shift; bucket++)
            set->begins[bucket] = (uint32_t)i;
    for (; bucket <= buckets; bucket++)
        set->begins[bucket] = (uint32_t)count;
    return SSTORE_OK;
}

static bool has_id(const id_set *set, uint64_t id)
{
    if (id > set->ids[set->count - 1])
        return false;
    const uint32_t *begin = &set->begins[id >> set->shift];
    const uint64_t at = ss_lower_bound(set->ids, begin[0], begin[1] - begin[0], id, ss_word_is_below);
    return at < set->count && set->ids[at] == id;
}

/* Ids are in no order that would lead to them: all records are looked through. */
static sstore_status find_by_id(const ss_removal_keys *keys, found_records *found, sstore_error *error)
{
    ss_merge_iterator records;
    sstore_record record;
    id_set set;
    bool more = true;
    ss_merge_iterator_init(&records, true);
    sstore_status status = open_id_set(&set, keys->keys, keys->count, error);
    if (status == SSTORE_OK)
        status = ss_merge_iterator_add_store(&records, keys->store, error);
    if (status == SSTORE_OK)
        status = ss_merge_iterator_rewind(&records, error);
    while (status == SSTORE_OK && more) {
        status = ss_merge_iterator_next(&records, &record, &more, error);
        if (status == SSTORE_OK && more && has_id(&set, record.id))
            status = add_found(found, &record, error);
    }
    ss_merge_iterator_close(&records);
    ss_free(set.begins);
    return status;
}

/* ----- both ----- */

sstore_status ss_removal_keys_flush(ss_removal_keys *keys, sstore_error *error)
{
    if (keys->count == 0)
        return SSTORE_OK;
    found_records *found = ss_alloc(1, sizeof *found);
    if (found == NULL)
        return ss_fail_memory(error, sizeof *found);
    found->keys = keys;
    keys->count = ss_sort_unique_keys(keys->keys, keys->scratch, keys->count);
    sstore_status status = keys->are_ids ? find_by_id(keys, found, error) : find_by_fingerprint(keys, found, error);
    if (status == SSTORE_OK)
        status = hand_on(found, error);
    keys->count = 0;
    ss_free(found);
    return status;
}

sstore_status ss_removal_keys_add(ss_removal_keys *keys, const uint64_t *added, size_t count, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (keys->keys == NULL) {
        keys->keys = ss_realloc(NULL, keys->capacity, sizeof *keys->keys);
        keys->scratch = ss_realloc(NULL, keys->capacity, sizeof *keys->scratch);
    }
    if (keys->keys == NULL || keys->scratch == NULL)
        return ss_fail_memory(error, keys->capacity * 2 * sizeof *keys->keys);
    while (status == SSTORE_OK && count > 0) {
        size_t taken = (size_t)ss_min_u64(count, keys->capacity - keys->count);
        memcpy(keys->keys + keys->count, added, taken * sizeof *added);
        keys->count += taken;
        added += taken;
        count -= taken;
        if (keys->count == keys->capacity)
            status = ss_removal_keys_flush(keys, error);
    }
    return status;
}

/* ----- public ----- */

/* Begin to take records, or keys that stand for records. */
static sstore_status take(sstore_remover *remover, size_t count, sstore_error *error)
{
    remover->builder.given_count += count;
    return count > 0 ? ss_builder_open_base(&remover->builder, error) : SSTORE_OK;
}

sstore_status sstore_remover_remove(sstore_remover *remover, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                    sstore_error *error)
{
    if (remover == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "sstore_remover_remove: remover and fingerprints must not be NULL");
    if (remover->builder.build.has_ids && ids == NULL && count > 0)
        return ss_fail_argument(error, "sstore_remover_remove: the store has ids, so ids must not be NULL; "
                                       "sstore_remover_remove_fingerprints() removes all records of a fingerprint");
    const sstore_status status = take(remover, count, error);
    return status == SSTORE_OK && count > 0 ? ss_builder_add_records(&remover->builder, fingerprints, ids, count, error) : status;
}

sstore_status sstore_remover_remove_fingerprints(sstore_remover *remover, const uint64_t *fingerprints, size_t count,
                                                 sstore_error *error)
{
    if (remover == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "sstore_remover_remove_fingerprints: remover and fingerprints must not be NULL");
    if (!remover->builder.build.has_ids)
        return sstore_remover_remove(remover, fingerprints, NULL, count, error);
    const sstore_status status = take(remover, count, error);
    if (status != SSTORE_OK || count == 0)
        return status;
    return ss_removal_keys_add(&remover->builder.base.fingerprints, fingerprints, count, error);
}

sstore_status sstore_remover_remove_ids(sstore_remover *remover, const uint64_t *ids, size_t count, sstore_error *error)
{
    if (remover == NULL || (ids == NULL && count > 0))
        return ss_fail_argument(error, "sstore_remover_remove_ids: remover and ids must not be NULL");
    if (!remover->builder.build.has_ids)
        return ss_fail_argument(error, "only from a store with ids can records be removed by their ids");
    const sstore_status status = take(remover, count, error);
    if (status != SSTORE_OK || count == 0)
        return status;
    return ss_removal_keys_add(&remover->builder.base.ids, ids, count, error);
}

sstore_status sstore_remover_finish(sstore_remover *remover, sstore_change *change_out, sstore_error *error)
{
    if (remover == NULL)
        return ss_fail_argument(error, "sstore_remover_finish: remover must not be NULL");
    ss_builder_base *base = &remover->builder.base;
    sstore_status status = ss_removal_keys_flush(&base->fingerprints, error);
    if (status == SSTORE_OK)
        status = ss_removal_keys_flush(&base->ids, error);
    if (status == SSTORE_OK)
        return ss_builder_finish(&remover->builder, change_out, error);
    sstore_remover_abort(remover);
    return status;
}

void sstore_remover_abort(sstore_remover *remover)
{
    if (remover != NULL)
        sstore_builder_abort(&remover->builder);
}
