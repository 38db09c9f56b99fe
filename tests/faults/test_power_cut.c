/*
 * test_power_cut.c - a power cut at any moment of any change must leave the old store or the new one, whole. A change
 * that succeeded must last, and the next change must work. At a moment unsynced data is kept, lost, or partly lost,
 * several times (with SSTORE_TEST_LONG=1 a thousand random losses of each change). The same is tried for a change after
 * one whose sync failed, of each sync in turn in three runs, and for changes of folders and files that others left
 * unsynced. Of a change with many steps, one moment in so many is tried, beginning with any; of stores of several
 * words, fewer.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults/disk.h"
#include "faults/operations.h"
#include "faults/trial.h"
#include "support/scratch.h"
#include "support/widened.h"

#define LAST_TRIED 4u
#define MOMENTS 40u /* of a change that are tried, about */

static operation operations[OPERATION_COUNT];

typedef struct tally {
    uint64_t cuts, partial; /* partial: unsynced data lost in part, in any order */
    uint64_t absent, before, after;
} tally;

/* The store as a cut after so many steps may leave it. */
static void check_cut(const operation *self, const disk *log, size_t steps, disk_luck luck, rng *random, tally *sum)
{
    const store_state at_first = self->saved[0] == '\0' ? STORE_ABSENT : STORE_BEFORE;
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%s, power cut after %zu of %zu steps, luck %d, seed %" PRIu64, self->name, steps, disk_steps(log),
                  luck, run_seed);
    scratch_remove(self->path);
    disk_cut(log, steps, luck, random, self->path);
    const store_state state = operation_check(self);
    if (state != STORE_AFTER)
        assert_int_equal(state, at_first);
    if (steps == disk_steps(log))
        assert_int_equal(state, STORE_AFTER);
    sum->cuts++;
    sum->partial += luck == DISK_LOSES_SOME;
    sum->absent += state == STORE_ABSENT;
    sum->before += state == STORE_BEFORE;
    sum->after += state == STORE_AFTER;
    const sstore_status status = self->run(self, 1, &error);
    if (status == SSTORE_ERROR_EXISTS && at_first == STORE_ABSENT && state == STORE_AFTER)
        return; /* it is built */
    assert_ok(status, &error);
    assert_int_equal(operation_check(self), STORE_AFTER);
    operation_check_tidy(self);
}

/* What follows i of those up to `count` that are tried: each `step`-th, and the last ones, which make a change
 * visible. */
static uint64_t next_of(uint64_t i, uint64_t count, uint64_t step)
{
    const uint64_t last = count > LAST_TRIED ? count - LAST_TRIED : 0;
    return i >= last ? i + 1 : i + step < last ? i + step : last;
}

/* One in so many moments is tried. */
static uint64_t step_of(uint64_t moments, uint64_t few)
{
    return few > 1 ? few : testing_long() ? 1 : 1 + moments / MOMENTS;
}

/* The first moment that is tried, of those from `begin` on. */
static uint64_t first_of(uint64_t begin, uint64_t count, uint64_t step, rng *random)
{
    const uint64_t before_last = count - begin > LAST_TRIED ? count - begin - LAST_TRIED : 1;
    return begin + rng_below(random, step < before_last ? step : before_last);
}

/* Returns how often it syncs. */
static uint64_t cut_everywhere(const operation *self, uint32_t threads, rng *random, tally *sum)
{
    const bool few = (testing_sanitized() || widened_words > 1) && !testing_long();
    const int often = few ? 1 : testing_long() ? 6 : 3;
    sstore_error error = {.status = SSTORE_OK};
    operation_set_stage(self);
    disk *log = disk_watch(scratch_folder(), "stage");
    const sstore_status status = self->run(self, threads, &error);
    disk_rest(log);
    assert_ok(status, &error);
    const uint64_t syncs = disk_syncs(log);
    const size_t steps = disk_steps(log);
    assert_true(steps > 10 && syncs > 2);
    const uint64_t step = step_of(steps, few ? 25 : 1);
    for (size_t i = first_of(0, steps, step, random); i <= steps; i = next_of(i, steps, step))
        for (int luck = 0; luck < DISK_LUCKS; luck++)
            for (int j = 0; j < (luck == DISK_LOSES_SOME ? often : 1); j++)
                check_cut(self, log, i, (disk_luck)luck, random, sum);
    for (uint64_t i = 0; i < 1000 && testing_long(); i++)
        check_cut(self, log, rng_below(random, steps + 1), DISK_LOSES_SOME, random, sum);
    disk_free(log);
    return syncs;
}

