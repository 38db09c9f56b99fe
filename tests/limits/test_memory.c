/*
 * test_memory.c - the memory of whole processes: builds, merges, changes, joins and readers. A build of four times as
 * many records as its memory holds must stay within its limit, and an open store must take the memory that
 * sstore_stat() reports.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/walk.h"
#include "sstore_statistics.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define MEMORY_BYTES ((uint64_t)48 << 20)
#define RECORDS (4 * MEMORY_BYTES / 16)
#define BATCH 4096u

/* ----- building ----- */

static bool must(sstore_status status, const sstore_error *error)
{
    if (status != SSTORE_OK)
        fprintf(stderr, "%s\n", error->message);
    return status == SSTORE_OK;
}

/* Record number `i`: of three, the others are one bit from the first. */
static uint64_t record_at(uint64_t i)
{
    return rng_mix(run_seed + i / 3) ^ (i % 3 == 0 ? 0 : UINT64_C(1) << (i % 64));
}

/* Records are added a few at a time, so that they need no memory; the id of each is its number. */
static uint64_t fingerprints[BATCH], ids[BATCH];

static size_t make_piece(uint64_t at, uint64_t end)
{
    const size_t piece = at + BATCH <= end ? BATCH : (size_t)(end - at);
    for (size_t i = 0; i < piece; i++) {
        fingerprints[i] = record_at(at + i);
        ids[i] = at + i;
    }
    return piece;
}

/* Give records, and finish. */
static bool give(sstore_builder *builder, uint64_t first, uint64_t count)
{
    sstore_error error;
    bool done = true;
    for (uint64_t at = first; done && at < first + count; at += BATCH) {
        const size_t piece = make_piece(at, first + count);
        done = must(sstore_builder_add(builder, fingerprints, ids, piece, &error), &error);
    }
    return done && must(sstore_builder_finish(builder, NULL, &error), &error);
}

static bool build(const char *path, uint64_t first, uint64_t count, const sstore_write_options *options)
{
    sstore_error error;
    sstore_builder *builder;
    return must(sstore_builder_create(path, options, &builder, &error), &error) && give(builder, first, count);
}

static sstore_write_options make_options(const char *plan, uint32_t threads)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.memory_bytes = MEMORY_BYTES;
    options.plan = plan;
    options.threads = threads;
    return options;
}

/* Build a store of fingerprints of so many words. The first word is constant, and one in eight is random: both are
 * found in real fingerprints. */
static bool build_wide(const char *path, uint32_t words, uint64_t count, uint32_t threads)
{
    static uint64_t wide[BATCH * SSTORE_MAX_WORDS];
    sstore_write_options options = make_options(NULL, threads);
    sstore_error error;
    sstore_builder *builder;
    options.fingerprint_bits = 64 * words;
    bool done = must(sstore_builder_create(path, &options, &builder, &error), &error);
    for (uint64_t at = 0; done && at < count; at += BATCH) {
        const size_t piece = make_piece(at, count);
        for (size_t i = 0; i < piece; i++)
            for (uint32_t word = 0; word < words; word++)
                wide[i * words + word] = word == 0       ? 0
                                         : word % 8 == 1 ? fingerprints[i]
                                                         : rng_mix(fingerprints[i] % 1000 + word);
        done = must(sstore_builder_add(builder, wide, ids, piece, &error), &error);
    }
    return done && must(sstore_builder_finish(builder, NULL, &error), &error);
}

#define INSERTED_WORDS ((size_t)1 << 18) /* in a call */

/* Insert records that are all new into an empty store, and compact it after each publication. The first word is
 * constant, and one in eight is random. */
static bool insert_wide(const char *path, uint32_t words, uint64_t count, uint32_t threads)
{
    static uint64_t wide[INSERTED_WORDS];
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error;
    sstore_dedup *dedup;
    options.memory_bytes = MEMORY_BYTES;
    options.threads = threads;
    options.no_compact = false;
    options.distance = words;
    bool done = build_wide(path, words, 0, threads) && must(sstore_dedup_open(path, &options, &dedup, &error), &error);
    for (uint64_t at = 0, piece; done && at < count; at += piece) {
        piece = INSERTED_WORDS / words < count - at ? INSERTED_WORDS / words : count - at;
        for (size_t i = 0; i < piece; i++)
            for (uint32_t word = 0; word < words; word++)
                wide[i * words + word] = word == 0 ? 0 : rng_mix(word % 8 == 1 ? at + i : (at + i) % 1000 + word);
        done = must(sstore_dedup_insert(dedup, wide, NULL, (size_t)piece, NULL, NULL, NULL, &error), &error);
    }
    done = done && must(sstore_dedup_publish(dedup, NULL, &error), &error) && dedup_state(dedup).new_count == count;
    sstore_dedup_close(dedup);
    return done;
}

