/*
 * test_row_joins.c - joins of fingerprints of several words with less memory than a call allows: then fingerprints have
 * more ids, and more near ones, than fit, and what is known about the graph of near ones is forgotten. Pairs and
 * components must equal comparing every pair of records. Also arrays of fingerprints, runs of a part, seeks, and the
 * work of joins of words that tell badly apart.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "join/components.h"
#include "join/record_reader.h"
#include "join/row_array.h"
#include "join/row_compare.h"
#include "join/row_join.h"
#include "join/row_pairs.h"
#include "join/row_queries.h"
#include "sstore_join.h"
#include "support/record_pairs.h"
#include "support/scratch.h"
#include "support/testing.h"

#define MAX_WORDS 4u

/* ----- stores ----- */

typedef struct subject {
    rng random;
    fingerprint_form maker;
    record_set truth;
    sstore *store;
} subject;

/* Build the records, or add them to the store. */
static void write_records(const subject *to, const record_set *records, const char *path, bool adds)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    options.fingerprint_bits = 64 * to->maker.words;
    options.distance = to->maker.distance;
    options.block_bytes = 512;
    options.force = true;
    assert_ok(adds ? sstore_builder_create_addition(path, &change_apart, &builder, &error)
                   : sstore_builder_create(path, &options, &builder, &error),
              &error);
    assert_ok(sstore_builder_add(builder, records->fingerprints, records->ids, records->count, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

static void remove_records(const record_set *records, const char *path)
{
    sstore_remover *remover;
    sstore_error error;
    assert_ok(sstore_remover_create(path, &change_apart, &remover, &error), &error);
    assert_ok(sstore_remover_remove(remover, records->fingerprints, records->ids, records->count, &error), &error);
    assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
}

/* Write the records in one segment or in several, and remove some. The truth is what is left. */
static void open_store(subject *self, const record_set *records)
{
    const char *path = scratch_path("rows.store");
    const uint64_t steps = rng_between(&self->random, 1, 3);
    sstore_error error;
    for (uint64_t i = 0; i < steps; i++) {
        const record_set part = record_set_part(records, records->count * i / steps, records->count * (i + 1) / steps);
        write_records(self, &part, path, i > 0);
    }
    record_set removed = record_set_new(self->maker.words);
    record_set_append(&removed, records, 0, steps > 1 ? records->count / 10 : 0);
    if (removed.count > 0)
        remove_records(&removed, path);
    record_set_sort(&removed);
    for (size_t i = removed.count; i < records->count; i++)
        if (!record_set_has(&removed, record_set_at(records, i), records->ids[i]))
            record_set_append(&self->truth, records, i, i + 1);
    record_set_free(&removed);
    record_set_sort(&self->truth);
    record_set_unique(&self->truth);
    assert_ok(sstore_open(path, NULL, &self->store, &error), &error);
}

static subject new_subject(uint64_t seed)
{
    subject made = {.random = rng_seeded(seed)};
    made.maker = form_with(&made.random, (uint32_t)rng_between(&made.random, 2, MAX_WORDS), 18);
    made.truth = record_set_new(made.maker.words);
    return made;
}

static void close_subject(subject *self)
{
    sstore_close(self->store);
    record_set_free(&self->truth);
}

static void begin_call(ss_join_call *call, const subject *self, uint32_t threads)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    sstore_error error;
    options.distance = self->maker.distance;
    options.threads = threads;
    options.tmp_dir = scratch_folder();
    assert_ok(ss_join_call_begin(call, self->store, self->store, &options, &error), &error);
    call->join_bytes = call->stage_bytes = 0;
}

/* ----- pairs ----- */

/* A fingerprint with very many ids, and some near it with a few. */
static record_set make_many_ids(subject *self)
{
    record_set made = record_set_new(self->maker.words);
    uint64_t centre[SSTORE_MAX_WORDS], added[SSTORE_MAX_WORDS];
    fingerprint_make(&self->random, &self->maker, NULL, 0, centre);
    for (uint64_t id = rng_between(&self->random, 300, testing_slow() ? 900 : 2600); id > 0; id--)
        record_set_put(&made, centre, 3 * id);
    for (uint32_t i = 0; i < 60; i++) {
        ss_words_copy(added, centre, self->maker.words);
        fingerprint_flip(&self->random, self->maker.words, added, self->maker.distance + 4);
        record_set_put(&made, added, rng_below(&self->random, 5000));
    }
    record_set_shuffle(&self->random, &made);
    return made;
}

/* One of them finds the pairs: those of a store with itself, or of two. */
typedef struct pair_source {
    ss_row_pairs *own;
    ss_row_queries *between;
} pair_source;

static sstore_status next_pair(const pair_source *self, const sstore_columns *columns, bool *more_out,
                               sstore_error *error)
{
    return self->own != NULL ? ss_row_pairs_next(self->own, columns, 0, more_out, error)
                             : ss_row_queries_next(self->between, columns, 0, more_out, error);
}

/* Compare all pairs with those of the truth. Returns how many there are. */
static size_t check_all_pairs(const subject *self, const pair_source *pairs)
{
    const record_set copy = self->truth;
    const record_pairs wanted = record_set_pairs(&self->truth, pairs->own != NULL ? &self->truth : &copy,
                                                 self->maker.distance, SIZE_MAX - 1);
    uint64_t fingerprint[SSTORE_MAX_WORDS], other[SSTORE_MAX_WORDS];
    sstore_pair pair = {.fingerprint = fingerprint, .other_fingerprint = other};
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = fingerprint,
                                    .id = &pair.id,
                                    .distance = &pair.distance,
                                    .other_fingerprint = other,
                                    .other_id = &pair.other_id};
    sstore_error error;
    bool more = true;
    for (size_t i = 0; i <= wanted.count; i++) {
        assert_ok(next_pair(pairs, &columns, &more, &error), &error);
        assert_int_equal(more, i < wanted.count);
        if (more)
            assert_same_pair(&pair, &wanted.items[i], self->maker.words, i);
    }
    free(wanted.items);
    return wanted.count;
}

