#include "support/iterate.h"

#include <inttypes.h>
#include <string.h>

#include "support/testing.h"

#define MAX_COLUMNS 6u
#define GUARD 0xa5 /* each byte behind a column's end */

/* Columns of any type, with room for `capacity` items and a guard behind it. */
typedef struct rooms {
    size_t capacity, count;
    size_t sizes[MAX_COLUMNS]; /* of an item */
    void *columns[MAX_COLUMNS];
} rooms;

/* The capacity of a call if there are `count` results. */
static size_t choose_capacity(rng *random, size_t count)
{
    switch (rng_below(random, 4)) {
    case 0: return count > 100000 ? 1000 : 1; /* one by one takes long */
    case 1: return count > 100000 ? 1001 : 2;
    case 2: return rng_between(random, 1, count + 1);
    default: return count + rng_between(random, 1, 100);
    }
}

/* Another column, or NULL if it is not wanted. */
static void *add_column(rooms *self, size_t size, bool is_asked)
{
    uint8_t *column = NULL;
    if (is_asked) {
        column = test_malloc((self->capacity + 1) * size);
        memset(column, GUARD, (self->capacity + 1) * size);
    }
    self->sizes[self->count] = size;
    self->columns[self->count++] = column;
    return column;
}

/* Nothing was written behind the columns. */
static void free_columns(rooms *self)
{
    for (size_t i = 0; i < self->count; i++) {
        const uint8_t *column = self->columns[i];
        for (size_t j = 0; column != NULL && j < self->sizes[i]; j++)
            assert_int_equal(column[self->capacity * self->sizes[i] + j], GUARD);
        if (column != NULL)
            test_free(self->columns[i]);
    }
}

/* A mask of the wanted columns; often all of them. */
static unsigned choose_columns(rng *random)
{
    return rng_one_in(random, 2) ? (1u << MAX_COLUMNS) - 1 : (unsigned)rng_below(random, 1u << MAX_COLUMNS);
}

static void check_word(const uint64_t *column, size_t at, uint64_t wanted, const char *name, size_t index)
{
    if (column != NULL && column[at] != wanted)
        fail_msg("%s of item %zu is %" PRIx64 " instead of %" PRIx64, name, index, column[at], wanted);
}

/* Those of a wanted result, of which some have only a fingerprint of one word. */
static const uint64_t *words_of(const uint64_t *words, const uint64_t *fingerprint)
{
    return words != NULL ? words : fingerprint;
}

static void check_fingerprint(const uint64_t *column, size_t at, const uint64_t *wanted, uint32_t words,
                              const char *name, size_t index)
{
    for (uint32_t i = 0; i < words; i++)
        check_word(column, at * words + i, wanted[i], name, index);
}

static void check_distance(const uint32_t *column, size_t at, uint32_t wanted, size_t index)
{
    if (column != NULL && column[at] != wanted)
        fail_msg("the distance of item %zu is %" PRIu32 " instead of %" PRIu32, index, column[at], wanted);
}

/* Check the next `got` of `total` results, after `done` ones. */
static void check_count(size_t got, size_t capacity, size_t done, size_t total)
{
    if (got > capacity || got > total - done || (got == 0 && done < total))
        fail_msg("%zu items, where %zu of %zu are left and %zu were asked for", got, total - done, total, capacity);
}

