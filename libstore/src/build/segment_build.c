#include "build/segment_build.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "build/build_team.h"
#include "build/planning.h"
#include "plan/permute.h"
#include "sort/sorter.h"
#include "store/table_stream.h"

#define RANGE_BLOCKS 64u /* of table 0 that a task deals to another table */
#define DEALT_AT_ONCE 1024u

/* What all steps share. */
typedef struct segment_run {
    const ss_segment_build *build;
    ss_manifest_segment *segment;
    ss_directory_writer *directory;
    ss_block_reader first; /* table 0, once it is written */
    ss_code *first_code;
    ss_block_source first_source; /* of both */
} segment_run;

static sstore_status open_team(const ss_segment_build *build, ss_build_team *team, bool with_ids, size_t capacity,
                               sstore_error *error)
{
    return ss_build_team_open(team, build->memory.threads, with_ids, build->block_bytes, capacity, build->progress, error);
}

/* ----- progress ----- */

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
    self->build->progress->now.table_count = self->segment->plan.table_count;
    ss_progress_begin(self->build->progress, phase, table, total, share_done(self, table, end_ns));
}

/* ----- counting the records ----- */

/* Count, and choose the plan that was not given from a sample taken on the way. */
static sstore_status count_records(segment_run *self, ss_build_team *team, const ss_piece_source *source,
                                   ss_counted *counted, sstore_error *error)
{
    const ss_segment_build *build = self->build;
    ss_manifest_segment *segment = self->segment;
    bool choose = build->plan_name == NULL;
    ss_sampler sampler;
    uint64_t *room = ss_alloc(choose ? SS_SAMPLE_CAPACITY : 1, sizeof *room);
    if (room == NULL)
        return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *room);
    ss_sampler_init(&sampler, room);
    begin_phase(self, "counting", 0, source->item_count, COUNT_RECORDS_NS);
    sstore_status status = ss_build_team_count(team, source, true, choose ? &sampler : NULL, counted, error);
    segment->record_count = counted->record_count;
    segment->distinct_count = counted->facts.count;
    segment->content_sum = counted->content_sum;
    if (status == SSTORE_OK && choose)
        status = ss_choose_plan(segment, build->has_ids, build->distance, &sampler, &segment->plan, error);
    else if (status == SSTORE_OK)
        status = ss_plan_parse(build->plan_name, build->distance, &segment->plan, error);
    ss_free(room);
    return status;
}

/* ----- writing a table ----- */

