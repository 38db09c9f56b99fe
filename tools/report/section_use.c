/* section_use.c - what was measured of a store in use: the times of queries, its clusters, its segments. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/radix_form.h"
#include "report/chart.h"
#include "report/page.h"
#include "report/sections.h"

/* ----- queries ----- */

#define BINS_A_DECADE 5u
#define MAX_BINS (BINS_A_DECADE * 9u)

/* The powers of ten that hold the times of both kinds. */
static void time_range(const query_report *queries, int *first_out, int *decades_out)
{
    double min = INFINITY, max = 0;
    const latency_report *const kinds[] = {&queries->misses, &queries->hits};
    for (size_t i = 0; i < 2; i++)
        if (kinds[i]->count > 0) {
            min = fmin(min, kinds[i]->times[0]);
            max = fmax(max, kinds[i]->time.max);
        }
    *first_out = (int)floor(log10(fmax(min, 10)));
    const int last = (int)floor(log10(fmax(max, 10))) + 1;
    *decades_out = last - *first_out < 9 ? last - *first_out : 9;
}

static void draw_times(html *page, const latency_report *of, const char *id, const char *title, const char *class,
                       int first, int decades)
{
    const uint32_t bins = BINS_A_DECADE * (uint32_t)decades;
    double parts[MAX_BINS] = {0};
    number_text ticks[10];
    const char *labels[MAX_BINS + 1] = {NULL};
    for (uint64_t i = 0; i < of->count; i++) {
        const double at = (log10(fmax(of->times[i], 1)) - first) * BINS_A_DECADE;
        parts[at < 0 ? 0 : at < bins ? (uint32_t)at : bins - 1] += 1 / (double)of->count;
    }
    for (int i = 0; i <= decades; i += (decades + 4) / 5) {
        ticks[i] = html_time_tick(pow(10, first + i));
        labels[BINS_A_DECADE * (uint32_t)i] = ticks[i].text;
    }
    html_markup(page, "<div><h3>%s</h3>\n", title);
    chart_histogram(page, &(chart_words){id, title, "The table below has the percentiles.", "time of a query"},
                    &(chart_bins){.parts = parts, .count = bins, .class = class, .labels = labels, .is_small = true});
    html_markup(page, "</div>\n");
}

static void write_times(html *page, const char *name, const latency_report *of)
{
    const bool explained = of->explained_count > 0;
    if (of->count == 0)
        return;
    page_row(page,
             (const char *const[]){name, html_count(of->count).text, html_time(of->time.median).text,
                                   html_time(of->time.p90).text, html_time(of->time.p99).text,
                                   html_time(of->time.max).text, explained ? html_time(of->mean_expected_ns).text : "-",
                                   explained ? html_fixed(of->mean_blocks, 1).text : "-",
                                   explained ? html_fixed(of->mean_expected_blocks, 1).text : "-"},
             9);
}

void section_queries(html *page, const store_view *view)
{
    static const char *const columns[] = {"queries",        "number", "median",          "90 %", "99 %", "slowest",
                                          "time, estimate", "blocks", "blocks, estimate"};
    const query_report *queries = view->queries;
    int first, decades;
    if (queries == NULL)
        return;
    page_section(page, "queries", "How fast queries are");
    if (queries->misses.count + queries->hits.count == 0) {
        html_markup(page, "<p>There were no queries to time.</p>\n");
        return;
    }
    html_markup(page,
                "<p>%s of %s queries were timed at distance %u, one after the other on one thread of this machine. %s "
                "of them found a match%s</p>\n",
                html_count(queries->misses.count + queries->hits.count).text, html_count(queries->given_count).text,
                (unsigned)view->stat.metadata.distance, html_count(queries->hits.count).text,
                queries->hits.count > 0 ? ", which takes longer, since its record is read." : ".");
    time_range(queries, &first, &decades);
    html_markup(page, "<div class=\"multiples\">\n");
    if (queries->misses.count > 0)
        draw_times(page, &queries->misses, "miss-chart", "Without a match", "s0", first, decades);
    if (queries->hits.count > 0)
        draw_times(page, &queries->hits, "hit-chart", "With a match", "s2", first, decades);
    html_markup(page, "</div>\n");
    page_table_begin(page, "Times, and blocks read by a query, beside the estimates", columns, 9);
    write_times(page, "without a match", &queries->misses);
    write_times(page, "with a match", &queries->hits);
    page_table_end(page);
}

