/*
 * test_changes.c - records of 1 to 16 words are added, inserted if new, replaced and removed in random steps, beside a
 * set of the records that the store must have: data of all kinds, skewed and constant words. After each step every way
 * of reading must give this set, and a thread that reads meanwhile must find what was published. An older handle must
 * still show its records, lost directories are rebuilt, shards are merged, and compacting must give the same bytes as a
 * build of the records.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sstore_statistics.h"
#include "support/iterate.h"
#include "support/lost_directory.h"
#include "support/name_of_id.h"
#include "support/reader_beside.h"
#include "support/scratch.h"
#include "support/testing.h"
#include "support/use_store.h"

#define CASES 80u
#define SLOW_CASES 16u
#define MAX_STEPS 16u
#define MAX_WIDE_STEPS 8u
#define MAX_CRAWLED_STEPS 30u
#define MAX_RECORDS 4000u
#define MAX_WIDE_RECORDS 1500u
#define QUERIES 12u
#define SAMPLE 17u

/* Where ids come from. */
typedef enum id_source { IDS_GIVEN, IDS_ASSIGNED, IDS_MIXED, IDS_NONE, ID_SOURCE_COUNT } id_source;

/* A store under test, and what it must hold. */
typedef struct living {
    rng random;
    char path[256];
    fingerprint_form maker;
    record_set pool;  /* records that are added and removed repeatedly */
    record_set truth; /* sorted, each once */
    uint64_t next_id;
    const char *plan; /* of the build; NULL: chosen */
    uint32_t block_bytes;
    id_source ids;
    bool id_index;
    bool has_names;
    id_name_kind names;
    bool crawls; /* small steps in a large store, compacted only by tiers */
    sstore *old; /* a handle on an earlier state, or NULL */
    record_set old_truth;
    store_states states; /* that the current step may publish */
    char text[500];
} living;

/* ----- the set ----- */

/* A removal: of records, or of all with a fingerprint or an id. */
typedef enum naming { BY_RECORD, BY_FINGERPRINT, BY_ID } naming;

static bool is_named(const record_set *records, size_t at, naming how, const record_set *names)
{
    const size_t size = names->words * sizeof *names->fingerprints;
    for (size_t i = 0; i < names->count; i++)
        if ((how == BY_FINGERPRINT || names->ids[i] == records->ids[at]) &&
            (how == BY_ID || memcmp(record_set_at(names, i), record_set_at(records, at), size) == 0))
            return true;
    return false;
}

static void remove_named(record_set *truth, naming how, const record_set *names)
{
    record_set kept = record_set_new(truth->words);
    for (size_t i = 0; i < truth->count; i++)
        if (!is_named(truth, i, how, names))
            record_set_append(&kept, truth, i, i + 1);
    record_set_free(truth);
    *truth = kept;
}

/* ----- steps ----- */

static size_t choose_count(living *self)
{
    static const size_t few[] = {0, 1, 2, 5, 40, 300};
    if (self->crawls)
        return rng_below(&self->random, rng_one_in(&self->random, 3) ? 3 : self->pool.count / 16 + 2);
    return rng_one_in(&self->random, 3) ? rng_below(&self->random, self->pool.count)
                                        : few[rng_below(&self->random, sizeof few / sizeof *few)];
}

static sstore_write_options make_options(living *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    options.memory_bytes = (uint64_t)1 << rng_between(&self->random, 20, 26);
    options.threads = (uint32_t)rng_between(&self->random, 0, 3);
    return options;
}

/* Whether a change becomes a segment of its own. Where there are many, compactions by tiers merge the newest ones. */
static bool stays_apart(living *self)
{
    return !rng_one_in(&self->random, self->crawls ? 6 : 2);
}

/* The reported change of the store is right. */
static void check_change(const living *self, const sstore_change *change)
{
    sstore_statistics statistics = SSTORE_STATISTICS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    sstore *store = store_must_open(self->path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &statistics, &error), &error);
    assert_int_equal(change->record_count, self->truth.count);
    assert_int_equal(statistics.record_count, self->truth.count);
    assert_int_equal(change->total_bytes, statistics.total_bytes);
    assert_int_equal(change->segment_count, statistics.segment_count);
    sstore_close(store);
}

/* Choose records of the pool, or new ones near them, with the ids that they will have, without regard to names. */
static record_set choose_records(living *self, size_t count, bool assigned)
{
    record_set chosen = record_set_new(self->maker.words);
    for (size_t i = 0; i < count; i++) {
        const size_t at = rng_below(&self->random, self->pool.count);
        record_set_put(&chosen, record_set_at(&self->pool, at), assigned ? self->next_id + i : self->pool.ids[at]);
        if (rng_one_in(&self->random, 8))
            fingerprint_flip(&self->random, self->maker.words, chosen.fingerprints + i * chosen.words, 3);
    }
    return chosen;
}

/* Add records begin .. end - 1 to the builder. */
static void give_some(living *self, sstore_builder *builder, const record_set *records, size_t begin, size_t end,
                      bool assigned)
{
    sstore_error error = {.status = SSTORE_OK};
    const uint64_t *fingerprints = record_set_at(records, begin);
    const uint64_t *ids = self->ids != IDS_NONE && !assigned ? records->ids + begin : NULL;
    if (!self->has_names) {
        assert_ok(sstore_builder_add(builder, fingerprints, ids, end - begin, &error), &error);
        return;
    }
    sstore_name *names = id_names(self->names, run_seed, records->ids + begin, end - begin);
    assert_ok(sstore_builder_add_named(builder, fingerprints, ids, names, end - begin, &error), &error);
    free(names);
}

