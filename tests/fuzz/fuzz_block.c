/*
 * fuzz_block.c - any bytes as a block under any valid code: no access outside it. A sound block, read bit by bit, must
 * decode to the same values by every kernel; another one is accepted only if it ascends and no writer makes it. Groups
 * and searches must equal loops over all values, and a sound block can be encoded again.
 *   1 byte: block size; 33 bytes: counts that the code is made from; 11 bytes: a query; then the block
 */
#include "read/block_check.h"
#include "support/fuzzing.h"
#include "support/reference_block.h"

#define SIZES 7u /* 256 to 16384 bytes: no more zeros behind a short input than need be */

typedef struct reading {
    const ss_block *block;
    uint32_t block_bytes;
    ss_near query;          /* what is looked for */
    const uint64_t *values; /* as they are decoded; NULL: they are not */
} reading;

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

/* The block without the processor's own instructions. */
static ss_block without_vectors(const ss_block *block)
{
    static ss_code code;
    ss_block other = *block;
    code = *block->code;
    code.kernels = ss_kernels_of(SS_SIMD_NONE);
    other.code = &code;
    return other;
}

/* ----- finding ----- */

/* All groups with upper halves from low to high must be found where the values are known; of any block, they must be
 * its groups. */
static void check_find_groups(const reading *self, uint32_t a, uint32_t b)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    uint32_t first, last;
    ss_block_find_groups(self->block, low, high, &first, &last);
    FUZZ_CHECK(first <= last && last < self->block->group_count);
    for (uint32_t i = 0; self->values != NULL && i < self->block->count; i++)
        if (self->values[i] >> 32 >= low && self->values[i] >> 32 <= high)
            FUZZ_CHECK(first <= i / REFERENCE_GROUP && last >= i / REFERENCE_GROUP);
}

static void check_finds(const reading *self)
{
    const uint32_t step = self->block->group_count / 8 + 1, first = self->block->first;
    const uint32_t wanted = (uint32_t)(self->query.query >> 32);
    check_find_groups(self, 0, UINT32_MAX);
    check_find_groups(self, first, first);
    check_find_groups(self, first, wanted);
    for (uint32_t group = 1; group < self->block->group_count; group += step) {
        const uint32_t min = first +
                             (reference_key(self->block->bytes, self->block_bytes, group) << self->block->key_shift);
        check_find_groups(self, min, min);
        check_find_groups(self, min, min | (uint32_t)ss_low_mask(self->block->key_shift));
        check_find_groups(self, min - 1, min);
        check_find_groups(self, min, min ^ 1u << group % 32);
    }
}

/* Both forms find the same, and what the values are where these are known. */
static void check_near(const reading *self, const ss_block *portable)
{
    ss_near near = self->query, other = self->query;
    for (uint32_t next = near.group;; next = ++near.group, other.group++) {
        const bool passed = ss_block_find_near(self->block, &near);
        FUZZ_CHECK(ss_block_find_near(portable, &other) == passed && other.group == near.group);
        FUZZ_CHECK(passed || self->values == NULL);
        if (!passed)
            return;
        const uint32_t end = ss_min_u32(near.group < near.end ? (near.group + 1) * REFERENCE_GROUP
                                                              : near.end * REFERENCE_GROUP,
                                        self->block->count);
        for (uint32_t i = next * REFERENCE_GROUP; self->values != NULL && i < end; i++) {
            const uint64_t differing = self->values[i] ^ near.query;
            const bool wanted = ss_popcount(differing) <= near.distance &&
                                ss_popcount((uint32_t)differing) <= near.lower_distance;
            const bool found = i / REFERENCE_GROUP == near.group && (near.mask >> i % REFERENCE_GROUP & 1) != 0;
            FUZZ_CHECK(wanted == found && (!found || near.values[i % REFERENCE_GROUP] == self->values[i]));
        }
        if (near.group == near.end)
            return;
        FUZZ_CHECK(near.mask != 0 && near.mask == other.mask);
        FUZZ_CHECK((near.mask & ~ss_low_mask(ss_block_group_size(self->block, near.group))) == 0);
    }
}

/* ----- decoding ----- */

