/*
 * test_kill.c - kill -9 at random instants of a build or a change, many times: afterwards there is no store, the old
 * one or the new one, and it is intact. The next writer removes leftovers.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sstore_statistics.h"
#include "support/data.h"
#include "support/random.h"
#include "support/record_set.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"
#include "support/widened.h"

#define KILLS 50u
#define KILLS_SANITIZED 15u
#define KILLS_LONG 1000u
#define RECORDS 60000u

/* The records of a build. Their numbers differ, so that the number identifies the build of a store. */
static data_set make_set(uint64_t number)
{
    rng random = rng_seeded(run_seed + number);
    data_set made;
    data_make(&random, DATA_CLUSTERED, DATA_ASSIGNED, RECORDS + number, false, &made);
    return made;
}

/* Little memory, so that records are spilled, into a folder apart every other time. */
static sstore_write_options make_options(uint64_t number, bool replace)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.memory_bytes = 1 << 20;
    options.threads = 1 + (uint32_t)(number % 3);
    options.plan = number % 5 == 0 ? "auto" : "3";
    options.force = replace;
    options.tmp_dir = number % 2 == 0 ? scratch_disk_path("tmp") : NULL;
    return options;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Build in a child, killed after `seconds` unless it was quicker. */
static void build_and_kill(const char *path, const data_set *set, uint64_t number, bool replace, double seconds)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sstore_error error;
        sstore_write_options options = make_options(number, replace);
        _exit(store_build(path, &options, set, 1000, &error) == SSTORE_OK ? 0 : 1);
    }
    struct timespec pause = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
}

/* Whether the store at `path` holds just the records of the set. */
static bool holds(const char *path, const data_set *set)
{
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    record_set truth;
    bool right;
    size_t count;
    sstore_error error = {.status = SSTORE_OK};
    truth = record_set_of_data(set);
    sstore_status status = store_compare_records(store, &truth, &right, &count, &error);
    bool same = status == SSTORE_OK && right && count == truth.count;
    record_set_free(&truth);
    sstore_close(store);
    return same;
}

/* The number of records that the store at `path` was given; 0: there is none. */
static uint64_t given_to(const char *path)
{
    sstore *store;
    sstore_error error = {.status = SSTORE_OK};
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_status status = sstore_open(path, NULL, &store, &error);
    if (status == SSTORE_OK)
        assert_ok(sstore_stat(store, &facts, &error), &error);
    else
        assert_status(status, SSTORE_ERROR_NOT_FOUND, &error);
    sstore_close(store);
    return facts.next_id;
}

/* A manifest and the files of one segment with its word indexes, and no spilled data. */
static void check_only_a_store(const char *path)
{
    file_list files = file_list_make(path, ""), spilled = file_list_make(scratch_disk_path("tmp"), "");
    size_t blocks = 0;
    for (size_t i = 0; i < files.count; i++)
        blocks += strstr(files.names[i], ".blk") != NULL;
    const size_t directories = widened_words == 1 ? 1 : 1 + widened_words;
    assert_int_equal(files.count, blocks + 1 + directories); /* with the manifest */
    assert_int_equal(spilled.count, 0);
    file_list_free(&files);
    file_list_free(&spilled);
}

/* The current duration of a build over the store. */
static double time_of_build(const char *path, const data_set *set)
{
    sstore_write_options options = make_options(1, true);
    double begin = now_seconds();
    store_must_build(path, &options, set);
    return now_seconds() - begin;
}

