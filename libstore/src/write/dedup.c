/*
 * dedup.c - takes in what is new: looks each record up in the store and among those that were taken in and are not in
 * it yet, which a growing index holds, and publishes these as a segment from time to time.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/tasks.h"
#include "read/batch.h"
#include "store/cursor.h"
#include "stream/memory_index.h"
#include "write/builder.h"

#define INDEX_SHARE 8u /* of memory, for what is gathered; while it grows it takes twice that */

/* Records that are looked up together: the more, the less time each takes. */
#define LEAST_ROUND ((uint64_t)4096)
#define MOST_ROUND (UINT64_C(1) << 20)
#define ROUND_BYTES 512u /* of memory, for each of them, with its matches if there are some */

struct sstore_intake {
    sstore_intake_options options; /* whole; texts are the copies below */
    char *plan, *tmp_dir;
    uint32_t distance;
    uint64_t most_index_bytes, conflict_bytes;
    ss_workplace place;
    sstore *store;         /* as of the last publication, unless it is stale */
    bool is_stale;         /* something was published, and the store could not be opened since */
    sstore_cursor *cursor; /* for records that are offered one by one */
    ss_growing_index *gathered;
    uint64_t next_ordinal, new_count;
    ss_id_conflicts conflicts; /* of the ids that are given */
    sstore_change found;       /* conflicts, of all publications */
    size_t match_count, match_capacity;
    sstore_match *matches; /* of the record at hand */
};

/* ----- opening ----- */

static sstore_status copy_text(const char **text, char **copy_out, sstore_error *error)
{
    if (*text == NULL)
        return SSTORE_OK;
    *copy_out = ss_strdup(*text);
    *text = *copy_out;
    return *copy_out != NULL ? SSTORE_OK : ss_fail_memory(error, 1);
}

static uint64_t memory_bytes(const sstore_intake *intake)
{
    const uint64_t given = intake->options.build.memory_bytes;
    return given != 0 ? given : SS_DEFAULT_MEMORY_BYTES;
}

static sstore_status open_store(sstore_intake *intake, sstore_error *error)
{
    sstore *store = NULL;
    sstore_cursor *cursor = NULL;
    sstore_status status = intake->store == NULL ? ss_store_open_in(&intake->place.store, false, &store, error)
                                                 : sstore_reopen(intake->store, &store, error);
    if (status == SSTORE_OK)
        status = sstore_cursor_create(store, &cursor, error);
    if (status != SSTORE_OK) {
        sstore_close(store);
        return status;
    }
    sstore_cursor_free(intake->cursor);
    sstore_close(intake->store);
    intake->store = store;
    intake->cursor = cursor;
    intake->is_stale = false;
    return SSTORE_OK;
}

/* Whoever asks of a million records should not learn at the end that none can be written. */
static sstore_status probe(ss_workplace *place, sstore_error *error)
{
    sstore_status status = ss_workplace_begin(place, error);
    ss_workplace_drop_all(place);
    return status;
}

static sstore_status set_up(sstore_intake *intake, const char *path, sstore_error *error)
{
    const ss_manifest *manifest = &intake->place.manifest;
    sstore_status status = copy_text(&intake->options.build.plan, &intake->plan, error);
    if (status == SSTORE_OK)
        status = copy_text(&intake->options.build.tmp_dir, &intake->tmp_dir, error);
    if (status == SSTORE_OK)
        status = ss_workplace_open(&intake->place, path, SS_CLAIM_EXTEND, error);
    if (status != SSTORE_OK)
        return status;
    status = ss_manifest_check_recipe(manifest, intake->place.path, intake->options.build.recipe, error);
    intake->options.build.recipe = NULL; /* it is the store's */
    intake->distance =
        intake->options.distance == SSTORE_OWN_DISTANCE ? manifest->distance : intake->options.distance;
    intake->next_ordinal = manifest->next_ordinal;
    intake->found.ids_checked = 1;
    intake->most_index_bytes = memory_bytes(intake) / INDEX_SHARE;
    if (intake->options.build.change != NULL && manifest->has_ids)
        intake->conflict_bytes = ss_id_conflicts_watch(&intake->conflicts, memory_bytes(intake));
    if (status == SSTORE_OK)
        status = probe(&intake->place, error);
    if (status == SSTORE_OK)
        status = ss_growing_index_create(intake->distance, &intake->gathered, error);
    return status == SSTORE_OK ? open_store(intake, error) : status;
}

