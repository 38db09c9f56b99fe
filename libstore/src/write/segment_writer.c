#include "write/segment_writer.h"

#include "base/error.h"
#include "base/memory.h"
#include "codec/rows.h"
#include "plan/planner.h"
#include "store/segment.h"
#include "write/key_sorter.h"
#include "write/name_writer.h"
#include "write/table_writer.h"
#include "write/word_plans.h"

/* ----- memory ----- */

ss_sort_memory ss_build_memory_divide(uint64_t limit_bytes, uint32_t threads, uint32_t words, bool has_ids,
                                      uint32_t block_bytes)
{
    uint64_t fixed = ss_table_writer_bytes(words, has_ids, block_bytes, 0);
    uint64_t item = ss_table_writer_bytes(words, has_ids, block_bytes, 1) - fixed;
    if (words > 1) { /* the index of a word takes less for an item, but perhaps more beside */
        const uint64_t index_fixed = ss_table_writer_bytes(1, true, block_bytes, 0);
        item = ss_max_u64(item, ss_table_writer_bytes(1, true, block_bytes, 1) - index_fixed);
        fixed = ss_max_u64(fixed, index_fixed);
    }
    return ss_sort_memory_divide(limit_bytes, threads, fixed, item);
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
    uint64_t name_blocks = ss_is_names(segment->kind) ? segment->ids.block_count : 0; /* they are written already */
    return 8 * (table_blocks * (segment->plan.table_count + 1) + ids_blocks + 2 * name_blocks);
}

/* ----- the plan ----- */

/* One table with all 64 bits as key, which serves only look-ups of records. */
#define ONE_TABLE "1"

sstore_status ss_segment_choose_plan(const ss_segment_spec *spec, const ss_expected_store *expected,
                                     ss_sampler *sampler, ss_plan *plan_out, sstore_error *error)
{
    const uint32_t distance = spec->distance / spec->words;
    if (!ss_segment_is_searched(spec))
        return ss_plan_parse(ONE_TABLE, distance, plan_out, error);
    if (spec->plan == NULL)
        return ss_choose_plan(expected, distance, sampler, plan_out, error);
    *plan_out = *spec->plan;
    return SSTORE_OK;
}

/* ----- progress ----- */

/* About the duration of the phases, in ns a record, to estimate the progress. */
#define COUNT_RECORDS_NS 20.0
#define WRITE_RECORDS_NS 30.0
#define PERMUTE_NS 9.0
#define COUNT_NS 9.0
#define WRITE_NS 10.0
#define USUAL_TABLES 3u /* before the plan is chosen */
/* With several words, in ns a record and word. */
#define WHOLE_NS 25.0
#define INDEX_NS 150.0
#define ID_INDEX_NS 50.0
#define NAMES_NS 500.0

/* Begin a phase of the current table, of `total` items, which ends `end_ns` a record after the table's begin. */
static void begin_phase(const ss_segment_spec *spec, const ss_table_writer *table, const char *phase, uint64_t total,
                        double end_ns)
{
    const double first = COUNT_RECORDS_NS + WRITE_RECORDS_NS, other = PERMUTE_NS + COUNT_NS + WRITE_NS;
    const uint32_t table_count = table->segment->plan.table_count;
    const uint32_t tables = table_count > 0 ? table_count : USUAL_TABLES;
    const double before = table->number == 0 ? 0 : first + (table->number - 1) * other;
    const double done = (before + end_ns) / (first + (tables - 1) * other);
    spec->progress->now.table_count = table_count;
    ss_progress_begin(spec->progress, phase, table->number, total,
                      spec->begin_fraction + (spec->end_fraction - spec->begin_fraction) * done);
}

/* The part of the call's work that is done when the tables are written, and the indexes of `words` words; or, with
 * `ids`, everything but the names. */
