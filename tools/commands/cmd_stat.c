/*
 * cmd_stat.c - sstore stat: show the contents of a store and the sizes of its parts, as text or JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/cmd.h"
#include "output/store_report.h"

typedef struct arguments {
    bool json;
} arguments;

static const command_option options[] = {{"json", 0, NULL, "print one JSON object", OPTION_FLAG,
                                          OPTION_FIELD(arguments, json), .common = true},
                                         {0}};
static const command_syntax syntax = {
    .options = options,
    .operands = "STORE",
    .doc = "Print what STORE contains, and the sizes of its tables, ids and directory; and, for comparison, the sizes "
           "that other codings would have.",
    .examples = (const command_example[]){{"show the size of a store and its parts", "sstore stat pages.store"}, {0}},
};

/* ----- text ----- */

static bool is_wide(const store_report *report)
{
    return report->metadata.fingerprint_bits > 64;
}

static void print_metadata(const store_report *report)
{
    const sstore_statistics *metadata = &report->metadata;
    output_text("records           %" PRIu64, metadata->record_count);
    if (metadata->removed_count > 0)
        output_text(" (and %" PRIu64 " removed, whose space 'sstore compact' frees)", metadata->removed_count);
    output_text("\n");
    output_text("fingerprints      %" PRIu64 " distinct%s, of %" PRIu32 " bits\n", metadata->distinct_count,
                metadata->segment_count > 1 ? " in each segment, summed" : "", metadata->fingerprint_bits);
    output_text("ids               %s\n", metadata->has_id_index ? "yes, with an index"
                                          : metadata->has_ids    ? "yes"
                                                                 : "none");
    if (metadata->has_names)
        output_text("names             %" PRIu64 "%s\n", metadata->name_count,
                    metadata->segment_count > 1 ? ", summed over segments" : "");
    output_text("distance          %" PRIu32 "\n", metadata->distance);
    if (!is_wide(report) && metadata->segment_count > 0)
        output_text("plan              %s\n", report->segments[metadata->largest_segment].words[0].plan);
    output_text("recipe            %s\n", metadata->recipe[0] == '\0' ? "not recorded" : metadata->recipe);
    output_text("block size        %" PRIu32 " bytes\n", metadata->block_bytes);
    if (metadata->has_ids)
        output_text("next id           %" PRIu64 "\n", metadata->next_id);
    if (metadata->segment_count != 1)
        output_text("segments          %" PRIu32 "\n", metadata->segment_count);
}

/* Print the folder of a segment and its plan, or with NULL the names of these columns. Plans of several words have
 * tables of their own. */
static void print_folder(const store_report *report, const segment_report *segment)
{
    const char *folder = segment != NULL ? segment->metadata.folder : "folder";
    if (is_wide(report))
        output_text("%s\n", folder);
    else
        output_text("%-20s  %s\n", folder, segment != NULL ? segment->words[0].plan : "plan");
}

/* The segments, the oldest first, if there are several. On a terminal, folders and plans have a table of their own. */
static void print_segments(const store_report *report)
{
    const bool narrow = output_is_terminal();
    if (report->metadata.segment_count == 1)
        return;
    output_text("\nSegments, the oldest first\n");
    output_text("%7s  %-8s  %12s  %12s  %14s%s", "segment", "kind", "records", "distinct", "bytes",
                narrow ? "\n" : "  ");
    if (!narrow)
        print_folder(report, NULL);
    for (uint32_t i = 0; i < report->metadata.segment_count; i++) {
        const sstore_segment_statistics *segment = &report->segments[i].metadata;
        output_text("%7" PRIu32 "  %-8s  %12" PRIu64 "  %12" PRIu64 "  %14" PRIu64 "%s", i,
                    segment->is_removal ? "removes" : "adds", segment->record_count, segment->distinct_count,
                    segment->total_bytes, narrow ? "\n" : "  ");
        if (!narrow)
            print_folder(report, &report->segments[i]);
    }
    if (!narrow)
        return;
    output_text("\n%7s  ", "segment");
    print_folder(report, NULL);
    for (uint32_t i = 0; i < report->metadata.segment_count; i++) {
        output_text("%7" PRIu32 "  ", i);
        print_folder(report, &report->segments[i]);
    }
}