typedef enum task {
    BUILD,
    BUILD_WIDE,
    INSERT_WIDE,
    MERGE,
    ADD,
    REMOVE,
    REMOVE_FINGERPRINTS,
    COMPACT,
    PAIRS,
    CLUSTERS
} task;

typedef struct job {
    task what;
    const char *path, *plan;
    uint32_t threads;
    uint32_t words; /* of a wide store */
    uint64_t first, count;
    const char *inputs[2]; /* to merge */
} job;

static bool add(const job *work, const sstore_write_options *options)
{
    const sstore_write_options to_add = options_to_add(options);
    sstore_error error;
    sstore_builder *builder;
    return must(sstore_builder_create_addition(work->path, &to_add, &builder, &error), &error) &&
           give(builder, work->first, work->count);
}

static bool take_out(const job *work, const sstore_write_options *options)
{
    const sstore_write_options to_remove = options_to_remove(options);
    sstore_error error;
    sstore_remover *remover;
    bool done = must(sstore_remover_create(work->path, &to_remove, &remover, &error), &error);
    for (uint64_t at = work->first; done && at < work->first + work->count; at += BATCH) {
        const size_t piece = make_piece(at, work->first + work->count);
        done = must(sstore_remover_remove(remover, fingerprints, work->what == REMOVE ? ids : NULL, piece, &error),
                    &error);
    }
    return done && must(sstore_remover_finish(remover, NULL, &error), &error);
}

static int count_pair(void *context, const sstore_pair *pair)
{
    (*(uint64_t *)context)++;
    return 0;
}

static int count_record(void *context, const cluster_record *record)
{
    (*(uint64_t *)context)++;
    return 0;
}

/* Every three records of 64 bits are three pairs, or one cluster. Of several words, few are near: each is reported as
 * a cluster. */
static bool join(const job *work)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    sstore_error error;
    sstore *store;
    uint64_t count = 0;
    options.memory_bytes = MEMORY_BYTES;
    options.threads = work->threads;
    options.tmp_dir = scratch_disk_path(".");
    if (!must(sstore_open(work->path, NULL, &store, &error), &error))
        return false;
    const sstore_cluster_options clusters = options_to_cluster(&options, work->words > 1);
    sstore_status status = work->what == PAIRS ? walk_pairs(store, NULL, &options, count_pair, &count, &error)
                                               : walk_clusters(store, &clusters, count_record, &count, &error);
    sstore_close(store);
    return must(status, &error) && count > work->count / 3 * 3 - 3;
}

static bool run_job(const job *work)
{
    sstore_error error;
    const sstore_write_options options = make_options(work->plan, work->threads);
    const sstore_write_options merge = options_to_merge(&options);
    const sstore_write_options compact = options_to_compact(&options);
    switch (work->what) {
    case BUILD_WIDE: return build_wide(work->path, work->words, work->count, work->threads);
    case INSERT_WIDE: return insert_wide(work->path, work->words, work->count, work->threads);
    case MERGE: return must(sstore_merge(work->path, work->inputs, 2, &merge, NULL, &error), &error);
    case ADD: return add(work, &options);
    case REMOVE:
    case REMOVE_FINGERPRINTS: return take_out(work, &options);
    case COMPACT: return must(sstore_compact(work->path, SSTORE_COMPACTION_ALL, &compact, NULL, &error), &error);
    case PAIRS:
    case CLUSTERS: return join(work);
    default: return build(work->path, work->first, work->count, &options);
    }
}

