#include "write/row_writer.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "codec/rows.h"
#include "plan/cost.h"
#include "plan/planner.h"
#include "plan/radii.h"
#include "store/record_iterator.h"
#include "write/column_writer.h"

#define OUTPUT_BYTES 262144u /* of blocks that are written at once */
#define RANGE_BLOCKS 64u     /* of table 0 that a task divides into words */
#define WORDS_AT_ONCE 1024u  /* that are given to the sorter */
#define SAMPLE_ROWS 3072.0   /* expected in the sample of a large segment: its capacity is not exceeded by chance */

/* The state of one thread: a piece of sorted records, and its columns. */
typedef struct worker {
    uint64_t *items, *scratch;
    size_t record_count;
    uint64_t *rows; /* distinct fingerprints of the piece, behind space for carried ones */
    size_t first, row_count;
    ss_column_piece ids;
    uint8_t *output;
    uint64_t first_block, block_count; /* reserved */
    ss_u128 content_sum;               /* of all pieces that it counted, as the next two */
    uint64_t counted_records, counted_rows;
    uint64_t *sample; /* of the piece */
    size_t sample_count;
    ss_table_iterator table; /* while it is divided into words */
} worker;

/* The first and the last fingerprint of a piece. */
typedef struct piece_ends {
    bool any;
    uint64_t first[SSTORE_MAX_WORDS], last[SSTORE_MAX_WORDS];
} piece_ends;

typedef struct row_run {
    const ss_segment_writer *writer;
    ss_manifest_segment *segment;
    uint32_t threads, words, item_words;
    uint32_t capacity; /* fingerprints of a block */
    size_t margin;     /* of them, before a worker's rows */
    worker *workers;   /* one a thread */
    ss_sorted_pieces pieces;
    piece_ends *ends; /* one a piece */
    /* While table 0 and the ids are written: */
    ss_directory_writer *directory;
    ss_block_writer table;
    ss_array_writer keys;
    ss_column_writer ids;
    ss_sequencer sequencer;
    uint64_t block_count, row_count; /* reserved; row_count without repeats */
    uint64_t last[SSTORE_MAX_WORDS];
    uint64_t *carried;
    size_t carried_count;
    uint64_t sample_limit; /* fingerprints with a hash up to this are in the sample */
    uint64_t *sample;
    size_t sample_count;
    /* While a word index is written: */
    ss_block_reader rows;
    ss_checked_blocks checked;
    uint32_t word;
    ss_sorter *sorter;
    ss_plan plan; /* of the word, if it is given or there are few records; often that of the next one too */
} row_run;

/* ----- memory ----- */

static uint64_t worker_bytes(uint32_t words, bool with_ids, uint32_t block_bytes, size_t capacity)
{
    const uint64_t row_bytes = words * sizeof(uint64_t), item_bytes = row_bytes + (with_ids ? sizeof(uint64_t) : 0);
    uint64_t bytes = OUTPUT_BYTES + (ss_rows_capacity(block_bytes, words) + capacity) * row_bytes +
                     2 * capacity * item_bytes + SS_ROW_SAMPLE_CAPACITY * row_bytes;
    return with_ids ? bytes + ss_column_piece_bytes(true, block_bytes, capacity) : bytes;
}

ss_sort_memory ss_row_writer_memory_divide(uint64_t limit_bytes, uint32_t threads, uint32_t words, bool with_ids,
                                           uint32_t block_bytes)
{
    if (words == 1)
        return ss_build_memory_divide(limit_bytes, threads, with_ids, block_bytes);
    /* A word index takes less for an item than whole fingerprints do, but perhaps more beside. */
    const uint64_t fixed = worker_bytes(words, with_ids, block_bytes, 0) +
                           ss_column_piece_bytes(false, block_bytes, 0) + ss_column_piece_bytes(true, block_bytes, 0);
    const uint64_t item = worker_bytes(words, with_ids, block_bytes, 1) - worker_bytes(words, with_ids, block_bytes, 0);
    const uint64_t index_item = 2 * sizeof(sstore_record) + 2 * (sizeof(uint64_t) + 1);
    return ss_sort_memory_divide(limit_bytes, threads, fixed, ss_max_u64(item, index_item));
}

