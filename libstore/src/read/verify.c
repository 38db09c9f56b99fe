/*
 * verify.c - reads and decodes everything in a store, and compares its parts: blocks with their checksums and with a
 * new encoding of their contents, each table with the directory and its own header, the tables with table 0, the ids
 * with the ranks, and all records with the content sum that gave the segment its id. A store that cannot be opened is
 * verified segment by segment and file by file, as far as these can be read.
 *
 * A problem is noted, and verification continues. A function fails only if verification must end, so it also uses
 * *error, which is never NULL here, for problems.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "codec/huffman.h"
#include "codec/rows.h"
#include "read/block_check.h"
#include "read/verify_names.h"
#include "store/record_iterator.h"

#define PROGRESS_RECORDS 4096u
#define MAX_ATTEMPTS 10 /* at a store that writers replace meanwhile */

/* Consecutive blocks that cannot be read, which are one problem: a lost part of a file may be millions of them. */
typedef struct bad_blocks {
    const ss_block_reader *reader; /* NULL: there are none */
    uint64_t next;                 /* the block behind them */
    uint64_t further_count;        /* behind the first one */
    sstore_error first;
} bad_blocks;

typedef struct verification {
    sstore_problem_fn on_problem;
    void *context;
    ss_progress progress; /* in fingerprints and ids of files, and in records that are compared */
    bool stopped;         /* by on_problem, or since writers have replaced the store */
    uint64_t problem_count;
    bad_blocks bad;
    sstore_error worst;   /* the first damage; as long as there is none, the first problem */
    sstore_error opening; /* why the current segment cannot be opened; no message: not known yet */
    uint64_t min_next_id; /* above all ids so far, if there are higher numbers: the minimum of a new id */
    const sstore *store;  /* that is verified; NULL: it cannot be opened */
} verification;

/* Note a problem, and continue. */
static void note(verification *self, const sstore_error *problem)
{
    if (self->problem_count++ == 0 ||
        (problem->status == SSTORE_ERROR_DAMAGED && self->worst.status != SSTORE_ERROR_DAMAGED))
        self->worst = *problem;
    if (self->on_problem != NULL && self->on_problem(self->context, problem) != 0)
        self->stopped = true;
}

static void note_block(verification *self, const ss_block_reader *reader, uint64_t block, const char *reason)
{
    sstore_error problem;
    (void)ss_block_reader_malformed(reader, block, reason, &problem);
    note(self, &problem);
}

/* Note the bad blocks so far. */
static void end_bad_blocks(verification *self)
{
    bad_blocks *bad = &self->bad;
    char also[96];
    if (bad->reader == NULL)
        return;
    bad->reader = NULL;
    snprintf(also, sizeof also, "%" PRIu64 " block%s after it cannot be read either", bad->further_count,
             bad->further_count == 1 ? "" : "s");
    if (bad->further_count > 0)
        ss_advise(&bad->first, also);
    note(self, &bad->first);
}

/* A block cannot be read. STOPPED if the call must end. */
static sstore_status note_bad_block(verification *self, const ss_block_reader *reader, uint64_t block,
                                    const sstore_error *problem)
{
    bad_blocks *bad = &self->bad;
    if (bad->reader == reader && bad->next == block && bad->first.status == problem->status) {
        bad->further_count++;
        bad->next++;
    } else {
        end_bad_blocks(self);
        *bad = (bad_blocks){.reader = reader, .next = block + 1, .first = *problem};
    }
    return ss_progress_add(&self->progress, 0, 0);
}

static void note_file(verification *self, const char *path, const char *reason)
{
    sstore_error problem;
    (void)ss_fail_damaged(&problem, path, SSTORE_NO_OFFSET, "%s", reason);
    note(self, &problem);
}

/* Whether a block file could be opened. If not, that was noted. */
static bool is_open(const ss_block_reader *blocks)
{
    return blocks->file.path != NULL;
}

/* The fingerprints of all tables of a segment or index; its ids and its content, which are checked for all
 * records. */
static uint64_t count_items(const ss_manifest_segment *part)
{
    const uint32_t columns = part->has_ids ? 1 : 0; /* the content of names is their column */
    return part->plan.table_count * part->distinct_count + (1u + columns) * part->record_count;
}