sstore_status sstore_intake_open(const char *path, const sstore_intake_options *options, sstore_intake **intake_out,
                                 sstore_error *error)
{
    sstore_intake_options taken = SSTORE_INTAKE_OPTIONS_INIT;
    if (intake_out != NULL)
        *intake_out = NULL;
    if (path == NULL || intake_out == NULL)
        return ss_fail_argument(error, "sstore_intake_open: path and intake_out must not be NULL");
    if (!ss_take_options(&taken, sizeof taken, options, sizeof taken) ||
        taken.build.struct_size != sizeof taken.build)
        return ss_fail_argument(error, "the options are not set by SSTORE_INTAKE_OPTIONS_INIT");
    if (taken.distance != SSTORE_OWN_DISTANCE && taken.distance > SSTORE_MAX_BUILD_DISTANCE)
        return ss_fail_argument(error, "the distance that makes a record new is %u; it can be 0 to %d", taken.distance,
                                SSTORE_MAX_BUILD_DISTANCE);
    sstore_intake *intake = ss_alloc(1, sizeof *intake);
    if (intake == NULL)
        return ss_fail_memory(error, sizeof *intake);
    *intake = (sstore_intake){.options = taken, .place = {.store = SS_DIR_NONE}};
    sstore_status status = set_up(intake, path, error);
    if (status == SSTORE_OK)
        *intake_out = intake;
    else
        sstore_intake_close(intake);
    return status;
}

void sstore_intake_close(sstore_intake *intake)
{
    if (intake == NULL)
        return;
    ss_growing_index_free(intake->gathered);
    ss_id_conflicts_free(&intake->conflicts);
    sstore_cursor_free(intake->cursor);
    sstore_close(intake->store);
    ss_workplace_close(&intake->place);
    ss_free(intake->matches);
    ss_free(intake->plan);
    ss_free(intake->tmp_dir);
    ss_free(intake);
}

uint64_t sstore_intake_new_count(const sstore_intake *intake)
{
    return intake == NULL ? 0 : intake->new_count;
}

uint64_t sstore_intake_pending_count(const sstore_intake *intake)
{
    return intake == NULL ? 0 : ss_growing_index_count(intake->gathered);
}

/* ----- publishing ----- */

static sstore_status add_gathered(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                  sstore_error *error)
{
    return ss_builder_add_records(context, fingerprints, ids, count, error);
}

/* The memory that is left beside what is gathered and the open store. */
static sstore_build_options rest_of_options(const sstore_intake *intake)
{
    sstore_build_options rest = intake->options.build;
    const uint64_t all = memory_bytes(intake);
    const uint64_t taken = ss_growing_index_bytes(intake->gathered) + intake->conflict_bytes +
                           ss_store_memory_bytes(&intake->store->manifest, intake->store->options.io);
    rest.memory_bytes = ss_max_u64(all - ss_min_u64(taken, all / 2), SS_LEAST_MEMORY_BYTES);
    return rest;
}

/* None of what was gathered is in the store: it had nothing near. So nothing has to be looked up. */
static sstore_status publish_gathered(sstore_intake *intake, sstore_error *error)
{
    const sstore_build_options options = rest_of_options(intake);
    sstore_builder *builder;
    sstore_status status = ss_builder_open_in(&intake->place, &options, SS_SEGMENT_RECORDS, &builder, error);
    if (status != SSTORE_OK)
        return status;
    builder->next_ordinal = intake->next_ordinal;
    status = ss_builder_share_memory(builder, &options, 0, error);
    if (status == SSTORE_OK)
        status = ss_growing_index_each(intake->gathered, add_gathered, builder, error);
    if (status == SSTORE_OK)
        return sstore_builder_finish(builder, error);
    sstore_builder_abort(builder);
    return status;
}

/* Publish what was gathered. From the moment of publication on it is the store's, whatever fails after that. */
static sstore_status publish_and_forget(sstore_intake *intake, sstore_error *error)
{
    const uint32_t segments_before = intake->place.manifest.segment_count;
    ss_growing_index *empty;
    sstore_status status = ss_growing_index_create(intake->distance, &empty, error);
    if (status == SSTORE_OK)
        status = publish_gathered(intake, error);
    if (intake->place.manifest.segment_count > segments_before) {
        ss_growing_index *published = intake->gathered;
        intake->gathered = empty;
        intake->is_stale = true;
        empty = published;
    }
    ss_growing_index_free(empty);
    return status;
}

