/* The Huffman code: optimal within its length limit, complete, and decoded by its look-up table as it was encoded. */
#include "codec/huffman.h"

#include <string.h>

#include "support/random.h"
#include "support/testing.h"

#define INFINITE (UINT64_MAX / 4)
#define LOOKUP_SIZE (1u << SS_MAX_CODE_BITS)

/* ----- kinds of counts ----- */

typedef enum counts_kind {
    COUNTS_FEW,       /* random, most of them zero */
    COUNTS_UNIFORM,   /* random */
    COUNTS_HALVING,   /* each about half of the one before, as in real tables */
    COUNTS_FIBONACCI, /* the worst for the length of codes, from anywhere on */
    COUNTS_EQUAL,
    COUNTS_SMALL, /* many ties */
    COUNTS_KINDS
} counts_kind;

static void make_counts(rng *random, counts_kind kind, uint32_t symbols, uint64_t counts[SS_SYMBOL_COUNT])
{
    uint64_t a = rng_between(random, 1, 3), b = rng_between(random, 1, 3);
    memset(counts, 0, SS_SYMBOL_COUNT * sizeof *counts);
    for (uint32_t i = 0; i < symbols; i++) {
        uint64_t count = 1;
        switch (kind) {
        case COUNTS_FEW: count = rng_one_in(random, 4) ? rng_between(random, 1, 1000) : 0; break;
        case COUNTS_UNIFORM: count = rng_between(random, 1, UINT64_C(1) << 40); break;
        case COUNTS_HALVING: count = (UINT64_C(1) << (i % 50)) + rng_below(random, (i % 50) + 1); break;
        case COUNTS_FIBONACCI: count = a; break;
        case COUNTS_EQUAL: count = 7; break;
        default: count = rng_between(random, 1, 4); break;
        }
        uint64_t next = a + b;
        a = b;
        b = next;
        uint32_t at = (uint32_t)rng_below(random, SS_SYMBOL_COUNT);
        while (counts[at] != 0)
            at = (at + 1) % SS_SYMBOL_COUNT;
        counts[at] = count;
    }
}

static uint32_t used_symbols(const uint64_t counts[SS_SYMBOL_COUNT])
{
    uint32_t used = 0;
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        used += counts[h] != 0;
    return used;
}

static uint64_t code_cost(const uint64_t counts[SS_SYMBOL_COUNT], const uint8_t lengths[SS_SYMBOL_COUNT])
{
    uint64_t bits = 0;
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        bits += counts[h] * lengths[h];
    return bits;
}

/* ----- the minimum cost, computed in two other ways ----- */

/* Huffman's own algorithm without a limit, each time joining the two least by looking at all. */
static uint64_t unlimited_cost(const uint64_t counts[SS_SYMBOL_COUNT])
{
    uint64_t weights[SS_SYMBOL_COUNT], cost = 0;
    uint32_t count = 0;
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        if (counts[h] != 0)
            weights[count++] = counts[h];
    for (; count > 1; count--) {
        for (uint32_t place = 0; place < 2; place++) /* the two least to the end */
            for (uint32_t i = 0; i < count - 1 - place; i++)
                if (weights[i] < weights[i + 1]) {
                    uint64_t held = weights[i];
                    weights[i] = weights[i + 1];
                    weights[i + 1] = held;
                }
        weights[count - 2] += weights[count - 1];
        cost += weights[count - 2];
    }
    return cost;
}

/* Every shape that a complete code can have: how many codes each length has, the larger counts taking the shorter. */
typedef struct shapes {
    uint32_t count;
    uint64_t left[SS_SYMBOL_COUNT + 1]; /* the sum of all counts but the i largest */
    uint64_t best[SS_MAX_CODE_BITS + 1][SS_SYMBOL_COUNT + 1][SS_SYMBOL_COUNT + 1]; /* 0: not known yet; else cost + 1 */
} shapes;

/* The minimum cost below `length`, if the `placed` largest have codes and `nodes` nodes are open. */
static uint64_t best_below(shapes *all, uint32_t length, uint32_t placed, uint32_t nodes)
{
    if (placed == all->count)
        return nodes == 0 ? 0 : INFINITE;
    if (length > SS_MAX_CODE_BITS || nodes == 0 || nodes > all->count - placed)
        return INFINITE;
    uint64_t *known = &all->best[length][placed][nodes];
    if (*known != 0)
        return *known - 1;
    uint64_t best = INFINITE;
    for (uint32_t leaves = 0; leaves <= nodes; leaves++) {
        uint64_t below = best_below(all, length + 1, placed + leaves, 2 * (nodes - leaves));
        uint64_t cost = below < INFINITE ? below + all->left[placed + leaves] : INFINITE;
        best = cost < best ? cost : best;
    }
    *known = best + 1;
    return best;
}