static sstore_status open_workers(row_run *self, size_t capacity, sstore_error *error)
{
    const uint32_t words = self->words, block_bytes = self->writer->block_bytes;
    sstore_status status = SSTORE_OK;
    self->workers = ss_alloc(self->threads, sizeof *self->workers);
    if (self->workers == NULL)
        return ss_fail_memory(error, self->threads * sizeof *self->workers);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->threads; i++) {
        worker *of = &self->workers[i];
        of->items = ss_realloc(NULL, capacity, self->item_words * sizeof *of->items);
        of->scratch = ss_realloc(NULL, capacity, self->item_words * sizeof *of->scratch);
        of->rows = ss_realloc(NULL, self->margin + capacity, words * sizeof *of->rows);
        of->output = ss_realloc(NULL, OUTPUT_BYTES, 1);
        of->sample = ss_realloc(NULL, SS_ROW_SAMPLE_CAPACITY, words * sizeof *of->sample);
        if (of->items == NULL || of->scratch == NULL || of->rows == NULL || of->output == NULL || of->sample == NULL)
            status = ss_fail_memory(error, worker_bytes(words, self->writer->has_ids, block_bytes, capacity));
        if (status == SSTORE_OK && self->writer->has_ids)
            status = ss_column_piece_open(&of->ids, true, block_bytes, capacity, error);
    }
    return status;
}

static void close_workers(row_run *self)
{
    for (uint32_t i = 0; self->workers != NULL && i < self->threads; i++) {
        worker *of = &self->workers[i];
        ss_free(of->items);
        ss_free(of->scratch);
        ss_free(of->rows);
        ss_free(of->output);
        ss_free(of->sample);
        ss_column_piece_close(&of->ids);
    }
    ss_free(self->workers);
    self->workers = NULL;
}

/* ----- progress ----- */

/* About the duration of the phases, in ns a record and word, to estimate the progress. */
#define COUNT_NS 10.0
#define WRITE_NS 15.0
#define INDEX_NS 150.0

/* The part of the call's work that is done when table 0 and the indexes of `words` words are written. */
static double done_fraction(const row_run *self, double first_ns, uint32_t words)
{
    const uint32_t indexes = self->writer->kind == SS_SEGMENT_ADDS ? self->words : 0;
    return (first_ns * self->words + words * INDEX_NS) / ((COUNT_NS + WRITE_NS) * self->words + indexes * INDEX_NS);
}

static void begin_phase(const row_run *self, const char *phase, double end_fraction)
{
    self->writer->progress->now.table_count = 1;
    ss_progress_begin(self->writer->progress, phase, 0, self->pieces.item_count, end_fraction);
}

/* ----- loading a piece ----- */

static uint64_t *row_at(const row_run *self, const worker *of, size_t index)
{
    return of->rows + (of->first + index) * self->words;
}

/* Divide records into columns: distinct fingerprints, ids, and which records start a fingerprint. */
static void divide(const row_run *self, worker *of)
{
    const uint32_t words = self->words;
    const bool with_ids = self->writer->has_ids;
    of->first = self->margin;
    of->row_count = 0;
    for (size_t i = 0; i < of->record_count; i++) {
        const uint64_t *item = of->items + i * self->item_words;
        const bool starts = i == 0 || !ss_words_equal(item, item - self->item_words, words);
        if (starts)
            ss_words_copy(row_at(self, of, of->row_count++), item, words);
        if (with_ids) {
            of->ids.items[of->ids.margin + i] = item[words];
            of->ids.marks[of->ids.margin + i] = starts;
        }
    }
}

