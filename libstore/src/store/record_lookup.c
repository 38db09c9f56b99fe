#include "store/record_lookup.h"

#include "base/error.h"

sstore_status ss_find_rank(const ss_segment *segment, uint64_t fingerprint, ss_block_slot *slot, uint64_t *rank_out,
                           sstore_error *error)
{
    const ss_block_source *source = &segment->tables[0].source;
    ss_block block;
    ss_near near;
    uint32_t last;
    *rank_out = SS_NO_RANK;
    sstore_status status = ss_block_slot_wait(slot, error);
    if (status == SSTORE_OK)
        status = ss_block_source_open(source, slot->number, slot->bytes, &block, error);
    if (status != SSTORE_OK)
        return status;
    ss_block_find_groups(&block, ss_upper(fingerprint), ss_upper(fingerprint), &near.group, &last);
    near.end = last + 1;
    ss_block_prefetch_group(&block, last); /* it will be decoded, unless the fingerprint is not there */
    near.decoded = NULL;
    near.query = fingerprint;
    near.distance = near.lower_distance = 0;
    near.any = false;
    status = ss_block_source_find_near(source, slot->number, &block, &near, error);
    if (status == SSTORE_OK && near.group < near.end)
        *rank_out = ss_array_at(&segment->ranks, slot->number) + near.group * SS_GROUP_SIZE + (uint32_t)__builtin_ctzll(near.which);
    return status;
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
