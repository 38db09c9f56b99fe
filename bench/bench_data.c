/*
 * bench_data.c - fingerprints to measure with, to standard output: as little-endian 64-bit numbers, which 'sstore
 * build' and the other benchmarks take as a .u64 file, or in another format of 'sstore build'. Wider fingerprints are
 * several such numbers each, the most significant first, or as many hex digits. It also makes queries for such a file.
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
    "usage: bench_data uniform|clustered[:K] COUNT SEED [FORMAT [BITS]] > FILE\n"                                      \
    "       bench_data hits DATA K COUNT SEED [BITS] > QUERIES\n"                                                      \
    "       bench_data misses COUNT SEED [BITS] > QUERIES\n"                                                           \
    "       bench_data hex [BITS] < LINES > FILE\n"                                                                    \
    "FORMAT: u64 (the default); lines of text: hex, hex-ids; of 64 bits also dec-ids, and rec or npy with ids from\n"  \
    "100000000 on. K: a copy has up to K flipped bits (3). BITS: of a fingerprint, a multiple of 64 (64).\n"           \
    "hits: fingerprints of the file DATA with up to K flipped bits. misses: random ones.\n"                            \
    "hex: the first field of each line is a fingerprint of up to BITS / 4 hex digits, as 'sstore fingerprint' prints " \
    "them.\n"

static void put_number(uint64_t number)
{
    uint64_t bytes = htole64(number);
    bench_must_do(fwrite(&bytes, sizeof bytes, 1, stdout) == 1, "writing", NULL);
}

/* ----- formats ----- */

#define FIRST_ID UINT64_C(100000000) /* nine digits, as ids of large collections have */

typedef void (*put_fn)(const uint64_t *fingerprint, size_t words, uint64_t id);

static void put_words(const uint64_t *fingerprint, size_t words, uint64_t id)
{
    (void)id;
    for (size_t i = 0; i < words; i++)
        put_number(fingerprint[i]);
}

static void put_pair(const uint64_t *fingerprint, size_t words, uint64_t id)
{
    put_words(fingerprint, words, id);
    put_number(id);
}

static void put_digits(const uint64_t *fingerprint, size_t words)
{
    for (size_t i = 0; i < words; i++)
        printf("%016" PRIx64, fingerprint[i]);
}

static void put_hex(const uint64_t *fingerprint, size_t words, uint64_t id)
{
    (void)id;
    put_digits(fingerprint, words);
    putchar('\n');
}

static void put_hex_and_id(const uint64_t *fingerprint, size_t words, uint64_t id)
{
    put_digits(fingerprint, words);
    printf("\t%" PRIu64 "\n", id);
}

static void put_signed_and_id(const uint64_t *fingerprint, size_t words, uint64_t id)
{
    (void)words;
    printf("%" PRId64 "\t%" PRIu64 "\n", (int64_t)*fingerprint, id);
}

