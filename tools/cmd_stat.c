/*
 * cmd_stat.c - sstore stat: what a store holds and how large its parts are.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "cmd.h"
#include "output.h"
#include "stat_report.h"

enum { KEY_JSON = 0x200 };

typedef struct stat_arguments {
    const char *store;
    bool json;
} stat_arguments;

static const struct argp_option options[] = {{"json", KEY_JSON, NULL, 0, "print one JSON object", 0}, {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    stat_arguments *arguments = state->input;
    if (key != KEY_JSON)
        return cmd_parse_store(key, argument, &arguments->store);
    if (!output_has_json())
        cmd_usage_error("--json: this sstore was built without the jansson library");
    arguments->json = true;
    return 0;
}

static const struct argp_child children[] = {CMD_COMMON_CHILD, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "STORE",
    .doc = "Print what STORE holds, and the sizes of its tables, ids and directory, beside what other codings would "
           "take.",
    .children = children,
};

static sstore_status read_tables(const sstore *store, uint32_t number, segment_report *segment, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = 0; i < segment->facts.table_count && status == SSTORE_OK; i++) {
        segment->tables[i].struct_size = sizeof *segment->tables;
        status = sstore_stat_table(store, number, i, &segment->tables[i], error);
    }
    return status;
}

static int read_segments(const sstore *store, store_report *report)
{
    sstore_error error;
    report->segments = cmd_allocate(report->facts.segment_count, sizeof *report->segments);
    for (uint32_t i = 0; i < report->facts.segment_count; i++) {
        segment_report *segment = &report->segments[i];
        segment->facts.struct_size = sizeof segment->facts;
        if (sstore_stat_segment(store, i, &segment->facts, &error) != SSTORE_OK)
            return cmd_fail(&error);
        segment->tables = cmd_allocate(segment->facts.table_count, sizeof *segment->tables);
        if (read_tables(store, i, segment, &error) != SSTORE_OK)
            return cmd_fail(&error);
    }
    return EXIT_DONE;
}

static int print_report(const sstore *store, bool json)
{
    sstore_error error;
    store_report report = {.facts.struct_size = sizeof report.facts};
    if (sstore_stat(store, &report.facts, &error) != SSTORE_OK)
        return cmd_fail(&error);
    int code = read_segments(store, &report);
    if (code == EXIT_DONE)
        code = json ? stat_print_json(&report) : stat_print_text(&report);
    for (uint32_t i = 0; i < report.facts.segment_count; i++)
        free(report.segments[i].tables);
    free(report.segments);
    return code;
}

int cmd_stat(int argc, char **argv)
{
    stat_arguments arguments = {0};
    cmd_parse(&argp, argc, argv, &arguments);
    sstore *store;
    sstore_error error;
    if (sstore_open(arguments.store, NULL, &store, &error) != SSTORE_OK)
        return cmd_fail(&error);
    int code = print_report(store, arguments.json);
    sstore_close(store);
    return code;
}
