#include "write/compact.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"
#include "write/record_pieces.h"
#include "write/removal.h"
#include "write/write_options.h"

/* A segment belongs to the range if it has at most four times as many records as the newer ones together. */
#define TIER_RATIO 4u
/* Fewer segments are merged only if they are small. */
#define TIER_MIN 4u

/* Segments that have together at most this many words are always merged: writing them takes hardly longer than writing
 * one record. */
#define SMALL_WORDS 16384u
/* A change is also merged with segments that have together at most this part of its records: 1/4. */
#define SMALLER_RATIO 4u

/* A change writes at most 4 million words, or 16 times its own records, whichever is more. */
#define MERGED_WORDS (1u << 22)
#define MERGED_RATIO 16u
/* This limit ends when the store has 64 segments. */
#define MANY_SEGMENTS 64u

/* The most records that a change writes in a merged segment by the tiers: those that it adds, and older ones. */
static uint64_t max_merged(const ss_manifest *manifest, uint64_t added_count)
{
    if (added_count == 0 || manifest->segment_count >= MANY_SEGMENTS)
        return UINT64_MAX;
    return ss_max_u64(MERGED_WORDS / manifest->words, MERGED_RATIO * ss_min_u64(added_count, UINT32_MAX));
}

/* The most records that a change writes in a segment merged with small ones, whatever their number. 0: it adds none. */
static uint64_t max_small(const ss_manifest *manifest, uint64_t added_count)
{
    const uint64_t with_smaller = added_count / SMALLER_RATIO * (SMALLER_RATIO + 1);
    return added_count > 0 ? ss_max_u64(SMALL_WORDS / manifest->words, with_smaller) : 0;
}

/*
 * The newest segments, as long as the next older one has at most four times as many records as they have together; none
 * if that would be fewer than four segments. So a record is rewritten a few times whenever the store has grown
 * fourfold, and at most three segments have about the same size: a store of n records that grows by s at a time has
 * three times log4(n/s) segments. Source: the size-tiered rule of log-structured merge trees. A change is also merged
 * with small segments, whatever their number: so small changes do not make more segments than one.
 */
ss_segment_range ss_tiers_find(const ss_manifest *manifest, uint64_t added_count)
{
    const uint32_t end = manifest->segment_count + (added_count > 0);
    const uint64_t max = max_merged(manifest, added_count), small = max_small(manifest, added_count);
    uint32_t first = manifest->segment_count, small_first = end;
    uint64_t sum = added_count;
    while (first > 0) {
        const uint64_t count = manifest->segments[first - 1].record_count;
        if (first < end && sum + count > small && (count / TIER_RATIO > sum || sum + count > max))
            break;
        sum += count;
        first--;
        if (sum <= small)
            small_first = first;
    }
    if (end - first < TIER_MIN)
        first = small_first;
    return first < end ? (ss_segment_range){first, end} : (ss_segment_range){0, 0};
}

/* The segments to compact. A single one is rewritten only if another form is wanted. */
static ss_segment_range choose_range(const ss_manifest *manifest, sstore_compaction scope,
                                     const sstore_write_options *options)
{
    const bool has_form = options->plan != NULL || options->block_bytes != 0 ||
                          (options->id_index && !manifest->has_id_index);
    if (scope == SSTORE_COMPACTION_TIERS)
        return ss_tiers_find(manifest, 0);
    return (ss_segment_range){0, manifest->segment_count > 1 || has_form ? manifest->segment_count : 0};
}

/* The records that the range adds, or those that it removes: an upper bound, since some may cancel out. */
static uint64_t count_max(const ss_manifest *manifest, ss_segment_range range, ss_segment_kind kind)
{
    uint64_t count = 0;
    for (uint32_t i = range.first; i < range.end; i++)
        count += manifest->segments[i].kind == kind ? manifest->segments[i].record_count : 0;
    return count;
}

