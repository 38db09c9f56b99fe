#include "store/record_lookup.h"

#include "base/error.h"

/* Make the group the one of that number. */
static sstore_status decode_group(const ss_segment *segment, const ss_block_slot *slot, const ss_block *block,
                                  uint32_t number, ss_decoded_group *group, sstore_error *error)
{
    if (group->valid && group->block == slot->number && group->number == number)
        return SSTORE_OK;
    const sstore_status status = ss_block_source_decode_groups(&segment->tables[0].source, slot->number, block, number, 1,
                                                               group->values, &group->count, error);
    group->valid = status == SSTORE_OK;
    group->block = slot->number;
    group->number = number;
    return status;
}

sstore_status ss_find_rank(const ss_segment *segment, uint64_t fingerprint, ss_block_slot *slot, ss_decoded_group *group,
                           uint64_t *rank_out, sstore_error *error)
{
    ss_block block;
    uint32_t number, last;
    *rank_out = SS_NO_RANK;
    sstore_status status = ss_block_slot_wait(slot, error);
    if (status == SSTORE_OK)
        status = ss_block_source_open(&segment->tables[0].source, slot->number, slot->bytes, &block, error);
    if (status != SSTORE_OK)
        return status;
    ss_block_find_groups(&block, fingerprint, fingerprint, &number, &last);
    for (; number <= last; number++) {
        status = decode_group(segment, slot, &block, number, group, error);
        if (status != SSTORE_OK)
            return status;
        for (uint32_t i = 0; i < group->count; i++) {
            if (group->values[i] != fingerprint)
                continue;
            *rank_out = ss_array_at(&segment->ranks, slot->number) + number * block.restart_interval + i;
            return SSTORE_OK;
        }
    }
    return SSTORE_OK;
}

void ss_rank_ids_init(ss_rank_ids *ids, const ss_segment *segment, uint64_t rank, uint64_t first_block,
                      ss_block_slot *slot)
{
    *ids = (ss_rank_ids){.segment = segment, .rank = rank, .slot = slot, .next_block = first_block};
}

sstore_status ss_fail_ids_missing(const ss_segment *segment, uint64_t rank, sstore_error *error)
{
    return ss_fail_damaged(error, segment->ids.file.path, SSTORE_NO_OFFSET, "the ids of rank %llu are missing",
                           (unsigned long long)rank);
}

sstore_status ss_rank_ids_next(ss_rank_ids *ids, bool *more_out, sstore_error *error)
{
    const ss_block_reader *reader = &ids->segment->ids;
    uint64_t number = ids->next_block;
    *more_out = false;
    if (number == UINT64_MAX)
        return SSTORE_OK;
    if (number >= reader->header.block_count)
        return ss_fail_ids_missing(ids->segment, ids->rank, error);
    ss_block_slot_ask(ids->slot, reader, number);
    sstore_status status = ss_block_slot_wait(ids->slot, error);
    if (status == SSTORE_OK)
        status = ss_block_source_open_ids(&ids->segment->ids_source, number, ids->slot->bytes, &ids->block, error);
    if (status != SSTORE_OK)
        return status;
    ss_ids_block_find(&ids->block, ids->rank, &ids->begin, &ids->end);
    if (ids->begin == ids->end)
        return ss_block_reader_malformed(reader, number, "it does not hold the rank that the directory says", error);
    ids->next_block = ids->end == ids->block.count && ids->block.goes_on ? number + 1 : UINT64_MAX;
    ids->number = number;
    *more_out = true;
    return SSTORE_OK;
}

sstore_status ss_rank_ids_take(ss_rank_ids *ids, uint32_t index, uint64_t *id_out, sstore_error *error)
{
    return ss_block_source_take_id(&ids->segment->ids_source, ids->number, &ids->block, index, &ids->order, id_out, error);
}