/* The store with itself, and with another handle of it. */
static void test_pairs(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < (testing_slow() ? 4 : 8); i++) {
        subject self = new_subject(run_seed + i);
        ss_join_call call;
        pair_source pairs = {NULL, NULL};
        sstore *other;
        sstore_error error;
        testing_doing("pairs, case of seed %" PRIu64, run_seed + i);
        record_set records = make_many_ids(&self);
        open_store(&self, &records);
        assert_ok(sstore_open(scratch_path("rows.store"), NULL, &other, &error), &error);
        begin_call(&call, &self, (uint32_t)rng_between(&self.random, 1, 2));
        if (i % 2 == 0)
            assert_ok(ss_row_pairs_create(&call, &pairs.own, &error), &error);
        call.right = i % 2 == 0 ? call.right : other;
        if (i % 2 != 0)
            assert_ok(ss_row_queries_create(&call, &pairs.between, &error), &error);
        (void)check_all_pairs(&self, &pairs);
        ss_row_pairs_free(pairs.own);
        ss_row_queries_free(pairs.between);
        sstore_close(other);
        ss_dir_close(&call.tmp_dir);
        record_set_free(&records);
        close_subject(&self);
    }
    testing_done();
}

/* ----- the array of fingerprints ----- */

/* Put records with ids below `max_id`. */
static void put_any(subject *self, record_set *records, size_t count, uint64_t max_id)
{
    uint64_t added[SSTORE_MAX_WORDS];
    for (size_t i = 0; i < count; i++) {
        fingerprint_make(&self->random, &self->maker, records->fingerprints, records->count, added);
        record_set_put(records, added, rng_below(&self->random, max_id));
    }
}

