/*
 * plan_report.h - the two forms in which the estimates of plans are printed.
 */
#ifndef PLAN_REPORT_H
#define PLAN_REPORT_H

#include <stddef.h>

#include "sstore.h"

typedef struct plan_report {
    const sstore_plan_options *options;
    sstore_plan_estimate *plans; /* ascending by bytes */
    size_t count;
} plan_report;

/* Each prints to stdout and returns an exit code. */
int plan_print_text(const plan_report *report);
int plan_print_json(const plan_report *report);

#endif
