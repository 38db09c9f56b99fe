/* section_blocks.c - what the tables hold: the symbols and their codes, the fill of blocks, and how crowded prefixes
 * are. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "output/messages.h"
#include "report/chart.h"
#include "report/page.h"
#include "report/sections.h"

#define SYMBOLS 33u
#define MAX_CODE_BITS 11u

/* ----- symbols ----- */

/* The parts of the symbols among all neighbours of a table. */
static void symbol_parts(const sstore_table_symbols *symbols, double parts[SYMBOLS])
{
    double total = 0;
    for (uint32_t h = 0; h < SYMBOLS; h++)
        parts[h] = 0;
    for (uint32_t i = 0; i < 64; i++) {
        parts[i < SYMBOLS - 1 ? i : SYMBOLS - 1] += (double)symbols->difference_counts[i];
        total += (double)symbols->difference_counts[i];
    }
    for (uint32_t h = 0; h < SYMBOLS; h++)
        parts[h] = total > 0 ? parts[h] / total : 0;
}

/* The bits of a code: as they are, and with an ideal code. */
static void code_bits(const sstore_table_symbols *symbols, const double parts[SYMBOLS], double *bits_out,
                      double *ideal_out)
{
    *bits_out = *ideal_out = 0;
    for (uint32_t h = 0; h < SYMBOLS; h++) {
        *bits_out += parts[h] * symbols->code_lengths[h];
        *ideal_out -= parts[h] > 0 ? parts[h] * log2(parts[h]) : 0;
    }
}

/* Draw those of a table, or of the first table of a word. */
static void draw_symbols(html *page, const store_view *view, uint32_t number)
{
    static const char *const labels[SYMBOLS] = {[0] = "0", [8] = "8", [16] = "16", [24] = "24", [32] = "32"};
    const sstore_table_symbols *symbols = &view->tables[view->groups[number].first].symbols;
    const char *name = view->words > 1 ? "Word" : "Table";
    double parts[SYMBOLS], bits, ideal;
    char id[32], title[64];
    symbol_parts(symbols, parts);
    code_bits(symbols, parts, &bits, &ideal);
    snprintf(id, sizeof id, "h-%u", (unsigned)number);
    snprintf(title, sizeof title, "Distribution of h in %s %u", view->words > 1 ? "word" : "table", (unsigned)number);
    html_markup(page, "<div><h3>%s %u: %s bits a code, ideal %s</h3>\n", name, (unsigned)number,
                html_fixed(bits, 2).text, html_fixed(ideal, 2).text);
    chart_histogram(page,
                    &(chart_words){id, title,
                                   "Bars are the parts of the neighbours, dots the lengths of codes. The "
                                   "tables at the end of the section have the same numbers.",
                                   "h, the number of equal leading bits"},
                    &(chart_bins){.parts = parts,
                                  .count = SYMBOLS,
                                  .class = "s0",
                                  .dots = symbols->code_lengths,
                                  .dots_max = MAX_CODE_BITS,
                                  .labels = labels,
                                  .labels_centred = true,
                                  .is_small = true});
    html_markup(page, "</div>\n");
}

static void write_symbols(html *page, const store_view *view, uint32_t number)
{
    static const char *const columns[] = {"h", "neighbours", "part", "code length"};
    const uint32_t table = view->groups[number].first;
    const sstore_table_symbols *symbols = &view->tables[table].symbols;
    char caption[80];
    double parts[SYMBOLS];
    symbol_parts(symbols, parts);
    snprintf(caption, sizeof caption, "Symbols of table %s", table_name(view, table).text);
    page_table_begin(page, caption, columns, 4);
    for (uint32_t h = 0; h < SYMBOLS; h++) {
        uint64_t count = 0;
        for (uint32_t i = h; i < (h < SYMBOLS - 1 ? h + 1 : 64); i++)
            count += symbols->difference_counts[i];
        if (count > 0 || symbols->code_lengths[h] > 0)
            page_row(page,
                     (const char *const[]){html_count(h).text, html_count(count).text, html_percent(parts[h]).text,
                                           html_count(symbols->code_lengths[h]).text},
                     4);
    }
    page_table_end(page);
}

