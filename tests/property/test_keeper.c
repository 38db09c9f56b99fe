/*
 * test_keeper.c - which of near records to keep, of 64 to 1,024 bits, by clusters and strictly, with and without
 * priorities, with numbers left out, with limits of groups, and with a confirmation of near records by something that
 * their fingerprints do not tell, compared with a slow model: it sorts the records by priority, and compares all of
 * them with each other.
 *
 * A failing case prints its seed; SSTORE_TEST_SEED=<seed> SSTORE_TEST_CASES=1 runs that case first and alone.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sstore_join.h"
#include "support/fingerprint_form.h"
#include "support/scratch.h"
#include "support/testing.h"

#define CASES 120u
#define SLOW_CASES 12u
#define MAX_RECORDS 700u
#define NONE SIZE_MAX

typedef struct record {
    uint64_t number, priority, hidden;
    const uint64_t *row;
} record;

typedef struct dropped {
    uint64_t number, kept_number;
    uint32_t distance;
} dropped;

typedef struct large_group {
    uint64_t kept_number, count;
} large_group;

typedef struct keeping {
    rng random;
    fingerprint_form form;
    uint32_t distance;
    bool strict, is_ordered, confirms;
    uint64_t max_group, hidden_kinds;
    char folder[512];
    uint64_t *rows;
    size_t count, given;
    record *records; /* in the order in which they were given */
    size_t large_count, dropped_count;
    large_group large[MAX_RECORDS]; /* as reported */
    dropped dropped[MAX_RECORDS];
} keeping;

/* ----- the model ----- */

static uint32_t hidden_distance(const record *a, const record *b)
{
    return (uint32_t)(a->hidden > b->hidden ? a->hidden - b->hidden : b->hidden - a->hidden);
}

static uint32_t distance_of(const keeping *self, const record *a, const record *b)
{
    const uint32_t distance = sstore_hamming_distance(a->row, b->row, 64 * self->form.words);
    return self->confirms ? distance / 2 + 1000 * hidden_distance(a, b) : distance;
}

/* Within the distance, and confirmed. */
static bool are_near(const keeping *self, const record *a, const record *b)
{
    return sstore_hamming_distance(a->row, b->row, 64 * self->form.words) <= self->distance &&
           (!self->confirms || hidden_distance(a, b) <= 1);
}

static bool is_lower(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint32_t word = 0;
    while (word < words && a[word] == b[word])
        word++;
    return word < words && a[word] < b[word];
}

/* Of two kept records at the same distance, the one in favour of which a record is dropped. */
static bool precedes(const keeping *self, const record *a, const record *b)
{
    const uint32_t words = self->form.words;
    return is_lower(a->row, b->row, words) || (!is_lower(b->row, a->row, words) && a->number < b->number);
}

