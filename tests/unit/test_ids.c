/* Blocks of the id column: ids are found by rank, and no bytes lead to an access outside the block. */
#include "codec/ids.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "support/data.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/testing.h"

#define SIZE_COUNT 9 /* 256 to 65536 bytes */
#define FRAME 20     /* first rank 8, least id 8, count 2, width 1, flags 1 */
#define AT_COUNT 16
#define AT_WIDTH 18
#define AT_FLAGS 19

/* ----- helpers ----- */

/* Records in the order of table 0: ranks ascend by 0 or 1, ids of one rank ascend. */
typedef struct column {
    size_t count;
    uint64_t *ranks, *ids;
} column;

typedef enum rank_kind {
    RANKS_OWN,  /* every record has its own rank */
    RANKS_SOME, /* one in eight has the rank of the one before */
    RANKS_MANY, /* long runs of one rank, over the ends of blocks */
    RANKS_ONE,  /* one rank only */
    RANK_KINDS
} rank_kind;

typedef enum id_kind {
    ID_ORDINALS,
    ID_SAME,
    ID_RANDOM,
    ID_NARROW,   /* a base and a few bits */
    ID_EXTREMES, /* 0 and 2^64-1 */
    ID_KINDS
} id_kind;

static bool same_rank(rng *random, rank_kind kind)
{
    switch (kind) {
    case RANKS_OWN: return false;
    case RANKS_SOME: return rng_one_in(random, 8);
    case RANKS_MANY: return !rng_one_in(random, 300);
    default: return true;
    }
}

static uint64_t make_id(rng *random, id_kind kind, size_t i, uint64_t base, uint32_t width)
{
    switch (kind) {
    case ID_ORDINALS: return i;
    case ID_SAME: return base;
    case ID_NARROW: return base + (width == 0 ? 0 : rng_next(random) >> (64 - width));
    case ID_EXTREMES: return rng_one_in(random, 2) ? 0 : UINT64_MAX;
    default: return rng_next(random);
    }
}

static column column_make(rng *random, rank_kind ranks, id_kind ids, size_t count)
{
    column made = {.count = count, .ranks = malloc(count * sizeof(uint64_t)), .ids = malloc(count * sizeof(uint64_t))};
    const uint64_t first_rank = rng_one_in(random, 2) ? 0 : rng_next(random) >> 8;
    const uint32_t width = (uint32_t)rng_below(random, 33);
    const uint64_t base = rng_next(random) >> 1;
    for (size_t i = 0; i < count; i++) {
        made.ids[i] = make_id(random, ids, i, base, width);
        made.ranks[i] = i == 0 ? first_rank : made.ranks[i - 1] + !same_rank(random, ranks);
    }
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && made.ranks[end] == made.ranks[begin];)
            end++;
        qsort(made.ids + begin, end - begin, sizeof *made.ids, compare_numbers);
    }
    return made;
}

static void column_free(column *made)
{
    free(made->ranks);
    free(made->ids);
}

/* The bytes of a block's contents by the format. */
static size_t content_bytes(const column *from, size_t first, size_t count)
{
    uint64_t min = UINT64_MAX, greatest = 0;
    uint32_t width = 0;
    bool repeats = false;
    for (size_t i = first; i < first + count; i++) {
        min = from->ids[i] < min ? from->ids[i] : min;
        greatest = from->ids[i] > greatest ? from->ids[i] : greatest;
        repeats |= i > first && from->ranks[i] == from->ranks[i - 1];
    }
    while (width < 64 && (greatest - min) >> width != 0)
        width++;
    return FRAME + (repeats ? (count + 7) / 8 : 0) + (count * width + 7) / 8;
}

/* ----- round trips ----- */

static void check_block(const ss_ids_block *block, const column *from, size_t first)
{
    const uint64_t first_rank = from->ranks[first], last_rank = from->ranks[first + block->count - 1];
    uint32_t begin, end;
    assert_int_equal(block->first_rank, first_rank);
    for (uint32_t i = 0; i < block->count; i++) {
        assert_int_equal(ss_ids_block_id(block, i), from->ids[first + i]);
        assert_int_equal(ss_ids_block_starts_rank(block, i),
                         i > 0 && from->ranks[first + i] != from->ranks[first + i - 1]);
    }
    for (uint32_t i = 0; i < block->count; i = end) { /* every rank that is in it */
        end = i + 1;
        while (end < block->count && from->ranks[first + end] == from->ranks[first + i])
            end++;
        uint32_t found_begin, found_end;
        ss_ids_block_find(block, from->ranks[first + i], &found_begin, &found_end);
        assert_int_equal(found_begin, i);
        assert_int_equal(found_end, end);
    }
    const uint64_t absent[] = {first_rank - 1, last_rank + 1, last_rank + 64, last_rank + 100000, UINT64_MAX};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        ss_ids_block_find(block, absent[i], &begin, &end);
        assert_true(begin == end || (absent[i] >= first_rank && absent[i] <= last_rank)); /* a rank may be 0 */
    }
}

