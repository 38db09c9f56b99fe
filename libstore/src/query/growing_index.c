#include "query/growing_index.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sort/radix.h"

#define NEWEST 1024u   /* records; testing them takes about as long as searching a large part */
#define MOST_PARTS 64u /* their sizes at least halve, but for those that are too large to be put together */
#define SLICE 256u

/* Records in the order of their fingerprints, each of these once, with all ids that belong to it. */
typedef struct run {
    uint64_t *values; /* ascending */
    uint32_t *begins; /* of each value's ids, and one more */
    uint64_t *ids;
    uint32_t value_count, record_count;
} run;

/* A run with tables over its values, which belong to the index. */
typedef struct part {
    run records;
    ss_fingerprint_index index;
} part;

struct ss_growing_index {
    uint32_t distance, newest_count, part_count;
    const ss_kernels *kernels;
    part parts[MOST_PARTS]; /* the oldest and largest first */
    uint64_t newest[NEWEST], newest_ids[NEWEST];
};

sstore_status ss_growing_index_create(uint32_t distance, ss_growing_index **index_out, sstore_error *error)
{
    assert(distance <= SS_INDEX_MAX_DISTANCE);
    *index_out = ss_alloc(1, sizeof **index_out);
    if (*index_out == NULL)
        return ss_fail_memory(error, sizeof **index_out);
    (*index_out)->distance = distance;
    (*index_out)->kernels = ss_kernels_best();
    return SSTORE_OK;
}

static void close_run(run *of)
{
    ss_free(of->values);
    ss_free(of->begins);
    ss_free(of->ids);
    *of = (run){.values = NULL};
}

static void close_part(part *of)
{
    ss_fingerprint_index_close(&of->index);
    of->records.values = NULL; /* they went with it */
    close_run(&of->records);
}

void ss_growing_index_free(ss_growing_index *index)
{
    for (uint32_t i = 0; index != NULL && i < index->part_count; i++)
        close_part(&index->parts[i]);
    ss_free(index);
}

/* ----- adding ----- */

/* A run with room for that many; to be closed in any case. */
static sstore_status open_run(run *made, size_t value_count, size_t record_count, sstore_error *error)
{
    made->values = ss_realloc(NULL, value_count, sizeof *made->values);
    made->begins = ss_realloc(NULL, value_count + 1, sizeof *made->begins);
    made->ids = ss_realloc(NULL, record_count, sizeof *made->ids);
    if (made->values == NULL || made->begins == NULL || made->ids == NULL)
        return ss_fail_memory(error, value_count * 12 + record_count * 8);
    made->begins[0] = 0;
    return SSTORE_OK;
}

/* Give back room that was not needed. */
static void trim_run(run *made)
{
    uint64_t *values = ss_realloc(made->values, made->value_count, sizeof *values);
    uint32_t *begins = ss_realloc(made->begins, (size_t)made->value_count + 1, sizeof *begins);
    made->values = values != NULL ? values : made->values;
    made->begins = begins != NULL ? begins : made->begins;
}

/* Put the ids of one value of `from` behind those of the last value of `to`. */
static void append_ids(run *to, const run *from, uint32_t at)
{
    const uint32_t count = from->begins[at + 1] - from->begins[at];
    memcpy(to->ids + to->record_count, from->ids + from->begins[at], count * sizeof *to->ids);
    to->record_count += count;
}

/* Put two runs together; both stay. */
static sstore_status merge_runs(const run *a, const run *b, run *merged, sstore_error *error)
{
    sstore_status status = open_run(merged, (size_t)a->value_count + b->value_count,
                                    (size_t)a->record_count + b->record_count, error);
    for (uint32_t i = 0, j = 0; status == SSTORE_OK && (i < a->value_count || j < b->value_count);) {
        const bool take_a = j == b->value_count || (i < a->value_count && a->values[i] <= b->values[j]);
        const bool take_b = i == a->value_count || (j < b->value_count && b->values[j] <= a->values[i]);
        merged->values[merged->value_count++] = take_a ? a->values[i] : b->values[j];
        if (take_a)
            append_ids(merged, a, i++);
        if (take_b)
            append_ids(merged, b, j++);
        merged->begins[merged->value_count] = merged->record_count;
    }
    if (status == SSTORE_OK)
        trim_run(merged);
    return status;
}

