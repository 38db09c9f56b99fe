/* section_size.c - where the bytes of a store go, compared with raw records and with the information limit; and the
 * bits of a fingerprint in each table. */
#include <math.h>
#include <stdlib.h>

#include "output/messages.h"
#include "report/chart.h"
#include "report/page.h"
#include "report/sections.h"

double raw_bytes(const sstore_statistics *store)
{
    return store->has_ids ? 16 * (double)store->record_count : 8 * (double)store->distinct_count;
}

/* log2 of the number of sets, which is nearly (2^64)^count / count!. */
double set_bound_bits(double count)
{
    return count > 0 ? 64 - lgamma(count + 1) / log(2) / count : 0;
}

/* ----- the bytes of the store ----- */

/* The parts of a store, in bytes. */
typedef struct size_parts {
    chart_part *items;
    size_t count;
} size_parts;

static void add_part(size_parts *parts, const char *name, const char *class, double bytes)
{
    if (bytes > 0)
        parts->items[parts->count++] = (chart_part){.name = name, .class = class, .value = bytes};
}

/* Of a store of one segment each table is a part; otherwise the tables of all segments are one. */
static size_parts make_parts(const store_view *view)
{
    const sstore_statistics *store = &view->stat.metadata;
    size_parts parts = {.items = allocate_or_exit(view->table_count + 4, sizeof *parts.items)};
    if (store->segment_count == 1) {
        for (uint32_t i = 0; i < view->table_count; i++)
            add_part(&parts, "table", i % 2 == 0 ? "s0" : "s1", (double)view->tables[i].statistics.file_bytes);
    } else {
        add_part(&parts, "tables", "s0", (double)store->tables_bytes);
    }
    add_part(&parts, "ids", "s2", (double)store->ids_bytes);
    add_part(&parts, "directory", "s3", (double)store->directory_bytes);
    add_part(&parts, "manifest", "s4", (double)store->manifest_bytes);
    return parts;
}

static void draw_sizes(html *page, const store_view *view, double bound)
{
    const sstore_statistics *store = &view->stat.metadata;
    const double records = (double)store->record_count, total = (double)store->total_bytes / records;
    const double raw = raw_bytes(store) / records;
    size_parts parts = make_parts(view);
    const chart_part raw_parts[] = {{"fingerprints", "s0", raw - (store->has_ids ? 8 : 0)}, {"ids", "s2", 8}};
    const number_text totals[] = {html_fixed(total, 1), html_fixed(raw, 1)};
    for (size_t i = 0; i < parts.count; i++)
        parts.items[i].value /= records;
    const chart_row rows[] = {{"This store", totals[0].text, parts.items, parts.count},
                              {"Raw records", totals[1].text, raw_parts, store->has_ids ? 2 : 1}};
    const chart_axis axis = chart_linear(fmax(total, raw), html_tick);
    chart_bars(page,
               &(chart_words){"size-chart", "Bytes of a record", "The table below has the same numbers.",
                              "bytes per record"},
               rows, 2, &axis, bound);
    free(parts.items);
}

static void part_row(html *page, const store_view *view, const char *name, double bytes)
{
    const sstore_statistics *store = &view->stat.metadata;
    const double records = (double)store->record_count;
    page_row(page,
             (const char *const[]){name, html_count((uint64_t)bytes).text, html_fixed(bytes / records, 2).text,
                                   html_percent(bytes / (double)store->total_bytes).text},
             4);
}

static void table_row(html *page, const store_view *view, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "table %u", (unsigned)number);
    part_row(page, view, name, (double)view->tables[number].statistics.file_bytes);
}

static void write_parts(html *page, const store_view *view, double bound)
{
    const sstore_statistics *store = &view->stat.metadata;
    static const char *const columns[] = {"part", "bytes", "bytes per record", "of the store"};
    page_table_begin(page, "Sizes of the parts", columns, 4);
    for (uint32_t i = 0; store->segment_count == 1 && i < view->table_count; i++)
        table_row(page, view, i);
    if (store->segment_count != 1 || view->table_count != 1)
        part_row(page, view, "all tables", (double)store->tables_bytes);
    if (store->has_ids)
        part_row(page, view, "ids", (double)store->ids_bytes);
    part_row(page, view, "directory", (double)store->directory_bytes);
    part_row(page, view, "manifest", (double)store->manifest_bytes);
    part_row(page, view, "total", (double)store->total_bytes);
    part_row(page, view, store->has_ids ? "raw: 16 bytes a record" : "raw: 8 bytes a fingerprint", raw_bytes(store));
    part_row(page, view, "least for uniform fingerprints", bound * (double)store->record_count);
    page_table_end(page);
}

