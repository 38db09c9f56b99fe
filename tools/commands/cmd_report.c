/*
 * cmd_report.c - sstore report: a page of HTML that shows how large a store is, why, and how fast.
 */
#include <stdlib.h>
#include <string.h>

#include "commands/cmd.h"
#include "input/interrupt.h"
#include "input/padding.h"
#include "input/skew.h"
#include "output/walk.h"
#include "output/whole_file.h"
#include "report/page.h"

typedef enum cluster_search { CLUSTERS_BY_SIZE, CLUSTERS_ALL, CLUSTERS_SAMPLE } cluster_search;

typedef struct arguments {
    task_arguments task;
    const char *output, *queries;
    cluster_search clusters;
    sstore_open_options open;
    input_options input;
} arguments;

static const option_choice cluster_searches[] = {{"all", CLUSTERS_ALL}, {"sample", CLUSTERS_SAMPLE}, {0}};
static const command_option options[] = {
    {"output", 'o', "FILE", "write the page to FILE, which is replaced if it exists; - is standard output", OPTION_TEXT,
     OPTION_FIELD(arguments, output), .common = true},
    {"queries", 0, "FILE", "also time the queries in FILE, in the formats of 'sstore build'", OPTION_TEXT,
     OPTION_FIELD(arguments, queries), .common = true},
    {"clusters", 0, "WHICH",
     "all (default up to about a million records of 64 bits): find all near-duplicates, as 'sstore clusters' does; "
     "sample: look at some records only",
     OPTION_CHOICE, OPTION_FIELD(arguments, clusters), .choices = cluster_searches, .value_is_optional = true,
     .common = true},
    {"memory", 0, "SIZE", "memory limit of --clusters, not counting the open store (default 1G)", OPTION_SIZE,
     OPTION_FIELD(arguments, task.options.memory_bytes)},
    {"tmp-dir", 0, "DIR", "folder for data of --clusters that does not fit in memory (default: TMPDIR or STORE)",
     OPTION_TEXT, OPTION_FIELD(arguments, task.options.tmp_dir)},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){THREAD_OPTION_GROUP(offsetof(arguments, task)),
                                     RUN_OPTION_GROUPS(offsetof(arguments, task)),
                                     INPUT_OPTION_GROUP(offsetof(arguments, input)),
                                     {0}},
    .operands = "STORE",
    .doc = "Write a page of HTML with charts: the near-duplicates, then the sizes of the parts of STORE, its tables, "
           "blocks and prefixes, and its plan among the alternatives. The page needs no other files and "
           "fetches nothing.",
    .examples = (const command_example[]){{"also time some queries, and find the clusters",
                                           "sstore report pages.store -o pages.html --queries new.txt --clusters"},
                                          {0}},
};

/* Show progress, and stop after a signal. */
static int show_progress(const char *phase, uint64_t done, uint64_t total)
{
    progress_show(phase, done, total, (double)done / (double)total);
    return interrupted();
}

static int time_queries(arguments *args, store_view *view, const sstore *store)
{
    uint64_t *queries = NULL;
    size_t count = 0;
    input_shape shape = {.words = sstore_fingerprint_bits(store) / 64};
    if (args->queries == NULL)
        return EXIT_DONE;
    int code = store_check_bits(view->path, &view->stat.metadata, &args->input);
    if (code != EXIT_DONE)
        return code;
    args->input.lines.ignore_ids = true;
    store_expect_recipe(&args->input, view->path);
    store_expect_padding(view->stat.metadata.recipe, &args->input.lines, &shape);
    char *path = (char *)(uintptr_t)args->queries;
    code = bad_rows_open(&args->input.bad, &path, 1);
    if (code == EXIT_DONE)
        code = input_read_all(path, &args->input, &shape, &queries, &count);
    code = end_inputs(&args->input, args->task.quiet, code);
    if (code == EXIT_DONE)
        code = view_time_queries(view, store, queries, count, show_progress);
    free(queries);
    return code;
}

/* Without the option, comparing all must not take longer than the rest of the report. */
#define MAX_COMPARED 1000000.0

static bool finds_all(const arguments *args, const store_view *view)
{
    const double words = view->words, records = (double)view->stat.metadata.record_count;
    return args->clusters == CLUSTERS_BY_SIZE ? records * words * words <= MAX_COMPARED
                                              : args->clusters == CLUSTERS_ALL;
}

