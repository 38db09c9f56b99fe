/*
 * dedup.c - inserts records if they are new. Each record is looked up in the store, and in a growing index of the new
 * records that wait in memory. From time to time these are published as a segment.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "base/words.h"
#include "read/batch.h"
#include "read/cursor.h"
#include "stream/growing_index.h"
#include "write/builder.h"
#include "write/confirmed_dedup.h"
#include "write/waiting_names.h"
#include "write/write_options.h"

#define WAITING_DIVISOR 8u /* of the memory, for waiting records and names; twice that while their index grows */

/* Records that are looked up together: the more, the less time each takes. */
#define MIN_ROUND ((uint64_t)4096)
#define MAX_ROUND (UINT64_C(1) << 20)
#define ROUND_BYTES 512u /* of memory, for each of them, with its matches if there are some */
/* The bytes for each of several words. If all records of a round are new, they take half as much as may wait. */
#define ROUND_WORD_BYTES 1600u

struct sstore_dedup {
    sstore_write_options write; /* taken, without a recipe; its texts are the copies below */
    char *plan, *tmp_dir;
    uint32_t distance;
    uint64_t max_waiting_bytes, conflict_bytes;
    ss_transaction transaction;
    sstore *store;             /* as of the last publication, unless it is stale */
    bool is_stale;             /* something was published since */
    sstore_cursor *cursor;     /* for records that are inserted one by one */
    ss_growing_index *waiting; /* new records that are not published */
    ss_waiting_names names;    /* of these, in a store with names */
    uint64_t next_id, new_count;
    ss_id_conflicts conflicts; /* of given ids */
    sstore_change change;      /* of all publications */
    size_t match_count, match_capacity, row_capacity;
    sstore_match *matches;     /* of the current record */
    uint64_t *rows;            /* their fingerprints */
    uint64_t *counts;          /* of the matches in the store of a round's records, if there is a limit */
    sstore_confirm_fn confirm; /* or NULL */
    void *confirm_context;
    uint64_t inserted_id; /* with `confirm`: of the current record */
};

static uint32_t words_of(const sstore_dedup *dedup)
{
    return dedup->transaction.manifest.words;
}

static sstore_status open_waiting(const sstore_dedup *dedup, ss_growing_index **index_out, sstore_error *error)
{
    return ss_growing_index_create(words_of(dedup), dedup->distance, dedup->write.threads, index_out, error);
}

/* ----- opening ----- */

static sstore_status open_store(sstore_dedup *dedup, sstore_error *error)
{
    sstore *store = NULL;
    sstore_cursor *cursor = NULL;
    sstore_status status = dedup->store == NULL
                               ? ss_store_open_in(&dedup->transaction.store, SS_STORE_QUERIES, &store, error)
                               : sstore_reopen(dedup->store, &store, error);
    if (status == SSTORE_OK)
        status = sstore_cursor_create(store, &cursor, error);
    if (status != SSTORE_OK) {
        sstore_close(store);
        return status;
    }
    sstore_cursor_free(dedup->cursor);
    sstore_close(dedup->store);
    dedup->store = store;
    dedup->cursor = cursor;
    dedup->is_stale = false;
    return SSTORE_OK;
}

