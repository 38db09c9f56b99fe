#include "report/chart.h"

#include <math.h>
#include <string.h>

#define MAX_TICKS 12u
#define TICK_TEXT_PX 16 /* of the labels of an axis across, below it */
#define ACROSS_PX 34    /* with the name of the axis */

/* ----- axes ----- */

/* The distance of ticks: 1, 2 or 5 times a power of ten. */
static double tick_step(const chart_axis *axis)
{
    const double rough = (axis->max - axis->min) / 5, power = pow(10, floor(log10(rough)));
    const double times = rough / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

chart_axis chart_linear(double max, chart_format format)
{
    chart_axis axis = {.min = 0, .max = max > 0 && isfinite(max) ? max : 1, .format = format};
    const double step = tick_step(&axis);
    axis.max = step * ceil(axis.max / step - 1e-9);
    return axis;
}

chart_axis chart_log(double min, double max, chart_format format)
{
    chart_axis axis = {.is_log = true, .format = format};
    axis.min = pow(10, floor(log10(min) + 1e-9));
    axis.max = pow(10, ceil(log10(max) - 1e-9));
    if (axis.max <= axis.min)
        axis.max = 10 * axis.min;
    return axis;
}

/* The place of a value, 0 to 1. */
static double place(const chart_axis *axis, double value)
{
    const double part = axis->is_log ? log10(fmax(value, axis->min) / axis->min) / log10(axis->max / axis->min)
                                     : (value - axis->min) / (axis->max - axis->min);
    return part > 1 ? 1 : part > 0 ? part : 0; /* 0 also if it is no number */
}

static size_t make_ticks(const chart_axis *axis, double ticks[MAX_TICKS])
{
    const double decades = axis->is_log ? log10(axis->max / axis->min) : 0, every = ceil(decades / 6);
    const double step = axis->is_log ? every : tick_step(axis), range = axis->is_log ? decades : axis->max - axis->min;
    size_t count = 0;
    while (count < MAX_TICKS && (double)count * step <= range + 0.001 * step) {
        const double at = (double)count * step;
        ticks[count++] = axis->is_log ? axis->min * pow(10, at) : axis->min + at;
    }
    return count;
}

/* ----- parts of every chart ----- */

/* The class "rows" is for charts without an axis up. */
static void begin(html *page, const chart_words *words, const char *class, double height)
{
    html_markup(page,
                "<svg class=\"plot%s\" height=\"%.0f\" role=\"img\" aria-labelledby=\"%s-t %s-d\">\n"
                "<title id=\"%s-t\">%s</title><desc id=\"%s-d\">%s</desc>\n",
                class, height, words->id, words->id, words->id, words->title, words->id, words->description);
}

static void end(html *page)
{
    html_markup(page, "</svg>\n");
}

static void text(html *page, double x, double y, const char *class, const char *shown)
{
    html_markup(page, "<text x=\"%.2f%%\" y=\"%.0f\" class=\"%s\">%s</text>", x, y, class, shown);
}

static void line(html *page, double x1, double y1, double x2, double y2, const char *class)
{
    html_markup(page, "<line x1=\"%.2f%%\" y1=\"%.1f\" x2=\"%.2f%%\" y2=\"%.1f\" class=\"%s\"/>", x1, y1, x2, y2,
                class);
}

/* A bar. Its name and value are shown when the pointer is over it. */
static void bar(html *page, double x, double y, double width, double height, const char *class)
{
    html_markup(page, "<rect x=\"%.2f%%\" y=\"%.1f\" width=\"%.2f%%\" height=\"%.1f\" class=\"%s\">", x, y, width,
                height, class);
}

/* Grid lines from `top` to `bottom`, their labels, and the name of the axis. */
static void axis_across(html *page, const chart_words *words, const chart_axis *axis, double top, double bottom)
{
    double ticks[MAX_TICKS];
    const size_t count = make_ticks(axis, ticks);
    for (size_t i = 0; i < count; i++) {
        const double x = 100 * place(axis, ticks[i]);
        line(page, x, top, x, bottom, "grid");
        text(page, x, bottom + TICK_TEXT_PX, "tick mid", axis->format(ticks[i]).text);
    }
    if (words->across != NULL)
        text(page, 50, bottom + ACROSS_PX, "axis mid", words->across);
    html_markup(page, "\n");
}

static void axis_up(html *page, const chart_axis *axis, double top, double bottom)
{
    double ticks[MAX_TICKS];
    const size_t count = make_ticks(axis, ticks);
    for (size_t i = 0; i < count; i++) {
        const double y = bottom - (bottom - top) * place(axis, ticks[i]);
        line(page, 0, y, 100, y, "grid");
        html_markup(page, "<text x=\"-8\" y=\"%.0f\" class=\"tick end\">%s</text>", y + 4, axis->format(ticks[i]).text);
    }
    html_markup(page, "\n");
}

/* ----- stacked bars ----- */

#define ROW_PX 40
#define ROW_BAR_PX 16
#define ROW_TEXT_PX 14 /* the baseline of a row's name */

static void draw_row(html *page, const chart_row *row, double top, const chart_axis *axis)
{
    double sum = 0;
    html_markup(page, "<text x=\"0\" y=\"%.0f\" class=\"name\">%s <tspan class=\"value\">%s</tspan></text>",
                top + ROW_TEXT_PX, row->name, row->total);
    for (size_t i = 0; i < row->part_count; i++) {
        const chart_part *part = &row->parts[i];
        const double from = 100 * place(axis, sum);
        sum += part->value;
        bar(page, from, top + ROW_TEXT_PX + 6, 100 * place(axis, sum) - from, ROW_BAR_PX, part->class);
        html_markup(page, "<title>%s: %s</title></rect>", part->name, axis->format(part->value).text);
    }
    html_markup(page, "\n");
}

void chart_bars(html *page, const chart_words *words, const chart_row *rows, size_t count, const chart_axis *axis,
                double mark)
{
    const double bottom = (double)count * ROW_PX + 4;
    begin(page, words, " rows", bottom + ACROSS_PX + 6);
    axis_across(page, words, axis, 0, bottom);
    for (size_t i = 0; i < count; i++) {
        const double top = (double)i * ROW_PX + ROW_TEXT_PX + 3, x = 100 * place(axis, mark);
        draw_row(page, &rows[i], (double)i * ROW_PX, axis);
        if (mark > 0)
            line(page, x, top, x, top + ROW_BAR_PX + 6, "mark");
    }
    end(page);
}

/* ----- histograms ----- */

#define DOT_RADIUS 2.5

static void draw_dots(html *page, const chart_bins *bins, double top, double bottom)
{
    for (size_t i = 0; bins->dots != NULL && i < bins->count; i++)
        if (bins->dots[i] > 0)
            html_markup(page, "<circle cx=\"%.2f%%\" cy=\"%.1f\" r=\"%.1f\" class=\"dot\"><title>%u</title></circle>",
                        100 * ((double)i + 0.5) / (double)bins->count,
                        bottom - (bottom - top) * bins->dots[i] / bins->dots_max, DOT_RADIUS, (unsigned)bins->dots[i]);
}

static void draw_bin_labels(html *page, const chart_bins *bins, double bottom)
{
    for (size_t i = 0; i <= bins->count; i++) {
        const double x = 100 * ((double)i + (bins->labels_centred ? 0.5 : 0)) / (double)bins->count;
        if (i < bins->count + !bins->labels_centred && bins->labels[i] != NULL)
            text(page, x, bottom + TICK_TEXT_PX, "tick mid", bins->labels[i]);
    }
}

/* The left end of the axis that goes with dots. */
static void draw_dot_axis(html *page, const chart_bins *bins, double top, double bottom)
{
    for (uint8_t length = 1; bins->dots != NULL && length <= bins->dots_max; length = (uint8_t)(length + 5)) {
        const double y = bottom - (bottom - top) * length / bins->dots_max;
        html_markup(page, "<text x=\"100%%\" y=\"%.0f\" dx=\"8\" class=\"tick\">%u</text>", y + 4, (unsigned)length);
    }
}

static number_text percent_tick(double part)
{
    number_text number;
    snprintf(number.text, sizeof number.text, part > 0 && part < 0.01 ? "%.1f\xe2\x80\xaf%%" : "%.0f\xe2\x80\xaf%%",
             100 * part);
    return number;
}

void chart_histogram(html *page, const chart_words *words, const chart_bins *bins)
{
    const double top = 8, bottom = bins->is_small ? 108 : 168;
    double highest = 0;
    for (size_t i = 0; i < bins->count; i++)
        highest = fmax(highest, bins->parts[i]);
    const chart_axis up = chart_linear(highest, percent_tick);
    begin(page, words, "", bottom + ACROSS_PX + 6);
    axis_up(page, &up, top, bottom);
    for (size_t i = 0; i < bins->count; i++) {
        const double height = (bottom - top) * place(&up, bins->parts[i]), width = 100 / (double)bins->count;
        if (bins->parts[i] <= 0)
            continue;
        bar(page, width * ((double)i + 0.08), bottom - fmax(height, 1), width * 0.84, fmax(height, 1), bins->class);
        html_markup(page, "<title>%s</title></rect>", html_percent(bins->parts[i]).text);
    }
    draw_dots(page, bins, top, bottom);
    draw_dot_axis(page, bins, top, bottom);
    line(page, 0, bottom, 100, bottom, "base");
    draw_bin_labels(page, bins, bottom);
    if (words->across != NULL)
        text(page, 50, bottom + ACROSS_PX, "axis mid", words->across);
    end(page);
}

/* ----- ranges ----- */

static chart_axis range_axis(const chart_range *rows, size_t count)
{
    double min = INFINITY, max = 1;
    for (size_t i = 0; i < count; i++) {
        min = fmin(min, fmin(rows[i].low, rows[i].expected));
        max = fmax(max, fmax(rows[i].max, rows[i].expected));
    }
    return chart_log(fmin(fmax(min, 0.01), max), max, html_tick);
}

void chart_ranges(html *page, const chart_words *words, const chart_range *rows, size_t count)
{
    const chart_axis axis = range_axis(rows, count);
    const double bottom = (double)count * ROW_PX + 4;
    begin(page, words, " rows", bottom + ACROSS_PX + 6);
    axis_across(page, words, &axis, 0, bottom);
    for (size_t i = 0; i < count; i++) {
        const chart_range *row = &rows[i];
        const double middle = (double)i * ROW_PX + 28, low = 100 * place(&axis, row->low);
        const double high = 100 * place(&axis, row->high), max = 100 * place(&axis, row->max);
        const double expected = 100 * place(&axis, row->expected);
        text(page, 0, (double)i * ROW_PX + ROW_TEXT_PX, "name", row->name);
        line(page, high, middle, max, middle, "whisker");
        bar(page, fmin(low, 99.4), middle - 6, fmax(high - low, 0.6), 12, "s0");
        html_markup(page, "<title>half: up to %s; 99 of 100: up to %s</title></rect>", html_rounded(row->low).text,
                    html_rounded(row->high).text);
        html_markup(page, "<circle cx=\"%.2f%%\" cy=\"%.1f\" r=\"3.5\" class=\"p0\"><title>most: %s</title></circle>",
                    max, middle, html_rounded(row->max).text);
        line(page, expected, middle - 10, expected, middle + 10, "mark");
        html_markup(page, "\n");
    }
    end(page);
}

/* ----- points ----- */

#define POINTS_TOP 16
#define POINTS_BOTTOM 276

/* Points at the lower left would be better ones: there is room for a label. Others are at the upper right. */
static void draw_label(html *page, const chart_point *point, double x, double y)
{
    const bool before = x > 70 || (point->label_below && x > 20);
    const double base = point->label_below ? fmin(y + 18, POINTS_BOTTOM - 5) : y - 10;
    html_markup(page, "<text x=\"%.2f%%\" y=\"%.0f\" dx=\"%d\" class=\"label%s\">%s</text>", x, base, before ? -6 : 6,
                before ? " end" : "", point->name);
}

static void draw_point(html *page, const chart_point *point, double x, double y)
{
    html_markup(page, "<circle cx=\"%.2f%%\" cy=\"%.1f\" r=\"%.1f\" class=\"%s\"><title>%s</title></circle>\n", x, y,
                point->labelled ? 6.0 : 4.0, point->class, point->name);
    if (point->labelled)
        draw_label(page, point, x, y);
}

void chart_points(html *page, const chart_words *words, const chart_point *points, size_t count,
                  const chart_axis *across, const chart_axis *up)
{
    const double height = POINTS_BOTTOM - POINTS_TOP;
    const chart_point *last = NULL; /* on the line */
    begin(page, words, "", POINTS_BOTTOM + ACROSS_PX + 6);
    axis_across(page, words, across, POINTS_TOP, POINTS_BOTTOM);
    axis_up(page, up, POINTS_TOP, POINTS_BOTTOM);
    for (size_t i = 0; i < count; i++) {
        const chart_point *point = &points[i];
        if (point->on_line && last != NULL)
            line(page, 100 * place(across, last->x), POINTS_BOTTOM - height * place(up, last->y),
                 100 * place(across, point->x), POINTS_BOTTOM - height * place(up, point->y), "frontier");
        last = point->on_line ? point : last;
    }
    for (size_t i = 0; i < 2 * count; i++) { /* the line and the labels are above the other points */
        const chart_point *point = &points[i % count];
        if ((point->on_line || point->labelled) == (i >= count))
            draw_point(page, point, 100 * place(across, point->x), POINTS_BOTTOM - height * place(up, point->y));
    }
    end(page);
}
