/*
 * stat_json.c - the facts about a store as one JSON object.
 */
#include "cmd.h"
#include "output.h"
#include "stat_report.h"

#ifdef SSTORE_HAVE_JANSSON

#include <math.h>

#include "print_json.h"

/* Bits a fingerprint; a table without fingerprints has none. */
static json_t *bits_value(double bits)
{
    return isfinite(bits) ? json_real(bits) : json_null();
}

static json_t *table_value(const sstore_table_statistics *table)
{
    char mask[17];
    *output_hex(mask, table->key_mask) = '\0';
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "key_bits", mask, "prefix_bits",
                     (json_int_t)table->prefix_bits, "radius", (json_int_t)table->radius, "blocks",
                     (json_int_t)table->block_count, "bytes", (json_int_t)table->file_bytes, "directory_bytes",
                     (json_int_t)table->directory_bytes, "bits_per_fingerprint", bits_value(table->bits), "bound_bits",
                     bits_value(table->bound_bits), "elias_fano_bits", bits_value(table->elias_fano_bits), "rice_bits",
                     bits_value(table->rice_bits));
}

static json_t *tables_value(const segment_report *segment)
{
    json_t *tables = json_array();
    for (uint32_t i = 0; i < segment->facts.table_count; i++) {
        if (json_array_append_new(tables, table_value(&segment->tables[i])) != 0) {
            json_decref(tables);
            return NULL;
        }
    }
    return tables;
}

static json_t *segment_value(const segment_report *segment)
{
    const sstore_segment_statistics *facts = &segment->facts;
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:i, s:I, s:o}", "folder", facts->folder, "writer", facts->writer, "kind",
                     facts->removes ? "removed" : "records", "records", (json_int_t)facts->record_count, "distinct",
                     (json_int_t)facts->distinct_count, "plan", facts->plan, "block_bytes", (int)facts->block_bytes,
                     "bytes", (json_int_t)facts->total_bytes, "tables",
                     tables_value(segment));
}

/* The oldest first. */
static json_t *segments_value(const store_report *report)
{
    json_t *segments = json_array();
    for (uint32_t i = 0; i < report->facts.segment_count; i++) {
        if (json_array_append_new(segments, segment_value(&report->segments[i])) != 0) {
            json_decref(segments);
            return NULL;
        }
    }
    return segments;
}

/* A part of the store and its share: raw is 8 bytes for each distinct fingerprint. */
static json_t *part_value(const store_report *report, uint64_t bytes)
{
    double each = report_bytes_each(report, bytes);
    return json_pack("{s:I, s:f, s:f}", "bytes", (json_int_t)bytes, "bytes_per_fingerprint", each, "of_raw", each / 8);
}

static json_t *sizes_value(const store_report *report)
{
    const sstore_statistics *facts = &report->facts;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "tables", part_value(report, facts->tables_bytes), "ids",
                     part_value(report, facts->ids_bytes), "directory", part_value(report, facts->directory_bytes),
                     "manifest", part_value(report, facts->manifest_bytes), "total",
                     part_value(report, facts->total_bytes), "raw_bytes", 8 * (json_int_t)facts->distinct_count);
}

static json_t *report_value(const store_report *report)
{
    const sstore_statistics *facts = &report->facts;
    return json_pack("{s:I, s:I, s:I, s:i, s:b, s:i, s:s, s:o, s:i, s:I, s:o, s:o}", "records",
                     (json_int_t)facts->record_count, "distinct", (json_int_t)facts->distinct_count,
                     "removed", (json_int_t)facts->removed_count, "fingerprint_bits", (int)facts->fingerprint_bits, "has_ids", (int)facts->has_ids, "distance",
                     (int)facts->distance, "plan", facts->plan, "recipe",
                     facts->recipe[0] == '\0' ? json_null() : json_string(facts->recipe), "block_bytes",
                     (int)facts->block_bytes, "next_ordinal",
                     (json_int_t)facts->next_ordinal, "segments", segments_value(report), "sizes", sizes_value(report));
}

int stat_print_json(const store_report *report)
{
    return print_json(report_value(report));
}

#else

int stat_print_json(const store_report *report)
{
    (void)report;
    return EXIT_FAILED;
}

#endif
