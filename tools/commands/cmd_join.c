/*
 * cmd_join.c - sstore pairs, clusters and join: records that are near each other, in a store or in two.
 */
#include "commands/cmd.h"
#include "input/interrupt.h"

typedef struct arguments {
    task_arguments task; /* what it may take */
    uint32_t distance;   /* or SSTORE_OWN_DISTANCE */
    bool json;
    bool representatives, drop, singles; /* of clusters */
} arguments;

#define ARGUMENTS_INIT                                                                                                 \
    {                                                                                                                  \
        TASK_ARGUMENTS_INIT, SSTORE_OWN_DISTANCE, false, false, false, false                                           \
    }

static const command_option options[] = {
    {"distance", 'k', "D", "near is what lies within D bits, 0 to 16 (default: the distance of the store)",
     OPTION_NUMBER, OPTION_FIELD(arguments, distance), .max = SSTORE_MAX_BUILD_DISTANCE},
    {"json", 0, NULL, "print JSON objects, one a line", OPTION_JSON, OPTION_FIELD(arguments, json)},
    {0},
};

/* Open a store to join it, and choose how its records are printed. Returns an exit code. */
static int open_store(const char *path, const arguments *all, sstore **store_out, output_style *style_out)
{
    sstore_statistics metadata;
    int code = store_open(path, NULL, store_out, &metadata);
    *style_out = (output_style){.json = all->json, .has_ids = metadata.has_ids};
    return code;
}

/* Begin to show progress. */
static sstore_join_options begin(arguments *all)
{
    sstore_join_options taken = SSTORE_JOIN_OPTIONS_INIT;
    task_begin_reading(&all->task);
    const sstore_build_options *task = &all->task.options;
    taken.distance = all->distance;
    taken.threads = task->threads;
    taken.memory_bytes = task->memory_bytes;
    taken.tmp_dir = task->tmp_dir;
    taken.on_progress = task->on_progress;
    return taken;
}

/* What to do after the join of the store at `path`. Returns the exit code. */
static int end(const char *path, sstore_status status, const sstore_error *error)
{
    /* The callback stops the join if stdout fails. output_close() reports that at the end of the process. */
    if (status == SSTORE_STOPPED && !interrupted())
        return EXIT_FAILED;
    return task_end(path, status, error);
}

/* How the two records of a pair are printed. */
typedef struct pair_styles {
    output_style left, right;
} pair_styles;

static int print_pair(void *context, const sstore_pair *pair)
{
    const pair_styles *styles = context;
    return !output_pair(&styles->left, &styles->right, pair);
}

/* ----- sstore pairs ----- */

static const command_syntax pairs_syntax = {
    .options = options,
    .groups = (const option_group[]){TASK_OPTION_GROUPS(offsetof(arguments, task)), {0}},
    .operands = "STORE",
    .doc = "Print every pair of records of STORE within the distance once, the lower one first, as lines of "
           "fingerprint, id, fingerprint, id and distance. Records with equal fingerprints are also pairs."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
};

int cmd_pairs(int argc, char **argv)
{
    arguments all = ARGUMENTS_INIT;
    pair_styles styles;
    sstore *store = NULL;
    sstore_error error;
    const char *path = operands_only_store(command_line_parse(&pairs_syntax, argc, argv, &all));
    int code = open_store(path, &all, &store, &styles.left);
    if (code == EXIT_DONE) {
        const sstore_join_options how = begin(&all);
        styles.right = styles.left;
        sstore_status status = sstore_pairs(store, &how, print_pair, &styles, &error);
        code = end(path, status, &error);
    }
    sstore_close(store);
    return code;
}

/* ----- sstore join ----- */

static const command_syntax join_syntax = {
    .options = options,
    .groups = (const option_group[]){TASK_OPTION_GROUPS(offsetof(arguments, task)), {0}},
    .operands = "A B",
    .doc = "Print every pair of a record of store A and one of store B within the distance once, as lines of "
           "fingerprint and id in A, fingerprint and id in B, and distance. The stores must be of the same recipe. "
           "Without -k the distance is the smaller one of those that the stores were built for."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
};

int cmd_join(int argc, char **argv)
{
    arguments all = ARGUMENTS_INIT;
    pair_styles styles;
    sstore *left = NULL, *right = NULL;
    sstore_error error;
    const operands given = command_line_parse(&join_syntax, argc, argv, &all);
    operands_check(given, 2, "two stores, A and B", "two stores, A and B");
    int code = open_store(given.items[0], &all, &left, &styles.left);
    if (code == EXIT_DONE)
        code = open_store(given.items[1], &all, &right, &styles.right);
    if (code == EXIT_DONE) {
        const sstore_join_options how = begin(&all);
        sstore_status status = sstore_join(left, right, &how, print_pair, &styles, &error);
        code = end(given.items[0], status, &error);
    }
    sstore_close(left);
    sstore_close(right);
    return code;
}

/* ----- sstore clusters ----- */

static const command_option cluster_options[] = {
    {"representatives", 0, NULL,
     "print only what to keep: a record of each cluster, and all records "
     "that nothing is near, as lines of fingerprint and id",
     OPTION_FLAG, OPTION_FIELD(arguments, representatives)},
    {"drop", 0, NULL, "print only the records to throw away: all but the representatives, as fingerprint and id", OPTION_FLAG,
     OPTION_FIELD(arguments, drop)},
    {"singles", 0, NULL, "also print records without neighbours, as clusters of one", OPTION_FLAG,
     OPTION_FIELD(arguments, singles)},
    {0},
};
static const command_syntax clusters_syntax = {
    .options = cluster_options,
    .groups = (const option_group[]){{options, 0, NULL, NULL}, TASK_OPTION_GROUPS(offsetof(arguments, task)), {0}},
    .operands = "STORE",
    .doc = "Print the clusters of STORE, the groups of records that are connected by pairs within the distance, as "
           "lines of cluster size, fingerprint, id, and distance to the cluster's representative. A cluster's lines "
           "come together, as many as its size says, and the representative, the record with the least id, is the "
           "first."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
};

/* How records are printed. */
typedef struct cluster_printer {
    const arguments *all;
    output_style style;
} cluster_printer;

static int print_cluster_record(void *context, const sstore_cluster_record *record)
{
    const cluster_printer *how = context;
    const sstore_record plain = {.fingerprint = record->fingerprint, .id = record->id};
    const bool is_selected = record->is_representative != 0 ? !how->all->drop : !how->all->representatives;
    if (!is_selected)
        return 0;
    if (how->style.json || (!how->all->representatives && !how->all->drop))
        return !output_cluster_record(&how->style, record);
    return !output_record(how->style.has_ids, &plain);
}

int cmd_clusters(int argc, char **argv)
{
    arguments all = ARGUMENTS_INIT;
    cluster_printer how = {.all = &all};
    sstore *store = NULL;
    sstore_error error;
    const operands given = command_line_parse(&clusters_syntax, argc, argv, &all);
    if (all.representatives && all.drop)
        message_usage_error("--representatives and --drop exclude each other");
    const char *path = operands_only_store(given);
    if (all.singles && all.drop)
        message_usage_error("--singles and --drop exclude each other: a record that nothing is near is to be kept");
    int code = open_store(path, &all, &store, &how.style);
    if (code == EXIT_DONE) {
        const sstore_join_options join = begin(&all);
        const bool with_singles = all.singles || all.representatives;
        sstore_status status = sstore_clusters(store, &join, with_singles, print_cluster_record, &how, &error);
        code = end(path, status, &error);
    }
    sstore_close(store);
    return code;
}
