/* Block files: they are written and read back in all three ways. A reader refuses a file if any part of it is
 * changed or in the wrong place. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/block_file.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define BLOCK_BYTES 2048u
#define CONTENT_BYTES (BLOCK_BYTES - SS_BLOCK_TRAILER_BYTES)
#define BLOCK_COUNT 7u
#define TABLE_NUMBER 3u
#define TABLE_NAME "table-03.blk"

static const sstore_io all_io[] = {SSTORE_IO_PREAD, SSTORE_IO_MMAP, SSTORE_IO_MEMORY};

/* ----- helpers ----- */

/* A file with noise for blocks, in the scratch folder. */
typedef struct block_file {
    ss_dir dir;
    ss_block_header header;
    ss_block_file_metadata facts;
    uint32_t block_count;
    uint8_t contents[BLOCK_COUNT][CONTENT_BYTES];
    const char *path;
    file_bytes whole;
} block_file;

static void put_blocks(const block_file *from, const ss_block_writer *writer, uint32_t first, uint32_t count)
{
    static uint8_t blocks[BLOCK_COUNT * BLOCK_BYTES];
    sstore_error error = {.status = SSTORE_OK};
    for (uint32_t i = 0; i < count; i++)
        memcpy(blocks + i * BLOCK_BYTES, from->contents[first + i], CONTENT_BYTES);
    assert_ok(ss_block_writer_put(writer, first, blocks, count, &error), &error);
}

static void write_blocks(block_file *made, ss_block_writer *writer)
{
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_block_writer_open(writer, &made->dir, &made->header, &error), &error);
    /* The last half first: blocks may come in any order, one or more at once. */
    const uint32_t half = made->block_count / 2;
    put_blocks(made, writer, half, made->block_count - half);
    for (uint32_t block = 0; block < half; block++)
        put_blocks(made, writer, block, 1);
    const uint64_t items = (uint64_t)made->block_count * (made->block_count + 1) / 2;
    assert_ok(ss_block_writer_finish(writer, made->block_count, items, &made->facts.header_checksum, &error), &error);
    assert_int_equal(writer->header.block_count, made->block_count);
    assert_int_equal(writer->header.item_count, items);
    ss_block_writer_close(writer);
}

static block_file *file_make(rng *random, uint32_t number, uint32_t block_count)
{
    static block_file made;
    sstore_error error = {.status = SSTORE_OK};
    char name[SS_NAME_CAPACITY];
    ss_block_writer writer;
    made = (block_file){.block_count = block_count};
    made.header = (ss_block_header){.segment_id = {.low = rng_next(random), .high = rng_next(random)},
                                    .number = number,
                                    .words = 1,
                                    .block_bytes = BLOCK_BYTES,
                                    .key_mask = rng_next(random),
                                    .code_lengths = {1, 1}};
    made.facts = (ss_block_file_metadata){.segment_id = made.header.segment_id,
                                          .number = number,
                                          .words = 1,
                                          .block_bytes = BLOCK_BYTES,
                                          .block_count = block_count};
    rng_fill(random, made.contents, sizeof made.contents);
    ss_block_file_name(name, number);
    made.path = scratch_path("%s", name);
    scratch_remove(made.path);
    assert_ok(ss_dir_open(scratch_folder(), &made.dir, &error), &error);
    write_blocks(&made, &writer);
    made.whole = file_load(made.path);
    assert_int_equal(made.whole.size, SS_HEADER_BYTES + block_count * BLOCK_BYTES);
    return &made;
}

static void file_free(block_file *made)
{
    scratch_remove(made->path);
    file_bytes_free(&made->whole);
    ss_dir_close(&made->dir);
}

/* Open the file and read all of it; the first status that is not OK. */
static sstore_status read_all(const block_file *from, const ss_block_file_metadata *facts, sstore_io io,
                              sstore_error *error)
{
    ss_block_reader reader;
    uint8_t buffer[BLOCK_BYTES];
    const uint8_t *got = NULL;
    *error = (sstore_error){.status = SSTORE_OK};
    sstore_status status = ss_block_reader_open(&reader, &from->dir, facts, io, error);
    for (int round = 0; round < 2; round++) /* a mapped block is checked before its first use only */
        for (uint32_t i = 0; status == SSTORE_OK && i < from->block_count; i++) {
            const uint32_t block = (i * 3 + 2) % from->block_count;
            status = ss_block_reader_get(&reader, block, buffer, &got, error);
            if (status == SSTORE_OK)
                assert_memory_equal(got, from->contents[block], CONTENT_BYTES);
        }
    ss_block_reader_close(&reader);
    return status;
}

