/*
 * fuzz_huffman.c - any numbers as code lengths. Exactly the complete codes are accepted, and their look-up tables must
 * equal reading bit by bit. The lengths that are made for any counts must be accepted and be complete.
 *   1 byte: the lengths as they are, made from counts, or made and one of them changed; 2 bytes: which and to what;
 *   then 33 lengths of a byte or counts of 8
 */
#include "codec/huffman.h"
#include "support/fuzzing.h"
#include "support/reference_block.h"

/* A look-up holds the symbols that lie in its bits whole, up to four. */
static void check_entry(const ss_code *code, const reference_code *slow, uint32_t bits)
{
    const uint8_t stream[16] = {(uint8_t)bits, (uint8_t)(bits >> 8)};
    const ss_lookup entry = code->lookup[bits];
    const uint32_t symbols = ss_lookup_symbols(entry);
    uint32_t at = 0, found = 0;
    while (found < SS_LOOKUP_SYMBOLS) {
        uint32_t end = at;
        const uint32_t h = reference_symbol(slow, stream, &end);
        if (h == REFERENCE_NO_SYMBOL || end > SS_MAX_CODE_BITS)
            break;
        FUZZ_CHECK(found >= symbols || (ss_lookup_spans(entry) >> (8 * found) & 255u) == 32 - h);
        at = end;
        found++;
    }
    FUZZ_CHECK(symbols == found && (found > 0 || entry == 0));
    FUZZ_CHECK(ss_lookup_code_bits(entry) == at && (uint64_t)ss_lookup_spans(entry) >> (8 * found) == 0);
}

static void check(const uint8_t lengths[SS_SYMBOL_COUNT])
{
    static ss_code code;
    const char *reason = NULL;
    reference_code slow;
    const bool valid = ss_huffman_valid(lengths, &reason);
    FUZZ_CHECK(valid == reference_is_code(lengths) && (valid || reason != NULL));
    if (!valid)
        return;
    ss_code_init(&code, lengths);
    reference_code_init(&slow, lengths);
    for (uint32_t bits = 0; bits < 1u << SS_MAX_CODE_BITS; bits++)
        check_entry(&code, &slow, bits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {.at = data, .left = size};
    uint8_t lengths[SS_SYMBOL_COUNT];
    uint64_t counts[SS_SYMBOL_COUNT];
    const uint64_t way = fuzz_take(&input, 1) % 3, place = fuzz_take(&input, 1), other = fuzz_take(&input, 1);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++) {
        lengths[h] = way == 0 ? (uint8_t)fuzz_take(&input, 1) : 0;
        counts[h] = way == 0 ? 0 : fuzz_take(&input, 8) / SS_SYMBOL_COUNT; /* so that they can be added up */
    }
    if (way == 0) {
        check(lengths);
        return 0;
    }
    ss_huffman_lengths(counts, lengths);
    FUZZ_CHECK(reference_is_code(lengths));
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        FUZZ_CHECK((lengths[h] > 0) == (counts[h] > 0));
    if (way == 2)
        lengths[place % SS_SYMBOL_COUNT] = (uint8_t)(other % 16);
    check(lengths);
    return 0;
}
