#include "store/checked_block.h"

#include <sched.h>
#include <unistd.h>

#include "base/words.h"
#include "codec/rows.h"

static sstore_status fail(const ss_checked_blocks *checked, uint64_t number, const char *reason, sstore_error *error)
{
    return ss_block_reader_malformed(checked->reader, number, reason, error);
}

/* Whether the block has as many fingerprints as the ranks require. Otherwise several could have the same rank and
 * ids. */
static bool count_fits(const ss_checked_blocks *checked, uint64_t number, uint32_t count)
{
    const uint64_t next = number + 1;
    const uint64_t end = next < checked->ranks->count ? ss_array_at(checked->ranks, next)
                                                      : checked->reader->header.item_count;
    return end - ss_array_at(checked->ranks, number) == count;
}

/* Whether a block does not begin above the key of the block before. The upper half nearly always suffices. */
static bool begins_too_low(const ss_block *block, uint64_t key)
{
    return block->first <= ss_upper(key) && ss_block_first(block) <= key;
}

/* Wait while another thread of this process fills a code. A child of fork() does not have the threads of its parent, so
 * it does not wait for them. */
static void take_turn(atomic_int *filler)
{
    const int process = (int)getpid();
    for (;;) {
        int other = atomic_load_explicit(filler, memory_order_acquire);
        if (other != process && atomic_compare_exchange_strong(filler, &other, process))
            return;
        sched_yield();
    }
}

/* Many files of a store of several words are never read, so their codes are not made ready before. */
static void fill_code(const ss_checked_blocks *checked)
{
    take_turn(checked->filler);
    if (!atomic_load_explicit(&checked->code->can_decode, memory_order_relaxed))
        ss_code_fill(checked->code);
    atomic_store_explicit(checked->filler, 0, memory_order_release);
}

sstore_status ss_checked_block_open(const ss_checked_blocks *checked, uint64_t number, const uint8_t *bytes,
                                    ss_block *block_out, sstore_error *error)
{
    const char *reason;
    if (SS_UNLIKELY(!atomic_load_explicit(&checked->code->can_decode, memory_order_acquire)))
        fill_code(checked);
    if (SS_UNLIKELY(!ss_block_open(block_out, bytes, checked->reader->header.block_bytes, checked->code, &reason)))
        return fail(checked, number, reason, error);
    if (checked->ranks != NULL && SS_UNLIKELY(!count_fits(checked, number, block_out->count)))
        return fail(checked, number, "its number of fingerprints differs from the directory's", error);
    if (checked->keys != NULL && number > 0 &&
        SS_UNLIKELY(begins_too_low(block_out, ss_array_at(checked->keys, number - 1))))
        return fail(checked, number, SS_BELOW_BLOCK_BEFORE, error);
    return SSTORE_OK;
}

sstore_status ss_checked_block_decode(const ss_checked_blocks *checked, uint64_t number, const ss_block *block,
                                      uint64_t *values_out, sstore_error *error)
{
    if (SS_UNLIKELY(!ss_block_decode(block, values_out)))
        return fail(checked, number, SS_MALFORMED_GROUP, error);
    if (checked->keys != NULL && SS_UNLIKELY(ss_array_at(checked->keys, number) != values_out[block->count - 1]))
        return fail(checked, number, SS_OTHER_LAST_FINGERPRINT, error);
    return SSTORE_OK;
}

/* Check that the found fingerprints lie between the key of the block before and this block's, and above those found
 * before in this block. So none is found twice, although the groups between were not decoded. */
static sstore_status note_found(const ss_checked_blocks *checked, uint64_t number, ss_near *near, sstore_error *error)
{
    const uint64_t lowest = near->values[__builtin_ctzll(near->mask)],
                   highest = near->values[ss_count_up_to(near->mask) - 1];
    const bool is_in_place = checked->keys == NULL ||
                             (highest <= ss_array_at(checked->keys, number) &&
                              (number == 0 || lowest > ss_array_at(checked->keys, number - 1)));
    if (SS_UNLIKELY(!is_in_place || (near->any && lowest <= near->last)))
        return fail(checked, number, "its fingerprints do not ascend", error);
    near->any = true;
    near->last = highest;
    return SSTORE_OK;
}

sstore_status ss_checked_block_find_near(const ss_checked_blocks *checked, uint64_t number, const ss_block *block,
                                         ss_near *near, sstore_error *error)
{
    if (SS_UNLIKELY(!ss_block_find_near(block, near)))
        return fail(checked, number, SS_MALFORMED_GROUP, error);
    return SS_LIKELY(near->group == near->end) ? SSTORE_OK : note_found(checked, number, near, error);
}

sstore_status ss_checked_block_keep_near(const ss_checked_blocks *checked, uint64_t number, const ss_block *block,
                                         ss_near *near, sstore_error *error)
{
    if (SS_UNLIKELY(!ss_block_keep_near(block, near)))
        return fail(checked, number, SS_MALFORMED_GROUP, error);
    return near->mask == 0 ? SSTORE_OK : note_found(checked, number, near, error);
}

sstore_status ss_checked_block_decode_group(const ss_checked_blocks *checked, uint64_t number, const ss_block *block,
                                            uint32_t group, uint32_t count, uint64_t *values_out, sstore_error *error)
{
    return SS_LIKELY(ss_block_decode_group(block, group, count, values_out))
               ? SSTORE_OK
               : fail(checked, number, SS_MALFORMED_GROUP, error);
}

uint32_t ss_checked_rows_count(const ss_checked_blocks *checked, uint64_t number)
{
    const ss_block_header *header = &checked->reader->header;
    const uint32_t capacity = ss_rows_capacity(header->block_bytes, checked->words);
    return (uint32_t)ss_min_u64(capacity, header->item_count - number * capacity);
}

sstore_status ss_checked_rows_decode(const ss_checked_blocks *checked, uint64_t number, const uint8_t *bytes,
                                     uint64_t *values_out, sstore_error *error)
{
    const uint32_t count = ss_checked_rows_count(checked, number), words = checked->words;
    bool ascends = true;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *row = values_out + (size_t)i * words;
        ss_rows_load(bytes, i, words, row);
        ascends &= i == 0 || ss_words_compare(row - words, row, words) < 0;
    }
    if (!ascends)
        return fail(checked, number, "its fingerprints do not ascend", error);
    if (checked->keys != NULL && number > 0 && values_out[0] < ss_array_at(checked->keys, number - 1))
        return fail(checked, number, SS_BELOW_BLOCK_BEFORE, error);
    if (checked->keys != NULL && ss_array_at(checked->keys, number) != values_out[(size_t)(count - 1) * words])
        return fail(checked, number, SS_OTHER_LAST_FINGERPRINT, error);
    return SSTORE_OK;
}

sstore_status ss_checked_block_open_ids(const ss_checked_blocks *checked, uint64_t number, const uint8_t *bytes,
                                        ss_ids_block *block_out, sstore_error *error)
{
    const char *reason;
    if (SS_UNLIKELY(!ss_ids_block_open(block_out, bytes, checked->reader->header.block_bytes, &reason)))
        return fail(checked, number, reason, error);
    if (checked->keys != NULL && SS_UNLIKELY(ss_ids_block_last_rank(block_out) != ss_array_at(checked->keys, number)))
        return fail(checked, number, SS_OTHER_LAST_RANK, error);
    return SSTORE_OK;
}
