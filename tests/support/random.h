/*
 * random.h - repeatable random numbers: xoshiro256**, seeded by splitmix64 (Blackman and Vigna). Equal seeds give equal
 * numbers on every machine.
 */
#ifndef SUPPORT_RANDOM_H
#define SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rng {
    uint64_t state[4];
} rng;

/* The seed of this run, which rng_start_run() sets. A test adds a number of its own to it. */
extern uint64_t run_seed;

/* Take the seed from SSTORE_TEST_SEED or the clock, and print how to repeat the run. Each main() calls it first. */
void rng_start_run(void);

rng rng_seeded(uint64_t seed);

/* 64 random bits. */
uint64_t rng_next(rng *random);

/* A number from 0 to bound - 1; bound > 0. */
uint64_t rng_below(rng *random, uint64_t bound);

/* A number from `low` to `high`, both included. */
uint64_t rng_between(rng *random, uint64_t low, uint64_t high);

/* True once in `count` times, on average. */
bool rng_one_in(rng *random, uint64_t count);

/* x with exactly `bits` (0 to 64) different random bits flipped. */
uint64_t rng_flip(rng *random, uint64_t x, uint32_t bits);

/* Fill `size` bytes. */
void rng_fill(rng *random, void *to, size_t size);

/* One step of splitmix64: a good 64-bit mix of x, for keys that must only look random. */
uint64_t rng_mix(uint64_t x);

#endif
