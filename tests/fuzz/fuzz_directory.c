/*
 * fuzz_directory.c - any bytes as a directory with right size and sum, which LMDB would be allowed to open. Long inputs
 * are used as they are, short ones change directories that were written properly. Whatever opens is read to its end.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/directory.h"
#include "support/fuzzing.h"
#include "support/scratch.h"

#define RAW_BYTES 8192u /* inputs from there on are files */
#define SHAPES 6u
#define MAX_ARRAYS 120u

/* A directory file in a folder of its own, that is written anew for each input. */
typedef struct target {
    ss_dir dir;
    file_bytes made[SHAPES]; /* those that were written properly */
} target;

/* How many arrays a shape has and how many values each: in one leaf, in leaves below a branch, in overflow pages. */
static const struct {
    uint32_t arrays, values;
} shapes[SHAPES] = {{0, 0}, {1, 1}, {3, 20}, {MAX_ARRAYS, 9}, {2, 700}, {40, 300}};

static void must(sstore_status status, const sstore_error *error)
{
    if (status != SSTORE_OK) {
        fprintf(stderr, "%s\n", error->message);
        abort();
    }
}

static file_bytes make(const ss_dir *dir, uint32_t shape)
{
    sstore_error error;
    ss_directory_writer *writer;
    uint64_t size, values[1024];
    ss_u128 sum;
    ss_dir_remove(dir, SS_DIRECTORY_NAME);
    must(ss_directory_writer_open(dir, (uint64_t)1 << 20, &writer, &error), &error);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        values[i] = (uint64_t)i << 50;
    for (uint32_t i = 0; i < shapes[shape].arrays; i++)
        must(ss_directory_writer_put(writer, SS_ARRAY_KEYS, i, 0, values, shapes[shape].values, &error), &error);
    must(ss_directory_writer_finish(writer, &size, &sum, &error), &error);
    ss_directory_writer_close(writer);
    char path[512];
    snprintf(path, sizeof path, "%s/" SS_DIRECTORY_NAME, dir->path);
    return file_load(path);
}

static target *get_target(void)
{
    static target *only;
    sstore_error error;
    if (only != NULL)
        return only;
    only = calloc(1, sizeof *only);
    if (only == NULL)
        abort();
    must(ss_dir_open(scratch_folder(), &only->dir, &error), &error);
    for (uint32_t i = 0; i < SHAPES; i++)
        only->made[i] = make(&only->dir, i);
    return only;
}

static void read_array(const ss_directory *directory, ss_array_kind kind, uint32_t number, uint64_t count)
{
    ss_array array;
    sstore_error error = {.status = SSTORE_OK};
    const sstore_status status = ss_directory_get(directory, kind, number, count, &array, &error);
    FUZZ_CHECK(error.status == status);
    uint64_t sum = 0;
    for (uint64_t i = 0; status == SSTORE_OK && i < count; i++)
        sum += ss_array_at(&array, i);
    __asm__ volatile("" : : "r"(sum)); /* it is to be read, though nobody wants it */
    ss_array_free(&array);
}

static void check(const target *self, const uint8_t *data, size_t size)
{
    ss_directory *directory;
    sstore_error error = {.status = SSTORE_OK};
    const int fd = openat(self->dir.fd, SS_DIRECTORY_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    const sstore_status status = ss_directory_open(&self->dir, ss_directory_lmdb_format(), size, ss_hash128(data, size),
                                                   &directory, &error);
    FUZZ_CHECK(error.status == status && (status == SSTORE_OK || status == SSTORE_ERROR_DAMAGED));
    static const uint64_t counts[] = {0, 1, 9, 20, 300, 700, 65537};
    for (size_t i = 0; status == SSTORE_OK && i < sizeof counts / sizeof counts[0]; i++)
        for (uint32_t number = 0; number < MAX_ARRAYS + 2; number++)
            read_array(directory, number % 5 == 4 ? SS_ARRAY_RANKS : SS_ARRAY_KEYS, number, counts[i]);
    ss_directory_close(directory);
}

/* Put numbers of 1, 2, 4 or 8 bytes into pages, at their headers or anywhere. */
static void change(fuzz_input *input, uint8_t *data, size_t size)
{
    while (input->left > 0) {
        const uint64_t what = fuzz_take(input, 1), page = fuzz_take(input, 1), value = fuzz_take(input, 8);
        const size_t width = (size_t)1 << (what & 3), within = fuzz_take(input, what & 4 ? 1 : 2);
        const size_t at = (page * 4096 + within) % size;
        for (size_t i = 0; i < width && at + i < size; i++)
            data[at + i] = (uint8_t)(value >> (8 * i));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {.at = data, .left = size};
    const target *self = get_target();
    if (size >= RAW_BYTES) {
        check(self, data, size);
        return 0;
    }
    const file_bytes *from = &self->made[fuzz_take(&input, 1) % SHAPES];
    uint8_t *changed = malloc(from->size);
    if (changed == NULL)
        abort();
    memcpy(changed, from->data, from->size);
    change(&input, changed, from->size);
    check(self, changed, from->size);
    free(changed);
    return 0;
}
