/*
 * parameters.h - the command line of a benchmark: --name=VALUE in any order, then operands.
 */
#ifndef BENCH_PARAMETERS_H
#define BENCH_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What VALUE is, and what `value` points to. */
typedef enum bench_kind {
    BENCH_COUNT, /* uint64_t: a number, perhaps with K, M or G, powers of 1000 */
    BENCH_SIZE,  /* uint64_t: the same, with powers of 1024 */
    BENCH_REAL,  /* double */
    BENCH_TEXT   /* const char * */
} bench_kind;

typedef struct bench_parameter {
    const char *name;
    bench_kind kind;
    void *value; /* holds the default before, and what was given after */
    const char *help;
} bench_parameter;

typedef struct bench_usage {
    const char
        *operands; /* in words, such as "STORE"; as many are needed, or, where they end in "...", at least as many */
    const char *about; /* a sentence or two */
    const bench_parameter *parameters;
    size_t parameter_count;
} bench_usage;

/*
 * Fill the parameters from the command line. Print it, as "# bench_x --name=VALUE STORE", and the vector instructions
 * that the library uses, so that the figures can be measured again. Every program takes --simd=LEVEL, and the
 * environment's SSTORE_BENCH_SIMD, to use less than the processor has. Returns the index of the first operand. A wrong
 * line ends the program with 2, --help with 0.
 */
int bench_parse(int argc, char **argv, const bench_usage *usage);

/* A number, perhaps with one of the suffixes K, M, G and T, each worth `step` of the one before. False if it is
 * none. */
bool bench_parse_number(const char *text, uint64_t step, uint64_t *out);

#endif
