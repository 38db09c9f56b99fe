#include "support/reader_beside.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "support/testing.h"

#define MAX_SEEN 4096u /* changes of the state */
#define LOOKED_UP 4u   /* records of a state */
#define PIECE 64u

/* ----- states ----- */

static uint64_t hash_of(const uint64_t *fingerprint, uint32_t words, uint64_t id)
{
    uint64_t hash = rng_mix(id);
    for (uint32_t i = 0; i < words; i++)
        hash = rng_mix(hash ^ fingerprint[i]);
    return hash;
}

static void note_sum(store_states *states, uint64_t sum)
{
    if (states->count == states->capacity) {
        states->capacity = 2 * states->capacity + 16;
        states->sums = realloc(states->sums, states->capacity * sizeof *states->sums);
        assert_non_null(states->sums);
    }
    states->sums[states->count++] = sum;
}

void store_states_note(store_states *states, const record_set *records)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < records->count; i++)
        sum += hash_of(record_set_at(records, i), records->words, records->ids[i]);
    note_sum(states, sum);
}

void store_states_note_one(store_states *states, const uint64_t *fingerprint, uint32_t words, uint64_t id)
{
    assert_true(states->count > 0);
    note_sum(states, states->sums[states->count - 1] + hash_of(fingerprint, words, id));
}

void store_states_free(store_states *states)
{
    free(states->sums);
    *states = (store_states){.count = 0};
}

/* ----- reading ----- */

struct reader_beside {
    char path[512];
    uint32_t words;
    bool has_ids, has_names;
    id_name_kind kind;
    uint64_t seed;
    atomic_bool stops;
    pthread_t thread;
    uint64_t read_count;
    size_t seen_count;
    uint64_t seen[MAX_SEEN];
    uint64_t fingerprints[LOOKED_UP * SSTORE_MAX_WORDS], ids[LOOKED_UP];
    size_t picked_count;
    const uint64_t *wanted; /* the record that is looked up */
    uint64_t wanted_id;
    bool is_found, is_named;
    char name[ID_NAME_CAPACITY];
    char failure[1100]; /* "": none */
};

static void note_failure(reader_beside *self, const char *what, const sstore_error *error)
{
    snprintf(self->failure, sizeof self->failure, "%s: %s", what, error != NULL ? error->message : "not found");
}

/* Pick a record once in a while, so that those of all parts of the store are looked up. */
static void pick(reader_beside *self, uint64_t number, const uint64_t *fingerprint, uint64_t id)
{
    const uint64_t place = number < LOOKED_UP ? number : rng_mix(number + self->read_count) % (number + 1);
    if (place >= LOOKED_UP)
        return;
    memcpy(self->fingerprints + place * self->words, fingerprint, self->words * sizeof *fingerprint);
    self->ids[place] = id;
    self->picked_count = number < LOOKED_UP ? number + 1 : LOOKED_UP;
}

static sstore_status read_all(reader_beside *self, const sstore *store, uint64_t *sum_out, sstore_error *error)
{
    uint64_t fingerprints[PIECE * SSTORE_MAX_WORDS], ids[PIECE] = {0}, number = 0;
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = fingerprints,
                                    .id = self->has_ids ? ids : NULL};
    sstore_iterator *iterator;
    size_t count = 1;
    sstore_status status = sstore_iterate_records(store, &iterator, error);
    if (status != SSTORE_OK)
        return status;
    self->picked_count = 0;
    *sum_out = 0;
    while (status == SSTORE_OK && count > 0) {
        status = sstore_iterator_next(iterator, &columns, PIECE, &count, error);
        for (size_t i = 0; status == SSTORE_OK && i < count; i++, number++) {
            *sum_out += hash_of(fingerprints + i * self->words, self->words, ids[i]);
            pick(self, number, fingerprints + i * self->words, ids[i]);
        }
    }
    sstore_iterator_free(iterator);
    return status;
}

static int take_match(void *context, const sstore_match *match)
{
    reader_beside *self = context;
    self->is_found |= memcmp(match->fingerprint, self->wanted, self->words * sizeof *self->wanted) == 0 &&
                      match->id == self->wanted_id;
    return 0;
}

static int take_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    reader_beside *self = context;
    const sstore_name wanted = id_name(self->kind, self->seed, id, self->name);
    self->is_named = index == 0 && id == self->wanted_id && name->size == wanted.size &&
                     memcmp(name->bytes, wanted.bytes, wanted.size) == 0;
    return 0;
}