static void kill_at_any_time(uint64_t kills)
{
    uint64_t none = 0, old = 0, new = 0;
    rng random = rng_seeded(run_seed);
    char *path = strdup(scratch_disk_path("store"));
    (void)mkdir(scratch_disk_path("tmp"), 0777);
    scratch_remove(path);
    data_set before = make_set(0);
    sstore_write_options options = make_options(0, false);
    store_must_build(path, &options, &before);
    double usual = time_of_build(path, &before);
    for (uint64_t i = 1; i <= kills; i++) {
        /* Some begin without a store, all others replace one. */
        bool fresh = rng_one_in(&random, 4);
        double seconds = usual * 1.15 * (double)rng_below(&random, 1000) / 1000;
        data_set after = make_set(i);
        testing_doing("kill %" PRIu64 ", %s, after %.3f s of about %.3f, seed %" PRIu64, i,
                      fresh ? "without a store" : "over a store", seconds, usual, run_seed);
        if (fresh)
            scratch_remove(path);
        build_and_kill(path, &after, i, !fresh, seconds);
        uint64_t given = given_to(path);
        bool there = given > 0, is_new = given == after.count;
        none += !there;
        new += is_new;
        old += there && !is_new;
        assert_true(there || fresh);
        assert_true(!there || holds(path, is_new ? &after : &before));
        assert_true(!there || is_new || !fresh);
        if (there)
            assert_ok(sstore_verify(path, NULL, NULL, NULL, NULL), NULL);
        if (!there || rng_one_in(&random, 3)) { /* a build that is not killed removes leftovers */
            options = make_options(i + 1, there);
            store_must_build(path, &options, &after);
            usual = time_of_build(path, &after);
            check_only_a_store(path);
            assert_true(holds(path, &after));
            is_new = true;
        }
        data_free(is_new ? &before : &after);
        if (is_new)
            before = after;
    }
    testing_figure("kills of a build%s: %" PRIu64 ": no store where none was %" PRIu64 ", the old one %" PRIu64
                   ", the new one %" PRIu64 ", 0 mixed",
                   widened_words == 1 ? "" : " of several words", kills, none, old, new);
    data_free(&before);
    free(path);
    testing_done();
}

static uint64_t kill_count(void)
{
    return testing_long() ? KILLS_LONG : testing_sanitized() ? KILLS_SANITIZED : KILLS;
}

static void test_kill_at_any_time(void **state)
{
    kill_at_any_time(kill_count());
}

/* Of a store of several words; fewer. */
static void test_kill_wide_builds(void **state)
{
    widened_words = 2;
    kill_at_any_time((kill_count() + 4) / 5);
    widened_words = 1;
}

/* ----- changes ----- */

#define PARTS 6u
#define PART_RECORDS 12000u

/* A store with some parts of all records; a mask tells which. */
typedef struct changing {
    char *path;
    data_set all; /* PARTS * PART_RECORDS of them, with ids */
    double usual; /* seconds that a change takes, about */
} changing;

static data_set part_of(const changing *self, uint32_t part)
{
    return data_part(&self->all, part * PART_RECORDS, (part + 1) * PART_RECORDS);
}

/* What is done in one step: a part is added or removed, and perhaps merged with the newest segments; or all segments
 * are compacted, or the newest. */
typedef struct step {
    enum work { ADD, REMOVE, COMPACT, COMPACT_TIERS } what;
    uint32_t part;
    bool merges;
} step;

static bool run_step(const changing *self, step taken)
{
    sstore_error error;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    const data_set part = part_of(self, taken.part);
    options.memory_bytes = 1 << 20;
    options.threads = 2;
    sstore_write_options add = options_to_add(&options);
    sstore_write_options remove = options_to_remove(&options);
    sstore_write_options compact = options_to_compact(&options);
    const sstore_compaction scope = taken.what == COMPACT_TIERS ? SSTORE_COMPACTION_TIERS : SSTORE_COMPACTION_ALL;
    add.no_compact = remove.no_compact = !taken.merges;
    if (taken.what >= COMPACT)
        return sstore_compact(self->path, scope, &compact, NULL, &error) == SSTORE_OK;
    const sstore_status status = taken.what == ADD ? store_add(self->path, &add, part.fingerprints, part.ids,
                                                               part.count, NULL, &error)
                                                   : store_remove(self->path, &remove, part.fingerprints, part.ids,
                                                                  part.count, NULL, &error);
    return status == SSTORE_OK;
}

/* The parts in the store after a step. */
static uint32_t after_step(uint32_t parts, step taken)
{
    return taken.what == ADD ? parts | 1u << taken.part : taken.what == REMOVE ? parts & ~(1u << taken.part) : parts;
}

/* Run it in a child, killed after `seconds` unless it was quicker. */
static void step_and_kill(const changing *self, step taken, double seconds)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(run_step(self, taken) ? 0 : 1);
    struct timespec pause = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
}

