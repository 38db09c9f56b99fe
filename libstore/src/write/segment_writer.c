#include "write/segment_writer.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "plan/plan.h"
#include "plan/planner.h"
#include "sort/sorter.h"
#include "store/record_iterator.h"
#include "write/column_writer.h"

#define RANGE_BLOCKS 64u /* of table 0 that a task permutes for another table */
#define PERMUTED_AT_ONCE 1024u

/* ----- threads ----- */

/* What one thread holds: a piece of sorted items, and what is made of it. */
typedef struct build_worker {
    bool with_ids;
    void *scratch;          /* of sorting */
    sstore_record *records; /* the piece, with ids */
    size_t record_count;
    size_t distinct_count; /* of its fingerprints */
    ss_column_piece table, ids;
    ss_table_counts counts; /* of all pieces that were counted, as the next three */
    ss_u128 content_sum;
    uint64_t counted_records;
    ss_sampler sampler; /* fingerprints NULL: no sample is wanted */
} build_worker;

/* All threads, and what they do with sorted pieces: count them, and write a table of them. */
typedef struct build_team {
    uint32_t threads;
    build_worker *workers;
    ss_progress *progress; /* borrowed */
} build_team;

static size_t item_bytes(bool with_ids)
{
    return with_ids ? sizeof(sstore_record) : sizeof(uint64_t);
}

/* The bytes that a worker takes, but for a sample. */
static uint64_t worker_bytes(bool with_ids, uint32_t block_bytes, size_t capacity)
{
    uint64_t bytes = ss_column_piece_bytes(false, block_bytes, capacity) + (uint64_t)capacity * item_bytes(with_ids);
    if (with_ids)
        bytes += ss_column_piece_bytes(true, block_bytes, capacity) + (uint64_t)capacity * sizeof(sstore_record);
    return bytes;
}

/* Room for pieces of up to `capacity` items. */
static sstore_status open_worker(build_worker *self, bool with_ids, uint32_t block_bytes, size_t capacity,
                                 sstore_error *error)
{
    *self = (build_worker){.with_ids = with_ids};
    ss_table_counts_init(&self->counts);
    sstore_status status = ss_column_piece_open(&self->table, false, block_bytes, capacity, error);
    if (status == SSTORE_OK && with_ids)
        status = ss_column_piece_open(&self->ids, true, block_bytes, capacity, error);
    if (status != SSTORE_OK)
        return status;
    self->scratch = ss_realloc(NULL, capacity, item_bytes(with_ids));
    self->records = ss_realloc(NULL, with_ids ? capacity : 0, sizeof *self->records);
    if (self->scratch != NULL && self->records != NULL)
        return SSTORE_OK;
    return ss_fail_memory(error, (uint64_t)capacity * item_bytes(with_ids));
}

static void close_worker(build_worker *self)
{
    ss_column_piece_close(&self->table);
    ss_column_piece_close(&self->ids);
    ss_free(self->scratch);
    ss_free(self->records);
    ss_free(self->sampler.fingerprints);
}

static sstore_status open_team(build_team *self, const ss_segment_writer *writer, bool with_ids, size_t capacity,
                               sstore_error *error)
{
    *self = (build_team){.threads = writer->memory.threads, .progress = writer->progress};
    self->workers = ss_alloc(self->threads, sizeof *self->workers);
    sstore_status status = self->workers != NULL ? SSTORE_OK : ss_fail_memory(error, sizeof *self->workers);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->threads; i++)
        status = open_worker(&self->workers[i], with_ids, writer->block_bytes, capacity, error);
    return status;
}

static void close_team(build_team *self)
{
    for (uint32_t i = 0; self->workers != NULL && i < self->threads; i++)
        close_worker(&self->workers[i]);
    ss_free(self->workers);
}

/* The piece's distinct fingerprints, ascending. */
static uint64_t *values_of(const build_worker *self)
{
    return self->table.items + self->table.margin;
}

/* Make columns of records: distinct fingerprints, ids, and which records start a fingerprint. */
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