/* Radius and plan of each word of a segment. */
static void print_words(const segment_report *segment)
{
    output_text("word  radius  tables  plan\n");
    for (uint32_t i = 0; i < segment->word_count; i++) {
        const sstore_word_statistics *word = &segment->words[i];
        output_text("%4" PRIu32, i);
        if (word->radius < 0)
            output_text("  %6s", "-");
        else
            output_text("  %6" PRId32, word->radius);
        output_text("  %6" PRIu32 "  %s\n", word->table_count, word->plan);
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

/* The table's number, and `with_words` first the word of the fingerprints that it has. */
static void print_number(uint32_t index, const sstore_table_statistics *table, bool with_words)
{
    if (with_words)
        output_text("%4" PRIu32 "  ", table->word);
    output_text("%5" PRIu32, index);
}

static void print_table_bits(const sstore_table_statistics *table)
{
    print_bits(table->bits_per_fingerprint);
    print_bits(table->bound_bits_per_fingerprint);
    print_bits(table->elias_fano_bits_per_fingerprint);
    print_bits(table->rice_bits_per_fingerprint);
    output_text("\n");
}

#define BITS_NOTE "bits per fingerprint; bound is the entropy of the symbols + suffixes + column"
#define BITS_HEADER "  %11s  %11s  %11s  %11s\n", "bits", "bound", "Elias-Fano", "Rice"

/* On a terminal, the bits per fingerprint have a table of their own. */
static void print_tables(const segment_report *segment, bool with_words)
{
    const bool narrow = output_is_terminal();
    const int blocks = narrow ? 8 : 10, bytes = narrow ? 11 : 14, directory = narrow ? 9 : 12;
    const char *number = with_words ? "word  table" : "table";
    output_text("%s  %-16s  %6s  %6s  %*s  %*s  %*s", number, "key mask", "prefix", "radius", blocks, "blocks", bytes,
                "bytes", directory, "directory");
    if (narrow)
        output_text("\n");
    else
        output_text(BITS_HEADER);
    for (uint32_t i = 0; i < segment->metadata.table_count; i++) {
        const sstore_table_statistics *table = &segment->tables[i];
        print_number(i, table, with_words);
        output_text("  %016" PRIx64 "  %6" PRIu32 "  %6" PRIu32 "  %*" PRIu64 "  %*" PRIu64 "  %*" PRIu64,
                    table->key_mask, table->prefix_bits, table->radius, blocks, table->block_count, bytes,
                    table->file_bytes, directory, table->directory_bytes);
        if (narrow)
            output_text("\n");
        else
            print_table_bits(table);
    }
    if (!narrow)
        return;
    output_text("\n" BITS_NOTE "\n%s", number);
    output_text(BITS_HEADER);
    for (uint32_t i = 0; i < segment->metadata.table_count; i++) {
        print_number(i, &segment->tables[i], with_words);
        print_table_bits(&segment->tables[i]);
    }
}

static void print_title(const store_report *report, const char *title, uint32_t segment)
{
    output_text("\n%s", title);
    if (report->metadata.segment_count != 1)
        output_text(" of segment %" PRIu32, segment);
}

/* The tables of every segment with records, and of several words their plans. A segment with removed records has only
 * one table. */
static void print_all_tables(const store_report *report)
{
    for (uint32_t i = 0; i < report->metadata.segment_count; i++) {
        if (report->segments[i].metadata.is_removal)
            continue;
        if (is_wide(report)) {
            print_title(report, "Words", i);
            output_text("\n");
            print_words(&report->segments[i]);
        }
        print_title(report, "Tables", i);
        output_text(output_is_terminal() ? "\n" : " (" BITS_NOTE ")\n");
        print_tables(&report->segments[i], is_wide(report));
    }
}

/* The width of the column of names. */
static int name_width(const store_report *report)
{
    return is_wide(report) ? 12 : 10;
}

static void print_part(const store_report *report, const char *name, uint64_t bytes)
{
    const double each = store_report_each(report, bytes);
    output_text("%-*s  %16" PRIu64 "  %12.3f  %12.1f %%\n", name_width(report), name, bytes, each,
                each / store_report_raw(report) * 100);
}

static void print_parts(const store_report *report)
{
    const sstore_statistics *metadata = &report->metadata;
    output_text("\nSizes (raw is %" PRIu32 " bytes for each distinct fingerprint)\n", store_report_raw(report));
    output_text("%-*s  %16s  %12s  %14s\n", name_width(report), "part", "bytes", "bytes each", "of raw");
    print_part(report, "tables", metadata->tables_bytes);
    if (is_wide(report)) {
        print_part(report, "fingerprints", metadata->fingerprints_bytes);
        print_part(report, "ranks", metadata->ranks_bytes);
    }
    print_part(report, "ids", metadata->ids_bytes);
    if (metadata->has_id_index)
        print_part(report, "id index", metadata->id_index_bytes);
    if (metadata->has_names) {
        print_part(report, "names", metadata->names_bytes);
        print_part(report, "name index", metadata->name_index_bytes);
    }
    print_part(report, "directory", metadata->directory_bytes);
    print_part(report, "manifest", metadata->manifest_bytes);
    print_part(report, "total", metadata->total_bytes);
    print_part(report, "raw", store_report_raw(report) * metadata->distinct_count);
}

static void print_report(const store_report *report)
{
    print_metadata(report);
    print_segments(report);
    print_all_tables(report);
    print_parts(report);
}

int cmd_stat(int argc, char **argv)
{
    arguments args = {.json = false};
    store_report report = STORE_REPORT_INIT;
    sstore_error error;
    sstore *store;
    const char *path = operands_only_store(command_line_parse(&syntax, argc, argv, &args));
    int code = store_open(path, NULL, &store, &report.metadata);
    if (code == EXIT_DONE)
        code = message_status(store_report_read(store, &report, &error), &error);
    if (code == EXIT_DONE && args.json)
        code = output_json(store_report_value(&report)) ? EXIT_DONE : EXIT_FAILED;
    else if (code == EXIT_DONE)
        print_report(&report);
    store_report_free(&report);
    sstore_close(store);
    return code;
}