/* Compare an array with the distinct fingerprints of the truth. */
static void check_array(subject *self, const ss_row_array *array)
{
    const record_set *truth = &self->truth;
    const uint32_t words = self->maker.words;
    uint64_t *buffer = test_malloc((truth->count + 1) * words * sizeof *buffer), count = 0;
    const uint64_t *rows;
    sstore_error error;
    for (size_t i = 0; i < truth->count; i++) {
        if (i > 0 && record_set_alike(truth, i, i - 1))
            continue;
        assert_ok(ss_row_array_get(array, count++, 1, buffer, &rows, &error), &error);
        assert_true(ss_words_equal(rows, record_set_at(truth, i), words));
    }
    assert_int_equal(array->count, count);
    const uint64_t first = rng_below(&self->random, count);
    assert_ok(ss_row_array_get(array, first, (size_t)(count - first), buffer, &rows, &error), &error);
    for (uint64_t i = first + 1; i < count; i++)
        assert_true(ss_words_compare(rows + (i - first - 1) * words, rows + (i - first) * words, words) < 0);
    test_free(buffer);
}

/* In memory and in a file. */
static void test_arrays(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 6; i++) {
        subject self = new_subject(run_seed + 400 + i);
        record_set records = record_set_new(self.maker.words);
        ss_join_call call;
        ss_row_array array;
        sstore_error error;
        testing_doing("arrays, case of seed %" PRIu64, run_seed + 400 + i);
        put_any(&self, &records, rng_between(&self.random, 1, i < 2 ? 10000 : 500), 5);
        open_store(&self, &records);
        begin_call(&call, &self, 1);
        for (uint64_t bytes = 0; bytes < 2; bytes++) {
            assert_ok(ss_row_array_open(&array, &call, bytes * UINT64_MAX, &error), &error);
            assert_int_equal(array.rows != NULL, bytes > 0);
            assert_in_range(array.count, 0, ss_row_array_max_count(self.store));
            if (array.count > 0)
                check_array(&self, &array);
            ss_row_array_close(&array);
        }
        ss_dir_close(&call.tmp_dir);
        record_set_free(&records);
        close_subject(&self);
    }
    testing_done();
}

/* ----- components ----- */

/* Some near, very near, and not so near a centre; others anywhere. */
static record_set make_clusters(subject *self, size_t max)
{
    record_set made = record_set_new(self->maker.words);
    const uint32_t distance = self->maker.distance, flips[] = {2, distance / 2, distance, 2 * distance};
    uint64_t centre[SSTORE_MAX_WORDS], added[SSTORE_MAX_WORDS];
    while (made.count < max) {
        fingerprint_make(&self->random, &self->maker, NULL, 0, centre);
        for (uint64_t count = rng_below(&self->random, max / 2), i = 0; i < count; i++) {
            ss_words_copy(added, centre, self->maker.words);
            fingerprint_flip(&self->random, self->maker.words, added, flips[rng_below(&self->random, 4)]);
            record_set_put(&made, added, made.count);
        }
    }
    record_set_shuffle(&self->random, &made);
    return made;
}

/* Compare the components with those of the truth. A fingerprint that has none is one of its own. */
static void check_components(const subject *self, ss_components *components)
{
    const record_set *truth = &self->truth;
    size_t *parents = record_set_components(truth, self->maker.distance);
    uint64_t *numbers = test_malloc((truth->count + 1) * sizeof *numbers);
    sstore_error error;
    ss_record node = {0, 0};
    ss_record_reader reader;
    bool more_nodes;
    assert_ok(ss_record_reader_open(&reader, self->store, true, NULL, &error), &error);
    assert_ok(ss_record_reader_first(&reader, &error), &error);
    assert_ok(ss_components_next(components, &node, &more_nodes, &error), &error);
    for (size_t i = 0; i < truth->count; i++) {
        uint64_t fingerprint[SSTORE_MAX_WORDS];
        numbers[i] = reader.number;
        assert_true(i == 0 || numbers[i] > numbers[i - 1] || record_set_alike(truth, i, i - 1));
        while (more_nodes && node.fingerprint < numbers[i])
            assert_ok(ss_components_next(components, &node, &more_nodes, &error), &error);
        const uint64_t root = more_nodes && node.fingerprint == numbers[i] ? node.id : numbers[i];
        assert_int_equal(root, numbers[components_root(parents, i)]);
        ss_words_copy(fingerprint, ss_record_reader_fingerprint(&reader), self->maker.words);
        assert_ok(ss_record_reader_next_number(&reader, fingerprint, &error), &error);
    }
    assert_false(reader.more);
    ss_record_reader_close(&reader);
    free(parents);
    test_free(numbers);
}

