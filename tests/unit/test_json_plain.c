/* Reading JSON objects without the parser: the usual forms must be read, whatever is read must be what the parser
 * reads, a text that is left to the parser must not change, and nothing beyond the text may be touched. */
#include "output/json_plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/guard.h"
#include "support/random.h"
#include "support/testing.h"

#define ROOM 4096u
#define MAX_DEPTH 3u
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static guarded memory;

typedef struct sample {
    char text[ROOM];
    size_t size;
} sample;

/* Where strings with escapes are decoded. */
typedef enum decoding { DECODE_NOWHERE, DECODE_IN_PLACE, DECODE_ELSEWHERE, DECODING_COUNT } decoding;

/* ----- comparing ----- */

static void check_same(const json_member *got, const json_member *expected)
{
    assert_int_equal(got->kind, expected->kind);
    assert_int_equal(got->length, expected->length);
    assert_memory_equal(got->text, expected->text, got->length);
}

/* Read a line without the parser; if that works, also with it. Returns whether it worked. */
static bool check(const sample *of, const char *const keys[2], decoding how)
{
    static char room[ROOM];
    char *const text = (char *)memory.high + memory.size - of->size, reason[JSON_REASON_BYTES];
    char *const rooms[] = {NULL, text, room + ROOM - of->size};
    json_member got[] = {{.key = keys[0]}, {.key = keys[1]}}, expected[] = {{.key = keys[0]}, {.key = keys[1]}};
    memcpy(text, of->text, of->size);
    if (!json_plain_read(text, of->size, got, 2, rooms[how])) {
        assert_memory_equal(text, of->text, of->size);
        return false;
    }
    json_value *object = json_object_read(of->text, of->size, expected, 2, reason);
    assert_non_null(object);
    for (size_t i = 0; i < 2; i++)
        check_same(&got[i], &expected[i]);
    json_value_free(object);
    return true;
}

/* ----- forms ----- */

static const char *const usual_keys[] = {"text", "id"};

static const struct {
    bool plain, needs_room;
    const char *line;
} forms[] = {
    {true, false, "{}"},
    {true, false, "{\"id\":17,\"text\":\"a\"}"},
    {true, false, " {\t\"text\" : \"\" , \"id\" : \"x-1\" } \r\n"},
    {true, false, "{\"text\":null,\"id\":18446744073709551615}"},
    {true, false, "{\"text\":\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\",\"id\":-5}"},
    {true, true, "{\"text\":\"\\n\\t\\r\\b\\f\\\"\\\\\\/\\u00e9\\u4e2d\\ud83d\\ude00\\u0041\"}"},
    {true, false, "{\"meta\":{\"a\":[1,-2.5,1e5,true,false,null,{}],\"b\":\"\\u00e9a\"},\"text\":\"a\"}"},
    {true, false, "{\"url\":\"http:\\/\\/a\",\"text\":\"only this one is decoded\"}"},
    {false, false, "{\"text\":\"a\",\"text\":\"b\"}"},
    {false, false, "{\"a\":1,\"a\":1}"},
    {false, false, "{\"b\":{\"a\":1,\"a\":1}}"},
    {false, false, "{\"te\\u0078t\":\"a\"}"},
    {false, false, "{\"text\":true}"},
    {false, false, "{\"text\":[]}"},
    {false, false, "{\"id\":1.0}"},
    {false, false, "{\"id\":-0}"},
    {false, false, "{\"id\":01}"},
    {false, false, "{\"a\":1e400}"},
    {false, false, "{\"text\":\"a\tb\"}"},
    {false, false, "{\"text\":\"\\ud83d\"}"},
    {false, false, "{\"text\":\"\\x\"}"},
    {false, false, "{\"text\":\"\xc0\x80\"}"},
    {false, false, "{\"text\":\"\xed\xa0\x80\"}"},
    {false, false, "{\"text\":\"a}"},
    {false, false, "{\"text\":\"a\",}"},
    {false, false, "{\"text\":\"a\"} x"},
    {false, false, "{\"text\":\"a\""},
    {false, false, "[{}]"},
    {false, false, ""},
};

