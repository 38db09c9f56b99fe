/*
 * stat_report.h - the two forms in which the facts about a store are printed.
 */
#ifndef STAT_REPORT_H
#define STAT_REPORT_H

#include "sstore.h"

typedef struct segment_report {
    sstore_segment_statistics facts;
    sstore_table_statistics *tables; /* facts.table_count of them */
} segment_report;

typedef struct store_report {
    sstore_statistics facts;
    segment_report *segments; /* facts.segment_count of them */
} store_report;

/* What a part takes for each distinct fingerprint; 0 in an empty store. */
static inline double report_bytes_each(const store_report *report, uint64_t bytes)
{
    uint64_t count = report->facts.distinct_count;
    return count == 0 ? 0 : (double)bytes / (double)count;
}

/* Each prints to stdout and returns an exit code. */
int stat_print_text(const store_report *report);
int stat_print_json(const store_report *report);

#endif
