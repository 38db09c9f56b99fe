/*
 * bench_get.c - how long does it take to look up the record of an id, warm, on one thread? Of ids that records have, in
 * random order, one by one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/clock.h"
#include "support/io_mode.h"
#include "support/must.h"
#include "support/reader.h"
#include "support/samples.h"
#include "support/splitmix.h"

#define ROUNDS 5u

#define PIECE 4096u

static void shuffle(bench_random *random, uint64_t *ids, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j = bench_random_below(random, i);
        const uint64_t id = ids[i - 1];
        ids[i - 1] = ids[j];
        ids[j] = id;
    }
}

/* The ids of `count` of the store's records, in random order. */
static uint64_t *choose_ids(const bench_reader *reader, uint64_t record_count, size_t count)
{
    static uint64_t piece[PIECE];
    uint64_t *ids = bench_alloc(count, sizeof *ids), seen = 0;
    bench_random random = {1};
    const sstore_columns columns = {.struct_size = sizeof columns, .id = piece};
    sstore_iterator *iterator;
    sstore_error error;
    size_t got = PIECE, chosen = 0;
    bench_must(sstore_iterate_records(reader->store, &iterator, &error), &error);
    while (got == PIECE) {
        bench_must(sstore_iterator_next(iterator, &columns, PIECE, &got, &error), &error);
        for (size_t i = 0; i < got; i++, seen++)
            if (bench_random_below(&random, record_count - seen) < count - chosen)
                ids[chosen++] = piece[i];
    }
    sstore_iterator_free(iterator);
    shuffle(&random, ids, chosen);
    return ids;
}

/* Look all ids up, one by one; the time of one of them in microseconds. */
static double time_round(const bench_reader *reader, const uint64_t *ids, size_t count, uint64_t *found_out)
{
    sstore_error error;
    *found_out = 0;
    const double begin = bench_now_ns();
    for (size_t i = 0; i < count; i++)
        bench_must(sstore_get(reader->cursor, &ids[i], 1, bench_count_match, found_out, &error), &error);
    return (bench_now_ns() - begin) / 1e3 / (double)count;
}

static void measure(const char *path, sstore_io io, size_t wanted)
{
    sstore_error error;
    sstore_statistics facts = SSTORE_STATISTICS_INIT;
    bench_reader reader = bench_reader_open(path, io);
    double us[ROUNDS];
    uint64_t found;
    bench_must(sstore_stat(reader.store, &facts, &error), &error);
    const size_t count = wanted < facts.record_count ? wanted : facts.record_count;
    uint64_t *ids = choose_ids(&reader, facts.record_count, count);
    (void)time_round(&reader, ids, count, &found); /* warms the page cache and the processor's */
    const uint64_t blocks_before = sstore_cursor_block_count(reader.cursor);
    for (size_t i = 0; i < ROUNDS; i++)
        us[i] = time_round(&reader, ids, count, &found);
    const uint64_t blocks = sstore_cursor_block_count(reader.cursor) - blocks_before;
    printf("%-6s  %8.2f  %6.2f  %9zu  %9" PRIu64 "\n", bench_io_name(io), bench_median(us, ROUNDS),
           (double)blocks / (double)count / ROUNDS, count, found);
    free(ids);
    bench_reader_close(&reader);
}

int main(int argc, char **argv)
{
    static const sstore_io modes[] = {SSTORE_IO_MMAP, SSTORE_IO_PREAD, SSTORE_IO_MEMORY};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_get STORE [COUNT]\n");
        return 2;
    }
    const size_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    printf("%-6s  %8s  %6s  %9s  %9s\n", "mode", "us an id", "blocks", "ids", "records");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        measure(argv[1], modes[i], count);
    return 0;
}
