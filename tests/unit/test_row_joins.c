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
#include "join/row_array.h"
#include "join/row_compare.h"
#include "join/row_edges.h"
#include "join/row_iterator.h"
#include "join/row_pairs.h"
#include "sstore_join.h"
#include "support/row_set.h"
#include "support/scratch.h"
#include "support/testing.h"

#define MAX_WORDS 4u

/* ----- stores ----- */

typedef struct subject {
    rng random;
    wide_form maker;
    row_set truth;
    sstore *store;
} subject;

/* Build the records, or add them to the store. */
static void write_rows(const subject *to, const row_set *rows, const char *path, bool adds)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    record_set given = row_set_columns(rows, to->maker.words);
    options.fingerprint_bits = 64 * to->maker.words;
    options.distance = to->maker.distance;
    options.block_bytes = 512;
    options.replace = true;
    assert_ok(adds ? sstore_builder_create_addition(path, &change_apart, &builder, &error)
                   : sstore_builder_create(path, &options, &builder, &error),
              &error);
    assert_ok(sstore_builder_add(builder, given.fingerprints, given.ids, rows->count, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    record_set_free(&given);
}

/* Whether a record is among the first `count` ones. */
static bool has_row(const row *rows, size_t count, const row *record)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found |= rows_compare(&rows[i], record) == 0;
    return found;
}

/* Write the records in one segment or in several, and remove some. The truth is what is left. */
static void open_store(subject *self, row_set *rows)
{
    const char *path = scratch_path("rows.store");
    const uint64_t steps = rng_between(&self->random, 1, 3);
    sstore_error error;
    for (uint64_t i = 0; i < steps; i++) {
        const size_t begin = rows->count * i / steps, end = rows->count * (i + 1) / steps;
        const row_set part = {.count = end - begin, .rows = rows->rows + begin};
        write_rows(self, &part, path, i > 0);
    }
    const size_t removed = steps > 1 ? rows->count / 10 : 0;
    if (removed > 0) {
        sstore_remover *remover;
        const row_set first = {.count = removed, .rows = rows->rows};
        record_set given = row_set_columns(&first, self->maker.words);
        assert_ok(sstore_remover_create(path, &change_apart, &remover, &error), &error);
        assert_ok(sstore_remover_remove(remover, given.fingerprints, given.ids, removed, &error), &error);
        assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
        record_set_free(&given);
    }
    for (size_t i = removed; i < rows->count; i++)
        if (!has_row(rows->rows, removed, &rows->rows[i]))
            row_set_put(&self->truth, &rows->rows[i]);
    row_set_sort(&self->truth);
    assert_ok(sstore_open(path, NULL, &self->store, &error), &error);
}

static subject new_subject(uint64_t seed)
{
    subject made = {.random = rng_seeded(seed)};
    made.maker = wide_form_with(&made.random, (uint32_t)rng_between(&made.random, 2, MAX_WORDS), 18);
    return made;
}

static void close_subject(subject *self)
{
    sstore_close(self->store);
    free(self->truth.rows);
}