static sstore_status set_up(sstore_dedup *dedup, const char *path, const sstore_write_options *options,
                            sstore_error *error)
{
    ss_transaction *transaction = &dedup->transaction;
    const ss_manifest *manifest = &transaction->manifest;
    const uint64_t memory = dedup->write.memory_bytes;
    dedup->write.plan = dedup->plan = options->plan != NULL ? ss_strdup(options->plan) : NULL;
    dedup->write.tmp_dir = dedup->tmp_dir = options->tmp_dir != NULL ? ss_strdup(options->tmp_dir) : NULL;
    if ((options->plan != NULL && dedup->plan == NULL) || (options->tmp_dir != NULL && dedup->tmp_dir == NULL))
        return ss_fail_memory(error, 1);
    const ss_writer_wait wait = {dedup->write.wait_ms, dedup->write.on_progress, dedup->write.progress_context};
    sstore_status status = ss_transaction_open(transaction, path, SS_WRITE_EXTEND, &wait, error);
    if (status != SSTORE_OK)
        return status;
    status = ss_manifest_check_bits(manifest, transaction->path, options->fingerprint_bits, error);
    if (status == SSTORE_OK)
        status = ss_manifest_check_recipe(manifest, transaction->path, options->recipe, NULL, error);
    dedup->distance = options->distance == SSTORE_OWN_DISTANCE ? manifest->distance : options->distance;
    if (status == SSTORE_OK)
        status = ss_check_distance(manifest->words, dedup->distance, error);
    dedup->next_id = manifest->next_id;
    dedup->change.segment_count_before = manifest->segment_count;
    dedup->change.total_bytes_before = ss_manifest_total_bytes(manifest);
    dedup->max_waiting_bytes = memory / WAITING_DIVISOR;
    if (options->check_ids && manifest->has_ids) {
        dedup->conflict_bytes = ss_id_conflicts_watch(&dedup->conflicts, memory);
        dedup->change.ids_checked = true;
    }
    if (status == SSTORE_OK) { /* wrong options and missing permissions fail now, not after a million records */
        sstore_builder *builder;
        status = ss_builder_open(NULL, transaction, SS_WRITE_EXTEND, SS_SEGMENT_ADDS, &dedup->write, &builder, error);
        sstore_builder_abort(builder);
    }
    if (status == SSTORE_OK)
        status = open_waiting(dedup, &dedup->waiting, error);
    return status == SSTORE_OK ? open_store(dedup, error) : status;
}

sstore_status sstore_dedup_open(const char *path, const sstore_write_options *options, sstore_dedup **dedup_out,
                                sstore_error *error)
{
    sstore_write_options taken;
    if (dedup_out != NULL)
        *dedup_out = NULL;
    if (path == NULL || dedup_out == NULL)
        return ss_fail_argument(error, "sstore_dedup_open: path and dedup_out must not be NULL");
    sstore_status status = ss_write_options_take(&taken, options, SS_WRITE_CALL_DEDUP, error);
    if (status != SSTORE_OK)
        return status;
    sstore_dedup *dedup = ss_alloc(1, sizeof *dedup);
    if (dedup == NULL)
        return ss_fail_memory(error, sizeof *dedup);
    *dedup = (sstore_dedup){.write = taken, .transaction = {.store = SS_DIR_NONE}};
    dedup->write.recipe = NULL;
    status = set_up(dedup, path, &taken, error);
    if (status == SSTORE_OK)
        *dedup_out = dedup;
    else
        sstore_dedup_close(dedup);
    return status;
}

void sstore_dedup_close(sstore_dedup *dedup)
{
    if (dedup == NULL)
        return;
    ss_growing_index_free(dedup->waiting);
    ss_waiting_names_free(&dedup->names);
    ss_id_conflicts_free(&dedup->conflicts);
    sstore_cursor_free(dedup->cursor);
    sstore_close(dedup->store);
    ss_transaction_close(&dedup->transaction);
    ss_free(dedup->matches);
    ss_free(dedup->rows);
    ss_free(dedup->counts);
    ss_free(dedup->plan);
    ss_free(dedup->tmp_dir);
    ss_free(dedup);
}

sstore_status sstore_dedup_stat(const sstore_dedup *dedup, sstore_dedup_statistics *statistics_out, sstore_error *error)
{
    if (dedup == NULL || statistics_out == NULL)
        return ss_fail_argument(error, "sstore_dedup_stat: dedup and statistics_out must not be NULL");
    const sstore_dedup_statistics statistics = {.new_count = dedup->new_count,
                                                .pending_count = ss_growing_index_count(dedup->waiting),
                                                .fingerprint_bits = SS_WORD_BITS * words_of(dedup)};
    return ss_give_result(statistics_out, &statistics, sizeof statistics, SS_DEDUP_STATISTICS_SIZE_1, error);
}

/* ----- publishing ----- */

/* The memory that waiting records take. */
static uint64_t waiting_bytes(const sstore_dedup *dedup)
{
    return ss_growing_index_bytes(dedup->waiting) + ss_waiting_names_bytes(&dedup->names);
}