void section_size(html *page, const store_view *view)
{
    const bool is_shaded = view->stat.metadata.segment_count == 1 && view->table_count > 1;
    const page_key keys[] = {{"s0", is_shaded ? "tables, in two shades" : "tables"},
                             {"s2", "ids"},
                             {"s3", "directory"},
                             {"s4", "manifest"},
                             {"mark", "least for a set of uniform fingerprints"}};
    const sstore_statistics *store = &view->stat.metadata;
    const double count = (double)store->distinct_count;
    const double bound = set_bound_bits(count) / 8 * count / (double)store->record_count;
    page_section(page, "size", "Where the bytes go");
    if (store->record_count == 0) {
        html_markup(page, "<p>The store has no records. Its files take %s.</p>\n",
                    html_bytes((double)store->total_bytes).text);
        return;
    }
    html_markup(page,
                "<p>Each table holds all fingerprints, in an order of its own. The %s take %s of the store. "
                "Raw records take %s bytes each%s. A set of so many uniform fingerprints cannot be stored in "
                "less than %s bytes for each, and then only in one order; near-duplicates save some.</p>\n",
                view->table_count == 1 ? "table and its header" : "tables",
                html_percent((double)store->tables_bytes / (double)store->total_bytes).text,
                html_fixed(raw_bytes(store) / (double)store->record_count, 1).text,
                store->has_ids ? ", 8 for the fingerprint and 8 for the id" : "",
                html_fixed(set_bound_bits(count) / 8, 2).text);
    page_legend(page, keys, sizeof keys / sizeof *keys);
    draw_sizes(page, view, bound);
    write_parts(page, view, bound);
}

/* ----- the bits of a fingerprint ----- */

/* In a table. The last one is what no other part explains: bounds of groups, ends of blocks, the directory. */
typedef struct bit_parts {
    double column, suffixes, codes, frame;
} bit_parts;

static bit_parts count_bits(const table_view *table, double fingerprints)
{
    double suffixes = 0, codes = 0;
    for (uint32_t i = 0; i < 64; i++) {
        const double count = (double)table->symbols.difference_counts[i];
        suffixes += i < 31 ? count * (31 - i) : 0;
        codes += count * table->symbols.code_lengths[i < 32 ? i : 32];
    }
    bit_parts parts = {.column = 32, .suffixes = suffixes / fingerprints, .codes = codes / fingerprints};
    const double rest = table->statistics.bits_per_fingerprint - parts.column - parts.suffixes - parts.codes;
    parts.frame = fmax(rest, 0);
    return parts;
}

static void draw_bits(html *page, const store_view *view, double fingerprints)
{
    chart_row *rows = allocate_or_exit(view->table_count, sizeof *rows);
    chart_part *parts = allocate_or_exit(view->table_count * 4, sizeof *parts);
    char(*names)[48] = allocate_or_exit(view->table_count, sizeof *names);
    number_text *totals = allocate_or_exit(view->table_count, sizeof *totals);
    double most = 64;
    for (uint32_t i = 0; i < view->table_count; i++) {
        const sstore_table_statistics *statistics = &view->tables[i].statistics;
        const bit_parts bits = count_bits(&view->tables[i], fingerprints);
        const chart_part of[] = {{"lower half", "s0", bits.column},
                                 {"suffix", "s1", bits.suffixes},
                                 {"code", "s2", bits.codes},
                                 {"rest", "s3", bits.frame}};
        for (size_t j = 0; j < 4; j++)
            parts[i * 4 + j] = of[j];
        snprintf(names[i], sizeof names[i], "Table %u", (unsigned)i);
        totals[i] = html_fixed(statistics->bits_per_fingerprint, 1);
        rows[i] = (chart_row){names[i], totals[i].text, &parts[i * 4], 4};
        most = fmax(most, statistics->bits_per_fingerprint);
    }
    const chart_axis axis = chart_linear(most, html_tick);
    chart_bars(page,
               &(chart_words){"bits-chart", "Bits of a fingerprint in each table",
                              "The table below has the same numbers.", "bits per fingerprint"},
               rows, view->table_count, &axis, set_bound_bits(fingerprints));
    free(rows);
    free(parts);
    free(names);
    free(totals);
}

static void write_tables(html *page, const store_view *view)
{
    static const char *const columns[] = {"table", "key bits",   "flips",      "blocks",
                                          "bits",  "ideal code", "Elias-Fano", "Rice"};
    page_table_begin(page, "Tables, in bits per fingerprint", columns, 8);
    for (uint32_t i = 0; i < view->table_count; i++) {
        const sstore_table_statistics *table = &view->tables[i].statistics;
        page_row(page,
                 (const char *const[]){html_count(i).text, html_count(table->prefix_bits).text,
                                       html_count(table->radius).text, html_count(table->block_count).text,
                                       html_fixed(table->bits_per_fingerprint, 2).text,
                                       html_fixed(table->bound_bits_per_fingerprint, 2).text,
                                       html_fixed(table->elias_fano_bits_per_fingerprint, 2).text,
                                       html_fixed(table->rice_bits_per_fingerprint, 2).text},
                 8);
    }
    page_table_end(page);
}

void section_tables(html *page, const store_view *view)
{
    static const page_key keys[] = {{"s0", "lower half, as it is"},
                                    {"s1", "suffix"},
                                    {"s2", "code"},
                                    {"s3", "group keys, ends of blocks, directory"},
                                    {"mark", "least for a set of uniform fingerprints"}};
    if (view->stat.metadata.record_count == 0)
        return;
    const double fingerprints = (double)view->stat.segments[view->main_segment].metadata.distinct_count;
    page_section(page, "tables", "Bits of a fingerprint in each table");
    html_markup(page,
                "<p>The lower half of a fingerprint stays as it is, so that a query can test it without decoding. The "
                "upper half is a code for the first bit in which it differs from the fingerprint before, and the bits "
                "behind that bit. More fingerprints have more equal leading bits, and take fewer bits each%s.</p>\n",
                view->stat.metadata.segment_count > 1 ? ". These are the tables of the largest segment" : "");
    page_legend(page, keys, sizeof keys / sizeof *keys);
    draw_bits(page, view, fingerprints);
    write_tables(page, view);
}
