/* operations.c - the operations: the store before each, and the states that are allowed after it. */
#include "faults/operation_runs.h"

#include <stdio.h>
#include <string.h>

#include "sstore_statistics.h"
#include "support/lost_directory.h"
#include "support/scratch.h"
#include "support/use_store.h"
#include "support/widened.h"

#define SPILLED_RECORDS 90000u /* more than sorters have with the minimum memory */

/* ----- stages ----- */

static data_set joined(const data_set *first, const data_set *second)
{
    data_set both = *first;
    both.count = first->count + second->count;
    both.fingerprints = test_calloc(both.count, sizeof *both.fingerprints);
    both.ids = test_calloc(both.count, sizeof *both.ids);
    memcpy(both.fingerprints, first->fingerprints, first->count * sizeof *both.fingerprints);
    memcpy(both.fingerprints + first->count, second->fingerprints, second->count * sizeof *both.fingerprints);
    memcpy(both.ids, first->ids, first->count * sizeof *both.ids);
    memcpy(both.ids + first->count, second->ids, second->count * sizeof *both.ids);
    return both;
}

/* What joins, batches and streams of the records must count. */
static void count_near(operation *self)
{
    const record_set *truth = &self->before;
    self->queries = test_calloc(truth->count, sizeof *self->queries);
    for (size_t i = 0; i < truth->count; i++) {
        const uint64_t fingerprint = self->queries[i] = truth->fingerprints[i];
        const bool is_new = i == 0 || fingerprint != truth->fingerprints[i - 1];
        for (size_t j = 0; j < truth->count; j++) {
            const bool is_near = sstore_hamming_distance(&fingerprint, &truth->fingerprints[j], 64) <= 3;
            self->near_pairs += is_near && j > i;
            self->stream_matches += is_near && is_new;
        }
    }
}

static void must(const operation *self, operation_fn run)
{
    sstore_error error;
    assert_ok(run(self, 1, &error), &error);
}

/* Of three segments' directories the first is missing, and the last has a flipped bit; so do some of word indexes. */
static void lose_directories(const operation *self, rng *random)
{
    file_list files = file_list_make(self->path, "directory.mdb");
    assert_int_equal(files.count, (widened_words == 1 ? 3 : 3 + 2 * widened_words) + (self->names ? 4 : 0));
    for (size_t i = 0; i < files.count; i += 2)
        directory_lose(scratch_path("stage/%s", files.names[i]), i == 0 ? LOSS_GONE : LOSS_BIT, random);
    file_list_free(&files);
}

static void make(operation *self, uint64_t seed)
{
    rng random = rng_seeded(seed);
    data_make(&random, DATA_CLUSTERED, DATA_IDS, RECORDS, false, &self->first);
    data_make(&random, DATA_UNIFORM, DATA_IDS, OTHERS, false, &self->second);
    for (size_t i = 0; i < RECORDS; i++)
        self->first.ids[i] = i;
    for (size_t i = 0; i < OTHERS; i++)
        self->second.ids[i] = self->run == run_replace_records && i < REMOVED ? i : RECORDS + i;
    snprintf(self->path, sizeof self->path, "%s", scratch_path("stage"));
    data_set both = joined(&self->first, &self->second);
    const data_set rest = data_part(&both, REMOVED, RECORDS), rest_of_both = data_part(&both, REMOVED, both.count);
    scratch_remove(self->path);
    if (self->run != run_build)
        must(self, run_build);
    const bool has_rest = self->run == run_compact || self->run == run_merge || self->run == run_read_memory ||
                          self->run == run_reindex;
    const bool removes = self->run == run_remove || self->run == run_remove_ids || self->run == run_remove_names;
    if (has_rest) {
        must(self, run_add);
        must(self, run_remove);
    }
    if (self->mends)
        lose_directories(self, &random);
    if (self->run != run_build) {
        snprintf(self->saved, sizeof self->saved, "%s", scratch_path("saved-%s", self->name));
        folder_copy(self->path, self->saved);
    }
    self->before = record_set_of_data(has_rest ? &rest_of_both : &self->first);
    count_near(self);
    self->after = record_set_of_data(has_rest || self->run == run_replace_records     ? &rest_of_both
                                     : self->run == run_replace                       ? &self->second
                                     : self->run == run_add || self->run == run_dedup ? &both
                                     : removes                                        ? &rest
                                                                                      : &self->first);
    data_free(&both);
}

