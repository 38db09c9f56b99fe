/*
 * store_report.c - reads the statistics of a store, and writes them as JSON.
 */
#include "output/store_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/messages.h"
#include "output/output.h"

/* gcc's analyser loses what an element of an array points to. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif
static sstore_status read_words(const sstore *store, uint32_t number, segment_report *segment, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    segment->word_count = sstore_fingerprint_bits(store) / 64;
    segment->words = calloc(segment->word_count, sizeof *segment->words);
    if (segment->words == NULL)
        return error_no_memory(error);
    for (uint32_t i = 0; i < segment->word_count && status == SSTORE_OK; i++) {
        segment->words[i].struct_size = sizeof *segment->words;
        status = sstore_stat_word(store, number, i, &segment->words[i], error);
    }
    return status;
}

static sstore_status read_tables(const sstore *store, uint32_t number, segment_report *segment, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    segment->tables = calloc(segment->metadata.table_count, sizeof *segment->tables);
    if (segment->tables == NULL)
        return error_no_memory(error);
    for (uint32_t i = 0; i < segment->metadata.table_count && status == SSTORE_OK; i++) {
        segment->tables[i].struct_size = sizeof *segment->tables;
        status = sstore_stat_table(store, number, i, &segment->tables[i], error);
    }
    return status;
}

static sstore_status read_segment(const sstore *store, uint32_t number, segment_report *segment, sstore_error *error)
{
    segment->metadata.struct_size = sizeof segment->metadata;
    sstore_status status = sstore_stat_segment(store, number, &segment->metadata, error);
    if (status != SSTORE_OK || segment->metadata.table_count == 0) /* removals have no tables */
        return status;
    status = read_words(store, number, segment, error);
    return status == SSTORE_OK ? read_tables(store, number, segment, error) : status;
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic pop
#endif

sstore_status store_report_read(const sstore *store, store_report *report, sstore_error *error)
{
    sstore_status status = sstore_stat(store, &report->metadata, error);
    if (status != SSTORE_OK || report->metadata.segment_count == 0)
        return status;
    report->segments = calloc(report->metadata.segment_count, sizeof *report->segments);
    if (report->segments == NULL)
        return error_no_memory(error);
    for (uint32_t i = 0; i < report->metadata.segment_count && status == SSTORE_OK; i++)
        status = read_segment(store, i, &report->segments[i], error);
    return status;
}

void store_report_free(store_report *report)
{
    for (uint32_t i = 0; report->segments != NULL && i < report->metadata.segment_count; i++) {
        free(report->segments[i].words);
        free(report->segments[i].tables);
    }
    free(report->segments);
    report->segments = NULL;
}

const char *store_name(const char *path, size_t *length_out)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    *length_out = end - begin;
    return path + begin;
}

double store_report_each(const store_report *report, uint64_t bytes)
{
    const uint64_t count = report->metadata.distinct_count;
    return count == 0 ? 0 : (double)bytes / (double)count;
}

uint32_t store_report_raw(const store_report *report)
{
    return report->metadata.fingerprint_bits / 8;
}

/* ----- JSON ----- */

/* How each word of a segment is searched. */
static json_value *words_value(const segment_report *segment)
{
    json_value *words = json_value_make("[]");
    for (uint32_t i = 0; i < segment->word_count; i++)
        json_value_append(&words,
                          json_value_make("{s:i, s:I, s:s}", "radius", (int)segment->words[i].radius, "table_count",
                                          (long long)segment->words[i].table_count, "plan", segment->words[i].plan));
    return words;
}