static double done_fraction(const ss_segment_spec *spec, uint32_t words, bool ids)
{
    const double tables = spec->words > 1 ? WHOLE_NS * spec->words
                                          : COUNT_RECORDS_NS + WRITE_RECORDS_NS +
                                                (USUAL_TABLES - 1) * (PERMUTE_NS + COUNT_NS + WRITE_NS);
    const double word_ns = ss_segment_has_word_indexes(spec) ? INDEX_NS : 0;
    const double id_ns = ss_segment_has_id_index(spec) ? ID_INDEX_NS : 0;
    const double name_ns = ss_segment_has_names(spec) ? NAMES_NS : 0;
    const double done = tables + words * word_ns + (ids ? id_ns : 0);
    return spec->begin_fraction +
           (spec->end_fraction - spec->begin_fraction) * done / (tables + spec->words * word_ns + id_ns + name_ns);
}

/* ----- table 0 and the ids ----- */

/* Set the plan of a segment whose records are counted. Whole fingerprints are one table, which is not probed. */
static sstore_status set_plan(const ss_segment_spec *spec, ss_manifest_segment *segment, ss_sampler *sampler,
                              sstore_error *error)
{
    const ss_expected_store expected = {.record_count = (double)segment->record_count,
                                        .fingerprint_count = (double)segment->distinct_count,
                                        .has_ids = spec->has_ids,
                                        .block_bytes = spec->block_bytes,
                                        .other_bytes = spec->other_bytes};
    return spec->words > 1 ? SSTORE_OK : ss_segment_choose_plan(spec, &expected, sampler, &segment->plan, error);
}

/* Count the records, and set the plan, from a sample if it is chosen for many records, and so the segment's id. */
static sstore_status count_and_plan(const ss_segment_spec *spec, ss_table_writer *table, sstore_error *error)
{
    const bool is_chosen = spec->words == 1 && spec->plan == NULL && ss_segment_is_searched(spec);
    const bool with_sample = is_chosen && (double)table->pieces.item_count >= SS_WEIGHED_MIN;
    ss_sampler sampler;
    uint64_t *buffer = ss_alloc(with_sample ? SS_SAMPLE_CAPACITY : 1, sizeof *buffer);
    if (buffer == NULL)
        return ss_fail_memory(error, SS_SAMPLE_CAPACITY * sizeof *buffer);
    ss_sampler_init(&sampler, buffer);
    begin_phase(spec, table, "counting", table->pieces.item_count, COUNT_RECORDS_NS);
    sstore_status status = ss_table_writer_count(table, with_sample ? &sampler : NULL, error);
    if (status == SSTORE_OK)
        status = set_plan(spec, table->segment, with_sample ? &sampler : NULL, error);
    ss_free(buffer);
    if (spec->named != NULL) /* it is known by its names */
        table->segment->content_sum = spec->named->content_sum;
    table->segment->segment_id = ss_segment_id(table->segment);
    return status;
}

static sstore_status build_first_table(const ss_segment_spec *spec, ss_table_writer *table, sstore_error *error)
{
    sstore_status status = ss_table_writer_open(table, spec->has_ids, table->pieces.max_items, error);
    if (status == SSTORE_OK)
        status = count_and_plan(spec, table, error);
    if (status == SSTORE_OK)
        status = ss_directory_writer_open(spec->dir, ss_directory_bound_bytes(table->segment), &table->directory,
                                          error);
    if (status == SSTORE_OK) {
        begin_phase(spec, table, "writing", table->pieces.item_count, COUNT_RECORDS_NS + WRITE_RECORDS_NS);
        status = ss_table_writer_write(table, error);
    }
    ss_table_writer_close(table);
    return status;
}

/* ----- the other tables ----- */

/* Open table 0 to sort what leads to it. */
static sstore_status open_keys(ss_key_sorter *keys, const ss_segment_spec *spec, const ss_manifest_segment *segment,
                               sstore_error *error)
{
    *keys = (ss_key_sorter){.dir = spec->dir,
                            .segment = segment,
                            .tmp_dir = spec->tmp_dir,
                            .pool = spec->pool,
                            .progress = spec->progress,
                            .memory = spec->memory};
    return ss_key_sorter_open(keys, error);
}

