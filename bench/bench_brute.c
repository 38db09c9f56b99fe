/*
 * bench_brute.c - how long does it take to compare all fingerprints of a file with one another, or with queries? The
 * plainest loop there is, on one thread: what no index may cost much more than on a small store.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/clock.h"
#include "support/dataset.h"
#include "support/must.h"
#include "support/parameters.h"

typedef struct fingerprints {
    uint64_t *words;
    size_t count;
} fingerprints;

static fingerprints read_file(const char *path, size_t words)
{
    bench_dataset set;
    bench_dataset_open(&set, path, words, 0);
    fingerprints all = {.count = (size_t)bench_dataset_count(&set)};
    all.words = bench_alloc(all.count * words + 1, sizeof *all.words);
    bench_dataset_read(&set, all.words, all.count);
    bench_dataset_close(&set);
    return all;
}

#ifdef __x86_64__
#define WITH_POPCNT __attribute__((target("popcnt")))
#else
#define WITH_POPCNT
#endif

WITH_POPCNT static uint32_t distance_of(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < words; i++)
        bits += (uint32_t)__builtin_popcountll(a[i] ^ b[i]);
    return bits;
}

/* The matches of `query` among the fingerprints from `begin` on. */
WITH_POPCNT static uint64_t count_near(const fingerprints *all, size_t begin, const uint64_t *query, size_t words,
                                       uint64_t k)
{
    uint64_t found = 0;
    for (size_t i = begin; i < all->count; i++)
        found += distance_of(query, all->words + i * words, words) <= k;
    return found;
}

int main(int argc, char **argv)
{
    uint64_t bits = 64, k = 3;
    const char *queries = "";
    const bench_parameter parameters[] = {
        {"bits", BENCH_COUNT, &bits, "of a fingerprint (64)"},
        {"distance", BENCH_COUNT, &k, "of pairs and matches (3)"},
        {"queries", BENCH_TEXT, &queries, "a file of queries; without it, all pairs are counted"},
    };
    const bench_usage usage = {"FILE", "Compare all fingerprints of FILE, as of bench_data, on one thread.", parameters,
                               sizeof parameters / sizeof *parameters};
    const int first = bench_parse(argc, argv, &usage);
    const size_t words = bench_words_of(bits);
    const fingerprints all = read_file(argv[first], words);
    const fingerprints asked = *queries != '\0' ? read_file(queries, words) : all;
    const double begin = bench_thread_ns();
    uint64_t found = 0;
    for (size_t i = 0; i < asked.count; i++)
        found += count_near(&all, *queries != '\0' ? 0 : i + 1, asked.words + i * words, words, k);
    printf("found       seconds\n%-10" PRIu64 "  %.6f\n", found, (bench_thread_ns() - begin) / 1e9);
    return 0;
}