typedef struct compaction {
    sstore_builder *builder;
    sstore *store; /* open for its records */
    ss_segment_range range;
    uint32_t change_count; /* the newest segments of the range are staged changes */
    ss_manifest_segment changes[SS_MAX_MADE];
    const ss_dir *dirs[SS_MAX_MADE]; /* of the changes */
    size_t first_staged;             /* the first staged segment of the result */
    uint32_t made_count;
    ss_manifest_segment made[SS_MAX_MADE]; /* the result: 0 to SS_MAX_MADE segments */
} compaction;

/* Add the names that were given, and those of the range. */
static sstore_status add_names(const compaction *self, ss_name_merge *names, sstore_error *error)
{
    const sstore_status status = ss_name_merge_add_runs(names, &self->builder->names, error);
    return status == SSTORE_OK
               ? ss_name_merge_add_segments(names, self->store, self->range.first, self->range.end, 0, error)
               : status;
}

/* Write a segment of the records that the range adds, or of those that it removes. An empty one is dropped, unless it
 * is the entire store. */
static sstore_status make_segment(compaction *self, ss_segment_kind kind, sstore_error *error)
{
    sstore_builder *builder = self->builder;
    ss_transaction *transaction = builder->transaction;
    const ss_manifest *manifest = &self->store->manifest;
    const size_t place = self->first_staged + self->made_count;
    const bool is_all = self->range.first == 0 && self->range.end == manifest->segment_count;
    ss_segment_spec spec = builder->spec;
    ss_manifest_segment *segment = &self->made[self->made_count];
    ss_merge_iterator records;
    ss_name_merge names = {.count = 0};
    sstore_status status = SSTORE_OK;
    if (transaction->staged_count == place) /* the builder has begun the first one */
        status = ss_transaction_stage(transaction, error);
    if (status != SSTORE_OK)
        return status;
    spec.dir = &transaction->staged[place]->dir;
    spec.kind = kind;
    spec.names = &names;
    ss_merge_iterator_init(&records, manifest->words, manifest->has_ids);
    records.sums = true;
    records.removed = kind == SS_SEGMENT_REMOVES;
    status = ss_merge_iterator_add(&records, self->store, self->range.first, self->range.end, error);
    if (status == SSTORE_OK && ss_segment_has_names(&spec))
        status = add_names(self, &names, error);
    if (status == SSTORE_OK) {
        ss_record_pieces pieces = {.records = &records, .shard_count = 1, .next_id = builder->next_id};
        const ss_sorted_pieces source = ss_record_pieces_open(&pieces, spec.memory.piece_capacity,
                                                              count_max(manifest, self->range, kind));
        status = ss_segment_write(&spec, &source, segment, error);
        ss_record_pieces_close(&pieces);
    }
    ss_merge_iterator_close(&records);
    ss_name_merge_close(&names);
    if (status != SSTORE_OK)
        return status;
    if (segment->record_count > 0 || (is_all && kind == SS_SEGMENT_ADDS)) {
        self->made_count++;
    } else {
        ss_transaction_discard(transaction, place);
        ss_manifest_segment_free(segment);
    }
    return SSTORE_OK;
}

/* Write the segments of the result. They have no record in common. What is added comes last, so it is the store's
 * newest segment: id_conflicts.h. */
static sstore_status make_segments(compaction *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (self->range.first > 0 && count_max(&self->store->manifest, self->range, SS_SEGMENT_REMOVES) > 0)
        status = make_segment(self, SS_SEGMENT_REMOVES, error);
    return status == SSTORE_OK ? make_segment(self, SS_SEGMENT_ADDS, error) : status;
}

static void forget_segments(compaction *self)
{
    for (uint32_t i = 0; i < SS_MAX_MADE; i++)
        ss_manifest_segment_free(&self->made[i]);
    self->made_count = 0;
}

/* Write the changes merged with the range; or alone, as the newest segments, if an older one is damaged: then they
 * shall not be lost. */
