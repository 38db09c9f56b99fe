#include "report/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output/json_writer.h"
#include "output/messages.h"
#include "output/radix_form.h"
#include "report/page_text.h"

/* ----- the frame ----- */

static void exit_without_memory(void)
{
    message_print("cannot make the page: out of memory");
    exit(EXIT_FAILED);
}

/* The time of the page; reproducible builds set SOURCE_DATE_EPOCH. */
static time_t page_time(void)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    return epoch != NULL ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
}

static void begin_page(json_writer *writer, page *made, const char *kind)
{
    char date[64] = "";
    struct tm parts;
    const time_t now = page_time();
    writer->stream = open_memstream(&made->bytes, &made->size);
    if (writer->stream == NULL)
        exit_without_memory();
    if (gmtime_r(&now, &parts) != NULL)
        (void)strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &parts);
    fwrite(page_head, 1, page_head_size, writer->stream);
    json_begin(writer, NULL, '{');
    json_text(writer, "kind", kind);
    json_text(writer, "version", sstore_version());
    json_text(writer, "date", date);
}

static void end_page(json_writer *writer)
{
    json_end(writer, '}');
    fwrite(page_tail, 1, page_tail_size, writer->stream);
    const bool failed = ferror(writer->stream) != 0;
    if (fclose(writer->stream) != 0 || failed)
        exit_without_memory();
}

/* ----- parts of a store ----- */

static void write_store(json_writer *writer, const store_view *view)
{
    const sstore_statistics *store = &view->stat.metadata;
    size_t length;
    const char *last = store_name(view->path, &length);
    char *name = allocate_or_exit(length + 1, 1);
    memcpy(name, last, length);
    json_text(writer, "path", view->path);
    json_text(writer, "name", name);
    json_text(writer, "recipe", store->recipe);
    json_number(writer, "bits", store->fingerprint_bits);
    json_number(writer, "distance", store->distance);
    json_truth(writer, "ids", store->has_ids);
    json_number(writer, "records", (double)store->record_count);
    json_number(writer, "distinct", (double)store->distinct_count);
    json_number(writer, "removed", (double)store->removed_count);
    json_number(writer, "tableCount", store->table_count);
    free(name);
}

static void write_sizes(json_writer *writer, const sstore_statistics *store)
{
    json_begin(writer, "sizes", '{');
    json_number(writer, "tables", (double)store->tables_bytes);
    json_number(writer, "fingerprints", (double)store->fingerprints_bytes);
    json_number(writer, "ranks", (double)store->ranks_bytes);
    json_number(writer, "ids", (double)store->ids_bytes);
    json_number(writer, "directory", (double)store->directory_bytes);
    json_number(writer, "manifest", (double)store->manifest_bytes);
    json_number(writer, "total", (double)store->total_bytes);
    json_end(writer, '}');
}

#define MAX_SEGMENTS 50u

/* The segment with the tables, and the newest segments. */
static void write_segments(json_writer *writer, const store_view *view)
{
    const sstore_segment_statistics none = SSTORE_SEGMENT_STATISTICS_INIT;
    const uint32_t count = view->stat.metadata.segment_count;
    const sstore_segment_statistics *largest = count > 0 ? &view->stat.segments[view->main_segment].metadata : &none;
    json_number(writer, "blockBytes", largest->block_bytes);
    json_number(writer, "distinctInTables", (double)largest->distinct_count);
    json_number(writer, "segmentCount", count);
    json_begin(writer, "segments", '[');
    for (uint32_t i = count > MAX_SEGMENTS ? count - MAX_SEGMENTS : 0; i < count; i++) {
        const sstore_segment_statistics *segment = &view->stat.segments[i].metadata;
        json_begin(writer, NULL, '{');
        json_number(writer, "number", i);
        json_truth(writer, "removes", segment->is_removal);
        json_number(writer, "records", (double)segment->record_count);
        json_number(writer, "distinct", (double)segment->distinct_count);
        json_number(writer, "bytes", (double)segment->total_bytes);
        json_number(writer, "tables", segment->table_count);
        json_end(writer, '}');
    }
    json_end(writer, ']');
}

static void write_fill(json_writer *writer, const fill_report *fill)
{
    json_begin(writer, "fill", '{');
    json_number(writer, "blocks", (double)fill->block_count);
    json_number(writer, "meanUsed", fill->mean_used);
    json_number(writer, "minUsed", fill->min_used);
    json_number(writer, "meanCount", fill->mean_count);
    json_number(writer, "minCount", fill->min_count);
    json_number(writer, "maxCount", fill->max_count);
    json_end(writer, '}');
}

