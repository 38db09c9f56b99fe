/* builder_base.c - the store that a builder extends: look-ups of which records it has already, and of ids of names. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/words.h"
#include "write/removal.h"

sstore_status ss_builder_check_reserved(const sstore_builder *builder, sstore_error *error)
{
    if (builder->reserved_bytes <= builder->max_reserved_bytes)
        return SSTORE_OK;
    return ss_fail_argument(
        error, "%s: reading the store takes %.0f MiB, more than half of the memory limit; raise memory_bytes",
        builder->transaction->path, (double)builder->reserved_bytes / 0x1p20);
}

sstore_status ss_builder_open_base(sstore_builder *builder, sstore_error *error)
{
    ss_builder_base *base = &builder->base;
    const uint32_t threads = builder->spec.memory.threads;
    if (base->store != NULL)
        return SSTORE_OK;
    sstore_status status = ss_builder_check_reserved(builder, error);
    if (status == SSTORE_OK)
        status = ss_store_open_in(&builder->transaction->store, SS_STORE_LOOKUPS, &base->store, error);
    if (status != SSTORE_OK)
        return status;
    base->memberships = ss_alloc(threads, sizeof *base->memberships);
    base->is_taken = ss_alloc(threads, sizeof *base->is_taken);
    if (base->memberships == NULL || base->is_taken == NULL)
        return ss_fail_memory(error, threads * sizeof *base->memberships);
    for (; status == SSTORE_OK && base->count < threads; base->count++)
        status = ss_membership_open(&base->memberships[base->count], base->store, false, NULL, error);
    return status;
}

const sstore *ss_builder_base_store(const sstore_builder *builder)
{
    return builder->replaced != NULL ? ss_remover_builder(builder->replaced)->base.store : builder->base.store;
}

void ss_builder_close_base(sstore_builder *builder)
{
    ss_builder_base *base = &builder->base;
    for (uint32_t i = 0; i < base->count; i++)
        ss_membership_close(&base->memberships[i]);
    ss_free(base->memberships);
    ss_free(base->is_taken);
    sstore_close(base->store);
    *base = (ss_builder_base){.store = NULL};
}

sstore_status ss_builder_keep_changes(void *context, void *items, size_t *count, sstore_error *error)
{
    sstore_builder *builder = context;
    ss_builder_base *base = &builder->base;
    const bool has_ids = builder->spec.has_ids, removes = builder->spec.kind == SS_SEGMENT_REMOVES;
    const uint32_t words = builder->spec.words, item_words = words + (has_ids ? 1 : 0);
    uint64_t *to = items;
    sstore_status status = SSTORE_OK;
    size_t kept = 0;
    uint32_t own = 0; /* there is one for each thread that runs this */
    while (atomic_exchange(&base->is_taken[own], true))
        own = (own + 1) % base->count;
    for (size_t i = 0; status == SSTORE_OK && i < *count; i++) {
        const uint64_t *item = (const uint64_t *)items + i * item_words;
        bool present;
        status = ss_membership_has(&base->memberships[own], item, has_ids ? item[words] : 0, &present, error);
        ss_words_move(to + kept * item_words, item, item_words);
        kept += present == removes;
    }
    atomic_fetch_add(&builder->unchanged_count, *count - kept);
    *count = kept;
    atomic_store(&base->is_taken[own], false);
    return status;
}

/* ----- names ----- */

/* Records to add, whose names are being looked up. */
typedef struct name_search {
    const uint64_t *fingerprints;
    uint32_t words;
    ss_named_id *named; /* one a name */
} name_search;

/* Note the id of the name, and whether it has this fingerprint: a sstore_match_fn. */
static int note_record(void *context, const sstore_match *record)
{
    name_search *self = context;
    ss_named_id *named = &self->named[record->query_index];
    const uint64_t *given = self->fingerprints + record->query_index * self->words;
    const bool has_fingerprint = memcmp(given, record->fingerprint, self->words * sizeof *given) == 0;
    ss_named_ids_note(self->named, record);
    named->has_fingerprint = named->has_fingerprint || has_fingerprint;
    return 0;
}

sstore_status ss_builder_find_names(sstore_builder *builder, const sstore_name *names, const uint64_t *fingerprints,
                                    size_t count, ss_named_id *named_out, sstore_error *error)
{
    name_search search = {fingerprints, builder->spec.words, named_out};
    sstore_cursor *cursor = NULL;
    sstore_status status = ss_builder_open_base(builder, error);
    if (status == SSTORE_OK)
        status = sstore_cursor_create(builder->base.store, &cursor, error);
    if (status == SSTORE_OK)
        status = sstore_get_named(cursor, names, count, note_record, &search, error);
    sstore_cursor_free(cursor);
    return status;
}
