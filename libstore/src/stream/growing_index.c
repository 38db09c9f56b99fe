#include "stream/growing_index.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "sort/radix.h"
#include "stream/memory_index.h"
#include "stream/row_index.h"

#define NEWEST 1024u          /* records; testing them takes about as long as searching a large part */
#define NEWEST_ROWS 512u      /* the same of fingerprints of several words */
#define SLICE 256u            /* values that are tested at once */
#define MAX_PARTS 64u         /* their sizes at least halve, unless they are too large to be merged */
#define MIN_THREADED 0x10000u /* records, from which on several threads index the words of a part */

typedef struct part {
    uint32_t count;
    ss_fingerprint_index index; /* of 64-bit fingerprints */
    ss_row_index rows;          /* of others */
    uint64_t *ids;              /* of the index's fingerprints, in their order */
} part;

struct ss_growing_index {
    uint32_t words, distance, threads, newest_capacity, newest_count, part_count;
    const ss_kernels *kernels;
    part parts[MAX_PARTS]; /* the oldest and largest first */
    uint64_t *newest, newest_ids[NEWEST];
};

sstore_status ss_growing_index_create(uint32_t words, uint32_t distance, uint32_t threads, ss_growing_index **index_out,
                                      sstore_error *error)
{
    assert(distance <= words * SSTORE_MAX_BUILD_DISTANCE);
    const uint32_t newest_capacity = words == 1 ? NEWEST : NEWEST_ROWS;
    ss_growing_index *index = *index_out = ss_alloc(1, sizeof *index);
    if (index == NULL)
        return ss_fail_memory(error, sizeof *index);
    index->words = words;
    index->distance = distance;
    index->threads = threads;
    index->newest_capacity = newest_capacity;
    index->kernels = ss_kernels_best();
    index->newest = ss_alloc((size_t)newest_capacity * words, sizeof *index->newest);
    if (index->newest != NULL)
        return SSTORE_OK;
    ss_growing_index_free(index);
    *index_out = NULL;
    return ss_fail_memory(error, (uint64_t)newest_capacity * words * sizeof *index->newest);
}

static void close_part(part *of)
{
    ss_fingerprint_index_close(&of->index);
    ss_row_index_close(&of->rows);
    ss_free(of->ids);
}

void ss_growing_index_free(ss_growing_index *index)
{
    for (uint32_t i = 0; index != NULL && i < index->part_count; i++)
        close_part(&index->parts[i]);
    if (index != NULL)
        ss_free(index->newest);
    ss_free(index);
}

/* The fingerprints of a part, in the order of its ids. */
static const uint64_t *fingerprints_of(const ss_growing_index *index, const part *of)
{
    return index->words == 1 ? ss_fingerprint_index_values(&of->index) : of->rows.rows;
}

/* ----- adding ----- */

/* Pass the newest records and those of the parts from `first` on. */
static sstore_status each_from(const ss_growing_index *index, uint32_t first, ss_records_fn on_records, void *context,
                               sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = first; status == SSTORE_OK && i < index->part_count; i++)
        status = on_records(context, fingerprints_of(index, &index->parts[i]), index->parts[i].ids,
                            index->parts[i].count, error);
    return status == SSTORE_OK ? on_records(context, index->newest, index->newest_ids, index->newest_count, error)
                               : status;
}

/* Records that are gathered for a part. */
typedef struct gathering {
    uint32_t words;
    size_t count;
    sstore_record *records; /* of 64-bit fingerprints */
    uint64_t *rows, *ids;   /* of others */
} gathering;

static sstore_status gather_records(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                    sstore_error *error)
{
    gathering *self = context;
    (void)error;
    for (size_t i = 0; i < count; i++)
        self->records[self->count++] = (sstore_record){.fingerprint = fingerprints[i], .id = ids[i]};
    return SSTORE_OK;
}

static sstore_status gather_rows(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                 sstore_error *error)
{
    gathering *self = context;
    (void)error;
    if (count > 0) {
        memcpy(self->rows + self->count * self->words, fingerprints, count * self->words * sizeof *fingerprints);
        memcpy(self->ids + self->count, ids, count * sizeof *ids);
    }
    self->count += count;
    return SSTORE_OK;
}

/* Make a part of the newest records and of the parts from `first` on, `made->count` records in all. Close it also after
 * a failure. */
static sstore_status make_part(const ss_growing_index *index, uint32_t first, part *made, sstore_error *error)
{
    const uint32_t count = made->count;
    gathering all = {.records = ss_realloc(NULL, 2 * (size_t)count, sizeof *all.records)}; /* half of it is scratch */
    uint64_t *values = ss_realloc(NULL, count, sizeof *values);
    made->ids = ss_realloc(NULL, count, sizeof *made->ids);
    if (all.records == NULL || values == NULL || made->ids == NULL) {
        ss_free(all.records);
        ss_free(values);
        return ss_fail_memory(error, 2 * (uint64_t)count * (sizeof *all.records + sizeof *values));
    }
    (void)each_from(index, first, gather_records, &all, NULL);
    ss_sort_records(all.records, all.records + count, count);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = all.records[i].fingerprint;
        made->ids[i] = all.records[i].id;
    }
    ss_free(all.records);
    return ss_fingerprint_index_open(&made->index, values, count, SS_WORD_BITS, index->distance, 1, error);
}

