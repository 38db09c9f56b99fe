/*
 * cmd_join.c - sstore pairs, clusters and join: near records within a store or between two stores; and the components
 * of edges that any program found.
 */
#include "commands/cmd.h"
#include "commands/exclude_option.h"
#include "commands/similarity_option.h"
#include "input/input_measure.h"
#include "input/interrupt.h"
#include "output/walk.h"

typedef struct arguments {
    task_arguments task;
    uint32_t distance; /* or SSTORE_OWN_DISTANCE */
    similarity similarity;
    bool json;
    header_mode header;
    bool representatives, drop, singles; /* for clusters, as the next one */
    const char *edges;                   /* an input; NULL: the clusters of a store */
    bad_rows bad;                        /* of edges */
    exclusion excluded;
} arguments;

static const command_option options[] = {
    {"json", 0, NULL, "print one JSON object per line", OPTION_FLAG, OPTION_FIELD(arguments, json), .common = true},
    {"memory", 0, "SIZE", "memory limit, not counting open stores (default 1G; enforced from 64M up)", OPTION_SIZE,
     OPTION_FIELD(arguments, task.options.memory_bytes)},
    {0},
};
/* For one store, and for two. */
static const command_option one_store_options[] = {
    {"distance", 'k', "D", "near means within D bits, up to a quarter of the bits (default: the store's distance)",
     OPTION_NUMBER, OPTION_FIELD(arguments, distance), .max = MAX_BUILD_DISTANCE,
     .given = offsetof(arguments, similarity.distance_given), .common = true},
    {"tmp-dir", 0, "DIR", "folder for data that does not fit in memory (default: TMPDIR if it is set, otherwise STORE)",
     OPTION_TEXT, OPTION_FIELD(arguments, task.options.tmp_dir)},
    {0},
};
static const command_option two_store_options[] = {
    {"distance", 'k', "D",
     "near means within D bits, up to a quarter of the bits (default: the smaller one of the stores' distances)",
     OPTION_NUMBER, OPTION_FIELD(arguments, distance), .max = MAX_BUILD_DISTANCE,
     .given = offsetof(arguments, similarity.distance_given), .common = true},
    {"tmp-dir", 0, "DIR", "folder for data that does not fit in memory (default: TMPDIR if it is set, otherwise A)",
     OPTION_TEXT, OPTION_FIELD(arguments, task.options.tmp_dir)},
    {0},
};
#define JOIN_OPTION_GROUPS                                                                                             \
    SIMILARITY_OPTION_GROUP(offsetof(arguments, similarity)), OPTION_GROUP(options, 0),                                \
        EXCLUSION_OPTION_GROUP(offsetof(arguments, excluded)), HEADER_OPTION_GROUP(offsetof(arguments, header)),       \
        THREAD_OPTION_GROUP(offsetof(arguments, task)), RUN_OPTION_GROUPS(offsetof(arguments, task))

/* A store, and how its records are printed. Begins zeroed, and ends with side_close(). */
typedef struct side {
    const char *path;
    sstore *store; /* NULL: the other side's */
    output_style style;
    stored_names names;
} side;

/* Returns an exit code. */
static int side_open(side *self, const char *path, arguments *args)
{
    sstore_statistics metadata;
    self->path = path;
    int code = store_open(path, NULL, &self->store, &metadata);
    if (code == EXIT_DONE)
        code = similarity_of_recipe(&args->similarity, path, metadata.recipe, metadata.fingerprint_bits,
                                    &args->distance);
    if (code == EXIT_DONE && args->distance != SSTORE_OWN_DISTANCE)
        code = check_build_distance(args->distance, metadata.fingerprint_bits / 64);
    self->style = (output_style){.json = args->json,
                                 .tells_similarity = args->similarity.text != NULL,
                                 .has_ids = metadata.has_ids,
                                 .words = metadata.fingerprint_bits / 64};
    if (code == EXIT_DONE)
        code = exclusion_read(&args->excluded, self->style.words);
    return code != EXIT_DONE ? code
                             : stored_names_open(&self->names, self->store, path, args->json, &self->style.names);
}

static void side_close(side *self)
{
    stored_names_close(&self->names);
    sstore_close(self->store);
}

