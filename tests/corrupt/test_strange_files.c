/*
 * test_strange_files.c - symbolic links, FIFOs, devices, sockets and folders in the place of a store's files, also
 * where a writer looks. All are refused with a message that names them. No call waits, and nothing behind a link is
 * read or removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/data.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/use_store.h"

static data_set set;
static char store[256], merged[256], moved[256]; /* paths */

/* ----- replacements of a file ----- */

/* Create a replacement at `path`; `target` is the path of the original file. False: this process may not create it. */
typedef bool (*put_fn)(const char *path, const char *target);

static bool put_link(const char *path, const char *target)
{
    return symlink(target, path) == 0;
}

static bool put_relative_link(const char *path, const char *target)
{
    char back[PATH_MAX];
    /* From a segment's folder, too, it leads out of the store and back to where the file is. */
    snprintf(back, sizeof back, "../../../../../../../../..%s", target);
    return symlink(back, path) == 0;
}

static bool put_dangling_link(const char *path, const char *target)
{
    return symlink("nowhere", path) == 0;
}

static bool put_link_to_itself(const char *path, const char *target)
{
    return symlink(strrchr(path, '/') + 1, path) == 0;
}

static bool put_fifo(const char *path, const char *target)
{
    return mkfifo(path, 0666) == 0;
}

static bool put_folder(const char *path, const char *target)
{
    return mkdir(path, 0777) == 0;
}

static bool put_socket(const char *path, const char *target)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    /* Sockets have short names; it is made elsewhere, and moved here. */
    snprintf(address.sun_path, sizeof address.sun_path, "%s", scratch_path("socket"));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool made = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        close(fd);
    return made && rename(address.sun_path, path) == 0;
}

static bool put_device(const char *path, unsigned minor_number)
{
    if (mknod(path, S_IFCHR | 0666, makedev(1, minor_number)) != 0)
        return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC); /* a file system may have them and not let them be opened */
    if (fd >= 0)
        close(fd);
    return true;
}

static bool put_zero(const char *path, const char *target)
{
    return put_device(path, 5);
}

static bool put_null(const char *path, const char *target)
{
    return put_device(path, 3);
}

static bool put_file(const char *path, const char *target)
{
    file_save(path, "x", 1);
    return true;
}