static sstore_status add_waiting(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                 sstore_error *error)
{
    return ss_builder_add_records(context, fingerprints, ids, count, error);
}

/* The options with the memory that is left beside waiting records and the open store. */
static sstore_write_options remaining_options(const sstore_dedup *dedup)
{
    sstore_write_options options = dedup->write;
    const sstore *store = dedup->store;
    const uint64_t taken = waiting_bytes(dedup) + dedup->conflict_bytes +
                           ss_store_memory_bytes(&store->manifest, store->options.io) +
                           ss_cursor_bytes(&store->manifest, store->options.io);
    options.memory_bytes = ss_remaining_memory(options.memory_bytes, taken);
    return options;
}

/* The store has none of the waiting records, so they need no look-up. */
static sstore_status publish_waiting(sstore_dedup *dedup, sstore_error *error)
{
    const sstore_write_options options = remaining_options(dedup);
    sstore_builder *builder;
    sstore_status status = ss_builder_open(NULL, &dedup->transaction, SS_WRITE_EXTEND, SS_SEGMENT_ADDS, &options,
                                           &builder, error);
    if (status != SSTORE_OK)
        return status;
    builder->next_id = dedup->next_id;
    status = ss_builder_prepare(builder, &options, 0, 0, error);
    if (status == SSTORE_OK)
        status = ss_growing_index_each(dedup->waiting, add_waiting, builder, error);
    if (status == SSTORE_OK)
        status = ss_waiting_names_give(&dedup->names, &builder->names, error);
    builder->spec.name_bytes = builder->names.name_bytes;
    if (status != SSTORE_OK) {
        sstore_builder_abort(builder);
        return status;
    }
    sstore_change change = SSTORE_CHANGE_INIT;
    status = sstore_builder_finish(builder, &change, error);
    if (change.damaged_file[0] != '\0')
        memcpy(dedup->change.damaged_file, change.damaged_file, sizeof change.damaged_file);
    return status;
}

/* Publish the waiting records. Once published they no longer wait, even if a later step fails. */
static sstore_status publish_and_forget(sstore_dedup *dedup, sstore_error *error)
{
    const uint32_t published_before = dedup->transaction.publication_count;
    ss_growing_index *empty;
    sstore_status status = open_waiting(dedup, &empty, error);
    if (status == SSTORE_OK)
        status = publish_waiting(dedup, error);
    if (dedup->transaction.publication_count > published_before) {
        ss_growing_index *published = dedup->waiting;
        dedup->waiting = empty;
        ss_waiting_names_free(&dedup->names);
        dedup->is_stale = true;
        empty = published;
    }
    ss_growing_index_free(empty);
    return status;
}

/* Look for conflicts in what was just published, and add them to those found before. The records are published, so
 * they are only counted as not looked up if the store cannot be opened. */
static void find_conflicts(sstore_dedup *dedup, uint64_t next_id)
{
    sstore_change *total = &dedup->change, latest = {.record_count = total->record_count};
    if (!ss_id_conflicts_any(&dedup->conflicts))
        return;
    if (open_store(dedup, NULL) != SSTORE_OK) {
        total->ids_checked = false;
        return;
    }
    ss_id_conflicts_find(&dedup->conflicts, dedup->store, next_id, &latest);
    if (latest.conflict_count > 0 &&
        (total->conflict_count == 0 || latest.min_conflicting_id < total->min_conflicting_id))
        total->min_conflicting_id = latest.min_conflicting_id;
    total->conflict_count += latest.conflict_count;
    total->ids_checked &= latest.ids_checked;
}

static void note_change(sstore_dedup *dedup)
{
    dedup->change.added_count = dedup->new_count - ss_growing_index_count(dedup->waiting);
    ss_note_store(&dedup->change, &dedup->transaction.manifest);
}

/* The store is opened again when the next records are looked up: nothing can fail after the publication. */
static sstore_status publish(sstore_dedup *dedup, sstore_error *error)
{
    if (ss_growing_index_count(dedup->waiting) == 0) {
        ss_transaction_clean_up(&dedup->transaction); /* as any writer that changes nothing */
        return SSTORE_OK;
    }
    const uint64_t next_id = dedup->transaction.manifest.next_id;
    const sstore_status status = publish_and_forget(dedup, error);
    note_change(dedup);
    if (status == SSTORE_OK)
        find_conflicts(dedup, next_id);
    return status;
}

