/*
 * test_joins.c - pairs, clusters and joins of stores of 1 to 16 words must equal comparing every pair of records: data
 * of all kinds, skewed and constant words, stores of one segment and of several with removals, little memory and much,
 * dense clusters, fingerprints with many ids. Iterators must give the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/walk.h"
#include "support/iterate.h"
#include "support/record_pairs.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES 56u
#define SLOW_CASES 9u
#define LONG_CASES 6u /* of tests in which each takes long */
#define LONG_SLOW_CASES 3u
#define MAX_RECORDS 1200u
#define MAX_PAIRS ((size_t)1000000) /* a case with more is left out */

/* ----- stores ----- */

/* A store and its records. */
typedef struct subject {
    char path[256];
    fingerprint_form maker;
    bool has_ids, ids_are_assigned;
    uint32_t block_bytes;
    const char *plan;
    record_set truth;
    sstore *store;
} subject;

static subject new_subject(rng *random, const char *name, const fingerprint_form *maker)
{
    subject made = {.maker = *maker, .has_ids = !rng_one_in(random, 3), .block_bytes = 256u << rng_below(random, 5)};
    made.ids_are_assigned = rng_one_in(random, 3);
    snprintf(made.path, sizeof made.path, "%s/%s", scratch_folder(), name);
    return made;
}