/* Which records have another rank than the one before them. */
static uint8_t *make_starts(const column *from)
{
    uint8_t *starts = malloc(from->count);
    for (size_t i = 0; i < from->count; i++)
        starts[i] = i == 0 || from->ranks[i] != from->ranks[i - 1];
    return starts;
}

/* Encode as many records as a block takes, from `first` on. Returns how many. */
static size_t encode_block(const column *from, size_t first, uint32_t block_bytes, uint8_t *to)
{
    uint8_t *starts = make_starts(from);
    ss_ids_frame frame;
    const uint32_t count = ss_ids_fit(block_bytes, from->ids + first, starts + first, from->count - first, &frame);
    const size_t end = first + count;
    assert_int_equal(frame.count, count);
    ss_ids_encode(block_bytes, &frame, from->ids + first, starts + first, from->ranks[first],
                  end < from->count && starts[end] == 0, to);
    free(starts);
    return count;
}

/* Encode a column into blocks and read each, between forbidden pages. Returns the number of blocks. */
static size_t check_column(const column *from, uint32_t block_bytes)
{
    guarded memory = guard_make(block_bytes);
    uint8_t *bytes = malloc(block_bytes);
    size_t blocks = 0;
    for (size_t first = 0; first < from->count; blocks++) {
        ss_ids_block block;
        const char *reason = NULL;
        memset(bytes, 0xff, block_bytes);
        const size_t end = first + encode_block(from, first, block_bytes, bytes);
        assert_true(end > first);
        const bool continued = end < from->count && from->ranks[end] == from->ranks[end - 1];
        assert_true(content_bytes(from, first, end - first) <= block_bytes - 8);
        if (end < from->count && end - first < SS_IDS_BLOCK_CAPACITY) /* the next one did not fit */
            assert_true(content_bytes(from, first, end - first + 1) > block_bytes - 8);
        memset(bytes + block_bytes - 8, 0xee, 8); /* the trailer does not matter */
        const uint8_t *placed = blocks % 2 == 0 ? guard_before_end(&memory, bytes) : guard_after_begin(&memory, bytes);
        assert_true(ss_ids_block_open(&block, placed, block_bytes, &reason));
        assert_int_equal(block.count, end - first);
        assert_int_equal(block.continued, continued);
        check_block(&block, from, first);
        first = end;
    }
    free(bytes);
    guard_free(&memory);
    return blocks;
}

static void test_round_trip(void **state)
{
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < RANK_KINDS * ID_KINDS * SIZE_COUNT; i++) {
        const rank_kind ranks = (rank_kind)(i % RANK_KINDS);
        const id_kind ids = (id_kind)(i / RANK_KINDS % ID_KINDS);
        const uint32_t block_bytes = 256u << i / RANK_KINDS / ID_KINDS;
        const size_t count = rng_between(&random, 1, block_bytes > 8192 ? 12000 : block_bytes);
        column from = column_make(&random, ranks, ids, count);
        testing_doing("%zu records, ranks %d, ids %d, blocks of %u bytes, seed %" PRIu64, count, (int)ranks, (int)ids,
                      block_bytes, run_seed);
        check_column(&from, block_bytes);
        column_free(&from);
    }
    testing_done();
}

