/*
 * bench_change.c - how long do a removal of a few ids and a replacement of a few records take, in a store whose ids are
 * the numbers from 0 on? Each round removes random ids, and then replaces the records of others. The store is changed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/clock.h"
#include "support/must.h"
#include "support/reader.h"
#include "support/samples.h"
#include "support/splitmix.h"

#define MAX_ROUNDS 1000u

typedef struct records {
    size_t count;
    uint64_t *ids, *fingerprints; /* of one word */
} records;

static void choose(records *chosen, bench_random *random, uint64_t next_id)
{
    for (size_t i = 0; i < chosen->count; i++) {
        chosen->ids[i] = bench_random_below(random, next_id);
        chosen->fingerprints[i] = bench_random_next(random);
    }
}

static double remove_ids(const char *path, const records *chosen, sstore_change *change)
{
    sstore_remover *remover;
    sstore_error error;
    const double begin = bench_now_ns();
    bench_must(sstore_remover_create(path, NULL, &remover, &error), &error);
    bench_must(sstore_remover_remove(remover, NULL, chosen->ids, chosen->count, &error), &error);
    bench_must(sstore_remover_finish(remover, change, &error), &error);
    return (bench_now_ns() - begin) / 1e6;
}

static double replace(const char *path, const records *chosen, sstore_change *change)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder;
    sstore_error error;
    options.replace_records = true;
    const double begin = bench_now_ns();
    bench_must(sstore_builder_create_addition(path, &options, &builder, &error), &error);
    bench_must(sstore_builder_add(builder, chosen->fingerprints, chosen->ids, chosen->count, &error), &error);
    bench_must(sstore_builder_finish(builder, change, &error), &error);
    return (bench_now_ns() - begin) / 1e6;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_change STORE [COUNT [ROUNDS]]\n");
        return 2;
    }
    static double removing[MAX_ROUNDS], replacing[MAX_ROUNDS];
    const size_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 77;
    const size_t wanted = argc > 3 ? strtoull(argv[3], NULL, 10) : 15;
    const size_t rounds = wanted > 0 && wanted < MAX_ROUNDS ? wanted : MAX_ROUNDS;
    records chosen = {count, bench_alloc(count, sizeof(uint64_t)), bench_alloc(count, sizeof(uint64_t))};
    sstore_change change = SSTORE_CHANGE_INIT;
    sstore_statistics facts = SSTORE_STATISTICS_INIT;
    bench_random random = {(uint64_t)bench_now_ns()}; /* other ids in each run */
    sstore_error error;
    bench_reader reader = bench_reader_open(argv[1], SSTORE_IO_AUTO);
    bench_must(sstore_stat(reader.store, &facts, &error), &error);
    bench_reader_close(&reader);
    if (facts.fingerprint_bits != 64)
        bench_fail("%s: the fingerprints must have 64 bits", argv[1]);
    uint64_t removed = 0, replaced = 0;
    for (size_t i = 0; i < rounds; i++) {
        choose(&chosen, &random, facts.next_id);
        removing[i] = remove_ids(argv[1], &chosen, &change);
        removed += change.removed_count;
        choose(&chosen, &random, facts.next_id);
        replacing[i] = replace(argv[1], &chosen, &change);
        replaced += change.removed_count;
    }
    printf("records %" PRIu64 ", %s id index; %zu ids a change, %zu rounds, segments now %" PRIu32 "\n",
           facts.record_count, facts.has_id_index ? "with an" : "without an", count, rounds, change.segment_count);
    printf("remove   median %9.2f ms, %" PRIu64 " records removed\n", bench_median(removing, rounds), removed);
    printf("replace  median %9.2f ms, %" PRIu64 " records removed\n", bench_median(replacing, rounds), replaced);
    free(chosen.ids);
    free(chosen.fingerprints);
    return 0;
}