static void begin_progress(verification *self, const ss_manifest *manifest)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        const ss_manifest_segment *segment = &manifest->segments[i];
        total += count_items(segment) + (manifest->segment_count > 1 ? segment->record_count : 0); /* their order */
        for (uint32_t j = 0; j < ss_index_count(segment); j++)
            total += count_items(&segment->indexes[j]);
    }
    self->progress.end_fraction = 0; /* of an earlier attempt */
    ss_progress_begin(&self->progress, "verifying", 0, total, 1);
}

/* Count one record of `count` so far. */
static sstore_status count_record(verification *self, uint64_t count)
{
    return count % PROGRESS_RECORDS == 0 ? ss_progress_add(&self->progress, 0, PROGRESS_RECORDS) : SSTORE_OK;
}

/* ----- tables ----- */

/* The state of reading a table. */
typedef struct table_check {
    const ss_table *table;
    ss_block_check blocks;
    ss_table_counts counts;
    uint64_t last;                        /* fingerprint in `counts` */
    ss_u128 sum;                          /* of the fingerprints, unpermuted: the same for all tables */
    bool complete;                        /* no block was unreadable so far */
    uint32_t index_count;                 /* if the table has whole fingerprints, the word indexes of its segment, */
    ss_u128 index_sums[SSTORE_MAX_WORDS]; /* and the content sums that they must have */
} table_check;

static void check_block(verification *self, table_check *check, uint64_t block, const uint8_t *bytes,
                        const uint64_t *values, uint32_t count)
{
    const char *reason;
    if (!ss_block_check_table(&check->blocks, bytes, values, count, &reason))
        note_block(self, &check->table->blocks, block, reason);
    if (check->counts.count > 0 && check->complete)
        ss_table_counts_add_pair(&check->counts, check->last, values[0]);
    ss_table_counts_add(&check->counts, values, count);
    check->last = values[count - 1];
    for (uint32_t i = 0; i < count; i++)
        ss_content_add(&check->sum, false, ss_unpermute(&check->table->permutation, values[i]), 0);
}

/* Compare a block of whole fingerprints with what a writer makes of them. */
static void check_rows(verification *self, table_check *check, uint64_t block, const uint8_t *bytes,
                       const uint64_t *values, uint32_t count)
{
    const ss_block_header *header = &check->table->blocks.header;
    uint8_t again[SS_BLOCK_MAX_BYTES];
    ss_rows_encode(header->block_bytes, values, count, header->words, again);
    if (memcmp(again, bytes, header->block_bytes - SS_BLOCK_TRAILER_BYTES) != 0)
        note_block(self, &check->table->blocks, block, "its unused bytes are not 0");
    for (uint32_t word = 0; word < check->index_count; word++)
        for (uint32_t i = 0; i < count; i++)
            ss_content_add(&check->index_sums[word], true, values[(size_t)i * header->words + word],
                           check->counts.count + i);
    check->counts.count += count;
}

static void check_totals(verification *self, table_check *check, uint64_t distinct_count)
{
    const ss_block_reader *blocks = &check->table->blocks;
    uint64_t gap_bits[SS_FINGERPRINT_BITS];
    ss_bit_counter_counts(&check->counts.gap_bits, gap_bits);
    if (check->counts.count != distinct_count)
        note_file(self, blocks->file.path, "the table's number of fingerprints differs from the manifest's");
    if (memcmp(check->counts.h_counts, blocks->header.h_counts, sizeof blocks->header.h_counts) != 0 ||
        memcmp(gap_bits, blocks->header.gap_bit_counts, sizeof gap_bits) != 0)
        note_file(self, blocks->file.path, "the header's counts differ from those of the table");
}

static sstore_status verify_table(verification *self, table_check *check, const ss_manifest_segment *metadata,
                                  sstore_error *error)
{
    const ss_table *table = check->table;
    ss_table_iterator iterator;
    ss_table_counts_init(&check->counts);
    check->complete = true;
    sstore_status status = ss_table_iterator_open(&iterator, &table->checked, error);
    if (status == SSTORE_OK)
        status = ss_block_check_init(&check->blocks, metadata->block_bytes, &table->code, error);
    while (status == SSTORE_OK && !self->stopped && iterator.next_block < table->blocks.header.block_count) {
        const uint64_t *values, block = iterator.next_block;
        uint32_t count;
        if (ss_table_iterator_next(&iterator, &values, &count, error) == SSTORE_OK) {
            (table->checked.words == 1 ? check_block : check_rows)(self, check, block, iterator.bytes, values, count);
            status = ss_progress_add(&self->progress, 0, count);
        } else {
            status = note_bad_block(self, &table->blocks, block, error);
            check->complete = false;
            ss_block_check_skip(&check->blocks);
        }
    }
    end_bad_blocks(self);
    ss_table_iterator_close(&iterator);
    ss_block_check_free(&check->blocks);
    if (status == SSTORE_OK && !self->stopped && check->complete)
        check_totals(self, check, metadata->distinct_count);
    return status;
}