static sstore_status build_table(const ss_segment_spec *spec, ss_table_writer *table, ss_key_sorter *keys,
                                 sstore_error *error)
{
    const uint64_t count = table->segment->distinct_count;
    begin_phase(spec, table, "permuting", count, PERMUTE_NS);
    sstore_status status = ss_key_sorter_run(keys, table->number, &table->pieces, error);
    if (status != SSTORE_OK)
        return status;
    begin_phase(spec, table, "counting", count, PERMUTE_NS + COUNT_NS);
    status = ss_table_writer_count(table, NULL, error);
    if (status == SSTORE_OK) {
        begin_phase(spec, table, "writing", count, PERMUTE_NS + COUNT_NS + WRITE_NS);
        status = ss_table_writer_write(table, error);
    }
    ss_pieces_release(&table->pieces);
    return status;
}

static sstore_status build_other_tables(const ss_segment_spec *spec, ss_table_writer *table, sstore_error *error)
{
    const ss_manifest_segment *segment = table->segment;
    const size_t capacity = ss_piece_capacity(spec->memory.piece_capacity, segment->distinct_count);
    ss_key_sorter keys;
    sstore_status status = open_keys(&keys, spec, segment, error);
    if (status == SSTORE_OK)
        status = ss_table_writer_open(table, false, capacity, error);
    for (table->number = 1; status == SSTORE_OK && table->number < segment->plan.table_count; table->number++)
        status = build_table(spec, table, &keys, error);
    ss_table_writer_close(table);
    ss_key_sorter_close(&keys);
    return status;
}

/* Write what the directory has of the column of names. */
static sstore_status index_names(const ss_segment_spec *spec, const ss_manifest_segment *part,
                                 ss_directory_writer *directory, sstore_error *error)
{
    const ss_block_file_metadata metadata = ss_manifest_file_metadata(part, SS_NAMES_NUMBER);
    ss_block_reader reader;
    sstore_status status = ss_block_reader_open(&reader, spec->dir, &metadata, SSTORE_IO_PREAD, error);
    if (status == SSTORE_OK)
        status = ss_names_index_blocks(&reader, directory, error);
    ss_block_reader_close(&reader);
    return status;
}

/* Write the tables and ids of a segment, without indexes, and their directory. */
static sstore_status write_tables(const ss_segment_spec *spec, const ss_sorted_pieces *records,
                                  ss_manifest_segment *segment_out, uint64_t *max_id_out, sstore_error *error)
{
    ss_table_writer table = {.dir = spec->dir,
                             .segment = segment_out,
                             .progress = spec->progress,
                             .threads = spec->memory.threads,
                             .pieces = *records};
    *segment_out = (ss_manifest_segment){.kind = spec->kind,
                                         .words = spec->words,
                                         .has_ids = spec->has_ids,
                                         .has_id_index = spec->has_id_index,
                                         .has_names = spec->has_names,
                                         .block_bytes = spec->block_bytes,
                                         .writer = SS_WRITER,
                                         .lmdb_format = ss_directory_lmdb_format()};
    if (spec->words > 1)
        segment_out->plan = (ss_plan){.distance = spec->distance, .table_count = 1};
    if (spec->named != NULL)
        segment_out->ids = spec->named->ids;
    sstore_status status = build_first_table(spec, &table, error);
    ss_pieces_release(records); /* the other tables, or the indexes, use their memory */
    *max_id_out = table.max_id;
    if (status == SSTORE_OK && segment_out->plan.table_count > 1)
        status = build_other_tables(spec, &table, error);
    if (status == SSTORE_OK && spec->named != NULL)
        status = index_names(spec, segment_out, table.directory, error);
    if (status == SSTORE_OK)
        status = ss_directory_writer_finish(table.directory, &segment_out->directory_bytes,
                                            &segment_out->directory_checksum, error);
    ss_directory_writer_close(table.directory);
    return status;
}

/* ----- indexes ----- */

