/*
 * test_malicious.c - the cost of reading malicious stores, with correct checksums. No call may take more memory than
 * the sizes of the files justify. Reads, look-ups and reports must be in proportion to what the files can hold. Costs
 * are counted, not timed.
 */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/block.h"
#include "faults/interpose.h"
#include "output/walk.h"
#include "sstore_statistics.h"
#include "support/data.h"
#include "support/edited_store.h"
#include "support/random.h"
#include "support/reference_block.h"
#include "support/scratch.h"
#include "support/store_offsets.h"
#include "support/use_store.h"

#define BASE_BYTES ((uint64_t)8 << 20)   /* for any store; a join may use as much again */
#define BYTES_EACH 8u                    /* for each byte of its files */
#define MATCH_BYTES 176u                 /* of a batch, for each match */
#define ROUND_BYTES ((uint64_t)80 << 20) /* of a batch, for hits before it reports any */
#define JOIN_BYTES ((uint64_t)8 << 20)
#define MORE_PREFIXES                                                                                                  \
    51u /* looked up by a query in each segment, and 13 for each 40 fingerprints with room in the first table */
#define RANDOM_CASES 300u
#define SANITIZED_CASES 75u
#define LONG_CASES 20000u

static char path[256];

/* ----- counting ----- */

/* The cost of one call. */
typedef struct effort {
    uint64_t reads, reported, max_reported;
    uint64_t prefixes, max_prefixes;
} effort;

static void count_read(void *context, const system_call *call, long result)
{
    (void)result;
    if (call->kind == CALL_READ)
        __atomic_fetch_add(&((effort *)context)->reads, 1, __ATOMIC_SEQ_CST);
}

static verdict count_call(void *context, const system_call *call)
{
    count_read(context, call, 0);
    return (verdict){.size = call->size};
}

/* What the files can hold: the number of blocks; of fingerprints of table 0 and records, by the blocks' own counts; and
 * of fingerprints that the blocks of table 0 have room for. */
typedef struct contents {
    uint64_t segments, adding, blocks, room, fingerprints, records;
    uint64_t row_steps; /* to look up a fingerprint of several words in all segments, and its ids */
} contents;

static contents contents_of(edited_store *store)
{
    contents all = {.segments = store->segment_count};
    for (uint32_t i = 0; i < store->segment_count; i++) {
        const uint8_t *first = store->segments[i].files[0].bytes;
        const uint32_t words = store->segments[i].words;
        size_t row_blocks = 0;
        all.adding += edited_adds(store, i);
        for (uint32_t file = 0; file < EDITED_MAX_FILES; file++)
            for (size_t block = 0; edited_block(store, i, file, block) != NULL; block++) {
                const uint8_t *start = edited_block(store, i, file, block);
                const uint32_t block_bytes = ss_load_le32(first + HEADER_BLOCK_BYTES), at = file == EDITED_IDS ? 16 : 0;
                const bool has_rows = words > 1 && file == 0;
                const uint32_t count = has_rows ? block_bytes / (8 * words) : start[at] | (uint32_t)start[at + 1] << 8;
                row_blocks += has_rows;
                all.blocks++;
                all.room += file == 0 ? ss_block_capacity(block_bytes) : 0;
                all.fingerprints += file == 0 ? count : 0;
                all.records += file == (store->has_ids ? EDITED_IDS : 0) && !store->segments[i].is_index ? count : 0;
            }
        for (row_blocks *= 8; row_blocks > 0; row_blocks /= 2)
            all.row_steps++;
    }
    return all;
}

/* For the figures that the test prints. */
typedef struct summary {
    uint64_t cases, calls, refused;
    double max_bytes, max_reads, max_prefixes; /* as parts of the limits */
} summary;
static summary totals;

typedef struct subject {
    contents all;
    uint64_t bytes;
    const uint64_t *fingerprint;
    uint32_t words, distance;
    bool probes; /* with SSTORE_STRATEGY_PROBE */
    sstore *store;
    sstore_cursor *cursor;
    const uint64_t *queries;
} subject;

typedef sstore_status (*call_fn)(subject *self, effort *count, sstore_error *error);

/* ----- calls ----- */

static int stop_at_most(effort *count)
{
    return ++count->reported > count->max_reported;
}

static int take_match(void *context, const sstore_match *match)
{
    return stop_at_most(context);
}