/* A sync fails, so the change fails, whether it is visible or not. The next change relies on nothing. */
static void cut_after_failure(const operation *self, uint64_t failing, rng *random, tally *sum)
{
    sstore_error error = {.status = SSTORE_OK};
    operation_set_stage(self);
    disk *log = disk_watch(scratch_folder(), "stage");
    disk_refuse_sync(log, failing);
    sstore_status status = self->run(self, 1, &error);
    assert_int_equal(status, SSTORE_ERROR_IO);
    const size_t begin = disk_steps(log);
    status = self->run(self, 1, &error);
    disk_rest(log);
    if (self->saved[0] == '\0' && status == SSTORE_ERROR_EXISTS) {
        disk_free(log);
        return; /* it is visible, but not known to be durable */
    }
    assert_ok(status, &error);
    const size_t steps = disk_steps(log);
    const size_t fewer = testing_sanitized() ? 5 : 1;
    const uint64_t step = step_of(steps - begin, widened_words > 1 && !testing_long() ? 13 * fewer : fewer);
    for (size_t i = first_of(begin, steps, step, random); i <= steps; i = next_of(i, steps, step)) {
        check_cut(self, log, i, DISK_LOSES_NAMES, random, sum);
        check_cut(self, log, i, DISK_LOSES_SOME, random, sum);
    }
    disk_free(log);
}

/* Operation by operation, those that write. `each`: one in so many of the synchronisations fails, from any one on. */
static void cut_all(const operation *all_of, size_t count, uint64_t each, rng *random)
{
    tally all = {0};
    for (size_t i = 0; i < count; i++) {
        const operation *self = &all_of[i];
        tally sum = {0};
        if (!self->writes)
            continue;
        (void)cut_everywhere(self, 3, random, &sum);
        const uint64_t syncs = cut_everywhere(self, 1, random, &sum);
        for (uint64_t failing = 1 + rng_below(random, each); failing <= syncs; failing = next_of(failing, syncs, each))
            cut_after_failure(self, failing, random, &sum);
        printf("%-12s %5" PRIu64 " power cuts: no store %" PRIu64 ", as before %" PRIu64
               ", as it should become %" PRIu64 "\n",
               self->name, sum.cuts, sum.absent, sum.before, sum.after);
        fflush(stdout);
        all.cuts += sum.cuts;
        all.partial += sum.partial;
        assert_true(sum.after > 0 && sum.after < sum.cuts + !operation_is_seen(self));
    }
    testing_figure("power cuts%s: %" PRIu64 ", of which %" PRIu64
                   " lost a random part of what was not synced: each store old, new or not there",
                   widened_words == 1 ? "" : " of stores of several words", all.cuts, all.partial);
    testing_done();
}

static void test_every_moment(void **state)
{
    rng random = rng_seeded(run_seed);
    cut_all(operations, OPERATION_COUNT, trial_step(7), &random);
}

/* Of a store of several words, with folders in its segments' folders. */
static void test_wide_stores(void **state)
{
    static operation wide[WIDE_OPERATION_COUNT];
    rng random = rng_seeded(run_seed + 4);
    operations_make_wide(run_seed, wide);
    cut_all(wide, WIDE_OPERATION_COUNT, testing_long() ? 1 : testing_sanitized() ? 83 : 19, &random);
    operations_free_wide(wide);
}

