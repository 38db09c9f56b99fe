/* Signs that rows mean something else: each is seen where it is meant, and none in right fingerprints, whether they are
 * random, near copies of few, sorted or numbered, with leading zeros written or not. */
#include "input/input_doubt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "support/testing.h"

#define MAX_ROWS 2000u
#define MAX_BATCH 97u

typedef struct rows {
    doubt_rows how; /* but for the arrays */
    uint64_t fingerprints[MAX_ROWS * SSTORE_MAX_WORDS], ids[MAX_ROWS];
    bool are_short[MAX_ROWS];
    uint32_t missing_unit; /* the bits of what is left out in front: of a digit or a byte */
    size_t count;
} rows;

static void note_batch(input_doubt *doubt, const rows *all, size_t from, size_t count)
{
    doubt_rows batch = all->how;
    batch.fingerprints = all->fingerprints + batch.words * from;
    batch.ids = all->how.ids != NULL ? all->ids + from : NULL;
    batch.count = count;
    batch.shorts = (line_shorts){.count = 0};
    for (size_t i = from; i < from + count; i++) {
        if (!all->are_short[i])
            continue;
        const uint32_t zeros = (uint32_t)__builtin_clzll(batch.fingerprints[batch.words * (i - from)] | 1);
        line_shorts_note(&batch.shorts, zeros / all->missing_unit * all->missing_unit, i + 1);
    }
    input_doubt_note(doubt, &batch);
}

/* What is found in the rows, in batches of any size; NULL: nothing. */
static const char *find(rng *random, const rows *all)
{
    static input_doubt doubt;
    doubt = (input_doubt){.strict = false};
    input_doubt_begin(&doubt, "input");
    for (size_t from = 0, count; from < all->count; from += count) {
        count = rng_between(random, 1, MAX_BATCH);
        count = count < all->count - from ? count : all->count - from;
        note_batch(&doubt, all, from, count);
    }
    return input_doubt_end(&doubt);
}

/* ----- right fingerprints ----- */

static int compare_words(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* A simhash of three random features, whose bits are those of two of them; or any bits. */
static uint64_t make_word(rng *random, uint32_t share)
{
    uint64_t a = rng_next(random), b = rng_next(random), c = rng_next(random);
    if (share == 0)
        return rng_one_in(random, 3) ? a : (a & b) | (b & c) | (a & c);
    for (a = share % 2 == 0 ? UINT64_MAX : 0, b = 0; b < 64; b++) /* sparse or dense ones */
        a ^= (uint64_t)rng_one_in(random, 2 * share) << b;
    return a;
}

static bool is_zero(const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (words[i] != 0)
            return false;
    return true;
}

static void make_right(rng *random, rows *out)
{
    static const radix_form radixes[] = {RADIX_HEX, RADIX_HEX, RADIX_HEX, RADIX_DEC, RADIX_SIGNED, RADIX_BASE64};
    const uint32_t words = rng_one_in(random, 2) ? 1 : (uint32_t)rng_between(random, 1, SSTORE_MAX_WORDS);
    const size_t centres = rng_one_in(random, 2) ? MAX_ROWS : rng_between(random, 1, 20);
    const bool is_sorted = words == 1 && rng_one_in(random, 3), has_ids = rng_one_in(random, 2);
    const bool pads = rng_one_in(random, 2), has_wide_ids = rng_one_in(random, 2);
    const uint32_t share = rng_one_in(random, 2) ? 0 : (uint32_t)rng_between(random, 1, 20);
    const uint64_t zeros = rng_one_in(random, 4) ? 2 : 50;
    uint64_t id = rng_below(random, 1000);
    out->how = (doubt_rows){.words = words,
                            .ids = has_ids ? out->ids : NULL,
                            .is_text = !rng_one_in(random, 4),
                            .radix = radixes[rng_below(random, sizeof radixes / sizeof *radixes)]};
    out->count = rng_one_in(random, 10) ? rng_between(random, 1, MAX_ROWS) : rng_between(random, 1, 40);
    for (size_t i = 0; i < out->count; i++) {
        uint64_t *now = out->fingerprints + words * i;
        const size_t from = i < centres ? i : rng_below(random, centres);
        for (uint32_t j = 0; j < words; j++) {
            const uint64_t centre = out->fingerprints[words * from + j];
            now[j] = i < centres   ? make_word(random, share)
                     : centre == 0 ? 0
                                   : rng_flip(random, centre, (uint32_t)rng_below(random, 4));
        }
        if (rng_one_in(random, zeros))
            memset(now, 0, words * sizeof *now); /* of an empty document */
        out->ids[i] = has_wide_ids ? rng_next(random) : (id += rng_between(random, 1, 3));
    }
    if (is_sorted)
        qsort(out->fingerprints, out->count, sizeof *out->fingerprints, compare_words);
    out->missing_unit = 4;
    for (size_t i = 0; i < out->count; i++) {
        const uint64_t first = out->fingerprints[words * i];
        out->are_short[i] = !pads && out->how.is_text && out->how.radix == RADIX_HEX && first >> 60 == 0 &&
                            !is_zero(out->fingerprints + words * i, words);
    }
}

static void test_right_rows(void **state)
{
    static rows all;
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? 3000 : 30000);
    rng random = rng_seeded(41);
    uint64_t doubts = 0;
    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        make_right(&random, &all);
        const char *found = find(&random, &all);
        doubts += found != NULL;
        if (found != NULL)
            print_message("case %" PRIu64 ": %s\n", i, found);
    }
    testing_figure("right inputs %" PRIu64 ", of which doubted %" PRIu64, cases, doubts);
    assert_true(doubts <= 2 + cases / 20000);
    testing_done();
}

