#include "build/presence_filter.h"

#include "base/alloc.h"
#include "base/error.h"

sstore_status ss_presence_filter_open(ss_presence_filter *filter, const sstore *store, uint32_t threads,
                                      bool keep_present, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *filter = (ss_presence_filter){
        .is_open = true, .keep_present = keep_present, .has_ids = store->manifest.has_ids, .lock = PTHREAD_MUTEX_INITIALIZER};
    filter->presences = ss_alloc(threads, sizeof *filter->presences);
    filter->is_taken = ss_alloc(threads, sizeof *filter->is_taken);
    if (filter->presences == NULL || filter->is_taken == NULL)
        status = ss_fail_memory(error, threads * sizeof *filter->presences);
    for (uint32_t i = 0; status == SSTORE_OK && i < threads; i++, filter->count++)
        status = ss_presence_open(&filter->presences[i], store, false, NULL, error);
    return status;
}

void ss_presence_filter_close(ss_presence_filter *filter)
{
    if (!filter->is_open)
        return;
    for (uint32_t i = 0; i < filter->count; i++)
        ss_presence_close(&filter->presences[i]);
    ss_free(filter->presences);
    ss_free(filter->is_taken);
    (void)pthread_mutex_destroy(&filter->lock);
    *filter = (ss_presence_filter){.count = 0};
}

/* Take one that no other thread has: there are as many as threads. */
static uint32_t take(ss_presence_filter *filter)
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

static void give_back(ss_presence_filter *filter, uint32_t number)
{
    (void)pthread_mutex_lock(&filter->lock);
    filter->is_taken[number] = false;
    (void)pthread_mutex_unlock(&filter->lock);
}

sstore_status ss_presence_filter_run(ss_presence_filter *filter, void *items, size_t *count, sstore_error *error)
{
    sstore_record *records = items;
    uint64_t *fingerprints = items;
    const uint32_t number = take(filter);
    sstore_status status = SSTORE_OK;
    size_t kept = 0;
    for (size_t i = 0; status == SSTORE_OK && i < *count; i++) {
        const sstore_record record =
            filter->has_ids ? records[i] : (sstore_record){.fingerprint = fingerprints[i]};
        bool present;
        status = ss_presence_has(&filter->presences[number], &record, &present, error);
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
