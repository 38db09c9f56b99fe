#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/record_iterator.h"
#include "store/store.h"
#include "write/builder.h"

/* ----- sorted pieces of the records of stores ----- */

/* The records of stores are in order already. Pieces are taken from the iterator one after the other, whatever thread asks for
 * them; what is done with them goes on side by side. */
typedef struct record_pieces {
    ss_merge_iterator *records; /* borrowed */
    /* Whether a record is to be in a piece at all; NULL: all are. */
    bool (*is_wanted)(void *context, const sstore_record *record);
    void *context;
    uint64_t next_ordinal; /* that the store to be written gets: above all ids */
    size_t piece_count, piece_capacity;
    ss_sequencer sequencer;
    bool has_last;
    sstore_record last; /* that was read */
} record_pieces;

/* Records must ascend strictly, also from piece to piece: encoders rely on that. The next ordinal must be above their ids,
 * or 'sstore verify' would reject the store that is written. */
static sstore_status check_record(record_pieces *stream, const sstore_record *record, sstore_error *error)
{
    const sstore_record *last = &stream->last;
    const bool ascends = !stream->has_last || record->fingerprint > last->fingerprint ||
                         (record->fingerprint == last->fingerprint && stream->records->has_ids &&
                          record->id > last->id);
    stream->has_last = true;
    stream->last = *record;
    if (stream->records->has_ids && SS_UNLIKELY(record->id + (record->id < UINT64_MAX) > stream->next_ordinal))
        return ss_fail_damaged(error, ss_merge_iterator_file(stream->records), SSTORE_NO_OFFSET,
                               "the manifest's next ordinal is not above all ids; 'sstore verify' says of which store");
    if (SS_LIKELY(ascends))
        return SSTORE_OK;
    return ss_fail_damaged(
        error, ss_merge_iterator_file(stream->records), SSTORE_NO_OFFSET,
        "the records do not ascend at fingerprint %016llx; 'sstore verify' says which file is damaged",
        (unsigned long long)record->fingerprint);
}

/* Take the next records off the stream, and keep those that are wanted. */
static sstore_status take(record_pieces *stream, void *items, size_t *count_out, sstore_error *error)
{
    sstore_record *records = items, record;
    uint64_t *keys = items;
    bool more = true;
    for (size_t taken = 0; taken < stream->piece_capacity; taken++) {
        sstore_status status = ss_merge_iterator_next(stream->records, &record, &more, error);
        if (status == SSTORE_OK && more)
            status = check_record(stream, &record, error);
        if (status != SSTORE_OK || !more)
            return status;
        if (stream->records->has_ids)
            records[*count_out] = record;
        else
            keys[*count_out] = record.fingerprint;
        *count_out += stream->is_wanted == NULL || stream->is_wanted(stream->context, &record);
    }
    return SSTORE_OK;
}

/* All pieces were taken: nothing may be left, or records would be lost silently. */
static sstore_status check_end(const record_pieces *stream, sstore_error *error)
{
    sstore_record record;
    bool more;
    const sstore_status status = ss_merge_iterator_next(stream->records, &record, &more, error);
    if (status != SSTORE_OK || !more)
        return status;
    return ss_fail_damaged(error, ss_merge_iterator_file(stream->records), SSTORE_NO_OFFSET,
                           "there are more records than the manifest says; 'sstore verify' says which file is damaged");
}

static sstore_status load(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                          sstore_error *error)
{
    record_pieces *stream = context;
    sstore_status status = SSTORE_OK;
    (void)scratch;
    *count_out = 0;
    if (!ss_sequencer_enter(&stream->sequencer, piece))
        return SSTORE_OK; /* a piece before could not be loaded, and whoever wanted it reports that */
    if (piece == 0) {
        stream->has_last = false;
        status = ss_merge_iterator_rewind(stream->records, error);
    }
    if (status == SSTORE_OK)
        status = take(stream, items, count_out, error);
    if (status == SSTORE_OK && piece + 1 == stream->piece_count)
        status = check_end(stream, error);
    if (status != SSTORE_OK)
        ss_sequencer_break(&stream->sequencer);
    else if (piece + 1 == stream->piece_count)
        ss_sequencer_restart(&stream->sequencer);
    else
        ss_sequencer_leave(&stream->sequencer);
    return status;
}

