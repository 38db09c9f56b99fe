/* The kernels: each form that this processor has must give the results of a slow loop, on any input. */
#include "codec/kernels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/simd.h"
#include "codec/block.h"
#include "support/block_table.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/reference_block.h"
#include "support/testing.h"

#define MAX_FORMS 3u
#define GROUP_BYTES (SS_GROUP_SIZE * SS_LOWER_BYTES)
#define MAX_GROUPS 8u

/* The forms that this processor has. main() lists them. */
static const ss_kernels *forms[MAX_FORMS];
static const ss_join_kernels *join_forms[MAX_FORMS];
static uint32_t form_count;

/* Bit by bit, independent of the kernels. */
static uint32_t count_ones(uint64_t x)
{
    uint32_t ones = 0;
    for (; x != 0; x >>= 1)
        ones += (uint32_t)(x & 1);
    return ones;
}

/* ----- finding lower halves in a column ----- */

/* The near halves of a group, as a bit mask. */
static uint64_t find_slowly(const uint8_t *block, uint32_t group, uint32_t lower, uint32_t distance)
{
    uint64_t near = 0;
    for (uint32_t i = 0; i < SS_GROUP_SIZE; i++) {
        const uint32_t other = ss_load_le32(block + group * GROUP_BYTES + 4 * (size_t)i);
        near |= (uint64_t)(count_ones(lower ^ other) <= distance) << i;
    }
    return near;
}

static void check_find(const uint8_t *block, uint32_t group, uint32_t end, uint32_t lower, uint32_t distance)
{
    uint32_t wanted = group;
    while (wanted < end && find_slowly(block, wanted, lower, distance) == 0)
        wanted++;
    for (uint32_t i = 0; i < form_count; i++) {
        uint64_t near = 0;
        testing_doing("form %u, groups %u to %u, lower half %08" PRIx32 ", distance %u", i, group, end, lower,
                      distance);
        assert_int_equal(forms[i]->find_near(block, group, end, lower, distance, &near), wanted);
        if (wanted < end)
            assert_int_equal(near, find_slowly(block, wanted, lower, distance));
    }
}

/* Each distance that a query may have, at random halves: for most of them some are near and others are not. */
static void test_column_at_each_distance(void **state)
{
    rng random = rng_seeded(run_seed);
    guarded memory = guard_make(MAX_GROUPS * GROUP_BYTES);
    for (uint32_t trial = 0; trial < 40; trial++) {
        rng_fill(&random, memory.high, memory.size);
        for (uint32_t distance = 0; distance <= 64; distance++) {
            const uint32_t group = (uint32_t)rng_below(&random, MAX_GROUPS);
            check_find(memory.high, group, (uint32_t)rng_between(&random, group, MAX_GROUPS),
                       (uint32_t)rng_next(&random), distance);
            check_find(memory.high, 0, MAX_GROUPS, (uint32_t)rng_next(&random), distance);
        }
    }
    guard_free(&memory);
    testing_done();
}

/* One half among others that are far, at each place of each group: it differs in just the distance, or a bit more. */
static void test_one_near_half_at_each_place(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    guarded memory = guard_make(3 * GROUP_BYTES);
    uint8_t *block = memory.high;
    for (uint32_t place = 0; place < 3 * SS_GROUP_SIZE; place++) {
        for (uint32_t distance = 0; distance <= 12; distance++) {
            const uint32_t lower = (uint32_t)rng_next(&random), group = place / SS_GROUP_SIZE;
            for (uint32_t i = 0; i < 3 * SS_GROUP_SIZE; i++)
                ss_store_le32(block + 4 * (size_t)i, ~lower ^ 1u << rng_below(&random, 32));
            for (uint32_t more = 0; more < 2; more++) {
                uint32_t mask = 0;
                while ((uint32_t)__builtin_popcount(mask) < distance + more)
                    mask |= 1u << rng_below(&random, 32);
                ss_store_le32(block + 4 * (size_t)place, lower ^ mask);
                check_find(block, 0, 3, lower, distance);
                check_find(block, group, group + 1, lower, distance);
                check_find(block, group, group, lower, distance);
                check_find(block, group + 1, 3, lower, distance); /* not in the groups that are left out */
            }
        }
    }
    guard_free(&memory);
    testing_done();
}

