/* The directory: arrays that several threads wrote are read back, and no changed byte reaches LMDB. */
#include "store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define ROOM ((uint64_t)64 << 20)

/* ----- helpers ----- */

/* A directory file in its own folder. */
typedef struct directory_file {
    ss_dir dir;
    ss_directory_writer *writer;
    uint64_t bytes;
    ss_u128 sum;
} directory_file;

static const char *file_path(void)
{
    return scratch_path("directory/" SS_DIRECTORY_NAME);
}

static directory_file file_begin_for(uint64_t max_bytes)
{
    directory_file made = {.dir = SS_DIR_NONE};
    ss_dir parent;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_dir_open(scratch_folder(), &parent, &error), &error);
    assert_ok(ss_dir_make_at(&parent, "directory", &error), &error);
    assert_ok(ss_dir_open_at(&parent, "directory", &made.dir, &error), &error);
    ss_dir_close(&parent);
    assert_ok(ss_directory_writer_open(&made.dir, max_bytes, &made.writer, &error), &error);
    return made;
}

static directory_file file_begin(void)
{
    return file_begin_for(ROOM);
}

static void file_finish(directory_file *made)
{
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_directory_writer_finish(made->writer, &made->bytes, &made->sum, &error), &error);
    ss_directory_writer_close(made->writer);
    made->writer = NULL;
    file_bytes content = file_load(file_path());
    assert_int_equal(made->bytes, content.size);
    assert_true(ss_u128_equal(made->sum, ss_hash128(content.data, content.size)));
    file_bytes_free(&content);
}

static void file_free(directory_file *made)
{
    ss_directory_writer_close(made->writer);
    ss_dir_close(&made->dir);
    scratch_remove(scratch_path("directory"));
}

/* A value of a test's array: arbitrary, but ascending. */
static uint64_t value_at(uint32_t number, uint64_t index)
{
    return (index << 20) + (rng_mix(number * UINT64_C(1000003) + index) >> 44);
}

static void write_array(ss_directory_writer *writer, ss_array_kind kind, uint32_t number, uint64_t count)
{
    ss_array_writer array;
    sstore_error error = {.status = SSTORE_OK};
    ss_array_writer_init(&array, writer, kind, number);
    sstore_status status = SSTORE_OK;
    for (uint64_t i = 0; status == SSTORE_OK && i < count; i++)
        status = ss_array_writer_add(&array, value_at(number + kind, i), &error);
    assert_ok(status, &error);
    assert_ok(ss_array_writer_finish(&array, &error), &error);
    ss_array_writer_free(&array);
}

static void check_array(const ss_directory *directory, ss_array_kind kind, uint32_t number, uint64_t count)
{
    ss_array array;
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("array %d of file %u, %" PRIu64 " values", (int)kind, number, count);
    assert_ok(ss_directory_get(directory, kind, number, count, &array, &error), &error);
    assert_int_equal(array.count, count);
    for (uint64_t i = 0; i < count; i++)
        if (ss_array_at(&array, i) != value_at(number + kind, i))
            fail_msg("value %" PRIu64 " is wrong", i);
    assert_true(ss_array_ascends(&array, true));
    ss_array_free(&array);
    testing_done();
}

static ss_directory *must_open(const directory_file *file)
{
    ss_directory *directory = NULL;
    sstore_error error = {.status = SSTORE_OK};
    const uint32_t format = ss_directory_lmdb_format();
    assert_ok(ss_directory_open(&file->dir, format, file->bytes, file->sum, &directory, &error), &error);
    return directory;
}

static void check_refused_as(const directory_file *file, uint32_t lmdb_format, uint64_t size, ss_u128 sum,
                             sstore_status wanted)
{
    ss_directory *directory = (ss_directory *)(uintptr_t)1;
    sstore_error error = {.status = SSTORE_OK};
    assert_status(ss_directory_open(&file->dir, lmdb_format, size, sum, &directory, &error), wanted, &error);
    assert_null(directory);
    assert_true(ss_directory_is_lost(&error));
    assert_non_null(strstr(error.message, SS_DIRECTORY_NAME));
    const char *advice = strstr(error.message, SS_DIRECTORY_ADVICE);
    assert_non_null(advice);
    assert_string_equal(advice, SS_DIRECTORY_ADVICE); /* once, at the end */
}

