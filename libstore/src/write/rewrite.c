/*
 * rewrite.c - writes segments from the records of stores: merges, shards and compactions. The records are read in order
 * from table 0 and the ids, so nothing is sorted for the new table 0.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "sort/radix.h"
#include "store/record_iterator.h"
#include "store/store.h"
#include "write/builder.h"

/* ===== sorted pieces of the records of stores ===== */

/* Threads take pieces from the iterator one after the other, and work on them in parallel. */
typedef struct record_pieces {
    ss_merge_iterator *records;  /* borrowed */
    uint64_t shard, shard_count; /* records of other shards are left out */
    uint64_t next_id;            /* of the store to be written: above all ids */
    size_t piece_count, piece_capacity;
    ss_sequencer sequencer;
    bool has_last;                    /* a record was read */
    uint64_t last[SS_MAX_ITEM_WORDS]; /* the last one: its fingerprint and its id */
} record_pieces;

/* Shards are ranges of the hash of fingerprints. */
static uint32_t shard_of(const uint64_t *fingerprint, uint32_t words, uint64_t shard_count)
{
    uint8_t bytes[8 * SSTORE_MAX_WORDS];
    for (uint32_t i = 0; i < words; i++)
        ss_store_le64(bytes + 8 * (size_t)i, fingerprint[i]);
    return (uint32_t)((ss_hash64(bytes, 8 * (size_t)words) >> 32) * shard_count >> 32);
}

sstore_status sstore_shard_numbers(const uint64_t *fingerprints, uint32_t words, size_t count, uint32_t shard_count,
                                   uint32_t *shards_out, sstore_error *error)
{
    if (words == 0 || words > SSTORE_MAX_WORDS)
        return ss_fail_argument(error, "sstore_shard_numbers: fingerprints have 1 to %d words", SSTORE_MAX_WORDS);
    if (count > 0 && (fingerprints == NULL || shards_out == NULL))
        return ss_fail_argument(error, "sstore_shard_numbers: fingerprints and shards_out must not be NULL");
    if (shard_count == 0)
        return ss_fail_argument(error, "there must be at least one shard");
    for (size_t i = 0; i < count; i++)
        shards_out[i] = shard_of(fingerprints + i * words, words, shard_count);
    return SSTORE_OK;
}

/* Whether a fingerprint belongs to the shard. */
static bool is_in_shard(const record_pieces *pieces, const uint64_t *fingerprint)
{
    return pieces->shard_count == 1 ||
           shard_of(fingerprint, pieces->records->words, pieces->shard_count) == pieces->shard;
}

/* Records must ascend strictly, also from piece to piece: encoders rely on that. The next id must be above their ids,
 * or sstore_verify() would reject the store that is written. */
static sstore_status check_record(record_pieces *pieces, const uint64_t *fingerprint, uint64_t id, sstore_error *error)
{
    const ss_merge_iterator *records = pieces->records;
    const uint32_t words = records->words;
    const int order = pieces->has_last ? ss_words_compare(fingerprint, pieces->last, words) : 1;
    const bool ascends = order > 0 || (order == 0 && records->has_ids && id > pieces->last[words]);
    pieces->has_last = true;
    ss_words_copy(pieces->last, fingerprint, words);
    pieces->last[words] = id;
    if (records->has_ids && SS_UNLIKELY(id + (id < UINT64_MAX) > pieces->next_id))
        return ss_fail_damaged(error, ss_merge_iterator_file(records), SSTORE_NO_OFFSET,
                               "the manifest's next id is not above all ids; sstore_verify() names the damaged store");
    if (SS_LIKELY(ascends))
        return SSTORE_OK;
    return ss_fail_damaged(error, ss_merge_iterator_file(records), SSTORE_NO_OFFSET,
                           "the records do not ascend at fingerprint %016llx; sstore_verify() names the damaged file",
                           (unsigned long long)*fingerprint);
}

