/*
 * test_same_matches.c - the same matches, byte for byte, from every kind of store and every way to query it: every plan
 * and block size; read by pread (also from a disk), mapped, or from memory; on one thread or several; single queries,
 * nearest ones, and batches that are answered one by one, by table passes or by a full scan; with and without vector
 * instructions. Stream matching of the same records, without a store, must give the same.
 *
 * The right matches come from looking at all records. A batch must report them in order. Single queries must report
 * them in any order that is the same at each call.
 *
 * SSTORE_TEST_CASES is the number of stores of each set of records. With SSTORE_TEST_LONG every plan is built with
 * every block size.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/simd.h"
#include "output/walk.h"
#include "sstore_statistics.h"
#include "sstore_stream.h"
#include "support/answers.h"
#include "support/data.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"
#include "write/builder.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define RECORDS 2500u
#define CASES 3u /* stores of each set */
#define MAX_BATCH 300u
#define BATCH_MATCHES 5000u /* a batch that has as many is not made longer */
#define MAX_WORK 30000u     /* probes and candidates of the single queries that are asked at one distance */
#define LIGHT_PROBES 1500u  /* a query with more at its store's distance is not probed beyond it */
#define MANY_IDS 33000u

/* ----- parameters ----- */

typedef struct plan_choice {
    const char *plan;
    uint32_t distance;
} plan_choice;

/* clang-format off */
static const plan_choice plans[] = {
    {"20", 3}, {"16", 3}, {"10", 3}, {"4", 3}, {"3", 3}, {"2", 3}, {"1", 3}, {"auto", 2}, {"auto", 4},
    {"5c2", 3}, {"7c2", 5}, {"8c1", 7}, {"64:0", 0}, {"31:0,33:0", 1}, {"24:1,20:0,20:0", 3},
    {"44:3", 3}, {"6:0,20:0,19:0,19:0", 3}, {"45:2,19:0", 3}, {"5:1,20:0,39:0", 3}, /* long prefixes and short ones */
};
/* clang-format on */
static const uint32_t beyond[] = {1, 2, 5, 11, 20, 32, SSTORE_MAX_DISTANCE};
static const uint32_t thread_counts[] = {1, 2, 8, 3, 5};
static const char *const strategies[] = {"as it likes", "probing", "scanning"};
static const struct {
    const char *name;
    sstore_io io;
    bool on_disk;
} ways_to_read[] = {
    {"pread", SSTORE_IO_PREAD, false},
    {"mmap", SSTORE_IO_MMAP, false},
    {"memory", SSTORE_IO_MEMORY, false},
    {"pread from disk", SSTORE_IO_PREAD, true},
};
static const char *const levels[] = {"portable", "avx2", "avx512"};

#define BLOCK_SIZES 9u /* 256 to 65,536 */

/* How a store is built. */
typedef struct make {
    plan_choice plan;
    uint32_t block_bytes;
    bool in_steps; /* of three segments: some records and others, more records, and the others removed */
} make;

static make make_of(size_t plan, size_t block_size)
{
    return (make){.plan = plans[plan], .block_bytes = UINT32_C(256) << block_size};
}

/* The numbers below `size` in random order, repeatedly, so that few draws give all of them. */
typedef struct deck {
    uint32_t size, left;
    uint8_t cards[32];
} deck;

static uint32_t draw(deck *self, rng *random)
{
    if (self->left == 0)
        for (; self->left < self->size; self->left++)
            self->cards[self->left] = (uint8_t)self->left;
    uint32_t at = (uint32_t)rng_below(random, self->left);
    uint8_t drawn = self->cards[at];
    self->cards[at] = self->cards[--self->left];
    return drawn;
}

/* One for each parameter; they continue from one set of records to the next. */
typedef struct hand {
    deck plans, block_sizes, beyond, threads, levels;
} hand;

static void decks_init(hand *self)
{
    const bool fewer = testing_sanitized();
    *self = (hand){.plans = {.size = COUNT(plans)},
                   .block_sizes = {.size = BLOCK_SIZES},
                   .beyond = {.size = COUNT(beyond)},
                   .threads = {.size = fewer ? 3 : COUNT(thread_counts)},
                   .levels = {.size = (uint32_t)ss_simd_cpu() + 1}};
}

