#include "support/query_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/must.h"
#include "support/reader.h"
#include "support/splitmix.h"

/* Every stride-th fingerprint of the store. */
typedef struct sample {
    uint64_t *fingerprints;
    size_t count, capacity;
    uint64_t seen, stride;
} sample;

static int take_sample(void *context, const sstore_record *record)
{
    sample *self = context;
    if (self->seen++ % self->stride == 0)
        self->fingerprints[self->count++] = record->fingerprint;
    return self->count == self->capacity;
}

static void shuffle(uint64_t *values, size_t count, bench_random *random)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = bench_random_below(random, i);
        uint64_t swapped = values[i - 1];
        values[i - 1] = values[other];
        values[other] = swapped;
    }
}

static void fill(bench_query_set *set, uint64_t distance)
{
    sstore_error error;
    /* Away from the numbers of the same seed, of which the store itself may be made. */
    bench_random from_seed = {set->seed}, random = {bench_random_next(&from_seed)};
    bench_reader reader = bench_reader_open(set->store, SSTORE_IO_PREAD);
    set->facts->struct_size = sizeof *set->facts;
    bench_must(sstore_stat(reader.store, set->facts, &error), &error);
    if (distance == BENCH_STORE_DISTANCE)
        distance = set->facts->distance;
    sample taken = {.fingerprints = set->hits, .capacity = set->count, .stride = set->facts->record_count / set->count};
    taken.stride += taken.stride == 0;
    bench_must(sstore_each_record(reader.store, take_sample, &taken, &error), &error);
    bench_reader_close(&reader);
    if (taken.count == 0)
        bench_fail("%s is empty: there is nothing to ask for", set->store);
    for (size_t i = 0; i < set->count; i++) {
        set->misses[i] = bench_random_next(&random);
        if (i >= taken.count)
            set->hits[i] = set->hits[bench_random_below(&random, taken.count)];
    }
    shuffle(set->hits, set->count, &random);
    for (size_t i = 0; i < set->count; i++)
        set->hits[i] ^= bench_random_flips(&random, bench_random_below(&random, distance + 1));
}

bench_query_set bench_query_set_create(const char *store, uint64_t distance, size_t count, uint64_t seed)
{
    bench_query_set set = {.store = store, .count = count, .seed = seed};
    int status;
    if (count == 0 || (distance != BENCH_STORE_DISTANCE && distance > SSTORE_MAX_DISTANCE))
        bench_fail("there must be a query, and a distance of at most 64");
    set.mapped_bytes = sizeof *set.facts + 2 * count * sizeof *set.hits;
    void *memory = mmap(NULL, set.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_must_do(memory != MAP_FAILED, "allocating the queries", NULL);
    set.facts = memory;
    set.hits = (uint64_t *)(void *)(set.facts + 1);
    set.misses = set.hits + count;
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
    set.distance = distance == BENCH_STORE_DISTANCE ? set.facts->distance : (uint32_t)distance;
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
           set->store, facts->record_count, facts->distance, facts->plan,
           (double)facts->total_bytes / (double)facts->record_count, set->count, set->distance, set->seed);
}
