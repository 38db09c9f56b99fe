#include "codec/huffman.h"

#include <string.h>

void ss_symbol_counts(const uint64_t h_counts[SS_FINGERPRINT_BITS], uint64_t counts_out[SS_SYMBOL_COUNT])
{
    memset(counts_out, 0, SS_SYMBOL_COUNT * sizeof *counts_out);
    for (uint32_t h = 0; h < SS_FINGERPRINT_BITS; h++)
        counts_out[ss_symbol_of(h)] += h_counts[h];
}

/* Package-merge (Larmore and Hirschberg, "A fast algorithm for optimal length-limited Huffman codes", 1990) in the
 * textbook form: with so few symbols, packages need not share memory. */
typedef struct package {
    uint64_t weight;
    uint8_t uses[SS_SYMBOL_COUNT]; /* how often it contains each symbol */
} package;

typedef struct package_list {
    package items[2 * SS_SYMBOL_COUNT];
    uint32_t count;
} package_list;

/* Merge the leaves with the pairs of consecutive packages of `from`, ascending; an odd last package is dropped. Of
 * equal weights the leaves come first, so that the result is the same everywhere. */
static void merge(const package_list *leaves, const package_list *from, package_list *merged)
{
    const uint32_t pair_count = from->count / 2;
    uint32_t leaf = 0, pair = 0;
    merged->count = leaves->count + pair_count;
    for (uint32_t i = 0; i < merged->count; i++) {
        const package *a = &from->items[2 * pair], *b = a + 1;
        package *item = &merged->items[i];
        if (pair == pair_count || (leaf < leaves->count && leaves->items[leaf].weight <= a->weight + b->weight)) {
            *item = leaves->items[leaf++];
            continue;
        }
        item->weight = a->weight + b->weight;
        for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
            item->uses[h] = (uint8_t)(a->uses[h] + b->uses[h]);
        pair++;
    }
}

/* One package for each symbol that occurs, ascending by (count, h). */
static void list_leaves(const uint64_t counts[SS_SYMBOL_COUNT], package_list *leaves)
{
    leaves->count = 0;
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++) {
        if (counts[h] == 0)
            continue;
        uint32_t at = leaves->count++;
        while (at > 0 && leaves->items[at - 1].weight > counts[h]) {
            leaves->items[at] = leaves->items[at - 1];
            at--;
        }
        leaves->items[at] = (package){.weight = counts[h]};
        leaves->items[at].uses[h] = 1;
    }
}

void ss_huffman_lengths(const uint64_t counts[SS_SYMBOL_COUNT], uint8_t lengths[SS_SYMBOL_COUNT])
{
    package_list leaves, lists[2]; /* of the last two levels, in turn */
    memset(lengths, 0, SS_SYMBOL_COUNT);
    list_leaves(counts, &leaves);
    if (leaves.count < 2) {
        for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
            lengths[h] = counts[h] != 0;
        return;
    }
    lists[1] = leaves;
    for (uint32_t level = 2; level <= SS_MAX_CODE_BITS; level++)
        merge(&leaves, &lists[(level - 1) % 2], &lists[level % 2]);
    const package_list *list = &lists[SS_MAX_CODE_BITS % 2];
    /* A symbol's length is how often the cheapest 2n - 2 packages contain it. */
    for (uint32_t i = 0; i < 2 * leaves.count - 2; i++)
        for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
            lengths[h] = (uint8_t)(lengths[h] + list->items[i].uses[h]);
}

bool ss_huffman_valid(const uint8_t lengths[SS_SYMBOL_COUNT], const char **reason)
{
    uint32_t space = 0, symbols = 0, last = 0;
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++) {
        if (lengths[h] == 0)
            continue;
        if (lengths[h] > SS_MAX_CODE_BITS) {
            *reason = "a code is longer than 11 bits";
            return false;
        }
        symbols++;
        last = lengths[h];
        space += 1u << (SS_MAX_CODE_BITS - lengths[h]);
    }
    *reason = "the code lengths do not make a complete code";
    return symbols == 0 || (symbols == 1 && last == 1) || (symbols > 1 && space == 1u << SS_MAX_CODE_BITS);
}