static void open_pieces(record_pieces *stream, uint64_t max_records, size_t capacity, ss_sorted_pieces *source_out)
{
    assert(capacity > 0);
    stream->piece_capacity = capacity;
    /* One at least, so that records are read also where the manifest says that none are left: that has to be true. */
    stream->piece_count = (size_t)ss_max_u64((max_records + capacity - 1) / capacity, 1);
    ss_sequencer_init(&stream->sequencer);
    *source_out = (ss_sorted_pieces){.context = stream,
                                     .piece_count = stream->piece_count,
                                     .item_count = max_records,
                                     .progress_each = capacity,
                                     .max_items = capacity,
                                     .load = load};
}

static void close_pieces(record_pieces *stream)
{
    ss_sequencer_destroy(&stream->sequencer);
}

/* ===== merge and shard ===== */

/*
 * One store of the records of several, and the store of a share of one's records. Both take the records in
 * order from table 0 and the ids of the stores they read, so that none of them is sorted again.
 */

/* The stores that are read, as one stream. */
typedef struct inputs {
    size_t count;
    sstore **stores;
    ss_merge_iterator records;
    uint64_t shard, shard_count; /* records of other shards are left out */
} inputs;

static void close_inputs(inputs *from)
{
    ss_merge_iterator_close(&from->records);
    for (size_t i = 0; from->stores != NULL && i < from->count; i++)
        sstore_close(from->stores[i]);
    ss_free(from->stores);
    from->stores = NULL;
}

/* Whether two stores belong together: for one distance, both with ids or both without, and of one recipe. */
static sstore_status check_alike(const sstore *first, const sstore *other, sstore_error *error)
{
    const ss_manifest *a = &first->manifest, *b = &other->manifest;
    if (a->distance != b->distance)
        return ss_fail_argument(error, "%s: it is made for distance %u, but %s for %u", other->dir.path, b->distance,
                                first->dir.path, a->distance);
    if (a->has_ids != b->has_ids)
        return ss_fail_argument(error, "%s: it has %s, but %s has %s", other->dir.path, b->has_ids ? "ids" : "no ids",
                                first->dir.path, a->has_ids ? "some" : "none");
    return ss_store_check_same_recipe(first, other, error);
}

static sstore_status open_inputs(inputs *from, const char *const *paths, size_t count, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *from = (inputs){.count = count, .shard_count = 1};
    from->stores = ss_alloc(count, sizeof(sstore *));
    if (from->stores == NULL)
        return ss_fail_memory(error, count * sizeof(sstore *));
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        status = ss_store_open_records(paths[i], &from->stores[i], error);
        if (status == SSTORE_OK)
            status = check_alike(from->stores[0], from->stores[i], error);
    }
    if (status == SSTORE_OK)
        ss_merge_iterator_init(&from->records, from->stores[0]->manifest.has_ids);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = ss_merge_iterator_add_store(&from->records, from->stores[i], error);
    return status;
}

/* Which of `count` shards a fingerprint belongs to: the shards are ranges of its hash. */
static uint64_t shard_of(uint64_t fingerprint, uint64_t count)
{
    uint8_t bytes[8];
    ss_store_le64(bytes, fingerprint);
    return (ss_hash64(bytes, sizeof bytes) >> 32) * count >> 32;
}

static bool is_wanted(void *context, const sstore_record *record)
{
    const inputs *from = context;
    return from->shard_count == 1 || shard_of(record->fingerprint, from->shard_count) == from->shard;
}

/* ----- building ----- */

typedef struct input_totals {
    uint64_t record_count, next_ordinal;
    uint64_t memory_bytes; /* while they are read */
} input_totals;