static int take_record(void *context, const uint64_t *fingerprint, uint64_t id)
{
    return stop_at_most(context);
}

static int take_clustered(void *context, const cluster_record *record)
{
    return stop_at_most(context);
}

static sstore_status open_store(subject *self, effort *count, sstore_error *error)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    options.strategy = self->probes ? SSTORE_STRATEGY_PROBE : SSTORE_STRATEGY_AUTO;
    return sstore_open(path, &options, &self->store, error);
}

static sstore_status make_cursor(subject *self, effort *count, sstore_error *error)
{
    return sstore_cursor_create(self->store, &self->cursor, error);
}

static sstore_status query(subject *self, effort *count, sstore_error *error)
{
    return sstore_query(self->cursor, self->fingerprint, self->distance, take_match, count, error);
}

static sstore_status query_nearest(subject *self, effort *count, sstore_error *error)
{
    return store_nearest(self->cursor, self->fingerprint, 64 * self->words, take_match, count, error);
}

static sstore_status query_batch(subject *self, effort *count, sstore_error *error)
{
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    options.threads = 1;
    count->max_reported *= 16;
    return walk_matches(self->store, self->queries, 16, self->distance, &options, take_match, count, error);
}

/* Ids of some records, if the store has ids. */
static sstore_status get(subject *self, effort *count, sstore_error *error)
{
    static const uint64_t ids[] = {0, 17, UINT64_MAX};
    sstore_statistics facts = SSTORE_STATISTICS_INIT;
    const sstore_status status = sstore_stat(self->store, &facts, error);
    if (status != SSTORE_OK || !facts.has_ids)
        return status;
    count->max_reported *= 3;
    return sstore_get(self->cursor, ids, 3, take_match, count, error);
}

static int take_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    const sstore_match match = {.query_index = index};
    return take_match(context, &match);
}

/* Names of some ids, and records by name, if the store has names. */
static sstore_status get_named(subject *self, effort *count, sstore_error *error)
{
    static const uint64_t ids[] = {0, 17, UINT64_MAX};
    char buffers[3][100];
    sstore_name names[3];
    sstore_statistics facts = SSTORE_STATISTICS_INIT;
    sstore_status status = sstore_stat(self->store, &facts, error);
    if (status != SSTORE_OK || !facts.has_names)
        return status;
    for (int i = 0; i < 3; i++)
        names[i] = store_name_of(ids[i], buffers[i]);
    count->max_reported *= 6;
    status = sstore_names(self->cursor, ids, 3, take_name, count, error);
    return status == SSTORE_OK ? sstore_get_named(self->cursor, names, 3, take_match, count, error) : status;
}

static int count_prefixes(void *context, const sstore_table_explanation *explanation)
{
    ((effort *)context)->prefixes += explanation->probe_count;
    return 0;
}

/* At each distance that a table may be built for. SSTORE_STRATEGY_PROBE has another limit. */
static sstore_status explain(subject *self, effort *count, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t distance = 0; status == SSTORE_OK && !self->probes && distance <= SSTORE_MAX_BUILD_DISTANCE;
         distance++) {
        count->prefixes = 0;
        status = sstore_explain(self->cursor, self->fingerprint, distance, count_prefixes, count, error);
        count->max_prefixes = count->prefixes > count->max_prefixes ? count->prefixes : count->max_prefixes;
    }
    return status;
}

static sstore_status each_record(subject *self, effort *count, sstore_error *error)
{
    return walk_records(self->store, take_record, count, error);
}

static sstore_status clusters(subject *self, effort *count, sstore_error *error)
{
    sstore_cluster_options options = SSTORE_CLUSTER_OPTIONS_INIT;
    options.memory_bytes = JOIN_BYTES;
    options.threads = 1;
    options.with_singles = true;
    options.tmp_dir = scratch_folder();
    return walk_clusters(self->store, &options, take_clustered, count, error);
}

static sstore_status verify(subject *self, effort *count, sstore_error *error)
{
    return sstore_verify(path, NULL, NULL, NULL, error);
}