/* The last group of a block, of which some halves are no fingerprints: nothing is read after the block, and a search
 * does not report them. */
static void test_last_group_of_a_block(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    for (uint32_t trial = 0; trial < 400; trial++) {
        const uint32_t block_bytes = 256u << trial % 4;
        guarded memory = guard_make(block_bytes);
        uint8_t bytes[2048];
        block_table all;
        ss_block block;
        const char *reason;
        block_table_make(&all, &random, (data_kind)(trial % DATA_KIND_COUNT), 600);
        all.count = all.count < 1 + trial % 200 ? all.count : 1 + trial % 200;
        block_table_encode(&all, 0, block_bytes, bytes);
        const uint8_t *placed = guard_before_end(&memory, bytes);
        assert_true(ss_block_open(&block, placed, block_bytes, &all.code, &reason));
        const uint32_t last = block.group_count - 1, size = ss_block_group_size(&block, last);
        for (uint32_t i = 0; i < 64; i++) { /* each position, a fingerprint or not */
            const uint32_t lower = ss_load_le32(placed + last * GROUP_BYTES + 4 * (size_t)i);
            check_find(placed, 0, block.group_count, lower, 0);
            for (uint32_t way = 0; way < BLOCK_WAYS; way++) {
                ss_near near = {.query = lower, .distance = 64, .lower_distance = 0, .group = last, .end = last + 1};
                assert_true(ss_block_find_near(block_in_way(&block, way), &near));
                assert_true(near.group == last || i >= size);
                for (uint32_t j = 0; near.group == last && j < 64; j++)
                    assert_int_equal(near.mask >> j & 1, j < size && ss_block_lower(&block, last * 64 + j) == lower);
            }
        }
        guard_free(&memory);
        block_table_free(&all);
    }
    testing_done();
}

/* ----- decoding ----- */

/* Decode a group by each form: all must accept it, or none, with the same values. Returns whether they accept it. */
static bool check_decode(const ss_code *code, const ss_coded_group *group, const uint64_t *wanted)
{
    uint64_t *first = malloc(group->count * sizeof *first), *other = malloc(group->count * sizeof *other);
    const bool is_passed = forms[0]->decode(code->lookup, group, NULL, first);
    for (uint32_t i = 1; i < form_count; i++) {
        assert_int_equal(forms[i]->decode(code->lookup, group, NULL, other), is_passed);
        if (is_passed)
            assert_memory_equal(first, other, group->count * sizeof *first);
    }
    if (wanted != NULL) {
        assert_true(is_passed);
        assert_memory_equal(first, wanted, group->count * sizeof *first);
    }
    for (uint32_t i = 1; is_passed && i < group->count; i++)
        assert_true(first[i] > first[i - 1]);
    free(first);
    free(other);
    return is_passed;
}

/* Decoding a whole group and another one together must equal decoding each alone. */
static void check_decode_two(const ss_code *code, const ss_coded_group *group, const ss_coded_group *next)
{
    const size_t count = SS_GROUP_SIZE + next->count;
    uint64_t *one_by_one = malloc(count * sizeof *one_by_one), *together = malloc(count * sizeof *together);
    assert_int_equal(group->count, SS_GROUP_SIZE);
    const bool is_passed = forms[0]->decode(code->lookup, group, NULL, one_by_one) &&
                           forms[0]->decode(code->lookup, next, NULL, one_by_one + SS_GROUP_SIZE);
    for (uint32_t i = 0; i < form_count; i++) {
        assert_int_equal(forms[i]->decode(code->lookup, group, next, together), is_passed);
        if (is_passed)
            assert_memory_equal(one_by_one, together, count * sizeof *together);
    }
    free(one_by_one);
    free(together);
}

static void make_code(rng *random, ss_code *code)
{
    uint64_t counts[SS_SYMBOL_COUNT];
    uint8_t lengths[SS_SYMBOL_COUNT];
    const uint32_t rare = (uint32_t)rng_between(random, 1, 12);
    for (uint32_t h = 0; h < SS_SYMBOL_COUNT; h++)
        counts[h] = rng_one_in(random, rare) ? rng_below(random, UINT64_C(1) << rng_below(random, 20)) : 0;
    counts[32] = rng_one_in(random, 2) ? 1 << 20 : counts[32];
    ss_huffman_lengths(counts, lengths);
    ss_code_init(code, lengths);
}

