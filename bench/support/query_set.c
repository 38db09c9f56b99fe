#include "support/query_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/dataset.h"
#include "support/must.h"
#include "support/reader.h"
#include "support/splitmix.h"

#define READ_BATCH 4096u /* records */

/* Have every stride-th fingerprint of the store, up to set->count of them; returns how many there were. */
static size_t take_samples(bench_query_set *set, const sstore *store)
{
    sstore_error error;
    sstore_iterator *iterator;
    sstore_columns columns = SSTORE_COLUMNS_INIT;
    size_t taken = 0, count, words = set->words;
    uint64_t stride = set->facts->record_count / set->count, until_next = 0;
    stride += stride == 0;
    columns.fingerprint = bench_alloc(READ_BATCH * words, sizeof *columns.fingerprint);
    bench_must(sstore_iterate_records(store, &iterator, &error), &error);
    do {
        bench_must(sstore_iterator_next(iterator, &columns, READ_BATCH, &count, &error), &error);
        for (; until_next < count && taken < set->count; until_next += stride)
            memcpy(set->hits + words * taken++, columns.fingerprint + words * until_next, words * sizeof(uint64_t));
        until_next -= count;
    } while (count > 0 && taken < set->count);
    sstore_iterator_free(iterator);
    free(columns.fingerprint);
    return taken;
}

static void swap(uint64_t *a, uint64_t *b, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t swapped = a[i];
        a[i] = b[i];
        b[i] = swapped;
    }
}

static void shuffle(uint64_t *values, size_t count, size_t words, bench_random *random)
{
    for (size_t i = count; i > 1; i--)
        swap(values + words * (i - 1), values + words * bench_random_below(random, i), words);
}

/* What follows from the facts about the store. */
static void finish_set(bench_query_set *set, uint64_t distance)
{
    set->words = set->facts->fingerprint_bits / 64;
    set->misses = set->hits + set->count * set->words;
    set->distance = distance == BENCH_STORE_DISTANCE ? set->facts->distance : (uint32_t)distance;
}

static void fill(bench_query_set *set, uint64_t distance)
{
    sstore_error error;
    /* Away from the numbers of the same seed, of which the store itself may be made. */
    bench_random from_seed = {set->seed}, random = {bench_random_next(&from_seed)};
    bench_reader reader = bench_reader_open(set->store, SSTORE_IO_PREAD);
    set->facts->struct_size = sizeof *set->facts;
    bench_must(sstore_stat(reader.store, set->facts, &error), &error);
    bench_reader_plan(&reader, set->plan);
    finish_set(set, distance);
    size_t words = set->words;
    if (set->distance > SSTORE_MAX_DISTANCE * words)
        bench_fail("the distance must be at most %zu", SSTORE_MAX_DISTANCE * words);
    size_t taken = take_samples(set, reader.store);
    bench_reader_close(&reader);
    if (taken == 0)
        bench_fail("%s is empty: there is nothing to ask for", set->store);
    for (size_t i = 0; i < set->count; i++) {
        for (size_t j = 0; j < words; j++)
            set->misses[words * i + j] = bench_random_next(&random);
        if (i >= taken)
            memcpy(set->hits + words * i, set->hits + words * bench_random_below(&random, taken),
                   words * sizeof(uint64_t));
    }
    shuffle(set->hits, set->count, words, &random);
    for (size_t i = 0; i < set->count; i++)
        bench_flip_bits(&random, bench_random_below(&random, (uint64_t)set->distance + 1), words,
                        set->hits + words * i);
}

bench_query_set bench_query_set_create(const char *store, uint64_t distance, size_t count, uint64_t seed)
{
    bench_query_set set = {.store = store, .count = count, .seed = seed};
    int status;
    if (count == 0)
        bench_fail("there must be a query");
    /* The child finds out how many words a fingerprint has: pages that are not touched take no memory. */
    set.mapped_bytes = sizeof *set.facts + BENCH_PLAN_BYTES + 2 * count * BENCH_MAX_WORDS * sizeof *set.hits;
    void *memory = mmap(NULL, set.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_must_do(memory != MAP_FAILED, "allocating the queries", NULL);
    set.facts = memory;
    set.plan = (char *)(set.facts + 1);
    set.hits = (uint64_t *)(void *)(set.plan + BENCH_PLAN_BYTES);
    fflush(stdout);
    pid_t child = fork();
    bench_must_do(child >= 0, "fork", NULL);
    if (child == 0) {
        fill(&set, distance);
        _exit(0);
    }
    bench_must_do(waitpid(child, &status, 0) == child, "waiting for a child", NULL);
    if (status != 0)
        bench_fail("no queries could be made from %s", store);
    finish_set(&set, distance);
    return set;
}

void bench_query_set_free(bench_query_set *set)
{
    (void)munmap(set->facts, set->mapped_bytes);
    *set = (bench_query_set){0};
}

void bench_query_set_print(const bench_query_set *set)
{
    const sstore_statistics *facts = set->facts;
    printf("# %s: %" PRIu64 " records, k = %" PRIu32
           ", plan %s, %.2f bytes a record; %zu queries of each kind at distance "
           "%" PRIu32 ", seed %" PRIu64 "\n",
           set->store, facts->record_count, facts->distance, set->plan,
           (double)facts->total_bytes / (double)facts->record_count, set->count, set->distance, set->seed);
}