sstore_status sstore_dedup_publish(sstore_dedup *dedup, sstore_change *change_out, sstore_error *error)
{
    if (dedup == NULL)
        return ss_fail_argument(error, "sstore_dedup_publish: dedup must not be NULL");
    sstore_status status = ss_check_result(change_out, SS_CHANGE_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    status = publish(dedup, error);
    note_change(dedup);
    if (change_out != NULL)
        (void)ss_give_result(change_out, &dedup->change, sizeof dedup->change, SS_CHANGE_SIZE_1, NULL);
    return status;
}

/* Whether enough records wait to be published. */
static bool is_due(const sstore_dedup *dedup)
{
    const uint64_t every = dedup->write.publish_every;
    if (every == UINT64_MAX)
        return false;
    return (every > 0 && ss_growing_index_count(dedup->waiting) >= every) ||
           waiting_bytes(dedup) > dedup->max_waiting_bytes;
}

/* ----- inserting ----- */

/* The store is asked for the names of this many records at once: of the first one that is new, and those behind it. */
#define NAMES_AHEAD 256u

/* Records to insert, and the current round of them, which is looked up together. */
typedef struct insertion {
    sstore_dedup *dedup;
    const uint64_t *fingerprints, *ids; /* ids NULL: new records get ids from next_id on, or none */
    const sstore_name *names;           /* in a store with names */
    bool *is_new_out;                   /* NULL: not wanted, like the next one */
    sstore_dedup_fn on_answer;
    void *context;
    size_t begin, end, next;       /* the round, and the first record that was not answered */
    uint64_t limit;                /* on the matches of a record of this round; 0: none */
    size_t named_begin, named_end; /* the records whose names were looked up in the store */
    ss_named_id named[NAMES_AHEAD];
    sstore_status status; /* the reason of a stop */
    sstore_error *error;
} insertion;

#define FIRST_MATCHES 64u

static int keep_match(void *context, const sstore_match *match)
{
    sstore_dedup *dedup = context;
    uint32_t distance = match->distance;
    if (dedup->confirm != NULL && !dedup->confirm(dedup->confirm_context, match->id, dedup->inserted_id, &distance))
        return 0;
    const size_t count = dedup->match_count, row_bytes = words_of(dedup) * sizeof *dedup->rows;
    sstore_match *matches = ss_grow(dedup->matches, count, &dedup->match_capacity, FIRST_MATCHES, sizeof *matches);
    if (matches == NULL)
        return 1;
    dedup->matches = matches;
    uint64_t *rows = ss_grow(dedup->rows, count, &dedup->row_capacity, FIRST_MATCHES, row_bytes);
    if (rows == NULL)
        return 1;
    dedup->rows = rows;
    ss_words_copy(rows + count * words_of(dedup), match->fingerprint, words_of(dedup));
    matches[count] = *match;
    matches[count].distance = distance;
    dedup->match_count++;
    return 0;
}

static sstore_status fail_match(const insertion *self)
{
    const sstore_dedup *dedup = self->dedup;
    return ss_fail_memory(self->error,
                          2 * dedup->match_capacity * (sizeof *dedup->matches + words_of(dedup) * sizeof *dedup->rows));
}

/* Compare two matches by (distance, fingerprint, id). `context` points to the number of words, a uint32_t. */
static int compare_matches(const void *left, const void *right, void *context)
{
    const sstore_match *a = left, *b = right;
    const uint32_t *words = context;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    const int order = ss_words_compare(a->fingerprint, b->fingerprint, *words);
    return order != 0 ? order : ss_compare_u64(a->id, b->id);
}

/* Sort the matches of the current record, whose rows do not move any more, and keep the first ones. */
static void finish_matches(sstore_dedup *dedup, uint64_t limit)
{
    uint32_t words = words_of(dedup);
    for (size_t i = 0; i < dedup->match_count; i++)
        dedup->matches[i].fingerprint = dedup->rows + i * words;
    qsort_r(dedup->matches, dedup->match_count, sizeof *dedup->matches, compare_matches, &words);
    if (limit > 0)
        dedup->match_count = (size_t)ss_min_u64(dedup->match_count, limit);
}

/* Find the id that the store has for the name of the record `next`. */
static sstore_status find_stored_name(insertion *self, ss_named_id *named_out)
{
    sstore_status status = SSTORE_OK;
    if (self->next >= self->named_end) {
        self->named_begin = self->next;
        self->named_end = self->next + (size_t)ss_min_u64(self->end - self->next, NAMES_AHEAD);
        memset(self->named, 0, sizeof self->named);
        status = sstore_get_named(self->dedup->cursor, self->names + self->next, self->named_end - self->next,
                                  ss_named_ids_note, self->named, self->error);
    }
    *named_out = self->named[self->next - self->named_begin];
    return status;
}

/* Choose the id of a new record: the given one, or that of its name, or the next one. */
static sstore_status choose_id(insertion *self, uint64_t *id_out)
{
    const sstore_dedup *dedup = self->dedup;
    const sstore_name *name = self->names != NULL ? &self->names[self->next] : NULL;
    sstore_status status = SSTORE_OK;
    ss_named_id named = {.is_found = false};
    *id_out = self->ids != NULL ? self->ids[self->next] : 0;
    if (name != NULL && self->ids != NULL)
        status = ss_waiting_names_check(&dedup->names, dedup->cursor, *id_out, name, self->error);
    else if (name != NULL)
        status = find_stored_name(self, &named);
    if (status != SSTORE_OK || self->ids != NULL)
        return status;
    if (name != NULL)
        ss_waiting_names_find(&dedup->names, name, &named);
    *id_out = named.is_found ? named.id : dedup->next_id;
    if (named.is_found)
        return SSTORE_OK;
    return *id_out < UINT64_MAX ? SSTORE_OK : ss_fail_argument(self->error, SS_NO_ID_LEFT);
}

/* Add a new record to the waiting ones; *id_out is its id. */
static sstore_status keep_waiting(insertion *self, const uint64_t *fingerprint, uint64_t *id_out)
{
    sstore_dedup *dedup = self->dedup;
    const bool has_ids = dedup->transaction.manifest.has_ids;
    sstore_status status = has_ids ? choose_id(self, id_out) : SSTORE_OK;
    if (status == SSTORE_OK && self->names != NULL)
        status = ss_waiting_names_reserve(&dedup->names, self->names[self->next].size, self->error);
    if (status == SSTORE_OK)
        status = ss_growing_index_add(dedup->waiting, fingerprint, has_ids ? *id_out : 0, self->error);
    if (status != SSTORE_OK)
        return status;
    if (self->names != NULL)
        ss_waiting_names_add(&dedup->names, *id_out, &self->names[self->next]);
    /* An id that the store has for this name is expected, and no conflict. */
    if (has_ids && (self->ids != NULL || *id_out == dedup->next_id))
        ss_id_conflicts_note(&dedup->conflicts, *id_out, &dedup->next_id);
    dedup->new_count++;
    return SSTORE_OK;
}

/* The matches in the store of the record `next` are known. Look it up among those that wait, and answer. */
static sstore_status answer_next(insertion *self)
{
    sstore_dedup *dedup = self->dedup;
    const uint64_t *fingerprint = self->fingerprints + self->next * words_of(dedup);
    sstore_dedup_answer answer = {.index = self->next,
                                  .fingerprint = fingerprint,
                                  .id = self->ids != NULL ? self->ids[self->next] : 0};
    const size_t stored = dedup->match_count;
    dedup->inserted_id = answer.id;
    sstore_status status = ss_growing_index_find(dedup->waiting, fingerprint, dedup->distance, keep_match, dedup);
    if (status == SSTORE_STOPPED)
        return fail_match(self);
    answer.match_count = dedup->match_count;
    if (self->limit > 0)
        answer.match_count += dedup->counts[self->next - self->begin] - stored;
    answer.is_new = dedup->match_count == 0;
    if (answer.is_new)
        status = keep_waiting(self, fingerprint, &answer.id);
    else
        finish_matches(dedup, self->limit);
    answer.listed = dedup->matches;
    answer.listed_count = dedup->match_count;
    dedup->match_count = 0;
    self->next++;
    if (status != SSTORE_OK)
        return status;
    dedup->change.given_count++;
    if (self->is_new_out != NULL)
        self->is_new_out[answer.index] = answer.is_new;
    return self->on_answer != NULL && self->on_answer(self->context, &answer) != 0 ? SSTORE_STOPPED : SSTORE_OK;
}

/* Answer all records before that one. */
static sstore_status answer_until(insertion *self, size_t index)
{
    while (self->status == SSTORE_OK && self->next < index)
        self->status = answer_next(self);
    return self->status;
}

/* The store's matches come in the order of the records. */
static int take_store_match(void *context, const sstore_match *match)
{
    insertion *self = context;
    sstore_match kept = *match;
    if (answer_until(self, self->begin + (size_t)match->query_index) != SSTORE_OK)
        return 1;
    kept.query_index = 0;
    self->dedup->inserted_id = self->ids != NULL ? self->ids[self->next] : 0;
    if (keep_match(self->dedup, &kept) != 0)
        self->status = fail_match(self);
    return self->status != SSTORE_OK;
}

/* Make room for the counts of a round. */
static sstore_status grow_counts(sstore_dedup *dedup, size_t count, sstore_error *error)
{
    uint64_t *counts = ss_realloc(dedup->counts, count, sizeof *counts);
    if (counts == NULL)
        return ss_fail_memory(error, count * sizeof *counts);
    dedup->counts = counts;
    return SSTORE_OK;
}

/* Look up the only record of a round, by the cursor: its first match, or all. */
static sstore_status look_up_one(insertion *self, const uint64_t *fingerprint)
{
    sstore_dedup *dedup = self->dedup;
    if (self->limit != 1)
        return sstore_query(dedup->cursor, fingerprint, dedup->distance, take_store_match, self, self->error);
    uint64_t words[SSTORE_MAX_WORDS] = {0};
    sstore_match match = {.fingerprint = words};
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = words,
                                    .id = &match.id,
                                    .distance = &match.distance};
    const sstore_status status = sstore_query_columns(dedup->cursor, fingerprint, dedup->distance, &columns, 1,
                                                      dedup->counts, self->error);
    if (status != SSTORE_OK || dedup->counts[0] == 0)
        return status;
    return take_store_match(self, &match) == 0 ? SSTORE_OK : SSTORE_STOPPED;
}