static sstore_status add_edges(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                               sstore_error *error)
{
    return ss_components_add(context, worker, pairs, count, error);
}

static void test_components(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < (testing_slow() ? 3 : 5); i++) {
        subject self = new_subject(run_seed + 100 + i);
        ss_join_call call;
        ss_components *components;
        sstore_error error;
        const uint64_t bytes = rng_one_in(&self.random, 2) ? 0 : (uint64_t)1 << rng_between(&self.random, 12, 22);
        const uint32_t threads = (uint32_t)rng_between(&self.random, 1, 3);
        testing_doing("components, case of seed %" PRIu64, run_seed + 100 + i);
        record_set records = make_clusters(&self, testing_slow() ? 1000 : 5000);
        open_store(&self, &records);
        begin_call(&call, &self, threads);
        assert_ok(ss_components_create(threads, 1 << 20, &call.tmp_dir, &components, &error), &error);
        assert_ok(ss_row_join(&call, SS_JOIN_SPANNING, bytes, 0.5, add_edges, components, &error), &error);
        assert_ok(ss_components_finish(components, &call.progress, 1, &error), &error);
        check_components(&self, components);
        ss_components_free(components);
        ss_dir_close(&call.tmp_dir);
        record_set_free(&records);
        close_subject(&self);
    }
    testing_done();
}

/* ----- all pairs of numbers ----- */

/* How often each pair of distinct fingerprints was found, by their numbers. */
typedef struct pair_counts {
    size_t count;
    uint8_t *found;
} pair_counts;

static sstore_status count_pairs(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                                 sstore_error *error)
{
    const pair_counts *self = context;
    (void)worker;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        assert_true(pairs[i].first < pairs[i].second && pairs[i].second < self->count);
        (void)__atomic_fetch_add(&self->found[pairs[i].first * self->count + pairs[i].second], 1, __ATOMIC_RELAXED);
    }
    return SSTORE_OK;
}

/* The distinct fingerprints of the truth, in order. */
static record_set distinct_of(const record_set *truth)
{
    record_set made = record_set_new(truth->words);
    for (size_t i = 0; i < truth->count; i++)
        if (i == 0 || !record_set_alike(truth, i, i - 1))
            record_set_append(&made, truth, i, i + 1);
    return made;
}

/* Each near pair is found once, however little memory there is. */
static void test_all_pairs_once(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < (testing_slow() ? 4 : 12); i++) {
        subject self = new_subject(run_seed + 600 + i);
        ss_join_call call;
        sstore_error error;
        const uint64_t bytes = rng_one_in(&self.random, 2) ? 0 : (uint64_t)1 << rng_between(&self.random, 12, 22);
        testing_doing("all pairs, case of seed %" PRIu64, run_seed + 600 + i);
        record_set records = make_clusters(&self, testing_slow() ? 400 : 1500);
        open_store(&self, &records);
        record_set distinct = distinct_of(&self.truth);
        pair_counts counts = {distinct.count, test_malloc(distinct.count * distinct.count + 1)};
        memset(counts.found, 0, distinct.count * distinct.count);
        begin_call(&call, &self, (uint32_t)rng_between(&self.random, 1, 3));
        assert_ok(ss_row_join(&call, SS_JOIN_SELF, bytes, 1, count_pairs, &counts, &error), &error);
        for (size_t a = 0; a < distinct.count; a++)
            for (size_t b = a + 1; b < distinct.count; b++) {
                const uint32_t distance = ss_words_distance(record_set_at(&distinct, a), record_set_at(&distinct, b),
                                                            self.maker.words);
                assert_int_equal(counts.found[a * distinct.count + b], distance <= self.maker.distance);
            }
        test_free(counts.found);
        ss_dir_close(&call.tmp_dir);
        record_set_free(&distinct);
        record_set_free(&records);
        close_subject(&self);
    }
    testing_done();
}