/* A run of records as they come: the newest ones, then `count` others. */
static sstore_status sort_run(const ss_growing_index *index, const uint64_t *fingerprints, const uint64_t *ids,
                              uint32_t count, run *made, sstore_error *error)
{
    const uint32_t newest = index->newest_count, all = newest + count;
    sstore_record *records = ss_realloc(NULL, all, sizeof *records), *scratch = ss_realloc(NULL, all, sizeof *scratch);
    sstore_status status = open_run(made, all, all, error);
    if (status == SSTORE_OK && (records == NULL || scratch == NULL))
        status = ss_fail_memory(error, 2 * (uint64_t)all * sizeof *records);
    if (status == SSTORE_OK) {
        for (uint32_t i = 0; i < newest; i++)
            records[i] = (sstore_record){.fingerprint = index->newest[i], .id = index->newest_ids[i]};
        for (uint32_t i = 0; i < count; i++)
            records[newest + i] = (sstore_record){.fingerprint = fingerprints[i], .id = ids != NULL ? ids[i] : 0};
        ss_sort_records(records, scratch, all);
    }
    for (uint32_t i = 0; status == SSTORE_OK && i < all; i++) {
        if (i == 0 || records[i].fingerprint != records[i - 1].fingerprint)
            made->values[made->value_count++] = records[i].fingerprint;
        made->ids[made->record_count++] = records[i].id;
        made->begins[made->value_count] = made->record_count;
    }
    if (status == SSTORE_OK)
        trim_run(made);
    ss_free(records);
    ss_free(scratch);
    return status;
}

/* Let the newest part be one of the newest records, of `count` others, and of all parts that are less than twice as
 * large. */
static sstore_status add_part(ss_growing_index *index, const uint64_t *fingerprints, const uint64_t *ids,
                              uint32_t count, sstore_error *error)
{
    run all = {.values = NULL};
    uint32_t kept = index->part_count;
    sstore_status status = sort_run(index, fingerprints, ids, count, &all, error);
    while (status == SSTORE_OK && kept > 0) {
        const run *before = &index->parts[kept - 1].records;
        const uint64_t count_before = before->record_count;
        if (count_before / 2 >= all.record_count || count_before + all.record_count > UINT32_MAX)
            break;
        run merged = {.values = NULL};
        status = merge_runs(before, &all, &merged, error);
        close_run(&all);
        all = merged;
        kept--;
    }
    part made = {.records = all};
    if (status == SSTORE_OK && kept == MOST_PARTS)
        status = ss_fail_memory(error, (uint64_t)count * sizeof *fingerprints);
    if (status != SSTORE_OK) {
        close_run(&all);
        return status;
    }
    status = ss_fingerprint_index_open(&made.index, all.values, all.value_count, index->distance, 1, error);
    if (status != SSTORE_OK) {
        close_part(&made);
        return status;
    }
    while (index->part_count > kept)
        close_part(&index->parts[--index->part_count]);
    index->parts[index->part_count++] = made;
    index->newest_count = 0;
    return SSTORE_OK;
}

sstore_status ss_growing_index_add(ss_growing_index *index, const uint64_t *fingerprints, const uint64_t *ids,
                                   size_t count, sstore_error *error)
{
    if (count > UINT32_MAX - NEWEST)
        return ss_fail_argument(error, "at most 2^31 records can be added at once");
    if (index->newest_count + count > NEWEST)
        return add_part(index, fingerprints, ids, (uint32_t)count, error);
    for (size_t i = 0; i < count; i++) {
        index->newest[index->newest_count] = fingerprints[i];
        index->newest_ids[index->newest_count++] = ids != NULL ? ids[i] : 0;
    }
    return SSTORE_OK;
}

/* ----- finding ----- */