static sstore_status answer_round(insertion *self)
{
    sstore_dedup *dedup = self->dedup;
    const uint64_t *fingerprints = self->fingerprints + self->begin * words_of(dedup);
    const size_t count = self->end - self->begin;
    /* Without answers, one match tells that a record is not new. Which matches are confirmed is not known yet. */
    self->limit = self->on_answer == NULL ? 1 : dedup->write.limit;
    if (dedup->confirm != NULL)
        self->limit = 0;
    sstore_status status = self->limit > 0 ? grow_counts(dedup, count, self->error) : SSTORE_OK;
    if (status != SSTORE_OK)
        return status;
    const sstore_batch_options options = {.struct_size = sizeof options,
                                          .threads = dedup->write.threads,
                                          .on_progress = dedup->write.on_progress,
                                          .progress_context = dedup->write.progress_context,
                                          .limit = self->limit,
                                          .match_counts = self->limit > 0 ? dedup->counts : NULL};
    dedup->match_count = 0;
    status = count == 1 && self->limit <= 1 ? look_up_one(self, fingerprints)
                                            : ss_query_batch(dedup->store, fingerprints, count, dedup->distance,
                                                             &options, take_store_match, self, self->error);
    if (status == SSTORE_OK)
        return answer_until(self, self->end);
    return status == SSTORE_STOPPED && self->status != SSTORE_OK ? self->status : status;
}