static uint64_t limited_cost(const uint64_t counts[SS_SYMBOL_COUNT])
{
    static shapes all;
    uint64_t sorted[SS_SYMBOL_COUNT];
    memset(&all, 0, sizeof all);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++) {
        if (counts[h] == 0)
            continue;
        uint32_t at = all.count++;
        for (; at > 0 && sorted[at - 1] < counts[h]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = counts[h];
    }
    for (uint32_t i = all.count; i-- > 0;)
        all.left[i] = all.left[i + 1] + sorted[i];
    return best_below(&all, 0, 0, 1);
}

/* ----- lengths ----- */

static void check_lengths(const uint64_t counts[SS_SYMBOL_COUNT], const uint8_t lengths[SS_SYMBOL_COUNT])
{
    const char *reason = NULL;
    uint32_t space = 0;
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++) {
        assert_int_equal(lengths[h] != 0, counts[h] != 0);
        assert_in_range(lengths[h], 0, SS_MAX_CODE_BITS);
        space += lengths[h] == 0 ? 0 : LOOKUP_SIZE >> lengths[h];
        for (uint32_t other = 0; other < SS_SYMBOL_COUNT; other++)
            assert_false(counts[h] != 0 && counts[h] < counts[other] && lengths[h] < lengths[other]);
    }
    if (used_symbols(counts) >= 2)
        assert_int_equal(space, LOOKUP_SIZE);
    assert_true(ss_huffman_valid(lengths, &reason));
}

static void test_lengths_are_optimal(void **state)
{
    rng random = rng_seeded(run_seed);
    uint32_t limited = 0;
    for (uint32_t i = 0; i < 900; i++) {
        uint64_t counts[SS_SYMBOL_COUNT];
        uint8_t lengths[SS_SYMBOL_COUNT], again[SS_SYMBOL_COUNT];
        const counts_kind kind = (counts_kind)(i % COUNTS_KINDS);
        const uint32_t symbols = (uint32_t)rng_between(&random, 2, SS_SYMBOL_COUNT);
        testing_doing("counts of kind %d, %u symbols, number %u", (int)kind, symbols, i);
        make_counts(&random, kind, symbols, counts);
        ss_huffman_lengths(counts, lengths);
        check_lengths(counts, lengths);
        if (used_symbols(counts) < 2)
            continue;
        const uint64_t cost = code_cost(counts, lengths), unlimited = unlimited_cost(counts);
        assert_int_equal(cost, limited_cost(counts));
        assert_true(cost >= unlimited);
        limited += cost > unlimited;
        memset(again, 0xff, sizeof again); /* the previous contents do not matter */
        ss_huffman_lengths(counts, again);
        assert_memory_equal(again, lengths, sizeof lengths);
    }
    assert_true(limited > 50); /* the limit was also tested */
    testing_done();
}

/* If no code needs more than 11 bits, the limit costs nothing. */
static void test_limit_does_not_bite(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    for (uint32_t symbols = 2; symbols <= SS_MAX_CODE_BITS + 1; symbols++) {
        for (uint32_t i = 0; i < 40; i++) {
            uint64_t counts[SS_SYMBOL_COUNT];
            uint8_t lengths[SS_SYMBOL_COUNT];
            make_counts(&random, i % 2 == 0 ? COUNTS_FIBONACCI : COUNTS_UNIFORM, symbols, counts);
            ss_huffman_lengths(counts, lengths);
            assert_int_equal(code_cost(counts, lengths), unlimited_cost(counts));
        }
    }
}

/* Of several best codes it is always the same one, by the order that format-spec/block-codec.md, section 7, gives. */
static void test_ties_are_settled(void **state)
{
    const uint64_t pairs[SS_SYMBOL_COUNT] = {1, 1, 2, 2}, equal[SS_SYMBOL_COUNT] = {[5] = 3, [6] = 3, [7] = 3};
    const uint8_t for_pairs[SS_SYMBOL_COUNT] = {2, 2, 2, 2}, for_equal[SS_SYMBOL_COUNT] = {[5] = 2, [6] = 2, [7] = 1};
    uint8_t lengths[SS_SYMBOL_COUNT];
    ss_huffman_lengths(pairs, lengths); /* 3, 3, 2, 1 is as short */
    assert_memory_equal(lengths, for_pairs, sizeof lengths);
    ss_huffman_lengths(equal, lengths);
    assert_memory_equal(lengths, for_equal, sizeof lengths);
}

static void test_fibonacci_stays_within_limit(void **state)
{
    uint64_t counts[SS_SYMBOL_COUNT] = {1, 1};
    uint8_t lengths[SS_SYMBOL_COUNT], longest = 0;
    for (uint32_t h = 2; h < SS_SYMBOL_COUNT; h++)
        counts[h] = counts[h - 1] + counts[h - 2];
    ss_huffman_lengths(counts, lengths);
    check_lengths(counts, lengths);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        longest = lengths[h] > longest ? lengths[h] : longest;
    assert_int_equal(longest, SS_MAX_CODE_BITS);
    assert_int_equal(code_cost(counts, lengths), limited_cost(counts));
}