/* Load a piece, and count it as progress. */
static sstore_status load(const row_run *self, uint64_t piece, uint32_t index, sstore_error *error)
{
    const ss_sorted_pieces *pieces = &self->pieces;
    worker *of = &self->workers[index];
    const sstore_status status = pieces->load(pieces->context, (size_t)piece, of->items, of->scratch, &of->record_count,
                                              error);
    if (status != SSTORE_OK)
        return status;
    divide(self, of);
    return ss_progress_add(self->writer->progress, index,
                           pieces->progress_each > 0 ? pieces->progress_each : of->record_count);
}

/* ----- counting ----- */

static sstore_status count_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const row_run *self = context;
    worker *of = &self->workers[index];
    const sstore_status status = load(self, task, index, error);
    if (status != SSTORE_OK || of->row_count == 0)
        return status;
    piece_ends *piece = &self->ends[task];
    piece->any = true;
    ss_words_copy(piece->first, row_at(self, of, 0), self->words);
    ss_words_copy(piece->last, row_at(self, of, of->row_count - 1), self->words);
    of->counted_records += of->record_count;
    of->counted_rows += of->row_count;
    for (size_t i = 0; i < of->record_count; i++) {
        const uint64_t *item = of->items + i * self->item_words;
        ss_content_add_words(&of->content_sum, self->writer->has_ids, item, self->words,
                             self->writer->has_ids ? item[self->words] : 0);
    }
    return SSTORE_OK;
}

/* Count records and distinct fingerprints. A fingerprint may end one piece and begin the next. */
static sstore_status count_records(row_run *self, sstore_error *error)
{
    const size_t piece_count = self->pieces.piece_count;
    ss_manifest_segment *segment = self->segment;
    const piece_ends *before = NULL;
    begin_phase(self, "counting", done_fraction(self, COUNT_NS, 0));
    self->ends = ss_alloc(piece_count, sizeof *self->ends);
    if (self->ends == NULL)
        return ss_fail_memory(error, piece_count * sizeof *self->ends);
    const sstore_status status = ss_pool_run(self->threads, piece_count, count_piece, self, error);
    for (uint32_t i = 0; i < self->threads; i++) {
        segment->record_count += self->workers[i].counted_records;
        segment->distinct_count += self->workers[i].counted_rows;
        segment->content_sum = ss_u128_add(segment->content_sum, self->workers[i].content_sum);
    }
    for (size_t i = 0; i < piece_count; i++) {
        const piece_ends *piece = &self->ends[i];
        if (!piece->any)
            continue;
        segment->distinct_count -= before != NULL && ss_words_equal(before->last, piece->first, self->words);
        before = piece;
    }
    ss_free(self->ends);
    return status;
}

/* ----- writing table 0 and the ids ----- */

static uint64_t hash_row(const uint64_t *row, uint32_t words)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < words; i++)
        hash = ss_sample_hash(hash ^ row[i]);
    return hash;
}

/* Sample the piece's fingerprints: those whose hashes are small. */
static void take_sample(const row_run *self, worker *of)
{
    of->sample_count = 0;
    for (size_t i = 0; i < of->row_count && of->sample_count < SS_ROW_SAMPLE_CAPACITY; i++) {
        const uint64_t *row = row_at(self, of, i);
        if (hash_row(row, self->words) <= self->sample_limit)
            ss_words_copy(of->sample + of->sample_count++ * self->words, row, self->words);
    }
}

/* Add the piece's sample to that of the segment, unless its first fingerprint was already added. */
static void add_sample(row_run *self, const worker *of, bool repeats)
{
    const size_t skipped = repeats && of->sample_count > 0 && ss_words_equal(of->sample, self->last, self->words);
    const size_t count = (size_t)ss_min_u64(of->sample_count - skipped, SS_ROW_SAMPLE_CAPACITY - self->sample_count);
    memcpy(self->sample + self->sample_count * self->words, of->sample + skipped * self->words,
           count * self->words * sizeof *self->sample);
    self->sample_count += count;
}

