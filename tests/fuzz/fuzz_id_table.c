/*
 * fuzz_id_table.c - any bytes as an id table, or as the blocks and rows of one, with correct checksums. Reading one by
 * one and all at once must agree, and either fail or keep the limits.
 *   1 byte: 0: the rest is a file; otherwise the number of blocks
 *   then for each block 2 bytes: its length, 1 byte: how far its first id is from the one before; then 2 bytes: the
 *   number of entries, 1 byte: how far the last id is behind the last first one; then the blocks
 */
#include <sys/mman.h>
#include <unistd.h>

#include "names/id_table_form.h"
#include "names/id_table_reader.h"
#include "support/fuzzing.h"

#define MAX_KEPT 64u

typedef struct seen {
    uint64_t count, last_id, ids[MAX_KEPT], sums[MAX_KEPT];
} seen;

static bool keep(void *context, uint64_t id, const char *name, size_t length)
{
    seen *to = context;
    FUZZ_CHECK(to->count == 0 || id > to->last_id);
    FUZZ_CHECK(length <= ID_TABLE_MAX_NAME_BYTES);
    if (to->count < MAX_KEPT) {
        to->ids[to->count] = id;
        to->sums[to->count] = id_table_checksum(name, length);
    }
    to->count++;
    to->last_id = id;
    return true;
}

static void check_lookups(id_table_reader *table, const seen *all)
{
    sstore_error error;
    const char *name;
    size_t length;
    const size_t kept = all->count < MAX_KEPT ? (size_t)all->count : MAX_KEPT;
    for (size_t i = kept; i-- > 0;) {
        FUZZ_CHECK(id_table_reader_find(table, all->ids[i], &name, &length, &error) == SSTORE_OK);
        FUZZ_CHECK(name != NULL && id_table_checksum(name, length) == all->sums[i]);
        if (i > 0 && all->ids[i - 1] + 1 < all->ids[i]) {
            FUZZ_CHECK(id_table_reader_find(table, all->ids[i] - 1, &name, &length, &error) == SSTORE_OK);
            FUZZ_CHECK(name == NULL);
        }
    }
}

static void read_table(int file)
{
    char path[32];
    id_table_reader *table;
    sstore_error error;
    seen all = {.count = 0};
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    sstore_status status = id_table_reader_open(path, &table, &error);
    FUZZ_CHECK(status == SSTORE_OK || status == SSTORE_ERROR_DAMAGED || status == SSTORE_ERROR_UNSUPPORTED);
    if (status != SSTORE_OK)
        return;
    status = id_table_reader_each(table, keep, &all, &error);
    FUZZ_CHECK(status == SSTORE_OK || status == SSTORE_ERROR_DAMAGED);
    if (status == SSTORE_OK) {
        FUZZ_CHECK(all.count == id_table_reader_count(table));
        check_lookups(table, &all);
    }
    for (uint64_t id = 0; id < 40; id++) { /* also if a block is malformed */
        const char *name;
        size_t length;
        (void)id_table_reader_find(table, id, &name, &length, &error);
    }
    id_table_reader_close(table);
}

static void write_bytes(int file, const void *bytes, size_t size)
{
    FUZZ_CHECK(write(file, bytes, size) == (ssize_t)size);
}

/* Write a table with correct checksums. */
static void write_table(int file, fuzz_input *input, size_t count)
{
    id_table_row rows[255];
    uint8_t end[ID_TABLE_FOOTER_BYTES], index[255 * ID_TABLE_ROW_BYTES];
    size_t sizes[255];
    uint64_t id = 0;
    for (size_t i = 0; i < count; i++) {
        sizes[i] = (size_t)fuzz_take(input, 2);
        id += fuzz_take(input, 1);
        rows[i].first_id = id;
    }
    id_table_footer footer = {.entry_count = fuzz_take(input, 2), .block_count = count};
    footer.last_id = id + fuzz_take(input, 1);
    uint64_t offset = ID_TABLE_HEADER_BYTES;
    for (size_t i = 0; i < count; i++) {
        const size_t size = sizes[i] < input->left ? sizes[i] : input->left;
        rows[i].offset = offset;
        rows[i].checksum = id_table_checksum(input->at, size);
        write_bytes(file, input->at, size);
        input->at += size;
        input->left -= size;
        offset += size;
        id_table_put_row(index + i * ID_TABLE_ROW_BYTES, &rows[i]);
    }
    footer.index_offset = offset;
    footer.index_checksum = id_table_checksum(index, count * ID_TABLE_ROW_BYTES);
    id_table_put_footer(end, &footer);
    write_bytes(file, index, count * ID_TABLE_ROW_BYTES);
    write_bytes(file, end, sizeof end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {.at = data, .left = size};
    uint8_t header[ID_TABLE_HEADER_BYTES];
    const size_t count = (size_t)fuzz_take(&input, 1);
    int file = memfd_create("table", 0);
    FUZZ_CHECK(file >= 0);
    if (count == 0) {
        write_bytes(file, input.at, input.left);
    } else {
        id_table_put_header(header);
        write_bytes(file, header, sizeof header);
        write_table(file, &input, count);
    }
    read_table(file);
    close(file);
    return 0;
}
