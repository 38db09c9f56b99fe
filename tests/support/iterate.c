#include "support/iterate.h"

#include <inttypes.h>
#include <string.h>

#include "support/testing.h"

#define GUARD 0xa5 /* each byte behind a column's end */

enum { RECORDS = 1, MATCHES = 2, PAIRS = 4, CLUSTERS = 8, ALL = 15 };

#define COLUMN_COUNT 9u

/* The columns, and the iterators that have them. */
static const struct {
    size_t at, size; /* of a value, or of a word of a fingerprint */
    unsigned kinds;
    bool is_fingerprint;
} table[COLUMN_COUNT] = {
    {offsetof(sstore_columns, fingerprint), sizeof(uint64_t), ALL, true},
    {offsetof(sstore_columns, id), sizeof(uint64_t), ALL, false},
    {offsetof(sstore_columns, distance), sizeof(uint32_t), MATCHES | PAIRS | CLUSTERS, false},
    {offsetof(sstore_columns, query_index), sizeof(uint64_t), MATCHES, false},
    {offsetof(sstore_columns, other_fingerprint), sizeof(uint64_t), PAIRS, true},
    {offsetof(sstore_columns, other_id), sizeof(uint64_t), PAIRS, false},
    {offsetof(sstore_columns, cluster), sizeof(uint64_t), CLUSTERS, false},
    {offsetof(sstore_columns, cluster_size), sizeof(uint64_t), CLUSTERS, false},
    {offsetof(sstore_columns, is_representative), sizeof(bool), CLUSTERS, false},
};

/* The results of an iterator of one kind, into columns of which some are wanted, with a guard behind each. */
typedef struct iteration {
    sstore_iterator *iterator;
    sstore_columns columns;
    bool has_columns; /* or else none at all */
    uint32_t words;
    size_t capacity, total;
    size_t done, got; /* results before, and in the columns */
    size_t bytes[COLUMN_COUNT];
    uint8_t *arrays[COLUMN_COUNT];
} iteration;

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

static void set_column(sstore_columns *columns, size_t column, void *array)
{
    memcpy((char *)columns + table[column].at, &array, sizeof array);
}

/* A column that the results do not have is refused, and nothing else happens. */
static void check_other_columns(sstore_iterator *iterator, unsigned kind)
{
    uint64_t array[SSTORE_MAX_WORDS];
    sstore_error error = {.status = SSTORE_OK};
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        sstore_columns columns = SSTORE_COLUMNS_INIT;
        size_t count = 7;
        if ((table[i].kinds & kind) != 0)
            continue;
        set_column(&columns, i, array);
        assert_status(sstore_iterator_next(iterator, &columns, 1, &count, &error), SSTORE_ERROR_ARGUMENT, &error);
        assert_int_equal(count, 0);
    }
}

/* Often all columns are wanted. */
static void begin(iteration *self, rng *random, sstore_iterator *iterator, unsigned kind, uint32_t words, size_t total)
{
    const unsigned wanted = rng_one_in(random, 2) ? UINT32_MAX : (unsigned)rng_below(random, 1u << COLUMN_COUNT);
    *self = (iteration){.iterator = iterator,
                        .columns = SSTORE_COLUMNS_INIT,
                        .words = words,
                        .capacity = choose_capacity(random, total),
                        .total = total};
    check_other_columns(iterator, kind);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const size_t size = table[i].size * (table[i].is_fingerprint ? words : 1);
        if ((wanted >> i & 1) == 0 || (table[i].kinds & kind) == 0)
            continue;
        self->bytes[i] = self->capacity * size;
        self->arrays[i] = test_malloc(self->bytes[i] + size);
        memset(self->arrays[i], GUARD, self->bytes[i] + size);
        set_column(&self->columns, i, self->arrays[i]);
        self->has_columns = true;
    }
}

/* Get the next results; false after the last one. */
static bool next(iteration *self)
{
    sstore_error error = {.status = SSTORE_OK};
    self->done += self->got;
    assert_ok(sstore_iterator_next(self->iterator, self->has_columns ? &self->columns : NULL, self->capacity,
                                   &self->got, &error),
              &error);
    const size_t left = self->total - self->done;
    if (self->got != (left < self->capacity ? left : self->capacity))
        fail_msg("%zu items, where %zu of %zu are left and there is room for %zu", self->got, left, self->total,
                 self->capacity);
    return self->got > 0;
}

/* There is nothing more, and nothing was written behind the columns. */
static void end(iteration *self)
{
    assert_false(next(self));
    sstore_iterator_free(self->iterator);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (self->arrays[i] == NULL)
            continue;
        for (size_t j = 0; j < table[i].size; j++)
            assert_int_equal(self->arrays[i][self->bytes[i] + j], GUARD);
        test_free(self->arrays[i]);
    }
}

/* ----- a result ----- */