static make draw_make(hand *from, rng *random)
{
    const uint32_t plan = draw(&from->plans, random);
    make drawn = make_of(plan, draw(&from->block_sizes, random));
    drawn.in_steps = rng_one_in(random, 3);
    return drawn;
}

/* The amount compared so far, byte for byte. */
static struct {
    uint64_t stores, opened, queries, batches, nearest, streams;
} compared;

/* ----- a store, opened one way ----- */

/* State for all ways to query. */
typedef struct memory {
    size_t affordable[COUNT(strategies)][SUBJECT_DISTANCES]; /* 0: not known yet */
} memory;

typedef struct asking {
    subject *tested;
    hand *decks;
    const make *how;
    memory *known;
    sstore *store;
    sstore_cursor *cursor;
    uint32_t strategy, way, level;
    char words[320];
} asking;

typedef struct effort {
    uint64_t probes, candidates, matches;
} effort;

static int add_effort(void *context, const sstore_table_explanation *table)
{
    effort *sum = context;
    sum->probes += table->probe_count;
    sum->candidates += table->candidate_count;
    sum->matches += table->hit_count;
    return 0;
}

/* How many single queries may be asked, by the cost of the first one, whose match count must be right. */
static size_t affordable(const asking *self, uint32_t distance)
{
    const answers *right = subject_answers(self->tested, distance);
    size_t *count = &self->known->affordable[self->strategy][distance];
    sstore_error error = {.status = SSTORE_OK};
    effort sum = {0};
    if (*count != 0)
        return *count;
    testing_doing("%s: explain %016" PRIx64 " at %" PRIu32, self->words, self->tested->queries[0], distance);
    assert_ok(sstore_explain(self->cursor, &self->tested->queries[0], distance, add_effort, &sum, &error), &error);
    if (self->how->in_steps) /* removed records count, and a fingerprint in each segment that has it */
        assert_true(sum.matches >= answers_fingerprints(right, 0));
    else
        assert_int_equal(sum.matches, answers_fingerprints(right, 0));
    *count = MAX_WORK / (sum.probes + sum.candidates + 1) + 1;
    *count = *count < right->count ? *count : right->count;
    return *count;
}

/* Answer the first `count` queries one by one. */
static void ask_singles(const asking *self, uint32_t distance, size_t count, matches *got)
{
    sstore_error error = {.status = SSTORE_OK};
    for (size_t i = 0; i < count; i++) {
        const size_t before = got->count;
        testing_doing("%s: query %016" PRIx64 " at %" PRIu32, self->words, self->tested->queries[i], distance);
        assert_ok(store_query(self->cursor, self->tested->queries[i], distance, got, &error), &error);
        matches_set_query(got, before, i);
    }
}

static void check_singles(const asking *self, uint32_t distance, size_t count)
{
    matches got = {0}, again = {0}, wanted = {0};
    for (size_t i = 0; i < count; i++)
        answers_copy(subject_answers(self->tested, distance), i, i, &wanted);
    ask_singles(self, distance, count, &got);
    ask_singles(self, distance, count, &again);
    testing_doing("%s: %zu queries at %" PRIu32, self->words, count, distance);
    const bool same_order = matches_equal(&got, &again);
    matches_sort(&got);
    matches_assert_equal(&got, &wanted, "single queries");
    compared.queries += count;
    if (!same_order)
        fail_msg("single queries: the right matches, but in another order than the call before");
    matches_free(&got);
    matches_free(&again);
    matches_free(&wanted);
}

/* A batch of `count` of the first `of_first` queries, with repeats. */
static void check_batch(const asking *self, uint32_t distance, size_t count, size_t of_first, size_t max_matches)
{
    const uint32_t threads = thread_counts[draw(&self->decks->threads, &self->tested->random)];
    uint64_t queries[MAX_BATCH];
    sstore_error error = {.status = SSTORE_OK};
    matches got = {0}, wanted = {0};
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    size_t asked = 0;
    options.threads = threads;
    for (; asked < count && asked < MAX_BATCH && wanted.count < max_matches; asked++) {
        size_t query = rng_below(&self->tested->random, of_first);
        queries[asked] = self->tested->queries[query];
        answers_copy(subject_answers(self->tested, distance), query, asked, &wanted);
    }
    testing_doing("%s: batch of %zu at %" PRIu32 ", %" PRIu32 " threads", self->words, asked, distance, threads);
    assert_ok(walk_matches(self->store, queries, asked, distance, &options, store_collect, &got, &error), &error);
    matches_assert_equal(&got, &wanted, "batch"); /* it comes sorted */
    compared.batches++;
    matches_free(&got);
    matches_free(&wanted);
}