/* Note what a call found of the record. */
static bool check_call(reader_beside *self, const char *what, sstore_status status, bool is_right,
                       const sstore_error *error)
{
    if (status == SSTORE_OK && is_right)
        return true;
    note_failure(self, what, status == SSTORE_OK ? NULL : error);
    return false;
}

/* Look up a record that was read, in every way. */
static bool look_up(reader_beside *self, sstore_cursor *cursor)
{
    sstore_error error;
    self->is_found = false;
    sstore_status status = sstore_query(cursor, self->wanted, 0, take_match, self, &error);
    if (!check_call(self, "sstore_query", status, self->is_found, &error))
        return false;
    self->is_found = !self->has_ids;
    status = self->has_ids ? sstore_get(cursor, &self->wanted_id, 1, take_match, self, &error) : SSTORE_OK;
    if (!check_call(self, "sstore_get", status, self->is_found, &error))
        return false;
    if (!self->has_names)
        return true;
    self->is_named = self->is_found = false;
    status = sstore_names(cursor, &self->wanted_id, 1, take_name, self, &error);
    if (!check_call(self, "sstore_names", status, self->is_named, &error))
        return false;
    const sstore_name name = id_name(self->kind, self->seed, self->wanted_id, self->name);
    status = sstore_get_named(cursor, &name, 1, take_match, self, &error);
    return check_call(self, "sstore_get_named", status, self->is_found, &error);
}

/* Read a state in every way. */
static bool read_state(reader_beside *self, const sstore *store)
{
    sstore_cursor *cursor;
    sstore_error error;
    uint64_t sum;
    sstore_status status = read_all(self, store, &sum, &error);
    if (status == SSTORE_OK)
        status = sstore_cursor_create(store, &cursor, &error);
    if (!check_call(self, "reading all records", status, true, &error))
        return false;
    bool is_right = true;
    for (size_t i = 0; is_right && i < self->picked_count; i++) {
        self->wanted = self->fingerprints + i * self->words;
        self->wanted_id = self->ids[i];
        is_right = look_up(self, cursor);
    }
    sstore_cursor_free(cursor);
    self->read_count++;
    if (self->seen_count > 0 && self->seen[self->seen_count - 1] == sum)
        return is_right;
    if (self->seen_count < MAX_SEEN)
        self->seen[self->seen_count++] = sum;
    return is_right;
}

static void *run(void *context)
{
    reader_beside *self = context;
    sstore *store = NULL, *next;
    sstore_error error;
    bool is_right = true, ends = false;
    while (is_right && !ends) {
        ends = atomic_load(&self->stops); /* the state after it is the last one that is read */
        const sstore_status status = store == NULL || self->read_count % 4 == 0
                                         ? sstore_open(self->path, NULL, &next, &error)
                                         : sstore_reopen(store, &next, &error);
        is_right = check_call(self, "opening the store", status, true, &error) && read_state(self, next);
        sstore_close(store);
        store = next;
    }
    sstore_close(store);
    return NULL;
}

reader_beside *reader_beside_start(const char *path, uint32_t words, bool has_ids, bool has_names, id_name_kind kind,
                                   uint64_t seed)
{
    reader_beside *self = calloc(1, sizeof *self);
    assert_non_null(self);
    snprintf(self->path, sizeof self->path, "%s", path);
    self->words = words;
    self->has_ids = has_ids;
    self->has_names = has_names;
    self->kind = kind;
    self->seed = seed;
    assert_int_equal(pthread_create(&self->thread, NULL, run, self), 0);
    return self;
}

uint64_t reader_beside_stop(reader_beside *self, const store_states *states)
{
    size_t state = 0, seen = 0;
    atomic_store(&self->stops, true);
    assert_int_equal(pthread_join(self->thread, NULL), 0);
    const uint64_t read_count = self->read_count;
    if (self->failure[0] != '\0')
        fail_msg("a reader beside: %s", self->failure);
    for (; seen < self->seen_count && state < states->count; state++)
        seen += states->sums[state] == self->seen[seen];
    if (seen < self->seen_count)
        fail_msg("a reader beside found, as number %zu, a state that was not published after the one before it", seen);
    assert_int_equal(self->seen[seen - 1], states->sums[states->count - 1]);
    free(self);
    return read_count;
}