/* Add records to the builder, in two calls, and to the truth. */
static void give_records(living *self, sstore_builder *builder, const record_set *records, bool assigned)
{
    const size_t part = records->count / 3;
    assert_int_equal(sstore_builder_fingerprint_bits(builder), 64 * self->maker.words);
    give_some(self, builder, records, 0, part, assigned);
    give_some(self, builder, records, part, records->count, assigned);
}

/* Ids with their names. */
typedef struct id_list {
    size_t count;
    uint64_t *ids;
    sstore_name *names;
    sstore_name **memory; /* of each name, if they were added one by one */
} id_list;

/* The smallest id that has this name, or UINT64_MAX. */
static uint64_t smallest_id(const id_list *list, const sstore_name *name)
{
    uint64_t min = UINT64_MAX;
    for (size_t i = 0; i < list->count; i++)
        if (list->ids[i] < min && list->names[i].size == name->size &&
            memcmp(list->names[i].bytes, name->bytes, name->size) == 0)
            min = list->ids[i];
    return min;
}

/* Give a record the id of its name, which is that of id `wanted`: of the store, of a record before it, or the next
 * number, which counts records whose names the store does not have. */
static uint64_t id_by_name(const living *self, uint64_t wanted, const id_list *stored, id_list *given,
                           uint64_t *next_id)
{
    static char buffer[ID_NAME_CAPACITY];
    const sstore_name name = id_name(self->names, run_seed, wanted, buffer);
    uint64_t id = smallest_id(stored, &name);
    if (id < UINT64_MAX)
        return id;
    const uint64_t number = (*next_id)++;
    id = smallest_id(given, &name);
    if (id < UINT64_MAX)
        return id;
    assert_int_equal(wanted, number); /* or its name would not be that of its id */
    given->ids[given->count] = number;
    given->memory[given->count] = id_names(self->names, run_seed, &number, 1);
    given->names[given->count] = *given->memory[given->count];
    given->count++;
    return number;
}

/* Choose the names of records without ids, and set the ids that the store will give them. An id below next_id stands
 * for its name, any other one for a new name, or for that of a record before. Returns the next number. */
static uint64_t assign_by_name(living *self, record_set *records)
{
    const id_list stored = {.count = self->truth.count,
                            .ids = self->truth.ids,
                            .names = id_names(self->names, run_seed, self->truth.ids, self->truth.count)};
    id_list given = {.ids = test_calloc(records->count + 1, sizeof *given.ids),
                     .names = test_calloc(records->count + 1, sizeof *given.names),
                     .memory = test_calloc(records->count + 1, sizeof *given.memory)};
    uint64_t next_id = self->next_id;
    for (size_t i = 0; i < records->count; i++) {
        const bool repeats = given.count > 0 && rng_one_in(&self->random, 4);
        const uint64_t new_id = repeats ? given.ids[rng_below(&self->random, given.count)] : next_id;
        records->ids[i] = id_by_name(self, records->ids[i] < self->next_id ? records->ids[i] : new_id, &stored, &given,
                                     &next_id);
    }
    for (size_t i = 0; i < given.count; i++)
        free(given.memory[i]);
    test_free(given.memory);
    test_free(given.ids);
    test_free(given.names);
    free(stored.names);
    return next_id;
}

/* Choose names for records of assigned ids: some are known. Returns the next number; 0: it follows from the ids. */
static uint64_t name_records(living *self, record_set *records, bool assigned)
{
    if (!self->has_names || !assigned)
        return 0;
    for (size_t i = 0; i < records->count && self->truth.count > 0; i++)
        if (rng_one_in(&self->random, 3))
            records->ids[i] = self->truth.ids[rng_below(&self->random, self->truth.count)];
    return assign_by_name(self, records);
}

static void take_records(living *self, const record_set *records, uint64_t next_id)
{
    record_set_append(&self->truth, records, 0, records->count);
    for (size_t i = 0; i < records->count; i++)
        if (records->ids[i] >= self->next_id && records->ids[i] < UINT64_MAX)
            self->next_id = records->ids[i] + 1;
    self->next_id = next_id > self->next_id ? next_id : self->next_id;
    record_set_sort(&self->truth);
    record_set_unique(&self->truth);
}

static bool ids_are_assigned(living *self)
{
    return self->ids == IDS_ASSIGNED || (self->ids == IDS_MIXED && rng_one_in(&self->random, 3));
}

static void add_some(living *self)
{
    const bool assigned = ids_are_assigned(self);
    record_set records = choose_records(self, choose_count(self), assigned);
    const uint64_t next_id = name_records(self, &records, assigned);
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = SSTORE_CHANGE_INIT;
    const sstore_write_options as_built = make_options(self);
    sstore_write_options options = options_to_add(&as_built);
    options.check_ids = rng_one_in(&self->random, 2);
    options.no_compact = stays_apart(self);
    assert_ok(sstore_builder_create_addition(self->path, &options, &builder, &error), &error);
    give_records(self, builder, &records, assigned);
    if (rng_one_in(&self->random, 10)) { /* change one's mind */
        sstore_builder_abort(builder);
    } else {
        const size_t before = self->truth.count;
        assert_ok(sstore_builder_finish(builder, &change, &error), &error);
        take_records(self, &records, next_id);
        assert_int_equal(change.added_count, self->truth.count - before);
        assert_int_equal(change.given_count, records.count);
        assert_int_equal(change.removed_count, 0);
        if (!options.check_ids)
            assert_true(change.conflict_count == 0 && !change.ids_checked);
        check_change(self, &change);
    }
    record_set_free(&records);
}

