/*
 * plan_text.c - the estimates of plans for people: a line each, side by side.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "output.h"
#include "plan_report.h"

/* Three figures and a unit, each a thousand times the one before. */
static const char *scaled(char text[16], double value, const char *const *units)
{
    while (value >= 999.5 && units[1] != NULL) {
        value /= 1000;
        units++;
    }
    snprintf(text, 16, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, *units);
    return text;
}

static const char *bytes_text(char text[16], double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", NULL};
    return scaled(text, bytes, units);
}

static const char *time_text(char text[16], double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};
    return scaled(text, ns, units);
}

static const char *range_text(char text[16], uint32_t least, uint32_t most)
{
    snprintf(text, 16, least == most ? "%" PRIu32 : "%" PRIu32 "-%" PRIu32, least, most);
    return text;
}

static int widest_name(const plan_report *report)
{
    size_t widest = strlen("plan");
    for (size_t i = 0; i < report->count; i++) {
        size_t length = strlen(report->plans[i].plan);
        widest = length > widest ? length : widest;
    }
    return (int)widest;
}

static void print_plan(const sstore_plan_estimate *plan, int name_width)
{
    char prefix[16], radius[16], total[16], memory[16], warm[16], cold[16];
    output_text("%c %-*s  %6" PRIu32 "  %6s  %6s  %10.2f  %8s  %9s", plan->chosen ? '*' : ' ', name_width, plan->plan,
                plan->table_count, range_text(prefix, plan->least_prefix_bits, plan->most_prefix_bits),
                range_text(radius, plan->least_radius, plan->most_radius), plan->bytes_each,
                bytes_text(total, plan->total_bytes), bytes_text(memory, plan->directory_bytes));
    if (plan->scans)
        output_text("  %7s", "scan");
    else
        output_text("  %7.0f", plan->probe_count);
    output_text("  %8.1f  %10.0f  %8s  %8s\n", plan->block_count, plan->candidate_count, time_text(warm, plan->warm_ns),
                time_text(cold, plan->cold_ns));
}

int plan_print_text(const plan_report *report)
{
    int width = widest_name(report);
    output_text("  %-*s  %6s  %6s  %6s  %10s  %8s  %9s  %7s  %8s  %10s  %8s  %8s\n", width, "plan", "tables", "prefix",
                "radius", "bytes each", "bytes", "directory", "probes", "blocks", "candidates", "warm", "cold");
    for (size_t i = 0; i < report->count; i++)
        print_plan(&report->plans[i], width);
    for (size_t i = 0; i < report->count; i++)
        if (report->plans[i].chosen)
            output_text("\n* %s: %s.\n", report->plans[i].plan, report->plans[i].reason);
    return EXIT_DONE;
}