/* Whether the store holds just these parts. */
static bool holds_parts(const changing *self, uint32_t parts)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error = {.status = SSTORE_OK};
    sstore *store = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &facts, &error), &error);
    sstore_close(store);
    if (facts.record_count != (uint64_t)__builtin_popcount(parts) * PART_RECORDS)
        return false;
    data_set set = self->all;
    set.count = 0;
    set.fingerprints = malloc(self->all.count * sizeof *set.fingerprints);
    set.ids = malloc(self->all.count * sizeof *set.ids);
    for (uint32_t part = 0; part < PARTS; part++) {
        const data_set taken = part_of(self, part);
        if ((parts >> part & 1) == 0)
            continue;
        memcpy(set.fingerprints + set.count, taken.fingerprints, taken.count * sizeof *set.fingerprints);
        memcpy(set.ids + set.count, taken.ids, taken.count * sizeof *set.ids);
        set.count += taken.count;
    }
    bool same = holds(self->path, &set);
    free(set.fingerprints);
    free(set.ids);
    return same;
}

/* No leftovers of a killed writer. */
static void check_no_leftovers(const char *path)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error = {.status = SSTORE_OK};
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    file_list files = file_list_make(path, "");
    size_t directories = 0;
    assert_ok(sstore_stat(store, &facts, &error), &error);
    for (size_t i = 0; i < files.count; i++) {
        assert_null(strstr(files.names[i], "tmp-"));
        directories += strstr(files.names[i], "directory.mdb") != NULL;
    }
    assert_int_equal(directories, facts.segment_count);
    file_list_free(&files);
    sstore_close(store);
}

static void test_kill_changes(void **state)
{
    const uint64_t kills = testing_long() ? KILLS_LONG : testing_sanitized() ? KILLS_SANITIZED : KILLS;
    uint64_t before_count = 0, after_count = 0;
    uint32_t parts = 1;
    changing self = {.path = strdup(scratch_disk_path("changing")), .usual = 0.1};
    rng random = rng_seeded(run_seed + 1);
    data_make(&random, DATA_CLUSTERED, DATA_IDS, PARTS * PART_RECORDS, false, &self.all);
    for (size_t i = 0; i < self.all.count; i++)
        self.all.ids[i] = i; /* so that no two parts have the same record */
    const data_set first = part_of(&self, 0);
    store_must_build(self.path, NULL, &first);
    for (uint64_t i = 0; i < kills; i++) {
        const step taken = {.what = (enum work)rng_below(&random, 4),
                            .part = (uint32_t)rng_below(&random, PARTS),
                            .merges = rng_one_in(&random, 2)};
        const double seconds = self.usual * 1.5 * (double)rng_below(&random, 1000) / 1000;
        const uint32_t after = after_step(parts, taken);
        testing_doing("kill %" PRIu64 ", step %d of part %u, after %.3f s of about %.3f, seed %" PRIu64, i, taken.what,
                      taken.part, seconds, self.usual, run_seed);
        step_and_kill(&self, taken, seconds);
        assert_ok(sstore_verify(self.path, NULL, NULL, NULL, NULL), NULL);
        const bool is_after = after != parts && holds_parts(&self, after);
        assert_true(is_after || holds_parts(&self, parts));
        after_count += is_after;
        before_count += !is_after;
        parts = is_after ? after : parts;
        if (rng_one_in(&random, 3)) { /* one that is not killed removes leftovers */
            const step whole = {.what = (parts & 1u << taken.part) != 0 ? REMOVE : ADD, .part = taken.part};
            const double begin = now_seconds();
            assert_true(run_step(&self, whole));
            self.usual = now_seconds() - begin;
            parts = after_step(parts, whole);
            assert_true(holds_parts(&self, parts));
            check_no_leftovers(self.path);
        }
    }
    testing_figure("kills of a change: %" PRIu64 ": the old store %" PRIu64 ", the new one %" PRIu64 ", 0 mixed", kills,
                   before_count, after_count);
    data_free(&self.all);
    scratch_remove(self.path);
    free(self.path);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_kill_at_any_time, testing_teardown),
        cmocka_unit_test_teardown(test_kill_wide_builds, testing_teardown),
        cmocka_unit_test_teardown(test_kill_changes, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