/* Check that the word indexes have the words of table 0: their own records are compared with their sums later. */
static void compare_indexes(verification *self, const ss_segment *segment, const table_check *check)
{
    for (uint32_t i = 0; check->complete && !self->stopped && i < check->index_count; i++) {
        const ss_segment *index = segment->indexes[i];
        if (index != NULL && !ss_u128_equal(check->index_sums[i], index->metadata.content_sum))
            note_file(self,
                      index->tables[0].blocks.file.path != NULL ? index->tables[0].blocks.file.path
                                                                : check->table->blocks.file.path,
                      "the word index does not have the words of the segment's fingerprints");
    }
}

/* *first_complete_out: table 0 could be read, and its fingerprints have this sum. */
static sstore_status verify_tables(verification *self, const ss_segment *segment, bool *first_complete_out,
                                   ss_u128 *first_sum_out, sstore_error *error)
{
    ss_u128 first_sum = {0};
    *first_complete_out = false;
    for (uint32_t i = 0; i < segment->metadata.plan.table_count && !self->stopped; i++) {
        table_check check = {.table = &segment->tables[i], .index_count = segment->index_count};
        if (!is_open(&check.table->blocks))
            continue;
        const sstore_status status = verify_table(self, &check, &segment->metadata, error);
        if (status != SSTORE_OK)
            return status;
        if (i == 0) {
            *first_sum_out = first_sum = check.sum;
            *first_complete_out = check.complete;
            compare_indexes(self, segment, &check);
        } else if (check.complete && *first_complete_out && !self->stopped && !ss_u128_equal(check.sum, first_sum)) {
            note_file(self, check.table->blocks.file.path, "the table does not hold the same fingerprints as table 0");
        }
    }
    return SSTORE_OK;
}

/* ----- the id column ----- */

/* Add what an id index has of the records of a block to its content sum. */
static void add_index_contents(ss_u128 *sum, const ss_ids_block *block, bool packed)
{
    uint64_t rank = block->first_rank;
    for (uint32_t i = 0; i < block->count; i++) {
        const uint64_t id = ss_ids_block_id(block, i);
        rank += ss_ids_block_starts_rank(block, i);
        ss_content_add(sum, !packed, packed ? id << 32 | rank : id, rank);
    }
}

/* Check that the id index has the ids of all records: its own records are compared with its sum later. */
static void compare_id_index(verification *self, const ss_segment *segment, ss_u128 sum)
{
    const ss_segment *index = segment->id_index;
    if (index != NULL && !ss_u128_equal(sum, index->metadata.content_sum))
        note_file(self, is_open(&index->tables[0].blocks) ? index->tables[0].blocks.file.path : segment->ids.file.path,
                  "the id index does not have the ids of the segment's records");
}