static void check_refused(const directory_file *file, uint64_t size, ss_u128 sum, sstore_status wanted)
{
    check_refused_as(file, ss_directory_lmdb_format(), size, sum, wanted);
}

/* ----- writing and reading ----- */

typedef struct array_case {
    ss_array_kind kind;
    uint32_t number;
    uint64_t count;
} array_case;

static const array_case array_cases[] = {
    {SS_ARRAY_KEYS, 0, 1},
    {SS_ARRAY_KEYS, 1, 2},
    {SS_ARRAY_KEYS, 63, 1000},
    {SS_ARRAY_KEYS, SS_IDS_NUMBER, 5000},
    {SS_ARRAY_RANKS, 0, 1001},
    {SS_ARRAY_KEYS, 2, SS_CHUNK_KEYS - 1},
    {SS_ARRAY_KEYS, 3, SS_CHUNK_KEYS},
    {SS_ARRAY_KEYS, 4, SS_CHUNK_KEYS + 1},
    {SS_ARRAY_RANKS, 4, 2 * SS_CHUNK_KEYS + 77},
    {SS_ARRAY_KEYS, 256, 300}, /* numbers whose bytes come in another order */
    {SS_ARRAY_KEYS, 65536, 301},
};
#define ARRAY_CASES (sizeof array_cases / sizeof *array_cases)

static void test_round_trip(void **state)
{
    directory_file file = file_begin();
    for (size_t i = 0; i < ARRAY_CASES; i++)
        write_array(file.writer, array_cases[i].kind, array_cases[i].number, array_cases[i].count);
    file_finish(&file);
    ss_directory *directory = must_open(&file);
    for (size_t i = 0; i < ARRAY_CASES; i++)
        check_array(directory, array_cases[i].kind, array_cases[i].number, array_cases[i].count);
    check_array(directory, SS_ARRAY_KEYS, 99, 0); /* an empty array has no entry */
    ss_directory_close(directory);
    file_free(&file);
}

static void test_wrong_arrays_are_refused(void **state)
{
    directory_file file = file_begin();
    write_array(file.writer, SS_ARRAY_KEYS, 7, 100);
    write_array(file.writer, SS_ARRAY_KEYS, 8, SS_CHUNK_KEYS);
    file_finish(&file);
    ss_directory *directory = must_open(&file);
    static const array_case wrong[] = {
        {SS_ARRAY_KEYS, 7, 99},  {SS_ARRAY_KEYS, 7, 101},  {SS_ARRAY_KEYS, 7, SS_CHUNK_KEYS + 100},
        {SS_ARRAY_KEYS, 6, 100}, {SS_ARRAY_RANKS, 7, 100}, {SS_ARRAY_KEYS, 8, SS_CHUNK_KEYS + 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ss_array array;
        sstore_error error = {.status = SSTORE_OK};
        sstore_status status = ss_directory_get(directory, wrong[i].kind, wrong[i].number, wrong[i].count, &array,
                                                &error);
        assert_status(status, SSTORE_ERROR_DAMAGED, &error);
        ss_array_free(&array);
    }
    ss_directory_close(directory);
    file_free(&file);
}

static void test_empty_directory(void **state)
{
    directory_file file = file_begin();
    file_finish(&file);
    ss_directory *directory = must_open(&file);
    check_array(directory, SS_ARRAY_KEYS, 0, 0);
    ss_directory_close(directory);
    file_free(&file);
    ss_directory_close(NULL);
    ss_directory_writer_close(NULL);
}

/* An entry is written once. */
static void test_entries_are_not_overwritten(void **state)
{
    static const uint64_t values[] = {1, 2, 3};
    directory_file file = file_begin();
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_directory_writer_put(file.writer, SS_ARRAY_KEYS, 0, 0, values, 3, &error), &error);
    assert_status(ss_directory_writer_put(file.writer, SS_ARRAY_KEYS, 0, 0, values, 2, &error), SSTORE_ERROR_IO,
                  &error);
    file_free(&file);
}