/* Every width from 0 to 64: the least and the greatest id of a block decide. */
static void test_every_width(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    for (uint32_t width = 0; width <= 64; width++) {
        const uint64_t span = ss_low_mask(width), min = width == 64 ? 0 : rng_next(&random) & ~span;
        uint64_t ranks[] = {5, 6, 6, 7}, ids[] = {min + span, min, min + (span >> 1), min + span};
        const column from = {.count = 4, .ranks = ranks, .ids = ids};
        ss_ids_block block;
        uint8_t bytes[256];
        const char *reason;
        testing_doing("width %u, least %" PRIu64, width, min);
        assert_int_equal(encode_block(&from, 0, sizeof bytes, bytes), 4);
        assert_true(ss_ids_block_open(&block, bytes, sizeof bytes, &reason));
        assert_int_equal(block.width, width);
        assert_int_equal(bytes[AT_WIDTH], width);
        assert_false(block.continued);
        check_block(&block, &from, 0);
    }
    testing_done();
}

/* So narrow that a block is full by its count. */
static void test_fullest_block(void **state)
{
    for (uint32_t repeats = 0; repeats < 2; repeats++) {
        const size_t count = 2 * SS_IDS_BLOCK_CAPACITY + 1;
        column from = {.count = count,
                       .ranks = malloc(count * sizeof(uint64_t)),
                       .ids = malloc(count * sizeof(uint64_t))};
        for (size_t i = 0; i < count; i++) {
            from.ranks[i] = repeats ? i / 2 : i;
            from.ids[i] = UINT64_MAX;
        }
        testing_doing("equal ids, %s", repeats ? "two a rank" : "one a rank");
        assert_int_equal(check_column(&from, 65536), 3);
        column_free(&from);
    }
    testing_done();
}

/* A rank that fills several blocks: each but the last is continued. */
static void test_rank_over_blocks(void **state)
{
    rng random = rng_seeded(run_seed + 2);
    const size_t count = 200;
    column from = {.count = count, .ranks = malloc(count * sizeof(uint64_t)), .ids = malloc(count * sizeof(uint64_t))};
    for (size_t i = 0; i < count; i++) {
        from.ranks[i] = i < 20 ? 0 : i < 170 ? 1 : i - 168;
        from.ids[i] = i % 2 == 0 ? rng_next(&random) >> 32 : UINT64_MAX - (rng_next(&random) >> 32);
    }
    assert_true(check_column(&from, 256) >= 6);
    column_free(&from);
}

static void test_single_records(void **state)
{
    static const uint64_t numbers[] = {0, 1, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < 16; i++) {
        uint64_t rank = numbers[i / 4] == UINT64_MAX ? 7 : numbers[i / 4], id = numbers[i % 4];
        const column from = {.count = 1, .ranks = &rank, .ids = &id};
        assert_int_equal(check_column(&from, 256), 1);
    }
}

/* Ids 9 and 6 of rank 3, id 14 of rank 4, byte by byte. */
static void test_bytes_of_a_block(void **state)
{
    uint64_t ranks[] = {3, 3, 4}, ids[] = {6, 9, 14};
    const column from = {.count = 3, .ranks = ranks, .ids = ids};
    uint8_t bytes[256], expected[256] = {0};
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(encode_block(&from, 0, sizeof bytes, bytes), 3);
    memset(bytes + sizeof bytes - 8, 0, 8); /* the trailer is not its own */
    expected[0] = 3;                        /* first rank */
    expected[8] = 6;                        /* least id */
    expected[AT_COUNT] = 3;
    expected[AT_WIDTH] = 4; /* for 14 - 6 = 8 */
    expected[AT_FLAGS] = 1; /* some rank has two */
    expected[20] = 0x04;    /* record 2 begins a rank */
    expected[21] = 0x30;    /* 6 - 6 = 0, then 9 - 6 = 3 */
    expected[22] = 0x08;    /* 14 - 6 */
    assert_memory_equal(bytes, expected, sizeof bytes);
}

/* ----- malformed blocks ----- */

static bool opens(const uint8_t *bytes, uint32_t block_bytes)
{
    ss_ids_block block;
    const char *reason = NULL;
    const bool opened = ss_ids_block_open(&block, bytes, block_bytes, &reason);
    assert_true(opened || (reason != NULL && *reason != '\0'));
    return opened;
}

