/* Text that is made safe for a line of a terminal: characters that are retained, escaped and cut. Error messages are
 * such text. */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "support/random.h"
#include "support/testing.h"

static void check(const char *text, const char *wanted)
{
    char shown[256];
    ss_printable(text, shown, sizeof shown);
    assert_string_equal(shown, wanted);
}

static void test_escaping_of_characters(void **state)
{
    static const char foreign[] = "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82 \xef\xbf\xbd";
    check("", "");
    check("words 3, 'a\\b' \"c\" ~", "words 3, 'a\\b' \"c\" ~");
    check(foreign, foreign);
    check("a\x1b[31mb\n\r\t\x7f\x01", "a\\x1b[31mb\\x0a\\x0d\\x09\\x7f\\x01");
    check("a\xc2\x9b"
          "31m \xc2\xa0|\xc2\x80",
          "a\\xc2\\x9b31m \xc2\xa0|\\xc2\\x80");
    check("\xff \xc3 \xe2\x82 \xed\xa0\x80 \xc0\x80 \x9b", "\\xff \\xc3 \\xe2\\x82 \\xed\\xa0\\x80 \\xc0\\x80 \\x9b");
    check("\xef\xbf", "\\xef\\xbf");
}

/* The characters that change the direction, or begin a line, one by one, and adjacent ones. */
static void test_every_character(void **state)
{
    for (uint32_t point = 1; point < 0x110000; point++) {
        char text[SS_UTF8_MAX_BYTES + 1] = {0}, wanted[4 * SS_UTF8_MAX_BYTES + 1] = {0}, shown[sizeof wanted];
        if (point >= 0xd800 && point <= 0xdfff)
            continue;
        const size_t length = ss_utf8_encode(point, (uint8_t *)text);
        const bool escaped = point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x61c || point == 0x200e ||
                             point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
                             (point >= 0x2066 && point <= 0x2069) || point == 0x200b || point == 0x2060 ||
                             point == 0xfeff;
        for (size_t i = 0; i < length; i++)
            sprintf(wanted + strlen(wanted), escaped ? "\\x%02x" : "%c", (uint8_t)text[i]);
        assert_int_equal(sstore_escape(text, length, 0, shown, sizeof shown), strlen(wanted));
        assert_string_equal(shown, wanted);
    }
}

/* A complete text: its length, zeros in it, backslashes, and an empty buffer. */
static void test_escaping_of_whole_texts(void **state)
{
    /* NOLINTNEXTLINE(misc-misleading-bidirectional): which has to be escaped */
    static const char text[] = "a\\\0\xe2\x80\xae\\x41", wanted[] = "a\\\\\\x00\\xe2\\x80\\xae\\\\x41";
    char shown[64];
    assert_int_equal(sstore_escape(text, sizeof text - 1, 1, shown, sizeof shown), sizeof wanted - 1);
    assert_string_equal(shown, wanted);
    assert_int_equal(sstore_escape(text, sizeof text - 1, 1, NULL, 0), sizeof wanted - 1);
    assert_int_equal(sstore_escape(text, sizeof text - 1, 1, shown, 1), sizeof wanted - 1);
    assert_string_equal(shown, "");
    assert_int_equal(sstore_escape(text, sizeof text - 1, 1, shown, 3), sizeof wanted - 1);
    assert_string_equal(shown, "a"); /* and not half a backslash, nor what is behind it */
    assert_int_equal(sstore_escape(NULL, 0, 1, shown, sizeof shown), 0);
    assert_string_equal(shown, "");
}

/* For any bytes and any buffer: the buffer is not exceeded, and the result is UTF-8 without control characters, and the
 * beginning of the complete result. */
static void test_cut_anywhere(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < 20000; i++) {
        char text[24], whole[4 * sizeof text];
        const size_t length = rng_between(&random, 0, sizeof text - 1), size = rng_between(&random, 1, sizeof whole);
        static const uint8_t often[] = {0xc2, 0x9b, 0xe2, 0x82, 0xac, 0xef, 0xbf, 0xbd, 0x1b, 'x', 0xf0, 0x90};
        for (size_t at = 0; at < length; at++)
            text[at] = (char)(rng_next(&random) % 3 != 0 ? often[rng_next(&random) % sizeof often]
                                                         : rng_between(&random, 1, 255));
        text[length] = '\0';
        testing_doing("text %u, seed %llu", i, (unsigned long long)run_seed);
        char *shown = malloc(size); /* a sanitizer detects writes beyond it */
        assert_non_null(shown);
        ss_printable(text, whole, sizeof whole);
        ss_printable(text, shown, size);
        assert_true(strlen(shown) < size);
        assert_int_equal(strncmp(shown, whole, strlen(shown)), 0);
        for (size_t at = 0, left = strlen(shown); left > 0;) {
            uint32_t point;
            const size_t taken = ss_utf8_decode((const uint8_t *)shown + at, left, &point);
            assert_true(point >= ' ' && (point < 0x7f || point > 0x9f));
            assert_true(point != SS_REPLACEMENT_CHARACTER || memcmp(shown + at, "\xef\xbf\xbd", 3) == 0);
            at += taken;
            left -= taken;
        }
        free(shown);
    }
    testing_done();
}

static void test_messages(void **state)
{
    sstore_error error;
    (void)ss_fail(&error, SSTORE_ERROR_RECIPE, 0, "caf\xc3\xa9\n", SSTORE_NO_OFFSET, "made by '%s'", "\x1b]0;x\a");
    assert_string_equal(error.message, "caf\xc3\xa9\\x0a: made by '\\x1b]0;x\\x07'");
    assert_string_equal(error.file, "caf\xc3\xa9\n"); /* for programs */
    (void)ss_fail(&error, SSTORE_ERROR_IO, ENOENT, NULL, SSTORE_NO_OFFSET, "opening '%s' failed", "\x9b");
    assert_string_equal(error.message, "opening '\\x9b' failed: No such file or directory");
    char name[400], shown[16];
    memset(name, 0x9b, sizeof name - 1);
    strcpy(name + sizeof name - 2, "e");
    (void)ss_fail(&error, SSTORE_ERROR_IO, ENOENT, name, SSTORE_NO_OFFSET, "cannot open it");
    assert_non_null(strstr(error.message, "\\x9be: cannot open it: No such file or directory")); /* has room */
    memcpy(shown, error.message, 7);
    shown[7] = '\0';
    assert_string_equal(shown, "...\\x9b");
    assert_string_equal(error.file, name);
    char many[2 * sizeof error.message];
    memset(many, 0x1b, sizeof many - 1);
    many[sizeof many - 1] = '\0';
    (void)ss_fail_argument(&error, "%s", many);
    assert_int_equal(strlen(error.message), (sizeof error.message - 1) / 4 * 4);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escaping_of_characters),
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_escaping_of_whole_texts),
        cmocka_unit_test_teardown(test_cut_anywhere, testing_teardown),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