/* ----- runs of a part ----- */

#define CROWD 6000u
#define CROWD_DISTANCE 6u
#define CROWD_WORDS 2u
#define KEY_BITS 8u

/* Fingerprints, and of each the number of one that is near, or its own. */
typedef struct crowd {
    uint64_t rows[CROWD * CROWD_WORDS];
    size_t near[CROWD];
} crowd;

/* Copy a row with up to `flips` bits flipped, two of them in the key. */
static void flip_row(rng *random, const uint64_t *from, uint32_t flips, uint64_t *to)
{
    ss_words_copy(to, from, CROWD_WORDS);
    for (uint32_t i = 0; i < flips; i++) {
        const uint64_t bit = i < 2 ? rng_below(random, KEY_BITS) : rng_between(random, KEY_BITS, 127);
        to[bit / 64] ^= UINT64_C(1) << (63 - bit % 64);
    }
}

/* One in three is near a centre, one in three near one of these alone, and the others are pairs; in any order. */
static void make_crowd(rng *random, crowd *made)
{
    size_t *places = test_malloc(CROWD * sizeof *places);
    for (size_t i = 0; i < CROWD; i++) {
        const size_t other = rng_below(random, i + 1);
        places[i] = places[other];
        places[other] = i;
    }
    for (size_t i = 0; i < CROWD; i++) {
        const bool is_new = i % 6 == 0;
        const size_t near = places[is_new ? i : i % 3 == 1 ? 0 : i % 3 == 2 ? i - 1 : i - 3];
        uint64_t *to = made->rows + places[i] * CROWD_WORDS;
        made->near[places[i]] = near;
        if (is_new)
            to[0] = rng_next(random), to[1] = rng_next(random);
        else
            flip_row(random, made->rows + near * CROWD_WORDS, i % 3 == 1 ? 2 : CROWD_DISTANCE, to);
    }
    test_free(places);
}

/* Each is in the component of the one that is near, and the smallest number is its root. */
static void check_crowd(const crowd *made, ss_components *components)
{
    size_t *parents = components_new(CROWD);
    sstore_error error;
    ss_record node;
    bool more;
    for (size_t i = 0; i < CROWD; i++)
        components_unite(parents, i, made->near[i]);
    assert_ok(ss_components_next(components, &node, &more, &error), &error);
    for (size_t i = 0; i < CROWD; i++) {
        const bool is_node = more && node.fingerprint == i;
        assert_int_equal(is_node ? node.id : i, components_root(parents, i));
        if (is_node)
            assert_ok(ss_components_next(components, &node, &more, &error), &error);
    }
    assert_false(more);
    free(parents);
}

/* Compare the runs of a part, of which one has more words than a slice and a tile, or the keys differ. */
static void compare_crowd(const subject *self, crowd *made, const ss_row_part *part)
{
    ss_row_parts parts = {.radii = {CROWD_DISTANCE, CROWD_DISTANCE}, .count = 1, .parts = {*part}};
    const ss_row_array rows = {.words = CROWD_WORDS, .count = CROWD, .rows = made->rows};
    ss_placed_rows placed = {.words = CROWD_WORDS, .rows = made->rows};
    ss_join_call call;
    ss_components *components;
    ss_edge_filter filter;
    ss_row_sorter sorter = {.sorter = NULL};
    ss_row_runs runs = {.count = 0};
    sstore_error error;
    size_t piece = 0;
    begin_call(&call, self, 2);
    call.distance = CROWD_DISTANCE;
    assert_ok(ss_components_create(2, 1 << 20, &call.tmp_dir, &components, &error), &error);
    assert_ok(ss_edge_filter_open_dense(&filter, CROWD, &error), &error);
    assert_ok(ss_row_sorter_open(&sorter, &rows, &placed, &call, 1 << 22, &error), &error);
    assert_ok(ss_row_runs_open(&runs, CROWD + sorter.piece_capacity, KEY_BITS, &error), &error);
    ss_row_comparison comparison = {.call = &call,
                                    .placed = &placed,
                                    .parts = &parts,
                                    .filter = &filter,
                                    .on_pairs = add_edges,
                                    .context = components};
    assert_ok(ss_row_comparison_open(&comparison, &error), &error);
    assert_ok(ss_row_sorter_sort(&sorter, part, &error), &error);
    assert_ok(ss_row_sorter_load(&sorter, &piece, &runs, &error), &error);
    assert_int_equal(runs.count, CROWD);
    assert_ok(ss_row_comparison_run(&comparison, &runs, &runs, &error), &error);
    assert_ok(ss_row_comparison_flush(&comparison, &error), &error);
    assert_ok(ss_components_finish(components, &call.progress, 1, &error), &error);
    check_crowd(made, components);
    ss_row_comparison_close(&comparison);
    ss_row_runs_close(&runs);
    ss_row_sorter_close(&sorter);
    ss_edge_filter_close(&filter);
    ss_components_free(components);
    ss_dir_close(&call.tmp_dir);
}

