/*
 * bench_text.c - how fast are fingerprints of texts made? Each FILE is in memory, is cut into documents, and is
 * fingerprinted by one thread with each kind of features. No input is read meanwhile, and nothing is printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_text.h"
#include "support/clock.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/samples.h"

typedef struct text {
    const char *path;
    char *bytes;
    size_t size;
    double other_percent; /* bytes that are not ASCII */
} text;

typedef struct recipe {
    const char *name;
    sstore_feature_kind kind;
    uint32_t shingle;
    sstore_weighting weighting;
    sstore_fingerprinter *maker;
} recipe;

typedef struct outcome {
    uint64_t documents, features, sum; /* the sum of all fingerprints */
} outcome;

static void read_text(text *to, const char *path, uint64_t max_bytes)
{
    FILE *file = fopen(path, "rb");
    bench_must_do(file != NULL && fseek(file, 0, SEEK_END) == 0, "opening", path);
    const long length = ftell(file);
    bench_must_do(length >= 0 && fseek(file, 0, SEEK_SET) == 0, "looking at", path);
    *to = (text){.path = path, .size = (size_t)length};
    if (max_bytes > 0 && to->size > max_bytes)
        to->size = (size_t)max_bytes;
    to->bytes = bench_alloc(to->size, 1);
    bench_must_do(fread(to->bytes, 1, to->size, file) == to->size, "reading", path);
    fclose(file);
    size_t others = 0;
    for (size_t i = 0; i < to->size; i++)
        others += ((unsigned char)to->bytes[i] & 0x80) != 0;
    to->other_percent = 100 * (double)others / (double)(to->size + (to->size == 0));
}

/* The size of the document at `at`: about `bytes`, up to the start of a character. */
static size_t document_size(const text *content, size_t at, size_t bytes)
{
    if (content->size - at <= bytes)
        return content->size - at;
    while (bytes > 1 && ((unsigned char)content->bytes[at + bytes] & 0xc0) == 0x80)
        bytes--;
    return bytes;
}

/* Returns the nanoseconds of processor time that all documents took. */
static double fingerprint_all(sstore_fingerprinter *maker, const text *content, size_t bytes, outcome *out)
{
    sstore_error error;
    *out = (outcome){0};
    const double begin = bench_thread_ns();
    for (size_t at = 0, size; at < content->size; at += size) {
        sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
        size = document_size(content, at, bytes);
        bench_must(sstore_fingerprinter_text(maker, content->bytes + at, size, &result, NULL, &error), &error);
        out->documents++;
        out->features += result.feature_count;
        out->sum += result.fingerprint[0];
    }
    return bench_thread_ns() - begin;
}

/* Each recipe that has a maker with documents of each size, in turns. */
static void measure(const text *content, recipe *recipes, size_t recipe_count, const uint64_t sizes[2], uint64_t rounds)
{
    const size_t case_count = 2 * recipe_count;
    double *times = bench_alloc(case_count * rounds, sizeof *times);
    outcome *outcomes = bench_alloc(case_count, sizeof *outcomes);
    for (uint64_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < case_count; i++)
            if (recipes[i / 2].maker != NULL && sizes[i % 2] > 0)
                times[i * rounds + round] = fingerprint_all(recipes[i / 2].maker, content, (size_t)sizes[i % 2],
                                                            &outcomes[i]);
    for (size_t i = 0; i < case_count; i++) {
        if (outcomes[i].documents == 0)
            continue;
        const double ns = bench_median(times + i * rounds, rounds), mb = (double)content->size / 1e6;
        printf("%-24s  %7.1f  %11.1f  %-19s  %9" PRIu64 "  %9" PRIu64 "  %8.0f  %11.1f  %10.2f  %016" PRIx64 "\n",
               content->path, mb, content->other_percent, recipes[i / 2].name, sizes[i % 2], outcomes[i].documents,
               mb * 1e9 / ns, ns / (double)outcomes[i].documents, ns / (double)(outcomes[i].features + 1),
               outcomes[i].sum);
        fflush(stdout);
    }
    free(outcomes);
    free(times);
}

