/*
 * compact.c - makes one segment of several neighbouring ones, without what was removed. Their records are read as they
 * lie, in order; nothing is sorted for table 0. What they remove from segments that are older than they becomes a
 * segment of its own, as long as there are such.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "build/builder.h"
#include "build/stream_source.h"

#define TIER_RATIO 4u
#define TIER_LEAST 4u /* segments */
#define MOST_MADE 2u  /* segments, that a range becomes: one that adds and one that removes */

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
    return range.end - range.first < TIER_LEAST ? none : range;
}

/* All segments; none where there is only one, which adds. */
static compact_range find_all(const ss_manifest *manifest)
{
    return manifest->segment_count > 1 ? (compact_range){.end = manifest->segment_count} : none;
}

/* What records of the range there can be at most, of those that it adds, or of those that it removes from older segments. */
static uint64_t count_most(const ss_manifest *manifest, compact_range range, ss_segment_kind kind)
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
    const ss_manifest *manifest = &builder->place->manifest;
    const uint64_t most = count_most(manifest, self->range, kind);
    const bool is_all = self->range.first == 0 && self->range.end == manifest->segment_count;
    ss_segment_build build = builder->build;
    ss_manifest_segment *segment = &self->made[self->made_count];
    ss_record_merge records;
    ss_piece_source source;
    sstore_status status = SSTORE_OK;
    if (builder->place->work_count == self->made_count) /* the builder has begun the first one */
        status = ss_workplace_begin(builder->place, error);
    build.dir = &builder->place->works[self->made_count]->dir;
    build.kind = kind;
    if (kind == SS_SEGMENT_REMOVED)
        build.plan_name = SS_REMOVAL_PLAN;
    ss_record_merge_init(&records, manifest->has_ids);
    records.removed = kind == SS_SEGMENT_REMOVED;
    if (status == SSTORE_OK)
        status = ss_record_merge_add(&records, self->store, self->range.first, self->range.end, error);
    if (status == SSTORE_OK) {
        ss_stream_source stream = {.records = &records, .next_ordinal = manifest->next_ordinal};
        ss_stream_source_open(&stream, most, ss_piece_capacity(build.memory.piece_capacity, most), &source);
        status = ss_segment_build_run(&build, &source, NULL, segment, error);
        ss_stream_source_close(&stream);
    }
    ss_record_merge_close(&records);
    if (status != SSTORE_OK)
        return status;
    self->sums[kind] = segment->content_sum;
    if (segment->record_count > 0 || (is_all && kind == SS_SEGMENT_RECORDS))
        self->made_count++;
    else
        ss_workplace_drop_last(builder->place);
    return SSTORE_OK;
}

/* Hold what was read against what the manifest says of the range. Segments add and remove a record in turn, so what they remove
 * takes as much from what they add as is left over on either side. */
static sstore_status check_sums(const compaction *self, sstore_error *error)
{
    const ss_manifest *manifest = &self->builder->place->manifest;
    ss_u128 added = self->sums[SS_SEGMENT_REMOVED], removed = self->sums[SS_SEGMENT_RECORDS];
    for (uint32_t i = self->range.first; i < self->range.end; i++) {
        const ss_manifest_segment *segment = &manifest->segments[i];
        ss_u128 *sum = segment->kind == SS_SEGMENT_REMOVED ? &removed : &added;
        *sum = ss_u128_add(*sum, segment->content_sum);
    }
    if (ss_u128_equal(added, removed))
        return SSTORE_OK;
    return ss_fail_damaged(error, self->store->dir.path, SSTORE_NO_OFFSET,
                           "the records that were read do not have the manifest's content sums; nothing was changed, and "
                           "'sstore verify' says which file is damaged");
}

/* Put what was made in the range's place. */
static sstore_status publish(compaction *self, sstore_error *error)
{
    const ss_manifest *before = &self->builder->place->manifest;
    const uint32_t newer = before->segment_count - self->range.end;
    ss_manifest manifest = *before;
    uint32_t fresh[MOST_MADE];
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
    sstore_status status = ss_workplace_publish(self->builder->place, &manifest, fresh, error);
    ss_free(manifest.segments);
    return status;
}