/* In two calls. */
static void give_names(const living *self, sstore_remover *remover, naming how, const record_set *names)
{
    sstore_error error = {.status = SSTORE_OK};
    const size_t ends[] = {0, names->count / 3, names->count};
    assert_int_equal(sstore_remover_fingerprint_bits(remover), 64 * self->maker.words);
    for (int part = 0; part < 2; part++) {
        const size_t begin = ends[part], count = ends[part + 1] - begin;
        const uint64_t *fingerprints = record_set_at(names, begin), *ids = names->ids + begin;
        assert_ok(sstore_remover_remove(remover, how == BY_ID ? NULL : fingerprints, how == BY_FINGERPRINT ? NULL : ids,
                                        count, &error),
                  &error);
    }
}

static void remove_some(living *self)
{
    const naming how = self->ids != IDS_NONE ? (naming)rng_below(&self->random, 3) : BY_FINGERPRINT;
    record_set names = choose_records(self, choose_count(self), false);
    sstore_remover *remover;
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = SSTORE_CHANGE_INIT;
    const sstore_write_options as_built = make_options(self);
    sstore_write_options options = options_to_remove(&as_built);
    options.no_compact = stays_apart(self);
    for (size_t i = 0; i < names.count; i++) {
        if (self->truth.count == 0 || rng_one_in(&self->random, 2))
            continue;
        const size_t at = rng_below(&self->random, self->truth.count);
        memcpy(names.fingerprints + i * names.words, record_set_at(&self->truth, at), names.words * sizeof(uint64_t));
        names.ids[i] = self->truth.ids[at];
    }
    assert_ok(sstore_remover_create(self->path, &options, &remover, &error), &error);
    give_names(self, remover, how, &names);
    if (rng_one_in(&self->random, 10)) {
        sstore_remover_abort(remover);
    } else {
        const size_t before = self->truth.count;
        assert_ok(sstore_remover_finish(remover, &change, &error), &error);
        remove_named(&self->truth, how, &names);
        assert_int_equal(change.removed_count, before - self->truth.count);
        assert_int_equal(change.given_count, names.count);
        assert_int_equal(change.added_count, 0);
        check_change(self, &change);
    }
    record_set_free(&names);
}

/* ----- records that are inserted if new ----- */

typedef struct insertion {
    living *self;
    sstore_dedup *dedup;
    record_set records; /* that are offered, one after the other */
    size_t next;        /* the one that is answered next */
    uint32_t distance;
    bool assigned;
    uint64_t name_id; /* the id of its name, if ids are assigned */
} insertion;

static size_t count_near(const record_set *truth, const uint64_t *fingerprint, uint32_t distance)
{
    size_t count = 0;
    for (size_t i = 0; i < truth->count; i++)
        count += fingerprint_distance(record_set_at(truth, i), fingerprint, truth->words) <= distance;
    return count;
}

static int check_answer(void *context, const sstore_dedup_answer *answer)
{
    insertion *to = context;
    living *self = to->self;
    const uint64_t *fingerprint = record_set_at(&to->records, to->next);
    const size_t near = count_near(&self->truth, fingerprint, to->distance);
    uint64_t id = to->records.ids[to->next++];
    if (to->assigned)
        id = self->has_names ? to->name_id : self->next_id;
    assert_memory_equal(answer->fingerprint, fingerprint, self->maker.words * sizeof *fingerprint);
    assert_int_equal(answer->match_count, near);
    assert_int_equal(answer->is_new, near == 0);
    if (near > 0)
        return 0;
    assert_int_equal(answer->id, id);
    record_set_put(&self->truth, fingerprint, id);
    store_states_note_one(&self->states, fingerprint, self->maker.words, id);
    if (id >= self->next_id && id < UINT64_MAX)
        self->next_id = id + 1;
    return 0;
}

/* The smallest id of a record with the name of an id, or the next one. The names of the first records are `stored`. */
static uint64_t id_of_name(const living *self, uint64_t named, const sstore_name *stored, size_t stored_count)
{
    static char wanted_buffer[ID_NAME_CAPACITY], buffer[ID_NAME_CAPACITY];
    const sstore_name wanted = id_name(self->names, run_seed, named, wanted_buffer);
    uint64_t min = self->next_id;
    for (size_t i = 0; i < self->truth.count; i++) {
        const uint64_t id = self->truth.ids[i];
        const sstore_name name = i < stored_count ? stored[i] : id_name(self->names, run_seed, id, buffer);
        if (name.size == wanted.size && memcmp(name.bytes, wanted.bytes, name.size) == 0 &&
            (id < min || min == self->next_id))
            min = id;
    }
    return min;
}

/* Offer records to `end`. */
static void offer(insertion *to, size_t end)
{
    const living *self = to->self;
    const size_t begin = to->next, count = end - begin;
    const uint64_t *fingerprints = record_set_at(&to->records, begin), *all_ids = to->records.ids + begin;
    const uint64_t *ids = self->ids != IDS_NONE && !to->assigned ? all_ids : NULL;
    sstore_error error = {.status = SSTORE_OK};
    if (!self->has_names) {
        assert_ok(sstore_dedup_insert(to->dedup, fingerprints, ids, count, NULL, check_answer, to, &error), &error);
    } else {
        sstore_name *names = id_names(self->names, run_seed, all_ids, count);
        assert_ok(sstore_dedup_insert_named(to->dedup, fingerprints, ids, names, count, NULL, check_answer, to, &error),
                  &error);
        free(names);
    }
    assert_int_equal(to->next, end);
}

