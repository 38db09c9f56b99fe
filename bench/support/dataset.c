#include "support/dataset.h"

#include <endian.h>
#include <string.h>
#include <sys/stat.h>

#include "support/must.h"
#include "support/splitmix.h"

#define NUMBERS_EACH 3u /* random numbers that belong to each fingerprint */
#define MAX_FLIPS 3u

static uint64_t uniform(uint64_t seed, uint64_t index)
{
    bench_random random = bench_random_at(seed, index);
    return bench_random_next(&random);
}

/* Follow the copies back to an original, and gather on the way what each of them flipped. */
static uint64_t clustered(uint64_t seed, uint64_t index)
{
    uint64_t flipped = 0;
    for (;;) {
        bench_random random = bench_random_at(seed, index * NUMBERS_EACH);
        uint64_t choice = bench_random_next(&random);
        if (index == 0 || choice % 4 != 0)
            return bench_random_next(&random) ^ flipped;
        index = bench_random_below(&random, index);
        /* A generator of its own: how many numbers it takes is not known before. */
        bench_random flips = {bench_random_next(&random)};
        flipped ^= bench_random_flips(&flips, bench_random_below(&flips, MAX_FLIPS + 1));
    }
}

bench_rule bench_rule_named(const char *name)
{
    if (strcmp(name, "uniform") == 0)
        return uniform;
    return strcmp(name, "clustered") == 0 ? clustered : NULL;
}

void bench_dataset_open(bench_dataset *set, const char *name, uint64_t seed)
{
    *set = (bench_dataset){.rule = bench_rule_named(name), .path = name, .seed = seed};
    if (set->rule == NULL)
        set->file = fopen(name, "rb");
    bench_must_do(set->rule != NULL || set->file != NULL, "opening", name);
}

void bench_dataset_close(bench_dataset *set)
{
    if (set->file != NULL)
        fclose(set->file);
    set->file = NULL;
}

uint64_t bench_dataset_count(const bench_dataset *set)
{
    struct stat facts;
    if (set->file == NULL)
        return UINT64_MAX;
    bench_must_do(fstat(fileno(set->file), &facts) == 0, "looking at", set->path);
    return (uint64_t)facts.st_size / sizeof(uint64_t);
}

void bench_dataset_read(bench_dataset *set, uint64_t *fingerprints, size_t count)
{
    if (set->file != NULL && fread(fingerprints, sizeof *fingerprints, count, set->file) != count)
        bench_fail("%s ends too early", set->path);
    for (size_t i = 0; i < count; i++)
        fingerprints[i] = set->file != NULL ? le64toh(fingerprints[i]) : set->rule(set->seed, set->next++);
}