/* Take the next records, and keep those of the shard. */
static sstore_status take(record_pieces *pieces, void *items, size_t *count_out, sstore_error *error)
{
    const bool has_ids = pieces->records->has_ids;
    const uint32_t words = pieces->records->words, item_words = words + (has_ids ? 1 : 0);
    sstore_record record;
    bool more = true;
    for (size_t taken = 0; taken < pieces->piece_capacity; taken++) {
        sstore_status status = ss_merge_iterator_next(pieces->records, &record, &more, error);
        const uint64_t *fingerprint = ss_merge_iterator_fingerprint(pieces->records, &record);
        if (status == SSTORE_OK && more)
            status = check_record(pieces, fingerprint, record.id, error);
        if (status != SSTORE_OK || !more)
            return status;
        uint64_t *item = (uint64_t *)items + *count_out * item_words;
        ss_words_copy(item, fingerprint, words);
        if (has_ids)
            item[words] = record.id;
        *count_out += is_in_shard(pieces, fingerprint);
    }
    return SSTORE_OK;
}

/* Check that no record follows the last piece; it would be lost silently. */
static sstore_status check_end(const record_pieces *pieces, sstore_error *error)
{
    sstore_record record;
    bool more;
    const sstore_status status = ss_merge_iterator_next(pieces->records, &record, &more, error);
    if (status != SSTORE_OK || !more)
        return status;
    return ss_fail_damaged(error, ss_merge_iterator_file(pieces->records), SSTORE_NO_OFFSET,
                           "there are more records than the manifest says; sstore_verify() names the damaged file");
}

static sstore_status load(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                          sstore_error *error)
{
    record_pieces *pieces = context;
    sstore_status status = SSTORE_OK;
    (void)scratch;
    *count_out = 0;
    if (!ss_sequencer_enter(&pieces->sequencer, piece))
        return SSTORE_OK; /* an earlier piece failed, and its task reports that */
    if (piece == 0) {
        pieces->has_last = false;
        status = ss_merge_iterator_rewind(pieces->records, error);
    }
    if (status == SSTORE_OK)
        status = take(pieces, items, count_out, error);
    if (status == SSTORE_OK && piece + 1 == pieces->piece_count)
        status = check_end(pieces, error);
    if (status != SSTORE_OK)
        ss_sequencer_break(&pieces->sequencer);
    else if (piece + 1 == pieces->piece_count)
        ss_sequencer_restart(&pieces->sequencer);
    else
        ss_sequencer_leave(&pieces->sequencer);
    return status;
}

/* Prepare to return at most `max_records`, to a builder whose memory is divided. Close it by ss_sequencer_destroy(). */
static ss_sorted_pieces open_pieces(record_pieces *pieces, const sstore_builder *builder, uint64_t max_records)
{
    const size_t capacity = ss_piece_capacity(builder->writer.memory.piece_capacity, max_records);
    assert(capacity > 0);
    pieces->next_id = builder->next_id;
    pieces->piece_capacity = capacity;
    /* At least one, to check that there are no records if the manifest says so. */
    pieces->piece_count = (size_t)ss_max_u64((max_records + capacity - 1) / capacity, 1);
    ss_sequencer_init(&pieces->sequencer);
    return (ss_sorted_pieces){.context = pieces,
                              .piece_count = pieces->piece_count,
                              .item_count = max_records,
                              .progress_each = capacity,
                              .max_items = capacity,
                              .load = load};
}

/* ===== merge and shard ===== */

/* The stores that are read. */
typedef struct inputs {
    size_t count;
    sstore **stores;
    ss_merge_iterator records;
    uint64_t record_count, next_id;
    uint64_t memory_bytes; /* while they are read */
} inputs;

static void close_inputs(inputs *from)
{
    ss_merge_iterator_close(&from->records);
    for (size_t i = 0; from->stores != NULL && i < from->count; i++)
        sstore_close(from->stores[i]);
    ss_free(from->stores);
}