void section_symbols(html *page, const store_view *view)
{
    static const page_key keys[] = {{"s0", "part of the neighbours"}, {"s2", "length of the code in bits (right)"}};
    if (view->stat.metadata.record_count < 2)
        return;
    page_section(page, "symbols", "How much neighbours have in common");
    html_markup(page,
                "<p>In the order of a table, h is the number of leading bits in which a %s equals the one "
                "before. Frequent values of h have short codes. Uniform %ss have a narrow peak at the left of "
                "log2 of their number, here %s%s. Bars to the right of it are %ss that are near each other: the "
                "more there are, the smaller is the table. At 32 the whole upper half is equal.%s</p>\n",
                item_name(view), item_name(view), view->words > 1 ? "at most " : "",
                html_fixed(log2((double)view->stat.segments[view->main_segment].metadata.distinct_count), 1).text,
                item_name(view), view->words > 1 ? " Of each word, the first table is shown." : "");
    page_legend(page, keys, 2);
    html_markup(page, "<div class=\"multiples\">\n");
    for (uint32_t i = 0; i < view->group_count; i++)
        draw_symbols(page, view, i);
    html_markup(page, "</div>\n");
    page_details_begin(page, "Counts and code lengths of all symbols");
    for (uint32_t i = 0; i < view->group_count; i++)
        write_symbols(page, view, i);
    page_details_end(page);
}

/* ----- blocks ----- */

#define FILL_BINS 24u

static void draw_fill(html *page, const store_view *view)
{
    double parts[FILL_BINS] = {0};
    const char *labels[FILL_BINS + 1] = {NULL};
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < view->block_count_count; i++) {
        low = view->block_counts[i] < low ? view->block_counts[i] : low;
        high = view->block_counts[i] > high ? view->block_counts[i] : high;
    }
    const uint32_t width = (high - low) / FILL_BINS + 1; /* fingerprints in a bin */
    for (size_t i = 0; i < view->block_count_count; i++)
        parts[(view->block_counts[i] - low) / width] += 1 / (double)view->block_count_count;
    const uint32_t bins = (high - low) / width + 1;
    const number_text ticks[] = {html_count(low), html_count(low + width * (bins / 2)), html_count(low + width * bins)};
    labels[0] = ticks[0].text;
    labels[bins] = ticks[2].text;
    if (bins > 1)
        labels[bins / 2] = ticks[1].text;
    chart_histogram(page,
                    &(chart_words){"fill-chart", "Blocks by the number of their fingerprints",
                                   "The table below has the ranges of each table.",
                                   view->words > 1 ? "words in a block" : "fingerprints in a block"},
                    &(chart_bins){.parts = parts, .count = bins, .class = "s0", .labels = labels});
}

static void write_fill(html *page, const store_view *view)
{
    const char *const columns[] = {
        "table", "blocks looked at", "used", "used, least full", view->words > 1 ? "words" : "fingerprints", "from",
        "to"};
    page_table_begin(page, "Blocks of each table", columns, 7);
    for (uint32_t i = 0; i < view->table_count; i++) {
        const fill_report *fill = &view->tables[i].fill;
        page_row(page,
                 (const char *const[]){table_name(view, i).text, html_count(fill->block_count).text,
                                       html_percent(fill->mean_used).text, html_percent(fill->min_used).text,
                                       html_fixed(fill->mean_count, 1).text, html_count(fill->min_count).text,
                                       html_count(fill->max_count).text},
                 7);
    }
    page_table_end(page);
}

void section_fill(html *page, const store_view *view)
{
    double used = 0;
    if (view->block_count_count == 0)
        return;
    for (uint32_t i = 0; i < view->table_count; i++)
        used += view->tables[i].fill.mean_used / view->table_count;
    page_section(page, "fill", "How full blocks are");
    const char *item = item_name(view);
    html_markup(page,
                "<p>A block of a table has %s bytes, of which %ss use %s. A writer fills it until the next %s does not "
                "fit. So the number of %ss varies, and the bytes do not: where %ss are near each other, a block holds "
                "more. %s%s</p>\n",
                html_count(view->stat.segments[view->main_segment].metadata.block_bytes).text, item,
                html_percent(used).text, item, item, item,
                used < 0.9 ? "The tables are so small that they end within their only block."
                           : "Almost no bytes are left over.",
                view->words > 1 ? " Blocks of whole fingerprints are not shown: all hold equally many." : "");
    draw_fill(page, view);
    long_part_begin(page, view, "Blocks of all tables");
    write_fill(page, view);
    long_part_end(page, view);
}

