/* The sorter must equal qsort(): with and without spilling, items of 1 to SS_MAX_ITEM_WORDS words, one thread and
 * several, read twice. */
#include "sort/sorter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/tasks.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define MIN_MEMORY ((uint64_t)1 << 20) /* of records that are spilled */
#define SPILLING_RECORDS 300000

/* ----- helpers ----- */

enum { KEYS = 1, RECORDS = 2, TRIPLES = 3, MOST = SS_MAX_ITEM_WORDS };

typedef struct input {
    uint32_t item_words;
    size_t count;
    uint64_t *items;  /* one after the other */
    uint64_t *wanted; /* sorted, each once */
    size_t wanted_count;
} input;

static uint32_t compared_words; /* by compare_items() */

static int compare_items(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    for (uint32_t word = 0; word < compared_words; word++)
        if (a[word] != b[word])
            return a[word] < b[word] ? -1 : 1;
    return 0;
}

static size_t bytes_of(const input *made)
{
    return made->item_words * sizeof(uint64_t);
}

static uint64_t *input_item(const input *made, size_t i)
{
    return made->items + i * made->item_words;
}

static uint64_t *wanted_item(const input *made, size_t i)
{
    return made->wanted + i * made->item_words;
}

/* Compute `wanted` from the items. */
static void input_want(input *made)
{
    made->wanted_count = 0;
    memcpy(made->wanted, made->items, made->count * bytes_of(made));
    compared_words = made->item_words;
    qsort(made->wanted, made->count, bytes_of(made), compare_items);
    for (size_t i = 0; i < made->count; i++)
        if (i == 0 || compare_items(wanted_item(made, i), wanted_item(made, made->wanted_count - 1)) != 0)
            memmove(wanted_item(made, made->wanted_count++), wanted_item(made, i), bytes_of(made));
}

/* Items of zeros. */
static input input_open(uint32_t item_words, size_t count)
{
    return (input){.item_words = item_words,
                   .count = count,
                   .items = calloc(count + 1, item_words * sizeof(uint64_t)),
                   .wanted = calloc(count + 1, item_words * sizeof(uint64_t))};
}

/* `distinct` bounds how many first words there are, so that equal items come up in different runs; 0: any. */
static void input_make(input *made, rng *random, uint32_t item_words, size_t count, uint64_t distinct)
{
    *made = input_open(item_words, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t *item = input_item(made, i);
        item[0] = distinct == 0 ? rng_next(random) : rng_mix(rng_below(random, distinct));
        for (uint32_t word = 1; word < item_words; word++)
            item[word] = rng_one_in(random, 100) ? UINT64_MAX : rng_below(random, word % 2 == 1 ? 4 : 3);
    }
    input_want(made);
}

/* What the words of one column are like. */
enum { ANY, CONSTANT, FEW, LOW, SKEWED, KIND_COUNT };

static uint64_t make_word(rng *random, uint64_t kind)
{
    switch (kind) {
    case CONSTANT: return UINT64_C(0x5a5a5a5a00000000);
    case FEW: return rng_mix(rng_below(random, 4));
    case LOW: return rng_below(random, 3000);
    case SKEWED: return rng_one_in(random, 1000) ? rng_next(random) : 7;
    default: return rng_next(random);
    }
}

/* Each word of a random kind, and many items as another one, or nearly so. */
static void input_make_mixed(input *made, rng *random, uint32_t item_words, size_t count)
{
    uint64_t kinds[MOST];
    *made = input_open(item_words, count);
    for (uint32_t word = 0; word < item_words; word++)
        kinds[word] = rng_one_in(random, 3) ? CONSTANT : rng_below(random, KIND_COUNT);
    for (size_t i = 0; i < count; i++) {
        uint64_t *item = input_item(made, i);
        for (uint32_t word = 0; word < item_words; word++)
            item[word] = make_word(random, kinds[word]);
        if (i == 0 || !rng_one_in(random, 3))
            continue;
        memcpy(item, input_item(made, rng_below(random, i)), bytes_of(made));
        if (rng_one_in(random, 2))
            item[rng_below(random, item_words)] ^= rng_below(random, 3);
    }
    input_want(made);
}