/* Begin to show progress. Returns the options of the join. */
static sstore_join_options begin_join(arguments *args)
{
    sstore_join_options taken = SSTORE_JOIN_OPTIONS_INIT;
    task_begin_reading(&args->task);
    const sstore_write_options *task = &args->task.options;
    taken.distance = args->distance;
    taken.threads = task->threads;
    taken.memory_bytes = task->memory_bytes;
    taken.tmp_dir = task->tmp_dir;
    taken.on_progress = task->on_progress;
    taken.excluded = args->excluded.fingerprints;
    taken.excluded_count = args->excluded.count;
    taken.excluded_distance = args->excluded.distance;
    return taken;
}

/* Report how the join of the store at `path` ended. Returns the exit code. */
static int end(const arguments *args, const char *path, sstore_status status, const sstore_error *error)
{
    /* The callback stopped the join because stdout failed. output_close() will report that. */
    if (status == SSTORE_STOPPED && !interrupted())
        return EXIT_FAILED;
    if (status == SSTORE_STOPPED)
        return task_end(path, "the results are incomplete", status, error);
    return task_end_write(&args->task, path, status, error);
}

static const char *pair_columns(const output_style *right)
{
    return right->names == NULL ? "fingerprint\tid\tother_fingerprint\tother_id\tdistance"
                                : "fingerprint\tid\tother_fingerprint\tother_name\tdistance";
}

/* A reader that pauses may block each line for long, so none begins after a signal. */
static int print_pair(void *context, const sstore_pair *pair)
{
    const side *sides = context;
    return interrupted() || !output_pair(&sides[0].style, &sides[1].style, pair);
}

/* Print the pairs of both sides. Returns an exit code. */
static int print_pairs(arguments *args, side sides[2])
{
    sstore_error error;
    side *left = &sides[0], *right = &sides[1];
    output_head(&left->style, args->header, pair_columns(&right->style));
    right->style.aligned = left->style.aligned;
    const sstore_join_options how = begin_join(args);
    const walk_names names = {stored_names_expect, left->style.names, right->style.names};
    const sstore_status status = walk_named_pairs(left->store, right->store, &how, &names, print_pair, sides, &error);
    const int code = end(args, left->path, status, &error);
    return stored_names_exit_code(&left->names, stored_names_exit_code(&right->names, code));
}

/* ----- sstore pairs ----- */

static const command_syntax pairs_syntax = {
    .options = one_store_options,
    .groups = (const option_group[]){JOIN_OPTION_GROUPS, {0}},
    .operands = "STORE",
    .doc =
        "Print every pair of near records of STORE once, as a line of fingerprint, id, fingerprint, id and distance. "
        "The lower record comes first. Records with equal fingerprints are also pairs.",
    .examples = (const command_example[]){{"write all near pairs of a store to a file",
                                           "sstore pairs -k 3 pages.store > pairs.tsv"},
                                          {0}},
};

int cmd_pairs(int argc, char **argv)
{
    arguments args = {.task = TASK_ARGUMENTS_INIT, .distance = SSTORE_OWN_DISTANCE};
    side sides[2] = {{.path = NULL}};
    const char *path = operands_only_store(command_line_parse(&pairs_syntax, argc, argv, &args));
    output_set_failure_mark(args.json ? NULL : OUTPUT_FAILURE_LINE);
    int code = side_open(&sides[0], path, &args);
    sides[1].style = sides[0].style;
    if (code == EXIT_DONE && sides[0].style.names != NULL)
        code = stored_names_open(&sides[1].names, sides[0].store, path, args.json, &sides[1].style.names);
    if (code == EXIT_DONE)
        code = print_pairs(&args, sides);
    side_close(&sides[1]);
    side_close(&sides[0]);
    exclusion_free(&args.excluded);
    return code;
}

/* ----- sstore join ----- */

static const command_syntax join_syntax = {
    .options = two_store_options,
    .groups = (const option_group[]){JOIN_OPTION_GROUPS, {0}},
    .operands = "A B",
    .doc =
        "Print every pair of a record of store A and a near record of store B once, as a line of fingerprint and id in "
        "A, fingerprint and id in B, and distance. The stores must have the same recipe.",
    .examples = (const command_example[]){{"find the pages of today that are near those of yesterday",
                                           "sstore join yesterday.store today.store > again.tsv"},
                                          {0}},
};