/* Build a store of records, or add them to it. */
static void write_records(rng *random, const subject *to, const record_set *records, bool adds)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    options.fingerprint_bits = 64 * to->maker.words;
    options.distance = to->maker.distance;
    options.plan = to->plan;
    options.block_bytes = to->block_bytes;
    options.no_ids = !to->has_ids;
    options.force = true;
    options.memory_bytes = UINT64_C(1) << 20;
    options.threads = (uint32_t)rng_between(random, 1, 2);
    assert_ok(adds ? sstore_builder_create_addition(to->path, &change_apart, &builder, &error)
                   : sstore_builder_create(to->path, &options, &builder, &error),
              &error);
    const bool has_ids = to->has_ids && !to->ids_are_assigned;
    assert_ok(sstore_builder_add(builder, records->fingerprints, has_ids ? records->ids : NULL, records->count, &error),
              &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* Remove some records, or fingerprints with all their ids. */
static void remove_records(rng *random, const subject *from, const record_set *records)
{
    sstore_remover *remover;
    sstore_error error;
    assert_ok(sstore_remover_create(from->path, &change_apart, &remover, &error), &error);
    const uint64_t *ids = from->has_ids && rng_one_in(random, 2) ? records->ids : NULL;
    assert_ok(sstore_remover_remove(remover, records->fingerprints, ids, records->count, &error), &error);
    assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
}

/* Open the store, and read its records, which other tests check. */
static void open_subject(rng *random, subject *self)
{
    self->store = store_must_open(self->path, (sstore_io)rng_below(random, 4), (sstore_strategy)rng_below(random, 3));
    self->truth = store_must_read(self->store);
}

static void close_subject(subject *self)
{
    sstore_close(self->store);
    record_set_free(&self->truth);
    scratch_remove(self->path);
}

/* Divide records among a build and additions, with removals between them, and open the store. */
static void write_in_steps(rng *random, subject *self, const record_set *records)
{
    const uint64_t steps = rng_one_in(random, 2) ? 1 : rng_between(random, 2, 4);
    for (uint64_t i = 0; i < steps; i++) {
        const size_t begin = records->count * i / steps, end = records->count * (i + 1) / steps;
        const record_set part = record_set_part(records, begin, end);
        record_set removed = record_set_new(records->words);
        write_records(random, self, &part, i > 0);
        for (size_t at = rng_below(random, 5); at < end; at += rng_between(random, 1, 9)) {
            record_set_append(&removed, records, at, at + 1);
            if (rng_one_in(random, 9)) /* perhaps an absent one */
                fingerprint_flip(random, self->maker.words, removed.fingerprints + (removed.count - 1) * removed.words,
                                 2);
        }
        if (steps > 1 && !rng_one_in(random, 2))
            remove_records(random, self, &removed);
        record_set_free(&removed);
    }
    open_subject(random, self);
}

/* Any records; some are near those of the other set. */
static record_set any_records(rng *random, const fingerprint_form *maker, const record_set *other)
{
    const size_t count = rng_below(random, rng_one_in(random, 3) ? 30 : MAX_RECORDS);
    record_set made = record_set_make(random, maker, count);
    for (size_t i = 0; i < count; i++)
        if (other->count > 0 && rng_one_in(random, 3))
            fingerprint_make(random, maker, other->fingerprints, other->count, made.fingerprints + i * maker->words);
    return made;
}

/* ----- comparisons ----- */

/* Its distance is perhaps meant as the store's own. */
static uint32_t meant_distance(const subject *left, const sstore_join_options *options)
{
    return options->distance == SSTORE_OWN_DISTANCE ? left->maker.distance : options->distance;
}

/* The records of a store that are not left out. Free them. */
static record_set taken_records(const subject *self, const sstore_join_options *options)
{
    record_set taken = record_set_new(self->maker.words);
    for (size_t i = 0; i < self->truth.count; i++) {
        const uint64_t *fingerprint = self->truth.fingerprints + i * self->maker.words;
        bool is_out = false;
        for (size_t j = 0; j < options->excluded_count; j++)
            is_out |= sstore_hamming_distance(fingerprint, options->excluded + j * self->maker.words,
                                              64 * self->maker.words) <= options->excluded_distance;
        if (!is_out)
            record_set_put(&taken, fingerprint, self->truth.ids[i]);
    }
    return taken;
}

/* Compare pairs of two stores, or of one with itself. Returns how many there are. */
static size_t compare_pairs_of(rng *random, const subject *left, const subject *right,
                               const sstore_join_options *options)
{
    record_set left_taken = taken_records(left, options), right_taken = taken_records(right, options);
    const record_pairs wanted = record_set_pairs(&left_taken, left == right ? &left_taken : &right_taken,
                                                 meant_distance(left, options), MAX_PAIRS);
    const size_t count = wanted.count <= MAX_PAIRS ? wanted.count : 0;
    if (wanted.count <= MAX_PAIRS)
        iterate_pairs(random, left->store, left == right ? NULL : right->store, options, wanted.items, count);
    free(wanted.items);
    record_set_free(&left_taken);
    record_set_free(&right_taken);
    return count;
}

/* Compare the clusters of a store. Returns the number of their records. */
static size_t compare_clusters(rng *random, const subject *self, const sstore_join_options *options)
{
    const sstore_cluster_options how = options_to_cluster(options, rng_one_in(random, 2));
    record_set taken = taken_records(self, options);
    const record_clusters wanted = record_set_clusters(&taken, meant_distance(self, options), how.with_singles);
    iterate_clusters(random, self->store, &how, wanted.items, wanted.count);
    free(wanted.items);
    record_set_free(&taken);
    return wanted.count;
}

/* ----- the tests ----- */

static uint64_t case_count(uint64_t usual, uint64_t slow)
{
    return testing_number("SSTORE_TEST_CASES", testing_slow() ? slow : usual);
}

/* Of any width, or of one word. */
static fingerprint_form any_maker(rng *random, bool is_wide)
{
    static const uint32_t widths[] = {2, 2, 3, 4, 4, 8, 16};
    const uint32_t words = is_wide ? widths[rng_below(random, sizeof widths / sizeof *widths)] : 1;
    const uint64_t max = words * SSTORE_MAX_BUILD_DISTANCE;
    return form_with(random, words,
                     (uint32_t)(rng_one_in(random, 4) ? rng_below(random, max + 1) : rng_below(random, 8 * words)));
}

static sstore_join_options any_options(rng *random, const fingerprint_form *maker)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    const uint64_t max = maker->words * SSTORE_MAX_BUILD_DISTANCE;
    options.distance = rng_one_in(random, 4)   ? (uint32_t)rng_below(random, max + 1)
                       : rng_one_in(random, 2) ? maker->distance
                                               : SSTORE_OWN_DISTANCE;
    options.memory_bytes = (uint64_t)1 << rng_between(random, 23, 28);
    options.threads = (uint32_t)rng_between(random, 1, 4);
    options.tmp_dir = scratch_folder();
    return options;
}