static void check_word(const iteration *self, const uint64_t *column, size_t at, uint64_t wanted, const char *name)
{
    if (column != NULL && column[at] != wanted)
        fail_msg("%s of item %zu is %" PRIx64 " instead of %" PRIx64, name, self->done + at, column[at], wanted);
}

static void check_fingerprint(const iteration *self, const uint64_t *column, size_t at, const uint64_t *wanted,
                              const char *name)
{
    if (column != NULL && memcmp(column + at * self->words, wanted, self->words * sizeof *wanted) != 0)
        fail_msg("%s of item %zu is %" PRIx64 "... instead of %" PRIx64 "...", name, self->done + at,
                 column[at * self->words], *wanted);
}

static void check_distance(const iteration *self, size_t at, uint32_t wanted)
{
    const uint32_t *column = self->columns.distance;
    if (column != NULL && column[at] != wanted)
        fail_msg("the distance of item %zu is %" PRIu32 " instead of %" PRIu32, self->done + at, column[at], wanted);
}

/* ----- iterators ----- */

void iterate_records(rng *random, const sstore *store, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    sstore_iterator *iterator = NULL;
    sstore_error error = {.status = SSTORE_OK};
    iteration self;
    assert_ok(sstore_iterate_records(store, &iterator, &error), &error);
    begin(&self, random, iterator, RECORDS, sstore_fingerprint_bits(store) / 64, count);
    while (next(&self))
        for (size_t i = 0; i < self.got; i++) {
            check_fingerprint(&self, self.columns.fingerprint, i, fingerprints + (self.done + i) * self.words,
                              "the fingerprint");
            check_word(&self, self.columns.id, i, ids[self.done + i], "the id");
        }
    end(&self);
}

void iterate_matches(rng *random, const sstore *store, const uint64_t *queries, size_t query_count, uint32_t distance,
                     uint32_t threads, const matches *wanted)
{
    sstore_batch_options options = SSTORE_BATCH_OPTIONS_INIT;
    sstore_iterator *iterator = NULL;
    sstore_error error = {.status = SSTORE_OK};
    iteration self;
    options.threads = threads;
    assert_ok(sstore_iterate_matches(store, queries, query_count, distance, &options, &iterator, &error), &error);
    begin(&self, random, iterator, MATCHES, sstore_fingerprint_bits(store) / 64, wanted->count);
    while (next(&self))
        for (size_t i = 0; i < self.got; i++) {
            const sstore_match match = matches_get(wanted, self.done + i);
            check_word(&self, self.columns.query_index, i, match.query_index, "the query");
            check_fingerprint(&self, self.columns.fingerprint, i, match.fingerprint, "the fingerprint");
            check_word(&self, self.columns.id, i, match.id, "the id");
            check_distance(&self, i, match.distance);
        }
    end(&self);
}

void iterate_pairs(rng *random, const sstore *left, const sstore *right, const sstore_join_options *options,
                   const sstore_pair *wanted, size_t count)
{
    sstore_iterator *iterator = NULL;
    sstore_error error = {.status = SSTORE_OK};
    iteration self;
    assert_ok(sstore_iterate_pairs(left, right, options, &iterator, &error), &error);
    begin(&self, random, iterator, PAIRS, sstore_fingerprint_bits(left) / 64, count);
    while (next(&self))
        for (size_t i = 0; i < self.got; i++) {
            const sstore_pair *pair = &wanted[self.done + i];
            check_fingerprint(&self, self.columns.fingerprint, i, pair->fingerprint, "the fingerprint");
            check_word(&self, self.columns.id, i, pair->id, "the id");
            check_fingerprint(&self, self.columns.other_fingerprint, i, pair->other_fingerprint,
                              "the other fingerprint");
            check_word(&self, self.columns.other_id, i, pair->other_id, "the other id");
            check_distance(&self, i, pair->distance);
        }
    end(&self);
}

void iterate_clusters(rng *random, const sstore *store, const sstore_cluster_options *options,
                      const cluster_record *wanted, size_t count)
{
    sstore_iterator *iterator = NULL;
    sstore_error error = {.status = SSTORE_OK};
    iteration self;
    assert_ok(sstore_iterate_clusters(store, options, &iterator, &error), &error);
    begin(&self, random, iterator, CLUSTERS, sstore_fingerprint_bits(store) / 64, count);
    while (next(&self))
        for (size_t i = 0; i < self.got; i++) {
            const cluster_record *record = &wanted[self.done + i];
            const bool *representative = self.columns.is_representative;
            check_word(&self, self.columns.cluster, i, record->cluster, "the cluster");
            check_word(&self, self.columns.cluster_size, i, record->cluster_size, "the cluster's size");
            check_fingerprint(&self, self.columns.fingerprint, i, record->fingerprint, "the fingerprint");
            check_word(&self, self.columns.id, i, record->id, "the id");
            check_distance(&self, i, record->distance);
            if (representative != NULL && representative[i] != record->is_representative)
                fail_msg("item %zu is %s representative", self.done + i, record->is_representative ? "no" : "a");
        }
    end(&self);
}
