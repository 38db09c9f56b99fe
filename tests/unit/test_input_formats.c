/* Records of every width in every format: what was written is read, whether the width is known or the input shows it.
 * Inputs of another width are refused with the words that help. */
#include "input/input.h"

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define MAX_RECORDS 300u
#define ROUNDS (testing_slow() ? 10u : 40u) /* of each format and width */

typedef struct records {
    uint32_t words;
    bool has_ids;
    size_t count;
    uint64_t fingerprints[MAX_RECORDS * SSTORE_MAX_WORDS], ids[MAX_RECORDS];
} records;

static void fill(rng *random, uint32_t words, bool has_ids, records *out)
{
    out->words = words;
    out->has_ids = has_ids;
    out->count = rng_between(random, 1, MAX_RECORDS);
    for (size_t i = 0; i < words * out->count; i++)
        out->fingerprints[i] = rng_one_in(random, 9) ? rng_below(random, 3) : rng_next(random);
    for (size_t i = 0; i < out->count; i++)
        out->ids[i] = has_ids ? rng_next(random) >> rng_below(random, 64) : 0;
    out->fingerprints[0] |= 2; /* its hex digits are not all 0 and 1 */
}

/* ----- writing ----- */

static void put_bytes(FILE *to, const void *bytes, size_t size)
{
    assert_int_equal(fwrite(bytes, 1, size, to), size);
}

static void put_word(FILE *to, uint64_t word, bool big_endian)
{
    word = big_endian ? htobe64(word) : htole64(word);
    put_bytes(to, &word, sizeof word);
}

static void put_digits(FILE *to, radix_form radix, const uint64_t *words, uint32_t count)
{
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint32_t i = 0; i < count && radix == RADIX_HEX; i++)
        fprintf(to, "%016" PRIx64, words[i]);
    if (radix == RADIX_DEC)
        fprintf(to, "%" PRIu64, words[0]);
    if (radix == RADIX_SIGNED)
        fprintf(to, "%" PRId64, (int64_t)words[0]);
    for (size_t i = 0; i < 64 * (size_t)count && radix == RADIX_BIN; i++)
        putc('0' + (int)(words[i / 64] >> (63 - i % 64) & 1), to);
    for (size_t i = 0; i < 64 * (size_t)count && radix == RADIX_BASE64; i += 6) {
        unsigned value = 0;
        for (size_t j = i; j < i + 6; j++)
            value = value << 1 | (j < 64 * (size_t)count ? (unsigned)(words[j / 64] >> (63 - j % 64) & 1) : 0);
        putc(base64[value], to);
    }
}

/* A list of the bytes, the most significant first. */
static void put_byte_list(FILE *to, const uint64_t *words, uint32_t count)
{
    for (size_t i = 0; i < 8 * (size_t)count; i++)
        fprintf(to, "%c%u", i == 0 ? '[' : ',', (unsigned)(words[i / 8] >> (56 - 8 * (i % 8)) & 255));
    putc(']', to);
}

static void put_npy_header(FILE *to, const char *type, size_t count, size_t columns)
{
    char text[128], shape[48];
    snprintf(shape, sizeof shape, columns > 0 ? "(%zu, %zu)" : "(%zu,)", count, columns);
    const int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type,
                                shape);
    put_bytes(to, "\x93NUMPY\x01\x00\x76\x00", 10);
    fprintf(to, "%s%*s\n", text, 117 - length, "");
}

typedef enum form {
    FORM_TEXT,
    FORM_JSONL,
    FORM_JSONL_BYTES,
    FORM_U64,
    FORM_REC,
    FORM_REC_HEADER,
    FORM_NPY,
    FORM_NPY_BIG,
    FORM_NPY_BYTES,
    FORM_COUNT
} form;

static const struct {
    const char *name;
    input_format format;
    bool can_have_ids, can_lack_ids;
} forms[FORM_COUNT] = {
    {"text", INPUT_TEXT, true, true},           {"JSON", INPUT_JSONL, true, true},
    {"bytes in JSON", INPUT_JSONL, true, true}, {"words", INPUT_U64, false, true},
    {"pairs", INPUT_REC, true, false},          {"pairs with a header", INPUT_REC, true, false},
    {"NumPy words", INPUT_NPY, true, true},     {"NumPy big-endian words", INPUT_NPY, true, true},
    {"NumPy bytes", INPUT_NPY, false, true},
};

