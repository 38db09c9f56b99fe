#include "write/segment_writer.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "codec/rows.h"
#include "plan/planner.h"
#include "store/record_iterator.h"
#include "write/column_writer.h"

#define RANGE_BLOCKS 64u /* of table 0 that a task permutes for another table */
#define PERMUTED_AT_ONCE 1024u

/* The state of one thread: a piece of sorted items, and its columns. */
typedef struct worker {
    void *scratch;          /* of sorting */
    sstore_record *records; /* the piece, with ids */
    size_t record_count;
    size_t distinct_count; /* of its fingerprints */
    ss_column_piece table, ids;
    ss_table_counts counts; /* of all pieces that it counted, as the next three */
    ss_u128 content_sum;
    uint64_t counted_records;
    ss_sampler sampler;             /* fingerprints NULL: no sample is wanted */
    ss_table_iterator first_values; /* of table 0, while they are permuted */
} worker;

/* The first and the last fingerprint of a piece. */
typedef struct edges {
    bool any;
    uint64_t first, last;
} edges;

/* The state of all steps. */
typedef struct segment_run {
    const ss_segment_writer *writer;
    ss_manifest_segment *segment;
    ss_directory_writer *directory;
    uint32_t threads;
    worker *workers; /* one a thread */
    /* The current table: */
    uint32_t number;
    bool with_ids; /* its pieces are records; else fingerprints */
    ss_sorted_pieces pieces;
    edges *edges; /* one a piece */
    ss_table_totals totals;
    ss_column_writer table, ids;
    ss_sequencer sequencer;
    /* Table 0, once it is written, and its permutation for the current table: */
    ss_block_reader first;
    ss_code first_code;
    ss_checked_blocks first_blocks; /* of both */
    ss_permutation permutation;
    ss_sorter *sorter;
} segment_run;

/* ----- threads and memory ----- */

static size_t item_bytes(bool with_ids)
{
    return with_ids ? sizeof(sstore_record) : sizeof(uint64_t);
}

/* The bytes that a worker takes, except for a sample. */
static uint64_t worker_bytes(bool with_ids, uint32_t block_bytes, size_t capacity)
{
    uint64_t bytes = ss_column_piece_bytes(false, block_bytes, capacity) + (uint64_t)capacity * item_bytes(with_ids);
    if (with_ids)
        bytes += ss_column_piece_bytes(true, block_bytes, capacity) + (uint64_t)capacity * sizeof(sstore_record);
    return bytes;
}

ss_sort_memory ss_build_memory_divide(uint64_t limit_bytes, uint32_t threads, bool with_ids, uint32_t block_bytes)
{
    const uint64_t fixed = worker_bytes(with_ids, block_bytes, 0);
    return ss_sort_memory_divide(limit_bytes, threads, fixed, worker_bytes(with_ids, block_bytes, 1) - fixed);
}

/* Make workers for pieces of up to `capacity` items. */
static sstore_status open_workers(segment_run *self, bool with_ids, size_t capacity, sstore_error *error)
{
    const uint32_t block_bytes = self->writer->block_bytes;
    sstore_status status = SSTORE_OK;
    self->with_ids = with_ids;
    self->workers = ss_alloc(self->threads, sizeof *self->workers);
    if (self->workers == NULL)
        return ss_fail_memory(error, self->threads * sizeof *self->workers);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->threads; i++) {
        worker *of = &self->workers[i];
        status = ss_column_piece_open(&of->table, false, block_bytes, capacity, error);
        if (status == SSTORE_OK && with_ids)
            status = ss_column_piece_open(&of->ids, true, block_bytes, capacity, error);
        of->scratch = ss_realloc(NULL, capacity, item_bytes(with_ids));
        of->records = ss_realloc(NULL, with_ids ? capacity : 0, sizeof *of->records);
        if (status == SSTORE_OK && (of->scratch == NULL || of->records == NULL))
            status = ss_fail_memory(error, (uint64_t)capacity * item_bytes(with_ids));
    }
    return status;
}

static void close_workers(segment_run *self)
{
    for (uint32_t i = 0; self->workers != NULL && i < self->threads; i++) {
        worker *of = &self->workers[i];
        ss_column_piece_close(&of->table);
        ss_column_piece_close(&of->ids);
        ss_free(of->scratch);
        ss_free(of->records);
        ss_free(of->sampler.fingerprints);
    }
    ss_free(self->workers);
    self->workers = NULL;
}

