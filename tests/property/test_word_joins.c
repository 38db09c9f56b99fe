/*
 * test_word_joins.c - pairs, joins and clusters of stores of fingerprints of 64 to 1,024 bits must equal comparing
 * every pair of records: skewed and constant words, stores of one segment and of several with removals, little memory
 * and much, dense clusters, fingerprints with many ids. Iterators must give the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_join.h"
#include "support/row_set.h"
#include "support/scratch.h"
#include "support/testing.h"

#define CASES 6u
#define SLOW_CASES 3u
#define MAX_RECORDS 1200u
#define MAX_PAIRS ((size_t)1000000) /* a case with more is reduced */
#define PAGE 17u                    /* results that an iterator is asked for at once */

/* ----- stores ----- */

/* A store and its records. */
typedef struct subject {
    char path[256];
    row_maker maker;
    bool has_ids;
    uint32_t block_bytes;
    row_set truth;
    sstore *store;
} subject;

static subject new_subject(rng *random, const char *name, const row_maker *maker)
{
    subject made = {.maker = *maker, .has_ids = !rng_one_in(random, 3), .block_bytes = 256u << rng_below(random, 5)};
    snprintf(made.path, sizeof made.path, "%s/%s", scratch_folder(), name);
    return made;
}

/* Build a store of records, or add them to it. */
static void write_rows(rng *random, const subject *to, const row_set *rows, bool adds)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    row_columns given = row_columns_of(rows, to->maker.words);
    options.fingerprint_bits = 64 * to->maker.words;
    options.distance = to->maker.words == 1 && to->maker.distance > 4 ? 4 : to->maker.distance; /* plans take long */
    options.block_bytes = to->block_bytes;
    options.without_ids = !to->has_ids;
    options.replace = true;
    options.memory_bytes = UINT64_C(1) << 20;
    options.threads = (uint32_t)rng_between(random, 1, 2);
    assert_ok(adds ? sstore_builder_create_addition(to->path, &add_apart, &builder, &error)
                   : sstore_builder_create(to->path, &options, &builder, &error),
              &error);
    assert_ok(sstore_builder_add(builder, given.fingerprints, to->has_ids ? given.ids : NULL, rows->count, &error),
              &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
    row_columns_free(&given);
}

/* Remove some records, or fingerprints with all their ids. */
static void remove_rows(rng *random, const subject *from, const row_set *rows)
{
    sstore_remover *remover;
    sstore_error error;
    row_columns given = row_columns_of(rows, from->maker.words);
    assert_ok(sstore_remover_create(from->path, &remove_apart, &remover, &error), &error);
    assert_ok(from->has_ids && rng_one_in(random, 2)
                  ? sstore_remover_remove(remover, given.fingerprints, given.ids, rows->count, &error)
                  : sstore_remover_remove_fingerprints(remover, given.fingerprints, rows->count, &error),
              &error);
    assert_ok(sstore_remover_finish(remover, NULL, &error), &error);
    row_columns_free(&given);
}

/* Open the store, and read its records, which other tests check. */
static void open_subject(rng *random, subject *self)
{
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    sstore_record_iterator *iterator;
    sstore_error error;
    row read = {.id = 0};
    size_t count = 1;
    const sstore_record_columns to = {sizeof to, read.words, &read.id};
    options.io = (sstore_io)rng_below(random, 4);
    options.strategy = (sstore_strategy)rng_below(random, 3);
    assert_ok(sstore_open(self->path, &options, &self->store, &error), &error);
    assert_ok(sstore_record_iterator_create(self->store, &iterator, &error), &error);
    while (count > 0) {
        assert_ok(sstore_record_iterator_next(iterator, &to, 1, &count, &error), &error);
        if (count > 0)
            row_set_put(&self->truth, &read);
    }
    sstore_record_iterator_free(iterator);
}

static void close_subject(subject *self)
{
    sstore_close(self->store);
    free(self->truth.rows);
    scratch_remove(self->path);
}