/* Offer records with names, which the store gives ids: half of them are names of records, the others are new. */
static void offer_by_name(insertion *to)
{
    living *self = to->self;
    const size_t stored_count = self->truth.count;
    sstore_name *stored = id_names(self->names, run_seed, self->truth.ids, stored_count);
    for (size_t i = 0; i < to->records.count; i++) {
        const bool is_known = self->truth.count > 0 && rng_one_in(&self->random, 2);
        const uint64_t named = is_known ? self->truth.ids[rng_below(&self->random, self->truth.count)] : self->next_id;
        to->records.ids[i] = named;
        to->name_id = id_of_name(self, named, stored, stored_count);
        offer(to, i + 1);
    }
    free(stored);
}

/* Returns whether what is new is published at last, and not before. */
static bool open_insertion(insertion *to)
{
    living *self = to->self;
    sstore_error error = {.status = SSTORE_OK};
    const sstore_write_options as_built = make_options(self);
    sstore_write_options options = options_to_dedup(&as_built);
    options.no_compact = stays_apart(self);
    options.check_ids = rng_one_in(&self->random, 2);
    options.publish_every = rng_one_in(&self->random, 3) ? rng_between(&self->random, 1, 40) : UINT64_MAX;
    to->distance = (uint32_t)rng_below(&self->random, self->maker.distance + 1);
    options.distance = to->distance;
    assert_ok(sstore_dedup_open(self->path, &options, &to->dedup, &error), &error);
    return options.publish_every == UINT64_MAX;
}

static void insert_some(living *self)
{
    insertion to = {.self = self, .assigned = ids_are_assigned(self)};
    const size_t before = self->truth.count, max = to.assigned && self->has_names ? 40 : 300,
                 count = choose_count(self);
    const uint64_t next_id = self->next_id;
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = SSTORE_CHANGE_INIT;
    to.records = choose_records(self, count < max ? count : max, false);
    const bool at_last = open_insertion(&to);
    if (to.assigned && self->has_names) {
        offer_by_name(&to);
    } else {
        offer(&to, to.records.count / 3);
        offer(&to, to.records.count);
    }
    if (at_last && rng_one_in(&self->random, 10)) { /* what waits is lost */
        self->truth.count = before;
        self->states.count = 1;
        self->next_id = next_id;
    } else {
        assert_ok(sstore_dedup_publish(to.dedup, &change, &error), &error);
        assert_int_equal(change.added_count, self->truth.count - before);
    }
    sstore_dedup_close(to.dedup);
    record_set_sort(&self->truth);
    if (change.added_count > 0)
        check_change(self, &change);
    record_set_free(&to.records);
}

/* ----- records that replace others ----- */

/* Whether one of `names` is the name of each id of `records`. */
static bool *names_met(const living *self, const record_set *records, const record_set *names)
{
    bool *are_met = test_calloc(records->count + 1, sizeof *are_met);
    sstore_name *all = id_names(self->names, run_seed, records->ids, records->count);
    sstore_name *given = id_names(self->names, run_seed, names->ids, names->count);
    for (size_t i = 0; i < records->count; i++)
        for (size_t j = 0; !are_met[i] && j < names->count; j++)
            are_met[i] = all[i].size == given[j].size && memcmp(all[i].bytes, given[j].bytes, all[i].size) == 0;
    free(all);
    free(given);
    return are_met;
}

/* Replace in the truth what has an id, or a name, of the records. Returns how many records were removed and are not
 * among the added ones. */
static uint64_t replace_in_truth(living *self, const record_set *records, uint64_t next_id)
{
    const size_t before = self->truth.count;
    record_set added = record_set_new(self->maker.words), common = record_set_new(self->maker.words);
    record_set_append(&added, records, 0, records->count);
    record_set_sort(&added);
    record_set_unique(&added);
    record_set_append(&common, &self->truth, 0, before);
    record_set_append(&common, &added, 0, added.count);
    record_set_sort(&common);
    record_set_unique(&common);
    const uint64_t common_count = before + added.count - common.count;
    if (self->has_names) {
        bool *are_met = names_met(self, &self->truth, records);
        record_set kept = record_set_new(self->truth.words);
        for (size_t i = 0; i < before; i++)
            if (!are_met[i])
                record_set_append(&kept, &self->truth, i, i + 1);
        record_set_free(&self->truth);
        self->truth = kept;
        test_free(are_met);
    } else {
        remove_named(&self->truth, BY_ID, records);
    }
    const uint64_t removed = before - self->truth.count - common_count;
    take_records(self, records, next_id);
    record_set_free(&added);
    record_set_free(&common);
    return removed;
}

/* Records that replace others by their ids, or names: half of the ids, and some records, are in the store. */
static record_set choose_to_replace(living *self, bool assigned)
{
    const size_t count = choose_count(self);
    record_set records = choose_records(self, self->has_names && count > 300 ? 300 : count, false);
    for (size_t i = 0; i < records.count; i++) {
        const size_t at = self->truth.count > 0 ? rng_below(&self->random, self->truth.count) : 0;
        if (self->truth.count > 0 && rng_one_in(&self->random, 2))
            records.ids[i] = self->truth.ids[at];
        else if (assigned)
            records.ids[i] = self->next_id;
        if (self->truth.count > 0 && rng_one_in(&self->random, 8))
            memcpy(records.fingerprints + i * records.words, record_set_at(&self->truth, at),
                   records.words * sizeof(uint64_t));
    }
    return records;
}

