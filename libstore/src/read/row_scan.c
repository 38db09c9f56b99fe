#include "read/row_scan.h"

#include "base/words.h"
#include "codec/rows.h"

static const ss_checked_blocks *blocks_of(const ss_row_scan *self)
{
    return &self->segment->tables[0].checked;
}

/* Read the next block. */
static sstore_status read_block(ss_row_scan *self, uint64_t number, sstore_error *error)
{
    const ss_checked_blocks *checked = blocks_of(self);
    const uint32_t words = checked->words, count = ss_checked_rows_count(checked, number);
    ss_block_slot_prefetch(self->slot, checked->reader, number);
    const sstore_status status = ss_block_slot_wait(self->slot, error);
    if (status != SSTORE_OK)
        return status;
    ss_words_copy(self->before, self->last, words);
    ss_rows_load(self->slot->bytes, count - 1, words, self->last);
    if (SS_UNLIKELY(self->has_before && ss_words_compare(self->last, self->before, words) <= 0))
        return ss_block_reader_malformed(checked->reader, number, SS_BELOW_BLOCK_BEFORE, error);
    if (SS_UNLIKELY(ss_array_at(checked->keys, number) != self->last[0]))
        return ss_block_reader_malformed(checked->reader, number, SS_OTHER_LAST_FINGERPRINT, error);
    self->number = number;
    self->block_rows = count;
    self->is_checked = false;
    return SSTORE_OK;
}

sstore_status ss_row_scan_check(ss_row_scan *scan, sstore_error *error)
{
    const ss_checked_blocks *checked = blocks_of(scan);
    uint64_t last[SSTORE_MAX_WORDS], row[SSTORE_MAX_WORDS];
    bool ascends = true;
    if (scan->is_checked)
        return SSTORE_OK;
    ss_words_copy(last, scan->before, checked->words);
    for (uint32_t i = 0; i < scan->block_rows; i++) {
        ss_rows_load(scan->slot->bytes, i, checked->words, row);
        ascends &= (i == 0 && !scan->has_before) || ss_words_compare(last, row, checked->words) < 0;
        ss_words_copy(last, row, checked->words);
    }
    scan->is_checked = true;
    return ascends ? SSTORE_OK
                   : ss_block_reader_malformed(checked->reader, scan->number, "its fingerprints do not ascend", error);
}

/* Give all slices of the block that was read. */
static sstore_status give_slices(ss_row_scan *self, sstore_error *error)
{
    const uint32_t words = blocks_of(self)->words, most = SS_ROW_SLICE_WORDS / words;
    uint64_t room[SS_ROW_SLICE_WORDS];
    sstore_status status = SSTORE_OK;
    for (uint32_t first = 0; status == SSTORE_OK && first < self->block_rows; first += self->count) {
        self->count = ss_min_u32(most, self->block_rows - first);
        self->rows = ss_rows_at(self->slot->bytes, first, self->count, words, room);
        status = self->on_slice(self->context, self, error);
        self->rank += self->count;
    }
    return status;
}

sstore_status ss_row_scan_run(ss_row_scan *scan, sstore_error *error)
{
    ss_read_ahead ahead = ss_read_ahead_from(scan->begin_block, scan->end_block);
    sstore_status status = SSTORE_OK;
    scan->rank = scan->begin_block * ss_rows_capacity(scan->segment->metadata.block_bytes, blocks_of(scan)->words);
    scan->has_before = false;
    if (scan->begin_block > 0)
        status = read_block(scan, scan->begin_block - 1, error);
    scan->has_before = scan->begin_block > 0;
    for (uint64_t number = scan->begin_block; status == SSTORE_OK && number < scan->end_block; number++) {
        ss_block_reader_ahead(blocks_of(scan)->reader, number, &ahead);
        status = read_block(scan, number, error);
        if (status == SSTORE_OK)
            status = give_slices(scan, error);
        scan->has_before = true;
    }
    return status;
}
