/* section_size.c - where the bytes of a store go, compared with raw records and with the information limit; and the
 * bits of a fingerprint in each table, or in the tables of each word. */
#include <math.h>
#include <stdlib.h>

#include "output/messages.h"
#include "report/chart.h"
#include "report/page.h"
#include "report/sections.h"

double raw_bytes(const sstore_statistics *store)
{
    const uint32_t bytes = store->fingerprint_bits / 8;
    return store->has_ids ? (bytes + 8) * (double)store->record_count : bytes * (double)store->distinct_count;
}

number_text raw_text(const sstore_statistics *store)
{
    const unsigned bytes = store->fingerprint_bits / 8;
    number_text text;
    snprintf(text.text, sizeof text.text, store->has_ids ? "raw: %u bytes a record" : "raw: %u bytes a fingerprint",
             store->has_ids ? bytes + 8 : bytes);
    return text;
}

/* log2 of the number of sets, which is nearly (2^bits)^count / count!. */
double set_bound_bits(uint32_t bits, double count)
{
    return count > 0 ? bits - lgamma(count + 1) / log(2) / count : 0;
}

const char *item_name(const store_view *view)
{
    return view->words > 1 ? "word" : "fingerprint";
}

#define MAX_OPEN_TABLES 20u

void long_part_begin(html *page, const store_view *view, const char *summary)
{
    if (view->table_count > MAX_OPEN_TABLES)
        page_details_begin(page, summary);
}

void long_part_end(html *page, const store_view *view)
{
    if (view->table_count > MAX_OPEN_TABLES)
        page_details_end(page);
}