static input_totals sum_up(const inputs *from)
{
    input_totals totals = {0};
    for (size_t i = 0; i < from->count; i++) {
        const ss_manifest *manifest = &from->stores[i]->manifest;
        ss_manifest_totals counts;
        (void)ss_manifest_counts(manifest, &counts);
        totals.next_ordinal = ss_max_u64(totals.next_ordinal, manifest->next_ordinal);
        totals.record_count += counts.record_count;
        totals.memory_bytes += ss_merge_iterator_bytes(from->stores[i], 0, manifest->segment_count);
    }
    return totals;
}

/* Build a store at `path` of what the inputs give. */
static sstore_status build_from(inputs *from, const char *path, const ss_write_options *options,
                                sstore_change *change_out, sstore_error *error)
{
    const input_totals totals = sum_up(from);
    sstore_builder *builder;
    sstore_status status = ss_builder_open(path, options->replace ? SS_WRITE_REPLACE : SS_WRITE_NEW, options,
                                           SS_SEGMENT_RECORDS, &builder, error);
    if (status != SSTORE_OK)
        return status;
    builder->next_ordinal = totals.next_ordinal;
    builder->in_order = true;
    status = ss_builder_share_memory(builder, options, totals.memory_bytes, error);
    if (status == SSTORE_OK)
        status = ss_builder_check_reserved(builder, error);
    if (status == SSTORE_OK)
        status = ss_builder_check_space(builder, totals.record_count / from->shard_count, 0, error);
    if (status != SSTORE_OK) {
        sstore_builder_abort(builder);
        return status;
    }
    record_pieces pieces = {.records = &from->records,
                            .is_wanted = is_wanted,
                            .context = from,
                            .next_ordinal = totals.next_ordinal};
    ss_sorted_pieces source;
    size_t capacity = ss_piece_capacity(builder->build.memory.piece_capacity, totals.record_count);
    open_pieces(&pieces, totals.record_count, capacity, &source);
    status = ss_builder_finish_from(builder, &source, NULL, change_out, error);
    close_pieces(&pieces);
    return status;
}

/* What sstore_merge() and sstore_shard() have in common. */
static sstore_status merge(const char *path, const char *const *input_paths, size_t input_count, uint32_t shard,
                           uint32_t shard_count, const sstore_merge_options *options, sstore_change *change_out,
                           sstore_error *error)
{
    sstore_merge_options taken = SSTORE_MERGE_OPTIONS_INIT;
    inputs from = {.count = 0};
    if (path == NULL || input_paths == NULL || input_count == 0)
        return ss_fail_argument(error, "the path must not be NULL, and there must be at least one store to read");
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_MERGE_OPTIONS_SIZE_1, error);
    if (status == SSTORE_OK)
        status = ss_check_result(change_out, SS_CHANGE_SIZE_1, error);
    if (status == SSTORE_OK)
        status = open_inputs(&from, input_paths, input_count, error);
    if (status == SSTORE_OK) {
        const ss_manifest *manifest = &from.stores[0]->manifest;
        const ss_write_options write = {.plan = taken.plan,
                                        .tmp_dir = taken.tmp_dir,
                                        .recipe = manifest->recipe,
                                        .memory_bytes = taken.memory_bytes,
                                        .distance = manifest->distance,
                                        .block_bytes = taken.block_bytes,
                                        .threads = taken.threads,
                                        .without_ids = !manifest->has_ids,
                                        .replace = taken.replace,
                                        .ignore_free_space = taken.ignore_free_space,
                                        .on_progress = taken.on_progress,
                                        .progress_context = taken.progress_context};
        from.shard = shard;
        from.shard_count = shard_count;
        status = build_from(&from, path, &write, change_out, error);
    }
    close_inputs(&from);
    return status;
}

sstore_status sstore_merge(const char *path, const char *const *input_paths, size_t input_count,
                           const sstore_merge_options *options, sstore_change *change_out, sstore_error *error)
{
    return merge(path, input_paths, input_count, 0, 1, options, change_out, error);
}