int cmd_join(int argc, char **argv)
{
    arguments args = {.task = TASK_ARGUMENTS_INIT, .distance = SSTORE_OWN_DISTANCE};
    side sides[2] = {{.path = NULL}};
    const operands given = command_line_parse(&join_syntax, argc, argv, &args);
    operands_check(given, 2, "two stores, A and B");
    int code = side_open(&sides[0], given.items[0], &args);
    if (code == EXIT_DONE)
        code = side_open(&sides[1], given.items[1], &args);
    if (code == EXIT_DONE)
        code = print_pairs(&args, sides);
    side_close(&sides[0]);
    side_close(&sides[1]);
    exclusion_free(&args.excluded);
    return code;
}

/* ----- sstore clusters ----- */

static const command_option cluster_options[] = {
    {"edges", 0, "FILE",
     "instead of a store, read lines of two decimal numbers, or a .rec file; - is standard input. Print each number "
     "after the smallest one that is connected with it",
     OPTION_TEXT, OPTION_FIELD(arguments, edges), .common = true},
    {"representatives", 0, NULL, "print only the records to keep: fingerprint and id", OPTION_FLAG,
     OPTION_FIELD(arguments, representatives), .common = true},
    {"drop", 0, NULL, "print only the records to remove: fingerprint and id", OPTION_FLAG,
     OPTION_FIELD(arguments, drop), .common = true},
    {"singles", 0, NULL, "also print records without near-duplicates, as clusters of one", OPTION_FLAG,
     OPTION_FIELD(arguments, singles), .common = true},
    {0},
};
static const command_syntax clusters_syntax = {
    .options = cluster_options,
    .groups = (const option_group[]){OPTION_GROUP(one_store_options, 0),
                                     BAD_ROW_OPTION_GROUP(offsetof(arguments, bad)),
                                     JOIN_OPTION_GROUPS,
                                     {0}},
    .operands = "STORE\n--edges=FILE",
    .doc = "Print the clusters of STORE: the groups of records that near pairs connect. A line has the size of the "
           "cluster, fingerprint, id, and the distance to the first record of the cluster, which has the smallest id.",
    .examples = (const command_example[]){{"list the records to remove, so that one of each cluster stays",
                                           "sstore clusters --drop pages.store > drop.tsv"},
                                          {0}},
};

/* How records are printed. */
typedef struct cluster_printer {
    const arguments *args;
    side from;
} cluster_printer;

static const char *cluster_columns(const arguments *args)
{
    return args->representatives || args->drop ? "fingerprint\tid" : "size\tfingerprint\tid\tdistance\tcluster";
}

static const char *component_columns(const arguments *args)
{
    return args->representatives || args->drop ? "node" : "smallest\tnode";
}

static int print_cluster_record(void *context, const cluster_record *record)
{
    const cluster_printer *how = context;
    const bool is_selected = record->is_representative ? !how->args->drop : !how->args->representatives;
    if (!is_selected)
        return 0;
    if (interrupted()) /* as print_pair() */
        return 1;
    if (how->from.style.json || (!how->args->representatives && !how->args->drop))
        return !output_cluster_record(&how->from.style, record);
    return !output_record(&how->from.style, record->fingerprint, record->id);
}

/* ----- sstore clusters --edges ----- */

#define COMPONENT_BATCH 4096u

#define READING_EDGES_PART 0.5 /* of the command, about */

typedef struct edge_reader {
    sstore_components *components;
    uint64_t count;
} edge_reader;

static int add_edges(void *context, const record_batch *batch)
{
    edge_reader *self = context;
    sstore_error error;
    self->count += batch->count;
    progress_show_reading(self->count, 0, READING_EDGES_PART);
    return message_status(sstore_components_add(self->components, batch->fingerprints, batch->ids, batch->count,
                                                &error),
                          &error);
}

/* Print each component's smallest node, the others, or both in a line. */
static sstore_status print_components(const arguments *args, const output_style *style, sstore_components *components,
                                      sstore_error *error)
{
    uint64_t nodes[COMPONENT_BATCH], smallest[COMPONENT_BATCH];
    size_t count = 0;
    sstore_status status;
    do {
        status = sstore_components_next(components, nodes, smallest, COMPONENT_BATCH, &count, error);
        for (size_t i = 0; i < count; i++) {
            const bool is_selected = nodes[i] == smallest[i] ? !args->drop : !args->representatives;
            if (is_selected && (interrupted() ||
                                !output_component(style, !args->representatives && !args->drop, smallest[i], nodes[i])))
                return SSTORE_STOPPED;
        }
    } while (status == SSTORE_OK && count > 0);
    return status;
}