/* The right answer is found slowly: by the first distance that has one. */
static void check_nearest(const asking *self, size_t query)
{
    const uint64_t fingerprint = self->tested->queries[query];
    sstore_error error = {.status = SSTORE_OK};
    matches got = {0}, wanted = {0};
    testing_doing("%s: nearest of %016" PRIx64, self->words, fingerprint);
    record_set_nearest(&self->tested->truth, &fingerprint, SSTORE_MAX_DISTANCE, &wanted);
    assert_ok(store_nearest_sorted(self->cursor, fingerprint, SSTORE_MAX_DISTANCE, &got, &error), &error);
    matches_assert_equal(&got, &wanted, "nearest");
    compared.nearest++;
    matches_free(&got);
    matches_free(&wanted);
}

/* Each strategy asks for each distance in four of the twelve pairs of level and way to read: each way once, at some
 * level. */
static bool is_turn(const asking *self, uint32_t distance)
{
    return (self->level + self->way + self->strategy + distance) % 3 == 0;
}

static void check_distance(const asking *self, uint32_t distance)
{
    rng *random = &self->tested->random;
    if (!is_turn(self, distance))
        return;
    const size_t count = affordable(self, distance);
    check_singles(self, distance, count);
    if (!rng_one_in(random, testing_sanitized() ? 4 : 3)) /* a batch allocates much, which takes a sanitizer's time */
        return;
    check_batch(self, distance, 4 * count, count, BATCH_MATCHES);
    if (rng_one_in(random, 4))
        check_batch(self, distance, rng_between(random, 0, 3), count, BATCH_MATCHES);
}

/* All distances up to the store's own and some beyond. Probing may take a second a query there: so it goes one
 * farther only, and only where few probes were enough so far. */
static void check_distances(const asking *self, const uint32_t further[2])
{
    const uint32_t k = self->how->plan.distance;
    for (uint32_t distance = 0; distance <= k; distance++)
        check_distance(self, distance);
    if (self->strategy != SSTORE_STRATEGY_PROBE) {
        check_distance(self, further[0]);
        check_distance(self, further[1]);
        check_nearest(self, rng_below(&self->tested->random, SUBJECT_QUERIES));
    } else if (affordable(self, k) >= MAX_WORK / LIGHT_PROBES) {
        check_distance(self, k + 1);
    }
}

/* ----- a store, opened every way ----- */

static void describe(const subject *self, const make *how, char *words, size_t size)
{
    snprintf(words, size, "%s; plan %s for %" PRIu32 ", blocks of %" PRIu32 "%s", self->words, how->plan.plan,
             how->plan.distance, how->block_bytes, how->in_steps ? ", in three segments" : "");
}