static const struct {
    const char *name;
    call_fn run;
    uint32_t block_reads, fingerprint_reads; /* for each block, and each fingerprint of table 0, at most */
    uint32_t queries;                        /* SECURITY.md has the limits of one */
    uint32_t match_bytes;                    /* of memory for each match */
    bool needs_store;
    uint64_t base_bytes;
} calls[] = {
    {"open", open_store, 1, 0, 0, 0, false, 0},
    {"cursor", make_cursor, 0, 0, 0, 0, true, 0},
    {"query", query, 0, 0, 1, 0, true, 0},
    {"nearest", query_nearest, 0, 0, EDITED_MAX_WORDS *SSTORE_MAX_DISTANCE + 1, 0, true, 0},
    {"batch", query_batch, 0, 0, 17, MATCH_BYTES, true, ROUND_BYTES},
    {"get", get, 2, 0, 3, 0, true, 0},
    {"get named", get_named, 2, 0, 6, 0, true, 0},
    {"explain", explain, 0, 0, SSTORE_MAX_BUILD_DISTANCE + 1, 0, true, 0},
    {"each record", each_record, 2, 0, 0, 0, true, 0},
    {"clusters", clusters, 24, 8, 0, 0, true, JOIN_BYTES},
    {"verify", verify, 8, 0, 0, 0, false, 0},
};
#define CALLS (sizeof calls / sizeof calls[0])

/* ----- cases ----- */

static void run_call(subject *self, size_t number, const char *name)
{
    effort count = {.max_reported = self->all.records};
    const interposer hooks = {.before = count_call, .context = &count};
    sstore_error error = {.status = SSTORE_OK};
    testing_doing("%s: %s at distance %u, seed %" PRIu64, name, calls[number].name, self->distance, run_seed);
    interpose_watch_peak();
    interpose_begin(&hooks);
    const sstore_status status = calls[number].run(self, &count, &error);
    interpose_end();
    const uint64_t peak = (uint64_t)interpose_peak_bytes();
    const contents *all = &self->all;
    const uint64_t a_query = 2 * all->blocks * (1 + all->adding) +
                             all->fingerprints * (4 + 2 * all->segments + all->row_steps);
    const uint64_t max_reads = 300 + calls[number].block_reads * all->blocks +
                               calls[number].fingerprint_reads * all->fingerprints + calls[number].queries * a_query;
    const uint64_t max_bytes = BASE_BYTES + calls[number].base_bytes + BYTES_EACH * self->bytes +
                               calls[number].match_bytes * count.max_reported;
    if (peak > max_bytes)
        fail_msg("it took %" PRIu64 " bytes of memory instead of %" PRIu64 ", for files of %" PRIu64, peak, max_bytes,
                 self->bytes);
    if (count.reads > max_reads)
        fail_msg("it took %" PRIu64 " reads instead of %" PRIu64 " for %" PRIu64 " blocks", count.reads, max_reads,
                 self->all.blocks);
    const uint64_t max_prefixes = MORE_PREFIXES * all->segments + all->room * 13 / 40;
    if (count.max_prefixes > max_prefixes)
        fail_msg("it looked up %" PRIu64 " prefixes instead of %" PRIu64 " where %" PRIu64 " fingerprints have room",
                 count.max_prefixes, max_prefixes, all->room);
    if (count.reported > count.max_reported)
        fail_msg("it reported more than the %" PRIu64 " records that there can be", count.max_reported);
    assert_true(status == SSTORE_OK || status == SSTORE_ERROR_DAMAGED || status == SSTORE_ERROR_UNSUPPORTED);
    totals.calls++;
    totals.refused += status != SSTORE_OK;
    totals.max_bytes = fmax(totals.max_bytes, (double)peak / (double)max_bytes);
    totals.max_reads = fmax(totals.max_reads, (double)count.reads / (double)max_reads);
    totals.max_prefixes = fmax(totals.max_prefixes, (double)count.max_prefixes / (double)max_prefixes);
}

/* Set the checksums of a store, write it, and make every call on it, at a small and at a large distance. */
static void run_all(edited_store *made, const char *name)
{
    edited_set_checksums(made);
    edited_write(made, path);
    totals.cases++;
    if (edited_word_count(made) != made->words) /* a store without records has become one of other fingerprints */
        return;
    for (uint32_t i = 0; i < 2; i++) {
        subject self = {.all = contents_of(made),
                        .bytes = edited_bytes(made),
                        .queries = made->queries,
                        .words = made->words,
                        .fingerprint = made->queries + i * made->words,
                        .distance = i == 0 ? 3 : 64 * made->words,
                        .probes = i == 0};
        for (size_t call = 0; call < CALLS; call++)
            if ((made->words == 1 || calls[call].run != clusters) &&
                (!calls[call].needs_store || (self.store != NULL && (call < 2 || self.cursor != NULL))))
                run_call(&self, call, name);
        sstore_cursor_free(self.cursor);
        sstore_close(self.store);
    }
    testing_done();
}