/* ----- progress ----- */

/* About the duration of the phases, in ns a record, to estimate the progress. */
#define COUNT_RECORDS_NS 20.0
#define WRITE_RECORDS_NS 30.0
#define PERMUTE_NS 9.0
#define COUNT_NS 9.0
#define WRITE_NS 10.0
#define USUAL_TABLES 3u /* before the plan is chosen */

/* Begin a phase of the current table, which ends `end_ns` a record after the table's begin. */
static void begin_phase(const segment_run *self, const char *phase, double end_ns)
{
    const double first = COUNT_RECORDS_NS + WRITE_RECORDS_NS, other = PERMUTE_NS + COUNT_NS + WRITE_NS;
    const uint32_t table_count = self->segment->plan.table_count;
    const uint32_t tables = table_count > 0 ? table_count : USUAL_TABLES;
    const double before = self->number == 0 ? 0 : first + (self->number - 1) * other;
    const ss_segment_writer *writer = self->writer;
    const double done = (before + end_ns) / (first + (tables - 1) * other);
    writer->progress->now.table_count = table_count;
    ss_progress_begin(writer->progress, phase, self->number, self->pieces.item_count,
                      writer->begin_fraction + (writer->end_fraction - writer->begin_fraction) * done);
}

/* ----- loading a piece ----- */

static sstore_status load_sorted(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                                 sstore_error *error)
{
    return ss_sorter_load(context, piece, items, scratch, count_out, error);
}

ss_sorted_pieces ss_pieces_of_sorter(ss_sorter *sorter, size_t max_items)
{
    return (ss_sorted_pieces){.context = sorter,
                              .piece_count = ss_sorter_piece_count(sorter),
                              .item_count = ss_sorter_count(sorter),
                              .max_items = max_items,
                              .load = load_sorted};
}

/* The piece's distinct fingerprints, ascending. */
static uint64_t *values_of(const worker *of)
{
    return of->table.items + of->table.margin;
}

/* Divide records into columns: distinct fingerprints, ids, and which records start a fingerprint. */
static size_t divide(const sstore_record *records, size_t count, uint64_t *values, uint64_t *ids, uint8_t *starts)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || records[i].fingerprint != records[i - 1].fingerprint;
        distinct += first;
        values[distinct - 1] = records[i].fingerprint;
        ids[i] = records[i].id;
        starts[i] = first;
    }
    return distinct;
}

/* Load a piece, and count it as progress. */
static sstore_status load(const segment_run *self, uint64_t piece, uint32_t index, sstore_error *error)
{
    const ss_sorted_pieces *pieces = &self->pieces;
    worker *of = &self->workers[index];
    void *items = self->with_ids ? (void *)of->records : values_of(of);
    sstore_status status = pieces->load(pieces->context, (size_t)piece, items, of->scratch, &of->record_count, error);
    if (status != SSTORE_OK)
        return status;
    of->distinct_count = of->record_count;
    if (self->with_ids)
        of->distinct_count = divide(of->records, of->record_count, values_of(of), of->ids.items + of->ids.margin,
                                    of->ids.marks + of->ids.margin);
    return ss_progress_add(self->writer->progress, index,
                           pieces->progress_each > 0 ? pieces->progress_each : of->record_count);
}

/* ----- counting ----- */

static void sum_contents(worker *of, bool with_ids)
{
    const uint64_t *values = values_of(of);
    ss_u128 sum = of->content_sum;
    for (size_t i = 0; with_ids && i < of->record_count; i++)
        ss_content_add(&sum, true, of->records[i].fingerprint, of->records[i].id);
    for (size_t i = 0; !with_ids && i < of->record_count; i++)
        ss_content_add(&sum, false, values[i], 0);
    of->content_sum = sum;
}

static sstore_status count_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const segment_run *self = context;
    worker *of = &self->workers[index];
    const uint64_t *values = values_of(of);
    sstore_status status = load(self, task, index, error);
    if (status != SSTORE_OK || of->distinct_count == 0)
        return status;
    self->edges[task] = (edges){.any = true, .first = values[0], .last = values[of->distinct_count - 1]};
    of->counted_records += of->record_count;
    ss_table_counts_add(&of->counts, values, of->distinct_count);
    if (self->number == 0)
        sum_contents(of, self->with_ids);
    /* The first one may be the last of the piece before; join_pieces() adds it. */
    for (size_t i = 1; of->sampler.fingerprints != NULL && i < of->distinct_count; i++)
        ss_sampler_add(&of->sampler, values[i]);
    return SSTORE_OK;
}