/* More arrays than max_bytes allows are an error, not a crash. */
static void test_full_directory(void **state)
{
    directory_file file = file_begin_for(SS_CHUNK_KEYS * 8);
    sstore_error error = {.status = SSTORE_OK};
    uint64_t *values = calloc(SS_CHUNK_KEYS, sizeof *values);
    sstore_status status = SSTORE_OK;
    uint32_t written = 0;
    while (status == SSTORE_OK && written < 100)
        status = ss_directory_writer_put(file.writer, SS_ARRAY_KEYS, 0, written++, values, SS_CHUNK_KEYS, &error);
    assert_status(status, SSTORE_ERROR_IO, &error);
    assert_true(written > 1); /* max_bytes were accepted */
    free(values);
    file_free(&file);
}

static void test_writer_needs_a_folder(void **state)
{
    char path[] = "closed";
    const ss_dir closed = {.fd = -1, .path = path};
    ss_directory_writer *writer = NULL;
    sstore_error error = {.status = SSTORE_OK};
    assert_status(ss_directory_writer_open(&closed, ROOM, &writer, &error), SSTORE_ERROR_IO, &error);
    assert_null(writer);
}

/* ----- several threads ----- */

#define THREADS 6
#define ARRAYS_A_THREAD 5
#define VALUES_A_CHUNK 3000

typedef struct writing {
    ss_directory_writer *writer;
    uint32_t first_number;
    sstore_status status;
} writing;

static void *write_some(void *argument)
{
    writing *self = argument;
    uint64_t values[VALUES_A_CHUNK];
    for (uint32_t i = 0; self->status == SSTORE_OK && i < ARRAYS_A_THREAD; i++) {
        const uint32_t number = self->first_number + i;
        for (uint64_t j = 0; j < VALUES_A_CHUNK; j++)
            values[j] = value_at(number + SS_ARRAY_KEYS, j);
        self->status = ss_directory_writer_put(self->writer, SS_ARRAY_KEYS, number, 0, values, VALUES_A_CHUNK, NULL);
    }
    return NULL;
}