/* Damage must be detected in every read mode. */
static void check_refused(const block_file *from, const ss_block_file_metadata *facts, sstore_status wanted)
{
    for (size_t i = 0; i < sizeof all_io / sizeof *all_io; i++) {
        sstore_error error;
        assert_status(read_all(from, facts, all_io[i], &error), wanted, &error);
        assert_non_null(strstr(error.file, from->path));
        assert_non_null(strstr(error.message, from->path));
    }
}

/* ----- tests ----- */

static void test_round_trip(void **state)
{
    rng random = rng_seeded(run_seed);
    static const uint32_t numbers[] = {0, TABLE_NUMBER, 63, SS_IDS_NUMBER};
    for (size_t i = 0; i < 4 * 3; i++) {
        const uint32_t block_count = i % 3 == 2 ? BLOCK_COUNT : (uint32_t)(i % 3);
        block_file *made = file_make(&random, numbers[i / 3], block_count);
        for (size_t j = 0; j < sizeof all_io / sizeof *all_io; j++) {
            sstore_error error;
            ss_block_reader reader;
            testing_doing("file %u, %u blocks, way %zu", numbers[i / 3], block_count, j);
            assert_ok(read_all(made, &made->facts, all_io[j], &error), &error);
            assert_ok(ss_block_reader_open(&reader, &made->dir, &made->facts, all_io[j], &error), &error);
            assert_int_equal(reader.header.item_count, block_count * (block_count + 1) / 2);
            assert_int_equal(reader.header.key_mask, made->header.key_mask);
            assert_int_equal(reader.file_bytes, made->whole.size);
            ss_block_reader_close(&reader);
        }
        file_free(made);
    }
    testing_done();
}

static void test_writer_does_not_overwrite(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    block_file *made = file_make(&random, TABLE_NUMBER, 2);
    ss_block_writer writer;
    sstore_error error = {.status = SSTORE_OK};
    assert_status(ss_block_writer_open(&writer, &made->dir, &made->header, &error), SSTORE_ERROR_EXISTS, &error);
    ss_block_writer_close(&writer);
    assert_ok(read_all(made, &made->facts, SSTORE_IO_PREAD, &error), &error);
    file_free(made);
}

/* A file has no header until it is finished. */
static void test_unfinished_file_is_refused(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    block_file *made = file_make(&random, TABLE_NUMBER, BLOCK_COUNT);
    ss_block_writer writer;
    sstore_error error = {.status = SSTORE_OK};
    scratch_remove(made->path);
    assert_ok(ss_block_writer_open(&writer, &made->dir, &made->header, &error), &error);
    put_blocks(made, &writer, 0, BLOCK_COUNT);
    ss_block_writer_close(&writer);
    check_refused(made, &made->facts, SSTORE_ERROR_DAMAGED);
    file_free(made);
}

static void test_closing_what_was_never_opened(void **state)
{
    ss_block_writer writer = {.file_key = 0};
    ss_block_reader reader = {.base = NULL};
    ss_block_writer_close(&writer);
    ss_block_reader_close(&reader);
}

static void test_every_changed_byte_is_seen(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    block_file *made = file_make(&random, TABLE_NUMBER, BLOCK_COUNT);
    for (size_t at = 0; at < made->whole.size; at++) {
        const uint8_t changed = (uint8_t)(made->whole.data[at] ^ (1u << rng_below(&random, 8)));
        testing_doing("byte %zu is %02x instead of %02x", at, changed, made->whole.data[at]);
        file_patch(made->path, at, &changed, 1);
        if (at % 16 == 5) {
            check_refused(made, &made->facts, SSTORE_ERROR_DAMAGED);
        } else {
            sstore_error error;
            sstore_io io = all_io[at % 3];
            assert_status(read_all(made, &made->facts, io, &error), SSTORE_ERROR_DAMAGED, &error);
        }
        file_patch(made->path, at, &made->whole.data[at], 1);
    }
    sstore_error error;
    assert_ok(read_all(made, &made->facts, SSTORE_IO_MEMORY, &error), &error);
    file_free(made);
    testing_done();
}

