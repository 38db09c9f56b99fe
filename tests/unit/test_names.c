/* Blocks of names: each name is found by its id, equal names give equal bytes, and no bytes lead to an access outside
 * the block. */
#include "support/testing.h"

#include "codec/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "support/guard.h"
#include "support/random.h"

#define FRAME 12 /* first id 8, count 2, width 1, flags 1 */
#define AT_COUNT 8
#define AT_WIDTH 10
#define AT_FLAGS 11
#define TRAILER 8

/* ----- helpers ----- */

typedef struct name {
    uint64_t id;
    size_t size;
    char *bytes;
} name;

typedef enum name_kind {
    NAMES_PATHS, /* that share much with their neighbours */
    NAMES_RANDOM,
    NAMES_SHORT,
    NAMES_LONG, /* some as long as any */
    NAMES_EQUAL,
    NAME_KINDS
} name_kind;

static void add_random(rng *random, name *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char byte = (char)rng_between(random, 1, 255);
        to->bytes[to->size++] = byte == SS_NAME_END ? ' ' : byte;
    }
}

static void add_path(rng *random, name *to, const name *before)
{
    static const char *parts[] = {"/usr", "/share", "/doc", "/lib", "/python3", ".py", ".html", "/a", "index", "_"};
    if (before != NULL) {
        to->size = rng_below(random, before->size < 200 ? before->size + 1 : 100);
        memcpy(to->bytes, before->bytes, to->size);
    }
    for (uint64_t i = rng_between(random, 1, 6); i > 0; i--) {
        const char *part = parts[rng_below(random, 10)];
        memcpy(to->bytes + to->size, part, strlen(part));
        to->size += strlen(part);
    }
}

static void make_name(rng *random, name_kind kind, name *to, const name *before)
{
    to->bytes = malloc(SS_MAX_NAME_BYTES + 64);
    to->size = 0;
    switch (kind) {
    case NAMES_PATHS: add_path(random, to, before); break;
    case NAMES_SHORT: add_random(random, to, rng_between(random, 1, 2)); break;
    case NAMES_LONG:
        if (before != NULL && rng_one_in(random, 2)) {
            to->size = rng_below(random, before->size);
            memcpy(to->bytes, before->bytes, to->size);
        }
        add_random(random, to,
                   rng_one_in(random, 4)
                       ? SS_MAX_NAME_BYTES - to->size
                       : rng_between(random, 1, SS_MAX_NAME_BYTES - to->size) >> rng_below(random, 9));
        if (to->size == 0)
            add_random(random, to, 1);
        break;
    case NAMES_EQUAL: memcpy(to->bytes, "the same", to->size = 8); break;
    default: add_random(random, to, rng_between(random, 1, 120));
    }
    assert_true(ss_name_valid(to->bytes, to->size));
}

/* Ids ascend by 1, by a few, or by anything. */
static name *make_names(rng *random, name_kind kind, uint32_t gap_bits, size_t count)
{
    name *names = calloc(count, sizeof *names);
    uint64_t id = rng_one_in(random, 2) ? 0 : rng_next(random) >> 32;
    for (size_t i = 0; i < count; i++) {
        make_name(random, kind, &names[i], i > 0 ? &names[i - 1] : NULL);
        names[i].id = id;
        id += 1 + (gap_bits == 0 ? 0 : rng_next(random) >> (64 - gap_bits));
    }
    return names;
}

static void free_names(name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i].bytes);
    free(names);
}

static ss_fragments choose_fragments(const name *names, size_t count)
{
    ss_fragment_sample *sample = calloc(1, sizeof *sample);
    ss_fragment_choice *choice = malloc(ss_fragment_choice_bytes());
    uint8_t *text = malloc(SS_NAME_BUFFER_BYTES);
    ss_fragments fragments;
    for (size_t i = 0; i < count; i++) {
        memcpy(text, names[i].bytes, names[i].size);
        text[names[i].size] = SS_NAME_END;
        ss_fragment_sample_add(sample, text, names[i].size + 1);
    }
    ss_fragments_choose(&fragments, sample, choice);
    free(text);
    free(choice);
    free(sample);
    return fragments;
}

typedef struct column {
    uint32_t block_bytes;
    size_t block_count;
    uint8_t *blocks;
} column;

static void take_blocks(column *to, ss_names_encoder *encoder)
{
    bool more = true;
    while (more) {
        to->blocks = realloc(to->blocks, (to->block_count + 1) * to->block_bytes);
        more = ss_names_encoder_take(encoder, to->blocks + to->block_count++ * to->block_bytes);
    }
}

