/*
 * peer_sstore.c - sstore as a side of compare.py: opens a store, then does what the lines of standard input say, one
 * thread.
 *
 *   peer_sstore STORE IO DISTANCE      queries are of as many words as the fingerprints of the store
 *     ready                    printed once the store is open
 *     time QUERIES             -> time US MATCHES: microseconds a query, the file's queries asked one after the other
 *     list QUERIES OUT         -> list MATCHES: OUT gets (query, id, distance) of each, as little-endian 64-bit numbers
 *     memory                   -> memory BYTES: as memory_use.h counts it, of the whole process but for the queries and
 *                                 the list of matches, which are the caller's
 *
 * Matches are kept while the time runs, as the other sides keep theirs.
 */
#include <endian.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/clock.h"
#include "support/dataset.h"
#include "support/io_mode.h"
#include "support/memory_use.h"
#include "support/must.h"
#include "support/reader.h"
#include "support/simd_level.h"

typedef struct found {
    uint64_t query, id, distance;
} found;

typedef struct peer {
    bench_reader reader;
    uint32_t distance;
    uint64_t *queries;
    size_t query_count, query;
    found *matches;
    size_t match_count, match_capacity;
} peer;

static void read_queries(peer *self, const char *path)
{
    bench_dataset set;
    bench_dataset_open(&set, path, self->reader.words, 0);
    self->query_count = bench_dataset_count(&set);
    free(self->queries);
    self->queries = bench_alloc(self->query_count * self->reader.words, sizeof *self->queries);
    bench_dataset_read(&set, self->queries, self->query_count);
    bench_dataset_close(&set);
}

static int keep_match(void *context, const sstore_match *match)
{
    peer *self = context;
    if (self->match_count == self->match_capacity) {
        self->match_capacity = 2 * self->match_capacity + 1024;
        self->matches = realloc(self->matches, self->match_capacity * sizeof *self->matches);
        bench_must_do(self->matches != NULL, "allocating", NULL);
    }
    self->matches[self->match_count++] = (found){self->query, match->id, match->distance};
    return 0;
}

static void ask_all(peer *self)
{
    self->match_count = 0;
    for (size_t i = 0; i < self->query_count; i++) {
        self->query = i;
        bench_reader_query(&self->reader, self->queries + self->reader.words * i, self->distance, keep_match, self);
    }
}

static void do_time(peer *self, const char *path)
{
    read_queries(self, path);
    double begin = bench_now_ns();
    ask_all(self);
    double us = (bench_now_ns() - begin) / 1e3 / (double)self->query_count;
    printf("time %.6f %zu\n", us, self->match_count);
}

static void do_list(peer *self, const char *path, const char *out_path)
{
    read_queries(self, path);
    ask_all(self);
    FILE *out = fopen(out_path, "wb");
    bench_must_do(out != NULL, "creating", out_path);
    for (size_t i = 0; i < self->match_count; i++) {
        found match = self->matches[i];
        match = (found){htole64(match.query), htole64(match.id), htole64(match.distance)};
        bench_must_do(fwrite(&match, sizeof match, 1, out) == 1, "writing", out_path);
    }
    bench_must_do(fclose(out) == 0, "writing", out_path);
    printf("list %zu\n", self->match_count);
}

static void free_lists(peer *self)
{
    free(self->queries);
    free(self->matches);
    self->queries = NULL;
    self->matches = NULL;
    self->match_capacity = 0;
}

static void do_memory(peer *self)
{
    free_lists(self);
    (void)malloc_trim(0);
    printf("memory %" PRIu64 "\n", bench_memory_now().total_bytes);
}

static void serve(peer *self)
{
    char line[2 * FILENAME_MAX];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *command = strtok(line, " \n"), *first = strtok(NULL, " \n"), *second = strtok(NULL, " \n");
        if (command != NULL && strcmp(command, "time") == 0 && first != NULL)
            do_time(self, first);
        else if (command != NULL && strcmp(command, "list") == 0 && second != NULL)
            do_list(self, first, second);
        else if (command != NULL && strcmp(command, "memory") == 0)
            do_memory(self);
        else
            bench_fail("there is no such command");
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: peer_sstore STORE pread|mmap|memory DISTANCE\n");
        return 2;
    }
    bench_simd_from_environment();
    peer self = {.reader = bench_reader_open(argv[1], bench_io_mode(argv[2])),
                 .distance = (uint32_t)strtoul(argv[3], NULL, 10)};
    puts("ready");
    fflush(stdout);
    serve(&self);
    bench_reader_close(&self.reader);
    free_lists(&self);
    return 0;
}