/* The number of the first records whose names fit into the memory of waiting records; at least one. */
static size_t fitting_names(const sstore_dedup *dedup, const sstore_name *names, size_t count)
{
    uint64_t bytes = names[0].size;
    size_t fitting = 1;
    while (fitting < count && (bytes += names[fitting].size) <= dedup->max_waiting_bytes)
        fitting++;
    return fitting;
}

/* The number of records of a round, so that no more than the limit wait even if all are new. */
static size_t round_size(const insertion *self, size_t left)
{
    const sstore_dedup *dedup = self->dedup;
    const uint64_t every = dedup->write.publish_every, waiting = ss_growing_index_count(dedup->waiting);
    const uint32_t words = words_of(dedup);
    const uint64_t each = words == 1 ? ROUND_BYTES : ROUND_WORD_BYTES * words;
    const uint64_t room = ss_max_u64(ss_min_u64(dedup->write.memory_bytes / each, MAX_ROUND), MIN_ROUND / words);
    const size_t size = (size_t)ss_min_u64(left, every > waiting ? ss_min_u64(every - waiting, room) : room);
    return self->names != NULL ? fitting_names(dedup, self->names + self->begin, size) : size;
}

static sstore_status insert(insertion *self, size_t count)
{
    sstore_dedup *dedup = self->dedup;
    sstore_status status = SSTORE_OK;
    if (!dedup->transaction.manifest.has_ids)
        self->ids = NULL;
    while (status == SSTORE_OK && self->end < count) {
        if (dedup->is_stale && (status = open_store(dedup, self->error)) != SSTORE_OK)
            break;
        self->begin = self->named_end = self->end;
        self->end += round_size(self, count - self->begin);
        status = answer_round(self);
        if (status == SSTORE_OK && is_due(dedup))
            status = publish(dedup, self->error);
    }
    return status;
}