/* Divide records among a build and additions, with removals between them, and open the store. */
static void write_in_steps(rng *random, subject *self, const row_set *rows)
{
    const uint64_t steps = rng_one_in(random, 2) ? 1 : rng_between(random, 2, 4);
    for (uint64_t i = 0; i < steps; i++) {
        const size_t begin = rows->count * i / steps, end = rows->count * (i + 1) / steps;
        const row_set part = {.count = end - begin, .rows = rows->rows + begin};
        row_set removed = {.count = 0};
        write_rows(random, self, &part, i > 0);
        if (steps == 1 || rng_one_in(random, 2))
            continue;
        for (size_t at = rng_below(random, 5); at < end; at += rng_between(random, 1, 9))
            row_set_put(&removed, &rows->rows[at]);
        remove_rows(random, self, &removed);
        free(removed.rows);
    }
    open_subject(random, self);
}

/* Build a store of any records; some are near those of the other set. */
static subject any_subject(rng *random, const char *name, const row_maker *maker, const row_set *other)
{
    subject made = new_subject(random, name, maker);
    row_set rows = {.count = 0};
    const size_t count = rng_below(random, rng_one_in(random, 3) ? 30 : MAX_RECORDS);
    for (size_t i = 0; i < count; i++) {
        row added = row_make(random, maker, other->count > 0 && rng_one_in(random, 3) ? other : &rows);
        added.id = made.has_ids ? rng_below(random, 2 * count) : 0;
        row_set_put(&rows, &added);
    }
    write_in_steps(random, &made, &rows);
    free(rows.rows);
    return made;
}

/* ----- pairs ----- */

/* The numbers of two records. */
typedef struct wanted_pair {
    size_t left, right;
} wanted_pair;

typedef struct pair_check {
    const row_set *left, *right;
    wanted_pair *wanted;
    size_t count, at; /* at: how many were compared */
} pair_check;

static void add_wanted(pair_check *to, size_t left, size_t right)
{
    if ((to->count & (to->count - 1)) == 0) {
        to->wanted = realloc(to->wanted, (2 * to->count + 1) * sizeof *to->wanted);
        assert_non_null(to->wanted);
    }
    to->wanted[to->count++] = (wanted_pair){left, right};
}

/* All pairs in the order in which they are reported, at most MAX_PAIRS. */
static pair_check all_pairs(const row_set *left, const row_set *right, uint32_t distance)
{
    pair_check made = {.left = left, .right = right};
    for (size_t begin = 0, end; begin < left->count && made.count <= MAX_PAIRS; begin = end) {
        const row *first = &left->rows[begin];
        for (end = begin + 1; end < left->count && row_words_compare(first->words, left->rows[end].words) == 0;)
            end++;
        for (size_t j = left == right ? begin : 0; j < right->count; j++)
            for (size_t i = begin; row_distance(first->words, right->rows[j].words) <= distance && i < end; i++)
                if (left != right || i < j)
                    add_wanted(&made, i, j);
    }
    return made;
}

static void check_pair(pair_check *of, const uint64_t *words, uint64_t id, const uint64_t *other_words,
                       uint64_t other_id, uint32_t distance, uint32_t word_count)
{
    assert_true(of->at < of->count);
    const row *left = &of->left->rows[of->wanted[of->at].left], *right = &of->right->rows[of->wanted[of->at].right];
    of->at++;
    assert_memory_equal(words, left->words, word_count * sizeof *words);
    assert_memory_equal(other_words, right->words, word_count * sizeof *words);
    assert_int_equal(id, left->id);
    assert_int_equal(other_id, right->id);
    assert_int_equal(distance, row_distance(left->words, right->words));
}

/* A check of callbacks, which know no number of words. */
typedef struct callback_check {
    pair_check *of;
    uint32_t words;
} callback_check;

static int take_pair(void *context, const sstore_pair *pair)
{
    const callback_check *to = context;
    assert_int_equal(pair->fingerprint, pair->words[0]);
    assert_int_equal(pair->other_fingerprint, pair->other_words[0]);
    check_pair(to->of, pair->words, pair->id, pair->other_words, pair->other_id, pair->distance, to->words);
    return 0;
}