/* Programs that leave out bytes 0 in front, but not the digit 0 of others: random rows of so many. */
static void make_without_zero_bytes(rng *random, rows *out)
{
    *out = (rows){.how = {.words = rng_one_in(random, 2) ? 1 : (uint32_t)rng_between(random, 2, SSTORE_MAX_WORDS),
                          .is_text = true,
                          .radix = RADIX_HEX},
                  .missing_unit = 8,
                  .count = MAX_ROWS};
    for (size_t i = 0; i < out->how.words * out->count; i++)
        out->fingerprints[i] = rng_next(random);
    for (size_t i = 0; i < out->count; i++)
        out->are_short[i] = out->fingerprints[out->how.words * i] >> 56 == 0;
}

static void test_left_out_bytes(void **state)
{
    static rows all;
    const uint64_t cases = 1000;
    rng random = rng_seeded(44);
    uint64_t doubts = 0, cut_doubts = 0;
    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        make_without_zero_bytes(&random, &all);
        doubts += find(&random, &all) != NULL;
        memset(all.are_short, 0, sizeof all.are_short); /* these zeros are written, but one row is cut short */
        const size_t at = rng_below(&random, all.count);
        all.fingerprints[all.how.words * at] = (rng_next(&random) | UINT64_C(1) << 63) >> 8;
        all.are_short[at] = true;
        cut_doubts += find(&random, &all) != NULL;
    }
    testing_figure("inputs of 2,000 rows without bytes 0 in front %" PRIu64 ", of which doubted %" PRIu64
                   "; with a row that lacks two digits %" PRIu64 ", of which doubted %" PRIu64,
                   cases, doubts, cases, cut_doubts);
    assert_true(doubts <= cases / 50); /* about 0.1 % */
    assert_true(cut_doubts >= cases - cases / 50);
    testing_done();
}

/* ----- signs ----- */

typedef void (*wrong_fn)(rng *random, rows *out);

static uint64_t in_hex(uint64_t number) /* the decimal digits, read as hex */
{
    uint64_t value = 0;
    for (int shift = 0; number > 0; shift += 4, number /= 10)
        value |= number % 10 << shift;
    return value;
}

static void make_bits(rng *random, rows *out)
{
    out->how.words = (uint32_t)rng_between(random, 2, SSTORE_MAX_WORDS);
    for (size_t i = 0; i < out->how.words * out->count; i++)
        out->fingerprints[i] = rng_next(random) & UINT64_C(0x0101010101010101);
}

/* A wrong row among them. */
static void make_most_bits(rng *random, rows *out)
{
    make_bits(random, out);
    uint64_t *row = out->fingerprints + out->how.words * rng_below(random, out->count);
    for (size_t i = 0; i < out->how.words; i++)
        row[i] *= 255;
}

static void make_bytes(rng *random, rows *out, const char *alphabet)
{
    const size_t size = strlen(alphabet);
    out->how.words = (uint32_t)rng_between(random, 1, SSTORE_MAX_WORDS);
    for (size_t i = 0; i < 8 * out->how.words * out->count; i++)
        out->fingerprints[i / 8] = out->fingerprints[i / 8] << 8 | (unsigned char)alphabet[rng_below(random, size)];
}