/* Sometimes leave out what is near some fingerprints of a store. Free `excluded`. */
static uint64_t *exclude_some(rng *random, const record_set *records, sstore_join_options *options)
{
    const size_t words = records->words, count = records->count > 0 && rng_one_in(random, 3) ? rng_below(random, 6) : 0;
    uint64_t *excluded = malloc((count + 1) * words * sizeof *excluded);
    for (size_t i = 0; i < count; i++) {
        memcpy(excluded + i * words, records->fingerprints + rng_below(random, records->count) * words,
               words * sizeof *excluded);
        fingerprint_flip(random, records->words, excluded + i * words, rng_below(random, 3));
    }
    options->excluded = excluded;
    options->excluded_count = count;
    options->excluded_distance = rng_one_in(random, 2) ? 0 : (uint32_t)rng_below(random, 4 * words);
    return excluded;
}

static void test_any_stores(void **state)
{
    const uint64_t cases = case_count(CASES, SLOW_CASES);
    uint64_t pairs = 0, clustered = 0;
    for (uint64_t i = 0; i < cases; i++) {
        rng random = rng_seeded(run_seed + i);
        const fingerprint_form maker = any_maker(&random, i % 8 == 0);
        const record_set none = {.words = maker.words};
        sstore_join_options options = any_options(&random, &maker);
        subject left = new_subject(&random, "left.store", &maker), right = new_subject(&random, "right.store", &maker);
        testing_doing("case of seed %" PRIu64 ": %s, joined at %u", run_seed + i, form_text(&maker), options.distance);
        record_set left_records = any_records(&random, &maker, &none);
        record_set right_records = any_records(&random, &maker, &left_records);
        write_in_steps(&random, &left, &left_records);
        write_in_steps(&random, &right, &right_records);
        uint64_t *excluded = exclude_some(&random, &right_records, &options);
        pairs += compare_pairs_of(&random, &left, &left, &options);
        pairs += compare_pairs_of(&random, &left, &right, &options);
        clustered += compare_clusters(&random, &right, &options);
        free(excluded);
        record_set_free(&left_records);
        record_set_free(&right_records);
        close_subject(&left);
        close_subject(&right);
    }
    testing_figure("%" PRIu64 " joins of stores of 64 to 1,024 bits: %" PRIu64 " pairs, and clusters of %" PRIu64
                   " records, like brute force",
                   cases, pairs, clustered);
    testing_done();
}

/* A few centres, each with very many fingerprints around it, at any distance; chains lead away from some of them. */
static record_set make_dense(rng *random, const fingerprint_form *maker, bool has_ids)
{
    record_set made = record_set_new(maker->words);
    const size_t count = rng_between(random, 100, MAX_RECORDS);
    while (made.count < count) {
        uint64_t centre[SSTORE_MAX_WORDS] = {0}, added[SSTORE_MAX_WORDS];
        const uint64_t flips = rng_below(random, maker->distance + 4), size = rng_between(random, 10, 500);
        fingerprint_make(random, maker, NULL, 0, centre);
        for (uint64_t i = 0; i < size; i++) {
            memcpy(added, centre, sizeof added);
            fingerprint_flip(random, maker->words, added, flips);
            for (uint64_t links = rng_one_in(random, 10) ? rng_below(random, 5) : 0; links > 0; links--) {
                record_set_put(&made, added, 0);
                fingerprint_flip(random, maker->words, added, 2 * (uint64_t)maker->distance);
            }
            record_set_put(&made, added, 0);
        }
    }
    for (size_t i = 0; has_ids && i < made.count; i++)
        made.ids[i] = rng_below(random, made.count);
    record_set_shuffle(random, &made); /* so that each segment has some of each cluster */
    return made;
}

