/*
 * test_open_close.c - ten thousand stores are opened and closed, half of them damaged or absent: the process must end
 * with as many files and threads, and as much memory, as it began with. Also many threads on one reader, readers in a
 * forked process, signals during reads, and opening while a store is replaced.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/process.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/use_store.h"

#define OPENS 10000u
#define WAYS 6u /* to make a store unusable */
#define REPLACEMENTS 60u
#define FORKS 12u
#define RECORDS 400u

/* A store and its records. */
typedef struct stock {
    char path[256];
    data_set set;
    record_set truth;
} stock;

static void stock_make(stock *self, const char *name)
{
    rng random = rng_seeded(run_seed);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("%s", name));
    data_make(&random, DATA_CLUSTERED, DATA_IDS, RECORDS, false, &self->set);
    self->truth = record_set_of_data(&self->set);
    store_must_build(self->path, NULL, &self->set);
}

static void stock_free(stock *self)
{
    record_set_free(&self->truth);
    data_free(&self->set);
}

/* ----- opening ----- */

/* A copy of a store without one thing that it needs. */
static void spoil(const char *path, uint32_t way)
{
    static const char *const endings[WAYS] = {"MANIFEST", "directory.mdb", "table-00.blk",
                                              "ids.blk",  "MANIFEST",      "directory.mdb"};
    file_list files = file_list_make(path, endings[way]);
    char name[4096];
    assert_int_not_equal(files.count, 0);
    snprintf(name, sizeof name, "%s/%s", path, files.names[0]);
    if (way < 4)
        assert_int_equal(unlink(name), 0);
    else
        file_patch(name, 100, "\xff\xfe\xfd", 3);
    file_list_free(&files);
}

static void open_once(const char *path, uint32_t number, bool whole)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore *store = NULL, *again = NULL;
    sstore_error error = {.status = SSTORE_OK};
    options.io = (sstore_io)(number % 4);
    const sstore_status status = sstore_open(path, &options, &store, &error);
    assert_int_equal(status == SSTORE_OK, whole);
    if (whole && number % 16 == 0) {
        assert_ok(sstore_reopen(store, &again, &error), &error);
        sstore_close(again);
    }
    sstore_close(store);
}

static void open_some(const char *whole, const char *spoilt, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s-%u", i % 16 == 3 ? "/nowhere" : spoilt, i / 2 % WAYS);
        open_once(i % 2 == 0 ? whole : path, i, i % 2 == 0);
    }
}

static void test_ten_thousand_opens(void **state)
{
    char spoilt[256];
    stock whole;
    snprintf(spoilt, sizeof spoilt, "%s", scratch_path("spoilt"));
    stock_make(&whole, "whole");
    for (uint32_t way = 0; way < WAYS; way++) {
        char path[300];
        snprintf(path, sizeof path, "%s-%u", spoilt, way);
        folder_copy(whole.path, path);
        spoil(path, way);
    }
    const uint32_t opens = testing_sanitized() ? OPENS / 10 : OPENS;
    open_some(whole.path, spoilt, 64); /* the permanent allocations of the C library are made */
    const size_t files = process_open_files(), threads = process_threads(), kib = process_resident_kib();
    open_some(whole.path, spoilt, opens);
    assert_int_equal(process_open_files(), files);
    assert_int_equal(process_threads(), threads);
    const size_t after = process_resident_kib();
    testing_figure("opens: %u, half of them refused: %zu files and %zu threads before and after; %zu KiB, then %zu KiB",
                   opens, files, threads, kib, after);
    if (!testing_sanitized()) /* whose allocators retain freed memory for a while */
        assert_in_range(after, 0, kib + 1024);
    stock_free(&whole);
}

/* ----- threads, forks and signals ----- */

#define THREADS 16u

typedef struct load {
    const sstore *store;
    const stock *from;
    uint32_t number;
    uint64_t queries, wrong;
} load;

static void query_some(load *self)
{
    matches got = {0}, wanted = {0};
    sstore_error error;
    sstore_cursor *cursor = store_must_cursor(self->store);
    rng random = rng_seeded(run_seed + self->number);
    for (uint64_t i = 0; i < self->queries; i++) {
        const uint64_t query = data_query(&random, &self->from->set, 3);
        const bool checked = i % 16 == 0;
        got.count = wanted.count = 0;
        if (store_query(cursor, query, 3, &got, &error) != SSTORE_OK) {
            self->wrong++;
        } else if (checked) {
            matches_sort(&got);
            record_set_query(&self->from->truth, &query, 3, 0, &wanted);
            self->wrong += !matches_equal(&got, &wanted);
        }
    }
    matches_free(&got);
    matches_free(&wanted);
    sstore_cursor_free(cursor);
}

static void *run_load(void *context)
{
    query_some(context);
    return NULL;
}

