#include "write/table_writer.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"

/* The state of one thread: a piece of sorted items, and its columns. */
typedef struct ss_table_worker {
    void *scratch;     /* of sorting */
    uint64_t *records; /* the piece, with ids: each the words of a fingerprint, and its id */
    size_t record_count;
    size_t distinct_count; /* of its fingerprints */
    ss_column_piece table, ids;
    ss_table_counts counts; /* of all pieces that it counted, as the next three */
    ss_u128 content_sum;
    uint64_t counted_records, max_id;
    ss_sampler sampler; /* fingerprints NULL: no sample is wanted */
} worker;

/* ----- workers ----- */

static size_t item_bytes(uint32_t words, bool has_ids)
{
    return (words + has_ids) * sizeof(uint64_t);
}

uint64_t ss_table_writer_bytes(uint32_t words, bool has_ids, uint32_t block_bytes, size_t capacity)
{
    const uint64_t item_array_bytes = capacity * item_bytes(words, has_ids);
    const uint64_t bytes = ss_column_piece_bytes(ss_table_form(words, block_bytes), capacity) + item_array_bytes;
    return has_ids ? bytes + ss_column_piece_bytes(ss_ids_form(block_bytes), capacity) + item_array_bytes : bytes;
}

static sstore_status open_worker(const ss_table_writer *self, worker *to, size_t capacity, sstore_error *error)
{
    const uint32_t words = self->segment->words, block_bytes = self->segment->block_bytes;
    const size_t bytes = item_bytes(words, self->has_ids);
    sstore_status status = ss_column_piece_open(&to->table, ss_table_form(words, block_bytes), capacity, error);
    if (status == SSTORE_OK && self->has_ids)
        status = ss_column_piece_open(&to->ids, ss_ids_form(block_bytes), capacity, error);
    to->scratch = ss_realloc(NULL, capacity, bytes);
    to->records = ss_realloc(NULL, self->has_ids ? capacity : 0, bytes);
    if (status == SSTORE_OK && (to->scratch == NULL || to->records == NULL))
        status = ss_fail_memory(error, (uint64_t)capacity * bytes);
    return status;
}

sstore_status ss_table_writer_open(ss_table_writer *self, bool has_ids, size_t capacity, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    self->has_ids = has_ids;
    self->workers = ss_alloc(self->threads, sizeof *self->workers);
    if (self->workers == NULL)
        return ss_fail_memory(error, self->threads * sizeof *self->workers);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->threads; i++)
        status = open_worker(self, &self->workers[i], capacity, error);
    return status;
}

void ss_table_writer_close(ss_table_writer *self)
{
    for (uint32_t i = 0; self->workers != NULL && i < self->threads; i++) {
        worker *closed = &self->workers[i];
        ss_column_piece_close(&closed->table);
        ss_column_piece_close(&closed->ids);
        ss_free(closed->scratch);
        ss_free(closed->records);
        ss_free(closed->sampler.fingerprints);
    }
    ss_free(self->workers);
    self->workers = NULL;
}

/* ----- loading a piece ----- */

/* Divide records into columns: distinct fingerprints, ids, and which records start a fingerprint. Returns the number of
 * fingerprints. */
static inline size_t divide(const uint64_t *records, size_t count, uint32_t words, uint64_t *fingerprints,
                            uint64_t *ids, uint8_t *starts)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *record = records + i * (words + 1);
        const bool first = i == 0 || !ss_words_equal(record, record - (words + 1), words);
        distinct += first;
        ss_words_set(fingerprints, distinct - 1, record, words);
        ids[i] = record[words];
        starts[i] = first;
    }
    return distinct;
}

static size_t divide_records(const worker *from, uint32_t words)
{
    uint64_t *fingerprints = ss_column_piece_items(&from->table), *ids = ss_column_piece_items(&from->ids);
    uint8_t *starts = ss_column_piece_marks(&from->ids);
    return words == 1 ? divide(from->records, from->record_count, 1, fingerprints, ids, starts)
                      : divide(from->records, from->record_count, words, fingerprints, ids, starts);
}

/* The sorted items of the piece. */
static uint64_t *items_of(const ss_table_writer *self, const worker *from)
{
    return self->has_ids ? from->records : ss_column_piece_items(&from->table);
}