static column encode(const name *names, size_t count, const ss_fragments *fragments, uint32_t block_bytes)
{
    column made = {.block_bytes = block_bytes};
    ss_names_encoder encoder;
    void *memory = calloc(1, ss_names_encoder_bytes(block_bytes));
    ss_names_encoder_init(&encoder, fragments, block_bytes, memory);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *bytes = (const uint8_t *)names[i].bytes;
        if (!ss_names_encoder_add(&encoder, names[i].id, bytes, names[i].size)) {
            take_blocks(&made, &encoder);
            assert_true(ss_names_encoder_add(&encoder, names[i].id, bytes, names[i].size));
        }
    }
    if (count > 0)
        take_blocks(&made, &encoder);
    free(memory);
    return made;
}

/* Gather the codes of the name that begins in block `number`, decode it, and return the block after it. */
static size_t decode_long(const column *from, const ss_fragments *fragments, size_t number, uint8_t *buffer,
                          size_t *size_out)
{
    uint8_t *codes = calloc(1, SS_NAME_CODES_BYTES);
    uint32_t total = 0, size;
    ss_names_block block = {.continued = true};
    const char *reason;
    while (block.continued) {
        assert_true(
            ss_names_block_open(&block, from->blocks + number++ * from->block_bytes, from->block_bytes, &reason));
        const uint8_t *part = ss_names_block_codes(&block, &size);
        size = size < SS_NAME_CODES_BYTES - total ? size : SS_NAME_CODES_BYTES - total;
        memcpy(codes + total, part, size);
        total += size;
    }
    assert_true(ss_names_decode_codes(fragments, codes, total, buffer, size_out));
    free(codes);
    return number;
}

static void assert_is(const name *expected, const uint8_t *bytes, size_t size)
{
    assert_int_equal(size, expected->size);
    assert_memory_equal(bytes, expected->bytes, size);
}

/* ----- tests ----- */

static void check_block(const ss_names_block *block, const ss_fragments *fragments, const name *names, rng *random,
                        uint8_t *buffer, ss_names_walk *walk)
{
    size_t size;
    ss_names_walk_begin(walk, block);
    for (uint32_t i = 0; i < block->count; i++) {
        assert_int_equal(ss_names_block_id(block, i), names[i].id);
        assert_int_equal(ss_names_block_find(block, names[i].id), i);
        assert_true(ss_names_walk_next(walk, block, fragments));
        assert_is(&names[i], walk->name, walk->size);
        if (i + 1 < block->count && names[i].id + 1 < names[i + 1].id)
            assert_int_equal(ss_names_block_find(block, names[i].id + 1), block->count);
        if (rng_one_in(random, 8)) {
            assert_true(ss_names_block_decode(block, fragments, i, buffer, &size));
            assert_is(&names[i], buffer, size);
        }
    }
    if (block->first_id > 0)
        assert_int_equal(ss_names_block_find(block, block->first_id - 1), block->count);
}

static void check_column(const column *from, const ss_fragments *fragments, const name *names, size_t count,
                         rng *random)
{
    uint8_t *buffer = malloc(SS_NAME_BUFFER_BYTES);
    ss_names_walk walk = {.first = malloc(SS_NAME_BUFFER_BYTES), .name = malloc(SS_NAME_BUFFER_BYTES)};
    size_t done = 0, size;
    for (size_t number = 0; number < from->block_count;) {
        ss_names_block block;
        const char *reason;
        assert_true(ss_names_block_open(&block, from->blocks + number * from->block_bytes, from->block_bytes, &reason));
        assert_true(block.count > 0);
        if (block.continued) {
            number = decode_long(from, fragments, number, buffer, &size);
            assert_int_equal(block.first_id, names[done].id);
            assert_is(&names[done++], buffer, size);
            continue;
        }
        check_block(&block, fragments, names + done, random, buffer, &walk);
        done += block.count;
        number++;
    }
    assert_int_equal(done, count);
    free(walk.first);
    free(walk.name);
    free(buffer);
}