/* Write an index of sorted records, which are released, into a folder of its own. */
static sstore_status write_index(const ss_segment_spec *spec, uint32_t number, const ss_sorted_pieces *records,
                                 const ss_dir *segment_dir, ss_manifest_segment *segment, sstore_error *error)
{
    ss_dir dir = SS_DIR_NONE;
    ss_segment_spec index = *spec;
    uint64_t max_id;
    index.dir = &dir;
    sstore_status status = ss_index_dir_make(segment_dir, segment, number, &dir, error);
    if (status == SSTORE_OK)
        status = write_tables(&index, records, &segment->indexes[number], &max_id, error);
    else
        ss_pieces_release(records);
    if (status == SSTORE_OK)
        status = ss_dir_sync(&dir, error);
    ss_dir_close(&dir);
    return status;
}

/* Begin the phase before an index: `total` items are read and sorted. */
static void begin_dividing(const ss_segment_spec *spec, uint64_t total)
{
    spec->progress->now.table_count = 1;
    ss_progress_begin(spec->progress, "dividing", 0, total, spec->progress->end_fraction);
}

/* What the plans of the words follow from. */
static ss_word_plans begin_plans(const ss_segment_spec *spec, const ss_manifest_segment *segment)
{
    const double count = (double)segment->distinct_count;
    const double other_blocks = (double)(segment->tables[0].block_count + segment->ids.block_count);
    return (ss_word_plans){.name = spec->plan_name,
                           .max_radius = spec->max_radius,
                           .distance = spec->distance,
                           .index = {.record_count = count,
                                     .fingerprint_count = count,
                                     .has_ids = true,
                                     .block_bytes = spec->block_bytes,
                                     .other_bytes = other_blocks * spec->block_bytes / spec->words}};
}

/* Sort a word of all fingerprints, with their ranks, and write its index. */
static sstore_status write_word_index(const ss_segment_spec *spec, ss_key_sorter *keys, ss_word_plans *plans,
                                      uint32_t word, ss_manifest_segment *segment, sstore_error *error)
{
    ss_sorted_pieces pieces;
    ss_segment_spec index = *spec;
    index.words = 1;
    index.has_ids = true;
    index.has_id_index = index.has_names = false;
    index.kind = ss_word_index_kind(word, plans->radii[word]);
    index.distance = ss_word_index_distance(index.kind);
    index.other_bytes = plans->index.other_bytes;
    index.begin_fraction = done_fraction(spec, word, false);
    index.end_fraction = done_fraction(spec, word + 1, false);
    sstore_status status = ss_word_plans_get(plans, index.distance, &index.plan, error);
    if (status != SSTORE_OK)
        return status;
    begin_dividing(spec, segment->distinct_count);
    status = ss_key_sorter_run(keys, word, &pieces, error);
    return status == SSTORE_OK ? write_index(&index, word, &pieces, spec->dir, segment, error) : status;
}

static sstore_status write_word_indexes(const ss_segment_spec *spec, ss_key_sorter *keys, ss_manifest_segment *segment,
                                        sstore_error *error)
{
    ss_word_plans plans = begin_plans(spec, segment);
    sstore_status status = ss_word_plans_init(&plans, &keys->blocks, spec->progress, error);
    for (uint32_t word = 0; status == SSTORE_OK && word < spec->words; word++)
        status = write_word_index(spec, keys, &plans, word, segment, error);
    return status;
}

/* Sort all ids with their ranks, and write their index. Only look-ups read it, so one table is enough. */
static sstore_status write_id_index(const ss_segment_spec *spec, ss_key_sorter *keys, uint64_t max_id,
                                    ss_manifest_segment *segment, sstore_error *error)
{
    const bool packed = max_id <= UINT32_MAX && segment->distinct_count <= UINT64_C(1) << 32;
    const uint32_t words = ss_word_index_count(segment);
    ss_sorted_pieces pieces;
    ss_plan plan;
    ss_segment_spec index = *spec;
    index.words = 1;
    index.has_ids = !packed;
    index.has_id_index = index.has_names = false;
    index.kind = SS_SEGMENT_ID_INDEX | (packed ? SS_ID_INDEX_PACKED : 0);
    index.distance = 0;
    index.plan = &plan;
    index.begin_fraction = done_fraction(spec, words, false);
    index.end_fraction = done_fraction(spec, words, true);
    sstore_status status = ss_plan_parse(ONE_TABLE, 0, &plan, error);
    if (status != SSTORE_OK)
        return status;
    begin_dividing(spec, segment->record_count);
    status = ss_key_sorter_run_ids(keys, packed, &pieces, error);
    return status == SSTORE_OK ? write_index(&index, words, &pieces, spec->dir, segment, error) : status;
}