static void shuffle(rng *random, row_set *rows)
{
    for (size_t i = rows->count; i > 1; i--) {
        const size_t other = rng_below(random, i);
        const row moved = rows->rows[other];
        rows->rows[other] = rows->rows[i - 1];
        rows->rows[i - 1] = moved;
    }
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
static void make_many_ids(subject *self, row_set *rows)
{
    const row_set none = {.count = 0};
    const row centre = row_make(&self->random, &self->maker, &none);
    row added = centre;
    for (uint64_t id = rng_between(&self->random, 300, testing_slow() ? 900 : 2600); id > 0; id--) {
        added.id = 3 * id;
        row_set_put(rows, &added);
    }
    for (uint32_t i = 0; i < 60; i++) {
        added = centre;
        row_flip(&self->random, &self->maker, &added, self->maker.distance + 4);
        added.id = rng_below(&self->random, 5000);
        row_set_put(rows, &added);
    }
}

/* Compare the next pairs: those of left records begin .. end - 1, of one fingerprint, with record `right`. */
static size_t check_pairs(const subject *self, ss_row_pairs *pairs, size_t begin, size_t end, size_t right)
{
    const row *rows = self->truth.rows;
    const uint32_t words = self->maker.words, distance = row_distance(rows[begin].words, rows[right].words);
    if (distance > self->maker.distance)
        return 0;
    for (size_t i = begin; i < end && i < right; i++) {
        sstore_pair pair;
        sstore_error error;
        bool more;
        assert_ok(ss_row_pairs_next(pairs, &pair, &more, &error), &error);
        assert_true(more);
        assert_true(ss_words_equal(pair.words, rows[i].words, words) &&
                    ss_words_equal(pair.other_words, rows[right].words, words));
        assert_true(pair.id == rows[i].id && pair.other_id == rows[right].id && pair.distance == distance);
    }
    return end < right ? end - begin : right > begin ? right - begin : 0;
}

/* Returns how many there are. */
static size_t check_all_pairs(const subject *self, ss_row_pairs *pairs)
{
    const row_set *truth = &self->truth;
    sstore_pair pair;
    sstore_error error;
    size_t count = 0;
    bool more;
    for (size_t begin = 0, end; begin < truth->count; begin = end) {
        for (end = begin + 1;
             end < truth->count && row_words_compare(truth->rows[begin].words, truth->rows[end].words) == 0;)
            end++;
        for (size_t right = begin; right < truth->count; right++)
            count += check_pairs(self, pairs, begin, end, right);
    }
    assert_ok(ss_row_pairs_next(pairs, &pair, &more, &error), &error);
    assert_false(more);
    return count;
}

static void test_pairs(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < (testing_slow() ? 3 : 10); i++) {
        subject self = new_subject(run_seed + i);
        row_set rows = {.count = 0};
        ss_join_call call;
        ss_row_pairs *pairs;
        sstore_error error;
        testing_doing("pairs, case of seed %" PRIu64, run_seed + i);
        make_many_ids(&self, &rows);
        shuffle(&self.random, &rows);
        open_store(&self, &rows);
        begin_call(&call, &self, (uint32_t)rng_between(&self.random, 1, 2));
        assert_ok(ss_row_pairs_create(&call, &pairs, &error), &error);
        (void)check_all_pairs(&self, pairs);
        ss_row_pairs_free(pairs);
        ss_dir_close(&call.tmp_dir);
        free(rows.rows);
        close_subject(&self);
    }
    testing_done();
}

/* ----- the array of fingerprints ----- */

/* Compare an array with the distinct fingerprints of the truth. */
static void check_array(subject *self, const ss_row_array *array)
{
    const row_set *truth = &self->truth;
    const uint32_t words = self->maker.words;
    uint64_t *buffer = test_malloc((truth->count + 1) * words * sizeof *buffer), count = 0;
    const uint64_t *rows;
    sstore_error error;
    for (size_t i = 0; i < truth->count; i++) {
        if (i > 0 && row_words_compare(truth->rows[i].words, truth->rows[i - 1].words) == 0)
            continue;
        ss_row_array_prefetch(array, count);
        assert_ok(ss_row_array_get(array, count++, 1, buffer, &rows, &error), &error);
        assert_true(ss_words_equal(rows, truth->rows[i].words, words));
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
        row_set rows = {.count = 0};
        ss_join_call call;
        ss_row_array array;
        sstore_error error;
        testing_doing("arrays, case of seed %" PRIu64, run_seed + 400 + i);
        for (uint64_t count = rng_between(&self.random, 1, i < 2 ? 10000 : 500); count > 0; count--) {
            row added = row_make(&self.random, &self.maker, &rows);
            added.id = rng_below(&self.random, 5);
            row_set_put(&rows, &added);
        }
        open_store(&self, &rows);
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
        free(rows.rows);
        close_subject(&self);
    }
    testing_done();
}

/* ----- components ----- */