/* Groups of valid blocks, and of these with flipped bits, between forbidden pages. */
static void test_decoding_of_sound_and_flipped_groups(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    uint32_t passed = 0, refused = 0;
    for (uint32_t trial = 0; trial < 400; trial++) {
        const uint32_t block_bytes = 256u << trial % 5;
        guarded memory = guard_make(block_bytes);
        uint8_t bytes[4096];
        block_table all;
        reference_code slow;
        block_table_make(&all, &random, (data_kind)(trial % DATA_KIND_COUNT), 1000);
        const uint32_t count = block_table_encode(&all, 0, block_bytes, bytes);
        reference_code_init(&slow, all.code.lengths);
        uint8_t *placed = trial % 2 == 0 ? memory.high : memory.low;
        memcpy(placed, bytes, block_bytes);
        ss_coded_group before = {.count = 0};
        for (uint32_t number = 0; number < reference_block_groups(bytes, block_bytes); number++) {
            const uint32_t first = number * SS_GROUP_SIZE, left = count - first;
            const uint32_t low_bits = number == 0 ? 0 : reference_block_key_shift(bytes, block_bytes);
            ss_coded_group group = {.block = placed,
                                    .first = first,
                                    .count = left < SS_GROUP_SIZE ? left : SS_GROUP_SIZE,
                                    .upper = ss_upper(all.values[first]),
                                    .code_bit = 8 * reference_begin(bytes, block_bytes, number),
                                    .suffix_bit = 8 * reference_begin(bytes, block_bytes, number + 1) - low_bits};
            testing_doing("trial %u, group %u", trial, number);
            check_decode(&all.code, &group, all.values + first);
            if (number > 0)
                check_decode_two(&all.code, &before, &group);
            for (uint32_t flip = 0; flip < 20; flip++) {
                const uint32_t bit = flip % 2 == 0 && group.suffix_bit > group.code_bit
                                         ? (uint32_t)rng_between(&random, group.code_bit, group.suffix_bit - 1)
                                         : (uint32_t)rng_below(&random, 8 * (block_bytes - SS_BLOCK_TRAILER_BYTES));
                placed[bit / 8] ^= (uint8_t)(1u << bit % 8);
                const bool is_passed = check_decode(&all.code, &group, NULL);
                if (number > 0)
                    check_decode_two(&all.code, &before, &group);
                passed += is_passed;
                refused += !is_passed;
                placed[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            before = group;
        }
        guard_free(&memory);
        block_table_free(&all);
    }
    assert_true(passed > 1000 && refused > 1000);
    testing_done();
}

/* Any bits, at bounds as bad as a block can have them. */
static void test_decoding_of_any_bits(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    static ss_code code;
    uint32_t passed = 0, refused = 0;
    for (uint32_t trial = 0; trial < 20000; trial++) {
        const uint32_t block_bytes = 256u << trial % 3, head = block_bytes - 16;
        static guarded memories[3];
        guarded *memory = &memories[trial % 3];
        if (memory->map == NULL)
            *memory = guard_make(block_bytes);
        if (trial % 20 == 0)
            make_code(&random, &code);
        uint8_t *block = trial % 2 == 0 ? memory->high : memory->low;
        const uint32_t count = (uint32_t)rng_between(&random, 1, head / 4);
        const uint32_t number = (uint32_t)rng_below(&random, (count + 63) / 64);
        const uint32_t left = count - number * SS_GROUP_SIZE, column = 4 * count;
        const uint32_t begin = (uint32_t)rng_between(&random, column, head),
                       end = (uint32_t)rng_between(&random, begin, head);
        const uint32_t low_bits = number == 0 || begin + 2 > end ? 0 : (uint32_t)rng_below(&random, 17);
        ss_coded_group group = {.block = block,
                                .first = number * SS_GROUP_SIZE,
                                .count = (uint32_t)rng_between(&random, 1, left < SS_GROUP_SIZE ? left : SS_GROUP_SIZE),
                                .upper = (uint32_t)rng_next(&random) >> rng_below(&random, 32),
                                .code_bit = 8 * begin,
                                .suffix_bit = 8 * end - low_bits};
        if (rng_one_in(&random, 4))
            memset(block, rng_one_in(&random, 2) ? 0xff : 0, block_bytes);
        else
            rng_fill(&random, block, block_bytes);
        if (rng_one_in(&random, 2))
            for (uint32_t i = 0; i < count; i++)
                ss_store_le32(block + 4 * (size_t)i, i);
        testing_doing("trial %u: %u fingerprints from bits %u to %u", trial, group.count, group.code_bit,
                      group.suffix_bit);
        const bool is_passed = check_decode(&code, &group, NULL);
        if (group.count == SS_GROUP_SIZE)
            check_decode_two(&code, &group, &group);
        passed += is_passed;
        refused += !is_passed;
    }
    testing_figure("groups of any bits: %u passed, %u refused", passed, refused);
    assert_true(passed > 500 && refused > 500);
    testing_done();
}

/* ----- finding values ----- */

#define MAX_VALUES 300u

static void check_values(const ss_kernels *kernels, const uint64_t *values, uint32_t count, uint64_t query,
                         uint32_t distance)
{
    uint32_t hits[MAX_VALUES], next = 0;
    const uint32_t found = kernels->near_values(values, count, query, distance, hits);
    for (uint32_t i = 0; i < count; i++) {
        if (count_ones(values[i] ^ query) > distance)
            continue;
        assert_true(next < found);
        assert_int_equal(hits[next++], i);
    }
    assert_int_equal(next, found);
}

static void test_search_of_values(void **state)
{
    rng random = rng_seeded(run_seed + 5);
    uint64_t values[MAX_VALUES];
    for (uint32_t round = 0; round < 3000; round++) {
        const uint32_t count = (uint32_t)rng_below(&random, MAX_VALUES + 1);
        const uint32_t distance = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 5 : 65);
        const uint64_t query = rng_next(&random);
        for (uint32_t i = 0; i < count; i++)
            values[i] = rng_flip(&random, query, (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 8 : 65));
        for (uint32_t i = 0; i < form_count; i++) {
            testing_doing("form %u, %u values, distance %u", i, count, distance);
            check_values(forms[i], values, count, query, distance);
        }
    }
    testing_done();
}

static void check_rows(const ss_kernels *kernels, const uint64_t *rows, uint32_t count, uint32_t words,
                       const uint64_t *query, uint32_t distance)
{
    uint32_t hits[MAX_VALUES], next = 0;
    const uint32_t found = kernels->near_rows(rows, count, words, query, distance, hits);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ones = 0;
        for (uint32_t word = 0; word < words; word++)
            ones += count_ones(rows[(size_t)i * words + word] ^ query[word]);
        if (ones > distance)
            continue;
        assert_true(next < found);
        assert_int_equal(hits[next++], i);
    }
    assert_int_equal(next, found);
}