static void make_hex_bytes(rng *random, rows *out)
{
    make_bytes(random, out, "0123456789abcdef");
}

static void make_text(rng *random, rows *out)
{
    make_bytes(random, out, " the quick brown fox, 1234 PANGRAMS!");
}

/* Characters of base64, as numbers of 6 bits, three times a multiple of 64 bits. */
static void make_characters(rng *random, rows *out, const char *alphabet)
{
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t size = strlen(alphabet);
    out->how.words = 3 * (uint32_t)rng_between(random, 1, 5);
    out->how.radix = RADIX_BASE64;
    memset(out->fingerprints, 0, sizeof out->fingerprints);
    for (size_t i = 0; i < 64 * out->how.words * out->count / 6; i++) {
        const uint64_t value = (uint64_t)(strchr(base64, alphabet[rng_below(random, size)]) - base64);
        for (size_t bit = 0; bit < 6; bit++)
            out->fingerprints[(6 * i + bit) / 64] |= (value >> (5 - bit) & 1) << (63 - (6 * i + bit) % 64);
    }
}

static void make_hex_characters(rng *random, rows *out)
{
    make_characters(random, out, rng_one_in(random, 2) ? "0123456789abcdef" : "0123456789ABCDEF");
}

static void make_base32(rng *random, rows *out)
{
    make_characters(random, out, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
}

static void make_counting(rng *random, rows *out)
{
    const bool decimal = rng_one_in(random, 2), falls = rng_one_in(random, 2);
    uint64_t number = rng_below(random, UINT64_C(1) << rng_between(random, 1, 50));
    for (size_t i = 0; i < out->count; i++, number += rng_between(random, 1, 9)) {
        const size_t at = falls ? out->count - 1 - i : i;
        out->fingerprints[at] = decimal ? in_hex(number) : number;
    }
}

/* The numbers from 1 on in any order, perhaps twice. */
static void make_shuffled(rng *random, rows *out)
{
    const bool decimal = rng_one_in(random, 2);
    const size_t different = rng_one_in(random, 2) ? out->count : (out->count + 1) / 2;
    for (size_t i = 0; i < out->count; i++) {
        const size_t other = rng_below(random, i + 1);
        out->fingerprints[i] = out->fingerprints[other];
        out->fingerprints[other] = decimal ? in_hex(i % different + 1) : i % different + 1;
    }
}

static void make_decimal(rng *random, rows *out)
{
    const uint32_t unused = rng_one_in(random, 2) ? 32 : 11; /* of 10 or 16 digits */
    for (size_t i = 0; i < out->count; i++)
        out->fingerprints[i] = in_hex(rng_next(random) >> unused);
}

static void make_signed(rng *random, rows *out)
{
    out->how.radix = RADIX_DEC;
    for (size_t i = 0; i < out->count; i++) /* some unsigned */
        out->fingerprints[i] = (uint64_t)(int64_t)(int32_t)(uint32_t)rng_next(random) &
                               (rng_one_in(random, 3) ? UINT32_MAX : UINT64_MAX);
}

static void make_rounded(rng *random, rows *out)
{
    out->how.radix = RADIX_DEC;
    for (size_t i = 0; i < out->count; i++) {
        const double number = (double)rng_next(random);
        out->fingerprints[i] = number < 0x1p64 ? (uint64_t)number : 0;
        if (rng_one_in(random, 2))
            out->fingerprints[i] -= out->fingerprints[i] % 1000;
    }
}

/* Make words that were numbers, through doubles; few lie below 2^60. */
static void make_rounded_words(rng *random, rows *out)
{
    make_rounded(random, out);
    out->how.is_text = false;
    for (size_t i = 0; i < out->count; i++)
        out->fingerprints[i] = (uint64_t)(double)(rng_next(random) >> 1);
}

/* Signed words through doubles. */
static void make_rounded_signed_words(rng *random, rows *out)
{
    make_rounded_words(random, out);
    for (size_t i = 0; i < out->count; i++)
        if (rng_one_in(random, 2))
            out->fingerprints[i] = 0 - out->fingerprints[i];
}

/* Bytes of two values. */
static void make_two_values(rng *random, rows *out)
{
    const uint64_t other = rng_one_in(random, 2) ? 0 : UINT64_C(0x0101010101010101);
    out->how.is_text = false;
    out->how.words = 8;
    for (size_t i = 0; i < out->how.words * out->count; i++)
        out->fingerprints[i] = (rng_next(random) & UINT64_C(0x0101010101010101)) * 255 | other;
}

/* Bytes or numbers of 16 or 32 bits, each in a wider one. */
static void make_halves(rng *random, rows *out)
{
    static const uint64_t parts[] = {0xff, UINT64_C(0x000000ff000000ff), UINT64_C(0x0000ffff0000ffff), 0xffff,
                                     UINT32_MAX};
    const uint64_t part = parts[rng_below(random, 5)];
    out->how.words = 8;
    for (size_t i = 0; i < out->how.words * out->count; i++)
        out->fingerprints[i] = rng_next(random) & part;
}

static void make_swapped(rng *random, rows *out)
{
    out->how.ids = out->ids;
    for (size_t i = 0; i < out->count; i++) {
        out->fingerprints[i] = rng_below(random, 1000000);
        out->ids[i] = rng_next(random);
    }
}

/* What 'uniq -c' prints before decimal fingerprints. */
static void make_counts(rng *random, rows *out)
{
    make_swapped(random, out);
    for (size_t i = 0; i < out->count; i++)
        out->fingerprints[i] = rng_one_in(random, 2) ? 1 : rng_between(random, 2, 9);
}

/* Doubles of random numbers, with or without a sign. */
static void make_doubles(rng *random, rows *out)
{
    const bool has_sign = rng_one_in(random, 2);
    out->how.is_text = false;
    for (size_t i = 0; i < out->count; i++) {
        const uint64_t number = rng_next(random);
        const double value = has_sign ? (double)(int64_t)number : (double)number;
        memcpy(&out->fingerprints[i], &value, sizeof value);
    }
}

static void make_times(rng *random, rows *out)
{
    const uint64_t unit = rng_one_in(random, 2) ? 1 : 1000;
    uint64_t now = 1700000000 * unit;
    out->how.radix = RADIX_DEC;
    for (size_t i = 0; i < out->count; i++)
        out->fingerprints[i] = now += rng_between(random, 20, 60 * unit);
}

static void make_qualities(rng *random, rows *out)
{
    out->how.ids = out->ids;
    for (size_t i = 0; i < out->count; i++) {
        out->fingerprints[i] = rng_next(random);
        out->ids[i] = 95 + rng_below(random, 6);
    }
}

static void make_id_order(rng *random, rows *out)
{
    out->how.is_text = false;
    out->how.ids = out->ids;
    for (size_t i = 0; i < out->count; i++) {
        out->fingerprints[i] = rng_next(random);
        out->ids[i] = __builtin_bswap64(i);
    }
}

/* One row was cut short, among others whose leading zeros are written. */
static void make_short(rng *random, rows *out)
{
    const size_t at = rng_below(random, out->count);
    for (size_t i = 0; i < out->count; i++)
        out->fingerprints[i] = rng_next(random) >> (i % 16 == 1 ? 5 : 0);
    out->fingerprints[at] = (rng_next(random) | UINT64_C(1) << 62) >> 4 * rng_between(random, 1, 15);
    out->missing_unit = 4;
    out->are_short[at] = true;
}

/* Among decimal numbers, some were cut. */
static void make_short_decimal(rng *random, rows *out)
{
    out->how.radix = RADIX_DEC;
    for (size_t i = 0; i < out->count; i++)
        out->fingerprints[i] = rng_next(random) | UINT64_C(1) << 63;
    for (size_t i = 0; i < 3; i++)
        out->fingerprints[rng_below(random, out->count)] /= UINT64_C(100000000000);
}

/* Many rows were cut in the middle, and no leading zeros are written. */
static void make_many_short(rng *random, rows *out)
{
    out->how.words = (uint32_t)rng_between(random, 1, 4);
    for (size_t i = 0; i < out->count; i++) {
        out->are_short[i] = i % 5 == 3;
        for (uint32_t j = 0; j < out->how.words; j++)
            out->fingerprints[out->how.words * i + j] = rng_next(random);
        out->fingerprints[out->how.words * i] |= UINT64_C(1) << 63;
        if (out->are_short[i])
            out->fingerprints[out->how.words * i] >>= 32;
    }
    out->missing_unit = 4;
}

/* All rows have fewer digits than the known width. */
static void make_all_short(rng *random, rows *out)
{
    out->how.words = 4;
    for (size_t i = 0; i < out->count; i++) {
        out->are_short[i] = true;
        for (uint32_t j = 0; j < 4; j++)
            out->fingerprints[4 * i + j] = rng_next(random) >> (j == 0 ? 32 : 0);
    }
    out->missing_unit = 4;
}

static void test_wrong_rows(void **state)
{
    static const struct {
        wrong_fn make;
        const char *words;
        size_t enough; /* rows */
    } kinds[] = {
        {make_bits, "only bytes 0 and 1", 4},
        {make_most_bits, "only bytes 0 and 1", 4},
        {make_hex_bytes, "are hex digits in ASCII", 1},
        {make_text, "are readable text", 10},
        {make_hex_characters, "only hex digits", 1},
        {make_base32, "characters of base32", 1},
        {make_counting, "close to each other", 40},
        {make_shuffled, "close to each other", 24},
        {make_decimal, "no hex digit above 9", 9},
        {make_signed, "--radix signed32", 16},
        {make_rounded, "are rounded", 9},
        {make_rounded_words, "are rounded", 16},
        {make_two_values, "of two values", 4},
        {make_halves, "in the upper half", 4},
        {make_swapped, "seem to be swapped", 8},
        {make_counts, "seem to be swapped", 16},
        {make_doubles, "are the bits of floating-point numbers", 40},
        {make_times, "ids, counts, times or line numbers", 40},
        {make_qualities, "share few ids", 60},
        {make_short_decimal, "far fewer digits", 40},
        {make_many_short, "fewer digits than the others", 15},
        {make_all_short, "have fewer digits than 256 bits need", 3},
        {make_id_order, "big-endian", 5},
        {make_short, "fewer digits than the others", 40},
        {make_rounded_signed_words, "are rounded", 16},
    };
    static rows all;
    rng random = rng_seeded(42);
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        for (size_t i = 0; i < 100; i++) {
            memset(&all, 0, sizeof all);
            all.how = (doubt_rows){.words = 1, .is_text = true, .radix = RADIX_HEX};
            all.count = rng_between(&random, kinds[kind].enough, MAX_ROWS);
            kinds[kind].make(&random, &all);
            const char *found = find(&random, &all);
            if (found == NULL || strstr(found, kinds[kind].words) == NULL)
                fail_msg("expected '%s' of %zu rows, found '%s'", kinds[kind].words, all.count,
                         found != NULL ? found : "");
        }
    }
    testing_done();
}

