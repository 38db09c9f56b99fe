/* builder_add.c - takes records of callers: numbers them, notes their names, and finds what they replace. */
#include "base/error.h"
#include "write/removal.h"

#define ID_BATCH 1024u

/* Add records that are numbered from next_id on. */
static sstore_status add_with_next_ids(sstore_builder *builder, const uint64_t *fingerprints, size_t count,
                                       sstore_error *error)
{
    uint64_t ids[ID_BATCH];
    sstore_status status = SSTORE_OK;
    if (count > UINT64_MAX - builder->next_id)
        return ss_fail_argument(error, SS_NO_ID_LEFT);
    for (size_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
        size = (size_t)ss_min_u64(count - done, ID_BATCH);
        for (size_t i = 0; i < size; i++)
            ids[i] = builder->next_id++;
        status = ss_builder_add_records(builder, fingerprints + done * builder->spec.words, ids, size, error);
    }
    return status;
}

sstore_status sstore_builder_skip_ids(sstore_builder *builder, uint64_t count, sstore_error *error)
{
    if (builder == NULL)
        return ss_fail_argument(error, "sstore_builder_skip_ids: builder must not be NULL");
    if (!builder->spec.has_ids)
        return SSTORE_OK;
    if (count > UINT64_MAX - builder->next_id)
        return ss_fail_argument(error, SS_NO_ID_LEFT);
    builder->next_id += count;
    return SSTORE_OK;
}

/* Add records with given ids, or with the next ones. */
static sstore_status add(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                         sstore_error *error)
{
    const bool has_ids = builder->spec.has_ids;
    builder->change.given_count += count;
    if (has_ids && ids == NULL) /* no record of the extended store can have these */
        return add_with_next_ids(builder, fingerprints, count, error);
    const bool looks_up = builder->extends && builder->replaced == NULL;
    sstore_status status = looks_up ? ss_builder_open_base(builder, error) : SSTORE_OK;
    if (status != SSTORE_OK)
        return status;
    for (size_t i = 0; has_ids && i < count; i++)
        ss_id_conflicts_note(&builder->conflicts, ids[i], &builder->next_id);
    return ss_builder_add_records(builder, fingerprints, ids, count, error);
}

/* Check that records can be added with given ids, or without. */
static sstore_status check_given(sstore_builder *builder, bool ids_given, sstore_error *error)
{
    const bool is_first = builder->change.given_count == 0;
    if (is_first)
        builder->ids_given = ids_given;
    if (builder->replaced != NULL && !ids_given && !builder->spec.has_names)
        return ss_fail_argument(error, "%s: records without ids cannot replace others", builder->transaction->path);
    if (!builder->spec.has_ids || is_first || builder->ids_given == ids_given)
        return SSTORE_OK;
    return ss_fail_argument(error, "sstore_builder_add: either all records have ids or none has");
}

sstore_status sstore_builder_add(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                 size_t count, sstore_error *error)
{
    if (builder == NULL || (fingerprints == NULL && count > 0))
        return ss_fail_argument(error, "sstore_builder_add: builder and fingerprints must not be NULL");
    if (count == 0)
        return SSTORE_OK;
    if (builder->spec.has_names)
        return ss_fail_argument(error, "%s: the store has names: add each record with its name",
                                builder->transaction->path);
    sstore_status status = check_given(builder, ids != NULL, error);
    if (status == SSTORE_OK && builder->replaced != NULL)
        status = sstore_remover_remove(builder->replaced, NULL, ids, count, error);
    return status == SSTORE_OK ? add(builder, fingerprints, ids, count, error) : status;
}

/* ----- with names ----- */

/* Records that were checked, with their names, and with ids or without. */
typedef struct named_records {
    const uint64_t *fingerprints, *ids;
    const sstore_name *names;
    size_t count;
} named_records;

/* Note the name of an id. */
static sstore_status add_name(sstore_builder *builder, uint64_t id, const sstore_name *name, sstore_error *error)
{
    return ss_name_runs_add(&builder->names, id, name->bytes, name->size, error);
}