static void test_search_of_rows(void **state)
{
    rng random = rng_seeded(run_seed + 9);
    uint64_t *rows = malloc((size_t)MAX_VALUES * SSTORE_MAX_WORDS * sizeof *rows), query[SSTORE_MAX_WORDS];
    for (uint32_t round = 0; round < 1000; round++) {
        const uint32_t count = (uint32_t)rng_below(&random, MAX_VALUES + 1);
        const uint32_t words = (uint32_t)rng_between(&random, 1, SSTORE_MAX_WORDS);
        const uint32_t distance = (uint32_t)rng_below(&random, (rng_one_in(&random, 2) ? 8 : 64) * words + 1);
        const uint32_t flips = (uint32_t)rng_between(&random, 0, rng_one_in(&random, 2) ? 16 : 64);
        for (uint32_t word = 0; word < words; word++)
            query[word] = rng_next(&random);
        for (uint32_t i = 0; i < count * words; i++)
            rows[i] = rng_flip(&random, query[i % words], (uint32_t)rng_below(&random, flips + 1));
        for (uint32_t i = 0; i < form_count; i++) {
            testing_doing("form %u, %u rows of %u words, distance %u", i, count, words, distance);
            check_rows(forms[i], rows, count, words, query, distance);
        }
    }
    free(rows);
    testing_done();
}