/* Put the carried fingerprints before the piece's, without one that repeats the last of them. */
static void prepend_carried(row_run *self, worker *of, bool repeats)
{
    const size_t row_bytes = self->words * sizeof *of->rows;
    of->first += repeats;
    of->row_count -= repeats;
    self->row_count += of->row_count;
    if (of->row_count > 0)
        ss_words_copy(self->last, row_at(self, of, of->row_count - 1), self->words);
    of->first -= self->carried_count;
    of->row_count += self->carried_count;
    memcpy(row_at(self, of, 0), self->carried, self->carried_count * row_bytes);
}

/* Reserve the blocks that the piece completes, in the order of the pieces. */
static sstore_status reserve(row_run *self, uint64_t task, worker *of, sstore_error *error)
{
    const bool is_last = task + 1 == self->pieces.piece_count;
    const bool repeats = of->row_count > 0 && self->row_count > 0 &&
                         ss_words_equal(row_at(self, of, 0), self->last, self->words);
    sstore_status status = SSTORE_OK;
    add_sample(self, of, repeats);
    prepend_carried(self, of, repeats);
    of->first_block = self->block_count;
    of->block_count = of->row_count / self->capacity + (is_last && of->row_count % self->capacity != 0);
    for (uint64_t i = 0; status == SSTORE_OK && i < of->block_count; i++) {
        const size_t end = (size_t)ss_min_u64((i + 1) * self->capacity, of->row_count);
        status = ss_array_writer_add(&self->keys, *row_at(self, of, end - 1), error);
    }
    self->block_count += of->block_count;
    const size_t done = (size_t)ss_min_u64(of->block_count * self->capacity, of->row_count);
    self->carried_count = of->row_count - done;
    memcpy(self->carried, row_at(self, of, done), self->carried_count * self->words * sizeof *self->carried);
    if (status != SSTORE_OK || !self->writer->has_ids)
        return status;
    if (of->record_count > 0)
        of->ids.marks[of->ids.margin] = !repeats;
    return ss_column_writer_reserve(&self->ids, &of->ids, of->record_count, is_last, error);
}

static sstore_status write_rows(const row_run *self, worker *of, sstore_error *error)
{
    const uint32_t block_bytes = self->writer->block_bytes, together = OUTPUT_BYTES / block_bytes;
    sstore_status status = SSTORE_OK;
    size_t done = 0;
    for (uint64_t block = 0; status == SSTORE_OK && block < of->block_count;) {
        const uint32_t count = (uint32_t)ss_min_u64(of->block_count - block, together);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t rows = (uint32_t)ss_min_u64(self->capacity, of->row_count - done);
            ss_rows_encode(block_bytes, row_at(self, of, done), rows, self->words,
                           of->output + (size_t)i * block_bytes);
            done += rows;
        }
        status = ss_block_writer_put(&self->table, of->first_block + block, of->output, count, error);
        block += count;
    }
    return status;
}

static sstore_status write_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    row_run *self = context;
    worker *of = &self->workers[index];
    sstore_status status = load(self, task, index, error);
    if (status == SSTORE_OK) {
        take_sample(self, of);
        if (!ss_sequencer_enter(&self->sequencer, task))
            return SSTORE_OK; /* the task that failed reports it */
        status = reserve(self, task, of, error);
    }
    if (status == SSTORE_OK) {
        ss_sequencer_leave(&self->sequencer);
        status = write_rows(self, of, error);
    }
    if (status == SSTORE_OK && self->writer->has_ids)
        status = ss_column_piece_write(&of->ids, &self->ids, error);
    if (status != SSTORE_OK)
        ss_sequencer_break(&self->sequencer);
    return status;
}