static sstore_status write_table(const segment_run *self, ss_build_team *team, const ss_piece_source *source,
                                 uint32_t number, const ss_table_facts *facts, sstore_error *error)
{
    const ss_segment_build *build = self->build;
    ss_manifest_segment *segment = self->segment;
    bool with_ids = number == 0 && build->has_ids;
    ss_table_writer table = {.code = NULL};
    ss_ids_writer ids = {.kept = NULL};
    if (number == 0)
        begin_phase(self, "writing", 0, source->item_count, COUNT_RECORDS_NS + WRITE_RECORDS_NS);
    else
        begin_phase(self, "writing", number, source->item_count, PERMUTE_NS + COUNT_NS + WRITE_NS);
    sstore_status status = ss_table_writer_open(&table, build->dir, segment, number, facts, self->directory, error);
    if (status == SSTORE_OK && with_ids)
        status = ss_ids_writer_open(&ids, build->dir, segment, self->directory, error);
    if (status == SSTORE_OK)
        status = ss_build_team_write(team, source, &table, with_ids ? &ids : NULL, error);
    if (status == SSTORE_OK)
        status = ss_table_writer_finish(&table, &segment->tables[number], error);
    if (status == SSTORE_OK && with_ids)
        status = ss_ids_writer_finish(&ids, &segment->ids, error);
    ss_table_writer_close(&table);
    ss_ids_writer_close(&ids);
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
static sstore_status build_first_table(segment_run *self, const ss_piece_source *source, sstore_error *error)
{
    const ss_segment_build *build = self->build;
    ss_manifest_segment *segment = self->segment;
    ss_build_team team;
    ss_counted counted;
    sstore_status status = open_team(build, &team, build->has_ids, source->most_items, error);
    if (status == SSTORE_OK)
        status = count_records(self, &team, source, &counted, error);
    if (status == SSTORE_OK) {
        segment->segment_id = ss_segment_id(segment, build->has_ids);
        status = ss_directory_writer_open(build->dir, ss_directory_bound_bytes(segment, build->has_ids),
                                          &self->directory, error);
    }
    if (status == SSTORE_OK)
        status = write_table(self, &team, source, 0, &counted.facts, error);
    ss_build_team_close(&team);
    return status;
}

/* ----- the other tables ----- */

/* Table 0 on its way into a sorter, permuted. */
typedef struct permuting {
    const segment_run *run;
    ss_permutation permutation;
    ss_sorter *sorter;
    ss_table_stream *streams; /* one a thread, opened when first needed */
} permuting;

static sstore_status add_permuted(const permuting *self, uint32_t worker, const uint64_t *values, uint32_t count,
                                  sstore_error *error)
{
    uint64_t permuted[DEALT_AT_ONCE];
    sstore_status status = SSTORE_OK;
    for (uint32_t done = 0; status == SSTORE_OK && done < count;) {
        uint32_t piece = count - done < DEALT_AT_ONCE ? count - done : DEALT_AT_ONCE;
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
    ss_table_stream *stream = &self->streams[worker];
    uint64_t done = 0;
    sstore_status status = SSTORE_OK;
    if (stream->values == NULL)
        status = ss_table_stream_open(stream, &run->first_source, error);
    ss_table_stream_seek(stream, task * RANGE_BLOCKS, (task + 1) * RANGE_BLOCKS);
    while (status == SSTORE_OK) {
        const uint64_t *values;
        uint32_t count;
        status = ss_table_stream_next(stream, &values, &count, error);
        if (status != SSTORE_OK || count == 0)
            break;
        status = add_permuted(self, worker, values, count, error);
        done += count;
    }
    return status == SSTORE_OK ? ss_progress_add(run->build->progress, worker, done) : status;
}

/* Put all fingerprints, permuted for a table, into its sorter. */
static sstore_status permute_first_table(const segment_run *self, uint64_t key_mask, ss_sorter *sorter,
                                         sstore_error *error)
{
    const uint32_t threads = self->build->memory.threads;
    uint64_t ranges = (self->segment->tables[0].block_count + RANGE_BLOCKS - 1) / RANGE_BLOCKS;
    permuting way = {.run = self, .sorter = sorter};
    ss_permutation_init(&way.permutation, key_mask);
    way.streams = ss_alloc(threads, sizeof *way.streams);
    if (way.streams == NULL)
        return ss_fail_memory(error, threads * sizeof *way.streams);
    sstore_status status = ss_pool_run(threads, ranges, permute_range, &way, error);
    for (uint32_t i = 0; i < threads; i++)
        ss_table_stream_close(&way.streams[i]);
    ss_free(way.streams);
    return status;
}

static sstore_status load_keys(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                               sstore_error *error)
{
    return ss_sorter_load(context, piece, items, scratch, count_out, error);
}

static sstore_status build_table(const segment_run *self, ss_build_team *team, size_t capacity, uint32_t number,
                                 sstore_error *error)
{
    const ss_build_memory *memory = &self->build->memory;
    const uint64_t distinct = self->segment->distinct_count;
    ss_sorter_options options = {.item_words = 1,
                                 .writers = memory->threads,
                                 .pool = self->build->pool,
                                 .piece_capacity = capacity,
                                 .expected_count = distinct,
                                 .tmp_dir = self->build->tmp_dir};
    ss_piece_source source = {.load = load_keys, .item_count = distinct, .most_items = capacity};
    ss_sorter *sorter;
    ss_counted counted;
    sstore_status status = ss_sorter_create(&options, &sorter, error);
    begin_phase(self, "permuting", number, distinct, PERMUTE_NS);
    if (status == SSTORE_OK)
        status = permute_first_table(self, self->segment->plan.tables[number].key_mask, sorter, error);
    if (status == SSTORE_OK)
        status = ss_sorter_seal(sorter, team->workers[0].scratch, self->build->progress, error);
    if (status == SSTORE_OK) {
        source.context = sorter;
        source.piece_count = ss_sorter_piece_count(sorter);
        begin_phase(self, "counting", number, distinct, PERMUTE_NS + COUNT_NS);
        status = ss_build_team_count(team, &source, false, NULL, &counted, error);
    }
    if (status == SSTORE_OK)
        status = write_table(self, team, &source, number, &counted.facts, error);
    ss_sorter_free(sorter);
    return status;
}

static sstore_status build_other_tables(segment_run *self, sstore_error *error)
{
    const ss_segment_build *build = self->build;
    ss_block_file_facts facts = ss_manifest_file_facts(self->segment, 0);
    size_t capacity = ss_piece_capacity(build->memory.piece_capacity, self->segment->distinct_count);
    ss_build_team team = {.workers = NULL};
    sstore_status status = ss_block_reader_open(&self->first, build->dir, &facts, SSTORE_IO_PREAD, error);
    if (status == SSTORE_OK) {
        self->first_code = ss_alloc(1, sizeof *self->first_code);
        if (self->first_code == NULL)
            status = ss_fail_memory(error, sizeof *self->first_code);
    }
    if (status == SSTORE_OK) {
        ss_code_init(self->first_code, self->first.header.code_lengths);
        self->first_source = (ss_block_source){.reader = &self->first, .code = self->first_code};
        status = open_team(build, &team, false, capacity, error);
    }
    for (uint32_t number = 1; status == SSTORE_OK && number < self->segment->plan.table_count; number++)
        status = build_table(self, &team, capacity, number, error);
    ss_build_team_close(&team);
    ss_free(self->first_code);
    ss_block_reader_close(&self->first);
    return status;
}

sstore_status ss_segment_build_run(const ss_segment_build *build, const ss_piece_source *source,
                                   void (*release)(void *context), ss_manifest_segment *segment_out,
                                   sstore_error *error)
{
    segment_run self = {.build = build, .segment = segment_out};
    *segment_out = (ss_manifest_segment){
        .kind = build->kind, .block_bytes = build->block_bytes, .writer = SS_WRITER, .lmdb_format = ss_directory_lmdb_format()};
    sstore_status status = build_first_table(&self, source, error);
    if (release != NULL)
        release(source->context); /* its memory goes to the other tables */
    if (status == SSTORE_OK && segment_out->plan.table_count > 1)
        status = build_other_tables(&self, error);
    if (status == SSTORE_OK)
        status = ss_directory_writer_finish(self.directory, &segment_out->directory_bytes, &segment_out->directory_sum,
                                            error);
    ss_directory_writer_close(self.directory);
    return status;
}