/* The error of a damaged block names its place. */
static void test_damage_is_located(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    block_file *made = file_make(&random, TABLE_NUMBER, BLOCK_COUNT);
    const uint64_t block_at = SS_HEADER_BYTES + 4 * BLOCK_BYTES;
    const uint8_t changed = (uint8_t)~made->whole.data[block_at + 100];
    file_patch(made->path, block_at + 100, &changed, 1);
    for (size_t i = 0; i < sizeof all_io / sizeof *all_io; i++) {
        sstore_error error;
        assert_status(read_all(made, &made->facts, all_io[i], &error), SSTORE_ERROR_DAMAGED, &error);
        assert_int_equal(error.offset, block_at);
        assert_non_null(strstr(error.message, "block 4"));
    }
    file_free(made);
}

/* In the modes that check a block when it is read, damage elsewhere has no effect. */
static void test_other_blocks_stay_readable(void **state)
{
    rng random = rng_seeded(run_seed + 5);
    block_file *made = file_make(&random, TABLE_NUMBER, BLOCK_COUNT);
    const uint8_t changed = (uint8_t)~made->whole.data[SS_HEADER_BYTES];
    file_patch(made->path, SS_HEADER_BYTES, &changed, 1);
    for (size_t i = 0; i < 2; i++) {
        ss_block_reader reader;
        uint8_t buffer[BLOCK_BYTES];
        const uint8_t *got;
        sstore_error error;
        assert_ok(ss_block_reader_open(&reader, &made->dir, &made->facts, all_io[i], &error), &error);
        for (int round = 0; round < 2; round++)
            assert_status(ss_block_reader_get(&reader, 0, buffer, &got, &error), SSTORE_ERROR_DAMAGED, &error);
        for (uint32_t block = 1; block < BLOCK_COUNT; block++)
            assert_ok(ss_block_reader_get(&reader, block, buffer, &got, &error), &error);
        ss_block_reader_close(&reader);
    }
    file_free(made);
}

/* A small file is copied instead of mapped, and closed. Its blocks are checked when they are read, as in a map. */
static void test_small_files_are_copied(void **state)
{
    rng random = rng_seeded(run_seed + 13);
    for (uint32_t block_count = 1; block_count <= BLOCK_COUNT; block_count++) {
        block_file *made = file_make(&random, TABLE_NUMBER, block_count);
        const bool is_small = made->whole.size <= 16384;
        const uint8_t changed = (uint8_t)~made->whole.data[SS_HEADER_BYTES];
        ss_block_reader reader;
        uint8_t buffer[BLOCK_BYTES];
        const uint8_t *got;
        sstore_error error;
        testing_doing("%u blocks", block_count);
        file_patch(made->path, SS_HEADER_BYTES, &changed, 1);
        assert_ok(ss_block_reader_open(&reader, &made->dir, &made->facts, SSTORE_IO_MMAP, &error), &error);
        assert_int_equal(reader.io, is_small ? SSTORE_IO_MEMORY : SSTORE_IO_MMAP);
        assert_true(!is_small || (reader.file.fd < 0 && truncate(made->path, 0) == 0));
        assert_status(ss_block_reader_get(&reader, 0, buffer, &got, &error), SSTORE_ERROR_DAMAGED, &error);
        for (uint32_t block = 1; block < block_count; block++)
            assert_ok(ss_block_reader_get_once(&reader, block, buffer, &got, &error), &error);
        ss_block_reader_close(&reader);
        file_free(made);
    }
    testing_done();
}

static void test_blocks_in_wrong_places(void **state)
{
    rng random = rng_seeded(run_seed + 6);
    block_file *made = file_make(&random, TABLE_NUMBER, BLOCK_COUNT);
    for (uint32_t from = 0; from < BLOCK_COUNT; from++) {
        for (uint32_t to = 0; to < BLOCK_COUNT; to++) {
            if (from == to)
                continue;
            testing_doing("block %u in the place of block %u", from, to);
            const size_t at = SS_HEADER_BYTES + (size_t)to * BLOCK_BYTES;
            file_patch(made->path, at, made->whole.data + SS_HEADER_BYTES + (size_t)from * BLOCK_BYTES, BLOCK_BYTES);
            check_refused(made, &made->facts, SSTORE_ERROR_DAMAGED);
            file_patch(made->path, at, made->whole.data + at, BLOCK_BYTES);
        }
    }
    file_free(made);
    testing_done();
}

