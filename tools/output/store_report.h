/*
 * store_report.h - what a store contains and how large its parts are: a struct with all statistics, and as JSON.
 */
#ifndef STORE_REPORT_H
#define STORE_REPORT_H

#include "output/json.h"
#include "sstore.h"
#include "sstore_statistics.h"

typedef struct segment_report {
    sstore_segment_statistics metadata;
    sstore_word_statistics *words;   /* word_count of them: of a segment that removes none, or one if there is one */
    sstore_table_statistics *tables; /* metadata.table_count of them */
    uint32_t word_count;
} segment_report;

typedef struct store_report {
    sstore_statistics metadata;
    segment_report *segments; /* metadata.segment_count of them, the oldest first */
} store_report;

#define STORE_REPORT_INIT                                                                                              \
    {                                                                                                                  \
        SSTORE_STATISTICS_INIT, NULL                                                                                   \
    }

/* Fill an initialised report; free it in any case with store_report_free(). Reads nothing from disk. */
sstore_status store_report_read(const sstore *store, store_report *report, sstore_error *error);
void store_report_free(store_report *report);

/* The name of the store at a path: its last part, without slashes behind it. A part of the text. */
const char *store_name(const char *path, size_t *length_out);

/* Bytes per distinct fingerprint; 0 in an empty store. */
double store_report_each(const store_report *report, uint64_t bytes);

/* Bytes of a fingerprint without any coding. */
uint32_t store_report_raw(const store_report *report);

/* The object that 'sstore stat --json' prints. */
json_value *store_report_value(const store_report *report);

#endif
