/*
 * bench_build.c - how long does a build take, and how much memory at most? One build in each process, for its peak.
 * Creating or reading the fingerprints is not counted; copying, sorting, encoding, writing and syncing them is.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_statistics.h"
#include "support/clock.h"
#include "support/dataset.h"
#include "support/memory_use.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/reader.h"

#define CHUNK_COUNT 65536u

typedef struct build_request {
    const char *data, *path, *ids;
    uint64_t record_count, seed, threads, distance, block_bytes, bits;
    size_t words; /* of a fingerprint */
    sstore_write_options options;
} build_request;

#define MAX_PHASES 256u

/* Phases of finish, one after the other. */
typedef struct phase_times {
    size_t count;
    struct {
        char name[32];
        uint32_t table;
        double begin_ns;
    } phases[MAX_PHASES];
} phase_times;

typedef struct build_times {
    double add_ns, finish_ns, end_ns;
    phase_times phases;
} build_times;

static int note_phase(void *context, const sstore_progress *progress)
{
    phase_times *self = context;
    size_t last = self->count - 1;
    bool same = self->count > 0 && self->phases[last].table == progress->table &&
                strcmp(self->phases[last].name, progress->phase) == 0;
    if (!same && self->count < MAX_PHASES) {
        snprintf(self->phases[self->count].name, sizeof self->phases[0].name, "%s", progress->phase);
        self->phases[self->count].table = progress->table;
        self->phases[self->count++].begin_ns = bench_now_ns();
    }
    return 0;
}

static void print_phases(const build_times *times)
{
    const phase_times *all = &times->phases;
    printf("# seconds of finish:");
    for (size_t i = 0; i < all->count; i++) {
        double end = i + 1 < all->count ? all->phases[i + 1].begin_ns : times->end_ns;
        printf("%s %s table %" PRIu32 " %.2f", i == 0 ? "" : ",", all->phases[i].name, all->phases[i].table,
               (end - all->phases[i].begin_ns) / 1e9);
    }
    putchar('\n');
}

static build_times build(build_request *request)
{
    static uint64_t ids[CHUNK_COUNT];
    uint64_t *fingerprints = bench_alloc(CHUNK_COUNT * request->words, sizeof *fingerprints);
    sstore_error error;
    sstore_builder *builder;
    build_times times = {0};
    request->options.on_progress = note_phase;
    request->options.progress_context = &times.phases;
    bench_dataset set;
    bool given = strcmp(request->ids, "given") == 0;
    bench_dataset_open(&set, request->data, request->words, request->seed);
    bench_must(sstore_builder_create(request->path, &request->options, &builder, &error), &error);
    for (uint64_t done = 0; done < request->record_count;) {
        uint64_t left = request->record_count - done;
        size_t count = left < CHUNK_COUNT ? (size_t)left : CHUNK_COUNT;
        bench_dataset_read(&set, fingerprints, count);
        for (size_t i = 0; i < count; i++)
            ids[i] = done + i;
        double begin = bench_now_ns();
        bench_must(sstore_builder_add(builder, fingerprints, given ? ids : NULL, count, &error), &error);
        times.add_ns += bench_now_ns() - begin;
        done += count;
    }
    bench_dataset_close(&set);
    free(fingerprints);
    double begin = bench_now_ns();
    bench_must(sstore_builder_finish(builder, NULL, &error), &error);
    times.end_ns = bench_now_ns();
    times.finish_ns = times.end_ns - begin;
    print_phases(&times);
    return times;
}

static void print_row(const build_request *request, const build_times *times)
{
    sstore_error error;
    double peak_mib = (double)bench_memory_peak() / 0x1p20; /* before the store is opened */
    double seconds = (times->add_ns + times->finish_ns) / 1e9, records = (double)request->record_count;
    sstore_statistics facts = {.struct_size = sizeof facts};
    char plan[BENCH_PLAN_BYTES];
    bench_reader reader = bench_reader_open(request->path, SSTORE_IO_PREAD);
    bench_must(sstore_stat(reader.store, &facts, &error), &error);
    bench_reader_plan(&reader, plan);
    printf("records     tables  plan                 add s    finish s  total s  us/record  peak MiB  store B/rec\n");
    printf("%-10" PRIu64 "  %6" PRIu32 "  %-19s  %7.3f  %8.3f  %7.3f  %9.4f  %8.1f  %11.2f\n", request->record_count,
           facts.table_count, plan, times->add_ns / 1e9, times->finish_ns / 1e9, seconds, seconds * 1e6 / records,
           peak_mib, (double)facts.total_bytes / records);
    bench_reader_close(&reader);
}

int main(int argc, char **argv)
{
    build_request request = {
        .data = "uniform", .ids = "assigned", .record_count = 1000000, .seed = 1, .distance = 3, .bits = 64};
    uint64_t memory_bytes = (uint64_t)1 << 30;
    const char *plan = "auto";
    const bench_parameter parameters[] = {
        {"records", BENCH_COUNT, &request.record_count, "to build from; 0: all of the file (1M)"},
        {"data", BENCH_TEXT, &request.data, "uniform, clustered, clustered:K, or a file of bench_data (uniform)"},
        {"bits", BENCH_COUNT, &request.bits, "of a fingerprint, a multiple of 64 up to 1,024 (64)"},
        {"seed", BENCH_COUNT, &request.seed, "of the data (1)"},
        {"ids", BENCH_TEXT, &request.ids,
         "assigned, given (the same ids, but passed with the records) or none (assigned)"},
        {"plan", BENCH_TEXT, &plan, "as of 'sstore build' (auto)"},
        {"distance", BENCH_COUNT, &request.distance, "to build for (3)"},
        {"memory", BENCH_SIZE, &memory_bytes, "what the build may take (1G)"},
        {"threads", BENCH_COUNT, &request.threads, "to work on; 0: all (0)"},
        {"block-size", BENCH_SIZE, &request.block_bytes, "of a block, in bytes; 0: the library's choice (0)"},
    };
    const bench_usage usage = {"STORE", "Build STORE, which must not exist; it stays.", parameters,
                               sizeof parameters / sizeof *parameters};
    request.path = argv[bench_parse(argc, argv, &usage)];
    request.words = bench_words_of(request.bits);
    if (request.record_count == 0) {
        bench_dataset set;
        bench_dataset_open(&set, request.data, request.words, request.seed);
        request.record_count = bench_dataset_count(&set);
        bench_dataset_close(&set);
    }
    request.options = (sstore_write_options)SSTORE_WRITE_OPTIONS_INIT;
    request.options.plan = plan;
    request.options.fingerprint_bits = (uint32_t)request.bits;
    request.options.distance = (uint32_t)request.distance;
    request.options.memory_bytes = memory_bytes;
    request.options.threads = (uint32_t)request.threads;
    request.options.block_bytes = (uint32_t)request.block_bytes;
    request.options.no_ids = strcmp(request.ids, "none") == 0;
    printf("# %" PRIu64 " fingerprints of %" PRIu64 " bits: %s, seed %" PRIu64
           "; ids: %s; the build may take %.0f MiB\n",
           request.record_count, request.bits, request.data, request.seed, request.ids, (double)memory_bytes / 0x1p20);
    build_times times = build(&request);
    print_row(&request, &times);
    return 0;
}
