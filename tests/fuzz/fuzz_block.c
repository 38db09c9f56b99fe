/*
 * fuzz_block.c - any bytes as a block under any valid code: no access outside it, decoding strictly tells the same as reading
 * bit by bit, decoding fast gives the same of what is sound, by every form, groups are found where their values are, and what
 * is sound can be written again, whatever it is.
 *   1 byte: block size; 2 bytes: restart interval; 64 bytes: counts that the code is made from; then the block
 */
#include "store/canonical.h"
#include "support/fuzzing.h"
#include "support/slow_block.h"

/* 256 to 16384 bytes: slots of both widths, and no more zeros behind a short input than need be. */
#define SIZES 7u

static ss_geometry take_geometry(fuzz_input *input)
{
    const uint32_t shift = (uint32_t)fuzz_take(input, 1) % SIZES, interval = (uint32_t)fuzz_take(input, 2);
    return (ss_geometry){.block_bytes = SS_BLOCK_MIN_BYTES << shift, .restart_interval = interval == 0 ? 1 : interval};
}

/* Cubes of bytes, so that long codes come up as well as short ones. */
static void take_code(fuzz_input *input, ss_code *code)
{
    uint64_t counts[SS_SYMBOL_COUNT];
    uint8_t lengths[SS_SYMBOL_COUNT];
    const char *reason;
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++) {
        const uint64_t byte = fuzz_take(input, 1);
        counts[h] = byte * byte * byte;
    }
    ss_huffman_lengths(counts, lengths);
    FUZZ_CHECK(ss_huffman_valid(lengths, &reason));
    ss_code_init(code, lengths);
}

static bool ascends(const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (values[i] <= values[i - 1])
            return false;
    return true;
}

/* The group where a fingerprint is, if it is in the block. */
static uint32_t group_of(const ss_block *block, const uint64_t *values, uint64_t fingerprint)
{
    uint32_t group = block->group_count - 1;
    while (group > 0 && values[group * block->restart_interval] > fingerprint)
        group--;
    return group;
}

/* Of a block that is as a writer makes it, the groups found must hold all of low..high; of any, they must be its groups. */
static void check_find(const ss_block *block, uint64_t a, uint64_t b, const uint64_t *values)
{
    const uint64_t low = a < b ? a : b, high = a < b ? b : a;
    uint32_t first, last;
    ss_block_find_groups(block, low, high, &first, &last);
    FUZZ_CHECK(first <= last && last < block->group_count);
    FUZZ_CHECK(values == NULL || (first <= group_of(block, values, low) && last >= group_of(block, values, high)));
}

static void check_finds(const ss_block *block, const uint64_t *values)
{
    const uint32_t step = block->group_count / 8 + 1;
    check_find(block, 0, UINT64_MAX, values);
    check_find(block, block->first, block->first, values);
    for (uint32_t group = 1; group < block->group_count; group += step) {
        const uint64_t key = ss_load_le32(block->bytes + SS_BLOCK_HEAD_BYTES + SS_KEY_BYTES * (size_t)(group - 1));
        const uint64_t least = block->first + (key << block->key_shift);
        check_find(block, least, least, values);
        check_find(block, least, least | ss_low_mask(block->key_shift), values);
        check_find(block, least - 1, least, values);
        check_find(block, least, least ^ UINT64_C(1) << group % 64, values);
    }
}

/* The block without the processor's own instructions. */
static ss_block without_vectors(const ss_block *block)
{
    static ss_code code;
    ss_block other = *block;
    code = *block->code;
    code.decode_lanes = ss_lanes_portable;
    other.code = &code;
    return other;
}

/* Groups decoded a few at a time give what they give together. Whether malformed ones are passed may depend on their company. */
static void check_groups(const ss_block *block, const uint64_t *values)
{
    uint32_t count;
    for (uint32_t group = 0, groups = 1; group < block->group_count; group += groups, groups = groups % 6 + 1) {
        const uint32_t left = block->group_count - group;
        groups = groups < left ? groups : left;
        const uint32_t first = group * block->restart_interval;
        const uint32_t wanted = groups == left ? block->count - first : groups * block->restart_interval;
        uint64_t *out = malloc(wanted * sizeof *out);
        FUZZ_CHECK(out != NULL);
        const bool passed = ss_block_decode_groups(block, group, groups, out, &count);
        FUZZ_CHECK(count == wanted && (passed || values == NULL));
        FUZZ_CHECK(values == NULL || memcmp(out, values + first, count * sizeof *out) == 0);
        free(out);
    }
}

/* It is as a writer makes it or not, whatever was looked at before. */
static void check_canonical(const ss_block *block, ss_geometry geometry, const uint64_t *values)
{
    ss_canonical_table canonical;
    sstore_error error;
    const char *reason = NULL;
    FUZZ_CHECK(ss_canonical_table_init(&canonical, geometry, block->code, &error) == SSTORE_OK);
    const bool passed = ss_canonical_table_next(&canonical, block->bytes, values, block->count, &reason);
    FUZZ_CHECK(passed || reason != NULL);
    ss_canonical_table_skip(&canonical);
    FUZZ_CHECK(ss_canonical_table_next(&canonical, block->bytes, values, block->count, &reason) == passed);
    ss_canonical_table_free(&canonical);
}

static void check_block(const ss_block *block, ss_geometry geometry)
{
    const size_t size = block->count * sizeof(uint64_t);
    uint64_t *values = malloc(size), *fast = malloc(size), *other = malloc(size);
    FUZZ_CHECK(values != NULL && fast != NULL && other != NULL);
    const ss_block portable = without_vectors(block);
    slow_code slow;
    slow_code_init(&slow, block->code->lengths);
    const bool sound = slow_block_decode(block->bytes, geometry.block_bytes, geometry.restart_interval, &slow, values);
    FUZZ_CHECK(ss_block_decode_strictly(block, other) == sound);
    FUZZ_CHECK(!sound || memcmp(other, values, size) == 0);
    const bool passed = ss_block_decode(block, fast);
    FUZZ_CHECK(passed || !sound);
    FUZZ_CHECK(!sound || memcmp(fast, values, size) == 0);
    FUZZ_CHECK(ss_block_decode(&portable, other) == passed);
    FUZZ_CHECK(!passed || memcmp(other, fast, size) == 0);
    check_groups(block, sound ? values : NULL);
    check_groups(&portable, sound ? values : NULL);
    if (sound && ascends(values, block->count))
        check_canonical(block, geometry, values);
    check_finds(block, sound && ascends(values, block->count) ? values : NULL);
    free(values);
    free(fast);
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ss_code code;
    fuzz_input input = {.at = data, .left = size};
    const ss_geometry geometry = take_geometry(&input);
    take_code(&input, &code);
    uint8_t *bytes = fuzz_take_rest(&input, geometry.block_bytes);
    ss_block block;
    const char *reason = NULL;
    const bool opened = ss_block_open(&block, bytes, geometry, &code, &reason);
    FUZZ_CHECK(opened == slow_block_opens(bytes, geometry.block_bytes, geometry.restart_interval));
    if (opened)
        check_block(&block, geometry);
    else
        FUZZ_CHECK(reason != NULL);
    free(bytes);
    return 0;
}
