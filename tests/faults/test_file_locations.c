/*
 * test_file_locations.c - where files are made, and with which modes. The test watches each file that a call makes. A
 * store's files are in its folder, with the modes that the umask allows. Data that does not fit in memory also goes
 * there, or to the user's folder for temporary files, into an unnamed file that only its owner may open. No file is
 * made in a shared folder, and none if memory is enough.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/interpose.h"
#include "support/process.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/spilling.h"
#include "support/use_store.h"

#define MANY 400000u /* records, more than builds and joins of so little memory hold */
#define FEW 500u
#define NOBODY 65534u

static data_set many, few;

/* ----- watching ----- */

/* The created files. */
typedef struct watch {
    pthread_mutex_t lock;
    const char *spills;  /* the folder in which spilled data must be */
    const char *files;   /* the folder of all other files */
    bool refuse_unnamed; /* as a file system does that has no such files */
    uint64_t made, unnamed, spill_writes;
    char wrong[2 * PATH_MAX + 64]; /* the first violation */
} watch;

static void note_wrong(watch *self, const char *what, const char *path)
{
    if (self->wrong[0] == '\0')
        snprintf(self->wrong, sizeof self->wrong, "%s: %s", path, what);
}

static bool is_creation(const system_call *call)
{
    return call->kind == CALL_OPEN && ((call->flags & O_CREAT) != 0 || (call->flags & O_TMPFILE) == O_TMPFILE);
}

static verdict refuse(void *context, const system_call *call)
{
    const watch *self = context;
    const bool refused = self->refuse_unnamed && call->kind == CALL_OPEN && (call->flags & O_TMPFILE) == O_TMPFILE;
    return (verdict){.error = refused ? EOPNOTSUPP : 0, .size = call->size};
}

static void find_path(int fd, char to[PATH_MAX])
{
    char descriptor[64];
    snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(descriptor, to, PATH_MAX - 1);
    to[length < 0 ? 0 : length] = '\0';
}

/* A file for spilled data: other users may not open it. */
static bool is_private(const struct stat *info)
{
    return S_ISREG(info->st_mode) && (info->st_mode & 0777) == 0600;
}

static void check_made(watch *self, const system_call *call, int fd)
{
    char path[PATH_MAX];
    struct stat info;
    find_path(fd, path);
    const bool unnamed = (call->flags & O_TMPFILE) == O_TMPFILE, spill = strstr(path, "/sstore-run-") != NULL;
    const char *folder = unnamed || spill ? self->spills : self->files;
    const size_t length = strlen(folder);
    self->made++;
    self->unnamed += unnamed;
    if (strncmp(path, folder, length) != 0 || path[length] != '/')
        note_wrong(self, "made here", path);
    if (fstat(fd, &info) != 0 || ((unnamed || spill) && !is_private(&info)))
        note_wrong(self, "open to others", path);
    if (spill && (call->flags & (O_EXCL | O_NOFOLLOW)) != (O_EXCL | O_NOFOLLOW))
        note_wrong(self, "made without O_EXCL", path);
}

static void check_written(watch *self, int fd)
{
    struct stat info;
    char path[PATH_MAX];
    if (fstat(fd, &info) != 0 || !is_private(&info))
        return;
    find_path(fd, path);
    self->spill_writes++;
    if (info.st_nlink != 0)
        note_wrong(self, "spilled to while it has a name", path);
}

static void look(void *context, const system_call *call, long result)
{
    watch *self = context;
    pthread_mutex_lock(&self->lock);
    if (is_creation(call))
        check_made(self, call, (int)result);
    else if (call->kind == CALL_WRITE)
        check_written(self, call->fd);
    pthread_mutex_unlock(&self->lock);
}

/* ----- calls ----- */

static char store[256], other[256], target[256], apart[256];
static const char *tmp_dir;

static sstore_status run(spilling_call *call, const data_set *set, sstore_error *error)
{
    const spilling how = {.set = set,
                          .store = store,
                          .other = other,
                          .target = target,
                          .tmp_dir = tmp_dir,
                          .plan = "2",
                          .threads = 2,
                          .distance = 1,
                          .collection_bytes = set == &few ? 0 : (uint64_t)1 << 20};
    return call(&how, error);
}

typedef struct job {
    const char *name;
    spilling_call *call;
    const char *place; /* where it makes files by default; NULL: in the working folder */
    bool reads;        /* creates no permanent files, and uses TMPDIR */
} job;

/* Each of the first ones continues from the results of the ones before. */
static const job jobs[] = {
    {"build", spilling_build, target, false},     {"add", spilling_add, target, false},
    {"remove", spilling_remove, target, false},   {"compact", spilling_compact, target, false},
    {"merge", spilling_merge, target, false},     {"pairs", spilling_pairs, store, true},
    {"clusters", spilling_clusters, store, true}, {"join", spilling_join, store, true},
    {"collect", spilling_collect, NULL, true},
};
#define JOBS (sizeof jobs / sizeof jobs[0])

/* ----- locations ----- */