static size_t find_root(size_t *parents, size_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

/* Some near, very near, and not so near a centre; others anywhere. */
static void make_clusters(subject *self, row_set *rows, size_t max)
{
    const row_set none = {.count = 0};
    const uint32_t distance = self->maker.distance;
    while (rows->count < max) {
        const row centre = row_make(&self->random, &self->maker, &none);
        const uint32_t flips[] = {2, distance / 2, distance, 2 * distance};
        for (uint64_t count = rng_below(&self->random, max / 2), i = 0; i < count; i++) {
            row added = centre;
            row_flip(&self->random, &self->maker, &added, flips[rng_below(&self->random, 4)]);
            added.id = rows->count;
            row_set_put(rows, &added);
        }
    }
}

/* Compare the components with those of the truth. A fingerprint that has none is one of its own. */
static void check_components(const subject *self, ss_components *components)
{
    const row_set *truth = &self->truth;
    size_t *parents = test_malloc((truth->count + 1) * sizeof *parents);
    uint64_t *numbers = test_malloc((truth->count + 1) * sizeof *numbers);
    sstore_error error;
    ss_record node = {0, 0};
    ss_row_iterator iterator;
    bool more_nodes;
    for (size_t i = 0; i < truth->count; i++)
        parents[i] = i;
    for (size_t i = 0; i < truth->count; i++)
        for (size_t j = i + 1; j < truth->count; j++)
            if (row_distance(truth->rows[i].words, truth->rows[j].words) <= self->maker.distance) {
                const size_t a = find_root(parents, i), b = find_root(parents, j);
                parents[a > b ? a : b] = a < b ? a : b;
            }
    assert_ok(ss_row_iterator_open(&iterator, self->store, true, &error), &error);
    assert_ok(ss_components_next(components, &node, &more_nodes, &error), &error);
    for (size_t i = 0; i < truth->count; i++) {
        uint64_t fingerprint[SSTORE_MAX_WORDS];
        numbers[i] = iterator.number;
        assert_true(i == 0 || numbers[i] > numbers[i - 1] ||
                    row_words_compare(truth->rows[i].words, truth->rows[i - 1].words) == 0);
        while (more_nodes && node.fingerprint < numbers[i])
            assert_ok(ss_components_next(components, &node, &more_nodes, &error), &error);
        const uint64_t root = more_nodes && node.fingerprint == numbers[i] ? node.id : numbers[i];
        assert_int_equal(root, numbers[find_root(parents, i)]);
        ss_words_copy(fingerprint, ss_row_iterator_fingerprint(&iterator), self->maker.words);
        assert_ok(ss_row_iterator_next(&iterator, fingerprint, &error), &error);
    }
    assert_false(iterator.more);
    ss_row_iterator_close(&iterator);
    test_free(parents);
    test_free(numbers);
}

static void test_components(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < (testing_slow() ? 3 : 10); i++) {
        subject self = new_subject(run_seed + 100 + i);
        row_set rows = {.count = 0};
        ss_join_call call;
        ss_components *components;
        sstore_error error;
        const uint64_t bytes = rng_one_in(&self.random, 2) ? 0 : (uint64_t)1 << rng_between(&self.random, 12, 22);
        const uint32_t threads = (uint32_t)rng_between(&self.random, 1, 3);
        testing_doing("components, case of seed %" PRIu64, run_seed + 100 + i);
        /* Of many near ones that it cannot remember, each pair is read from the file. */
        make_clusters(&self, &rows, testing_slow() || bytes < 1 << 16 ? 1000 : 5000);
        shuffle(&self.random, &rows);
        open_store(&self, &rows);
        begin_call(&call, &self, threads);
        assert_ok(ss_components_create(threads, 1 << 20, &call.tmp_dir, &components, &error), &error);
        assert_ok(ss_row_edges_find(&call, components, bytes, 0.5, &error), &error);
        assert_ok(ss_components_finish(components, &call.progress, 1, &error), &error);
        check_components(&self, components);
        ss_components_free(components);
        ss_dir_close(&call.tmp_dir);
        free(rows.rows);
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
    size_t *parents = test_malloc(CROWD * sizeof *parents);
    sstore_error error;
    ss_record node;
    bool more;
    for (size_t i = 0; i < CROWD; i++)
        parents[i] = i;
    for (size_t i = 0; i < CROWD; i++) {
        const size_t a = find_root(parents, i), b = find_root(parents, made->near[i]);
        parents[a > b ? a : b] = a < b ? a : b;
    }
    assert_ok(ss_components_next(components, &node, &more, &error), &error);
    for (size_t i = 0; i < CROWD; i++) {
        const bool is_node = more && node.fingerprint == i;
        assert_int_equal(is_node ? node.id : i, find_root(parents, i));
        if (is_node)
            assert_ok(ss_components_next(components, &node, &more, &error), &error);
    }
    assert_false(more);
    test_free(parents);
}

/* Compare the runs of a part, of which one has more words than a slice and a tile, or the keys differ. */
static void compare_crowd(const subject *self, crowd *made, const ss_row_part *part)
{
    const ss_row_array rows = {.words = CROWD_WORDS, .count = CROWD, .rows = made->rows};
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
    assert_ok(ss_row_sorter_open(&sorter, &rows, &call, 1 << 22, &error), &error);
    assert_ok(ss_row_runs_open(&runs, CROWD + sorter.piece_capacity, KEY_BITS, &error), &error);
    ss_row_comparison comparison = {.call = &call,
                                    .rows = &rows,
                                    .components = components,
                                    .filter = &filter,
                                    .part = part,
                                    .radius = CROWD_DISTANCE};
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
    const ss_row_part parts[] = {{.bits = 0}, {.bits = KEY_BITS, .radius = 2}};
    row_set rows = {.count = 0};
    subject self = new_subject(run_seed + 500);
    crowd *made = test_malloc(sizeof *made);
    (void)state;
    open_store(&self, &rows);
    for (uint64_t i = 0; i < (testing_slow() ? 8 : 32); i++) {
        testing_doing("runs, case %" PRIu64 " of seed %" PRIu64, i, run_seed);
        make_crowd(&self.random, made);
        compare_crowd(&self, made, &parts[i % 4 == 0]);
    }
    test_free(made);
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

/* Compare all pairs of a store with those that comparing every two records finds. Returns the blocks read, less
 * those that the records of the pairs take. */
static uint64_t join_badly(subject *self, const row_set *rows, uint32_t threads)
{
    ss_join_call call;
    ss_row_pairs *pairs;
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    sstore_error error;
    write_rows(self, rows, scratch_path("badly.store"), false);
    assert_ok(sstore_open(scratch_path("badly.store"), NULL, &self->store, &error), &error);
    options.distance = self->maker.distance;
    options.threads = threads;
    if (rng_one_in(&self->random, 2))
        options.memory_bytes = UINT64_C(8) << 20;
    assert_ok(ss_join_call_begin(&call, self->store, self->store, &options, &error), &error);
    assert_ok(ss_row_pairs_create(&call, &pairs, &error), &error);
    const size_t count = check_all_pairs(self, pairs);
    ss_row_pairs_free(pairs);
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
        row_set rows = {.count = 0};
        self.maker = (wide_form){.words = (uint32_t)rng_between(&self.random, 4, 5), .distance = distances[i % 4]};
        testing_doing("badly told apart, kind %d, distance %u, case of seed %" PRIu64, (int)kind, self.maker.distance,
                      run_seed + 300 + i);
        for (size_t j = 0; j < count; j++) {
            row added = {.id = j};
            for (uint32_t word = 0; word < self.maker.words; word++)
                added.words[word] = badly_word(&self.random, kind, word);
            row_set_put(&rows, &added);
            row_set_put(&self.truth, &added);
        }
        row_set_sort(&self.truth);
        const uint64_t blocks = join_badly(&self, &rows, (uint32_t)rng_between(&self.random, 1, 2));
        assert_in_range(blocks, 0, 24 * count);
        free(rows.rows);
        close_subject(&self);
    }
    testing_done();
}

/* ----- seeks ----- */

/* A seek leads to the first record that is not below a fingerprint. */
static void test_seeks(void **state)
{
    subject self = new_subject(run_seed + 200);
    row_set rows = {.count = 0};
    ss_merge_iterator records;
    sstore_error error;
    (void)state;
    testing_doing("seeks, seed %" PRIu64, run_seed);
    for (uint32_t i = 0; i < 2000; i++) {
        row added = row_make(&self.random, &self.maker, &rows);
        added.id = rng_below(&self.random, 5000);
        row_set_put(&rows, &added);
    }
    open_store(&self, &rows);
    ss_merge_iterator_init(&records, self.maker.words, true);
    assert_ok(ss_merge_iterator_add(&records, self.store, 0, self.store->manifest.segment_count, &error), &error);
    for (uint32_t i = 0; i < 1000; i++) {
        row target = row_make(&self.random, &self.maker, &rows);
        if (rng_one_in(&self.random, 50))
            memset(target.words, rng_one_in(&self.random, 2) ? 0 : 0xff, self.maker.words * sizeof *target.words);
        target.id = 0;
        size_t at = 0;
        while (at < self.truth.count && row_words_compare(self.truth.rows[at].words, target.words) < 0)
            at++;
        assert_ok(ss_merge_iterator_seek(&records, target.words, &error), &error);
        for (uint64_t steps = rng_below(&self.random, 40); steps > 0; steps--, at++) {
            ss_record record;
            bool more;
            assert_ok(ss_merge_iterator_next(&records, &record, &more, &error), &error);
            assert_int_equal(more, at < self.truth.count);
            if (!more)
                break;
            assert_true(ss_words_equal(records.last, self.truth.rows[at].words, self.maker.words));
            assert_int_equal(record.id, self.truth.rows[at].id);
        }
    }
    ss_merge_iterator_close(&records);
    free(rows.rows);
    close_subject(&self);
    testing_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_pairs, testing_teardown),
        cmocka_unit_test_teardown(test_arrays, testing_teardown),
        cmocka_unit_test_teardown(test_components, testing_teardown),
        cmocka_unit_test_teardown(test_runs, testing_teardown),
        cmocka_unit_test_teardown(test_badly_told_apart, testing_teardown),
        cmocka_unit_test_teardown(test_seeks, testing_teardown),
    };
    rng_start_run();
    return cmocka_run_group_tests_name("row_joins", tests, NULL, NULL);
}