static const struct {
    const char *name;
    put_fn put;
    bool may_lack;         /* not every process may create it */
    const char *of_files;  /* what the message says if it is in a file's place */
    const char *of_folder; /* and in a folder's; NULL: it is not tried */
} kinds[] = {
    {"a link to the file", put_link, false, "is a symbolic link", "is a symbolic link"},
    {"a link that leaves the store", put_relative_link, false, "is a symbolic link", "is a symbolic link"},
    {"a link to nowhere", put_dangling_link, false, "is a symbolic link", "is a symbolic link"},
    {"a link to itself", put_link_to_itself, false, "is a symbolic link", "is a symbolic link"},
    {"a FIFO", put_fifo, false, "is not a regular file", "is not a folder"},
    {"a folder", put_folder, false, "is not a regular file", NULL},
    {"a socket", put_socket, false, "is not a regular file", "is not a folder"},
    {"/dev/zero", put_zero, true, "is not a regular file", "is not a folder"},
    {"/dev/null", put_null, true, "is not a regular file", "is not a folder"},
    {"a file", put_file, false, NULL, "is not a folder"},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* ----- trying ----- */

/* A call that waits for a writer of a FIFO never returns. This ends the process, and prints the step; each step has
 * most of an hour, though it takes milliseconds. */
#define FOR_EVER_SECONDS 3000u

static void check_refused(sstore_status status, const sstore_error *error, const char *path, const char *reason)
{
    assert_status(status, SSTORE_ERROR_DAMAGED, error);
    if (strstr(error->message, path) == NULL || strstr(error->message, reason) == NULL)
        fail_msg("the message does not tell '%s' of %s: %s", reason, path, error->message);
}

static sstore_status add_one(sstore_error *error)
{
    sstore_builder *builder;
    sstore_status status = sstore_builder_create_addition(store, NULL, &builder, error);
    if (status != SSTORE_OK)
        return status;
    status = sstore_builder_add(builder, &(uint64_t){run_seed}, &(uint64_t){1}, 1, error);
    if (status == SSTORE_OK)
        return sstore_builder_finish(builder, NULL, error);
    sstore_builder_abort(builder);
    return status;
}

/* All calls that open the store. */
static uint64_t check_all_ways(const char *path, const char *reason)
{
    sstore_error error;
    uint64_t ways = 0;
    for (sstore_io io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++, ways++) {
        sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
        sstore *opened = NULL;
        options.io = io;
        check_refused(sstore_open(store, &options, &opened, &error), &error, path, reason);
        assert_null(opened);
    }
    check_refused(sstore_verify(store, NULL, NULL, NULL, &error), &error, path, reason);
    check_refused(add_one(&error), &error, path, reason);
    if (strstr(path, "directory") != NULL || (strstr(path, "table-") != NULL && strstr(path, "table-00") == NULL))
        return ways + 2; /* calls that read all records in order need none of these */
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.block_bytes = 512; /* other than the store's, so that there is something to do */
    check_refused(sstore_compact(store, SSTORE_COMPACTION_ALL, &options, NULL, &error), &error, path, reason);
    const char *inputs[] = {store};
    check_refused(sstore_merge(merged, inputs, 1, NULL, NULL, &error), &error, path, reason);
    assert_false(scratch_exists(merged));
    return ways + 4;
}

/* Move `name` of the store away, and restore it. */
static uint64_t try_at(const char *name, bool is_folder)
{
    char path[PATH_MAX];
    uint64_t cases = 0;
    snprintf(path, sizeof path, "%s/%s", store, name);
    assert_int_equal(rename(path, moved), 0);
    for (size_t i = 0; i < KINDS; i++) {
        const char *reason = is_folder ? kinds[i].of_folder : kinds[i].of_files;
        if (reason == NULL)
            continue;
        testing_doing("%s for %s, seed %" PRIu64, kinds[i].name, name, run_seed);
        alarm(FOR_EVER_SECONDS);
        if (!kinds[i].put(path, moved)) {
            assert_true(kinds[i].may_lack && (errno == EPERM || errno == EACCES));
            print_message("not tried, since this process may not make it: %s\n", kinds[i].name);
            continue;
        }
        cases += check_all_ways(path, reason);
        scratch_remove(path);
    }
    assert_int_equal(rename(moved, path), 0);
    return cases;
}

static void test_in_the_place_of_a_file(void **state)
{
    uint64_t cases = 0;
    sstore_error error;
    store_must_build(store, NULL, &set);
    file_list files = file_list_make(store, "");
    assert_true(files.count >= 4);
    for (size_t i = 0; i < files.count; i++)
        cases += try_at(files.names[i], false);
    char folder[64];
    snprintf(folder, sizeof folder, "%.20s", strstr(files.names[files.count - 1], "seg-"));
    cases += try_at(folder, true);
    assert_ok(sstore_verify(store, NULL, NULL, NULL, &error), &error);
    testing_figure("strange files: %" PRIu64 " times something in the place of one of %zu files and a folder, refused",
                   cases, files.count);
    file_list_free(&files);
    testing_done();
}

/* The path that is given may be a link; what it leads to is the store. */
static void test_path_of_the_store(void **state)
{
    sstore_error error;
    sstore *opened;
    char link[256];
    snprintf(link, sizeof link, "%s", scratch_path("link"));
    assert_int_equal(symlink("store", link), 0);
    assert_ok(sstore_verify(link, NULL, NULL, NULL, &error), &error);
    for (size_t i = 2; i < KINDS; i++) { /* the others are not stores */
        char path[256];
        snprintf(path, sizeof path, "%s", scratch_path("strange"));
        if (kinds[i].put == put_folder || !kinds[i].put(path, "nowhere"))
            continue;
        testing_doing("%s for a store", kinds[i].name);
        alarm(FOR_EVER_SECONDS);
        const sstore_status status = sstore_open(path, NULL, &opened, &error);
        assert_true(status == SSTORE_ERROR_NOT_FOUND || status == SSTORE_ERROR_IO);
        assert_non_null(strstr(error.message, path));
        sstore_builder *builder = NULL;
        assert_true(sstore_builder_create(path, NULL, &builder, &error) != SSTORE_OK);
        assert_true(sstore_builder_create_addition(path, NULL, &builder, &error) != SSTORE_OK);
        scratch_remove(path);
    }
    testing_done();
}

/* ----- writers ----- */

/* Objects in a store's folder that have names of leftovers, but are not: they stay, and so do the targets of links. */
static void test_names_of_leftovers(void **state)
{
    static const char *const names[] = {"tmp-0000000000000001", "seg-00000000000000ff"};
    sstore_error error;
    const char *precious = scratch_path("precious");
    char file[PATH_MAX], link[PATH_MAX];
    scratch_remove(store);
    store_must_build(store, NULL, &set);
    assert_int_equal(mkdir(precious, 0777), 0);
    snprintf(file, sizeof file, "%s/table-00.blk", precious);
    file_save(file, "precious", 8);
    for (size_t i = 0; i < 2; i++) {
        snprintf(link, sizeof link, "%s/%s", store, names[i]);
        assert_int_equal(symlink(precious, link), 0);
    }
    snprintf(link, sizeof link, "%s/MANIFEST.new", store);
    assert_int_equal(symlink(file, link), 0);
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.force = true;
    store_must_build(store, &options, &set);
    sstore_write_options compact = SSTORE_WRITE_OPTIONS_INIT;
    compact.block_bytes = 512;
    assert_ok(sstore_compact(store, SSTORE_COMPACTION_ALL, &compact, NULL, &error), &error);
    assert_ok(sstore_verify(store, NULL, NULL, NULL, &error), &error);
    file_bytes content = file_load(file);
    assert_int_equal(content.size, 8);
    assert_memory_equal(content.data, "precious", 8);
    file_bytes_free(&content);
    for (size_t i = 0; i < 2; i++) {
        snprintf(link, sizeof link, "%s/%s", store, names[i]);
        assert_true(scratch_exists(link));
    }
    testing_done();
}

static int make_data(void **state)
{
    rng random = rng_seeded(run_seed);
    snprintf(store, sizeof store, "%s", scratch_path("store"));
    snprintf(merged, sizeof merged, "%s", scratch_path("merged"));
    snprintf(moved, sizeof moved, "%s", scratch_path("moved"));
    data_make(&random, DATA_CLUSTERED, DATA_IDS, 300, false, &set);
    return 0;
}

static int free_data(void **state)
{
    data_free(&set);
    return 0;
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_in_the_place_of_a_file, testing_teardown),
        cmocka_unit_test_teardown(test_path_of_the_store, testing_teardown),
        cmocka_unit_test_teardown(test_names_of_leftovers, testing_teardown),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