static void iterate_pairs(rng *random, const sstore *left, const sstore *right, const sstore_join_options *options,
                          pair_check *check, uint32_t words)
{
    uint64_t fingerprints[PAGE * SSTORE_MAX_WORDS], others[PAGE * SSTORE_MAX_WORDS], ids[PAGE], other_ids[PAGE];
    uint32_t distances[PAGE];
    const sstore_pair_columns columns = {sizeof columns, fingerprints, ids, others, other_ids, distances};
    const bool counts = rng_one_in(random, 4);
    sstore_pair_iterator *iterator;
    sstore_error error;
    size_t count = 1;
    assert_ok(sstore_pair_iterator_create(left, right, options, &iterator, &error), &error);
    for (check->at = 0; count > 0; check->at += counts ? count : 0) {
        const size_t capacity = rng_between(random, 1, PAGE);
        assert_ok(sstore_pair_iterator_next(iterator, counts ? NULL : &columns, capacity, &count, &error), &error);
        for (size_t i = 0; !counts && i < count; i++)
            check_pair(check, fingerprints + i * words, ids[i], others + i * words, other_ids[i], distances[i], words);
    }
    assert_int_equal(check->at, check->count);
    assert_ok(sstore_pair_iterator_next(iterator, NULL, 1, &count, &error), &error);
    assert_int_equal(count, 0);
    sstore_pair_iterator_free(iterator);
}

/* Compare pairs of two stores, or of one with itself. Returns how many there are. */
static size_t compare_pairs(rng *random, const subject *left, const subject *right, const sstore_join_options *options)
{
    const uint32_t words = left->maker.words;
    pair_check check = all_pairs(&left->truth, &right->truth, options->distance);
    callback_check to = {&check, words};
    sstore_error error;
    if (check.count <= MAX_PAIRS) {
        assert_ok(left == right ? sstore_pairs(left->store, options, take_pair, &to, &error)
                                : sstore_join(left->store, right->store, options, take_pair, &to, &error),
                  &error);
        assert_int_equal(check.at, check.count);
        iterate_pairs(random, left->store, left == right ? NULL : right->store, options, &check, words);
    }
    free(check.wanted);
    return check.at;
}

/* ----- clusters ----- */

typedef struct member {
    size_t root, record;
} member;

static const row_set *sorted_rows; /* for compare_members() */

static int compare_members(const void *left, const void *right)
{
    const member *a = left, *b = right;
    const row *x = &sorted_rows->rows[a->record], *y = &sorted_rows->rows[b->record];
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return a->record < b->record ? -1 : a->record > b->record;
}

typedef struct cluster_check {
    const row_set *rows;
    uint32_t words;
    member *members; /* in the order in which they are reported */
    size_t count, at;
    size_t begin, end; /* of the current cluster */
    uint64_t cluster;
} cluster_check;

static size_t find_root(size_t *parents, size_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

static cluster_check all_clusters(const row_set *rows, uint32_t words, uint32_t distance, bool with_singles)
{
    cluster_check made = {.rows = rows, .words = words, .members = malloc((rows->count + 1) * sizeof(member))};
    size_t *parents = malloc((rows->count + 1) * sizeof *parents), *sizes = calloc(rows->count + 1, sizeof *sizes);
    for (size_t i = 0; i < rows->count; i++)
        parents[i] = i;
    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = i + 1; j < rows->count; j++)
            if (row_distance(rows->rows[i].words, rows->rows[j].words) <= distance) {
                const size_t a = find_root(parents, i), b = find_root(parents, j);
                parents[a > b ? a : b] = a < b ? a : b;
            }
    for (size_t i = 0; i < rows->count; i++)
        sizes[find_root(parents, i)]++;
    for (size_t i = 0; i < rows->count; i++)
        if (with_singles || sizes[find_root(parents, i)] > 1)
            made.members[made.count++] = (member){find_root(parents, i), i};
    sorted_rows = rows;
    qsort(made.members, made.count, sizeof *made.members, compare_members);
    free(parents);
    free(sizes);
    return made;
}

