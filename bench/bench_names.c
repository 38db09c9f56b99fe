/*
 * bench_names.c - what do names cost? A store is built of lines, each the name of a random fingerprint: bytes of a
 * name. Then, warm and on one thread: a query with a hit, the same with the names of its hits, names of ids in random
 * order one by one and 1,000 at once, and records by name.
 *   bench_names STORE [FILE]   FILE: lines; without it, the store is there already
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/clock.h"
#include "support/must.h"
#include "support/reader.h"
#include "support/samples.h"
#include "support/splitmix.h"

#define ROUNDS 5u
#define ASKED 100000u
#define AT_ONCE 1000u

/* ----- building ----- */

/* The same in each run: that of record `number`. */
static uint64_t fingerprint_of(uint64_t number)
{
    bench_random random = {number};
    return bench_random_next(&random);
}

static void build(const char *path, const char *input)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    uint64_t count = 0, bytes = 0;
    FILE *file = fopen(input, "r");
    if (file == NULL) {
        perror(input);
        exit(1);
    }
    options.names = options.force = true;
    const double begin = bench_now_ns();
    bench_must(sstore_builder_create(path, &options, &builder, &error), &error);
    while ((size = getline(&line, &capacity, file)) > 0) {
        const sstore_name name = {.bytes = line, .size = (size_t)size - (line[size - 1] == '\n')};
        const uint64_t fingerprint = fingerprint_of(count);
        if (name.size == 0)
            continue;
        bench_must(sstore_builder_add_named(builder, &fingerprint, NULL, &name, 1, &error), &error);
        count++;
        bytes += name.size;
    }
    bench_must(sstore_builder_finish(builder, NULL, &error), &error);
    printf("built in %.1f s: %" PRIu64 " names of %.1f bytes\n", (bench_now_ns() - begin) / 1e9, count,
           (double)bytes / (double)count);
    free(line);
    fclose(file);
}

static void print_sizes(const sstore *store)
{
    sstore_statistics facts = SSTORE_STATISTICS_INIT;
    sstore_error error;
    bench_must(sstore_stat(store, &facts, &error), &error);
    const double count = (double)facts.name_count;
    printf("bytes a name: column %.2f, name index %.2f; id index %.2f; all three %.2f\n",
           (double)facts.names_bytes / count, (double)facts.name_index_bytes / count,
           (double)facts.id_index_bytes / count,
           (double)(facts.names_bytes + facts.name_index_bytes + facts.id_index_bytes) / count);
}

/* ----- asking ----- */

typedef struct asked {
    sstore_cursor *cursor;
    uint64_t ids[ASKED];
    sstore_name names[ASKED];
    uint64_t found, found_ids[64], bytes;
    size_t found_count;
} asked;

static int take_match(void *context, const sstore_match *match)
{
    asked *self = context;
    self->found++;
    if (self->found_count < 64)
        self->found_ids[self->found_count++] = match->id;
    return 0;
}

static int take_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    (void)index;
    (void)id;
    ((asked *)context)->bytes += name->size;
    return 0;
}

static int keep_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    asked *self = context;
    char *bytes = bench_alloc(name->size, 1);
    (void)id;
    memcpy(bytes, name->bytes, name->size);
    self->names[index] = (sstore_name){.bytes = bytes, .size = name->size};
    return 0;
}

static void query(asked *self, size_t i, bool with_names, sstore_error *error)
{
    const uint64_t fingerprint = fingerprint_of(self->ids[i]);
    self->found_count = 0;
    bench_must(sstore_query(self->cursor, &fingerprint, 3, take_match, self, error), error);
    if (with_names)
        bench_must(sstore_names(self->cursor, self->found_ids, self->found_count, take_name, self, error), error);
}

/* One of the ways to ask, ASKED times. */
static void run_round(asked *self, int way)
{
    sstore_error error;
    for (size_t i = 0; i < ASKED; i++) {
        switch (way) {
        case 0: query(self, i, false, &error); break;
        case 1: query(self, i, true, &error); break;
        case 2: bench_must(sstore_names(self->cursor, &self->ids[i], 1, take_name, self, &error), &error); break;
        case 3:
            if (i % AT_ONCE == 0)
                bench_must(sstore_names(self->cursor, &self->ids[i], AT_ONCE, take_name, self, &error), &error);
            break;
        default:
            bench_must(sstore_get_named(self->cursor, &self->names[i], 1, take_match, self, &error), &error);
            break;
        }
    }
}

int main(int argc, char **argv)
{
    static const char *const ways[] = {"query", "query with names", "name of an id", "name of an id, 1,000 at once",
                                       "records by name"};
    static asked self;
    sstore_error error;
    sstore_statistics facts = SSTORE_STATISTICS_INIT;
    double us[5][ROUNDS];
    if (argc < 2) {
        fprintf(stderr, "usage: bench_names STORE [FILE]\n");
        return 2;
    }
    if (argc > 2)
        build(argv[1], argv[2]);
    bench_reader reader = bench_reader_open(argv[1], SSTORE_IO_MMAP);
    bench_random random = {1};
    print_sizes(reader.store);
    bench_must(sstore_stat(reader.store, &facts, &error), &error);
    self.cursor = reader.cursor;
    for (size_t i = 0; i < ASKED; i++)
        self.ids[i] = bench_random_below(&random, facts.next_id);
    bench_must(sstore_names(self.cursor, self.ids, ASKED, keep_name, &self, &error), &error);
    for (size_t i = 0; i < ROUNDS + 1; i++) /* the first one warms the caches */
        for (int way = 0; way < 5; way++) {
            const double begin = bench_now_ns();
            run_round(&self, way);
            us[way][i > 0 ? i - 1 : 0] = (bench_now_ns() - begin) / 1e3 / ASKED;
        }
    for (int way = 0; way < 5; way++)
        printf("%-30s %8.2f us\n", ways[way], bench_median(us[way], ROUNDS));
    bench_reader_close(&reader);
    return 0;
}