number_text table_name(const store_view *view, uint32_t number)
{
    number_text text = html_count(number);
    if (view->words > 1)
        snprintf(text.text, sizeof text.text, "%u, word\xc2\xa0%u", (unsigned)number,
                 (unsigned)view->tables[number].statistics.word);
    return text;
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

/* Several words have more kinds of parts, so all tables are one, and the small manifest belongs to the directory. */
static size_parts make_wide_parts(const sstore_statistics *store)
{
    size_parts parts = {.items = allocate_or_exit(5, sizeof *parts.items)};
    add_part(&parts, "fingerprints", "s0", (double)store->fingerprints_bytes);
    add_part(&parts, "tables", "s1", (double)store->tables_bytes);
    add_part(&parts, "ranks", "s4", (double)store->ranks_bytes);
    add_part(&parts, "ids", "s2", (double)store->ids_bytes);
    add_part(&parts, "directory, manifest", "s3", (double)(store->directory_bytes + store->manifest_bytes));
    return parts;
}

/* Of a store of one segment each table is a part; otherwise the tables of all segments are one. */
static size_parts make_parts(const store_view *view)
{
    const sstore_statistics *store = &view->stat.metadata;
    if (view->words > 1)
        return make_wide_parts(store);
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

static void group_row(html *page, const store_view *view, uint32_t number)
{
    const table_group *group = &view->groups[number];
    double bytes = 0;
    char name[32];
    for (uint32_t i = group->first; i < group->first + group->table_count; i++)
        bytes += (double)view->tables[i].statistics.file_bytes;
    snprintf(name, sizeof name, view->words > 1 ? "tables of word %u" : "table %u", (unsigned)number);
    part_row(page, view, name, bytes);
}

static void write_parts(html *page, const store_view *view, double bound)
{
    const sstore_statistics *store = &view->stat.metadata;
    static const char *const columns[] = {"part", "bytes", "bytes per record", "of the store"};
    page_table_begin(page, "Sizes of the parts", columns, 4);
    if (view->words > 1)
        part_row(page, view, "whole fingerprints", (double)store->fingerprints_bytes);
    for (uint32_t i = 0; store->segment_count == 1 && i < view->group_count; i++)
        group_row(page, view, i);
    if (store->segment_count != 1 || view->table_count != 1)
        part_row(page, view, "all tables", (double)store->tables_bytes);
    if (view->words > 1)
        part_row(page, view, "ranks", (double)store->ranks_bytes);
    if (store->has_ids)
        part_row(page, view, "ids", (double)store->ids_bytes);
    part_row(page, view, "directory", (double)store->directory_bytes);
    part_row(page, view, "manifest", (double)store->manifest_bytes);
    part_row(page, view, "total", (double)store->total_bytes);
    part_row(page, view, raw_text(store).text, raw_bytes(store));
    part_row(page, view, "least for uniform fingerprints", bound * (double)store->record_count);
    page_table_end(page);
}

static void write_size_words(html *page, const store_view *view)
{
    const sstore_statistics *store = &view->stat.metadata;
    const double tables_part = (double)store->tables_bytes / (double)store->total_bytes;
    if (view->words > 1)
        html_markup(page,
                    "<p>The fingerprints are stored whole, without coding. Each of their %u words has an index: tables "
                    "of its different values, and ranks, which lead from a value to the fingerprints that have it. The "
                    "tables take %s of the store. ",
                    (unsigned)view->words, html_percent(tables_part).text);
    else
        html_markup(page, "<p>Each table holds all fingerprints, in an order of its own. The %s take %s of the store. ",
                    view->table_count == 1 ? "table and its header" : "tables", html_percent(tables_part).text);
    html_markup(page, "Raw records take %s bytes each",
                html_fixed(raw_bytes(store) / (double)store->record_count, 1).text);
    if (store->has_ids)
        html_markup(page, ", %u for the fingerprint and 8 for the id", (unsigned)store->fingerprint_bits / 8);
    html_markup(
        page,
        ". A set of so many uniform fingerprints cannot be stored in less than %s bytes for each, and then only "
        "in one order; near-duplicates save some.</p>\n",
        html_fixed(set_bound_bits(store->fingerprint_bits, (double)store->distinct_count) / 8, 2).text);
}

void section_size(html *page, const store_view *view)
{
    static const page_key wide_keys[] = {{"s0", "whole fingerprints"},
                                         {"s1", "tables"},
                                         {"s4", "ranks"},
                                         {"s2", "ids"},
                                         {"s3", "directory, manifest"},
                                         {"mark", "least for a set of uniform fingerprints"}};
    const bool is_shaded = view->stat.metadata.segment_count == 1 && view->table_count > 1;
    const page_key keys[] = {{"s0", is_shaded ? "tables, in two shades" : "tables"},
                             {"s2", "ids"},
                             {"s3", "directory"},
                             {"s4", "manifest"},
                             {"mark", "least for a set of uniform fingerprints"}};
    const sstore_statistics *store = &view->stat.metadata;
    const double count = (double)store->distinct_count;
    const double bound = set_bound_bits(store->fingerprint_bits, count) / 8 * count / (double)store->record_count;
    page_section(page, "size", "Where the bytes go");
    if (store->record_count == 0) {
        html_markup(page, "<p>The store has no records. Its files take %s.</p>\n",
                    html_bytes((double)store->total_bytes).text);
        return;
    }
    write_size_words(page, view);
    if (view->words > 1)
        page_legend(page, wide_keys, sizeof wide_keys / sizeof *wide_keys);
    else
        page_legend(page, keys, sizeof keys / sizeof *keys);
    draw_sizes(page, view, bound);
    write_parts(page, view, bound);
}

/* ----- the bits of a fingerprint ----- */

/* In tables. The last one is what no other part explains: bounds of groups, ends of blocks, the directory. */
typedef struct bit_parts {
    double column, suffixes, codes, frame;
} bit_parts;

static void add_bits(bit_parts *to, const table_view *table, double fingerprints)
{
    const double column = 32 * table->count / fingerprints;
    double suffixes = 0, codes = 0;
    for (uint32_t i = 0; i < 64; i++) {
        const double count = (double)table->symbols.difference_counts[i];
        suffixes += i < 31 ? count * (31 - i) : 0;
        codes += count * table->symbols.code_lengths[i < 32 ? i : 32];
    }
    to->column += column;
    to->suffixes += suffixes / fingerprints;
    to->codes += codes / fingerprints;
    to->frame += fmax(table->statistics.bits_per_fingerprint * table->count / fingerprints - column -
                          (suffixes + codes) / fingerprints,
                      0);
}

static void draw_bits(html *page, const store_view *view, double fingerprints)
{
    chart_row *rows = allocate_or_exit(view->group_count, sizeof *rows);
    chart_part *parts = allocate_or_exit((size_t)view->group_count * 4, sizeof *parts);
    number_text *totals = allocate_or_exit(view->group_count, sizeof *totals);
    double most = 64;
    for (uint32_t i = 0; i < view->group_count; i++) {
        const table_group *group = &view->groups[i];
        bit_parts bits = {0};
        for (uint32_t j = group->first; j < group->first + group->table_count; j++)
            add_bits(&bits, &view->tables[j], fingerprints);
        const double total = bits.column + bits.suffixes + bits.codes + bits.frame;
        const chart_part of[] = {{"lower half", "s0", bits.column},
                                 {"suffix", "s1", bits.suffixes},
                                 {"code", "s2", bits.codes},
                                 {"rest", "s3", bits.frame}};
        for (size_t j = 0; j < 4; j++)
            parts[i * 4 + j] = of[j];
        totals[i] = html_fixed(total, 1);
        rows[i] = (chart_row){group->name, totals[i].text, &parts[i * 4], 4};
        most = fmax(most, total);
    }
    const chart_axis axis = chart_linear(most, html_tick);
    chart_bars(page,
               &(chart_words){"bits-chart",
                              view->words > 1 ? "Bits of a fingerprint in the tables of each word"
                                              : "Bits of a fingerprint in each table",
                              "The table below has the numbers of each table.", "bits per fingerprint"},
               rows, view->group_count, &axis, view->words > 1 ? 0 : set_bound_bits(64, fingerprints));
    free(rows);
    free(parts);
    free(totals);
}

static void write_tables(html *page, const store_view *view)
{
    static const char *const columns[] = {"table", "key bits",   "flips",      "blocks",
                                          "bits",  "ideal code", "Elias-Fano", "Rice"};
    page_table_begin(page,
                     view->words > 1 ? "Tables, in bits per different value of the word"
                                     : "Tables, in bits per fingerprint",
                     columns, 8);
    for (uint32_t i = 0; i < view->table_count; i++) {
        const sstore_table_statistics *table = &view->tables[i].statistics;
        page_row(page,
                 (const char *const[]){table_name(view, i).text, html_count(table->prefix_bits).text,
                                       html_count(table->radius).text, html_count(table->block_count).text,
                                       html_fixed(table->bits_per_fingerprint, 2).text,
                                       html_fixed(table->bound_bits_per_fingerprint, 2).text,
                                       html_fixed(table->elias_fano_bits_per_fingerprint, 2).text,
                                       html_fixed(table->rice_bits_per_fingerprint, 2).text},
                 8);
    }
    page_table_end(page);
}

/* The words: how much they tell fingerprints apart, and how far a query searches them. */
static void write_word_table(html *page, const store_view *view, double fingerprints)
{
    static const char *const columns[] = {"word", "radius", "different values", "of the fingerprints", "plan"};
    page_table_begin(page, "Words of the fingerprints", columns, 5);
    for (uint32_t i = 0; i < view->group_count; i++) {
        const table_group *group = &view->groups[i];
        const double values = view->tables[group->first].count;
        char plan[sizeof group->plan + 16];
        snprintf(plan, sizeof plan, "<code>%s</code>", group->plan);
        page_row(page,
                 (const char *const[]){html_count(i).text,
                                       group->radius == UNKNOWN_RADIUS ? "-"
                                       : group->radius < 0             ? "not searched"
                                                                       : html_count((uint64_t)group->radius).text,
                                       html_count((uint64_t)values).text, html_percent(values / fingerprints).text,
                                       group->radius == UNKNOWN_RADIUS ? "-" : plan},
                 5);
    }
    page_table_end(page);
}

static void write_tables_words(html *page, const store_view *view)
{
    if (view->words > 1)
        html_markup(
            page, "<p>If two fingerprints are near each other, one of their words is within its radius: the sum of "
                  "(radius + 1) over all words is at least the distance + 1. So a query searches each word in its own "
                  "tables, and compares the whole fingerprints that it finds. A word in which many fingerprints are "
                  "alike has a small radius, or is not searched.</p>\n");
    html_markup(
        page,
        "<p>The lower half of a %s stays as it is, so that a query can test it without decoding. The upper half "
        "is a code for the first bit in which it differs from the %s before, and the bits behind that bit. More "
        "%ss have more equal leading bits, and take fewer bits each%s.</p>\n",
        item_name(view), item_name(view), item_name(view),
        view->stat.metadata.segment_count > 1 ? ". These are the tables of the largest segment" : "");
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
    page_section(page, "tables",
                 view->words > 1 ? "Bits of a fingerprint in the tables of each word"
                                 : "Bits of a fingerprint in each table");
    write_tables_words(page, view);
    if (view->words > 1)
        write_word_table(page, view, fingerprints);
    page_legend(page, keys, sizeof keys / sizeof *keys - (view->words > 1)); /* the mark is that of one table */
    draw_bits(page, view, fingerprints);
    long_part_begin(page, view, "All tables");
    write_tables(page, view);
    long_part_end(page, view);
}
