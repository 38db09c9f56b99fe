#include "report/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/json.h"
#include "output/messages.h"
#include "output/radix_form.h"
#include "report/page_text.h"

/* ----- values ----- */

/* Text that comes from elsewhere, as people can read it. */
static json_value *shown_text(const char *text, size_t length)
{
    const size_t size = sstore_escape(text, length, false, NULL, 0) + 1;
    char *shown = allocate_or_exit(size, 1);
    (void)sstore_escape(text, length, false, shown, size);
    json_value *made = json_value_make("s", shown);
    free(shown);
    return made;
}

#define DEFINE_LIST(name, type)                                                                                        \
    static json_value *name(const type *values, size_t count)                                                          \
    {                                                                                                                  \
        json_value *list = json_value_make("[]");                                                                      \
        for (size_t i = 0; i < count; i++)                                                                             \
            json_value_append(&list, json_value_make("I", (long long)values[i]));                                      \
        return list;                                                                                                   \
    }
DEFINE_LIST(numbers, uint64_t)
DEFINE_LIST(short_numbers, uint32_t)
DEFINE_LIST(byte_numbers, uint8_t)

/* ----- tables ----- */

static json_value *fill_value(const fill_report *fill)
{
    return json_value_make("{s:I, s:f, s:f, s:f, s:I, s:I}", "block_count", (long long)fill->block_count, "mean_used",
                           fill->mean_used, "min_used", fill->min_used, "mean_count", fill->mean_count, "min_count",
                           (long long)fill->min_count, "max_count", (long long)fill->max_count);
}

/* What the statistics of the store do not have. */
static json_value *table_value(const table_view *table)
{
    const sstore_table_statistics *statistics = &table->statistics;
    return json_value_make("{s:I, s:o, s:o, s:o}", "count", (long long)table->count, "fill", fill_value(&table->fill),
                           "difference_counts",
                           numbers(statistics->difference_counts,
                                   sizeof statistics->difference_counts / sizeof *statistics->difference_counts),
                           "code_lengths", byte_numbers(statistics->code_lengths, sizeof statistics->code_lengths));
}

static json_value *tables_value(const store_view *view)
{
    json_value *tables = json_value_make("[]");
    for (uint32_t i = 0; i < view->table_count; i++)
        json_value_append(&tables, table_value(&view->tables[i]));
    return tables;
}

static json_value *spread_value(const spread *values)
{
    return json_value_make("{s:f, s:f, s:f, s:f}", "median", values->median, "p90", values->p90, "p99", values->p99,
                           "max", values->max);
}

static json_value *group_value(const table_group *group)
{
    return json_value_make("{s:I, s:I, s:f, s:o}", "first", (long long)group->first, "table_count",
                           (long long)group->table_count, "uniform", group->crowd.expected, "found",
                           spread_value(&group->crowd.found));
}

static json_value *groups_value(const store_view *view)
{
    json_value *groups = json_value_make("[]");
    for (uint32_t i = 0; i < view->group_count; i++)
        json_value_append(&groups, group_value(&view->groups[i]));
    return groups;
}

/* ----- queries ----- */

static json_value *latency_value(const latency_report *latency)
{
    return json_value_make("{s:I, s:o, s:I, s:f, s:f, s:f, s:o}", "count", (long long)latency->count, "time",
                           spread_value(&latency->time), "explained_count", (long long)latency->explained_count,
                           "mean_blocks", latency->mean_blocks, "mean_expected_blocks", latency->mean_expected_blocks,
                           "mean_expected_ns", latency->mean_expected_ns, "bins", numbers(latency->bins, TIME_BINS));
}

static json_value *queries_value(const query_report *queries)
{
    if (queries == NULL)
        return NULL;
    return json_value_make("{s:I, s:i, s:o, s:o}", "given_count", (long long)queries->given_count, "bins_per_decade",
                           (int)TIME_BINS_PER_DECADE, "misses", latency_value(&queries->misses), "hits",
                           latency_value(&queries->hits));
}

/* ----- clusters ----- */

/* An id, or its name; an id without a name stays a number. As text, since JavaScript's numbers have 53 bits. */
static json_value *id_value(const store_view *view, uint64_t id)
{
    char digits[24] = "-";
    if (view->names != NULL) {
        const printed_name name = stored_names_find(view->names, id);
        return shown_text(name.text != NULL ? name.text : "", name.length);
    }
    if (view->stat.metadata.has_ids)
        snprintf(digits, sizeof digits, "%" PRIu64, id);
    return json_value_make("s", digits);
}