int main(int argc, char **argv)
{
    uint64_t rounds = 5, max_bytes = 0, bits = 64, sizes[2] = {100000, 60};
    const char *only = "", *hash = "xxh3";
    const bench_parameter parameters[] = {
        {"rounds", BENCH_COUNT, &rounds, "that are timed; the median counts (5)"},
        {"long", BENCH_COUNT, &sizes[0], "bytes of a long document; 0: none (100K)"},
        {"short", BENCH_COUNT, &sizes[1], "bytes of a short one; 0: none (60)"},
        {"only", BENCH_TEXT, &only, "the features that are made, such as 'chars 4'; none named: all"},
        {"bits", BENCH_COUNT, &bits, "of a fingerprint: 64 or 128 (64); of a MinHash a multiple of 64"},
        {"hash", BENCH_TEXT, &hash, "xxh3: simhashes (xxh3); minhash: MinHashes, of the features once each"},
        {"bytes", BENCH_COUNT, &max_bytes, "of each file that are taken; 0: all (0)"},
    };
    const bench_usage usage = {"FILE...",
                               "Time fingerprints of the texts of each FILE, in UTF-8; text.sh makes such files.",
                               parameters, sizeof parameters / sizeof *parameters};
    const int first = bench_parse(argc, argv, &usage);
    recipe recipes[] = {
        {"words 3", SSTORE_FEATURE_KIND_WORDS, 3, SSTORE_WEIGHTING_FREQUENCY, NULL},
        {"words 2", SSTORE_FEATURE_KIND_WORDS, 2, SSTORE_WEIGHTING_SUBLINEAR, NULL},
        {"words 1 sublinear", SSTORE_FEATURE_KIND_WORDS, 1, SSTORE_WEIGHTING_SUBLINEAR, NULL},
        {"chars 4", SSTORE_FEATURE_KIND_CHARS, 4, SSTORE_WEIGHTING_FREQUENCY, NULL},
        {"chars 4 sublinear", SSTORE_FEATURE_KIND_CHARS, 4, SSTORE_WEIGHTING_SUBLINEAR, NULL},
    };
    const size_t recipe_count = sizeof recipes / sizeof *recipes;
    rounds += rounds == 0;
    for (size_t i = 0; i < recipe_count; i++) {
        sstore_error error;
        sstore_text_options options = SSTORE_TEXT_OPTIONS_INIT;
        options.kind = recipes[i].kind;
        options.shingle = recipes[i].shingle;
        options.weighting = recipes[i].weighting;
        if (strcmp(hash, "minhash") == 0) {
            options.hash = SSTORE_FEATURE_HASH_MINHASH;
            options.weighting = SSTORE_WEIGHTING_PRESENCE;
        }
        options.fingerprint_bits = (uint32_t)bits;
        if (*only == '\0' || strcmp(only, recipes[i].name) == 0)
            bench_must(sstore_fingerprinter_create(&options, &recipes[i].maker, &error), &error);
    }
    printf("# processor time of one thread, texts in memory; median of %" PRIu64 " rounds; other %%: "
           "bytes that are not ASCII; words in "
           "scripts without spaces are pairs of characters; the sum is that of all fingerprints\n",
           rounds);
    printf("text                      MB       other %%      features             doc bytes  documents  MB/s      "
           "ns/document  ns/feature  sum\n");
    for (int i = first; i < argc; i++) {
        text content;
        read_text(&content, argv[i], max_bytes);
        measure(&content, recipes, recipe_count, sizes, rounds);
        free(content.bytes);
    }
    for (size_t i = 0; i < recipe_count; i++)
        sstore_fingerprinter_free(recipes[i].maker);
    return 0;
}