/* Load a piece, and tell how far that brings the work. */
static sstore_status load(build_team *self, const ss_sorted_pieces *pieces, uint64_t piece, uint32_t index,
                          sstore_error *error)
{
    build_worker *of = &self->workers[index];
    void *items = of->with_ids ? (void *)of->records : values_of(of);
    sstore_status status = pieces->load(pieces->context, (size_t)piece, items, of->scratch, &of->record_count, error);
    if (status != SSTORE_OK)
        return status;
    of->distinct_count = of->record_count;
    if (of->with_ids)
        of->distinct_count = divide(of->records, of->record_count, values_of(of), of->ids.items + of->ids.margin,
                                    of->ids.marks + of->ids.margin);
    return ss_progress_add(self->progress, index, pieces->progress_each > 0 ? pieces->progress_each : of->record_count);
}

/* ----- memory ----- */

/* The process itself, its stacks, what it reads input through, and the directory's arrays on their way into LMDB. */
#define FIXED_BYTES ((uint64_t)12 << 20)
#define MIN_SORTER_BYTES ((uint64_t)1 << 20)
#define MIN_PIECE ((size_t)16384)
#define MAX_PIECE ((size_t)1 << 20) /* larger ones are sorted more slowly, and buckets are seldom larger */
#define WORKERS_SHARE 6u            /* of memory, for all threads' pieces: 1/6 */

ss_build_memory ss_build_memory_share(uint64_t memory_bytes, uint32_t threads, bool with_ids, uint32_t block_bytes)
{
    const uint64_t min = worker_bytes(with_ids, block_bytes, MIN_PIECE);
    const uint64_t max = worker_bytes(with_ids, block_bytes, MAX_PIECE);
    const uint64_t fixed = worker_bytes(with_ids, block_bytes, 0);
    const uint64_t for_workers = memory_bytes / WORKERS_SHARE;
    ss_build_memory share = {.threads = (uint32_t)ss_max_u64(ss_min_u64(threads, for_workers / min), 1)};
    uint64_t each = ss_min_u64(ss_max_u64(for_workers / share.threads, min), max);
    share.piece_capacity = (size_t)((each - fixed) * MAX_PIECE / (max - fixed));
    uint64_t rest = FIXED_BYTES + share.threads * each;
    share.sorter_bytes = memory_bytes > rest + MIN_SORTER_BYTES ? memory_bytes - rest : MIN_SORTER_BYTES;
    return share;
}

/* ----- counting ----- */

/* The first and the last fingerprint of a piece. */
typedef struct edges {
    bool any;
    uint64_t first, last;
} edges;

/* What all pieces together hold. */
typedef struct totals {
    ss_table_totals metadata;
    uint64_t record_count;
    ss_u128 content_sum;
} totals;

typedef struct counting {
    build_team *team;
    const ss_sorted_pieces *pieces;
    bool sum_contents;
    edges *edges; /* one a piece */
} counting;

static void sum_contents(build_worker *self)
{
    const uint64_t *values = values_of(self);
    ss_u128 sum = self->content_sum;
    for (size_t i = 0; self->with_ids && i < self->record_count; i++)
        ss_content_add(&sum, true, self->records[i].fingerprint, self->records[i].id);
    for (size_t i = 0; !self->with_ids && i < self->record_count; i++)
        ss_content_add(&sum, false, values[i], 0);
    self->content_sum = sum;
}

static sstore_status count_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    const counting *self = context;
    build_worker *of = &self->team->workers[index];
    const uint64_t *values = values_of(of);
    sstore_status status = load(self->team, self->pieces, task, index, error);
    if (status != SSTORE_OK || of->distinct_count == 0)
        return status;
    self->edges[task] = (edges){.any = true, .first = values[0], .last = values[of->distinct_count - 1]};
    of->counted_records += of->record_count;
    ss_table_counts_add(&of->counts, values, of->distinct_count);
    if (self->sum_contents)
        sum_contents(of);
    /* The first one may be the last of the piece before; it waits until the pieces are joined. */
    for (size_t i = 1; of->sampler.fingerprints != NULL && i < of->distinct_count; i++)
        ss_sampler_add(&of->sampler, values[i]);
    return SSTORE_OK;
}