static watch watched(const job *what, const data_set *set, const char *spills, bool refuse_unnamed)
{
    watch self = {.lock = PTHREAD_MUTEX_INITIALIZER,
                  .spills = spills,
                  .files = what->reads ? "/nowhere" : target,
                  .refuse_unnamed = refuse_unnamed};
    const interposer hooks = {.before = refuse, .after = look, .context = &self};
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%s of %zu records, spilling to %s%s, seed %" PRIu64, what->name, set->count, spills,
                  refuse_unnamed ? ", without unnamed files" : "", run_seed);
    interpose_begin(&hooks);
    const sstore_status status = run(what->call, set, &error);
    interpose_end();
    assert_ok(status, &error);
    if (self.wrong[0] != '\0')
        fail_msg("%s", self.wrong);
    return self;
}

/* `usual`: where joins spill; NULL: where they do by default. */
static void check_spills(const char *usual, bool refuse_unnamed)
{
    char here[PATH_MAX];
    uint64_t spill_count = 0;
    assert_non_null(getcwd(here, sizeof here));
    for (size_t i = 0; i < JOBS; i++) {
        const char *place = jobs[i].place != NULL ? jobs[i].place : here;
        if (tmp_dir != NULL || (usual != NULL && jobs[i].reads))
            place = tmp_dir != NULL ? tmp_dir : usual;
        const watch self = watched(&jobs[i], &many, place, refuse_unnamed);
        assert_int_equal(self.unnamed > 0, self.spill_writes > 0 && !refuse_unnamed);
        assert_true(self.spill_writes > 0 || !jobs[i].reads);
        spill_count += self.spill_writes > 0;
    }
    assert_true(spill_count > 5);
    file_list left = file_list_make(scratch_folder(), "");
    for (size_t i = 0; i < left.count; i++)
        assert_null(strstr(left.names[i], "sstore-run-"));
    file_list_free(&left);
}

static void test_by_default_in_the_store(void **state)
{
    (void)unsetenv("TMPDIR");
    check_spills(NULL, false);
    check_spills(NULL, true);
    assert_int_equal(setenv("TMPDIR", "", 1), 0);
    check_spills(NULL, false);
    testing_done();
}

static void test_joins_where_the_user_says(void **state)
{
    assert_int_equal(setenv("TMPDIR", apart, 1), 0);
    check_spills(apart, false);
    check_spills(apart, true);
    assert_int_equal(setenv("TMPDIR", "/nowhere", 1), 0);
    tmp_dir = apart;
    check_spills(NULL, false);
    tmp_dir = NULL;
    (void)unsetenv("TMPDIR");
    testing_done();
}

/* With enough memory only permanent files are created. */
static void test_nothing_without_need(void **state)
{
    (void)unsetenv("TMPDIR");
    char *large = strdup(store);
    snprintf(store, sizeof store, "%s", other);
    for (size_t i = 0; i < JOBS; i++) {
        if (!jobs[i].reads || jobs[i].call == spilling_join)
            continue;
        const watch self = watched(&jobs[i], &few, "/nowhere", false);
        assert_int_equal(self.made, 0);
    }
    snprintf(store, sizeof store, "%s", large);
    free(large);
    testing_done();
}

/* ----- folders that cannot be written to ----- */

/* In a child that has no rights but others': a folder in which nothing can be made. */
static int try_unwritable(void)
{
    sstore_error error = {.status = SSTORE_OK};
    if (geteuid() == 0 && (setegid(NOBODY) != 0 || seteuid(NOBODY) != 0))
        return 1;
    if (access(store, W_OK) == 0 && geteuid() != NOBODY)
        return 2;
    if (run(spilling_pairs, &many, &error) != SSTORE_ERROR_IO || error.system_errno != EACCES ||
        strstr(error.message, store) == NULL || strstr(error.message, "set tmp_dir") == NULL)
        return 3;
    tmp_dir = apart;
    if (run(spilling_pairs, &many, &error) != SSTORE_OK)
        return 4;
    tmp_dir = NULL;
    snprintf(store, sizeof store, "%s", other); /* a small one needs no folder */
    if (run(spilling_pairs, &few, &error) != SSTORE_OK)
        return 5;
    tmp_dir = "not-there";
    return run(spilling_pairs, &few, &error) == SSTORE_ERROR_NOT_FOUND ? 0 : 6;
}

