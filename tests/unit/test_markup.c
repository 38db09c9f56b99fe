/* HTML is taken away as format-spec/fingerprint.md says. More cases, also random ones, are in format.fingerprint. */
#include "text/markup.h"

#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "support/testing.h"

/* Bytes of exactly the text's size, so that a sanitizer detects reads beyond them. */
static void remove_from(ss_markup *markup, const void *text, size_t size)
{
    sstore_error error;
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    assert_ok(ss_markup_remove(markup, copy, size, &error), &error);
    assert_true(markup->size <= size);
    free(copy);
}

static void assert_bytes_become(const char *text, size_t size, const char *expected, size_t expected_size)
{
    ss_markup markup = {0};
    testing_doing("'%s' becomes '%s'", text, expected);
    remove_from(&markup, text, size);
    assert_int_equal(markup.size, expected_size);
    if (expected_size > 0)
        assert_memory_equal(markup.bytes, expected, expected_size);
    testing_done();
    ss_markup_free(&markup);
}

#define assert_becomes(text, expected) assert_bytes_become(text, sizeof(text) - 1, expected, sizeof(expected) - 1)

static void test_text_stays(void **state)
{
    assert_becomes("", "");
    assert_becomes("a < b > c", "a < b > c");
    assert_becomes("<", "<");
    assert_becomes("</", "</");
    assert_becomes("I </3 <3 <_ </> <\xc3\xa9>", "I </3 <3 <_ </> <\xc3\xa9>");
    assert_becomes("a\0b\r\n\t\xff\xc3", "a\0b\r\n\t\xff\xc3");
    assert_becomes("x\xc3<", "x\xc3<");
    assert_becomes("--> ]]> /> \"'", "--> ]]> /> \"'");
}

static void test_inline_tags_join_and_others_break(void **state)
{
    assert_becomes("<b>f</b>oo", "foo");
    assert_becomes("<B CLASS=x>f</B\n>oo", "foo");
    assert_becomes("a<wbr/>b<sup>2</sup>", "ab2");
    assert_becomes("a<br>b<br/>c", "a\nb\nc");
    assert_becomes("<p>a<p>b</p>", "\na\nb\n");
    assert_becomes("<td>a</td><td>b</td>", "\na\n\nb\n");
    assert_becomes("<title>A &amp; B</title>", "\nA & B\n");
    assert_becomes("a<strongest>b<bb>c<blockquotes>d", "a\nb\nc\nd"); /* names count whole */
    assert_becomes("a<b\0>c", "a\nc");
    assert_becomes("a<b\xff>c", "a\nc");
    assert_becomes("a<x:y-z.1>c", "a\nc");
    assert_becomes("\xc3<b>\xa9", "\xc3\xa9");
}

static void test_attributes_may_have_what_ends_tags(void **state)
{
    assert_becomes("<a href='>'>x", "x");
    assert_becomes("<a href = \"a>b'c\" b>x", "x");
    assert_becomes("<a b=c'>x", "x"); /* a quote inside a value, or in a name, is nothing special */
    assert_becomes("<a b\"c>x", "x");
    assert_becomes("<a \">x", "x");
    assert_becomes("<a ='>x", "x"); /* a name may begin with '=' */
    assert_becomes("<a b= =c>x", "x");
    assert_becomes("<a b==c>x", "x");
    assert_becomes("<a b='c'd='>'>x", "x");
    assert_becomes("<a b='c'/d>x", "x");
    assert_becomes("<a/b='>'>x", "x");
    assert_becomes("<a\vb='>'>x", "\n'>x"); /* U+000B is part of the name, up to the first '>' */
    assert_becomes("<a b=>x", "x");
    assert_becomes("<a b=\f'>'\t>x", "x");
    assert_becomes("<a / b = '>' />x", "x");
    assert_becomes("</a b='>'>x", "x");
    assert_becomes("<a <b>x", "x");
}

static void test_what_is_not_closed_goes_to_the_end(void **state)
{
    assert_becomes("x<a", "x");
    assert_becomes("x<a b", "x");
    assert_becomes("x<a b='>", "x");
    assert_becomes("x<a b=", "x");
    assert_becomes("x<p /", "x\n");
    assert_becomes("x<!-- y", "x");
    assert_becomes("x<!-- y --", "x");
    assert_becomes("x<!--", "x");
    assert_becomes("x<!-", "x");
    assert_becomes("x<!", "x");
    assert_becomes("x<?php echo 1", "x");
    assert_becomes("x<script>y", "x\n");
    assert_becomes("x<script>y</script", "x\n");
    assert_becomes("x<script>y</script ", "x\n");
    assert_becomes("x<![CDATA[y]]", "xy]]");
    assert_becomes("x<![CDATA[", "x");
}

