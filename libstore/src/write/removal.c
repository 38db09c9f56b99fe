/*
 * removal.c - removes records: a remover has the builder of a segment that removes, and sets of keys. A key, a
 * fingerprint or an id, stands for all records of the store that have it. Keys are gathered up to a fixed number. Then
 * their records are looked up together and added to the builder.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "sort/radix.h"
#include "write/removal.h"
#include "write/write_options.h"

#define KEY_BYTES 21u /* of a key of one word, including sorting and look-up */
#define FIND_BATCH 1024u

typedef struct key_set {
    uint32_t words; /* of a key */
    size_t count, capacity;
    uint64_t *keys, *scratch; /* NULL until there is a key */
} key_set;

struct sstore_remover {
    sstore_builder *builder;
    key_set fingerprints, ids;
    uint32_t found_count;       /* records that are not in the builder yet */
    uint64_t found_total;       /* of all */
    sstore_absent_fn on_absent; /* or NULL */
    void *absent_context;
    uint64_t *found_fingerprints; /* of FIND_BATCH records */
    uint64_t found_ids[FIND_BATCH];
};

static sstore_status give_found(sstore_remover *remover, sstore_error *error)
{
    const uint32_t count = remover->found_count;
    remover->found_count = 0;
    if (count == 0)
        return SSTORE_OK;
    return ss_builder_add_records(remover->builder, remover->found_fingerprints, remover->found_ids, count, error);
}

static sstore_status add_found(sstore_remover *remover, const uint64_t *fingerprint, uint64_t id, sstore_error *error)
{
    const uint32_t words = remover->fingerprints.words;
    ss_words_copy(remover->found_fingerprints + (size_t)remover->found_count * words, fingerprint, words);
    remover->found_ids[remover->found_count++] = id;
    remover->found_total++;
    return remover->found_count == FIND_BATCH ? give_found(remover, error) : SSTORE_OK;
}

/* ----- records of fingerprints, in a store with ids ----- */

/* Find the records that segment `number` adds of a fingerprint, unless a newer one removes them. */
static sstore_status find_in_segment(sstore_remover *remover, ss_membership *membership, uint32_t number,
                                     const uint64_t *fingerprint, sstore_error *error)
{
    ss_segment_lookup *lookup = &membership->lookups[number];
    uint64_t rank, id;
    ss_rank_ids ids;
    bool more = false, removed;
    sstore_status status = ss_segment_lookup_rank(lookup, fingerprint, &rank, error);
    if (status != SSTORE_OK || rank == SS_NO_RANK)
        return status;
    ss_segment_lookup_ids(lookup, rank, &ids);
    status = ss_rank_ids_next(&ids, &more, error);
    while (status == SSTORE_OK && more) {
        for (uint32_t i = ids.begin; status == SSTORE_OK && i < ids.end; i++) {
            status = ss_rank_ids_take(&ids, i, &id, error);
            if (status == SSTORE_OK)
                status = ss_membership_in_newer(membership, number, fingerprint, id, false, &removed, error);
            if (status == SSTORE_OK && !removed)
                status = add_found(remover, fingerprint, id, error);
        }
        if (status == SSTORE_OK)
            status = ss_rank_ids_next(&ids, &more, error);
    }
    return status;
}

static sstore_status find_by_fingerprint(sstore_remover *remover, const key_set *set, sstore_error *error)
{
    const sstore *store = remover->builder->base.store;
    ss_membership membership;
    sstore_status status = ss_membership_open(&membership, store, false, NULL, error);
    for (size_t i = 0; status == SSTORE_OK && i < set->count; i++) {
        const uint64_t before = remover->found_total;
        for (uint32_t j = 0; status == SSTORE_OK && j < store->manifest.segment_count; j++)
            if (!ss_segment_removes(store->segments[j]))
                status = find_in_segment(remover, &membership, j, set->keys + i * set->words, error);
        remover->builder->change.absent_count += remover->found_total == before;
    }
    ss_membership_close(&membership);
    return status;
}

/* ----- records of ids ----- */

/* The ids whose records are being looked up. */
typedef struct id_search {
    sstore_remover *remover;
    bool *are_found; /* one an id */
    sstore_status status;
    sstore_error *error;
} id_search;

static int take_record(void *context, const sstore_match *record)
{
    id_search *self = context;
    self->are_found[record->query_index] = true;
    self->status = add_found(self->remover, record->fingerprint, record->id, self->error);
    return self->status != SSTORE_OK;
}

static sstore_status report_absent(const id_search *self, const key_set *set)
{
    sstore_remover *remover = self->remover;
    for (size_t i = 0; i < set->count; i++) {
        if (self->are_found[i])
            continue;
        remover->builder->change.absent_count++;
        if (remover->on_absent != NULL && remover->on_absent(remover->absent_context, set->keys[i]) != 0)
            return SSTORE_STOPPED;
    }
    return SSTORE_OK;
}