void ss_code_assign(ss_code *code, const uint8_t lengths[SS_SYMBOL_COUNT])
{
    uint32_t next = 0;
    code->kernels = ss_kernels_best();
    atomic_init(&code->can_decode, false);
    memset(code->codes, 0, sizeof code->codes);
    memcpy(code->lengths, lengths, sizeof code->lengths);
    for (uint32_t length = 1; length <= SS_MAX_CODE_BITS; length++, next <<= 1)
        for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++) {
            if (code->lengths[h] != length)
                continue;
            uint32_t reversed = 0;
            for (uint32_t i = 0; i < length; i++)
                reversed |= (next >> i & 1) << (length - 1 - i);
            code->codes[h] = (uint16_t)reversed;
            next++;
        }
}

/* The entry for 11 bits. `single` has the first symbol alone for any 11 bits, SS_SYMBOL_COUNT if there is none. */
static ss_lookup make_lookup(const uint8_t single[1u << SS_MAX_CODE_BITS], const ss_code *code, uint32_t bits)
{
    uint32_t used = 0, symbols = 0;
    ss_lookup entry = 0;
    for (; symbols < SS_LOOKUP_SYMBOLS; symbols++) {
        uint32_t h = single[bits >> used];
        if (h == SS_SYMBOL_COUNT || code->lengths[h] > SS_MAX_CODE_BITS - used)
            break;
        entry |= (ss_lookup)(SS_SYMBOL_COUNT - 1 - h) << (32 + 8 * symbols);
        used += code->lengths[h];
    }
    return entry | symbols << 8 | used;
}

void ss_code_fill(ss_code *code)
{
    uint8_t single[1u << SS_MAX_CODE_BITS];
    memset(single, SS_SYMBOL_COUNT, sizeof single);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        if (code->lengths[h] != 0)
            for (uint32_t bits = code->codes[h]; bits < sizeof single; bits += 1u << code->lengths[h])
                single[bits] = (uint8_t)h;
    for (uint32_t bits = 0; bits < sizeof single; bits++)
        code->lookup[bits] = make_lookup(single, code, bits);
    atomic_store_explicit(&code->can_decode, true, memory_order_release);
}

void ss_code_init(ss_code *code, const uint8_t lengths[SS_SYMBOL_COUNT])
{
    ss_code_assign(code, lengths);
    ss_code_fill(code);
}

/* ===== counting a table ===== */

#define LANES 4u /* sets of counters, so that equal h in a row do not wait for each other */

void ss_table_counts_init(ss_table_counts *counts)
{
    *counts = (ss_table_counts){.count = 0};
    ss_bit_counter_init(&counts->gap_bits);
}

void ss_table_counts_add(ss_table_counts *counts, const uint64_t *values, size_t count)
{
    uint64_t h_counts[LANES][SS_FINGERPRINT_BITS] = {{0}};
    for (size_t i = 1; i < count; i++) {
        h_counts[i % LANES][ss_first_difference(values[i - 1], values[i])]++;
        ss_bit_counter_add(&counts->gap_bits, values[i] - values[i - 1]);
    }
    for (uint32_t h = 0; h < SS_FINGERPRINT_BITS; h++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            counts->h_counts[h] += h_counts[lane][h];
    counts->count += count;
}

void ss_table_counts_add_pair(ss_table_counts *counts, uint64_t lower, uint64_t upper)
{
    counts->h_counts[ss_first_difference(lower, upper)]++;
    ss_bit_counter_add(&counts->gap_bits, upper - lower);
}

void ss_table_totals_add(ss_table_totals *totals, ss_table_counts *counts)
{
    uint64_t gap_bit_counts[SS_FINGERPRINT_BITS];
    ss_bit_counter_counts(&counts->gap_bits, gap_bit_counts);
    totals->count += counts->count;
    for (uint32_t i = 0; i < SS_FINGERPRINT_BITS; i++) {
        totals->h_counts[i] += counts->h_counts[i];
        totals->gap_bit_counts[i] += gap_bit_counts[i];
    }
}