/* The fuzzer's corpus, and as many random lists of changes. */
static void test_lists_of_changes(void **state)
{
    char folder[512];
    struct dirent **entries = NULL;
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/store", SSTORE_SOURCE_DIR);
    const int count = scandir(folder, &entries, NULL, alphasort);
    assert_true(count > 2);
    for (int i = 0; i < count; i++) {
        char file[1024];
        snprintf(file, sizeof file, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            file_bytes content = file_load(file);
            fuzz_input input = {.at = content.data, .left = content.size};
            edited_store made = edited_make((uint32_t)fuzz_take(&input, 1) % EDITED_SHAPES);
            (void)fuzz_take(&input, 3);
            edited_change(&made, &input);
            run_all(&made, entries[i]->d_name);
            edited_free(&made);
            file_bytes_free(&content);
        }
        free(entries[i]);
    }
    free(entries);
    rng random = rng_seeded(run_seed);
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_long()        ? LONG_CASES
                                                               : testing_sanitized() ? SANITIZED_CASES
                                                                                     : RANDOM_CASES);
    for (uint64_t i = 0; i < cases; i++) {
        uint8_t list[64];
        char name[64];
        snprintf(name, sizeof name, "changes %" PRIu64, i);
        rng_fill(&random, list, sizeof list);
        fuzz_input input = {.at = list, .left = 4 + rng_below(&random, sizeof list - 4)};
        edited_store made = edited_make((uint32_t)rng_below(&random, EDITED_SHAPES));
        edited_change(&made, &input);
        run_all(&made, name);
        edited_free(&made);
    }
}

/* ----- repeated look-ups ----- */

#define MANY_IDS 20000u /* of one fingerprint, or of a few */
#define OTHERS 900u
#define FEW 60u
#define THE_FINGERPRINT UINT64_C(0xfedcba9976543211) /* above most others; odd in both halves */

#define COPIES_BLOCK_BYTES 1024u

/* A store in which one or a few fingerprints have many ids, through many blocks; `others` are lower and have one id
 * each. */
static edited_store make_many_ids(size_t few, size_t others, uint64_t id_step, bool removes_some, uint32_t block_bytes)
{
    const size_t count = MANY_IDS + others;
    data_set set = {.id_kind = DATA_IDS, .count = count};
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error;
    set.fingerprints = test_calloc(count, sizeof *set.fingerprints);
    set.ids = test_calloc(count, sizeof *set.ids);
    for (size_t i = 0; i < count; i++) {
        set.fingerprints[i] = i < MANY_IDS ? THE_FINGERPRINT + i % few : rng_mix(i) >> 1;
        set.ids[i] = i * id_step;
    }
    options.block_bytes = block_bytes;
    options.plan = "2";
    options.memory_bytes = 1 << 20;
    scratch_remove(path);
    store_must_build(path, &options, &set);
    if (removes_some) { /* every second one */
        const sstore_write_options remove = options_to_remove(&options);
        for (size_t i = 0; i < MANY_IDS / 2; i++)
            set.ids[i] = 2 * i * id_step;
        assert_ok(store_remove(path, &remove, set.fingerprints, set.ids, MANY_IDS / 2, NULL, &error), &error);
    }
    test_free(set.fingerprints);
    test_free(set.ids);
    edited_store made = edited_load(path);
    /* Two flips within the first table's key bits, so that it is found through the second table. */
    for (size_t i = 0; i < 16; i++)
        made.queries[i] = THE_FINGERPRINT ^ UINT64_C(3) << (40 + i);
    return made;
}