/* Load a piece, and count it as progress. */
static sstore_status load(const ss_table_writer *self, uint64_t piece, uint32_t index, sstore_error *error)
{
    const ss_sorted_pieces *pieces = &self->pieces;
    worker *to = &self->workers[index];
    const sstore_status status = pieces->load(pieces->context, (size_t)piece, items_of(self, to), to->scratch,
                                              &to->record_count, error);
    if (status != SSTORE_OK)
        return status;
    to->distinct_count = self->has_ids ? divide_records(to, self->segment->words) : to->record_count;
    return ss_progress_add(self->progress, index, pieces->progress_each > 0 ? pieces->progress_each : to->record_count);
}

/* ----- counting ----- */

/* The sum of the contents of `count` records. */
static inline ss_u128 sum_records(const uint64_t *items, size_t count, uint32_t words, bool has_ids)
{
    ss_u128 sum = {0, 0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t *item = items + i * (words + has_ids);
        ss_content_add_words(&sum, has_ids, item, words, has_ids ? item[words] : 0);
    }
    return sum;
}

static void sum_contents(const ss_table_writer *self, worker *from)
{
    const uint64_t *items = items_of(self, from);
    const size_t count = from->record_count;
    const uint32_t words = self->segment->words;
    const ss_u128 sum = words > 1       ? sum_records(items, count, words, self->has_ids)
                        : self->has_ids ? sum_records(items, count, 1, true)
                                        : sum_records(items, count, 1, false);
    from->content_sum = ss_u128_add(from->content_sum, sum);
    from->counted_records += count;
    for (size_t i = 0; self->has_ids && i < count; i++)
        from->max_id = ss_max_u64(from->max_id, ss_column_piece_items(&from->ids)[i]);
}

/* The ends of a piece, which join it to its neighbours: whether it has items, its first and its last fingerprint. */
static uint64_t *ends_of(const ss_table_writer *self, uint64_t piece)
{
    return self->ends + piece * (1 + 2 * self->segment->words);
}

static void note_ends(const ss_table_writer *self, uint64_t piece, const uint64_t *fingerprints, size_t count)
{
    const uint32_t words = self->segment->words;
    uint64_t *ends = ends_of(self, piece);
    ends[0] = true;
    ss_words_copy(ends + 1, fingerprints, words);
    ss_words_copy(ends + 1 + words, fingerprints + (count - 1) * words, words);
}

static sstore_status count_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const ss_table_writer *self = context;
    worker *own = &self->workers[index];
    const uint64_t *fingerprints = ss_column_piece_items(&own->table);
    const sstore_status status = load(self, task, index, error);
    const size_t count = own->distinct_count;
    if (status != SSTORE_OK || count == 0)
        return status;
    note_ends(self, task, fingerprints, count);
    if (self->number == 0)
        sum_contents(self, own);
    if (self->segment->words > 1)
        own->counts.count += count;
    else
        ss_table_counts_add(&own->counts, fingerprints, count);
    /* The first one may be the last of the piece before; join_pieces() adds it. */
    for (size_t i = 1; own->sampler.fingerprints != NULL && i < count; i++)
        ss_sampler_add(&own->sampler, fingerprints[i]);
    return SSTORE_OK;
}

/* Count from one piece to the next. */
static void join_pieces(ss_table_writer *self, ss_sampler *sampler)
{
    const uint32_t words = self->segment->words;
    ss_table_counts joints;
    const uint64_t *last = NULL;
    uint64_t repeated = 0;
    ss_table_counts_init(&joints);
    for (size_t i = 0; i < self->pieces.piece_count; i++) {
        const uint64_t *ends = ends_of(self, i), *first = ends + 1;
        if (!ends[0])
            continue;
        const bool repeats = last != NULL && ss_words_equal(last, first, words);
        repeated += repeats;
        if (!repeats && last != NULL && words == 1)
            ss_table_counts_add_pair(&joints, *last, *first);
        if (!repeats && sampler != NULL)
            ss_sampler_add(sampler, *first);
        last = first + words;
    }
    ss_table_totals_add(&self->totals, &joints);
    self->totals.count -= repeated;
}

/* Prepare a worker to count. */
static sstore_status begin_counting(worker *own, bool with_sample, sstore_error *error)
{
    ss_table_counts_init(&own->counts);
    if (!with_sample)
        return SSTORE_OK;
    uint64_t *buffer = ss_alloc(SS_SAMPLE_CAPACITY, sizeof *buffer);
    if (buffer == NULL)
        return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *buffer);
    ss_sampler_init(&own->sampler, buffer);
    return SSTORE_OK;
}

