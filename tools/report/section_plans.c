/* section_plans.c - plans as points of size and time: those of a store, or of a comparison. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/messages.h"
#include "report/chart.h"
#include "report/page.h"
#include "report/sections.h"

/* Whether all words have the radius and the number of tables that compared plans have. */
static bool has_equal_words(const store_view *view)
{
    for (uint32_t i = 0; i < view->group_count && view->words > 1; i++)
        if (view->groups[i].radius != (int32_t)(view->stat.metadata.distance / view->words) ||
            view->groups[i].table_count != view->groups[0].table_count)
            return false;
    return true;
}

own_plan own_plan_of(const store_view *view)
{
    own_plan own = {.bytes_per_record = (double)view->stat.metadata.total_bytes /
                                        (double)view->stat.metadata.record_count,
                    .table_count = has_equal_words(view) ? view->table_count / view->words : 0,
                    .min_prefix_bits = UINT32_MAX,
                    .min_radius = UINT32_MAX};
    for (uint32_t i = 0; i < view->table_count; i++) {
        const sstore_table_statistics *table = &view->tables[i].statistics;
        own.min_prefix_bits = table->prefix_bits < own.min_prefix_bits ? table->prefix_bits : own.min_prefix_bits;
        own.max_prefix_bits = table->prefix_bits > own.max_prefix_bits ? table->prefix_bits : own.max_prefix_bits;
        own.min_radius = table->radius < own.min_radius ? table->radius : own.min_radius;
        own.max_radius = table->radius > own.max_radius ? table->radius : own.max_radius;
    }
    return own;
}

static bool is_own(const sstore_plan_estimate *plan, const own_plan *own)
{
    return own != NULL && plan->table_count == own->table_count && plan->min_prefix_bits == own->min_prefix_bits &&
           plan->max_prefix_bits == own->max_prefix_bits && plan->min_radius == own->min_radius &&
           plan->max_radius == own->max_radius;
}

/* The store's plan; NULL if it is not among them. */
static const sstore_plan_estimate *find_own(const plan_list *plans, const own_plan *own)
{
    for (size_t i = 0; i < plans->count; i++)
        if (is_own(&plans->items[i], own))
            return &plans->items[i];
    return NULL;
}

static const sstore_plan_estimate *find_chosen(const plan_list *plans)
{
    for (size_t i = 0; i < plans->count; i++)
        if (plans->items[i].is_chosen)
            return &plans->items[i];
    return NULL;
}

/* ----- the chart ----- */

/* Plans that are far slower or larger than the chosen one would press the others together. */
#define MAX_TIMES_LARGER 4.0
#define MAX_TIMES_SLOWER 1000.0

static bool is_near(const sstore_plan_estimate *plan, const sstore_plan_estimate *chosen)
{
    return chosen == NULL || (plan->bytes_per_record <= chosen->bytes_per_record * MAX_TIMES_LARGER &&
                              plan->warm_ns <= chosen->warm_ns * MAX_TIMES_SLOWER);
}

static chart_point point_of(const sstore_plan_estimate *plan)
{
    return (chart_point){.x = plan->bytes_per_record,
                         .y = plan->warm_ns,
                         .class = plan->is_useful ? "p0" : "p1",
                         .name = plan->plan,
                         .on_line = plan->is_useful};
}

/* Add labelled points for the chosen plan and the store; returns their number. */
static size_t add_labelled(chart_point *points, const plan_list *plans, const own_plan *own)
{
    const sstore_plan_estimate *chosen = find_chosen(plans), *same = find_own(plans, own);
    size_t count = 0;
    if (chosen != NULL) {
        points[count++] = (chart_point){.x = chosen->bytes_per_record,
                                        .y = chosen->warm_ns,
                                        .class = "p0",
                                        .name = "chosen",
                                        .labelled = true,
                                        .label_below = true};
    }
    if (own != NULL && same != NULL) {
        points[count++] = (chart_point){
            .x = own->bytes_per_record, .y = same->warm_ns, .class = "p2", .name = "this store", .labelled = true};
    }
    return count;
}

static void draw_plans(html *page, const plan_list *plans, const own_plan *own)
{
    const sstore_plan_estimate *chosen = find_chosen(plans);
    chart_point *points = allocate_or_exit(plans->count + 2, sizeof *points);
    size_t count = 0;
    double max_bytes = 1, min_ns = INFINITY, max_ns = 1;
    for (size_t i = 0; i < plans->count; i++)
        if (is_near(&plans->items[i], chosen))
            points[count++] = point_of(&plans->items[i]);
    count += add_labelled(points + count, plans, own);
    for (size_t i = 0; i < count; i++) {
        max_bytes = fmax(max_bytes, points[i].x);
        min_ns = fmin(min_ns, points[i].y);
        max_ns = fmax(max_ns, points[i].y);
    }
    const chart_axis across = chart_linear(max_bytes, html_tick);
    const chart_axis up = chart_log(fmax(fmin(min_ns, max_ns), 1), max_ns, html_time_tick);
    chart_points(page,
                 &(chart_words){"plan-chart", "Plans by size and time", "The table below has the plans on the line.",
                                "bytes per record"},
                 points, count, &across, &up);
    free(points);
}

/* ----- the table ----- */

#define MAY_BREAK "<wbr>"
#define BREAKABLE_BYTES (sizeof((sstore_plan_estimate *)NULL)->plan * sizeof MAY_BREAK)