static void replace_some(living *self)
{
    const bool assigned = self->has_names && ids_are_assigned(self);
    record_set records = choose_to_replace(self, assigned);
    const uint64_t next_id = assigned ? assign_by_name(self, &records) : 0;
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = SSTORE_CHANGE_INIT;
    const sstore_write_options as_built = make_options(self);
    sstore_write_options options = options_to_add(&as_built);
    options.replace_records = true;
    options.check_ids = rng_one_in(&self->random, 4);
    options.no_compact = stays_apart(self);
    assert_ok(sstore_builder_create_addition(self->path, &options, &builder, &error), &error);
    give_records(self, builder, &records, assigned);
    if (rng_one_in(&self->random, 10)) {
        sstore_builder_abort(builder);
    } else {
        const size_t before = self->truth.count;
        assert_ok(sstore_builder_finish(builder, &change, &error), &error);
        const uint64_t removed = replace_in_truth(self, &records, next_id);
        assert_int_equal(change.removed_count, removed);
        assert_int_equal(change.added_count, self->truth.count + removed - before);
        assert_int_equal(change.given_count, records.count);
        check_change(self, &change);
    }
    record_set_free(&records);
}

static void compact(living *self, sstore_compaction scope)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_change change = SSTORE_CHANGE_INIT;
    const sstore_write_options as_built = make_options(self);
    sstore_write_options options = options_to_compact(&as_built);
    options.id_index = scope == SSTORE_COMPACTION_ALL && self->ids != IDS_NONE && rng_one_in(&self->random, 4);
    self->id_index |= options.id_index;
    assert_ok(sstore_compact(self->path, scope, &options, &change, &error), &error);
    check_change(self, &change);
}

/* Divide the store into shards, and merge these in its place. */
static void shard_and_merge(living *self)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    char parts[3][300];
    const char *paths[3];
    const uint32_t count = (uint32_t)rng_between(&self->random, 1, 3);
    options.force = true;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(parts[i], sizeof parts[i], "%s.%u", self->path, i);
        paths[i] = parts[i];
        assert_ok(store_shard(parts[i], self->path, i, count, &options, NULL, &error), &error);
    }
    options.plan = self->plan;
    options.block_bytes = self->block_bytes;
    options.id_index = self->id_index && rng_one_in(&self->random, 2); /* or since the inputs have one */
    assert_ok(sstore_merge(self->path, paths, count, &options, NULL, &error), &error);
    for (uint32_t i = 0; i < count; i++)
        scratch_remove(parts[i]);
}

/* Some directories are lost, and rebuilt. */
static void reindex(living *self)
{
    uint32_t segments = 0, made = 0, lost = 0;
    sstore_error error = {.status = SSTORE_OK};
    sstore_reindex_options options = SSTORE_REINDEX_OPTIONS_INIT;
    file_list files = file_list_make(self->path, "directory.mdb");
    for (size_t i = 0; i < files.count; i++) {
        const char *name = files.names[i];
        if (strchr(name, '/') != strrchr(name, '/')) /* of an index */
            continue;
        segments++;
        if (rng_one_in(&self->random, 2))
            continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", self->path, name);
        directory_lose(path, (directory_loss)rng_below(&self->random, LOSS_COUNT), &self->random);
        lost++;
    }
    options.all = rng_one_in(&self->random, 4);
    assert_ok(sstore_reindex(self->path, &options, &made, &error), &error);
    assert_int_equal(made, options.all ? segments : lost);
    file_list_free(&files);
}

#define REINDEX 8u /* readers meet directories that are lost */

static void run_step(living *self, uint64_t what)
{
    switch (what) {
    case 13:
    case 12: replace_some(self); break;
    case 11:
    case 10: insert_some(self); break;
    case 9: shard_and_merge(self); break;
    case REINDEX: reindex(self); break;
    case 0: compact(self, self->crawls ? SSTORE_COMPACTION_TIERS : SSTORE_COMPACTION_ALL); break;
    case 1: compact(self, SSTORE_COMPACTION_TIERS); break;
    case 2:
    case 3:
    case 4: remove_some(self); break;
    default: add_some(self); break;
    }
}

/* Returns how often a reader beside read the store. */
static uint64_t step(living *self)
{
    const uint64_t what = rng_below(&self->random, self->ids == IDS_NONE ? 12 : 14);
    reader_beside *reader = NULL;
    self->states.count = 0;
    store_states_note(&self->states, &self->truth);
    if (what != REINDEX && rng_one_in(&self->random, 3))
        reader = reader_beside_start(self->path, self->maker.words, self->ids != IDS_NONE, self->has_names, self->names,
                                     run_seed);
    run_step(self, what);
    store_states_note(&self->states, &self->truth);
    return reader != NULL ? reader_beside_stop(reader, &self->states) : 0;
}

/* ----- reading ----- */

static uint32_t choose_distance(living *self)
{
    const uint64_t bits = 64 * self->maker.words;
    switch (rng_below(&self->random, 6)) {
    case 0: return (uint32_t)rng_below(&self->random, bits + 1);
    case 1:
    case 2: return (uint32_t)rng_below(&self->random, self->maker.distance + 3);
    default: return self->maker.distance;
    }
}

