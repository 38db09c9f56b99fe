/*
 * cmd_stat.c - sstore stat: show the contents of a store and the sizes of its parts, as text or JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/cmd.h"

typedef struct arguments {
    bool json;
} arguments;

static const command_option options[] = {{"json", 0, NULL, "print one JSON object", OPTION_JSON,
                                          OPTION_FIELD(arguments, json)},
                                         {0}};
static const command_syntax syntax = {
    .options = options,
    .operands = "STORE",
    .doc = "Print what STORE contains, and the sizes of its tables, ids and directory; and, for comparison, the sizes "
           "that other codings would have.",
};

typedef struct segment_report {
    sstore_segment_statistics metadata;
    sstore_table_statistics *tables; /* metadata.table_count of them */
} segment_report;

typedef struct store_report {
    sstore_statistics metadata;
    segment_report *segments; /* metadata.segment_count of them */
} store_report;

/* Bytes per distinct fingerprint; 0 in an empty store. */
static double bytes_per_fingerprint(const store_report *report, uint64_t bytes)
{
    uint64_t count = report->metadata.distinct_count;
    return count == 0 ? 0 : (double)bytes / (double)count;
}

/* ----- reading ----- */

static int read_segment(const sstore *store, uint32_t number, segment_report *segment)
{
    sstore_error error;
    segment->metadata.struct_size = sizeof segment->metadata;
    if (sstore_stat_segment(store, number, &segment->metadata, &error) != SSTORE_OK)
        return message_error(&error);
    segment->tables = allocate_or_exit(segment->metadata.table_count, sizeof *segment->tables);
    for (uint32_t i = 0; i < segment->metadata.table_count; i++) {
        segment->tables[i].struct_size = sizeof *segment->tables;
        if (sstore_stat_table(store, number, i, &segment->tables[i], &error) != SSTORE_OK)
            return message_error(&error);
    }
    return EXIT_DONE;
}

static int read_segments(const sstore *store, store_report *report)
{
    int code = EXIT_DONE;
    report->segments = allocate_or_exit(report->metadata.segment_count, sizeof *report->segments);
    for (uint32_t i = 0; i < report->metadata.segment_count && code == EXIT_DONE; i++)
        code = read_segment(store, i, &report->segments[i]);
    return code;
}

static void free_segments(store_report *report)
{
    for (uint32_t i = 0; report->segments != NULL && i < report->metadata.segment_count; i++)
        free(report->segments[i].tables);
    free(report->segments);
}

/* ----- text ----- */

static void print_metadata(const sstore_statistics *metadata)
{
    output_text("records           %" PRIu64, metadata->record_count);
    if (metadata->removed_count > 0)
        output_text(" (and %" PRIu64 " removed, whose space 'sstore compact' frees)", metadata->removed_count);
    output_text("\n");
    output_text("fingerprints      %" PRIu64 " distinct%s, of %" PRIu32 " bits\n", metadata->distinct_count,
                metadata->segment_count > 1 ? " in each segment, summed" : "", metadata->fingerprint_bits);
    output_text("ids               %s\n", metadata->has_ids ? "yes" : "none");
    output_text("distance          %" PRIu32 "\n", metadata->distance);
    output_text("plan              %s\n", metadata->plan);
    output_text("recipe            %s\n", metadata->recipe[0] == '\0' ? "not recorded" : metadata->recipe);
    output_text("block size        %" PRIu32 " bytes\n", metadata->block_bytes);
    if (metadata->has_ids)
        output_text("next id           %" PRIu64 "\n", metadata->next_id);
    if (metadata->segment_count != 1)
        output_text("segments          %" PRIu32 "\n", metadata->segment_count);
}