/* Does the input show its width? */
static bool shows_width(form file_form, const records *what)
{
    switch (file_form) {
    case FORM_U64:
    case FORM_REC: return what->words == 1; /* which is assumed */
    case FORM_NPY:
    case FORM_NPY_BIG: return what->has_ids ? what->words == SSTORE_MAX_WORDS : what->words == 1;
    default: return true;
    }
}

static void write_head(FILE *to, form file_form, const records *what)
{
    static const char recipe[] = "a recipe of some bytes";
    const size_t columns = what->words + (what->has_ids ? 1u : 0u);
    if (file_form == FORM_NPY_BYTES)
        put_npy_header(to, "|u1", what->count, 8 * (size_t)what->words);
    if (file_form == FORM_NPY || file_form == FORM_NPY_BIG)
        put_npy_header(to, file_form == FORM_NPY ? "<u8" : ">u8", what->count, columns > 1 ? columns : 0);
    if (file_form != FORM_REC_HEADER)
        return;
    put_bytes(to, "\x89sstore\n", 8);
    put_word(to, (sizeof recipe - 1) | (what->words > 1 ? (uint64_t)what->words * 64 << 32 : 0), false);
    put_bytes(to, recipe, sizeof recipe - 1);
    for (size_t at = 16 + sizeof recipe - 1; at % (8 * columns) != 0; at++)
        putc(0, to);
}

static void write_record(FILE *to, form file_form, radix_form radix, const records *what, size_t i)
{
    const uint64_t *words = what->fingerprints + what->words * i;
    const bool big_endian = file_form == FORM_NPY_BIG || file_form == FORM_NPY_BYTES;
    if (file_form == FORM_TEXT) {
        put_digits(to, radix, words, what->words);
        if (what->has_ids)
            fprintf(to, "\t%" PRIu64, what->ids[i]);
        fputs("\n", to);
    } else if (file_form == FORM_JSONL || file_form == FORM_JSONL_BYTES) {
        fputs(file_form == FORM_JSONL ? "{\"fingerprint\":\"" : "{\"fingerprint\":", to);
        if (file_form == FORM_JSONL)
            put_digits(to, radix, words, what->words);
        else
            put_byte_list(to, words, what->words);
        fputs(file_form == FORM_JSONL ? "\"" : "", to);
        if (what->has_ids)
            fprintf(to, ",\"id\":%" PRIu64, what->ids[i]);
        fputs("}\n", to);
    } else {
        for (uint32_t j = 0; j < what->words; j++)
            put_word(to, words[j], big_endian);
        if (what->has_ids)
            put_word(to, what->ids[i], big_endian);
    }
}

static const char *write_file(form file_form, radix_form radix, const records *what)
{
    const char *path = scratch_path("input");
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    write_head(to, file_form, what);
    for (size_t i = 0; i < what->count; i++)
        write_record(to, file_form, radix, what, i);
    assert_int_equal(fclose(to), 0);
    return path;
}

/* ----- reading ----- */

static int keep(void *context, const record_batch *batch)
{
    records *to = context;
    assert_true(batch->count > 0 && to->count + batch->count <= MAX_RECORDS);
    assert_true(to->count == 0 || (to->words == batch->words && to->has_ids == batch->has_ids));
    to->words = batch->words;
    to->has_ids = batch->has_ids;
    memcpy(to->fingerprints + batch->words * to->count, batch->fingerprints,
           batch->words * batch->count * sizeof *batch->fingerprints);
    if (batch->has_ids)
        memcpy(to->ids + to->count, batch->ids, batch->count * sizeof *batch->ids);
    to->count += batch->count;
    return 0;
}

static void choose_options(rng *random, form file_form, radix_form radix, input_options *options)
{
    options->format = forms[file_form].format;
    options->lines.radix = radix;
    options->batch_records = rng_one_in(random, 3) ? 1 : rng_between(random, 1, 1000);
    options->ahead = rng_one_in(random, 3);
}

static void check_read(rng *random, const char *path, form file_form, radix_form radix, uint32_t known,
                       const records *what)
{
    static records got;
    input_shape shape = {.words = known};
    input_options options = INPUT_OPTIONS_INIT;
    choose_options(random, file_form, radix, &options);
    got.count = 0;
    assert_int_equal(input_read(path, &options, &shape, keep, &got), 0);
    assert_int_equal(shape.words, what->words);
    assert_true(shape.ids == (what->has_ids ? INPUT_IDS_PRESENT : INPUT_IDS_ABSENT));
    assert_int_equal(got.words, what->words);
    assert_int_equal(got.count, what->count);
    assert_int_equal(got.has_ids, what->has_ids);
    assert_memory_equal(got.fingerprints, what->fingerprints, what->words * what->count * sizeof *got.fingerprints);
    if (what->has_ids)
        assert_memory_equal(got.ids, what->ids, what->count * sizeof *got.ids);
}