/* Look names up in the store. Their records are removed if they are replaced. */
static sstore_status find_names(sstore_builder *builder, const named_records *records, ss_named_id *named,
                                sstore_error *error)
{
    if (builder->replaced != NULL)
        return ss_remover_remove_named(builder->replaced, records->names, records->count, named, error);
    const bool is_wanted = builder->extends && records->ids == NULL;
    return is_wanted
               ? ss_builder_find_names(builder, records->names, records->fingerprints, records->count, named, error)
               : SSTORE_OK;
}

/* Add a record whose name the store does not have, with the next number. */
static sstore_status add_new_name(sstore_builder *builder, const uint64_t *fingerprint, const sstore_name *name,
                                  sstore_error *error)
{
    const uint64_t number = builder->next_id++;
    sstore_status status = SSTORE_OK;
    if (builder->new_names.items == NULL)
        status = ss_new_names_open(&builder->new_names, builder->spec.words, builder->name_memory_bytes,
                                   builder->spec.tmp_dir, error);
    if (status == SSTORE_OK)
        status = ss_new_names_add(&builder->new_names, name, number, fingerprint, error);
    return status == SSTORE_OK ? add_name(builder, number, name, error) : status;
}

/* Add records without ids: they get those of their names. */
static sstore_status add_by_name(sstore_builder *builder, const named_records *records, const ss_named_id *named,
                                 sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (records->count > UINT64_MAX - builder->next_id)
        return ss_fail_argument(error, SS_NO_ID_LEFT);
    builder->change.given_count += records->count;
    for (size_t i = 0; status == SSTORE_OK && i < records->count; i++) {
        const uint64_t *fingerprint = records->fingerprints + i * builder->spec.words;
        if (!named[i].is_found) {
            status = add_new_name(builder, fingerprint, &records->names[i], error);
            continue;
        }
        builder->change.known_name_count += builder->replaced == NULL && !named[i].has_fingerprint;
        status = ss_builder_add_records(builder, fingerprint, &named[i].id, 1, error);
        if (status == SSTORE_OK)
            status = add_name(builder, named[i].id, &records->names[i], error);
    }
    return status;
}

static sstore_status add_with_ids(sstore_builder *builder, const named_records *records, sstore_error *error)
{
    sstore_status status = add(builder, records->fingerprints, records->ids, records->count, error);
    for (size_t i = 0; status == SSTORE_OK && i < records->count; i++)
        status = add_name(builder, records->ids[i], &records->names[i], error);
    return status;
}

/* Add at most ID_BATCH records. */
static sstore_status add_batch(sstore_builder *builder, const named_records *records, sstore_error *error)
{
    ss_named_id named[ID_BATCH] = {{.is_found = false}};
    sstore_status status = find_names(builder, records, named, error);
    if (status == SSTORE_OK)
        status = records->ids != NULL ? add_with_ids(builder, records, error)
                                      : add_by_name(builder, records, named, error);
    builder->spec.name_bytes = builder->names.name_bytes;
    return status;
}

sstore_status sstore_builder_add_named(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                       const sstore_name *names, size_t count, sstore_error *error)
{
    if (builder == NULL || ((fingerprints == NULL || names == NULL) && count > 0))
        return ss_fail_argument(error, "sstore_builder_add_named: builder, fingerprints and names must not be NULL");
    if (count == 0)
        return SSTORE_OK;
    sstore_status status = ss_check_names(builder->spec.has_names, builder->transaction->path, names, count, error);
    if (status == SSTORE_OK)
        status = check_given(builder, ids != NULL, error);
    for (size_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
        size = (size_t)ss_min_u64(count - done, ID_BATCH);
        const named_records records = {.fingerprints = fingerprints + done * builder->spec.words,
                                       .ids = ids != NULL ? ids + done : NULL,
                                       .names = names + done,
                                       .count = size};
        status = add_batch(builder, &records, error);
    }
    return status;
}