static void begin_check(cluster_check *check)
{
    check->at = check->begin = check->end = check->cluster = 0;
}

static void check_member(cluster_check *of, const uint64_t *words, const sstore_cluster_record *record)
{
    assert_true(of->at < of->count);
    if (of->at == of->end) {
        of->cluster += of->at > 0;
        of->begin = of->at;
        while (of->end < of->count && of->members[of->end].root == of->members[of->begin].root)
            of->end++;
    }
    const row *wanted = &of->rows->rows[of->members[of->at].record];
    assert_memory_equal(words, wanted->words, of->words * sizeof *words);
    assert_int_equal(record->id, wanted->id);
    assert_int_equal(record->cluster, of->cluster);
    assert_int_equal(record->cluster_size, of->end - of->begin);
    assert_int_equal(record->distance,
                     row_distance(wanted->words, of->rows->rows[of->members[of->begin].record].words));
    assert_int_equal(record->is_representative, of->at == of->begin);
    of->at++;
}

static int take_member(void *context, const sstore_cluster_record *record)
{
    assert_int_equal(record->fingerprint, record->words[0]);
    check_member(context, record->words, record);
    return 0;
}

static void iterate_clusters(rng *random, const sstore *store, const sstore_cluster_options *options,
                             cluster_check *check)
{
    uint64_t clusters[PAGE], sizes[PAGE], fingerprints[PAGE * SSTORE_MAX_WORDS], ids[PAGE];
    uint32_t distances[PAGE];
    bool first[PAGE];
    const sstore_cluster_columns columns = {sizeof columns, clusters, sizes, fingerprints, ids, distances, first};
    sstore_cluster_iterator *iterator;
    sstore_error error;
    size_t count = 1;
    begin_check(check);
    assert_ok(sstore_cluster_iterator_create(store, options, &iterator, &error), &error);
    while (count > 0) {
        const size_t capacity = rng_between(random, 1, PAGE);
        assert_ok(sstore_cluster_iterator_next(iterator, &columns, capacity, &count, &error), &error);
        for (size_t i = 0; i < count; i++) {
            const sstore_cluster_record got = {.cluster = clusters[i],
                                               .cluster_size = sizes[i],
                                               .id = ids[i],
                                               .distance = distances[i],
                                               .is_representative = first[i]};
            check_member(check, fingerprints + i * check->words, &got);
        }
    }
    assert_int_equal(check->at, check->count);
    sstore_cluster_iterator_free(iterator);
}

/* Compare the clusters of a store. Returns the number of their records. */
static size_t compare_clusters(rng *random, const subject *self, const sstore_join_options *options)
{
    const sstore_cluster_options how = {.struct_size = sizeof how,
                                        .distance = options->distance,
                                        .threads = options->threads,
                                        .with_singles = rng_one_in(random, 3),
                                        .memory_bytes = options->memory_bytes,
                                        .tmp_dir = options->tmp_dir};
    cluster_check check = all_clusters(&self->truth, self->maker.words, options->distance, how.with_singles);
    sstore_error error;
    begin_check(&check);
    assert_ok(sstore_clusters(self->store, &how, take_member, &check, &error), &error);
    assert_int_equal(check.at, check.count);
    iterate_clusters(random, self->store, &how, &check);
    free(check.members);
    return check.count;
}

/* ----- the tests ----- */

static uint64_t case_count(void)
{
    return testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
}

static row_maker any_maker(rng *random)
{
    static const uint32_t widths[] = {1, 2, 2, 3, 4, 4, 8, 16};
    const uint32_t words = widths[rng_below(random, sizeof widths / sizeof *widths)];
    const uint64_t max = words * SSTORE_MAX_BUILD_DISTANCE;
    return row_maker_any(random, words,
                         (uint32_t)(rng_one_in(random, 4) ? rng_below(random, max + 1) : rng_below(random, 8 * words)));
}

