/* Fingerprints of any width as text: what is written equals a slow writer's text, and is read again. */
#include "input/input_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/random.h"
#include "support/testing.h"

#define ROUNDS 2000u
#define MAX_LENGTH 1100u /* longer than any fingerprint */

static bool bit_of(const uint64_t *words, size_t at)
{
    return (words[at / 64] >> (63 - at % 64) & 1) != 0;
}

/* Bit by bit, in digits of `bits` bits each; bits behind the end are 0. */
static size_t write_slowly(const char *digits, size_t bits, const uint64_t *words, uint32_t count, char *to)
{
    size_t length = 0;
    for (size_t at = 0; at < 64 * (size_t)count; at += bits) {
        unsigned value = 0;
        for (size_t i = at; i < at + bits; i++)
            value = value << 1 | (i < 64 * (size_t)count && bit_of(words, i));
        to[length++] = digits[value];
    }
    to[length] = '\0';
    return length;
}

static const struct {
    radix_form form;
    const char *digits;
    size_t bits;
} forms[] = {{RADIX_HEX, "0123456789abcdef", 4},
             {RADIX_BASE64, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6},
             {RADIX_BASE32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5},
             {RADIX_BIN, "01", 1}};
#define FORM_COUNT (sizeof forms / sizeof *forms)

static void fill(rng *random, uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = rng_one_in(random, 8) ? 0 - rng_below(random, 2) : rng_next(random);
}

/* Returns the number of words, or 0. */
static uint32_t read_any(radix_form form, const char *text, size_t length, line_record *record)
{
    line_format format = LINE_FORMAT_INIT;
    format.radix = form;
    return value_read(&format, text, length, record) ? record->words : 0;
}

static bool read_text(radix_form form, const char *text, size_t length, uint64_t *words, uint32_t count)
{
    line_format format = LINE_FORMAT_INIT;
    line_record record;
    format.radix = form;
    format.words = count;
    if (!value_read(&format, text, length, &record))
        return false;
    memcpy(words, record.fingerprint, count * sizeof *words);
    return true;
}

static void test_what_is_written_is_read(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint32_t count = (uint32_t)rng_between(&random, 1, SSTORE_MAX_WORDS);
        const size_t i = rng_below(&random, FORM_COUNT);
        uint64_t words[SSTORE_MAX_WORDS], again[SSTORE_MAX_WORDS];
        line_record record;
        char text[RADIX_MAX_CHARACTERS + 1], wanted[RADIX_MAX_CHARACTERS + 1];
        testing_doing("round %" PRIu64 ", form %zu, %" PRIu32 " words", round, i, count);
        fill(&random, words, count);
        const size_t length = write_slowly(forms[i].digits, forms[i].bits, words, count, wanted);
        assert_string_equal(radix_string(forms[i].form, text, words, count), wanted);
        assert_int_equal(read_any(forms[i].form, text, length, &record), count);
        assert_memory_equal(record.fingerprint, words, count * sizeof *words);
        assert_true(read_text(forms[i].form, text, length, again, count));
        assert_memory_equal(again, words, count * sizeof *words);
        assert_true(read_text(forms[i].form, text, length - 1, again, count) ==
                    (forms[i].form == RADIX_HEX && count == 1)); /* leading zeros may be missing */
        text[rng_below(&random, length)] = '*';
        assert_false(read_text(forms[i].form, text, length, again, count));
    }
    testing_done();
}

/* Base64 may end with all of the '=' that fill four characters, and has no bits behind its last byte. */
static void test_ends_of_base64(void **state)
{
    for (uint32_t count = 1; count <= SSTORE_MAX_WORDS; count++) {
        uint64_t words[SSTORE_MAX_WORDS] = {0}, again[SSTORE_MAX_WORDS];
        line_record record;
        char text[RADIX_MAX_CHARACTERS + 1];
        testing_doing("%" PRIu32 " words", count);
        const size_t length = strlen(radix_string(RADIX_BASE64, text, words, count));
        const size_t missing = (4 - length % 4) % 4;
        memset(text + length, '=', 4);
        for (size_t padding = 0; padding <= 3; padding++) {
            const bool right = padding == 0 || padding == missing;
            assert_true(read_text(RADIX_BASE64, text, length + padding, again, count) == right);
            assert_true((read_any(RADIX_BASE64, text, length + padding, &record) == count) == right);
        }
        for (unsigned unused = 0; missing > 0 && unused < 2 * missing; unused++) {
            text[length - 1] = forms[1].digits[1u << unused];
            assert_false(read_text(RADIX_BASE64, text, length, again, count));
        }
        text[length - 1] = forms[1].digits[1u << 2 * missing];
        assert_true(read_text(RADIX_BASE64, text, length, again, count));
        assert_int_equal(again[count - 1], 1);
    }
    testing_done();
}

/* A length belongs to one width at most. */
static void test_widths_by_length(void **state)
{
    char zeros[MAX_LENGTH], letters[MAX_LENGTH];
    line_record record;
    memset(zeros, '0', sizeof zeros);
    memset(letters, 'A', sizeof letters); /* zeros in base64 */
    for (size_t length = 0; length <= MAX_LENGTH; length++) {
        uint32_t hex = 0, base64 = 0, bin = 0;
        testing_doing("%zu characters", length);
        for (uint32_t words = 1; words <= SSTORE_MAX_WORDS; words++) {
            hex = length == 16 * (size_t)words ? words : hex;
            bin = length == 64 * (size_t)words ? words : bin;
            /* Each three bytes are four characters, and the rest has one character more than bytes. */
            const size_t bytes = 8 * (size_t)words, plain = bytes / 3 * 4 + (bytes % 3 > 0 ? bytes % 3 + 1 : 0);
            base64 = length == plain ? words : base64;
        }
        if (length > 0 && length < 16)
            hex = 1; /* leading zeros may be missing */
        assert_int_equal(read_any(RADIX_HEX, zeros, length, &record), hex);
        assert_int_equal(read_any(RADIX_BASE64, letters, length, &record), base64);
        assert_int_equal(read_any(RADIX_BIN, zeros, length, &record), bin);
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_what_is_written_is_read, testing_teardown),
        cmocka_unit_test_teardown(test_ends_of_base64, testing_teardown),
        cmocka_unit_test_teardown(test_widths_by_length, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