void operations_make(uint64_t seed, operation operations[OPERATION_COUNT])
{
    const operation all[OPERATION_COUNT] = {
        {.name = "build", .run = run_build, .writes = true},
        {.name = "replace", .run = run_replace, .writes = true},
        {.name = "add", .run = run_add, .writes = true},
        {.name = "remove", .run = run_remove, .writes = true},
        {.name = "remove-ids", .run = run_remove_ids, .writes = true, .id_index = true},
        {.name = "replace-records", .run = run_replace_records, .writes = true},
        {.name = "compact", .run = run_compact, .writes = true},
        {.name = "reindex", .run = run_reindex, .writes = true, .mends = true},
        {.name = "dedup", .run = run_dedup, .writes = true},
        {.name = "add-merged", .run = run_add, .writes = true, .merges = true, .id_index = true},
        {.name = "remove-merged", .run = run_remove, .writes = true, .merges = true},
        {.name = "dedup-merged", .run = run_dedup, .writes = true, .merges = true},
        {.name = "replace-merged", .run = run_replace_records, .writes = true, .merges = true, .id_index = true},
        {.name = "read", .run = run_read, .id_index = true},
        {.name = "read-memory", .run = run_read_memory},
        {.name = "join", .run = run_join},
        {.name = "build-named", .run = run_build, .writes = true, .names = true},
        {.name = "remove-names", .run = run_remove_names, .writes = true, .names = true},
        {.name = "merge-named", .run = run_merge, .writes = true, .names = true},
        {.name = "compact-named", .run = run_compact, .writes = true, .names = true},
        {.name = "reindex-named", .run = run_reindex, .writes = true, .mends = true, .names = true},
        {.name = "add-merged-named", .run = run_add, .writes = true, .merges = true, .names = true},
        {.name = "replace-named", .run = run_replace_records, .writes = true, .names = true},
        {.name = "dedup-named", .run = run_dedup, .writes = true, .merges = true, .names = true},
        {.name = "read-named", .run = run_read, .id_index = true, .names = true},
    };
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        operations[i] = all[i];
        make(&operations[i], seed + i);
    }
}

void operations_make_wide(uint64_t seed, operation operations[WIDE_OPERATION_COUNT])
{
    const operation all[WIDE_OPERATION_COUNT] = {
        {.name = "build-wide", .run = run_build, .writes = true},
        {.name = "replace-wide", .run = run_replace, .writes = true},
        {.name = "add-wide", .run = run_add, .writes = true},
        {.name = "remove-wide", .run = run_remove, .writes = true},
        {.name = "replace-records-wide", .run = run_replace_records, .writes = true, .id_index = true},
        {.name = "compact-wide", .run = run_compact, .writes = true, .id_index = true},
        {.name = "reindex-wide", .run = run_reindex, .writes = true, .mends = true},
        {.name = "dedup-wide", .run = run_dedup, .writes = true, .id_index = true},
        {.name = "add-merged-wide", .run = run_add, .writes = true, .merges = true},
        {.name = "compact-wide-named", .run = run_compact, .writes = true, .names = true},
        {.name = "replace-wide-named", .run = run_replace_records, .writes = true, .names = true},
        {.name = "read-wide", .run = run_read_and_stream, .id_index = true},
        {.name = "read-memory-wide", .run = run_read_memory},
    };
    widened_words = 2;
    for (size_t i = 0; i < WIDE_OPERATION_COUNT; i++) {
        operations[i] = all[i];
        make(&operations[i], seed + i);
    }
}

void operations_free_wide(operation operations[WIDE_OPERATION_COUNT])
{
    for (size_t i = 0; i < WIDE_OPERATION_COUNT; i++)
        operation_free(&operations[i]);
    widened_words = 1;
}

void operations_free(operation operations[OPERATION_COUNT])
{
    for (size_t i = 0; i < OPERATION_COUNT; i++)
        operation_free(&operations[i]);
}

void operation_make_spilling(uint64_t seed, operation *made)
{
    rng random = rng_seeded(seed);
    *made = (operation){.name = "build-spilled", .run = run_build, .writes = true};
    snprintf(made->path, sizeof made->path, "%s", scratch_path("stage"));
    data_make(&random, DATA_CLUSTERED, DATA_IDS, SPILLED_RECORDS, false, &made->first);
    made->before = record_set_of_data(&made->second);
    made->after = record_set_of_data(&made->first);
}