/* The same for fingerprints of several words, which stay in the order in which they came. */
static sstore_status make_part_of_rows(const ss_growing_index *index, uint32_t first, part *made, sstore_error *error)
{
    const size_t row_bytes = index->words * sizeof(uint64_t);
    made->ids = ss_realloc(NULL, made->count, sizeof *made->ids);
    gathering all = {.words = index->words, .rows = ss_realloc(NULL, made->count, row_bytes), .ids = made->ids};
    if (all.rows == NULL || all.ids == NULL) {
        ss_free(all.rows);
        return ss_fail_memory(error, made->count * (row_bytes + sizeof *made->ids));
    }
    (void)each_from(index, first, gather_rows, &all, NULL);
    return ss_row_index_open(&made->rows, all.rows, made->count, index->words, index->distance,
                             made->count < MIN_THREADED ? 1 : index->threads, error);
}

/* Merge the newest records and all parts that are less than twice as large as all later records into one part. */
static sstore_status add_part(ss_growing_index *index, sstore_error *error)
{
    uint32_t first = index->part_count;
    uint64_t count = index->newest_count;
    for (; first > 0; first--) {
        const uint64_t before = index->parts[first - 1].count;
        if (before / 2 >= count || before + count > UINT32_MAX)
            break;
        count += before;
    }
    if (first == MAX_PARTS)
        return ss_fail_memory(error, count * sizeof(sstore_record));
    part made = {.count = (uint32_t)count};
    const sstore_status status = index->words == 1 ? make_part(index, first, &made, error)
                                                   : make_part_of_rows(index, first, &made, error);
    if (status != SSTORE_OK) {
        close_part(&made);
        return status;
    }
    while (index->part_count > first)
        close_part(&index->parts[--index->part_count]);
    index->parts[index->part_count++] = made;
    index->newest_count = 0;
    return SSTORE_OK;
}

sstore_status ss_growing_index_add(ss_growing_index *index, const uint64_t *fingerprint, uint64_t id,
                                   sstore_error *error)
{
    const sstore_status status = index->newest_count == index->newest_capacity ? add_part(index, error) : SSTORE_OK;
    if (status != SSTORE_OK)
        return status;
    ss_words_copy(index->newest + (size_t)index->newest_count * index->words, fingerprint, index->words);
    index->newest_ids[index->newest_count++] = id;
    return SSTORE_OK;
}

/* ----- finding ----- */

typedef struct finding {
    const ss_growing_index *index;
    const part *in;
    const uint64_t *fingerprint;
    uint32_t distance;
    sstore_match_fn on_match;
    void *context;
} finding;

static sstore_status report(const finding *self, const uint64_t *words, uint64_t id)
{
    const sstore_match match = {.fingerprint = *words,
                                .words = words,
                                .id = id,
                                .distance = ss_words_distance(words, self->fingerprint, self->index->words)};
    return self->on_match(self->context, &match) == 0 ? SSTORE_OK : SSTORE_STOPPED;
}

static sstore_status report_value(void *context, uint32_t number, uint64_t value, sstore_error *error)
{
    const finding *self = context;
    (void)number, (void)error;
    return report(self, &value, self->in->ids[ss_fingerprint_index_rank(&self->in->index, value)]);
}

static sstore_status report_row(void *context, uint32_t number, uint32_t row, uint32_t distance, sstore_error *error)
{
    const finding *self = context;
    (void)number, (void)error;
    if (distance > self->distance)
        return SSTORE_OK;
    return report(self, ss_row_index_row(&self->in->rows, row), self->in->ids[row]);
}

static sstore_status find_newest(const finding *self)
{
    const ss_growing_index *index = self->index;
    const uint32_t words = index->words;
    sstore_status status = SSTORE_OK;
    for (uint32_t begin = 0; status == SSTORE_OK && begin < index->newest_count; begin += SLICE) {
        const uint64_t *from = index->newest + (size_t)begin * words;
        uint32_t hits[SLICE], count = (uint32_t)ss_min_u64(index->newest_count - begin, SLICE);
        uint32_t found = words == 1
                             ? index->kernels->near_values(from, count, *self->fingerprint, self->distance, hits)
                             : index->kernels->near_rows(from, count, words, self->fingerprint, self->distance, hits);
        for (uint32_t i = 0; status == SSTORE_OK && i < found; i++)
            status = report(self, from + (size_t)hits[i] * words, index->newest_ids[begin + hits[i]]);
    }
    return status;
}

sstore_status ss_growing_index_find(const ss_growing_index *index, const uint64_t *fingerprint, uint32_t distance,
                                    sstore_match_fn on_match, void *context)
{
    finding self = {
        .index = index, .fingerprint = fingerprint, .distance = distance, .on_match = on_match, .context = context};
    sstore_status status = find_newest(&self);
    for (uint32_t i = 0; status == SSTORE_OK && i < index->part_count; i++) {
        self.in = &index->parts[i];
        status = index->words == 1 ? ss_fingerprint_index_search(&self.in->index, fingerprint, 1, distance, NULL,
                                                                 report_value, &self, NULL)
                                   : ss_row_index_search(&self.in->rows, fingerprint, 1, NULL, report_row, &self, NULL);
    }
    return status;
}

/* ----- all records ----- */

sstore_status ss_growing_index_each(const ss_growing_index *index, ss_records_fn on_records, void *context,
                                    sstore_error *error)
{
    return each_from(index, 0, on_records, context, error);
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
    uint64_t bytes = sizeof *index + (uint64_t)index->newest_capacity * index->words * sizeof *index->newest;
    for (uint32_t i = 0; i < index->part_count; i++) {
        const part *of = &index->parts[i];
        bytes += (index->words == 1 ? ss_fingerprint_index_bytes(&of->index) : ss_row_index_bytes(&of->rows)) +
                 of->count * sizeof *of->ids;
    }
    return bytes;
}