static void test_dense_clusters(void **state)
{
    for (uint64_t i = 0; i < case_count(LONG_CASES, LONG_SLOW_CASES); i++) {
        rng random = rng_seeded(run_seed + 1000 + i);
        const fingerprint_form maker = any_maker(&random, i % 6 != 0);
        testing_doing("dense case %" PRIu64 " of seed %" PRIu64 ": %u words, distance %u", i, run_seed, maker.words,
                      maker.distance);
        subject self = new_subject(&random, "dense.store", &maker);
        sstore_join_options options = any_options(&random, &maker);
        options.distance = maker.distance;
        record_set records = make_dense(&random, &maker, self.has_ids);
        write_in_steps(&random, &self, &records);
        (void)compare_clusters(&random, &self, &options);
        (void)compare_pairs_of(&random, &self, &self, &options);
        record_set_free(&records);
        close_subject(&self);
    }
    testing_done();
}

/* A core of fingerprints that are very near each other, more than fit into the least memory; around it a ring of as
 * many that are near nothing, or almost: so not all members of a ball pay. */
static record_set make_core_and_ring(rng *random, const fingerprint_form *maker, size_t count)
{
    record_set made = record_set_new(maker->words);
    uint64_t centre[SSTORE_MAX_WORDS] = {0}, added[SSTORE_MAX_WORDS];
    const uint32_t distance = maker->distance;
    fingerprint_make(random, maker, NULL, 0, centre);
    for (size_t i = 0; i < count; i++) {
        memcpy(added, centre, sizeof added);
        if (i % 2 == 0)
            fingerprint_flip(random, maker->words, added, 4);
        else
            for (uint64_t flips = rng_between(random, distance, 3 * distance); flips > 0; flips--)
                added[rng_below(random, maker->words)] ^= UINT64_C(1) << rng_below(random, 64);
        record_set_put(&made, added, i);
    }
    return made;
}

static void test_large_clusters(void **state)
{
    for (uint64_t i = 0; i < (testing_slow() ? 1 : 2); i++) {
        rng random = rng_seeded(run_seed + 5000 + i);
        const fingerprint_form maker = {.words = (uint32_t)rng_between(&random, 3, 5), .distance = 20};
        testing_doing("large case %" PRIu64 " of seed %" PRIu64, i, run_seed);
        subject self = new_subject(&random, "large.store", &maker);
        sstore_join_options options = any_options(&random, &maker);
        options.distance = maker.distance;
        options.memory_bytes = UINT64_C(8) << 20;
        options.threads = i % 2 == 0 ? 1 : 8;
        record_set records = make_core_and_ring(&random, &maker, testing_slow() ? 4000 : 16000);
        write_in_steps(&random, &self, &records);
        (void)compare_clusters(&random, &self, &options);
        record_set_free(&records);
        close_subject(&self);
    }
    testing_done();
}

/* ----- larger than a piece ----- */

#define PIECE 1024u /* the minimum that a thread works on at once: with this many threads and the least memory */
#define PIECE_THREADS 16u

static sstore_join_options min_pieces(uint32_t distance)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    options.distance = distance;
    options.threads = PIECE_THREADS;
    options.memory_bytes = 8 << 20;
    options.tmp_dir = scratch_folder();
    return options;
}

/* A store with ids, whose records are put one fingerprint after the other. */
static subject new_subject_of_pieces(rng *random, const char *name, const fingerprint_form *maker)
{
    subject made = new_subject(random, name, maker);
    made.has_ids = true;
    made.ids_are_assigned = false;
    made.plan = maker->words == 1 ? "2" : NULL;
    return made;
}

/* Put a fingerprint, with up to `flips` bits flipped, with ids from `first` on. */
static void put_many(rng *random, const fingerprint_form *maker, record_set *to, const uint64_t *fingerprint,
                     uint64_t flips, size_t count, uint64_t first)
{
    uint64_t added[SSTORE_MAX_WORDS];
    memcpy(added, fingerprint, maker->words * sizeof *added);
    fingerprint_flip(random, maker->words, added, flips);
    for (size_t i = 0; i < count; i++)
        record_set_put(to, added, first + i);
}

/* Put a new fingerprint with such ids. */
static void put_new(rng *random, const fingerprint_form *maker, record_set *to, size_t count, uint64_t first)
{
    uint64_t made[SSTORE_MAX_WORDS];
    fingerprint_make(random, maker, NULL, 0, made);
    put_many(random, maker, to, made, 0, count, first);
}

