/*
 * test_readers.c - processes that query a store while another one adds, removes and compacts. The answers through one
 * handle must be those of one published state.
 *
 * State s has, around each of some centres, the records with the ids of generation s/2. A step adds one record to every
 * centre, the next one removes the oldest record of every centre. So the ids around any centre tell the state, and all
 * centres must tell the same one.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/walk.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CENTRES 40u
#define WINDOW 9u /* ids of a centre */
#define READERS 3u
#define ROUNDS 60u /* of adding and removing */
#define LONG_ROUNDS 2000u
#define CHANGES_WANTED 3u /* that each reader sees, however slow it is */
#define BACKGROUND 20000u /* records that stay, far from the centres, so that blocks are many */

static uint64_t centres[CENTRES];

/* The shared state of the processes. */
typedef struct shared {
    atomic_bool end;
    atomic_uint changes[READERS]; /* that a reader has seen */
} shared;

/* Whether each reader has seen enough, or one has ended before it should. */
static bool may_end(const shared *with)
{
    siginfo_t ended = {.si_pid = 0};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0)
        return true;
    for (uint32_t i = 0; i < READERS; i++)
        if (atomic_load(&with->changes[i]) < CHANGES_WANTED)
            return false;
    return true;
}

/* The record that generation `id` adds to a centre: within 3 bits of it, another one each time. */
static uint64_t record_of(uint32_t centre, uint64_t id)
{
    uint64_t mix = rng_mix(id * CENTRES + centre), flips = 0;
    for (uint32_t i = 0; i < id % 4; i++)
        flips |= UINT64_C(1) << (mix >> (6 * i) & 63);
    return centres[centre] ^ flips;
}

/* ----- the writer ----- */

static void change(const char *path, bool removes, uint64_t id)
{
    uint64_t fingerprints[CENTRES], ids[CENTRES];
    sstore_error error = {.status = SSTORE_OK};
    for (uint32_t i = 0; i < CENTRES; i++) {
        fingerprints[i] = record_of(i, id);
        ids[i] = id;
    }
    assert_ok(store_change(path, removes, fingerprints, ids, CENTRES, &error), &error);
}

/* Change the store so many times, and until each reader has seen some of it; returns how many states were published. */
static uint64_t write_states(const char *path, uint64_t rounds, shared *with)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.memory_bytes = 1 << 20;
    uint64_t id = WINDOW;
    for (; id < WINDOW + rounds || !may_end(with); id++) {
        change(path, false, id);
        change(path, true, id - WINDOW);
        const sstore_compaction scope = id % 32 == 31 ? SSTORE_COMPACTION_ALL : SSTORE_COMPACTION_TIERS;
        if (id % 8 == 7)
            assert_ok(sstore_compact(path, scope, &options, NULL, &error), &error);
    }
    atomic_store(&with->end, true);
    return 2 * (id - WINDOW);
}

/* ----- a reader ----- */

/* What a centre's ids tell: those from `low` to `high`, all of them. */
typedef struct seen {
    uint64_t low, high, count;
} seen;

static int see(void *context, const sstore_match *match)
{
    seen *self = (seen *)context + match->query_index;
    self->low = self->count == 0 || match->id < self->low ? match->id : self->low;
    self->high = self->count == 0 || match->id > self->high ? match->id : self->high;
    self->count++;
    return 0;
}

static bool is_state(const seen *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t width = all[i].high - all[i].low + 1;
        if (all[i].count != width || (width != WINDOW && width != WINDOW + 1) || all[i].low != all[0].low ||
            all[i].high != all[0].high)
            return false;
    }
    return true;
}

