/*
 * fuzz_ids.c - any bytes as a block of the id column: no access outside it, every rank is found at its records, and the
 * contents can be encoded again.
 *   1 byte: block size; then the block
 */
#include "read/block_check.h"
#include "support/fuzzing.h"

/* Bit 0 of the starts is 0 in every block that a writer makes; others may be found at other places. */
static bool first_start_is_clear(const ss_ids_block *block, const uint8_t *bytes)
{
    return block->starts == NULL || (bytes[20] & 1) == 0;
}

static void check_find(const ss_ids_block *block, uint64_t rank, bool exact, uint32_t wanted_begin, uint32_t wanted_end)
{
    uint32_t begin, end;
    ss_ids_block_find(block, rank, &begin, &end);
    FUZZ_CHECK(begin <= end && end <= block->count);
    FUZZ_CHECK(!exact || (begin == wanted_begin && end == wanted_end));
}

static void check_block(const ss_ids_block *block, const uint8_t *bytes)
{
    const bool exact = first_start_is_clear(block, bytes);
    uint64_t rank = block->first_rank, sum = 0;
    uint32_t begin = 0, step = block->count / 64 + 1, tried = 0;
    for (uint32_t i = 0; i <= block->count; i++) {
        if (i < block->count)
            sum += ss_ids_block_id(block, i);
        if (i < block->count && !(i > 0 && ss_ids_block_starts_rank(block, i)))
            continue;
        if (tried++ % step == 0 || i == block->count) /* [begin, i) are the records of the rank */
            check_find(block, rank, exact && rank >= block->first_rank, begin, i);
        begin = i;
        rank++;
    }
    static volatile uint64_t sink;
    sink = sum;
    (void)sink;
    check_find(block, block->first_rank - 1, false, 0, 0);
    check_find(block, rank + 1, false, 0, 0);
    check_find(block, UINT64_MAX, false, 0, 0);
    check_find(block, 0, false, 0, 0);
}

static void check_canonical(const ss_ids_block *block, uint32_t block_bytes)
{
    ss_block_check canonical;
    sstore_error error;
    const char *reason = NULL;
    FUZZ_CHECK(ss_block_check_init(&canonical, block_bytes, NULL, &error) == SSTORE_OK);
    FUZZ_CHECK(ss_block_check_ids(&canonical, block, &reason) || reason != NULL);
    reason = NULL;
    FUZZ_CHECK(ss_block_check_ids(&canonical, block, &reason) || reason != NULL);
    ss_block_check_free(&canonical);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {.at = data, .left = size};
    const uint32_t block_bytes = SS_BLOCK_MIN_BYTES << fuzz_take(&input, 1) % 9;
    uint8_t *bytes = fuzz_take_rest(&input, block_bytes);
    ss_ids_block block;
    const char *reason = NULL;
    if (ss_ids_block_open(&block, bytes, block_bytes, &reason)) {
        check_block(&block, bytes);
        check_canonical(&block, block_bytes);
    } else
        FUZZ_CHECK(reason != NULL);
    free(bytes);
    return 0;
}
