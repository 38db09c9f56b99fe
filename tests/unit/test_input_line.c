/* Reading many lines at once: it must equal line_parse() on each line, stop at lines that line_parse() refuses, and
 * read nothing beyond the text. Lines of the common shapes must be read many at once. */
#include "input/input_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/guard.h"
#include "support/random.h"
#include "support/testing.h"

#define ROUNDS 20000u
#define MAX_LINES 40u
#define ROOM 32768u
/* A line that begins in the last bytes is left alone; these are as many as a line may have, and then some. */
#define TAIL_BYTES (64u + 16u * SSTORE_MAX_WORDS)

static guarded memory;

/* Lines, and how to read them. */
typedef struct sample {
    line_format format;
    bool has_ids;
    char text[ROOM];
    size_t size;
} sample;

static void append(sample *to, const char *text, size_t size)
{
    assert_true(to->size + size <= sizeof to->text);
    memcpy(to->text + to->size, text, size);
    to->size += size;
}

/* ----- making lines ----- */

static void choose_format(rng *random, sample *out)
{
    static const char *const columns[] = {"fingerprint,id", "fingerprint", "id,fingerprint", "-,fingerprint",
                                          "fingerprint,-"};
    line_fault fault;
    out->format = (line_format)LINE_FORMAT_INIT;
    if (rng_one_in(random, 2))
        assert_true(line_format_set_columns(&out->format, columns[rng_below(random, 5)], &fault));
    out->format.radix = (radix_form)rng_below(random, 3);
    out->format.words = out->format.radix == RADIX_HEX && rng_one_in(random, 2)
                            ? (uint32_t)rng_between(random, 1, SSTORE_MAX_WORDS)
                            : 1;
    out->format.ignore_ids = rng_one_in(random, 4);
    out->has_ids = !out->format.ignore_ids && rng_one_in(random, 2);
}

/* A number of any length: most random numbers have all their digits. */
static uint64_t uneven_number(rng *random)
{
    return rng_one_in(random, 20) ? UINT64_MAX - rng_below(random, 3) : rng_next(random) >> rng_below(random, 64);
}

/* All digits of several words, in either case. */
static int print_words(rng *random, uint32_t words, char *to, size_t size)
{
    int length = 0;
    for (uint32_t i = 0; i < words; i++)
        length += snprintf(to + length, size - (size_t)length, rng_one_in(random, 3) ? "%016" PRIX64 : "%016" PRIx64,
                           uneven_number(random));
    return length;
}

static int print_fingerprint(rng *random, const line_format *format, char *to, size_t size)
{
    uint64_t number = uneven_number(random);
    if (format->words > 1)
        return print_words(random, format->words, to, size);
    if (format->radix != RADIX_HEX && rng_one_in(random, 3))
        return snprintf(to, size, "%" PRId64, (int64_t)number);
    if (format->radix != RADIX_HEX)
        return snprintf(to, size, "%" PRIu64, number);
    if (rng_one_in(random, 3))
        return snprintf(to, size, "%" PRIX64, number);
    return snprintf(to, size, "%0*" PRIx64, (int)rng_between(random, 1, 16), number);
}

/* A line of a common shape for these columns, or for the default ones. */
static void append_common_line(rng *random, sample *to)
{
    char fingerprint[16 * SSTORE_MAX_WORDS + 16], line[sizeof fingerprint + 48];
    const char *separator = rng_one_in(random, 4) ? " " : "\t", *end = rng_one_in(random, 8) ? "\r\n" : "\n";
    const line_column *columns = to->format.columns;
    bool id_first = to->format.column_count == 2 && columns[0] == LINE_COLUMN_ID;
    bool has_id = id_first || (to->format.column_count == 2 && to->has_ids);
    int length;
    (void)print_fingerprint(random, &to->format, fingerprint, sizeof fingerprint);
    if (id_first)
        length = snprintf(line, sizeof line, "%" PRIu64 "%s%s%s", uneven_number(random), separator, fingerprint, end);
    else if (has_id)
        length = snprintf(line, sizeof line, "%s%s%" PRIu64 "%s", fingerprint, separator, uneven_number(random), end);
    else if (to->format.id_may_be_missing || to->format.column_count == 1)
        length = snprintf(line, sizeof line, "%s%s", fingerprint, end);
    else
        length = snprintf(line, sizeof line, "%s%s-%s", fingerprint, separator, end);
    append(to, line, (size_t)length);
}

/* Replace a few bytes by others that may be confused with numbers, signs, separators and line ends. */
static void mutate(rng *random, sample *self)
{
    static const char bytes[] = "\0\t\n\r -+.,/0189:;@AFGXafgx`\x7f\x80\xb0\xe1\xff";
    for (uint64_t left = rng_between(random, 1, 3); left > 0 && self->size > 0; left--) {
        size_t at = rng_below(random, self->size), size = rng_between(random, 1, 4);
        if (rng_one_in(random, 3) && at + size <= self->size) {
            memmove(self->text + at, self->text + at + size, self->size - at - size);
            self->size -= size;
        }
        if (self->size > 0)
            self->text[rng_below(random, self->size)] = bytes[rng_below(random, sizeof bytes - 1)];
    }
}

/* ----- the right result ----- */

