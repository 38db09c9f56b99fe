/* query_times.c - times the queries of a report, one after the other on one thread, as a caller of sstore_query()
 * would see them; and explains some of them. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "output/messages.h"
#include "report/store_view.h"

#define MAX_EXPLAINED 2000u

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int count_match(void *context, const sstore_match *match)
{
    (void)match;
    ++*(uint64_t *)context;
    return 0;
}

/* The work of one query. */
typedef struct query_work {
    double blocks, expected_blocks, expected_ns;
    uint32_t tables, segment; /* the number of tables so far, and the segment of the last one */
} query_work;

static int add_table(void *context, const sstore_table_explanation *table)
{
    query_work *work = context;
    const bool is_first = work->tables++ == 0 || table->segment != work->segment;
    work->segment = table->segment;
    work->blocks += (double)table->block_count;
    work->expected_blocks += table->expected_block_count;
    if (is_first) /* it has the times of its segment */
        work->expected_ns += table->is_full_scan ? table->full_scan_ns : table->probe_ns;
    return 0;
}

static void add_work(latency_report *to, const query_work *work)
{
    const double count = (double)++to->explained_count;
    to->mean_blocks += (work->blocks - to->mean_blocks) / count;
    to->mean_expected_blocks += (work->expected_blocks - to->mean_expected_blocks) / count;
    to->mean_expected_ns += (work->expected_ns - to->mean_expected_ns) / count;
}

static int time_query(query_report *view, sstore_cursor *cursor, uint32_t distance, const uint64_t *query,
                      bool explained)
{
    sstore_error error;
    uint64_t match_count = 0;
    query_work work = {0};
    const double begin = now_ns();
    if (sstore_query(cursor, query, distance, count_match, &match_count, &error) != SSTORE_OK)
        return message_error(&error);
    const double time = now_ns() - begin;
    latency_report *to = match_count > 0 ? &view->hits : &view->misses;
    to->times[to->count++] = time;
    if (!explained)
        return EXIT_DONE;
    if (sstore_explain(cursor, query, distance, add_table, &work, &error) != SSTORE_OK)
        return message_error(&error);
    add_work(to, &work);
    return EXIT_DONE;
}

static void summarise(latency_report *latency)
{
    if (latency->count > 0)
        latency->time = spread_of(latency->times, latency->count);
    for (uint64_t i = 0; i < latency->count; i++) {
        const double bin = log10(fmax(latency->times[i], 1)) * TIME_BINS_PER_DECADE;
        latency->bins[bin < TIME_BINS ? (size_t)bin : TIME_BINS - 1]++;
    }
}

int view_time_queries(store_view *view, const sstore *store, const uint64_t *queries, size_t count,
                      view_progress_fn on_progress)
{
    const size_t timed = count < MAX_TIMED ? count : MAX_TIMED;
    const size_t explain_every = timed / MAX_EXPLAINED + 1;
    query_report *to = allocate_or_exit(1, sizeof *to);
    sstore_cursor *cursor = NULL;
    sstore_error error;
    view->queries = to;
    to->given_count = count;
    to->misses.times = allocate_or_exit(timed, sizeof *to->misses.times);
    to->hits.times = allocate_or_exit(timed, sizeof *to->hits.times);
    int code = message_status(sstore_cursor_create(store, &cursor, &error), &error);
    for (size_t i = 0; i < timed && code == EXIT_DONE; i++) {
        const uint64_t *query = queries + (size_t)((double)i * (double)count / (double)timed) * view->words;
        code = time_query(to, cursor, view->stat.metadata.distance, query, i % explain_every == 0);
        if (code == EXIT_DONE && i % 16 == 0 && on_progress("timing", i, timed) != 0)
            code = EXIT_FAILED;
    }
    sstore_cursor_free(cursor);
    summarise(&to->misses);
    summarise(&to->hits);
    return code;
}
