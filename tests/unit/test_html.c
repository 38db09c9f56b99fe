/* Pages of the command: no text can leave its place, and numbers keep their length, however large they are. */
#include <math.h>
#include <string.h>

#include "report/html.h"
#include "support/testing.h"

#define SP "\xe2\x80\xaf"

static void assert_text(const char *text, const char *wanted)
{
    html page;
    html_begin(&page);
    html_text(&page, text);
    html_end(&page);
    assert_string_equal(page.bytes, wanted);
    assert_int_equal(page.size, strlen(wanted));
    html_free(&page);
}

static void test_text_is_escaped(void **state)
{
    assert_text("", "");
    assert_text("plain \xc3\xa4 \\", "plain \xc3\xa4 \\");
    assert_text("<a href='x' b=\"y\">&amp;</a>", "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;amp;&lt;/a&gt;");
    assert_text("a\nb\x1b[0m\xff\xd8\x9c", "a\\x0ab\\x1b[0m\\xff\\xd8\\x9c");
}

static void test_markup_is_kept(void **state)
{
    html page;
    html_begin(&page);
    html_markup(&page, "<p>%d%%</p>", 5);
    html_end(&page);
    assert_string_equal(page.bytes, "<p>5%</p>");
    html_free(&page);
}

static void test_counts(void **state)
{
    assert_string_equal(html_count(0).text, "0");
    assert_string_equal(html_count(999).text, "999");
    assert_string_equal(html_count(1000).text, "1" SP "000");
    assert_string_equal(html_count(12345678).text, "12" SP "345" SP "678");
    assert_string_equal(html_count(UINT64_MAX).text, "18" SP "446" SP "744" SP "073" SP "709" SP "551" SP "615");
}

static void test_units(void **state)
{
    assert_string_equal(html_bytes(0).text, "0" SP "B");
    assert_string_equal(html_bytes(999).text, "999" SP "B");
    assert_string_equal(html_bytes(1000).text, "1.00" SP "kB");
    assert_string_equal(html_bytes(26.04e9).text, "26.0" SP "GB");
    assert_string_equal(html_bytes(1.5e19).text, "15000" SP "PB");
    assert_string_equal(html_bytes(NAN).text, "-");
    assert_string_equal(html_time(571).text, "571" SP "ns");
    assert_string_equal(html_time(4420).text, "4.42" SP "\xc2\xb5s");
    assert_string_equal(html_time(INFINITY).text, "-");
    assert_string_equal(html_time_tick(1e6).text, "1" SP "ms");
    assert_string_equal(html_tick(0.01).text, "0.01");
    assert_string_equal(html_tick(20).text, "20");
    assert_string_equal(html_tick(1e5).text, "100" SP "K");
}

static void test_rounded(void **state)
{
    assert_string_equal(html_rounded(0).text, "0");
    assert_string_equal(html_rounded(0.04).text, "&lt;" SP "0.1");
    assert_string_equal(html_rounded(4.25).text, "4.2");
    assert_string_equal(html_rounded(1234.5).text, "1" SP "235");
    assert_string_equal(html_rounded(7325923).text, "7.33" SP "M");
    assert_string_equal(html_rounded(1e10).text, "10.0" SP "G");
    assert_string_equal(html_rounded(NAN).text, "-");
    assert_string_equal(html_percent(0).text, "0.0" SP "%");
    assert_string_equal(html_percent(0.0001).text, "&lt;" SP "0.1" SP "%");
    assert_string_equal(html_percent(0.8486).text, "84.9" SP "%");
    assert_string_equal(html_percent(1.608).text, "161" SP "%");
    assert_string_equal(html_percent(4500).text, "4" SP "500" SP "\xc3\x97");
    assert_string_equal(html_percent(NAN).text, "-");
    assert_string_equal(html_fixed(13.578, 2).text, "13.58");
    assert_string_equal(html_fixed(INFINITY, 2).text, "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_escaped), cmocka_unit_test(test_markup_is_kept), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_units),           cmocka_unit_test(test_rounded),
    };
    return cmocka_run_group_tests_name("html", tests, NULL, NULL);
}