static sstore_status merge_changes(compaction *self, sstore_error *error)
{
    sstore_change *change = &self->builder->change;
    ss_transaction *transaction = self->builder->transaction;
    sstore_error problem;
    sstore_status status = make_segments(self, &problem);
    if (status == SSTORE_OK)
        return SSTORE_OK;
    if (status != SSTORE_ERROR_DAMAGED)
        return ss_fail_as(error, &problem);
    while (transaction->staged_count > self->first_staged)
        ss_transaction_discard(transaction, transaction->staged_count - 1);
    forget_segments(self);
    memcpy(change->damaged_file, problem.file, sizeof change->damaged_file);
    self->range.first = self->range.end - self->change_count;
    return make_segments(self, error);
}

static void free_compaction(compaction *self)
{
    sstore_close(self->store);
    forget_segments(self);
    for (uint32_t i = 0; i < SS_MAX_MADE; i++)
        ss_manifest_segment_free(&self->changes[i]);
}

static sstore_status write_compacted(compaction *self, const sstore_write_options *options, sstore_error *error)
{
    sstore_builder *builder = self->builder;
    const ss_manifest *manifest = &builder->transaction->manifest;
    const ss_segment_range range = self->range;
    builder->in_order = true;
    sstore_status status = ss_builder_check_formats(builder, range.first, error);
    if (status == SSTORE_OK)
        status = ss_store_open_in(&builder->transaction->store, SS_STORE_RECORDS, &self->store, error);
    if (status == SSTORE_OK)
        status = ss_builder_prepare(builder, options,
                                    ss_merge_iterator_bytes(self->store, range.first, range.end) +
                                        ss_name_merge_bytes(manifest, range.first, range.end),
                                    count_max(manifest, range, SS_SEGMENT_ADDS), error);
    if (status == SSTORE_OK)
        status = make_segments(self, error);
    if (status == SSTORE_OK)
        status = ss_builder_publish(builder, range.first, range.end, self->made, self->made_count, error);
    return status;
}

/* Write records in order, as a staged segment that nobody publishes. */
static sstore_status stage_records(const sstore_builder *builder, const ss_sorted_pieces *records,
                                   ss_manifest_segment *segment_out, sstore_error *error)
{
    ss_segment_spec spec = builder->spec;
    spec.records_only = true;
    return ss_segment_write(&spec, records, segment_out, error);
}

/* Stage a change. */
static sstore_status stage_change(compaction *self, sstore_builder *builder, const ss_sorted_pieces *records,
                                  sstore_error *error)
{
    const sstore_status status = stage_records(builder, records, &self->changes[self->change_count++], error);
    ss_builder_close_base(builder); /* memory is reserved for one open store */
    return status;
}

/* Open the store with the changes as its newest segments. */
static sstore_status open_with_changes(compaction *self, sstore_error *error)
{
    const ss_transaction *transaction = self->builder->transaction;
    sstore_status status = ss_store_open_in(&transaction->store, SS_STORE_RECORDS, &self->store, error);
    for (uint32_t i = 0; status == SSTORE_OK && i < self->change_count; i++)
        status = ss_store_append_staged(self->store, self->dirs[i], &self->changes[i], error);
    if (status == SSTORE_OK)
        self->range.end = self->store->manifest.segment_count;
    return status;
}

/* Count what a replacement changes: it may remove a record and add it again. */
static sstore_status count_replacement(compaction *self, sstore_error *error)
{
    const sstore *store = self->store;
    sstore_change *change = &self->builder->change;
    ss_merge_iterator records;
    ss_record record;
    bool more = true;
    ss_merge_iterator_init(&records, store->manifest.words, store->manifest.has_ids);
    sstore_status status = ss_merge_iterator_add(&records, store, self->range.end - 2, self->range.end, error);
    if (status == SSTORE_OK)
        status = ss_merge_iterator_rewind(&records, error);
    while (status == SSTORE_OK && more) {
        status = ss_merge_iterator_next(&records, &record, &more, error);
        change->added_count += more;
    }
    ss_merge_iterator_close(&records);
    change->removed_count = self->changes[0].record_count - (self->changes[1].record_count - change->added_count);
    return status;
}