/* Run in a child; returns its peak memory. */
static uint64_t peak_of(const job *work)
{
    int status;
    struct rusage usage;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(run_job(work) ? 0 : 1);
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static void check_peak(const job *work, const char *what)
{
    uint64_t peak = peak_of(work);
    testing_figure("memory: %s: at most %.1f MiB of %.0f, %.2f times", what, (double)peak / 0x1p20,
                   (double)MEMORY_BYTES / 0x1p20, (double)peak / (double)MEMORY_BYTES);
    if (!testing_sanitized()) /* which takes several times as much itself */
        assert_true(peak <= MEMORY_BYTES + MEMORY_BYTES / 10);
}

static void test_builds_keep_to_their_memory(void **state)
{
    const uint64_t records = testing_sanitized() ? RECORDS / 64 : RECORDS;
    const char *whole = scratch_disk_path("whole"), *left = scratch_disk_path("left"),
               *right = scratch_disk_path("right");
    const char *merged = scratch_disk_path("merged");
    check_peak(&(job){.path = whole, .plan = "3", .threads = 2, .count = records}, "2 threads, 3 tables");
    check_peak(&(job){.path = left, .plan = "2", .threads = 8, .count = records / 2}, "8 threads, 2 tables");
    check_peak(&(job){.path = right, .plan = "4", .threads = 1, .first = records / 2, .count = records - records / 2},
               "1 thread, 4 tables");
    check_peak(&(job){.what = MERGE, .path = merged, .plan = "3", .threads = 2, .inputs = {left, right}},
               "merging these two");
    assert_true(folders_equal(whole, merged, "")); /* the same, whatever the threads and on whatever way */
}

/* Of several words: whole fingerprints are sorted, then each word; these are more than fit into the memory. */
static void test_wide_builds_and_clusters_keep_to_their_memory(void **state)
{
    const uint64_t records = testing_sanitized() ? RECORDS / 256 : RECORDS / 8;
    const char *path = scratch_disk_path("wide"), *widest = scratch_disk_path("widest");
    check_peak(&(job){.what = BUILD_WIDE, .path = path, .words = 3, .threads = 2, .count = records}, "3 words");
    check_peak(&(job){.what = CLUSTERS, .path = path, .words = 3, .threads = 2, .count = records},
               "clusters of 3 words");
    check_peak(
        &(job){.what = BUILD_WIDE, .path = widest, .words = SSTORE_MAX_WORDS, .threads = 8, .count = records / 4},
        "16 words, 8 threads");
    check_peak(&(job){.what = CLUSTERS, .path = widest, .words = SSTORE_MAX_WORDS, .threads = 1, .count = records / 4},
               "clusters of 16 words");
    scratch_remove(path);
    scratch_remove(widest);
}

/* New records of several words wait in memory, in an index of each word; more are inserted than fit there. */
static void test_wide_insertions_keep_to_their_memory(void **state)
{
    const uint64_t records = testing_sanitized() ? RECORDS / 512 : RECORDS / 64;
    const char *path = scratch_disk_path("inserted"), *widest = scratch_disk_path("inserted-widest");
    check_peak(&(job){.what = INSERT_WIDE, .path = path, .words = 3, .threads = 2, .count = records},
               "insertions of 3 words");
    check_peak(
        &(job){.what = INSERT_WIDE, .path = widest, .words = SSTORE_MAX_WORDS, .threads = 1, .count = records / 4},
        "insertions of 16 words");
    scratch_remove(path);
    scratch_remove(widest);
}

/* A store that is in the scratch folder already from the test before, `left`. */
static void test_changes_and_joins_keep_to_their_memory(void **state)
{
    const uint64_t records = (testing_sanitized() ? RECORDS / 64 : RECORDS) / 2;
    const char *path = scratch_disk_path("left");
    check_peak(&(job){.what = PAIRS, .path = path, .threads = 2, .count = records}, "pairs");
    check_peak(&(job){.what = CLUSTERS, .path = path, .threads = 2, .count = records}, "clusters");
    check_peak(&(job){.what = ADD, .path = path, .threads = 2, .first = records / 2, .count = records}, "adding");
    check_peak(&(job){.what = REMOVE, .path = path, .threads = 2, .count = records / 2}, "removing records");
    check_peak(&(job){.what = REMOVE_FINGERPRINTS, .path = path, .threads = 2, .first = records, .count = records / 4},
               "removing fingerprints");
    check_peak(&(job){.what = PAIRS, .path = path, .threads = 2, .count = records / 4}, "pairs, four segments");
    check_peak(&(job){.what = COMPACT, .path = path, .threads = 2}, "compacting");
}

/* ----- reading ----- */

/* The memory of the process: pages of its own, of files, and of memory files that are mapped. */
static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %llu", &pages), 1);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static sstore_statistics facts_of(const sstore *store)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error;
    assert_ok(sstore_stat(store, &facts, &error), &error);
    return facts;
}

