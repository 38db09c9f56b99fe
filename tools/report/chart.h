/*
 * chart.h - charts in SVG. Positions across are percentages of the width and positions down are pixels, so that a chart
 * fills any width while its text keeps its size. Colours are those of the classes in style.c.
 *
 * Each chart has a title and a description for people who do not see it; a table with the same numbers is beside it.
 */
#ifndef CHART_H
#define CHART_H

#include <stdbool.h>

#include "report/html.h"

/* Writes the label of a tick. */
typedef number_text (*chart_format)(double value);

typedef struct chart_axis {
    double min, max;
    bool is_log; /* from a power of ten to another */
    chart_format format;
} chart_axis;

/* An axis from 0 to a round number that is at least `max`. */
chart_axis chart_linear(double max, chart_format format);

/* An axis from one power of ten to another that hold both values between them; both must be above 0. */
chart_axis chart_log(double min, double max, chart_format format);

/* What a chart shows. Texts are written as they are. */
typedef struct chart_words {
    const char *id; /* unique in the page */
    const char *title, *description;
    const char *across; /* what the axis across shows; NULL: nothing */
} chart_words;

/* ----- stacked bars: a row for each sum ----- */

typedef struct chart_part {
    const char *name;  /* as in the legend */
    const char *class; /* its colour */
    double value;
} chart_part;

typedef struct chart_row {
    const char *name, *total;
    const chart_part *parts;
    size_t part_count;
} chart_row;

/* Draw rows of parts, and across each a line at `mark`, if it is above 0. */
void chart_bars(html *page, const chart_words *words, const chart_row *rows, size_t count, const chart_axis *axis,
                double mark);

/* ----- histograms ----- */

typedef struct chart_bins {
    const double *parts; /* the height of each bar, 0 to 1 */
    size_t count;
    const char *class;
    const uint8_t *dots; /* a dot for each bar at a height of 0 to dots_max; 0: none; or NULL */
    uint8_t dots_max;
    const char *const *labels; /* at the beginning of each bar, and one at the end; NULL: no label there */
    bool labels_centred;       /* below the middle of each bar; there is none at the end */
    bool is_small;
} chart_bins;

void chart_histogram(html *page, const chart_words *words, const chart_bins *bins);

/* ----- ranges: for each row a bar from a low to a high value, and two marks, on a logarithmic axis ----- */

typedef struct chart_range {
    char name[64];
    double low, high, max, expected;
} chart_range;

void chart_ranges(html *page, const chart_words *words, const chart_range *rows, size_t count);

/* ----- points ----- */

typedef struct chart_point {
    double x, y;
    const char *class;
    const char *name; /* shown beside the point if `labelled`, and otherwise when the pointer is over it. Escaped */
    bool labelled, label_below;
    bool on_line; /* consecutive ones are connected */
} chart_point;

void chart_points(html *page, const chart_words *words, const chart_point *points, size_t count,
                  const chart_axis *across, const chart_axis *up);

#endif
