/*
 * dataset.h - fingerprints to measure with: made by rule, or read from a file.
 *
 * uniform: random 64 bits. clustered: one in four is a copy of a randomly chosen earlier fingerprint with 0 to 3
 * flipped bits. Fingerprint i of a rule is a function of (seed, i) alone, so a billion of them take no memory.
 */
#ifndef BENCH_DATASET_H
#define BENCH_DATASET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t (*bench_rule)(uint64_t seed, uint64_t index);

typedef struct bench_dataset {
    bench_rule rule; /* or NULL: `file` is read */
    FILE *file;      /* little-endian 64-bit numbers */
    const char *path;
    uint64_t seed, next;
} bench_dataset;

/* The rule of that name, "uniform" or "clustered", or NULL. */
bench_rule bench_rule_named(const char *name);

/* Begin with the first fingerprint of a rule, or of the file of that name. */
void bench_dataset_open(bench_dataset *set, const char *name, uint64_t seed);
void bench_dataset_close(bench_dataset *set);

/* How many there are: those of a file, UINT64_MAX of a rule. */
uint64_t bench_dataset_count(const bench_dataset *set);

/* Have the next `count` fingerprints. */
void bench_dataset_read(bench_dataset *set, uint64_t *fingerprints, size_t count);

#endif