/* Fill a block of a table with copies of its first fingerprint. Each copy takes one bit besides its lower half. */
static void fill_with_copies(edited_store *store, uint32_t file, size_t block)
{
    uint8_t lengths[REFERENCE_SYMBOLS] = {[32] = 1}, *bytes = edited_block(store, 0, file, block);
    uint64_t copies[COPIES_BLOCK_BYTES];
    assert_true(reference_block_group_first(bytes, COPIES_BLOCK_BYTES, 0, &copies[0]));
    for (size_t i = 1; i < COPIES_BLOCK_BYTES; i++)
        copies[i] = copies[0];
    const uint32_t count = reference_block_fit(COPIES_BLOCK_BYTES, lengths, copies, COPIES_BLOCK_BYTES);
    assert_true(count > 200);
    edited_set_code(store, 0, file, 32);
    reference_block_encode(bytes, COPIES_BLOCK_BYTES, lengths, copies, count);
}

/* A fingerprint with hundreds of copies in a table, each of which leads to all its ids. */
static void test_fingerprint_again_and_again(void **state)
{
    edited_store made = make_many_ids(1, 0, 1, false, COPIES_BLOCK_BYTES);
    fill_with_copies(&made, 1, 0);
    run_all(&made, "a fingerprint again and again");
    edited_free(&made);
}

/* Blocks whose ranks overlap, so that each block's fingerprints lead to all these ids. */
static void test_shared_ranks(void **state)
{
    edited_store made = make_many_ids(FEW, OTHERS, 1, false, 256);
    edited_array *ranks = &made.segments[0].ranks;
    assert_true(ranks->count > 10);
    for (size_t block = 1; block < ranks->count; block++)
        ranks->values[block] = OTHERS - ranks->count + block;
    made.segments[0].new_directory = true;
    run_all(&made, "shared ranks");
    edited_free(&made);
}

/* Ids that make the search among removed ids restart for each of them; and valid ids. */
static void test_ids_up_and_down(void **state)
{
    edited_store made = make_many_ids(1, 0, 1, true, 256);
    for (size_t block = 0; edited_block(&made, 0, EDITED_IDS, block) != NULL; block++) {
        uint8_t *bytes = edited_block(&made, 0, EDITED_IDS, block), *values = bytes + 20 + (bytes[16] + 7) / 8;
        for (size_t i = 0; i < 100; i++)
            values[i] ^= 0x5a;
    }
    run_all(&made, "ids up and down");
    edited_free(&made);
    made = make_many_ids(1, 0, 1000, true, 256);
    run_all(&made, "ids, some removed");
    edited_free(&made);
}

/* Many small segments that declare the largest or the smallest block size. */
static void test_large_blocks_in_many_segments(void **state)
{
    rng random = rng_seeded(run_seed);
    data_set set;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error;
    data_make(&random, DATA_CLUSTERED, DATA_IDS, 400, false, &set);
    options.block_bytes = 512;
    options.plan = "2";
    options.memory_bytes = 1 << 20;
    options.threads = 1;
    scratch_remove(path);
    store_must_build(path, &options, &set);
    const sstore_write_options remove = options_to_remove(&options);
    for (size_t i = 0; i + 1 < EDITED_MAX_SEGMENTS; i++)
        assert_ok(store_remove(path, &remove, set.fingerprints + 10 * i, set.ids + 10 * i, 10, NULL, &error), &error);
    edited_store made[2] = {edited_load(path), edited_load(path)};
    for (uint32_t i = 0; i < 2; i++) {
        memcpy(made[i].queries, set.fingerprints, sizeof made[i].queries);
        for (uint32_t segment = 0; segment < made[i].segment_count; segment++)
            edited_set(&made[i], segment, EDITED_BLOCK_BYTES, 0, i == 0 ? 256 : 65536);
        run_all(&made[i], "large blocks in many segments");
        edited_free(&made[i]);
    }
    data_free(&set);
}

#define REMOVALS 12u

static void change(const data_set *set, size_t first, size_t step, bool removes, const sstore_write_options *options)
{
    const sstore_write_options add = options_to_add(options);
    const sstore_write_options remove = options_to_remove(options);
    uint64_t *fingerprints = test_calloc(set->count, sizeof *fingerprints), *ids = test_calloc(set->count, sizeof *ids);
    sstore_error error;
    size_t count = 0;
    for (size_t i = first; i < set->count; i += step, count++) {
        fingerprints[count] = set->fingerprints[i];
        ids[count] = set->ids[i];
    }
    assert_ok(removes ? store_remove(path, &remove, fingerprints, ids, count, NULL, &error)
                      : store_add(path, &add, fingerprints, ids, count, NULL, &error),
              &error);
    test_free(fingerprints);
    test_free(ids);
}