static void test_fewest_symbols(void **state)
{
    const char *reason;
    uint64_t counts[SS_SYMBOL_COUNT] = {0};
    uint8_t lengths[SS_SYMBOL_COUNT], none[SS_SYMBOL_COUNT] = {0};
    ss_huffman_lengths(counts, lengths);
    assert_memory_equal(lengths, none, sizeof none);
    assert_true(ss_huffman_valid(lengths, &reason));
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h += 8) {
        counts[h] = UINT64_C(1) << h % 40;
        ss_huffman_lengths(counts, lengths);
        none[h] = 1;
        assert_memory_equal(lengths, none, sizeof none);
        uint32_t other = (h + 5) % SS_SYMBOL_COUNT;
        counts[other] = 1;
        ss_huffman_lengths(counts, lengths);
        none[other] = 1;
        assert_memory_equal(lengths, none, sizeof none);
        counts[h] = counts[other] = none[h] = none[other] = 0;
    }
}

/* Of the 64 bits in which neighbours may differ first, those of the lower half count as equal upper halves, all of
 * them. */
static void test_symbols_of_differences(void **state)
{
    uint64_t h_counts[SS_FINGERPRINT_BITS], counts[SS_SYMBOL_COUNT], lower = 0;
    for (uint32_t h = 0; h < SS_FINGERPRINT_BITS; h++) {
        assert_int_equal(ss_symbol_of(h), h < 32 ? h : 32);
        assert_int_equal(ss_suffix_bits(ss_symbol_of(h)), h < 32 ? 31 - h : 0);
        h_counts[h] = UINT64_C(3) * h * h + 1;
        lower += h < 32 ? 0 : h_counts[h];
    }
    memset(counts, 0xff, sizeof counts);
    ss_symbol_counts(h_counts, counts);
    assert_memory_equal(counts, h_counts, 32 * sizeof *counts);
    assert_int_equal(counts[32], lower);
}

/* ----- validity ----- */

static bool valid(const uint8_t lengths[SS_SYMBOL_COUNT])
{
    const char *reason = NULL;
    bool is_valid = ss_huffman_valid(lengths, &reason);
    assert_true(is_valid || (reason != NULL && *reason != '\0'));
    return is_valid;
}

static void test_bad_lengths_are_refused(void **state)
{
    static const struct {
        bool is_valid;
        uint8_t lengths[SS_SYMBOL_COUNT];
    } cases[] = {
        {true, {0}},
        {true, {[7] = 1}},
        {true, {1, 1}},
        {true, {[3] = 1, [20] = 2, [32] = 2}},
        {true, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11}},
        {false, {[7] = 2}}, /* one symbol, but not of length 1 */
        {false, {[7] = 11}},
        {false, {1, 2}}, /* a code is left over */
        {false, {2, 2, 2}},
        {false, {11, 11}},
        {false, {1, 1, 1}}, /* too many codes */
        {false, {1, 1, 11}},
        {false, {1, 2, 2, 2}},
        {false, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12}}, /* complete, but too long */
        {false, {1, 12}},
        {false, {1, 255}},
        {false, {[0] = 255}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        testing_doing("lengths %zu", i);
        assert_int_equal(valid(cases[i].lengths), cases[i].is_valid);
    }
    uint8_t all_one[SS_SYMBOL_COUNT], all_five[SS_SYMBOL_COUNT];
    memset(all_one, 1, sizeof all_one);
    memset(all_five, 5, sizeof all_five);
    assert_false(valid(all_one));
    assert_false(valid(all_five)); /* one too many */
    all_five[32] = all_five[0] = 6;
    assert_true(valid(all_five));
    testing_done();
}

/* A valid code with any one length changed is none, unless nothing but the least of codes is left. */
static void test_changed_lengths_are_refused(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    for (uint32_t i = 0; i < 200; i++) {
        uint64_t counts[SS_SYMBOL_COUNT];
        uint8_t lengths[SS_SYMBOL_COUNT];
        make_counts(&random, (counts_kind)(i % COUNTS_KINDS), 3 + i % 30, counts);
        ss_huffman_lengths(counts, lengths);
        if (used_symbols(counts) < 3)
            continue;
        uint8_t *changed = &lengths[rng_below(&random, SS_SYMBOL_COUNT)];
        const uint8_t before = *changed;
        for (uint32_t length = 0; length <= UINT8_MAX; length++) {
            *changed = (uint8_t)length;
            assert_int_equal(valid(lengths), length == before);
        }
    }
}

/* ----- the code table ----- */