static const operation *find_operation(const char *name)
{
    size_t i = 0;
    while (strcmp(operations[i].name, name) != 0)
        i++;
    return &operations[i];
}

/* A build into a folder whose maker was killed before it synced anything. */
static void test_folder_of_another(void **state)
{
    const operation *self = find_operation("build");
    sstore_error error = {.status = SSTORE_OK};
    tally sum = {0};
    rng random = rng_seeded(run_seed + 1);
    operation_set_stage(self);
    disk *log = disk_watch(scratch_folder(), "stage");
    assert_int_equal(mkdir(self->path, 0777), 0);
    const sstore_status status = self->run(self, 1, &error);
    disk_rest(log);
    assert_ok(status, &error);
    for (size_t i = 0; i <= disk_steps(log); i++)
        for (int luck = 0; luck < DISK_LUCKS; luck++)
            check_cut(self, log, i, (disk_luck)luck, &random, &sum);
    assert_true(sum.absent > 0 && sum.after > 0);
    disk_free(log);
    testing_done();
}

/* Directories are rebuilt beside block files that may not be on the disk, as in a fresh copy: afterwards they are. */
static void test_files_of_another(void **state)
{
    const operation *self = find_operation("reindex");
    sstore_reindex_options options = SSTORE_REINDEX_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    tally sum = {0};
    rng random = rng_seeded(run_seed + 2);
    operation_set_stage(self);
    options.all = true;
    disk *log = disk_watch(scratch_folder(), "stage");
    disk_doubt_files(log);
    const sstore_status status = sstore_reindex(self->path, &options, NULL, &error);
    disk_rest(log);
    assert_ok(status, &error);
    for (int luck = 0; luck < DISK_LUCKS; luck++)
        check_cut(self, log, disk_steps(log), (disk_luck)luck, &random, &sum);
    disk_free(log);
    testing_done();
}

static void make_file(const char *path, const char *text)
{
    const int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
    assert_int_equal(close(fd), 0);
}

/* The watch itself: a file that is removed and created again is another file, also if the file system gives it the same
 * number, as ext4 does; /dev/shm does not. */
static void test_made_again(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    char parent[200], path[256];
    snprintf(parent, sizeof parent, "%s", scratch_disk_path("again"));
    assert_int_equal(mkdir(parent, 0777), 0);
    disk *log = disk_watch(parent, "stage");
    snprintf(path, sizeof path, "%s/stage", parent);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/stage/folder", parent);
    assert_int_equal(mkdir(path, 0777) | rmdir(path) | mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/stage/file", parent);
    make_file(path, "the first");
    assert_int_equal(unlinkat(AT_FDCWD, path, 0), 0);
    make_file(path, "second");
    make_file(path, "S"); /* opened once more */
    disk_rest(log);
    const char *left = scratch_disk_path("left");
    disk_cut(log, disk_steps(log), DISK_KEEPS_ALL, &random, left);
    snprintf(path, sizeof path, "%s/folder", left);
    assert_true(scratch_exists(path));
    snprintf(path, sizeof path, "%s/file", left);
    file_bytes content = file_load(path);
    assert_int_equal(content.size, strlen("Second"));
    assert_memory_equal(content.data, "Second", content.size);
    file_bytes_free(&content);
    scratch_remove(left);
    scratch_remove(parent);
    disk_free(log);
}

static int make_operations(void **state)
{
    operations_make(run_seed, operations);
    return 0;
}

static int free_operations(void **state)
{
    operations_free(operations);
    return 0;
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_made_again, testing_teardown),
        cmocka_unit_test_teardown(test_every_moment, testing_teardown),
        cmocka_unit_test_teardown(test_wide_stores, testing_teardown),
        cmocka_unit_test_teardown(test_folder_of_another, testing_teardown),
        cmocka_unit_test_teardown(test_files_of_another, testing_teardown),
    };
    return cmocka_run_group_tests(tests, make_operations, free_operations);
}