static int find_clusters(const arguments *args, store_view *view, const sstore *store)
{
    const sstore_write_options *task = &args->task.options;
    const sstore_cluster_options cluster = {.struct_size = sizeof cluster,
                                            .distance = SSTORE_OWN_DISTANCE,
                                            .threads = task->threads,
                                            .memory_bytes = task->memory_bytes,
                                            .tmp_dir = task->tmp_dir,
                                            .on_progress = task->on_progress};
    sstore_error error;
    view->clusters = allocate_or_exit(1, sizeof *view->clusters);
    view->clusters->distance = view->stat.metadata.distance;
    view->clusters->words = view->words;
    if (!finds_all(args, view))
        return view_sample_near(view, store, show_progress);
    return message_status(walk_clusters(store, &cluster, view_take_cluster, view->clusters, &error), &error);
}

#define RECORD_BATCH ((size_t)4096)

/* Look at the fingerprints of all records. */
static int look_at_records(const arguments *args, const store_view *view, const sstore *store)
{
    const uint32_t words = sstore_fingerprint_bits(store) / 64;
    uint64_t *fingerprints = allocate_or_exit(RECORD_BATCH * words, sizeof *fingerprints);
    const sstore_columns columns = {.struct_size = sizeof columns, .fingerprint = fingerprints};
    const char *rest;
    skew seen = {.words = 0};
    sstore_iterator *iterator;
    sstore_error error;
    size_t count = 1;
    sstore_status status = sstore_iterate_records(store, &iterator, &error);
    while (status == SSTORE_OK && count > 0 && !interrupted()) {
        status = sstore_iterator_next(iterator, &columns, RECORD_BATCH, &count, &error);
        if (status == SSTORE_OK)
            skew_look(&seen, fingerprints, words, count);
    }
    sstore_iterator_free(iterator);
    free(fingerprints);
    if (status == SSTORE_OK && !args->task.quiet && !interrupted())
        skew_report(&seen, view->path, padding_of_recipe(view->stat.metadata.recipe, &rest));
    skew_free(&seen);
    return message_status(status, &error);
}

/* Find out everything. A signal makes the steps return early. Their shares of the progress are rough: clusters take
 * long. */
static int find_out(arguments *args, store_view *view, const sstore *store)
{
    int code = view_read_metadata(view, store);
    const double own_part = code == EXIT_DONE && finds_all(args, view) ? 0.3 : 0.8;
    progress_part(0, own_part * 0.2);
    if (code == EXIT_DONE)
        code = view_read_blocks(view, store, show_progress);
    progress_part(own_part * 0.2, own_part * 0.6);
    if (code == EXIT_DONE)
        code = view_sample(view, store, show_progress);
    progress_part(own_part * 0.6, own_part * 0.8);
    if (code == EXIT_DONE)
        code = view_measure_crowds(view, show_progress);
    if (code == EXIT_DONE)
        code = view_make_plans(view);
    if (code == EXIT_DONE)
        code = look_at_records(args, view, store);
    progress_part(own_part * 0.8, own_part);
    if (code == EXIT_DONE)
        code = time_queries(args, view, store);
    progress_part(own_part, 1);
    return code == EXIT_DONE ? find_clusters(args, view, store) : code;
}

static int write_page(const arguments *args, const store_view *view)
{
    const page made = page_make_report(view);
    int code = view->names != NULL ? stored_names_exit_code(view->names, EXIT_DONE) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = whole_file_write(args->output, made.bytes, made.size);
    free(made.bytes);
    return code;
}

int cmd_report(int argc, char **argv)
{
    arguments args = {.task = TASK_ARGUMENTS_INIT, .open = SSTORE_OPEN_OPTIONS_INIT, .input = INPUT_OPTIONS_INIT};
    store_view view = STORE_VIEW_INIT;
    sstore_statistics metadata = {.has_ids = 0};
    sstore *store = NULL;
    stored_names names = {.code = EXIT_DONE};
    view.path = operands_only_store(command_line_parse(&syntax, argc, argv, &args));
    if (args.output == NULL)
        message_usage_error("expected -o FILE, the page to write; - is standard output");
    char *queries = (char *)(uintptr_t)args.queries;
    int code = queries == NULL ? EXIT_DONE : input_check_all(&queries, 1, &args.input);
    if (code == EXIT_DONE)
        code = store_open(view.path, &args.open, &store, &metadata);
    if (code == EXIT_DONE)
        code = stored_names_open(&names, store, view.path, false, &view.names);
    if (code == EXIT_DONE) {
        task_begin_reading(&args.task);
        code = find_out(&args, &view, store);
        progress_end();
        if (interrupted()) {
            message_print("%s: interrupted; no page was written", view.path);
            code = interrupt_exit_code();
        }
    }
    if (code == EXIT_DONE)
        code = write_page(&args, &view);
    stored_names_close(&names);
    sstore_close(store);
    view_free(&view);
    return code;
}