static bool has_suspects(const sstore_intake *intake)
{
    return intake->conflicts.count > 0 || intake->conflicts.left_out;
}

/* Look for conflicts in what was just published, and add them to those found before. */
static void find_conflicts(sstore_intake *intake, uint64_t next_ordinal)
{
    sstore_change *found = &intake->found, latest = {.conflict_count = 0};
    if (!has_suspects(intake))
        return;
    latest.record_count = intake->options.build.change->record_count;
    ss_id_conflicts_find(&intake->conflicts, intake->store, next_ordinal, &latest);
    if (latest.conflict_count > 0 &&
        (found->conflict_count == 0 || latest.least_conflicting_id < found->least_conflicting_id))
        found->least_conflicting_id = latest.least_conflicting_id;
    found->conflict_count += latest.conflict_count;
    found->ids_checked &= latest.ids_checked;
}

static void report_conflicts(const sstore_intake *intake)
{
    sstore_change *change = intake->options.build.change;
    if (change == NULL || intake->conflicts.capacity == 0)
        return;
    change->conflict_count = intake->found.conflict_count;
    change->least_conflicting_id = intake->found.least_conflicting_id;
    change->ids_checked = intake->found.ids_checked;
}

sstore_status sstore_intake_publish(sstore_intake *intake, sstore_error *error)
{
    if (intake == NULL)
        return ss_fail_argument(error, "sstore_intake_publish: intake must not be NULL");
    if (ss_growing_index_count(intake->gathered) == 0)
        return SSTORE_OK;
    const uint64_t next_ordinal = intake->place.manifest.next_ordinal;
    sstore_status status = publish_and_forget(intake, error);
    if (status == SSTORE_OK && (intake->options.compact == 0 || has_suspects(intake)))
        status = open_store(intake, error);
    if (status == SSTORE_OK)
        find_conflicts(intake, next_ordinal);
    if (status == SSTORE_OK && intake->options.compact != 0) {
        const sstore_build_options options = rest_of_options(intake);
        intake->is_stale = true;
        status = ss_compact_in(&intake->place, SSTORE_COMPACT_TIERS, &options, error);
        if (status == SSTORE_OK)
            status = open_store(intake, error);
    }
    report_conflicts(intake);
    return status;
}

/* Whether so much was gathered that it is to be published. */
static bool is_due(const sstore_intake *intake)
{
    const uint64_t every = intake->options.publish_every;
    return (every > 0 && ss_growing_index_count(intake->gathered) >= every) ||
           ss_growing_index_bytes(intake->gathered) > intake->most_index_bytes;
}

/* ----- offering ----- */

/* Some records that are offered. */
typedef struct offer {
    sstore_intake *intake;
    const uint64_t *fingerprints, *ids;
    size_t first; /* the index of the first one */
    size_t count, next; /* those before `next` were answered */
    sstore_intake_fn on_answer;
    void *context;
    sstore_status status; /* why it was stopped */
    sstore_error *error;
} offer;

static int keep_match(void *context, const sstore_match *match)
{
    sstore_intake *intake = context;
    sstore_match *matches =
        ss_grow(intake->matches, intake->match_count, &intake->match_capacity, 64, sizeof *matches);
    if (matches == NULL)
        return 1;
    intake->matches = matches;
    matches[intake->match_count++] = *match;
    return 0;
}

/* Take a new record in; *id_out is the id that it has. */
static sstore_status take_in(const offer *self, uint64_t fingerprint, uint64_t *id_out)
{
    sstore_intake *intake = self->intake;
    const bool has_ids = intake->place.manifest.has_ids;
    *id_out = !has_ids ? 0 : self->ids != NULL ? self->ids[self->next] : intake->next_ordinal;
    if (has_ids && self->ids == NULL && intake->next_ordinal == UINT64_MAX)
        return ss_fail_argument(self->error, "there are no ordinals left: they end below 2^64 - 1");
    sstore_status status = ss_growing_index_add(intake->gathered, fingerprint, *id_out, self->error);
    if (status != SSTORE_OK)
        return status;
    if (*id_out < intake->next_ordinal || *id_out == UINT64_MAX)
        ss_id_conflicts_suspect(&intake->conflicts, *id_out);
    if (has_ids && *id_out >= intake->next_ordinal)
        intake->next_ordinal = *id_out == UINT64_MAX ? *id_out : *id_out + 1;
    intake->new_count++;
    return SSTORE_OK;
}

