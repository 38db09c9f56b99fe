#include "store/presence.h"

#include "base/alloc.h"
#include "base/error.h"

/* Whether a segment can have a record of an older one: any but the oldest and empty ones. */
static bool can_be_newer(const ss_manifest *manifest, uint32_t segment)
{
    return segment > 0 && manifest->segments[segment].record_count > 0;
}

uint64_t ss_presence_bytes(const ss_manifest *manifest, bool newer_only, sstore_io io)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < manifest->segment_count; i++)
        if (!newer_only || can_be_newer(manifest, i))
            bytes += ss_record_finder_bytes(&manifest->segments[i], io);
    return bytes;
}

sstore_status ss_presence_open(ss_presence *presence, const sstore *store, bool newer_only, ss_steps *steps,
                               sstore_error *error)
{
    const ss_manifest *manifest = &store->manifest;
    const uint32_t count = manifest->segment_count;
    *presence = (ss_presence){.store = store};
    presence->finders = ss_alloc(count, sizeof *presence->finders);
    if (presence->finders == NULL)
        return ss_fail_memory(error, count * sizeof *presence->finders);
    presence->finder_count = count;
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; status == SSTORE_OK && i < count; i++)
        if (!newer_only || can_be_newer(manifest, i))
            status = ss_record_finder_open(&presence->finders[i], store->segments[i], manifest->has_ids, steps, error);
    return status;
}

void ss_presence_close(ss_presence *presence)
{
    for (uint32_t i = 0; i < presence->finder_count; i++)
        ss_record_finder_close(&presence->finders[i]);
    ss_free(presence->finders);
    *presence = (ss_presence){.finders = NULL};
}

sstore_status ss_presence_has(ss_presence *presence, const sstore_record *record, bool *has_out, sstore_error *error)
{
    bool mentioned = false;
    sstore_status status = SSTORE_OK;
    *has_out = false;
    for (uint32_t i = presence->finder_count; status == SSTORE_OK && !mentioned && i-- > 0;) {
        status = ss_record_finder_has(&presence->finders[i], record, &mentioned, error);
        *has_out = mentioned && !ss_segment_removes(presence->store->segments[i]);
    }
    return status;
}

sstore_status ss_presence_in_newer(ss_presence *presence, uint32_t segment, const sstore_record *record, bool added,
                                   bool *newer_out, sstore_error *error)
{
    const sstore *store = presence->store;
    const uint32_t end = added ? store->manifest.segment_count : store->removal_end;
    sstore_status status = SSTORE_OK;
    *newer_out = false;
    for (uint32_t i = end; status == SSTORE_OK && !*newer_out && i-- > segment + 1;)
        if ((added || ss_segment_removes(store->segments[i])) && presence->finders[i].segment != NULL)
            status = ss_record_finder_has(&presence->finders[i], record, newer_out, error);
    return status;
}
