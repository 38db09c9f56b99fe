#include "write/record_pieces.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/words.h"

uint32_t ss_shard_of(const uint64_t *fingerprint, uint32_t words, uint64_t shard_count)
{
    uint8_t bytes[8 * SSTORE_MAX_WORDS];
    for (uint32_t i = 0; i < words; i++)
        ss_store_le64(bytes + 8 * (size_t)i, fingerprint[i]);
    return (uint32_t)((ss_hash64(bytes, 8 * (size_t)words) >> 32) * shard_count >> 32);
}

/* Whether a fingerprint belongs to the shard. */
static bool is_in_shard(const ss_record_pieces *pieces, const uint64_t *fingerprint)
{
    return pieces->shard_count == 1 ||
           ss_shard_of(fingerprint, pieces->records->words, pieces->shard_count) == pieces->shard;
}

/* Records must ascend strictly, also from piece to piece: encoders rely on that. The next id must be above their ids,
 * or sstore_verify() would reject the store that is written. */
static sstore_status check_record(ss_record_pieces *pieces, const uint64_t *fingerprint, uint64_t id,
                                  sstore_error *error)
{
    const ss_merge_iterator *records = pieces->records;
    const uint32_t words = records->words;
    const int order = pieces->has_last ? ss_words_compare(fingerprint, pieces->last, words) : 1;
    const bool ascends = order > 0 || (order == 0 && records->has_ids && id > pieces->last[words]);
    pieces->has_last = true;
    ss_words_copy(pieces->last, fingerprint, words);
    pieces->last[words] = id;
    if (records->has_ids && SS_UNLIKELY(id + (id < UINT64_MAX) > pieces->next_id))
        return ss_fail_damaged(error, ss_merge_iterator_file(records), SSTORE_NO_OFFSET,
                               "the manifest's next id is not above all ids; sstore_verify() names the damaged store");
    if (SS_LIKELY(ascends))
        return SSTORE_OK;
    return ss_fail_damaged(error, ss_merge_iterator_file(records), SSTORE_NO_OFFSET,
                           "the records do not ascend at fingerprint %016llx; sstore_verify() names the damaged file",
                           (unsigned long long)*fingerprint);
}

/* Take the next records, and keep those of the shard. */
static sstore_status take_next(ss_record_pieces *pieces, void *items, size_t *count_out, sstore_error *error)
{
    const bool has_ids = pieces->records->has_ids;
    const uint32_t words = pieces->records->words, item_words = words + (has_ids ? 1 : 0);
    ss_record record;
    bool more = true;
    for (size_t taken = 0; taken < pieces->piece_capacity; taken++) {
        sstore_status status = ss_merge_iterator_next(pieces->records, &record, &more, error);
        const uint64_t *fingerprint = ss_merge_iterator_fingerprint(pieces->records, &record);
        if (status == SSTORE_OK && more)
            status = check_record(pieces, fingerprint, record.id, error);
        if (status != SSTORE_OK || !more)
            return status;
        uint64_t *item = (uint64_t *)items + *count_out * item_words;
        ss_words_copy(item, fingerprint, words);
        if (has_ids)
            item[words] = record.id;
        *count_out += is_in_shard(pieces, fingerprint);
    }
    return SSTORE_OK;
}

/* Check that no record follows the last piece; it would be lost silently. */
static sstore_status check_end(const ss_record_pieces *pieces, sstore_error *error)
{
    ss_record record;
    bool more;
    const sstore_status status = ss_merge_iterator_next(pieces->records, &record, &more, error);
    if (status != SSTORE_OK || !more)
        return status;
    return ss_fail_damaged(error, ss_merge_iterator_file(pieces->records), SSTORE_NO_OFFSET,
                           "there are more records than the manifest says; sstore_verify() names the damaged file");
}

static sstore_status load(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                          sstore_error *error)
{
    ss_record_pieces *pieces = context;
    sstore_status status = SSTORE_OK;
    (void)scratch;
    *count_out = 0;
    if (!ss_sequencer_enter(&pieces->sequencer, piece))
        return SSTORE_OK; /* an earlier piece failed, and its task reports that */
    if (piece == 0) {
        pieces->has_last = false;
        status = ss_merge_iterator_rewind(pieces->records, error);
    }
    if (status == SSTORE_OK)
        status = take_next(pieces, items, count_out, error);
    if (status == SSTORE_OK && piece + 1 == pieces->piece_count)
        status = check_end(pieces, error);
    if (status != SSTORE_OK)
        ss_sequencer_break(&pieces->sequencer);
    else if (piece + 1 == pieces->piece_count)
        ss_sequencer_restart(&pieces->sequencer);
    else
        ss_sequencer_leave(&pieces->sequencer);
    return status;
}

ss_sorted_pieces ss_record_pieces_open(ss_record_pieces *pieces, size_t piece_capacity, uint64_t max_records)
{
    const size_t capacity = ss_piece_capacity(piece_capacity, max_records);
    assert(capacity > 0);
    pieces->piece_capacity = capacity;
    /* At least one, to check that there are no records if the manifest says so. */
    pieces->piece_count = (size_t)ss_max_u64((max_records + capacity - 1) / capacity, 1);
    ss_sequencer_init(&pieces->sequencer);
    return (ss_sorted_pieces){.context = pieces,
                              .piece_count = pieces->piece_count,
                              .item_count = max_records,
                              .progress_each = capacity,
                              .max_items = capacity,
                              .load = load};
}

void ss_record_pieces_close(ss_record_pieces *pieces)
{
    ss_sequencer_destroy(&pieces->sequencer);
}
