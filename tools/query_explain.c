/*
 * query_explain.c - the tables of one query, predicted and counted, for people.
 */
#include "query_explain.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd.h"
#include "output.h"

typedef struct explanation {
    sstore_table_explanation total; /* of all tables so far */
    uint64_t tables;
} explanation;

/* Estimates are printed as whole numbers, small ones with a digit. */
static void print_expected(double value)
{
    output_text("  %12.*f", value < 9.95 ? 1 : 0, value);
}

static void print_counts(const sstore_table_explanation *of)
{
    output_text("  %8" PRIu64, of->probe_count);
    print_expected(of->expected_block_count);
    output_text("  %11" PRIu64, of->block_count);
    print_expected(of->expected_candidate_count);
    output_text("  %11" PRIu64 "  %8" PRIu64 "\n", of->candidate_count, of->match_count);
}

static void print_table(const sstore_table_explanation *table)
{
    char radius[16];
    snprintf(radius, sizeof radius, "%" PRId32, table->radius);
    output_text("%7" PRIu64 "  %5" PRIu32 "  %016" PRIx64 "  %6" PRIu32 "  %6s", table->segment, table->table,
                table->key_mask, table->prefix_bits,
                table->scanned      ? "scan"
                : table->radius < 0 ? "-"
                                    : radius);
    print_counts(table);
}

static void add_to_total(explanation *to, const sstore_table_explanation *table)
{
    to->tables++;
    to->total.probe_count += table->probe_count;
    to->total.expected_block_count += table->expected_block_count;
    to->total.block_count += table->block_count;
    to->total.expected_candidate_count += table->expected_candidate_count;
    to->total.candidate_count += table->candidate_count;
    to->total.match_count += table->match_count;
    if (table->table > 0)
        return; /* the two times are the segment's */
    to->total.scanned |= table->scanned;
    to->total.probe_ns += table->probe_ns;
    to->total.scan_ns += table->scan_ns;
}

static int print_and_add(void *context, const sstore_table_explanation *table)
{
    explanation *to = context;
    print_table(table);
    add_to_total(to, table);
    return 0;
}

static void print_heading(void)
{
    output_text("%7s  %5s  %-16s  %6s  %6s  %8s  %12s  %11s  %12s  %11s  %8s\n", "segment", "table", "key bits",
                "prefix", "radius", "probes", "blocks about", "blocks read", "tests about", "tested", "matches");
}

static void print_total(const explanation *of)
{
    const sstore_table_explanation *total = &of->total;
    output_text("%7s  %5" PRIu64 "  %-16s  %6s  %6s", "total", of->tables, "", "", "");
    print_counts(total);
    if (total->scanned)
        output_text("\nScanned a whole table, which takes about %.0f us; the probes for this distance would take %.0f "
                    "us or more.\n",
                    total->scan_ns / 1e3, total->probe_ns / 1e3);
    else
        output_text("\nProbed, which takes about %.0f us; to scan a whole table takes about %.0f us.\n",
                    total->probe_ns / 1e3, total->scan_ns / 1e3);
}

int query_explain(query_session *session, uint64_t query)
{
    sstore_error error;
    explanation all = {.tables = 0};
    print_heading();
    if (sstore_explain(session->cursor, query, session->distance, print_and_add, &all, &error) != SSTORE_OK)
        return cmd_fail(&error);
    print_total(&all);
    return EXIT_DONE;
}