/* ----- clusters ----- */

static number_text bin_label(uint32_t bin)
{
    const number_text first = {"2, 3"};
    return bin == 1 ? first : html_rounded(ldexp(1, (int)bin));
}

static void draw_clusters(html *page, const cluster_report *clusters, uint32_t bins)
{
    double parts[CLUSTER_BINS];
    number_text ticks[CLUSTER_BINS];
    const char *labels[CLUSTER_BINS] = {NULL};
    const uint32_t every = (bins + 5) / 6;
    for (uint32_t i = 0; i < bins; i++) {
        parts[i] = (double)clusters->bin_records[i + 1] / (double)clusters->record_count;
        ticks[i] = bin_label(i + 1);
        labels[i] = i % every == 0 ? ticks[i].text : NULL;
    }
    chart_histogram(
        page,
        &(chart_words){"cluster-chart", "Records by the size of their cluster", "The table below has the same numbers.",
                       "records of a cluster, from this number on"},
        &(chart_bins){.parts = parts, .count = bins, .class = "s0", .labels = labels, .labels_centred = true});
}

static void write_cluster_sizes(html *page, const cluster_report *clusters, uint32_t bins)
{
    static const char *const columns[] = {"size", "clusters", "records", "of these records"};
    page_table_begin(page, "Clusters by size", columns, 4);
    for (uint32_t i = 1; i <= bins; i++) {
        char size[120];
        snprintf(size, sizeof size, "%s to %s", html_count(UINT64_C(1) << i).text,
                 html_count((UINT64_C(2) << i) - 1).text);
        page_row(
            page,
            (const char *const[]){size, html_count(clusters->bins[i]).text, html_count(clusters->bin_records[i]).text,
                                  html_percent((double)clusters->bin_records[i] / (double)clusters->record_count).text},
            4);
    }
    page_table_end(page);
}

#define WORDS_A_LINE 4u

/* An id, or its name; an id without a name stays a number. */
static void write_id(html *page, const store_view *view, uint64_t id)
{
    size_t length = 0;
    const char *name = view->names != NULL ? view->names->find(view->names->context, id, &length) : NULL;
    if (name != NULL)
        html_text(page, name);
    else if (view->stat.metadata.has_ids)
        html_markup(page, "%" PRIu64, id); /* an id is a name: its digits are not grouped */
    else
        html_markup(page, "-");
}

static void write_example(html *page, const store_view *view, const cluster_example *example)
{
    for (uint32_t i = 0; i < example->record_count; i++) {
        const sstore_cluster_record *record = &example->records[i];
        char fingerprint[20 * SSTORE_MAX_WORDS + 20] = "<code>";
        char hex[17], *end = fingerprint + strlen(fingerprint);
        for (uint32_t j = 0; j < view->words; j++) {
            end = stpcpy(end, j > 0 && j % WORDS_A_LINE == 0 ? "<br>" : "");
            end = stpcpy(end, output_hex_string(hex, example->words[i][j]));
        }
        stpcpy(end, "</code>");
        html_markup(page, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>",
                    i == 0 ? html_count(example->size).text : "", fingerprint, html_count(record->distance).text);
        write_id(page, view, record->id);
        html_markup(page, "</td></tr>\n");
    }
}

