/*
 * keeper.c - chooses which of near records to keep:
 *
 *   records with priorities are sorted: from then on, a record's place stands for its number
 *   one after the other, they are
 *     added to a temporary store, whose clusters are the groups: the lowest place of each is kept
 *     strict: inserted into a temporary store, if it has none that is near
 *     with pairs that the caller confirms: confirmed_groups.h
 *   dropped records are sorted by number, with what is kept instead
 *
 * Places become numbers again by merging what is sorted by place with the sorted records, first for the dropped
 * records, then for the kept ones. So nothing is looked up in random order.
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/iterator.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "sort/buckets.h"
#include "sort/sorted_items.h"
#include "sstore_join.h"
#include "store/commit.h"
#include "write/confirmed_dedup.h"
#include "write/confirmed_groups.h"

#define MIN_MEMORY_BYTES ((uint64_t)8 << 20)
#define BATCH_WORDS 16384u /* of records that are inserted together */
#define STORE_FRACTION 0.3 /* of the work of the finish: the records are in the store */
#define GROUP_FRACTION 0.9 /* and the groups are known */

struct sstore_keeper {
    sstore_keeper_options options; /* taken */
    uint32_t words;
    ss_dir tmp_dir;
    char *path;                   /* of the folder of the temporary store */
    uint64_t sort_bytes;          /* for each of the sorted items */
    uint64_t next_number;         /* of the next record */
    bool has_records, is_ordered; /* the records have priorities */
    ss_sorted_items *by_priority; /* items (priority, number, fingerprint) */
    ss_sorted_items *dropped;     /* items (dropped, kept, distance): numbers or places */
    sstore_builder *builder;      /* of groups that are clusters */
    ss_confirmed_groups groups;   /* of confirmed pairs */
    sstore_dedup *dedup;          /* of strict groups */
    size_t batch_count;           /* of records that wait to be inserted, with their numbers */
    uint64_t *batch, *batch_ids;
    ss_progress progress;      /* of sorting */
    double begin, end;         /* the part of a step in the work of the finish */
    sstore_status status;      /* of an earlier call */
    sstore_status drop_status; /* of an insertion's callback, and its error */
    sstore_error *drop_error;
};

/* Items (number, kept number, distance), to be read. */
typedef struct dropped_iterator {
    sstore_iterator base;
    sstore_keeper *keeper; /* has the items */
    ss_item_reader reader;
} dropped_iterator;

/* ----- the temporary store ----- */

/* A step reports its progress, from 0 to 1, as its part of the whole. */
static int report_part(void *context, const sstore_progress *progress)
{
    const sstore_keeper *self = context;
    sstore_progress whole = *progress;
    whole.fraction = self->begin + (self->end - self->begin) * progress->fraction;
    return self->options.on_progress(self->options.progress_context, &whole);
}

static sstore_progress_fn progress_of(const sstore_keeper *self)
{
    return self->options.on_progress != NULL ? report_part : NULL;
}

/* Are groups made of confirmed pairs? Strict ones are not. */
static bool has_confirmed_groups(const sstore_keeper *self)
{
    return self->options.confirm != NULL && !self->options.strict;
}

static sstore_write_options write_options(sstore_keeper *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.distance = self->options.distance;
    options.fingerprint_bits = self->options.fingerprint_bits;
    options.threads = self->options.threads;
    options.memory_bytes = ss_max_u64(self->options.memory_bytes -
                                          (has_confirmed_groups(self) ? 3 : 2) * self->sort_bytes,
                                      MIN_MEMORY_BYTES);
    options.tmp_dir = self->tmp_dir.path;
    options.on_progress = progress_of(self);
    options.progress_context = self;
    return options;
}

/* Strict groups begin with a store without records. */
static sstore_status open_dedup(sstore_keeper *self, sstore_error *error)
{
    sstore_write_options options = write_options(self);
    sstore_status status = sstore_builder_finish(self->builder, NULL, error);
    self->builder = NULL;
    options.fingerprint_bits = 0;
    options.on_progress = NULL;
    options.limit = 1;
    if (status == SSTORE_OK)
        status = sstore_dedup_open(self->path, &options, &self->dedup, error);
    if (status == SSTORE_OK && self->options.confirm != NULL)
        ss_dedup_confirm(self->dedup, self->options.confirm, self->options.confirm_context);
    return status;
}