static sstore_status verify_ids(verification *self, const ss_segment *segment, sstore_error *error)
{
    const bool packed = segment->id_index != NULL && ss_id_index_is_packed(segment->id_index->metadata.kind);
    ss_u128 index_sum = {0};
    const ss_block_reader *ids = &segment->ids;
    const uint64_t problems_before = self->problem_count;
    ss_ids_iterator iterator;
    ss_block_check blocks = {.count = 0};
    sstore_status status = ss_ids_iterator_open(&iterator, &segment->checked_ids, error);
    if (status == SSTORE_OK)
        status = ss_block_check_init(&blocks, ids->header.block_bytes, NULL, error);
    while (status == SSTORE_OK && iterator.next_block < ids->header.block_count && !self->stopped) {
        const uint64_t number = iterator.next_block;
        const char *reason;
        if (ss_ids_iterator_next(&iterator, error) != SSTORE_OK ||
            ss_ids_iterator_check(&iterator, error) != SSTORE_OK) {
            status = note_bad_block(self, ids, number, error);
            ss_block_check_skip(&blocks);
            continue;
        }
        if (!ss_block_check_ids(&blocks, &iterator.block, &reason))
            note_block(self, ids, number, reason);
        if (segment->id_index != NULL)
            add_index_contents(&index_sum, &iterator.block, packed);
        status = ss_progress_add(&self->progress, 0, iterator.block.count);
    }
    end_bad_blocks(self);
    if (status == SSTORE_OK && self->problem_count == problems_before &&
        !ss_ids_iterator_has_all(&iterator, segment->metadata.distinct_count, segment->metadata.record_count))
        note_file(self, ids->file.path, "the ids do not match the fingerprints of table 0");
    if (status == SSTORE_OK && self->problem_count == problems_before && !self->stopped)
        compare_id_index(self, segment, index_sum);
    if (segment->metadata.record_count > 0)
        self->min_next_id = ss_max_u64(self->min_next_id, iterator.max_id + (iterator.max_id < UINT64_MAX));
    ss_block_check_free(&blocks);
    ss_ids_iterator_close(&iterator);
    return status;
}

/* ----- segments ----- */

/* Compare all records with the content sum. */
static sstore_status verify_content(verification *self, const ss_segment *segment, bool has_ids, sstore_error *error)
{
    ss_segment_iterator iterator;
    ss_record record;
    ss_u128 sum = {0};
    uint64_t count = 0;
    bool more = true;
    sstore_status status = ss_segment_iterator_open(&iterator, segment, has_ids, error), found = status;
    while (status == SSTORE_OK && found == SSTORE_OK && more) {
        found = ss_segment_iterator_next(&iterator, &record, &more, error);
        if (found == SSTORE_OK && more) {
            ss_content_add_words(&sum, has_ids, iterator.last, iterator.words, record.id);
            status = count_record(self, ++count);
        }
    }
    if (status == SSTORE_OK && found != SSTORE_OK)
        note(self, error);
    else if (status == SSTORE_OK &&
             (count != segment->metadata.record_count || !ss_u128_equal(sum, segment->metadata.content_sum)))
        note_file(self, segment->tables[0].blocks.file.path, "the records do not match the manifest's content sum");
    ss_segment_iterator_close(&iterator);
    return status;
}

/* Verify a segment without its indexes, or one of these. */
static sstore_status verify_part(verification *self, const ss_segment *segment, sstore_error *error)
{
    const bool has_ids = segment->metadata.has_ids;
    bool first_complete;
    ss_u128 first_sum;
    sstore_status status = verify_tables(self, segment, &first_complete, &first_sum, error);
    const uint64_t problems_before = self->problem_count;
    const bool reads_ids = has_ids && is_open(&segment->ids);
    if (status == SSTORE_OK && reads_ids && !self->stopped)
        status = verify_ids(self, segment, error);
    /* If table 0 or the ids are damaged, the content sum tells nothing new. */
    if (status == SSTORE_OK && !self->stopped && first_complete && has_ids == reads_ids &&
        self->problem_count == problems_before)
        status = verify_content(self, segment, has_ids, error);
    return status;
}

/* ----- names ----- */

static sstore_status note_names(void *context, const sstore_error *problem)
{
    verification *self = context;
    note(self, problem);
    return self->stopped ? SSTORE_STOPPED : SSTORE_OK;
}

static sstore_status count_names(void *context, uint64_t names)
{
    verification *self = context;
    return ss_progress_add(&self->progress, 0, names);
}

/* Verify the names of a segment, and their table. `number`: the segment. The ids are compared if their index could be
 * read. */
static sstore_status verify_names(verification *self, const ss_segment *segment, uint32_t number, bool ids_right,
                                  sstore_error *error)
{
    const ss_segment *names = segment->names;
    ss_names_check check = {.names = names,
                            .id_index = ids_right ? segment->id_index : NULL,
                            .store = self->store,
                            .segment = number,
                            .note = note_names,
                            .count = count_names,
                            .context = self};
    bool has_table;
    ss_u128 table_sum;
    sstore_status status = verify_tables(self, names, &has_table, &table_sum, error);
    if (status != SSTORE_OK || self->stopped || !is_open(&names->ids) || names->fragments == NULL)
        return status;
    const sstore_status found = ss_verify_names(&check, error);
    if (found == SSTORE_STOPPED)
        return self->stopped ? SSTORE_OK : found;
    if (found != SSTORE_OK && !ss_is_of_one_file(error))
        return found;
    if (found != SSTORE_OK)
        note(self, error);
    else if (has_table && !ss_u128_equal(check.table_sum, table_sum))
        note_file(self, names->tables[0].blocks.file.path, "the name index does not have the names");
    return SSTORE_OK;
}