/* Check that two stores can be merged: for one distance, both with ids or both without, and of one recipe. */
static sstore_status check_alike(const sstore *first, const sstore *other, sstore_error *error)
{
    const ss_manifest *a = &first->manifest, *b = &other->manifest;
    if (a->words != b->words)
        return ss_fail_argument(error, "%s: fingerprints of %u bits, but those of %s have %u", other->dir.path,
                                SS_WORD_BITS * b->words, first->dir.path, SS_WORD_BITS * a->words);
    if (a->distance != b->distance)
        return ss_fail_argument(
            error, "%s: built for distance %u, but %s for %u; dump one and build it again for the other distance",
            other->dir.path, b->distance, first->dir.path, a->distance);
    if (a->has_ids != b->has_ids)
        return ss_fail_argument(error, "%s has %s, but %s has %s", other->dir.path, b->has_ids ? "ids" : "no ids",
                                first->dir.path, a->has_ids ? "ids" : "no ids");
    return ss_manifest_check_recipe(b, other->dir.path, a->recipe, first->dir.path, error);
}

static sstore_status open_inputs(inputs *from, const char *const *paths, size_t count, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *from = (inputs){.count = count};
    from->stores = ss_alloc(count, sizeof(sstore *));
    if (from->stores == NULL)
        return ss_fail_memory(error, count * sizeof(sstore *));
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        if (paths[i] == NULL)
            return ss_fail_argument(error, "sstore_merge: no path of input_paths may be NULL");
        status = ss_store_open_records(paths[i], &from->stores[i], error);
        if (status == SSTORE_OK)
            status = check_alike(from->stores[0], from->stores[i], error);
    }
    if (status == SSTORE_OK)
        ss_merge_iterator_init(&from->records, from->stores[0]->manifest.words, from->stores[0]->manifest.has_ids);
    from->records.sums = true;
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        const ss_manifest *manifest = &from->stores[i]->manifest;
        from->record_count += ss_manifest_count(manifest).record_count;
        from->next_id = ss_max_u64(from->next_id, manifest->next_id);
        from->memory_bytes += ss_merge_iterator_bytes(from->stores[i], 0, manifest->segment_count);
        status = ss_merge_iterator_add(&from->records, from->stores[i], 0, manifest->segment_count, error);
    }
    return status;
}

/* Build a store at `path` of a shard of the inputs. */
static sstore_status build_shard(inputs *from, uint64_t shard, uint64_t shard_count, const char *path,
                                 const sstore_write_options *options, sstore_change *change_out, sstore_error *error)
{
    record_pieces pieces = {.records = &from->records, .shard = shard, .shard_count = shard_count};
    sstore_builder *builder;
    sstore_status status = ss_builder_open(path, NULL, options->replace ? SS_WRITE_REPLACE : SS_WRITE_NEW,
                                           SS_SEGMENT_ADDS, options, &builder, error);
    if (status != SSTORE_OK)
        return status;
    builder->next_id = from->next_id;
    builder->in_order = true;
    builder->change.given_count = from->record_count;
    status = ss_builder_prepare(builder, options, from->memory_bytes, from->record_count / shard_count, error);
    if (status != SSTORE_OK) {
        sstore_builder_abort(builder);
        return status;
    }
    const ss_sorted_pieces source = open_pieces(&pieces, builder, from->record_count);
    status = ss_builder_finish_from(builder, &source, change_out, error);
    ss_sequencer_destroy(&pieces.sequencer);
    return status;
}

/* Make a store of a shard of some stores. */
static sstore_status merge(const char *path, const char *const *input_paths, size_t input_count, uint32_t shard,
                           uint32_t shard_count, const sstore_write_options *options, sstore_change *change_out,
                           sstore_error *error)
{
    sstore_write_options taken;
    inputs from = {.count = 0};
    if (path == NULL || input_paths == NULL || input_count == 0)
        return ss_fail_argument(error, "the path must not be NULL, and there must be at least one store to read");
    sstore_status status = ss_write_options_take(&taken, options, error);
    if (status == SSTORE_OK)
        status = ss_check_result(change_out, SS_CHANGE_SIZE_1, error);
    if (status == SSTORE_OK)
        status = open_inputs(&from, input_paths, input_count, error);
    if (status == SSTORE_OK) {
        const ss_manifest *manifest = &from.stores[0]->manifest;
        taken.fingerprint_bits = manifest->words * SS_WORD_BITS;
        taken.recipe = manifest->recipe;
        taken.distance = manifest->distance;
        taken.without_ids = !manifest->has_ids;
        taken.first_id = taken.expected_max_id = 0;
        status = build_shard(&from, shard, shard_count, path, &taken, change_out, error);
    }
    close_inputs(&from);
    return status;
}