/* Each input is doubted for itself, also if the others are right; and small ones together. */
static void test_several_inputs(void **state)
{
    static rows right, wrong;
    static input_doubt doubt;
    rng random = rng_seeded(43);
    (void)state;
    right.how = wrong.how = (doubt_rows){.words = 1, .is_text = true, .radix = RADIX_HEX};
    right.count = wrong.count = 100;
    for (size_t i = 0; i < right.count; i++)
        right.fingerprints[i] = rng_next(&random);
    make_decimal(&random, &wrong);
    input_doubt_begin(&doubt, "right");
    note_batch(&doubt, &right, 0, right.count);
    input_doubt_begin(&doubt, "wrong");
    note_batch(&doubt, &wrong, 0, wrong.count);
    input_doubt_begin(&doubt, "right again");
    note_batch(&doubt, &right, 0, right.count);
    assert_ptr_equal(strstr(input_doubt_end(&doubt), "wrong: the fingerprints (100) have no hex digit"), doubt.found);
    doubt = (input_doubt){.strict = false};
    for (size_t i = 0; i < wrong.count; i++) {
        input_doubt_begin(&doubt, "one row");
        note_batch(&doubt, &wrong, i, 1);
    }
    assert_ptr_equal(strstr(input_doubt_end(&doubt), "the fingerprints (100) have no hex digit"), doubt.found);
    /* What is said to be hex is hex. */
    doubt = (input_doubt){.strict = false};
    wrong.how.radix_given = true;
    input_doubt_begin(&doubt, "wrong");
    note_batch(&doubt, &wrong, 0, wrong.count);
    assert_null(input_doubt_end(&doubt));
    input_doubt_begin(NULL, "nothing");
    input_doubt_note(NULL, &wrong.how);
    assert_null(input_doubt_end(NULL));
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_right_rows, testing_teardown),
        cmocka_unit_test_teardown(test_left_out_bytes, testing_teardown),
        cmocka_unit_test_teardown(test_wrong_rows, testing_teardown),
        cmocka_unit_test_teardown(test_several_inputs, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
