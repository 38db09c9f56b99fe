#include "read/candidates.h"

#include "base/error.h"
#include "base/words.h"
#include "codec/rows.h"
#include "plan/radii.h"
#include "store/lookup.h"

void ss_candidate_prefetch(const ss_segment *segment, uint64_t rank)
{
    const ss_checked_blocks *checked = &segment->tables[0].checked;
    const uint32_t words = checked->words, capacity = ss_rows_capacity(segment->metadata.block_bytes, words);
    if (rank < segment->metadata.distinct_count)
        ss_block_reader_prefetch_bytes(checked->reader, rank / capacity, (uint32_t)(rank % capacity) * 8 * words,
                                       8 * words);
}

/* Load the fingerprint of a rank, which the segment has, through a slot. */
static sstore_status load_rank(const ss_segment *segment, uint64_t rank, ss_block_slot *slot, uint64_t *fingerprint_out,
                               sstore_error *error)
{
    const ss_checked_blocks *checked = &segment->tables[0].checked;
    const uint32_t capacity = ss_rows_capacity(segment->metadata.block_bytes, checked->words);
    ss_block_slot_prefetch(slot, checked->reader, rank / capacity);
    const sstore_status status = ss_block_slot_wait(slot, error);
    if (status == SSTORE_OK)
        ss_rows_load(slot->bytes, (uint32_t)(rank % capacity), checked->words, fingerprint_out);
    return status;
}

/* Check that a fingerprint's rank is the only one that it has: otherwise it would be reported twice. */
static sstore_status check_rank(const ss_segment *segment, const uint64_t *fingerprint, uint64_t rank,
                                ss_block_slot *slot, sstore_error *error)
{
    bool is_found;
    const sstore_status status = ss_finds_row_at(segment, fingerprint, rank, slot, &is_found, error);
    if (status != SSTORE_OK || is_found)
        return status;
    return ss_fail_damaged(error, segment->tables[0].blocks.file.path, SSTORE_NO_OFFSET,
                           "its fingerprints do not ascend");
}

static sstore_status fail(const ss_segment *segment, const ss_candidate *candidate, const char *reason,
                          sstore_error *error)
{
    return ss_fail_damaged(error, segment->indexes[candidate->word_number]->ids.file.path, SSTORE_NO_OFFSET, "%s",
                           reason);
}

sstore_status ss_candidate_confirm(const ss_segment *segment, const ss_candidate *candidate, const ss_row_query *query,
                                   ss_block_slot *slot, ss_row_hit *hit_out, bool *is_hit_out, sstore_error *error)
{
    const uint32_t words = segment->metadata.words, word = candidate->word_number;
    uint64_t *row = hit_out->fingerprint;
    *is_hit_out = false;
    if (SS_UNLIKELY(candidate->rank >= segment->metadata.distinct_count))
        return fail(segment, candidate, "the word index has a rank that the segment does not have", error);
    sstore_status status = load_rank(segment, candidate->rank, slot, row, error);
    if (status != SSTORE_OK)
        return status;
    if (SS_UNLIKELY(row[word] != candidate->word))
        return fail(segment, candidate, "the word index leads to a fingerprint that does not have the word", error);
    hit_out->distance = ss_words_distance(row, query->fingerprint, words);
    if (hit_out->distance > query->distance ||
        ss_radii_first_cover(row, query->fingerprint, query->radii, words) != word)
        return SSTORE_OK;
    status = check_rank(segment, row, candidate->rank, slot, error);
    hit_out->rank = candidate->rank;
    *is_hit_out = status == SSTORE_OK;
    return status;
}