sstore_status sstore_merge(const char *path, const char *const *input_paths, size_t input_count,
                           const sstore_write_options *options, sstore_change *change_out, sstore_error *error)
{
    return merge(path, input_paths, input_count, 0, 1, options, change_out, error);
}

sstore_status sstore_shard(const char *path, const char *input_path, uint32_t shard, uint32_t shard_count,
                           const sstore_write_options *options, sstore_change *change_out, sstore_error *error)
{
    if (shard >= shard_count)
        return ss_fail_argument(error, "shard %u of %u does not exist; shards are numbered from 0", shard, shard_count);
    return merge(path, &input_path, input_path != NULL, shard, shard_count, options, change_out, error);
}

/* ===== compaction ===== */

/*
 * Merges consecutive segments into one, without removed records. If they remove records of older segments, these
 * removals become a second segment. A change may be the newest of these segments; then nothing but the result is
 * published.
 */

/* A segment belongs to the range if it has at most so many times as many records as the newer ones together. */
#define TIER_RATIO 4u
/* Fewer segments are merged only if they are small. */
#define TIER_MIN 4u

/* A merged segment of at most so many words takes hardly longer to write than one of a single record. */
#define SMALL_WORDS 16384u
/* A change is also merged with segments that have together at most this part of its records: 1/4. */
#define SMALLER_RATIO 4u

/* A change writes at most so many words, or so many times its own records, whichever is more. */
#define MERGED_WORDS (1u << 22)
#define MERGED_RATIO 16u
/* A store of so many segments has no such limit. */
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

/* The segments to compact. A single one is rewritten only if another plan or block size is wanted. */
static ss_segment_range choose_range(const ss_manifest *manifest, sstore_compaction scope,
                                     const sstore_write_options *options)
{
    const bool has_form = options->plan != NULL || options->block_bytes != 0;
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
    size_t first_staged; /* the first staged segment of the result */
    uint32_t made_count;
    ss_manifest_segment made[SS_MAX_MADE]; /* the result: 0 to SS_MAX_MADE segments */
} compaction;

/* Write a segment of the records that the range adds, or of those that it removes. An empty one is dropped, unless it
 * is the entire store. */
static sstore_status make_segment(compaction *self, ss_segment_kind kind, sstore_error *error)
{
    sstore_builder *builder = self->builder;
    ss_transaction *transaction = builder->transaction;
    const ss_manifest *manifest = &self->store->manifest;
    const size_t place = self->first_staged + self->made_count;
    const bool is_all = self->range.first == 0 && self->range.end == manifest->segment_count;
    ss_segment_writer writer = builder->writer;
    ss_manifest_segment *segment = &self->made[self->made_count];
    ss_merge_iterator records;
    ss_plan removal_plan;
    sstore_status status = SSTORE_OK;
    if (transaction->staged_count == place) /* the builder has begun the first one */
        status = ss_transaction_stage(transaction, error);
    if (status != SSTORE_OK)
        return status;
    writer.dir = &transaction->staged[place]->dir;
    writer.kind = kind;
    ss_merge_iterator_init(&records, manifest->words, manifest->has_ids);
    records.sums = true;
    if (kind == SS_SEGMENT_REMOVES) {
        writer.plan = &removal_plan;
        records.removed = true;
        status = ss_plan_parse(SS_REMOVAL_PLAN, writer.distance, &removal_plan, error);
    }
    if (status == SSTORE_OK)
        status = ss_merge_iterator_add(&records, self->store, self->range.first, self->range.end, error);
    if (status == SSTORE_OK) {
        record_pieces pieces = {.records = &records, .shard_count = 1};
        const ss_sorted_pieces source = open_pieces(&pieces, builder, count_max(manifest, self->range, kind));
        status = ss_segment_write(&writer, &source, segment, error);
        ss_sequencer_destroy(&pieces.sequencer);
    }
    ss_merge_iterator_close(&records);
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

/* Write the segments of the result. */
static sstore_status make_segments(compaction *self, sstore_error *error)
{
    sstore_status status = make_segment(self, SS_SEGMENT_ADDS, error);
    if (status == SSTORE_OK && self->range.first > 0 &&
        count_max(&self->store->manifest, self->range, SS_SEGMENT_REMOVES) > 0)
        status = make_segment(self, SS_SEGMENT_REMOVES, error);
    return status;
}

static void forget_segments(compaction *self)
{
    for (uint32_t i = 0; i < SS_MAX_MADE; i++)
        ss_manifest_segment_free(&self->made[i]);
    self->made_count = 0;
}

/* Write the change merged with the range; or alone, as the newest segment, if an older one is damaged: then it shall
 * not be lost. */
static sstore_status merge_change(compaction *self, sstore_error *error)
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
    self->range.first = self->range.end - 1;
    return make_segments(self, error);
}

