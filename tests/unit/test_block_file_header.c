/* The header of a block file: it is read as it was written. A changed or invalid field is refused. */
#include "store/block_file.h"

#include <string.h>

#include "support/random.h"
#include "support/store_offsets.h"
#include "support/testing.h"

static ss_block_header make_header(rng *random)
{
    ss_block_header header = {.segment_id = {.low = rng_next(random), .high = rng_next(random)},
                              .number = (uint32_t)rng_below(random, 64),
                              .words = (uint32_t)rng_between(random, 1, SSTORE_MAX_WORDS),
                              .block_bytes = 256u << rng_below(random, 9),
                              .table_count = (uint32_t)rng_between(random, 1, 64),
                              .distance = (uint32_t)rng_below(random, 17),
                              .radius = (uint32_t)rng_below(random, 65),
                              .block_count = rng_below(random, 1000),
                              .key_mask = rng_next(random)};
    header.item_count = header.block_count * rng_between(random, 1, 65535);
    uint64_t symbol_counts[SS_SYMBOL_COUNT];
    for (uint32_t i = 0; i < SS_FINGERPRINT_BITS; i++) {
        header.h_counts[i] = rng_next(random) >> 20;
        header.gap_bit_counts[i] = rng_next(random);
    }
    ss_symbol_counts(header.h_counts, symbol_counts);
    ss_huffman_lengths(symbol_counts, header.code_lengths);
    return header;
}

static sstore_status decode(const uint8_t bytes[SS_HEADER_BYTES], ss_block_header *header, ss_u128 *checksum,
                            sstore_error *error)
{
    *error = (sstore_error){.status = SSTORE_OK};
    return ss_block_header_decode(bytes, "some.blk", header, checksum, error);
}

/* Update the checksum, so that the other fields are checked. */
static void sign(uint8_t bytes[SS_HEADER_BYTES])
{
    ss_store_u128(bytes + HEADER_CHECKSUM, ss_hash128(bytes, HEADER_CHECKSUM));
}

static void test_round_trip(void **state)
{
    rng random = rng_seeded(run_seed);
    for (int i = 0; i < 200; i++) {
        const ss_block_header header = make_header(&random);
        uint8_t bytes[SS_HEADER_BYTES];
        ss_block_header got;
        ss_u128 written, read;
        sstore_error error;
        memset(bytes, 0xff, sizeof bytes);
        written = ss_block_header_encode(&header, bytes);
        assert_ok(decode(bytes, &got, &read, &error), &error);
        assert_int_equal(ss_load_le32(bytes + HEADER_VERSION), 2);
        assert_int_equal(ss_load_le32(bytes + HEADER_COLUMN), header.words == 1 ? 32 : 64 * header.words);
        assert_int_equal(got.words, header.words);
        for (size_t at = HEADER_LENGTHS + 33; at < HEADER_LENGTHS + 64; at++)
            assert_int_equal(bytes[at], 0);
        assert_true(ss_u128_equal(written, read));
        assert_true(ss_u128_equal(got.segment_id, header.segment_id));
        assert_int_equal(got.number, header.number);
        assert_int_equal(got.block_bytes, header.block_bytes);
        assert_int_equal(got.table_count, header.table_count);
        assert_int_equal(got.distance, header.distance);
        assert_int_equal(got.radius, header.radius);
        assert_int_equal(got.block_count, header.block_count);
        assert_int_equal(got.item_count, header.item_count);
        assert_int_equal(got.key_mask, header.key_mask);
        assert_memory_equal(got.code_lengths, header.code_lengths, sizeof header.code_lengths);
        assert_memory_equal(got.h_counts, header.h_counts, sizeof header.h_counts);
        assert_memory_equal(got.gap_bit_counts, header.gap_bit_counts, sizeof header.gap_bit_counts);
    }
}