static void test_concurrent_writers(void **state)
{
    directory_file file = file_begin();
    pthread_t threads[THREADS];
    writing jobs[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        jobs[i] = (writing){.writer = file.writer, .first_number = i * ARRAYS_A_THREAD};
        assert_int_equal(pthread_create(&threads[i], NULL, write_some, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(jobs[i].status, SSTORE_OK);
    }
    file_finish(&file);
    ss_directory *directory = must_open(&file);
    for (uint32_t i = 0; i < THREADS * ARRAYS_A_THREAD; i++)
        check_array(directory, SS_ARRAY_KEYS, i, VALUES_A_CHUNK);
    ss_directory_close(directory);
    file_free(&file);
}

/* ----- damage ----- */

static void test_changed_bytes_are_seen(void **state)
{
    rng random = rng_seeded(run_seed);
    directory_file file = file_begin();
    write_array(file.writer, SS_ARRAY_KEYS, 0, 700);
    write_array(file.writer, SS_ARRAY_RANKS, 0, 700);
    file_finish(&file);
    file_bytes whole = file_load(file_path());
    for (size_t at = rng_below(&random, 40); at < whole.size; at += rng_between(&random, 1, 80)) {
        const uint8_t changed = (uint8_t)(whole.data[at] ^ (1u << rng_below(&random, 8)));
        testing_doing("byte %zu is %02x instead of %02x", at, changed, whole.data[at]);
        file_patch(file_path(), at, &changed, 1);
        check_refused(&file, file.bytes, file.sum, SSTORE_ERROR_DAMAGED);
        file_patch(file_path(), at, &whole.data[at], 1);
    }
    ss_directory_close(must_open(&file));
    file_bytes_free(&whole);
    file_free(&file);
    testing_done();
}

static void test_other_sizes_and_sums_are_refused(void **state)
{
    directory_file file = file_begin();
    write_array(file.writer, SS_ARRAY_KEYS, 0, 700);
    file_finish(&file);
    file_bytes whole = file_load(file_path());
    for (size_t size = 0; size < whole.size; size += size % 4096 < 2 ? 1 : 4096 / 3) {
        testing_doing("cut to %zu bytes", size);
        file_save(file_path(), whole.data, size);
        check_refused(&file, file.bytes, file.sum, SSTORE_ERROR_DAMAGED);
        /* The right size, but the checksum of other bytes. */
        check_refused(&file, size, file.sum, SSTORE_ERROR_DAMAGED);
    }
    file_save(file_path(), whole.data, whole.size);
    file_patch(file_path(), whole.size, "x", 1);
    check_refused(&file, file.bytes, file.sum, SSTORE_ERROR_DAMAGED);
    file_save(file_path(), whole.data, whole.size);
    ss_u128 other = file.sum;
    other.high ^= 1;
    check_refused(&file, file.bytes, other, SSTORE_ERROR_DAMAGED);
    other = file.sum;
    other.low ^= UINT64_C(1) << 63;
    check_refused(&file, file.bytes, other, SSTORE_ERROR_DAMAGED);
    scratch_remove(file_path());
    check_refused(&file, file.bytes, file.sum, SSTORE_ERROR_NOT_FOUND);
    file_bytes_free(&whole);
    file_free(&file);
    testing_done();
}

/* A file of another LMDB format is not read, whatever its size and checksum. */
static void test_other_formats_are_refused(void **state)
{
    const uint32_t here = ss_directory_lmdb_format();
    const uint32_t others[] = {here ^ 3u << 16 /* another byte order, */, here + 1 /* version, */,
                               (here & ~0xff00u) | 0x0400 /* word */, 0};
    directory_file file = file_begin();
    write_array(file.writer, SS_ARRAY_KEYS, 0, 700);
    file_finish(&file);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        check_refused_as(&file, others[i], file.bytes, file.sum, SSTORE_ERROR_UNSUPPORTED);
    ss_directory_close(must_open(&file));
    file_free(&file);
}

/* Once it is open, changes of the file have no effect. */
static void test_open_directory_is_a_copy(void **state)
{
    directory_file file = file_begin();
    write_array(file.writer, SS_ARRAY_KEYS, 0, 700);
    file_finish(&file);
    ss_directory *directory = must_open(&file);
    file_bytes zeros = {.data = calloc(1, file.bytes), .size = file.bytes};
    file_patch(file_path(), 0, zeros.data, zeros.size);
    check_array(directory, SS_ARRAY_KEYS, 0, 700);
    file_save(file_path(), zeros.data, 0);
    check_array(directory, SS_ARRAY_KEYS, 0, 700);
    ss_directory_close(directory);
    file_bytes_free(&zeros);
    file_free(&file);
}

/* Open the copy in memory that this process has, to write to it; -1: there is none. */
static int open_copy(void)
{
    for (int fd = 0; fd < 1024; fd++) {
        char path[64], target[64] = {0};
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, target, sizeof target - 1) > 0 && strncmp(target, "/memfd:sstore", 13) == 0)
            return open(path, O_RDWR | O_CLOEXEC);
    }
    return -1;
}