/* Add what a worker counted. */
static void end_counting(ss_table_writer *self, worker *own, ss_sampler *sampler)
{
    ss_manifest_segment *segment = self->segment;
    ss_table_totals_add(&self->totals, &own->counts);
    if (self->number == 0) {
        segment->record_count += own->counted_records;
        self->max_id = ss_max_u64(self->max_id, own->max_id);
        segment->content_sum = ss_u128_add(segment->content_sum, own->content_sum);
    }
    if (sampler != NULL)
        ss_sampler_join(sampler, &own->sampler);
    ss_free(own->sampler.fingerprints);
    own->sampler.fingerprints = NULL;
}

sstore_status ss_table_writer_count(ss_table_writer *self, ss_sampler *sampler, sstore_error *error)
{
    const size_t piece_count = self->pieces.piece_count, ends_bytes = (1 + 2 * self->segment->words) * sizeof(uint64_t);
    sstore_status status = SSTORE_OK;
    self->totals = (ss_table_totals){.count = 0};
    for (uint32_t i = 0; status == SSTORE_OK && i < self->threads; i++)
        status = begin_counting(&self->workers[i], sampler != NULL, error);
    if (status != SSTORE_OK)
        return status;
    self->ends = ss_alloc(piece_count, ends_bytes);
    if (self->ends == NULL)
        return ss_fail_memory(error, piece_count * ends_bytes);
    status = ss_pool_run(self->threads, piece_count, count_piece, self, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->threads; i++)
        end_counting(self, &self->workers[i], sampler);
    if (status == SSTORE_OK)
        join_pieces(self, sampler);
    ss_free(self->ends);
    if (self->number == 0)
        self->segment->distinct_count = self->totals.count;
    return status;
}

/* ----- writing ----- */

/* Reserve blocks for a piece, in the order of the pieces. */
static sstore_status reserve(ss_table_writer *self, uint64_t task, worker *own, sstore_error *error)
{
    const bool is_last = task + 1 == self->pieces.piece_count;
    const sstore_status status = ss_column_writer_reserve(&self->table, &own->table, own->distinct_count, is_last,
                                                          error);
    if (status != SSTORE_OK || !self->has_ids)
        return status;
    *ss_column_piece_marks(&own->ids) = !own->table.repeats;
    return ss_column_writer_reserve(&self->ids, &own->ids, own->record_count, is_last, error);
}

static sstore_status write_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    ss_table_writer *self = context;
    worker *own = &self->workers[index];
    sstore_status status = load(self, task, index, error);
    if (status == SSTORE_OK) {
        ss_column_piece_measure(&own->table, &self->table, own->distinct_count);
        if (!ss_sequencer_enter(&self->sequencer, task))
            return SSTORE_OK; /* the task that failed reports it */
        status = reserve(self, task, own, error);
    }
    if (status == SSTORE_OK) {
        ss_sequencer_leave(&self->sequencer);
        status = ss_column_piece_write(&own->table, &self->table, error);
    }
    if (status == SSTORE_OK && self->has_ids)
        status = ss_column_piece_write(&own->ids, &self->ids, error);
    if (status != SSTORE_OK)
        ss_sequencer_break(&self->sequencer);
    return status;
}

sstore_status ss_table_writer_write(ss_table_writer *self, sstore_error *error)
{
    ss_manifest_segment *segment = self->segment;
    ss_sequencer_init(&self->sequencer);
    sstore_status status = ss_column_writer_open(&self->table, self->dir, segment, self->number, &self->totals,
                                                 self->directory, error);
    if (status == SSTORE_OK && self->has_ids)
        status = ss_column_writer_open(&self->ids, self->dir, segment, SS_IDS_NUMBER, NULL, self->directory, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(self->threads, self->pieces.piece_count, write_piece, self, error);
    if (status == SSTORE_OK)
        status = ss_column_writer_finish(&self->table, &segment->tables[self->number], error);
    if (status == SSTORE_OK && self->has_ids)
        status = ss_column_writer_finish(&self->ids, &segment->ids, error);
    ss_column_writer_close(&self->table);
    ss_column_writer_close(&self->ids);
    ss_sequencer_destroy(&self->sequencer);
    return status;
}