/* Read what must be refused, with nothing handed on; the message has these words. */
static void check_refused(rng *random, const char *path, form file_form, radix_form radix, uint32_t known,
                          const char *words)
{
    static records got;
    char message[1024] = "";
    input_shape shape = {.words = known};
    input_options options = INPUT_OPTIONS_INIT;
    const int messages = memfd_create("messages", 0), before = dup(STDERR_FILENO);
    choose_options(random, file_form, radix, &options);
    got.count = 0;
    assert_true(messages >= 0 && before >= 0 && dup2(messages, STDERR_FILENO) >= 0);
    const int code = input_read(path, &options, &shape, keep, &got);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    assert_true(pread(messages, message, sizeof message - 1, 0) >= 0);
    close(messages);
    close(before);
    testing_doing("expecting '%s', found '%s'", words, message);
    assert_int_equal(code, 1);
    assert_int_equal(got.count, 0);
    assert_non_null(strstr(message, words));
}

/* ----- tests ----- */

static radix_form choose_radix(rng *random, form file_form)
{
    static const radix_form wide[] = {RADIX_HEX, RADIX_BASE64, RADIX_BIN};
    return file_form == FORM_TEXT || file_form == FORM_JSONL ? wide[rng_below(random, 3)] : RADIX_HEX;
}

static void test_every_width_in_every_format(void **state)
{
    static records what;
    rng random = rng_seeded(run_seed);
    uint64_t read = 0;
    for (uint64_t round = 0; round < (uint64_t)FORM_COUNT * SSTORE_MAX_WORDS * ROUNDS; round++) {
        const form file_form = (form)(round % FORM_COUNT);
        const uint32_t words = (uint32_t)(round / FORM_COUNT % SSTORE_MAX_WORDS) + 1;
        const radix_form radix = choose_radix(&random, file_form);
        const bool has_ids = !forms[file_form].can_lack_ids ||
                             (forms[file_form].can_have_ids && rng_one_in(&random, 2));
        testing_doing("round %" PRIu64 ": %s, %" PRIu32 " words, radix %d, ids %d", round, forms[file_form].name, words,
                      (int)radix, (int)has_ids);
        fill(&random, words, has_ids, &what);
        const char *path = write_file(file_form, radix, &what);
        check_read(&random, path, file_form, radix, words, &what);
        if (shows_width(file_form, &what))
            check_read(&random, path, file_form, radix, 0, &what);
        read += what.count;
    }
    testing_figure("%" PRIu64 " records of every width in every format", read);
    testing_done();
}

static int ignore(void *context, const record_batch *batch)
{
    uint64_t *count = context;
    *count += batch->count;
    return 0;
}

/* Fingerprints as programs make them: each random or near an earlier one, perhaps zero; ids that count, or random
 * ones. */
static void fill_right(rng *random, uint32_t words, bool has_ids, records *out)
{
    const bool ids_count = rng_one_in(random, 2);
    const uint64_t first_id = rng_below(random, 1000), centres = rng_between(random, 1, MAX_RECORDS);
    *out = (records){.words = words, .has_ids = has_ids, .count = rng_between(random, 1, MAX_RECORDS)};
    for (size_t i = 0; i < out->count; i++) {
        uint64_t *now = out->fingerprints + words * i;
        const uint64_t *centre = out->fingerprints + words * (i < centres ? 0 : rng_below(random, centres));
        const bool is_zero = rng_one_in(random, 50);
        for (uint32_t j = 0; j < words; j++)
            now[j] = is_zero          ? 0
                     : i < centres    ? rng_next(random)
                     : centre[j] == 0 ? 0
                                      : rng_flip(random, centre[j], (uint32_t)rng_below(random, 4));
        out->ids[i] = ids_count ? first_id + i : rng_next(random) >> rng_below(random, 32);
    }
}

/* Is anything doubted in an input, read as it was meant? */
static bool is_doubted(rng *random, const char *path, form file_form, radix_form radix, const records *what)
{
    static input_doubt doubt;
    input_shape shape = {.words = what->words};
    input_options options = INPUT_OPTIONS_INIT;
    uint64_t count = 0;
    choose_options(random, file_form, radix, &options);
    doubt = (input_doubt){.strict = false};
    options.doubt = &doubt;
    assert_int_equal(input_read(path, &options, &shape, ignore, &count), 0);
    assert_int_equal(count, what->count);
    const char *found = input_doubt_end(&doubt);
    if (found != NULL)
        print_message("%s, %" PRIu32 " words, radix %d, %zu rows: %s\n", forms[file_form].name, what->words, (int)radix,
                      what->count, found);
    return found != NULL;
}