/* ----- finding pairs ----- */

#define MAX_PAIR_VALUES 200u

static void check_within(const ss_join_kernels *kernels, const uint64_t *values, const ss_folded *folded,
                         uint32_t begin, uint32_t end, uint32_t distance)
{
    uint32_t hits[MAX_PAIR_VALUES], next = 0;
    const uint32_t found = kernels->pairs_within(folded, begin, end, distance, hits);
    for (uint32_t shift = 1; begin + shift < end; shift++) {
        uint32_t lanes = 0;
        for (uint32_t i = 0; i < SS_PAIR_LANES && begin + i + shift < end; i++)
            lanes |= (uint32_t)(sstore_hamming_distance(&values[begin + i], &values[begin + i + shift], 64) <= distance)
                     << i;
        if (lanes == 0)
            continue;
        assert_true(next < found);
        assert_int_equal(hits[next++], shift << SS_PAIR_LANES | lanes);
    }
    assert_int_equal(next, found);
}

static void check_between(const ss_join_kernels *kernels, const uint64_t *values, const ss_folded *folded,
                          uint32_t value_count, const uint64_t *others, const ss_folded *folded_others, uint32_t count,
                          uint32_t distance)
{
    uint32_t hits[MAX_PAIR_VALUES + SS_PAIR_LANES], next = 0;
    const uint32_t found = kernels->pairs_between(folded, value_count, folded_others, count, distance, hits);
    for (uint32_t begin = 0; begin < count; begin += SS_PAIR_LANES) {
        for (uint32_t i = 0; i < value_count; i++) {
            uint32_t lanes = 0;
            for (uint32_t j = 0; j < SS_PAIR_LANES && begin + j < count; j++)
                lanes |= (uint32_t)(sstore_hamming_distance(&values[i], &others[begin + j], 64) <= distance) << j;
            if (lanes == 0)
                continue;
            assert_true(next < found);
            assert_int_equal(hits[next++], (begin + i) << SS_PAIR_LANES | lanes);
        }
    }
    assert_int_equal(next, found);
}

/* Exactly as many folded values as may be read, so that reads beyond them are detected. */
static ss_folded fold_all(const uint64_t *values, uint32_t count)
{
    ss_folded folded = {.folds = calloc(count, sizeof *folded.folds), .uppers = calloc(count, sizeof *folded.uppers)};
    assert_true(folded.folds != NULL && folded.uppers != NULL);
    ss_fold_values(values, count, &folded);
    return folded;
}

static void free_folded(ss_folded *folded)
{
    free(folded->folds);
    free(folded->uppers);
}

static void test_search_of_pairs(void **state)
{
    rng random = rng_seeded(run_seed + 6);
    for (uint32_t round = 0; round < 2000; round++) {
        const uint32_t count = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 20 : MAX_PAIR_VALUES + 1);
        const uint32_t distance = (uint32_t)rng_below(&random, rng_one_in(&random, 2) ? 10 : 65);
        const uint32_t max_flips = rng_one_in(&random, 2) ? 12 : 64;
        const uint64_t base = rng_next(&random);
        uint64_t values[MAX_PAIR_VALUES + SS_PAIR_PADDING];
        for (uint32_t i = 0; i < count + SS_PAIR_PADDING; i++) /* also behind the last one */
            values[i] = rng_flip(&random, base,
                                 (uint32_t)rng_below(&random, rng_one_in(&random, 8) ? 4 : max_flips + 1));
        const uint32_t rows = (uint32_t)rng_below(&random, count < SS_PAIR_LANES ? count + 1 : SS_PAIR_LANES + 1);
        ss_folded folded = fold_all(values, count + SS_PAIR_PADDING);
        ss_folded others = fold_all(values + rows, count - rows + SS_PAIR_PADDING);
        for (uint32_t i = 0; i < form_count; i++) {
            testing_doing("form %u, %u values, distance %u, %u against the others", i, count, distance, rows);
            for (uint32_t begin = 0; begin < count; begin += SS_PAIR_LANES)
                check_within(join_forms[i], values, &folded, begin, count, distance);
            if (rows > 0)
                check_between(join_forms[i], values, &folded, rows, values + rows, &others, count - rows, distance);
        }
        free_folded(&others);
        free_folded(&folded);
    }
    testing_done();
}