/* The copy in memory cannot be changed. */
static void test_copy_cannot_be_changed(void **state)
{
    directory_file file = file_begin();
    write_array(file.writer, SS_ARRAY_KEYS, 0, 700);
    file_finish(&file);
    ss_directory *directory = must_open(&file);
    const int fd = open_copy();
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(ftruncate(fd, (off_t)file.bytes + 4096), -1);
    const void *map = mmap(NULL, file.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(map == MAP_FAILED);
    close(fd);
    check_array(directory, SS_ARRAY_KEYS, 0, 700);
    ss_directory_close(directory);
    file_free(&file);
}

/* ----- invalid pages ----- */

/* Offsets in LMDB's files, in the host's byte order, as in store/lmdb_check.c. */
#define PAGE_HEADER_BYTES 16u
#define META_PAGE_BYTES (PAGE_HEADER_BYTES + 24u)
#define META_DEPTH (PAGE_HEADER_BYTES + 78u)
#define META_LAST_PAGE (PAGE_HEADER_BYTES + 120u)
#define META_TRANSACTION (PAGE_HEADER_BYTES + 128u)
#define NODE_HEADER_BYTES 8u
#define NAME_BYTES 9u

static uint64_t number_at(const uint8_t *at, size_t width)
{
    uint16_t narrow;
    uint32_t middle;
    uint64_t wide;
    memcpy(&narrow, at, sizeof narrow);
    memcpy(&middle, at, sizeof middle);
    memcpy(&wide, at, sizeof wide);
    return width == 2 ? narrow : width == 4 ? middle : wide;
}

/* The newer of the two meta pages. */
static uint8_t *find_meta(const file_bytes *content)
{
    uint8_t *first = content->data, *second = first + number_at(first + META_PAGE_BYTES, 4);
    return number_at(second + META_TRANSACTION, 8) > number_at(first + META_TRANSACTION, 8) ? second : first;
}

/* The node of the first array of keys. */
static uint8_t *find_node(const file_bytes *content)
{
    static const uint8_t name[NAME_BYTES] = {SS_ARRAY_KEYS};
    uint8_t *found = memmem(content->data, content->size, name, sizeof name);
    while (found != NULL && number_at(found - 2, 2) != NAME_BYTES)
        found = memmem(found + 1, content->size - (size_t)(found + 1 - content->data), name, sizeof name);
    assert_non_null(found);
    return found - NODE_HEADER_BYTES;
}

/* Open a changed file with its own checksum; `reason` is NULL if it must be accepted. */
static void check_changed(const directory_file *file, const file_bytes *content, const char *reason)
{
    ss_directory *directory;
    sstore_error error = {.status = SSTORE_OK};
    file_save(file_path(), content->data, content->size);
    const sstore_status status = ss_directory_open(&file->dir, ss_directory_lmdb_format(), content->size,
                                                   ss_hash128(content->data, content->size), &directory, &error);
    assert_status(status, reason == NULL ? SSTORE_OK : SSTORE_ERROR_DAMAGED, &error);
    if (reason != NULL && strstr(error.message, reason) == NULL)
        fail_msg("%s", error.message);
    ss_directory_close(directory);
}

/* A value in overflow pages may reach to the end of the last page, and no further. */
static void test_values_end_in_the_file(void **state)
{
    directory_file file = file_begin();
    write_array(file.writer, SS_ARRAY_KEYS, 0, 5000);
    file_finish(&file);
    file_bytes content = file_load(file_path());
    uint8_t *meta = find_meta(&content), *node = find_node(&content);
    const uint64_t first_page = number_at(node + NODE_HEADER_BYTES + NAME_BYTES, 8);
    const uint64_t page_count = number_at(meta + META_LAST_PAGE, 8) + 1 - first_page;
    const uint64_t room = page_count * number_at(content.data + META_PAGE_BYTES, 4) - PAGE_HEADER_BYTES;
    assert_int_equal(number_at(node, 4), 8 * 5000);
    for (uint64_t size = room; size <= room + 17; size++) {
        const uint32_t value = (uint32_t)size;
        testing_doing("a value of %" PRIu64 " bytes, with room for %" PRIu64, size, room);
        memcpy(node, &value, sizeof value);
        check_changed(&file, &content, size == room ? NULL : "a value outside the file");
    }
    file_bytes_free(&content);
    file_free(&file);
    testing_done();
}

/* A tree deeper than LMDB's cursors is refused without reading its pages. */
static void test_deep_trees(void **state)
{
    static const struct {
        uint16_t depth;
        const char *reason;
    } cases[] = {{1, NULL},
                 {0, "a tree without a root"},
                 {32, "a wrong depth"},
                 {33, "a tree without a root"},
                 {64, "a tree without a root"},
                 {UINT16_MAX, "a tree without a root"}};
    directory_file file = file_begin();
    write_array(file.writer, SS_ARRAY_KEYS, 0, 5);
    file_finish(&file);
    file_bytes content = file_load(file_path());
    uint8_t *meta = find_meta(&content);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        testing_doing("depth %d", cases[i].depth);
        memcpy(meta + META_DEPTH, &cases[i].depth, sizeof cases[i].depth);
        check_changed(&file, &content, cases[i].reason);
    }
    file_bytes_free(&content);
    file_free(&file);
    testing_done();
}

