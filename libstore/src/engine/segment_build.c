#include "engine/segment_build.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "engine/table_stream.h"
#include "engine/table_writer.h"
#include "plan/permute.h"

#define BATCH 1024u /* records that are read from a sorter at once */

/* What all steps share. */
typedef struct run {
    const ss_segment_build *build;
    ss_manifest_segment *segment;
    ss_directory_writer *directory;
    ss_block_reader first; /* table 0, once it is written */
    ss_code *first_code;
} run;

/* ----- counting ----- */

/* Read all records once: numbers, content sum, and how table 0's neighbours differ. */
static sstore_status count_records(ss_sorter *records, bool has_ids, ss_manifest_segment *segment,
                                   ss_table_counts *counts, sstore_error *error)
{
    sstore_record batch[BATCH];
    size_t count;
    ss_table_counts_init(counts);
    sstore_status status = ss_sorter_rewind(records, error);
    while (status == SSTORE_OK) {
        status = ss_sorter_read(records, batch, BATCH, &count, error);
        if (status != SSTORE_OK || count == 0)
            break;
        for (size_t i = 0; i < count; i++) {
            if (counts->count == 0 || batch[i].fingerprint != counts->last)
                ss_table_counts_add(counts, batch[i].fingerprint);
            ss_content_add(&segment->content_sum, has_ids, batch[i].fingerprint, batch[i].id);
        }
        segment->record_count += count;
    }
    segment->distinct_count = counts->count;
    return status;
}

static sstore_status choose_plan(const ss_segment_build *build, ss_manifest_segment *segment, sstore_error *error)
{
    const char *name = build->plan_name != NULL ? build->plan_name : ss_plan_default_name(segment->distinct_count);
    return ss_plan_parse(name, build->distance, &segment->plan, error);
}

/* ----- table 0 and the ids ----- */

static sstore_status encode_records(ss_sorter *records, ss_table_writer *table, ss_ids_writer *ids, sstore_error *error)
{
    sstore_record batch[BATCH];
    size_t count;
    bool any = false;
    uint64_t last = 0;
    sstore_status status = ss_sorter_rewind(records, error);
    while (status == SSTORE_OK) {
        status = ss_sorter_read(records, batch, BATCH, &count, error);
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
        status = encode_records(records, &table, build->has_ids ? &ids : NULL, error);
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

static sstore_status count_sorted(ss_sorter *sorter, ss_table_counts *counts, sstore_error *error)
{
    sstore_record batch[BATCH];
    size_t count;
    ss_table_counts_init(counts);
    sstore_status status = ss_sorter_rewind(sorter, error);
    while (status == SSTORE_OK) {
        status = ss_sorter_read(sorter, batch, BATCH, &count, error);
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
        status = encode_records(sorter, &table, NULL, error);
    if (status == SSTORE_OK)
        status = ss_table_writer_finish(&table, &self->segment->tables[number], error);
    ss_table_writer_close(&table);
    return status;
}

static sstore_status build_table(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const run *self = context;
    const ss_segment_build *build = self->build;
    uint32_t number = (uint32_t)task + 1;
    uint32_t workers = (uint32_t)ss_min_u64(build->threads, self->segment->plan.table_count - 1);
    ss_sorter *sorter = NULL;
    ss_table_counts counts;
    (void)worker;
    sstore_status status = ss_sorter_create(false, build->memory_bytes / workers, build->tmp_dir, &sorter, error);
    if (status == SSTORE_OK)
        status = permute_first_table(self, self->segment->plan.tables[number].key_mask, sorter, error);
    if (status == SSTORE_OK)
        status = count_sorted(sorter, &counts, error);
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
        status = ss_pool_run(self->build->threads, self->segment->plan.table_count - 1, build_table, self, error);
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
    sstore_status status = count_records(*records, build->has_ids, segment_out, &counts, error);
    if (status == SSTORE_OK)
        status = choose_plan(build, segment_out, error);
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
