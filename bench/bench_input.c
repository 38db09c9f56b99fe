/*
 * bench_input.c - how fast is input read, unpacked and parsed? By the readers of the command, into a consumer that only
 * adds the numbers up. Files are in the page cache.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input/input.h"
#include "support/clock.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/samples.h"

typedef struct totals {
    uint64_t count, sum;
} totals;

static int add_up(void *context, const record_batch *batch)
{
    totals *to = context;
    for (size_t i = 0; i < batch->words * batch->count; i++)
        to->sum += batch->fingerprints[i];
    for (size_t i = 0; i < batch->count && batch->has_ids; i++)
        to->sum += batch->ids[i];
    to->count += batch->count;
    return 0;
}

static double read_once(const char *path, const input_options *options, totals *out)
{
    static input_doubt doubt;
    input_shape shape = INPUT_SHAPE_INIT;
    input_options watched = *options;
    doubt = (input_doubt){.strict = false};
    watched.doubt = options->doubt != NULL ? &doubt : NULL;
    *out = (totals){0, 0};
    double begin = bench_now_ns();
    if (input_read(path, &watched, &shape, add_up, out) != 0 || input_doubt_end(watched.doubt) != NULL)
        bench_fail("%s cannot be read", path);
    return bench_now_ns() - begin;
}

static double file_bytes(const char *path)
{
    struct stat facts;
    bench_must_do(stat(path, &facts) == 0, "looking at", path);
    return (double)facts.st_size;
}

/* The unpacked data: the file itself, or the one that it was compressed from, which must be beside it. */
static double unpacked_bytes(const char *path)
{
    char name[4096];
    size_t length;
    (void)compression_of_name(path, &length);
    snprintf(name, sizeof name, "%.*s", (int)length, path);
    return file_bytes(name);
}

/* On one thread and ahead of the consumer, in turns. */
static void measure(const char *path, input_options options, uint64_t rounds)
{
    totals read = {0, 0};
    double *times[2] = {bench_alloc(rounds, sizeof **times), bench_alloc(rounds, sizeof **times)};
    double ns[2], bytes = unpacked_bytes(path);
    for (uint64_t i = 0; i <= rounds; i++) { /* the first warms */
        for (int ahead = 0; ahead < 2; ahead++) {
            options.ahead = ahead != 0;
            times[ahead][i > 0 ? i - 1 : 0] = read_once(path, &options, &read);
        }
    }
    for (int ahead = 0; ahead < 2; ahead++) {
        ns[ahead] = bench_median(times[ahead], rounds);
        free(times[ahead]);
    }
    double records = read.count > 0 ? (double)read.count : 1;
    printf("%-40s  %-10" PRIu64 "  %9.1f  %8.1f  %8.0f  %13.2f  %10.0f  %15.2f  %016" PRIx64 "\n", path, read.count,
           file_bytes(path) / 1e6, bytes / 1e6, bytes * 1e3 / ns[0], ns[0] / records, bytes * 1e3 / ns[1],
           ns[1] / records, read.sum);
}

int main(int argc, char **argv)
{
    uint64_t rounds = 5;
    uint64_t doubts = 1;
    const char *radix = "hex";
    const bench_parameter parameters[] = {
        {"rounds", BENCH_COUNT, &rounds, "of each kind that are timed; the median counts (5)"},
        {"doubt", BENCH_COUNT, &doubts, "0: without looking for signs that rows mean something else (1)"},
        {"radix", BENCH_TEXT, &radix, "of fingerprints in text, hex or dec (hex)"},
    };
    const bench_usage usage = {"FILE...", "Time the reading of each FILE. For X.gz and X.zst, X must be beside them.",
                               parameters, sizeof parameters / sizeof *parameters};
    int first = bench_parse(argc, argv, &usage);
    input_options options = INPUT_OPTIONS_INIT;
    options.lines.radix = strcmp(radix, "dec") == 0 ? RADIX_DEC : RADIX_HEX;
    options.doubt = doubts > 0 ? &options.own_doubt : NULL;
    rounds += rounds == 0;
    printf("# one: on one thread; ahead: unpacked, parsed and added up on a thread each; MB/s of what the file unpacks "
           "to; "
           "median of %" PRIu64 " rounds; the sum is that of all numbers read\n",
           rounds);
    printf("%-40s  records     packed MB  MB        one MB/s  one ns/record  ahead MB/s  ahead ns/record  sum\n",
           "input");
    for (int i = first; i < argc; i++)
        measure(argv[i], options, rounds);
    return 0;
}