static sstore_join_options any_options(rng *random, const row_maker *maker)
{
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    const uint64_t max = maker->words * SSTORE_MAX_BUILD_DISTANCE;
    options.distance = rng_one_in(random, 4) ? (uint32_t)rng_below(random, max + 1) : maker->distance;
    options.memory_bytes = (uint64_t)1 << rng_between(random, 23, 28);
    options.threads = (uint32_t)rng_between(random, 1, 4);
    options.tmp_dir = scratch_folder();
    return options;
}

static void test_any_stores(void **state)
{
    uint64_t pairs = 0, clustered = 0;
    (void)state;
    for (uint64_t i = 0; i < case_count(); i++) {
        rng random = rng_seeded(run_seed + i);
        const row_maker maker = any_maker(&random);
        const row_set none = {.count = 0};
        testing_doing("case of seed %" PRIu64 ": %u words, made for distance %u", run_seed + i, maker.words,
                      maker.distance);
        subject left = any_subject(&random, "left.store", &maker, &none);
        subject right = any_subject(&random, "right.store", &maker, &left.truth);
        const sstore_join_options options = any_options(&random, &maker);
        testing_doing("case of seed %" PRIu64 ": %u words, made for distance %u, %zu and %zu records, distance %u",
                      run_seed + i, maker.words, maker.distance, left.truth.count, right.truth.count, options.distance);
        pairs += compare_pairs(&random, &left, &left, &options);
        pairs += compare_pairs(&random, &left, &right, &options);
        clustered += compare_clusters(&random, &right, &options);
        close_subject(&left);
        close_subject(&right);
    }
    testing_figure("%" PRIu64 " joins of stores of 64 to 1,024 bits: %" PRIu64 " pairs, and clusters of %" PRIu64
                   " records, like brute force",
                   case_count(), pairs, clustered);
    testing_done();
}

/* A few centres, each with very many fingerprints around it, at any distance; chains lead away from some of them. */
static void make_dense(rng *random, const row_maker *maker, bool has_ids, row_set *rows)
{
    const row_set none = {.count = 0};
    const size_t count = rng_between(random, 100, MAX_RECORDS);
    while (rows->count < count) {
        const row centre = row_make(random, maker, &none);
        const uint64_t flips = rng_below(random, maker->distance + 4), size = rng_between(random, 10, 500);
        for (uint64_t i = 0; i < size; i++) {
            row added = centre;
            row_flip(random, maker, &added, flips);
            for (uint64_t links = rng_one_in(random, 10) ? rng_below(random, 5) : 0; links > 0; links--) {
                row_set_put(rows, &added);
                row_flip(random, maker, &added, 2 * (uint64_t)maker->distance);
            }
            row_set_put(rows, &added);
        }
    }
    for (size_t i = 0; i < rows->count; i++)
        rows->rows[i].id = has_ids ? rng_below(random, rows->count) : 0;
    for (size_t i = rows->count; i > 1; i--) { /* so that each segment has some of each cluster */
        const size_t other = rng_below(random, i);
        const row moved = rows->rows[other];
        rows->rows[other] = rows->rows[i - 1];
        rows->rows[i - 1] = moved;
    }
}

static void test_dense_clusters(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < case_count(); i++) {
        rng random = rng_seeded(run_seed + 1000 + i);
        row_maker maker = any_maker(&random);
        row_set rows = {.count = 0};
        maker.words += maker.words == 1;
        testing_doing("dense case %" PRIu64 " of seed %" PRIu64 ": %u words, distance %u", i, run_seed, maker.words,
                      maker.distance);
        subject self = new_subject(&random, "dense.store", &maker);
        sstore_join_options options = any_options(&random, &maker);
        options.distance = maker.distance;
        make_dense(&random, &maker, self.has_ids, &rows);
        write_in_steps(&random, &self, &rows);
        (void)compare_clusters(&random, &self, &options);
        (void)compare_pairs(&random, &self, &self, &options);
        free(rows.rows);
        close_subject(&self);
    }
    testing_done();
}

/* A core of fingerprints that are very near each other, more than fit into the least memory; around it a ring of as
 * many that are near nothing, or almost: so not all members of a ball pay. */