static void test_right_inputs_are_not_doubted(void **state)
{
    static records what;
    static const radix_form narrow[] = {RADIX_HEX, RADIX_BASE64, RADIX_BIN, RADIX_DEC, RADIX_SIGNED};
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? 750 : 3000);
    rng random = rng_seeded(run_seed);
    uint64_t doubts = 0;
    for (uint64_t i = 0; i < cases; i++) {
        const form file_form = (form)rng_below(&random, FORM_COUNT);
        const uint32_t words = rng_one_in(&random, 2) ? 1 : (uint32_t)rng_between(&random, 2, SSTORE_MAX_WORDS);
        const bool has_ids = !forms[file_form].can_lack_ids ||
                             (forms[file_form].can_have_ids && rng_one_in(&random, 2));
        const radix_form radix = words == 1 && (file_form == FORM_TEXT || file_form == FORM_JSONL)
                                     ? narrow[rng_below(&random, 5)]
                                     : choose_radix(&random, file_form);
        testing_doing("case %" PRIu64, i);
        fill_right(&random, words, has_ids, &what);
        doubts += is_doubted(&random, write_file(file_form, radix, &what), file_form, radix, &what);
    }
    testing_figure("right inputs in files %" PRIu64 ", of which doubted %" PRIu64, cases, doubts);
    assert_true(doubts <= 1 + cases / 20000);
    testing_done();
}

/* A width other than that of the store, the option or the records before. */
static void test_other_widths_are_refused(void **state)
{
    static records what;
    rng random = rng_seeded(run_seed + 1);
    for (uint64_t round = 0; round < (testing_slow() ? 500 : 2000); round++) {
        const form file_form = (form)rng_below(&random, FORM_COUNT);
        const uint32_t words = (uint32_t)rng_between(&random, 1, SSTORE_MAX_WORDS);
        const uint32_t known = (uint32_t)rng_between(&random, 1, SSTORE_MAX_WORDS);
        const radix_form radix = choose_radix(&random, file_form);
        const bool has_ids = !forms[file_form].can_lack_ids;
        if (known == words || file_form == FORM_U64 || file_form == FORM_REC ||
            forms[file_form].format == INPUT_JSONL ||
            (forms[file_form].format == INPUT_NPY && file_form != FORM_NPY_BYTES && known + 1 == words))
            continue; /* it cannot be seen, or is not for --bits */
        testing_doing("round %" PRIu64 ": %s, %" PRIu32 " words for %" PRIu32 ", radix %d", round,
                      forms[file_form].name, words, known, (int)radix);
        fill(&random, words, has_ids, &what);
        check_refused(&random, write_file(file_form, radix, &what), file_form, radix, known,
                      "see --bits of 'sstore build'");
    }
    testing_done();
}

/* Where a width must be named, the message does it. */
static void test_unclear_widths_are_refused(void **state)
{
    static records what;
    rng random = rng_seeded(run_seed + 2);
    for (uint32_t words = 2; words < SSTORE_MAX_WORDS; words++) {
        char expected[100];
        fill(&random, words, true, &what);
        snprintf(expected, sizeof expected, "of %" PRIu32 " bits, or of %" PRIu32 " bits and ids: --bits",
                 64 * (words + 1), 64 * words);
        check_refused(&random, write_file(FORM_NPY, RADIX_HEX, &what), FORM_NPY, RADIX_HEX, 0, expected);
        fill(&random, words, false, &what);
        for (size_t i = 0; i < words * what.count; i++)
            what.fingerprints[i] &= UINT64_C(0x1111111111111111);
        what.fingerprints[0] |= 1;
        snprintf(expected, sizeof expected, "say --bits %" PRIu32, 64 * words);
        check_refused(&random, write_file(FORM_TEXT, RADIX_HEX, &what), FORM_TEXT, RADIX_HEX, 0, expected);
        check_read(&random, write_file(FORM_TEXT, RADIX_HEX, &what), FORM_TEXT, RADIX_HEX, words, &what);
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_every_width_in_every_format, testing_teardown),
        cmocka_unit_test_teardown(test_right_inputs_are_not_doubted, testing_teardown),
        cmocka_unit_test_teardown(test_other_widths_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_unclear_widths_are_refused, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