static void test_runs(void **state)
{
    const ss_row_part parts[] = {{.bits = 0}, {.bits = KEY_BITS, .rho = 2}};
    subject self = new_subject(run_seed + 500);
    record_set records = record_set_new(self.maker.words);
    crowd *made = test_malloc(sizeof *made);
    (void)state;
    open_store(&self, &records);
    for (uint64_t i = 0; i < (testing_slow() ? 8 : 32); i++) {
        testing_doing("runs, case %" PRIu64 " of seed %" PRIu64, i, run_seed);
        make_crowd(&self.random, made);
        compare_crowd(&self, made, &parts[i % 4 == 0]);
    }
    test_free(made);
    record_set_free(&records);
    close_subject(&self);
    testing_done();
}

/* ----- words that tell badly apart ----- */

typedef enum badly { BADLY_ZERO, BADLY_SPARSE, BADLY_FEW, BADLY_CONSTANT, BADLY_COUNT } badly;

/* A word of a fingerprint that tells it badly apart from others. */
static uint64_t badly_word(rng *random, badly kind, uint32_t word)
{
    const uint64_t a = rng_next(random), b = rng_next(random);
    switch (kind) {
    case BADLY_ZERO: return word == 0 ? 12345 : rng_below(random, 10) < 4 ? 0 : a;
    case BADLY_SPARSE: /* 1 of 16 bits is 1 */ return a & b & rng_next(random) & rng_next(random);
    case BADLY_FEW: /* one of 100 values */ return rng_mix(rng_below(random, 100) + 1000 * word);
    default: return word == 1 ? a : rng_mix(word);
    }
}

/* Compare all pairs of a store with itself, or as another one, with those that comparing every two records finds.
 * Returns the blocks read, less those that the records of the pairs take. */
static uint64_t join_badly(subject *self, uint32_t threads, bool as_another)
{
    ss_join_call call;
    pair_source pairs = {NULL, NULL};
    sstore *other;
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    sstore_error error;
    write_records(self, &self->truth, scratch_path("badly.store"), false);
    record_set_sort(&self->truth);
    assert_ok(sstore_open(scratch_path("badly.store"), NULL, &self->store, &error), &error);
    options.distance = self->maker.distance;
    options.threads = threads;
    if (rng_one_in(&self->random, 2))
        options.memory_bytes = UINT64_C(8) << 20;
    assert_ok(sstore_open(scratch_path("badly.store"), NULL, &other, &error), &error);
    assert_ok(ss_join_call_begin(&call, self->store, as_another ? other : self->store, &options, &error), &error);
    assert_ok(as_another ? ss_row_queries_create(&call, &pairs.between, &error)
                         : ss_row_pairs_create(&call, &pairs.own, &error),
              &error);
    const size_t count = check_all_pairs(self, &pairs);
    ss_row_pairs_free(pairs.own);
    ss_row_queries_free(pairs.between);
    sstore_close(other);
    ss_dir_close(&call.tmp_dir);
    return call.block_count - ss_min_u64(call.block_count, 3 * count);
}