/* Count from one piece to the next. */
static void join_pieces(const edges *pieces, size_t piece_count, ss_sampler *sampler, ss_table_totals *metadata)
{
    ss_table_counts joints;
    const edges *before = NULL;
    uint64_t repeated = 0;
    ss_table_counts_init(&joints);
    for (size_t i = 0; i < piece_count; i++) {
        if (!pieces[i].any)
            continue;
        bool repeats = before != NULL && before->last == pieces[i].first;
        repeated += repeats;
        if (!repeats && before != NULL)
            ss_table_counts_add_pair(&joints, before->last, pieces[i].first);
        if (!repeats && sampler != NULL)
            ss_sampler_add(sampler, pieces[i].first);
        before = &pieces[i];
    }
    ss_table_totals_add(metadata, &joints);
    metadata->count -= repeated;
}

/* Bring together what the workers counted. */
static void gather_counts(const build_team *team, ss_sampler *sampler, totals *counted)
{
    for (uint32_t i = 0; i < team->threads; i++) {
        build_worker *of = &team->workers[i];
        ss_table_totals_add(&counted->metadata, &of->counts);
        counted->record_count += of->counted_records;
        counted->content_sum = ss_u128_add(counted->content_sum, of->content_sum);
        if (sampler != NULL)
            ss_sampler_join(sampler, &of->sampler);
        ss_free(of->sampler.fingerprints);
        of->sampler.fingerprints = NULL;
    }
}

/* Forget what an earlier table's pieces counted. */
static sstore_status reset_counts(const build_team *team, bool samples, sstore_error *error)
{
    for (uint32_t i = 0; i < team->threads; i++) {
        build_worker *of = &team->workers[i];
        ss_table_counts_init(&of->counts);
        of->counted_records = 0;
        of->content_sum = (ss_u128){0, 0};
        if (!samples)
            continue;
        uint64_t *room = ss_alloc(SS_SAMPLE_CAPACITY, sizeof *room);
        if (room == NULL)
            return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *room);
        ss_sampler_init(&of->sampler, room);
    }
    return SSTORE_OK;
}

