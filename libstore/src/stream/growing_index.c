#include "stream/growing_index.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "sort/radix.h"
#include "stream/memory_index.h"

#define NEWEST 1024u          /* records; testing them takes about as long as searching a large level */
#define NEWEST_WIDE 512u      /* that of fingerprints of several words */
#define SLICE 256u            /* fingerprints that are tested at once */
#define MAX_LEVELS 64u        /* their sizes at least halve, unless they are too large to be merged */
#define MIN_THREADED 0x10000u /* records, from which on several threads index a level */

typedef struct level {
    ss_memory_index index;
    uint64_t *ids; /* of the index's fingerprints, in their order */
} level;

struct ss_growing_index {
    uint32_t words, distance, threads, newest_capacity, newest_count, level_count;
    const ss_kernels *kernels;
    level levels[MAX_LEVELS]; /* the oldest and largest first */
    uint64_t *newest, newest_ids[NEWEST];
};

sstore_status ss_growing_index_create(uint32_t words, uint32_t distance, uint32_t threads, ss_growing_index **index_out,
                                      sstore_error *error)
{
    assert(distance <= words * SSTORE_MAX_BUILD_DISTANCE);
    const uint32_t newest_capacity = words == 1 ? NEWEST : NEWEST_WIDE;
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

static void close_level(level *closed)
{
    ss_memory_index_close(&closed->index);
    ss_free(closed->ids);
}

void ss_growing_index_free(ss_growing_index *index)
{
    for (uint32_t i = 0; index != NULL && i < index->level_count; i++)
        close_level(&index->levels[i]);
    if (index != NULL)
        ss_free(index->newest);
    ss_free(index);
}

/* ----- adding ----- */

/* Pass the newest records and those of the levels from `first` on. */
static sstore_status each_from(const ss_growing_index *index, uint32_t first, ss_records_fn on_records, void *context,
                               sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (uint32_t i = first; status == SSTORE_OK && i < index->level_count; i++) {
        const level *next = &index->levels[i];
        status = on_records(context, next->index.rows, next->ids, next->index.count, error);
    }
    return status == SSTORE_OK ? on_records(context, index->newest, index->newest_ids, index->newest_count, error)
                               : status;
}

/* Records that are gathered for a level. */
typedef struct gathering {
    uint32_t words;
    size_t count;
    uint64_t *rows, *ids;
} gathering;

static sstore_status gather(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
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

/* Put 64-bit fingerprints into ascending order, for the index. */
static sstore_status sort_gathered(const gathering *self, sstore_error *error)
{
    ss_record *records = ss_realloc(NULL, 2 * self->count, sizeof *records); /* the second half is scratch */
    if (records == NULL)
        return ss_fail_memory(error, 2 * (uint64_t)self->count * sizeof *records);
    for (size_t i = 0; i < self->count; i++)
        records[i] = (ss_record){.fingerprint = self->rows[i], .id = self->ids[i]};
    ss_sort_records(records, records + self->count, self->count);
    for (size_t i = 0; i < self->count; i++) {
        self->rows[i] = records[i].fingerprint;
        self->ids[i] = records[i].id;
    }
    ss_free(records);
    return SSTORE_OK;
}

/* Make a level of the newest records and of the levels from `first` on, `count` records in all. Close it also after a
 * failure. */
static sstore_status make_level(const ss_growing_index *index, uint32_t first, uint32_t count, level *made,
                                sstore_error *error)
{
    const size_t row_bytes = index->words * sizeof(uint64_t);
    gathering records = {.words = index->words,
                         .rows = ss_realloc(NULL, count, row_bytes),
                         .ids = ss_realloc(NULL, count, sizeof *records.ids)};
    sstore_status status = SSTORE_OK;
    made->ids = records.ids;
    if (records.rows == NULL || records.ids == NULL)
        status = ss_fail_memory(error, count * (row_bytes + sizeof *records.ids));
    if (status == SSTORE_OK)
        (void)each_from(index, first, gather, &records, NULL);
    if (status == SSTORE_OK && index->words == 1)
        status = sort_gathered(&records, error);
    if (status == SSTORE_OK)
        return ss_memory_index_open(&made->index, records.rows, count, index->words, index->distance,
                                    count < MIN_THREADED ? 1 : index->threads, error);
    ss_free(records.rows);
    return status;
}

/* Merge the newest records and all levels that are less than twice as large as all later records into one level. */
static sstore_status add_level(ss_growing_index *index, sstore_error *error)
{
    uint32_t first = index->level_count;
    uint64_t count = index->newest_count;
    for (; first > 0; first--) {
        const uint64_t before = index->levels[first - 1].index.count;
        if (before / 2 >= count || before + count > UINT32_MAX)
            break;
        count += before;
    }
    if (first == MAX_LEVELS)
        return ss_fail_memory(error, count * sizeof(ss_record));
    level made = {.ids = NULL};
    const sstore_status status = make_level(index, first, (uint32_t)count, &made, error);
    if (status != SSTORE_OK) {
        close_level(&made);
        return status;
    }
    while (index->level_count > first)
        close_level(&index->levels[--index->level_count]);
    index->levels[index->level_count++] = made;
    index->newest_count = 0;
    return SSTORE_OK;
}

sstore_status ss_growing_index_add(ss_growing_index *index, const uint64_t *fingerprint, uint64_t id,
                                   sstore_error *error)
{
    const sstore_status status = index->newest_count == index->newest_capacity ? add_level(index, error) : SSTORE_OK;
    if (status != SSTORE_OK)
        return status;
    ss_words_copy(index->newest + (size_t)index->newest_count * index->words, fingerprint, index->words);
    index->newest_ids[index->newest_count++] = id;
    return SSTORE_OK;
}

/* ----- finding ----- */

typedef struct finding {
    const ss_growing_index *index;
    const level *in;
    const uint64_t *fingerprint;
    sstore_match_fn on_match;
    void *context;
} finding;

static sstore_status report(const finding *self, const uint64_t *words, uint64_t id)
{
    const sstore_match match = {.fingerprint = words,
                                .id = id,
                                .distance = ss_words_distance(words, self->fingerprint, self->index->words)};
    return self->on_match(self->context, &match) == 0 ? SSTORE_OK : SSTORE_STOPPED;
}

static sstore_status report_found(void *context, uint32_t number, const uint64_t *found, sstore_error *error)
{
    const finding *self = context;
    (void)number, (void)error;
    return report(self, found, self->in->ids[ss_memory_index_number(&self->in->index, found)]);
}

static sstore_status find_newest(const finding *self, uint32_t distance)
{
    const ss_growing_index *index = self->index;
    sstore_status status = SSTORE_OK;
    for (uint32_t begin = 0; status == SSTORE_OK && begin < index->newest_count; begin += SLICE) {
        const uint64_t *rows = index->newest + (size_t)begin * index->words;
        uint32_t hits[SLICE];
        const uint32_t found = ss_find_near(index->kernels, rows, ss_min_u32(index->newest_count - begin, SLICE),
                                            index->words, self->fingerprint, distance, hits);
        for (uint32_t i = 0; status == SSTORE_OK && i < found; i++)
            status = report(self, rows + (size_t)hits[i] * index->words, index->newest_ids[begin + hits[i]]);
    }
    return status;
}

sstore_status ss_growing_index_find(const ss_growing_index *index, const uint64_t *fingerprint, uint32_t distance,
                                    sstore_match_fn on_match, void *context)
{
    finding self = {.index = index, .fingerprint = fingerprint, .on_match = on_match, .context = context};
    sstore_status status = find_newest(&self, distance);
    for (uint32_t i = 0; status == SSTORE_OK && i < index->level_count; i++) {
        self.in = &index->levels[i];
        status = ss_memory_index_search(&self.in->index, fingerprint, 1, distance, NULL, report_found, &self, NULL);
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
    for (uint32_t i = 0; i < index->level_count; i++)
        count += index->levels[i].index.count;
    return count;
}

uint64_t ss_growing_index_bytes(const ss_growing_index *index)
{
    uint64_t bytes = sizeof *index + (uint64_t)index->newest_capacity * index->words * sizeof *index->newest;
    for (uint32_t i = 0; i < index->level_count; i++)
        bytes += ss_memory_index_bytes(&index->levels[i].index) + index->levels[i].index.count * sizeof(uint64_t);
    return bytes;
}