static void test_every_flipped_bit_is_refused(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    const ss_block_header header = make_header(&random);
    uint8_t bytes[SS_HEADER_BYTES];
    ss_block_header_encode(&header, bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        ss_block_header got;
        ss_u128 checksum;
        sstore_error error;
        testing_doing("bit %zu of byte %zu flipped", bit % 8, bit / 8);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_status(decode(bytes, &got, &checksum, &error), SSTORE_ERROR_DAMAGED, &error);
        assert_string_equal(error.file, "some.blk");
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    testing_done();
}

/* A field with another value under a correct checksum. */
typedef struct changed_field {
    size_t at, width;
    uint64_t value;
    sstore_status wanted;
} changed_field;

static const changed_field changed_fields[] = {
    {0, 1, 'S', SSTORE_ERROR_DAMAGED}, /* the magic */
    {7, 1, 'k', SSTORE_ERROR_DAMAGED},
    {HEADER_VERSION, 4, SS_FORMAT_VERSION + 1, SSTORE_ERROR_UNSUPPORTED},
    {HEADER_VERSION, 4, 1, SSTORE_ERROR_UNSUPPORTED},
    {HEADER_VERSION, 4, UINT32_MAX, SSTORE_ERROR_UNSUPPORTED},
    {HEADER_SIZE, 4, 0, SSTORE_ERROR_UNSUPPORTED},
    {HEADER_SIZE, 4, 8192, SSTORE_ERROR_UNSUPPORTED},
    {HEADER_BITS, 4, 128, SSTORE_ERROR_UNSUPPORTED},
    {HEADER_BITS, 4, 0, SSTORE_ERROR_UNSUPPORTED},
    {HEADER_BLOCK_BYTES, 4, 0, SSTORE_ERROR_DAMAGED},
    {HEADER_BLOCK_BYTES, 4, 128, SSTORE_ERROR_DAMAGED},
    {HEADER_BLOCK_BYTES, 4, 513, SSTORE_ERROR_DAMAGED},
    {HEADER_BLOCK_BYTES, 4, 131072, SSTORE_ERROR_DAMAGED},
    {HEADER_BLOCK_BYTES, 4, 1024, SSTORE_OK},
    {HEADER_COLUMN, 4, 0, SSTORE_ERROR_UNSUPPORTED}, /* as in the id column */
    {HEADER_COLUMN, 4, 31, SSTORE_ERROR_UNSUPPORTED},
    {HEADER_COLUMN, 4, 64, SSTORE_ERROR_UNSUPPORTED},
    {HEADER_COLUMN, 4, UINT32_MAX, SSTORE_ERROR_UNSUPPORTED},
    {HEADER_COLUMN, 4, 32, SSTORE_OK},
    {HEADER_BLOCKS, 8, 0, SSTORE_ERROR_DAMAGED}, /* 100 items need a block */
    {HEADER_BLOCKS, 8, 101, SSTORE_ERROR_DAMAGED},
    {HEADER_BLOCKS, 8, UINT64_MAX, SSTORE_ERROR_DAMAGED},
    {HEADER_BLOCKS, 8, 100, SSTORE_OK},
    {HEADER_ITEMS, 8, 0, SSTORE_ERROR_DAMAGED},
    {HEADER_ITEMS, 8, 9, SSTORE_ERROR_DAMAGED},
    {HEADER_ITEMS, 8, 10 * 65535 + 1, SSTORE_ERROR_DAMAGED}, /* one more than 10 blocks can hold */
    {HEADER_ITEMS, 8, 11 * 65535, SSTORE_ERROR_DAMAGED},
    {HEADER_ITEMS, 8, UINT64_MAX, SSTORE_ERROR_DAMAGED},
    {HEADER_ITEMS, 8, 10 * 65535, SSTORE_OK},
    {HEADER_LENGTHS, 1, 0, SSTORE_ERROR_DAMAGED},
    {HEADER_LENGTHS, 1, 1, SSTORE_ERROR_DAMAGED},
    {HEADER_LENGTHS, 1, 3, SSTORE_ERROR_DAMAGED},
    {HEADER_LENGTHS, 1, 255, SSTORE_ERROR_DAMAGED},
    {HEADER_LENGTHS + 32, 1, 11, SSTORE_ERROR_DAMAGED},
};

static void test_invalid_fields_are_refused(void **state)
{
    const ss_block_header good = {
        .number = 1, .words = 1, .block_bytes = 512, .block_count = 10, .item_count = 100, .code_lengths = {2, 2, 1}};
    for (size_t i = 0; i < sizeof changed_fields / sizeof *changed_fields; i++) {
        const changed_field *field = &changed_fields[i];
        uint8_t bytes[SS_HEADER_BYTES];
        ss_block_header got;
        ss_u128 checksum;
        sstore_error error;
        testing_doing("%llu at %zu", (unsigned long long)field->value, field->at);
        ss_block_header_encode(&good, bytes);
        for (size_t j = 0; j < field->width; j++)
            bytes[field->at + j] = (uint8_t)(field->value >> (8 * j));
        sign(bytes);
        assert_status(decode(bytes, &got, &checksum, &error), field->wanted, &error);
    }
    testing_done();
}

/* The salt of a block depends on segment, file and code, and on nothing else. */
static void test_file_key(void **state)
{
    const ss_block_header header = {.segment_id = {.low = 1, .high = 2}, .number = 3, .code_lengths = {1, 1}};
    ss_block_header other = header;
    const uint64_t key = ss_block_file_key(&header);
    other.block_count = other.item_count = other.key_mask = other.h_counts[5] = other.block_bytes = 1;
    assert_int_equal(ss_block_file_key(&other), key);
    other.segment_id.low ^= 1;
    assert_true(ss_block_file_key(&other) != key);
    other = header;
    other.segment_id.high ^= 1;
    assert_true(ss_block_file_key(&other) != key);
    other = header;
    other.number = SS_IDS_NUMBER;
    assert_true(ss_block_file_key(&other) != key);
    other = header;
    other.code_lengths[0] = 0;
    other.code_lengths[2] = 1;
    assert_true(ss_block_file_key(&other) != key);
}

/* A header of the id column has no width of lower halves, and no code. */
static void test_header_of_the_id_column(void **state)
{
    const ss_block_header header = {
        .number = SS_IDS_NUMBER, .words = 2, .block_bytes = 256, .block_count = 1, .item_count = 3};
    uint8_t bytes[SS_HEADER_BYTES];
    ss_block_header got;
    ss_u128 checksum;
    sstore_error error;
    ss_block_header_encode(&header, bytes);
    assert_ok(decode(bytes, &got, &checksum, &error), &error);
    assert_int_equal(got.number, SS_IDS_NUMBER);
    assert_int_equal(ss_load_le32(bytes + HEADER_COLUMN), 0);
    ss_store_le32(bytes + HEADER_COLUMN, 32);
    sign(bytes);
    assert_status(decode(bytes, &got, &checksum, &error), SSTORE_ERROR_UNSUPPORTED, &error);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test_teardown(test_every_flipped_bit_is_refused, testing_teardown),
        cmocka_unit_test_teardown(test_invalid_fields_are_refused, testing_teardown),
        cmocka_unit_test(test_file_key),
        cmocka_unit_test(test_header_of_the_id_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