static void write_symbols(json_writer *writer, const sstore_table_symbols *symbols)
{
    json_begin(writer, "differences", '[');
    for (size_t i = 0; i < sizeof symbols->difference_counts / sizeof *symbols->difference_counts; i++)
        json_number(writer, NULL, (double)symbols->difference_counts[i]);
    json_end(writer, ']');
    json_begin(writer, "codeLengths", '[');
    for (size_t i = 0; i < sizeof symbols->code_lengths / sizeof *symbols->code_lengths; i++)
        json_number(writer, NULL, symbols->code_lengths[i]);
    json_end(writer, ']');
}

static void write_table(json_writer *writer, const table_view *table)
{
    const sstore_table_statistics *statistics = &table->statistics;
    json_begin(writer, NULL, '{');
    json_number(writer, "word", statistics->word);
    json_number(writer, "prefixBits", statistics->prefix_bits);
    json_number(writer, "radius", statistics->radius);
    json_number(writer, "blocks", (double)statistics->block_count);
    json_number(writer, "bytes", (double)statistics->file_bytes);
    json_number(writer, "count", table->count);
    json_number(writer, "bitsEach", statistics->bits_per_fingerprint);
    json_number(writer, "boundBitsEach", statistics->bound_bits_per_fingerprint);
    json_number(writer, "eliasFanoBitsEach", statistics->elias_fano_bits_per_fingerprint);
    json_number(writer, "riceBitsEach", statistics->rice_bits_per_fingerprint);
    write_fill(writer, &table->fill);
    write_symbols(writer, &table->symbols);
    json_end(writer, '}');
}

static void write_spread(json_writer *writer, const spread *values)
{
    json_number(writer, "median", values->median);
    json_number(writer, "p90", values->p90);
    json_number(writer, "p99", values->p99);
    json_number(writer, "max", values->max);
}

static void write_group(json_writer *writer, const table_group *group)
{
    json_begin(writer, NULL, '{');
    json_number(writer, "first", group->first);
    json_number(writer, "tables", group->table_count);
    json_number(writer, "radius", group->radius == UNKNOWN_RADIUS ? NAN : (double)group->radius);
    json_text(writer, "plan", group->plan);
    json_number(writer, "uniform", group->crowd.expected);
    write_spread(writer, &group->crowd.found);
    json_end(writer, '}');
}

static void write_tables(json_writer *writer, const store_view *view)
{
    json_begin(writer, "tables", '[');
    for (uint32_t i = 0; i < view->table_count; i++)
        write_table(writer, &view->tables[i]);
    json_end(writer, ']');
    json_number(writer, "lookedUp", (double)view->looked_up_count);
    json_begin(writer, "groups", '[');
    for (uint32_t i = 0; i < view->group_count; i++)
        write_group(writer, &view->groups[i]);
    json_end(writer, ']');
    json_begin(writer, "blockCounts", '[');
    for (size_t i = 0; i < view->block_count_count; i++)
        json_number(writer, NULL, view->block_counts[i]);
    json_end(writer, ']');
}

/* ----- queries and clusters ----- */

static void write_latency(json_writer *writer, const char *key, const latency_report *latency)
{
    json_begin(writer, key, '{');
    json_number(writer, "count", (double)latency->count);
    write_spread(writer, &latency->time);
    json_number(writer, "explained", (double)latency->explained_count);
    json_number(writer, "blocks", latency->mean_blocks);
    json_number(writer, "expectedBlocks", latency->mean_expected_blocks);
    json_number(writer, "expectedNs", latency->mean_expected_ns);
    json_begin(writer, "bins", '[');
    for (size_t i = 0; i < TIME_BINS; i++)
        json_number(writer, NULL, (double)latency->bins[i]);
    json_end(writer, ']');
    json_end(writer, '}');
}

static void write_queries(json_writer *writer, const query_report *queries)
{
    json_begin(writer, "queries", '{');
    json_number(writer, "inputs", (double)queries->given_count);
    json_number(writer, "binsPerDecade", TIME_BINS_PER_DECADE);
    write_latency(writer, "misses", &queries->misses);
    write_latency(writer, "hits", &queries->hits);
    json_end(writer, '}');
}

/* An id, or its name; an id without a name stays a number. As text, since JavaScript's numbers have 53 bits. */
static void write_id(json_writer *writer, const store_view *view, uint64_t id)
{
    char digits[24];
    size_t length = 0;
    const char *name = view->names != NULL ? view->names->find(view->names->context, id, &length) : NULL;
    snprintf(digits, sizeof digits, "%" PRIu64, id);
    json_text(writer, "id", name != NULL ? name : view->stat.metadata.has_ids ? digits : "-");
}