/* Read the next line as the general parser does. Returns its size in bytes, or 0 if it does not belong in a run. */
static size_t read_slowly(const sample *self, const char *text, size_t size, line_record *record)
{
    line_fault fault;
    const char *stop = memchr(text, '\n', size);
    if (stop == NULL)
        return 0;
    size_t length = (size_t)(stop - text), cut = length > 0 && text[length - 1] == '\r';
    bool right = line_parse(&self->format, text, length - cut, record, &fault) && record->has_id == self->has_ids;
    return right ? length + 1 : 0;
}

/* Returns how many lines were read at once. */
static size_t check(sample *self, size_t max)
{
    uint64_t fingerprints[(MAX_LINES + 1) * SSTORE_MAX_WORDS], ids[MAX_LINES + 1];
    const uint32_t words = self->format.words;
    char *text = (char *)memory.high + memory.size - self->size;
    memcpy(text, self->text, self->size);
    line_run run;
    line_run_parse(&self->format, self->has_ids, text, self->size, fingerprints, ids, max, &run);
    line_shorts shorts = {.count = 0};
    size_t at = 0;
    assert_true(run.count <= max);
    for (size_t i = 0; i < run.count; i++) {
        line_record record = {.id = 0};
        size_t taken = read_slowly(self, text + at, self->size - at, &record);
        assert_true(taken > 0);
        assert_int_equal(record.words, words);
        assert_memory_equal(fingerprints + words * i, record.fingerprint, words * sizeof *fingerprints);
        if (self->has_ids)
            assert_int_equal(ids[i], record.id);
        if (record.missing_bits > 0)
            line_shorts_note(&shorts, record.missing_bits, i);
        at += taken;
    }
    assert_int_equal(run.bytes, at);
    assert_int_equal(run.shorts.count, shorts.count);
    assert_int_equal(run.shorts.first, shorts.first);
    assert_int_equal(run.shorts.any_missing, shorts.any_missing);
    return run.count;
}

/* ----- tests ----- */

static void append_tail(sample *to)
{
    char tail[TAIL_BYTES];
    memset(tail, '\n', sizeof tail);
    append(to, tail, sizeof tail);
}

static void test_common_lines_are_read_at_once(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        sample lines = {.size = 0};
        testing_doing("round %" PRIu64, round);
        do {
            choose_format(&random, &lines);
        } while (lines.format.column_count > 1 && lines.format.columns[0] != LINE_COLUMN_FINGERPRINT &&
                 lines.format.columns[0] != LINE_COLUMN_ID);
        bool common = lines.format.column_count == 1 || lines.format.columns[1] != LINE_COLUMN_SKIPPED;
        bool id_needed = lines.format.columns[0] == LINE_COLUMN_ID && !lines.format.ignore_ids;
        lines.has_ids = lines.format.column_count == 1 ? false : id_needed || lines.has_ids;
        size_t count = rng_below(&random, MAX_LINES + 1), max = rng_below(&random, MAX_LINES + 1);
        for (size_t i = 0; i < count; i++)
            append_common_line(&random, &lines);
        append_tail(&lines);
        assert_int_equal(check(&lines, max), !common ? 0 : count < max ? count : max);
    }
    testing_done();
}

static void test_mutated_lines_are_read_alike(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    size_t read = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        sample lines = {.size = 0};
        testing_doing("round %" PRIu64, round);
        choose_format(&random, &lines);
        for (size_t left = rng_between(&random, 1, 8); left > 0; left--)
            append_common_line(&random, &lines);
        mutate(&random, &lines);
        if (rng_one_in(&random, 2))
            append_tail(&lines);
        read += check(&lines, MAX_LINES);
    }
    assert_true(read > ROUNDS / 2);
    testing_done();
}

/* Every byte in the place of every other one of a line. */
static void test_every_byte_everywhere(void **state)
{
    static const struct {
        const char *text;
        uint32_t words;
    } lines[] = {{"0123456789abcdeF\t1234567890\n", 1},
                 {"18446744073709551615 18446744073709551615\r\n", 1},
                 {"-9223372036854775808\t-\n", 1},
                 {"f\n", 1},
                 {"0123456789abcdeFfEdcba9876543210\t12345\n", 2},
                 {"0123456789abcdeF0000000000000000fEdcba9876543210\r\n", 3}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t at = 0; at < strlen(lines[i].text); at++)
            for (unsigned byte = 0; byte < 256; byte++)
                for (unsigned kind = 0; kind < 8; kind++) {
                    sample one = {.format = LINE_FORMAT_INIT, .has_ids = (kind & 1) != 0};
                    one.format.radix = (kind & 2) != 0 ? RADIX_DEC : RADIX_HEX;
                    one.format.words = lines[i].words;
                    one.format.ignore_ids = (kind & 4) != 0;
                    append(&one, lines[i].text, strlen(lines[i].text));
                    one.text[at] = (char)byte;
                    append_tail(&one);
                    check(&one, 1);
                }
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_common_lines_are_read_at_once, testing_teardown),
        cmocka_unit_test_teardown(test_mutated_lines_are_read_alike, testing_teardown),
        cmocka_unit_test(test_every_byte_everywhere),
    };
    memory = guard_make(ROOM);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    guard_free(&memory);
    return failed;
}