static void make_core_and_ring(rng *random, const row_maker *maker, size_t count, row_set *rows)
{
    const row_set none = {.count = 0};
    const row centre = row_make(random, maker, &none);
    const uint32_t distance = maker->distance;
    for (size_t i = 0; i < count; i++) {
        row added = centre;
        if (i % 2 == 0)
            row_flip(random, maker, &added, 4);
        else
            for (uint64_t flips = rng_between(random, distance, 3 * distance); flips > 0; flips--)
                added.words[rng_below(random, maker->words)] ^= UINT64_C(1) << rng_below(random, 64);
        added.id = i;
        row_set_put(rows, &added);
    }
}

static void test_large_clusters(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < (testing_slow() ? 1 : 2); i++) {
        rng random = rng_seeded(run_seed + 5000 + i);
        const row_maker maker = {.words = (uint32_t)rng_between(&random, 3, 5), .distance = 20};
        row_set rows = {.count = 0};
        testing_doing("large case %" PRIu64 " of seed %" PRIu64, i, run_seed);
        subject self = new_subject(&random, "large.store", &maker);
        sstore_join_options options = any_options(&random, &maker);
        options.distance = maker.distance;
        options.memory_bytes = UINT64_C(8) << 20;
        options.threads = i % 2 == 0 ? 1 : 8;
        make_core_and_ring(&random, &maker, testing_slow() ? 4000 : 16000, &rows);
        write_in_steps(&random, &self, &rows);
        (void)compare_clusters(&random, &self, &options);
        free(rows.rows);
        close_subject(&self);
    }
    testing_done();
}

/* Put one fingerprint with ids from `first` on. */
static void put_many(row_set *to, const row *fingerprint, size_t count, uint64_t first)
{
    row added = *fingerprint;
    for (size_t i = 0; i < count; i++) {
        added.id = first + i;
        row_set_put(to, &added);
    }
}

/* Fingerprints with more ids, and with more matches, than the least memory holds. */
static void test_many_ids(void **state)
{
    enum { MANY = 20000 };
    (void)state;
    for (uint64_t i = 0; i < (testing_slow() ? 1 : 3); i++) {
        rng random = rng_seeded(run_seed + 2000 + i);
        const row_maker maker = row_maker_any(&random, (uint32_t)rng_between(&random, 2, 4), 20);
        const row_set none = {.count = 0};
        row_set few = {.count = 0}, many = {.count = 0};
        const row centre = row_make(&random, &maker, &none);
        sstore_join_options options = any_options(&random, &maker);
        options.memory_bytes = UINT64_C(8) << 20;
        options.distance = 20;
        testing_doing("many ids, case %" PRIu64 " of seed %" PRIu64, i, run_seed);
        put_many(&many, &centre, rng_between(&random, MANY / 2, MANY), 5);
        for (uint32_t j = 0; j < 20; j++) {
            row near = centre;
            row_flip(&random, &maker, &near, 22);
            put_many(&few, &near, rng_between(&random, 1, 2), rng_below(&random, 9));
            row_flip(&random, &maker, &near, 10);
            put_many(&many, &near, rng_between(&random, 1, 3), rng_below(&random, 9));
        }
        subject left = new_subject(&random, "left.store", &maker), right = new_subject(&random, "right.store", &maker);
        left.has_ids = right.has_ids = true;
        write_in_steps(&random, &left, &few);
        write_in_steps(&random, &right, &many);
        (void)compare_pairs(&random, &left, &right, &options);
        (void)compare_pairs(&random, &right, &left, &options);
        (void)compare_pairs(&random, &left, &left, &options);
        free(few.rows);
        free(many.rows);
        close_subject(&left);
        close_subject(&right);
    }
    testing_done();
}

/* ----- calls that fail, or are stopped ----- */

static int stop_pair(void *context, const sstore_pair *pair)
{
    (void)pair;
    ++*(size_t *)context;
    return 1;
}

static int stop_member(void *context, const sstore_cluster_record *record)
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