static void free_compaction(compaction *self)
{
    sstore_close(self->store);
    forget_segments(self);
}

static sstore_status run(compaction *self, const sstore_write_options *options, sstore_error *error)
{
    sstore_builder *builder = self->builder;
    const ss_manifest *manifest = &builder->transaction->manifest;
    const ss_segment_range range = self->range;
    builder->in_order = true;
    sstore_status status = ss_builder_check_formats(builder, range.first, error);
    if (status == SSTORE_OK)
        status = ss_store_open_in(&builder->transaction->store, SS_STORE_RECORDS, &self->store, error);
    if (status == SSTORE_OK)
        status = ss_builder_prepare(builder, options, ss_merge_iterator_bytes(self->store, range.first, range.end),
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
    ss_segment_writer writer = builder->writer;
    ss_plan plan;
    writer.records_only = true;
    writer.plan = &plan;
    const sstore_status status = writer.words > 1 ? SSTORE_OK
                                                  : ss_plan_parse(SS_REMOVAL_PLAN, writer.distance, &plan, error);
    return status == SSTORE_OK ? ss_segment_write(&writer, records, segment_out, error) : status;
}

sstore_status ss_builder_merge(sstore_builder *builder, const ss_sorted_pieces *records, ss_segment_range range,
                               uint64_t *changed_count_out, sstore_error *error)
{
    ss_transaction *transaction = builder->transaction;
    compaction self = {.builder = builder, .range = range, .first_staged = 1};
    ss_manifest_segment change = {.record_count = 0};
    sstore_status status = stage_records(builder, records, &change, error);
    ss_builder_close_base(builder); /* memory is reserved for one open store */
    *changed_count_out = change.record_count;
    if (status == SSTORE_OK && change.record_count > 0) {
        const ss_dir *dir = &transaction->staged[0]->dir;
        status = ss_store_open_in(&transaction->store, SS_STORE_RECORDS, &self.store, error);
        if (status == SSTORE_OK)
            status = ss_store_append_staged(self.store, dir, &change, error);
        if (status == SSTORE_OK && change.kind == SS_SEGMENT_REMOVES)
            status = ss_builder_set_plan(builder, SS_SEGMENT_ADDS, NULL, error);
        if (status == SSTORE_OK)
            status = ss_builder_check_space(builder, count_max(&self.store->manifest, range, SS_SEGMENT_ADDS), 0,
                                            error);
        if (status == SSTORE_OK)
            status = merge_change(&self, error);
        if (status == SSTORE_OK) {
            ss_transaction_discard(transaction, 0);
            status = ss_builder_publish(builder, self.range.first, range.end - 1, self.made, self.made_count, error);
        }
    }
    ss_manifest_segment_free(&change);
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
        status = run(&self, options, error);
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
    sstore_status status = ss_write_options_take(&taken, options, error);
    if (status == SSTORE_OK)
        status = ss_check_result(change_out, SS_CHANGE_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    if (scope > SSTORE_COMPACTION_TIERS)
        return ss_fail_argument(error, "sstore_compact: compaction %d does not exist", (int)scope);
    taken.no_compact = true; /* it is one */
    return compact(path, scope, &taken, change_out, error);
}