/* A block from a file that differs only in its code would decode to other fingerprints: it is refused. */
static void test_block_of_another_code(void **state)
{
    rng random = rng_seeded(run_seed + 7);
    block_file *made = file_make(&random, TABLE_NUMBER, BLOCK_COUNT);
    ss_block_writer writer;
    scratch_remove(made->path);
    made->header.code_lengths[1] = 0;
    made->header.code_lengths[2] = 1;
    write_blocks(made, &writer);
    sstore_error error;
    assert_ok(read_all(made, &made->facts, SSTORE_IO_PREAD, &error), &error);
    const size_t at = SS_HEADER_BYTES + 2 * BLOCK_BYTES;
    file_patch(made->path, at, made->whole.data + at, BLOCK_BYTES); /* of the file under the first code */
    check_refused(made, &made->facts, SSTORE_ERROR_DAMAGED);
    file_free(made);
}

static void test_salt_depends_on_the_place(void **state)
{
    const uint64_t salt = ss_block_salt(3, 4);
    assert_int_equal(salt, ss_block_salt(3, 4));
    assert_true(salt != ss_block_salt(4, 4));
    assert_true(salt != ss_block_salt(4, 3));
    assert_true(salt != ss_block_salt(3, 5));
    assert_true(salt != ss_block_salt(3, UINT64_C(4) << 32 | 4));
}

/* A complete file that is not the one in the manifest. */
static void test_other_metadata_is_refused(void **state)
{
    rng random = rng_seeded(run_seed + 8);
    block_file *made = file_make(&random, TABLE_NUMBER, BLOCK_COUNT);
    ss_block_file_metadata facts = made->facts;
    facts.segment_id.low ^= 1;
    check_refused(made, &facts, SSTORE_ERROR_DAMAGED);
    facts = made->facts;
    facts.segment_id.high ^= 1;
    check_refused(made, &facts, SSTORE_ERROR_DAMAGED);
    facts = made->facts;
    facts.header_checksum.low ^= 1;
    check_refused(made, &facts, SSTORE_ERROR_DAMAGED);
    facts = made->facts;
    facts.block_count--;
    check_refused(made, &facts, SSTORE_ERROR_DAMAGED);
    facts = made->facts;
    facts.block_bytes *= 2;
    check_refused(made, &facts, SSTORE_ERROR_DAMAGED);
    facts = made->facts;
    facts.block_bytes /= 2; /* as large as twice as many blocks of half the size */
    facts.block_count *= 2;
    check_refused(made, &facts, SSTORE_ERROR_DAMAGED);
    file_free(made);
}

/* Table 3 under the name of table 4. */
static void test_renamed_file_is_refused(void **state)
{
    rng random = rng_seeded(run_seed + 9);
    block_file *made = file_make(&random, TABLE_NUMBER, BLOCK_COUNT);
    ss_block_file_metadata facts = made->facts;
    const char *other = scratch_path("table-04.blk");
    facts.number = TABLE_NUMBER + 1;
    assert_int_equal(rename(made->path, other), 0);
    made->path = other;
    check_refused(made, &facts, SSTORE_ERROR_DAMAGED);
    file_free(made);
}

static void test_missing_and_strange_files(void **state)
{
    rng random = rng_seeded(run_seed + 10);
    block_file *made = file_make(&random, TABLE_NUMBER, BLOCK_COUNT);
    scratch_remove(made->path);
    check_refused(made, &made->facts, SSTORE_ERROR_NOT_FOUND);
    const char *elsewhere = scratch_path("elsewhere");
    file_save(elsewhere, made->whole.data, made->whole.size);
    assert_int_equal(symlink(elsewhere, made->path), 0);
    check_refused(made, &made->facts, SSTORE_ERROR_DAMAGED);
    scratch_remove(made->path);
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_dir_make_at(&made->dir, TABLE_NAME, &error), &error);
    check_refused(made, &made->facts, SSTORE_ERROR_DAMAGED);
    scratch_remove(elsewhere);
    file_free(made);
}