static void test_round_trip(void **state)
{
    rng random = rng_seeded(run_seed);
    const uint32_t rounds = testing_slow() ? 40 : 200;
    for (uint32_t i = 0; i < rounds; i++) {
        const name_kind kind = (name_kind)rng_below(&random, NAME_KINDS);
        const uint32_t block_bytes = 256u << rng_below(&random, 9), gap_bits = (uint32_t)rng_below(&random, 4) * 12;
        const size_t count = rng_between(&random, 1, kind == NAMES_LONG ? 20 : 3000);
        testing_doing("round %u, kind %d, blocks of %u bytes, seed %" PRIu64, i, kind, block_bytes, run_seed);
        name *names = make_names(&random, kind, gap_bits, count);
        const ss_fragments fragments = choose_fragments(names, rng_below(&random, count + 1));
        uint8_t stored[SS_FRAGMENTS_STORED_BYTES];
        ss_fragments loaded;
        const char *reason;
        ss_fragments_store(&fragments, stored);
        assert_true(ss_fragments_load(&loaded, stored, &reason));
        column made = encode(names, count, &fragments, block_bytes), again = encode(names, count, &loaded, block_bytes);
        assert_int_equal(made.block_count, again.block_count);
        assert_memory_equal(made.blocks, again.blocks, made.block_count * block_bytes);
        check_column(&made, &loaded, names, count, &random);
        free(made.blocks);
        free(again.blocks);
        free_names(names, count);
    }
    testing_done();
}

static void test_names_are_checked(void **state)
{
    char *longest = malloc(SS_MAX_NAME_BYTES + 1);
    memset(longest, 'a', SS_MAX_NAME_BYTES + 1);
    assert_false(ss_name_valid("", 0));
    assert_true(ss_name_valid("a", 1));
    assert_true(ss_name_valid(longest, SS_MAX_NAME_BYTES));
    assert_false(ss_name_valid(longest, SS_MAX_NAME_BYTES + 1));
    assert_false(ss_name_valid("a\nb", 3));
    assert_false(ss_name_valid("a\0b", 3));
    assert_true(ss_name_valid("\xff\r\x01", 3));
    free(longest);
}

static bool loads(const char *const *fragments, size_t count)
{
    uint8_t stored[SS_FRAGMENTS_STORED_BYTES] = {(uint8_t)count};
    ss_fragments loaded;
    const char *reason;
    for (size_t i = 0; i < count; i++) {
        stored[1 + i] = (uint8_t)strlen(fragments[i]);
        memcpy(stored + 1 + SS_MAX_FRAGMENTS + i * SS_FRAGMENT_BYTES, fragments[i], strlen(fragments[i]));
    }
    return ss_fragments_load(&loaded, stored, &reason);
}

static void test_bad_fragments_are_refused(void **state)
{
    assert_true(loads(NULL, 0));
    assert_true(loads((const char *[]){"\n", "ab", "a", "b\n"}, 4));
    assert_false(loads((const char *[]){"a", "ab"}, 2));  /* the longer one is first */
    assert_false(loads((const char *[]){"ab", "ab"}, 2)); /* none is repeated */
    assert_false(loads((const char *[]){"b", "a"}, 2));
    assert_false(loads((const char *[]){"a\nb"}, 1)); /* nothing is behind an end */
    assert_false(loads((const char *[]){""}, 1));
}

/* The bytes of a block, as the format describes them. */
static void test_bytes_of_a_block(void **state)
{
    const name names[] = {{7, 4, "/a/b"}, {8, 6, "/a/b.c"}, {10, 1, "x"}};
    const uint8_t expected[] = {7, 0,   0,   0,   0,   0, 0, 0, 3, 0, 1, 0, /* first id, 3 names, width 1, no flags */
                                0, 0,   1,                                  /* how far the ids are ahead */
                                0, 1,   255, 'b', 0,                        /* "/a/", an escape, the end */
                                4, 255, '.', 255, 'c', 0,                   /* 4 shared bytes */
                                0, 255, 'x', 0};
    uint8_t stored[SS_FRAGMENTS_STORED_BYTES] = {2, 1, 3};
    ss_fragments fragments;
    const char *reason;
    memcpy(stored + 1 + SS_MAX_FRAGMENTS, "\n", 1);
    memcpy(stored + 1 + SS_MAX_FRAGMENTS + SS_FRAGMENT_BYTES, "/a/", 3);
    assert_true(ss_fragments_load(&fragments, stored, &reason));
    column made = encode(names, 3, &fragments, 256);
    assert_int_equal(made.block_count, 1);
    assert_memory_equal(made.blocks, expected, sizeof expected);
    for (size_t i = sizeof expected; i < 256; i++)
        assert_int_equal(made.blocks[i], 0);
    free(made.blocks);
}

