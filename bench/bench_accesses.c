/*
 * bench_accesses.c - how long do only the memory accesses of a query take? Blocks at random places of a large memory:
 * the last line of each, then some lines whose place depends on it, all prefetched in stages as a query does it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/clock.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/samples.h"
#include "support/splitmix.h"

#define BLOCK_BYTES 4096u
#define LINE_BYTES 64u
#define MAX_BLOCKS 256u
#define MAX_LINES 32u
#define ROUNDS 5u

static uint64_t bytes = 1u << 30, blocks = 24, lines = 5, queries = 200000, seed = 1;
static const char *pages = "small";

static uint8_t *make_memory(bool huge)
{
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bench_must_do(memory != MAP_FAILED, "mapping memory", NULL);
    bench_must_do(madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0, "madvise", NULL);
    memset(memory, 1, bytes);
    return memory;
}

/* Microseconds a query. Adds what it read to *sum_out, so that nothing is left out. */
static double time_round(const uint8_t *memory, bench_random *random, uint64_t *sum_out)
{
    uint64_t sum = 0;
    const uint8_t *block[MAX_BLOCKS], *group[MAX_BLOCKS];
    const uint64_t block_count = bytes / BLOCK_BYTES, places = BLOCK_BYTES / LINE_BYTES - lines - 1;
    const double begin = bench_now_ns();
    for (uint64_t query = 0; query < queries; query++) {
        for (uint64_t i = 0; i < blocks; i++) {
            block[i] = memory + bench_random_below(random, block_count) * BLOCK_BYTES;
            __builtin_prefetch(block[i] + BLOCK_BYTES - LINE_BYTES);
        }
        for (uint64_t i = 0; i < blocks; i++) {
            group[i] = block[i] + (block[i][BLOCK_BYTES - 1] + bench_random_next(random)) % places * LINE_BYTES;
            for (uint64_t line = 0; line < lines; line++)
                __builtin_prefetch(group[i] + line * LINE_BYTES);
        }
        for (uint64_t i = 0; i < blocks; i++)
            for (uint64_t line = 0; line < lines; line++)
                sum += group[i][line * LINE_BYTES];
    }
    *sum_out += sum;
    return (bench_now_ns() - begin) / 1000 / (double)queries;
}

int main(int argc, char **argv)
{
    const bench_parameter parameters[] = {
        {"bytes", BENCH_SIZE, &bytes, "of memory"},
        {"blocks", BENCH_COUNT, &blocks, "of 4 KiB that a query reads, 1 to 256"},
        {"lines", BENCH_COUNT, &lines, "of 64 bytes that it reads of each, beside the last one, 1 to 32"},
        {"pages", BENCH_TEXT, &pages, "small or huge"},
        {"queries", BENCH_COUNT, &queries, "in a round"},
        {"seed", BENCH_COUNT, &seed, "of the places"},
    };
    const bench_usage usage = {"", "Time the memory accesses of a query alone.", parameters,
                               sizeof parameters / sizeof *parameters};
    bench_parse(argc, argv, &usage);
    const bool huge = strcmp(pages, "huge") == 0;
    if (bytes < BLOCK_BYTES || blocks < 1 || blocks > MAX_BLOCKS || lines < 1 || lines > MAX_LINES || queries == 0)
        bench_fail("bytes, blocks, lines or queries are out of range; see --help");
    if (!huge && strcmp(pages, "small") != 0)
        bench_fail("--pages=%s: small or huge", pages);
    uint8_t *memory = make_memory(huge);
    bench_random random = bench_random_at(seed, 0);
    double rounds[ROUNDS];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ROUNDS; i++)
        rounds[i] = time_round(memory, &random, &sum);
    printf("# median of %u rounds; sum %" PRIu64 "\n", ROUNDS, sum);
    printf("MiB       blocks  lines  pages  us/query\n");
    printf("%-8" PRIu64 "  %6" PRIu64 "  %5" PRIu64 "  %-5s  %8.2f\n", bytes >> 20, blocks, lines, pages,
           bench_median(rounds, ROUNDS));
    munmap(memory, bytes);
    return 0;
}