/* ----- crowded prefixes ----- */

/* The number of different prefixes in a table: its neighbours that differ within the prefix, and one. */
static double prefix_count(const table_view *table)
{
    double count = 1;
    for (uint32_t i = 0; i < table->statistics.prefix_bits && i < 64; i++)
        count += (double)table->symbols.difference_counts[i];
    return count;
}

/* The expected number of different prefixes among uniform fingerprints. */
static double uniform_prefix_count(double fingerprints, uint32_t prefix_bits)
{
    const double places = ldexp(1, (int)prefix_bits);
    return places * -expm1(-fingerprints / places);
}

static void draw_crowds(html *page, const store_view *view)
{
    chart_range *rows = allocate_or_exit(view->group_count, sizeof *rows);
    size_t count = 0;
    for (uint32_t i = 0; i < view->group_count; i++) {
        const table_group *group = &view->groups[i];
        if (group->radius < 0)
            continue;
        rows[count] = (chart_range){.low = group->crowd.found.median,
                                    .high = group->crowd.found.p99,
                                    .max = group->crowd.found.max,
                                    .expected = group->crowd.expected};
        if (view->words > 1)
            snprintf(rows[count].name, sizeof rows[count].name, "%s", group->name);
        else
            snprintf(rows[count].name, sizeof rows[count].name, "%s, %u key bits", group->name,
                     (unsigned)view->tables[i].statistics.prefix_bits);
        count++;
    }
    chart_ranges(page,
                 &(chart_words){"crowd-chart",
                                view->words > 1 ? "Words with a prefix that a query looks up"
                                                : "Fingerprints with a prefix that a query looks up",
                                "The table below has the same numbers.",
                                view->words > 1 ? "different values of the word to test in its tables"
                                                : "fingerprints to test in the table"},
                 rows, count);
    free(rows);
}

static void write_crowds(html *page, const store_view *view)
{
    const char *const columns[] = {
        view->words > 1 ? "word" : "table", "uniform", "median", "99 %", "most", "prefixes in use", "of uniform"};
    page_table_begin(page,
                     view->words > 1 ? "Different values of words to test, and prefixes in all tables of a word"
                                     : "Fingerprints to test, and different prefixes",
                     columns, 7);
    for (uint32_t i = 0; i < view->group_count; i++) {
        const table_group *group = &view->groups[i];
        double prefixes = 0, uniform = 0;
        for (uint32_t j = group->first; j < group->first + group->table_count; j++) {
            prefixes += prefix_count(&view->tables[j]);
            uniform += uniform_prefix_count(view->tables[j].count, view->tables[j].statistics.prefix_bits);
        }
        if (group->radius >= 0)
            page_row(page,
                     (const char *const[]){html_count(i).text, html_rounded(group->crowd.expected).text,
                                           html_rounded(group->crowd.found.median).text,
                                           html_rounded(group->crowd.found.p99).text,
                                           html_rounded(group->crowd.found.max).text, html_rounded(prefixes).text,
                                           html_percent(prefixes / uniform).text},
                     7);
    }
    page_table_end(page);
}

void section_crowd(html *page, const store_view *view)
{
    static const page_key keys[] = {{"s0", "from the median to 99 of 100 queries; the point is the most"},
                                    {"mark", "uniform fingerprints"}};
    double found = 0, expected = 0;
    if (view->looked_up_count == 0)
        return;
    bool searches_all = true;
    for (uint32_t i = 0; i < view->group_count; i++) {
        const table_group *group = &view->groups[i];
        searches_all &= group->radius >= 0;
        if (group->radius < 0)
            continue;
        found += group->crowd.found.median;
        expected += group->crowd.expected;
    }
    page_section(page, "prefixes", "How crowded prefixes are");
    html_markup(page,
                "<p>A query reads the %ss that have its key bits, its prefix, in each table, and tests them. "
                "Real %ss crowd under some prefixes. Of %s stored fingerprints that were looked up, half find "
                "%s or fewer to test in all tables together. Uniform ones would find %s.%s</p>\n",
                item_name(view), item_name(view), html_count(view->looked_up_count).text, html_rounded(found).text,
                html_rounded(expected).text, searches_all ? "" : " Words that queries do not search are left out.");
    page_legend(page, keys, 2);
    draw_crowds(page, view);
    write_crowds(page, view);
}
