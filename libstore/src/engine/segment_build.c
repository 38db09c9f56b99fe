#include "engine/segment_build.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "engine/planning.h"
#include "engine/table_stream.h"
#include "engine/table_writer.h"
#include "plan/permute.h"

#define BATCH 1024u /* records that are read from a sorter at once */
#define MIN_SORTER_BYTES ((uint64_t)1 << 20)

/* What all steps share. */
typedef struct run {
    const ss_segment_build *build;
    ss_manifest_segment *segment;
    ss_directory_writer *directory;
    ss_block_reader first; /* table 0, once it is written */
    ss_code *first_code;
} run;

/* Whether whoever builds wants to stop. */
static sstore_status check_stop(const ss_segment_build *build)
{
    bool stop = build->should_stop != NULL && build->should_stop(build->stop_context) != 0;
    return stop ? SSTORE_STOPPED : SSTORE_OK;
}

/* Read the next records, unless the build is to stop. */
static sstore_status read_batch(const ss_segment_build *build, ss_sorter *sorter, sstore_record batch[BATCH],
                                size_t *count_out, sstore_error *error)
{
    sstore_status status = check_stop(build);
    return status == SSTORE_OK ? ss_sorter_read(sorter, batch, BATCH, count_out, error) : status;
}

/* ----- counting ----- */

/* Read all records once: numbers, content sum, how table 0's neighbours differ, and a sample (NULL: not wanted). */
static sstore_status count_records(const ss_segment_build *build, ss_sorter *records, ss_manifest_segment *segment,
                                   ss_table_counts *counts, ss_sampler *sampler, sstore_error *error)
{
    sstore_record batch[BATCH];
    size_t count;
    ss_table_counts_init(counts);
    sstore_status status = ss_sorter_rewind(records, error);
    while (status == SSTORE_OK) {
        status = read_batch(build, records, batch, &count, error);
        if (status != SSTORE_OK || count == 0)
            break;
        for (size_t i = 0; i < count; i++) {
            if (counts->count == 0 || batch[i].fingerprint != counts->last) {
                ss_table_counts_add(counts, batch[i].fingerprint);
                if (sampler != NULL)
                    ss_sampler_add(sampler, batch[i].fingerprint);
            }
            ss_content_add(&segment->content_sum, build->has_ids, batch[i].fingerprint, batch[i].id);
        }
        segment->record_count += count;
    }
    segment->distinct_count = counts->count;
    return status;
}

/* Count, and choose the plan that was not given from a sample taken on the way. */
static sstore_status count_and_plan(const ss_segment_build *build, ss_sorter *records, ss_manifest_segment *segment,
                                    ss_table_counts *counts, sstore_error *error)
{
    ss_sampler sampler;
    if (build->plan_name != NULL) {
        sstore_status status = count_records(build, records, segment, counts, NULL, error);
        return status == SSTORE_OK ? ss_plan_parse(build->plan_name, build->distance, &segment->plan, error) : status;
    }
    uint64_t *room = ss_alloc(SS_SAMPLE_CAPACITY, sizeof *room);
    if (room == NULL)
        return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *room);
    ss_sampler_init(&sampler, room);
    sstore_status status = count_records(build, records, segment, counts, &sampler, error);
    if (status == SSTORE_OK)
        status = ss_choose_plan(segment, build->has_ids, build->distance, &sampler, &segment->plan, error);
    ss_free(room);
    return status;
}

/* ----- table 0 and the ids ----- */

static sstore_status encode_records(const ss_segment_build *build, ss_sorter *records, ss_table_writer *table,
                                    ss_ids_writer *ids, sstore_error *error)
{
    sstore_record batch[BATCH];
    size_t count;
    bool any = false;
    uint64_t last = 0;
    sstore_status status = ss_sorter_rewind(records, error);
    while (status == SSTORE_OK) {
        status = read_batch(build, records, batch, &count, error);
        if (status != SSTORE_OK || count == 0)
            break;
        for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
            if (!any || batch[i].fingerprint != last)
                status = ss_table_writer_add(table, batch[i].fingerprint, error);
            any = true;
            last = batch[i].fingerprint;
            if (status == SSTORE_OK && ids != NULL)
                status = ss_ids_writer_add(ids, table->rank - 1, batch[i].id, error);
        }
    }
    return status;
}

static sstore_status write_first_table(const run *self, ss_sorter *records, ss_table_counts *counts,
                                       sstore_error *error)
{
    const ss_segment_build *build = self->build;
    ss_table_writer table = {.encoder = NULL};
    ss_ids_writer ids = {.encoder = {.count = 0}};
    sstore_status status =
        ss_table_writer_open(&table, build->dir, self->segment, 0, counts, self->directory, error);
    if (status == SSTORE_OK && build->has_ids)
        status = ss_ids_writer_open(&ids, build->dir, self->segment, self->directory, error);
    if (status == SSTORE_OK)
        status = encode_records(build, records, &table, build->has_ids ? &ids : NULL, error);
    if (status == SSTORE_OK)
        status = ss_table_writer_finish(&table, &self->segment->tables[0], error);
    if (status == SSTORE_OK && build->has_ids)
        status = ss_ids_writer_finish(&ids, &self->segment->ids, error);
    ss_table_writer_close(&table);
    ss_ids_writer_close(&ids);
    return status;
}

/* ----- the other tables ----- */

