/* The sorter must equal qsort(): with and without spilling, items of one to three words, one thread and several,
 * read twice. */
#include "sort/sorter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/tasks.h"
#include "sort/radix.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define MIN_MEMORY ((uint64_t)1 << 20) /* of records that are spilled */
#define SPILLING_RECORDS 300000

/* ----- helpers ----- */

enum { KEYS = 1, RECORDS = 2, TRIPLES = 3 };

typedef struct input {
    uint32_t item_words;
    size_t count;
    uint64_t *fingerprints, *ids, *thirds; /* the words of each item, of which it has the first item_words */
    ss_triple *wanted;                     /* sorted, each once; words that an item does not have are 0 */
    size_t wanted_count;
} input;

static int compare_words(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_items(const void *left, const void *right)
{
    const ss_triple *a = left, *b = right;
    int by_first = compare_words(a->first, b->first), by_second = compare_words(a->second, b->second);
    return by_first != 0 ? by_first : by_second != 0 ? by_second : compare_words(a->third, b->third);
}

static ss_triple input_item(const input *made, size_t i)
{
    return (ss_triple){made->fingerprints[i], made->item_words >= RECORDS ? made->ids[i] : 0,
                       made->item_words >= TRIPLES ? made->thirds[i] : 0};
}

/* Compute `wanted` from the items. */
static void input_want(input *made)
{
    made->wanted_count = 0;
    for (size_t i = 0; i < made->count; i++)
        made->wanted[i] = input_item(made, i);
    qsort(made->wanted, made->count, sizeof *made->wanted, compare_items);
    for (size_t i = 0; i < made->count; i++)
        if (i == 0 || compare_items(&made->wanted[i], &made->wanted[made->wanted_count - 1]) != 0)
            made->wanted[made->wanted_count++] = made->wanted[i];
}

/* `distinct` bounds how many fingerprints there are, so that equal items come up in different runs; 0: any. */
static void input_make(input *made, rng *random, uint32_t item_words, size_t count, uint64_t distinct)
{
    *made = (input){.item_words = item_words, .count = count};
    made->fingerprints = malloc((count + 1) * sizeof(uint64_t));
    made->ids = malloc((count + 1) * sizeof(uint64_t));
    made->thirds = malloc((count + 1) * sizeof(uint64_t));
    made->wanted = malloc((count + 1) * sizeof(ss_triple));
    for (size_t i = 0; i < count; i++) {
        made->fingerprints[i] = distinct == 0 ? rng_next(random) : rng_mix(rng_below(random, distinct));
        made->ids[i] = rng_one_in(random, 100) ? UINT64_MAX : rng_below(random, 4);
        made->thirds[i] = rng_one_in(random, 100) ? UINT64_MAX : rng_below(random, 3);
    }
    input_want(made);
}

static void input_free(input *made)
{
    free(made->fingerprints);
    free(made->ids);
    free(made->thirds);
    free(made->wanted);
}

static ss_dir open_scratch(void)
{
    ss_dir dir;
    sstore_error error = {.status = SSTORE_OK};
    assert_ok(ss_dir_open(scratch_folder(), &dir, &error), &error);
    return dir;
}

/* How a sorter is set up. */
typedef struct setting {
    uint32_t writers;
    uint64_t memory_bytes;
    size_t piece_capacity;
    bool knows_count;
} setting;

static setting setting_make(rng *random, uint64_t memory_bytes)
{
    return (setting){.writers = (uint32_t)rng_between(random, 1, 3),
                     .memory_bytes = memory_bytes,
                     .piece_capacity = rng_one_in(random, 3) ? rng_between(random, 1, 100)
                                                             : rng_between(random, 100, 90000),
                     .knows_count = rng_one_in(random, 2)};
}

static ss_chunk_pool pool; /* of the sorter in use */

/* The previous sorter must have been freed. */
static ss_sorter *open_sorter(const input *from, const setting *how, const ss_dir *dir)
{
    ss_sorter *sorter = NULL;
    sstore_error error = {.status = SSTORE_OK};
    assert_int_equal(pool.taken, 0);
    ss_chunk_pool_close(&pool);
    assert_ok(ss_sorter_pool_open(&pool, how->memory_bytes, how->writers, &error), &error);
    const ss_sorter_options options = {.item_words = from->item_words,
                                       .writers = how->writers,
                                       .pool = &pool,
                                       .piece_capacity = how->piece_capacity,
                                       .expected_count = how->knows_count ? from->count : UINT64_MAX,
                                       .tmp_dir = dir};
    assert_ok(ss_sorter_create(&options, &sorter, &error), &error);
    return sorter;
}

/* Add items begin .. end-1, as columns or one after the other. */
static sstore_status add_items(ss_sorter *sorter, uint32_t writer, const input *from, size_t begin, size_t end,
                               bool as_columns, sstore_error *error)
{
    const size_t item_bytes = from->item_words * sizeof(uint64_t);
    if (as_columns && from->item_words <= RECORDS)
        return ss_sorter_add(sorter, writer, from->fingerprints + begin,
                             from->item_words == RECORDS ? from->ids + begin : NULL, end - begin, error);
    uint8_t *items = malloc((end - begin) * item_bytes + 1);
    for (size_t i = begin; i < end; i++) {
        const ss_triple item = input_item(from, i);
        memcpy(items + (i - begin) * item_bytes, &item, item_bytes);
    }
    sstore_status status = ss_sorter_add_items(sorter, writer, items, end - begin, error);
    free(items);
    return status;
}

/* A sorter with the input in it, added in parts of any size by any writer. */
static ss_sorter *fill_sorter(const input *from, const setting *how, const ss_dir *dir, rng *random)
{
    ss_sorter *sorter = open_sorter(from, how, dir);
    sstore_error error = {.status = SSTORE_OK};
    for (size_t done = 0; done < from->count;) {
        size_t part = rng_one_in(random, 3) ? rng_below(random, 3) : rng_between(random, 1, 50000);
        part = part < from->count - done ? part : from->count - done;
        const uint32_t writer = (uint32_t)rng_below(random, how->writers);
        assert_ok(add_items(sorter, writer, from, done, done + part, rng_one_in(random, 2), &error), &error);
        done += part;
    }
    assert_int_equal(ss_sorter_count(sorter), from->count);
    return sorter;
}

static void finish(ss_sorter *sorter)
{
    sstore_error error = {.status = SSTORE_OK};
    ss_progress nobody = {.report = NULL};
    const uint64_t count = ss_sorter_count(sorter);
    assert_ok(ss_sorter_finish(sorter, &nobody, &error), &error);
    assert_int_equal(ss_sorter_count(sorter), count); /* also if buckets were partitioned again */
}

/* Items with the first word of a piece's first or last item are in no other piece, unless that one has no others. */
static void check_first_words(const input *from, size_t begin, size_t count)
{
    const ss_triple *items = from->wanted + begin;
    if (count == 0 || items[0].first == items[count - 1].first)
        return;
    assert_true(begin == 0 || items[-1].first != items[0].first);
    assert_true(begin + count == from->wanted_count || items[count - 1].first != items[count].first);
}

/* Load a piece; its items are wanted[*done ...]. */
static void check_piece(ss_sorter *sorter, size_t piece, const input *from, const setting *how, size_t *done)
{
    sstore_error error = {.status = SSTORE_OK};
    void *items = malloc(how->piece_capacity * sizeof(ss_triple));
    void *scratch = malloc(how->piece_capacity * sizeof(ss_triple));
    size_t count;
    assert_ok(ss_sorter_load(sorter, piece, items, scratch, &count, &error), &error);
    assert_in_range(count, 0, how->piece_capacity);
    assert_true(count <= from->wanted_count - *done);
    const size_t item_bytes = from->item_words * sizeof(uint64_t);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal((uint8_t *)items + i * item_bytes, &from->wanted[*done + i], item_bytes);
    check_first_words(from, *done, count);
    *done += count;
    free(items);
    free(scratch);
}

/* Load all pieces in order. */
static void check_all(ss_sorter *sorter, const input *from, const setting *how)
{
    size_t done = 0;
    for (size_t piece = 0; piece < ss_sorter_piece_count(sorter); piece++)
        check_piece(sorter, piece, from, how, &done);
    assert_int_equal(done, from->wanted_count);
}

static void check_nothing_left(void)
{
    file_list left = file_list_make(scratch_folder(), "");
    assert_int_equal(left.count, 0); /* the spill file is unnamed */
    file_list_free(&left);
}

static void check_sort(rng *random, uint32_t item_words, size_t count, uint64_t distinct, const setting *how,
                       bool spills)
{
    input from;
    ss_dir dir = open_scratch();
    testing_doing("%zu items of %u words, %" PRIu64 " distinct, %" PRIu64
                  " bytes of memory, %u writers, pieces of %zu, seed %" PRIu64,
                  count, item_words, distinct, how->memory_bytes, how->writers, how->piece_capacity, run_seed);
    input_make(&from, random, item_words, count, distinct);
    ss_sorter *sorter = fill_sorter(&from, how, &dir, random);
    finish(sorter);
    assert_int_equal(ss_sorter_spilled_bytes(sorter) > 0, spills);
    check_all(sorter, &from, how);
    check_all(sorter, &from, how); /* again: now some are sorted already */
    check_nothing_left();
    ss_sorter_free(sorter);
    input_free(&from);
    ss_dir_close(&dir);
}

/* ----- tests ----- */

static void test_in_memory(void **state)
{
    rng random = rng_seeded(run_seed);
    static const size_t counts[] = {0, 1, 2, 3, 100, 4095, 4096, 4097, 50000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts * 6; i++) {
        const size_t count = counts[i / 6];
        const setting how = setting_make(&random, (uint64_t)1 << 28);
        check_sort(&random, KEYS + (uint32_t)(i % 3), count, i % 6 < 3 ? 0 : count / 3 + 1, &how, false);
    }
    testing_done();
}

static void test_spilling(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    for (int i = 0; i < (testing_sanitized() ? 1 : 4); i++) {
        const setting how = setting_make(&random, MIN_MEMORY);
        check_sort(&random, RECORDS, SPILLING_RECORDS, 0, &how, true);
        check_sort(&random, RECORDS, SPILLING_RECORDS, SPILLING_RECORDS / 6, &how,
                   true); /* equal ones in different runs */
        check_sort(&random, KEYS, SPILLING_RECORDS, SPILLING_RECORDS / 2, &how, true);
        check_sort(&random, RECORDS, SPILLING_RECORDS, 1, &how, true); /* one fingerprint, five ids */
        check_sort(&random, TRIPLES, SPILLING_RECORDS, 0, &how, true);
        check_sort(&random, TRIPLES, SPILLING_RECORDS, SPILLING_RECORDS / 6, &how, true);
        check_sort(&random, TRIPLES, SPILLING_RECORDS, 1, &how, true); /* as well, and four third words */
        check_sort(&random, KEYS, SPILLING_RECORDS, 1, &how, true);
    }
    testing_done();
}

/* The minimum memory works, slowly. */
static void test_hardly_any_memory(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    for (uint64_t memory = 0; memory <= 16384; memory += 1024) {
        setting how = setting_make(&random, memory);
        how.piece_capacity = 1 + rng_below(&random, 1000);
        check_sort(&random, RECORDS, 20000, 0, &how, true);
        check_sort(&random, KEYS, 20000, 7000, &how, true);
        check_sort(&random, TRIPLES, 20000, 7000, &how, true);
    }
    testing_done();
}

/* Items that differ only in their lowest bits, or of which one is far from all others: buckets are partitioned
 * again. */
static void test_uneven(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    for (int i = 0; i < 12; i++) {
        const setting how = {.writers = i % 2 == 0 ? 1 : 2,
                             .memory_bytes = i % 4 < 2 ? MIN_MEMORY : MIN_MEMORY << 8,
                             .piece_capacity = 50 + rng_below(&random, 2000)};
        input from;
        ss_dir dir = open_scratch();
        testing_doing("case %d, pieces of %zu, seed %" PRIu64, i, how.piece_capacity, run_seed);
        input_make(&from, &random, KEYS + (uint32_t)(i / 4), 100000, 0);
        for (size_t j = 0; j < from.count; j++) {
            from.fingerprints[j] = rng_one_in(&random, 1000) ? rng_next(&random)
                                                             : (j % 7) << 20 | rng_below(&random, 3000);
            from.ids[j] = rng_one_in(&random, 50) ? rng_next(&random) : j % 50000;
            if (from.item_words == TRIPLES) { /* many of one first word, and of one first and second word */
                from.thirds[j] = from.ids[j];
                from.fingerprints[j] = rng_one_in(&random, 3) ? 5 : from.fingerprints[j] % 16;
                from.ids[j] = rng_one_in(&random, 3) ? from.ids[j] : 7;
            }
        }
        input_want(&from);
        ss_sorter *sorter = fill_sorter(&from, &how, &dir, &random);
        finish(sorter);
        check_all(sorter, &from, &how);
        check_all(sorter, &from, &how);
        ss_sorter_free(sorter);
        input_free(&from);
        ss_dir_close(&dir);
    }
    testing_done();
}

static void test_free_at_any_time(void **state)
{
    rng random = rng_seeded(run_seed + 4);
    ss_dir dir = open_scratch();
    const setting how = {.writers = 2, .memory_bytes = MIN_MEMORY, .piece_capacity = 1000};
    input from;
    ss_sorter_free(NULL);
    input_make(&from, &random, RECORDS, 100000, 0);
    ss_sorter_free(open_sorter(&from, &how, &dir));
    ss_sorter_free(fill_sorter(&from, &how, &dir, &random));
    ss_sorter *sorter = fill_sorter(&from, &how, &dir, &random);
    finish(sorter);
    ss_sorter_free(sorter);
    input_free(&from);
    ss_dir_close(&dir);
}

/* If nothing can be spilled, adding fails. */
static void test_no_place_to_spill(void **state)
{
    rng random = rng_seeded(run_seed + 5);
    sstore_error error = {.status = SSTORE_OK};
    char path[] = "closed";
    const ss_dir closed = {.fd = -1, .path = path};
    const setting how = {.writers = 1, .memory_bytes = MIN_MEMORY, .piece_capacity = 1000};
    input from;
    input_make(&from, &random, RECORDS, 100000, 0);
    ss_sorter *sorter = open_sorter(&from, &how, &closed);
    assert_status(ss_sorter_add(sorter, 0, from.fingerprints, from.ids, from.count, &error), SSTORE_ERROR_IO, &error);
    assert_true(error.system_errno != 0);
    ss_sorter_free(sorter);
    input_free(&from);
}

/* ----- several threads ----- */

typedef struct crowd {
    const input *from;
    const setting *how;
    ss_sorter *sorter;
    size_t *piece_ends; /* of the wanted items */
} crowd;

#define PARTS 64u

static sstore_status add_part(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const crowd *self = context;
    const size_t begin = self->from->count * task / PARTS, end = self->from->count * (task + 1) / PARTS;
    return add_items(self->sorter, worker, self->from, begin, end, true, error);
}

static sstore_status load_piece(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const crowd *self = context;
    const size_t pieces = ss_sorter_piece_count(self->sorter), piece = task % pieces;
    size_t done = piece == 0 ? 0 : self->piece_ends[piece - 1];
    check_piece(self->sorter, piece, self->from, self->how, &done);
    assert_int_equal(done, self->piece_ends[piece]);
    return SSTORE_OK;
}

/* Threads add at once, and load at once. */
static void test_threads(void **state)
{
    rng random = rng_seeded(run_seed + 6);
    for (int i = 0; i < 6; i++) {
        const setting how = {.writers = 4,
                             .memory_bytes = MIN_MEMORY << (i % 2 * 5),
                             .piece_capacity = 3000,
                             .knows_count = i % 2 == 1};
        input from;
        ss_dir dir = open_scratch();
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("case %d, seed %" PRIu64, i, run_seed);
        input_make(&from, &random, KEYS + (uint32_t)(i / 2), SPILLING_RECORDS, SPILLING_RECORDS / 2);
        crowd all = {.from = &from, .how = &how, .sorter = open_sorter(&from, &how, &dir)};
        assert_ok(ss_pool_run(how.writers, PARTS, add_part, &all, &error), &error);
        finish(all.sorter);
        const size_t pieces = ss_sorter_piece_count(all.sorter);
        all.piece_ends = calloc(pieces, sizeof *all.piece_ends);
        for (size_t piece = 0, done = 0; piece < pieces; piece++) {
            check_piece(all.sorter, piece, &from, &how, &done);
            all.piece_ends[piece] = done;
        }
        assert_int_equal(all.piece_ends[pieces - 1], from.wanted_count);
        assert_ok(ss_pool_run(4, pieces, load_piece, &all, &error), &error);
        ss_sorter_free(all.sorter);
        all.sorter = open_sorter(&from, &how, &dir); /* and without a piece that was loaded before */
        assert_ok(ss_pool_run(how.writers, PARTS, add_part, &all, &error), &error);
        finish(all.sorter);
        assert_int_equal(ss_sorter_piece_count(all.sorter), pieces);
        assert_ok(ss_pool_run(4, pieces, load_piece, &all, &error), &error);
        ss_sorter_free(all.sorter);
        free(all.piece_ends);
        input_free(&from);
        ss_dir_close(&dir);
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_in_memory, testing_teardown),
        cmocka_unit_test_teardown(test_spilling, testing_teardown),
        cmocka_unit_test_teardown(test_hardly_any_memory, testing_teardown),
        cmocka_unit_test_teardown(test_uneven, testing_teardown),
        cmocka_unit_test_teardown(test_threads, testing_teardown),
        cmocka_unit_test(test_free_at_any_time),
        cmocka_unit_test(test_no_place_to_spill),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ss_chunk_pool_close(&pool);
    return failed;
}