/* A plan that may be broken into lines between its groups. */
static const char *breakable(const char *plan, char text[BREAKABLE_BYTES])
{
    char *end = text;
    for (; *plan != '\0'; plan++) {
        *end++ = *plan;
        if (*plan == ',' || *plan == '/')
            end = stpcpy(end, MAY_BREAK);
    }
    *end = '\0';
    return text;
}

static void write_plan(html *page, const sstore_plan_estimate *plan, const own_plan *own)
{
    char text[BREAKABLE_BYTES], name[BREAKABLE_BYTES + 60];
    snprintf(name, sizeof name, "<code>%s</code>%s%s", breakable(plan->plan, text), plan->is_chosen ? " (chosen)" : "",
             is_own(plan, own) ? " (this store)" : "");
    page_row(page,
             (const char *const[]){name, html_count(plan->table_count).text, html_fixed(plan->bytes_per_record, 2).text,
                                   html_bytes(plan->total_bytes).text, html_time(plan->warm_ns).text,
                                   html_time(plan->cold_ns).text, html_rounded(plan->block_count).text,
                                   html_rounded(plan->candidate_count).text},
             8);
}

static void write_plans(html *page, const plan_list *plans, uint32_t words, const own_plan *own)
{
    const char *const columns[] = {"plan",
                                   words > 1 ? "tables of a word" : "tables",
                                   "bytes per record",
                                   "store",
                                   "query, warm",
                                   "query, cold",
                                   "blocks",
                                   "candidates"};
    page_table_begin(page, "Plans of which no smaller one is as fast, warm or cold, by the estimates", columns, 8);
    for (size_t i = 0; i < plans->count; i++)
        if (plans->items[i].is_useful || plans->items[i].is_chosen || is_own(&plans->items[i], own))
            write_plan(page, &plans->items[i], own);
    page_table_end(page);
}

static void write_reason(html *page, const plan_list *plans, uint32_t words, const own_plan *own)
{
    const sstore_plan_estimate *chosen = find_chosen(plans);
    if (chosen == NULL)
        return;
    html_markup(page, "<p>%s <code>",
                own != NULL ? "For these records, <code>sstore plan</code> chooses" : "The chosen plan is");
    html_text(page, chosen->plan);
    html_markup(page, "</code>: ");
    html_text(page, chosen->reason);
    html_markup(page, ".%s</p>\n",
                own == NULL           ? ""
                : is_own(chosen, own) ? " This is the store's own plan."
                : words > 1           ? " The store's words have other plans: see the next section."
                                      : " The store has another plan.");
}

void section_plans(html *page, const plan_list *plans, uint32_t words, const own_plan *own)
{
    static const page_key keys[] = {{"p0", "no smaller plan is as fast, warm or cold"},
                                    {"p1", "other plans"},
                                    {"p2", "this store"}};
    page_section(page, "plans", own != NULL ? "The plan among its alternatives" : "Plans by size and time");
    if (plans->count == 0) {
        html_markup(page, "<p>There are no records to plan for.</p>\n");
        return;
    }
    html_markup(page,
                "<p>More tables take more bytes, and a query tests fewer fingerprints. Points at the lower left "
                "are better. Times are estimates for one query without a match, with all blocks in memory. They "
                "compare plans, and do not predict the times of a machine. Plans of more than four times the bytes "
                "are not drawn.</p>\n");
    if (words > 1)
        html_markup(page,
                    "<p>A plan is that of each of the %u words, with equal radii. A build gives skewed words other "
                    "radii and plans, so it may cost less. Bytes and times are those of all words.</p>\n",
                    (unsigned)words);
    write_reason(page, plans, words, own);
    page_legend(page, keys, find_own(plans, own) != NULL ? 3 : 2);
    draw_plans(page, plans, own);
    write_plans(page, plans, words, own);
}

void plan_page_write(html *page, const plan_list *plans, const sstore_plan_options *options)
{
    const sstore_plan_estimate *chosen = find_chosen(plans);
    const uint32_t words = options->fingerprint_bits / 64;
    char title[160], second[200], tables[80], plan[sizeof chosen->plan + 40], bits[32] = "";
    if (words > 1)
        snprintf(bits, sizeof bits, " of %u bits", (unsigned)options->fingerprint_bits);
    snprintf(title, sizeof title, "%s records%s, distance %u", html_count(options->record_count).text, bits,
             (unsigned)options->distance);
    snprintf(second, sizeof second, "%s ids, for %s fingerprints", options->without_ids ? "without" : "with",
             options->sample_count > 0 ? "sampled" : "uniform");
    page_begin(page, "sstore plan", title, second);
    page_figures_begin(page);
    if (chosen != NULL) {
        const uint32_t table_count = chosen->table_count * words;
        snprintf(tables, sizeof tables, "%s table%s", html_count(table_count).text, table_count == 1 ? "" : "s");
        snprintf(plan, sizeof plan, words > 1 ? "%s for each of %u words" : "%s", chosen->plan, (unsigned)words);
        page_figure(page, "Chosen plan", tables, plan);
        page_figure(page, "Size", html_bytes(chosen->total_bytes).text, "of the whole store");
        page_figure(page, "Bytes per record", html_fixed(chosen->bytes_per_record, 1).text,
                    words > 1 ? "of the whole store" : "in all tables");
        page_figure(page, "Time of a query", html_time(chosen->warm_ns).text, "estimated, in memory");
    }
    page_figures_end(page);
    section_plans(page, plans, words, NULL);
    page_end(page);
}