static sstore_status open_files(row_run *self, sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    ss_manifest_segment *segment = self->segment;
    const ss_block_header header = {.segment_id = segment->segment_id,
                                    .number = 0,
                                    .words = self->words,
                                    .block_bytes = segment->block_bytes,
                                    .table_count = segment->plan.table_count,
                                    .distance = segment->plan.distance};
    self->carried = ss_realloc(NULL, self->capacity, self->words * sizeof *self->carried);
    self->sample = ss_realloc(NULL, SS_ROW_SAMPLE_CAPACITY, self->words * sizeof *self->sample);
    if (self->carried == NULL || self->sample == NULL)
        return ss_fail_memory(error, (self->capacity + SS_ROW_SAMPLE_CAPACITY) * self->words * sizeof *self->sample);
    sstore_status status = ss_directory_writer_open(writer->dir, ss_directory_bound_bytes(segment), &self->directory,
                                                    error);
    ss_array_writer_init(&self->keys, self->directory, SS_ARRAY_KEYS, 0);
    if (status == SSTORE_OK)
        status = ss_block_writer_open(&self->table, writer->dir, &header, error);
    if (status == SSTORE_OK && writer->has_ids)
        status = ss_column_writer_open(&self->ids, writer->dir, segment, SS_IDS_NUMBER, NULL, self->directory, error);
    return status;
}

static sstore_status finish_files(row_run *self, sstore_error *error)
{
    ss_manifest_segment *segment = self->segment;
    sstore_status status = ss_array_writer_finish(&self->keys, error);
    segment->tables[0].block_count = self->block_count;
    if (status == SSTORE_OK)
        status = ss_block_writer_finish(&self->table, self->block_count, self->row_count,
                                        &segment->tables[0].header_checksum, error);
    if (status == SSTORE_OK && self->writer->has_ids)
        status = ss_column_writer_finish(&self->ids, &segment->ids, error);
    if (status == SSTORE_OK)
        status = ss_directory_writer_finish(self->directory, &segment->directory_bytes, &segment->directory_checksum,
                                            error);
    return status;
}

static void close_files(row_run *self)
{
    ss_array_writer_free(&self->keys);
    ss_block_writer_close(&self->table);
    ss_column_writer_close(&self->ids);
    ss_directory_writer_close(self->directory);
    ss_free(self->carried);
}

static sstore_status write_table(row_run *self, const ss_sorted_pieces *records, sstore_error *error)
{
    ss_manifest_segment *segment = self->segment;
    self->pieces = *records;
    sstore_status status = open_workers(self, records->max_items, error);
    if (status == SSTORE_OK)
        status = count_records(self, error);
    segment->segment_id = ss_segment_id(segment);
    const double share = SAMPLE_ROWS / (double)ss_max_u64(segment->distinct_count, 1);
    self->sample_limit = share < 1 ? (uint64_t)(share * 0x1p64) : UINT64_MAX;
    ss_sequencer_init(&self->sequencer);
    if (status == SSTORE_OK)
        status = open_files(self, error);
    if (status == SSTORE_OK) {
        begin_phase(self, "writing", done_fraction(self, COUNT_NS + WRITE_NS, 0));
        status = ss_pool_run(self->threads, self->pieces.piece_count, write_piece, self, error);
    }
    if (status == SSTORE_OK)
        status = finish_files(self, error);
    close_files(self);
    ss_sequencer_destroy(&self->sequencer);
    close_workers(self);
    return status;
}

/* ----- word indexes ----- */