/* The format of that name, or NULL; some are of one word alone. */
static put_fn format_named(const char *name, size_t words)
{
    static const struct {
        const char *name;
        put_fn put;
        size_t max_words;
    } formats[] = {{"u64", put_words, BENCH_MAX_WORDS},
                   {"hex", put_hex, BENCH_MAX_WORDS},
                   {"hex-ids", put_hex_and_id, BENCH_MAX_WORDS},
                   {"dec-ids", put_signed_and_id, 1},
                   {"rec", put_pair, 1},
                   {"npy", put_pair, 1}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0 && words <= formats[i].max_words)
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

/* ----- commands: each takes its operands, and returns whether they are right ----- */

/* An optional last operand. */
static size_t words_given(const char *bits_text)
{
    uint64_t bits = 64;
    if (bits_text != NULL && !bench_parse_number(bits_text, 1000, &bits))
        bench_fail("%s: no number of bits", bits_text);
    return bench_words_of(bits);
}

/* DATA COUNT SEED [FORMAT [BITS]] */
static bool make_data(int count, char *const *operands)
{
    uint64_t record_count, seed, fingerprint[BENCH_MAX_WORDS];
    if (count < 3 || count > 5 || !bench_parse_number(operands[1], 1000, &record_count) ||
        !bench_parse_number(operands[2], 1000, &seed))
        return false;
    const char *format = count > 3 ? operands[3] : "u64";
    size_t words = words_given(count > 4 ? operands[4] : NULL);
    put_fn put = format_named(format, words);
    bench_dataset set;
    if (put == NULL)
        return false;
    bench_dataset_open(&set, operands[0], words, seed);
    if (strcmp(format, "npy") == 0)
        put_npy_header(record_count);
    for (uint64_t i = 0; i < record_count; i++) {
        bench_dataset_read(&set, fingerprint, 1);
        put(fingerprint, words, FIRST_ID + i);
    }
    bench_dataset_close(&set);
    return true;
}

/* Away from the numbers of the same seed, of which the data may be made. */
static bench_random random_of_queries(uint64_t seed)
{
    bench_random from_seed = {seed};
    return (bench_random){bench_random_next(&from_seed)};
}

/* DATA K COUNT SEED [BITS] */
static bool make_hits(int count, char *const *operands)
{
    uint64_t flips, query_count, seed, fingerprint[BENCH_MAX_WORDS];
    if (count < 4 || count > 5 || !bench_parse_number(operands[1], 1000, &flips) ||
        !bench_parse_number(operands[2], 1000, &query_count) || !bench_parse_number(operands[3], 1000, &seed))
        return false;
    bench_dataset set;
    size_t words = words_given(count > 4 ? operands[4] : NULL);
    bench_random random = random_of_queries(seed);
    if (flips > 64 * words || bench_is_rule(operands[0]))
        return false;
    bench_dataset_open(&set, operands[0], words, 0);
    uint64_t record_count = bench_dataset_count(&set);
    if (record_count == 0)
        bench_fail("%s is empty: there is nothing to ask for", operands[0]);
    for (uint64_t i = 0; i < query_count; i++) {
        bench_dataset_seek(&set, bench_random_below(&random, record_count));
        bench_dataset_read(&set, fingerprint, 1);
        bench_flip_bits(&random, bench_random_below(&random, flips + 1), words, fingerprint);
        put_words(fingerprint, words, 0);
    }
    bench_dataset_close(&set);
    return true;
}

/* COUNT SEED [BITS] */
static bool make_misses(int count, char *const *operands)
{
    uint64_t query_count, seed;
    if (count < 2 || count > 3 || !bench_parse_number(operands[0], 1000, &query_count) ||
        !bench_parse_number(operands[1], 1000, &seed))
        return false;
    size_t words = words_given(count > 2 ? operands[2] : NULL);
    bench_random random = random_of_queries(seed);
    for (uint64_t i = 0; i < query_count * words; i++)
        put_number(bench_random_next(&random));
    return true;
}

/* The first field of a line: a number of up to 16 digits a word. */
static bool parse_hex(const char *line, size_t words, uint64_t *fingerprint)
{
    size_t digits = strspn(line, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 16 * words || strchr(" \t\n", line[digits]) == NULL)
        return false;
    for (size_t i = words; i > 0; i--) { /* from the last digits on */
        char text[17] = "0";
        size_t taken = digits < 16 ? digits : 16;
        digits -= taken;
        memcpy(text, line + digits, taken);
        fingerprint[i - 1] = strtoull(text, NULL, 16);
    }
    return true;
}

/* [BITS] */
static bool convert_lines(int count, char *const *operands)
{
    char *line = NULL;
    size_t capacity = 0, words;
    uint64_t fingerprint[BENCH_MAX_WORDS];
    if (count > 1)
        return false;
    words = words_given(count > 0 ? operands[0] : NULL);
    for (uint64_t number = 1; getline(&line, &capacity, stdin) > 0; number++) {
        if (!parse_hex(line, words, fingerprint))
            bench_fail("line %" PRIu64 " does not begin with a fingerprint", number);
        put_words(fingerprint, words, 0);
    }
    free(line);
    return true;
}

static bool run(int argc, char *const *argv)
{
    if (argc < 2)
        return false;
    if (strcmp(argv[1], "hex") == 0)
        return convert_lines(argc - 2, argv + 2);
    if (strcmp(argv[1], "hits") == 0)
        return make_hits(argc - 2, argv + 2);
    if (strcmp(argv[1], "misses") == 0)
        return make_misses(argc - 2, argv + 2);
    return bench_is_rule(argv[1]) && make_data(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    if (!run(argc, argv)) {
        fputs(USAGE, stderr);
        return 2;
    }
    bench_must_do(fflush(stdout) == 0, "writing", NULL);
    return 0;
}