static void test_folds_are_no_farther_apart(void **state)
{
    rng random = rng_seeded(run_seed + 7);
    for (uint32_t round = 0; round < 2000; round++) {
        const uint64_t a = rng_next(&random), values[] = {a, rng_flip(&random, a, (uint32_t)rng_below(&random, 65))};
        uint32_t folds[2], uppers[2];
        ss_fold_values(values, 2, &(ss_folded){.folds = folds, .uppers = uppers});
        const uint32_t of_folds = (uint32_t)__builtin_popcount(folds[0] ^ folds[1]);
        assert_true(of_folds <= sstore_hamming_distance(&values[0], &values[1], 64));
        assert_int_equal(of_folds % 2,
                         sstore_hamming_distance(&values[0], &values[1], 64) % 2); /* bits cancel each other in pairs */
    }
}

/* ----- gathering bits ----- */

#define GATHERED_VALUES 20u

static uint16_t gather_slowly(uint64_t value, uint64_t mask)
{
    uint64_t bits = 0;
    for (uint32_t i = 64; i-- > 0;)
        if (mask >> i & 1)
            bits = bits << 1 | (value >> i & 1);
    return (uint16_t)bits;
}

static void test_gathering_of_bits(void **state)
{
    rng random = rng_seeded(run_seed + 8);
    for (uint32_t round = 0; round < 3000; round++) {
        const uint32_t bits = (uint32_t)rng_below(&random, SS_MAX_GATHERED + 1);
        uint64_t values[GATHERED_VALUES], mask = rng_flip(&random, 0, bits);
        uint16_t gathered[GATHERED_VALUES];
        if (rng_one_in(&random, 2)) /* neighbours */
            mask = (((uint64_t)1 << bits) - 1) << rng_below(&random, 64 - bits + 1) % 64;
        rng_fill(&random, values, sizeof values);
        testing_doing("mask %016" PRIx64, mask);
        for (uint32_t i = 0; i < form_count; i++) {
            join_forms[i]->gather_bits(values, GATHERED_VALUES, mask, gathered);
            for (uint32_t j = 0; j < GATHERED_VALUES; j++)
                assert_int_equal(gathered[j], gather_slowly(values[j], mask));
        }
    }
    testing_done();
}

/* ----- which form is chosen ----- */

static void test_form_follows_the_simd_limit(void **state)
{
    for (int level = SS_SIMD_NONE; level <= SS_SIMD_AVX512; level++) {
        ss_simd_limit((ss_simd_level)level);
        for (int form = SS_SIMD_NONE; form <= SS_SIMD_AVX512; form++)
            assert_int_equal(ss_kernels_of((ss_simd_level)form) != NULL, form <= (int)ss_simd_best());
        assert_true(ss_kernels_best() == ss_kernels_of(ss_simd_best()));
    }
    ss_simd_limit(SS_SIMD_AVX512);
}

int main(void)
{
    rng_start_run();
    for (int level = SS_SIMD_NONE; level <= (int)ss_simd_best(); level++)
        forms[form_count++] = ss_kernels_of((ss_simd_level)level);
    for (uint32_t i = 0; i < form_count; i++)
        join_forms[i] = ss_join_kernels_of((ss_simd_level)i);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_column_at_each_distance, testing_teardown),
        cmocka_unit_test_teardown(test_one_near_half_at_each_place, testing_teardown),
        cmocka_unit_test_teardown(test_last_group_of_a_block, testing_teardown),
        cmocka_unit_test_teardown(test_decoding_of_sound_and_flipped_groups, testing_teardown),
        cmocka_unit_test_teardown(test_decoding_of_any_bits, testing_teardown),
        cmocka_unit_test_teardown(test_search_of_values, testing_teardown),
        cmocka_unit_test_teardown(test_search_of_rows, testing_teardown),
        cmocka_unit_test_teardown(test_search_of_pairs, testing_teardown),
        cmocka_unit_test(test_folds_are_no_farther_apart),
        cmocka_unit_test_teardown(test_gathering_of_bits, testing_teardown),
        cmocka_unit_test(test_form_follows_the_simd_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
