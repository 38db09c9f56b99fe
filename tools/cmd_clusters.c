/*
 * cmd_clusters.c - sstore clusters: the groups of records that near pairs connect.
 */
#include "cmd.h"
#include "join_arguments.h"

enum { KEY_REPRESENTATIVES = 0x200, KEY_DROP, KEY_SINGLES };

/* What is printed. */
typedef enum selection { ALL_RECORDS, REPRESENTATIVES, OTHERS } selection;

typedef struct arguments {
    const char *store;
    join_arguments join;
    selection selected;
    bool with_singles;
} arguments;

static const struct argp_option argp_options[] = {
    {"representatives", KEY_REPRESENTATIVES, NULL, 0, "print only what to keep: a record of each cluster, and all records "
                                                      "that nothing is near, as lines of fingerprint and id", 0},
    {"drop", KEY_DROP, NULL, 0, "print only what to throw away: the other records, in the same form", 0},
    {"singles", KEY_SINGLES, NULL, 0, "print records that nothing is near, too, as clusters of one", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &all->join;
        return 0;
    case KEY_REPRESENTATIVES:
    case KEY_DROP:
        if (all->selected != ALL_RECORDS)
            cmd_usage_error("--representatives and --drop exclude each other");
        all->selected = key == KEY_DROP ? OTHERS : REPRESENTATIVES;
        return 0;
    case KEY_SINGLES:
        all->with_singles = true;
        return 0;
    default:
        return cmd_parse_store(key, argument, &all->store);
    }
}

static const struct argp_child children[] = {{&join_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = argp_options,
    .parser = parse,
    .args_doc = "STORE",
    .doc = "Print the clusters of STORE, the groups of records that are connected by pairs within the distance, as lines of "
           "cluster size, fingerprint, id, and distance to the cluster's representative. A cluster's lines come together, as "
           "many as its size says, and the representative, the record with the least id, is the first."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
    .children = children,
};

/* How records are printed. */
typedef struct printer {
    output_style style;
    selection selected;
} printer;

static int print_record(void *context, const sstore_cluster_record *record)
{
    const printer *how = context;
    const sstore_record plain = {.fingerprint = record->fingerprint, .id = record->id};
    if (how->selected == ALL_RECORDS)
        return !output_cluster_record(&how->style, record);
    if ((how->selected == REPRESENTATIVES) != (record->is_representative != 0))
        return 0;
    return how->style.json ? !output_cluster_record(&how->style, record) : !output_record(how->style.has_ids, &plain);
}

int cmd_clusters(int argc, char **argv)
{
    arguments all = {.join = JOIN_ARGUMENTS_INIT};
    printer how;
    sstore *store = NULL;
    sstore_error error;
    cmd_parse(&argp, argc, argv, &all);
    if (all.with_singles && all.selected == OTHERS)
        cmd_usage_error("--singles and --drop exclude each other: a record that nothing is near is to be kept");
    how.selected = all.selected;
    int code = join_open(all.store, &all.join, &store, &how.style);
    if (code == EXIT_DONE) {
        const sstore_join_options options = join_begin(&all.join);
        const bool with_singles = all.with_singles || all.selected == REPRESENTATIVES;
        sstore_status status = sstore_clusters(store, &options, with_singles, print_record, &how, &error);
        code = join_end(all.store, status, &error);
    }
    sstore_close(store);
    return code;
}
