/*
 * store_view.h - what a report says of a store, and how it is found out.
 *
 * The numbers of most parts come from the manifest, the headers and the directory. Some need a sample of the
 * fingerprints or blocks: a fixed number of each, so that the time and the memory do not grow with the store.
 */
#ifndef STORE_VIEW_H
#define STORE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/output.h"
#include "output/store_report.h"
#include "report/plan_list.h"
#include "sstore.h"
#include "sstore_join.h"

/* Called now and then during long work: shows progress. Returns other than 0 to stop. */
typedef int (*view_progress_fn)(const char *phase, uint64_t done, uint64_t total);

/* Percentiles of some numbers. */
typedef struct spread {
    double median, p90, p99, max;
} spread;

/* Sort `count` numbers, at least one, and take their percentiles. */
spread spread_of(double *values, size_t count);

/* ----- tables of the largest segment that adds ----- */

/* With fingerprints of several words, each word has an index with tables of its own. They hold its different values,
 * which are "fingerprints" of 64 bits here. */

/* How full blocks are. The last block of a table, which ends with the table, counts only if it is the only one. */
typedef struct fill_report {
    uint64_t block_count;          /* looked at */
    double mean_used, min_used;    /* parts of their bytes */
    uint32_t min_count, max_count; /* fingerprints in a block */
    double mean_count;
} fill_report;

/* How many fingerprints of a table have a prefix that a query probes, for queries like the stored fingerprints. */
typedef struct crowd_report {
    spread found;
    double expected; /* of uniform fingerprints */
} crowd_report;

typedef struct table_view {
    sstore_table_statistics statistics;
    double count; /* of its fingerprints */
    fill_report fill;
} table_view;

/* Tables that are drawn as one: a table, or with several words all tables of a word. */
typedef struct table_group {
    uint32_t first, table_count;
    crowd_report crowd;
} table_group;

/* ----- queries ----- */

#define TIME_BINS_PER_DECADE 5u
#define TIME_BINS (12u * TIME_BINS_PER_DECADE)

/* Queries of one kind. Times are in nanoseconds. */
typedef struct latency_report {
    uint64_t count;
    double *times;            /* sorted */
    uint64_t bins[TIME_BINS]; /* element i: queries from 10^(i / TIME_BINS_PER_DECADE) ns on */
    spread time;
    double mean_blocks, mean_expected_blocks, mean_expected_ns; /* of those that were explained */
    uint64_t explained_count;
} latency_report;

typedef struct query_report {
    latency_report misses, hits;
    uint64_t given_count; /* queries in the input; of more than MAX_TIMED, one is timed after equally many */
} query_report;

#define MAX_TIMED 1000000u

/* ----- clusters ----- */

#define CLUSTER_BINS 40u /* of sizes from 2^i on */
#define CLUSTER_EXAMPLES 5u
#define EXAMPLE_RECORDS 5u

typedef struct cluster_example {
    uint64_t size;
    uint32_t record_count;                   /* that are kept */
    cluster_record records[EXAMPLE_RECORDS]; /* whose fingerprints are `words` */
    uint64_t words[EXAMPLE_RECORDS][SSTORE_MAX_WORDS];
} cluster_example;

typedef struct cluster_report {
    uint64_t cluster_count, record_count; /* of clusters of at least two */
    uint64_t bins[CLUSTER_BINS], bin_records[CLUSTER_BINS];
    cluster_example examples[CLUSTER_EXAMPLES]; /* the largest, descending */
    uint32_t current; /* the example that the last record's cluster is; CLUSTER_EXAMPLES: none */
    uint32_t distance, words;
    /* Of a large store, only this sample of fingerprints was compared with all, and the examples are the records around
     * some of them. The numbers of clusters then mean nothing. */
    bool is_sample;
    uint64_t sampled_count, near_count; /* near_count: of these fingerprints, have near-duplicates */
} cluster_report;

/* ----- all ----- */

typedef struct store_view {
    const char *path;
    store_report stat;
    uint32_t words;      /* of a fingerprint */
    table_view *tables;  /* of the largest segment that adds */
    table_group *groups; /* of these tables */
    uint32_t table_count, group_count;
    uint32_t *block_counts; /* fingerprints of each block that was looked at, of all tables */
    size_t block_count_count;
    uint64_t *sample; /* of the fingerprints */
    size_t sample_count, looked_up_count;
    plan_list plans;
    query_report *queries; /* or NULL */
    cluster_report *clusters;
    stored_names *names; /* of ids; or NULL */
} store_view;

#define STORE_VIEW_INIT                                                                                                \
    {                                                                                                                  \
        .stat = STORE_REPORT_INIT                                                                                      \
    }

/* Each fills its part of a report on the open store, and returns an exit code. */
int view_read_metadata(store_view *view, const sstore *store);
int view_read_blocks(store_view *view, const sstore *store, view_progress_fn on_progress);
int view_sample(store_view *view, const sstore *store, view_progress_fn on_progress);
int view_measure_crowds(store_view *view, view_progress_fn on_progress); /* after view_sample(), as the next one */
int view_make_plans(store_view *view);
int view_time_queries(store_view *view, const sstore *store, const uint64_t *queries, size_t count,
                      view_progress_fn on_progress);

/* Look for near-duplicates of fingerprints of the sample, within some seconds. */
int view_sample_near(store_view *view, const sstore *store, view_progress_fn on_progress);

/* A callback of walk_clusters(); the context is a cluster_report. */
int view_take_cluster(void *context, const cluster_record *record);

void view_free(store_view *view);

#endif
