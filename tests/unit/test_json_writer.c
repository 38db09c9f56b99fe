/* JSON within a page: no text can leave its place, and numbers are exact, however large they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/json_writer.h"
#include "support/testing.h"

typedef struct written {
    json_writer writer;
    char *bytes;
    size_t size;
} written;

static void begin(written *self)
{
    *self = (written){.bytes = NULL};
    self->writer.stream = open_memstream(&self->bytes, &self->size);
    assert_non_null(self->writer.stream);
}

static void assert_written(written *self, const char *wanted)
{
    assert_int_equal(fclose(self->writer.stream), 0);
    assert_string_equal(self->bytes, wanted);
    assert_int_equal(self->size, strlen(wanted));
    free(self->bytes);
}

static void assert_text(const char *text, const char *wanted)
{
    written self;
    begin(&self);
    json_text(&self.writer, NULL, text);
    assert_written(&self, wanted);
}

static void test_text_is_escaped(void **state)
{
    assert_text("", "\"\"");
    assert_text("plain \xc3\xa4 \\", "\"plain \xc3\xa4 \\u005c\"");
    assert_text("</script><!-- &amp; \"q\"", "\"\\u003c/script\\u003e\\u003c!-- \\u0026amp; \\u0022q\\u0022\"");
    assert_text("a\nb\x1b[0m\xff\xd8\x9c", "\"a\\u005cx0ab\\u005cx1b[0m\\u005cxff\\u005cxd8\\u005cx9c\"");
}

static void assert_number(double value, const char *wanted)
{
    written self;
    begin(&self);
    json_number(&self.writer, NULL, value);
    assert_written(&self, wanted);
}

static void test_numbers(void **state)
{
    assert_number(0, "0");
    assert_number(-1, "-1");
    assert_number(0.25, "0.25");
    assert_number(999999999999999, "999999999999999");
    assert_number(1e300, "1e+300");
    assert_number(NAN, "null");
    assert_number(INFINITY, "null");
}

static void test_commas_and_lines(void **state)
{
    written self;
    begin(&self);
    json_begin(&self.writer, NULL, '{');
    json_begin(&self.writer, "empty", '[');
    json_end(&self.writer, ']');
    json_begin(&self.writer, "list", '[');
    json_number(&self.writer, NULL, 1);
    json_truth(&self.writer, NULL, false);
    for (int i = 0; i < 2; i++) {
        json_begin(&self.writer, NULL, '{');
        json_truth(&self.writer, "yes", true);
        json_text(&self.writer, "text", "t");
        json_end(&self.writer, '}');
    }
    json_end(&self.writer, ']');
    json_end(&self.writer, '}');
    assert_written(&self, "{\n\"empty\":[],\n\"list\":[1,false,\n{\"yes\":true,\"text\":\"t\"},\n"
                          "{\"yes\":true,\"text\":\"t\"}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_escaped),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_commas_and_lines),
    };
    return cmocka_run_group_tests_name("json_writer", tests, NULL, NULL);
}