static void test_which_forms_are_plain(void **state)
{
    (void)state;
    if (!json_is_available())
        skip();
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        for (int how = 0; how < DECODING_COUNT; how++) {
            sample line = {.size = strlen(forms[i].line)};
            memcpy(line.text, forms[i].line, line.size);
            testing_doing("%s, decoding %d", forms[i].line, how);
            assert_int_equal(check(&line, usual_keys, (decoding)how),
                             forms[i].plain && !(forms[i].needs_room && how == DECODE_NOWHERE));
        }
    testing_done();
}

/* ----- random lines ----- */

static void put(sample *to, const char *text, size_t size)
{
    if (to->size + size > sizeof to->text / 2) /* mutations extend it */
        return;
    memcpy(to->text + to->size, text, size);
    to->size += size;
}

static void put_one(rng *random, sample *to, const char *const *of, size_t count)
{
    const char *text = of[rng_below(random, count)];
    put(to, text, strlen(text));
}

static void put_space(rng *random, sample *to)
{
    static const char *const spaces[] = {" ", "\t", "\r", "\n", "  ", "\f"};
    if (rng_one_in(random, 6))
        put_one(random, to, spaces, COUNT_OF(spaces) - !rng_one_in(random, 30));
}

static void put_string(rng *random, sample *to)
{
    static const char *const parts[] = {/* usual */
                                        "a", "words of a text ", "0123456789abcdef", "\xc3\xa9",
                                        "\xe4\xb8\xad\xe6\x96\x87", "\xf0\x9f\x98\x80", "\x7f", "\xef\xbf\xbf",
                                        "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf", "\xe0\xa0\x80", "\\n", "\\t", "\\\"",
                                        "\\\\", "\\/", "\\u00e9", "\\u4E2D", "\\ud83d\\ude00", "\\uffff", "\\u0001",
                                        "\\b", "\\f", "\\r",
                                        /* left to the parser, or wrong */
                                        "\\u0000", "\\ud83d", "\\ude00", "\\ud83d\\u0041", "\\u12", "\\u12g4", "\\a",
                                        "\\N", "\n", "\t", "\x01", "\x1f", "\x80", "\xff", "\xc0\x80", "\xc1\xbf",
                                        "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80\x80", "\xe4\xb8", "\xc3", "\"", "\\"};
    const size_t usual_count = 24;
    put(to, "\"", 1);
    for (uint64_t left = rng_below(random, 6); left > 0; left--)
        put_one(random, to, parts, rng_one_in(random, 40) ? COUNT_OF(parts) : usual_count);
    put(to, "\"", 1);
}

static void put_number(rng *random, sample *to)
{
    static const char *const numbers[] = {"0", "7", "-1", "255", "18446744073709551615", "-9223372036854775808",
                                          "123456789012345678", "1234567890123456789", "-0", "0.5", "-1.25", "1e5",
                                          "2E-10", "1e+99", "123456789012345678.5", "1234567890123456789.5", "1e400",
                                          "1e-400", "1.00000000000000000000000000000000000000000001",
                                          "123456789012345678901234567890123456789012345678901234567890",
                                          /* wrong */
                                          "01", "-", "1.", ".5", "1e", "1e+", "+1", "00", "-01", "1.5.5", "0x1", "1-2",
                                          "00000000000000000001"};
    put_one(random, to, numbers, rng_one_in(random, 20) ? COUNT_OF(numbers) : 20);
}

static void put_value(rng *random, sample *to, uint32_t depth);