/* Count from one piece to the next. */
static void join_pieces(segment_run *self, ss_sampler *sampler)
{
    ss_table_counts joints;
    const edges *before = NULL;
    uint64_t repeated = 0;
    ss_table_counts_init(&joints);
    for (size_t i = 0; i < self->pieces.piece_count; i++) {
        const edges *piece = &self->edges[i];
        if (!piece->any)
            continue;
        bool repeats = before != NULL && before->last == piece->first;
        repeated += repeats;
        if (!repeats && before != NULL)
            ss_table_counts_add_pair(&joints, before->last, piece->first);
        if (!repeats && sampler != NULL)
            ss_sampler_add(sampler, piece->first);
        before = piece;
    }
    ss_table_totals_add(&self->totals, &joints);
    self->totals.count -= repeated;
}

/* Count all pieces of the current table, and of table 0 also the records. `sampler`, if not NULL, gets a sample of the
 * fingerprints. */
static sstore_status count_pieces(segment_run *self, ss_sampler *sampler, sstore_error *error)
{
    const size_t piece_count = self->pieces.piece_count;
    sstore_status status = SSTORE_OK;
    self->totals = (ss_table_totals){.count = 0};
    for (uint32_t i = 0; i < self->threads; i++) {
        worker *of = &self->workers[i];
        ss_table_counts_init(&of->counts);
        if (sampler == NULL)
            continue;
        uint64_t *buffer = ss_alloc(SS_SAMPLE_CAPACITY, sizeof *buffer);
        if (buffer == NULL)
            return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *buffer);
        ss_sampler_init(&of->sampler, buffer);
    }
    self->edges = ss_alloc(piece_count, sizeof *self->edges);
    if (self->edges == NULL)
        return ss_fail_memory(error, piece_count * sizeof *self->edges);
    status = ss_pool_run(self->threads, piece_count, count_piece, self, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->threads; i++) {
        worker *of = &self->workers[i];
        ss_table_totals_add(&self->totals, &of->counts);
        if (self->number == 0) {
            self->segment->record_count += of->counted_records;
            self->segment->content_sum = ss_u128_add(self->segment->content_sum, of->content_sum);
        }
        if (sampler != NULL)
            ss_sampler_join(sampler, &of->sampler);
        ss_free(of->sampler.fingerprints);
        of->sampler.fingerprints = NULL;
    }
    if (status == SSTORE_OK)
        join_pieces(self, sampler);
    ss_free(self->edges);
    return status;
}

/* ----- writing a table, and with table 0 the ids ----- */

/* Reserve blocks for a piece, in the order of the pieces. */
static sstore_status reserve(segment_run *self, uint64_t task, worker *of, sstore_error *error)
{
    const bool is_last = task + 1 == self->pieces.piece_count;
    const bool continued = of->distinct_count > 0 && self->table.count > 0 && values_of(of)[0] == self->table.last;
    sstore_status status = ss_column_writer_reserve(&self->table, &of->table, of->distinct_count, is_last, error);
    if (status != SSTORE_OK || !self->with_ids)
        return status;
    of->ids.marks[of->ids.margin] = !continued;
    return ss_column_writer_reserve(&self->ids, &of->ids, of->record_count, is_last, error);
}

static sstore_status write_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    segment_run *self = context;
    worker *of = &self->workers[index];
    sstore_status status = load(self, task, index, error);
    if (status == SSTORE_OK) {
        ss_column_piece_measure(&of->table, &self->table, of->distinct_count);
        if (!ss_sequencer_enter(&self->sequencer, task))
            return SSTORE_OK; /* the task that failed reports it */
        status = reserve(self, task, of, error);
    }
    if (status == SSTORE_OK) {
        ss_sequencer_leave(&self->sequencer);
        status = ss_column_piece_write(&of->table, &self->table, error);
    }
    if (status == SSTORE_OK && self->with_ids)
        status = ss_column_piece_write(&of->ids, &self->ids, error);
    if (status != SSTORE_OK)
        ss_sequencer_break(&self->sequencer);
    return status;
}

