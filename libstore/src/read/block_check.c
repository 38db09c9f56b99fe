#include "read/block_check.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const char *const not_full = "its first item fits into the block before it";
static const char *const other_bytes = "its bytes are not those that a writer makes of its contents";

static uint32_t max_items(const ss_block_check *check)
{
    return check->code != NULL ? ss_block_capacity(check->block_bytes) : SS_IDS_BLOCK_CAPACITY;
}

sstore_status ss_block_check_init(ss_block_check *check, uint32_t block_bytes, const ss_code *code, sstore_error *error)
{
    *check = (ss_block_check){.block_bytes = block_bytes, .code = code};
    const size_t max = max_items(check) + 1;
    check->items = ss_realloc(NULL, max, sizeof *check->items);
    check->marks = ss_realloc(NULL, max, 1);
    check->bytes = ss_realloc(NULL, block_bytes, 1);
    if (check->items != NULL && check->marks != NULL && check->bytes != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, max * (sizeof *check->items + 1) + block_bytes);
}

void ss_block_check_free(ss_block_check *check)
{
    ss_free(check->items);
    ss_free(check->marks);
    ss_free(check->bytes);
    *check = (ss_block_check){.items = NULL};
}

/* How many of the first `count` items a block takes; of ids with the frame for them. */
static uint32_t fit(const ss_block_check *check, uint32_t count, ss_ids_frame *frame)
{
    return check->code != NULL ? ss_block_fit(check->block_bytes, check->items, check->marks, count)
                               : ss_ids_fit(check->block_bytes, check->items, check->marks, count, frame);
}

/* Whether the first item of this block fits into the block before. */
static bool fits_before(ss_block_check *check, uint64_t item)
{
    const uint32_t count = check->count;
    ss_ids_frame frame;
    if (count == 0 || count == max_items(check))
        return false;
    check->items[count] = item;
    if (check->code != NULL)
        ss_step_bits(check->code, check->items + count - 1, 2, check->marks + count - 1);
    else
        check->marks[count] = !check->continued;
    return fit(check, count + 1, &frame) > count;
}

/* Compare all but the trailers. */
static bool same_contents(const ss_block_check *check, const uint8_t *bytes)
{
    return memcmp(check->bytes, bytes, check->block_bytes - SS_BLOCK_TRAILER_BYTES) == 0;
}

bool ss_block_check_table(ss_block_check *check, const uint8_t *bytes, const uint64_t *values, uint32_t count,
                          const char **reason)
{
    const bool room = fits_before(check, values[0]);
    check->count = 0;
    *reason = room ? not_full : other_bytes;
    if (room || count > max_items(check))
        return false;
    memcpy(check->items, values, count * sizeof *values);
    ss_step_bits(check->code, values, count, check->marks);
    if (fit(check, count, NULL) != count)
        return false;
    ss_block_encode(check->block_bytes, check->code, values, check->marks, count, check->bytes);
    check->count = count;
    return same_contents(check, bytes);
}

bool ss_block_check_ids(ss_block_check *check, const ss_ids_block *block, const char **reason)
{
    const bool room = fits_before(check, ss_ids_block_id(block, 0));
    const uint32_t count = block->count;
    ss_ids_frame frame;
    check->count = 0;
    *reason = room ? not_full : other_bytes;
    if (room)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        check->items[i] = ss_ids_block_id(block, i);
        check->marks[i] = ss_ids_block_starts_rank(block, i);
    }
    if (fit(check, count, &frame) != count)
        return false;
    ss_ids_encode(check->block_bytes, &frame, check->items, check->marks, block->first_rank, block->continued,
                  check->bytes);
    check->count = count;
    check->continued = block->continued;
    return same_contents(check, block->bytes);
}
