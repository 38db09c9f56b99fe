#include "support/dataset.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "support/must.h"
#include "support/parameters.h"

#define USUAL_FLIPS 3u
#define CLUSTERED "clustered"

/* Random numbers that belong to each fingerprint of `clustered`: a choice, then its words, or an index and a seed. */
static uint64_t numbers_each(size_t words)
{
    return words > 2 ? 1 + words : 3;
}

static void put_random(bench_random *random, size_t words, uint64_t *fingerprint)
{
    for (size_t i = 0; i < words; i++)
        fingerprint[i] = bench_random_next(random);
}

static void flip_from(const uint64_t *mask, size_t words, uint64_t *fingerprint)
{
    for (size_t i = 0; i < words; i++)
        fingerprint[i] ^= mask[i];
}

void bench_flip_bits(bench_random *random, uint64_t flips, size_t words, uint64_t *fingerprint)
{
    uint64_t mask[BENCH_MAX_WORDS] = {0};
    while (flips > 0) {
        uint64_t bit = bench_random_below(random, 64 * words); /* 0 is the least significant */
        uint64_t *word = mask + words - 1 - bit / 64, flipped = UINT64_C(1) << bit % 64;
        flips -= (*word & flipped) == 0;
        *word |= flipped;
    }
    flip_from(mask, words, fingerprint);
}

/* Follow the copies back to an original, and gather on the way what each of them flipped. */
static void put_clustered(const bench_dataset *set, uint64_t index, uint64_t *fingerprint)
{
    uint64_t flipped[BENCH_MAX_WORDS] = {0};
    for (;;) {
        bench_random random = bench_random_at(set->seed, index * numbers_each(set->words));
        uint64_t choice = bench_random_next(&random);
        if (index == 0 || choice % 4 != 0) {
            put_random(&random, set->words, fingerprint);
            flip_from(flipped, set->words, fingerprint);
            return;
        }
        index = bench_random_below(&random, index);
        /* A generator of its own: how many numbers it takes is not known before. */
        bench_random flips = {bench_random_next(&random)};
        bench_flip_bits(&flips, bench_random_below(&flips, set->flips + 1), set->words, flipped);
    }
}

static void put_by_rule(const bench_dataset *set, uint64_t index, uint64_t *fingerprint)
{
    bench_random random = bench_random_at(set->seed, index * set->words);
    if (set->clustered)
        put_clustered(set, index, fingerprint);
    else
        put_random(&random, set->words, fingerprint);
}

/* Whether it names a rule; the flips that go with it. */
static bool parse_rule(const char *name, uint64_t *flips_out)
{
    size_t length = strlen(CLUSTERED);
    *flips_out = USUAL_FLIPS;
    if (strcmp(name, "uniform") == 0 || strcmp(name, CLUSTERED) == 0)
        return true;
    return strncmp(name, CLUSTERED ":", length + 1) == 0 && bench_parse_number(name + length + 1, 1000, flips_out);
}

bool bench_is_rule(const char *name)
{
    uint64_t flips;
    return parse_rule(name, &flips);
}

size_t bench_words_of(uint64_t bits)
{
    if (bits == 0 || bits % 64 != 0 || bits / 64 > BENCH_MAX_WORDS)
        bench_fail("a fingerprint has 64, 128 ... or %u bits, not %" PRIu64, 64 * BENCH_MAX_WORDS, bits);
    return (size_t)(bits / 64);
}

void bench_dataset_open(bench_dataset *set, const char *name, size_t words, uint64_t seed)
{
    *set = (bench_dataset){.path = name, .words = words, .seed = seed};
    bool rule = parse_rule(name, &set->flips);
    set->clustered = rule && strcmp(name, "uniform") != 0;
    if (!rule)
        set->file = fopen(name, "rb");
    bench_must_do(rule || set->file != NULL, "opening", name);
    if (set->flips > 64 * words)
        bench_fail("%s: a fingerprint has only %zu bits to flip", name, 64 * words);
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
    uint64_t each_bytes = set->words * sizeof(uint64_t);
    if (set->file == NULL)
        return UINT64_MAX;
    bench_must_do(fstat(fileno(set->file), &facts) == 0, "looking at", set->path);
    if ((uint64_t)facts.st_size % each_bytes != 0)
        bench_fail("%s ends within a fingerprint: its %" PRIu64 " bytes are no multiple of %" PRIu64, set->path,
                   (uint64_t)facts.st_size, each_bytes);
    return (uint64_t)facts.st_size / each_bytes;
}

void bench_dataset_read(bench_dataset *set, uint64_t *fingerprints, size_t count)
{
    if (set->file == NULL) {
        for (size_t i = 0; i < count; i++)
            put_by_rule(set, set->next++, fingerprints + i * set->words);
        return;
    }
    if (fread(fingerprints, set->words * sizeof *fingerprints, count, set->file) != count)
        bench_fail("%s ends too early", set->path);
    for (size_t i = 0; i < count * set->words; i++)
        fingerprints[i] = le64toh(fingerprints[i]);
}

void bench_dataset_seek(bench_dataset *set, uint64_t index)
{
    set->next = index;
    if (set->file != NULL)
        bench_must_do(fseeko(set->file, (off_t)(index * set->words * sizeof(uint64_t)), SEEK_SET) == 0, "seeking in",
                      set->path);
}
