/*
 * fuzz_block.c - any bytes as a block under any valid code: no access outside it, and decoding, walking and seeking
 * tell the same.
 *   1 byte: block size; 2 bytes: restart interval; 64 bytes: counts that the code is made from; then the block
 */
#include "codec/block.h"
#include "support/fuzzing.h"

/* 256 to 16384 bytes: slots of both widths, and no more zeros behind a short input than need be. */
#define SIZES 7u

static ss_geometry take_geometry(fuzz_input *input)
{
    const uint32_t shift = (uint32_t)fuzz_take(input, 1) % SIZES, interval = (uint32_t)fuzz_take(input, 2);
    return (ss_geometry){.block_bytes = SS_BLOCK_MIN_BYTES << shift, .restart_interval = interval == 0 ? 1 : interval};
}

/* Cubes of bytes, so that long codes come up as well as short ones. Returns the number of symbols. */
static uint32_t take_code(fuzz_input *input, ss_code *code)
{
    uint64_t counts[SS_SYMBOL_COUNT];
    uint8_t lengths[SS_SYMBOL_COUNT];
    uint32_t symbols = 0;
    const char *reason;
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++) {
        const uint64_t byte = fuzz_take(input, 1);
        counts[h] = byte * byte * byte;
        symbols += byte != 0;
    }
    ss_huffman_lengths(counts, lengths);
    FUZZ_CHECK(ss_huffman_valid(lengths, &reason));
    ss_code_init(code, lengths);
    return symbols;
}

/* Walk on to the end. Returns whether that was reached without damage. */
static bool walk(const ss_block *block, ss_seek found, ss_position *position, const uint64_t *values)
{
    for (; found == SS_SEEK_AT; found = ss_block_next(block, position)) {
        FUZZ_CHECK(position->index < block->count);
        if (values != NULL)
            FUZZ_CHECK(position->value == values[position->index]);
    }
    return found == SS_SEEK_END;
}

static bool ascends(const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (values[i] <= values[i - 1])
            return false;
    return true;
}

/* Of a block that is as a writer makes it, seeking must find the first that is at or above the target. */
static void check_seek(const ss_block *block, uint64_t target, const uint64_t *values)
{
    ss_position position;
    ss_seek found = ss_block_seek(block, target, &position);
    if (values != NULL) {
        uint32_t wanted = 0;
        while (wanted < block->count && values[wanted] < target)
            wanted++;
        FUZZ_CHECK(found == (wanted < block->count ? SS_SEEK_AT : SS_SEEK_END));
        FUZZ_CHECK(found != SS_SEEK_AT || position.index == wanted);
    }
    (void)walk(block, found, &position, values);
}

static void check_seeks(const ss_block *block, const uint64_t *values)
{
    const uint32_t step = block->group_count / 8 + 1;
    check_seek(block, 0, values);
    check_seek(block, UINT64_MAX, values);
    for (uint32_t group = 0; group < block->group_count; group += step) {
        const uint64_t key = ss_block_key(block, group);
        check_seek(block, key, values);
        check_seek(block, key + 1, values);
        check_seek(block, key - 1, values);
        check_seek(block, key ^ UINT64_C(1) << group % 64, values);
    }
}

/* Groups decoded a few at a time give what they give together. */
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
        const bool sound = ss_block_decode_groups(block, group, groups, out, &count);
        FUZZ_CHECK(count == wanted && (sound || values == NULL));
        FUZZ_CHECK(values == NULL || memcmp(out, values + first, count * sizeof *out) == 0);
        free(out);
    }
}

static void check_block(const ss_block *block, uint32_t symbols)
{
    uint64_t *values = malloc(block->count * sizeof *values), *portable = malloc(block->count * sizeof *values);
    FUZZ_CHECK(values != NULL && portable != NULL);
    static ss_code portable_code;
    ss_block other = *block;
    portable_code = *block->code;
    portable_code.decode_rests = ss_rests_portable;
    other.code = &portable_code;
    const bool sound = ss_block_decode(block, values);
    FUZZ_CHECK(ss_block_decode(&other, portable) == sound);
    FUZZ_CHECK(!sound || memcmp(values, portable, block->count * sizeof *values) == 0);

    ss_position position;
    ss_position_enter_group(block, 0, &position);
    const bool walked = walk(block, SS_SEEK_AT, &position, sound ? values : NULL);
    /* Of one symbol some bits are no code, and decoding looks at bits that walking does not. */
    FUZZ_CHECK(walked == sound || (symbols < 2 && walked));
    check_groups(block, sound ? values : NULL);
    check_seeks(block, sound && ascends(values, block->count) ? values : NULL);
    free(values);
    free(portable);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ss_code code;
    fuzz_input input = {.at = data, .left = size};
    const ss_geometry geometry = take_geometry(&input);
    const uint32_t symbols = take_code(&input, &code);
    uint8_t *bytes = fuzz_take_rest(&input, geometry.block_bytes);
    ss_block block;
    const char *reason = NULL;
    if (ss_block_open(&block, bytes, geometry, &code, &reason))
        check_block(&block, symbols);
    else
        FUZZ_CHECK(reason != NULL);
    free(bytes);
    return 0;
}
