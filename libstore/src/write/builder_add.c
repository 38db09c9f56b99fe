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

/* Add records that were checked, with their names. */
static sstore_status add_named(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                               const sstore_name *names, size_t count, sstore_error *error)
{
    const uint64_t first_id = builder->next_id;
    sstore_status status = add(builder, fingerprints, ids, count, error);
    for (size_t i = 0; status == SSTORE_OK && i < count; i++)
        status = ss_name_runs_add(&builder->names, ids != NULL ? ids[i] : first_id + i, names[i].bytes, names[i].size,
                                  error);
    builder->spec.name_bytes = builder->names.name_bytes;
    return status;
}

/* Add records in place of those that have their names. Without an id, a record gets that of its name, or the next
 * one. */
static sstore_status replace_named(sstore_builder *builder, const uint64_t *fingerprints, const uint64_t *ids,
                                   const sstore_name *names, size_t count, sstore_error *error)
{
    uint64_t found[ID_BATCH] = {0};
    sstore_status status = SSTORE_OK;
    for (size_t done = 0, size; status == SSTORE_OK && done < count; done += size) {
        size = (size_t)ss_min_u64(count - done, ID_BATCH);
        if (ids == NULL && size > UINT64_MAX - builder->next_id)
            return ss_fail_argument(error, SS_NO_ID_LEFT);
        status = ss_remover_remove_named(builder->replaced, names + done, size, ids != NULL ? NULL : found,
                                         &builder->next_id, error);
        if (status == SSTORE_OK)
            status = add_named(builder, fingerprints + done * builder->spec.words, ids != NULL ? ids + done : found,
                               names + done, size, error);
    }
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
    if (status != SSTORE_OK)
        return status;
    return builder->replaced != NULL ? replace_named(builder, fingerprints, ids, names, count, error)
                                     : add_named(builder, fingerprints, ids, names, count, error);
}