static sstore_status open_store(sstore_keeper *self, sstore_error *error)
{
    const sstore_write_options options = write_options(self);
    sstore_status status = ss_dir_make_unique(&self->tmp_dir, "sstore-keep-", &self->path, error);
    if (status == SSTORE_OK)
        status = sstore_builder_create(self->path, &options, &self->builder, error);
    return status == SSTORE_OK && self->options.strict ? open_dedup(self, error) : status;
}

static void close_store(sstore_keeper *self)
{
    sstore_builder_abort(self->builder);
    sstore_dedup_close(self->dedup);
    self->builder = NULL;
    self->dedup = NULL;
    if (self->path != NULL)
        ss_store_remove(self->path);
    ss_free(self->path);
    self->path = NULL;
}

/* ----- creating ----- */

static sstore_status set_up(sstore_keeper *self, sstore_error *error)
{
    sstore_keeper_options *options = &self->options;
    sstore_status status = ss_take_fingerprint_bits(&options->fingerprint_bits, error);
    self->words = options->fingerprint_bits / SS_WORD_BITS;
    options->distance = ss_distance_or_default(options->distance);
    options->memory_bytes = ss_memory_or_default(options->memory_bytes);
    if (status == SSTORE_OK)
        status = ss_check_distance(self->words, options->distance, error);
    if (status == SSTORE_OK)
        status = ss_check_memory(options->memory_bytes, MIN_MEMORY_BYTES, error);
    if (status == SSTORE_OK && (options->confirm == NULL) != (options->digest == NULL))
        status = ss_fail_argument(error, "sstore_keeper_create: `confirm` and `digest` are given both or not at all");
    if (status == SSTORE_OK)
        status = ss_spill_dir_open(options->tmp_dir, NULL, &self->tmp_dir, error);
    options->tmp_dir = NULL;
    self->sort_bytes = options->memory_bytes / 8;
    self->batch = ss_alloc(BATCH_WORDS, sizeof *self->batch);
    self->batch_ids = ss_alloc(BATCH_WORDS / self->words, sizeof *self->batch_ids);
    if (status == SSTORE_OK && (self->batch == NULL || self->batch_ids == NULL))
        status = ss_fail_memory(error, BATCH_WORDS * sizeof *self->batch);
    if (status == SSTORE_OK)
        status = ss_sorted_items_create(3, self->sort_bytes, &self->tmp_dir, &self->dropped, error);
    if (status == SSTORE_OK && has_confirmed_groups(self))
        status = ss_confirmed_groups_open(&self->groups, options, self->sort_bytes, &self->tmp_dir, error);
    return status == SSTORE_OK ? open_store(self, error) : status;
}

sstore_status sstore_keeper_create(const sstore_keeper_options *options, sstore_keeper **keeper_out,
                                   sstore_error *error)
{
    sstore_keeper_options taken = SSTORE_KEEPER_OPTIONS_INIT;
    if (keeper_out == NULL)
        return ss_fail_argument(error, "sstore_keeper_create: keeper_out must not be NULL");
    *keeper_out = NULL;
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_KEEPER_OPTIONS_SIZE_1, error);
    sstore_keeper *self = status == SSTORE_OK ? ss_alloc(1, sizeof *self) : NULL;
    if (self == NULL)
        return status != SSTORE_OK ? status : ss_fail_memory(error, sizeof *self);
    self->options = taken;
    self->tmp_dir = SS_DIR_NONE;
    status = set_up(self, error);
    if (status == SSTORE_OK)
        *keeper_out = self;
    else
        sstore_keeper_free(self);
    return status;
}

void sstore_keeper_free(sstore_keeper *keeper)
{
    if (keeper == NULL)
        return;
    close_store(keeper);
    ss_sorted_items_free(keeper->by_priority);
    ss_sorted_items_free(keeper->dropped);
    ss_confirmed_groups_free(&keeper->groups);
    ss_dir_close(&keeper->tmp_dir);
    ss_free(keeper->batch);
    ss_free(keeper->batch_ids);
    ss_free(keeper);
}