/* Let a cursor find only the records of some ids. Returns those of `truth`, or all of them. */
static record_set filter_some(living *self, sstore_cursor *cursor, const record_set *truth)
{
    sstore_id_filter filter = SSTORE_ID_FILTER_INIT;
    sstore_error error = {.status = SSTORE_OK};
    record_set allowed = record_set_new(truth->words);
    const bool filters = self->ids != IDS_NONE && truth->count > 0 && rng_one_in(&self->random, 3);
    uint64_t one = 0, other = 0;
    if (filters) {
        one = truth->ids[rng_below(&self->random, truth->count)];
        other = truth->ids[rng_below(&self->random, truth->count)];
        filter.min_id = one < other ? one : other;
        filter.max_id = one < other ? other : one;
        filter.excluded_ids = rng_one_in(&self->random, 2) ? &one : NULL;
    }
    assert_ok(sstore_cursor_set_filter(cursor, filters ? &filter : NULL, &error), &error);
    for (size_t i = 0; i < truth->count; i++)
        if (truth->ids[i] >= filter.min_id && truth->ids[i] <= filter.max_id &&
            (filter.excluded_ids == NULL || truth->ids[i] != *filter.excluded_ids))
            record_set_append(&allowed, truth, i, i + 1);
    return allowed;
}

static void check_query(living *self, sstore_cursor *cursor, const record_set *all, const uint64_t *query,
                        uint32_t distance)
{
    const uint32_t words = self->maker.words;
    matches got = {.words = words}, wanted = got;
    sstore_error error = {.status = SSTORE_OK};
    record_set allowed = filter_some(self, cursor, all);
    const record_set *truth = &allowed;
    if (rng_one_in(&self->random, 4)) {
        record_set_nearest(truth, query, distance, &wanted);
        assert_ok(store_nearest(cursor, query, distance, store_collect, &got, &error), &error);
    } else {
        record_set_query(truth, query, distance, 0, &wanted);
        assert_ok(sstore_query(cursor, query, distance, store_collect, &got, &error), &error);
    }
    matches_sort(&got);
    assert_true(matches_equal(&got, &wanted));
    matches_free(&got);
    matches_free(&wanted);
    record_set_free(&allowed);
}

static void check_queries(living *self, sstore *store, const record_set *truth)
{
    sstore_cursor *cursor = store_must_cursor(store);
    const uint32_t batch_distance = choose_distance(self), words = self->maker.words;
    uint64_t queries[QUERIES * SSTORE_MAX_WORDS];
    matches wanted = {.words = words};
    for (uint32_t i = 0; i < QUERIES; i++) {
        const record_set *among = rng_one_in(&self->random, 2) ? truth : &self->pool;
        uint64_t *query = queries + i * words;
        fingerprint_make(&self->random, &self->maker, among->fingerprints, among->count, query);
        check_query(self, cursor, truth, query, choose_distance(self));
        record_set_query(truth, query, batch_distance, i, &wanted);
    }
    sstore_cursor_free(cursor);
    iterate_matches(&self->random, store, queries, QUERIES, batch_distance, (uint32_t)rng_between(&self->random, 1, 3),
                    &wanted);
    matches_free(&wanted);
}

/* Records by id: of records that are there or were, and of any other ids. */
static void check_ids(living *self, sstore *store, const record_set *truth)
{
    const uint32_t words = self->maker.words;
    sstore_cursor *cursor = store_must_cursor(store);
    sstore_error error = {.status = SSTORE_OK};
    matches got = {.words = words}, wanted = got;
    uint64_t ids[QUERIES];
    const size_t count = rng_below(&self->random, QUERIES + 1);
    for (size_t i = 0; i < count; i++) {
        const record_set *among = rng_one_in(&self->random, 3) ? &self->pool : truth;
        ids[i] = among->count == 0 || rng_one_in(&self->random, 8)
                     ? rng_next(&self->random) >> rng_below(&self->random, 64)
                     : among->ids[rng_below(&self->random, among->count)];
        if (rng_one_in(&self->random, 8)) /* its lower half is that of an id */
            ids[i] ^= UINT64_C(1) << rng_between(&self->random, 32, 63);
        const uint64_t index = i;
        for (size_t j = 0; j < truth->count; j++)
            if (truth->ids[j] == ids[i])
                matches_put(&wanted, &index, 0, record_set_at(truth, j), ids[i]);
    }
    assert_ok(sstore_get(cursor, ids, count, store_collect, &got, &error), &error);
    matches_sort(&got);
    matches_sort(&wanted);
    assert_true(matches_equal(&got, &wanted));
    matches_free(&got);
    matches_free(&wanted);
    sstore_cursor_free(cursor);
}

/* What sstore_names() found. */
typedef struct named_ids {
    const living *self;
    const uint64_t *ids;
    bool *are_found;
} named_ids;

static int check_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    static char buffer[ID_NAME_CAPACITY];
    const named_ids *found = context;
    const sstore_name wanted = id_name(found->self->names, run_seed, id, buffer);
    assert_int_equal(id, found->ids[index]);
    assert_false(found->are_found[index]);
    found->are_found[index] = true;
    assert_int_equal(name->size, wanted.size);
    assert_memory_equal(name->bytes, wanted.bytes, wanted.size);
    return 0;
}