/* A code as the format describes it, read bit by bit: codes ascend by (length, h), most significant bit first. */
typedef struct reference_code {
    uint32_t codes[SS_SYMBOL_COUNT];
    const uint8_t *lengths;
} reference_code;

static void reference_init(reference_code *code, const uint8_t lengths[SS_SYMBOL_COUNT])
{
    uint32_t next = 0, length_before = 0;
    code->lengths = lengths;
    for (uint32_t length = 1; length <= SS_MAX_CODE_BITS; length++)
        for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++) {
            if (lengths[h] != length)
                continue;
            next <<= length - length_before; /* 0 stays 0: the first code is all zeros */
            length_before = length;
            code->codes[h] = next++;
        }
}

/* The symbol at the begin of `count` bits, the lowest first; SS_SYMBOL_COUNT if they have no complete code. */
static uint32_t reference_decode(const reference_code *code, uint32_t bits, uint32_t count)
{
    uint32_t seen = 0;
    for (uint32_t length = 1; length <= count; length++, bits >>= 1) {
        seen = seen << 1 | (bits & 1);
        for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
            if (code->lengths[h] == length && code->codes[h] == seen)
                return h;
    }
    return SS_SYMBOL_COUNT;
}

static void check_entry(const reference_code *slow, ss_lookup entry, uint32_t bits)
{
    uint32_t used = 0, symbols = 0, all = 0;
    for (; symbols < SS_LOOKUP_SYMBOLS; symbols++) {
        uint32_t h = reference_decode(slow, bits >> used, SS_MAX_CODE_BITS - used);
        if (h == SS_SYMBOL_COUNT)
            break;
        all |= (32 - h) << (8 * symbols);
        used += slow->lengths[h];
    }
    assert_int_equal(ss_lookup_spans(entry), all);
    assert_int_equal(ss_lookup_symbols(entry), symbols);
    assert_int_equal(ss_lookup_code_bits(entry), used);
    assert_int_equal(entry == 0, symbols == 0);
}

static void check_code(const uint8_t lengths[SS_SYMBOL_COUNT])
{
    static ss_code code;
    reference_code slow;
    memset(&code, 0xa5, sizeof code);
    ss_code_init(&code, lengths);
    reference_init(&slow, lengths);
    assert_memory_equal(code.lengths, lengths, SS_SYMBOL_COUNT);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        if (lengths[h] != 0)
            assert_int_equal(reference_decode(&slow, code.codes[h], lengths[h]), h);
    for (uint32_t bits = 0; bits < LOOKUP_SIZE; bits++)
        check_entry(&slow, code.lookup[bits], bits);
}

static void test_lookups_equal_decoding_bit_by_bit(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    for (uint32_t i = 0; i < 30; i++) {
        uint64_t counts[SS_SYMBOL_COUNT];
        uint8_t lengths[SS_SYMBOL_COUNT];
        const uint32_t symbols = i < 4 ? i : (uint32_t)rng_between(&random, 2, SS_SYMBOL_COUNT);
        testing_doing("code %u of %u symbols", i, symbols);
        make_counts(&random, i < 4 ? COUNTS_EQUAL : (counts_kind)(i % COUNTS_KINDS), symbols, counts);
        ss_huffman_lengths(counts, lengths);
        check_code(lengths);
    }
    testing_done();
}

/* h = 0 1 2 3 with lengths 1 2 3 3 are 0, 10, 110 and 111, read from the lowest bit on. */
static void test_codes_are_canonical(void **state)
{
    static ss_code code;
    const uint8_t lengths[SS_SYMBOL_COUNT] = {1, 2, 3, 3};
    ss_code_init(&code, lengths);
    const uint16_t expected[] = {0, 1, 3, 7};
    assert_memory_equal(code.codes, expected, sizeof expected);
    const ss_lookup entry = code.lookup[0x17d]; /* ..01 0111 1101: 10, 111, 110, then 10 */
    assert_int_equal(ss_lookup_symbols(entry), 4);
    assert_int_equal(ss_lookup_spans(entry), 0x1f1e1d1f); /* of 1, 3, 2, 1, the first one lowest */
    assert_int_equal(ss_lookup_code_bits(entry), 2 + 3 + 3 + 2);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_lengths_are_optimal, testing_teardown),
        cmocka_unit_test(test_limit_does_not_bite),
        cmocka_unit_test(test_ties_are_settled),
        cmocka_unit_test(test_fibonacci_stays_within_limit),
        cmocka_unit_test(test_fewest_symbols),
        cmocka_unit_test_teardown(test_bad_lengths_are_refused, testing_teardown),
        cmocka_unit_test(test_changed_lengths_are_refused),
        cmocka_unit_test_teardown(test_lookups_equal_decoding_bit_by_bit, testing_teardown),
        cmocka_unit_test(test_codes_are_canonical),
        cmocka_unit_test(test_symbols_of_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
