/* Reading JSON: what is read is what jansson reads, another reader, and nothing beyond the text may be touched. */
#include "output/json_members.h"

#include <inttypes.h>
#ifdef TEST_WITH_JANSSON
#include <jansson.h>
#endif
#include <stdio.h>
#include <stdlib.h>
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

/* Read a line that ends where memory ends. */
static bool read_line(const sample *line, json_member *members, size_t count, char reason[JSON_REASON_BYTES])
{
    static char room[ROOM];
    char *const text = (char *)memory.high + memory.size - line->size;
    memcpy(text, line->text, line->size);
    return json_members_read(text, line->size, members, count, room, reason);
}

static sample sample_of(const char *text)
{
    sample line = {.size = strlen(text)};
    memcpy(line.text, text, line.size);
    return line;
}

/* ----- forms ----- */

static const struct {
    const char *line, *reason; /* reason: NULL if the line is read */
    member_kind kind;          /* of the member "a.b" */
    const char *text;
} forms[] = {
    {"{}", NULL, MEMBER_ABSENT, ""},
    {" {\t\"a.b\" : \"\" } \r\n", NULL, MEMBER_STRING, ""},
    {"{\"a.b\":null}", NULL, MEMBER_NULL, ""},
    {"{\"a.b\":18446744073709551616}", NULL, MEMBER_INTEGER, "18446744073709551616"},
    {"{\"a.b\":-0}", NULL, MEMBER_INTEGER, "0"},
    {"{\"a.b\":1e400}", NULL, MEMBER_OTHER, JSON_REAL_NAME},
    {"{\"a.b\":{}}", NULL, MEMBER_OTHER, "an object"},
    {"{\"a\\u002eb\":\"\\n\\t\\\"\\\\\\/\\u00e9\\ud83d\\ude00\"}", NULL, MEMBER_STRING,
     "\n\t\"\\/\xc3\xa9\xf0\x9f\x98\x80"},
    {"{\"a\":{\"b\":\"inner\"}}", NULL, MEMBER_STRING, "inner"},
    {"{\"a\":{\"b\":\"inner\"},\"a.b\":\"outer\"}", NULL, MEMBER_STRING, "outer"},
    {"{\"a\":[{\"b\":1}]}", NULL, MEMBER_ABSENT, ""},
    {"{\"a.b\":[\"0a\",255]}", NULL, MEMBER_BYTES, "\x0a\xff"},
    {"{\"a.b\":[-1,127]}", NULL, MEMBER_BYTES, "\xff\x7f"},
    {"{\"a.b\":[1,18446744073709551615]}", NULL, MEMBER_PARTS, "1,18446744073709551615"},
    {"{\"a.b\":[1,[2]]}", NULL, MEMBER_OTHER, JSON_ARRAY_NAME},
    {"{\"c\":1,\"c\":1}", NULL, MEMBER_ABSENT, ""},
    {"{\"a.b\":1,\"a.b\":1}", "occurs twice", MEMBER_ABSENT, ""},
    {"{\"a\":{\"b\":1,\"b\":1}}", "occurs twice", MEMBER_ABSENT, ""},
    {"", "no value at the end", MEMBER_ABSENT, ""},
    {"[{}]", "another JSON value", MEMBER_ABSENT, ""},
    {"{\"a.b\":01}", "begins with 0 near", MEMBER_ABSENT, ""},
    {"{\"a.b\":1.}", "no digit near '}'", MEMBER_ABSENT, ""},
    {"{\"a.b\":1,}", "no string near '}'", MEMBER_ABSENT, ""},
    {"{\"a.b\"}", "no ':' near '}'", MEMBER_ABSENT, ""},
    {"{\"a.b\":tru}", "no value near 'tru}'", MEMBER_ABSENT, ""},
    {"{\"a.b\":1", "no ',' or '}' at the end", MEMBER_ABSENT, ""},
    {"{\"a.b\":[1}", "no ',' or ']' near '}'", MEMBER_ABSENT, ""},
    {"{} x", "more text near 'x'", MEMBER_ABSENT, ""},
    {"{\"a.b\":\"a\tb\"}", "control character", MEMBER_ABSENT, ""},
    {"{\"a.b\":\"\\ud83d\"}", "surrogate", MEMBER_ABSENT, ""},
    {"{\"a.b\":\"\xc0\x80\"}", "not UTF-8", MEMBER_ABSENT, ""},
    {"{\"a.b\":\"a}", "does not end", MEMBER_ABSENT, ""},
};

static void test_forms(void **state)
{
    char reason[JSON_REASON_BYTES];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        const sample line = sample_of(forms[i].line);
        json_member member = {.key = "a.b"};
        testing_doing("%s", forms[i].line);
        assert_int_equal(read_line(&line, &member, 1, reason), forms[i].reason == NULL);
        if (forms[i].reason != NULL) {
            assert_non_null(strstr(reason, forms[i].reason));
            continue;
        }
        assert_int_equal(member.kind, forms[i].kind);
        assert_int_equal(member.length, strlen(forms[i].text));
        assert_memory_equal(member.text, forms[i].text, member.length);
    }
    testing_done();
}

/* Deep values neither end the process nor take long. */
static void test_depth(void **state)
{
    const size_t size = 1 << 20;
    char *text = malloc(size), reason[JSON_REASON_BYTES];
    size_t line, column;
    json_view value;
    (void)state;
    assert_non_null(text);
    memset(text, '[', size);
    memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
    assert_true(json_read(text, 2 * JSON_MAX_DEPTH, &value, reason, NULL, NULL));
    memset(text, '[', size);
    text[9] = '\n';
    assert_false(json_read(text, size, &value, reason, &line, &column));
    assert_non_null(strstr(reason, "nested too deep"));
    assert_int_equal(line, 2);
    assert_int_equal(column, JSON_MAX_DEPTH - 9 + 1);
    free(text);
}