static int by_priority(const void *left, const void *right)
{
    const record *a = left, *b = right;
    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int by_number(const void *left, const void *right)
{
    const dropped *a = left, *b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int by_kept(const void *left, const void *right)
{
    const large_group *a = left, *b = right;
    return a->kept_number < b->kept_number ? -1 : a->kept_number > b->kept_number;
}

/* Set kept_of[i] to the place of the record that is kept instead of record i, or i. */
static void keep_strictly(const keeping *self, const record *sorted, size_t *kept_of)
{
    for (size_t i = 0; i < self->count; i++) {
        size_t best = NONE;
        for (size_t j = 0; j < i; j++) {
            const uint32_t distance = distance_of(self, &sorted[i], &sorted[j]);
            if (kept_of[j] != j || !are_near(self, &sorted[i], &sorted[j]))
                continue;
            const uint32_t other = best == NONE ? UINT32_MAX : distance_of(self, &sorted[i], &sorted[best]);
            if (distance < other || (distance == other && precedes(self, &sorted[j], &sorted[best])))
                best = j;
        }
        kept_of[i] = best == NONE ? i : best;
    }
}

/* The lowest place of each connected component. */
static void keep_lowest(const keeping *self, const record *sorted, size_t *kept_of)
{
    size_t *waiting = malloc((self->count + 1) * sizeof *waiting);
    for (size_t i = 0; i < self->count; i++)
        kept_of[i] = NONE;
    for (size_t i = 0; i < self->count; i++) {
        size_t waiting_count = 0;
        if (kept_of[i] != NONE)
            continue;
        kept_of[i] = i;
        waiting[waiting_count++] = i;
        while (waiting_count > 0) {
            const size_t at = waiting[--waiting_count];
            for (size_t j = 0; j < self->count; j++)
                if (kept_of[j] == NONE && are_near(self, &sorted[at], &sorted[j])) {
                    kept_of[j] = i;
                    waiting[waiting_count++] = j;
                }
        }
    }
    free(waiting);
}

/* Compare what was dropped and reported with the model. */
static void check(keeping *self)
{
    record *sorted = malloc((self->count + 1) * sizeof *sorted);
    size_t *kept_of = malloc((self->count + 1) * sizeof *kept_of), *sizes = calloc(self->count + 1, sizeof *sizes);
    size_t dropped_count = 0, large_count = 0;
    dropped *wanted = malloc((self->count + 1) * sizeof *wanted);
    memcpy(sorted, self->records, self->count * sizeof *sorted);
    qsort(sorted, self->count, sizeof *sorted, by_priority);
    (self->strict ? keep_strictly : keep_lowest)(self, sorted, kept_of);
    for (size_t i = 0; i < self->count; i++)
        sizes[kept_of[i]]++;
    qsort(self->large, self->large_count, sizeof *self->large, by_kept);
    for (size_t i = 0; i < self->count; i++) {
        const record *kept = &sorted[kept_of[i]];
        const bool is_large = self->max_group > 0 && sizes[kept_of[i]] > self->max_group;
        const large_group group = {kept->number, sizes[kept_of[i]]};
        large_count += is_large && kept_of[i] == i;
        if (is_large) {
            const large_group *found = bsearch(&group, self->large, self->large_count, sizeof group, by_kept);
            assert_non_null(found);
            assert_int_equal(found->count, group.count);
        } else if (kept_of[i] != i) {
            wanted[dropped_count++] = (dropped){sorted[i].number, kept->number, distance_of(self, &sorted[i], kept)};
        }
    }
    qsort(wanted, dropped_count, sizeof *wanted, by_number);
    assert_int_equal(self->large_count, large_count);
    assert_int_equal(self->dropped_count, dropped_count);
    for (size_t i = 0; i < dropped_count; i++) {
        assert_int_equal(self->dropped[i].number, wanted[i].number);
        assert_int_equal(self->dropped[i].kept_number, wanted[i].kept_number);
        assert_int_equal(self->dropped[i].distance, wanted[i].distance);
        assert_true(!self->strict || self->confirms || wanted[i].distance <= self->distance);
    }
    free(sorted);
    free(kept_of);
    free(sizes);
    free(wanted);
}

/* ----- a case ----- */

static int take_large(void *context, uint64_t kept_number, uint64_t record_count)
{
    keeping *self = context;
    assert_in_range(self->large_count, 0, MAX_RECORDS - 1);
    self->large[self->large_count++] = (large_group){kept_number, record_count};
    return 0;
}

static int compare_numbers(const void *left, const void *right)
{
    const record *a = left, *b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* A record that was given. */
static const record *find_record(const keeping *self, uint64_t number)
{
    const record wanted = {.number = number};
    const record *found = bsearch(&wanted, self->records, self->given, sizeof wanted, compare_numbers);
    assert_non_null(found);
    return found;
}

static bool confirm(void *context, uint64_t number, uint64_t other_number, uint32_t *distance_out)
{
    const keeping *self = context;
    const record *a = find_record(self, number), *b = find_record(self, other_number);
    assert_ptr_not_equal(a, b);
    *distance_out = distance_of(self, a, b);
    return hidden_distance(a, b) <= 1;
}

static void make_digest(void *context, uint64_t number, uint64_t digest_out[2])
{
    const keeping *self = context;
    const record *of = find_record(self, number);
    digest_out[0] = of->hidden;
    digest_out[1] = 0;
    for (uint32_t i = 0; i < self->form.words; i++)
        digest_out[1] = rng_mix(digest_out[1] ^ of->row[i]);
}

static sstore_keeper *open_keeper(keeping *self)
{
    rng *random = &self->random;
    sstore_keeper_options options = SSTORE_KEEPER_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    sstore_keeper *keeper;
    options.fingerprint_bits = 64 * self->form.words;
    options.distance = self->distance;
    options.strict = self->strict;
    options.threads = (uint32_t)rng_between(random, 1, 3);
    options.memory_bytes = rng_one_in(random, 2) ? UINT64_C(8) << 20 : UINT64_C(64) << 20;
    options.tmp_dir = self->folder;
    options.max_group = self->max_group;
    options.on_large_group = take_large;
    options.large_group_context = self;
    options.confirm = self->confirms ? confirm : NULL;
    options.digest = self->confirms ? make_digest : NULL;
    options.confirm_context = self;
    assert_ok(sstore_keeper_create(&options, &keeper, &error), &error);
    return keeper;
}

/* Give the records in several calls, with numbers left out between them. */
static void give(keeping *self, sstore_keeper *keeper)
{
    rng *random = &self->random;
    uint64_t number = 0, *priorities = malloc((self->count + 1) * sizeof *priorities);
    sstore_error error = {.status = SSTORE_OK};
    const uint64_t kinds = rng_one_in(random, 2) ? 3 : UINT64_MAX;
    for (size_t done = 0; done < self->count;) {
        const size_t count = (size_t)rng_between(random, 1, self->count - done);
        const uint64_t skipped = rng_one_in(random, 3) ? rng_below(random, 1000) : 0;
        assert_ok(sstore_keeper_skip(keeper, skipped, &error), &error);
        number += skipped;
        for (size_t i = done; i < done + count; i++) {
            priorities[i] = self->is_ordered ? rng_below(random, kinds) : 0;
            self->records[i] = (record){number++, priorities[i], rng_below(random, self->hidden_kinds),
                                        self->rows + i * self->form.words};
        }
        self->given = done + count;
        assert_ok(sstore_keeper_add(keeper, self->rows + done * self->form.words,
                                    self->is_ordered ? priorities + done : NULL, count, &error),
                  &error);
        done += count;
    }
    free(priorities);
}

static void take_dropped(keeping *self, sstore_keeper *keeper)
{
    const size_t capacity = (size_t)rng_between(&self->random, 1, MAX_RECORDS + 1);
    uint64_t *ids = malloc(capacity * sizeof *ids), *kept = malloc(capacity * sizeof *kept);
    uint32_t *distances = malloc(capacity * sizeof *distances);
    const sstore_columns columns = {.struct_size = sizeof columns, .id = ids, .other_id = kept, .distance = distances};
    sstore_error error = {.status = SSTORE_OK};
    sstore_iterator *iterator;
    size_t count = 1;
    assert_ok(sstore_keeper_finish(keeper, &iterator, &error), &error);
    while (count > 0) {
        assert_ok(sstore_iterator_next(iterator, &columns, capacity, &count, &error), &error);
        for (size_t i = 0; i < count; i++)
            self->dropped[self->dropped_count++] = (dropped){ids[i], kept[i], distances[i]};
    }
    sstore_iterator_free(iterator);
    free(ids);
    free(kept);
    free(distances);
}

static void assert_empty(const char *folder)
{
    DIR *opened = opendir(folder);
    const struct dirent *entry;
    assert_non_null(opened);
    while ((entry = readdir(opened)) != NULL)
        assert_true(entry->d_name[0] == '.');
    closedir(opened);
}

static size_t run_case(uint64_t seed)
{
    keeping *self = calloc(1, sizeof *self);
    self->random = rng_seeded(seed);
    rng *random = &self->random;
    self->form = rng_one_in(random, 2) ? form_any(random, 2) : form_with(random, 1, (uint32_t)rng_below(random, 6));
    self->distance = self->form.distance;
    self->strict = rng_one_in(random, 2);
    self->is_ordered = rng_one_in(random, 2);
    self->confirms = rng_one_in(random, 2);
    self->hidden_kinds = rng_between(random, 1, 6);
    self->max_group = rng_one_in(random, 3) ? rng_between(random, 1, 20) : 0;
    self->count = (size_t)rng_below(random, MAX_RECORDS + 1);
    self->rows = fingerprint_make_many(random, &self->form, self->count);
    self->records = malloc((self->count + 1) * sizeof *self->records);
    snprintf(self->folder, sizeof self->folder, "%s", scratch_path("keeping"));
    assert_int_equal(mkdir(self->folder, 0700), 0);
    testing_doing("case of seed %" PRIu64 ": %zu of %s, %s%s, %s priorities, groups up to %" PRIu64, seed, self->count,
                  form_text(&self->form), self->strict ? "strict" : "clusters", self->confirms ? ", confirmed" : "",
                  self->is_ordered ? "with" : "without", self->max_group);
    sstore_keeper *keeper = open_keeper(self);
    give(self, keeper);
    if (rng_one_in(random, 10)) {
        sstore_keeper_free(keeper);
    } else {
        take_dropped(self, keeper);
        check(self);
    }
    assert_empty(self->folder);
    scratch_remove(self->folder);
    const size_t dropped_count = self->dropped_count;
    free(self->rows);
    free(self->records);
    free(self);
    return dropped_count;
}

static void test_random_records(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
    uint64_t dropped_count = 0;
    for (uint64_t i = 0; i < cases; i++)
        dropped_count += run_case(run_seed + i);
    testing_figure("%" PRIu64 " sets of records of 64 to 1,024 bits, of which %" PRIu64 " records were dropped", cases,
                   dropped_count);
    testing_done();
}

/* ----- more records than memory ----- */

#define MANY 400000u

/* Each record is near the one before it, so all are a chain that only the model of a chain can tell quickly. */
static void test_many(void **state)
{
    sstore_keeper_options options = SSTORE_KEEPER_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    uint64_t *rows = malloc(MANY * sizeof *rows), *priorities = malloc(MANY * sizeof *priorities);
    rng random = rng_seeded(run_seed + 1000000);
    uint64_t number, kept, checked = 0;
    uint32_t distance;
    for (uint64_t i = 0; i < MANY; i++) {
        rows[i] = rng_mix(i / 4) ^ (UINT64_C(1) << rng_below(&random, 64));
        priorities[i] = ~i;
    }
    options.distance = 2;
    options.memory_bytes = UINT64_C(8) << 20;
    options.tmp_dir = scratch_folder();
    for (int strict = 0; strict < 2; strict++) {
        sstore_keeper *keeper;
        sstore_iterator *iterator;
        size_t count = 1;
        const sstore_columns columns = {.struct_size = sizeof columns,
                                        .id = &number,
                                        .other_id = &kept,
                                        .distance = &distance};
        options.strict = strict;
        assert_ok(sstore_keeper_create(&options, &keeper, &error), &error);
        assert_ok(sstore_keeper_add(keeper, rows, priorities, MANY, &error), &error);
        assert_ok(sstore_keeper_finish(keeper, &iterator, &error), &error);
        for (checked = 0;; checked++) {
            assert_ok(sstore_iterator_next(iterator, &columns, 1, &count, &error), &error);
            if (count == 0)
                break;
            assert_int_equal(number, checked / 3 * 4 + checked % 3); /* the last of four is kept */
            assert_int_equal(kept, number / 4 * 4 + 3);
            assert_int_equal(distance, sstore_hamming_distance(&rows[number], &rows[kept], 64));
        }
        assert_int_equal(checked, MANY / 4 * 3);
        sstore_iterator_free(iterator);
    }
    free(rows);
    free(priorities);
    testing_done();
}

/* ----- arguments and stops ----- */

static int stop(void *context, uint64_t kept_number, uint64_t record_count)
{
    *(bool *)context = kept_number == 0 && record_count == 2;
    return 1;
}

static void test_arguments(void **state)
{
    const uint64_t rows[2] = {1, 3}, priorities[2] = {1, 1};
    sstore_keeper_options options = SSTORE_KEEPER_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    sstore_keeper *keeper;
    sstore_iterator *iterator;
    bool stopped = false;
    options.tmp_dir = scratch_folder();
    assert_status(sstore_keeper_create(&options, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_keeper_add(NULL, rows, NULL, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_keeper_finish(NULL, &iterator, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.confirm = confirm;
    assert_status(sstore_keeper_create(&options, &keeper, &error), SSTORE_ERROR_ARGUMENT, &error);
    options.confirm = NULL;
    options.distance = 17;
    assert_status(sstore_keeper_create(&options, &keeper, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_null(keeper);
    options.distance = 3;
    options.tmp_dir = scratch_path("nowhere");
    assert_status(sstore_keeper_create(&options, &keeper, &error), SSTORE_ERROR_NOT_FOUND, &error);
    options.tmp_dir = scratch_folder();
    assert_ok(sstore_keeper_create(&options, &keeper, &error), &error);
    assert_ok(sstore_keeper_add(keeper, rows, priorities, 2, &error), &error);
    assert_status(sstore_keeper_add(keeper, rows, NULL, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_keeper_add(keeper, NULL, NULL, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_ok(sstore_keeper_skip(keeper, UINT64_MAX - 2, &error), &error);
    assert_status(sstore_keeper_skip(keeper, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_keeper_add(keeper, rows, priorities, 1, &error), SSTORE_ERROR_ARGUMENT, &error);
    assert_status(sstore_keeper_finish(keeper, NULL, &error), SSTORE_ERROR_ARGUMENT, &error);
    for (int kind = 0; kind < 4; kind++) {
        options.max_group = 1;
        options.strict = kind % 2 == 1;
        options.on_large_group = stop;
        options.large_group_context = &stopped;
        assert_ok(sstore_keeper_create(&options, &keeper, &error), &error);
        assert_ok(sstore_keeper_add(keeper, rows, kind / 2 == 1 ? priorities : NULL, 2, &error), &error);
        assert_int_equal(sstore_keeper_finish(keeper, &iterator, &error), SSTORE_STOPPED);
        assert_null(iterator);
        assert_true(stopped);
    }
    sstore_keeper_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_random_records, testing_teardown),
                                       cmocka_unit_test_teardown(test_many, testing_teardown),
                                       cmocka_unit_test(test_arguments)};
    rng_start_run();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
