#include "store/record_finder.h"

#include "base/alloc.h"
#include "base/error.h"

/* Blocks are read into buffers only where they are not in memory already. */
static uint64_t buffer_bytes(const ss_manifest_segment *facts, sstore_io io)
{
    return io == SSTORE_IO_PREAD && facts->distinct_count > 0 ? 2 * (uint64_t)facts->block_bytes : 0;
}

uint64_t ss_record_finder_bytes(const ss_manifest_segment *facts, sstore_io io)
{
    return sizeof(ss_record_finder) + buffer_bytes(facts, io);
}

sstore_status ss_record_finder_open(ss_record_finder *finder, const ss_segment *segment, bool has_ids, ss_steps *steps,
                                    sstore_error *error)
{
    const uint64_t bytes = buffer_bytes(&segment->facts, segment->tables[0].blocks.io);
    *finder = (ss_record_finder){.segment = segment, .has_ids = has_ids};
    finder->buffers = ss_alloc(1, bytes);
    if (finder->buffers == NULL)
        return ss_fail_memory(error, bytes);
    finder->fingerprints.buffer = finder->buffers;
    finder->ids.buffer = finder->buffers + bytes / 2;
    finder->fingerprints.steps = finder->ids.steps = steps;
    return SSTORE_OK;
}

void ss_record_finder_close(ss_record_finder *finder)
{
    ss_free(finder->buffers);
    finder->buffers = NULL;
}

sstore_status ss_record_finder_rank(ss_record_finder *finder, uint64_t fingerprint, uint64_t *rank_out,
                                    sstore_error *error)
{
    const ss_table *table = &finder->segment->tables[0];
    sstore_status status = SSTORE_OK;
    if (!finder->any || finder->fingerprint != fingerprint) {
        uint64_t number = ss_key_index_find(&table->keys, fingerprint);
        finder->rank = SS_NO_RANK;
        if (number < table->keys.keys.count) {
            ss_block_slot_ask(&finder->fingerprints, &table->blocks, number);
            status = ss_find_rank(finder->segment, fingerprint, &finder->fingerprints, &finder->rank, error);
        }
        finder->any = status == SSTORE_OK;
        finder->fingerprint = fingerprint;
        finder->has_rank_ids = false;
    }
    *rank_out = finder->rank;
    return status;
}

void ss_record_finder_ids(ss_record_finder *finder, uint64_t rank, ss_rank_ids *ids_out)
{
    finder->has_rank_ids = false;
    ss_rank_ids_init(ids_out, finder->segment, rank, ss_key_index_find(&finder->segment->ids_keys, rank), &finder->ids);
}

/* The first of the block's ids of the rank that is not below `id`; `end` if there is none. */
static uint32_t bisect_ids(const ss_rank_ids *ids, uint64_t id)
{
    uint32_t low = ids->begin, count = ids->end - ids->begin;
    while (count > 0) {
        uint32_t half = count / 2;
        bool below = ss_ids_block_id(&ids->block, low + half) < id;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/* Whether an id is among those of the finder's rank. They ascend from block to block, so that the search goes on where the
 * last one ended, unless that was for a higher id. */
static sstore_status has_id(ss_record_finder *finder, uint64_t id, bool *has_out, sstore_error *error)
{
    ss_rank_ids *ids = &finder->rank_ids;
    sstore_status status = SSTORE_OK;
    *has_out = false;
    if (!finder->has_rank_ids || !finder->more || id < finder->last_id) {
        ss_record_finder_ids(finder, finder->rank, ids);
        status = ss_rank_ids_next(ids, &finder->more, error);
        finder->has_rank_ids = status == SSTORE_OK;
    }
    finder->last_id = id;
    while (status == SSTORE_OK && finder->more) {
        uint32_t at = bisect_ids(ids, id);
        if (at < ids->end) {
            *has_out = ss_ids_block_id(&ids->block, at) == id;
            return SSTORE_OK;
        }
        if (ids->next_block == UINT64_MAX)
            return SSTORE_OK;
        status = ss_rank_ids_next(ids, &finder->more, error);
        finder->has_rank_ids = status == SSTORE_OK;
    }
    return status;
}

sstore_status ss_record_finder_has(ss_record_finder *finder, const sstore_record *record, bool *has_out,
                                   sstore_error *error)
{
    uint64_t rank;
    *has_out = false;
    sstore_status status = ss_record_finder_rank(finder, record->fingerprint, &rank, error);
    if (status != SSTORE_OK || rank == SS_NO_RANK)
        return status;
    if (finder->has_ids)
        return has_id(finder, record->id, has_out, error);
    *has_out = true;
    return SSTORE_OK;
}