sstore_status sstore_shard(const char *path, const char *input_path, uint32_t shard, uint32_t shard_count,
                           const sstore_merge_options *options, sstore_change *change_out, sstore_error *error)
{
    if (shard >= shard_count)
        return ss_fail_argument(error, "there is no shard %u of %u; the first one is 0", shard, shard_count);
    return merge(path, &input_path, input_path != NULL, shard, shard_count, options, change_out, error);
}

/* ===== compaction ===== */

/*
 * Makes one segment of several neighbouring ones, without what was removed. Their records are read as they
 * lie, in order; nothing is sorted for table 0. What they remove from segments that are older than they becomes a
 * segment of its own, as long as there are such.
 */

#define TIER_RATIO 4u
#define TIER_MIN 4u /* segments */
#define MAX_MADE 2u /* segments, that a range becomes: one that adds and one that removes */

/* ----- which segments ----- */

/* The segments first .. end - 1. */
typedef struct compact_range {
    uint32_t first, end;
} compact_range;

static const compact_range none = {0, 0};

/*
 * The newest segments, as long as the next older one has at most four times as many records as they have together; and
 * none at all if that would be fewer than four segments. So a record is written again a few times each time that the
 * store has grown fourfold, and there are three segments of about one size at most: of a store of n records that grows
 * by s at a time, three times log4(n/s). Source: the size-tiered rule of log-structured merge trees.
 */
static compact_range find_tiers(const ss_manifest *manifest)
{
    compact_range range = {.first = manifest->segment_count, .end = manifest->segment_count};
    uint64_t sum = 0;
    while (range.first > 0) {
        uint64_t count = manifest->segments[range.first - 1].record_count;
        if (range.first < range.end && count / TIER_RATIO > sum)
            break;
        sum += count;
        range.first--;
    }
    return range.end - range.first < TIER_MIN ? none : range;
}

/* All segments; none where there is only one, which adds. */
static compact_range find_all(const ss_manifest *manifest)
{
    return manifest->segment_count > 1 ? (compact_range){.end = manifest->segment_count} : none;
}

/* What records of the range there can be at most, of those that it adds, or of those that it removes from older segments. */
static uint64_t count_max(const ss_manifest *manifest, compact_range range, ss_segment_kind kind)
{
    uint64_t count = 0;
    for (uint32_t i = range.first; i < range.end; i++)
        count += manifest->segments[i].kind == kind ? manifest->segments[i].record_count : 0;
    return count;
}

/* ----- making one of them ----- */

typedef struct compaction {
    sstore_builder *builder;
    sstore *store; /* open for its records */
    compact_range range;
    ss_manifest_segment *made; /* what the range becomes: 0 to 2 segments */
    uint32_t made_count;
    ss_u128 sums[2]; /* of what the range adds, and of what it removes, as it was read */
} compaction;

/* Make a segment of what the range adds, or of what it removes. An empty one goes again, unless it is all of the store. */
static sstore_status make_segment(compaction *self, ss_segment_kind kind, sstore_error *error)
{
    sstore_builder *builder = self->builder;
    const ss_manifest *manifest = &builder->transaction->manifest;
    const uint64_t max = count_max(manifest, self->range, kind);
    const bool is_all = self->range.first == 0 && self->range.end == manifest->segment_count;
    ss_segment_writer build = builder->build;
    ss_manifest_segment *segment = &self->made[self->made_count];
    ss_merge_iterator records;
    ss_sorted_pieces source;
    sstore_status status = SSTORE_OK;
    if (builder->transaction->staged_count == self->made_count) /* the builder has begun the first one */
        status = ss_transaction_stage(builder->transaction, error);
    build.dir = &builder->transaction->staged[self->made_count]->dir;
    build.kind = kind;
    if (kind == SS_SEGMENT_REMOVED)
        build.plan_name = SS_REMOVAL_PLAN;
    ss_merge_iterator_init(&records, manifest->has_ids);
    records.removed = kind == SS_SEGMENT_REMOVED;
    if (status == SSTORE_OK)
        status = ss_merge_iterator_add(&records, self->store, self->range.first, self->range.end, error);
    if (status == SSTORE_OK) {
        record_pieces stream = {.records = &records, .next_ordinal = manifest->next_ordinal};
        open_pieces(&stream, max, ss_piece_capacity(build.memory.piece_capacity, max), &source);
        status = ss_segment_write(&build, &source, NULL, segment, error);
        close_pieces(&stream);
    }
    ss_merge_iterator_close(&records);
    if (status != SSTORE_OK)
        return status;
    self->sums[kind] = segment->content_sum;
    if (segment->record_count > 0 || (is_all && kind == SS_SEGMENT_RECORDS))
        self->made_count++;
    else
        ss_transaction_discard_last(builder->transaction);
    return SSTORE_OK;
}