static void test_comments_and_declarations(void **state)
{
    assert_becomes("a<!-- <p> > -> -- > & -->b", "ab");
    assert_becomes("a<!-->b", "ab");
    assert_becomes("a<!--->b", "ab");
    assert_becomes("a<!---->b", "ab");
    assert_becomes("a<!--!>b-->c", "ac");
    assert_becomes("a<!---!>b-->c", "ac");
    assert_becomes("a<!----!>b", "ab");
    assert_becomes("a<!--x--!>b", "ab");
    assert_becomes("a<!--x--->b", "ab");
    assert_becomes("a<!--x-!>b-->c", "ac");
    assert_becomes("a<!->b", "ab");
    assert_becomes("a<!>b<?>c", "abc");
    assert_becomes("<!DOCTYPE html SYSTEM 'a>b'>c", "b'>c");
    assert_becomes("<?xml version='1.0'?>c", "c");
    assert_becomes("a<![CDATA[<b>&amp;]>]]>c", "a<b>&amp;]>c");
    assert_becomes("a<![CDATA[]]>c", "ac");
    assert_becomes("a<![CDATA[]>]]>c", "a]>c");
    assert_becomes("a<![CDATA[b]]]>c", "ab]c");
    assert_becomes("a<![cdata[b]]>c", "ac");
}

static void test_scripts_and_their_like_are_dropped(void **state)
{
    assert_becomes("a<script>if (a<b && '</p>') \"</scripts>\"; <!--</script>b", "a\nb");
    assert_becomes("a<SCRIPT src='>'>x</sCRIPT foo='>'>b", "a\nb");
    assert_becomes("a<style>x</style/>b", "a\nb");
    assert_becomes("a<style>x</style\n>b", "a\nb");
    assert_becomes("a<style>x</style\v></style>b", "a\nb");
    assert_becomes("a<style>x</script></style>b", "a\nb");
    assert_becomes("a<script/>b<script src=x />c", "a\nb\nc"); /* empty */
    assert_becomes("a<script / >b</script>c", "a\nc");
    assert_becomes("a<script src=x/>b</script>c", "a\nc"); /* the '/' is part of the value */
    assert_becomes("a<script src='x'/>b", "a\nb");
    assert_becomes("a</script>b", "a\nb");
    assert_becomes("a<template>b<template>c</template>d</template>e", "a\nd\ne");
    assert_becomes("a<iframe>b</iframe><noembed>c</noembed><noframes>d</noframes>e", "a\n\n\ne");
    assert_becomes("<noscript>a</noscript><textarea>b", "\na\n\nb");
    assert_becomes("a<script><</script>b", "a\nb");
    assert_becomes("a<script></</script>b", "a\nb");
}

static void test_numbers_of_characters(void **state)
{
    assert_becomes("&#65;&#066;&#x43;&#X4a;&#x1F600;", "ABCJ\xf0\x9f\x98\x80");
    assert_becomes("&#65&#66 &#x43g&#x43G;", "AB CgCG;"); /* the ';' is not needed */
    assert_becomes("&#65;;", "A;");
    assert_becomes("&#0;&#x0;&#xd800;&#xDFFF;&#x110000;&#1114112;", "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd");
    assert_becomes("&#x10ffff;&#xe000;&#xd7ff;", "\U0010ffff\ue000\ud7ff");
    assert_becomes("&#99999999999999999999999;&#xffffffffffffffffffff41;", "\ufffd\ufffd");
    assert_becomes("&#4294967361;&#x100000041;", "\ufffd\ufffd"); /* 65 in 32 bits */
    assert_becomes("&#00000000000000000000000065;", "A");
    assert_becomes("&#128;&#x80;&#150;&#x9f;&#129;&#xa0;", "\u20ac\u20ac\u2013\u0178\xc2\x81\u00a0");
    assert_becomes("&#;&#x;&#xg;&#a;&# 1;&#-1;&#+1;", "&#;&#x;&#xg;&#a;&# 1;&#-1;&#+1;");
    assert_becomes("&#", "&#");
    assert_becomes("&#x", "&#x");
    assert_becomes("&#0", "\ufffd");
    assert_becomes("&#1", "\x01");
}