/* The ids of indexes are ranks, which do not count for the next id. */
static sstore_status verify_segment(verification *self, const ss_segment *segment, uint32_t number, sstore_error *error)
{
    sstore_status status = verify_part(self, segment, error);
    const uint64_t min_next_id = self->min_next_id;
    for (uint32_t i = 0; status == SSTORE_OK && i < segment->index_count && !self->stopped; i++)
        if (segment->indexes[i] != NULL)
            status = verify_part(self, segment->indexes[i], error);
    if (status == SSTORE_OK && segment->id_index != NULL && !self->stopped)
        status = verify_part(self, segment->id_index, error);
    if (status == SSTORE_OK && segment->names != NULL && !self->stopped)
        status = verify_names(self, segment, number, segment->id_index != NULL && self->problem_count == 0, error);
    self->min_next_id = min_next_id;
    return status;
}

/* ----- segments that cannot be opened ----- */

/* Note a problem with a file of a segment, unless it is the known one. A lost file is damage to the store. */
static void note_file_problem(void *context, const sstore_error *problem)
{
    verification *self = context;
    sstore_error noted = *problem;
    if (self->stopped || strcmp(problem->message, self->opening.message) == 0)
        return;
    if (noted.status == SSTORE_ERROR_NOT_FOUND)
        noted.status = SSTORE_ERROR_DAMAGED;
    note(self, &noted);
}

static void check_directory(verification *self, const ss_dir *store, const ss_manifest_segment *metadata,
                            uint32_t index)
{
    const ss_manifest_segment *part = index == SS_NO_INDEX ? metadata : &metadata->indexes[index];
    ss_dir dir;
    ss_directory *directory = NULL;
    sstore_error problem;
    if (ss_segment_dir_open(store, metadata, index, &dir, NULL) != SSTORE_OK)
        return;
    const sstore_status status = ss_directory_open(&dir, part->lmdb_format, part->directory_bytes,
                                                   part->directory_checksum, &directory, &problem);
    if (status != SSTORE_OK && ss_is_of_one_file(&problem))
        note_file_problem(self, &problem);
    ss_directory_close(directory);
    ss_dir_close(&dir);
}

/* Open a segment. If that fails, note why, and open it with those files that can be read. *segment_out stays NULL
 * if there are none, or if a writer has replaced the segment. */
static sstore_status open_readable(verification *self, const ss_dir *store, const ss_manifest *manifest,
                                   uint32_t number, ss_segment **segment_out, sstore_error *error)
{
    const ss_manifest_segment *metadata = &manifest->segments[number];
    const ss_segment_use complete = {.io = SSTORE_IO_PREAD};
    const ss_segment_use files = {.blocks_only = true,
                                  .io = SSTORE_IO_PREAD,
                                  .on_problem = note_file_problem,
                                  .context = self};
    sstore_status status = ss_segment_open(store, metadata, &complete, segment_out, error);
    if (status == SSTORE_OK || !ss_is_of_one_file(error))
        return status;
    self->stopped = !ss_manifest_is_newest(store, manifest);
    self->opening.message[0] = '\0';
    note_file_problem(self, error);
    self->opening = *error;
    if (self->stopped)
        return SSTORE_OK;
    status = ss_segment_open(store, metadata, &files, segment_out, error);
    if (status == SSTORE_OK) {
        check_directory(self, store, metadata, SS_NO_INDEX);
        for (uint32_t i = 0; i < ss_index_count(metadata); i++)
            check_directory(self, store, metadata, i);
    } else if (ss_is_of_one_file(error)) /* the folder is also missing */
        status = SSTORE_OK;
    return status;
}

