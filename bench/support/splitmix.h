/*
 * splitmix.h - repeatable random numbers: splitmix64 (Steele, Lea and Flood). Equal seeds give equal numbers
 * everywhere, and the n-th number of a seed can be had without those before it.
 */
#ifndef BENCH_SPLITMIX_H
#define BENCH_SPLITMIX_H

#include <stdint.h>

#define BENCH_SPLITMIX_STEP UINT64_C(0x9e3779b97f4a7c15)

typedef struct bench_random {
    uint64_t state; /* starts as the seed */
} bench_random;

/* 64 random bits. */
static inline uint64_t bench_random_next(bench_random *random)
{
    uint64_t z = random->state += BENCH_SPLITMIX_STEP;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The random numbers of `seed` from number `index` on. */
static inline bench_random bench_random_at(uint64_t seed, uint64_t index)
{
    return (bench_random){seed + index * BENCH_SPLITMIX_STEP};
}

/* A number from 0 to bound - 1; bound > 0. */
static inline uint64_t bench_random_below(bench_random *random, uint64_t bound)
{
    return bench_random_next(random) % bound;
}

/* A mask of exactly `bits` (0 to 64) different random bits. */
static inline uint64_t bench_random_flips(bench_random *random, uint64_t bits)
{
    uint64_t mask = 0;
    while (bits > 0) {
        uint64_t bit = UINT64_C(1) << bench_random_below(random, 64);
        bits -= (mask & bit) == 0;
        mask |= bit;
    }
    return mask;
}

#endif