/* Open with exactly the reported memory, and with a byte less. */
static void check_limit(const char *path, sstore_io io)
{
    sstore *store = store_must_open(path, io, SSTORE_STRATEGY_AUTO);
    const uint64_t needed = facts_of(store).memory_bytes;
    sstore_close(store);
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore_error error;
    options.io = io;
    options.max_memory_bytes = needed;
    assert_ok(sstore_open(path, &options, &store, &error), &error);
    sstore_close(store);
    options.max_memory_bytes = needed - 1;
    const uint64_t before = resident_bytes();
    assert_status(sstore_open(path, &options, &store, &error), SSTORE_ERROR_MEMORY, &error);
    assert_null(store);
    assert_non_null(strstr(error.message, "max_memory_bytes"));
    assert_true(resident_bytes() < before + ((uint64_t)1 << 20)); /* nothing was loaded */
}

static int ignore_match(void *context, const sstore_match *match)
{
    return 0;
}

static void test_readers_take_what_they_say(void **state)
{
    const uint64_t records = testing_sanitized() ? RECORDS / 64 : RECORDS / 4;
    const char *path = scratch_disk_path("read");
    sstore_write_options options = make_options("3", 0);
    options.block_bytes = 512; /* many blocks: a directory that counts */
    options.memory_bytes = (uint64_t)256 << 20;
    assert_true(build(path, 0, records, &options));
    check_limit(path, SSTORE_IO_PREAD);
    check_limit(path, SSTORE_IO_MMAP);
    check_limit(path, SSTORE_IO_MEMORY);

    const uint64_t before = resident_bytes();
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    sstore_error error;
    for (uint64_t i = 0; i < 20000; i++)
        assert_ok(sstore_query(cursor, (uint64_t[]){rng_mix(run_seed + i * (records / 20000)) ^ 5}, 3, ignore_match,
                               NULL, &error),
                  &error);
    const uint64_t taken = resident_bytes() - before, said = facts_of(store).memory_bytes;
    print_message("reader of %" PRIu64 " blocks: %.1f MiB, said %.1f\n", facts_of(store).directory_bytes / 8,
                  (double)taken / 0x1p20, (double)said / 0x1p20);
    if (!testing_sanitized())
        assert_true(taken <= said + ((uint64_t)1 << 20) && said <= 2 * taken);
    sstore_cursor_free(cursor);
    sstore_close(store);
}

/* Readers of a store of several words, with its word indexes. */
static void test_wide_readers_take_what_they_say(void **state)
{
    const uint64_t records = testing_sanitized() ? RECORDS / 256 : RECORDS / 32;
    const char *path = scratch_disk_path("read-wide");
    sstore_error error;
    assert_true(build_wide(path, 3, records, 2));
    check_limit(path, SSTORE_IO_PREAD);
    check_limit(path, SSTORE_IO_MMAP);
    check_limit(path, SSTORE_IO_MEMORY);
    const uint64_t before = resident_bytes();
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    sstore_cursor *cursor = store_must_cursor(store);
    for (uint64_t i = 0; i < 2000; i++)
        assert_ok(sstore_query(cursor, (uint64_t[]){0, record_at(i), rng_mix(i % 1000)}, 3, ignore_match, NULL, &error),
                  &error);
    const uint64_t taken = resident_bytes() - before, said = facts_of(store).memory_bytes;
    testing_figure("memory: a reader of 3 words: %.1f MiB, said %.1f", (double)taken / 0x1p20, (double)said / 0x1p20);
    if (!testing_sanitized())
        assert_true(taken <= said + ((uint64_t)1 << 20));
    sstore_cursor_free(cursor);
    sstore_close(store);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builds_keep_to_their_memory),
        cmocka_unit_test(test_wide_builds_and_clusters_keep_to_their_memory),
        cmocka_unit_test(test_wide_insertions_keep_to_their_memory),
        cmocka_unit_test(test_changes_and_joins_keep_to_their_memory),
        cmocka_unit_test(test_readers_take_what_they_say),
        cmocka_unit_test(test_wide_readers_take_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