static json_value *example_value(const store_view *view, const cluster_example *example)
{
    json_value *records = json_value_make("[]");
    for (uint32_t i = 0; i < example->record_count; i++) {
        char fingerprint[16 * SSTORE_MAX_WORDS + 1];
        for (uint32_t j = 0; j < view->words; j++)
            (void)output_hex_string(fingerprint + 16 * (size_t)j, example->words[i][j]);
        json_value_append(&records, json_value_make("{s:s, s:I, s:o}", "fingerprint", fingerprint, "distance",
                                                    (long long)example->records[i].distance, "id",
                                                    id_value(view, example->records[i].id)));
    }
    return json_value_make("{s:I, s:o}", "size", (long long)example->size, "records", records);
}

static json_value *clusters_value(const store_view *view)
{
    const cluster_report *clusters = view->clusters;
    json_value *examples = json_value_make("[]");
    for (uint32_t i = 0; i < CLUSTER_EXAMPLES && clusters->examples[i].record_count > 0; i++)
        json_value_append(&examples, example_value(view, &clusters->examples[i]));
    return json_value_make("{s:b, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o}", "is_sample", (int)clusters->is_sample,
                           "sampled_count", (long long)clusters->sampled_count, "near_count",
                           (long long)clusters->near_count, "cluster_count", (long long)clusters->cluster_count,
                           "record_count", (long long)clusters->record_count, "named", (int)(view->names != NULL),
                           "bins", numbers(clusters->bins, CLUSTER_BINS), "bin_records",
                           numbers(clusters->bin_records, CLUSTER_BINS), "examples", examples);
}

/* ----- pages ----- */

/* The time of the page; reproducible builds set SOURCE_DATE_EPOCH. */
static json_value *page_time(void)
{
    char date[64] = "";
    struct tm parts;
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    const time_t now = epoch != NULL ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    if (gmtime_r(&now, &parts) != NULL)
        (void)strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &parts);
    return json_value_make("s", date);
}

/* Where a text of JSON stands within a page, no byte of it may begin a tag or an entity. Only its strings have them. */
static void write_within_page(FILE *stream, const char *json)
{
    for (size_t plain; *json != '\0'; json += plain) {
        plain = strcspn(json, "<>&");
        fwrite(json, 1, plain, stream);
        if (json[plain] != '\0')
            fprintf(stream, "\\u%04x", (unsigned)json[plain++]);
    }
}

/* Make a page with a value, which is freed. */
static page make_page(json_value *value)
{
    page made = {.bytes = NULL};
    char *json = json_value_text(value);
    FILE *stream = json != NULL ? open_memstream(&made.bytes, &made.size) : NULL;
    bool failed = stream == NULL;
    if (stream != NULL) {
        fwrite(page_head, 1, page_head_size, stream);
        write_within_page(stream, json);
        fwrite(page_tail, 1, page_tail_size, stream);
        failed = ferror(stream) != 0;
        failed |= fclose(stream) != 0;
    }
    free(json);
    if (!failed)
        return made;
    message_print("cannot make the page: out of memory");
    exit(EXIT_FAILED);
}

page page_make_report(const store_view *view)
{
    size_t length;
    const char *name = store_name(view->path, &length);
    return make_page(json_value_make("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o*, s:o, s:I, s:o, s:I, s:o, s:o}", "kind",
                                     "report", "version", sstore_version(), "date", page_time(), "path",
                                     shown_text(view->path, strlen(view->path)), "name", shown_text(name, length),
                                     "store", store_report_value(&view->stat), "clusters", clusters_value(view),
                                     "queries", queries_value(view->queries), "plan", plan_list_value(&view->plans),
                                     "main_segment", (long long)view->stat.metadata.largest_segment, "tables",
                                     tables_value(view), "looked_up", (long long)view->looked_up_count, "groups",
                                     groups_value(view), "block_counts",
                                     short_numbers(view->block_counts, view->block_count_count)));
}

page page_make_plans(const plan_list *plans)
{
    return make_page(json_value_make("{s:s, s:s, s:o, s:o}", "kind", "plan", "version", sstore_version(), "date",
                                     page_time(), "plan", plan_list_value(plans)));
}
