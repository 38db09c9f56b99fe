#include "support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "support/testing.h"

uint64_t rng_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t run_seed;

void rng_start_run(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    /* Few digits, to be typed again. */
    uint64_t from_clock = rng_mix((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) % 1000000000;
    run_seed = testing_number("SSTORE_TEST_SEED", from_clock);
    printf("seed %" PRIu64 " (repeat with SSTORE_TEST_SEED=%" PRIu64 ")\n", run_seed, run_seed);
    fflush(stdout);
}

rng rng_seeded(uint64_t seed)
{
    rng random;
    for (size_t i = 0; i < 4; i++)
        random.state[i] = rng_mix(seed + i * UINT64_C(0x9e3779b97f4a7c15));
    return random;
}

static uint64_t rotate_left(uint64_t x, uint32_t count)
{
    return (x << count) | (x >> (64 - count));
}

uint64_t rng_next(rng *random)
{
    uint64_t *s = random->state;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t rng_below(rng *random, uint64_t bound)
{
    /* The bias is below 2^-40 for the bounds that tests use. */
    return rng_next(random) % bound;
}

uint64_t rng_between(rng *random, uint64_t low, uint64_t high)
{
    return low + rng_below(random, high - low + 1);
}

bool rng_one_in(rng *random, uint64_t count)
{
    return rng_below(random, count) == 0;
}

uint64_t rng_flip(rng *random, uint64_t x, uint32_t bits)
{
    uint64_t flips = 0;
    while ((uint32_t)__builtin_popcountll(flips) < bits)
        flips |= UINT64_C(1) << rng_below(random, 64);
    return x ^ flips;
}

void rng_fill(rng *random, void *to, size_t size)
{
    unsigned char *bytes = to;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(rng_next(random) >> 56);
}