/* Add (word, rank) of the fingerprints of some blocks to the sorter. */
static sstore_status divide_range(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const row_run *self = context;
    ss_table_iterator *iterator = &self->workers[index].table;
    uint64_t values[WORDS_AT_ONCE], ranks[WORDS_AT_ONCE], rank = task * RANGE_BLOCKS * self->capacity, total = 0;
    const uint64_t *rows;
    uint32_t count = 1;
    sstore_status status = SSTORE_OK;
    if (iterator->buffer == NULL)
        status = ss_table_iterator_open(iterator, &self->checked, error);
    ss_table_iterator_seek(iterator, task * RANGE_BLOCKS, (task + 1) * RANGE_BLOCKS);
    while (status == SSTORE_OK && count > 0) {
        status = ss_table_iterator_next(iterator, &rows, &count, error);
        for (uint32_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
            size = ss_min_u32(count - done, WORDS_AT_ONCE);
            for (uint32_t i = 0; i < size; i++) {
                values[i] = rows[(size_t)(done + i) * self->words + self->word];
                ranks[i] = rank++;
            }
            status = ss_sorter_add(self->sorter, index, values, ranks, size, error);
            total += size;
        }
    }
    return status == SSTORE_OK ? ss_progress_add(self->writer->progress, index, total) : status;
}

/* Sort the words of all fingerprints, with their ranks. */
static sstore_status sort_words(row_run *self, sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    const uint64_t count = self->segment->distinct_count;
    const uint64_t ranges = (self->segment->tables[0].block_count + RANGE_BLOCKS - 1) / RANGE_BLOCKS;
    const ss_sorter_options options = {.item_words = 2,
                                       .writers = self->threads,
                                       .pool = writer->pool,
                                       .piece_capacity = ss_piece_capacity(writer->memory.piece_capacity, count),
                                       .expected_count = count,
                                       .tmp_dir = writer->tmp_dir};
    self->pieces = (ss_sorted_pieces){.item_count = count};
    sstore_status status = ss_sorter_create(&options, &self->sorter, error);
    if (status == SSTORE_OK) {
        begin_phase(self, "dividing", self->writer->progress->end_fraction);
        status = ss_pool_run(self->threads, ranges, divide_range, self, error);
    }
    for (uint32_t i = 0; i < self->threads; i++)
        ss_table_iterator_close(&self->workers[i].table);
    return status == SSTORE_OK ? ss_sorter_finish(self->sorter, writer->progress, error) : status;
}

static void free_sorter(void *sorter)
{
    ss_sorter_free(sorter);
}

/* Set the plan of the current word: the given one; of few records, the same for all words of a radius; otherwise none,
 * so that it is chosen from the word. */
static sstore_status set_plan(row_run *self, ss_segment_writer *writer, sstore_error *error)
{
    const ss_manifest_segment *segment = self->segment;
    const bool is_known = self->plan.table_count > 0 && self->plan.distance == writer->distance;
    if (writer->plan_name == NULL && (double)segment->distinct_count >= SS_WEIGHED_MIN)
        return SSTORE_OK;
    writer->plan = &self->plan;
    if (is_known)
        return SSTORE_OK;
    if (writer->plan_name != NULL)
        return ss_plan_parse(writer->plan_name, writer->distance, &self->plan, error);
    const ss_expected_store expected = {.record_count = (double)segment->distinct_count,
                                        .fingerprint_count = (double)segment->distinct_count,
                                        .has_ids = true,
                                        .block_bytes = writer->block_bytes,
                                        .other_bytes = writer->other_bytes};
    return ss_choose_plan(&expected, writer->distance, NULL, &self->plan, error);
}

