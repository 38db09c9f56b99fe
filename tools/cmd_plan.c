/*
 * cmd_plan.c - sstore plan: which tables to build, before there is a store.
 */
#include <stdlib.h>

#include "arguments.h"
#include "cmd.h"
#include "input.h"
#include "output.h"
#include "plan_report.h"

enum { KEY_OBJECTIVE = 0x200, KEY_MAX_BYTES, KEY_SAMPLE, KEY_NO_IDS, KEY_BLOCK_SIZE, KEY_JSON, KEY_ALL };

typedef struct plan_arguments {
    bool has_count;
    const char *sample;
    bool json, all;
    sstore_plan_options plan;
    input_options input;
} plan_arguments;

static const struct argp_option options[] = {
    {"records", 'n', "N", 0, "how many records there will be, such as 10M; with --sample: as many as it has", 0},
    {"distance", 'k', "K", 0, "the distance to build for, 0 to 16 (default 3)", 0},
    {"objective", KEY_OBJECTIVE, "WHAT", 0, "size, balanced (the default) or latency", 0},
    {"max-bytes", KEY_MAX_BYTES, "SIZE", 0, "the most that the store may take", 0},
    {"sample", KEY_SAMPLE, "FILE", 0, "fingerprints like those to come, in the formats of 'sstore build'", 0},
    {"no-ids", KEY_NO_IDS, NULL, 0, "for a store without ids", 0},
    {"block-size", KEY_BLOCK_SIZE, "SIZE", 0, "a power of two from 256 to 64K (default 4K)", 0},
    {"all", KEY_ALL, NULL, 0, "print also the plans that others outdo", 0},
    {"json", KEY_JSON, NULL, 0, "print one JSON object", 0},
    {0}};

static sstore_objective parse_objective(const char *text)
{
    static const char *const names[] = {"balanced", "size", "latency", NULL};
    return (sstore_objective)argument_choice("--objective", text, names, "'size', 'balanced' or 'latency'");
}

static error_t parse_option(int key, char *argument, plan_arguments *arguments)
{
    sstore_plan_options *plan = &arguments->plan;
    switch (key) {
    case 'n':
        plan->record_count = argument_count("-n", argument);
        arguments->has_count = true;
        return 0;
    case 'k': plan->distance = (uint32_t)argument_number("-k", argument, 0, SSTORE_MAX_BUILD_DISTANCE); return 0;
    case KEY_OBJECTIVE: plan->objective = parse_objective(argument); return 0;
    case KEY_MAX_BYTES: plan->max_bytes = argument_size("--max-bytes", argument); return 0;
    case KEY_SAMPLE: arguments->sample = argument; return 0;
    case KEY_NO_IDS: plan->has_ids = 0; return 0;
    case KEY_BLOCK_SIZE: plan->block_bytes = argument_block_size("--block-size", argument); return 0;
    case KEY_ALL: arguments->all = true; return 0;
    case KEY_JSON:
        if (!output_has_json())
            cmd_usage_error("--json: this sstore was built without the jansson library");
        arguments->json = true;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    plan_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->input; return 0;
    case ARGP_KEY_ARG: cmd_usage_error("'%s' is one operand too many: expected none", argument);
    case ARGP_KEY_END:
        if (!arguments->has_count && arguments->sample == NULL)
            cmd_usage_error("expected -n or --sample: how many records there will be");
        return 0;
    default: return parse_option(key, argument, arguments);
    }
}

static const struct argp_child children[] = {{&input_argp, 0, NULL, 0}, CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc =
        "Print what a store of N records would take under each plan that is of use, and its queries, and mark the one "
        "that suits. Times are estimates, to compare plans by."
        "\vCounts take the suffixes K, M, G and T, powers of 1000; sizes take them as powers of 1024.",
    .children = children,
};

/* ----- the sample ----- */

static int read_sample(plan_arguments *arguments, uint64_t **fingerprints_out)
{
    if (arguments->sample == NULL)
        return EXIT_DONE;
    arguments->input.lines.ignore_ids = true;
    int code = input_read_all(arguments->sample, &arguments->input, fingerprints_out, &arguments->plan.sample_count);
    arguments->plan.sample = *fingerprints_out;
    if (!arguments->has_count)
        arguments->plan.record_count = arguments->plan.sample_count;
    return code;
}

/* ----- the plans ----- */

typedef struct collection {
    plan_report report;
    bool all;
} collection;

static int keep_plan(void *context, const sstore_plan_estimate *estimate)
{
    collection *to = context;
    if (!to->all && !estimate->useful)
        return 0;
    sstore_plan_estimate *grown = reallocarray(to->report.plans, to->report.count + 1, sizeof *grown);
    if (grown == NULL)
        return 1;
    to->report.plans = grown;
    grown[to->report.count++] = *estimate;
    return 0;
}

static int print_plans(const plan_arguments *arguments)
{
    sstore_error error;
    collection plans = {.report.options = &arguments->plan, .all = arguments->all};
    int code;
    sstore_status status = sstore_plan(&arguments->plan, keep_plan, &plans, &error);
    if (status == SSTORE_STOPPED) {
        cmd_complain("out of memory");
        code = EXIT_FAILED;
    } else if (status != SSTORE_OK) {
        code = cmd_fail(&error);
    } else {
        code = arguments->json ? plan_print_json(&plans.report) : plan_print_text(&plans.report);
    }
    free(plans.report.plans);
    return code;
}

int cmd_plan(int argc, char **argv)
{
    plan_arguments arguments = {.plan = SSTORE_PLAN_OPTIONS_INIT, .input = INPUT_OPTIONS_INIT};
    uint64_t *sample = NULL;
    cmd_parse(&argp, argc, argv, &arguments);
    int code = read_sample(&arguments, &sample);
    if (code == EXIT_DONE)
        code = print_plans(&arguments);
    free(sample);
    return code;
}