void operation_free(operation *made)
{
    if (made->queries != NULL)
        test_free(made->queries);
    record_set_free(&made->before);
    record_set_free(&made->after);
    data_free(&made->first);
    data_free(&made->second);
}

void operation_set_stage(const operation *self)
{
    scratch_remove(self->path);
    if (self->saved[0] != '\0')
        folder_copy(self->saved, self->path);
}

/* ----- states ----- */

static void check_names(const sstore *store, const record_set *truth)
{
    sstore_cursor *cursor = store_must_cursor(store);
    sstore_error error;
    size_t found = 0;
    assert_ok(sstore_names(cursor, truth->ids, truth->count, run_count_name, &found, &error), &error);
    assert_int_equal(found, truth->count);
    sstore_cursor_free(cursor);
}

static bool holds(const sstore *store, const record_set *truth)
{
    bool right;
    size_t count;
    sstore_error error;
    assert_ok(store_compare_records(store, truth, &right, &count, &error), &error);
    return right && count == truth->count;
}

bool operation_is_seen(const operation *self)
{
    return self->mends || self->before.count != self->after.count;
}

/* A store that cannot be opened must be unchanged. Returns the number of its additional files. */
static size_t check_unmended(const operation *self)
{
    file_list files = file_list_make(self->path, ""), kept = file_list_make(self->saved, "");
    for (size_t i = 0; i < kept.count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", self->saved, kept.names[i]);
        file_bytes wanted = file_load(path);
        snprintf(path, sizeof path, "%s/%s", self->path, kept.names[i]);
        file_bytes found = file_load(path);
        assert_int_equal(found.size, wanted.size);
        assert_memory_equal(found.data, wanted.data, wanted.size);
        file_bytes_free(&found);
        file_bytes_free(&wanted);
    }
    const size_t others = files.count - kept.count;
    file_list_free(&files);
    file_list_free(&kept);
    return others;
}

void operation_check_tidy(const operation *self)
{
    sstore_statistics facts = {.struct_size = sizeof facts};
    sstore_error error;
    sstore *store;
    size_t folders = 0;
    if (!scratch_exists(self->path))
        return;
    const sstore_status status = sstore_open(self->path, NULL, &store, &error);
    if (status == SSTORE_ERROR_DAMAGED && self->mends) {
        assert_int_equal(check_unmended(self), 0);
        return;
    }
    assert_ok(status, &error);
    assert_ok(sstore_stat(store, &facts, &error), &error);
    sstore_close(store);
    file_list files = file_list_make(self->path, "");
    for (size_t i = 0; i < files.count; i++) {
        folders += strstr(files.names[i], "/directory.mdb") != NULL && strstr(files.names[i], "/word-") == NULL &&
                   strstr(files.names[i], "/id-index") == NULL && strstr(files.names[i], "/names/") == NULL;
        if (strncmp(files.names[i], "seg-", 4) != 0 && strcmp(files.names[i], "MANIFEST") != 0)
            fail_msg("%s was left behind", files.names[i]);
    }
    assert_int_equal(folders, facts.segment_count);
    file_list_free(&files);
}

store_state operation_check(const operation *self)
{
    sstore_error error;
    sstore *store;
    run_check_answers(self);
    if (!scratch_exists(self->path))
        return STORE_ABSENT;
    const sstore_status status = sstore_open(self->path, NULL, &store, &error);
    if (status == SSTORE_ERROR_NOT_FOUND && self->saved[0] == '\0')
        return STORE_ABSENT; /* the folder without a store */
    if (status == SSTORE_ERROR_DAMAGED && self->mends) {
        (void)check_unmended(self);
        return STORE_BEFORE;
    }
    assert_ok(status, &error);
    assert_ok(sstore_verify(self->path, NULL, NULL, NULL, &error), &error);
    sstore_statistics facts = {.struct_size = sizeof facts};
    assert_ok(sstore_stat(store, &facts, &error), &error);
    const bool is_after = facts.record_count == self->after.count; /* since it opens, it was repaired */
    assert_true(holds(store, is_after ? &self->after : &self->before));
    if (self->names)
        check_names(store, is_after ? &self->after : &self->before);
    sstore_close(store);
    return is_after ? STORE_AFTER : STORE_BEFORE;
}