/* ----- records, in the order of their priority ----- */

static sstore_status drop(ss_sorted_items *items, uint64_t number, uint64_t kept, uint32_t distance,
                          sstore_error *error)
{
    const uint64_t item[] = {number, kept, distance};
    return ss_sorted_items_add(items, item, error);
}

/* The ids of the temporary store are numbers. With a limit of groups, these are found first. */
static int take_answer(void *context, const sstore_dedup_answer *answer)
{
    sstore_keeper *self = context;
    const bool by_kept = self->options.max_group > 0;
    if (answer->is_new)
        return 0;
    const uint64_t kept = answer->listed->id;
    self->drop_status = drop(self->dropped, by_kept ? kept : answer->id, by_kept ? answer->id : kept,
                             answer->listed->distance, self->drop_error);
    return self->drop_status != SSTORE_OK;
}

static sstore_status flush_batch(sstore_keeper *self, sstore_error *error)
{
    const size_t count = self->batch_count;
    self->batch_count = 0;
    if (self->dedup == NULL)
        return sstore_builder_add(self->builder, self->batch, self->batch_ids, count, error);
    self->drop_status = SSTORE_OK;
    self->drop_error = error;
    const sstore_status status = sstore_dedup_insert(self->dedup, self->batch, self->batch_ids, count, NULL,
                                                     take_answer, self, error);
    return self->drop_status != SSTORE_OK ? self->drop_status : status;
}

/* Take the next record in the order of priority. */
static sstore_status take_record(sstore_keeper *self, const uint64_t *fingerprint, uint64_t id, sstore_error *error)
{
    if (has_confirmed_groups(self))
        return ss_confirmed_groups_add(&self->groups, fingerprint, id, error);
    ss_words_set(self->batch, self->batch_count, fingerprint, self->words);
    self->batch_ids[self->batch_count++] = id;
    return self->batch_count == BATCH_WORDS / self->words ? flush_batch(self, error) : SSTORE_OK;
}

static sstore_status add_record(sstore_keeper *self, const uint64_t *fingerprint, const uint64_t *priority,
                                sstore_error *error)
{
    uint64_t item[2 + SSTORE_MAX_WORDS];
    const uint64_t number = self->next_number++;
    if (priority == NULL)
        return take_record(self, fingerprint, number, error);
    item[0] = *priority;
    item[1] = number;
    ss_words_copy(item + 2, fingerprint, self->words);
    return ss_sorted_items_add(self->by_priority, item, error);
}

/* Fail if the keeper cannot take `count` more records. */
static sstore_status check_usable(const sstore_keeper *self, const char *call, uint64_t count, sstore_error *error)
{
    if (self == NULL || self->status != SSTORE_OK)
        return ss_fail_argument(error, "%s: the keeper is NULL, or an earlier call failed", call);
    return count <= UINT64_MAX - self->next_number
               ? SSTORE_OK
               : ss_fail_argument(error, "%s: there are no numbers left for %" PRIu64 " records", call, count);
}

sstore_status sstore_keeper_skip(sstore_keeper *keeper, uint64_t count, sstore_error *error)
{
    const sstore_status status = check_usable(keeper, "sstore_keeper_skip", count, error);
    if (status == SSTORE_OK)
        keeper->next_number += count;
    return status;
}

sstore_status sstore_keeper_add(sstore_keeper *keeper, const uint64_t *fingerprints, const uint64_t *priorities,
                                size_t count, sstore_error *error)
{
    sstore_status status = check_usable(keeper, "sstore_keeper_add", count, error);
    if (status != SSTORE_OK || count == 0)
        return status;
    if (fingerprints == NULL)
        return ss_fail_argument(error, "sstore_keeper_add: fingerprints must not be NULL");
    if (keeper->has_records && keeper->is_ordered != (priorities != NULL))
        return ss_fail_argument(error, "sstore_keeper_add: either all records have priorities or none has");
    if (!keeper->has_records && priorities != NULL)
        status = ss_sorted_items_create(2 + keeper->words, keeper->sort_bytes, &keeper->tmp_dir, &keeper->by_priority,
                                        error);
    keeper->has_records = true;
    keeper->is_ordered = priorities != NULL;
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = add_record(keeper, fingerprints + i * keeper->words, priorities != NULL ? priorities + i : NULL,
                            error);
    keeper->status = status;
    return status;
}