/* ----- searching ----- */

/* An array in memory, in chunks as in the directory, each at an odd address. */
typedef struct memory_array {
    ss_array array;
    uint64_t *values;
    uint8_t *bytes;
} memory_array;

static memory_array memory_array_make(uint64_t *values, uint64_t count)
{
    memory_array made = {.array = {.count = count}, .values = values, .bytes = malloc(8 * count + 1)};
    const size_t chunks = count / SS_CHUNK_KEYS + 1;
    made.array.chunks = malloc(chunks * sizeof *made.array.chunks);
    for (uint64_t i = 0; i < count; i++)
        ss_store_le64(made.bytes + 1 + 8 * i, values[i]);
    for (size_t i = 0; i < chunks; i++)
        made.array.chunks[i] = made.bytes + 1 + 8 * i * SS_CHUNK_KEYS;
    return made;
}

static void memory_array_free(memory_array *made)
{
    free(made->array.chunks);
    free(made->bytes);
    free(made->values);
}

static void test_ascends(void **state)
{
    static const struct {
        uint64_t count, values[4];
        bool strictly, at_all;
    } cases[] = {
        {0, {0}, true, true},
        {1, {5}, true, true},
        {2, {5, 6}, true, true},
        {2, {5, 5}, false, true},
        {2, {6, 5}, false, false},
        {4, {0, 1, 2, UINT64_MAX}, true, true},
        {4, {0, 1, 1, UINT64_MAX}, false, true},
        {4, {0, 2, 3, 2}, false, false},
        {4, {UINT64_MAX, 0, 1, 2}, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t *values = malloc(sizeof cases[i].values);
        memcpy(values, cases[i].values, sizeof cases[i].values);
        memory_array in = memory_array_make(values, cases[i].count);
        assert_int_equal(ss_array_ascends(&in.array, true), cases[i].strictly);
        assert_int_equal(ss_array_ascends(&in.array, false), cases[i].at_all);
        memory_array_free(&in);
    }
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_round_trip, testing_teardown),
        cmocka_unit_test(test_wrong_arrays_are_refused),
        cmocka_unit_test(test_empty_directory),
        cmocka_unit_test(test_entries_are_not_overwritten),
        cmocka_unit_test(test_full_directory),
        cmocka_unit_test(test_writer_needs_a_folder),
        cmocka_unit_test_teardown(test_concurrent_writers, testing_teardown),
        cmocka_unit_test_teardown(test_changed_bytes_are_seen, testing_teardown),
        cmocka_unit_test_teardown(test_other_sizes_and_sums_are_refused, testing_teardown),
        cmocka_unit_test(test_other_formats_are_refused),
        cmocka_unit_test_teardown(test_open_directory_is_a_copy, testing_teardown),
        cmocka_unit_test_teardown(test_copy_cannot_be_changed, testing_teardown),
        cmocka_unit_test_teardown(test_values_end_in_the_file, testing_teardown),
        cmocka_unit_test_teardown(test_deep_trees, testing_teardown),
        cmocka_unit_test(test_ascends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