/* Clusters that take several pieces, alone and with others before, between and behind them. */
static void test_clusters_larger_than_a_piece(void **state)
{
    for (uint64_t i = 0; i < case_count(LONG_CASES, 2); i++) {
        rng random = rng_seeded(run_seed + 6000 + i);
        const fingerprint_form maker = {.words = (uint32_t)rng_between(&random, 1, 2), .distance = 3};
        const sstore_join_options options = min_pieces(2);
        record_set records = record_set_new(maker.words);
        subject self = new_subject_of_pieces(&random, "large.store", &maker);
        testing_doing("case %" PRIu64 ": clusters larger than a piece, seed %" PRIu64, i, run_seed);
        for (uint64_t large = rng_between(&random, 1, 3); large > 0; large--) {
            uint64_t centre[SSTORE_MAX_WORDS];
            fingerprint_make(&random, &maker, NULL, 0, centre);
            const uint64_t parts = rng_between(&random, 1, 4);
            for (uint64_t part = 0; part < parts; part++) /* equal fingerprints, and some within a bit of them */
                put_many(&random, &maker, &records, centre, part > 0, rng_between(&random, PIECE / 2, PIECE),
                         part * PIECE);
            for (uint64_t few = rng_below(&random, 50); few > 0; few--)
                put_new(&random, &maker, &records, rng_between(&random, 1, 3), few);
        }
        put_new(&random, &maker, &records, rng_between(&random, PIECE - 1, PIECE + 1), 5);
        write_in_steps(&random, &self, &records);
        for (int j = 0; j < 3; j++)
            (void)compare_clusters(&random, &self, &options);
        record_set_free(&records);
        close_subject(&self);
    }
    testing_done();
}

/* A fingerprint with more ids, and with more matches, than a piece or the least memory holds: they are read anew for
 * each pair. */
static void test_many_ids(void **state)
{
    for (uint64_t i = 0; i < case_count(LONG_CASES, 2); i++) {
        rng random = rng_seeded(run_seed + 2000 + i);
        const uint32_t words = i % 2 == 0 ? 1 : (uint32_t)rng_between(&random, 2, 4), distance = words == 1 ? 3 : 20;
        const fingerprint_form maker = form_with(&random, words, distance);
        const sstore_join_options options = min_pieces(distance);
        uint64_t centre[SSTORE_MAX_WORDS], far[SSTORE_MAX_WORDS];
        record_set few = record_set_new(words), many = record_set_new(words);
        testing_doing("many ids, %u words, case %" PRIu64 " of seed %" PRIu64, words, i, run_seed);
        fingerprint_make(&random, &maker, NULL, 0, centre);
        fingerprint_make(&random, &maker, NULL, 0, far);
        put_many(&random, &maker, &many, centre, 0, PIECE * (words == 1 ? 1 : 16) + rng_below(&random, 100), 5);
        put_many(&random, &maker, &few, centre, 0, rng_between(&random, 1, 5), 0);
        for (uint64_t j = rng_between(&random, 3, 20); j > 0; j--) {
            put_many(&random, &maker, &few, centre, distance + 2, rng_between(&random, 1, 2), rng_below(&random, 9));
            put_many(&random, &maker, &many, centre, distance, rng_between(&random, 1, 3), rng_below(&random, 9));
        }
        put_many(&random, &maker, &few, far, 0, 2, 8);
        put_many(&random, &maker, &many, far, 0, 4, 2);
        subject left = new_subject_of_pieces(&random, "left.store", &maker);
        subject right = new_subject_of_pieces(&random, "right.store", &maker);
        write_in_steps(&random, &left, &few);
        write_in_steps(&random, &right, &many);
        (void)compare_pairs_of(&random, &left, &right, &options);
        (void)compare_pairs_of(&random, &right, &left, &options);
        (void)compare_pairs_of(&random, &left, &left, &options);
        (void)compare_pairs_of(&random, &right, &right, &options);
        record_set_free(&few);
        record_set_free(&many);
        close_subject(&left);
        close_subject(&right);
    }
    testing_done();
}

static int count_equal_pair(void *context, const sstore_pair *pair)
{
    assert_true(*pair->fingerprint == *pair->other_fingerprint && pair->id != pair->other_id);
    ++*(size_t *)context;
    return 0;
}

