#include "commands/query_explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/messages.h"
#include "output/output.h"
#include "sstore_statistics.h"

typedef struct explanation {
    sstore_table_explanation total; /* of all tables so far */
    uint64_t tables;
    uint32_t segment; /* of the last table, at first UINT32_MAX */
    bool with_words;  /* also tell which word of the fingerprints a table has */
} explanation;

/* Print an estimate as a whole number, or with a decimal place if it is small. */
static void print_expected(int width, double value)
{
    output_text("  %*.*f", width, value < 9.95 ? 1 : 0, value);
}

/* The counts behind the radius of a table, and below them what was expected, behind the key mask. */
static void print_counts(const sstore_table_explanation *self, bool with_words, const char *key_mask)
{
    output_text("  %8" PRIu64 "  %8" PRIu64 "  %10" PRIu64 "  %5" PRIu64 "\n", self->probe_count, self->block_count,
                self->candidate_count, self->hit_count);
    output_text("%*s%-25s  expected", with_words ? 14 : 8, "", key_mask);
    print_expected(8, self->expected_block_count);
    print_expected(10, self->expected_candidate_count);
    output_text("\n");
}

static void print_table(const sstore_table_explanation *table, bool with_words)
{
    char radius[16], key_mask[32];
    output_text("%7" PRIu32 "  ", table->segment);
    if (table->word == UINT32_MAX) {
        output_text("%4s  %5s  %6s  %9s", "all", "-", "-", "full scan");
        print_counts(table, with_words, "");
        return;
    }
    if (with_words)
        output_text("%4" PRIu32 "  ", table->word);
    snprintf(radius, sizeof radius, "%" PRId32, table->radius);
    snprintf(key_mask, sizeof key_mask, "key mask %016" PRIx64, table->key_mask);
    output_text("%5" PRIu32 "  %6" PRIu32 "  %9s", table->table, table->prefix_bits,
                table->is_full_scan ? "full scan"
                : table->radius < 0 ? "-"
                                    : radius);
    print_counts(table, with_words, key_mask);
}

static void add_to_total(explanation *to, const sstore_table_explanation *table)
{
    const bool is_first = table->segment != to->segment;
    to->segment = table->segment;
    to->tables += table->word != UINT32_MAX;
    to->total.probe_count += table->probe_count;
    to->total.expected_block_count += table->expected_block_count;
    to->total.block_count += table->block_count;
    to->total.expected_candidate_count += table->expected_candidate_count;
    to->total.candidate_count += table->candidate_count;
    to->total.hit_count += table->hit_count;
    if (!is_first)
        return; /* the first table has the times of all tables of its segment */
    to->total.is_full_scan |= table->is_full_scan;
    to->total.probe_ns += table->probe_ns;
    to->total.full_scan_ns += table->full_scan_ns;
}

static int print_and_add(void *context, const sstore_table_explanation *table)
{
    explanation *to = context;
    print_table(table, to->with_words);
    add_to_total(to, table);
    return 0;
}

static void print_total(const explanation *self)
{
    const sstore_table_explanation *total = &self->total;
    output_text("%7s  %s%5" PRIu64 "  %6s  %9s", "total", self->with_words ? "      " : "", self->tables, "", "");
    print_counts(total, self->with_words, "");
    if (total->is_full_scan)
        output_text("\nUsed a full scan, which takes about %.0f us.\n"
                    "The probes for this distance would take %.0f us or more.\n",
                    total->full_scan_ns / 1e3, total->probe_ns / 1e3);
    else
        output_text("\nUsed probes, which take about %.0f us; a full scan takes about %.0f us.\n",
                    total->probe_ns / 1e3, total->full_scan_ns / 1e3);
}

int query_explain(sstore_cursor *cursor, const uint64_t *query, uint32_t words, uint32_t distance)
{
    sstore_error error;
    explanation total = {.segment = UINT32_MAX, .with_words = words > 1};
    output_text("%7s  %s%5s  %6s  %9s  %8s  %8s  %10s  %5s\n", "segment", total.with_words ? "word  " : "", "table",
                "prefix", "radius", "probes", "blocks", "candidates", "hits");
    if (sstore_explain(cursor, query, distance, print_and_add, &total, &error) != SSTORE_OK)
        return message_error(&error);
    print_total(&total);
    return EXIT_DONE;
}