/* The records were sorted. Clusters keep the smallest id, so ids are places; of other groups they are numbers. */
static sstore_status take_ordered(sstore_keeper *self, sstore_error *error)
{
    ss_item_reader reader = {.from = NULL};
    const uint64_t *item;
    uint64_t place = 0;
    const bool has_numbers = self->dedup != NULL || has_confirmed_groups(self);
    sstore_status status = ss_sorted_items_finish(self->by_priority, &self->progress, error);
    if (status == SSTORE_OK)
        status = ss_item_reader_open(&reader, self->by_priority, error);
    if (status == SSTORE_OK)
        status = ss_item_reader_next(&reader, &item, error);
    while (status == SSTORE_OK && item != NULL) {
        status = take_record(self, item + 2, has_numbers ? item[1] : place, error);
        if (status == SSTORE_OK && ++place % 1024 == 0)
            status = ss_progress_add(&self->progress, 0, 0);
        if (status == SSTORE_OK)
            status = ss_item_reader_next(&reader, &item, error);
    }
    ss_item_reader_close(&reader);
    return status;
}

/* ----- groups ----- */

static int report_large(const sstore_keeper *self, uint64_t kept, uint64_t count)
{
    const sstore_keeper_options *options = &self->options;
    return options->on_large_group == NULL ? 0 : options->on_large_group(options->large_group_context, kept, count);
}

static bool is_too_large(const sstore_keeper *self, uint64_t count)
{
    return self->options.max_group > 0 && count > self->options.max_group;
}

#define MEMBER_BATCH 1024u

typedef struct member_batch {
    uint64_t ids[MEMBER_BATCH], sizes[MEMBER_BATCH];
    uint32_t distances[MEMBER_BATCH];
    bool are_kept[MEMBER_BATCH];
} member_batch;

/* Drop the members of clusters, whose representatives come first. Large groups are remembered, as dropped by no
 * distance, since their kept record is still a place. */
static sstore_status drop_members(sstore_keeper *self, const member_batch *batch, size_t count, uint64_t *kept,
                                  sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        const bool is_large = is_too_large(self, batch->sizes[i]);
        if (batch->are_kept[i])
            *kept = batch->ids[i];
        if (batch->are_kept[i] && is_large)
            status = drop(self->dropped, batch->ids[i], batch->sizes[i], UINT32_MAX, error);
        else if (!batch->are_kept[i] && !is_large)
            status = drop(self->dropped, batch->ids[i], *kept, batch->distances[i], error);
    }
    return status;
}

static sstore_status read_clusters(sstore_keeper *self, sstore_iterator *clusters, sstore_error *error)
{
    member_batch *batch = ss_alloc(1, sizeof *batch);
    uint64_t kept = 0;
    size_t count = 1;
    if (batch == NULL)
        return ss_fail_memory(error, sizeof *batch);
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .id = batch->ids,
                                    .cluster_size = batch->sizes,
                                    .distance = batch->distances,
                                    .is_representative = batch->are_kept};
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && count > 0) {
        status = sstore_iterator_next(clusters, &columns, MEMBER_BATCH, &count, error);
        if (status == SSTORE_OK)
            status = drop_members(self, batch, count, &kept, error);
    }
    ss_free(batch);
    return status;
}

/* Finish the temporary store, and open it. */
static sstore_status open_built(sstore_keeper *self, sstore **store_out, sstore_error *error)
{
    self->end = STORE_FRACTION;
    const sstore_status status = sstore_builder_finish(self->builder, NULL, error);
    self->builder = NULL;
    self->begin = STORE_FRACTION;
    self->end = GROUP_FRACTION;
    return status == SSTORE_OK ? sstore_open(self->path, NULL, store_out, error) : status;
}