/* Compare the number of pairs of equal fingerprints, of a store of so many segments, within a distance at which there
 * are no others. */
static void check_repeated(rng *random, const record_set *records, uint32_t distance, uint64_t segments, size_t wanted)
{
    const fingerprint_form maker = {.words = 1, .distance = 3};
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    sstore_error error;
    subject self = new_subject_of_pieces(random, "repeated.store", &maker);
    size_t got = 0;
    self.block_bytes = 256; /* so that there are several parts for threads */
    options.distance = distance;
    for (uint64_t i = 0; i < segments; i++) {
        const record_set part = record_set_part(records, records->count * i / segments,
                                                records->count * (i + 1) / segments);
        write_records(random, &self, &part, i > 0);
    }
    assert_ok(sstore_open(self.path, NULL, &self.store, &error), &error);
    assert_ok(walk_pairs(self.store, NULL, &options, count_equal_pair, &got, &error), &error);
    assert_int_equal(got, wanted);
    close_subject(&self);
}

/* Fingerprints far from each other, with one to three ids each, so that blocks of ids end anywhere among those of one
 * fingerprint. */
static void test_repeated_fingerprints(void **state)
{
    enum { FINGERPRINTS = 20000, MAX_IDS = 3 };
    rng random = rng_seeded(run_seed);
    const fingerprint_form maker = {.words = 1, .distance = 3};
    record_set records = record_set_new(1);
    size_t wanted = 0;
    testing_doing("repeated fingerprints, seed %" PRIu64, run_seed);
    for (uint32_t i = 0; i < FINGERPRINTS; i++) {
        const size_t ids = rng_between(&random, 1, MAX_IDS);
        put_new(&random, &maker, &records, ids, records.count);
        wanted += ids * (ids - 1) / 2;
    }
    check_repeated(&random, &records, 1, 1, wanted);
    record_set_free(&records);
    testing_done();
}

/* Consecutive fingerprints of three records each. Threads read parts of the store, which begin behind the last
 * fingerprint of a block: here with a fingerprint that there is. It must belong to one part alone. */
static void test_parts_that_begin_with_repeated_fingerprints(void **state)
{
    enum { FINGERPRINTS = 20000, IDS = 3 };
    rng random = rng_seeded(run_seed);
    record_set records = record_set_new(1);
    const uint64_t first = rng_next(&random) >> 1;
    testing_doing("consecutive fingerprints, seed %" PRIu64, run_seed);
    for (uint64_t id = 0; id < IDS; id++)
        for (uint64_t i = 0; i < FINGERPRINTS; i++) {
            const uint64_t fingerprint = first + i;
            record_set_put(&records, &fingerprint, id);
        }
    for (uint64_t segments = 1; segments <= IDS; segments++) /* of three, each has every fingerprint */
        check_repeated(&random, &records, 0, segments, (size_t)FINGERPRINTS * IDS * (IDS - 1) / 2);
    record_set_free(&records);
    testing_done();
}

/* ----- calls that fail, or are stopped ----- */

static int stop_pair(void *context, const sstore_pair *pair)
{
    (void)pair;
    ++*(size_t *)context;
    return 1;
}

static int stop_member(void *context, const cluster_record *record)
{
    (void)record;
    ++*(size_t *)context;
    return 1;
}

/* Stops at the report that is due; notes the phases. */
typedef struct stopper {
    uint64_t due, count;
    double fraction;
    bool compared, reported, backwards;
} stopper;

static int stop_at(void *context, const sstore_progress *progress)
{
    stopper *self = context;
    self->compared |= strcmp(progress->phase, "comparing") == 0;
    self->reported |= strcmp(progress->phase, "reporting") == 0;
    self->backwards |= progress->fraction < self->fraction || progress->fraction > 1 ||
                       progress->done > progress->total;
    self->fraction = progress->fraction;
    return self->count++ == self->due;
}

