#include "support/block_table.h"

#include <stdlib.h>
#include <string.h>

#include "support/testing.h"

static int compare_values(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

void block_table_init(block_table *made, uint64_t *values, size_t count)
{
    uint64_t counts[SS_SYMBOL_COUNT] = {0};
    uint8_t lengths[SS_SYMBOL_COUNT];
    qsort(values, count, sizeof *values, compare_values);
    made->values = values;
    made->count = count > 0;
    for (size_t i = 1; i < count; i++) {
        if (values[i] == values[i - 1])
            continue;
        counts[ss_first_difference(values[i - 1], values[i])]++;
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

uint32_t block_table_encode(const block_table *from, size_t first, ss_geometry geometry, uint8_t *to)
{
    const uint64_t *values = from->values + first;
    const size_t most = from->count - first < SS_BLOCK_MAX_COUNT + 1 ? from->count - first : SS_BLOCK_MAX_COUNT + 1;
    uint8_t *step_bits = malloc(most);
    ss_step_bits(&from->code, values, most, step_bits);
    uint32_t count = ss_block_fit(geometry, values, step_bits, most);
    memset(to, 0xaa, geometry.block_bytes); /* all of it is written */
    ss_block_encode(geometry, &from->code, values, step_bits, count, to);
    memset(to + geometry.block_bytes - SS_BLOCK_TRAILER_BYTES, 0xee, SS_BLOCK_TRAILER_BYTES);
    free(step_bits);
    return count;
}

/* ----- ways to decode ----- */

/* Leaves all lanes out, so that every group is decoded alone. */
static uint32_t decode_no_lanes(const ss_lookup *lookup, const ss_lane *lanes, uint32_t count)
{
    (void)lookup;
    (void)lanes;
    return (1u << count) - 1;
}

/* The block as its code would be with other functions. */
typedef struct variant {
    ss_code code;
    ss_block block;
} variant;

static const ss_block *use_lanes(variant *made, const ss_block *block, ss_lanes_fn decode_lanes)
{
    made->code = *block->code;
    made->code.decode_lanes = decode_lanes;
    made->block = *block;
    made->block.code = &made->code;
    return &made->block;
}

const ss_block *block_in_way(const ss_block *block, uint32_t way)
{
    static variant portable, alone;
    if (way == 0)
        return block;
    return way == 1 ? use_lanes(&portable, block, ss_lanes_portable) : use_lanes(&alone, block, decode_no_lanes);
}

uint32_t block_group_sizes(const ss_block *block, uint32_t first_group, uint32_t groups)
{
    const uint32_t first = first_group * block->restart_interval;
    return first_group + groups == block->group_count ? block->count - first : groups * block->restart_interval;
}