/* The store is no longer needed once its clusters are found. */
static sstore_status find_clusters(sstore_keeper *self, sstore_error *error)
{
    const sstore_write_options write = write_options(self);
    const sstore_cluster_options options = {.struct_size = sizeof options,
                                            .distance = self->options.distance,
                                            .threads = self->options.threads,
                                            .memory_bytes = write.memory_bytes,
                                            .tmp_dir = self->tmp_dir.path,
                                            .on_progress = progress_of(self),
                                            .progress_context = self};
    sstore *store = NULL;
    sstore_iterator *clusters = NULL;
    sstore_status status = open_built(self, &store, error);
    if (status == SSTORE_OK)
        status = sstore_iterate_clusters(store, &options, &clusters, error);
    if (status == SSTORE_OK)
        status = read_clusters(self, clusters, error);
    sstore_iterator_free(clusters);
    sstore_close(store);
    return status;
}

/* ----- groups of confirmed pairs ----- */

/* Drop all records of groups but the first ones. `sizes` has the size of each group at its first place. */
static sstore_status drop_places(sstore_keeper *self, const uint32_t *sizes, sstore_error *error)
{
    ss_confirmed_groups *groups = &self->groups;
    sstore_status status = SSTORE_OK;
    for (uint32_t place = 0; status == SSTORE_OK && place < groups->count; place++) {
        const uint32_t first = ss_confirmed_groups_first(groups, place);
        const uint64_t number = groups->numbers[place], kept = groups->numbers[first];
        const bool is_large = is_too_large(self, sizes[first]);
        uint32_t distance;
        if (place == first && is_large && report_large(self, number, sizes[first]) != 0)
            return SSTORE_STOPPED;
        if (place == first || is_large)
            continue;
        (void)self->options.confirm(self->options.confirm_context, kept, number, &distance);
        if (place % 1024 == 0)
            status = ss_progress_add(&self->progress, 0, 0);
        if (status == SSTORE_OK)
            status = drop(self->dropped, number, kept, distance, error);
    }
    return status;
}

static sstore_status drop_groups(sstore_keeper *self, sstore_error *error)
{
    ss_confirmed_groups *groups = &self->groups;
    uint32_t *sizes = ss_alloc(groups->count, sizeof *sizes);
    if (sizes == NULL)
        return ss_fail_memory(error, groups->count * sizeof *sizes);
    for (uint32_t place = 0; place < groups->count; place++)
        sizes[ss_confirmed_groups_first(groups, place)]++;
    const sstore_status status = drop_places(self, sizes, error);
    ss_free(sizes);
    return status;
}

static sstore_status find_confirmed(sstore_keeper *self, sstore_error *error)
{
    const sstore_write_options write = write_options(self);
    const sstore_join_options options = {.struct_size = sizeof options,
                                         .distance = self->options.distance,
                                         .threads = self->options.threads,
                                         .memory_bytes = write.memory_bytes,
                                         .tmp_dir = self->tmp_dir.path,
                                         .on_progress = progress_of(self),
                                         .progress_context = self};
    sstore *store = NULL;
    sstore_status status = ss_confirmed_groups_add_distinct(&self->groups, &self->progress, self->builder, error);
    if (status == SSTORE_OK)
        status = open_built(self, &store, error);
    if (status == SSTORE_OK)
        status = ss_confirmed_groups_connect(&self->groups, store, &options, error);
    sstore_close(store);
    return status == SSTORE_OK ? drop_groups(self, error) : status;
}

/* ----- from items in one order to items in another ----- */

/* Takes an item of three words, and adds to the items of the next order. */
typedef sstore_status (*turn_fn)(sstore_keeper *self, const uint64_t *item, ss_sorted_items *next, void *context,
                                 sstore_error *error);