/* Use every function on a block that may be malformed. */
static void exercise(const uint8_t *bytes, uint32_t block_bytes, const ss_fragments *fragments, rng *random,
                     guarded *buffers)
{
    ss_names_block block;
    const char *reason;
    size_t size;
    uint32_t codes_size;
    if (!ss_names_block_open(&block, bytes, block_bytes, &reason))
        return;
    ss_names_walk walk = {.first = buffers[0].high, .name = buffers[1].high};
    ss_names_walk_begin(&walk, &block);
    for (uint32_t i = 0; i < block.count && ss_names_walk_next(&walk, &block, fragments); i++)
        assert_true(ss_name_valid((const char *)walk.name, walk.size));
    for (uint32_t i = 0; i < 20 && block.count > 0; i++) {
        const uint32_t index = (uint32_t)rng_below(random, block.count);
        ss_names_block_prefetch(&block, index);
        if (ss_names_block_decode(&block, fragments, index, buffers[0].high, &size))
            assert_true(ss_name_valid((const char *)buffers[0].high, size));
        assert_true(ss_names_block_find(&block, ss_names_block_id(&block, index)) <= block.count);
        assert_true(ss_names_block_find(&block, rng_next(random)) <= block.count);
    }
    const uint8_t *codes = ss_names_block_codes(&block, &codes_size);
    if (ss_names_decode_codes(fragments, codes, codes_size, buffers[0].high, &size))
        assert_true(ss_name_valid((const char *)buffers[0].high, size));
}

/* Noise, or valid blocks with some bytes changed. */
static void test_any_bytes_stay_inside(void **state)
{
    rng random = rng_seeded(run_seed + 1);
    guarded buffers[2] = {guard_make(SS_NAME_BUFFER_BYTES), guard_make(SS_NAME_BUFFER_BYTES)};
    const uint32_t rounds = testing_slow() ? 300 : 3000;
    name *names = make_names(&random, NAMES_PATHS, 3, 400);
    name *noise = make_names(&random, NAMES_RANDOM, 0, 400);
    const ss_fragments fragments = choose_fragments(names, 400);
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t block_bytes = 256u << rng_below(&random, i % 16 == 0 ? 9 : 4);
        guarded memory = guard_make(block_bytes);
        column made = encode(i % 2 == 0 ? names : noise, 400, &fragments, block_bytes);
        uint8_t *bytes = made.blocks + rng_below(&random, made.block_count) * block_bytes;
        testing_doing("noise %u, seed %" PRIu64, i, run_seed + 1);
        if (i % 8 == 0)
            rng_fill(&random, bytes, block_bytes);
        for (uint64_t j = rng_below(&random, 8); j > 0; j--)
            bytes[rng_below(&random, rng_one_in(&random, 3) ? FRAME : block_bytes)] = (uint8_t)rng_next(&random);
        exercise(guard_before_end(&memory, bytes), block_bytes, &fragments, &random, buffers);
        exercise(guard_after_begin(&memory, bytes), block_bytes, &fragments, &random, buffers);
        free(made.blocks);
        guard_free(&memory);
    }
    free_names(names, 400);
    free_names(noise, 400);
    guard_free(&buffers[0]);
    guard_free(&buffers[1]);
    testing_done();
}

static void test_bad_frames_are_refused(void **state)
{
    uint8_t bytes[256] = {0};
    ss_names_block block;
    const char *reason;
    for (uint32_t count = 0; count < 300; count++)
        for (uint32_t width = 0; width <= UINT8_MAX; width++)
            for (uint32_t flags = 0; flags < 4; flags++) {
                const uint32_t groups = count == 0 ? 0 : (count + 15) / 16 - 1;
                const bool fits = FRAME + count * width + 2 * groups < sizeof bytes - TRAILER;
                const bool alone = count <= 1 && width == 0;
                ss_store_le16(bytes + AT_COUNT, (uint16_t)count);
                bytes[AT_WIDTH] = (uint8_t)width;
                bytes[AT_FLAGS] = (uint8_t)flags;
                const bool expected = count <= 128 && width <= 8 && flags <= 1 && fits &&
                                      ((flags == 0 && count > 0) || alone);
                assert_int_equal(ss_names_block_open(&block, bytes, sizeof bytes, &reason), expected);
            }
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_checked),
        cmocka_unit_test(test_bad_fragments_are_refused),
        cmocka_unit_test(test_bytes_of_a_block),
        cmocka_unit_test(test_bad_frames_are_refused),
        cmocka_unit_test_teardown(test_round_trip, testing_teardown),
        cmocka_unit_test_teardown(test_any_bytes_stay_inside, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