/* A group, or the beginning of it, gives what all of them give together. */
static void check_groups(const ss_block *block, uint32_t block_bytes, const uint64_t *values)
{
    for (uint32_t group = 0; group < block->group_count; group++) {
        const uint32_t size = ss_block_group_size(block, group);
        for (uint32_t count = size;; count = 1 + group % size) {
            uint64_t first = 0, wanted = 0, *out = malloc(count * sizeof *out);
            FUZZ_CHECK(out != NULL);
            const bool passed = ss_block_decode_group(block, group, count, out);
            FUZZ_CHECK(passed || values == NULL);
            FUZZ_CHECK(!passed ||
                       (ascends(out, count) && ss_block_group_first(block, group, &first) && first == out[0]));
            FUZZ_CHECK(values == NULL ||
                       memcmp(out, values + (size_t)group * REFERENCE_GROUP, count * sizeof *out) == 0);
            const bool told = ss_block_group_first(block, group, &first) && ss_upper(first) >= block->first;
            FUZZ_CHECK(told == reference_block_group_first(block->bytes, block_bytes, group, &wanted));
            FUZZ_CHECK(!told || first == wanted);
            free(out);
            if (count != size || size == 1 + group % size)
                break;
        }
    }
}

/* It is as a writer makes it or not, whatever was looked at before. */
static bool is_canonical(const reading *self)
{
    ss_block_check canonical;
    sstore_error error;
    const char *reason = NULL;
    FUZZ_CHECK(ss_block_check_init(&canonical, self->block_bytes, self->block->code, &error) == SSTORE_OK);
    const bool passed = ss_block_check_table(&canonical, self->block->bytes, self->values, self->block->count, &reason);
    FUZZ_CHECK(passed || reason != NULL);
    ss_block_check_skip(&canonical);
    FUZZ_CHECK(ss_block_check_table(&canonical, self->block->bytes, self->values, self->block->count, &reason) ==
               passed);
    ss_block_check_free(&canonical);
    return passed;
}

static void check_block(reading *self)
{
    const size_t size = self->block->count * sizeof(uint64_t);
    uint64_t *values = malloc(size), *fast = malloc(size), *other = malloc(size);
    FUZZ_CHECK(values != NULL && fast != NULL && other != NULL);
    const ss_block portable = without_vectors(self->block);
    reference_code slow;
    reference_code_init(&slow, self->block->code->lengths);
    const bool sound = reference_block_decode(self->block->bytes, self->block_bytes, &slow, values);
    const bool passed = ss_block_decode(self->block, fast);
    FUZZ_CHECK(passed || !sound);
    FUZZ_CHECK(!sound || memcmp(fast, values, size) == 0);
    FUZZ_CHECK(!passed || ascends(fast, self->block->count));
    FUZZ_CHECK(ss_block_decode(&portable, other) == passed);
    FUZZ_CHECK(!passed || memcmp(other, fast, size) == 0);
    self->values = passed ? fast : NULL;
    FUZZ_CHECK(!passed || !is_canonical(self) || sound);
    check_groups(self->block, self->block_bytes, self->values);
    check_groups(&portable, self->block_bytes, self->values);
    check_near(self, &portable);
    self->values = sound ? fast : NULL; /* where codes run into suffixes, groups may have other keys than they should */
    check_finds(self);
    free(values);
    free(fast);
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ss_code code;
    fuzz_input input = {.at = data, .left = size};
    const uint32_t block_bytes = SS_BLOCK_MIN_BYTES << fuzz_take(&input, 1) % SIZES;
    take_code(&input, &code);
    reading self = {.block_bytes = block_bytes};
    self.query.query = fuzz_take(&input, 8);
    self.query.distance = (uint32_t)fuzz_take(&input, 1) % (SSTORE_MAX_DISTANCE + 1);
    self.query.lower_distance = (uint32_t)fuzz_take(&input, 1) % (self.query.distance + 1);
    const uint32_t first_group = (uint32_t)fuzz_take(&input, 1);
    uint8_t *bytes = fuzz_take_rest(&input, block_bytes);
    ss_block block;
    const char *reason = NULL;
    const bool opened = ss_block_open(&block, bytes, block_bytes, &code, &reason);
    FUZZ_CHECK(opened == reference_block_opens(bytes, block_bytes));
    if (opened) {
        self.block = &block;
        self.query.group = first_group % block.group_count;
        self.query.end = block.group_count;
        check_block(&self);
    } else {
        FUZZ_CHECK(reason != NULL);
    }
    free(bytes);
    return 0;
}
