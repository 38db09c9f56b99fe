/* A store's folder while it is written: one writer locks it, removes only the leftovers of killed writers, and
 * publishes all or nothing. */
#include "store/commit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sstore_statistics.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/use_store.h"

/* ----- failing system calls of a publication ----- */

/* Which of these calls fails, counted from 1; 0: none. */
static uint64_t failing_call, calls_made;

static bool call_fails(void)
{
    if (++calls_made != failing_call)
        return false;
    errno = EIO;
    return true;
}

/* These replace the C library's functions in this program, also for LMDB. */
int fsync(int fd)
{
    return call_fails() ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return call_fails() ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return call_fails() ? -1 : (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

/* Which entry of a folder cannot be read, counted from 1; 0: none. */
static uint64_t failing_entry, entries_read;

struct dirent *readdir(DIR *stream)
{
    struct dirent *(*next)(DIR *);
    if (++entries_read == failing_entry) {
        errno = EIO;
        return NULL;
    }
    *(void **)&next = dlsym(RTLD_NEXT, "readdir64"); /* as readdir is called where offsets have 64 bits */
    return next(stream);
}

/* ----- helpers ----- */

static const char *store_path(void)
{
    return scratch_path("store");
}

static const char *in_store(const char *name)
{
    return scratch_path("store/%s", name);
}

static int start_afresh(void **state)
{
    failing_call = failing_entry = 0;
    scratch_remove(store_path());
    return 0;
}

static data_set make_data(uint64_t seed)
{
    rng random = rng_seeded(run_seed + seed);
    data_set set;
    data_make(&random, DATA_CLUSTERED, DATA_IDS, 600, true, &set);
    return set;
}

static sstore_status build(const data_set *set, bool replace, sstore_error *error)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.block_bytes = 512;
    options.memory_bytes = 1 << 20;
    options.threads = 1;
    options.plan = "2";
    options.force = replace;
    *error = (sstore_error){.status = SSTORE_OK};
    return store_build(store_path(), &options, set, 0, error);
}

static void must_build(const data_set *set, bool replace)
{
    sstore_error error;
    assert_ok(build(set, replace, &error), &error);
}

/* Whether the store opens, verifies, and holds exactly these data. */
static bool holds(const data_set *set)
{
    sstore_error error = {.status = SSTORE_OK};
    record_set truth;
    bool right = false;
    size_t count;
    assert_ok(sstore_verify(store_path(), NULL, NULL, NULL, &error), &error);
    sstore *store = store_must_open(store_path(), SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_statistics facts = {.struct_size = sizeof facts};
    assert_ok(sstore_stat(store, &facts, &error), &error);
    truth = record_set_of_data(set);
    const bool as_many = facts.record_count == truth.count && facts.distinct_count == record_set_count_distinct(&truth);
    if (as_many) /* it stops at the first record that is another */
        (void)store_compare_records(store, &truth, &right, &count, &error);
    sstore_close(store);
    record_set_free(&truth);
    return as_many && right;
}

/* The entries of the store's folder with this prefix, also folders. */
typedef struct entry_count {
    const char *prefix;
    size_t count;
} entry_count;

static bool count_one(void *context, const char *name)
{
    entry_count *self = context;
    self->count += strncmp(name, self->prefix, strlen(self->prefix)) == 0;
    return true;
}

static size_t entries(const char *prefix)
{
    ss_dir dir;
    sstore_error error = {.status = SSTORE_OK};
    entry_count self = {.prefix = prefix};
    assert_ok(ss_dir_open(store_path(), &dir, &error), &error);
    assert_ok(ss_dir_each(&dir, count_one, &self, &error), &error);
    ss_dir_close(&dir);
    return self.count;
}

/* A manifest and one segment, and nothing else. */
static void check_only_a_store(void)
{
    assert_int_equal(entries(""), 2);
    assert_int_equal(entries(SS_SEGMENT_PREFIX), 1);
    assert_true(scratch_exists(in_store(SS_MANIFEST_NAME)));
}

static void make_folder(const char *path)
{
    assert_int_equal(mkdir(path, 0777), 0);
}

/* ----- locking ----- */

static void test_made_folder_goes_again(void **state)
{
    ss_transaction place;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_transaction_open(&place, store_path(), SS_WRITE_NEW, NULL, &error), &error);
    assert_true(place.made_folder);
    assert_ok(ss_transaction_stage(&place, &error), &error);
    assert_int_equal(entries(SS_UNFINISHED_PREFIX), 1);
    ss_transaction_close(&place);
    assert_false(scratch_exists(store_path()));
}

/* A relative path may lead to another folder when the made one is removed. */
static void test_made_folder_goes_after_chdir(void **state)
{
    static const char *const paths[] = {"store", "store/", "./store//", "../here/store"};
    const int before = open(".", O_RDONLY | O_DIRECTORY);
    assert_true(before >= 0);
    make_folder(scratch_path("here"));
    make_folder(scratch_path("there"));
    make_folder(scratch_path("there/store"));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        ss_transaction place;
        sstore_error error = {.status = SSTORE_OK};
        assert_int_equal(chdir(scratch_path("here")), 0);
        assert_ok(ss_transaction_open(&place, paths[i], SS_WRITE_NEW, NULL, &error), &error);
        assert_int_equal(chdir(scratch_path("there")), 0);
        ss_transaction_close(&place);
        assert_false(scratch_exists(scratch_path("here/store")));
        assert_true(scratch_exists(scratch_path("there/store")));
    }
    /* One that has another name now is not removed, and neither is what has its name. */
    ss_transaction place;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_transaction_open(&place, scratch_path("here/store"), SS_WRITE_NEW, NULL, &error), &error);
    assert_int_equal(rename(scratch_path("here/store"), scratch_path("here/moved")), 0);
    make_folder(scratch_path("here/store"));
    ss_transaction_close(&place);
    assert_true(scratch_exists(scratch_path("here/store")));
    assert_true(scratch_exists(scratch_path("here/moved")));
    assert_int_equal(fchdir(before), 0);
    close(before);
    scratch_remove(scratch_path("here"));
    scratch_remove(scratch_path("there"));
}

