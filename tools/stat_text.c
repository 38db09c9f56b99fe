/*
 * stat_text.c - the facts about a store for people: aligned columns.
 */
#include <inttypes.h>
#include <math.h>

#include "cmd.h"
#include "output.h"
#include "stat_report.h"

static void print_facts(const sstore_statistics *facts)
{
    output_text("records           %" PRIu64 "\n", facts->record_count);
    output_text("fingerprints      %" PRIu64 " distinct%s, of %" PRIu32 " bits\n", facts->distinct_count,
                facts->segment_count > 1 ? " in each segment, summed up" : "", facts->fingerprint_bits);
    output_text("ids               %s\n", facts->has_ids ? "yes" : "none");
    output_text("distance          %" PRIu32 "\n", facts->distance);
    output_text("plan              %s\n", facts->plan);
    output_text("recipe            %s\n", facts->recipe[0] == '\0' ? "not said" : facts->recipe);
    output_text("block             %" PRIu32 " bytes\n", facts->block_bytes);
    output_text("next ordinal      %" PRIu64 "\n", facts->next_ordinal);
    if (facts->segment_count != 1)
        output_text("segments          %" PRIu32 "\n", facts->segment_count);
    if (facts->removed_count > 0)
        output_text("removed           %" PRIu64 " records, which take room until the store is compacted\n",
                    facts->removed_count);
}

/* The segments, the oldest first; one alone is the store. */
static void print_segments(const store_report *report)
{
    if (report->facts.segment_count == 1)
        return;
    output_text("\nSegments, the oldest first\n");
    output_text("%7s  %-8s  %12s  %12s  %14s  %-20s  %s\n", "segment", "kind", "records", "distinct", "bytes", "folder",
                "plan");
    for (uint32_t i = 0; i < report->facts.segment_count; i++) {
        const sstore_segment_statistics *segment = &report->segments[i].facts;
        output_text("%7" PRIu32 "  %-8s  %12" PRIu64 "  %12" PRIu64 "  %14" PRIu64 "  %-20s  %s\n", i,
                    segment->removes ? "removed" : "records", segment->record_count, segment->distinct_count,
                    segment->total_bytes, segment->folder, segment->plan);
    }
}

/* Bits a fingerprint; a table without fingerprints has none. */
static void print_bits(double bits)
{
    if (isfinite(bits))
        output_text("  %11.2f", bits);
    else
        output_text("  %11s", "-");
}

static void print_table(uint32_t index, const sstore_table_statistics *table)
{
    output_text("%5" PRIu32 "  %016" PRIx64 "  %6" PRIu32 "  %6" PRIu32 "  %10" PRIu64 "  %14" PRIu64 "  %12" PRIu64,
                index, table->key_mask, table->prefix_bits, table->radius, table->block_count, table->file_bytes,
                table->directory_bytes);
    print_bits(table->bits);
    print_bits(table->bound_bits);
    print_bits(table->elias_fano_bits);
    print_bits(table->rice_bits);
    output_text("\n");
}

static void print_tables(const segment_report *segment)
{
    output_text("%5s  %-16s  %6s  %6s  %10s  %14s  %12s  %11s  %11s  %11s  %11s\n", "table", "key bits", "prefix",
                "radius", "blocks", "bytes", "directory", "bits", "bound", "Elias-Fano", "Rice");
    for (uint32_t i = 0; i < segment->facts.table_count; i++)
        print_table(i, &segment->tables[i]);
}

/* Those of every segment that adds; what removes has one table. */
static void print_all_tables(const store_report *report)
{
    for (uint32_t i = 0; i < report->facts.segment_count; i++) {
        const segment_report *segment = &report->segments[i];
        if (segment->facts.removes)
            continue;
        if (report->facts.segment_count == 1)
            output_text("\nTables (bits a fingerprint; bound is the entropy of the symbols + suffixes + column)\n");
        else
            output_text("\nTables of segment %" PRIu32 " (bits a fingerprint; bound is the entropy of the symbols + suffixes + column)\n", i);
        print_tables(segment);
    }
}

static void print_part(const store_report *report, const char *name, uint64_t bytes)
{
    double each = report_bytes_each(report, bytes);
    output_text("%-10s  %16" PRIu64 "  %12.3f  %12.1f %%\n", name, bytes, each, each / 8 * 100);
}

static void print_parts(const store_report *report)
{
    const sstore_statistics *facts = &report->facts;
    output_text("\nSizes (raw is 8 bytes for each distinct fingerprint)\n");
    output_text("%-10s  %16s  %12s  %14s\n", "part", "bytes", "bytes each", "of raw");
    print_part(report, "tables", facts->tables_bytes);
    print_part(report, "ids", facts->ids_bytes);
    print_part(report, "directory", facts->directory_bytes);
    print_part(report, "manifest", facts->manifest_bytes);
    print_part(report, "total", facts->total_bytes);
    print_part(report, "raw", 8 * facts->distinct_count);
}

int stat_print_text(const store_report *report)
{
    print_facts(&report->facts);
    print_segments(report);
    print_all_tables(report);
    print_parts(report);
    return EXIT_DONE;
}
