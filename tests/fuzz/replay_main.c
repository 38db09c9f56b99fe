/*
 * replay_main.c - runs a fuzz target without a fuzzer: over every file of a corpus, over mutations of each, and over
 * inputs made from nothing, so that a target without a corpus is exercised too.
 *   replay_<name> MUTATIONS [FILE|FOLDER]...
 * A file gets so many mutations, a quarter of them with SSTORE_TEST_FEW=1, or SSTORE_TEST_MUTATIONS. They are the same
 * in every run unless SSTORE_TEST_SEED says otherwise. Folders that are not there are empty.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/random.h"
#include "support/scratch.h"
#include "support/testing.h"

#define DEFAULT_SEED 1
#define MAX_NAME_BYTES 4096
#define MAX_INPUT_BYTES ((size_t)1 << 20)
#define MADE_COUNT 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    char name[256];
    file_bytes content;
} input;

typedef struct corpus {
    input *items;
    size_t count;
} corpus;

static void *checked(void *memory)
{
    if (memory != NULL)
        return memory;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

/* ----- gathering inputs ----- */

static void add_input(corpus *all, const char *name, const void *data, size_t size)
{
    all->items = checked(realloc(all->items, (all->count + 1) * sizeof *all->items));
    input *added = &all->items[all->count++];
    size_t length = strlen(name);
    const char *end = length < sizeof added->name ? name : name + length - (sizeof added->name - 1);
    snprintf(added->name, sizeof added->name, "%s", end);
    added->content = (file_bytes){.data = checked(malloc(size + 1)), .size = size};
    if (size > 0)
        memcpy(added->content.data, data, size);
}

static void add_file(corpus *all, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    uint8_t *data = checked(malloc(MAX_INPUT_BYTES));
    size_t size = fread(data, 1, MAX_INPUT_BYTES, file);
    add_input(all, path, data, size);
    free(data);
    fclose(file);
}

static void add_path(corpus *all, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        printf("%s: %s\n", path, strerror(errno));
        return;
    }
    if (!S_ISDIR(info.st_mode)) {
        add_file(all, path);
        return;
    }
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort); /* sorted: the mutations depend on the order */
    for (int i = 0; i < count; i++) {
        char inside[MAX_NAME_BYTES];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            add_path(all, inside);
        free(entries[i]);
    }
    free(entries);
}

/* Nothing, zeros, ones and noise, from 0 to 4096 bytes. */
static void add_made(corpus *all, rng *random)
{
    uint8_t data[4096];
    for (size_t i = 0; i < MADE_COUNT; i++) {
        size_t size = i == 0 ? 0 : rng_below(random, (size_t)1 << rng_between(random, 1, 12));
        if (i % 4 == 1)
            memset(data, 0, sizeof data);
        else if (i % 4 == 2)
            memset(data, 0xff, sizeof data);
        else
            rng_fill(random, data, sizeof data);
        char name[32];
        snprintf(name, sizeof name, "made-%zu", i);
        add_input(all, name, data, size);
    }
}

/* ----- mutations ----- */

/* clang-format off */
static const uint64_t edges[] = {
    0, 1, 2, 63, 64, 65, 127, 128, 255, 256, 4095, 4096, 32767, 32768, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff,
    0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffff8, 0xffffffffffffffff,
};
/* clang-format on */

static void write_number(rng *random, file_bytes *content)
{
    size_t width = (size_t)1 << rng_below(random, 4);
    if (content->size < width)
        return;
    size_t at = rng_below(random, content->size - width + 1);
    uint64_t number = edges[rng_below(random, sizeof edges / sizeof *edges)];
    if (rng_one_in(random, 3)) { /* a little more or less than what is there */
        number = 0;
        for (size_t i = width; i-- > 0;)
            number = number << 8 | content->data[at + i];
        number += rng_below(random, 9) - 4;
    }
    for (size_t i = 0; i < width; i++)
        content->data[at + i] = (uint8_t)(number >> (8 * i));
}