static void test_existing_folder_stays(void **state)
{
    ss_transaction place;
    sstore_error error = {.status = SSTORE_OK};
    make_folder(store_path());
    assert_ok(ss_transaction_open(&place, store_path(), SS_WRITE_NEW, NULL, &error), &error);
    assert_ok(ss_transaction_stage(&place, &error), &error);
    file_save(scratch_path("store/%s/table-00.blk", place.staged[0]->name), "unfinished", 10);
    ss_transaction_close(&place);
    assert_int_equal(entries(""), 0);
}

static void test_one_writer_at_a_time(void **state)
{
    ss_transaction first, second;
    sstore_error error = {.status = SSTORE_OK};
    data_set set = make_data(0);
    must_build(&set, false);
    assert_ok(ss_transaction_open(&first, store_path(), SS_WRITE_REPLACE, NULL, &error), &error);
    assert_ok(ss_transaction_stage(&first, &error), &error);
    for (ss_write_mode mode = SS_WRITE_NEW; mode <= SS_WRITE_EXTEND; mode++) {
        assert_status(ss_transaction_open(&second, store_path(), mode, NULL, &error), SSTORE_ERROR_BUSY, &error);
        assert_non_null(strstr(error.message, store_path()));
    }
    assert_int_equal(entries(SS_UNFINISHED_PREFIX), 1); /* the first one's is still there */
    assert_true(holds(&set));                           /* readers are not disturbed */
    ss_transaction_close(&first);
    check_only_a_store();
    assert_ok(ss_transaction_open(&second, store_path(), SS_WRITE_REPLACE, NULL, &error), &error);
    ss_transaction_close(&second);
    assert_true(holds(&set));
    data_free(&set);
}