/* Decode table 0 and put its fingerprints, permuted, into a sorter. */
static sstore_status permute_first_table(const run *self, uint64_t key_mask, ss_sorter *sorter, sstore_error *error)
{
    ss_table_stream stream;
    ss_permutation permutation;
    uint64_t permuted[BATCH];
    const uint64_t *values;
    uint32_t count = 0;
    ss_permutation_init(&permutation, key_mask);
    sstore_status status = ss_table_stream_open(&stream, &self->first, self->first_code, error);
    while (status == SSTORE_OK) {
        status = check_stop(self->build);
        if (status == SSTORE_OK)
            status = ss_table_stream_next(&stream, &values, &count, error);
        if (status != SSTORE_OK || count == 0)
            break;
        for (uint32_t done = 0; status == SSTORE_OK && done < count;) {
            uint32_t piece = count - done < BATCH ? count - done : BATCH;
            for (uint32_t i = 0; i < piece; i++)
                permuted[i] = ss_permute(&permutation, values[done + i]);
            status = ss_sorter_add(sorter, permuted, NULL, piece, error);
            done += piece;
        }
    }
    ss_table_stream_close(&stream);
    return status;
}

static sstore_status count_sorted(const ss_segment_build *build, ss_sorter *sorter, ss_table_counts *counts,
                                  sstore_error *error)
{
    sstore_record batch[BATCH];
    size_t count;
    ss_table_counts_init(counts);
    sstore_status status = ss_sorter_rewind(sorter, error);
    while (status == SSTORE_OK) {
        status = read_batch(build, sorter, batch, &count, error);
        if (status != SSTORE_OK || count == 0)
            break;
        for (size_t i = 0; i < count; i++)
            ss_table_counts_add(counts, batch[i].fingerprint);
    }
    return status;
}

static sstore_status write_table(const run *self, ss_sorter *sorter, uint32_t number, ss_table_counts *counts,
                                 sstore_error *error)
{
    ss_table_writer table = {.encoder = NULL};
    sstore_status status =
        ss_table_writer_open(&table, self->build->dir, self->segment, number, counts, self->directory, error);
    if (status == SSTORE_OK)
        status = encode_records(self->build, sorter, &table, NULL, error);
    if (status == SSTORE_OK)
        status = ss_table_writer_finish(&table, &self->segment->tables[number], error);
    ss_table_writer_close(&table);
    return status;
}

/* How many tables are made at once: each sorter needs some memory to be of use. */
static uint32_t table_workers(const ss_segment_build *build, const ss_manifest_segment *segment)
{
    uint64_t most = ss_max_u64(build->memory_bytes / MIN_SORTER_BYTES, 1);
    return (uint32_t)ss_min_u64(ss_min_u64(build->threads, segment->plan.table_count - 1), most);
}

static sstore_status build_table(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const run *self = context;
    const ss_segment_build *build = self->build;
    uint32_t number = (uint32_t)task + 1;
    uint32_t workers = table_workers(build, self->segment);
    ss_sorter *sorter = NULL;
    ss_table_counts counts;
    (void)worker;
    sstore_status status = ss_sorter_create(false, build->memory_bytes / workers, build->tmp_dir, &sorter, error);
    if (status == SSTORE_OK)
        status = permute_first_table(self, self->segment->plan.tables[number].key_mask, sorter, error);
    if (status == SSTORE_OK)
        status = count_sorted(build, sorter, &counts, error);
    if (status == SSTORE_OK)
        status = write_table(self, sorter, number, &counts, error);
    ss_sorter_free(sorter);
    return status;
}

static sstore_status build_other_tables(run *self, sstore_error *error)
{
    ss_block_file_facts facts = ss_manifest_file_facts(self->segment, 0);
    if (self->segment->plan.table_count == 1)
        return SSTORE_OK;
    sstore_status status = ss_block_reader_open(&self->first, self->build->dir, &facts, SSTORE_IO_PREAD, error);
    if (status == SSTORE_OK) {
        self->first_code = ss_alloc(1, sizeof *self->first_code);
        if (self->first_code == NULL)
            status = ss_fail_memory(error, sizeof *self->first_code);
    }
    if (status == SSTORE_OK) {
        ss_code_init(self->first_code, self->first.header.code_lengths);
        status = ss_pool_run(table_workers(self->build, self->segment), self->segment->plan.table_count - 1, build_table, self, error);
    }
    ss_free(self->first_code);
    ss_block_reader_close(&self->first);
    return status;
}

sstore_status ss_segment_build_run(const ss_segment_build *build, ss_sorter **records, ss_manifest_segment *segment_out,
                                   sstore_error *error)
{
    run self = {.build = build, .segment = segment_out};
    ss_table_counts counts;
    *segment_out = (ss_manifest_segment){.geometry = build->geometry, .lmdb_format = ss_directory_lmdb_format()};
    sstore_status status = count_and_plan(build, *records, segment_out, &counts, error);
    if (status != SSTORE_OK)
        return status;
    segment_out->segment_id = ss_segment_id(segment_out, build->has_ids);
    status = ss_directory_writer_open(build->dir, ss_directory_bound_bytes(segment_out, build->has_ids),
                                      &self.directory, error);
    if (status == SSTORE_OK)
        status = write_first_table(&self, *records, &counts, error);
    ss_sorter_free(*records); /* its memory goes to the other tables */
    *records = NULL;
    if (status == SSTORE_OK)
        status = build_other_tables(&self, error);
    if (status == SSTORE_OK)
        status = ss_directory_writer_finish(self.directory, &segment_out->directory_bytes, &segment_out->directory_sum,
                                            error);
    ss_directory_writer_close(self.directory);
    return status;
}