static sstore_status find_by_id(sstore_remover *remover, const key_set *set, sstore_error *error)
{
    id_search search = {.remover = remover,
                        .are_found = ss_alloc(set->count, sizeof *search.are_found),
                        .status = SSTORE_OK,
                        .error = error};
    sstore_cursor *cursor = NULL;
    if (search.are_found == NULL)
        return ss_fail_memory(error, set->count);
    sstore_status status = sstore_cursor_create(remover->builder->base.store, &cursor, error);
    if (status == SSTORE_OK)
        status = sstore_get(cursor, set->keys, set->count, take_record, &search, error);
    if (status == SSTORE_STOPPED)
        status = search.status;
    if (status == SSTORE_OK)
        status = report_absent(&search, set);
    sstore_cursor_free(cursor);
    ss_free(search.are_found);
    return status;
}

/* ----- records of names ----- */

/* The names whose records are being looked up. */
typedef struct name_search {
    sstore_remover *remover;
    ss_named_id *named; /* one a name */
    sstore_status status;
    sstore_error *error;
} name_search;

static int take_named(void *context, const sstore_match *record)
{
    name_search *self = context;
    ss_named_ids_note(self->named, record);
    self->status = add_found(self->remover, record->fingerprint, record->id, self->error);
    return self->status != SSTORE_OK;
}

/* Find the records of all ids that have one of the names. */
static sstore_status find_by_name(sstore_remover *remover, const sstore_name *names, size_t count, ss_named_id *named,
                                  sstore_error *error)
{
    name_search search = {.remover = remover, .named = named, .status = SSTORE_OK, .error = error};
    sstore_cursor *cursor = NULL;
    sstore_status status = sstore_cursor_create(remover->builder->base.store, &cursor, error);
    if (status == SSTORE_OK)
        status = sstore_get_named(cursor, names, count, take_named, &search, error);
    if (status == SSTORE_STOPPED)
        status = search.status;
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        remover->builder->change.absent_count += !named[i].is_found;
    sstore_cursor_free(cursor);
    return status == SSTORE_OK ? give_found(remover, error) : status;
}

/* ----- keys ----- */

/* Find the records of all keys of a set, and empty it. */
static sstore_status flush_keys(sstore_remover *remover, key_set *set, sstore_error *error)
{
    if (set->count == 0)
        return SSTORE_OK;
    set->count = ss_sort_unique_items(set->keys, set->scratch, set->count, set->words);
    sstore_status status = set == &remover->ids ? find_by_id(remover, set, error)
                                                : find_by_fingerprint(remover, set, error);
    if (status == SSTORE_OK)
        status = give_found(remover, error);
    set->count = 0;
    return status;
}

static sstore_status add_keys(sstore_remover *remover, key_set *set, const uint64_t *keys, size_t count,
                              sstore_error *error)
{
    const size_t capacity = set->capacity, key_bytes = set->words * sizeof *set->keys;
    sstore_status status = SSTORE_OK;
    if (set->keys == NULL) {
        set->keys = ss_realloc(NULL, capacity, key_bytes);
        set->scratch = ss_realloc(NULL, capacity, key_bytes);
    }
    if (set->keys == NULL || set->scratch == NULL)
        return ss_fail_memory(error, capacity * 2 * key_bytes);
    for (size_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
        size = (size_t)ss_min_u64(count - done, capacity - set->count);
        memcpy(set->keys + set->count * set->words, keys + done * set->words, size * key_bytes);
        set->count += size;
        if (set->count == capacity)
            status = flush_keys(remover, set, error);
    }
    return status;
}

/* ----- the remover ----- */

sstore_status ss_remover_create(const char *path, ss_transaction *transaction, const sstore_write_options *options,
                                sstore_remover **remover_out, sstore_error *error)
{
    sstore_remover *remover = ss_alloc(1, sizeof *remover);
    if (remover == NULL)
        return ss_fail_memory(error, sizeof *remover);
    const sstore_status status = ss_builder_create(path, transaction, SS_WRITE_EXTEND, SS_SEGMENT_REMOVES, options,
                                                   &remover->builder, error);
    if (status != SSTORE_OK) {
        ss_free(remover);
        return status;
    }
    const uint64_t key_bytes = remover->builder->spec.memory.sorter_bytes / 4; /* for each set */
    const uint32_t words = remover->builder->spec.words;
    remover->fingerprints.words = words;
    remover->fingerprints.capacity = (size_t)ss_min_u64(key_bytes / (KEY_BYTES * words), UINT32_MAX);
    remover->ids.words = 1;
    remover->ids.capacity = (size_t)ss_min_u64(key_bytes / KEY_BYTES, UINT32_MAX);
    remover->found_fingerprints = ss_alloc(FIND_BATCH, words * sizeof *remover->found_fingerprints);
    if (remover->found_fingerprints == NULL) {
        sstore_remover_abort(remover);
        return ss_fail_memory(error, FIND_BATCH * words * sizeof *remover->found_fingerprints);
    }
    remover->on_absent = options->on_absent;
    remover->absent_context = options->absent_context;
    *remover_out = remover;
    return SSTORE_OK;
}

