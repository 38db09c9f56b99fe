#include "join/record_walk.h"

sstore_status ss_record_walk_open(ss_record_walk *walk, const sstore *store, sstore_error *error)
{
    *walk = (ss_record_walk){.more = false};
    ss_record_merge_init(&walk->records, store->manifest.has_ids);
    return ss_record_merge_add_store(&walk->records, store, error);
}

void ss_record_walk_close(ss_record_walk *walk)
{
    ss_record_merge_close(&walk->records);
}

sstore_status ss_record_walk_step(ss_record_walk *walk, sstore_error *error)
{
    return ss_record_merge_next(&walk->records, &walk->next, &walk->more, error);
}

sstore_status ss_record_walk_begin(ss_record_walk *walk, uint64_t fingerprint, sstore_error *error)
{
    sstore_status status = ss_record_merge_seek(&walk->records, fingerprint, error);
    return status == SSTORE_OK ? ss_record_walk_step(walk, error) : status;
}

sstore_status ss_record_walk_to(ss_record_walk *walk, uint64_t fingerprint, sstore_error *error)
{
    if (!walk->more || walk->next.fingerprint >= fingerprint)
        return SSTORE_OK;
    sstore_status status = ss_record_merge_skip(&walk->records, fingerprint, error);
    return status == SSTORE_OK ? ss_record_walk_step(walk, error) : status;
}