/* Write the names of all ids into a folder of their own, and the table of their index. */
static sstore_status write_names(const ss_segment_spec *spec, ss_manifest_segment *segment, sstore_error *error)
{
    const uint32_t place = ss_names_place(segment);
    ss_dir dir;
    ss_plan plan;
    ss_sorted_pieces pieces;
    ss_segment_spec index = *spec;
    sstore_status status = ss_plan_parse(ONE_TABLE, 0, &plan, error);
    if (status != SSTORE_OK)
        return status;
    ss_manifest_segment part = {.words = 1, .block_bytes = spec->block_bytes, .plan = plan};
    index.words = 1;
    index.has_ids = index.has_id_index = index.has_names = false;
    index.kind = ss_names_kind(segment->record_count);
    index.distance = 0;
    index.plan = &plan;
    index.begin_fraction = done_fraction(spec, ss_word_index_count(segment), true);
    index.named = &part;
    index.dir = &dir;
    uint64_t max_id;
    status = ss_index_dir_make(spec->dir, segment, place, &dir, error);
    if (status == SSTORE_OK) {
        const ss_name_writer writer = {.segment_dir = spec->dir,
                                       .segment = segment,
                                       .dir = &dir,
                                       .tmp_dir = spec->tmp_dir,
                                       .names = spec->names,
                                       .progress = spec->progress,
                                       .memory = spec->memory,
                                       .pool = spec->pool};
        status = ss_name_writer_run(&writer, &part, &pieces, error);
    }
    if (status == SSTORE_OK)
        status = write_tables(&index, &pieces, &segment->indexes[place], &max_id, error);
    if (status == SSTORE_OK)
        status = ss_dir_sync(&dir, error);
    ss_dir_close(&dir);
    return status;
}

static sstore_status write_indexes(const ss_segment_spec *spec, uint64_t max_id, ss_manifest_segment *segment,
                                   sstore_error *error)
{
    const uint32_t count = ss_index_count(segment);
    ss_key_sorter keys;
    segment->indexes = ss_alloc(count, sizeof *segment->indexes);
    if (segment->indexes == NULL)
        return ss_fail_memory(error, count * sizeof *segment->indexes);
    sstore_status status = open_keys(&keys, spec, segment, error);
    if (status == SSTORE_OK && ss_segment_has_word_indexes(spec))
        status = write_word_indexes(spec, &keys, segment, error);
    if (status == SSTORE_OK && ss_segment_has_id_index(spec))
        status = write_id_index(spec, &keys, max_id, segment, error);
    ss_key_sorter_close(&keys);
    if (status == SSTORE_OK && ss_segment_has_names(spec))
        status = write_names(spec, segment, error);
    return status;
}

sstore_status ss_segment_write(const ss_segment_spec *spec, const ss_sorted_pieces *records,
                               ss_manifest_segment *segment_out, sstore_error *error)
{
    const bool has_indexes = ss_segment_has_word_indexes(spec) || ss_segment_has_id_index(spec);
    ss_segment_spec tables = *spec;
    uint64_t max_id;
    if (has_indexes)
        tables.end_fraction = done_fraction(spec, 0, false);
    const sstore_status status = write_tables(&tables, records, segment_out, &max_id, error);
    return status == SSTORE_OK && has_indexes ? write_indexes(spec, max_id, segment_out, error) : status;
}
