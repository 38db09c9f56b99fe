/*
 * dataset.h - fingerprints to measure with: made by rule, or read from a file.
 *
 * uniform: random bits. clustered:K: one in four is a copy of a randomly chosen earlier fingerprint with 0 to K flipped
 * bits; clustered alone is clustered:3. Fingerprint i of a rule is a function of (seed, i) alone, so a billion of them
 * take no memory. A fingerprint is one word of 64 bits or more of them, the most significant first; so are those of a
 * file, each word little-endian.
 */
#ifndef BENCH_DATASET_H
#define BENCH_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "support/splitmix.h"

#define BENCH_MAX_WORDS 16u

typedef struct bench_dataset {
    FILE *file; /* or NULL: a rule makes them */
    const char *path;
    bool clustered;
    uint64_t flips;
    size_t words; /* of a fingerprint */
    uint64_t seed, next;
} bench_dataset;

/* Whether it names a rule: "uniform", "clustered" or "clustered:K". */
bool bench_is_rule(const char *name);

/* How many words a fingerprint of `bits` has. The program ends unless they are a multiple of 64, up to 1,024. */
size_t bench_words_of(uint64_t bits);

/* Begin with the first fingerprint of a rule, or of the file of that name. */
void bench_dataset_open(bench_dataset *set, const char *name, size_t words, uint64_t seed);
void bench_dataset_close(bench_dataset *set);

/* How many there are: those of a file, which must end with a whole one, UINT64_MAX of a rule. */
uint64_t bench_dataset_count(const bench_dataset *set);

/* Have the next `count` fingerprints: count * words words. */
void bench_dataset_read(bench_dataset *set, uint64_t *fingerprints, size_t count);

/* Go on with fingerprint `index`. */
void bench_dataset_seek(bench_dataset *set, uint64_t index);

/* Flip `flips` different bits of a fingerprint, which has at least as many. */
void bench_flip_bits(bench_random *random, uint64_t flips, size_t words, uint64_t *fingerprint);

#endif
