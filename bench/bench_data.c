/*
 * bench_data.c - fingerprints to measure with, to standard output: as little-endian 64-bit numbers, which 'sstore
 * build' and the other benchmarks take as a .u64 file, or in another format of 'sstore build'.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/dataset.h"
#include "support/must.h"
#include "support/parameters.h"

#define USAGE                                                                                                          \
    "usage: bench_data uniform|clustered COUNT SEED [FORMAT] > FILE\n"                                                 \
    "       bench_data hex < LINES > FILE.u64\n"                                                                       \
    "FORMAT: u64 (the default); rec or npy, with ids from 100000000 on; lines of text: hex, hex-ids or dec-ids.\n"     \
    "hex: the first field of each line is a fingerprint of up to 16 hex digits, as 'sstore fingerprint' prints "       \
    "them.\n"

static void put(uint64_t fingerprint)
{
    uint64_t bytes = htole64(fingerprint);
    bench_must_do(fwrite(&bytes, sizeof bytes, 1, stdout) == 1, "writing", NULL);
}

/* ----- formats ----- */

#define FIRST_ID UINT64_C(100000000) /* nine digits, as ids of large collections have */

static void put_pair(uint64_t fingerprint, uint64_t id)
{
    put(fingerprint);
    put(id);
}

static void put_hex(uint64_t fingerprint, uint64_t id)
{
    (void)id;
    printf("%016" PRIx64 "\n", fingerprint);
}

static void put_hex_and_id(uint64_t fingerprint, uint64_t id)
{
    printf("%016" PRIx64 "\t%" PRIu64 "\n", fingerprint, id);
}

static void put_signed_and_id(uint64_t fingerprint, uint64_t id)
{
    printf("%" PRId64 "\t%" PRIu64 "\n", (int64_t)fingerprint, id);
}

static void put_alone(uint64_t fingerprint, uint64_t id)
{
    (void)id;
    put(fingerprint);
}

typedef void (*put_fn)(uint64_t fingerprint, uint64_t id);

static put_fn format_named(const char *name)
{
    static const struct {
        const char *name;
        put_fn put;
    } formats[] = {{"u64", put_alone}, {"rec", put_pair},           {"npy", put_pair},
                   {"hex", put_hex},   {"hex-ids", put_hex_and_id}, {"dec-ids", put_signed_and_id}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].put;
    return NULL;
}

/* The header of a NumPy array of fingerprints and ids: 128 bytes. */
static void put_npy_header(uint64_t count)
{
    char dict[118];
    snprintf(dict, sizeof dict, "{'descr': '<u8', 'fortran_order': False, 'shape': (%" PRIu64 ", 2), }", count);
    printf("\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, dict);
}

static void put_all(bench_rule rule, uint64_t count, uint64_t seed, const char *format)
{
    put_fn put_one = format_named(format);
    if (strcmp(format, "npy") == 0)
        put_npy_header(count);
    for (uint64_t i = 0; i < count; i++)
        put_one(rule(seed, i), FIRST_ID + i);
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
    bench_rule rule = argc == 4 || argc == 5 ? bench_rule_named(argv[1]) : NULL;
    const char *format = argc == 5 ? argv[4] : "u64";
    uint64_t count = 0, seed = 0;
    if (format_named(format) == NULL ||
        (rule != NULL && (!bench_parse_number(argv[2], 1000, &count) || !bench_parse_number(argv[3], 1000, &seed))))
        rule = NULL;
    if (rule == NULL && (argc != 2 || strcmp(argv[1], "hex") != 0)) {
        fputs(USAGE, stderr);
        return 2;
    }
    if (rule == NULL)
        convert_lines();
    else
        put_all(rule, count, seed, format);
    bench_must_do(fflush(stdout) == 0, "writing", NULL);
    return 0;
}