/* Write and publish the changes, merged with the range. */
static sstore_status merge_and_publish(compaction *self, sstore_error *error)
{
    sstore_builder *builder = self->builder;
    sstore_status status = ss_builder_check_space(builder, SS_SEGMENT_ADDS,
                                                  count_max(&self->store->manifest, self->range, SS_SEGMENT_ADDS), 0,
                                                  error);
    if (status == SSTORE_OK)
        status = merge_changes(self, error);
    if (status != SSTORE_OK)
        return status;
    for (uint32_t i = 0; i < self->change_count; i++)
        ss_transaction_discard(builder->transaction, 0);
    return ss_builder_publish(builder, self->range.first, self->range.end - self->change_count, self->made,
                              self->made_count, error);
}

sstore_status ss_builder_merge(sstore_builder *builder, const ss_sorted_pieces *records, uint32_t first,
                               sstore_error *error)
{
    compaction self = {.builder = builder, .range = {first, first}, .first_staged = 1, .dirs = {builder->spec.dir}};
    sstore_status status = stage_change(&self, builder, records, error);
    ss_note_changed(builder, self.changes[0].record_count);
    if (status == SSTORE_OK && self.changes[0].record_count > 0) {
        status = open_with_changes(&self, error);
        if (status == SSTORE_OK)
            status = merge_and_publish(&self, error);
    }
    free_compaction(&self);
    return status;
}

sstore_status ss_builder_replace(sstore_builder *builder, const ss_sorted_pieces *replaced,
                                 const ss_sorted_pieces *records, uint32_t first, sstore_error *error)
{
    sstore_builder *remover = ss_remover_builder(builder->replaced);
    const sstore_change *change = &builder->change;
    compaction self = {.builder = builder,
                       .range = {first, first},
                       .first_staged = 2,
                       .dirs = {remover->spec.dir, builder->spec.dir}};
    sstore_status status = stage_change(&self, remover, replaced, error);
    if (status == SSTORE_OK)
        status = stage_change(&self, builder, records, error);
    else
        ss_pieces_release(records);
    if (status == SSTORE_OK)
        status = open_with_changes(&self, error);
    if (status == SSTORE_OK)
        status = count_replacement(&self, error);
    if (status == SSTORE_OK && change->added_count + change->removed_count > 0)
        status = merge_and_publish(&self, error);
    free_compaction(&self);
    return status;
}

static sstore_status compact(const char *path, sstore_compaction scope, const sstore_write_options *options,
                             sstore_change *change_out, sstore_error *error)
{
    compaction self = {.made_count = 0};
    sstore_status status = ss_builder_open(path, NULL, SS_WRITE_EXTEND, SS_SEGMENT_ADDS, options, &self.builder, error);
    if (status != SSTORE_OK)
        return status;
    sstore_builder *builder = self.builder;
    self.range = choose_range(&builder->transaction->manifest, scope, options);
    if (self.range.first < self.range.end)
        status = write_compacted(&self, options, error);
    else
        ss_transaction_clean_up(builder->transaction);
    if (status == SSTORE_OK && change_out != NULL) {
        ss_note_store(&builder->change, &builder->transaction->manifest);
        status = ss_give_result(change_out, &builder->change, sizeof builder->change, SS_CHANGE_SIZE_1, error);
    }
    free_compaction(&self);
    sstore_builder_abort(builder);
    return status;
}

sstore_status sstore_compact(const char *path, sstore_compaction scope, const sstore_write_options *options,
                             sstore_change *change_out, sstore_error *error)
{
    sstore_write_options taken;
    if (path == NULL)
        return ss_fail_argument(error, "sstore_compact: path must not be NULL");
    sstore_status status = ss_write_options_take(&taken, options, SS_WRITE_CALL_COMPACT, error);
    if (status == SSTORE_OK)
        status = ss_check_result(change_out, SS_CHANGE_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    if (scope > SSTORE_COMPACTION_TIERS)
        return ss_fail_argument(error, "sstore_compact: compaction %d does not exist", (int)scope);
    if (scope != SSTORE_COMPACTION_ALL && taken.id_index)
        return ss_fail_argument(error, "sstore_compact: only a compaction of all segments can add an id index");
    taken.no_compact = true; /* it is one */
    return compact(path, scope, &taken, change_out, error);
}
