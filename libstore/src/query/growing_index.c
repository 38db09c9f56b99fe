#include "query/growing_index.h"

#include "base/alloc.h"
#include "base/error.h"
#include "sort/radix.h"

#define NEWEST 1024u   /* records; testing them takes about as long as searching a large part */
#define MOST_PARTS 64u /* their sizes at least halve, but for those that are too large to be put together */
#define SLICE 256u

typedef struct part {
    ss_fingerprint_index index;
    uint64_t *ids; /* of the index's fingerprints, in their order */
    uint32_t count;
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

static void close_part(part *of)
{
    ss_fingerprint_index_close(&of->index);
    ss_free(of->ids);
}

void ss_growing_index_free(ss_growing_index *index)
{
    for (uint32_t i = 0; index != NULL && i < index->part_count; i++)
        close_part(&index->parts[i]);
    ss_free(index);
}

/* ----- adding ----- */

/* The newest records and those of the parts from `kept` on, `count` in all, in the order of their fingerprints; and as much scratch
 * behind them. NULL: there is no memory. */
static sstore_record *sort_newest(const ss_growing_index *index, uint32_t kept, size_t count)
{
    sstore_record *records = ss_realloc(NULL, 2 * count, sizeof *records);
    size_t made = 0;
    if (records == NULL)
        return NULL;
    for (uint32_t i = 0; i < index->newest_count; i++)
        records[made++] = (sstore_record){.fingerprint = index->newest[i], .id = index->newest_ids[i]};
    for (uint32_t i = kept; i < index->part_count; i++) {
        const part *from = &index->parts[i];
        const uint64_t *values = ss_fingerprint_index_values(&from->index);
        for (uint32_t j = 0; j < from->count; j++)
            records[made++] = (sstore_record){.fingerprint = values[j], .id = from->ids[j]};
    }
    ss_sort_records(records, records + count, count);
    return records;
}

/* Make a part of sorted records; to be closed in any case. */
static sstore_status open_part(part *made, const sstore_record *records, uint32_t count, uint32_t distance, sstore_error *error)
{
    uint64_t *values = ss_realloc(NULL, count, sizeof *values);
    *made = (part){.ids = ss_realloc(NULL, count, sizeof *made->ids), .count = count};
    if (values == NULL || made->ids == NULL) {
        ss_free(values);
        return ss_fail_memory(error, 2 * (uint64_t)count * sizeof *values);
    }
    for (uint32_t i = 0; i < count; i++) {
        values[i] = records[i].fingerprint;
        made->ids[i] = records[i].id;
    }
    return ss_fingerprint_index_open(&made->index, values, count, distance, 1, error);
}

/* Let the last part be one of the newest records and of all parts that are less than twice as large as what follows them. */
static sstore_status add_part(ss_growing_index *index, sstore_error *error)
{
    uint32_t kept = index->part_count;
    uint64_t count = index->newest_count;
    part made;
    while (kept > 0 && index->parts[kept - 1].count / 2 < count && index->parts[kept - 1].count + count <= UINT32_MAX)
        count += index->parts[--kept].count;
    sstore_record *records = kept < MOST_PARTS ? sort_newest(index, kept, count) : NULL;
    if (records == NULL)
        return ss_fail_memory(error, 2 * count * sizeof *records);
    const sstore_status status = open_part(&made, records, (uint32_t)count, index->distance, error);
    ss_free(records);
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

sstore_status ss_growing_index_add(ss_growing_index *index, uint64_t fingerprint, uint64_t id, sstore_error *error)
{
    const sstore_status status = index->newest_count == NEWEST ? add_part(index, error) : SSTORE_OK;
    if (status != SSTORE_OK)
        return status;
    index->newest[index->newest_count] = fingerprint;
    index->newest_ids[index->newest_count++] = id;
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

static sstore_status report_value(void *context, uint32_t number, uint64_t value, sstore_error *error)
{
    const finding *self = context;
    (void)number, (void)error;
    return report(self, value, self->in->ids[ss_fingerprint_index_rank(&self->in->index, value)]);
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
        status = ss_fingerprint_index_search(&self.in->index, &fingerprint, 1, distance, NULL, report_value, &self, NULL);
    }
    return status;
}

/* ----- all of it ----- */

sstore_status ss_growing_index_each(const ss_growing_index *index, ss_records_fn on_records, void *context,
                                    sstore_error *error)
{
    sstore_status status = on_records(context, index->newest, index->newest_ids, index->newest_count, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < index->part_count; i++)
        status = on_records(context, ss_fingerprint_index_values(&index->parts[i].index), index->parts[i].ids,
                            index->parts[i].count, error);
    return status;
}

uint64_t ss_growing_index_count(const ss_growing_index *index)
{
    uint64_t count = index->newest_count;
    for (uint32_t i = 0; i < index->part_count; i++)
        count += index->parts[i].count;
    return count;
}

uint64_t ss_growing_index_bytes(const ss_growing_index *index)
{
    uint64_t bytes = sizeof *index;
    for (uint32_t i = 0; i < index->part_count; i++)
        bytes += ss_fingerprint_index_bytes(&index->parts[i].index) + index->parts[i].count * sizeof *index->parts[i].ids;
    return bytes;
}