/* A valid store in which segments that add and segments that remove alternate, each with records of the whole range. So
 * a query that finds everything reads the blocks of all removing segments once for each adding segment. */
static void test_many_removing_segments(void **state)
{
    rng random = rng_seeded(run_seed);
    data_set set;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    data_make(&random, DATA_UNIFORM, DATA_IDS, 24000, false, &set);
    options.block_bytes = 256;
    options.plan = "2";
    options.memory_bytes = 1 << 20;
    options.threads = 1;
    scratch_remove(path);
    const data_set none = {.id_kind = set.id_kind};
    store_must_build(path, &options, &none);
    for (size_t i = 0; i < REMOVALS; i++) {
        change(&set, i, REMOVALS, false, &options);
        change(&set, i, 2 * REMOVALS, true, &options);
    }
    edited_store made = edited_load(path);
    memcpy(made.queries, set.fingerprints, sizeof made.queries);
    run_all(&made, "many removing segments");
    edited_free(&made);
    data_free(&set);
}

static int tell(void **state)
{
    testing_figure("malicious stores: %" PRIu64 " stores, %" PRIu64 " calls, %" PRIu64
                   " refused; at most %.2f of the memory, "
                   "%.2f of the reads and %.2f of the prefixes that are allowed",
                   totals.cases, totals.calls, totals.refused, totals.max_bytes, totals.max_reads, totals.max_prefixes);
    return 0;
}

#define BATCH_QUERIES 20000u
#define BATCH_THREADS 17u
#define THREAD_BYTES ((long)8 << 20) /* of a batch, for each thread: sstore.h */

static long batch_peak(const sstore *store, const uint64_t *queries, uint32_t distance, uint32_t threads)
{
    sstore_error error;
    matches found = {0};
    interpose_watch_peak();
    assert_ok(store_batch(store, queries, BATCH_QUERIES, distance, threads, &found, &error), &error);
    matches_free(&found);
    return interpose_peak_bytes();
}

/* A valid store of a few large and nearly empty blocks: each takes the memory of a full block, also decoded. */
static void test_batches_keep_to_their_memory(void **state)
{
    const sstore_io modes[] = {SSTORE_IO_PREAD, SSTORE_IO_MMAP};
    const sstore_strategy strategies[] = {SSTORE_STRATEGY_AUTO, SSTORE_STRATEGY_PROBE};
    rng random = rng_seeded(run_seed);
    data_set set;
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    long max = 0;
    data_make(&random, DATA_UNIFORM, DATA_NO_IDS, 1000, false, &set);
    uint64_t *queries = calloc(BATCH_QUERIES, sizeof *queries);
    assert_non_null(queries);
    for (size_t i = 0; i < BATCH_QUERIES; i++)
        queries[i] = rng_next(&random);
    options.block_bytes = 65536;
    options.distance = 9;
    options.plan = "10c1";
    scratch_remove(path);
    store_must_build(path, &options, &set);
    for (size_t i = 0; i < 4; i++) {
        sstore *store = store_must_open(path, modes[i / 2], strategies[i % 2]);
        for (uint32_t distance = 8; distance <= 9; distance++) {
            const long one = batch_peak(store, queries, distance, 1),
                       many = batch_peak(store, queries, distance, BATCH_THREADS);
            const long each = (many - one) / (BATCH_THREADS - 1);
            max = each > max ? each : max;
        }
        sstore_close(store);
    }
    testing_figure("batches: at most %.2f MiB for each thread", (double)max / 0x1p20);
    assert_true(max > 0 && max <= THREAD_BYTES);
    free(queries);
    data_free(&set);
}

int main(void)
{
    rng_start_run();
    snprintf(path, sizeof path, "%s", scratch_path("store"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_lists_of_changes, testing_teardown),
        cmocka_unit_test_teardown(test_fingerprint_again_and_again, testing_teardown),
        cmocka_unit_test_teardown(test_shared_ranks, testing_teardown),
        cmocka_unit_test_teardown(test_ids_up_and_down, testing_teardown),
        cmocka_unit_test_teardown(test_large_blocks_in_many_segments, testing_teardown),
        cmocka_unit_test_teardown(test_many_removing_segments, testing_teardown),
        cmocka_unit_test_teardown(test_batches_keep_to_their_memory, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, tell);
}