static void write_examples(html *page, const store_view *view, const char *title)
{
    const char *const columns[] = {"records", "fingerprint", "distance to the first",
                                   view->names != NULL ? "name" : "id"};
    page_table_begin(page, title, columns, 4);
    for (uint32_t i = 0; i < CLUSTER_EXAMPLES; i++)
        write_example(page, view, &view->clusters->examples[i]);
    page_table_end(page);
}

static void write_sampled_clusters(html *page, const store_view *view)
{
    const cluster_report *clusters = view->clusters;
    html_markup(
        page,
        "<p>The store is large, so only %s of its fingerprints, taken at random, were compared with all records: "
        "%s of them have another record within %u bits. <code>sstore report --clusters</code> finds all, and "
        "<code>sstore clusters</code> lists them.</p>\n",
        html_count(clusters->sampled_count).text,
        clusters->near_count > 0 ? html_count(clusters->near_count).text : "none", (unsigned)clusters->distance);
    if (clusters->near_count > 0)
        write_examples(page, view, "Those with the most records around them, and up to five of these");
}

void section_clusters(html *page, const store_view *view)
{
    const cluster_report *clusters = view->clusters;
    uint32_t bins = 0;
    page_section(page, "clusters", clusters->is_sample ? "Near-duplicates in a sample" : "Clusters of near-duplicates");
    if (clusters->is_sample) {
        write_sampled_clusters(page, view);
        return;
    }
    if (clusters->cluster_count == 0) {
        html_markup(page, "<p>No record has a near-duplicate within distance %u.</p>\n", (unsigned)clusters->distance);
        return;
    }
    html_markup(
        page,
        "<p>%s of %s records are in %s cluster%s: each record differs from another one of its cluster in at most "
        "%u bits. One record of each cluster can stay, and %s can be removed.</p>\n",
        html_count(clusters->record_count).text, html_count(view->stat.metadata.record_count).text,
        html_count(clusters->cluster_count).text, clusters->cluster_count == 1 ? "" : "s", (unsigned)clusters->distance,
        html_count(clusters->record_count - clusters->cluster_count).text);
    for (uint32_t i = 1; i < CLUSTER_BINS; i++)
        bins = clusters->bins[i] > 0 ? i : bins;
    write_examples(page, view, "The largest clusters, with up to five records of each");
    draw_clusters(page, clusters, bins);
    write_cluster_sizes(page, clusters, bins);
}

/* ----- segments ----- */

#define MAX_SEGMENT_ROWS 50u

void section_segments(html *page, const store_view *view)
{
    static const char *const columns[] = {"segment", "kind", "records", "distinct", "bytes", "of the store", "tables"};
    const sstore_statistics *store = &view->stat.metadata;
    const uint32_t first = store->segment_count > MAX_SEGMENT_ROWS ? store->segment_count - MAX_SEGMENT_ROWS : 0;
    if (store->segment_count < 2)
        return;
    page_section(page, "segments", "Segments");
    html_markup(page,
                "<p>Each addition or removal wrote a segment, and a query searches all that add. %s removed records "
                "still take space. <code>sstore compact</code> makes one segment of all, without them.</p>\n",
                store->removed_count > 0 ? html_count(store->removed_count).text : "No");
    if (first > 0)
        html_markup(page, "<p>These are the newest %u of %s.</p>\n", MAX_SEGMENT_ROWS,
                    html_count(store->segment_count).text);
    page_table_begin(page, "Segments, the oldest first", columns, 7);
    for (uint32_t i = first; i < store->segment_count; i++) {
        const sstore_segment_statistics *segment = &view->stat.segments[i].metadata;
        page_row(page,
                 (const char *const[]){html_count(i).text, segment->is_removal ? "removes" : "adds",
                                       html_count(segment->record_count).text, html_count(segment->distinct_count).text,
                                       html_count(segment->total_bytes).text,
                                       html_percent((double)segment->total_bytes / (double)store->total_bytes).text,
                                       html_count(segment->table_count).text},
                 7);
    }
    page_table_end(page);
}