/* Make room for, or cut out, `size` bytes at an offset; new bytes are copies of others or noise. */
static void insert(rng *random, file_bytes *content)
{
    size_t size = rng_between(random, 1, 32), at = rng_below(random, content->size + 1);
    content->data = checked(realloc(content->data, content->size + size + 1));
    memmove(content->data + at + size, content->data + at, content->size - at);
    rng_fill(random, content->data + at, size);
    if (content->size > size && rng_one_in(random, 2))
        memmove(content->data + at, content->data + rng_below(random, content->size - size), size);
    content->size += size;
}

static void cut_out(rng *random, file_bytes *content)
{
    if (content->size == 0)
        return;
    size_t at = rng_below(random, content->size), max = content->size - at;
    size_t size = rng_between(random, 1, max < 32 ? max : 32);
    memmove(content->data + at, content->data + at + size, content->size - at - size);
    content->size -= size;
}

static void splice(rng *random, file_bytes *content, const corpus *all)
{
    const file_bytes *other = &all->items[rng_below(random, all->count)].content;
    if (other->size == 0)
        return;
    size_t from = rng_below(random, other->size), size = rng_between(random, 1, other->size - from);
    size_t at = rng_below(random, content->size + 1);
    if (at + size > content->size) {
        content->data = checked(realloc(content->data, at + size + 1));
        content->size = at + size;
    }
    memcpy(content->data + at, other->data + from, size);
}

static void mutate(rng *random, file_bytes *content, const corpus *all)
{
    for (uint64_t left = rng_between(random, 1, 4); left > 0; left--) {
        size_t at = content->size == 0 ? 0 : rng_below(random, content->size);
        switch (content->size == 0 ? 6 : rng_below(random, 8)) {
        case 0:
        case 1: content->data[at] ^= (uint8_t)(1 << rng_below(random, 8)); break;
        case 2: content->data[at] = (uint8_t)rng_next(random); break;
        case 3: write_number(random, content); break;
        case 4: content->size = at; break;
        case 5: cut_out(random, content); break;
        case 6: insert(random, content); break;
        default: splice(random, content, all); break;
        }
    }
}

/* ----- running ----- */

/* In memory of exactly that size, so that a sanitizer sees every byte read beyond it. */
static void run_one(const uint8_t *data, size_t size)
{
    uint8_t *exact = checked(malloc(size > 0 ? size : 1));
    if (size > 0)
        memcpy(exact, data, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const uint64_t seed = testing_number("SSTORE_TEST_SEED", DEFAULT_SEED);
    const uint64_t usual = strtoull(argv[1], NULL, 10), few = usual / 4 + 1;
    const uint64_t mutations = testing_number("SSTORE_TEST_MUTATIONS", testing_few() ? few : usual);
    corpus all = {0};
    for (int i = 2; i < argc; i++)
        add_path(&all, argv[i]);
    const size_t file_count = all.count;
    rng random = rng_seeded(seed);
    add_made(&all, &random);
    printf("%zu corpus files and %d made inputs, %llu mutations of each, seed %llu\n", file_count, MADE_COUNT,
           (unsigned long long)mutations, (unsigned long long)seed);
    fflush(stdout);

    uint64_t run_count = 0;
    for (size_t i = 0; i < all.count; i++) {
        const input *base = &all.items[i];
        testing_doing("%s as it is", base->name);
        run_one(base->content.data, base->content.size);
        run_count++;
        for (uint64_t m = 0; m < mutations; m++, run_count++) {
            random = rng_seeded(rng_mix(seed ^ rng_mix(i)) + m);
            testing_doing("%s, mutation %llu, seed %llu", base->name, (unsigned long long)m, (unsigned long long)seed);
            file_bytes changed = {.data = checked(malloc(base->content.size + 1)), .size = base->content.size};
            memcpy(changed.data, base->content.data, base->content.size);
            mutate(&random, &changed, &all);
            run_one(changed.data, changed.size);
            free(changed.data);
        }
    }
    testing_done();
    testing_figure("inputs replayed: %llu, mutated from %zu files of the corpus and %d made ones",
                   (unsigned long long)run_count, file_count, MADE_COUNT);
    for (size_t i = 0; i < all.count; i++)
        free(all.items[i].content.data);
    free(all.items);
    return 0;
}
