/*
 * test_rests.c - the fast form of decoding rests gives what the portable one gives, and touches nothing outside the block.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codec/rests.h"
#include "support/random.h"
#include "support/testing.h"

#define MOST 127u
#define ROUNDS 20000u

/* A page between two that must not be touched. */
typedef struct guarded {
    uint8_t *map, *page;
    size_t page_bytes;
} guarded;

static guarded guarded_make(void)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *map = mmap(NULL, 3 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map + page_bytes, page_bytes, PROT_READ | PROT_WRITE), 0);
    return (guarded){.map = map, .page = map + page_bytes, .page_bytes = page_bytes};
}

/* Positions of first differing bits whose rests are narrow, followed by 63s. Returns the sum of the widths. */
static uint32_t make_positions(rng *random, uint8_t h[MOST + SS_RESTS_SLACK], uint32_t count)
{
    uint32_t lowest = 63 - SS_NARROW_REST_BITS, sum = 0;
    uint32_t low = (uint32_t)rng_between(random, lowest, 63), high = (uint32_t)rng_between(random, low, 63);
    memset(h, 63, MOST + SS_RESTS_SLACK);
    for (uint32_t i = 0; i < count; i++) {
        h[i] = (uint8_t)rng_between(random, low, high);
        sum += 63u - h[i];
    }
    return sum;
}

static void test_same_as_portable(void **state)
{
    rng random;
    rng_init(&random, *(const uint64_t *)*state);
    ss_rests_fn fast = ss_rests_best();
    guarded memory = guarded_make();
    uint8_t h[MOST + SS_RESTS_SLACK];
    uint64_t wanted[MOST], got[MOST];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t count = (uint32_t)rng_below(&random, MOST + 1);
        uint32_t sum = make_positions(&random, h, count);
        uint32_t block_bytes = (uint32_t)(SS_RESTS_LOWEST_BIT / 8 + 8 + (sum + 7) / 8 + rng_below(&random, 100));
        /* The block lies at the page's begin or end; its last 8 bytes are the trailer. */
        uint8_t *block = rng_one_in(&random, 2) ? memory.page : memory.page + memory.page_bytes - block_bytes;
        uint32_t end = (uint32_t)rng_between(&random, SS_RESTS_LOWEST_BIT + sum, 8 * (block_bytes - 8));
        rng_fill(&random, block, block_bytes);
        uint64_t before = rng_next(&random);
        testing_doing("round %u: %u rests of %u bits that end at %u of %u bytes", round, count, sum, end, block_bytes);
        ss_rests_portable(block, end, before, h, count, wanted);
        fast(block, end, before, h, count, got);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(got[i], wanted[i]);
    }
    munmap(memory.map, 3 * memory.page_bytes);
    testing_done();
}

/* One step by hand: 11011001 and 11011011 in the top bits differ first at h = 6, with the rest 1 and zeros behind. */
static void test_one_step(void **state)
{
    (void)state;
    uint8_t block[128] = {0}, h[1 + SS_RESTS_SLACK] = {6, 63, 63, 63, 63, 63, 63, 63, 63};
    uint64_t out[1];
    uint64_t rest = UINT64_C(1) << 56;
    ss_bits_put(block, 700, rest, 57);
    ss_rests_portable(block, 757, UINT64_C(0xd900000000000000), h, 1, out);
    assert_int_equal(out[0], UINT64_C(0xdb00000000000000));
    ss_rests_best()(block, 757, UINT64_C(0xd900000000000000), h, 1, out);
    assert_int_equal(out[0], UINT64_C(0xdb00000000000000));
}

int main(void)
{
    uint64_t seed = rng_run_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(test_same_as_portable, NULL, testing_teardown, &seed),
        cmocka_unit_test(test_one_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