sstore_status sstore_remover_create(const char *path, const sstore_write_options *options, sstore_remover **remover_out,
                                    sstore_error *error)
{
    sstore_write_options taken;
    if (remover_out != NULL)
        *remover_out = NULL;
    if (path == NULL || remover_out == NULL)
        return ss_fail_argument(error, "path and remover_out must not be NULL");
    const sstore_status status = ss_write_options_take(&taken, options, SS_WRITE_CALL_REMOVE, error);
    return status == SSTORE_OK ? ss_remover_create(path, NULL, &taken, remover_out, error) : status;
}

sstore_builder *ss_remover_builder(const sstore_remover *remover)
{
    return remover->builder;
}

uint32_t sstore_remover_fingerprint_bits(const sstore_remover *remover)
{
    return SS_WORD_BITS * remover->fingerprints.words;
}

sstore_status sstore_remover_remove(sstore_remover *remover, const uint64_t *fingerprints, const uint64_t *ids,
                                    size_t count, sstore_error *error)
{
    if (remover == NULL || (fingerprints == NULL && ids == NULL && count > 0))
        return ss_fail_argument(error, "sstore_remover_remove: remover, and fingerprints or ids, must not be NULL");
    if (count == 0)
        return SSTORE_OK;
    const bool has_ids = remover->builder->spec.has_ids;
    if (fingerprints == NULL && !has_ids)
        return ss_fail_argument(error,
                                "the store has no ids, so records cannot be removed by id; remove them by fingerprint");
    remover->builder->change.given_count += count;
    const sstore_status status = ss_builder_open_base(remover->builder, error);
    if (status != SSTORE_OK)
        return status;
    if (fingerprints == NULL)
        return add_keys(remover, &remover->ids, ids, count, error);
    if (ids == NULL && has_ids)
        return add_keys(remover, &remover->fingerprints, fingerprints, count, error);
    return ss_builder_add_records(remover->builder, fingerprints, ids, count, error);
}

sstore_status ss_remover_remove_named(sstore_remover *remover, const sstore_name *names, size_t count,
                                      ss_named_id *named_out, sstore_error *error)
{
    remover->builder->change.given_count += count;
    const sstore_status status = ss_builder_open_base(remover->builder, error);
    return status == SSTORE_OK ? find_by_name(remover, names, count, named_out, error) : status;
}

sstore_status sstore_remover_remove_named(sstore_remover *remover, const sstore_name *names, size_t count,
                                          sstore_error *error)
{
    if (remover == NULL || (names == NULL && count > 0))
        return ss_fail_argument(error, "sstore_remover_remove_named: remover and names must not be NULL");
    if (!remover->builder->spec.has_names)
        return ss_fail_argument(error, "%s: the store has no names, so records cannot be removed by name",
                                remover->builder->transaction->path);
    if (count == 0)
        return SSTORE_OK;
    ss_named_id *named = ss_alloc(count, sizeof *named);
    if (named == NULL)
        return ss_fail_memory(error, count * sizeof *named);
    const sstore_status status = ss_remover_remove_named(remover, names, count, named, error);
    ss_free(named);
    return status;
}

/* Find the records of all keys. */
static sstore_status flush_all(sstore_remover *remover, sstore_error *error)
{
    const sstore_status status = flush_keys(remover, &remover->fingerprints, error);
    return status == SSTORE_OK ? flush_keys(remover, &remover->ids, error) : status;
}

sstore_status ss_remover_sort(sstore_remover *remover, ss_sorted_pieces *pieces_out, sstore_error *error)
{
    const sstore_status status = flush_all(remover, error);
    return status == SSTORE_OK ? ss_builder_sort(remover->builder, pieces_out, error) : status;
}

sstore_status sstore_remover_finish(sstore_remover *remover, sstore_change *change_out, sstore_error *error)
{
    if (remover == NULL)
        return ss_fail_argument(error, "sstore_remover_finish: remover must not be NULL");
    sstore_status status = flush_all(remover, error);
    if (status == SSTORE_OK) {
        status = sstore_builder_finish(remover->builder, change_out, error);
        remover->builder = NULL;
    }
    sstore_remover_abort(remover);
    return status;
}

void sstore_remover_abort(sstore_remover *remover)
{
    if (remover == NULL)
        return;
    ss_free(remover->found_fingerprints);
    ss_free(remover->fingerprints.keys);
    ss_free(remover->fingerprints.scratch);
    ss_free(remover->ids.keys);
    ss_free(remover->ids.scratch);
    sstore_builder_abort(remover->builder);
    ss_free(remover);
}