/* ----- beside jansson ----- */

#ifdef TEST_WITH_JANSSON

static const json_t *member_of(const json_t *object, const char *key)
{
    const json_t *found = json_object_get(object, key);
    const char *dot = strchr(key, '.');
    if (found != NULL || dot == NULL)
        return found;
    char first[16] = "";
    memcpy(first, key, (size_t)(dot - key));
    return member_of(json_object_get(object, first), dot + 1);
}

static void check_member(const json_member *got, const json_t *value)
{
    char digits[32];
    if (value == NULL || json_is_null(value)) {
        assert_int_equal(got->kind, value == NULL ? MEMBER_ABSENT : MEMBER_NULL);
    } else if (json_is_string(value)) {
        assert_int_equal(got->kind, MEMBER_STRING);
        assert_int_equal(got->length, json_string_length(value));
        assert_memory_equal(got->text, json_string_value(value), got->length);
    } else if (json_is_integer(value)) {
        assert_int_equal(got->kind, MEMBER_INTEGER);
        assert_int_equal(got->length, snprintf(digits, sizeof digits, "%" PRId64, (int64_t)json_integer_value(value)));
        assert_memory_equal(got->text, digits, got->length);
    } else if (json_is_array(value)) {
        assert_true(got->kind >= MEMBER_BYTES);
    } else {
        assert_int_equal(got->kind, MEMBER_OTHER);
    }
}

/* What jansson does not read: what is out of the range of its numbers, or a key with a zero. */
static bool is_limit_of_jansson(const json_error_t *error)
{
    return strstr(error->text, "too big") != NULL || strstr(error->text, "overflow") != NULL ||
           strstr(error->text, "NUL byte in object key") != NULL;
}

/* Returns whether the line was read. */
static bool check(const sample *line, const char *const keys[2])
{
    json_member got[] = {{.key = keys[0]}, {.key = keys[1]}};
    char reason[JSON_REASON_BYTES];
    json_error_t error;
    const bool is_read = read_line(line, got, 2, reason);
    if (memchr(line->text, 0, line->size) != NULL) { /* jansson overlooks some */
        assert_false(is_read);
        return false;
    }
    json_t *value = json_loadb(line->text, line->size, JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (value == NULL)
        assert_true(!is_read || is_limit_of_jansson(&error));
    else if (!is_read)
        assert_true(!json_is_object(value) || strstr(reason, "occurs twice") != NULL);
    for (size_t i = 0; i < 2 && is_read && value != NULL; i++)
        check_member(&got[i], member_of(value, keys[i]));
    json_decref(value);
    return is_read && value != NULL;
}

#else

static bool check(const sample *line, const char *const keys[2])
{
    json_member got[] = {{.key = keys[0]}, {.key = keys[1]}};
    char reason[JSON_REASON_BYTES];
    return read_line(line, got, 2, reason);
}

#endif

/* ----- random lines ----- */

static void put(sample *to, const char *text, size_t size)
{
    if (to->size + size > sizeof to->text / 2) /* mutations extend it */
        return;
    memcpy(to->text + to->size, text, size);
    to->size += size;
}

static void put_one(rng *random, sample *to, const char *const *chosen, size_t count)
{
    const char *text = chosen[rng_below(random, count)];
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
                                        /* rare, or wrong */
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
static void mutate(rng *random, sample *self)
{
    static const char bytes[] = "{}[]\":,\\u0019-.eE \n\tantf\x80\xc3\xff";
    const size_t at = (size_t)rng_below(random, self->size + 1), left = self->size - at;
    const size_t removed = (size_t)rng_below(random, (left < 3 ? left : 3) + 1), added = (size_t)rng_below(random, 3);
    memmove(self->text + at + added, self->text + at + removed, left - removed);
    for (size_t i = 0; i < added; i++)
        self->text[at + i] = rng_one_in(random, 8) ? (char)rng_below(random, 256)
                                                   : bytes[rng_below(random, sizeof bytes)];
    self->size = self->size - removed + added;
}

static void test_random_lines(void **state)
{
    static const char *const keys[][2] = {{"text", "id"}, {"b.c", "text"}, {"id", "id"}, {"", "\xc3\xa9"}};
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? 100000 : 500000);
    rng random = rng_seeded(run_seed + 1);
    uint64_t read_count = 0;
    static sample line;
    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        line.size = 0;
        put_space(&random, &line);
        put_object(&random, &line, 1);
        put_space(&random, &line);
        for (uint64_t left = rng_one_in(&random, 3) ? 1 + rng_below(&random, 2) : 0; left > 0; left--)
            mutate(&random, &line);
        testing_doing("case %" PRIu64 ": %.*s", i, (int)line.size, line.text);
        read_count += check(&line, keys[rng_one_in(&random, 2) ? 0 : rng_below(&random, COUNT_OF(keys))]);
    }
    assert_true(cases < 1000 || read_count > cases / 10);
    testing_done();
    testing_figure("%" PRIu64 " lines of JSON, of which %" PRIu64 " were read, as by jansson", cases, read_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_forms, testing_teardown),
        cmocka_unit_test(test_depth),
        cmocka_unit_test_teardown(test_random_lines, testing_teardown),
    };
    rng_start_run();
    memory = guard_make(ROOM);
    const int failed = cmocka_run_group_tests_name("json_read", tests, NULL, NULL);
    guard_free(&memory);
    return failed;
}