void iterate_records(rng *random, const sstore *store, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    sstore_record_columns columns = SSTORE_RECORD_COLUMNS_INIT;
    sstore_record_iterator *iterator = NULL;
    sstore_error error = {.status = SSTORE_OK};
    rooms in = {.capacity = choose_capacity(random, count)};
    const unsigned asked = choose_columns(random);
    const uint32_t words = sstore_fingerprint_bits(store) / 64;
    columns.fingerprint = add_column(&in, words * sizeof(uint64_t), (asked & 1) != 0);
    columns.id = add_column(&in, sizeof *columns.id, (asked & 2) != 0);
    const sstore_record_columns *given = (asked & 3) == 0 ? NULL : &columns;
    assert_ok(sstore_record_iterator_create(store, &iterator, &error), &error);
    for (size_t done = 0, got = 1; got > 0; done += got) {
        assert_ok(sstore_record_iterator_next(iterator, given, in.capacity, &got, &error), &error);
        check_count(got, in.capacity, done, count);
        for (size_t i = 0; i < got; i++) {
            check_fingerprint(columns.fingerprint, i, fingerprints + (done + i) * words, words, "the fingerprint",
                              done + i);
            check_word(columns.id, i, ids[done + i], "the id", done + i);
        }
    }
    size_t again = 7;
    assert_ok(sstore_record_iterator_next(iterator, given, in.capacity, &again, &error), &error);
    assert_int_equal(again, 0);
    sstore_record_iterator_free(iterator);
    free_columns(&in);
}

void iterate_matches(rng *random, const sstore *store, const uint64_t *queries, size_t query_count, uint32_t distance,
                     uint32_t threads, const matches *wanted)
{
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_match_columns columns = SSTORE_MATCH_COLUMNS_INIT;
    sstore_match_iterator *iterator = NULL;
    sstore_error error = {.status = SSTORE_OK};
    rooms in = {.capacity = choose_capacity(random, wanted->count)};
    const unsigned asked = choose_columns(random);
    const uint32_t words = sstore_fingerprint_bits(store) / 64;
    const size_t fingerprint_bytes = words * sizeof(uint64_t);
    options.threads = threads;
    columns.query_index = add_column(&in, sizeof *columns.query_index, (asked & 1) != 0);
    columns.fingerprint = add_column(&in, fingerprint_bytes, (asked & 2) != 0);
    columns.id = add_column(&in, sizeof *columns.id, (asked & 4) != 0);
    columns.distance = add_column(&in, sizeof *columns.distance, (asked & 8) != 0);
    const sstore_match_columns *given = (asked & 15) == 0 ? NULL : &columns;
    assert_ok(sstore_match_iterator_create(store, queries, query_count, distance, &options, &iterator, &error), &error);
    for (size_t done = 0, got = 1; got > 0; done += got) {
        assert_ok(sstore_match_iterator_next(iterator, given, in.capacity, &got, &error), &error);
        check_count(got, in.capacity, done, wanted->count);
        for (size_t i = 0; i < got; i++) {
            const sstore_match match = matches_get(wanted, done + i);
            check_word(columns.query_index, i, match.query_index, "the query", done + i);
            check_fingerprint(columns.fingerprint, i, match.words, words, "the fingerprint", done + i);
            check_word(columns.id, i, match.id, "the id", done + i);
            check_distance(columns.distance, i, match.distance, done + i);
        }
    }
    size_t again = 7;
    assert_ok(sstore_match_iterator_next(iterator, given, in.capacity, &again, &error), &error);
    assert_int_equal(again, 0);
    sstore_match_iterator_free(iterator);
    free_columns(&in);
}

