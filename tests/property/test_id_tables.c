/* Id tables of random names, made in one go or continued many times, against a plain array: every lookup, all entries
 * in order, and the same bytes however often the table was continued. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names/id_table_reader.h"
#include "names/id_table_writer.h"
#include "output/new_file.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define DEFAULT_CASES 200u
#define MAX_NAMES 3000u

typedef struct entry {
    uint64_t id;
    char *name;
    size_t length;
} entry;

typedef struct entries {
    entry items[MAX_NAMES];
    size_t count;
} entries;

/* ----- random names ----- */

static size_t random_length(rng *random)
{
    return (size_t)(rng_one_in(random, 300)  ? rng_below(random, 20000)
                    : rng_one_in(random, 20) ? rng_below(random, 300)
                                             : rng_below(random, 40));
}

/* Names that begin as the ones before them, of few or all bytes. */
static void add_random(rng *random, entries *to, uint64_t id)
{
    const entry *before = to->count > 0 ? &to->items[to->count - 1] : NULL;
    entry *made = &to->items[to->count++];
    size_t shared = before != NULL && !rng_one_in(random, 4) ? (size_t)rng_below(random, before->length + 1) : 0;
    const size_t rest = random_length(random);
    *made = (entry){.id = id, .name = malloc(shared + rest + 1), .length = shared + rest};
    assert_non_null(made->name);
    if (shared > 0)
        memcpy(made->name, before->name, shared);
    for (size_t i = 0; i < rest; i++)
        made->name[shared + i] = (char)(rng_one_in(random, 50) ? rng_next(random) : 'a' + rng_below(random, 3));
}

static void make_entries(rng *random, entries *to)
{
    uint64_t id = rng_one_in(random, 2) ? 0 : rng_next(random) >> rng_below(random, 64);
    const size_t count = (size_t)(rng_one_in(random, 10) ? rng_below(random, 4) : rng_below(random, MAX_NAMES));
    const bool dense = rng_one_in(random, 2);
    to->count = 0;
    while (to->count < count) {
        add_random(random, to, id);
        const uint64_t step = dense && !rng_one_in(random, 30) ? 1
                                                               : 1 + (rng_next(random) >> rng_between(random, 8, 63));
        if (step > UINT64_MAX - id)
            return;
        id += step;
    }
}

static void free_entries(entries *self)
{
    while (self->count > 0)
        free(self->items[--self->count].name);
}

/* ----- making and checking tables ----- */

/* Write entries from `begin` to `end`, after those that the table has. */
static void write_table(const char *path, const entries *all, size_t begin, size_t end)
{
    id_table_writer *table;
    sstore_error error;
    assert_ok(id_table_writer_open(path, &table, &error), &error);
    assert_int_equal(id_table_writer_count(table), begin);
    assert_true(begin == 0 || id_table_writer_last_id(table) == all->items[begin - 1].id);
    for (size_t i = begin; i < end; i++)
        assert_ok(id_table_writer_add(table, all->items[i].id, all->items[i].name, all->items[i].length, &error),
                  &error);
    assert_ok(id_table_writer_commit(table, &error), &error);
    id_table_writer_free(table);
}

typedef struct comparison {
    const entries *all;
    size_t seen;
} comparison;

static bool compare_next(void *context, uint64_t id, const char *name, size_t length)
{
    comparison *with = context;
    assert_true(with->seen < with->all->count);
    const entry *expected = &with->all->items[with->seen++];
    assert_true(id == expected->id);
    assert_int_equal(length, expected->length);
    assert_memory_equal(name, expected->name, length);
    return true;
}

/* The entry of an id, or NULL. */
static const entry *find_entry(const entries *all, uint64_t id)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].id == id)
            return &all->items[i];
    return NULL;
}

static void check_lookup(id_table_reader *table, const entries *all, uint64_t id)
{
    const entry *expected = find_entry(all, id);
    sstore_error error;
    const char *name;
    size_t length;
    assert_ok(id_table_reader_find(table, id, &name, &length, &error), &error);
    assert_true((name != NULL) == (expected != NULL));
    if (expected == NULL)
        return;
    assert_int_equal(length, expected->length);
    assert_memory_equal(name, expected->name, length);
}