static void test_names_of_characters(void **state)
{
    assert_becomes("&lt;b&gt; &amp;lt; &quot;&apos;&nbsp;&eacute;&Eacute;", "<b> &lt; \"'\u00a0\u00e9\u00c9");
    assert_becomes("&thetasym;&sup1;&frac34;&there4;", "\u03d1\u00b9\u00be\u2234");
    assert_becomes("&AElig;&zwnj;&zwj;&lang;&rang;", "\u00c6\u200c\u200d\u27e8\u27e9"); /* the table's ends */
    assert_becomes("&notit;&not;&not &amp &amp", "&notit;\u00ac&not &amp &amp");
    assert_becomes("&AMP;&Lt;&thetasyms;&a;&zz;&;&", "&AMP;&Lt;&thetasyms;&a;&zz;&;&");
    assert_becomes("&&amp;&am<p>p;&lt\0;", "&&&am\np;&lt\0;");
    assert_becomes("<a href='?x&lt;'>&lt;!-- x -->", "<!-- x -->"); /* what they become is not read again */
}

/* ----- any text ----- */

static size_t append_text(char *to, size_t size, const char *text)
{
    memcpy(to + size, text, strlen(text));
    return size + strlen(text);
}

/* A text whose '<' and '&' are references, with markup between that leaves nothing, comes back. One ss_markup takes
 * all of them, long and short ones. */
static void test_random_texts_survive_escaping(void **state)
{
    enum { MOST = 20000 };
    static const char *const nothing[] = {"<b>", "</i title='>'>", "<!-- & < > -->", "<?x?>", "<!D>", "<SPAN\n/>"};
    static char text[MOST], page[MOST * 20];
    static const char few[] = "<&>;#-!ab/'\" ]";
    rng random = rng_seeded(run_seed);
    ss_markup markup = {0};
    for (uint32_t trial = 0; trial < 1000; trial++) {
        const size_t size = (size_t)rng_below(&random, rng_one_in(&random, 50) ? MOST : 200);
        size_t length = 0;
        for (size_t i = 0; i < size; i++) {
            text[i] = rng_one_in(&random, 2) ? few[rng_below(&random, sizeof few - 1)] : (char)rng_next(&random);
            if (rng_one_in(&random, 8))
                length = append_text(page, length, nothing[rng_below(&random, sizeof nothing / sizeof *nothing)]);
            if (text[i] == '<')
                length = append_text(page, length, rng_one_in(&random, 2) ? "&lt;" : "&#60;");
            else if (text[i] == '&')
                length = append_text(page, length, rng_one_in(&random, 2) ? "&amp;" : "&#x26;");
            else
                page[length++] = text[i];
        }
        remove_from(&markup, page, length);
        assert_int_equal(markup.size, size);
        if (size > 0)
            assert_memory_equal(markup.bytes, text, size);
    }
    ss_markup_free(&markup);
}

/* Whatever opens and is not closed is looked through once: these take seconds if it is done for each. */
static void test_a_million_openings_take_linear_time(void **state)
{
    enum { SIZE = 3000000 };
    static const char *const openings[] = {"<",        "</",         "<a", "<a b='", "<!--",   "<![CDATA[",
                                           "<script>", "<script></", "&#", "&amp",   "<!-- >", "<script></script",
                                           "<a b=\"'", "&#x0"};
    char *text = malloc(SIZE);
    ss_markup markup = {0};
    assert_non_null(text);
    for (size_t kind = 0; kind < sizeof openings / sizeof *openings; kind++) {
        for (size_t i = 0; i < SIZE; i++)
            text[i] = openings[kind][i % strlen(openings[kind])];
        testing_doing("many of '%s'", openings[kind]);
        remove_from(&markup, text, SIZE);
        testing_done();
    }
    ss_markup_free(&markup);
    free(text);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_text_stays, testing_teardown),
        cmocka_unit_test_teardown(test_inline_tags_join_and_others_break, testing_teardown),
        cmocka_unit_test_teardown(test_attributes_may_have_what_ends_tags, testing_teardown),
        cmocka_unit_test_teardown(test_what_is_not_closed_goes_to_the_end, testing_teardown),
        cmocka_unit_test_teardown(test_comments_and_declarations, testing_teardown),
        cmocka_unit_test_teardown(test_scripts_and_their_like_are_dropped, testing_teardown),
        cmocka_unit_test_teardown(test_numbers_of_characters, testing_teardown),
        cmocka_unit_test_teardown(test_names_of_characters, testing_teardown),
        cmocka_unit_test(test_random_texts_survive_escaping),
        cmocka_unit_test_teardown(test_a_million_openings_take_linear_time, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