/* Give a builder the records first .. end - 1 and finish it. Ordinals are given as ids: they do not come in order. */
static void give(sstore_builder *builder, const data_set *data, size_t first, size_t end)
{
    sstore_error error = {.status = SSTORE_OK};
    for (size_t i = first; i < end; i++) {
        const uint64_t id = data->ids != NULL ? data->ids[i] : i;
        assert_ok(sstore_builder_add(builder, &data->fingerprints[i], &id, 1, &error), &error);
    }
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* Some of the records, but for a bit or two, as far as they are others then. */
static data_set make_others(subject *self)
{
    const data_set *data = &self->data;
    data_set others = {.fingerprints = malloc((data->count + 1) * sizeof *others.fingerprints),
                       .ids = malloc((data->count + 1) * sizeof *others.ids)};
    for (size_t i = 0; i < data->count; i += 3) {
        const uint64_t fingerprint = rng_flip(&self->random, data->fingerprints[i],
                                              (uint32_t)rng_below(&self->random, 3));
        const uint64_t id = data->id_kind == DATA_NO_IDS ? 0 : rng_below(&self->random, 2 * data->count);
        if (record_set_has(&self->truth, &fingerprint, id))
            continue;
        others.fingerprints[others.count] = fingerprint;
        others.ids[others.count++] = id;
    }
    return others;
}

/* Build a store of half of the records and of others, add the other half, and remove the others. */
static void build_in_steps(subject *self, const char *path, const sstore_write_options *options)
{
    const data_set *data = &self->data;
    const size_t half = data->count / 2;
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    data_set others = make_others(self);
    assert_ok(sstore_builder_create(path, options, &builder, &error), &error);
    if (others.count > 0)
        assert_ok(sstore_builder_add(builder, others.fingerprints, others.ids, others.count, &error), &error);
    give(builder, data, 0, half);
    const sstore_write_options add = options_to_add(options);
    assert_ok(sstore_builder_create_addition(path, &add, &builder, &error), &error);
    give(builder, data, half, data->count);
    const sstore_write_options remove = options_to_remove(options);
    assert_ok(store_remove(path, &remove, others.fingerprints, others.ids, others.count, NULL, &error), &error);
    free(others.fingerprints);
    free(others.ids);
}

static void build(subject *self, const make *how, const char *path)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder = NULL;
    sstore_error error = {.status = SSTORE_OK};
    char words[256];
    options.plan = how->plan.plan;
    options.distance = how->plan.distance;
    options.block_bytes = how->block_bytes;
    options.no_ids = self->data.id_kind == DATA_NO_IDS;
    options.memory_bytes = 1 << 24;
    options.threads = 2;
    describe(self, how, words, sizeof words);
    testing_doing("%s: build", words);
    compared.stores++;
    if (how->in_steps) {
        build_in_steps(self, path, &options);
        return;
    }
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    assert_ok(sstore_builder_add(builder, self->data.fingerprints, self->data.ids, self->data.count, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* Open as `self` says, and complete its words. */
static void begin_asking(asking *self, const char *path, const char *disk_path)
{
    describe(self->tested, self->how, self->words, sizeof self->words);
    size_t length = strlen(self->words);
    snprintf(self->words + length, sizeof self->words - length, "; by %s, %s, %s", ways_to_read[self->way].name,
             strategies[self->strategy], levels[self->level]);
    testing_doing("%s: open", self->words);
    ss_simd_limit((ss_simd_level)self->level);
    self->store = store_must_open(ways_to_read[self->way].on_disk ? disk_path : path, ways_to_read[self->way].io,
                                  (sstore_strategy)self->strategy);
    self->cursor = store_must_cursor(self->store);
    compared.opened++;
}

static void end_asking(asking *self)
{
    sstore_cursor_free(self->cursor);
    sstore_close(self->store);
    testing_done();
}

static void ask_every_way(subject *tested, hand *decks, const make *how, const char *path, const char *disk_path,
                          const uint32_t further[2])
{
    asking self = {.tested = tested, .decks = decks, .how = how, .known = calloc(1, sizeof *self.known)};
    assert_non_null(self.known);
    for (self.level = 0; self.level <= (uint32_t)ss_simd_cpu(); self.level++)
        for (self.way = 0; self.way < COUNT(ways_to_read); self.way++)
            for (self.strategy = 0; self.strategy < COUNT(strategies); self.strategy++) {
                if (testing_sanitized() && !testing_long() && !rng_one_in(&tested->random, COUNT(strategies)))
                    continue; /* takes ten times as long */
                begin_asking(&self, path, disk_path);
                check_distances(&self, further);
                end_asking(&self);
            }
    free(self.known);
}

static void check_make(subject *self, hand *decks, const make *how)
{
    const char *path = scratch_path("store"), *disk_path = scratch_disk_path("store");
    uint32_t further[2];
    for (size_t i = 0; i < 2; i++) {
        further[i] = how->plan.distance + beyond[draw(&decks->beyond, &self->random)];
        further[i] = further[i] < SSTORE_MAX_DISTANCE ? further[i] : SSTORE_MAX_DISTANCE;
    }
    ss_simd_limit(
        (ss_simd_level)draw(&decks->levels, &self->random)); /* tables are built from the first one's blocks */
    build(self, how, path);
    folder_copy(path, disk_path); /* built there, it would be synced */
    ask_every_way(self, decks, how, path, disk_path, further);
    scratch_remove(path);
    scratch_remove(disk_path);
}

/* ----- sets of records ----- */

static int collect_match(void *collection, const sstore_stream_match *match)
{
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(sstore_collection_add(collection, match, 1, &error), &error);
    return 0;
}

/* Let the records stream past the first `count` queries in parts of any size, and put the matches in order. */
static void match_records(subject *self, uint32_t distance, size_t count, uint32_t threads, matches *got)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_collection *collection;
    sstore_stream_options options = SSTORE_STREAM_OPTIONS_INIT;
    sstore_stream_matcher *matcher;
    options.distance = distance;
    options.threads = threads;
    assert_ok(sstore_collection_create(NULL, &collection, &error), &error);
    assert_ok(sstore_stream_matcher_create(self->queries, count, &options, &matcher, &error), &error);
    uint64_t *fingerprints = malloc((self->truth.count + 1) * sizeof *fingerprints);
    uint64_t *ids = malloc((self->truth.count + 1) * sizeof *ids);
    for (size_t i = 0; i < self->truth.count; i++) {
        fingerprints[i] = self->truth.fingerprints[i];
        ids[i] = self->truth.ids[i];
    }
    for (size_t done = 0; done < self->truth.count;) {
        size_t part = (size_t)rng_between(&self->random, 1, self->truth.count - done);
        assert_ok(sstore_stream_matcher_feed(matcher, fingerprints + done, ids + done, part, collect_match, collection,
                                             &error),
                  &error);
        done += part;
    }
    assert_ok(sstore_collection_report(collection, store_collect_stream, got, &error), &error);
    free(fingerprints);
    free(ids);
    sstore_stream_matcher_free(matcher);
    sstore_collection_free(collection);
}

/* Match a stream at each level of vector instructions. */
static void check_streams(subject *self, hand *decks, uint32_t distance)
{
    const answers *right = subject_answers(self, distance);
    matches wanted = {0};
    for (size_t query = 0; query < right->count; query++) {
        size_t first = 0;
        while (self->queries[first] != self->queries[query])
            first++;
        if (first == query) /* a query that is repeated counts once */
            answers_copy(right, query, self->queries[query], &wanted);
    }
    matches_sort(&wanted);
    for (ss_simd_level level = SS_SIMD_NONE; level <= ss_simd_cpu(); level++) {
        const uint32_t threads = thread_counts[draw(&decks->threads, &self->random)];
        matches got = {0};
        testing_doing("%s: stream at %" PRIu32 ", %s, %" PRIu32 " threads", self->words, distance, levels[level],
                      threads);
        ss_simd_limit(level);
        match_records(self, distance, right->count, threads, &got);
        matches_assert_equal(&got, &wanted, "stream"); /* it comes sorted */
        compared.streams++;
        matches_free(&got);
    }
    ss_simd_limit(SS_SIMD_AVX512);
    matches_free(&wanted);
}

/* Make `usual` stores of a subject, match its records without one, and end it. */
static void check_subject(subject *self, hand *decks, uint64_t usual)
{
    const uint64_t all = COUNT(plans) * BLOCK_SIZES;
    const uint64_t some = testing_number("SSTORE_TEST_CASES", testing_sanitized() ? (usual + 3) / 4 : usual);
    subject_begin(self);
    check_streams(self, decks, 3);
    check_streams(self, decks, (uint32_t)rng_below(&self->random, SSTORE_MAX_BUILD_DISTANCE + 1));
    for (uint64_t i = 0; i < (testing_long() ? all : some); i++) {
        const make how = testing_long() ? make_of(i % COUNT(plans), i / COUNT(plans)) : draw_make(decks, &self->random);
        check_make(self, decks, &how);
    }
    subject_end(self);
}

static void test_every_kind(void **state)
{
    const size_t count = testing_sanitized() ? RECORDS / 3 : RECORDS;
    hand decks;
    decks_init(&decks);
    for (uint32_t i = 0; i < DATA_KIND_COUNT; i++) {
        subject self;
        subject_make(&self, run_seed + i, (data_kind)i, (data_ids)((run_seed + i) % DATA_IDS_COUNT), count);
        check_subject(&self, &decks, CASES);
    }
}

/* No record, one, and two. */
static void test_tiny(void **state)
{
    const uint64_t seed = run_seed + 100;
    hand decks;
    decks_init(&decks);
    for (uint32_t i = 0; i < 6; i++) {
        subject self;
        subject_make(&self, seed + i, i < 3 ? DATA_UNIFORM : DATA_EXTREMES, (data_ids)(i / 2), i % 3);
        check_subject(&self, &decks, 1);
    }
}

/* Several blocks even of the largest size, in groups of more than are decoded in one piece; and so many small ones
 * that a batch reads them in table passes, slice by slice. Large groups are slow to search, so the plans have few
 * probes. */
static void test_large(void **state)
{
    const make makes[] = {
        {{"3", 3}, 256, false},
        {{"4", 3}, 65536, !testing_sanitized()}, /* in three segments, a sanitizer takes minutes */
    };
    const uint64_t seed = run_seed + 200;
    hand decks;
    decks_init(&decks);
    for (uint32_t i = 0; i < 2; i++) {
        subject self;
        subject_make(&self, seed + i, i == 0 ? DATA_CLUSTERED : DATA_DENSE, DATA_ASSIGNED, i == 0 ? 30000 : 70000);
        subject_begin(&self);
        for (size_t j = 0; j < COUNT(makes); j++)
            check_make(&self, &decks, &makes[j]);
        subject_end(&self);
    }
}

/* ----- beyond limits ----- */

/* One fingerprint with so many ids that they fill blocks, one with the same id given as often, and others around. */
static void make_many_ids(subject *self, uint64_t seed, data_ids ids)
{
    const size_t count = 2 * MANY_IDS + 1000;
    subject_make(self, seed, DATA_CLUSTERED, ids, count);
    uint64_t *fingerprints = self->data.fingerprints, centre = fingerprints[0];
    for (size_t i = 0; i < count; i++) {
        if (i < 2 * MANY_IDS)
            fingerprints[i] = i < MANY_IDS ? centre : ~centre;
        else if (i % 4 == 0)
            fingerprints[i] = rng_flip(&self->random, centre, (uint32_t)rng_between(&self->random, 1, 4));
        if (ids == DATA_IDS && i < 2 * MANY_IDS)
            self->data.ids[i] = i < MANY_IDS ? rng_next(&self->random) : 7;
    }
    snprintf(self->words, sizeof self->words, "seed %" PRIu64 ", %u %s of one fingerprint", seed, MANY_IDS,
             data_ids_name(ids));
}

static void test_many_ids(void **state)
{
    const uint64_t seed = run_seed + 300;
    hand decks;
    decks_init(&decks);
    for (uint32_t i = 0; i < 2; i++) {
        subject self;
        make_many_ids(&self, seed + i, i == 0 ? DATA_IDS : DATA_ASSIGNED);
        check_subject(&self, &decks, 1);
    }
}

/* Build `how`, and open it as `self` says. */
static void begin_one(asking *self, subject *tested, hand *decks, const make *how)
{
    const char *path = scratch_path("store"), *disk_path = scratch_disk_path("store");
    decks_init(decks);
    self->tested = tested;
    self->decks = decks;
    self->how = how;
    build(tested, how, path);
    folder_copy(path, disk_path);
    folder_forget(disk_path);
    begin_asking(self, path, disk_path);
}

static void end_one(asking *self)
{
    end_asking(self);
    scratch_remove(scratch_path("store"));
    scratch_remove(scratch_disk_path("store"));
}

/* More matches than a round may have: it is repeated in halves. */
static void test_halved_rounds(void **state)
{
    const make how = {.plan = {"4", 3}, .block_bytes = 4096};
    asking self = {.level = ss_simd_cpu()};
    hand decks;
    subject tested;
    make_many_ids(&tested, run_seed + 400, DATA_IDS);
    subject_begin(&tested);
    tested.queries[0] = ~tested.data.fingerprints[0];
    tested.queries[1] = tested.data.fingerprints[0];
    begin_one(&self, &tested, &decks, &how);
    check_batch(&self, 3, 171, 2, SIZE_MAX);
    end_one(&self);
    subject_end(&tested);
}

/* The last record below 1/64 of all numbers, 2/64, ...; every other one changed in up to four of its first twelve
 * bits, and the first one in its very first, so that it leads to a slice far away. */
static void ask_at_edges(subject *self)
{
    const record_set *truth = &self->truth;
    size_t next = 0;
    for (uint64_t i = 0; i < SUBJECT_QUERIES; i++) {
        while (next + 1 < truth->count && truth->fingerprints[next + 1] < (i + 1) << 58)
            next++;
        self->queries[i] = truth->fingerprints[next];
        for (uint64_t flips = i % 2 * rng_below(&self->random, 5); flips > 0; flips--)
            self->queries[i] ^= UINT64_C(1) << rng_between(&self->random, 52, 63);
    }
    self->queries[0] ^= UINT64_C(1) << 63;
}

/*
 * A table that is cut into many slices, and prefixes so wide that a query has some in most of them, also in those that
 * have no query of their own; and one whose fingerprints all have the same prefix, over more blocks than are decoded
 * together.
 */
static void test_many_slices(void **state)
{
    const make how = {.plan = {"44:3", 3}, .block_bytes = 256};
    for (uint32_t i = 0; i < 2; i++) {
        asking self = {.strategy = SSTORE_STRATEGY_PROBE, .level = ss_simd_cpu()};
        hand decks;
        subject tested;
        subject_make(&tested, run_seed + 500 + i, i == 0 ? DATA_CLUSTERED : DATA_DENSE, DATA_IDS,
                     i == 0 ? 30000 : 70000);
        subject_begin(&tested);
        if (i == 0)
            ask_at_edges(&tested);
        begin_one(&self, &tested, &decks, &how);
        check_singles(&self, 3, subject_answers(&tested, 3)->count);
        for (uint32_t distance = 1; distance <= 4; distance++) {
            check_batch(&self, distance, 200, subject_answers(&tested, distance)->count, 100000);
            check_batch(&self, distance, 30, 1, 100000);
        }
        end_one(&self);
        subject_end(&tested);
    }
}

/* From a disk, when nothing of the store is in memory: by each strategy first queries one by one, then a batch. */
static void test_cold(void **state)
{
    const make how = {.plan = {"3", 3}, .block_bytes = 4096};
    hand decks;
    subject tested;
    subject_make(&tested, run_seed + 600, DATA_CLUSTERED, DATA_IDS, 20000);
    subject_begin(&tested);
    for (uint32_t i = 0; i < 2 * COUNT(strategies); i++) {
        asking self = {.strategy = i / 2, .way = COUNT(ways_to_read) - 1, .level = ss_simd_cpu()};
        begin_one(&self, &tested, &decks, &how);
        if (i % 2 == 0)
            check_singles(&self, 3, subject_answers(&tested, 3)->count);
        else
            check_batch(&self, 3, MAX_BATCH, subject_answers(&tested, 3)->count, BATCH_MATCHES);
        end_one(&self);
    }
    subject_end(&tested);
}

/* Leftovers of a failed test would make the next ones fail. */
static int tear_down(void **state)
{
    ss_simd_limit(SS_SIMD_AVX512);
    scratch_remove(scratch_path("store"));
    scratch_remove(scratch_disk_path("store"));
    return testing_teardown(state);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_tiny, tear_down),
        cmocka_unit_test_teardown(test_every_kind, tear_down),
        cmocka_unit_test_teardown(test_large, tear_down),
        cmocka_unit_test_teardown(test_many_ids, tear_down),
        cmocka_unit_test_teardown(test_halved_rounds, tear_down),
        cmocka_unit_test_teardown(test_many_slices, tear_down),
        cmocka_unit_test_teardown(test_cold, tear_down),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed == 0)
        testing_figure("the same bytes: %" PRIu64 " stores opened in %" PRIu64
                       " ways of reading, strategies and levels up to %s: %" PRIu64 " queries twice, %" PRIu64
                       " batches on 1 to 8 threads, %" PRIu64 " nearest, %" PRIu64 " streams without a store",
                       compared.stores, compared.opened, levels[ss_simd_cpu()], compared.queries, compared.batches,
                       compared.nearest, compared.streams);
    return failed;
}