typedef struct finding {
    const part *in;
    uint64_t fingerprint;
    sstore_match_fn on_match;
    void *context;
} finding;

static sstore_status report(const finding *self, uint64_t fingerprint, uint64_t id)
{
    const sstore_match match = {.fingerprint = fingerprint,
                                .id = id,
                                .distance = ss_popcount(fingerprint ^ self->fingerprint)};
    return self->on_match(self->context, &match) == 0 ? SSTORE_OK : SSTORE_STOPPED;
}

static sstore_status report_ids(void *context, uint32_t number, uint64_t value, sstore_error *error)
{
    const finding *self = context;
    const run *records = &self->in->records;
    const uint32_t rank = ss_fingerprint_index_rank(&self->in->index, value);
    sstore_status status = SSTORE_OK;
    (void)number, (void)error;
    for (uint32_t i = records->begins[rank]; status == SSTORE_OK && i < records->begins[rank + 1]; i++)
        status = report(self, value, records->ids[i]);
    return status;
}

static sstore_status find_newest(const ss_growing_index *index, const finding *self, uint32_t distance)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t begin = 0; status == SSTORE_OK && begin < index->newest_count; begin += SLICE) {
        uint32_t hits[SLICE], count = (uint32_t)ss_min_u64(index->newest_count - begin, SLICE);
        uint32_t found = index->kernels->near_values(index->newest + begin, count, self->fingerprint, distance, hits);
        for (uint32_t i = 0; status == SSTORE_OK && i < found; i++)
            status = report(self, index->newest[begin + hits[i]], index->newest_ids[begin + hits[i]]);
    }
    return status;
}

sstore_status ss_growing_index_find(const ss_growing_index *index, uint64_t fingerprint, uint32_t distance,
                                    sstore_match_fn on_match, void *context)
{
    finding self = {.fingerprint = fingerprint, .on_match = on_match, .context = context};
    sstore_status status = find_newest(index, &self, distance);
    for (uint32_t i = 0; status == SSTORE_OK && i < index->part_count; i++) {
        self.in = &index->parts[i];
        status = ss_fingerprint_index_search(&self.in->index, &fingerprint, 1, distance, NULL, report_ids, &self, NULL);
    }
    return status;
}

/* ----- all of it ----- */

static sstore_status each_of_run(const run *records, ss_records_fn on_records, void *context, sstore_error *error)
{
    uint64_t fingerprints[SLICE];
    uint32_t value = 0;
    sstore_status status = SSTORE_OK;
    for (uint32_t first = 0; status == SSTORE_OK && first < records->record_count;) {
        const uint32_t count = (uint32_t)ss_min_u64(records->record_count - first, SLICE);
        for (uint32_t i = 0; i < count; i++) {
            while (first + i >= records->begins[value + 1])
                value++;
            fingerprints[i] = records->values[value];
        }
        status = on_records(context, fingerprints, records->ids + first, count, error);
        first += count;
    }
    return status;
}

sstore_status ss_growing_index_each(const ss_growing_index *index, ss_records_fn on_records, void *context,
                                    sstore_error *error)
{
    sstore_status status = on_records(context, index->newest, index->newest_ids, index->newest_count, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < index->part_count; i++)
        status = each_of_run(&index->parts[i].records, on_records, context, error);
    return status;
}

uint64_t ss_growing_index_count(const ss_growing_index *index)
{
    uint64_t count = index->newest_count;
    for (uint32_t i = 0; i < index->part_count; i++)
        count += index->parts[i].records.record_count;
    return count;
}

uint64_t ss_growing_index_bytes(const ss_growing_index *index)
{
    uint64_t bytes = sizeof *index;
    for (uint32_t i = 0; i < index->part_count; i++) {
        const run *records = &index->parts[i].records;
        bytes += ss_fingerprint_index_bytes(&index->parts[i].index);
        bytes += (uint64_t)records->value_count * sizeof *records->begins;
        bytes += (uint64_t)records->record_count * sizeof *records->ids;
    }
    return bytes;
}