/* The names of all ids that records have, and of others. */
static void check_names(living *self, sstore *store, const record_set *truth)
{
    sstore_cursor *cursor = store_must_cursor(store);
    sstore_error error = {.status = SSTORE_OK};
    const size_t count = truth->count + 20;
    uint64_t *ids = malloc(count * sizeof *ids);
    named_ids found = {.self = self, .ids = ids, .are_found = calloc(count, sizeof *found.are_found)};
    if (truth->count > 0)
        memcpy(ids, truth->ids, truth->count * sizeof *ids);
    for (size_t i = truth->count; i < count; i++)
        ids[i] = rng_next(&self->random) >> rng_below(&self->random, 64);
    assert_ok(sstore_names(cursor, ids, count, check_name, &found, &error), &error);
    for (size_t i = 0; i < truth->count; i++)
        assert_true(found.are_found[i]);
    free(found.are_found);
    free(ids);
    sstore_cursor_free(cursor);
}

/* Records by name: those of all ids that have it. */
static void check_named(living *self, sstore *store, const record_set *truth)
{
    sstore_cursor *cursor = store_must_cursor(store);
    sstore_error error = {.status = SSTORE_OK};
    matches got = {.words = self->maker.words}, wanted = got;
    uint64_t ids[QUERIES];
    const size_t count = rng_below(&self->random, QUERIES + 1);
    for (size_t i = 0; i < count; i++)
        ids[i] = truth->count == 0 || rng_one_in(&self->random, 4) ? rng_next(&self->random) >> 50
                                                                   : truth->ids[rng_below(&self->random, truth->count)];
    sstore_name *asked = id_names(self->names, run_seed, ids, count);
    sstore_name *all = id_names(self->names, run_seed, truth->ids, truth->count);
    for (uint64_t i = 0; i < count; i++)
        for (size_t j = 0; j < truth->count; j++)
            if (all[j].size == asked[i].size && memcmp(all[j].bytes, asked[i].bytes, asked[i].size) == 0)
                matches_put(&wanted, &i, 0, record_set_at(truth, j), truth->ids[j]);
    assert_ok(sstore_get_named(cursor, asked, count, store_collect, &got, &error), &error);
    matches_sort(&got);
    matches_sort(&wanted);
    assert_true(matches_equal(&got, &wanted));
    matches_free(&got);
    matches_free(&wanted);
    free(asked);
    free(all);
    sstore_cursor_free(cursor);
}

static void check_sample(living *self, const sstore *store, const record_set *truth, bool has_removed)
{
    uint64_t sample[SAMPLE * SSTORE_MAX_WORDS];
    const uint32_t words = self->maker.words;
    sstore_error error = {.status = SSTORE_OK};
    size_t count;
    assert_ok(sstore_sample(store, rng_next(&self->random), sample, SAMPLE, &count, &error), &error);
    for (size_t i = 0; !has_removed && i < count; i++) {
        bool is_there = false;
        for (size_t j = 0; !is_there && j < truth->count; j++)
            is_there = memcmp(sample + i * words, record_set_at(truth, j), words * sizeof *sample) == 0;
        assert_true(is_there);
    }
}

static void check_store(living *self, sstore *store, const record_set *truth)
{
    sstore_statistics statistics = SSTORE_STATISTICS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    assert_int_equal(sstore_fingerprint_bits(store), 64 * self->maker.words);
    assert_ok(sstore_stat(store, &statistics, &error), &error);
    assert_int_equal(statistics.record_count, truth->count);
    assert_int_equal(statistics.fingerprint_bits, 64 * self->maker.words);
    iterate_records(&self->random, store, truth->fingerprints, truth->ids, truth->count);
    check_queries(self, store, truth);
    check_sample(self, store, truth, statistics.removed_count > 0);
    assert_int_equal(statistics.has_ids, self->ids != IDS_NONE);
    if (self->ids != IDS_NONE)
        check_ids(self, store, truth);
    assert_int_equal(statistics.has_names, self->has_names);
    assert_true(!self->has_names || statistics.name_count <= statistics.record_count + statistics.removed_count);
    if (self->has_names) {
        check_names(self, store, truth);
        check_named(self, store, truth);
    }
}

static void check_all(living *self)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore *store;
    if (self->old != NULL && rng_one_in(&self->random, 2)) {
        check_store(self, self->old, &self->old_truth);
        assert_ok(sstore_reopen(self->old, &store, &error), &error);
    } else {
        store = store_must_open(self->path, (sstore_io)rng_below(&self->random, 4),
                                (sstore_strategy)rng_below(&self->random, 3));
    }
    check_store(self, store, &self->truth);
    if (rng_one_in(&self->random, 2)) {
        sstore_close(self->old);
        self->old = store;
        self->old_truth.count = 0;
        record_set_append(&self->old_truth, &self->truth, 0, self->truth.count);
    } else {
        sstore_close(store);
    }
    if (rng_one_in(&self->random, 2))
        assert_ok(sstore_verify(self->path, NULL, NULL, NULL, &error), &error);
}

/* ----- builds ----- */