static void test_other_sizes_are_refused(void **state)
{
    rng random = rng_seeded(run_seed + 11);
    block_file *made = file_make(&random, TABLE_NUMBER, BLOCK_COUNT);
    for (size_t size = 0; size < made->whole.size; size += size % 512 == 1 ? 510 : 1) {
        testing_doing("cut to %zu bytes", size);
        file_save(made->path, made->whole.data, size);
        check_refused(made, &made->facts, SSTORE_ERROR_DAMAGED);
    }
    static const uint8_t more[BLOCK_BYTES];
    for (size_t extra = 1; extra <= sizeof more; extra += extra < 4 ? 1 : 127) {
        testing_doing("%zu bytes too many", extra);
        file_save(made->path, made->whole.data, made->whole.size);
        file_patch(made->path, made->whole.size, more, extra);
        check_refused(made, &made->facts, SSTORE_ERROR_DAMAGED);
    }
    file_free(made);
    testing_done();
}

/* Blocks on both sides of 4 GiB, and one across, in a sparse file. */
static void test_beyond_4_gib(void **state)
{
    enum { WIDE = 65536, AT_4_GIB = 65535, FAR = 81920, BLOCKS = FAR + 1 };
    static const uint64_t written[] = {0, AT_4_GIB - 1, AT_4_GIB, AT_4_GIB + 1, FAR};
    static uint8_t content[WIDE], block[WIDE], buffer[WIDE];
    rng random = rng_seeded(run_seed + 12);
    ss_dir dir;
    ss_block_writer writer;
    ss_block_header header = {.number = TABLE_NUMBER, .words = 1, .block_bytes = WIDE, .code_lengths = {1, 1}};
    ss_block_file_metadata facts = {.number = TABLE_NUMBER, .words = 1, .block_bytes = WIDE, .block_count = BLOCKS};
    sstore_error error = {.status = SSTORE_OK};
    rng_fill(&random, content, sizeof content);
    assert_ok(ss_dir_open(scratch_folder(), &dir, &error), &error);
    assert_ok(ss_block_writer_open(&writer, &dir, &header, &error), &error);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        memcpy(block, content, sizeof block);
        block[0] = (uint8_t)i;
        assert_ok(ss_block_writer_put(&writer, written[i], block, 1, &error), &error);
    }
    assert_ok(ss_block_writer_finish(&writer, BLOCKS, BLOCKS, &facts.header_checksum, &error), &error);
    ss_block_writer_close(&writer);
    for (size_t i = 0; i < 2; i++) { /* not into memory */
        ss_block_reader reader;
        const uint8_t *got;
        assert_ok(ss_block_reader_open(&reader, &dir, &facts, all_io[i], &error), &error);
        for (size_t j = 0; j < sizeof written / sizeof *written; j++) {
            if (!ss_block_reader_prefetch(&reader, written[j], buffer))
                assert_ok(ss_block_reader_get(&reader, written[j], buffer, &got, &error), &error);
            assert_ok(ss_block_reader_get(&reader, written[j], buffer, &got, &error), &error);
            assert_int_equal(got[0], j);
            assert_memory_equal(got + 1, content + 1, WIDE - SS_BLOCK_TRAILER_BYTES - 1);
        }
        assert_status(ss_block_reader_get(&reader, FAR - 1, buffer, &got, &error), SSTORE_ERROR_DAMAGED, &error);
        assert_int_equal(error.offset, SS_HEADER_BYTES + (uint64_t)(FAR - 1) * WIDE);
        ss_block_reader_close(&reader);
    }
    scratch_remove(scratch_path(TABLE_NAME));
    ss_dir_close(&dir);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_round_trip, testing_teardown),
        cmocka_unit_test(test_writer_does_not_overwrite),
        cmocka_unit_test(test_unfinished_file_is_refused),
        cmocka_unit_test(test_closing_what_was_never_opened),
        cmocka_unit_test_teardown(test_every_changed_byte_is_seen, testing_teardown),
        cmocka_unit_test(test_damage_is_located),
        cmocka_unit_test(test_other_blocks_stay_readable),
        cmocka_unit_test_teardown(test_small_files_are_copied, testing_teardown),
        cmocka_unit_test_teardown(test_blocks_in_wrong_places, testing_teardown),
        cmocka_unit_test(test_block_of_another_code),
        cmocka_unit_test(test_salt_depends_on_the_place),
        cmocka_unit_test(test_other_metadata_is_refused),
        cmocka_unit_test(test_renamed_file_is_refused),
        cmocka_unit_test(test_missing_and_strange_files),
        cmocka_unit_test_teardown(test_other_sizes_are_refused, testing_teardown),
        cmocka_unit_test(test_beyond_4_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
