/* store_page.c - the page of a store: its head with the large figures, and the order of the sections. */
#include <stdlib.h>
#include <string.h>

#include "output/messages.h"
#include "report/page.h"
#include "report/sections.h"

static void begin(html *page, const store_view *view)
{
    const sstore_statistics *store = &view->stat.metadata;
    const size_t size = strlen(view->path) + sizeof store->recipe + 200;
    size_t length;
    const char *last = store_name(view->path, &length);
    char *name = allocate_or_exit(length + 1, 1), *second = allocate_or_exit(size, 1);
    memcpy(name, last, length);
    char bits[32] = "";
    if (view->words > 1)
        snprintf(bits, sizeof bits, "%u bits, ", (unsigned)store->fingerprint_bits);
    snprintf(second, size, "%s \xc2\xb7 %sdistance %u, %u table%s, %s ids \xc2\xb7 recipe: %s", view->path, bits,
             (unsigned)store->distance, (unsigned)store->table_count, store->table_count == 1 ? "" : "s",
             store->has_ids ? "with" : "without", store->recipe[0] != '\0' ? store->recipe : "not recorded");
    page_begin(page, "sstore report", name, second);
    free(name);
    free(second);
}

static void write_time(html *page, const store_view *view)
{
    const query_report *queries = view->queries;
    char note[120] = "median with a match";
    if (queries == NULL || queries->misses.count + queries->hits.count == 0)
        return;
    if (queries->misses.count > 0 && queries->hits.count > 0)
        snprintf(note, sizeof note, "median without a match; %s with one", html_time(queries->hits.time.median).text);
    else if (queries->misses.count > 0)
        snprintf(note, sizeof note, "median without a match");
    page_figure(page, "Time of a query",
                html_time(queries->misses.count > 0 ? queries->misses.time.median : queries->hits.time.median).text,
                note);
}

static number_text bytes_each(double bytes, double records, int decimals)
{
    const double each = bytes / records;
    return each < 1000 ? html_fixed(each, decimals) : html_rounded(each);
}

/* Why a record takes so many bytes: the tables, and the ids; of several words also other parts. */
static const char *bytes_note(const sstore_statistics *store, char *note, size_t size)
{
    const double records = (double)store->record_count, tables = store->table_count;
    int length;
    if (store->fingerprint_bits > 64)
        length = snprintf(note, size, "fingerprints %s, tables %s, ranks %s",
                          bytes_each((double)store->fingerprints_bytes, records, 1).text,
                          bytes_each((double)store->tables_bytes, records, 1).text,
                          bytes_each((double)store->ranks_bytes, records, 1).text);
    else
        length = snprintf(note, size, "%u table%s of %s", (unsigned)store->table_count,
                          store->table_count == 1 ? "" : "s",
                          bytes_each((double)store->tables_bytes / tables, records, 2).text);
    if (store->has_ids)
        snprintf(note + length, size - (size_t)length, "; ids %s",
                 bytes_each((double)store->ids_bytes, records, 2).text);
    return note;
}

/* The answer that most readers look for. */
static void write_near(html *page, const store_view *view)
{
    const cluster_report *clusters = view->clusters;
    char note[200];
    if (clusters->is_sample) {
        const double sampled = clusters->sampled_count > 0 ? (double)clusters->sampled_count : 1;
        snprintf(note, sizeof note, "of %s sampled fingerprints have one within %u bits; --clusters finds all",
                 html_count(clusters->sampled_count).text, (unsigned)clusters->distance);
        page_figure(page, "Near-duplicates",
                    clusters->near_count > 0 ? html_percent((double)clusters->near_count / sampled).text : "none seen",
                    note);
        return;
    }
    snprintf(note, sizeof note, "could be removed, of %s in %s cluster%s within %u bits",
             html_count(clusters->record_count).text, html_count(clusters->cluster_count).text,
             clusters->cluster_count == 1 ? "" : "s", (unsigned)clusters->distance);
    page_figure(page, "Near-duplicates", html_count(clusters->record_count - clusters->cluster_count).text, note);
}

static void write_figures(html *page, const store_view *view)
{
    const sstore_statistics *store = &view->stat.metadata;
    const double records = (double)store->record_count;
    char note[120];
    page_figures_begin(page);
    write_near(page, view);
    snprintf(note, sizeof note, "%s distinct", html_count(store->distinct_count).text);
    if (records >= 1e6)
        snprintf(note, sizeof note, "%s, %s distinct", html_count(store->record_count).text,
                 html_count(store->distinct_count).text);
    page_figure(page, "Records", records < 1e6 ? html_count(store->record_count).text : html_rounded(records).text,
                note);
    snprintf(note, sizeof note, "%s bytes", html_count(store->total_bytes).text);
    page_figure(page, "Size", html_bytes((double)store->total_bytes).text, note);
    if (store->record_count > 0) {
        page_figure(page, "Bytes per record", bytes_each((double)store->total_bytes, records, 1).text,
                    bytes_note(store, note, sizeof note));
        page_figure(page, "Of raw records", html_percent((double)store->total_bytes / raw_bytes(store)).text,
                    raw_text(store).text);
    }
    write_time(page, view);
    page_figures_end(page);
}

void store_page_write(html *page, const store_view *view)
{
    begin(page, view);
    write_figures(page, view);
    section_clusters(page, view);
    section_queries(page, view);
    section_size(page, view);
    if (view->stat.metadata.record_count > 0) {
        const own_plan own = own_plan_of(view);
        section_plans(page, &view->plans, view->words, &own);
    }
    page_fold_begin(page, "How the store is made: tables, symbols, prefixes, blocks, segments");
    section_tables(page, view);
    section_symbols(page, view);
    section_crowd(page, view);
    section_fill(page, view);
    section_segments(page, view);
    page_fold_end(page);
    page_end(page);
}