/* 16 threads query one reader, with a cursor each. */
static void ask_from_threads(const sstore *store, const stock *self, uint64_t queries)
{
    pthread_t threads[THREADS];
    load loads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        loads[i] = (load){.store = store, .from = self, .number = i, .queries = queries / THREADS};
        assert_int_equal(pthread_create(&threads[i], NULL, run_load, &loads[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(loads[i].wrong, 0);
    }
}

static void test_threads(void **state)
{
    stock self;
    stock_make(&self, "shared");
    const uint64_t queries = testing_number("SSTORE_TEST_QUERIES", testing_long() ? 1000000 : 64000);
    for (sstore_io io = SSTORE_IO_PREAD; io <= SSTORE_IO_MEMORY; io++) {
        sstore *store = store_must_open(self.path, io,
                                        io == SSTORE_IO_MMAP ? SSTORE_STRATEGY_AUTO : SSTORE_STRATEGY_PROBE);
        ask_from_threads(store, &self, queries);
        sstore_close(store);
    }
    testing_figure("threads: %" PRIu64 " queries of one reader from %u threads in each way of reading", queries,
                   THREADS);
    stock_free(&self);
}

static volatile sig_atomic_t ticks;

static void tick(int number)
{
    ticks++;
}

/* An interval timer without SA_RESTART interrupts whatever call it meets. */
static void test_signals(void **state)
{
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = tick}, before;
    stock self;
    stock_make(&self, "signalled");
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (uint32_t round = 0; round < 20; round++) {
        sstore *store = store_must_open(self.path, (sstore_io)(round % 4), SSTORE_STRATEGY_PROBE);
        load work = {.store = store, .from = &self, .number = round, .queries = 500};
        query_some(&work);
        assert_int_equal(work.wrong, 0);
        sstore_error error;
        assert_ok(sstore_verify(self.path, NULL, NULL, NULL, &error), &error);
        sstore_close(store);
        char built[300];
        snprintf(built, sizeof built, "%s-%u", self.path, round);
        store_must_build(built, NULL, &self.set);
        scratch_remove(built);
    }
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_true(ticks > 10);
    testing_figure("signals: %d in the midst of queries, verifying and builds", (int)ticks);
    stock_free(&self);
}

/* A child may continue to read an inherited store with its own cursors, and may close it; parent and child do so at
 * once. */
static void test_fork(void **state)
{
    stock self;
    stock_make(&self, "forked");
    for (uint32_t round = 0; round < FORKS; round++) {
        sstore *store = store_must_open(self.path, (sstore_io)(round % 4), SSTORE_STRATEGY_PROBE);
        load work = {.store = store, .from = &self, .number = round, .queries = 200};
        query_some(&work);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            load inner = work;
            query_some(&inner);
            sstore_close(store);
            sstore *another = store_must_open(self.path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
            inner.store = another;
            query_some(&inner);
            sstore_close(another);
            _exit(inner.wrong == 0 ? 0 : 1);
        }
        query_some(&work);
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        query_some(&work);
        assert_int_equal(work.wrong, 0);
        sstore_close(store);
    }
    testing_figure("forks: %u with an open store, and queries on both sides", FORKS);
    stock_free(&self);
}

/* Two builds into one path: one of them builds, the other one fails with the reason. */
static void test_two_builds(void **state)
{
    stock self;
    sstore_builder *first, *second;
    sstore_error error;
    stock_make(&self, "contested");
    const data_set set = self.set;
    const char *path = self.path;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.force = true;
    assert_ok(sstore_builder_create(path, &options, &first, &error), &error);
    assert_status(sstore_builder_create(path, &options, &second, &error), SSTORE_ERROR_BUSY, &error);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(sstore_builder_create(path, &options, &second, &error) == SSTORE_ERROR_BUSY ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_ok(sstore_builder_add(first, set.fingerprints, set.ids, set.count, &error), &error);
    assert_ok(sstore_builder_finish(first, NULL, &error), &error);
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
    assert_ok(sstore_builder_create(path, &options, &second, &error), &error);
    sstore_builder_abort(second);
    assert_ok(sstore_verify(path, NULL, NULL, NULL, &error), &error);
    stock_free(&self);
}

/* ----- opening while a store is replaced ----- */

typedef struct race {
    const char *path;
    atomic_bool is_done;
    uint64_t opened, failed;
    sstore_error error; /* of the first one that failed */
} race;

static void *keep_opening(void *context)
{
    race *self = context;
    while (!atomic_load(&self->is_done)) {
        sstore *store;
        sstore_error error = {.status = SSTORE_OK};
        const sstore_status status = sstore_open(self->path, NULL, &store, &error);
        self->opened++;
        if (status != SSTORE_OK && self->failed++ == 0)
            self->error = error;
        if (status == SSTORE_OK && error.status != SSTORE_OK)
            self->failed++; /* success does not change the error */
        sstore_close(store);
    }
    return NULL;
}

/* A reader always finds the old store or the new one. */
static void test_opening_beside_a_writer(void **state)
{
    stock self;
    pthread_t reader;
    sstore_error error;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.force = true;
    stock_make(&self, "replaced");
    race shared = {.path = self.path};
    assert_int_equal(pthread_create(&reader, NULL, keep_opening, &shared), 0);
    for (size_t i = 0; i < REPLACEMENTS; i++) {
        data_set part = self.set;
        part.count = 50 + i;
        assert_ok(store_build(self.path, &options, &part, 0, &error), &error);
    }
    atomic_store(&shared.is_done, true);
    pthread_join(reader, NULL);
    if (shared.failed > 0)
        print_error("%" PRIu64 " of %" PRIu64 " opens failed: %s\n", shared.failed, shared.opened,
                    shared.error.message);
    assert_true(shared.opened > 0);
    assert_int_equal(shared.failed, 0);
    stock_free(&self);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_thousand_opens),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_two_builds),
        cmocka_unit_test(test_opening_beside_a_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