static int cluster_edges(arguments *args)
{
    output_style style = {.json = args->json, .has_ids = true, .words = 1};
    sstore_components_options how = SSTORE_COMPONENTS_OPTIONS_INIT;
    input_options input = INPUT_OPTIONS_INIT;
    edge_reader reader = {.count = 0};
    sstore_error error;
    input_shape shape = {.ids = INPUT_IDS_PRESENT, .words = 1};
    char *path = (char *)(uintptr_t)args->edges;
    input.lines.are_edges = true;
    input.max_window_bits = input_window_bits(args->task.options.memory_bytes);
    input.bad_rows = &args->bad;
    int code = input_check_all(&path, 1, &input);
    if (code == EXIT_DONE)
        code = bad_rows_open(&args->bad, &path, 1);
    if (code != EXIT_DONE)
        return code;
    task_begin_reading(&args->task);
    how.threads = args->task.options.threads;
    how.memory_bytes = args->task.options.memory_bytes;
    how.tmp_dir = args->task.options.tmp_dir;
    how.on_progress = args->task.options.on_progress;
    sstore_status status = sstore_components_create(&how, &reader.components, &error);
    if (status != SSTORE_OK)
        return end(args, args->edges, status, &error);
    input_measure_begin(&path, 1);
    output_head(&style, args->header, component_columns(args));
    code = bad_rows_end(&args->bad, input_read(args->edges, &input, &shape, add_edges, &reader));
    progress_after_reading(READING_EDGES_PART, 1);
    if (code == EXIT_DONE) {
        status = print_components(args, &style, reader.components, &error);
        code = end(args, args->edges, status, &error);
    }
    sstore_components_free(reader.components);
    return code;
}

int cmd_clusters(int argc, char **argv)
{
    arguments args = {.task = TASK_ARGUMENTS_INIT, .distance = SSTORE_OWN_DISTANCE, .bad = BAD_ROWS_INIT};
    cluster_printer how = {.args = &args};
    sstore_error error;
    const operands given = command_line_parse(&clusters_syntax, argc, argv, &args);
    if (args.representatives && args.drop)
        message_usage_error("--representatives and --drop cannot be combined");
    if (args.singles && args.drop)
        message_usage_error(
            "--singles and --drop cannot be combined: --drop never prints records without near-duplicates");
    if (args.edges != NULL) {
        operands_check(given, 0, "--edges FILE");
        if (args.singles || args.distance != SSTORE_OWN_DISTANCE || args.excluded.path != NULL)
            message_usage_error("--singles, --distance and --exclude need a store, not --edges");
        return cluster_edges(&args);
    }
    if (bad_rows_skip(&args.bad))
        message_usage_error("--skip-bad and --max-bad need --edges: a store has no bad rows");
    const char *path = operands_only_store(given);
    int code = side_open(&how.from, path, &args);
    if (code == EXIT_DONE) {
        output_head(&how.from.style, args.header, cluster_columns(&args));
        const sstore_join_options join = begin_join(&args);
        const sstore_cluster_options cluster = {.struct_size = sizeof cluster,
                                                .distance = join.distance,
                                                .threads = join.threads,
                                                .with_singles = args.singles || args.representatives,
                                                .memory_bytes = join.memory_bytes,
                                                .tmp_dir = join.tmp_dir,
                                                .on_progress = join.on_progress,
                                                .excluded = join.excluded,
                                                .excluded_count = join.excluded_count,
                                                .excluded_distance = join.excluded_distance};
        const walk_names names = {.expect = stored_names_expect, .names = how.from.style.names};
        sstore_status status = walk_named_clusters(how.from.store, &cluster, &names, print_cluster_record, &how,
                                                   &error);
        code = stored_names_exit_code(&how.from.names, end(&args, path, status, &error));
    }
    side_close(&how.from);
    exclusion_free(&args.excluded);
    return code;
}