/* The work is bounded by comparing all, also at distance 0 and with little memory. */
static void test_badly_told_apart(void **state)
{
    const size_t count = testing_slow() ? 1000 : 2500;
    const uint32_t distances[] = {0, 5, 12, 16};
    (void)state;
    for (uint32_t i = 0; i < BADLY_COUNT * 4; i++) {
        const badly kind = (badly)(i / 4);
        subject self = {.random = rng_seeded(run_seed + 300 + i)};
        self.maker = (fingerprint_form){.words = (uint32_t)rng_between(&self.random, 4, 5),
                                        .distance = distances[i % 4]};
        testing_doing("badly told apart, kind %d, distance %u, case of seed %" PRIu64, (int)kind, self.maker.distance,
                      run_seed + 300 + i);
        self.truth = record_set_new(self.maker.words);
        for (size_t j = 0; j < count; j++) {
            uint64_t added[SSTORE_MAX_WORDS];
            for (uint32_t word = 0; word < self.maker.words; word++)
                added[word] = badly_word(&self.random, kind, word);
            record_set_put(&self.truth, added, j);
        }
        const uint64_t blocks = join_badly(&self, (uint32_t)rng_between(&self.random, 1, 2), true);
        assert_in_range(blocks, 0, 24 * count);
        sstore_close(self.store);
        (void)join_badly(&self, (uint32_t)rng_between(&self.random, 1, 2), false);
        close_subject(&self);
    }
    testing_done();
}

/* ----- seeks ----- */

/* A seek leads to the first record that is not below a fingerprint. */
static void test_seeks(void **state)
{
    subject self = new_subject(run_seed + 200);
    record_set records = record_set_new(self.maker.words);
    ss_merge_iterator iterator;
    sstore_error error;
    (void)state;
    testing_doing("seeks, seed %" PRIu64, run_seed);
    put_any(&self, &records, 2000, 5000);
    open_store(&self, &records);
    ss_merge_iterator_init(&iterator, self.maker.words, true);
    assert_ok(ss_merge_iterator_add(&iterator, self.store, 0, self.store->manifest.segment_count, &error), &error);
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t target[SSTORE_MAX_WORDS];
        size_t at = 0;
        fingerprint_make(&self.random, &self.maker, records.fingerprints, records.count, target);
        if (rng_one_in(&self.random, 50))
            memset(target, rng_one_in(&self.random, 2) ? 0 : 0xff, sizeof target);
        while (at < self.truth.count && ss_words_compare(record_set_at(&self.truth, at), target, self.maker.words) < 0)
            at++;
        assert_ok(ss_merge_iterator_seek(&iterator, target, &error), &error);
        for (uint64_t steps = rng_below(&self.random, 40); steps > 0; steps--, at++) {
            ss_record record;
            bool more;
            assert_ok(ss_merge_iterator_next(&iterator, &record, &more, &error), &error);
            assert_int_equal(more, at < self.truth.count);
            if (!more)
                break;
            assert_true(ss_words_equal(iterator.last, record_set_at(&self.truth, at), self.maker.words));
            assert_int_equal(record.id, self.truth.ids[at]);
        }
    }
    ss_merge_iterator_close(&iterator);
    record_set_free(&records);
    close_subject(&self);
    testing_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_pairs, testing_teardown),
        cmocka_unit_test_teardown(test_arrays, testing_teardown),
        cmocka_unit_test_teardown(test_components, testing_teardown),
        cmocka_unit_test_teardown(test_all_pairs_once, testing_teardown),
        cmocka_unit_test_teardown(test_runs, testing_teardown),
        cmocka_unit_test_teardown(test_badly_told_apart, testing_teardown),
        cmocka_unit_test_teardown(test_seeks, testing_teardown),
    };
    rng_start_run();
    return cmocka_run_group_tests_name("row_joins", tests, NULL, NULL);
}