/* Put each item that was dropped through `turn`, in ascending order, and sort what it adds instead. */
static sstore_status turn_dropped(sstore_keeper *self, turn_fn turn, void *context, sstore_error *error)
{
    ss_sorted_items *next = NULL;
    ss_item_reader reader = {.from = NULL};
    const uint64_t *item = NULL;
    sstore_status status = ss_sorted_items_finish(self->dropped, &self->progress, error);
    if (status == SSTORE_OK)
        status = ss_sorted_items_create(3, self->sort_bytes, &self->tmp_dir, &next, error);
    if (status == SSTORE_OK)
        status = ss_item_reader_open(&reader, self->dropped, error);
    if (status == SSTORE_OK)
        status = ss_item_reader_next(&reader, &item, error);
    while (status == SSTORE_OK && item != NULL) {
        status = turn(self, item, next, context, error);
        if (status == SSTORE_OK)
            status = ss_item_reader_next(&reader, &item, error);
    }
    ss_item_reader_close(&reader);
    ss_sorted_items_free(self->dropped);
    self->dropped = next;
    return status;
}

/* Of items (kept, dropped, distance): where the next group ends. */
typedef struct group_reader {
    ss_item_reader ahead;
    const uint64_t *next;
    uint64_t kept, size;
    bool has_group;
} group_reader;

static sstore_status read_group(group_reader *groups, uint64_t kept, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    groups->kept = kept;
    groups->has_group = true;
    groups->size = 1; /* the kept record */
    while (status == SSTORE_OK && groups->next != NULL && groups->next[0] == kept) {
        groups->size++;
        status = ss_item_reader_next(&groups->ahead, &groups->next, error);
    }
    return status;
}

/* Turn an item of a strict group that is not too large. */
static sstore_status turn_group(sstore_keeper *self, const uint64_t *item, ss_sorted_items *next, void *context,
                                sstore_error *error)
{
    group_reader *groups = context;
    sstore_status status = SSTORE_OK;
    if (groups->ahead.from == NULL) {
        status = ss_item_reader_open(&groups->ahead, self->dropped, error);
        if (status == SSTORE_OK)
            status = ss_item_reader_next(&groups->ahead, &groups->next, error);
    }
    if (status == SSTORE_OK && (!groups->has_group || item[0] != groups->kept)) {
        status = read_group(groups, item[0], error);
        if (status == SSTORE_OK && is_too_large(self, groups->size) &&
            report_large(self, groups->kept, groups->size) != 0)
            status = SSTORE_STOPPED;
    }
    return status != SSTORE_OK || is_too_large(self, groups->size)
               ? status
               : drop(next, item[1], item[0], (uint32_t)item[2], error);
}

static sstore_status limit_groups(sstore_keeper *self, sstore_error *error)
{
    group_reader groups = {.next = NULL};
    const sstore_status status = turn_dropped(self, turn_group, &groups, error);
    ss_item_reader_close(&groups.ahead);
    return status;
}

/* The sorted records, whose places are counted. */
typedef struct place_reader {
    ss_item_reader records;
    const uint64_t *record;
    uint64_t next_place;
} place_reader;

/* The number of the record at a place, which is not before the last one. */
static sstore_status find_number(place_reader *places, uint64_t place, uint64_t *number_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && places->next_place <= place) {
        status = ss_item_reader_next(&places->records, &places->record, error);
        places->next_place++;
    }
    *number_out = status == SSTORE_OK && places->record != NULL ? places->record[1] : 0;
    return status;
}

/* Give an item (place, other, distance) the number of its place, behind the other. A large group is reported. */
static sstore_status turn_place(sstore_keeper *self, const uint64_t *item, ss_sorted_items *next, void *context,
                                sstore_error *error)
{
    uint64_t number;
    const sstore_status status = find_number(context, item[0], &number, error);
    if (status != SSTORE_OK)
        return status;
    if (item[2] == UINT32_MAX)
        return report_large(self, number, item[1]) != 0 ? SSTORE_STOPPED : SSTORE_OK;
    return drop(next, item[1], number, (uint32_t)item[2], error);
}

/* From (dropped place, kept place) to (kept place, dropped number), to (dropped number, kept number). */
static sstore_status number_places(sstore_keeper *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (int pass = 0; status == SSTORE_OK && pass < 2; pass++) {
        place_reader places = {.record = NULL};
        status = ss_item_reader_open(&places.records, self->by_priority, error);
        if (status == SSTORE_OK)
            status = turn_dropped(self, turn_place, &places, error);
        ss_item_reader_close(&places.records);
    }
    return status;
}