/* The record `next` has these matches in the store: look among those gathered, too, and answer. */
static sstore_status answer_next(offer *self)
{
    sstore_intake *intake = self->intake;
    const uint64_t fingerprint = self->fingerprints[self->next];
    sstore_intake_answer answer = {.index = self->first + self->next,
                                   .fingerprint = fingerprint,
                                   .id = self->ids != NULL ? self->ids[self->next] : 0};
    sstore_status status =
        ss_growing_index_find(intake->gathered, fingerprint, intake->distance, keep_match, intake);
    if (status == SSTORE_STOPPED)
        return ss_fail_memory(self->error, 2 * intake->match_capacity * sizeof *intake->matches);
    answer.is_new = intake->match_count == 0;
    if (answer.is_new)
        status = take_in(self, fingerprint, &answer.id);
    else
        qsort(intake->matches, intake->match_count, sizeof *intake->matches, ss_compare_matches);
    answer.matches = intake->matches;
    answer.match_count = intake->match_count;
    intake->match_count = 0;
    self->next++;
    if (status == SSTORE_OK && self->on_answer(self->context, &answer) != 0)
        return SSTORE_STOPPED;
    return status;
}

/* Answer all before the record of that index. */
static sstore_status answer_until(offer *self, size_t index)
{
    while (self->status == SSTORE_OK && self->next < index)
        self->status = answer_next(self);
    return self->status;
}

/* The store's matches come in the order of the records. */
static int take_store_match(void *context, const sstore_match *match)
{
    offer *self = context;
    sstore_match kept = *match;
    if (answer_until(self, (size_t)match->query_index) != SSTORE_OK)
        return 1;
    kept.query_index = 0;
    if (keep_match(self->intake, &kept) != 0)
        self->status = ss_fail_memory(self->error, 2 * self->intake->match_capacity * sizeof *match);
    return self->status != SSTORE_OK;
}

static sstore_status offer_round(offer *self)
{
    sstore_intake *intake = self->intake;
    const uint32_t threads = intake->options.build.threads;
    intake->match_count = 0;
    sstore_status status =
        self->count == 1 ? sstore_query(intake->cursor, self->fingerprints[0], intake->distance, take_store_match, self,
                                        self->error)
                         : sstore_query_batch(intake->store, self->fingerprints, self->count, intake->distance, threads,
                                              take_store_match, self, self->error);
    if (status == SSTORE_OK)
        return answer_until(self, self->count);
    return status == SSTORE_STOPPED ? self->status : status;
}

/* As many that, were all of them new, no more than asked for would be gathered. */
static size_t round_size(const sstore_intake *intake, size_t left)
{
    const uint64_t every = intake->options.publish_every, gathered = ss_growing_index_count(intake->gathered);
    const uint64_t room = ss_max_u64(ss_min_u64(memory_bytes(intake) / ROUND_BYTES, MOST_ROUND), LEAST_ROUND);
    return (size_t)ss_min_u64(left, every > gathered ? ss_min_u64(every - gathered, room) : room);
}

sstore_status sstore_intake_offer(sstore_intake *intake, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                  sstore_intake_fn on_answer, void *context, sstore_error *error)
{
    if (intake == NULL || (fingerprints == NULL && count > 0) || on_answer == NULL)
        return ss_fail_argument(error, "sstore_intake_offer: intake, fingerprints and on_answer must not be NULL");
    sstore_status status = intake->is_stale ? open_store(intake, error) : SSTORE_OK;
    for (size_t first = 0, size; status == SSTORE_OK && first < count; first += size) {
        size = round_size(intake, count - first);
        offer some = {.intake = intake,
                      .fingerprints = fingerprints + first,
                      .ids = ids != NULL && intake->place.manifest.has_ids ? ids + first : NULL,
                      .first = first,
                      .count = size,
                      .on_answer = on_answer,
                      .context = context,
                      .error = error};
        status = offer_round(&some);
        if (status == SSTORE_OK && is_due(intake))
            status = sstore_intake_publish(intake, error);
    }
    return status;
}