static json_value *table_value(const sstore_table_statistics *table)
{
    char mask[17];
    return json_value_make("{s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f}", "word", (long long)table->word,
                           "key_mask", output_hex_string(mask, table->key_mask), "prefix_bits",
                           (long long)table->prefix_bits, "radius", (long long)table->radius, "block_count",
                           (long long)table->block_count, "file_bytes", (long long)table->file_bytes, "directory_bytes",
                           (long long)table->directory_bytes, "bits_per_fingerprint", table->bits_per_fingerprint,
                           "bound_bits_per_fingerprint", table->bound_bits_per_fingerprint,
                           "elias_fano_bits_per_fingerprint", table->elias_fano_bits_per_fingerprint,
                           "rice_bits_per_fingerprint", table->rice_bits_per_fingerprint);
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
    return json_value_make("{s:s, s:s, s:b, s:I, s:I, s:i, s:I, s:o, s:o}", "folder", metadata->folder, "writer",
                           metadata->writer, "is_removal", (int)metadata->is_removal, "record_count",
                           (long long)metadata->record_count, "distinct_count", (long long)metadata->distinct_count,
                           "block_bytes", (int)metadata->block_bytes, "total_bytes", (long long)metadata->total_bytes,
                           "words", words_value(segment), "tables", tables_value(segment));
}

/* The oldest first. */
static json_value *segments_value(const store_report *report)
{
    json_value *segments = json_value_make("[]");
    for (uint32_t i = 0; i < report->metadata.segment_count; i++)
        json_value_append(&segments, segment_value(&report->segments[i]));
    return segments;
}

/* The size of a part, also per fingerprint and compared with raw fingerprints. */
static json_value *part_value(const store_report *report, uint64_t bytes)
{
    double each = store_report_each(report, bytes);
    return json_value_make("{s:I, s:f, s:f}", "bytes", (long long)bytes, "bytes_per_fingerprint", each, "of_raw",
                           each / store_report_raw(report));
}

static json_value *sizes_value(const store_report *report)
{
    const sstore_statistics *metadata = &report->metadata;
    const uint64_t raw_bytes = store_report_raw(report) * metadata->distinct_count;
    return json_value_make("{s:o, s:o, s:o, s:o, s:o, s:o*, s:o*, s:o, s:o, s:o, s:I}", "tables",
                           part_value(report, metadata->tables_bytes), "fingerprints",
                           part_value(report, metadata->fingerprints_bytes), "ranks",
                           part_value(report, metadata->ranks_bytes), "ids", part_value(report, metadata->ids_bytes),
                           "id_index", part_value(report, metadata->id_index_bytes), "names",
                           metadata->has_names ? part_value(report, metadata->names_bytes) : NULL, "name_index",
                           metadata->has_names ? part_value(report, metadata->name_index_bytes) : NULL, "directory",
                           part_value(report, metadata->directory_bytes), "manifest",
                           part_value(report, metadata->manifest_bytes), "total",
                           part_value(report, metadata->total_bytes), "raw_bytes", (long long)raw_bytes);
}

json_value *store_report_value(const store_report *report)
{
    static const segment_report none;
    const sstore_statistics *metadata = &report->metadata;
    const segment_report *largest = metadata->segment_count > 0 ? &report->segments[metadata->largest_segment] : &none;
    char next_id[32]; /* in a string, as every id, since JSON's numbers are not exact above 2^53 */
    snprintf(next_id, sizeof next_id, "%" PRIu64, metadata->next_id);
    return json_value_make("{s:I, s:I, s:I, s:i, s:b, s:b, s:I, s:i, s:o, s:o, s:i, s:o, s:o, s:o}", "record_count",
                           (long long)metadata->record_count, "distinct_count", (long long)metadata->distinct_count,
                           "removed_count", (long long)metadata->removed_count, "fingerprint_bits",
                           (int)metadata->fingerprint_bits, "has_ids", (int)metadata->has_ids, "has_names",
                           (int)metadata->has_names, "name_count", (long long)metadata->name_count, "distance",
                           (int)metadata->distance, "words", words_value(largest), "recipe",
                           metadata->recipe[0] == '\0' ? json_value_make("n") : json_value_make("s", metadata->recipe),
                           "block_bytes", (int)metadata->block_bytes, "next_id",
                           metadata->has_ids ? json_value_make("s", next_id) : json_value_make("n"), "segments",
                           segments_value(report), "sizes", sizes_value(report));
}