/* The segments, the oldest first, if there are several. */
static void print_segments(const store_report *report)
{
    if (report->metadata.segment_count == 1)
        return;
    output_text("\nSegments, the oldest first\n");
    output_text("%7s  %-8s  %12s  %12s  %14s  %-20s  %s\n", "segment", "kind", "records", "distinct", "bytes", "folder",
                "plan");
    for (uint32_t i = 0; i < report->metadata.segment_count; i++) {
        const sstore_segment_statistics *segment = &report->segments[i].metadata;
        output_text("%7" PRIu32 "  %-8s  %12" PRIu64 "  %12" PRIu64 "  %14" PRIu64 "  %-20s  %s\n", i,
                    segment->is_removal ? "removes" : "adds", segment->record_count, segment->distinct_count,
                    segment->total_bytes, segment->folder, segment->plan);
    }
}

/* Bits per fingerprint; a table without fingerprints has none. */
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
    print_bits(table->bits_per_fingerprint);
    print_bits(table->bound_bits_per_fingerprint);
    print_bits(table->elias_fano_bits_per_fingerprint);
    print_bits(table->rice_bits_per_fingerprint);
    output_text("\n");
}

static void print_tables(const segment_report *segment)
{
    output_text("%5s  %-16s  %6s  %6s  %10s  %14s  %12s  %11s  %11s  %11s  %11s\n", "table", "key mask", "prefix",
                "radius", "blocks", "bytes", "directory", "bits", "bound", "Elias-Fano", "Rice");
    for (uint32_t i = 0; i < segment->metadata.table_count; i++)
        print_table(i, &segment->tables[i]);
}

/* The tables of every segment with records. A segment with removed records has only one. */
static void print_all_tables(const store_report *report)
{
    for (uint32_t i = 0; i < report->metadata.segment_count; i++) {
        if (report->segments[i].metadata.is_removal)
            continue;
        output_text("\nTables");
        if (report->metadata.segment_count != 1)
            output_text(" of segment %" PRIu32, i);
        output_text(" (bits per fingerprint; bound is the entropy of the symbols + suffixes + column)\n");
        print_tables(&report->segments[i]);
    }
}

static void print_parts(const store_report *report)
{
    const sstore_statistics *metadata = &report->metadata;
    const struct {
        const char *name;
        uint64_t bytes;
    } parts[] = {{"tables", metadata->tables_bytes},       {"ids", metadata->ids_bytes},
                 {"directory", metadata->directory_bytes}, {"manifest", metadata->manifest_bytes},
                 {"total", metadata->total_bytes},         {"raw", 8 * metadata->distinct_count}};
    output_text("\nSizes (raw is 8 bytes for each distinct fingerprint)\n");
    output_text("%-10s  %16s  %12s  %14s\n", "part", "bytes", "bytes each", "of raw");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double each = bytes_per_fingerprint(report, parts[i].bytes);
        output_text("%-10s  %16" PRIu64 "  %12.3f  %12.1f %%\n", parts[i].name, parts[i].bytes, each, each / 8 * 100);
    }
}

/* ----- JSON ----- */

/* null for a table without fingerprints. */
static json_value *bits_value(double bits)
{
    return isfinite(bits) ? json_value_make("f", bits) : json_value_make("n");
}

static json_value *table_value(const sstore_table_statistics *table)
{
    char mask[17];
    return json_value_make("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "key_mask",
                           output_hex_string(mask, table->key_mask), "prefix_bits", (long long)table->prefix_bits,
                           "radius", (long long)table->radius, "blocks", (long long)table->block_count, "bytes",
                           (long long)table->file_bytes, "directory_bytes", (long long)table->directory_bytes,
                           "bits_per_fingerprint", bits_value(table->bits_per_fingerprint),
                           "bound_bits_per_fingerprint", bits_value(table->bound_bits_per_fingerprint),
                           "elias_fano_bits_per_fingerprint", bits_value(table->elias_fano_bits_per_fingerprint),
                           "rice_bits_per_fingerprint", bits_value(table->rice_bits_per_fingerprint));
}