static sstore_status write_table(segment_run *self, sstore_error *error)
{
    const ss_dir *dir = self->writer->dir;
    ss_manifest_segment *segment = self->segment;
    begin_phase(self, "writing",
                self->number == 0 ? COUNT_RECORDS_NS + WRITE_RECORDS_NS : PERMUTE_NS + COUNT_NS + WRITE_NS);
    ss_sequencer_init(&self->sequencer);
    sstore_status status = ss_column_writer_open(&self->table, dir, segment, self->number, &self->totals,
                                                 self->directory, error);
    if (status == SSTORE_OK && self->with_ids)
        status = ss_column_writer_open(&self->ids, dir, segment, SS_IDS_NUMBER, NULL, self->directory, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(self->threads, self->pieces.piece_count, write_piece, self, error);
    if (status == SSTORE_OK)
        status = ss_column_writer_finish(&self->table, &segment->tables[self->number], error);
    if (status == SSTORE_OK && self->with_ids)
        status = ss_column_writer_finish(&self->ids, &segment->ids, error);
    ss_column_writer_close(&self->table);
    ss_column_writer_close(&self->ids);
    ss_sequencer_destroy(&self->sequencer);
    return status;
}

/* ----- table 0 ----- */

/* Count the records, and set the plan; one that was not given is chosen, from a sample if there are enough records. */
static sstore_status count_records(segment_run *self, sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    ss_manifest_segment *segment = self->segment;
    const bool with_sample = writer->plan == NULL && (double)self->pieces.item_count >= SS_WEIGHED_MIN;
    ss_sampler sampler;
    uint64_t *buffer = ss_alloc(with_sample ? SS_SAMPLE_CAPACITY : 1, sizeof *buffer);
    if (buffer == NULL)
        return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *buffer);
    ss_sampler_init(&sampler, buffer);
    begin_phase(self, "counting", COUNT_RECORDS_NS);
    sstore_status status = count_pieces(self, with_sample ? &sampler : NULL, error);
    segment->distinct_count = self->totals.count;
    const ss_expected_store expected = {.record_count = (double)segment->record_count,
                                        .fingerprint_count = (double)segment->distinct_count,
                                        .has_ids = writer->has_ids,
                                        .block_bytes = writer->block_bytes,
                                        .other_bytes = writer->other_bytes};
    if (writer->plan != NULL)
        segment->plan = *writer->plan;
    else if (status == SSTORE_OK)
        status = ss_choose_plan(&expected, writer->distance, with_sample ? &sampler : NULL, &segment->plan, error);
    ss_free(buffer);
    return status;
}

uint64_t ss_directory_bound_bytes(const ss_manifest_segment *segment)
{
    /* A fingerprint takes a code and a suffix, or a key, its lowest bits and a slot: at most 12 bytes; an id 8 bytes
     * and a bit. A block leaves less room unused than one such item takes. */
    const uint64_t fingerprint_bytes = 12, id_bytes = 9, frame_bytes = 40;
    uint64_t room = segment->block_bytes - frame_bytes;
    uint64_t table_blocks = segment->words > 1
                                ? segment->distinct_count / ss_rows_capacity(segment->block_bytes, segment->words) + 2
                                : segment->distinct_count * fingerprint_bytes / room + 2;
    uint64_t ids_blocks = segment->has_ids ? segment->record_count * id_bytes / room + 2 : 0;
    return 8 * (table_blocks * (segment->plan.table_count + 1) + ids_blocks);
}

/* Count all records, and write table 0 and the ids. */
static sstore_status build_first_table(segment_run *self, const ss_sorted_pieces *records, sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    ss_manifest_segment *segment = self->segment;
    self->pieces = *records;
    sstore_status status = open_workers(self, writer->has_ids, records->max_items, error);
    if (status == SSTORE_OK)
        status = count_records(self, error);
    if (status == SSTORE_OK) {
        segment->segment_id = ss_segment_id(segment);
        status = ss_directory_writer_open(writer->dir, ss_directory_bound_bytes(segment), &self->directory, error);
    }
    if (status == SSTORE_OK)
        status = write_table(self, error);
    close_workers(self);
    return status;
}

/* ----- the other tables ----- */

