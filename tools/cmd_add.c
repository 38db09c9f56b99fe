/*
 * cmd_add.c - sstore add: add records to a store, all of them or those that are new.
 */
#include "add_new.h"
#include "arguments.h"

enum { KEY_IF_NEW = 0x200, KEY_PUBLISH_EVERY, KEY_LIMIT, KEY_JSON, KEY_COMPACT };

typedef struct arguments {
    store_arguments store;
    bool if_new;
    const char *of_if_new; /* an option that goes with it, if there is one */
    add_new_options new;
} arguments;

static const struct argp_option argp_options[] = {
    {"if-new", KEY_IF_NEW, NULL, 0, "add only records that none is near, in STORE or before them in the input; print the "
                                    "matches of the others", 0},
    {"distance", 'k', "D", 0, "with --if-new: near is what lies within D bits, 0 to 16 (default: STORE's distance)", 0},
    {"publish-every", KEY_PUBLISH_EVERY, "N", 0, "with --if-new: let readers see what is new whenever it is N records", 0},
    {"limit", KEY_LIMIT, "N", 0, "with --if-new: print at most N matches of each record, the nearest; 1: one line each", 0},
    {"json", KEY_JSON, NULL, 0, "with --if-new: print JSON objects, one a line", 0},
    {"compact", KEY_COMPACT, NULL, 0, "then do as 'sstore compact --tiered'", 0},
    {0}};

static error_t parse_option(int key, char *argument, arguments *all)
{
    switch (key) {
    case KEY_IF_NEW:
        all->if_new = true;
        return 0;
    case KEY_COMPACT:
        all->new.compact = true;
        return 0;
    case 'k':
        all->of_if_new = "-k";
        all->new.distance = (uint32_t)argument_number("-k", argument, 0, SSTORE_MAX_BUILD_DISTANCE);
        return 0;
    case KEY_PUBLISH_EVERY:
        all->of_if_new = "--publish-every";
        all->new.publish_every = argument_number("--publish-every", argument, 1, UINT64_MAX);
        return 0;
    case KEY_LIMIT:
        all->of_if_new = "--limit";
        all->new.limit = argument_number("--limit", argument, 1, UINT64_MAX);
        return 0;
    case KEY_JSON:
        if (!output_has_json())
            cmd_usage_error("--json: this sstore was built without the jansson library");
        all->of_if_new = "--json";
        all->new.json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    arguments *all = state->input;
    if (key == ARGP_KEY_END && !all->if_new && all->of_if_new != NULL)
        cmd_usage_error("%s goes with --if-new only", all->of_if_new);
    error_t known = parse_option(key, argument, all);
    return known == ARGP_ERR_UNKNOWN ? store_arguments_parse(key, state, &all->store) : known;
}

static const struct argp_child children[] = {
    {&segment_argp, 0, NULL, 0}, {&input_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = argp_options,
    .parser = parse,
    .args_doc = "STORE [INPUT...]",
    .doc = "Add the records in all INPUTs, as 'sstore build' reads them, to STORE; - or no INPUT is stdin. They become a "
           "segment of their own, which readers see at once and as a whole when all is done. Records that STORE has "
           "already are not added again. Without ids, a record's id is the store's next ordinal. 'sstore compact' makes "
           "one segment of many, which queries take less time for."
           "\vSizes take the suffixes K, M, G and T, powers of 1024.",
    .children = children,
};

/* Compact by tiers; nothing is said of it unless it fails. */
static int compact(store_arguments *store)
{
    sstore_error error;
    store->build.options.change = NULL;
    sstore_status status =
        sstore_compact(store->operands.store, SSTORE_COMPACT_TIERS, &store->build.options, &error);
    return build_arguments_check(store->operands.store, status, &error);
}

int cmd_add(int argc, char **argv)
{
    arguments all = {.store = STORE_ARGUMENTS_INIT, .new = {.distance = SSTORE_OWN_DISTANCE, .limit = UINT64_MAX}};
    cmd_parse(&argp, argc, argv, &all);
    if (all.if_new)
        return add_new(&all.store, &all.new);
    int code = build_store(STORE_ADD, &all.store);
    return code == EXIT_DONE && all.new.compact ? compact(&all.store) : code;
}