static sstore_status make_and_publish(compaction *self, sstore_error *error)
{
    const ss_manifest *manifest = &self->builder->place->manifest;
    self->made = ss_alloc(MOST_MADE, sizeof *self->made);
    sstore_status status = self->made != NULL ? SSTORE_OK : ss_fail_memory(error, MOST_MADE * sizeof *self->made);
    if (status == SSTORE_OK)
        status = make_segment(self, SS_SEGMENT_RECORDS, error);
    if (status == SSTORE_OK && self->range.first > 0 &&
        count_most(manifest, self->range, SS_SEGMENT_REMOVED) > 0)
        status = make_segment(self, SS_SEGMENT_REMOVED, error);
    if (status == SSTORE_OK)
        status = check_sums(self, error);
    if (status == SSTORE_OK)
        status = publish(self, error);
    ss_free(self->made);
    return status;
}

/* What reading the range takes of memory. */
static uint64_t reading_bytes(const compaction *self)
{
    uint64_t bytes = 0;
    for (uint32_t i = self->range.first; i < self->range.end; i++)
        bytes += ss_record_stream_bytes(self->store->segments[i]);
    return bytes;
}

static sstore_status run(sstore_builder *builder, compact_range range, const sstore_build_options *options,
                             sstore_error *error)
{
    compaction self = {.builder = builder, .range = range};
    builder->in_order = true;
    sstore_status status = ss_store_open_in(&builder->place->store, true, &self.store, error);
    if (status == SSTORE_OK)
        status = ss_builder_share_memory(builder, options, reading_bytes(&self), error);
    if (status == SSTORE_OK)
        status = ss_builder_check_reserved(builder, error);
    if (status == SSTORE_OK)
        status = ss_builder_check_space(
            builder, count_most(&builder->place->manifest, range, SS_SEGMENT_RECORDS), 0, error);
    if (status == SSTORE_OK)
        status = make_and_publish(&self, error);
    sstore_close(self.store);
    return status;
}

/* What is to be compacted. A single segment is made anew where another form is asked for. */
static compact_range choose_range(const ss_manifest *manifest, sstore_compaction which,
                                     const sstore_build_options *options)
{
    if (which == SSTORE_COMPACT_TIERS)
        return find_tiers(manifest);
    if (manifest->segment_count == 1 && (options->plan != NULL || options->block_bytes != 0))
        return (compact_range){.end = 1};
    return find_all(manifest);
}

/* Compact with a builder, and free it. */
static sstore_status compact(sstore_builder *builder, sstore_compaction which, const sstore_build_options *options,
                             sstore_error *error)
{
    const compact_range range = choose_range(&builder->place->manifest, which, options);
    sstore_status status = SSTORE_OK;
    if (range.first < range.end) {
        status = ss_builder_check_formats(builder, range.first, error);
        if (status == SSTORE_OK)
            status = run(builder, range, options, error);
    } else {
        ss_workplace_tidy(builder->place);
    }
    if (status == SSTORE_OK)
        ss_builder_note_change(builder, NULL);
    sstore_builder_abort(builder);
    return status;
}

sstore_status ss_compact_in(ss_workplace *place, sstore_compaction which, const sstore_build_options *options,
                            sstore_error *error)
{
    sstore_builder *builder;
    sstore_status status = ss_builder_open_in(place, options, SS_SEGMENT_RECORDS, &builder, error);
    return status == SSTORE_OK ? compact(builder, which, options, error) : status;
}

sstore_status sstore_compact(const char *path, sstore_compaction which, const sstore_build_options *options,
                             sstore_error *error)
{
    sstore_build_options taken = SSTORE_BUILD_OPTIONS_INIT;
    sstore_builder *builder;
    if (path == NULL || which > SSTORE_COMPACT_TIERS)
        return ss_fail_argument(error, "sstore_compact: path must not be NULL, nor the kind of compaction out of range");
    if (!ss_take_options(&taken, sizeof taken, options, sizeof taken))
        return ss_fail_argument(error, "the options are not set by SSTORE_BUILD_OPTIONS_INIT");
    sstore_status status = ss_builder_open(path, SS_CLAIM_EXTEND, &taken, SS_SEGMENT_RECORDS, &builder, error);
    return status == SSTORE_OK ? compact(builder, which, &taken, error) : status;
}