static void write_example(json_writer *writer, const store_view *view, const cluster_example *example)
{
    json_begin(writer, NULL, '{');
    json_number(writer, "size", (double)example->size);
    json_begin(writer, "records", '[');
    for (uint32_t i = 0; i < example->record_count; i++) {
        char fingerprint[16 * SSTORE_MAX_WORDS + 1];
        for (uint32_t j = 0; j < view->words; j++)
            (void)output_hex_string(fingerprint + 16 * (size_t)j, example->words[i][j]);
        json_begin(writer, NULL, '{');
        json_text(writer, "fingerprint", fingerprint);
        json_number(writer, "distance", example->records[i].distance);
        write_id(writer, view, example->records[i].id);
        json_end(writer, '}');
    }
    json_end(writer, ']');
    json_end(writer, '}');
}

static void write_clusters(json_writer *writer, const store_view *view)
{
    const cluster_report *clusters = view->clusters;
    json_begin(writer, "clusters", '{');
    json_truth(writer, "isSample", clusters->is_sample);
    json_number(writer, "sampled", (double)clusters->sampled_count);
    json_number(writer, "near", (double)clusters->near_count);
    json_number(writer, "count", (double)clusters->cluster_count);
    json_number(writer, "records", (double)clusters->record_count);
    json_truth(writer, "named", view->names != NULL);
    json_begin(writer, "sizes", '['); /* of sizes from 2^i on: how many clusters, and how many records in them */
    for (uint32_t i = 0; i < CLUSTER_BINS; i++) {
        json_begin(writer, NULL, '[');
        json_number(writer, NULL, (double)clusters->bins[i]);
        json_number(writer, NULL, (double)clusters->bin_records[i]);
        json_end(writer, ']');
    }
    json_end(writer, ']');
    json_begin(writer, "examples", '[');
    for (uint32_t i = 0; i < CLUSTER_EXAMPLES && clusters->examples[i].record_count > 0; i++)
        write_example(writer, view, &clusters->examples[i]);
    json_end(writer, ']');
    json_end(writer, '}');
}

/* ----- plans ----- */

static void write_plan(json_writer *writer, const sstore_plan_estimate *plan)
{
    json_begin(writer, NULL, '{');
    json_text(writer, "plan", plan->plan);
    json_number(writer, "tables", plan->table_count);
    json_number(writer, "bytesEach", plan->bytes_per_record);
    json_number(writer, "bytes", plan->total_bytes);
    json_number(writer, "warmNs", plan->warm_ns);
    json_number(writer, "coldNs", plan->cold_ns);
    json_number(writer, "blocks", plan->block_count);
    json_number(writer, "candidates", plan->candidate_count);
    json_number(writer, "minPrefixBits", plan->min_prefix_bits);
    json_number(writer, "maxPrefixBits", plan->max_prefix_bits);
    json_number(writer, "minRadius", plan->min_radius);
    json_number(writer, "maxRadius", plan->max_radius);
    json_truth(writer, "isUseful", plan->is_useful);
    json_truth(writer, "isChosen", plan->is_chosen);
    json_text(writer, "reason", plan->reason);
    json_end(writer, '}');
}

static void write_plans(json_writer *writer, const plan_list *plans)
{
    json_begin(writer, "plans", '[');
    for (size_t i = 0; i < plans->count; i++)
        write_plan(writer, &plans->items[i]);
    json_end(writer, ']');
}

/* ----- pages ----- */

page page_make_report(const store_view *view)
{
    page made = {.bytes = NULL};
    json_writer writer = {.stream = NULL};
    begin_page(&writer, &made, "report");
    write_store(&writer, view);
    write_sizes(&writer, &view->stat.metadata);
    write_clusters(&writer, view);
    if (view->queries != NULL)
        write_queries(&writer, view->queries);
    write_plans(&writer, &view->plans);
    write_segments(&writer, view);
    write_tables(&writer, view);
    end_page(&writer);
    return made;
}

page page_make_plans(const plan_list *plans, const sstore_plan_options *options)
{
    page made = {.bytes = NULL};
    json_writer writer = {.stream = NULL};
    begin_page(&writer, &made, "plan");
    json_number(&writer, "bits", options->fingerprint_bits);
    json_number(&writer, "distance", options->distance);
    json_truth(&writer, "ids", !options->without_ids);
    json_number(&writer, "records", (double)options->record_count);
    json_truth(&writer, "isSampled", options->sample_count > 0);
    write_plans(&writer, plans);
    end_page(&writer);
    return made;
}