static void test_lock_of_another_program(void **state)
{
    ss_transaction place;
    ss_dir dir;
    sstore_error error = {.status = SSTORE_OK};
    make_folder(store_path());
    assert_ok(ss_dir_open(store_path(), &dir, &error), &error);
    assert_int_equal(flock(dir.fd, LOCK_EX), 0);
    assert_status(ss_transaction_open(&place, store_path(), SS_WRITE_NEW, NULL, &error), SSTORE_ERROR_BUSY, &error);
    ss_dir_close(&dir);
    assert_ok(ss_transaction_open(&place, store_path(), SS_WRITE_NEW, NULL, &error), &error);
    ss_transaction_close(&place);
}

static void test_store_is_not_replaced_unasked(void **state)
{
    data_set set = make_data(0), other = make_data(1);
    sstore_error error;
    must_build(&set, false);
    assert_status(build(&other, false, &error), SSTORE_ERROR_EXISTS, &error);
    assert_true(holds(&set));
    check_only_a_store();
    must_build(&other, true);
    assert_true(holds(&other));
    check_only_a_store();
    data_free(&set);
    data_free(&other);
}

/* A manifest that readers would refuse is not published. */
static void test_unreadable_state_is_not_published(void **state)
{
    data_set set = make_data(0);
    ss_transaction place;
    ss_manifest changed;
    sstore_error error;
    must_build(&set, false);
    assert_ok(ss_transaction_open(&place, store_path(), SS_WRITE_EXTEND, NULL, &error), &error);
    assert_ok(ss_manifest_copy(&place.manifest, &changed, &error), &error);
    changed.distance = changed.segments[0].plan.distance = 16; /* its two tables are not complete for that */
    changed.segments[0].segment_id = ss_segment_id(&changed.segments[0]);
    assert_status(ss_transaction_commit(&place, &changed, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_non_null(strstr(error.message, "complete"));
    ss_manifest_free(&changed);
    assert_ok(ss_manifest_copy(&place.manifest, &changed, &error), &error);
    /* As if the segments held other records than they are said to. */
    changed.segments[0].kind = SS_SEGMENT_REMOVES;
    assert_status(ss_transaction_commit(&place, &changed, NULL, &error), SSTORE_ERROR_DAMAGED, &error);
    assert_non_null(strstr(error.message, "verify"));
    ss_manifest_free(&changed);
    ss_transaction_close(&place);
    assert_true(holds(&set));
    check_only_a_store();
    data_free(&set);
}

/* A folder with foreign files is refused. */
static void test_folder_with_strangers_is_refused(void **state)
{
    static const char *const strangers[] = {"notes.txt",
                                            ".hidden",
                                            "manifest",
                                            "MANIFEST.old",
                                            "seg",
                                            "segments",
                                            "tmp",
                                            "tmp-results",
                                            "seg-notes",
                                            "tmp-0123456789abcdef0",
                                            "seg-0123456789ABCDEF"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        for (int replace = 0; replace < 2; replace++) {
            ss_transaction place;
            sstore_error error = {.status = SSTORE_OK};
            testing_doing("a folder that holds '%s'", strangers[i]);
            scratch_remove(store_path());
            make_folder(store_path());
            file_save(in_store(strangers[i]), "mine", 4);
            assert_status(ss_transaction_open(&place, store_path(), replace ? SS_WRITE_REPLACE : SS_WRITE_NEW, NULL,
                                              &error),
                          SSTORE_ERROR_EXISTS, &error);
            assert_non_null(strstr(error.message, strangers[i]));
            assert_int_equal(entries(""), 1);
            file_bytes content = file_load(in_store(strangers[i]));
            assert_int_equal(content.size, 4);
            file_bytes_free(&content);
        }
    }
    testing_done();
}

/* A folder that cannot be listed completely is refused. */
static void test_folder_that_cannot_be_listed(void **state)
{
    const char *folder = in_store("seg-00000000000000ff"), *notes = in_store("seg-00000000000000ff/notes.txt");
    make_folder(store_path());
    make_folder(folder);
    file_save(notes, "mine", 4);
    for (uint64_t entry = 1; entry <= 8; entry++) {
        ss_transaction place;
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("a folder whose entry %" PRIu64 " cannot be read", entry);
        failing_entry = entry;
        entries_read = 0;
        const sstore_status status = ss_transaction_open(&place, store_path(), SS_WRITE_REPLACE, NULL, &error);
        failing_entry = 0;
        assert_true(status == SSTORE_ERROR_IO || status == SSTORE_ERROR_EXISTS);
        assert_true(scratch_exists(notes));
    }
    testing_done();
}

static void test_path_that_is_no_folder(void **state)
{
    ss_transaction place;
    sstore_error error = {.status = SSTORE_OK};
    file_save(store_path(), "mine", 4);
    for (int replace = 0; replace < 2; replace++) {
        assert_status(ss_transaction_open(&place, store_path(), replace ? SS_WRITE_REPLACE : SS_WRITE_NEW, NULL,
                                          &error),
                      SSTORE_ERROR_EXISTS, &error);
        assert_true(scratch_exists(store_path()));
    }
    const char *deep = scratch_path("not-there/store");
    assert_status(ss_transaction_open(&place, deep, SS_WRITE_NEW, NULL, &error), SSTORE_ERROR_IO, &error);
    assert_int_equal(error.system_errno, ENOENT);
}

/* ----- leftovers ----- */

/* The leftovers of killed writers. */
static void make_leftovers(void)
{
    make_folder(in_store("tmp-0000000000000001"));
    file_save(in_store("tmp-0000000000000001/table-00.blk"), "unfinished", 10);
    make_folder(in_store("seg-00000000000000ff"));
    file_save(in_store("seg-00000000000000ff/ids.blk"), "not named", 9);
    file_save(in_store(SS_MANIFEST_NEW_NAME), "unfinished", 10);
}

static void test_leftovers_beside_a_store(void **state)
{
    ss_transaction place;
    sstore_error error = {.status = SSTORE_OK};
    data_set set = make_data(0);
    must_build(&set, false);
    make_leftovers();
    assert_true(holds(&set));
    assert_status(ss_transaction_open(&place, store_path(), SS_WRITE_NEW, NULL, &error), SSTORE_ERROR_EXISTS, &error);
    assert_true(holds(&set));
    for (ss_write_mode mode = SS_WRITE_REPLACE; mode <= SS_WRITE_EXTEND; mode++) {
        assert_ok(ss_transaction_open(&place, store_path(), mode, NULL, &error), &error);
        ss_transaction_close(&place);
        assert_int_equal(entries(SS_UNFINISHED_PREFIX), 0);
        assert_int_equal(entries(SS_SEGMENT_PREFIX), 2); /* nothing was published */
        assert_true(holds(&set));
    }
    must_build(&set, true);
    check_only_a_store();
    assert_true(holds(&set));
    data_free(&set);
}

/* A first build that was killed just before it published: the next one succeeds without `force`. */
static void test_leftovers_without_a_store(void **state)
{
    ss_transaction place;
    sstore_error error = {.status = SSTORE_OK};
    data_set set = make_data(0), other = make_data(1);
    must_build(&set, false);
    assert_int_equal(rename(in_store(SS_MANIFEST_NAME), in_store(SS_MANIFEST_NEW_NAME)), 0);
    make_folder(in_store("tmp-0000000000000001"));
    for (int round = 0; round < 2; round++) { /* a build that gives up meanwhile changes nothing */
        assert_ok(ss_transaction_open(&place, store_path(), SS_WRITE_NEW, NULL, &error), &error);
        assert_ok(ss_transaction_stage(&place, &error), &error);
        ss_transaction_close(&place);
        assert_int_equal(entries(""), 2);
    }
    must_build(&other, false);
    check_only_a_store();
    assert_true(holds(&other));
    data_free(&set);
    data_free(&other);
}

/* A store that has lost its manifest still has its data: they are removed when a new store has replaced it, not before.
 * A new manifest that is not of a first build does not make them unpublished. */
static void test_lost_manifest(void **state)
{
    ss_transaction place;
    sstore_error error = {.status = SSTORE_OK};
    data_set set = make_data(0), other = make_data(1), third = make_data(2);
    must_build(&third, false);
    file_bytes manifest_of_third = file_load(in_store(SS_MANIFEST_NAME));
    must_build(&set, true);
    file_bytes manifest = file_load(in_store(SS_MANIFEST_NAME));
    for (int kind = 0; kind < 3; kind++) { /* of files beside the segments */
        testing_doing("a lost manifest, kind %d", kind);
        assert_int_equal(unlink(in_store(SS_MANIFEST_NAME)), 0);
        if (kind == 1)
            file_save(in_store(SS_MANIFEST_NEW_NAME), "unfinished", 10);
        else if (kind == 2)
            file_save(in_store(SS_MANIFEST_NEW_NAME), manifest_of_third.data, manifest_of_third.size);
        assert_status(ss_transaction_open(&place, store_path(), SS_WRITE_NEW, NULL, &error), SSTORE_ERROR_EXISTS,
                      &error);
        assert_non_null(strstr(error.message, "lost its MANIFEST"));
        assert_ok(ss_transaction_open(&place, store_path(), SS_WRITE_REPLACE, NULL, &error), &error);
        assert_ok(ss_transaction_stage(&place, &error), &error);
        ss_transaction_close(&place);
        file_save(in_store(SS_MANIFEST_NAME), manifest.data, manifest.size);
        assert_true(holds(&set));
    }
    assert_int_equal(unlink(in_store(SS_MANIFEST_NAME)), 0);
    must_build(&other, true);
    check_only_a_store();
    assert_true(holds(&other));
    file_bytes_free(&manifest);
    file_bytes_free(&manifest_of_third);
    data_free(&set);
    data_free(&other);
    data_free(&third);
    testing_done();
}

/* Files that only look like a store's, in an empty folder or in a store's, are not removed. */
static void test_look_alikes_stay(void **state)
{
    data_set set = make_data(0);
    ss_transaction place;
    sstore_error error;
    static const char *const folders[] = {
        "MANIFEST",    "MANIFEST.new", "tmp-0000000000000001",  "seg-0000000000000001",
        "tmp-results", "seg-notes",    "tmp-0123456789abcdef0", "seg-0123456789ABCDEF"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        testing_doing("a folder '%s' with something in it", folders[i]);
        scratch_remove(store_path());
        make_folder(store_path());
        make_folder(in_store(folders[i]));
        const char *mine = scratch_path("store/%s/disk.blk", folders[i]);
        file_save(mine, "mine", 4);
        for (ss_write_mode mode = SS_WRITE_NEW; mode <= SS_WRITE_REPLACE; mode++)
            assert_status(ss_transaction_open(&place, store_path(), mode, NULL, &error), SSTORE_ERROR_EXISTS, &error);
        assert_true(scratch_exists(mine));
        if (i < 2)
            continue;
        file_save(in_store(SS_MANIFEST_NAME), "mine", 4); /* nor does a file of this name make it a store */
        assert_status(ss_transaction_open(&place, store_path(), SS_WRITE_REPLACE, NULL, &error), SSTORE_ERROR_EXISTS,
                      &error);
        assert_true(scratch_exists(mine) && scratch_exists(in_store(SS_MANIFEST_NAME)));
    }
    testing_done();
    scratch_remove(store_path());
    must_build(&set, false);
    make_folder(in_store("tmp-0000000000000001"));
    make_folder(in_store("seg-backup"));
    static const char *const files[] = {"tmp-0000000000000001/disk.blk", "seg-backup/table-00.blk", "tmp-notes.txt"};
    for (size_t i = 0; i < 3; i++)
        file_save(in_store(files[i]), "mine", 4);
    must_build(&set, true);
    for (size_t i = 0; i < 3; i++)
        assert_true(scratch_exists(in_store(files[i])));
    assert_true(holds(&set));
    data_free(&set);
}

/* If a killed writer's folder of the same number cannot be removed, the next number is used. */
static void test_unfinished_name_is_taken(void **state)
{
    data_set set = make_data(0);
    must_build(&set, false);
    const char *taken = scratch_path("store/" SS_UNFINISHED_PREFIX "%016lx", (unsigned long)getpid());
    const char *inner = scratch_path("store/" SS_UNFINISHED_PREFIX "%016lx/.nfs0001", (unsigned long)getpid());
    make_folder(taken);
    file_save(inner, "in use", 6);
    must_build(&set, true);
    assert_true(holds(&set));
    assert_true(scratch_exists(inner));
    data_free(&set);
}

/* The segments of a damaged manifest are unknown: they are removed after the new one is published, not before. */
static void test_damaged_manifest_is_replaced(void **state)
{
    data_set set = make_data(0), other = make_data(1);
    sstore_error error = {.status = SSTORE_OK};
    ss_transaction place;
    must_build(&set, false);
    make_leftovers();
    file_bytes manifest = file_load(in_store(SS_MANIFEST_NAME));
    file_patch(in_store(SS_MANIFEST_NAME), 100, "damage", 6);
    assert_ok(ss_transaction_open(&place, store_path(), SS_WRITE_REPLACE, NULL, &error), &error);
    ss_transaction_close(&place);
    file_save(in_store(SS_MANIFEST_NAME), manifest.data, manifest.size);
    assert_true(holds(&set));
    file_patch(in_store(SS_MANIFEST_NAME), 100, "damage", 6);
    must_build(&other, true);
    check_only_a_store();
    assert_true(holds(&other));
    file_bytes_free(&manifest);
    data_free(&set);
    data_free(&other);
}

/* ----- publishing ----- */

static void test_abort_leaves_nothing(void **state)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    data_set set = make_data(0), other = make_data(1);
    for (int round = 0; round < 2; round++) { /* without and with a store that is to be replaced */
        sstore_builder *builder = NULL;
        sstore_error error = {.status = SSTORE_OK};
        options.force = round;
        options.memory_bytes = 1 << 20;
        assert_ok(sstore_builder_create(store_path(), &options, &builder, &error), &error);
        assert_ok(sstore_builder_add(builder, other.fingerprints, other.ids, other.count, &error), &error);
        sstore_builder_abort(builder);
        if (round == 0) {
            assert_false(scratch_exists(store_path()));
            must_build(&set, false);
        }
    }
    check_only_a_store();
    assert_true(holds(&set));
    data_free(&set);
    data_free(&other);
}

static void segment_name(char name[SS_NAME_CAPACITY])
{
    ss_dir dir;
    ss_manifest manifest;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_dir_open(store_path(), &dir, &error), &error);
    assert_ok(ss_manifest_read(&dir, &manifest, &error), &error);
    ss_folder_name(name, SS_SEGMENT_PREFIX, manifest.segments[0].folder_number);
    ss_manifest_free(&manifest);
    ss_dir_close(&dir);
}

