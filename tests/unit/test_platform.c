/* What a port has to give: paths of open files, files in memory that nobody can change, files without a name, and hints
 * that change no byte. */
#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/scratch.h"
#include "support/testing.h"

#define BYTES 100000u

static uint8_t content[BYTES];

static int open_file(const char *name)
{
    memset(content, 'x', sizeof content);
    file_save(scratch_path("%s", name), content, sizeof content);
    const int fd = open(scratch_path("%s", name), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void check_content(int fd)
{
    uint8_t there[BYTES];
    assert_int_equal(pread(fd, there, sizeof there, 0), BYTES);
    assert_memory_equal(there, content, BYTES);
}

static void test_paths(void **state)
{
    char path[SS_PLATFORM_PATH_BYTES];
    struct stat there;
    assert_true(ss_platform_has_paths());
    assert_int_equal(mkdir(scratch_path("folder"), 0777), 0);
    const int fd = open_file("folder/file"), folder = open(scratch_path("folder"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(rename(scratch_path("folder"), scratch_path("moved")), 0);
    ss_platform_path(folder, "file", path);
    assert_int_equal(stat(path, &there), 0);
    assert_int_equal(there.st_size, BYTES);
    assert_int_equal(unlink(scratch_path("moved/file")), 0);
    assert_int_equal(stat(path, &there), -1);
    ss_platform_path(fd, NULL, path);
    assert_int_equal(stat(path, &there), 0);
    assert_int_equal(there.st_size, BYTES);
    close(folder);
    close(fd);
}

static void test_files_in_memory(void **state)
{
    const int fd = ss_platform_create_in_memory();
    assert_true(fd >= 0);
    memset(content, 'y', sizeof content);
    assert_int_equal(pwrite(fd, content, sizeof content, 0), BYTES);
    assert_true(ss_platform_seal(fd));
    assert_int_equal(pwrite(fd, "z", 1, 0), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(ftruncate(fd, 2 * BYTES), -1);
    assert_ptr_equal(mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    check_content(fd);
    close(fd);
}

static void test_unnamed_files(void **state)
{
    assert_int_equal(mkdir(scratch_path("unnamed"), 0777), 0);
    const int folder = open(scratch_path("unnamed"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd = ss_platform_create_unnamed(folder);
    struct stat info;
    if (fd < 0) /* without them, a file is unlinked as soon as it is created */
        assert_int_equal(errno, EOPNOTSUPP);
    else {
        assert_int_equal(fstat(fd, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
        close(fd);
    }
    file_list list = file_list_make(scratch_path("unnamed"), "");
    assert_int_equal(list.count, 0);
    file_list_free(&list);
    close(folder);
}

static void test_hints_change_nothing(void **state)
{
    const int fd = open_file("file");
    ss_platform_will_need(fd, 0, BYTES);
    ss_platform_expect_random(fd);
    ss_platform_start_writing(fd, 0, BYTES);
    assert_true(ss_platform_sync_file_system(fd));
    check_content(fd);
    /* A read of cached bytes gives them all, and false beyond the end. */
    uint8_t there[BYTES];
    if (ss_platform_read_cached(fd, 0, there, sizeof there))
        assert_memory_equal(there, content, BYTES);
    assert_false(ss_platform_read_cached(fd, 1, there, sizeof there));
    /* A punched part may read as zeros, or as before. The rest and the size stay. */
    struct stat info;
    ss_platform_punch(fd, 0, BYTES / 2);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_size, BYTES);
    assert_int_equal(pread(fd, there, sizeof there, 0), BYTES);
    assert_memory_equal(there + BYTES / 2, content + BYTES / 2, BYTES / 2);
    close(fd);
}

static void test_populate(void **state)
{
    const int fd = open_file("file");
    uint8_t *map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    (void)ss_platform_populate(map + 5000, 3); /* in the midst of a page */
    assert_memory_equal(map, content, BYTES);
    /* limits.mapped tests pages that cannot be read: an emulator accepts every madvise(). */
    munmap(map, BYTES);
    close(fd);
}

/* A part that is no longer in the file is an error, and no signal. */
static void test_copying_of_maps(void **state)
{
    const int fd = open_file("file");
    uint8_t copy[100], byte = 0;
    uint8_t *map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    if (ss_platform_copy_mapped(&byte, 1, copy)) { /* not of every emulator */
        assert_true(ss_platform_copy_mapped(map + 5000, sizeof copy, copy));
        assert_memory_equal(copy, content + 5000, sizeof copy);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_false(ss_platform_copy_mapped(map + 5000, sizeof copy, copy));
    }
    munmap(map, BYTES);
    close(fd);
}

static void test_processors_and_memory(void **state)
{
    assert_true(ss_platform_processors() >= 1);
    assert_true(ss_platform_group_memory_limit() > (uint64_t)1 << 20);
    uint8_t *memory = ss_alloc_large((size_t)4 << 20);
    assert_non_null(memory);
    memory[(4 << 20) - 1] = 1;
    ss_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_paths, testing_teardown),
        cmocka_unit_test_teardown(test_files_in_memory, testing_teardown),
        cmocka_unit_test_teardown(test_unnamed_files, testing_teardown),
        cmocka_unit_test_teardown(test_hints_change_nothing, testing_teardown),
        cmocka_unit_test_teardown(test_populate, testing_teardown),
        cmocka_unit_test_teardown(test_copying_of_maps, testing_teardown),
        cmocka_unit_test_teardown(test_processors_and_memory, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
