/*
 * test_mapped.c - files that shrink while a store is open, and systems without MADV_POPULATE_READ: which read mode
 * gives an error code, and which a signal (SECURITY.md).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/scratch.h"
#include "support/use_store.h"

#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#define RECORDS 20000u
#define DISTANCE 3u

static data_set records;
static record_set truth;
static char path[256];

/* ----- the child ----- */

/* The results of queries for some records: right, or an error. Anything else ends the child by abort(). */
typedef enum outcome { RIGHT, REFUSED } outcome;

static outcome ask(const sstore *store)
{
    sstore_cursor *cursor = store_must_cursor(store);
    for (size_t i = 0; i < records.count; i += 97) {
        matches got = {.count = 0}, wanted = {.count = 0};
        sstore_error error;
        const sstore_status status = store_query_sorted(cursor, records.fingerprints[i], DISTANCE, &got, &error);
        if (status != SSTORE_OK) {
            if (status != SSTORE_ERROR_IO && status != SSTORE_ERROR_DAMAGED)
                abort();
            sstore_cursor_free(cursor);
            return REFUSED;
        }
        record_set_query(&truth, &records.fingerprints[i], DISTANCE, 0, &wanted);
        if (!matches_equal(&got, &wanted))
            abort();
        matches_free(&got);
        matches_free(&wanted);
    }
    sstore_cursor_free(cursor);
    return RIGHT;
}

static void cut_tables_short(void)
{
    file_list tables = file_list_make(path, ".blk");
    for (size_t i = 0; i < tables.count; i++) {
        char name[600];
        snprintf(name, sizeof name, "%s/%s", path, tables.names[i]);
        if (truncate(name, 0) != 0)
            abort();
    }
    file_list_free(&tables);
}

/* Make madvise() refuse to read ahead what is mapped, as before Linux 5.14. False where the system cannot be told
 * to. */
static bool forbid_populating(void)
{
#if defined(__linux__) && defined(MADV_POPULATE_READ)
    enum { LOW_WORD = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0 };
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]) + LOW_WORD),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_POPULATE_READ, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           madvise(NULL, 0, MADV_POPULATE_READ) != 0 && errno == EINVAL;
#else
    return true;
#endif
}

/* ----- trials ----- */

typedef struct trial {
    sstore_io io;
    bool is_old;      /* a system that cannot read mappings ahead */
    bool asks_before; /* the tables are cut short: so that the blocks that the queries need were checked then */
    bool is_cut;
} trial;

#define NOT_TRIED 77

/* Run a trial in a separate process. Returns its status, as of waitpid(). */
static int run(const trial *what)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGBUS, SIG_DFL);
        if (what->is_old && !forbid_populating())
            _exit(NOT_TRIED);
        const sstore *store = store_must_open(path, what->io, SSTORE_STRATEGY_AUTO);
        if (what->asks_before && ask(store) != RIGHT)
            abort();
        if (what->is_cut)
            cut_tables_short();
        _exit((int)ask(store));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool has_outcome(int status, outcome wanted)
{
    return WIFEXITED(status) && (WEXITSTATUS(status) == (int)wanted || WEXITSTATUS(status) == NOT_TRIED);
}

static int build(void **state)
{
    scratch_remove(path);
    store_must_build(path, NULL, &records);
    return 0;
}

/* A file that is cut short before a block was used gives an error code in every mode but memory, which has it all. */
static void test_cut_short_before_use(void **state)
{
    static const sstore_io modes[] = {SSTORE_IO_PREAD, SSTORE_IO_MMAP, SSTORE_IO_MEMORY};
    for (size_t i = 0; i < 2 * sizeof modes / sizeof *modes; i++) {
        const trial what = {.io = modes[i / 2], .is_old = i % 2 != 0, .is_cut = true};
        testing_doing("mode %d, %s, tables that are cut short at once", (int)what.io,
                      what.is_old ? "an old system" : "this system");
        build(state);
        assert_true(has_outcome(run(&what), what.io == SSTORE_IO_MEMORY ? RIGHT : REFUSED));
    }
    testing_done();
}

/* The remaining risk: in the mode mmap a block that was checked is later cut off. */
static void test_cut_short_after_use(void **state)
{
    build(state);
    trial what = {.io = SSTORE_IO_MMAP, .asks_before = true, .is_cut = true};
    testing_doing("mapped tables that are cut short after they were asked");
    const int status = run(&what);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    what.io = SSTORE_IO_PREAD;
    testing_doing("tables that are read, and cut short after they were asked");
    build(state);
    assert_true(has_outcome(run(&what), REFUSED));
    what.io = SSTORE_IO_MEMORY;
    testing_doing("tables in memory, whose files are cut short after they were asked");
    build(state);
    assert_true(has_outcome(run(&what), RIGHT));
    testing_done();
}

/* An older system gives the same answers. */
static void test_old_systems(void **state)
{
    const trial what = {.io = SSTORE_IO_MMAP, .is_old = true, .asks_before = true};
    testing_doing("a mapped store on an old system");
    build(state);
    const int status = run(&what);
    assert_true(has_outcome(status, RIGHT));
    if (WEXITSTATUS(status) == NOT_TRIED)
        print_message("this system does not let a process forbid itself calls: an old one was not tried\n");
    testing_done();
}

int main(void)
{
    rng_start_run();
    rng random = rng_seeded(run_seed);
    data_make(&random, DATA_CLUSTERED, DATA_IDS, RECORDS, false, &records);
    truth = record_set_of_data(&records);
    snprintf(path, sizeof path, "%s", scratch_path("store"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_cut_short_before_use, testing_teardown),
        cmocka_unit_test_teardown(test_cut_short_after_use, testing_teardown),
        cmocka_unit_test_teardown(test_old_systems, testing_teardown),
    };
    const int result = cmocka_run_group_tests(tests, NULL, NULL);
    record_set_free(&truth);
    data_free(&records);
    return result;
}