static void put_object(rng *random, sample *to, uint32_t depth)
{
    static const char *const keys[] = {"\"text\"",       "\"id\"",      "\"a\"",   "\"b\"",     "\"b.c\"",
                                       "\"c\"",          "\"\"",        "\"tex\"", "\"texts\"", "\"\xc3\xa9\"",
                                       "\"te\\u0078t\"", "\"\\u0000\"", "\"a\\n\""};
    put(to, "{", 1);
    for (uint64_t left = rng_below(random, 5); left > 0; left--) {
        put_space(random, to);
        put_one(random, to, keys, rng_one_in(random, 20) ? COUNT_OF(keys) : 10);
        put_space(random, to);
        put(to, ":", 1);
        put_space(random, to);
        put_value(random, to, depth + 1);
        put_space(random, to);
        put(to, ",", left > 1);
    }
    put(to, "}", 1);
}

static void put_value(rng *random, sample *to, uint32_t depth)
{
    static const char *const words[] = {"null", "true", "false", "nul", "True"};
    const uint64_t kind = rng_below(random, depth < MAX_DEPTH ? 12 : 10);
    if (kind < 6)
        put_string(random, to);
    else if (kind < 9)
        put_number(random, to);
    else if (kind == 9)
        put_one(random, to, words, rng_one_in(random, 30) ? COUNT_OF(words) : 3);
    else if (kind == 10)
        put_object(random, to, depth);
    else {
        put(to, "[", 1);
        for (uint64_t left = rng_below(random, 4); left > 0; left--) {
            put_space(random, to);
            put_value(random, to, depth + 1);
            put(to, ",", left > 1);
        }
        put(to, "]", 1);
    }
}

/* Remove, insert or replace some bytes somewhere. */
static void mutate(rng *random, sample *of)
{
    static const char bytes[] = "{}[]\":,\\u0019-.eE \n\tantf\x80\xc3\xff";
    const size_t at = (size_t)rng_below(random, of->size + 1), left = of->size - at;
    const size_t removed = (size_t)rng_below(random, (left < 3 ? left : 3) + 1), added = (size_t)rng_below(random, 3);
    memmove(of->text + at + added, of->text + at + removed, left - removed);
    for (size_t i = 0; i < added; i++)
        of->text[at + i] = rng_one_in(random, 8) ? (char)rng_below(random, 256)
                                                 : bytes[rng_below(random, sizeof bytes)];
    of->size = of->size - removed + added;
}

static void test_random_lines(void **state)
{
    static const char *const keys[][2] = {{"text", "id"}, {"b.c", "text"}, {"id", "id"}, {"", "\xc3\xa9"}};
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? 100000 : 500000);
    rng random = rng_seeded(run_seed + 1);
    uint64_t plain_count = 0;
    static sample line;
    (void)state;
    if (!json_is_available())
        skip();
    for (uint64_t i = 0; i < cases; i++) {
        line.size = 0;
        put_space(&random, &line);
        put_object(&random, &line, 1);
        put_space(&random, &line);
        for (uint64_t left = rng_one_in(&random, 3) ? 1 + rng_below(&random, 2) : 0; left > 0; left--)
            mutate(&random, &line);
        testing_doing("case %" PRIu64 ": %.*s", i, (int)line.size, line.text);
        plain_count += check(&line, keys[rng_one_in(&random, 2) ? 0 : rng_below(&random, COUNT_OF(keys))],
                             (decoding)rng_below(&random, DECODING_COUNT));
    }
    assert_true(cases < 1000 || plain_count > cases / 10);
    testing_done();
    testing_figure("%" PRIu64 " lines of JSON, of which %" PRIu64 " were read without the parser, as with it", cases,
                   plain_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_which_forms_are_plain, testing_teardown),
        cmocka_unit_test_teardown(test_random_lines, testing_teardown),
    };
    rng_start_run();
    memory = guard_make(ROOM);
    const int failed = cmocka_run_group_tests_name("json_plain", tests, NULL, NULL);
    guard_free(&memory);
    return failed;
}