sstore_status sstore_dedup_insert(sstore_dedup *dedup, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                                  bool *is_new_out, sstore_dedup_fn on_answer, void *context, sstore_error *error)
{
    insertion self = {.dedup = dedup,
                      .fingerprints = fingerprints,
                      .ids = ids,
                      .is_new_out = is_new_out,
                      .on_answer = on_answer,
                      .context = context,
                      .error = error};
    if (dedup == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "sstore_dedup_insert: dedup and fingerprints must not be NULL");
    if (dedup->transaction.manifest.has_names && count > 0)
        return ss_fail_argument(error, "%s: the store has names: insert each record with its name",
                                dedup->transaction.path);
    return insert(&self, count);
}

sstore_status sstore_dedup_insert_named(sstore_dedup *dedup, const uint64_t *fingerprints, const uint64_t *ids,
                                        const sstore_name *names, size_t count, bool *is_new_out,
                                        sstore_dedup_fn on_answer, void *context, sstore_error *error)
{
    insertion self = {.dedup = dedup,
                      .fingerprints = fingerprints,
                      .ids = ids,
                      .names = names,
                      .is_new_out = is_new_out,
                      .on_answer = on_answer,
                      .context = context,
                      .error = error};
    if (dedup == NULL || ((fingerprints == NULL || names == NULL) && count > 0))
        return ss_fail_argument(error, "sstore_dedup_insert_named: dedup, fingerprints and names must not be NULL");
    const sstore_status status = ss_check_names(dedup->transaction.manifest.has_names, dedup->transaction.path, names,
                                                count, error);
    return status == SSTORE_OK ? insert(&self, count) : status;
}

sstore_status sstore_dedup_names(sstore_dedup *dedup, const uint64_t *ids, size_t count, sstore_name_fn on_name,
                                 void *context, sstore_error *error)
{
    if (dedup == NULL || (ids == NULL && count > 0) || on_name == NULL)
        return ss_fail_argument(error, "sstore_dedup_names: dedup, ids and on_name must not be NULL");
    const sstore_status status = dedup->is_stale ? open_store(dedup, error) : SSTORE_OK;
    return status == SSTORE_OK ? ss_waiting_names_get(&dedup->names, dedup->cursor, ids, count, on_name, context, error)
                               : status;
}

void ss_dedup_confirm(sstore_dedup *dedup, sstore_confirm_fn confirm, void *context)
{
    dedup->confirm = confirm;
    dedup->confirm_context = context;
}