void iterate_pairs(rng *random, const sstore *left, const sstore *right, const sstore_join_options *options,
                   const sstore_pair *wanted, size_t count)
{
    sstore_pair_columns columns = SSTORE_PAIR_COLUMNS_INIT;
    sstore_pair_iterator *iterator = NULL;
    sstore_error error = {.status = SSTORE_OK};
    rooms in = {.capacity = choose_capacity(random, count)};
    const unsigned asked = choose_columns(random);
    const uint32_t words = sstore_fingerprint_bits(left) / 64;
    const size_t fingerprint_bytes = words * sizeof(uint64_t);
    columns.fingerprint = add_column(&in, fingerprint_bytes, (asked & 1) != 0);
    columns.id = add_column(&in, sizeof *columns.id, (asked & 2) != 0);
    columns.other_fingerprint = add_column(&in, fingerprint_bytes, (asked & 4) != 0);
    columns.other_id = add_column(&in, sizeof *columns.other_id, (asked & 8) != 0);
    columns.distance = add_column(&in, sizeof *columns.distance, (asked & 16) != 0);
    const sstore_pair_columns *given = (asked & 31) == 0 ? NULL : &columns;
    assert_ok(sstore_pair_iterator_create(left, right, options, &iterator, &error), &error);
    for (size_t done = 0, got = 1; got > 0; done += got) {
        assert_ok(sstore_pair_iterator_next(iterator, given, in.capacity, &got, &error), &error);
        check_count(got, in.capacity, done, count);
        for (size_t i = 0; i < got; i++) {
            const sstore_pair *pair = &wanted[done + i];
            check_fingerprint(columns.fingerprint, i, words_of(pair->words, &pair->fingerprint), words,
                              "the fingerprint", done + i);
            check_word(columns.id, i, pair->id, "the id", done + i);
            check_fingerprint(columns.other_fingerprint, i, words_of(pair->other_words, &pair->other_fingerprint),
                              words, "the other fingerprint", done + i);
            check_word(columns.other_id, i, pair->other_id, "the other id", done + i);
            check_distance(columns.distance, i, pair->distance, done + i);
        }
    }
    size_t again = 7;
    assert_ok(sstore_pair_iterator_next(iterator, given, in.capacity, &again, &error), &error);
    assert_int_equal(again, 0);
    sstore_pair_iterator_free(iterator);
    free_columns(&in);
}

void iterate_clusters(rng *random, const sstore *store, const sstore_cluster_options *options,
                      const sstore_cluster_record *wanted, size_t count)
{
    sstore_cluster_columns columns = SSTORE_CLUSTER_COLUMNS_INIT;
    sstore_cluster_iterator *iterator = NULL;
    sstore_error error = {.status = SSTORE_OK};
    rooms in = {.capacity = choose_capacity(random, count)};
    const unsigned asked = choose_columns(random);
    const uint32_t words = sstore_fingerprint_bits(store) / 64;
    const size_t fingerprint_bytes = words * sizeof(uint64_t);
    columns.cluster = add_column(&in, sizeof *columns.cluster, (asked & 1) != 0);
    columns.cluster_size = add_column(&in, sizeof *columns.cluster_size, (asked & 2) != 0);
    columns.fingerprint = add_column(&in, fingerprint_bytes, (asked & 4) != 0);
    columns.id = add_column(&in, sizeof *columns.id, (asked & 8) != 0);
    columns.distance = add_column(&in, sizeof *columns.distance, (asked & 16) != 0);
    columns.is_representative = add_column(&in, sizeof *columns.is_representative, (asked & 32) != 0);
    const sstore_cluster_columns *given = (asked & 63) == 0 ? NULL : &columns;
    assert_ok(sstore_cluster_iterator_create(store, options, &iterator, &error), &error);
    for (size_t done = 0, got = 1; got > 0; done += got) {
        assert_ok(sstore_cluster_iterator_next(iterator, given, in.capacity, &got, &error), &error);
        check_count(got, in.capacity, done, count);
        for (size_t i = 0; i < got; i++) {
            const sstore_cluster_record *record = &wanted[done + i];
            check_word(columns.cluster, i, record->cluster, "the cluster", done + i);
            check_word(columns.cluster_size, i, record->cluster_size, "the cluster's size", done + i);
            check_fingerprint(columns.fingerprint, i, words_of(record->words, &record->fingerprint), words,
                              "the fingerprint", done + i);
            check_word(columns.id, i, record->id, "the id", done + i);
            check_distance(columns.distance, i, record->distance, done + i);
            if (columns.is_representative != NULL && columns.is_representative[i] != record->is_representative)
                fail_msg("item %zu is %s representative", done + i, record->is_representative ? "no" : "a");
        }
    }
    size_t again = 7;
    assert_ok(sstore_cluster_iterator_next(iterator, given, in.capacity, &again, &error), &error);
    assert_int_equal(again, 0);
    sstore_cluster_iterator_free(iterator);
    free_columns(&in);
}