static void test_bad_frames_are_refused(void **state)
{
    for (uint32_t block_bytes = 256; block_bytes <= 65536; block_bytes *= 4) {
        uint8_t *bytes = calloc(1, block_bytes);
        const uint32_t room = block_bytes - 8 - FRAME;
        testing_doing("blocks of %u bytes", block_bytes);
        assert_false(opens(bytes, block_bytes)); /* no records */
        ss_store_le16(bytes + AT_COUNT, 1);
        for (uint32_t width = 0; width <= UINT8_MAX; width++) {
            bytes[AT_WIDTH] = (uint8_t)width;
            assert_int_equal(opens(bytes, block_bytes), width <= 64);
        }
        bytes[AT_WIDTH] = 0;
        for (uint32_t flags = 0; flags <= UINT8_MAX; flags++) {
            bytes[AT_FLAGS] = (uint8_t)flags;
            assert_int_equal(opens(bytes, block_bytes), flags <= 3);
        }
        for (uint32_t width = 1; width <= 64; width++) { /* as many records as fit, and one more */
            const uint32_t max = room * 8 / width;
            bytes[AT_WIDTH] = (uint8_t)width;
            bytes[AT_FLAGS] = 0;
            if (max >= SS_IDS_BLOCK_CAPACITY)
                continue;
            ss_store_le16(bytes + AT_COUNT, (uint16_t)max);
            assert_true(opens(bytes, block_bytes));
            bytes[AT_FLAGS] = 1; /* and a bit each, for the begins of ranks */
            assert_int_equal(opens(bytes, block_bytes), (max + 7) / 8 + (max * width + 7) / 8 <= room);
            bytes[AT_FLAGS] = 0;
            ss_store_le16(bytes + AT_COUNT, (uint16_t)(max + 1));
            assert_false(opens(bytes, block_bytes));
        }
        free(bytes);
    }
    testing_done();
}

/* Use every function on a block that may be malformed. */
static void exercise(const uint8_t *bytes, uint32_t block_bytes, rng *random)
{
    ss_ids_block block;
    const char *reason;
    volatile uint64_t sum = 0; /* so that the reads are not optimised away */
    if (!ss_ids_block_open(&block, bytes, block_bytes, &reason))
        return;
    for (uint32_t i = 0; i < block.count; i++)
        sum += ss_ids_block_id(&block, i) + ss_ids_block_starts_rank(&block, i);
    (void)sum;
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t begin, end;
        uint64_t rank = block.first_rank + (i < 2 ? i : rng_below(random, block.count + UINT64_C(2)));
        if (i == 19)
            rank = rng_next(random);
        ss_ids_block_find(&block, rank, &begin, &end);
        assert_true(begin <= end && end <= block.count);
    }
}

static void test_any_bytes_stay_inside(void **state)
{
    rng random = rng_seeded(run_seed + 3);
    for (uint32_t i = 0; i < 8000; i++) {
        const uint32_t block_bytes = 256u << rng_below(&random, i % 16 == 0 ? SIZE_COUNT : 4);
        guarded memory = guard_make(block_bytes);
        uint8_t *bytes = malloc(block_bytes);
        rng_fill(&random, bytes, block_bytes);
        if (i % 8 != 0) { /* a frame that is accepted, often with as many records as fit */
            const uint32_t width = (uint32_t)rng_below(&random, 65), flags = (uint32_t)rng_below(&random, 4);
            const uint32_t bits = width + (flags & 1), room = (block_bytes - 8 - FRAME) * 8 - 7 * (flags & 1);
            uint32_t count = bits == 0 ? SS_IDS_BLOCK_CAPACITY : room / bits;
            count = count > SS_IDS_BLOCK_CAPACITY ? SS_IDS_BLOCK_CAPACITY : count;
            ss_store_le16(bytes + AT_COUNT,
                          (uint16_t)(rng_one_in(&random, 2) ? count : rng_between(&random, 1, count)));
            bytes[AT_WIDTH] = (uint8_t)width;
            bytes[AT_FLAGS] = (uint8_t)flags;
        }
        testing_doing("noise %u, seed %" PRIu64, i, run_seed + 3);
        exercise(guard_before_end(&memory, bytes), block_bytes, &random);
        exercise(guard_after_begin(&memory, bytes), block_bytes, &random);
        free(bytes);
        guard_free(&memory);
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_round_trip, testing_teardown),
        cmocka_unit_test_teardown(test_every_width, testing_teardown),
        cmocka_unit_test_teardown(test_fullest_block, testing_teardown),
        cmocka_unit_test(test_rank_over_blocks),
        cmocka_unit_test(test_single_records),
        cmocka_unit_test(test_bytes_of_a_block),
        cmocka_unit_test_teardown(test_bad_frames_are_refused, testing_teardown),
        cmocka_unit_test_teardown(test_any_bytes_stay_inside, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