/* Without priorities, places are numbers: only report the large groups. */
static sstore_status turn_large(sstore_keeper *self, const uint64_t *item, ss_sorted_items *next, void *context,
                                sstore_error *error)
{
    (void)context;
    if (item[2] == UINT32_MAX)
        return report_large(self, item[0], item[1]) != 0 ? SSTORE_STOPPED : SSTORE_OK;
    return ss_sorted_items_add(next, item, error);
}

/* ----- the result ----- */

static sstore_status find_dropped(sstore_keeper *self, sstore_error *error)
{
    self->progress.report = progress_of(self);
    self->progress.context = self;
    ss_progress_begin(&self->progress, "grouping", 0, 0, 1);
    sstore_status status = self->is_ordered ? take_ordered(self, error) : SSTORE_OK;
    if (status == SSTORE_OK)
        status = flush_batch(self, error);
    if (status == SSTORE_OK && !self->options.strict)
        status = has_confirmed_groups(self) ? find_confirmed(self, error) : find_clusters(self, error);
    close_store(self);
    self->begin = GROUP_FRACTION;
    self->end = 1;
    const bool is_confirmed = has_confirmed_groups(self), has_limit = self->options.max_group > 0 && !is_confirmed;
    const bool is_placed = self->is_ordered && !self->options.strict && !is_confirmed;
    if (status == SSTORE_OK && is_placed)
        status = number_places(self, error);
    else if (status == SSTORE_OK && has_limit)
        status = self->options.strict ? limit_groups(self, error) : turn_dropped(self, turn_large, NULL, error);
    return status == SSTORE_OK ? ss_sorted_items_finish(self->dropped, &self->progress, error) : status;
}

static sstore_status fill_dropped(sstore_iterator *iterator, const sstore_columns *columns, size_t capacity,
                                  size_t *count, sstore_error *error)
{
    dropped_iterator *self = (dropped_iterator *)iterator;
    const uint64_t *item;
    while (*count < capacity) {
        const sstore_status status = ss_item_reader_next(&self->reader, &item, error);
        if (status != SSTORE_OK || item == NULL)
            return status;
        ss_set_word(columns->id, *count, item[0]);
        ss_set_word(columns->other_id, *count, item[1]);
        ss_set_distance(columns->distance, *count, (uint32_t)item[2]);
        ++*count;
    }
    return SSTORE_OK;
}

static void free_dropped(sstore_iterator *iterator)
{
    dropped_iterator *self = (dropped_iterator *)iterator;
    ss_item_reader_close(&self->reader);
    sstore_keeper_free(self->keeper);
    ss_free(self);
}

static sstore_status open_dropped(sstore_keeper *keeper, sstore_iterator **iterator_out, sstore_error *error)
{
    static const ss_iterator_methods methods = {SS_DROPPED_COLUMNS, fill_dropped, free_dropped};
    dropped_iterator *self = ss_alloc(1, sizeof *self);
    if (self == NULL) {
        sstore_keeper_free(keeper);
        return ss_fail_memory(error, sizeof *self);
    }
    self->base.methods = &methods;
    self->keeper = keeper;
    return ss_iterator_give(&self->base, ss_item_reader_open(&self->reader, keeper->dropped, error), iterator_out);
}

sstore_status sstore_keeper_finish(sstore_keeper *keeper, sstore_iterator **iterator_out, sstore_error *error)
{
    if (iterator_out != NULL)
        *iterator_out = NULL;
    sstore_status status = check_usable(keeper, "sstore_keeper_finish", 0, error);
    if (status == SSTORE_OK && iterator_out == NULL)
        status = ss_fail_argument(error, "sstore_keeper_finish: iterator_out must not be NULL");
    if (status == SSTORE_OK)
        status = find_dropped(keeper, error);
    if (status == SSTORE_OK)
        return open_dropped(keeper, iterator_out, error);
    sstore_keeper_free(keeper);
    return status;
}