/* Write the index of the current word, of this radius, into its folder. */
static sstore_status write_index(row_run *self, int32_t radius, sstore_error *error)
{
    ss_segment_writer writer = *self->writer;
    ss_manifest_segment *index = &self->segment->indexes[self->word];
    char name[SS_NAME_CAPACITY];
    ss_dir dir = SS_DIR_NONE;
    ss_word_index_folder_name(name, self->word);
    writer.words = 1;
    writer.has_ids = true;
    writer.kind = ss_word_index_kind(self->word, radius);
    writer.distance = ss_word_index_distance(writer.kind);
    writer.other_bytes = (double)(self->segment->tables[0].block_count + self->segment->ids.block_count) *
                         writer.block_bytes / self->words;
    writer.begin_fraction = done_fraction(self, COUNT_NS + WRITE_NS, self->word);
    writer.end_fraction = done_fraction(self, COUNT_NS + WRITE_NS, self->word + 1);
    writer.dir = &dir;
    sstore_status status = set_plan(self, &writer, error);
    if (status == SSTORE_OK)
        status = ss_dir_make_at(self->writer->dir, name, error);
    if (status == SSTORE_OK)
        status = ss_dir_open_at(self->writer->dir, name, &dir, error);
    if (status == SSTORE_OK)
        status = sort_words(self, error);
    if (status == SSTORE_OK) {
        ss_sorted_pieces pieces = ss_pieces_of_sorter(self->sorter, ss_piece_capacity(writer.memory.piece_capacity,
                                                                                      self->segment->distinct_count));
        pieces.release = free_sorter;
        self->sorter = NULL;
        status = ss_segment_write(&writer, &pieces, index, error);
    }
    if (status == SSTORE_OK)
        status = ss_dir_sync(&dir, error);
    ss_sorter_free(self->sorter);
    ss_dir_close(&dir);
    return status;
}

static sstore_status set_radii(const row_run *self, int32_t *radii, sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    return ss_radii_choose(self->sample, self->sample_count, self->words, writer->distance,
                           writer->plan_name != NULL ? writer->max_radius : SSTORE_MAX_BUILD_DISTANCE,
                           (double)self->segment->distinct_count, radii, error);
}

static sstore_status write_indexes(row_run *self, sstore_error *error)
{
    ss_manifest_segment *segment = self->segment;
    const ss_block_file_metadata metadata = ss_manifest_file_metadata(segment, 0);
    int32_t radii[SSTORE_MAX_WORDS] = {0};
    segment->indexes = ss_alloc(self->words, sizeof *segment->indexes);
    self->workers = ss_alloc(self->threads, sizeof *self->workers);
    sstore_status status = segment->indexes != NULL && self->workers != NULL
                               ? set_radii(self, radii, error)
                               : ss_fail_memory(error, self->words * sizeof *segment->indexes);
    if (status == SSTORE_OK)
        status = ss_block_reader_open(&self->rows, self->writer->dir, &metadata, SSTORE_IO_PREAD, error);
    self->checked = (ss_checked_blocks){.reader = &self->rows, .words = self->words};
    for (self->word = 0; status == SSTORE_OK && self->word < self->words; self->word++)
        status = write_index(self, radii[self->word], error);
    ss_block_reader_close(&self->rows);
    close_workers(self);
    return status;
}

/* ----- the segment ----- */

sstore_status ss_row_writer_write(const ss_segment_writer *writer, const ss_sorted_pieces *records,
                                  ss_manifest_segment *segment_out, sstore_error *error)
{
    const uint32_t words = writer->words, capacity = ss_rows_capacity(writer->block_bytes, words);
    if (words == 1)
        return ss_segment_write(writer, records, segment_out, error);
    row_run self = {.writer = writer,
                    .segment = segment_out,
                    .threads = writer->memory.threads,
                    .words = words,
                    .item_words = words + (writer->has_ids ? 1 : 0),
                    .capacity = capacity,
                    .margin = capacity};
    assert(words > 1);
    *segment_out = (ss_manifest_segment){.kind = writer->kind,
                                         .words = words,
                                         .has_ids = writer->has_ids,
                                         .block_bytes = writer->block_bytes,
                                         .writer = SS_WRITER,
                                         .lmdb_format = ss_directory_lmdb_format(),
                                         .plan = {.distance = writer->distance, .table_count = 1}};
    sstore_status status = write_table(&self, records, error);
    if (records->release != NULL)
        records->release(records->context); /* the word indexes use their memory */
    if (status == SSTORE_OK && writer->kind == SS_SEGMENT_ADDS && !writer->records_only)
        status = write_indexes(&self, error);
    ss_free(self.sample);
    return status;
}