/* Look at the store in every way through one handle. Returns the newest id, 0 if what was seen is no state. */
static uint64_t look(sstore *store)
{
    seen batch[CENTRES] = {{0}}, single[CENTRES] = {{0}};
    sstore_error error = {.status = SSTORE_OK};
    sstore_cursor *cursor = store_must_cursor(store);
    for (uint32_t i = 0; i < CENTRES; i++)
        assert_ok(sstore_query(cursor, &centres[i], 3, see, &single[i], &error), &error);
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    options.threads = 1;
    assert_ok(walk_matches(store, centres, CENTRES, 3, &options, see, batch, &error), &error);
    sstore_cursor_free(cursor);
    bool same = memcmp(batch, single, sizeof batch) == 0;
    if (!same || !is_state(single, CENTRES)) {
        for (uint32_t i = 0; i < CENTRES; i++)
            fprintf(stderr, "centre %u: ids %llu to %llu, %llu of them; in the batch %llu to %llu, %llu\n", i,
                    (unsigned long long)single[i].low, (unsigned long long)single[i].high,
                    (unsigned long long)single[i].count, (unsigned long long)batch[i].low,
                    (unsigned long long)batch[i].high, (unsigned long long)batch[i].count);
        return 0;
    }
    return single[0].high;
}

/* Read until the writer has ended. The exit code: 0 if all was well. */
static int read_states(const char *path, uint64_t seed, const atomic_bool *end, atomic_uint *changes)
{
    rng random = rng_seeded(seed);
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    uint64_t newest = 0;
    while (!atomic_load(end)) {
        uint64_t high = look(store), again = rng_one_in(&random, 4) ? look(store) : high;
        if (high == 0 || high < newest || again != high)
            return 1;
        if (high > newest)
            atomic_fetch_add(changes, 1);
        newest = high;
        sstore *next;
        sstore_error error = {.status = SSTORE_OK};
        if (rng_one_in(&random, 3))
            next = store_must_open(path, (sstore_io)rng_below(&random, 4), SSTORE_STRATEGY_AUTO);
        else
            assert_ok(sstore_reopen(store, &next, &error), &error);
        sstore_close(store);
        store = next;
    }
    sstore_close(store);
    return 0;
}

/* ----- together ----- */

static void build_first_state(const char *path)
{
    rng random = rng_seeded(run_seed);
    data_set set = {.id_kind = DATA_IDS, .count = BACKGROUND + CENTRES * WINDOW};
    set.fingerprints = malloc(set.count * sizeof *set.fingerprints);
    set.ids = malloc(set.count * sizeof *set.ids);
    for (uint32_t i = 0; i < CENTRES; i++) /* the background has a 0 where the centres have 16 ones */
        centres[i] = rng_next(&random) | UINT64_C(0xffff000000000000);
    for (size_t i = 0; i < BACKGROUND; i++) {
        set.fingerprints[i] = rng_next(&random) & UINT64_C(0x00ffffffffffffff);
        set.ids[i] = UINT64_C(1) << 40 | i;
    }
    for (uint32_t i = 0; i < CENTRES * WINDOW; i++) {
        set.fingerprints[BACKGROUND + i] = record_of(i % CENTRES, i / CENTRES);
        set.ids[BACKGROUND + i] = i / CENTRES;
    }
    store_must_build(path, NULL, &set);
    free(set.fingerprints);
    free(set.ids);
}

static void test_every_answer_is_a_state(void **state)
{
    const char *path = scratch_path("living");
    const uint64_t rounds = testing_number("SSTORE_TEST_CASES", testing_long() ? LONG_ROUNDS : ROUNDS);
    shared *with = mmap(NULL, sizeof *with, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(with != MAP_FAILED);
    pid_t readers[READERS];
    testing_doing("seed %llu", (unsigned long long)run_seed);
    build_first_state(path);
    for (uint32_t i = 0; i < READERS; i++) {
        readers[i] = fork();
        assert_int_not_equal(readers[i], -1);
        if (readers[i] == 0)
            _exit(read_states(path, run_seed + i, &with->end, &with->changes[i]));
    }
    uint64_t states = write_states(path, rounds, with);
    for (uint32_t i = 0; i < READERS; i++) {
        int code;
        assert_int_equal(waitpid(readers[i], &code, 0), readers[i]);
        assert_true(WIFEXITED(code));
        assert_int_equal(WEXITSTATUS(code), 0);
    }
    testing_figure("readers: %llu states published under %u processes that query", (unsigned long long)states, READERS);
    (void)munmap(with, sizeof *with);
    scratch_remove(path);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_every_answer_is_a_state, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
