/*
 * row_compare.h - finds the near fingerprints among runs of words (row_runs.h): two fingerprints whose keys differ in
 * at most rho bits are compared by the word, by kernels; those whose words are within the word's radius are compared
 * completely, and those within the distance are a pair. All pairs are given, each in the first part that finds it; or,
 * with a filter, only those that connect fingerprints which are not known to be connected.
 *
 *   for each run R, in slices S of its words:
 *       for each key within rho bits of R's, and not below it, in tiles T of its run:
 *           compare S with T, eight words at a time
 *           with a filter, if very many pairs have near words, settle S and T: find those that are connected with most
 *           of S, the main component; then compare only pairs with one apart from it, and settle again after as many
 *           near words
 *
 * So runs in which everything is near are not quadratic: pairs within the main component are never compared, and the
 * pairs found between two settlements are at most about as many as the words settled.
 */
#ifndef SS_ROW_COMPARE_H
#define SS_ROW_COMPARE_H

#include "join/edge_filter.h"
#include "join/piece_join.h"
#include "join/row_runs.h"

/* Whether two near fingerprints, by their numbers, are connected. Called for each pair once at most, and for none that
 * is known to be connected; by several threads at once. */
typedef bool (*ss_join_judge_fn)(void *context, uint64_t first, uint64_t second);

typedef struct ss_row_comparer ss_row_comparer;

/* What all threads share; all pointers are borrowed. */
typedef struct ss_row_comparison {
    ss_join_call *call;
    const ss_placed_rows *placed; /* the fingerprints of the runs */
    const ss_row_parts *parts;    /* all parts, and the one of the runs: */
    uint32_t part;
    ss_edge_filter *filter;    /* NULL: all pairs are wanted */
    ss_join_pairs_fn on_pairs; /* gets the pairs of their numbers */
    ss_join_judge_fn judge;    /* with a filter, in the place of on_pairs: or NULL */
    void *context;             /* of on_pairs or judge */
    const ss_join_kernels *kernels;
    ss_row_comparer *workers;
} ss_row_comparison;

/* Allocate the workers; the other fields are set, but for the part. Close it also after a failure. MEMORY. */
sstore_status ss_row_comparison_open(ss_row_comparison *self, sstore_error *error);
void ss_row_comparison_close(ss_row_comparison *self);

/* Find the near fingerprints among runs, or, if `others` are other runs of the part, between both. Counts the words of
 * `runs` in the progress if they are compared with each other. STOPPED, and the errors of on_pairs. */
sstore_status ss_row_comparison_run(ss_row_comparison *self, const ss_row_runs *runs, const ss_row_runs *others,
                                    sstore_error *error);

/* Give the pairs that threads have gathered. The errors of on_pairs. */
sstore_status ss_row_comparison_flush(ss_row_comparison *self, sstore_error *error);

#endif