/* Count all pieces. Without `with_sum`, content_sum stays 0. `sampler`, if not NULL, gets a sample of the fingerprints. */
static sstore_status count_pieces(build_team *team, const ss_sorted_pieces *pieces, bool with_sum, ss_sampler *sampler,
                                  totals *counted_out, sstore_error *error)
{
    counting self = {.team = team, .pieces = pieces, .sum_contents = with_sum};
    *counted_out = (totals){.record_count = 0};
    self.edges = ss_alloc(pieces->piece_count, sizeof *self.edges);
    if (self.edges == NULL)
        return ss_fail_memory(error, pieces->piece_count * sizeof *self.edges);
    sstore_status status = reset_counts(team, sampler != NULL, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(team->threads, pieces->piece_count, count_piece, &self, error);
    if (status == SSTORE_OK) {
        gather_counts(team, sampler, counted_out);
        join_pieces(self.edges, pieces->piece_count, sampler, &counted_out->metadata);
    }
    ss_free(self.edges);
    return status;
}

/* ----- writing pieces ----- */

typedef struct writing {
    build_team *team;
    const ss_sorted_pieces *pieces;
    ss_column_writer table, ids;
    bool with_ids;
    ss_sequencer sequencer;
} writing;

/* What has to be done in the order of the pieces. */
static sstore_status reserve(writing *self, uint64_t task, build_worker *of, sstore_error *error)
{
    const bool is_last = task + 1 == self->pieces->piece_count;
    const bool continued = of->distinct_count > 0 && self->table.count > 0 && values_of(of)[0] == self->table.last;
    sstore_status status = ss_column_writer_reserve(&self->table, &of->table, of->distinct_count, is_last, error);
    if (status != SSTORE_OK || !self->with_ids)
        return status;
    of->ids.marks[of->ids.margin] = !continued;
    return ss_column_writer_reserve(&self->ids, &of->ids, of->record_count, is_last, error);
}

static sstore_status write_piece(void *context, uint64_t task, uint32_t index, sstore_error *error)
{
    writing *self = context;
    build_worker *of = &self->team->workers[index];
    sstore_status status = load(self->team, self->pieces, task, index, error);
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

/* ----- a segment ----- */

/* What all steps share. */
typedef struct segment_run {
    const ss_segment_writer *writer;
    ss_manifest_segment *segment;
    ss_directory_writer *directory;
    ss_block_reader first; /* table 0, once it is written */
    ss_code *first_code;
    ss_checked_blocks first_source; /* of both */
} segment_run;

/* About how long the phases take, in ns a record, for the estimate of how far a build is. */
#define COUNT_RECORDS_NS 20.0
#define WRITE_RECORDS_NS 30.0
#define PERMUTE_NS 9.0
#define COUNT_NS 9.0
#define WRITE_NS 10.0
#define USUAL_TABLES 3u /* as long as the plan is not chosen */

/* The share of all work that is done where `ns` a record of table `table` are. */
static double share_done(const segment_run *self, uint32_t table, double ns)
{
    const double first = COUNT_RECORDS_NS + WRITE_RECORDS_NS, other = PERMUTE_NS + COUNT_NS + WRITE_NS;
    uint32_t tables = self->segment->plan.table_count > 0 ? self->segment->plan.table_count : USUAL_TABLES;
    double before = table == 0 ? 0 : first + (table - 1) * other;
    return (before + ns) / (first + (tables - 1) * other);
}

static void begin_phase(const segment_run *self, const char *phase, uint32_t table, uint64_t total, double end_ns)
{
    self->writer->progress->now.table_count = self->segment->plan.table_count;
    ss_progress_begin(self->writer->progress, phase, table, total, share_done(self, table, end_ns));
}

/* ----- counting the records ----- */

/* Count, and choose the plan that was not given from a sample taken on the way. */
static sstore_status count_records(segment_run *self, build_team *team, const ss_sorted_pieces *pieces, totals *counted,
                                   sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    ss_manifest_segment *segment = self->segment;
    bool choose = writer->plan == NULL;
    ss_sampler sampler;
    uint64_t *room = ss_alloc(choose ? SS_SAMPLE_CAPACITY : 1, sizeof *room);
    if (room == NULL)
        return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *room);
    ss_sampler_init(&sampler, room);
    begin_phase(self, "counting", 0, pieces->item_count, COUNT_RECORDS_NS);
    sstore_status status = count_pieces(team, pieces, true, choose ? &sampler : NULL, counted, error);
    segment->record_count = counted->record_count;
    segment->distinct_count = counted->metadata.count;
    segment->content_sum = counted->content_sum;
    const ss_expected_store expected = {.record_count = (double)segment->record_count,
                                        .fingerprint_count = (double)segment->distinct_count,
                                        .has_ids = writer->has_ids,
                                        .block_bytes = writer->block_bytes};
    if (status == SSTORE_OK && choose)
        status = ss_choose_plan(&expected, writer->distance, &sampler, &segment->plan, error);
    else if (status == SSTORE_OK)
        segment->plan = *writer->plan;
    ss_free(room);
    return status;
}

/* ----- writing a table ----- */

static sstore_status write_table(const segment_run *self, build_team *team, const ss_sorted_pieces *pieces,
                                 uint32_t number, const ss_table_totals *metadata, sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    ss_manifest_segment *segment = self->segment;
    writing run = {.team = team, .pieces = pieces, .with_ids = number == 0 && writer->has_ids};
    if (number == 0)
        begin_phase(self, "writing", 0, pieces->item_count, COUNT_RECORDS_NS + WRITE_RECORDS_NS);
    else
        begin_phase(self, "writing", number, pieces->item_count, PERMUTE_NS + COUNT_NS + WRITE_NS);
    ss_sequencer_init(&run.sequencer);
    sstore_status status = ss_column_writer_open(&run.table, writer->dir, segment, number, metadata, self->directory,
                                                 error);
    if (status == SSTORE_OK && run.with_ids)
        status = ss_column_writer_open(&run.ids, writer->dir, segment, SS_IDS_NUMBER, NULL, self->directory, error);
    if (status == SSTORE_OK)
        status = ss_pool_run(team->threads, pieces->piece_count, write_piece, &run, error);
    if (status == SSTORE_OK)
        status = ss_column_writer_finish(&run.table, &segment->tables[number], error);
    if (status == SSTORE_OK && run.with_ids)
        status = ss_column_writer_finish(&run.ids, &segment->ids, error);
    ss_column_writer_close(&run.table);
    ss_column_writer_close(&run.ids);
    ss_sequencer_destroy(&run.sequencer);
    return status;
}

uint64_t ss_directory_bound_bytes(const ss_manifest_segment *segment, bool has_ids)
{
    /* A fingerprint takes a code and a rest, or a key, its lowest bits and a slot: at most 12 bytes; an id 8 bytes and a
     * bit. What a block cannot use, since the next item does not fit, is less than one such item. */
    const uint64_t fingerprint_bytes = 12, id_bytes = 9, frame_bytes = 40;
    uint64_t room = segment->block_bytes - frame_bytes;
    uint64_t table_blocks = segment->distinct_count * fingerprint_bytes / room + 2;
    uint64_t ids_blocks = has_ids ? segment->record_count * id_bytes / room + 2 : 0;
    return 8 * (table_blocks * (segment->plan.table_count + 1) + ids_blocks);
}

/* Count all records, and write table 0 and the ids. */
static sstore_status build_first_table(segment_run *self, const ss_sorted_pieces *records, sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    ss_manifest_segment *segment = self->segment;
    build_team team;
    totals counted;
    sstore_status status = open_team(&team, writer, writer->has_ids, records->max_items, error);
    if (status == SSTORE_OK)
        status = count_records(self, &team, records, &counted, error);
    if (status == SSTORE_OK) {
        segment->segment_id = ss_segment_id(segment, writer->has_ids);
        status = ss_directory_writer_open(writer->dir, ss_directory_bound_bytes(segment, writer->has_ids),
                                          &self->directory, error);
    }
    if (status == SSTORE_OK)
        status = write_table(self, &team, records, 0, &counted.metadata, error);
    close_team(&team);
    return status;
}

/* ----- the other tables ----- */

/* Table 0 on its way into a sorter, permuted. */
typedef struct permuting {
    const segment_run *run;
    ss_permutation permutation;
    ss_sorter *sorter;
    ss_table_iterator *iterators; /* one a thread, opened when first needed */
} permuting;

static sstore_status add_permuted(const permuting *self, uint32_t worker, const uint64_t *values, uint32_t count,
                                  sstore_error *error)
{
    uint64_t permuted[PERMUTED_AT_ONCE];
    sstore_status status = SSTORE_OK;
    for (uint32_t done = 0; status == SSTORE_OK && done < count;) {
        uint32_t piece = count - done < PERMUTED_AT_ONCE ? count - done : PERMUTED_AT_ONCE;
        for (uint32_t i = 0; i < piece; i++)
            permuted[i] = ss_permute(&self->permutation, values[done + i]);
        status = ss_sorter_add(self->sorter, worker, permuted, NULL, piece, error);
        done += piece;
    }
    return status;
}

/* Decode some blocks of table 0 and add what they hold. */
static sstore_status permute_range(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const permuting *self = context;
    const segment_run *run = self->run;
    ss_table_iterator *iterator = &self->iterators[worker];
    uint64_t done = 0;
    sstore_status status = SSTORE_OK;
    if (iterator->values == NULL)
        status = ss_table_iterator_open(iterator, &run->first_source, error);
    ss_table_iterator_seek(iterator, task * RANGE_BLOCKS, (task + 1) * RANGE_BLOCKS);
    while (status == SSTORE_OK) {
        const uint64_t *values;
        uint32_t count;
        status = ss_table_iterator_next(iterator, &values, &count, error);
        if (status != SSTORE_OK || count == 0)
            break;
        status = add_permuted(self, worker, values, count, error);
        done += count;
    }
    return status == SSTORE_OK ? ss_progress_add(run->writer->progress, worker, done) : status;
}

/* Put all fingerprints, permuted for a table, into its sorter. */
static sstore_status permute_first_table(const segment_run *self, uint64_t key_mask, ss_sorter *sorter,
                                         sstore_error *error)
{
    const uint32_t threads = self->writer->memory.threads;
    uint64_t ranges = (self->segment->tables[0].block_count + RANGE_BLOCKS - 1) / RANGE_BLOCKS;
    permuting way = {.run = self, .sorter = sorter};
    ss_permutation_init(&way.permutation, key_mask);
    way.iterators = ss_alloc(threads, sizeof *way.iterators);
    if (way.iterators == NULL)
        return ss_fail_memory(error, threads * sizeof *way.iterators);
    sstore_status status = ss_pool_run(threads, ranges, permute_range, &way, error);
    for (uint32_t i = 0; i < threads; i++)
        ss_table_iterator_close(&way.iterators[i]);
    ss_free(way.iterators);
    return status;
}

static sstore_status load_keys(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                               sstore_error *error)
{
    return ss_sorter_load(context, piece, items, scratch, count_out, error);
}

static sstore_status build_table(const segment_run *self, build_team *team, size_t capacity, uint32_t number,
                                 sstore_error *error)
{
    const ss_build_memory *memory = &self->writer->memory;
    const uint64_t distinct = self->segment->distinct_count;
    ss_sorter_options options = {.item_words = 1,
                                 .writers = memory->threads,
                                 .pool = self->writer->pool,
                                 .piece_capacity = capacity,
                                 .expected_count = distinct,
                                 .tmp_dir = self->writer->tmp_dir};
    ss_sorted_pieces pieces = {.load = load_keys, .item_count = distinct, .max_items = capacity};
    ss_sorter *sorter;
    totals counted;
    sstore_status status = ss_sorter_create(&options, &sorter, error);
    begin_phase(self, "permuting", number, distinct, PERMUTE_NS);
    if (status == SSTORE_OK)
        status = permute_first_table(self, self->segment->plan.tables[number].key_mask, sorter, error);
    if (status == SSTORE_OK)
        status = ss_sorter_finish(sorter, team->workers[0].scratch, self->writer->progress, error);
    if (status == SSTORE_OK) {
        pieces.context = sorter;
        pieces.piece_count = ss_sorter_piece_count(sorter);
        begin_phase(self, "counting", number, distinct, PERMUTE_NS + COUNT_NS);
        status = count_pieces(team, &pieces, false, NULL, &counted, error);
    }
    if (status == SSTORE_OK)
        status = write_table(self, team, &pieces, number, &counted.metadata, error);
    ss_sorter_free(sorter);
    return status;
}

static sstore_status build_other_tables(segment_run *self, sstore_error *error)
{
    const ss_segment_writer *writer = self->writer;
    ss_block_file_metadata metadata = ss_manifest_file_metadata(self->segment, 0);
    size_t capacity = ss_piece_capacity(writer->memory.piece_capacity, self->segment->distinct_count);
    build_team team = {.workers = NULL};
    sstore_status status = ss_block_reader_open(&self->first, writer->dir, &metadata, SSTORE_IO_PREAD, error);
    if (status == SSTORE_OK) {
        self->first_code = ss_alloc(1, sizeof *self->first_code);
        if (self->first_code == NULL)
            status = ss_fail_memory(error, sizeof *self->first_code);
    }
    if (status == SSTORE_OK) {
        ss_code_init(self->first_code, self->first.header.code_lengths);
        self->first_source = (ss_checked_blocks){.reader = &self->first, .code = self->first_code};
        status = open_team(&team, writer, false, capacity, error);
    }
    for (uint32_t number = 1; status == SSTORE_OK && number < self->segment->plan.table_count; number++)
        status = build_table(self, &team, capacity, number, error);
    close_team(&team);
    ss_free(self->first_code);
    ss_block_reader_close(&self->first);
    return status;
}

sstore_status ss_segment_write(const ss_segment_writer *writer, const ss_sorted_pieces *records,
                               ss_manifest_segment *segment_out, sstore_error *error)
{
    segment_run self = {.writer = writer, .segment = segment_out};
    *segment_out = (ss_manifest_segment){.kind = writer->kind,
                                         .block_bytes = writer->block_bytes,
                                         .writer = SS_WRITER,
                                         .lmdb_format = ss_directory_lmdb_format()};
    sstore_status status = build_first_table(&self, records, error);
    if (records->release != NULL)
        records->release(records->context); /* their memory goes to the other tables */
    if (status == SSTORE_OK && segment_out->plan.table_count > 1)
        status = build_other_tables(&self, error);
    if (status == SSTORE_OK)
        status = ss_directory_writer_finish(self.directory, &segment_out->directory_bytes, &segment_out->directory_sum,
                                            error);
    ss_directory_writer_close(self.directory);
    return status;
}