static void test_unwritable_store(void **state)
{
    (void)unsetenv("TMPDIR");
    assert_int_equal(chmod(scratch_folder(), 0755) | chmod(apart, 0777) | chmod(store, 0555) | chmod(other, 0555), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(try_unwritable());
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
    assert_int_equal(chmod(store, 0755) | chmod(other, 0755), 0);
    testing_done();
}

/* ----- a file system that can only be read ----- */

static verdict refuse_to_write(void *context, const system_call *call)
{
    const bool writes = is_creation(call) || call->kind == CALL_RENAME || call->kind == CALL_LINK ||
                        call->kind == CALL_REMOVE || call->kind == CALL_MAKE_FOLDER ||
                        (call->kind == CALL_OPEN && (call->flags & O_ACCMODE) != O_RDONLY);
    return (verdict){.error = writes ? EROFS : 0, .size = call->size};
}

static sstore_status read_everything(sstore_error *error)
{
    sstore *opened;
    sstore_cursor *cursor = NULL;
    matches found = {.count = 0};
    sstore_status status = sstore_open(store, NULL, &opened, error);
    if (status == SSTORE_OK)
        status = sstore_cursor_create(opened, &cursor, error);
    for (size_t i = 0; status == SSTORE_OK && i < 100; i++)
        status = store_query(cursor, many.fingerprints[i], 3, &found, error);
    if (status == SSTORE_OK)
        status = store_batch(opened, many.fingerprints, 1000, 3, 2, &found, error);
    if (status == SSTORE_OK)
        status = sstore_verify(store, NULL, NULL, NULL, error);
    sstore_cursor_free(cursor);
    sstore_close(opened);
    matches_free(&found);
    return status;
}

/* A store can be read there; changes fail with the reason, and do nothing. */
static void test_read_only_file_system(void **state)
{
    const interposer hooks = {.before = refuse_to_write};
    sstore_error error = {.status = SSTORE_OK};
    char before[PATH_MAX];
    testing_doing("a file system that can only be read, seed %" PRIu64, run_seed);
    assert_ok(run(spilling_build, &few, &error), &error);
    snprintf(before, sizeof before, "%s", scratch_path("before"));
    folder_copy(target, before);
    interpose_begin(&hooks);
    const sstore_status status = read_everything(&error);
    interpose_end();
    assert_ok(status, &error);
    for (size_t i = 1; i < JOBS; i++) {
        if (jobs[i].reads || jobs[i].call == spilling_merge)
            continue;
        sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
        options.block_bytes = 512; /* so that compacting has something to do */
        interpose_begin(&hooks);
        const sstore_status refused = jobs[i].call == spilling_compact
                                          ? sstore_compact(target, SSTORE_COMPACTION_ALL, &options, NULL, &error)
                                          : run(jobs[i].call, &few, &error);
        interpose_end();
        assert_status(refused, SSTORE_ERROR_IO, &error);
        assert_int_equal(error.system_errno, EROFS);
        assert_non_null(strstr(error.message, target));
    }
    assert_true(folders_equal(target, before, ""));
    scratch_remove(before);
    testing_done();
}

/* ----- modes ----- */

static void check_modes(const char *path, mode_t mask)
{
    file_list files = file_list_make(path, "");
    struct stat info;
    assert_true(files.count >= 4);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0777 & ~mask);
    for (size_t i = 0; i < files.count; i++) {
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%s/%s", path, files.names[i]);
        assert_int_equal(stat(file, &info), 0);
        if ((info.st_mode & 07777) != (0666 & ~mask))
            fail_msg("%s: mode %o under umask %o", file, info.st_mode & 07777, mask);
        char *end = strrchr(file, '/');
        *end = '\0'; /* its folder */
        assert_int_equal(stat(file, &info), 0);
        assert_int_equal(info.st_mode & 07777, 0777 & ~mask);
    }
    file_list_free(&files);
}

static void test_modes(void **state)
{
    static const mode_t masks[] = {022, 077, 0, 027};
    sstore_error error = {.status = SSTORE_OK};
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        testing_doing("modes under umask %o", masks[i]);
        const mode_t before = umask(masks[i]);
        assert_ok(run(spilling_build, &few, &error), &error);
        check_modes(target, masks[i]);
        assert_ok(run(spilling_add, &many, &error), &error);
        assert_ok(run(spilling_remove, &many, &error), &error);
        check_modes(target, masks[i]);
        assert_ok(run(spilling_compact, &many, &error), &error);
        check_modes(target, masks[i]);
        (void)umask(before);
    }
    testing_done();
}

static int make_all(void **state)
{
    rng random = rng_seeded(run_seed);
    data_make(&random, DATA_UNIFORM, DATA_IDS, MANY, false, &many);
    data_make(&random, DATA_CLUSTERED, DATA_IDS, FEW, false, &few);
    (void)unsetenv("TMPDIR");
    snprintf(store, sizeof store, "%s", scratch_path("store"));
    snprintf(other, sizeof other, "%s", scratch_path("other"));
    snprintf(target, sizeof target, "%s", scratch_path("target"));
    snprintf(apart, sizeof apart, "%s", scratch_path("apart"));
    assert_int_equal(mkdir(apart, 0777) | mkdir(scratch_path("here"), 0777) | chdir(scratch_path("here")), 0);
    store_must_build(store, NULL, &many);
    store_must_build(other, NULL, &few);
    return 0;
}

static int free_all(void **state)
{
    data_free(&many);
    data_free(&few);
    return chdir("/");
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_by_default_in_the_store, testing_teardown),
        cmocka_unit_test_teardown(test_joins_where_the_user_says, testing_teardown),
        cmocka_unit_test_teardown(test_nothing_without_need, testing_teardown),
        cmocka_unit_test_teardown(test_unwritable_store, testing_teardown),
        cmocka_unit_test_teardown(test_read_only_file_system, testing_teardown),
        cmocka_unit_test_teardown(test_modes, testing_teardown),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
