/*
 * bench_data.c - fingerprints to measure with, to standard output, as little-endian 64-bit numbers: what 'sstore
 * build' and the other benchmarks take as a .u64 file.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/dataset.h"
#include "support/must.h"

#define USAGE                                                                                                          \
    "usage: bench_data uniform|clustered COUNT SEED > FILE.u64\n"                                                      \
    "       bench_data hex < LINES > FILE.u64\n"                                                                       \
    "hex: the first field of each line is a fingerprint of up to 16 hex digits, as 'sstore fingerprint' prints "       \
    "them.\n"

static void put(uint64_t fingerprint)
{
    uint64_t bytes = htole64(fingerprint);
    bench_must_do(fwrite(&bytes, sizeof bytes, 1, stdout) == 1, "writing", NULL);
}

static void convert_lines(void)
{
    char *line = NULL;
    size_t capacity = 0;
    for (uint64_t number = 1; getline(&line, &capacity, stdin) > 0; number++) {
        char *end;
        uint64_t fingerprint = strtoull(line, &end, 16);
        if (end == line || end - line > 16 || strchr(" \t\n", *end) == NULL)
            bench_fail("line %" PRIu64 " does not begin with a fingerprint", number);
        put(fingerprint);
    }
    free(line);
}

int main(int argc, char **argv)
{
    bench_rule rule = argc == 4 ? bench_rule_named(argv[1]) : NULL;
    if (rule == NULL && (argc != 2 || strcmp(argv[1], "hex") != 0)) {
        fputs(USAGE, stderr);
        return 2;
    }
    if (rule == NULL) {
        convert_lines();
    } else {
        uint64_t count = strtoull(argv[2], NULL, 10), seed = strtoull(argv[3], NULL, 10);
        for (uint64_t i = 0; i < count; i++)
            put(rule(seed, i));
    }
    bench_must_do(fflush(stdout) == 0, "writing", NULL);
    return 0;
}