static int ignore_pair(void *context, const sstore_pair *pair)
{
    (void)context;
    (void)pair;
    return 0;
}

static int ignore_member(void *context, const sstore_cluster_record *record)
{
    (void)context;
    (void)record;
    return 0;
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
    assert_ok(sstore_pairs(self->store, &options, ignore_pair, NULL, &error), &error);
    assert_true(at.compared && !at.backwards && at.fraction == 1);
    assert_ok(sstore_clusters(self->store, &how, ignore_member, NULL, &error), &error);
    assert_true(in_clusters.compared && in_clusters.reported && !in_clusters.backwards);
    for (uint32_t i = 0; i < 10; i++) {
        at = (stopper){.due = rng_below(random, at.count > 0 ? at.count : 1)};
        assert_int_equal(sstore_pairs(self->store, &options, ignore_pair, NULL, &error), SSTORE_STOPPED);
        in_clusters = (stopper){.due = rng_below(random, in_clusters.count > 0 ? in_clusters.count : 1)};
        assert_int_equal(sstore_clusters(self->store, &how, ignore_member, NULL, &error), SSTORE_STOPPED);
    }
}

static void test_stopped(void **state)
{
    rng random = rng_seeded(run_seed + 3000);
    const row_maker maker = {.words = 3, .distance = 12};
    row_set rows = {.count = 0};
    size_t count = 0;
    sstore_error error;
    (void)state;
    testing_doing("stopped joins, seed %" PRIu64, run_seed);
    make_dense(&random, &maker, true, &rows);
    subject self = new_subject(&random, "stopped.store", &maker);
    write_in_steps(&random, &self, &rows);
    assert_int_equal(sstore_pairs(self.store, NULL, stop_pair, &count, &error), SSTORE_STOPPED);
    assert_int_equal(sstore_clusters(self.store, NULL, stop_member, &count, &error), SSTORE_STOPPED);
    assert_int_equal(count, 2);
    check_progress(&random, &self);
    free(rows.rows);
    close_subject(&self);
    testing_done();
}

static void test_arguments(void **state)
{
    rng random = rng_seeded(run_seed + 4000);
    const row_maker two = {.words = 2, .distance = 5}, three = {.words = 3, .distance = 5};
    row_set rows = {.count = 0};
    sstore_pair_iterator *pairs;
    sstore_cluster_iterator *clusters;
    sstore_join_options options = SSTORE_JOIN_OPTIONS_INIT;
    sstore_cluster_options how = SSTORE_CLUSTER_OPTIONS_INIT;
    sstore_error error;
    (void)state;
    subject left = new_subject(&random, "two.store", &two), right = new_subject(&random, "three.store", &three);
    write_in_steps(&random, &left, &rows); /* empty */
    write_in_steps(&random, &right, &rows);
    assert_status(sstore_pair_iterator_create(left.store, right.store, NULL, &pairs, &error), SSTORE_ERROR_ARGUMENT,
                  &error);
    assert_non_null(strstr(error.message, "128"));
    assert_non_null(strstr(error.message, "192"));
    options.distance = how.distance = 16 * 2 + 1;
    assert_status(sstore_pairs(left.store, &options, ignore_pair, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_cluster_iterator_create(left.store, &how, &clusters, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_ok(sstore_pairs(right.store, &options, ignore_pair, NULL, &error), &error);
    assert_ok(sstore_clusters(right.store, &how, ignore_member, NULL, &error), &error);
    close_subject(&left);
    close_subject(&right);
    testing_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_any_stores, testing_teardown),
        cmocka_unit_test_teardown(test_dense_clusters, testing_teardown),
        cmocka_unit_test_teardown(test_large_clusters, testing_teardown),
        cmocka_unit_test_teardown(test_many_ids, testing_teardown),
        cmocka_unit_test_teardown(test_stopped, testing_teardown),
        cmocka_unit_test_teardown(test_arguments, testing_teardown),
    };
    rng_start_run();
    return cmocka_run_group_tests_name("word_joins", tests, NULL, NULL);
}
