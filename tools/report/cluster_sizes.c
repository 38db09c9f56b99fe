/* cluster_sizes.c - counts the clusters of a report by size, and keeps records of the largest ones. */
#include <string.h>

#include "report/store_view.h"

/* The number of the highest bit. */
static uint32_t size_bin(uint64_t size)
{
    uint32_t bin = 0;
    while (size > 1 && bin + 1 < CLUSTER_BINS) {
        size >>= 1;
        bin++;
    }
    return bin;
}

/* The place of a cluster of this size among the examples; CLUSTER_EXAMPLES if it is too small. The first of equal ones
 * stays before. */
static uint32_t example_place(const cluster_report *report, uint64_t size)
{
    uint32_t at = 0;
    while (at < CLUSTER_EXAMPLES && report->examples[at].size >= size)
        at++;
    return at;
}

static void begin_cluster(cluster_report *report, uint64_t size)
{
    const uint32_t bin = size_bin(size), at = example_place(report, size);
    report->cluster_count++;
    report->bins[bin]++;
    report->bin_records[bin] += size;
    report->current = at;
    if (at == CLUSTER_EXAMPLES)
        return;
    memmove(&report->examples[at + 1], &report->examples[at], (CLUSTER_EXAMPLES - 1 - at) * sizeof report->examples[0]);
    report->examples[at] = (cluster_example){.size = size};
}

int view_take_cluster(void *context, const cluster_record *record)
{
    cluster_report *report = context;
    if (record->is_representative) /* it comes first */
        begin_cluster(report, record->cluster_size);
    report->record_count++;
    if (report->current == CLUSTER_EXAMPLES)
        return 0;
    cluster_example *example = &report->examples[report->current];
    if (example->record_count < EXAMPLE_RECORDS) {
        memcpy(example->words[example->record_count], record->fingerprint, report->words * sizeof *record->fingerprint);
        example->records[example->record_count++] = *record;
    }
    return 0;
}