/* Hold what was read against what the manifest says of the range. Segments add and remove a record in turn, so what they remove
 * takes as much from what they add as is left over on either side. */
static sstore_status check_sums(const compaction *self, sstore_error *error)
{
    const ss_manifest *manifest = &self->builder->transaction->manifest;
    ss_u128 added = self->sums[SS_SEGMENT_REMOVED], removed = self->sums[SS_SEGMENT_RECORDS];
    for (uint32_t i = self->range.first; i < self->range.end; i++) {
        const ss_manifest_segment *segment = &manifest->segments[i];
        ss_u128 *sum = segment->kind == SS_SEGMENT_REMOVED ? &removed : &added;
        *sum = ss_u128_add(*sum, segment->content_sum);
    }
    if (ss_u128_equal(added, removed))
        return SSTORE_OK;
    return ss_fail_damaged(
        error, self->store->dir.path, SSTORE_NO_OFFSET,
        "the records that were read do not have the manifest's content sums; nothing was changed, and "
        "'sstore verify' says which file is damaged");
}

/* Put what was made in the range's place. */
static sstore_status publish(compaction *self, sstore_error *error)
{
    const ss_manifest *before = &self->builder->transaction->manifest;
    const uint32_t newer = before->segment_count - self->range.end;
    ss_manifest manifest = *before;
    uint32_t fresh[MAX_MADE];
    manifest.segment_count = self->range.first + self->made_count + newer;
    manifest.segments = ss_alloc(manifest.segment_count, sizeof *manifest.segments);
    if (manifest.segments == NULL)
        return ss_fail_memory(error, manifest.segment_count * sizeof *manifest.segments);
    memcpy(manifest.segments, before->segments, self->range.first * sizeof *manifest.segments);
    for (uint32_t i = 0; i < self->made_count; i++) {
        fresh[i] = self->range.first + i;
        manifest.segments[fresh[i]] = self->made[i];
    }
    memcpy(manifest.segments + self->range.first + self->made_count, before->segments + self->range.end,
           newer * sizeof *manifest.segments);
    sstore_status status = ss_transaction_commit(self->builder->transaction, &manifest, fresh, error);
    ss_free(manifest.segments);
    return status;
}

static sstore_status make_and_publish(compaction *self, sstore_error *error)
{
    const ss_manifest *manifest = &self->builder->transaction->manifest;
    self->made = ss_alloc(MAX_MADE, sizeof *self->made);
    sstore_status status = self->made != NULL ? SSTORE_OK : ss_fail_memory(error, MAX_MADE * sizeof *self->made);
    if (status == SSTORE_OK)
        status = make_segment(self, SS_SEGMENT_RECORDS, error);
    if (status == SSTORE_OK && self->range.first > 0 && count_max(manifest, self->range, SS_SEGMENT_REMOVED) > 0)
        status = make_segment(self, SS_SEGMENT_REMOVED, error);
    if (status == SSTORE_OK)
        status = check_sums(self, error);
    if (status == SSTORE_OK)
        status = publish(self, error);
    ss_free(self->made);
    return status;
}

