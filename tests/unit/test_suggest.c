/* Names that mistyped words are taken for, and the distance that decides. */
#include "commands/suggest.h"

#include <stdint.h>
#include <string.h>

#include "support/random.h"
#include "support/testing.h"

static void test_distances(void **state)
{
    static const struct {
        const char *word, *other;
        size_t distance;
    } cases[] = {
        {"", "", 0},           {"", "abc", 3},       {"query", "query", 0},  {"QUERY", "query", 0},
        {"qeury", "query", 1}, {"quer", "query", 1}, {"qquery", "query", 1}, {"quary", "query", 1},
        {"ca", "abc", 3},      {"ab", "ba", 1},      {"abcd", "badc", 2},    {"scan", "shard", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        testing_doing("'%s' and '%s'", cases[i].word, cases[i].other);
        assert_int_equal(suggest_distance(cases[i].word, cases[i].other), cases[i].distance);
        assert_int_equal(suggest_distance(cases[i].other, cases[i].word), cases[i].distance);
    }
    assert_true(suggest_distance("abcdefghijabcdefghijabcdefghija", "") == 31);
    assert_true(suggest_distance("abcdefghijabcdefghijabcdefghijab", "") == SIZE_MAX);
    assert_true(suggest_distance("", "abcdefghijabcdefghijabcdefghijab") == SIZE_MAX);
    testing_done();
}

/* The distance by its definition: the last letters are removed, inserted, replaced or exchanged. */
static size_t slow_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    if (a_length == 0 || b_length == 0)
        return a_length + b_length;
    size_t best = slow_distance(a, a_length - 1, b, b_length) + 1;
    size_t other = slow_distance(a, a_length, b, b_length - 1) + 1;
    best = other < best ? other : best;
    other = slow_distance(a, a_length - 1, b, b_length - 1) + (a[a_length - 1] != b[b_length - 1]);
    best = other < best ? other : best;
    if (a_length > 1 && b_length > 1 && a[a_length - 1] == b[b_length - 2] && a[a_length - 2] == b[b_length - 1]) {
        other = slow_distance(a, a_length - 2, b, b_length - 2) + 1;
        best = other < best ? other : best;
    }
    return best;
}

static void random_word(rng *random, char word[7])
{
    const size_t length = (size_t)rng_below(random, 7);
    for (size_t i = 0; i < length; i++)
        word[i] = (char)('a' + rng_below(random, 3));
    word[length] = '\0';
}

static void test_random_distances(void **state)
{
    rng random = rng_seeded(run_seed + 61);
    for (size_t i = 0; i < 3000; i++) {
        char word[7], other[7];
        random_word(&random, word);
        random_word(&random, other);
        testing_doing("'%s' and '%s'", word, other);
        assert_int_equal(suggest_distance(word, other), slow_distance(word, strlen(word), other, strlen(other)));
    }
    testing_done();
}

static void test_choice(void **state)
{
    static const char *const names[] = {"build", "add", "compact", "collect", "query", "stat", "verify"};
    static const struct {
        const char *word, *name;
    } cases[] = {
        {"qeury", "query"}, {"stats", "stat"}, {"ad", "add"},         {"bulid", "build"}, {"Verify", "verify"},
        {"ver", "verify"},  {"co", "compact"}, {"colect", "collect"}, {"q", NULL},        {"frobnicate", NULL},
        {"", NULL},         {"listing", NULL}, {"dd", "add"},         {"a", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        suggestion meant = {.word = cases[i].word};
        testing_doing("'%s'", cases[i].word);
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            suggestion_consider(&meant, names[j]);
        if (cases[i].name == NULL)
            assert_null(meant.name);
        else
            assert_string_equal(meant.name, cases[i].name);
    }
    testing_done();
}

static void test_text(void **state)
{
    char text[80];
    assert_string_equal(suggestion_text(&(suggestion){.name = "json"}, "--", text), "; did you mean '--json'?");
    assert_string_equal(suggestion_text(&(suggestion){.word = "x"}, "--", text), "");
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_distances, testing_teardown),
        cmocka_unit_test_teardown(test_random_distances, testing_teardown),
        cmocka_unit_test_teardown(test_choice, testing_teardown),
        cmocka_unit_test_teardown(test_text, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
