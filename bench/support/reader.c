#include "support/reader.h"

#include <stdio.h>

#include "support/must.h"

bench_reader bench_reader_open(const char *path, sstore_io io)
{
    sstore_error error;
    sstore_open_options options = SSTORE_OPEN_OPTIONS_INIT;
    bench_reader reader = {NULL, NULL, 0};
    options.io = io;
    bench_must(sstore_open(path, &options, &reader.store, &error), &error);
    bench_must(sstore_cursor_create(reader.store, &reader.cursor, &error), &error);
    reader.words = sstore_fingerprint_bits(reader.store) / 64;
    return reader;
}

void bench_reader_close(bench_reader *reader)
{
    sstore_cursor_free(reader->cursor);
    sstore_close(reader->store);
    *reader = (bench_reader){NULL, NULL, 0};
}

void bench_reader_query(const bench_reader *reader, const uint64_t *fingerprint, uint32_t distance,
                        sstore_match_fn on_match, void *context)
{
    sstore_error error;
    bench_must(sstore_query(reader->cursor, fingerprint, distance, on_match, context, &error), &error);
}

int bench_count_match(void *count, const sstore_match *match)
{
    (void)match;
    ++*(uint64_t *)count;
    return 0;
}

void bench_reader_plan(const bench_reader *reader, char plan[BENCH_PLAN_BYTES])
{
    sstore_error error;
    sstore_statistics facts = SSTORE_STATISTICS_INIT;
    sstore_word_statistics word = SSTORE_WORD_STATISTICS_INIT;
    size_t used = 0;
    plan[0] = '\0';
    bench_must(sstore_stat(reader->store, &facts, &error), &error);
    for (uint32_t i = 0; facts.table_count > 0 && i < facts.fingerprint_bits / 64 && used < BENCH_PLAN_BYTES; i++) {
        bench_must(sstore_stat_word(reader->store, facts.largest_segment, i, &word, &error), &error);
        used += (size_t)snprintf(plan + used, BENCH_PLAN_BYTES - used, "%s%s", i > 0 ? " " : "", word.plan);
    }
}