static sstore_status run(sstore_builder *builder, compact_range range, const ss_write_options *options,
                         sstore_error *error)
{
    compaction self = {.builder = builder, .range = range};
    builder->in_order = true;
    sstore_status status = ss_store_open_in(&builder->transaction->store, true, &self.store, error);
    if (status == SSTORE_OK)
        status = ss_builder_share_memory(builder, options, ss_merge_iterator_bytes(self.store, range.first, range.end),
                                         error);
    if (status == SSTORE_OK)
        status = ss_builder_check_reserved(builder, error);
    if (status == SSTORE_OK)
        status = ss_builder_check_space(builder, count_max(&builder->transaction->manifest, range, SS_SEGMENT_RECORDS),
                                        0, error);
    if (status == SSTORE_OK)
        status = make_and_publish(&self, error);
    sstore_close(self.store);
    return status;
}

/* What is to be compacted. A single segment is made anew where another form is asked for. */
static compact_range choose_range(const ss_manifest *manifest, sstore_compaction which, const ss_write_options *options)
{
    if (which == SSTORE_COMPACT_TIERS)
        return find_tiers(manifest);
    if (manifest->segment_count == 1 && (options->plan != NULL || options->block_bytes != 0))
        return (compact_range){.end = 1};
    return find_all(manifest);
}

/* Compact with a builder, and free it. */
static sstore_status compact(sstore_builder *builder, sstore_compaction which, const ss_write_options *options,
                             sstore_change *change_out, sstore_error *error)
{
    const compact_range range = choose_range(&builder->transaction->manifest, which, options);
    sstore_status status = SSTORE_OK;
    if (range.first < range.end) {
        status = ss_builder_check_formats(builder, range.first, error);
        if (status == SSTORE_OK)
            status = run(builder, range, options, error);
    } else {
        ss_transaction_clean_up(builder->transaction);
    }
    if (status == SSTORE_OK && change_out != NULL) {
        ss_builder_note_change(builder, NULL);
        status = ss_give_result(change_out, &builder->change, sizeof builder->change, SS_CHANGE_SIZE_1, error);
    }
    sstore_builder_abort(builder);
    return status;
}

sstore_status ss_compact_in(ss_transaction *transaction, sstore_compaction which, const ss_write_options *options,
                            sstore_error *error)
{
    sstore_builder *builder;
    sstore_status status = ss_builder_open_in(transaction, options, SS_SEGMENT_RECORDS, &builder, error);
    return status == SSTORE_OK ? compact(builder, which, options, NULL, error) : status;
}

sstore_status sstore_compact(const char *path, const sstore_compact_options *options, sstore_change *change_out,
                             sstore_error *error)
{
    sstore_compact_options taken = SSTORE_COMPACT_OPTIONS_INIT;
    sstore_builder *builder;
    if (path == NULL)
        return ss_fail_argument(error, "sstore_compact: path must not be NULL");
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_COMPACT_OPTIONS_SIZE_1, error);
    if (status == SSTORE_OK)
        status = ss_check_result(change_out, SS_CHANGE_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    if (taken.which > SSTORE_COMPACT_TIERS)
        return ss_fail_argument(error, "sstore_compact: there is no compaction %d", (int)taken.which);
    const ss_write_options write = {.plan = taken.plan,
                                    .tmp_dir = taken.tmp_dir,
                                    .recipe = taken.recipe,
                                    .memory_bytes = taken.memory_bytes,
                                    .block_bytes = taken.block_bytes,
                                    .threads = taken.threads,
                                    .ignore_free_space = taken.ignore_free_space,
                                    .on_progress = taken.on_progress,
                                    .progress_context = taken.progress_context};
    status = ss_builder_open(path, SS_WRITE_EXTEND, &write, SS_SEGMENT_RECORDS, &builder, error);
    return status == SSTORE_OK ? compact(builder, taken.which, &write, change_out, error) : status;
}
