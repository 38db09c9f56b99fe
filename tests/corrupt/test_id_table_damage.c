/* An id table with a flipped bit, of a wrong length, or with two parts exchanged: each name is right, or there is an
 * error that names the file; and reading all of it always finds the damage. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/id_table_form.h"
#include "names/id_table_reader.h"
#include "names/id_table_writer.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define NAMES 2000u
#define FIRST_ID 1000u

typedef struct trials {
    const char *path;
    uint64_t damages, open_errors, find_errors, right;
} trials;

static size_t name_of(uint64_t number, char to[80])
{
    return (size_t)snprintf(to, 80, "usr/share/doc/package-%" PRIu64 "/file%" PRIx64, number / 10,
                            rng_mix(number) >> 44);
}

static file_bytes make_table(const char *path)
{
    id_table_writer *table;
    sstore_error error;
    char name[80];
    assert_ok(id_table_writer_open(path, &table, &error), &error);
    for (uint64_t i = 0; i < NAMES; i++)
        assert_ok(id_table_writer_add(table, FIRST_ID + 2 * i, name, name_of(i, name), &error), &error);
    assert_ok(id_table_writer_commit(table, &error), &error);
    id_table_writer_free(table);
    return file_load(path);
}

static bool ignore(void *context, uint64_t id, const char *name, size_t length)
{
    return true;
}

static void check_error(const trials *all, sstore_status status, const sstore_error *error)
{
    assert_true(status == SSTORE_ERROR_DAMAGED || status == SSTORE_ERROR_UNSUPPORTED);
    assert_string_equal(error->file, all->path);
    assert_non_null(strstr(error->message, all->path));
}

static void check_find(trials *all, id_table_reader *table, uint64_t number)
{
    sstore_error error;
    const char *found;
    char name[80];
    size_t length;
    const sstore_status status = id_table_reader_find(table, FIRST_ID + 2 * number, &found, &length, &error);
    if (status != SSTORE_OK) {
        check_error(all, status, &error);
        all->find_errors++;
        return;
    }
    assert_non_null(found);
    assert_int_equal(length, name_of(number, name));
    assert_memory_equal(found, name, length);
    all->right++;
}

static void check_damaged(trials *all, const uint8_t *data, size_t size)
{
    id_table_reader *table;
    sstore_error error;
    all->damages++;
    file_save(all->path, data, size);
    sstore_status status = id_table_reader_open(all->path, &table, &error);
    if (status != SSTORE_OK) {
        all->open_errors++;
        check_error(all, status, &error);
        return;
    }
    for (uint64_t i = 0; i < NAMES; i += 30)
        check_find(all, table, i);
    status = id_table_reader_each(table, ignore, NULL, &error);
    assert_int_not_equal(status, SSTORE_OK);
    check_error(all, status, &error);
    id_table_reader_close(table);
    /* A writer that continues the table finds it as well, and leaves the table alone. */
    id_table_writer *writer;
    if (all->damages % 64 == 0)
        assert_status(id_table_writer_open(all->path, &writer, &error), SSTORE_ERROR_DAMAGED, &error);
}

static void test_flips(trials *all, file_bytes *table)
{
    const size_t step = testing_long() ? 1 : 3;
    rng random = rng_seeded(run_seed);
    for (size_t i = 0; i < table->size; i += i < 64 || i + 200 > table->size ? 1 : step) {
        const uint8_t flip = (uint8_t)(1u << rng_below(&random, 8));
        testing_doing("byte %zu, xor %u", i, flip);
        table->data[i] ^= flip;
        check_damaged(all, table->data, table->size);
        table->data[i] ^= flip;
    }
}

static void test_lengths(trials *all, const file_bytes *table)
{
    const size_t step = testing_long() ? 1 : 7;
    for (size_t size = 0; size < table->size; size += size < 64 || size + 200 > table->size ? 1 : step) {
        testing_doing("%zu bytes", size);
        check_damaged(all, table->data, size);
    }
    uint8_t *longer = calloc(1, table->size + 100);
    assert_non_null(longer);
    memcpy(longer, table->data, table->size);
    for (size_t more = 1; more <= 100; more++)
        check_damaged(all, longer, table->size + more);
    free(longer);
}

/* Parts of the same file in each other's place. */
static void test_exchanges(trials *all, const file_bytes *table)
{
    rng random = rng_seeded(run_seed + 1);
    uint8_t *data = malloc(table->size);
    assert_non_null(data);
    for (uint32_t i = 0; i < 300; i++) {
        const size_t size = 1 + (size_t)rng_below(&random, 200);
        const size_t from = (size_t)rng_below(&random, table->size - size),
                     to = (size_t)rng_below(&random, table->size - size);
        testing_doing("%zu bytes from %zu to %zu", size, from, to);
        memcpy(data, table->data, table->size);
        memmove(data + to, table->data + from, size);
        if (memcmp(data, table->data, table->size) != 0)
            check_damaged(all, data, table->size);
    }
    free(data);
}

static void test_damage(void **state)
{
    trials all = {.path = scratch_path("table")};
    file_bytes table = make_table(all.path);
    assert_true(table.size > 3 * 4096);
    test_flips(&all, &table);
    test_lengths(&all, &table);
    test_exchanges(&all, &table);
    file_bytes_free(&table);
    testing_done();
    testing_figure("%" PRIu64 " damages of an id table, each found: %" PRIu64 " at open; %" PRIu64
                   " lookups failed, %" PRIu64 " were right, 0 wrong",
                   all.damages, all.open_errors, all.find_errors, all.right);
}

/* A sparse file of 1 TiB that is nearly all index, with a right footer, is refused at its second row, not read. */
static void test_sparse_file(void **state)
{
    const uint64_t size = UINT64_C(1) << 40, row_count = (size - 64) / ID_TABLE_ROW_BYTES;
    const id_table_footer footer = {.entry_count = row_count,
                                    .last_id = UINT64_MAX,
                                    .index_offset = size - ID_TABLE_FOOTER_BYTES - row_count * ID_TABLE_ROW_BYTES,
                                    .block_count = row_count};
    const id_table_row first = {.offset = ID_TABLE_HEADER_BYTES};
    uint8_t header[ID_TABLE_HEADER_BYTES], row[ID_TABLE_ROW_BYTES], end[ID_TABLE_FOOTER_BYTES];
    const char *path = scratch_path("sparse");
    id_table_reader *table;
    sstore_error error;
    id_table_put_header(header);
    id_table_put_row(row, &first);
    id_table_put_footer(end, &footer);
    file_save(path, header, sizeof header);
    file_patch(path, (size_t)footer.index_offset, row, sizeof row);
    file_patch(path, (size_t)size - sizeof end, end, sizeof end);
    assert_status(id_table_reader_open(path, &table, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_true(error.offset == footer.index_offset);
    scratch_remove(path);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_damage, testing_teardown),
                                       cmocka_unit_test(test_sparse_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