static json_value *tables_value(const segment_report *segment)
{
    json_value *tables = json_value_make("[]");
    for (uint32_t i = 0; i < segment->metadata.table_count; i++)
        json_value_append(&tables, table_value(&segment->tables[i]));
    return tables;
}

static json_value *segment_value(const segment_report *segment)
{
    const sstore_segment_statistics *metadata = &segment->metadata;
    return json_value_make("{s:s, s:s, s:s, s:I, s:I, s:s, s:i, s:I, s:o}", "folder", metadata->folder, "writer",
                           metadata->writer, "kind", metadata->is_removal ? "removes" : "adds", "records",
                           (long long)metadata->record_count, "distinct", (long long)metadata->distinct_count, "plan",
                           metadata->plan, "block_bytes", (int)metadata->block_bytes, "bytes",
                           (long long)metadata->total_bytes, "tables", tables_value(segment));
}

/* The oldest first. */
static json_value *segments_value(const store_report *report)
{
    json_value *segments = json_value_make("[]");
    for (uint32_t i = 0; i < report->metadata.segment_count; i++)
        json_value_append(&segments, segment_value(&report->segments[i]));
    return segments;
}

/* The size of a part, also per fingerprint and compared with raw fingerprints of 8 bytes. */
static json_value *part_value(const store_report *report, uint64_t bytes)
{
    double each = bytes_per_fingerprint(report, bytes);
    return json_value_make("{s:I, s:f, s:f}", "bytes", (long long)bytes, "bytes_per_fingerprint", each, "of_raw",
                           each / 8);
}

static json_value *sizes_value(const store_report *report)
{
    const sstore_statistics *metadata = &report->metadata;
    return json_value_make("{s:o, s:o, s:o, s:o, s:o, s:I}", "tables", part_value(report, metadata->tables_bytes),
                           "ids", part_value(report, metadata->ids_bytes), "directory",
                           part_value(report, metadata->directory_bytes), "manifest",
                           part_value(report, metadata->manifest_bytes), "total",
                           part_value(report, metadata->total_bytes), "raw_bytes",
                           8 * (long long)metadata->distinct_count);
}

static json_value *report_value(const store_report *report)
{
    const sstore_statistics *metadata = &report->metadata;
    char next_id[32]; /* in a string, as every id, since JSON's numbers are not exact above 2^53 */
    snprintf(next_id, sizeof next_id, "%" PRIu64, metadata->next_id);
    return json_value_make("{s:I, s:I, s:I, s:i, s:b, s:i, s:s, s:o, s:i, s:o, s:o, s:o}", "records",
                           (long long)metadata->record_count, "distinct", (long long)metadata->distinct_count,
                           "removed", (long long)metadata->removed_count, "fingerprint_bits",
                           (int)metadata->fingerprint_bits, "has_ids", (int)metadata->has_ids, "distance",
                           (int)metadata->distance, "plan", metadata->plan, "recipe",
                           metadata->recipe[0] == '\0' ? json_value_make("n") : json_value_make("s", metadata->recipe),
                           "block_bytes", (int)metadata->block_bytes, "next_id",
                           metadata->has_ids ? json_value_make("s", next_id) : json_value_make("n"), "segments",
                           segments_value(report), "sizes", sizes_value(report));
}

int cmd_stat(int argc, char **argv)
{
    arguments all = {.json = false};
    store_report report = {.segments = NULL};
    sstore *store;
    const char *path = operands_only_store(command_line_parse(&syntax, argc, argv, &all));
    int code = store_open(path, NULL, &store, &report.metadata);
    if (code == EXIT_DONE)
        code = read_segments(store, &report);
    if (code == EXIT_DONE && all.json) {
        code = output_json(report_value(&report)) ? EXIT_DONE : EXIT_FAILED;
    } else if (code == EXIT_DONE) {
        print_metadata(&report.metadata);
        print_segments(&report);
        print_all_tables(&report);
        print_parts(&report);
    }
    free_segments(&report);
    sstore_close(store);
    return code;
}