/* Decode some blocks of table 0, and add their fingerprints, permuted, to the sorter. */
static sstore_status permute_range(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    segment_run *self = context;
    ss_table_iterator *iterator = &self->workers[index].first_values;
    uint64_t permuted[PERMUTED_AT_ONCE], total = 0;
    const uint64_t *values;
    uint32_t count = 1;
    sstore_status status = SSTORE_OK;
    if (iterator->values == NULL)
        status = ss_table_iterator_open(iterator, &self->first_blocks, error);
    ss_table_iterator_seek(iterator, task * RANGE_BLOCKS, (task + 1) * RANGE_BLOCKS);
    while (status == SSTORE_OK && count > 0) {
        status = ss_table_iterator_next(iterator, &values, &count, error);
        for (uint32_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
            size = ss_min_u32(count - done, PERMUTED_AT_ONCE);
            for (uint32_t i = 0; i < size; i++)
                permuted[i] = ss_permute(&self->permutation, values[done + i]);
            status = ss_sorter_add(self->sorter, index, permuted, NULL, size, error);
            total += size;
        }
    }
    return status == SSTORE_OK ? ss_progress_add(self->writer->progress, index, total) : status;
}

/* Put all fingerprints, permuted for the current table, into the sorter. */
static sstore_status permute_first_table(segment_run *self, sstore_error *error)
{
    const uint64_t ranges = (self->segment->tables[0].block_count + RANGE_BLOCKS - 1) / RANGE_BLOCKS;
    ss_permutation_init(&self->permutation, self->segment->plan.tables[self->number].key_mask);
    begin_phase(self, "permuting", PERMUTE_NS);
    sstore_status status = ss_pool_run(self->threads, ranges, permute_range, self, error);
    for (uint32_t i = 0; i < self->threads; i++)
        ss_table_iterator_close(&self->workers[i].first_values);
    return status;
}

static sstore_status build_table(segment_run *self, size_t capacity, sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    const uint64_t distinct = self->segment->distinct_count;
    ss_sorter_options options = {.item_words = 1,
                                 .writers = self->threads,
                                 .pool = writer->pool,
                                 .piece_capacity = capacity,
                                 .expected_count = distinct,
                                 .tmp_dir = writer->tmp_dir};
    self->pieces = (ss_sorted_pieces){.item_count = distinct};
    sstore_status status = ss_sorter_create(&options, &self->sorter, error);
    if (status == SSTORE_OK)
        status = permute_first_table(self, error);
    if (status == SSTORE_OK)
        status = ss_sorter_finish(self->sorter, writer->progress, error);
    if (status == SSTORE_OK) {
        self->pieces = ss_pieces_of_sorter(self->sorter, capacity);
        begin_phase(self, "counting", PERMUTE_NS + COUNT_NS);
        status = count_pieces(self, NULL, error);
    }
    if (status == SSTORE_OK)
        status = write_table(self, error);
    ss_sorter_free(self->sorter);
    return status;
}

static sstore_status build_other_tables(segment_run *self, sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    const ss_block_file_metadata metadata = ss_manifest_file_metadata(self->segment, 0);
    const size_t capacity = ss_piece_capacity(writer->memory.piece_capacity, self->segment->distinct_count);
    sstore_status status = ss_block_reader_open(&self->first, writer->dir, &metadata, SSTORE_IO_PREAD, error);
    if (status == SSTORE_OK) {
        ss_code_init(&self->first_code, self->first.header.code_lengths);
        self->first_blocks = (ss_checked_blocks){.reader = &self->first, .words = 1, .code = &self->first_code};
        status = open_workers(self, false, capacity, error);
    }
    for (self->number = 1; status == SSTORE_OK && self->number < self->segment->plan.table_count; self->number++)
        status = build_table(self, capacity, error);
    close_workers(self);
    ss_block_reader_close(&self->first);
    return status;
}

sstore_status ss_segment_write(const ss_segment_writer *writer, const ss_sorted_pieces *records,
                               ss_manifest_segment *segment_out, sstore_error *error)
{
    segment_run self = {.writer = writer, .segment = segment_out, .threads = writer->memory.threads};
    *segment_out = (ss_manifest_segment){.kind = writer->kind,
                                         .words = 1,
                                         .has_ids = writer->has_ids,
                                         .block_bytes = writer->block_bytes,
                                         .writer = SS_WRITER,
                                         .lmdb_format = ss_directory_lmdb_format()};
    sstore_status status = build_first_table(&self, records, error);
    if (records->release != NULL)
        records->release(records->context); /* the other tables use their memory */
    if (status == SSTORE_OK && segment_out->plan.table_count > 1)
        status = build_other_tables(&self, error);
    if (status == SSTORE_OK)
        status = ss_directory_writer_finish(self.directory, &segment_out->directory_bytes,
                                            &segment_out->directory_checksum, error);
    ss_directory_writer_close(self.directory);
    return status;
}