/* Build a store of records, whose ids are given or assigned. */
static void build(living *self, const char *path, const record_set *records, bool assigned)
{
    sstore_write_options options = make_options(self);
    sstore_builder *builder;
    sstore_error error = {.status = SSTORE_OK};
    options.fingerprint_bits = 64 * self->maker.words;
    options.distance = self->maker.distance;
    options.plan = self->plan;
    options.block_bytes = self->block_bytes;
    options.no_ids = self->ids == IDS_NONE;
    options.id_index = self->id_index;
    options.names = self->has_names;
    assert_ok(sstore_builder_create(path, &options, &builder, &error), &error);
    give_records(self, builder, records, assigned);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* The folder of the store's only segment. */
static const char *only_segment(const char *path)
{
    sstore_error error = {.status = SSTORE_OK};
    sstore_segment_statistics segment = {.struct_size = sizeof segment};
    sstore_statistics statistics = SSTORE_STATISTICS_INIT;
    sstore *store = store_must_open(path, SSTORE_IO_PREAD, SSTORE_STRATEGY_AUTO);
    assert_ok(sstore_stat(store, &statistics, &error), &error);
    assert_int_equal(statistics.segment_count, 1);
    assert_int_equal(statistics.removed_count, 0);
    assert_ok(sstore_stat_segment(store, 0, &segment, &error), &error);
    sstore_close(store);
    const char *name = strrchr(path, '/') + 1;
    return scratch_path("%s/%s", name, segment.folder);
}

static void check_fresh_build(living *self)
{
    const char *path = scratch_path("fresh");
    compact(self, SSTORE_COMPACTION_ALL);
    check_all(self);
    build(self, path, &self->truth, false);
    assert_true(folders_equal(only_segment(self->path), only_segment(path), ".blk"));
    scratch_remove(path);
}

/* ----- one store's life ----- */

static void make_pool(living *self)
{
    rng *random = &self->random;
    const size_t count = rng_between(random, 1, self->maker.words == 1 ? MAX_RECORDS : MAX_WIDE_RECORDS);
    self->pool = record_set_make(random, &self->maker, count);
    self->truth = record_set_new(self->maker.words);
    self->old_truth = record_set_new(self->maker.words);
    for (size_t i = 0; i < count && self->ids != IDS_GIVEN; i++)
        self->pool.ids[i] = self->ids == IDS_MIXED ? rng_below(random, 2 * count) : 0;
}

static void begin_life(living *self, uint64_t number)
{
    static const char *const plans[] = {NULL, "4", "3", "2", "1", "5c2", "64:3"};
    static const char *const wide_plans[] = {NULL, NULL, "22,21,21", "1"};
    static const uint32_t widths[] = {2, 2, 3, 4, 4, 8, 16};
    self->random = rng_seeded(run_seed + number);
    rng *random = &self->random;
    const uint32_t words = number % 4 > 0 ? 1 : widths[rng_below(random, sizeof widths / sizeof *widths)];
    const uint64_t max = SSTORE_MAX_BUILD_DISTANCE * words;
    const uint64_t distance = rng_below(random, rng_one_in(random, 4) ? max + 1 : 8 * words);
    self->maker = form_with(random, words, words == 1 ? 3 : (uint32_t)distance);
    self->ids = (id_source)rng_below(random, ID_SOURCE_COUNT);
    self->id_index = self->ids != IDS_NONE && rng_one_in(random, 2);
    self->has_names = self->ids != IDS_NONE && rng_one_in(random, 2);
    self->names = (id_name_kind)rng_below(random, ID_NAME_KINDS);
    self->plan = words == 1 ? plans[rng_below(random, 7)] : wide_plans[rng_below(random, 4)];
    self->block_bytes = rng_one_in(random, 2) ? 0 : UINT32_C(256) << rng_below(random, 9);
    make_pool(self);
    snprintf(self->path, sizeof self->path, "%s", scratch_path("living"));
    snprintf(self->text, sizeof self->text,
             "case %" PRIu64 ", %s, pool of %zu, ids %u%s, names %d, plan %s, blocks %u, seed %" PRIu64, number,
             form_text(&self->maker), self->pool.count, (unsigned)self->ids, self->id_index ? " with an index" : "",
             self->has_names ? (int)self->names : -1, self->plan == NULL ? "auto" : self->plan, self->block_bytes,
             run_seed);
    testing_doing("%s", self->text);
    self->crawls = rng_one_in(random, 2);
    const size_t count = self->crawls            ? self->pool.count
                         : rng_one_in(random, 4) ? 0
                                                 : rng_below(random, self->pool.count + 1);
    const bool assigned = ids_are_assigned(self);
    record_set first = choose_records(self, count, assigned);
    const uint64_t next_id = name_records(self, &first, assigned);
    scratch_remove(self->path);
    build(self, self->path, &first, assigned);
    take_records(self, &first, next_id);
    record_set_free(&first);
}

static void end_life(living *self)
{
    sstore_close(self->old);
    store_states_free(&self->states);
    record_set_free(&self->old_truth);
    record_set_free(&self->truth);
    record_set_free(&self->pool);
    scratch_remove(self->path);
}

static void test_random_changes(void **state)
{
    const uint64_t cases = testing_number("SSTORE_TEST_CASES", testing_slow() ? SLOW_CASES : CASES);
    uint64_t steps = 0, readings = 0;
    for (uint64_t i = 0; i < cases; i++) {
        living self = {.old = NULL};
        begin_life(&self, i);
        check_all(&self);
        const uint64_t max = self.crawls ? MAX_CRAWLED_STEPS : self.maker.words == 1 ? MAX_STEPS : MAX_WIDE_STEPS;
        for (uint64_t left = rng_between(&self.random, 1, max); left > 0; left--, steps++) {
            testing_doing("%s, %" PRIu64 " steps before the last", self.text, left);
            readings += step(&self);
            if (!self.crawls || left % 4 == 1)
                check_all(&self);
        }
        check_fresh_build(&self);
        end_life(&self);
    }
    testing_figure("%" PRIu64 " stores of 64 to 1,024 bits, with %" PRIu64
                   " changes, like brute force; readers beside read them %" PRIu64 " times",
                   cases, steps, readings);
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random_changes, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