/* Equal records give equal files in a folder of another name, then of the first name again. */
static void test_same_records_again(void **state)
{
    data_set set = make_data(0);
    char first[SS_NAME_CAPACITY], second[SS_NAME_CAPACITY];
    must_build(&set, false);
    segment_name(first);
    const char *copy = scratch_path("copy");
    assert_int_equal(rename(in_store(first), copy), 0);
    scratch_remove(store_path());
    must_build(&set, false);
    segment_name(second);
    assert_string_equal(second, first); /* the name follows from the records */
    assert_true(folders_equal(in_store(second), copy, ".blk"));
    must_build(&set, true);
    segment_name(second);
    assert_string_not_equal(second, first);
    assert_true(folders_equal(in_store(second), copy, ".blk"));
    check_only_a_store();
    assert_true(holds(&set));
    must_build(&set, true);
    segment_name(second);
    assert_string_equal(second, first);
    check_only_a_store();
    scratch_remove(copy);
    data_free(&set);
}

/* A reader keeps the state that it opened. */
static void test_reader_keeps_what_it_opened(void **state)
{
    data_set set = make_data(0), other = make_data(1);
    sstore_error error = {.status = SSTORE_OK};
    record_set truth;
    bool right;
    size_t count;
    must_build(&set, false);
    sstore *store = store_must_open(store_path(), SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    must_build(&other, true);
    truth = record_set_of_data(&set);
    assert_ok(store_compare_records(store, &truth, &right, &count, &error), &error);
    assert_true(right && count == truth.count);
    sstore_close(store);
    assert_true(holds(&other));
    record_set_free(&truth);
    data_free(&set);
    data_free(&other);
}

/*
 * Each of the calls in turn fails, once. The build must fail; the path must have the old store, the new one, or nothing
 * if there was nothing; and the next build must remove leftovers.
 */
static void check_failures(bool with_old_store, uint64_t *failures_out)
{
    data_set old = make_data(2), new = make_data(3);
    for (uint64_t call = 1;; call++) {
        sstore_error error;
        failing_call = 0;
        scratch_remove(store_path());
        if (with_old_store)
            must_build(&old, false);
        testing_doing("call %llu fails, %s an old store", (unsigned long long)call,
                      with_old_store ? "with" : "without");
        calls_made = 0;
        failing_call = call;
        sstore_status status = build(&new, with_old_store, &error);
        failing_call = 0;
        *failures_out = call - 1;
        if (calls_made < call) { /* all calls were tried */
            assert_ok(status, &error);
            break;
        }
        assert_status(status, SSTORE_ERROR_IO, &error);
        if (!with_old_store && !scratch_exists(store_path()))
            continue;
        assert_true(holds(&new) || (with_old_store && holds(&old)));
        must_build(&new, true);
        check_only_a_store();
        assert_true(holds(&new));
    }
    assert_true(holds(&new));
    data_free(&old);
    data_free(&new);
    testing_done();
}

static void test_failing_calls_on_a_new_store(void **state)
{
    uint64_t failures;
    check_failures(false, &failures);
    assert_true(failures >= 8); /* two tables, ids, directory, folders, manifest, renames */
}

static void test_failing_calls_on_replacing(void **state)
{
    uint64_t failures;
    check_failures(true, &failures);
    assert_true(failures >= 8);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_made_folder_goes_again, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_made_folder_goes_after_chdir, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_existing_folder_stays, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_one_writer_at_a_time, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_lock_of_another_program, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_store_is_not_replaced_unasked, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_unreadable_state_is_not_published, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_folder_with_strangers_is_refused, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_folder_that_cannot_be_listed, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_path_that_is_no_folder, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_leftovers_beside_a_store, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_leftovers_without_a_store, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_lost_manifest, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_look_alikes_stay, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_unfinished_name_is_taken, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_damaged_manifest_is_replaced, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_abort_leaves_nothing, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_same_records_again, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_reader_keeps_what_it_opened, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_failing_calls_on_a_new_store, start_afresh, testing_teardown),
        cmocka_unit_test_setup_teardown(test_failing_calls_on_replacing, start_afresh, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
