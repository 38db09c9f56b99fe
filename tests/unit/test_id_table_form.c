/* The form of id tables: known bytes, the longest names, and malformed entries that checksums would hide. */
#include "names/id_table_form.h"

#include <stdlib.h>
#include <string.h>

#include "support/guard.h"
#include "support/testing.h"

static void test_known_bytes(void **state)
{
    static const uint8_t expected[] = {0, 6, 'a',  '/',  'b', /* id 7: a suffix of 3 bytes */
                                       2, 2, 'c',             /* 8: shares 2, then 1 */
                                       3, 1, 0,               /* 10: the same name, after a gap of 2 */
                                       0, 0,                  /* 11: no name */
                                       0, 3, 0x80, 0x01, 'x' /* 141: after a gap of 130 */};
    id_table_encoder made = {0};
    assert_true(id_table_encoder_add(&made, 7, "a/b", 3));
    assert_true(id_table_encoder_add(&made, 8, "a/c", 3));
    assert_true(id_table_encoder_add(&made, 10, "a/c", 3));
    assert_true(id_table_encoder_add(&made, 11, "", 0));
    assert_true(id_table_encoder_add(&made, 141, "x", 1));
    assert_int_equal(made.used, sizeof expected);
    assert_memory_equal(made.bytes, expected, sizeof expected);
    assert_int_equal(made.first_id, 7);
    id_table_encoder_clear(&made);
    assert_true(id_table_encoder_add(&made, 142, "x", 1)); /* nothing is shared with another block */
    assert_memory_equal(made.bytes, ((const uint8_t[]){0, 2, 'x'}), 3);
    id_table_encoder_free(&made);
}

static void test_footer(void **state)
{
    const id_table_footer footer = {
        .entry_count = 1, .last_id = 2, .index_offset = 3, .block_count = 4, .index_checksum = 5};
    uint8_t header[ID_TABLE_HEADER_BYTES], bytes[ID_TABLE_FOOTER_BYTES];
    id_table_footer read;
    id_table_put_header(header);
    assert_int_equal(id_table_take_header(header), ID_TABLE_OF_THIS_VERSION);
    id_table_put_footer(bytes, &footer);
    assert_true(id_table_take_footer(header, bytes, &read));
    assert_memory_equal(&read, &footer, sizeof footer);
    header[9] ^= 1;
    assert_int_equal(id_table_take_header(header), ID_TABLE_OF_ANOTHER_VERSION);
    assert_false(id_table_take_footer(header, bytes, &read)); /* the checksum is also that of the header */
    header[0] ^= 1;
    assert_int_equal(id_table_take_header(header), ID_TABLE_NONE);
}

/* Ids as far apart as they can be, and the longest names. */
static void test_extremes(void **state)
{
    const size_t most = ID_TABLE_MAX_NAME_BYTES;
    char *long_name = malloc(most);
    id_table_encoder made = {0};
    id_table_decoder read = {0};
    assert_non_null(long_name);
    memset(long_name, 'a', most);
    assert_true(id_table_encoder_add(&made, 0, long_name, most));
    assert_true(id_table_encoder_add(&made, 1, long_name, most));
    assert_true(id_table_encoder_add(&made, UINT64_MAX, "", 0));
    id_table_decoder_begin(&read, made.bytes, made.used, 0, UINT64_MAX);
    for (uint64_t i = 0; i < 2; i++) {
        assert_int_equal(id_table_decoder_next(&read), ID_TABLE_ENTRY);
        assert_int_equal(read.id, i);
        assert_int_equal(read.name.length, most);
        assert_memory_equal(read.name.bytes, long_name, most);
    }
    assert_int_equal(id_table_decoder_next(&read), ID_TABLE_ENTRY);
    assert_true(read.id == UINT64_MAX);
    assert_int_equal(read.name.length, 0);
    assert_int_equal(id_table_decoder_next(&read), ID_TABLE_END);
    id_table_decoder_free(&read);
    id_table_encoder_free(&made);
    free(long_name);
}

/* A block of ids from 10 to 20, in which the entry at `place` is wrong. */
typedef struct wrong_block {
    uint8_t bytes[16];
    size_t size, place;
    const char *reason;
} wrong_block;

static const wrong_block wrong_blocks[] = {
    {{0}, 1, 0, "length"},                                                           /* no second length */
    {{0x80}, 1, 0, "length"},                                                        /* a number that breaks off */
    {{0x80, 0, 0}, 3, 0, "length"},                                                  /* 0 in two bytes */
    {{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2}, 11, 0, "length"}, /* 65 bits */
    {{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 11, 0, "distance"},
    {{0, 4, 'a'}, 3, 0, "too long"},             /* a suffix that breaks off */
    {{1, 2, 'a'}, 3, 0, "shares"},               /* shares with nothing */
    {{0, 3, 0, 'a'}, 4, 0, "distance"},          /* a gap before the first id */
    {{0, 2, 'a', 2, 0}, 5, 3, "shares"},         /* 2 bytes of a name of 1 */
    {{0, 2, 'a', 1, 1}, 5, 3, "distance"},       /* a gap that breaks off */
    {{0, 2, 'a', 1, 1, 9}, 6, 3, "above"},       /* id 21 */
    {{0, 2, 'a', 1, 1, 8, 1, 0}, 8, 6, "above"}, /* 20, then 21 */
    {{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 14, 2, "above"}, /* a gap of 2^64 + 1 */
};

static void test_wrong_blocks(void **state)
{
    id_table_decoder read = {0};
    for (size_t i = 0; i < sizeof wrong_blocks / sizeof *wrong_blocks; i++) {
        const wrong_block *block = &wrong_blocks[i];
        testing_doing("block %zu", i);
        guarded memory = guard_make(block->size);
        const uint8_t *bytes = guard_before_end(&memory, block->bytes);
        id_table_decoder_begin(&read, bytes, block->size, 10, 20);
        id_table_step step;
        while ((step = id_table_decoder_next(&read)) == ID_TABLE_ENTRY)
            continue;
        assert_int_equal(step, ID_TABLE_MALFORMED);
        assert_ptr_equal(read.at, bytes + block->place);
        assert_non_null(strstr(read.reason, block->reason));
        guard_free(&memory);
    }
    id_table_decoder_free(&read);
    testing_done();
}

/* A name that grows beyond the limit by its prefix. */
static void test_long_name(void **state)
{
    const size_t most = ID_TABLE_MAX_NAME_BYTES;
    uint8_t *bytes = calloc(most + 32, 1);
    id_table_encoder made = {0};
    id_table_decoder read = {0};
    assert_non_null(bytes);
    assert_true(id_table_encoder_add(&made, 0, (const char *)bytes, most));
    memcpy(bytes, made.bytes, made.used);
    memcpy(bytes + made.used, (const uint8_t[]){0x80, 0x80, 0x40, 2, 'b'}, 5); /* all of it, and one more */
    id_table_decoder_begin(&read, bytes, made.used + 5, 0, 5);
    assert_int_equal(id_table_decoder_next(&read), ID_TABLE_ENTRY);
    assert_int_equal(id_table_decoder_next(&read), ID_TABLE_MALFORMED);
    assert_string_equal(read.reason, "a name is too long");
    id_table_decoder_free(&read);
    id_table_encoder_free(&made);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_bytes), cmocka_unit_test(test_footer),
        cmocka_unit_test(test_extremes),    cmocka_unit_test_teardown(test_wrong_blocks, testing_teardown),
        cmocka_unit_test(test_long_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