static uint64_t check_table(rng *random, const char *path, const entries *all)
{
    id_table_reader *table;
    sstore_error error;
    comparison with = {.all = all};
    const uint64_t lookups = 200;
    assert_ok(id_table_reader_open(path, &table, &error), &error);
    assert_int_equal(id_table_reader_count(table), all->count);
    assert_ok(id_table_reader_each(table, compare_next, &with, &error), &error);
    assert_int_equal(with.seen, all->count);
    for (uint64_t i = 0; i < lookups; i++) {
        const uint64_t near = all->count > 0 ? all->items[rng_below(random, all->count)].id : 0;
        check_lookup(table, all, rng_one_in(random, 10) ? rng_next(random) : near + rng_below(random, 3) - 1);
    }
    for (size_t i = 0; i < all->count && i < 100; i++) /* in order */
        check_lookup(table, all, all->items[i].id);
    id_table_reader_close(table);
    return lookups;
}

static void assert_same_file(const char *left, const char *right)
{
    file_bytes a = file_load(left), b = file_load(right);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    file_bytes_free(&a);
    file_bytes_free(&b);
}

static void test_random_names(void **state)
{
    static entries all;
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", DEFAULT_CASES);
    uint64_t entry_count = 0, lookup_count = 0;
    for (uint64_t number = 0; number < cases; number++) {
        rng random = rng_seeded(run_seed + number);
        const char *at_once = scratch_path("at-once"), *continued = scratch_path("continued");
        testing_doing("case %" PRIu64, number);
        scratch_remove(at_once);
        scratch_remove(continued);
        make_entries(&random, &all);
        write_table(at_once, &all, 0, all.count);
        lookup_count += check_table(&random, at_once, &all);
        for (size_t begin = 0, end; begin < all.count || begin == 0; begin = end) {
            end = begin + (size_t)rng_below(&random, all.count - begin + 1);
            end += end == begin && begin < all.count;
            write_table(continued, &all, begin, end);
            if (begin == all.count)
                break;
        }
        assert_same_file(at_once, continued);
        entry_count += all.count;
        free_entries(&all);
    }
    testing_done();
    testing_figure("%" PRIu64 " tables of %" PRIu64 " names, %" PRIu64 " random lookups", cases, entry_count,
                   lookup_count);
}

/* ----- one writer at a time; what fails changes nothing ----- */

static void test_writers(void **state)
{
    const char *path = scratch_path("locked");
    entries *all = calloc(1, sizeof *all);
    id_table_writer *table, *second;
    id_table_reader *reader;
    sstore_error error;
    assert_non_null(all);
    assert_ok(id_table_writer_open(path, &table, &error), &error);
    assert_status(id_table_writer_open(path, &second, &error), SSTORE_ERROR_BUSY, &error);
    assert_ok(id_table_writer_add(table, 5, "five", 4, &error), &error);
    assert_status(id_table_writer_add(table, 5, "again", 5, &error), SSTORE_ERROR_ARGUMENT, &error);
    id_table_writer_free(table); /* not committed */
    assert_status(id_table_reader_open(path, &reader, &error), SSTORE_ERROR_NOT_FOUND, &error);
    assert_false(scratch_exists(scratch_path("locked" NEW_FILE_SUFFIX)));

    file_save(scratch_path("locked" NEW_FILE_SUFFIX), "left by a killed writer", 23);
    assert_ok(id_table_writer_open(path, &table, &error), &error);
    assert_ok(id_table_writer_add(table, 5, "five", 4, &error), &error);
    assert_ok(id_table_writer_commit(table, &error), &error);
    /* The next writer may begin although the last one was not freed yet, and leaves the link and the mode alone. */
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("locked", scratch_path("link")), 0);
    assert_ok(id_table_writer_open(scratch_path("link"), &second, &error), &error);
    id_table_writer_free(table);
    assert_ok(id_table_writer_add(second, 6, "", 0, &error), &error);
    assert_ok(id_table_writer_commit(second, &error), &error);
    id_table_writer_free(second);
    all->items[all->count++] = (entry){.id = 5, .name = strdup("five"), .length = 4};
    all->items[all->count++] = (entry){.id = 6, .name = strdup("")};
    rng random = rng_seeded(run_seed);
    (void)check_table(&random, path, all);
    struct stat info;
    assert_int_equal(lstat(scratch_path("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    free_entries(all);
    free(all);
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random_names, testing_teardown),
        cmocka_unit_test(test_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
