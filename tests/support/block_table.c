#include "support/block_table.h"
#include "support/data.h"

#include <stdlib.h>
#include <string.h>

#include "support/guard.h"
#include "support/testing.h"

void block_table_init(block_table *made, uint64_t *values, size_t count)
{
    uint64_t counts[SS_SYMBOL_COUNT] = {0};
    uint8_t lengths[SS_SYMBOL_COUNT];
    qsort(values, count, sizeof *values, compare_numbers);
    made->values = values;
    made->count = count > 0;
    for (size_t i = 1; i < count; i++) {
        if (values[i] == values[i - 1])
            continue;
        counts[ss_symbol_of(ss_first_difference(values[i - 1], values[i]))]++;
        values[made->count++] = values[i];
    }
    ss_huffman_lengths(counts, lengths);
    ss_code_init(&made->code, lengths);
}

void block_table_make(block_table *made, rng *random, data_kind kind, size_t count)
{
    data_set set;
    data_make(random, kind, DATA_NO_IDS, count, false, &set);
    uint64_t *values = malloc(count * sizeof *values);
    memcpy(values, set.fingerprints, count * sizeof *values);
    data_free(&set);
    block_table_init(made, values, count);
}

void block_table_free(block_table *made)
{
    free(made->values);
}

uint32_t block_table_encode(const block_table *from, size_t first, uint32_t block_bytes, uint8_t *to)
{
    const uint64_t *values = from->values + first;
    const size_t max = from->count - first < SS_BLOCK_MAX_BYTES ? from->count - first : SS_BLOCK_MAX_BYTES;
    uint8_t *step_bits = malloc(max);
    ss_step_bits(&from->code, values, max, step_bits);
    const uint32_t count = ss_block_fit(block_bytes, values, step_bits, max);
    guarded memory = guard_make(block_bytes); /* nothing beside it is */
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t *placed = i == 0 ? memory.low : memory.high;
        memset(placed, 0xaa, block_bytes); /* all of it is written */
        ss_block_encode(block_bytes, &from->code, values, step_bits, count, placed);
        assert_true(i == 0 || memcmp(placed, to, block_bytes - SS_BLOCK_TRAILER_BYTES) == 0);
        memcpy(to, placed, block_bytes);
    }
    guard_free(&memory);
    memset(to + block_bytes - SS_BLOCK_TRAILER_BYTES, 0xee, SS_BLOCK_TRAILER_BYTES);
    free(step_bits);
    return count;
}

const ss_block *block_in_way(const ss_block *block, uint32_t way)
{
    static struct {
        ss_code code;
        ss_block block;
    } ways[BLOCK_WAYS];
    ways[way].code = *block->code;
    ways[way].code.kernels = way == 0 ? ss_kernels_of(SS_SIMD_NONE) : ss_kernels_best();
    ways[way].block = *block;
    ways[way].block.code = &ways[way].code;
    return &ways[way].block;
}