static void check_progress(rng *random, const subject *self)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    sstore_cluster_options how = SSTORE_CLUSTER_OPTIONS_INIT;
    stopper at = {.due = UINT64_MAX}, in_clusters = {.due = UINT64_MAX};
    sstore_error error;
    options.threads = how.threads = 1; /* with more, the number of reports differs from call to call */
    options.on_progress = how.on_progress = stop_at;
    options.progress_context = &at;
    how.progress_context = &in_clusters;
    assert_ok(walk_pairs(self->store, NULL, &options, store_ignore_pair, NULL, &error), &error);
    assert_true(at.compared && !at.backwards && at.fraction == 1);
    assert_ok(walk_clusters(self->store, &how, store_ignore_clustered, NULL, &error), &error);
    assert_true(in_clusters.compared && in_clusters.reported && !in_clusters.backwards);
    for (uint32_t i = 0; i < 10; i++) {
        at = (stopper){.due = rng_below(random, at.count > 0 ? at.count : 1)};
        assert_int_equal(walk_pairs(self->store, NULL, &options, store_ignore_pair, NULL, &error), SSTORE_STOPPED);
        in_clusters = (stopper){.due = rng_below(random, in_clusters.count > 0 ? in_clusters.count : 1)};
        assert_int_equal(walk_clusters(self->store, &how, store_ignore_clustered, NULL, &error), SSTORE_STOPPED);
    }
}

static void test_stopped(void **state)
{
    rng random = rng_seeded(run_seed + 3000);
    const fingerprint_form maker = {.words = rng_one_in(&random, 2) ? 1 : 3, .distance = 12};
    size_t count = 0;
    sstore_error error;
    testing_doing("stopped joins of %u words, seed %" PRIu64, maker.words, run_seed);
    record_set records = make_dense(&random, &maker, true);
    subject self = new_subject(&random, "stopped.store", &maker);
    write_in_steps(&random, &self, &records);
    assert_int_equal(walk_pairs(self.store, NULL, NULL, stop_pair, &count, &error), SSTORE_STOPPED);
    assert_int_equal(walk_clusters(self.store, NULL, stop_member, &count, &error), SSTORE_STOPPED);
    assert_int_equal(count, 2);
    check_progress(&random, &self);
    record_set_free(&records);
    close_subject(&self);
    testing_done();
}

static void test_arguments(void **state)
{
    rng random = rng_seeded(run_seed + 4000);
    const fingerprint_form two = {.words = 2, .distance = 5}, three = {.words = 3, .distance = 5};
    record_set none = record_set_new(2);
    sstore_iterator *pairs;
    sstore_iterator *clusters;
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    sstore_cluster_options how = SSTORE_CLUSTER_OPTIONS_INIT;
    sstore_error error;
    subject left = new_subject(&random, "two.store", &two), right = new_subject(&random, "three.store", &three);
    write_in_steps(&random, &left, &none);
    write_in_steps(&random, &right, &none);
    assert_status(sstore_iterate_pairs(left.store, right.store, NULL, &pairs, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_non_null(strstr(error.message, "128"));
    assert_non_null(strstr(error.message, "192"));
    options.distance = how.distance = 16 * 2 + 1;
    assert_status(walk_pairs(left.store, NULL, &options, store_ignore_pair, NULL, &error), SSTORE_ERROR_ARGUMENT,
                  &error);
    assert_status(sstore_iterate_clusters(left.store, &how, &clusters, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_ok(walk_pairs(right.store, NULL, &options, store_ignore_pair, NULL, &error), &error);
    assert_ok(walk_clusters(right.store, &how, store_ignore_clustered, NULL, &error), &error);
    record_set_free(&none);
    close_subject(&left);
    close_subject(&right);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_any_stores, testing_teardown),
        cmocka_unit_test_teardown(test_dense_clusters, testing_teardown),
        cmocka_unit_test_teardown(test_large_clusters, testing_teardown),
        cmocka_unit_test_teardown(test_clusters_larger_than_a_piece, testing_teardown),
        cmocka_unit_test_teardown(test_many_ids, testing_teardown),
        cmocka_unit_test_teardown(test_repeated_fingerprints, testing_teardown),
        cmocka_unit_test_teardown(test_parts_that_begin_with_repeated_fingerprints, testing_teardown),
        cmocka_unit_test_teardown(test_stopped, testing_teardown),
        cmocka_unit_test_teardown(test_arguments, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
