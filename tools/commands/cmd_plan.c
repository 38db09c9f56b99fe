/*
 * cmd_plan.c - sstore plan: compare plans before a store is built.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/similarity_option.h"
#include "output/numbers.h"
#include "output/whole_file.h"
#include "report/page.h"

typedef struct arguments {
    const char *sample;
    const char *count_given; /* -n, if given */
    const char *html;        /* a page to write, or NULL */
    bool json, all;
    sstore_plan_options plan;
    similarity similarity;
    input_options input;
} arguments;

static const option_choice objectives[] = {{"size", SSTORE_OBJECTIVE_SIZE},
                                           {"balanced", SSTORE_OBJECTIVE_BALANCED},
                                           {"latency", SSTORE_OBJECTIVE_LATENCY},
                                           {0}};
static const command_option options[] = {
    {"records", 'n', "N", "the number of records, such as 10M (default: that of --sample)", OPTION_COUNT,
     OPTION_FIELD(arguments, plan.record_count), .given = offsetof(arguments, count_given), .common = true},
    {"distance", 'k', "K", "plan for queries within K bits, up to a quarter of the bits (default 3)", OPTION_NUMBER,
     OPTION_FIELD(arguments, plan.distance), .max = MAX_BUILD_DISTANCE,
     .given = offsetof(arguments, similarity.distance_given), .common = true},
    {"objective", 0, "WHAT", "how to choose a plan: size, balanced (default) or latency", OPTION_CHOICE,
     OPTION_FIELD(arguments, plan.objective), .choices = objectives, .common = true},
    {"max-bytes", 0, "SIZE", "choose among plans that take at most SIZE", OPTION_SIZE,
     OPTION_FIELD(arguments, plan.max_bytes), .common = true},
    {"sample", 0, "FILE", "use the fingerprints in FILE as a sample, in the formats of 'sstore build'", OPTION_TEXT,
     OPTION_FIELD(arguments, sample), .common = true},
    {"no-ids", 0, NULL, "plan a store without ids", OPTION_FLAG, OPTION_FIELD(arguments, plan.no_ids)},
    {"block-size", 0, "SIZE", "bytes of a block, a power of two from 256 to 64K (default 4K)", OPTION_SIZE,
     OPTION_FIELD(arguments, plan.block_bytes)},
    {"all", 0, NULL, "also print plans that are worse than others in every respect", OPTION_FLAG,
     OPTION_FIELD(arguments, all)},
    {"html", 0, "FILE",
     "instead, write a page of HTML with a chart to FILE, which is replaced if it exists; - is standard "
     "output",
     OPTION_TEXT, OPTION_FIELD(arguments, html)},
    {"json", 0, NULL, "print one JSON object", OPTION_FLAG, OPTION_FIELD(arguments, json), .common = true},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){SIMILARITY_OPTION_GROUP(offsetof(arguments, similarity)),
                                     INPUT_OPTION_GROUP(offsetof(arguments, input)),
                                     {0}},
    .doc = "Print the size of a store of N records and the costs of its queries under each useful plan, and mark the "
           "plan that fits best. Times are estimates, only good to compare plans.",
    .notes = "The suffixes K, M, G and T are powers of 1000 in N.",
    .examples = (const command_example[]){{"compare plans for a billion records, in at most 16 GiB",
                                           "sstore plan -n 1G --max-bytes 16G"},
                                          {0}},
};

/* ----- the sample ----- */

static int read_sample(arguments *args, uint64_t **fingerprints_out)
{
    if (args->sample == NULL)
        return EXIT_DONE;
    input_shape shape = {.words = words_option(&args->input)};
    args->input.lines.ignore_ids = true;
    char *path = (char *)(uintptr_t)args->sample;
    int code = bad_rows_open(&args->input.bad, &path, 1);
    if (code == EXIT_DONE)
        code = input_read_all(path, &args->input, &shape, fingerprints_out, &args->plan.sample_count);
    code = end_inputs(&args->input, false, code);
    if (shape.words > 0)
        args->plan.fingerprint_bits = 64 * shape.words;
    args->plan.sample = *fingerprints_out;
    if (args->count_given != NULL || code != EXIT_DONE)
        return code;
    args->plan.record_count = args->plan.sample_count;
    return args->plan.sample_count > 0
               ? EXIT_DONE
               : message_print("%s: the sample is empty; give the number of records with -n", args->sample);
}

/* ----- the plans ----- */

typedef struct plan_report {
    const arguments *arguments;
    plan_list plans;
} plan_report;

/* ----- text ----- */

static const char *range_text(char text[16], uint32_t min, uint32_t max)
{
    snprintf(text, 16, min == max ? "%" PRIu32 : "%" PRIu32 "-%" PRIu32, min, max);
    return text;
}

#define NAME_WIDTH_ON_TERMINAL 20 /* so that both tables fit 80 columns */

/* What tells plans apart. On a terminal, sizes and times have a table of their own before what a query reads. */
typedef enum plan_columns { PLAN_ALL, PLAN_COSTS, PLAN_WORK } plan_columns;

/* How much of a name fits into this many columns: all of it, or up to a comma. */
static int name_part(const char *name, int width)
{
    const int length = (int)strlen(name);
    int part = width;
    while (length > width && part > 0 && name[part - 1] != ',')
        part--;
    return length > width && part > 0 ? part : length;
}