/* Verify a store that cannot be opened. If there is no problem, writers have replaced it meanwhile. */
static sstore_status verify_damaged(verification *self, const char *path, sstore_error *error)
{
    ss_dir store;
    ss_manifest manifest;
    sstore_status status = ss_store_dir_open(path, &store, error);
    if (status != SSTORE_OK)
        return status;
    status = ss_manifest_read(&store, &manifest, error);
    if (status == SSTORE_OK) {
        begin_progress(self, &manifest);
        for (uint32_t i = 0; status == SSTORE_OK && i < manifest.segment_count && !self->stopped; i++) {
            ss_segment *segment = NULL;
            status = open_readable(self, &store, &manifest, i, &segment, error);
            if (status == SSTORE_OK && segment != NULL && !self->stopped)
                status = verify_segment(self, segment, i, error);
            ss_segment_release(segment);
        }
        ss_manifest_free(&manifest);
    } else if (status == SSTORE_ERROR_DAMAGED) {
        note(self, error);
        status = SSTORE_OK;
    }
    ss_dir_close(&store);
    return status;
}

/* ----- stores ----- */

/* Compare the segments: each adds only absent records, and removes only present ones. */
static sstore_status verify_order(verification *self, const sstore *store, sstore_error *error)
{
    ss_merge_iterator records;
    ss_record record;
    uint64_t count = 0;
    bool more = true;
    ss_merge_iterator_init(&records, store->manifest.words, store->manifest.has_ids);
    sstore_status status = ss_merge_iterator_add(&records, store, 0, store->manifest.segment_count, error);
    sstore_status found = status == SSTORE_OK ? ss_merge_iterator_rewind(&records, error) : SSTORE_OK;
    while (status == SSTORE_OK && found == SSTORE_OK && more) {
        found = ss_merge_iterator_next(&records, &record, &more, error);
        status = count_record(self, ++count);
    }
    if (found != SSTORE_OK)
        note(self, error);
    ss_merge_iterator_close(&records);
    return status;
}

static sstore_status verify_store(verification *self, const sstore *store, sstore_error *error)
{
    const ss_manifest *manifest = &store->manifest;
    sstore_status status = SSTORE_OK;
    self->store = store;
    begin_progress(self, manifest);
    for (uint32_t i = 0; status == SSTORE_OK && i < manifest->segment_count && !self->stopped; i++)
        status = verify_segment(self, store->segments[i], i, error);
    if (status == SSTORE_OK && manifest->segment_count > 1 && self->problem_count == 0 && !self->stopped)
        status = verify_order(self, store, error);
    if (status == SSTORE_OK && manifest->has_ids && self->problem_count == 0 && !self->stopped &&
        manifest->next_id < self->min_next_id) /* min_next_id counts removed records as well */
        note_file(self, store->dir.path, "the manifest's next id is not above all ids");
    if (status == SSTORE_OK && !self->stopped) /* report the end, including skipped parts */
        status = ss_progress_add(&self->progress, 0, self->progress.now.total);
    return status;
}

sstore_status sstore_verify(const char *path, const sstore_verify_options *options, sstore_problem_fn on_problem,
                            void *context, sstore_error *error)
{
    verification self = {.on_problem = on_problem, .context = context};
    sstore_verify_options taken = SSTORE_VERIFY_OPTIONS_INIT;
    sstore_open_options how = SSTORE_OPEN_OPTIONS_INIT;
    sstore_error failure;
    sstore *store = NULL;
    if (path == NULL)
        return ss_fail_argument(error, "sstore_verify: path must not be NULL");
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_VERIFY_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    self.progress.report = taken.on_progress;
    self.progress.context = taken.progress_context;
    how.io = SSTORE_IO_PREAD; /* every fault is reported */
    for (int attempt = 0; store == NULL && status == SSTORE_OK && self.problem_count == 0; attempt++) {
        self.stopped = false;
        status = sstore_open(path, &how, &store, &failure);
        if (status == SSTORE_OK)
            status = verify_store(&self, store, &failure);
        else if (status != SSTORE_ERROR_NOT_FOUND && ss_is_of_one_file(&failure) && attempt < MAX_ATTEMPTS)
            status = verify_damaged(&self, path, &failure);
    }
    sstore_close(store);
    if (status == SSTORE_OK && self.problem_count > 0)
        return ss_fail_as(error, &self.worst);
    return status > SSTORE_STOPPED ? ss_fail_as(error, &failure) : status;
}
