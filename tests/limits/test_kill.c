/*
 * test_kill.c - kill -9 at random instants of a build, again and again: there is no store, the old one or the new one, whole,
 * and the next build takes away what was left.
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

#include "support/data.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define KILLS 50u
#define KILLS_LONG 1000u
#define RECORDS 60000u

static uint64_t run_seed;

/* What one build is of. Each has another number of records, so that one sees whose a store is. */
static data_set make_set(uint64_t number)
{
    rng random;
    data_set made;
    rng_init(&random, run_seed + number);
    data_make(&random, DATA_CLUSTERED, DATA_ORDINALS, RECORDS + number, false, &made);
    return made;
}

/* Little memory, so that records are spilled, into a folder apart every other time. */
static sstore_build_options make_options(uint64_t number, bool replace)
{
    sstore_build_options options = SSTORE_BUILD_OPTIONS_INIT;
    options.memory_bytes = 1 << 20;
    options.threads = 1 + (uint32_t)(number % 3);
    options.plan = number % 5 == 0 ? "auto" : "3";
    options.replace = replace;
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
        sstore_build_options options = make_options(number, replace);
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
    sstore_cursor *cursor = store_must_cursor(store);
    oracle truth;
    bool right;
    size_t count;
    sstore_error error = {.status = SSTORE_OK};
    oracle_make(set, &truth);
    sstore_status status = store_compare_records(cursor, &truth, &right, &count, &error);
    bool same = status == SSTORE_OK && right && count == truth.count;
    oracle_free(&truth);
    sstore_cursor_free(cursor);
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
    return facts.next_ordinal;
}

/* A manifest and the files of one segment, and nothing that was spilled. */
static void check_only_a_store(const char *path)
{
    file_list files = file_list_make(path, ""), spilled = file_list_make(scratch_disk_path("tmp"), "");
    size_t blocks = 0;
    for (size_t i = 0; i < files.count; i++)
        blocks += strstr(files.names[i], ".blk") != NULL;
    assert_int_equal(files.count, blocks + 2); /* MANIFEST, directory.mdb */
    assert_int_equal(spilled.count, 0);
    file_list_free(&files);
    file_list_free(&spilled);
}

/* How long a build over the store takes, at present. */
static double time_of_build(const char *path, const data_set *set)
{
    sstore_build_options options = make_options(1, true);
    double begin = now_seconds();
    store_must_build(path, &options, set);
    return now_seconds() - begin;
}

static void test_kill_at_any_time(void **state)
{
    (void)state;
    const uint64_t kills = testing_long() ? KILLS_LONG : KILLS;
    uint64_t none = 0, old = 0, new = 0;
    rng random;
    rng_init(&random, run_seed);
    char *path = strdup(scratch_disk_path("store"));
    assert_int_equal(mkdir(scratch_disk_path("tmp"), 0777), 0);
    data_set before = make_set(0);
    sstore_build_options options = make_options(0, false);
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
            assert_ok(sstore_verify(path, NULL, NULL, NULL), NULL);
        if (!there || rng_one_in(&random, 3)) { /* a build that is left alone clears away what others left */
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
    print_message("%" PRIu64 " kills: %" PRIu64 " left no store where none was, %" PRIu64 " the old one, %" PRIu64
                  " the new one\n", kills, none, old, new);
    data_free(&before);
    free(path);
    testing_done();
}

int main(void)
{
    run_seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_kill_at_any_time, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