static void print_plan(const sstore_plan_estimate *plan, int name_width, plan_columns columns)
{
    char prefix[16], radius[16];
    const char *name = plan->plan;
    int part = name_part(name, name_width);
    output_text("%c %-*.*s", plan->is_chosen ? '*' : ' ', name_width, part, name);
    if (columns != PLAN_COSTS)
        output_text("  %6" PRIu32 "  %6s  %6s", plan->table_count,
                    range_text(prefix, plan->min_prefix_bits, plan->max_prefix_bits),
                    range_text(radius, plan->min_radius, plan->max_radius));
    if (columns != PLAN_WORK)
        output_text("  %10.2f  %8s  %9s", plan->bytes_per_record, number_scaled(plan->total_bytes, byte_units).text,
                    number_scaled(plan->directory_bytes, byte_units).text);
    if (columns != PLAN_COSTS && plan->is_full_scan)
        output_text("  %9s", "full scan");
    else if (columns != PLAN_COSTS)
        output_text("  %9.0f", plan->probe_count);
    if (columns != PLAN_COSTS)
        output_text("  %8.1f  %10.0f", plan->block_count, plan->candidate_count);
    if (columns != PLAN_WORK)
        output_text("  %8s  %8s", number_scaled(plan->warm_ns, time_units).text,
                    number_scaled(plan->cold_ns, time_units).text);
    output_text("\n");
    for (name += part; *name != '\0'; name += part) {
        part = name_part(name, name_width);
        output_text("  %.*s\n", part, name);
    }
}

static void print_plans_table(const plan_list *plans, int width, plan_columns columns)
{
    output_text("  %-*s", width, "plan");
    if (columns != PLAN_COSTS)
        output_text("  %6s  %6s  %6s", "tables", "prefix", "radius");
    if (columns != PLAN_WORK)
        output_text("  %10s  %8s  %9s", "bytes each", "bytes", "directory");
    if (columns != PLAN_COSTS)
        output_text("  %9s  %8s  %10s", "probes", "blocks", "candidates");
    if (columns != PLAN_WORK)
        output_text("  %8s  %8s", "warm", "cold");
    output_text("\n");
    for (size_t i = 0; i < plans->count; i++)
        print_plan(&plans->items[i], width, columns);
}

static void print_text(const plan_report *report)
{
    const plan_list *plans = &report->plans;
    int width = (int)strlen("plan"); /* of the longest name */
    for (size_t i = 0; i < plans->count; i++)
        width = (int)strlen(plans->items[i].plan) > width ? (int)strlen(plans->items[i].plan) : width;
    if (output_is_terminal() && width > NAME_WIDTH_ON_TERMINAL)
        width = NAME_WIDTH_ON_TERMINAL;
    print_plans_table(plans, width, output_is_terminal() ? PLAN_COSTS : PLAN_ALL);
    if (output_is_terminal()) {
        output_text("\nWhat a query reads\n");
        print_plans_table(plans, width, PLAN_WORK);
    }
    for (size_t i = 0; i < plans->count; i++)
        if (plans->items[i].is_chosen)
            output_text("\n* %s: %s.\n", plans->items[i].plan, plans->items[i].reason);
}

/* ----- HTML ----- */

static int write_html(const plan_report *report)
{
    const page made = page_make_plans(&report->plans);
    const int code = whole_file_write(report->arguments->html, made.bytes, made.size);
    free(made.bytes);
    return code;
}

static int print_plans(const arguments *args)
{
    plan_report report = {.arguments = args};
    int code = plan_list_make(&report.plans, &args->plan, args->all || args->html != NULL);
    if (code == EXIT_DONE && args->html != NULL)
        code = write_html(&report);
    else if (code == EXIT_DONE && args->json)
        code = output_json(plan_list_value(&report.plans)) ? EXIT_DONE : EXIT_FAILED;
    else if (code == EXIT_DONE)
        print_text(&report);
    free(report.plans.items);
    return code;
}

int cmd_plan(int argc, char **argv)
{
    arguments args = {.plan = SSTORE_PLAN_OPTIONS_INIT, .input = INPUT_OPTIONS_INIT};
    uint64_t *sample = NULL;
    args.plan.distance = SSTORE_DEFAULT_DISTANCE;
    args.plan.fingerprint_bits = 64;
    (void)command_line_parse(&syntax, argc, argv, &args);
    if (args.count_given == NULL && args.sample == NULL)
        message_usage_error("expected -n, the number of records, or --sample");
    if (args.html != NULL && args.json)
        message_usage_error("--html and --json cannot be combined");
    if (args.input.bits > 0)
        args.plan.fingerprint_bits = 64 * words_option(&args.input);
    int code = read_sample(&args, &sample);
    if (code == EXIT_DONE)
        code = similarity_to_distance(&args.similarity, args.plan.fingerprint_bits, &args.plan.distance);
    if (code == EXIT_DONE)
        code = check_build_distance(args.plan.distance, args.plan.fingerprint_bits / 64);
    if (code == EXIT_DONE)
        code = print_plans(&args);
    free(sample);
    return code;
}
