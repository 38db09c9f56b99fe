/* near_sample.c - which fingerprints of a sample have near-duplicates: a look at a store that is too large to compare
 * all. */
#include <string.h>
#include <time.h>

#include "output/messages.h"
#include "report/store_view.h"

#define MAX_SAMPLED 1000u
#define MAX_SECONDS 5

static uint32_t distance_between(const uint64_t *left, const uint64_t *right, uint32_t words)
{
    uint32_t distance = 0;
    for (uint32_t i = 0; i < words; i++)
        distance += (uint32_t)__builtin_popcountll(left[i] ^ right[i]);
    return distance;
}

/* Is the fingerprint in the neighbourhood of one that is an example? */
static bool is_known(const cluster_report *report, const uint64_t *fingerprint)
{
    for (uint32_t i = 0; i < CLUSTER_EXAMPLES; i++)
        if (report->examples[i].record_count > 0 &&
            distance_between(report->examples[i].words[0], fingerprint, report->words) <= 2 * report->distance)
            return true;
    return false;
}

/* Records around a fingerprint of the store, which are the first ones at distance 0. */
typedef struct neighbourhood {
    uint64_t fingerprints[EXAMPLE_RECORDS * SSTORE_MAX_WORDS], ids[EXAMPLE_RECORDS];
    uint32_t distances[EXAMPLE_RECORDS];
    uint64_t count; /* of all */
} neighbourhood;

static void keep_example(cluster_report *report, const neighbourhood *around)
{
    for (uint32_t i = 0; i < EXAMPLE_RECORDS && i < around->count; i++)
        (void)view_take_cluster(report, &(cluster_record){.cluster_size = around->count,
                                                          .id = around->ids[i],
                                                          .distance = around->distances[i],
                                                          .is_representative = i == 0,
                                                          .fingerprint = around->fingerprints + i * report->words});
}

static sstore_status look_around(cluster_report *report, sstore_cursor *cursor, const uint64_t *fingerprint,
                                 sstore_error *error)
{
    neighbourhood around = {.count = 0};
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = around.fingerprints,
                                    .id = around.ids,
                                    .distance = around.distances};
    const sstore_status status = sstore_query_columns(cursor, fingerprint, report->distance, &columns, EXAMPLE_RECORDS,
                                                      &around.count, error);
    if (status != SSTORE_OK || around.count == 0 || around.distances[0] > 0) /* its records are removed */
        return status;
    report->sampled_count++;
    report->near_count += around.count > 1;
    if (around.count > 1 && !is_known(report, fingerprint))
        keep_example(report, &around);
    return SSTORE_OK;
}

int view_sample_near(store_view *view, const sstore *store, view_progress_fn on_progress)
{
    const size_t count = view->sample_count < MAX_SAMPLED ? view->sample_count : MAX_SAMPLED;
    const time_t begin = time(NULL);
    sstore_cursor *cursor = NULL;
    sstore_error error;
    int code = message_status(sstore_cursor_create(store, &cursor, &error), &error);
    view->clusters->is_sample = true;
    for (size_t i = 0; i < count && code == EXIT_DONE && time(NULL) - begin <= MAX_SECONDS; i++) {
        const uint64_t *fingerprint = view->sample + i * view->sample_count / count * view->words;
        code = message_status(look_around(view->clusters, cursor, fingerprint, &error), &error);
        if (code == EXIT_DONE && on_progress("comparing", i, count) != 0)
            code = EXIT_FAILED;
    }
    sstore_cursor_free(cursor);
    return code;
}
