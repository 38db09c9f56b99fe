/*
 * bench_size.c - how small is a store? Bits of a fingerprint in each table, with its part of the directory and the
 * checksums, beside those of an ideal code for the same model, and of Elias-Fano and Rice coding.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sstore_statistics.h"
#include "support/must.h"
#include "support/parameters.h"
#include "support/reader.h"

static double percent_over(double value, double base)
{
    return base > 0 ? 100 * (value / base - 1) : 0;
}

static void print_table(const sstore *store, uint32_t number)
{
    sstore_error error;
    sstore_table_statistics table = {.struct_size = sizeof table};
    bench_must(sstore_stat_table(store, 0, number, &table, &error), &error);
    printf("%5" PRIu32 "  %6" PRIu32 "  %6" PRIu32 "  %7.3f  %10.3f  %10.2f  %10.3f  %6.2f  %13.2f  %15.4f\n", number,
           table.prefix_bits, table.radius, table.bits_per_fingerprint, table.bound_bits_per_fingerprint,
           percent_over(table.bits_per_fingerprint, table.bound_bits_per_fingerprint),
           table.elias_fano_bits_per_fingerprint, table.rice_bits_per_fingerprint,
           percent_over(table.bits_per_fingerprint, table.elias_fano_bits_per_fingerprint),
           8 * (double)table.directory_bytes / ((double)(table.file_bytes + table.directory_bytes) * 8) *
               table.bits_per_fingerprint);
}

static void print_store(const char *path)
{
    sstore_error error;
    bench_reader reader = bench_reader_open(path, SSTORE_IO_PREAD);
    sstore_statistics facts = {.struct_size = sizeof facts};
    char plan[BENCH_PLAN_BYTES];
    bench_must(sstore_stat(reader.store, &facts, &error), &error);
    bench_reader_plan(&reader, plan);
    double records = facts.record_count > 0 ? (double)facts.record_count : 1;
    printf("# %s: %" PRIu64 " records, %" PRIu64 " distinct, plan %s, blocks of %" PRIu32
           " bytes, %.3f bytes a record, %.3f of them ids\n",
           path, facts.record_count, facts.distinct_count, plan, facts.block_bytes, (double)facts.total_bytes / records,
           (double)facts.ids_bytes / records);
    for (uint32_t i = 0; i < facts.table_count; i++)
        print_table(reader.store, i);
    bench_reader_close(&reader);
}

int main(int argc, char **argv)
{
    const bench_usage usage = {"STORE...", "Print what each table of the stores takes.", NULL, 0};
    int first = bench_parse(argc, argv, &usage);
    printf("# bits a fingerprint; bound: entropy of the symbols + suffixes + column; the directory's share is within "
           "bits\n");
    printf(
        "table  prefix  radius  bits     bound bits  over bound %%  Elias-Fano  Rice    over E-F %%  directory bits\n");
    for (int i = first; i < argc; i++)
        print_store(argv[i]);
    return 0;
}