static void input_free(input *made)
{
    free(made->items);
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

/* Add items begin .. end-1; `as_columns`: with their last words apart, as ids. */
static sstore_status add_items(ss_sorter *sorter, uint32_t writer, const input *from, size_t begin, size_t end,
                               bool as_columns, sstore_error *error)
{
    const size_t count = end - begin, fingerprint_words = from->item_words - 1;
    if (from->item_words == KEYS) /* whose ids are not read */
        return ss_sorter_add(sorter, writer, input_item(from, begin), as_columns ? from->wanted : NULL, count, error);
    if (!as_columns && begin % 2 == 0)
        return ss_sorter_add(sorter, writer, input_item(from, begin), NULL, count, error);
    if (!as_columns)
        return ss_sorter_add_items(sorter, writer, input_item(from, begin), count, error);
    uint64_t *fingerprints = malloc(count * bytes_of(from) + 1), *ids = malloc(count * sizeof *ids + 1);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *item = input_item(from, begin + i);
        memcpy(fingerprints + i * fingerprint_words, item, fingerprint_words * sizeof *item);
        ids[i] = item[fingerprint_words];
    }
    sstore_status status = ss_sorter_add(sorter, writer, fingerprints, ids, count, error);
    free(fingerprints);
    free(ids);
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

/* Whether two items have the same first `words` words. */
static bool begin_same(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    return memcmp(a, b, words * sizeof *a) == 0;
}

/* Items with the first words of a piece's first or last item, however many, are in no other piece, unless that one has
 * no others. */
static void check_first_words(const input *from, size_t begin, size_t count)
{
    if (count == 0)
        return;
    const uint64_t *first = wanted_item(from, begin), *last = wanted_item(from, begin + count - 1);
    for (uint32_t words = 1; words < from->item_words; words++) {
        if (begin_same(first, last, words))
            continue;
        assert_true(begin == 0 || !begin_same(wanted_item(from, begin - 1), first, words));
        assert_true(begin + count == from->wanted_count || !begin_same(last, wanted_item(from, begin + count), words));
    }
}

/* Load a piece; its items are wanted[*done ...]. */
static void check_piece(ss_sorter *sorter, size_t piece, const input *from, const setting *how, size_t *done)
{
    sstore_error error = {.status = SSTORE_OK};
    void *items = malloc(how->piece_capacity * bytes_of(from));
    void *scratch = malloc(how->piece_capacity * bytes_of(from));
    size_t count;
    assert_ok(ss_sorter_load(sorter, piece, items, scratch, &count, &error), &error);
    assert_in_range(count, 0, how->piece_capacity);
    assert_true(count <= from->wanted_count - *done);
    assert_memory_equal(items, wanted_item(from, *done), count * bytes_of(from));
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

/* Sort the input, and free it. */
static void check_input(rng *random, input *from, const setting *how, ss_dir *dir, bool *spilled_out)
{
    ss_sorter *sorter = fill_sorter(from, how, dir, random);
    finish(sorter);
    *spilled_out = ss_sorter_spilled_bytes(sorter) > 0;
    check_all(sorter, from, how);
    check_all(sorter, from, how); /* again: now some are sorted already */
    check_nothing_left();
    ss_sorter_free(sorter);
    input_free(from);
}

static void check_sort(rng *random, uint32_t item_words, size_t count, uint64_t distinct, const setting *how,
                       bool spills)
{
    input from;
    ss_dir dir = open_scratch();
    bool spilled;
    testing_doing("%zu items of %u words, %" PRIu64 " distinct, %" PRIu64
                  " bytes of memory, %u writers, pieces of %zu, seed %" PRIu64,
                  count, item_words, distinct, how->memory_bytes, how->writers, how->piece_capacity, run_seed);
    input_make(&from, random, item_words, count, distinct);
    check_input(random, &from, how, &dir, &spilled);
    assert_int_equal(spilled, spills);
    ss_dir_close(&dir);
}

/* More words than those of triples. */
static uint32_t many_words(rng *random)
{
    return (uint32_t)rng_between(random, TRIPLES + 1, MOST);
}

/* ----- tests ----- */

static void test_in_memory(void **state)
{
    rng random = rng_seeded(run_seed);
    static const size_t counts[] = {0, 1, 2, 3, 100, 4095, 4096, 4097, 50000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts * 8; i++) {
        const size_t count = counts[i / 8];
        setting how = setting_make(&random, (uint64_t)1 << 28);
        if (how.piece_capacity < count / 1000) /* of thousands of pieces, each takes a chunk of memory */
            how.piece_capacity = count / 1000;
        const uint32_t words = i % 4 < 3 ? KEYS + (uint32_t)(i % 4) : many_words(&random);
        check_sort(&random, words, count, i % 8 < 4 ? 0 : count / 3 + 1, &how, false);
    }
    testing_done();
}

static void test_spilling(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    for (int i = 0; i < (testing_slow() ? 1 : 2); i++) {
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
        check_sort(&random, many_words(&random), SPILLING_RECORDS / 3, 0, &how, true);
        check_sort(&random, many_words(&random), SPILLING_RECORDS / 3, SPILLING_RECORDS / 20, &how, true);
        check_sort(&random, many_words(&random), SPILLING_RECORDS / 3, 1, &how, true);
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
        check_sort(&random, many_words(&random), 20000, 7000, &how, true);
        check_sort(&random, MOST, 2000, 0, &how, true);
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
            uint64_t *item = input_item(&from, j);
            const uint64_t id = rng_one_in(&random, 50) ? rng_next(&random) : j % 50000;
            item[0] = rng_one_in(&random, 1000) ? rng_next(&random) : (j % 7) << 20 | rng_below(&random, 3000);
            item[from.item_words - 1] = from.item_words == KEYS ? item[0] : id;
            if (from.item_words == TRIPLES) { /* many of one first word, and of one first and second word */
                item[0] = rng_one_in(&random, 3) ? 5 : item[0] % 16;
                item[1] = rng_one_in(&random, 3) ? id : 7;
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

/* Items of any width, whose words are constant, few, near to each other or skewed. */
static void test_mixed(void **state)
{
    rng random = rng_seeded(run_seed + 7);
    const uint64_t cases = (testing_slow() ? 1 : 2) * MOST;
    uint64_t spilled_count = 0;
    for (uint64_t i = 0; i < cases; i++) {
        const uint32_t words = 1 + (uint32_t)(i % MOST);
        const setting how = setting_make(&random, MIN_MEMORY << (rng_one_in(&random, 2) ? 0 : 6));
        const size_t count = rng_one_in(&random, 3) ? rng_below(&random, 200) : rng_below(&random, 40000);
        input from;
        ss_dir dir = open_scratch();
        bool spilled;
        testing_doing("case %" PRIu64 ": %zu items of %u words, %" PRIu64
                      " bytes of memory, %u writers, pieces of %zu, seed %" PRIu64,
                      i, count, words, how.memory_bytes, how.writers, how.piece_capacity, run_seed);
        input_make_mixed(&from, &random, words, count);
        check_input(&random, &from, &how, &dir, &spilled);
        spilled_count += spilled;
        ss_dir_close(&dir);
    }
    assert_in_range(spilled_count, 1, cases - 1);
    testing_done();
}

/* One item for each bit, with no other bit set, and zeros: each partition by one bit leaves all others together. So
 * buckets are partitioned again as often as they can be. */
static void test_bit_by_bit(void **state)
{
    rng random = rng_seeded(run_seed + 8);
    const uint32_t widths[] = {KEYS, RECORDS, TRIPLES, TRIPLES + 1, MOST};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const setting how = {.writers = 1, .memory_bytes = 0, .piece_capacity = 1};
        input from = input_open(widths[i], 64 * widths[i] + 500);
        ss_dir dir = open_scratch();
        bool spilled;
        testing_doing("%u words", widths[i]);
        for (uint32_t bit = 0; bit < 64 * widths[i]; bit++)
            input_item(&from, bit)[bit / 64] = UINT64_C(1) << bit % 64;
        input_want(&from);
        check_input(&random, &from, &how, &dir, &spilled);
        ss_dir_close(&dir);
    }
    testing_done();
}

/* The parts keep within the limit, from the size on that sorter.h names; and a piece is not too small to be of use. At
 * most, an item takes four times a record of the widest fingerprint, or twice a pair of these. */
static void test_memory_divide(void **state)
{
    const uint64_t max_item_bytes = 4 * (SSTORE_MAX_WORDS + 1) * sizeof(uint64_t);
    assert_true(max_item_bytes >= 2 * MOST * sizeof(uint64_t));
    for (uint64_t limit = (uint64_t)32 << 20; limit <= (uint64_t)64 << 30; limit *= 2) {
        for (uint64_t item_bytes = 8; item_bytes <= max_item_bytes; item_bytes += 8) {
            for (uint32_t threads = 1; threads <= 64; threads *= 4) {
                const ss_sort_memory parts = ss_sort_memory_divide(limit, threads, 1 << 20, item_bytes);
                const uint64_t worker_bytes = ((uint64_t)1 << 20) + parts.piece_capacity * item_bytes;
                testing_doing("%" PRIu64 " bytes, items of %" PRIu64 ", %u threads", limit, item_bytes, threads);
                assert_in_range(parts.threads, 1, threads);
                assert_in_range(parts.piece_capacity, 16384, 1 << 20);
                assert_true(parts.threads * worker_bytes + parts.sorter_bytes <= limit);
                assert_true(parts.sorter_bytes >= limit / 4);
            }
        }
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
    assert_status(ss_sorter_add_items(sorter, 0, from.items, from.count, &error), SSTORE_ERROR_IO, &error);
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
    for (int i = 0; i < 8; i++) {
        const setting how = {.writers = 4,
                             .memory_bytes = MIN_MEMORY << (i % 2 * 5),
                             .piece_capacity = 3000,
                             .knows_count = i % 2 == 1};
        input from;
        ss_dir dir = open_scratch();
        sstore_error error = {.status = SSTORE_OK};
        testing_doing("case %d, seed %" PRIu64, i, run_seed);
        const uint32_t words = i < 6 ? KEYS + (uint32_t)(i / 2) : many_words(&random);
        const size_t count = i < 6 ? SPILLING_RECORDS : SPILLING_RECORDS / 3;
        input_make(&from, &random, words, count, count / 2);
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
        cmocka_unit_test_teardown(test_mixed, testing_teardown),
        cmocka_unit_test_teardown(test_bit_by_bit, testing_teardown),
        cmocka_unit_test_teardown(test_memory_divide, testing_teardown),
        cmocka_unit_test_teardown(test_threads, testing_teardown),
        cmocka_unit_test(test_free_at_any_time),
        cmocka_unit_test(test_no_place_to_spill),
    };
    const struct CMUnitTest threaded[] = {cmocka_unit_test_teardown(test_threads, testing_teardown)};
    int failed = testing_races() ? cmocka_run_group_tests(threaded, NULL, NULL)
                                 : cmocka_run_group_tests(tests, NULL, NULL);
    ss_chunk_pool_close(&pool);
    return failed;
}
